"""What holds for every converter, found by looking in ``converters/`` and ``sample_traces/``."""

import gzip
import itertools
import json
import random
import re
import subprocess
import sys
from functools import cache
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gwa
from gwa.errors import GwaError, UnknownFormat
from gwa.formats.convert import convert
from gwa.formats.open import open_trace, recognise
from gwa.formats.registry import converters
from gwa.ingest.counting import NO_ZONE
from gwa.ingest.source.head import FileHead
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from tests.conftest import HOME, thinned
from tests.mutation import CHANGES, FEW, MANY, NAMES, TOKEN, VALUES, mutated, outcome

SAMPLES = HOME / "sample_traces"
EVERY = pytest.mark.parametrize("one", converters(), ids=lambda one: one.name)


def label(value):
    """Return what a parameter is called."""
    return getattr(value, "name", None) or (" ".join(value) if isinstance(value, tuple) else str(value))


def sample_of(one):
    """Return the files that the sample of a converter consists of; the largest, which has the jobs, first."""
    folder = SAMPLES / one.name
    kept = {"expected.gwf", "system.toml", "README.md"}
    files = sorted(file for file in folder.iterdir() if file.name not in kept)
    return sorted(files, key=lambda file: file.stat().st_size, reverse=True)


BLOCK = re.compile(r"(?m)^(?=Job Id: |={40,}$|\d{3} \(\d|APEL-|Job <\d)")
"""Where a record of several lines begins."""


def taken_apart(path):
    """Return the records of a file, and a function that puts some of them together to such a file."""
    text = path.read_text()
    if path.suffix == ".json" and text.count("\n{") == 0:
        document = json.loads(text)
        holder = document if isinstance(document, list) else max(document.values(), key=lambda x: len(str(x)))
        while isinstance(holder, dict) and len(holder) == 1:
            (holder,) = holder.values()
        if isinstance(holder, dict):
            return list(holder.items()), lambda rows: text_with(document, holder, dict(rows))
        return holder, lambda rows: text_with(document, holder, rows)
    if path.suffix == ".sql":
        pytest.skip("what the lines of a dump mean depends on those before")
    lines = BLOCK.split(text)[1:] if BLOCK.match(text) else text.splitlines(keepends=True)
    if path.parent.name in NAMED:
        return lines[1:], lambda rows: "".join([lines[0], *rows])
    return lines, "".join


NAMED = {"google2019-csv", "nextflow"}
"""Samples whose lines mean nothing without the first, which names the cells."""


def text_with(document, holder, rows):
    """Return the text of *document* with *rows* in the place of *holder*."""

    def changed(value):
        if value is holder:
            return rows
        return {key: changed(inner) for key, inner in value.items()} if isinstance(value, dict) else value

    return json.dumps(changed(document))


HELD = {"jobs", *Store.tables} - {"provenance", "sources", "rejects", "repairs"}
"""Tables without the names of files and the numbers of lines, of which the facts of a trace are made."""


class Held(NamedTuple):
    """The rows of a trace's tables; those in an order of their own are without the numbers of jobs."""

    rows: dict[str, list[Any]]
    in_any_order: dict[str, list[Any]]
    rejected: int


def held(*paths):
    """Return what a trace holds."""
    with gwa.open(paths) as trace:
        store, select = trace.store, "select columns(lambda name: name <> 'job_id') from {} order by all"
        return Held(
            {name: store.rows(f"from {name}") for name in HELD},
            {name: store.rows(select.format(name)) for name in HELD},
            trace.account.rejected,
        )


whole = cache(held)
"""What a sample as it is holds, which is compared with several copies."""


def body(text):
    """Return GWF text without the line that names the version of gwa."""
    return [line for line in text.splitlines() if not line.startswith("# Writer:")]


@EVERY
def test_has_a_sample_that_becomes_what_is_expected(one, tmp_path, request):
    convert(sample_of(one), tmp_path / "out.gwf")
    expected = SAMPLES / one.name / "expected.gwf"
    if request.config.getoption("--update-golden"):
        expected.write_bytes((tmp_path / "out.gwf").read_bytes())

    assert body((tmp_path / "out.gwf").read_text()) == body(expected.read_text())


