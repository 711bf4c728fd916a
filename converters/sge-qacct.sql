/* ---
title = "Grid Engine accounting as qacct prints it: qacct -j"
files = ["*.qacct", "qacct*.txt"]
reader = "blocks"
select = "sge"
contains = ['========================================', '(?m)^={40,}\s*\n(qname|job_number|jobnumber|hostname) +\S']
export = '''
# All that the accounting file holds, or what ended since a date:
qacct -j '*' > jobs.qacct
qacct -j -b 202501010000 > jobs.qacct
'''
notes = '''
Source: qacct(1) of Son of Grid Engine and of Univa. The mapping is that of the format sge: gwa formats sge tells its
decisions. Times are local ones of the system's zone, as ctime(3) writes them, or as in 01/30/2025 10:00:00.123 or, of version 9,
2025-01-30 10:00:00.123456.
Sizes may have units (K, M, G, T are powers of 1024), times an s. deleted_by, of Univa, says that a job was
cancelled, but where it is the execution daemon (execd@…) that ended one beyond a limit. What stands behind the blocks, the total of all, is passed over, as are lines of other forms.
'''

[options]
begins = '={40,}\s*$'
pair = '(?P<key>[A-Za-z]\w*)(?:\s+(?P<value>.*))?$'

[options.keys]
unix_group = "group"
job_name = "jobname"
job_number = "jobnumber"
submission_time = "qsub_time"
task_number = "taskid"
qdel_info = "deleted_by"

[columns]
qname = "varchar"
hostname = "varchar"
unix_group = "varchar"
owner = "varchar"
job_name = "varchar"
job_number = "bigint"
submission_time = "varchar"
start_time = "varchar"
end_time = "varchar"
failed = "varchar"
exit_status = "varchar"
ru_wallclock = "varchar"
ru_maxrss = "varchar"
project = "varchar"
granted_pe = "varchar"
slots = "bigint"
task_number = "bigint"
cpu = "varchar"
io = "varchar"
category = "varchar"
pe_taskid = "varchar"
maxvmem = "varchar"
qdel_info = "varchar"
maxrss = "varchar"
--- */
select
    line,
    qname,
    hostname,
    unix_group,
    owner,
    job_name,
    job_number,
    times[1] as submission_time,
    times[2] as start_time,
    times[3] as end_time,
    try_cast(regexp_extract(failed, '^\d+') as bigint) as failed,
    try_cast(regexp_extract(exit_status, '^-?\d+') as bigint) as exit_status,
    seconds[1] as ru_wallclock,
    -- In KB, unless a unit says otherwise.
    coalesce(try_cast(ru_maxrss as double), sizes[1] / 1024) as ru_maxrss,
    coalesce(project, 'NONE') as project,
    granted_pe,
    slots,
    coalesce(task_number, 0) as task_number,
    seconds[2] as cpu,
    -- In GB, unless a unit says otherwise.
    coalesce(try_cast(io as double), sizes[2] / 1024.0 ** 3) as io,
    coalesce(category, 'NONE') as category,
    coalesce(pe_taskid, 'NONE') as pe_taskid,
    sizes[3] as maxvmem,
    case when qdel_info not like 'execd@%' then qdel_info end as qdel_info,
    sizes[4] as maxrss,
    true as is_local
from (
    select
        *,
        list_transform(
            [submission_time, start_time, end_time],
            lambda x: local_seconds(
                coalesce(
                    try_strptime(regexp_replace(x, ' +', ' ', 'g'), '%a %b %d %H:%M:%S %Y'),
                    try_strptime(x, '%Y-%m-%d %H:%M:%S.%f'),
                    try_strptime(x, '%Y-%m-%d %H:%M:%S'),
                    try_strptime(x, '%m/%d/%Y %H:%M:%S.%g'),
                    try_strptime(x, '%m/%d/%Y %H:%M:%S')
                )
            )
        ) as times,
        list_transform([ru_wallclock, cpu], lambda x: try_cast(rtrim(x, 's') as double)) as seconds,
        list_transform(
            [ru_maxrss, io, maxvmem, maxrss],
            lambda x: try_cast(regexp_extract(x, '^[\d.]+') as double)
                * 1024.0 ** strpos('KMGTP', nullif(regexp_extract(x, '[KMGTP]'), ''))
        ) as powers,
        list_transform(
            list_zip([ru_maxrss, io, maxvmem, maxrss], powers),
            lambda x: coalesce(x[2], try_cast(regexp_extract(x[1], '^[\d.]+') as double))
        ) as sizes
    from record
)
