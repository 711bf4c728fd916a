"""Classes of sizes, against what must hold of any classes."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gwa.metrics.sizes import MAXIMUM_CLASSES, NEARLY_ALL, SizeClass, joined_classes, processors, size_classes

whole = st.dictionaries(
    st.integers(1, 4096).map(float), st.tuples(st.integers(1, 10**6), st.integers(0, 10**6)), min_size=1
)
fractions = st.dictionaries(
    st.sampled_from([0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 8.0]),
    st.tuples(st.integers(1, 9), st.integers(0, 9)),
    min_size=1,
)


def classes_of(sizes):
    singles = [SizeClass.of(size, jobs, float(hours)) for size, (jobs, hours) in sorted(sizes.items())]
    return joined_classes(singles)


@given(whole | fractions)
@example({16.0: (9, 990), 1.0: (1, 10)})
def test_each_size_is_of_one_class_and_its_name_holds_it(sizes):
    classes = classes_of(sizes)
    assert 1 <= len(classes) <= MAXIMUM_CLASSES
    assert all(first.top < second.top for first, second in pairwise(classes))
    held: Counter[float] = Counter()
    for before, one in pairwise([None, *classes]):
        members = [size for size in sizes if (before.top if before else 0) < size <= one.top]
        held.update(members)
        assert (one.least, one.most) == (min(members), max(members))
        assert one.jobs == sum(sizes[size][0] for size in members)
        assert one.hours == sum(sizes[size][1] for size in members)
        low, _, high = one.name(is_last=one is classes[-1]).replace(",", "").partition(" to ")
        if high:
            assert float(low) <= one.least <= one.most <= float(high)
        elif len(members) > 1:
            assert low == "less than 1"
            assert one.most < 1
        else:
            assert float(low) == pytest.approx(one.least, rel=1e-3)
    assert held == Counter(dict.fromkeys(sizes, 1))


@given(whole)
@example({96.0: (5, 500), 128.0: (5, 500)})
@example({96.0: (5, 5), 97.0: (5, 985), 128.0: (5, 10)})
def test_no_class_has_nearly_all_core_hours_unless_a_size_does(sizes):
    hours = sum(spent for _, spent in sizes.values())
    for one in classes_of(sizes):
        if hours and one.hours >= NEARLY_ALL * hours:
            assert one.least == one.most


@given(whole)
def test_a_class_that_is_not_worth_naming_cannot_be_joined(sizes):
    classes = classes_of(sizes)
    jobs, hours = (sum(amounts) for amounts in zip(*sizes.values(), strict=True))
    for place, one in enumerate(classes):
        share = max(one.jobs / jobs, one.hours / hours if hours else 0)
        beside = [classes[at] for at in (place - 1, place + 1) if 0 <= at < len(classes)]
        if share < 0.05:
            assert hours
            assert all(one.hours + other.hours >= NEARLY_ALL * hours for other in beside)


def test_classes_are_found_in_the_jobs(make_store):
    sizes = [1, 1, 2, 3, 4, 17, 33, 64, 64, 0, None]
    store = make_store(n_procs=sizes, run_time=[10.0] * 10 + [None])
    classes = processors(store)
    assert classes.names == ("1", "2", "3 to 4", "17", "33 to 64")
    found = store.rows(f"select n_procs, {classes.place} from jobs order by job_id")
    assert [place for _, place in found] == [0, 0, 1, 2, 2, 3, 4, 4, 4, -1, -1]


def test_gpus_may_be_fractions(make_store):
    store = make_store(n_gpus=[0.25, 0.5, 1.0, 1.5, 2.0, 4.0], run_time=[60.0] * 6)
    assert size_classes(store, "n_gpus", "jobs").names == ("less than 1", "1", "1.5 to 2", "4")


def test_of_no_jobs_there_are_no_classes(make_store):
    store = make_store(n_procs=[None, 0])
    classes = processors(store)
    assert classes.names == ()
    assert store.rows(f"select {classes.place} from jobs") == [(-1,), (-1,)]


def test_two_months_have_the_same_classes(make_store):
    store = make_store(submit_time=[0.0, 100.0], n_procs=[1, 64], run_time=[60.0, 60.0])
    assert processors(store.filtered("true", (0.0, 50.0))).names == ("1", "64")
