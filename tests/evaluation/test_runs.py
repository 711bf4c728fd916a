"""Runs: their results are right, and the same however they are done, stopped and taken up again."""

import csv
import json
import math
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from scipy import stats

from gwa.cli import main
from gwa.errors import ArgumentError, OutputError, SimulationError
from gwa.evaluation.experiments.gantt import gantts
from gwa.evaluation.experiments.page import report
from gwa.evaluation.experiments.plan import ExperimentPlan
from gwa.evaluation.experiments.results import Estimate, ExperimentResults
from gwa.evaluation.experiments.run_cache import RunCache
from gwa.evaluation.experiments.runner import pieces, run_all
from gwa.evaluation.experiments.spec import read_experiment
from gwa.report.document import Figure
from gwa.report.html import html
from gwa.util.owned import MARK
from tests.conftest import HOME

TEXT = """
title = "Test"
architectures = ["csp", "sep-c"]
schedulers = ["FPLT", "STFR"]
loads = [0.4, 0.9]
repetitions = 2
clusters = [{ name = "one", processors = 30 }, { name = "two", processors = 10, speed = 2.0 }]

[[workloads]]
name = "w"
models = ["thesis-average"]
tasks = TASKS
"""


@pytest.fixture
def setup(tmp_path):
    path = tmp_path / "test.toml"
    path.write_text(TEXT.replace("TASKS", "400"))
    return read_experiment(path)


def folder_of(path):
    """Return what is in a folder: results, tables and pages, by name."""
    files = (file for file in path.rglob("*") if file.is_file() and file.name != MARK)
    return {file.relative_to(path): file.read_bytes() for file in files}


@pytest.fixture
def gwa(monkeypatch, capsys):
    """Return a function that runs a command in this process: its exit status, and what it printed."""

    def run(*words):
        monkeypatch.setattr("sys.argv", ["gwa", *map(str, words)])
        with pytest.raises(SystemExit) as left:
            main()
        return left.value.code, *capsys.readouterr()

    return run


def test_a_row_is_what_a_schedule_says(setup, tmp_path):
    """The reference is a loop over the tasks of the schedule that was kept."""
    plan = ExperimentPlan(setup)
    cache = RunCache(tmp_path / "out", schedules=True)
    assert run_all(plan, cache, 1) == len(plan.runs) == 16
    speeds = {0: 1.0, 1: 2.0}
    for run in plan.runs:
        tasks = parquet.read_table(cache.schedule_of(run)).to_pylist()
        rows = {row["class"]: row for row in cache.rows(run) or []}
        bags: dict[int, list[dict[str, float]]] = {}
        for task in tasks:
            bags.setdefault(task["bag"], []).append(task)
            assert task["end"] - task["start"] == pytest.approx(task["run"] / speeds[task["cluster"]])
        several = [bag for bag in bags.values() if len(bag) > 1]
        spans = [max(task["end"] for task in bag) - min(task["submit"] for task in bag) for bag in several]
        works = [sum(task["run"] for task in bag) for bag in several]
        assert rows["bags"]["bags"] == rows["bags"]["bags_finished"] == len(several)
        assert rows["bags"]["makespan"] == pytest.approx(sum(spans) / len(spans))
        assert rows["bags"]["nsl"] == pytest.approx(
            sum(span / work for span, work in zip(spans, works, strict=True)) / len(spans)
        )
        assert rows["1"]["tasks"] == len(bags) - len(several)
        waits = [task["start"] - task["submit"] for bag in several for task in bag]
        assert rows["bags"]["wait"] == pytest.approx(sum(waits) / len(waits), abs=1e-6)
        medium = [span for bag, span in zip(several, spans, strict=True) if 5 <= len(bag) <= 9]
        assert rows["5-9"]["makespan"] == pytest.approx(sum(medium) / len(medium))


