/* ---
title = "Slurm accounting: what sacct prints"
files = ["*.sacct", "*.slurm"]
reader = "named"
scope = "trace"
joined_by = "split_part(jobid, '.', 1)"
ranges = "jobid"
log_facts = [
    { rows = "alloctres is not null" },
    { rows = "try_cast(gpu_use_in(tresusageintot) as double) > 0", of = "gpus_counted(cluster, alloctres, reqtres, partition_)", holds = "select list(distinct kind) from counting where is_used" },
]
needs = "ask sacct for times, as in sacct --parsable2 --duplicates --format=JobID,User,Submit,Start,End,Elapsed,AllocCPUS,State"
delimiter = "|"
missing = ["", "NA", "NaN", "NaT"]
contains = '^\d+(?:_|\+|\.|\|)(?:[^|\n]*\|){4,}(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|BOOT_FAIL|CANCELLED(?: by \d+)?|COMPLETED|DEADLINE|FAILED|NODE_FAIL|OUT_OF_MEMORY|PENDING|PREEMPTED|RUNNING|TIMEOUT)\||\A\d+(?:[_+.][][\w,%-]*)?([^]\w\s.+[]{1,3}|\t)(?:[^\n]*\1)?(?:BOOT_FAIL|CANCELLED(?: by \d+)?|COMPLETED|DEADLINE|FAILED|NODE_FAIL|OUT_OF_MEMORY|PENDING|PREEMPTED|RUNNING|TIMEOUT)\1'
first = '^\d+(?:[_+.][][\w,%-]*)?([^]\w\s.+[]{1,3}|\t)'
export = '''
# A month at a time; several files are one trace. Requeued jobs need --duplicates, memory needs steps (no -X).
sacct --allusers --duplicates --parsable2 --starttime=2025-01-01 --endtime=2025-02-01 --format=JobID,JobIDRaw,JobName,User,Group,Account,Cluster,Partition,QOS,Submit,Eligible,Start,End,Elapsed,State,ExitCode,NNodes,AllocCPUS,ReqCPUS,NTasks,ReqMem,AveRSS,MaxRSS,TotalCPU,Timelimit,AllocTRES,ReqTRES,TRESUsageInTot,ConsumedEnergyRaw,Reservation,NodeList,Reason,AdminComment > jobs.sacct
'''
notes = """
Sources: sacct(1) and Slurm's own sacct/print.c and slurm.h; the columns of a file without a header are those that
Open XDMoD asks for (26 of them, or the 25 of its versions 6.6 to 9.0), or those that the option 'columns' names, such
as -O columns=JobID,User,Submit,….
Any columns may be there, in any order and spelling; JobID or JobIDRaw is needed. What a table lacks is unknown. Cells
may be parted by anything (--delimiter), which is found in the names; CSV is read as any program writes it: quoted, with
the numbers of rows that pandas or R put first, with NA, NaN or NaT for what is missing, with other columns beside those
of sacct. Where cells that hold the
delimiter are not quoted (names of jobs, comments, lists of resources and nodes), a row is put together if it fits its
columns in one way only. A table as sacct prints it without -P is read by the line under its names, and where it cut
a cell short, the cut text is kept, but a job whose JobID it cut is refused. sacct --yaml is not read: use --json. Times
are local ones of the system's zone (of two possible times in autumn the first), or with an offset, or epoch seconds
(SLURM_TIME_FORMAT=%s). NO_VAL (2106-02-07) is no time.
Steps are folded into their job; a step without its job is refused. Rows of one number are of one job if they have
one user and were submitted at the same time, or from five minutes before to 65 minutes after all earlier ones had
ended (a requeue); else they are jobs of their own, as where a number was used again, or on two clusters without the
column Cluster. A row with more Restarts than one of its number that ended REQUEUED, PREEMPTED, NODE_FAIL, BOOT_FAIL or
SPECIAL_EXIT before is of its job whenever it was submitted: rows between them are missing. Of the runs of a requeued job
the last is the job; earlier ones are counted (n_requeues, with the Restarts whose rows are missing), with the processor
and GPU seconds that they held, and a step belongs to the run in which it began. Rows of a job that was
resized or listed twice are one run; one that was resized (RESIZING) has the start of the first row, the time of all, and
the processors of the last. In a federation, siblings of a job that other clusters REVOKED are folded into
the one that ran, and counted; one that stands alone has no outcome.
The run time is Slurm's Elapsed, which excludes suspension, else End - Start; a negative Elapsed is invalid. Without
the column Start, or where it is before the submission by more than 65 minutes, a job began at End - Elapsed. It is missing for jobs that had not ended. Jobs that never started (Start
is None or Unknown, 'None assigned' as nodes, or cancelled with Elapsed 0, Start = End and no AllocTRES in a log that
has it) have no wait, run time or processors; each task of a range that never
started, as 12_[3-9], is one.
COMPLETED is completed; FAILED, TIMEOUT, NODE_FAIL, OUT_OF_MEMORY, BOOT_FAIL, DEADLINE and PREEMPTED are
failed; CANCELLED is cancelled; others unknown; without a State an exit code other than 0:0 is a failure, and
0:0, which those have too that were cancelled or ran to their limit, is unknown.
Processors are AllocCPUS or NCPUS, else those of AllocTRES, else CPUTimeRAW over ElapsedRaw; where the row of a job has
none but its steps ran, those of the largest step, and this is counted. CPU time is TotalCPU over processors (0 means
not measured).
The peak of memory is the largest sum over steps that overlap in time. A step's is mem of its TRESUsageInTot, else
AveRSS times NTasks, else MaxRSS where it has one task; without NTasks, a step batch, extern or interactive, and one on
one processor, has one task. The peaks of steps need not fall together, so that the job's own may be lower. Where one of
a job's steps has none of these, where the times of several steps are not known, or where only the script of a job on
several nodes (or on several processors of an unknown number of nodes) was measured, the peak is a lower bound, that of
the largest step, and bounds names max_memory. Bounds do not become efficiency or advice. Memory used is that of
numbered steps that overlap, each with its TRESUsageInTot, else MaxRSS (of its largest task; plain numbers are bytes)
times NTasks, an estimate from above, or what the script used if that is more, over the job's processors; it is
missing where the tasks of a step are not known. ReqMem is per CPU (3000Mc), per node
(48000Mn; from 2147483648M on it is a CPU's with a flag left in) or in total (16G), whatever the version of
Slurm; plain numbers are megabytes; what is not per CPU is divided by ReqCPUS, else AllocCPUS. A job on one processor is
on one node.
GPUs are gres/gpu of AllocTRES and ReqTRES, or the sum of gres/gpu:TYPE where that is more or stands alone: the
two are never added; else those of AllocGRES, and of ReqGRES times NNodes, but for PER_JOB; of PER_TASK and PER_SOCKET they are unknown. Shards and MPS (gres/shard, gres/mps) are shares of GPUs
of unknown size: their GPUs are unknown, and so are those of a job whose steps used GPUs that AllocTRES does not name; both are counted. Their peak memory is gres/gpumem of the steps
that overlap; gres/gpuutil is a peak too, so the mean utilization is unknown; all GPUs of a job were idle (idle_gpus) where the peak
of each step is 0, and that of another job on GPUs of its types (else in its partition) of the same cluster is more: a
counter that never counts does not work there, as that of parts of GPUs (MIG), of which none is asked. A single GPU with
a peak was not idle. AdminComment may hold a summary of jobstats (JS1:…). Where it has all nodes of a job,
CPU time, the peak of memory (the sum of the peaks of its nodes) and idle_nodes are those of the summary rather than of
steps, but CPU time that its processors cannot have had is not; where it has as many GPUs as the job held, so are
gpu_utilization, gpu_memory, max_gpu_memory and idle_gpus, and memory allocated where AllocTRES has none. Summaries that
are torn, short, empty or lack a part are counted, and cost no job. Energy is ConsumedEnergyRaw, else
ConsumedEnergy (K is 1000), else energy of AllocTRES, else the sum of the steps but extern; 0 means not measured, and
2^32 - 2, 2^32 - 1, what is near 2^64, and negative numbers stand for none (as does 4.29G). On nodes that jobs share it
is the nodes', not the job's. The exit code of a
job that signal n ended is 128 + n. The state is Slurm's, without who cancelled. A reservation stands among the
resources requested. Partition is both queue
and partition, Cluster the site, Account (else WCKey) the project, JobName the executable. Tasks of an
array are a bag of tasks; components of a heterogeneous job (12+1) are jobs of their own. The nodes of the last run are
those of NodeList (node_list); a list that was cut, or that is none, is missing as a whole, and counted. Why a job waited
(pending_reason) is Reason: the last one that Slurm noted but Priority and Resources, also of a job that has ended.
sacct does not say which GPUs of a node a job held (gpu_list). A column SLURM_JOB_GPUS that a site adds does, with what this variable
is in an Epilog (0,1), or with what scontrol show job -d prints (gpu:2(IDX:0-1)).
"""

[options]
header = ["JobID", "JobIDRaw"]
order = [
    "JobID", "JobIDRaw", "Cluster", "Partition", "QOS", "Account", "Group", "GID", "User", "UID", "Submit",
    "Eligible", "Start", "End", "Elapsed", "ExitCode", "State", "NNodes", "NCPUS", "ReqCPUS", "ReqMem",
    "ReqTRES", "AllocTRES", "Timelimit", "NodeList", "JobName",
]
older = { "Open XDMoD 6.6 to 9.0" = [
    "JobID", "JobIDRaw", "Cluster", "Partition", "Account", "Group", "GID", "User", "UID", "Submit", "Eligible",
    "Start", "End", "Elapsed", "ExitCode", "State", "NNodes", "NCPUS", "ReqCPUS", "ReqMem", "ReqGRES", "ReqTRES",
    "Timelimit", "NodeList", "JobName",
] }
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
common = [
    "JobID", "JobName", "User", "UID", "Group", "GID", "Account", "Cluster", "Partition", "QOS", "Submit", "Start",
    "End", "State", "Priority", "Comment", "Flags", "Reason", "Reservation", "NodeList", "Extra", "Container",
    "Licenses", "Constraints", "Layout",
]
# Steps of jobs.
mark = '(?m)(^|["|,;\t])\d+(_\d+)?(\+\d+)?\.(batch|extern|interactive)["|,;\t]'
loose = [
    "JobName", "Comment", "AdminComment", "SystemComment", "SubmitLine", "WorkDir", "WCKey", "NodeList", "ReqTRES",
    "AllocTRES", "TRESUsageInAve", "TRESUsageInMax", "TRESUsageInMaxNode", "TRESUsageInMaxTask", "TRESUsageInMin",
    "TRESUsageInMinNode", "TRESUsageInMinTask", "TRESUsageInTot", "TRESUsageOutAve", "TRESUsageOutMax",
    "TRESUsageOutMaxNode", "TRESUsageOutMaxTask", "TRESUsageOutMin", "TRESUsageOutMinNode", "TRESUsageOutMinTask",
    "TRESUsageOutTot",
]

[options.substitutes]
jobid = "JobIDRaw"
nnodes = "AllocNodes"

[options.spare]
cputimeraw = ["AllocCPUS", "NCPUS"]
cputime = ["AllocCPUS", "NCPUS", "CPUTimeRAW"]
tresusageinmax = ["MaxRSS"]
tresusageinave = ["AveRSS"]
suspended = ["Start"]

[options.checks]
JobID = '\d+([_+.].*)?'
JobIDRaw = '\d+([_+.].*)?'
State = '([A-Z_]+[+]?( by \S+)?)?'
Submit = '(\d.*|Unknown|None)?'
Eligible = '(\d.*|Unknown|None)?'
Start = '(\d.*|Unknown|None)?'
End = '(\d.*|Unknown|None)?'
ExitCode = '(\d+:\d+)?'
DerivedExitCode = '(\d+:\d+)?'
NCPUS = '([\d.]+[KMG]?)?'
AllocCPUS = '([\d.]+[KMG]?)?'
ReqCPUS = '([\d.]+[KMG]?)?'
NNodes = '([\d.]+[KMG]?)?'
AllocNodes = '([\d.]+[KMG]?)?'
ReqNodes = '([\d.]+[KMG]?)?'
NTasks = '([\d.]+[KMG]?)?'
MaxRSS = '([\d.]+[KMGTP]?)?'
AveRSS = '([\d.]+[KMGTP]?)?'
MaxVMSize = '([\d.]+[KMGTP]?)?'
AveVMSize = '([\d.]+[KMGTP]?)?'
ReqMem = '([\d.]+[KMGTP]?[cn]?|\?[cn]?)?'
Elapsed = '([-\d:.]+|INVALID)?'
ElapsedRaw = '(-?\d+)?'
CPUTime = '([-\d:.]+|INVALID)?'
CPUTimeRAW = '(-?\d+)?'
TotalCPU = '([-\d:.]+|INVALID)?'
UserCPU = '([-\d:.]+|INVALID)?'
SystemCPU = '([-\d:.]+|INVALID)?'
Suspended = '([-\d:.]+|INVALID)?'
Timelimit = '([-\d:.]+|UNLIMITED|Partition_Limit|INVALID)?'
TimelimitRaw = '(\d+|UNLIMITED|Partition_Limit|INVALID)?'
ConsumedEnergyRaw = '(-?\d+)?'
Priority = '\d*'
UID = '\d*'
GID = '\d*'
NodeList = '(?=.{0,2000}$)([^\[\]]*(\[[^\[\]]*\])?)*'
ReqTRES = '(?=.{0,2000}$)(?!(.*,)?([^,=]+)=.*,\2=)([\w/:.+-]+=[^,=|]*(,[\w/:.+-]+=[^,=|]*)*)?'
AllocTRES = '(?=.{0,2000}$)(?!(.*,)?([^,=]+)=.*,\2=)([\w/:.+-]+=[^,=|]*(,[\w/:.+-]+=[^,=|]*)*)?'
TRESUsageInAve = '(?=.{0,2000}$)(?!(.*,)?([^,=]+)=.*,\2=)([\w/:.+-]+=[^,=|]*(,[\w/:.+-]+=[^,=|]*)*)?'
TRESUsageInMax = '(?=.{0,2000}$)(?!(.*,)?([^,=]+)=.*,\2=)([\w/:.+-]+=[^,=|]*(,[\w/:.+-]+=[^,=|]*)*)?'
TRESUsageInMaxNode = '(?=.{0,2000}$)(?!(.*,)?([^,=]+)=.*,\2=)([\w/:.+-]+=[^,=|]*(,[\w/:.+-]+=[^,=|]*)*)?'
TRESUsageInMaxTask = '(?=.{0,2000}$)(?!(.*,)?([^,=]+)=.*,\2=)([\w/:.+-]+=[^,=|]*(,[\w/:.+-]+=[^,=|]*)*)?'
TRESUsageInMin = '(?=.{0,2000}$)(?!(.*,)?([^,=]+)=.*,\2=)([\w/:.+-]+=[^,=|]*(,[\w/:.+-]+=[^,=|]*)*)?'
TRESUsageInMinNode = '(?=.{0,2000}$)(?!(.*,)?([^,=]+)=.*,\2=)([\w/:.+-]+=[^,=|]*(,[\w/:.+-]+=[^,=|]*)*)?'
TRESUsageInMinTask = '(?=.{0,2000}$)(?!(.*,)?([^,=]+)=.*,\2=)([\w/:.+-]+=[^,=|]*(,[\w/:.+-]+=[^,=|]*)*)?'
TRESUsageInTot = '(?=.{0,2000}$)(?!(.*,)?([^,=]+)=.*,\2=)([\w/:.+-]+=[^,=|]*(,[\w/:.+-]+=[^,=|]*)*)?'
TRESUsageOutAve = '(?=.{0,2000}$)(?!(.*,)?([^,=]+)=.*,\2=)([\w/:.+-]+=[^,=|]*(,[\w/:.+-]+=[^,=|]*)*)?'
TRESUsageOutMax = '(?=.{0,2000}$)(?!(.*,)?([^,=]+)=.*,\2=)([\w/:.+-]+=[^,=|]*(,[\w/:.+-]+=[^,=|]*)*)?'
TRESUsageOutMaxNode = '(?=.{0,2000}$)(?!(.*,)?([^,=]+)=.*,\2=)([\w/:.+-]+=[^,=|]*(,[\w/:.+-]+=[^,=|]*)*)?'
TRESUsageOutMaxTask = '(?=.{0,2000}$)(?!(.*,)?([^,=]+)=.*,\2=)([\w/:.+-]+=[^,=|]*(,[\w/:.+-]+=[^,=|]*)*)?'
TRESUsageOutMin = '(?=.{0,2000}$)(?!(.*,)?([^,=]+)=.*,\2=)([\w/:.+-]+=[^,=|]*(,[\w/:.+-]+=[^,=|]*)*)?'
TRESUsageOutMinNode = '(?=.{0,2000}$)(?!(.*,)?([^,=]+)=.*,\2=)([\w/:.+-]+=[^,=|]*(,[\w/:.+-]+=[^,=|]*)*)?'
TRESUsageOutMinTask = '(?=.{0,2000}$)(?!(.*,)?([^,=]+)=.*,\2=)([\w/:.+-]+=[^,=|]*(,[\w/:.+-]+=[^,=|]*)*)?'
TRESUsageOutTot = '(?=.{0,2000}$)(?!(.*,)?([^,=]+)=.*,\2=)([\w/:.+-]+=[^,=|]*(,[\w/:.+-]+=[^,=|]*)*)?'

[columns]
jobid = "varchar"
jobidraw = "varchar"
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
suspended = "varchar"
restarts = "varchar"
exitcode = "varchar"
state = "varchar"
qos = "varchar"
reservation = "varchar"
nnodes = "varchar"
alloccpus = "varchar"
ncpus = "varchar"
cputimeraw = "varchar"
cputime = "varchar"
reqcpus = "varchar"
ntasks = "varchar"
reqmem = "varchar"
maxrss = "varchar"
averss = "varchar"
tresusageintot = "varchar"
tresusageinmax = "varchar"
tresusageinave = "varchar"
consumedenergyraw = "varchar"
consumedenergy = "varchar"
totalcpu = "varchar"
usercpu = "varchar"
systemcpu = "varchar"
reqtres = "varchar"
alloctres = "varchar"
reqgres = "varchar"
allocgres = "varchar"
timelimit = "varchar"
timelimitraw = "varchar"
nodelist = "varchar"
slurm_job_gpus = "varchar"
reason_ = "varchar"
jobname = "varchar"
admincomment = "varchar"

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
# The stamp of a time, or none where it is one of the first day of 1970, or NO_VAL (2106-02-07) in any zone.
"moment(x)" = "case when x > 86400 and x not between 4294880000 and 4295060000 then x end"
# The number before a suffix.
"number_of(x)" = "try_cast(regexp_extract(x, '^([\\d.]+)[KMGTPE]?$', 1) as double)"
# In kilobytes; plain numbers are bytes.
"kilobytes(x)" = "number_of(x) * pow(1024, strpos('KMGTPE', right(x, 1)) - 1)"
# In kilobytes, of a list such as cpu=00:01:00,mem=4M.
"memory_of(tres)" = "nullif(kilobytes(regexp_extract(tres, '(?:^|,)mem=([\\d.]+[KMGTPE]?)', 1)), 0)"
# In seconds; NaN is what is no duration. Negative ones are INVALID in newer versions.
"duration_of(x)" = '''
case
    when x in ('UNLIMITED', 'Partition_Limit', 'INVALID') or x like '-%' then null
    when x like '%:%:%' then coalesce(epoch(try_cast(replace(x, '-', ' days ') as interval)), double 'nan')
    when contains(x, ':') then coalesce(epoch(try_cast('00:' || x as interval)), double 'nan')
    when x is not null then coalesce(try_cast(x as double), double 'nan')
end
'''
# A state without what stands behind it, such as who cancelled.
"word_of(x)" = "coalesce(regexp_replace(lower(split_part(x, ' ', 1)), '[^a-z_]', '', 'g'), '')"
# A whole number as text, empty where it is unknown.
"whole_of(x)" = "coalesce(cast(try_cast(x as bigint) as varchar), '')"
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
# The processors allocated: as they are counted, else those of the resources, else CPU time over time elapsed.
"cpus_of(counted, tres, cpu_seconds, lasted)" = '''
case
    when counted is not null then amount_of(counted)
    when contains(tres, 'cpu=') then try_cast(regexp_extract(tres, '(?:^|,)cpu=(\d+)', 1) as double)
    when cpu_seconds % lasted = 0 then cpu_seconds / lasted
end
'''
# GRES, such as gpu:a100:2(S:0-1), as TRES has it; 7696487 is what gpu is where the plugin is unknown.
"tres_of(gres)" = '''
case
    when gres is not null then regexp_replace(
        regexp_replace(
            regexp_replace(gres, '(^|,)(gres[:/])?(gpu|7696487)\b|\([^)]*\)', '\1gres/gpu', 'g'),
            '(gres/gpu(:[^:=,]*[^:=,\d][^:=,]*)?)[:=](\d+)', '\1=\3', 'g'
        ),
        '(gres/gpu(:[^:=,]+)?)(,|$)', '\1=1\3', 'g'
    )
end
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
# In joules; a number from 2^63 on, and 2^32 - 2 and 2^32 - 1 (rounded: 4.29G), say that there is none.
"joules(x)" = '''
case
    when x = '4294967294' or x = '4294967295' or x = '4.29G' then null
    when try_cast(x as double) between 1e-9 and 9e18 then try_cast(x as double)
    when right(x, 1) in ('K', 'M', 'G', 'T', 'P', 'E') and number_of(x) between 1e-9 and 9e18
        then number_of(x) * pow(1000, strpos('KMGTPE', right(x, 1)))
end
'''
# The dots in 12_[3-7,...] are of a list that Slurm cut short.
"is_step(jobid)" = "contains(jobid, '.') and jobid not like '%]'"
"job_of(jobid)" = "case when is_step(jobid) then split_part(jobid, '.', 1) else jobid end"
"is_number(jobid)" = '''regexp_full_match(jobid, '\d+(_(\d+|\[.*))?(\+\d+)?(\..+)?')'''
# What is added up, in whole bytes where it is in kilobytes: such sums are exact in whatever order threads add up.
"exact(x)" = "round(x * 1024) / 1024"
# When a row ended. A step without a known end ended when it had lasted, where the log lacks ends, else it has not yet.
"end_of(jobid, start_, end_, elapsed)" = '''
coalesce(
    time_of(end_),
    case
        when is_step(jobid)
            then if(end_ is null, time_of(start_) + nullif(duration_of(elapsed), double 'nan'), 1e15)
    end
)
'''
# The memory in a list such as cpu=00:01:00,mem=4M.
"memory_in(tres)" = "regexp_extract(tres, '(?:^|,)mem=([\\d.]+[KMGTPE]?)', 1)"
"gpu_memory_in(tres)" = "regexp_extract(tres, '(?:^|,)gres/gpumem=([\\d.]+[KMGTPE]?)', 1)"
"gpu_use_in(tres)" = "regexp_extract(tres, '(?:^|,)gres/gpuutil=(\\d+)', 1)"
# Of which GPUs the rows of a job tell: their types, else their partition, of a cluster.
"gpu_types(tres)" = "array_to_string(list_sort(list_transform(gpu_kinds(tres), lambda x: split_part(x, '=', 1))), ',')"
"gpus_counted(cluster, alloctres, reqtres, partition_)" = '''
concat_ws(
    ' ',
    max(cluster),
    coalesce(nullif(max(gpu_types(alloctres)), ''), nullif(max(gpu_types(reqtres)), ''), 'in ' || max(partition_))
)
'''
"is_part_of_gpu(types)" = "regexp_matches(lower(types), '[0-9]g[._-]?[0-9]+gb|\\bmig\\b')"
# Steps that are not of tasks last as long as their job.
"is_own(jobid)" = '''
ends_with(jobid, '.batch') or ends_with(jobid, '.extern') or ends_with(jobid, '.interactive') or ends_with(jobid, '+')
'''
"tasks_of(ntasks, is_own, cpus)" = "coalesce(try_cast(ntasks as double), case when is_own or cpus = '1' then 1 end)"
# What a step used at its peak: as it was measured, and from above.
"peak_of(total, mean, task, tasks)" = "coalesce(total, nullif(mean * tasks, 0), case when tasks = 1 then task end)"
"most_of(total, mean, task, tasks)" = "coalesce(total, nullif(task * tasks, 0), nullif(mean * tasks, 0))"

# The rows of a log: what is wrong with them, of which job they are, and what steps used. The text is read but once more.
[beforehand.listed]
select = '''
select
    file_no,
    line,
    coalesce(cluster, ''),
    job_of(jobid),
    is_step(jobid),
    case
        when jobid is null or not is_number(jobid) then
            printf('JobID is ''%s'', expected one such as 123, 123_4 or 123.batch', left(coalesce(jobid, ''), 40))
        when isnan(submitted) then printf('Submit is ''%s'', expected 2024-05-31T23:59:59', left(submit, 40))
        when isnan(started) then printf('Start is ''%s'', expected 2024-05-31T23:59:59', left(start_, 40))
        when isnan(ready) then printf('Eligible is ''%s'', expected 2024-05-31T23:59:59', left(eligible, 40))
        when isnan(ended) then printf('End is ''%s'', expected 2024-05-31T23:59:59', left(end_, 40))
    end,
    state like 'REVOKED%',
    coalesce(alloccpus, ncpus) = '0' and start_ between '0' and ':' and not is_step(jobid),
    alloctres is not null,
    ltrim(admincomment) like 'JS1:%',
    is_own,
    is_extern,
    tasks_of(ntasks, is_own, coalesce(alloccpus, ncpus)),
    nullif(kilobytes(memory_in(tresusageintot)), 0),
    nullif(kilobytes(coalesce(maxrss, memory_in(tresusageinmax))), 0),
    nullif(kilobytes(coalesce(averss, memory_in(tresusageinave))), 0),
    nullif(kilobytes(gpu_memory_in(tresusageintot)), 0),
    case when contains(tresusageintot, 'gres/gpuutil') then try_cast(gpu_use_in(tresusageintot) as double) end,
    case
        when not is_extern and coalesce(consumedenergyraw, consumedenergy) <> '0'
            then coalesce(joules(coalesce(consumedenergyraw, consumedenergy)), double 'nan')
    end
from (
    select
        *,
        case when not is_step(jobid) then time_of(submit) end as submitted,
        time_of(start_) as started,
        case when not is_step(jobid) then time_of(eligible) end as ready,
        time_of(end_) as ended,
        is_own(jobid) as is_own,
        contains(jobid, '.ext') as is_extern
    from source
)
'''

[beforehand.listed.columns]
file_no = "integer"
line = "bigint"
site = "varchar"
job = "varchar"
is_step = "boolean"
reason = "varchar"
is_revoked = "boolean"
is_hollow = "boolean"
has_tres = "boolean"
has_summary = "boolean"
is_own = "boolean"
is_extern = "boolean"
tasks = "double"
total = "double"
task = "double"
mean = "double"
gpu_peak = "double"
gpu_use = "double"
energy = "double"

# What there is in a log.
[beforehand.kinds]
columns = { revoked = "boolean", hollow = "boolean", tres = "boolean", summaries = "boolean" }
select = "select bool_or(is_revoked), bool_or(is_hollow), bool_or(has_tres), bool_or(has_summary) from listed"

# Rows that cannot be read.
[beforehand.refused]
columns = { file_no = "integer", line = "bigint", reason = "varchar" }
select = "select file_no, line, reason from listed where reason is not null"

# Of a job that was submitted to a federation, all but the cluster that runs it have REVOKED it.
[beforehand.sibling]
when = "select revoked from kinds"
columns = { cluster = "varchar", jobid = "varchar", submit = "varchar", who = "varchar", ran_on = "varchar" }
select = '''
select revoked.cluster, revoked.jobid, revoked.submit, revoked.who, min(source.cluster)
from (
    select distinct cluster, jobid, submit, coalesce(user_, uid) as who
    from source
    where state like 'REVOKED%' and not contains(jobid, '.')
) as revoked
inner join source on revoked.jobid = source.jobid and revoked.cluster <> source.cluster
anti join refused on source.file_no = refused.file_no and source.line = refused.line
where source.state not like 'REVOKED%' and coalesce(source.user_, source.uid) is not distinct from revoked.who
group by all
'''

# Numbers that several rows have.
[beforehand.repeated]
columns = { job = "varchar" }
select = "select job from listed where not is_step group by job having count(*) > 1"

# Of which run of which job the rows of such a number are: in the bits from 20 on, the number of the job, and below, how
# many runs there were later. The last row of a run is that of the job.
[beforehand.placed]
when = "select count(*) > 0 from repeated"
select = '''
with listed as materialized (
    select
        source.file_no,
        source.line,
        coalesce(sibling.ran_on, source.cluster, '') as site,
        job_of(source.jobid) as job,
        is_step(source.jobid) as is_step,
        case when not is_step(source.jobid) then time_of(source.submit) end as submitted,
        time_of(source.start_) as started,
        end_of(source.jobid, source.start_, source.end_, coalesce(source.elapsedraw, source.elapsed)) as ended,
        coalesce(submitted, started, ended) as begun,
        coalesce(source.user_, source.uid) as who,
        source.jobid,
        coalesce(source.state, '') as state,
        coalesce(try_cast(source.restarts as bigint), 0) as restarts
    from source
    semi join repeated on job_of(source.jobid) = repeated.job
    left join sibling
        on
            source.jobid = sibling.jobid
            and source.cluster = sibling.cluster
            and source.submit is not distinct from sibling.submit
            and coalesce(source.user_, source.uid) is not distinct from sibling.who
            and source.state like 'REVOKED%'
    anti join refused on source.file_no = refused.file_no and source.line = refused.line
),

in_turn as (
    select
        *,
        lag(begun) over earlier as former_begun,
        lag(state) over earlier as former_state,
        lag(restarts) over earlier as former_restarts,
        last_value(started ignore nulls) over before as former_started,
        max(case when state not like 'REVOKED%' then coalesce(ended, started, begun) end) over before as latest
    from (
        select
            *,
            row_number() over (
                partition by site, job, who
                order by
                    state like 'REVOKED%' desc, begun nulls first, started nulls first, ended nulls first, file_no, line
            ) as place
        from listed
        where not is_step
    )
    window
        earlier as (partition by site, job, who order by place),
        before as (
            partition by site, job, who order by place rows between unbounded preceding and 1 preceding
        )
),

-- A row is of another job where it is another user's, or where it was submitted long after, or well before, all
-- earlier rows of its number had ended; but not where Slurm had to start it again, and has counted that: then rows
-- between the two are missing. One that was submitted or began after an earlier one of its job is another run of it,
-- but not where the job was resized.
judged as (
    select
        *,
        place > 1
        and begun is distinct from former_begun
        and not coalesce(begun between latest - 300 and latest + 3900, true)
        and not (
            begun > latest
            and restarts > former_restarts
            and regexp_matches(former_state, '^(BOOT_FAIL|NODE_FAIL|PREEMPTED|REQUEUE|SPECIAL_EXIT)')
        ) as is_other,
        place > 1
        and not regexp_matches(former_state, '^(RESIZING|REVOKED)')
        and (begun is distinct from former_begun or coalesce(started <> former_started and started >= latest - 300, false))
            as is_later
    from in_turn
),

counted as (
    select
        *,
        dense_rank() over (partition by site, job order by who nulls first, others) - 1 as nth,
        count(*) filter (where is_later) over (partition by site, job, who, others order by place) as run
    from (
        select *, count(*) filter (where is_other) over (partition by site, job, who order by place) as others
        from judged
    )
),

-- The last run has the age 0.
aged as (
    select *, max(run) over (partition by site, job, nth) - run as age
    from counted
),

-- A step is of the run in whose record of JSON, or behind whose row, it stands, there if it began within that, else
-- of the one that had begun last.
owned as (
    select
        *,
        last_value(owner ignore nulls) over by_line as listed_last,
        last_value(case when owner.started is not null then owner end ignore nulls) over by_time as begun_last,
        first_value(owner ignore nulls) over (
            partition by site, job order by begun rows between unbounded preceding and unbounded following
        ) as first_owner
    from (
        select
            file_no, line, site, job, is_step, jobid, started, coalesce(started, begun) as begun, place,
            {'run': nth * 1048576 + age, 'started': started, 'ended': ended} as owner
        from aged
        union all by name
        select file_no, line, site, job, is_step, jobid, started, coalesce(started, begun) as begun
        from listed
        where is_step
    )
    window
        -- The steps of a record of JSON have its number in the lower bits.
        by_line as (partition by site, job, file_no order by line & 1099511627775, is_step),
        by_time as (partition by site, job order by begun, is_step)
)

select
    file_no,
    line,
    site,
    job,
    chosen.run,
    is_step,
    not is_step and place = max(place) over (partition by site, job, chosen.run),
    -- The same step in two logs.
    is_step and row_number() over (
        partition by site, job, chosen.run, jobid order by file_no desc, line desc
    ) > 1 as is_again
from (
    select
        *,
        case
            when not is_step then owner
            when line >= 1099511627776 then listed_last
            when
                listed_last.started is not null
                and started between listed_last.started and coalesce(listed_last.ended, started)
                then listed_last
            else coalesce(begun_last, listed_last, first_owner)
        end as chosen
    from owned
)
'''

[beforehand.placed.columns]
file_no = "integer"
line = "bigint"
site = "varchar"
job = "varchar"
run = "bigint"
is_step = "boolean"
is_last = "boolean"
is_again = "boolean"

# The steps of the last run of each job: how many there are, and what they used.
[beforehand.stepped]
select = '''
select
    site,
    job,
    run,
    count(*),
    count(*) filter (where least_used > 0 and not is_own),
    count(*) filter (where not is_own and (least_used > 0 or gpu_peak > 0)),
    max(least_used),
    case when count(peak) = count(least_used) then sum(exact(peak)) end,
    case when count(most_used) = count(least_used) then coalesce(sum(exact(most_used)) filter (where not is_own), 0) end,
    max(most_used) filter (where is_own),
    sum(exact(gpu_peak)),
    max(gpu_peak),
    case when count(*) filter (where gpu_use is null and not is_extern) = 0 then max(gpu_use) end,
    sum(exact(energy))
from (
    select
        listed.*,
        coalesce(placed.run, 0) as run,
        coalesce(total, task, mean) as least_used,
        peak_of(total, mean, task, tasks) as peak,
        most_of(total, mean, task, tasks) as most_used
    from listed
    left join placed on listed.file_no = placed.file_no and listed.line = placed.line
    where listed.is_step and reason is null and coalesce(placed.run & 1048575 = 0 and not is_again, true)
)
group by site, job, run
'''

[beforehand.stepped.columns]
site = "varchar"
job = "varchar"
run = "bigint"
rows = "bigint"
numbered = "bigint"
side_by_side = "bigint"
least_used = "double"
peak = "double"
most_used = "double"
own_most_used = "double"
gpu_peak = "double"
greatest_gpu_peak = "double"
gpu_use = "double"
energy = "double"

# What steps used that overlap, at its most: at the start of one of them.
[beforehand.swept]
when = "select bool_or(side_by_side > 1) from stepped"
select = '''
with used as materialized (
    select
        site,
        job,
        run,
        is_own,
        started,
        -- The greatest of a time and none is the time.
        case when ended is not null then greatest(started, ended) end as ended,
        coalesce(exact(peak_of(total, mean, task, tasks)), 0) as peak,
        case when is_own then 0 else coalesce(exact(most_of(total, mean, task, tasks)), 0) end as most_used,
        coalesce(exact(gpu_peak), 0) as gpu_peak
    from (
        select
            crowded.site,
            crowded.job,
            crowded.run,
            is_own(jobid) as is_own,
            time_of(start_) as started,
            end_of(jobid, start_, end_, coalesce(elapsedraw, elapsed)) as ended,
            nullif(kilobytes(memory_in(tresusageintot)), 0) as total,
            nullif(kilobytes(coalesce(maxrss, memory_in(tresusageinmax))), 0) as task,
            nullif(kilobytes(coalesce(averss, memory_in(tresusageinave))), 0) as mean,
            tasks_of(ntasks, is_own, coalesce(alloccpus, ncpus)) as tasks,
            nullif(kilobytes(gpu_memory_in(tresusageintot)), 0) as gpu_peak
        from source
        anti join refused on source.file_no = refused.file_no and source.line = refused.line
        left join placed on source.file_no = placed.file_no and source.line = placed.line
        inner join (from stepped where side_by_side > 1) as crowded
            on
                coalesce(source.cluster, '') = crowded.site
                and job_of(source.jobid) = crowded.job
                and coalesce(placed.run, 0) = crowded.run
        where is_step(jobid) and not coalesce(is_again, false)
    )
    where coalesce(total, task, mean, gpu_peak) > 0
)

select site, job, run, max(peak), max(most_used), max(gpu_peak)
from (
    select
        site,
        job,
        run,
        sum(peak) over in_order as peak,
        sum(most_used) over in_order as most_used,
        sum(gpu_peak) over in_order as gpu_peak
    from (
        select site, job, run, started as stamp, 1 as turn, peak, most_used, gpu_peak
        from used
        union all
        select site, job, run, ended, if(ended > started, 0, 2), -peak, -most_used, -gpu_peak
        from used
    )
    anti join (
        from used
        where started is null or ended is null
    ) as untimed using (site, job, run)
    window in_order as (partition by site, job, run order by stamp, turn)
)
group by site, job, run
'''

[beforehand.swept.columns]
site = "varchar"
job = "varchar"
run = "bigint"
peak = "double"
most_used = "double"
gpu_peak = "double"

# How many further rows a job has, how many runs before the last, what each held, when the job was submitted and started
# first, and how long it ran before its last size. A row of a run counts once, however often it is listed; a run that was
# resized has a row for each size.
[beforehand.boxed]
when = "select count(*) > 0 from placed"
select = '''
with box as (
    select
        placed.site,
        placed.job,
        placed.run >> 20 as nth,
        placed.rows,
        placed.is_last,
        placed.run & 1048575 as age,
        placed.run & 1048575 > 0 as is_earlier,
        source.state like 'RESIZING%' as is_resized,
        moment(time_of(source.submit)) as submitted,
        moment(time_of(source.eligible)) as ready,
        moment(time_of(source.end_)) as ended,
        duration_of(coalesce(source.elapsedraw, source.elapsed)) as lasted,
        moment(time_of(source.start_)) as told_start,
        -- As of the last run: a start that is before the submission is none, and is told from the end.
        coalesce(
            case when not coalesce(told_start < submitted - 3900, false) then told_start end,
            case
                when lasted > 0 and source.start_ is distinct from 'Unknown'
                    then ended - lasted - coalesce(duration_of(source.suspended), 0)
            end
        ) as started,
        case when source.state not like 'RUNNING%' then coalesce(ended, started + lasted) end as finished,
        cpus_of(
            coalesce(source.alloccpus, source.ncpus),
            source.alloctres,
            duration_of(coalesce(source.cputimeraw, source.cputime)),
            lasted
        ) as procs,
        coalesce(
            gpus_of(if(contains(source.alloctres, 'gres/gpu'), source.alloctres, tres_of(source.allocgres))),
            case when source.alloctres is not null then 0 end
        ) as gpus,
        coalesce(try_cast(regexp_extract(source.alloctres, '(?:^|,)node=(\d+)', 1) as bigint), amount_of(source.nnodes))
            as nodes,
        word_of(source.state) as state
    from (
        select
            *,
            count(*) filter (where not is_step or run & 1048575 > 0 or is_again) over (partition by site, job, run >> 20) - 1
                as rows
        from placed
    ) as placed
    inner join source on placed.file_no = source.file_no and placed.line = source.line
    where not placed.is_step and (placed.is_last or source.state like 'RESIZING%')
)

select
    site,
    job,
    nth,
    any_value(rows),
    nullif(count(*) filter (where is_earlier and is_last and coalesce(lasted, ended - told_start) > 0), 0),
    count(*) filter (where is_earlier and is_last),
    max(told_start) filter (where age = 0 and is_last) - min(told_start) filter (where age = 0 and is_resized),
    min(submitted),
    arg_min(ready, submitted),
    min(started) filter (where has_run),
    case when count(*) filter (where has_run) > 1 or bool_or(has_run and is_earlier) then
        string_agg(
            concat_ws(
                '/',
                whole_of(started - first_submitted),
                whole_of(finished - started),
                whole_of(case when lasted < finished - started then lasted end),
                whole_of(procs),
                case when has_gpus then coalesce(cast(round(gpus, 6) as varchar), '') else '' end,
                whole_of(nodes),
                state
            ),
            ';' order by age desc, started
        ) filter (where has_run)
    end
from (
    select
        *,
        min(submitted) over (partition by site, job, nth) as first_submitted,
        coalesce(max(gpus) over (partition by site, job, nth) > 0, false) as has_gpus,
        started is not null and coalesce(lasted > 0 or finished > started, finished is null) as has_run
    from box
)
group by site, job, nth
'''

[beforehand.boxed.columns]
site = "varchar"
job = "varchar"
nth = "bigint"
rows = "bigint"
runs = "bigint"
listed = "bigint"
resized_after = "double"
first_submitted = "double"
first_ready = "double"
first_started = "double"
boxes = "varchar"

# Where the row of a job has no processors, they follow from its steps.
[beforehand.hollow]
when = "select hollow from kinds"
columns = { site = "varchar", job = "varchar", cpus = "double" }
select = '''
select coalesce(source.cluster, ''), empty.jobid, max(amount_of(coalesce(source.alloccpus, source.ncpus)))
from source
inner join (
    select distinct cluster, jobid
    from source
    where coalesce(alloccpus, ncpus) = '0' and not is_step(jobid) and time_of(start_) is not null
) as empty
    on source.cluster is not distinct from empty.cluster and split_part(source.jobid, '.', 1) = empty.jobid
where is_step(source.jobid)
group by source.cluster, empty.jobid
'''

# What jobstats says of the nodes and GPUs of jobs.
[beforehand.summed]
when = "select summaries from kinds"
select = '''
select
    file_no,
    line,
    case
        when starts_with(content, 'JS1:None') then 'none'
        when starts_with(content, 'JS1:Short') then 'short'
        when summary.nodes > 0 then 'read'
        when json_valid(text) then 'none'
        else 'broken'
    end,
    summary.nodes,
    jobstats_total(summary.times),
    case when jobstats_total(summary.times) is not null then len(list_filter(summary.times, lambda x: x = 0)) end,
    summary.memory,
    summary.allocated,
    case when len(summary.uses) > 0 then len(summary.uses) end,
    list_avg(summary.uses) / 100,
    len(list_filter(summary.uses, lambda x: x = 0)),
    case when jobstats_total(summary.sizes) is not null then len(summary.sizes) end,
    jobstats_total(summary.sizes) / 1024,
    list_max(summary.sizes) / 1024
from (
    select
        *,
        jobstats_summary(text) as summary
    from (
        select
            file_no,
            line,
            ltrim(admincomment) as content,
            case when not starts_with(content, 'JS1:None') and not starts_with(content, 'JS1:Short')
                then jobstats_text(content)
            end as text
        from source
        where ltrim(admincomment) like 'JS1:%' and not is_step(jobid)
    )
)
'''

[beforehand.summed.columns]
file_no = "integer"
line = "bigint"
summary = "varchar"
summed_nodes = "bigint"
summed_cpu = "double"
summed_idle_nodes = "bigint"
summed_memory = "double"
summed_allocated = "double"
summed_gpus = "bigint"
summed_gpu_use = "double"
summed_idle_gpus = "bigint"
summed_gpus_of_memory = "bigint"
summed_gpu_memory = "double"
summed_max_gpu_memory = "double"

# The jobs of which steps tell how busy their GPUs were at most: of which GPUs, and whether any ever was.
[beforehand.counting]
columns = { site = "varchar", job = "varchar", kind = "varchar", is_used = "boolean" }
when = "select count(*) > 0 from listed where gpu_use is not null"
select = '''
select
    coalesce(cluster, ''),
    job_of(jobid),
    gpus_counted(cluster, alloctres, reqtres, partition_),
    max(try_cast(gpu_use_in(tresusageintot) as double)) > 0
from source
group by cluster, job_of(jobid)
having count(*) filter (where contains(tresusageintot, 'gres/gpuutil')) > 0
'''

# The row of each job, and what other rows say of it.
[beforehand.gathered]
select = '''
select
    listed.file_no,
    listed.line,
    1 + coalesce(stepped.rows, 0) + coalesce(boxed.rows, 0),
    boxed.runs,
    coalesce(boxed.listed, 0),
    boxed.first_submitted,
    boxed.first_ready,
    boxed.first_started,
    boxed.boxes,
    coalesce(boxed.resized_after, 0),
    numbered,
    least_used,
    if(side_by_side < 2, stepped.peak, case when stepped.peak is not null then swept.peak end),
    case
        when stepped.most_used is not null
            then greatest(nullif(coalesce(swept.most_used, stepped.most_used), 0), own_most_used)
    end,
    if(side_by_side < 2, stepped.gpu_peak, coalesce(nullif(swept.gpu_peak, 0), greatest_gpu_peak)),
    side_by_side > 1 and swept.job is null and stepped.gpu_peak > greatest_gpu_peak,
    stepped.gpu_use,
    used.kind is not null and not is_part_of_gpu(used.kind),
    nullif(stepped.energy, double 'nan'),
    hollow.cpus,
    federated.job is not null
from listed
left join placed on listed.file_no = placed.file_no and listed.line = placed.line
left join stepped on listed.site = stepped.site and listed.job = stepped.job and coalesce(placed.run, 0) = stepped.run
left join swept on stepped.site = swept.site and stepped.job = swept.job and stepped.run = swept.run
left join boxed on placed.site = boxed.site and placed.job = boxed.job and placed.run >> 20 = boxed.nth
left join hollow on listed.site = hollow.site and listed.job = hollow.job
left join counting on listed.site = counting.site and listed.job = counting.job
left join (select distinct kind from counting where is_used) as used on counting.kind = used.kind
left join (select distinct ran_on as site, jobid as job from sibling) as federated
    on listed.site = federated.site and listed.job = federated.job
where not listed.is_step and reason is null and coalesce(placed.is_last and placed.run & 1048575 = 0, true)
'''

[beforehand.gathered.columns]
file_no = "integer"
line = "bigint"
rows = "bigint"
earlier_runs = "bigint"
listed_earlier = "bigint"
first_submitted = "double"
first_ready = "double"
first_started = "double"
boxes = "varchar"
resized_after = "double"
numbered = "bigint"
least_used = "double"
peak = "double"
most_used = "double"
gpu_peak = "double"
is_gpu_bound = "boolean"
gpu_use_peak = "double"
is_gpu_use_counted = "boolean"
step_energy = "double"
step_cpus = "double"
is_federated = "boolean"

# Steps without the row of their job: there are some where not all rows are accounted for. A job that its cluster has
# REVOKED is where it ran, and has no steps where it did not.
[beforehand.orphaned]
when = '''
select (select count(*) from listed) > (select coalesce(sum(rows), 0) from gathered) + (select count(*) from refused)
'''
columns = { file_no = "integer", line = "bigint" }
select = '''
select listed.file_no, listed.line
from listed
anti join (from listed semi join gathered using (file_no, line)) as gathered_jobs using (site, job)
where is_step and reason is null
'''
--- */
with counted_times as (
    select
        *,
        jobid as job,
        time_of(submit) as submit_stamp,
        time_of(start_) as start_stamp,
        time_of(end_) as end_stamp,
        time_of(eligible) as eligible_stamp
    from source
    inner join gathered using (file_no, line)
    left join summed using (file_no, line)
),

