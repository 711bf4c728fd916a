"""The size that the system had."""

import numpy as np

from gwa.analysis.sections.capacity import maxima
from gwa.analysis.sections.changes import steps
from gwa.metrics.timeline import level
from gwa.report.figures.series import visible_intervals
from tests.analysis.sections.blocks import ABSOLUTE, DAY, START, facts, figure, tables
from tests.claims.machine import Machine
from tests.claims.worlds import HOUR, MONDAY


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
    begin = MONDAY + 40 * DAY
    log = Machine(load=0.8, days=70).log(np.random.default_rng(5), ((begin, begin + 20 * HOUR),))
    store = make_store(ABSOLUTE, **{name: values.tolist() for name, values in log.items()})
    (outage,) = tables(section("stretches", store))["stretches"].rows
    drawn = figure(section("capacity", store))

    assert drawn.data["shaded"] == [list(outage[1:3])]
    # A hundredth of a pixel would not be seen.
    ((first, last),) = visible_intervals(drawn.data)
    assert last - first >= outage[3]
