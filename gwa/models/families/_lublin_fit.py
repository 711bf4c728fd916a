"""How the sizes and run times of Lublin and Feitelson's model are estimated."""

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

LOWEST: Final = math.log2(1.5)
"""The least draw that becomes two processors."""

GRID: Final = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Where the search for each of four unknowns may begin, from its least to its greatest value."""

STARTS: Final = 4
"""Points of the grid from which the likelihood, which has several peaks, is climbed."""

BINS: Final = 50
"""Parts of a unit of ln s in which run times are counted for EM."""

ROUNDS, ENOUGH = 2000, 1e-9
"""Rounds of EM at most, and the gain in mean log-likelihood below which it stops."""


def fitted_sizes(store: Store, table: str) -> dict[str, float]:
    """
    Return the sizes of greatest likelihood; the greatest draw is that of the largest job.

    Both kinds of parallel jobs can end on a power of two, so that the shares of the kinds cannot be counted:
    they are estimated together with the stages.
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
            likely = np.log(_size_probabilities(parallel.values, high, *_bounded(x, high)))
        return -dot(parallel.weights, likely) if np.isfinite(likely).all() else math.inf

    grid = [np.log(np.array(one) / (1 - np.array(one))) for one in product(GRID, repeat=4)]
    found = min((_least(loss, start) for start in sorted(grid, key=loss)[:STARTS]), key=loss)
    powers, low, middle, first = _bounded(_least(loss, found), high)
    return {
        "serial": serial, "powers_of_two": powers * (1 - serial), "low": low,
        "middle": middle, "high": high, "first": first,
    }  # fmt: skip


def _least(loss: object, start: Floats) -> Floats:
    found = minimize(
        loss, start, method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-4, "fatol": 1e-9}
    )  # type: ignore[call-overload]
    return np.asarray(found.x)


def _bounded(x: Floats, high: float) -> tuple[float, float, float, float]:
    """Return share of powers of two among parallel jobs, low, middle and first of numbers without bounds."""
    powers, low, middle, first = (1 / (1 + np.exp(-np.clip(x, -30, 30)))).tolist()
    least = LOWEST + low * (min(math.log2(2.5), high) - LOWEST)
    return powers, least, least + middle * (high - least), first


def _size_probabilities(
    sizes: Floats, high: float, powers: float, low: float, middle: float, first: float
) -> Floats:
    """Return the probability of each size above 1 among parallel jobs."""

    def cdf(power: Floats) -> Floats:
        corners = ([low, middle, high], [0.0, first, 1.0])
        found: Floats = np.interp(power, *corners) if middle < high else (power >= low).astype(np.float64)
        return found

    power = np.log2(sizes)
    is_power = power == np.rint(power)
    above = np.where(power == math.floor(high), high, power + 0.5)
    rounded = np.where(is_power, cdf(above) - cdf(power - 0.5), 0.0)
    other = cdf(np.log2(sizes + 0.5)) - cdf(np.log2(sizes - 0.5))
    found: Floats = powers * rounded + (1 - powers) * other
    return found


def fitted_run_times(store: Store, table: str, longest: float) -> dict[str, float]:
    """
    Return the run times of greatest likelihood by EM, over sizes and narrow bins of ln(run time + 1/2).

    Run times are cut to whole seconds, whence the half. Those below 1 s or above *longest* (ln s) are left
    out. The probability of the first gamma is a line, by least squares
    on the expected phases with the weights of a binomial.
    """
    found = store.arrays(
        f"select n_procs as n, floor(ln(run_time + 0.5) * {BINS}) as x, count(*) as jobs from {table}"
        f" where run_time >= 1 and ln(run_time) <= {longest!r} group by all order by all"
    )
    x = (np.asarray(found["x"], np.float64) + 0.5) / BINS
    procs, jobs = (np.asarray(found[name], np.float64) for name in ("n", "jobs"))
    if np.unique(x).size < 3:
        raise ModelError("run_time: fewer than 3 different ones from 1 s to 45 hours, expected more")
    return _em(x, procs, jobs / jobs.sum())


def _em(x: Floats, procs: Floats, weight: Floats) -> dict[str, float]:
    """
    Return the parameters after rounds of EM from a cut at the median.

    Sizes share the bins, of which there are many times fewer than of both.
    """
    bins, place = np.unique(x, return_inverse=True)
    short = np.where(x <= Sample.of(x).median(), 0.9, 0.1)
    share, before = np.full(x.size, 0.5), -math.inf
    for _ in range(ROUNDS):
        phases = _phases(bins, *(np.bincount(place, mass) for mass in (weight * short, weight * (1 - short))))
        slope, intercept = _line(procs, short, weight / np.maximum(share * (1 - share), 0.01))
        share = np.clip(slope * procs + intercept, 0, 1)
        density = phases.pdf(np.stack([bins, bins]))[:, place] * np.stack([share, 1 - share])
        total = density.sum(axis=0)
        short = density[0] / np.maximum(total, 1e-300)
        now = dot(weight, np.log(np.maximum(total, 1e-300)))
        if now - before < ENOUGH:
            break
        before = now
    (shape1, shape2), (scale1, scale2) = np.ravel(phases.shape).tolist(), np.ravel(phases.scale).tolist()
    return {
        "shape1": shape1, "scale1": scale1, "shape2": shape2, "scale2": scale2,
        "slope": slope, "intercept": intercept,
    }  # fmt: skip


def _phases(x: Floats, *masses: "np.ndarray") -> Gamma:
    """
    Return a gamma for each of *masses* at the same *x*, in rows.

    None is narrower than a bin: many jobs of one length would draw a phase into a point.
    """
    weight = np.stack(masses).astype(np.float64)
    mean = (weight @ x / weight.sum(axis=1))[:, np.newaxis]
    shape = np.fmin(Gamma.fit_rows(np.broadcast_to(x, weight.shape), weight).shape, (mean * BINS) ** 2)
    return Gamma(shape, mean / shape)


def _line(procs: Floats, short: Floats, weight: Floats) -> tuple[float, float]:
    """Return slope and intercept of the share of short jobs over processors, by weighted least squares."""
    total = float(weight.sum())
    centre = dot(weight, procs) / total
    spread = dot(weight, (procs - centre) ** 2)
    slope = dot(weight, (procs - centre) * short) / spread if spread else 0.0
    return slope, dot(weight, short) / total - slope * centre
