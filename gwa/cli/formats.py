"""List or explain formats."""

import click

from gwa.cli._common import JSON


@click.command(name="formats")
@click.argument("name", required=False)
@JSON
def command(name: str | None, as_json: bool) -> None:
    """
    List the formats that can be read and written, or explain the one called NAME.

    \b
    Example:
      gwa formats swf
    """
    from gwa.cli._terminal import table
    from gwa.formats.registry import all_formats, broken, format_called

    if name:
        one = format_called(name)
        click.echo(f"{one.title}\n\n{one.notes.strip()}")
        return
    rows = [
        (one.name, one.title, " ".join(one.names), "read, write" if one.write else "read")
        for one in all_formats()
    ]
    rows += [(bad, str(error), "", "nothing") for bad, error in broken().items()]
    table(("name", "format", "files", "can"), rows, as_json=as_json)
