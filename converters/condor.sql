/* ---
title = "HTCondor history: ClassAds of jobs, or their JSON"
files = ["history", "history.*", "*.classads"]
reader = "classads"
scope = "trace"
joined_by = "coalesce(split_part(split_part(globaljobid, '#', 2), '.', 1), cast(clusterid as varchar))"
first = '^(\s*"?[A-Za-z_]\w*"?\s*[=:]|\*\*\*|[\[\]{},])'
contains = [
    '(?i)^\s*"?(ClusterId|GlobalJobId)"?\s*[=:]|[{,]\s*"(ClusterId|GlobalJobId)"\s*:',
    '(?i)^\s*"?(ProcId|JobStatus|QDate|CompletionDate|JobStartDate)"?\s*[=:]|[{,]\s*"(ProcId|JobStatus|QDate|CompletionDate|JobStartDate)"\s*:',
]
export = '''
# On the schedd. All that it remembers, as JSON lines or as the history of the spool:
condor_history -jsonl > history.jsonl
cat $(condor_config_val HISTORY)* > history
# One record for each run, of HTCondor 10.3 or later; give either this or the history, not both:
condor_history -epochs -json > epochs.json
'''
notes = """
Sources: HTCondor's manual, job ClassAd attributes, and its tests of what condor_history prints. Read are
the history of a spool, files of single jobs, and what condor_history writes with -long, -json or -jsonl, this in any
layout, under a name, by the ids of jobs, or as documents of Elasticsearch.
An ad ends with a line that begins with three asterisks, whatever follows them, or with a blank line.
Of ads with the same GlobalJobId (else the same cluster, process and submission) the last holds; the
others, such as runs of -epochs, are folded into it.
Jobs wait until JobStartDate, their first start. Their last run begins at JobCurrentStartDate, else, where they started
once, at JobStartDate; of two runs the first is known, too, and of more the sum of all but the last (runs). Completed
jobs ran from there to CompletionDate; removed ones as long as LastRemoteWallClockTime says, else RemoteWallClockTime
(of all runs, so not longer than since the last start), else until EnteredCurrentStatus if they were running until
then: time on hold, or idle after an eviction, is not run time (LastJobStatus 5 and 1), and then it is missing. Jobs
that are neither have no run time yet; one that is idle or held after a run, as condor_q tells of it, holds nothing, and lists
what its run held. Jobs without a start have no wait, run time or processors.
Jobs of the universes scheduler (DAGMan) and local run on the submit host: they hold no processors of the pool.
Completed with exit code 0 and no signal is completed, otherwise failed; removed is cancelled; others
are unknown. Processors are CpusProvisioned, else RequestCpus; in the parallel universe that many on
each of MinHosts. CPU time (of the last run; 0 means not measured) and ResidentSetSize, else ImageSize, are
shared out over the processors; _RAW attributes, which are not rounded up, come first. The peak of memory is
ResidentSetSize, else MemoryUsage. GPUs are GPUsProvisioned, else as many as AssignedGPUs names, else RequestGPUs, in
the parallel universe on each host; their type is GPUs_DeviceName, their mean use GPUsAverageUsage or GPUsUsage, of
which 1 is one GPU, over the GPUs, and their memory GPUsMemoryUsage. A job of the vanilla universe has one node. The
exit code is ExitCode, or 128 + ExitSignal; the state is JobStatus by its name. In an epoch history ads of transfers
count as comments, and the last run is the job: it does not tell how a job ended that was running when it was
written. Give either the history or the epochs. Expressions that
are not the name of another attribute are not evaluated: their value is missing. The queue is the
universe, by the name that the manual gives its number. The base name of Cmd is the executable, the schedd the
site of submission, the domain of LastRemoteHost that of execution, its host the node of the last run, and clusters of
several processes are bags of tasks. Which GPUs it held (gpu_list) is AssignedGPUs, where these are UUIDs.
"""

# Ads of transfers, which an epoch history has between those of runs.
[options.skip]
epochadtype = ["INPUT", "OUTPUT", "CHECKPOINT", "COMMON", "SPAWN"]

[columns]
clusterid = "bigint"
procid = "bigint"
globaljobid = "varchar"
qdate = "double"
jobstartdate = "double"
jobcurrentstartdate = "double"
completiondate = "double"
enteredcurrentstatus = "double"
lastremotewallclocktime = "double"
remotewallclocktime = "double"
remoteusercpu = "double"
remotesyscpu = "double"
requestcpus = "double"
cpusprovisioned = "double"
minhosts = "double"
requestmemory = "double"
requestdisk = "double"
residentsetsize = "double"
residentsetsize_raw = "double"
imagesize = "double"
imagesize_raw = "double"
diskusage = "double"
diskusage_raw = "double"
jobstatus = "bigint"
lastjobstatus = "bigint"
numjobstarts = "bigint"
lastvacatetime = "double"
epochwritedate = "double"
jobuniverse = "bigint"
exitcode = "bigint"
exitbysignal = "boolean"
exitsignal = "bigint"
memoryusage = "double"
requestgpus = "double"
gpusprovisioned = "double"
assignedgpus = "varchar"
gpus_devicename = "varchar"
gpusaverageusage = "double"
gpususage = "double"
gpusmemoryusage = "double"
epochadtype = "varchar"
owner = "varchar"
acctgroup = "varchar"
cmd = "varchar"
lastremotehost = "varchar"
projectname = "varchar"
x509userproxyvoname = "varchar"
--- */
with job as (
    select
        *,
        coalesce(globaljobid, concat_ws('.', clusterid, procid)) as id,
        coalesce(nullif(split_part(globaljobid, '#', 1), ''), '') as schedd,
        coalesce(
            nullif(jobcurrentstartdate, 0), case when coalesce(numjobstarts, 1) <= 1 then nullif(jobstartdate, 0) end
        ) as started,
        coalesce(nullif(jobcurrentstartdate, 0), nullif(jobstartdate, 0)) is not null as has_started,
        coalesce(nullif(jobstartdate, 0), started) as first_start,
        -- A run that goes on is in neither.
        coalesce(jobstatus, 4) in (2, 6, 7) as is_running,
        -- Idle or held after a run, as condor_q tells of it.
        has_started and coalesce(jobstatus, 4) in (1, 5) and epochwritedate is null as waits_again,
        remotewallclocktime - if(is_running, 0, lastremotewallclocktime) as earlier_seconds,
        nullif(coalesce(residentsetsize_raw, residentsetsize, imagesize_raw, imagesize), 0) as memory,
        requestcpus * case when jobuniverse = 11 then minhosts else 1 end as wanted,
        case
            when jobuniverse = 11 then minhosts
            when coalesce(jobuniverse, 5) in (1, 5, 10, 13) then 1
        end as hosts,
        requestgpus * case when jobuniverse = 11 then minhosts else 1 end as wanted_gpus,
        coalesce(
            gpusprovisioned * case when jobuniverse = 11 then minhosts else 1 end,
            len(string_split(nullif(trim(assignedgpus), ''), ',')),
            wanted_gpus
        ) as gpus,
        case
            when coalesce(jobuniverse, 5) not in (7, 12)
                then coalesce(cpusprovisioned * case when jobuniverse = 11 then minhosts else 1 end, wanted)
        end as procs
    from source
    where clusterid is not null or globaljobid is not null
),

