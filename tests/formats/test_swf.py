"""SWF in and out: the same facts, and for real logs the same columns."""

import gzip
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gwa
from gwa.formats.open import open_trace
from gwa.formats.registry import writer
from gwa.metrics.quality import conversion_notes
from gwa.store.options import ReadOptions
from gwa.store.schema import FIELDS

HEADER = (
    ("Version", "2.1"),
    ("Computer", "IBM SP2"),
    ("MaxJobs", "7"),
    ("UnixStartTime", "1000000000 # Sun Sep  9"),
    ("TimeZoneString", "Europe/Stockholm"),
    ("MaxProcs", "64 (8, 56)"),
    ("Queue", "0 interactive"),
    ("Queue", "3 batch, at night"),
    ("Note", "cleaned"),
)
LINES = (
    "  1     0   10  60  4 55.5 2048  8  3600 4096  1  3  1  7  3 -1 -1 -1",
    "  2    90   -1  -1 -1   -1   -1  1    60   -1  5  4  1 -1  0  2  1 30",
    "  3    -1   -1 0.5  1   -1   -1 -1    -1   -1  0 -1 -1 -1  5 -1 -1 -1",
)


def text_of(header=HEADER, lines=LINES):
    return "".join([f"; {key}: {value}\n" for key, value in header] + [f"{line}\n" for line in lines])


def data(path):
    """Return the first 18 columns of an SWF file, in order of submission."""
    frame = pd.read_csv(path, sep=r"\s+", comment=";", header=None, usecols=range(18), dtype=float)
    rows = frame.to_numpy()
    return rows[np.lexsort((rows[:, 0], rows[:, 1]))]


def header(path):
    return [line[2:] for line in path.read_text().splitlines() if line.startswith(";")]


@pytest.fixture
def swf(tmp_path):
    path = tmp_path / "trace.swf"
    path.write_text(text_of())
    return path


def rewritten(path, out, **wishes):
    with open_trace([path], options=ReadOptions(**wishes)) as store:
        writer(out).save(store, out)
    return out


def test_reads_what_the_header_and_the_columns_say(swf):
    with open_trace([swf]) as store:
        names = "job_id, submit_time, wait_time, run_time, n_procs, status, user_id, queue_id, partition_id"
        assert store.rows(f"select {names} from jobs order by 1") == [
            (1, 1e9, 10.0, 60.0, 4, 1, "U3", "batch,", None),
            (2, 1e9 + 90, None, None, None, 5, "U4", "interactive", "P2"),
            (3, None, None, 0.5, 1, 0, None, "Q5", None),
        ]
        assert store.rows("from dependencies") == [(2, 1, 30.0)]
        assert (store.system.cpus, store.system.zone) == (64, "Europe/Stockholm")


def test_is_written_with_the_same_columns(swf, tmp_path):
    again = rewritten(swf, tmp_path / "again.swf")
    assert (data(again) == data(swf)).all()
    assert rewritten(again, tmp_path / "third.swf").read_text().replace("again", "trace") == again.read_text()


def test_is_written_with_the_header_that_belongs_to_it(swf, tmp_path):
    lines = header(rewritten(swf, tmp_path / "again.swf"))
    assert lines[:3] == ["Version: 2.2", "Computer: IBM SP2", "MaxJobs: 3"]
    assert lines[3:9] == [f"{key}: {value}" for key, value in HEADER[3:]]
    assert lines[9:] == ["MaxRecords: 3", f"Note: made by gwa {gwa.__version__} from trace.swf"]


def test_all_facts_stay_the_same(swf, tmp_path):
    again = rewritten(swf, tmp_path / "again.swf")
    with gwa.open(swf) as one, gwa.open(again) as other:
        facts, others = (part.facts() | part.facts("fit") for part in (one, other))
    assert {key: value for key, value in others.items() if not key.startswith("conversion.")} == {
        key: value for key, value in facts.items() if not key.startswith("conversion.")
    }


def test_a_system_file_has_the_last_word_in_the_header(swf, tmp_path):
    lines = header(rewritten(swf, tmp_path / "again.swf", system={"cpus": 5, "zone": "Asia/Tokyo"}))
    assert "MaxProcs: 5" in lines
    assert "TimeZoneString: Asia/Tokyo" in lines
    assert not [line for line in lines if line.startswith("Processors")]


