"""A change of level is judged as its definition says, slowly and obviously, and its symmetries hold."""

import importlib
import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.signal import lfilter

from gwa.errors import ArgumentError
from gwa.statistics.changes import MINIMUM_LENGTH, SLOW, WHITE, discoveries, edge, evidence
from tests.conftest import HOME

PROTOTYPES = HOME.parent / "shared" / "reference" / "prototypes" / "answers"
YEAR = 52.18


def wandering(seed, size, rows=3):
    """Return series with a slow part, an independent part, and a change of some."""
    rng = np.random.default_rng(seed)
    slow = np.cumsum(rng.normal(size=(rows, size)), axis=1) * rng.uniform(0, 0.4)
    change = rng.choice([0.0, 1.0, 4.0], (rows, 1)) * (np.arange(size) >= rng.integers(5, size - 5))
    return 10 + slow + rng.normal(size=(rows, size)) + change


def reference(x: np.ndarray, cycle: float | None = None) -> dict[str, float]:
    """Return the evidence of one series by matrices that are inverted, one noise model after the other."""
    n = x.size
    centred = np.arange(n) - (n - 1) / 2
    beside = [np.ones(n)]
    if cycle:
        beside += [np.sin(2 * np.pi * centred / cycle), np.cos(2 * np.pi * centred / cycle)]
    flat = np.column_stack(beside)
    places = range(edge(n), n - edge(n) + 1)
    line = centred / (n - 1)
    steps = [(np.arange(n) >= place) * 1.0 for place in places]
    lag = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    tests, likelihoods, rises = [], [], []
    flats, shaped = [], []
    for phi in SLOW:
        for w in WHITE:
            if phi == 0 and w > 0:
                continue
            r = (1 - w) * np.where(lag, float(phi) ** lag, 1.0) + w * np.eye(n)
            inverse, log_determinant = np.linalg.inv(r), np.linalg.slogdet(r)[1]

            def fit(z: np.ndarray, inverse=inverse) -> tuple[np.ndarray, float, np.ndarray]:
                information = z.T @ inverse @ z
                b = np.linalg.solve(information, z.T @ inverse @ x)
                left = x - z @ b
                return b, float(left @ inverse @ left), information

            z = np.column_stack((flat, line))
            k = z.shape[1]
            b, rss, information = fit(z)
            error = math.sqrt(rss / (n - k) * np.linalg.inv(information)[-1, -1])
            tests.append(2 * stats.t.sf(abs(b[-1]) / error, n - k))
            rises.append(b[-1])
            likelihoods.append(
                -log_determinant / 2 - np.linalg.slogdet(information)[1] / 2 - (n - k) / 2 * math.log(rss)
            )
            k = flat.shape[1]
            _, level_rss, information = fit(flat)
            level = (
                -log_determinant / 2
                - np.linalg.slogdet(information)[1] / 2
                - (n - k) / 2 * math.log(level_rss)
            )
            flats.append(level)
            explained = [1 - fit(np.column_stack((flat, shape)))[1] / level_rss for shape in (line, *steps)]
            shaped.append(
                [
                    level - math.log(1 + n) / 2 - (n - k) / 2 * math.log(1 - n / (1 + n) * r2)
                    for r2 in explained
                ]
            )
    weights = np.exp(np.array(likelihoods) - max(likelihoods))
    weights /= weights.sum()
    top = max(flats)
    sums = np.exp(np.array(shaped) - top).sum(axis=0) / np.exp(np.array(flats) - top).sum()
    return {
        "p_value": float(weights @ tests),
        "rise": float(weights @ rises),
        "line": math.log(sums[0]),
        "step": math.log(sums[1:].mean()),
        "place": places[int(sums[1:].argmax())],
    }


@settings(max_examples=12)
@given(st.integers(0, 2**32), st.integers(MINIMUM_LENGTH, 60), st.sampled_from([None, 13.0, 26.09]))
def test_the_filter_gives_what_inverted_matrices_give(seed, size, cycle):
    x = wandering(seed, size, 2)
    for row, found in zip(x, evidence(x, cycle), strict=True):
        for name, value in reference(row, cycle).items():
            assert getattr(found, name) == pytest.approx(value, rel=1e-6, abs=1e-6), name


