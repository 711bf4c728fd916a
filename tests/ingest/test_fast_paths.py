"""Records that a reader takes at once are those that it would put together piece by piece."""

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gwa.formats.definition import parse_definition
from gwa.ingest.batch import find_reader
from gwa.ingest.bulk_insert import MISSING_CELL
from gwa.ingest.pieces import TablePieces
from gwa.ingest.readers.classads.plain import FoundAds
from gwa.ingest.readers.classads.values import resolve
from gwa.ingest.source.compressed import Source
from gwa.ingest.source.lines import CHUNK_SIZE, Reject
from gwa.ingest.spec import ConverterSpec
from tests.mutation import CHANGE, PLACES, VALUES, mutated

DATABASE: Final = duckdb.connect()
"""Takes longer to open than a log of these to read."""

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
        "²", "+5", "1e5", "1.", "1..", "1.2.3", "9" * 30, "TRUE", "undefined", "é", "\x1e", "\x1f", "\x7f",
        '\nEpochAdType = "INPUT"\n', '\nEpochAdType = "EPOCH"\n', "\n***", "\n\n", "\nQDate = 5\n***\n",
        "\nRequestDisk = ImageSize\nImageSize = DiskUsage\nDiskUsage = ClusterId\n",
        f"\nRequestDisk = {'x' * 300}\n", f"\nOwner = \"{'x' * 300}\"\n", '\nOwner = ""\n', '\nOwner = "\n',
    ),
    "pbs": (
        ";", "=", " ", "  ", "\t", "\x0b", "\x1c", "\x7f", "\x85", "\u00a0", "\n", "\n\n", '"', "'", '="',
        " a='b c' ",
        " user=", " user=ann user=bob", " USER=eve", " re.source_list_mem=7kb", " =5", " a=b=c", " =", "= ",
        f" {'k' * 300}=1", " ké=1", "٣", "é", "\x1e", "\x1f", ";E", ";E;", ";L;", ";Q;", "E;7.server",
        "03/10/2025 10:00:00;E;7.server;", "\n03/10/2025 10:00:00;L;license;floating license hour:3",
        "\n03/10/2025 10:00:00;Q;8.server;queue=a", "03/10/2025 10:00:00;E",
        "\n03/10/2025 1٣:00:00;E;9.server;",
    ),
}  # fmt: skip
"""What means something to a reader where it stands between other things."""


def line_by_line(patch: pytest.MonkeyPatch) -> None:
    """Let no ad and no assignment be plain."""
    ads = f"{READERS}.classads._Ads"
    patch.setattr(f"{READERS}.classads.PlainAds.read", lambda _, block, **__: FoundAds.none_in(block))
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
    "pbs": lambda patch: patch.setattr(f"{READERS}.keyed.FIXED_FIELDS", re.compile("(?!)")),
}
"""Leaves all records of a converter's files to the slow way."""


SIZES_OF_BLOCKS: Final = (
    "gwa.ingest.source.lines.CHUNK_SIZE",
    "gwa.ingest.text_columns.BLOCK_SIZE",
    f"{READERS}.classads.BLOCK_SIZE",
)


def folded(data: bytes, width: int) -> bytes:
    """Break lines of an lsb.acct after *width* bytes, with the mark of a line that goes on; 0 does not."""
    lines = data.split(b"\n")
    if not width:
        return data
    return b"\n".join(
        b"!\n".join(line[begin : begin + width] for begin in range(0, len(line), width)) for line in lines
    )


LOGS: Final = {
    "lsf": ("lsb.acct",),
    "condor": ("history", "history.815.0", "condor.jsonl"),
    "pbs": ("20250310",),
}


def changes(name: str) -> st.SearchStrategy[list[tuple[str, float, object]]]:
    """Return changes of a log, half of them made for its reader."""
    inserted = st.sampled_from([piece.encode() for piece in PIECES[name]])
    own = st.one_of(
        st.tuples(st.just("insert"), PLACES, inserted),
        st.tuples(st.just("replace"), PLACES, st.sampled_from((*PIECES[name], *VALUES))),
    )
    return st.lists(st.one_of(own, CHANGE), min_size=1, max_size=12)


