/* ---
title = "Slurm job completion as JSON: jobcomp/elasticsearch and jobcomp/kafka"
files = ["*.json", "*.jsonl"]
reader = "json"
select = "slurm"
contains = ['"@(submit|eligible)"\s*:\s*"', '"@(start|end)"\s*:\s*"', '"(jobid|total_cpus|cpu_hours|exit_code)"\s*:']
export = '''
# From Elasticsearch, or from Kafka:
elasticdump --input=http://HOST:9200/slurm --output=jobcomp.json --type=data
kafka-console-consumer --bootstrap-server HOST:9092 --topic slurm --from-beginning > jobcomp.json
'''
notes = """
Source: Slurm's jobcomp_common.c, which both plugins use. Answers of a search (hits.hits), documents with
their _source and bare ones are read. The mapping is that of the format slurm: gwa formats slurm.
Times are UTC. A record tells of one run of a job; there are no steps, so neither memory nor CPU time nor energy
is known. The run time is elapsed, which includes suspension. cpu_hours is what was allocated, and @queue_wait
counts from the time of eligibility: neither is used. Records of the start of a job (of Kafka, enable_job_start)
are folded into that of its end. TRES without a name (1001=2) are left out, but for those that Slurm always has.
The requested number of processors is that of tres_req, else ntasks times cpus_per_task.
"""

[options]
records = ["hits.hits"]
within = "_source"

[options.paths]
submit = "@submit"
eligible = "@eligible"
start_ = "@start"
end_ = "@end"

[columns]
jobid = "varchar"
array_job_id = "varchar"
array_task_id = "varchar"
het_job_id = "varchar"
het_job_offset = "varchar"
pack_job_id = "varchar"
pack_job_offset = "varchar"
cluster = "varchar"
partition = "varchar"
account = "varchar"
wc_key = "varchar"
groupname = "varchar"
group_id = "varchar"
username = "varchar"
user_id = "varchar"
submit = "varchar"
eligible = "varchar"
start_ = "varchar"
end_ = "varchar"
elapsed = "bigint"
exit_code = "varchar"
state = "varchar"
qos = "varchar"
reservation_name = "varchar"
total_nodes = "varchar"
total_cpus = "varchar"
ntasks = "bigint"
cpus_per_task = "bigint"
tres_req = "varchar"
tres_alloc = "varchar"
tres_req_raw = "varchar"
tres_alloc_raw = "varchar"
time_limit = "double"
nodes = "varchar"
job_name = "varchar"
--- */
with named as (
    select
        *,
        list_transform(
            [submit, eligible, start_, end_],
            lambda x: case when regexp_full_match(x, '\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d') then x || 'Z' else x end
        ) as times,
        -- What is always the same number: the others are those of a site.
        list_transform(
            [{'text': tres_req, 'raw': tres_req_raw}, {'text': tres_alloc, 'raw': tres_alloc_raw}],
            lambda x: coalesce(
                nullif(x.text, ''),
                nullif(
                    array_to_string(
                        list_filter(
                            list_transform(
                                string_split(x.raw, ','),
                                lambda y: case split_part(y, '=', 1)
                                    when '1' then 'cpu=' || split_part(y, '=', 2)
                                    when '2' then 'mem=' || split_part(y, '=', 2) || 'M'
                                    when '3' then 'energy=' || split_part(y, '=', 2)
                                    when '4' then 'node=' || split_part(y, '=', 2)
                                    when '5' then 'billing=' || split_part(y, '=', 2)
                                end
                            ),
                            lambda y: y is not null
                        ),
                        ','
                    ),
                    ''
                )
            )
        ) as tres
    from record
)

select
    line,
    case
        when array_job_id > '0' and array_task_id is not null and array_task_id <> '4294967294'
            then array_job_id || '_' || array_task_id
        when coalesce(het_job_id, pack_job_id) > '0'
            then coalesce(
                coalesce(het_job_id, pack_job_id) || '+' || coalesce(het_job_offset, pack_job_offset), jobid, ''
            )
        else coalesce(jobid, '')
    end as jobid,
    nullif(cluster, '') as cluster,
    nullif(partition, '') as partition_,
    nullif(account, '') as account,
    nullif(wc_key, '') as wckey,
    nullif(groupname, '') as group_,
    group_id as gid,
    nullif(username, '') as user_,
    user_id as uid,
    times[1] as submit,
    times[2] as eligible,
    coalesce(times[3], 'Unknown') as start_,
    coalesce(times[4], 'Unknown') as end_,
    elapsed::varchar as elapsedraw,
    case
        when contains(exit_code, ':') then exit_code
        when regexp_full_match(exit_code, '\d{1,9}') then (exit_code::bigint // 256) || ':' || (exit_code::bigint % 128)
    end as exitcode,
    state,
    nullif(qos, '') as qos,
    nullif(reservation_name, '') as reservation,
    total_nodes as nnodes,
    total_cpus as alloccpus,
    coalesce(nullif(regexp_extract(tres[1], '(?:^|,)cpu=(\d+)', 1), ''), (ntasks * cpus_per_task)::varchar) as reqcpus,
    nullif(regexp_extract(tres[1], '(?:^|,)mem=([\d.]+[KMGTP]?)', 1), '') as reqmem,
    tres[1] as reqtres,
    tres[2] as alloctres,
    (time_limit / 60)::varchar as timelimitraw,
    nodes as nodelist,
    job_name as jobname
from named
