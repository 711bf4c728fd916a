/* ---
title = "Kubernetes: Jobs, Pods, Kueue's Workloads and Volcano's Jobs, as kubectl prints them"
files = ["*.json"]
reader = "json"
scope = "trace"
contains = '"apiVersion"\s*:\s*"(batch/v1|batch\.volcano\.sh/|kueue\.x-k8s\.io/)|"kind"\s*:\s*"(Pod|PodList)"'
export = '''
# Several files are one trace. Finished objects are deleted after a while: export often.
kubectl get jobs,pods -A -o json > jobs.json
kubectl get workloads.kueue.x-k8s.io -A -o json > workloads.json
kubectl get vcjob -A -o json > volcano.json
'''
notes = """
Finished objects are deleted after a while (ttlSecondsAfterFinished, garbage collection of Pods), so that a
history is kept only by exporting often.
Sources: the API of Kubernetes (Job v1, Pod v1, resource quantities), of Kueue (Workload) and of Volcano (Job).
A Job, a Workload or a Volcano Job is a job; its Pods, and the Workload of a Job, are folded into it where they
are given. Other Pods are jobs, of a bag if something else owns them. Pods of a ReplicaSet, StatefulSet,
DaemonSet or Node are services, not jobs, and are refused.
A job is submitted when it is created. It starts when its first Pod has a container started, else at startTime,
for Workloads when they were last admitted, for Volcano at the first condition Running. It ends when the last
container finished, else at completionTime or when it failed. Without its Pods, a Job's startTime is when it
was taken up, so that its wait is too short.
Processors are the CPUs requested by a Pod, or their limits, times parallelism, replicas or count; init
containers count where one asks for more. They are rounded up, and stand as cpu:0.5 among the resources
requested. Memory is that requested, over the processors. GPUs are resources called .../gpu or
nvidia.com/mig-...; the type of MIG slices is their name, that of Workloads the flavor. Shares of GPUs are not
counted. Requested time is activeDeadlineSeconds or maximumExecutionTimeSeconds.
The namespace is the project, and the user too unless -O user_label=NAME names a label that holds users. The
executable is the image of the first container without registry and tag. Succeeded and Complete are completed,
Failed is failed, Aborted and Terminated are cancelled. The exit code is the greatest of the containers.
"""

[accepts]
user_label = "a name such as app.kubernetes.io/part-of"

[options]
records = ["items"]

[options.paths]
api = "apiVersion"
name = "metadata.name"
namespace = "metadata.namespace"
uid = "metadata.uid"
created = "metadata.creationTimestamp"
owners = "metadata.ownerReferences"
labels = "metadata.labels"
containers = ["spec.containers", "spec.template.spec.containers"]
inits = ["spec.initContainers", "spec.template.spec.initContainers"]
parallelism = "spec.parallelism"
deadline = ["spec.activeDeadlineSeconds", "spec.maximumExecutionTimeSeconds"]
priority_class = ["spec.priorityClassName", "spec.template.spec.priorityClassName", "spec.priorityClassRef.name"]
node = "spec.nodeName"
queue = ["spec.queueName", "spec.queue"]
groups = ["spec.podSets", "spec.tasks"]
phase = ["status.phase", "status.state.phase"]
changed = "status.state.lastTransitionTime"
started = "status.startTime"
completed = "status.completionTime"
conditions = "status.conditions"
statuses = "status.containerStatuses"
cluster_queue = "status.admission.clusterQueue"
assignments = "status.admission.podSetAssignments"

[columns]
kind = "varchar"
api = "varchar"
name = "varchar"
namespace = "varchar"
uid = "varchar"
created = "varchar"
owners = "varchar"
labels = "varchar"
containers = "varchar"
inits = "varchar"
parallelism = "bigint"
deadline = "double"
priority_class = "varchar"
node = "varchar"
queue = "varchar"
groups = "varchar"
phase = "varchar"
changed = "varchar"
started = "varchar"
completed = "varchar"
conditions = "varchar"
statuses = "varchar"
cluster_queue = "varchar"
assignments = "varchar"
--- */
with sound as (
    -- A text where an object or a list should be is none.
    select * replace (
        case when json_valid(owners) then owners end as owners,
        case when json_valid(labels) then labels end as labels,
        case when json_valid(containers) then containers end as containers,
        case when json_valid(inits) then inits end as inits,
        case when json_valid(groups) then groups end as groups,
        case when json_valid(conditions) then conditions end as conditions,
        case when json_valid(statuses) then statuses end as statuses,
        case when json_valid(assignments) then assignments end as assignments
    )
    from source
),

