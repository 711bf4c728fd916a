"""Fetch public traces."""

import shlex
import sys
from collections.abc import Sequence
from json import dumps
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from gwa.cli._commands import Purpose
from gwa.cli._options import JSON, flag, limits, writes
from gwa.cli._output import FORCE, claimed, tell
from gwa.cli._reading import reading
from gwa.cli._terminal import echo, echo_json, progress_lines, table
from gwa.util.filenames import as_text

if TYPE_CHECKING:
    from gwa.archive.fetch import FetchedFile
    from gwa.archive.public_traces import PublicTrace

PURPOSE = Purpose.READ


@click.command(name="fetch")
@click.argument("keys", nargs=-1, metavar="KEY...")
@flag("--list listed", "List the traces, those with every KEY, or all of one.")
@writes("--to folder", "DIR", "Output folder.", default=".")
@flag("--convert converted", "Also convert each trace to DIR/KEY.parquet.")
@FORCE
@JSON
@limits
def command(
    keys: tuple[str, ...], listed: bool, folder: Path, converted: bool, as_json: bool, **params: Any
) -> None:
    """
    Fetch or list public traces.

    Files come from where their owners publish them. An interrupted download resumes where it stopped.
    References to cite are written to KEY.cite.txt and KEY.bib.

    \b
    Examples:
      gwa fetch --list
      gwa fetch --list gpus
      gwa fetch --list kestrel
      gwa fetch kth-sp2 --to traces --convert
    """
    from gwa.archive.public_traces import public_trace

    if listed:
        _print_list(keys, as_json=as_json)
        return
    if not keys:
        raise click.UsageError("name the traces to fetch; gwa fetch --list names all")
    for trace in [public_trace(key) for key in keys]:
        _fetch(trace, folder, params, converted=converted)


def _print_list(words: Sequence[str], *, as_json: bool) -> None:
    """Print the traces that match all *words*: each whole as JSON, else as much as a screen holds."""
    from gwa.archive.public_listing import card, overview
    from gwa.archive.public_traces import described, public_traces
    from gwa.errors import ArgumentError

    known = public_traces()
    is_key = len(words) == 1 and words[0] in known
    found = [known[words[0]]] if is_key else [one for one in known.values() if all(map(one.has, words))]
    width = get_terminal_size().columns
    if as_json:
        echo_json(dumps([described(trace) for trace in found], indent=1, ensure_ascii=False))
    elif not found:
        raise ArgumentError(f"no public trace has '{' '.join(words)}'; gwa fetch --list names all")
    elif len(found) == 1:
        echo(card(found[0], width))
    elif words or not sys.stdout.isatty():
        _print_table(found)
    else:
        echo(f"{len(found)} public traces\n{overview(found, width)}")


def _print_table(found: "Sequence[PublicTrace]") -> None:

    names = ("key", "trace", "years", "jobs", "bytes", "format", "licence", "page", "holds", "doi")
    rows = [
        (
            trace.key,
            trace.title,
            trace.years,
            trace.known_jobs,
            trace.size,
            trace.format if trace.files else f"{trace.format} (only linked)".strip(),
            trace.licence,
            trace.page,
            trace.holds,
            trace.doi,
        )
        for trace in found
    ]
    table(names, rows, as_json=False, shown={"key", "trace", "years", "jobs"}, is_list=True)


def _fetch(trace: "PublicTrace", folder: Path, params: dict[str, Any], *, converted: bool) -> None:
    """Fetch a trace, say what came of it, and convert it if that is wanted."""
    from gwa.archive.fetch import fetch

    fetched = fetch(trace, folder, progress_lines(quiet=params["quiet"]))
    if not params["quiet"]:
        for file in fetched:
            there = ", was there already" if file.was_there else ""
            size = file.path.stat().st_size
            echo(as_text(f"{file.path}: {size:,} bytes{there}; {file.verdict}"), err=True)
        echo(as_text(f"{folder / trace.key}.cite.txt: what to cite"), err=True)
        for hint in filter(None, (trace.note, trace.conversion)):
            echo(f"{trace.key}: {hint}", err=True)
    if converted:
        _convert(trace, fetched, folder, params)


def _convert(
    trace: "PublicTrace", fetched: "Sequence[FetchedFile]", folder: Path, params: dict[str, Any]
) -> None:
    from gwa.archive.fetch import sources
    from gwa.cli._output import noting
    from gwa.errors import DownloadError
    from gwa.formats.convert import convert

    if not trace.format:
        raise DownloadError(f"{trace.key}: no format of gwa reads its files")
    if not any(file.converted for file in fetched):
        raise DownloadError(f"{trace.key}: its files have to be unpacked first: {trace.note}")
    stated = tuple(f"{name}={value}" for name, value in trace.options.items())
    options, notes = noting(reading({**params, "system": None, "set_": stated}))
    out = folder / f"{trace.key}.parquet"
    paths = sources(fetched)
    words = ["gwa", "fetch", trace.key, "--convert"]
    but = {"keys", "listed", "as_json", "converted"}
    with claimed([out], force=params["force"], but=but):
        account = convert(paths, out, name=trace.format, options=options, command=shlex.join(words))
    tell(out, account, notes, quiet=params["quiet"])
