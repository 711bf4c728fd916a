"""Requests as lines of JSON, in the form that Mooncake's traces have and benchmarks read."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from gwa.errors import OutputError
from gwa.formats.builtin._write_text import write_lines
from gwa.store.store import Store

SHARED: Final = {"input_length": "tokens_in", "output_length": "tokens_out", "hash_ids": "blocks"}
"""The keys that all have, and the fields that they hold."""


def write_request_lines(
    store: Store, path: Path, time: str, others: Mapping[str, str] = MappingProxyType({})
) -> None:
    """
    Write an object for each request, in the order of time; raise `OutputError` where tokens are unknown.

    *time* is the SQL of the timestamp of a *moment* in milliseconds, *others* that of further keys. Times
    count from the first request where they are absolute. What a request does not have has no key.
    """
    first, unknown = store.row(
        "select min(submit_time), count(*) filter (where tokens_in is null or tokens_out is null)"
        " from requests"
    )
    if unknown:
        raise OutputError(
            f"{path}: {unknown:,} requests have no known tokens in or out, expected both of each"
        )
    begin = 0.0 if store.system.relative else float(first)
    values = {"timestamp": time.format(moment=f"((submit_time - {begin!r}) * 1000)"), **SHARED, **others}
    pairs = ", ".join(f"{key} := {sql}" for key, sql in values.items())
    write_lines(
        store,
        path,
        [],
        # A patch leaves out the keys that have no value.
        f"select cast(json_merge_patch('{{}}', to_json(struct_pack({pairs}))) as varchar) as line"
        " from requests order by request_id",
    )
