"""
Parquet in object storage or on a web server, read by DuckDB's extension httpfs.

Only the data that a query needs is fetched. The extension is not part of DuckDB and never installed by gwa:
if it is missing, a message says how to install it. Credentials for S3 are taken from the environment
(``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, ``AWS_REGION``).
"""

import re
from glob import escape
from pathlib import Path
from typing import Final

import duckdb

from gwa.errors import TraceError

REMOTE: Final = re.compile(r"(s3|gs|gcs|r2|hf|https?|file):/+(.+)", re.IGNORECASE)
"""A URL, possibly with the double slash that `Path` reduces to one."""

LOCAL_SCHEME: Final = "file"


def is_remote(path: Path) -> bool:
    """Whether *path* is a URL."""
    return REMOTE.fullmatch(str(path)) is not None


def address(path: Path) -> str:
    """
    Return the URL that *path* stands for, or a local path in which DuckDB sees no pattern.

    >>> address(Path("s3://bucket/trace.parquet")), address(Path("a[1].parquet"))
    ('s3://bucket/trace.parquet', 'a[[]1].parquet')
    >>> address(Path("hf://datasets/owner/name/jobs.parquet"))
    'hf://datasets/owner/name/jobs.parquet'
    """
    match = REMOTE.fullmatch(str(path))
    if not match:
        return escape(str(path))
    scheme, rest = match[1].lower(), match[2]
    return f"{scheme}://{'/' if scheme == LOCAL_SCHEME else ''}{rest}"


def remote_files(database: duckdb.DuckDBPyConnection, path: Path) -> list[Path]:
    """Return the Parquet files at *path* or below it; raise `TraceError` if httpfs is not installed."""
    url = address(path)
    if not url.startswith(LOCAL_SCHEME):
        try:
            database.execute("load httpfs")
        except duckdb.Error as error:
            raise TraceError(
                f"{url}: DuckDB's extension httpfs, which reads there, is not installed; with a network"
                " python -c \"import duckdb; duckdb.sql('install httpfs')\" installs it once"
            ) from error
    try:
        matches = database.execute(
            "select file from glob($all) order by file", {"all": f"{url}/**/*.parquet"}
        )
        files = [Path(file) for (file,) in matches.fetchall()]
    except duckdb.Error:
        # Web servers do not list their files.
        files = []
    return files or [path]
