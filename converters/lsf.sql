/* ---
title = "LSF accounting (lsb.acct)"
files = ["lsb.acct", "lsb.acct.*", "*.lsf"]
reader = "quoted"
scope = "trace"
joined_by = "job_number"
comment = "#"
first = '^"[A-Z][A-Z_]+" "[\d.]+" \d+ '
contains = '^"JOB_FINISH" "[\d.]+" \d+ \d+ '
export = '''
# LSB_SHAREDIR is in lsf.conf, CLUSTER the name that lsid tells; LSF begins a new file when one is full:
cat $LSB_SHAREDIR/CLUSTER/logdir/lsb.acct* > lsb.acct
'''
notes = """
Sources: the lsb.acct(5) of LSF 6 to 10, and samples of Open XDMoD, APEL and others.
A JOB_FINISH record is a job; events of other kinds count as comments. Fields behind max_num_processors are
read as long as they fit, since versions differ there; a record that a wrong count shifts is refused.
Jobs: a job that was queued again has a record for each run; those of one number, index and submission time
are folded into the last, and what each held is listed (runs). Suspensions have no record here. A task of an array is a job in the bag of its job number. Tasks that were deleted together before they
started have one record, and are one job of the bag.
Processors are the hosts that it ran on, one for each slot or as 16*host, else num_processors. Asked for are
max_num_processors, the upper bound of bsub -n, or num_processors if that is more.
CPU time is that of the user and the system; memory is max_rmem / processors, in KB. -1 is not measured.
Requested time is the run limit, which records of LSF 9 and 10 have behind the usage of each host (of six
fields there, not five as the manual says). Requested memory is in units that a site chooses: not kept.
Status: DONE is completed. EXIT is cancelled where the reason is that its owner or an administrator killed
it (exit_info 8, 9, 14, 15, 23) or where it never started and there is no reason; else it has failed. What bjobs
tells an exit code of has failed, where it does not tell the start.
Nodes are the different hosts, with their slots in node_list. GPUs are those that rusage of the resource request names (ngpus_physical=2), for
each host; what bsub -gpu asks for is not read. The state is DONE or EXIT, as j_status says; the exit code is
that of the program, or 128 + n where signal n ended it. The peak of memory is max_rmem.
The executable is the name of the job, else the first word of its command. Groups are not recorded.
"""

[options]
record = '"[A-Z][A-Z_]+" "[\d.]+" '
kind = "JOB_FINISH"
least = "max_num_processors"
fields = """
event_type%s version%s event_time%d job_number%d user_number%d options%d num_processors%d submit_time%d
begin_time%d term_time%d start_time%d user_name%s queue%s res_req%s depend_cond%s pre_exec_cmd%s from_host%s
cwd%s in_file%s out_file%s err_file%s job_file%s asked_hosts%1 hosts%1 j_status%d host_factor%d job_name%s
command%s ru_utime%d ru_stime%d ru_maxrss%d ru_ixrss%d ru_ismrss%d ru_idrss%d ru_isrss%d ru_minflt%d
ru_majflt%d ru_nswap%d ru_inblock%d ru_oublock%d ru_ioch%d ru_msgsnd%d ru_msgrcv%d ru_nsignals%d ru_nvcsw%d
ru_nivcsw%d ru_exutime%d mail_user%s project_name%s exit_status%d max_num_processors%d login_shell%s
time_event%s array_index%d max_rmem%d max_rswap%d in_file_spool%s command_spool%s rsv_id%s sla%s
except_mask%d additional_info%s exit_info%d warning_action%s warning_time_period%d charged_saap%s
license_project%s app%s post_exec_cmd%s runtime_estimation%d job_group%s requeue_evalues%s options2%d
resize_notify_cmd%s last_resize_time%d rsv_id2%s job_description%s submit_ext%2 host_rusage%6 run_limit%d
"""

[columns]
event_time = "double"
job_number = "bigint"
num_processors = "bigint"
submit_time = "double"
start_time = "double"
user_name = "varchar"
queue = "varchar"
hosts = "varchar"
j_status = "bigint"
job_name = "varchar"
command = "varchar"
ru_utime = "double"
ru_stime = "double"
project_name = "varchar"
max_num_processors = "bigint"
array_index = "bigint"
max_rmem = "double"
exit_info = "bigint"
exit_status = "bigint"
res_req = "varchar"
run_limit = "double"
state = "varchar"
gpu_count = "double"
gpu_type = "varchar"
is_local = "boolean"
run_seconds = "double"
fault = "varchar"
# What only a history of a job tells: when it started first, what it held in each run, and how many there were.
first_start = "double"
boxes = "varchar"
earlier_runs = "bigint"

[functions]
"slots_of(hosts, processors)" = '''
coalesce(
    list_sum([
        coalesce(try_cast(regexp_extract(host, '^(\d+)\*', 1) as bigint), 1)
        for host in string_split(nullif(hosts, ''), ' ')
    ]),
    nullif(processors, 0)
)
'''
"nodes_of(hosts)" = '''
len(list_distinct([regexp_replace(host, '^\d+\*', '') for host in string_split(nullif(hosts, ''), ' ')]))
'''
# As host*slots: what is written so, as slots*host, may be any part of the list.
"listed_hosts(hosts)" = '''
array_to_string(
    list_transform(
        map_entries(list_aggregate(string_split(trim(nullif(hosts, '')), ' '), 'histogram')),
        lambda one: case
            when contains(one.key, '*') then regexp_replace(one.key, '^(\d+)\*(.*)$', '\2*\1')
            when one.value = 1 then one.key
            else one.key || '*' || one.value
        end
    ),
    ','
)
'''

[from_header]
partition_id = "Computer"
orig_site_id = "Installation"
last_run_site_id = "Installation"
--- */
with ranked as (
    select
        *,
        row_number() over (job order by event_time desc, file_no desc, line desc) as place,
        count(*) over job as rows
    from source
    window job as (partition by job_number, array_index, submit_time)
),

