"""AIPerf's lines of JSON: requests with their sessions, each with its whole prompt."""

from pathlib import Path
from typing import Final

from gwa.formats.builtin._request_lines import write_request_lines
from gwa.store.store import Store

WHOLE: Final = "message_array_with_responses"
"""What AIPerf calls the mode in which nothing is added to the prompt of a turn."""


def write(store: Store, path: Path) -> None:
    """Write the requests in their order, times in milliseconds with three decimals."""
    write_request_lines(
        store,
        path,
        "cast({moment} as decimal(18, 3))",
        {"session_id": "session_id", "context_mode": f"'{WHOLE}'"},
    )


WRITER = ("aiperf", write)
