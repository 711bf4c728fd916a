"""The distributions and the time series of traces beside each other."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from gwa.analysis.comparison.differences import UNITS, WAITS
from gwa.analysis.comparison.trace_summary import TraceSummary, compared_measures
from gwa.report.document import Block, Note
from gwa.report.figures.cdf import cdf
from gwa.statistics.sample import Sample
from gwa.words.formatting import show
from gwa.words.message import message

CURVES_PER_FIGURE: Final = 6
"""More curves cannot be told apart."""

REPEATED_FIGURES: Final = ("utilization", "week")


def curves(summaries: Sequence[TraceSummary]) -> Iterator[Block]:
    """Cumulative distributions, up to six traces per figure: waits first, then what jobs are like."""
    for id_, title, samples in _distributions(summaries):
        for start in range(0, len(samples) if len(samples) > 1 else 0, CURVES_PER_FIGURE):
            shown = dict(samples[start : start + CURVES_PER_FIGURE])
            unit = UNITS.get(id_, "count")
            medians = ", ".join(f"{show(sample.median(), unit)} in {name}" for name, sample in shown.items())
            yield cdf(
                f"compare-{id_}-{start // CURVES_PER_FIGURE + 1}",
                title,
                {name: sample.ecdf() for name, sample in shown.items()},
                title,
                f"{title}, cumulative, of {len(shown)} traces: the median is {medians}.",
                unit=unit,
                ylabel="Fraction",
            )


def _distributions(
    summaries: Sequence[TraceSummary],
) -> Iterator[tuple[str, str, list[tuple[str, Sample]]]]:
    """Yield id and title of each distribution, and its sample of each trace that has one."""
    waits = [(summary.name, summary.waits) for summary in summaries if summary.waits and summary.waits.n]
    yield WAITS, "Wait time", list(waits)
    for measure in compared_measures():
        found = ((summary.name, summary.statistics[measure.id]) for summary in summaries)
        samples = [(name, sample) for name, sample in found if isinstance(sample, Sample) and sample.n]
        yield measure.id, measure.title, list(samples)


def over_time(summary: TraceSummary, number: int) -> Iterator[Block]:
    """Busy processors over the life of the trace, and the hours of the week in which jobs are submitted."""
    figures = [
        figure
        for prefix in REPEATED_FIGURES
        for figure in summary.figures.values()
        if figure.id.startswith(prefix)
    ]
    for figure in figures:
        title = message("{title}: {name}", title=figure.title, name=summary.name)
        yield replace(figure, id=f"compare-{number}-{figure.id}", title=title)
    if not figures:
        yield Note(message("{name} does not record when jobs were submitted.", name=summary.name))
