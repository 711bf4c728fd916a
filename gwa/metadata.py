"""What a store knows beside its jobs, as one JSON text, for formats that have room for a note."""

import json
from typing import Final

from gwa.store import TABLES, Store

KEPT: Final = tuple(TABLES)
"""The tables that travel with a trace."""


def pack(store: Store) -> str:
    """Return everything but the jobs as JSON."""
    return json.dumps({name: store.rows(f"select * from {name}") for name in KEPT}, ensure_ascii=False)


def unpack(store: Store, text: str) -> None:
    """Fill the tables beside ``jobs`` from JSON, ignoring tables that this version does not know."""
    content = json.loads(text)
    for name in KEPT:
        store.connection.execute(f"delete from {name}")
        store.insert(name, [tuple(row) for row in content.get(name, [])])
