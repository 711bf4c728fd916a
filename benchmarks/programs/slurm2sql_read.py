"""Read what sacct prints into a store with slurm2sql, which knows the processors as NCPUS."""

import csv
import sqlite3
import sys
from pathlib import Path

from slurm2sql import slurm2sql  # type: ignore[import-not-found]

with Path(sys.argv[1]).open(encoding="utf-8") as log, sqlite3.connect(":memory:") as database:
    rows = csv.DictReader(log, delimiter="|")
    rows.fieldnames = ["NCPUS" if name == "AllocCPUS" else name for name in rows.fieldnames or ()]
    slurm2sql(database, csv_input=rows)
    print(database.execute("select count(*) from slurm").fetchone())
