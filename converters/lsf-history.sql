/* ---
title = "LSF history of jobs: bhist -l, or bjobs -l"
files = ["bhist*.txt", "*.bhist"]
reader = "whole_lines"
select = "lsf"
contains = [
    'Job <',  # found fast, or not
    '(?m)^ *Job <\d+(\[\d+\])?>,.*(\n {15,}.*)*?User *<',
    '(?m)^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d( \d{4})?: Submitted from host',
]
export = '''
# -n 0 reads all of lsb.events, -w breaks no lines; with LSB_DISPLAY_YEAR=Y in lsf.conf times have a year:
bhist -a -l -n 0 -u all > bhist.txt
'''
notes = '''
Sources: bhist(1) and bjobs(1) of LSF 10.1, outputs in public documentation of sites, and bhist.c of OpenLava, which has
the words of each event. The mapping is that of the format lsf: gwa formats lsf tells its decisions.
A job is what follows "Job <number>", up to the next; a line that begins with many blanks continues the one before it.
Its runs last from each "Dispatched" (of bjobs: "Started") to the next "Done", "Exited", "Completed" or "Pending: …"; what
each held is listed (runs) where a job was queued again. Suspended time is part of a run, as it is in lsb.acct. A run
without an end before the next start is counted, but not when it ended. A job that has not ended has no status.
Hosts and slots are those allocated. The reason TERM_OWNER or TERM_ADMIN says that a job was cancelled. The CPU time is
that of the last run, the peak of memory MAX MEM, the time limit RUNLIMIT.
Times are local ones of the system's zone. Those without a year are in the one that -O year=2025 states for the
submission, and in the next where months begin again; without it, or where the day of the week is another one in that
year, the job is refused.
'''

[accepts]
year = "a year"

[options]
begins = ' *Job <\d+'
lines = 100_000

[columns]
text = "varchar"
--- */
-- Lines are joined by a blank, those that continue another by many more.
with unbroken as (
    select line, whole, split_part(whole, chr(30), 1) as head
    from (
        select
            line,
            regexp_replace(
                regexp_replace(text, ' {16,}', '', 'g'),
                ' ([A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: \d{4})?: )',
                chr(30) || '\1',
                'g'
            ) as whole
        from record
    ) as joined
),

written as (
    select line, unnest(stamps) as stamp, generate_subscripts(stamps, 1) as place
    from (select line, string_split(whole, chr(30))[2:] as stamps from unbroken) as listed
),

parted as (
    select
        line,
        place,
        left(stamp, 3) as weekday,
        regexp_extract(stamp, '^\S+ (\S+ +\d+ [\d:]+\d)', 1) as clock,
        nullif(regexp_extract(stamp, '^\S+ \S+ +\d+ [\d:]+ (\d{4}): ', 1), '') as told_year,
        regexp_extract(stamp, '^\S+ \S+ +\d+ \d\d:\d\d:\d\d(?: \d{4})?: (.*)$', 1) as said,
        try_strptime('2000 ' || clock, '%Y %b %d %H:%M:%S') as day
    from written
),

turned as (
    select *, count(*) filter (where day < before - interval 183 days) over in_turn as turns
    from (select *, lag(day) over (partition by line order by place) as before from parted) as followed
    window in_turn as (partition by line order by place)
),

event as (
    select
        line,
        place,
        said,
        clock,
        weekday,
        coalesce(told_year, cast(try_cast(getvariable('year') as bigint) + turns as varchar)) as year,
        try_strptime(year || ' ' || clock, '%Y %b %d %H:%M:%S') as moment,
        local_seconds(moment) as time,
        strftime(moment, '%a') is distinct from weekday as is_odd,
        regexp_matches(said, '^(Dispatched|Started) ') as is_start,
        regexp_matches(said, '^(Done|Exited|Completed|Pending:)') as is_end
    from turned
),

run as (
    select
        line,
        place,
        time as started,
        case when ends then ended end as ended,
        ends is null as is_open,
        ending,
        regexp_replace(
            trim(coalesce(
                nullif(regexp_extract(said, 'Allocated *\d+ *Slot\(s\) *on *Host\(s\)((?: *<[^>]*>)+)', 1), ''),
                nullif(
                    regexp_extract(
                        said,
                        '(?:on *Host\(s\)|Dispatched to|Started on)(?: *\d+ *Hosts/Processors)?((?: *<[^>]*>)+)',
                        1
                    ),
                    ''
                )
            )),
            '> *<|[<>]', ' ', 'g'
        ) as hosts
    from (
        select
            *,
            lead(time) over in_turn as ended,
            lead(is_end) over in_turn as ends,
            lead(said) over in_turn as ending
        from event
        where is_start or is_end
        window in_turn as (partition by line order by place)
    ) as followed
    where is_start
),

