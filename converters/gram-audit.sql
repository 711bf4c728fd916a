/* ---
title = "Globus GRAM audit records (WS-GRAM and GRAM5)"
files = ["*.gramaudit", "gram_audit*.csv"]
reader = "whole_lines"
scope = "trace"
contains = [
    '\A(?!(?:"[A-Za-z_]+",){4}|[^\n]*\b(?i:jobid(raw)?)\b)(?s:.*?)^"[^"]*","[^"]*","[^"]*","[^"]*","[^"]*","(NULL|[A-Z][a-z][a-z] [A-Z][a-z][a-z] [ \d]\d |\d{4}-\d\d-\d\d)',
    '^"(NULL|[a-z]+:[^"]*)","[^"]*","(NULL|[^"]*=[^"]*)","',
]
export = '''
# The files that GRAM5 writes:
cat /var/lib/globus/gram-audit/*.gramaudit > site.gramaudit
'''
notes = """
Source: the audit records of Globus Toolkit 4 and 5: files .gramaudit, and the table gram_audit_table with all
cells in quotes, " in them being &quot;, and NULL for what is missing. Rows have 14 cells (GRAM5), 15 (with
finished_flag) or 16 (with TeraGrid's gateway_user); whether the subject stands before or behind the id of the
submission is told from the subject, which begins with a slash. A job description may go on over several lines.

A record knows who submitted what, when and to which batch system; it does not know when a job started or how long it
ran: that is in the log of the batch system, whose id of the job is kept as its source id. Submission is creation_time, else
queued_time; a time that names no zone is in the zone of the system file, or UTC. Rows of one job_grid_id are one job,
a finished one first.

From the job description, RSL or XML: count (1 where it is not given), maxWallTime or else maxTime in minutes,
maxMemory or else minMemory in MB for each process, queue, project, executable. Of a multiple request the first counts.
The user is gateway_user, else the subject, else the account. The partition is the type of the batch system, the site the host in job_grid_id.

Status: success_flag true is completed, false is failed; a job whose finished_flag is false is unknown.
"""

[columns]
text = "varchar"

[options]
begins = '"(?!,)'

[constants]
job_structure = "UNITARY"
--- */
with row as (
    select file_no, line, string_split(regexp_replace(trim(text), '^"|"$', '', 'g'), '","') as raw
    from source
),

cells as (
    select
        file_no,
        line,
        len(raw) as width,
        list_transform(raw, lambda one: nullif(nullif(replace(replace(trim(one), '&quot;', '"'), '""', '"'), 'NULL'), '')) as cell,
        coalesce(cell[3] not like '/%' and cell[4] like '/%', cell[3] is null) as has_id_first
    from row
),

record as (
    select
        *,
        coalesce(cell[1], 'line ' || file_no || ':' || line) as grid_id,
        cell[2] as local_id,
        if(has_id_first, cell[4], cell[3]) as subject,
        if(has_id_first, cell[5], cell[4]) as account,
        [cell[6], cell[7]] as stamps,
        cell[12] as manager,
        cell[13] as description,
        cell[16] as gateway_user,
        lower(cell[14]) as success,
        lower(cell[15]) as finished
    from cells
    where width between 14 and 16
),

job as (
    select *, count(*) over same_job as rows
    from record
    window same_job as (partition by grid_id)
    qualify row_number() over (
        partition by grid_id order by finished = 'true' desc nulls last, file_no, line
    ) = 1
),

