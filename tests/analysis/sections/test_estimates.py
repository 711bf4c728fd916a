"""What jobs requested, and what they used of it."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from gwa.analysis.base import analyses
from gwa.analysis.findings.requests import overestimates, round_requests
from gwa.store.store import Store
from tests.analysis.sections.blocks import START, facts, figures, notes


def test_requested_and_used_are_compared_job_by_job(section, make_store):
    store = make_store(
        submit_time=[START] * 5,
        run_time=[3600.0, 60.0, 7300.0, 100.0, None],
        n_procs=[1, 2, 1, 1, 1],
        req_time=[3600.0, 3600.0, 7200.0, None, 3600.0],
        req_memory=[100.0, 200.0, None, 0.0, 50.0],
        used_memory=[50.0, 300.0, 10.0, 10.0, None],
        average_cpu_time=[1800.0, 60.0, 7300.0, None, None],
    )
    made = section("estimates", store)
    found = facts(made)

    assert found["estimates.time.median"] == pytest.approx(1.0)
    assert found["estimates.time.max"] == pytest.approx(7300 / 7200)
    assert found["estimates.time.limit"] == pytest.approx(2 / 3)
    assert found["estimates.time.below_tenth"] == pytest.approx(1 / 3)
    assert found["estimates.time.overall"] == pytest.approx((3600 + 120 + 7300) / (3600 + 7200 + 7200))
    assert (found["estimates.memory.min"], found["estimates.memory.max"]) == (0.5, 1.5)
    assert found["estimates.cpu.mean"] == pytest.approx(2.5 / 3)
    assert found["estimates.modal"][0] == {"req_time": 3600, "jobs": 3, "share": 0.75}
    assert found["estimates.modal_share"] == 1


@pytest.mark.parametrize("number", [1, 2, 500])
def test_shares_and_quantiles_are_of_the_exact_ratios(number):
    rng = np.random.default_rng(number)
    about_the_limits = rng.choice([100, 1000], number)
    asked = np.where(rng.random(number) < 0.7, about_the_limits, rng.integers(1, 100_000, number))
    share = rng.choice([0.1, 0.1, 1.0, 1.0, 0.5], number)
    run = np.maximum(np.rint(asked * share) + rng.integers(-15, 16, number), 0)
    jobs = list(zip(run.astype(int).tolist(), asked.tolist(), strict=True))
    by_id = {one.id: one for one in analyses()}
    with Store.create() as store:
        store.begin(["job_id", "run_time", "n_procs", "req_time"])
        store.insert("recorded", [(n, float(run), 1, float(asked)) for n, (run, asked) in enumerate(jobs)])
        found = facts(by_id["estimates"].section(store))
    ratios = [Fraction(run, asked) for run, asked in jobs]
    exact = {
        "limit": sum(ratio >= Fraction(99, 100) for ratio in ratios) / len(jobs),
        "overrun": sum(ratio >= Fraction(101, 100) for ratio in ratios) / len(jobs),
        "below_tenth": sum(ratio < Fraction(1, 10) for ratio in ratios) / len(jobs),
    }
    floats = [float(ratio) for ratio in ratios]

    assert {name: found[f"estimates.time.{name}"] for name in exact} == exact
    assert found["estimates.time.min"] == pytest.approx(min(floats), rel=1e-12)
    assert found["estimates.time.max"] == pytest.approx(max(floats), rel=1e-12)
    assert found["estimates.time.mean"] == pytest.approx(sum(floats) / len(floats), rel=1e-9)
    assert found["estimates.time.median"] == pytest.approx(np.quantile(floats, 0.5), rel=1e-12)
    assert found["estimates.time.p95"] == pytest.approx(np.quantile(floats, 0.95), rel=1e-12)


def test_a_small_median_keeps_its_digits(section, make_store):
    store = make_store(
        submit_time=[START] * 3, run_time=[100.0, 351.0, 352.0], n_procs=[1] * 3, req_time=[1e5] * 3
    )
    made = section("estimates", store)

    assert facts(made)["estimates.time.median"] == 0.00351
    assert "0.4 %" in figures(made)["estimates"].alt


def test_only_jobs_over_a_twentieth_are_said_to_use_more_than_they_had(section, make_store):
    ran = {"submit_time": [START] * 2, "run_time": [1000.0] * 2, "n_procs": [1] * 2}
    below = make_store(**ran, average_cpu_time=[1046.0, 1050.0])
    above = make_store(**ran, average_cpu_time=[1046.0, 1051.0])

    assert "more CPU time" not in notes(section("estimates", below))
    made = section("estimates", above)
    assert "1 job used over 5 % more CPU time" in notes(made)
    assert facts(made)["estimates.cpu.max"] == 1.046


def test_a_time_that_nearly_all_jobs_of_each_queue_request_is_its_limit(section, make_store):
    """Fourteen values over six queues, but one value in nearly all jobs of each."""
    queues = [f"queue {number % 6}" for number in range(600)]
    limits = [3600.0 * (1 + number % 6) for number in range(600)]
    others = [limit + 60 * (number % 90 == 0) for number, limit in enumerate(limits)]
    chosen = [limit + 600 * (number % 7) for number, limit in enumerate(limits)]
    jobs = {"submit_time": [START] * 600, "run_time": [60.0] * 600, "n_procs": [1] * 600}
    for requested, are_limits in ((others, True), (chosen, False)):
        made = section("estimates", make_store(**jobs, req_time=requested, queue_id=queues))
        found = facts(made)
        assert found["estimates.limits_of_queues"] is are_limits
        of_queues = [Counter(requested[queue::6]) for queue in range(6)]
        usual = sum(counted.most_common(1)[0][1] for counted in of_queues) / 600
        assert found["estimates.of_queue"] == pytest.approx(usual)
        assert ("not a request of its users" in notes(made)) is are_limits
        assert (overestimates(found) is None) is are_limits
        assert round_requests(found) is None
    lone = facts(section("estimates", make_store(**jobs, req_time=[3600.0] * 600, queue_id=["a"] * 600)))
    assert lone["estimates.limits_of_queues"] is False
    assert "estimates.of_queue" not in facts(section("estimates", make_store(**jobs, req_time=chosen)))
