"""The list of public traces as text for a terminal: all of them on one screen, or all of one."""

from collections.abc import Iterator, Sequence
from textwrap import fill
from typing import Final, get_args

from gwa.archive.public_traces import UNKNOWN, Collection, PublicTrace, citations, references
from gwa.words.formatting import fraction

BY_HAND: Final = "*"
"""Stands behind the key of a trace that gwa cannot fetch by itself."""

LEGEND: Final = f"{BY_HAND} only linked: gwa fetch KEY says where to get it."
SEARCH: Final = (
    "gwa fetch --list WORD... finds traces (a year, a licence, what jobs record, such as GPUs);"
    " gwa fetch --list KEY tells all of one, --json all of all."
)
INDENT: Final = 2
NAMES: Final = 14
"""The width of the column of names on a card."""


def overview(traces: Sequence[PublicTrace], width: int) -> str:
    """Return the keys of *traces* by collection, in lines of at most *width* letters."""
    paragraphs = []
    for collection in get_args(Collection):
        keys = [
            f"{trace.key}{'' if trace.files else BY_HAND}"
            for trace in traces
            if trace.collection == collection
        ]
        if keys:
            paragraphs.append(_filled(f"{collection} ({len(keys)}): {' '.join(keys)}", width))
    return "\n".join([*paragraphs, _filled(LEGEND, width), _filled(SEARCH, width)])


def card(trace: PublicTrace, width: int) -> str:
    """Return all claims about *trace*, each with the numbers of its sources."""
    numbers: dict[str, int] = {}
    lines = [trace.title]
    for name, value, sources in _claims(trace):
        marks = "".join(f"[{numbers.setdefault(source, len(numbers) + 1)}]" for source in sources)
        line = f"{name:<{NAMES}}{value} {marks}".rstrip()
        lines.append(_filled(line, width, NAMES) if " " in value else line)
    lines += [f"[{number}] {source}" for source, number in numbers.items()]
    return "\n".join(lines)


def _claims(trace: PublicTrace) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield the name of each claim on a card, what it says, and where that was read."""
    facts, read_at = trace.facts, trace.read_at
    yield "key", trace.key, ()
    yield "get it", trace.command or "by hand, from its page", read_at.files
    yield "holds", trace.holds, ()
    yield "years", trace.years, ()
    for name, value in _figures(trace):
        yield name, value, facts.source if facts and value != UNKNOWN else ()
    yield "format", trace.format or "read by no format of gwa", read_at.format
    if trace.conversion:
        yield "convert", trace.conversion, ()
    yield "bytes", UNKNOWN if trace.size is None else f"{trace.size:,}", ()
    yield "licence", trace.licence, read_at.licence
    yield "DOI", trace.doi or UNKNOWN, read_at.doi
    yield "page", trace.page, ()
    if trace.acknowledge:
        yield "acknowledge", trace.acknowledge, read_at.acknowledge
    for text, reference in zip(citations(trace), references(trace).values(), strict=True):
        yield "cite", text, reference.source
    if trace.note:
        yield "note", trace.note, ()


def _figures(trace: PublicTrace) -> Iterator[tuple[str, str]]:
    facts = trace.facts
    counted = (
        {"requests": facts and facts.requests} if trace.holds == "requests" else {"jobs": trace.known_jobs}
    )
    counted |= {"processors": facts and facts.processors, "core-hours": facts and facts.core_hours}
    for name, value in counted.items():
        about = "about " if facts and name.replace("-", "_") in facts.rounded else ""
        yield name, UNKNOWN if value is None else f"{about}{value:,}"
    if facts and facts.busy is not None:
        yield "busy", f"{'about ' if 'busy' in facts.rounded else ''}{fraction(facts.busy)}"
    yield "records", ", ".join(facts.records) if facts and facts.records else UNKNOWN


def _filled(text: str, width: int, indent: int = INDENT) -> str:
    """Return *text* in lines of at most *width* letters, but that no address and no key is broken."""
    return fill(
        text,
        max(width, indent + 20),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
