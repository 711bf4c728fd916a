"""The page of an answer: the question, the answer, before and after on one axis, then how far to trust it."""

from collections.abc import Iterator
from typing import Final

from gwa.evaluation.capacity.page import picture, reasons
from gwa.evaluation.capacity.rule import Refusal
from gwa.evaluation.capacity.words import factor, times
from gwa.evaluation.whatif import words
from gwa.evaluation.whatif.answer import WhatIfAnswer
from gwa.evaluation.whatif.effect import SLOWDOWN, TAIL, WAIT, Effect
from gwa.evaluation.whatif.validation import OFFSET, SIZE_NAMES, Validation, WaitLevel
from gwa.report.columns import Cells, column, table_of
from gwa.report.document import Block, Column, Fact, Facts, FactTable, Note, Report, Section, Table
from gwa.report.figures.groups import Point, groups
from gwa.report.figures.lines import lines
from gwa.report.lead import Lead
from gwa.words.formatting import fraction, number
from gwa.words.message import Verbatim
from gwa.words.unit import Unit

SIZES_NOTE = "Sizes are shares of the machine."

LINE_NOTE = (
    "The line through a point is the range of the ratio, times the replayed wait now: about 4 in 5 such"
    " ratios hold."
)

RATIO_NOTE = (
    "Both sides are simulated, and those with a ratio are geometric means over the replays. The ratio is the"
    " changed value divided by that of now; about 4 in 5 such ratios lie within the range beside it. A minute"
    " is added to waits in means and ratios, so that seconds do not decide them."
)

NO_RATIO_NOTE = (
    "Both sides are simulated, waits as geometric means over the replays. The machine does not keep up: how"
    " much longer jobs wait depends on the length of the log, so there is no ratio."
)

TRUST_HELP = (
    "The jobs of the log, replayed on the machine as it was, should wait as they did. They do not wait"
    " exactly as long, since a replay knows neither priorities nor limits nor outages. How like both are does"
    " not say whether a change is foretold well: only months that were held out do, and only of more"
    " processors."
)

SIZES = dict(zip(SIZE_NAMES, ("up to 1 %", "1 % to 5 %", "5 % to 25 %", "over 25 %"), strict=True))
"""What the axis of the picture calls classes of size."""

TRUST = "How far to trust it"

QUEUED = " Queued jobs and work are means over time, work in time that the whole machine needs for it."

HELP = {"backlog": "How long the whole machine would need for the work that waits on average."}

WAITS: Final[Cells[Effect]] = {
    Column("class", "Class of jobs"): lambda one: Verbatim(one.name),
    column("jobs"): lambda one: one.jobs,
    Column("old", "Now", "seconds"): lambda one: one.old,
    Column("new", "Changed", "seconds"): lambda one: one.new,
}
RATIOS: Final[Cells[Effect]] = {
    Column("ratio", "Ratio"): lambda one: factor(one.ratio),
    Column("range", "Range of the ratio"): lambda one: f"{times(one.low)} to {times(one.high)}",
}
"""What is shown of the waits of a class, and of their ratio where the machine keeps up."""

LEVELS: Final[Cells[WaitLevel]] = {
    Column("size", "Class of jobs"): lambda one: one.name,
    column("jobs"): lambda one: one.jobs,
    Column("recorded", "Recorded", "seconds"): lambda one: one.recorded,
    Column("simulated", "Replayed", "seconds"): lambda one: one.simulated,
    Column("level", "Replayed over recorded"): lambda one: factor(one.ratio) if one.recorded else None,
}
"""What is shown of the waits of a class as recorded and as replayed."""

KEYS = {WAIT.name: "wait", TAIL.name: "tail", SLOWDOWN.name: "slowdown"}
"""What the facts of the effects are called, by the name of the measure."""


