"""The scorecard: perfect for the trace itself, in words for what cannot be measured, and a command."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from gwa.errors import TraceError
from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.measure import Aspect, measures
from gwa.evaluation.scorecard import CLOSE, EQUAL, MISSING, NOISE, OFF, UNKNOWN, Floor, Reference, ScoreLine
from gwa.report.as_json import plain
from tests.program import invoke as run


def jobs(size=2000, seed=1, mean=100.0, weeks=6):
    rng = np.random.default_rng(seed)
    submit = np.sort(rng.integers(0, weeks * 604_800, size)).astype(float)
    run = np.rint(rng.exponential(mean, size))
    return JobArrays(submit, run, rng.integers(1, 9, size), run + 60, rng.integers(0, 20, size), 16)


def test_a_workload_is_equal_to_itself_and_says_so():
    found = Reference.of(jobs()).score(jobs())

    assert {line.verdict for line in found.lines} == {EQUAL}
    assert {line.distance for line in found.lines} == {0.0}
    assert "the trace itself, or a copy" in found.summary()


def test_another_draw_of_the_same_process_is_mostly_noise_and_another_process_is_off():
    reference = Reference.of(jobs())
    same, other = reference.score(jobs(seed=2)), reference.score(jobs(seed=2, mean=3000.0))

    assert same.counts()[OFF] <= 3
    verdicts = {line.measure.id: line.verdict for line in other.lines}
    assert verdicts["run-time"] == verdicts["squashed-area"] == OFF
    assert verdicts["size"] in {NOISE, CLOSE}


def test_what_only_real_jobs_have_is_missing():
    bare = replace(jobs(seed=2), user=np.full(2000, -1))
    lacking = {one.measure.aspect for one in Reference.of(jobs()).score(bare).lines if one.verdict == MISSING}
    unknown = {one.measure.aspect for one in Reference.of(bare).score(jobs()).lines if one.verdict == UNKNOWN}

    assert lacking == unknown == {Aspect.BAGS, Aspect.USERS}


@pytest.mark.parametrize("size", [1, 2, 5])
def test_few_jobs_have_notes_and_no_verdicts(size):
    found = Reference.of(jobs(size, weeks=0.001)).score(jobs())

    assert any("too short" in note for note in found.notes)
    assert {line.verdict for line in found.lines} - {UNKNOWN, OFF, NOISE, CLOSE} <= {MISSING}
    json.dumps([plain(block) for block in found.blocks()], allow_nan=False)


def test_verdicts_are_multiples_of_the_floor():
    measure = next(one for one in measures() if one.id == "pearson")
    floors = {height: Floor(height, 0.0, orderly=False) for height in (0.3, 0.15, 0.14)}
    found = [ScoreLine(measure, 0.0, 0.3, floor).verdict for floor in floors.values()]

    assert found == [NOISE, CLOSE, OFF]
    assert Floor(0.1, 0.2, orderly=False).height == 0.2
    assert Floor(0.1, 0.2, orderly=True).height == 0.1
    assert Floor(None, 0.2, orderly=True).height is None


def test_scores_do_not_depend_on_the_system_of_the_synthetic_trace():
    reference = Reference.of(jobs())
    one, other = reference.score(jobs(seed=2)), reference.score(jobs(seed=2).with_cpus(1000))

    assert [line.distance for line in one.lines] == [line.distance for line in other.lines]


def test_the_command_prints_every_measure(tmp_path, sample):
    tiny, made = sample / "swf" / "tiny.swf", tmp_path / "x.swf"
    assert run("model", "generate", "lublin", "--jobs", 500, "--seed", 1, "-o", made).exit_code == 0
    as_json, piped = run("model", "score", tiny, made, "--json"), run("model", "score", tiny, tiny)

    said = json.loads(as_json.stdout)
    assert len(said) == len(measures()) + 5 + 2
    assert [one["measure"] for one in said if one["aspect"] == "Memory"] == [
        "Rows that the log has, too", "Distance to the closest record",
    ]  # fmt: skip
    assert {one["verdict"] for one in said} >= {MISSING, OFF}
    assert "days in turns" in as_json.stderr
    rows = list(csv.DictReader(piped.stdout.splitlines()))
    assert {one["verdict"] for one in rows if one["aspect"] != "Memory"} <= {EQUAL, UNKNOWN}
    assert {one["distance"] for one in rows if one["aspect"] == "Queues"} == {"0"}
    assert next(one["verdict"] for one in rows if one["aspect"] == "Memory") == OFF, "it is a copy"
    assert "the trace itself" in piped.stderr


def test_a_trace_in_which_nothing_ran_is_refused_in_words(tmp_path, sample):
    idle = tmp_path / "idle.swf"
    idle.write_text("1 0 -1 -1 -1 -1 -1 1 -1 -1 5 1 1 -1 -1 -1 -1 -1\n")
    done = run("model", "score", sample / "swf" / "tiny.swf", idle)

    assert isinstance(done.exception, TraceError)
    assert str(done.exception).endswith("no job ran at a known time, expected a workload")
