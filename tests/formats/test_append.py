# mypy: disable-error-code="no-untyped-call,func-returns-value,redundant-expr"
"""Logs that are appended to a store, and conversions that are broken off: the same jobs as in one go."""

import os
import shutil
import signal
import subprocess
import textwrap
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import gwa
import gwa.formats.append
import gwa.ingest.staging
from benchmarks.data import made
from gwa.errors import OutputError, StrictError, TraceError
from gwa.formats.append import append
from gwa.formats.convert import convert, convert_in_place
from gwa.formats.registry import writer
from gwa.ingest.checkpoint import owned_rows
from gwa.store.account import Account
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from gwa.util.owned import OwnedFolder, part_name
from gwa.util.progress import Progress
from tests import forked
from tests.conftest import examples
from tests.killing import run
from tests.program import invoke

ROWS = 240
HEADERS = {"swf": 10, "sge": 4, "slurm": 1, "google": 0, "pbs": 0}
"""Lines at the beginning of a log that each part of it has."""

GOOD = "{0} {0} 5 60 2 -1 -1 2 60 -1 1 1 1 1 1 1 -1 -1\n"


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Return a function that gives the lines of a log of a format."""
    folder = tmp_path_factory.mktemp("logs")
    return lambda kind: made(folder, kind, ROWS).read_text().splitlines(keepends=True)


def cut(lines, header, places, folder):
    """Write a log as the parts between *places*, each with its header, and return them."""
    body = lines[header:]
    ends = [0, *sorted(place % (len(body) + 1) for place in places), len(body)]
    parts = []
    for number, (begin, end) in enumerate(pairwise(ends)):
        if end > begin:
            parts.append(folder / f"month-{number:02}.log")
            parts[-1].write_text("".join(lines[:header] + body[begin:end]))
    return parts


def content(path):
    """Return all that a store knows of its jobs, and its account without the comments of headers."""
    with Store.open(path) as store:
        account = store.account
        said = [
            store.rows(f"from {name} order by all")
            for name in ("jobs", "source_ids", "dependencies", "header")
        ]
        repairs = store.rows("from repairs where name <> 'duplicate file' order by all")
        assert [sum(row) for row in store.rows("select rows from sources")]
        return [
            *said,
            repairs,
            account.rows - account.comments,
            account.jobs,
            account.folded,
            account.rejected,
        ]


def name_of(kind):
    return "google2011" if kind == "google" else kind


def in_parts(kind, lines, places, folder):
    """Return what is in a store to which the parts of a log were appended, and in one of the whole log."""
    for part in cut(lines, HEADERS[kind], places, folder):
        append([part], folder / "store.duckdb", name=name_of(kind))
    (folder / "all.log").write_text("".join(lines))
    convert([folder / "all.log"], folder / "whole.duckdb", name=name_of(kind))
    return content(folder / "store.duckdb"), content(folder / "whole.duckdb")


PLACES = st.lists(st.integers(0, 10_000), min_size=1, max_size=4)


@pytest.mark.parametrize("kind", HEADERS)
@settings(max_examples=2, phases=[Phase.generate])
@given(places=PLACES)
def test_a_log_in_parts_becomes_what_it_is_as_a_whole(kind, logs, tmp_path_factory, places):
    store, whole = in_parts(kind, logs(kind), places, tmp_path_factory.mktemp("parts"))
    assert store == whole


@pytest.mark.slow
@pytest.mark.parametrize("kind", HEADERS)
@examples(40)
@given(places=PLACES)
def test_however_a_log_is_cut_it_becomes_what_it_is_as_a_whole(kind, logs, tmp_path_factory, places):
    store, whole = in_parts(kind, logs(kind), places, tmp_path_factory.mktemp("parts"))
    assert store == whole


OWN = """/* ---
title = "A list of our own"
files = ["*.log"]
delimiter = ","
first = '^job[0-9]+,[0-9]+'
notes = "Jobs with names, in any order."

[columns]
id = "varchar"
submitted = "double"
--- */
select id as source_id, submitted as submit_time, 60 as wait_time, 600 as run_time, 1 as n_procs from source
"""


def test_jobs_with_names_are_numbered_by_submission_in_parts_and_as_a_whole(tmp_path):
    lines = [f"job{n * 37 % 60},{1_700_000_000 + n * 7919 % 997 // 20 * 3600}\n" for n in range(60)]
    (tmp_path / "own.sql").write_text(OWN)
    with_own = "--with", tmp_path / "own.sql"
    for part in (parts := cut(lines, 0, [25, 40], tmp_path)):
        assert not invoke("convert", "--append", part, "-o", tmp_path / "store.duckdb", *with_own).exit_code
    assert not invoke("convert", *parts, "-o", tmp_path / "whole.duckdb", *with_own).exit_code
    assert content(tmp_path / "store.duckdb") == content(tmp_path / "whole.duckdb")
    with Store.open(tmp_path / "whole.duckdb") as store:
        jobs = "select submit_time, source_id from jobs inner join source_ids using (job_id) order by job_id"
        found = store.rows(jobs)
    expected = sorted((float(line.split(",")[1]), line.split(",")[0]) for line in lines)
    assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize("kind", HEADERS)
def test_twelve_months_give_the_facts_of_the_year(kind, logs, tmp_path):
    store, whole = in_parts(kind, logs(kind), range(20, 240, 20), tmp_path)
    assert store == whole
    with gwa.open(tmp_path / "store.duckdb") as store, gwa.open(tmp_path / "whole.duckdb") as whole:
        for prefix in ("", "fit", "tail", "bounds"):
            assert without_comments(store.facts(prefix)) == without_comments(whole.facts(prefix)) != {}


def without_comments(facts):
    """Return facts that do not count comments: each month's log has those with which it begins."""
    rest: dict[str, Any] = dict(facts)
    if "conversion.rows" in rest:
        rest["conversion.rows"] -= rest.pop("conversion.comments")
    return rest


