/* ---
title = "Batsim workloads: jobs to simulate, and their profiles"
files = ["batsim*.json"]
reader = "json"
scope = "trace"
contains = ['"subtime"\s*:\s*[0-9.]', '"profiles"\s*:\s*\{', '"nb_res"\s*:|"profile"\s*:\s*"']
export = '''
# It is what Batsim reads with --workload:
gwa convert workload.json -o workload.gwf
'''
notes = """
Source: Batsim's documentation of its input, and a workload of 800 jobs in oar-team/evalys.

Each job becomes a job. Times are seconds from the beginning of the simulation, and stay relative. These are requests: nothing has run yet, so
waits and outcomes are missing. A job with a profile of the type delay runs that long, on the processors that it asks for (res), rigid jobs as they are; other profiles describe work whose duration
depends on the platform, and their jobs have no run time. The executable is the profile.

Profiles are folded into the first job that uses them; those that no job uses into the first job of the file, named and counted. The job 424242
is one that a tool puts in to let a simulation begin, and is refused. What Batsim wrote of a
simulation, out_jobs.csv, is a table: gwa convert out_jobs.csv --format table -o OUT.
"""

[header]
Computer = "Batsim workload"

[constants]
job_structure = "UNITARY"

[columns]
id = "varchar"
profile = "varchar"
subtime = "double"
res = "double"
walltime = "double"
user = "varchar"
name = "varchar"
type = "varchar"
delay = "double"

[options]
records = ["jobs", "profiles"]
key = "name"
--- */
with job as (
    select
        *,
        row_number() over (partition by file_no, profile, fault is null order by line) = 1 and fault is null as is_first,
        row_number() over (partition by file_no, fault is null order by line) = 1 and fault is null as is_first_of_file
    from (
        select
            *,
            case
                when id = '424242' then 'is the job that a tool puts in to let a simulation begin'
                when id is null or subtime is null then 'its id or subtime is missing'
            end as fault
        from source
        where name is null
    ) as judged
),

profile as (
    select file_no, name, count(*) as rows, arg_min(type, line) as type, arg_min(delay, line) as delay
    from source
    where name is not null
    group by file_no, name
),

unused as (
    select profile.file_no, sum(profile.rows) as rows, string_agg(profile.name, ', ' order by profile.name) as names
    from profile
    left join job on profile.file_no = job.file_no and profile.name = job.profile and job.is_first
    where job.line is null
    group by profile.file_no
),

mapped as (
    select
        job.*,
        case when job.is_first then coalesce(profile.rows, 0) else 0 end
            + case when job.is_first_of_file then coalesce(unused.rows, 0) else 0 end as profiles,
        case when job.is_first_of_file then unused.names end as unused_names,
        case when profile.type in ('delay', 'Delay', 'DelayProfile') then nullif(profile.delay, -1) end as ran
    from job
    left join profile on job.file_no = profile.file_no and job.profile = profile.name
    left join unused on job.file_no = unused.file_no
)

select
    1 + profiles as rows,
    file_no,
    line,
    id as source_id,
    subtime as submit_time,
    ran as run_time,
    case when ran is not null then res end as n_procs,
    res as req_n_procs,
    case when walltime >= 0 then walltime end as req_time,
    "user" as user_id,
    profile as executable_id,
    fault as reject,
    [case when unused_names is not null then 'unused profiles: no job uses ' || left(unused_names, 200) end] as remarks
from mapped
union all by name
-- Where no job is one there is nothing to fold profiles into.
select 1 as rows, source.file_no, source.line, 'is a profile that no job uses' as reject
from source
where name is not null and not exists (from job where job.file_no = source.file_no and job.is_first_of_file)