counted_up as (
    select
        *,
        moment(submit_stamp) as submitted,
        -- Clocks differ by an hour of daylight saving and five minutes; what is earlier still is no start.
        case when not coalesce(moment(start_stamp) < submitted - 3900, false) then moment(start_stamp) end as started,
        moment(end_stamp) as ended,
        moment(eligible_stamp) as ready,
        duration_of(coalesce(elapsedraw, elapsed)) as listed_elapsed,
        coalesce(start_ in ('Unknown', 'None', 'N/A'), false) as is_unstarted,
        duration_of(coalesce(cputimeraw, cputime)) as listed_cpu_time,
        coalesce(alloccpus, ncpus) as counted_cpus,
        amount_of(reqcpus) as wanted,
        amount_of(nnodes) as nodes,
        try_cast(regexp_extract(alloctres, '(?:^|,)node=(\d+)', 1) as bigint) as allocated_nodes,
        case
            when allocgres is null or contains(alloctres, 'gres/gpu') then alloctres
            else tres_of(allocgres)
        end as gpus_allocated,
        case
            when reqgres is null or contains(reqtres, 'gres/gpu') then reqtres
            else tres_of(regexp_replace(reqgres, '(^|,)PER_(NODE|JOB):', '\1', 'g'))
        end as gpus_requested,
        -- Where steps were folded already, the row of the job has what the largest used.
        case
            when least_used is null
                then coalesce(memory_of(tresusageintot), nullif(kilobytes(maxrss), 0), nullif(kilobytes(averss), 0))
        end as row_used
    from counted_times
),