def test_unix_times_become_relative_and_relative_ones_stay(make_store, tmp_path):
    path = tmp_path / "a.swf"
    unix = (("Times", "Unix seconds, UTC"),)
    writer(path).save(make_store(unix, submit_time=[1e9 + 0.25, 1e9 + 7.5], run_time=[1.0, 2.5]), path)
    assert "UnixStartTime: 1000000000" in header(path)
    assert data(path)[:, [1, 3]].tolist() == [[0.25, 1.0], [7.5, 2.5]]

    writer(path).save(make_store(submit_time=[50.0, None], run_time=[1.0, None]), path)
    assert not [line for line in header(path) if line.startswith("UnixStartTime")]
    assert data(path)[:, [1, 3]].tolist() == [[-1, -1], [50.0, 1.0]]


@pytest.mark.parametrize(
    ("names", "numbers"),
    [
        (["U12", "U3", None, "U12"], [12, 3, -1, 12]),
        (["x0", "x7", "x7", "x1"], [0, 7, 7, 1]),
        (["bob", "alice", "bob", None], [1, 2, 1, -1]),
        (["U12", "bob", "U12", "U1"], [1, 2, 1, 3]),
        (["U1", "G1", "U1", "G1"], [1, 2, 1, 2]),
        (["U01", "U1", "U1", "U01"], [1, 2, 2, 1]),
        (["U99999999999999999999", "U1", None, None], [1, 2, -1, -1]),
    ],
)
def test_users_become_numbers(names, numbers, make_store, tmp_path):
    path = tmp_path / "a.swf"
    writer(path).save(make_store(submit_time=[1.0, 2.0, 3.0, 4.0], user_id=names), path)
    assert data(path)[:, 11].tolist() == numbers


@pytest.mark.parametrize(
    ("said", "names", "numbers", "listed"),
    [
        ([], ["Q1", "Q0"], [1, 0], []),
        ([], ["long", "short"], [1, 2], ["1 long", "2 short"]),
        (["7 long", "9 other"], ["long", "Q3"], [7, 3], ["7 long", "9 other"]),
        (["7 long", "3 other"], ["long", "Q3"], [1, 2], ["1 long", "2 Q3"]),
        (["7 long", "8 long"], ["long", "long"], [7, 7], ["7 long", "8 long"]),
        ([], ["at night", "B2"], [1, 2], ["1 at_night", "2 B2"]),
    ],
)
def test_queues_keep_their_numbers_or_are_listed(said, names, numbers, listed, make_store, tmp_path):
    path = tmp_path / "a.swf"
    lines = tuple(("Queue", line) for line in said)
    writer(path).save(make_store(lines, submit_time=[1.0, 2.0], queue_id=names), path)
    assert data(path)[:, 14].tolist() == numbers
    assert [line.removeprefix("Queue: ") for line in header(path) if line.startswith("Queue:")] == listed
    with open_trace([path]) as store:
        assert store.rows("select queue_id from jobs order by job_id") == [
            ("_".join(name.split()),) for name in names
        ]


# Quirks of real logs.


def open_text(tmp_path, text):
    path = tmp_path / "quirk.swf"
    path.write_text(text)
    return open_trace([path])


def test_exit_codes_in_the_status_column_are_understood(tmp_path):
    lines = [
        f"{n} {n} 1 1 1 -1 -1 1 1 -1 {code} 1 1 1 1 1 -1 -1" for n, code in enumerate([0, 1, 137, -1, 2], 1)
    ]
    with open_text(tmp_path, "\n".join(lines)) as store:
        assert [status for (status,) in store.rows("select status from jobs order by job_id")] == [
            1,
            0,
            0,
            None,
            0,
        ]
        assert store.rows("select name from repairs") == [("exit codes",)]


def partial(*rows):
    """Return lines of the number, submission, wait, run time, processors and status of jobs."""
    return "\n".join(
        f"{n} {submit} {wait} {run} {procs} -1 -1 4 1 -1 {status} 1 1 1 1 1 -1 -1"
        for n, submit, wait, run, procs, status in rows
    )


def jobs_of(store, fields="job_id, submit_time, wait_time, run_time, status, runs"):
    return store.rows(f"select {fields} from jobs order by job_id")


