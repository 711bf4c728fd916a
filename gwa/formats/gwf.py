"""
GWF text: 29 columns, one job a line, ``#`` comments; the format of the Grid Workloads Archive.

Variants that are read: 28 columns (no last one), 30 (one unknown column before JobStructure), cells
parted by tabs, by padded tabs or by blanks, ``-1.0`` for missing, submit times in milliseconds
(lines that end in ASKALON). The 7-column comma format of the same suffix is refused.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gwa.errors import TraceError
from gwa.formats import Format, Reading
from gwa.gwftext import header_lines, restore, text_cell, text_number
from gwa.ingest import Recipe, ingest
from gwa.output import compressing, whole
from gwa.readers.columns import MISSING
from gwa.readers.head import Head
from gwa.readers.lines import Layout
from gwa.schema import FIELDS
from gwa.store import Store

COMMENT: Final = "#"
OLD_MILLISECONDS: Final = "ASKALON"
WIDTHS: Final = (28, 29, 30)
EXTRA_AT: Final = 18
"""Where the 30th column stands: behind LastRunSiteID, as in NorduGrid's trace."""


def refuses(head: Head) -> str | None:
    """Return why *head* is no GWF, or None."""
    if head.is_binary:
        return "is not text"
    if _is_workflow(head):
        return "is the 7-column comma format of workflow simulators, not the archive's 29 columns"
    layout = _layout(head)
    width = head.width(layout)
    if width in WIDTHS and _looks_numeric(head, layout):
        return None
    if not head.rows(COMMENT):
        return None if head.name.lower().endswith(".gwf") else "has no line of data"
    return f"has {width} columns, expected 29"


def _is_workflow(head: Head) -> bool:
    rows = head.rows(COMMENT)
    return bool(rows) and rows[0].replace(" ", "").lower().startswith("workflowid,jobid,submittime")


def _looks_numeric(head: Head, layout: Layout) -> bool:
    """Whether the first cells of most rows are numbers."""
    rows = [row.split(None if layout.squeezes else layout.delimiter)[:5] for row in head.rows(COMMENT)]
    good = sum(all(_is_number(cell) for cell in row) for row in rows)
    return good * 2 >= len(rows)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _layout(head: Head) -> Layout:
    """Cells are parted by tabs where that gives a width of GWF, else by white space."""
    tabs = Layout("\t", COMMENT)
    return tabs if head.width(tabs) in WIDTHS else Layout(" ", COMMENT)


def read(heads: Sequence[Head], reading: Reading) -> Store:
    """Return a store with the jobs of GWF files; files of one trace must have the same columns."""
    shapes = {(_layout(head).delimiter, head.width(_layout(head))) for head in heads if head.rows(COMMENT)}
    if len(shapes) > 1:
        message = f"{heads[0].path}: the files differ in their columns: give files of one kind"
        raise TraceError(message)
    delimiter, width = shapes.pop() if shapes else ("\t", len(FIELDS))
    store = Store.create(reading.target, reading.engine)
    try:
        ingest(
            store,
            heads,
            _recipe(delimiter, width, heads),
            system=reading.system,
            strict=reading.strict,
            progress=reading.progress,
        )
        restore(store)
    except BaseException:
        store.close()
        raise
    return store


def _recipe(delimiter: str, width: int, heads: Sequence[Head]) -> Recipe:
    names = [field.name for field in FIELDS]
    if width > len(names):
        names.insert(EXTRA_AT, "unknown_column")
    fields = FIELDS[: min(width, len(FIELDS))]
    types = {
        field.name: "varchar" if field.is_text or field.name == "job_id" else "double" for field in FIELDS
    }
    columns = {name: types.get(name, "varchar") for name in names[: max(width, 28)]}
    encoded = any("Encoding: percent" in comment for head in heads for comment in head.comments(COMMENT))
    milliseconds = any(row.rstrip().endswith(OLD_MILLISECONDS) for row in heads[0].rows(COMMENT)[:1])
    mapped = {field.name: field.name for field in fields}
    mapped |= {field.name: f"url_decode({field.name})" for field in fields if field.is_text and encoded}
    mapped["job_id"] = "coalesce(try_cast(job_id as bigint), cast(try_cast(job_id as double) as bigint))"
    if milliseconds:
        mapped["submit_time"] = "submit_time / 1000"
    selected = ", ".join(f"{expression} as {name}" for name, expression in mapped.items())
    return Recipe(
        title="Grid Workload Format, 29 columns",
        columns=columns,
        select=f"select {selected} from source",
        delimiter=delimiter,
        comment=COMMENT,
        missing=(*MISSING, ""),
    )


def write(store: Store, path: Path) -> None:
    """Write the jobs in order of submission, with the header in comments."""
    cells = " || chr(9) || ".join(
        text_cell(field) if field.is_text else text_number(field) for field in FIELDS
    )
    with whole(path) as part:
        body = store.scratch / "body.gwf"
        store.connection.execute(
            f"copy (select {cells} as line from jobs order by submit_time nulls first, job_id) to '{body}'"
            " (format csv, header false, quote '', escape '', delimiter '\\x1f')"
        )
        _join(part, header_lines(store), body, path)


def _join(part: Path, header: Sequence[str], body: Path, path: Path) -> None:
    """Put header and body together, compressed as the name of *path* says."""
    try:
        with compressing(part, path) as out, body.open("rb") as lines:
            out.write("".join(f"{COMMENT} {line}\n" for line in header).encode())
            shutil.copyfileobj(lines, out, 1 << 20)
    finally:
        body.unlink(missing_ok=True)


FORMAT = Format(
    name="gwf",
    title="Grid Workload Format",
    suffixes=(".gwf",),
    notes=__doc__ or "",
    refuses=refuses,
    read=read,
    write=write,
)
