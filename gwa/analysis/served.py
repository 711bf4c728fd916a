"""How a report words that a class of jobs is served worst, from the fact ``wait.worst``."""

from collections.abc import Mapping
from typing import Any

from gwa.words.formatting import seconds
from gwa.words.message import Message, Verbatim, message


def worst_jobs(worst: Mapping[str, Any]) -> Message:
    """Return which jobs are served worst."""
    match worst["kind"]:
        case "size" if worst["id"] == "1":
            return message("Jobs on 1 processor")
        case "size":
            return message("Jobs on {size} processors", size=worst["id"])
        case "queue":
            return message("Jobs in queue {name}", name=Verbatim(worst["id"]))
        case _:
            return message("Jobs of {name}", name=Verbatim(worst["id"]))


def worst_wait(worst: Mapping[str, Any]) -> Message:
    """Return how long they wait, and how long all others."""
    wait, others = (seconds(worst[f"{who}{worst['quantile']}"]) for who in ("", "others_"))
    if worst["quantile"] == "median":
        return message("half wait for {wait} or longer, against {others}", wait=wait, others=others)
    return message("one in twenty waits for {wait} or longer, against {others}", wait=wait, others=others)
