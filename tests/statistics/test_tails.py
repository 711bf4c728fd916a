"""Heavy tails above a threshold."""

import numpy as np
import pytest
from scipy import stats

from gwa.statistics.distribution import FitError
from gwa.statistics.pareto import GeneralizedPareto, Pareto, tail
from gwa.statistics.sample import Sample


def test_the_tail_of_a_pareto_has_its_index():
    data = stats.pareto.rvs(2.0, size=200_000, random_state=np.random.default_rng(0))
    found = tail(Sample.of(data), 0.05)
    assert found.excess.shape == pytest.approx(0.5, abs=0.05)
    assert found.share == pytest.approx(0.05, abs=1e-3)
    assert found.threshold == pytest.approx(np.quantile(data, 0.95))


def test_the_tail_of_an_exponential_is_exponential():
    data = np.random.default_rng(1).exponential(50, 100_000)
    found = tail(Sample.of(data))
    assert found.excess.shape == pytest.approx(0, abs=0.03)
    assert found.excess.scale == pytest.approx(50, rel=0.05)


@pytest.mark.parametrize("shape", [-0.4, -1e-12, 0.0, 1e-12, 0.7])
def test_generalised_pareto_passes_through_the_exponential(shape):
    x, ours, theirs = np.linspace(0, 2, 50), GeneralizedPareto(shape, 1.0), stats.genpareto(shape)
    np.testing.assert_allclose(ours.cdf(x), theirs.cdf(x), atol=1e-9)
    np.testing.assert_allclose(ours.logpdf(x), theirs.logpdf(x), atol=1e-9)
    np.testing.assert_allclose(ours.ppf([0.1, 0.9]), theirs.ppf([0.1, 0.9]), atol=1e-9)


def test_means_that_do_not_exist_are_infinite():
    assert Pareto(0.9, 1).mean() == np.inf
    assert GeneralizedPareto(1.2, 1).mean() == np.inf


def test_refuses_a_tail_of_nothing():
    with pytest.raises(FitError, match="between 0 and 1"):
        tail(Sample.of([1, 2, 3]), 1.5)
    with pytest.raises(FitError, match="different values"):
        tail(Sample.of([1, 1, 1, 9]), 0.3)
