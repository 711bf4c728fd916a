"""Logs of other worlds and of Slurm as people reported them: what is right of each is written beside them."""

from pathlib import Path
from typing import Any

import pytest

from gwa.breakdown.charge.charges import BillingPeriod, month
from gwa.breakdown.charge.rates import Rate, Rates
from gwa.errors import TraceError
from gwa.formats.measure import measure
from gwa.formats.open import open_trace
from gwa.metrics.presence import present, runaways
from gwa.store.options import ReadOptions
from gwa.store.store import Store

CASES = Path(__file__).parents[2].parent / "shared" / "cases"
FOLDERS = [CASES / "open", CASES / "slurm2"]

pytestmark = pytest.mark.skipif(not FOLDERS[0].is_dir(), reason="the cases are not part of the project")

NEVER = {"run_time": None, "n_procs": None}
TIMED = {"wait_time": 30, "n_procs": 4, "status": 1}
DONE = {"run_time": 100, "wait_time": 10, "n_procs": 2, "status": 1}


def pod(procs, gpus):
    return {"n_procs": procs, "n_gpus": gpus}


RIGHT: dict[str, dict[str, dict[str, Any]]] = {
    # The jobs by their ids, or by their places where they have none, with what is looked at of each.
    "accounting.jsonl": {
        "101": {"status": 1, "req_time": 3600, "max_memory": 2 * 1024**2, "cpu": 14_000, "project_id": None},
        "102.1": {"status": 1, "job_structure_params": "102"},
        "102.2": {"status": 0, "job_structure_params": "102"},
        "103": {"status": 5},
        "104": NEVER | {"status": 0},
        "105": {"status": 0},
    },
    "ocs_slaves_reschedule.jsonl": {
        "110": {"run_time": 3600, "n_procs": 4, "n_requeues": None},
        "111": {"run_time": 600, "n_procs": 4, "n_requeues": 1},
    },
    "ocs_qacct.txt": {
        "120": {"run_time": 3600.5, "wait_time": pytest.approx(59.6, abs=0.1), "status": 1},
        "121.7": {"run_time": 600, "status": 5},
    },
    "lsf_stream.jsonl": {
        "301": {"status": 1, "project_id": "p1", "run_time": 3600},
        "302": NEVER | {"status": 5},
    },
    "condor_userlog.log": {"210.0": {"wait_time": 60, "run_time": 3600, "status": 1}},
    "k8s_pods_2026.json": {
        "lab/resized": {"n_procs": 8},
        "lab/podlevel": {"n_procs": 6, "memory": 8 * 1024**2},
        "lab/dra": {"n_gpus": None},
    },
    "k8s_volcano_restarted.json": {
        "lab/restarted": {"runs": "600/3000/////restarting;7200/3600/////completed"},
        "lab/aborted": NEVER,
    },
    "k8s_job_and_pods.json": {"lab/idx": {"state": "Complete", "exit_code": 0}},
    "aws_batch_describe_jobs.json": {
        "aa01": pod(8, 1),
        "aa02": NEVER,
        "aa02:0": {"n_requeues": None},
        "aa02:1": {"run_time": 600, "n_requeues": 1},
        "aa03": NEVER,
        "aa04": {"n_procs": 64},
    },
    "nextflow_trace.txt": {
        "1": {"run_time": 1280, "wait_time": 4},
        "2": {"run_time": 1930},
        "3": {"run_time": 3660, "status": 0},
        "4": {"run_time": 176_940},
        "6": {"run_time": None},
        "7": NEVER,
    },
    "ur2.xml": {"g-1": {"run_time": 3600, "cpu": 5400, "n_procs": 2, "max_memory": 1024**2}},
    "apel_job_message.txt": {"31564.ce1": {"run_time": 234_256}, "31565.ce1": {"run_time": 100}},
    "table_submit_zero_some.csv": {
        "1": {"submit_time": 1_761_900_060, "run_time": 3600},
        "2": {"submit_time": 1_761_900_600, "run_time": 600},
        "3": {"submit_time": 1_761_900_700, "wait_time": 100},
    },
    "table_t_submit.json": dict.fromkeys("0123", DONE),
    "table_attempts.json": dict.fromkeys("0123", TIMED),
    "ray_jobs.json": {
        "raysubmit_a": {"run_time": 600, "n_procs": 4, "n_gpus": 1},
        "raysubmit_b": {"run_time": None},
    },
    "x04-requeued-charge.sacct": {"500": {"n_requeues": 2, "wait_time": 3600}, "501": {"n_requeues": None}},
    "x05-json-2511-restarts.json": {
        "900": {"n_requeues": 3},
        "903+1": {"n_procs": 16},
        "906": {"n_gpus": None},
    },
    "x10-per-node-gres.sacct": {
        "1": {"req_gpus": 4},
        "2": {"req_gpus": 2},
        "3": {"req_gpus": 4},
        "5": {"req_gpus": 4},
    },
    "x22-gpu-untracked.sacct": {"1": {"n_gpus": None}},
}
COUNTS = {"condor_one_line.json": 11, "condor_evicted_600.jsonl": 600, "k8s_pods_2026.json": 9}
REFUSED = {
    "openpbs_qstat.dsv": "qstat -x -t -f -F json",
    "condor_history_table.txt": "condor_history -jsonl",
    "cobalt.log": "Cobalt",
    "k8s_jobset.json": "export their Jobs or Pods",
    "k8s_pods.yaml": "-o json",
    "kubectl_get_pods.txt": "-o json",
    "snakemake_benchmark.tsv": "not when",
    "mooncake_seconds.jsonl": "how long is a unit",
    "x12-sreport.txt": "a report of sreport.*sacct",
    "x13-squeue.txt": "the table of squeue.*sacct",
    "x14-scontrol.txt": "the output of scontrol show job.*sacct",
    "x15-seff.txt": "the output of seff.*sacct",
    "x16-dcgm.csv": "gwa measure",
}
REQUESTS = {
    # Requests, sessions, and from when to when in seconds.
    "qwen_hour_2rps.jsonl": (7200, 7200, 3599.5),
    "aibrix_ns.jsonl": (4, 0, 1.5),
    "weka_trace.jsonl": (2, 1, 2.5),
    "litellm_spendlogs.csv": (2, 0, 4.9),
    "aiperf_session.jsonl": (2, 2, 1.0),  # one more has no time of its own, and is refused
}
ELSEWHERE = {
    "x03-gpuutil-zero-unsupported.sacct", "x07-runaway.sacct", "x08-chains.sacct", "x16-mig.sacct",
    "x20-suspended.sacct",
}  # fmt: skip


