"""Logs that tests write row by row, and what becomes of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from gwa.formats.open import open_trace
from gwa.store.options import ReadOptions
from gwa.store.store import Store

FIELDS = "submit_time, wait_time, run_time, n_procs, status"


class Written:
    """
    A log at *path* in the format called *name*, written anew at each call.

    A call writes rows and returns fields of the jobs that they become.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self.stores: list[Store] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for store in self.stores:
            store.close()

    def __call__(self, *rows: str | bytes, fields: str = FIELDS, **wishes: Any) -> list[tuple[Any, ...]]:
        lines = (row if isinstance(row, bytes) else row.encode() for row in rows)
        self.path.write_bytes(b"".join(line + b"\n" for line in lines))
        self.stores.append(open_trace([self.path], self.name, ReadOptions(**wishes)))
        self.stores[-1].account.check()
        return self.stores[-1].rows(
            f"select {fields} from jobs join source_ids using (job_id) order by job_id"
        )

    def each(self, *rows: Callable[[int], str], fields: str) -> list[list[Any]]:
        """Give each row a number of its own and return fields in the order of rows."""
        found = self(*(row(number) for number, row in enumerate(rows)), fields=f"source_id, {fields}")
        return [values for _, *values in sorted(found, key=lambda one: int(one[0].split(".")[0]))]

    def rejects(self) -> list[tuple[int, str]]:
        """Return the refused lines and why they were."""
        return self.stores[-1].rows("select line, reason from rejects order by line")

    def account(self) -> tuple[int, ...]:
        """Return how many rows there were, and how many became jobs, were folded, refused, comments."""
        account = self.stores[-1].account
        return account.rows, account.jobs, account.folded, account.rejected, account.comments
