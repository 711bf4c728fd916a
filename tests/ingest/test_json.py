"""Records of JSON are found wherever they stand, and what is none is refused."""

import json

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.ingest.pieces import TablePieces
from gwa.ingest.readers.json import batches
from gwa.ingest.source import json_records, lines
from gwa.ingest.source.compressed import Source
from gwa.ingest.spec import TableSpec

PATHS = ["jobs", "hits.hits"]
TEXTS = st.text(st.sampled_from('ab"\\{}[],:\n jobs\x00é'), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
RECORDS = st.lists(st.dictionaries(TEXTS.filter(lambda key: key not in {"jobs", "hits"}), VALUES, max_size=4))
INDENTS = st.sampled_from([None, 0, 1, 4])


def found(tmp_path, data, paths=PATHS):
    """Return the blocks of records in *data*."""
    path = tmp_path / "data.json"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    source = Source(path)
    blocks = list(json_records.record_blocks(source, paths))
    source.close()
    return blocks


def records(blocks):
    return [json.loads(record.text) for block in blocks for record in block.records]


def rejects(blocks):
    return [(reject.line, reject.reason, reject.text) for block in blocks for reject in block.rejects]


@pytest.fixture
def pieces(monkeypatch):
    """Return a function that sets the size of the pieces in which a file is read."""

    def set_sizes(size):
        monkeypatch.setattr(lines, "CHUNK_SIZE", size)
        monkeypatch.setattr(json_records, "BLOCK_SIZE", 3 * size)

    return set_sizes


LAYOUTS = {
    "lines": lambda rows, _: "".join(f"{json.dumps(row)}\n" for row in rows),
    "list": lambda rows, indent: json.dumps(rows, indent=indent),
    "document": lambda rows, indent: json.dumps(
        {"meta": {"a": [1]}, "jobs": rows, "errors": []}, indent=indent
    ),
    "nested": lambda rows, indent: json.dumps(
        {"took": 3, "hits": {"hits": rows, "total": {}}}, indent=indent
    ),
    "documents": lambda rows, indent: "\n".join(
        json.dumps({"jobs": part}, indent=indent) for part in (rows[:2], rows[2:])
    ),
    "list of documents": lambda rows, indent: json.dumps(
        [{"jobs": part, "total": 2} for part in (rows[:2], rows[2:])], indent=indent
    ),
    "no commas": lambda rows, indent: " ".join(json.dumps(row, indent=indent or 1) for row in rows),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@given(rows=RECORDS, indent=INDENTS, size=st.integers(1, 300), is_ascii=st.booleans())
def test_records_are_found_in_any_layout(layout, rows, indent, size, is_ascii, tmp_path_factory):
    text = LAYOUTS[layout](rows, indent)
    if not is_ascii:
        text = text.replace("\\u00e9", "é")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "CHUNK_SIZE", size)
        patch.setattr(json_records, "BLOCK_SIZE", 3 * size)
        blocks = found(tmp_path_factory.mktemp("json"), text)

    assert records(blocks) == rows
    assert rejects(blocks) == []
    numbers = [record.number for block in blocks for record in block.records]
    assert numbers == sorted(set(numbers))


@given(
    rows=st.dictionaries(TEXTS, st.dictionaries(TEXTS, VALUES, max_size=3)),
    indent=INDENTS,
    size=st.integers(20, 99),
)
def test_members_of_an_object_are_records_with_keys(rows, indent, size, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "CHUNK_SIZE", size)
        blocks = found(
            tmp_path_factory.mktemp("json"), json.dumps({"server": "s", "jobs": rows}, indent=indent)
        )

    keys = [json.loads(f'"{record.key}"') for block in blocks for record in block.records]
    assert dict(zip(keys, records(blocks), strict=True)) == rows
    assert rejects(blocks) == []


def test_a_record_knows_its_line_and_its_document(tmp_path):
    rows = [{"a": 1}, {"a": 2}]
    (block,) = found(tmp_path, json.dumps({"server": "s", "jobs": rows}, indent=1) + '\n{"jobs":[{},{}]}')

    assert [record.number for record in block.records] == [4, 7, 12, 13]
    documents = [json.loads(record.document) for record in block.records]
    assert documents == 2 * [{"server": "s", "jobs": []}] + 2 * [{"jobs": []}]


@pytest.mark.parametrize("size", [1, 7, 1 << 18])
def test_records_of_a_second_list_know_all_that_stands_before_it(size, pieces, tmp_path):
    pieces(size)
    first = {"name": "é", "jobs": [{"a": 1}, {"a": 2}], "more": {"x": [1, {"y": "]}"}]}}
    text = json.dumps({**first, "hits": {"at": 7, "hits": [{"a": 3}], "total": 1}}, ensure_ascii=False)
    blocks = found(tmp_path, f'{text}\n{{"jobs":[{{"a":4}}]}}')

    met = [json.loads(record.document) for block in blocks for record in block.records]
    before = {"name": "é", "jobs": []}
    assert records(blocks) == [{"a": 1}, {"a": 2}, {"a": 3}, {"a": 4}]
    assert met == [before, before, {**first, "jobs": [], "hits": {"at": 7, "hits": []}}, {"jobs": []}]
    assert rejects(blocks) == []


def test_a_document_with_too_much_between_its_lists_is_forgotten(monkeypatch, tmp_path):
    monkeypatch.setattr(json_records, "MAXIMUM_RECORD_SIZE", 100)
    text = json.dumps({"jobs": [{"a": 1}], "x": ["long"] * 50, "hits": {"hits": [{"a": 2}]}})
    (block,) = found(tmp_path, text)

    assert records([block]) == [{"a": 1}, {"a": 2}]
    assert [record.document for record in block.records] == ['{"jobs": []}', ""]


NO_OBJECT = "is not a JSON object"
CUT = "the document breaks off: its end is missing"
FAULTS: dict[str, tuple[str, list[tuple[int | str, ...]]]] = {
    "a word": ('{"a":1}\nhello, world\n{"a":2}', [(2, "hello, world")]),
    "a word in a list": ('[{"a":1}, null, "x,y", {"a":2}]', [(1, "null"), (1, '"x,y"')]),
    "half a line": ('{"a":1}\n{"b":"c\n{"a":2}\n', [(2, '{"b":"c')]),
    "a brace too few": ('{"a":1}\n{"b":{"c":3}\n{"a":2}\n', [(2, '{"b":{"c":3}')]),
    "a brace too many": ('{"a":1}\n}}\n{"a":2}\n', [(2, "}}")]),
    "a brace too few in a list": (
        '{"jobs":[\n{"a":1},\n{"b":{"c":3},\n{"a":2}\n]}',
        [(3, '{"b":{"c":3},')],
    ),
    "a list cut short": ('{"jobs":[{"a":1},{"a":2}', [(1, CUT, "")]),
    "a record cut short": ('{"jobs":[\n{"a":1},{"a":2},\n{"b"', [(3, CUT, '{"b"')]),
}


@pytest.mark.parametrize("size", [1, 7, 1 << 18])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_costs_its_own_record_only(fault, size, pieces, tmp_path):
    pieces(size)
    text, refused = FAULTS[fault]
    blocks = found(tmp_path, text)

    assert records(blocks) == [{"a": 1}, {"a": 2}]
    expected = [fault if len(fault) > 2 else (fault[0], NO_OBJECT, fault[1]) for fault in refused]
    assert rejects(blocks) == expected


def test_what_is_too_long_is_refused_once(monkeypatch, pieces, tmp_path):
    monkeypatch.setattr(json_records, "MAXIMUM_RECORD_SIZE", 1000)
    monkeypatch.setattr(json_records, "MAXIMUM_GAP_SIZE", 100)
    pieces(50)
    long = json.dumps({"b": ["x"] * 5000})
    blocks = found(tmp_path, f'{{"a":1}}\n{long}\n{{"a":2}}\n{"y" * 5000}\n{{"a":3}}')

    assert records(blocks) == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert [(line, reason) for line, reason, _ in rejects(blocks)] == [
        (2, "longer than 1000 bytes"),
        (4, "longer than 100 bytes"),
    ]


def test_what_only_some_read_as_json_is_a_record(pieces, tmp_path):
    pieces(7)
    texts = ['{"a": 1,}', '{"a": 0x1f}', f'{{"a": {"9" * 5000}}}', '{"a": NaN, "b": "\t"}']
    blocks = found(tmp_path, "\n".join(texts))

    assert [record.text for block in blocks for record in block.records] == texts
    assert rejects(blocks) == []


def test_records_behind_what_is_too_long_are_found(monkeypatch, pieces, tmp_path):
    monkeypatch.setattr(json_records, "MAXIMUM_RECORD_SIZE", 1000)
    pieces(50)
    text = json.dumps({"more": [{"x": [y]} for y in range(1000)], "jobs": [{"a": 1}], "end": {}})
    blocks = found(tmp_path, text + '\n{"a": 2}')

    assert records(blocks) == [{"a": 1}, {"a": 2}]
    assert [(line, reason) for line, reason, _ in rejects(blocks)] == [(1, "longer than 1000 bytes")]


def test_a_string_without_an_end_is_not_held(monkeypatch, pieces, tmp_path):
    monkeypatch.setattr(json_records, "MAXIMUM_RECORD_SIZE", 1000)
    monkeypatch.setattr(json_records, "MAXIMUM_GAP_SIZE", 100)
    pieces(50)
    held: list[int] = []
    more = json_records.Cutter.more

    def watched(cutter):
        held.append(cutter.held)
        return more(cutter)

    monkeypatch.setattr(json_records.Cutter, "more", watched)
    blocks = found(tmp_path, '{"a": "' + "x" * 100_000 + '\n{"a": 2}')

    assert records(blocks) == [{"a": 2}]
    assert max(held) < 5000


HOSTILE = [
    "{",
    "}",
    "[",
    "]",
    '"',
    "\\",
    "[]",
    "{}",
    '{"jobs":[',
    "]}",
    '\n{"jobs":',
    "\n{",
    ",",
    "x",
    "\n",
    "é",
]


@given(signs=st.lists(st.sampled_from(HOSTILE), max_size=60), size=st.integers(1, 64))
def test_any_signs_are_survived(signs, size, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "CHUNK_SIZE", size)
        patch.setattr(json_records, "BLOCK_SIZE", 3 * size)
        blocks = found(tmp_path_factory.mktemp("json"), "".join(signs))
    for block in blocks:
        assert all(record.text[:1] in {"{", "["} for record in block.records)
        assert all(reject.line >= 1 for reject in block.rejects)


@pytest.mark.parametrize("sign", HOSTILE)
def test_a_flood_of_signs_takes_no_time_to_speak_of(sign, tmp_path):
    """A cost that grew with the square of a piece would take minutes."""
    found(tmp_path, sign * ((1 << 17) // len(sign)))


def loaded(tmp_path, data, columns, **options):
    """Return the rows that become of *data*, and what is refused."""
    path = tmp_path / "data.json"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    table_spec = TableSpec(columns, options=options, numbered=True)
    source = Source(path)
    refused = []
    with duckdb.connect() as database:
        database.execute("set variable file_no = 0")
        rows = TablePieces(database, table_spec, "found")
        for batch in batches(source, table_spec):
            batch.load(rows, tmp_path)
            refused += [(reject.line, reject.reason) for reject in batch.rejects]
        found_rows = database.execute("select * exclude (file_no) from found").fetchall()
    source.close()
    return found_rows, refused


def test_values_are_found_by_their_paths(tmp_path):
    text = json.dumps(
        {
            "server": {"name": "s1"},
            "jobs": {
                "1.s": {"_source": {"cpus": "4", "time": {"end": 5}, "name": "x", "more": {"k": [1]}}},
                "2.s": {"cpus": None, "time": {"stop": 6.5}, "kind": "test"},
                "3.s": {"cpus": "many"},
                "4.s": 7,
                "5.s": [8],
                "6.s": {"cpus": 1, "kind": "skipped"},
            },
            "late": 1,
        }
    )
    columns = {"id": "varchar", "cpus": "bigint", "ended": "double", "name": "varchar"}
    found_rows, refused = loaded(
        tmp_path,
        text,
        columns | {"kind": "varchar", "more": "varchar", "host": "varchar"},
        records=["jobs"],
        key="id",
        within="_source",
        paths={"ended": ["time.end", "time.stop"]},
        document={"host": "server.name"},
        skip={"kind": ["skipped"]},
    )
    assert found_rows == [
        ("1.s", 4, 5, "x", None, '{"k":[1]}', "s1", 1),
        ("2.s", None, 6.5, None, "test", None, "s1", 2),
    ]
    assert sorted(refused) == [
        (1, "is not a JSON object"),
        (3, "cpus is 'many', expected a number"),
        (4, "is not a JSON object"),
    ]


def test_numbers_that_json_does_not_know_and_equal_names_are_read(tmp_path):
    text = '{"a": NaN}\n{"a": -Infinity}\n{"a": 1, "a": 2}\n{"a": 18446744073709551614}\n{"a": "\\ud800"}'
    found_rows, refused = loaded(tmp_path, text, {"a": "double"})
    assert [str(value) for value, _ in found_rows] == ["nan", "-inf", "1.0", "1.8446744073709552e+19"]
    assert refused == [(5, "is not a JSON object")]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_text_of_other_encodings_is_read(encoding, tmp_path):
    text = json.dumps({"jobs": [{"a": "é"}, {"a": "b"}]}, ensure_ascii=False)
    found_rows, refused = loaded(tmp_path, text.encode(encoding), {"a": "varchar"}, records=["jobs"])
    assert (found_rows, refused) == ([("é", 1), ("b", 2)], [])


def test_depth_is_no_danger(tmp_path):
    deep = '{"a":' * 100_000 + "1" + "}" * 100_000
    found_rows, refused = loaded(tmp_path, f'{deep}\n{{"b":2}}\n{"[" * 300_000}', {"b": "bigint"})
    assert found_rows == [(None, 1), (2, 2)]
    assert refused == [(3, "the document breaks off: its end is missing")]
