/* ---
title = "APEL: messages of individual jobs"
files = ["*.apel", "*apel*"]
scope = "trace"
joined_by = "local_job_id"
reader = "blocks"
contains = ['LocalJobId: ', '(?m)^LocalJobId: \S', '(?m)^APEL-individual-job-message: v\d', '(?m)^(WallDuration|EndTime): \d']
export = '''
# What a client of APEL has sent, or an accounting node has taken in; each message holds up to 1,000 jobs:
cat /var/spool/apel/outgoing/*/* > messages.apel
'''
notes = """
Source: apel/apel, apel/db/records/job.py, and the messages that its client sends (individual job messages, version 0.1 to 0.4).

Each record of a message becomes a job. Times are Unix seconds, durations seconds, memory is in KB. When a job was submitted is not recorded: it is
taken to be submitted at StartTime, and its wait is missing. The run time is WallDuration, else EndTime less StartTime; CPU time is CpuDuration, of all
processors. Processors are Processors, else 1; nodes are NodeCount. Memory used is MemoryReal.
The user is GlobalUserName, else LocalUserId; the virtual organization is VO, else the first part of FQAN, the group VOGroup or the rest of it.
How a job ended is not recorded. The site is Site, where it was submitted SubmitHost. Summaries of jobs are no jobs and are not read.
"""

[constants]
job_structure = "UNITARY"

[options]
begins = '(APEL-individual-job-message: .*|%%)$'
pair = '(?P<key>[A-Za-z]\w*): ?(?P<value>.*)'

[columns]
site = "varchar"
submit_host = "varchar"
machine_name = "varchar"
queue = "varchar"
local_job_id = "varchar"
local_user_id = "varchar"
global_user_name = "varchar"
fqan = "varchar"
vo = "varchar"
vo_group = "varchar"
wall_duration = "varchar"
cpu_duration = "varchar"
processors = "varchar"
node_count = "varchar"
start_time = "varchar"
end_time = "varchar"
memory_real = "varchar"

[functions]
"known(x)" = "nullif(nullif(x, 'None'), '')"
"number(x)" = "try_cast(nullif(nullif(x, 'None'), '') as double)"
--- */
with timed as (
    select
        * replace (known(site) as site, known(vo) as vo, known(fqan) as fqan),
        nullif(number(start_time), 0) as started,
        nullif(number(end_time), 0) as ended,
        case when number(wall_duration) >= 0 then number(wall_duration) end as wall,
        greatest(coalesce(number(processors), 1), 1) as procs
    from source
)

select
    1 as rows,
    file_no,
    line,
    local_job_id as source_id,
    coalesce(started, ended - wall) as submit_time,
    coalesce(wall, ended - started) as run_time,
    started as start_time,
    wall as measured_time,
    procs as n_procs,
    number(cpu_duration) / procs as average_cpu_time,
    nullif(number(memory_real), 0) / procs as used_memory,
    coalesce(known(global_user_name), known(local_user_id)) as user_id,
    coalesce(known(vo_group), nullif(regexp_extract(fqan, '^(/[^=]*?)(/Role=.*)?(/Capability=.*)?$', 1), '')) as group_id,
    known(queue) as queue_id,
    known(machine_name) as partition_id,
    known(submit_host) as orig_site_id,
    site as last_run_site_id,
    coalesce(vo, nullif(regexp_extract(fqan, '^/([^/]+)', 1), '')) as vo_id,
    nullif(number(node_count), 0) as n_nodes,
    nullif(number(memory_real), 0) as max_memory,
    case
        when local_job_id is null then 'has no LocalJobId'
        when coalesce(number(wall_duration), ended) is null then 'has neither a WallDuration nor an EndTime'
    end as reject,
    [case when number(processors) is null then 'no processors: 1 was assumed' end] as remarks
from timed