def test_a_job_that_was_open_is_completed(tmp_path):
    event = "{},,1,0,7,{},u,0,2,0.5,0.25,0.001,0\n"
    for number, (second, kind) in enumerate([(1000, 0), (1010, 1), (1500, 4)]):
        log = tmp_path / f"events-{number}.csv"
        log.write_text(event.format(second * 1_000_000, kind))
        account, again = append([log], tmp_path / "s.duckdb", name="google2011")
        assert (account, again) == (Account(number + 1, 1, number, 0, 0), [])
    with gwa.open(tmp_path / "s.duckdb") as trace:
        assert trace.sql("select wait_time, run_time, status from jobs").to_numpy().tolist() == [[10, 490, 1]]


def test_a_log_given_again_changes_nothing_and_says_so(tmp_path):
    log, renamed, store = tmp_path / "a.swf", tmp_path / "b.swf", tmp_path / "s.duckdb"
    log.write_text("".join(map(GOOD.format, range(1, 9))))
    command = [*forked.gwa(), "convert", "a.swf", "-o", "s.duckdb", "--append"]
    subprocess.run(command, cwd=tmp_path, check=True)
    shutil.copy(log, renamed)
    before = store.read_bytes()
    done = subprocess.run([*command, "b.swf"], cwd=tmp_path, check=True, stderr=subprocess.PIPE, text=True)
    assert done.stderr.splitlines() == [
        "a.swf: is in s.duckdb already, and changes nothing",
        "b.swf: is in s.duckdb already, and changes nothing",
        "s.duckdb: 8 jobs from 8 rows (0 comments, 0 folded, 0 rejected)",
    ]
    assert store.read_bytes() == before
    # One that has grown since is another one, whose first jobs are there twice: that is told, not guessed.
    log.write_text("".join(map(GOOD.format, range(9, 12))))
    assert append([log, renamed], store)[0] == Account(11, 11, 0, 0, 0)
    with Store.open(store) as opened:
        assert opened.provenance["convert"] == "gwa convert a.swf -o s.duckdb --append"
        assert opened.rows("select file, rows from sources order by file, rows") == [
            ("a.swf", 3),
            ("a.swf", 8),
        ]


