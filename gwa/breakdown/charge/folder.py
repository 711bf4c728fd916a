"""The folder of the statements on a period: pages, PDFs and CSVs of projects, an index, and a record."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from gwa.breakdown.charge import pages, record
from gwa.breakdown.charge.statements import Statements
from gwa.errors import OutputError
from gwa.report.language import Language
from gwa.util.atomic import IS_READ
from gwa.util.atomic_swap import replacing
from gwa.util.filenames import file_names
from gwa.util.progress import SILENT, Progress
from gwa.util.protection import is_protected

INDEX: Final = "index.html"
SUMMARY: Final = "summary.csv"
NO_PROJECT: Final = "no-project"
"""The name of the files of jobs without a project."""

TAKEN: Final = ("index", "summary", "statement", NO_PROJECT)
"""Names that no project's files have."""


def write(  # noqa: PLR0913 - what a page looks like
    statements: Statements,
    folder: Path,
    title: str,
    *,
    language: Language | None = None,
    theme: Path | None = None,
    with_pdf: bool = True,
    force: bool = False,
    progress: Progress = SILENT,
) -> list[Path]:
    """
    Write *statements* on the trace called *title* as a *folder*, completely or not at all; return its files.

    Raise `OutputError` where the folder has other statements, or files that gwa did not write. With *force*
    other statements are replaced, too; a folder that has anything else never is.
    """
    chosen = language or Language()
    table = record.as_table(statements, chosen.code)
    if is_protected(folder):
        raise OutputError(f"{folder}: {IS_READ}")
    hashes: dict[str, str] = {}

    def is_ours(old: Path) -> bool:
        _refuse(old, table, force=force)
        return _is_ours(old, force=force)

    with replacing(folder, is_ours) as (part, _):
        look = pages.Look(title, chosen, theme)
        for name, content in _files(statements, look, with_pdf=with_pdf, progress=progress):
            data = content.encode() if isinstance(content, str) else content
            (part / name).write_bytes(data)
            hashes[name] = sha256(data).hexdigest()
        (part / record.NAME).write_text(record.as_text({**table, "files": hashes}), encoding="utf-8")
    return [folder / name for name in (*hashes, record.NAME)]


def names_of(statements: Statements) -> dict[str | None, str]:
    """Return what the files of each project are called, without a suffix."""
    named: dict[str | None, str] = {None: NO_PROJECT}
    named.update(file_names([*TAKEN, *(one for one in statements.projects if one is not None)]))
    return named


def _files(
    statements: Statements, look: pages.Look, *, with_pdf: bool, progress: Progress
) -> Iterator[tuple[str, str | bytes]]:
    """Yield the name and the content of each file but the record."""
    from gwa.report.pdf import on_paper

    names = names_of(statements)
    yield INDEX, pages.index_page(statements, names, look)
    yield SUMMARY, pages.as_csv(statements)
    each = statements.by_project()
    with progress.step("statements", len(each)) as step:
        for project, own in each.items():
            name = names[project]
            yield f"{name}.html", pages.statement_page(own, project, look, paper=False)
            yield f"{name}.csv", pages.as_csv(own)
            if with_pdf:
                yield f"{name}.pdf", on_paper(pages.statement_page(own, project, look, paper=True))
            step.advance()


def _refuse(folder: Path, table: Mapping[str, object], *, force: bool) -> None:
    """Raise `OutputError` where a *folder* has other statements than a *table* says, unless by *force*."""
    if force or not folder.is_dir() or not any(folder.iterdir()) or not _is_ours(folder, force=True):
        return
    if not (record.says_the_same(folder, table) and _is_ours(folder, force=False)):
        raise OutputError(
            f"{folder}: holds other statements, which may have been given: --against {folder} makes"
            " corrections of them in another folder, --force replaces them"
        )


def _is_ours(folder: Path, *, force: bool) -> bool:
    """Whether a *folder* has statements and no other files; unless by *force*, as gwa wrote them."""
    listed = record.files_of(folder)
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    if not found.keys() <= {*listed, record.NAME} or record.NAME not in found:
        return False
    return force or all(
        name in found and sha256(found[name].read_bytes()).hexdigest() == hash_
        for name, hash_ in listed.items()
    )
