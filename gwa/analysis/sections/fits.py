"""Which distributions describe the workload."""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from gwa.analysis.base import Chapter, MadeWhen, analysis
from gwa.analysis.fit_blocks import (
    COLUMNS,
    CURVE_POINTS,
    REPLICATES,
    SEED,
    TESTED_VALUES,
    best_fits,
    fit_facts,
    fit_row,
    fitted_cdf,
    with_best_tested,
)  # fmt: skip
from gwa.metrics.characteristics import FITTED, FittedCharacteristic, bootstrap
from gwa.metrics.papers.anoep2009 import BINARY, PRESETS, Measured
from gwa.metrics.papers.published import cells
from gwa.report.document import Block, Column, Fact, Facts, Figure, Note, Table, note_of
from gwa.report.facts import facts_of, number
from gwa.report.figures.lines import lines
from gwa.statistics.distribution import FitError
from gwa.statistics.fit import SIGNIFICANCE, SIX, Fits
from gwa.statistics.power_law import power_law, power_law_p_value
from gwa.statistics.sample import Floats, Sample
from gwa.store.schema import BY_NAME
from gwa.store.store import Store
from gwa.words.formatting import fraction, show
from gwa.words.formatting import number as number_text
from gwa.words.message import joined, message, plural, within_sentence
from gwa.words.unit import Unit, Value

MINIMA: Final = 30
"""How many beginnings of a power law are tried."""

UNITS: Final[Mapping[str, Unit]] = {"seconds": "seconds", "kilobytes": "kilobytes"}

LAW_COLUMNS: Final = (
    Column("characteristic", "Characteristic"),
    Column("exponent", "Exponent"),
    Column("minimum", "From"),
    Column("values", "Values from there on", "count"),
    Column("share", "Share of values", "fraction"),
    Column("ks", "KS"),
    Column("p_value", "p, bootstrap"),
    Column("verdict", "Verdict"),
)

LAW_NOTE: Final = message(
    "The fraction of greater values falls as x to the power of 1 less the exponent. A power law that is not"
    " refuted need not be one: other heavy tails may be as near."
)


@analysis(
    "Fitted distributions",
    Chapter.MODELLERS,
    facts=(*(f"fit.{name}" for name in FITTED), *(f"tail.{name}" for name in FITTED)),
    made=MadeWhen.FOR_REPORTS,
)
def fits(store: Store) -> Iterator[Block]:
    """
    Six distributions fitted to times and memory as recorded, and to the logarithms of Anoep's thesis.

    Fits of recorded values are to those above 0. What the thesis (2009) models are logarithms, natural or to
    base 2 as its tables have it, and are called so here. KS is the maximum distance between the two
    distribution functions. AD (Anderson and Darling, which weighs the tails) and CvM (Cramér and von Mises)
    are their mean squared distance times the number of values; these, AIC and BIC, less of which is better,
    are over those that every candidate can produce. A fit with a remark is not ranked.

    The p is that of a parametric bootstrap for the two best, on 1,000 values drawn at random (seed 2009): how
    often chance alone is as far off as they are, if values are rounded in the direction that suits the
    distribution best. Fits of logarithms are tested by 'gwa fit --test' only.

    A power law is fitted to the largest values, from the minimum at which both are nearest (Clauset, Shalizi
    and Newman 2009).
    """
    laws: list[tuple[Value, ...]] = []
    for characteristic in FITTED.values():
        missing = [BY_NAME[name].meaning for name in characteristic.needs if not store.has(name)]
        if missing:
            yield note_of(
                "{title}: this trace does not record {missing}.",
                title=characteristic.title,
                missing=joined(message(" and "), missing),
            )
            continue
        measured = characteristic.measure(store, PRESETS["thesis"])
        candidates = with_tests(characteristic, measured) if measured.x.values.size > 1 else None
        if candidates is None or candidates.best_ks is None:
            yield Note(message("{title}: too few different values for a fit.", title=characteristic.title))
            continue
        yield from _blocks(characteristic, measured, candidates)
        if characteristic.natural:
            facts, row = _power_law(characteristic, measured)
            yield Facts(facts, listed=False)
            laws += row
    if laws:
        yield Table("power-laws", "Power laws of the largest values", LAW_COLUMNS, tuple(laws), LAW_NOTE)
    yield from _published_numbers(store)


def with_tests(characteristic: FittedCharacteristic, measured: Measured) -> Fits:
    """Return the six fits and, of a natural characteristic, bootstrap p-values of the best by KS and BIC."""
    candidates = characteristic.fit(measured, SIX)
    positive = measured.x.restrict(above=0.0)
    if not characteristic.natural or positive.values.size < 2:  # noqa: PLR2004 - one value fits anything
        return candidates
    return with_best_tested(candidates, positive, bootstrap(measured, TESTED_VALUES, REPLICATES))


def _blocks(characteristic: FittedCharacteristic, measured: Measured, candidates: Fits) -> Iterator[Block]:
    """Yield facts, table, verdict and, unless of a logarithm, figures of one characteristic."""
    yield Facts(_facts(characteristic, measured, candidates), listed=False)
    base = {"": "", BINARY: message(", to base 2")}.get(measured.base, message(", natural"))
    yield Table(
        f"fit-{characteristic.name.replace('_', '-')}",
        f"{characteristic.title}{base}",
        COLUMNS,
        tuple(map(fit_row, candidates)),
        _table_note(characteristic, measured, candidates),
    )
    yield Note(message("{title}: {verdict}", title=characteristic.title, verdict=candidates.verdict()))
    if not measured.base:
        yield _figure(characteristic, measured, candidates)
        yield _tail(characteristic, measured, candidates)