def test_partial_executions_are_what_a_job_held_and_when(tmp_path):
    text = partial(
        (1, 0, 5, 100, 4, 1), (1, 0, 5, 40, 4, 2), (1, -1, 7, 60, 2, 3),
        (2, 9, 1, 10, 1, 2), (2, -1, 2, 20, 1, 4),
        (3, 11, 0, 5, 1, 2),
        # Each with its own submission.
        (4, 20, 5, 30, 1, 0), (4, 20, 5, 10, 1, 2), (4, 90, 1, 20, 1, 4),
        # One goes on.
        (5, 30, 0, -1, 1, -1), (5, 30, 0, 10, 1, 2), (5, -1, 5, -1, 1, 2),
        # It is all of the job.
        (6, 40, 2, 10, 1, 1), (6, 40, 2, 10, 1, 3),
    )  # fmt: skip
    with open_text(tmp_path, text) as store:
        assert jobs_of(store) == [
            (1, 0.0, 5.0, 100.0, 1, "5/40//4///suspended;52/60//2///completed"),
            (2, 9.0, 1.0, 30.0, 0, "1/10//1///suspended;13/20//1///failed"),
            (3, 11.0, 0.0, 5.0, None, "0/5//1///suspended"),
            (4, 20.0, 5.0, 30.0, 0, "5/10//1///suspended;71/20//1///failed"),
            (5, 30.0, 0.0, None, None, "0/10//1///suspended;15///1///suspended"),
            (6, 40.0, 2.0, 10.0, 1, None),
        ]
        assert (store.account.folded, store.account.jobs) == (8, 6)


@pytest.mark.parametrize(
    "parts",
    [
        [(1, 0, 5, 40, 4, 2), (1, -1, -1, 60, 4, 3)],
        [(1, 0, 5, -1, 4, 2), (1, -1, 7, 60, 4, 3)],
        [(1, 0, 5, 40, 4, 2), (1, 10, 7, 60, 4, 3)],
        [(1, -1, -1, 40, 4, 2), (1, -1, 7, 60, 4, 3)],
    ],
)
def test_partial_executions_that_cannot_be_placed_are_folded(parts, tmp_path):
    with open_text(tmp_path, partial((1, 0, 5, 100, 4, 1), *parts)) as store:
        assert jobs_of(store) == [(1, 0.0, 5.0, 100.0, 1, None)]


def test_what_runs_held_is_written_and_read_again(make_store, tmp_path):
    runs = [
        None,
        "10/20//4///evicted;50/30//2///resizing;80/5//1///completed",
        "0/100/30////evicted;200/7/////failed",
        "5/10/////evicted;40//////running",
        "5/10//3///requeued",
    ]
    store = make_store(
        (("Times", "Unix seconds, UTC"),),
        submit_time=[1e9 + 10 * n for n in range(5)], wait_time=[3.0, 10.0, 0.0, 5.0, 5.0],
        run_time=[60.0, 35.0, 7.0, None, None], n_procs=[1, 1, 2, 2, None], status=[1, 1, 0, None, None],
        runs=runs,
    )  # fmt: skip
    path = tmp_path / "a.swf"
    writer(path).save(store, path)
    assert {"MaxJobs: 5", "MaxRecords: 13"} < {*header(path)}
    assert header(path)[-1].endswith(", without why runs ended")
    with open_trace([path]) as again:
        assert jobs_of(again) == [
            (1, 1e9, 3.0, 60.0, 1, None),
            (2, 1e9 + 10, 10.0, 55.0, 1, "10/20//4///suspended;50/30//2///suspended;80/5//1///completed"),
            (3, 1e9 + 20, 0.0, 37.0, 0, "70/30//2///suspended;200/7//2///failed"),
            (4, 1e9 + 30, 5.0, None, None, "5/10//2///suspended;40///2///suspended"),
            (5, 1e9 + 40, 5.0, 10.0, None, "5/10//3///suspended"),
        ]
        third = tmp_path / "b.swf"
        writer(third).save(again, third)
        assert (data(third) == data(path)).all()


@pytest.mark.parametrize("start", ["0", "-1", "unknown", "9" * 400, ""])
def test_an_unknown_start_leaves_times_relative(start, tmp_path):
    with open_text(tmp_path, text_of((("UnixStartTime", start),))) as store:
        assert store.system.relative
        assert store.rows("select max(submit_time) from jobs") == [(90.0,)]


@pytest.mark.parametrize(
    "line", ["Queue: ", "Queue: interactive", "Queue: 99999999999999999999 x", "Partition: 1"]
)
def test_a_list_of_queues_may_be_odd(line, tmp_path):
    with open_text(tmp_path, f"; {line}\n" + text_of((), [LINES[0]])) as store:
        assert store.rows("select queue_id from jobs") == [("Q3",)]


