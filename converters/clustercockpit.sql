/* ---
title = "ClusterCockpit: meta.json of its job archive"
files = ["meta.json", "*.json"]
reader = "json"
scope = "trace"
joined_by = "job_id"
contains = ['"(numHwthreads|subCluster|monitoringStatus)"\s*:', '"jobId"\s*:\s*\d', '"(jobState|numNodes)"\s*:']
export = '''
# One file for each job; jq makes lines of them. The database, job.db, knows the same, and when jobs were submitted.
find /var/lib/job-archive/CLUSTER -name meta.json -exec jq -c . {} + > jobs.json
'''
notes = """
Source: the JSON schema job-meta of ClusterCockpit (cc-backend, pkg/schema/schemas), and its description of the job
archive. Read are files meta.json, lines of them, and lists under jobs.
A job starts at startTime, Unix seconds, and runs for its duration. When it was submitted (submitTime) newer versions tell, as 0
where it is not known: its submission is its start then, and its wait is missing. The database, job.db, is the format
clustercockpit-db. Files data.json beside meta.json hold measurements and are not read.
Processors are hardware threads (numHwthreads), as the source counts them, else those that resources lists; where neither
is there they are missing, since the nodes of a cluster are not described here. GPUs are numAcc, 0 where resources list
none; nodes are numNodes, by name those of resources. Requested time is walltime.
completed is completed; failed, timeout, out_of_memory, node_fail, boot_fail, deadline and preempted have failed;
cancelled and stopped are cancelled. Jobs of one arrayJobId are a bag. The site is the cluster.
The statistics are means, minima and maxima over nodes and time in units that differ between sites; they are
not read.
"""

[options]
records = ["jobs"]

[options.paths]
job_id = "jobId"
owner = "user"
sub_cluster = "subCluster"
array_id = "arrayJobId"
nodes = "numNodes"
threads = "numHwthreads"
accelerators = "numAcc"
state = "jobState"
submitted = "submitTime"
started = "startTime"
job_name = "metaData.jobName"

[columns]
job_id = "varchar"
owner = "varchar"
project = "varchar"
cluster = "varchar"
sub_cluster = "varchar"
partition = "varchar"
array_id = "bigint"
nodes = "bigint"
threads = "bigint"
accelerators = "bigint"
walltime = "double"
state = "varchar"
submitted = "double"
started = "double"
duration = "double"
resources = "varchar"
job_name = "varchar"
--- */
select
    1 as rows,
    file_no,
    line,
    job_id as source_id,
    coalesce(nullif(submitted, 0), started) as submit_time,
    started - nullif(submitted, 0) as wait_time,
    nullif(duration, -1) as run_time,
    started as start_time,
    duration as measured_time,
    coalesce(
        nullif(threads, 0),
        nullif(case when json_valid(resources) then len(json_extract(resources, '$[*].hwthreads[*]')) end, 0)
    ) as n_procs,
    nullif(walltime, 0) as req_time,
    case
        when state = 'completed' then 1
        when state in ('failed', 'timeout', 'out_of_memory', 'node_fail', 'boot_fail', 'deadline', 'preempted') then 0
        when state in ('cancelled', 'canceled', 'stopped') then 5
    end as status,
    owner as user_id,
    nullif(job_name, '') as executable_id,
    nullif(partition, '') as queue_id,
    nullif(sub_cluster, '') as partition_id,
    cluster as orig_site_id,
    cluster as last_run_site_id,
    if(array_id > 0, 'BoT', 'UNITARY') as job_structure,
    case when array_id > 0 then cast(array_id as varchar) end as job_structure_params,
    nullif(project, '') as project_id,
    nodes as n_nodes,
    case
        when json_valid(resources)
            then nullif(array_to_string(list_distinct(json_extract_string(resources, '$[*].hostname')), ','), '')
    end as node_list,
    coalesce(
        accelerators,
        case when json_valid(resources) then len(json_extract(resources, '$[*].accelerators[*]')) end
    ) as n_gpus,
    state,
    case when job_id is null then 'has no jobId' when started is null then 'has no startTime' end as reject
from source
