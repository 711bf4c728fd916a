/* ---
title = "Slurm accounting: what sacct prints"
files = ["*.sacct", "*.slurm"]
reader = "named"
scope = "trace"
joined_by = "split_part(jobid, '.', 1)"
needs = "ask sacct for times, as in sacct -P -o JobID,User,Submit,Start,End,Elapsed,AllocCPUS,State"
delimiter = "|"
missing = [""]
contains = '^\d+(?:_|\+|\.|\|)(?:[^|\n]*\|){4,}(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|BOOT_FAIL|CANCELLED(?: by \d+)?|COMPLETED|DEADLINE|FAILED|NODE_FAIL|OUT_OF_MEMORY|PENDING|PREEMPTED|RUNNING|TIMEOUT)\||\A\d+(?:[_+.][][\w,%-]*)?([^]\w\s.+[]{1,3}|\t)(?:[^\n]*\1)?(?:BOOT_FAIL|CANCELLED(?: by \d+)?|COMPLETED|DEADLINE|FAILED|NODE_FAIL|OUT_OF_MEMORY|PENDING|PREEMPTED|RUNNING|TIMEOUT)\1'
first = '^\d+(?:[_+.][][\w,%-]*)?([^]\w\s.+[]{1,3}|\t)'
export = '''
# A month at a time; several files are one trace.
sacct -a -D -P -S 2025-01-01 -E 2025-02-01 -o JobID,JobName,User,Group,Account,Cluster,Partition,QOS,Submit,Eligible,Start,End,Elapsed,State,ExitCode,NNodes,AllocCPUS,ReqCPUS,NTasks,ReqMem,AveRSS,MaxRSS,TotalCPU,Timelimit,AllocTRES,ReqTRES,TRESUsageInTot,ConsumedEnergyRaw,Reservation,NodeList > jobs.sacct
'''
notes = """
Sources: sacct(1) and Slurm's own sacct/print.c; the columns of a file without a header are those that
Open XDMoD asks for, or those that the option 'columns' names, such as -O columns=JobID,User,Submit,….
Any columns may be there, in any order; JobID is needed. Cells may be parted by anything (--delimiter), which is
found in the names; a table as sacct prints it without -P is read by the line under its names, and where it cut
a cell short, the cut text is kept, but a job whose JobID it cut is refused. Times are local ones of the system's zone (of
two possible times in autumn the first), or with an offset, or epoch seconds (SLURM_TIME_FORMAT=%s).
Steps are folded into their job. Rows of a job that was requeued, resized or listed twice (the next
submission is no later than an hour after the last end) are folded into the last of them; other rows of
the same JobID are other jobs. A step without its job is refused.
The run time is Slurm's Elapsed, which excludes suspension, else End - Start; it is missing for jobs that
had not ended. Jobs that never started (no Start, or 'None assigned' as nodes) have no wait, run time or
processors; a range of array tasks that never started, as 12_[3-9], is one job.
COMPLETED is completed; FAILED, TIMEOUT, NODE_FAIL, OUT_OF_MEMORY, BOOT_FAIL, DEADLINE and PREEMPTED are
failed; CANCELLED and REVOKED cancelled; others unknown; without a State the exit code decides.
Processors are AllocCPUS. CPU time is TotalCPU over processors (0 means not measured). The peak of memory is
that of the largest step: mem of its TRESUsageInTot, else AveRSS times NTasks, else MaxRSS where it has one
task; each is the sum of the peaks of its tasks, so that the job's own peak may be lower. It is missing where a
step has none of these. Memory used is TRESUsageInTot of the largest step, else its MaxRSS (of its largest task;
plain numbers are bytes) times its NTasks (without those, a task on each node), an estimate from above, over the
job's processors. ReqMem is per CPU (3000Mc), per node
(48000Mn; from 2147483648M on it is a CPU's with a flag left in) or in total (16G), whatever the version of
Slurm; plain numbers are megabytes; what is not per CPU is divided by ReqCPUS, else AllocCPUS.
GPUs are gres/gpu of AllocTRES and ReqTRES, or the sum of gres/gpu:TYPE where that is more or stands alone: the
two are never added. Their peak memory is gres/gpumem of the largest step; gres/gpuutil is a peak too, so the
mean utilization is unknown. Energy is ConsumedEnergyRaw, else ConsumedEnergy (K is 1000) or energy of
AllocTRES; 0 means not measured. On nodes that jobs share it is the nodes', not the job's. The exit code of a
job that signal n ended is 128 + n. The state is Slurm's, without who cancelled. A reservation stands among the
resources requested. Partition is both queue
and partition, Cluster the site, Account (else WCKey) the project, JobName the executable. Tasks of an
array are a bag of tasks; components of a heterogeneous job (12+1) are jobs of their own.
"""

[options]
header = "JobID"
order = [
    "JobID", "JobIDRaw", "Cluster", "Partition", "QOS", "Account", "Group", "GID", "User", "UID", "Submit",
    "Eligible", "Start", "End", "Elapsed", "ExitCode", "State", "NNodes", "NCPUS", "ReqCPUS", "ReqMem",
    "ReqTRES", "AllocTRES", "Timelimit", "NodeList", "JobName",
]
# What else sacct prints, by sacct --helpformat of all versions.
names = [
    "AdminComment", "AllocGRES", "AllocNodes", "AllocCPUS", "AssocID", "AveCPU", "AveCPUFreq", "AveDiskRead",
    "AveDiskWrite", "AvePages", "AveRSS", "AveVMSize", "BlockID", "Comment", "Constraints", "ConsumedEnergy",
    "ConsumedEnergyRaw", "Container", "CPUTime", "CPUTimeRAW", "DBIndex", "DerivedExitCode", "ElapsedRaw",
    "Extra", "FailedNode", "Flags", "Layout", "Licenses", "MaxDiskRead", "MaxDiskReadNode", "MaxDiskReadTask",
    "MaxDiskWrite", "MaxDiskWriteNode", "MaxDiskWriteTask", "MaxPages", "MaxPagesNode", "MaxPagesTask",
    "MaxRSS", "MaxRSSNode", "MaxRSSTask", "MaxVMSize", "MaxVMSizeNode", "MaxVMSizeTask", "McsLabel", "MinCPU",
    "MinCPUNode", "MinCPUTask", "NTasks", "Planned", "PlannedCPU", "PlannedCPURAW", "Priority", "QOSRAW",
    "QOSREQ", "Reason", "ReqCPUFreq", "ReqCPUFreqMin", "ReqCPUFreqMax", "ReqCPUFreqGov", "ReqGRES",
    "ReqNodes", "Reservation", "ReservationId", "Reserved", "ResvCPU", "ResvCPURAW", "Restarts",
    "SegmentSize", "SLUID", "StdErr", "StdIn", "StdOut", "SubmitLine", "Suspended", "SystemCPU",
    "SystemComment", "TimelimitRaw", "TotalCPU", "TRESUsageInAve", "TRESUsageInMax", "TRESUsageInMaxNode",
    "TRESUsageInMaxTask", "TRESUsageInMin", "TRESUsageInMinNode", "TRESUsageInMinTask", "TRESUsageInTot",
    "TRESUsageOutAve", "TRESUsageOutMax", "TRESUsageOutMaxNode", "TRESUsageOutMaxTask", "TRESUsageOutMin",
    "TRESUsageOutMinNode", "TRESUsageOutMinTask", "TRESUsageOutTot", "UserCPU", "WCKey", "WCKeyID", "WorkDir",
]
loose = ["JobName", "Comment", "AdminComment", "SystemComment", "SubmitLine", "WorkDir", "WCKey"]

[options.checks]
JobID = '\d+([_+.].*)?'
State = '([A-Z_]+[+]?( by \S+)?)?'
Submit = '(\d.*|Unknown|None)?'
Start = '(\d.*|Unknown|None)?'
End = '(\d.*|Unknown|None)?'
ExitCode = '(\d+:\d+)?'
NCPUS = '([\d.]+[KMG]?)?'
AllocCPUS = '([\d.]+[KMG]?)?'
MaxRSS = '([\d.]+[KMGTP]?)?'

[columns]
jobid = "varchar"
cluster = "varchar"
partition_ = "varchar"
account = "varchar"
wckey = "varchar"
group_ = "varchar"
gid = "varchar"
user_ = "varchar"
uid = "varchar"
submit = "varchar"
eligible = "varchar"
start_ = "varchar"
end_ = "varchar"
elapsed = "varchar"
elapsedraw = "varchar"
exitcode = "varchar"
state = "varchar"
qos = "varchar"
reservation = "varchar"
nnodes = "varchar"
alloccpus = "varchar"
ncpus = "varchar"
reqcpus = "varchar"
ntasks = "varchar"
reqmem = "varchar"
maxrss = "varchar"
averss = "varchar"
tresusageintot = "varchar"
consumedenergyraw = "varchar"
consumedenergy = "varchar"
totalcpu = "varchar"
usercpu = "varchar"
systemcpu = "varchar"
reqtres = "varchar"
alloctres = "varchar"
timelimit = "varchar"
timelimitraw = "varchar"
nodelist = "varchar"
jobname = "varchar"

[functions]
# In Unix seconds; NaN is what is no time.
"time_of(x)" = '''
case
    when strlen(x) = 19 and getvariable('zone') = 'UTC' then
        coalesce(epoch(try_cast(x as timestamp)), double 'nan')
    when x is null or x in ('Unknown', 'None', 'N/A') then null
    -- Of two possible times the first: an hour earlier there was but one.
    when strlen(x) = 19 then coalesce(
        least(
            epoch(timezone(getvariable('zone'), try_cast(x as timestamp))),
            epoch(timezone(getvariable('zone'), try_cast(x as timestamp) - interval 1 hour)) + 3600
        ),
        double 'nan'
    )
    when regexp_full_match(x, '\d{1,13}(\.\d{1,9})?') then cast(x as double)
    when regexp_full_match(x, '.*T.*(Z|[+-]\d\d:?\d\d)') then
        coalesce(epoch(try_cast(x as timestamptz)), double 'nan')
    else double 'nan'
end
'''
# The stamp of a time, or none where it is one of the first day of 1970.
"moment(x)" = "case when x not between 0 and 86400 then x end"
# The number before a suffix.
"number_of(x)" = "try_cast(regexp_extract(x, '^([\\d.]+)[KMGTPE]?$', 1) as double)"
# In kilobytes; plain numbers are bytes.
"kilobytes(x)" = "number_of(x) * pow(1024, strpos('KMGTPE', right(x, 1)) - 1)"
# In seconds; NaN is what is no duration.
"duration_of(x)" = '''
case
    when x in ('UNLIMITED', 'Partition_Limit', 'INVALID') then null
    when x like '%:%:%' then coalesce(epoch(try_cast(replace(x, '-', ' days ') as interval)), double 'nan')
    when contains(x, ':') then coalesce(epoch(try_cast('00:' || x as interval)), double 'nan')
    when x is not null then coalesce(try_cast(x as double), double 'nan')
end
'''
# Without the suffix that says that it is a CPU's or a node's.
"total_of(x)" = "case when right(x, 1) in ('c', 'n') then left(x, -1) else x end"
# A number with a suffix of 1024s, and one that says of what; NaN is what is none.
"amount_of(x)" = '''
coalesce(
    try_cast(x as double),
    try_cast(regexp_extract(x, '^([\d.]+)[KMGTP]?[cn]?$', 1) as double)
    * pow(1024, strpos('KMGTP', right(total_of(x), 1))),
    case when x is not null and total_of(x) <> '?' then double 'nan' end
)
'''
# The GPUs of each type in a list of resources, as TYPE=NUMBER.
"gpu_kinds(tres)" = '''
case when contains(tres, 'gres/gpu:') then regexp_extract_all(tres, '(?:^|,)gres/gpu:([^=,]+=\d+)', 1) end
'''
"gpus_of(tres)" = '''
case
    when contains(tres, 'gres/gpu') then greatest(
        try_cast(regexp_extract(tres, '(?:^|,)gres/gpu=(\d+)', 1) as double),
        list_sum(list_transform(gpu_kinds(tres), lambda kind: cast(split_part(kind, '=', 2) as double)))
    )
end
'''
# In joules; from 2^63 on, a number says that there is none.
"joules(x)" = '''
case
    when number_of(x) between 1e-9 and 9e18
        then number_of(x) * pow(1000, strpos('KMGTPE', right(x, 1)))
end
'''
--- */
with parsed as materialized (
    select
        file_no,
        line,
        coalesce(cluster, '') as site,
        is_step,
        case when is_step then split_part(jobid, '.', 1) else jobid end as job,
        time_of(submit) as submitted,
        time_of(start_) as started,
        time_of(end_) as ended,
        time_of(eligible) as ready,
        nullif(kilobytes(regexp_extract(tresusageintot, '(?:^|,)mem=([\d.]+[KMGTPE]?)', 1)), 0) as total,
        coalesce(
            total,
            kilobytes(maxrss) * coalesce(try_cast(ntasks as double), try_cast(nnodes as double), 1)
        ) as footprint,
        coalesce(
            total,
            nullif(kilobytes(averss) * try_cast(ntasks as double), 0),
            case when ntasks = '1' then nullif(footprint, 0) end
        ) as peak,
        nullif(kilobytes(regexp_extract(tresusageintot, '(?:^|,)gres/gpumem=([\d.]+[KMGTPE]?)', 1)), 0) as gpu_peak,
        case
            when jobid is null or not regexp_full_match(jobid, '\d+(_(\d+|\[.*))?(\+\d+)?(\..+)?') then
                'JobID is ''' || left(coalesce(jobid, ''), 40) || ''', expected one such as 123, 123_4 or 123.batch'
            when isnan(submitted) then 'Submit is ''' || left(submit, 40) || ''', expected 2024-05-31T23:59:59'
            when isnan(started) then 'Start is ''' || left(start_, 40) || ''', expected 2024-05-31T23:59:59'
            when isnan(ready) then 'Eligible is ''' || left(eligible, 40) || ''', expected 2024-05-31T23:59:59'
            when isnan(ended) then 'End is ''' || left(end_, 40) || ''', expected 2024-05-31T23:59:59'
        end as reason
    from (
        -- The dots in 12_[3-7,...] are of a list that Slurm cut short.
        select *, contains(jobid, '.') and jobid not like '%]' as is_step
        from source
    )
),

repeated as (
    select site, job
    from parsed
    where not is_step and reason is null
    group by site, job
    having count(*) > 1
),

-- A row that was submitted long after all earlier rows of its number had ended is another job.
dated as (
    select
        parsed.*,
        case when is_step then coalesce(started, submitted, ended) else submitted end as begun,
        not is_step and begun > 3900 + max(coalesce(ended, started, begun)) filter (where not is_step) over earlier
            as is_other
    from parsed
    semi join repeated on parsed.site = repeated.site and parsed.job = repeated.job
    where reason is null
    window earlier as (
        partition by site, job order by begun nulls first, is_step, ended nulls first, file_no, line
        rows between unbounded preceding and 1 preceding
    )
),

placed as (
    select
        file_no,
        line,
        count(*) filter (where is_other) over so_far as nth,
        row_number() over so_far as place
    from dated
    window so_far as (
        partition by site, job order by begun nulls first, is_step, ended nulls first, file_no, line
        rows between unbounded preceding and current row
    )
),

folded as (
    select
        site,
        job,
        coalesce(nth, 0) as nth,
        count(*) as rows,
        max(footprint) as footprint,
        case when not bool_or(peak is null and footprint > 0) then max(peak) end as peak,
        max(gpu_peak) as gpu_peak,
        max_by({'file_no': file_no, 'line': line}, coalesce(place, 0)) filter (where not is_step) as last
    from parsed
    left join placed using (file_no, line)
    where reason is null
    group by site, job, coalesce(nth, 0)
),

refused as (
    select file_no, line, reason
    from parsed
    where reason is not null
    union all
    select parsed.file_no, parsed.line, 'a step without its job' as reason
    from parsed
    inner join folded on parsed.site = folded.site and parsed.job = folded.job
    where folded.last is null and parsed.reason is null
),

measured as (
    select
        source.*,
        source.jobid as job,
        folded.rows,
        folded.footprint,
        folded.peak,
        folded.gpu_peak,
        moment(time_of(submit)) as submitted,
        moment(time_of(start_)) as started,
        moment(time_of(end_)) as ended,
        moment(time_of(eligible)) as ready,
        duration_of(coalesce(elapsedraw, elapsed)) as lasted,
        case
            when coalesce(alloccpus, ncpus) is null
                then try_cast(regexp_extract(alloctres, '(?:^|,)cpu=(\d+)', 1) as double)
            else amount_of(coalesce(alloccpus, ncpus))
        end as cpus,
        amount_of(reqcpus) as wanted,
        amount_of(nnodes) as nodes,
        coalesce(nullif(gpu_kinds(alloctres), []), nullif(gpu_kinds(reqtres), [])) as kinds
    from source
    inner join folded on source.file_no = folded.last.file_no and source.line = folded.last.line
),

lived as (
    select
        *,
        started is null
        or coalesce(state like 'PENDING%', false)
        or coalesce(nodelist = 'None assigned', false)
        or coalesce(lasted = 0 and cpus = 0, false) as is_idle,
        coalesce(
            end_ = 'Unknown'
            or regexp_matches(state, '^(PENDING|RUNNING|SUSPENDED|COMPLETING|CONFIGURING|STOPPED|SIGNALING|STAGE_OUT)'),
            false
        ) as is_open,
        case when not is_idle then nullif(cpus, 0) end as procs,
        -- What memory of a job or a node is shared out over.
        coalesce(nullif(wanted, 0), nullif(cpus, 0)) as base,
        -- Plain numbers are megabytes.
        nullif(amount_of(reqmem), 0) * case when regexp_matches(reqmem, '[KMGTP]') then 1 / 1024 else 1024 end as memory,
        -- What marks memory of a CPU, where it was not taken off: 2^31 megabytes, in kilobytes.
        pow(2, 41) as flag
    from measured
)

select
    jobid as source_id,
    rows,
    null as reject,
    file_no,
    line,
    submitted as submit_time,
    case when not is_idle then started - submitted end as wait_time,
    case when not is_idle and not is_open then coalesce(lasted, ended - started) end as run_time,
    procs as n_procs,
    nullif(coalesce(duration_of(totalcpu), duration_of(usercpu) + duration_of(systemcpu)), 0) / procs as average_cpu_time,
    nullif(footprint, 0) / procs as used_memory,
    wanted as req_n_procs,
    duration_of(coalesce(timelimitraw, timelimit))
    * case when contains(coalesce(timelimitraw, timelimit), ':') then 1 else 60 end as req_time,
    case
        when reqmem like '%n' and memory >= flag then memory - flag
        when reqmem like '%c' then memory
        when reqmem like '%n' then memory * nodes / base
        else memory / base
    end as req_memory,
    case
        when regexp_matches(state, '^COMPLETED') then 1
        when regexp_matches(state, '^(FAILED|TIMEOUT|NODE_F|OUT_OF|BOOT_F|DEADLINE|PREEMPTED)') then 0
        when regexp_matches(state, '^(CANCELLED|REVOKED)') then 5
        when state is null and exitcode = '0:0' then 1
        when state is null and exitcode is not null then 0
    end as status,
    coalesce(user_, uid) as user_id,
    coalesce(group_, gid) as group_id,
    jobname as executable_id,
    partition_ as queue_id,
    partition_ as partition_id,
    cluster as orig_site_id,
    cluster as last_run_site_id,
    case when contains(job, '_') then 'BoT' else 'UNITARY' end as job_structure,
    case when contains(job, '_') then split_part(job, '_', 1) end as job_structure_params,
    case when not is_idle then replace(alloctres, '=', ':') end as used_resources,
    nullif(concat_ws(',', replace(reqtres, '=', ':'), 'reservation:' || reservation), '') as req_resources,
    case when not is_idle then
        coalesce(try_cast(regexp_extract(alloctres, '(?:^|,)node=(\d+)', 1) as bigint), nullif(nodes, 0))
    end as n_nodes,
    case when not is_idle then gpus_of(alloctres) end as n_gpus,
    gpus_of(reqtres) as req_gpus,
    if(
        len(kinds) = 1,
        split_part(kinds[1], '=', 1),
        array_to_string(list_transform(kinds, lambda x: replace(x, '=', ':')), ',')
    ) as gpu_type,
    coalesce(
        joules(nullif(consumedenergyraw, '')),
        joules(nullif(consumedenergy, '')),
        case
            when contains(alloctres, 'energy=')
                then joules(regexp_extract(alloctres, '(?:^|,)energy=([\d.]+[KMGTPE]?)', 1))
        end
    ) as energy,
    ready as eligible_time,
    qos,
    case
        when state like 'OUT_OF_ME%' then 'OUT_OF_MEMORY'
        else regexp_replace(state, '( by .*|\+)$', '')
    end as state,
    case when not is_idle and not is_open and regexp_full_match(exitcode, '\d{1,9}:\d{1,3}') then
        if(
            exitcode like '%:0',
            cast(split_part(exitcode, ':', 1) as bigint),
            128 + cast(split_part(exitcode, ':', 2) as bigint)
        )
    end as exit_code,
    peak as max_memory,
    gpu_peak as gpu_memory,
    coalesce(account, wckey) as project_id,
    [case when length(coalesce(submit, start_, end_)) = 19 then nullif(getvariable('zone_remark'), '') end] as remarks
from lived
union all by name
select 1 as rows, reason as reject, file_no, line
from refused
