"""The model of this project: its parts against what is known of them, and its parameters found again."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gwa.errors import ModelError
from gwa.models.base import presets
from gwa.models.families.gwa import Gwa
from gwa.models.families.gwa.hierarchy import UserScores
from gwa.models.families.gwa.sessions import Sessions
from gwa.models.families.gwa.similarity import Likeness, Repetition, normal_scores
from gwa.models.generate import GenerationRequest, generate_store
from gwa.models.knots import Knots
from gwa.models.streams import Extent
from gwa.statistics.sample import Sample

PRESET: Any = presets()["gwa-kth-sp2"].model


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=300))
@settings(deadline=None)
def test_knots_go_through_any_sample(values):
    sample = Sample.of(values)
    knots = Knots.fit(sample)
    drawn = knots.quantiles(np.linspace(0, 1, 200))

    assert (drawn.min(), drawn.max()) == (sample.min(), sample.max())
    assert (np.diff(drawn) >= 0).all()
    assert len(knots.values) <= 32


@pytest.mark.parametrize("values", [stats.lognorm(2.0, scale=300), stats.geom(0.4), stats.pareto(1.5)])
def test_few_knots_describe_a_distribution(values):
    real = np.rint(values.rvs(20_000, random_state=1))
    knots = Knots.fit(Sample.of(real))
    drawn = knots.quantiles(np.random.default_rng(2).random(20_000))

    assert stats.ks_2samp(real, drawn).statistic < 0.03
    assert drawn.mean() == pytest.approx(real.mean(), rel=0.1)
    assert len(knots.values) <= 32


@pytest.mark.parametrize(
    ("values", "shares"), [((), ()), ((1.0,), (0.0, 1.0)), ((2.0, 1.0), (0.0, 1.0)), ((1.0, 2.0), (0.0, 0.9))]
)
def test_knots_that_are_no_distribution_are_refused(values, shares):
    with pytest.raises(ModelError):
        Knots(values, shares)


def test_likeness_finds_the_parts_of_the_variance():
    rng = np.random.default_rng(1)
    user, session = np.repeat(np.arange(1500), 24), np.repeat(np.arange(6000), 6)
    bag = np.repeat(np.arange(18_000), 2)
    scores = sum(
        np.sqrt(part) * rng.standard_normal(group.max() + 1)[group]
        for part, group in ((0.4, user), (0.3, session), (0.2, bag), (0.1, np.arange(36_000)))
    )
    found = Likeness.fit(normal_scores(scores), user, session, bag)

    assert (found.user, found.session, found.bag) == pytest.approx((0.4, 0.3, 0.2), abs=0.04)
    drawn = found.draw(
        rng, 36_000, *((rng.standard_normal(group.max() + 1), group) for group in (user, session, bag))
    )
    assert (drawn.mean(), drawn.std()) == pytest.approx((0.0, 1.0), abs=0.05)
    again = Likeness.fit(drawn, user, session, bag)
    assert again.session == pytest.approx(found.session, abs=0.05)
    with pytest.raises(ModelError, match="more than 1"):
        Likeness(0.5, 0.5, 0.5)


def test_scores_of_users_are_standard_normal_over_sessions():
    share = 1 / np.arange(1, 201)
    share /= share.sum()
    scores = UserScores.draw(np.random.default_rng(1), share, 5).scores

    assert scores @ share == pytest.approx(np.zeros(5), abs=0.05)
    assert (scores**2) @ share == pytest.approx(np.ones(5), abs=0.15)


def test_repetition_is_as_counted_by_hand():
    session, bag = np.array([0, 0, 0, 0, 0, 0, 1, 1]), np.array([0, 0, 1, 2, 2, 2, 3, 3])
    procs = np.array([1, 1, 1, 5, 5, 2, 2, 3])
    run = np.expm1([1.0, 3.0, 9.0, 2.0, 2.0, 2.0, 4.0, 4.0])
    found = Repetition.of(session, bag, procs, run)

    # Bags 0, 2 and 3 have several jobs; 5 5 2 and 2 3 are mixed; 1 to 1 and 1 to 5 lie between bags.
    assert (found.uniform, found.keeps, found.stays) == pytest.approx((1 / 3, 1 / 3, 1 / 2))
    assert found.spread == pytest.approx(2 / 7)
    alone = Repetition.of(np.arange(3), np.arange(3), np.ones(3, np.int64), np.ones(3))
    assert vars(alone) == {"uniform": 1.0, "keeps": 0.0, "stays": 0.0, "spread": 0.0}


def test_sessions_are_what_a_user_submits_without_a_break():
    with generate_store(GenerationRequest(PRESET, Extent(jobs=20_000), 5)) as store:
        found = Sessions.of(store)
    new = np.diff(found.session, prepend=-1) > 0

    assert np.isnan(found.gap[new]).all()
    assert (found.gap[~new] < 3600).all()
    inside = np.diff(found.bag, prepend=-1) == 0
    assert (found.gap[inside] < 120).all()
    assert (found.gap[~inside & ~new] >= 120).all()
    assert (np.diff(found.user)[np.diff(found.session) == 0] == 0).all()


def test_a_trace_without_users_and_requests_is_fitted(make_store):
    rng = np.random.default_rng(1)
    store = make_store(
        submit_time=np.cumsum(rng.exponential(300.0, 800)).round().tolist(),
        run_time=rng.lognormal(5, 1, 800).round().tolist(), n_procs=rng.integers(1, 9, 800).tolist(),
    )  # fmt: skip
    found = Gwa.fit(store)
    blocks = list(GenerationRequest(found, Extent(jobs=300), 1).blocks())

    assert found.users == 0
    assert sum(block["run_time"].size for block in blocks) == 300
    assert not any({"user_id", "req_time"} & block.keys() for block in blocks)


def test_a_smaller_system_gets_smaller_jobs():
    blocks = list(GenerationRequest(PRESET.limit_processors(8), Extent(jobs=2000), 1).blocks())

    assert max(block["n_procs"].max() for block in blocks) == 8


def test_requests_are_those_of_jobs_that_run_as_long(make_store):
    """The shortest jobs ask for more than others do, which no correlation of requests and run times says."""
    rng = np.random.default_rng(6)
    run = np.floor(rng.lognormal(6, 2, 6000))
    requested = np.where(run < 60, 7200.0, np.where(run < 600, 900.0, 2 * run))
    store = make_store(
        submit_time=np.cumsum(rng.exponential(600.0, 6000)).round().tolist(),
        run_time=run.tolist(),
        n_procs=rng.integers(1, 9, 6000).astype(float).tolist(),
        req_time=requested.tolist(),
        user_id=[f"u{user}" for user in rng.integers(0, 30, 6000)],
    )
    blocks = list(GenerationRequest(Gwa.fit(store), Extent(jobs=6000), 1).blocks())
    made, asked = (np.concatenate([block[name] for block in blocks]) for name in ("run_time", "req_time"))

    for low, high in ((0.0, 0.1), (0.3, 0.4), (0.9, 1.0)):
        inside, of_log = (
            (times >= np.quantile(times, low)) & (times <= np.quantile(times, high)) for times in (made, run)
        )
        assert np.median(asked[inside]) == pytest.approx(np.median(requested[of_log]), rel=0.2)
