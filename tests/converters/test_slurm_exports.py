"""Slurm logs as people export them: situations that users of other tools reported, and CSV of any writer."""

import csv
import io
from contextlib import nullcontext, suppress
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.analysis.sections._requeues import requeued
from gwa.errors import TraceError, UnknownFormat
from gwa.formats.append import append
from gwa.formats.convert import convert
from gwa.formats.open import open_trace
from gwa.formats.registry import format_called
from gwa.ingest.array_ranges import tasks_of, with_tasks
from gwa.ingest.source.head import FileHead
from gwa.metrics.efficiency import overall
from gwa.metrics.presence import listed_boxes
from gwa.metrics.requeues import Requeues, requeues
from gwa.report.document import Facts
from gwa.store.anonymize import anonymize
from gwa.store.store import Store
from tests.conftest import examples

CASES = Path(__file__).parents[2].parent / "shared" / "cases" / "slurm"

SITUATIONS: dict[str, dict[str, dict[str, Any]]] = {
    # name: the jobs by their ids, with values of fields; what is not named is not looked at.
    "01-srun-tasks.sacct": {
        "131042": {
            "run_time": 53,
            "n_procs": 8,
            "used_memory": 1947276,
            "bounds": "max_memory",
            "cpu": 417.815,
        }
    },
    "01b-srun-tasks-no-ntasks.sacct": {
        "131042": {"run_time": 53, "used_memory": None, "max_memory": 1947276, "bounds": "max_memory"}
    },
    "02-multinode.sacct": {
        "65638294": {
            "n_procs": 16,
            "n_nodes": 2,
            "run_time": 27363,
            "wait_time": 600,
            "memory": 2 * 4037120,
            "bounds": "max_memory",
            "req_memory": 32 * 1024**2 / 16,
            "cpu": 431781,
        }
    },
    "03-limits.sacct": {
        "31114": {
            "status": 5,
            "run_time": None,
            "wait_time": None,
            "n_procs": None,
            "req_time": None,
            "group_id": "domänen-benutzer",
        },
        "11741520": {"n_procs": 4, "run_time": 12167, "req_memory": 7 * 1024**2, "req_time": None},
    },
    "04-pending-array.sacct": {
        "123456_1": {"run_time": 3600, "n_procs": 1, "req_memory": 3 * 1024**2},
        **{
            f"123456_{task}": {"run_time": None, "state": "PENDING", "n_procs": None}
            for task in range(9201, 10_001)
        },
        "56502501_1": {"run_time": None, "state": "PENDING", "n_procs": None},
    },
    "05-alloc-zero.sacct": {"41305312": {"run_time": 642, "n_procs": 5}},
    "06-submitline.sacct": {
        "59374177": {"run_time": 2, "req_time": 72000, "cpu": 0.042},
        "59374178": {"run_time": 60, "n_procs": 2},
    },
    "06b-submitline-caret.sacct": {
        "59374177": {"run_time": 2, "req_time": 72000, "cpu": 0.042},
        "59374178": {"run_time": 60, "n_procs": 2},
    },
    "07-pipes.sacct": {
        "1": {"executable_id": "crazy|name", "run_time": 60},
        "2": {"executable_id": "sane", "run_time": 60, "status": 0},
        "3": {"executable_id": "x|y", "run_time": 120, "n_procs": 8, "project_id": "acc"},
    },
    "08-gpus.sacct": {str(job): {"n_gpus": gpus} for job, gpus in enumerate((1, 2, 3, 2, None, 2), 1)},
    "10-energy.sacct": {
        str(job): {"energy": energy} for job, energy in enumerate((101630, None, None, None, 101630, None), 1)
    },
    "10b-energy-pretty-overflow.sacct": {
        "1": {"energy": None},
        "2": {"energy": None},
        "3": {"energy": 4.19e9},
    },
    "14-het.sacct": {
        "93+0": {"n_procs": 4, "run_time": 600, "memory": 4000},
        "93+1": {"n_procs": 8, "memory": 1000},
    },
    "15-interactive.sacct": {"778010": {"run_time": 7, "n_procs": 2, "group_id": "staff"}},
    "16-eye.sacct": {
        "715219_23": {"run_time": 600, "wait_time": 1844},
        "1488666": {"state": "OUT_OF_MEMORY", "run_time": 60},
        "15926486": {"status": 5},
    },
    "17-cpu-impossible.sacct": {"15715316_9734": {"run_time": 1594, "n_procs": 2}},
    "18-offset.sacct": {"1": {"submit_time": 1762048800}, "2": {"submit_time": 1762070400}},
    "19-negative-elapsed.sacct": {job: {"run_time": 0} for job in "123"},
    "20-suspended.sacct": {"1": {"run_time": 3600, "n_procs": 8}},
    "22-apel.sacct": {"5940815": {"run_time": 177896, "n_procs": 8, "cpu": None}},
    "23-cancelled-before-start.sacct": {
        "1": {"run_time": None, "wait_time": None, "n_procs": None, "status": 5},
        "2": {"wait_time": 600, "n_procs": 16},
    },
    "24-report.csv": {
        "10294159": {
            "run_time": 91,
            "n_procs": 1,
            "cpu": 24.041,
            "memory": 183612,
            "req_memory": 32000 * 1024,
        }
    },
    "24b-comma-unquoted.csv": {
        "1": {"run_time": 91, "n_procs": 1},
        "2": {"run_time": 120, "n_gpus": 2, "status": 0},
        "3": {"run_time": None, "state": "PENDING"},
    },
    "24d-csv-all-quoted.csv": {
        "10294159": {
            "run_time": 91,
            "n_procs": 1,
            "cpu": 24.041,
            "memory": 183612,
            "req_memory": 32000 * 1024,
            "n_gpus": 1,
        }
    },
    "24f-lower-case-header.csv": {
        "10294159": {
            "run_time": 91,
            "n_procs": 1,
            "cpu": 24.041,
            "memory": 183612,
            "req_memory": 32000 * 1024,
            "n_gpus": 1,
        }
    },
    "25-federated.sacct": {"67108866": {"run_time": 3600, "state": "COMPLETED", "orig_site_id": "fed1"}},
    "26-banner.json": {"5749": {"run_time": 30}},
    "27-energy-noval.json": {"5749": {"energy": None}},
    "27b-step-energy-noval.json": {"5749": {"energy": None}},
    "28-jobidraw.sacct": {"1043166": {"run_time": 600, "n_procs": 4}},
    "29-step-energy.sacct": {"1": {"energy": 9000}},
    "30-stderr.sacct": {"1": {"run_time": 600}, "2": {"run_time": 600}},
    "31-reqmem.sacct": {
        str(job): {"req_memory": None if memory is None else memory / 8}
        for job, memory in enumerate((None, 40 * 1024**2, 32 * 1024**2, 2252800, 1.5 * 1024**3, None), 1)
    },
    "34-concurrent-steps.sacct": {"9": {"max_memory": 16_010_000, "bounds": None}},
    "35-seffarray-columns.sacct": {
        "36324498": {"run_time": 1556, "max_memory": 4484, "bounds": "max_memory"}
    },
    "36-reportseff-columns.sacct": {"11741520": {"run_time": 12167, "n_procs": 4, "max_memory": 99000}},
    "36b-reportseff-columns-ReqMem.sacct": {
        "11741520": {"run_time": 12167, "n_procs": 4, "max_memory": 99000}
    },
    "37-all-columns.sacct": {job: {"run_time": 3600, "n_procs": 4, "n_gpus": 1} for job in "123"},
    "38-noval-start.sacct": {
        "1": {"run_time": None, "wait_time": None, "n_procs": None},
        "2": {"wait_time": 60},
        "3": {"wait_time": 60},
    },
    "39-elapsed-wrap.sacct": {"1": {"run_time": None}, "3": {"run_time": 3600}},
    "40-raw-wrap.sacct": {"1": {"run_time": None}, "3": {"run_time": 3600}},
    "41-start-without.sacct": {"1": {"run_time": 3600, "n_procs": 4, "wait_time": 7200}},
    "42-no-elapsed-with-start.sacct": {"1": {"run_time": 3600}, "2": {"run_time": None, "state": "RUNNING"}},
    "43-cputimeraw.sacct": {"1": {"n_procs": 4, "run_time": 3600}},
    "44-oom-step.sacct": {"1": {"state": "OUT_OF_MEMORY", "status": 0, "exit_code": 253}},
    "45-negative-energy.sacct": {job: {"energy": None} for job in "123"},
    "46-user-empty.json": {"5749": {"user_id": "alice"}},
    "48-jds.sacct": {
        "62733079_1": {
            "job_structure": "BoT",
            "executable_id": "a|b",
            "n_gpus": 1,
            "submit_time": 1704067200,
        },
        "62733080": {"state": "PENDING"},
        "62733081": {"status": 5, "run_time": None},
    },
    "49-xdmod-old-order.sacct": {
        "4037": {"run_time": 3600, "n_procs": 8, "req_gpus": 2, "executable_id": "job one"},
        "4038": {"run_time": 3600, "n_procs": 8, "req_gpus": None, "executable_id": "job two"},
    },
    "50-space-times.sacct": {"1": {"run_time": 3600, "wait_time": 300}},
    "51-reused-array-parent.sacct": {
        "100_1": {"run_time": 3600},
        "100_2": {"run_time": None, "status": 5},
        "100_3": {"run_time": None, "status": 5},
        "100": {"run_time": 3600},
    },
    "52-latin1.sacct": {"1": {"executable_id": "für dich"}, "2": {"executable_id": "dédé job"}},
}

