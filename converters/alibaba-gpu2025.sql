/* ---
title = "Alibaba GPU trace of 2025: instances of disaggregated recommendation models"
files = ["disaggregated_dlrm_trace*.csv"]
reader = "named"
scope = "trace"
delimiter = ","
missing = ["", "-1"]
first = '^[^,]+,(HN|CN),[^,]*(,[\d.]*){4},[^,]*,[^,]*(,[\d.]*){4},-?\d*(,[\d.]*){3}\s*$'
export = '''
gwa fetch alibaba-gpu2025 --convert
'''
notes = """
Source: cluster-trace-gpu-v2025 in alibaba/clusterdata, with its header and some of its rows.

Each instance of a service becomes a job. Times are seconds from the beginning of the trace, and stay relative. An
instance without creation_time existed before: when, and how long, is not known, so that it has no submission. One
without deletion_time was there when the trace ended: it has no run time. Instances end when they are deleted, which
says nothing of their outcome: there is no status. What was never scheduled has no processors.

Processors are the cores that are requested, rounded up, GPUs those that are requested. Memory is GiB of the instance,
disk GiB. The executable is the application; the queue is the role, CN (CPU nodes) or HN (with GPUs). Instances of an application are no
bags. Not kept: limits, shares of RDMA, how many of them a node may have.
"""

[header]
Computer = "Alibaba GPU cluster, 2025"

[constants]
job_structure = "UNITARY"

[columns]
instance_sn = "varchar"
role = "varchar"
app_name = "varchar"
cpu_request = "double"
gpu_request = "double"
memory_request = "double"
disk_request = "double"
creation_time = "double"
scheduled_time = "double"
deletion_time = "double"

[options]
closed = true
header = "instance_sn"
order = [
  "instance_sn", "role", "app_name", "cpu_request", "cpu_limit", "gpu_request", "gpu_limit", "rdma_request",
  "rdma_limit", "memory_request", "memory_limit", "disk_request", "disk_limit", "max_instance_per_node",
  "creation_time", "scheduled_time", "deletion_time",
]
loose = []

[options.checks]

[[steps]]
name = "before the trace"
meaning = "instances existed when the trace began: when they were created is not known"
sql = "select count(*) from recorded where submit_time is null"

[[steps]]
name = "there at the end"
meaning = "instances were there when the trace ended: their run time is not known"
sql = "select count(*) from recorded where run_time is null"
--- */
with instance as (
    select
        *,
        case when cpu_request >= 0 then greatest(ceil(cpu_request), 1) end as procs,
        -- What existed before the trace was scheduled before it, or never.
        scheduled_time is not null or creation_time is null as is_scheduled
    from source
)

select
    1 as rows,
    file_no,
    line,
    instance_sn as source_id,
    creation_time as submit_time,
    scheduled_time - creation_time as wait_time,
    deletion_time - scheduled_time as run_time,
    scheduled_time as start_time,
    case when is_scheduled then procs end as n_procs,
    procs as req_n_procs,
    memory_request * 1048576 / procs as req_memory,
    disk_request * 1024 as req_local_disk_space,
    app_name as executable_id,
    role as queue_id,
    case when is_scheduled then gpu_request end as n_gpus,
    gpu_request as req_gpus,
    case when instance_sn is null then 'its instance_sn is missing' end as reject
from instance
