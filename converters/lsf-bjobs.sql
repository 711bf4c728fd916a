/* ---
title = "LSF jobs as JSON: bjobs -json"
files = ["*.json"]
reader = "json"
select = "lsf"
contains = ['"COMMAND"\s*:\s*"bjobs"|"JOBID"\s*:\s*"', '"RECORDS"\s*:\s*\[|"STAT"\s*:\s*"(DONE|EXIT|RUN|PEND|PSUSP|USUSP|SSUSP|WAIT|UNKWN|ZOMBI|PROV|FWD_PEND)"']
export = '''
# LSF forgets jobs that have ended after CLEAN_PERIOD, an hour: lsb.acct knows all (gwa formats lsf). With
# LSB_DISPLAY_YEAR=Y in lsf.conf times have a year.
bjobs -a -u all -json -o "JOBID JOBINDEX STAT USER QUEUE SLOTS NREQ_SLOT EXEC_HOST SUBMIT_TIME START_TIME FINISH_TIME RUN_TIME CPU_USED MAX_MEM RUNTIMELIMIT EXIT_CODE EXIT_REASON PROJ_NAME JOB_NAME COMMAND GPU_NUM" > jobs.json
'''
notes = '''
Source: bjobs(1) of LSF 10.1. The mapping is that of the format lsf: gwa formats lsf tells its decisions.
Values are texts, of which "" and "-" are none; only the columns that were asked for are there. Times are local
ones of the system's zone: Mar 10 09:46, with the marks L, E and X of an estimate, or Mon Mar 10 09:46:40 2025. Those
without a year are in the one that -O year=2025 states: without it their job is refused. A start or an end that
would lie before the submission is a year later. A job is done (DONE) or failed (EXIT); EXIT_REASON says whether
its owner or an administrator killed it, which is cancelled. Others have no run time and no status yet. RUN_TIME is
the run time where start and end contradict each other. The CPU time
is CPU_USED, the peak of memory MAX_MEM, the time limit RUNTIMELIMIT (minutes), and GPUs are GPU_NUM.
'''

[accepts]
year = "a year"

[options]
records = ["RECORDS"]

[options.paths]
jobid = "JOBID"
jobindex = "JOBINDEX"
stat = "STAT"
user_name = ["USER", "USER_NAME"]
queue = "QUEUE"
slots = ["SLOTS", "NALLOC_SLOT"]
asked_slots = ["NREQ_SLOT", "MIN_REQ_PROC"]
hosts = ["EXEC_HOST", "ALLOC_SLOT"]
submit_time = "SUBMIT_TIME"
start_time = "START_TIME"
finish_time = "FINISH_TIME"
run_time = "RUN_TIME"
cpu_used = "CPU_USED"
max_mem = "MAX_MEM"
run_limit = "RUNTIMELIMIT"
exit_code = "EXIT_CODE"
exit_reason = ["EXIT_REASON", "KILL_REASON"]
project_name = ["PROJ_NAME", "PROJECT"]
job_name = ["JOB_NAME", "NAME"]
command = ["COMMAND", "CMD"]
res_req = ["EFFECTIVE_RESREQ", "COMBINED_RESREQ"]
gpus = "GPU_NUM"

[columns]
jobid = "varchar"
jobindex = "varchar"
stat = "varchar"
user_name = "varchar"
queue = "varchar"
slots = "varchar"
asked_slots = "varchar"
hosts = "varchar"
submit_time = "varchar"
start_time = "varchar"
finish_time = "varchar"
run_time = "varchar"
cpu_used = "varchar"
max_mem = "varchar"
run_limit = "varchar"
exit_code = "varchar"
exit_reason = "varchar"
project_name = "varchar"
job_name = "varchar"
command = "varchar"
res_req = "varchar"
gpus = "varchar"
--- */
with stamped as (
    select
        *,
        list_transform(
            [submit_time, start_time, finish_time],
            lambda x: nullif(nullif(trim(regexp_replace(x, '(^| +)[LEX]$', '')), '-'), '')
        ) as stamps,
        -- What has no year is of the one that is stated.
        list_transform(
            stamps,
            lambda x: regexp_replace(x, ' +', ' ', 'g')
                || case when regexp_matches(x, ' \d{4}$') then '' else coalesce(' ' || getvariable('year'), '') end
        ) as dated,
        list_transform(
            dated,
            lambda x: coalesce(
                try_strptime(x, '%b %d %H:%M:%S %Y'),
                try_strptime(x, '%b %d %H:%M %Y'),
                try_strptime(x, '%a %b %d %H:%M:%S %Y')
            )
        ) as parsed
    from record
),

