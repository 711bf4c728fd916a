"""Samples that break fits: nearly constant, two values, ties, huge offsets, subnormal numbers, outliers."""

import numpy as np

from gwa.statistics.sample import Sample


def nearly_constant(rng):
    level, spread = 10 ** rng.uniform(-6, 12), 10 ** rng.uniform(-16, -3)
    return level * (1 + spread * rng.random(500))


def milliseconds(rng):
    return 3600 + rng.integers(0, 1 + int(10 ** rng.uniform(0, 4)), 500) / 1000


def two_values(rng):
    low, high = np.sort(10 ** rng.uniform(-3, 15, 2))
    return np.where(rng.random(300) < rng.choice([0.003, 0.5, 0.997]), low, high)


def neighbours(rng):
    value = 10 ** rng.uniform(-300, 300)
    return np.where(rng.random(50) < 0.5, value, np.nextafter(value, np.inf))


def huge_offset(rng):
    return 10.0 ** rng.integers(6, 17) + rng.exponential(10 ** rng.uniform(-2, 3), 500)


def subnormal(rng):
    return rng.integers(1, 2 ** rng.integers(2, 52), 100) * 5e-324


def ties(rng):
    return rng.zipf(1.2 + rng.random(), 2000).clip(1, 10 ** rng.integers(1, 6)).astype(float)


def outlier(rng):
    return np.append(rng.lognormal(rng.uniform(0, 8), rng.uniform(0.01, 3), 500), 1e18)


def whole_outlier(rng):
    return np.append(rng.integers(1, 50, 500), 10.0 ** rng.integers(3, 19)).astype(float)


def wide(rng):
    return 10 ** rng.uniform(-rng.uniform(1, 300), rng.uniform(1, 300), 200)


def zeros(rng):
    return np.where(rng.random(500) < rng.choice([0.01, 0.5, 0.99]), 0.0, rng.lognormal(3, 2, 500))


def few(rng):
    return 10 ** rng.uniform(-5, 9, rng.integers(1, 6))


def pareto(rng):
    return 1 + rng.pareto(10 ** rng.uniform(-2, 2), 1000).clip(0, 1e300)


def negative(rng):
    return rng.standard_t(10 ** rng.uniform(-0.5, 1.5), 500) * 10 ** rng.uniform(-6, 9)


def many_values(rng):
    return rng.lognormal(5, rng.uniform(0.5, 3), 20_000)


FAMILIES = (
    nearly_constant, milliseconds, two_values, neighbours, huge_offset, subnormal, ties, outlier,
    whole_outlier, wide, zeros, few, pareto, negative, many_values,
)  # fmt: skip


def sample(number):
    """Return the name of the family and the sample of a *number*; few are of many values, which take long."""
    family = FAMILIES[number % (len(FAMILIES) - (number % 90 != len(FAMILIES) - 1))]
    with np.errstate(all="ignore"):
        values = family(np.random.default_rng((2009, number)))
    return family.__name__, Sample.of(values[np.isfinite(values)])
