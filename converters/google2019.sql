/* ---
title = "Google cluster traces of 2019 (version 3), instance events"
files = ["instance_events-*.json", "collection_events-*.json"]
reader = "json"
scope = "trace"
first = '^\s*\{.*"collection_id"\s*:.*\}\s*$'
contains = ['"time"\s*:\s*"?\d', '"type"\s*:\s*"?[\w]', '"(instance_index|collection_type)"\s*:\s*"?\w']
export = '''
gwa fetch google2019
'''
notes = """
Source: clusterdata_trace_format_v3.proto in google/cluster-data, and the document on version 3 of the
traces. Read are JSON lines of instance_events and, for users and names, of collection_events: files as
in the buckets clusterdata_2019_a to _h, in any order, of one cell. Whole numbers may be texts, types of
events numbers or names. Instances of alloc sets (reservations, not work) count as comments.

Each instance becomes a job; instances of the same collection are a bag, named by its id. One that was
evicted, failed or was killed may be submitted again: it stays one job, which lists what it held from each
SCHEDULE to the EVICT, FAIL, FINISH, KILL or LOST that follows (runs). It waits from the first submission seen to its
first start; run time and outcome are those of the last run. Of a run whose end has no event, or that began before
the first submission seen, nothing but the number is known (n_requeues). Events are in order of time, where times
are equal in order of file and line.

FINISH is completed (1); FAIL, LOST, and EVICT for good are failed (0); KILL is cancelled (5).
What still waits or runs when the trace ends has no run time and no status. What was never started has
no processors. Of what happened before the trace (time 0) no time is known: such an instance has no
submission unless it was submitted again. -O before=start takes it as submitted, and running if it ran,
when the trace begins; -O before=drop refuses it. Events after the trace (time 2^63-1) were not seen.

Times are rounded to seconds; -O digits=6 keeps microseconds. Time 0 is 2019-05-01 06:50:00 UTC, 600 s
before the trace begins. The cells' time zones are for a system file: America/New_York for a, c and d,
America/Chicago for b and f, Europe/Helsinki for e, Asia/Singapore for g, Europe/Brussels for h.
ReqResources holds the last requests, in parts of the largest machine, and the scheduling class, 0 to
3: cpu:0.0125,ram:0.0159,class:2; of several classes the highest. UsedResources says how many events the
row is made of, such as events:3. An instance counts as one processor; -O cpu_scale=N, the processors of the largest machine, gives it its share of them, rounded
up, and -O mem_scale=KB, the memory of the largest machine, gives its memory. The queue is the
priority. Users (U) and logical names of collections (X) are hashes, cut to 12 letters. Which
collections started others or had to end before others is not kept.
"""

[accepts]
before = "start | drop"
digits = "a whole number"
cpu_scale = "a number"
mem_scale = "a number"

[header]
Computer = "Google cell, May 2019"

[columns]
time = "bigint"
type = "varchar"
collection = "bigint"
collection_type = "varchar"
missing_type = "varchar"
class = "varchar"
priority = "integer"
instance = "integer"
cpus = "double"
memory = "double"
# Only the trace of 2011 has these with each event.
disk = "double"
user = "varchar"

[options.paths]
collection = "collection_id"
instance = "instance_index"
class = "scheduling_class"
cpus = "resource_request.cpus"
memory = "resource_request.memory"

[options.skip]
collection_type = ["1", "ALLOC_SET"]

[sides.collection_event.columns]
collection = "bigint"
collection_type = "varchar"
user = "varchar"
logical_name = "varchar"

[sides.collection_event.options]
first = '^(?!.*"instance_index"\s*:).*"(user|collection_name|collection_logical_name|scheduler|vertical_scaling)"\s*:'

[sides.collection_event.options.paths]
collection = "collection_id"
logical_name = "collection_logical_name"

[sides.collection_event.options.skip]
collection_type = ["1", "ALLOC_SET"]

[functions]
"stamp_of(seconds)" = "1556693400 + seconds"
"procs_of(share)" = "try_cast(greatest(1, ceil(share * getvariable('cpu_scale')::double)) as bigint)"

[[steps]]
name = "before the trace"
meaning = "tasks existed when the trace began: no time is known of what happened to them before"
sql = "select count(*) from (select distinct collection, instance from source where time = 0)"

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
sql = "select count(*) from recorded where status is not null and n_procs is null and runs is null"

[[steps]]
name = "evictions"
meaning = "runs were evicted, by a task of higher priority or since a machine was overcommitted or lost"
sql = "select count(*) from source where type in ('4', 'EVICT') and time < 9223372036854775807"

[[steps]]
name = "missing information"
meaning = "events are marked as made up for missing ones"
sql = "select count(*) from source where missing_type not in ('0', 'MISSING_TYPE_NONE')"
--- */
with coded as (
    select
        *,
        case type
            when 'SUBMIT' then 0
            when 'QUEUE' then 1
            when 'ENABLE' then 2
            when 'SCHEDULE' then 3
            when 'EVICT' then 4
            when 'FAIL' then 5
            when 'FINISH' then 6
            when 'KILL' then 7
            when 'LOST' then 8
            when 'UPDATE_PENDING' then 9
            when 'UPDATE_RUNNING' then 10
            else try_cast(type as tinyint)
        end as code
    from source
),

