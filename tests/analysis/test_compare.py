"""Comparing traces: what differs is told first, chance is told from it, and what is alike is made alike."""

import json
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from scipy.stats import ks_2samp

import gwa
from gwa.analysis.comparison.align import same_load, same_period
from gwa.analysis.comparison.compare import COMPARED_FACTS, compare, with_distinct_names
from gwa.analysis.comparison.differences import rank_differences
from gwa.analysis.comparison.reference_set import rank_among_references, read_references, thesis_facts
from gwa.analysis.comparison.shared_users import beyond_chance
from gwa.analysis.comparison.trace_summary import summarize
from gwa.errors import ArgumentError, TraceError
from gwa.report.as_json import as_json
from gwa.report.document import Fact, FactTable, Figure, Note, Table
from gwa.report.html import html
from gwa.store.store import Store

WEEK = 604_800
ABSOLUTE = (("Times", "Unix seconds, UTC"),)

Make = Callable[..., Store]


def made(
    make_store: Make,
    seed: int,
    scale: float = 1.0,
    jobs: int = 4000,
    weeks: int = 16,
    cpus: int = 64,
    **more: Any,
) -> Store:
    """Return a trace of independent jobs, whose run times are *scale* times as long."""
    rng = np.random.default_rng(seed)
    columns = {
        "submit_time": np.sort(rng.uniform(0, weeks * WEEK, jobs)).round().tolist(),
        "run_time": (rng.lognormal(6, 1.5, jobs) * scale).round().tolist(),
        "n_procs": (2 ** rng.integers(0, 5, jobs)).tolist(),
        "wait_time": [0.0] * jobs,
        "user_id": [f"u{user}" for user in rng.integers(0, 40, jobs)],
    }
    return make_store((("Processors", f"{cpus}"),), **(columns | more))


def cells(report, name):
    """Return the rows of a table of a report, by column."""
    blocks = [block for section in report.sections for block in section.blocks]
    (found,) = [block for block in blocks if isinstance(block, Table) and block.id == name]
    return [dict(zip([column.key for column in found.columns], row, strict=True)) for row in found.rows]


def test_two_draws_of_one_workload_differ_by_chance_only(make_store):
    found = rank_differences(
        [summarize(name, made(make_store, seed), COMPARED_FACTS) for name, seed in (("a", 1), ("b", 2))]
    )
    assert found
    runs = next(one for one in found if one.measure.id == "run-time")
    assert runs.verdict in {"no more than chance", "a little"}


def test_what_was_changed_is_told_first_and_measured_as_scipy_does(make_store):
    stores = [("short", made(make_store, 1)), ("long", made(make_store, 2, scale=10))]
    report = compare(stores)
    rows = {row["measure"]: row for row in cells(report, "differences")}
    short, long = (store.frame("select run_time from ran").run_time.to_numpy() for _, store in stores)
    expected: Any = ks_2samp(short, long).statistic
    assert rows["Run time, seconds"]["distance"] == pytest.approx(expected)
    assert rows["Run time, seconds"]["verdict"] == "differs"
    assert next(iter(rows)) in {"Run time, seconds", "Squashed area of a job"}
    assert "its median run time is longer (" in report.answer
    times = [row["times"] for row in rows.values() if row["times"] is not None]
    assert times == sorted(times, reverse=True)


def test_a_trace_and_itself_are_equal_in_all(make_store):
    store = made(make_store, 1, jobs=600)
    rows = cells(compare([("one", store), ("one", store)]), "differences")
    assert {row["distance"] for row in rows} == {0}
    assert {row["verdict"] for row in rows} == {"equal"}


def test_facts_stand_in_the_columns_of_their_traces(make_store):
    stores = [("few", made(make_store, 1, jobs=300)), ("more", made(make_store, 2, jobs=500))]
    facts = {fact.id: fact.value for fact in compare(stores).facts()}
    assert (facts["compare.1.trace.jobs"], facts["compare.2.trace.jobs"]) == (300, 500)


