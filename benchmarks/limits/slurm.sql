-- What sacct prints of `benchmarks.logs`, by hand: each step is of tasks of its job and has one node.
create temp macro duration(x) as epoch(try_cast(replace(x, '-', ' days ') as interval));
create temp macro size(x) as
    try_cast(regexp_extract(x, '^[\d.]+') as double) * pow(1024, strpos('KMGT', right(x, 1)) - 1);

create temp table line as
select *, split_part(JobID, '.', 1) as job, contains(JobID, '.') as is_step
from read_csv($log, delim = '|', header = true, quote = '', all_varchar = true);

insert into jobs by name
with step as (
    select job, max(size(MaxRSS)) as largest, sum(size(MaxRSS)) as memory
    from line
    where is_step
    group by job
),
one as (
    select
        line.*,
        epoch(Submit::timestamp) as submitted,
        AllocCPUS::bigint as procs,
        NNodes::bigint as nodes,
        nullif(largest, 0) as largest,
        nullif(memory, 0) as memory
    from line
    left join step using (job)
    where not is_step
)
select
    row_number() over (order by submitted, JobID) as job_id,
    submitted as submit_time,
    epoch(Start::timestamp) - submitted as wait_time,
    duration(Elapsed) as run_time,
    procs as n_procs,
    nullif(duration(TotalCPU), 0) / procs as average_cpu_time,
    case when nodes = 1 then largest / procs end as used_memory,
    ReqCPUS::bigint as req_n_procs,
    duration(Timelimit) as req_time,
    size(ReqMem) / ReqCPUS::bigint as req_memory,
    case when State = 'COMPLETED' then 1 when State like 'CANCELLED%' then 5 else 0 end as status,
    User as user_id,
    "Group" as group_id,
    JobName as executable_id,
    Partition as queue_id,
    Partition as partition_id,
    Cluster as orig_site_id,
    Cluster as last_run_site_id,
    case when contains(job, '_') then 'BoT' else 'UNITARY' end as job_structure,
    case when contains(job, '_') then split_part(job, '_', 1) end as job_structure_params,
    replace(AllocTRES, '=', ':') as used_resources,
    replace(ReqTRES, '=', ':') as req_resources,
    Account as project_id,
    nodes as n_nodes,
    epoch(Eligible::timestamp) as eligible_time,
    QOS as qos,
    regexp_replace(State, ' by .*$', '') as state,
    case
        when ExitCode like '%:0' then split_part(ExitCode, ':', 1)::bigint
        else 128 + split_part(ExitCode, ':', 2)::bigint
    end as exit_code,
    case when nodes = 1 then memory else largest end as max_memory,
    case when nodes > 1 and largest is not null then 'max_memory' end as bounds
from one
order by job_id;