measured as (
    select
        *,
        coalesce(step_cpus > 0 and listed_elapsed = 0, false) as is_of_steps,
        if(is_of_steps, coalesce(nullif(ended - started, 0), listed_elapsed), listed_elapsed) as lasted,
        if(
            is_of_steps,
            step_cpus,
            cpus_of(counted_cpus, alloctres, listed_cpu_time, listed_elapsed)
        ) as cpus,
        coalesce(nullif(gpu_kinds(gpus_allocated), []), nullif(gpu_kinds(gpus_requested), [])) as kinds
    from counted_up
),

lived as (
    select
        *,
        -- Where the log does not have the start, or none that can be, it is told from the end.
        coalesce(
            started,
            case when lasted > 0 and not is_unstarted then ended - lasted - coalesce(duration_of(suspended), 0) end
        ) as began,
        is_unstarted
        or coalesce(state like 'PENDING%', false)
        or coalesce(nodelist = 'None assigned', false)
        or coalesce(lasted = 0 and cpus = 0, false)
        or case
            -- Nothing was allocated to what was cancelled, and nothing tells of a start or a time.
            when started is null and lasted is null and start_ is null and alloctres is null and state like 'CANCELLED%'
                then coalesce(cpus, 0) = 0
            when started is null
                then coalesce(lasted = 0 and not regexp_matches(state, '^(COMPLETED|FAILED|TIMEOUT)'), start_ is not null)
            -- Nothing was allocated to what was cancelled before it began.
            when lasted = 0 and alloctres is null and ended = started
                then coalesce(state like 'CANCELLED%', false) and (select tres from kinds)
            else false
        end as is_idle,
        coalesce(
            end_ = 'Unknown'
            or regexp_matches(state, '^(PENDING|RUNNING|SUSPENDED|COMPLETING|CONFIGURING|STOPPED|SIGNALING|STAGE_OUT)'),
            false
        ) as is_open,
        -- What memory of a job or a node is shared out over.
        coalesce(nullif(wanted, 0), nullif(cpus, 0)) as base,
        -- Plain numbers are megabytes.
        nullif(amount_of(reqmem), 0) * case when regexp_matches(reqmem, '[KMGTP]') then 1 / 1024 else 1024 end as memory,
        -- What marks memory of a CPU, where it was not taken off: 2^31 megabytes, in kilobytes.
        pow(2, 41) as flag
    from measured
),

