"""What is known of the use of GPUs, by a class: measured, idle, and the share that was measured."""

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
