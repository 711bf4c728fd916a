"""Definitions of formats: of a user's own, half written, or wrong."""

import re

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from gwa.cli import gwa as program
from gwa.errors import DefinitionError, UnknownFormat
from gwa.formats.converter import definition
from gwa.formats.open import open_trace, recognise
from gwa.formats.registry import all_formats, broken, definitions, format_called
from gwa.ingest.source.head import FileHead
from tests.conftest import HOME
from tests.mutation import CHANGES, FEW, mutated

FILES = sorted((HOME / "converters").glob("*.sql"))
OWN = """/* ---
title = "Jobs of our own"
files = ["*.own"]
delimiter = ","
first = '^own,'
notes = "made up"

[columns]
mark = "varchar"
begin = "double"
seconds = "double"
--- */
select begin as submit_time, seconds as run_time, 1 as n_procs from source
"""


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "a.own"
    path.write_text("own,1000000000,60\nown,1000000100,30\n")
    return path


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """Return a folder that stands for ``converters/``, with one good definition in it."""
    folder = tmp_path / "converters"
    folder.mkdir()
    (folder / "own.sql").write_text(OWN)
    monkeypatch.setattr("gwa.formats.registry.asset", lambda *_: folder)
    definitions.cache_clear()
    yield folder
    definitions.cache_clear()


def test_a_users_own_definition_is_run(log, tmp_path):
    own = tmp_path / "mine.sql"
    own.write_text(OWN)
    done = CliRunner().invoke(
        program, ["convert", str(log), "--with", str(own), "-o", str(tmp_path / "out.gwf")]
    )

    assert done.exit_code == 0
    with open_trace([tmp_path / "out.gwf"]) as store:
        assert store.rows("select submit_time, run_time from jobs order by 1") == [(1e9, 60), (1e9 + 100, 30)]


WRONG = {
    "no header": ("select 1", " expected a TOML header"),
    "no TOML": (OWN.replace("title =", "title"), "2: Expected '='"),
    "no files": (OWN.replace('files = ["*.own"]', ""), "2: files: is missing"),
    "files that are a number": (OWN.replace('["*.own"]', "3"), "3: files: is 3, expected a list"),
    "columns that are a number": (OWN.replace("[columns]", "columns = 3\n[options]"), "8: columns: is 3"),
    "an unknown key": (OWN.replace("notes", "note"), "6: note: unknown key, expected one of notes"),
    "a bad pattern": (OWN.replace("^own,", "(own"), "5: first: is .*unterminated subpattern"),
    "an unknown reader": (f"/* ---\nreader = 'foo'{OWN[6:]}", "2: reader: is 'foo', expected one of class"),
    "an unknown scope": (f"/* ---\nscope = 'all'{OWN[6:]}", "2: scope: is 'all', expected one of row, trace"),
    "a side with an unknown key": (
        OWN.replace("--- */", "[sides.a]\ncolums = 1\n--- */"),
        r"13: sides\.a\.colums: unknown key, expected one of columns",
    ),
    "a side of no table": (OWN.replace("--- */", "[sides.a]\ncolumns = 1\n--- */"), r"13: sides.a.columns"),
}  # fmt: skip
"""What is found to be wrong as soon as a definition is looked at."""


@pytest.mark.parametrize("kind", WRONG)
def test_a_bad_definition_stands_in_nobodys_way(kind, shipped, log):
    text, reason = WRONG[kind]
    (shipped / "bad.sql").write_text(text)

    assert recognise(FileHead.of(log)).name == "own"
    assert "bad" not in {one.name for one in all_formats()}
    with pytest.raises(DefinitionError, match=rf"^bad\.sql:{reason}") as told:
        format_called("bad")
    assert "\n" not in str(told.value)
    listed = CliRunner().invoke(program, ["formats"])
    assert listed.exit_code == 0
    assert "bad.sql:" in listed.output.replace("\n", " ")


def test_a_definition_that_is_no_text_stands_in_nobodys_way(shipped, log):
    (shipped / "bad.sql").write_bytes(b"\xff\xfe\x00")

    assert recognise(FileHead.of(log)).name == "own"
    assert str(broken()["bad"]) == "bad.sql: is no text, expected a definition in SQL"


