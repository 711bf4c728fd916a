/* ---
title = "Grid Engine accounting as JSON: accounting.jsonl of Open and Gridware Cluster Scheduler 9"
files = ["accounting.jsonl", "accounting.jsonl.*"]
reader = "json"
select = "sge"
contains = ['"job_number"\s*:\s*\d', '"pe_taskid"\s*:|"granted_pe"\s*:|"rusage"\s*:\s*\{', '"submission_time"\s*:\s*\d', '"(usage|ru_wallclock|granted_pe)"\s*:']
export = '''
# On the master host, with the files that were rotated:
cat $SGE_ROOT/$SGE_CELL/common/accounting.jsonl* > accounting.jsonl
'''
notes = '''
Source: sge_accounting(5) of hpc-gridware/clusterscheduler, whose default this is since version 9.0. The mapping is that
of the format sge: gwa formats sge tells its decisions. Each line is a record; times are Unix times in microseconds.
deleted_by says that a job was cancelled, but where the execution daemon (execd@…) ended one that exceeded a limit: that
one has failed. What was used is in usage.rusage (ru_wallclock, ru_maxrss) and in usage.usage or usage.eusage (cpu, io,
maxvmem, maxrss).
'''

[options.paths]
unix_group = "group"
ru_wallclock = ["usage.rusage.ru_wallclock", "ru_wallclock"]
ru_maxrss = ["usage.rusage.ru_maxrss", "ru_maxrss"]
cpu = ["usage.usage.cpu", "usage.eusage.cpu", "cpu"]
io = ["usage.usage.io", "usage.eusage.io", "io"]
maxvmem = ["usage.usage.maxvmem", "usage.eusage.maxvmem", "maxvmem"]
qdel_info = "deleted_by"
maxrss = ["usage.usage.maxrss", "usage.eusage.maxrss", "maxrss"]
--- */
select
    line,
    qname,
    hostname,
    unix_group,
    owner,
    job_name,
    job_number,
    submission_time / 1000000 as submission_time,
    start_time / 1000000 as start_time,
    end_time / 1000000 as end_time,
    failed,
    exit_status,
    ru_wallclock,
    ru_maxrss,
    coalesce(project, 'NONE') as project,
    granted_pe,
    slots,
    coalesce(task_number, 0) as task_number,
    cpu,
    io,
    coalesce(category, 'NONE') as category,
    coalesce(pe_taskid, 'NONE') as pe_taskid,
    maxvmem,
    case when qdel_info not like 'execd@%' then qdel_info end as qdel_info,
    maxrss,
    false as is_local
from record
