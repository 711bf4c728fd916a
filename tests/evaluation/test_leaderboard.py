"""The leaderboard: what is held out, how ranks come about, and the command."""

import csv
import json
import math
from statistics import fmean, stdev
from typing import cast

import numpy as np
import pytest
from click.testing import CliRunner

import gwa
from gwa.cli import gwa as command
from gwa.errors import TraceError
from gwa.evaluation.holdout import HALVES, held_out_half, training_half
from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.leaderboard import REPLAY, LeaderboardEntry, LeaderboardResults, compete
from gwa.evaluation.measure import Aspect, measures
from gwa.evaluation.queues.card import HEADLINES, QueueReference
from gwa.evaluation.standings import COLUMNS, MORE, Standings
from gwa.report.document import FactTable, Table

IDS = [one.id for one in measures()]
CASES = [("a", "first"), ("a", "second")]


def entries(model, distances, seeds=2):
    return [LeaderboardEntry(case, model, seed, distances) for case in CASES for seed in range(1, seeds + 1)]


def standings(*several, floor=0.5):
    floors = {case: dict.fromkeys(IDS, floor) for case in CASES}
    return Standings(LeaderboardResults(tuple(one for each in several for one in each), floors, ("a note",)))


@pytest.fixture
def tiny(sample):
    with gwa.open(sample / "swf" / "tiny.swf") as trace:
        yield trace.store


