"""The reader of tables: every cell as the csv module has it, every row counted, whatever the encoding."""

import csv
import gzip
import io
import json
from fractions import Fraction

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gwa.ingest.pieces import TablePieces
from gwa.ingest.readers import table
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.delimited import header_of
from gwa.ingest.source.head import FileHead
from gwa.ingest.spec import TableSpec
from tests.conftest import examples

NAMES = ["id", "a name", "c"]


def read(path, names=NAMES, missing=("", "NULL")):
    """Return the rows of a file, its comments and its rejects; fail unless each row is accounted for."""
    columns = {f"c{place}": name for place, name in enumerate(names)}
    spec = TableSpec(
        columns=dict.fromkeys(columns, "varchar"), missing=missing, options={"names": columns}, numbered=True
    )
    total, comments, rejects = 0, 0, []
    source = Source(path)
    with duckdb.connect() as database:
        pieces = TablePieces(database, spec, "found")
        database.execute("set variable file_no = 0")
        for batch in table.batches(source, spec):
            batch.load(pieces, path.parent)
            total, comments = total + batch.total, comments + batch.comments
            rejects += batch.rejects
        rows = database.execute("select * exclude (file_no, line) from found order by line").fetchall()
    source.close()
    assert total == comments + len(rejects) + len(rows)
    return rows, comments, [(reject.line, reject.reason) for reject in rejects]


CELL = st.text(st.sampled_from('ab1 ,;|\t"\nü'), max_size=6)


