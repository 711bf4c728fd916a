/* ---
title = "Maui workload traces and Moab workload events"
files = ["*.trace", "events.*", "workload*"]
reader = "whole_lines"
scope = "trace"
joined_by = '''regexp_split_to_array(trim(text), '\s+')[if(regexp_matches(trim(text), '^\d\d:\d\d:\d\d\s+\d+(:\d+)?(\s|$)'), 4, 1)]'''
contains = '(?m)^(\S+ \d+ \d+ \S+ \S+ -?\d+ (Completed|Removed|NotRun|Failed|Vacated|Canceled|Cancelled) \[|\d\d:\d\d:\d\d \d+(:\d+)? job \S+ JOB[A-Z]+ )'
export = '''
# Maui writes a line for each job that ended; Moab a line for each event of a job, in a file for each day:
cat /var/spool/maui/stats/*.trace > maui.trace
cat /opt/moab/stats/events.* > moab.events
'''
notes = """
Sources: the Maui Administrator's Guide, 16.3 Workload Traces (44 fields), and the Moab Workload Manager's guide,
Workload Event Format (the same fields behind the time of the event, the type and the id of its object, and the event).
Fields are separated by white space; [NONE], [DEFAULT], - and 0 where a time should be are none. A line VERSION counts
as a comment. Old versions have no comment before the bypass count; it is told by what stands there.
Of the events of a Moab job (JOBSUBMIT, JOBSTART, JOBEND...) the last one counts, the others are folded into it; events
of nodes, reservations and the scheduler are refused. Jobs of one id are told apart by their submission.
Times are Unix seconds. A job waits from its submission to its start time and runs from there to its completion. It
could start from the system queue time on. One that was not dispatched has no wait, run time or processors.
Processors are the tasks allocated, else requested, times the dedicated processors of a task; requested ones the tasks
requested times those. CPU time is the processor-seconds utilized, of which 0 means not measured. Memory requested is
the dedicated memory of a task, in MB, over its processors. Requested time is the wallclock limit.
Completed is completed, since neither records exit codes; Removed, NotRun and Canceled are cancelled, as the events
JOBCANCEL and JOBREJECT; Failed, Vacated and JOBFAILURE have failed. The state is that of the trace.
The queue is the required class, the QoS the one delivered, else requested; nodes are the hosts allocated,
a name for each task.
"""

[options]
wanted = '^(?!VERSION\s)'

[columns]
text = "varchar"

[constants]
job_structure = "UNITARY"

[functions]
"given(x)" = "case when x not in ('[NONE]', '[DEFAULT]', 'NONE', '-', '') then x end"
"amount(x)" = "try_cast(regexp_extract(x, '^-?[\\d.]+') as double)"
"moment_of(x)" = "nullif(try_cast(x as double), 0)"
--- */
with cut as (
    select
        file_no,
        line,
        regexp_split_to_array(trim(text), '\s+') as cell,
        coalesce(regexp_matches(cell[1], '^\d\d:\d\d:\d\d$') and regexp_matches(cell[2], '^\d+(:\d+)?$'), false) as is_event,
        -- Before the fields that both have stand the job, or the event and its job.
        if(is_event, list_concat([cell[4]], cell[6:]), cell) as fields,
        -- The traces of old versions lack the comment before the bypass count and the processor-seconds.
        if(
            try_cast(fields[30] as double) is null and try_cast(fields[29] as double) is not null,
            list_concat(fields[:27], ['[NONE]'], fields[28:]),
            fields
        ) as field
    from source
),

record as (
    select
        file_no,
        line,
        field[1] as id,
        case when is_event then upper(cell[5]) end as event,
        case when is_event then amount(cell[2]) end as written,
        amount(field[2]) as nodes_asked,
        amount(field[3]) as tasks,
        given(field[4]) as user_name,
        given(field[5]) as group_name,
        amount(field[6]) as time_limit,
        field[7] as state,
        given(regexp_extract(field[8], '^\[?([^:\]]*)', 1)) as class,
        moment_of(field[9]) as submitted,
        moment_of(field[10]) as dispatched,
        moment_of(field[11]) as started,
        moment_of(field[12]) as completed,
        moment_of(field[21]) as eligible,
        nullif(amount(field[22]), 0) as tasks_given,
        coalesce(
            given(nullif(regexp_extract(field[24], ':(.*)$', 1), '')), given(regexp_extract(field[24], '^[^:]*'))
        ) as qos_name,
        given(field[26]) as account,
        given(field[27]) as executable,
        nullif(amount(field[30]), 0) as cpu_seconds,
        given(field[31]) as partition,
        coalesce(nullif(amount(field[32]), 0), 1) as procs_per_task,
        nullif(amount(field[33]), 0) as megabytes,
        list_filter(
            regexp_split_to_array(coalesce(given(field[38]), ''), '[:,]'), lambda host: host <> ''
        ) as hosts,
        case
            when is_event and lower(cell[3]) <> 'job' then 'is an event of a ' || left(cell[3], 20) || ', no job'
            when len(field) < 38 then len(cell) || ' fields, expected ' || if(is_event, '48', '44')
            when submitted is null and started is null and completed is null then 'has no time'
        end as fault
    from cut
),

job as (
    select *, count(*) over same_job as rows
    from record
    where fault is null
    window same_job as (partition by id, submitted)
    qualify row_number() over (
        partition by id, submitted
        order by completed desc nulls last, written desc nulls last, started desc nulls last, file_no desc, line desc
    ) = 1
),

lived as (
    select
        *,
        regexp_matches(state, '(?i)^(completed|removed|notrun|failed|vacated|cancel(l|)ed)$')
        or coalesce(event in ('JOBEND', 'JOBCANCEL', 'JOBFAILURE', 'JOBREJECT'), false) as is_over,
        started is not null and not coalesce(state ilike 'NotRun', false) as has_run,
        coalesce(tasks_given, tasks) * procs_per_task as procs
    from job
)

select
    file_no,
    line,
    rows,
    id as source_id,
    submitted as submit_time,
    case when has_run then started - submitted end as wait_time,
    case when has_run and is_over then completed - started end as run_time,
    case when has_run then started end as start_time,
    case when has_run then nullif(procs, 0) end as n_procs,
    case when has_run then cpu_seconds / nullif(procs, 0) end as average_cpu_time,
    nullif(tasks * procs_per_task, 0) as req_n_procs,
    case when time_limit > 0 then time_limit end as req_time,
    megabytes * 1024 / procs_per_task as req_memory,
    case
        when event = 'JOBFAILURE' or regexp_matches(state, '(?i)^(failed|vacated)$') then 0
        when event in ('JOBCANCEL', 'JOBREJECT') or regexp_matches(state, '(?i)^(removed|notrun|cancel(l|)ed)$') then 5
        when state ilike 'Completed' then 1
    end as status,
    user_name as user_id,
    group_name as group_id,
    nullif(regexp_extract(executable, '[^/]*$'), '') as executable_id,
    class as queue_id,
    partition as partition_id,
    account as project_id,
    case when has_run then nullif(len(list_distinct(hosts)), 0) end as n_nodes,
    case when has_run then nullif(array_to_string(hosts, ','), '') end as node_list,
    eligible as eligible_time,
    qos_name as qos,
    state,
    null as reject
from lived
union all by name
select file_no, line, 1 as rows, fault as reject
from record
where fault is not null
