"""Errors in a converter of one's own are told with its file, the line, the column and the row."""

import re
import shutil
from dataclasses import fields

import duckdb
import pytest
from click.testing import CliRunner

from gwa.cli import _explain, gwa
from gwa.errors import DefinitionError
from gwa.formats.definition import DefinitionHeader
from gwa.formats.open import open_trace
from gwa.formats.registry import GROUP
from gwa.ingest.blame import RESOURCES, is_fault
from gwa.ingest.pipeline import EXTRA_COLUMNS
from tests.conftest import HOME

EXAMPLE = (HOME / "gwa" / "formats" / "example.sql").read_text(encoding="utf-8")

LOG = """user,submitted,started,ended,cores,state
ann,2024-05-31 12:00:00,2024-05-31 12:05:00,2024-05-31 13:00:00,4,1
bob,2024-05-31 12:00:00,2024-05-31 12:05:00,2024-05-31 13:00:00,4,2
cid,2024-05-31 12:00:00,2024-05-31 12:05:00,2024-05-31 13:00:00,4,x
dan,2024-05-31 12:00:00,2024-05-31 12:05:00,2024-05-31 13:00:00,4,
"""

PAGE = HOME / "docs" / "how-to" / "own-converter.md"

PROCS = "    cores as n_procs,"


@pytest.fixture
def error(tmp_path):
    """Return a function that says why a definition is wrong, and the line where that is."""

    def why(old, new, log=LOG):
        text = EXAMPLE.replace(old, new)
        assert text != EXAMPLE
        (tmp_path / "my.sql").write_text(text)
        (tmp_path / "log.csv").write_text(log)
        words = ["convert", str(tmp_path / "log.csv"), "--with", str(tmp_path / "my.sql"), "-q"]
        done = CliRunner().invoke(gwa, [*words, "-o", str(tmp_path / "out.gwf")])
        assert isinstance(done.exception, DefinitionError), done.output
        said = _explain(done.exception)
        assert "inside gwa" not in said
        assert "please report" not in said
        assert len(said) < 600
        place = re.match(r".*my\.sql:(\d+): ", said)
        return said, text.splitlines()[int(place[1]) - 1] if place else ""

    return why


OF_A_ROW = {
    "strptime": "epoch(strptime(state, '%Y')) as n_procs",
    "a cast of an empty text": "''::bigint as n_procs",
    "a cast": "state::bigint as n_procs",
    "an overflow": "cores::tinyint * if(state = 'x', 100, 1)::tinyint as n_procs",
    "an error of its own": "if(state = 'x', error('odd'), 1) as n_procs",
    "a date": "epoch(make_date(2024, if(state = 'x', 99, 1), 1)) as n_procs",
    "a list": "[1][if(state = 'x', 1, 1)] / cast(state as integer) as n_procs",
}


@pytest.mark.parametrize("scope", ["row", "trace"])
@pytest.mark.parametrize("expression", OF_A_ROW.values(), ids=OF_A_ROW)
def test_a_value_that_fails_is_told_with_its_row(expression, scope, error):
    where = "" if scope == "row" else '\nscope = "trace"'
    said, line = error(f"{PROCS}\n", f"    {expression},\n") if not where else ("", "")
    if where:
        text = EXAMPLE.replace('delimiter = ","', f'delimiter = ","{where}').replace(
            PROCS, f"    {expression},"
        )
        said, line = error(EXAMPLE, text)
    assert line.strip().startswith(expression), said
    assert "n_procs: " in said
    assert "; in the row of log.csv" in said
    if "''::" not in expression:
        assert "state 'x'" in said or "strptime" in expression
    if where:
        assert re.search(r"in the row of log\.csv, line \d: user '\w+'", said)


def test_the_first_of_many_rows_that_fail_is_found(error):
    rows = "".join(LOG.splitlines(keepends=True)[1].replace("ann", f"u{number}") for number in range(5000))
    log = LOG.splitlines(keepends=True)[0] + rows.replace(",4,1\n", ",4,1\n")
    log += LOG.splitlines(keepends=True)[3] + rows
    said, _ = error(PROCS, "    state::bigint as n_procs,", log)
    assert "user 'cid'" in said