@pytest.mark.slow
def test_twenty_traces_are_compared(make_store):
    store = made(make_store, 1, jobs=60)
    report = compare([("same", store)] * 20)
    tables = [block for one in report.sections for block in one.blocks if isinstance(block, FactTable)]
    ranked, *others = tables
    assert [name for name, _ in ranked.rows] == ["same", *(f"same ({n})" for n in range(2, 21))]
    assert all(len(table.columns) == len(set(table.columns)) == 20 for table in others)


def test_three_traces_are_ranked_and_not_subtracted(make_store):
    report = compare([(name, made(make_store, n, jobs=3000 * n)) for n, name in enumerate("ABC", 1)])
    (table,) = [block for block in report.sections[0].blocks if isinstance(block, FactTable)]
    busy = [cast("float", facts[0].value) for _, facts in table.rows]

    assert table.darkest == "greatest"
    assert busy == sorted(busy, reverse=True)
    assert {name for name, _ in table.rows} == {"A", "B", "C"}
    strips = report.figure("use-over-time").data["strips"]
    assert [strip["label"] for strip in cast("list[dict[str, str]]", strips)] == ["A", "B", "C"]


def test_failures_of_several_logs_are_ranked_only_where_all_code_the_same_outcomes(make_store):
    """The answer ranked failed jobs of logs of which the page says that outcomes are not compared."""
    codes = ([0, 1], [0, 1], [0, 1, 5])
    stores = [
        (name, made(make_store, n, jobs=300, status=[code[job % len(code)] for job in range(300)]))
        for n, (name, code) in enumerate(zip("ABC", codes, strict=True), 1)
    ]
    same = compare([*stores[:2], ("D", made(make_store, 4, jobs=300, status=[0, 1] * 150))])

    def columns(report):
        return next(block for block in report.sections[0].blocks if isinstance(block, FactTable)).columns

    assert "Failed jobs:" in same.answer
    assert "Failed jobs" in columns(same)
    assert "Failed jobs:" not in compare(stores).answer
    assert "Failed jobs" not in columns(compare(stores)), "a shade would rank them"


def test_a_trace_and_itself_are_called_equal_however_often(make_store):
    one = made(make_store, 1)

    assert compare([("A", one), ("B", one)]).answer == "B and A are equal in all that is tested."
    several = compare([("A", one), ("B", one), ("C", one), ("D", one)])
    assert " in all; " in several.answer
    assert " to " not in several.answer
    assert several.subtitle == "A, B, C, D"


def test_what_is_the_same_where_it_is_recorded_is_not_said_of_all(make_store):
    one = made(make_store, 1, jobs=600, status=[0, 1] * 300)
    poor = make_store(submit_time=[3600.0 * n for n in range(600)], user_id=["u"] * 600)

    assert "95th percentile of waits: " in compare([("A", one), ("B", one), ("C", poor)]).answer
    assert "in all that record it" in compare([("A", one), ("B", one), ("C", poor)]).answer


def test_larger_jobs_of_a_larger_system_are_not_denied(make_store):
    """The first words denied any difference, and the table has ten times the processors per job."""
    small = made(make_store, 1, n_procs=[4] * 4000)
    large = made(make_store, 2, n_procs=[40] * 4000, cpus=640)
    levels = compare([("A", small), ("B", large)])
    verdict = next(fact for fact in levels.facts() if fact.id == "side.jobs.procs.median.verdict")

    assert verdict.value == "may be due to size"
    assert levels.answer.startswith("Apart from what may be due to their sizes, B ")


def test_a_log_without_dates_is_not_said_to_record_no_submissions(make_store):
    """Fifteen logs had a heading, a sentence and a definition each, and of some the sentence was false."""

    def log(header, hours):
        columns = {"run_time": [60.0] * hours, "n_procs": [1] * hours, "wait_time": [5.0] * hours}
        return make_store(header, submit_time=[1e9 + 3600 * hour for hour in range(hours)], **columns)

    logs = {"A": log(ABSOLUTE, 24 * 30), "B": log((), 24 * 30), "C": log((), 24 * 20)}
    report = compare(list(logs.items()))
    week = [one for one in report.sections if one.chapter == "Over the week"]
    blocks = [block for one in week for block in one.blocks]
    (note,) = [block.text for block in blocks if isinstance(block, Note)]

    assert [block.id.split("-")[1] for block in blocks if isinstance(block, Figure)] == ["1"]
    assert note == "Not drawn over the week, since weekdays of submissions are not known: B, C."


