"""Outages, missing rows, and stretches in which nothing was submitted or nothing ran."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.calendar import MAXIMUM_DAYS
from gwa.metrics.idleness import idleness, log_period
from gwa.metrics.stillness import (
    Kind,
    Stillness,
    Stretch,
    known_area,
    still_for_days,
    stillness,
    unaccounted_in,
)
from gwa.metrics.window import window
from gwa.report.columns import first_of, table_of
from gwa.report.document import Block, Column, Fact, Facts, Note, Table
from gwa.report.facts import facts_of
from gwa.store.store import Store
from gwa.util.units import DAY
from gwa.words.formatting import timestamp
from gwa.words.message import Message, message

KINDS: Final[Mapping[Kind, tuple[str, str, str]]] = {
    "outage": (
        "outages",
        message("Outage or maintenance"),
        message("Outages: nothing ran while jobs waited"),
    ),
    "missing": (
        "missing",
        message("Rows missing"),
        message("Stretches in which rows are missing"),
    ),
    "still": (
        "still",
        message("Nothing submitted, nothing ran"),
        message("Stretches in which nothing was submitted and nothing ran"),
    ),
    "silent": (
        "silent",
        message("Nothing submitted"),
        message("Other stretches in which nothing was submitted"),
    ),
}
"""What each kind is called in the ids of facts, in the table, and in the labels of facts."""

UNACCOUNTED: Final = message("Missing rows, and stillness of a day or more")

MAXIMUM_ROWS: Final = 20


@analysis(
    "Outages and gaps",
    Chapter.UTILIZATION,
    facts=(
        "stretches",
        "capacity.idle",
        "capacity.stretches",
        *(f"capacity.{name}" for name, *_ in KINDS.values()),
        "capacity.unaccounted_seconds",
        "utilization.known_mean",
        "utilization.known_busy",
    ),
    needs=("submit_time",),
    order=3,
)
def stretches(store: Store) -> Iterator[Block]:
    """
    Stretches in which nothing ran or nothing was submitted, of all jobs of the log, to the second.

    Nothing ran between the latest end of all jobs that had started and the next start, in the window in
    which the log knows the load.

    An outage is a stretch of an hour or more in which nothing ran and jobs waited longer than jobs of this
    log wait when at most half of its peak is busy and none waits: the product, over the users who waited, of
    the share of such waits that are as long. Or jobs of more users started within half an hour of its end
    than chance explains. It is listed if the probability of any in the log is at most 2 %, from the first
    submission of such a job or from when the machine stopped, which is a lower bound of its length. Outages
    of parts of a machine, and those below two hours, are not found.

    A gap is a run of whole hours without a submission that a Markov chain of empty hours, by the hour of the
    week, has with a probability of at most 0.1 % in the log. Rows are missing in it if job numbers jump by
    30 % or more of what is usual in such a time, and by more than 20. If nothing ran in 90 % of it, or for a
    day, the machine was down or closed, or rows are missing: the log does not tell. Where an archive numbered
    the rows that it had, no jump proves nothing. Then what ran is unknown since the last submission, and the
    mean outside gaps leaves that time out, too.
    """
    period = log_period(store)
    if period is None or period[1] - period[0] > MAXIMUM_DAYS * DAY:
        yield Note("Jobs lie more than a century apart: some times in the log are wrong.")
        return
    found = stillness(store)
    yield Facts((*_idle_facts(store), *_kind_facts(found)))
    zone = None if store.system.relative else store.system.timezone.key
    yield Facts((_list_fact(found, zone), *_unaccounted_facts(store, found)), listed=False)
    if found.stretches:
        yield _table(found.stretches)
    elif found.knows_waits and found.knows_rows and found.knows_runs:
        yield Note("No outage of the whole machine of two hours or more is seen, and no gap.")


def _idle_facts(store: Store) -> Iterator[Fact]:
    """Yield how long nothing ran."""
    idle = idleness(store)
    share = idle.seconds / (idle.period[1] - idle.period[0]) if idle else None
    seconds, stretches = (idle.seconds, len(idle.begins)) if idle else (None, None)
    yield from facts_of(
        "capacity",
        ("idle", share, "Time in which nothing ran", "fraction"),
        ("idle_seconds", seconds, "Time in which nothing ran, in all", "seconds"),
        ("stretches", stretches, "Stretches of an hour or more without any job", "count"),
        unknown="unknown",
    )


def _kind_facts(found: Stillness) -> Iterator[Fact]:
    """Yield how many stretches of each kind there are, and how long they are in all."""
    known = {"outage": found.knows_waits, "missing": True, "still": found.knows_runs, "silent": True}
    rows = [(name, label, known[kind], found.of(kind)) for kind, (name, _, label) in KINDS.items()]
    for_days = message("Stretches of a day or more in which nothing was submitted and nothing ran")
    rows.append(("still.days", for_days, found.knows_runs, still_for_days(found.stretches)))
    for name, label, is_known, of_kind in rows:
        lengths = [stretch.seconds for stretch in of_kind] if is_known and found.knows_rows else None
        number, seconds = (None, None) if lengths is None else (len(lengths), sum(lengths))
        in_all = message("{label}, in all", label=label)
        yield from facts_of(
            f"capacity.{name}",
            ("count", number, label, "count"), ("seconds", seconds, in_all, "seconds"),
            unknown=_unknown(found),
        )  # fmt: skip


def _unknown(found: Stillness) -> Message:
    """Return why it is not known of what kind stretches are."""
    if found.knows_rows:
        return message("unknown")
    return message("unknown: the numbers that jobs had in the source are lost, and rows may be missing")


def _list_fact(found: Stillness, zone: str | None) -> Fact:
    """Return all stretches: begin, end and since when what ran is unknown, also by the clock of the log."""
    return Fact(
        "stretches",
        [
            {
                "kind": stretch.kind,
                "begin": stretch.begin,
                "end": stretch.end,
                "seconds": stretch.seconds,
                "from": timestamp(stretch.begin, zone),
                "to": timestamp(stretch.end, zone),
                "jobs": stretch.jobs,
                "users": stretch.users,
                "numbers_passed": stretch.numbers.passed if stretch.numbers else None,
                "unknown_begin": stretch.unknown.begin,
                "unknown_from": timestamp(stretch.unknown.begin, zone),
                "rows_complete": bool(stretch.numbers and stretch.numbers.shows_no_missing_rows),
            }
            for stretch in found.stretches
        ]
        if found.knows_rows
        else None,
        "Outages and gaps",
        text="" if found.knows_rows else _unknown(found),
    )


def _unaccounted_facts(store: Store, found: Stillness) -> Iterator[Fact]:
    """Yield how long it is unknown what ran, and the mean utilization of the rest of the window."""
    unaccounted = sum(stretch.seconds for stretch in found.unaccounted)
    yield from facts_of(
        "capacity",
        ("unaccounted_seconds", unaccounted if found.knows_rows else None, UNACCOUNTED, "seconds"),
        unknown=_unknown(found),
    )
    period = window(store).period
    is_known = period and store.system.cpus and found.knows_rows
    area, length = known_area(store, period) if period and is_known else (0.0, 0.0)
    text = "" if length > 0 else _unknown(found)
    there = store.system.capacity(period, unaccounted_in(store, period)) if period and length > 0 else None
    yield Fact(
        "utilization.known_mean",
        area / there if there else None,
        "Mean utilization outside missing rows and stillness of a day or more",
        "fraction",
        text=text if store.system.largest or text else "unknown",
    )
    yield Fact(
        "utilization.known_busy",
        area / length if length > 0 else None,
        "Busy processors, mean outside missing rows and stillness of a day or more",
        "count",
        text=text,
    )


def _table(every: Sequence[Stretch]) -> Table:
    longest = sorted(every, key=lambda stretch: (-stretch.seconds, stretch.begin))[:MAXIMUM_ROWS]
    return table_of(
        "stretches",
        "Outages and gaps, the longest first",
        longest,
        {
            Column("kind", "What"): lambda one: KINDS[one.kind][1],
            Column("begin", "From", "timestamp"): lambda one: one.begin,
            Column("end", "To", "timestamp"): lambda one: one.end,
            Column("seconds", "For", "seconds"): lambda one: one.seconds,
            Column("jobs", "Jobs waiting", "count"): lambda one: one.jobs,
            Column("users", "of users", "count"): lambda one: one.users,
        },
        first_of(len(longest), len(every)),
    )
