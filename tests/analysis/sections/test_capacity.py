"""Outages, and the size that the system had."""

from typing import Any

import numpy as np
import pytest

from gwa.analysis.sections.capacity import maxima
from gwa.analysis.sections.changes import steps
from gwa.metrics.timeline import level
from gwa.report.figures.series import reading
from tests.analysis.sections.blocks import ABSOLUTE, DAY, START, facts, figure, tables


def test_an_outage_is_when_jobs_wait_and_none_runs(section, make_store):
    store = make_store(
        ABSOLUTE,
        submit_time=[START, START + 3600, START + 40_000],
        wait_time=[0.0, 7200.0, 0.0],
        run_time=[3600.0, 3600.0, 600.0],
        n_procs=[2, 3, 1],
    )
    made = section("capacity", store)

    assert facts(made)["capacity.stretches"] == 2
    assert facts(made)["capacity.outages.count"] == 1
    assert tables(made)["outages"].rows == ((START + 3600, START + 10_800, 7200, 1),)
    assert facts(made)["capacity.peak"] == 3
    assert facts(made)["capacity.idle"] == pytest.approx((7200 + 40_000 - 14_400) / 40_600, abs=0.02)


def test_a_rare_silence_of_a_busy_system_is_an_outage_even_without_waits(section, make_store):
    hours = [hour for hour in range(24 * 30) if not 300 <= hour < 310]
    store = make_store(
        ABSOLUTE, submit_time=[START + 3600.0 * hour for hour in hours], run_time=[3600.0] * len(hours),
        n_procs=[1] * len(hours),
    )  # fmt: skip
    made = section("capacity", store)

    assert facts(made)["capacity.outages.seconds"] == 36_000
    assert tables(made)["outages"].rows[0][0] == START + 300 * 3600


def test_a_ramp_and_noise_are_no_change_of_size():
    assert steps("peak", np.linspace(10, 100, 40)) == []
    assert steps("peak", np.random.default_rng(1).uniform(10, 100, 60)) == []
    assert [change.week for change in steps("peak", np.repeat([50.0, 100.0], [12, 24]))] == [12]


def test_the_greatest_of_each_day_is_that_of_its_intervals(make_store):
    rng = np.random.default_rng(3)
    times = np.sort(rng.integers(0, 12 * 86400, 80)).astype(float).tolist()
    store = make_store(
        submit_time=times,
        run_time=rng.integers(1, 200_000, 80).astype(float).tolist(),
        n_procs=rng.integers(1, 9, 80).tolist(),
    )
    last = store.row("select max(end_time) from ran")[0]
    busy = level(store, "n_procs", ("start_time", "end_time"), "ran", width=600.0, period=(times[0], last))
    every = np.repeat(busy.values, busy.lengths)
    expected = [every[day : day + 144].max() for day in range(0, len(every), 144)]

    assert maxima(busy, DAY).tolist() == expected


def test_a_step_from_nothing_has_no_ratio(section, make_store):
    weeks = [0, *range(26, 52)]
    rng = np.random.default_rng(5)
    times = [START + 7 * 86_400.0 * week + 3600 * hour for week in weeks for hour in range(5)]
    store = make_store(
        ABSOLUTE, submit_time=times,
        run_time=[3600.0] * (5 * len(weeks)), n_procs=rng.integers(40, 60, 5 * len(weeks)).tolist(),
    )  # fmt: skip
    made = section("capacity", store)

    assert facts(made)["capacity.changes"] == 1
    ((_, before, _, change),) = tables(made)["capacity-changes"].rows
    assert (before, change) == (0, None)


def test_outages_are_shaded_in_the_figure(section, make_store):
    hours = [hour for hour in range(24 * 30) if not 300 <= hour < 310]
    store = make_store(
        ABSOLUTE, submit_time=[START + 3600.0 * hour for hour in hours], run_time=[3600.0] * len(hours),
        n_procs=[1] * len(hours),
    )  # fmt: skip
    drawn = figure(section("capacity", store))

    assert drawn.data["shaded"] == [[START + 300 * 3600.0, START + 310 * 3600.0]]
    # A hundredth of a pixel would not be seen.
    shown: Any = reading(drawn)
    ((first, last),) = shown["shaded"]
    assert last - first == pytest.approx(max(36_000, 29 * DAY / 300), rel=0.05)
