"""Files of requests that tests make, with the columns that their sources document."""

import json
from pathlib import Path

from gwa.formats.open import open_trace
from gwa.store.options import ReadOptions
from gwa.store.store import Store

AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens"
BURSTGPT = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type"
BURSTGPT_3 = "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type"


def written(path: Path, header: str, rows: list[str]) -> Path:
    """Write a table and return its path."""
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def mooncake(path: Path, records: list[dict[str, object]]) -> Path:
    """Write lines of JSON and return their path."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def opened(*paths: Path, **options: object) -> Store:
    """Open a trace of requests."""
    return open_trace(paths, None, ReadOptions(requests=True, **options))  # type: ignore[arg-type]