def test_a_trace_has_one_colour_in_all_distributions(make_store):
    """Colours go by place: a trace without waits in the midst moved all that follow it."""
    logs = [
        ("A", made(make_store, 1)),
        ("B", made(make_store, 2, wait_time=[None] * 4000)),
        ("C", made(make_store, 3)),
    ]
    report = compare(logs)
    names = [
        [
            line["label"]
            for line in cast("list[dict[str, str]]", report.figure(f"compare-{name}-1").data["curves"])
        ]
        for name in ("wait", "run-time", "size")
    ]

    assert names[0] == ["A", "C"]
    assert names[1][:2] == names[2][:2] == names[0]


def test_what_is_not_recorded_is_no_difference(make_store):
    poor = make_store(submit_time=[float(3600 * n) for n in range(500)])
    report = compare([("poor", poor), ("rich", made(make_store, 1, jobs=500))])
    (table,) = [block for block in report.sections[0].blocks if isinstance(block, FactTable)]
    told = {fact.id: fact for _, facts in table.rows for fact in facts}

    assert told["side.1.jobs.runtime.median"].value is None
    assert told["side.jobs.runtime.median.difference"].value is None
    assert told["side.jobs.runtime.median.verdict"].text == "unknown: not recorded in poor"
    assert "busier" not in report.answer


@pytest.mark.parametrize("wrong", [0, 1, 21])
def test_too_few_and_too_many_are_refused(wrong, make_store):
    with pytest.raises(ArgumentError, match=f"{wrong} traces were given, expected 2 to 20"):
        compare([("same", make_store())] * wrong)


def test_hostile_names_are_text_and_the_same_traces_give_the_same_bytes(make_store):
    users = ["<script>alert(1)</script>", "{{7*7}}", "=cmd|' /C calc'!A0"] * 100
    stores = [("<b>", made(make_store, seed, jobs=300, user_id=users)) for seed in (1, 2)]
    report = compare(stores)
    page = html(report)
    assert "<script>alert" not in page
    assert "<b>" not in page
    assert as_json(report) == as_json(compare(stores))


def test_users_who_moved_are_those_whose_share_changed(make_store):
    site = (("Installation", "KTH"),)
    one = make_store(
        site, run_time=[10.0] * 4, n_procs=[1] * 4, user_id=["a", "a", "a", "b"], submit_time=[0.0, 1, 2, 3]
    )
    other = make_store(
        site, run_time=[10.0] * 4, n_procs=[1] * 4, user_id=["b", "b", "b", "c"], submit_time=[0.0, 1, 2, 3]
    )
    (row,) = cells(compare([("before", one), ("after", other)]), "users-moved")
    assert (row["user"], row["trace_1"], row["trace_2"], row["change"]) == ("b", 0.25, 0.75, 0.5)


@pytest.mark.parametrize(
    "columns", [{}, {"submit_time": [1.0]}, {"run_time": [5.0]}, {"submit_time": [0.0] * 5}]
)
def test_poor_traces_are_compared_as_far_as_they_tell(make_store, columns):
    report = compare([("poor", make_store(**columns)), ("rich", made(make_store, 1, jobs=200))])
    assert html(report)


def test_the_same_period_is_what_all_cover(make_store):
    stores = [
        (str(n), make_store(ABSOLUTE, submit_time=[1e9 + (n + week) * WEEK for week in range(9)]))
        for n in range(3)
    ]
    part, remark = same_period(stores)
    assert "time that all traces cover" in remark
    spans = [store.row("select min(submit_time), max(submit_time) from jobs") for _, store in part]
    assert spans == [(1e9 + 2 * WEEK, 1e9 + 8 * WEEK)] * 3


