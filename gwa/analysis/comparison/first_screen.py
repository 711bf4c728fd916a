"""The first screen of a comparison: what an operator asks of each trace, and what is beyond chance."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from gwa.analysis.comparison.curves import first_curves
from gwa.analysis.comparison.levels import APART_FROM_SIZE, SIZE, LevelDifference, signed
from gwa.analysis.comparison.over_time import OverTime, month_figures, strips_of
from gwa.analysis.comparison.trace_summary import TraceSummary
from gwa.report.document import Block, Fact, FactTable
from gwa.report.facts import number
from gwa.report.grid import is_number
from gwa.statistics.contrast import MINIMUM_LENGTH
from gwa.words.compared import look_equal
from gwa.words.formatting import show, significant
from gwa.words.message import Message, Number, Verbatim, capitalized, joined, message, within_sentence
from gwa.words.unit import Value

PAIR: Final = 2
"""Of more traces there are no differences: they are ranked."""

RANGES: Final = {"utilization.mean", "jobs.wait.p95", "jobs.failed.share"}
"""The facts of which the answer on several traces says how far they lie apart."""

LARGE_RATIO: Final = 2.0
"""A larger ratio is not given in percent."""


class AnswerRow(NamedTuple):
    """
    A *question*, *what* answers it, by its *fact*, and the *level* that is tested, empty for none.

    *less* and *more* say of the second of two traces how it differs from the first.
    """

    question: str
    what: str
    fact: str
    level: str
    less: tuple[str, str]
    more: tuple[str, str]


ROWS: Final = (
    AnswerRow(
        "How busy?", "utilization", "utilization.mean", "busy",
        ("less busy", "it is less busy"), ("busier", "it is busier"),
    ),
    AnswerRow(
        "Who?", "users for half of the core-hours", "users.half_cpu", "",
        ("fewer", "it has fewer users"), ("more", "it has more users"),
    ),
    AnswerRow(
        "Waits?", "median wait", "jobs.wait.median", "wait_median",
        ("shorter", "its median wait is shorter"), ("longer", "its median wait is longer"),
    ),
    AnswerRow(
        "Long waits?", "95th percentile of waits", "jobs.wait.p95", "wait_p95",
        ("shorter", "its 95th percentile of waits is shorter"),
        ("longer", "its 95th percentile of waits is longer"),
    ),
    AnswerRow(
        "Failures?", "failed jobs", "jobs.failed.share", "failed",
        ("fewer", "fewer of its jobs fail"), ("more", "more of its jobs fail"),
    ),
    AnswerRow(
        "What size?", "median processors", "jobs.procs.median", "processors",
        ("smaller", "its median job has fewer processors"), ("larger", "its median job has more processors"),
    ),
    AnswerRow(
        "How long?", "median run time", "jobs.runtime.median", "runtime_median",
        ("shorter", "its median run time is shorter"), ("longer", "its median run time is longer"),
    ),
)  # fmt: skip
"""What an operator asks, in the order of the table."""

VERDICTS: Final[Mapping[str, Message]] = {
    "equal": message("equal"),
    "differs": message("yes, {how}"),
    "differs a little": message("yes, a little {how}"),
    "no more than chance": message("no"),
    SIZE: message("may be due to size"),
}
"""Whether a difference is beyond chance, in words."""

NOT_FOUND: Final = {"no more than chance", "equal"}
"""The verdicts on a quantity in which no difference beyond chance is found."""

ANSWERED: Final = frozenset(row.level for row in ROWS)
"""The names of the quantities on the first screen."""

Levels = Mapping[str, LevelDifference]
"""Tested differences by the names of quantities."""


def first_screen(
    summaries: Sequence[TraceSummary], levels: Sequence[LevelDifference], courses: Sequence[OverTime]
) -> Iterator[Block]:
    """
    How busy each system was, who used it, how long jobs waited, how many failed, and what the jobs were like.

    Of two traces, the second is compared with the first. A dot is the difference that is tested, in
    percentage points: of utilization, of failed jobs, or of the jobs above the quantile that both traces have
    together. The line through it is what chance leaves open, at 5 % for all rows together; where it crosses
    the middle, the difference may be chance. More traces are ranked: the darker, the greater.
    """
    yield from strips_of(courses)
    if len(summaries) == PAIR:
        yield _pair_table(summaries, {one.name: one for one in levels})
    elif len(summaries) > PAIR:
        yield _ranked_table(summaries)
    yield from first_curves(summaries)
    yield from month_figures(courses)


def answer_sentence(summaries: Sequence[TraceSummary], levels: Sequence[LevelDifference]) -> str:
    """Return in a sentence what differs by more than chance, or how far several traces lie apart."""
    if len(summaries) == PAIR:
        return _pair_sentence(summaries, {one.name: one for one in levels})
    shown = [row for row in ROWS if row.fact in RANGES and _is_comparable(row, summaries)]
    parts = [part for row in shown if (part := _range(row, summaries))]
    return joined("", (joined("; ", parts), ".")) if parts else ""


def _pair_table(summaries: Sequence[TraceSummary], levels: Levels) -> FactTable:
    """Return a row for each question: both values, their difference, and whether it is beyond chance."""
    rows = []
    for row in ROWS:
        values = [_value(row, summary) for summary in summaries]
        if any(value is not None for value in values):
            level = levels.get(row.level)
            shown = [_shown(row, summary, n) for n, summary in enumerate(summaries, 1)]
            rows.append(
                (joined(" ", (row.question, row.what)), (*shown, *_judged(row, values, level, summaries)))
            )
    columns = (
        *(summary.name for summary in summaries),
        message("Difference"),
        message("Beyond chance?"),
        message("less ← → more"),
    )
    return FactTable("side-by-side", "Side by side", columns, tuple(rows))


def _judged(
    row: AnswerRow,
    values: Sequence[float | None],
    level: LevelDifference | None,
    summaries: Sequence[TraceSummary],
) -> tuple[Fact, Fact, Fact]:
    """Return the difference, the verdict, and the difference that is tested with its reach."""
    difference, text = _difference(row, values, summaries)
    prefix = f"side.{row.fact}"
    verdict, said = _verdict(row, values, level, summaries)
    span: Value = None
    if level is not None and level.reach is not None and level.name not in {"jobs", "busy_processors"}:
        span = [level.step - level.reach, level.step, level.step + level.reach]
    ends = [Number(f"{signed(100 * end, 1)}") for end in span] if isinstance(span, list) else []
    # The step of the test is of weeks, and not the difference of the whole logs that stands beside it.
    points = message("{low} to {high} points", low=ends[0], high=ends[2]) if ends else "–"
    return (
        Fact(f"{prefix}.difference", difference, "Difference", "", text=text or "–"),
        Fact(f"{prefix}.verdict", verdict, "Beyond chance?", "", text=said),
        Fact(f"{prefix}.span", span, "less ← → more", "span", text=points),
    )


def _difference(
    row: AnswerRow, values: Sequence[float | None], summaries: Sequence[TraceSummary]
) -> tuple[float | int | None, str]:
    """Return the difference of shares, else the ratio of values, second to first; and its text."""
    first, second = values
    if first is None or second is None:
        return None, ""
    unit = next(summary.facts[row.fact].unit for summary in summaries if row.fact in summary.facts)
    if look_equal(first, second, unit):
        return (0 if unit == "fraction" else 1), message("none")
    if unit == "fraction":
        return number(second - first), message("{n} points", n=signed(100 * (second - first), 1))
    if first <= 0 or second <= 0:
        return None, message(
            "{n} more" if second > first else "{n} less", n=show(number(abs(second - first)), unit)
        )
    ratio = second / first
    if 1 / LARGE_RATIO < ratio < LARGE_RATIO:
        return number(ratio), message("{n} %", n=signed(100 * (ratio - 1)))
    return number(ratio), Number(f"×\N{NO-BREAK SPACE}{significant(ratio, 2)}")


def _verdict(
    row: AnswerRow,
    values: Sequence[float | None],
    level: LevelDifference | None,
    summaries: Sequence[TraceSummary],
) -> tuple[str, Message]:
    """Return whether the values differ by more than chance; where that is unknown, why."""
    bounded = [summary.name for summary in summaries if _is_bound(row, summary)]
    missing = [summary.name for summary, value in zip(summaries, values, strict=True) if value is None]
    if bounded:
        reason = message("a lower bound only of {names}", names=joined(", ", map(Verbatim, bounded)))
    elif missing:
        reason = message("not recorded in {names}", names=joined(", ", map(Verbatim, missing)))
    elif not row.level:
        reason = message("a log has one such number")
    elif level is None:
        reason = {
            "failed": message("the logs record different outcomes"),
            "busy": message("the size of a system or its load is not known"),
        }.get(row.level, message("a log has no whole day"))
    elif level.verdict == "not known":
        reason = message("fewer than {n} whole days", n=MINIMUM_LENGTH)
    else:
        how = row.more[0] if level.step > 0 else row.less[0]
        template = VERDICTS[level.verdict].template
        return level.verdict, message(template, how=how) if "{how}" in template else VERDICTS[level.verdict]
    return "unknown", message("unknown: {reason}", reason=reason)


def _pair_sentence(summaries: Sequence[TraceSummary], levels: Levels) -> Message:
    """Return what is beyond chance of the second trace against the first, and what is not known."""
    found, tested = [], 0
    for row in ROWS:
        level = levels.get(row.level)
        tested += level is not None and level.verdict != "not known"
        if level is not None and level.verdict.startswith("differs"):
            words = row.more[1] if level.step > 0 else row.less[1]
            values = [_text(row, summary) for summary in reversed(summaries)]
            if values[0] != values[1]:
                found.append(
                    message(
                        "{what} ({second} against {first})", what=words, second=values[0], first=values[1]
                    )
                )
    first, second = (Verbatim(summary.name) for summary in summaries)
    if found:
        differs = message(
            "{second} differs from {first} by more than chance: {what}.",
            second=second, first=first, what=joined("; ", found),
        )  # fmt: skip
        return joined(" ", (differs, *_not_found(levels)))
    others = [one.quantity.title for one in levels.values() if one.verdict.startswith("differs")]
    if others:
        return message(
            "{second} is found to differ from {first} by more than chance in this only: {what}.",
            second=second, first=first, what=joined(", ", map(within_sentence, others)),
        )  # fmt: skip
    if levels and all(one.verdict == "equal" for one in levels.values()):
        return message("{second} and {first} are equal in all that is tested.", second=second, first=first)
    if any(one.verdict == SIZE for one in levels.values()):
        return message(APART_FROM_SIZE, second=second, first=first)
    if tested:
        return message(
            "{second} is not found to differ from {first} by more than chance.", second=second, first=first
        )
    return message(
        "Whether {second} differs from {first} by more than chance is unknown.", second=second, first=first
    )


def _not_found(levels: Levels) -> Iterator[Message]:
    """Yield in which rows no difference beyond chance is found."""
    rows = [row.what for row in ROWS if (one := levels.get(row.level)) and one.verdict in NOT_FOUND]
    if rows:
        yield message("No difference beyond chance is found in {what}.", what=joined(", ", rows))


def _ranked_table(summaries: Sequence[TraceSummary]) -> FactTable:
    """Return a row for each trace, the busiest first; the greater a value, the darker it is."""
    shown = [
        row
        for row in ROWS
        if _is_comparable(row, summaries) and any(_value(row, one) is not None for one in summaries)
    ]
    numbered = list(enumerate(summaries, 1))
    if shown:
        lead = shown[0]
        numbered.sort(key=lambda one: -(value if (value := _value(lead, one[1])) is not None else -1.0))
    rows = tuple((summary.name, tuple(_shown(row, summary, n) for row in shown)) for n, summary in numbered)
    columns = tuple(capitalized(row.what) for row in shown)
    note = message("The stronger the colour, the greater among these traces.")
    return FactTable("side-by-side", "Side by side", columns, rows, note, darkest="greatest")


def _range(row: AnswerRow, summaries: Sequence[TraceSummary]) -> Message | None:
    """
    Return from which to which value a quantity goes, and whose they are; None of fewer than two.

    Of a trace with a bound it is not known where it lies among the others.
    """
    if any(_is_bound(row, summary) for summary in summaries):
        return None
    known = [(value, summary) for summary in summaries if (value := _value(row, summary)) is not None]
    if len(known) < PAIR:
        return None
    low, high = (choose(known, key=lambda one: one[0])[1] for choose in (min, max))
    if _text(row, low) == _text(row, high):
        template = (
            message("{what}: {value} in all")
            if len(known) == len(summaries)
            else message("{what}: {value} in all that record it")
        )
        return message(template.template, what=capitalized(row.what), value=_text(row, low))
    return message(
        "{what}: {low} ({least}) to {high} ({most})",
        what=capitalized(row.what), low=_text(row, low), least=Verbatim(low.name), high=_text(row, high),
        most=Verbatim(high.name),
    )  # fmt: skip


def _is_comparable(row: AnswerRow, summaries: Sequence[TraceSummary]) -> bool:
    """Whether logs may be ranked by the answer: failures only where all record the same outcomes."""
    known = [summary.recording.outcomes for summary in summaries if _value(row, summary) is not None]
    return row.level != "failed" or len(set(known)) <= 1


def _value(row: AnswerRow, summary: TraceSummary) -> float | None:
    """Return the value of a trace; None where it is not known."""
    fact = summary.facts.get(row.fact)
    return float(fact.value) if fact is not None and is_number(fact.value) else None


def _is_bound(row: AnswerRow, summary: TraceSummary) -> bool:
    """Whether only a bound of what answers a question is known, which its text says."""
    least = summary.facts.get("utilization.at_least")
    return row.level == "busy" and least is not None and is_number(least.value)


def _text(row: AnswerRow, summary: TraceSummary) -> str:
    fact = summary.facts.get(row.fact)
    if fact is not None and is_number(fact.value):
        return show(fact.value, fact.unit)
    return fact.text if fact is not None and _is_bound(row, summary) else message("not recorded")


def _shown(row: AnswerRow, summary: TraceSummary, n: int) -> Fact:
    value, fact = _value(row, summary), summary.facts.get(row.fact)
    unit = fact.unit if fact else ""
    known = fact.value if fact and value is not None else None
    return Fact(f"side.{n}.{row.fact}", known, row.what, unit, text=_text(row, summary))
