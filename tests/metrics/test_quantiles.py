"""Medians and 95th percentiles of classes, against NumPy over all values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.metrics.quantiles import class_counts, means, spreads, spreads_of_counts, spreads_of_others
from gwa.store.store import Store
from tests.conftest import examples

waits = st.sampled_from([0.0, 0.5, 1.0, 7.0, 1234.0, 98765.0]) | st.integers(0, 10**6).map(float)
jobs = st.lists(st.tuples(st.integers(0, 3), waits), min_size=1, max_size=120)
PLACED = "(select n_procs as place, wait_time as value from jobs)"


def numbers(spread):
    return (spread.n, spread.median, spread.p95)


def by_numpy(values):
    return (len(values), np.median(values), np.quantile(values, 0.95))


@examples(30)
@given(jobs)
def test_quantiles_of_classes_are_those_of_their_values(jobs):
    places, values = (np.array(column) for column in zip(*jobs, strict=True))
    with Store.create() as store:
        store.begin(["job_id", "wait_time", "n_procs"])
        store.insert("recorded", [(n, wait, place) for n, (place, wait) in enumerate(jobs)])
        counts = class_counts(store, PLACED)
        found, others = spreads(store, PLACED), spreads_of_others(store, counts, sorted(set(places)))
        assert found == spreads_of_counts(store, counts)
        mean = means(store, counts)

    assert {place: numbers(spread) for place, spread in found.items()} == {
        place: by_numpy(values[places == place]) for place in set(places.tolist())
    }
    assert {place: numbers(spread) for place, spread in others.items()} == {
        place: by_numpy(values[places != place]) for place in set(places.tolist()) if (places != place).any()
    }
    for place, value in mean.items():
        assert value == pytest.approx(values[places == place].mean(), rel=1e-12)


def test_many_values_are_ranked_exactly(make_store):
    values = np.random.default_rng(3).permutation(4001).astype(float).tolist()
    store = make_store(wait_time=values, n_procs=[1] * 4001)
    assert numbers(spreads(store, PLACED)[1]) == by_numpy(values)
