"""How values are written in GWF text, and what its comments say."""

import re
from typing import Final

from gwa import __version__
from gwa.schema import FIELDS, Field
from gwa.store import Account, Store
from gwa.system import ABSOLUTE

UNSAFE: Final = r"[\s%\x00-\x1f\x7f]|^#|^-1(\.0*)?$|ASKALON$"
"""Text that a reader of GWF would take for something else; it is written percent-encoded."""


def text_number(field: Field) -> str:
    """Return the SQL that writes a number: whole ones without a point, missing as -1."""
    name = field.name
    if field.is_whole:
        return f"coalesce(cast({name} as varchar), '-1')"
    whole = f"{name} = trunc({name}) and abs({name}) < 1e15"
    return (
        f"case when {name} is null then '-1' when {whole} then cast(cast({name} as bigint) as varchar)"
        f" else cast({name} as varchar) end"
    )


def text_cell(field: Field) -> str:
    """Return the SQL that writes a text so that it stays one cell and comes back the same."""
    name = field.name
    return (
        f"case when {name} is null then '-1' when not regexp_matches({name}, '{UNSAFE}') then {name}"
        # A minus sign and letters are not changed by url_encode, so those are encoded by hand.
        f" when starts_with({name}, '-') then '%2D' || url_encode(substr({name}, 2))"
        f" when ends_with({name}, 'ASKALON') then url_encode(left({name}, length({name}) - 7)) || '%41SKALON'"
        f" else url_encode({name}) end"
    )


def header_lines(store: Store) -> list[str]:
    """Return the comments of a GWF file: what it is, the system, the account and the columns."""
    system, account = store.system, store.account
    lines = [
        f"GWF, {len(FIELDS)} columns, parted by tabs; missing is -1",
        "Encoding: percent",
        f"Writer: gwa {__version__}",
        "Times: " + ("seconds since an unknown start" if system.relative else ABSOLUTE),
    ]
    if system.cpus and not system.cpus_inferred:
        lines.append(f"Processors: {system.cpus}")
    lines += [f"{key}: {_one_line(value)}" for key, value in store.header if key not in OURS]
    counts = ", ".join(f"{name} {count}" for name, count in vars(account).items())
    lines.append(f"Account: {counts}")
    lines += [
        f"Repair: {jobs} jobs, {name}: {meaning}"
        for name, meaning, jobs in store.rows("from repairs order by all")
    ]
    lines += [f"Field: {number} {field.title}: {_describe(field)}" for number, field in enumerate(FIELDS, 1)]
    return lines


OURS: Final = ("Encoding", "Writer", "Times", "Processors", "Account", "Repair", "Field")
"""Keys of comments that are written from the store itself."""

_REPAIR: Final = re.compile(r"(\d+) jobs, ([^:]*): (.*)")


def _describe(field: Field) -> str:
    return f"{field.meaning} ({field.unit})" if field.unit else field.meaning


def _one_line(text: str) -> str:
    return " ".join(text.split())


def restore(store: Store) -> None:
    """
    Take over the account and the repairs that an earlier conversion left in the comments.

    They hold only while the file still has the jobs that they speak of and no line was refused.
    """
    header, now = store.header, store.account
    said = dict(header).get("Account", "")
    counts = {part.split()[0]: int(part.split()[-1]) for part in said.split(",") if len(part.split()) == 2}
    if set(counts) == set(vars(now)) and counts["jobs"] == now.jobs and not now.rejected:
        store.set_account(Account(**counts))
        repairs = [_REPAIR.fullmatch(value) for key, value in header if key == "Repair"]
        store.insert("repairs", [(match[2], match[3], int(match[1])) for match in repairs if match])
    gone = set(OURS) - {"Processors", "Times"}
    store.set_header(tuple(line for line in header if line[0] not in gone))
