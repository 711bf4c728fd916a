"""What changed over the life of the log."""

import math
from collections.abc import Mapping
from typing import Any

from gwa.analysis.finding import Facts, finding
from gwa.metrics.interval_values import MEASURES
from gwa.report.formatting import show
from gwa.report.message import message, plural


@finding(
    "changes",
    section="changes",
    advice="Compare the date with changes of the system, its scheduler and its users.",
)
def changes(facts: Facts) -> tuple[float, str] | None:
    """Shown if the weekly level of load, jobs, wait times, failures or users has a step: the largest."""
    found = facts["changes"]
    if not found:
        return None
    largest = max(found, key=_size)
    measure = MEASURES[largest["what"]]
    before, after = (show(largest[side], measure.unit) for side in ("before", "after"))
    verb = "rises" if largest["after"] > largest["before"] else "falls"
    text = message(
        "{title} per week {verb} from {before} to {after} from the week of {when} on",
        title=measure.title,
        verb=verb,
        before=before,
        after=after,
        when=largest["when"],
    )
    others = (
        message("; {found} of level", found=plural("{n} other change", "{n} other changes", len(found) - 1))
        if len(found) > 1
        else ""
    )
    return 0.4 + 0.3 * min(_size(largest), 1), f"{text}{others}."


def _size(change: Mapping[str, Any]) -> float:
    """Return the size of a change from 0: 1 is a factor of 4, or 40 percentage points."""
    before, after = change["before"], change["after"]
    measure = MEASURES[change["what"]]
    if measure.is_share:
        return float(abs(after - before) / 0.4)
    low, high = (max(value + measure.offset, 1e-9) for value in sorted((before, after)))
    return min(math.log(high / low) / math.log(4), 3.0)