DERIVED = {"cpu": "average_cpu_time * n_procs", "memory": "used_memory * n_procs"}
"""What the cases state in other units than the fields: CPU seconds and memory of the whole job."""

REJECTED = {"26-banner.json": 3, "30-stderr.sacct": 2}

needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not part of the project")


def jobs_of(paths, *fields, **options):
    """Return the values of *fields* of the jobs by their ids in the source."""
    with open_trace(paths, **options) as store:
        return jobs_in(store, *fields)


def jobs_in(store, *fields):
    """Return the values of *fields* of the jobs of a store, as `jobs_of` does."""
    store.account.check()
    values = ", ".join(DERIVED.get(name, name) for name in fields)
    rows = store.rows(f"select source_id, {values} from jobs join source_ids using (job_id)")
    assert len({key for key, *_ in rows}) == len(rows) == store.account.jobs
    return {key: dict(zip(fields, found, strict=True)) for key, *found in rows}


@needs_cases
@pytest.mark.parametrize("name", SITUATIONS)
def test_reported_situations(name):
    expected = SITUATIONS[name]
    fields = list(dict.fromkeys(field for job in expected.values() for field in job))
    with open_trace([CASES / name]) as store:
        found = jobs_in(store, *fields)
        assert found.keys() == expected.keys()
        for job, values in expected.items():
            approximate = {k: pytest.approx(v) if isinstance(v, float) else v for k, v in values.items()}
            assert {field: found[job][field] for field in values} == approximate
        assert store.provenance["format"] == ("slurm-json" if name.endswith(".json") else "slurm")
        assert store.account.rejected == REJECTED.get(name, 0)


@needs_cases
def test_every_situation_is_tested():
    others = {
        "12-recycled.sacct",
        "21a-month1.sacct",
        "21b-month2.sacct",
        "32-slurm2sql3.csv",
        "47-sacct.yaml",
    }
    assert {path.name for path in CASES.iterdir()} == {*SITUATIONS, *others, "README"}


@needs_cases
def test_a_number_that_was_used_again_is_of_two_users():
    with open_trace([CASES / "12-recycled.sacct"]) as store:
        assert store.rows("select user_id, run_time from jobs order by 1") == [("u1", 3600), ("u2", None)]


@needs_cases
def test_two_months_of_a_log_are_one():
    found = jobs_of([CASES / "21a-month1.sacct", CASES / "21b-month2.sacct"], "status", "run_time")
    assert found == {"6": {"status": 1, "run_time": 3600}, "7": {"status": 1, "run_time": 43_200}}


@needs_cases
@pytest.mark.parametrize(
    ("name", "error", "reason"),
    [
        ("32-slurm2sql3.csv", TraceError, "submit time or a run time"),
        ("47-sacct.yaml", UnknownFormat, "--json"),
    ],
)
def test_what_cannot_be_read_is_refused_with_advice(name, error, reason):
    with pytest.raises(error, match=reason):
        open_trace([CASES / name])


@needs_cases
def test_bounds_are_not_in_efficiency():
    with open_trace([CASES / "01b-srun-tasks-no-ntasks.sacct"]) as store:
        assert overall(store).parts["memory"].jobs == 0
    with open_trace([CASES / "34-concurrent-steps.sacct"]) as store:
        assert overall(store).parts["memory"].mean == pytest.approx(16_010_000 / 16 / 1024**2)


# CSV of any writer.

