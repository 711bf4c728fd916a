"""The distributions and the time series of traces beside each other."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from gwa.analysis.comparison.differences import UNITS, compared
from gwa.analysis.comparison.trace_summary import TraceSummary
from gwa.report.document import Block, Note
from gwa.report.figures.cdf import cdf
from gwa.statistics.sample import Sample

TOGETHER: Final = 6
"""So many curves can be told apart in one figure."""

SERIES: Final = ("utilization", "week")


def curves(sides: Sequence[TraceSummary]) -> Iterator[Block]:
    """Which fraction of the values is at most so great, for each trace that tells; six to a figure."""
    for one in compared():
        known = [
            (side.name, found)
            for side in sides
            if isinstance(found := side.statistics[one.id], Sample) and found.n
        ]
        for start in range(0, len(known) if len(known) > 1 else 0, TOGETHER):
            some = dict(known[start : start + TOGETHER])
            medians = ", ".join(f"{found.median():.4g} in {name}" for name, found in some.items())
            yield cdf(
                f"compare-{one.id}-{start // TOGETHER + 1}",
                one.title,
                {name: found.ecdf() for name, found in some.items()},
                one.title,
                f"{one.title}, cumulative, of {len(some)} traces: the median is {medians}.",
                unit=UNITS.get(one.id, "count"),
                ylabel="Fraction",
            )


def small_multiples(sides: Sequence[TraceSummary]) -> Iterator[Block]:
    """Utilisation, and the hours of the week in which jobs come, of one trace after the other."""
    drawn = False
    for wanted in SERIES:
        for place, side in enumerate(sides, 1):
            for figure in side.figures.values():
                if figure.id.startswith(wanted):
                    drawn = True
                    yield replace(
                        figure, id=f"compare-{place}-{figure.id}", title=f"{figure.title}: {side.name}"
                    )
    if not drawn:
        yield Note("No trace tells when its jobs came.")
