"""What changed over the life of the log: jobs, users, load, waits, run times, sizes and failures by week."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.analysis.change_sentences import (
    MAXIMUM_FACTOR,
    TWO_YEARS,
    change_sentence,
    is_seen,
    no_change_sentence,
    not_judged_sentence,
    size,
)
from gwa.metrics.interval_values import MEASURES, IntervalMeasure
from gwa.metrics.intervals import Intervals
from gwa.metrics.timeline import Floats
from gwa.metrics.weekly_values import WeeklyValues, weekly_values
from gwa.report.columns import column, table_of
from gwa.report.document import Block, Column, Fact, Note, Table, list_of
from gwa.report.facts import facts_of, number
from gwa.report.figures.series import series
from gwa.statistics.changes import MINIMUM_LENGTH, Evidence, discoveries, evidence
from gwa.store.store import Store
from gwa.words.compared import look_equal
from gwa.words.formatting import show
from gwa.words.message import message, plural

STRONG: Final = 3.0
"""A logarithm of a Bayes factor above this is strong evidence (Kass and Raftery 1995, section 3.2)."""

WEEKS_OF_A_YEAR: Final = 52.18

MAXIMUM_WEEKS: Final = 260
POOLED: Final = 4
"""Of longer logs, means of this many weeks are judged: it takes less time, and seasons are as long."""

THIRDS: Final = 3

LARGEST: Final = message("Largest difference of the first and last third where changes would be seen")

PEAK: Final = IntervalMeasure("busy_processors_most", least=0.1)
"""What a proposed change of size rests on: it is none of the report's measures."""


def measure_of(name: str) -> IntervalMeasure:
    """Return the measure of a series of weeks."""
    return PEAK if name == "peak" else MEASURES[name]


class MeasuredChange(NamedTuple):
    """
    A change of a *measure*, as one *step* or as a *line*, and the medians of the weeks before and after.

    Those after begin with *week*. Of a line they are the last third of all, and those before are the first.
    """

    measure: str
    shape: Literal["step", "line"]
    week: int
    before: float
    after: float
    evidence: Evidence

    @property
    def relative(self) -> float | None:
        """The difference as a share of the value before; None of nothing."""
        return (self.after - self.before) / self.before if self.before else None

    @property
    def is_large(self) -> bool:
        """Whether the medians are so far apart that it matters, and look different."""
        measure = measure_of(self.measure)
        values = number(self.before), number(self.after)
        return abs(self._difference) >= measure.least and not look_equal(*values, measure.unit)

    @property
    def is_one_way(self) -> bool:
        """Whether the medians differ in the direction of the fitted shape."""
        fitted = self.evidence.height if self.shape == "step" else self.evidence.rise
        return self._difference * fitted > 0

    @property
    def _difference(self) -> float:
        return measure_of(self.measure).difference(self.before, self.after)


