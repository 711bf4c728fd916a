"""Whether arrivals depend on earlier ones: spectrum, autocorrelation and the Hurst parameter."""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.metrics.clock import by_clock, clock, clock_edges, hours_of_week
from gwa.metrics.timeline import QUARTER, Counts, Floats, Ints, counts
from gwa.report.document import Block, Fact, Facts, FactTable, Note, note_of
from gwa.report.facts import facts_of, number
from gwa.report.figures.lines import lines
from gwa.statistics.dependence import autocorrelation
from gwa.statistics.hurst import ESTIMATORS, Hurst, variance_time, without_cycles
from gwa.statistics.numeric import dot
from gwa.statistics.spectra import MINIMUM_HOURS, SPAN_OVER_MEMORY, Dependence, FittedSpectra, dependence
from gwa.store.store import Store
from gwa.util.units import DAY, HOUR
from gwa.words.formatting import decimal, seconds, show
from gwa.words.message import joined, message, within_sentence

QUARTERS_PER_HOUR: Final = 4

CYCLES: Final = (24 * QUARTERS_PER_HOUR, 168 * QUARTERS_PER_HOUR)
"""A day and a week, in bins of a quarter of an hour."""

LAGS: Final = {1: "1 h", 24: "24 h", 168: "168 h"}

MAXIMUM_BINS: Final = 4_000_000
"""Longer series, of more than a century, are counted in longer bins."""

MINIMUM_BINS: Final = 128
MINIMUM_JOBS: Final = 100
"""Fewer bins or jobs do not allow an estimate."""

MINIMUM_JOBS_OF_SPECTRUM: Final = 1000
"""Of fewer jobs, a few that were submitted together are the spectrum."""

ESTIMATOR_TITLES: Final = {
    "wavelet": message("Haar wavelets (Abry and Veitch 1998)"),
    "local_whittle": message("Local Whittle (Robinson 1995)"),
    "periodogram": message("Periodogram (Geweke and Porter-Hudak 1983)"),
    "variance_time": message("Variance and time (Leland et al. 1994)"),
    "rescaled_range": message("Rescaled range (Hurst 1951)"),
}


SPECTRA: Final = {
    "one_memory": message("One memory time"),
    "power_law": message("Power law"),
    "two_memories": message("Two memory times"),
}
"""The spectra that are compared with noise, by the ids of their facts."""

MINIMUM_SCALE: Final = 2 * HOUR
"""The shortest period in the spectrum of hourly counts."""

SPAN_OVER_SCALE: Final = 4
"""A power law is claimed up to this part of the length of the log."""


@analysis(
    "Long-range dependence",
    Chapter.MODELLERS,
    facts=("dependence", "hurst", "correlation.arrivals"),
    needs=("submit_time",),
    order=3,
)
def dependence_over_time(store: Store) -> Iterator[Block]:
    """
    Whether the number of jobs submitted depends on that of earlier hours, days and weeks.

    The verdict compares four spectra of the jobs submitted per hour, divided by the mean of each hour of the
    week: noise, one memory time, two memory times, and the power law of long-range dependence. It is given
    where the counts and their square roots agree, on a memory time up to a factor of 3, for logs of at least
    90 days and 1,000 jobs. Log likelihoods are natural
    and relative to noise; only that of independent frequencies counts as evidence of more than noise.
    "Undecided" is no evidence for or against long-range dependence. Hours are those of the log's own clock,
    from that of the first submission to that of the last; where the clock changes, the hours of the week
    change with it.

    The autocorrelation is that of the jobs submitted per hour. The Hurst parameter H describes how variance
    changes with scale, in quarters of an hour: 1/2 for independent arrivals. Each estimator assumes that it
    changes as a power of the scale; where it does not, H is no measure of long-range dependence, and
    estimators contradict each other. An estimate outside 0 to 1 is undefined, and no 95 % interval is shown
    where a straight line is rejected at 5 %. Without cycles, the mean profile of day and week is subtracted,
    of days of 24 hours whether or not the clock changes.
    """
    arrived = counts(store, "submit_time", QUARTER)
    x, factor = dense_series(arrived)
    if factor > 1:
        yield note_of(
            "The series is long: jobs are counted in intervals of {factor} quarters of an hour.",
            factor=factor,
        )
    if x.size < MINIMUM_BINS or arrived.counts.sum() < MINIMUM_JOBS or x.min() == x.max():
        least = message(
            "{minimum_bins} quarters of an hour and {minimum_jobs} jobs",
            minimum_bins=MINIMUM_BINS,
            minimum_jobs=MINIMUM_JOBS,
        )
        yield Note(message("An estimate needs at least {least}, not spread evenly.", least=least))
        yield Facts((Fact("dependence.verdict", None, VERDICT, text="unknown"),))
        return
    if factor == 1:
        hours, places = hourly(arrived, clock(store))
        yield from _verdict_blocks(hours, places)
        yield from _autocorrelation(hours)
    else:
        yield from _unknown()
    cycles = [period for period in CYCLES if factor == 1 and 2 * period <= x.size]
    if not cycles:
        yield Note("The trace is too short to remove the daily or the weekly cycle.")
    elif len(cycles) < len(CYCLES):
        yield Note("The trace is too short to remove the weekly cycle; only the daily one is removed.")
    residual = _without_cycles(x, cycles) if cycles else None
    yield _estimate_table(x, residual)
    yield from _variance_figure(x, residual, factor)


