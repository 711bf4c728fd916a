/* ---
title = "OGF Usage Record XML, 1.0 and 2.0 (Globus, ARC, Gratia, EMI CAR)"
files = ["*.xml", "*.bundle"]
reader = "xml"
scope = "trace"
joined_by = "record_id"
contains = '<([\w.-]+:)?((Job)?UsageRecords?|Usage|RecordEnvelope|StorageElement(Record)?)[\s>/]'
export = '''
# The records that ARC archives, and those that Gratia's probes have sent:
cat /var/spool/arc/jobstatus/archiving/usagerecord* > arc.xml
find /var/lib/gratia/data -name 'r*.xml*' -exec cat {} + > gratia.xml
'''
notes = """
Source: GFD.98 (Usage Record 1.0), its drafts and GFD.204 (2.0), as the accounting of Globus, ARC (SGAS, JURA), DGAS, Gratia and
GRACC, UNICORE and the UK NGS writes them, and EMI's Compute Accounting Record 1.2. Records of all namespaces, or
none, are read wherever they stand: in UsageRecords or a RecordEnvelope, one document after the other, in
Gratia's bundles. Records of version 2.0 (GFD.204) have their values in blocks: those of jobs are read, whose memory is in
bytes, and those of storage, networks and clouds refused. AMIE packets are not read. Document types, entities and other files are never read. Elements beside the records (storage
elements, file transfers) are counted as comments; a broken record costs no other.

Records of one recordId and one job are one: the last by createTime counts. A record with Njobs above 1 remains one
job, whose run time is that of all of them.

Submission is SubmitTime, else a TimeInstant (BatchSubmittedTimestamp, timeGlobusSubmitted, ctime, qtime, etime,
uxToBssSubmitTime), else QueueTime. Where there is none, a job is taken to be submitted when it started, and its wait is
unknown; but in records of ARC, whose JURA writes the submission into StartTime, a job (known by an address such as
gsiftp://HOST/jobs/ID) that took longer from StartTime to EndTime than WallDuration says was submitted at StartTime. The run time is WallDuration when it is above 0, else
EndTime − StartTime. Times without a zone are in the zone of the system file, or UTC. A WallDuration in months or years has
no fixed length: the record is refused.

Processors are Processors, else NodeCount, else 1. CPU time and memory are divided by them. Memory is what is
physical, dedicated or of no type, else virtual. K, M, G, T, P, E are powers of 1024, b is a bit unless the whole unit
is in lower case; without a unit memory is in KB, disk and network in bytes. A phaseUnit is passed over.

Status completed or 0 is completed, unless an exit code from 1 to 65535 (ExitStatus, ExitCode) says otherwise; failed
or any other number is failed; aborted is cancelled, or with -O aborted=failed failed; all else is unknown.

Nodes are NodeCount. The state is Status, the exit code ExitStatus or ExitCode from 0 to 65535; the peak of memory is
Memory that is not virtual. ServiceLevel without a type, or of the type QOS, is the quality of service.

Users are known by DN, else GlobalUserName, else LocalUserId. A JobName that only repeats the id of the job is no
executable. The site is Site or SiteName, else MachineName.
"""

[accepts]
aborted = "failed | cancelled | unknown"

[columns]
record_id = "varchar"
created = "varchar"
global_id = "varchar"
local_id = "varchar"
user_name = "varchar"
user_group = "varchar"
vo = "varchar"
job_name = "varchar"
program = "varchar"
status = "varchar"
exit_code = "varchar"
wall = "varchar"
cpu = "varchar"
cpu_user = "varchar"
cpu_system = "varchar"
started = "varchar"
ended = "varchar"
submitted = "varchar"
limit_length = "varchar"
limit_end = "varchar"
machine = "varchar"
submit_host = "varchar"
queue = "varchar"
project = "varchar"
site = "varchar"
processors = "double"
nodes = "double"
memory = "varchar"
memory_bytes = "varchar"
block_time = "varchar"
virtual_memory = "varchar"
disk = "varchar"
network = "varchar"
service = "varchar"
environment = "varchar"
jobs = "double"

[options]
records = ["JobUsageRecord", "UsageRecord", "Usage"]
containers = ["UsageRecords", "RecordEnvelope"]

[options.paths]
record_id = ["RecordIdentity@recordId", "RecordIdentityBlock/RecordId"]
created = ["RecordIdentity@createTime", "RecordIdentityBlock/CreateTime"]
global_id = ["JobIdentity/GlobalJobId", "JobUsageBlock/GlobalJobId"]
local_id = ["JobIdentity/LocalJobId", "JobUsageBlock/LocalJobId"]
user_name = [
    "UserIdentity/DN",
    "UserIdentity/GlobalUserName",
    "UserIdentity/KeyInfo/X509Data/X509SubjectName",
    "UserIdentity/LocalUserId",
    "SubjectIdentityBlock/GlobalUserId",
    "SubjectIdentityBlock/LocalUserId",
]
user_group = [
    "UserIdentity/LocalGroup",
    "UserIdentity/GroupAttribute[type=vo-group]",
    "UserIdentity/VO/Attribute/Group",
    "Resource[description=LocalUserGroup]",
    "SubjectIdentityBlock/LocalGroupId",
    "SubjectIdentityBlock/GlobalGroupId",
]
vo = ["UserIdentity/VO/Name", "UserIdentity/ReportableVOName", "UserIdentity/VOName", "UserIdentity/Group", "SubjectIdentityBlock/Group"]
job_name = ["JobName", "JobUsageBlock/JobName"]
program = ["Resource[description=application]", "Resource[description=executable]", "Resource[description=pbs-jobname]"]
status = ["Status", "JobUsageBlock/Status"]
exit_code = ["ExitStatus", "ExitCode", "Resource[description=ExitCode]", "ComputeUsageBlock/ExitStatus"]
wall = ["WallDuration", "ComputeUsageBlock/WallDuration"]
cpu = ["CpuDuration[usageType=all]", "CpuDuration[usageType=]", "ComputeUsageBlock/CpuDuration[usageType=all]", "ComputeUsageBlock/CpuDuration[usageType=]"]
cpu_user = ["CpuDuration[usageType=user]", "UserTime", "ComputeUsageBlock/CpuDuration[usageType=user]"]
cpu_system = ["CpuDuration[usageType=system]", "KernelTime", "ComputeUsageBlock/CpuDuration[usageType=system]"]
started = ["StartTime", "ComputeUsageBlock/StartTime"]
ended = ["EndTime", "ComputeUsageBlock/EndTime"]
submitted = [
    "SubmitTime",
    "TimeInstant[type=BatchSubmittedTimestamp]",
    "TimeInstant[type=timeGlobusSubmitted]",
    "TimeInstant[type=ctime]",
    "TimeInstant[type=qtime]",
    "TimeInstant[type=etime]",
    "TimeInstant[type=uxToBssSubmitTime]",
    "QueueTime",
    "JobUsageBlock/TimeInstant[type=ctime]",
    "JobUsageBlock/TimeInstant[type=qtime]",
    "JobUsageBlock/TimeInstant[type=etime]",
    "JobUsageBlock/TimeInstant[type=SubmitTime]",
]
limit_length = "TimeDuration[type=maxWalltime|requestedWalltime]"
limit_end = "TimeInstant[type=maxWalltime]"
machine = ["MachineName", "Host[primary=true]", "Host", "JobUsageBlock/MachineName", "ComputeUsageBlock/ExecutionHost/Hostname"]
submit_host = ["SubmitHost", "JobUsageBlock/SubmitHost"]
queue = ["Queue", "JobUsageBlock/Queue"]
project = "ProjectName"
site = ["Site", "SiteName", "RecordIdentityBlock/Site"]
processors = ["Processors[metric=max]", "Processors", "ComputeUsageBlock/Processors"]
nodes = ["NodeCount[metric=max]", "NodeCount", "ComputeUsageBlock/NodeCount"]
memory = [
    "Memory[type=physical|dedicated|memoryUsed|][metric=max] + storageUnit",
    "Memory[type=physical|dedicated|memoryUsed|][metric=total|average|avarage|] + storageUnit",
]
virtual_memory = [
    "Memory[type=virtual|virtualMemoryUsed][metric=max] + storageUnit",
    "Memory[type=virtual|virtualMemoryUsed] + storageUnit",
]
disk = ["Disk[metric=total] + storageUnit", "Disk + storageUnit"]
network = ["Network[metric=total] + storageUnit", "Network + storageUnit"]
service = ["ServiceLevel + type", "JobUsageBlock/ServiceLevel + type"]
environment = "RuntimeEnvironment"
jobs = "Njobs"
memory_bytes = "MemoryUsageBlock/MemoryResourceCapacityUsed"
block_time = "RecordIdentityBlock/CreateTime"

[constants]
job_structure = "UNITARY"
--- */
with repeated as (
    select record_id, coalesce(global_id, local_id, '') as job
    from source
    where record_id is not null
    group by all
    having count(*) > 1
),

