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

from gwa.statistics.numeric import floats
from gwa.statistics.sample import Floats, Ints

Verdict: TypeAlias = Literal["none", "one memory time", "power law", "undecided"]
"""What the spectrum says of the dependence of arrivals on earlier ones."""

WEEK_HOURS: Final = 168

MINIMUM_HOURS: Final = 90 * 24
"""A shorter series has too few low frequencies: the error rates were measured for a year and more."""

_LEAST_PROFILE: Final = 0.05
"""Hours of the week with less than this part of the mean are divided by it, lest their noise prevail."""

_SINGLE: Final = 7
"""The lowest frequencies that stand alone; the others are averaged, seven bands per doubling."""

_LARGEST_D: Final = 0.499

# The thresholds are differences of log likelihoods, set before the error rates were measured.
_MORE_THAN_NOISE: Final = 4.0
_BETTER_LAW: Final = 3.0
_TWO_MEMORIES: Final = 5.0
_LARGEST_H: Final = 0.995


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
class Comparison:
    """
    Four spectra fitted to one series.

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

    def advantage(self, name: str, over: str = "noise") -> float:
        """Return the log likelihood of the fit called *name* less that of another one."""
        return self.fits[name].log_likelihood - self.fits[over].log_likelihood


@dataclass(frozen=True)
class Dependence:
    """The verdict on a series, and the comparisons of its *counts* and of their *roots* that it rests on."""

    verdict: Verdict
    counts: Comparison
    roots: Comparison


def dependence(counts: ArrayLike) -> Dependence:
    """
    Return how the *counts* of arrivals in each hour depend on those before, cycles removed.

    The verdict is that of the counts where their square roots have the same: a few bursts, which weigh less
    among the roots, must not decide.

    Parameters
    ----------
    counts
        Arrivals in whole hours, in order, empty ones included; at least `MINIMUM_HOURS`.

    Returns
    -------
    Dependence
        The verdict and what it rests on.

    Raises
    ------
    ValueError
        For a series that is shorter, constant, negative or not finite.

    """
    x = floats(counts)
    if x.size and not (np.isfinite(x).all() and x.min() >= 0):
        raise ValueError("arrivals are finite and at least 0")
    whole, roots = compare(x), compare(np.sqrt(x))
    return Dependence(whole.verdict if whole.verdict == roots.verdict else "undecided", whole, roots)


def compare(series: ArrayLike) -> Comparison:
    """
    Return the four spectra fitted to an hourly *series* and the verdict of their likelihoods.

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
    spectrum = banded(without_weekly_profile(x))
    fits = _fits(spectrum)
    first, second = (_memory_time(fits["two_memories"], place) for place in (2, 4))
    comparison = Comparison(
        "undecided",
        _memory_time(fits["one_memory"], 2),
        (min(first, second), max(first, second)),
        _exponent(float(fits["power_law"].parameters[2])) + 0.5,
        spectrum,
        fits,
    )
    return Comparison(**{**vars(comparison), "verdict": _verdict(comparison)})


def _verdict(found: Comparison) -> Verdict:
    law, memory = found.advantage("power_law"), found.advantage("one_memory")
    if max(law, memory) < _MORE_THAN_NOISE:
        return "none"
    two = found.advantage("two_memories")
    straight = law > _MORE_THAN_NOISE and two - law < _TWO_MEMORIES and found.hurst < _LARGEST_H
    if straight and law - memory > _BETTER_LAW:
        return "power law"
    if law - memory <= _BETTER_LAW and two - memory < _TWO_MEMORIES:
        return "one memory time"
    return "undecided"


def without_weekly_profile(series: ArrayLike) -> Floats:
    """
    Return an hourly series divided by the mean of each hour of the week.

    Divided, because cycles multiply the rate of arrivals: to subtract the profile would leave side bands.
    An hour with less than a twentieth of the mean of all is divided by that.
    """
    x = floats(series)
    hour = np.arange(x.size) % WEEK_HOURS
    profile = np.bincount(hour, x, WEEK_HOURS) / np.maximum(np.bincount(hour, minlength=WEEK_HOURS), 1)
    divided: Floats = x / np.maximum(profile, _LEAST_PROFILE * profile.mean())[hour]
    return divided


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
    level = math.log(float(power @ ordinates) / float(ordinates.sum()))
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
        slope = -2 * log_sine * part * d * (1 - d / _LARGEST_D)
        return white + part, np.array([white, part, slope])

    return shape


def _exponent(logit: float) -> float:
    return _LARGEST_D / (1 + _exp(-logit))


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
    best = -float(ordinates @ (np.log(s) + power / s))
    for _ in range(_STEPS):
        slopes = np.atleast_2d(derivatives) / s
        gradient = slopes @ (ordinates * (power / s - 1))
        information = (slopes * ordinates) @ slopes.T
        scale = np.diag(information) + 1e-9
        step = np.linalg.solve(information + np.diag(damping * scale), gradient)
        trial = np.clip(theta + np.clip(step, -2, 2), -60, 60)
        s_trial, d_trial = shape(trial)
        found = -float(ordinates @ (np.log(s_trial) + power / s_trial))
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
