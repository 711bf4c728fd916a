"""The distributions of traces beside each other, and the hours of the week in which their jobs come."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from gwa.analysis.comparison.differences import UNITS, WAITS
from gwa.analysis.comparison.trace_summary import TraceSummary, compared_measures
from gwa.report.document import Block, Figure, Note, note_of
from gwa.report.figures.cdf import cdf
from gwa.report.figures.groups import Point, groups
from gwa.statistics.sample import Sample
from gwa.words.formatting import show
from gwa.words.message import joined, message

CURVES_PER_FIGURE: Final = 6
"""More curves cannot be told apart."""

FIRST: Final = (WAITS, "run-time", "size")
"""The distributions of the first screen."""

TAIL: Final = 0.95


def curves(summaries: Sequence[TraceSummary]) -> Iterator[Block]:
    """Cumulative distributions of what jobs are like, up to six traces per figure."""
    for id_, title, samples in _distributions(summaries):
        if id_ in FIRST and len(summaries) <= CURVES_PER_FIGURE:
            continue
        for start in range(0, len(samples) if len(samples) > 1 else 0, CURVES_PER_FIGURE):
            yield _curves(
                f"{id_}-{start // CURVES_PER_FIGURE + 1}",
                id_,
                title,
                samples[start : start + CURVES_PER_FIGURE],
            )


def first_curves(summaries: Sequence[TraceSummary]) -> Iterator[Figure]:
    """Yield the distributions of waits, run times and sizes; of many traces their medians and tails."""
    for id_, title, samples in _distributions(summaries):
        if id_ in FIRST and len(samples) > 1:
            few = len(samples) <= CURVES_PER_FIGURE
            yield _curves(f"{id_}-1", id_, title, samples) if few else _middles(id_, title, samples)


def _curves(name: str, id_: str, title: str, samples: Sequence[tuple[str, Sample]]) -> Figure:
    unit = UNITS.get(id_, "count")
    medians = ", ".join(f"{show(sample.median(), unit)} in {name}" for name, sample in samples)
    return cdf(
        f"compare-{name}",
        title,
        {name: sample.ecdf() for name, sample in samples},
        title,
        f"{title}, cumulative, of {len(samples)} traces: the median is {medians}.",
        unit=unit,
        ylabel="Fraction of jobs",
    )


def _middles(id_: str, title: str, samples: Sequence[tuple[str, Sample]]) -> Figure:
    """Return the median and the 95th percentile of each trace, on one axis."""
    series: dict[str, list[Point]] = {
        message("median"): [(float(sample.median()), None) for _, sample in samples],
        message("95th percentile"): [(float(sample.quantile(TAIL)), None) for _, sample in samples],
    }
    alt = message("{title}: median and 95th percentile of {n} traces.", title=title, n=len(samples))
    return groups(
        f"compare-{id_}-middles", title, [name for name, _ in samples], series, "", title, alt,
        unit=UNITS.get(id_, "count"),
    )  # fmt: skip


def _distributions(
    summaries: Sequence[TraceSummary],
) -> Iterator[tuple[str, str, list[tuple[str, Sample]]]]:
    """
    Yield id and title of each distribution, and its sample of each trace that has one.

    Traces that record waits come first: so each has one colour in figures with all traces and without some.
    """
    summaries = sorted(summaries, key=lambda summary: not (summary.waits and summary.waits.n))
    waits = [(summary.name, summary.waits) for summary in summaries if summary.waits and summary.waits.n]
    yield WAITS, "Wait time", list(waits)
    for measure in compared_measures():
        found = ((summary.name, summary.statistics[measure.id]) for summary in summaries)
        samples = [(name, sample) for name, sample in found if isinstance(sample, Sample) and sample.n]
        yield measure.id, measure.title, list(samples)


def weekly(summary: TraceSummary, number: int) -> Iterator[Block]:
    """The hours of the week in which jobs are submitted."""
    for figure in summary.figures.values():
        if figure.id.startswith("week"):
            title = message("{title}: {name}", title=figure.title, name=summary.name)
            yield replace(figure, id=f"compare-{number}-{figure.id}", title=title)


def not_weekly(names: Sequence[str]) -> Note:
    """Return that nothing is drawn over the week of the traces called *names*."""
    return note_of(
        "Not drawn over the week, since weekdays of submissions are not known: {names}.",
        names=joined(", ", names),
    )
