/* ---
title = "Alibaba GPU trace of 2026: spot and high-priority jobs (job_info_df)"
files = ["job_info_df*.csv"]
reader = "named"
scope = "trace"
delimiter = ","
missing = [""]
first = '^[^,]+,[^,]*,[^,]*,[\d.]+,[\d.]+,[\d.]+,[\d.]+,[\d.]+,(HP|Spot)\s*$'
export = '''
gwa fetch alibaba-spot2026 --convert
'''
notes = """
Source: the README of cluster-trace-v2026-spot-gpu in alibaba/clusterdata.

Each job becomes a job. Times are seconds from the beginning of the trace, and stay relative. The trace does not say when jobs started:
waits are missing, and with them when a job ran. A job has a number of workers, each with cpu_request and gpu_request, taken as allocated;
processors are rounded up. The longest jobs are services that ran through the whole trace. The QOS is HP (high priority) or Spot,
the group the organization. How jobs ended is not recorded. The list of nodes (node_info_df.csv) is not read.
"""

[header]
Computer = "Alibaba GPU cluster, 2026"

[constants]
job_structure = "UNITARY"

[columns]
job_name = "varchar"
organization = "varchar"
gpu_model = "varchar"
cpu_request = "double"
gpu_request = "double"
worker_num = "double"
submit_time = "double"
duration = "double"
job_type = "varchar"

[options]
closed = true
header = "gpu_model"
order = [
  "job_name", "organization", "gpu_model", "cpu_request", "gpu_request", "worker_num", "submit_time", "duration",
  "job_type",
]
loose = []

[options.checks]
--- */
select
    1 as rows,
    file_no,
    line,
    job_name as source_id,
    submit_time,
    nullif(duration, -1) as run_time,
    case when cpu_request * worker_num >= 0 then greatest(ceil(cpu_request * worker_num), 1) end as n_procs,
    n_procs as req_n_procs,
    organization as group_id,
    gpu_request * worker_num as n_gpus,
    gpu_request * worker_num as req_gpus,
    gpu_model as gpu_type,
    job_type as qos,
    case when job_name is null or submit_time is null then 'its name or submit_time is missing, or is not a number' end as reject
from source
