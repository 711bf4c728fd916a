"""The page of an answer: how far it is to be trusted, what changes, and the replay beside the log."""

from collections.abc import Iterator

from gwa.evaluation.whatif import words
from gwa.evaluation.whatif.answer import Answer
from gwa.evaluation.whatif.effect import Effect
from gwa.report.document import Block, Column, Fact, Facts, Figure, Note, Report, Section, Table
from gwa.report.figures.groups import groups
from gwa.report.figures.lines import lines
from gwa.words.message import Verbatim

RATIO_NOTE = (
    "Ratio: new over old, both simulated; the geometric mean over the replays. About 4 in 5 such ratios lie"
    " between low and high."
)

BACKLOG = "How long the whole machine would need for the work that waits on average."

COLUMNS = (
    Column("old", "Now", "seconds"),
    Column("new", "Changed", "seconds"),
    Column("ratio", "Ratio"),
    Column("low", "Low"),
    Column("high", "High"),
)


def report(answer: Answer, name: str) -> Report:
    """Return the report on an answer about the trace called *name*."""
    sections = (
        Section("answer", "The answer", "", tuple(_answer(answer)), "Answer"),
        Section("trust", "The replay beside the log", _trust_help(), tuple(_trust(answer)), "Answer"),
        Section("classes", "By size and queue", "", tuple(_by_class(answer)), "Answer"),
    )
    title = f"What if: {words.what_changes(answer)}"
    return Report(title, name, tuple(one for one in sections if one.blocks), overline="What if")


def _answer(answer: Answer) -> Iterator[Block]:
    yield Note(words.trust(answer), "warning" if answer.validation.doubts else "info")
    yield Note(words.effect_sentence(answer))
    yield Facts(tuple(_facts(answer)), listed=False)
    wait, tail, slowdown = answer.effects
    yield Table(
        "effects",
        "Waits and slowdowns",
        (Column("measure", "Measure"), *COLUMNS[2:], Column("old", "Now"), Column("new", "Changed")),
        tuple(
            (one.name, one.ratio, one.low, one.high, before, after)
            for one, before, after in (
                (wait, _seconds(wait.old), _seconds(wait.new)),
                (tail, _seconds(tail.old), _seconds(tail.new)),
                (slowdown, f"{slowdown.old:.1f}", f"{slowdown.new:.1f}"),
            )
        ),
        RATIO_NOTE,
    )
    yield Table(
        "replays",
        "The replays of the ensemble",
        (Column("replay", "Replay"), Column("ratio", "Ratio of mean waits")),
        answer.members,
    )
    for remark in words.remarks(answer):
        yield Note(remark)


def _seconds(value: float) -> str:
    from gwa.words.formatting import seconds

    return seconds(value)


def _facts(answer: Answer) -> Iterator[Fact]:
    old, new = answer.old, answer.new
    if answer.falls_behind:
        text = "the machine does not keep up"
        yield Fact("whatif.ratio", None, "Mean wait, changed over now", text=text)
    else:
        yield Fact("whatif.ratio", answer.effects[0].ratio, "Mean wait, changed over now")
    yield Fact("whatif.backlog", old.backlog, "Work that waits on average, now", "seconds", BACKLOG)
    yield Fact("whatif.new_backlog", new.backlog, "Work that waits on average, changed", "seconds", BACKLOG)
    yield Fact("whatif.jobs", len(old.world), "Jobs replayed", "count")
    yield Fact("whatif.capacity", old.world.capacity, f"{old.world.unit.capitalize()} now", "count")
    yield Fact("whatif.new_capacity", new.world.capacity, f"{new.world.unit.capitalize()} changed", "count")
    yield Fact("whatif.utilization", old.utilization, "Utilization now", "fraction")
    yield Fact("whatif.new_utilization", new.utilization, "Utilization changed", "fraction")
    yield Fact("whatif.waiting", old.waiting, "Jobs waiting on average now")
    yield Fact("whatif.new_waiting", new.waiting, "Jobs waiting on average, changed")


def _trust_help() -> str:
    return (
        "The jobs of the log, replayed on the machine as it was, should wait as they did. They do not wait"
        " exactly as long, since a replay knows neither priorities nor limits nor outages. An answer is about"
        " this machine only if the mean wait is 0.5 to 2 times that recorded, and if the rank correlation of"
        " the weeks' mean waits is at least 0.5."
    )


def _trust(answer: Answer) -> Iterator[Block]:
    validation = answer.validation
    if not validation.level.jobs:
        yield Note("The log records no waits.")
        return
    yield Table(
        "levels",
        "Mean waits, recorded and replayed",
        (
            Column("size", "Jobs of"),
            Column("jobs", "Jobs", "count"),
            Column("recorded", "Recorded", "seconds"),
            Column("simulated", "Replayed", "seconds"),
            Column("level", "Replayed over recorded"),
        ),
        tuple(
            (level.name, level.jobs, level.recorded, level.simulated, level.ratio if level.recorded else None)
            for level in (validation.level, *validation.sizes)
        ),
    )
    if len(validation.weeks) > 2:  # noqa: PLR2004 - two points are no curve
        hours = {
            "recorded": (validation.weeks, validation.recorded / 3600),
            "replayed": (validation.weeks, validation.simulated / 3600),
        }
        yield lines(
            "weeks",
            "Mean wait by week, recorded and replayed",
            hours,
            "Week of the log",
            "Mean wait in hours",
            f"The mean wait of each week as recorded and as replayed: rank correlation"
            f" {validation.correlation:.2f}.",
            log=(False, False),
        )


def _by_class(answer: Answer) -> Iterator[Block]:
    for id, title, effects in (  # noqa: A001 - as blocks call it
        ("sizes", "Mean wait by size", answer.sizes),
        ("queues", "Mean wait by queue", answer.queues),
    ):
        if effects:
            yield _figure(id, title, effects)
            yield Table(
                f"{id}-table",
                title,
                (Column("class", "Jobs of"), Column("jobs", "Jobs", "count"), *COLUMNS),
                tuple(
                    (Verbatim(one.name), one.jobs, one.old, one.new, one.ratio, one.low, one.high)
                    for one in effects
                ),
                RATIO_NOTE,
            )


def _figure(id: str, title: str, effects: tuple[Effect, ...]) -> Figure:  # noqa: A002 - as blocks call it
    return groups(
        id,
        title,
        [Verbatim(one.name) for one in effects],
        {"now": [(one.old, None) for one in effects], "changed": [(one.new, None) for one in effects]},
        "Jobs of",
        "Mean wait",
        f"The simulated mean waits of {len(effects)} classes of jobs, now and changed.",
        unit="seconds",
    )