def _power_law(
    characteristic: FittedCharacteristic, measured: Measured
) -> tuple[tuple[Fact, ...], list[tuple[Value, ...]]]:
    """Return the facts of the power law, and its row if there is one."""
    resolution = measured.grid.resolution if measured.grid else 0.0
    x = measured.x.restrict(above=0.0)
    try:
        law = power_law(x, resolution, MINIMA)
        p = power_law_p_value(x, np.random.default_rng(SEED), resolution, TESTED_VALUES, REPLICATES, MINIMA)
    except FitError:
        return (), []
    unit = UNITS.get(characteristic.unit, "")
    prefix, title = f"tail.{characteristic.name}", message("{title}, power law", title=characteristic.title)
    facts = facts_of(
        prefix,
        ("exponent", number(law.exponent), message("{title}: exponent", title=title), ""),
        ("minimum", number(law.minimum), message("{title}: minimum", title=title), unit),
        ("values", law.above, message("{title}: values from the minimum on", title=title), "count"),
        ("share", law.share, message("{title}: share of the values", title=title), "fraction"),
        ("ks", law.ks, message("{title}: KS", title=title), ""),
        ("p_value", p, message("{title}: p, bootstrap", title=title), ""),
    )
    row = (characteristic.title, law.exponent, show(law.minimum, unit), law.above, law.share, law.ks, p)
    return facts, [(*row, power_law_verdict(p))]


def power_law_verdict(p: float) -> str:
    """Return what a bootstrap p says of a power law."""
    return "refuted" if p <= SIGNIFICANCE else message("not refuted")


def _table_note(characteristic: FittedCharacteristic, measured: Measured, candidates: Fits) -> str:
    """Return the note of a table: the number of values, those excluded, and what could not be fitted."""
    excluded = (
        (measured.dropped, message("of the raw ones are below 1 and dropped")),
        (
            measured.zeros,
            message("are 0 and not fitted") if characteristic.natural else message("are 0 on this scale"),
        ),
    )
    shares = (
        message("{share} {meaning}", share=fraction(share), meaning=meaning)
        for share, meaning in excluded
        if share
    )
    refused = "".join(
        message(" Not fitted: {reason}.", reason=message(error.template, **error.arguments))
        for error in candidates.refused.values()
    )
    return joined("; ", (plural("{n} value", "{n} values", measured.x.n), *shares)) + "." + refused


def _facts(characteristic: FittedCharacteristic, measured: Measured, candidates: Fits) -> tuple[Fact, ...]:
    """Return all facts on the fits of a characteristic."""
    prefix, title = f"fit.{characteristic.name}", characteristic.title
    facts = facts_of(
        prefix,
        ("n", measured.x.n, message("{title}: values", title=title), "count"),
        ("base", measured.base or None, message("{title}: base of the logarithm", title=title), ""),
        ("dropped", measured.dropped, message("{title}: dropped", title=title), "fraction"),
        ("zeros", measured.zeros, message("{title}: zeros on the scale", title=title), "fraction"),
    )
    return (*facts, *fit_facts(prefix, title, candidates))


def _figure(characteristic: FittedCharacteristic, measured: Measured, candidates: Fits) -> Figure:
    """Return the figure of the distribution with the two best fits, in the unit of the values."""
    x = _drawn(characteristic, measured)
    return fitted_cdf(
        x,
        candidates,
        name=f"fit-{characteristic.name.replace('_', '-')}-cdf",
        title=characteristic.title,
        grid=_grid(characteristic, x),
        unit=UNITS.get(characteristic.unit, ""),
        log=characteristic.natural,
    )


def _tail(characteristic: FittedCharacteristic, measured: Measured, candidates: Fits) -> Figure:
    """Return the figure of the tail: the fraction of greater values on a logarithmic axis."""
    x = _drawn(characteristic, measured)
    values, shares = x.ecdf()
    grid = _grid(characteristic, x)
    curves = {"data": (values[:-1], 1 - shares[:-1])}
    for fit in best_fits(candidates).values():
        survival = fit.distribution.sf(grid)
        visible = survival > 1 / (2 * x.n)
        curves[fit.title] = (grid[visible], survival[visible])
    unit = UNITS.get(characteristic.unit, "")
    return lines(
        f"fit-{characteristic.name.replace('_', '-')}-ccdf",
        message(
            "The tail of {title}",
            title=within_sentence(characteristic.title),
        ),
        curves,
        characteristic.title,
        "Fraction of values greater",
        message(
            "The fraction of {n} that is greater, of the data and of the best fits; one in "
            "a hundred is above {quantile}.",
            n=plural("{n} value", "{n} values", x.n),
            quantile=show(x.quantile(0.99), unit),
        ),
        log=(characteristic.natural, True),
        unit=unit,
    )


def _drawn(characteristic: FittedCharacteristic, measured: Measured) -> Sample:
    """Return the values that the fits are of."""
    return measured.x.restrict(above=0.0) if characteristic.natural else measured.x


def _grid(characteristic: FittedCharacteristic, x: Sample) -> Floats:
    """Return where the curves of fits are drawn."""
    space = np.geomspace if characteristic.natural else np.linspace
    return space(x.min(), x.max(), CURVE_POINTS)


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
        message(
            "{agreeing} of {numbers} are equal to the printed digit.",
            agreeing=agreeing,
            numbers=number_text(len(numbers)),
        ),
    )
