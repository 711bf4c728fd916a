/* ---
title = "Microsoft Philly: jobs of deep learning (cluster_job_log)"
files = ["cluster_job_log", "cluster_job_log*.json"]
reader = "json"
scope = "trace"
contains = ['"attempts"\s*:', '"vc"\s*:', '"submitted_time"\s*:']
export = '''
gwa fetch philly
tar -xzf philly-trace-data.tar.gz
gwa convert trace-data/cluster_job_log -o philly.parquet
'''
notes = """
Source: the README of msr-fiddle/philly-traces.

Each job becomes a job; a list of them and one object to a line are read. Its attempts are its runs: it waits until the
first, and run time, GPUs and nodes are those of the last; what each held is listed (runs). Attempts whose start or end is
None hold nothing that is known; where that is the last one, the job still ran when the log was taken: it has no run time and no
status. A job without attempts never ran. Times are those of clocks in the zone America/Los_Angeles, unless a system file or -O zone=ZONE says otherwise.

GPUs and nodes are those of the last attempt that names any. CPUs are not recorded: NProcs is missing, unless -O cpus_per_gpu=N
gives each GPU that many. Pass is completed (1), Killed cancelled (5), Failed failed (0). The partition is the virtual cluster.
UsedResources says how many attempts there were, such as attempts:2. Not read are the files of utilization; machines and
GPUs are not kept by name.
"""

[accepts]
cpus_per_gpu = "a number"

[header]
Computer = "Philly"
TimeZoneString = "America/Los_Angeles"

[constants]
job_structure = "UNITARY"

[columns]
status = "varchar"
vc = "varchar"
job = "varchar"
submitted = "varchar"
user = "varchar"
attempts = "varchar"

[options]
closed = true

[options.paths]
job = "jobid"
submitted = "submitted_time"

[[steps]]
name = "never ran"
meaning = "jobs have no attempt: they have no wait, no run time and no GPUs"
sql = "select count(*) from recorded where used_resources is null"
--- */
with tried as (
    select
        * exclude (attempts),
        case when json_valid(attempts) then
            list_transform(json_extract(attempts, '$[*]'), lambda one: {
                'begun': local_seconds(try_cast(json_extract_string(one, '$.start_time') as timestamp)),
                'ended': local_seconds(try_cast(json_extract_string(one, '$.end_time') as timestamp)),
                'nodes': nullif(len(json_extract(one, '$.detail[*]')), 0),
                'gpus': nullif(len(json_extract(one, '$.detail[*].gpus[*]')), 0)
            })
        end as attempts
    from source
),

job as (
    select
        *,
        local_seconds(try_cast(submitted as timestamp)) as submit,
        list_min(list_transform(attempts, lambda one: one.begun)) as begun,
        nullif(len(attempts), 0) as number_of_attempts,
        attempts[-1].ended is not null as is_over,
        attempts[-1].ended - attempts[-1].begun as ran,
        attempts[-1].begun is not null as has_begun,
        -- A run that has no end goes on, if no other began after it.
        list_sort(list_transform(
            list_filter(
                attempts,
                lambda one, i: one.begun >= submit and (one.ended >= one.begun or one.ended is null and i = len(attempts))
            ),
            lambda one: {
                'begin': (one.begun - submit)::bigint,
                'box': concat_ws(
                    '/',
                    (one.begun - submit)::bigint,
                    coalesce((one.ended - one.begun)::bigint::varchar, ''),
                    '',
                    coalesce(ceil(one.gpus * getvariable('cpus_per_gpu')::double)::bigint::varchar, ''),
                    coalesce(one.gpus::varchar, ''),
                    coalesce(one.nodes::varchar, ''),
                    if(one.ended is null, 'running', 'ended')
                )
            }
        )) as boxes,
        len(list_filter(attempts[: -2], lambda one: one.begun is not null)) as earlier,
        list_filter(attempts, lambda one: one.gpus is not null)[-1] as placed
    from tried
)

select
    1 as rows,
    file_no,
    line,
    job as source_id,
    submit as submit_time,
    begun - submit as wait_time,
    case when is_over then ran end as run_time,
    case when len(boxes) > 1 or not has_begun and len(boxes) = 1
        then array_to_string(list_transform(boxes, lambda one: one.box), ';')
    end as runs,
    nullif(earlier, 0) as n_requeues,
    begun as start_time,
    ceil(placed.gpus * getvariable('cpus_per_gpu')::double) as n_procs,
    case
        when number_of_attempts is null or is_over
            then case status when 'Pass' then 1 when 'Killed' then 5 when 'Failed' then 0 end
    end as status,
    status as state,
    "user" as user_id,
    vc as partition_id,
    'attempts:' || number_of_attempts as used_resources,
    placed.nodes as n_nodes,
    placed.gpus as n_gpus,
    case when job is null then 'its jobid is missing' when submit is null then 'its submitted_time is not a time' end as reject
from job
