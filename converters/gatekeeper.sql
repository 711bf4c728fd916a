/* ---
title = "Globus GRAM gatekeeper accounting (GT2 and later)"
files = ["*gatekeeper*.log", "gram-*.log"]
reader = "whole_lines"
scope = "trace"
joined_by = '''regexp_extract(text, 'GATEKEEPER_JM_ID (\S+)', 1)'''
contains = 'GATEKEEPER_JM_ID \d{4}-\d\d-\d\d\.\d\d:\d\d:\d\d\.\d+\.\d+ '
export = '''
# On the host of the gatekeeper:
cat /var/log/globus-gatekeeper.log > gram-gatekeeper.log
'''
notes = """
Source: the lines that the gatekeeper and the job managers of Globus write for accounting, with GATEKEEPER_JM_ID
and the id of a job manager, alone or in a log of other lines, which count as comments. The lines
of a job manager are one job; those of different ones interleave.

The log knows who submitted a job, from where, when, and to which batch system; it does not know when a job
started, how long it ran or how it ended. "JM exiting" is the end of the manager, not of the job, and is not
used. Times are local: those of the system file's zone, or UTC. The submission is the time in the id, when the
manager was started.

The user is the subject (DN), else the local account; the group is the numeric one of that account; the
partition is the type of the batch system (fork, pbs, …); the site of submission is the address that the request
came from. Logs of the containers of Globus Toolkit 4 are not read. The id of a job in the batch system's own log is kept as its source id: what follows a | in it is left out.
"""

[columns]
text = "varchar"

[options]
wanted = 'GATEKEEPER_JM_ID '

[constants]
job_structure = "UNITARY"
--- */
with said as (
    select
        file_no,
        line,
        unnest(regexp_extract(
            text,
            'GATEKEEPER_JM_ID (\d{4}-\d\d-\d\d\.\d\d:\d\d:\d\d)(\.\d+\.\d+) (.*)$',
            ['stamp', 'process', 'message']
        ))
    from source
),

job as (
    select
        stamp,
        process,
        count(*) as rows,
        min(file_no) as file_no,
        arg_min(line, (file_no, line)) as line,
        min(nullif(regexp_extract(message, '^for (.*) on (\S+)$', 1), '')) as subject,
        min(nullif(regexp_extract(message, '^for (.*) on (\S+)$', 2), '')) as address,
        min(nullif(regexp_extract(message, '^mapped to (.*) \((\d+), ?(\d+)\)$', 1), '')) as account,
        min(nullif(regexp_extract(message, '^mapped to (.*) \((\d+), ?(\d+)\)$', 3), '')) as account_group,
        min(nullif(regexp_extract(message, '^has GRAM_SCRIPT_JOB_ID ([^\s|]+).* manager type (\S+)$', 1), '')) as id,
        min(nullif(regexp_extract(message, '^has GRAM_SCRIPT_JOB_ID ([^\s|]+).* manager type (\S+)$', 2), '')) as manager,
        count(distinct nullif(regexp_extract(message, '^has GRAM_SCRIPT_JOB_ID ([^\s|]+)', 1), '')) as ids
    from said
    where stamp <> ''
    group by stamp, process
)

select
    file_no,
    line,
    rows,
    coalesce(id, stamp || process) as source_id,
    local_seconds(try_strptime(stamp, '%Y-%m-%d.%H:%M:%S')) as submit_time,
    coalesce(subject, account) as user_id,
    account_group as group_id,
    manager as partition_id,
    address as orig_site_id,
    null as reject,
    [
        nullif(getvariable('zone_remark'), ''),
        if(id is null, 'no batch job: no id in a batch system is known of the job', null),
        if(ids > 1, 'several batch jobs: the job manager submitted more than one, the first id is kept', null)
    ] as remarks
from job
union all by name
select file_no, line, 1 as rows, 'its job manager''s id is not as expected' as reject
from said
where stamp = ''
