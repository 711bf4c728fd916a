/* ---
title = "Nextflow: the trace file of a workflow (trace.txt)"
files = ["*trace*.txt", "*trace*.tsv", "*trace*.csv"]
scope = "trace"
joined_by = "task"
reader = "table"
missing = ["", "-", "null"]
contains = [
    '\A\ufeff?"?(?:(?:task_id|hash|native_id|process|module|container|tag|name|status|exit|submit|start|complete|duration|realtime|%cpu|%mem|rss|vmem|peak_rss|peak_vmem|rchar|wchar|syscr|syscw|read_bytes|write_bytes|attempt|workdir|script|scratch|queue|cpus|memory|disk|time|env|error_action|vol_ctxt|inv_ctxt|hostname|cpu_model|accelerator|accelerator_type|num_interruptions)(?:"?[\t,;|]"?|"?\r?\n))+(?<=\n)',
    '\A[^\n]*\b(?:realtime|complete)\b',
    '\A[^\n]*(?:\b(?:native_id|workdir|error_action|peak_rss|rchar)|%cpu)\b|[\t,;|]"?CACHED"?[\t,;|\r\n]',
]
export = '''
# In nextflow.config: trace.fields = 'task_id,hash,native_id,process,name,status,exit,submit,start,complete,duration,realtime,cpus,time,memory,%cpu,peak_rss,queue,attempt'
nextflow run PIPELINE -with-trace trace.txt
'''
notes = """
Source: the page "Reports" of Nextflow's documentation, and TraceRecord.groovy of nextflow-io/nextflow, which formats the
fields. A row is a task; a task that was tried again has a row for each attempt.

A task runs for its realtime. It starts at start; where that field was not chosen, as it is not by default, the wait is
duration less realtime, since duration counts from the submission. Times are local ones of the machine that ran Nextflow;
with trace.raw = true they are milliseconds, and memory bytes. Amounts such as 8 GB are powers of 1024.
Processors are cpus, those requested, which the task has for itself. That field is not chosen by default, either: processors are
unknown then, unless -O cpus=4 states those of all tasks, and with them the CPU time, which is %cpu of realtime.
COMPLETED is completed, FAILED failed, ABORTED cancelled. A CACHED task did not run again: its row, which
repeats what it took in an earlier run, is refused. Memory used is peak_rss, else rss; the requested one is memory, and
the requested time is time. The executable is the process, or the name without the tag in brackets. Users are not recorded.
"""

[accepts]
cpus = "a number"

[constants]
job_structure = "UNITARY"

[options.names]
task = "task_id"
cpu_use = "%cpu"

[columns]
task = "varchar"
hash = "varchar"
native_id = "varchar"
process = "varchar"
name = "varchar"
status = "varchar"
exit = "varchar"
submit = "varchar"
start = "varchar"
complete = "varchar"
duration = "varchar"
realtime = "varchar"
cpus = "varchar"
time = "varchar"
memory = "varchar"
cpu_use = "varchar"
rss = "varchar"
peak_rss = "varchar"
queue = "varchar"
accelerator = "varchar"
accelerator_type = "varchar"

[functions]
"part(x, unit)" = '''
coalesce(try_cast(regexp_extract(x, '(?:^| )(\d+(?:\.\d+)?)' || unit || '(?: |$)', 1) as double), 0)
'''
"seconds(x)" = '''
case
    when regexp_full_match(x, '\d+(\.\d+)?') then try_cast(x as double) / 1000
    when regexp_full_match(x, '(\d+(\.\d+)?(ms|[dhms])( |$))+')
        then part(x, 'd') * 86400 + part(x, 'h') * 3600 + part(x, 'm') * 60 + part(x, 's') + part(x, 'ms') / 1000
end
'''
"moment(x)" = '''
case
    when regexp_full_match(x, '\d+') then try_cast(x as double) / 1000
    else local_seconds(try_cast(x as timestamp))
end
'''
"kilobytes(x)" = '''
try_cast(regexp_extract(x, '^([\d.]+) ?[KMGTPE]?B?$', 1) as double)
* 1024.0 ** (strpos('BKMGTPE', coalesce(nullif(regexp_extract(x, '^[\d.]+ ?([KMGTPE])B?$', 1), ''), 'B')) - 2)
'''
--- */
with timed as (
    select
        *,
        moment(submit) as submitted,
        seconds(realtime) as ran,
        coalesce(
            moment(start),
            moment(submit) + case when seconds(duration) < seconds(realtime) then 0 else seconds(duration) - seconds(realtime) end,
            moment(complete) - seconds(realtime)
        ) as started,
        moment(complete) as ended,
        ceil(coalesce(try_cast(cpus as double), try_cast(getvariable('cpus') as double))) as procs,
        list_filter(
            [
                {'name': 'submit', 'text': submit, 'time': moment(submit)},
                {'name': 'start', 'text': start, 'time': moment(start)},
                {'name': 'complete', 'text': complete, 'time': moment(complete)}
            ],
            lambda x: x.text is not null and x.time is null
        )[1] as odd
    from source
)

select
    1 as rows,
    file_no,
    line,
    coalesce(task, hash, native_id) as source_id,
    coalesce(submitted, started) as submit_time,
    case when submitted is not null then started - submitted end as wait_time,
    coalesce(ran, ended - started) as run_time,
    started as start_time,
    ran as measured_time,
    case when started is not null then procs end as n_procs,
    procs as req_n_procs,
    case
        when started is not null then try_cast(rtrim(cpu_use, '%') as double) / 100 * ran / nullif(procs, 0)
    end as average_cpu_time,
    case when started is not null then nullif(kilobytes(coalesce(peak_rss, rss)), 0) end as max_memory,
    case when started is not null then nullif(kilobytes(coalesce(peak_rss, rss)), 0) end / nullif(procs, 0) as used_memory,
    kilobytes(memory) / nullif(procs, 0) as req_memory,
    nullif(seconds("time"), 0) as req_time,
    case timed.status when 'COMPLETED' then 1 when 'FAILED' then 0 when 'ABORTED' then 5 end as status,
    coalesce(process, nullif(regexp_replace(name, ' \(.*\)$', ''), '')) as executable_id,
    queue as queue_id,
    case when started is not null then try_cast(accelerator as double) end as n_gpus,
    try_cast(accelerator as double) as req_gpus,
    accelerator_type as gpu_type,
    timed.status as state,
    try_cast(exit as bigint) as exit_code,
    case
        when timed.status = 'CACHED' then 'was taken from the cache: it did not run again'
        when timed.status not in ('NEW', 'SUBMITTED', 'RUNNING', 'COMPLETED', 'FAILED', 'ABORTED')
            then 'status is ''' || timed.status[:40] || ''', expected one of Nextflow, such as COMPLETED'
        when odd is not null then odd.name || ' is ''' || odd.text[:40] || ''', expected a time'
        when coalesce(submit, start, complete) is null then 'it has no time'
    end as reject,
    [
        case
            when not regexp_full_match(coalesce(submit, start, complete), '\d+') then nullif(getvariable('zone_remark'), '')
        end,
        case
            when procs is null and started is not null
                then 'no processors: the field cpus was not chosen; -O cpus=4, say, states those of all tasks'
        end
    ] as remarks
from timed
