/* ---
title = "Google cluster trace of 2011 (version 2), task events"
files = ["part-*-of-*.csv"]
delimiter = ","
missing = [""]
first = '^\d+,[0-9]?,\d+,(\d+,\d*,[0-8],[^,]*,\d?,\d*(,[^,]*){4}|[0-8],[^,]*,\d?,[^,]*,[^,]*)$|^\d+,\d+,[012],[^,]*,[^,]*,[^,]*$'
scope = "trace"
notes = """
Source: the trace's format and schema document, version 2.1, and google/cluster-data on its anomalies.
Read are parts of task_events (13 columns) and, to explain them, of job_events (8: names of jobs) and
machine_events (6: machines); all of them are one trace, in any order.

A job of the result is a task; the tasks of a Google job are a bag, named by its id. A task may be
evicted, fail or be killed and be submitted again: the row tells of its last attempt, and waits since
the first submission. Attempts before the last one are counted; -O attempts=true makes each a row.
Events are in order of time, and of file and line where times are equal.

Finished is completed (1); failed, lost and evicted for good are failed (0); killed is cancelled (5).
What still runs or waits at the end of the trace has no run time and no status. A task without known
start has no processors. A task that existed before the trace (time 0) has no submission, and no wait
and run time if it ran already; with -O before=start it is taken as submitted when the trace begins,
with -O before=drop it is refused. Events after the trace (time 2^63-1) were not seen.

Times are rounded to seconds; -O digits=6 keeps microseconds. Time 0 is 2011-05-01 22:50 UTC, 600 s
before the trace begins. Requests are the last known ones, as parts of the largest machine, and stand
in ReqResources; a task has 1 processor. With -O cpu_scale=N, the processors of the largest machine, a
task has its share, rounded up, and with -O mem_scale=KB its memory is known too. The queue is the
priority: P0 and P1 are free, P9 to P11 production, P12 monitoring. Hashes are cut to 12 letters.
"""

[columns]
time = "bigint"
missing_info = "tinyint"
job = "bigint"
task = "integer"
machine = "bigint"
event = "tinyint"
user = "varchar"
class = "tinyint"
priority = "tinyint"
cpu = "double"
ram = "double"
disk = "double"
different = "tinyint"

[sides.job_event.columns]
time = "bigint"
missing_info = "tinyint"
job = "bigint"
event = "tinyint"
user = "varchar"
class = "tinyint"
name = "varchar"
logical_name = "varchar"

[sides.machine_event.columns]
time = "bigint"
machine = "bigint"
event = "tinyint"
platform = "varchar"
cpu = "double"
memory = "double"
--- */
with event as (
    select
        job,
        task,
        file_no,
        line,
        time,
        priority,
        cpu,
        ram,
        disk,
        -- What happened after the window was not seen.
        case when time < 9223372036854775807 then event end as event,
        -- What happened before it is a state: submitted, or running too.
        case
            when time = 0 then event
            else (time::hugeint << 60) + (file_no::bigint << 40) + line
        end as place,
        case
            when time is null or time < 0 then 'time is negative or missing'
            when job is null or task is null then 'job id or task index is missing'
            when event is null or event not between 0 and 8 then 'event type is none of 0 to 8'
        end as fault
    from source
),

attempt as (
    select * exclude (fault), 0 as attempt
    from event
    where fault is null and not coalesce(getvariable('attempts')::boolean, false)
    union all
    select
        * exclude (again),
        count(*) filter (where again) over (partition by job, task order by place) as attempt
    from (
        select
            * exclude (fault),
            event in (0, 1)
            and lag(event) over (partition by job, task order by place) between 2 and 6 as again
        from event
        where fault is null
    ) as followed
    where getvariable('attempts')::boolean
),

task as (
    select
        job,
        task,
        attempt,
        count(*) as rows,
        count(event) as seen,
        min(file_no) as file_no,
        min(line) as line,
        min(time) as first,
        min(time) filter (where event = 0 and time > 0) as submit,
        coalesce(max(place) filter (where event = 0), -1) as submitted,
        coalesce(max(place) filter (where event = 1), -1) as scheduled,
        coalesce(max(place) filter (where event between 2 and 6), -1) as ended,
        arg_max(event, place) filter (where event between 2 and 6) as ending,
        max(priority) as priority,
        arg_max(cpu, place) as cpu,
        arg_max(ram, place) as ram,
        arg_max(disk, place) as disk
    from attempt
    group by job, task, attempt
),

-- The last event of each kind is enough: a submission begins an attempt, what comes later belongs to it.
last_attempt as (
    select
        *,
        scheduled > submitted as is_scheduled,
        ended > greatest(submitted, scheduled) as is_over,
        case when first = 0 and getvariable('before') = 'start' then 600000000 end as earliest
    from task
),

life as (
    select
        *,
        coalesce(submit, earliest) as submit_at,
        case when is_scheduled then coalesce(nullif((scheduled >> 60)::bigint, 0), earliest) end as start_at,
        case when is_over then nullif((ended >> 60)::bigint, 0) end as end_at
    from last_attempt
),

measured as (
    select
        *,
        round(submit_at / 1e6, coalesce(getvariable('digits')::integer, 0)) as submit_second,
        round(start_at / 1e6, coalesce(getvariable('digits')::integer, 0)) as start_second,
        round(end_at / 1e6, coalesce(getvariable('digits')::integer, 0)) as end_second,
        coalesce(greatest(1, ceil(cpu * getvariable('cpu_scale')::double)), 1)::bigint as procs
    from life
),

job as (
    select job, min(user) as user, max(task) > min(task) as is_bag
    from source
    group by job
),

name as (
    select job, max(logical_name) as logical_name
    from job_event
    group by job
)

select
    measured.rows,
    measured.file_no,
    measured.line,
    case
        when seen = 0 then 'all its events are after the end of the trace'
        when first = 0 and submit is null and getvariable('before') = 'drop' then 'existed before the trace'
    end as reject,
    measured.job || '/' || measured.task || case when getvariable('attempts')::boolean then '#' || attempt else '' end
        as source_id,
    1304290200 + submit_second as submit_time,
    start_second - submit_second as wait_time,
    end_second - start_second as run_time,
    case when is_scheduled then procs end as n_procs,
    procs as req_n_procs,
    ram * getvariable('mem_scale')::double / procs as req_memory,
    case when is_over then case ending when 4 then 1 when 5 then 5 else 0 end end as status,
    'U' || left(translate(job.user, '+/', '-_'), 12) as user_id,
    'X' || left(translate(name.logical_name, '+/', '-_'), 12) as executable_id,
    'P' || priority as queue_id,
    case when job.is_bag then 'BoT' else 'UNITARY' end as job_structure,
    case when job.is_bag then measured.job::varchar end as job_structure_params,
    nullif(concat_ws(',', 'cpu:' || cpu, 'ram:' || ram, 'disk:' || disk), '') as req_resources
from measured
inner join job on measured.job = job.job
left join name on measured.job = name.job
union all by name
select 1 as rows, file_no, line, fault as reject
from event
where fault is not null
