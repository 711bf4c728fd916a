"""Users who stand alone are found, and by what; after coarsening nobody does, in what is written."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gwa
from gwa.errors import ArgumentError, TraceError
from gwa.store.anonymize import anonymize
from gwa.store.uniqueness import STEPS, Coarsening, Hiding, coarsening, exposure, exposures, unicity
from tests.conftest import HOME, examples
from tests.program import invoke as run

KEY = b"0123456789abcdef"
HOUR, DAY, WEEK = 3600.0, 86400.0, 604_800.0


def crowd(make_store, users=6, jobs=20, more=()):
    """Return a store in which each of some users runs the same jobs, and *more* users run others."""
    rows = [
        (f"u{user}", DAY * job + 60 * user, 2 ** (job % 3), "abc"[job % 3])
        for user in range(users)
        for job in range(jobs)
    ]
    rows += more
    user, submit, size, program = map(list, zip(*rows, strict=True))
    return make_store(
        user_id=user, submit_time=submit, n_procs=size, executable_id=program, run_time=[100.0] * len(rows)
    )


@pytest.mark.parametrize(
    ("planted", "by"),
    [
        (("eve", 60.0, 777, "a"), {"size"}),
        (("eve", 500 * DAY, 1, "a"), {"time"}),
        (("eve", 60.0, 1, "secret"), {"program"}),
        # Each of the three is common, and two of them together are eve's alone.
        (("eve", 60.0, 4, "a"), set()),
    ],
)
def test_a_planted_user_is_found_by_what_sets_her_apart(planted, by, make_store):
    store = crowd(make_store, more=[planted])
    found = {one.by: one for one in exposures(store, 3) if one.fine == STEPS[0]}

    assert {name for (name, *others), one in found.items() if not others and one.unique} == by
    whole = found["size", "time", "program"]
    assert (whole.users, whole.unique, whole.smallest, whole.jobs_below) == (7, 1, 1, 1)
    assert whole.whole == 1
    assert unicity(store)[1] == pytest.approx(1 / 7)


def test_nobody_is_found_in_a_crowd(make_store):
    store = crowd(make_store)

    assert {(one.unique, one.smallest, one.whole) for one in exposures(store, 6)} == {(0, 6, 0)}
    assert set(unicity(store).values()) == {0.0}


JOBS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c", "d", "e", None]),
        st.one_of(st.none(), st.integers(0, 20 * 24).map(lambda hours: hours * 1800.0)),
        st.one_of(st.none(), st.integers(1, 9)),
        st.sampled_from(["x", "y", None]),
    ),
    min_size=1,
    max_size=40,
)


def classes_of(frame, hours=HOUR):
    """Return the users of each class of a table, by pandas."""
    size = frame.n_procs.fillna(-1)
    time = np.floor(frame.submit_time / hours).fillna(-1)
    known = frame.assign(size=size, hour=time, program=frame.executable_id.fillna("-"))
    known = known[known.user_id.notna()]
    return known.groupby(["size", "hour", "program"]).user_id.nunique()


@examples(60)
@given(JOBS)
def test_exposure_is_that_of_a_group_by(make_shared_store, rows):
    user, submit, size, program = map(list, zip(*rows, strict=True))
    store = make_shared_store(user_id=user, submit_time=submit, n_procs=size, executable_id=program)
    found, expected = exposure(store, 2), classes_of(store.frame())

    frame = store.frame()
    alone = expected[expected == 1].index
    known = frame[frame.user_id.notna()]
    keys = list(
        zip(known.n_procs.fillna(-1), np.floor(known.submit_time / HOUR).fillna(-1),
            known.executable_id.fillna("-"), strict=True)
    )  # fmt: skip
    unique = {who for who, key in zip(known.user_id, keys, strict=True) if key in set(alone)}
    assert found.classes == len(expected)
    assert found.smallest == (expected.min() if len(expected) else 0)
    assert found.unique == len(unique)
    assert found.jobs_below == sum(key in set(alone) for key in keys)


@examples(60)
@given(JOBS, st.integers(2, 4), st.sampled_from([0.0, 0.3, 1.0]))
def test_after_coarsening_k_holds_in_what_is_written_and_nothing_else_is_lost(
    make_shared_store, rows, k, leave_out
):
    user, submit, size, program = map(list, zip(*rows, strict=True))
    store = make_shared_store(
        user_id=user,
        submit_time=submit,
        n_procs=size,
        executable_id=program,
        run_time=[float(place) for place in range(len(rows))],
    )
    told: list[Coarsening] = []
    is_in_reach = leave_out == 1 and len(set(user) - {None}) >= k
    try:
        copy = anonymize(store, KEY, hiding=Hiding(k, leave_out, told.append))
    except TraceError:
        assert not is_in_reach
        return
    with copy:
        frame, (made,) = copy.frame(), told
        left = len(rows) - len(frame)
        # Known to the second, what is written is no finer than what is promised.
        assert (classes_of(frame, 1.0) >= k).all()
        assert made.left_out == left <= leave_out * len(rows)
        assert made.users_left_out == len(set(user) - {None}) - frame.user_id.nunique()
        assert copy.account.jobs == len(frame)
        assert copy.account.adds_up
        assert dict(copy.header)["Coarsened"] == made.line
        # A coarser value is the beginning of its time, or the next power of two.
        assert sorted(frame.job_id) == list(range(1, len(frame) + 1))
        kept = frame.merge(store.frame(), on="run_time", suffixes=("", "_before"))
        shift = (kept.submit_time_before - kept.submit_time).dropna()
        assert ((shift >= 0) & (shift < made.fine.seconds)).all()
        ratio = (kept.n_procs / kept.n_procs_before).dropna().astype(float)
        assert ((ratio >= 1) & (ratio < 2)).all()


def test_the_finest_step_is_taken_at_which_few_enough_jobs_must_go(make_store):
    hours = crowd(make_store)
    assert coarsening(hours, 6).fine == STEPS[0]
    rows = [(f"u{user}", WEEK * job + DAY * user, 4, "a") for user in range(6) for job in range(20)]
    weeks = crowd(make_store, users=0, more=rows)
    made = coarsening(weeks, 6)

    assert made.fine == STEPS[3]
    assert made.left_out == 0
    programs = crowd(make_store, users=0, more=[(f"u{n % 6}", 0.0, 4, f"p{n % 6}") for n in range(60)])
    assert coarsening(programs, 6).fine == STEPS[4]
    assert "programs are left out" in list(coarsening(programs, 6).sentences())


def test_a_user_is_found_by_any_of_the_sizes_that_are_written(make_store):
    def store(**more):
        users = [f"u{number % 4}" for number in range(40)]
        return make_store(user_id=users, submit_time=[0.0] * 40, n_procs=[4] * 40, **more)

    for field in ("req_n_procs", "n_nodes"):
        planted = store(**{field: [777] + [4] * 39})
        assert exposure(planted, 2, by=("size",)).unique == 1
        with anonymize(planted, KEY, hiding=Hiding(2, 0.1)) as copy:
            assert copy.frame().groupby(field).user_id.nunique().min() >= 2
    assert exposure(store(), 2, by=("size",)).unique == 0


def test_each_k_is_answered_on_its_own(make_store):
    store = crowd(make_store, users=4, more=[(f"v{n % 3}", 0.0, 64, "z") for n in range(9)])
    assert [coarsening(store, k, 0.5).left_out for k in (2, 4, 2)] == [0, 9, 0]


def test_numbers_of_jobs_do_not_tell_when_they_came_within_the_beginning_of_a_time(make_store):
    rows = [(f"u{user}", 1000 * WEEK + WEEK * week + DAY * user + n, 4, "a")
            for user in range(6) for week in range(5) for n in range(9)]  # fmt: skip
    store = crowd(make_store, users=0, more=sorted(rows, key=lambda row: row[1]))
    store.insert("dependencies", [(place, place - 1, 1.0) for place in range(2, len(rows) + 1)])
    with anonymize(store, KEY, hiding=Hiding(6)) as copy, anonymize(store, KEY, hiding=Hiding(6)) as again:
        frame, before = copy.frame(), store.frame()
        links = copy.rows("select job_id, preceding_job from dependencies order by all")
        assert frame.equals(again.frame())

    assert sorted(frame.job_id) == list(range(1, len(rows) + 1))
    assert not frame.sort_values("job_id").submit_time.diff().lt(0).any()
    # Users came one after the other in each week; by their numbers they are among each other.
    before["rank"] = before.groupby(before.submit_time // WEEK).job_id.rank()
    frame["rank"] = frame.groupby("submit_time").job_id.rank()
    assert before.groupby("user_id")["rank"].mean().std() > 15
    assert frame.groupby("user_id")["rank"].mean().std() < 6
    weeks = dict(zip(frame.job_id, frame.submit_time, strict=True))
    assert len(links) == len(rows) - 1
    assert sorted(weeks[own] - weeks[preceding] for own, preceding in links) == [0.0] * 265 + [WEEK] * 4


def test_no_other_field_tells_the_moment_that_a_coarser_time_hides(make_store):
    users, submit = [f"u{number % 4}" for number in range(40)], [600.0 * number for number in range(40)]
    store = make_store(
        user_id=users,
        submit_time=submit,
        eligible_time=[moment + 7 for moment in submit],
        wait_time=[10.0] * 40,
        run_time=[30.0] * 40,
        n_procs=[4] * 40,
        n_nodes=[1] * 40,
        node_list=[f"n{number}" for number in range(40)],
        runs=["10/5/5////evicted;20/30/30////ended"] * 40,
    )
    with anonymize(store, KEY, hiding=Hiding(2)) as copy:
        frame = copy.frame()
    assert len(frame) == 40
    assert not (frame.submit_time % HOUR).any()
    assert not {"eligible_time", "runs", "node_list"} & {*frame.dropna(axis="columns", how="all").columns}


def test_what_is_out_of_reach_is_refused_in_words(make_store):
    with pytest.raises(TraceError, match="k 7 is out of reach: the trace has 6 users, expected at least 7"):
        coarsening(crowd(make_store), 7)
    with pytest.raises(TraceError, match="k 2 is out of reach: the trace has 1 user, expected at least 2"):
        coarsening(crowd(make_store, users=1), 2)
    with pytest.raises(ArgumentError, match="k is 1, expected at least 2"):
        coarsening(crowd(make_store), 1)
    alone = crowd(make_store, users=3, more=[("eve", 900 * DAY + n * WEEK, 1, "a") for n in range(20)])
    with pytest.raises(TraceError, match=r"k 2 is out of reach: .*25 % of jobs have fewer than 2 users"):
        coarsening(alone, 2)
    assert coarsening(alone, 2, 0.25).users_left_out == 1


def test_the_command_reports_and_hides(tmp_path):
    log, out = HOME / "sample_traces" / "swf" / "tiny.swf", tmp_path / "public.gwf"
    said = run("anonymize", log, "--report", "--json")
    rows = json.loads(said.stdout)

    with gwa.open(log) as trace:
        assert len(rows) == 7 + sum(fine.programs or trace.store.has("executable_id") for fine in STEPS[1:])
    assert "users are unique" in said.stderr
    assert "not looked at: " in said.stderr
    piped = list(csv.DictReader(run("anonymize", log, "--report").stdout.splitlines()))
    assert [row["known"] for row in piped] == [row["known"] for row in rows]
    words = ("anonymize", log, "-o", out, "--key", tmp_path / "k", "--k", 2, "--leave-out", 100)
    assert run(*words).exit_code == 0
    with gwa.open(out) as trace:
        frame = trace.store.frame()
        assert dict(trace.header)["Coarsened"].startswith("k 2 by ")
    assert (classes_of(frame, 1.0) >= 2).all()
    assert not (frame.submit_time % HOUR).any()
    lost = run("anonymize", log)
    assert lost.exit_code == 2
    assert "expected an output file (-o), or --report" in lost.stderr


@pytest.mark.parametrize("words", [["--report"], ["--k", "2", "-o", "out.gwf", "--key", "key"]])
def test_of_a_trace_without_users_nothing_is_told(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("log.swf").write_text("1 0 0 9 1 -1 -1 1 9 -1 1 -1 -1 -1 -1 -1 -1 -1\n")
    refused = run("anonymize", "log.swf", *words)

    assert isinstance(refused.exception, TraceError)
    assert str(refused.exception) == "no job records its user, so that nothing tells who stands alone"
    assert not refused.stdout
    assert not Path("out.gwf").exists()


CATALOGUE = """
archive.title = "Archive"
[[trace]]
source = "log.gwf"
citation = "c"
licence = "CC0-1.0"
provider = "p"
system = "s"
title = "One"
id = "one"
k = {}
"""


def test_the_gate_of_a_site_withholds_unique_users_and_lets_pass_what_was_made_coarser(tmp_path: Path):
    from gwa.archive.catalogue import read_catalogue
    from gwa.archive.publish import WithheldTrace, publish

    site, public = tmp_path / "site", tmp_path / "public"
    site.mkdir()
    public.mkdir()
    log = HOME / "sample_traces" / "swf" / "tiny.swf"

    def published(k):
        (site / "archive.toml").write_text(CATALOGUE.format(k))
        catalogue = read_catalogue(site)
        publish(catalogue, catalogue.entry("one"), public, publish_names=False, memory=None)

    assert run("anonymize", log, "-o", site / "log.gwf", "--key", tmp_path / "k").exit_code == 0
    with pytest.raises(WithheldTrace, match=r"users are unique by .*, k is 1, expected 2: .* --k 2"):
        published(2)
    words = ("--key", tmp_path / "k", "--k", 2, "--leave-out", 100, "--force")
    assert run("anonymize", log, "-o", site / "log.gwf", *words).exit_code == 0
    published(2)
    assert (public / "trace.json").is_file()
