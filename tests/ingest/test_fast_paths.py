"""Records that a reader takes at once are those that it would put together piece by piece."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gwa.formats.converter import _parsed
from gwa.ingest.batch import Records, find_reader
from gwa.ingest.bulk_insert import MISSING_CELL
from gwa.ingest.readers.classads import resolve
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import Reject
from gwa.ingest.spec import ConverterSpec
from tests.mutation import CHANGE, PLACES, VALUES, mutated

READERS: Final = "gwa.ingest.readers"

PIECES: Final = {
    "lsf": (
        '"', '""', '" "', ' "" ', '"a" "b"', "!", " !", "! ", "  ", "\t", "\x0b", "\x85", "\u00a0", "\n",
        "!\n",
        " 0 ", " 1 ", " 2 ", " 3 a b c", ' 2 "a" "b"', " 2 1 x 2 y", "+5", ".5", "5.", "1e3", "٣", "é", "007",
        '\n"JOB_START" "10.1" ', '\n"JOB_FINISH" "10.1" ', '"JOB_FINISH"', "#", "\x1e", "\x1f",
    ),
    "condor": (
        " = ", "=", "  =", "= ", "\t=\t", " ", "\x0b", "\x85", "\u00a0", "\n", "\n\n", "\n   \n", "***",
        "\n***\n",
        "{", "}", "[", ",", '"', '\\"', "\\", "MY.", "ClusterId", "DiskUsage", "\nDiskUsage = ClusterId",
        "\nclusterid=9", "\nClusterId = ", "\n{\n", "\n}\n", '\n{"ClusterId": 5}\n', "/Expr(ClusterId)/", "٣",
        "²", "+5", "1e5", "1.", "TRUE", "undefined", "é", '\nEpochAdType = "INPUT"\n', "\x1e", "\x1f",
    ),
}  # fmt: skip
"""What means something to a reader where it stands between other things."""


def line_by_line(patch: pytest.MonkeyPatch) -> None:
    """Let no assignment of an ad be plain."""
    ads = f"{READERS}.classads._Ads"
    patch.setattr(f"{ads}._take_assignments", lambda *_: None)
    patch.setattr(f"{ads}._cells", cells_resolved)


def cells_resolved(ads: Any) -> list[str]:
    """Return the cells of an ad, with a close look at each."""
    return [
        MISSING_CELL if text is None else text
        for text in (resolve(ads.attributes, name) for name in ads.columns)
    ]


SLOW: Final[dict[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "lsf": lambda patch: patch.setattr(f"{READERS}.quoted._LinePattern.cells", lambda *_: None),
    "condor": line_by_line,
}
"""Leaves all records of a converter's files to the slow way."""


def folded(data: bytes, width: int) -> bytes:
    """Break lines of an lsb.acct after *width* bytes, with the mark of a line that goes on; 0 does not."""
    lines = data.split(b"\n")
    if not width:
        return data
    return b"\n".join(
        b"!\n".join(line[begin : begin + width] for begin in range(0, len(line), width)) for line in lines
    )


LOGS: Final = {"lsf": ("lsb.acct",), "condor": ("history", "history.815.0", "condor.jsonl")}


def changes(name: str) -> st.SearchStrategy[list[tuple[str, float, object]]]:
    """Return changes of a log, half of them made for its reader."""
    inserted = st.sampled_from([piece.encode() for piece in PIECES[name]])
    own = st.one_of(
        st.tuples(st.just("insert"), PLACES, inserted),
        st.tuples(st.just("replace"), PLACES, st.sampled_from((*PIECES[name], *VALUES))),
    )
    return st.lists(st.one_of(own, CHANGE), min_size=1, max_size=12)


def read(spec: ConverterSpec, path: Path) -> tuple[list[str], list[Reject], int, int]:
    """Return the rows, rejects, comments and total of a file."""
    source = Source(path)
    batches = [cast("Records", batch) for batch in find_reader(spec.reader)(source, spec.source_table)]
    source.close()
    return (
        [row for batch in batches for row in batch.rows],
        sorted((reject for batch in batches for reject in batch.rejects), key=lambda reject: reject.line),
        sum(batch.comments for batch in batches),
        sum(batch.total for batch in batches),
    )


def spec_of(sample: Path, name: str) -> ConverterSpec:
    return _parsed(f"{name}.sql", (sample.parent / "converters" / f"{name}.sql").read_text())[1]


@pytest.mark.parametrize(("name", "log"), [(name, log) for name, logs in LOGS.items() for log in logs])
def test_both_ways_read_the_same(name, log, sample, tmp_path):
    spec, good = spec_of(sample, name), (sample / name / log).read_bytes()
    path = tmp_path / "log"

    @settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
    @given(changes(name), st.sampled_from([0] * 9) | st.integers(300, 600))
    def compare(made, width):
        path.write_bytes(mutated(folded(good, width) if name == "lsf" else good, made))
        fast = read(spec, path)
        with pytest.MonkeyPatch.context() as patch:
            SLOW[name](patch)
            assert read(spec, path) == fast

    compare()
