"""The core facts: as many however long a log is, and each as among all."""

from typing import Any

import numpy as np
import pytest

from gwa.analysis.build import facts
from gwa.analysis.core import MOST_ROWS, core, values
from gwa.analysis.watched import of_now, watched
from gwa.report.document import Fact
from gwa.report.prometheus import exposition

MOST = 1500
MONTH = 30 * 86_400.0
ZONE = (("Times", "Unix seconds, UTC"), ("TimeZoneString", "Europe/Berlin"), ("MaxProcs", "64"))


@pytest.fixture(scope="module", params=[12, 60], ids=lambda months: f"{months} months")
def wide(request, make_shared_store):
    """Return a store of so many months, in which all that operators ask for is recorded, by many names."""
    rng = np.random.default_rng(3)
    size = 3000

    def names(letter, count):
        return [f"{letter}{n}" for n in rng.integers(0, count, size)]

    return make_shared_store(
        ZONE,
        submit_time=np.sort(1.6e9 + rng.uniform(0, request.param * MONTH, size)).round().tolist(),
        wait_time=rng.integers(0, 9000, size).astype(float).tolist(),
        run_time=rng.integers(1, 90_000, size).astype(float).tolist(),
        n_procs=rng.integers(1, 33, size).tolist(),
        n_nodes=rng.integers(1, 4, size).tolist(),
        n_gpus=rng.integers(0, 5, size).astype(float).tolist(),
        gpu_type=["a100"] * size,
        gpu_utilization=rng.uniform(0, 1, size).tolist(),
        average_cpu_time=rng.integers(0, 50_000, size).astype(float).tolist(),
        energy=rng.uniform(1, 1e6, size).tolist(),
        req_time=rng.integers(1, 99_000, size).astype(float).tolist(),
        status=rng.choice([0, 1, 5], size).tolist(),
        user_id=names("u", 60), group_id=names("g", 30), project_id=names("p", 30), queue_id=names("q", 20),
        partition_id=names("n", 20), qos=names("s", 20), executable_id=names("x", 60),
        job_structure_params=names("a", 90), last_run_site_id=names("t", 20),
    )  # fmt: skip


def test_there_are_at_most_so_many_values_whatever_the_length(wide):
    found = facts(wide)
    assert 300 < values(found) <= MOST
    series = exposition(of_now(found), "t", watched(wide)).splitlines()
    assert sum(not line.startswith("#") for line in series) <= MOST


def test_they_are_among_all_facts(wide):
    every: dict[str, Any] = {fact.id: fact.value for fact in facts(wide, every=True)}
    for fact in facts(wide):
        if not isinstance(fact.value, list):
            assert fact.value == every[fact.id]
            continue
        assert len(fact.value) == len(every[fact.id]) <= MOST_ROWS
        for row, whole in zip(fact.value, every[fact.id], strict=True):
            assert row == ({key: whole[key] for key in row} if isinstance(row, dict) else whole)


def test_of_a_long_log_years_are_core_facts_and_months_are_not(wide):
    found = {fact.id: fact.value for fact in facts(wide)}
    months: Any = facts(wide, "months.by_cpu")[0].value
    assert ("years.by_cpu" in found) == (len(months) > MOST_ROWS) == ("months.by_cpu" not in found)


def test_keys_that_no_row_has_are_left_out():
    (kept,) = core([Fact("users.by_cpu", [{"id": "a", "jobs": 1, "procs_mean": 2.0}], "Users")])
    assert kept.value == [{"id": "a", "jobs": 1}]
    assert [*core([Fact("users.by_wait", [{"id": "a"}], "Users")])] == []
