"""Levels of two periods: what chance does is told from what differs, whatever the days remember."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter

from gwa.statistics.contrast import MAXIMUM_LENGTH, MINIMUM_LENGTH, half_width, p_value

LEVEL = 0.01


def months(seed, memory=0.6, step=0.0, days=(30, 31)):
    """Return two months of an autoregressive series with unit variance, the second *step* higher."""
    noise = np.random.default_rng(seed).standard_normal(sum(days) + 100)
    series = (lfilter([1.0], [1.0, -memory], noise) * np.sqrt(1 - memory**2))[100:]
    return series[: days[0]], series[days[0] :] + step


def rate(worlds, **how):
    return np.mean([p_value(*months(seed, **how)) <= LEVEL for seed in range(worlds)])


@pytest.mark.parametrize(("memory", "most"), [(0.0, 0.01), (0.3, 0.015), (0.6, 0.02), (0.8, 0.05)])
def test_months_without_a_difference_seldom_differ(memory, most):
    assert rate(600, memory=memory) <= most


@pytest.mark.parametrize(("memory", "least"), [(0.0, 0.95), (0.3, 0.8), (0.6, 0.5)])
def test_a_step_of_two_standard_deviations_is_found(memory, least):
    assert rate(200, memory=memory, step=2.0) >= least


def test_quiet_weekends_are_no_difference_though_months_have_more_or_fewer_of_them():
    """A month with ten days of weekends beside one with eight, and no noise at all but the week."""
    day = np.arange(61)
    weekend = np.where(day % 7 >= 5, 0.0, 10.0)
    first, second = weekend[:30], weekend[30:]
    assert p_value(first, second, places=(0, 30 % 7)) > 0.2


def test_a_week_is_aligned_by_its_days():
    rng = np.random.default_rng(3)
    day = np.arange(90)
    series = np.where(day % 7 >= 5, -5.0, 0.0) + rng.standard_normal(90) * 0.1
    steps = series[:30], series[32:62] + 0.5
    assert p_value(*steps, places=(0, 32 % 7)) < LEVEL
    assert p_value(*steps, places=(0, 0)) > LEVEL


def test_steady_levels_are_equal_or_differ_without_doubt():
    assert p_value(np.full(30, 0.1), np.full(31, 0.1)) == 1.0
    assert p_value(np.full(30, 0.1), np.full(31, 0.2)) == 0.0


@given(st.integers(0, 10_000), st.floats(0.01, 100), st.floats(-1000, 1000))
def test_units_and_origins_do_not_matter(seed, scale, origin):
    first, second = months(seed, step=1.0)
    expected = p_value(first, second)
    assert p_value(first * scale + origin, second * scale + origin) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    "wrong", [[1.0] * (MINIMUM_LENGTH - 1), [1.0] * (MAXIMUM_LENGTH + 1), [float("nan")] * 10]
)
def test_what_is_too_short_too_long_or_not_known_is_refused(wrong):
    with pytest.raises(ValueError, match="expected 5 to 400 that are finite"):
        p_value(wrong, [1.0] * 10)


@pytest.mark.parametrize("step", [0.0, 0.5, 2.0, 6.0])
@pytest.mark.parametrize("chance", [0.05, 0.01])
def test_a_difference_is_out_of_reach_if_and_only_if_it_is_more_than_chance(step, chance):
    for seed in range(20):
        first, second = months(seed, step=step)
        is_out = abs(second.mean() - first.mean()) > half_width(first, second, chance)
        assert is_out == (p_value(first, second) < chance)


def test_equal_levels_are_known_as_well_as_others():
    first, _ = months(1, days=(28, 28))
    moved = half_width(first, first + 3.0, 0.05)
    assert half_width(first, first, 0.05) == pytest.approx(moved)
    assert half_width([1.0] * 20, [1.0] * 20, 0.05) == 0
