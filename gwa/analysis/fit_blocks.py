"""How fits of distributions are shown: their tests, facts, rows and curves, whatever they are fitted to."""

from dataclasses import replace
from typing import Final

import numpy as np

from gwa.report.document import Column, Fact, Figure
from gwa.report.facts import facts_of, number
from gwa.report.figures.cdf import cdf
from gwa.statistics.fit import Fit, Fits, with_p_values
from gwa.statistics.goodness import Bootstrap
from gwa.statistics.sample import Floats, Sample
from gwa.words.formatting import decimal, show
from gwa.words.message import capitalized, joined, message, plural
from gwa.words.unit import Unit, Value

SEED: Final = 2009
TESTED_VALUES, REPLICATES = 1000, 99
"""The number of values that the two best fits are tested on, and of simulated samples."""

UNTESTED: Final = ("hyperexponential",)
"""Distributions whose test takes too long for a report; ``gwa fit --test`` includes them."""

CURVE_POINTS: Final = 200

COLUMNS: Final = (
    Column("distribution", "Distribution"),
    Column("parameters", "Parameters"),
    Column("ks", "KS"),
    Column("anderson_darling", "AD"),
    Column("cramer_von_mises", "CvM"),
    Column("aic", "AIC"),
    Column("bic", "BIC"),
    Column("p_value", "p, bootstrap"),
    Column("remark", "Remark"),
)


def best_fits(fits: Fits) -> dict[str, Fit]:
    """Return the best fits by KS and by BIC, which may be the same, by name."""
    return {fit.name: fit for fit in (fits.best_ks, fits.best_bic) if fit}


def with_best_tested(fits: Fits, x: Sample, plan: Bootstrap) -> Fits:
    """Return *fits* with bootstrap p-values of the best by KS and by BIC, but for those `UNTESTED`."""
    chosen = best_fits(fits).keys() - set(UNTESTED)
    to_test = Fits(tuple(fit for fit in fits if fit.name in chosen))
    by_name = {fit.name: fit for fit in with_p_values(to_test, x, np.random.default_rng(SEED), plan)}
    return replace(fits, fits=tuple(by_name.get(fit.name, fit) for fit in fits))


def fit_facts(prefix: str, title: str, fits: Fits) -> tuple[Fact, ...]:
    """Return facts on which of *fits* are the best, and on the parameters and distances of each."""
    by_ks, by_bic = (best.name if best else None for best in (fits.best_ks, fits.best_bic))
    best = message("{title}: best by KS", title=title), message("{title}: best by BIC", title=title)
    facts = [*facts_of(prefix, ("best_ks", by_ks, best[0], ""), ("best_bic", by_bic, best[1], ""))]
    for fit in fits:
        for name, value in {**fit.parameters, **_distances(fit)}.items():
            label = message("{title}, {title2}: {name}", title=title, title2=fit.title, name=name)
            facts.append(Fact(f"{prefix}.{fit.name}.{name}", number(value), label))
        if fit.degenerate:
            label = message("{title}, {title2}: why it is not ranked", title=title, title2=fit.title)
            facts.append(Fact(f"{prefix}.{fit.name}.degenerate", fit.degenerate, label))
    return tuple(facts)


def fit_row(fit: Fit) -> tuple[Value, ...]:
    """Return the row of a fit, by `COLUMNS`."""
    parameters = joined(
        ", ",
        (
            message("{name} {value}", name=name, value=decimal(value, ".4g"))
            for name, value in fit.parameters.items()
        ),
    )
    remark = message("not ranked: {degenerate}", degenerate=fit.degenerate) if fit.degenerate else ""
    return (capitalized(fit.title), parameters, *map(number, _distances(fit).values()), remark)


def fitted_cdf(
    x: Sample, fits: Fits, *, name: str, title: str, grid: Floats, unit: Unit, log: bool
) -> Figure:
    """Return the figure of the distribution of *x* with the best of *fits*, drawn at a *grid*."""
    best = best_fits(fits)
    figure = cdf(
        name,
        message("{title} and the best fits", title=title),
        {"data": x.ecdf()},
        title,
        message(
            "Cumulative fraction of {n}, and the best by KS and by BIC: ",
            n=plural("{n} value", "{n} values", x.n),
        )
        + joined(
            ", ", (message("{title} (KS {ks})", title=fit.title, ks=show(fit.ks)) for fit in best.values())
        )
        + ".",
        unit=unit,
        ylabel="Fraction of values",
        log=log,
    )
    # The curve of a fit need not reach 1 within the data, where that of a distribution of data ends.
    drawn = [
        {"label": fit.title, "x": grid.tolist(), "y": fit.distribution.cdf(grid).round(5).tolist()}
        for fit in best.values()
    ]
    curves = figure.data["curves"]
    data = {**figure.data, "curves": [*curves, *drawn]} if isinstance(curves, list) else figure.data
    return replace(figure, data=data)


def _distances(fit: Fit) -> dict[str, float | None]:
    """Return the distances of a fit, and the p of its test, by the keys of their columns."""
    names = ("ks", "anderson_darling", "cramer_von_mises", "aic", "bic")
    return {name: getattr(fit, name) for name in names} | {"p_value": fit.p.ks if fit.p else None}