COLUMNS = (
    "JobID", "JobIDRaw", "JobName", "User", "Account", "Partition", "Submit", "Start", "End", "Elapsed",
    "ElapsedRaw", "State", "ExitCode", "AllocCPUS", "CPUTimeRAW", "ReqCPUS", "NNodes", "TotalCPU", "ReqMem",
    "Timelimit", "AllocTRES", "NTasks", "MaxRSS",
)  # fmt: skip
ROWS = [
    dict(zip(COLUMNS, cells, strict=True))
    for cells in (
        ("7_1", "8", 'a, "b"; c|d', "ann", "bio", "p,q", "2024-05-01T12:00:00", "2024-05-01T12:00:10",
            "2024-05-01T12:01:10", "00:01:00", "60", "COMPLETED", "0:0", "4", "240", "4", "1", "02:00",
            "4G", "10:00", "billing=4,cpu=4,gres/gpu=2,mem=4G,node=1", "", ""),
        ("7_1.batch", "8.batch", "batch", "", "", "", "2024-05-01T12:00:10", "2024-05-01T12:00:10",
            "2024-05-01T12:01:10", "00:01:00", "60", "COMPLETED", "0:0", "4", "240", "", "1", "", "",
            "", "cpu=4,mem=4G,node=1", "1", "1000K"),
        ("9", "9", "two\nlines", "bob", "", "p", "2024-05-01T12:00:00", "Unknown", "Unknown",
            "00:00:00", "0", "PENDING", "0:0", "0", "0", "2", "", "", "1G", "", "", "", ""),
    )
]  # fmt: skip
"""Rows as sacct has them, of which a cell may be empty."""

FIELDS = (
    "submit_time", "wait_time", "run_time", "n_procs", "used_memory", "max_memory", "req_n_procs",
    "req_memory", "req_time", "status", "state", "user_id", "executable_id", "queue_id", "project_id",
    "n_gpus", "n_nodes", "cpu",
)  # fmt: skip


