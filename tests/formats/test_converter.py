"""Definitions of formats: of a user's own, half written, or wrong."""

import re

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from gwa.cli import gwa as program
from gwa.errors import ArgumentError, DefinitionError, UnknownFormat
from gwa.formats.converter import _prepared, check_sql, definition
from gwa.formats.definition import parse_definition
from gwa.formats.format_options import ANY, KINDS
from gwa.formats.open import open_trace, recognise
from gwa.formats.registry import all_formats, broken, converters, definitions, format_called
from gwa.ingest.source.head import FileHead
from gwa.store.options import ReadOptions
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
    (folder / "requests").mkdir(parents=True)
    (folder / "own.sql").write_text(OWN)
    monkeypatch.setattr("gwa.formats.registry.asset", lambda *parts: folder.joinpath(*parts[1:]))
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


def test_a_definition_reads_the_columns_of_the_one_whose_select_it_uses(shipped, tmp_path):
    """Its own functions, and what it states of the system, stand before those of the other."""
    base = OWN.replace("begin as", "stamp_of(begin) as").replace(
        "[columns]",
        '[functions]\n"stamp_of(x)" = "x"\n\n[header]\nComputer = "one"\nQueues = "2"\n\n[columns]',
    )
    (shipped / "own.sql").write_text(base)
    (shipped / "later.sql").write_text(
        OWN.partition("[columns]")[0].replace("own", "later").replace("title", 'select = "own"\ntitle')
        + '[functions]\n"stamp_of(x)" = "x + 5"\n\n[header]\nComputer = "two"\n--- */\n'
        "select mark, begin, 2 * seconds as seconds, line from record\n"
    )
    log = tmp_path / "a.later"
    log.write_text("later,1000000000,60\n")
    with open_trace([log]) as store:
        assert store.rows("select submit_time, run_time from jobs") == [(1e9 + 5, 120)]
        assert {("Computer", "two"), ("Queues", "2")} <= set(store.rows("select key, value from header"))


WRONG = {
    "no header": ("select 1", " expected a TOML header"),
    "no TOML": (OWN.replace("title =", "title"), "2: Expected '='"),
    "no files": (OWN.replace('files = ["*.own"]', ""), "2: files: is missing"),
    "files that are a number": (OWN.replace('["*.own"]', "3"), "3: files: is 3, expected a list"),
    "columns that are a number": (OWN.replace("[columns]", "columns = 3\n[options]"), "8: columns: is 3"),
    "no columns": (OWN.replace("[columns]", "[constants]"), "2: columns: is missing"),
    "an unknown key": (OWN.replace("notes", "note"), "6: note: unknown key, expected one of notes"),
    "a bad pattern": (OWN.replace("^own,", "(own"), "5: first: is .*unterminated subpattern"),
    "an unknown reader": (f"/* ---\nreader = 'foo'{OWN[6:]}", "2: reader: is 'foo', expected one of blocks"),
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
    assert str(broken()["bad"]) == "bad.sql: is not text, expected a definition in SQL"


REFUSED: dict[str, tuple[str | bytes, str]] = {
    "people.csv": (
        "name,age\nann,31\nbob,7\n",
        r"looks like CSV with columns name, age\)\..* To read it.*--with",
    ),
    "words": ("some words\nand other ones\n", r"looks like text\)\. To read it"),
    "cut.log": ("own,1\nown,3\nown,5\n", r"Nearest formats: own: has 2 columns, expected 3\. To read it"),
    "a.json": ('{"user": 1, "start": 2}\n', r"looks like JSON lines with keys user, start\)"),
    "a.html": ("<html><body></body></html>\n", r"looks like XML of elements such as html\)"),
    "a.pdf": (b"%PDF-1.4\n\x00\x01\x02\n", r"looks like a PDF document\).* 'gwa formats' lists"),
    "README.md": ("# Logs\n\nThese are logs.\n", r"looks like Markdown\)"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.usefixtures("shipped")
def test_what_cannot_be_recognised_is_told_what_it_seems_to_be_and_what_to_do(name, tmp_path):
    content, said = REFUSED[name]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    with pytest.raises(UnknownFormat, match=said) as told:
        recognise(FileHead.of(tmp_path / name))
    assert len(str(told.value)) < 400 + len(str(tmp_path))


def test_definitions_with_errors_are_named_where_a_log_is_not_recognised(shipped, tmp_path):
    (shipped / "bad.sql").write_text("select 1")
    (tmp_path / "words").write_text("some words\nand other ones\n")

    with pytest.raises(UnknownFormat, match="Definitions with errors: bad"):
        recognise(FileHead.of(tmp_path / "words"))


def test_the_example_of_a_definition_reads_the_log_that_it_shows(tmp_path):
    example = CliRunner().invoke(program, ["formats", "--own"]).output
    (tmp_path / "my.sql").write_text(example)
    shown = [line.removeprefix("#   ") for line in example.splitlines() if line.startswith("#   ")]
    (tmp_path / "log.csv").write_text("\n".join(shown) + "\n")
    with open_trace([tmp_path / "log.csv"], str(tmp_path / "my.sql")) as store:
        fields = "submit_time, wait_time, run_time, n_procs, status, user_id"
        assert store.rows(f"select {fields} from jobs") == [(1717156800, 300, 3300, 4, 1, "ann")]
        assert (store.account.rejected, store.account.rows) == (1, 2)


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

    with pytest.raises(DefinitionError, match=r"^mine\.sql(:\d+)?: ") as told:
        open_trace([log], str(own))
    assert "\n" not in str(told.value)


def text_of(name):
    """Return the text of the definition of a format."""
    return next(file for file in FILES if file.stem == name).read_text()


def told(file, text):
    """Return the error that a definition is, or what would be one."""
    try:
        definition(file.name, text, text_of)
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


# Options of a format.


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"colums": "JobID"}, "has no option 'colums', expected one of columns, zone"),
        ({"zon": "Europe/London"}, "has no option 'zon', expected one of zone, columns"),
        ({"zone": "Europe/Londn"}, "the option zone is 'Europe/Londn', expected a time zone such as"),
        ({"columns": ""}, "the option columns is '', expected names of columns"),
    ],
)
def test_unknown_options_and_values_are_refused_with_what_is_known(options, said, sample):
    with pytest.raises(ArgumentError, match=said):
        open_trace([sample / "slurm" / "sacct-2024.txt"], options=ReadOptions(format_options=options))


