"""List models."""

import click

from gwa.cli._options import JSON
from gwa.cli._terminal import table
from gwa.errors import ArgumentError


@click.command(name="list")
@click.argument("words", metavar="[WORD]...", nargs=-1)
@JSON
def command(words: tuple[str, ...], as_json: bool) -> None:
    """
    List the models, the presets, which are models with parameters, and the processes of arrivals.

    With WORDs, those are listed that have each of them in name, kind, title or description.

    \b
    Examples:
      gwa model list
      gwa model list arrivals
    """
    from gwa.models.arrival_process import processes
    from gwa.models.base import models, presets
    from gwa.requests.model import RequestModel

    rows = [(entry.name, "model", entry.title, entry.about()) for entry in models().values()]
    about = "Of requests to language models, not of jobs: arrivals, tokens and latencies."
    rows.append((RequestModel.name, "model of requests", RequestModel.title, about))
    rows += [
        (entry.name, f"preset of {entry.model.name}", entry.title, entry.source)
        for entry in presets().values()
    ]
    rows += [(entry.name, "arrivals", entry.title, entry.about()) for entry in processes().values()]
    found = [row for row in rows if all(word.lower() in " ".join(row).lower() for word in words)]
    if not found:
        raise ArgumentError(f"no model has '{' '.join(words)}'; gwa model list names all")
    table(
        ("name", "kind", "title", "about"),
        found,
        as_json=as_json,
        shown={"name", "kind", "title"},
        is_list=True,
    )
