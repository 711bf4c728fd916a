"""The page of a plan: the answer, the waits before and after, the curve of sizes, and what it rests on."""

from collections.abc import Iterator, Sequence
from typing import Final

from gwa.evaluation.capacity import words
from gwa.evaluation.capacity.price import Price
from gwa.evaluation.capacity.reasons import WAYS
from gwa.evaluation.capacity.rule import CapacityPlan, Forecast, Recorded, Refusal
from gwa.report.columns import Cells, column, table_of
from gwa.report.document import Block, Column, Fact, Facts, FactTable, Figure, Note, Report, Section, Table
from gwa.report.figures.groups import Point, groups
from gwa.report.lead import Lead
from gwa.words.formatting import fraction, number, seconds
from gwa.words.message import Verbatim, capitalized, message

LINE_NOTE = message("At least 4 in 5 such answers lie within the line through a point.")
REST = message("How far to trust it")

CURVE: Final[Cells[Forecast]] = {
    column("processors"): lambda one: one.processors,
    Column("ratio", "Times, a minute added"): lambda one: words.factor(one.ratios[1]),
    Column("low", "Then, from", "seconds"): lambda one: one.after[0],
    Column("high", "Then, to", "seconds"): lambda one: one.after[2],
}
"""What is shown of the machine of each size."""

RECORDS: Final[Cells[Forecast]] = {
    Column("jobs", "Class of jobs"): lambda one: capitalized(words.jobs_of(one.among)),
    Column("way", "Predicted"): lambda one: capitalized(WAYS[one.estimator]),
    Column("off", "Median month of a part, off by at most"): lambda one: words.factor(one.record.off),
    Column("months", "Single months", "count"): lambda one: one.record.windows,
    Column("held", "Held by their bands", "count"): lambda one: one.record.held,
    Column("width", "Factor between the ends of bands"): lambda one: words.factor(one.record.width),
    Column("score", "Score, relative to 'no change'"): lambda one: words.times(one.record.score or 0.0),
    Column("seen", "Months as loaded as months seen", "fraction"): lambda one: one.seen,
}
"""What is shown of how well the months of each class were predicted."""

HELP = message(
    "Months of the log are held out in blocks, and their p95 waits are predicted from the other months. A way"
    " to predict them answers if its bands hold 80 % of the months, are a factor of 5 wide at most, and score"
    " 0.75 of what the median month does, or less. These bands are of single months; the interval of an"
    " answer is of the median month, and rests on how far that of each block is off."
)


def report(
    plan: CapacityPlan,
    name: str,
    price: Price | None = None,
    beside: Sequence[Recorded] = (),
    hours: Lead | None = None,
) -> Report:
    """
    Return the report on a *plan* of the trace called *name*.

    With it stands what added processors cost by a *price*, what is recorded *beside*, and what became of the
    *hours* of both machines.
    """
    sections = (
        Section("answer", message("The answer"), "", tuple(_answer(plan, price)), is_on_top=True),
        Section("sizes", message("Other sizes"), "", tuple(_curves(plan)), message("Other sizes")),
        Section(
            "beside", message("What needs no forecast"), "", tuple(_beside(beside)),
            message("What needs no forecast"),
        ),
        Section("record", message("What it rests on"), HELP, tuple(_rests(plan)), REST),
    )  # fmt: skip
    title = message(
        "What if there were {new} processors instead of {old}?",
        new=number(plan.asked), old=number(plan.processors),
    )  # fmt: skip
    return Report(
        title,
        Verbatim(name),
        tuple(one for one in sections if one.blocks),
        overline=message("Plan"),
        answer=words.sentences(plan)[0],
        lead=hours,
    )


def _forecasts(plan: CapacityPlan) -> list[Forecast]:
    return [one for one in plan.outcomes if isinstance(one, Forecast)]


def _answer(plan: CapacityPlan, price: Price | None) -> Iterator[Block]:
    """Yield the picture of waits before and after, the other sentences, and what is refused and why."""
    if plan.touched:
        yield Note(plan.touched.sentence())
    forecasts = _forecasts(plan)
    if forecasts:
        yield picture(forecasts)
        yield FactTable(
            "effects", "The p95 wait of the median month",
            (
                message("Recorded"), message("Then, from"), message("Then"), message("Then, to"),
                message("Times, a minute added"),
            ),
            tuple((capitalized(words.jobs_of(one.among)), tuple(_facts(place, one)))
                  for place, one in enumerate(forecasts)),
            "At least 4 in 5 such answers lie within the two ends. All are of the same months of four"
                " weeks, by the jobs submitted in them.",
        )  # fmt: skip
    refused = [one for one in plan.outcomes if isinstance(one, Refusal)]
    if refused:
        yield reasons(refused)
    facts = [
        Fact("plan.processors", plan.processors, "Processors now", "count"),
        Fact("plan.asked", plan.asked, "Processors then", "count"),
        Fact("plan.jobs", plan.jobs, "Jobs", "count"),
    ]
    if plan.touched:
        label = message("Share of the waiting that more processors touch")
        facts.append(Fact("plan.touched", plan.touched.share, label, "fraction"))
        label = message("Share of the waiting by rules that no replay has")
        facts.append(Fact("plan.by_rules", plan.touched.by_rules, label, "fraction"))
    if price:
        facts.append(
            Fact(
                "plan.price",
                float(price.of(words.added(plan))),
                "Price of a year",
                text=words.cost(plan, price),
            )
        )
    yield Facts(tuple(facts))


