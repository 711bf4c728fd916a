/* ---
title = "PBS, OpenPBS and Torque accounting"
files = ["20[0-9][0-9][01][0-9][0-3][0-9]", "*.pbs", "*.torque"]
reader = "keyed"
scope = "trace"
joined_by = "regexp_extract(id, '^[0-9]+')"
first = '^\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;[A-Za-z];'
contains = ['^\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;[A-Za-z];\d[^;\n]*;([^\n]* )?(queue|user|ctime)=', '\A(?!(?:.*\n)*?[\d/]{10} [\d:]{8};E;[^;\n]*;\w[\w.]*=[^;\n]*;)']
export = '''
# On the server: a file for each day. The first is of OpenPBS and PBS Pro, the second of Torque:
cat /var/spool/pbs/server_priv/accounting/2025* > 2025.pbs
cat /var/spool/torque/server_priv/accounting/2025* > 2025.pbs
'''
notes = """
Sources: the acct.h and accounting.c of OpenPBS, the Torque administrator's guide, Open XDMoD's samples.
Records of one job are joined by its id; ids begin again when a server is set up again, so that jobs of one
id are told apart by ctime. The last E record is what became of a job; without one it is the last S record,
and the job has no run time and no status but for what D and A say. All other records of a job are folded;
records of licences, reservations and provisioning count as comments.
Times: submission is ctime, since manuals disagree on qtime and etime; else the stamp of the Q record.
Inner times are Unix times, stamps are local time: say the zone in a system file.
Run time is end - start, else resources_used.walltime, of the last run. A job that was run again (R records, or a
run_count above 1) waited until its first start, and lists its runs; what a run without a record of its end held is
unknown. Where run_count is more than the runs in the log, the others are counted, and the wait is unknown. A job whose last
run was followed by R alone waits again: it holds nothing then.
Processors: those in exec_host (node/0, node/0-7, node/0,2, node/0*8), else resources_used.ncpus, else those
asked for: the chunks of select or nodes, else procs, else ncpus. On a Cray they are mppwidth * mppdepth, before
all others: its exec_host is the login node.
Memory: a size without a unit is in bytes, as in pbs_resources(7); w is words of 8 bytes. What is asked for is
pmem, else mem by processor.
Status: exit status 0 is completed; any other, also 271 (killed by TERM) and what is negative (Torque's own
failures), is cancelled where a D record says so, of the job or its whole array, and has failed elsewhere. A D
after the end only removes what is remembered of the job, unless TERM or KILL ended it. D without E is cancelled, A without E has failed. An E
without a start (the whole of an array) and without a run time or CPU time did not run.
A task of an array, 12[3] or 12-3, is a job in the bag 12. The array itself, 12[], is a job only as long as
none of its tasks is in the log; what they held is unknown then, and this is counted.
A line without a record is the rest of the one before, if there are pairs in it.
Partition is the server. Project is account, else project. GPUs asked for are Resource_List.ngpus, gpus or gpu,
or the sum over the chunks of select or nodes where that is more or stands alone: the two are never added. A job
has those that exec_vnode or exec_gpus says, else as many as it asked for. Their type is gpu_type or gpu_model, as
sites name it. Nodes are the hosts in exec_host, else nodect; on a Cray mppwidth / mppnppn. A job could start from
etime on; eligible_time, how long it waited since, is not used. The exit code of a job that signal n ended is
128 + n; what is negative is not an exit code. The peak of memory is resources_used.mem. Energy is
resources_used.energy, in kWh; 0 means not measured. The nodes of the last run (node_list) are the hosts of exec_host with their
processors, else those of exec_vnode; a host is named once for its vnodes n1[0], n1[1].
"""

[options]
# The names of groups are never quoted, and may have blanks, as those of Active Directory.
spaced = ["group_", "account", "project"]
record = '(?P<stamp>\d\d/\d\d/\d{4} \d\d:\d\d:\d\d);(?P<kind>[A-Za-z]);(?P<id>[^;]*);'
remark = '.{19};[LBUYFKkf];'

[columns]
place = "bigint"
stamp = "varchar"
kind = "varchar"
id = "varchar"
user_ = "varchar"
group_ = "varchar"
jobname = "varchar"
queue = "varchar"
account = "varchar"
project = "varchar"
ctime = "varchar"
qtime = "varchar"
etime = "varchar"
start_ = "varchar"
end_ = "varchar"
exec_host = "varchar"
exec_vnode = "varchar"
exec_gpus = "varchar"
exit_status = "bigint"
run_count = "bigint"
job_state = "varchar"
substate = "bigint"
resource_list_select = "varchar"
resource_list_nodes = "varchar"
resource_list_nodect = "bigint"
resource_list_procs = "bigint"
resource_list_ncpus = "bigint"
resource_list_mppwidth = "bigint"
resource_list_mppdepth = "bigint"
resource_list_mppnppn = "bigint"
resource_list_walltime = "varchar"
resource_list_mem = "varchar"
resource_list_pmem = "varchar"
resource_list_arch = "varchar"
resource_list_ngpus = "varchar"
resource_list_gpus = "varchar"
resource_list_gpu = "varchar"
resource_list_gpu_type = "varchar"
resource_list_gpu_model = "varchar"
resource_list_qos = "varchar"
resources_used_cput = "varchar"
resources_used_walltime = "varchar"
resources_used_mem = "varchar"
resources_used_ncpus = "bigint"
resources_used_energy = "double"

[functions]
# In Unix seconds: records have them so, but what qstat prints, without a stamp, are local times.
"time_of(x)" = '''
nullif(
    coalesce(
        try_cast(x as double),
        local_seconds(try_strptime(regexp_replace(x, ' +', ' ', 'g'), '%a %b %d %H:%M:%S %Y'))
    ),
    0
)
'''
"moment(stamp)" = "local_seconds(try_strptime(stamp, '%m/%d/%Y %H:%M:%S'))"
"seconds_of(duration)" = '''
list_reduce(
    [try_cast(part as double) for part in string_split(duration, ':')], lambda sum, part: sum * 60 + part
)
'''
"kilobytes(size)" = '''
try_cast(regexp_extract(size, '^[\d.]+') as double)
* 1024.0 ** (strpos('bkmgtp', coalesce(nullif(regexp_extract(lower(size), '[kmgtp]'), ''), 'b')) - 2)
* case when size ilike '%w' then 8 else 1 end
'''
# A host of a job is one of node/0, node/0-7, node/0,2, and node/0*8.
"hosts_of(list)" = "string_split(nullif(list, ''), '+')"
"span_of(cpus)" = '''
coalesce(try_cast(split_part(cpus, '-', 2) as double) - try_cast(split_part(cpus, '-', 1) as double) + 1, 1)
'''
# Most jobs have one host, of which no list is made.
"cpus_of(place)" = '''
case
    when contains(place, '*') then try_cast(split_part(place, '*', 2) as double)
    when not contains(place, ',') then span_of(place)
    else list_sum([span_of(cpus) for cpus in string_split(place, ',')])
end
'''
"number_of_hosts(list)" = '''
case
    when not contains(nullif(list, ''), '+') then 1
    else list_unique([split_part(host, '/', 1) for host in hosts_of(list)])
end
'''
# Each host with the processors that the job held of it; in Torque each of these has a place of its own.
"listed_hosts(list)" = '''
case
    when number_of_hosts(list) = 1 then split_part(list, '/', 1)
    when not regexp_matches(list, '[*,]|/\d+-') then array_to_string(
        list_transform(
            map_entries(list_aggregate([split_part(host, '/', 1) for host in hosts_of(list)], 'histogram')),
            lambda one: one.key || '*' || one.value
        ),
        ','
    )
    else array_to_string(
        [
            split_part(host, '/', 1) || '*' || cast(cpus_of(split_part(host, '/', -1)) as bigint)
            for host in hosts_of(list)
        ],
        ','
    )
end
'''
# The vnodes n1[0] and n1[1] are parts of the host n1.
"listed_vnodes(list)" = '''
array_to_string(
    [
        regexp_extract(vnode, '^([^:[]+)', 1)
        || coalesce('*' || nullif(nullif(regexp_extract(vnode, ':ncpus=(\d+)', 1), ''), '0'), '')
        for vnode in string_split(translate(list, '()', ''), '+')
    ],
    ','
)
'''
# A chunk of a request is 2:ncpus=8 in PBS Pro, 2:ppn=8 in Torque, or a node; GPUs of it are ngpus=2, in Torque gpus=2.
"times(chunk)" = "coalesce(try_cast(regexp_extract(chunk, '^(\\d+)(:|$)', 1) as double), 1)"
"cpus_of_chunk(chunk)" = '''
times(chunk) * coalesce(try_cast(regexp_extract(chunk, ':(ncpus|ppn)=(\d+)', 2) as double), 1)
'''

# Runs of jobs that were run again, each from its start to its end; of those with no record of an end it is unknown.
[beforehand.rerun]
when = "select coalesce(bool_or(kind = 'R' or run_count > 1), false) from source"
columns = { job = "varchar", submitted = "double", listed = "bigint", first_start = "double", boxes = "varchar", waits = "boolean" }
select = '''
with run as (
    select
        id,
        coalesce(time_of(ctime), time_of(qtime)) as submitted,
        time_of(start_) as started,
        max(coalesce(time_of(end_), moment(stamp))) filter (where kind in ('R', 'E')) as ended,
        coalesce(max(kind) filter (where kind in ('R', 'E')), 'S') as kind
    from source
    semi join (select id from source where kind = 'R' or run_count > 1) as again on source.id = again.id
    where kind in ('S', 'R', 'E') and time_of(start_) is not null
    group by all
)

select
    id,
    submitted,
    count(*),
    min(started),
    string_agg(
        concat_ws(
            '/',
            cast(started - submitted as bigint),
            coalesce(cast(cast(ended - started as bigint) as varchar), ''),
            '', '', '', '',
            case kind when 'R' then 'requeued' when 'E' then 'ended' else 'running' end
        ),
        ';' order by started
    ) filter (where ended > started or ended is null and is_last),
    -- The job waited again, or was deleted then.
    max(kind) filter (where is_last) = 'R' as waits
from (select *, row_number() over (partition by id, submitted order by started desc) = 1 as is_last from run)
where submitted is not null
group by id, submitted
having count(*) > 1 or waits
'''

[from_header]
orig_site_id = "Installation"
last_run_site_id = "Installation"
--- */
with said as not materialized (
    select
        * exclude (kind, user_, ctime, qtime, etime, start_, end_),
        coalesce(time_of(source.ctime), time_of(source.qtime)) as ctime,
        time_of(source.qtime) as qtime,
        time_of(source.etime) as etime,
        time_of(source.start_) as start_,
        time_of(source.end_) as end_,
        case when stamp is null then split_part(user_, '@', 1) else user_ end as user_,
        -- Which record tells as much as qstat does. What has not started dies of a signal by deletion only.
        case
            when stamp is not null then kind
            when job_state not in ('F', 'X', 'C') or coalesce(job_state, end_, exit_status::varchar) is null
                then case when start_ is null then 'Q' else 'S' end
            when
                start_ is not null
                or exit_status = 0
                or seconds_of(resources_used_walltime) > 0
                or seconds_of(resources_used_cput) > 0
                then 'E'
            when exit_status < 0 or exit_status between 1 and 255 then 'A'
            else 'D'
        end as kind
    from source
),

