"""What is stated of rounded values is that of the exact ones."""

import numpy as np
import pytest

from gwa.analysis.sections._rounding import counted_ratios, exact_summary, rounded_sample

AT_EDGES = [0.0, 0.004, 0.005, 9.99, 9.994999, 9.995, 10.0, 10.05, 99.95, 1e9, 1e19]


@pytest.mark.parametrize("seed", range(20))
def test_quantiles_are_of_the_exact_values_behind_the_rounded_ones(make_store, seed):
    chance = np.random.default_rng(seed)
    pool = [*AT_EDGES, *chance.uniform(0, 120, 20), *chance.integers(0, 2000, 10).astype(float)]
    values = chance.choice(pool, chance.integers(1, 60)).tolist()
    store = make_store(wait_time=values)
    rounded = rounded_sample(store, "wait_time", "jobs", 0.01)

    low, _, *quantiles, high = exact_summary(store, "wait_time", "jobs", rounded, 0.01)

    assert (low, high) == (min(values), max(values))
    assert quantiles == pytest.approx(np.quantile(values, [0.5, 0.95]).tolist(), rel=1e-12)


def test_a_ratio_that_two_sections_state_is_counted_once(make_store, monkeypatch):
    store = make_store(run_time=[1.0, 2.0], req_time=[4.0, 4.0])
    asked: list[str] = []
    rounded, exact = counted_ratios(store, "run_time / req_time", "jobs")
    assert (rounded.n, exact.median) == (2, 0.375)

    monkeypatch.setattr(type(store.database), "ask", asked.append)
    assert counted_ratios(store, "run_time / req_time", "jobs").exact == exact
    assert not asked
