-- The PBS accounting file of `benchmarks.logs`, by hand: each record says the same in the same order.
create temp macro value(field) as split_part(field, '=', 2);
create temp macro duration(x) as
    split_part(x, ':', 1)::double * 3600 + split_part(x, ':', 2)::double * 60 + split_part(x, ':', 3)::double;

insert into jobs by name
with record as (
    select
        id,
        min(stamp) filter (where kind = 'Q') as queued,
        max_by({'kind': kind, 'fields': string_split(message, ' ')}, strpos('QSE', kind)) as last
    from read_csv(
        $log, delim = ';', header = false, quote = '', escape = '', auto_detect = false,
        columns = {'stamp': 'timestamp', 'kind': 'varchar', 'id': 'varchar', 'message': 'varchar'},
        timestampformat = '%m/%d/%Y %H:%M:%S'
    )
    group by id
),
one as (
    select
        id,
        last.fields as said,
        last.kind = 'E' as has_ended,
        last.kind <> 'Q' as has_run,
        if(has_run, value(said[6])::double, epoch(queued)) as submitted,
        if(has_run, value(said[9])::double, null) as started,
        case when has_run then split_part(said[15], '=', 3)::bigint end as procs,
        case when has_ended then value(said[19])::bigint end as code,
        case when has_ended then nullif(replace(value(said[21]), 'kb', '')::double, 0) end as memory
    from record
)
select
    row_number() over (order by submitted, id) as job_id,
    submitted as submit_time,
    started - submitted as wait_time,
    case when has_ended then value(said[18])::double - started end as run_time,
    procs as n_procs,
    case when has_ended then duration(value(said[20])) / procs end as average_cpu_time,
    memory / procs as used_memory,
    procs as req_n_procs,
    case when has_run then duration(value(said[16])) end as req_time,
    case when has_run then replace(value(said[12]), 'mb', '')::double * 1024 / procs end as req_memory,
    case when has_ended then if(code = 0, 1, 0) end as status,
    case when has_run then value(said[1]) end as user_id,
    case when has_run then value(said[2]) end as group_id,
    case when has_run then value(said[4]) end as executable_id,
    value(said[if(has_run, 5, 1)]) as queue_id,
    split_part(id, '.', 2) || '.example.org' as partition_id,
    'UNITARY' as job_structure,
    case when has_run then value(said[3]) end as project_id,
    case when has_run then value(said[14])::bigint end as n_nodes,
    case when has_run then value(said[8])::double end as eligible_time,
    case when code > 256 then code - 128 else code end as exit_code,
    memory as max_memory
from one
order by job_id;
