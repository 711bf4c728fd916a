/* ---
title = "Slurm job completion as text: jobcomp/filetxt"
files = ["*jobcomp*.log", "*jobcomp*.txt", "*jobcomp"]
reader = "whole_lines"
select = "slurm"
first = '^JobId=\d+ UserId=.*? JobState=\S+ .* ProcCnt=\d+ '
export = '''
# It is the file that slurm.conf names as JobCompLoc, often this one:
scontrol show config | grep JobCompLoc
cp /var/log/slurm_jobcomp.log jobs.log
'''
notes = """
Source: Slurm's jobcomp_filetxt.c. The mapping is that of the format slurm: gwa formats slurm.
Times are local ones of the controller. A line tells of one run of a job, or of a part of it before it was
resized; there are no steps, so neither memory nor CPU time nor energy is known. The run time is from start to
end, suspension included. Lines of Slurm 17 and before have no time of submission, so no wait.
Tres is what was requested. GPUs among it are taken as allocated, too, to jobs that ran. Names and folders may
contain blanks: a value ends where the next key of the line begins.
"""

[options]
begins = '^JobId='

[columns]
text = "varchar"
--- */
with begun as (
    select
        line,
        regexp_extract(
            text,
            '^JobId=(\d+) UserId=(.*?)\((\d+)\) GroupId=(.*?)\((\d+)\) Name=(.*?) JobState=(\S+) Partition=(.*?) TimeLimit=(\S+) StartTime=(\S+) EndTime=(\S+) NodeList=(.*?) NodeCnt=(\d+) ProcCnt=(\d+) WorkDir=(.*)$',
            [
                'job', 'user', 'uid', 'group', 'gid', 'name', 'state', 'partition', 'limit', 'begun', 'ended', 'list',
                'nodes', 'procs', 'rest'
            ]
        ) as head
    from record
),

cut as (
    select
        line,
        head,
        regexp_extract(
            head.rest,
            '^.*?(?: ReservationName=(.*?))?(?: Tres=(\S*))?(?: Account=(.*?))?(?: QOS=(.*?))?(?: WcKey=(.*?))?(?: Cluster=(.*?))?(?: SubmitTime=(\S+))?(?: EligibleTime=(\S*))?((?: \w+=\d+)*?)(?: DerivedExitCode=(\S+))?(?: ExitCode=(\S+))?\s*$',
            [
                'reservation', 'tres', 'account', 'qos', 'wckey', 'cluster', 'submitted', 'eligible', 'more', 'derived',
                'code'
            ]
        ) as tail
    from begun
)

select
    line,
    case
        when regexp_matches(tail.more, ' ArrayJobId=\d+ ArrayTaskId=\d+')
            then regexp_replace(tail.more, '^.* ArrayJobId=(\d+) ArrayTaskId=(\d+).*$', '\1_\2')
        when regexp_matches(tail.more, ' HetJobId=\d+ HetJobOffset=\d+')
            then regexp_replace(tail.more, '^.* HetJobId=(\d+) HetJobOffset=(\d+).*$', '\1+\2')
        else head.job
    end as jobid,
    nullif(tail.cluster, '') as cluster,
    nullif(head.partition, '') as partition_,
    nullif(tail.account, '') as account,
    nullif(tail.wckey, '') as wckey,
    nullif(head.group, '') as group_,
    head.gid as gid,
    nullif(head.user, '') as user_,
    head.uid as uid,
    nullif(tail.submitted, '') as submit,
    nullif(tail.eligible, '') as eligible,
    head.begun as start_,
    head.ended as end_,
    nullif(tail.code, '') as exitcode,
    head.state as state,
    nullif(tail.qos, '') as qos,
    nullif(tail.reservation, '') as reservation,
    head.nodes as nnodes,
    head.procs as alloccpus,
    nullif(regexp_extract(tail.tres, '(?:^|,)cpu=(\d+)', 1), '') as reqcpus,
    nullif(regexp_extract(tail.tres, '(?:^|,)mem=([\d.]+[KMGTP]?)', 1), '') as reqmem,
    nullif(tail.tres, '') as reqtres,
    nullif(array_to_string(regexp_extract_all(tail.tres, 'gres/gpu(?::[^=,]+)?=\d+'), ','), '') as alloctres,
    head.limit as timelimitraw,
    nullif(head.list, '') as nodelist,
    head.name as jobname
from cut