event as not materialized (
    select
        file_no,
        line,
        place,
        id,
        kind,
        ctime as created,
        qtime as queued,
        coalesce(end_, start_) as changed,
        moment(stamp) as written,
        run_count,
        queue,
        user_,
        group_,
        -- 12[3] is a task of the array 12[], and 12-3 was one of the array 12 in old versions of Torque.
        case
            when contains(id, '[') or contains(id, '-')
                then nullif(regexp_extract(id, '^(\d+)(\[\d*\]|-\d+)(\.|$)', 1), '')
        end as array_number,
        case when array_number is not null then regexp_extract(id, '\..*$') end as server,
        contains(id, '[]') as is_array,
        kind = 'D' or coalesce(substate = 91, false) as deletes
    from said
),

array_job as (
    select
        array_number,
        server,
        min(id) filter (where not is_array) as first_task,
        bool_or(is_array and deletes) as is_deleted,
        min(written) filter (where is_array and deletes) as deleted_at
    from event
    where array_number is not null
    group by all
),

-- An array is not a job beside its tasks: what is said of it as a whole goes to the first of them.
located as not materialized (
    select
        event.* exclude (deletes),
        case
            when event.is_array then coalesce(array_job.first_task, event.id)
            -- Records of no job are refused one by one.
            when event.id = '' then concat_ws(';', event.file_no, event.line, event.place)
            else event.id
        end as job,
        event.is_array and array_job.first_task is not null as is_whole,
        event.deletes or coalesce(array_job.is_deleted, false) as deletes,
        -- What qstat tells has no stamp.
        case when event.deletes then event.written end as own_deletion,
        least(own_deletion, array_job.deleted_at) as deletion
    from event
    left join array_job on event.array_number = array_job.array_number and event.server = array_job.server
),