def read(spec: ConverterSpec, path: Path) -> tuple[list[tuple[Any, ...]], list[Reject], int, int]:
    """Return the rows, rejects, comments and total of a file."""
    source, pieces = Source(path), TablePieces(DATABASE, spec.source_table, "source")
    batches = list(find_reader(spec.reader)(source, spec.source_table))
    for batch in batches:
        batch.load(pieces, path.parent)
    rows = DATABASE.execute("from source").fetchall()
    pieces.clear()
    source.close()
    return (
        rows,
        sorted((reject for batch in batches for reject in batch.rejects), key=lambda reject: reject.line),
        sum(batch.comments for batch in batches),
        sum(batch.total for batch in batches),
    )


def spec_of(sample: Path, name: str) -> ConverterSpec:
    """Return how a converter reads its logs, as texts alone: casts would hide differences."""
    spec = parse_definition(f"{name}.sql", (sample.parent / "converters" / f"{name}.sql").read_text())[1]
    columns = dict.fromkeys(spec.source_table.columns, "varchar")
    return replace(spec, source_table=replace(spec.source_table, columns=columns))


@pytest.mark.parametrize(("name", "log"), [(name, log) for name, logs in LOGS.items() for log in logs])
def test_both_ways_read_the_same(name, log, sample, tmp_path):
    spec, good = spec_of(sample, name), (sample / name / log).read_bytes()
    path = tmp_path / "log"

    @settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        changes(name),
        st.sampled_from([0] * 9) | st.integers(300, 600),
        st.sampled_from((CHUNK_SIZE, 700)),
    )
    def compare(made, width, chunk_size):
        path.write_bytes(mutated(folded(good, width) if name == "lsf" else good, made))
        with pytest.MonkeyPatch.context() as patch:
            # Records go on in the next block.
            for size in SIZES_OF_BLOCKS:
                patch.setattr(size, chunk_size)
            fast = read(spec, path)
            SLOW[name](patch)
            assert read(spec, path) == fast

    compare()


def test_keys_beyond_those_remembered_are_read_all_the_same(sample, tmp_path):
    spec, path = spec_of(sample, "pbs"), tmp_path / "log"
    records = [f"03/10/2025 10:00:00;E;{n}.server;key{'x' * (n % 50)}{n}=1 key{n}=2" for n in range(900)]
    path.write_text(
        "\n".join([*records, "03/10/2025 10:00:00;E;900.server;user=ann", "03/10/2025 10:00:00;Q;9;"])
    )
    names = list(spec.source_table.columns)
    assert read(spec, path)[0][900][names.index("user_")] == "ann"


@pytest.mark.parametrize(
    "log", ["sge/accounting", "slurm/sacct-2024.txt", "slurm-json/jobs.json", "pbs/20250310"]
)
def test_no_log_needs_pandas(log, sample, tmp_path):
    code = (
        f"import sys; from gwa.cli import gwa; gwa.main(['convert', {str(sample / log)!r}, '-o', 'x.duckdb'],"
        " standalone_mode=False); print('pandas' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr.split()[-1] == "False"


def test_summaries_of_jobs_need_no_pandas():
    code = (
        "import sys, pyarrow as pa; from gwa.ingest.jobstats import _texts;"
        " print(_texts(pa.lib.StringBuilder().finish()).to_pylist(), 'pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "False"]


def test_ads_of_a_good_log_are_plain(sample, tmp_path, monkeypatch):
    """Only those at the borders of blocks are put together line by line."""
    ad = (
        "ClusterId = {0}\nProcId = 0\nRemoteUserCpu = {0}.5\nRequestDisk = DiskUsage\nDiskUsage = 7\n"
        'ExitBySignal = FALSE\nCmd = "/bin/{1}"\nArgs = ifThenElse(x, y, {0})\n'
    )
    path, taken = tmp_path / "history", list[int]()
    path.write_text("*** Offset = 0\n".join(ad.format(number, "a" * 200) for number in range(9000)))
    ads = "gwa.ingest.readers.classads._Ads"
    monkeypatch.setattr(f"{ads}.take", lambda *line: taken.append(line[1]))
    rows = read(spec_of(sample, "condor"), path)[0]
    assert len(taken) < 60
    assert len(rows) > 8990
