"""
GWF text: 29 columns, one job a line, ``#`` comments; the format of the Grid Workloads Archive.

Variants that are read: 28 columns (no last one), 30 (one unknown column before JobStructure), cells
parted by tabs, by padded tabs or by blanks, ``-1.0`` for missing, submit times in milliseconds
(lines that end in ASKALON). The 7-column comma format of the same suffix is refused.

The header of the archive's files says that submit times count from zero; they are Unix times in its files,
and are taken for that from 1985 on. ReqMemory, whose unit no file names, is in KB as UsedMemory is;
AverageCPUTimeUsed is an average over the processors, whatever the name of its column. JobStructure is UNITARY
or BoT in its files, and kept where it is anything else; the unknown column is passed over.

The numbers that jobs had in the source have no place in it, as in SWF: a line ``JobNumbers`` of the header
says so where there were any. They tell missing rows from silence, so what depends on that is unknown then.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gwa.errors import TraceError
from gwa.formats.base import Format, new_store
from gwa.formats.builtin._gwf_extensions import (
    ENCODING,
    RESOURCE_COLUMNS,
    declared_fields,
    packed_sql,
    recorded,
    unpacked_sql,
)
from gwa.formats.builtin._gwf_text import cell_sql, header_lines, order_clause, plain_fields, restore
from gwa.formats.builtin._write_text import write_lines
from gwa.ingest.pipeline import ingest
from gwa.ingest.source.head import FileHead
from gwa.ingest.source.lines import LineLayout
from gwa.ingest.spec import MISSING, ConverterSpec, TableSpec
from gwa.store.options import ReadOptions
from gwa.store.schema import GWF_FIELDS, GWF_NAMES, Field
from gwa.store.store import Store
from gwa.store.system import overridden

COMMENT: Final = "#"
MILLISECONDS_MARK: Final = "ASKALON"
WIDTHS: Final = (28, 29, 30)
WORKFLOW_REASON: Final = "is the 7-column comma format of workflow simulators, not the archive's 29 columns"
EXTRA_COLUMN_POSITION: Final = 18
"""The position of the 30th column: after LastRunSiteID, as in NorduGrid's trace."""


def mismatch(head: FileHead) -> str | None:
    """Return the reason why *head* is not that of a GWF file, or None."""
    if head.is_binary:
        return "is not text"
    if _is_workflow(head):
        return WORKFLOW_REASON
    layout = _layout(head)
    width = head.width(layout)
    if width in WIDTHS and _looks_numeric(head, layout):
        return None
    if not head.rows(COMMENT):
        return None if head.name.lower().endswith(".gwf") else "has no line of data"
    return f"has {width} columns, expected 29"


def _is_workflow(head: FileHead) -> bool:
    rows = head.rows(COMMENT)
    return bool(rows) and rows[0].replace(" ", "").lower().startswith("workflowid,jobid,submittime")


def _looks_numeric(head: FileHead, layout: LineLayout) -> bool:
    """Whether the first cells of most rows are numbers, or missing."""
    rows = [row.split(None if layout.squeezes else layout.delimiter)[:5] for row in head.rows(COMMENT)]
    numeric = sum(all(not cell or _is_number(cell) for cell in row) for row in rows)
    return numeric * 2 >= len(rows)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _layout(head: FileHead) -> LineLayout:
    """Return the layout: cells separated by tabs if that gives a width of GWF, else by white space."""
    tabs = LineLayout("\t", COMMENT)
    return tabs if head.width(tabs) in WIDTHS else LineLayout(" ", COMMENT)


@dataclass(frozen=True)
class GwfVariant:
    """The columns of a file, and how its cells are written."""

    delimiter: str = "\t"
    width: int = len(GWF_FIELDS)
    encoded: bool = False
    extended: bool = False
    milliseconds: bool = False