def test_what_runs_into_the_same_period_counts_in_its_levels(make_store):
    def jobs(first, last, seconds):
        return make_store(ABSOLUTE, submit_time=[first, last], run_time=[seconds, 60.0], n_procs=[1, 1])

    early = jobs(1e9, 1e9 + 9 * WEEK, 8.0 * WEEK)
    late = jobs(1e9 + 4 * WEEK, 1e9 + 8 * WEEK, 60.0)
    part, _ = same_period([("early", early), ("late", late)])
    assert part[0][1].row("select count(*) from jobs") == (0,)
    assert part[0][1].row("select count(*) from all_ran") == (2,)
    assert part[0][1].period == (1e9 + 4 * WEEK, 1e9 + 8 * WEEK + 1)


def test_without_common_time_as_many_weeks_are_left_of_each(make_store):
    stores = [(str(n), make_store(submit_time=[float(week * WEEK) for week in range(n)])) for n in (4, 9)]
    part, remark = same_period(stores)
    assert "first 3 weeks" in remark
    assert [store.row("select count(*) from jobs")[0] for _, store in part] == [3, 3]
    with pytest.raises(TraceError, match="shorter than a week"):
        same_period([("x", make_store(submit_time=[1.0, 2.0])), *stores])


def test_weeks_of_the_same_load_are_left(make_store):
    def loads(*busy):
        times = [float(week * WEEK) for week in range(len(busy))]
        return make_store(
            (("Processors", "10"),),
            submit_time=times,
            n_procs=[10] * len(busy),
            run_time=[b * WEEK for b in busy],
        )

    stores = [("a", loads(0.5, 0.5, 0.9, 0.52, 0.5)), ("b", loads(0.1, 0.1, 0.55, 0.45, 0.5))]
    part, remark = same_load(stores)
    assert "38% to 58%" in remark
    weeks = [
        [week for (week,) in store.rows("select submit_time / 604800 from jobs order by 1")]
        for _, store in part
    ]
    assert weeks == [[1, 3], [2, 3]]
    with pytest.raises(TraceError, match="fewer than two weeks bear"):
        same_load([("c", loads(0, 0.9, 0.9, 0.9, 0)), ("d", loads(0, 0.1, 0.1, 0.1, 0))])


def test_among_the_traces_of_the_thesis_lcg_is_most_like_itself(make_store):
    side = summarize("x", made(make_store, 1, jobs=300), COMPARED_FACTS)
    facts = {name: Fact(name, value, name) for name, value in thesis_facts()["LCG"].items()}
    itself = type(side)(side.name, {**side.facts, **facts}, {}, {}, {}, {})
    first, second = (
        block for block in rank_among_references([itself], thesis_facts()) if isinstance(block, Table)
    )
    assert (first.rows[0][0], first.rows[0][2]) == ("LCG", 0)
    places: Any = [row[-2] for row in second.rows]
    assert all(0 <= place <= 1 for place in places)


def test_an_archive_is_a_folder_of_facts(tmp_path, make_store):
    (tmp_path / "one.json").write_text(json.dumps({"trace.jobs": 5, "jobs.runtime.median": 1.0}))
    (tmp_path / "two.json").write_text(json.dumps({"trace.jobs": 50, "jobs.runtime.median": None}))
    archive = read_references(tmp_path)
    report = compare([("x", made(make_store, 1, jobs=100))], archive)
    assert (report.title, [section.id for section in report.sections]) == ("x among 2 traces", ["archive"])
    (row,) = [row for row in cells(report, "standing-1") if row["fact"] == "Jobs"]
    assert (row["own"], row["low"], row["high"], row["percentile"]) == ("100", "9.5", "45.5", 1.0)


@pytest.mark.parametrize("content", ["", "[]", "{}", "{", '{"jobs": 1}'])
def test_what_is_no_archive_is_told_in_a_line(tmp_path, content):
    (tmp_path / "bad.json").write_text(content)
    with pytest.raises(TraceError, match=r"bad\.json: .*expected what gwa facts prints"):
        read_references(tmp_path)
    with pytest.raises(TraceError, match="expected what gwa facts prints"):
        read_references(tmp_path / "nowhere")


