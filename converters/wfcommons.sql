/* ---
title = "WfCommons instances of workflows (WfFormat 1.2 to 1.5)"
files = ["wfcommons*.json", "*wfformat*.json"]
reader = "json"
scope = "trace"
contains = ['"schemaVersion"\s*:\s*"', '"workflow"\s*:\s*\{', '"(tasks|jobs)"\s*:\s*\[']
export = '''
# An instance, or a folder of them:
git clone https://github.com/wfcommons/WfInstances
gwa convert instance.json -o workflow.parquet
'''
notes = """
Source: the JSON schemas of WfFormat in wfcommons/WfFormat, and an instance of version 1.2.

Each task becomes a job. Tasks of a workflow are a bag, named by it, since GWF knows no workflows; which tasks a task had to wait
for is kept beside the jobs. Instances do not say when tasks were submitted: from version 1.5 on a task is taken as submitted when it was
executed, where that is given; else with the whole workflow; waits are missing, and with them when a task started.

Processors are the cores, rounded up, or 1 where none are stated, which is counted. CPU time is the average utilization, in percent of one core, over the run
time. Memory (KB up to version 1.4, bytes later) is the most that a task held; energy of version 1.5 is kWh. The executable is the
category of a task, else its name without what follows the last underscore. The outcome is not recorded: -O status=1
takes all as completed. Not kept: files, commands, machines, what was read and written.
"""

[accepts]
status = "1 | 0 | 5"

[header]
Computer = "workflows"

[columns]
workflow = "varchar"
made = "varchar"
executed_all = "varchar"
executed_run = "varchar"
id = "varchar"
name = "varchar"
executed = "varchar"
seconds = "double"
cores = "double"
avg_cpu = "double"
kilobytes = "double"
bytes = "double"
kilowatt_hours = "double"
category = "varchar"
parents = "varchar"

[options]
records = ["workflow.specification.tasks", "workflow.execution.tasks", "workflow.jobs", "workflow.tasks"]

[options.paths]
executed = "executedAt"
seconds = ["runtimeInSeconds", "runtime"]
cores = ["coreCount", "cores"]
avg_cpu = "avgCPU"
kilobytes = "memory"
bytes = "memoryInBytes"
kilowatt_hours = "energyInKWh"

[options.document]
workflow = "name"
made = "createdAt"
executed_all = "workflow.executedAt"
executed_run = "workflow.execution.executedAt"

[[steps]]
name = "submission unknown"
meaning = "instances say when tasks or workflows were executed, not when they were submitted: waits are missing"
sql = "select count(*) from recorded"

[[steps]]
name = "dependencies"
meaning = "which tasks a task had to wait for is kept beside the jobs"
sql = """
insert into dependencies
with task as (
    select
        source.file_no,
        concat_ws('/', workflow, made) as run,
        coalesce(id, name) as task,
        name,
        parents,
        source_ids.job_id
    from source
    inner join source_ids on concat_ws('/', workflow, coalesce(id, name)) = source_ids.source_id
)

select distinct child.job_id, parent.job_id, cast(null as double)
from (
    select
        file_no,
        run,
        job_id,
        unnest(case when json_valid(parents) then json_extract_string(parents, '$[*]') end) as parent
    from task
) as child
inner join task as parent
    on child.file_no = parent.file_no and child.run = parent.run and child.parent in (parent.task, parent.name)
where parent.job_id <> child.job_id
order by all
"""
--- */
with task as (
    select
        workflow,
        made,
        coalesce(id, name) as task,
        count(*) as rows,
        min(file_no) as file_no,
        min(line) as line,
        max(name) as name,
        max(coalesce(executed, executed_run, executed_all)) as executed,
        max(seconds) as seconds,
        max(cores) as cores,
        max(avg_cpu) as avg_cpu,
        coalesce(max(bytes) / 1024, max(kilobytes)) as kilobytes,
        max(kilowatt_hours) as kilowatt_hours,
        max(category) as category
    from source
    group by workflow, made, coalesce(id, name), case when coalesce(id, name) is null then line end
),

timed as (
    select
        *,
        coalesce(
            epoch(try_strptime(executed, '%Y%m%dT%H%M%S%z')),
            epoch(try_cast(executed as timestamptz))
        ) as submit,
        greatest(ceil(cores), 1) as procs
    from task
)

select
    rows,
    file_no,
    line,
    concat_ws('/', workflow, task) as source_id,
    submit as submit_time,
    nullif(seconds, -1) as run_time,
    procs as n_procs,
    procs as req_n_procs,
    avg_cpu / 100 * seconds / procs as average_cpu_time,
    getvariable('status')::integer as status,
    coalesce(category, regexp_extract(name, '^(.+)_[^_]*$', 1), name) as executable_id,
    case when workflow is null then 'UNITARY' else 'BoT' end as job_structure,
    workflow as job_structure_params,
    kilowatt_hours * 3.6e6 as energy,
    kilobytes as max_memory,
    case
        when task is null then 'is not a task: its id and its name are missing'
        when seconds is null and submit is null then 'is not a task that was executed'
    end as reject,
    [if(cores is null, 'no processors: 1 was assumed', null)] as remarks
from timed
