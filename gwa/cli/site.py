"""Build the site of an archive, and look at it."""

import os
from pathlib import Path
from typing import Any

import click

from gwa.cli._commands import Purpose
from gwa.cli._common import OUTPUT_PATH, PATH, engine, limits
from gwa.cli._terminal import echo

PURPOSE = Purpose.PUBLISH


@click.group(name="site")
def command() -> None:
    """
    Build and preview the static site of an archive.

    \b
    Examples:
      gwa site build site/ -o public/
      gwa site serve public/
    """


@command.command(name="build")
@click.argument("folder", metavar="SITE_DIR", type=PATH)
@click.option(
    "-o", "--output", "out", required=True, type=OUTPUT_PATH, metavar="OUT_DIR", help="Output folder."
)
@click.option(
    "--url", default="", help="Address of the site, for feeds and 404.html; by default that of archive.toml."
)
@click.option(
    "--jobs", type=click.IntRange(1, 64), metavar="N", help="Worker processes; by default one per processor."
)
@click.option("--publish-names", is_flag=True, help="Also publish traces with names of people or hosts.")
@limits
@click.pass_context
def build(
    ctx: click.Context,
    /,
    folder: Path,
    out: Path,
    url: str,
    jobs: int | None,
    **params: Any,
) -> None:
    """
    Build the archive that SITE_DIR/archive.toml describes.

    Only what has changed is rebuilt, and the new site replaces the old one in one step. A trace that cannot
    be read, or that still holds names of people, is left out with a note on its page; the exit status is then
    1.

    \b
    Example:
      gwa site build site/ -o public/
    """
    from gwa.archive.build import BuildOptions, build
    from gwa.archive.catalogue import URL
    from gwa.cli._terminal import progress

    if url and not URL.fullmatch(url):
        raise click.BadParameter("expected one such as https://host/folder/", param_hint="--url")
    bar = progress(quiet=params["quiet"])
    engine(params)
    jobs = jobs or os.cpu_count() or 1
    outcome = build(folder, out, BuildOptions(jobs, params["memory"], params["publish_names"], url, bar))
    for problem in outcome.problems:
        echo(f"gwa: {problem}", err=True)
    if not params["quiet"]:
        echo(f"{out}: {len(outcome.built)} traces made, {len(outcome.unchanged)} unchanged", err=True)
        if not outcome.url:
            echo(f"{out}: without --url there is no feed, and 404.html has no style in subfolders", err=True)
    if outcome.problems:
        ctx.exit(1)


@command.command(name="serve")
@click.argument("folder", metavar="OUT_DIR", type=PATH)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port; 0 selects a free one.",
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def serve(folder: Path, port: int, debug: bool) -> None:
    """
    Preview a site, on this machine only.

    \b
    Example:
      gwa site serve public/
    """
    from gwa.archive.server import LOOPBACK, server

    del debug
    with server(folder, port) as running:
        echo(f"http://{LOOPBACK}:{running.server_port}/ (Ctrl+C stops it)")
        running.serve_forever()