reborn as (
    select job from located where created is not null group by job having min(created) < max(created)
),

creation as (
    select job, list_sort(list(distinct created)) as times
    from located
    semi join reborn on located.job = reborn.job
    where created is not null
    group by job
),

-- A server that was set up again begins with number 1 again: jobs of one number differ by their creation.
dated as not materialized (
    select
        located.*,
        coalesce(
            -- The stamps are of local time, and the zone need not be known.
            list_max(list_filter(
                creation.times, lambda time: time <= coalesce(located.created, located.written + 86400)
            )),
            creation.times[1]
        ) as job_created
    from located
    left join creation on located.job = creation.job
),

-- The last end of a job is what became of it, or its last start where the log has no end.
folded as (
    select
        job,
        max({
            'rank': case when is_whole then 0 when kind = 'E' then 3 when kind = 'S' then 2 else 1 end,
            'time': coalesce(changed, written, 0),
            'run': coalesce(run_count, 0),
            'file_no': file_no,
            'line': line,
            'place': place
        }) as last,
        count(*) as rows,
        coalesce(job_created, min(created), min(queued), min(written) filter (where kind = 'Q')) as created,
        coalesce(job_created, min(created), min(queued)) is null as is_created_by_stamp,
        bool_or(deletes) as is_deleted,
        coalesce(min(deletion) > max(written) filter (where kind = 'E' and not is_whole), false) as is_deleted_late,
        bool_or(kind = 'A') as is_aborted,
        min_by(queue, (written, file_no, line, place)) filter (where written is not null) as first_queue,
        min_by(user_, (written, file_no, line, place)) filter (where written is not null) as first_user,
        min_by(group_, (written, file_no, line, place)) filter (where written is not null) as first_group,
        any_value(array_number) as array_number
    from dated
    group by job, job_created
),