def _variant(head: FileHead) -> GwfVariant:
    layout, rows = _layout(head), head.rows(COMMENT)
    comments = head.comments(COMMENT)
    encoded = any("Encoding: percent" in comment for comment in comments)
    extended = any(f"Encoding: {ENCODING}" in comment for comment in comments)
    width = head.width(layout) if head.width(layout) in WIDTHS else len(GWF_FIELDS)
    return GwfVariant(
        layout.delimiter, width, encoded, extended, rows[0].rstrip().endswith(MILLISECONDS_MARK)
    )


def read(heads: Sequence[FileHead], options: ReadOptions) -> Store:
    """Return a store with the jobs of GWF files; files of one trace must have the same columns."""
    for head in heads:
        if _is_workflow(head):
            raise TraceError(f"{head.path}: {WORKFLOW_REASON}")
    variants = {_variant(head) for head in heads if head.rows(COMMENT)} or {GwfVariant()}
    if len(variants) > 1:
        raise TraceError(f"{heads[0].path}: the files differ in their columns: give files of one kind")
    with new_store(options) as store:
        comments = (comment for head in heads for comment in head.comments(COMMENT))
        ingest(store, heads, _converter_spec(variants.pop(), declared_fields(comments)), options)
        restore(store)
        if options.system:
            store.set_header(overridden(store.header, options.system))
    return store


def _converter_spec(variant: GwfVariant, extensions: Sequence[Field] = ()) -> ConverterSpec:
    names = list(GWF_NAMES)
    if variant.width > len(names):
        names.insert(EXTRA_COLUMN_POSITION, "unknown_column")
    fields = GWF_FIELDS[: variant.width]
    types = {
        field.name: "varchar" if field.is_text or field.name == "job_id" else "double" for field in GWF_FIELDS
    }
    columns = {name: types.get(name, "varchar") for name in names[: variant.width]}
    expressions = {field.name: field.name for field in fields}
    if variant.encoded:
        # Text that cannot be decoded was not encoded by gwa, and stays unchanged.
        decoded = "coalesce(try(url_decode({0})), {0})"
        expressions |= {field.name: decoded.format(field.name) for field in fields if field.is_text}
    expressions["job_id"] = (
        "coalesce(try_cast(job_id as bigint), try_cast(try_cast(job_id as double) as bigint))"
    )
    if variant.milliseconds:
        expressions["submit_time"] = "submit_time / 1000"
    relation = "source"
    if variant.extended and variant.width >= len(GWF_FIELDS):
        expressions, relation = unpacked_sql(expressions, extensions)
    selected = ", ".join(f"{expression} as {name}" for name, expression in expressions.items())
    return ConverterSpec(
        title="Grid Workload Format, 29 columns",
        source_table=TableSpec(columns, variant.delimiter, COMMENT, missing=(*MISSING, "")),
        select=f"select {selected} from {relation}",
    )


def write(store: Store, path: Path) -> None:
    """Write the jobs in order of submission, with the header in comments."""
    extensions, plain = recorded(store), plain_fields(store) - {*RESOURCE_COLUMNS}
    cells = ", ".join(cell_sql(field, plain) for field in GWF_FIELDS)
    packed = ", ".join(f"{packed_sql(column, extensions)} as {column}" for column in RESOURCE_COLUMNS)
    comments = [f"{COMMENT} {line}" for line in header_lines(store)]
    write_lines(
        store,
        path,
        comments,
        f"select concat_ws(chr(9), {cells}) as line from (select * replace ({packed}) from jobs)"
        f"{order_clause(store)}",
    )


FORMAT = Format(
    name="gwf",
    title="Grid Workload Format",
    names=("*.gwf",),
    notes=__doc__ or "",
    export="gwa fetch gwa-t-2 --convert\ngwa convert LOG -o trace.gwf",
    mismatch=mismatch,
    likeness=lambda head: float(not head.is_binary and _is_workflow(head)),
    read=read,
    write=write,
)
