"""A format is recognised by what only its tool writes: tables of others that hold its marks stay tables."""

import csv
import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gwa.errors import NothingReadError, TraceError, UnknownFormat
from gwa.formats.open import TRIED, open_trace, recognise
from gwa.formats.registry import converters, format_called
from gwa.formats.tools import command, tool_of, tools
from gwa.ingest.source.head import FileHead
from gwa.store.options import ReadOptions
from gwa.store.requests import RequestStore
from tests.conftest import HOME

JOBS = [
    {
        "job_id": number,
        "user": f"u{number % 2}",
        "submit_time": f"2026-03-02T08:0{number}:00Z",
        "start_time": f"2026-03-02T08:0{number}:30Z",
        "end_time": f"2026-03-02T09:0{number}:30Z",
        "cpus": 4,
        "state": "COMPLETED",
    }
    for number in range(4)
]

MARKS: Mapping[str, Mapping[str, Any]] = {
    "philly": {"attempts": 1, "vc": "ee9e8c", "jobid": "application_1", "submitted_time": "2026-03-02 08:00:00"},
    "mooncake": {"timestamp": 3000, "input_length": 600, "output_length": 5, "hash_ids": "1 2"},
    "flux": {"t_submit": 1772438400.5, "t_run": 1772438500.5, "urgency": 16, "nnodes": 2},
    "requests": {"tokens_in": 500, "tokens_out": 20},
    "azure-llm": {"ContextTokens": 500, "GeneratedTokens": 20, "TIMESTAMP": "2026-03-02 08:00:00"},
    "burstgpt": {"Request tokens": 500, "Response tokens": 20, "Total tokens": 520, "Log Type": "API log"},
    "burstgpt-camel": {"requestTokens": 500, "responseTokens": 20},
    "wfcommons": {"schemaVersion": "1.5", "workflow": "montage", "tasks": 4},
    "clustercockpit": {"subCluster": "main", "numHwthreads": 144, "monitoringStatus": 1, "jobState": "completed"},
    "batsim": {"subtime": 0.5, "profile": "ten", "nb_res": 4},
    "oar": {"assigned_resources": 4, "launchingDirectory": "/home/u", "cpuset_name": "u_501", "owner": "u"},
    "pbs-json": {"pbs_version": "23.06.06", "Job_Owner": "u@login"},
    "lsf-bjobs": {"JOBID": "901", "STAT": "DONE"},
    "slurm-jobcomp": {"@submit": "2026-03-02T08:00:00", "@end": "2026-03-02T09:00:00", "cpu_hours": 4.5},
    "slurm-json": {"submission": 1772438400, "association": "a", "time": 60},
    "kubernetes": {"apiVersion": "batch/v1", "kind": "Job", "metadata": "none"},
    "google2019": {"collection_id": "330587", "instance_index": "0", "type": "x", "time": "morning"},
    "condor": {"ClusterId": 200, "ProcId": 0, "JobStatus": 4, "GlobalJobId": "x"},
    "alibaba-gpu2025": {"instance_sn": "i1", "role": "HN", "app_name": "a"},
    "alibaba-spot2026": {"gpu_model": "A10", "organization": "o", "worker_num": 2, "job_type": "HP"},
    "google2019-csv": {"collection_logical_name": "x", "instance_events_type": "2"},
    "sge": {"job_number": 101, "qname": "all.q", "pe_taskid": "NONE"},
}
"""Names that the tools of some formats write, with values of others or of the tools."""


def _as_csv(rows: list[dict[str, Any]], delimiter: str = ",", quoting: int = csv.QUOTE_MINIMAL) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0], delimiter=delimiter, quoting=quoting, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


