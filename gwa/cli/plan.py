"""Say what waits would be with more processors, where the log bears it out."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gwa.cli._commands import Purpose
from gwa.cli._options import JSON, PATH, TRACE, Range, given, looking, looks, options, writes
from gwa.cli._output import FORCE, claimed, write_csv, write_texts
from gwa.cli._reading import opened
from gwa.cli._terminal import echo, echo_json, progress, say

if TYPE_CHECKING:
    from gwa.evaluation.capacity.price import Price
    from gwa.evaluation.capacity.rule import CapacityPlan, Recorded
    from gwa.report.document import Report

PURPOSE = Purpose.PLAN

PAGES: Final = ("html", "json", "pdf")
"""The kinds of pages, by the suffix of their file."""

SAME_CURVE: Final = {"as_json", "csv_file"}
"""Parameters that change nothing of what a page or a curve says."""


def _page(_: click.Context, __: click.Parameter, path: Path | None) -> Path | None:
    """Return the path of a page; raise a usage error for another suffix."""
    if path is not None and path.suffix.removeprefix(".") not in PAGES:
        expected = " or ".join(f".{kind}" for kind in PAGES)
        raise click.BadParameter(f"'{path}' is no page, expected a name that ends with {expected}")
    return path


@click.command(name="plan")
@TRACE
@click.option(
    "--cpus",
    default="+20%",
    show_default=True,
    metavar="SIZE",
    callback=given,
    help="Processors: a number, or a difference such as +10% or +64.",
)
@click.option(
    "--size",
    metavar="SIZES",
    callback=given,
    help="Jobs that are asked about: 16 for 16 processors or more, 4..8, all. Default: all, and large ones.",
)
@click.option(
    "--prices",
    type=PATH,
    metavar="FILE.toml",
    help="Prices of an hour of a processor, as gwa charge takes them.",
)
@click.option(
    "--price-per-processor-year",
    "price",
    type=Range(min=0, max=1e9),
    metavar="AMOUNT",
    help="Price of a processor for a year instead.",
)
@writes("--csv csv_file", "FILE", "Write the curve of sizes as CSV.")
@writes("-o --output out", "PAGE.html", "Also write a page.", callback=_page)
@FORCE
@JSON
@looks
@options
def command(
    trace: Path, *, cpus: str, size: str | None, prices: Path | None, price: float | None,
    csv_file: Path | None, out: Path | None, force: bool, as_json: bool, **params: Any,
) -> None:  # fmt: skip
    """
    Say what waits would be with more processors, where the log bears it out.

    The answer is on the p95 wait: the time within which 95 % of the jobs start. A log has it for a fifth
    more processors at most, if it has two years of months, and if the waits of months that are held out
    follow from their load. Otherwise the reasons are listed, each with its number and with what would be
    needed. What the log records that needs no forecast is listed, too.

    \b
    Examples:
      gwa sample swf -o sample.swf
      gwa plan sample.swf
      gwa plan sample.swf --cpus +10% --size 16 --price-per-processor-year 90
    """
    from gwa.analysis.lead import on_another_machine
    from gwa.analysis.without_forecast import without_forecast
    from gwa.evaluation.capacity import words
    from gwa.evaluation.capacity.page import report
    from gwa.evaluation.capacity.rule import planned
    from gwa.evaluation.capacity.windows import ProcessorRange

    known_price = _price(prices, price)
    classes = [ProcessorRange.parse(size)] if size else []
    look = looking(params)
    with opened(trace, params) as opened_trace:
        write_texts({**params, "force": force})
        store, name = opened_trace.store, opened_trace.name
        found = planned(store, cpus, classes, progress(quiet=params["quiet"]))
        beside = without_forecast(store)
        hours = on_another_machine(store, found.asked) if out else None
    if as_json:
        echo_json(json.dumps(words.plain(found, beside, known_price), indent=1, allow_nan=False))
    else:
        _print(found, known_price, beside)
    if csv_file:
        write_csv(csv_file, words.COLUMNS, words.rows(found), force=force, but=SAME_CURVE)
        echo(csv_file, err=True)
    if out:
        _write(report(found, name, known_price, beside, hours), out, look, force=force)


def _price(prices: Path | None, price: float | None) -> "Price | None":
    """Return the price that options state; both at once are a usage error."""
    from gwa.breakdown.charge.rates import exact, read_rates
    from gwa.evaluation.capacity.price import Price, by_rates

    if prices and price is not None:
        raise click.UsageError("expected either --prices or --price-per-processor-year")
    if price is not None:
        return Price(exact(price))
    return by_rates(read_rates(prices)) if prices else None


def _print(found: "CapacityPlan", price: "Price | None", beside: "Sequence[Recorded]") -> None:
    """Print the answer first, then what it costs, what needs no forecast, and what was left out."""
    from gwa.evaluation.capacity import words

    for sentence in words.sentences(found):
        say(sentence)
    if found.touched:
        say(found.touched.sentence())
    if price:
        say(words.cost(found, price))
    echo("\nWhat needs no forecast:")
    for one in beside:
        say(f"  {one.text}")
    for remark in words.remarks(found):
        echo(f"gwa: {remark}", err=True)


def _write(page: "Report", path: Path, look: dict[str, Any], *, force: bool) -> None:
    """Write the page."""
    from gwa.report.output import write
    from gwa.util.atomic import writable

    writable(path)
    with claimed([path], force=force, but=SAME_CURVE):
        for written in write(page, path.parent, path.stem, [path.suffix.removeprefix(".")], **look):
            echo(written, err=True)
