"""Lublin and Feitelson's model: against the authors' own workload, and against its formulae."""

import gzip
import math
from typing import cast

import numpy as np
import pytest
from scipy import stats

from gwa.errors import ModelError
from gwa.models.base import presets
from gwa.models.families.lublin import BINS, Lublin, RunTimes, Sizes, fit_by_em, size_probabilities
from tests.models.making import block as made

ALL, BOTH = (cast("Lublin", presets()[name].model) for name in ("lublin-all", "lublin"))


def test_sizes_are_drawn_as_their_probabilities_say():
    sizes = Sizes(0.3, 0.4, 0.8, 4.5, 7.0, 0.8)
    found, counts = np.unique(sizes.draw(np.random.default_rng(1), 400_000), return_counts=True)
    expected = size_probabilities(found[1:].astype(float), 7.0, 0.4 / 0.7, 0.8, 4.5, 0.8)

    assert counts[0] / 400_000 == pytest.approx(0.3, abs=0.003)
    assert expected.sum() == pytest.approx(1.0, abs=1e-9)
    assert counts[1:] / counts[1:].sum() == pytest.approx(expected, abs=0.003)


def test_run_times_are_a_mixture_of_two_of_scipys_gammas():
    one = ALL.types()["batch"].run_times
    found = np.log(one.draw(np.random.default_rng(1), np.full(50_000, 30)) + 0.5)
    share = one.intercept + 30 * one.slope
    first, second = (stats.gamma(a, scale=b) for a, b in ((one.shape1, one.scale1), (one.shape2, one.scale2)))

    def cdf(x):
        return share * first.cdf(x) + (1 - share) * second.cdf(x)

    # Run times are cut to whole seconds; from 20 s on that is no matter.
    long = found[found > 3]
    assert stats.kstest(long, lambda x: (cdf(x) - cdf(3)) / (cdf(12) - cdf(3))).statistic < 0.012


def test_large_jobs_run_longer():
    jobs = made(ALL, 20_000)

    assert stats.spearmanr(jobs["n_procs"], jobs["run_time"]).statistic > 0.05


def test_a_system_moves_the_sizes():
    small, large = (made(BOTH.limit_processors(cpus), 20_000)["n_procs"].max() for cpus in (32, 4096))

    assert (small, large) == (32, 4096)
    with pytest.raises(ModelError, match="cpus is 1, too few for the parallel jobs"):
        BOTH.limit_processors(1)


def test_interactive_jobs_are_in_queue_0():
    jobs = made(BOTH, 20_000)
    largest = [jobs["n_procs"][jobs["queue_id"] == queue].max() for queue in (0, 1)]

    assert largest == [45, 128]


def test_impossible_parameters_are_named():
    with pytest.raises(ModelError, match=r"powers_of_two is 0\.8"):
        Sizes(0.3, 0.8, 1.0, 2.0, 3.0, 0.5)
    with pytest.raises(ModelError, match="shape2 is 900"):
        RunTimes(1.0, 1.0, 900.0, 1.0, 0.0, 0.5)


def test_many_jobs_of_one_second_draw_no_gamma_into_a_point():
    """A quarter of all jobs runs for a second: a gamma of its own, as narrow as a bin is wide."""
    rng = np.random.default_rng(1)
    x = np.append(np.full(1000, math.log(1.5)), rng.gamma(9.0, 0.8, 3000))
    bins, counts = np.unique((np.floor(x * BINS) + 0.5) / BINS, return_counts=True)
    found = fit_by_em(bins, np.ones(bins.size), counts / counts.sum())

    assert found.shape2 * found.scale2 == pytest.approx(7.2, rel=0.03)
    assert found.shape1 * found.scale1 == pytest.approx(math.log(1.5), abs=1 / BINS)
    assert found.intercept == pytest.approx(0.25, abs=0.02)


@pytest.fixture
def original(logs):
    """The authors' workload for 256 processors: submit time, run time and processors."""
    path = logs / "swf" / "lublin_256.swf.gz"
    with gzip.open(path, "rt") as file:
        rows = [line.split()[1:5] for line in file if not line.startswith(";")]
    return np.array(rows, dtype=float)[:, [0, 2, 3]].T


@pytest.mark.logs
def test_marginals_are_those_of_the_original_program(original):
    """
    Sizes, run times and gaps of the same parameters agree: two samples of one distribution.

    The critical value of 10 000 jobs at 1 % is 0.016. Arrivals over the day are left out here: gaps are so
    heavy-tailed that a few weeks differ from each other by more, see the next test.
    """
    submitted, run_time, procs = original
    ours = made(ALL.limit_processors(256), 400_000, seed=11)

    assert stats.ks_2samp(ours["n_procs"], procs).statistic < 0.0163
    assert stats.ks_2samp(ours["run_time"], run_time).statistic < 0.0163
    assert stats.ks_2samp(np.diff(ours["submit_time"]), np.diff(submitted)).statistic < 0.0163


@pytest.mark.logs
@pytest.mark.slow
def test_the_days_of_the_original_program_are_among_ours(original):
    """At least one in a hundred workloads of ours is as far from the long run as that one is."""
    long = made(ALL, 400_000, seed=11)["submit_time"] % 86400

    def far(submitted):
        return stats.ks_2samp(long, submitted % 86400).statistic

    ours = [far(made(ALL, original[0].size, seed)["submit_time"]) for seed in range(200)]

    assert np.mean(np.array(ours) >= far(original[0])) >= 0.01
