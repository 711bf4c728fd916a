"""Parts of GPUs by the name of their profile."""

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.breakdown.breakdown import breakdown
from gwa.breakdown.dimensions import by_name
from gwa.breakdown.held import held, whole_gpu_seconds
from gwa.store.engines.spark_sql import to_spark_sql
from gwa.store.gpu_parts import HAS_PARTS, PART, WHOLE_GPUS

PROFILES: dict[str, tuple[int, dict[int, tuple[int, ...]]]] = {
    # NVIDIA's table of supported profiles: (slices of the GPU, profiles by their slices).
    "a100": (7, {1: (5, 10, 20), 2: (10, 20), 3: (20, 40), 4: (20, 40), 7: (40, 80)}),
    "a30": (4, {1: (6,), 2: (12,), 4: (24,)}),
    "h100": (7, {1: (10, 12, 20, 24), 2: (20, 24), 3: (40, 47, 48), 4: (40, 47, 48), 7: (80, 93, 94, 96)}),
    "h200": (7, {1: (18, 35), 2: (35,), 3: (71,), 4: (71,), 7: (141,)}),
    "b200": (7, {1: (23, 45), 2: (45,), 3: (90,), 4: (90,), 7: (180,)}),
    "rtx_pro_6000": (4, {1: (24,), 2: (48,), 4: (96,)}),
}


def part(*names):
    with duckdb.connect() as database:
        query = f"select {PART} from (select cast(? as varchar) as gpu_type) as job"
        return [database.execute(query, [name]).fetchall()[0][0] for name in names]


@pytest.mark.parametrize("model", PROFILES)
def test_each_profile_is_the_slices_that_it_has(model):
    slices, profiles = PROFILES[model]
    names = {f"{model}_{count}g.{size}gb": count for count, sizes in profiles.items() for size in sizes}
    assert part(*names) == pytest.approx([count / slices for count in names.values()])


def test_a_whole_gpu_is_one_and_what_does_not_tell_is_unknown():
    assert part(None, "a100", "a100:4", "a100_80gb,v100:2", "nvidia-a100-80gb-pcie") == [1.0] * 5
    assert part("mig", "a100.mig", "1g.24gb", "a100_1g.5gb:2,a100:1") == [None] * 4


@given(st.text())
def test_a_part_is_no_more_than_a_gpu(name):
    (found,) = part(name)
    assert found is None or 0 < found <= 1


def test_breakdowns_have_the_time_of_whole_gpus_beside_that_of_gpus_as_they_are_counted(make_store):
    types = ["a100_1g.5gb", "a100", "a100_3g.20gb", "mig"]
    columns = {
        "submit_time": [0.0] * 4, "wait_time": [0.0] * 4, "run_time": [700.0, 700.0, 70.0, 7.0],
        "n_procs": [1] * 4, "n_gpus": [2.0, 1.0, 1.0, 1.0], "user_id": list("abab"), "status": [1] * 4,
    }  # fmt: skip
    store = make_store((), **columns, gpu_type=types)
    found = breakdown(store, by_name("users"), "by_cpu")
    assert found is not None
    rows = {row["id"]: row for row in found.rows}
    assert [rows[name]["gpu_seconds"] for name in "ab"] == [1470.0, 707.0]
    assert [rows[name]["whole_gpu_seconds"] for name in "ab"] == pytest.approx([230.0, 700.0])
    assert [rows[name]["whole_gpu_known_share"] for name in "ab"] == pytest.approx([1.0, 700 / 707])
    whole = breakdown(make_store((), **columns, gpu_type=["a100"] * 4), by_name("users"), "by_cpu")
    assert whole is not None
    assert "whole_gpu_seconds" not in whole.rows[0]


def test_spark_has_a_counterpart():
    assert to_spark_sql(f"select {WHOLE_GPUS} as whole, {HAS_PARTS} as has from jobs")


def test_usage_has_the_time_of_whole_gpus_where_jobs_held_parts(make_store):
    jobs = 200
    columns = {
        "submit_time": [3600.0 * place for place in range(jobs)], "wait_time": [0.0] * jobs,
        "run_time": [5400.0] * jobs, "n_procs": [1] * jobs, "n_gpus": [2.0] * jobs, "status": [1] * jobs,
    }  # fmt: skip
    sevenths = make_store((), **columns, gpu_type=["a100_1g.5gb"] * jobs)
    counted = held(sevenths)
    assert counted is not None
    assert whole_gpu_seconds(sevenths) == pytest.approx(counted.amounts["gpu_seconds"] / 7)
    assert whole_gpu_seconds(make_store((), **columns, gpu_type=["mig"] * jobs)) == 0.0
    assert whole_gpu_seconds(make_store((), **columns, gpu_type=["a100"] * jobs)) is None
    assert whole_gpu_seconds(make_store((), **columns)) is None
