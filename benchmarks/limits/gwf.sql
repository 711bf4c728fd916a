-- The Grid Workload Format of `benchmarks.data`, by hand.
insert into jobs by name
select
    job as job_id,
    nullif(submit, -1) as submit_time,
    nullif(wait, -1) as wait_time,
    nullif(run, -1) as run_time,
    nullif(nullif(procs, -1), 0) as n_procs,
    nullif(cpu, -1) as average_cpu_time,
    nullif(memory, -1) as used_memory,
    nullif(nullif(asked, -1), 0) as req_n_procs,
    nullif(minutes, -1) as req_time,
    nullif(space, -1) as req_memory,
    case when status in (0, 1, 5) then status end as status,
    person as user_id,
    team as group_id,
    program as executable_id,
    queue as queue_id,
    part as partition_id,
    origin as orig_site_id,
    ran_on as last_run_site_id,
    structure as job_structure,
    vo as vo_id
from read_csv(
    $log, delim = '\t', header = false, comment = '#', auto_detect = false, nullstr = '-1', columns = {
        'job': 'bigint', 'submit': 'double', 'wait': 'double', 'run': 'double', 'procs': 'bigint', 'cpu': 'double',
        'memory': 'double', 'asked': 'bigint', 'minutes': 'double', 'space': 'double', 'status': 'integer',
        'person': 'varchar', 'team': 'varchar', 'program': 'varchar', 'queue': 'varchar', 'part': 'varchar',
        'origin': 'varchar', 'ran_on': 'varchar', 'structure': 'varchar', 'structured': 'varchar',
        'network': 'varchar', 'disk': 'varchar', 'used': 'varchar', 'platform': 'varchar', 'wanted_network': 'varchar',
        'wanted_disk': 'varchar', 'wanted': 'varchar', 'vo': 'varchar', 'project': 'varchar'
    }
);
