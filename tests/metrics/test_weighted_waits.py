"""Waits by core-hour, against a slow computation over all jobs."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.metrics.weighted_waits import weighted_waits
from gwa.store.store import Store
from tests.analysis.sections.blocks import START
from tests.conftest import examples

job = st.tuples(
    st.none() | st.sampled_from([0, 1, 60, 61, 3600]) | st.integers(0, 10**6),
    st.none() | st.integers(0, 10**5),
    st.none() | st.integers(0, 4096),
    st.none() | st.sampled_from(["a", "b", "c"]),
)


def least(weights, share):
    """Return the least value x for which the weights of values of x or less are a share of the total."""
    total = sum(weights.values())
    cumulated = Fraction(0)
    for value in sorted(weights):
        cumulated += weights[value]
        if cumulated >= share * total:
            return value
    return None


def stored(jobs):
    store = Store.create()
    store.begin(["job_id", "submit_time", "wait_time", "run_time", "n_procs", "user_id"])
    rows = [
        (n, START, *(None if value is None else float(value) for value in (wait, run)), procs, user)
        for n, (wait, run, procs, user) in enumerate(jobs)
    ]
    store.insert("recorded", rows)
    return store


@examples(30)
@given(st.lists(job, min_size=1, max_size=40))
def test_quantiles_are_the_least_waits_with_a_share_of_the_core_hours(jobs):
    ran = [one for one in jobs if one[1] is not None and one[2]]
    known = [one for one in ran if one[0] is not None]
    hours: dict[int, Fraction] = {}
    counts: dict[int, Fraction] = {}
    for wait, run, procs, _ in known:
        hours[wait] = hours.get(wait, Fraction(0)) + run * procs
        counts[wait] = counts.get(wait, Fraction(0)) + 1
    total = sum(run * procs for _, run, procs, _ in ran)
    with stored(jobs) as store:
        waits = weighted_waits(store)
    if sum(hours.values()):
        assert waits.median == least(hours, Fraction(1, 2))
        assert waits.p95 == least(hours, Fraction(95, 100))
        assert waits.known_share == pytest.approx(float(sum(hours.values())) / total, rel=1e-12)
        squares = sum((run * procs) ** 2 for _, run, procs, _ in known)
        assert waits.effective_jobs == pytest.approx(float(sum(hours.values())) ** 2 / squares, rel=1e-6)
    else:
        assert waits.median is None
    assert waits.jobs_median == least(counts, Fraction(1, 2))
    assert waits.jobs_p95 == least(counts, Fraction(95, 100))


def many_users(rng, users=40, jobs=4000):
    user = rng.integers(0, users, jobs)
    level = rng.lognormal(np.log(3000), 1, users)[user]
    return [
        (int(wait), int(run), int(procs), f"U{one}")
        for wait, run, procs, one in zip(
            rng.exponential(level), rng.integers(1, 9000, jobs), rng.integers(1, 64, jobs), user, strict=True
        )
    ]


def test_the_range_over_users_is_that_of_drawing_users_with_all_their_jobs():
    rng = np.random.default_rng(5)
    jobs = many_users(rng)
    with stored(jobs) as store:
        waits = weighted_waits(store)
        assert weighted_waits(store) == waits
    by_user: dict[str, list[tuple[int, int]]] = {}
    for wait, run, procs, user in jobs:
        by_user.setdefault(user, []).append((wait, run * procs))
    medians = []
    for _ in range(300):
        drawn = [one for user in rng.choice(sorted(by_user), len(by_user)) for one in by_user[str(user)]]
        values, weights = np.array(sorted(drawn)).T
        medians.append(values[np.searchsorted(np.cumsum(weights), weights.sum() / 2)])
    assert waits.holder is None
    assert waits.ranges is not None
    assert waits.median is not None
    (low, high), _ = waits.ranges
    assert [low, high] == pytest.approx(np.quantile(medians, [0.05, 0.95]), rel=0.12)
    assert low < waits.median < high


@examples(30)
@given(st.lists(st.integers(0, 500) | st.sampled_from([1000, 1001, 1020]), min_size=5, max_size=19))
def test_of_users_who_are_all_alike_the_range_is_the_class_in_which_the_quantile_lies(waits):
    """Whoever is drawn, the quantile is the same; its class is 1/16 wide by the logarithm of 1 + wait."""
    waits = sorted(waits)[: len(waits) - 1 + len(waits) % 2]  # an odd number: no share is met exactly
    with stored([(wait, 600, 4, f"U{user}") for user in range(30) for wait in waits]) as store:
        found = weighted_waits(store)
    classes = np.floor(np.log(np.array(waits) + 1.0) * 16)
    expected = []
    for share in (0.5, 0.95):
        alike = np.array(waits)[classes == classes[int(share * len(waits))]]
        expected.append((alike.min(), alike.max()))
    assert found.ranges == tuple(expected)


@pytest.mark.parametrize(
    ("large", "kind"),
    [
        ((9000, 10**9, 1, "U1"), "user"),
        ((9000, 3 * 10**7, 2, "other"), "job"),
    ],
)
def test_what_a_quantile_hangs_on_is_named_in_place_of_a_range(large, kind):
    with stored([*many_users(np.random.default_rng(6)), large]) as store:
        waits = weighted_waits(store)
    assert waits.ranges is None
    assert waits.holder is not None
    assert waits.holder.kind == kind


def test_few_jobs_have_no_range():
    with stored([(60 * n, 600, 1, f"U{n}") for n in range(25)]) as store:
        waits = weighted_waits(store)
    assert waits.effective_jobs == pytest.approx(25)
    assert waits.ranges is None
    assert waits.holder is not None
    assert waits.holder.kind == "few"


def test_jobs_that_had_not_ended_count_until_the_log_did(make_store):
    store = make_store(
        submit_time=[START, START, START + 1000],
        wait_time=[10.0, 500.0, 0.0],
        run_time=[100.0, None, 0.0],
        n_procs=[1, 1, 1],
        status=[1, None, 1],
    )
    assert weighted_waits(store).median == 500  # it has run for 500 s when the log ends
