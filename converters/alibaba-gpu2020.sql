/* ---
title = "Alibaba GPU trace of 2020 (PAI): jobs, and their tasks"
files = ["pai_job_table*.csv", "pai_task_table*.csv"]
delimiter = ","
comment = "j"
missing = [""]
scope = "trace"
first = '^[^,]+,[^,]+,([^,]*,(Running|Terminated|Failed|Waiting),[\d.]*,[\d.]*|[\d.]*,(Running|Terminated|Failed|Waiting)(,[\d.]*){5},[^,]*)$'
export = '''
gwa fetch alibaba-gpu2020 --convert
'''
notes = """
Source: the README of cluster-trace-gpu-v2020 in alibaba/clusterdata.
Elsewhere: gwa convert pai_job_table.csv pai_task_table.csv -o pai.parquet

Each job becomes a job: submitted at its own start_time, started with its first task, ended with its last. Without
the task table, waits, run times, processors and GPUs are missing. A task has a number of instances, each with
plan_cpu (600 is 6 cores), plan_gpu (50 is half a GPU) and plan_mem (GB); the job has their sums, processors
rounded up. What was planned is taken as allocated. GPU types of several tasks are joined with +.

Terminated is completed (1), Failed failed (0); what runs or waits has no run time and no status. Seconds are shifted
by a secret constant such that hours and days of the week are true in China, where the year is 1970.
Tasks are counted as explaining rows. Not read: instances, sensors (what was used), tags, machines.
"""

[header]
Computer = "Alibaba PAI"
TimeZoneString = "Asia/Shanghai"

[constants]
job_structure = "UNITARY"

[columns]
job = "varchar"
instance = "varchar"
user = "varchar"
status = "varchar"
begun = "double"
ended = "double"

[sides.task.columns]
job = "varchar"
task = "varchar"
instances = "double"
status = "varchar"
begun = "double"
ended = "double"
cpu = "double"
memory = "double"
gpu = "double"
gpu_type = "varchar"
--- */
-- Sums of fractions depend on their order, which is not to be that in which threads have done their part.
with part as (
    select
        job,
        min(begun) as started,
        max(ended) as finish,
        sum(instances * cpu order by instances * cpu) as percent,
        case when percent >= 0 then greatest(ceil(percent / 100), 1) end as procs,
        sum(instances * gpu order by instances * gpu) / 100 as gpus,
        sum(instances * memory order by instances * memory) * 1048576 as kilobytes,
        string_agg(distinct gpu_type, '+' order by gpu_type) filter (where gpu > 0) as gpu_type
    from task
    group by job
),

job as (
    select
        source.*,
        part.* exclude (job, percent),
        source.status in ('Terminated', 'Failed') as is_over,
        part.started is not null as is_started
    from source
    left join part on source.job = part.job
)

select
    1 as rows,
    file_no,
    line,
    job as source_id,
    begun as submit_time,
    started - begun as wait_time,
    case when is_over then finish - started end as run_time,
    started as start_time,
    case when is_started then procs end as n_procs,
    procs as req_n_procs,
    kilobytes / procs as req_memory,
    case status when 'Terminated' then 1 when 'Failed' then 0 end as status,
    status as state,
    "user" as user_id,
    case when is_started then coalesce(gpus, 0) end as n_gpus,
    gpus as req_gpus,
    gpu_type,
    case when job is null then 'its name is missing' end as reject
from job