@pytest.mark.parametrize("value", ["abc", "-1", "1e3", "6; drop table jobs", "", "1" * 99])
def test_a_number_of_digits_is_a_number(value, sample):
    options = ReadOptions(format_options={"digits": value})
    with pytest.raises(ArgumentError, match=r"the option digits is '.*', expected a whole number"):
        open_trace(sorted((sample / "google2011").glob("*.csv")), options=options)


@pytest.mark.parametrize("name", ["gwf", "swf"])
def test_a_format_without_options_takes_none(name, sample):
    path = sample / "swf" / {"gwf": "expected.gwf", "swf": "tiny.swf"}[name]
    with pytest.raises(ArgumentError, match="has no option 'attempts', and takes none"):
        open_trace([path], options=ReadOptions(format_options={"attempts": "true"}))


def test_a_zone_is_that_of_the_trace(sample):
    stores = [
        open_trace([sample / "slurm" / "sacct-2024.txt"], options=ReadOptions(format_options=options))
        for options in ({}, {"zone": "America/New_York"})
    ]
    with stores[0] as utc, stores[1] as local:
        assert local.system.zone == "America/New_York"
        assert (
            utc.row("select min(submit_time) from jobs")[0]
            < local.row("select min(submit_time) from jobs")[0]
        )


@pytest.mark.parametrize("one", converters(), ids=lambda one: one.name)
def test_every_option_states_what_it_accepts(one):
    assert ANY not in one.options.values()
    for expected in one.options.values():
        assert expected in KINDS or " | " in expected


# Definitions of strangers.

