"""Several tables at once: seeds of one generator, baselines of the log, and tables of other programs."""

import csv
import json

import numpy as np
import pytest

import gwa
from gwa.evaluation.holdout import HALVES, held_out_half
from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.rivals import COLUMNS, OTHER_HALF, RESAMPLED, TRAINING, Contest, by_generator
from gwa.evaluation.scorecard import Reference
from tests.evaluation.test_scorecard import jobs
from tests.program import invoke as run


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Return a folder with a log, its halves, tables made from one of them, and one of another program."""
    folder = tmp_path_factory.mktemp("rivals")
    assert (
        run("model", "generate", "lublin", "--days", 60, "--seed", 9, "-o", folder / "log.swf").exit_code == 0
    )
    assert run("model", "split", folder / "log.swf", "-o", folder / "halves").exit_code == 0
    for preset in ("lublin", "copula-nasa"):
        for seed in (1, 2):
            out = folder / f"{preset}-{seed}.gwf"
            done = run("model", "generate", preset, "--jobs", 300, "--seed", seed + 6, "-o", out)
            assert done.exit_code == 0
    rows = [f"{60 * n},{n % 50},{n % 4 + 1}" for n in range(300)]
    (folder / "foreign.csv").write_text("\n".join(["submit_time_s,run_time_s,n_procs", *rows]) + "\n")
    return folder


def test_halves_are_those_that_models_are_ranked_by(tables):
    with gwa.open(tables / "log.swf") as log:
        expected = [held_out_half(log.store, half) for half in reversed(HALVES)]
    for name, half in zip(HALVES, expected, strict=True):
        with gwa.open(tables / "halves" / f"{name}.gwf") as trace:
            found = JobArrays.of(trace.store)
        assert np.array_equal(found.run, half.run)
        assert np.array_equal(np.diff(found.submit), np.diff(half.submit))


def test_a_row_for_each_generator_with_its_seeds_and_the_log_last(tables):
    made = [tables / f"{name}.gwf" for name in ("lublin-1", "lublin-2", "copula-nasa-1", "copula-nasa-2")]
    words = ("model", "score", tables / "log.swf", *made, tables / "foreign.csv")
    said, piped = run(*words, "--json"), run(*words)
    rows = json.loads(said.stdout)

    assert [row["made"] for row in rows[3:]] == [OTHER_HALF, RESAMPLED]
    assert {row["made"]: row["seeds"] for row in rows[:3]} == {
        "lublin": "7 8", "copula-nasa": "7 8", "foreign": "",
    }  # fmt: skip
    assert [row["floors"] for row in rows[:3]] == sorted(row["floors"] for row in rows[:3])
    assert rows[0]["made"] == "lublin", "it made the log"
    assert list(rows[0]) == [column.key for column in COLUMNS]
    assert [row["made"] for row in csv.DictReader(piped.stdout.splitlines())] == [row["made"] for row in rows]
    assert all(row["nearer"] is None for row in rows), "what they were made from is not known"
    assert rows[3]["copied"] == pytest.approx(rows[3]["copied_expected"])


def test_what_jobs_were_made_from_stands_beside_them(tables):
    halves, made = tables / "halves", [tables / "lublin-1.gwf", tables / "foreign.csv"]
    words = ("model", "score", halves / "second.gwf", *made, "--trained-on", halves / "first.gwf", "--json")
    rows = {row["made"]: row for row in json.loads(run(*words).stdout)}

    assert list(rows)[2:] == [TRAINING, RESAMPLED]
    assert rows[TRAINING]["copied"] == 1.0
    assert rows[TRAINING]["nearer"] > 0.6 > rows["lublin-1"]["nearer"] > 0.4


def test_a_row_is_that_of_scorecards_in_the_mean():
    real, several = jobs(), [jobs(seed=2), jobs(seed=3)]
    found = Contest(real).rival("one", [("1", several[0]), ("2", several[1])])
    cards = [Reference.of(real).score(each) for each in several]
    row = dict(zip([column.key for column in COLUMNS], found.row(), strict=True))

    assert row["floors"] == pytest.approx(np.mean([card.floors() for card in cards]))
    assert row["deviation"] == pytest.approx(np.std([card.floors() for card in cards]))
    counted = [card.counts() for card in cards]
    assert np.sum([row[name] for name in ("within", "near", "off", "missing")]) == pytest.approx(
        np.mean([sum(count.values()) - count["not measured"] for count in counted])
    )
    assert (row["seeds"], row["jobs"]) == ("1 2", 2000)


def test_a_short_log_has_no_other_half_and_says_so():
    found = Contest(jobs(50, weeks=0.001))

    assert [one.name for one in found.baselines()] == [RESAMPLED]
    assert found.memory(jobs()) is None
    rows = found.rows(found.card(jobs()), jobs(), found.queues([jobs()]))
    assert [row[2] for row in rows][-2:] == ["not measured"] * 2


def test_a_number_at_the_end_of_one_name_alone_is_part_of_it():
    assert by_generator([("minh-2009", ""), ("lublin", "3")]) == {
        "minh-2009": [(0, "")],
        "lublin": [(1, "3")],
    }