def report(answer: WhatIfAnswer, name: str, hours: Lead | None = None) -> Report:
    """Return the report on an answer about the trace called *name*, with the *hours* of both machines."""
    sections = (
        Section("answer", "The answer", "", tuple(_answer(answer)), is_on_top=True),
        Section("caveats", TRUST, "", tuple(_caveats(answer)), TRUST),
        Section("trust", "The replay beside the log", TRUST_HELP, tuple(_trust(answer)), TRUST),
        Section("classes", "By size and queue", "", tuple(_by_class(answer)), "By size and queue"),
    )
    return Report(
        Verbatim(words.question(answer)),
        Verbatim(name),
        tuple(one for one in sections if one.blocks),
        overline="What if",
        answer=words.answer_sentence(answer),
        lead=hours,
    )


def _answer(answer: WhatIfAnswer) -> Iterator[Block]:
    """Yield the picture of waits before and after, and the numbers."""
    if answer.forecasts:
        yield picture(answer.forecasts)
    wait = answer.effects[0]
    shown = {"all jobs": wait, **{SIZES[one.name]: one for one in answer.sizes}}
    has_range = not answer.falls_behind
    now: list[Point] = [(one.old, None) for one in shown.values()]
    changed: list[Point] = [(one.new, _range(one) if has_range else None) for one in shown.values()]
    alt = (
        f"The mean wait is {words.wait_text(wait.old)} now and {words.wait_text(wait.new)} changed, in a"
        " replay."
    )
    notes = (SIZES_NOTE if answer.sizes else "", LINE_NOTE if has_range else "")
    yield groups(
        "replayed", "Mean wait now and changed, in a replay on an ideal machine", list(shown),
        {"now": now, "changed": changed}, "", "Mean wait", alt, unit="seconds",
        note=" ".join(filter(None, notes)),
    )  # fmt: skip
    yield Facts(tuple(_facts(answer)), listed=False)
    rows = [
        (one.name.capitalize(), tuple(_effect_facts(KEYS[one.name], one, has_ratio=not answer.falls_behind)))
        for one in answer.effects
    ]
    old, new = answer.old, answer.new
    if not answer.is_at_once:
        rows += [
            _machine_row("utilization", "Utilization", (old.utilization, new.utilization), "fraction"),
            _machine_row("waiting", "Queued jobs", (old.waiting, new.waiting), ""),
            _machine_row("backlog", "Queued work", (old.backlog, new.backlog), "seconds"),
        ]
    columns = ("Now", "Changed", *(shown.label for shown in RATIOS))
    note = (NO_RATIO_NOTE if answer.falls_behind else RATIO_NOTE) + ("" if answer.is_at_once else QUEUED)
    yield FactTable("effects", "Now and changed", columns, tuple(rows), note)


def _range(one: Effect) -> tuple[float, float]:
    """Return the ends of the range of the ratio times the wait now: the ratios are of waits plus `OFFSET`."""
    low, high = (max((one.old + OFFSET) * ratio - OFFSET, 0.0) for ratio in (one.low, one.high))
    return low, high


def _effect_facts(key: str, one: Effect, *, has_ratio: bool) -> Iterator[Fact]:
    """Yield a measure now and changed, and the ratio: none where it depends on the length of the log."""
    unit: Unit = "" if one.is_slowdown else "seconds"
    for which, value in (("now", one.old), ("changed", one.new)):
        text = f"{value:,.1f}" if one.is_slowdown else words.wait_text(value)
        yield Fact(f"whatif.{key}.{which}", value, f"{one.name.capitalize()}, {which}", unit, text=text)
    ratio, text = (one.ratio, factor(one.ratio)) if has_ratio else (None, "–")
    yield Fact(f"whatif.{key}.ratio", ratio, f"{one.name.capitalize()}, ratio", text=text)
    ends = [one.low, one.high] if has_ratio else None
    text = " to ".join(map(times, ends or ())) or "–"
    yield Fact(f"whatif.{key}.range", ends, f"{one.name.capitalize()}, range", text=text)


def _machine_row(
    key: str, title: str, values: tuple[float, float], unit: Unit
) -> tuple[str, tuple[Fact, ...]]:
    """Return a row of what is simulated of the machine, which has no interval."""
    texts = [_rounded(value, unit) for value in values]
    facts = [
        Fact(f"whatif.{new}{key}", value, f"{title}, {which}", unit, help=HELP.get(key, ""), text=text)
        for new, which, value, text in zip(("", "new_"), ("now", "changed"), values, texts, strict=True)
    ]
    none = [
        Fact(f"whatif.{key}.{which}", None, f"{title}, {which}", text="–") for which in ("ratio", "range")
    ]
    return title, (*facts, *none)


