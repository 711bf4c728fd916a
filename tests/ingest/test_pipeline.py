"""From sources to a store: every row is accounted for, whatever the order and the number of files."""

import random

import numpy as np
import pandas as pd
import pytest

from gwa.errors import StrictError, TraceError
from gwa.formats.convert import convert
from gwa.formats.open import open_trace
from gwa.formats.registry import writer
from gwa.ingest import cleaning, pipeline
from gwa.ingest.counting import MAXIMUM_REJECTS_KEPT
from gwa.ingest.spec import RepairStep
from gwa.store.account import Account
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from gwa.util import fingerprint
from gwa.util.progress import Progress

GOOD = "{0} {0} 5 60 2 -1 -1 2 60 -1 1 1 1 1 1 1 -1 -1"
ODD = {
    "17 columns": ("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", "17 columns, expected 18"),
    "25 columns": (" ".join(map(str, range(25))), "25 columns, expected 18"),
    "letters in a number": (GOOD.format(9).replace(" 60 ", " 6O ", 1), "run is '6O', expected a number"),
    "a fraction with a comma": (
        GOOD.format(9).replace(" 60 ", " 6,0 ", 1),
        "run is '6,0', expected a number",
    ),
    "a user beyond all numbers": (
        GOOD.format(9).replace("-1 1 1 1 1", f"-1 1 {2**63} 1 1"),
        f"user_no is '{2**63}', expected a number",
    ),
}


@pytest.fixture
def log(tmp_path):
    """Return a function that writes a log."""

    def write(*lines, name="a.swf", end="\n"):
        path = tmp_path / name
        path.write_text("\n".join(lines) + end)
        return path

    return write


@pytest.mark.parametrize("kind", ODD)
def test_an_odd_line_is_refused_and_shown(kind, log):
    line, reason = ODD[kind]
    path = log("; Version: 2.2", *map(GOOD.format, range(1, 9)), line, GOOD.format(10))
    with open_trace([path]) as store:
        assert store.account == Account(11, 9, 0, 1, 1)
        assert store.rows("from rejects") == [("a.swf", 10, reason, line)]
        assert store.rows("select rows, comments, rejected from sources") == [(11, 1, 1)]
        assert store.rows("select max(job_id) from jobs") == [(10,)]
    with pytest.raises(StrictError, match=rf"a.swf:10: {reason}"):
        open_trace([path], options=ReadOptions(strict=True))


def test_what_a_select_yields_is_asked_for_once(log, monkeypatch):
    path = log(*map(GOOD.format, range(1, 4)))
    asked = []
    rows = Store.rows

    def counted(store, query, *values, **named):
        asked.append(query)
        return rows(store, query, *values, **named)

    monkeypatch.setattr(Store, "rows", counted)
    monkeypatch.setattr(pipeline, "KNOWN_YIELDS", {})
    found = []
    for _ in range(2):
        with open_trace([path]) as store:
            found.append(rows(store, "from jobs order by job_id"))
    assert len(found[0]) == 3
    assert found[0] == found[1]
    assert sum(query.startswith("describe select") for query in asked) <= 1 < len(asked)
    assert len(pipeline.KNOWN_YIELDS) == 1


def test_a_step_may_make_another_due(make_store):
    raise_all = "update recorded set run_time = 7 where run_time = 5"
    steps = [
        RepairStep("none", "none", raise_all, "select false"),
        RepairStep("first", "first", raise_all, "select count(*) > 0 from recorded where run_time = 5"),
        RepairStep(
            "second", "second", "update recorded set run_time = 9 where run_time = 7",
            "select count(*) > 0 -- of jobs\nfrom recorded where run_time = 7",
        ),
    ]  # fmt: skip
    store = make_store(submit_time=[1e9, 1e9 + 1], run_time=[5.0, 6.0])
    cleaning.finish_jobs(store, steps)
    assert store.rows("select run_time from recorded order by job_id") == [(9.0,), (6.0,)]
    assert sorted(store.rows("select name, jobs from repairs")) == [("first", 1), ("second", 1)]


def test_lines_that_lack_what_others_have_too_much_are_refused_too(log):
    short, long = GOOD.format(2).rsplit(" ", 1)[0], GOOD.format(3) + " 7"
    with open_trace([log(GOOD.format(1), long, short, GOOD.format(4))]) as store:
        assert store.account == Account(4, 2, 0, 2, 0)
        assert store.rows("select line, text from rejects order by line") == [(2, long), (3, short)]


def test_a_truncated_last_line_is_refused(log):
    path = log(*map(GOOD.format, range(1, 9)), "9 9 5 60", end="")
    with open_trace([path]) as store:
        assert store.account == Account(9, 8, 0, 1, 0)
        assert store.rows("select line, reason from rejects") == [(9, "4 columns, expected 18")]


