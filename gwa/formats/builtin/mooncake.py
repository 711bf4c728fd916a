"""Mooncake's lines of JSON: requests with the blocks of their prompts."""

from pathlib import Path

from gwa.formats.builtin._request_lines import write_request_lines
from gwa.store.store import Store


def write(store: Store, path: Path) -> None:
    """Write the requests in their order, times in whole milliseconds."""
    write_request_lines(store, path, "cast(round({moment}) as bigint)")


WRITER = ("mooncake", write)
