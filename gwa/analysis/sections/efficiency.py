"""What jobs used of what they held, what was wasted, and who could ask for less."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from gwa.analysis.base import Chapter, analysis
from gwa.analysis.sections._impossible import impossible_note
from gwa.analysis.sections._rounding import counted_ratios
from gwa.breakdown.breakdown import largest
from gwa.breakdown.dimensions import by_name
from gwa.breakdown.measures import WASTE as WASTED_OF_A_CLASS
from gwa.breakdown.measures import Row
from gwa.breakdown.records import Records
from gwa.metrics.alerts import alerts, who_ask_for_less
from gwa.metrics.efficiency import (
    ASKED,
    KILLED,
    WASTED,
    Ratio,
    Share,
    killed,
    most_wasteful_users,
    overall,
    recorded,
    requests,
    sequential,
)
from gwa.report.columns import column
from gwa.report.document import Block, Column, Fact, Facts, Note, Table, list_of
from gwa.report.facts import facts_of, number
from gwa.report.figures.bars import bars
from gwa.store.store import Store
from gwa.words.formatting import fraction
from gwa.words.message import joined, message, within_sentence
from gwa.words.unit import Unit, Value

OWNERS: Final = ("users", "projects", "queues", "applications", "arrays")
"""The dimensions of those who waste."""

SHOWN: Final = ("users", "projects")
"""Those of which a page has a table: who can do something about it, and who pays for it."""

WASTE: Final[dict[str, tuple[str, str, Unit]]] = {
    "cpu": ("cpu_hours", message("CPU time not used"), "hours"),
    "memory": ("memory_gb_hours", message("Memory not used"), "gigabyte hours"),
    "gpu": ("gpu_hours", message("GPU time not used"), "hours"),
}

NEEDED: Final = ("run_time",)

MINIMUM_BARS: Final = 2
"""A single one compares nothing."""


@analysis("Efficiency", Chapter.REQUESTS, facts=("efficiency", "waste", "killed"), needs=NEEDED, order=1)
def efficiency(store: Store) -> Iterator[Block]:
    """
    What jobs used of what they held or asked for, what was wasted, and who could ask for less.

    Efficiency is what was used over what was given, of jobs of which both are known: CPU time over run time
    times processors, peak memory (or else memory used) over that requested, run time over requested time,
    and the use of GPUs. The mean weighs jobs by what they were given: it is the ratio of totals. Wasted is
    what was given and not used, of CPU and GPU hours and of memory, in gigabytes requested times hours; what
    some jobs used beyond that is not taken off. Requested time that is not used is not wasted. Jobs with
    over 5 % more CPU time, and over a second, than their processors had are left out and counted: that
    cannot be true.

    A user could ask for less where what 95 % of the jobs used at most, rounded up to three digits, is below
    what 95 % of the requests ask for at most. Not needed is, job by job, what was asked for beyond that, or
    beyond what the job used if that is more; time that was asked for and not used was not held. Where alerts
    on requests hold, these are the users for whom they do, else those who left most unused. Where nearly all
    jobs of each queue ask for the same time, it is the limit of the queue, and no user is named. A job is
    sequential on several processors if it ran for a minute or more and used no more CPU time than one of
    them has.
    """
    ratios = recorded(store)
    everything = overall(store) if ratios else None
    known = [ratio for ratio in ratios if everything and everything.parts[ratio.name].jobs]
    if everything and known:
        yield from _ratios(store, everything, known)
        yield from _owners(store, everything, known)
        yield from _requests(store, known)
        if any(ratio.name == "cpu" for ratio in known):
            yield _sequential(store)
    else:
        yield Note("The log does not record what jobs used of what they held or asked for.")
    if store.has("state"):
        yield _killed(store)


def _ratios(store: Store, everything: Share, ratios: Sequence[Ratio]) -> Iterator[Block]:
    """Yield the efficiency of all jobs, by what it is of."""
    rows = []
    facts: list[Fact] = []
    for ratio in ratios:
        part = everything.parts[ratio.name]
        median = number(counted_ratios(store, ratio.quotient, ratio.jobs).exact.median)
        rows.append((ratio.title, part.jobs, part.mean, median))
        facts += facts_of(
            f"efficiency.{ratio.name}",
            ("mean", part.mean, message("{title}: used of given", title=ratio.title), "fraction"),
            ("median", median, message("{title}: half of the jobs used less", title=ratio.title), "fraction"),
            ("jobs", part.jobs, message("{title}: jobs of which it is known", title=ratio.title), "count"),
        )
        if ratio.impossible != "false":
            label = message("{title}: jobs with more than possible, left out", title=ratio.title)
            facts.append(Fact(f"efficiency.{ratio.name}.impossible", part.impossible, label, "count"))
    yield Facts(tuple(facts), listed=False)
    columns = (
        Column("of", "Of"), column("jobs"), Column("mean", "Used of all", "fraction"),
        Column("median", "Median of jobs", "fraction"),
    )  # fmt: skip
    yield Table("efficiency", "Share of allocated resources used", columns, tuple(rows))
    yield from impossible_note(everything)
    wasted = [ratio for ratio in ratios if ratio.name in WASTED]
    yield Facts(
        tuple(
            Fact(f"waste.{key}", number(everything.parts[ratio.name].wasted), label, unit)
            for ratio in wasted
            for key, label, unit in (WASTE[ratio.name],)
        )
    )
    if len(rows) < MINIMUM_BARS:
        return
    texts = joined(
        ", ",
        (
            message("{title} {mean}", title=title, mean=fraction(mean))
            for title, _, mean, _ in rows
            if mean is not None
        ),
    )
    yield bars(
        "efficiency",
        "Share of allocated resources used",
        [title for title, *_ in rows],
        [mean or 0.0 for *_, mean, _ in rows],
        "",
        "Used",
        message("All jobs together used, of what was allocated: {texts}.", texts=texts),
        unit="fraction",
        horizontal=True,
    )


def _owners(store: Store, everything: Share, ratios: Sequence[Ratio]) -> Iterator[Block]:
    """Yield who wasted most, by user, project, queue, application and job array."""
    wasted = [ratio for ratio in ratios if ratio.name in WASTED]
    if not wasted:
        return
    order = wasted[0]
    total, (key, what, unit) = everything.parts[order.name].wasted, WASTE[order.name]
    for name in OWNERS:
        dimension = by_name(name)
        classes = largest(store, dimension, WASTED_OF_A_CLASS[order.name][0])
        if not classes:
            continue
        columns = (
            Column("id", dimension.heading), column("jobs"), Column(key, what, unit),
            Column("share", "Share of that", "fraction"),
            *(
                column(f"efficiency_{ratio.name}", f"{ratio.name}_efficiency")
                for ratio in ratios
            ),
        )  # fmt: skip
        title = message("{heading}s by {what}", heading=dimension.heading, what=what)
        rows = [_owner_row(row, order, total, ratios) for row in classes]
        records = Records(f"waste.{name}", title, columns, rows)
        yield records.fact
        if name in SHOWN:
            yield records.table(f"waste-{name}")


def _owner_row(row: Row, order: Ratio, total: float, ratios: Sequence[Ratio]) -> dict[str, Value]:
    """Return what the *row* of a class says of *ratios*: hours, and shares of what was given."""
    wasted = {ratio.name: _wasted(row, ratio) for ratio in ratios if ratio.name in WASTED}
    return {
        "id": row["id"],
        "jobs": row["jobs"],
        "share": wasted[order.name] / total if total else None,
        **{WASTE[name][0]: number(amount) for name, amount in wasted.items()},
        **{f"{ratio.name}_efficiency": row[f"efficiency_{ratio.name}"] for ratio in ratios},
    }


def _wasted(row: Row, ratio: Ratio) -> float:
    """Return what a class wasted in hours, or gigabyte hours: 0 where nothing is known."""
    name, scale = WASTED_OF_A_CLASS[ratio.name]
    return float(row[name] or 0.0) * scale / ratio.unit


UNITS: Final[dict[str, tuple[str, str, Unit, str, Unit]]] = {
    "memory": (
        "memory",
        message("Memory requested"),
        "kilobytes",
        message("Requested and not needed"),
        "gigabyte hours",
    ),
    "time": ("time", message("Time requested"), "seconds", message("Requested and not needed"), "hours"),
}


def _requests(store: Store, ratios: Sequence[Ratio]) -> Iterator[Block]:
    """Yield who could ask for less, of memory and of time; one acts on the first where no alert is due."""
    is_acted_on = not any(alert.holders for alert in alerts(store))
    for ratio in ratios:
        if ratio.name not in ASKED or not store.has("user_id"):
            continue
        users = who_ask_for_less(store, ratio.name)[: store.top] or most_wasteful_users(store, ratio)
        found = [request for request in requests(store, ratio.name, users) if request.unneeded > 0]
        if not found:
            continue
        name, heading, unit, unneeded, of = UNITS[ratio.name]
        rows = [
            {
                "id": one.user, "jobs": one.jobs, "asked": number(one.asked), "enough": number(one.enough),
                "unneeded": number(one.unneeded),
            }
            for one in found
        ]  # fmt: skip
        title = message("Who could ask for less {name}", name=name)
        columns = (
            Column("id", "User"), column("jobs"),
            Column("asked", message("{heading}, 95th percentile", heading=heading), unit),
            Column("enough", "Used, 95th percentile", unit), Column("unneeded", unneeded, of),
        )  # fmt: skip
        records = Records(f"efficiency.requests.{name}", title, columns, rows)
        yield records.fact
        yield replace(records.table(f"requests-{name}"), is_acted_on=is_acted_on)
        is_acted_on = False


def _sequential(store: Store) -> Facts:
    jobs, idle = sequential(store)
    return list_of(
        Fact("waste.sequential.jobs", jobs, "Sequential jobs on several processors", "count"),
        Fact("waste.sequential.cpu_hours", number(idle), "CPU hours of their idle processors", "hours"),
    )


def _killed(store: Store) -> Facts:
    """
    Return how many jobs were ended beyond a limit.

    That no job has the state of that does not say that no job was: a log may have no name for it.
    """
    labels = {
        "memory": message("Jobs ended for their memory"),
        "time": message("Jobs ended at their time limit"),
    }
    counts = {name: (jobs or None, hours if jobs else None) for name, (jobs, hours) in killed(store).items()}
    of_hours = {name: message("CPU hours of {lower}", lower=within_sentence(labels[name])) for name in labels}
    return Facts(
        tuple(
            fact
            for name in KILLED
            for fact in facts_of(
                f"killed.{name}",
                ("jobs", counts[name][0], labels[name], "count"),
                ("cpu_hours", number(counts[name][1]), of_hours[name], "hours"),
            )
        ),
        listed=any(jobs for jobs, _ in counts.values()),
    )
