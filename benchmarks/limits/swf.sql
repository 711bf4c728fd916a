-- The Standard Workload Format of `benchmarks.data`, by hand; runs of blanks were made one before.
insert into jobs by name
select
    job as job_id,
    nullif(submit, -1) + 1293840000.0 as submit_time,
    nullif(wait, -1) as wait_time,
    nullif(run, -1) as run_time,
    nullif(nullif(procs, -1), 0) as n_procs,
    nullif(cpu, -1) as average_cpu_time,
    nullif(memory, -1) as used_memory,
    nullif(nullif(asked, -1), 0) as req_n_procs,
    nullif(minutes, -1) as req_time,
    nullif(space, -1) as req_memory,
    case when status in (0, 1, 5) then status end as status,
    'U' || person as user_id,
    'G' || team as group_id,
    'X' || program as executable_id,
    case queue when 1 then 'short' when 2 then 'long' when 3 then 'parallel' end as queue_id,
    'P' || part as partition_id,
    'Benchmarks of gwa' as orig_site_id,
    'Benchmarks of gwa' as last_run_site_id,
    'UNITARY' as job_structure
from read_csv(
    $log, delim = ' ', header = false, comment = ';', auto_detect = false, columns = {
        'job': 'bigint', 'submit': 'bigint', 'wait': 'double', 'run': 'double', 'procs': 'bigint', 'cpu': 'double',
        'memory': 'double', 'asked': 'bigint', 'minutes': 'double', 'space': 'double', 'status': 'integer',
        'person': 'bigint', 'team': 'bigint', 'program': 'bigint', 'queue': 'bigint', 'part': 'bigint',
        'before': 'bigint', 'think': 'bigint'
    }
);
