/* ---
title = "AWS Batch: jobs as aws batch describe-jobs prints them"
files = ["*.json"]
reader = "json"
scope = "trace"
joined_by = "job_id"
contains = [
    '"(jobQueue|jobArn)"\s*:\s*"arn:aws|"jobDefinition"\s*:\s*"arn:aws',
    '"jobId"\s*:\s*"',
    '\A(?!\s*\{\s*"jobSummaryList")',  # of list-jobs, which leaves sizes out
    '"attempts"\s*:\s*\[|"createdAt"\s*:\s*\d{12,}',
    '"(container|nodeProperties|ecsProperties|eksProperties)"\s*:\s*\{',
]
export = '''
# AWS forgets jobs some days after their end. describe-jobs takes up to 100 of them at a time:
aws batch list-jobs --job-queue QUEUE --filters name=BEFORE_CREATED_AT,values=9999999999999 --query 'jobSummaryList[].jobId' --output text | xargs -n 100 aws batch describe-jobs --jobs > jobs.json
'''
notes = """
Source: the API of AWS Batch, JobDetail (DescribeJobs), with AttemptDetail, ContainerDetail and NodeProperties, whose times are
milliseconds since 1970. What list-jobs prints has neither sizes nor attempts and is not read.

A job is submitted when it is created (createdAt), and starts with its first attempt; each attempt is one of its runs, and
the run time is that of the last, from startedAt to stoppedAt of the job. A job that is not yet at its end has none.
Processors are those of resourceRequirements (VCPU), else vcpus; of a job of several nodes those of each range of
nodes, of one in EKS the CPUs of its containers. Parts of a CPU are rounded up and stand as cpu:0.25 among the resources requested. Memory
is MEMORY, in MiB, of the whole job over its processors. GPUs are those of type GPU. The time limit is timeout.attemptDurationSeconds.
SUCCEEDED is completed; FAILED is cancelled where the job was cancelled or terminated by somebody, else failed. The exit code is that of
the container. Children of an array are a bag; its parent, which holds nothing itself, is a job that never ran. A node of a job of several
nodes is refused: the job has a record of its own. The queue is the name in its address, the group the share identifier, the
executable the job definition without its revision, else the job's name. Users are not recorded.
"""

[options]
records = ["jobs"]

[options.paths]
job_id = "jobId"
job_name = "jobName"
job_queue = "jobQueue"
created = "createdAt"
started = "startedAt"
stopped = "stoppedAt"
definition = "jobDefinition"
array_size = "arrayProperties.size"
array_index = "arrayProperties.index"
node_index = "nodeProperties.nodeIndex"
node_count = "nodeProperties.numNodes"
ranges = "nodeProperties.nodeRangeProperties"
asked = "container.resourceRequirements"
vcpus = "container.vcpus"
memory = "container.memory"
exit_status = "container.exitCode"
tasks = "ecsProperties.taskProperties"
containers = "eksProperties.podProperties.containers"
limit_ = "timeout.attemptDurationSeconds"
share = "shareIdentifier"
is_cancelled = "isCancelled"
is_terminated = "isTerminated"

[columns]
job_id = "varchar"
job_name = "varchar"
job_queue = "varchar"
status = "varchar"
created = "double"
started = "double"
stopped = "double"
definition = "varchar"
attempts = "varchar"
array_size = "bigint"
array_index = "bigint"
node_index = "bigint"
node_count = "bigint"
ranges = "varchar"
asked = "varchar"
vcpus = "double"
memory = "double"
exit_status = "bigint"
tasks = "varchar"
containers = "varchar"
limit_ = "double"
share = "varchar"
is_cancelled = "varchar"
is_terminated = "varchar"

[functions]
"moment(x)" = "case when x > 0 then x / 1000 end"
# How much of a kind of resource a list of requirements asks for.
"required(asked, kind)" = '''
list_sum([
    try_cast(x.value as double)
    for x in from_json(if(json_valid(asked), asked, '[]'), '[{"type":"VARCHAR","value":"VARCHAR"}]') if x.type = kind
])
'''
# A number of nodes in a range such as 0:3, 1: or 2, of so many in all.
"nodes_in(range, nodes)" = '''
case
    when range not like '%:%' then 1
    else coalesce(try_cast(nullif(split_part(range, ':', 2), '') as bigint), nodes - 1)
        - coalesce(try_cast(nullif(split_part(range, ':', 1), '') as bigint), 0) + 1
end
'''
# How much of it all ranges of nodes of a job ask for; old definitions of jobs say vcpus and memory instead.
"in_groups(groups, nodes, kind)" = '''
list_sum([
    nodes_in(x.targetNodes, nodes) * coalesce(
        required(x.container.resourceRequirements, kind),
        nullif(case kind when 'VCPU' then x.container.vcpus when 'MEMORY' then x.container.memory end, 0)
    )
    for x in groups
])
'''
--- */
with described as (
    -- What was described again is of one job: the last record counts.
    select *, count(*) over record as rows
    from source
    window record as (partition by job_id, created)
    qualify job_id is null or row_number() over (partition by job_id, created order by stopped desc nulls last, file_no desc, line desc) = 1
),

