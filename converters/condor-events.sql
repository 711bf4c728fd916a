/* ---
title = "HTCondor event log, of jobs or of a whole access point"
files = ["*.log", "EventLog*"]
reader = "events"
scope = "trace"
joined_by = "cluster"
contains = '(?m)^\d{3} \(\d+\.-?\d+\.-?\d+\) (\d{4}-\d\d-|\d\d/)\d\d[ T]\d\d:\d\d:\d\d\S* \S'
export = '''
# A submit description names the log of its jobs (log = jobs.log). One of all jobs of an access point, where EVENT_LOG
# is set in its configuration:
cat $(condor_config_val EVENT_LOG)* > events.log
'''
notes = """
Sources: HTCondor's manual ("In the Job Event Log File", "Job Event Log Codes") and condor_event.cpp, which writes and
reads these logs. Read is their text, with dates such as 2025-03-10 or 03/10, fractions of seconds and UTC (Z), not JSON
or XML. Give the logs of one access point, and either these or its history, not both: users and programs
are in the history, and in an event log only where job_ad_information_attrs adds them (028).

Dates without a year are in the one that -O year=2025 states for the first event of each file; where months begin
again, so does the next year. Without that option such events are refused. A log that pauses for more than half a year
does not tell its years. Times without Z are local. An event that a file breaks off in is refused.

The events of a cluster and process are a job, from 000 (submitted) on; a later 000 of the same number is another job.
A run lasts from 001 (executing) to the next 004 (evicted), 005 (terminated), 007 (shadow exception), 009
(aborted), 012 (held) or 024 (reconnection failed). A job that is disconnected (022) and not reconnected (023)
ran until then. A run whose end has no event is counted, but not when it ended. The wait is until the first
run; a job that was held before, and released (013), was eligible from then on. Suspended jobs (010) keep what they
hold.

A job with 005 is completed where it returned 0, and failed where it returned something else or a signal ended it; one
with 009 and no 005 is cancelled; others have no status. Processors and GPUs are those allocated in the table of
partitionable resources at the end of a run, else those of the slot (001), else those requested; logs before HTCondor 8
have none of these. In the parallel universe nodes are those of 014, and processors are unknown. CPU time is that of the
last run, of which 0 is not measured. The peak of memory is the largest ResidentSetSize (006), else MemoryUsage. The
site of execution is the domain of SlotName, that of submission the name of the submitting host, else its address.
"""

[accepts]
year = "a year"

[options]
begins = '(?P<kind>\d{3}) \((?P<cluster>\d+)\.(?P<process>-?\d+)\.(?P<node>-?\d+)\) (?:(?P<year>\d{4})-)?(?P<month>\d\d)[-/](?P<day>\d\d)[ T](?P<clock>\d\d:\d\d:\d\d(?:\.\d+)?)(?P<zone>Z?) (?P<said>.*)'
ends = "..."
kinds = ["000", "001", "004", "005", "006", "007", "009", "012", "013", "014", "022", "023", "024", "028"]

[options.details]
slot = 'SlotName: (.*)'
slot_cpus = 'Cpus = (\d+)'
slot_gpus = 'GPUs = (\d+)'
gpu_type = 'GPUs_\w+ = \[.*\bDeviceName = "([^"]*)"'
returned = '\(1\) Normal termination \(return value (-?\d+)\)'
signal = '\(0\) Abnormal termination \(signal (\d+)\)'
requeued = '\(0\) (Job terminated and was requeued)'
cpu_time = '(Usr \d+ \d\d:\d\d:\d\d, Sys \d+ \d\d:\d\d:\d\d) +- +Run Remote Usage'
resident = '(\d+) +- +ResidentSetSize of job'
memory = '(\d+) +- +MemoryUsage of job'
resources = 'Partitionable Resources +:(.*)'
cpus_row = 'Cpus +:(.*)'
gpus_row = 'GPUs +:(.*)'
memory_row = 'Memory \(MB\) +:(.*)'
disk_row = 'Disk \(KB\) +:(.*)'
asked_cpus = 'RequestCpus = (\d+)'
asked_gpus = 'RequestG[Pp][Uu]s = (\d+)'
asked_memory = 'RequestMemory = (\d+)'
owner = 'Owner = "([^"]*)"'
group_name = 'AcctGroup = "([^"]*)"'
command = 'Cmd = "([^"]*)"'
project = 'ProjectName = "([^"]*)"'

[columns]
kind = "smallint"
cluster = "bigint"
process = "bigint"
node = "bigint"
year = "varchar"
turns = "bigint"
month = "varchar"
day = "varchar"
clock = "varchar"
zone = "varchar"
said = "varchar"
slot = "varchar"
slot_cpus = "bigint"
slot_gpus = "double"
gpu_type = "varchar"
returned = "bigint"
signal = "bigint"
requeued = "varchar"
cpu_time = "varchar"
resident = "double"
memory = "double"
resources = "varchar"
cpus_row = "varchar"
gpus_row = "varchar"
memory_row = "varchar"
disk_row = "varchar"
asked_cpus = "double"
asked_gpus = "double"
asked_memory = "double"
owner = "varchar"
group_name = "varchar"
command = "varchar"
project = "varchar"

[functions]
# Rows of the table of resources: usage, request, allocated, of which those in front may be missing.
"cell_of(row, from_end)" = '''
try_cast(list_reverse(regexp_extract_all(regexp_extract(row, '^[\s\d.]*'), '[\d.]+'))[from_end] as double)
'''
"used_of(row, resources)" = "cell_of(row, if(resources like '%Allocated%', 3, 2))"
"asked_of(row, resources)" = "cell_of(row, if(resources like '%Allocated%', 2, 1))"
"allocated_of(row, resources)" = "if(resources like '%Allocated%', cell_of(row, 1), null)"
# Days, hours, minutes and seconds of the user and of the system.
"cpu_seconds_of(usage)" = '''
list_inner_product(cast(regexp_extract_all(usage, '\d+') as double[]), [86400.0, 3600, 60, 1, 86400, 3600, 60, 1])
'''
--- */
with stamped as (
    select
        *,
        -- Without a year of its own an event is of the one that is stated, or of a later one.
        coalesce(year, cast(try_cast(getvariable('year') as bigint) + turns as varchar)) as known_year,
        known_year || '-' || month || '-' || day || ' ' || clock as stamp,
        coalesce(
            try_strptime(stamp, '%Y-%m-%d %H:%M:%S'),
            try_strptime(stamp, '%Y-%m-%d %H:%M:%S.%g'),
            try_strptime(stamp, '%Y-%m-%d %H:%M:%S.%f')
        ) as moment,
        case when zone = 'Z' then epoch(moment) else local_seconds(moment) end as time,
        case
            when cluster is null or process is null then 'no number of a job'
            when known_year is null
                then 'its date ' || month || '/' || day || ' has no year: -O year=2025 states that of the first event'
            when moment is null then 'its date is ' || stamp || ', expected one such as 2025-03-10 09:46:40'
        end as fault
    from source
),

