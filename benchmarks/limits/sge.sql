-- The accounting file of Grid Engine of `benchmarks.logs`, by hand: slave tasks stand behind their master.
create temp table line as
select
    c3 as owner, c2 as team, c4 as name, c5::bigint as number, c8::bigint as submitted, c9::bigint as started,
    c10::bigint as ended, c11::bigint as failed, c12::bigint as code, c16::double as memory, c33 as environment,
    c34::bigint as slots, c35::bigint as task, c36::double as cpu, c38::double as io, ' ' || c39 as asked,
    c41 <> 'NONE' as is_slave, c0 as queue, row_number() over () as line
from read_csv(
    $log, delim = ':', header = false, comment = '#', quote = '', all_varchar = true, null_padding = true,
    names = [
        'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8', 'c9', 'c10', 'c11', 'c12', 'c13', 'c14', 'c15', 'c16',
        'c17', 'c18', 'c19', 'c20', 'c21', 'c22', 'c23', 'c24', 'c25', 'c26', 'c27', 'c28', 'c29', 'c30', 'c31',
        'c32', 'c33', 'c34', 'c35', 'c36', 'c37', 'c38', 'c39', 'c40', 'c41', 'c42', 'c43', 'c44'
    ]
);

insert into jobs by name
with summed as (
    select
        number,
        sum(cpu order by is_slave, line desc) as cpu,
        sum(io order by is_slave, line desc) as io,
        sum(memory) as memory
    from line
    semi join (select number from line where is_slave) as parallel using (number)
    group by number
),
category as (
    select
        asked,
        regexp_extract(asked, '[ ,]h_rt=(\d+)', 1)::double as seconds,
        regexp_extract(asked, '[ ,]h_vmem=(\d+)M', 1)::double * 1024 as space,
        try_cast(regexp_extract(asked, ' -pe \S+ (\d+)', 1) as bigint) as slots
    from (select distinct asked from line)
),
one as (
    select
        line.* replace (
            coalesce(summed.cpu, line.cpu) as cpu,
            coalesce(summed.io, line.io) as io,
            nullif(coalesce(summed.memory, line.memory), 0) as memory
        ),
        number || case when task > 0 then '.' || task else '' end as id,
        category.seconds,
        category.space,
        category.slots as wanted
    from line
    left join summed using (number)
    left join category using (asked)
    where not is_slave
)
select
    row_number() over (order by submitted, id) as job_id,
    submitted::double as submit_time,
    (started - submitted)::double as wait_time,
    (ended - started)::double as run_time,
    slots as n_procs,
    cpu / slots as average_cpu_time,
    memory / slots as used_memory,
    coalesce(wanted, if(environment = 'NONE', 1, slots)) as req_n_procs,
    seconds as req_time,
    space as req_memory,
    if(failed = 0 and code = 0, 1, 0) as status,
    owner as user_id,
    team as group_id,
    name as executable_id,
    queue as queue_id,
    if(task > 0, 'BoT', 'UNITARY') as job_structure,
    case when task > 0 then number::varchar end as job_structure_params,
    case when io > 0 then 'io_gb:' || io end as used_resources,
    case when environment = 'NONE' then 1 end as n_nodes,
    case when code between 0 and 255 then code end as exit_code,
    memory as max_memory
from one
order by job_id;