distinct_record as (
    select source.*, 1 as rows
    from source
    left join repeated on source.record_id = repeated.record_id
        and coalesce(source.global_id, source.local_id, '') = repeated.job
    where repeated.record_id is null
    union all
    select source.*, count(*) over record as rows
    from source
    inner join repeated on source.record_id = repeated.record_id
        and coalesce(source.global_id, source.local_id, '') = repeated.job
    window record as (partition by source.record_id, repeated.job)
    qualify row_number() over (
        partition by source.record_id, repeated.job order by created desc nulls last, file_no, line
    ) = 1
),

-- Durations in seconds, times in Unix seconds, volumes in bytes.
measured as (
    select
        *,
        list_transform(
            [wall, cpu, cpu_user, cpu_system, limit_length],
            lambda text: case
                when regexp_matches(text, '^P(\d{1,9}W)?(\d{1,9}D)?(T(\d{1,9}H)?(\d{1,9}M)?(\d{1,12}(\.\d*)?S)?)?$')
                    then epoch(try_cast(replace(replace(replace(replace(replace(replace(replace(
                        text, 'P', ''), 'T', ''), 'W', ' weeks '), 'D', ' days '), 'H', ' hours '),
                        'M', ' minutes '), 'S', ' seconds ') as interval))
            end
        ) as durations,
        list_transform(
            [submitted, started, ended, limit_end],
            lambda text: case
                when text like '%Z' then epoch(try_cast(text as timestamp))
                when regexp_matches(text, 'T.*[+-]\d\d:?\d\d$') then epoch(try_cast(text as timestamptz))
                else local_seconds(try_cast(text as timestamp))
            end
        ) as times,
        list_transform(
            list_transform(
                [
                    coalesce(memory || if(memory like '% %', '', ' KB'), memory_bytes || ' B', virtual_memory || if(virtual_memory like '% %', '', ' KB')),
                    disk || if(disk like '% %', '', ' B'),
                    network || if(network like '% %', '', ' B')
                ],
                lambda text: regexp_extract(
                    text, '^(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?) ([KMGTPEkmgtpe]?)([bB]?)$', ['amount', 'power', 'unit']
                )
            ),
            lambda volume: try_cast(volume.amount as double)
                * pow(1024, case when volume.power <> '' then strpos('KMGTPE', upper(volume.power)) else 0 end)
                / if(volume.unit = 'b' and volume.power = upper(volume.power), 8, 1)
        ) as volumes
    from distinct_record
),