def test_names_are_told_apart(make_store):
    store = make_store()
    assert [name for name, _ in with_distinct_names([("a", store), ("b", store), ("a", store)])] == [
        "a",
        "b",
        "a (2)",
    ]


def test_what_is_compared_of_fits_is_what_a_report_says_of_them(sample):
    with gwa.open(sample / "swf" / "tiny.swf") as trace:
        facts = summarize("x", trace.store, COMPARED_FACTS).facts
        said = {
            name: value
            for name, value in trace.facts("fit.").items()
            if name.startswith(("fit.log_", "fit.daily."))
            and name.split(".", 2)[-1] in {"normal.mu", "normal.sigma"}
        }
    assert said
    assert {name: facts[name].value for name in said} == pytest.approx(said)


def test_a_variance_is_no_duration(sample):
    with gwa.open(sample / "swf" / "tiny.swf") as trace:
        summary = summarize("x", trace.store, COMPARED_FACTS)
    rows = cells_of(rank_among_references([summary], thesis_facts()), "standing-1")
    (variance,) = (row for row in rows if row["fact"] == "Typical variance of run times in a bag")

    assert all(variance[key].endswith(" s²") for key in ("own", "low", "middle", "high"))
    (run_time,) = (row for row in rows if row["fact"] == "Typical run time")
    assert run_time["own"].endswith(("min", "h", "s"))
    assert "²" not in run_time["own"]


def cells_of(blocks, name):
    (found,) = (block for block in blocks if isinstance(block, Table) and block.id == name)
    return [dict(zip([column.key for column in found.columns], row, strict=True)) for row in found.rows]


def numbered(rng, users, most, prefix="u"):
    """Users whom a system numbers, of which *users* were active."""
    return {f"{prefix}{number}" for number in rng.choice(most, users, replace=False)}


def people(rng, users, pool=3000):
    """Users called by names, some of which are common."""
    weights = 1 / (np.arange(pool) + 20)
    chosen = rng.choice(pool, users, replace=False, p=weights / weights.sum())
    return {"".join(chr(97 + int(digit)) for digit in f"{number:04d}") for number in chosen}


UNRELATED = {
    "first to last": lambda rng: numbered(rng, int(rng.integers(20, 300)), 300),
    "all of them": lambda rng: {f"U{n}" for n in range(int(rng.integers(20, 300)))},
    "user ids": lambda rng: {
        *numbered(rng, 120, 200, "10"), *numbered(rng, 60, 60_000, ""), "65534", "0", "root",
    },
    "names": lambda rng: people(rng, int(rng.integers(30, 300))),
    "few": lambda rng: people(rng, 8) | {"root", "admin"},
}  # fmt: skip


@pytest.mark.parametrize("world", UNRELATED)
def test_users_of_unrelated_systems_are_not_taken_for_the_same(world):
    draw = UNRELATED[world]
    found = [
        beyond_chance(draw(np.random.default_rng((seed, 1))), draw(np.random.default_rng((seed, 2))))
        for seed in range(200)
    ]

    assert np.mean(found) <= 0.05


@pytest.mark.parametrize(
    "everybody",
    [
        lambda rng: numbered(rng, 300, 20_000, ""),
        lambda rng: numbered(rng, 300, 10**12),
        people,
    ],
    ids=["user ids", "pseudonyms of one key", "names"],
)
def test_users_of_two_periods_of_a_system_are_found_to_be_the_same(everybody):
    found = []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        names = sorted(everybody(rng) if everybody is not people else people(rng, 300))
        periods = [set(rng.choice(names, 150, replace=False).tolist()) for _ in range(2)]
        found.append(beyond_chance(*periods))

    assert np.mean(found) >= 0.95


