"""Plain text is read where it stands, and everything is as where its rows are stored first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gwa.ingest.pipeline
from gwa.errors import GwaError, StrictError, TraceError
from gwa.formats.convert import convert
from gwa.formats.converter import _parsed
from gwa.formats.open import open_trace
from gwa.ingest.in_place import MAXIMUM_TEXTS, plain_texts, require_unchanged
from gwa.ingest.source.head import FileHead
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
    return _parsed("slurm.sql", asset("converters").joinpath("slurm.sql").read_text())[1]


def in_place(*paths, **options):
    """Return the texts that are read in place, None where one is not."""
    return plain_texts([FileHead.of(path) for path in paths], slurm(), ReadOptions(**options))


def found(paths, *, is_careful, **options):
    """Return all tables that logs become, or the error; *is_careful* stores their rows first."""
    with pytest.MonkeyPatch.context() as patch:
        if is_careful:
            patch.setattr(gwa.ingest.pipeline, "plain_texts", lambda *_: None)
        try:
            with open_trace(paths, "slurm", options=ReadOptions(**options)) as store:
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
