"""
What somebody is told of their jobs: advice as plain data, as text and as an HTML mail.

The page needs nothing but itself: mail programs load no style sheets, and neither scripts nor images.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import jinja2

from gwa.errors import DefinitionError
from gwa.report.document import Column
from gwa.report.html import printable, prose, templates
from gwa.report.language import Language
from gwa.words.formatting import brief
from gwa.words.message import Message, Verbatim, message, plural
from gwa.words.unit import Value

NOTHING: Final = message("These jobs show nothing that should be changed.")

GAP: Final = 2
"""Blanks between the columns of a table in text."""

INDENT: Final = 3


@dataclass(frozen=True)
class JobTable:
    """The jobs that an advice is about: *columns*, *rows*, and a word on *others* that it leaves out."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    others: str = ""


@dataclass(frozen=True)
class Advice:
    """What to change (*do*), what the jobs show (*because*), of how many it is *measured*, and the *jobs*."""

    id: str
    do: str
    because: str
    measured: str = ""
    jobs: JobTable | None = None


@dataclass(frozen=True)
class Letter:
    """
    The advice to a *user*, or on a project, whose *jobs* took *cpu_hours* and were submitted in a *period*.

    *is_due* says whether it is worth a mail, and *of* what *user* is the name.
    """

    user: str
    jobs: int
    cpu_hours: float
    advice: tuple[Advice, ...]
    of: str = field(default="user", kw_only=True)
    is_due: bool = field(default=False, kw_only=True)
    period: str = field(default="", kw_only=True)


def subject(letter: Letter, trace: str) -> Message:
    """Return the subject of a letter as a mail, in one line, without a user's name."""
    if letter.of == "project":
        return message("What jobs of your project do not use ({trace})", trace=Verbatim(_one_line(trace)))
    return message("What your jobs do not use ({trace})", trace=Verbatim(_one_line(trace)))


def rendered(  # noqa: PLR0913 - what a letter says
    name: str, letter: Letter, trace: str, *, language: Language | None = None, theme: Path | None = None,
    is_mailed: bool = False, sender: str = "", page: str = "",
) -> str:  # fmt: skip
    """
    Return a letter as the template *name* lays it out, fit to be mailed.

    Its *sender* and a *page* of numbers are addresses. Raise `DefinitionError` for a template that is wrong.
    """
    chosen = language or Language()
    cells = partial(_cells, chosen)
    environment = jinja2.Environment(
        loader=templates(theme),
        autoescape=name.endswith(".html"),
        undefined=jinja2.StrictUndefined,
        finalize=printable,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"_": chosen, "prose": prose, "cells": cells, "plain": partial(_plain, cells)}
    environment.globals |= {"_": chosen}
    try:
        return environment.get_template(name).render(
            letter=letter, greeting=_greeting(letter), head=_head(letter, trace), reason=_reason(letter),
            subject=subject(letter, trace), nothing=NOTHING, language=chosen.code,
            is_mailed=is_mailed, sender=sender, page=page,
        )  # fmt: skip
    except jinja2.TemplateError as error:
        raise DefinitionError(f"templates: {name}: {error.message}") from error


as_text: Final = partial(rendered, "letter.txt")
"""A letter as plain text."""

as_html: Final = partial(rendered, "letter.html")
"""A letter as an HTML page, to be mailed beside its text."""


def _greeting(letter: Letter) -> Message:
    if letter.of == "project":
        return message("To the managers of project {project},", project=Verbatim(_one_line(letter.user)))
    return message("Hello {user},", user=Verbatim(_one_line(letter.user)))


def _reason(letter: Letter) -> Message | None:
    """Return why somebody gets it; None where there is nothing to advise."""
    if not letter.advice:
        return None
    if letter.of == "project":
        return plural(
            "You get this because one thing about jobs of the project is worth changing.",
            "You get this because {n} things about jobs of the project are worth changing.",
            len(letter.advice),
        )
    return plural(
        "You get this because one thing about your jobs is worth changing.",
        "You get this because {n} things about your jobs are worth changing.",
        len(letter.advice),
    )


def _head(letter: Letter, trace: str) -> Message:
    """Return whose jobs it is about."""
    places: Mapping[str, Any] = {
        "user": Verbatim(_one_line(letter.user)),
        "trace": Verbatim(_one_line(trace)),
        "jobs": plural("{n} job", "{n} jobs", letter.jobs),
        "hours": brief(round(letter.cpu_hours, 1)),
    }
    if letter.of == "project":
        return message("Jobs of project {user} in {trace}: {jobs}, {hours} CPU hours.", **places)
    return message("Your jobs in {trace}: {jobs}, {hours} CPU hours.", **places)


def _one_line(name: str) -> str:
    """Return a name in one line."""
    return " ".join(name.split())


def _cells(language: Language, table: JobTable) -> list[list[str]]:
    """Return the headings and cells of a table as a reader wants to see them."""
    heads = [language(column.label) for column in table.columns]
    rows = [
        [
            _one_line(
                language.own(brief(value, column.unit)) if not isinstance(value, str) else language.own(value)
            )
            for value, column in zip(row, table.columns, strict=True)
        ]
        for row in table.rows
    ]
    return [heads, *rows]


def _plain(cells: Callable[[JobTable], list[list[str]]], table: JobTable) -> str:
    """Return a table as lines of text: what is no number on the left, numbers on the right."""
    shown = cells(table)
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    lines = []
    for row in shown:
        padded = [
            f"{cell:>{width}}" if column.unit else f"{cell:<{width}}"
            for cell, width, column in zip(row, widths, table.columns, strict=True)
        ]
        lines.append(" " * INDENT + (" " * GAP).join(padded).rstrip())
    return "\n".join(lines)
