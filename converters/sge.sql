/* ---
title = "Grid Engine accounting"
files = ["accounting", "accounting.*", "*.sge", "*.acct"]
reader = "gridengine"
scope = "trace"
joined_by = "job_number"
comment = "#"
first = '^(\d{6,13}:[a-z_]+:|[^:]*:[^:]*:[^:]*:[^:]*:.*:\d+:[^:]*:-?\d+:\d+:\d+:\d+:\d+:\d+:([-\d.]+:){18})'
contains = '^(\d{6,13}:acct:)?[^:\n]*:[^:\n]*:[^:\n]*:[^:\n]*:.*:\d+:[^:\n]*:-?\d+:\d+:\d+:\d+:\d+:\d+:([-\d.]+:){18}'
export = '''
# On the master host, with the files that were rotated:
cat $SGE_ROOT/$SGE_CELL/common/accounting* > accounting
'''
notes = """
Sources: accounting(5), reporting(5) and sge_status(5) of Son of Grid Engine, and rows of Univa 8.2 to 8.6.
The file `accounting` of any version, with 43 fields or more; of `reporting`, the rows `acct`.
Times: a row whose stamps lie behind the year 9999 in seconds counts milliseconds. Run time is end - start;
ru_wallclock, taken as seconds, stands in for one of them that is missing. 0 and 2^32 - 1 are not times.
Jobs: rows of one number, task and submission time are one job, since numbers begin again. Its last attempt
counts, and earlier ones (rescheduled, failed to start, written twice) are folded: those that ran are listed as its
runs, and what they used is not added. Slave tasks of a parallel job (pe_taskid) are folded into it, with their CPU time, io and memory;
they may have been submitted at a time of their own. So are the midnight rows of `reporting`, and the job
starts with the first. A task of an array is a job in the bag of its job number.
Status: failed 0 and exit status 0 is completed; qdel_info (Univa) is cancelled; all else has failed, with
failed 37 and 44 (limits) too. Others than Univa do not tell qdel from a limit: failed 100 has failed. With
-O guess_cancelled=yes it is cancelled instead where the exit status is 137 or 143 and the job did not come
within 1 % of the time that it asked for. A job without a start has no run time and no processors.
Memory used is maxrss / slots, else ru_maxrss / slots, else maxvmem / slots, which is virtual.
The peak of memory is the same, not shared out: of ru_maxrss, that of the largest process. The exit code is
exit_status, which is 128 + n where signal n ended the job. GPUs are the hard request gpu, gpus, ngpus or num_gpus in
`category`, for the whole job, and a job that started has as many; with -O gpus_per=slot, and where it asks for a part
of a GPU, for each slot. Their type is gpu_type, gpu_model or gpu_arch. Nodes are 1 without a parallel environment.
Requests are options in `category`: h_rt, else s_rt; h_vmem, else m_mem_free, mem_free, virtual_free, all
per slot; the upper bound of -pe, else the slots that were granted; arch; other resources by name.
num_proc is a property of a host and not taken for processors.
Colons within the category or the name of a job are found by the fields around them. In the category a
byte AD (Univa), FF (as its manual may be read) or U+FFFD (what copies made of them) is a colon, too.
Fields behind maxrss are not read, since their order differs between versions of Univa; neither is the
accounting as JSON lines of Gridengine 9.
io (GB) is in UsedResources; mem (GB s), department and account are not kept. The host is the node of a job without a
parallel environment, or on one slot; of others it is the first, and which were beside it is not recorded.
"""

[accepts]
gpus_per = "job | slot"
guess_cancelled = "yes | no"

[columns]
qname = "varchar"
hostname = "varchar"
unix_group = "varchar"
owner = "varchar"
job_name = "varchar"
job_number = "bigint"
submission_time = "double"
start_time = "double"
end_time = "double"
failed = "bigint"
exit_status = "bigint"
ru_wallclock = "double"
ru_maxrss = "double"
project = "varchar"
granted_pe = "varchar"
slots = "bigint"
task_number = "bigint"
cpu = "double"
io = "double"
category = "varchar"
pe_taskid = "varchar"
maxvmem = "double"
qdel_info = "varchar"
maxrss = "double"
is_local = "boolean"

[from_header]
partition_id = "Computer"
orig_site_id = "Installation"
last_run_site_id = "Installation"
--- */
with usage as not materialized (
    select
        * exclude (submission_time, start_time, end_time),
        coalesce(pe_taskid not in ('NONE', ''), false) as is_slave,
        -- The file `reporting` has a row for each midnight that a job ran through: its exit status is -1 in 32 bits.
        coalesce(exit_status = 4294967295, false) as is_interim,
        -- Univa writes milliseconds from 8.2 on, which is what all are made. No seconds lie behind the year 9999.
        case when greatest(submission_time, start_time, end_time) > 253402300799 then 1 else 1000 end as unit,
        case when submission_time not in (0, 4294967295) then submission_time * unit end as submitted,
        case when end_time not in (0, 4294967295) then end_time * unit end as ended,
        case
            when start_time not in (0, 4294967295) then start_time * unit
            when ru_wallclock > 0 then ended - 1000 * ru_wallclock
        end as started
    from source
),

