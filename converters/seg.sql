/* ---
title = "Globus scheduler event generator (SEG)"
files = ["*.seg", "globus-*[0-9]"]
scope = "trace"
joined_by = "id"
delimiter = ";"
comment = "#"
first = '^001;\d+;[^;]+;\d+;-?\d+\s*$'
export = '''
# On the host of the scheduler event generator, a file for each day:
cat /var/lib/globus/globus-seg-pbs/* > pbs.seg
'''
notes = """
Source: the protocol of Globus' scheduler event generator: lines 001;time;job id;state;exit code, the times in
Unix seconds. States are those of GRAM: 1 pending, 2 active, 4 failed, 8 done, 16 suspended, 32 unsubmitted, 64
staging in, 128 staging out. The events of a job id are one job: submitted at the first 1, 32 or 64, started at
the first 2, ended at the last 4 or 8. Done with exit code 0 is completed, failed or any other exit code is
failed; a job whose end is not in the log is unknown. The exit code is that of 8; the state is DONE or FAILED. Who submitted a job and on how many processors it
ran is not recorded.
"""

[columns]
kind = "varchar"
stamp = "double"
id = "varchar"
state = "bigint"
exit_code = "bigint"

[constants]
job_structure = "UNITARY"
--- */
with job as (
    select
        id,
        count(*) as rows,
        min(file_no) as file_no,
        arg_min(line, (file_no, line)) as line,
        min(stamp) filter (where state in (1, 32, 64)) as submitted,
        min(stamp) filter (where state = 2) as started,
        max(stamp) filter (where state in (4, 8)) as ended,
        arg_max(if(state = 8 and exit_code = 0, 1, 0), (stamp, file_no, line)) filter (where state in (4, 8)) as status,
        arg_max(exit_code, (stamp, file_no, line)) filter (where state in (4, 8)) as last_code,
        arg_max(if(state = 8, 'DONE', 'FAILED'), (stamp, file_no, line)) filter (where state in (4, 8)) as last_state
    from source
    where kind = '001'
    group by id
)

select
    file_no,
    line,
    rows,
    id as source_id,
    coalesce(submitted, started, ended) as submit_time,
    case when submitted is not null then started - submitted end as wait_time,
    ended - started as run_time,
    started as start_time,
    status,
    -- A job manager that failed writes an error of its own as the exit code.
    case when last_state = 'DONE' and last_code >= 0 then last_code end as exit_code,
    last_state as state,
    null as reject
from job
union all by name
select file_no, line, 1 as rows, 'message type ''' || kind[:20] || ''', expected 001' as reject
from source
where kind is distinct from '001'
