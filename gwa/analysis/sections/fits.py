"""Which distributions describe the workload."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.papers.anoep2009 import BINARY, CHARACTERISTICS, PRESETS, Characteristic, Measured, fitted
from gwa.metrics.papers.published import cells
from gwa.report.document import Block, Column, Fact, Facts, Figure, Note, Table, Unit, Value
from gwa.report.facts import number
from gwa.report.figures.cdf import cdf
from gwa.report.figures.lines import lines
from gwa.report.formatting import counted, fraction
from gwa.statistics.distribution import NONNEGATIVE, POSITIVE
from gwa.statistics.fit import Fit, Fits, with_p_values
from gwa.statistics.goodness import Bootstrap
from gwa.statistics.sample import Sample
from gwa.store.schema import BY_NAME
from gwa.store.store import Store

SEED: Final = 2009
TESTED_VALUES, REPLICATES = 1000, 99
"""The number of values that the two best fits are tested on, and of simulated samples."""

UNTESTED: Final = ("hyperexponential",)
"""Distributions whose test takes too long for a report; ``gwa fit --test`` includes them."""

CURVE_POINTS: Final = 200

MINIMUM_P_VALUE: Final = 0.001

COLUMNS: Final = (
    Column("distribution", "Distribution"),
    Column("parameters", "Parameters"),
    Column("ks", "KS"),
    Column("anderson_darling", "AD"),
    Column("cramer_von_mises", "CvM"),
    Column("aic", "AIC"),
    Column("bic", "BIC"),
    Column("naive", "p, naive"),
    Column("p_value", "p, bootstrap"),
)


@analysis("Fitted distributions", Chapter.MODELS, facts=tuple(f"fit.{name}" for name in CHARACTERISTICS))
def fits(store: Store) -> Iterator[Block]:
    """
    The characteristics that Anoep's thesis (2009) models, and six distributions fitted to each.

    What is fitted is the logarithm of the values, natural or to base 2 as its tables have it. KS is the
    greatest distance between the two distribution functions, over all values. AD (Anderson and Darling, which
    weighs the tails) and CvM (Cramér and von Mises) are their mean squared distance times the number of
    values; these, AIC and BIC, less of which is better, are over those that every candidate can produce.

    The naive p is the textbook's, for parameters known beforehand; it is too large. The other is that of a
    parametric bootstrap for the two best, on 1,000 values drawn at random (seed 2009): how often chance alone
    is as far off as they are.
    """
    for characteristic in CHARACTERISTICS.values():
        missing = [BY_NAME[name].meaning for name in characteristic.needs if not store.has(name)]
        if missing:
            yield Note(f"{characteristic.title}: this trace does not record {' and '.join(missing)}.")
            continue
        measured = characteristic.measure(store, PRESETS["thesis"])
        candidates = with_tests(measured, fitted(measured)) if measured.x.values.size > 1 else None
        if candidates is None or candidates.best_ks is None:
            yield Note(f"{characteristic.title}: too few different values for a fit.")
            continue
        yield from _blocks(characteristic, measured, candidates)
    yield from _published_numbers(store)


def with_tests(measured: Measured, candidates: Fits) -> Fits:
    """Return *candidates* with bootstrap p-values for the best by KS and by BIC."""
    best = {fit.name for fit in (candidates.best_ks, candidates.best_bic) if fit} - set(UNTESTED)
    bootstrap = Bootstrap(TESTED_VALUES, REPLICATES, measured.grid, (POSITIVE, NONNEGATIVE))
    positive = measured.x.restrict(above=0.0)
    to_test = Fits(tuple(fit for fit in candidates if fit.name in best))
    if positive.values.size < 2:  # noqa: PLR2004 - one value fits anything
        return candidates
    tested = with_p_values(to_test, positive, np.random.default_rng(SEED), bootstrap)
    by_name = {fit.name: fit for fit in tested}
    return Fits(tuple(by_name.get(fit.name, fit) for fit in candidates), candidates.refused)


def _blocks(characteristic: Characteristic, measured: Measured, candidates: Fits) -> Iterator[Block]:
    """Yield facts, table, verdict and figure of one characteristic."""
    yield Facts(_facts(characteristic, measured, candidates), listed=False)
    scale = {"": "", BINARY: ", logarithm to base 2"}.get(measured.base, ", natural logarithm")
    yield Table(
        f"fit-{characteristic.name.replace('_', '-')}",
        f"{characteristic.title}{scale}",
        COLUMNS,
        tuple(_row(fit) for fit in candidates),
        _table_note(measured, candidates),
    )
    yield Note(f"{characteristic.title}: {candidates.verdict()}")
    yield _figure(characteristic, measured, candidates)
    yield _tail(characteristic, measured, candidates)


def _table_note(measured: Measured, candidates: Fits) -> str:
    """Return the note of a table: the number of values, those excluded, and what could not be fitted."""
    excluded = (
        (measured.dropped, "of the raw ones are below 1 and dropped"),
        (measured.zeros, "are 0 on this scale"),
    )
    shares = (f"{fraction(share)} {meaning}" for share, meaning in excluded if share)
    refused = "".join(f" Not fitted: {reason}." for reason in candidates.refused.values())
    return "; ".join((counted(measured.x.n, "value"), *shares)) + "." + refused


def _facts(characteristic: Characteristic, measured: Measured, candidates: Fits) -> tuple[Fact, ...]:
    """Return all facts on the fits of a characteristic."""
    prefix, title = f"fit.{characteristic.name}", characteristic.title
    best_ks, best_bic = candidates.best_ks, candidates.best_bic
    facts = [
        Fact(f"{prefix}.n", measured.x.n, f"{title}: values", "count"),
        Fact(f"{prefix}.base", measured.base or None, f"{title}: base of the logarithm"),
        Fact(f"{prefix}.dropped", measured.dropped, f"{title}: dropped", "fraction"),
        Fact(f"{prefix}.zeros", measured.zeros, f"{title}: zeros on the scale", "fraction"),
        Fact(f"{prefix}.best_ks", best_ks.name if best_ks else None, f"{title}: best by KS"),
        Fact(f"{prefix}.best_bic", best_bic.name if best_bic else None, f"{title}: best by BIC"),
    ]
    for fit in candidates:
        values = {
            **fit.parameters, "ks": fit.ks, "anderson_darling": fit.anderson_darling,
            "cramer_von_mises": fit.cramer_von_mises, "aic": fit.aic, "bic": fit.bic,
            "naive_p_value": fit.naive, "p_value": fit.p.ks if fit.p else math.nan,
        }  # fmt: skip
        facts += [
            Fact(f"{prefix}.{fit.name}.{name}", number(value), f"{title}, {fit.title}: {name}")
            for name, value in values.items()
        ]
    return tuple(facts)


def _row(fit: Fit) -> tuple[Value, ...]:
    """Return the row of a fit."""
    parameters = ", ".join(f"{name} {value:.4g}" for name, value in fit.parameters.items())
    p = number(fit.p.ks) if fit.p else None
    return (
        fit.title[0].upper() + fit.title[1:], parameters, number(fit.ks), number(fit.anderson_darling),
        number(fit.cramer_von_mises), number(fit.aic), number(fit.bic), _p_value(fit.naive), p,
    )  # fmt: skip


def _p_value(p: float) -> Value:
    """Return a p-value, or the minimum that is printed after a sign."""
    return number(p) if p >= MINIMUM_P_VALUE else f"<\N{NO-BREAK SPACE}{MINIMUM_P_VALUE}"


def _figure(characteristic: Characteristic, measured: Measured, candidates: Fits) -> Figure:
    """Return the figure of the distribution with the two best fits, in the unit of the values."""
    x = measured.x
    grid = np.linspace(x.min(), x.max(), CURVE_POINTS)
    best = _best(candidates)
    figure = cdf(
        f"fit-{characteristic.name.replace('_', '-')}-cdf",
        f"{characteristic.title} and the best fits",
        {"data": _curve(measured, x)},
        characteristic.title,
        f"Cumulative fraction of {x.n:,} values, and the best by KS and by BIC: "
        + ", ".join(f"{fit.title} (KS {fit.ks:.3f})" for fit in best.values())
        + ".",
        unit=_unit(characteristic),
        ylabel="Fraction of values",
        log=bool(measured.base),
    )
    # The curve of a fit need not reach 1 within the data, where that of a distribution of data ends.
    drawn = [
        {
            "label": fit.title,
            "x": measured.raw(grid).tolist(),
            "y": fit.distribution.cdf(grid).round(5).tolist(),
        }
        for fit in best.values()
    ]
    curves = figure.data["curves"]
    data = {**figure.data, "curves": [*curves, *drawn]} if isinstance(curves, list) else figure.data
    return replace(figure, data=data)


def _tail(characteristic: Characteristic, measured: Measured, candidates: Fits) -> Figure:
    """Return the figure of the tail: the fraction of greater values on a logarithmic axis."""
    x = measured.x
    values, shares = _curve(measured, x)
    grid = np.linspace(x.min(), x.max(), CURVE_POINTS)
    curves = {"data": (values[:-1], 1 - shares[:-1])}
    for fit in _best(candidates).values():
        survival = fit.distribution.sf(grid)
        visible = survival > 1 / (2 * x.n)
        curves[fit.title] = (measured.raw(grid)[visible], survival[visible])
    return lines(
        f"fit-{characteristic.name.replace('_', '-')}-ccdf",
        f"The tail of {characteristic.title[0].lower()}{characteristic.title[1:]}",
        curves,
        characteristic.title,
        "Fraction of values greater",
        f"The fraction of {x.n:,} values that is greater, of the data and of the best fits;"
        f" one in a hundred is above {measured.raw(x.quantiles([0.99]))[0]:.4g}.",
        log=(bool(measured.base), True),
        unit=_unit(characteristic),
    )


def _best(candidates: Fits) -> dict[str, Fit]:
    """Return the best fits by KS and by BIC, which may be the same."""
    return {fit.name: fit for fit in (candidates.best_ks, candidates.best_bic) if fit}


def _unit(characteristic: Characteristic) -> Unit:
    return "seconds" if characteristic.unit == "seconds" and characteristic.name != "variance" else ""


def _curve(measured: Measured, x: Sample) -> "tuple[np.ndarray, np.ndarray]":
    values, shares = x.ecdf()
    return measured.raw(values), shares


def _published_numbers(store: Store) -> Iterator[Block]:
    """Yield the numbers that papers print of this trace beside ours, if there are any."""
    numbers = list(cells(store))
    if not numbers:
        return
    agreeing = sum(cell.agrees for cell in numbers)
    columns = (
        Column("source", "Source"), Column("what", "What"), Column("printed", "Printed"),
        Column("ours", "Ours"), Column("difference", "Difference"),
    )  # fmt: skip
    yield Table(
        "published",
        "Numbers that papers print of this trace",
        columns,
        tuple((c.source, c.what, c.printed, number(c.ours), number(c.difference)) for c in numbers),
        f"{agreeing} of {len(numbers)} are equal to the printed digit.",
    )