def written(columns, delimiter, quoting, *, index="", case=str, end="\n", bom=False):
    """Return the rows as a program writes them: with an *index* named so, and names spelled by *case*."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=end)
    first = [] if index is None or index == "R" else [index]
    writer.writerow([*first, *map(case, columns)])
    for number, row in enumerate(ROWS):
        named = [] if index is None else [str(number)]
        writer.writerow([*named, *(row.get(column, "") for column in columns)])
    return ("\ufeff" if bom else "") + text.getvalue()


def snake(name):
    return "".join(
        f"_{c.lower()}" if c.isupper() and i and name[i - 1].islower() else c.lower()
        for i, c in enumerate(name)
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "a.csv"
    path.write_text(written(COLUMNS, ",", csv.QUOTE_MINIMAL, index=None))
    found = jobs_of([path], *FIELDS)
    assert found["7_1"] == {
        "submit_time": 1714564800, "wait_time": 10, "run_time": 60, "n_procs": 4, "used_memory": 250,
        "max_memory": 1000, "req_n_procs": 4, "req_memory": 1024**2, "req_time": 600, "status": 1,
        "state": "COMPLETED", "user_id": "ann", "executable_id": 'a, "b"; c|d', "queue_id": "p,q",
        "project_id": "bio", "n_gpus": 2, "n_nodes": 1, "cpu": 120,
    }  # fmt: skip
    assert (found["9"]["run_time"], found["9"]["n_procs"], found["9"]["state"]) == (None, None, "PENDING")
    return found


TIMED = st.sampled_from(
    [("Submit",), ("Elapsed",), ("Start", "End"), ("Elapsed", "End", "Submit"), ("ElapsedRaw",)]
)


@examples(25)
@given(
    data=st.data(),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]),
    index=st.sampled_from([None, "", "index", "Unnamed: 0", "R"]),
    case=st.sampled_from([str, str.lower, str.upper, snake]),
    end=st.sampled_from(["\n", "\r\n"]),
    bom=st.booleans(),
    timed=TIMED,
    key=st.sampled_from([("JobID",), ("JobIDRaw",), ("JobID", "JobIDRaw")]),
)
def test_the_same_jobs_come_out_of_any_csv(  # noqa: PLR0913, PLR0917 - one for each choice of a writer
    data, delimiter, quoting, index, case, end, bom, timed, key, whole, tmp_path_factory
):
    others = sorted({*COLUMNS} - {"JobID", "JobIDRaw", *timed})
    some = data.draw(st.lists(st.sampled_from(others), unique=True))
    columns = data.draw(
        st.permutations([*key, *timed, "State", "AllocCPUS", *{*some} - {"State", "AllocCPUS"}])
    )
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    text = written(columns, delimiter, quoting, index=index, case=case, end=end, bom=bom)
    path.write_bytes(text.encode())
    assert format_called("slurm").mismatch(FileHead.of(path)) is None
    found = jobs_of([path], *FIELDS, name="slurm")
    names = {"7_1": "7_1" if "JobID" in key else "8", "9": "9"}
    assert found.keys() == set(names.values())
    for name, job in names.items():
        for field, value in found[job].items():
            # What a column tells no more is unknown; names lose what no line of a log can hold.
            assert value is None or value == whole[name][field], (field, text)
    if "Elapsed" in columns or "ElapsedRaw" in columns or {"Start", "End"} <= {*columns}:
        assert found[names["7_1"]]["run_time"] == 60
    assert found[names["7_1"]]["n_procs"] == 4


def test_csv_of_sacct_is_neither_taken_for_another_format_nor_for_any_table(tmp_path):
    for number, (delimiter, quoting) in enumerate(
        (mark, quoting) for mark in ",;\t|" for quoting in (csv.QUOTE_ALL, csv.QUOTE_MINIMAL)
    ):
        path = tmp_path / f"{number}.csv"
        path.write_text(written(COLUMNS, delimiter, quoting, index=""))
        with open_trace([path]) as store:
            assert store.provenance["format"] == "slurm"
            assert store.account.jobs == 2


def test_a_quote_that_is_not_closed_takes_no_other_row_with_it(tmp_path):
    path = tmp_path / "a.csv"
    lines = [f'{number},"oops,FAILED,2024-05-01T12:00:00,4,00:01:00' for number in (1, 2, 3)]
    path.write_text("\n".join(["JobID,JobName,State,Submit,AllocCPUS,Elapsed", *lines]) + "\n")
    assert jobs_of([path], "executable_id", "run_time") == {
        number: {"executable_id": '"oops', "run_time": 60} for number in "123"
    }


# Memory of steps, against a slow count.

SECONDS = st.integers(0, 30)
STEPS = st.lists(
    st.tuples(SECONDS, st.integers(0, 20), st.one_of(st.none(), st.integers(1, 3)), st.integers(1, 1000)),
    max_size=6,
)


def stamp(second):
    return f"2024-05-01T12:{second // 60:02}:{second % 60:02}"


def slow_peak(steps):
    """Return the memory of steps at its most: at the start of one of them, of all that have not ended."""
    return max(
        sum(size for begin, end, size in steps if begin == at or begin <= at < end) for at, _, _ in steps
    )


@examples(30)
@given(
    jobs=st.lists(
        st.tuples(STEPS, st.one_of(st.none(), st.integers(1, 1000)), st.integers(1, 2)),
        min_size=1,
        max_size=8,
    )
)
def test_memory_is_that_of_steps_side_by_side(jobs, tmp_path_factory):
    lines, expected = ["JobID|Submit|Start|End|Elapsed|AllocCPUS|NNodes|NTasks|MaxRSS|State"], {}
    for job, (steps, batch, nodes) in enumerate(jobs, 1):
        lines.append(f"{job}|{stamp(0)}|{stamp(0)}|{stamp(60)}|00:01:00|4|{nodes}|||COMPLETED")
        if batch:
            lines.append(f"{job}.batch|{stamp(0)}|{stamp(0)}|{stamp(60)}|00:01:00|4|1||{batch}K|COMPLETED")
        for number, (begin, length, tasks, size) in enumerate(steps):
            times = f"{stamp(begin)}|{stamp(begin)}|{stamp(begin + length)}|00:00:{length:02}"
            lines.append(f"{job}.{number}|{times}|4|{nodes}|{tasks or ''}|{size}K|COMPLETED")
        spans = [(begin, begin + length, size) for begin, length, _, size in steps]
        spans += [(0, 60, batch)] if batch else []
        is_known = all(tasks == 1 for _, _, tasks, _ in steps) and (bool(steps) or nodes == 1)
        least = max((size for _, _, size in spans), default=None)
        peak = slow_peak(spans) if spans and is_known else least
        expected[str(job)] = {"max_memory": peak, "bounds": "max_memory" if spans and not is_known else None}
    path = tmp_path_factory.mktemp("steps") / "a.sacct"
    path.write_text("\n".join(lines) + "\n")
    assert jobs_of([path], "max_memory", "bounds") == expected


# Requeued jobs and used numbers, against a slow fold.

RUNS = st.lists(
    st.tuples(st.integers(0, 200), st.integers(1, 4000), st.sampled_from([1, 2, 8]), st.booleans()),
    min_size=1,
    max_size=4,
)


EARLIER = """
select job_id, sum(n_procs * seconds) as cpu, sum(n_gpus * seconds) as gpu from {boxes}
where not is_last_run group by job_id
"""


def clock(second):
    day, rest = divmod(second, 86_400)
    return f"2024-05-{1 + day:02}T{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"


@examples(30)
@given(
    jobs=st.lists(
        st.tuples(st.integers(1, 2), st.sampled_from(["ann", "bob"]), RUNS),
        min_size=1,
        max_size=4,
        unique_by=lambda job: (job[0], job[1]),
    ),
    data=st.data(),
)
def test_runs_are_folded_into_their_job_and_counted(jobs, data, tmp_path_factory):
    header = "JobID|User|Submit|Start|End|Elapsed|State|AllocCPUS|NNodes|NTasks|MaxRSS|AllocTRES"
    groups, expected = [], {}
    for place, (number, user, runs) in enumerate(jobs):
        submit = place * 7
        earlier = [run * cpus for _, run, cpus, _ in runs[:-1]]
        gpus = [2 * run for _, run, _, has_gpus in runs[:-1] if has_gpus]
        for nth, (wait, run, cpus, has_gpus) in enumerate(runs):
            start, end = submit + wait, submit + wait + run
            state = "COMPLETED" if nth + 1 == len(runs) else "NODE_FAIL"
            times = f"{clock(start)}|{clock(end)}|{run // 3600:02}:{run // 60 % 60:02}:{run % 60:02}"
            tres = f"cpu={cpus}" + (",gres/gpu=2" if has_gpus else "")
            memory = 1000 * (place + 1) + nth
            groups.append(
                [
                    f"{number}|{user}|{clock(submit)}|{times}|{state}|{cpus}|1|||{tres}",
                    f"{number}.batch||{clock(start)}|{times}|{state}|{cpus}|1|1|{memory}K|",
                ]
            )
            submit = end
        expected[number, user] = (
            run, memory, len(earlier) or None, sum(earlier) if earlier else None, sum(gpus) if gpus else None,
        )  # fmt: skip
    lines = [line for group in data.draw(st.permutations(groups)) for line in group]
    path = tmp_path_factory.mktemp("runs") / "a.sacct"
    path.write_text("\n".join([header, *lines]) + "\n")
    with open_trace([path]) as store:
        store.account.check()
        found = {
            (int(number), user): tuple(values)
            for number, user, *values in store.rows(
                "select source_id, user_id, run_time, max_memory, n_requeues, cpu, nullif(gpu, 0) from jobs"
                f" join source_ids using (job_id) left join ({EARLIER.format(boxes=listed_boxes(store))})"
                " using (job_id)"
            )
        }
        assert found == expected
        total = requeues(store)
    runs = sum(values[2] or 0 for values in expected.values())
    assert (total.runs if total else 0) == runs
    if total:
        assert total.jobs == sum(values[2] is not None for values in expected.values())
        assert total.cpu_seconds == sum(values[3] or 0 for values in expected.values())


# What is new travels.

REQUEUED = """JobID|User|Submit|Start|End|Elapsed|State|AllocCPUS|NNodes|NTasks|MaxRSS|AllocTRES
7|ann|2024-05-01T10:00:00|2024-05-01T10:00:10|2024-05-01T11:00:10|01:00:00|NODE_FAIL|4|1|||cpu=4,gres/gpu=2
7.batch|||2024-05-01T10:00:10|2024-05-01T11:00:10|01:00:00|CANCELLED|4|1|1|9000000K|
7|ann|2024-05-01T11:00:10|2024-05-01T11:05:00|2024-05-01T11:35:00|00:30:00|COMPLETED|4|2|||cpu=4,gres/gpu=2
7.batch|||2024-05-01T11:05:00|2024-05-01T11:35:00|00:30:00|COMPLETED|4|1|1|800K|
"""
NEW_FIELDS = "run_time, max_memory, bounds, n_requeues, runs"
EXPECTED = (1800, 800, "max_memory", 1, "10/3600//4/2.0/1/node_fail;3900/1800//4/2.0/2/completed")


@pytest.fixture
def requeued_log(tmp_path):
    path = tmp_path / "a.sacct"
    path.write_text(REQUEUED)
    return path


@pytest.mark.parametrize("suffix", ["gwf", "parquet", "sqlite", "duckdb"])
def test_runs_and_bounds_are_written_and_read_again(suffix, requeued_log, tmp_path):
    convert([requeued_log], tmp_path / f"b.{suffix}")
    with open_trace([tmp_path / f"b.{suffix}"]) as store:
        assert store.rows(f"select {NEW_FIELDS} from jobs") == [EXPECTED]


def test_what_swf_cannot_hold_is_said(requeued_log, tmp_path):
    convert([requeued_log], tmp_path / "b.swf")
    note = next(line for line in (tmp_path / "b.swf").read_text().splitlines() if "without" in line)
    assert "bounds, n_requeues, why runs ended" in note


def test_anonymized_jobs_keep_their_runs_and_bounds(requeued_log):
    with open_trace([requeued_log]) as store, anonymize(store, b"0123456789abcdef") as copy:
        assert copy.rows(f"select {NEW_FIELDS} from jobs") == [EXPECTED]


def test_earlier_runs_are_facts_and_their_absence_is_none(requeued_log, sample):
    with open_trace([requeued_log]) as store:
        (block,) = requeued(store)
        assert isinstance(block, Facts)
        assert {fact.id: fact.value for fact in block.facts} == {
            "outcomes.requeued.jobs": 1,
            "outcomes.requeued.runs": 1,
            "outcomes.requeued.cpu_seconds": 14_400,
            "outcomes.requeued.gpu_seconds": 7200,
        }
    with open_trace([sample / "slurm" / "sacct-2024.txt"]) as store:
        assert requeues(store) is None
        assert not list(requeued(store))


# Federations, two clusters, GRES.


def test_a_sibling_that_stands_alone_has_no_outcome(tmp_path):
    path = tmp_path / "a.sacct"
    path.write_text(
        "JobID|Cluster|User|Submit|Start|End|Elapsed|State|AllocCPUS\n"
        "67108866|b|ann|2024-01-01T00:00:00|None|2024-01-01T00:05:00|00:00:00|REVOKED|0\n"
    )
    assert jobs_of([path], "status", "state", "run_time") == {
        "67108866": {"status": None, "state": "REVOKED", "run_time": None}
    }


@pytest.mark.parametrize("users", [("ann", "bob"), ("ann", "ann"), ("", "")])
def test_jobs_of_two_clusters_are_two_without_the_column(users, tmp_path):
    path = tmp_path / "a.sacct"
    lines = ["JobID|User|Submit|Start|End|Elapsed|State|AllocCPUS|NNodes|NTasks|MaxRSS"]
    for user, minute, hours, memory in zip(users, (0, 30), (2, 1), (900, 5), strict=True):
        times = f"2024-05-01T10:{minute:02}:10|2024-05-01T{10 + hours}:{minute:02}:10|0{hours}:00:00"
        lines += [
            f"7|{user}|2024-05-01T10:{minute:02}:00|{times}|COMPLETED|4|1||",
            f"7.batch|||{times}|COMPLETED|4|1|1|{memory}K",
        ]
    path.write_text("\n".join(lines) + "\n")
    with open_trace([path]) as store:
        found = store.rows(
            "select user_id, run_time, max_memory, n_requeues from jobs order by run_time desc"
        )
        assert found == [(users[0] or None, 7200, 900, None), (users[1] or None, 3600, 5, None)]


GRES = {
    "gpu:2": (2, 4, None),
    "gpu:p100:2(IDX:0-1),hbm:0": (2, 4, "p100"),
    "gpu": (1, 2, None),
    "": (None, None, None),
    "gpu:a100:1,gpu:v100:2": (3, 6, "a100:1,v100:2"),
    "craynetwork:1": (None, None, None),
    "gres:gpu:k80:1": (1, 2, "k80"),
    "7696487:2": (2, 4, None),
    "gpu:0": (0, 0, None),
    "gpu:a100": (1, 2, "a100"),
}


@pytest.mark.parametrize("gres", GRES)
def test_gpus_of_old_columns(gres, tmp_path):
    path = tmp_path / "a.sacct"
    path.write_text(
        "JobID|Submit|Start|Elapsed|State|AllocCPUS|NNodes|ReqGRES|AllocGRES\n"
        f"1|2024-05-01T10:00:00|2024-05-01T10:00:10|01:00:00|COMPLETED|4|2|{gres}|{gres}\n"
    )
    allocated, requested, kind = GRES[gres]
    assert jobs_of([path], "n_gpus", "req_gpus", "gpu_type") == {
        "1": {"n_gpus": allocated, "req_gpus": requested, "gpu_type": kind}
    }


# Situations that were made up: each kind beside those of the reports, with what was worked out by hand.

SPAN = "2024-05-01T10:01:00|2024-05-01T10:11:00|00:10:00"
"""Ten minutes, a minute after the submission."""
NEVER = "Unknown|Unknown|00:00:00"
COMMON = "JobID|User|Submit|Start|End|Elapsed|State|AllocCPUS"
SUBMITTED = "ann|2024-05-01T10:00:00"

MADE_UP: dict[str, tuple[str, dict[str, dict[str, Any]]]] = {
    "a job that waits again after a requeue has no memory, and its earlier run is counted": (
        (
            f"{COMMON}|NTasks|MaxRSS\n"
            f"1|{SUBMITTED}|{SPAN}|REQUEUED|4||\n"
            f"1.batch|||{SPAN}|CANCELLED|4|1|9K\n"
            f"1|ann|2024-05-01T10:11:00|{NEVER}|PENDING|0||\n"
        ),
        {
            "1": {
                "run_time": None,
                "max_memory": None,
                "bounds": None,
                "n_requeues": 1,
                "runs": "60/600//4///requeued",
            }
        },
    ),
    "a job that was resized began once": (
        (
            f"{COMMON}\n"
            f"1|{SUBMITTED}|2024-05-01T10:01:00|2024-05-01T10:05:00|00:04:00|RESIZING|4\n"
            f"1|{SUBMITTED}|2024-05-01T10:05:00|2024-05-01T10:11:00|00:06:00|COMPLETED|2\n"
        ),
        {
            "1": {
                "wait_time": 60,
                "run_time": 600,
                "n_procs": 2,
                "n_requeues": None,
                "runs": "60/240//4///resizing;300/360//2///completed",
            }
        },
    ),
    "restarts are earlier runs that the log does not have": (
        f"{COMMON}|Restarts\n1|{SUBMITTED}|{SPAN}|COMPLETED|4|2\n2|{SUBMITTED}|{SPAN}|COMPLETED|4|0\n",
        {
            "1": {"n_requeues": 2, "runs": None},
            "2": {"n_requeues": None, "runs": None},
        },
    ),
    "an exit code tells nothing of what has not ended": (
        (
            f"{COMMON.replace('State', 'ExitCode')}\n"
            f"1|{SUBMITTED}|{NEVER}|0:0|4\n"
            f"2|{SUBMITTED}|2024-05-01T10:01:00|Unknown|00:05:00|0:0|4\n"
            f"3|{SUBMITTED}|{SPAN}|0:0|4\n"
            f"4|{SUBMITTED}|{SPAN}|1:0|4\n"
        ),
        {"1": {"status": None}, "2": {"status": None}, "3": {"status": None}, "4": {"status": 0}},
    ),
    "an exit code tells nothing where it is not known what has ended": (
        "JobID|User|Start|Elapsed|ExitCode\n1|ann|2024-05-01T10:01:00|00:05:00|0:0\n",
        {"1": {"status": None, "run_time": 300}},
    ),
    "memory of a node is no memory where the job has no nodes": (
        (
            f"{COMMON}|ReqCPUS|ReqMem|NNodes\n"
            f"1|{SUBMITTED}|{NEVER}|PENDING|0|4|4Gn|0\n"
            f"2|{SUBMITTED}|{NEVER}|PENDING|0|1|4Gn|0\n"
        ),
        {"1": {"req_memory": None}, "2": {"req_memory": 4 * 1024**2}},
    ),
    "GRES of each node is not known of nodes that are not": (
        f"{COMMON}|ReqGRES\n1|{SUBMITTED}|{SPAN}|COMPLETED|8|gpu:2\n2|{SUBMITTED}|{SPAN}|COMPLETED|1|gpu:2\n",
        {"1": {"req_gpus": None}, "2": {"req_gpus": 2}},
    ),
    "steps without GPUs, one behind the other, use no GPU memory": (
        (
            f"{COMMON}|TRESUsageInTot\n"
            f"1|{SUBMITTED}|2024-05-01T10:01:00|2024-05-01T10:31:00|00:30:00|COMPLETED|8|\n"
            "1.0|||2024-05-01T10:01:00|2024-05-01T10:11:00|00:10:00|COMPLETED|1|mem=1000K\n"
            "1.1|||2024-05-01T10:12:00|2024-05-01T10:16:00|00:04:00|COMPLETED|1|mem=2000K\n"
            f"2|{SUBMITTED}|2024-05-01T10:01:00|2024-05-01T10:31:00|00:30:00|COMPLETED|8|\n"
            "2.0|||2024-05-01T10:01:00|2024-05-01T10:11:00|00:10:00|COMPLETED|1|mem=1000K,gres/gpumem=500K\n"
            "2.1|||2024-05-01T10:12:00|2024-05-01T10:16:00|00:04:00|COMPLETED|1|mem=2000K,gres/gpumem=700K\n"
        ),
        {
            "1": {"max_memory": 2000, "gpu_memory": None, "bounds": None},
            "2": {"max_memory": 2000, "gpu_memory": 700, "bounds": None},
        },
    ),
    "what still runs overlaps with what began later": (
        (
            f"{COMMON}|NTasks|MaxRSS\n"
            f"1|{SUBMITTED}|2024-05-01T10:01:00|Unknown|00:30:00|RUNNING|8||\n"
            "1.0|||2024-05-01T10:01:00|2024-05-01T10:11:00|00:10:00|COMPLETED|1|1|1000K\n"
            "1.1|||2024-05-01T10:06:00|Unknown|00:25:00|RUNNING|1|1|2000K\n"
            "1.2|||2024-05-01T10:20:00|Unknown|00:11:00|RUNNING|1|1|1500K\n"
        ),
        {"1": {"run_time": None, "max_memory": 3500, "bounds": None}},
    ),
    "components of a heterogeneous job have steps of their own": (
        (
            f"{COMMON}|NTasks|MaxRSS\n"
            f"123+0|{SUBMITTED}|{SPAN}|COMPLETED|4||\n"
            f"123+0.batch|||{SPAN}|COMPLETED|4|1|5000K\n"
            f"123+0.0|||{SPAN}|COMPLETED|4|1|7000K\n"
            f"123+1|{SUBMITTED}|{SPAN}|COMPLETED|8||\n"
            f"123+1.0|||{SPAN}|COMPLETED|8|1|1000K\n"
        ),
        {
            "123+0": {"n_procs": 4, "max_memory": 12000, "bounds": None},
            "123+1": {"n_procs": 8, "max_memory": 1000, "bounds": None},
        },
    ),
    "stamps that stand for none": (
        (
            f"{COMMON}\n"
            "1|ann|2024-05-01T10:00:00|1970-01-01T00:00:00|2024-05-01T10:11:00|00:10:00|COMPLETED|4\n"
            "2|ann|2024-05-01T10:00:00|2106-02-07T06:28:14|2024-05-01T10:11:00|00:00:00|CANCELLED by 1|0\n"
            f"3|ann|1970-01-01T00:00:00|{SPAN}|COMPLETED|4\n"
            f"4|ann|None|{SPAN}|COMPLETED|4\n"
            "5|ann|2024-05-01T10:00:00|2024-05-01T10:01:00|1970-01-01T00:00:00|00:10:00|COMPLETED|4\n"
            "6|ann|2024-05-01T10:00:00|2024-05-01T10:01:00|2106-02-07T06:28:15|00:10:00|RUNNING|4\n"
        ),
        {
            "1": {"wait_time": 60, "run_time": 600},
            "2": {"wait_time": None, "run_time": None, "n_procs": None},
            "3": {"submit_time": None, "wait_time": None, "run_time": 600},
            "4": {"submit_time": None, "wait_time": None, "run_time": 600},
            "5": {"wait_time": 60, "run_time": 600},
            "6": {"wait_time": 60, "run_time": None},
        },
    ),
    "what R and pandas write for what is missing": (
        (
            '"","JobID","User","Submit","Start","End","Elapsed","AllocCPUS","State","MaxRSS"\n'
            '"1","11","ann","2024-05-01T10:00:00",2024-05-01T10:01:00,2024-05-01T10:11:00,00:10:00,4.0,"COMPLETED",NA\n'
            '"2","12",NA,"2024-05-01T10:00:00",NaT,NaT,"00:00:00",0.0,"PENDING",NaN\n'
        ),
        {
            "11": {"user_id": "ann", "run_time": 600, "n_procs": 4, "max_memory": None},
            "12": {"user_id": None, "run_time": None, "state": "PENDING"},
        },
    ),
}


@pytest.mark.parametrize("situation", MADE_UP)
def test_situations_that_were_made_up(situation, tmp_path):
    text, expected = MADE_UP[situation]
    path = tmp_path / "jobs.csv"
    path.write_text(text)
    fields = sorted({field for values in expected.values() for field in values})
    found = jobs_of([path], *fields)
    for job, values in expected.items():
        assert {field: found[job][field] for field in values} == values
    assert found.keys() == expected.keys()


def test_the_time_of_runs_that_are_not_in_the_log_is_not_told(tmp_path):
    path = tmp_path / "jobs.sacct"
    path.write_text(
        f"{COMMON}|Restarts\n"
        f"1|{SUBMITTED}|{SPAN}|COMPLETED|4|2\n"
        f"2|{SUBMITTED}|{SPAN}|NODE_FAIL|4|\n"
        "2|ann|2024-05-01T10:11:00|2024-05-01T10:12:00|2024-05-01T10:13:00|00:01:00|COMPLETED|4|1\n"
    )
    with open_trace([path]) as store:
        assert requeues(store) == Requeues(jobs=2, runs=3, cpu_seconds=None, gpu_seconds=None)


WHOLE = """JobID|User|UID|Submit|Eligible|Start|End|Elapsed|ElapsedRaw|State|ExitCode|NNodes|AllocCPUS|\
ReqCPUS|NTasks|ReqMem|AveRSS|MaxRSS|TotalCPU|Timelimit|AllocTRES|ReqTRES|ConsumedEnergyRaw|NodeList|CPUTimeRAW
1|ann|9|T10:00:00|T10:00:00|T10:01:00|T10:11:00|00:10:00|600|COMPLETED|0:0|1|4|4||8G|||00:30:00|01:00:00|\
cpu=4,mem=8G,node=1|cpu=4,mem=8G,node=1||n1|2400
1.batch|||T10:01:00||T10:01:00|T10:11:00|00:10:00|600|COMPLETED|0:0|1|4|4|1||50K|50K|00:30:00||cpu=4,node=1||500|n1|2400
1.0|||T10:02:00||T10:02:00|T10:04:00|00:02:00|120|COMPLETED|0:0|1|2|2|2||1000K|1500K|00:01:00||cpu=2,node=1||100|n1|240
1.1|||T10:05:00||T10:05:00|T10:09:00|00:04:00|240|COMPLETED|0:0|1|2|2|2||2000K|2500K|00:01:00||cpu=2,node=1||100|n1|480
2|bob|8|T10:00:00|T10:00:00|Unknown|Unknown|00:00:00|0|PENDING|0:0|2|0|8||4Gn|||00:00:00|01:00:00|\
|cpu=8,mem=8G,node=2||None assigned|0
3|bob|8|T10:00:00|T10:00:00|None|T10:30:00|00:00:00|0|CANCELLED by 8|0:0|2|0|8||4Gn|||00:00:00|01:00:00|\
|cpu=8,mem=8G,node=2||None assigned|0
4|bob|8|T10:00:00|T10:00:00|T10:20:00|Unknown|00:15:00|900|RUNNING|0:0|2|8|8||2Gc|||00:00:00|01:00:00|\
cpu=8,gres/gpu=2,mem=16G,node=2|cpu=8,gres/gpu=2,mem=16G,node=2||n[1-2]|7200
5_1|eve|7|T10:00:00|T10:00:00|T10:20:00|T10:50:00|00:30:00|1800|FAILED|1:0|2|8|8||2Gc|||01:00:00|UNLIMITED|\
cpu=8,gres/gpu=2,mem=16G,node=2|cpu=8,gres/gpu=2,mem=16G,node=2|7000|n[1-2]|14400
5_1.batch|||T10:20:00||T10:20:00|T10:50:00|00:30:00|1800|FAILED|1:0|1|4|4|1||700K|700K|01:00:00||cpu=4,node=1||7000|n1|7200
7|eve|7|T10:00:00|T10:00:00|T10:10:00|T10:20:00|00:10:00|600|NODE_FAIL|0:0|1|4|4||8G|||00:30:00|01:00:00|\
cpu=4,mem=8G,node=1|cpu=4,mem=8G,node=1||n1|2400
7.batch|||T10:10:00||T10:10:00|T10:20:00|00:10:00|600|CANCELLED|0:0|1|4|4|1||90K|90K|00:30:00||cpu=4,node=1||300|n1|2400
7|eve|7|T10:20:30|T10:22:30|T10:25:00|T10:55:00|00:30:00|1800|COMPLETED|0:0|1|4|4||8G|||01:30:00|01:00:00|\
cpu=4,mem=8G,node=1|cpu=4,mem=8G,node=1||n1|7200
7.batch|||T10:25:00||T10:25:00|T10:55:00|00:30:00|1800|COMPLETED|0:0|1|4|4|1||60K|60K|01:30:00||cpu=4,node=1||800|n1|7200
"""
CELLS = [line.split("|") for line in WHOLE.replace("|T10:", "|2024-05-01T10:").splitlines()]
COUNTED = (
    "submit_time", "wait_time", "run_time", "n_procs", "average_cpu_time", "max_memory", "bounds",
    "req_n_procs", "req_memory", "req_time", "status", "user_id", "n_nodes", "n_gpus", "req_gpus", "energy",
    "state", "exit_code", "n_requeues",
)  # fmt: skip
NUMBERS_OF_USERS = {"9": "ann", "8": "bob", "7": "eve"}


def jobs_without(columns, folder):
    """Return what is told of the jobs of the whole log without some *columns*, by job."""
    kept = [place for place, name in enumerate(CELLS[0]) if name not in columns]
    path = folder / "some.sacct"
    path.write_text("".join("|".join(cells[place] for place in kept) + "\n" for cells in CELLS))
    return jobs_of([path], *COUNTED)


@pytest.fixture(scope="module")
def all_told(tmp_path_factory):
    """Return what is told of the jobs of the whole log."""
    return jobs_without(set(), tmp_path_factory.mktemp("whole"))


FEWER = (
    "Start",
    "State End",
    "End Elapsed ElapsedRaw",
    "AllocTRES NTasks",
    "Start State Elapsed ElapsedRaw NodeList AllocCPUS",
)
"""Columns that a log may lack, of which much else follows."""


@pytest.mark.parametrize("columns", FEWER)
def test_without_these_columns_values_are_missing_or_the_same(columns, all_told, tmp_path):
    check_values({*columns.split()}, jobs_without({*columns.split()}, tmp_path), all_told)


@pytest.mark.slow
@examples(15)
@given(columns=st.sets(st.sampled_from(CELLS[0][1:])))
def test_without_some_columns_values_are_missing_or_the_same(columns, all_told, tmp_path):
    assert all_told["7"]["n_requeues"] == 1
    assert all_told["1"]["max_memory"] == 4050
    if {"Submit", "Elapsed", "ElapsedRaw"} <= columns and not {"Start", "End"}.isdisjoint(columns):
        with pytest.raises(TraceError):
            jobs_without(columns, tmp_path)
        return
    # Where no time is left, a log may be refused with a sentence.
    no_time = {"Submit", "Start", "End", "Eligible"} <= columns
    with suppress(TraceError) if no_time else nullcontext():
        check_values(columns, jobs_without(columns, tmp_path), all_told)


def check_values(columns, told, all_told):
    """Assert that what is told of jobs without some *columns* is missing, or the same as with all."""
    for job, values in told.items():
        known = {field: value for field, value in values.items() if value is not None}
        if "max_memory" in known.pop("bounds", ""):
            assert known.pop("max_memory") <= all_told[job]["max_memory"]
        if {"End", "State"} <= columns and job == "4":
            # Whether it has ended is not known.
            known = {field: known[field] for field in known if field not in {"run_time", "exit_code"}}
        if "user_id" in known:
            known["user_id"] = NUMBERS_OF_USERS.get(known["user_id"], known["user_id"])
        assert known == {field: all_told[job][field] for field in known}


# GPUs that are requested of each node, or of which a job holds a share.

HEAD = "JobID|User|Submit|Start|End|Elapsed|State|NNodes|AllocCPUS|ReqCPUS|{}\n"
ROW = "{}|ann|2020-11-01T08:00:00|2020-11-01T08:00:10|2020-11-01T09:00:10|01:00:00|COMPLETED|2|8|8|{}\n"


@pytest.mark.parametrize(
    ("gres", "gpus", "kind"),
    [
        ("PER_NODE:gpu:2", 4, None),
        ("PER_NODE:gpu:v100:2", 4, "v100"),
        ("PER_JOB:gpu:4", 4, None),
        ("PER_TASK:gpu:1", None, None),
        ("gpu:2", 4, None),
        ("gpu:a100:2", 4, "a100"),
    ],
)
def test_gpus_requested_of_each_node_or_job(gres, gpus, kind, tmp_path):
    path = tmp_path / "jobs.sacct"
    path.write_text(HEAD.format("ReqGRES") + ROW.format(1, gres))
    with open_trace([path]) as store:
        assert store.rows("select req_gpus, gpu_type from jobs") == [(gpus, kind)]


@pytest.mark.parametrize(
    ("tres", "name"),
    [
        ("cpu=8,gres/shard=4", "shares of GPUs"),
        ("cpu=8,gres/mps:a100=50", "shares of GPUs"),
        ("cpu=8,gres/shard=0", None),
        ("cpu=8,gres/gpu=1", None),
        ("cpu=8", None),
    ],
)
def test_shares_of_gpus_are_no_gpus(tres, name, tmp_path):
    path = tmp_path / "jobs.sacct"
    path.write_text(HEAD.format("AllocTRES") + ROW.format(1, tres))
    with open_trace([path]) as store:
        assert store.rows("select n_gpus from jobs") == [(1 if "gpu=" in tres else None,)]
        said = [found for (found,) in store.rows("select name from repairs")]
    assert [found for found in said if "GPU" in found] == ([name] if name else [])


def test_gpus_that_steps_used_and_the_job_does_not_name_are_unknown(tmp_path):
    path = tmp_path / "jobs.sacct"
    used = "cpu=00:01:00,gres/gpumem=30000M,gres/gpuutil=92,mem=1G"
    path.write_text(
        HEAD.format("AllocTRES|TRESUsageInTot")
        + ROW.format(1, "cpu=8,node=2|")
        + ROW.format("1.0", f"cpu=8|{used}")
    )
    with open_trace([path]) as store:
        assert store.rows("select n_gpus from jobs") == [(None,)]
        assert ("untracked GPUs", 1) in store.rows("select name, jobs from repairs")


def test_a_log_without_submissions_says_what_to_ask_for(tmp_path):
    path = tmp_path / "jobs.sacct"
    path.write_text(
        "JobID|User|Elapsed|State|AllocCPUS\n1|ann|00:01:00|COMPLETED|2\n2|bob|00:02:00|FAILED|2\n"
    )
    with open_trace([path]) as store:
        ((said, jobs),) = store.rows("select meaning, jobs from repairs where name = 'no time'")
    assert jobs == 2
    assert "sacct --parsable2 --duplicates --format=JobID,User,Submit" in said


RANGES = {
    "12_[3-7,11%2]": [3, 4, 5, 6, 7, 11],
    "12_[0-30:10]": [0, 10, 20, 30],
    "12_[1%1]": [1],
    "12_[5]": [5],
    "12_[7-3]": None,
    "12_[20,30,...]": None,
    "12_[]": None,
    "12_3": None,
}
"""Ranges of array tasks, and the tasks that each stands for; None where a cell is not known to be one."""


@pytest.mark.parametrize("cell", RANGES)
def test_a_range_of_array_tasks_is_a_row_for_each(cell):
    tasks = RANGES[cell]
    expected = [(cell, 5)] if tasks is None else [(f"12_{n}", 5 + (k << 40)) for k, n in enumerate(tasks)]
    row = "(select $cell as jobid, 5 as line)"
    found = duckdb.execute(with_tasks(row, "jobid", numbered=True), {"cell": cell}).fetchall()
    assert found == expected
    assert tasks_of(cell) == len(tasks or [])


WAITS = "JobID|JobIDRaw|User|Submit|Start|End|Elapsed|State|AllocCPUS"
OF_RANGE = "ann|2026-03-02T08:00:00|Unknown|Unknown|00:00:00|PENDING|0"
OF_TASK = "ann|2026-03-02T08:00:00|2026-03-02T09:00:00|2026-03-02T10:00:00|01:00:00|COMPLETED|2"


def test_tasks_of_a_range_are_jobs_and_one_that_has_begun_since_is_the_same_job(tmp_path):
    """In one log, in two nights, and in a log of many lines, which is read where it stands."""
    nights = [
        [f"12_[3-7,11%2]|12|{OF_RANGE}", f"14_[7,...]|14|{OF_RANGE}"],
        [f"12_4|13|{OF_TASK}", f"12_[5-7,11%2]|12|{OF_RANGE}"],
    ]
    many = [f"{number}|{number}|{OF_TASK}" for number in range(1000, 60_000)]
    wanted = [("12_11", None), ("12_3", None), ("12_4", 3600)]
    wanted += [("12_5", None), ("12_6", None), ("12_7", None), ("14_[7,...]", None)]
    for number, lines in enumerate(nights):
        (tmp_path / f"{number}.sacct").write_text("\n".join([WAITS, *lines, ""]))
        append([tmp_path / f"{number}.sacct"], tmp_path / "nights.duckdb")
    for name, lines, rows in (
        ("few", [*chain(*nights)], 12),
        ("many", [*chain(*nights), *many], 12 + len(many)),
    ):
        (tmp_path / f"{name}.sacct").write_text("\n".join([WAITS, *lines, ""]))
        convert([tmp_path / f"{name}.sacct"], tmp_path / f"{name}.duckdb")
        with Store.open(tmp_path / f"{name}.duckdb") as store:
            store.account.check()
            assert store.account.rows == rows + store.account.comments
    for name in ("nights", "few", "many"):
        with Store.open(tmp_path / f"{name}.duckdb") as store:
            query = "select source_id, run_time from jobs join source_ids using (job_id)"
            assert store.rows(f"{query} where source_id like '1%\\_%' escape '\\' order by 1") == wanted


def test_ranges_of_more_tasks_than_there_can_be_are_refused(tmp_path):
    path = tmp_path / "jobs.sacct"
    path.write_text("\n".join([WAITS, *(f"{n}_[0-4000000]|{n}|{OF_RANGE}" for n in range(3)), ""]))
    with pytest.raises(TraceError, match="3 ranges of array tasks stand for 12,000,003 tasks"):
        open_trace([path])
