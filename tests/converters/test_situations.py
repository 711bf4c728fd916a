"""
Situations that logs of every format are met in: each converter, and no wrong value with status 0.

A job that never started, one whose start is of 1970, of the year 1 or before its submission, one that ends
before it starts, and two users with one number: said in the words of each format.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from gwa.formats.open import open_trace

SUBMITTED = 1_741_600_000
STARTED = SUBMITTED + 10
ENDED = SUBMITTED + 70

Text = Callable[..., str]


@dataclass(frozen=True)
class Way:
    """How the format *name* says when a job was submitted, started and ended, in a file called *file*."""

    name: str
    file: str
    text: Text
    never: Any = 0
    """What stands for a start that there is none of."""


def lines(*rows: str) -> str:
    return "\n".join(rows) + "\n"


def iso(seconds: Any) -> Any:
    """Return a time as ISO text in UTC; what is none as it is."""
    if not isinstance(seconds, int):
        return seconds
    if seconds < -(10**10):
        return "0001-01-01T00:00:00Z"
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def table(*jobs: tuple[Any, Any, Any]) -> str:
    rows = [
        f"{n},u{n},{s},{'' if b is None else b},{'' if e is None else e},2,FAILED"
        for n, (s, b, e) in number(jobs)
    ]
    return lines("job_id,user,submit_time,start_time,end_time,cores,state", *rows)


def number(jobs: Any) -> Any:
    return enumerate(jobs, 1)


def flux(*jobs: tuple[Any, Any, Any]) -> str:
    return lines(
        *(
            json.dumps(
                {"id": n, "userid": n, "ncores": 2, "nnodes": 1, "result": "FAILED", "state": "INACTIVE"}
                | {key: v for key, v in (("t_submit", s), ("t_run", b), ("t_cleanup", e)) if v is not None}
            )
            for n, (s, b, e) in number(jobs)
        )
    )


def pods(*jobs: tuple[Any, Any, Any]) -> str:
    items = []
    for n, (s, b, e) in number(jobs):
        ran = {"exitCode": 1, "startedAt": iso(b), "finishedAt": iso(e)}
        items.append(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"p{n}", "namespace": f"u{n}", "creationTimestamp": iso(s)},
                "spec": {"nodeName": "n", "containers": [{"resources": {"requests": {"cpu": "2"}}}]},
                "status": {"phase": "Failed", "containerStatuses": [{"state": {"terminated": ran}}]},
            }
        )
    return json.dumps({"items": items})


def pbs(*jobs: tuple[Any, Any, Any]) -> str:
    return lines(
        *(
            f"03/10/2025 09:46:40;E;{n}.s;user=u{n} queue=q ctime={s}"
            f"{'' if b is None else f' start={b}'}{'' if e is None else f' end={e}'}"
            " exec_host=n1/0*2 Exit_status=1"
            for n, (s, b, e) in number(jobs)
        )
    )


def condor(*jobs: tuple[Any, Any, Any]) -> str:
    return (
        "\n\n".join(
            f"ClusterId = {n}\nProcId = 0\nQDate = {s}\nJobStatus = 4\nExitCode = 1\nRequestCpus = 2\n"
            f'Owner = "u{n}"\nCompletionDate = {e or 0}'
            + ("" if b is None else f"\nJobCurrentStartDate = {b}")
            for n, (s, b, e) in number(jobs)
        )
        + "\n"
    )


def maui(*jobs: tuple[Any, Any, Any]) -> str:
    return lines(
        *(
            f"{n} 0 2 u{n} g 3600 Removed [q:1] {s} {b or 0} {b or 0} {e or 0}"
            f" - - - >= 0M >= 0M - {s} 2 0 - - - - - 0 0.0 DEFAULT 1 0M 0M 0M 0 0 - - - - - - 0.0"
            for n, (s, b, e) in number(jobs)
        )
    )


def oar(*jobs: tuple[Any, Any, Any]) -> str:
    items = [
        {"id": n, "owner": f"u{n}", "state": "Error", "submissionTime": s, "startTime": b, "stopTime": e,
         "assigned_resources": [1, 2], "launchingDirectory": "/"}
        for n, (s, b, e) in number(jobs)
    ]  # fmt: skip
    return json.dumps({"items": items})


def qacct(*jobs: tuple[Any, Any, Any]) -> str:
    def clock(seconds: Any) -> str:
        return "-/-" if not seconds else datetime.fromtimestamp(seconds, UTC).strftime("%a %b %d %H:%M:%S %Y")

    return "".join(
        "=" * 62 + "\n" + lines(
            "qname        all.q", "hostname     n1", "group        g", f"owner        u{n}",
            "project      NONE", "jobname      x", f"jobnumber    {n}", "taskid       undefined",
            f"qsub_time    {clock(s)}",
            f"start_time   {clock(b)}", f"end_time     {clock(e)}", "granted_pe   smp", "slots        2",
            "failed       1", "exit_status  1", "ru_wallclock 0", "cpu          0", "mem          0",
            "io           0", "maxvmem      0",
        )
        for n, (s, b, e) in number(jobs)
    )  # fmt: skip


WAYS = (
    Way("table", "jobs.csv", table),
    Way("flux", "jobs.json", flux),
    Way("kubernetes", "pods.json", pods, None),
    Way("pbs", "20250310", pbs),
    Way("condor", "history", condor),
    Way("moab", "maui.trace", maui),
    Way("oar", "jobs.json", oar),
    Way("sge-qacct", "qacct.txt", qacct),
)
EVERY = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)

FIELDS = "submit_time, wait_time, run_time, n_procs, user_id"


def read(way: Way, folder: Any, *jobs: tuple[Any, Any, Any]) -> list[tuple[Any, ...]]:
    """Return the jobs of a log in the order of their numbers, behind two that nothing is wrong with."""
    path = folder / way.file
    sound = [(SUBMITTED, STARTED, ENDED)] * 2
    path.write_text(way.text(*sound, *jobs))
    with open_trace([path], way.name) as store:
        store.account.check()
        found = {user: tuple(rest) for *rest, user in store.rows(f"select {FIELDS} from jobs")}
        assert store.account.rejected == 0
    for name in ("u1", "u2") if way.name != "flux" else ("1", "2"):
        assert found[name] == (SUBMITTED, 10, 60, 2)
    return [found[name] for name in sorted(found)[2:]]


NOT_RUN = (SUBMITTED, None, None, None)


@EVERY
def test_a_job_that_never_started(way, tmp_path):
    assert read(way, tmp_path, (SUBMITTED, way.never, ENDED)) == [NOT_RUN]


@EVERY
@pytest.mark.parametrize("start", [1, 3600, 86_400])
def test_a_start_of_1970(way, start, tmp_path):
    assert read(way, tmp_path, (SUBMITTED, start, ENDED)) == [NOT_RUN]


@EVERY
def test_a_start_of_the_year_1(way, tmp_path):
    if way.name in {"sge-qacct", "moab", "condor", "pbs"}:
        pytest.skip("writes seconds since 1970, or local times without a zone")
    start = "0001-01-01T00:00:00Z" if way.name == "kubernetes" else -62_135_596_800
    assert read(way, tmp_path, (SUBMITTED, start, ENDED)) == [NOT_RUN]


@EVERY
def test_a_start_of_2106(way, tmp_path):
    assert read(way, tmp_path, (SUBMITTED, 2**32 - 2 - 3600, ENDED)) == [NOT_RUN]


@EVERY
def test_a_start_before_the_submission(way, tmp_path):
    assert read(way, tmp_path, (SUBMITTED, SUBMITTED - 7200, ENDED)) == [NOT_RUN]


@EVERY
def test_an_end_before_the_start(way, tmp_path):
    ((submitted, waited, ran, _),) = read(way, tmp_path, (SUBMITTED, STARTED, STARTED - 9000))
    assert (submitted, waited, ran) == (SUBMITTED, 10, None)


@EVERY
def test_one_such_record_changes_no_sum(way, tmp_path):
    odd = [(SUBMITTED, 1, ENDED), (SUBMITTED, 2**32 - 2 - 3600, ENDED), (SUBMITTED, SUBMITTED - 7200, ENDED)]
    path = tmp_path / way.file
    sums = []
    for jobs in ([], odd):
        path.write_text(way.text(*[(SUBMITTED, STARTED, ENDED)] * 3, *jobs))
        with open_trace([path], way.name) as store:
            sums.append(
                store.row(
                    "select sum(run_time), sum(run_time * n_procs), min(submit_time),"
                    " max(submit_time + wait_time + run_time), sum(wait_time) from jobs"
                )
            )
    assert sums[0] == sums[1]


@pytest.mark.parametrize("column", ["user", "submit_time", "state", "job_id"])
def test_a_table_without_an_optional_column(column, tmp_path):
    rows = [
        one.split(",") for one in table((SUBMITTED, STARTED, ENDED), (SUBMITTED + 1, STARTED, ENDED)).split()
    ]
    place = rows[0].index(column)
    path = tmp_path / "jobs.csv"
    path.write_text(lines(*(",".join([*row[:place], *row[place + 1 :]]) for row in rows)))
    with open_trace([path], "table") as store:
        found = store.rows("select run_time, n_procs from jobs")
        recorded = {name for (name,) in store.rows("select column_name from (describe recorded)")}
        waits = store.rows("select wait_time from jobs")
    assert found == [(60, 2), (60, 2)]
    assert ("user_id" in recorded, "status" in recorded) == (column != "user", column != "state")
    assert waits == [(None,), (None,)] if column == "submit_time" else (9,) in waits


@EVERY
def test_two_users_of_one_number_stay_two_jobs(way, tmp_path):
    if way.name not in {"table", "flux"}:
        pytest.skip("tells jobs of one number apart by their submission")
    text = way.text((SUBMITTED, STARTED, ENDED), (SUBMITTED, STARTED, ENDED + 100))
    path = tmp_path / way.file
    path.write_text(text.replace("\n2,", "\n1,").replace('"id": 2', '"id": 1'))
    with open_trace([path], way.name) as store:
        assert store.row("select count(*), count(distinct user_id), sum(run_time) from jobs") == (2, 2, 220)
