"""Resources: each is counted where jobs record it."""

import pytest

from gwa.store.resources import RESOURCES, recorded

RAN = {"submit_time": [0.0, 10.0], "wait_time": [0.0, 0.0], "run_time": [100.0, 50.0], "n_procs": [2, 4]}


def test_a_log_of_old_records_processors_alone(make_store):
    assert [one.name for one in recorded(make_store(**RAN))] == ["cpu"]


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("node", {"n_nodes": [1, None]}),
        ("gpu", {"n_gpus": [0.5, 0.0]}),
        ("memory", {"max_memory": [None, 5.0]}),
        ("energy", {"energy": [7.0, None]}),
    ],
)
def test_a_resource_is_recorded_where_a_job_held_some_of_it(name, columns, make_store):
    assert [one.name for one in recorded(make_store(**RAN, **columns))] == ["cpu", name]
    nothing = {field: [0 for _ in values] for field, values in columns.items()}
    assert [one.name for one in recorded(make_store(**RAN, **nothing))] == ["cpu"]


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda one: one.name)
def test_every_amount_is_one_of_the_jobs(resource, make_store):
    """Two processors of four used for half of the time, half a GPU for a quarter of it."""
    store = make_store(
        **RAN,
        req_n_procs=[2, 8], average_cpu_time=[50.0, None], n_nodes=[1, 2], n_gpus=[2.0, None],
        req_gpus=[4.0, None], gpu_utilization=[0.25, None], req_memory=[100.0, None],
        max_memory=[150.0, None], energy=[9.0, None],
    )  # fmt: skip
    expected = {
        "cpu": (2, 2, 1.0),
        "node": (1, None, None),
        "gpu": (2.0, 4.0, 0.5),
        "memory": (None, 200.0, 150.0),
        "energy": (None, None, 9.0),
    }
    parts = (resource.held, resource.requested, resource.used)
    (row,) = store.rows(
        f"select {', '.join(part or 'null' for part in parts)} from ran order by job_id limit 1"
    )
    assert row == expected[resource.name]