def test_what_cannot_be_appended_to_is_refused(tmp_path):
    log, store = tmp_path / "a.swf", tmp_path / "s.duckdb"
    log.write_text(GOOD.format(1))
    other = tmp_path / "b.swf"
    other.write_text(GOOD.format(2))
    with pytest.raises(OutputError, match=r"only a store can be appended to, expected a name such as"):
        append([log], tmp_path / "a.gwf")
    convert([log], store)
    with pytest.raises(
        TraceError, match=r"s.duckdb: cannot be appended to, since .*, and the rows of its first logs"
    ):
        append([other], store)
    store.unlink()
    append([log], store)
    before = store.read_bytes()
    with pytest.raises(
        TraceError, match=r"its rows were read with another format \(Standard Workload Format"
    ):
        append([made(tmp_path, "slurm", 30)], store)
    shutil.rmtree(tmp_path / "s.duckdb.rows" / "kept" / "000000")
    with pytest.raises(
        TraceError, match=r"s.duckdb.rows/kept: does not hold the rows of the logs in the store"
    ):
        append([other], store)
    broken = tmp_path / "c.swf"
    broken.write_text(other.read_text())
    with pytest.raises(TraceError, match=r"s.duckdb.rows"):
        append([broken], store)
    assert store.read_bytes() == before


def test_a_store_that_was_not_made_of_logs_is_left_alone(make_store, tmp_path):
    log, store = tmp_path / "a.swf", tmp_path / "s.duckdb"
    log.write_text(GOOD.format(1))
    writer(store).save(make_store(run_time=[1.0]), store)
    before = store.read_bytes()
    with pytest.raises(TraceError, match=r"s.duckdb: was not made of logs"):
        append([log], store)
    assert store.read_bytes() == before


def test_formats_that_are_no_logs_are_not_appended(tmp_path, sample):
    store = tmp_path / "s.duckdb"
    convert([sample / "swf" / "tiny.swf"], tmp_path / "tiny.parquet")
    with pytest.raises(TraceError, match=r"tiny.parquet: only logs of text can be appended"):
        append([tmp_path / "tiny.parquet"], store)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tiny.parquet"]


# Broken off.


def many(folder, count=5):
    """Return logs of ten jobs each."""
    paths = []
    for number in range(count):
        paths.append(folder / f"{number}.swf")
        paths[-1].write_text("".join(GOOD.format(10 * number + one) for one in range(1, 11)))
    return paths


KILLED = """
    import os, signal, sys
    from pathlib import Path
    import gwa.{module}
    whole, seen = gwa.{module}.{function}, []
    def killed(*words, **options):
        seen.append(words)
        if len(seen) > {after}:
            os.kill(os.getpid(), signal.SIGKILL)
        return whole(*words, **options)
    gwa.{module}.{function} = killed
    sys.argv = ["gwa", *{words!r}]
    from gwa.cli import main
    main()
"""