READING = (
    (
        "select begin as submit_time, (select content from read_text('{path}')) as user_id from source",
        "read_text",
    ),
    ("select begin as submit_time, column0 as user_id from source, '{path}'", "secret"),
    ("select begin as submit_time from source; copy source to '{path}'", "is not a query"),
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
    with pytest.raises(DefinitionError, match=rf"mine\.sql(:\d+)?: the SQL .*{reason}"):
        open_trace([log], str(own))
    assert secret.read_text() == "hidden\n"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_we_ship_would_pass_the_check_that_it_does_not_need(file):
    header, spec = parse_definition(file.name, file.read_text())
    if header.select:
        spec = _prepared(spec, parse_definition(header.select, text_of(header.select))[1])
    check_sql(spec)


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
    with pytest.raises(DefinitionError, match=r"mine\.sql(:\d+)?: the SQL "):
        open_trace([log], str(own))
    assert secret.read_text() == "hidden\n"


@pytest.mark.parametrize("joined_by", ["(from '{path}')", "mark) = 0; copy source to '{path}'; select (1"])
def test_what_joins_the_rows_of_a_job_reads_no_file(joined_by, log, tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("hidden\n")
    own = tmp_path / "mine.sql"
    own.write_text(OWN.replace("[columns]", f'joined_by = "{joined_by.format(path=secret)}"\n[columns]'))
    with pytest.raises(DefinitionError, match=r"mine\.sql(:\d+)?: the SQL "):
        open_trace([log], str(own))
    assert secret.read_text() == "hidden\n"


def with_function(head, body):
    """Return our own definition with a function, which its SELECT uses."""
    functions = f"[functions]\n'{head}' = '''{body}'''\n[columns]"
    return OWN.replace("[columns]", functions).replace("seconds as run_time", "twice(seconds) as run_time")


def test_a_select_uses_the_functions_of_its_definition(log, tmp_path):
    own = tmp_path / "mine.sql"
    own.write_text(with_function("twice(x)", "x + x -- and no more"))
    with open_trace([log], str(own)) as store:
        assert store.rows("select run_time from jobs order by all") == [(60.0,), (120.0,)]


@pytest.mark.parametrize(
    "body",
    [
        "(select content from read_text('{path}'))",
        "(select count(*) from source)",
        "x) = 0; copy source to '{path}'; select (1",
    ],
)
def test_a_function_reads_no_table_and_no_file(body, log, tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("hidden\n")
    own = tmp_path / "mine.sql"
    own.write_text(with_function("twice(x)", body.format(path=secret)))
    with pytest.raises(DefinitionError, match=r"mine\.sql(:\d+)?: the SQL "):
        open_trace([log], str(own))
    assert secret.read_text() == "hidden\n"


@pytest.mark.parametrize("body", ["", "x), (b) as (x"])
def test_a_function_is_one_expression(body, log, tmp_path):
    own = tmp_path / "mine.sql"
    own.write_text(with_function("twice(x)", body))
    with pytest.raises(DefinitionError, match=r"mine\.sql(:\d+)?: "):
        open_trace([log], str(own))


def with_table(select, *, name="longest", when="select true", kind="double", scope="trace"):
    """Return our own definition with a table made beforehand, which its SELECT uses."""
    table = (
        f'[beforehand.{name}]\ncolumns = {{ seconds = "{kind}" }}\n'
        f"when = '''{when}'''\nselect = '''{select}'''\n[columns]"
    )
    own = OWN.replace("[columns]", f'scope = "{scope}"\n{table}')
    return own.replace("seconds as run_time", "(select max(l.seconds) from longest as l) as run_time")


@pytest.mark.parametrize(
    ("when", "run_time"), [("select true", 60.0), ("select count(*) > 2 from source", None)]
)
def test_a_table_is_made_beforehand_where_there_is_a_need(when, run_time, log, tmp_path):
    own = tmp_path / "mine.sql"
    own.write_text(with_table("select max(seconds) from source", when=when))
    with open_trace([log], str(own)) as store:
        assert store.rows("select run_time from jobs") == [(run_time,)] * 2


@pytest.mark.parametrize(
    ("select", "when"),
    [
        ("select content::double from read_text('{path}')", "select true"),
        ("select 1", "select count(*) > 0 from read_text('{path}')"),
        ("select 1; copy source to '{path}'", "select true"),
    ],
)
def test_a_table_made_beforehand_reads_no_file(select, when, log, tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("hidden\n")
    own = tmp_path / "mine.sql"
    own.write_text(with_table(select.format(path=secret), when=when.format(path=secret)))
    with pytest.raises(DefinitionError, match=r"mine.sql: the SQL "):
        open_trace([log], str(own))
    assert secret.read_text() == "hidden\n"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"scope": "row"}, "scope: is 'row', expected trace, since tables are made beforehand"),
        ({"name": "recorded"}, "beforehand.recorded: is 'recorded', expected a name that no other table has"),
        ({"kind": "double)"}, "beforehand.longest.columns.seconds: .*expected a type"),
    ],
)
def test_a_table_made_beforehand_is_of_all_rows_with_a_name_and_types(change, reason):
    with pytest.raises(DefinitionError, match=reason):
        definition("mine.sql", with_table("select 1", **change), str)


@pytest.mark.parametrize("head", ["sum(x)", "trunc(x)"])
def test_a_function_takes_the_place_of_none_that_counts_jobs(head, log, tmp_path):
    own = tmp_path / "mine.sql"
    own.write_text(with_function(head, "0").replace("twice(seconds)", "seconds"))
    with pytest.raises(DefinitionError, match=r"mine.sql: the function .* has the name of one"):
        open_trace([log], str(own))


@pytest.mark.parametrize("head", ["twice", "twice(x) as (1), b(x)", "twice()", "twice(x;)", "Twice(x)"])
def test_a_function_has_a_name_and_parameters(head):
    with pytest.raises(
        DefinitionError, match=r"functions: .*expected a name and parameters such as hours\(x\)"
    ):
        definition("mine.sql", with_function(head, "x"), str)


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
        definition("mine.sql", OWN.replace(before, after), str)


def test_a_definition_without_end_is_refused(tmp_path):
    endless = tmp_path / "endless.sql"
    endless.symlink_to("/dev/zero")
    with pytest.raises(DefinitionError, match=r"endless.sql: is longer than 1,000,000 bytes"):
        format_called(str(endless))
