"""List models."""

import click

from gwa.cli._options import JSON
from gwa.cli._terminal import table


@click.command(name="list")
@JSON
def command(as_json: bool) -> None:
    """
    List the models, the presets, which are models with parameters, and the processes of arrivals.

    \b
    Example:
      gwa model list
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
    table(
        ("name", "kind", "title", "about"),
        rows,
        as_json=as_json,
        shown={"name", "kind", "title"},
        is_list=True,
    )
