/* ---
title = "Alibaba cluster trace of 2018: batch tasks, with their dependencies, and their instances"
files = ["batch_task*.csv", "batch_instance*.csv"]
delimiter = ","
missing = [""]
scope = "trace"
first = '^([^,]*,\d*,j_\w+,\d*,[A-Z][A-Za-z]*,\d*,\d*,[\d.]*,[\d.]*|[^,]*,[^,]*,j_\w+,\d*,[A-Z][A-Za-z]*,\d*,\d*,[^,]*,\d*,\d*(,[\d.]*){4})$'
export = '''
gwa fetch alibaba2018 --convert
'''
notes = """
Source: trace_2018.md and schema.txt in alibaba/clusterdata. To get it: gwa fetch alibaba2018 --convert; with the
instances, which tell how much CPU time was used: gwa convert batch_task.csv batch_instance.csv -o alibaba2018.parquet

Each task becomes a job. Tasks of one job are a bag, named by the job, since GWF knows no workflows; which tasks a task had to wait for,
as its name says (R3_1_2 is task 3, after 1 and 2), is kept beside the jobs. Times are seconds from the
beginning of the trace, and stay relative. The trace does not say when a task was submitted: it is taken as submitted when
it started, and its wait is missing. An end of 0, or before the start, is none.

A task asks for instances, each with some CPU (100 is one core) and memory. How many of them ran at once is not known:
ReqNProcs is their number times their cores, rounded up, and NProcs is missing. -O at_once=true takes all as running
at once, and then shares out over them the CPU time that the instances used. Memory is a share of a machine (0 to
100), not kilobytes, and stands in ReqResources: inst:3,cpu:50,ram:0.39. The queue is the task's type.

Terminated is completed (1), Failed failed (0), Cancelled and Interrupted cancelled (5); what is waiting or running has no
run time and no status. Instances are counted as explaining rows; not kept of them are machines, repeats, peaks and memory.
"""

[accepts]
at_once = "true | false"

[header]
Computer = "Alibaba cluster, 2018"
TimeZoneString = "Asia/Shanghai"

[columns]
task = "varchar"
instances = "bigint"
job = "varchar"
type = "varchar"
status = "varchar"
begun = "double"
ended = "double"
cpu = "double"
memory = "double"

[sides.instance.columns]
instance = "varchar"
task = "varchar"
job = "varchar"
type = "varchar"
status = "varchar"
begun = "double"
ended = "double"
machine = "varchar"
repeat_no = "bigint"
repeats = "bigint"
avg_cpu = "double"
max_cpu = "double"
avg_memory = "double"
max_memory = "double"

[[steps]]
name = "submission unknown"
meaning = "the trace says when tasks started, not when they were submitted: waits are missing"
sql = "select count(*) from recorded where submit_time is not null"

[[steps]]
name = "dependencies"
meaning = "which tasks a task had to wait for, by the names of tasks, is kept beside the jobs"
sql = """
insert into dependencies
select distinct child.job_id, parent.job_id, cast(null as double)
from (
    select job || '/' || task as name, job, unnest(string_split(regexp_extract(task, '^[A-Z]+\\d+_([\\d_]+)$', 1), '_')) as parent
    from source
) as link
inner join source_ids as child on link.name = child.source_id
inner join (
    select source.job, regexp_extract(source.task, '^[A-Z]+(\\d+)(_|$)', 1) as task_no, source_ids.job_id
    from source inner join source_ids on source.job || '/' || source.task = source_ids.source_id
) as parent on link.job = parent.job and link.parent = parent.task_no
where parent.job_id <> child.job_id
order by all
"""
--- */
with used as (
    select
        job,
        task,
        -- Exact, in whatever order threads add up.
        sum(cast(least(avg_cpu * (ended - begun), 1e20) as decimal(38, 6)))
            filter (where avg_cpu >= 0 and ended >= begun and begun > 0) / 100 as seconds
    from instance
    group by job, task
),

bag as (
    select job, case when count(distinct task) > 1 then job end as bag
    from source
    group by job
),

task as (
    select
        source.*,
        bag.bag,
        used.seconds,
        ceil(instances * cpu / 100) as procs,
        case
            when source.status in ('Terminated', 'Failed', 'Cancelled', 'Interrupted') and source.ended >= source.begun
                then source.ended - source.begun
        end as ran
    from source
    left join bag on source.job = bag.job
    left join used on source.job = used.job and source.task = used.task
)

select
    1 as rows,
    file_no,
    line,
    job || '/' || task as source_id,
    nullif(begun, 0) as submit_time,
    case when begun > 0 then ran end as run_time,
    case when getvariable('at_once')::boolean then procs end as n_procs,
    case when getvariable('at_once')::boolean then seconds / nullif(procs, 0) end as average_cpu_time,
    procs as req_n_procs,
    case status when 'Terminated' then 1 when 'Failed' then 0 when 'Cancelled' then 5 when 'Interrupted' then 5 end as status,
    status as state,
    'Q' || type as queue_id,
    case when bag is null then 'UNITARY' else 'BoT' end as job_structure,
    bag as job_structure_params,
    nullif(concat_ws(',', 'inst:' || instances, 'cpu:' || cpu, 'ram:' || memory), '') as req_resources,
    case when job is null or task is null then 'its job or task is missing' end as reject
from task
