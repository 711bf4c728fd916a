"""Simulate schedulers."""

import json
import sys
from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from gwa.cli._commands import Purpose
from gwa.cli._options import JSON, PATH, Range, flag, looking, looks, options, output_folder, says, takes
from gwa.cli._output import FORCE, claimed, write_texts
from gwa.cli._reading import opened
from gwa.cli._terminal import echo, echo_json, progress, say, table
from gwa.util.cores import usable_cores

if TYPE_CHECKING:
    from gwa.evaluation.experiments.results import ExperimentResults
    from gwa.evaluation.whatif.policies import PolicyOutcome, ReplayedLog

PURPOSE = Purpose.PLAN

KINDS: Final = ("html", "json")

GROWTH: Final = frozenset(
    {"repetitions", "jobs", "schedules", "gantt", "as_json", "theme", "lang", "strings"}
)
"""Options by which an experiment goes on in its folder."""

OF_EXPERIMENTS: Final = frozenset(
    {"folder", "force", "repetitions", "jobs", "schedules", "gantt", "theme", "lang", "strings"}
)
OF_LOGS: Final = frozenset({"policies", "load", "name", "system", "set_", "map_", "memory", "threads"})
"""The options that say how an experiment is done, and how logs are read and replayed."""

SHOWN: Final = frozenset({"log", "policy", "wait", "wait ×", "slowdown"})
"""The columns on policies that a narrow terminal shows."""


@click.command(name="simulate")
@click.argument("inputs", metavar="EXPERIMENT.toml|LOG...", type=PATH, nargs=-1, required=True)
@says(
    "--policies",
    "A,B,…",
    "Replay logs under these policies, and print one table; your own is package:function.",
)
@takes("--load", "SHARE", "Replay logs at this load, gaps scaled.", type=Range(0, 10, min_open=True))
@output_folder("Output folder of an experiment.")
@FORCE
@takes("--repetitions", "N", "Repetitions instead of those of the file.", type=click.IntRange(min=1))
@takes("--jobs", "N", "Worker processes; by default one per processor.", type=click.IntRange(min=1))
@flag("--schedules", "Write the schedule of each run, with job numbers, as Parquet.")
@click.option("--gantt", metavar="RUN", help="Draw the schedule of a run, named as in results.csv.")
@JSON
@looks
@options
def command(inputs: Sequence[Path], policies: str | None, load: float | None, **params: Any) -> None:
    """
    Simulate schedulers: an experiment, or policies on logs.

    EXPERIMENT.toml names workloads (a trace, or a model at a load), a system of clusters, policies and
    repetitions; a checkout has examples. DIR receives results.csv and results.parquet with a row
    for each run and class of bag sizes, a page with figures, and the result of each run, so that an
    interrupted experiment resumes. Prints the means with their confidence intervals.

    With --policies, each LOG is replayed under each policy: mean waits and slowdowns, how they relate to
    those of the first policy, and how each log is cited. A policy of your own is a function in a module of
    the current folder, or of an installed package.

    \b
    Examples:
      gwa simulate experiments/example.toml -o example
      gwa simulate experiments/parallel-jobs.toml -o parallel --json
      gwa simulate --policies easy,sjf sample_traces/swf/tiny.swf
    """
    if policies is not None:
        _refuse(OF_EXPERIMENTS, "an experiment, and --policies replays logs")
        _replay(inputs, _policies(policies), load, params)
        return
    _refuse(OF_LOGS, "logs, expected --policies as well")
    if len(inputs) > 1:
        raise click.UsageError("several files are logs, expected --policies, or a single EXPERIMENT.toml")
    if params["folder"] is None:
        raise click.UsageError(
            "an experiment is written to a folder, expected -o DIR; or --policies, for logs"
        )
    _experiment(inputs[0], **params)


def _refuse(names: Collection[str], what: str) -> None:
    """Raise a usage error if one of some options was given, which is of something else."""
    context = click.get_current_context()
    for param in context.command.params:
        is_given = context.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
        if is_given and param.name in names:
            raise click.UsageError(f"{param.opts[0]} is of {what}")


