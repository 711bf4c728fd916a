"""Which distributions describe gaps and tokens."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

import numpy as np

from gwa.analysis import fit_blocks
from gwa.analysis.base import Drawing, MadeWhen, analysis
from gwa.report.document import Block, Fact, Facts, Figure, Note, Table
from gwa.requests.base import RequestChapter
from gwa.requests.measured import gaps
from gwa.statistics.fit import SIX, Fits, fit_all
from gwa.statistics.goodness import Bootstrap
from gwa.statistics.rounding import DIRECTIONS, RoundingGrid
from gwa.statistics.sample import Sample
from gwa.store.store import Store
from gwa.words.formatting import fraction
from gwa.words.message import joined, message, plural

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


@analysis(
    "Fitted distributions of requests",
    RequestChapter.MODELLERS,
    facts=("requests.fit",),
    made=MadeWhen.FOR_REPORTS,
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
            fit_blocks.COLUMNS,
            tuple(map(fit_blocks.fit_row, fits)),
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
    supports = tuple(
        {
            fit.distribution.support
            for name, fit in fit_blocks.best_fits(fits).items()
            if name not in fit_blocks.UNTESTED
        }
    )
    return fit_blocks.with_best_tested(
        fits,
        x,
        Bootstrap(fit_blocks.TESTED_VALUES, fit_blocks.REPLICATES, RoundingGrid.of(x), supports, DIRECTIONS),
    )


def _facts(name: str, x: Sample, fits: Fits) -> tuple[Fact, ...]:
    """Return all facts on the fits of one characteristic."""
    prefix, title = f"requests.fit.{name}", TITLES[name]
    values = Fact(f"{prefix}.n", x.n, message("{title}: values", title=title), "count")
    return (values, *fit_blocks.fit_facts(prefix, title, fits))


def _figure(name: str, x: Sample, fits: Fits) -> Figure:
    """Return the figure of the distribution with the best fits."""
    return fit_blocks.fitted_cdf(
        x,
        fits,
        name=f"request-fit-{name.replace('_', '-')}",
        title=TITLES[name],
        grid=np.geomspace(x.min(), x.max(), fit_blocks.CURVE_POINTS),
        unit="seconds" if name == "gap" else "",
        log=True,
    )
