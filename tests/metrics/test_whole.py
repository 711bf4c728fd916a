"""Which values are surely whole, so that their sums are exact without decimals."""

import pytest

from gwa.metrics import whole
from gwa.metrics.whole import exactly, is_whole

RECORDED = {
    "submit_time": [0.0, 5.0], "run_time": [60.0, 61.0], "wait_time": [0.5, 1.0], "n_procs": [4, 2],
    "average_cpu_time": [1.0, None],
}  # fmt: skip


@pytest.fixture
def store(make_store, monkeypatch):
    """Return a store whose run times are whole and whose waits are not."""
    monkeypatch.setattr(whole, "SMALL_TRACE", 0)
    return make_store(**RECORDED)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("run_time", True),
        ("run_time * n_procs", True),
        ("case when outcome = 'failed' then cpu_seconds end", True),
        ("greatest(run_time - average_cpu_time, 0) * n_procs", True),
        ("wait_time", False),
        ("run_time * wait_time", False),
        ("run_time / 2", False),
        ("run_time * 0.5", False),
        ("run_time * n_procs * n_procs", False),
        ("sqrt(run_time)", False),
        ("req_time", False),
        ("energy", False),
    ],
)
def test_sums_and_products_of_two_whole_fields_are_whole(value, expected, store):
    assert is_whole(store, value) == expected
    assert exactly(store, value).endswith("as bigint)" if expected else "as decimal(38, 6))")


def test_large_numbers_are_not_whole_enough(make_store, monkeypatch):
    monkeypatch.setattr(whole, "SMALL_TRACE", 0)
    assert not is_whole(make_store(**{**RECORDED, "run_time": [2.0**26, 1.0]}), "run_time")


def test_of_few_jobs_nothing_is_looked_at(make_store):
    assert not is_whole(make_store(**RECORDED), "run_time")