VERDICT: Final = message("Dependence of arrivals")


def hourly(quarters: Counts, zone: ZoneInfo | None) -> tuple[Floats, Ints]:
    """Return the arrivals in each hour of the clock of *zone*, and the hour of the week that each is."""
    hours = by_clock(quarters, float(HOUR), zone)
    edges = clock_edges(hours.begin, hours.end - 1, float(HOUR), zone)
    begins: Floats = hours.begin + np.arange(hours.number, dtype=np.float64) * HOUR
    begins = begins if edges is None else edges[:-1]
    return hours.dense(), hours_of_week(begins, zone)


def _unknown() -> Iterator[Block]:
    yield note_of(
        "Whether arrivals are long-range dependent is unknown: that takes {days} days or more, and {jobs}"
        " jobs.",
        days=MINIMUM_HOURS * HOUR // DAY,
        jobs=show(MINIMUM_JOBS_OF_SPECTRUM),
    )
    yield Facts((Fact("dependence.verdict", None, VERDICT, text="unknown"),))


def _verdict_blocks(hours: Floats, places: Ints) -> Iterator[Block]:
    """Yield the verdict on jobs in each hour, at its place in the week, and the spectra that it rests on."""
    is_short = hours.size < MINIMUM_HOURS or hours.sum() < MINIMUM_JOBS_OF_SPECTRUM
    if is_short or hours.min() == hours.max():
        yield from _unknown()
        return
    found = dependence(hours, places)
    facts = verdict_facts(found, hours.size)
    yield Note(in_words({fact.id: fact.value for fact in facts}))
    yield Facts(facts)
    yield _spectrum_table(found)
    yield _spectrum_figure(found.counts)


def verdict_facts(found: Dependence, hours: int) -> tuple[Fact, ...]:
    """Return the verdict on a series by its length in *hours*, and what it says about time scales."""
    memory, longest = found.counts.memory_time, number(hours * HOUR / SPAN_OVER_SCALE)
    is_memory = found.verdict == "one memory time" and memory <= hours / SPAN_OVER_MEMORY
    hurst = found.counts.hurst if found.verdict == "power law" else None
    by_roots = message("{verdict}, by square roots of counts", verdict=VERDICT)
    return facts_of(
        "dependence",
        ("verdict", found.verdict, VERDICT, ""),
        ("counts", found.counts.verdict, message("{verdict}, by counts", verdict=VERDICT), ""),
        ("roots", found.roots.verdict, by_roots, ""),
        ("memory_time", number(memory * HOUR) if is_memory else None, "Memory time of arrivals", "seconds"),
        ("hurst", hurst, "H of the power law", ""),
        ("scale.min", MINIMUM_SCALE, "Shortest scale compared", "seconds"),
        ("scale.max", longest, "Longest scale compared", "seconds"),
        unknown="undefined",
    )