SHAPES = {
    "csv": _as_csv,
    "quoted": lambda rows: _as_csv(rows, quoting=csv.QUOTE_ALL),
    "tsv": lambda rows: _as_csv(rows, "\t"),
    "json": json.dumps,
    "jsonl": lambda rows: "".join(json.dumps(row) + "\n" for row in rows),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("tool", MARKS)
def test_a_table_of_jobs_with_marks_of_a_format_is_a_table(tool, shape, tmp_path):
    """One by one and all at once, before and behind the columns of jobs."""
    marks = MARKS[tool]
    planted = [{name: value} for name, value in marks.items()] + [marks]
    for number, more in enumerate(planted):
        rows = [{**job, **more} if number % 2 else {**more, **job} for job in JOBS]
        path = tmp_path / f"table{number}.{shape}"
        path.write_text(SHAPES[shape](rows))
        assert _as_what(path) == "table", more


def _as_what(path: Path) -> str:
    """Return the name of the format as which a file is read, or would be once its questions are answered."""
    try:
        named = recognise(FileHead.of(path)).name
        if named == "table":
            return named
        with open_trace([path], None, ReadOptions(requests=True)) as store:
            return str(store.provenance["format"])
    except TraceError as error:
        return "table" if "--map" in str(error) else str(error)


def test_says_what_was_tried(tmp_path):
    """The rows of another's file are refused by the format whose marks they have: the error says all reasons."""
    row = {"vc": "a", "jobid": None, "submitted_time": "soon", "attempts": [], "status": "Pass", "user": "u"}
    path = tmp_path / "jobs.json"
    path.write_text(json.dumps([row] * 3))
    with pytest.raises(NothingReadError, match=r"(?s)its jobid is missing; expected Microsoft Philly"):
        open_trace([path])


def test_a_store_says_as_what_its_file_was_tried(tmp_path):
    rows = [{**job, "id": None, "t_submit": 1.5, "t_run": 2.5, "urgency": 16} for job in JOBS]
    path = tmp_path / "jobs.json"
    path.write_text(json.dumps(rows))
    with open_trace([path]) as store:
        tried = store.rows(f"select meaning, jobs from repairs where name = '{TRIED}'")
        assert store.account.jobs == 4
        assert tried == [] or tried[0][1] == 4


@pytest.mark.parametrize("name", tools())
def test_every_known_tool_names_a_command_or_what_to_do(name):
    tool = tools()[name]
    words = tool.advice(format_called)
    assert words.startswith(f"is {tool.title}: ")
    assert bool(tool.reads) != bool(tool.instead)
    if tool.reads:
        assert command(format_called(tool.reads)) in words


OUTPUTS = {
    "squeue": "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"
    "               7       gpu    train     ada  R    1:02:03      1 n01\n",
    "scontrol-job": "JobId=7 JobName=train\n   UserId=ada(1) GroupId=bio(1) MCS_label=N/A\n",
    "scontrol-node": "NodeName=n01 Arch=x86_64 CoresPerSocket=16\n   CPUAlloc=0 CPUTot=32\n",
    "seff": "Job ID: 7\nCluster: oak\nUser/Group: ada/bio\nState: COMPLETED (exit code 0)\n",
    "sreport": "Cluster|Account|Login|Proper Name|Used|Energy\noak|bio|||120|0\n",
    "sinfo": "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\ngpu* up 1-00:00:00 4 idle n[1-4]\n",
    "sshare": "Account                    User  RawShares  NormShares    RawUsage\nroot 1 1.0 10 1.0\n",
    "sprio": "          JOBID PARTITION   PRIORITY       SITE        AGE\n 7 gpu 100 0 10\n",
    "sstat": "JobID|MaxVMSize|MaxVMSizeNode|AveCPU|\n7.0|100K|n01|00:01|\n",
    "bjobs": "JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n",
    "bhist": "Summary of time in seconds spent in various states:\nJOBID   USER    JOB_NAME  PEND\n",
    "bhist-long": "Job <7>, Job Name <x>, User <ada>, Project <p>, Command <run>\nMon Mar  2 08:00:00: Submitted\n",
    "bacct": "Accounting information about jobs that are:\n  - submitted by users ada,\n",
    "bhosts": "HOST_NAME          STATUS       JL/U    MAX  NJOBS    RUN\nh1 ok - 8 0 0\n",
    "qstat-grid-engine": "job-ID  prior   name       user         state submit/start at     queue\n-----\n7 0.5 x ada r\n",
    "qstat-grid-engine-xml": "<?xml version='1.0'?>\n<job_info  xmlns:xsd='x'>\n<queue_info></queue_info></job_info>\n",
    "qstat-grid-engine-job": "=====\njob_number:                 7\nexec_file: x\n",
    "qhost": "HOSTNAME                ARCH         NCPU NSOC NCOR NTHR  LOAD\nglobal - - - - - -\n",
    "qstat": "Job id            Name             User              Time Use S Queue\n----\n7.srv x ada 0 R workq\n",
    "qstat-dsv": "Job Id: 7.srv|Job_Name=x|Job_Owner=ada@login|job_state=F\n",
    "qstat-xml": "<Data><Job><Job_Id>7.srv</Job_Id><Job_Name>x</Job_Name></Job></Data>\n",
    "pbsnodes": "n01\n     Mom = n01.lab\n     ntype = PBS\n     state = free\n",
    "tracejob": "Job: 7.srv\n\n03/02/2026 08:00:00  S    enqueuing into workq\n",
    "cobalt": "03/02/2026 08:00:00;Q;7;queue=default;cwd=/;user=ada\n"
    "03/02/2026 09:01:00;E;7.svc;Exit_status=0;Resource_List.ncpus=64;start=1772438460.2;user=ada\n",
    "condor-q": "-- Schedd: ap1.lab : <10.0.0.1:9618?... @ 03/02/26 08:00:00\nOWNER BATCH_NAME\n",
    "condor-history": " ID     OWNER          SUBMITTED   RUN_TIME     ST COMPLETED   CMD\n 7.0 ada 3/2 08:00 0+01:00 C 3/2 x\n",
    "condor-status": "Name      OpSys      Arch   State     Activity LoadAv Mem\nslot1@n1 LINUX X86_64 Unclaimed Idle\n",
    "kubectl": "NAME                 READY   STATUS      RESTARTS   AGE\ntrain-0              0/1     Completed   0   3h\n",
    "kubectl-yaml": "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n",
    "kubectl-describe": "Name:             train-0\nNamespace:        lab\nPriority:         0\n",
    "kubectl-others": '{"apiVersion": "v1", "kind": "List", "items": [{"kind": "PyTorchJob", "metadata": {}}]}\n',
    "aws-batch-table": "jobId     jobName   status     runTime\nabc  sim SUCCEEDED 1:00\n",
    "spark-events": '{"Event":"SparkListenerLogStart","Spark Version":"3.5.0"}\n{"Event":"SparkListenerJobStart"}\n',
    "yarn": "Total number of applications (application-types: []): 1\nApplication-Id  Application-Name\n",
    "flux": "       JOBID QUEUE    USER     NAME       ST NTASKS NNODES     TIME INFO\n  f7 batch ada x CD 1 1 3s n1\n",
    "oarstat": "Job id    Name           User     Submission Date     S Queue\n--- ---\n7 x ada 2026-03-02 T default\n",
    "showq": "ACTIVE JOBS--------------------\nJOBNAME USERNAME STATE PROC REMAINING STARTTIME\n",
    "snakemake": "s\th:m:s\tmax_rss\tmax_vms\n20.5\t0:00:20\t46\t63\n",
    "apel-summary": "APEL-summary-job-message: v0.2\nSite: X\nMonth: 3\n",
    "json-schema": '{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Job", "type": "object"}\n',
}
"""The first lines of what each known tool prints, written as it writes them."""


@pytest.mark.parametrize("name", tools())
def test_says_what_a_file_is_that_a_known_tool_printed(name, tmp_path):
    path = tmp_path / "output.txt"
    path.write_text(OUTPUTS[name])
    with pytest.raises(UnknownFormat, match=re.escape(f"{path}: is {tools()[name].title}: ")):
        open_trace([path])


def test_no_sample_is_taken_for_the_output_of_a_tool():
    files = [path for path in (HOME / "sample_traces").rglob("*") if path.is_file() and path.suffix != ".md"]
    taken = {path.name: found.title for path in files if (found := tool_of(FileHead.of(path)))}
    assert not taken
    assert len(files) >= len(converters())


def test_requests_are_told_from_jobs_with_tokens(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("submit_time,tokens_in,tokens_out\n0,5,6\n1,7,8\n")
    with open_trace([path], None, ReadOptions(requests=True)) as store:
        assert store.holds == RequestStore.holds
