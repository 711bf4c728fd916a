"""
Make the jobs of a log of `benchmarks.data` by DuckDB's SQL, written by hand: the same table as gwa's.

    python by_hand.py LOG STORE [OURS]

The SQL stands in ``benchmarks/limits/``: it checks nothing, and knows what these logs hold. With the store
that gwa made of the log, it is told how many rows of the two differ, if any do.
"""

import sys
from pathlib import Path

import duckdb

from gwa.ingest.source.lines import squeeze
from gwa.store.schema import FIELDS

LIMITS = Path(__file__).parent.parent / "limits"
COLUMNS = ", ".join(f"{field.name} {field.sql}" for field in FIELDS)
DIFFERENCE = (
    "select count(*) from (((from jobs) except all (from ours.jobs))"
    " union all ((from ours.jobs) except all (from jobs)))"
)

log, store = map(Path, sys.argv[1:3])
kind, text = log.suffix[1:], log
if kind == "swf":
    # DuckDB takes each blank for a border.
    text = store.with_suffix(".squeezed")
    text.write_bytes(squeeze(log.read_bytes()))
store.unlink(missing_ok=True)
with duckdb.connect(str(store), config={"storage_compatibility_version": "v1.0.0"}) as database:
    database.execute(f"create table jobs ({COLUMNS})")
    database.execute((LIMITS / f"{kind}.sql").read_text().replace("$log", f"'{text}'"))
    for ours in sys.argv[3:]:
        database.execute(f"attach '{ours}' as ours (read_only)")
        ((different,),) = database.execute(DIFFERENCE).fetchall()
        if different:
            sys.exit(f"{different} rows differ")