parsed as (
    select
        *,
        case
            when kind = 'Pod' then 'pod'
            when kind = 'Workload' then 'workload'
            when kind = 'Job' and api like 'batch.volcano.sh/%' then 'volcano'
            when kind = 'Job' then 'job'
        end as type,
        epoch(try_cast(created as timestamptz)) as submitted,
        list_transform(
            from_json(
                conditions,
                '[{"type":"VARCHAR","status":"VARCHAR","reason":"VARCHAR","lastTransitionTime":"VARCHAR"}]'
            ),
            lambda x: {
                'name': coalesce(x.type, x.status), 'holds': x.type is null or x.status = 'True',
                'reason': x.reason, 'time': epoch(try_cast(x.lastTransitionTime as timestamptz))
            }
        ) as said,
        list_transform(
            from_json(
                statuses,
                '[{"state":{"running":{"startedAt":"VARCHAR"},"terminated":{"exitCode":"BIGINT","startedAt":"VARCHAR","finishedAt":"VARCHAR"}}}]'
            ),
            lambda x: {
                'started': epoch(
                    try_cast(coalesce(x.state.terminated.startedAt, x.state.running.startedAt) as timestamptz)
                ),
                'ended': epoch(try_cast(x.state.terminated.finishedAt as timestamptz)),
                'code': x.state.terminated.exitCode,
                'runs': x.state.running.startedAt is not null
            }
        ) as ran,
        case
            when type is null then 'is a ' || coalesce(left(kind, 40), 'thing without a kind') || ', which is not a job'
            when submitted is null then 'has no creationTimestamp'
            when type = 'pod' and owner.kind in ('ReplicaSet', 'StatefulSet', 'DaemonSet', 'Node', 'ReplicationController')
                then 'belongs to a ' || owner.kind || ': a service, no job'
        end as reason
    from (
        select *, from_json(owners, '[{"kind":"VARCHAR","name":"VARCHAR","uid":"VARCHAR"}]')[1] as owner
        from sound
    )
),

-- The last of the rows that tell of an object: an object may be exported more than once.
latest as (
    select *, row_number() over (partition by coalesce(uid, type || namespace || '/' || name) order by file_no desc, line desc) as nth
    from parsed
    where reason is null
),

known as (
    select * from latest where nth = 1
),

-- What an object is folded into: the Job of a Workload or of a Pod, the Volcano Job of a Pod.
placed as (
    select
        known.*,
        coalesce(above.uid, known.uid, known.type || known.namespace || '/' || known.name) as job,
        above.uid is not null as is_folded
    from known
    left join (select uid from known where uid is not null and type <> 'pod') as above
        on known.owner.uid = above.uid and known.type in ('pod', 'workload')
),

-- The templates of Pods of each job, with how many there are of each.
templates as (
    select file_no, line, 0 as place, case when type = 'pod' then 1 else coalesce(parallelism, 1) end as pods, containers, inits
    from placed
    where not is_folded and type in ('pod', 'job')
    union all by name
    select file_no, line, unnest(range(len(parts))) as place, unnest(list_transform(parts, lambda x: coalesce(x.count, x.replicas, 1))) as pods,
        unnest(list_transform(parts, lambda x: cast(x.template.spec.containers as varchar))) as containers,
        unnest(list_transform(parts, lambda x: cast(x.template.spec.initContainers as varchar))) as inits
    from (
        select file_no, line, from_json(groups, '[{"count":"BIGINT","replicas":"BIGINT","template":{"spec":{"containers":"JSON","initContainers":"JSON"}}}]') as parts
        from placed
        where not is_folded and type in ('workload', 'volcano')
    )
),