def test_a_horizon_leaves_tasks_unfinished(setup, tmp_path):
    plan = ExperimentPlan(replace(setup, experiment=replace(setup.experiment, horizon=1.0, repetitions=1)))
    run_all(plan, RunCache(tmp_path / "out"), 1)
    rows = [
        row for row in ExperimentResults.of(plan, RunCache(tmp_path / "out")).rows if row["class"] == "bags"
    ]

    assert all(row["finished"] == row["in_time"] for row in rows)
    assert all(0 < float(row["finished"] or 0) < 1 for row in rows if row["load"] == 0.9)


def test_a_run_is_known_by_all_that_it_depends_on_and_by_nothing_else(setup):
    keys = [run.key for run in ExperimentPlan(setup).runs]
    said = setup.experiment
    (workload,) = said.workloads

    def changed(**what):
        return [run.key for run in ExperimentPlan(replace(setup, experiment=replace(said, **what))).runs]

    assert len(set(keys)) == len(keys)
    assert changed(title="Other", about="Other", workloads=(replace(workload, name="other"),)) == keys
    assert changed(repetitions=1) == keys[:4] + keys[8:12]
    assert not {*changed(seed=1), *changed(horizon=2.0), *changed(period=60.0)} & set(keys)
    assert not {*changed(workloads=(replace(workload, tasks=401),))} & set(keys)


def test_one_process_or_several_write_the_same_bytes(setup, tmp_path):
    plan = ExperimentPlan(setup)
    folders = [tmp_path / "one", tmp_path / "two"]
    for jobs, folder in enumerate(folders, 1):
        assert run_all(plan, RunCache(folder, schedules=True), jobs) == 16
        ExperimentResults.of(plan, RunCache(folder, schedules=True)).write(folder)

    assert folder_of(folders[0]) == folder_of(folders[1])
    assert len(folder_of(folders[0])) == 2 * 16 + 2


STOPPED = """
import signal, sys
from gwa.cli import main
from gwa.evaluation.experiments import runner
spread, (how, experiment, folder) = runner.spread, sys.argv[1:]
def stopped(*words):
    for number, name in enumerate(spread(*words), 1):
        yield name
        if number == 3:
            signal.raise_signal(int(how))
runner.spread = stopped
sys.argv = ["gwa", "simulate", experiment, "-o", folder, "--jobs", "2"]
main()
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_who_stops_it_loses_nothing_that_was_done(setup, tmp_path, how):
    """Also, processes end with the one that started them."""
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    setup.path.write_text(TEXT.replace("TASKS", "1000"))
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED, str(how.value), str(setup.path), str(stopped)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    _, said = process.communicate()
    if how == signal.SIGINT:
        assert (process.returncode, said.strip()) == (130, b"gwa: stopped")
    else:
        assert process.returncode == -how
    while any_process_of(process.pid):
        time.sleep(0.01)
    done = {path: path.stat().st_mtime_ns for path in stopped.glob("runs/*.json")}
    plan = ExperimentPlan(read_experiment(setup.path))
    for folder in (stopped, whole):
        run_all(plan, RunCache(folder), 1)
        ExperimentResults.of(plan, RunCache(folder)).write(folder)

    assert len(done) >= 3
    assert all(path.stat().st_mtime_ns == when for path, when in done.items())
    written, wanted = folder_of(stopped), folder_of(whole)
    assert {name: content for name, content in written.items() if name in wanted} == wanted
    assert all(name.name.startswith((".", "report")) for name in written.keys() - wanted.keys())


def any_process_of(group):
    """Whether one of them is at work: one that has ended stays where nobody asks for its exit status."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    states = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, its_group = path.read_text().rpartition(")")[2].split()[:3]
            states += [state] if its_group == str(group) else []
    return not states or any(state != "Z" for state in states)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"key": "other", "rows": []}', "\xff"])
def test_a_result_that_is_not_whole_is_done_again(setup, tmp_path, content):
    plan = ExperimentPlan(replace(setup, experiment=replace(setup.experiment, repetitions=1, loads=(0.4,))))
    cache = RunCache(tmp_path / "out")
    run_all(plan, cache, 1)
    file = tmp_path / "out" / "runs" / f"{plan.runs[1].name}.json"
    before = file.read_bytes()
    file.write_text(content, encoding="latin-1")

    assert run_all(plan, cache, 1) == 1
    assert file.read_bytes() == before


