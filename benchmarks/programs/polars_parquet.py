"""Read what sacct prints, give times and numbers their types, and write Parquet, with polars."""

import sys

import polars as pl  # type: ignore[import-not-found]

TIMES = ("Submit", "Eligible", "Start", "End")
NUMBERS = ("NNodes", "NTasks", "AllocCPUS", "ReqCPUS")
SPANS = ("Elapsed", "TotalCPU", "Timelimit")


def _seconds(name: str) -> pl.Expr:
    """Return days-hours:minutes:seconds as seconds."""
    span = pl.col(name).str.extract_groups(r"^(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)$").struct
    days, hours, minutes, seconds = (
        span.field(str(place)).cast(pl.Float64).fill_null(0.0) for place in range(1, 5)
    )
    return (((days * 24 + hours) * 60 + minutes) * 60 + seconds).alias(name)


log = pl.scan_csv(sys.argv[1], separator="|", quote_char=None, infer_schema=False)
typed = log.with_columns(
    *(pl.col(name).str.to_datetime("%Y-%m-%dT%H:%M:%S", strict=False) for name in TIMES),
    *(pl.col(name).cast(pl.Int64, strict=False) for name in NUMBERS),
    *(_seconds(name) for name in SPANS),
)
typed.sink_parquet(sys.argv[2])