def test_all_rejects_are_counted_and_the_first_are_kept(log):
    path = log(*map(GOOD.format, range(MAXIMUM_REJECTS_KEPT + 9)), *["broken"] * (MAXIMUM_REJECTS_KEPT + 5))
    with open_trace([path]) as store:
        assert store.account.rejected == MAXIMUM_REJECTS_KEPT + 5
        assert store.rows("select count(*) from rejects") == [(MAXIMUM_REJECTS_KEPT,)]


@pytest.mark.parametrize("resumed", [False, True])
def test_rejects_of_readers_and_of_the_select_are_those_of_each_source(resumed, sample, tmp_path):
    """A line that no job can be made of is found by the reader in one file, by the SELECT in the other."""
    lines = (sample / "alibaba2018" / "batch_task.csv").read_text().splitlines()
    cells = lines[0].split(",")
    no_job = ",".join(["", *cells[1:2], "", *cells[3:]])
    logs = {"batch_task.csv": [*lines, "broken"], "batch_task_2.csv": [no_job, no_job, *lines[:3]]}
    for name, written in logs.items():
        (tmp_path / name).write_text("\n".join(written) + "\n")
    options = ReadOptions(rows_folder=tmp_path / "rows") if resumed else ReadOptions()
    with open_trace([tmp_path / name for name in logs], "alibaba2018", options) as store:
        of_files = dict(store.rows("select file, count(*) from rejects group by file"))
        assert dict(store.rows("select file, rejected from sources")) == of_files
        assert store.account.rejected == sum(of_files.values()) >= 3
        assert set(of_files) == set(logs)


def test_nothing_but_bad_lines_is_an_error_that_shows_the_first(log):
    path = log("; Version: 2.2", *[f"{number} words" for number in range(9)])
    with pytest.raises(
        TraceError, match=r"9 of 10 lines were refused, the first at line 2: 2 columns, expected 18"
    ):
        open_trace([path], "swf")


def test_a_file_given_twice_is_read_once(log):
    one, other = log(GOOD.format(1)), log(GOOD.format(1), name="b.swf")
    third = log(GOOD.format(2), name="c.swf")
    with open_trace([one, third, other, one]) as store:
        assert store.account == Account(2, 2, 0, 0, 0)
        assert store.rows("select meaning from repairs") == [
            ("a.swf is the same file as a.swf; read once",),
            ("b.swf is the same file as a.swf; read once",),
        ]


def test_each_file_keeps_its_own_start_when_one_is_given_twice(log):
    starts = [1_000_000_000, 1_000_000_000, 1_000_900_000]
    paths = [
        log(f"; UnixStartTime: {start}", GOOD.format(start % 7), name=f"{number}.swf")
        for number, start in enumerate(starts)
    ]
    with open_trace(paths) as store:
        assert store.rows("select submit_time - job_id from jobs order by 1") == [(1e9,), (1_000_900_000.0,)]


def test_a_header_that_is_silent_about_its_start_shares_that_of_the_others(log):
    one = log("; UnixStartTime: 1000000000", GOOD.format(1))
    other = log(GOOD.format(2), name="b.swf")
    with open_trace([one, other]) as store:
        assert store.rows("select submit_time from jobs order by 1") == [(1e9 + 1,), (1e9 + 2,)]
    third = log("; UnixStartTime: 1000000007", GOOD.format(3), name="c.swf")
    with pytest.raises(
        TraceError, match=r"b.swf: its header has no UnixStartTime, and the other files disagree"
    ):
        open_trace([one, other, third])


def test_progress_is_told_in_bytes_of_the_file(log):
    told = []

    class Listener(Progress):
        def advance(self, amount=1.0):
            told.append(amount)

    path = log(*map(GOOD.format, range(1, 9)))
    open_trace([path], options=ReadOptions(progress=Listener())).close()
    assert sum(told) == path.stat().st_size


# Against an independent computation.


def by_pandas(path):
    """Return facts of an SWF log the short way."""
    frame = pd.read_csv(path, sep=r"\s+", comment=";", header=None, usecols=range(18), dtype=float)
    ran = frame[(frame[3] >= 0) & (frame[4] >= 1)]
    return {
        "jobs": len(frame),
        "users": frame[11][frame[11] >= 0].nunique(),
        "groups": frame[12][frame[12] >= 0].nunique(),
        "cpu": float((ran[3] * ran[4]).sum()),
        "sequential": int((ran[4] == 1).sum()),
        "parallel": int((ran[4] > 1).sum()),
        "mean": float(ran[3].mean()),
        "median": float(ran[3].median()),
    }


