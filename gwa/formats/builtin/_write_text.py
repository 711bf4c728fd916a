"""Write a trace as lines of text: comments, then one line per job."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from gwa.store.store import Store
from gwa.util.atomic import compressing, whole


def write_lines(store: Store, path: Path, comments: Sequence[str], jobs: str) -> None:
    """Write *comments* and the lines that the query *jobs* yields, compressed by the suffix of *path*."""
    body = store.scratch / "body.txt"
    with whole(path) as part:
        try:
            store.connection.execute(
                # With one column, no quote and no escape, DuckDB writes each line unchanged.
                f"copy ({jobs}) to $body (format csv, header false, quote '', escape '', delimiter '\\x1f')",
                {"body": str(body)},
            )
            with compressing(part, path) as out, body.open("rb") as lines:
                out.write("".join(f"{comment}\n" for comment in comments).encode())
                shutil.copyfileobj(lines, out, 1 << 20)
        finally:
            body.unlink(missing_ok=True)
