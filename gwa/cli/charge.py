"""Charge projects for what their jobs held."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gwa.cli import _options
from gwa.cli._commands import Purpose
from gwa.cli._output import write_texts
from gwa.cli._reading import opened_whole, period_of, reading
from gwa.cli._terminal import echo

if TYPE_CHECKING:
    from gwa.breakdown.charge.statements import Statements

PURPOSE = Purpose.REPORT


def _print_example() -> None:
    from gwa.breakdown.charge.rates import EXAMPLE

    click.echo(EXAMPLE, nl=False)


@click.command(name="charge")
@_options.TRACE
@_options.reads(
    "--rates rates_file",
    "FILE.toml",
    "Prices by queue, partition, QoS, GPU type, project and class; of tokens by model.",
    required=True,
)
@_options.says(
    "--period", "WHEN", "Months to charge: 2025-10, 2025, 2025-10..2025-12, last-month.", required=True
)
@_options.TODAY
@_options.output_folder(required=True)
@_options.reads(
    "--against",
    "DIR",
    "Statements given before, of which late jobs and changes become corrections (repeatable).",
    multiple=True,
)
@_options.flag("--no-pdf", "Leave out the PDFs.")
@_options.flag("--force", "Replace other statements in DIR.")
@_options.printing("--example", _print_example, "Print a file of rates with comments and exit.")
@_options.looks
@_options.engines
@_options.options
def command(
    trace: Path,
    rates_file: Path,
    folder: Path,
    against: Sequence[Path],
    no_pdf: bool,
    force: bool,
    **params: Any,
) -> None:
    """
    Charge projects for what their jobs held: a page, a CSV and a PDF for each.

    Each job is charged at the first rate that fits it, for its seconds within each month. A job that no rate
    fits stops the statements. DIR also has index.html, summary.csv with all lines, and statement.json, which
    --against reads. A period of several months is the sum of their lines, each rounded once. Users of
    language models are charged for tokens, by rates with basis = "tokens".

    \b
    Examples:
      gwa charge --example > rates.toml
      gwa sample -o sample.sacct
      gwa charge sample.sacct --rates rates.toml --period 2025-10 -o statements
      gwa charge sample.sacct --rates rates.toml --period 2025-11 --against statements -o november
    """
    from gwa.breakdown.charge.folder import INDEX, SUMMARY, write
    from gwa.breakdown.charge.rates import read_rates
    from gwa.breakdown.charge.record import read_given
    from gwa.breakdown.charge.statements import statements

    rates = read_rates(rates_file)
    before = [read_given(one) for one in dict.fromkeys(against)]
    look = _options.looking(params)
    with opened_whole(trace, params, takes_requests=True) as whole:
        write_texts({**params, "force": force})
        period = period_of(whole, params) or params["period"]
        made = statements(whole.store, rates, period, before)
        write(
            made,
            folder,
            whole.store.system.name or whole.name,
            **look,
            with_pdf=not no_pdf,
            force=force,
            progress=reading(params).progress,
        )
    for name in (INDEX, SUMMARY):
        echo(folder / name)
    if not params["quiet"]:
        _tell(made)


def _tell(made: "Statements") -> None:
    """Say on standard error how much was charged, and what a reader has to know."""
    from gwa.breakdown.charge.pages import money, notes
    from gwa.breakdown.charge.statements import unused

    count = len(made.projects)
    echo(
        f"{count:,} statement{'s' if count != 1 else ''} on {made.period}: {money(made.total, made.rates)}",
        err=True,
    )
    for text in (*notes(made), *unused(made)):
        echo(f"gwa: {text}", err=True)
