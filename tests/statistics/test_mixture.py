"""Weighted EM on value counts chooses what scikit-learn chooses on all the data."""

import numpy as np
import pytest

from gwa.statistics.distribution import FitError
from gwa.statistics.lognormal_mixture import LognormalMixture
from gwa.statistics.mixture import GaussianMixture, of_seconds, select
from gwa.statistics.sample import Sample

TWO = GaussianMixture((0.6, 0.4), (0.0, 5.0), (1.0, 0.8))
THREE = GaussianMixture((0.5, 0.3, 0.2), (0.0, 4.0, 9.0), (1.0, 0.7, 1.5))
SIX = GaussianMixture((0.25, 0.2, 0.2, 0.15, 0.1, 0.1), (1, 3, 5, 6.5, 8, 10), (0.4, 0.5, 0.4, 0.5, 0.3, 0.6))


@pytest.mark.parametrize("true", [GaussianMixture((1.0,), (3.0,), (2.0,)), TWO, THREE, SIX])
def test_finds_the_number_of_components(true):
    data = true.rvs(np.random.default_rng(0), 10_000)
    found = select(Sample.of(data), range(1, 9))
    assert len(found.best.weights) == len(true.weights)
    np.testing.assert_allclose(found.best.means, true.means, atol=0.15)
    np.testing.assert_allclose(found.best.weights, true.weights, atol=0.03)


@pytest.mark.parametrize(("true", "seed"), [(TWO, 1), (THREE, 2), (SIX, 3)])
def test_agrees_with_scikit_learn(true, seed):
    sklearn = pytest.importorskip("sklearn.mixture", reason="scikit-learn is the reference")
    data = true.rvs(np.random.default_rng(seed), 6000)
    found = select(Sample.of(data), range(1, 8))
    theirs = []
    for k in range(1, 8):
        model = sklearn.GaussianMixture(k, random_state=0, n_init=2, max_iter=500, tol=1e-5).fit(
            data[:, None]
        )
        theirs.append(model.bic(data[:, None]))
    assert np.argmin(found.bics) == np.argmin(theirs)
    assert min(found.bics) == pytest.approx(min(theirs), rel=1e-4)
    # Never much worse for any number of components, often better: several deterministic starts.
    assert np.all(np.asarray(found.bics) <= np.asarray(theirs) * 1.002)


def test_more_observations_of_the_same_values_lead_to_the_same_components():
    sample = Sample.of(np.rint(1000 * SIX.rvs(np.random.default_rng(4), 20_000)))
    small = select(sample, range(1, 5))
    large = select(Sample(sample.values, sample.counts * 1000), range(1, 5))
    np.testing.assert_allclose(small.best.means, large.best.means, rtol=0.05)


def test_binned_bic_is_close_to_the_exact_one():
    sample = Sample.of(THREE.rvs(np.random.default_rng(5), 30_000))
    found = select(sample, range(2, 5))
    assert min(found.bics) == pytest.approx(found.best.bic(sample), rel=1e-4)


def test_is_deterministic_and_indifferent_to_scale():
    data = THREE.rvs(np.random.default_rng(6), 3000)
    one, two = select(Sample.of(data), range(1, 6)), select(Sample.of(data), range(1, 6))
    assert one == two
    scaled = select(Sample.of(data * 3600 + 1e6), range(1, 6))
    np.testing.assert_allclose(scaled.best.weights, one.best.weights, rtol=1e-3)
    np.testing.assert_allclose(np.array(scaled.best.sigmas) / 3600, one.best.sigmas, rtol=1e-2)


def test_no_component_sits_on_an_atom():
    rng = np.random.default_rng(7)
    data = np.concatenate((rng.normal(5, 1, 5000), np.full(400, 7.0)))
    assert min(select(Sample.of(data), range(1, 6)).best.sigmas) >= 0.03 * data.std()


def test_an_atom_of_whole_numbers_is_as_wide_as_rounding_and_scikit_learn_agrees():
    sklearn = pytest.importorskip("sklearn.mixture", reason="scikit-learn is the reference")
    rng = np.random.default_rng(8)
    data = np.rint(np.concatenate((np.zeros(800), rng.normal(150, 15, 3000), rng.normal(300, 20, 4000))))
    found = select(Sample.of(data), range(1, 6), floor=0.0, width=np.ones_like)
    theirs = []
    for k in range(1, 6):
        model = sklearn.GaussianMixture(k, random_state=0, n_init=5, max_iter=500, tol=1e-6, reg_covar=1 / 12)
        theirs.append(model.fit(data[:, None]).bic(data[:, None]))

    assert len(found.best.weights) == 1 + int(np.argmin(theirs)) == 3
    assert found.best.sigmas[0] == pytest.approx(np.sqrt(1 / 12), rel=1e-9)
    np.testing.assert_allclose(found.bics[:3], theirs[:3], rtol=1e-4)


def test_short_jobs_are_told_apart_by_rounding_only():
    """Of ln(1 + x), a second is wide where jobs are short: nobody is a component for 0, 1 and 2 seconds."""
    rng = np.random.default_rng(9)
    data = np.rint(np.concatenate((rng.exponential(1.0, 4000), rng.lognormal(7, 1, 4000))))
    found = of_seconds(Sample.of(data), range(1, 9)).best
    widths = np.exp(-np.array(found.means))

    assert np.all(np.array(found.sigmas) >= widths / np.sqrt(12) * (1 - 1e-9))
    assert len(found.weights) <= 4
    assert len(set(zip(np.round(found.means, 3), np.round(found.sigmas, 3), strict=True))) == len(
        found.weights
    )
    raw = of_seconds(Sample.of(data), range(1, 9), logarithm=False).best
    assert min(raw.sigmas) >= np.sqrt(1 / 12)


def test_labels_go_by_increasing_mean():
    assert THREE.labels(np.array([-1.0, 4.2, 20.0])).tolist() == [0, 1, 2]
    assert THREE.labels(np.array([[0.0], [9.0]])).shape == (2, 1)


def test_few_values_make_few_components():
    found = select(Sample.of([1, 1, 2, 5]))
    assert len(found.every) == 3
    with pytest.raises(FitError, match="two different"):
        select(Sample.of([3, 3]))


def test_selected_lognormal_mixture_is_nearer_than_one_lognormal():
    true = LognormalMixture((0.3, 0.5, 0.2), (1, 5, 9), (0.5, 0.6, 0.7))
    found = LognormalMixture.selected(Sample.of(true.rvs(np.random.default_rng(8), 8000)), max_components=6)
    assert len(found.weights) == 3
    assert found.values()["mu2"] == pytest.approx(5, abs=0.1)