def _rounded(value: float, unit: Unit) -> str:
    if unit == "seconds":
        return words.wait_text(value)
    return fraction(value) if unit == "fraction" else f"{value:,.1f}"


def _facts(answer: WhatIfAnswer) -> Iterator[Fact]:
    """Yield what the table does not show."""
    old, new = answer.old, answer.new
    if answer.falls_behind:
        yield Fact("whatif.ratio", None, "Mean wait, ratio", text="the machine does not keep up")
    else:
        yield Fact("whatif.ratio", answer.effects[0].ratio, "Mean wait, ratio")
    if answer.touched:
        share = answer.touched.share
        yield Fact("whatif.touched", share, "Share of the waiting that the change touches", "fraction")
        rules = answer.touched.by_rules
        yield Fact("whatif.by_rules", rules, "Share of the waiting by rules that no replay has", "fraction")
    yield Fact("whatif.jobs", len(old.world), "Jobs replayed", "count")
    yield Fact("whatif.capacity", old.world.capacity, f"{old.world.unit.capitalize()} now", "count")
    yield Fact("whatif.new_capacity", new.world.capacity, f"{new.world.unit.capitalize()} changed", "count")


def _caveats(answer: WhatIfAnswer) -> Iterator[Block]:
    """Yield all that a reader has to know besides, in one table, and what the log itself cannot tell."""
    rows = [("Replayed", f"{number(len(answer.old.world))} jobs"), ("Machine", words.trust(answer))]
    rows += [("Waiting", text) for text in words.reach(answer)]
    rows += [("Assumed", text) for text in words.assumptions(answer)]
    rows += [("Note", text) for text in words.exceptions(answer)]
    columns = (Column("what", "What"), Column("text", "How"))
    yield Table("caveats", "What the answer rests on", columns, tuple(rows))
    refused = [one for one in answer.plan.outcomes if isinstance(one, Refusal)] if answer.plan else []
    if refused:
        yield reasons(refused)


def _trust(answer: WhatIfAnswer) -> Iterator[Block]:
    yield from _beside_the_log(answer.validation)
    columns = (Column("replay", "Replay"), Column("times", "Ratio of mean waits"))
    rows = tuple((name, factor(ratio)) for name, ratio in answer.members)
    yield Table("replays", "The replays of the ensemble", columns, rows)


def _beside_the_log(validation: Validation) -> Iterator[Block]:
    """Yield the waits of the log beside those of the machine as it was, replayed."""
    if not validation.level.jobs:
        yield Note("The log records no waits.")
        return
    levels = (validation.level, *validation.sizes)
    yield table_of("levels", "Mean waits, recorded and replayed", levels, LEVELS)
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
            "The mean wait of each week as recorded and as replayed.",
            log=(False, False),
        )


def _by_class(answer: WhatIfAnswer) -> Iterator[Block]:
    """Yield the numbers of each class, and a picture of queues: that of sizes is in the answer."""
    for id, title, effects in (  # noqa: A001 - as blocks call it
        ("sizes", "Mean wait by size", answer.sizes),
        ("queues", "Mean wait by queue", answer.queues),
    ):
        if effects and id == "queues":
            now: list[Point] = [(one.old, None) for one in effects]
            changed: list[Point] = [(one.new, None) for one in effects]
            alt = f"The simulated mean waits of {len(effects)} classes of jobs, now and changed."
            names = [Verbatim(one.name) for one in effects]
            yield groups(
                id, title, names, {"now": now, "changed": changed}, "", "Mean wait", alt, unit="seconds"
            )
        if effects:
            ratios = dict.fromkeys(RATIOS, lambda _: None) if answer.falls_behind else RATIOS
            yield table_of(f"{id}-table", title, effects, {**WAITS, **ratios})