event as (
    select
        *,
        -- Where logs overlap, an event is there twice.
        row_number() over (
            partition by cluster, process, node, kind, time, said order by file_no, line
        ) = 1 as is_first,
        -- A number may be used again. What stands before the first submission, as where clocks differ, is of the first job.
        greatest(
            count(distinct case when kind = 0 then time end) over (partition by cluster, process order by time), 1
        ) as nth
    from stamped
    where fault is null
),

-- What runs begin and end with. A job that was lost and found again ran on; one that has ended is aborted no more.
step as (
    select *
    from (
        select *, lag(kind) over in_order as before, lead(kind) over in_order as after
        from event
        where is_first and kind in (1, 4, 5, 7, 9, 12, 13, 22, 23, 24)
        window in_order as (partition by cluster, process, nth order by time, file_no, line)
    ) as ordered
    where kind <> 23 and (kind <> 22 or coalesce(after, 23) <> 23) and (kind <> 9 or before is distinct from 5)
),

job as (
    select
        cluster,
        process,
        nth,
        count(*) as rows,
        min(file_no) as file_no,
        arg_min(line, (file_no, line)) as line,
        bool_or(zone = '') as is_local,
        min(time) filter (where kind = 0) as submitted,
        any_value(said) filter (where kind = 0) as host,
        max(coalesce(asked_cpus, asked_of(cpus_row, resources))) as wanted,
        max(coalesce(asked_gpus, asked_of(gpus_row, resources))) as wanted_gpus,
        max(coalesce(asked_memory, asked_of(memory_row, resources))) as wanted_memory,
        max(asked_of(disk_row, resources)) as wanted_disk,
        max(used_of(disk_row, resources)) as disk,
        coalesce(
            nullif(max(resident) filter (where kind = 6), 0),
            1024 * nullif(max(coalesce(memory, used_of(memory_row, resources))), 0)
        ) as kilobytes,
        nullif(count(distinct node) filter (where kind = 14), 0) as nodes,
        max(owner) as owner,
        max(group_name) as group_name,
        max(command) as command,
        max(project) as project
    from event
    group by cluster, process, nth
),

last as (
    select
        cluster,
        process,
        nth,
        max_by({'kind': kind, 'returned': returned, 'signal': signal}, (time, file_no, line)) as step,
        max(time) filter (where kind = 13) as released
    from step
    group by cluster, process, nth
),

