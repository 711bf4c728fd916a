"""
The spectrum of arrivals: noise, one memory time, two memory times or a power law.

A slope, which is all that an estimate of the Hurst parameter is, cannot tell long-range dependence from a
memory of a day or from steps of the level. The shape of the spectrum over all scales can: a power law is
straight on logarithmic axes, a memory time has a corner. `compare` fits four spectra to the number of
arrivals in each hour by Whittle's likelihood and gives a verdict, which is long-range dependence only where a
power law wins. No length of series tells a power law from a mixture of many memory times (Granger 1980), and
an undecided verdict is not evidence against long-range dependence: memory of some hours on top of a power law
is enough for it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from gwa.statistics.numeric import dot, floats
from gwa.statistics.sample import Floats, Ints

Verdict: TypeAlias = Literal["none", "one memory time", "power law", "undecided"]
"""What the spectrum says of the dependence of arrivals on earlier ones."""

WEEK_HOURS: Final = 168

MINIMUM_HOURS: Final = 90 * 24
"""A shorter series has too few low frequencies: the error rates were measured for a year and more."""

_MINIMUM_PROFILE: Final = 0.05
"""Hours of the week with less than this part of the mean are divided by it, lest their noise prevail."""

_SINGLE: Final = 7
"""The lowest frequencies that stand alone; the others are averaged, seven bands per doubling."""

_MAXIMUM_D: Final = 0.499

_USUAL: Final = 0.999
"""The share of the hours whose counts are taken as they are among square roots."""

SPAN_OVER_MEMORY: Final = 24
"""A longer memory than this part of the series cannot be measured: few busy and quiet times are seen."""

_SAME_MEMORY: Final = 3.0
"""Memory times that differ by a larger factor are not the same."""

# The thresholds are differences of log likelihoods, set before the error rates were measured.
_MORE_THAN_NOISE: Final = 4.0
_BETTER_LAW: Final = 3.0
_TWO_MEMORIES: Final = 5.0
_MAXIMUM_H: Final = 0.995


@dataclass(frozen=True)
class Spectrum:
    """Bands of a periodogram: mean *frequencies* in cycles per bin, mean *power*, and ordinates in each."""

    frequencies: Floats
    power: Floats
    ordinates: Ints


@dataclass(frozen=True)
class SpectrumFit:
    """
    A spectrum fitted to bands by maximum Whittle likelihood.

    *log_likelihood* is up to a constant that all fits to the same bands share; *parameters* are natural
    logarithms, but for the last one of the power law, the logit of d / 0.499; *power* is the fitted
    spectrum at the frequencies of the bands.
    """

    log_likelihood: float
    parameters: Floats
    power: Floats


@dataclass(frozen=True)
class FittedSpectra:
    """
    Four spectra fitted to one series, a share of whose ordinates is *independent* (`_independent`).

    *memory_time* is that of the fit with one memory time, in bins, and *memory_times* are those of the
    fit with two, the shorter first; *hurst* is the H of the power law. *fits* are by the names ``noise``,
    ``one_memory``, ``power_law`` and ``two_memories``.
    """

    verdict: Verdict
    memory_time: float
    memory_times: tuple[float, float]
    hurst: float
    spectrum: Spectrum
    fits: Mapping[str, SpectrumFit]
    independent: float = 1.0

    def advantage(self, name: str, over: str = "noise") -> float:
        """Return the log likelihood of the fit called *name* less that of another one."""
        return self.fits[name].log_likelihood - self.fits[over].log_likelihood

    def evidence(self, name: str, over: str = "noise") -> float:
        """Return the advantage of a fit that independent ordinates give it."""
        return self.independent * self.advantage(name, over)


@dataclass(frozen=True)
class Dependence:
    """The verdict on a series, and the comparisons of its *counts* and of their *roots* that it rests on."""

    verdict: Verdict
    counts: FittedSpectra
    roots: FittedSpectra


def dependence(counts: ArrayLike, hours: ArrayLike | None = None) -> Dependence:
    """
    Return how the *counts* of arrivals in each hour depend on those before, cycles removed.

    The verdict is that of the counts where their square roots have the same, and about the same memory time:
    a few bursts, which weigh less among the roots, must not decide. The roots are those of counts drawn in to
    the largest but one hour in a thousand, since a single burst of thousands of jobs outweighs all other
    hours even among roots.

    Counts are of whole hours, in order, empty ones included, at least `MINIMUM_HOURS`. *hours* are those of
    the week by the clock of the log, 0 to 167; by default, they follow each other. Raise `ValueError` for a
    series that is shorter, constant, negative or not finite.
    """
    x = floats(counts)
    if x.size and not (np.isfinite(x).all() and x.min() >= 0):
        raise ValueError("arrivals are finite and at least 0")
    drawn_in = np.minimum(x, np.quantile(x, _USUAL, method="inverted_cdf"))
    if drawn_in.min() == drawn_in.max():  # hardly any hour has arrivals
        drawn_in = x
    whole, roots = compare(x, hours), compare(np.sqrt(drawn_in), hours)
    return Dependence(whole.verdict if _agree(whole, roots, x.size) else "undecided", whole, roots)


def _agree(whole: FittedSpectra, roots: FittedSpectra, hours: int) -> bool:
    """
    Whether two comparisons have the same verdict and, where that is one memory time, about the same one.

    Memory times of less than an hour are alike, and so are those too long for the number of *hours*.
    """
    if whole.verdict != roots.verdict or whole.verdict != "one memory time":
        return whole.verdict == roots.verdict
    times = np.clip([whole.memory_time, roots.memory_time], 1, hours / SPAN_OVER_MEMORY)
    return bool(times.max() <= _SAME_MEMORY * times.min())


def compare(series: ArrayLike, hours: ArrayLike | None = None) -> FittedSpectra:
    """
    Return the four spectra fitted to an hourly *series* and the verdict of their likelihoods.

    *hours* are the hours of the week, as for `dependence`.

    The spectra are, at the frequency f in cycles per hour:

    - ``noise``: a
    - ``one_memory``: a + b / (1 + (f / c)**2), with the memory time 1 / (2 pi c), for which the
      correlation falls to 1 / e; steps of the level and trends look like it, with small c
    - ``power_law``: a + b (2 sin pi f)**(-2 d), 0 < d < .499, Poisson noise on fractional noise of
      H = d + 1/2 (Beran 1994, section 2.6)
    - ``two_memories``: a and two memory times

    Raises `ValueError` for a series of fewer than `MINIMUM_HOURS`, or a constant one.
    """
    x = floats(series)
    if x.size < MINIMUM_HOURS:
        raise ValueError(f"a comparison of spectra needs {MINIMUM_HOURS} hours, not {x.size}")
    if x.min() == x.max():
        raise ValueError("a comparison of spectra needs a series that varies")
    hour = np.arange(x.size) % WEEK_HOURS if hours is None else np.asarray(hours, np.int64)
    profile = weekly_profile(x, hour)
    spectrum = banded(without_weekly_profile(x, profile, hour))
    fits = _fits(spectrum)
    first, second = (_memory_time(fits["two_memories"], place) for place in (2, 4))
    comparison = FittedSpectra(
        "undecided",
        _memory_time(fits["one_memory"], 2),
        (min(first, second), max(first, second)),
        _exponent(float(fits["power_law"].parameters[2])) + 0.5,
        spectrum,
        fits,
        _independent(profile),
    )
    return FittedSpectra(**{**vars(comparison), "verdict": _verdict(comparison)})


def _verdict(found: FittedSpectra) -> Verdict:
    """
    Return what the likelihoods say: what is there rests on evidence, what is not there on no advantage.

    So that a verdict says too little rather than too much where few of the ordinates are independent.
    """
    if max(found.evidence("power_law"), found.evidence("one_memory")) < _MORE_THAN_NOISE:
        return "none"
    is_law = found.evidence("power_law") > _MORE_THAN_NOISE and found.hurst < _MAXIMUM_H
    is_straight = found.advantage("two_memories", "power_law") < _TWO_MEMORIES
    if is_law and is_straight and found.evidence("power_law", "one_memory") > _BETTER_LAW:
        return "power law"
    has_one = found.advantage("two_memories", "one_memory") < _TWO_MEMORIES
    if has_one and found.advantage("power_law", "one_memory") <= _BETTER_LAW:
        return "one memory time"
    return "undecided"


def weekly_profile(series: Floats, hour: Ints) -> Floats:
    """Return the mean of a *series* in each *hour* of the week; 0 in hours that it does not cover."""
    total = np.bincount(hour, series, WEEK_HOURS)
    return total / np.maximum(np.bincount(hour, minlength=WEEK_HOURS), 1)


def without_weekly_profile(series: Floats, profile: Floats, hour: Ints) -> Floats:
    """
    Return what an hourly *series* deviates from the *profile* of its hours of the week, over the profile.

    Divided, because cycles multiply the rate of arrivals: to subtract the profile alone would leave side
    bands. Subtracted, because hours without any arrivals, such as nights, would leave a cycle of zeros, which
    looks like memory unless the log lasts for whole weeks. An hour with less than a twentieth of the mean of
    all is divided by that.
    """
    return (series - profile[hour]) / _divisor(profile)[hour]


def _divisor(profile: Floats) -> Floats:
    divisor: Floats = np.maximum(profile, _MINIMUM_PROFILE * profile.mean())
    return divisor


def _independent(profile: Floats) -> float:
    """
    Return which share of the ordinates of a periodogram are independent of each other.

    Over the *profile* p of an hour, arrivals at random have a variance v of 1 / p, and none where there are
    none: noise that comes and goes with the hours of the week is alike at frequencies that are multiples
    of 1 / 168 apart. The squared coherences of an ordinate with the others add up to the mean of v**2 over
    the square of the mean of v (Parseval), so that one value in that number is independent. It is 1
    without a cycle, and the share of office hours in the week where there are arrivals in these only.
    """
    variance = profile / _divisor(profile) ** 2
    return float(variance.mean() ** 2 / (variance**2).mean())


def banded(series: ArrayLike) -> Spectrum:
    """
    Return the periodogram of an hourly *series* in bands, without the harmonics of the week.

    |sum x_t exp(-2 pi i f t)|**2 / n at f = k / n, k >= 1. Frequencies within 1.01 / n of a multiple of
    1 / 168 are dropped, because dividing by the profile took away what was there.
    """
    x = floats(series)
    power = np.abs(np.fft.rfft(x - x.mean()))[1:] ** 2 / x.size
    frequency = np.arange(1, power.size + 1) / x.size
    harmonic = np.rint(frequency * WEEK_HOURS)
    is_cycle = (np.abs(frequency - harmonic / WEEK_HOURS) < 1.01 / x.size) & (harmonic >= 1)
    frequency, power = frequency[~is_cycle], power[~is_cycle]
    count = int(7 * math.log2(power.size / (_SINGLE + 1)))
    wide = np.geomspace(_SINGLE + 0.5, power.size + 0.5, count)
    edges = np.unique(np.concatenate((np.arange(0.5, _SINGLE + 1), wide)))
    band = np.searchsorted(edges, np.arange(1, power.size + 1)) - 1
    ordinates = np.bincount(band)
    some = ordinates > 0
    means = [np.bincount(band, values)[some] / ordinates[some] for values in (frequency, power)]
    return Spectrum(means[0], means[1], ordinates[some])


Shape: TypeAlias = Callable[[Floats], tuple[Floats, Floats]]
"""From parameters to a spectrum at the frequencies of the bands, and its derivatives, one row for each."""


def _fits(spectrum: Spectrum) -> dict[str, SpectrumFit]:
    """Return the fits of the four spectra."""
    f, power, ordinates = spectrum.frequencies, spectrum.power, spectrum.ordinates
    level = math.log(dot(power, ordinates) / float(ordinates.sum()))
    white = math.log(max(float(np.median(power[-10:])), 1e-300))
    red = math.log(max(float(power[:8].mean()), 1e-300))
    memory, law = _memories(f), _law(f)
    corners = [-math.log(2 * math.pi * hours) for hours in (6, 48, 400)]
    one = _best(memory, [[white, red, corner] for corner in corners], spectrum)
    a, b, c = one.parameters
    starts = [[a, b - 0.5, c + 1.5, b, c - 1.5], [a, b, c, b - 1, c + 3], [a, b, c, b + 1, c - 3]]
    return {
        "noise": _best(lambda theta: (np.full(f.size, _exp(theta[0])),) * 2, [[level]], spectrum),
        "one_memory": one,
        "power_law": _best(law, [[white, white - 1, 0.0], [white - 2, white, 0.0]], spectrum),
        "two_memories": _best(memory, starts, spectrum),
    }


def _exp(value: float) -> float:
    return math.exp(min(max(value, -60.0), 60.0))


def _memories(f: Floats) -> Shape:
    """Return noise and one or more memory times as a function of ln a and, for each, ln b and ln c."""

    def shape(theta: Floats) -> tuple[Floats, Floats]:
        rows = [np.full(f.size, _exp(theta[0]))]
        total = rows[0].copy()
        for b, c in theta[1:].reshape(-1, 2):
            u = (f / _exp(c)) ** 2
            part = _exp(b) / (1 + u)
            total += part
            rows += [part, 2 * part * u / (1 + u)]
        return total, np.array(rows)

    return shape


def _law(f: Floats) -> Shape:
    """Return noise and a power law as a function of ln a, ln b and the logit of d / 0.499."""
    log_sine = np.log(2 * np.sin(math.pi * f))

    def shape(theta: Floats) -> tuple[Floats, Floats]:
        d = _exponent(theta[2])
        white, part = np.full(f.size, _exp(theta[0])), _exp(theta[1]) * np.exp(-2 * d * log_sine)
        slope = -2 * log_sine * part * d * (1 - d / _MAXIMUM_D)
        return white + part, np.array([white, part, slope])

    return shape


def _exponent(logit: float) -> float:
    return _MAXIMUM_D / (1 + _exp(-logit))


def _memory_time(fit: SpectrumFit, place: int) -> float:
    return 1 / (2 * math.pi * _exp(float(fit.parameters[place])))


def _best(shape: Shape, starts: Sequence[Sequence[float]], spectrum: Spectrum) -> SpectrumFit:
    """Return the likeliest of the fits from several starts."""
    return max(
        (_scoring(shape, floats(start), spectrum) for start in starts), key=lambda fit: fit.log_likelihood
    )


def _scoring(shape: Shape, theta: Floats, spectrum: Spectrum) -> SpectrumFit:
    """
    Maximize Whittle's likelihood by Fisher scoring, damped as by Levenberg and Marquardt.

    The log likelihood of bands of c ordinates with mean power J is -sum c (ln S + J / S) (Whittle 1953; Fox
    and Taqqu 1986); its information matrix is sum c (d ln S)(d ln S)'.
    """
    power, ordinates = spectrum.power, spectrum.ordinates
    damping = 1e-2
    s, derivatives = shape(theta)
    best = -dot(ordinates, np.log(s) + power / s)
    for _ in range(_STEPS):
        slopes = np.atleast_2d(derivatives) / s
        gradient = slopes @ (ordinates * (power / s - 1))
        information = (slopes * ordinates) @ slopes.T
        scale = np.diag(information) + 1e-9
        step = np.linalg.solve(information + np.diag(damping * scale), gradient)
        trial = np.clip(theta + np.clip(step, -2, 2), -60, 60)
        s_trial, d_trial = shape(trial)
        found = -dot(ordinates, np.log(s_trial) + power / s_trial)
        if found > best:
            gain, best, theta, s, derivatives = found - best, found, trial, s_trial, d_trial
            damping = max(damping / 5, 1e-9)
            if gain < _GAIN:
                break
        elif damping > _DAMPED:
            break
        else:
            damping *= 6
    return SpectrumFit(best, theta, s)


_STEPS: Final = 300
_GAIN: Final = 1e-5
_DAMPED: Final = 1e9
