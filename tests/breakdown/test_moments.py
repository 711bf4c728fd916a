"""Cells of waiting against the moments themselves, counted one by one."""

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gwa.breakdown.cube import Grain, cube
from gwa.metrics import waiting as module
from gwa.metrics.waiting import CONDITIONS, waiting
from tests.conftest import _stores
from tests.metrics.test_waiting import DAY, START, header, simulated


def counted(store):
    """Return how many moments there are by day, user and condition, one after the other."""
    found = waiting(store)
    rows = store.whole.rows(f"select place, moment, user_id from {found.table} as sampled order by place")
    of_places = {place: (moment, user) for place, moment, user in rows}
    keys = (of_places[place] for place in found.places.tolist())
    days = [(int(moment // DAY), user) for moment, user in keys]
    names = [CONDITIONS[code] for code in found.conditions.tolist()]
    return Counter((*day, name) for day, name in zip(days, names, strict=True))


def cells(store):
    table = cube(store, has_moments=True).moments
    assert table is not None
    found: Counter[tuple[int, str, str]] = Counter()
    for row in table.to_pylist():
        found[row["day"], row["users"], row["condition"]] += row["moments"]
    return found


@pytest.fixture
def store(make_store):
    return make_store(header(32), **simulated())


def test_each_cell_counts_the_moments_of_its_day_user_and_condition(store):
    assert cells(store) == counted(store)


def test_seconds_are_all_that_jobs_waited(store):
    table = cube(store, has_moments=True).moments
    assert table is not None
    (waited,) = store.row("select sum(wait_time) from jobs")
    assert sum(table["seconds"].to_pylist()) == pytest.approx(waited)


@pytest.mark.parametrize(
    ("where", "period"),
    [
        ("user_id = 'u1'", None),
        ("true", (START + 2.25 * DAY, START + 9 * DAY)),
        ("n_procs > 4", (START, START + DAY)),
    ],
)
def test_a_part_has_the_cells_of_its_moments(store, where, period):
    part = store.filtered(where, period)
    assert cells(part) == counted(part)


@settings(max_examples=10)
@given(
    jobs=st.lists(
        st.tuples(
            st.integers(0, 40 * 86_400), st.integers(1, 200_000), st.integers(1, 8),
            st.sampled_from(["a", "b", "*", "", None]), st.sampled_from(["q", None]),
        ),
        min_size=1, max_size=12,
    )
)  # fmt: skip
def test_cells_of_any_log_count_all_its_moments_once(jobs):
    with _stores() as make, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOMENTS", 1500)
        store = make(
            header(16),
            submit_time=[START, *(START + job[0] for job in jobs)],
            wait_time=[5000.0, *(float(job[1]) for job in jobs)],
            run_time=[60.0] * (len(jobs) + 1),
            n_procs=[1, *(job[2] for job in jobs)],
            user_id=["a", *(job[3] for job in jobs)],
            queue_id=["q", *(job[4] for job in jobs)],
        )
        found, table = waiting(store), cube(store, has_moments=True).moments
        if found.why_unknown:
            assert table is None
            return
        assert table is not None
        assert sum(table["moments"].to_pylist()) == len(found.places)
        keys = [name for name in table.column_names if name not in {"moments", "seconds"}]
        rows = [tuple(row[name] for name in keys) for row in table.to_pylist()]
        assert len(set(rows)) == len(rows)


def test_coarser_cells_have_the_same_sums(store, monkeypatch):
    from gwa.breakdown import cube as cubes

    monkeypatch.setattr(cubes, "GRAINS", (Grain(7, 2, 1),))
    coarse = cube(store, has_moments=True).moments
    assert coarse is not None
    whole: Counter[str] = Counter()
    for (_, _, name), number in counted(store).items():
        whole[name] += number
    by_condition: Counter[str] = Counter()
    for row in coarse.to_pylist():
        by_condition[row["condition"]] += row["moments"]
    assert by_condition == whole
    assert "*" in coarse["users"].to_pylist()


def test_cells_may_differ_in_more_ways_than_a_number_has(make_store):
    jobs = simulated(size=1000, cpus=16, days=40)
    fields = ("user_id", "group_id", "project_id", "queue_id", "partition_id", "qos")
    names = {field: [f"n{place}" for place in jobs["job_id"]] for field in fields}
    store = make_store(header(16), **{**jobs, **names})
    table = cube(store, has_moments=True).moments
    assert table is not None
    keys = set(table.column_names) - {"moments", "seconds"}
    values = [len(set(table[name].to_pylist())) for name in keys]
    assert math.prod(values) > 2**63
    assert cells(store) == counted(store)


def test_of_a_period_a_user_who_only_waited_or_ran_in_it_is_among_the_others(make_store, monkeypatch):
    from gwa.breakdown import cube as cubes

    jobs = simulated()
    longest = max(range(len(jobs["job_id"])), key=lambda place: jobs["wait_time"][place])
    users = ["late" if place == longest else user for place, user in enumerate(jobs["user_id"])]
    begin = jobs["submit_time"][longest] + 0.3 * jobs["wait_time"][longest]
    part = make_store(header(32), **{**jobs, "user_id": users}).filtered("true", (begin, begin + 6 * DAY))
    for largest in (1, 1000):
        monkeypatch.setattr(cubes, "GRAINS", (Grain(1, largest, 2),))
        made = cube(part, has_moments=True)
        assert made.moments is not None
        waited, ran = (set(table["users"].to_pylist()) for table in (made.moments, made.usage))
        assert "*" in waited <= ran
        assert None not in ran


def test_moments_of_a_cube_that_was_there_before_go(store, tmp_path):
    assert tmp_path / "moments.parquet" in cube(store, has_moments=True).write(tmp_path)
    written = cube(store, 3).write(tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {file.name for file in written}
    assert "moments.parquet" not in {file.name for file in written}


def test_what_was_not_asked_for_or_is_not_known_is_not_there(store, make_store):
    assert cube(store).moments is None
    assert cube(store, 3, has_moments=True).moments is None
    without = make_store(
        header(32), **{key: value for key, value in simulated().items() if key != "wait_time"}
    )
    assert cube(without, has_moments=True).moments is None
