"""Logs of every format but Slurm's as people reported them: what is right of each is written beside them."""

from pathlib import Path
from typing import Any

import pytest

from gwa.errors import TraceError
from gwa.formats.open import open_trace

CASES = Path(__file__).parents[2].parent / "shared" / "cases" / "other"

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not part of the project")

NEVER = {"run_time": None, "wait_time": None, "n_procs": None}

RIGHT: dict[str, Any] = {
    # The values of jobs in the order of the trace, as far as they are looked at.
    "k8s_startederror.json": [NEVER | {"status": 0, "exit_code": 128}],
    "k8s_statusunknown.json": [NEVER | {"status": 0, "n_nodes": None}] * 2,
    "flux_jobs.jsonl": [NEVER, {"wait_time": pytest.approx(0.029, abs=1e-3)}],
    "lsf_start_before_submit.acct": [NEVER | {"status": 5}],
    "pbs_start1.pbs": [{"run_time": 1800, "wait_time": None, "n_procs": 8}],
    "table_start_zero.csv": [{"run_time": 100}, NEVER, NEVER],
    "table_start_iso.csv": [{"run_time": 100}, NEVER, NEVER, NEVER],
    "k8s_podlist_nokind.json": [{"n_procs": 4, "run_time": 3600}],
    "k8s_joblist_nokind.json": [{"n_procs": 12, "run_time": 3600}],
    "k8s_parallelism.json": [{"n_procs": 12}],
    "k8s_kueue_old.json": [{"status": 1}, NEVER | {"status": None}, {"status": 0}],
    "k8s_volcano.json": [{"wait_time": 300, "run_time": 3300, "n_procs": 5, "n_gpus": 2, "status": 1}],
    "condor_held_removed_last.classads": [{"run_time": 5200}],
    "condor_cases.classads": [{}, {"run_time": 2783}, {"run_time": 600}],
    "condor_universes.classads": [{"n_procs": None}, {"n_procs": 4}, NEVER],
    "lsf_hcs.acct": [{"n_procs": 16, "n_nodes": 1}, NEVER, {"run_time": 800}, NEVER],
    "lsf_array_range.acct": [NEVER | {"status": 5, "job_structure": "BoT", "job_structure_params": "819"}],
    "sge_xdmod172": [{"run_time": 0}, NEVER, NEVER, {"run_time": 194, "user_id": "vgl"}],
    "sge_uge.qacct": [{"wait_time": pytest.approx(10.595), "run_time": pytest.approx(60.5)}],
    "sge_never.qacct": [NEVER],
    "sge_1969_uge.qacct": [NEVER | {"exit_code": None}],
    "pbs_openpbs.pbs": [
        NEVER,
        {"run_time": 600, "wait_time": 10},
        {"run_time": 3600, "group_id": "domain users"},
        NEVER | {"status": 5},
        {"status": 0},
    ],
    "pbs_group_blank.pbs": [{"group_id": "domain users"}],
    "pbs_quotes.pbs": [{"run_time": 3600}, {"group_id": "domain users"}, {"run_time": 3600}],
    "pbs_purged_after_end.pbs": [{"status": 0, "exit_code": 1}],
    "qstat_leading_zero.json": [{"run_time": 300}] * 3,
    "qstat_bad.json": [{"n_procs": 4}, {"n_procs": 2}],
    "qstat_repeated_jobs.json": [{"status": 1}] * 2,
    "qstat_text_first.json": [{"status": 1}],
    "batsim_out_jobs.csv": [
        {"req_time": 100, "status": 1, "energy": None},
        {"req_time": 60, "status": 0, "energy": None},
        NEVER | {"req_time": 60},
        {"req_time": 60, "status": 5},
    ],
    "table_requested_time.csv": [{"req_time": 3600, "status": 1}, {"req_time": 7200, "status": 5}],
    "batch_task.csv": [{"run_time": None}, {"run_time": 3}, *[{"run_time": None}] * 3],
    "a17b": [{"run_time": None}, {"run_time": 57}],
    "a17c": [{"wait_time": 9, "run_time": 58}],
    "acme_trace.csv": [{"wait_time": 1810}, {"wait_time": 10}, NEVER, {"wait_time": 0}],
    "helios_cluster_log.csv": [{"wait_time": 0}, *[{"wait_time": 300}] * 3],
    "philly_cluster_job_log": [{"run_time": 3600}, {}, {"run_time": None}, {}, {}, {"run_time": 3600}],
    "swf_odd.swf": [{}] * 6,
    "header_newline.csv": [{"run_time": 100, "n_procs": 2}] * 2,
    "nul_mixed.csv": [{"run_time": 100, "n_procs": 2}] * 4,
    "latin1_semicolon.csv": [{"user_id": "Müller", "n_procs": 4}, {"user_id": "Çelik", "n_procs": 8}],
    "utf16.csv": [{"user_id": "Müller", "n_procs": 4}, {"user_id": "Çelik", "n_procs": 8}],
    "oar_jobs.json": [{"run_time": 0}, {"run_time": 1000}, NEVER],
    "maui_workload.trace": [{"n_procs": 16, "run_time": 2980}],
}
REJECTED = {"condor_universes.classads": 1, "swf_odd.swf": 2, "qstat_text_first.json": 3}
LARGE = {"names é ü.csv": 400, "operator_view_users.csv": 600}
REFUSED = {"a17": "no job in it", "lsf_tail_glitch.acct": "a quote is not closed"}


@pytest.mark.parametrize("name", RIGHT)
def test_a_case_is_read_as_is_right(name):
    path = CASES / name
    fields = list(dict.fromkeys(field for job in RIGHT[name] for field in job)) or ["1"]
    with open_trace(sorted(path.iterdir()) if path.is_dir() else [path]) as store:
        store.account.check()
        assert store.account.rejected == REJECTED.get(name, 0)
        rows = store.rows(f"select {', '.join(fields)} from jobs order by job_id")
    found = [dict(zip(fields, values, strict=True)) for values in rows]
    assert len(found) == len(RIGHT[name])
    assert [
        {field: job[field] for field in right} for job, right in zip(found, RIGHT[name], strict=True)
    ] == RIGHT[name]


@pytest.mark.parametrize("name", REFUSED)
def test_a_case_that_cannot_be_read_is_refused_with_the_reason(name):
    path = CASES / name
    with pytest.raises(TraceError, match=REFUSED[name]):
        open_trace(sorted(path.iterdir()) if path.is_dir() else [path])


@pytest.mark.parametrize("name", LARGE)
def test_a_case_of_many_jobs_is_read_whole(name):
    with open_trace([CASES / name]) as store:
        assert (store.account.jobs, store.account.rejected) == (LARGE[name], 0)


def test_every_case_is_tested():
    assert {path.name for path in CASES.iterdir()} == {*RIGHT, *LARGE, *REFUSED, "README.md"}