event as (
    select
        * exclude (type, code, class),
        case class
            when 'MOST_INSENSITIVE' then 0
            when 'INSENSITIVE' then 1
            when 'SENSITIVE' then 2
            when 'MOST_SENSITIVE' then 3
            else try_cast(class as tinyint)
        end as class,
        case when time < 9223372036854775807 then code end as event,
        -- What happened before the trace is a state, not an order: submitted, or running as well.
        case
            when time > 0 then (time::hugeint << 60) + (file_no::bigint << 40) + line
            else (code::hugeint << 56) + (file_no::bigint << 40) + line
        end as place,
        case
            when time is null or time < 0 then 'its time is missing or negative'
            when collection is null or instance is null then 'its job (collection) or task (instance) is missing'
            when code is null or code not between 0 and 10 then 'no event has its type'
        end as fault
    from coded
),

-- The last event of each kind tells the last run: it begins with the last time it had to wait.
task as (
    select
        collection,
        instance,
        count(*) as rows,
        count(event) as seen,
        min(file_no) as file_no,
        min(line) as line,
        min(time) as first,
        min(time) filter (where event = 0 and time > 0) as submit,
        coalesce(max(place) filter (where event between 0 and 2), -1) as waited,
        coalesce(max(place) filter (where event = 3), -1) as scheduled,
        count(*) filter (where event = 3) as starts,
        coalesce(max(place) filter (where event between 4 and 8), -1) as ended,
        arg_max(event, place) filter (where event between 4 and 8) as ending,
        max(class) as class,
        max(priority) as priority,
        arg_max(cpus, place) as cpus,
        arg_max(memory, place) as memory,
        arg_max(disk, place) as disk
    from event
    where fault is null
    group by collection, instance
),

life as (
    select
        *,
        scheduled > waited as is_scheduled,
        ended > greatest(waited, scheduled) as is_over,
        nullif((scheduled >> 60)::bigint, 0) as start,
        nullif((ended >> 60)::bigint, 0) as finish,
        case when first = 0 and getvariable('before') = 'start' then 600000000 end as earliest,
        coalesce(getvariable('digits')::integer, 0) as digits
    from task
),

measured as (
    select
        *,
        round(coalesce(earliest, submit) / 1e6, digits) as submitted_at,
        case when is_scheduled then round(coalesce(start, earliest) / 1e6, digits) end as started_at,
        case when is_over then round(finish / 1e6, digits) end as ended_at,
        coalesce(procs_of(cpus), 1) as procs
    from life
),

-- The runs of what was started more than once, or waits again: from a start to the event that ends it. One without
-- that event ended at a time that is not known.
run as (
    select
        collection,
        instance,
        nullif((place >> 60)::bigint, 0) as start,
        case when ending between 4 and 8 then (end_place >> 60)::bigint end as finish,
        coalesce(ending between 4 and 8, true) as has_end,
        cpus,
        case ending
            when 4 then 'evicted'
            when 5 then 'failed'
            when 6 then 'completed'
            when 7 then 'killed'
            when 8 then 'lost'
            else 'running'
        end as why
    from (
        select
            collection,
            instance,
            event,
            place,
            cpus,
            lead(event) over in_order as ending,
            lead(place) over in_order as end_place
        from event
        semi join (from task where starts > 1 or starts = 1 and scheduled < waited) as several using (collection, instance)
        where fault is null and event between 0 and 8
        window in_order as (partition by collection, instance order by place, event)
    ) as followed
    where event = 3 and ending is distinct from 3
),

