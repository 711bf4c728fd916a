/* ---
title = "Google cluster trace of 2011 (version 2), task events"
files = ["part-?????-of-?????.csv"]
delimiter = ","
missing = [""]
first = '^\d+,[0-2]?,\d+,(\d+,\d*,[0-8],[^,]*,[0-3]?,\d*(,[^,]*){4}|[0-8],[^,]*,[0-3]?,[^,]*,[^,]*)$|^\d+,\d+,[0-2](,[^,]*){3}$'
scope = "trace"
export = '''
gwa fetch google2011
'''
notes = """
Source: the trace's format and schema document, version 2.1, and google/cluster-data for its anomalies.
Read are parts of task_events (13 columns) and, to explain them, of job_events (8: names of jobs) and
machine_events (6: how many machines, how large). All of them are one trace, in any order.

Each task becomes a job; tasks of the same job are a bag, named by the job's id. A task that was
evicted, failed or was killed may be submitted again: the row tells of its last attempt and waits since
the first submission seen, the attempts before are counted. --attempts makes each of them a row.
Events are in order of time, where times are equal in order of file and line.

Finished is completed (1); failed, lost, and evicted for good are failed (0); killed is cancelled (5).
What still waits or runs when the trace ends has no run time and no status. What was never started has
no processors. Of what happened before the trace (time 0) no time is known: such a task has no
submission unless it was submitted again. -O before=start takes it as submitted, and running if it ran,
when the trace begins; -O before=drop refuses it. Events after the trace (time 2^63-1) were not seen.

Times are rounded to seconds; -O digits=6 keeps microseconds. Time 0 is 2011-05-01 22:50:00 UTC, 600 s
before the trace begins. ReqResources holds the last requests, in parts of the largest machine, and the
scheduling class, 0 to 3: cpu:0.0125,ram:0.0159,disk:0.0004,class:2; of several classes the highest.
UsedResources says how many events the row is made of: events:3 is a task that was submitted, started
and ended once. CPU time and memory used are not known: task_usage is not read.

A task counts as one processor; -O cpu_scale=N, the processors of the largest machine, gives it its
share of them, rounded up, and with machine_events says how many there are. -O mem_scale=KB, the memory
of the largest machine, gives its memory. The queue is the priority: P0 and P1 are called free, P9 to
P11 production, P12 monitoring. Users (U) and logical names of jobs (X) are hashes, cut to 12 letters.
"""

[accepts]
attempts = "true | false"
before = "start | drop"
digits = "a whole number"
cpu_scale = "a number"
mem_scale = "a number"

[options.refuse]
# As spreadsheets write large numbers; the digits that are lost may be those that tell jobs apart.
'E\+\d\d?[,\n]' = "a number was rounded, expected all its digits"

[header]
Computer = "Google cell, May 2011"
TimeZoneString = "America/New_York"

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

[[steps]]
name = "before the trace"
meaning = "tasks existed when the trace began: no time is known of what happened to them before"
sql = "select count(*) from (select distinct job, task from source where time = 0)"

[[steps]]
name = "no submission"
meaning = "no submission was seen: the job is counted, but stands at no time"
sql = "select count(*) from recorded where submit_time is null"

[[steps]]
name = "running at the end"
meaning = "it ran when the trace ended: run time and status are not known"
sql = "select count(*) from recorded where status is null and n_procs is not null"

[[steps]]
name = "waiting at the end"
meaning = "it waited when the trace ended: whether it ran later is not known"
sql = "select count(*) from recorded where status is null and n_procs is null"

[[steps]]
name = "died waiting"
meaning = "it ended before it was started: it has no wait, no run time and no processors"
sql = "select count(*) from recorded where status is not null and n_procs is null"

[[steps]]
name = "earlier attempts"
meaning = "attempts that ended before the last one of the same task were folded into it"
sql = """
select greatest(0, count(*) - (select count(*) from recorded where status is not null))
from source
where event between 2 and 6 and time < 9223372036854775807
"""

[[steps]]
name = "evictions"
meaning = "attempts were evicted, by a task of higher priority or since a machine was overcommitted or lost"
sql = "select count(*) from source where event = 2 and time < 9223372036854775807"

[[steps]]
name = "missing information"
meaning = "events are marked as made up for missing ones"
sql = "select count(*) from source where missing_info is not null"

[[steps]]
name = "machines"
meaning = "the most machines there were at once, from machine_events, went to the header"
when = "select count(*) > 0 from machine_event"
sql = """
insert into header
select (select coalesce(max(position), 0) + 1 from header), 'Machines', max(machines)::bigint
from (
    select sum(sum(now - before)) over (order by time) as machines
    from (
        select time, now, lag(now, 1, 0) over (partition by machine order by time) as before
        from (select *, case when event = 1 then 0 else 1 end as now from machine_event) as state
    ) as change
    group by time
) as total
"""

[[steps]]
name = "processors"
meaning = "the most processors there were at once, from machine_events and cpu_scale, went to the header"
when = """
select count(cpu) > 0 and getvariable('cpu_scale') is not null
and not exists (from header where key in ('Processors', 'MaxProcs'))
from machine_event
"""
sql = """
insert into header
select
    (select coalesce(max(position), 0) + 1 from header),
    'Processors',
    round(max(capacity) * getvariable('cpu_scale')::double)::bigint
from (
    select sum(sum(now - before)) over (order by time) as capacity
    from (
        select time, now, lag(now, 1, 0) over (partition by machine order by time) as before
        from (select *, case when event = 1 then 0 else coalesce(cpu, 0) end as now from machine_event) as state
    ) as change
    group by time
) as total
"""
--- */
with event as (
    select
        job,
        task,
        time,
        class,
        priority,
        cpu,
        ram,
        disk,
        file_no,
        line,
        case when time < 9223372036854775807 then event end as event,
        -- What happened before the trace is a state, not an order: submitted, or running as well.
        case
            when time > 0 then (time::hugeint << 60) + (file_no::bigint << 40) + line
            else event
        end as place,
        case
            when time is null or time < 0 then 'its time is missing or negative'
            when job is null or task is null then 'its job or task is missing'
            when event is null or event not between 0 and 8 then 'its type is none from 0 to 8'
        end as fault
    from source
),