def picture(forecasts: Sequence[Forecast]) -> Figure:
    """Return the picture of waits before and after, of each class that is answered."""
    now: list[Point] = [(one.before, None) for one in forecasts]
    then: list[Point] = [(one.after[1], (one.after[0], one.after[2])) for one in forecasts]
    alt = message(
        "The p95 wait of {jobs} in the median month was {now} as recorded and would be {then}.",
        jobs=words.jobs_of(forecasts[0].among), now=seconds(forecasts[0].before),
        then=seconds(forecasts[0].after[1]),
    )  # fmt: skip
    places = [capitalized(words.jobs_of(one.among)) for one in forecasts]
    series: dict[str, list[Point]] = {message("recorded"): now, message("with more processors"): then}
    return groups(
        "before-after", message("The p95 wait of the median month, before and after"), places, series, "",
        message("p95 wait"), alt, unit="seconds", note=LINE_NOTE,
    )  # fmt: skip


def _facts(place: int, one: Forecast) -> Iterator[Fact]:
    low, middle, high = one.after
    for key, label, value in (
        ("now", message("p95 wait, recorded"), one.before),
        ("low", message("p95 wait then, low end"), low),
        ("then", message("p95 wait then"), middle),
        ("high", message("p95 wait then, high end"), high),
    ):
        yield Fact(f"plan.class{place}.{key}", value, label, "seconds", text=seconds(value))
    yield Fact(
        f"plan.class{place}.ratio", one.ratios[1], "p95 wait, times, a minute added",
        text=words.factor(one.ratios[1]),
    )  # fmt: skip


def _held(place: int, one: Forecast) -> Fact:
    """Return the share of held-out months that lay in their bands, which are of single months."""
    held = message(
        "{held} of {months} months ({cover})",
        held=number(one.record.held), months=number(one.record.windows), cover=fraction(one.record.cover),
    )  # fmt: skip
    label = message("Single months held by their bands")
    return Fact(f"plan.class{place}.cover", one.record.cover, label, "fraction", text=held)


def reasons(refused: Sequence[Refusal]) -> Table:
    """Return what the log cannot tell of each class of jobs, and why."""
    columns = (
        Column("jobs", "Class of jobs"), Column("reason", "Why the log cannot tell"),
        Column("found", "Found", minor=True), Column("needed", "Needed", minor=True),
    )  # fmt: skip
    rows = tuple(
        (capitalized(words.jobs_of(one.among)), capitalized(reason.text), reason.found, reason.needed)
        for one in refused
        for reason in one.reasons
    )
    return Table("refused", "What the log cannot tell, and why", columns, rows)


def _curves(plan: CapacityPlan) -> Iterator[Block]:
    """Yield the waits of machines between both, where they are answered."""
    for place, curve in enumerate(plan.curves):
        forecasts = [one for one in curve if isinstance(one, Forecast)]
        if len(forecasts) < 2:  # noqa: PLR2004 - one point is no curve
            continue
        jobs = words.jobs_of(forecasts[0].among)
        points: list[Point] = [(one.after[1], (one.after[0], one.after[2])) for one in forecasts]
        sizes = [one.processors for one in forecasts]
        yield groups(
            f"curve-{place}",
            message("The p95 wait of {jobs} in the median month, by the size of the machine", jobs=jobs),
            [number(size) for size in sizes], {message("p95 wait"): points}, message("Processors"),
            message("p95 wait"),
            message(
                "The p95 wait of the median month, for {least} to {most} processors.",
                least=number(sizes[0]), most=number(sizes[-1]),
            ),
            x=[float(size) for size in sizes], unit="seconds", note=LINE_NOTE,
        )  # fmt: skip
        title = message("The p95 wait of {jobs} in the median month", jobs=jobs)
        yield table_of(f"curve-{place}-table", title, forecasts, CURVE)


def _beside(beside: Sequence[Recorded]) -> Iterator[Block]:
    if beside:
        columns = (Column("what", "What", minor=True), Column("text", "Recorded"))
        yield Table(
            "beside", "What the log records", columns,
            tuple((Verbatim(one.id), one.text) for one in beside),
            "What is recorded of jobs may free processors before any are bought.",
        )  # fmt: skip


def _rests(plan: CapacityPlan) -> Iterator[Block]:
    """Yield the record of each answer, and all that a reader has to know besides."""
    forecasts = _forecasts(plan)
    if forecasts:
        yield table_of("records", message("How well held-out months were predicted"), forecasts, RECORDS)
        yield Facts(tuple(_held(place, one) for place, one in enumerate(forecasts)), listed=False)
    notes = tuple((note,) for note in words.remarks(plan))
    if notes:
        yield Table("caveats", "What to know besides", (Column("text", "It rests on"),), notes)
