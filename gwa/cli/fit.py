"""Fit distributions to a characteristic of a trace."""

from pathlib import Path
from typing import Any

import click

from gwa.cli._common import JSON, PATH, opened, options, parts


@click.command(name="fit")
@click.argument("trace", type=PATH, required=False)
@click.argument("characteristic", required=False)
@click.option("--list", "as_list", is_flag=True, help="List the characteristics.")
@click.option(
    "--preset",
    type=click.Choice(["thesis", "text"]),
    default="thesis",
    show_default=True,
    help="The thesis as its numbers are, or as its text says.",
)
@click.option(
    "--shift", type=float, metavar="SECONDS", help="When the day begins, after midnight UTC (else 6 h local)."
)
@click.option("--every", is_flag=True, help="Fit every distribution there is, not only the thesis' six.")
@click.option("--test", is_flag=True, help="Add p-values by parametric bootstrap; takes seconds to minutes.")
@click.option("--seed", type=int, default=2009, show_default=True, help="Seed of the bootstrap.")
@JSON
@parts
@options
def command(
    trace: Path | None, characteristic: str | None, as_list: bool, as_json: bool, **said: Any
) -> None:
    """
    Fit distributions to a characteristic of a trace: a table on a terminal, CSV when piped.

    Values are fitted on the scale of Anoep's thesis (2009), mostly logarithms. KS is the greatest
    distance of the distribution functions; the best by KS comes first.

    \b
    Examples:
      gwa fit --list
      gwa fit sample_traces/swf/tiny.swf runtime
    """
    from gwa.characteristics.thesis import CHARACTERISTICS
    from gwa.terminal import table

    if as_list:
        rows = [(one.name, one.title, one.unit, one.tables) for one in CHARACTERISTICS.values()]
        table(("characteristic", "title", "unit", "tables of the thesis"), rows, as_json=as_json)
        return
    if trace is None or characteristic not in CHARACTERISTICS:
        known = ", ".join(CHARACTERISTICS)
        what = "a trace and a characteristic" if characteristic is None else f"'{characteristic}'"
        raise click.UsageError(f"{what}: expected TRACE and one of {known}")
    with opened(trace, said) as found:
        _print(found.store, characteristic, said, as_json=as_json)


def _print(store: Any, name: str, said: dict[str, Any], *, as_json: bool) -> None:
    """Print the fits of a characteristic, and the verdict on standard error."""
    from dataclasses import replace

    from gwa.characteristics.thesis import CHARACTERISTICS, PRESETS, fitted
    from gwa.errors import TraceError
    from gwa.statistics.distribution import NONNEGATIVE, POSITIVE, distributions
    from gwa.statistics.fit import SIX, with_p_values
    from gwa.statistics.goodness import Bootstrap
    from gwa.terminal import table

    lacking = [field for field in CHARACTERISTICS[name].needs if not store.has(field)]
    if lacking:
        raise TraceError(f"the trace does not record {', '.join(lacking)}, which {name} needs")
    measured = CHARACTERISTICS[name].measure(store, replace(PRESETS[said["preset"]], shift=said["shift"]))
    kinds = [one.name for one in distributions().values() if not one.support.whole]
    fits = fitted(measured, kinds if said["every"] else SIX)
    if said["test"]:
        import numpy as np

        plan = Bootstrap(grid=measured.grid, supports=(POSITIVE, NONNEGATIVE))
        rng = np.random.default_rng(said["seed"])
        fits = with_p_values(fits, measured.x.restrict(above=0.0), rng, plan)
    if not len(fits):
        raise TraceError(f"{name}: too few different values for a fit")
    names = ("distribution", "parameters", "ks", "aic", "bic", "p_naive", "p_value", "best")
    table(names, [_row(fit, fits) for fit in sorted(fits, key=lambda fit: fit.ks)], as_json=as_json)
    if not said["quiet"]:
        scale = f"log base {measured.base}" if measured.base else "no logarithm"
        about = f"{measured.x.n:,} values ({scale}); {measured.dropped:.1%} below 1 dropped"
        click.echo(f"{about}, {measured.zeros:.1%} zeros. {fits.verdict()}", err=True)


def _row(fit: Any, fits: Any) -> tuple[object, ...]:
    """Return a line of the table."""
    parameters = " ".join(f"{name}={value:.6g}" for name, value in fit.parameters.items())
    best = [rule for rule, one in (("KS", fits.best_ks), ("BIC", fits.best_bic)) if one is fit]
    return (
        fit.name, parameters, round(fit.ks, 6), round(fit.aic, 3), round(fit.bic, 3), round(fit.naive, 6),
        round(fit.p.ks, 6) if fit.p else None, " ".join(best),
    )  # fmt: skip
