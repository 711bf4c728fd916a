/* ---
title = "Kubernetes: Jobs, Pods, Kueue's Workloads and Volcano's Jobs, as kubectl prints them"
files = ["*.json"]
reader = "json"
scope = "trace"
contains = [
    '"(apiVersion|api_version)"\s*:\s*"(batch/v1|batch\.volcano\.sh/|kueue\.x-k8s\.io/)|"kind"\s*:\s*"(Pod|PodList|JobList)"',
    '"metadata"\s*:\s*\{',
]
export = '''
# Several files are one trace. Finished objects are deleted after a while: export often.
kubectl get jobs,pods -A -o json > jobs.json
# With JobSets, and so with those of Kubeflow and Ray: kubectl get jobsets,jobs,pods -A -o json
kubectl get workloads.kueue.x-k8s.io -A -o json > workloads.json
kubectl get vcjob -A -o json > volcano.json
'''
notes = """
Finished objects are deleted after a while (ttlSecondsAfterFinished, garbage collection of Pods), so that a
history is kept only by exporting often.
Sources: the API of Kubernetes (Job v1, Pod v1, resource quantities), its pages "Sidecar Containers" (resource
sharing within containers), "Pod Overhead", "Jobs" (parallelism, completions) and "Pod Lifecycle" (restarts); the
API of Kueue (Workload; partial admission, eviction) and of Volcano (Job).
An item of a list that has no kind is of the list's kind, as the API and its clients write it (PodList: Pod);
where neither says one, what has containers is a Pod. Names may be as in the API or as the Python client's to_dict
has them (creation_timestamp).
A Job, a Workload or a Volcano Job is a job; its Pods, and the Workload of a Job, are folded into it where they
are given. A JobSet, TrainJob, RayJob or another set is one job of the Jobs and Pods that it owns, where they are given; it
asks for what these ask for together. Other Pods are jobs, of a bag if something else owns them. Pods of a ReplicaSet, StatefulSet,
DaemonSet or Node are services, not jobs, and are refused.
A job is submitted when it is created. It starts when its first Pod has a container started, else at startTime,
for Workloads when they were last admitted, for Volcano at the first condition Running. It ends when the last
container finished, else at completionTime or when it failed. Without its Pods, a Job's startTime is when it
was taken up, so that its wait is too short. Where no container of a Pod started, its init containers say when it
ran; where none of them did either, it never ran, even if it has a node (rejected by the kubelet, evicted) or a
startTime, which is when a kubelet saw it. A container that was started again (restartPolicy) keeps its last state
only: the Pod ran from the earlier of the two starts, after more than one restart from its startTime.
Processors are the CPUs that the scheduler counts: of a Pod the sum over its containers and sidecars (init
containers whose restartPolicy is Always), or what one other init container asks for together with the sidecars
before it, where that is more; requests of the Pod as a whole come before them, and its overhead is added. A limit
without a request is the request. A container of a Pod that was resized in place counts with the most of what is
requested, allocated and in effect; when it was resized is not kept. That times the lesser of parallelism and completions, times replicas or
count; a Workload that was admitted partially has the processors of the count in podSetAssignments. They are
rounded up, and stand as cpu:0.5 among the resources requested. Memory is that requested, over the processors. GPUs
are resources called .../gpu or nvidia.com/mig-...; the type of MIG slices is their name, that of Workloads the
flavor. Shares of GPUs are not counted. Requested time is activeDeadlineSeconds or maximumExecutionTimeSeconds.
A Workload that was evicted, and not admitted again, waits. Of the runs before an eviction it keeps the sum
(accumulatedPastExecutionTimeSeconds): when the first began is unknown, and with it the wait. A Volcano Job that was
restarted ran from each condition Running to the one that follows. Finished with the reason JobFinished, of versions
before 0.8, completed if its message reports success, and failed if it reports a failure.
The namespace is the project, and the user too unless -O user_label=NAME names a label that holds users. The
executable is the image of the first container without registry and tag. Succeeded and Complete are completed,
Failed is failed, Aborted and Terminated are cancelled. The exit code is the greatest of the containers; of a job that
completed, of those that succeeded, since others were replaced. The nodes are those of its Pods (spec.nodeName).
"""

[accepts]
user_label = "a name such as app.kubernetes.io/part-of"

[options]
records = ["items"]

[options.document]
listed_kind = "kind"
listed_api = "apiVersion"

[options.paths]
api = ["apiVersion", "api_version"]
name = "metadata.name"
namespace = "metadata.namespace"
uid = "metadata.uid"
created = ["metadata.creationTimestamp", "metadata.creation_timestamp"]
owners = ["metadata.ownerReferences", "metadata.owner_references"]
labels = "metadata.labels"
pod_containers = "spec.containers"
containers = ["spec.containers", "spec.template.spec.containers"]
inits = ["spec.initContainers", "spec.template.spec.initContainers", "spec.init_containers", "spec.template.spec.init_containers"]
overhead = ["spec.overhead", "spec.template.spec.overhead"]
pod_resources = ["spec.resources", "spec.template.spec.resources"]
parallelism = "spec.parallelism"
completions = "spec.completions"
backoff_limit = ["spec.backoffLimit", "spec.backoff_limit"]
deadline = ["spec.activeDeadlineSeconds", "spec.maximumExecutionTimeSeconds", "spec.active_deadline_seconds"]
priority_class = ["spec.priorityClassName", "spec.template.spec.priorityClassName", "spec.priorityClassRef.name", "spec.priority_class_name", "spec.template.spec.priority_class_name"]
node = ["spec.nodeName", "spec.node_name"]
queue = ["spec.queueName", "spec.queue"]
groups = ["spec.podSets", "spec.tasks"]
phase = ["status.phase", "status.state.phase", "status.jobStatus"]
changed = "status.state.lastTransitionTime"
started = ["status.startTime", "status.start_time"]
completed = ["status.completionTime", "status.completion_time", "status.endTime"]
conditions = "status.conditions"
statuses = ["status.containerStatuses", "status.container_statuses"]
init_statuses = ["status.initContainerStatuses", "status.init_container_statuses"]
past = ["status.accumulatedPastExecutionTimeSeconds", "status.accumulated_past_execution_time_seconds"]
requeues = ["status.requeueState.count", "status.requeue_state.count"]
cluster_queue = "status.admission.clusterQueue"
assignments = "status.admission.podSetAssignments"

[columns]
kind = "varchar"
api = "varchar"
listed_kind = "varchar"
listed_api = "varchar"
name = "varchar"
namespace = "varchar"
uid = "varchar"
created = "varchar"
owners = "varchar"
labels = "varchar"
pod_containers = "varchar"
containers = "varchar"
inits = "varchar"
overhead = "varchar"
pod_resources = "varchar"
parallelism = "bigint"
completions = "bigint"
backoff_limit = "varchar"
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
init_statuses = "varchar"
past = "double"
requeues = "bigint"
cluster_queue = "varchar"
assignments = "varchar"

[functions]
"moment(x)" = "epoch(try_cast(x as timestamptz))"
# When containers ran, from their state and the one before it; what is of 1970 or of the year 1 is not a time.
"runs_of(statuses)" = '''
list_transform(
    from_json(
        statuses,
        '[{"restartCount":"BIGINT","restart_count":"BIGINT","state":{"running":"JSON","terminated":"JSON"},"lastState":{"terminated":"JSON"},"last_state":{"terminated":"JSON"}}]'
    ),
    lambda x: {
        'started': moment(said(coalesce(x.state.terminated, x.state.running), 'startedAt', 'started_at')),
        'earlier': moment(said(coalesce(x.lastState.terminated, x.last_state.terminated), 'startedAt', 'started_at')),
        'ended': moment(said(
            coalesce(
                x.state.terminated,
                case when not is_object(x.state.running) then coalesce(x.lastState.terminated, x.last_state.terminated) end
            ),
            'finishedAt', 'finished_at'
        )),
        'code': try_cast(said(x.state.terminated, 'exitCode', 'exit_code') as bigint),
        'runs': is_object(x.state.running),
        'restarts': coalesce(x.restartCount, x.restart_count, 0)
    }
)
'''
"box_of(since, lasted, why)" = "concat_ws('/', cast(since as bigint), coalesce(cast(cast(lasted as bigint) as varchar), ''), '', '', '', '', regexp_replace(coalesce(why, ''), '[^a-z_]', '', 'g'))"
"said(x, name, other)" = "coalesce(json_extract_string(x, '$.' || name), json_extract_string(x, '$.' || other))"
"is_object(x)" = "coalesce(json_type(x) = 'OBJECT', false)"
"later(x)" = "case when x > 86400 then x end"
"starts_of(runs)" = "list_concat(list_transform(runs, lambda x: later(x.started)), list_transform(runs, lambda x: later(x.earlier)))"
--- */
with sound as (
    -- A text where an object or a list should be is none.
    select * replace (
        case when json_valid(owners) then owners end as owners,
        case when json_valid(labels) then labels end as labels,
        case when json_valid(containers) then containers end as containers,
        case when json_valid(inits) then inits end as inits,
        case when json_valid(overhead) then overhead end as overhead,
        case when json_valid(pod_resources) then pod_resources end as pod_resources,
        coalesce(api, listed_api) as api,
        -- What stands in a list has the list's kind, if it states none of its own.
        coalesce(
            kind,
            nullif(regexp_replace(listed_kind, 'List$', ''), ''),
            case
                when pod_containers is not null then 'Pod'
                when containers is not null and coalesce(api, listed_api, 'batch/v1') = 'batch/v1' and backoff_limit is not null then 'Job'
                when coalesce(api, listed_api) like 'kueue.x-k8s.io/%' and groups is not null then 'Workload'
                when coalesce(api, listed_api) like 'batch.volcano.sh/%' and groups is not null then 'Job'
            end
        ) as kind,
        case when json_valid(groups) then groups end as groups,
        case when json_valid(conditions) then conditions end as conditions,
        case when json_valid(statuses) then statuses end as statuses,
        case when json_valid(init_statuses) then init_statuses end as init_statuses,
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
            when kind in ('JobSet', 'TrainJob', 'PyTorchJob', 'TFJob', 'MPIJob', 'JAXJob', 'XGBoostJob', 'PaddleJob', 'RayJob', 'RayCluster')
                then 'set'
        end as type,
        moment(created) as submitted,
        list_transform(
            from_json(
                conditions,
                '[{"type":"VARCHAR","status":"VARCHAR","reason":"VARCHAR","message":"VARCHAR","lastTransitionTime":"VARCHAR","last_transition_time":"VARCHAR"}]'
            ),
            lambda x: {
                'name': coalesce(x.type, x.status), 'holds': x.type is null or x.status = 'True',
                'reason': x.reason, 'message': x.message,
                'time': moment(coalesce(x.lastTransitionTime, x.last_transition_time))
            }
        ) as said_of,
        runs_of(statuses) as main_runs,
        runs_of(init_statuses) as init_runs,
        -- What its init containers did counts where no other container of a Pod started.
        case when len(list_filter(starts_of(main_runs), lambda x: x is not null)) > 0 then main_runs else list_concat(init_runs, main_runs) end as ran,
        list_min(starts_of(ran)) as ran_from,
        len(list_filter(list_concat(main_runs, init_runs), lambda x: least(x.started, x.earlier) <= 86400)) > 0 as has_false_start,
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

-- What an object is folded into: the Job of a Workload or of a Pod, the set of a Job, and what that belongs to.
owned as (
    select uid, owner.uid as parent
    from known
    where uid is not null and type <> 'pod'
),

topmost as (
    select own.uid, coalesce(third.uid, second.uid, first.uid, own.uid) as top
    from owned as own
    left join owned as first on own.parent = first.uid
    left join owned as second on first.parent = second.uid
    left join owned as third on second.parent = third.uid
),

placed as (
    select
        known.*,
        coalesce(topmost.top, known.uid, known.type || known.namespace || '/' || known.name) as job,
        coalesce(topmost.top <> known.uid, topmost.top is not null) as is_folded
    from known
    left join topmost
        on case when known.type = 'pod' then known.owner.uid else known.uid end = topmost.uid
),

-- What is in a set: Jobs, and Pods that are of none of these.
contents as (
    select part.*, whole.file_no as file_of_set, whole.line as line_of_set
    from placed as part
    inner join placed as whole on part.job = whole.job and whole.type = 'set' and not whole.is_folded
    left join known as parent on parent.uid = part.owner.uid and parent.type = 'job'
    where part.is_folded and (part.type = 'job' or (part.type = 'pod' and parent.uid is null))
),

-- The templates of Pods of each job, with how many there are of each.
templates as (
    select
        file_no, line, 0 as place,
        -- A Job never has more Pods at a time than it still needs.
        case when type = 'pod' then 1 else least(coalesce(parallelism, 1), coalesce(completions, parallelism, 1)) end as pods,
        pods as admitted,
        case when type = 'pod' then statuses end as statuses,
        containers, inits, overhead, pod_resources
    from placed
    where not is_folded and type in ('pod', 'job')
    union all by name
    select
        file_of_set as file_no, line_of_set as line,
        row_number() over (partition by file_of_set, line_of_set order by file_no, line) as place,
        case when type = 'pod' then 1 else least(coalesce(parallelism, 1), coalesce(completions, parallelism, 1)) end as pods,
        pods as admitted,
        case when type = 'pod' then statuses end as statuses,
        containers, inits, overhead, pod_resources
    from contents
    union all by name
    select
        file_no, line, place, coalesce(part.count, part.replicas, 1) as pods,
        -- Of a Workload that was admitted partially this is less than its count.
        coalesce(list_filter(given, lambda x: x.name = part.name)[1].count, pods) as admitted,
        cast(part.template.spec.containers as varchar) as containers,
        cast(part.template.spec.initContainers as varchar) as inits,
        cast(part.template.spec.overhead as varchar) as overhead,
        cast(part.template.spec.resources as varchar) as pod_resources
    from (
        select file_no, line, given, unnest(range(len(parts))) as place, unnest(parts) as part
        from (
            select
                file_no, line,
                from_json(groups, '[{"name":"VARCHAR","count":"BIGINT","replicas":"BIGINT","template":{"spec":{"containers":"JSON","initContainers":"JSON","overhead":"JSON","resources":"JSON"}}}]') as parts,
                from_json(assignments, '[{"name":"VARCHAR","count":"BIGINT"}]') as given
            from placed
            where not is_folded and type in ('workload', 'volcano')
        )
    )
),

contained as (
    select file_no, line, place, 'app' as part, nth, container, statuses
    from (
        select file_no, line, place, statuses, unnest(range(len(parts))) as nth, unnest(parts) as container
        from (select *, from_json(containers, '[{"name":"VARCHAR","image":"VARCHAR","restartPolicy":"VARCHAR","restart_policy":"VARCHAR","resources":{"requests":"JSON","limits":"JSON"}}]') as parts from templates)
    )
    union all
    select
        file_no, line, place,
        case when coalesce(container.restartPolicy, container.restart_policy) = 'Always' then 'sidecar' else 'init' end as part,
        nth, container, null as statuses
    from (
        select file_no, line, place, unnest(range(len(parts))) as nth, unnest(parts) as container
        from (select *, from_json(inits, '[{"name":"VARCHAR","image":"VARCHAR","restartPolicy":"VARCHAR","restart_policy":"VARCHAR","resources":{"requests":"JSON","limits":"JSON"}}]') as parts from templates)
    )
),

amounts as (
    select file_no, line, place, part, nth, requests, unnest(json_keys(requests)) as resource
    from (
        -- A limit without a request is the request.
        select
            file_no, line, place, part, nth,
            json_merge_patch(coalesce(container.resources.limits, '{}'), coalesce(container.resources.requests, '{}')) as requests
        from contained
        union all
        -- What a container has that was resized in place, or is to be.
        select file_no, line, place, part, nth, unnest(list_filter([coalesce(status.allocatedResources, status.allocated_resources), status.resources.requests], lambda x: is_object(x)))
        from (
            select * exclude (statuses), unnest(from_json(statuses, '[{"name":"VARCHAR","allocatedResources":"JSON","allocated_resources":"JSON","resources":{"requests":"JSON"}}]')) as status
            from contained
            where statuses is not null
        )
        where status.name = container.name
        union all
        select
            file_no, line, place, 'pod' as part, 0 as nth,
            json_merge_patch(coalesce(json_extract(pod_resources, '$.limits'), '{}'), coalesce(json_extract(pod_resources, '$.requests'), '{}')) as requests
        from templates
        where json_type(pod_resources) = 'OBJECT'
        union all
        select file_no, line, place, 'overhead' as part, 0 as nth, overhead as requests
        from templates
        where json_type(overhead) = 'OBJECT'
    )
),

told as (
    select
        file_no, line, place, part, nth, resource,
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

quantities as (
    select file_no, line, place, part, nth, resource, what, slice, max(amount) as amount
    from told
    group by file_no, line, place, part, nth, resource, what, slice
),

-- An init container runs beside the sidecars that were started before it.
beside as (
    select
        *,
        coalesce(sum(amount) filter (where part = 'sidecar') over (
            partition by file_no, line, place, resource, part in ('init', 'sidecar') order by nth
        ), 0) as sidecars
    from quantities
),

per_pod as (
    select
        file_no, line, place, what, resource,
        coalesce(
            max(amount) filter (where part = 'pod'),
            greatest(
                coalesce(sum(amount order by part, nth) filter (where part in ('app', 'sidecar')), 0),
                coalesce(max(amount + sidecars) filter (where part = 'init'), 0)
            )
        ) + coalesce(sum(amount order by nth) filter (where part = 'overhead'), 0) as amount
    from beside
    group by file_no, line, place, what, resource
),

asked as (
    select
        file_no, line,
        sum(amount * pods order by place, resource) filter (where what = 'cpu') as cpus,
        sum(amount * admitted order by place, resource) filter (where what = 'cpu') as given_cpus,
        sum(amount * pods order by place, resource) filter (where what = 'memory') as bytes,
        sum(amount * pods order by place, resource) filter (where what = 'gpu') as gpus,
        sum(amount * admitted order by place, resource) filter (where what = 'gpu') as given_gpus
    from per_pod
    inner join templates using (file_no, line, place)
    group by file_no, line
),

slices as (
    select file_no, line, string_agg(distinct slice, ',' order by slice) as gpu_type
    from quantities
    where slice is not null
    group by file_no, line
),

images as (
    select file_no, line, arg_min(container.image, (place, nth)) as image
    from contained
    where part = 'app'
    group by file_no, line
),

-- What the Pods and the Workload of a job tell of it.
members as (
    select
        job,
        count(*) as rows,
        -- Of a container that was started again and again only the last two starts are known.
        min(
            case
                when type = 'pod' and list_max(list_transform(ran, lambda x: x.restarts)) > 1
                    then least(ran_from, coalesce(later(moment(started)), ran_from))
                else ran_from
            end
        ) filter (where ran_from is not null) as first_start,
        max(list_max(list_transform(ran, lambda x: later(x.ended)))) as last_end,
        bool_or(len(list_filter(ran, lambda x: x.runs)) > 0) as runs,
        max(list_max(list_transform(ran, lambda x: x.code))) as code,
        -- Of what succeeded in the end: Pods that failed were replaced.
        max(list_max(list_transform(ran, lambda x: x.code))) filter (where type = 'pod' and phase = 'Succeeded') as good_code,
        min(moment(started)) filter (where type = 'job') as first_job,
        max(coalesce(moment(completed), list_filter(said_of, lambda x: x.name = 'Failed' and x.holds)[1].time)) filter (where type = 'job') as last_job,
        count(distinct node) filter (where ran_from is not null) as nodes,
        string_agg(distinct node, ',' order by node) filter (where ran_from is not null) as node_list,
        bool_or(has_false_start) as is_false,
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
                when 'workload' then list_filter(said_of, lambda x: x.name = 'Admitted' and x.holds)[1].time
                when 'volcano' then list_min(list_transform(list_filter(said_of, lambda x: x.name = 'Running'), lambda x: x.time))
                when 'job' then moment(started)
                when 'set' then coalesce(members.first_job, moment(started))
            end
        ) as start_at,
        case
            when members.runs then null
            else coalesce(
                members.last_end,
                case type
                    when 'workload' then list_filter(said_of, lambda x: x.name = 'Finished' and x.holds)[1].time
                    when 'volcano' then
                        case when phase in ('Completed', 'Failed', 'Aborted', 'Terminated') then moment(changed) end
                    when 'job' then coalesce(
                        moment(completed),
                        list_filter(said_of, lambda x: x.name = 'Failed' and x.holds)[1].time
                    )
                    when 'set' then coalesce(
                        members.last_job,
                        moment(completed),
                        list_filter(said_of, lambda x: x.name in ('Completed', 'Complete', 'Succeeded', 'Failed') and x.holds)[1].time
                    )
                end
            )
        end as end_at,
        case type
            when 'pod' then phase
            when 'volcano' then phase
            when 'workload' then coalesce(
                list_filter(said_of, lambda x: x.name = 'Finished' and x.holds)[1].reason,
                list_filter(said_of, lambda x: x.name in ('Admitted', 'QuotaReserved') and x.holds)[1].name,
                'Pending'
            )
            when 'set' then coalesce(
                list_filter(said_of, lambda x: x.name in ('Completed', 'Complete', 'Succeeded', 'Failed', 'Suspended') and x.holds)[1].name,
                case phase when 'SUCCEEDED' then 'Succeeded' when 'FAILED' then 'Failed' when 'STOPPED' then 'Terminated' end,
                'Active'
            )
            else coalesce(list_filter(said_of, lambda x: x.name in ('Complete', 'Failed', 'Suspended') and x.holds)[1].name, 'Active')
        end as ended_as,
        if(
            type <> 'pod' and ended_as in ('Succeeded', 'Complete', 'Completed'), coalesce(members.good_code, members.code), members.code
        ) as code,
        members.nodes,
        members.node_list,
        members.is_false,
        list_filter(said_of, lambda x: x.name = 'Finished' and x.holds)[1].message as message,
        coalesce(placed.queue, members.queue) as any_queue,
        coalesce(placed.cluster_queue, members.cluster_queue) as any_cluster_queue,
        asked.* exclude (file_no, line),
        slices.gpu_type as slice,
        images.image,
        -- From each condition Running to the one that follows.
        case when type = 'volcano' and members.first_start is null then list_filter(
            list_transform(
                generate_series(1, len(said_of)),
                lambda n: {'name': said_of[n].name, 'since': said_of[n].time, 'until': said_of[n + 1].time}
            ),
            lambda x: x.name = 'Running' and x.since is not null and coalesce(x.until > x.since, true)
        ) end as stretches,
        -- A Workload keeps the sum of its earlier runs, and its last admission only.
        case when type = 'workload' and past > 0 then coalesce(
            start_at, list_filter(said_of, lambda x: x.name = 'Evicted')[1].time
        ) end as again_at,
        case
            when again_at > submitted then concat_ws(
                '/',
                0,
                cast(again_at - submitted as bigint),
                cast(least(past, again_at - submitted) as bigint),
                '', '', '', 'evicted'
            ) || case when start_at is null then '' else ';' || box_of(start_at - submitted, end_at - start_at, if(end_at is null, 'running', 'ended')) end
            when len(stretches) > 1 then array_to_string(
                list_transform(
                    generate_series(1, len(stretches)),
                    lambda n: box_of(
                        stretches[n].since - submitted,
                        coalesce(stretches[n].until, end_at) - stretches[n].since,
                        if(n = len(stretches), lower(phase), 'restarting')
                    )
                ),
                ';'
            )
        end as boxes,
        from_json(assignments, '[{"flavors":"JSON"}]') as flavors
    from placed
    inner join members using (job)
    inner join extra using (job)
    left join asked using (file_no, line)
    left join slices using (file_no, line)
    left join images using (file_no, line)
    where not is_folded and (type <> 'set' or exists (from contents where contents.job = placed.job))
)

select
    namespace || '/' || name as source_id,
    all_rows as rows,
    null as reject,
    file_no,
    line,
    submitted as submit_time,
    -- When a Workload that was evicted had started first is not kept.
    case when again_at is null then start_at - submitted end as wait_time,
    start_at as start_time,
    boxes as runs,
    coalesce(nullif(requeues, 0), case when len(stretches) > 1 then len(stretches) - 1 when boxes is not null then 1 end)
        as n_requeues,
    case
        when ended_as not in ('Active', 'Admitted', 'Running')
            then end_at - if(len(stretches) > 1, stretches[-1].since, start_at)
    end as run_time,
    case when coalesce(start_at, again_at) is not null and given_cpus > 0 then greatest(cast(ceil(given_cpus - 1e-9) as bigint), 1) end as n_procs,
    case when cpus > 0 then greatest(cast(ceil(cpus - 1e-9) as bigint), 1) end as req_n_procs,
    deadline as req_time,
    case when cpus > 0 then bytes / 1024 / greatest(ceil(cpus - 1e-9), 1) end as req_memory,
    case
        when ended_as in ('Succeeded', 'Complete', 'Completed') then 1
        when ended_as in ('Failed', 'AdmissionChecksRejected') then 0
        when ended_as = 'JobFinished' and message ilike '%success%' then 1
        when ended_as = 'JobFinished' and message ilike '%fail%' then 0
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
    node_list,
    case when coalesce(start_at, again_at) is not null then given_gpus end as n_gpus,
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
    case when end_at is not null or ended_as in ('Failed', 'Succeeded') then code end as exit_code,
    [
        case when is_false then 'false start: a start that is no time (1970, 2106), or is before the submission, was set to missing' end
    ] as remarks
from lived
union all by name
select 1 as rows, reason as reject, file_no, line
from parsed
where reason is not null
union all by name
-- A set of which no Job and no Pod is here.
select extra.rows + members.rows as rows, 'is a ' || kind || ' whose Jobs and Pods are not here: export them, too' as reject, file_no, line
from placed
inner join members using (job)
inner join extra using (job)
where not is_folded and type = 'set' and not exists (from contents where contents.job = placed.job)
