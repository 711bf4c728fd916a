"""List or explain formats."""

from textwrap import indent
from typing import Final

import click

from gwa.cli._commands import Purpose
from gwa.cli._options import JSON, flag
from gwa.cli._output import to_file
from gwa.cli._terminal import echo, say, say_prose, table

PURPOSE = Purpose.READ

WITH_NOTES: Final = {"table", "requests"}
"""Formats that one looks up for the columns that can be mapped: there is no command to copy."""

SHOWN: Final = {"name", "format", "can"}
"""The columns of the list in a terminal."""


@click.command(name="formats")
@click.argument("words", metavar="[NAME|WORD]...", nargs=-1)
@flag("--own", "Print an example converter for any other format.")
@flag("--notes", "Print also how a format is read: its sources, columns and limits.")
@JSON
@to_file
def command(words: tuple[str, ...], own: bool, notes: bool, as_json: bool) -> None:
    """
    List the supported formats, those that have every WORD in name, title or files, or explain one.

    'measurements' explains what gwa measure reads.

    \b
    Examples:
      gwa formats gpu
      gwa formats slurm
      gwa formats --own > my.sql
    """
    from gwa.formats.registry import all_formats, broken

    if own:
        from importlib.resources import files

        click.echo(files("gwa.formats").joinpath("example.sql").read_text(encoding="utf-8"), nl=False)
        return
    if words == ("measurements",):
        from gwa.ingest.measurements import explained

        echo(explained())
        return
    rows = [
        (known.name, known.title, " ".join(known.names), "read, write" if known.write else "read")
        for known in all_formats()
    ]
    rows += [(broken_name, str(error), "", "nothing") for broken_name, error in broken().items()]
    found = [row for row in rows if all(word.lower() in " ".join(row).lower() for word in words)]
    is_name = len(words) == 1 and (words[0].endswith(".sql") or words[0] in {row[0] for row in rows})
    if is_name or (words and not found):
        _explain(" ".join(words), notes=notes)
    else:
        table(("name", "format", "files", "can"), found, as_json=as_json, shown=SHOWN, is_list=True)


def _explain(name: str, *, notes: bool) -> None:
    """Print what the format called *name* is, how to export it, and all that its *notes* say."""
    from gwa.formats.registry import format_called

    file_format = format_called(name)
    export = indent(file_format.export.strip(), "    ")
    say(f"{file_format.title}\n")
    if export:
        echo(f"To export:\n\n{export}\n")  # commands, to copy
    if notes or not export or name in WITH_NOTES:
        say_prose(file_format.notes.strip())
    else:
        say(f"How it is read, and from which columns: gwa formats {file_format.name} --notes")
