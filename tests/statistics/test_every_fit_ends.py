"""
Every fit of every distribution ends, with parameters or with a refusal, whatever the sample.

What is counted are calls of functions, which are the same on every machine; CPU time is printed by the slow
run, and decides nothing.
"""

import math
import sys
import time

import numpy as np
import pytest

from gwa.statistics import em, gamma
from gwa.statistics.distribution import FitError, distributions
from gwa.statistics.gamma import Gamma, gamma_shape
from gwa.statistics.hyper import HyperGamma
from gwa.statistics.numeric import floats, rising_root
from gwa.statistics.sample import Sample
from gwa.statistics.weibull import Weibull
from gwa.statistics.zipf import Zipf
from tests.statistics.adversarial import FAMILIES, sample

MAXIMUM_CALLS = 1_000_000
CHUNK = 500


def fitted(name, values):
    """Return the fit, whose parameters are numbers, or None where it is refused."""
    try:
        found = distributions()[name].fit(values)
    except FitError:
        return None
    numbers = found.values().values()
    assert all(math.isfinite(number) for number in numbers), found
    return found


def calls(work):
    """Return how many functions *work* calls."""
    count = 0

    def counted(_, event, __):
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", sorted(distributions()))
def test_a_fit_of_any_sample_ends(name):
    with np.errstate(all="ignore"):
        for number in range(2 * len(FAMILIES)):
            family, values = sample(number)
            assert calls(lambda values=values: fitted(name, values)) < MAXIMUM_CALLS, (family, number)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 10_000, CHUNK))
def test_ten_thousand_samples_are_fitted_or_refused(first, capsys):
    worst = dict.fromkeys(distributions(), (0.0, "", 0))
    refused = 0
    with np.errstate(all="ignore"):
        for number in range(first, first + CHUNK):
            family, values = sample(number)
            for name in worst:
                start = time.process_time()
                refused += fitted(name, values) is None
                worst[name] = max(worst[name], (time.process_time() - start, family, number))
    lines = [f"samples {first} to {first + CHUNK - 1}: {refused} of {CHUNK * len(worst)} fits refused"]
    lines += [
        f"  {name:18} {seconds:6.3f} s CPU at most, sample {number} ({family})"
        for name, (seconds, family, number) in sorted(worst.items(), key=lambda item: item[1], reverse=True)
    ]
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(lines) + "\n")


def test_run_times_of_nearly_an_hour_have_a_gamma_or_none(monkeypatch):
    """500 run times of 3600.000 to 3600.002 s: Newton's steps alone go below 0, where zeta never ends."""
    shapes = []
    value = gamma.log_less_digamma

    def recorded(shape):
        shapes.append(shape)
        return value(shape)

    monkeypatch.setattr(gamma, "log_less_digamma", recorded)
    rng = np.random.default_rng(1)
    for spread in np.geomspace(1e-14, 1e-3, 60):
        values = Sample.of(3600 * (1 + spread * rng.random(500)))
        try:
            found = Gamma.fit(values)
        except FitError:
            continue
        assert found.mean() == pytest.approx(3600, rel=1e-3)

    assert all(np.all(shape > 0) for shape in shapes)
    assert len(shapes) < 60 * 60


def test_the_shape_of_a_gamma_is_found_for_any_gap():
    gaps = floats(np.geomspace(1e-300, 600, 5000))
    shapes = gamma_shape(gaps)

    np.testing.assert_allclose(gamma.log_less_digamma(shapes)[0], gaps, rtol=1e-9)
    assert np.all((shapes * gaps >= 0.5 - 1e-9) & (shapes * gaps <= 1 + 1e-9))
    assert np.isnan(gamma_shape(floats([0, -1, math.nan]))).all()


@pytest.mark.parametrize("slope", [1e-300, 1e300, -1.0, math.nan, 0.0])
def test_a_root_is_found_whatever_the_slope(slope):
    """A slope that is wrong leads out of the bracket, which is halved then."""
    steps = []

    def function(at):
        steps.append(at)
        return at**3 - 2, np.full(at.shape, slope)

    with np.errstate(all="ignore"):
        root = rising_root(function, floats([9.0]), floats([0.0]), floats([10.0]))

    assert len(steps) <= 200
    if slope != 1e300:
        assert root == pytest.approx(2 ** (1 / 3))


def test_a_weibull_of_outliers_solves_its_equation():
    values = Sample.of(np.append(np.random.default_rng(1).lognormal(3, 2, 500), [1e18, 1e-18]))
    found = Weibull.fit(values)
    y, power = np.log(values.values), (values.values / found.scale) ** found.shape

    assert (power * y).sum() / power.sum() - 1 / found.shape == pytest.approx(y.mean(), rel=1e-9)


def test_phases_that_coincide_take_no_more_rounds_than_allowed(monkeypatch):
    """Of an exponential sample both gammas are one: EM creeps, on every distinct value."""
    steps = 0
    whole = em.phase_step

    def counting(values, shapes):
        step = whole(values, shapes)

        def counted(theta):
            nonlocal steps
            steps += values.values.size > em.BINS
            return step(theta)

        return counted

    monkeypatch.setattr(em, "MAXIMUM_WORK", 200_000)
    monkeypatch.setattr(em, "phase_step", counting)
    HyperGamma.fit(Sample.of(np.random.default_rng(1).exponential(1, 20_000)))

    assert 0 < steps <= em.NEWTON_STEPS + 3 * 10 + 2


@pytest.mark.parametrize("exponent", [-3.0, -0.5, 0.0, 0.3, 0.999999999, 1.0, 1.3, 2.0, 30.0])
def test_ranks_beyond_the_table_add_up_as_one_by_one(exponent):
    known, few = Zipf(exponent, 300_000.0), np.array([1, 9_999, 10_000, 10_001, 123_456, 300_000.0])
    steps = np.cumsum(np.arange(1, 300_001.0) ** -exponent)

    np.testing.assert_allclose(known.cdf(few), steps[few.astype(int) - 1] / steps[-1], rtol=1e-12)


def test_a_rank_of_a_quintillion_is_fitted_without_a_table():
    found = Zipf.fit(Sample.of([*range(1, 50), 10.0**18]))

    assert 1 < found.exponent < 2
    assert found.cdf(np.array([1e18])) == 1
    with pytest.raises(FitError, match="least squares need at most 1,000,000 ranks"):
        Zipf.least_squares(Sample.of([1, 2, 10.0**18]))


@pytest.mark.parametrize("name", sorted(set(distributions()) - {"zipf"}))
@pytest.mark.parametrize("values", [[5e-324, 1e-323, 1.5e-323], [1, 2, 1e300]])
def test_values_too_small_or_large_for_doubles_are_refused(name, values):
    with pytest.raises(FitError, match="fit needs values from 1e-100 to 1e\\+100, or 0"):
        distributions()[name].fit(Sample.of(values))