@pytest.mark.parametrize("size", [52, 103, 130])
def test_it_is_what_the_prototype_gives(size, monkeypatch):
    if not PROTOTYPES.is_dir():
        pytest.skip("there is no prototype beside the checkout")
    monkeypatch.syspath_prepend(str(PROTOTYPES))
    change, shapes = (importlib.import_module(name) for name in ("level_change", "shapes"))
    for name in ("level_change", "shapes"):
        monkeypatch.delitem(sys.modules, name)
    x = wandering(size, size, 4)
    found = evidence(x, YEAR if size >= 104 else None)
    p_values, rises = change.p_values(x)

    np.testing.assert_allclose([one.p_value for one in found], p_values, rtol=1e-6)
    np.testing.assert_allclose([one.rise for one in found], rises, rtol=1e-6)
    factors = shapes.factors(x)[0]
    np.testing.assert_allclose([one.line for one in found], factors[:, 0], rtol=1e-6)
    if size < 104:  # longer series have not all places there
        np.testing.assert_allclose([one.step for one in found], factors[:, 1], rtol=1e-6)


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.floats(1e-3, 1e3), st.floats(-100, 100))
def test_units_do_not_matter(seed, scale, origin):
    x = wandering(seed, 40, 1)
    (found,), (other,) = evidence(x), evidence(origin + scale * x)

    for name in ("p_value", "line", "step", "place"):
        assert getattr(other, name) == pytest.approx(getattr(found, name), rel=1e-5, abs=1e-7)
    for name in ("rise", "visible", "height"):
        assert getattr(other, name) == pytest.approx(scale * getattr(found, name), rel=1e-5, abs=1e-7 * scale)


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_backwards_the_evidence_is_the_same_and_rises_are_falls(seed):
    x = wandering(seed, 44, 1)
    (found,), (back,) = evidence(x), evidence(x[:, ::-1])

    assert back.p_value == pytest.approx(found.p_value, rel=1e-6)
    assert (back.line, back.step) == pytest.approx((found.line, found.step), abs=1e-6)
    assert back.rise == pytest.approx(-found.rise, rel=1e-6)
    assert back.height == pytest.approx(-found.height, rel=1e-6)
    assert back.place == 44 - found.place


@pytest.mark.parametrize("phi", [0.0, 0.5])
def test_a_rise_that_is_visible_is_found_half_of_the_time(phi):
    """A rise half as large is found seldom, and one of twice the size nearly always."""
    rng = np.random.default_rng(8)
    noise = lfilter([1], [1, -phi], rng.normal(size=(200, 152)), axis=1)[:, 100:]
    line = (np.arange(52) - 25.5) / 51
    visible = np.median([one.visible for one in evidence(noise)])

    def found(rise: float) -> float:
        return float(np.mean([one.p_value <= 0.05 / 200 for one in evidence(noise + rise * line)]))

    assert found(visible / 2) < 0.3
    assert 0.35 < found(visible) < 0.65
    assert found(2 * visible) > 0.9


def test_a_change_without_noise_is_sure():
    place = np.arange(60)
    line, step, constant = evidence([0.05 * place, 3.0 + (place >= 25), np.full(60, 7.0)])

    assert line.p_value < 1e-6
    assert line.rise == pytest.approx(0.05 * 59)
    assert step.is_sure_step
    assert step.is_step
    assert step.place == 25
    assert step.height == pytest.approx(1.0, rel=0.02)
    assert (constant.p_value, constant.rise, constant.visible) == (1.0, 0.0, 0.0)
    assert not constant.is_sure_step


@pytest.mark.parametrize("place", [12, 40, 90])
def test_the_likeliest_place_is_where_the_step_is(place):
    rng = np.random.default_rng(place)
    (found,) = evidence(rng.normal(size=110) + 8 * (np.arange(110) >= place), YEAR)

    assert found.place == place


def test_a_season_is_no_change():
    angle = 2 * np.pi * np.arange(110) / YEAR
    rng = np.random.default_rng(3)
    season = 3 * np.sin(angle + np.arange(8)[:, None]) + rng.normal(size=(8, 110))

    assert not any(discoveries([one.p_value for one in evidence(season, YEAR)]))
    assert not any(one.is_sure_step for one in evidence(season, YEAR))


def test_what_cannot_be_judged_is_refused():
    with pytest.raises(ArgumentError, match="25 values, expected 26"):
        evidence(np.zeros(MINIMUM_LENGTH - 1))
    with pytest.raises(ArgumentError, match="finite"):
        evidence([np.nan] * 40)


@given(st.lists(st.floats(0, 1), max_size=12), st.sampled_from([0.01, 0.05, 0.2]))
def test_discoveries_are_those_of_the_definition(p_values, rate):
    """The k smallest, for the largest k whose k-th smallest is at most k / m times the rate."""
    m, ordered = len(p_values), sorted(p_values)
    counts = [k for k in range(1, m + 1) if ordered[k - 1] <= k * rate / m]
    expected = [bool(counts) and p <= ordered[max(counts) - 1] for p in p_values]

    assert discoveries(p_values, rate) == expected
