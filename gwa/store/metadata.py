"""The metadata of a trace as one JSON text, for formats that can hold a note."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import duckdb

from gwa.errors import TraceError
from gwa.store.account import Account
from gwa.store.store import TABLES, Store
from gwa.store.versions import fields_known

METADATA_KEY: Final = "gwa"
"""The key of the note in a file."""

NOTE_TABLES: Final = ("header", "sources", "rejects", "repairs", "provenance")
"""The tables in the note. The other tables may have a row for each job; formats store them with the jobs."""


def pack(store: Store) -> str:
    """Return the tables whose size does not depend on the number of jobs, as JSON."""
    content: dict[str, object] = {name: store.rows(f"from {name} order by all") for name in NOTE_TABLES}
    content["provenance"] = provenance(store)
    return json.dumps(content, ensure_ascii=False)


def provenance(store: Store) -> dict[str, str]:
    """Return the provenance of a trace, without entries on the layout of its store."""
    return {key: value for key, value in store.provenance.items() if not key.startswith("constant.")}


def unpack(store: Store, texts: Sequence[str]) -> None:
    """
    Fill the tables beside ``jobs`` from the notes of the files of one trace, and add up their accounts.

    Raise `ValueError` if a note is damaged. An account whose number of jobs differs from that
    in *store* is replaced by a count of the jobs.
    """
    try:
        contents = [_parsed(text) for text in texts]
        lines = [(key, value) for content in contents for _, key, value in content["header"]]
        store.set_header(tuple(dict.fromkeys(lines)))
        for name in ("sources", "rejects", "repairs"):
            # Notes of earlier versions lack the last column.
            width = len(TABLES[name].split(", "))
            rows = ((*row, None)[:width] for content in contents for row in content[name])
            store.insert(name, list(dict.fromkeys(rows) if name == "sources" else rows))
        provenances = [dict(one["provenance"]) for one in contents]
        merged = {key: str(value) for entries in reversed(provenances) for key, value in entries.items()}
        store.note(fields_known(merged) | merged)
        _sum_accounts(store, provenances)
    except (ValueError, TypeError, KeyError, RecursionError, TraceError, duckdb.Error) as error:
        raise ValueError("its note on the trace is damaged") from error


def provenance_in(text: str) -> dict[str, str]:
    """Return the provenance in a note, empty where it is damaged."""
    try:
        return {key: str(value) for key, value in _parsed(text)["provenance"].items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _parsed(text: str) -> dict[str, Any]:
    content = json.loads(text)
    return {**dict.fromkeys(NOTE_TABLES, ()), "provenance": {}, **content}


def _sum_accounts(store: Store, provenances: Sequence[Mapping[str, str]]) -> None:
    jobs = int(store.row("select count(*) as n from jobs")[0])
    names = tuple(Account.__annotations__)
    counts = {name: [int(entries.get(f"account.{name}", 0)) for entries in provenances] for name in names}
    total = Account(*map(sum, counts.values()))
    store.set_account(total if total.jobs == jobs else Account(jobs, jobs, 0, 0, 0))
