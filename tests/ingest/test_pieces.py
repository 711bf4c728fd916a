"""Tests of `gwa.ingest.pieces`: what was appended is there, in order, and what was taken back is not."""

from itertools import count

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.ingest.pieces import ParquetPieces, TablePieces
from gwa.ingest.spec import TableSpec

SPEC = TableSpec({"name": "varchar", "size": "bigint"}, numbered=True)
ROWS = st.lists(st.tuples(st.one_of(st.none(), st.text("ab'", max_size=3)), st.integers(0, 9)), max_size=4)
DEEDS = st.lists(st.one_of(ROWS, st.just("undo")), max_size=6)


def select(rows, first):
    """Return a SELECT of *rows* as text, as CSV is read, whose lines are numbered from *first*."""
    quoted = [
        f"({'null' if name is None else chr(39) + name.replace(chr(39), chr(39) * 2) + chr(39)}, '{size}', 0,"
        f" {first + place})"
        for place, (name, size) in enumerate(rows)
    ]
    return f"values {', '.join(quoted)}" if quoted else "select null, null, null, null where false"


def done(pieces, deeds):
    """Append and take back as *deeds* say; return the rows that there should be."""
    expected = []
    for number, deed in enumerate(deeds):
        if deed != "undo":
            assert pieces.append(select(deed, 10 * number)) == len(deed)
            expected.append([(*row, 0, 10 * number + place) for place, row in enumerate(deed)])
        elif expected:
            pieces.undo()
            expected.pop()
    return [row for piece in expected for row in piece]


@given(deeds=DEEDS)
def test_tables_hold_what_was_appended_and_not_taken_back(deeds):
    with duckdb.connect() as database:
        pieces = TablePieces(database, SPEC, "found")
        expected = done(pieces, deeds)
        assert database.execute("from found").fetchall() == expected
        pieces.clear()
        assert database.execute("from found").fetchall() == []
        assert pieces.append(select([("a", 1)], 7)) == 1
        assert database.execute("from found").fetchall() == [("a", 1, 0, 7)]
        tables = database.execute("select table_name from duckdb_tables() order by 1").fetchall()
        assert tables == [("found_0",), ("found_empty",)]


@given(deeds=DEEDS)
def test_files_hold_what_was_appended_and_not_taken_back(deeds, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pieces")
    with duckdb.connect() as database:
        pieces = ParquetPieces(database, SPEC, folder, count())
        expected = done(pieces, deeds)
        assert sorted(folder.iterdir()) == pieces.paths
        rows = [row for path in pieces.paths for row in database.execute(f"from '{path}'").fetchall()]
        assert rows == expected


@pytest.mark.parametrize("kind", ["tables", "files"])
def test_a_value_that_is_none_of_a_column_is_an_error_and_no_piece(kind, tmp_path):
    with duckdb.connect() as database:
        pieces = (
            TablePieces(database, SPEC, "found")
            if kind == "tables"
            else ParquetPieces(database, SPEC, tmp_path, count())
        )
        with pytest.raises(duckdb.ConversionException):
            pieces.append("select 'a', 'many', 0, 1")
        assert pieces.append("select 'a', '5', 0, 1") == 1
        files = " union all ".join(f"from '{path}'" for path in tmp_path.iterdir() if path.stat().st_size > 0)
        rows = database.execute("from found" if kind == "tables" else files).fetchall()
        assert rows == [("a", 5, 0, 1)]