parsed as (
    select
        * replace (case when job_id is null then 1 else rows end as rows),
        case
            when job_id is null then 'has no jobId'
            when created is null then 'has no createdAt'
            when status is null or status not in ('SUBMITTED', 'PENDING', 'RUNNABLE', 'STARTING', 'RUNNING', 'SUCCEEDED', 'FAILED')
                then 'its status is ''' || left(coalesce(status, ''), 40) || ''', expected one of AWS Batch, such as SUCCEEDED'
            when node_index is not null then 'is a node of a job of several nodes, which has a record of its own'
        end as fault,
        status in ('SUCCEEDED', 'FAILED') as has_ended,
        from_json(if(json_valid(ranges), ranges, '[]'), '[{"targetNodes":"VARCHAR","container":{"vcpus":"DOUBLE","memory":"DOUBLE","resourceRequirements":"JSON"}}]') as groups,
        from_json(if(json_valid(attempts), attempts, '[]'), '[{"startedAt":"DOUBLE","stoppedAt":"DOUBLE"}]') as tries,
        from_json(if(json_valid(tasks), tasks, '[]'), '[{"containers":[{"resourceRequirements":"JSON"}]}]') as ecs,
        from_json(if(json_valid(containers), containers, '[]'), '[{"resources":{"limits":"JSON","requests":"JSON"}}]') as eks
    from described
),

sized as (
    select
        *,
        coalesce(
            in_groups(groups, node_count, 'VCPU'),
            required(asked, 'VCPU'),
            nullif(vcpus, 0),
            list_sum([list_sum([required(y.resourceRequirements, 'VCPU') for y in x.containers]) for x in ecs]),
            list_sum([
                try_cast(rtrim(text, 'm') as double) * if(text like '%m', 0.001, 1)
                for text in [json_extract_string(json_merge_patch(coalesce(x.resources.limits, '{}'), coalesce(x.resources.requests, '{}')), '$.cpu') for x in eks]
            ])
        ) as cpus,
        coalesce(in_groups(groups, node_count, 'MEMORY'), required(asked, 'MEMORY'), nullif(memory, 0)) as mebibytes,
        coalesce(in_groups(groups, node_count, 'GPU'), required(asked, 'GPU'), 0) as gpus,
        -- The times of the job itself are those of its last attempt, and of all of its nodes.
        list_sort(list_filter(
            [{'since': moment(x.startedAt), 'until': moment(x.stoppedAt)} for x in tries],
            lambda x: x.since is not null
        )) as runs_kept,
        coalesce(moment(started), runs_kept[-1].since) as last_start,
        case when has_ended then coalesce(moment(stopped), runs_kept[-1].until) end as last_end,
        list_filter(runs_kept, lambda x: x.until <= last_start) as earlier
    from parsed
),

placed as (
    select
        *,
        coalesce(earlier[1].since, last_start) as first_start,
        last_start is not null as has_begun,
        greatest(cast(ceil(cpus - 1e-9) as bigint), 1) as procs
    from sized
)

select
    rows,
    file_no,
    line,
    job_id as source_id,
    moment(created) as submit_time,
    first_start - moment(created) as wait_time,
    last_end - last_start as run_time,
    first_start as start_time,
    case when has_begun then procs end as n_procs,
    procs as req_n_procs,
    nullif(limit_, 0) as req_time,
    mebibytes * 1024 / procs as req_memory,
    case
        when status = 'SUCCEEDED' then 1
        when status = 'FAILED' then if('true' in (is_cancelled, is_terminated), 5, 0)
    end as status,
    share as group_id,
    coalesce(nullif(regexp_extract(definition, '([^/:]+)(:\d+)?$', 1), ''), job_name) as executable_id,
    regexp_extract(job_queue, '([^/]+)$', 1) as queue_id,
    if(array_index is not null or array_size is not null, 'BoT', 'UNITARY') as job_structure,
    case when array_index is not null or array_size is not null then split_part(job_id, ':', 1) end as job_structure_params,
    case when cpus <> procs then 'cpu:' || cast(round(cpus, 6) as varchar) end as req_resources,
    case when has_begun then coalesce(node_count, 1) end as n_nodes,
    case when has_begun then gpus end as n_gpus,
    gpus as req_gpus,
    placed.status as state,
    case when has_ended and has_begun then exit_status end as exit_code,
    nullif(len(earlier), 0) as n_requeues,
    case
        when len(earlier) > 0 and first_start >= moment(created) then array_to_string(
            list_concat(
                [
                    concat_ws('/', cast(x.since - moment(created) as bigint), cast(x.until - x.since as bigint), '', '', '', '', 'requeued')
                    for x in earlier
                ],
                [concat_ws(
                    '/',
                    cast(last_start - moment(created) as bigint),
                    coalesce(cast(cast(last_end - last_start as bigint) as varchar), ''),
                    '', '', '', '',
                    lower(placed.status)
                )]
            ),
            ';'
        )
    end as runs,
    fault as reject
from placed