def facts(store):
    runs = store.sample("run_time", "ran")
    ((jobs, users, groups),) = store.rows(
        "select count(*), count(distinct user_id), count(distinct group_id) from jobs"
    )
    ((cpu, sequential, parallel),) = store.rows(
        "select sum(cpu_seconds), count(*) filter (where n_procs = 1),"
        " count(*) filter (where n_procs > 1) from ran"
    )
    return {
        "jobs": jobs,
        "users": users,
        "groups": groups,
        "cpu": cpu,
        "sequential": sequential,
        "parallel": parallel,
        "mean": runs.mean(),
        "median": runs.median(),
    }


LARGE = (
    "HPC2N-2002-2.1-cln", "LCG", "LLNL-Thunder-2007-1.1-cln", "METACENTRUM-2009-2-noheader",
    "NASA-iPSC-1993-3.1-cln", "SDSC-Par-1996-3.1-cln",
)  # fmt: skip
SMALL = ("KTH-SP2-1996-2.1-cln", "alea-wagap-2013", "lublin_256")
LOGS = (*SMALL, *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE))


@pytest.mark.logs
@pytest.mark.parametrize("name", LOGS)
def test_every_format_has_the_facts_of_the_log(name, logs, tmp_path):
    path = logs / "swf" / f"{name}.swf.gz"
    expected = by_pandas(path)
    with open_trace([path]) as store:
        assert facts(store) == expected
        for suffix in (".gwf", ".parquet", ".sqlite", ".duckdb", ".swf"):
            out = tmp_path / f"out{suffix}"
            writer(out).save(store, out)
            with open_trace([out]) as again:
                assert facts(again) == expected, suffix
            out.unlink()


@pytest.fixture
def made_log(tmp_path):
    """Return the path of a log of 1000 jobs made by chance, with some of everything."""
    chance = np.random.default_rng(7)
    size = 1000
    columns = np.full((size, 18), -1)
    columns[:, 0] = np.arange(1, size + 1)
    columns[:, 1] = np.sort(chance.integers(0, 10**6, size))
    columns[:, 2] = chance.integers(-1, 5000, size)
    columns[:, 3] = chance.integers(-1, 90_000, size)
    columns[:, 4] = chance.integers(-1, 65, size)
    columns[:, 10] = chance.choice([0, 1, 5, -1], size)
    columns[:, 11:16] = chance.integers(-1, 30, (size, 5))
    columns[columns[:, 11:16].min() == 0] = -1
    path = tmp_path / "made.swf"
    lines = [" ".join(map(str, row)) for row in columns]
    path.write_text("; UnixStartTime: 1000000000\n; MaxProcs: 64\n" + "\n".join(lines) + "\n")
    return path


def test_the_made_log_is_read_as_pandas_reads_it(made_log):
    with open_trace([made_log]) as store:
        assert facts(store) == by_pandas(made_log)


@pytest.mark.parametrize("suffix", [".gwf", ".parquet", ".sqlite", ".duckdb", ".swf"])
def test_neither_order_nor_number_of_files_changes_what_is_written(suffix, made_log, tmp_path):
    head, lines = made_log.read_text().splitlines()[:2], made_log.read_text().splitlines()[2:]
    shuffled, halves = tmp_path / "shuffled.swf", [tmp_path / "1.swf", tmp_path / "2.swf"]
    mixed = random.Random(3).sample(lines, len(lines))
    shuffled.write_text("\n".join([*head, *mixed, ""]))
    for number, half in enumerate(halves):
        half.write_text("\n".join([*head, *mixed[number::2], ""]))
    jobs = []
    for number, paths in enumerate(([made_log], [shuffled], halves)):
        out = tmp_path / f"out{number}{suffix}"
        convert(paths, out)
        with open_trace([out]) as store:
            jobs.append(
                (
                    store.rows("from jobs order by job_id"),
                    facts(store),
                    store.system,
                    store.rows("from repairs"),
                )
            )
    assert jobs[0] == jobs[1] == jobs[2]


def test_the_program_is_not_hashed_where_no_later_run_reads_the_rows(tmp_path, sample, monkeypatch):
    hashed = []

    def program():
        hashed.append(True)
        return ""

    monkeypatch.setattr(fingerprint, "program", program)
    lines = (sample / "sge" / "accounting").read_text().splitlines(keepends=True)
    logs = [tmp_path / "accounting.1", tmp_path / "accounting.2"]
    for log, part in zip(logs, (lines[:-1], lines[-1:]), strict=True):
        log.write_text("".join(part))

    convert(logs[:1], tmp_path / "one.duckdb")
    assert not hashed
    convert(logs, tmp_path / "two.duckdb")
    assert hashed
