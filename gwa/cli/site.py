"""Build the site of an archive, and look at it."""

import json
import os
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from gwa.cli._commands import Group, Purpose
from gwa.cli._options import DEBUG, JSON, PATH, flag, limits, reads, shown, takes, writes
from gwa.cli._reading import engine
from gwa.cli._terminal import echo, progress, progress_lines, table
from gwa.util.cores import usable_cores

if TYPE_CHECKING:
    from gwa.archive.zenodo import Sending

PURPOSE = Purpose.PUBLISH


@click.group(name="site", cls=Group)
def command() -> None:
    """
    Build and preview the static site of an archive.

    \b
    Examples:
      gwa site build site/ -o public/
      gwa site serve public/
      gwa site console site/
      gwa site fair public/
      gwa site deposit site/ public/ heron-2025 --sandbox
    """


@command.command(name="build")
@click.argument("folder", metavar="SITE_DIR", type=PATH)
@writes("-o --output out", "OUT_DIR", "Output folder.", required=True)
@click.option(
    "--url", default="", help="Address of the site, for feeds and 404.html; by default that of archive.toml."
)
@takes("--jobs", "N", "Worker processes; by default one per processor.", type=click.IntRange(1, 64))
@flag("--publish-names", "Also publish traces with names of people or hosts.")
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

    if url and not URL.fullmatch(url):
        raise click.BadParameter("expected one such as https://host/folder/", param_hint="--url")
    bar = progress(quiet=params["quiet"])
    engine(params)
    jobs = jobs or usable_cores()
    outcome = build(folder, out, BuildOptions(jobs, params["memory"], params["publish_names"], url, bar))
    for problem in outcome.problems:
        echo(f"gwa: {problem}", err=True)
    if not params["quiet"]:
        echo(f"{out}: {len(outcome.built)} traces made, {len(outcome.unchanged)} unchanged", err=True)
        if not outcome.engine:
            echo(
                f"{out}: has no SQL in the browser; gwa site console {quote(str(folder))} fetches DuckDB",
                err=True,
            )
        if outcome.fair:
            echo(f"{out}: {outcome.fair}; gwa site fair {quote(str(out))} says more", err=True)
        if not outcome.url:
            echo(f"{out}: without --url there is no feed, and 404.html has no style in subfolders", err=True)
    if outcome.problems:
        ctx.exit(1)


@command.command(name="console")
@click.argument("folder", metavar="SITE_DIR", type=PATH)
@takes(
    "--registry",
    "URL",
    "Registry of npm; by default that of its makers.",
    default="",
    envvar="npm_config_registry",
)
@flag("-q --quiet", "Print no progress.")
@DEBUG
def console(folder: Path, registry: str, quiet: bool, debug: bool) -> None:
    """
    Fetch DuckDB for browsers, so that the site has SQL on each trace and on all of them.

    Three packages, 37 MB, go into SITE_DIR/node_modules; each is checked by its SHA-256. The next gwa site
    build copies what it needs of them: visitors ask no other host.

    \b
    Example:
      gwa site console site/
    """
    from gwa.archive.sql_console import REGISTRY, fetch_engine

    del debug
    fetched = fetch_engine(folder, registry or REGISTRY, progress_lines(quiet=quiet))
    if not quiet:
        echo(f"{folder}: {', '.join(fetched) or 'all is there already'}", err=True)


@command.command(name="serve")
@click.argument("folder", metavar="OUT_DIR", type=PATH)
@shown("--port", click.IntRange(0, 65535), 8000, "Port; 0 selects a free one.")
@DEBUG
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


@command.command(name="fair")
@click.argument("folder", metavar="OUT_DIR", type=PATH)
@DEBUG
@JSON
def fair(folder: Path, debug: bool, as_json: bool) -> None:
    """
    Check each trace of a site by the FAIR principles, and print what is missing.

    What is checked are the files of the site that machines read: identifiers, descriptions, addresses,
    licences, and where the jobs come from.

    \b
    Example:
      gwa site fair public/
    """
    from gwa.archive.fair import check, in_a_line

    del debug
    verdicts = check(folder)
    names = ("trace", "principle", "asks", "missing")
    rows = [(one.trace, one.principle, one.asks, one.missing) for one in verdicts]
    table(names, rows, as_json=as_json)
    if verdicts:
        echo(in_a_line(verdicts), err=True)