measured as (
    select
        said.*,
        folded.* exclude (last),
        -- Some of the tasks of an array began then, and how many, or what they held, it does not say.
        contains(folded.job, '[]') as is_array,
        case when not is_array then said.start_ end as started,
        case when said.kind = 'E' then coalesce(said.end_, moment(said.stamp)) end as end_time,
        nullif(number_of_hosts(said.exec_host), 0) as hosts,
        nullif(
            case
                when hosts = 1 and not contains(said.exec_host, '+') then cpus_of(split_part(said.exec_host, '/', -1))
                else list_sum([cpus_of(split_part(host, '/', -1)) for host in hosts_of(said.exec_host)])
            end,
            0
        ) as host_cpus,
        coalesce(said.resource_list_select, said.resource_list_nodes) as chunks,
        case
            when not contains(chunks, '+') then cpus_of_chunk(chunks)
            else list_sum([cpus_of_chunk(chunk) for chunk in string_split(chunks, '+')])
        end as chunk_cpus,
        list_sum([
            try_cast(gpus as double) for gpus in regexp_extract_all(said.exec_vnode, ':ngpus=([\d.]+)', 1)
        ]) as vnode_gpus,
        len(hosts_of(said.exec_gpus)) as listed_gpus,
        try_cast(
            regexp_extract(
                coalesce(said.resource_list_ngpus, said.resource_list_gpus, said.resource_list_gpu), '^[\d.]+'
            ) as double
        ) as total_gpus,
        -- The total is the sum of what chunks ask for, and not added to it.
        case
            when contains(chunks, 'gpus=') then list_sum([
                times(chunk) * try_cast(regexp_extract(chunk, ':n?gpus=(\d+)', 1) as double)
                for chunk in string_split(chunks, '+')
            ])
        end as chunk_gpus,
        seconds_of(said.resources_used_walltime) as walltime,
        nullif(kilobytes(said.resources_used_mem), 0) as used_kilobytes
    from folded
    join said
        on
            folded.last.file_no = said.file_no
            and folded.last.line = said.line
            and folded.last.place = said.place
),

sized as (
    select
        measured.*,
        rerun.* exclude (job, submitted),
        coalesce(waits, false) as is_queued,
        kind = 'E' as has_ended,
        nullif(resource_list_mppwidth, 0) * coalesce(nullif(resource_list_mppdepth, 0), 1) as cray_cpus,
        coalesce(cray_cpus, chunk_cpus, resource_list_procs, resource_list_ncpus) as asked_cpus,
        case when cray_cpus is not null then ceil(resource_list_mppwidth / nullif(resource_list_mppnppn, 0)) end
            as cray_nodes,
        greatest(total_gpus, chunk_gpus) as asked_gpus,
        kind in ('E', 'S')
        and not is_queued
        and not is_array
        and (started is not null or kind = 'E' and (walltime > 0 or seconds_of(resources_used_cput) > 0)) as has_run,
        coalesce(
            cray_cpus, host_cpus, resources_used_ncpus, chunk_cpus, resource_list_procs, resource_list_ncpus
        ) as cpus,
        case
            when is_array then null
            when has_ended and stamp is null then coalesce(walltime, end_time - started)
            when has_ended and started is not null then coalesce(end_time - started, walltime)
            when has_ended then walltime
        end as ran,
        coalesce(has_run and started > created and run_count > coalesce(listed, 1), false) as is_partial
    from measured
    left join rerun on measured.job = rerun.job and measured.created = rerun.submitted
)