def in_words(facts: Mapping[str, Any]) -> str:
    """Return the verdict as a sentence, from the facts of `verdict_facts` by their ids."""
    verdict, by_counts, by_roots = (facts[f"dependence.{name}"] for name in ("verdict", "counts", "roots"))
    if verdict == "power law":
        low, high = (seconds(facts[f"dependence.scale.{end}"]) for end in ("min", "max"))
        return message(
            "Arrivals vary at all scales from {low} to {high}: their spectrum is a power "
            "law (H = {dependencehurst}), and one memory time does not explain it. A log "
            "of this length cannot distinguish this from a mixture of many memory times.",
            low=low,
            high=high,
            dependencehurst=decimal(facts["dependence.hurst"], ".2f"),
        )
    if verdict == "one memory time":
        lasting = _lasting(facts["dependence.memory_time"])
        return message(
            "{lasting}; nothing beyond that is seen: no sign of long-range dependence.", lasting=lasting
        )
    if verdict == "none":
        return (
            "Apart from the daily and weekly cycles, arrivals show no busy and quiet times beyond chance: no"
            " sign of long-range dependence."
        )
    if by_counts != by_roots:
        return message(
            "The comparison of spectra is undecided: the counts indicate '{by_counts}', "
            "their square roots '{by_roots}', so a few bursts decide. This is no evidence "
            "for or against long-range dependence.",
            by_counts=by_counts,
            by_roots=by_roots,
        )
    if by_counts == "one memory time":
        return message(
            "The comparison of spectra is undecided: the counts indicate another memory time than their"
            " square roots, so a few bursts decide. This is no evidence for or against long-range dependence."
        )
    return message(
        "Neither one memory time nor a power law describes arrivals: they vary on several time scales. H"
        " describes how variance changes with scale; it is no evidence for or against long-range dependence."
    )


def _lasting(memory_time: float | None) -> str:
    if memory_time is None:
        return message(
            "Arrivals change slowly, over times that are long for this log (a trend, or steps of the level)"
        )
    if memory_time < HOUR:
        return message("Busy and quiet times last less than an hour")
    return message("Busy and quiet times last about {time}", time=roughly(memory_time))


def roughly(duration: float) -> str:
    """
    Return a duration of an hour or more to two digits, in hours or days.

    >>> roughly(9_000.0), roughly(85_000.0), roughly(400_000.0)
    ('2 h 30 min', '24 h', '4.6 days')
    """
    unit = HOUR if duration < 2 * DAY else DAY
    return seconds(float(f"{duration / unit:.2g}") * unit)


def _spectrum_table(found: Dependence) -> FactTable:
    """Return how much likelier than noise each spectrum is."""
    rows = [
        (
            label,
            tuple(
                Fact(
                    f"dependence.log_likelihood.{name}{suffix}",
                    number(comparison.advantage(name)),
                    message("Log likelihood of {lower}{of} over noise", lower=within_sentence(label), of=of),
                )
                for suffix, of, comparison in (
                    ("", "", found.counts),
                    (".roots", message(", square roots"), found.roots),
                )
            ),
        )
        for name, label in SPECTRA.items()
    ]
    columns = (message("Counts"), message("Square roots of counts"))
    return FactTable("dependence", "Log likelihood of spectra, over noise", columns, tuple(rows))


def _spectrum_figure(found: FittedSpectra) -> Block:
    """Return the figure of the spectrum of counts and of the fits to it, over the period."""
    spectrum = found.spectrum
    memory, law = found.advantage("one_memory"), found.advantage("power_law")
    periods = HOUR / spectrum.frequencies[::-1]
    mean = dot(spectrum.power, spectrum.ordinates) / float(spectrum.ordinates.sum())
    shown = {message("one memory time"): "one_memory", message("power law"): "power_law"}
    curves: dict[str, tuple[Floats, Floats]] = {
        label: (periods, found.fits[name].power[::-1] / mean) for label, name in shown.items()
    }
    return lines(
        "arrivals-spectrum",
        "Spectrum of jobs submitted per hour, without cycles",
        {"arrivals": (periods, spectrum.power[::-1] / mean), **curves},
        "Period",
        "Power over mean power",
        message(
            "The power of variations of each period, averaged over bands. In log "
            "likelihood, one memory time is {memory} and a power law {law} above noise.",
            memory=decimal(memory, ".1f"),
            law=decimal(law, ".1f"),
        ),
        log=(True, True),
        unit="seconds",
        dashed=list(shown),
    )


def _without_cycles(x: Floats, cycles: list[int]) -> Floats | None:
    """Return the series less its cycles; None where only rounding errors are left."""
    residual = without_cycles(x, cycles)
    if residual.size % cycles[0] == 0:
        # In whole days the cycle's frequencies vanish but for rounding errors, which have no logarithm
        # that an estimator could use; one bin less spreads what is left.
        residual = residual[:-1]
    return residual if np.ptp(residual) > 1e-9 * np.abs(x).max() else None