@command.command(name="deposit")
@click.argument("folder", metavar="SITE_DIR", type=PATH)
@click.argument("out", metavar="OUT_DIR", type=PATH)
@click.argument("name", metavar="TRACE")
@flag("--sandbox", "Try it at sandbox.zenodo.org, whose DOIs are of no use.")
@click.option("--server", default="", metavar="URL", help="Another server with the API of Zenodo.")
@reads(
    "--token-file",
    "FILE",
    "File with the token; by default the variable ZENODO_TOKEN, or ZENODO_SANDBOX_TOKEN.",
)
@flag("--publish is_final", "Also publish it, which cannot be undone.")
@flag("--dry-run is_dry", "Print what would be sent, without a token or a connection.")
@DEBUG
def deposit(
    folder: Path,
    out: Path,
    name: str,
    *,
    sandbox: bool,
    server: str,
    token_file: Path | None,
    is_final: bool,
    is_dry: bool,
    debug: bool,
) -> None:
    """
    Deposit a trace of the site OUT_DIR at Zenodo, as a draft that you can look at there.

    The DOI that is reserved for it is printed; the key doi of the trace in SITE_DIR/archive.toml puts it on
    its page. Only --publish makes the deposition public. An edition that differs becomes a new version of
    the deposition. SITE_DIR/deposits.json notes which deposition is of which trace; a deposit that was
    interrupted goes on when it is repeated.

    \b
    Examples:
      gwa site deposit site/ public/ heron-2025 --dry-run
      gwa site deposit site/ public/ heron-2025 --sandbox
      gwa site deposit site/ public/ heron-2025 --publish
    """
    from gwa.archive.catalogue import read_catalogue
    from gwa.archive.published import read_published
    from gwa.archive.zenodo import SANDBOX, SERVER, Repository, sending
    from gwa.archive.zenodo import deposit as deposit_at

    del debug
    catalogue = read_catalogue(folder)
    ids = [entry.id for entry in catalogue.entries]
    if name not in ids:
        raise click.BadParameter(f"'{name}' is none of {', '.join(ids)[:400]}", param_hint="TRACE")
    place = out / "traces" / name
    if not (place / "trace.json").is_file():
        raise click.BadParameter(f"{out} has no trace {name}: gwa site build makes it", param_hint="OUT_DIR")
    address = server or (SANDBOX if sandbox else SERVER)
    if is_dry:
        trace = read_published(catalogue.entry(name), place)
        _print_sending(sending(catalogue, trace, place), address)
        return
    repository = Repository(address, _token(token_file, sandbox=sandbox))
    trace = read_published(catalogue.entry(name), place)
    done = deposit_at(catalogue, trace, place, repository, publish=is_final)
    echo(
        f"{name}: version {trace.version}, {len(done.sent)} files sent, {len(done.kept)} there already",
        err=True,
    )
    if done.is_published:
        echo(f"{name}: is published, {done.page}", err=True)
    else:
        echo(f"{name}: is a draft, {done.page}; --publish makes it public", err=True)
    echo(f'doi = "{done.doi}"')


def _print_sending(what: "Sending", address: str) -> None:
    """Print what a deposit sends as JSON, and say in a line how much it is, and where it would go."""
    document = {"metadata": what.metadata, "files": what.files}
    echo(json.dumps(document, indent=1, ensure_ascii=False))
    total = sum(what.files.values())
    echo(
        f"gwa: nothing was sent: {len(what.files)} files of {total:,} bytes would go to {address}",
        err=True,
    )


def _token(file: Path | None, *, sandbox: bool) -> str:
    """Return the token, which is never an argument: other users see those."""
    variable = "ZENODO_SANDBOX_TOKEN" if sandbox else "ZENODO_TOKEN"
    token = (
        file.read_text(encoding="utf-8", errors="replace").strip()
        if file
        else os.environ.get(variable, "").strip()
    )
    if not token:
        where = f"{file} is empty" if file else f"{variable} is not set"
        raise click.UsageError(f"{where}, expected a token with the scopes deposit:write and deposit:actions")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise click.UsageError("the token has other characters than letters and digits, expected one line")
    return token
