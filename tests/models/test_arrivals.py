"""Arrivals: each process against what is known of it, and against scipy."""

import math
from dataclasses import replace
from itertools import islice
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gwa.errors import ModelError
from gwa.models.arrival_process import processes
from gwa.models.arrivals.bursts import Bursts
from gwa.models.arrivals.modulated import Modulated
from gwa.models.arrivals.renewal import Poisson, Renewal
from gwa.models.arrivals.slots import SLOT, Day, Slots
from gwa.models.arrivals.spectral import Spectral, frequency_bands
from gwa.models.arrivals.wavelet import Wavelet
from gwa.models.cascade import fit_shapes, halve, scatter
from gwa.models.draws import Scaled
from gwa.statistics.dependence import autocorrelation
from gwa.statistics.distributions import Lognormal, Normal
from gwa.statistics.gamma import Gamma
from gwa.statistics.weibull import Weibull
from gwa.util.units import DAY

EXAMPLES: dict[str, Any] = {
    "poisson": Poisson(90.0),
    "renewal": Renewal(Scaled(Lognormal(4.0, 1.5), base=1.0), simultaneous=0.2),
    "bursts": Bursts(300.0, 4.0, Scaled(Normal(0.5, 1.0), high=6.0)),
    "modulated": Modulated(
        120.0,
        (0.5,) * 8 + (1.5,) * 12 + (0.5,) * 4,
        (1.0, 1.2, 0.5, 0.5, 1.2, 1.3, 1.3),
        (0.0, 0.4, 0.0, 0.2, 0.0, 0.0, 0.0),
    ),
    "slots": Slots(Scaled(Gamma(8.0, 0.6)), Day(Normal(20.0, 9.0), begins=6 * 3600.0)),
    "wavelet": Wavelet(1000, 90_000.0, tuple(np.geomspace(40.0, 0.5, 17).tolist())),
    "spectral": Spectral(
        arrivals=(0, 1, 2, 5, 20),
        often=(70, 40, 30, 20, 8),
        cycle=tuple((-np.cos(np.arange(24) * np.pi / 12)).tolist()),
        power=tuple((0.1 / frequency_bands(168)).tolist()),
        shapes=tuple(np.geomspace(5.0, 0.4, 12).tolist()),
    ),
}
EVERY = pytest.mark.parametrize("process", EXAMPLES.values(), ids=list(EXAMPLES))


def times(process, n, seed=1):
    """Return the first *n* arrivals."""
    blocks, found = process.times(np.random.default_rng(seed)), np.zeros(0)
    while found.size < n:
        found = np.concatenate([found, next(blocks)])
    return found[:n]


def refitted(process, make_store, n=20_000):
    """Return the same process fitted to *n* arrivals of its own."""
    found = times(process, n).tolist()
    return type(process).fit(make_store(submit_time=found))


def test_there_is_an_example_of_every_process():
    assert processes().keys() == EXAMPLES.keys()


@EVERY
def test_times_rise_in_whole_seconds(process):
    for block in islice(process.times(np.random.default_rng(1)), 8):
        assert (np.diff(block) >= 0).all()
        assert (block == np.floor(block)).all()
    assert np.array_equal(times(process, 9000), times(process, 20_000)[:9000])


@EVERY
def test_pace_is_a_factor_of_the_mean_gap(process):
    fast, slow = (times(process.scale_gaps(factor), 30_000)[-1] for factor in (1.0, 2.5))

    assert slow / fast == pytest.approx(2.5, rel=0.02)


@EVERY
def test_survives_json(process):
    assert type(process).parsed(process.plain()) == process


@EVERY
def test_refuses_what_determines_nothing(process, make_store):
    for moments in ([], [1.0], [7.0] * 100):
        with pytest.raises(ModelError, match="expected"):
            type(process).fit(make_store(submit_time=moments))


