"""Slurm: what sacct prints, in all its notations."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.errors import StrictError, TraceError
from gwa.formats.append import append
from gwa.formats.convert import convert
from gwa.formats.open import open_trace
from gwa.formats.registry import format_called
from gwa.ingest.source.head import FileHead
from gwa.store.options import ReadOptions
from gwa.store.schema import NAMES
from gwa.store.store import Store
from tests.conftest import examples, thinned
from tests.written import Written

COLUMNS = (
    "JobID|User|Submit|Start|End|Elapsed|State|ExitCode|NCPUS|NNodes|NTasks|ReqCPUS|ReqMem|Timelimit|TotalCPU|"
    "MaxRSS|JobName"
)
USUAL = {
    "JobID": "7", "User": "user042", "Submit": "2024-05-01T12:00:00", "Start": "2024-05-01T12:00:10",
    "End": "2024-05-01T12:01:10", "Elapsed": "00:01:00", "State": "COMPLETED", "ExitCode": "0:0",
    "NCPUS": "4", "NNodes": "2", "ReqCPUS": "4", "JobName": "sim",
}  # fmt: skip
SUBMITTED = 1_714_564_800.0


def row(**said):
    return "|".join({**USUAL, **said}.get(name, "") for name in COLUMNS.split("|"))


class Given(NamedTuple):
    """A function that reads rows and returns fields of the jobs, and the stores that it made."""

    read: Callable[..., list[tuple[Any, ...]]]
    stores: list[Store]

    def __call__(self, *rows, **said):
        return self.read(*rows, **said)


@pytest.fixture
def jobs(tmp_path):
    stores: list[Store] = []

    def given_rows(*rows, fields, header=COLUMNS, table="jobs", **wishes):
        path = tmp_path / "log"
        path.write_bytes(
            b"\n".join(one if isinstance(one, bytes) else one.encode() for one in (header, *rows)) + b"\n"
        )
        stores.append(open_trace([path], "slurm", ReadOptions(**wishes)))
        stores[-1].account.check()
        return stores[-1].rows(f"select {fields} from {table} order by job_id")

    yield Given(given_rows, stores)
    for store in stores:
        store.close()


account, rejects = Written.account, Written.rejects


# Notations of single fields.


DURATIONS = {
    "00:01:00": 60, "10-13:27:06": 912_426, "01:02": 62, "00:00.500": 0.5, "30:00:00": 108_000, "90": 90,
    "": 60, "INVALID": 60, "soon": None, "-1:00:00": 60, "1e3": 1000, "1-00:00": None,
    "99999999999-00:00:00": None,
}  # fmt: skip
LIMITS = {
    "5-00:00:00": 432_000, "10:00": 600, "90": 5400, "UNLIMITED": None, "Partition_Limit": None, "": None,
}  # fmt: skip
MEMORY = {
    "3000Mc": 3_072_000, "48000Mn": 48_000 * 1024 * 2 / 4, "16G": 4 * 1024**2, "4000M": 1_024_000,
    "8000": 2_048_000, "2147486648Mn": 3_072_000, "2Tn": 1024**3, "512000K": 128_000, "1.50Gc": 1_572_864,
    "0": None, "0n": None, "?": None, "?c": None, "": None, "lots": None, "-5M": None,
}  # fmt: skip
STATES = {
    "COMPLETED": 1, "FAILED": 0, "TIMEOUT": 0, "NODE_FAIL": 0, "OUT_OF_MEMORY": 0, "BOOT_FAIL": 0,
    "DEADLINE": 0, "PREEMPTED": 0, "CANCELLED": 5, "CANCELLED by 1000": 5, "CANCELLED+": 5, "OUT_OF_ME+": 0,
    "REVOKED": None, "PENDING": None, "RUNNING": None, "SUSPENDED": None, "REQUEUED": None, "RESIZING": None,
    "COMPLETING": None, "FOO": None, "": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("column", "field", "meanings"),
    [
        ("Elapsed", "run_time", DURATIONS),
        ("Timelimit", "req_time", LIMITS),
        ("ReqMem", "req_memory", MEMORY),
        ("State", "status", STATES),
    ],
)
def test_notations(column, field, meanings, jobs):
    rows = [row(JobID=str(number), **{column: said}) for number, said in enumerate(meanings, 100)]
    found = [value for (value,) in jobs(*rows, fields=field)]
    assert dict(zip(meanings, found, strict=True)) == meanings


def test_raw_numbers_are_seconds_and_minutes(jobs):
    header = COLUMNS.replace("Timelimit", "TimelimitRaw").replace("Elapsed", "ElapsedRaw")
    rows = [row(Timelimit="90", Elapsed="90"), row(JobID="8", Timelimit="UNLIMITED", Elapsed="0")]
    assert jobs(*rows, fields="run_time, req_time", header=header) == [(90, 5400), (0, None)]


def test_where_there_is_no_state_only_a_failure_is_known(jobs):
    codes = ("0:9", "1:0", "0:0", "")
    rows = [row(JobID=str(number), State="", ExitCode=code) for number, code in enumerate(codes)]
    assert jobs(*rows, fields="status") == [(0,), (0,), (None,), (None,)]


TIMES = {
    "2024-05-01T12:00:00": SUBMITTED, "1714564800": SUBMITTED, "1714564800.0": SUBMITTED,
    "2024-05-01T14:00:00+0200": SUBMITTED, "2024-05-01T12:00:00Z": SUBMITTED, "Unknown": None,
    "None": None, "": None, "1970-01-01T00:00:00": None, "0": None, "1900-01-01T00:00:00": None,
    "9000-12-31T23:59:59": 221_876_927_999, "9999-12-31T23:59:59": None,
}  # fmt: skip
NO_TIMES = ("yesterday", "2024-13-01T00:00:00", "01/05/2024-12:00", "2024-05-01", "9" * 400)


def test_times(jobs):
    rows = [row(JobID=str(number), Submit=said) for number, said in enumerate(TIMES, 100)]
    found = jobs(*rows, fields="source_id, submit_time", table="jobs join source_ids using (job_id)")
    assert dict(zip(TIMES, (time for _, time in sorted(found)), strict=True)) == TIMES


@pytest.mark.parametrize("column", ["Submit", "Start", "End"])
def test_what_is_no_time_refuses_the_row(column, jobs):
    assert jobs(*(row(**{column: said}) for said in NO_TIMES), row(), fields="1") == [(1,)]
    reasons = [f"{column} is '{said[:40]}', expected 2024-05-31T23:59:59" for said in NO_TIMES]
    assert rejects(jobs) == list(enumerate(reasons, 2))


def test_local_times_are_those_of_the_system(jobs):
    times = {"Submit": "2021-10-31T01:50:00", "Start": "2021-10-31T02:30:00", "End": "2021-10-31T04:30:00"}
    zone = {"zone": "Europe/Amsterdam"}
    found = jobs(row(**times, Elapsed=""), fields="submit_time, wait_time, run_time", system=zone)
    # 02:30 comes twice in that night: it is the first.
    assert found == [(datetime(2021, 10, 30, 23, 50, tzinfo=UTC).timestamp(), 2400, 10_800)]
    times = {"Submit": "2021-03-28T01:50:00", "Start": "2021-03-28T03:10:00", "End": "2021-03-28T02:30:00"}
    found = jobs(row(**times, Elapsed=""), fields="submit_time, wait_time, run_time", system=zone)
    assert found == [(datetime(2021, 3, 28, 0, 50, tzinfo=UTC).timestamp(), 1200, 1200)]


def test_names_are_kept_whatever_they_are(jobs):
    names = [
        "a|b",
        "|",
        "x||",
        "'; drop table jobs; --",
        "<script>",
        "aàb",
        "名",
        "\\N",
        '"',
        "-1",
        "Unknown",
    ]
    rows = [row(JobID=str(number), JobName=name) for number, name in enumerate(names, 10)]
    found = jobs(*rows, row(JobID="99").replace("sim", "caf\xe9").encode("latin-1"), fields="executable_id")
    assert [name for (name,) in found] == [*names, "café"]


def test_counts_may_be_shortened_by_slurm_or_nonsense(jobs):
    found = jobs(
        *(row(JobID=str(k), NCPUS=count) for k, count in enumerate(["1K", "0", "four", "2147483648"])),
        fields="n_procs",
    )
    assert found == [(1024,), (None,), (None,), (None,)]
    assert jobs.stores[-1].rows("select name, jobs from repairs where name <> 'no time zone'") == [
        ("invalid value", 2)
    ]


# Jobs that did not run, or not to the end.


IDLE = (
    {"State": "CANCELLED by 5", "Start": "Unknown", "Elapsed": "00:00:00"},
    {"State": "CANCELLED", "Start": "None", "NCPUS": "0"},
    {"State": "CANCELLED", "Elapsed": "00:00:00", "NCPUS": "0"},
    {"State": "PENDING", "End": "Unknown"},
)
OPEN = ({"State": "RUNNING"}, {"State": "SUSPENDED"}, {"State": "FOO", "End": "Unknown"})


def test_jobs_that_never_started_have_no_wait_run_time_or_processors(jobs):
    rows = [row(JobID=str(number), **said) for number, said in enumerate(IDLE, 100)]
    found = jobs(*rows, fields="wait_time, run_time, n_procs, req_n_procs")
    assert found == [(None, None, None, 4)] * len(IDLE)


def test_jobs_that_have_not_ended_have_no_run_time_yet(jobs):
    rows = [row(JobID=str(number), **said) for number, said in enumerate(OPEN, 100)]
    assert jobs(*rows, fields="wait_time, run_time, n_procs") == [(10, None, 4)] * len(OPEN)


def test_old_slurm_gives_cancelled_jobs_a_start_but_no_nodes(jobs):
    header = COLUMNS.replace("JobName", "NodeList")
    found = jobs(
        row(State="CANCELLED", JobName="None assigned"), fields="wait_time, run_time, n_procs", header=header
    )
    assert found == [(None, None, None)]


def test_completed_with_no_processors_ran(jobs):
    assert jobs(row(NCPUS="0"), fields="wait_time, run_time, n_procs, status") == [(10, 60, None, 1)]


def test_end_before_start_and_start_before_submission(jobs):
    found = jobs(
        row(JobID="1", Elapsed="", End="2024-05-01T12:00:00"),
        row(JobID="2", Elapsed="", End="2024-04-01T12:00:00"),
        row(JobID="3", Start="2024-05-01T11:59:00"),
        row(JobID="4", Start="2023-05-01T11:59:00"),
        fields="wait_time, run_time",
    )
    assert found == [(10, 0), (10, None), (0, 60), (10, 60)]


# Rows that belong together.


def test_steps_are_folded_into_their_job(jobs):
    found = jobs(
        row(JobID="7.extern", Submit=USUAL["Start"], User="", MaxRSS="0", NTasks="2"),
        row(TotalCPU="00:03.500"),
        row(JobID="7.batch", User="", MaxRSS="1000K", NTasks="1", NNodes="1", TotalCPU="00:01"),
        row(JobID="7.0", User="", MaxRSS="1.50M", NTasks="4", State="FAILED"),
        row(JobID="7.1", User="", MaxRSS="2097152", NTasks=""),
        row(JobID="7.interactive", User=""),
        fields="used_memory, average_cpu_time, status, user_id",
    )
    # Step 0 has four tasks of 1.5 MB on four processors, but of step 1 the number of tasks is not known.
    assert found == [(None, 0.875, 1, "user042")]
    assert account(jobs) == (7, 1, 5, 0, 1)


def test_a_step_without_its_job_is_refused(jobs):
    jobs(row(JobID="6.batch"), row(JobID="6.0"), row(), fields="1")
    assert account(jobs) == (4, 1, 0, 2, 1)
    assert rejects(jobs) == [(2, "a step without its job"), (3, "a step without its job")]
    with pytest.raises(StrictError, match="log:2: a step without its job"):
        jobs(row(JobID="6.batch"), row(), fields="1", strict=True)


def test_tasks_of_arrays_and_parts_of_heterogeneous_jobs(jobs):
    ids = ["123_4", "123_4.batch", "123_[5-9,11%2]", "123_[20,30,...]", "125+0", "125+1", "125+1.0", "126"]
    rows = [row(JobID=name) for name in ids]
    found = jobs(
        *rows,
        fields="source_id, job_structure, job_structure_params",
        table="jobs join source_ids using (job_id)",
    )
    assert found == [
        *((f"123_{task}", "BoT", "123") for task in (11, 4, 5, 6, 7, 8, 9)),
        ("123_[20,30,...]", "BoT", "123"),
        ("125+0", "UNITARY", None), ("125+1", "UNITARY", None), ("126", "UNITARY", None),
    ]  # fmt: skip


def test_a_requeued_job_is_one_job_and_a_reused_number_is_another(jobs):
    def later(minutes, **said):
        times = {
            name: datetime.fromisoformat(USUAL[name]) + timedelta(minutes=minutes)
            for name in ("Submit", "Start", "End")
        }
        return row(**{name: time.isoformat() for name, time in times.items()}, **said)

    rows = [
        row(State="NODE_FAIL"), later(1, State="PREEMPTED"), later(3), later(3, JobID="7.batch", MaxRSS="8M"),
        later(600, State="FAILED"), later(600, JobID="7.batch", MaxRSS="4M"), row(JobID="8"), row(JobID="8"),
    ]  # fmt: skip
    found = jobs(
        *reversed(rows), fields="submit_time, status, max_memory, n_requeues, len(string_split(runs, ';'))"
    )
    assert found == [
        (SUBMITTED, 1, 8192, 2, 3),
        (SUBMITTED, 1, None, None, None),
        (SUBMITTED + 36_000, 0, 4096, None, None),
    ]
    assert account(jobs) == (9, 3, 5, 0, 1)


RESTARTED = (
    "JobID|User|Submit|Start|End|Elapsed|State|NCPUS|Restarts",
    *(
        f"{job}|ada|2026-03-02T{submit}|2026-03-02T{start}|2026-03-02T{end}|1:00:00|{state}|8|{restarts}"
        for job, submit, start, end, state, restarts in (
            (7, "08:00:00", "08:01:00", "09:01:00", "NODE_FAIL", 0),
            (7, "14:00:00", "15:00:00", "16:00:00", "COMPLETED", 2),  # the row of its second run is missing
            (8, "08:00:00", "08:01:00", "09:01:00", "COMPLETED", 0),
            (8, "14:00:00", "15:00:00", "16:00:00", "COMPLETED", 2),  # the number was used again
            (9, "08:00:00", "08:01:00", "09:01:00", "PREEMPTED", 1),
            (9, "14:00:00", "15:00:00", "16:00:00", "COMPLETED", 1),  # and so was this, by a job like it
        )
    ),
)
ONE_OF_TWO = "60/3600//8///node_fail;25200/3600//8///completed"


def test_a_run_whose_row_is_missing_leaves_one_job(jobs):
    header, *rows = RESTARTED
    found = jobs(
        *rows,
        header=header,
        fields="source_id, wait_time, n_requeues, runs",
        table="jobs join source_ids using (job_id)",
    )
    assert found == [
        ("7", 60, 2, ONE_OF_TWO), ("8", 60, None, None), ("9", 60, 1, None), ("8", 3600, 2, None),
        ("9", 3600, 1, None),
    ]  # fmt: skip


def test_a_run_that_is_missing_between_two_nights_leaves_one_job(tmp_path):
    header, first, last, *_ = RESTARTED
    for name, line in (("monday", first), ("tuesday", last)):
        (tmp_path / f"{name}.sacct").write_text(f"{header}\n{line}\n")
        append([tmp_path / f"{name}.sacct"], tmp_path / "all.duckdb")
    with open_trace([tmp_path / "all.duckdb"]) as store:
        assert store.rows("select n_requeues, runs from jobs") == [(2, ONE_OF_TWO)]


@pytest.mark.parametrize("steps", [("7.batch", "7.0"), ("7.0", "7.1")], ids=" ".join)
def test_steps_without_their_jobs_are_no_table_of_jobs(steps, tmp_path):
    header, first, *_ = RESTARTED
    path = tmp_path / "steps.sacct"
    rows = (first.replace("7|", f"{step}|", 1) for step in steps)
    path.write_text("\n".join((header, *rows)) + "\n")
    with pytest.raises(TraceError, match="a step without its job"):
        open_trace([path])


def test_numbers_of_two_clusters_are_two_numbers(jobs):
    header = COLUMNS.replace("JobName", "Cluster")
    rows = [
        row(JobName="heron"),
        row(JobName="ibis"),
        row(JobID="7.0", JobName="ibis", NTasks="2", MaxRSS="4K"),
    ]
    found = jobs(*rows, fields="orig_site_id, used_memory", header=header)
    assert found == [("heron", None), ("ibis", 2)]


# Columns.


def test_columns_are_found_by_name_in_any_order_and_others_are_passed_over(jobs):
    header = "State|Colour|JobID|User|Start|Submit"
    found = jobs(
        "FAILED|red|5|user007|2024-05-01T12:00:10|2024-05-01T12:00:00",
        fields="wait_time, status, user_id, executable_id",
        header=header,
    )
    assert found == [(10, 0, "user007", None)]


@pytest.mark.parametrize("bar", ["", "|"])
def test_a_trailing_bar_and_repeated_headers(bar, jobs):
    rows = [row() + bar, COLUMNS + bar, row(JobID="8", JobName="a|b") + bar]
    assert jobs(*rows, fields="executable_id", header=COLUMNS + bar) == [("sim",), ("a|b",)]
    assert account(jobs) == (4, 2, 0, 0, 2)


def test_concatenated_logs_may_change_their_columns(jobs):
    rows = [
        row(),
        "User|JobID|State",
        "user001|8|FAILED",
        COLUMNS,
        row(JobID="9"),
        "User|JobID|State|Account",
        "a|9_1|FAILED|b",
    ]
    assert jobs(*rows, fields="user_id, status") == [("user001", 0), ("a", 0), ("user042", 1), ("user042", 1)]
    assert account(jobs) == (8, 4, 0, 0, 4)


@pytest.mark.parametrize("before", [[], [row()]])
def test_a_column_that_is_read_stands_once_in_a_header(jobs, before):
    header = "JobID|User|State|Submit|user"
    lines = ["8|user042|FAILED|1717156800|user007"]
    with pytest.raises(TraceError, match="the header has user twice: give one of the two another name"):
        jobs(
            *before,
            *([header] if before else []),
            *lines,
            fields="user_id",
            **({} if before else {"header": header}),
        )


def test_columns_that_are_not_read_may_repeat(jobs):
    header = "JobID|User|Colour|State|Submit|Colour"
    assert jobs("8|user042|red|FAILED|1717156800|blue", fields="user_id", header=header) == [("user042",)]


def test_a_header_need_not_come_first(jobs):
    header, line = "JobID|User|State|Submit", "7|user042|FAILED|1717156800"
    assert jobs(header, line.replace("7", "8"), fields="user_id", header=line) == [("user042",), ("user042",)]


def test_a_user_names_the_columns_of_a_log_without_header(jobs):
    lines = ["7|user042|COMPLETED|1717156800|a|b", "8|user007|FAILED|1717156800|c"]
    with pytest.raises(
        TraceError, match="6 columns, expected 26: no header names them, but -O columns=JobID,… may"
    ):
        jobs(*lines[1:], fields="1", header=lines[0])
    for names in (
        "jobid,user,state,submit,jobname",
        "JobID|User|State|Submit|JobName|",
        "JobID User State Submit JobName",
    ):
        found = jobs(
            *lines[1:],
            fields="user_id, status, executable_id",
            header=lines[0],
            format_options={"columns": names},
        )
        assert found == [("user042", 1, "a|b"), ("user007", 0, "c")]


def test_the_column_that_holds_bars_is_told_by_what_the_others_must_look_like(jobs):
    header = "JobID|JobName|State|Comment|ExitCode|Submit"
    rows = [
        "1|a|b|COMPLETED|fine|0:0|9",
        "2|a|FAILED|not|so|fine|1:0|9",
        "3|x|y|odd|z|0:0||9",
        "4|a|FAILED|b",
    ]
    rows = [line.replace("|9", "|1717156800") for line in rows]
    assert jobs(*rows, fields="executable_id, status", header=header) == [("a|b", 1), ("a", 0)]
    assert rejects(jobs) == [(4, "8 columns, expected 6"), (5, "4 columns, expected 6")]


def test_a_row_that_a_line_break_tore_is_put_together(jobs):
    torn = row(JobName="two").split("|")
    torn[1] = "user\nwho\nbreaks|many|lines"
    rows = ["|".join(torn), "left over", row(JobID="8")]
    header = COLUMNS.replace("User|", "Comment|")
    assert jobs(*rows, fields="executable_id", header=header) == [("two",), ("sim",)]
    assert account(jobs) == (4, 2, 0, 1, 1)
    assert rejects(jobs) == [(5, "1 columns, expected 17")]


def test_a_row_that_breaks_off_takes_no_other_with_it(jobs):
    rows = [row(JobID="1"), row(JobID="2")[:40], row(JobID="3"), "3|4", "oops", row(JobID="")]
    assert jobs(*rows, fields="1") == [(1,), (1,)]
    assert [line for line, _ in rejects(jobs)] == [3, 5, 6, 7]


# What parts the cells.


MARKS = (",", ";", "^", "\t", "☃", "|@|", "\x1f", "\x01", "'", '"', "||")


@pytest.mark.parametrize(("mark", "trailing"), thinned(MARKS, [False, True]))
def test_whatever_parts_the_cells_is_found(mark, trailing, jobs):
    fields = "user_id, executable_id, used_resources, run_time"
    header = "JobID|User|State|Submit|Start|Elapsed|AllocTRES|JobName"
    line = "7|user042|COMPLETED|1717156800|1717156810|00:01:00|cpu=4|sim"
    end = mark if trailing else ""
    header, line = (text.replace("|", mark) + end for text in (header, line))
    assert jobs(line, header, fields=fields, header=header) == [("user042", "sim", "cpu:4", 60)]
    assert account(jobs) == (3, 1, 0, 0, 2)
    found = jobs(line.replace("sim", f"a{mark}b"), fields=fields, header=header)
    # The separator of ASCII is a blank in a name.
    assert found == [("user042", f"a{mark}b".replace("\x1f", " "), "cpu:4", 60)]


SIGNS = st.text(st.characters(categories=["P", "S"], exclude_characters="_-+.:/[]\\"), min_size=1, max_size=4)


@examples(25)
@given(mark=SIGNS, names=st.lists(st.text("abc ü%", min_size=1, max_size=6), min_size=1, max_size=5))
def test_a_log_is_the_same_whatever_parts_its_cells(mark, names, tmp_path_factory):
    folder = tmp_path_factory.mktemp("marks")
    header = "JobID|JobIDRaw|User|State|Submit|JobName"
    lines = [header, *(f"{k}|{k}|user042|FAILED|171715680{k}|{name}" for k, name in enumerate(names, 1))]
    traces = []
    for file, between in (("bars", "|"), ("signs", mark)):
        (folder / file).write_text("\n".join(line.replace("|", between) for line in lines) + "\n")
        with open_trace([folder / file]) as store:
            assert store.provenance["format"] == "slurm"
            traces.append(store.rows("select * from jobs order by all"))
    assert traces[0] == traces[1]


@pytest.mark.parametrize(
    ("header", "line"),
    [
        ("jobid,user,state,start,end", "1,ann,COMPLETED,1717156800,1717156900"),
        ("JobID;User;State;Submit;Colour", "1;ann;FAILED;1717156800;red"),
    ],
)
def test_a_table_with_other_columns_than_those_of_slurm_is_none_of_its_logs(header, line, tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text(f"{header}\n{line}\n")
    assert format_called("slurm").mismatch(FileHead.of(path))


def printed(*rows, widths=(12, 10, 19, 10, 9, -10)):
    """Return rows as sacct prints them without -P: a blank between columns, too long text cut off."""
    ruled = [rows[0], ["-" * abs(width) for width in widths], *rows[1:]]
    return ["".join(_padded(cell, width) for cell, width in zip(row, widths, strict=True)) for row in ruled]


def _padded(cell, width):
    cut = cell if len(cell) <= abs(width) else cell[: abs(width) - 1] + "+"
    return (cut.ljust(-width) if width < 0 else cut.rjust(width)) + " "


def test_the_table_for_the_eye(jobs):
    names = ["JobID", "JobName", "Submit", "State", "User", "Account"]
    header, rule, *lines = printed(
        names,
        ["7", "sim ulation", "2024-05-01T12:00:00", "CANCELLED by 1000", "ann", "bio"],
        ["7.batch", "batch", "2024-05-01T12:00:00", "CANCELLED", "", "bio"],
        ["12345678_123456", "cut", "2024-05-01T12:00:00", "OUT_OF_MEMORY", "bob", ""],
        ["9", "ruß", "2024-05-01T12:00:00", "OUT_OF_MEMORY", "", "a rather long one"],
    )
    found = jobs(rule, *lines, fields="executable_id, status, state, user_id, project_id", header=header)
    assert found == [
        ("sim ulati+", 5, "CANCELLED", "ann", "bio"),
        ("ruß", 0, "OUT_OF_MEMORY", None, "a rather +"),
    ]
    assert account(jobs) == (6, 2, 1, 1, 2)
    assert rejects(jobs) == [
        (5, "JobID is '12345678_12+', expected one such as 123, 123_4 or 123.batch"),
    ]
    assert jobs(rule, *lines, "not a row of it at all", fields="1", header=header) == [(1,), (1,)]


# Resources.

BOTH = {"": None, "cpu=4": None, "gres/gpu=2": 2, "cpu=4,gres/gpu=2,gres/gpu:a100=2": 2, "gres/gpu:a100=2": 2,
        "gres/gpu:a100=2,gres/gpu:v100=1": 3, "gres/gpu=2,gres/gpu:a100=1,gres/gpu:v100=1,node=1": 2,
        "gres/gpu=1,gres/gpu:a100=3": 3, "gres/gpumem=40G,gres/gpuutil=90": None, "gres/gpu:a100_1g.5gb=1": 1,
        "gres/gpu=0": 0, "license/gpu=3": None, "gres/gpu=18446744073709551614": None}  # fmt: skip


@pytest.mark.parametrize(("column", "field"), [("AllocTRES", "n_gpus"), ("ReqTRES", "req_gpus")])
def test_gpus_are_counted_once(column, field, jobs):
    header = COLUMNS.replace("JobName", column)
    rows = [row(JobID=str(number), JobName=said) for number, said in enumerate(BOTH, 100)]
    found = [count for (count,) in jobs(*rows, fields=field, header=header)]
    assert dict(zip(BOTH, found, strict=True)) == BOTH


def test_the_type_of_gpus_is_that_allocated_else_that_requested(jobs):
    header = COLUMNS.replace("JobName", "AllocTRES").replace("TotalCPU", "ReqTRES")
    said = [
        ("gres/gpu=2,gres/gpu:a100=2", "gres/gpu=2"), ("gres/gpu=2", "gres/gpu:v100=2"),
        ("gres/gpu:a100=2,gres/gpu:v100=1", ""), ("gres/gpu=1", ""), ("", ""),
    ]  # fmt: skip
    rows = [row(JobID=str(k), JobName=have, TotalCPU=want) for k, (have, want) in enumerate(said, 1)]
    assert jobs(*rows, fields="gpu_type", header=header) == [
        ("a100",), ("v100",), ("a100:2,v100:1",), (None,), (None,)
    ]  # fmt: skip


ENERGIES = {"": None, "0": None, "54156": 54156, "18446744073709551614": None, "-1": None, "1.5": 1.5,
            "4294967294": None, "4294967295": None, "4294967293": 4_294_967_293}  # fmt: skip
ROUNDED = {"54.16K": 54160, "2M": 2e6, "1.5G": 1.5e9, "16?": None, "0": None, "": None, "4.29G": None,
           "4.28G": pytest.approx(4.28e9)}  # fmt: skip


@pytest.mark.parametrize(("column", "said"), [("ConsumedEnergyRaw", ENERGIES), ("ConsumedEnergy", ROUNDED)])
def test_energy(column, said, jobs):
    header = COLUMNS.replace("JobName", column)
    rows = [row(JobID=str(number), JobName=text) for number, text in enumerate(said, 100)]
    found = [energy for (energy,) in jobs(*rows, fields="energy", header=header)]
    assert dict(zip(said, found, strict=True)) == said


EXIT_CODES = {"0:0": 0, "1:0": 1, "0:9": 137, "1:15": 143, "": None, "256:0": 256, "x:0": None, "0": None}


def test_exit_codes(jobs):
    rows = [row(JobID=str(number), ExitCode=said) for number, said in enumerate(EXIT_CODES, 100)]
    found = [code for (code,) in jobs(*rows, fields="exit_code")]
    assert dict(zip(EXIT_CODES, found, strict=True)) == EXIT_CODES
    never = [row(JobID=str(number), **said) for number, said in enumerate((*IDLE, *OPEN), 100)]
    assert jobs(*never, fields="exit_code") == [(None,)] * len(never)


def test_the_peak_of_memory_is_an_exact_total_or_a_bound(jobs):
    header = "JobID|Submit|Start|Elapsed|AllocCPUS|NTasks|MaxRSS|AveRSS|TRESUsageInTot"
    alloc = "{}|1717156800|1717156800|00:10:00|2||||"
    steps = {
        "total": ["1|1000K|1000K|cpu=00:01,mem=2048K,vmem=9G", "4|3000K|2500K|mem=1.5M"],
        "mean": ["4|3000K|2500K|"], "one task": ["1|3000K||"], "an estimate": ["4|3000K||"],
        "partly": ["1|1000K|1000K|mem=2048K", "4|3000K||"], "nothing": ["1|0|0|mem=0"],
        "bytes": ["1|||mem=2097152,gres/gpumem=4M,gres/gpuutil=87"],
    }  # fmt: skip
    rows = []
    for number, lines in enumerate(steps.values(), 1):
        rows += [alloc.format(number)]
        rows += [f"{number}.{k}|1717156800|1717156800|00:10:00|2|{line}" for k, line in enumerate(lines)]
    found = jobs(*rows, fields="max_memory, bounds, used_memory, gpu_memory, gpu_utilization", header=header)
    # Where a step's total is not known, that of its largest task is less than the job's peak.
    assert dict(zip(steps, found, strict=True)) == {
        "total": (2048 + 1536, None, 1792, None, None), "mean": (10_000, None, 6000, None, None),
        "one task": (3000, None, 1500, None, None), "an estimate": (3000, "max_memory", 6000, None, None),
        "partly": (3000, "max_memory", 7024, None, None), "nothing": (None, None, None, None, None),
        "bytes": (2048, None, 1024, 4096, None),
    }  # fmt: skip


def test_where_a_job_stood_and_what_it_waited_for(jobs):
    header = "JobID|Submit|Eligible|Start|Elapsed|QOS|Reservation|ReqTRES|NNodes"
    rows = [
        "1|1717156800|1717156900|1717157000|00:10:00|high|maint|cpu=1|3", "2|1717156800||||||cpu=1|",
        "3|1717156800|Unknown|1717157000|00:10:00||||1",
    ]  # fmt: skip
    found = jobs(*rows, fields="eligible_time, qos, req_resources, n_nodes", header=header)
    assert found == [
        (1717156900, "high", "cpu:1,reservation:maint", 3), (None, None, "cpu:1", None), (None, None, None, 1)
    ]  # fmt: skip


NO_IDS = ("", "abc", "7;drop", "7 ", "-7", "7_", "7+", "٣", "9" * 400 + "x")


def test_what_is_no_job_id_is_refused(jobs):
    jobs(row(), *(row(JobID=name) for name in NO_IDS), fields="1")
    assert account(jobs) == (len(NO_IDS) + 2, 1, 0, len(NO_IDS), 1)


# Hostile input.

VALUES = (
    "-9223372036854775808", "9223372036854775807", "18446744073709551615", "1e308", "nan", "inf",
    "-inf", "'", '"', "\\", "%s", "\x00", "\x1f", "||||", "2024-05-01T12:00:00", "99:99:99", "9" * 3000,
    "-1", "-", ":", "K", "cn", "1900-01-01T00:00:00",
)  # fmt: skip


def test_any_value_in_any_column_is_kept_repaired_or_refused(jobs):
    cells = [(column, value) for column in COLUMNS.split("|") for value in VALUES]
    rows = [
        row(**{"JobID": str(number), column: value}) for number, (column, value) in enumerate(cells, 1000)
    ]
    jobs(row(), *rows, fields="*")
    assert jobs.stores[-1].account.rows == 2 + len(rows)


def test_long_lines_and_odd_bytes(jobs):
    rows = [
        row(JobName="x" * (1 << 21)),
        row(JobID="8", JobName="x" * 500_000),
        row(JobID="09", User="a\x00b"),
    ]
    latin = row(JobID="10").encode() + b"\xe9" * 1_000_000
    found = jobs(*rows, latin, fields="length(executable_id), user_id")
    assert sorted(found) == [(3, "a b"), (89, "user042"), (89, "user042")], "long names are cut"
    assert account(jobs) == (5, 3, 0, 1, 1)


def test_a_million_lines_of_nothing_are_refused_one_by_one(jobs):
    jobs(row(), *["x"] * 300_000, fields="1")
    assert account(jobs) == (300_002, 1, 0, 300_000, 1)


# The real logs, read independently.

USED = re.compile(r"([\d.]+)([KMG]?)([cn]?)")
ORDER = (
    "JobID", "JobIDRaw", "Cluster", "Partition", "QOS", "Account", "Group", "GID", "User", "UID",
    "Submit", "Eligible", "Start", "End", "Elapsed", "ExitCode", "State", "NNodes", "NCPUS", "ReqCPUS",
    "ReqMem", "ReqTRES", "AllocTRES", "Timelimit", "NodeList", "JobName",
)  # fmt: skip
ENDED = {"COMPLETED": 1, "FAILED": 0, "TIMEOUT": 0, "CANCELLED": 5}


def seconds(text):
    days, _, clock = text.rpartition("-")
    hours, minutes, rest = map(int, clock.split(":"))
    return float(int(days or 0) * 86_400 + hours * 3600 + minutes * 60 + rest)


def stamp(text):
    return None if text == "Unknown" else datetime.fromisoformat(text + "Z").timestamp()


def gpus(text):
    """Return the number of GPUs among the resources of a job; those of some type are among all of them."""
    amounts = dict(item.split("=") for item in text.split(",") if item)
    typed = sum(float(amount) for name, amount in amounts.items() if name.startswith("gres/gpu:"))
    return max(float(amounts.get("gres/gpu", 0)), typed) or None


def exit_code(text):
    code, signal = map(int, text.split(":"))
    return 128 + signal if signal else code


def by_hand(line):
    """Return the fields behind the number of the job that a row without steps says."""
    said = dict(zip(ORDER, line.rstrip("\n").split("|", 25), strict=True))
    state = said["State"].split()[0]
    submit, start = stamp(said["Submit"]), stamp(said["Start"])
    ran = start is not None and said["NodeList"] != "None assigned" and state != "PENDING"
    ((amount, _, per),) = USED.findall(said["ReqMem"])
    number = float(amount)
    if number >= 2**31:
        number, per = number - 2**31, "c"
    if per == "n":
        number *= int(said["NNodes"]) / int(said["ReqCPUS"])
    array = said["JobID"].split("_")[0] if "_" in said["JobID"] else None
    known = {
        "submit_time": submit,
        "wait_time": start - submit if ran else None,
        "run_time": seconds(said["Elapsed"]) if ran and state != "RUNNING" else None,
        "n_procs": int(said["NCPUS"]) if ran else None,
        "req_n_procs": int(said["ReqCPUS"]),
        "req_time": seconds(said["Timelimit"]),
        "req_memory": pytest.approx(number * 1024),
        "status": ENDED.get(state),
        "user_id": said["User"],
        "group_id": said["Group"],
        "executable_id": said["JobName"],
        "queue_id": said["Partition"],
        "partition_id": said["Partition"],
        "orig_site_id": said["Cluster"],
        "last_run_site_id": said["Cluster"],
        "job_structure": "BoT" if array else "UNITARY",
        "job_structure_params": array,
        "used_resources": said["AllocTRES"].replace("=", ":") or None if ran else None,
        "req_resources": said["ReqTRES"].replace("=", ":") or None,
        "project_id": said["Account"],
        "n_nodes": int(said["NNodes"]) if ran else None,
        "node_list": said["NodeList"] if ran else None,
        "n_gpus": gpus(said["AllocTRES"]) if ran else None,
        "req_gpus": gpus(said["ReqTRES"]),
        "eligible_time": stamp(said["Eligible"]),
        "qos": said["QOS"],
        "state": state,
        "exit_code": exit_code(said["ExitCode"]) if ran and state != "RUNNING" else None,
    }
    return said["JobID"], tuple(known.get(name) for name in NAMES[1:])


def tasks(key):
    """Return the ids of the tasks that a range stands for, or the id itself."""
    array, _, parts = key.rstrip("]").partition("_[")
    ends = [part.split("-") for part in parts.split(",")] if parts else []
    return [f"{array}_{n}" for part in ends for n in range(int(part[0]), int(part[-1]) + 1)] or [key]


@pytest.mark.logs
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("phillips", 4285), ("accounting-logs-with-job-arrays", 23), ("non-ended-job-state", 2),
        ("unknown-job-state", 2), ("utf8-multibyte-chars", 1),
    ],
)  # fmt: skip
def test_every_field_of_real_logs_is_as_a_few_lines_of_python_read_it(name, count, logs):
    path = logs / "slurm" / f"xdmod-{name}.log"
    said = [
        (task, fields) for key, fields in map(by_hand, path.read_text().splitlines()) for task in tasks(key)
    ]
    expected = dict(reversed(said))  # a task that is named twice is that of the first row
    with open_trace([path]) as store:
        found = {
            key: fields
            for key, *fields in store.rows(
                "select source_id, jobs.* exclude job_id from jobs join source_ids using (job_id)"
            )
        }
        assert store.provenance["format"] == "slurm"
        assert (store.account.rows, store.account.jobs) == (count, len(expected))
        assert store.rows("select * from rejects") == []
        assert {name for (name,) in store.rows("select name from repairs")} <= {"no time zone"}
    assert {key: tuple(fields) for key, fields in found.items()} == expected


HB_COLUMNS = (
    "JobID,JobName,User,Partition,NodeList,NNodes,NCPUS,NTasks,State,Submit,Start,End,Timelimit,Elapsed,TotalCPU,"
    "CPUTime,UserCPU,SystemCPU,ReqMem,MaxRSS,MaxVMSize,ReqTRES,AllocTRES,TRESUsageInMax,TRESUsageInTot,"
    "TRESUsageOutTot,MaxDiskRead,MaxDiskWrite,MaxRSSNode,MaxRSSTask,MaxVMSizeNode,MaxVMSizeTask,MaxDiskReadNode,"
    "MaxDiskReadTask,MaxDiskWriteNode,MaxDiskWriteTask,Comment"
)


@pytest.mark.logs
def test_a_real_log_with_gpus_agrees_with_what_another_program_says_of_its_jobs(logs):
    """The program rounds times to seconds and memory to two decimals, and takes steps for part of the run."""
    expected = json.loads((logs / "today" / "hb-jobinfo" / "oracle_hb.json").read_text())["jobs"]
    options = ReadOptions(format_options={"columns": HB_COLUMNS})
    with open_trace([logs / "today" / "hb-jobinfo" / "sacct.txt"], "slurm", options) as store:
        assert (store.account.rows, store.account.jobs, store.account.folded) == (242, 100, 142)
        rows = store.rows(
            "select source_id, n_procs, coalesce(run_time, 0), average_cpu_time * n_procs, max_memory,"
            " n_gpus, req_gpus from jobs join source_ids using (job_id)"
        )
    found = {key: fields for key, *fields in rows}
    assert set(expected) <= set(found)
    near = []
    for key, said in expected.items():
        procs, run_time, cpu_time, memory, n_gpus, req_gpus = found[key]
        if said["start"]:
            assert procs == said["cores"], key
        # A job that runs has no run time yet.
        if said["start"] and said["end"]:
            assert run_time <= (said["run_time_s"] or 0) <= run_time + 10, key
        assert (cpu_time or 0) == pytest.approx(said["cpu_time_s"] or 0, abs=0.51), key
        assert (n_gpus, req_gpus) == (said["alloc_gpus"], said["req_gpus"]), key
        if said["max_memory_kb"]:
            # The program takes the largest step, where gwa adds those that overlap.
            assert memory >= 0.97 * said["max_memory_kb"], key
            near.append(memory == pytest.approx(said["max_memory_kb"], rel=0.03))
    assert len(near) == 40
    assert sum(near) >= 0.9 * len(near)


@pytest.mark.logs
@pytest.mark.parametrize("name", ["sstat.txt", "squeue.txt"])
def test_what_runs_and_what_waits_is_no_log(name, logs):
    with pytest.raises(TraceError, match="not a trace"):
        open_trace([logs / "today" / "hb-jobinfo" / name])


def test_a_trace_is_written_and_read_again(sample, tmp_path):
    account = convert(sorted((sample / "slurm").glob("sacct-*")), tmp_path / "a.gwf")
    with open_trace([tmp_path / "a.gwf"]) as store:
        assert store.account == account


@pytest.mark.parametrize(
    ("stamp", "options", "said"),
    [
        ("2024-05-31T12:00:00", {}, ["no time zone"]),
        ("2024-05-31T12:00:00", {"zone": "Europe/Amsterdam"}, []),
        ("2024-05-31T12:00:00Z", {}, []),
        ("2024-05-31T12:00:00+02:00", {}, []),
        ("1717156800", {}, []),
    ],
)
def test_a_submission_without_a_zone_is_said_to_be_so(stamp, options, said, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(f"JobID|User|Submit|Elapsed|State\n1|ann|{stamp}|00:10:00|COMPLETED\n")
    with open_trace([path], "slurm", ReadOptions(format_options=options)) as store:
        assert [name for (name,) in store.rows("select name from repairs")] == said
        assert not store.system.relative
        assert ("without a zone" in dict(store.header)["Times"]) == bool(said)


def test_memory_is_shared_out_over_the_processors_allocated_where_none_are_requested(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("JobID|Submit|Start|Elapsed|AllocCPUS|ReqMem\n1|1717156800|1717156800|00:10:00|8|16G\n")
    with open_trace([path], "slurm") as store:
        assert store.rows("select req_memory from jobs") == [(2 * 1024 * 1024,)]
