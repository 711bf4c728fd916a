"""Jobs submitted, ended and running over the days of a trace."""

import pytest

from tests.analysis.sections.blocks import ABSOLUTE, START, figures


def test_the_days_of_a_short_trace_are_drawn_as_hours(section, make_store):
    store = make_store(
        ABSOLUTE, submit_time=[START + n * 1200 for n in range(30)], run_time=[3600.0] * 30,
        wait_time=[0.0] * 30, n_procs=[1] * 30, status=[1] * 30,
    )  # fmt: skip
    arrived = figures(section("arrivals", store))["arrivals"]
    done = figures(section("performance", store))

    assert arrived.title == "Jobs submitted in an hour"
    assert arrived.data["lines"][0]["y"] == [3] * 10
    assert done["throughput"].title == "Jobs ended and completed in an hour"
    assert done["throughput"].data["lines"][0]["y"] == [0, *[3] * 10]
    assert done["queue"].data["lines"][0]["y"] == pytest.approx(
        [2, *[3] * 9, (2 * 1200 + 600) / 1800], abs=1e-4
    )
