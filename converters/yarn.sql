/* ---
title = "YARN: applications as the REST API of the ResourceManager lists them"
files = ["*.json"]
scope = "trace"
joined_by = "application"
reader = "json"
contains = ['"finalStatus"\s*:\s*"', '"(amContainerLogs|trackingUI|vcoreSeconds|applicationType)"\s*:', '"id"\s*:\s*"application_\d+_\d+"']
export = '''
# The ResourceManager remembers the last 1,000 that finished (yarn.resourcemanager.max-completed-applications): ask often.
curl -s http://RESOURCEMANAGER:8088/ws/v1/cluster/apps > apps.json
'''
notes = """
Source: the page "ResourceManager REST APIs" of Hadoop's documentation, Cluster Applications.

An application becomes a job. It is submitted at startedTime, which the ResourceManager sets when it takes an application up; it
starts at launchTime, when its first attempt was launched, which versions before 3.2 do not tell: its wait is unknown there, and the run time
counts from startedTime. It ends at finishedTime; one that has not ended has neither a run time nor an outcome. Times are milliseconds.
Containers come and go, so that processors are a mean: vcoreSeconds over the run time, rounded, at least 1. Memory requested is the memory
allocated, memorySeconds over vcoreSeconds. What was used of both is not recorded. SUCCEEDED is completed, FAILED failed, KILLED
cancelled; what an application left UNDEFINED is unknown. The executable is the applicationType, such as SPARK, the project is not recorded.
"""

[constants]
job_structure = "UNITARY"

[options]
records = ["apps.app"]
within = "app"

[options.paths]
application = "id"
owner = "user"
state_ = "state"
outcome = "finalStatus"
kind = "applicationType"
submitted = "startedTime"
launched = "launchTime"
finished = "finishedTime"
vcore_seconds = "vcoreSeconds"
memory_seconds = "memorySeconds"
cores = "allocatedVCores"

[columns]
application = "varchar"
owner = "varchar"
queue = "varchar"
state_ = "varchar"
outcome = "varchar"
kind = "varchar"
submitted = "double"
launched = "double"
finished = "double"
vcore_seconds = "double"
memory_seconds = "double"
cores = "double"

[functions]
"moment(x)" = "case when x > 0 then x / 1000 end"
--- */
with timed as (
    select
        *,
        state_ in ('FINISHED', 'FAILED', 'KILLED') as has_ended,
        moment(submitted) as submit_at,
        if(launched is null, moment(submitted), moment(launched)) as start_at,
        case when state_ in ('FINISHED', 'FAILED', 'KILLED') then moment(finished) end as end_at,
        -- Who was killed while it waited held nothing.
        coalesce(vcore_seconds > 0, false) or moment(launched) is not null as has_begun
    from source
)

select
    1 as rows,
    file_no,
    line,
    application as source_id,
    submit_at as submit_time,
    case when has_begun then moment(launched) - submit_at end as wait_time,
    case when has_begun then end_at - start_at end as run_time,
    case when has_begun and moment(launched) is not null then start_at end as start_time,
    case
        when has_begun and end_at > start_at then greatest(round(vcore_seconds / (end_at - start_at)), 1)
        when has_begun and not has_ended and cores > 0 then cores
    end as n_procs,
    case when vcore_seconds > 0 then memory_seconds / vcore_seconds * 1024 end as req_memory,
    case outcome when 'SUCCEEDED' then 1 when 'FAILED' then 0 when 'KILLED' then 5 end as status,
    owner as user_id,
    kind as executable_id,
    queue as queue_id,
    case when outcome = 'UNDEFINED' then state_ else coalesce(outcome, state_) end as state,
    case
        when not coalesce(regexp_full_match(application, 'application_\d+_\d+'), false)
            then 'its id is ''' || left(coalesce(application, ''), 40) || ''', expected application_N_N'
        when submitted is null then 'has no startedTime'
    end as reject
from timed
