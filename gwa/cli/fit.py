"""Fit distributions to a characteristic of a trace."""

import math
from pathlib import Path
from typing import Any

import click

from gwa.cli._common import JSON, PATH, opened, options, parts
from gwa.errors import TraceError

TEST_COLUMNS = ("p_value", "p_ad", "p_cvm")
"""What only --test adds."""

COLUMNS = ("distribution", "parameters", "ks", "ad", "cvm", "aic", "bic", "p_naive", *TEST_COLUMNS, "best")

USERS = "user_rank"


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
    trace: Path | None, characteristic: str | None, as_list: bool, as_json: bool, **params: Any
) -> None:
    """
    Fit distributions to a characteristic of a trace: a table on a terminal, CSV when piped.

    Values are fitted on the scale of Anoep's thesis (2009), mostly logarithms. KS is the greatest
    distance of the distribution functions; the best by KS comes first. The distances of Anderson and
    Darling (ad), which weighs the tails, and of Cramér and von Mises (cvm) grow with the number of values;
    like AIC and BIC they are over those that all candidates can produce. With --test each has a p-value.

    \b
    Examples:
      gwa fit --list
      gwa fit sample_traces/swf/tiny.swf runtime
    """
    from gwa.cli._terminal import table
    from gwa.metrics.papers.anoep2009 import CHARACTERISTICS

    if as_list:
        rows = [(item.name, item.title, item.unit, item.tables) for item in CHARACTERISTICS.values()]
        rows.append((USERS, "Users by number of jobs", "count", "4.19, 4.20"))
        table(("characteristic", "title", "unit", "tables of the thesis"), rows, as_json=as_json)
        return
    if not (trace and characteristic) or characteristic not in (*CHARACTERISTICS, USERS):
        known = ", ".join((*CHARACTERISTICS, USERS))
        given = "a trace and a characteristic" if characteristic is None else f"'{characteristic}'"
        raise click.UsageError(f"{given}: expected TRACE and one of {known}")
    with opened(trace, params) as opened_trace:
        store = opened_trace.store
        fits, about = (_ranking if characteristic == USERS else _fits)(store, characteristic, params)
    if not len(fits):
        raise TraceError(f"{characteristic}: too few different values for a fit")
    names = COLUMNS if params["test"] else tuple(name for name in COLUMNS if name not in TEST_COLUMNS)
    lines = [_row(fit, fits) for fit in sorted(fits, key=lambda fit: fit.ks)]
    table(names, [tuple(line[name] for name in names) for line in lines], as_json=as_json)
    if not params["quiet"]:
        click.echo(about, err=True)


def _ranking(store: Any, _: str, params: dict[str, Any]) -> tuple[Any, str]:
    """Return the Zipf fits of the users by rank, and what to say about them."""
    from dataclasses import replace

    from gwa.metrics.papers.anoep2009_users import ranked_users
    from gwa.statistics.distribution import FitError
    from gwa.statistics.goodness import Bootstrap, PValues

    try:
        ranking = ranked_users(store)
    except FitError as reason:
        raise TraceError(f"users cannot be ranked: {reason}") from None
    fits, bootstrap = ranking.fits(), Bootstrap()
    if params["test"]:
        p = ranking.p_value(bootstrap.n, bootstrap.replicates, params["seed"])
        p_values = PValues(p, math.nan, math.nan, min(bootstrap.n, ranking.ranks.n), bootstrap.replicates)
        fits = replace(fits, fits=(replace(fits.fits[0], p=p_values), *fits.fits[1:]))
    summary = f"{ranking.ranks.n:,} jobs of {ranking.likely.ranks:,.0f} users"
    return fits, f"{summary}; by likelihood and by least squares. {fits.verdict()}"


def _fits(store: Any, name: str, params: dict[str, Any]) -> tuple[Any, str]:
    """Return the fits of a characteristic, and what to say about them."""
    from dataclasses import replace

    from gwa.metrics.papers.anoep2009 import CHARACTERISTICS, PRESETS, fitted
    from gwa.report.formatting import fraction
    from gwa.statistics.distribution import NONNEGATIVE, POSITIVE, distributions
    from gwa.statistics.fit import SIX, with_p_values
    from gwa.statistics.goodness import Bootstrap

    missing = [field for field in CHARACTERISTICS[name].needs if not store.has(field)]
    if missing:
        raise TraceError(f"the trace does not record {', '.join(missing)}, which {name} needs")
    measured = CHARACTERISTICS[name].measure(store, replace(PRESETS[params["preset"]], shift=params["shift"]))
    kinds = [distribution.name for distribution in distributions().values() if not distribution.support.whole]
    fits = fitted(measured, kinds if params["every"] else SIX)
    if params["test"]:
        import numpy as np

        bootstrap = Bootstrap(grid=measured.grid, supports=(POSITIVE, NONNEGATIVE))
        rng = np.random.default_rng(params["seed"])
        fits = with_p_values(fits, measured.x.restrict(above=0.0), rng, bootstrap)
    scale = f"log base {measured.base}" if measured.base else "no logarithm"
    summary = f"{measured.x.n:,} values ({scale}); {fraction(measured.dropped)} below 1 dropped"
    return fits, f"{summary}, {fraction(measured.zeros)} zeros. {fits.verdict()}"


def _row(fit: Any, fits: Any) -> dict[str, object]:
    """Return a line of the table by column."""
    p, best_fits = fit.p, (("KS", fits.best_ks), ("BIC", fits.best_bic))
    numbers = {
        "ks": (fit.ks, 6),
        "ad": (fit.anderson_darling, 3),
        "cvm": (fit.cramer_von_mises, 3),
        "aic": (fit.aic, 3),
        "bic": (fit.bic, 3),
        "p_naive": (fit.naive, 6),
        "p_value": (p.ks if p else math.nan, 6),
        "p_ad": (p.anderson_darling if p else math.nan, 6),
        "p_cvm": (p.cramer_von_mises if p else math.nan, 6),
    }
    return {
        "distribution": fit.name,
        "parameters": " ".join(f"{name}={value:.6g}" for name, value in fit.parameters.items()),
        **{name: round(value, d) if math.isfinite(value) else None for name, (value, d) in numbers.items()},
        "best": " ".join(rule for rule, best in best_fits if best is fit),
    }
