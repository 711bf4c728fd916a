/* ---
title = "Alibaba GPU trace of 2023: pods that share GPUs (openb)"
files = ["openb_pod_list_*.csv"]
delimiter = ","
comment = "n"
missing = [""]
first = '^openb-[^,]+(,\d+){4},[^,]*,[^,]*,(Running|Failed|Pending|Succeeded|Unknown),\d*,\d*,\d*$'
export = '''
gwa fetch alibaba-gpu2023 --convert
'''
notes = """
Source: cluster-trace-gpu-v2023 in alibaba/clusterdata, with all 8,152 rows of openb_pod_list_default.csv.

Each pod becomes a job. Times are seconds from the beginning of the trace, and stay relative. Pods that succeeded or
failed ran until they were deleted. Of those that ran when the trace ended, deletion_time is its end, so they have
no run time and no status. Pods that were never scheduled have no wait, run time, processors or GPUs.

Processors are cpu_milli / 1000, rounded up; memory is shared out over them. GPUs are num_gpu, or a share of one: a
pod with one GPU of 460 milli has 0.46. gpu_spec, the models that are asked for, is the type of the GPUs. Succeeded
is completed (1), Failed failed (0).
The variants of the list without times, for experiments, are not logs and are not read; nor are lists of nodes.
"""

[header]
Computer = "Alibaba GPU cluster, 2023"

[constants]
job_structure = "UNITARY"

[columns]
name = "varchar"
cpu_milli = "double"
memory_mib = "double"
num_gpu = "double"
gpu_milli = "double"
gpu_spec = "varchar"
qos_class = "varchar"
phase = "varchar"
created = "double"
deleted = "double"
scheduled = "double"

[[steps]]
name = "running at the end"
meaning = "pods ran when the trace ended: run time and status are not known"
sql = "select count(*) from recorded where state = 'Running'"

[[steps]]
name = "never scheduled"
meaning = "pods were not scheduled before the trace ended: they have no wait and no processors"
sql = "select count(*) from recorded where n_procs is null"
--- */
with pod as (
    select
        *,
        case when cpu_milli >= 0 then greatest(ceil(cpu_milli / 1000), 1) end as procs,
        case when num_gpu = 1 then gpu_milli / 1000 else num_gpu end as gpus,
        scheduled is not null as is_scheduled,
        phase in ('Succeeded', 'Failed') as is_over
    from source
)

select
    name as source_id,
    created as submit_time,
    scheduled - created as wait_time,
    case when is_over then deleted - scheduled end as run_time,
    scheduled as start_time,
    case when is_scheduled then procs end as n_procs,
    procs as req_n_procs,
    memory_mib * 1024 / procs as req_memory,
    case phase when 'Succeeded' then 1 when 'Failed' then 0 end as status,
    phase as state,
    case when is_scheduled then gpus end as n_gpus,
    gpus as req_gpus,
    gpu_spec as gpu_type,
    qos_class as qos
from pod
