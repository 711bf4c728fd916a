/* ---
title = "Slurm's accounting database: a mysqldump of slurmdbd"
files = ["*.sql"]
reader = "mysqldump"
scope = "trace"
select = "slurm"
contains = 'CREATE TABLE (IF NOT EXISTS )?`\w*(assoc_table|job_table|qos_table|tres_table|step_table)`'
export = '''
# Of a cluster that is called CLUSTER in the database of slurmdbd (StorageLoc):
mysqldump --single-transaction slurm_acct_db CLUSTER_job_table CLUSTER_step_table CLUSTER_assoc_table qos_table tres_table > slurm.sql
'''
notes = """
Sources: Slurm's as_mysql plugin and slurmdb_defs.h. Columns are found by name, in whatever order an upgrade left them;
those that a version lacks are missing. The mapping is that of the format slurm, with each job and each step as a row
of sacct: gwa formats slurm tells its decisions. Each row of the table of jobs is a run: those of a job that
was requeued are folded as there. Rows marked as deleted, and those of associations, QOS and TRES, count as comments;
other tables are passed over. Users are those of associations, else numbers; groups are numbers. Of reservations
only a number is known: it is not kept. The start of a job is no later than its end; what is later by more than 65
minutes is no start. Memory of steps before
Slurm 18.08 (max_rss) is not read. All tables of a cluster are in one file.
"""

[options]
explain = ["assoc", "qos", "tres"]

[options.tables]
job = "job_table"
step = "step_table"
assoc = "assoc_table"
qos = "qos_table"
tres = "tres_table"

[columns]
table_ = "varchar"
prefix = "varchar"
job_db_inx = "bigint"
id_job = "varchar"
id_array_job = "bigint"
id_array_task = "bigint"
array_task_str = "varchar"
het_job_id = "bigint"
het_job_offset = "bigint"
pack_job_id = "bigint"
pack_job_offset = "bigint"
id_user = "varchar"
id_group = "varchar"
id_assoc = "bigint"
account = "varchar"
id_qos = "bigint"
job_name = "varchar"
admin_comment = "varchar"
partition = "varchar"
cpus_req = "varchar"
cpus_alloc = "varchar"
nodes_alloc = "varchar"
nodelist = "varchar"
timelimit = "bigint"
time_submit = "bigint"
time_eligible = "bigint"
time_start = "bigint"
time_end = "bigint"
time_suspended = "bigint"
restart_cnt = "bigint"
state = "bigint"
exit_code = "bigint"
mem_req = "hugeint"
tres_alloc = "varchar"
tres_req = "varchar"
wckey = "varchar"
id_step = "bigint"
step_name = "varchar"
task_cnt = "varchar"
user_sec = "bigint"
user_usec = "bigint"
sys_sec = "bigint"
sys_usec = "bigint"
consumed_energy = "hugeint"
tres_usage_in_ave = "varchar"
tres_usage_in_max = "varchar"
tres_usage_in_tot = "varchar"
user = "varchar"
acct = "varchar"
id = "bigint"
type = "varchar"
name = "varchar"
--- */
with entry as (
    select table_, id, max(case when table_ = 'qos' then name else type || coalesce('/' || nullif(name, ''), '') end) as name
    from record
    where table_ in ('qos', 'tres') and id is not null
    group by table_, id
),

known as (
    select
        map_from_entries(list({'k': id::varchar, 'v': name}) filter (table_ = 'tres')) as tres_names,
        map {
            '1': 'cpu', '2': 'mem', '3': 'energy', '4': 'node', '5': 'billing', '6': 'fs/disk', '7': 'vmem', '8': 'pages'
        } as usual_names,
        map_from_entries(list({'k': id, 'v': name}) filter (table_ = 'qos')) as qos_names
    from entry
),

association as (
    select prefix, id_assoc, max("user") as "user", max(acct) as acct
    from record
    where table_ = 'assoc'
    group by prefix, id_assoc
),

step as (
    select
        record.*,
        case id_step
            when -6 then 'interactive'
            when -5 then 'batch'
            when -4 then 'extern'
            when -3 then 'pending'
            when -2 then 'batch'
            when -1 then 'extern'
            else id_step::varchar
        end as part,
        list_transform(
            [tres_usage_in_tot, tres_usage_in_ave, tres_usage_in_max],
            lambda x: nullif(regexp_extract(x, '(?:^|,)2=(\d{1,18})(?:,|$)', 1), '')
        ) as memory,
        -- The numbers of the memory and the use of GPUs are those of a site.
        list_transform(
            ['gres/gpumem', 'gres/gpuutil'],
            lambda y: y || '=' || split_part(
                list_filter(
                    string_split(tres_usage_in_tot, ','),
                    lambda x: tres_names[split_part(x, '=', 1)] = y and regexp_matches(x, '=\d{1,18}$')
                )[1],
                '=',
                2
            )
        ) as gpus
    from record, known
    where table_ = 'step'
),

used as (
    select
        prefix,
        job_db_inx,
        sum(coalesce(user_sec, 0) + coalesce(sys_sec, 0)) + sum(coalesce(user_usec, 0) + coalesce(sys_usec, 0)) / 1e6
            as cpu_time
    -- A step may be there twice, as in two dumps in one file.
    from (select distinct * exclude (line, file_no) from step)
    group by prefix, job_db_inx
),