def test_poisson_counts_have_a_variance_of_their_mean():
    counts = np.bincount((times(Poisson(90.0), 40_000) // 3600).astype(int))[:-1]

    assert counts.var() / counts.mean() == pytest.approx(1.0, abs=0.15)
    assert stats.kstest(np.diff(times(Poisson(1e6), 4000)), stats.expon(scale=1e6).cdf).pvalue > 0.01


def test_poisson_gives_its_gap_back(make_store):
    assert refitted(EXAMPLES["poisson"], make_store).gap == pytest.approx(90.0, rel=0.03)


def test_renewal_gives_its_gaps_back(make_store):
    found = refitted(EXAMPLES["renewal"], make_store)

    assert found.simultaneous == pytest.approx(0.2, abs=0.01)
    asked = np.array([0.1, 0.5, 0.9])
    assert found.gap.distribution.ppf(asked) == pytest.approx(Lognormal(4.0, 1.5).ppf(asked), rel=0.1)


def test_modulated_gives_its_cycles_and_memory_back(make_store):
    """An hour is seen once a day, at a rate whose ln has variance 0.6: four standard errors of the mean."""
    jobs = 150_000
    one, found = EXAMPLES["modulated"], refitted(EXAMPLES["modulated"], make_store, jobs)
    error = math.sqrt(math.expm1(0.6) / (found.gap * jobs / 86400))

    assert found.gap == pytest.approx(one.gap, rel=0.1)
    assert (np.abs(np.subtract(found.hours, one.hours)) <= 4 * error * np.array(one.hours)).all()
    assert found.days == pytest.approx(one.days, abs=0.2)
    assert sum(found.memory[:3]) == pytest.approx(0.4, abs=0.1)
    assert sum(found.memory[3:]) == pytest.approx(0.2, abs=0.1)


def test_modulated_without_cycles_and_memory_is_poisson():
    flat = Modulated(60.0, (1.0,) * 24, (1.0,) * 7, (0.0,) * 7)
    gaps = np.diff(times(replace(flat, pace=1e6), 4000))

    assert stats.kstest(gaps, stats.expon(scale=6e7).cdf).pvalue > 0.01


def test_modulated_refuses_half_a_day_and_an_empty_week():
    for hours, days, said in (
        ((1.0,) * 12, (1.0,) * 7, "hours has 12"),
        ((0.0,) * 24, (1.0,) * 7, "above 0"),
    ):
        with pytest.raises(ModelError, match=said):
            Modulated(60.0, hours, days, (0.0,) * 7)


def test_bursts_give_their_gaps_and_batches_back(make_store):
    one, found = EXAMPLES["bursts"], refitted(EXAMPLES["bursts"], make_store, 60_000)

    assert found.gap == pytest.approx(300.0, rel=0.03)
    assert found.tail == pytest.approx(4.0, rel=0.2)
    asked = np.array([0.2, 0.5, 0.9])
    assert found.batch.quantiles(asked) == pytest.approx(one.batch.quantiles(asked), rel=0.1)


def test_gaps_of_bursts_are_scipys_lomax():
    found = np.diff(times(Bursts(1e6, 4.0), 20_000))

    assert stats.kstest(found, stats.lomax(4.0, scale=3e6).cdf).pvalue > 0.01


def test_slots_give_their_day_and_gaps_back(make_store):
    found = refitted(EXAMPLES["slots"], make_store, 40_000)

    assert found.day.shares == pytest.approx(EXAMPLES["slots"].day.shares, abs=0.002)
    asked = np.array([0.1, 0.5, 0.9])
    assert found.gap.distribution.ppf(asked) == pytest.approx(Gamma(8.0, 0.6).ppf(asked), rel=0.02)


def test_slots_arrive_in_proportion_to_their_shares():
    """The share of arrivals in a slot is F(k + 1/2) - F(k - 1/2) over the day, of scipy's F."""
    process = Slots(Scaled(Normal(3.0, 0.5)), Day(Weibull(1.8, 24.0), begins=2 * 3600.0))
    found = times(process, 400_000)
    counts = np.bincount((((found - 2 * 3600) % DAY) // SLOT).astype(int), minlength=48)
    mass = np.diff(stats.weibull_min(1.8, scale=24.0).cdf(np.arange(49) - 0.5))

    assert counts / counts.sum() == pytest.approx(mass / mass.sum(), abs=0.002)


# Where a slot has next to no share, an instant of virtual time is long in reality, and no way leads back.
days = st.builds(
    Day,
    st.builds(Normal, st.floats(-5, 60), st.floats(2, 40))
    | st.builds(Gamma, st.floats(1, 9), st.floats(1, 9)),
    st.floats(0, DAY),
    st.floats(-3, 12),
).filter(lambda day: day.shares.min() > 1e-6)


@given(days, st.lists(st.floats(0, 1e8), min_size=2, max_size=20))
def test_virtual_time_never_runs_back_and_keeps_days(day, moments):
    virtual = np.sort(moments)
    real = day.real(virtual)

    assert (np.diff(real) >= -1e-6).all()
    assert day.real(virtual + DAY) - DAY == pytest.approx(real, abs=1e-3)
    assert np.abs(real - virtual).max() <= DAY + 1e-3


@settings(max_examples=25)
@given(days, st.lists(st.floats(0, 1e7), min_size=2, max_size=5))
def test_the_engine_turns_real_time_back(day, moments):
    virtual = np.sort(moments)
    query = "select " + ", ".join(day.virtual(repr(float(real))) for real in day.real(virtual))
    (row,) = duckdb.execute(query).fetchall()

    assert np.diff(row) == pytest.approx(np.diff(virtual), abs=1e-3)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=20), st.floats(1e-3, 1e6), st.integers(0, 99))
def test_halves_lose_nobody_and_stay_in_order(counts, shape, seed):
    place = np.arange(len(counts)) * 3
    places, found = halve(np.random.default_rng(seed), place, np.array(counts), shape)

    assert (np.diff(places) > 0).all()
    assert found.min() >= 1
    assert np.bincount(places // 2, found, minlength=place[-1] + 1)[place].tolist() == counts


@pytest.mark.parametrize("shape", [0.3, 2.0, 50.0])
def test_halves_are_scipys_beta_binomial(shape):
    n = 60_000
    places, counts = halve(np.random.default_rng(1), np.arange(n), np.full(n, 12), shape)
    left = np.bincount(places, counts, minlength=2 * n)[::2].astype(int)
    expected = stats.betabinom(12, shape, shape).pmf(np.arange(13)) * n

    assert stats.chisquare(np.bincount(left, minlength=13), expected).pvalue > 0.001


def test_every_span_of_the_wavelet_has_its_jobs():
    one = EXAMPLES["wavelet"]

    assert np.bincount((times(one, 20_000) // one.span).astype(int)).tolist() == [1000] * 20


def test_a_cascade_gives_its_shapes_back(make_store):
    """Riedi: a multiplier of shape p has variance 1 / (2 p + 1)."""
    shapes = np.array([8.0, 4.0, 2.0, 1.0, 0.5])
    blocks = scatter(np.random.default_rng(1), np.full(4000, 20), shapes.tolist(), 32.0)
    store = make_store(submit_time=np.floor(np.concatenate(list(blocks))).tolist())
    found = np.array(fit_shapes(store, "jobs", "submit_time", 32.0, 5))

    assert 1 / (2 * found + 1) == pytest.approx(1 / (2 * shapes + 1), rel=0.1)


def test_the_wavelet_gives_its_parameters_back(make_store):
    """Many levels have few intervals that matter: multipliers are compared by their mean variance."""
    one = Wavelet(20_000, 2.0**16, (4.0,) * 16)
    found = refitted(one, make_store)

    assert found.jobs == 20_000
    assert found.span == pytest.approx(one.span, rel=0.01)
    assert len(found.shapes) == 16
    assert np.mean(1 / (2 * np.array(found.shapes[6:]) + 1)) == pytest.approx(1 / 9, rel=0.1)


def test_counts_of_the_wavelet_have_long_memory():
    """Multipliers whose variance doubles with each halving have correlations that decay like a power."""
    one = Wavelet(100_000, 2.0**17, (0.5,) * 4 + (20.0,) * 13)
    counts = np.bincount((times(one, 100_000) // 128).astype(int), minlength=1024)

    assert autocorrelation(counts, 8)[8] > 0.5
    assert autocorrelation(np.random.default_rng(1).permutation(counts), 8)[8] < 0.2


def hours(found, n):
    return np.bincount((found // 3600).astype(int), minlength=n)[:n]


def test_every_period_of_the_spectral_copula_has_the_hours_of_the_trace():
    one = EXAMPLES["spectral"]
    counts = hours(times(one, 6000), 168 * 8).reshape(8, 168)

    for period in counts:
        assert np.unique(period, return_counts=True)[1].tolist() == list(one.often)


def test_the_spectral_copula_gives_its_parameters_back(make_store):
    n = 8760
    counts = (0, 1, 2, 3, 5, 8, 13, 21)
    often = (2760, 2000, 1500, 1000, 700, 500, 200, 100)
    bands = frequency_bands(n)
    widths = np.diff(np.append(bands, n // 2 + 1))
    power = 1.0 / widths
    cycle = np.sqrt(1.2) * np.cos(np.arange(168) * np.pi / 84)
    shapes = (3.0,) * 12
    one = Spectral(counts, often, tuple(cycle), tuple((0.4 * power / bands.size).tolist()), shapes)
    found = refitted(one, make_store, int(np.dot(counts, often)))

    # Hours without arrivals at both ends are not seen.
    assert found.arrivals == counts
    assert found.often[1:] == often[1:]
    assert found.often[0] == pytest.approx(often[0], abs=50)
    assert np.corrcoef(found.cycle, cycle)[0, 1] > 0.95
    assert np.repeat(found.power, widths).sum() == pytest.approx(0.4, abs=0.05)
    assert np.mean(1 / (2 * np.array(found.shapes[:9]) + 1)) == pytest.approx(1 / 7, rel=0.1)


def test_the_spectral_copula_keeps_the_hours_of_the_day_however_paced():
    one = EXAMPLES["spectral"]
    for factor in (0.5, 1.0, 3.0):
        found = hours(times(one.scale_gaps(factor), 20_000), 24 * 200).reshape(-1, 24).sum(axis=0)
        assert found[8:16].sum() > 4 * (found[:4].sum() + found[20:].sum())


def test_a_trace_of_an_hour_or_of_ages_has_a_word_or_a_process(make_store):
    short = Spectral.fit(make_store(submit_time=[float(n) for n in range(0, 3000, 100)]))
    ages = make_store(submit_time=[*map(float, range(50)), 1e13])

    assert times(short, 500).size == 500
    with pytest.raises(ModelError, match="hours, expected at most"):
        Spectral.fit(ages)
    assert times(Wavelet.fit(ages), 100).size == 100


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"often": [1, 2]}, "often has 2 numbers"),
        ({"arrivals": [0, 0, 0, 0, 0]}, "arrivals are all 0"),
        ({"cycle": []}, "cycle is empty"),
        ({"power": [1.0]}, "power has 1 numbers"),
        ({"shapes": [-1.0]}, "shapes is"),
    ],
)
def test_a_bad_spectral_copula_is_named(change, said):
    with pytest.raises(ModelError, match=said):
        Spectral.parsed(EXAMPLES["spectral"].plain() | change)
