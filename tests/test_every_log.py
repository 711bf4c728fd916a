"""Every real log is converted, and each of its rows is accounted for."""

import gzip
import re
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

from gwa.errors import TraceError
from gwa.formats.open import open_trace
from gwa.store.options import ReadOptions
from tests.analysis.test_gpu_log import COLUMNS
from tests.conftest import LOGS, thinned

EVERY = sorted(path for path in LOGS.rglob("*") if path.is_file() and path.name != "README.md")

TODAY = [path for path in EVERY if path.relative_to(LOGS).parts[0] == "today"]
"""Logs of other formats, some of which gwa does not read."""

FILES = sorted(set(EVERY).difference(TODAY))

FIRST = {(path.parent, path.suffix): path for path in reversed(TODAY)}
"""The first log of each kind in each folder."""

OTHER = {path for path in FILES if path.name.startswith("StorageElement")}
"""Records of disks, in which there is no job."""

XML = {".xml", ".bundle"}
"""Files whose rows are not lines; `test_usagerecord` counts their records."""


def named(path):
    return str(path.relative_to(LOGS))


def lines_of(path):
    """Return how many lines a file has, be the last one ended or not."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    return len(data.removesuffix(b"\n").split(b"\n"))


@pytest.mark.logs
def test_there_are_logs_of_every_kind(logs):
    assert {path.relative_to(logs).parts[0] for path in FILES} == {
        "globus",
        "google2011",
        "gridengine",
        "pbs",
        "slurm",
        "swf",
    }


@cache
def account_of(path):
    """Return the account of a log, whose rows all are jobs or explain them."""
    with open_trace([path]) as store:
        store.account.check()
        assert store.rows("select line, reason from rejects") == []
        assert store.row("select count(*) from jobs") == (store.account.jobs,)
        return store.account


@pytest.mark.logs
@pytest.mark.parametrize(
    "path", [path for path in FILES if path not in OTHER and path.parent.name != "job_events"], ids=named
)
def test_a_log_becomes_jobs_and_its_account_adds_up(path):
    account = account_of(path)
    assert account.jobs > 0
    assert account.rejected == 0
    if path.suffix not in XML:
        assert account.rows == lines_of(path) + FURTHER_TASKS.get(path.name, 0)


@pytest.mark.logs
@pytest.mark.parametrize("path", thinned(TODAY, kept=lambda path: path in FIRST.values()), ids=named)
def test_another_log_is_refused_for_a_reason_or_its_account_adds_up(path):
    name = str(path.relative_to(LOGS / "today"))
    reason = next((reason for pattern, reason in REFUSED.items() if fnmatch(name, pattern)), None)
    if reason:
        with pytest.raises(TraceError, match=f"^{re.escape(str(path))}: .*{reason}"):
            open_trace([path])
        return
    said = STATED.get(name, {})
    with open_trace([path], options=ReadOptions(format_options=said)) as store:
        adds_up(store, path)


def adds_up(store, path):
    """Check that all rows became jobs, or are explained, and that they are all that a text has."""
    account = store.account
    assert account.rows == account.jobs + account.folded + account.rejected + account.comments
    assert store.row("select count(*) from jobs") == (account.jobs,)
    assert account.jobs > 0
    assert account.rejected == REJECTED.get(path.name, 0)
    if path.suffix not in {*XML, ".parquet", ".json"}:
        assert account.rows == lines_of(path)


STATED = {
    "batsim/out_jobs.csv": {"map": "energy=consumed_energy:J"},
    "hb-jobinfo/sacct.txt": {"columns": COLUMNS},
    "opendc-testres/trace.gwf": {"map": "run=RunTime:s"},
}
"""What users have to say of logs that do not say it themselves."""

FURTHER_TASKS = {"xdmod-accounting-logs-with-job-arrays.log": 17}
"""Tasks of ranges beyond one for each line: 22 jobs that never started stand in 5 lines."""

REJECTED = {"medium_late.json": 1}
"""Rows that are refused."""

REFUSED = {
    # Explanations and results of other programs.
    "alibaba2017/schema.csv": "no column says when a job was submitted",
    "fdata/croissant.json": "not a trace .looks like JSON",
    "fdata/feature_list.csv": "no column says when a job was submitted",
    "hb-jobinfo/expected_output/*": "not a trace",
    "hb-jobinfo/oracle_hb.json": "not a trace .looks like JSON",
    "opendc-testres/trace-v2.1/interference-model.json": "not a trace .looks like JSON",
    # Names of columns, and no rows.
    "alibaba-gpu2020/*.header": "without names",
    # An archive, and run times only.
    "alibaba-gpu2020/pai_machine_spec.tar.gz": "is a tar archive .*: unpack it",
    "alibaba-gpu2020/philly_runtime.csv": "not a trace",
    # Machines.
    "alibaba-gpu2023/openb_node_list_all_node.csv": "no column says when a job was submitted",
    "alibaba-spot2026/node_info_df.csv": "no column says when a job was submitted",
    # Requests to a language model.
    "azure/AzureLLMInferenceTrace_*": "holds requests of language models, not jobs",
    # What runs or waits now, as Slurm prints it, and answers without jobs.
    "hb-jobinfo/squeue.txt": "looks like a table of 2 columns parted by bars",
    "hb-jobinfo/sstat.txt": "looks like a table of 12 columns parted by commas",
    "sacct-json/slurm-web/24.05_0.0.41_slurmdb-job-gpus-pending.json": "no job in it: none",
    "sacct-json/slurm-web/*-unfound.json": "no job in it: none",
    # Readings of machines in the course of time, and what explains tasks of workflows.
    "opendc-testres/bitbrains.csv": "not a trace",
    "opendc-testres/trace/vm_cpu_readings/*": "not a trace .looks like a table of 5 columns",
    "opendc-testres/vm.txt": "looks like text",
    "*fragments.parquet": "no column says when a job was submitted",
    "opendc-testres/shell/workflows/*": "is a table of other things",
    "opendc-testres/shell/workload/*": "not a trace",
}
"""Files of today that are not logs of jobs, by what they are, and the reason for which they are refused."""


@pytest.mark.logs
def test_every_file_that_is_refused_is_there(logs):
    names = [str(path.relative_to(logs / "today")) for path in TODAY]
    assert [pattern for pattern in REFUSED if not any(fnmatch(name, pattern) for name in names)] == []


@pytest.mark.logs
@pytest.mark.parametrize(
    "folder",
    [
        "alibaba-gpu2023",
        "alibaba2017",
        "opendc",
        "opendc-testres/shell",
        "opendc-testres/trace",
        "opendc-testres/trace-v2.0",
        "opendc-testres/trace-v2.1",
        "opendc-testres/wtf-trace",
        "sacct-json/sarc",
        "sacct-json/slurm-web",
        "slurm2sql",
    ],
)
def test_files_of_today_that_belong_together_are_one_trace(folder, logs):
    with open_trace([logs / "today" / folder]) as store:
        store.account.check()
        assert store.account.jobs > 0
        assert store.account.rejected == 0
        assert store.row("select count(*) from jobs") == (store.account.jobs,)


@pytest.mark.logs
def test_days_without_jobs_are_part_of_a_trace(logs):
    folder = logs / "today" / "sacct-json"
    days = [folder / "sarc" / "slurm_23_2_6.json", *sorted(folder.glob("slurm-web/*unfound.json"))]
    with open_trace(days) as store:
        assert (store.account.rows, store.account.jobs, store.account.skipped) == (1, 1, 0)


@pytest.mark.logs
@pytest.mark.parametrize("path", sorted(OTHER), ids=named)
def test_a_record_of_a_disk_is_no_job(path):
    with pytest.raises(TraceError, match="no job in it: none of its 1 lines or records tells of one"):
        open_trace([path])


@pytest.mark.logs
@pytest.mark.parametrize("folder", ["globus/car", "globus/gracc", "globus/sgas", "gridengine", "slurm"])
def test_a_folder_of_logs_is_one_trace(folder, logs):
    paths = [path for path in FILES if Path(folder) == path.relative_to(logs).parent]
    with open_trace([logs / folder]) as store:
        store.account.check()
        assert store.account.rejected == 0
        others = len(OTHER.intersection(paths))
        assert store.account.rows == others + sum(
            account_of(path).rows for path in paths if path not in OTHER
        )


@pytest.mark.logs
def test_what_only_explains_tasks_is_no_trace_by_itself(logs):
    with pytest.raises(TraceError, match="no job in it"):
        open_trace([logs / "google2011" / "job_events"])
