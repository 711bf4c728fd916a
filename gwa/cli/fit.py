"""Fit distributions to a characteristic of a trace."""

import math
from pathlib import Path
from typing import Any

import click

from gwa.cli._commands import Purpose
from gwa.cli._options import JSON, PATH, Range, flag, options, parts, shown
from gwa.cli._output import to_file
from gwa.cli._reading import opened
from gwa.cli._terminal import echo, table
from gwa.errors import TraceError
from gwa.util.units import DAY

PURPOSE = Purpose.MODEL

TEST_COLUMNS = ("p_value", "p_ad", "p_cvm")
"""What only --test adds."""

NAIVE = "p_naive"
"""What only --naive adds."""

COLUMNS = (
    "distribution", "parameters", "ks", "ad", "cvm", "aic", "bic", NAIVE, *TEST_COLUMNS, "best", "remark",
)  # fmt: skip

SHOWN = {"distribution", "parameters", "ks", "bic", NAIVE, "p_value", "best", "remark"}
"""What fits a terminal."""

USERS = "user_rank"

MINIMA = 500
"""How many beginnings of a power law are tried."""


@click.command(name="fit")
@click.argument("trace", type=PATH, required=False)
@click.argument("characteristic", required=False)
@flag("--list as_list", "List the characteristics.")
@shown(
    "--preset",
    click.Choice(["thesis", "text"]),
    "thesis",
    "Definitions that match the numbers of the thesis, or those of its text.",
)
@click.option(
    "--shift",
    type=Range(-DAY, DAY),
    metavar="SECONDS",
    help="Begin of the day in seconds after midnight UTC; by default 6 h local time.",
)
@flag("--every", "Fit all distributions, not only the six of the thesis.")
@flag("--test", "Add p-values by parametric bootstrap (seconds to minutes).")
@flag("--naive", "Add the textbook p-values of KS, which are too large for fitted parameters.")
@shown("--seed", int, 2009, "Seed of the bootstrap.")
@JSON
@parts
@options
@to_file
def command(
    trace: Path | None, characteristic: str | None, as_list: bool, as_json: bool, **params: Any
) -> None:
    """
    Fit distributions to a characteristic of a trace.

    Prints a table on a terminal, CSV when piped. Times and memory are fitted as they are recorded, those
    above 0; characteristics called log_… are the logarithms that Anoep's thesis (2009) models. KS is the
    maximum distance between the distribution functions; the best by KS comes first, and fits with a remark
    come last. The distances of Anderson and Darling (ad), which weighs the tails, and of Cramér and von Mises
    (cvm) grow with the number of values; like AIC and BIC they are over those that all candidates can
    produce. With --test each has a p-value.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa fit --list
      gwa fit sample.sacct runtime
      gwa fit sample.sacct log_runtime --preset text
    """
    from gwa.metrics.characteristics import FITTED

    if as_list:
        rows = [(item.name, item.title, item.unit, item.tables) for item in FITTED.values()]
        rows.append((USERS, "Users by number of jobs", "count", "4.19, 4.20"))
        table(("characteristic", "title", "unit", "tables of the thesis"), rows, as_json=as_json)
        return
    if not (trace and characteristic) or characteristic not in (*FITTED, USERS):
        known = ", ".join((*FITTED, USERS))
        given = "a trace and a characteristic" if characteristic is None else f"'{characteristic}'"
        raise click.UsageError(f"{given}: expected TRACE and one of {known}")
    with opened(trace, params) as opened_trace:
        store = opened_trace.store
        fits, about = (_ranking if characteristic == USERS else _fits)(store, characteristic, params)
    if not len(fits):
        raise TraceError(f"{characteristic}: too few different values for a fit")
    omitted = (*(() if params["test"] else TEST_COLUMNS), *(() if params["naive"] else (NAIVE,)))
    names = tuple(name for name in COLUMNS if name not in omitted)
    lines = [_row(fit, fits) for fit in sorted(fits, key=lambda fit: (bool(fit.degenerate), fit.ks))]
    cells = [tuple(line[name] for name in names) for line in lines]
    table(names, cells, as_json=as_json, shown=SHOWN)
    if not params["quiet"]:
        echo(about, err=True)


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

    from gwa.metrics.characteristics import FITTED, bootstrap
    from gwa.metrics.papers.anoep2009 import PRESETS
    from gwa.statistics.distribution import distributions
    from gwa.statistics.fit import SIX, with_p_values
    from gwa.words.formatting import fraction

    characteristic = FITTED[name]
    missing = [field for field in characteristic.needs if not store.has(field)]
    if missing:
        raise TraceError(f"the trace does not record {', '.join(missing)}, which {name} needs")
    measured = characteristic.measure(store, replace(PRESETS[params["preset"]], shift=params["shift"]))
    kinds = [distribution.name for distribution in distributions().values() if not distribution.support.whole]
    fits = characteristic.fit(measured, kinds if params["every"] else SIX)
    if params["test"]:
        import numpy as np

        rng = np.random.default_rng(params["seed"])
        fits = with_p_values(fits, measured.x.restrict(above=0.0), rng, bootstrap(measured))
    about = f"{measured.x.n:,} values"
    if not characteristic.natural:
        about += f" ({f'logarithms to base {measured.base}' if measured.base else 'no logarithms'})"
    if measured.dropped:
        about += f", without {fraction(measured.dropped)} below 1"
    if measured.zeros:
        about += f", {fraction(measured.zeros)} of them zeros, which are not fitted"
    return fits, f"{about}. {fits.verdict()}{_power_law(measured, params) if characteristic.natural else ''}"


def _power_law(measured: Any, params: dict[str, Any]) -> str:
    """Return a sentence on the power law of the largest values; nothing where there are too few."""
    import numpy as np

    from gwa.statistics.distribution import FitError
    from gwa.statistics.fit import SIGNIFICANCE
    from gwa.statistics.power_law import power_law, power_law_p_value
    from gwa.words.formatting import number

    x, step = measured.x.restrict(above=0.0), measured.grid.resolution if measured.grid else 0.0
    try:
        law = power_law(x, step, MINIMA)
    except FitError:
        return ""
    about = (
        f" The nearest power law: exponent {number(law.exponent)} from {number(law.minimum)} on"
        f" ({law.above:,} values, KS {number(law.ks)})"
    )
    if not params["test"]:
        return f"{about}; --test tells whether it is refuted."
    p = power_law_p_value(x, np.random.default_rng(params["seed"]), step)
    return f"{about}; {'refuted' if p <= SIGNIFICANCE else 'not refuted'}, p {number(p)}."


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
        "remark": f"not ranked: {fit.degenerate}" if fit.degenerate else "",
    }
