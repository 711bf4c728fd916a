"""All that is done with models of workloads: one file for each command, found by looking."""

import click

from gwa.cli._commands import Commands, Purpose

PURPOSE = Purpose.MODEL


@click.group(name="model", cls=Commands)
def command() -> None:
    """
    Fit models of workloads, generate from them, score, rank.

    'gwa generate', 'gwa score' and 'gwa leaderboard' are former names of 'gwa model generate', 'gwa model
    score' and 'gwa model rank', and do the same.

    \b
    Examples:
      gwa model list
      gwa sample -o sample.sacct
      gwa model fit sample.sacct lublin -o lublin.json
      gwa model generate lublin.json --jobs 1000 --seed 1 -o synthetic.gwf
    """