def test_what_cannot_be_recognised_lists_every_refusal_and_every_bad_definition(shipped, tmp_path):
    (shipped / "bad.sql").write_text("select 1")
    (tmp_path / "words").write_text("some words\nand others\n")

    with pytest.raises(
        UnknownFormat, match=r"words: no known format .*own: has 1 columns, expected 3;.*bad: bad"
    ):
        recognise(FileHead.of(tmp_path / "words"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("from source", "from"),
        ("from source", "from sauce"),
        ("begin as", "beginning as"),
        ("run_time", "running_time"),
        ('"double"\nseconds', '"dubble"\nseconds'),
    ],
)
def test_bad_sql_is_told_with_the_name_of_its_file(old, new, log, tmp_path):
    own = tmp_path / "mine.sql"
    own.write_text(OWN.replace(old, new))

    with pytest.raises(DefinitionError, match=r"^mine\.sql: ") as told:
        open_trace([log], str(own))
    assert "\n" not in str(told.value)


def told(file, text):
    """Return the error that a definition is, or what would be one."""
    try:
        definition(file.name, text)
    except DefinitionError as error:
        return str(error)
    return f"{file.name}: "


@given(file=st.sampled_from(FILES), changes=CHANGES)
@FEW
def test_any_change_of_a_definition_leaves_a_format_or_an_error(file, changes):
    text = mutated(file.read_bytes(), changes).decode("utf-8", "replace")
    assert re.match(rf"{re.escape(file.name)}:(\d+:)? ", told(file, text))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_definition_that_breaks_off_is_a_format_or_an_error_in_one_line(file):
    text = file.read_text()
    for end in range(0, len(text), 97):
        message = told(file, text[:end])
        assert re.match(rf"{re.escape(file.name)}:(\d+:)? ", message)
        assert "\n" not in message


# Definitions of strangers.

READING = (
    (
        "select begin as submit_time, (select content from read_text('{path}')) as user_id from source",
        "read_text",
    ),
    ("select begin as submit_time, column0 as user_id from source, '{path}'", "secret"),
    ("select begin as submit_time from source; copy source to '{path}'", "is no query"),
)
STEP = """
[[steps]]
name = "n"
meaning = "m"
"""


@pytest.mark.parametrize(("select", "reason"), READING)
def test_the_sql_of_a_definition_reads_no_file(select, reason, log, tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("hidden\n")
    own = tmp_path / "mine.sql"
    own.write_text(OWN.partition("select ")[0] + select.format(path=secret))
    with pytest.raises(DefinitionError, match=f"mine.sql: the SQL .*{reason}"):
        open_trace([log], str(own))
    assert secret.read_text() == "hidden\n"


@pytest.mark.parametrize("key", ["sql", "when"])
@pytest.mark.parametrize(
    "sql", ["copy recorded to '{path}'", "select count(*) from '{path}'", "delete from provenance"]
)
def test_the_steps_of_a_definition_touch_no_file(key, sql, log, tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("hidden\n")
    own = tmp_path / "mine.sql"
    step = {"sql": "select 1", "when": "select true", key: sql.format(path=secret)}
    lines = "".join(f'{name} = "{text}"\n' for name, text in step.items())
    own.write_text(OWN.replace("--- */", f"{STEP}{lines}--- */"))
    with pytest.raises(DefinitionError, match=r"mine.sql: the SQL "):
        open_trace([log], str(own))
    assert secret.read_text() == "hidden\n"


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ('mark = "varchar"', 'mark = "varchar default (select 1)"', "columns.mark: .*expected a type"),
        ('mark = "varchar"', '"mark varchar, b" = "varchar"', "expected a name"),
        ('delimiter = ","', "delimiter = \"', x='\"", "delimiter: .*expected one character"),
        ("[columns]", '[options]\nquote = "\'"\n[columns]', "options.quote: .*expected one character"),
        ("[columns]", '[sides."a b".columns]\nx = "double"\n[columns]', "sides.a b: .*expected a name"),
    ],
)
def test_names_types_and_delimiters_are_no_sql(before, after, reason):
    assert before in OWN
    with pytest.raises(DefinitionError, match=reason):
        definition("mine.sql", OWN.replace(before, after))


def test_a_definition_without_end_is_refused(tmp_path):
    endless = tmp_path / "endless.sql"
    endless.symlink_to("/dev/zero")
    with pytest.raises(DefinitionError, match=r"endless.sql: is longer than 1,000,000 bytes"):
        format_called(str(endless))
