/* ---
title = "OAR: oarstat -J, and the jobs of its REST API"
files = ["*.json"]
reader = "json"
scope = "trace"
contains = [
    '"(assigned_resources|assigned_network_address|assigned_moldable_job|launchingDirectory|launching_directory|cpuset_name|initial_request|initialRequest)"\s*:',
    '"(Job_Id|id|job_id|jobId)"\s*:\s*"?\d',
    '"(submissionTime|submission_time|startTime|start_time|owner|job_user)"\s*:',
]
export = '''
# Jobs that have not ended, and those of a period; add -f with OAR 3 for the resources of each:
oarstat -J -f > jobs.json
oarstat -J --gantt "2025-01-01 00:00:00, 2025-02-01 00:00:00" > january.json
# Or all of them, page by page, from the REST API:
curl "https://oar.example.org/oarapi/jobs/details.json?state=Terminated,Error&limit=1000" > jobs.json
'''
notes = """
Sources: oarstat(1), the documentation of OAR's REST API (GET /jobs, /jobs/table, /jobs/<id>), and oar-team/oar3#94.
Read are an object of jobs by their number, as oarstat -J prints (up to 32 MB), and the lists of the API under items.
Names are those of OAR 2 (submissionTime, owner, queue) or of the jobs table, as OAR 3 writes them
(submission_time, user, queue_name).
Times are Unix seconds, of which 0 is none. A job waits from its submission to its start and runs from there to its stop
time; one that has not stopped has no run time yet. One without a start never ran.
Processors are the assigned resources: what a resource is a site decides, mostly a core. Where none are listed they are
missing. Processors requested are those of wanted_resources, or of the request, where its last level is core or
resource_id. Nodes are the assigned network addresses, with their resources. Requested time is walltime, in seconds or H:M:S.
Terminated is completed, or has failed where the exit code is not 0; Error is cancelled where an event tells that
somebody asked to end it (FRAG_JOB_REQUEST) or its message that it was killed, else it has failed. The exit code is a
status of wait(2). The state is that of OAR. Jobs of one array are a bag if there are several of them.
What oarstat --accounting prints is not described anywhere, and not read.
"""

[options]
records = ["items"]
members = '\d+'

[options.paths]
id = ["Job_Id", "id", "job_id"]
job_name = ["name", "job_name"]
owner = ["owner", "user", "job_user"]
queue = ["queue", "queue_name"]
submitted = ["submissionTime", "submission_time"]
started = ["startTime", "start_time"]
stopped = ["stopTime", "stop_time"]
resources = ["assigned_resources", "resources"]
hosts = ["assigned_network_address", "nodes"]
wanted = ["wanted_resources", "initial_request", "initialRequest"]

[columns]
id = "varchar"
array_id = "varchar"
job_name = "varchar"
owner = "varchar"
project = "varchar"
queue = "varchar"
state = "varchar"
message = "varchar"
events = "varchar"
exit_code = "varchar"
submitted = "double"
started = "double"
stopped = "double"
walltime = "varchar"
resources = "varchar"
hosts = "varchar"
wanted = "varchar"
command = "varchar"

[functions]
"listed(x)" = "case when json_valid(x) then case when json_type(x) = 'ARRAY' then json_extract_string(x, '$[*]') end end"
"listed_hosts(hosts)" = '''
array_to_string(
    list_transform(
        map_entries(list_aggregate(hosts, 'histogram')),
        lambda one: if(one.value = 1, one.key, one.key || '*' || one.value)
    ),
    ','
)
'''
"clock_seconds(x)" = "list_reduce([try_cast(part as double) for part in string_split(x, ':')], lambda sum, part: sum * 60 + part)"
--- */
with job as (
    select
        *,
        nullif(submitted, 0) as submit,
        nullif(started, 0) as begun,
        nullif(stopped, 0) as ended,
        nullif(len(listed(resources)), 0) as cpus,
        nullif(len(list_distinct(listed(hosts))), 0) as nodes,
        -- Levels such as nodes=2/core=4 are multiplied, and requests joined by + added.
        list_sum([
            case
                when regexp_matches(part, '(core|resource_id)=\d+\s*$')
                    then list_reduce(
                        [try_cast(number as double) for number in regexp_extract_all(part, '=(\d+)', 1)],
                        lambda product, number: product * number
                    )
            end
            for part in string_split(
                regexp_replace(
                    coalesce(
                        nullif(regexp_extract(wanted, '(?:-l|--resource)[ =]"([^"]*)"', 1), ''),
                        regexp_extract(wanted, '(?:-l|--resource)[ =](\S+)', 1)
                    ),
                    '\{[^}]*\}|,\s*walltime=[\d:]+', '', 'g'
                ),
                '+'
            )
        ]) as asked,
        try_cast(try_cast(exit_code as double) as bigint) as status_code,
        coalesce(events like '%FRAG_JOB_REQUEST%', false) or coalesce(message ilike '%killed%', false) as is_ended_by_hand,
        count(*) over (partition by array_id) > 1 and coalesce(array_id, '0') not in ('0', '') as is_array,
        count(*) over (partition by id, submitted) as times,
        row_number() over (partition by id, submitted order by stopped desc nulls last, file_no desc, line desc) as nth
    from source
)

select
    file_no,
    line,
    case when nth = 1 then times else 0 end as rows,
    id as source_id,
    submit as submit_time,
    begun - submit as wait_time,
    ended - begun as run_time,
    begun as start_time,
    case when begun is not null then cpus end as n_procs,
    coalesce(asked, cpus) as req_n_procs,
    nullif(clock_seconds(walltime), 0) as req_time,
    case
        when state = 'Terminated' then if(status_code <> 0, 0, 1)
        when state = 'Error' then if(is_ended_by_hand, 5, 0)
    end as status,
    owner as user_id,
    coalesce(job_name, nullif(regexp_extract(command, '^(?:\S*/)?([^\s/]+)', 1), '')) as executable_id,
    queue as queue_id,
    if(is_array, 'BoT', 'UNITARY') as job_structure,
    if(is_array, array_id, null) as job_structure_params,
    project as project_id,
    case when begun is not null then nodes end as n_nodes,
    case when begun is not null then nullif(listed_hosts(listed(hosts)), '') end as node_list,
    state,
    case
        when begun is null or ended is null then null
        when status_code between 0 and 65535 and status_code & 127 > 0 then 128 + (status_code & 127)
        when status_code between 0 and 65535 then status_code >> 8
    end as exit_code,
    case
        when id is null then 'has no number of a job'
        when submit is null and begun is null then 'has neither a submission nor a start'
    end as reject
from job
where nth = 1