def _experiment(
    experiment: Path, folder: Path, repetitions: int | None, jobs: int | None, schedules: bool,
    gantt: str | None, as_json: bool, **params: Any,
) -> None:  # fmt: skip
    """Do what is left of an experiment, write its results, and print the means."""
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
    done = run_all(plan, cache, jobs or usable_cores(), progress(quiet=params["quiet"]))
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


# --- Policies on logs ---


def _policies(text: str) -> list[str]:
    """Return the names of the policies, each once; what is none is a usage error."""
    from gwa.errors import GwaError
    from gwa.simulation.backfilling import known

    try:
        return [known(name) for name in dict.fromkeys(name.strip() for name in text.split(","))]
    except GwaError as error:
        raise click.BadParameter(str(error), param_hint="--policies") from error


def _replay(
    logs: Sequence[Path], policies: Sequence[str], load: float | None, params: dict[str, Any]
) -> None:
    """Replay logs under policies, and print one table; a log is closed before the next one is read."""
    from gwa.archive.public_traces import to_cite
    from gwa.evaluation.whatif.policies import ABOUT, ReplayedLog

    replayed: list[tuple[ReplayedLog, dict[str, list[str]]]] = []
    rows: list[PolicyOutcome] = []
    with progress(quiet=params["quiet"]).step("replaying", len(logs) * len(policies)) as bar:
        for path in logs:
            with opened(path, params) as trace:
                log, cited = ReplayedLog.of(trace.name, trace.store, load), to_cite(trace.store)
            replayed.append((log, cited))
            for one in log.outcomes(policies):
                rows.append(one)
                bar.advance()
    about = ABOUT.format(base=policies[0])
    if params["as_json"]:
        told = [{**log.plain(), "cite": cited} for log, cited in replayed]
        outcomes = [asdict(one) for one in rows]
        echo_json(json.dumps({"about": about, "logs": told, "outcomes": outcomes}, indent=1, allow_nan=False))
        return
    _print_policies(rows)
    if not params["quiet"]:
        for text in (about, *(str(log) for log, _ in replayed), *_cited(replayed)):
            echo(text, err=True)


def _cited(replayed: "Sequence[tuple[ReplayedLog, dict[str, list[str]]]]") -> list[str]:
    """Return how the logs are cited in sentences, of which each names the logs that it is of."""
    logs: dict[tuple[str, str], list[str]] = {}
    for log, cited in replayed:
        for kind, texts in (cited or {"citation": ["not known"]}).items():
            for text in texts:
                logs.setdefault((kind, text), []).append(log.log)
    return [f"{kind.capitalize()} for {', '.join(of)}: {text}" for (kind, text), of in sorted(logs.items())]


def _rounded(value: object) -> object:
    return round(value, 4) if isinstance(value, float) else value


def _print_policies(rows: "Sequence[PolicyOutcome]") -> None:
    """Print a row for each log and policy; on a terminal ratios with their intervals, as people read them."""
    from gwa.evaluation.whatif.words import wait_text
    from gwa.words.formatting import significant

    if not sys.stdout.isatty():
        outcomes = [asdict(one) for one in rows]
        table(list(outcomes[0]), [tuple(map(_rounded, one.values())) for one in outcomes], as_json=False)
        return

    base = rows[0].policy
    told = [
        (
            one.log,
            one.policy,
            wait_text(one.wait),
            _ratio(one, base, "wait"),
            str(significant(one.slowdown, 3)),
            _ratio(one, base, "slowdown"),
        )
        for one in rows
    ]
    figures = ("wait", "wait ×", "slowdown", "slowdown ×")
    words = dict.fromkeys(figures, str)
    table(("log", "policy", *figures), told, as_json=False, shown=SHOWN, words=words)


def _ratio(one: "PolicyOutcome", base: str, measure: str) -> str | None:
    """Return the ratio of a measure with its interval, if it has one; the *base* has none."""
    from gwa.evaluation.capacity.words import times

    if one.policy == base:
        return None
    ratio, low, high = (getattr(one, f"{measure}_{name}") for name in ("ratio", "low", "high"))
    return times(ratio) if low is None else f"{times(ratio)} ({times(low)}–{times(high)})"