recurring as (
    select job_number, task_number from source group by all having count(*) > 1
),

-- Job numbers start again after some millions: rows are of one job where it was submitted at the same time.
-- The times that slave tasks were submitted at differ, so theirs is the last job submitted before they started.
submission as (
    select
        usage.*,
        coalesce(
            max(submitted) filter (where not is_slave) over (
                partition by job_number, task_number
                order by case when is_slave then coalesce(started, ended) else coalesce(submitted, started, ended) end
            ),
            min(submitted) filter (where not is_slave) over (partition by job_number, task_number)
        ) as job_submitted
    from usage
    semi join recurring using (job_number, task_number)
),

attempt as (
    select
        *,
        row_number() over job as place,
        coalesce(
            min(started) filter (where is_interim and not is_slave) over (
                partition by job_number, task_number, job_submitted
            ),
            first_value(started) over job
        ) as job_started,
        -- Attempts that ran, each once.
        not is_slave and not is_interim and ended > started and row_number() over (
            partition by job_number, task_number, job_submitted, is_slave, started
            order by ended desc, file_no desc, line desc
        ) = 1 as is_run
    from submission
    window job as (
        partition by job_number, task_number, job_submitted
        order by is_slave, ended desc nulls last, started desc nulls last, file_no desc, line desc
    )
),

-- What becomes of the last attempt becomes of the job; slave tasks that ran meanwhile add to what it used.
-- Sums of fractions depend on their order, which is not to be that in which threads have done their part.
folded as (
    select
        any_value(attempt) filter (where place = 1) as last,
        count(*) as rows,
        any_value(job_started) as started,
        count(*) filter (where is_run) as runs,
        min(started) filter (where is_run) as first_started,
        string_agg(
            concat_ws(
                '/',
                cast((started - job_submitted) / 1000 as bigint),
                cast((ended - started) / 1000 as bigint),
                '',
                coalesce(cast(slots as varchar), ''),
                '', '',
                if(place = 1, 'ended', 'requeued')
            ),
            ';' order by started
        ) filter (where is_run) as boxes,
        bool_or(is_interim) as has_interim,
        sum(cpu order by place) filter (where place = 1 or is_interim or is_slave and ended >= job_started) as cpu,
        sum(io order by place) filter (where place = 1 or is_interim or is_slave and ended >= job_started) as io,
        sum(maxrss order by place) filter (where place = 1 or is_slave and not is_interim and ended >= job_started) as maxrss,
        sum(ru_maxrss order by place) filter (where place = 1 or is_slave and not is_interim and ended >= job_started) as ru_maxrss,
        sum(maxvmem order by place) filter (where place = 1 or is_slave and not is_interim and ended >= job_started) as maxvmem
    from attempt
    group by job_number, task_number, job_submitted
),

job as (
    select *, 1 as rows
    from usage
    anti join recurring using (job_number, task_number)
    union all by name
    select
        last.* exclude (
            job_submitted, place, job_started, is_run, submitted, started, cpu, io, maxrss, ru_maxrss, maxvmem
        ),
        coalesce(last.submitted, last.job_submitted) as submitted,
        started,
        cpu,
        io,
        maxrss,
        ru_maxrss,
        maxvmem,
        rows,
        case when runs > 1 and not has_interim then first_started end as first_started,
        case when runs > 1 and not has_interim then boxes end as boxes,
        case when runs > 1 and not has_interim then runs - 1 end as earlier_runs
    from folded
),

-- What was asked for is written as options of qsub. There are few categories, and many jobs of each.
category as (
    select
        category,
        -- What is written for a colon: by the reader, by Univa, and by those who made UTF-8 of that.
        ' ' || translate(category, chr(31) || chr(173) || chr(255) || chr(65533), '::::') as asked
    from (select distinct category from source)
),

option as (
    select
        category,
        coalesce(
            nullif(regexp_extract(asked, '[ ,]h_rt=([\d:]+)', 1), ''),
            nullif(regexp_extract(asked, '[ ,]s_rt=([\d:]+)', 1), '')
        ) as duration,
        coalesce(
            nullif(regexp_extract(asked, '[ ,]h_vmem=([\d.]+[kmgtKMGT]?)', 1), ''),
            nullif(regexp_extract(asked, '[ ,]m_mem_free=([\d.]+[kmgtKMGT]?)', 1), ''),
            nullif(regexp_extract(asked, '[ ,]mem_free=([\d.]+[kmgtKMGT]?)', 1), ''),
            nullif(regexp_extract(asked, '[ ,]virtual_free=([\d.]+[kmgtKMGT]?)', 1), '')
        ) as memory,
        -- The steps of a range such as 4-16:4 are not a number of slots, and 4- has no upper bound.
        regexp_replace(regexp_extract(asked, ' -pe \S+ (\d([-\d,:]*\d)?)( |$)', 1), ':\d+', '', 'g') as slots,
        nullif(regexp_extract(asked, '[ ,]arch=([^ ,]+)', 1), '') as platform,
        -- What is asked for behind -soft need not be given.
        regexp_replace(asked, ' -soft( .*)?$', '') as hard,
        list_max([
            try_cast(number as double)
            for number in regexp_extract_all(hard, '(?i)[ ,](?:n|num_)?gpus?=(\d+(?:\.\d+)?)(?:[ ,]|$)', 1)
        ]) as gpus,
        nullif(regexp_extract(hard, '(?i)[ ,]gpu_?(?:type|model|arch)=([^ ,]+)', 1), '') as gpu_type,
        list_filter(
            string_split(array_to_string(regexp_extract_all(asked, ' -l (?:hard )?([^ ]+)', 1), ','), ','),
            lambda one: not regexp_matches(one, '^([hs]_rt|h_vmem|(m_)?mem_free|virtual_free|arch)=')
        ) as others
    from category
),