contained as (
    select file_no, line, place, pods, false as is_init,
        unnest(from_json(containers, '[{"image":"VARCHAR","resources":{"requests":"JSON","limits":"JSON"}}]')) as container
    from templates
    union all
    select file_no, line, place, pods, true as is_init,
        unnest(from_json(inits, '[{"image":"VARCHAR","resources":{"requests":"JSON","limits":"JSON"}}]')) as container
    from templates
),

amounts as (
    select file_no, line, place, pods, is_init, container.image, requests, unnest(json_keys(requests)) as resource
    from (
        -- A limit without a request is the request.
        select *, json_merge_patch(coalesce(container.resources.limits, '{}'), coalesce(container.resources.requests, '{}')) as requests
        from contained
    )
),

quantities as (
    select
        file_no, line, place, pods, is_init,
        case
            when resource in ('cpu', 'memory') then resource
            when resource like '%gpu.shared' then 'other'
            when resource like '%/gpu' or resource like 'nvidia.com/mig-%' or resource like 'gpu.intel.com/%' then 'gpu'
            else 'other'
        end as what,
        case when resource like 'nvidia.com/mig-%' then substr(resource, 12) end as slice,
        json_extract_string(requests, '$."' || resource || '"') as text,
        try_cast(regexp_extract(text, '^([0-9.]+(?:[eE][+-]?[0-9]+)?)[a-zA-Z]*$', 1) as double)
        * case regexp_extract(text, '^[0-9.]+(?:[eE][+-]?[0-9]+)?([a-zA-Z]*)$', 1)
            when 'm' then 0.001 when '' then 1 when 'k' then 1e3 when 'M' then 1e6 when 'G' then 1e9 when 'T' then 1e12
            when 'Ki' then 1024 when 'Mi' then 1048576 when 'Gi' then 1073741824 when 'Ti' then 1099511627776
        end as amount
    from amounts
),

per_pod as (
    select file_no, line, place, pods, what,
        greatest(coalesce(sum(amount) filter (where not is_init), 0), coalesce(max(amount) filter (where is_init), 0)) as amount
    from quantities
    group by file_no, line, place, pods, what
),

asked as (
    select
        file_no, line,
        sum(amount * pods) filter (where what = 'cpu') as cpus,
        sum(amount * pods) filter (where what = 'memory') as bytes,
        sum(amount * pods) filter (where what = 'gpu') as gpus
    from per_pod
    group by file_no, line
),

slices as (
    select file_no, line, string_agg(distinct slice, ',' order by slice) as gpu_type
    from quantities
    where slice is not null
    group by file_no, line
),

images as (
    select file_no, line, arg_min(container.image, place) as image
    from contained
    where not is_init
    group by file_no, line
),

-- What the Pods and the Workload of a job tell of it.
members as (
    select
        job,
        count(*) as rows,
        min(list_min(list_transform(ran, lambda x: x.started))) as first_start,
        max(list_max(list_transform(ran, lambda x: x.ended))) as last_end,
        bool_or(len(list_filter(ran, lambda x: x.runs)) > 0) as runs,
        max(list_max(list_transform(ran, lambda x: x.code))) as code,
        count(distinct node) as nodes,
        max(queue) filter (where is_folded) as queue,
        max(cluster_queue) filter (where is_folded) as cluster_queue
    from placed
    group by job
),

again as (
    select coalesce(uid, type || namespace || '/' || name) as object, count(*) as times
    from parsed
    where reason is null
    group by object
),

extra as (
    select placed.job, sum(again.times - 1) as rows
    from placed
    inner join again on again.object = coalesce(placed.uid, placed.type || placed.namespace || '/' || placed.name)
    group by placed.job
),

