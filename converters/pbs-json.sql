/* ---
title = "OpenPBS and PBS Pro as JSON: qstat -f -F json"
files = ["*.json"]
reader = "json"
select = "pbs"
contains = ['"(pbs_version|Job_Owner)"\s*:\s*"', '"Jobs"\s*:\s*\{|"Resource_List"\s*:\s*\{']
export = '''
# With -x of jobs that have finished, too, which a server with job_history_enable keeps for job_history_duration,
# with -t of tasks of arrays. The accounting log knows all jobs: gwa formats pbs.
qstat -x -t -f -F json > jobs.json
'''
notes = '''
Source: qstat.c and pbs_cjson.c of OpenPBS. The mapping is that of the format pbs: gwa formats pbs tells its decisions.
Times are local ones of the system's zone, as ctime(3) writes them. A job that has ended (state F, X or C) ran as
long as resources_used.walltime says, else from stime to obittime; in Torque from start_time to comp_time. One in
any other state has no run time and no status yet, and so has one without a state, an exit status and an end. One that
ended without a start, a time that it used and an exit status 0 was cancelled, or has failed where its exit status is
negative or a program's. Substate 91 says that a job was deleted: it is cancelled. The
state is the letter that qstat prints.
Old releases write what is no JSON: numbers such as 005 and .5, \' in Variable_List, quotes within quotes, and
"Jobs" once for each job that was asked for. It is read as what was meant.
'''

[options]
records = ["Jobs"]
key = "id"
mend = true

[options.paths]
exit_status = ["Exit_status", "exit_status"]
user_ = ["euser", "Job_Owner"]
group_ = ["egroup", "group_list"]
jobname = "Job_Name"
account = "Account_Name"
start_ = ["stime", "start_time"]
end_ = ["obittime", "comp_time"]
resource_list_select = "Resource_List.select"
resource_list_nodes = "Resource_List.nodes"
resource_list_procs = "Resource_List.procs"
resource_list_nodect = "Resource_List.nodect"
resource_list_ncpus = "Resource_List.ncpus"
resource_list_mppwidth = "Resource_List.mppwidth"
resource_list_mppdepth = "Resource_List.mppdepth"
resource_list_mppnppn = "Resource_List.mppnppn"
resource_list_walltime = "Resource_List.walltime"
resource_list_mem = "Resource_List.mem"
resource_list_pmem = "Resource_List.pmem"
resource_list_arch = "Resource_List.arch"
resource_list_ngpus = "Resource_List.ngpus"
resource_list_gpus = "Resource_List.gpus"
resource_list_gpu = "Resource_List.gpu"
resource_list_gpu_type = "Resource_List.gpu_type"
resource_list_gpu_model = "Resource_List.gpu_model"
resource_list_qos = "Resource_List.qos"
resources_used_cput = "resources_used.cput"
resources_used_walltime = "resources_used.walltime"
resources_used_mem = "resources_used.mem"
resources_used_ncpus = "resources_used.ncpus"
resources_used_energy = "resources_used.energy"
--- */
select * exclude (file_no) replace (0 as place) from record
