"""Fitting the sizes and run times of Lublin and Feitelson's model."""

import math
from itertools import product
from typing import Final

import numpy as np
from scipy.optimize import minimize

from gwa.errors import ModelError
from gwa.statistics.gamma import Gamma
from gwa.statistics.numeric import dot
from gwa.statistics.sample import Floats, Sample
from gwa.store.store import Store

MINIMUM_DRAW: Final = math.log2(1.5)
"""The minimum draw that gives two processors."""

GRID: Final = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Start values of each of four unknowns, relative to its range."""

SEARCH_STARTS: Final = 4
"""Number of points of the grid from which the likelihood, which has several peaks, is maximized."""

BINS: Final = 50
"""Bins of run times in a unit of ln s for EM."""

MAXIMUM_ITERATIONS, TOLERANCE = 2000, 1e-9
"""Maximum number of iterations of EM, and the gain in mean log-likelihood below which it stops."""


def fit_sizes(store: Store, table: str) -> dict[str, float]:
    """
    Fit the sizes by maximum likelihood; the maximum draw is that of the largest job.

    A parallel job can have a power of two by rounding or by chance, so that the share of rounded ones is
    estimated together with the stages.
    """
    sizes = store.sample("n_procs", table)
    parallel = sizes.restrict(low=2.0)
    serial, high = 1 - parallel.n / sizes.n, math.log2(max(sizes.max(), 2.0))
    if parallel.values.size < 2:
        return {
            "serial": serial, "powers_of_two": 1 - serial, "low": 1.0,
            "middle": max(high, 1.0), "high": max(high, 1.0), "first": 1.0,
        }  # fmt: skip

    def loss(x: Floats) -> float:
        with np.errstate(divide="ignore"):
            likely = np.log(_size_probabilities(parallel.values, high, *_to_parameters(x, high)))
        return -dot(parallel.weights, likely) if np.isfinite(likely).all() else math.inf

    grid = [np.log(np.array(point) / (1 - np.array(point))) for point in product(GRID, repeat=4)]
    best = min((_minimize(loss, start) for start in sorted(grid, key=loss)[:SEARCH_STARTS]), key=loss)
    powers, low, middle, first = _to_parameters(_minimize(loss, best), high)
    return {
        "serial": serial, "powers_of_two": powers * (1 - serial), "low": low,
        "middle": middle, "high": high, "first": first,
    }  # fmt: skip


def _minimize(loss: object, start: Floats) -> Floats:
    result = minimize(
        loss, start, method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-4, "fatol": 1e-9}
    )  # type: ignore[call-overload]
    return np.asarray(result.x)


def _to_parameters(x: Floats, high: float) -> tuple[float, float, float, float]:
    """Map four unbounded numbers to the share of powers of two in parallel jobs, low, middle and first."""
    powers, low, middle, first = (1 / (1 + np.exp(-np.clip(x, -30, 30)))).tolist()
    low = MINIMUM_DRAW + low * (min(math.log2(2.5), high) - MINIMUM_DRAW)
    return powers, low, low + middle * (high - low), first


def _size_probabilities(
    sizes: Floats, high: float, powers: float, low: float, middle: float, first: float
) -> Floats:
    """Return the probability of each size above 1 among parallel jobs."""

    def cdf(power: Floats) -> Floats:
        corners = ([low, middle, high], [0.0, first, 1.0])
        shares: Floats = np.interp(power, *corners) if middle < high else (power >= low).astype(np.float64)
        return shares

    power = np.log2(sizes)
    is_power = power == np.rint(power)
    above = np.where(power == math.floor(high), high, power + 0.5)
    rounded = np.where(is_power, cdf(above) - cdf(power - 0.5), 0.0)
    plain = cdf(np.log2(sizes + 0.5)) - cdf(np.log2(sizes - 0.5))
    probabilities: Floats = powers * rounded + (1 - powers) * plain
    return probabilities


def fit_run_times(store: Store, table: str, longest: float) -> dict[str, float]:
    """
    Fit the run times by EM, over sizes and narrow bins of ln(run time + 1/2).

    The half makes up for the truncation to whole seconds. Run times below 1 s or above *longest* (ln s) are
    left out. The probability of the first gamma is a line, fitted by least squares to the expected phases
    with binomial weights.
    """
    columns = store.arrays(
        f"select n_procs as n, floor(ln(run_time + 0.5) * {BINS}) as x, count(*) as jobs from {table}"
        f" where run_time >= 1 and ln(run_time) <= {longest!r} group by all order by all"
    )
    x = (np.asarray(columns["x"], np.float64) + 0.5) / BINS
    procs, jobs = (np.asarray(columns[name], np.float64) for name in ("n", "jobs"))
    if np.unique(x).size < 3:
        raise ModelError("run_time: fewer than 3 different ones from 1 s to 45 hours, expected more")
    return _fit_by_em(x, procs, jobs / jobs.sum())


def _fit_by_em(x: Floats, procs: Floats, weight: Floats) -> dict[str, float]:
    """
    Fit the parameters by EM, starting from a split at the median.

    The gammas are fitted to bins summed over all sizes, which are far fewer than pairs of bin and size.
    """
    bins, bin_of = np.unique(x, return_inverse=True)
    short = np.where(x <= Sample.of(x).median(), 0.9, 0.1)
    probability, last = np.full(x.size, 0.5), -math.inf
    for _ in range(MAXIMUM_ITERATIONS):
        phases = _fit_phases(
            bins, *(np.bincount(bin_of, mass) for mass in (weight * short, weight * (1 - short)))
        )
        slope, intercept = _fit_line(procs, short, weight / np.maximum(probability * (1 - probability), 0.01))
        probability = np.clip(slope * procs + intercept, 0, 1)
        density = phases.pdf(np.stack([bins, bins]))[:, bin_of] * np.stack([probability, 1 - probability])
        total = density.sum(axis=0)
        short = density[0] / np.maximum(total, 1e-300)
        likelihood = dot(weight, np.log(np.maximum(total, 1e-300)))
        if likelihood - last < TOLERANCE:
            break
        last = likelihood
    (shape1, shape2), (scale1, scale2) = np.ravel(phases.shape).tolist(), np.ravel(phases.scale).tolist()
    return {
        "shape1": shape1, "scale1": scale1, "shape2": shape2, "scale2": scale2,
        "slope": slope, "intercept": intercept,
    }  # fmt: skip


def _fit_phases(x: Floats, *masses: "np.ndarray") -> Gamma:
    """
    Fit a gamma to each of *masses* at the same *x*; the parameters are rows.

    None is narrower than a bin, for many jobs with the same run time would shrink a phase to a point.
    """
    weight = np.stack(masses).astype(np.float64)
    mean = (weight @ x / weight.sum(axis=1))[:, np.newaxis]
    shape = np.fmin(Gamma.fit_rows(np.broadcast_to(x, weight.shape), weight).shape, (mean * BINS) ** 2)
    return Gamma(shape, mean / shape)


def _fit_line(procs: Floats, short: Floats, weight: Floats) -> tuple[float, float]:
    """Fit slope and intercept of the share of short jobs over processors by weighted least squares."""
    total = float(weight.sum())
    mean = dot(weight, procs) / total
    spread = dot(weight, (procs - mean) ** 2)
    slope = dot(weight, (procs - mean) * short) / spread if spread else 0.0
    return slope, dot(weight, short) / total - slope * mean
