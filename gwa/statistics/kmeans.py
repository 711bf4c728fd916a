"""
K-means clusters of weighted points, with the two usual ways to choose their number.

Da Costa et al. (2018, tables 8 and 9) cluster tasks this way and choose by silhouette and elbow. The
scaling of the columns matters more than the method: it is the caller's, and `standardised` is one.
Everything is deterministic: the starts are drawn with a fixed seed.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gwa.statistics.numeric import dot, floats
from gwa.statistics.sample import Floats

_STARTS = 16
_ROUNDS = 300
_MAXIMUM_POINTS = 2000


@dataclass(frozen=True, eq=False)
class Clusters:
    """A partition: *centres* (a row each, largest cluster first), a *label* per point, and the *inertia*."""

    centres: Floats
    labels: NDArray[np.intp]
    sizes: Floats
    inertia: float


def kmeans(points: ArrayLike, k: int, weights: ArrayLike = 1) -> Clusters:
    """
    Return the *k* clusters of least inertia, the weighted sum of squared distances to the centres.

    *points* has a row per distinct point (a column if one-dimensional), *weights* how often each occurs.
    The best of 16 greedy k-means++ starts (Arthur & Vassilvitskii 2007). More clusters than points are a
    `ValueError`.
    """
    x, weight = _table(points, weights)
    if not 1 <= k <= x.shape[0]:
        raise ValueError(f"{x.shape[0]} points make between 1 and {x.shape[0]} clusters, not {k}")
    rng = np.random.default_rng(0)
    best = min((_lloyd(x, weight, _start(x, weight, k, rng)) for _ in range(_STARTS)), key=lambda run: run[1])
    labels = np.argmin(_squares(x, best[0]), axis=1)
    sizes = floats(np.bincount(labels, weights=weight, minlength=k))
    order = np.argsort(-sizes, kind="stable")
    place = np.argsort(order)
    return Clusters(best[0][order], place[labels], sizes[order], best[1])


def silhouette(points: ArrayLike, labels: ArrayLike, weights: ArrayLike = 1) -> float:
    """
    Return the mean silhouette (Rousseeuw 1987): 1 for tight, distant clusters, 0 for none.

    (b - a) / max(a, b) with a the mean distance within the point's cluster and b that to the nearest other.
    On at most 2000 distinct points, else on 2000 drawn by weight. nan for a single cluster.
    """
    return silhouettes(points, [labels], weights)[0]


def silhouettes(points: ArrayLike, partitions: Iterable[ArrayLike], weights: ArrayLike = 1) -> list[float]:
    """Return the `silhouette` of each of several *partitions*, which are labels, of the same points."""
    x, weight = _table(points, weights)
    drawn: slice | NDArray[np.int64] = slice(None)
    if x.shape[0] > _MAXIMUM_POINTS:
        drawn = np.random.default_rng(0).choice(x.shape[0], _MAXIMUM_POINTS, p=weight / weight.sum())
        x, weight = x[drawn], np.ones(_MAXIMUM_POINTS)
    distances = np.sqrt(_squares(x, x))
    return [_silhouette(distances, np.asarray(labels)[drawn], weight) for labels in partitions]


def _silhouette(distances: Floats, labels: NDArray[np.intp], weight: Floats) -> float:
    """Return the mean silhouette of points of which all *distances* are known."""
    names, place = np.unique(labels, return_inverse=True)
    if names.size == 1:
        return math.nan
    member = weight[:, np.newaxis] * (place[:, np.newaxis] == np.arange(names.size))
    totals = distances @ member
    size = member.sum(axis=0)
    own = np.arange(weight.size), place
    within = totals[own] / np.maximum(size[place] - 1, 1e-300)
    means = totals / size
    means[own] = np.inf
    across = means.min(axis=1)
    scores = np.where(
        size[place] > 1, (across - within) / np.maximum(np.maximum(within, across), 1e-300), 0.0
    )
    return dot(weight, scores) / float(weight.sum())


def elbow(inertias: ArrayLike) -> int:
    """
    Return the position of the elbow: the inertia farthest below the line from the first to the last.

    The "kneedle" rule (Satopää et al. 2011) on inertias for 1, 2, 3, … clusters; 0 for fewer than three.
    """
    y = floats(inertias)
    if y.size < 1 + 1 + 1 or y[0] == y[-1]:
        return 0
    line = np.linspace(1, 0, y.size)
    return int(np.argmax(line - (y - y[-1]) / (y[0] - y[-1])))


def standardised(points: ArrayLike, weights: ArrayLike = 1) -> Floats:
    """Return the points with each column at mean 0 and standard deviation 1 (constant columns at 0)."""
    x, weight = _table(points, weights)
    centred = x - _weighted(weight, x) / weight.sum()
    spread = np.sqrt(_weighted(weight, centred**2) / weight.sum())
    return floats(centred / np.where(spread > 0, spread, 1))


def _weighted(weight: Floats, rows: Floats) -> Floats:
    """Return the sum of *rows*, each times its *weight*."""
    return floats((weight[:, np.newaxis] * rows).sum(axis=0))


def _table(points: ArrayLike, weights: ArrayLike) -> tuple[Floats, Floats]:
    """Return points as rows and a weight for each."""
    x = floats(points)
    x = x[:, np.newaxis] if x.ndim == 1 else x
    return x, np.broadcast_to(floats(weights), x.shape[:1])


def _squares(x: Floats, centres: Floats) -> Floats:
    """Return the squared distance of each point to each centre."""
    squares = np.zeros((x.shape[0], centres.shape[0]))
    for column in range(x.shape[1]):
        squares += (x[:, column, np.newaxis] - centres[:, column]) ** 2
    return squares


def _start(x: Floats, weight: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Return starting centres drawn by greedy k-means++: each the best of a few that are drawn."""
    chosen = [int(rng.choice(x.shape[0], p=weight / weight.sum()))]
    nearest = _squares(x, x[chosen]).min(axis=1)
    for _ in range(1, k):
        far = weight * nearest
        far = far if far.any() else np.isin(np.arange(x.shape[0]), chosen, invert=True) * 1.0
        drawn = rng.choice(x.shape[0], 2 + int(math.log(k)), p=far / far.sum())
        reached = np.minimum(nearest[:, np.newaxis], _squares(x, x[drawn]))
        best = int(np.argmin(_weighted(weight, reached)))
        chosen.append(int(drawn[best]))
        nearest = reached[:, best]
    return x[chosen]


def _lloyd(x: Floats, weight: Floats, centres: Floats) -> tuple[Floats, float]:
    """Return the centres at which Lloyd's algorithm settles, and their inertia."""
    k = centres.shape[0]
    for _ in range(_ROUNDS):
        label = np.argmin(_squares(x, centres), axis=1)
        size = np.bincount(label, weights=weight, minlength=k)
        sums = [np.bincount(label, weights=weight * part, minlength=k) for part in x.T]
        means = np.stack(sums, axis=1) / np.maximum(size, 1e-300)[:, np.newaxis]
        moved = np.where(size[:, np.newaxis] > 0, means, centres)
        if np.array_equal(moved, centres):
            break
        centres = moved
    return centres, dot(weight, _squares(x, centres).min(axis=1))
