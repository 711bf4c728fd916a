"""What is known of the use of GPUs, by a class: measured, idle, and the share that was measured."""

import pandas as pd
import pytest

from gwa.breakdown.breakdown import breakdown
from gwa.breakdown.dimensions import by_name

HOUR = 3600.0


def jobs(**measured):
    """Return three jobs of ann, of which one holds no GPU, and one of bob."""
    return {
        "submit_time": [1e9] * 4,
        "run_time": [HOUR, 2 * HOUR, HOUR, HOUR],
        "n_procs": [1] * 4,
        "n_gpus": [4.0, 1.0, None, 2.0],
        "user_id": ["ann", "ann", "ann", "bob"],
        **measured,
    }


def users(store):
    records = breakdown(store, by_name("users"), "by_jobs")
    assert records is not None
    return {row["id"]: row for row in records.rows}


def test_used_and_idle_time_is_of_what_was_measured(make_store):
    found = users(
        make_store(
            **jobs(
                gpu_utilization=[0.25, None, None, None],
                idle_gpus=[3, None, None, None],
                energy=[7.0, None, None, None],
            )
        )
    )
    ann, bob = found["ann"], found["bob"]
    assert (ann["gpu_seconds"], ann["gpu_used_seconds"], ann["gpu_idle_seconds"]) == (
        6 * HOUR,
        HOUR,
        3 * HOUR,
    )
    assert ann["gpu_known_share"] == pytest.approx(4 / 6, rel=1e-3)
    assert ann["energy_measured"] == 7.0
    assert (bob["gpu_used_seconds"], bob["gpu_idle_seconds"], bob["energy_measured"]) == (None, None, None)
    assert bob["gpu_known_share"] == 0


def test_without_measurements_there_is_no_such_column(make_store):
    ann = users(make_store(**jobs()))["ann"]
    assert {"gpu_used_seconds", "gpu_idle_seconds", "gpu_known_share", "energy_measured"}.isdisjoint(ann)


def test_amounts_of_a_gpu_are_weighted_by_gpu_time(make_store):
    """Against the definition in pandas: sums over jobs of which an amount is known, over their GPU time."""
    measured = {
        "n_procs": [16, 4, 2, 8],
        "req_memory": [1024.0, None, 2048.0, 4096.0],
        "gpu_memory": [8192.0, 512.0, None, 4096.0],
        "max_gpu_memory": [4096.0, None, None, 3000.0],
        "bounds": [None, "max_memory,gpu_memory", None, "max_memory"],
    }
    found = users(make_store(**jobs(**measured)))
    table = pd.DataFrame(jobs(**measured)).astype({"n_gpus": float})
    for name in ("ann", "bob"):
        held = table[(table.user_id == name) & (table.n_gpus > 0)]
        time = held.n_gpus * held.run_time
        memory = held.gpu_memory.where(~held.bounds.fillna("").str.contains("gpu_memory"))
        for measure, amount in (
            ("procs_per_gpu", held.n_procs),
            ("memory_per_gpu", held.req_memory * held.n_procs),
            ("gpu_memory_mean", memory),
        ):
            expected = (amount * held.run_time).sum() / time[amount.notna()].sum()
            assert found[name][measure] == pytest.approx(expected), measure
        share = time[memory.notna()].sum() / time.sum()
        assert found[name]["gpu_memory_known_share"] == pytest.approx(share)
    assert (found["ann"]["max_gpu_memory"], found["bob"]["max_gpu_memory"]) == (4096, 3000)


def test_how_much_is_known_is_said_of_idle_gpus_and_of_energy(make_store):
    found = users(
        make_store(
            **jobs(
                gpu_utilization=[0.5, 0.5, None, None],
                idle_gpus=[2, None, None, None],
                energy=[None, 9.0, None, None],
            )
        )
    )
    ann, bob = found["ann"], found["bob"]
    assert ann["gpu_known_share"] == 1
    assert ann["gpu_idle_known_share"] == pytest.approx(4 / 6)
    assert ann["energy_known_share"] == pytest.approx(2 / 4)
    assert (bob["gpu_idle_seconds"], bob["gpu_idle_known_share"], bob["energy_known_share"]) == (None, 0, 0)


def test_no_gpus_have_no_amount_for_each(make_store):
    found = users(make_store(**jobs(n_gpus=[0.0, 0.0, None, 2.0], gpu_memory=[5.0, None, None, 8.0])))
    assert [
        found["ann"][name] for name in ("procs_per_gpu", "gpu_memory_mean", "gpu_memory_known_share")
    ] == [
        None,
        None,
        None,
    ]