def kill(words, module, function, after):
    """Run gwa until a function was called so many times, then kill it."""
    code = textwrap.dedent(KILLED.format(module=module, function=function, after=after, words=words))
    done = run(code)
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.parametrize("kind", ["swf", "slurm"])
@pytest.mark.parametrize("suffix", ["duckdb", "gwf"])
def test_a_killed_conversion_goes_on_behind_the_last_file(kind, suffix, logs, tmp_path, monkeypatch):
    paths = cut(logs(kind), HEADERS[kind], [40, 80, 120, 160], tmp_path)
    out, whole = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
    kill(["convert", *map(str, paths), "-o", str(out), "--format", kind], "ingest.staging", "read_file", 3)
    assert not out.exists()
    assert (tmp_path / f"a.{suffix}.rows").is_dir()

    read, told = [], []
    original = gwa.ingest.staging.read_file
    monkeypatch.setattr(
        "gwa.ingest.staging.read_file", lambda *words: read.append(words[1].path) or original(*words)
    )

    class Listener(Progress):
        def advance(self, amount=1.0):
            told.append(amount)

    convert(paths, out, name=kind, options=ReadOptions(progress=Listener()))
    assert read == paths[3:]
    assert sum(told) == sum(path.stat().st_size for path in paths)
    convert(paths, whole, name=kind)
    if suffix == "duckdb":
        assert content(out) == content(whole)
    else:
        assert out.read_bytes() == whole.read_bytes()
    assert not list(tmp_path.glob("*.rows")) + list(tmp_path.glob(".*.part"))


def test_rows_of_files_that_changed_are_read_anew(tmp_path, monkeypatch):
    paths = many(tmp_path)
    out = tmp_path / "a.duckdb"
    kill(["convert", *map(str, paths), "-o", str(out)], "ingest.staging", "read_file", 4)
    paths[1].write_text(GOOD.format(99))
    read = []
    original = gwa.ingest.staging.read_file
    monkeypatch.setattr(
        "gwa.ingest.staging.read_file", lambda *words: read.append(words[1].path) or original(*words)
    )
    assert convert(paths, out).jobs == 41
    assert read == paths[1:]


def test_a_killed_append_leaves_the_old_store(tmp_path):
    paths = many(tmp_path)
    store = tmp_path / "s.duckdb"
    append(paths[:2], store)
    before = store.read_bytes()
    for module, function in (
        ("ingest.staging", "read_file"),
        ("ingest.pipeline", "finish_store"),
        ("cli._output", "tell"),
    ):
        kill(["convert", str(paths[2]), "-o", str(store), "--append"], module, function, 0)
        if function == "tell":
            break
        assert store.read_bytes() == before
    # It was killed when all was done: the log is in the store.
    assert append(paths[2:3], store) == (Account(30, 30, 0, 0, 0), paths[2:3])
    kill(["convert", str(paths[3]), "-o", str(store), "--append"], "ingest.pipeline", "finish_store", 0)
    # What an append that was killed had read does not come in by another one.
    assert append(paths[4:], store)[0] == Account(40, 40, 0, 0, 0)
    with gwa.open(store) as trace:
        assert trace.sql("select file from sources order by file").file.tolist() == [
            "0.swf",
            "1.swf",
            "2.swf",
            "4.swf",
        ]


@pytest.mark.parametrize("damage", ["key.json", "000001/part.json", "000000/part.json"])
def test_damaged_rows_are_read_anew(damage, tmp_path):
    paths = many(tmp_path)
    out = tmp_path / "a.duckdb"
    kill(["convert", *map(str, paths), "-o", str(out)], "ingest.staging", "read_file", 3)
    (tmp_path / "a.duckdb.rows" / "unfinished" / damage).write_text('{"rows": 1}')
    assert convert(paths, out) == Account(50, 50, 0, 0, 0)
    assert not (tmp_path / "a.duckdb.rows").exists()


def test_two_conversions_do_not_write_the_same_output(tmp_path):
    paths = many(tmp_path)
    with owned_rows(tmp_path / "a.duckdb"):
        for write in (convert, append):
            with pytest.raises(OutputError, match="another conversion is at work on it"):
                write(paths, tmp_path / "a.duckdb")


def test_an_append_that_had_to_wait_loses_no_log(tmp_path, monkeypatch):
    """Another one is done just before it gets the lock: what it read of the store by then would be old."""
    paths = many(tmp_path, 3)
    store = tmp_path / "s.duckdb"
    append(paths[:1], store)

    def late(out):
        monkeypatch.undo()
        append(paths[2:], store)
        return owned_rows(out)

    monkeypatch.setattr("gwa.formats.append.owned_rows", late)
    assert append(paths[1:2], store)[0] == Account(30, 30, 0, 0, 0)


