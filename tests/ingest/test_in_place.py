"""Plain text is read where it stands, and everything is as where its rows are stored first."""

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gwa.ingest.in_place
import gwa.ingest.pipeline
from gwa.errors import GwaError, StrictError, TraceError
from gwa.formats.convert import convert
from gwa.formats.definition import parse_definition
from gwa.formats.open import open_trace
from gwa.ingest.in_place import MAXIMUM_TEXTS, plain_texts, require_unchanged
from gwa.ingest.readers.columns import plain_text
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.head import FileHead
from gwa.ingest.spec import TableSpec
from gwa.store.engines.config import Engine
from gwa.store.options import ReadOptions
from gwa.util.assets import asset
from tests.mutation import CHANGE, FEW, mutated

NAMES = ("JobID", "User", "State", "Submit", "Start", "End", "Elapsed", "AllocCPUS", "NTasks", "MaxRSS")
HEADER = "|".join((*NAMES, "JobName"))
TABLES = ("jobs", "sources", "rejects", "repairs", "source_ids", "raw_ids", "dependencies")


@pytest.fixture(autouse=True, scope="module")
def _small_logs():
    """Let small logs be read in place, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gwa.ingest.in_place.MINIMUM_BYTES", 0)
        yield


def rows(number, name="run"):
    """Return the rows of a job and its script, in the order of `HEADER`."""
    times = f"2024-05-01T10:{number % 60:02}:00|2024-05-01T11:00:00|2024-05-01T12:00:00|01:00:00"
    return (
        f"{number}|ann|COMPLETED|{times}|4|||{name}",
        f"{number}.batch||COMPLETED|{times}|4|1|{number}M|batch",
    )


LINES = (HEADER, *(line for number in range(1, 41) for line in rows(number)))
TEXT = "\n".join(LINES) + "\n"


def text_of(*lines):
    """Return the bytes of a log of `LINES` and further *lines*."""
    return (TEXT + "".join(f"{line}\n" for line in lines)).encode()


def slurm():
    """Return the definition of what sacct prints."""
    return parse_definition("slurm.sql", asset("converters").joinpath("slurm.sql").read_text())[1]


def in_place(*paths, **options):
    """Return the texts that are read in place, None where one is not."""
    return plain_texts([FileHead.of(path) for path in paths], slurm(), ReadOptions(**options))


def found(paths, *, is_careful, kind="slurm", **options):
    """Return all tables that logs of a *kind* become, or the error; *is_careful* stores their rows first."""
    with pytest.MonkeyPatch.context() as patch:
        if is_careful:
            patch.setattr(gwa.ingest.in_place, "plain_texts", lambda *_: None)
        try:
            with open_trace(paths, kind, options=ReadOptions(**options)) as store:
                return {name: store.rows(f"from {name}") for name in TABLES}
        except GwaError as error:
            return f"{type(error).__name__}: {error}"


PLAIN = {
    "as sacct prints it": TEXT.encode(),
    "without a header": TEXT.partition("\n")[2].encode(),
    "not only ASCII": text_of(*rows(41, "naïve ☃")),
    "quotes": text_of(*rows(41, 'an "unclosed name')),
    "a time that is none": text_of(rows(41)[0].replace("2024-05-01T11", "2024-13-01T11")),
    "a step without its job": text_of(rows(41)[1]),
    "a number that is used again": text_of(rows(1)[0].replace("2024-", "2025-")),
}
CAREFUL = {
    "nothing but a header": f"{HEADER}\n".encode(),
    "a blank line": text_of(""),
    "a cell too many": text_of(f"{rows(41)[0]}|x"),
    "a cell too few, and one too many": text_of(rows(41)[0].rpartition("|")[0], f"{rows(42)[0]}|x"),
    "a header again": text_of(HEADER, *rows(41)),
    "a carriage return": text_of(f"{rows(41)[0]}\r"),
    "a zero": text_of(f"{rows(41)[0]}\x00"),
    "Latin-1": TEXT.replace("run", "rün").encode("latin-1"),
    "a last line without an end": TEXT[:-1].encode(),
    "a mark of the byte order": b"\xef\xbb\xbf" + TEXT.encode(),
    "a line that is too long": text_of(rows(41, "x" * (1 << 21))[0]),
}


@pytest.mark.parametrize("kind", [*PLAIN, *CAREFUL])
def test_what_is_read_in_place_is_plain_and_becomes_the_same(kind, tmp_path):
    path = tmp_path / "a.sacct"
    path.write_bytes({**PLAIN, **CAREFUL}[kind])
    columns = {"format_options": {"columns": HEADER.replace("|", ",")}}
    assert bool(in_place(path, **columns)) == (kind in PLAIN)
    assert found([path], is_careful=False, **columns) == found([path], is_careful=True, **columns)


@FEW
@given(changes=st.lists(CHANGE, max_size=4))
def test_a_damaged_log_becomes_the_same(changes, tmp_path_factory):
    path = tmp_path_factory.mktemp("damaged") / "a.sacct"
    path.write_bytes(mutated(TEXT.encode(), changes))
    assert found([path], is_careful=False) == found([path], is_careful=True)


def test_several_texts_with_columns_of_their_own_become_the_same(tmp_path):
    first, second = tmp_path / "a[1].sacct", tmp_path / "it's.sacct"
    first.write_text(TEXT)
    second.write_text("JobID|Submit|State|UID|JobName\n51|2024-05-01T10:00:00|FAILED|7|x\n")
    assert in_place(first, second)
    assert found([first, second], is_careful=False) == found([first, second], is_careful=True)


def test_strict_reading_ends_at_the_first_bad_row(tmp_path):
    path = tmp_path / "a.sacct"
    path.write_bytes(PLAIN["a time that is none"])
    assert in_place(path, strict=True)
    with pytest.raises(StrictError, match=r"a.sacct:82: Start is '2024-13-01T11:00:00', expected"):
        convert([path], tmp_path / "a.duckdb", options=ReadOptions(strict=True))


def test_little_memory_rows_that_are_kept_and_many_files_are_not_for_it(tmp_path):
    path = tmp_path / "a.sacct"
    path.write_text(TEXT)
    assert not in_place(path, engine=Engine(memory="400MB"))
    assert not in_place(path, rows_folder=tmp_path / "rows")
    assert not in_place(*[path] * (MAXIMUM_TEXTS + 1))


def test_small_logs_are_not_for_it_unless_they_are_many(tmp_path, monkeypatch):
    path = tmp_path / "a.sacct"
    path.write_text(TEXT)
    monkeypatch.setattr("gwa.ingest.in_place.MINIMUM_BYTES", len(TEXT) + 1)
    assert not in_place(path)
    assert in_place(path, path)


def test_lines_that_are_appended_meanwhile_are_not_read_and_a_log_that_is_replaced_is_told(tmp_path):
    path, other = tmp_path / "a.sacct", tmp_path / "b.sacct"
    path.write_text(TEXT)
    texts = in_place(path)
    path.write_bytes(text_of(*rows(41)))
    require_unchanged(texts)
    other.write_text(TEXT * 2)
    other.replace(path)
    with pytest.raises(TraceError, match=r"a.sacct: was replaced or cut while it was read"):
        require_unchanged(texts)
    path.unlink()
    with pytest.raises(TraceError, match=r"a.sacct: was replaced or cut while it was read"):
        require_unchanged(texts)


# Lines that are jobs, each read once.

JOB = "{number}\t100\t20\t300\t4\t-1\t-1\t4\t-1\t-1\t1\tU1\tG1\t{name}" + 15 * "\t-1"
COMMENTS = "# GWF\n\n# Note: é\n"
JOBS = "".join(f"{JOB}\n".format(number=number, name=f"X{number % 3}") for number in range(1, 41))


def jobs(old="", new=""):
    """Return the bytes of a trace in GWF, with *new* in place of *old* in its last line."""
    lines = JOBS.splitlines(keepends=True)
    return (COMMENTS + "".join(lines[:-1]) + lines[-1].replace(old, new)).encode()


AT_ONCE = {
    "as gwa writes it": jobs(),
    "without comments": JOBS.encode(),
    "not only ASCII": jobs("X1", "naïve ☃ #"),
    "values that no job has": jobs("\t4\t", "\t0\t"),
    "a fraction of a processor": jobs("\t4\t", "\t2.5\t"),
    "no number": jobs("\t4\t", "\tnan\t"),
    "a wait and a run time that are slightly negative": jobs("20\t300", "-1.5\t-2"),
    "a wait that is negative": jobs("20\t300", "-99999\t-2"),
    "an unknown status": jobs("\t1\tU1", "\t7\tU1"),
    "the same job again": jobs("40", "1"),
}
LINE_BY_LINE = {
    "a text for a number": jobs("300", "soon"),
    "a comment between": jobs().replace(b"\n2\t", b"\n# two\n2\t"),
    "a comment as wide as a job": jobs("40\t", "#40\t"),
    "a blank line": jobs().replace(b"\n2\t", b"\n\n2\t"),
    "padded cells": jobs("\t300", " \t300"),
    "a cell too few": jobs("\t300", ""),
    "a carriage return": jobs("X1", "X\r1"),
    "a zero": jobs("X1", "X\x001"),
    "Latin-1": jobs("X1", "é").decode().encode("latin-1", "replace"),
    "a last line without an end": jobs()[:-1],
    "nothing but comments": COMMENTS.encode(),
    "a mark of the byte order": b"\xef\xbb\xbf" + jobs(),
}


@pytest.fixture
def at_once(monkeypatch):
    """Return a list that grows whenever all lines of a log have become jobs where they stand."""
    mapped = []
    fast = gwa.ingest.pipeline.map_in_place

    def noted(*given):
        mapped.append(fast(*given))
        return mapped[-1]

    monkeypatch.setattr(gwa.ingest.pipeline, "map_in_place", noted)
    return mapped


@pytest.mark.parametrize("kind", [*AT_ONCE, *LINE_BY_LINE])
def test_lines_that_are_jobs_are_read_once_and_become_the_same(kind, at_once, tmp_path):
    path = tmp_path / "a[1].gwf"
    path.write_bytes({**AT_ONCE, **LINE_BY_LINE}[kind])
    fast = found([path], is_careful=False, kind="gwf")
    assert any(at_once) == (kind in AT_ONCE)
    assert fast == found([path], is_careful=True, kind="gwf")


@FEW
@given(changes=st.lists(CHANGE, max_size=4))
def test_a_damaged_trace_becomes_the_same(changes, tmp_path_factory):
    path = tmp_path_factory.mktemp("damaged") / "a.gwf"
    path.write_bytes(mutated(jobs(), changes))
    for strict in (False, True):
        fast, careful = (
            found([path], is_careful=is_careful, kind="gwf", strict=strict) for is_careful in (False, True)
        )
        assert fast == careful


def test_of_several_traces_one_that_is_not_plain_takes_none_of_the_others_jobs(at_once, tmp_path):
    first, second = tmp_path / "a.gwf", tmp_path / "b.gwf"
    first.write_bytes(jobs("\t4\t", "\t2.5\t"))
    second.write_bytes(jobs("300", "soon"))
    fast = found([first, second], is_careful=False, kind="gwf")
    assert at_once == [False]
    assert fast == found([first, second], is_careful=True, kind="gwf")
    assert ("invalid value", 1) in {(name, count) for name, _, count in fast["repairs"]}


def test_values_of_columns_that_are_not_asked_for_are_looked_at_too(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("one,1\ntwo,II\n")
    text = plain_text(Source(path), TableSpec({"name": "varchar", "number": "double"}, ","))
    assert text
    with pytest.raises(duckdb.ConversionException):
        duckdb.execute(f"select count(name) from ({text.select(0)})")
