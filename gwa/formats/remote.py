"""
Parquet in object storage or on a web server, read there by DuckDB's own extension httpfs.

Only what a query needs is fetched. The extension is not part of DuckDB and never fetched by gwa: without it
a message says how to get it. Credentials for S3 are taken from the environment, as AWS's own programs do
(``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, ``AWS_REGION``).
"""

import re
from glob import escape
from pathlib import Path
from typing import Final

import duckdb

from gwa.errors import TraceError

REMOTE: Final = re.compile(r"(s3|gs|gcs|r2|https?|file):/+(.+)", re.IGNORECASE)
"""An address, also one of whose slashes a `Path` has left one."""

HERE: Final = "file"


def is_remote(path: Path) -> bool:
    """Whether *path* is an address of something elsewhere."""
    return REMOTE.fullmatch(str(path)) is not None


def address(path: Path) -> str:
    """
    Return the address that *path* was, or a local path such that DuckDB takes no sign in it for a pattern.

    >>> address(Path("s3://bucket/trace.parquet")), address(Path("a[1].parquet"))
    ('s3://bucket/trace.parquet', 'a[[]1].parquet')
    """
    found = REMOTE.fullmatch(str(path))
    if not found:
        return escape(str(path))
    scheme, rest = found[1].lower(), found[2]
    return f"{scheme}://{'/' if scheme == HERE else ''}{rest}"


def reach(database: duckdb.DuckDBPyConnection, path: Path) -> list[Path]:
    """Return the Parquet files at *path*, or below it; raise `TraceError` where it cannot be reached."""
    url = address(path)
    if not url.startswith(HERE):
        try:
            database.execute("load httpfs")
        except duckdb.Error as error:
            message = (
                f"{url}: DuckDB's extension httpfs, which reads there, is not installed; with a network"
                " python -c \"import duckdb; duckdb.sql('install httpfs')\" installs it once"
            )
            raise TraceError(message) from error
    try:
        below = database.execute("select file from glob($all) order by file", {"all": f"{url}/**/*.parquet"})
        files = [Path(file) for (file,) in below.fetchall()]
    except duckdb.Error:
        # A web server does not tell what it has.
        files = []
    return files or [path]
