"""Where commands write, what they may replace, and what they say of what became of a log."""

import json
import os
import re
import secrets
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from dataclasses import replace
from functools import wraps
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

from gwa.cli._options import OUT, PATH, F, InputPath, Options, flag, writes
from gwa.cli._terminal import echo, echo_csv
from gwa.util.filenames import as_text

if TYPE_CHECKING:
    from gwa.formats.measure import Joined
    from gwa.metrics.quality import ConversionNotes
    from gwa.store.account import Account
    from gwa.store.options import ReadOptions

FORCE: Final = flag(
    "--force", "Replace also what gwa did not write from the same input with the same options."
)

output: Final = Options(
    writes("-o --output out", "OUT", "Output file.", required=True),
    FORCE,
)
"""The output file, and whether it replaces another."""

PART_LENGTH: Final = 80
"""Characters of the name of a page that say of what part of a trace it is."""

SHOWN_NAMES: Final = 5

SAME_RESULT: Final = frozenset(
    {"out", "folder", "force", "quiet", "alert", "debug", "memory", "threads", "engine_name", "strings"}
)
"""Parameters that change nothing of what a file says."""


@contextmanager
def claimed(
    paths: Sequence[Path], *, force: bool, but: Collection[str] = (), of: Path | None = None
) -> Iterator[None]:
    """
    Claim the outputs *paths* of the command that runs until the end of a ``with``.

    Raise `OutputError` if one is there that gwa did not write from the same input with the same options,
    unless *force* is set. Parameters called as in *but* are no such options. If the command reads several
    traces, and the outputs are *of* one, that is their input.
    """
    from gwa.util.written import claimed as claimed_of

    context = click.get_current_context()
    with ExitStack() as stack:
        if "folder" in context.params:  # what is written is a folder, which need not be there yet
            stack.enter_context(_made(paths[0].parent))
        for folder in dict.fromkeys(path.parent for path in paths):
            beside = [path for path in paths if path.parent == folder]
            stack.enter_context(claimed_of(beside, _origin(context, folder, but, of), force=force))
        yield


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a *folder*, and those above it; what is made and stays empty goes at the end of a ``with``."""
    from gwa.util.atomic import make_folder

    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    make_folder(folder)
    try:
        yield
    finally:
        with suppress(OSError):
            for path in missing:
                path.rmdir()


def _origin(context: click.Context, folder: Path, but: Collection[str], of: Path | None) -> str:
    """Return what a command makes its outputs of: its inputs, as seen from *folder*, and its options."""
    values = {
        param.name: _as_seen(context.params.get(param.name or ""), param.type, folder)
        for param in context.command.params
        if param.name not in SAME_RESULT | set(but)
    }
    values |= {"traces": _as_seen(of, PATH, folder)} if of else {}
    # By what it does: a command has the same outputs under its former name.
    made_by = getattr(context.command.callback, "__module__", context.command_path)
    return json.dumps([made_by, values], sort_keys=True)


def _as_seen(value: Any, kind: object, folder: Path) -> Any:
    """Return the *value* of a parameter, with paths relative to *folder*: both may move together."""
    if isinstance(value, list | tuple):
        return [_as_seen(one, kind, folder) for one in value]
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(kind, InputPath) and value is not None:
        if str(value) == "-":  # standard input has another content each time
            return secrets.token_hex(16)
        return os.path.relpath(os.path.realpath(value), os.path.realpath(folder))
    return value if isinstance(value, bool | int | float) or value is None else str(value)


def to_file(command: F) -> F:
    """Add the option that writes what a command prints on standard output to a file, whole or not at all."""

    @OUT
    @FORCE
    @wraps(command)
    def writing(*arguments: Any, out: Path | None, force: bool, **params: Any) -> Any:
        from gwa.util.atomic import writable, write_whole

        if out is None:
            return command(*arguments, **params)
        writable(out)
        text = StringIO()
        with claimed([out], force=force):
            try:
                with redirect_stdout(text):
                    result = command(*arguments, **params)
            except click.exceptions.Exit:  # a status that says something of the result
                write_whole(out, text.getvalue())
                raise
            write_whole(out, text.getvalue())
        return result

    return cast("F", writing)


def write_csv(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]], **claim: Any) -> None:
    """Write a table as CSV, whole or not at all, and without formulae; *claim* is passed on to `claimed`."""
    from gwa.util.atomic import writable, write_whole

    writable(path)
    text = StringIO()
    with redirect_stdout(text):
        echo_csv(names, rows)
    with claimed([path], **claim):
        write_whole(path, text.getvalue())


def page_name(title: str, *parts: str) -> str:
    """
    Return the name, without a suffix, of a page called *title* on what the *parts* say.

    Where the parts have letters that names of files have not, or are long, a hash of them tells them apart.

    >>> page_name("sample", "2026-01..2026-03", "", "users,waits"), page_name("a b", "where n_procs > 1")
    ('sample-2026-01..2026-03-users,waits', 'a b-where_n_procs_1-df636b')
    """
    text = "-".join(filter(None, parts))
    plain = re.sub(r"[^\w.~@+,-]+", "_", text)[:PART_LENGTH].strip("_")
    end = () if plain == text else (sha256(text.encode(errors="replace")).hexdigest()[:6],)
    return "-".join(filter(None, (title, plain, *end)))


def part_in_words(period: str | None, params: dict[str, Any]) -> list[str]:
    """Return what tells pages on parts of a trace, that of a *period* say, and their languages apart."""
    named = {kind: params[f"{kind}s"] for kind in ("queue", "group", "user", "project", "site")}
    return [
        period or "",
        *("-".join((kind, *names)) for kind, names in named.items() if names),
        f"where {params['where']}" if params["where"] else "",
        params["lang"] if params["lang"] != "en" else "",
    ]


def write_texts(params: dict[str, Any]) -> None:
    """
    Write the texts for a translator where ``--strings`` asks for them, and print the path.

    The traces must be open, so that none of them is written over.
    """
    from gwa.report.output import write_strings
    from gwa.util.written import claimed as claimed_of

    if params["strings"]:
        with claimed_of([params["strings"]], "texts to translate", force=params["force"]):
            write_strings(params["strings"])
        echo(params["strings"])


def tell_joined(name: object, joined: "Sequence[Joined]", *, quiet: bool) -> None:
    """Say on standard error how many jobs have measurements, and what of these is of none."""
    for one in () if quiet else joined:
        text = f"{name}: {one.jobs:,} of {one.of:,} jobs have measurements, {one.values:,} values"
        if one.unmatched:
            text += f"; {one.unmatched:,} ids match no job, or several (rejects)"
        for line in (*one.said, text):
            echo(as_text(line), err=True)


def noting(options: "ReadOptions") -> "tuple[ReadOptions, list[ConversionNotes]]":
    """Return *options* with which reading a trace puts its notes into the list that is returned, too."""
    from gwa.metrics.quality import conversion_notes

    notes: list[ConversionNotes] = []
    return replace(options, inspect=lambda store: notes.append(conversion_notes(store))), notes


def tell_replaced(names: Sequence[str]) -> None:
    """Say on standard error which names were to be kept, and were replaced since they hold another name."""
    if names:
        shown = ", ".join(map(repr, names[:SHOWN_NAMES])) + (", …" if len(names) > SHOWN_NAMES else "")
        echo(
            f"gwa: {len(names):,} name{'s' if len(names) > 1 else ''} that --keep lists"
            f" {'hold' if len(names) > 1 else 'holds'} a name which goes, and became"
            f" {'pseudonyms' if len(names) > 1 else 'a pseudonym'}: {as_text(shown)}",
            err=True,
        )


def account_in_words(account: "Account", what: str = "jobs") -> str:
    """Return how many jobs, or *what* a trace is of, were made of how many rows, and what of the others."""
    comments = f"{account.comments:,} comment{'s' if account.comments != 1 else ''}"
    others = f"{comments}, {account.folded:,} folded, {account.rejected:,} rejected"
    unread = f"; {account.skipped:,} lines in files not read" if account.skipped else ""
    return f"{account.jobs:,} {what} from {account.rows - account.skipped:,} rows ({others}){unread}"


def tell(out: Path, account: "Account", notes: "Sequence[ConversionNotes]" = (), *, quiet: bool) -> None:
    """Say on standard error what was written, what became of the rows, and what is worth knowing."""
    if quiet:
        return
    lines = [f"{out}: {account_in_words(account, *(note.of for note in notes[:1]))}"]
    for note in notes:
        lines += note.told
        if note.count:
            # SWF cannot hold notes.
            where = "" if ".swf" in out.suffixes else f": gwa check {shlex.quote(str(out))}"
            lines.append(f"{note.count} note{'s' if note.count > 1 else ''}{where}")
        if note.extensions and ".swf" in out.suffixes:
            lines.append(f"left out, as SWF cannot hold them: {', '.join(note.extensions)}")
    for line in lines:
        echo(as_text(line), err=True)