job as (
    select
        record.* exclude ("user", acct),
        association."user",
        association.acct,
        used.cpu_time,
        known.qos_names[id_qos] as qos,
        -- Higher bits are flags.
        state & 255 as base_state,
        coalesce(het_job_id, pack_job_id) as leader,
        case
            when id_array_job > 0 and id_array_task < 4294967294 then id_array_job || '_' || id_array_task
            when id_array_job > 0 and array_task_str <> '' then id_array_job || '_[' || array_task_str || ']'
            when leader > 0 then coalesce(leader || '+' || coalesce(het_job_offset, pack_job_offset), id_job)
            else id_job
        end as jobid,
        -- A start that is a little later than the end is that of the end, as sacct has it; others are no start.
        case when time_end between time_start - 3900 and time_start then time_end else time_start end as begun,
        list_transform(
            [tres_alloc, tres_req],
            lambda x: list_transform(
                string_split(nullif(x, ''), ','),
                lambda y: {
                    'name': coalesce(tres_names[split_part(y, '=', 1)], usual_names[split_part(y, '=', 1)]),
                    'count': case when length(split_part(y, '=', 2)) < 19 then try_cast(split_part(y, '=', 2) as bigint) end
                }
            )
        ) as tres,
        list_transform(
            tres,
            lambda x: nullif(
                array_to_string(
                    list_sort(
                        list_transform(
                            list_filter(x, lambda y: y.name is not null and y.count >= 0),
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
        ) as tres_texts
    from record
    cross join known
    left join association on record.prefix = association.prefix and record.id_assoc = association.id_assoc
    left join used on record.prefix = used.prefix and record.job_db_inx = used.job_db_inx
    where table_ = 'job'
)

select
    line,
    coalesce(jobid, '') as jobid,
    id_job as jobidraw,
    nullif(prefix, '') as cluster,
    nullif(partition, '') as partition_,
    coalesce(nullif(account, ''), nullif(acct, '')) as account,
    nullif(wckey, '') as wckey,
    id_group as gid,
    nullif("user", '') as user_,
    id_user as uid,
    nullif(time_submit, 0)::varchar as submit,
    case when time_eligible between 1 and 4294967293 then time_eligible::varchar end as eligible,
    if(begun between 1 and 4294967293, begun::varchar, 'Unknown') as start_,
    if(time_end = 0, 'Unknown', time_end::varchar) as end_,
    case
        when begun > time_end and time_end > 0 or begun < time_submit - 3900 then null
        when time_end > 0 and begun > 0
            then greatest(0, time_end - begun - if(base_state = 2, 0, coalesce(time_suspended, 0)))::varchar
        else '0'
    end as elapsedraw,
    (exit_code >> 8) || ':' || (exit_code & 127) as exitcode,
    [
        'PENDING', 'RUNNING', 'SUSPENDED', 'COMPLETED', 'CANCELLED', 'FAILED', 'TIMEOUT', 'NODE_FAIL', 'PREEMPTED',
        'BOOT_FAIL', 'DEADLINE', 'OUT_OF_MEMORY'
    ][base_state + 1] as state,
    restart_cnt::varchar as restarts,
    nullif(qos, '') as qos,
    nodes_alloc as nnodes,
    case when tres_alloc is null then cpus_alloc end as alloccpus,
    cpus_req as reqcpus,
    null as ntasks,
    coalesce(
        list_filter(tres[2], lambda x: x.name = 'mem')[1].count || 'M',
        -- The highest bit marks memory of a processor.
        if(mem_req >= 9223372036854775808, (mem_req - 9223372036854775808) || 'Mc', nullif(mem_req, 0) || 'Mn')
    ) as reqmem,
    null as maxrss,
    null as averss,
    null as tresusageintot,
    list_filter(tres[1], lambda x: x.name = 'energy' and x.count not in (0, 4294967294, 4294967295))[1].count::varchar
        as consumedenergyraw,
    cpu_time::varchar as totalcpu,
    tres_texts[2] as reqtres,
    tres_texts[1] as alloctres,
    case timelimit when 4294967295 then 'UNLIMITED' when 4294967294 then 'Partition_Limit' else timelimit::varchar end
        as timelimitraw,
    nodelist,
    job_name as jobname,
    admin_comment as admincomment
from job
union all by name
select
    step.line,
    coalesce(job.jobid, '0') || '.' || step.part as jobid,
    nullif(step.prefix, '') as cluster,
    nullif(step.time_start, 0)::varchar as start_,
    nullif(step.time_end, 0)::varchar as end_,
    step.nodes_alloc as nnodes,
    step.task_cnt as ntasks,
    step.memory[3] as maxrss,
    step.memory[2] as averss,
    nullif(
        concat_ws(',', step.gpus[1], step.gpus[2], 'mem=' || step.memory[1]), ''
    ) as tresusageintot,
    nullif(step.consumed_energy, 0)::varchar as consumedenergyraw
from step
left join (select prefix, job_db_inx, max(jobid) as jobid from job group by prefix, job_db_inx) as job
    on step.prefix = job.prefix and step.job_db_inx = job.job_db_inx