job as (
    select
        *,
        nullif(start_time, 0) as started,
        -- What is deleted of an array before it starts has one record, of no index: name[678-1000].
        array_index > 0 or coalesce(regexp_matches(job_name, '\[[\d,:-]+\]'), false) as is_array,
        slots_of(hosts, num_processors) as slots,
        nodes_of(hosts) as nodes,
        -- GPUs in rusage[mem=2000,ngpus_physical=2.00] are of each host.
        try_cast(
            regexp_extract(res_req, 'rusage\[[^]]*\bngpus(?:_physical|_excl_[pt]|_shared)?=(\d+(?:\.\d+)?)', 1) as double
        ) * coalesce(nodes, 1) as asked_gpus,
        -- What cannot be measured is -1.
        case when ru_utime >= 0 and ru_stime >= 0 then ru_utime + ru_stime end as cpu
    from ranked
    where place = 1
),

-- What each run held of jobs that were queued again; a record that is there twice is one run.
several as (
    select
        job_number,
        array_index,
        submit_time,
        count(*) as runs,
        min(start_time) as first_start,
        string_agg(
            concat_ws(
                '/',
                cast(start_time - submit_time as bigint),
                cast(event_time - start_time as bigint),
                '',
                coalesce(cast(slots as varchar), ''),
                '',
                coalesce(cast(nodes as varchar), ''),
                if(is_last, 'ended', 'requeued')
            ),
            ';' order by start_time
        ) as boxes
    from (
        select *, lag(event_time) over (partition by job_number, array_index, submit_time order by start_time) as freed
        from (
            select
                job_number, array_index, submit_time, start_time, event_time,
                slots_of(hosts, num_processors) as slots, nodes_of(hosts) as nodes, bool_or(place = 1) as is_last
            from ranked
            where rows > 1 and submit_time > 0 and start_time >= submit_time and event_time >= start_time
            group by all
        ) as run
    ) as timed
    group by job_number, array_index, submit_time
    having bool_and(coalesce(freed <= start_time, true)) and (count(*) > 1 or not bool_or(is_last))
)

select
    rows,
    file_no,
    line,
    fault as reject,
    job.job_number || case when job.array_index > 0 then '[' || job.array_index || ']' else '' end as source_id,
    nullif(job.submit_time, 0) as submit_time,
    coalesce(several.first_start, job.first_start, started) - nullif(job.submit_time, 0) as wait_time,
    coalesce(several.boxes, job.boxes) as runs,
    coalesce(nullif(several.runs - if(started is null, 0, 1), 0), job.earlier_runs) as n_requeues,
    event_time - started as run_time,
    started as start_time,
    run_seconds as measured_time,
    case when started is not null then slots end as n_procs,
    case when started is not null then cpu / slots end as average_cpu_time,
    case when started is not null and max_rmem > 0 then max_rmem / slots end as used_memory,
    nullif(greatest(num_processors, max_num_processors), 0) as req_n_procs,
    case when run_limit > 0 then run_limit end as req_time,
    case
        when j_status & 64 > 0 then 1
        when j_status & 32 > 0
            then case
                when exit_info in (8, 9, 14, 15, 23) then 5
                when started is null and coalesce(exit_info, 0) = 0 and not coalesce(is_local and exit_status > 0, false) then 5
                else 0
            end
    end as status,
    user_name as user_id,
    coalesce(
        nullif(regexp_replace(job_name, '\[.*$', ''), ''),
        nullif(regexp_extract(command, '^([^\s#;]*/)?([^\s/;#]+)', 2), '')
    ) as executable_id,
    queue as queue_id,
    case when is_array then 'BoT' else 'UNITARY' end as job_structure,
    case when is_array then cast(job.job_number as varchar) end as job_structure_params,
    project_name as project_id,
    case when started is not null then nodes end as n_nodes,
    case when started is not null then nullif(listed_hosts(hosts), '') end as node_list,
    case when started is not null then coalesce(gpu_count, asked_gpus) end as n_gpus,
    coalesce(asked_gpus, gpu_count) as req_gpus,
    coalesce(gpu_type, nullif(regexp_extract(res_req, 'gpu_?model(?:name|\d*)\s*==\s*["'']?([\w.-]+)', 1), '')) as gpu_type,
    coalesce(state, case when j_status & 64 > 0 then 'DONE' when j_status & 32 > 0 then 'EXIT' end) as state,
    -- As wait(2) has it: the signal, else the exit code above the lowest 8 bits.
    case
        when started is null or j_status & 96 = 0 then null
        when exit_status between 1 and 127 then 128 + exit_status
        when exit_status between 0 and 65535 and exit_status & 127 = 0 then exit_status >> 8
        when exit_status between 0 and 65535 then 128 + (exit_status & 127)
    end as exit_code,
    case when started is not null and max_rmem > 0 then max_rmem end as max_memory,
    [case when is_local then nullif(getvariable('zone_remark'), '') end] as remarks
from job
left join several
    on job.job_number = several.job_number
    and job.array_index is not distinct from several.array_index
    and job.submit_time = several.submit_time
