/* ---
title = "LSF events as JSON: the stream of finished jobs (JOB_FINISH, JOB_FINISH2)"
files = ["lsb.stream*", "*.jsonl"]
reader = "json"
select = "lsf"
contains = ['"event_type"\s*:\s*"JOB_FINISH2?"', '"job_id"\s*:\s*\d', '"(num_processors|req_num_procs_min|job_status_code|jStatus)"\s*:']
export = '''
# lsfeventsbeat of lsfmq publishes lsb.acct as the topic lsf_acct; LSF itself keeps the same in lsb.acct (gwa formats lsf).
kafka-console-consumer.sh --bootstrap-server HOST:9092 --topic lsf_acct --from-beginning > jobs.jsonl
'''
notes = '''
Source: IBMSpectrumComputing/lsfmq, which publishes the events of lsb.acct and lsb.stream as JSON, and the names of fields in its
lsbevent_fields.h. The mapping is that of the format lsf: gwa formats lsf tells its decisions. Times are Unix seconds; 0 and
-1 are none, as in lsb.acct, so that begin_time and term_time, which a user may ask for, are no times of the job. CPU
time, memory and the run limit that are -1 were not measured or not asked for. Events of other types are refused.
'''

[options]
records = ["events"]

[options.paths]
job_index = ["job_arr_idx", "job_array_idx", "idx"]
processors = ["num_processors", "alloc_slots_num", "num_ex_hosts", "num_exec_hosts"]
asked = ["req_num_procs_max", "max_num_processors", "req_num_procs_min"]
hosts = "exec_hosts"
submitted = ["submit_time_utc", "submit_time"]
started = ["start_time_utc", "start_time"]
ended = ["end_time_utc", "end_time", "event_time_utc"]
usage_user = ["ru_utime", "utime"]
usage_system = ["ru_stime", "stime"]
queue_ = "queue_name"
peak = ["max_rmem", "max_mem"]
limit_ = ["run_limit", "runlimit"]
code_of_exit = "exit_info"
demand = ["effective_res_req", "res_req"]

[columns]
event_type = "varchar"
job_id = "bigint"
job_index = "bigint"
job_status = "varchar"
job_status_code = "bigint"
submitted = "double"
started = "double"
ended = "double"
user_name = "varchar"
queue_ = "varchar"
processors = "bigint"
asked = "bigint"
hosts = "varchar"
usage_user = "double"
usage_system = "double"
peak = "double"
limit_ = "double"
exit_status = "bigint"
code_of_exit = "bigint"
project_name = "varchar"
job_name = "varchar"
command = "varchar"
demand = "varchar"
--- */
select
    line,
    case
        when event_type not in ('JOB_FINISH', 'JOB_FINISH2') then 'is an event of another type: ' || left(event_type, 40)
        when job_id is null then 'has no job_id'
    end as fault,
    job_id as job_number,
    coalesce(
        job_index,
        try_cast(nullif(regexp_extract(job_name, '\[(\d+)\]$', 1), '') as bigint),
        0
    ) as array_index,
    coalesce(nullif(job_status, ''), case job_status_code when 64 then 'DONE' when 32 then 'EXIT' end) as state,
    coalesce(job_status_code, case job_status when 'DONE' then 64 when 'EXIT' then 32 else 0 end) as j_status,
    coalesce(submitted, 0) as submit_time,
    coalesce(started, 0) as start_time,
    nullif(ended, 0) as event_time,
    user_name,
    queue_ as queue,
    processors as num_processors,
    asked as max_num_processors,
    case when json_valid(hosts) then array_to_string(from_json(hosts, '["VARCHAR"]'), ' ') end as hosts,
    usage_user as ru_utime,
    usage_system as ru_stime,
    peak as max_rmem,
    limit_ as run_limit,
    exit_status,
    code_of_exit as exit_info,
    nullif(project_name, '') as project_name,
    nullif(job_name, '') as job_name,
    command,
    demand as res_req
from record