-- From each start to what ends it. One that nothing ends before the job goes on ended at a time that is not known.
run as (
    select
        cluster,
        process,
        nth,
        time as started,
        slot,
        gpu_type,
        ending,
        case when ending.kind not in (1, 13) then ending.time end as ended,
        ending is null or ended is not null as is_known,
        -- The processors of nodes of the parallel universe are not told.
        case
            when nodes is null
                then cast(coalesce(allocated_of(ending.cpus_row, ending.resources), slot_cpus, wanted) as bigint)
        end as cpus,
        case
            when nodes is null
                then coalesce(allocated_of(ending.gpus_row, ending.resources), slot_gpus, wanted_gpus)
        end as gpus,
        row_number() over (partition by cluster, process, nth order by time desc, file_no desc, line desc) = 1 as is_last
    from (
        select
            *,
            lead({
                'kind': kind, 'time': time, 'requeued': requeued, 'returned': returned, 'cpu_time': cpu_time,
                'resources': resources, 'cpus_row': cpus_row, 'gpus_row': gpus_row
            }) over (partition by cluster, process, nth order by time, file_no, line) as ending
        from step
    ) as followed
    inner join (select cluster, process, nth, nodes, wanted, wanted_gpus from job) as asked using (cluster, process, nth)
    where kind = 1
),

several as (
    select
        cluster,
        process,
        nth,
        count(*) as runs,
        min(started) as first_start,
        string_agg(
            concat_ws(
                '/',
                cast(floor(started) - floor(submitted) as bigint),
                coalesce(cast(cast(floor(ended) - floor(started) as bigint) as varchar), ''),
                '',
                coalesce(cast(cpus as varchar), ''),
                coalesce(cast(round(gpus, 6) as varchar), ''),
                '',
                case ending.kind
                    when 4 then if(ending.requeued is null, 'evicted', 'requeued')
                    when 5 then if(ending.returned = 0, 'completed', 'failed')
                    when 7 then 'failed'
                    when 9 then 'removed'
                    when 12 then 'held'
                    when 22 then 'lost'
                    when 24 then 'lost'
                    else 'running'
                end
            ),
            ';' order by started, ended
        ) filter (where is_known and started >= submitted) as boxes
    from run
    inner join (select cluster, process, nth, submitted from job) as sent using (cluster, process, nth)
    group by cluster, process, nth
),

bag as (
    select cluster, nth
    from job
    group by cluster, nth
    having count(distinct process) > 1
),

told as (
    select
        *,
        coalesce(step.kind in (5, 9), false) as is_over,
        nullif(cpu_seconds_of(ending.cpu_time), 0) as cpu_seconds
    from job
    left join last using (cluster, process, nth)
    left join (from run where is_last) as run using (cluster, process, nth)
    left join several using (cluster, process, nth)
    left join (select *, true as is_bag from bag) as bag using (cluster, nth)
)

select
    cluster || '.' || process as source_id,
    rows,
    null as reject,
    file_no,
    line,
    submitted as submit_time,
    first_start - submitted as wait_time,
    case when is_over then ended - started end as run_time,
    started as start_time,
    -- A job that waits again, or is held, is over with its last run, too.
    case when runs > 1 or ended is not null and not is_over then boxes end as runs,
    nullif(runs - 1, 0) as n_requeues,
    case when started is not null then cpus end as n_procs,
    cpu_seconds / nullif(cpus, 0) as average_cpu_time,
    case when started is not null then kilobytes / nullif(cpus, 0) end as used_memory,
    cast(wanted as bigint) as req_n_procs,
    wanted_memory * 1024 / nullif(wanted, 0) as req_memory,
    case
        when step.kind = 9 then 5
        when step.kind = 5 and step.signal is not null then 0
        when step.kind = 5 then cast(step.returned = 0 as integer)
    end as status,
    owner as user_id,
    group_name as group_id,
    nullif(regexp_extract(command, '[^/\\]*$'), '') as executable_id,
    coalesce(
        nullif(regexp_extract(host, '[?&]alias=([^&>]+)', 1), ''),
        nullif(trim(regexp_extract(host, '<(\[[^\]]*\]|[^:>?]+)', 1), '[]'), '')
    ) as orig_site_id,
    nullif(regexp_extract(slot, '([^@.]*\.)?([^@]+)$', 2), '') as last_run_site_id,
    if(is_bag, 'BoT', 'UNITARY') as job_structure,
    case when is_bag then cluster end as job_structure_params,
    disk / 1024 as used_local_disk_space,
    wanted_disk / 1024 as req_local_disk_space,
    project as project_id,
    case when started is not null then coalesce(nodes, 1) end as n_nodes,
    gpus as n_gpus,
    wanted_gpus as req_gpus,
    gpu_type,
    case when gpus > 0 then used_of(ending.gpus_row, ending.resources) / gpus end as gpu_utilization,
    case when released <= first_start then released end as eligible_time,
    case step.kind
        when 1 then 'Running'
        when 5 then 'Completed'
        when 9 then 'Removed'
        when 12 then 'Held'
        else 'Idle'
    end as state,
    case when step.signal is not null then 128 + step.signal else step.returned end as exit_code,
    case when started is not null then kilobytes end as max_memory,
    [case when is_local then nullif(getvariable('zone_remark'), '') end] as remarks
from told
union all by name
select 1 as rows, fault as reject, file_no, line
from stamped
where fault is not null