@pytest.mark.parametrize("name", ["runs", "schedules"])
def test_a_folder_of_the_user_is_left_alone(name, tmp_path):
    mine = tmp_path / name / "mine.json"
    mine.parent.mkdir()
    mine.write_text("years of work")

    with pytest.raises(OutputError, match=f"{name}: was not made by gwa and is left alone"):
        RunCache(tmp_path, schedules=True).create_folders()
    assert [path.name for path in mine.parent.iterdir()] == ["mine.json"]


def test_a_run_that_cannot_be_done_is_said_in_a_line(tmp_path, gwa):
    path = tmp_path / "bad.toml"
    trace = HOME / "sample_traces" / "swf" / "tiny.swf"
    path.write_text(
        'title = "T"\npolicies = ["easy", "fcfs"]\nclusters = [{ name = "c", processors = 2 }]\n'
        f'[[workloads]]\nname = "too wide"\ntrace = "{trace}"\n'
    )
    status, _, said = gwa("simulate", path, "-o", tmp_path / "out", "--jobs", "1")

    assert status == 1
    assert said.startswith(f"gwa: {path}: workload too wide: job ")
    assert said.count("\n") == 1
    assert not list((tmp_path / "out").glob("results*"))


@pytest.mark.slow
def test_a_process_says_what_cannot_be_done(setup, tmp_path):
    text = setup.path.read_text().replace("tasks = 400", "days = 0.0001")
    setup.path.write_text(text)
    with pytest.raises(SimulationError, match="workload w: "):
        run_all(ExperimentPlan(read_experiment(setup.path)), RunCache(tmp_path / "out"), 2)


@pytest.mark.parametrize(
    ("text", "says"), [("", "bad.toml:1: title: is missing"), ("[", "bad.toml:1: ")], ids=["empty", "broken"]
)
def test_a_bad_file_is_said_in_a_line(tmp_path, gwa, text, says):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    status, printed, said = gwa("simulate", path, "-o", tmp_path / "out")

    assert (status, printed) == (1, "")
    assert says in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_pieces_are_all_runs_once_and_of_one_workload(setup):
    runs = ExperimentPlan(setup).runs
    for jobs in (1, 2, 3, 8, 50):
        parts = list(pieces(runs, jobs))
        assert [run for part in parts for run in part] == runs
        assert all(len({run.variant for run in part}) == 1 for part in parts)
        assert len(parts) >= min(len(runs), jobs)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=9))
def test_intervals_are_those_of_student(values):
    found = Estimate.of(values)
    assert found
    assert found.half is not None
    scale = stats.sem(values)
    low, high = stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=scale) if scale else (0, 0)

    assert found.mean == pytest.approx(np.mean(values), abs=1e-6)
    assert found.half == pytest.approx((high - low) / 2, rel=1e-3, abs=1e-9)


def test_one_repetition_tells_no_interval():
    assert Estimate.of([3.0]) == Estimate(3.0, None, 1)
    assert Estimate.of([]) is None


