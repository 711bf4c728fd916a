"""Every real log is converted, and each of its rows is accounted for."""

import gzip
from functools import cache
from pathlib import Path

import pytest

from gwa.errors import TraceError
from gwa.formats.open import open_trace
from tests.conftest import LOGS

EVERY = sorted(path for path in LOGS.rglob("*") if path.is_file() and path.name != "README.md")

TODAY = [path for path in EVERY if path.relative_to(LOGS).parts[0] == "today"]
"""Logs of other formats, some of which gwa does not read."""

FILES = sorted(set(EVERY).difference(TODAY))

OTHER = {path for path in FILES if path.name.startswith("StorageElement")}
"""Records of disks, in which there is no job."""

XML = {".xml", ".bundle"}
"""Files whose rows are no lines; `test_usagerecord` counts their records."""


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
        assert account.rows == lines_of(path)


@pytest.mark.logs
@pytest.mark.parametrize("path", TODAY, ids=named)
def test_another_log_is_refused_or_its_account_adds_up(path):
    refused = ""
    try:
        with open_trace([path]) as store:
            store.account.check()
            assert store.row("select count(*) from jobs") == (store.account.jobs,)
    except TraceError as error:
        refused = str(error)
    assert not refused or refused.startswith(str(path))


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
