"""Write a report as files: one function for each kind of output."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from gwa.blocks import Report
from gwa.errors import OutputError
from gwa.output import write_whole


def write(report: Report, folder: Path, name: str, kinds: Sequence[str]) -> list[Path]:
    """Write *report* into *folder* as each of *kinds* (html, pdf, json) and return the paths."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made: {error.strerror}") from error
    written = []
    for kind in kinds:
        path = folder / f"{name}.{kind}"
        write_whole(path, RENDERERS[kind](report))
        written.append(path)
    return written


def _html(report: Report) -> str:
    from gwa.report.html import html

    return html(report)


def _pdf(report: Report) -> bytes:
    from gwa.report.pdf import pdf

    return pdf(report)


def _json(report: Report) -> str:
    from gwa.report.data import as_json

    return as_json(report)


RENDERERS: Final[Mapping[str, Callable[[Report], str | bytes]]] = {"html": _html, "pdf": _pdf, "json": _json}
