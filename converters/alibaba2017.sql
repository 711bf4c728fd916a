/* ---
title = "Alibaba cluster trace of 2017: batch tasks, and their instances"
files = ["batch_task*.csv", "batch_instance*.csv"]
delimiter = ","
comment = "t"
missing = [""]
scope = "trace"
first = '^\d+,\d*,\d+,\d+,(\d*,[A-Z][A-Za-z]*,[\d.]*,[\d.]*|\d*,[A-Z][A-Za-z]*,\d+,\d+(,[\d.]*){4})$'
export = '''
# A survey on its page leads to the download:
gwa fetch --list alibaba2017
gwa convert batch_task.csv batch_instance.csv -o alibaba2017.parquet
'''
notes = """
Source: trace_201708.md and schema.csv in alibaba/clusterdata, and 80,553 rows of batch_task.csv. A survey on its page
leads to the download; then, with the instances or without:
  gwa convert batch_task.csv batch_instance.csv -o alibaba2017.parquet

Each task becomes a job; tasks of one job are a bag, named by its number. Times are seconds from the beginning of
the trace, and stay relative. batch_task says when a task was created and when it ended, batch_instance when its
instances ran: with it, a task starts with its first instance and ends with its last; without it, the wait
is missing, and the run time counts from the creation of the task. Tasks that were created before the trace
(a negative time) have a run time, and no submission.

A task asks for instances, each with some CPU (100 is one core) and memory. How many of them ran at once is not known:
ReqNProcs is their number times their cores, rounded up, and NProcs is missing. -O at_once=true takes all as running
at once. Memory is a share of a machine, not kilobytes, and stands in ReqResources: inst:3,cpu:50,ram:0.0079.

Terminated is completed (1), Failed is failed (0), Cancelled cancelled (5); what is waiting or running has no run time
and no status. Instances are counted as explaining rows; not kept of them are machines, repeats and use.
"""

[accepts]
at_once = "true | false"

[header]
Computer = "Alibaba cluster, 2017"
TimeZoneString = "Asia/Shanghai"

[columns]
created = "double"
ended = "double"
job = "bigint"
task = "bigint"
instances = "bigint"
status = "varchar"
cpu = "double"
memory = "double"

[sides.instance.columns]
begun = "double"
ended = "double"
job = "bigint"
task = "bigint"
machine = "bigint"
status = "varchar"
repeat_no = "bigint"
repeats = "bigint"
max_cpu = "double"
avg_cpu = "double"
max_memory = "double"
avg_memory = "double"

[[steps]]
name = "before the trace"
meaning = "tasks were created before the trace began: they stand at no time"
sql = "select count(*) from recorded where submit_time is null"

[[steps]]
name = "start unknown"
meaning = "no instance says when the task started: the run time counts from its creation"
sql = "select count(*) from recorded where run_time is not null and wait_time is null"
--- */
with life as (
    select job, task, min(begun) filter (where begun > 0) as started, max(ended) as ended
    from instance
    group by job, task
),

bag as (
    select job, case when count(distinct task) > 1 then job::varchar end as bag
    from source
    group by job
),

task as (
    select
        source.*,
        bag.bag,
        life.started,
        case when source.status in ('Terminated', 'Failed', 'Cancelled') then greatest(source.ended, life.ended) end as finish
    from source
    left join bag on source.job = bag.job
    left join life on source.job = life.job and source.task = life.task
)

select
    1 as rows,
    file_no,
    line,
    job || '/' || task as source_id,
    case when created >= 0 then created end as submit_time,
    case when started >= created then started - created end as wait_time,
    finish - case when started >= created then started else created end as run_time,
    case when getvariable('at_once')::boolean then ceil(instances * cpu / 100) end as n_procs,
    ceil(instances * cpu / 100) as req_n_procs,
    case status when 'Terminated' then 1 when 'Failed' then 0 when 'Cancelled' then 5 end as status,
    status as state,
    case when bag is null then 'UNITARY' else 'BoT' end as job_structure,
    bag as job_structure_params,
    nullif(concat_ws(',', 'inst:' || instances, 'cpu:' || cpu, 'ram:' || memory), '') as req_resources,
    case when job is null or task is null or created is null then 'its job, task or time is missing' end as reject
from task
