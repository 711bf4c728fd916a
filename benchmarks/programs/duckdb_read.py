"""
A yardstick for the machine: DuckDB's `read_csv` of a log into a table with types that it finds.

It checks nothing, folds nothing, and takes fields apart no further than the delimiter does.
"""

import sys

import duckdb

LAYOUTS = {
    ".squeezed": "delim=' ', header=false",
    ".gwf": r"delim='\t', header=false, comment='#'",
    ".sge": "delim=':', header=false, comment='#', quote='', null_padding=true",
    ".slurm": "delim='|', header=true, quote=''",
    ".pbs": "delim=';', header=false, quote='', columns={'time': 'timestamp', 'kind': 'varchar',"
    " 'job': 'varchar', 'message': 'varchar'}, timestampformat='%m/%d/%Y %H:%M:%S'",
    ".google": "delim=',', header=false",
}
log, store = sys.argv[1:]
layout = LAYOUTS[log[log.rindex(".") :]]
with duckdb.connect(store) as database:
    database.execute(f"create or replace table t as from read_csv($path, {layout})", {"path": log})
    print(database.execute("select count(*) from t").fetchall())