several as (
    select
        line,
        count(*) as runs,
        min(started) as first_start,
        max_by({'started': started, 'ended': ended, 'hosts': hosts, 'ending': ending}, place) as last_run,
        string_agg(
            concat_ws(
                '/',
                cast(started - submitted as bigint),
                coalesce(cast(cast(ended - started as bigint) as varchar), ''),
                '',
                coalesce(cast(slots_of(trim(hosts), null) as varchar), ''),
                '',
                coalesce(cast(nodes_of(trim(hosts)) as varchar), ''),
                case
                    when is_open then 'running'
                    when place = last_place and not starts_with(ending, 'Pending') then 'ended'
                    else 'requeued'
                end
            ),
            ';' order by place
        ) filter (where (is_open or ended is not null) and started >= submitted) as boxes
    from run
    inner join (
        select
            line,
            min(time) filter (where said like 'Submitted %') as submitted,
            max(place) filter (where is_start) as last_place
        from event
        group by line
    ) as sent using (line)
    group by line
),

job as (
    select
        line,
        min(time) filter (where said like 'Submitted %') as submitted,
        any_value(said) filter (where said like 'Submitted %') as submission,
        max_by(said, place) filter (where is_start or is_end) as last_said,
        max_by(said, place) filter (where said like 'Completed %') as completion,
        max(time) filter (where regexp_matches(said, '^(Done|Exited|Completed)')) as finished,
        max_by(said, place) filter (where regexp_matches(said, '^(Done|Exited)')) as ending,
        arg_min(clock, place) filter (where year is null) as yearless,
        arg_min(weekday || ' ' || clock, place) filter (where is_odd) as odd,
        any_value(year) filter (where is_odd) as odd_year
    from event
    group by line
),

told as (
    select
        *,
        regexp_extract(head, '^ *Job <(\d+)', 1) as id,
        coalesce(regexp_matches(last_said, '^(Done|Exited|Completed)'), false) as is_over,
        coalesce(regexp_matches(coalesce(ending, completion), '^(Done|Completed <done>)'), false) as is_done
    from unbroken
    left join job using (line)
    left join several using (line)
)

select
    line,
    case
        when submitted is null and yearless is null and odd is null then 'no submission of the job is told'
        when yearless is not null
            then 'its time is ''' || yearless || ''', which has no year; -O year=2025 states that of all submissions'
        when odd is not null then 'its time is ''' || odd || ''', which is another day of the week in ' || odd_year
    end as fault,
    try_cast(id as bigint) as job_number,
    coalesce(try_cast(nullif(regexp_extract(head, '^ *Job <\d+\[(\d+)\]', 1), '') as bigint), 0) as array_index,
    coalesce(submitted, 0) as submit_time,
    coalesce(last_run.started, 0) as start_time,
    case when is_over then coalesce(last_run.ended, finished) end as event_time,
    first_start,
    -- A job that waits again is over with its last run, too.
    case when runs > 1 or last_run.ended is not null and not is_over then boxes end as boxes,
    nullif(runs - 1, 0) as earlier_runs,
    case when is_over then if(is_done, 'DONE', 'EXIT') end as state,
    case when is_over then if(is_done, 64, 32) else 0 end as j_status,
    nullif(regexp_extract(head, '\bUser *<([^>]*)>', 1), '') as user_name,
    coalesce(
        nullif(regexp_extract(submission, 'to *Queue *<([^>]*)>', 1), ''),
        nullif(regexp_extract(head, '\bQueue *<([^>]*)>', 1), '')
    ) as queue,
    nullif(regexp_extract(head, '\bProject *<([^>]*)>', 1), '') as project_name,
    nullif(regexp_extract(head, '\bJob *Name *<([^>]*)>', 1), '') as job_name,
    nullif(regexp_extract(head, '\bCommand *<([^>]*)', 1), '') as command,
    coalesce(try_cast(regexp_extract(submission, '(\d+) *(?:Task\(s\)|Processors *Requested)', 1) as bigint), 1) as num_processors,
    num_processors as max_num_processors,
    trim(last_run.hosts) as hosts,
    nullif(regexp_extract(submission, 'Requested *Resources *<(.*?)> *[,;]', 1), '') as res_req,
    case when is_over
        then try_cast(regexp_extract(last_run.ending, 'CPU *time *used *is *([\d.]+)', 1) as double)
    end as ru_utime,
    0 as ru_stime,
    try_cast(regexp_extract(whole, 'MAX MEM: +([\d.]+)', 1) as double)
        * 1024.0 ** (strpos('KMGTP', nullif(regexp_extract(whole, 'MAX MEM: +[\d.]+ ([KMGTP])bytes', 1), '')) - 1) as max_rmem,
    60 * try_cast(regexp_extract(whole, 'RUNLIMIT +([\d.]+) min', 1) as double) as run_limit,
    case
        when is_done then 0
        when is_over then coalesce(
            256 * try_cast(regexp_extract(ending, 'exit *code *(\d+)', 1) as bigint),
            try_cast(regexp_extract(ending, 'by *signal *(\d+)', 1) as bigint)
        )
    end as exit_status,
    -- As lsb.acct tells that the owner or an administrator killed a job.
    case
        when regexp_matches(completion, 'TERM_(FORCE_)?(OWNER|ADMIN)|TERM_BUCKET_KILL') then 14
        when completion like '%TERM_%' then 4
    end as exit_info,
    true as is_local
from told
