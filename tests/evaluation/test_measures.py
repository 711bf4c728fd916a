"""What the measures of realism give, against what pandas and SciPy give for the same jobs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gwa.evaluation.job_arrays import JobArrays, bootstrap, split_halves
from gwa.evaluation.measure import DIFFERENCE, KS, RATIO, WASSERSTEIN, measure_all, measures
from gwa.evaluation.scorecard import Reference
from gwa.statistics.sample import Sample

WEEK = 604_800.0


def jobs(size=3000, seed=1, weeks=5.0, users=7):
    """Return a workload with some of everything."""
    rng = np.random.default_rng(seed)
    procs = 2 ** rng.integers(0, 5, size)
    run = np.rint(rng.lognormal(4, 1.5, size) * np.sqrt(procs))
    submit = np.sort(
        np.floor(rng.random(size) ** 1.2 * weeks * WEEK / 600) * 600 + rng.integers(0, 300, size)
    )
    return JobArrays(submit, run, procs, run * 2 + 60, np.sort(rng.zipf(1.6, size) % users), 64)


def statistic(name, workload):
    return next(one for one in measures() if one.id == name).statistic(workload)


@pytest.fixture
def frame():
    """Return the same jobs as a table, bags numbered job by job."""
    work = jobs()
    table = pd.DataFrame(
        {"submit": work.submit, "run": work.run, "procs": work.procs, "user": work.user}
    ).sort_values(["user", "submit"], kind="stable")
    far = table.groupby("user").submit.diff().fillna(np.inf) >= 120
    return table.assign(bag=far.cumsum(), log=np.log1p(table.run))


@given(st.lists(st.integers(0, 20), min_size=3), st.lists(st.integers(0, 20), min_size=3))
def test_distances_of_samples_are_those_of_scipy(one, other):
    pair = Sample.of(one), Sample.of(other)

    assert KS(*pair) == pytest.approx(stats.ks_2samp(one, other, method="asymp").statistic)
    expected = stats.wasserstein_distance(np.log1p(one), np.log1p(other))
    assert WASSERSTEIN(*pair) == pytest.approx(expected, abs=1e-12)
    assert KS(*pair) == KS(*pair[::-1])


def test_distances_of_numbers():
    assert DIFFERENCE(0.25, 0.75) == 0.5
    assert RATIO(10.0, 20.0) == RATIO(20.0, 10.0) == pytest.approx(np.log(2))
    assert RATIO(0.0, 0.0) == 0.0
    assert RATIO(0.0, 1.0) == np.inf


def test_correlations_and_area_are_those_of_scipy():
    work = jobs()

    assert statistic("pearson", work) == pytest.approx(stats.pearsonr(work.run, work.procs).statistic)
    assert statistic("spearman", work) == pytest.approx(stats.spearmanr(work.run, work.procs).statistic)
    assert statistic("squashed-area", work) == pytest.approx(np.mean(work.run * work.procs))


def test_bags_are_those_of_a_group_by(frame):
    work = jobs()
    sizes = frame.groupby("bag").size()
    several = frame[frame.bag.map(sizes) >= 2]
    means = several.groupby("bag").log.transform("mean")

    assert statistic("bag-size", work).expand().tolist() == sorted(sizes)
    assert statistic("bag-share", work) == len(several) / len(frame)
    assert statistic("bag-uniformity", work) == (several.groupby("bag").procs.std(ddof=0) == 0).mean()
    expected = means.var(ddof=0) / several.log.var(ddof=0)
    assert statistic("bag-likeness", work) == pytest.approx(expected)


def test_bags_are_those_of_the_engine(make_store):
    from gwa.metrics.bags import TEXT, bags

    work = jobs(400, weeks=0.2)
    store = make_store(
        submit_time=work.submit.tolist(), run_time=work.run.tolist(), n_procs=work.procs.tolist(),
        user_id=[f"u{one}" for one in work.user],
    )  # fmt: skip

    expected = store.sample("size", bags(store, TEXT))
    assert statistic("bag-size", work).expand().tolist() == expected.expand().tolist()


def test_repetitions_are_the_mean_of_runs():
    work = replace(jobs(6), procs=np.array([1, 1, 1, 2, 1, 1]), run=np.array([5.0, 5.2, 7, 7, 7, 5]))

    assert statistic("size-repetitions", work) == 2.0
    assert statistic("run-time-repetitions", work) == 2.0


def test_entropies_and_autocorrelation_are_their_formulae(frame):
    work = jobs()
    last = int((work.submit[-1] - work.submit[0]) // 3600)
    hours, _ = np.histogram(work.submit, work.submit[0] + 3600 * np.arange(last + 2))
    work_of_size = frame.groupby("procs").run.sum().to_numpy()
    for name, amounts, places in (
        ("hourly-entropy", hours, hours.size),
        ("spatial-entropy", work_of_size, frame.procs.max()),
    ):
        share = amounts[amounts > 0] / amounts.sum()
        assert statistic(name, work) == pytest.approx(-(share * np.log(share)).sum() / np.log(places))
    x = hours[:-1] - hours[:-1].mean()
    for name, lag in (("after-an-hour", 1), ("after-a-day", 24), ("after-a-week", 168)):
        assert statistic(name, work) == pytest.approx((x[lag:] @ x[:-lag]) / (x @ x))


def test_inequality_is_the_mean_difference(frame):
    for name, amounts in (
        ("user-skew", frame.groupby("user").size()),
        ("user-work-skew", (frame.run * frame.procs).groupby(frame.user).sum()),
    ):
        x = amounts.to_numpy(np.float64)
        expected = np.abs(np.subtract.outer(x, x)).mean() / (2 * x.mean())
        assert statistic(name, jobs()) == pytest.approx(expected)


@pytest.mark.parametrize("size", [0, 1, 2])
def test_few_jobs_have_few_statistics_and_no_error(size):
    found = measure_all(jobs(size))

    assert set(found) == {one.id for one in measures()}
    assert found["hurst"] is None


def test_nothing_is_said_of_what_is_not_recorded():
    bare = replace(jobs(), user=np.full(3000, -1), requested=np.full(3000, np.nan))
    lacking = {name for name, value in measure_all(bare).items() if value is None}

    assert lacking == {
        "requested", "requested-quantiles", "bag-share", "bag-size", "bag-likeness", "bag-uniformity",
        "user-skew", "user-work-skew", "request-use", "next-size", "next-run-time",
    }  # fmt: skip


@pytest.mark.parametrize("block", [1, 2])
def test_halves_have_every_job_once_at_its_hour_of_the_week(block):
    work = jobs(weeks=9)
    pair = split_halves(work, block)
    assert pair

    assert sum(map(len, pair)) == len(work)
    assert sorted(np.concatenate([half.run for half in pair])) == sorted(work.run)
    weekly = sorted(np.concatenate([half.submit for half in pair]) % WEEK)
    assert weekly == sorted(work.submit % WEEK)
    for half in pair:
        assert (np.diff(half.submit) >= 0).all()
        assert np.ptp(half.submit) <= 6 * WEEK


def test_short_workloads_have_halves_of_days_or_none():
    assert split_halves(jobs(weeks=0.8))
    assert split_halves(jobs(weeks=0.0001)) is None
    assert split_halves(jobs(0)) is None


def test_a_bootstrap_keeps_quantities_and_no_order():
    work = jobs()
    drawn = bootstrap(work, np.random.default_rng(3))

    assert len(drawn) == len(work)
    assert drawn.submit[0] == work.submit[0]
    assert set(drawn.run) <= set(work.run)
    assert set(np.diff(drawn.submit)) <= set(np.diff(work.submit))
    again = bootstrap(work, np.random.default_rng(3))
    assert np.array_equal(drawn.run, again.run)


def test_every_measure_says_what_it_is():
    ids = [one.id for one in measures()]

    assert len(set(ids)) == len(ids)
    assert all(one.help.endswith(".") and one.title for one in measures())


def test_the_next_job_of_a_user_is_that_of_a_group_by(frame):
    work = jobs()
    table = frame.sort_index()
    before = table.groupby("user")[["procs", "run"]].shift()
    pairs = table.assign(procs_before=before.procs, run_before=before.run).dropna()

    assert len(pairs) == len(work) - len(set(work.user.tolist()))
    assert statistic("next-size", work) == (pairs.procs == pairs.procs_before).mean()
    expected = stats.spearmanr(pairs.run, pairs.run_before).statistic
    assert statistic("next-run-time", work) == pytest.approx(expected)


def test_jobs_of_unknown_users_and_few_jobs_have_no_next_one():
    unknown, few = replace(jobs(), user=np.full(3000, -1)), jobs(20)

    for name in ("next-size", "next-run-time"):
        assert statistic(name, unknown) is None
        assert statistic(name, few) is None


def test_the_use_of_requests_is_a_quotient_where_a_time_was_requested():
    run, requested = np.array([10.0, 0.0, 90.0, 5.0]), np.array([40.0, 60.0, 60.0, np.nan])
    work = replace(jobs(4), run=run, requested=requested)

    assert statistic("request-use", work).expand().tolist() == [0.0, 0.25, 1.5]
    assert measure_all(replace(work, requested=np.full(4, -1.0)))["request-use"] is None


def habits(seed, size=6000, users=12):
    """Return jobs whose users repeat themselves, and use a share of what they request that is their own."""
    rng = np.random.default_rng(seed)
    user = rng.integers(0, users, size)
    usual, share = rng.lognormal(6, 1.5, users), rng.uniform(0.05, 0.9, users)
    run = np.rint(usual[user] * rng.lognormal(0, 0.3, size)) + 1
    own, others = 2 ** rng.integers(0, 6, users), 2 ** rng.integers(0, 6, size)
    procs = np.where(rng.random(size) < 0.8, own[user], others)
    submit = np.sort(rng.uniform(0, 8 * WEEK, size))
    return JobArrays(submit, run, procs, np.rint(run / share[user]) + 1, user, 64)


def test_a_workload_without_habits_is_told_from_one_with_them():
    """Each field has the same values; only which belong together, and to whom, differs."""
    rng = np.random.default_rng(3)
    real = habits(1)
    reference = Reference.of(real)
    repeated = reference.score(habits(1))
    mixed_users = reference.score(replace(real, user=rng.permutation(real.user)))
    mixed_requests = reference.score(replace(real, requested=rng.permutation(real.requested)))

    def verdict(card, name):
        return next(line.verdict for line in card.lines if line.measure.id == name)

    for name in ("next-size", "next-run-time", "request-use"):
        assert verdict(repeated, name) == "equal"
    assert verdict(mixed_users, "next-size") == verdict(mixed_users, "next-run-time") == "off"
    assert verdict(mixed_users, "request-use") == "equal"
    assert verdict(mixed_requests, "request-use") == "off"
    assert verdict(mixed_requests, "requested") == "equal"
    assert verdict(mixed_requests, "next-run-time") == "equal"
