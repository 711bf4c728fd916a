/* ---
title = "Google cluster traces of 2019 as CSV: exports of BigQuery, and Kaggle's sample"
files = ["instance_events*.csv", "collection_events*.csv", "borg_traces*.csv"]
reader = "table"
select = "google2019"
contains = '\A(?!\s*[\[{])(?=.*\bcollection_id\b)(?=.*\b(instance_events_)?type\b)(?=.*\btime\b).*\b(instance_index|collection_logical_name)\b'
missing = [""]
export = '''
# Of a cell, a to h, from BigQuery, whose CSV holds no records.
bq query --use_legacy_sql=false --format=csv --max_rows=1000000000 'select time, type, collection_id, collection_type, missing_type, scheduling_class, priority, instance_index, resource_request.cpus as resource_request_cpus, resource_request.memory as resource_request_memory from `google.com:google-cluster-data.clusterdata_2019_a.instance_events`' > instance_events.csv
bq query --use_legacy_sql=false --format=csv --max_rows=1000000000 'select time, collection_id, collection_type, type, user, collection_logical_name from `google.com:google-cluster-data.clusterdata_2019_a.collection_events`' > collection_events.csv
'''
notes = """
The mapping is that of the format google2019: gwa formats google2019 tells its decisions. Columns are found by name, in
any order. The request is resource_request.cpus and resource_request.memory, the same with an underscore
for the dot, or one cell with both, such as {'cpus': 0.02, 'memory': 0.01}. Whole numbers may end in .0, and types of
events be names. Instances of alloc sets count as comments.

Kaggle's sample (borg_traces_data.csv) joins events with usage: an event is there once for each of its windows,
most events are missing, so lives are not whole, and cells may be mixed. Its usage is not read, nor
are the users and names that stand beside each event.
"""

[options.names]
cpus_dotted = "resource_request.cpus"
cpus_flat = "resource_request_cpus"
memory_dotted = "resource_request.memory"
memory_flat = "resource_request_memory"

[options.skip]
collection_type = ["1", "1.0", "ALLOC_SET"]

[columns]
time = "varchar"
type = "varchar"
instance_events_type = "varchar"
missing_type = "varchar"
collection_id = "varchar"
collection_type = "varchar"
scheduling_class = "varchar"
priority = "varchar"
instance_index = "varchar"
resource_request = "varchar"
cpus_dotted = "varchar"
cpus_flat = "varchar"
memory_dotted = "varchar"
memory_flat = "varchar"

[sides.collection_event.columns]
collection = "varchar"
collection_type = "varchar"
user = "varchar"
logical_name = "varchar"

[sides.collection_event.options]
contains = '\A(?!.*\binstance_index\b)(?=.*\bcollection_id\b).*\bcollection_logical_name\b'

[sides.collection_event.options.names]
collection = "collection_id"
logical_name = "collection_logical_name"

[sides.collection_event.options.skip]
collection_type = ["1", "1.0", "ALLOC_SET"]
--- */
select
    try_cast(time as bigint) as time,
    regexp_replace(coalesce(type, instance_events_type), '\.0*$', '') as type,
    try_cast(collection_id as bigint) as collection,
    collection_type,
    regexp_replace(missing_type, '\.0*$', '') as missing_type,
    regexp_replace(scheduling_class, '\.0*$', '') as class,
    try_cast(priority as integer) as priority,
    try_cast(instance_index as integer) as instance,
    try_cast(
        coalesce(
            cpus_dotted,
            cpus_flat,
            regexp_extract(resource_request, 'cpus[''"]?\s*:\s*([-+.\deE]+)', 1)
        ) as double
    ) as cpus,
    try_cast(
        coalesce(
            memory_dotted,
            memory_flat,
            regexp_extract(resource_request, 'memory[''"]?\s*:\s*([-+.\deE]+)', 1)
        ) as double
    ) as memory,
    line
from record
