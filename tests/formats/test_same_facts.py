"""One log tells the same facts from every kind of store, or says that it does not know."""

import random
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

import gwa
from gwa.cli import gwa as command
from gwa.formats.convert import convert
from gwa.formats.registry import converters
from gwa.metrics.quality import problems
from tests.converters.test_every_converter import sample_of

STORES = ("parquet", "sqlite", "gwf")

LOST = (
    "capacity.missing",
    "capacity.outages",
    "capacity.silent",
    "capacity.still",
    "capacity.unaccounted_seconds",
    "stretches",
    "utilization.known_",
    "gpu.known_",
    "nodes.known_",
)
"""What cannot be told of a log with silences where its own job numbers are lost."""


def assert_same_facts(sources, folder, *, every=False):
    """Compare the facts of all stores with those of the first; return which are unknown in GWF only."""
    store = folder / "log.duckdb"
    convert(sources, store)
    one = facts(store, every=every)
    lost = set()
    for kind in STORES:
        other = folder / f"log.{kind}"
        convert([store], other)
        several = facts(other, every=every)
        assert several.keys() == one.keys()
        differing = {name for name in one if several[name] != one[name]}
        assert {name: (one[name], several[name]) for name in differing if several[name] is not None} == {}
        assert kind == "gwf" or not differing
        lost |= differing
    assert {name for name in lost if not name.startswith(LOST)} == set()
    return lost, one


def facts(path, *, every=False):
    with gwa.open(path, threads=2) as trace:
        return trace.facts(every=every)


def hole(path):
    """Write a log of Slurm that has lost ten days of its rows, as its job numbers show."""
    chance, time = random.Random(5), 1_740_000_000
    rows = ["JobID|User|Submit|Start|End|Elapsed|State|AllocCPUS|NNodes"]
    for number in range(1, 3000):
        time += chance.randrange(60, 1200)
        if 1500 <= number < 2500:
            continue
        start, end = time + chance.randrange(30), time + chance.randrange(60, 9000)
        times = "|".join(map(stamp, (time, start, end)))
        rows.append(f"{number}|u{chance.randrange(9)}|{times}|{end - start}|COMPLETED|2|1")
    path.write_text("\n".join(rows) + "\n")
    return path


def stamp(seconds):
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


def test_a_log_with_missing_rows_tells_the_same_or_nothing(tmp_path):
    lost, one = assert_same_facts([hole(tmp_path / "log.sacct")], tmp_path)

    assert one["capacity.missing.count"] == 1
    assert {"capacity.missing.count", "stretches", "utilization.known_busy"} <= lost
    with gwa.open(tmp_path / "log.gwf") as trace:
        warned = {str(problem.name): str(problem.meaning) for problem in problems(trace.store)}
    assert warned["gaps"].endswith("rows may be missing")


def test_converting_says_that_job_numbers_of_the_source_are_lost(tmp_path):
    log = hole(tmp_path / "log.sacct")
    for name, is_lost in (("out.gwf", True), ("out.swf", True), ("out.parquet", False)):
        done = CliRunner().invoke(command, ["convert", str(log), "-o", str(tmp_path / name)])
        assert done.exit_code == 0, done.output
        assert ("holds no job numbers of the source" in done.output) == is_lost


@pytest.mark.slow
@pytest.mark.parametrize("one", converters(), ids=lambda one: one.name)
def test_a_sample_of_each_format_tells_the_same_or_nothing(one, tmp_path):
    assert_same_facts(sample_of(one), tmp_path, every=True)


@pytest.mark.slow
def test_what_holds_gpus_and_nodes_tells_the_same_or_nothing(slurm_sample, tmp_path):
    lost, _ = assert_same_facts([slurm_sample], tmp_path)

    assert {"gpu.known_busy", "nodes.known_busy"} <= lost