used_by_jobs as (
    select
        *,
        -- Without a state and a start, no time elapsed may also be that of a job which never ran. Where that is not
        -- recorded either, what was allocated tells; nodes and exit codes stand in the rows of jobs that wait, too.
        not is_idle
        and coalesce(
            lasted > 0 or state is not null or started is not null, cpus > 0 or alloctres is not null, false
        ) as did_run,
        case when did_run then nullif(cpus, 0) end as procs,
        case when did_run then coalesce(allocated_nodes, nullif(nodes, 0)) end as node_count,
        -- One processor is on one node, and a list without signs names one. What its script uses of several
        -- nodes is known of the first only.
        case
            when least_used is null then null
            when numbered > 0 then true
            when coalesce(allocated_nodes, nullif(nodes, 0)) is not null
                then coalesce(allocated_nodes, nullif(nodes, 0)) = 1
            when base = 1 and coalesce(nullif(cpus, 0), 1) = 1 then true
            else coalesce(regexp_full_match(nodelist, '[^][,*(){} ]+'), false)
        end as is_whole,
        case when ntasks = '1' or tresusageintot is not null then row_used end as row_peak,
        case when not is_idle then gpus_of(gpus_allocated) end as gpu_count,
        -- A summary of some of the nodes says nothing of the others.
        summary = 'read' and did_run and summed_nodes = coalesce(node_count, summed_nodes) as is_summed,
        coalesce(is_summed and summed_cpu > procs * greatest(lasted * 1.05, lasted + 1), false) as is_too_much,
        case when is_summed and not is_too_much then summed_cpu end as cpu_of_summary,
        case when is_summed then nullif(summed_memory, 0) end as memory_of_summary,
        coalesce(summary = 'read' and summed_gpus = gpu_count, false) as are_gpus_summed,
        coalesce(summary = 'read' and summed_gpus_of_memory = gpu_count, false) as is_gpu_memory_summed,
        -- What peaked at 0 was idle, unless no GPU of its kind ever was more. Of several that peaked at more, some may be.
        case
            when is_gpu_use_counted and gpu_use_peak = 0 then gpu_count
            when gpu_use_peak > 0 and gpu_count = 1 then 0
        end as gpus_without_peak
    from lived
)

