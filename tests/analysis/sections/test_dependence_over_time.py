"""Dependence over time: autocorrelation and Hurst estimates, with and without the daily cycle."""

import numpy as np
import pandas as pd
import pytest

from gwa.analysis.sections.dependence_over_time import dense_series
from gwa.metrics.timeline import Counts
from gwa.report.document import Report
from tests.analysis.sections.blocks import ABSOLUTE, START, facts, figures, notes
from tests.claims.arrivals import WITHOUT, arrivals


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
    name = "hurst.wavelet.without_cycles"
    assert found[f"{name}.low"] < found[name] < found[f"{name}.high"]
    # A cycle has no straight line, so that nothing is known of how exact its slope is.
    assert found["hurst.wavelet.low"] is found["hurst.wavelet.high"] is None
    assert set(figures(made)) == {"autocorrelation", "variance-time"}
    assert found["dependence.verdict"] is None
    assert "unknown: that takes 90 days" in notes(made)


def test_jobs_that_arrive_by_the_clock_have_no_variance_over_longer_intervals(section, make_store):
    times = (START + 900.0 * np.repeat(np.arange(1112), [30] * 1111 + [4]) + 1).tolist()
    made = section("dependence-over-time", make_store(ABSOLUTE, submit_time=times))

    assert facts(made)["hurst.variance_time"] is None
    assert set(figures(made)) == {"autocorrelation"}


def test_an_estimate_out_of_range_is_undefined(section, make_store):
    """With a memory of two days the variance grows faster with scale than that of any stationary noise."""
    hours = arrivals(WITHOUT["AR 48 h"], 2, 24 * 60, per_day=1000).astype(int)
    within = np.random.default_rng(1).uniform(size=hours.sum())
    times = (START + 3600.0 * (np.repeat(np.arange(len(hours)), hours) + within)).tolist()
    made = section("dependence-over-time", make_store(ABSOLUTE, submit_time=times))
    shown = {fact.id: fact for fact in Report("", "", (made,)).facts()}

    for end in ("", ".low", ".high"):
        assert shown[f"hurst.wavelet{end}"].value is None
    assert shown["hurst.wavelet"].text == "undefined"
    assert "assumptions do not hold" in shown["hurst.wavelet"].help


def test_the_verdict_has_its_spectra(section, make_store):
    hours = arrivals(WITHOUT["AR 12 h"], 1, 24 * 120, per_day=120).astype(int)
    times = (START + 3600.0 * np.repeat(np.arange(len(hours)), hours) + 1).tolist()
    made = section("dependence-over-time", make_store(ABSOLUTE, submit_time=times))
    found = facts(made)

    assert found["dependence.verdict"] == found["dependence.counts"] == "one memory time"
    assert found["dependence.memory_time"] == pytest.approx(12 * 3600, rel=0.4)
    assert found["dependence.hurst"] is None
    assert found["dependence.log_likelihood.one_memory"] > found["dependence.log_likelihood.power_law"] + 3
    assert "arrivals-spectrum" in figures(made)
    assert "no sign of long-range dependence" in notes(made)


def test_the_autocorrelation_is_that_of_hours_of_the_clock(section, make_store):
    """Hours in Nepal begin a quarter of an hour after those of UTC, wherever in its hour the first job is."""
    rng = np.random.default_rng(5)
    midnight = START - 5.75 * 3600
    times = np.sort(midnight + 1700 + rng.exponential(600, 3000).cumsum())
    zone = (ABSOLUTE[0], ("TimeZoneString", "Asia/Kathmandu"))
    found = facts(section("dependence-over-time", make_store(zone, submit_time=times.tolist())))
    hours = np.bincount(((times - midnight) // 3600).astype(int))
    x = hours - hours.mean()

    for lag in (1, 24, 168):
        expected = (x[lag:] * x[:-lag]).sum() / (x**2).sum()
        assert found[f"correlation.arrivals.{lag * 3600}s"] == pytest.approx(expected, abs=1e-9)


def test_office_hours_in_summer_and_winter_time_are_no_memory(section, make_store):
    """By UTC the same office opens an hour earlier in summer."""
    verdicts = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        at = pd.Timestamp("2024-01-01", tz="Europe/Berlin") + pd.to_timedelta(np.arange(400 * 24), unit="h")
        is_open = (at.hour >= 9) & (at.hour < 17) & (at.day_of_week < 5)
        jobs = rng.poisson(5.0 * is_open)
        times = np.repeat(at.as_unit("s").asi8, jobs) + rng.integers(0, 3600, jobs.sum())
        zone = (ABSOLUTE[0], ("TimeZoneString", "Europe/Berlin"))
        store = make_store(zone, submit_time=np.sort(times).astype(float).tolist())
        verdicts.append(facts(section("dependence-over-time", store))["dependence.verdict"])

    assert verdicts.count("none") >= 3


def test_hours_that_are_all_alike_have_no_autocorrelation(section, make_store):
    """Two jobs an hour, in turn in its first and its second quarter."""
    times = [START + 3600.0 * hour + 900.0 * (job * (1 + hour % 2)) for hour in range(400) for job in (0, 1)]
    made = section("dependence-over-time", make_store(ABSOLUTE, submit_time=times))

    assert not [name for name in facts(made) if name.startswith("correlation")]
    assert "autocorrelation is undefined" in notes(made)
    assert "autocorrelation" not in figures(made)


def test_a_series_too_long_is_counted_in_longer_intervals():
    x, factor = dense_series(Counts(900.0, np.array([10, 11, 9_000_009]), np.array([2, 3, 4])))

    assert factor == 3
    assert len(x) == 3_000_000
    assert x[[0, -1]].tolist() == [5, 4]


def test_few_jobs_say_nothing_of_memory(section, make_store):
    made = section("dependence-over-time", make_store(submit_time=[START + k * 5000.0 for k in range(99)]))

    assert "at least 128 quarters of an hour and 100 jobs" in notes(made)


@pytest.mark.parametrize(("jobs", "verdict"), [(300, None), (3000, "one memory time")])
def test_no_spectrum_is_made_of_a_few_jobs(jobs, verdict, section, make_store):
    """The same sessions of half a day, with three jobs each and with thirty."""
    begins = np.sort(np.random.default_rng(3).integers(0, 365 * 24, 100))
    offsets = np.random.default_rng(4).uniform(0, 12, (100, jobs // 100))
    times = np.sort(START + 3600.0 * (begins[:, None] + offsets).ravel()).tolist()
    made = section("dependence-over-time", make_store(ABSOLUTE, submit_time=times))

    assert facts(made)["dependence.verdict"] == verdict
    assert ("that takes 90 days or more, and 1,000 jobs" in notes(made)) == (verdict is None)
