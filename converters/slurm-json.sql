/* ---
title = "Slurm accounting as JSON: sacct --json, or slurmrestd's jobs of slurmdbd"
files = ["*.json"]
reader = "json"
select = "slurm"
contains = '(?s)"time"\s*:\s*\{[^{}]*(\{[^{}]*\}[^{}]*)*"submission"\s*:|\A\s*\{(?=.*"jobs"\s*:\s*\[\s*\])(?=.*"[Ss]lurm"\s*:\s*\{)'
export = '''
# A day or a month at a time; several files are one trace. The second asks slurmrestd.
sacct --json -a -D -S 2025-01-01 -E 2025-02-01 > jobs.json
curl -H X-SLURM-USER-TOKEN:$SLURM_JWT "$URL/slurmdb/v0.0.42/jobs?start_time=2025-01-01" > jobs.json
'''
notes = """
Sources: Slurm's data_parser plugins v0.0.39 to v0.0.45 and its openapi plugins dbv0.0.36 to dbv0.0.38.
All of these are read, whole answers, lists of jobs and lines of one job each (jq -c '.jobs[]'), by what
each value is and not by what version the file claims. The mapping is that of the format slurm, with
each job and each step as a row of sacct would be: gwa formats slurm tells its decisions.
Where a number has "set" false or "infinite" true it is missing. Until v0.0.37 "start" is the time the job
became eligible: it is the end less the time elapsed. Until v0.0.39 the exit code is 0 for each job that ended by
itself: it is kept for COMPLETED only, and for signals. Of several states the first counts, the others are flags.
What is called requested in the TRES of a step is its usage. A step's sum of mem is used, else its average
times its tasks. Without steps (-X) there is neither memory nor CPU time. Energy of the job, else of its
steps but extern. -D tells of every run of a job that was requeued. What squeue --json and scontrol --json
print are jobs that did not end, in another form, and is not read.
"""

[options]
records = ["jobs"]

[options.paths]
allocated = "tres.allocated"
requested = "tres.requested"
array_job = "array.job_id"
array_task = "array.task_id"
array_range = "array.task"
het_job = "het.job_id"
het_offset = "het.job_offset"
user_ = ["user", "association.user"]
account = ["account", "association.account"]
group_ = "group"
partition_ = "partition"
cluster = ["cluster", "association.cluster"]
wckey = "wckey.wckey"
reservation = "reservation.name"
jobname = "name"
nodelist = "nodes"
nnodes = "allocation_nodes"
cpus = "required.CPUs"
per_cpu = "required.memory_per_cpu"
per_node = ["required.memory_per_node", "required.memory"]
submission = "time.submission"
eligible = "time.eligible"
started = "time.start"
ended = "time.end"
elapsed = "time.elapsed"
suspended = "time.suspended"
time_limit = "time.limit"
seconds = "time.total.seconds"
microseconds = "time.total.microseconds"
state = "state.current"
reason_ = "state.reason"
exit_status = "exit_code.status"
exit_code = "exit_code.return_code"
exit_signal = ["exit_code.signal.id", "exit_code.signal.signal_id"]
admin_comment = "comment.administrator"

[columns]
job_id = "varchar"
cluster = "varchar"
partition_ = "varchar"
account = "varchar"
wckey = "varchar"
group_ = "varchar"
user_ = "varchar"
qos = "varchar"
reservation = "varchar"
jobname = "varchar"
nodelist = "varchar"
nnodes = "varchar"
cpus = "varchar"
per_cpu = "varchar"
per_node = "varchar"
array_job = "varchar"
array_task = "varchar"
array_range = "varchar"
het_job = "varchar"
het_offset = "varchar"
submission = "varchar"
eligible = "varchar"
started = "varchar"
ended = "varchar"
elapsed = "bigint"
suspended = "bigint"
time_limit = "varchar"
priority = "varchar"
restart_cnt = "varchar"
seconds = "bigint"
microseconds = "bigint"
state = "varchar"
reason_ = "varchar"
exit_status = "varchar"
exit_code = "varchar"
exit_signal = "varchar"
allocated = "varchar"
requested = "varchar"
admin_comment = "varchar"
steps = "varchar"
--- */
with plain as (
    select
        *,
        state is not null and state not like '[%' as is_old,
        is_old and coalesce(priority, time_limit, array_task, '') not like '{%' as is_oldest,
        coalesce(json_extract_string(try_cast(state as json), '$[0]'), state) as first_state,
        -- Numbers that may be objects with "set", "infinite" and "number", without those that stand for none.
        list_transform(
            [
                array_task, het_offset, per_cpu, per_node, time_limit, exit_code, exit_signal,
                submission, eligible, started, ended, job_id, array_job, het_job, restart_cnt
            ],
            lambda x: case
                when x like '{%' and (x not like '%"set":true%' or x like '%"infinite":true%') then null
                else nullif(regexp_extract(x, '^(?:.*"number":)?(\d{1,18})\}?$', 1), '')
            end
        ) as given,
        list_transform(given, lambda x: case when x not in ('4294967294', '4294967295') then x end) as numbers,
        -- What was allocated, and what was requested, as sacct writes it.
        list_transform(
            [allocated, requested],
            lambda x: list_filter(
                list_transform(
                    from_json(x, '[{"type":"VARCHAR","name":"VARCHAR","count":"VARCHAR"}]'),
                    lambda y: {
                        'name': y.type || coalesce('/' || nullif(y.name, ''), ''),
                        'count': try_cast(case when length(y.count) < 19 then y.count end as bigint)
                    }
                ),
                lambda y: y.count >= 0
            )
        ) as tres,
        list_transform(
            tres,
            lambda x: nullif(
                array_to_string(
                    list_sort(
                        list_transform(
                            x,
                            lambda y: y.name || '=' || case
                                when y.name <> 'mem' then y.count::varchar
                                when y.count < 1024 or y.count % 512 > 0 then y.count || 'M'
                                when y.count < 1048576 or y.count // 1024 % 512 > 0
                                    then if(y.count % 1024 = 0, y.count // 1024 || 'G', printf('%.2fG', y.count / 1024))
                                when y.count % 1048576 = 0 then y.count // 1048576 || 'T'
                                else printf('%.2fT', y.count / 1048576)
                            end
                        )
                    ),
                    ','
                ),
                ''
            )
        ) as tres_texts,
        list_transform(
            from_json(
                steps,
                '[{"step":{"id":"VARCHAR","step_id":"VARCHAR","name":"VARCHAR"},
                   "time":{"start":"VARCHAR","end":"VARCHAR"},
                   "tasks":{"count":"VARCHAR"},
                   "nodes":{"count":"VARCHAR"},
                   "statistics":{"energy":{"consumed":"VARCHAR"}},
                   "tres":{"requested":{
                       "max":[{"type":"VARCHAR","name":"VARCHAR","count":"VARCHAR"}],
                       "average":[{"type":"VARCHAR","name":"VARCHAR","count":"VARCHAR"}],
                       "total":[{"type":"VARCHAR","name":"VARCHAR","count":"VARCHAR"}]}}}]'
            ),
            lambda x, nth: {
                'nth': nth,
                'name': coalesce(
                    nullif(regexp_extract(x.step.id, '\.(.+)$', 1), ''), x.step.step_id, x.step.id, x.step.name, '0'
                ),
                'tasks': x.tasks.count,
                'nodes': x.nodes.count,
                'numbers': list_transform(
                    [x.time.start, x.time.end, x.statistics.energy.consumed],
                    lambda y: case
                        when y like '{%' and (y not like '%"set":true%' or y like '%"infinite":true%') then null
                        else nullif(nullif(regexp_extract(y, '^(?:.*"number":)?(\d{1,18})\}?$', 1), ''), '0')
                    end
                ),
                'memory': list_transform(
                    [x.tres.requested.total, x.tres.requested.average, x.tres.requested.max],
                    lambda y: list_filter(y, lambda z: z.type = 'mem' and regexp_full_match(z.count, '\d{1,18}'))[1].count
                ),
                'gpu_memory': list_filter(
                    x.tres.requested.total, lambda z: z.name = 'gpumem' and regexp_full_match(z.count, '\d{1,18}')
                )[1].count,
                'gpu_use': list_filter(
                    x.tres.requested.total, lambda z: z.name = 'gpuutil' and regexp_full_match(z.count, '\d{1,18}')
                )[1].count
            }
        ) as parts
    from record
),

