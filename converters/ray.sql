/* ---
title = "Ray: jobs as its dashboard's REST API lists them"
files = ["*.json"]
scope = "trace"
joined_by = "submission"
reader = "json"
contains = ['"submission_id"\s*:|"raysubmit_\w+"\s*:\s*\{', '"entrypoint"\s*:\s*"', '"type"\s*:\s*"(SUBMISSION|DRIVER)"|"runtime_env"\s*:|"driver_(info|exit_code|agent_http_address|node_id)"\s*:', '"start_time"\s*:\s*(\d{12,}|null)']
export = '''
# A cluster forgets its jobs when it ends:
curl -s http://HEAD:8265/api/jobs/ > jobs.json
'''
notes = """
Source: JobDetails in Ray's reference of the Jobs REST API, and JobManager of ray-project/ray, which sets start_time when a job is submitted.

Each entry becomes a job, of the list of jobs, of that of the API of states (/api/v0/jobs, 'ray list jobs --format json'), or of the
dictionary that Ray listed before 2.0, by its key. It is submitted at start_time, milliseconds since 1970; when its driver started is not recorded, so that its wait is
unknown and its run time, to end_time, is from the submission. Processors and GPUs are those that the entrypoint asks for
(entrypoint_num_cpus, entrypoint_num_gpus): what tasks and actors hold is not recorded. Where it asks for none they are unknown.
SUCCEEDED is completed, FAILED failed, STOPPED cancelled; PENDING and RUNNING have not ended. The exit code is that of the driver. Users
are not recorded; the executable is the first word of the entrypoint that is no python and no option.
"""

[constants]
job_structure = "UNITARY"

[options]
records = ["jobs", "data.result.result"]
key = "key"
members = 'raysubmit_\w+|[0-9a-f]{8}'

[options.paths]
kind = "type"
driver = "job_id"
submission = "submission_id"
started = "start_time"
ended = "end_time"
cpus = "entrypoint_num_cpus"
gpus = "entrypoint_num_gpus"
code = "driver_exit_code"

[columns]
key = "varchar"
kind = "varchar"
driver = "varchar"
submission = "varchar"
status = "varchar"
entrypoint = "varchar"
started = "double"
ended = "double"
cpus = "double"
gpus = "double"
code = "bigint"
--- */
select
    1 as rows,
    file_no,
    line,
    coalesce(nullif(submission, ''), driver, key) as source_id,
    nullif(started, 0) / 1000 as submit_time,
    case when status in ('SUCCEEDED', 'FAILED', 'STOPPED') and ended >= started then (ended - started) / 1000 end as run_time,
    case when status <> 'PENDING' then nullif(ceil(cpus), 0) end as n_procs,
    nullif(ceil(cpus), 0) as req_n_procs,
    case status when 'SUCCEEDED' then 1 when 'FAILED' then 0 when 'STOPPED' then 5 end as status,
    regexp_extract(list_filter(string_split(entrypoint, ' '), lambda x: x <> '' and not regexp_matches(x, '^-|^(.*/)?python[\d.]*$|='))[1], '([^/]+)$', 1)
        as executable_id,
    case when status <> 'PENDING' then nullif(gpus, 0) end as n_gpus,
    nullif(gpus, 0) as req_gpus,
    source.status as state,
    code as exit_code,
    case
        when kind not in ('SUBMISSION', 'DRIVER') then 'its type is neither SUBMISSION nor DRIVER'
        when coalesce(nullif(submission, ''), driver, key) is null then 'has neither a submission_id nor a job_id'
        when coalesce(started, 0) = 0 then 'has no start_time'
    end as reject
from source
