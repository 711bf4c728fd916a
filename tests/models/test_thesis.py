"""The thesis' family: against its tables turned by scipy, and against what fits of its own jobs give back."""

import math
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gwa.errors import ModelError
from gwa.models.bag_streams import draw_lognormal, draw_truncated_normal
from gwa.models.base import presets
from gwa.models.draws import Scaled
from gwa.models.families.thesis import BagsModel, TasksModel, Users
from gwa.models.rounding import fit_rounded, fit_sizes
from gwa.statistics.distributions import Normal
from gwa.statistics.sample import Sample
from gwa.statistics.weibull import Weibull
from tests.models.making import frame as made

AVERAGE = cast("Users", presets()["thesis-average"].model)
PRINTED = cast("Users", presets()["thesis-average-printed"].model)
NAMES = [name for name in presets() if name.startswith("thesis-")]


@pytest.fixture(scope="module")
def jobs():
    return made(AVERAGE, 200_000)


def test_draws_have_the_medians_of_the_inverted_table():
    """448 s run time, 149 s between bags, 8.6 s between tasks, 5 tasks: printed numbers, turned by scipy."""
    found = {
        "run_time": np.exp(stats.norm(6.106, 2.729).ppf(0.5)),
        "gap": 2 ** stats.weibull_min(4.247, scale=7.859).ppf(0.5),
        "task_gap": 2 ** stats.norm(3.1105, 1.8904).ppf(0.5),
    }
    assert found == pytest.approx({"run_time": 448, "gap": 149, "task_gap": 8.6}, rel=0.01)

    rng, arrivals = np.random.default_rng(1), cast("Any", AVERAGE.arrivals)
    for name, draws in (
        ("run_time", AVERAGE.run_time),
        ("gap", arrivals.gap),
        ("task_gap", replace(AVERAGE.task_gap, high=None)),
    ):
        assert np.median(draws.rvs(rng, 200_000)) == pytest.approx(found[name], rel=0.03)
    assert np.median(np.rint(AVERAGE.bag_size.rvs(rng, 200_000))) == 5


def test_a_workload_has_the_medians_of_the_inverted_table(jobs):
    bags = jobs.groupby("job_structure_params")
    several = bags["run_time"].size()[lambda size: size >= 2]
    gaps = bags["submit_time"].diff().dropna()
    single = jobs[jobs.job_structure == 0]

    # The median is 5 by a hair; four standard errors of some 14 000 bags are 0.017.
    least, five = stats.weibull_min(1.763, scale=1.987).cdf(np.log([1.5, 5.5]))
    assert (several <= 5).mean() == pytest.approx((five - least) / (1 - least), abs=0.017)
    assert gaps.median() == pytest.approx(8.6, abs=1)
    assert single.run_time.median() == pytest.approx(448, rel=0.05)
    assert jobs.run_time.median() == pytest.approx(448, rel=0.08)
    assert len(single) / bags.ngroups == pytest.approx(0.402, abs=0.01)


def test_bags_begin_as_often_as_their_gaps_say(jobs):
    """Slot weights of mean 1 keep the mean gap, 316 s."""
    starts = jobs.groupby("job_structure_params")["submit_time"].min().sort_values()
    mean = (2 ** stats.weibull_min(4.247, scale=7.859).rvs(1_000_000, random_state=1)).mean()

    assert mean == pytest.approx(316, abs=3)
    assert starts.diff().mean() == pytest.approx(mean, rel=0.03)


def test_all_of_a_bag_is_of_one_user_and_size(jobs):
    each = jobs.groupby("job_structure_params")[["user_id", "n_procs"]].nunique()

    assert (each == 1).all().all()
    counts = jobs.drop_duplicates("job_structure_params").user_id.value_counts(normalize=True)
    expected = stats.zipfian(1.31, 368).pmf(np.arange(1, 6))
    assert counts.sort_index().to_numpy()[:5] == pytest.approx(expected, abs=0.01)


@given(st.integers(1, 30), st.floats(1, 1e5), st.floats(0.001, 1.0), st.integers(0, 100))
def test_tasks_run_around_their_bag(size, centre, part, seed):
    """The geometric mean is the bag's, and for small variances the variance, too."""
    size_, centres, variance = np.array([size]), np.array([centre]), np.array([(centre * part) ** 2])
    found = draw_lognormal(np.random.default_rng(seed), centres, variance, size_)

    assert np.exp(np.log(found).mean()) == pytest.approx(centre, rel=1e-9)
    if size > 1 and part < 0.1:
        assert found.std() == pytest.approx(centre * part, rel=0.15)