def test_the_page_shows_what_varies(setup, tmp_path):
    plan = ExperimentPlan(setup)
    run_all(plan, RunCache(tmp_path / "out"), 1)
    results = ExperimentResults.of(plan, RunCache(tmp_path / "out"))
    page = report(results, gantts(plan, plan.runs[0].name[:12]))
    ids = [block.id for section in page.sections for block in section.blocks if hasattr(block, "id")]

    assert results.varied == ["load", "architecture", "scheduler"]
    spans: dict[str, list[float]] = {}
    for row in results.rows:
        if row["class"] == "bags" and row["load"] == results.values("load")[-1]:
            spans.setdefault(f"{row['architecture']} · {row['scheduler']}", []).append(
                float(row["makespan"] or 0)
            )
    best = min(spans, key=lambda name: np.mean(spans[name]))
    assert page.fact("best.1.makespan.best_value").value == pytest.approx(np.mean(spans[best]))
    assert f"{best} (" in page.answer
    assert ") is the best by make-span: " in page.answer
    (second,) = [spans[str(page.fact("best.1.makespan.second").value)]]
    is_beyond = stats.ttest_rel(spans[best], second).pvalue < 0.05
    assert page.fact("best.1.makespan.beyond_chance").value == ("yes" if is_beyond else "no")
    policies = next(block for block in page.tables() if block.id == "policies")
    assert "Fastest Processor Largest Task" in str(policies.rows)
    assert "results-1-nsl" in ids
    assert "answer-picture" in ids
    legend = next(block.note for block in page.figures() if block.id == "answer-picture")
    assert "csp: central scheduler; sep-c: separated clusters; FPLT: Fastest Processor Largest Task" in legend
    assert "results-1-makespan" not in ids, "what is drawn above is not drawn again"
    assert "results-1-makespan-by-size" in ids
    figures: Any = {block.id: block for section in page.sections for block in section.blocks
                    if isinstance(block, Figure)}  # fmt: skip
    assert figures["results-1-nsl"].data["x"] == results.values("load"), "points stand at their loads"
    assert figures["results-1-makespan-by-size"].data["x"] is None, "classes are no numbers"
    assert any(name.startswith("schedule-") for name in ids)
    assert html(page).count(" data-plot=") >= 6
    cell = next(cell for cell in results.cells if cell.size == "bags")
    mine = [
        float(row["nsl"] or math.nan)
        for row in results.rows
        if (row["load"], row["architecture"], row["scheduler"], row["class"]) == (0.4, "csp", "FPLT", "bags")
    ]
    estimate = cell.estimates["nsl"]
    assert estimate is not None
    assert estimate.mean == pytest.approx(np.mean(mine))


# --- What a page claims, where that would be false ---


@pytest.fixture
def results(setup, tmp_path):
    plan = ExperimentPlan(setup)
    run_all(plan, RunCache(tmp_path / "out"), 1)
    return ExperimentResults.of(plan, RunCache(tmp_path / "out"))


def changed(results, change):
    """Return *results* in which *change* returns what is other in a row, by measure."""
    return replace(results, rows=tuple({**row, **change(row)} for row in results.rows))


def facts_of(page):
    return {fact.id: fact.value for fact in page.facts()}


MEASURED: dict[str, Any] = {
    "makespan": 5.0, "nsl": 2.0, "in_time": 0.5, "finished": 1.0, "wait": 7.0, "slowdown": 3.0,
    "bounded_slowdown": 3.0, "utilization": 0.5, "goodput": 1.0, "fairness": 0.5,
}  # fmt: skip
"""What all runs have in a world without any difference."""


def test_policies_that_tie_are_all_the_best_and_sums_in_another_order_are_a_tie(results):
    """Of two with the same schedule none is better; 0.9999999999999999 is 1."""
    noise = {"FPLT": 1.0, "STFR": 1 - 1e-15}

    def tie(row):
        worse = 2.0 if row["architecture"] == "sep-c" else noise[row["scheduler"]]
        return {**MEASURED, "makespan": 5.0 * worse, "wait": 7.0 * noise[row["scheduler"]]}

    page = report(changed(results, tie))

    assert "are equally the best by make-span: 5 s; the next, " in page.answer
    assert facts_of(page)["best.1.makespan.best"] == "csp · FPLT, csp · STFR"
    assert facts_of(page)["best.1.makespan.second"] == "sep-c · FPLT"
    assert "best.1.wait.best" not in facts_of(page), "all have the same waits"


