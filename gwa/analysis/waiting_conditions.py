"""What the conditions of waiting are called, and which of their shares are shown."""

from collections.abc import Mapping
from typing import Final

from gwa.metrics.waiting import Condition, Waiting
from gwa.words.message import message

CONDITION_NAMES: Final[dict[Condition, str]] = {
    "held": message("Before the job could start"),
    "unknown": message("Not known"),
    "outage": message("Nothing ran"),
    "full": message("Machine full"),
    "gpu": message("GPUs full"),
    "ceiling": message("At the owner's ceiling"),
    "unused": message("Unused for a day"),
    "larger": message("A larger job waited"),
    "cycle": message("Last minute"),
    "open": message("Room for all"),
}
"""What tables and figures call the conditions."""

OF_ROOM: Final = ("ceiling", "unused", "larger", "cycle", "open")
"""The conditions that depend on free room: where that is not known, only facts have them."""

OUTAGE: Final = "outage"
"""Where rows are missing, this is not known either: jobs that are not in the log may have run."""

SEEN: Final = 0.0005
"""A condition that holds less is not shown."""


def as_shown(waiting: Waiting, conditions: Mapping[Condition, float]) -> dict[str, float]:
    """Return the conditions as shown: those that the log cannot tell apart are one."""
    parts = by_name(conditions)
    if conditions and not waiting.knows_room:
        untold = (*OF_ROOM, OUTAGE) if waiting.missing else OF_ROOM
        parts["unknown"] += sum(parts.pop(name) for name in untold)
    return parts


def by_name(conditions: Mapping[Condition, float]) -> dict[str, float]:
    """Return the shares by the names of conditions."""
    return {str(name): share for name, share in conditions.items()}