asked as (
    select
        *,
        list_transform(
            stamps,
            lambda stamp: coalesce(
                epoch(try_strptime(regexp_replace(stamp, ' +', ' ', 'g'), '%a %b %d %H:%M:%S UTC %Y')),
                local_seconds(try_cast(stamp as timestamp))
            )
        ) as times,
        regexp_extract(
            description, '(?:\(\s*"?count"?\s*=\s*["'']?|<(?:[\w.-]+:)?count(?:\s[^>]*)?>)\s*(\d+)', 1, 'i'
        ) as processes,
        regexp_extract(
            description,
            '(?:\(\s*"?max_?wall_?time"?\s*=\s*["'']?|<(?:[\w.-]+:)?maxwalltime(?:\s[^>]*)?>)\s*(\d+)', 1, 'i'
        ) as max_wall_time,
        regexp_extract(
            description, '(?:\(\s*"?max_?time"?\s*=\s*["'']?|<(?:[\w.-]+:)?maxtime(?:\s[^>]*)?>)\s*(\d+)', 1, 'i'
        ) as max_time,
        regexp_extract(
            description, '(?:\(\s*"?max_?memory"?\s*=\s*["'']?|<(?:[\w.-]+:)?maxmemory(?:\s[^>]*)?>)\s*(\d+)', 1, 'i'
        ) as max_memory,
        regexp_extract(
            description, '(?:\(\s*"?min_?memory"?\s*=\s*["'']?|<(?:[\w.-]+:)?minmemory(?:\s[^>]*)?>)\s*(\d+)', 1, 'i'
        ) as min_memory,
        regexp_extract(
            description,
            '(?:\(\s*"?queue"?\s*=\s*|<(?:[\w.-]+:)?queue(?:\s[^>]*)?>)\s*(?:"([^"]*)"|''([^'']*)''|([^\s$()<>"'']+))',
            ['quoted', 'single', 'bare'], 'i'
        ) as queue,
        regexp_extract(
            description,
            '(?:\(\s*"?project"?\s*=\s*|<(?:[\w.-]+:)?project(?:\s[^>]*)?>)\s*(?:"([^"]*)"|''([^'']*)''|([^\s$()<>"'']+))',
            ['quoted', 'single', 'bare'], 'i'
        ) as project,
        regexp_extract(
            description,
            '(?:\(\s*"?executable"?\s*=\s*|<(?:[\w.-]+:)?executable(?:\s[^>]*)?>)\s*(?:"([^"]*)"|''([^'']*)''|([^\s$()<>"'']+))',
            ['quoted', 'single', 'bare'], 'i'
        ) as executable
    from job
)

select
    file_no,
    line,
    rows,
    coalesce(regexp_extract(local_id, '^[^|]+'), grid_id) as source_id,
    coalesce(times[1], times[2]) as submit_time,
    coalesce(try_cast(processes as bigint), 1) as req_n_procs,
    60 * coalesce(try_cast(max_wall_time as double), try_cast(max_time as double)) as req_time,
    1024 * coalesce(try_cast(max_memory as double), try_cast(min_memory as double)) as req_memory,
    case when finished in ('false', 'f', '0') then null when success in ('true', 't', '1') then 1 when success is not null then 0 end
        as status,
    coalesce(gateway_user, subject, account) as user_id,
    nullif(executable.quoted || executable.single || executable.bare, '') as executable_id,
    nullif(queue.quoted || queue.single || queue.bare, '') as queue_id,
    manager as partition_id,
    nullif(regexp_extract(grid_id, '^\w+://([^:/]+)', 1), '') as last_run_site_id,
    nullif(project.quoted || project.single || project.bare, '') as project_id,
    null as reject,
    [
        if(coalesce(stamps[1], stamps[2]) not like '% UTC %', nullif(getvariable('zone_remark'), ''), null),
        if(rows > 1, 'records of the same job: folded into one, a finished one first', null),
        if(
            list_contains(list_transform(list_zip(stamps, times), lambda one: one[1] is not null and one[2] is null), true),
            'times: one that is not as expected was set to missing', null
        )
    ] as remarks
from asked
union all by name
select
    file_no,
    line,
    1 as rows,
    width || if(width = 1, ' cell', ' cells') || ' in quotes, expected 14, 15 or 16' as reject
from cells
where width not between 14 and 16
