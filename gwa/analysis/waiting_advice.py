"""
What users can do about the waits of their own jobs: their ceiling, half of the processors, and free hours.

All is of the conditions of their own waiting (`gwa.metrics.waiting`), and said only where it is known when
there was room: it describes what was, not what a scheduler would have done.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from gwa.analysis.waiting_sentences import noted_limit
from gwa.breakdown.dimensions import WEEKDAYS
from gwa.breakdown.free_hours import HOURS, FreePart, free_parts
from gwa.metrics.timeline import Ints
from gwa.metrics.waiting import CONDITIONS, MINIMUM_MOMENTS, Waiting, waiting
from gwa.metrics.waiting_ceilings import Ceiling
from gwa.metrics.waiting_classes import jobs_of_moments
from gwa.report.letter import Advice
from gwa.store.store import Store
from gwa.words.formatting import fraction
from gwa.words.formatting import number as show
from gwa.words.message import Message, Number, joined, message, plural

MINIMUM_SHARE: Final = 0.1
"""What holds in less of the waiting of a user is no advice."""

LIMITS: Final = {
    "processors": message("More than {most} processors at once"),
    "jobs": message("More than {most} jobs at once"),
}
HELD: Final = {
    "processors": message("your jobs never held more than {most} processors for long"),
    "jobs": message("you never ran more than {most} jobs at once for long"),
}


def advice_on_waits(store: Store, user: str) -> Iterator[Advice]:
    """Yield what the waits of a *user* show; nothing where it is not known when there was room."""
    found = waiting(store)
    if not (found.knows_room and store.has("user_id")):
        return
    users, asked = jobs_of_moments(store, found)
    mine = np.flatnonzero(users == user)
    if len(mine) < MINIMUM_MOMENTS:
        return
    for one in found.ceilings:
        if f"user {user}" in (f"{one.kind} {one.id}", *one.same) and (one.waited or 0.0) >= MINIMUM_SHARE:
            yield _own_ceiling(one)
    if found.is_bound != "none":
        return
    full = mine[found.conditions[mine] == CONDITIONS.index("full")]
    if len(full) >= max(MINIMUM_MOMENTS, MINIMUM_SHARE * len(mine)):
        yield from _half(found, full)
        if found.partitions == "one":
            yield from _free_hours(store, found.capacity or 0.0, float(np.median(asked[full])))


def _own_ceiling(one: Ceiling) -> Advice:
    most = show(one.most)
    return Advice(
        "own-ceiling",
        message(
            "{what} may not help: ask whether a limit holds you.",
            what=message(LIMITS[one.unit], most=most),
        ),
        joined(
            " ",
            [
                message(
                    "Your jobs waited {share} of their time at your own ceiling: {held}, and {own} of these"
                    " jobs began when one of your own ended. That may be a limit, or jobs that wait for each"
                    " other.",
                    share=fraction(one.waited or 0.0),
                    held=message(HELD[one.unit], most=most),
                    own=fraction(one.own or 0.0),
                ),
                *noted_limit(one),
                *([message("A reason is of one moment, not of the whole wait.")] if one.limited else []),
            ],
        ),
    )


def _half(found: Waiting, full: Ints) -> Iterator[Advice]:
    share = float(found.half_fits[full].mean())
    if share >= MINIMUM_SHARE:
        yield Advice(
            "half-size",
            message("Where a job can run on fewer processors, ask for fewer."),
            message(
                "In {share} of the time in which your jobs found the machine full, half the processors that"
                " they asked for were free.",
                share=fraction(share),
            ),
        )


def _free_hours(store: Store, capacity: float, processors: float) -> Iterator[Advice]:
    parts = free_parts(store, capacity, processors)
    if parts:
        named = joined(", ", [_named(one) for one in parts])
        yield Advice(
            "free-hours",
            message("Jobs that can run then meet more free processors: {parts}.", parts=named),
            plural(
                "{processors} processors, enough for half of your waiting for a full machine, were free in"
                " that share of these hours, and in {usual} of all, by the average of each hour; counted in"
                " {n} week that did not choose them.",
                "{processors} processors, enough for half of your waiting for a full machine, were free in"
                " that share of these hours, and in {usual} of all, by the average of each hour; counted in"
                " {n} weeks that did not choose them.",
                parts[0].weeks,
                processors=show(processors),
                usual=fraction(parts[0].usual),
            ),
        )


def _named(one: FreePart) -> Message:
    day, hour = divmod(one.hour, 24)
    return message(
        "{day} {time} ({share})",
        day=WEEKDAYS[day],
        time=Number(f"{hour:02}:00–{hour + HOURS:02}:00"),
        share=fraction(one.share),
    )