def test_users_of_other_sites_are_not_compared(make_store):
    def trace(seed, *header):
        rng = np.random.default_rng(seed)
        users = [f"u{user}" for user in rng.integers(0, 40, 200)]
        return make_store(
            header, run_time=[10.0] * 200, n_procs=[1] * 200, user_id=users,
            submit_time=[60.0 * n for n in range(200)],
        )  # fmt: skip

    kth, ctc = ("Installation", "KTH"), ("Installation", "CTC")
    unknown = html(compare([("one", trace(1)), ("two", trace(2))]))
    other = html(compare([("one", trace(1, kth)), ("two", trace(2, ctc))]))
    report = compare([("one", trace(1, kth)), ("two", trace(2, ctc)), ("three", trace(3, kth))])

    assert "Users are not compared" in unknown
    assert "Users are not compared" in other
    rows = cells(report, "users-moved")
    assert len(rows) == 20
    assert set(rows[0]) == {"user", "trace_1", "trace_2", "change"}  # one and three


def test_nothing_is_scheduled_for_a_comparison(make_store, monkeypatch):
    """Queues are not compared, and take most of the time of all."""
    from gwa.evaluation.queues import replay

    def refuse(*_):
        pytest.fail("a schedule is computed")

    monkeypatch.setattr(replay, "schedule", refuse)
    assert compare([("a", made(make_store, 1, jobs=200)), ("b", made(make_store, 2, jobs=200))]).sections


def test_the_answer_of_a_comparison_does_not_deny_what_its_findings_say(make_store):
    """Run times of the same median have another 95th percentile, which the first rows do not ask for."""

    def store(seed, long):
        rng = np.random.default_rng(seed)
        is_long = rng.random(4000) < 0.08
        runs = np.where(is_long, long, 600.0) * rng.uniform(0.9, 1.1, 4000)
        procs = np.where(is_long, 6000.0 / long, 4).round()  # as much work in both
        return made(make_store, seed, run_time=runs.tolist(), n_procs=procs.astype(int).tolist())

    report = compare([("A", store(1, 1500.0)), ("B", store(2, 6000.0))])

    assert any(
        found.text.startswith("95th percentile of run time is higher in B") for found in report.findings
    )
    assert report.answer.startswith("B is found to differ from A by more than chance in this only: ")
    assert "95th percentile of run time" in report.answer


def test_two_traces_are_compared_by_what_an_operator_asks_and_chance_stands_beside_it(make_store):
    """Whatever differs most among the measures of modellers, the first words are not about it."""

    def store(seed, wait):
        rng = np.random.default_rng(seed)
        waits, failed = rng.exponential(wait, 4000).tolist(), rng.random(4000) < 0.1 * seed
        return made(make_store, seed, wait_time=waits, status=np.where(failed, 0, 1).tolist())

    report = compare([("A", store(1, 60)), ("B", store(2, 6000))])
    (table,) = [block for block in report.sections[0].blocks if isinstance(block, FactTable)]
    rows = {name: {fact.id: fact for fact in facts} for name, facts in table.rows}
    wait, users = rows["Waits? median wait"], rows["Who? users for half of the core-hours"]
    figures = [figure.id for figure in report.figures()]

    assert table.columns == ("A", "B", "Difference", "Beyond chance?", "less ← → more")
    assert wait["side.jobs.wait.median.verdict"].text == "yes, longer"
    low, step, high = cast("list[float]", wait["side.jobs.wait.median.span"].value)
    assert 0 < low < step < high
    assert users["side.users.half_cpu.verdict"].text == "unknown: a log has one such number"
    assert report.answer.startswith("B differs from A by more than chance: its median wait is longer (")
    assert "No difference beyond chance is found in utilization, median processors, " in report.answer
    assert "level-wait_median" not in {finding.id for finding in report.findings}, "the answer says it"
    assert {finding.section for finding in report.findings} <= {"levels"}
    assert not any("log ratio" in finding.text or "in a row" in finding.text for finding in report.findings)
    assert figures[:4] == ["use-over-time", "compare-wait-1", "compare-run-time-1", "compare-size-1"]
    shares = {fact.id: fact.value for fact in report.facts() if fact.id.endswith("jobs.failed.share")}
    assert shares["compare.1.jobs.failed.share"] == pytest.approx(0.1, abs=0.02)
    assert report.sections[-1].id == "differences"
    assert report.sections[-1].view == "modeller"
