"""Compare traces."""

import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gwa.cli._commands import Purpose
from gwa.cli._options import PATH, engines, flags, given, looking, looks, options, output_folder, parts
from gwa.cli._output import FORCE, claimed, page_name, part_in_words, write_texts
from gwa.cli._reading import earlier_part, opened_whole, part_of, reading
from gwa.cli._terminal import echo, say

if TYPE_CHECKING:
    from gwa.analysis.comparison.align import Stores
    from gwa.trace import Trace

PURPOSE = Purpose.REPORT

VERSION: Final = re.compile(r"[-_]\d+(\.\d+)+([-_]cln)?$")
"""What ends the name of a log in public archives, such as -2.1-cln."""

LONGEST: Final = 45
"""The letters of a title that heads a column."""

SHOWN: Final = 4
"""The number of traces whose names are in that of the page."""


@click.command(name="compare")
@click.argument("traces", nargs=-1, required=True, type=PATH)
@flags
@output_folder("Folder to write to.", default=".")
@FORCE
@click.option(
    "--like",
    type=click.Choice(["period", "load"]),
    help="Compare the same period only, or weeks of the same load.",
)
@click.option(
    "--against",
    type=PATH,
    metavar="DIR",
    help="Place each trace among those of a folder of facts, or of the thesis with the word archive.",
)
@click.option(
    "--against-period",
    metavar="WHEN",
    callback=given,
    help="Compare this period of one trace with its --period: dates as there, or previous.",
)
@click.option("--names", metavar="A,B,…", help="What the traces are called on the page, in their order.")
@looks
@parts
@engines
@options
def command(
    traces: tuple[Path, ...],
    folder: Path,
    like: str | None,
    against: Path | None,
    against_period: str | None,
    names: str | None,
    **params: Any,
) -> None:
    """
    Compare 2 to 20 traces, or one with an archive.

    The answers to the operator's questions come first, side by side. Systems are compared by shares,
    quantiles and values per processor; their sizes are shown, but are not differences. Each difference is
    tested against chance.

    The page is called comparison-A-B.html, with the names of the traces, and the part of them. A file of that
    name is replaced if gwa wrote it from the same traces with the same options, any other with --force only.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa compare sample.sacct --period last-month --against-period previous
      gwa compare sample.sacct --against archive
      gwa model generate lublin --jobs 1000 --seed 1 -o lublin.swf
      gwa compare sample.sacct lublin.swf --names Sample,Lublin
    """
    from gwa.analysis.comparison.align import LIKE
    from gwa.analysis.comparison.compare import compare
    from gwa.analysis.comparison.reference_set import read_references
    from gwa.report.language import Language
    from gwa.report.output import outputs, paths, write

    look = looking(params)
    references = read_references(against) if against else None
    kinds = [name for name in outputs() if params[name]] or ["html"]
    with ExitStack() as stack:
        wholes = [stack.enter_context(opened_whole(path, params)) for path in traces]
        write_texts(params)
        stores = (
            _periods(wholes, against_period, params)
            if against_period
            else [(whole.name, part_of(whole, params).store) for whole in wholes]
        )
        called = _named(stores, names) if names else stores if against_period else _titled(stores)
        remarks = []
        if like:
            called, remark = LIKE[like](called)
            remarks.append(remark)
        about = [f"against-{against.name}" if against else "", f"like-{like}" if like else ""]
        named = called if names else stores
        name = page_name("comparison", *_compared(wholes, named, params), *about)
        with claimed(paths(folder, name, kinds), force=params["force"], but=outputs()):
            report = compare(called, references, remarks, reading(params).progress)
            if report.answer and not params["quiet"]:
                say((look["language"] or Language())(report.answer), err=True)
            for path in write(report, folder, name, kinds, **look):
                echo(path)


def _compared(wholes: "Sequence[Trace]", stores: "Stores", params: dict[str, Any]) -> list[str]:
    """Return what tells a comparison from others: the traces, or the periods of one, and their part."""
    names = [name for name, _ in stores]
    periods = len(stores) > len(wholes)
    shown = [wholes[0].name, *names] if periods else names
    others = [f"and-{len(shown) - SHOWN}-more"] if len(shown) > SHOWN else []
    return [*shown[:SHOWN], *others, *part_in_words(None if periods else params["period"], params)]


def _titled(stores: "Stores") -> "Stores":
    """Return *stores* called by their systems, those of the same one by their files, too."""
    from gwa.analysis.titles import title_of

    short = _short(stores)
    titles = [title_of(store) or name for name, store in short]
    titles = [
        title if len(title) <= LONGEST else name for title, (name, _) in zip(titles, short, strict=True)
    ]
    several = {title for title in titles if titles.count(title) > 1}
    return [
        (f"{title} ({name})" if title in several and title != name else title, store)
        for title, (name, store) in zip(titles, short, strict=True)
    ]


def _short(stores: "Stores") -> "Stores":
    """Return *stores* with names that lack the version of a log, where they stay different without it."""
    short = [VERSION.sub("", name) for name, _ in stores]
    if len(set(short)) < len(stores) or not all(short):
        return stores
    return [(name, store) for name, (_, store) in zip(short, stores, strict=True)]


def _named(stores: "Stores", names: str) -> "Stores":
    """Return *stores* called by *names*, separated by commas; another number of them is a usage error."""
    called = [name.strip() for name in names.split(",")]
    if len(called) != len(stores) or not all(called):
        raise click.BadParameter(
            f"{len(stores)} traces are compared, expected as many names", param_hint="--names"
        )
    return [(name, store) for name, (_, store) in zip(called, stores, strict=True)]


def _periods(wholes: "Sequence[Trace]", earlier: str, params: dict[str, Any]) -> "Stores":
    """Return two periods of the only trace, the *earlier* one first; several are a usage error."""
    if len(wholes) != 1 or not params["period"]:
        raise click.UsageError(
            "--against-period compares two periods of one trace, expected --period as well"
        )
    part = part_of(wholes[0], params)
    other = earlier_part(wholes[0], part, earlier, params)
    return [(trace.period or trace.name, trace.store) for trace in (other, part)]
