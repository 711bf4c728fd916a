"""The thesis' explicit users: each part of a trace is modelled by itself, and all are put together again."""

from dataclasses import replace
from typing import cast

import numpy as np
import pytest

from gwa.errors import ModelError
from gwa.models.base import presets
from gwa.models.families.explicit import Explicit
from gwa.models.families.thesis import BagsModel
from gwa.models.generate import GenerationRequest, generate_store
from gwa.models.streams import Extent
from gwa.models.work import Submitted

PRESET = cast("Explicit", presets()["thesis-explicit-lcg"].model)


@pytest.fixture(scope="module")
def store():
    with generate_store(GenerationRequest(PRESET, Extent(jobs=6000), 3)) as made:
        yield made


def test_each_user_has_bags_of_its_own(store):
    several = store.row(
        "select count(*) from (select job_structure_params from jobs group by job_structure_params"
        " having count(distinct user_id) > 1)"
    )[0]
    assert several == 0
    assert store.row("select count(distinct user_id) from jobs")[0] > len(PRESET.dominant) + 10


def test_jobs_of_a_dominant_user_are_those_of_its_model_alone(store):
    """The share and the run times of the first user are what its own model makes in the same time."""
    days = store.row("select max(submit_time) / 86400 from jobs")[0]
    times = np.sort(store.frame("select run_time from jobs where user_id = 'U1'").run_time)
    with generate_store(GenerationRequest(PRESET.dominant[0], Extent(days=float(days)), 4)) as alone:
        own = np.sort(alone.frame("select run_time from jobs").run_time)
    assert times.size == pytest.approx(own.size, rel=0.35)
    assert np.median(np.log(times)) == pytest.approx(np.median(np.log(own)), abs=0.35)


def test_a_fit_is_that_of_the_parts(store):
    found = Explicit.fit(store)
    first = store.row("select user_id from jobs group by user_id order by count(*) desc, user_id limit 1")[0]
    with store.filtered(f"user_id = '{first}'") as part:
        alone = BagsModel.fit(part)
        active = Submitted.of(part).seconds
    assert alone.correlation == pytest.approx(found.dominant[0].correlation)
    paced = alone.scale_gaps(Submitted.of(store).seconds / active)
    assert paced.arrivals.mean_gap() == pytest.approx(found.dominant[0].arrivals.mean_gap())
    same = {name: getattr(found.dominant[0], name) for name in ("correlation", "arrivals")}
    assert replace(alone, **same) == found.dominant[0]
    assert store.row("select count(*) from jobs")[0] == 6000


def test_without_dominant_users_there_is_no_model():
    with pytest.raises(ModelError, match="dominant is empty"):
        Explicit(dominant=(), background=PRESET.background)


def test_no_bag_is_larger_than_any_that_was_seen(make_store):
    """Bags of two tasks and one of two hundred leave a fitted tail without an end."""
    rng = np.random.default_rng(1)
    sizes = np.array([2] * 60 + [3] * 5 + [200])
    begins = np.repeat(np.arange(sizes.size) * 9000.0, sizes)
    submit = begins + np.concatenate([np.cumsum(rng.integers(1, 9, size)) for size in sizes])
    run = np.rint(rng.lognormal(5, 2, submit.size)) + 1
    n_procs = rng.choice([1, 2, 4], submit.size)
    found = BagsModel.fit(
        make_store(submit_time=submit.tolist(), run_time=run.tolist(), n_procs=n_procs.tolist(),
                   user_id=["u"] * submit.size, group_id=["g"] * submit.size)
    )  # fmt: skip

    assert np.rint(found.bag_size.rvs(np.random.default_rng(2), 100_000)).max() <= 200
