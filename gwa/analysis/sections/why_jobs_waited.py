"""What was true while jobs waited."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from gwa.analysis.base import Chapter, MadeWhen, analysis
from gwa.analysis.waiting_conditions import CONDITION_NAMES, SEEN, as_shown, by_name
from gwa.analysis.waiting_sentences import noted_limits, sentences
from gwa.metrics.waiting import CONDITIONS, Waiting, waiters, waiting
from gwa.metrics.waiting_classes import ClassOfWaiting, by_class
from gwa.metrics.waiting_reasons import reasons
from gwa.report.document import Block, Column, Fact, Facts, Figure, Note, Table
from gwa.report.facts import number
from gwa.report.figures.shares import Bar, shares
from gwa.store.store import Store
from gwa.words.formatting import fraction
from gwa.words.message import message, within_sentence
from gwa.words.unit import Value

KINDS: Final = {
    "size": message("Processors"),
    "queue": message("Queue"),
    "user": message("User"),
    "project": message("Project"),
    "reason": message("Noted reason"),
    "hour": message("Hour"),
    "month": message("Month"),
}

WEIGHT_OF_ALL: Final = 0.3
"""How thick the bar of all jobs is: one that weighs so much."""

MAXIMUM_ROWS: Final = 24
"""The table of more classes has those that waited most, or the last."""


@analysis(
    "Why jobs waited",
    Chapter.WAITS,
    facts=("waiting",),
    needs=("wait_time",),
    order=2,
    made=MadeWhen.ON_REQUEST,
)
def why_jobs_waited(store: Store) -> Iterator[Block]:
    """
    What was true while jobs waited: of all seconds that jobs waited, the share of each condition.

    A log cannot tell causes, but conditions. Each second of each waiting job has the first that holds then:
    the job could not start yet, where the log records that; its size is not known, or what ran then, and what
    is known leaves room; nothing at all ran, for an hour or more; it asked for more processors than were
    free, in its partition where partitions have processors of their own; for more GPUs than were free; its
    owner was at a ceiling of its own; it would have taken processors that no job used for a day before or
    after; another job that could start needed more than was free, so that room may have been kept for it; it
    was the last minute before the start; or none of these, and there was room for every waiting job.

    A scheduler that starts whatever comes first, by any priority, leaves no second in which every waiting job
    would fit. What was with room for all is therefore the least that limits, reservations, drained nodes,
    fragmentation or other resources kept waiting, and no order of jobs explains it.

    Looked at are 200,000 moments, evenly spaced over all seconds waited: a share of n moments has a standard
    error of 0.5/√n at most, and of fewer than 1,000 there is none. Levels are always those of the whole log;
    what is selected, or a period, chooses moments. Where more than 5 % of the numbers of jobs are absent,
    rows are missing: more was busy than the log shows, the machine was full for at least the share that is
    said, and of room nothing is. Where the log does not say how many processors there are, they are those
    that were held at once for minutes; the machine may be larger.

    A noted reason is what the scheduler's records say last of why a job waited, of one moment and not of the
    whole wait. Slurm's accounting keeps none that was the priority, or a lack of resources.
    """
    found, noted = waiting(store), reasons(store, waiters(store))
    for sentence in (*sentences(found), *noted_limits(noted)):
        yield Note(sentence)
    yield Facts(tuple(_facts(found)), listed=False)
    if noted:
        of_reasons = [asdict(one) for one in noted]
        yield Facts((Fact("waiting.reasons", of_reasons, "Reasons noted of waiting"),), listed=False)
    if found.why_unknown:
        return
    rows = [asdict(one) | {"same": list(one.same)} for one in found.ceilings]
    yield Facts((Fact("waiting.ceilings", rows, "Ceilings of owners"),), listed=False)
    for kind, classes in by_class(store, found).items():
        rows = [_row(found, one) for one in classes]
        label = message("Conditions of waiting by {kind}", kind=within_sentence(KINDS[kind]))
        yield Facts((Fact(f"waiting.by_{kind}", rows, label),), listed=False)
        if len(classes) > 1:
            yield _picture(found, kind, classes)
            yield _table(found, kind, classes)


def _facts(found: Waiting) -> Iterator[Fact]:
    """Yield what is known of the waiting of all, and what the shares are."""
    by_job, by_core_hour = found.shares() or {}, found.shares_by_core_hour() or {}
    for name in CONDITIONS:
        value = None if name == "held" and not found.knows_holds else by_job.get(name)
        text = message("Share of the waiting: {condition}", condition=CONDITION_NAMES[name])
        yield Fact(f"waiting.{name}.share", value, text, "fraction")
        value = None if name == "held" and not found.knows_holds else by_core_hour.get(name)
        text = message("Share of the waiting by core-hour: {condition}", condition=CONDITION_NAMES[name])
        yield Fact(f"waiting.{name}.share_by_core_hour", value, text, "fraction")
    seconds = found.seconds * len(found.places)
    yield Fact("waiting.seconds", number(seconds), "Time that jobs waited", "seconds")
    yield Fact("waiting.moments", len(found.places), "Moments of waiting looked at", "count")
    yield Fact("waiting.capacity", number(found.capacity), "Processors that could be free", "count")
    yield Fact("waiting.is_bound", found.is_bound, "What the shares are: values or bounds")
    yield Fact("waiting.partitions", found.partitions, "Whether partitions share processors")
    yield Fact("waiting.absent", found.absent, "Share of job numbers that are absent", "fraction")
    missing = message("Why jobs may be missing")
    yield Fact("waiting.missing", found.missing or None, missing, text="none")
    why = found.why_unknown or None
    yield Fact("waiting.why_unknown", why, "Why it cannot be told why jobs waited", text="none")


def _row(found: Waiting, one: ClassOfWaiting) -> dict[str, Any]:
    """Return the shares of a class; what is not recorded is unknown, not 0."""
    unrecorded = {} if found.knows_holds else {"held": None}
    return {"id": one.name, "moments": one.moments, "share": one.share} | by_name(one.conditions) | unrecorded


def _picture(found: Waiting, kind: str, classes: Sequence[ClassOfWaiting]) -> Figure:
    """Return a bar for all jobs, by job and by core-hour, and one for each class, as thick as it waited."""
    shown = _shown(kind, classes)
    whole = {message("all jobs"): found.shares(), message("by core-hour"): found.shares_by_core_hour()}
    of_all = [Bar(label, WEIGHT_OF_ALL, as_shown(found, parts)) for label, parts in whole.items() if parts]
    title = message("Conditions while jobs waited, by {kind}", kind=within_sentence(KINDS[kind]))
    told = as_shown(found, found.shares() or {})
    first = max(CONDITION_NAMES, key=lambda name: told.get(name, 0.0))
    return shares(
        f"waiting-picture-{kind}",
        title,
        [*of_all, *(Bar(one.name, one.share, as_shown(found, one.conditions)) for one in shown)],
        {str(name): label for name, label in CONDITION_NAMES.items()},
        message(
            "{title}. Of all waiting most was of one condition: {condition}, {share}.",
            title=title,
            condition=within_sentence(CONDITION_NAMES[first]),
            share=fraction(told[first]),
        ),
        note=message("Bars are as thick as the share of the waiting that they are of."),
    )


def _shown(kind: str, classes: Sequence[ClassOfWaiting]) -> Sequence[ClassOfWaiting]:
    """Return the classes that waited most or, of months, the last."""
    return classes[:MAXIMUM_ROWS] if kind != "month" else classes[-MAXIMUM_ROWS:]


def _table(found: Waiting, kind: str, classes: Sequence[ClassOfWaiting]) -> Table:
    """Return the conditions of each class, those that occur."""
    shown = [(one, as_shown(found, one.conditions)) for one in _shown(kind, classes)]
    seen = [name for name in CONDITIONS if any(told.get(name, 0.0) >= SEEN for _, told in shown)]
    columns = (
        Column(kind, KINDS[kind]),
        Column("share", "Share of waiting", "fraction"),
        *(Column(name, CONDITION_NAMES[name], "fraction") for name in seen),
    )
    rows: list[tuple[Value, ...]] = [
        (one.name, one.share, *(told[name] for name in seen)) for one, told in shown
    ]
    return Table(
        f"waiting-{kind}",
        message("Why jobs waited, by {kind}", kind=within_sentence(KINDS[kind])),
        columns,
        tuple(rows),
        minor=True,
    )
