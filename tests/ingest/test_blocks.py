"""Blocks of keys and values: whatever is in them, and however their lines are wrapped."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from gwa.ingest.bulk_insert import CELL_SEPARATOR, MISSING_CELL
from gwa.ingest.readers.blocks import MAXIMUM_LINES, batches
from gwa.ingest.source.compressed import Source
from gwa.ingest.spec import TableSpec

SPEC = TableSpec(
    {"id": "varchar", "queue": "varchar", "resource_list_mem": "varchar", "end_": "varchar"},
    options={
        "begins": r"Job: (?P<id>\S+)",
        "pair": r"    (?P<key>[\w.]+) = (?P<value>.*)",
        "keys": {"end_": ["end", "stopped"]},
    },
)
WORDS = st.text("abc=;,:+/()[]é\"'", min_size=1, max_size=200)


def read(text):
    """Return the cells of each row, and how many rows there were, and were comments or refused."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "log")
        path.write_text(text)
        source = Source(path)
        found = list(batches(source, SPEC))
        source.close()
    rows = [row for batch in found for row in batch.rows]
    counts = [sum(getattr(batch, name) for batch in found) for name in ("total", "comments")]
    return rows, (*counts, sum(len(batch.rejects) for batch in found))


def block(number, values):
    lines = [f"    {key} = {value}" for key, value in values.items()]
    return "\n".join([f"Job: {number}", *lines]) + "\n"


def wrapped(text, width):
    """Return *text* with the rest of longer lines on lines that begin with a tab."""
    lines = (
        line[:width] + "".join(f"\n\t{line[at : at + width]}" for at in range(width, len(line), width))
        for line in text.splitlines()
    )
    return "\n".join(lines) + "\n"


def cells(row):
    """Return the cells of an encoded row, without the number of its line."""
    return row.rstrip("\n").split(CELL_SEPARATOR)[:-1]


def expected(number, values):
    """Return what the cells of a block are."""
    kept = {**values, "end": values.get("end") or values.get("stopped")}
    named = [kept.get(key) for key in ("queue", "Resource_List.mem", "end")]
    return [str(number), *((value or "").strip() or MISSING_CELL for value in named)]


@given(
    blocks=st.lists(
        st.dictionaries(
            st.sampled_from(["queue", "Resource_List.mem", "stopped", "end", "other"]), WORDS, min_size=1
        ),
        min_size=1,
        max_size=5,
    ),
    width=st.integers(40, 90),
)
def test_a_block_says_the_same_however_it_is_wrapped(blocks, width):
    text = "".join(block(number, values) for number, values in enumerate(blocks))
    for one in (text, wrapped(text, width)):
        rows, counts = read(one)
        assert [cells(row) for row in rows] == [expected(*pair) for pair in enumerate(blocks)]
        assert counts == (len(blocks), 0, 0)


def test_of_equal_keys_the_first_counts_whatever_its_case():
    rows, _ = read("Job: 1\n    QUEUE = a\n    queue = b\n    resource_list_mem = c\n")
    assert cells(rows[0]) == ["1", "a", "c", MISSING_CELL]


def test_what_stands_before_the_first_block_is_refused_and_a_block_without_keys_is_a_comment():
    assert read("no job\nJob: 1\nJob: 2\n    queue = a\n")[1] == (3, 1, 1)


def test_a_block_without_end_is_not_put_together():
    rows, counts = read("Job: 1\n    queue = a\n" + "x\n" * MAXIMUM_LINES + "Job: 2\n    queue = b\n")
    assert [cells(row)[0] for row in rows] == ["1", "2"]
    assert counts == (3, 0, 1)