@analysis(
    "Changes over time",
    Chapter.CHANGES,
    facts=("changes",),
    needs=("submit_time",),
)
def changes(store: Store) -> Iterator[Block]:
    """
    What moved over the life of the log by more than its weeks vary.

    Weeks are whole and begin on Mondays. Jobs, users, waits, run times and processors are those of jobs
    submitted in the week, core-hours those of jobs that ended in it; waits are of jobs that record one. Weeks
    that lie mostly in a silence of the log are unknown, weeks at both ends with hardly any jobs are left out,
    and busy processors are judged within the window of observation.

    Each measure is judged on the logarithm (shares as they are) beside noise that remembers: a slow part and
    an independent one, averaged over 49 such models by their restricted likelihoods; beside a yearly cycle,
    too, where the log has two years. A measure changed if a line is more than chance, at a rate of false
    discoveries of 5 % over all measures (Benjamini and Hochberg 1995), or if one step is far more likely than
    none (ln of the Bayes factor above 5, and 6 for 26 weeks). It is worded as a step where one step
    describes the weeks better than a line. Differences of less than about a fifth (a tenth for busy
    processors and users, three percentage points for shares) are not said. Of logs of more than five years,
    means of four weeks are judged.

    A log of less than 26 weeks is not judged. Causes are not known: fewer busy processors may be a smaller
    system, or less work.
    """
    weekly = weekly_values(store)
    weeks, values = weekly.weeks, weekly.values
    is_judged = weeks.count >= MINIMUM_LENGTH and bool(values)
    judged = judge(values) if is_judged else {}
    candidates = [_change(name, values[name], one) for name, one in beyond_chance(judged).items()]
    shown = [change for change in candidates if change.is_large and change.is_one_way]
    small = [change.measure for change in candidates if not change.is_large]
    measures = [_measured(name, values[name], judged.get(name)) for name in values if weeks.count >= THIRDS]
    items = [_item(change, weeks, store) for change in _by_week(shown)]
    largest, visible = _largest(measures), _visible_factors(measures)
    doubtful = _doubtful(measures) if is_judged and not candidates else None
    text = plural("{n} change", "{n} changes", len(items)) if is_judged else message("not judged")
    yield list_of(
        Fact("changes", items if is_judged else None, "Changes of level", text=text),
        *facts_of(
            "changes",
            ("small", small, "Measures with changes that are too small to be listed", ""),
            ("weeks", weeks.count, "Whole weeks", "count"),
            ("weeks_unknown", weekly.silent, "Whole weeks mostly in silences of the log", "count"),
            ("measures", measures, "Medians of weeks in the first and last third", ""),
            ("largest", largest, LARGEST, ""),
            ("doubtful", doubtful, "Measure with strong evidence of a change, but not enough", ""),
            ("visible", visible, "Rises that would be found half of the time", ""),
        ),
        listed=False,
    )
    yield from _remarks(weekly)
    if not is_judged:
        yield Note(not_judged_sentence(weeks.count, weekly.silent, measures))
    elif not shown:
        yield Note(no_change_sentence(largest, visible, small, doubtful))
    else:
        yield from (Note(change_sentence(item)) for item in items)
        yield _table(shown, weeks, store)
    if measures:
        yield _thirds(measures, weeks.count)
    yield from (_figure(change, values[change.measure], weeks) for change in shown)