def test_as_printed_tasks_are_normal_and_last_a_second():
    found = draw_truncated_normal(
        np.random.default_rng(1), np.full(2, 100.0), np.array([400.0, 1e6]), np.full(2, 100_000)
    )

    assert stats.kstest(found[:100_000], stats.truncnorm(-4.95, np.inf, 100, 20).cdf).statistic < 0.006
    assert stats.kstest(found[100_000:], stats.truncnorm(-0.099, np.inf, 100, 1000).cdf).statistic < 0.006


ASKED = np.array([0.1, 0.5, 0.9])


def quantiles(one):
    """Return what a quantity is at 10, 50 and 90 %, whatever its base and kind; at least a second."""
    return np.maximum(one.quantiles(ASKED), 1.0)


def test_the_bags_of_a_trace_are_those_it_records_or_those_of_the_thesis(make_store):
    jobs = made(AVERAGE, 4000)
    columns = {name: jobs[name].tolist() for name in ("submit_time", "run_time", "n_procs")}
    users = [f"U{user}" for user in jobs.user_id]
    bags = [f"B{bag}" for bag in jobs.job_structure_params]
    recorded = Users.fit(make_store(**columns, user_id=users, job_structure_params=bags))
    inferred = Users.fit(make_store(**columns, user_id=users, group_id=["g"] * len(users)))

    assert recorded.bag_size != inferred.bag_size
    assert inferred.task_gap.rvs(np.random.default_rng(1), 100).max() <= 120.5
    with pytest.raises(ModelError, match="no job records user_id, expected users or bags"):
        BagsModel.fit(make_store(**columns))


@given(st.floats(2, 5), st.floats(0.5, 1.5), st.integers(0, 50))
def test_rounding_is_undone(mu, sigma, seed):
    """Whole numbers of lognormal draws, cut off at both ends, give the normal of their logarithms back."""
    draws = np.random.default_rng(seed).lognormal(mu, sigma, 20_000)
    kept = np.rint(draws[(draws >= 1.5) & (draws <= 400.5)])
    found = fit_rounded(
        Sample.of(kept), "x", math.e, low=math.log(1.5), high=math.log(400.5), candidates=["normal"]
    ).distribution

    assert cast("Normal", found).mu == pytest.approx(mu, abs=0.1)
    assert cast("Normal", found).sigma == pytest.approx(sigma, abs=0.1)


@pytest.mark.parametrize("values", [np.repeat([1, 2, 118, 119, 120], 50), np.repeat([1, 2, 3], [900, 90, 9])])
def test_what_piles_up_at_an_end_still_has_a_distribution(values):
    """Cut off at both ends, a far tail would be most likely: nearly all of its draws would be repeated."""
    found = fit_rounded(Sample.of(values), "x", math.e, low=math.log(0.5), high=math.log(120.5))
    draws = found.rvs(np.random.default_rng(1), 1000)

    assert 0.5 <= draws.min() <= draws.max() <= 120.5


def test_powers_of_two_are_told_from_those_by_chance():
    one = replace(
        AVERAGE, size=Scaled(Weibull(2.0, 2.8), 2.0, math.log2(1.5)), sequential=0.0, powers_of_two=0.6
    )
    drawn = one.draw_processors(np.random.default_rng(1), 50_000)
    share, size = fit_sizes(Sample.of(drawn))

    assert np.log2(drawn[np.log2(drawn) % 1 == 0]).size / drawn.size > 0.65
    assert share == pytest.approx(0.6, abs=0.02)
    assert quantiles(size) == pytest.approx(quantiles(one.size), rel=0.05)


def test_a_system_of_few_processors_has_small_tasks():
    assert made(AVERAGE.limit_processors(6), 20_000).n_procs.max() <= 6
    assert made(AVERAGE.limit_processors(1), 1000).n_procs.max() == 1


def test_as_printed_differs_where_the_errata_say():
    assert (PRINTED.correlation, PRINTED.variability, PRINTED.singles) == (0.0, "normal-reject", 0.0)
    assert isinstance(PRINTED, TasksModel)
    with pytest.raises(ModelError, match="variability: is 'odd', expected one of lognormal, normal-reject"):
        Users.parsed(PRINTED.plain() | {"variability": "odd"})
