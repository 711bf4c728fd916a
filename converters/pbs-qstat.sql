/* ---
title = "OpenPBS, PBS Pro and Torque as text: qstat -f"
files = ["*.qstat"]
reader = "blocks"
select = "pbs"
contains = ['Job Id:', '(?m)^Job Id: ?\S+[^\n]*\n    \w+ = ']  # the first is found fast, or not
export = '''
# OpenPBS and PBS Pro, with jobs that have finished; Torque, which forgets them after keep_completed:
qstat -x -t -f > jobs.qstat
qstat -t -f > jobs.qstat
'''
notes = '''
Source: qstat(1B) of OpenPBS and of Torque. The mapping is that of the format pbs: gwa formats pbs tells its decisions.
Times are local ones of the system's zone, as ctime(3) writes them. A job that has ended (state F, X or C) ran as
long as resources_used.walltime says, else from stime to obittime; in Torque from start_time to comp_time. One in
any other state has no run time and no status yet, and so has one without a state, an exit status and an end. One that
ended without a start, a time that it used and an exit status 0 was cancelled, or has failed where its exit status is
negative or a program's. Substate 91 says that a job was deleted: it is cancelled. The
state is the letter that qstat prints.
Lines that begin with a tab, or are not attributes, continue the value before them.
'''

[options]
begins = 'Job Id: ?(?P<id>\S+)'
pair = '    (?P<key>[A-Za-z][\w.]*) = (?P<value>.*)'

[options.keys]
user_ = ["euser", "Job_Owner"]
group_ = ["egroup", "group_list"]
jobname = "Job_Name"
account = "Account_Name"
start_ = ["stime", "start_time"]
end_ = ["obittime", "comp_time"]
--- */
select * exclude (file_no) replace (0 as place) from record