OF_THE_SQL = {
    "a filter that cannot be bound": ("from source", "from source where line like 'x%'", "where line"),
    "a column": (PROCS, "    nothing as n_procs,", "nothing as"),
    "a function": (PROCS, "    nothing(cores) as n_procs,", "nothing(cores)"),
    "a table": ("from source", "from elsewhere", ""),
    "syntax": (PROCS, "    cores cores as n_procs,", "cores cores"),
    "a type of a column": ('cores = "bigint"', 'cores = "bigger"', "bigger"),
    "no field": (PROCS, "    cores as n_prox,", "n_prox"),
    "a field twice": (PROCS, "    cores as n_procs, cores as n_procs,", "n_procs"),
    "a time for a number": (PROCS, "    submitted as eligible_time,", "eligible_time"),
    "a list for a number": (PROCS, "    [cores] as n_procs,", "[cores]"),
    "a text for a number": (PROCS, "    state as n_procs,", "state as"),
    "reject alone": (PROCS, "    cores as n_procs, 'no' as reject,", "reject"),
    "several rows of a subquery": (PROCS, "    (select cores from source) as n_procs,", "n_procs"),
}


@pytest.mark.parametrize(("old", "new", "shown"), OF_THE_SQL.values(), ids=OF_THE_SQL)
def test_sql_that_is_wrong_is_told_with_its_line(old, new, shown, error):
    said, line = error(old, new)
    assert shown in line, said


def test_rows_that_become_nothing_are_told(error):
    said, _ = error("from source", "from source where state = '1'")
    assert "5 rows were read" in said
    assert "a job of each row" in said


def test_rows_that_a_trace_loses_are_told(error):
    text = EXAMPLE.replace('delimiter = ","', 'delimiter = ","\nscope = "trace"')
    said, _ = error(EXAMPLE, text.replace("from source", "from source where state = '1'"))
    assert "4 rows were read, but 1 became" in said
    assert "the column rows counts" in said


@pytest.mark.parametrize(
    "kind", [one for one in vars(duckdb).values() if isinstance(one, type) and issubclass(one, duckdb.Error)]
)
def test_every_class_of_error_is_of_the_sql_or_of_resources(kind):
    if kind not in {duckdb.Error, duckdb.DatabaseError, duckdb.OperationalError}:
        assert is_fault(kind("x")) != issubclass(kind, RESOURCES)


# What the page on converters says.


def table(title):
    """Return the first column of the table under a heading of the page."""
    part = PAGE.read_text().partition(f"### {title}\n")[2].partition("\n### ")[0]
    return re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)


def test_the_page_lists_the_keys_of_a_head():
    assert set(table("What a head may say")) == {key.name for key in fields(DefinitionHeader)}


def test_the_page_lists_the_columns_beside_the_fields():
    assert set(table("What a SELECT yields")) == set(EXTRA_COLUMNS)


def test_the_page_names_the_group_of_entry_points():
    assert f"entry point in the group `{GROUP}`" in " ".join(PAGE.read_text().split())


def test_a_job_of_a_test_is_refused_as_the_page_shows(tmp_path):
    (example,) = re.findall(r"tests\.sql << 'END'\n(.*?)END\n", PAGE.read_text(), re.DOTALL)
    (tmp_path / "tests.sql").write_text(example)
    (tmp_path / "log.csv").write_text(LOG.replace("bob", "test"))
    with open_trace([tmp_path / "log.csv"], str(tmp_path / "tests.sql")) as trace:
        assert (trace.account.jobs, trace.account.rejected) == (3, 2)
        assert trace.rows("select line, reason from rejects where reason like '%test'") == [
            (3, "is a job of a test")
        ]
    shutil.rmtree(tmp_path)
