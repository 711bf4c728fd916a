"""Slurm's text of completed jobs: the same jobs as sacct prints them, and what names may contain."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.formats.open import open_trace
from gwa.store.schema import NAMES
from tests.conftest import HOME, examples

SAMPLE = HOME / "sample_traces" / "slurm-filetxt" / "slurm_jobcomp.log"


def read(path, name="slurm-filetxt"):
    with open_trace([path]) as store:
        store.account.check()
        assert store.provenance["format"] == name
        rows = store.rows("select source_id, jobs.* exclude job_id from jobs join source_ids using (job_id)")
        return {key: dict(zip(NAMES[1:], fields, strict=True)) for key, *fields in rows}


def moment(text):
    return datetime.fromisoformat(f"{text}Z").timestamp()


EXPECTED = {
    "70101": {
        "submit_time": moment("2025-03-02T08:00:00"), "wait_time": 5, "run_time": 1800, "n_procs": 4,
        "req_n_procs": 4,
        "req_time": 3600, "req_memory": 2_048_000, "status": 1, "user_id": "user011", "group_id": "geo",
        "executable_id": "mesh of a basin", "queue_id": "short", "project_id": "geo", "n_nodes": 1,
        "qos": "normal",
        "eligible_time": moment("2025-03-02T08:00:00"), "state": "COMPLETED", "exit_code": 0, "n_gpus": None,
    },
    "70103_2": {
        "submit_time": moment("2025-03-02T08:01:00"), "wait_time": 540, "run_time": 607, "n_procs": 8,
        "req_time": 600,
        "req_memory": 8 * 1024**2, "status": 0, "user_id": "user042", "job_structure": "BoT",
        "job_structure_params": "70103", "n_gpus": 2, "req_gpus": 2, "gpu_type": "a100", "qos": "high",
        "eligible_time": moment("2025-03-02T08:05:00"), "state": "TIMEOUT", "exit_code": 129,
        "req_resources": "cpu:8,mem:64G,node:1,billing:8,gres/gpu:2,gres/gpu:a100:2,reservation:course",
    },
    "70106": {
        "wait_time": None, "run_time": None, "n_procs": None, "req_n_procs": 1, "req_time": None, "status": 5,
        "n_nodes": None, "exit_code": None, "state": "CANCELLED",
    },
    "70107+1": {"run_time": 600, "n_procs": 32, "n_nodes": 2, "req_time": None, "exit_code": 137},
    "511": {
        "submit_time": None, "wait_time": None, "run_time": 300, "n_procs": 2, "req_time": 1800, "status": 1,
        "project_id": None, "exit_code": None, "user_id": "user003",
    },
}  # fmt: skip


def test_the_sample_says_what_a_reader_sees():
    found = read(SAMPLE)
    assert set(found) == set(EXPECTED)
    for key, expected in EXPECTED.items():
        assert {name: found[key][name] for name in expected} == expected, key


WORDS = st.text(st.sampled_from("ab=( )._/-ü"), min_size=1, max_size=12).map(str.strip).filter(bool)
START = datetime(2025, 3, 2)  # noqa: DTZ001 - Slurm prints local times
STATES = ("COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED")


@st.composite
def jobs(draw):
    submit = START + timedelta(seconds=draw(st.integers(0, 10**7)))
    start = submit + timedelta(seconds=draw(st.integers(0, 10**5)))
    end = start + timedelta(seconds=draw(st.integers(0, 10**6)))
    gpus = draw(st.integers(0, 4))
    cpus = draw(st.integers(1, 64))
    return {
        "name": draw(WORDS), "folder": draw(WORDS), "state": draw(st.sampled_from(STATES)), "gpus": gpus,
        "submit": submit.isoformat(), "start": start.isoformat(), "end": end.isoformat(), "cpus": cpus,
        "elapsed": int((end - start).total_seconds()), "limit": draw(st.integers(1, 10_000)),
        "nodes": draw(st.integers(1, 9)), "code": f"{draw(st.integers(0, 255))}:{draw(st.integers(0, 15))}",
        "tres": f"cpu={cpus},mem=4G,node=1" + (f",gres/gpu={gpus},gres/gpu:a100={gpus}" if gpus else ""),
    }  # fmt: skip


LINE = (
    "JobId={id} UserId=ann(7) GroupId=bio(8) Name={name} JobState={state} Partition=long TimeLimit={limit}"
    " StartTime={start} EndTime={end} NodeList=n[1-9] NodeCnt={nodes} ProcCnt={cpus} WorkDir={folder}"
    " ReservationName= Tres={tres} Account=geo QOS=normal WcKey= Cluster=heron SubmitTime={submit}"
    " EligibleTime={submit} DerivedExitCode=0:0 ExitCode={code} \n"
)
HEADER = (
    "JobID|User|Group|JobName|State|Partition|TimelimitRaw|Start|End|ElapsedRaw|NodeList|NNodes|AllocCPUS|ReqCPUS|"
    "ReqMem|ReqTRES|AllocTRES|Account|QOS|Cluster|Submit|Eligible|ExitCode\n"
)
ROW = (
    "{id}|ann|bio|{name}|{state}|long|{limit}|{start}|{end}|{elapsed}|n[1-9]|{nodes}|{cpus}|{cpus}|4G|{tres}|"
    "{given}|geo|normal|heron|{submit}|{submit}|{code}\n"
)


@examples(12)
@given(many=st.lists(jobs(), min_size=10, max_size=40))
def test_the_same_jobs_are_the_same_trace_as_of_sacct(many, tmp_path_factory):
    folder = tmp_path_factory.mktemp("slurm")
    for number, job in enumerate(many):
        job["id"] = 100 + number
        job["given"] = f"gres/gpu={job['gpus']},gres/gpu:a100={job['gpus']}" if job["gpus"] else ""
    (folder / "jobcomp.log").write_text("".join(LINE.format(**job) for job in many))
    (folder / "sacct.txt").write_text(HEADER + "".join(ROW.format(**job) for job in many))
    assert read(folder / "jobcomp.log") == read(folder / "sacct.txt", "slurm")


@pytest.mark.parametrize(
    "line", ["JobId=1", "JobId=x UserId=a(1)", "JobId=7 UserId=ann(7) GroupId=bio(8) Name=x JobState=OK"]
)
def test_a_line_that_breaks_off_is_refused(line, tmp_path):
    (tmp_path / "log").write_text(SAMPLE.read_text() + line + "\n")
    with open_trace([tmp_path / "log"]) as store:
        assert (store.account.jobs, store.account.rejected) == (5, 1)
