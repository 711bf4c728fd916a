"""What holds for every converter, found by looking in ``converters/`` and ``sample_traces/``."""

import gzip
import random
from pathlib import Path

import pytest

import gwa
from gwa.convert import convert, converters, recognise
from gwa.errors import GwaError, UnknownFormat
from gwa.readers.head import Head

SAMPLES = Path(__file__).parent.parent / "sample_traces"
EVERY = pytest.mark.parametrize("one", converters(), ids=lambda one: one.name)


def sample_of(one):
    """Return the files that the sample of a converter consists of; the largest, which has the jobs, first."""
    folder = SAMPLES / one.name
    kept = {"expected.gwf", "system.toml", "README.md"}
    files = sorted(file for file in folder.iterdir() if file.name not in kept)
    return sorted(files, key=lambda file: file.stat().st_size, reverse=True)


CHEAP = (
    "overview",
    "utilization",
    "arrivals",
    "processors",
    "run-times",
    "memory",
    "waits",
    "outcomes",
    "users",
)


def facts_of(paths):
    """Return the facts of the sections that say most about the jobs themselves."""
    with gwa.open(paths) as trace:
        return {fact.id: fact.value for fact in trace.report(only=CHEAP).facts()}


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
            claimed = one.refuses(Head.of(path)) is None
            assert claimed == (one is other), f"{one.name} and {path.name}"


@EVERY
@pytest.mark.parametrize("name", ["plain", "log.txt"])
def test_is_recognised_by_content_whatever_the_name(one, name, tmp_path):
    copy = tmp_path / name
    copy.write_bytes(sample_of(one)[0].read_bytes())

    assert recognise(Head.of(copy)).name == one.name


@EVERY
def test_a_windows_copy_is_the_same_trace(one, tmp_path):
    copies = []
    for path in sample_of(one):
        copies.append(tmp_path / path.name)
        copies[-1].write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert facts_of(copies) == facts_of(sample_of(one))


@EVERY
def test_a_compressed_copy_is_the_same_trace(one, tmp_path):
    copies = []
    for path in sample_of(one):
        copies.append(tmp_path / f"{path.name}.gz")
        copies[-1].write_bytes(gzip.compress(path.read_bytes()))

    assert facts_of(copies) == facts_of(sample_of(one))


@EVERY
def test_a_truncated_last_line_costs_no_more_than_itself(one, tmp_path):
    (path, *_) = sample_of(one)
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes()[:-7])
    with gwa.open(copy) as cut, gwa.open(path) as whole:
        assert len(whole) - 1 <= len(cut) <= len(whole)
        assert cut.account.rejected <= 1


@EVERY
def test_an_empty_file_is_refused(one, tmp_path):
    empty = tmp_path / sample_of(one)[0].name
    empty.touch()

    with pytest.raises(UnknownFormat, match="is empty"):
        gwa.open(empty)
    with pytest.raises(GwaError):
        gwa.open(empty, format=one.name)


@EVERY
def test_the_order_of_lines_changes_no_fact(one, tmp_path):
    (path, *_) = sample_of(one)
    lines = path.read_text().splitlines(keepends=True)
    heading = [line for line in lines if line[0] in ";#"]
    rows = [line for line in lines if line[0] not in ";#"]
    random.Random(1).shuffle(rows)
    copy = tmp_path / path.name
    copy.write_text("".join(heading + rows))

    assert facts_of(copy) == facts_of(path)


@EVERY
def test_a_log_in_two_files_is_the_same_trace(one, tmp_path):
    (path, *_) = sample_of(one)
    lines = path.read_text().splitlines(keepends=True)
    halves = [tmp_path / f"a-{path.name}", tmp_path / f"b-{path.name}"]
    halves[0].write_text("".join(lines[: len(lines) // 2]))
    halves[1].write_text("".join(lines[len(lines) // 2 :]))

    assert facts_of(halves) == facts_of(path)