-- Each run, where an epoch history has an ad for it.
epoch as (
    select
        id,
        qdate,
        started,
        max(coalesce(nullif(completiondate, 0), nullif(lastvacatetime, 0), epochwritedate)) as ended,
        max(procs) as procs,
        max(completiondate) > 0 as is_completed
    from job
    where epochwritedate is not null and started is not null
    group by id, qdate, started
),

several as (
    select
        id,
        qdate,
        count(*) as runs,
        min(started) as first_start,
        string_agg(
            concat_ws(
                '/',
                cast(started - qdate as bigint),
                cast(ended - started as bigint),
                '',
                coalesce(cast(cast(procs as bigint) as varchar), ''),
                '',
                '',
                if(is_completed, 'completed', 'evicted')
            ),
            ';' order by started
        ) as boxes
    from epoch
    where ended >= started and qdate > 0
    group by id, qdate
    having count(*) > 1
),

-- The ad of the last event of a job, and how many ads it has.
last as (
    select
        max_by(
            {'file_no': file_no, 'line': line},
            {'at': coalesce(greatest(enteredcurrentstatus, completiondate, started), 0), 'file_no': file_no, 'line': line}
        ) as place,
        count(*) as rows
    from job
    group by id, qdate
),

-- What an ad of the history says of several runs: of two, when the first was; of more, between which moments all but
-- the last were, and for how long together. Where no sum is there, what was held before the last run is unknown.
told as (
    select
        file_no,
        line,
        first_start,
        nullif(coalesce(numjobstarts - 1, if(waits_again, 0, 1)), 0) as earlier_runs,
        concat_ws(
            ';',
            case when earlier_seconds > 0 and vacated > first_start and first_start < started then concat_ws(
                '/',
                cast(first_start - qdate as bigint),
                cast(if(numjobstarts = 2, earlier_seconds, vacated - first_start) as bigint),
                if(numjobstarts = 2, '', cast(cast(least(earlier_seconds, vacated - first_start) as bigint) as varchar)),
                '', '', '', 'evicted'
            ) end,
            case when last_seconds > 0 or is_running then concat_ws(
                '/',
                cast(started - qdate as bigint),
                if(is_running, '', cast(cast(last_seconds as bigint) as varchar)),
                '', '', '', '',
                case jobstatus when 4 then 'completed' when 3 then 'removed' when 1 then 'evicted' when 5 then 'held' else '' end
            ) end
        ) as boxes
    from (
        select
            *,
            least(coalesce(nullif(lastvacatetime, 0), started), started) as vacated,
            coalesce(
                nullif(lastremotewallclocktime, 0),
                nullif(completiondate, 0) - started,
                case when waits_again and numjobstarts = 1 then nullif(remotewallclocktime, 0) end,
                case when waits_again and lastvacatetime > started then lastvacatetime - started end,
                case
                    when waits_again and coalesce(lastjobstatus, 2) in (2, 6, 7) then enteredcurrentstatus - started
                end
            ) as last_seconds
        from job
        where
            qdate > 0
            and first_start >= qdate
            and (first_start < started and coalesce(numjobstarts, 2) > 1 or waits_again)
    )
),