lived as (
    select
        placed.*,
        members.rows + extra.rows as all_rows,
        coalesce(
            members.first_start,
            case type
                when 'workload' then list_filter(said, lambda x: x.name = 'Admitted' and x.holds)[1].time
                when 'volcano' then list_min(list_transform(list_filter(said, lambda x: x.name = 'Running'), lambda x: x.time))
                when 'job' then epoch(try_cast(started as timestamptz))
            end
        ) as start_at,
        case
            when members.runs then null
            else coalesce(
                members.last_end,
                case type
                    when 'workload' then list_filter(said, lambda x: x.name = 'Finished' and x.holds)[1].time
                    when 'volcano' then
                        case when phase in ('Completed', 'Failed', 'Aborted', 'Terminated') then epoch(try_cast(changed as timestamptz)) end
                    when 'job' then coalesce(
                        epoch(try_cast(completed as timestamptz)),
                        list_filter(said, lambda x: x.name = 'Failed' and x.holds)[1].time
                    )
                end
            )
        end as end_at,
        case type
            when 'pod' then phase
            when 'volcano' then phase
            when 'workload' then coalesce(
                list_filter(said, lambda x: x.name = 'Finished' and x.holds)[1].reason,
                list_filter(said, lambda x: x.name in ('Admitted', 'QuotaReserved') and x.holds)[1].name,
                'Pending'
            )
            else coalesce(list_filter(said, lambda x: x.name in ('Complete', 'Failed', 'Suspended') and x.holds)[1].name, 'Active')
        end as ended_as,
        members.code,
        members.nodes,
        coalesce(placed.queue, members.queue) as any_queue,
        coalesce(placed.cluster_queue, members.cluster_queue) as any_cluster_queue,
        asked.cpus,
        asked.bytes,
        asked.gpus,
        slices.gpu_type as slice,
        images.image,
        from_json(assignments, '[{"flavors":"JSON"}]') as flavors
    from placed
    inner join members using (job)
    inner join extra using (job)
    left join asked using (file_no, line)
    left join slices using (file_no, line)
    left join images using (file_no, line)
    where not is_folded
)

select
    namespace || '/' || name as source_id,
    all_rows as rows,
    null as reject,
    file_no,
    line,
    submitted as submit_time,
    start_at - submitted as wait_time,
    start_at as start_time,
    case when ended_as not in ('Active', 'Admitted', 'Running') then end_at - start_at end as run_time,
    case when start_at is not null and cpus > 0 then greatest(cast(ceil(cpus - 1e-9) as bigint), 1) end as n_procs,
    case when cpus > 0 then greatest(cast(ceil(cpus - 1e-9) as bigint), 1) end as req_n_procs,
    deadline as req_time,
    bytes / 1024 / greatest(ceil(coalesce(cpus, 1) - 1e-9), 1) as req_memory,
    case
        when ended_as in ('Succeeded', 'Complete', 'Completed') then 1
        when ended_as = 'Failed' then 0
        when ended_as in ('Aborted', 'Terminated') then 5
    end as status,
    coalesce(json_extract_string(labels, '$."' || replace(getvariable('user_label'), '"', '') || '"'), namespace) as user_id,
    regexp_extract(image, '([^/@:]+)(:[^/@]*)?(@.*)?$', 1) as executable_id,
    any_queue as queue_id,
    any_cluster_queue as partition_id,
    case when type = 'pod' and owner is not null then 'BoT' else 'UNITARY' end as job_structure,
    case when type = 'pod' then owner.name end as job_structure_params,
    case when cpus > 0 then 'cpu:' || cast(round(cpus, 6) as varchar) end as req_resources,
    namespace as project_id,
    nullif(nodes, 0) as n_nodes,
    case when start_at is not null then gpus end as n_gpus,
    gpus as req_gpus,
    case
        when gpus > 0 then coalesce(
            slice,
            nullif(
                array_to_string(
                    list_distinct(
                        list_filter(
                            list_transform(flavors, lambda x: json_extract_string(x.flavors, '$."nvidia.com/gpu"')),
                            lambda x: x is not null
                        )
                    ),
                    ','
                ),
                ''
            )
        )
    end as gpu_type,
    priority_class as qos,
    ended_as as state,
    case when end_at is not null then code end as exit_code
from lived
union all by name
select 1 as rows, reason as reject, file_no, line
from parsed
where reason is not null
