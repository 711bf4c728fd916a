"""Forecasts of jobs as tasks: one file for each command, found by looking."""

import click

from gwa.cli._commands import Commands, Purpose

PURPOSE = Purpose.MODEL


@click.group(name="tasks", cls=Commands)
def command() -> None:
    """
    Make tasks for forecasts of jobs, score forecasts, rank.

    A task is what is known of each job at its submission, and what became of it: its wait, its run time,
    whether it failed, its peak memory or its energy.

    \b
    Examples:
      gwa sample swf -o sample.swf
      gwa tasks make sample.swf -o tasks
      gwa tasks score tasks/run_time tasks/run_time/baselines/last.parquet
      gwa tasks leaderboard tasks/run_time
    """
