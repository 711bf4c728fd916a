"""A format is recognised by what only its tool writes: tables of others that hold its marks stay tables."""

import csv
import io
import json
import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

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
    "philly": {
        "attempts": 1,
        "vc": "ee9e8c",
        "jobid": "application_1",
        "submitted_time": "2026-03-02 08:00:00",
    },
    "mooncake": {"timestamp": 3000, "input_length": 600, "output_length": 5, "hash_ids": "1 2"},
    "aiperf": {"timestamp": 3000, "input_length": 600, "output_length": 5, "context_mode": "x"},
    "flux": {"t_submit": 1772438400.5, "t_run": 1772438500.5, "urgency": 16, "nnodes": 2},
    "requests": {"tokens_in": 500, "tokens_out": 20},
    "azure-llm": {"ContextTokens": 500, "GeneratedTokens": 20, "TIMESTAMP": "2026-03-02 08:00:00"},
    "burstgpt": {"Request tokens": 500, "Response tokens": 20, "Total tokens": 520, "Log Type": "API log"},
    "burstgpt-camel": {"requestTokens": 500, "responseTokens": 20},
    "wfcommons": {"schemaVersion": "1.5", "workflow": "montage", "tasks": 4},
    "clustercockpit": {
        "subCluster": "main",
        "numHwthreads": 144,
        "monitoringStatus": 1,
        "jobState": "completed",
    },
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
    "nextflow": {
        "task_id": 7,
        "hash": "3f/a00001",
        "native_id": "81001",
        "realtime": "1h",
        "peak_rss": "8 GB",
    },
    "lsf-stream": {"event_type": "JOB_FINISH", "num_processors": 4, "job_status_code": 64},
    "aws-batch": {
        "jobId": "aa01",
        "jobQueue": "arn:aws:batch:eu-central-1:1:job-queue/hpc",
        "createdAt": 1772438400000,
        "attempts": 1,
        "container": "sim",
    },
    "yarn": {"finalStatus": "SUCCEEDED", "trackingUI": "History", "id": "application_1741500000000_0001"},
    "gram-audit": {
        "job_grid_id": "https://x:8443/1",
        "local_job_id": 7,
        "subject_name": "/O=Grid/CN=a",
        "username": "ada",
        "creation_time": "2026-03-02 08:00:00",
        "queued_time": "2026-03-02 08:00:00",
        "success_flag": "true",
    },
    "alibaba-gpu2020": {"job_name": "a", "inst_id": "b", "status": "Terminated", "plan_gpu": 50},
    "alibaba2018": {"task_name": "M1", "instance_num": 1, "task_type": 1, "plan_cpu": 100, "plan_mem": 0.5},
    "azure-vm": {
        "vmid": "a",
        "subscriptionid": "b",
        "deploymentid": "c",
        "maxcpu": 90.5,
        "vmcategory": "Unknown",
    },
    "wta": {"ts_submit": 10, "runtime": 3600, "workflow_id": 1, "resource_amount_requested": 4},
    "slurm-filetxt": {"text": "JobId=7 UserId=ada(1) JobState=COMPLETED StartTime=2026-03-02T08:01:00"},
    "weka": {"session_id": "a", "hash_ids": "1 2", "t": 0.5, "in": 100, "out": 20},
    "ray": {"submission_id": "raysubmit_a1", "entrypoint": "python t.py", "type": "SUBMISSION"},
}
"""Names that the tools of some formats write, with values of others or of the tools."""


def _as_csv(
    rows: list[dict[str, Any]], delimiter: str = ",", quoting: Literal[0, 1] = csv.QUOTE_MINIMAL
) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0], delimiter=delimiter, quoting=quoting, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