def test_two_appends_at_once_lose_no_log(tmp_path, monkeypatch):
    """The second one begins when the first one has read which logs are in the store."""
    paths = many(tmp_path, 3)
    store = tmp_path / "s.duckdb"
    append(paths[:1], store)
    original = convert_in_place

    def slow(*words, **options):
        monkeypatch.undo()
        with pytest.raises(OutputError, match=f"another conversion is at work on it.*process {os.getpid()}"):
            append(paths[2:], store)
        return original(*words, **options)

    monkeypatch.setattr("gwa.formats.append.convert_in_place", slow)
    append(paths[1:2], store)
    assert append(paths[2:], store)[0] == Account(30, 30, 0, 0, 0)


def test_what_is_left_among_kept_rows_is_removed_though_nothing_is_appended(tmp_path):
    paths, store = many(tmp_path, 1), tmp_path / "s.duckdb"
    append(paths, store)
    kept = tmp_path / "s.duckdb.rows" / "kept"
    before = sorted(kept.iterdir())
    OwnedFolder.create(part_name(kept / "000000")).release()
    append(paths, store)
    assert sorted(kept.iterdir()) == before


def test_a_folder_of_the_user_with_that_name_is_left_alone(tmp_path):
    paths = many(tmp_path, 2)
    mine = tmp_path / "a.duckdb.rows" / "mine.txt"
    mine.parent.mkdir()
    mine.write_text("years of work")
    for write in (convert, append):
        with pytest.raises(OutputError, match=r"a\.duckdb\.rows: was not made by gwa and is left alone"):
            write(paths, tmp_path / "a.duckdb")
    convert(paths[:1], tmp_path / "a.duckdb")
    assert mine.read_text() == "years of work"


def test_what_appending_needs_survives_a_conversion_that_fails_or_is_killed(tmp_path):
    paths, store = many(tmp_path), tmp_path / "s.duckdb"
    append(paths[:2], store)
    broken = tmp_path / "broken.swf"
    broken.write_text("broken\n" + GOOD.format(7))
    for logs in ([broken], [paths[3], broken]):
        with pytest.raises(StrictError):
            convert(logs, store, options=ReadOptions(strict=True))
    kill(["convert", *map(str, paths[2:]), "-o", str(store), "--force"], "ingest.staging", "read_file", 2)
    assert append(paths[2:3], store)[0] == Account(30, 30, 0, 0, 0)
    assert sorted(path.name for path in (tmp_path / "s.duckdb.rows").iterdir()) == ["gwa.lock", "kept"]


@pytest.mark.parametrize("count", [1, 3])
def test_a_conversion_that_succeeds_removes_the_rows_of_the_store_that_it_replaces(count, tmp_path):
    paths, store = many(tmp_path), tmp_path / "s.duckdb"
    append(paths[:2], store)
    convert(paths[:count], store)
    assert not (tmp_path / "s.duckdb.rows").exists()
    with pytest.raises(TraceError, match="the rows of its first logs were not kept beside it"):
        append(paths[4:], store)
    assert not (tmp_path / "s.duckdb.rows").exists()


def test_an_error_leaves_no_rows(tmp_path):
    paths = many(tmp_path)
    paths[3].write_text("broken\n" + GOOD.format(7))
    with pytest.raises(StrictError, match=r"3.swf:1"):
        convert(paths, tmp_path / "a.duckdb", options=ReadOptions(strict=True))
    assert sorted(path.name for path in tmp_path.iterdir()) == [path.name for path in paths]
    with pytest.raises(OutputError, match="there is no directory"):
        convert(paths, tmp_path / "nowhere" / "a.duckdb")
