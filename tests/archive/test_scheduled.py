"""Waits and outcomes of synthetic traces."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.archive.catalogue import read_catalogue
from gwa.archive.publish import made
from gwa.archive.scheduled import Scheduling, machine, not_modelled, scheduled
from gwa.models.base import presets
from gwa.models.generate import GenerationRequest, generate_store
from gwa.models.streams import Extent
from gwa.simulation.jobs import Jobs
from tests.conftest import HOME

REQUEST = GenerationRequest(presets()["thesis-das2"].model, Extent(jobs=3000), 7)
HOW = Scheduling("easy", 0.6, 0.1)


def column(block, name):
    return np.asarray(block[name])


def test_a_schedule_never_needs_more_processors_than_there_are():
    request = scheduled(REQUEST, HOW)
    (block,) = request.blocks()
    cpus = int(dict(request.header)["Processors"])
    start = column(block, "submit_time") + column(block, "wait_time")
    ends = start + column(block, "run_time")
    times = np.concatenate([ends, start])
    changes = np.concatenate([-column(block, "n_procs"), column(block, "n_procs")])
    busy = np.cumsum(changes[np.argsort(times, kind="stable")])

    assert (column(block, "wait_time") >= 0).all()
    assert (column(block, "wait_time") > 0).any()
    assert busy.max() <= cpus


def test_scheduling_changes_no_job_and_equal_requests_give_equal_jobs():
    with generate_store(REQUEST) as plain, generate_store(scheduled(REQUEST, HOW)) as store:
        query = (
            "select submit_time, run_time, n_procs, user_id, job_structure_params from jobs order by job_id"
        )
        assert store.rows(query) == plain.rows(query)
        assert store.row("select count(wait_time), count(status) from jobs") == (3000, 3000)
        with generate_store(scheduled(REQUEST, HOW)) as again:
            rows = "select * from jobs order by job_id"
            assert again.rows(rows) == store.rows(rows)
            assert again.header == store.header


def test_the_share_of_failures_is_as_stated_and_the_header_says_so():
    request = scheduled(REQUEST, HOW, cpus=500)
    (block,) = request.blocks()
    header = dict(request.header)

    assert np.mean(column(block, "status") == 0) == pytest.approx(0.1, abs=0.02)
    assert header["Processors"] == "500"
    assert header["Scheduling"].startswith("simulated: EASY")
    assert "10%" in header["Outcomes"]


@given(
    st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e6), st.integers(1, 100)), min_size=1),
    st.floats(0.1, 1),
)
def test_the_machine_has_room_for_every_job(jobs, load):
    submit, run, procs = zip(*jobs, strict=True)
    assert machine(Jobs.of(submit, run, procs), load) >= max(procs)


def test_every_synthetic_trace_of_our_archive_records_waits_and_outcomes():
    for entry in read_catalogue(HOME / "site").entries:
        assert entry.synthetic, "no real log is part of the archive"
        assert entry.policy
        assert entry.failures > 0
    with made(entry) as store:
        jobs, waits, waiting, ended = store.row(
            "select count(*), count(wait_time), sum(cast(wait_time > 0 as int)), count(status) from jobs"
        )
    assert jobs == waits == ended
    assert waiting > jobs / 50


def test_a_store_says_what_its_model_did_not_make(make_store):
    with generate_store(REQUEST) as plain, generate_store(scheduled(REQUEST, HOW)) as store:
        assert not_modelled(plain) == {}
        assert set(not_modelled(store)) == {"WaitTime", "Status"}
        assert "drawn at random" in not_modelled(store)["Status"]
    others = make_store(submit_time=[1.0], wait_time=[2.0])
    assert "not known" in not_modelled(others)["WaitTime"]
