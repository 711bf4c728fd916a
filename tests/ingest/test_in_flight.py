"""Batches in flight: several at once, settled in the order of the log, and undone where one of them fails."""

import re
import threading
from contextlib import closing, nullcontext
from pathlib import Path
from random import Random
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.errors import DefinitionError, StrictError
from gwa.formats.convert import convert
from gwa.formats.open import open_trace
from gwa.ingest import cleaning, in_flight, pipeline
from gwa.ingest.in_flight import in_order
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import LineLayout, block_of, raw_blocks
from gwa.store.engines.config import Engine
from gwa.store.options import ReadOptions
from tests.formats.test_threads import tables

HEADER = "; UnixStartTime: 1000000000\n; MaxProcs: 8\n; Queue: 1 short\n; Queue: 2 long\n"
ROW = "{0:6} {0} 5 {1} 2 -1 -1 2 60 -1 1 {2} 1 -1 {3} -1 {4} -1\n"
ODD = (
    "; a comment in the midst\n",
    "\n",
    "\t{0}\t{0} 5 60 2 -1 -1 2 60 -1 1 1 1 -1 1 -1 -1 -1\r\n",
    "{0} {0} 5 60 2 -1\n",
    "{0} {0} five 60 2 -1 -1 2 60 -1 1 1 1 -1 1 -1 -1 -1\n",
    "{0} {0} 5 60 two -1 -1 2 60 -1 1 1 1 -1 1 -1 -1 -1\n",
    "{0} {0} -3 60 2 -1 -1 2 -60 -1 9 1 1 -1 1 -1 -1 -1\n",
    "{0} M\xfcller 5 60 2 -1 -1 2 60 -1 1 1 1 -1 1 -1 -1 -1\n",
    "{0} {0} 5 60 2 -1 -1 2 60 -1 1 1 1 -1 1 -1 -1 -1 19\n",
)  # fmt: skip
LONG = f"1 {'2' * (2 << 20)}\n"
"""A line that is longer than any row."""


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Let small logs be cut into blocks of some hundred lines, for as many workers as there are threads."""
    monkeypatch.setattr(in_flight, "MINIMUM_BYTES", 1)
    monkeypatch.setattr(in_flight, "ROWS_OF_GROUP", 150)
    monkeypatch.setattr(in_flight, "LINES_BEYOND", 7)
    monkeypatch.setattr(pipeline, "SMALL_SOURCE", 0)


def rows(count, seed=1):
    """Return as many lines of jobs, in order of their numbers."""
    drawn = Random(seed)
    return [
        ROW.format(
            number, drawn.randrange(9000), drawn.randrange(40), drawn.randrange(4), max(number - 3, -1)
        )
        for number in range(1, count + 1)
    ]


def with_odd(lines, seed=2):
    """Return *lines* with odd ones among them, of all kinds."""
    drawn = Random(seed)
    for number in range(len(lines) // 10):
        place = drawn.randrange(len(lines))
        lines[place] = lines[place] + ODD[number % len(ODD)].format(900_000 + number)
    lines.insert(len(lines) // 2, LONG)
    return lines


def write(path, lines):
    path.write_bytes((HEADER + "".join(lines)).encode("latin-1"))
    return path


# In order.


@given(
    weights=st.lists(st.integers(0, 3), max_size=12),
    size=st.integers(1, 4),
    failing=st.none() | st.integers(0, 11),
)
def test_what_is_done_at_once_is_settled_in_order(weights, size, failing):
    """Workers that need different times, and one of which may fail, settle as a single one would."""
    settled, at_work, hired = [], set(), []
    lock = threading.Lock()

    def hire(number):
        hired.append(number)
        return f"worker {number}"

    def work(worker, item):
        with lock:
            assert worker not in at_work
            at_work.add(worker)
        threading.Event().wait(weights[item] / 2000)
        with lock:
            at_work.remove(worker)
        if item == failing:
            raise ValueError(item)

    def settle(worker, item):
        assert worker not in at_work
        settled.append(item)

    fails = failing is not None and failing < len(weights)
    with pytest.raises(ValueError, match=rf"^{failing}$") if fails else nullcontext():
        in_order(iter(range(len(weights))), size, hire, work, settle)
    assert settled == list(range(failing if fails else len(weights)))
    assert hired == list(range(len(hired)))
    assert len(hired) <= size
    assert not at_work


def test_the_first_failure_in_order_is_raised_though_a_later_one_came_first():
    later = threading.Event()

    def work(_, item):
        if item == 0:
            later.wait(60)
        later.set()
        raise ValueError(item)

    with pytest.raises(ValueError, match=r"^0$"):
        in_order(iter(range(2)), 2, lambda number: number, work, lambda *_: None)


def test_a_single_worker_works_on_the_calling_thread():
    found = []
    in_order(
        iter("ab"), 1, lambda _: None, lambda *_: found.append(threading.current_thread()), lambda *_: None
    )
    assert found == [threading.current_thread()] * 2


# Blocks of lines.


@given(
    lines=st.lists(st.sampled_from([b"1 2\n", b"\n", b"; c\n", b"1\n", b"9" * 40 + b"\n"]), max_size=30),
    limit=st.integers(1, 9),
)
def test_blocks_of_so_many_lines_hold_all_of_them(lines, limit, tmp_path_factory):
    """Whatever the borders of what is read at once, and though some of the lines are too long."""
    path = tmp_path_factory.getbasetemp() / "lines"
    path.write_bytes(b"".join(lines))
    layout, accounts = LineLayout(width=2, comment=";"), []
    with (
        mock.patch("gwa.ingest.source.lines.CHUNK_SIZE", 7),
        mock.patch("gwa.ingest.source.lines.MAXIMUM_LINE_LENGTH", 20),
    ):
        for block_lines in (limit, 0):
            with closing(Source(path, 1 << 30, block_lines)) as source:
                blocks = list(raw_blocks(source, layout))
            rejects = [reject for raw in blocks for reject in block_of(raw, layout).rejects]
            data = b"".join(block_of(raw, layout).data for raw in blocks)
            comments = sum(block_of(raw, layout).comments for raw in blocks)
            accounts.append((data, comments, rejects, sum(raw.lines for raw in blocks)))
            if block_lines:
                assert [raw.first for raw in blocks] == list(range(1, len(lines) + 1, limit))
    assert accounts[0] == accounts[1]
    assert accounts[0][3] == len(lines)


# Logs.


def test_a_log_with_every_kind_of_fault_is_the_same_with_any_number_of_workers(tmp_path):
    path = write(tmp_path / "odd.swf", with_odd(rows(2500)))
    one = tables([path], 1)
    reasons = " ".join(one["rejects"])
    for reason in ("columns, expected 18", "expected a number", "longer than"):
        assert reason in reasons
    for threads in (2, 3, 7):
        assert tables([path], threads) == one


@pytest.mark.parametrize("suffix", ["gz", "mac", "utf16"])
def test_a_log_that_is_compressed_or_written_elsewhere_is_the_same(suffix, tmp_path):
    import gzip

    data = (HEADER + "".join(rows(1500))).encode()
    written = {
        "gz": gzip.compress(data),
        "mac": data.replace(b"\n", b"\r"),
        "utf16": data.decode().encode("utf-16"),
    }
    path = tmp_path / f"log.{suffix}.swf"
    path.write_bytes(written[suffix])
    one = tables([path], 1)
    assert len(one["recorded"]) == 1500
    assert tables([path], 3) == one


def test_a_compressed_log_that_breaks_off_is_the_same(tmp_path):
    import gzip

    path = tmp_path / "log.swf.gz"
    path.write_bytes(gzip.compress((HEADER + "".join(rows(2500))).encode())[:-900])
    one = tables([path], 1)
    assert "broke off" in one["rejects"][-1]
    assert tables([path], 3) == one


def test_several_files_are_the_same(tmp_path):
    paths = [write(tmp_path / f"{number}.swf", with_odd(rows(700, number), number)) for number in range(3)]
    paths.append(write(tmp_path / "header.swf", []))
    assert tables(paths, 3) == tables(paths, 1)


def test_a_strict_conversion_names_the_first_bad_row_in_order(tmp_path):
    lines = rows(4000)
    lines[2900] = "what is no row\n"
    lines[1700] = "1 2 3\n"
    path = write(tmp_path / "bad.swf", lines)
    expected = re.escape(f"{path}:{1701 + HEADER.count(chr(10))}: 3 columns, expected 18")
    for threads in (1, 2, 7):
        options = ReadOptions(engine=Engine(threads=threads), strict=True)
        with pytest.raises(StrictError, match=expected):
            open_trace([path], None, options)


DEFINITION = """/* ---
title = "Numbers"
files = ["*.txt"]
notes = "Rows of three numbers."
[columns]
job = "bigint"
submit = "double"
run = "double"
--- */
select job as job_id, submit as submit_time, {run} as run_time, 1 as n_procs from source
"""


def test_a_select_that_fails_on_a_row_of_a_later_block_names_the_row(tmp_path):
    """The transaction has failed then, and what is asked of its rows comes behind it."""
    definition, log = tmp_path / "numbers.sql", tmp_path / "log.txt"
    definition.write_text(DEFINITION.format(run="case run when 77 then cast('ten' as double) else run end"))
    log.write_text("".join(f"{number} {number} {77 if number == 2500 else 5}\n" for number in range(1, 3001)))
    for threads in (1, 3):
        with pytest.raises(DefinitionError, match=r"run_time: Could not convert.*job 2500"):
            open_trace([log], str(definition), ReadOptions(engine=Engine(threads=threads)))


class PlannedError(Exception):
    """What a test raises."""


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_a_worker_that_fails_leaves_nothing(threads, tmp_path, monkeypatch):
    """What others have made meanwhile is undone; the output is as before, and no thread or file is left."""
    monkeypatch.setenv("GWA_TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    path, out = write(tmp_path / "log.swf", rows(4000)), tmp_path / "out.duckdb"
    out.write_bytes(b"as before")
    plain, calls, before = cleaning.insert_jobs, [], threading.active_count()

    def failing(store, *given):
        calls.append(store)
        if len(calls) == (5 if threads > 1 else 1):
            raise PlannedError
        plain(store, *given)

    monkeypatch.setattr(cleaning, "insert_jobs", failing)
    with pytest.raises(PlannedError):
        convert([path], out, options=ReadOptions(engine=Engine(threads=threads)))
    assert out.read_bytes() == b"as before"
    assert [
        found.name for found in tmp_path.iterdir() if found.name not in {"log.swf", "out.duckdb", "tmp"}
    ] == []
    assert [*(tmp_path / "tmp").iterdir()] == []
    assert threading.active_count() == before


def test_as_many_workers_as_memory_affords(tmp_path):
    path = Path(write(tmp_path / "log.swf", rows(4000)))
    with open_trace([path]) as store:
        heads = [type("Head", (), {"path": path})()]
        store.connection.execute("set threads = 16")
        found = [
            in_flight.possible_workers(store, heads, Engine(limit))
            for limit in (None, "800MB", "2GB", "350MB")
        ]
    assert found == [8, 3, 8, 1]


def test_no_more_workers_than_a_file_has_work_for(tmp_path, monkeypatch):
    path = write(tmp_path / "log.swf", rows(4000))
    monkeypatch.setattr(in_flight, "MINIMUM_BYTES", path.stat().st_size // 2)
    with open_trace([path]) as store:
        store.connection.execute("set threads = 16")
        assert in_flight.possible_workers(store, [type("Head", (), {"path": path})()], None) == 2