@pytest.mark.parametrize("half", HALVES)
def test_training_and_held_out_jobs_are_those_of_whole_days_once(tiny, half):
    whole, (rest,) = JobArrays.of(tiny), set(HALVES) - {half}
    with training_half(tiny, half) as store:
        known, other = JobArrays.of(store), held_out_half(tiny, half)

        assert store.account.jobs == len(known)
        assert store.system.cpus == tiny.system.cpus
    both = np.sort(np.append(known.submit, other.submit))
    begin, end = np.ceil(whole.submit[0] / 86400), np.floor(whole.submit[-1] / 86400)
    days = 2 * ((end - begin) // 2)
    kept = (whole.submit >= begin * 86400) & (whole.submit < (begin + days) * 86400)
    assert np.array_equal(both, whole.submit[kept])
    assert (known.submit.max() < other.submit.min()) == (half == HALVES[0])
    assert np.array_equal(known.submit, held_out_half(tiny, rest).submit)
    assert np.array_equal(known.run, held_out_half(tiny, rest).run)


def test_what_is_too_short_is_refused(make_store):
    store = make_store(submit_time=[1.0, 2.0], run_time=[1.0, 2.0], n_procs=[1, 1])

    for ask in (training_half, held_out_half):
        with pytest.raises(TraceError, match="too short"):
            ask(store, HALVES[0])
    with pytest.raises(TraceError, match="too short"):
        training_half(make_store(run_time=[1.0]), HALVES[1])


def test_ranks_are_the_order_of_distances():
    near, far = dict.fromkeys(IDS, 0.1), dict.fromkeys(IDS, 0.9)
    found = standings(entries("far", far), entries("near", near), entries(REPLAY, near))

    assert found.order == ["near", "far"]
    assert found.rank("near")[0] == 1.0
    assert found.by_aspect("far") == [2.0] * len(Aspect)
    assert [row[0] for row in found.rows()] == ["near", "far", REPLAY]
    assert (found.noise_floors("near"), found.noise_floors("far")) == (0.2, 1.8)
    assert found.rows()[-1][1] is None


def test_an_aspect_counts_once_however_many_measures_it_has():
    users = {one.id for one in measures() if one.aspect is Aspect.USERS}
    good_at_users = {name: 0.0 if name in users else 0.9 for name in IDS}
    good_at_rest = {name: 0.9 if name in users else 0.0 for name in IDS}
    found = standings(entries("users", good_at_users), entries("rest", good_at_rest))

    assert found.rank("users")[0] == pytest.approx((1 + 2 * (len(Aspect) - 1)) / len(Aspect))
    assert found.rank("rest")[0] == pytest.approx((2 + 1 * (len(Aspect) - 1)) / len(Aspect))


def test_who_makes_nothing_is_last_and_equals_share_a_rank():
    some = dict.fromkeys(IDS, 0.9)
    found = standings(entries("none", {}), entries("one", some), entries("other", some))

    assert [found.rank(name)[0] for name in ("one", "other", "none")] == [1.5, 1.5, 3.0]
    assert found.noise_floors("none") == np.inf
    json.dumps(found.rows(), allow_nan=False)
    json.dumps(found.details(), allow_nan=False)


def test_where_halves_are_no_distance_apart_none_is_within_noise_and_any_is_off():
    """Nobody waits on a system that is large enough, in either half."""
    none = standings(
        entries("same", dict.fromkeys(IDS, 0.0)), entries("off", dict.fromkeys(IDS, 0.1)), floor=0.0
    )

    assert (none.noise_floors("same"), none.noise_floors("off")) == (1.0, np.inf)


def test_what_the_real_jobs_do_not_tell_does_not_count():
    known = {"run-time"}
    found = standings(entries("one", dict.fromkeys(IDS, 0.1)), entries("two", dict.fromkeys(IDS, 0.2)))
    floors = {case: {name: 0.5 if name in known else None for name in IDS} for case in CASES}
    found = Standings(LeaderboardResults(found.results.entries, floors, ()))

    assert found.rank("two") == (2.0, 0.0)
    assert {row[4] for row in found.details()} == known


def test_a_seed_more_is_an_entry_more(tiny):
    results = compete([("tiny", tiny)], ["dacosta"], 2)
    models = {(one.case, one.model, one.seed) for one in results.entries}

    assert len(models) == len(results.entries) == 2 * 2 * 3
    assert set(results.floors) == set(results.queues) == {("tiny", "first"), ("tiny", "second")}
    found = Standings(results)
    assert found.order == ["dacosta"]
    assert found.noise_floors(REPLAY) < found.noise_floors("dacosta")


def test_a_model_that_cannot_be_fitted_has_a_note(make_store):
    rng = np.random.default_rng(1)
    submit = np.sort(rng.integers(0, 8 * 86400, 120)).astype(float).tolist()
    few = make_store(submit_time=submit, run_time=rng.integers(1, 99, 120).astype(float).tolist(),
                     n_procs=[1] * 120)  # fmt: skip
    results = compete([("few", few)], ["dacosta"], 1)

    assert len(results.notes) == 2
    assert all("expected at least 100" in note for note in results.notes)
    assert [one.distances for one in results.entries if one.model == "dacosta"] == [{}, {}]


def test_the_command_prints_and_draws(sample, tmp_path):
    words = ["model", "rank", str(sample / "swf" / "tiny.swf"), "--models", "dacosta", "--seeds", "1"]
    done = CliRunner().invoke(command, [*words, "-o", str(tmp_path)])
    rows = list(csv.DictReader(done.stdout.splitlines()))

    assert done.exit_code == 0
    assert rows[0]["model"] == "dacosta"
    assert "tiny: 0 of 6" in done.stderr.splitlines(), "long work says how far it is"
    assert 'style="--shade' not in (tmp_path / "leaderboard.html").read_text(), "one model is not compared"
    wrong = CliRunner().invoke(command, [*words[:3], "--models", "nix"])
    assert (wrong.exit_code, "there is no model 'nix'" in wrong.stderr) == (2, True)


def test_models_whose_ranks_look_the_same_share_a_place_and_the_best_is_darkest():
    ids = [measure.id for measure in measures()]
    near, far = (dict.fromkeys(ids, distance) for distance in (0.1, 0.5))
    found = standings(entries("one", near), entries("two", near), entries("three", far))
    (table,) = found.report().section("ranks").blocks

    assert found.places == [("1–2", ["one", "two"]), ("3", ["three"])]
    assert isinstance(table, FactTable)
    assert table.darkest == "least"
    assert [name for name, _ in table.rows] == ["1–2. one, two", "3. three"]


def test_those_that_share_the_first_place_are_all_named_the_best():
    """Of equals the first by name was "the best", and the other one "the next"."""
    near, far = (dict.fromkeys(IDS, distance) for distance in (0.1, 0.5))
    tied = standings(entries("one", near), entries("two", near), entries("three", far))
    same = standings(entries("one", near), entries("two", near))

    assert tied.report().answer.startswith(
        "one and two reproduce held-out weeks best of 3 models, and equally"
    )
    assert "that of three, the next, " in tied.report().answer
    assert same.report().answer == "All 2 models reproduce held-out weeks equally well."


@pytest.mark.parametrize(
    ("distances", "says"),
    [
        ([(0.1, 0.5)], "from one seed, so that it is not known how much seeds vary"),
        ([(0.1, 0.5), (0.1, 0.5)], "which is more than seeds vary"),
        ([(0.1, 0.5), (0.5, 0.1), (0.1, 0.5)], "which is no more than seeds vary"),
    ],
)
def test_how_much_seeds_vary_is_told_of_several_only(distances, says):
    """One seed does not vary, which is not a deviation of 0."""
    made = [
        LeaderboardEntry(case, name, seed, dict.fromkeys(IDS, distance))
        for case in CASES
        for seed, pair in enumerate(distances, 1)
        for name, distance in zip(("one", "two"), pair, strict=True)
    ]
    found = standings(made)

    assert says in found.report().answer
    assert np.isnan(found.rank("one")[1]) == (len(distances) == 1)


def test_the_answer_says_how_far_the_best_is_and_no_number_stands_twice():
    near, far = (dict.fromkeys(IDS, distance) for distance in (0.1, 0.9))
    found = standings(entries("far", far), entries("near", near))
    page = found.report()

    assert "near is 0.20 noise floors from them" in page.answer
    columns = cast("Table", page.table("leaderboard")).columns
    assert {column.key for column in columns if not column.minor} == set(MORE)
    assert not {"rank", "common", "users"} & set(MORE)


def test_who_lacks_a_field_is_last_there_but_not_on_common_measures():
    users = {one.id for one in measures() if one.aspect is Aspect.USERS}
    without = {name: 0.1 for name in IDS if name not in users}
    found = standings(
        entries("without", without), entries("with", dict.fromkeys(IDS, 0.2)), entries("unfit", {})
    )

    assert found.rank("without")[0] == pytest.approx((len(Aspect) - 1 + 2.5) / len(Aspect))
    assert [found.common_rank(name) for name in ("without", "with", "unfit")] == [1.0, 2.0, 3.0]
    assert set(found.lacking["without"]) == users
    assert found.lacking["with"] == []
    assert not found.common[:, [IDS.index(name) for name in users]].any()
    assert [row[0] for row in found.report().table("lacking").rows] == ["without", "unfit"]


def test_both_rankings_stand_side_by_side_and_where_they_differ_the_other_best_is_named():
    users = {one.id for one in measures() if one.aspect is Aspect.USERS}
    bursts = {one.id for one in measures() if one.aspect is Aspect.BURSTS}
    without = {name: 0.05 for name in IDS if name not in users | bursts}
    found = standings(
        entries("without", without), entries("with", dict.fromkeys(IDS, 0.2)),
        entries("also", {name: 0.3 for name in IDS if name not in users | bursts}),
        entries("last", {name: 0.4 for name in IDS if name not in users | bursts}),
    )  # fmt: skip
    (table,) = found.report().section("ranks").blocks
    rows = {row[0]: dict(zip([column.key for column in COLUMNS], row, strict=True)) for row in found.rows()}

    assert isinstance(table, FactTable)
    assert table.columns[:3] == ("Mean rank", "Noise floors", "On common measures")
    best, second = ("without", "with") if found.order[0] == "without" else ("with", "without")
    assert (rows[best]["place"], rows[second]["place"]) == ("1", "2")
    assert rows["without"]["common_place"] == "1"
    texts = {str(name): facts[2].text for name, facts in table.rows}
    assert texts[next(name for name in texts if name.endswith("without"))] == "1.00 (place 1)"
    named = f"the best is without: 1.00, where {found.order[0]} has"
    assert (named in found.report().answer) == (found.order[0] != "without")


def test_the_other_best_is_named():
    """Of five models four lack all but one aspect, in which they are nearer."""
    first = {one.id for one in measures() if one.aspect is Aspect.MARGINALS}
    few = dict.fromkeys(first, 0.1)
    found = standings(*(entries(name, few) for name in "abcd"), entries("whole", dict.fromkeys(IDS, 0.2)))

    assert found.order[0] == "whole"
    assert found.common_places == {"whole": "5"} | dict.fromkeys("abcd", "1–4")
    better = "the best is a: its mean rank is 2.50 there, that of whole 5.00."
    assert better in found.report().answer


def test_the_poorest_model_does_not_decide_what_is_compared():
    """It was first on its own measures: what it lacks was left out for all."""
    users = {one.id for one in measures() if one.aspect is Aspect.USERS}
    without = {name: 0.05 for name in IDS if name not in users}
    found = standings(
        entries("poor", without), *(entries(name, dict.fromkeys(IDS, 0.2)) for name in ("one", "two"))
    )

    assert found.common.all(), "two of three models produce all measures"
    assert found.common_rank("poor") == found.rank("poor")[0]
    assert found.common_rank("poor") == pytest.approx((len(Aspect) - 1 + 3) / len(Aspect))
    rows = {row[0]: dict(zip([column.key for column in COLUMNS], row, strict=True)) for row in found.rows()}
    assert rows["poor"]["measures"] == len(IDS) - len(users)
    assert rows["one"]["measures"] == len(IDS)


def test_a_model_is_not_ranked_ahead_for_lacking_measures():
    """It equals the other in all that it has."""
    half = dict.fromkeys(IDS[::2], 0.1)
    found = standings(entries("half", half), entries("whole", dict.fromkeys(IDS, 0.1)))

    assert found.order == ["whole", "half"]
    assert found.common_rank("whole") <= found.common_rank("half")
    assert found.produced("half") == len(half)


def test_queues_have_a_rank_of_their_own():
    """Of two halves with the same waits, one model is off by 2 and one by 3, its seeds by more."""
    keys = [f"{name}@0.7" for name in HEADLINES]

    def numbers(factor):
        return dict.fromkeys(keys, 1000 * factor) | {keys[0]: 1060 * factor - 60}

    draws = tuple(numbers(math.exp(0.02 * n)) for n in range(-9, 11))
    queues = {case: QueueReference(numbers(1), draws) for case in CASES}
    factors = {"two": [2.0] * 5, "third": [3.0, 0.3, 0.3, 0.3, 0.6], "none": []}
    made = [
        LeaderboardEntry(case, name, seed, dict.fromkeys(IDS, 0.1), numbers(factor))
        for case in CASES
        for name, several in factors.items()
        for seed, factor in enumerate(several, 1)
    ]
    made += [LeaderboardEntry(case, "none", 1, dict.fromkeys(IDS, 0.2)) for case in CASES]
    found = Standings(
        LeaderboardResults(tuple(made), {case: dict.fromkeys(IDS, 0.5) for case in CASES}, (), queues)
    )
    rows = {row[0]: dict(zip([column.key for column in COLUMNS], row, strict=True)) for row in found.rows()}
    third = [math.log(factor) for factor in factors["third"]]

    assert found.queue_ranks == {"two": 2 if abs(fmean(third)) < math.log(2) else 1} | {
        "third": 1 if abs(fmean(third)) < math.log(2) else 2, "none": 3,
    }  # fmt: skip
    assert rows["two"]["waits"] == pytest.approx(2)
    assert rows["third"]["waits"] == pytest.approx(math.exp(abs(fmean(third))))
    spread = stdev(third) / stdev(0.02 * n for n in range(-9, 11))
    assert rows["two"]["spread"] == 0
    assert rows["third"]["spread"] == pytest.approx(spread)
    assert [rows[name]["waits_off"] for name in factors] == [2, 0, None], "seeds that scatter are not off"
    (table,) = found.report().section("ranks").blocks
    assert isinstance(table, FactTable)
    assert "Queues" in table.columns
    by_trace = {row[:3]: row[3:] for row in found.queue_rows()}
    assert by_trace.keys() == {(name, *case) for name in ("two", "third") for case in CASES}
    for case in CASES:
        assert by_trace["two", *case][:5] == pytest.approx((2, 0, 1000, 2000, 0.1))
        assert by_trace["two", *case][5] is None
