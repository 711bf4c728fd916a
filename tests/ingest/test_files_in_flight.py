# mypy: disable-error-code="func-returns-value,redundant-expr"
"""Rows that are stored before they are mapped: by workers that share files or blocks, as by a single one."""

import gzip
import re
import signal
import textwrap
import threading
from collections import Counter
from itertools import count
from random import Random

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.errors import StrictError
from gwa.formats.append import append
from gwa.formats.convert import convert
from gwa.formats.open import open_trace
from gwa.ingest import counting, in_flight, pipeline, staging
from gwa.ingest.pieces import ParquetPieces
from gwa.ingest.spec import TableSpec
from gwa.store.engines.config import Engine
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from tests.formats.test_threads import TABLES, tables
from tests.ingest.test_in_flight import PlannedError
from tests.ingest.test_in_flight import rows as swf_rows
from tests.ingest.test_in_flight import write as write_swf
from tests.killing import run

EVENT = "{0},,{1},{2},{3},{4},user{5},{6},9,0.5,0.25,0.001,0\n"
ODD = (
    "\n",
    "{0},,9,0,,0,user,1\n",
    "{0},,six,0,,0,user,1,9,0.5,0.25,0.001,0\n",
    "{0},,9,0,,0,user,1,9,half,0.25,0.001,0\n",
    "{0},,6.3E+09,0,,0,user,1,9,0.5,0.25,0.001,0\n",
    "-{0},,9,0,,0,user,1,9,0.5,0.25,0.001,0\n",
    "{0},,9,0,,99,user,1,9,0.5,0.25,0.001,0\n",
    "{0},,9,0,,0,M\xfcller,1,9,0.5,0.25,0.001,0\r\n",
)
LONG = f"1,,9,0,,0,{'u' * (2 << 20)},1,9,0.5,0.25,0.001,0\n"
"""A line that is longer than any row."""

OF_A_FILE = 21_000
"""In bytes, somewhat more than a part of the trace has here."""


def events(size, seed):
    """Return as many lines of events of tasks, in order of time."""
    drawn = Random(seed)
    return [
        EVENT.format(
            600_000_000 + 1_000_000 * (size * seed + n), drawn.randrange(60), drawn.randrange(4),
            drawn.choice(["", 317]), drawn.choice([0, 1, 1, 2, 4]), drawn.randrange(3), drawn.randrange(4),
        )
        for n in range(size)
    ]  # fmt: skip


