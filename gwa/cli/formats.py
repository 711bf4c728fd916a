"""List or explain formats."""

from textwrap import indent

import click

from gwa.cli._commands import Purpose
from gwa.cli._common import JSON, to_file
from gwa.cli._terminal import echo

PURPOSE = Purpose.READ


@click.command(name="formats")
@click.argument("name", required=False)
@click.option("--own", is_flag=True, help="Print an example converter for any other format.")
@JSON
@to_file
def command(name: str | None, own: bool, as_json: bool) -> None:
    """
    List the supported formats, or explain one.

    'measurements' explains what gwa measure reads.

    \b
    Examples:
      gwa formats swf
      gwa formats --own > my.sql
    """
    from gwa.cli._terminal import table
    from gwa.formats.registry import all_formats, broken, format_called

    if own:
        from gwa.formats.converter import EXAMPLE

        click.echo(EXAMPLE, nl=False)
        return
    if name == "measurements":
        from gwa.ingest.measurements import explained

        echo(explained())
        return
    if name:
        file_format = format_called(name)
        export = indent(file_format.export.strip(), "    ")
        exported = f"To export:\n\n{export}\n\n" if export else ""
        echo(f"{file_format.title}\n\n{exported}{file_format.notes.strip()}")
        return
    rows = [
        (known.name, known.title, " ".join(known.names), "read, write" if known.write else "read")
        for known in all_formats()
    ]
    rows += [(broken_name, str(error), "", "nothing") for broken_name, error in broken().items()]
    table(("name", "format", "files", "can"), rows, as_json=as_json)
