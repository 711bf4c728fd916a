"""Compare traces."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from gwa.cli._common import OUTPUT_PATH, PATH, engines, flags, looking, looks, opened, options, parts, reading
from gwa.cli._terminal import echo


@click.command(name="compare")
@click.argument("traces", nargs=-1, required=True, type=PATH)
@flags
@click.option(
    "-o", "--output", "folder", type=OUTPUT_PATH, metavar="DIR", default=".", help="Folder to write to."
)
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
@looks
@parts
@engines
@options
def command(
    traces: tuple[Path, ...],
    folder: Path,
    like: str | None,
    against: Path | None,
    **params: Any,
) -> None:
    """
    Compare 2 to 20 traces, or one with an archive: what differs most comes first.

    Beside each distance stands what chance does: the distance of one half of a trace from the other.

    \b
    Examples:
      gwa compare sample_traces/swf/tiny.swf sample_traces/sge/accounting
      gwa compare sample_traces/swf/tiny.swf --against archive
    """
    from gwa.analysis.comparison.align import LIKE, Stores
    from gwa.analysis.comparison.compare import compare
    from gwa.analysis.comparison.reference_set import read_references
    from gwa.report.output import outputs, write

    look = looking(params)
    references = read_references(against) if against else None
    kinds = [name for name in outputs() if params[name]] or ["html"]
    with ExitStack() as stack:
        opened_traces = [stack.enter_context(opened(path, params)) for path in traces]
        stores: Stores = [(trace.name, trace.store) for trace in opened_traces]
        remarks = []
        if like:
            stores, remark = LIKE[like](stores)
            remarks.append(remark)
        report = compare(stores, references, remarks, reading(params).progress)
        for path in write(report, folder, "comparison", kinds, **look):
            echo(path)
