"""Say who wastes what, and write to them."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

import click

from gwa.cli import _options
from gwa.cli._commands import Purpose
from gwa.cli._mailing import Mailing, mailing
from gwa.cli._output import FORCE, claimed, write_csv, write_texts
from gwa.cli._reading import opened
from gwa.cli._terminal import echo, echo_json, say, table

if TYPE_CHECKING:
    from gwa.metrics.alerts import Alert, By
    from gwa.report.letter import Letter
    from gwa.trace import Trace

PURPOSE = Purpose.REPORT

ADDRESS: Final = re.compile(r"https?://[^\s<>\"']{1,2000}")

SHOWN: Final = {"alert", "user", "project", "jobs", "hours", "unit", "measured"}
"""The columns of the list of alerts that a terminal shows."""


def _address(_: click.Context, __: click.Parameter, value: str) -> str:
    if value and not ADDRESS.fullmatch(value):
        raise click.BadParameter(f"is {value[:80]!r}, expected an address such as https://example.org/jobs")
    return value


@click.command(name="advise")
@_options.TRACE
@click.option("--user", metavar="NAME", help="Print the advice to this user.")
@click.option("--project", metavar="NAME", help="Print the advice on this project.")
@click.option(
    "--by",
    type=click.Choice(["user", "project"]),
    default="user",
    help="Whom alerts are about: users, the default, or projects, for those who manage them.",
)
@_options.flag("--all everybody", "Write files for everybody, with an alert or without, into -o.")
@_options.output_folder(
    "Folder for a letter to each whom an alert is about: text, HTML and, with an address, mail (.eml)."
)
@_options.writes("--csv letters_csv", "FILE", "Write the letters as CSV, to send yourself.")
@_options.writes("--jobs jobs_csv", "FILE", "Write the jobs of all alerts as CSV.")
@click.option("--page", metavar="URL", default="", callback=_address, help="Page that letters link to.")
@_options.THRESHOLDS
@mailing
@FORCE
@_options.looks
@_options.JSON
@_options.parts_but_by_name
@_options.options
def command(
    trace: Path, *, user: str | None, project: str | None, by: "By", everybody: bool, folder: Path | None,
    letters_csv: Path | None, jobs_csv: Path | None, force: bool, as_json: bool, mails: Mailing, page: str,
    **params: Any,
) -> None:  # fmt: skip
    """
    List who wastes what, and advise them.

    Without --user, --project or an output, all alerts are listed: who holds GPUs, cores, memory, nodes or
    time that their jobs do not use, with the hours at stake. A job that is not measured says nothing, and how
    many are measured is listed, too. Letters have the numbers and jobs of those whom they are to, and say
    what to ask for instead.

    Mail is sent with --send only; without, it is said what would be. Names that are pseudonyms get none.

    \b
    Examples:
      gwa sample -o sample.sacct
      gwa advise sample.sacct
      gwa advise sample.sacct --user u12
      gwa advise sample.sacct --all -o advice
      gwa advise sample.sacct --by project -o projects
      gwa advise sample.sacct --mail --domain example.org
    """
    from gwa.analysis.advice import held_by, letter, users
    from gwa.analysis.titles import title_of
    from gwa.metrics.alerts import alerts
    from gwa.words.formatting import fraction

    _check(user, project, folder, everybody=everybody)
    mails.check(by)
    look = _options.looking(params) | {"sender": mails.sender, "page": page}
    with opened(trace, params) as opened_trace:
        write_texts(params | {"force": force})
        store = opened_trace.store
        if user or project:
            _print_letter(opened_trace, user, project, look, as_json=as_json)
            return
        mails.refuse_pseudonyms(store)
        found = alerts(store, by)
        if not (folder or letters_csv or jobs_csv or mails.is_wanted):
            names, rows = _listed(found, by)
            table(names, rows, as_json=as_json, shown=SHOWN, words={"used": fraction})
            _tell_unknown(found, quiet=params["quiet"])
            _tell_next(trace, rows, by, quiet=params["quiet"])
            return
        if jobs_csv:
            _write_csv(jobs_csv, *_jobs(opened_trace, found, by), force=force)
        if folder or letters_csv or mails.is_wanted:
            names = users(store, by) if everybody else held_by(store, by)
            letters = [letter(store, name, by) for name in names]
        called = title_of(store) or opened_trace.name
    if folder:
        for path in _write(folder, letters, called, mails, look, force=force):
            echo(path)
    if letters_csv:
        _write_csv(letters_csv, *_merged(letters, called, mails, look, by), force=force)
    if mails.is_wanted:
        mails.handle(letters, called, look, quiet=params["quiet"])


def _check(user: str | None, project: str | None, folder: Path | None, *, everybody: bool) -> None:
    """Raise a usage error for options that exclude each other."""
    if user and project:
        raise click.UsageError("expected either --user or --project")
    if (user or project) and (everybody or folder):
        raise click.UsageError("expected either --user NAME, or --all with -o DIR")
    if everybody and not folder:
        raise click.UsageError("expected either --user NAME, or --all with -o DIR")


def _print_letter(
    trace: "Trace", user: str | None, project: str | None, look: dict[str, Any], *, as_json: bool
) -> None:
    from gwa.analysis.advice import letter, users
    from gwa.analysis.titles import title_of
    from gwa.report.letter import as_text

    by: By = "user" if user else "project"
    name = user or project or ""
    known = users(trace.store, by)
    if name not in known:
        raise _unknown(name, known, by)
    given = letter(trace.store, name, by)
    if as_json:
        echo_json(json.dumps(asdict(given), indent=1, ensure_ascii=False))
    else:
        say(as_text(given, title_of(trace.store) or trace.name, **look), nl=False)


def _unknown(name: str, known: list[str], by: str) -> click.BadParameter:
    from difflib import get_close_matches

    near = get_close_matches(name, known)
    hint = f", the nearest are {', '.join(near)}" if near else ""
    return click.BadParameter(f"the trace has no jobs of '{name}'{hint}", param_hint=f"--{by}")


# --- Lists ---


def _listed(found: "Sequence[Alert]", by: str) -> tuple[list[str], list[list[object]]]:
    """Return the columns and rows of the list of alerts."""
    names = ["alert", by, "jobs", "hours", "unit", "used", "mail", "measured", "of"]
    rows: list[list[object]] = [
        [
            alert.rule.id, holder.name, holder.jobs, round(holder.hours, 2), alert.rule.stake, holder.used,
            "yes" if holder.is_mailed else "no", holder.known, holder.about,
        ]
        for alert in found
        for holder in alert.holders
    ]  # fmt: skip
    return names, rows


def _tell_unknown(found: "Sequence[Alert]", *, quiet: bool) -> None:
    """Say on standard error how much is measured, and which alerts a trace cannot tell of."""
    from gwa.metrics.alerts import measured

    if quiet:
        return
    told = [
        f"{alert.rule.id}: {measured(alert.rule, alert.known, alert.about)}"
        for alert in found
        if alert.known < alert.about
    ]
    if told:
        echo(f"gwa: not all jobs are measured. {'; '.join(told)}", err=True)
    if unknown := [f"{alert.rule.id} ({', '.join(alert.lacking)})" for alert in found if alert.lacking]:
        echo(
            f"gwa: not looked for, as neither trace nor --system states what it needs: {'; '.join(unknown)}",
            err=True,
        )


def _tell_next(trace: Path, rows: Sequence[Sequence[object]], by: str, *, quiet: bool) -> None:
    """Say on standard error how to read what the first of the list is advised, or that no alert is due."""
    if quiet:
        return
    if rows:
        echo(f"next: gwa advise {quote(str(trace))} --{by} {quote(str(rows[0][1]))}", err=True)
    else:
        echo("gwa: no alert: nothing that is measured is beyond its threshold", err=True)


def _jobs(trace: "Trace", found: "Sequence[Alert]", by: "By") -> tuple[list[str], list[list[object]]]:
    """Return the columns and rows of the jobs of all alerts."""
    from gwa.metrics.alerts import jobs_of

    names = [
        "alert", by, "job", "submitter", "found", "hours", "unit", "run_time", "n_procs", "n_gpus", "n_nodes",
    ]  # fmt: skip
    rows: list[list[object]] = [
        [
            alert.rule.id, holder.name, job.job, job.user, job.found, job.hours, alert.rule.stake,
            job.run_time, job.n_procs, job.n_gpus, job.n_nodes,
        ]
        for alert in found
        for holder in alert.holders
        for job in jobs_of(trace.store, alert.rule, by, holder.name)
    ]  # fmt: skip
    return names, rows


def _merged(
    letters: "Sequence[Letter]", trace: str, mails: Mailing, look: dict[str, Any], by: str
) -> tuple[list[str], list[list[object]]]:
    """Return the columns and rows of letters for another program that sends mail."""
    from gwa.report.letter import as_text, subject

    addresses = mails.addresses_of(letters)
    rows: list[list[object]] = [
        [
            one.user, addresses.get(one.user, ""), ",".join(advice.id for advice in one.advice),
            look["language"](subject(one, trace)), as_text(one, trace, is_mailed=True, **look),
        ]
        for one in letters
    ]  # fmt: skip
    return [by, "address", "advice", "subject", "text"], rows


def _write_csv(path: Path, names: Sequence[str], rows: Sequence[Sequence[object]], *, force: bool) -> None:
    write_csv(path, names, rows, force=force, but=Mailing.OPTIONS)
    echo(path)


# --- Letters ---


def _write(
    folder: Path,
    letters: "Sequence[Letter]",
    trace: str,
    mails: Mailing,
    look: dict[str, Any],
    *,
    force: bool,
) -> list[Path]:
    """Write files for each letter, whose names are those of users as far as files may be called so."""
    from gwa.report.letter import as_html, as_text
    from gwa.util.atomic import write_folder
    from gwa.util.filenames import file_names

    stems = file_names(one.user for one in letters)
    addresses = mails.addresses_of(letters)
    files: dict[str, str | bytes] = {}
    for one in letters:
        files[f"{stems[one.user]}.txt"] = as_text(one, trace, **look)
        files[f"{stems[one.user]}.html"] = as_html(one, trace, **look)
        if address := addresses.get(one.user):
            files[f"{stems[one.user]}.eml"] = mails.composed(one, trace, look, address).as_bytes()
    paths = [folder / name for name in files]
    if paths:
        with claimed(paths, force=force, but=Mailing.OPTIONS):
            write_folder(folder, files)
    return paths
