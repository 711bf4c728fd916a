"""Replay a log on a changed machine."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gwa.cli._commands import Purpose
from gwa.cli._options import JSON, TRACE, PolicyName, options, output_folder, shown, takes
from gwa.cli._output import FORCE, claimed
from gwa.cli._reading import opened
from gwa.cli._terminal import echo, echo_json, progress, say, table

if TYPE_CHECKING:
    from gwa.evaluation.whatif.answer import WhatIfAnswer
    from gwa.evaluation.whatif.change import Change
    from gwa.evaluation.whatif.effect import Effect
    from gwa.report.lead import Lead
    from gwa.store.store import Store

PURPOSE = Purpose.PLAN

CHANGES: Final = ("without_user", "load", "walltime_cap", "requests", "cpus", "gpus", "limit", "scheduler")
"""The options that change something, in the order in which they do."""

POLICIES: Final = ("fcfs", "sjf", "sjf-backfill", "easy", "conservative")

COLUMNS: Final = ("measure", "jobs", "now", "changed", "ratio", "low", "high")


@click.command(name="whatif")
@TRACE
@click.option("--cpus", metavar="SIZE", help="Processors: a number, or a difference such as +20% or -64.")
@click.option("--gpus", metavar="SIZE", help="GPUs, likewise; replays the jobs with GPUs, on GPUs alone.")
@takes("--limit", "user=K", "Processors that a user holds at once, such as user=128; user=none: no ceiling.")
@click.option("--scheduler", type=PolicyName(POLICIES), help="Another policy; your own is package:function.")
@click.option("--without-user", metavar="USER", multiple=True, help="Leave out a user's jobs (repeatable).")
@takes("--load", "FACTOR", "Work submitted, relative to now: users' weeks left out, or repeated.")
@click.option(
    "--requests", type=click.Choice(["perfect", "doubled"]), help="Other requested times, for all jobs."
)
@click.option("--walltime-cap", metavar="TIME", help="Divide jobs that ran longer, such as 24h.")
@shown("--was", PolicyName(POLICIES), "easy", "Policy that the machine as it was is replayed with.")
@output_folder("Also write a page with figures to DIR.")
@FORCE
@JSON
@options
def command(trace: Path, was: str, folder: Path | None, force: bool, as_json: bool, **params: Any) -> None:
    """
    Replay a log on a changed machine, and say how waits would change.

    The log is simulated on the machine as it was and as it would be, which gives the ratio of both. For more
    processors the answer is that of gwa plan, where months of the log bear it out. All other changes are
    replays on an ideal machine, not validated against this log. Changes can be combined. How much of the
    waiting of the log they touch is said, too; where more than 20 % of it was with room for every waiting job
    or at a ceiling of the owner, no other size is answered.

    \b
    Examples:
      gwa sample swf -o sample.swf
      gwa whatif sample.swf --cpus +20%
      gwa whatif sample.swf --scheduler fcfs --load 0.9 -o whatif
      gwa whatif sample.swf --limit user=32
    """
    from gwa.evaluation.whatif.answer import asked

    changes = _changes(params)
    with opened(trace, params) as opened_trace:
        store, name = opened_trace.store, opened_trace.name
        found = asked(store, changes, was, progress(quiet=params["quiet"]))
        hours = _hours(store, found) if folder else None
    _print(found, as_json=as_json)
    if folder:
        _write(found, name, folder, hours, force=force)


def _hours(store: "Store", found: "WhatIfAnswer") -> "Lead | None":
    """Return what became of the hours on both machines; None where other jobs than those of the log run."""
    from gwa.analysis.lead import on_another_machine

    kinds = {one.kind.id for one in found.changes}
    is_of_the_machine = "cpus" in kinds and kinds <= {"cpus", "scheduler"}
    return on_another_machine(store, found.new.world.capacity) if is_of_the_machine else None


def _changes(params: dict[str, Any]) -> "list[Change]":
    """Return the changes that the options ask for; none, and both pools at once, are usage errors."""
    from gwa.evaluation.whatif.change import parsed

    texts = [
        f"{option.replace('_', '-')} {value}"
        for option in CHANGES
        for value in (params[option] if isinstance(params[option], tuple) else (params[option],))
        if value is not None
    ]
    if not texts:
        raise click.UsageError(
            "nothing is changed, expected some of "
            + ", ".join(f"--{option.replace('_', '-')}" for option in CHANGES)
        )
    if params["cpus"] and params["gpus"]:
        raise click.UsageError("--cpus and --gpus are different pools, expected one of them")
    return [parsed(text) for text in texts]


def _print(found: "WhatIfAnswer", *, as_json: bool) -> None:
    """Print the answer, then what replays give; where tables are piped, sentences are not."""
    from gwa.evaluation.whatif import words

    if as_json:
        echo_json(json.dumps(found.plain(), indent=1, allow_nan=False))
        return
    is_piped = not sys.stdout.isatty()
    say(f"{words.question(found)} {words.answer_sentence(found)}", err=is_piped)
    for sentence in (*words.reach(found), words.trust(found)):
        say(sentence, err=is_piped)
    rows = [_row(one, one.name, as_number=is_piped) for one in found.effects]
    rows += [_row(one, f"mean wait: {one.name}", as_number=is_piped) for one in found.sizes]
    rows += [_row(one, f"mean wait: queue {one.name}", as_number=is_piped) for one in found.queues]
    table(COLUMNS, rows, as_json=False, words=dict.fromkeys(COLUMNS[2:], str))
    for remark in words.remarks(found):
        echo(remark, err=True)


def _row(effect: "Effect", name: str, *, as_number: bool) -> tuple[object, ...]:
    """Return a row of the table; numbers as people read them, or in seconds *as_number*."""
    from gwa.evaluation.capacity.words import times
    from gwa.evaluation.whatif.words import wait_text

    numbers = (effect.old, effect.new, effect.ratio, effect.low, effect.high)
    if as_number:
        return (name, effect.jobs, *(round(value, 4) for value in numbers))
    before, after = (f"{value:,.1f}" if effect.is_slowdown else wait_text(value) for value in numbers[:2])
    return (name, effect.jobs, before, after, *map(times, numbers[2:]))


def _write(found: "WhatIfAnswer", name: str, folder: Path, hours: "Lead | None", *, force: bool) -> None:
    from gwa.evaluation.whatif.page import report
    from gwa.report.output import paths, write

    kinds = ["html", "json"]
    with claimed(paths(folder, "whatif", kinds), force=force, but={"as_json"}):
        for path in write(report(found, name, hours), folder, "whatif", kinds):
            echo(path, err=True)