def judge(values: Mapping[str, Floats]) -> dict[str, Evidence]:
    """Return what the weekly *values* of each measure say for a change of its level."""
    rows = np.array([measure_of(name).scaled(known) for name, known in values.items()])
    weeks = rows.shape[1]
    step = POOLED if weeks > MAXIMUM_WEEKS else 1
    pooled = rows[:, : weeks // step * step].reshape(len(rows), -1, step).mean(axis=2)
    judged = evidence(pooled, WEEKS_OF_A_YEAR / step if weeks >= TWO_YEARS else None)
    return dict(zip(values, judged, strict=True))


def steps(name: str, values: Floats) -> list[MeasuredChange]:
    """Return the step of one series of weeks (``peak``: the maximum of busy processors), if it is sure."""
    (one,) = judge({name: values}).values()
    change = _change(name, values, one)
    is_sure = one.is_sure_step and one.is_step and change.is_large and change.is_one_way
    return [change] if is_sure else []


def beyond_chance(judged: Mapping[str, Evidence]) -> dict[str, Evidence]:
    """Return the measures that changed by more than chance, however little."""
    is_line = discoveries([one.p_value for one in judged.values()])
    return {
        name: one
        for (name, one), is_found in zip(judged.items(), is_line, strict=True)
        if is_found or one.is_sure_step
    }


def _change(name: str, values: Floats, judged: Evidence) -> MeasuredChange:
    """Return the change of a measure in its likelier shape, with the medians before and after."""
    shape: Literal["step", "line"] = "step" if judged.is_step else "line"
    week = judged.place * (values.size // judged.size) if judged.is_step else values.size - _third(values)
    before, after = _levels(values, week if judged.is_step else _third(values), week)
    return MeasuredChange(name, shape, week, before, after, judged)


def _third(values: Floats) -> int:
    """Return how many weeks are a third of all."""
    return values.size // THIRDS


def _levels(values: Floats, end: int, begin: int) -> tuple[float, float]:
    """Return the medians of the weeks before *end* and from *begin* on; nan where all are unknown."""
    parts = (part[np.isfinite(part)] for part in (values[:end], values[begin:]))
    before, after = (float(np.median(part)) if part.size else math.nan for part in parts)
    return before, after


def _measured(name: str, values: Floats, judged: Evidence | None) -> dict[str, Any]:
    """Return the first and the last third of a measure, and what was tested, as an item of a fact."""
    before, after = _levels(values, _third(values), values.size - _third(values))
    return {
        "what": name,
        "before": number(before),
        "after": number(after),
        "p_value": number(judged.p_value) if judged else None,
        "ln_bayes_factor_step": number(judged.step) if judged else None,
        "ln_bayes_factor_line": number(judged.line) if judged else None,
        "visible": number(_visible(name, judged)) if judged and judged.visible else None,
    }


def _visible(name: str, judged: Evidence) -> float:
    """Return the smallest change from the first third to the last that would be found: factor or share."""
    # The middles of the thirds are two thirds of the log apart.
    difference = judged.visible * (1 - 1 / THIRDS)
    return difference if MEASURES[name].is_share else math.exp(min(difference, 700.0))


def _largest(measures: list[dict[str, Any]]) -> dict[str, Any] | None:
    """
    Return the measure whose first and last third differ most; None where none looks different.

    Measures of which hardly any change would be seen are passed over.
    """
    different = [
        one
        for one in measures
        if is_seen(one) and (MEASURES[one["what"]].is_share or (one["visible"] or 0.0) <= MAXIMUM_FACTOR)
    ]
    return max(different, key=size, default=None)


def _doubtful(measures: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the measure that a step fits best of those with strong evidence of a large one, or None."""
    strong = [
        one
        for one in measures
        if is_seen(one)
        and one["ln_bayes_factor_step"] is not None
        and one["ln_bayes_factor_step"] > STRONG
        and abs(MEASURES[one["what"]].difference(one["before"], one["after"])) >= MEASURES[one["what"]].least
    ]
    return max(strong, key=lambda one: float(one["ln_bayes_factor_step"]), default=None)


def _visible_factors(measures: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """
    Return the rise of each measure that would be found half of the time, of shares none: values and factor.

    A measure that differs by more without being found is left out.
    """
    return [
        {"what": one["what"], "factor": one["visible"], "from": one["before"], "to": rise}
        for one in measures
        if not MEASURES[one["what"]].is_share and (rise := _risen(one)) is not None and not _is_beyond(one)
    ]


def _risen(one: Mapping[str, Any]) -> float | None:
    """Return to which value a measure would have risen if that were visible; None where it looks the same."""
    measure, before, visible = MEASURES[one["what"]], one["before"], one["visible"]
    if None in (before, visible):
        return None
    to = before + visible if measure.is_share else (before + measure.offset) * visible - measure.offset
    return None if look_equal(before, number(to), measure.unit) else number(to)


def _is_beyond(one: Mapping[str, Any]) -> bool:
    """Whether a measure differs by as much as would be visible."""
    measure = MEASURES[one["what"]]
    difference = abs(measure.difference(one["before"], one["after"])) if one["after"] is not None else 0.0
    return difference >= (one["visible"] if measure.is_share else math.log(one["visible"]))


def _by_week(shown: list[MeasuredChange]) -> list[MeasuredChange]:
    """Return changes with steps first, by week, then by measure."""
    order = list(MEASURES)
    return sorted(
        shown, key=lambda change: (change.shape == "line", change.week, order.index(change.measure))
    )


def _item(change: MeasuredChange, weeks: Intervals, store: Store) -> dict[str, Any]:
    """Return a change as an item of the fact ``changes``."""
    return {
        "what": change.measure,
        "when": weeks.label(change.week, store) if change.shape == "step" else None,
        "before": number(change.before),
        "after": number(change.after),
        "shape": change.shape,
        "p_value": number(change.evidence.p_value),
        "ln_bayes_factor": number(change.evidence.step),
    }


def _remarks(weekly: WeeklyValues) -> Iterator[Note]:
    """Yield notes on weeks that are left out or unknown."""
    if weekly.omitted:
        yield Note(
            plural(
                "{n} week at the ends of the log is left out, with less than a tenth of the usual jobs.",
                "{n} weeks at the ends of the log are left out, with less than a tenth of the usual jobs.",
                weekly.omitted,
            )
        )
    if weekly.silent:
        yield Note(
            plural(
                "{n} week is unknown: no job was submitted for most of it, or rows are missing.",
                "{n} weeks are unknown: no job was submitted for most of them, or rows are missing.",
                weekly.silent,
            )
        )


def _shown(measure: str, value: float | None) -> str:
    return show(number(value), MEASURES[measure].unit)


def _table(shown: list[MeasuredChange], weeks: Intervals, store: Store) -> Table:
    def when(one: MeasuredChange) -> str | None:
        return weeks.label(one.week, store) if one.shape == "step" else None

    return table_of(
        "changes",
        "Changes of weekly values, by measure",
        _by_week(shown),
        {
            Column("what", "Weekly value"): lambda one: message(MEASURES[one.measure].title),
            Column("when", "From about the week of"): when,
            Column("before", "Before, or first third"): lambda one: _shown(one.measure, one.before),
            Column("after", "After, or last third"): lambda one: _shown(one.measure, one.after),
            column("change"): lambda one: one.relative,
            Column("p_value", "p-value of a line"): lambda one: one.evidence.p_value,
            Column("bayes", "ln of the Bayes factor of a step"): lambda one: one.evidence.step,
        },
    )


def _thirds(measures: list[dict[str, Any]], weeks: int) -> Table:
    """Return the table of all measures, whether they changed or not."""
    return table_of(
        "changes-measures",
        message("Medians of weeks in the first and last third of {weeks} weeks", weeks=weeks),
        measures,
        {
            Column("what", "Weekly value"): lambda one: message(MEASURES[one["what"]].title),
            Column("before", "First third"): lambda one: _shown(one["what"], one["before"]),
            Column("after", "Last third"): lambda one: _shown(one["what"], one["after"]),
            Column("p_value", "p-value of a line"): lambda one: one["p_value"],
            Column("visible", "Rise that would be found half of the time"): _visible_text,
        },
    )


def _visible_text(one: Mapping[str, Any]) -> str | None:
    """Return the rise of a measure that would be visible, in its unit."""
    measure, to = MEASURES[one["what"]], _risen(one)
    if to is None:
        return None
    if to > 1 if measure.is_share else one["visible"] > MAXIMUM_FACTOR:
        return message("hardly any")
    return message("to {value}", value=show(to, measure.unit))


def _figure(change: MeasuredChange, values: Floats, weeks: Intervals) -> Block:
    """Return the figure of a measure with its levels before and after."""
    measure = MEASURES[change.measure]
    levels = np.full(values.size, np.nan)
    levels[: change.week if change.shape == "step" else _third(values)] = change.before
    levels[change.week :] = change.after
    return series(
        f"changes-{change.measure.replace('_', '-')}",
        message("{title} per week", title=measure.title),
        weeks.edges[:-1],
        {"week": values, "median": levels},
        measure.title,
        message(
            "{title} in each of {count} weeks, with the medians before ({before}) and after ({after}).",
            title=measure.title,
            count=weeks.count,
            before=show(change.before, measure.unit),
            after=show(change.after, measure.unit),
        ),
        unit=measure.unit,
        zone=weeks.zone,
    )
