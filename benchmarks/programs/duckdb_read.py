"""A yardstick for the machine: DuckDB reads what sacct prints into a table, with types that it finds."""

import sys

import duckdb

with duckdb.connect(sys.argv[2]) as database:
    database.execute("create or replace table t as from read_csv($path, delim='|')", {"path": sys.argv[1]})
    print(database.execute("select count(*) from t").fetchall())
