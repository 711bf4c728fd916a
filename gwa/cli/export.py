"""Write a trace for other simulators."""

from pathlib import Path
from typing import Any, Final

import click

from gwa.cli._commands import Purpose
from gwa.cli._options import TRACE, Options, options, output_folder
from gwa.cli._output import FORCE, claimed
from gwa.cli._reading import opened
from gwa.cli._terminal import echo

PURPOSE = Purpose.PUBLISH

SIMULATORS: Final = {
    "batsim": "Batsim: workload.json and platform.xml.",
    "opendc": "OpenDC: tasks and fragments as Parquet, topology.json.",
    "wfcommons": "WfCommons: an instance of WfFormat 1.5 for each workflow and bag of tasks.",
    "alea": "Alea: SWF and its file of machines.",
    "accasim": "AccaSim: SWF and system.json.",
    "simgrid": "SimGrid: platform.xml and jobs.csv.",
}


@click.command(name="export")
@TRACE
@Options(*(click.option(f"--{name}", is_flag=True, help=about) for name, about in SIMULATORS.items()))
@output_folder("Output folder, with a folder for each simulator.", required=True)
@FORCE
@options
def command(trace: Path, folder: Path, force: bool, **params: Any) -> None:
    """
    Write a trace as the input of other simulators: jobs, machine, dependencies, workflows.

    Jobs are those that ran, with submissions counted from the first; the machine is one pool. What a
    simulator has no place for is printed.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa export sample.sacct --batsim --alea -o exported
    """
    from gwa.formats.export import export
    from gwa.util.atomic import make_folder

    chosen = [name for name in SIMULATORS if params[name]]
    if not chosen:
        raise click.UsageError(f"expected some of {', '.join(f'--{name}' for name in SIMULATORS)}")
    make_folder(folder)
    with (
        claimed([folder / name for name in chosen], force=force, but=SIMULATORS),
        opened(trace, params) as opened_trace,
    ):
        for name in chosen:
            done = export(opened_trace.store, name, folder / name)
            for path in done.files[:10]:
                echo(path)
            if len(done.files) > len(done.files[:10]):
                echo(f"… {len(done.files) - 10} more files", err=True)
            if not params["quiet"]:
                echo(
                    f"{name}: {done.jobs:,} jobs; left out: {'; '.join(done.left_out) or 'nothing'}", err=True
                )
