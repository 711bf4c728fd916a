"""Which distributions describe gaps and tokens."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from gwa.analysis.base import Drawing, Made, analysis
from gwa.report.document import Block, Column, Fact, Facts, Figure, Note, Table
from gwa.report.facts import number
from gwa.report.figures.cdf import cdf
from gwa.requests.base import Chapter
from gwa.requests.measured import gaps
from gwa.statistics.fit import SIX, Fit, Fits, fit_all, with_p_values
from gwa.statistics.goodness import Bootstrap
from gwa.statistics.rounding import DIRECTIONS, RoundingGrid
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.words.formatting import decimal, fraction, show
from gwa.words.message import capitalized, joined, message, plural
from gwa.words.unit import Value

SEED: Final = 2009
TESTED_VALUES, REPLICATES = 1000, 99
"""The number of values that the best fits are tested on, and of simulated samples."""

UNTESTED: Final = ("hyperexponential",)
"""Distributions whose test takes too long for a report."""

CURVE_POINTS: Final = 200

TITLES: Final = {
    "gap": message("Gaps between requests"),
    "tokens_in": message("Tokens in"),
    "tokens_out": message("Tokens out"),
}

SAMPLES: Final[Mapping[str, Callable[[Store], Sample]]] = {
    "gap": gaps,
    "tokens_in": lambda store: store.sample("tokens_in", "requests"),
    "tokens_out": lambda store: store.sample("tokens_out", "requests"),
}
"""What distributions are fitted to."""

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


@analysis(
    "Fitted distributions of requests",
    Chapter.MODELLERS,
    facts=("requests.fit",),
    made=Made.FOR_REPORTS,
)
def request_fits(store: Store) -> Iterator[Block | Drawing]:
    """
    Six distributions fitted to gaps, tokens in and tokens out as recorded, to the values above 0.

    KS is the maximum distance between the two distribution functions. AD (Anderson and Darling, which weighs
    the tails) and CvM (Cramér and von Mises) are their mean squared distance times the number of values; of
    AIC and BIC less is better. A fit with a remark is not ranked.

    The p is that of a parametric bootstrap for the best by KS and by BIC, on 1,000 values drawn at random
    (seed 2009): how often chance alone is as far off as they are.
    """
    for name, sample in SAMPLES.items():
        whole = sample(store)
        x = whole.restrict(above=0.0)
        fits = _tested(x) if x.values.size > 1 else Fits(())
        if fits.best_ks is None:
            yield Note(message("{title}: too few different values for a fit.", title=TITLES[name]))
            continue
        yield Facts(_facts(name, x, fits), listed=False)
        yield Table(
            f"request-fit-{name.replace('_', '-')}",
            TITLES[name],
            COLUMNS,
            tuple(map(_row, fits)),
            joined(
                "; ",
                (
                    plural("{n} value", "{n} values", x.n),
                    message(
                        "{share} {meaning}",
                        share=fraction(1 - x.n / whole.n),
                        meaning=message("are 0 and not fitted"),
                    ),
                ),
            ),
        )
        yield Note(message("{title}: {verdict}", title=TITLES[name], verdict=fits.verdict()))
        yield Drawing(partial(_figure, name, x, fits))


def _tested(x: Sample) -> Fits:
    """Return the six fits, with bootstrap p-values of the best by KS and by BIC."""
    fits = fit_all(x, SIX)
    best = {fit.name for fit in (fits.best_ks, fits.best_bic) if fit} - set(UNTESTED)
    chosen = tuple(fit for fit in fits if fit.name in best)
    plan = Bootstrap(
        n=TESTED_VALUES,
        replicates=REPLICATES,
        grid=RoundingGrid.of(x),
        supports=tuple({fit.distribution.support for fit in chosen}),
        directions=DIRECTIONS,
    )
    tested = {fit.name: fit for fit in with_p_values(Fits(chosen), x, np.random.default_rng(SEED), plan)}
    return replace(fits, fits=tuple(tested.get(fit.name, fit) for fit in fits))


def _values(fit: Fit) -> dict[str, float | int | None]:
    """Return the parameters and distances of a fit by name."""
    return {
        **{name: number(value) for name, value in fit.parameters.items()},
        "ks": number(fit.ks),
        "anderson_darling": number(fit.anderson_darling),
        "cramer_von_mises": number(fit.cramer_von_mises),
        "aic": number(fit.aic),
        "bic": number(fit.bic),
        "p_value": number(fit.p.ks) if fit.p else None,
    }


def _facts(name: str, x: Sample, fits: Fits) -> tuple[Fact, ...]:
    """Return all facts on the fits of one characteristic."""
    prefix, title = f"requests.fit.{name}", TITLES[name]
    best_ks, best_bic = fits.best_ks, fits.best_bic
    return (
        Fact(f"{prefix}.n", x.n, message("{title}: values", title=title), "count"),
        Fact(
            f"{prefix}.best_ks",
            best_ks.name if best_ks else None,
            message("{title}: best by KS", title=title),
        ),
        Fact(
            f"{prefix}.best_bic",
            best_bic.name if best_bic else None,
            message("{title}: best by BIC", title=title),
        ),
        *(
            Fact(
                f"{prefix}.{fit.name}.{what}",
                value,
                message("{title}, {title2}: {name}", title=title, title2=fit.title, name=what),
            )
            for fit in fits
            for what, value in _values(fit).items()
        ),
    )


def _row(fit: Fit) -> tuple[Value, ...]:
    """Return the row of a fit."""
    values = _values(fit)
    parameters = joined(
        ", ",
        (
            message("{name} {value}", name=name, value=decimal(value, ".4g"))
            for name, value in fit.parameters.items()
        ),
    )
    distances = (values[column.key] for column in COLUMNS[2:-1])
    remark = message("not ranked: {degenerate}", degenerate=fit.degenerate) if fit.degenerate else ""
    return (capitalized(fit.title), parameters, *distances, remark)


def _figure(name: str, x: Sample, fits: Fits) -> Figure:
    """Return the figure of the distribution with the best fits."""
    best = {fit.name: fit for fit in (fits.best_ks, fits.best_bic) if fit}
    figure = cdf(
        f"request-fit-{name.replace('_', '-')}",
        message("{title} and the best fits", title=TITLES[name]),
        {"data": x.ecdf()},
        TITLES[name],
        message(
            "Cumulative fraction of {n}, and the best by KS and by BIC: ",
            n=plural("{n} value", "{n} values", x.n),
        )
        + joined(
            ", ", (message("{title} (KS {ks})", title=fit.title, ks=show(fit.ks)) for fit in best.values())
        )
        + ".",
        unit="seconds" if name == "gap" else "",
        ylabel="Fraction of values",
    )
    grid = np.geomspace(x.min(), x.max(), CURVE_POINTS)
    # The curve of a fit need not reach 1 within the data, where that of a distribution of data ends.
    drawn = [
        {"label": fit.title, "x": grid.tolist(), "y": fit.distribution.cdf(grid).round(5).tolist()}
        for fit in best.values()
    ]
    curves = figure.data["curves"]
    return (
        replace(figure, data={**figure.data, "curves": [*curves, *drawn]})
        if isinstance(curves, list)
        else figure
    )
