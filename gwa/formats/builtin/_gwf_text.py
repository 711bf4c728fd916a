"""Values in GWF text, and the comments at its beginning."""

import re
from typing import Final

from gwa.formats.builtin._gwf_extensions import ENCODING, EXTENSION_KEY, extension_lines, recorded
from gwa.store.account import Account
from gwa.store.lost_numbers import lost_numbers
from gwa.store.schema import GWF_FIELDS, Field
from gwa.store.store import ORDER, Store
from gwa.store.system import ABSOLUTE, Header
from gwa.util.version import __version__

UNSAFE: Final = r"[\s\p{Z}\p{C}%]|^#|^-1(\.0*)?$|ASKALON$"
"""Text that a reader of GWF would misinterpret; it is written percent-encoded."""


def number_sql(number: str, *, is_whole: bool) -> str:
    """Return the SQL that writes the expression *number*: whole ones without a point, missing ones as -1."""
    if is_whole:
        return f"coalesce(cast({number} as varchar), '-1')"
    whole = f"{number} = trunc({number}) and abs({number}) < 1e15"
    return (
        f"case when {number} is null then '-1' when {whole} then cast(cast({number} as bigint) as varchar)"
        f" else cast({number} as varchar) end"
    )


def _text_sql(name: str) -> str:
    """Return the SQL that writes the text *name* so that it is one cell and is read back unchanged."""
    return (
        f"case when {name} is null or {name} = '' then '-1'"
        f" when not regexp_matches({name}, '{UNSAFE}') then {name}"
        # Minus signs and letters are not changed by url_encode, so those are encoded here.
        f" when starts_with({name}, '-') then '%2D' || url_encode(substr({name}, 2))"
        f" when ends_with({name}, 'ASKALON') then url_encode(left({name}, length({name}) - 7)) || '%41SKALON'"
        f" else url_encode({name}) end"
    )


def plain_fields(store: Store) -> set[str]:
    """
    Return the fields that need no special treatment: all values are whole numbers, or safe texts.

    Examining distinct texts once is much cheaper than examining every cell while writing.
    """
    numbers = [field.name for field in GWF_FIELDS if field.sql == "DOUBLE"]
    tests = ", ".join(f"bool_and({name} = trunc({name}) and abs({name}) < 1e15)" for name in numbers)
    whole = store.row(f"select {tests} from jobs")
    texts = [field.name for field in GWF_FIELDS if field.is_text]
    unsafe = store.row(
        "select "
        + ", ".join(
            f"(select count(*) from (select distinct {name} as text from jobs) as t"
            f" where text = '' or regexp_matches(text, '{UNSAFE}'))"
            for name in texts
        )
    )
    return {name for name, is_whole in zip(numbers, whole, strict=True) if is_whole is not False} | {
        name for name, count in zip(texts, unsafe, strict=True) if not count
    }


def cell_sql(field: Field, plain: set[str]) -> str:
    """Return the SQL that writes the value of a field."""
    if field.is_text:
        return f"coalesce({field.name}, '-1')" if field.name in plain else _text_sql(field.name)
    if field.name in plain:
        return f"coalesce(cast(cast({field.name} as bigint) as varchar), '-1')"
    return number_sql(field.name, is_whole=field.is_whole)


def order_clause(store: Store) -> str:
    """Return the ORDER BY for writing jobs in order of submission, empty if they are in order already."""
    if not store.is_in_order:
        return store.order
    out_of_order = store.row(
        "select count(*) from (select submit_time as t, job_id as n,"
        " lag(submit_time) over () as t0, lag(job_id) over () as n0, row_number() over () as place"
        " from jobs) as row"
        " where place > 1 and (t is null and (t0 is not null or n0 > n) or t0 > t or (t0 = t and n0 > n))"
    )[0]
    return f" order by {ORDER}" if out_of_order else ""


def entry_lines(header: Header) -> list[str]:
    r"""
    Return the lines of a header; entries without a valid key are omitted, and each value is on one line.

    >>> entry_lines((("Computer", "IBM SP2"), ("Note", "two\nlines"), ("no key", "")))
    ['Computer: IBM SP2', 'Note: two lines']
    """
    return [f"{key}: {_BREAK.sub(' ', value)}".rstrip() for key, value in header if _KEY.fullmatch(key)]


def header_lines(store: Store) -> list[str]:
    """Return the comments of a GWF file: the format, the system, the account and the columns."""
    system, header, account = store.system, store.header, store.account
    keys = {key for key, _ in header}
    lines = [f"GWF, {len(GWF_FIELDS)} columns, parted by tabs; missing is -1", f"Encoding: {ENCODING}"]
    # Lines that other programs look for come first; the header itself follows after the writer.
    if "Times" not in keys:
        lines.append("Times: " + ("seconds since an unknown start" if system.relative else ABSOLUTE))
    if system.cpus and not system.cpus_inferred and "Processors" not in keys:
        lines.append(f"Processors: {system.cpus}")
    lines.append(f"{WRITER_KEY}: gwa {__version__}")
    lines += entry_lines(tuple(line for line in header if line[0] not in OWN_KEYS))
    lines += entry_lines(lost_numbers(store))
    counts = ", ".join(
        f"{name} {count}" for name, count in vars(account).items() if count or name != "skipped"
    )
    lines.append(f"Account: {counts}")
    repairs = store.rows("select name, meaning, jobs from repairs order by all")
    repair_lines = [("Repair", f"{jobs} jobs, {name}: {meaning}") for name, meaning, jobs in repairs]
    lines += entry_lines(tuple(repair_lines))
    lines += [
        f"Field: {number} {field.title}: {_describe(field)}" for number, field in enumerate(GWF_FIELDS, 1)
    ]
    return lines + entry_lines(tuple(extension_lines(recorded(store))))


WRITER_KEY: Final = "Writer"
OWN_KEYS: Final = ("Encoding", WRITER_KEY, "Account", "Repair", "Field", EXTENSION_KEY)
"""Keys of comments that are written from tables of the store."""

_KEY: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_BREAK: Final = re.compile(r"[\x00\t\n\v\f\r\x1a]")
_REPAIR: Final = re.compile(r"(\d+) jobs, ([^:]*): (.*)")
_COUNT: Final = re.compile(r"([a-z]+) (\d{1,18})(?:, |$)")


def _describe(field: Field) -> str:
    return f"{field.meaning} ({field.unit})" if field.unit else field.meaning


def restore(store: Store) -> None:
    """
    Restore the account and the repairs that an earlier conversion wrote in the comments.

    They are valid only if the file still has that number of jobs and no line was refused or folded.
    """
    header, account = store.header, store.account
    position = next((position for position, (key, _) in enumerate(header) if key == WRITER_KEY), None)
    if position is None:
        return
    account_text = dict(header).get("Account", "")
    counts = {name: int(count) for name, count in _COUNT.findall(account_text)}
    is_whole = not account.rejected and not account.folded
    if counts.keys() | {"skipped"} == vars(account).keys() and counts["jobs"] == account.jobs and is_whole:
        store.set_account(Account(**counts))
        repairs = [_REPAIR.fullmatch(value) for key, value in header if key == "Repair"]
        store.insert("repairs", [(match[2], match[3], int(match[1])) for match in repairs if match])
    ours = (*OWN_KEYS, "Times", "Processors")
    original = [line for line in header[:position] if line[0] not in ours]
    store.set_header((*original, *(line for line in header[position:] if line[0] not in OWN_KEYS)))
