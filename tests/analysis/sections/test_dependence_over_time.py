"""Dependence over time: autocorrelation and Hurst estimates, with and without the daily cycle."""

import numpy as np
import pytest

from gwa.analysis.sections.dependence_over_time import dense_series
from gwa.metrics.timeline import Counts
from tests.analysis.sections.blocks import ABSOLUTE, START, facts, figures, notes


def test_a_daily_cycle_looks_like_memory_until_it_is_taken_away(section, make_store):
    rng = np.random.default_rng(11)
    rate = np.tile(np.r_[np.full(48, 0.2), np.full(48, 3.0)], 61)[: 96 * 60 + 5]
    counts = rng.poisson(rate)
    times = (START + 900.0 * np.repeat(np.arange(len(rate)), counts) + 1).tolist()
    made = section("dependence-over-time", make_store(ABSOLUTE, submit_time=times))
    found = facts(made)

    assert found["correlation.arrivals.86400s"] > 0.7
    assert found["hurst.wavelet"] > 0.8
    for name in ("wavelet", "local_whittle", "periodogram", "variance_time", "rescaled_range"):
        assert found[f"hurst.{name}.without_cycles"] == pytest.approx(0.5, abs=0.12)
    assert found["hurst.wavelet.low"] < found["hurst.wavelet"] < found["hurst.wavelet.high"]
    assert set(figures(made)) == {"autocorrelation", "variance-time"}


def test_a_series_too_long_is_counted_in_longer_intervals():
    x, factor = dense_series(Counts(900.0, np.array([10, 11, 9_000_009]), np.array([2, 3, 4])))

    assert factor == 3
    assert len(x) == 3_000_000
    assert x[[0, -1]].tolist() == [5, 4]


def test_few_jobs_say_nothing_of_memory(section, make_store):
    made = section("dependence-over-time", make_store(submit_time=[START + k * 5000.0 for k in range(99)]))

    assert "at least 128 quarters of an hour and 100 jobs" in notes(made)