numbered as (
    select * exclude (fault), 1 as attempt
    from event
    where fault is null and not coalesce(getvariable('attempts')::boolean, false)
    union all
    select
        * exclude (begins),
        1 + count(*) filter (where begins) over (partition by job, task order by place, event) as attempt
    from (
        select
            * exclude (fault),
            event in (0, 1) and lag(event) over (partition by job, task order by place, event) between 2 and 6
                as begins
        from event
        where fault is null
    ) as followed
    where getvariable('attempts')::boolean
),

-- The last event of each kind tells the last attempt: it begins with the last submission.
attempt as (
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
        max(class) as class,
        max(priority) as priority,
        arg_max(cpu, place) as cpu,
        arg_max(ram, place) as ram,
        arg_max(disk, place) as disk
    from numbered
    group by job, task, attempt
),

life as (
    select
        *,
        scheduled > submitted as is_scheduled,
        ended > greatest(submitted, scheduled) as is_over,
        nullif((scheduled >> 60)::bigint, 0) as start,
        nullif((ended >> 60)::bigint, 0) as finish,
        case when first = 0 and getvariable('before') = 'start' then 600000000 end as earliest,
        coalesce(getvariable('digits')::integer, 0) as digits
    from attempt
),

measured as (
    select
        *,
        round(coalesce(submit, earliest) / 1e6, digits) as submitted_at,
        case when is_scheduled then round(coalesce(start, earliest) / 1e6, digits) end as started_at,
        case when is_over then round(finish / 1e6, digits) end as ended_at,
        coalesce(try_cast(greatest(1, ceil(cpu * getvariable('cpu_scale')::double)) as bigint), 1) as procs
    from life
),

-- What many tasks share is made once.
job as (
    select
        job,
        job::varchar as id,
        'U' || left(translate(min(user), '+/', '-_'), 12) as user_id,
        case when min(task) < max(task) then job::varchar end as bag
    from source
    group by job
),

name as (
    select job, 'X' || left(translate(max(logical_name), '+/', '-_'), 12) as executable_id
    from job_event
    group by job
),

request as (
    select
        *,
        concat_ws(',', 'cpu:' || cpu, 'ram:' || ram, 'disk:' || disk, 'class:' || class) as req_resources
    from (select distinct cpu, ram, disk, class from source) as requested
),

mapped as (
    select
        measured.job,
        measured.task,
        measured.attempt,
        measured.rows,
        measured.file_no,
        measured.line,
        case
            when seen = 0 then 'all that is told of the task comes after the trace'
            when first = 0 and submit is null and getvariable('before') = 'drop'
                then 'existed before the trace'
        end as reject,
        job.id || '/' || measured.task
        || case when getvariable('attempts')::boolean then '#' || attempt else '' end as source_id,
        1304290200 + submitted_at as submit_time,
        started_at - submitted_at as wait_time,
        ended_at - started_at as run_time,
        case when is_scheduled then procs end as n_procs,
        procs as req_n_procs,
        measured.ram * getvariable('mem_scale')::double / procs as req_memory,
        case when is_over then case ending when 4 then 1 when 5 then 5 else 0 end end as status,
        job.user_id,
        name.executable_id,
        'P' || priority as queue_id,
        case when job.bag is null then 'UNITARY' else 'BoT' end as job_structure,
        job.bag as job_structure_params,
        'events:' || measured.rows as used_resources,
        -- Values that never stood together are those of several events.
        nullif(
            coalesce(
                request.req_resources,
                concat_ws(
                    ',',
                    'cpu:' || measured.cpu,
                    'ram:' || measured.ram,
                    'disk:' || measured.disk,
                    'class:' || measured.class
                )
            ),
            ''
        ) as req_resources
    from measured
    inner join job on measured.job = job.job
    left join name on measured.job = name.job
    left join request
        on measured.cpu is not distinct from request.cpu
        and measured.ram is not distinct from request.ram
        and measured.disk is not distinct from request.disk
        and measured.class is not distinct from request.class
)

-- Rows that are sorted first are numbered as they come: a window that sorts takes twice the time and memory.
select row_number() over () as job_id, * exclude (job, task, attempt)
from (from mapped order by submit_time nulls first, job, task, attempt) as ordered
union all by name
select 1 as rows, file_no, line, fault as reject
from event
where fault is not null