-- When a job was submitted, started and ended, and how long it ran, as far as is known.
dated as (
    select
        *,
        durations[1] as wall_time,
        times[1] as submitted_at,
        times[2] as started_at,
        times[3] as ended_at,
        times[3] - times[2] as span,
        coalesce(
            submitted_at is null and wall_time > 0 and span > wall_time + 1
            and regexp_matches(concat_ws(' ', global_id, record_id), '(^| )(gsiftp|https?)://[^/ ]+/(jobs|arex|jura)/'),
            false
        ) as starts_when_submitted,
        case when wall_time > 0 then wall_time when span > 0 then span else coalesce(wall_time, span) end as run_time,
        if(starts_when_submitted, ended_at - wall_time, coalesce(started_at, ended_at - run_time)) as begin_time,
        coalesce(nullif(processors, 0), nullif(nodes, 0)) as stated_procs,
        case when run_time is not null then coalesce(stated_procs, 1) end as n_procs,
        coalesce(durations[2], durations[3] + durations[4], durations[3], durations[4]) as cpu_time,
        nullif(volumes[1], 0) / 1024 as memory_used,
        try_cast(exit_code as bigint) as code,
        try_cast(status as bigint) as number
    from measured
)

select
    coalesce(global_id, local_id, record_id) as source_id,
    file_no,
    line,
    rows,
    coalesce(submitted_at, started_at, begin_time, ended_at) as submit_time,
    case when submitted_at is not null or starts_when_submitted then begin_time - submit_time end as wait_time,
    run_time,
    started_at as start_time,
    wall_time as measured_time,
    n_procs,
    cpu_time / coalesce(n_procs, 1) as average_cpu_time,
    memory_used / coalesce(n_procs, 1) as used_memory,
    stated_procs as req_n_procs,
    coalesce(durations[5], times[4] - begin_time) as req_time,
    case
        when lower(status) = 'completed' or number = 0 or (status is null and code between 0 and 65535)
            then if(code between 1 and 65535, 0, 1)
        when lower(status) = 'failed' or number <> 0 then 0
        when lower(status) = 'aborted'
            then case getvariable('aborted') when 'failed' then 0 when 'unknown' then null else 5 end
    end as status,
    user_name as user_id,
    user_group as group_id,
    if(suffix(global_id, job_name) or job_name = local_id, program, coalesce(job_name, program)) as executable_id,
    queue as queue_id,
    machine as partition_id,
    submit_host as orig_site_id,
    coalesce(site, machine) as last_run_site_id,
    case when run_time > 0 then volumes[3] / 1024 / run_time end as used_network,
    volumes[2] / 1048576 as used_local_disk_space,
    regexp_replace(service, '^(.*) (\S+)$', '\2:\1') as used_resources,
    environment as req_resources,
    if(vo like '/%', split_part(vo, '/', 2), vo) as vo_id,
    project as project_id,
    case when run_time is not null then nullif(nodes, 0) end as n_nodes,
    nullif(regexp_extract(service, '(?i)^(\S+)( QOS)?$', 1), '') as qos,
    status as state,
    if(code between 0 and 65535, code, null) as exit_code,
    if(coalesce(memory, memory_bytes) is not null, nullif(memory_used, 0), null) as max_memory,
    case
        when regexp_matches(wall, '^P[^T]*[YM]')
            then 'WallDuration is ''' || wall[:40] || '''; months and years have no fixed length'
        when coalesce(global_id, local_id, record_id, wall, started, ended) is null
            then 'it has neither an identity nor times'
        when block_time is not null and coalesce(global_id, local_id, wall, started, ended) is null
            then 'is a record of storage, network or a cloud, not of a job'
    end as reject,
    case when reject is null then [
        if(
            not regexp_matches(
                list_filter(
                    list_zip([submitted, started, ended], times[:3]), lambda pair: pair[2] is not null
                )[1][1],
                '(Z|[+-]\d\d:?\d\d)$'
            ),
            nullif(getvariable('zone_remark'), ''),
            null
        ),
        if(rows > 1, 'records sent again: of the records of a job the last one counts', null),
        if(jobs > 1, 'aggregates: a record of several jobs is one that ran as long as all of them', null),
        if(
            starts_when_submitted,
            'submission in StartTime: EndTime is later by more than WallDuration, so StartTime is the submission',
            null
        ),
        if(
            wall_time > 0 and not starts_when_submitted and abs(span - wall_time) > 60,
            'WallDuration: taken as the run time, but not within a minute of EndTime − StartTime',
            null
        ),
        if(run_time is not null and stated_procs is null, 'no processors: 1 was assumed', null),
        if(
            run_time is not null and stated_procs is not null and coalesce(processors, 0) = 0,
            'nodes as processors: NodeCount was taken where Processors is missing',
            null
        ),
        if(coalesce(memory, memory_bytes) is null and memory_used is not null, 'virtual memory: taken where no other is given', null),
        if(coalesce(memory, if(memory_bytes is null, virtual_memory, null)) not like '% %', 'memory without a unit: taken as KB', null),
        if(code not between 0 and 65535, 'exit codes: one that no program can have was passed over', null),
        if(
            list_contains(
                list_transform(
                    list_zip([wall, cpu, cpu_user, cpu_system], durations[:4]),
                    lambda pair: pair[1] is not null and pair[2] is null
                ),
                true
            ),
            'durations: one that is not a duration of a fixed length was set to missing',
            null
        ),
        if(
            list_contains(
                list_transform(
                    list_zip([submitted, started, ended], times[:3]), lambda pair: pair[1] is not null and pair[2] is null
                ),
                true
            ),
            'times: one that is not a time was set to missing',
            null
        )
    ] end as remarks
from dated
