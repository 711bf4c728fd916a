"""Collect what a store lacks from the batch system, and append it."""

import re
import shlex
import shutil
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

import click

from gwa.cli._commands import Purpose
from gwa.cli._options import Range, flag, options_with, reads, says, shown, takes, writes
from gwa.cli._output import noting, tell
from gwa.cli._reading import reading
from gwa.cli._terminal import echo
from gwa.util.filenames import as_text

if TYPE_CHECKING:
    from gwa.formats.collect.slurm import Collected, CollectedDays
    from gwa.store.options import ReadOptions

PURPOSE = Purpose.READ

SLURM: Final = "slurm"
SYSTEMS: Final = (SLURM, "pbs", "lsf", "sge")

CLUSTER_NAME: Final = re.compile(r"[\w.+-]+")
"""The names of clusters that sacct takes; of several, each is collected by itself."""

DAY: Final = click.DateTime(["%Y-%m-%d"])


@click.command(name="collect")
@click.argument("batch", type=click.Choice(SYSTEMS), metavar="[slurm|pbs|lsf|sge]")
@writes("-o --output out", "OUT", "Store to append to, or to make.", required=True)
@takes("--since", "DATE", "First day, of Slurm; by default the first that the store has.", type=DAY)
@takes("--until", "DATE", "Last day, of Slurm; by default yesterday, the last whole one.", type=DAY)
@click.option("--sacct", default="sacct", metavar="PATH", help="Slurm's sacct; by default that in PATH.")
@shown(
    "--timeout",
    Range(min=0, min_open=True),
    300,
    "Time for an answer of sacct, after which half of the day is asked for.",
    metavar="SECONDS",
)
@shown(
    "--again",
    click.IntRange(min=0),
    1,
    "Days that the store has and that are taken again, for records that came late.",
    metavar="DAYS",
)
@reads("--logs", "DIR", "Folder with the logs of PBS, LSF or Grid Engine.")
@flag("--print only_print", "Print the commands instead of running them.")
@options_with(
    says(
        "--cluster",
        "NAME",
        "Cluster to collect; by default that of Slurm's configuration, and none is stated of logs.",
    )
)
@click.pass_context
def command(
    ctx: click.Context, /, batch: str, out: Path, logs: Path | None, only_print: bool, **params: Any
) -> None:
    """
    Collect what a store lacks from the batch system, and append it.

    Of Slurm, each day that is missing is asked for with sacct, by half days and less where it takes longer
    than --timeout or is refused. What ran when a day was taken is complete once the day on which it ended is.
    A collection that was broken off goes on where it stopped. Where a day cannot be had the others are
    appended, and the exit status is 1: the next collection asks for it again.

    Of pbs, lsf and sge (Grid Engine), the lines of the logs in --logs that the store does not have are
    appended, however they were rotated: gwa collect pbs --logs DIR -o cluster.duckdb

    \b
    Examples:
      gwa collect slurm --since 2026-01-01 --until 2026-01-07 -o cluster.duckdb --print
    """
    read_options, notes = noting(reading(params))
    words = shlex.join(["gwa", "collect", batch, "-o", as_text(out.name)])
    if batch == SLURM:
        if logs:
            raise click.UsageError("--logs is of pbs, lsf and sge: Slurm's jobs are asked for with sacct")
        collected = _slurm(out, read_options, words, params, only_print=only_print)
        if collected is None:
            return
        if collected.account:
            tell(out, collected.account, notes, quiet=params["quiet"])
        ctx.exit(1 if collected.missing else 0)
    for name in ("since", "until"):
        if params[name]:
            raise click.UsageError(f"--{name} is of slurm: of {batch}, all new lines are read")
    if not logs:
        raise click.UsageError(f"expected --logs with the folder of the logs of {batch}")
    from gwa.formats.collect.logs import collect_logs
    from gwa.formats.collect.logs import commands as of_logs

    if only_print:
        for line in of_logs(batch, logs, out):
            echo(line)
        return
    found = collect_logs(batch, logs, out, options=read_options, command=words)
    if not params["quiet"]:
        echo(f"gwa: {found.new:,} of {found.logs:,} logs of {batch} have new lines", err=True)
    if found.account:
        tell(out, found.account, notes, quiet=params["quiet"])


def _slurm(
    out: Path, read_options: "ReadOptions", words: str, params: dict[str, Any], *, only_print: bool
) -> "Collected | None":
    """Collect the days of a Slurm cluster and say which; only print the commands where that is wanted."""
    from dataclasses import replace

    from gwa.formats.collect.sacct import Sacct
    from gwa.formats.collect.slurm import collect, commands

    quiet = params["quiet"]
    if params["cluster"] and not CLUSTER_NAME.fullmatch(params["cluster"]):
        raise click.BadParameter(
            f"'{params['cluster']}' is no name of a cluster, expected one, of letters and digits",
            param_hint="--cluster",
        )
    program = params["sacct"] if only_print else shutil.which(params["sacct"])
    if program is None:
        raise click.BadParameter(
            f"there is no {params['sacct']} to run, expected sacct of Slurm in PATH, or where it is",
            param_hint="--sacct",
        )
    zone = _zone(read_options)
    sacct = Sacct(program, params["cluster"], params["timeout"], lambda said: echo(f"gwa: {said}", err=True))
    wanted = _days_to_collect(out, zone, params)
    if only_print:
        for line in commands(wanted, sacct):
            echo(line)
        return None
    # The rows name their cluster themselves.
    stated = replace(read_options, cluster=None, system={"zone": zone, **(read_options.system or {})})
    collected = collect(wanted, sacct, options=stated, command=words, tell=sacct.tell)
    _say(collected, zone, quiet=quiet)
    return collected


def _zone(read_options: "ReadOptions") -> str:
    """Return the zone whose days are collected: what is stated of the system, else that of this machine."""
    from gwa.formats.collect.days import zone_of_machine

    return str(read_options.stated_system.get("zone") or zone_of_machine() or "UTC")


def _days_to_collect(out: Path, zone: str, params: dict[str, Any]) -> "CollectedDays":
    """Return the days that the options ask for."""
    from gwa.formats.collect.slurm import CollectedDays

    yesterday = datetime.now(ZoneInfo(zone)).date() - timedelta(days=1)
    since, until = (moment.date() if (moment := params[name]) else None for name in ("since", "until"))
    last = until or yesterday
    if last > yesterday:
        raise click.BadParameter(
            f"{last} is not over, expected {yesterday} at the latest", param_hint="--until"
        )
    if since and since > last:
        raise click.BadParameter(f"{since} is after {last}, the last day", param_hint="--since")
    return CollectedDays(out, since, last, ZoneInfo(zone), params["again"])


def _say(collected: "Collected", zone: str, *, quiet: bool) -> None:
    """Say which days were taken, which could not be had, and what was left out."""
    for day, reason in collected.missing.items():
        echo(f"gwa: {day} could not be taken: {reason}", err=True)
    if quiet:
        return
    echo(f"gwa: {_days(collected.days)} taken from sacct, in {zone}", err=True)
    if collected.waiting:
        echo(
            f"gwa: {collected.waiting:,} rows of waiting tasks of arrays left out: they come once they begin",
            err=True,
        )


def _days(days: list[date]) -> str:
    """Return which *days*, in words."""
    if not days:
        return "no day was"
    if len(days) == 1:
        return f"{days[0]} was"
    return f"{len(days):,} days from {days[0]} to {days[-1]} were"
