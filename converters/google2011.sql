/* ---
title = "Google cluster trace of 2011 (version 2), task events"
files = ["part-?????-of-?????.csv"]
delimiter = ","
missing = [""]
first = '^\d+,[0-2]?,\d+,(\d+,\d*,[0-8],[^,]*,[0-3]?,\d*(,[^,]*){4}|[0-8],[^,]*,[0-3]?,[^,]*,[^,]*)$|^\d+,\d+,[0-2](,[^,]*){3}$'
select = "google2019"
export = '''
gwa fetch google2011
'''
notes = """
Source: the trace's format and schema document, version 2.1, and google/cluster-data for its anomalies.
Read are parts of task_events (13 columns) and, to explain them, of job_events (8: names of jobs) and
machine_events (6: how many machines, how large). All of them are one trace, in any order.

Each task becomes a job; tasks of the same job are a bag, named by the job's id. A task that was
evicted, failed or was killed may be submitted again: it stays one job, which lists what it held from each
SCHEDULE to the end that follows (runs). It waits from the first submission seen to its first start; run time
and outcome are those of the last run. Of a run whose end has no event, or that began before the first submission
seen, nothing but the number is known (n_requeues). Events are in order of time, where times are equal in order of
file and line.

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

[sides.collection_event.columns]
time = "bigint"
missing_info = "tinyint"
collection = "bigint"
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

[functions]
"stamp_of(seconds)" = "1304290200 + seconds"

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
        select time, now, lag(now, 1, 0) over (partition by machine order by time, now) as before
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
    select sum(sum(cast(now - before as decimal(38, 9)))) over (order by time) as capacity
    from (
        select time, now, lag(now, 1, 0) over (partition by machine order by time, now) as before
        from (select *, case when event = 1 then 0 else coalesce(cpu, 0) end as now from machine_event) as state
    ) as change
    group by time
) as total
"""
--- */
-- Later types of events, and kinds of missing information, have higher numbers in the trace of 2019.
select
    time,
    (event::smallint + case when event > 0 then 2 else 0 end)::varchar as type,
    job as collection,
    (missing_info + 1)::varchar as missing_type,
    class::varchar as class,
    priority,
    task as instance,
    cpu as cpus,
    ram as memory,
    disk,
    user,
    line
from record