named as (
    select
        *,
        case
            when numbers[13] <> '0' and numbers[1] is not null then numbers[13] || '_' || numbers[1]
            when numbers[13] <> '0' and array_range <> '' then numbers[13] || '_[' || array_range || ']'
            when numbers[14] <> '0' then coalesce(numbers[14] || '+' || numbers[2], numbers[12], job_id, '')
            else coalesce(numbers[12], job_id, '')
        end as jobid,
        list_filter(
            tres[1], lambda x: x.name = 'energy' and x.count not in (0, 4294967294, 4294967295)
        )[1].count::varchar as job_energy,
        -- Where "start" is the time of eligibility, it is known of what ended, and of nothing that had no processors.
        case
            when not is_oldest or started is distinct from eligible then nullif(numbers[10], '0')
            when numbers[11] > '0' and tres_texts[1] is not null
                then (numbers[11]::bigint - elapsed - coalesce(suspended, 0))::varchar
        end as start_
    from plain
)

select
    line,
    jobid,
    coalesce(numbers[12], job_id) as jobidraw,
    cluster,
    nullif(partition_, '') as partition_,
    nullif(account, '') as account,
    nullif(wckey, '') as wckey,
    nullif(group_, '') as group_,
    nullif(user_, '') as user_,
    nullif(numbers[8], '0') as submit,
    nullif(numbers[9], '0') as eligible,
    coalesce(start_, case when elapsed > 0 and is_oldest then null else 'Unknown' end) as start_,
    case when given[11] = '0' then 'Unknown' else numbers[11] end as end_,
    elapsed::varchar as elapsedraw,
    suspended::varchar as suspended,
    case
        when not is_old then coalesce(numbers[6], if(numbers[7] is not null, '0', null)) || ':' || coalesce(numbers[7], '0')
        when exit_status = 'SIGNALED' and numbers[7] is not null then '0:' || numbers[7]
        when first_state = 'COMPLETED' then '0:0'
    end as exitcode,
    first_state as state,
    numbers[15] as restarts,
    nullif(qos, '') as qos,
    nullif(nullif(reservation, ''), '0') as reservation,
    nnodes,
    nullif(cpus, '0') as reqcpus,
    null as ntasks,
    coalesce(
        list_filter(tres[2], lambda x: x.name = 'mem')[1].count || 'M', nullif(numbers[3], '0') || 'Mc', numbers[4] || 'Mn'
    ) as reqmem,
    null as maxrss,
    null as averss,
    null as tresusageintot,
    job_energy as consumedenergyraw,
    (seconds + coalesce(microseconds, 0) / 1e6)::varchar as totalcpu,
    tres_texts[2] as reqtres,
    tres_texts[1] as alloctres,
    nullif(numbers[5], '0') as timelimitraw,
    nodelist,
    reason_,
    jobname,
    admin_comment as admincomment
from named
union all by name
select
    line + (part.nth << 40) as line,
    jobid || '.' || part.name as jobid,
    cluster,
    part.numbers[1] as start_,
    part.numbers[2] as end_,
    part.nodes as nnodes,
    part.tasks as ntasks,
    part.memory[3] as maxrss,
    part.memory[2] as averss,
    nullif(
        concat_ws(
            ',', 'gres/gpumem=' || part.gpu_memory, 'gres/gpuutil=' || part.gpu_use, 'mem=' || part.memory[1]
        ),
        ''
    ) as tresusageintot,
    part.numbers[3] as consumedenergyraw
from (select line, jobid, cluster, unnest(parts) as part from named)