bag as (
    select schedd, clusterid
    from job
    group by schedd, clusterid
    having count(distinct procid) > 1
)

select
    job.id as source_id,
    last.rows,
    null as reject,
    job.file_no,
    job.line,
    nullif(job.qdate, 0) as submit_time,
    coalesce(
        case when several.id is not null then least(several.first_start, job.first_start) end,
        told.first_start,
        job.started
    ) - nullif(job.qdate, 0) as wait_time,
    coalesce(several.boxes, nullif(told.boxes, '')) as runs,
    greatest(several.runs - 1, told.earlier_runs) as n_requeues,
    case job.jobstatus
        when 4 then coalesce(nullif(job.completiondate, 0) - job.started, nullif(job.lastremotewallclocktime, 0))
        when 3 then case
            when job.has_started
                then coalesce(
                    nullif(job.lastremotewallclocktime, 0),
                    case
                        when job.numjobstarts = 1 then nullif(job.remotewallclocktime, 0)
                        when job.remotewallclocktime > 0
                            then least(job.remotewallclocktime, job.enteredcurrentstatus - job.started)
                    end,
                    case when coalesce(job.lastjobstatus, 2) in (2, 6, 7) then job.enteredcurrentstatus - job.started end
                )
        end
    end as run_time,
    job.started as start_time,
    coalesce(nullif(job.lastremotewallclocktime, 0), job.remotewallclocktime) as measured_time,
    -- What a job that waits again held where nothing says for how long, is unknown.
    case when job.has_started and not (job.waits_again and nullif(told.boxes, '') is null) then job.procs end as n_procs,
    nullif(job.remoteusercpu + job.remotesyscpu, 0) / nullif(job.procs, 0) as average_cpu_time,
    case when job.has_started then job.memory / nullif(job.procs, 0) end as used_memory,
    job.wanted as req_n_procs,
    job.requestmemory * 1024 / nullif(job.wanted, 0) as req_memory,
    case
        when job.jobstatus = 3 then 5
        when job.jobstatus = 4 and job.exitbysignal then 0
        when job.jobstatus = 4 then cast(job.exitcode = 0 as integer)
    end as status,
    job.owner as user_id,
    job.acctgroup as group_id,
    nullif(regexp_extract(job.cmd, '[^/\\]*$'), '') as executable_id,
    case job.jobuniverse
        when 1 then 'standard'
        when 5 then 'vanilla'
        when 7 then 'scheduler'
        when 9 then 'grid'
        when 10 then 'java'
        when 11 then 'parallel'
        when 12 then 'local'
        when 13 then 'vm'
        else cast(job.jobuniverse as varchar)
    end as queue_id,
    nullif(job.schedd, '') as orig_site_id,
    regexp_extract(job.lastremotehost, '([^@.]*\.)?([^@]+)$', 2) as last_run_site_id,
    case when bag.schedd is null then 'UNITARY' else 'BoT' end as job_structure,
    case when bag.schedd is not null then job.clusterid end as job_structure_params,
    nullif(coalesce(job.diskusage_raw, job.diskusage), 0) / 1024 as used_local_disk_space,
    job.requestdisk / 1024 as req_local_disk_space,
    job.x509userproxyvoname as vo_id,
    job.projectname as project_id,
    case when job.has_started then job.hosts end as n_nodes,
    case
        when job.has_started and job.hosts = 1
            then nullif(regexp_extract(job.lastremotehost, '([^@]+)$', 1), '')
    end as node_list,
    case
        when job.has_started and job.hosts = 1 and regexp_full_match(job.assignedgpus, ' *GPU-[0-9a-f]{8}[0-9a-f-]*( *, *GPU-[0-9a-f]{8}[0-9a-f-]*)* *')
            then replace(job.assignedgpus, ' ', '')
    end as gpu_list,
    case when job.has_started then job.gpus end as n_gpus,
    job.wanted_gpus as req_gpus,
    job.gpus_devicename as gpu_type,
    case when job.has_started then coalesce(job.gpusaverageusage, job.gpususage) / nullif(job.gpus, 0) end
        as gpu_utilization,
    case when job.has_started then nullif(job.gpusmemoryusage, 0) * 1024 end as gpu_memory,
    case when job.has_started
        then nullif(coalesce(job.residentsetsize_raw, job.residentsetsize, job.memoryusage * 1024), 0)
    end as max_memory,
    case
        when job.jobstatus in (3, 4) and job.exitbysignal and job.exitsignal > 0 then 128 + job.exitsignal
        when job.jobstatus in (3, 4) and not coalesce(job.exitbysignal, false) then job.exitcode
    end as exit_code,
    case job.jobstatus
        when 1 then 'Idle'
        when 2 then 'Running'
        when 3 then 'Removed'
        when 4 then 'Completed'
        when 5 then 'Held'
        when 6 then 'Transferring Output'
        when 7 then 'Suspended'
    end as state,
    [
        case
            when job.jobuniverse in (7, 12) and job.has_started
                then 'on the submit host: jobs of the universes scheduler and local hold no processors of the pool'
        end
    ] as remarks
from last
inner join job on last.place.file_no = job.file_no and last.place.line = job.line
left join several on job.id = several.id and job.qdate = several.qdate
left join told on job.file_no = told.file_no and job.line = told.line
left join bag on job.schedd = bag.schedd and job.clusterid = bag.clusterid
union all by name
select 1 as rows, 'is not a job: it has neither a ClusterId nor a GlobalJobId' as reject, file_no, line
from source
where clusterid is null and globaljobid is null