@examples(60)
@given(
    rows=st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=12),
    delimiter=st.sampled_from([",", ";", "|", "\t"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    size=st.sampled_from([1, 20, 1 << 24]),
)
def test_cells_are_those_of_the_csv_module(rows, delimiter, quoting, size, tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "rows.csv"
    out = io.StringIO()
    filler = [("1", "x", "y")] * (9 * len(rows) + 1)
    csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator="\n").writerows(
        [NAMES, *filler, *rows]
    )
    text = out.getvalue()
    # A line that is a row by itself ends a row whose quote is open: what is broken there swallows no more.
    assume(not any(is_row(line, delimiter) for line in within_cells(text)))
    path.write_text(text, encoding="utf-8", newline="")
    before, table.BLOCK_SIZE = table.BLOCK_SIZE, size
    try:
        found, _, rejects = read(path)
    finally:
        table.BLOCK_SIZE = before
    assert not rejects
    wanted = [tuple(plain(cell) for cell in row) for row in rows if any(cell.strip() for cell in row)]
    assert [tuple(map(plain, row)) for row in found if any(map(plain, row))][len(filler) :] == wanted


def within_cells(text):
    """Yield the lines of *text* before which a cell has begun that they do not end."""
    is_open = False
    for line in text.split("\n"):
        if is_open:
            yield line
        is_open ^= line.count('"') % 2 == 1


def is_row(line, delimiter):
    """Whether a line is a whole row by itself."""
    return line.count('"') % 2 == 0 and len(next(csv.reader([line], delimiter=delimiter), [])) == len(NAMES)


def plain(cell):
    """Return a cell as it is compared: line breaks and blanks within it are one blank."""
    return " ".join((cell or "").replace("\t", " ").split())


SAMPLE = 'id,a name,c\n1,ann,NULL\n2,"b, c","two\nlines"\n3,5" disk,x\n'
ROWS = [("1", "ann", None), ("2", "b, c", "two lines"), ("3", '5" disk', "x")]


@pytest.mark.parametrize(
    "data",
    [
        SAMPLE.encode(),
        SAMPLE.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + SAMPLE.encode(),
        SAMPLE.encode("utf-16"),
        gzip.compress(SAMPLE.encode()),
        ("# exported on Monday\n" + SAMPLE).encode(),
        SAMPLE.replace("id,", "#id,").encode(),
    ],
    ids=["plain", "windows", "bom", "utf-16", "gzip", "comment", "commented header"],
)
def test_a_table_in_any_encoding_has_the_same_rows(data, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(data)
    rows, _, rejects = read(path)
    assert rows == ROWS
    assert not rejects


def test_lines_of_other_widths_and_open_quotes_are_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('id,a name,c\n1,x,y\n2,x\n3,x,y\nid,a name,c\n4,x,"open\n5,x,y\n')
    rows, comments, rejects = read(path)
    assert [row[0] for row in rows] == ["1", "3", "5"]
    assert comments == 2
    assert rejects == [(3, "2 columns, expected 3 columns"), (6, "a quote is not closed")]


def test_columns_that_a_file_lacks_are_missing(tmp_path):
    path = tmp_path / "rows.tsv"
    path.write_text("c\tid\n7\t1\n8\t2\n")
    assert read(path)[0] == [("1", None, "7"), ("2", None, "8")]


@pytest.mark.parametrize("form", ["list", "lines", "indented", "one line"])
def test_json_is_read_in_a_list_or_by_line(form, tmp_path):
    rows = [{"id": n, "a name": f"n{n}", "used": {"c": n / 2}, "more": [1]} for n in range(500)]
    texts = {
        "list": "[" + ",\n".join(map(json.dumps, rows)) + "]",
        "lines": "\n".join(map(json.dumps, rows)),
        "indented": json.dumps(rows, indent=2),
        "one line": json.dumps(rows),
    }
    path = tmp_path / "rows.json"
    path.write_text(texts[form])
    found, _, rejects = read(path, ["id", "a name", "used.c"])
    assert found == [(str(n), f"n{n}", repr(n / 2)) for n in range(500)]
    assert not rejects


def test_json_that_is_cut_or_wrong_is_refused_by_its_record(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": 1}\n7\n{"id": bad}\n{"id": 4}\n{"id": 5')
    rows, _, rejects = read(path)
    assert [row[0] for row in rows] == ["1", "4"]
    assert [line for line, _ in rejects] == [2, 3, 5]


def test_parquet_is_read_as_text(tmp_path):
    path = tmp_path / "rows.parquet"
    rows = pa.table({"id": [1, 2], "a name": ["x", None], "other": [[1], [2]], "c": [1.5, float("nan")]})
    pq.write_table(rows, path)
    assert read(path, missing=("", "nan"))[0] == [("1", "x", "1.5"), ("2", None, None)]


@examples(40)
@given(
    st.lists(st.none() | st.integers(-(2**62), 2**62), min_size=1), st.sampled_from(["s", "ms", "us", "ns"])
)
def test_durations_of_parquet_are_read_to_their_last_decimal(tmp_path_factory, numbers, unit):
    path = tmp_path_factory.mktemp("durations") / "rows.parquet"
    pq.write_table(pa.table({"c": pa.array(numbers, pa.duration(unit))}), path)
    parts = {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}[unit]
    for number, (text,) in zip(numbers, read(path, ["c"])[0], strict=True):
        if number is None:
            assert text is None
            continue
        sign, found = text.split("PT")
        assert found.endswith("S")
        assert Fraction(found[:-1]) * parts * (-1 if sign else 1) == number


def test_whole_numbers_beside_durations_stay_numbers(tmp_path):
    path = tmp_path / "rows.parquet"
    days = pa.array([pd.Timedelta("1 day 00:00:00.5"), None], pa.duration("ns"))
    pq.write_table(pa.table({"id": [1, 2], "c": days}), path)
    assert read(path)[0] == [("1", None, "PT86400.500000000S"), ("2", None, None)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b\n1,2\n", ("a", "b")),
        ("a;b,c\n1;2\n", ("a", "b,c")),
        ("1,2\n3,4\n", None),
        ("just text\nand more\n", None),
        ("a,b\n1\n2\n3\n", None),
    ],
)
def test_a_header_has_names_and_as_many_cells_as_its_rows(text, names, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    header = header_of(FileHead.of(path))
    assert (header.names if header else None) == names
