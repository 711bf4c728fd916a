"""Say what users should change."""

import json
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from gwa.cli._common import JSON, OUTPUT_PATH, TRACE, opened, options, parts
from gwa.cli._terminal import echo, echo_json


@click.command(name="advise")
@TRACE
@click.option("--user", metavar="NAME", help="The user who is advised.")
@click.option("--all", "everybody", is_flag=True, help="All users: a file for each, in the folder of -o.")
@click.option("-o", "--output", "folder", type=OUTPUT_PATH, metavar="DIR", help="Folder to write to.")
@JSON
@parts
@options
def command(
    trace: Path, user: str | None, everybody: bool, folder: Path | None, as_json: bool, **params: Any
) -> None:
    """
    Say what a user should change: memory, time, processors and GPUs asked for and not used.

    What is said rests on the jobs of that user alone, with their numbers, as plain text that can be mailed.
    Of fewer than ten jobs, nothing is said of memory and time.

    \b
    Examples:
      gwa advise sample_traces/slurm/sacct-2015.log --user user011
      gwa advise sample_traces/slurm/sacct-2015.log --all -o advice
    """
    from gwa.analysis.advice import as_text, letter, users

    if bool(user) == everybody or everybody != bool(folder):
        raise click.UsageError("expected either --user NAME, or --all with -o DIR")
    with opened(trace, params) as opened_trace:
        store, name = opened_trace.store, opened_trace.name
        known = users(store)
        if user is not None and user not in known:
            raise _unknown(user, known)
        letters = [letter(store, one) for one in ([user] if user else known)]
    if folder:
        for path in _write(folder, {one.user: as_text(one, name) for one in letters}):
            echo(path)
    elif as_json:
        echo_json(json.dumps(asdict(letters[0]), indent=1, ensure_ascii=False))
    else:
        echo(as_text(letters[0], name), nl=False)


def _unknown(user: str, known: list[str]) -> click.BadParameter:
    near = get_close_matches(user, known)
    hint = f", the nearest are {', '.join(near)}" if near else ""
    return click.BadParameter(f"the trace has no jobs of '{user}'{hint}", param_hint="--user")


def _write(folder: Path, texts: dict[str, str]) -> list[Path]:
    """Write a file for each user, whose name is that of the user as far as a file may be called so."""
    from gwa.util.atomic import write_folder
    from gwa.util.filenames import file_names

    names = {f"{name}.txt": user for user, name in file_names(texts).items()}
    write_folder(folder, {name: texts[user] for name, user in names.items()})
    return [folder / name for name in names]
