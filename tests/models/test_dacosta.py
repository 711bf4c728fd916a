"""Da Costa's classes of tasks: against the generator that the paper prints, written with scipy."""

import random
from typing import cast

import numpy as np
import pytest
from scipy import stats

from gwa.errors import ModelError
from gwa.models.base import presets
from gwa.models.families.dacosta import DaCosta
from tests.models.making import frame as made

PRINTED, FITTED, FOUR = (
    cast("DaCosta", presets()[name].model) for name in ("dacosta", "dacosta-fitted", "dacosta-4")
)


def as_the_paper_says(n, *, frequencies, masses, disparities, rate):
    """Return n tasks: run time, class and priority, by the distributions of the paper's algorithm."""
    drawn = random.Random(1)
    kinds = np.array(drawn.choices(range(len(masses)), weights=frequencies, k=n))
    mass, disparity = np.array(masses)[kinds], np.array(disparities)[kinds]
    sigma = np.sqrt(2 * np.log(disparity))
    run_time = stats.lognorm.rvs(sigma, scale=mass / disparity, random_state=2)
    priority = stats.truncexpon.rvs(rate, scale=1 / rate, size=n, random_state=3)
    return run_time, kinds, priority


def test_run_times_and_classes_are_those_of_the_papers_generator():
    jobs = made(PRINTED, 60_000)
    run_time, kinds, priority = as_the_paper_says(
        60_000, frequencies=[0.7, 0.3], masses=[1700, 8000], disparities=[3.8, 24], rate=7.3
    )

    # The critical value at 1 % for two samples of 60 000 is 0.0094.
    theirs = np.clip(np.rint(run_time), 1, PRINTED.longest)
    assert stats.ks_2samp(jobs.run_time, theirs).statistic < 0.0094
    assert (jobs.executable_id == 1).mean() == pytest.approx((kinds == 0).mean(), abs=0.01)
    assert (jobs.status == 1).mean() == pytest.approx(0.7, abs=0.01)
    shares = np.bincount(np.minimum((priority * 4).astype(int), 3), minlength=4) / 60_000
    assert jobs.queue_id.value_counts(normalize=True).sort_index().to_numpy() == pytest.approx(
        shares, abs=0.01
    )


def test_scheduling_classes_have_the_shares_of_table_3():
    """83.9, 13.7, 2.2 and 0.2 %: four quarters of an exponential of 7.3."""
    found = made(PRINTED, 100_000).queue_id.value_counts(normalize=True).sort_index().to_numpy()

    assert found == pytest.approx([0.839, 0.137, 0.022, 0.002], abs=0.004)


def test_masses_and_disparities_are_means_over_medians():
    for one in FOUR.classes:
        own = stats.lognorm(one.log_sigma, scale=np.exp(one.log_mean))
        assert own.mean() == pytest.approx(one.mass)
        assert own.mean() / own.median() == pytest.approx(one.disparity)


def test_the_fitted_preset_has_the_lognormals_of_section_4():
    said = [(one.log_mean, one.log_sigma) for one in FITTED.classes]

    assert said == [pytest.approx((6.25, 1.42), abs=0.001), pytest.approx((6.14, 2.06), abs=0.001)]


def test_clusters_of_run_times_describe_them(make_store):
    """Classes that are far apart come back, although k-means cuts where they would overlap."""
    rng = np.random.default_rng(1)
    run_time = np.rint(np.concatenate([rng.lognormal(3.0, 0.3, 6000), rng.lognormal(9.0, 0.5, 2000)]))
    times = np.cumsum(rng.integers(0, 20, 8000)).astype(float)
    found = DaCosta.fit(
        make_store(submit_time=times.tolist(), run_time=run_time.tolist(), n_procs=[1] * 8000)
    )

    assert [one.frequency for one in found.classes] == pytest.approx([0.75, 0.25], abs=0.001)
    assert [one.log_mean for one in found.classes] == pytest.approx([3.0, 9.0], abs=0.03)
    assert stats.ks_2samp(made(found, 20_000).run_time, run_time).statistic < 0.03


@pytest.mark.parametrize(
    ("frequency", "disparity", "said"),
    [
        (0.9, 3.8, "classes have frequencies that add up to 1.2"),
        (0.7, 0.5, r"classes\[0\]\.disparity is 0\.5"),
    ],
)
def test_impossible_classes_are_named(frequency, disparity, said):
    changed = PRINTED.plain()
    changed["classes"][0] |= {"frequency": frequency, "disparity": disparity}

    with pytest.raises(ModelError, match=said):
        DaCosta.parsed(changed)