timed as (
    select
        *,
        list_transform(
            list_zip(stamps, parsed),
            lambda x: local_seconds(
                case
                    when x[2] < parsed[1] - interval 1 day and not regexp_matches(x[1], ' \d{4}$')
                        then x[2] + interval 1 year
                    else x[2]
                end
            )
        ) as times,
        list_filter(
            list_zip(['SUBMIT_TIME', 'START_TIME', 'FINISH_TIME'], stamps, parsed),
            lambda x: x[2] is not null and x[3] is null
        ) as odd
    from stamped
)

select
    line,
    case
        when not coalesce(regexp_full_match(jobid, '\d{1,18}(\[\d{1,18}\])?'), false)
            then 'JOBID is ''' || left(coalesce(jobid, ''), 40) || ''', expected a number'
        when len(odd) > 0
            then odd[1][1] || ' is ''' || left(odd[1][2], 40)
                || ''', expected a time such as Mar 10 09:46 2025; -O year=2025 states the year of all that have none'
    end as fault,
    try_cast(regexp_extract(jobid, '^(\d+)(\[\d+\])?$', 1) as bigint) as job_number,
    coalesce(
        try_cast(nullif(regexp_extract(jobid, '\[(\d+)\]$', 1), '') as bigint),
        try_cast(jobindex as bigint),
        try_cast(nullif(regexp_extract(job_name, '\[(\d+)\]$', 1), '') as bigint),
        0
    ) as array_index,
    stat as state,
    case stat when 'DONE' then 64 when 'EXIT' then 32 else 0 end as j_status,
    coalesce(times[1], 0) as submit_time,
    coalesce(times[2], 0) as start_time,
    case when stat in ('DONE', 'EXIT') then times[3] end as event_time,
    case when stat in ('DONE', 'EXIT') then try_cast(regexp_extract(run_time, '^[\d.]+') as double) end as run_seconds,
    nullif(user_name, '') as user_name,
    nullif(queue, '') as queue,
    try_cast(slots as bigint) as num_processors,
    try_cast(asked_slots as bigint) as max_num_processors,
    replace(nullif(hosts, '-'), ':', ' ') as hosts,
    case when stat in ('DONE', 'EXIT') then try_cast(regexp_extract(cpu_used, '^[\d.]+') as double) end as ru_utime,
    0 as ru_stime,
    case
        when stat in ('DONE', 'EXIT')
            then try_cast(regexp_extract(max_mem, '^[\d.]+') as double)
                * 1024.0 ** (strpos('KMGTP', nullif(regexp_extract(upper(max_mem), '[KMGTP]'), '')) - 1)
    end as max_rmem,
    60 * try_cast(regexp_extract(run_limit, '^[\d.]+') as double) as run_limit,
    case when stat = 'DONE' then 0 else 256 * try_cast(nullif(exit_code, '') as bigint) end as exit_status,
    -- As lsb.acct tells that the owner, an administrator or bkill -b killed a job.
    case when regexp_matches(exit_reason, 'TERM_(FORCE_)?(OWNER|ADMIN)|TERM_BUCKET_KILL') then 14
        when exit_reason like '%TERM_%' then 4
    end as exit_info,
    nullif(nullif(project_name, ''), '-') as project_name,
    nullif(job_name, '-') as job_name,
    command,
    res_req,
    try_cast(gpus as double) as gpu_count,
    true as is_local
from timed