SHAPES: Mapping[str, Callable[[list[dict[str, Any]]], str]] = {
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
    """No row is a job of the format whose marks they have: the error says why."""
    row: dict[str, object] = {
        "vc": "a",
        "jobid": None,
        "submitted_time": "soon",
        "attempts": [],
        "status": "Pass",
        "user": "u",
    }
    path = tmp_path / "jobs.json"
    path.write_text(json.dumps([row] * 3))
    with pytest.raises(NothingReadError, match=r"(?s)its jobid is missing; expected Microsoft Philly"):
        open_trace([path])


def test_a_store_says_as_what_its_file_was_tried(tmp_path):
    path = tmp_path / "jobs.json"
    path.write_text(json.dumps([{**job, **MARKS["oar"]} for job in JOBS]))
    with open_trace([path]) as store:
        assert store.rows(f"select meaning, jobs from repairs where name = '{TRIED}'") == [
            ("the file has the marks of the format oar, but none of its rows is a job of it", 4)
        ]
        assert store.provenance["format"] == "table"


@pytest.mark.parametrize("name", tools())
def test_every_known_tool_names_a_command_or_what_to_do(name):
    tool = tools()[name]
    words = tool.advice(format_called)
    assert words.startswith(f"is {tool.title}: ")
    assert bool(tool.reads) != bool(tool.instead)
    if tool.reads:
        assert command(format_called(tool.reads)) in words
        assert (HOME / "sample_traces" / tool.reads).is_dir()  # what the command prints, which converts


OUTPUTS = dict(
    part.split("\n", 1)
    for part in Path(__file__).with_name("outputs_of_tools.txt").read_text(encoding="utf-8").split("=== ")[1:]
)
"""The first lines of what each known tool prints, written as it writes them."""


@pytest.mark.parametrize("name", tools())
def test_says_what_a_file_is_that_a_known_tool_printed(name, tmp_path):
    path = tmp_path / "output.txt"
    path.write_text(OUTPUTS[name])
    with pytest.raises(UnknownFormat, match=re.escape(f"{path}: is {tools()[name].title}: ")):
        open_trace([path])


FORMS = {
    # What the tools print when they are asked for other columns.
    "squeue": [
        "JOBID USER STATE TIME CPUS NODES\n7 ada RUNNING 1:02:03 4 1\n",
        "JOBID|PARTITION|NAME|USER|ST|TIME|NODES|NODELIST(REASON)\n7|gpu|x|ada|R|1:02|1|n01\n",
        "JOBID USER SUBMIT_TIME START_TIME CPUS\n7 ada 2026-03-02T08:00:00 N/A 4\n",
    ],
    "sreport": [
        "Top 10 Users 2026-03-01T00:00:00 - 2026-03-31T23:59:59\nUsage reported in CPU Minutes\n",
        "Cluster|Account|0-49 CPUs|50-249 CPUs|% of cluster|\noak|bio|100|0|10%|\n",
    ],
    "sinfo": ["NODELIST   NODES PARTITION       STATE CPUS\nn01            1      gpu*        idle 32\n"],
    "sprio": ["  JOBID PARTITION     USER  ACCOUNT   PRIORITY       SITE\n 7 gpu ada bio 1000 0\n"],
    "bjobs": [
        "JOBID STAT USER QUEUE SLOTS SUBMIT_TIME\n7 DONE ada normal 4 Mar 2 08:00\n",
        "JOBID;STAT;USER;SLOTS;SUBMIT_TIME;RUN_TIME\n7;DONE;ada;4;Mar  2 08:00;3600 second(s)\n",
    ],
    "pbsnodes": ["vnode           state           njobs   run\n--------------- ---- --- ---\nn1 free 1 1\n"],
    "condor-autoformat": ["ClusterId,QDate,JobStartDate,CompletionDate,RequestCpus\n7,1,2,3,4\n"],
    "oarstat": ["Job id    S User     Duration   System message\n--------- - --- ---\n7 R ada 1:00:00 R=4\n"],
    "snakemake": [
        "jobid\trule_name\tthreads\ts\th:m:s\tmax_rss\n1\talign\t4\t20.5\t0:00:20\t46\n",
        json.dumps({"s": 20.5, "h:m:s": "0:00:20", "max_rss": 46, "rule_name": "align", "threads": 4}),
    ],
    "ray": [
        "---\n-   driver_info:\n        id: '01000000'\n    submission_id: raysubmit_a\n",
        "\n======== List: 2026-03-02 08:00:00.123456 ========\nStats:\n------\nTotal: 2\n",
    ],
    "kubectl-others": [
        json.dumps({"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": api, "kind": kind}]})
        for api, kind in (("tekton.dev/v1", "PipelineRun"), ("v1", "Node"), ("kubevirt.io/v1", "VMI"))
    ],
    "aws-batch-table": [
        json.dumps({"jobSummaryList": [{"jobId": "1", "jobArn": "arn:aws:batch:x", "createdAt": 1772438400000,
                                        "jobDefinition": "arn:aws:batch:x", "container": {"exitCode": 0}}]}),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, forms in FORMS.items() for text in forms])
def test_a_tool_is_known_whatever_columns_it_was_asked_for(name, text, tmp_path):
    path = tmp_path / "output.txt"
    path.write_text(text)
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


# Formats whose records have no names: other lines that look like theirs.


def _numbers(cells: Callable[[random.Random], str], by: str = " ", first: str = "") -> Callable[[int], str]:
    chance = random.Random(18)
    width = 18 - bool(first)
    return lambda number: by.join(
        [first.format(number)] * bool(first) + [cells(chance) for _ in range(width)]
    )


def _dated(letters: str, rest: str) -> Callable[[int], str]:
    return lambda n: f"03/{n % 28 + 1:02}/2026 08:{n:02}:00;{letters[n % len(letters)]};{rest}"


def _quoted(word: str, rest: str) -> Callable[[int], str]:
    return lambda n: f'"{word}" "{"10.1" if n % 2 else "2"}" {1_772_438_400 + n} {rest}'


CELLS: Mapping[str, Callable[[random.Random], str]] = {
    "genotypes": lambda chance: chance.choice("012"),
    "classes": lambda chance: str(chance.randint(0, 5)),
    "bytes": lambda chance: str(chance.randint(0, 255)),
    "counts": lambda chance: str(chance.randint(0, 99_999)),
    "ratios": lambda chance: f"{chance.random():.4f}",
}
RESTS = ["service;started", "42.host;ok", "disk1;free=3 used=4", "7.srv;user ada came in", "x;y=1;z=2"]
VALUES = ['"ok"', '1 2 3 "a b"', '-1 0 "x" ""', '901 1000 33 1 1772438400 0 0 "u"', '"host1" 3.5']
FOREIGN: Mapping[str, list[Callable[[int], str]]] = {
    "swf": [
        _numbers(cells, by, first)
        for cells in CELLS.values()
        for by, first in ((" ", ""), (" ", "{}"), ("\t", "{}"), (" ", "7{:02}"))
    ],
    "pbs": [_dated(letters, rest) for letters in ("I", "EWI", "SED", "LQ") for rest in RESTS],
    "lsf": [
        _quoted(word, rest) for word in ("INFO", "JOB_NEW", "HOST_CTRL", "JOB_FINISHED") for rest in VALUES
    ],
}
"""By format, what writes the lines of twenty logs or tables of others, each by the number of a line."""


@pytest.mark.parametrize("name", FOREIGN)
def test_lines_that_look_like_those_of_a_format_are_not_taken_for_it(name, tmp_path):
    for number, line in enumerate(FOREIGN[name]):
        path = tmp_path / f"{number}.txt"
        path.write_text("".join(f"{line(place)}\n" for place in range(40)))
        with pytest.raises(UnknownFormat):
            recognise(FileHead.of(path))
    assert len(FOREIGN[name]) == 20
