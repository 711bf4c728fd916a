"""Hurst estimators are calibrated on fractional Gaussian noise of known H."""

import math

import numpy as np
import pytest

from gwa.statistics.hurst import (
    ESTIMATORS,
    local_whittle,
    periodogram,
    variance_time,
    wavelet,
    without_cycles,
)

LENGTH = 2**16


def fgn(h, n, rng):
    """Exact fractional Gaussian noise by circulant embedding (Davies & Harte 1987)."""
    k = np.arange(n + 1)
    covariance = 0.5 * ((k + 1.0) ** (2 * h) - 2 * k ** (2 * h) + np.abs(k - 1.0) ** (2 * h))
    eigen = np.fft.rfft(np.concatenate((covariance, covariance[-2:0:-1]))).real
    assert eigen.min() > -1e-9
    m = 2 * n
    normal = rng.normal(size=(2, n + 1))
    spectrum = np.sqrt(np.maximum(eigen, 0) / 2) * (normal[0] + 1j * normal[1])
    spectrum[[0, -1]] = np.sqrt(np.maximum(eigen[[0, -1]], 0)) * normal[0, [0, -1]]
    return np.fft.irfft(spectrum, m)[:n] * math.sqrt(m)


def estimates(h, seeds, n=LENGTH):
    rows = [fgn(h, n, np.random.default_rng(1000 + seed)) for seed in range(seeds)]
    return {name: [estimator(row) for row in rows] for name, estimator in ESTIMATORS.items()}


@pytest.mark.parametrize("h", [0.5, 0.7, 0.9])
def test_generator_has_the_covariance_it_claims(h):
    rng = np.random.default_rng(5)
    rows = np.array([fgn(h, 64, rng) for _ in range(20000)])
    for lag in (0, 1, 5, 20):
        expected = 0.5 * ((lag + 1) ** (2 * h) - 2 * lag ** (2 * h) + abs(lag - 1) ** (2 * h))
        assert np.mean(rows[:, 3] * rows[:, 3 + lag]) == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("h", [0.5, 0.7, 0.9])
def test_estimators_find_h(h):
    for name, found in estimates(h, 4).items():
        allowed = 0.02 if name == "wavelet" else 0.08
        assert np.mean([x.h for x in found]) == pytest.approx(h, abs=allowed), name


@pytest.mark.slow
@pytest.mark.parametrize("h", [0.5, 0.7, 0.9])
def test_recommended_estimator_is_unbiased_over_fifty_seeds(h):
    found = estimates(h, 50)
    for name, each in found.items():
        bias, spread = np.mean([x.h for x in each]) - h, np.std([x.h for x in each])
        inside = np.mean([x.low <= h <= x.high for x in each])
        interval = "" if math.isnan(each[0].low) else f"  in its 95 % interval {inside:.0%}"
        said = f"bias {bias:+.4f}  sd {spread:.4f}{interval}"
        print(f"\nH = {h}, 50 seeds of 2^16: {name:15} {said}", end="")  # noqa: T201 - `make calibration`
    assert abs(np.mean([x.h for x in found["wavelet"]]) - h) <= 0.02
    assert abs(np.mean([x.h for x in found["local_whittle"]]) - h) <= 0.02
    covered = np.mean([x.low <= h <= x.high for x in found["wavelet"]])
    assert covered >= 0.86


def test_intervals_of_the_wavelet_cover_the_truth():
    rng = np.random.default_rng(3)
    found = [wavelet(fgn(0.7, 2**12, rng)) for _ in range(200)]
    assert np.mean([x.low <= 0.7 <= x.high for x in found]) == pytest.approx(0.95, abs=0.05)


def test_removing_cycles_takes_them_out_and_keeps_the_mean():
    t = np.arange(24 * 7 * 60)
    noise = fgn(0.7, t.size, np.random.default_rng(2))
    cycle = 6 * np.sin(2 * math.pi * t / 24) + 3 * (t // 24 % 7 < 5)
    clean = without_cycles(noise + cycle + 50, (24, 168))
    assert clean.mean() == pytest.approx((noise + cycle + 50).mean())
    assert wavelet(clean).h == pytest.approx(wavelet(noise).h, abs=0.05)
    assert local_whittle(clean).h == pytest.approx(local_whittle(noise).h, abs=0.08)
    assert abs(wavelet(noise + cycle).h - 0.7) > 0.05


def test_points_lie_on_the_line_of_the_estimate():
    found = variance_time(fgn(0.8, 2**14, np.random.default_rng(1)))
    slope = np.polyfit(found.scales, found.energies, 1)[0]
    assert 1 + slope / 2 == pytest.approx(found.h)
    assert math.isnan(found.low)


def test_poisson_counts_have_no_memory():
    counts = np.random.default_rng(9).poisson(2.0, 2**14)
    for name, estimator in ESTIMATORS.items():
        assert estimator(counts).h == pytest.approx(0.5, abs=0.09), name
    assert periodogram(counts).low < 0.5 < periodogram(counts).high


@pytest.mark.parametrize("name", ESTIMATORS)
def test_refuses_a_series_that_says_nothing(name):
    with pytest.raises(ValueError, match="bins"):
        ESTIMATORS[name](np.arange(20))
    with pytest.raises(ValueError, match="vary"):
        ESTIMATORS[name](np.zeros(1000))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_survives_a_short_series_and_one_with_a_year_of_silence(name):
    rng = np.random.default_rng(4)
    assert math.isfinite(ESTIMATORS[name](rng.poisson(1, 128)).h)
    silent = np.concatenate((rng.poisson(3, 4000), np.zeros(8760), rng.poisson(3, 4000)))
    assert math.isfinite(ESTIMATORS[name](silent).h)


@pytest.mark.parametrize("cycle", [(0, 1), (6, 6, 5), (0, 0, 0, 9)])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_of_a_series_that_only_repeats_itself_nothing_is_made_up(name, cycle):
    """All its power is in one fast cycle: at the low frequencies there is no line, and no estimate."""
    found = ESTIMATORS[name](np.tile(cycle, 400))
    assert name not in {"periodogram", "local_whittle"} or math.isnan(found.h)
    assert found.is_possible or all(map(math.isnan, found.interval))


def test_a_cycle_that_does_not_repeat_is_refused():
    with pytest.raises(ValueError, match="twice"):
        without_cycles(np.arange(100), (80,))