def test_logs_whose_starts_differ_are_brought_together(tmp_path):
    paths = []
    for start in (1_000_000_000, 1_000_050_000):
        paths.append(tmp_path / f"{start}.swf")
        paths[-1].write_text(
            text_of((("UnixStartTime", str(start)),), [LINES[0].replace("1", str(start % 7 + 1), 1)])
        )
    with open_trace(paths) as store:
        assert store.rows("select submit_time from jobs order by 1") == [(1e9,), (1e9 + 50_000,)]


LARGE = tuple(
    pytest.param(name, marks=pytest.mark.slow)
    for name in (
    "HPC2N-2002-2.1-cln", "LCG", "LLNL-Thunder-2007-1.1-cln", "METACENTRUM-2009-2-noheader",
    "NASA-iPSC-1993-3.1-cln", "SDSC-Par-1996-3.1-cln",
    )
)  # fmt: skip


@pytest.mark.logs
@pytest.mark.parametrize("name", ["KTH-SP2-1996-2.1-cln", "lublin_256", *LARGE])
def test_a_real_log_is_written_with_the_same_columns(name, logs, tmp_path):
    path = logs / "swf" / f"{name}.swf.gz"
    assert (data(rewritten(path, tmp_path / "again.swf")) == data(path)).all()


# The real logs, read independently.

NUMBERS = (
    "job_id", "submit_time", "wait_time", "run_time", "n_procs", "average_cpu_time", "used_memory",
    "req_n_procs", "req_time", "req_memory", "status",
)  # fmt: skip
NAMES = {
    "user_id": ("", "U", 11), "group_id": ("", "G", 12), "executable_id": ("", "X", 13),
    "queue_id": ("Queue", "Q", 14), "partition_id": ("Partition", "P", 15),
}  # fmt: skip


def by_hand(path):
    """Return, by field, what the columns of a log and the names in its header say."""
    with gzip.open(path, "rt") as file:
        said = [line[1:].partition(":")[::2] for line in file if line.startswith(";")]
    entries = [(key.strip(), value.split()) for key, value in said]
    site = next((" ".join(value) for key, value in entries if key == "Installation"), None)
    rows = pd.read_csv(path, sep=r"\s+", comment=";", header=None, usecols=range(18), dtype=float)
    rows = rows.iloc[rows[0].argsort()]
    found: dict[str, Any] = {
        name: rows[place].where(rows[place] >= 0).to_numpy(copy=True) for place, name in enumerate(NUMBERS)
    }
    found["submit_time"] += next((float(value[0]) for key, value in entries if key == "UnixStartTime"), 0)
    listed: dict[str, dict[int, str]] = {"Queue": {}, "Partition": {}}
    for key, value in entries:
        if key in listed and len(value) > 1:
            listed[key].setdefault(int(value[0]), value[1])
    for name, (key, letter, place) in NAMES.items():
        names = listed.get(key, {})
        found[name] = [
            names.get(int(number), f"{letter}{number:.0f}") if number >= 0 else None for number in rows[place]
        ]
    found |= dict.fromkeys(("orig_site_id", "last_run_site_id"), [site] * len(rows))
    return found | {"job_structure": ["UNITARY"] * len(rows)}


@pytest.mark.logs
@pytest.mark.parametrize("name", ["KTH-SP2-1996-2.1-cln", "lublin_256", "alea-wagap-2013", *LARGE])
def test_every_field_of_a_real_log_is_as_a_few_lines_of_pandas_read_it(name, logs):
    path = logs / "swf" / f"{name}.swf.gz"
    expected = by_hand(path)
    with open_trace([path]) as store:
        columns = store.connection.sql("from jobs order by job_id").fetchnumpy()
    for field in FIELDS:
        found = np.ma.asarray(columns[field.name])
        if field.is_text or field.name not in expected:
            assert found.tolist() == expected.get(field.name, [None] * len(found)), field.name
        else:
            np.testing.assert_array_equal(np.ma.filled(found.astype(float), np.nan), expected[field.name])


def test_what_has_no_column_is_said(make_store, tmp_path):
    path = tmp_path / "trace.swf"
    store = make_store(submit_time=[1e9], run_time=[5.0], n_gpus=[2.0], state=["COMPLETED"])
    writer(path).save(store, path)

    assert re.search(r"; Note: made by gwa \S+, without n_gpus, state\n", path.read_text())
    assert conversion_notes(store).extensions == ("n_gpus", "state")