request as (
    select
        category,
        platform,
        nullif(
            list_reduce(
                [coalesce(try_cast(part as double), 0) for part in string_split(duration, ':')],
                lambda sum, part: sum * 60 + part
            ),
            0
        ) as seconds,
        try_cast(regexp_extract(memory, '^[\d.]+') as double)
        * case right(memory, 1)
            when 'k' then 1e3
            when 'm' then 1e6
            when 'g' then 1e9
            when 't' then 1e12
            when 'K' then 1024.0
            when 'M' then 1024.0 ** 2
            when 'G' then 1024.0 ** 3
            when 'T' then 1024.0 ** 4
            else 1
        end as bytes,
        list_max([try_cast(number as bigint) for number in regexp_extract_all(slots, '\d+')]) as slots,
        gpus,
        gpu_type,
        nullif(replace(array_to_string(others, ','), '=', ':'), '') as others
    from option
)

select
    job.rows,
    job.file_no,
    job.line,
    job.job_number || case when job.task_number > 0 then '.' || job.task_number else '' end as source_id,
    job.submitted / 1000 as submit_time,
    (coalesce(job.first_started, job.started) - job.submitted) / 1000 as wait_time,
    job.boxes as runs,
    job.earlier_runs as n_requeues,
    case
        when job.is_interim then null
        when job.ended is not null then (job.ended - job.started) / 1000
        when job.started is not null then nullif(greatest(job.ru_wallclock, 0), 0)
    end as run_time,
    job.started / 1000 as start_time,
    case when not job.is_interim then job.ru_wallclock end as measured_time,
    case when job.started is not null then nullif(job.slots, 0) end as n_procs,
    case when job.started is not null then job.cpu / nullif(job.slots, 0) end as average_cpu_time,
    case when job.started is not null then memory / nullif(job.slots, 0) end as used_memory,
    coalesce(
        case when request.slots < 9999999 then request.slots end,
        case when job.granted_pe = 'NONE' then 1 else nullif(job.slots, 0) end
    ) as req_n_procs,
    request.seconds as req_time,
    request.bytes / 1024 as req_memory,
    case
        when job.is_interim then null
        when job.failed = 0
            then case
                when job.started is null then null
                when job.exit_status = 0 then 1
                when job.exit_status <> 0 then 0
            end
        when job.qdel_info <> 'NONE' and job.qdel_info <> '' then 5
        when job.failed = 100 and job.exit_status in (137, 143) and getvariable('guess_cancelled') = 'yes'
            then case when job.ended - job.started >= 990 * request.seconds then 0 else 5 end
        when job.failed is not null then 0
    end as status,
    job.owner as user_id,
    job.unix_group as group_id,
    replace(job.job_name, chr(31), ':') as executable_id,
    nullif(split_part(job.qname, '@', 1), 'UNKNOWN') as queue_id,
    case when job.task_number > 0 then 'BoT' else 'UNITARY' end as job_structure,
    case when job.task_number > 0 then cast(job.job_number as varchar) end as job_structure_params,
    case when job.io > 0 then 'io_gb:' || job.io end as used_resources,
    request.platform as req_platform,
    request.others as req_resources,
    nullif(job.project, 'NONE') as project_id,
    -- Of parallel jobs it is not recorded how many hosts they had.
    case when job.started is not null and job.granted_pe = 'NONE' then 1 end as n_nodes,
    case
        when job.started is not null and (job.granted_pe = 'NONE' or job.slots = 1)
            then nullif(nullif(job.hostname, ''), 'UNKNOWN')
    end as node_list,
    case when job.started is not null then request.gpus * if(is_per_slot, nullif(job.slots, 0), 1) end as n_gpus,
    request.gpus * if(is_per_slot, req_n_procs, 1) as req_gpus,
    request.gpu_type,
    case when job.started is not null and job.exit_status between 0 and 255 then job.exit_status end as exit_code,
    case when job.started is not null then memory end as max_memory,
    [case when job.is_local then nullif(getvariable('zone_remark'), '') end] as remarks
from (
    select *, coalesce(nullif(maxrss, 0) / 1024, nullif(ru_maxrss, 0), nullif(maxvmem, 0) / 1024) as memory
    from job
) as job
left join (
    -- A part of a GPU is asked for by each slot.
    select *, coalesce(getvariable('gpus_per') = 'slot', false) or gpus % 1 > 0 as is_per_slot from request
) as request on job.category = request.category