def with_odd(lines, seed):
    """Return *lines* with odd ones among them, of all kinds."""
    drawn = Random(seed)
    for number in range(len(lines) // 12):
        place = drawn.randrange(len(lines))
        lines[place] += ODD[number % len(ODD)].format(700_000_000 + number)
    return lines


def parts(folder, number=5, size=400):
    """Write a trace in so many parts, each with refused lines; one is compressed, with a long line."""
    folder.mkdir(exist_ok=True)
    paths = []
    for part in range(number):
        lines = with_odd(events(size, part + 1), part)
        if part == 2:
            lines.insert(len(lines) // 3, LONG)
        data = "".join(lines).encode("latin-1")
        paths.append(folder / f"part-{part:05}-of-{number:05}.csv{'.gz' if part == 2 else ''}")
        paths[-1].write_bytes(gzip.compress(data, mtime=0) if part == 2 else data)
    return paths


@pytest.fixture
def hired(monkeypatch):
    """Keep how many members crews had, and what they shared."""
    found: Counter[str] = Counter()
    member = in_flight.Crew.member

    def counted(crew, number):
        kind = "files" if crew.by_file else "blocks"
        found[kind] = max(found[kind], number + 1)
        return member(crew, number)

    monkeypatch.setattr(in_flight.Crew, "member", counted)
    return found


@pytest.fixture(params=["files", "blocks"])
def shared(request, monkeypatch, hired):
    """Let workers share the files of a small log, or the blocks of each; assert that they did."""
    monkeypatch.setattr(in_flight, "MINIMUM_BYTES", {"files": OF_A_FILE, "blocks": 1}[request.param])
    monkeypatch.setattr(in_flight, "ROWS_OF_GROUP", 90)
    monkeypatch.setattr(in_flight, "LINES_BEYOND", 7)
    monkeypatch.setattr(pipeline, "SMALL_SOURCE", 0)
    yield request.param
    assert hired[request.param] > 1


def stored(paths, out, threads):
    """Convert the trace in *paths*, and return all rows of all tables of the store in order, as text."""
    convert(paths, out, options=ReadOptions(engine=Engine(threads=threads)))
    return kept(out)


def kept(out):
    with Store.open(out) as store:
        store.connection.execute("set threads = 1")
        made = {name for (name,) in store.rows("select table_name from duckdb_tables()")}
        return {name: [*map(repr, store.rows(f"from {name}"))] for name in TABLES if name in made}


# The same with any number of workers.


@pytest.mark.usefixtures("shared")
def test_task_events_are_the_same_with_any_number_of_workers(tmp_path):
    paths = parts(tmp_path / "parts")
    one = tables(paths, 1)
    reasons = " ".join(one["rejects"])
    for reason in (
        "columns, expected 13",
        "expected a number",
        "longer than",
        "was rounded",
        "or negative",
    ):
        assert reason in reasons
    assert len({row.split(",")[0] for row in one["rejects"]}) == len(paths)
    for threads in (2, 3, 7):
        assert tables(paths, threads) == one


@pytest.mark.usefixtures("shared")
def test_only_so_many_rejects_of_a_file_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "MAXIMUM_REJECTS_KEPT", 9)
    paths = parts(tmp_path / "parts", number=4)
    assert tables(paths, 3) == tables(paths, 1)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("names", ["swf", "google"])
def test_stores_of_several_files_are_the_same(names, tmp_path):
    """Their rows are stored beside the output, for a conversion that goes on after it was broken off."""
    if names == "google":
        paths = parts(tmp_path / "parts")
    else:
        paths = []
        for number in range(5):
            lines = swf_rows(300, number)
            lines[9 * number] = lines[200] = "1 2 3\n"
            paths.append(write_swf(tmp_path / f"{number}.swf", lines))
    one = stored(paths, tmp_path / "one.duckdb", 1)
    assert one["recorded"]
    for threads in (2, 7):
        assert stored(paths, tmp_path / f"{threads}.duckdb", threads) == one
    assert not list(tmp_path.glob("*.rows"))


@pytest.mark.usefixtures("shared")
def test_stores_that_are_appended_to_are_the_same(tmp_path):
    paths, found = parts(tmp_path / "parts"), []
    for threads in (1, 3):
        out = tmp_path / f"{threads}.duckdb"
        for some in (paths[:2], paths[2:]):
            append(some, out, options=ReadOptions(engine=Engine(threads=threads)))
        found.append(kept(out))
    assert found[0] == found[1]


NEEDS_FILE = """/* ---
title = "Own events"
files = ["*.own"]
delimiter = ","
scope = "trace"
select = "google2019"
first = '^\\d+,\\d+,\\d$'
notes = "Of a file it takes all to say of what class its events are."
[columns]
time = "bigint"
job = "bigint"
event = "tinyint"
[sides.collection_event.columns]
collection = "bigint"
collection_type = "varchar"
user = "varchar"
logical_name = "varchar"
--- */
select
    time, event::varchar as type, job as collection, 0 as instance,
    (count(*) over () % 4)::varchar as class, line
from record
"""


def test_where_it_takes_a_whole_file_workers_share_files(tmp_path, monkeypatch, hired):
    monkeypatch.setattr(in_flight, "MINIMUM_BYTES", 1)
    monkeypatch.setattr(in_flight, "ROWS_OF_GROUP", 20)
    monkeypatch.setattr(pipeline, "SMALL_SOURCE", 0)
    definition = tmp_path / "own.sql"
    definition.write_text(NEEDS_FILE)
    paths = []
    for number in range(4):
        paths.append(tmp_path / f"{number}.own")
        lines = (f"{10**9 * (n + 1)},{n % 40},{n % 2 * 3}\n" for n in range(100 + number))
        paths[-1].write_text("".join(lines))
    found = []
    for threads in (1, 3):
        with open_trace(paths, str(definition), ReadOptions(engine=Engine(threads=threads))) as store:
            found.append(store.rows("from jobs order by job_id"))
    assert found[0] == found[1]
    assert found[0]
    assert hired == {"files": 3, "blocks": 1}


# What goes wrong.


@pytest.mark.usefixtures("shared")
def test_a_strict_conversion_names_the_first_bad_row_in_order(tmp_path):
    """Whichever worker meets one first."""
    paths = parts(tmp_path / "parts")
    for number, place in ((4, 3), (1, 300), (2, 2)):
        lines = events(400, number)
        lines[place] = "what is no row\n"
        data = "".join(lines).encode()
        paths[number].write_bytes(gzip.compress(data) if number == 2 else data)
    paths[0].write_text("".join(events(400, 1)))
    expected = re.escape(f"{paths[1]}:301: 1 columns, expected 13")
    for threads in (1, 2, 7):
        with pytest.raises(StrictError, match=expected):
            open_trace(paths, None, ReadOptions(engine=Engine(threads=threads), strict=True))


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_a_worker_that_fails_leaves_only_what_is_read(threads, tmp_path, monkeypatch):
    """No thread and no temporary file; rows that were stored remain, as after a kill, and the output."""
    monkeypatch.setenv("GWA_TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    paths, out = parts(tmp_path / "parts"), tmp_path / "out.duckdb"
    out.write_bytes(b"as before")
    # An earlier conversion with two workers, lest the fixture miss them where there is one thread.
    tables(paths, 2)
    plain, calls, before = staging.Loader.load, [], threading.active_count()

    def failing(loader, batch):
        calls.append(batch)
        if len(calls) == 4:
            raise PlannedError
        plain(loader, batch)

    monkeypatch.setattr(staging.Loader, "load", failing)
    options = ReadOptions(engine=Engine(threads=threads))
    with pytest.raises(PlannedError):
        convert(paths, out, options=options)
    assert out.read_bytes() == b"as before"
    assert sorted(found.name for found in tmp_path.iterdir()) == [
        "out.duckdb",
        "out.duckdb.rows",
        "parts",
        "tmp",
    ]
    assert [*(tmp_path / "tmp").iterdir()] == []
    unfinished = tmp_path / "out.duckdb.rows" / "unfinished"
    assert [
        found.name for found in unfinished.iterdir() if not re.fullmatch(r"\d{6}|key.json", found.name)
    ] == []
    assert threading.active_count() == before
    monkeypatch.setattr(staging.Loader, "load", plain)
    assert stored(paths, out, threads) == stored(paths, tmp_path / "whole.duckdb", 1)


KILLED = f"""
    import os, signal, sys, time
    from pathlib import Path
    from gwa.ingest import in_flight, staging
    in_flight.MINIMUM_BYTES = {OF_A_FILE}
    paths, out = sys.argv[1:-1], Path(sys.argv[-1])
    read, later = staging.read_file, out.with_name(out.name + ".rows") / "unfinished" / "000002"

    def killing(store, head, *others):
        if str(head.path) == paths[1]:
            while not later.is_dir():
                time.sleep(.01)
            os.kill(os.getpid(), signal.SIGKILL)
        return read(store, head, *others)

    staging.read_file = killing
    sys.argv = ["gwa", "convert", *paths, "-o", str(out), "--threads", "2"]
    from gwa.cli import main
    main()
"""


def test_a_killed_conversion_goes_on_behind_the_last_file_before_which_none_is_missing(tmp_path, monkeypatch):
    """A later one was stored already: it is read again."""
    paths, out = parts(tmp_path / "parts"), tmp_path / "out.duckdb"
    done = run(textwrap.dedent(KILLED), *paths, out)
    assert done.returncode == -signal.SIGKILL, done.stderr
    names = sorted(found.name for found in (tmp_path / "out.duckdb.rows" / "unfinished").glob("[0-9]*"))
    assert names == ["000000", "000002"]
    monkeypatch.setattr(in_flight, "MINIMUM_BYTES", OF_A_FILE)
    read, plain = [], staging.read_file
    monkeypatch.setattr(staging, "read_file", lambda *given: read.append(given[1].path) or plain(*given))
    made = stored(paths, out, 3)
    assert sorted(read) == paths[1:]
    assert made == stored(paths, tmp_path / "whole.duckdb", 1)
    assert not list(tmp_path.glob("*.rows")) + list(tmp_path.glob(".*.part"))


# Pieces.


@given(
    batches=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.booleans()), max_size=12),
    drawn=st.randoms(use_true_random=False),
)
def test_pieces_of_several_workers_are_in_the_order_of_their_batches(batches, drawn, tmp_path_factory):
    """Each batch has a worker, a number of pieces, and whether these are taken back and written again."""
    folder, places = tmp_path_factory.mktemp("pieces"), count()
    with duckdb.connect() as database:
        table = TableSpec({"number": "integer"})
        pieces = [ParquetPieces(database, table, folder, places, worker) for worker in range(3)]
        waiting, settled = [*enumerate(batches)], 0
        loaded: dict[int, int] = {}
        while settled < len(batches):
            is_free = waiting and waiting[0][1][0] not in loaded.values()
            if is_free and (settled not in loaded or drawn.random() < 0.5):
                number, (worker, several, again) = waiting.pop(0)
                for place in range(several):
                    pieces[worker].append(f"select {10 * number + place}")
                    if again:
                        pieces[worker].undo()
                        pieces[worker].append(f"select {10 * number + place}")
                loaded[number] = worker
            else:
                pieces[loaded.pop(settled)].settle()
                settled += 1
        paths = sorted(folder.iterdir())
        found = [database.execute(f"from '{path}'").fetchall()[0][0] for path in paths]
    assert found == [10 * n + place for n, (_, several, _) in enumerate(batches) for place in range(several)]
    assert [path.name for path in paths] == [f"{number:06}.parquet" for number in range(len(paths))]