select
    jobid as source_id,
    -- Of a range of array tasks the first has the number that the array has.
    case when line < 1099511627776 then jobidraw end as raw_id,
    rows,
    null as reject,
    file_no,
    line,
    coalesce(first_submitted, submitted) as submit_time,
    case
        when boxes is not null then first_started - first_submitted
        when not is_idle then began - resized_after - coalesce(first_submitted, submitted)
    end as wait_time,
    case
        when boxes is not null then boxes
        -- Suspended for a time of which nothing says when.
        when did_run and not is_open and ended - began - lasted >= 2
            -- An hour that clocks are put back is none of suspension.
            and coalesce(duration_of(suspended) > 0, ended - began - lasted <> 3600)
            then concat_ws(
                '/',
                whole_of(began - coalesce(first_submitted, submitted)),
                whole_of(ended - began),
                whole_of(lasted),
                '', '', '',
                word_of(state)
            )
    end as runs,
    case when did_run and not is_open then coalesce(lasted, ended - began - coalesce(duration_of(suspended), 0)) + resized_after end as run_time,
    procs as n_procs,
    coalesce(
        cpu_of_summary, nullif(coalesce(duration_of(totalcpu), duration_of(usercpu) + duration_of(systemcpu)), 0)
    ) / procs as average_cpu_time,
    coalesce(row_peak, row_used * try_cast(ntasks as double), case when is_whole then most_used end) / procs as used_memory,
    wanted as req_n_procs,
    duration_of(coalesce(timelimitraw, timelimit))
    * case when contains(coalesce(timelimitraw, timelimit), ':') then 1 else 60 end as req_time,
    case
        when reqmem like '%n' and memory >= flag then memory - flag
        when reqmem like '%c' then memory
        when reqmem like '%n' then memory * coalesce(nullif(nodes, 0), case when base = 1 then 1 end) / base
        else memory / base
    end as req_memory,
    case
        when regexp_matches(state, '^COMPLETED') then 1
        when regexp_matches(state, '^(FAILED|TIMEOUT|NODE_F|OUT_OF|BOOT_F|DEADLINE|PREEMPTED)') then 0
        when state like 'CANCELLED%' then 5
        when state is not null or not did_run or is_open or ended is null then null
        -- Of exit code 0 are also those that were cancelled, or ran to their limit.
        when exitcode <> '0:0' then 0
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
    nullif(
        concat_ws(
            ',',
            case when not is_idle then replace(alloctres, '=', ':') end,
            case
                when is_summed and not coalesce(contains(alloctres, 'mem='), false)
                    then 'mem:' || cast(nullif(summed_allocated, 0) as bigint) || 'K'
            end
        ),
        ''
    ) as used_resources,
    nullif(concat_ws(',', replace(reqtres, '=', ':'), 'reservation:' || reservation), '') as req_resources,
    node_count as n_nodes,
    gpu_count as n_gpus,
    -- GRES are requested of each node, unless it says PER_JOB.
    gpus_of(gpus_requested)
    * case
        when reqgres is null or contains(reqtres, 'gres/gpu') or base = 1 or reqgres like 'PER_JOB:%' then 1
        else nullif(nodes, 0)
    end as req_gpus,
    if(
        len(kinds) = 1,
        split_part(kinds[1], '=', 1),
        array_to_string(list_transform(kinds, lambda x: replace(x, '=', ':')), ',')
    ) as gpu_type,
    coalesce(
        joules(nullif(consumedenergyraw, '')),
        case when consumedenergyraw is null then joules(nullif(consumedenergy, '')) end,
        case
            when contains(alloctres, 'energy=')
                then joules(regexp_extract(alloctres, '(?:^|,)energy=([\d.]+[KMGTPE]?)', 1))
        end,
        step_energy
    ) as energy,
    coalesce(first_ready, ready) as eligible_time,
    qos,
    case
        when state like 'OUT_OF_ME%' then 'OUT_OF_MEMORY'
        else regexp_replace(state, '( by .*|\+)$', '')
    end as state,
    case when did_run and not is_open and regexp_full_match(exitcode, '\d{1,9}:\d{1,3}') then
        if(
            exitcode like '%:0',
            cast(split_part(exitcode, ':', 1) as bigint),
            128 + cast(split_part(exitcode, ':', 2) as bigint)
        )
    end as exit_code,
    coalesce(memory_of_summary, case when is_whole then peak end, least_used, row_used) as max_memory,
    case when are_gpus_summed then summed_gpu_use end as gpu_utilization,
    if(is_gpu_memory_summed, summed_gpu_memory, gpu_peak) as gpu_memory,
    if(are_gpus_summed, summed_idle_gpus, gpus_without_peak) as idle_gpus,
    case when is_gpu_memory_summed then summed_max_gpu_memory end as max_gpu_memory,
    case when is_summed then summed_idle_nodes end as idle_nodes,
    nullif(
        concat_ws(
            ',',
            case
                when memory_of_summary is not null then null
                when least_used > 0 and (not is_whole or peak is null) or row_used > 0 and row_peak is null
                    then 'max_memory'
            end,
            case when is_gpu_bound and not is_gpu_memory_summed then 'gpu_memory' end
        ),
        ''
    ) as bounds,
    case when did_run and nodelist not in ('', 'None assigned', '(null)', 'None', 'n/a', 'N/A') then nodelist end
        as node_list,
    -- As in the environment of an epilog (0,1), or as scontrol -d prints GRES: gpu:h100:2(IDX:0-1).
    case when did_run then
        nullif(coalesce(nullif(regexp_extract(slurm_job_gpus, 'gpu[^(]*\(IDX:([^)]*)\)', 1), ''), slurm_job_gpus), '')
    end as gpu_list,
    case when reason_ <> 'None' then nullif(regexp_extract(reason_, '^\w+'), '') end as pending_reason,
    -- Slurm counts runs whose rows are missing, too.
    nullif(coalesce(earlier_runs, 0) + greatest(coalesce(try_cast(restarts as bigint), 0) - listed_earlier, 0), 0) as n_requeues,
    coalesce(account, wckey) as project_id,
    [
        case when length(coalesce(submit, start_, end_)) = 19 then nullif(getvariable('zone_remark'), '') end,
        case
            when start_stamp is not null and started is null
                then 'false start: a start that is no time (1970, 2106), or is before the submission, was set to missing'
        end,
        case
            when submit_stamp is not null and submitted is null
                then 'false submission: a submission that is no time (1970, the year 1, 2106) was set to missing'
        end,
        case
            when is_of_steps
                then 'processors of steps: a job has no processors, but its steps ran: those of its largest step were taken'
        end,
        case
            when summary = 'broken'
                then 'broken summary: a summary of jobstats in AdminComment cannot be unpacked or is no JSON, and nothing is known of it'
        end,
        case when summary = 'short' then 'short summary: jobs ran for too short a time for jobstats to measure them' end,
        case when summary = 'none' then 'empty summary: jobstats had measured nothing of a job' end,
        case
            when summary = 'read' and did_run and (is_summed and summed_cpu is not null and summed_memory is not null) is not true
                then 'partial summary: a summary of jobstats lacks nodes of its job, or their CPU time or memory, which are taken as Slurm has them'
        end,
        case
            when summary = 'read' and gpu_count > 0 and not are_gpus_summed
                then 'unmeasured GPUs: a summary of jobstats lacks the use of GPUs of its job, as where a GPU is divided (MIG), and their use is unknown'
        end,
        case
            when is_too_much
                then 'CPU time of a summary: jobstats has more CPU time than the processors of a job had, and that of Slurm was taken'
        end,
        case
            when gpu_count is null and did_run and (contains(alloctres, 'gres/shard') or contains(alloctres, 'gres/mps'))
                and regexp_matches(alloctres, '(^|,)gres/(shard|mps)(:[^=,]*)?=[1-9]')
                then 'shares of GPUs: jobs held shards or MPS of GPUs, whose number of GPUs is unknown'
        end,
        case
            when gpu_count is null and did_run and alloctres is not null and (gpu_peak > 0 or gpu_use_peak > 0)
                then 'untracked GPUs: steps used GPUs that the job''s AllocTRES does not name, and their number is unknown'
        end,
        case
            when is_federated
                then 'federated job: the siblings of a job on other clusters of a federation, which are REVOKED, were folded into it'
        end
    ] as remarks
from used_by_jobs
union all by name
select 1 as rows, reason as reject, file_no, line & 1099511627775 as line
from refused
union all by name
select 1 as rows, 'a step without its job' as reject, file_no, line & 1099511627775 as line
from orphaned
