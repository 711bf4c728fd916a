/* ---
title = "Azure virtual machines (vmtable of the public datasets V1 of 2017 and V2 of 2019)"
files = ["vmtable.csv", "*-vmtable.csv"]
delimiter = ","
missing = [""]
first = '^[^,]+,[^,]+,[^,]*,\d+,\d+,[\d.]*,[\d.]*,[\d.]*,(Delay-insensitive|Interactive|Un\w+|),(>?\d+),(>?[\d.]+)$'
export = '''
gwa fetch azure-vm-2017 --convert
gwa fetch azure-vm-2019 --convert
'''
notes = """
Source: AzurePublicDatasetV1.md and V2.md in Azure/AzurePublicDataset, and ten rows of V1.

Each virtual machine is a job, which starts when it is created: it does not wait. Times are seconds from the
beginning of the trace, and stay relative: days of the week are not those of the calendar. A machine with time 0
existed before; how long is not known, and its run time counts from there. One that ends at 2591700 was alive when
the trace ended: it has no run time and no status. Others ended; whether well is not known, so they have no status.

Processors are virtual cores. In V2 these and the memory are sizes of buckets; of the last bucket, such as >24, no
more is known than that, and the number is missing: -O open_buckets=take takes the bound itself. Memory is that of the
machine, shared out over its cores. CPU time is the average of the utilization of all cores, in percent, over the run
time. The user is the subscription, the bag of tasks the deployment, the queue the category (Unkown is Unknown).
Names are hashes, cut to 12 letters (user U, deployment, machine). Not kept: the maximum and the 95th percentile of
the utilization. Readings every five minutes (vm_cpu_readings) are not read.
"""

[accepts]
open_buckets = "take | drop"

[options.refuse]
# As spreadsheets write large numbers.
'\dE\+\d\d?[,\n]' = "a number was rounded, expected all its digits"

[header]
Computer = "Azure, virtual machines"

[columns]
vm = "varchar"
subscription = "varchar"
deployment = "varchar"
created = "double"
deleted = "double"
max_cpu = "double"
avg_cpu = "double"
p95_cpu = "double"
category = "varchar"
cores = "varchar"
memory = "varchar"

[[steps]]
name = "alive at the end"
meaning = "machines were alive when the trace ended (2591700): run time and status are not known"
sql = "select count(*) from recorded where state = 'alive at the end'"

[[steps]]
name = "existed before"
meaning = "machines existed when the trace began: their run time counts from there"
sql = "select count(*) from recorded where submit_time = 0"
--- */
with machine as (
    select
        *,
        case
            when cores not like '>%' then try_cast(cores as double)
            when getvariable('open_buckets') = 'take' then try_cast(cores[2:] as double)
        end as procs,
        case
            when memory not like '>%' then try_cast(memory as double)
            when getvariable('open_buckets') = 'take' then try_cast(memory[2:] as double)
        end as gigabytes,
        deleted < 2591700 as is_over
    from source
)

select
    left(translate(vm, '+/', '-_'), 12) as source_id,
    created as submit_time,
    0 as wait_time,
    case when is_over then deleted - created end as run_time,
    procs as n_procs,
    procs as req_n_procs,
    case when is_over and avg_cpu <= 100 then avg_cpu / 100 * (deleted - created) end as average_cpu_time,
    gigabytes * 1048576 / nullif(procs, 0) as req_memory,
    case when is_over then 'deleted' else 'alive at the end' end as state,
    'U' || left(translate(subscription, '+/', '-_'), 12) as user_id,
    replace(category, 'Unkown', 'Unknown') as queue_id,
    case when deployment is null then 'UNITARY' else 'BoT' end as job_structure,
    left(translate(deployment, '+/', '-_'), 12) as job_structure_params
from machine
