"""Say what users should change."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from gwa.cli._commands import Purpose
from gwa.cli._common import FORCE, JSON, OUTPUT_PATH, TRACE, claimed, opened, options, parts
from gwa.cli._terminal import echo, echo_json

PURPOSE = Purpose.REPORT


@click.command(name="advise")
@TRACE
@click.option("--user", metavar="NAME", help="User to advise.")
@click.option(
    "--all", "everybody", is_flag=True, help="Write a file for each user into the folder given by -o."
)
@click.option("-o", "--output", "folder", type=OUTPUT_PATH, metavar="DIR", help="Output folder.")
@FORCE
@JSON
@parts
@options
def command(
    trace: Path, user: str | None, everybody: bool, folder: Path | None, force: bool, as_json: bool,
    **params: Any,
) -> None:  # fmt: skip
    """
    Advise users on what they request and do not use.

    The advice, on memory, time, processors and GPUs, is plain text that can be mailed, with the numbers of
    that user's own jobs. Advice on memory and time needs ten jobs or more.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa advise sample.sacct --user u12
      gwa advise sample.sacct --all -o advice
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
        for path in _write(folder, {one.user: as_text(one, name) for one in letters}, force=force):
            echo(path)
    elif as_json:
        echo_json(json.dumps(asdict(letters[0]), indent=1, ensure_ascii=False))
    else:
        echo(as_text(letters[0], name), nl=False)


def _unknown(user: str, known: list[str]) -> click.BadParameter:
    from difflib import get_close_matches

    near = get_close_matches(user, known)
    hint = f", the nearest are {', '.join(near)}" if near else ""
    return click.BadParameter(f"the trace has no jobs of '{user}'{hint}", param_hint="--user")


def _write(folder: Path, texts: dict[str, str], *, force: bool) -> list[Path]:
    """Write a file for each user, whose name is that of the user as far as a file may be called so."""
    from gwa.util.atomic import write_folder
    from gwa.util.filenames import file_names

    names = {f"{name}.txt": user for user, name in file_names(texts).items()}
    paths = [folder / name for name in names]
    with claimed(paths, force=force):
        write_folder(folder, {name: texts[user] for name, user in names.items()})
    return paths