@EVERY
def test_tells_where_its_mapping_comes_from(one):
    assert one.title
    assert len(one.notes.split()) > 10


@EVERY
def test_claims_its_own_sample_and_nobody_elses(one):
    for other in converters():
        for path in sample_of(other):
            claimed = one.mismatch(FileHead.of(path)) is None
            assert claimed == (one.name == other.name), f"{one.name} and {path.name}"


@EVERY
@pytest.mark.parametrize("name", ["plain", "log.txt"])
def test_is_recognised_by_content_whatever_the_name(one, name, tmp_path):
    copy = tmp_path / name
    copy.write_bytes(sample_of(one)[0].read_bytes())

    assert recognise(FileHead.of(copy)).name == one.name


@EVERY
def test_a_compressed_copy_of_windows_is_the_same_trace(one, tmp_path):
    copies = []
    for path in sample_of(one):
        copies.append(tmp_path / f"{path.name}.gz")
        copies[-1].write_bytes(gzip.compress(path.read_bytes().replace(b"\n", b"\r\n")))

    assert held(*copies) == whole(*sample_of(one))


@EVERY
def test_a_truncated_last_line_costs_no_more_than_itself(one, tmp_path):
    (path, *_) = sample_of(one)
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes()[:-7])
    jobs = len(whole(path).rows["jobs"])
    with gwa.open(copy) as cut:
        assert jobs - 1 <= len(cut) <= jobs
        assert cut.account.rejected <= whole(path).rejected + 1


@pytest.mark.parametrize(
    "name",
    [path.stem for path in sorted(HOME.glob("converters/*.sql")) if "local_seconds(" in path.read_text()],
)
def test_the_zone_of_local_times_can_be_stated(name):
    """As the note says that local times were taken as UTC."""
    (one,) = (one for one in converters() if one.name == name)
    options = ReadOptions(format_options={"zone": "Asia/Tokyo"})
    with open_trace(sample_of(one), name, options) as store:
        assert store.system.zone == "Asia/Tokyo"
        assert NO_ZONE not in {found for (found,) in store.rows("select name from repairs")}


@EVERY
def test_an_empty_file_is_refused(one, tmp_path):
    empty = tmp_path / sample_of(one)[0].name
    empty.touch()

    with pytest.raises(UnknownFormat, match="is empty"):
        gwa.open(empty)
    with pytest.raises(GwaError):
        gwa.open(empty, format=one.name)