def path_of(name):
    return next(folder / name for folder in FOLDERS if (folder / name).exists())


DERIVED = {"cpu": "average_cpu_time * n_procs", "memory": "req_memory * req_n_procs"}


@pytest.mark.parametrize("name", RIGHT)
def test_jobs_of_a_case_are_right(name):
    with open_trace([path_of(name)]) as store:
        store.account.check()
        for job, right in RIGHT[name].items():
            fields = ", ".join(DERIVED.get(field, field) for field in right)
            rows = store.rows(
                f"select {fields} from jobs left join source_ids using (job_id)"
                f" where coalesce(source_id, cast(job_id as varchar)) = '{job}'"
            )
            assert [dict(zip(right, row, strict=True)) for row in rows] == [right], job
        if not name.startswith(("x05", "x10", "k8s_pods_2026")):
            assert store.account.jobs == len(RIGHT[name])


@pytest.mark.parametrize("name", COUNTS)
def test_a_case_has_all_its_jobs(name):
    with open_trace([path_of(name)]) as store:
        assert (store.account.jobs, store.account.rejected) == (COUNTS[name], 0)


@pytest.mark.parametrize("name", REFUSED)
def test_a_case_that_holds_no_jobs_says_what_to_export(name):
    with pytest.raises(TraceError, match=f"(?s){REFUSED[name]}"):
        open_trace([path_of(name)], None, ReadOptions(requests=True))


@pytest.mark.parametrize("name", REQUESTS)
def test_requests_of_a_case_are_read(name):
    with open_trace([path_of(name)], None, ReadOptions(requests=True)) as store:
        query = (
            "select count(*), count(distinct session_id), max(submit_time) - min(submit_time) from requests"
        )
        assert store.row(query) == pytest.approx(REQUESTS[name])


def test_evicted_jobs_of_condor_held_what_they_held():
    with open_trace([path_of("condor_evicted_600.jsonl")]) as store:
        (evicted,) = store.row("select count(*) from jobs where n_requeues > 0")
        (wait,) = store.row("select avg(wait_time) from jobs")
        (earlier,) = store.row(
            "select 1 - sum(run_time * n_procs) /"
            f" (select sum((end_time - start_time) * n_procs) from {present(store)} as present) from jobs"
        )
    assert (evicted, round(wait), round(100 * earlier, 1)) == (162, 158, 52.2)


CPU = Rates(currency="EUR", rates=(Rate(name="CPU", cpu_hour=1.0),))


def hours(store, first, last):
    part = BillingPeriod("part", first, last)
    return {one.project: one.amounts["cpu_hour"] / 3600 for one in month(store, CPU, part).usage}


def test_requeued_suspended_and_runaway_jobs_are_charged_for_what_they_held():
    begin, end = 1_764_547_200, 1_775_001_600  # December 2025 to March 2026
    february = 1_769_904_000
    with open_trace([path_of("x04-requeued-charge.sacct")]) as store:
        assert hours(store, begin, end) == {"chem": 1280, "bio": 640}
    with open_trace([path_of("x07-runaway.sacct")]) as store:
        assert runaways(store) == 1
        assert "phys" not in hours(store, begin, end)
    with open_trace([path_of("x20-suspended.sacct")]) as store:
        assert sum(hours(store, begin, february).values()) + sum(hours(store, february, end).values()) == 16


def test_jobs_of_a_chain_could_start_six_minutes_before_they_did():
    with open_trace([path_of("x08-chains.sacct")]) as store:
        since = "submit_time + wait_time - eligible_time"
        assert store.row(f"select min({since}), max({since}) from jobs where user_id = 'fred'") == (360, 360)


def test_counters_that_never_count_make_no_idle_gpus():
    with open_trace([path_of("x03-gpuutil-zero-unsupported.sacct")]) as store:
        idle = store.rows("select user_id, count(idle_gpus) > 0 from jobs group by all order by all")
    assert dict(idle)["bert"] is False
    assert dict(idle)["cleo"] is False


def test_parts_of_gpus_are_measured_by_what_counts_for_them(tmp_path):
    with open_trace([path_of("x16-mig.sacct")], None, ReadOptions(target=tmp_path / "jobs.duckdb")):
        pass
    measure(tmp_path / "jobs.duckdb", [path_of("x16-dcgm.csv")])
    with Store.open(tmp_path / "jobs.duckdb") as store:
        rows = store.rows(
            "select source_id, gpu_utilization from jobs join source_ids using (job_id) order by 1"
        )
    assert dict(rows)["1"] == pytest.approx(0.93)
    assert dict(rows)["3"] == pytest.approx(0.5)


def test_every_case_is_tested():
    names = {path.name for folder in FOLDERS for path in folder.iterdir()} - {"README.md"}
    assert names == {*RIGHT, *COUNTS, *REFUSED, *REQUESTS, *ELSEWHERE}
