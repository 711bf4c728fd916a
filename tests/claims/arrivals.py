"""
Made worlds of arrivals: jobs in each hour of a log, from processes whose memory is known.

Every process is a Poisson process whose rate has a daily and a weekly cycle, times the exponential of a
stationary process, steps or a trend.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

Floats = NDArray[np.float64]
LogRate = Callable[[int, np.random.Generator], Floats]

DAY, WEEK, MONTH, YEAR = 24, 168, 720, 8765
"""In hours; the year has some more, so that no cycle fits exactly."""


def fractional_noise(h: float, n: int, rng: np.random.Generator) -> Floats:
    """Return fractional Gaussian noise by circulant embedding (Davies & Harte 1987)."""
    k = np.arange(n + 1)
    covariance = 0.5 * (np.abs(k - 1.0) ** (2 * h) - 2 * k ** (2.0 * h) + (k + 1.0) ** (2 * h))
    eigen = np.maximum(np.fft.fft(np.concatenate((covariance, covariance[-2:0:-1]))).real, 0)
    normal = rng.normal(size=eigen.size) + 1j * rng.normal(size=eigen.size)
    return np.fft.fft(np.sqrt(eigen / eigen.size) * normal).real[:n]


def autoregressive(tau: float, n: int, rng: np.random.Generator) -> Floats:
    """Return an AR(1) of variance 1 whose correlation falls to 1/e in *tau* hours."""
    phi = np.exp(-1 / tau)
    noise = rng.normal(size=n) * np.sqrt(1 - phi * phi)
    noise[0] = rng.normal()
    return np.asarray(lfilter([1], [1, -phi], noise))


def two_states(mean: float, n: int, rng: np.random.Generator) -> Floats:
    """Return -1 and 1 in turn, each for *mean* hours on average: the log-rate of an MMPP."""
    values, start, state = np.empty(n), 0, int(rng.integers(2))
    while start < n:
        length = max(1, round(rng.exponential(mean)))
        values[start : start + length] = state * 2 - 1
        start, state = start + length, 1 - state
    return values


def steps(length: int, n: int, rng: np.random.Generator) -> Floats:
    """Return a normal level for each *length* hours."""
    return np.repeat(rng.normal(size=n // length + 1), length)[:n]


def random_steps(mean: float, n: int, rng: np.random.Generator) -> Floats:
    """Return a normal level for each of the stretches of *mean* hours on average."""
    values, start = np.empty(n), 0
    while start < n:
        length = max(1, int(rng.exponential(mean)))
        values[start : start + length] = rng.normal()
        start += length
    return values


def _memory(tau: float) -> LogRate:
    return lambda n, rng: 0.7 * autoregressive(tau, n, rng)


def _modulated(mean: float) -> LogRate:
    return lambda n, rng: 0.7 * two_states(mean, n, rng)


def _fractional(h: float) -> LogRate:
    return lambda n, rng: 0.7 * fractional_noise(h, n, rng)


WITHOUT: dict[str, LogRate] = {
    "cyclic Poisson": lambda n, _: np.zeros(n),
    **{f"AR {tau} h": _memory(tau) for tau in (1, 6, 12, 24, 48)},
    **{f"MMPP {mean} h": _modulated(mean) for mean in (6, 24, 48)},
    "weekly steps": lambda n, rng: 0.4 * steps(WEEK, n, rng),
    "monthly steps": lambda n, rng: 0.4 * steps(MONTH, n, rng),
    "random steps": lambda n, rng: 0.4 * random_steps(MONTH, n, rng),
    "trend": lambda n, _: np.linspace(-0.55, 0.55, n),
    "AR 24 h and random steps": (
        lambda n, rng: 0.6 * autoregressive(24, n, rng) + 0.4 * random_steps(MONTH, n, rng)
    ),
}
"""Log-rates without long-range dependence."""

WITH: dict[str, LogRate] = {f"fractional noise {h}": _fractional(h) for h in (0.7, 0.8, 0.9)}
"""Log-rates with it."""


def arrivals(log_rate: LogRate, seed: int, hours: int = YEAR, per_day: float = 240) -> Floats:
    """Return the jobs of each hour of a world."""
    rng = np.random.default_rng(seed)
    deviation = log_rate(hours, rng)
    t = np.arange(hours)
    cycle = (1 + 0.7 * np.sin(2 * np.pi * t / DAY)) * np.where(t // DAY % 7 < 5, 1.2, 0.5)
    rate = per_day / DAY * cycle / cycle.mean() * np.exp(deviation - deviation.var() / 2)
    jobs: Floats = rng.poisson(rate).astype(np.float64)
    return jobs
