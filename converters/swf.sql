/* ---
title = "Standard Workload Format"
files = ["*.swf"]
comment = ";"
first = '^\s*\d+(\.0*)?(\s+[-+]?[\d.]+(e[-+]?\d+)?){9}\s+(-1|[0-5])(\.0*)?(\s+-?\d+(\.0*)?){6}\s+[-+]?[\d.]+(e[-+]?\d+)?(\s|$)'
distinct = "job"
contains = '(?m)^\s*;|\s-1(\.0*)?(\s|$)'  # a header, or what is missing
extra_columns = true
relative = true
export = '''
gwa fetch kth-sp2 --convert
'''
notes = """
Source: the Parallel Workloads Archive's definition, version 2.2. Submit times count from the header's
UnixStartTime; without one, or where it is 0, they stay relative. Users, groups and executables are
numbers there and become U1, G1, X1; queues and partitions take their names from the header, else Q1, P1.
The site is the header's Installation. -1 is missing; columns behind the 18th are passed over.
Status 1 is completed, 0 failed, 5 cancelled. Where any is beyond 5, or below -1, the column holds exit codes: 0 is
completed, all else has failed. Lines of partial executions (2, 3, 4) belong to the summary line of their job; where there
is none, the last of them (3 completed, 4 failed) is the job, with the sum of their run times. What a job held in each is
listed (runs), if all but the last have a wait and a run time, and none begins before another has ended: one begins as long
after the end of the one before as its wait says, or after its own submission. All are taken for one run that
was suspended, since nothing says why it was interrupted.
Which job a job waited for, and for how long its user thought, is kept beside the jobs.
"""

[columns]
job = "double"
submit = "double"
wait = "double"
run = "double"
procs = "double"
cpu = "double"
memory = "double"
req_procs = "double"
req_time = "double"
req_memory = "double"
status = "double"
user_no = "bigint"
group_no = "bigint"
executable_no = "bigint"
queue_no = "bigint"
partition_no = "bigint"
preceding = "double"
think = "double"

[constants]
job_structure = "UNITARY"

[from_header]
orig_site_id = "Installation"
last_run_site_id = "Installation"

[[steps]]
name = "exit codes"
meaning = "the status column holds exit codes: 0 was read as completed, any other as failed"
when = "select count(*) > 0 from recorded where status not between 0 and 5"
sql = "update recorded set status = case status when 0 then 1 else 0 end where status is not null"

[[steps]]
name = "partial executions"
meaning = "what jobs held in each partial execution was listed"
when = "select count(*) > 0 from recorded where status in (2, 3, 4)"
sql = """
update recorded set
    runs = listed.runs,
    wait_time = coalesce(recorded.wait_time, listed.wait_time)
from (
    select
        job_id,
        min("begin") as wait_time,
        string_agg(
            concat_ws(
                '/',
                cast("begin" as bigint),
                coalesce(cast(cast(run_time as bigint) as varchar), ''),
                '',
                coalesce(cast(n_procs as varchar), ''),
                '',
                '',
                case status when 3 then 'completed' when 4 then 'failed' else 'suspended' end
            ),
            ';' order by place
        ) as runs
    from (
        select *, lag("begin" + run_time, 1, 0) over (partition by job_id order by place) as earliest
        from (
            select
                *,
                coalesce(first_value(submit_time) over so_far - submitted, 0)
                + sum(wait_time) over so_far + coalesce(sum(run_time) over before, 0) as "begin"
            from (
                select
                    *,
                    rowid as place,
                    min(submit_time) over (partition by job_id) as submitted,
                    count(submit_time) filter (where status in (2, 3, 4)) over (partition by job_id order by rowid) as stretch
                from recorded
            ) as line
            where status in (2, 3, 4)
            window
                so_far as (partition by job_id, stretch order by place),
                before as (partition by job_id, stretch order by place rows between unbounded preceding and 1 preceding)
        ) as begun
    ) as part
    group by job_id
    having any_value(submitted) is not null and bool_and(coalesce("begin" >= earliest, false)) and count(*) = count(wait_time)
    and count(*) - count(run_time) <= (max_by(run_time is null, place))::integer
    and (count(*) > 1 or min(status) = 2)
) as listed
where recorded.job_id = listed.job_id
"""

[[steps]]
name = "folded partial executions"
meaning = "lines of partial executions (status 2, 3, 4) were folded into the job's summary line"
when = "select count(*) > 0 from recorded where status in (2, 3, 4)"
sql = """
delete from recorded where status in (2, 3, 4)
and job_id in (select job_id from recorded where coalesce(status, -1) not in (2, 3, 4))
"""
folds = true

[[steps]]
name = "partial executions without a summary"
meaning = "the last partial execution of a job took its first submission and the sum of its run times"
when = "select count(*) > 0 from recorded where status in (2, 3, 4)"
sql = """
update recorded set submit_time = whole.submit_time, wait_time = whole.wait_time, run_time = whole.run_time,
status = case recorded.status when 3 then 1 else 0 end
from (
    select job_id, min(submit_time) as submit_time,
    arg_min(wait_time, (submit_time, rowid)) filter (where submit_time is not null) as wait_time,
    sum(run_time order by rowid) as run_time
    from recorded where status in (2, 3, 4) group by job_id
) as whole
where recorded.job_id = whole.job_id and recorded.status in (3, 4)
"""

[[steps]]
name = "continued partial executions"
meaning = "partial executions (status 2) were folded into the last one of the same job"
when = "select count(*) > 0 from recorded where status in (2, 3, 4)"
sql = """
delete from recorded where status = 2
and job_id in (select job_id from recorded where status in (0, 1))
"""
folds = true
--- */
-- Names are looked up in a map: a join would not keep the order of the rows.
with queue_name as (
    select
        try_cast(regexp_extract(value, '^\d+') as bigint) as id,
        arg_min(nullif(regexp_extract(value, '^\d+\s+(\S+)', 1), ''), position) as name
    from header
    where key = 'Queue'
    group by 1
    having id is not null
),

partition_name as (
    select
        try_cast(regexp_extract(value, '^\d+') as bigint) as id,
        arg_min(nullif(regexp_extract(value, '^\d+\s+(\S+)', 1), ''), position) as name
    from header
    where key = 'Partition'
    group by 1
    having id is not null
)

select
    job as job_id,
    case when submit >= 0 then submit + getvariable('start') else submit end as submit_time,
    wait as wait_time,
    run as run_time,
    procs as n_procs,
    cpu as average_cpu_time,
    memory as used_memory,
    req_procs as req_n_procs,
    req_time,
    req_memory,
    status,
    'U' || user_no as user_id,
    'G' || group_no as group_id,
    'X' || executable_no as executable_id,
    coalesce((select map(list(id), list(name)) from queue_name)[queue_no], 'Q' || queue_no) as queue_id,
    coalesce((select map(list(id), list(name)) from partition_name)[partition_no], 'P' || partition_no) as partition_id,
    cast(null as varchar) as runs,
    preceding as preceding_job,
    think as think_time
from source