several as (
    select
        collection,
        instance,
        count(*) as runs,
        min(started) as first_start,
        string_agg(
            concat_ws(
                '/',
                (started - submitted_at)::bigint,
                coalesce((finished - started)::bigint::varchar, ''),
                '',
                coalesce(procs_of(run_cpus), procs),
                '',
                '',
                why
            ),
            ';' order by started, finished
        ) filter (where has_end and started is not null) as boxes
    from (
        select
            measured.collection,
            measured.instance,
            submitted_at,
            procs,
            case when coalesce(run.start, earliest) >= coalesce(earliest, submit)
                then round(coalesce(run.start, earliest) / 1e6, digits)
            end as started,
            round(run.finish / 1e6, digits) as finished,
            run.cpus as run_cpus,
            has_end,
            why
        from run
        inner join measured using (collection, instance)
    ) as placed
    group by collection, instance
),

-- What many instances share is made once.
bag as (
    select
        collection,
        collection::varchar as id,
        min(user) as user,
        case when min(instance) < max(instance) then collection::varchar end as bag
    from source
    group by collection
),

name as (
    select
        try_cast(collection as bigint) as collection,
        max(user) as user,
        'X' || left(translate(max(logical_name), '+/', '-_'), 12) as executable_id
    from collection_event
    group by 1
),

request as (
    select
        *,
        concat_ws(',', 'cpu:' || cpus, 'ram:' || memory, 'disk:' || disk, 'class:' || class) as req_resources
    from (select distinct cpus, memory, disk, class from event) as requested
),

mapped as (
    select
        measured.collection,
        measured.instance,
        measured.rows,
        measured.file_no,
        measured.line,
        case
            when seen = 0 then 'all that is told of the task comes after the trace'
            when first = 0 and submit is null and getvariable('before') = 'drop'
                then 'existed before the trace'
        end as reject,
        bag.id || '/' || measured.instance as source_id,
        stamp_of(submitted_at) as submit_time,
        coalesce(several.first_start, started_at) - submitted_at as wait_time,
        ended_at - started_at as run_time,
        case when not is_scheduled or several.first_start < started_at then several.boxes end as runs,
        nullif(several.runs - is_scheduled::integer, 0) as n_requeues,
        case when is_scheduled then procs end as n_procs,
        procs as req_n_procs,
        measured.memory * getvariable('mem_scale')::double / procs as req_memory,
        case when is_over then case ending when 6 then 1 when 7 then 5 else 0 end end as status,
        'U' || left(translate(coalesce(bag.user, name.user), '+/', '-_'), 12) as user_id,
        name.executable_id,
        'P' || priority as queue_id,
        case when bag.bag is null then 'UNITARY' else 'BoT' end as job_structure,
        bag.bag as job_structure_params,
        'events:' || measured.rows as used_resources,
        -- Values that never stood together are those of several events.
        nullif(
            coalesce(
                request.req_resources,
                concat_ws(
                    ',',
                    'cpu:' || measured.cpus,
                    'ram:' || measured.memory,
                    'disk:' || measured.disk,
                    'class:' || measured.class
                )
            ),
            ''
        ) as req_resources
    from measured
    inner join bag on measured.collection = bag.collection
    left join several on measured.collection = several.collection and measured.instance = several.instance
    left join name on measured.collection = name.collection
    left join request
        on measured.cpus is not distinct from request.cpus
        and measured.memory is not distinct from request.memory
        and measured.disk is not distinct from request.disk
        and measured.class is not distinct from request.class
)

-- Rows that are sorted first are numbered as they come: a window that sorts takes twice the time and memory.
select row_number() over () as job_id, * exclude (collection, instance)
from (from mapped order by submit_time nulls first, collection, instance) as ordered
union all by name
select 1 as rows, file_no, line, fault as reject
from event
where fault is not null
