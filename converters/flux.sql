/* ---
title = "Flux: flux jobs --json"
files = ["*.json"]
reader = "json"
contains = ['"t_submit"\s*:\s*[0-9.]', '"(t_depend|t_run|t_cleanup|t_inactive)"\s*:\s*[0-9.]', '"state"\s*:\s*("(NEW|DEPEND|PRIORITY|SCHED|RUN|CLEANUP|INACTIVE)"|\d)']
export = '''
# Without -c 0 it stops at 1,000 jobs, without -A it has your own only:
flux jobs -A -a -c 0 --json > jobs.json
'''
notes = """
Sources: info.py in the Python bindings of flux-core (what a job is as JSON), flux-jobs(1), and RFC 21 (states).
What is not set is left out of the JSON. Times are Unix seconds. A job waits from its submission to RUN and
runs from there to CLEANUP; one that has not reached CLEANUP has no run time yet, whatever "runtime" says.
It could start from SCHED on: then its dependencies were met and its priority was set. Processors are ncores;
where only tasks are known they are missing, since a task may have several cores. Requested time is duration,
of which 0 is none. The project is the bank, else the project. COMPLETED is completed; FAILED and TIMEOUT are
failed, CANCELED is cancelled. A return code of -n is a signal: 128 + n; -128 says that the job never ran.
The id is the decimal one, else that in base 58. Jobs within a job (--recursive) run on its cores and are not
read. Memory, CPU time and GPUs are not in this output.
"""

[options]
records = ["jobs"]

[options.paths]
submitted = "t_submit"
eligible = "t_sched"
started = "t_run"
ended = "t_cleanup"

[columns]
id = "varchar"
jobid = "varchar"
submitted = "double"
eligible = "double"
started = "double"
ended = "double"
duration = "double"
name = "varchar"
queue = "varchar"
project = "varchar"
bank = "varchar"
ncores = "bigint"
nnodes = "bigint"
userid = "varchar"
username = "varchar"
state = "varchar"
result = "varchar"
returncode = "bigint"
--- */
select
    coalesce(id, jobid) as source_id,
    submitted as submit_time,
    started - submitted as wait_time,
    ended - started as run_time,
    started as start_time,
    case when started is not null then ncores end as n_procs,
    ncores as req_n_procs,
    nullif(duration, 0) as req_time,
    case result when 'COMPLETED' then 1 when 'FAILED' then 0 when 'TIMEOUT' then 0 when 'CANCELED' then 5 end as status,
    coalesce(username, userid) as user_id,
    name as executable_id,
    queue as queue_id,
    coalesce(bank, project) as project_id,
    'UNITARY' as job_structure,
    case when started is not null then nnodes end as n_nodes,
    eligible as eligible_time,
    coalesce(result, state) as state,
    case
        when started is not null and ended is not null and returncode <> -128
            then if(returncode < 0, 128 - returncode, returncode)
    end as exit_code
-- What has not happened is left out, or was 0 in old versions.
from (select * replace (nullif(started, 0) as started, nullif(ended, 0) as ended) from source) as source