def dense_series(arrived: Counts) -> tuple[Floats, int]:
    """Return the arrivals in every bin, and how many bins were merged into one to limit their number."""
    span = int(arrived.bins[-1] - arrived.bins[0]) + 1
    factor = -(-span // MAXIMUM_BINS)
    x = np.zeros(-(-span // factor))
    np.add.at(x, (arrived.bins - arrived.bins[0]) // factor, arrived.counts)
    return x, factor


def _autocorrelation(hours: Floats) -> Iterator[Block]:
    """Yield the autocorrelation of hourly arrivals up to a lag of two weeks."""
    if hours.min() == hours.max():
        yield Note("As many jobs are submitted in every hour, so that their autocorrelation is undefined.")
        return
    lags = min(2 * max(LAGS), hours.size // 2)
    correlations = autocorrelation(hours, lags)
    yield Facts(
        tuple(
            Fact(
                f"correlation.arrivals.{lag * HOUR}s",
                number(float(correlations[lag])),
                message("Autocorrelation after {name}", name=name),
            )
            for lag, name in LAGS.items()
            if lag <= lags
        )
    )
    values = joined(
        ", ",
        (
            message("{correlations} after {name}", correlations=decimal(correlations[lag], ".2f"), name=name)
            for lag, name in LAGS.items()
            if lag <= lags
        ),
    )
    band = 1.96 / np.sqrt(hours.size)
    yield lines(
        "autocorrelation",
        "Autocorrelation of jobs submitted per hour",
        {
            # The value at lag 0, 1 by definition, would squeeze all others.
            "arrivals": (np.arange(1, lags + 1) * float(HOUR), correlations[1:]),
            "95 % if independent": ([float(HOUR), float(lags * HOUR)], [band, band]),
        },
        "Lag",
        "Autocorrelation",
        message("The autocorrelation of the jobs submitted per hour is {values}.", values=values),
        log=(False, False),
        unit="seconds",
        dashed=["95 % if independent"],
    )


def _estimate_table(series: Floats, residual: Floats | None) -> FactTable:
    rows = []
    for name, label in ESTIMATOR_TITLES.items():
        estimate = ESTIMATORS[name]
        facts = _facts(f"hurst.{name}", label, estimate(series))
        if residual is not None:
            facts += _facts(
                f"hurst.{name}.without_cycles",
                message("{label}, without cycles", label=label),
                estimate(residual),
            )
        rows.append((label, facts))
    columns = (
        "H",
        message("from"),
        message("to"),
        message("H without cycles"),
        message("from"),
        message("to"),
    )
    note = message(
        "Undefined: {out_of_range}. No interval: a straight line is rejected, or the estimator has none.",
        out_of_range=OUT_OF_RANGE,
    )
    return FactTable("hurst", "Hurst parameter of arrivals", columns[: len(rows[0][1])], tuple(rows), note)


OUT_OF_RANGE: Final = message(
    "the estimate is not between 0 and 1, so the estimator's assumptions do not hold"
)


def _facts(prefix: str, label: str, estimate: Hurst) -> tuple[Fact, ...]:
    """Return the estimate and its interval, as far as the data agree with what they assume."""
    h = number(estimate.h) if estimate.is_possible else None
    low, high = map(number, estimate.interval)
    name = message("H by {label}", label=label)
    return (
        Fact(prefix, h, name) if h is not None else Fact(prefix, h, name, "", OUT_OF_RANGE, "undefined"),
        *facts_of(
            prefix,
            ("low", low, message("{name}, {words}", name=name, words=message("lower end")), ""),
            ("high", high, message("{name}, {words}", name=name, words=message("upper end")), ""),
            unknown="no interval",
        ),
    )


def _variance_figure(series: Floats, residual: Floats | None, factor: int) -> Iterator[Block]:
    """
    Yield the figure of the variance of means over ever longer intervals, relative to the shortest.

    There is none where the means do not vary, as of jobs that arrive by the clock.
    """
    curves: dict[str, tuple[Floats, Floats]] = {}
    for name, x in ((message("as it is"), series), (message("without cycles"), residual)):
        if x is not None:
            estimate = variance_time(x)
            scales = 2.0 ** np.array(estimate.scales) * QUARTER * factor
            if scales.size:
                curves[name] = (scales, 2.0 ** np.array(estimate.energies) / x.var())
    if "as it is" not in curves:
        return
    scales, variances = curves["as it is"]
    curves[message("independent")] = (scales, variances[0] * scales[0] / scales)
    yield lines(
        "variance-time",
        "Variance of mean arrivals by scale",
        curves,
        "Length of an interval",
        "Variance over that of 15 minutes",
        "Variance of the mean number of arrivals over intervals of growing length, and that of independent"
        " arrivals, which falls with the length.",
        log=(True, True),
        unit="seconds",
        dashed=["independent"],
    )
