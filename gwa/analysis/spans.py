"""
Of which jobs and of which time each sentence speaks, and whether its numbers are values, bounds or unknown.

A sentence has the spans of the facts that it is made of. Facts of one family have one span: the longest
beginning of an id in `SPANS` says which.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple


class Span(NamedTuple):
    """*What* facts are of, and what they are (*otherwise*) where the log does not know all of that."""

    what: str
    otherwise: str


WINDOW: Final = Span(
    "what all jobs held within the window of observation", "a lower bound over all of the log, or unknown"
)
SUBMITTED: Final = Span("the jobs submitted in the period", "unknown where a field is not recorded")
ENDED: Final = Span("the jobs that ended in the period", "unknown where outcomes are not recorded")
LOG: Final = Span("the whole log", "unknown where no job of it has a time")
SYSTEM: Final = Span("the system, whatever the time", "unknown where it is not recorded")

SPANS: Final = {
    "alerts": WINDOW,
    "arrivals": SUBMITTED,
    "bags": SUBMITTED,
    "capacity": LOG,
    "capacity.idle": WINDOW,
    "changes": LOG,
    "completeness": SUBMITTED,
    "conversion": LOG,
    "dependence": SUBMITTED,
    "estimates": SUBMITTED,
    "flurries": SUBMITTED,
    "gpu": WINDOW,
    "groups": SUBMITTED,
    "groups.by_held": WINDOW,
    "groups.half_held": WINDOW,
    "jobs": SUBMITTED,
    "jobs.never_ran": ENDED,
    "outcomes": ENDED,
    "stretches": LOG,
    "trace": SUBMITTED,
    "trace.cpus": SYSTEM,
    "trace.cpus_inferred": SYSTEM,
    "usage": WINDOW,
    "users": SUBMITTED,
    "users.by_held": WINDOW,
    "users.half_held": WINDOW,
    "utilization": WINDOW,
    "utilization.unfinished": ENDED,
    "wait": SUBMITTED,
    "window": LOG,
}

ANSWERS: Final = {
    "busy": (WINDOW, SYSTEM, LOG),
    "who": (WINDOW, SUBMITTED),
    "wait": (SUBMITTED,),
    "wrong": (ENDED, WINDOW, LOG),
    "changed": (LOG, SUBMITTED),
}
"""The spans of the facts that each answer of the first screen may take numbers from."""


def span_of(fact: str) -> Span | None:
    """
    Return the span of a *fact*; None where no sentence is made of its family.

    >>> span_of("users.half_held").what, span_of("users.half_jobs").what
    ('what all jobs held within the window of observation', 'the jobs submitted in the period')
    """
    parts = fact.split(".")
    names = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((SPANS[name] for name in names if name in SPANS), None)


def spans_of(facts: Iterable[str]) -> tuple[Span, ...]:
    """Return the spans of *facts*, each once."""
    return tuple(dict.fromkeys(span for fact in facts if (span := span_of(fact))))
