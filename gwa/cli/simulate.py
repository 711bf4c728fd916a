"""Simulate schedulers."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gwa.cli._commands import Purpose
from gwa.cli._options import DEBUG, JSON, PATH, QUIET, flag, looking, looks, output_folder
from gwa.cli._output import FORCE, claimed, write_texts
from gwa.cli._terminal import echo, progress, say, table

if TYPE_CHECKING:
    from gwa.evaluation.experiments.results import ExperimentResults

PURPOSE = Purpose.PLAN

KINDS: Final = ("html", "json")

GROWTH: Final = frozenset(
    {"repetitions", "jobs", "schedules", "gantt", "as_json", "theme", "lang", "strings"}
)
"""Options by which an experiment goes on in its folder."""


@click.command(name="simulate")
@click.argument("experiment", metavar="EXPERIMENT.toml", type=PATH)
@output_folder(required=True)
@FORCE
@click.option(
    "--repetitions", type=click.IntRange(min=1), metavar="N", help="Repetitions instead of those of the file."
)
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Worker processes; by default one per processor."
)
@flag("--schedules", "Write the schedule of each run, with job numbers, as Parquet.")
@click.option("--gantt", metavar="RUN", help="Draw the schedule of a run, named as in results.csv.")
@JSON
@looks
@QUIET
@DEBUG
def command(
    experiment: Path, folder: Path, repetitions: int | None, jobs: int | None, schedules: bool,
    gantt: str | None, as_json: bool, **params: Any,
) -> None:  # fmt: skip
    """
    Simulate schedulers on bags of tasks or parallel jobs.

    EXPERIMENT.toml names workloads (a trace, or a model at a load), a system of clusters, policies and
    repetitions; a checkout has examples. DIR receives results.csv and results.parquet with a row
    for each run and class of bag sizes, a page with figures, and the result of each run, so that an
    interrupted experiment resumes. Prints the means with their confidence intervals.

    \b
    Examples:
      gwa simulate experiments/example.toml -o example
      gwa simulate experiments/parallel-jobs.toml -o parallel --json
    """
    from gwa.evaluation.experiments.gantt import gantts
    from gwa.evaluation.experiments.page import report
    from gwa.evaluation.experiments.plan import ExperimentPlan
    from gwa.evaluation.experiments.results import ExperimentResults
    from gwa.evaluation.experiments.run_cache import RunCache
    from gwa.evaluation.experiments.runner import run_all
    from gwa.evaluation.experiments.spec import read_experiment
    from gwa.report.language import Language
    from gwa.report.output import paths, write

    look = looking(params)
    spec = read_experiment(experiment)
    plan = ExperimentPlan(spec if repetitions is None else spec.with_repetitions(repetitions))
    cache = RunCache(folder, schedules=schedules)
    gantt_figures = gantts(plan, gantt)
    done = run_all(plan, cache, jobs or os.cpu_count() or 1, progress(quiet=params["quiet"]))
    results = ExperimentResults.of(plan, cache)
    page = report(results, gantt_figures)
    files = [*results.paths(folder), *paths(folder, "report", KINDS)]
    with claimed(files, force=params["force"], but=GROWTH):
        results.write(folder)
        write(page, folder, "report", KINDS, **look)
    write_texts(params)
    _print(results, as_json=as_json)
    if not params["quiet"]:
        echo((look["language"] or Language())(page.answer), err=True)
        echo(f"{len(plan.runs):,} runs, of which {done:,} were done now", err=True)
        if results.raised:
            echo(results.raised, err=True)
        echo("\n".join(map(str, files)), err=True)


def _print(results: "ExperimentResults", *, as_json: bool) -> None:
    """Print the means over repetitions; on a terminal the answer first, and numbers as people read them."""
    from gwa.evaluation.experiments.page import report, summary

    is_read = sys.stdout.isatty() and not as_json
    if is_read and (answer := report(results).answer):
        say(answer)
    names, rows = summary(results, is_brief=is_read)
    table(names, rows, as_json=as_json)