@pytest.mark.parametrize("differ", [False, True])
def test_where_all_policies_give_the_same_none_is_the_best(results, differ):
    """Where they differ at another load only, that is not said of all loads."""
    low, high = results.values("load")

    def same(row):
        worse = 2.0 if differ and row["load"] == low and row["scheduler"] == "STFR" else 1.0
        return MEASURED | {"makespan": 5.0 * worse}

    assert report(changed(results, same)).answer == f"At load {100 * high:g} %, all policies give the same."


@pytest.mark.parametrize("share", [0.9, 0.0])
def test_who_leaves_tasks_undone_is_not_the_best_by_those_that_are_done(results, share):
    """A policy that only ends small bags has the shortest make-spans."""

    def fast_and_lazy(row):
        is_lazy = row["scheduler"] == "STFR"
        done = {"finished": share, "in_time": share / 2, "makespan": 1.0 if share else None}
        return MEASURED | (done if is_lazy else {})

    page = report(changed(results, fast_and_lazy))

    assert "best.1.makespan.best" not in facts_of(page)
    assert "STFR" not in page.answer.partition(";")[0]
    assert "Not all tasks finished" in page.answer


def test_processors_that_are_busy_with_copies_make_no_policy_the_best(results):
    def copying(row):
        is_copied = row["scheduler"] == "STFR"
        return MEASURED | ({"utilization": 0.9, "goodput": 0.5} if is_copied else {})

    page = report(changed(results, copying))

    assert "best.1.utilization.best" not in facts_of(page)
    assert facts_of(page)["best.1.goodput.best"] == "csp · FPLT, sep-c · FPLT"


def test_of_one_run_nothing_is_said_of_chance_in_each_row(setup, tmp_path):
    plan = ExperimentPlan(setup.with_repetitions(1))
    run_all(plan, RunCache(tmp_path / "out"), 1)
    page = report(ExperimentResults.of(plan, RunCache(tmp_path / "out")))
    table: Any = next(block for block in page.tables() if block.id == "best-1")

    assert "With one run of each, chance is not ruled out." in page.answer
    assert table.columns == ("Best", "Value", "Second", "Its value")
    assert "not known" in table.note


CAPACITY = """
title = "Sizes"
policies = ["fcfs"]
changes = ["none", "cpus +50%", "cpus +100%"]
wait_limit = LIMIT
clusters = [{ name = "one", processors = 4 }]

[[workloads]]
name = "w"
trace = "log.swf"
"""


@pytest.mark.parametrize(
    ("limit", "says"),
    [
        (3600, "With 8 processors, 95 % of the jobs wait for less than 1 h; with 6, the next smaller size"),
        (99999, "With 4 processors, the fewest of those tried, 95 % of the jobs wait for less than "),
    ],
)
def test_so_many_jobs_wait_for_less_as_the_answer_says(tmp_path, limit, says):
    """Four jobs of an hour and a bit on half of 8 processors: two at a time, or all but one of them wait."""
    rows = [f"{n} 0 -1 3700 4 -1 -1 4 3700 -1 1 1 1 1 1 1 -1 -1" for n in (1, 2)]
    (tmp_path / "log.swf").write_text("\n".join(("; MaxProcs: 4", *rows, "")))
    file = tmp_path / "sizes.toml"
    file.write_text(CAPACITY.replace("LIMIT", str(limit)))
    plan = ExperimentPlan(read_experiment(file))
    run_all(plan, RunCache(tmp_path / "out"), 1)
    found = ExperimentResults.of(plan, RunCache(tmp_path / "out"))

    page = report(found)
    assert page.answer.startswith(says)
    assert [row["wait_p95"] for row in found.rows] == [3700.0, 3700.0, 0.0]
    picture: Any = next(figure for figure in page.figures() if figure.id == "capacity")
    assert picture.data["x"] == [4.0, 6.0, 8.0], "the sizes that were tried"
    assert [one["label"] for one in picture.data["series"]][-1].startswith("limit: ")


def test_a_gantt_of_an_unknown_run_is_said(setup):
    with pytest.raises(
        ArgumentError, match="0 runs have a name that begins with 'zz', expected one, such as"
    ):
        gantts(ExperimentPlan(setup), "zz")
    with pytest.raises(ArgumentError, match="16 runs"):
        gantts(ExperimentPlan(setup), "")


