"""Read what sacct prints, give times and numbers their types, and write Parquet, with polars."""

import sys

import polars as pl  # type: ignore[import-not-found]

TIMES = ("Submit", "Eligible", "Start", "End")
NUMBERS = ("NNodes", "NTasks", "AllocCPUS", "ReqCPUS")
log = pl.scan_csv(sys.argv[1], separator="|", quote_char=None, infer_schema=False)
typed = log.with_columns(
    *(pl.col(name).str.to_datetime("%Y-%m-%dT%H:%M:%S", strict=False) for name in TIMES),
    *(pl.col(name).cast(pl.Int64, strict=False) for name in NUMBERS),
)
typed.sink_parquet(sys.argv[2])
