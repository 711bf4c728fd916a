"""Which distributions describe the workload."""

import math
from collections.abc import Iterator
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
DRAWN, REPLICATES = 1000, 99
"""On how many observations the two best are tested, and against how many simulated samples."""

DEAR: Final = ("hyperexponential",)
"""Distributions whose test takes too long for a report; ``gwa fit --test`` makes it."""

STEPS: Final = 200

LEAST: Final = 0.001

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


@analysis("Fitted distributions", Chapter.MODELS, facts=("fit",))
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
        lacking = [BY_NAME[name].meaning for name in characteristic.needs if not store.has(name)]
        if lacking:
            yield Note(f"{characteristic.title}: this trace does not record {' and '.join(lacking)}.")
            continue
        measured = characteristic.measure(store, PRESETS["thesis"])
        found = tested(measured, fitted(measured)) if measured.x.values.size > 1 else None
        if found is None or found.best_ks is None:
            yield Note(f"{characteristic.title}: too few different values for a fit.")
            continue
        yield from _blocks(characteristic, measured, found)
    yield from _published(store)


def tested(measured: Measured, found: Fits) -> Fits:
    """Return *found* with bootstrap p-values for the best by KS and by BIC."""
    best = {fit.name for fit in (found.best_ks, found.best_bic) if fit} - set(DEAR)
    plan = Bootstrap(DRAWN, REPLICATES, measured.grid, (POSITIVE, NONNEGATIVE))
    common = measured.x.restrict(above=0.0)
    chosen = Fits(tuple(fit for fit in found if fit.name in best))
    if common.values.size < 2:  # noqa: PLR2004 - one value fits anything
        return found
    again = {fit.name: fit for fit in with_p_values(chosen, common, np.random.default_rng(SEED), plan)}
    return Fits(tuple(again.get(fit.name, fit) for fit in found), found.refused)


def _blocks(characteristic: Characteristic, measured: Measured, found: Fits) -> Iterator[Block]:
    """Yield facts, table, verdict and figure of one characteristic."""
    yield Facts(_facts(characteristic, measured, found), listed=False)
    scale = {"": "", BINARY: ", logarithm to base 2"}.get(measured.base, ", natural logarithm")
    yield Table(
        f"fit-{characteristic.name.replace('_', '-')}",
        f"{characteristic.title}{scale}",
        COLUMNS,
        tuple(_row(fit) for fit in found),
        _said(measured, found),
    )
    yield Note(f"{characteristic.title}: {found.verdict()}")
    yield _figure(characteristic, measured, found)
    yield _tail(characteristic, measured, found)


def _said(measured: Measured, found: Fits) -> str:
    """Return how many values there are, which of them stand apart, and what could not be fitted."""
    apart = (
        (measured.dropped, "of the raw ones are below 1 and dropped"),
        (measured.zeros, "are 0 on this scale"),
    )
    parts = [counted(measured.x.n, "value"), *(f"{fraction(part)} {what}" for part, what in apart if part)]
    return "; ".join(parts) + "." + "".join(f" Not fitted: {reason}." for reason in found.refused.values())


def _facts(characteristic: Characteristic, measured: Measured, found: Fits) -> tuple[Fact, ...]:
    """Return all that is known of the fits of a characteristic."""
    prefix, title = f"fit.{characteristic.name}", characteristic.title
    near, likely = found.best_ks, found.best_bic
    facts = [
        Fact(f"{prefix}.n", measured.x.n, f"{title}: values", "count"),
        Fact(f"{prefix}.base", measured.base or None, f"{title}: base of the logarithm"),
        Fact(f"{prefix}.dropped", measured.dropped, f"{title}: dropped", "fraction"),
        Fact(f"{prefix}.zeros", measured.zeros, f"{title}: zeros on the scale", "fraction"),
        Fact(f"{prefix}.best_ks", near.name if near else None, f"{title}: best by KS"),
        Fact(f"{prefix}.best_bic", likely.name if likely else None, f"{title}: best by BIC"),
    ]
    for fit in found:
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
        number(fit.cramer_von_mises), number(fit.aic), number(fit.bic), _small(fit.naive), p,
    )  # fmt: skip


def _small(p: float) -> Value:
    """Return a p-value; what is below the last digit that anyone reads is said to be."""
    return number(p) if p >= LEAST else f"<\N{NO-BREAK SPACE}{LEAST}"


def _figure(characteristic: Characteristic, measured: Measured, found: Fits) -> Figure:
    """Return the distribution of the values with the two best fits, in the values' own unit."""
    x = measured.x
    grid = np.linspace(x.min(), x.max(), STEPS)
    best = _best(found)
    shown = cdf(
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
    curves = shown.data["curves"]
    data = {**shown.data, "curves": [*curves, *drawn]} if isinstance(curves, list) else shown.data
    return Figure(shown.id, shown.title, shown.plot, data, shown.alt, shown.note)


def _tail(characteristic: Characteristic, measured: Measured, found: Fits) -> Figure:
    """Return which share of the values is greater, on a logarithmic axis, where tails can be told apart."""
    x = measured.x
    values, shares = _curve(measured, x)
    grid = np.linspace(x.min(), x.max(), STEPS)
    curves = {"data": (values[:-1], 1 - shares[:-1])}
    for fit in _best(found).values():
        beyond = fit.distribution.sf(grid)
        seen = beyond > 1 / (2 * x.n)
        curves[fit.title] = (measured.raw(grid)[seen], beyond[seen])
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


def _best(found: Fits) -> dict[str, Fit]:
    """Return the best fits by KS and by BIC, which may be one."""
    return {fit.name: fit for fit in (found.best_ks, found.best_bic) if fit}


def _unit(characteristic: Characteristic) -> Unit:
    return "seconds" if characteristic.unit == "seconds" and characteristic.name != "variance" else ""


def _curve(measured: Measured, x: Sample) -> "tuple[np.ndarray, np.ndarray]":
    values, shares = x.ecdf()
    return measured.raw(values), shares


def _published(store: Store) -> Iterator[Block]:
    """Yield what papers print about this very trace beside ours, if they do."""
    found = list(cells(store))
    if not found:
        return
    agreeing = sum(cell.agrees for cell in found)
    columns = (
        Column("source", "Source"), Column("what", "What"), Column("printed", "Printed"),
        Column("ours", "Ours"), Column("difference", "Difference"),
    )  # fmt: skip
    yield Table(
        "published",
        "Numbers that papers print of this trace",
        columns,
        tuple((c.source, c.what, c.printed, number(c.ours), number(c.difference)) for c in found),
        f"{agreeing} of {len(found)} are equal to the printed digit.",
    )