@pytest.mark.parametrize("name", ["example", "parallel-jobs"])
def test_the_examples_of_the_help_run(tmp_path, gwa, name):
    words = ("simulate", HOME / "experiments" / f"{name}.toml", "-o", tmp_path, "--json", "--jobs", "1")
    status, printed, said = gwa(*words)
    first = folder_of(tmp_path)
    again = gwa(*words)
    table = parquet.read_table(tmp_path / "results.parquet")

    assert status == 0
    assert len(json.loads(printed)) == len(set(table["run"].to_pylist()))
    assert again[:2] == (status, printed)
    assert "of which 0 were done now" in again[2]
    assert folder_of(tmp_path) == first
    assert (tmp_path / "results.csv").read_text().count("\n") == table.num_rows + 1
    assert f"{tmp_path / 'report.html'}\n" in said


RAISING = """
title = "T"
policies = ["easy"]
repetitions = 1
clusters = [{{ name = "c", processors = 99 }}]
[[workloads]]
name = "w"
trace = "{}"
"""


def test_a_schedule_has_the_jobs_of_the_log_and_raised_requests_are_told(gwa, tmp_path):
    """Numbers of the log in any order, requests of 0, none, less than the run time, and more."""
    rows = [(70, 30, 60, 10), (12, 20, 60, 90), (5, 10, 60, -1), (900, 40, 60, 59)]
    line = "{0} {1} 0 {2} 1 -1 -1 1 {3} -1 1 1 1 1 1 1 -1 -1\n"
    (tmp_path / "log.swf").write_text("; UnixStartTime: 1\n" + "".join(line.format(*row) for row in rows))
    (tmp_path / "e.toml").write_text(RAISING.format(tmp_path / "log.swf"))
    status, _, said = gwa("simulate", tmp_path / "e.toml", "-o", tmp_path / "out", "--schedules")
    assert status == 0, said
    assert "In a run, 2 of 4 jobs ran longer than they requested" in said
    assert "2 of 4 jobs ran longer" in (tmp_path / "out" / "report.html").read_text()
    (path,) = (tmp_path / "out" / "schedules").glob("*.parquet")
    jobs = parquet.read_table(path).to_pylist()
    assert [job["job"] for job in jobs] == [5, 12, 70, 900]
    assert [job["estimate"] for job in jobs] == [60, 90, 60, 60]
    with (tmp_path / "out" / "results.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert row["raised"] == "2"


def test_an_experiment_on_another_file_is_no_reason_to_replace_results(gwa, tmp_path):
    for name, number in (("a", 1), ("b", 2)):
        (tmp_path / f"{name}.swf").write_text(f"{number} 0 0 60 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n" * 1)
        (tmp_path / f"{name}.toml").write_text(RAISING.format(tmp_path / f"{name}.swf"))
    words = ("-o", tmp_path / "out", "-q")
    assert gwa("simulate", tmp_path / "a.toml", *words)[0] == 0
    assert gwa("simulate", tmp_path / "a.toml", *words, "--schedules")[0] == 0
    status, _, said = gwa("simulate", tmp_path / "b.toml", *words)
    assert status == 1
    assert "--force" in said
    assert gwa("simulate", tmp_path / "b.toml", *words, "--force")[0] == 0


def test_no_cell_of_results_is_a_formula(gwa, tmp_path):
    (tmp_path / "log.swf").write_text("1 0 0 60 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n")
    text = RAISING.format(tmp_path / "log.swf").replace('name = "w"', '''name = "=cmd|' /C calc'!A0"''')
    (tmp_path / "e.toml").write_text(text)
    assert gwa("simulate", tmp_path / "e.toml", "-o", tmp_path / "out", "-q")[0] == 0
    with (tmp_path / "out" / "results.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert not [cell for cell in row.values() if cell[:1] in set("=+-@|%")]
