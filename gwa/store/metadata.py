"""What a store knows beside its jobs, as one JSON text, for formats that have room for a note."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import duckdb

from gwa.errors import TraceError
from gwa.store.account import Account
from gwa.store.store import Store

KEY: Final = "gwa"
"""The name under which the note is kept."""

KEPT: Final = ("header", "sources", "rejects", "repairs", "provenance")
"""The tables in the note. The others may have a row for each job; formats keep them beside the jobs."""


def pack(store: Store) -> str:
    """Return everything but what may grow with the number of jobs, as JSON."""
    content: dict[str, object] = {name: store.rows(f"from {name} order by all") for name in KEPT}
    content["provenance"] = provenance(store)
    return json.dumps(content, ensure_ascii=False)


def provenance(store: Store) -> dict[str, str]:
    """Return what is known of a trace's origin, without what concerns the layout of its store."""
    return {key: value for key, value in store.provenance.items() if not key.startswith("constant.")}


def unpack(store: Store, texts: Sequence[str]) -> None:
    """
    Fill the tables beside ``jobs`` from the notes of the files of one trace; add up their accounts.

    Raise `ValueError` for what is no such note. An account that does not speak of exactly the jobs
    in *store* is replaced by a plain count of them.
    """
    try:
        contents = [_parsed(text) for text in texts]
        lines = [(key, value) for content in contents for _, key, value in content["header"]]
        store.set_header(tuple(dict.fromkeys(lines)))
        for name in ("sources", "rejects", "repairs"):
            rows = (tuple(row) for content in contents for row in content[name])
            store.insert(name, list(dict.fromkeys(rows) if name == "sources" else rows))
        said = [dict(content["provenance"]) for content in contents]
        store.note({key: str(value) for one in reversed(said) for key, value in one.items()})
        _add_up(store, said)
    except (ValueError, TypeError, KeyError, RecursionError, TraceError, duckdb.Error) as error:
        raise ValueError("its note on the trace is damaged") from error


def _parsed(text: str) -> dict[str, Any]:
    content = json.loads(text)
    return {**dict.fromkeys(KEPT, ()), "provenance": {}, **content}


def _add_up(store: Store, said: Sequence[Mapping[str, str]]) -> None:
    jobs = int(store.row("select count(*) as n from jobs")[0])
    names = tuple(Account.__annotations__)
    total = Account(*(sum(int(one.get(f"account.{name}", 0)) for one in said) for name in names))
    store.set_account(total if total.jobs == jobs else Account(jobs, jobs, 0, 0, 0))
