"""
Traces beside each other: what differs most first, then the same facts, curves and users in columns.

A distance says little without what chance does, so the distance of two halves of each trace stands
beside it, as in `gwa.evaluation.scorecard`, whose measures these are.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from gwa.analysis.base import paragraphs
from gwa.analysis.build import reproduction
from gwa.analysis.comparison.curves import curves, small_multiples
from gwa.analysis.comparison.differences import Difference, differences, sentences, table
from gwa.analysis.comparison.fact_table import aligned
from gwa.analysis.comparison.reference_set import ReferenceSet, standing
from gwa.analysis.comparison.shared_users import moved
from gwa.analysis.comparison.trace_summary import TraceSummary, summarize
from gwa.errors import TraceError
from gwa.report.document import Block, Report, Section, Value, Verbatim
from gwa.store.store import Store
from gwa.util.progress import SILENT, Progress

MOST: Final = 20
"""So many traces can be compared at once."""


def compare(
    stores: Sequence[tuple[str, Store]],
    archive: ReferenceSet | None = None,
    remarks: Sequence[str] = (),
    progress: Progress = SILENT,
) -> Report:
    """
    Return the comparison of traces, each a name and a store; raise `TraceError` for too few or many.

    With an *archive*, each trace is also placed among the traces there. *remarks* are said first.
    """
    if not (2 - bool(archive)) <= len(stores) <= MOST:
        raise TraceError(f"{len(stores)} traces were given, expected {2 - bool(archive)} to {MOST}")
    sides = []
    with progress.step("looking at traces", len(stores)) as bar:
        for name, store in named(stores):
            sides.append(summarize(name, store))
            bar.advance()
    found = differences(sides) if len(sides) > 1 else []
    said: dict[str, Value] = {
        side.name: dict(reproduction(store)) for side, (_, store) in zip(sides, stores, strict=True)
    }
    names = [side.name for side in sides]
    return Report(
        _title(names, archive),
        "",
        tuple(_sections(sides, found, archive, remarks)),
        reproduction=said,
        findings=sentences(found),
        overline="Comparison",
    )


def _title(names: Sequence[str], archive: ReferenceSet | None) -> Verbatim:
    """Return what a comparison is called: all names where they fit, or those that one trace is among."""
    if len(names) == 1:
        return Verbatim(f"{names[0]} among {len(archive or ())} traces")
    return Verbatim(" and ".join(names) if len(names) < 4 else f"{names[0]} and {len(names) - 1} more")  # noqa: PLR2004 - fits


def named(stores: Sequence[tuple[str, Store]]) -> list[tuple[str, Store]]:
    """Return *stores* with names that differ: the second KTH is called KTH (2)."""
    seen: dict[str, int] = {}
    found = []
    for name, store in stores:
        seen[name] = seen.get(name, 0) + 1
        found.append((name if seen[name] == 1 else f"{name} ({seen[name]})", store))
    return found


def _sections(
    sides: Sequence[TraceSummary],
    found: Sequence[Difference],
    archive: ReferenceSet | None,
    remarks: Sequence[str],
) -> Iterator[Section]:
    """Yield the sections of a comparison, each with what its function says of itself."""
    if len(sides) > 1:
        yield _section("differences", "What differs most", table, table(sides, found, remarks))
        yield _section("facts", "The same facts", aligned, aligned(sides))
    if archive:
        yield _section("archive", "Among other traces", standing, standing(sides, archive))
    if len(sides) > 1:
        yield _section("curves", "Distributions", curves, curves(sides))
        yield _section("time", "Over time", small_multiples, small_multiples(sides))
        yield _section("users", "Users who moved", moved, moved(sides))


def _section(name: str, title: str, function: object, blocks: Iterator[Block]) -> Section:
    return Section(name, title, paragraphs(function.__doc__ or ""), tuple(blocks))