select
    rows,
    file_no,
    line,
    case when id = '' then 'no number of a job' end as reject,
    sized.job as source_id,
    created as submit_time,
    -- When the first of several runs began, a log that lacks it does not say.
    case when not is_partial then coalesce(first_start, started) - created end as wait_time,
    case
        -- Of a job that waits again there is no last run, whose processors its boxes would have.
        when is_queued then replace(boxes, '////', concat('//', cpus::bigint, '//'))
        when is_partial then coalesce(
            boxes,
            concat(
                cast(started - created as bigint), '/', case when ran >= 0 then cast(ran as bigint) end, '/////',
                case when has_ended then 'ended' else 'running' end
            )
        )
        else boxes
    end as runs,
    case when is_partial then run_count else listed end - case when is_queued then 0 else 1 end as n_requeues,
    ran as run_time,
    started as start_time,
    case when has_ended and not is_array then walltime end as measured_time,
    case when has_run then cpus end as n_procs,
    case when has_ended then seconds_of(resources_used_cput) / nullif(cpus, 0) end as average_cpu_time,
    case when has_ended then used_kilobytes / nullif(cpus, 0) end as used_memory,
    asked_cpus as req_n_procs,
    seconds_of(resource_list_walltime) as req_time,
    coalesce(
        nullif(kilobytes(resource_list_pmem), 0), nullif(kilobytes(resource_list_mem), 0) / nullif(asked_cpus, 0)
    ) as req_memory,
    case
        when has_ended and exit_status = 0 then 1
        -- What was deleted after its end was a job no more, unless it was ended as qdel does.
        when has_ended and exit_status <> 0
            then case
                when is_deleted and (not is_deleted_late or exit_status in (137, 143, 265, 271)) then 5
                else 0
            end
        when has_ended then null
        when is_deleted then 5
        when is_aborted then 0
    end as status,
    coalesce(user_, first_user) as user_id,
    coalesce(group_, first_group) as group_id,
    jobname as executable_id,
    coalesce(queue, first_queue) as queue_id,
    nullif(substr(regexp_extract(id, '\..*$'), 2), '') as partition_id,
    case when array_number is null then 'UNITARY' else 'BoT' end as job_structure,
    array_number as job_structure_params,
    resource_list_arch as req_platform,
    'gpus:' || coalesce(resource_list_ngpus, resource_list_gpus, resource_list_gpu) as req_resources,
    coalesce(account, nullif(project, '_pbs_project_default')) as project_id,
    case
        when has_run and cray_cpus is not null then cray_nodes
        when has_run then coalesce(hosts, nullif(resource_list_nodect, 0))
    end as n_nodes,
    case when has_run then coalesce(vnode_gpus, listed_gpus, asked_gpus) end as n_gpus,
    asked_gpus as req_gpus,
    coalesce(
        resource_list_gpu_type,
        resource_list_gpu_model,
        case
            when contains(chunks, 'gpu') then nullif(
                array_to_string(
                    list_sort(
                        list_distinct(
                            regexp_extract_all(chunks, ':(?:gpu_type|gpu_model|gputype|gpumodel)=([^:+]+)', 1)
                        )
                    ),
                    ','
                ),
                ''
            )
        end
    ) as gpu_type,
    -- PBS on a Cray measures in kWh.
    case when has_ended then 3600000 * nullif(resources_used_energy, 0) end as energy,
    case
        when has_run and cray_cpus is null
            then coalesce(listed_hosts(nullif(exec_host, '')), listed_vnodes(nullif(exec_vnode, '')))
    end as node_list,
    etime as eligible_time,
    resource_list_qos as qos,
    job_state as state,
    case
        when has_ended and exit_status between 257 and 511 then exit_status - 128
        when has_ended and exit_status between 0 and 255 then exit_status
    end as exit_code,
    case when has_ended then used_kilobytes end as max_memory,
    [
        case
            when (is_created_by_stamp or stamp is null) and created is not null then nullif(getvariable('zone_remark'), '')
        end,
        case
            when is_array and start_ is not null
                then 'tasks of an array: an array ran whose tasks are not listed: what they held is unknown; qstat lists them with -t'
        end
    ] as remarks
from sized