@EVERY
def test_its_lines_in_any_order_in_two_files_are_the_same_trace(one, tmp_path):
    (path, *_) = sample_of(one)
    records, together = taken_apart(path)
    heading = [record for record in records if isinstance(record, str) and record[0] in ";#"]
    rows = [record for record in records if record not in heading]
    random.Random(1).shuffle(rows)
    copies = [tmp_path / f"a-{path.name}", tmp_path / f"b-{path.name}"]
    copies[0].write_text(together(heading + rows[: len(rows) // 2]))
    copies[1].write_text(together(rows[len(rows) // 2 :]))

    assert held(*copies).in_any_order == whole(path).in_any_order


# Whatever bytes come in.


def copies_of(one, folder):
    """Return the bytes of a converter's sample by where a copy of each of its files may be written."""
    return {folder / path.name: path.read_bytes() for path in sample_of(one)}


def judged(name, files):
    """Write *files*, bytes by their paths, and read them as one trace of the format *name*."""
    for path, data in files.items():
        path.write_bytes(data)
    outcome(name, *files)


@EVERY
@given(changes=CHANGES, chosen=st.integers(0, 9))
@FEW
def test_any_change_is_accounted_for(one, changes, chosen, tmp_path):
    files = copies_of(one, tmp_path)
    path = list(files)[chosen % len(files)]
    judged(one.name, files | {path: mutated(files[path], changes)})


@pytest.mark.slow
@EVERY
@given(changes=CHANGES, chosen=st.integers(0, 9), name=st.booleans())
@MANY
def test_many_changes_are_accounted_for(one, changes, chosen, name, tmp_path):
    files = copies_of(one, tmp_path)
    path = list(files)[chosen % len(files)]
    judged(one.name if name else None, files | {path: mutated(files[path], changes)})


@pytest.mark.parametrize(("one", "first"), thinned(converters(), range(7)), ids=label)
def test_hostile_values_in_every_seventh_cell_are_accounted_for(one, first, tmp_path):
    values = itertools.cycle([*NAMES, *VALUES])
    count = itertools.count(first)

    def replaced(cell):
        return cell[0] if next(count) % 7 else next(values).encode()

    files = copies_of(one, tmp_path)
    judged(one.name, {path: TOKEN.sub(replaced, data) for path, data in files.items()})


BLOCKS = {
    "a line of megabytes": b"x" * (1 << 21) + b"\n",
    "zeros": b"\x00" * (1 << 21),
    "blank lines": b"\n" * (1 << 16),
    "no text": bytes(range(256)) * 64,
    "open brackets": b"<a>{[(" * (1 << 15) + b"\n",
    "quotes": b'"' * 100_001 + b"\n",
}


@pytest.mark.parametrize(
    ("one", "kinds"),
    thinned(
        converters(),
        [tuple(BLOCKS), *((kind,) for kind in BLOCKS)],
        kept=lambda _, kinds: len(kinds) > 1,
    ),
    ids=label,
)
def test_a_flood_of_anything_is_accounted_for(one, kinds, tmp_path):
    files = copies_of(one, tmp_path)
    for path, data in files.items():
        files[path] = data + b"".join(BLOCKS[kind] + data for kind in kinds)
    judged(one.name, files)


MEASURED = r"""
import re, sys
from pathlib import Path
from tests.mutation import outcome
print(outcome(sys.argv[1], *map(Path, sys.argv[2:])))
# Unlike what getrusage tells, this is of the program alone, not of the process that it was forked from.
print(int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) >> 10)
"""
"""A program of its own, whose peak of memory is its own, too."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind", "times"),
    [
        *((name, "x", 1 << 10) for name in ("swf", "usagerecord", "condor", "google2019")),
        ("swf", "\0", 10 << 10),
    ],
    ids=lambda value: str(value) if value != "\0" else "zeros",
)
def test_a_bomb_takes_bounded_memory(name, kind, times, tmp_path):
    (one,) = (one for one in converters() if one.name == name)
    files = copies_of(one, tmp_path)
    (path, data), *_ = files.items()
    megabyte = kind.encode() * (1 << 20)
    packed = gzip.compress(data) + gzip.compress(megabyte) * times + gzip.compress(b"\n" + data)
    path = path.with_name(f"{path.name}.gz")
    path.write_bytes(packed)
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, name, path], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    account, peak = done.stdout.splitlines()
    assert account.startswith("Account(")
    assert "rejected=0" not in account
    assert int(peak) < 700


@pytest.mark.parametrize(
    ("log", "block"),
    [
        ("condor/[ch]*", "gwa.ingest.readers.classads.RECORD_BLOCK_SIZE"),
        ("lsf/lsb.acct", "gwa.ingest.batch.RECORD_BLOCK_SIZE"),
        ("pbs/20250310", "gwa.ingest.batch.RECORD_BLOCK_SIZE"),
        ("sge/accounting", "gwa.store.engines.config.LARGE_BLOCK"),
        ("slurm/sacct-*", "gwa.store.engines.config.LARGE_BLOCK"),
    ],
)
def test_a_log_of_several_parts_is_read_as_one(log, block, sample, monkeypatch):
    paths = sorted(sample.glob(log))
    whole = [open_trace([path]) for path in paths]
    monkeypatch.setattr(block, 1)
    monkeypatch.setattr("gwa.ingest.source.lines.CHUNK_SIZE", 1)
    assert paths
    for path, store in zip(paths, whole, strict=True):
        with store, open_trace([path]) as parts:
            assert parts.rows("from jobs order by all") == store.rows("from jobs order by all")
            assert parts.account == store.account
