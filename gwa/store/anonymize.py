"""
Replace names by keyed pseudonyms.

Users, groups, executables, projects, virtual organisations, sites, partitions (often hosts) and
bags become ``U3f9c…``: the HMAC-SHA256 of the name under a key, cut to 64 bits. The same key gives
the same pseudonym, so that traces of two years can be joined; without the key it is impossible to find the
name behind a pseudonym, even by trying names. Numbers and times are unchanged, so facts do not change.
Queues and platforms are kept unless they equal one of the names, and so are resources that are numbers
under common names. Texts on people and places in headers, rejects and sources are left out.
"""

import hashlib
import os
import re
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from gwa.errors import OutputError, TraceError
from gwa.store.options import ReadOptions
from gwa.store.schema import FIELDS
from gwa.store.store import Store
from gwa.util.atomic import write_whole

PSEUDONYM_LETTERS: Final = {
    "user_id": "U",
    "group_id": "G",
    "executable_id": "X",
    "project_id": "P",
    "vo_id": "V",
    "orig_site_id": "S",
    "last_run_site_id": "S",
    "partition_id": "C",
    "job_structure_params": "B",
}
"""The fields that hold names, and the first letter of their pseudonyms; the two sites share one."""

RESOURCE_FIELDS: Final = ("used_resources", "req_resources")
CONDITIONAL_LETTERS: Final = {"queue_id": "Q", "req_platform": "A"}
"""Fields that describe the system and are kept, except values that equal a name; their letters."""

FIELDS_NOT_SEARCHED: Final = frozenset({"queue_id", "job_structure", *RESOURCE_FIELDS})
"""Fields in which a value may equal a name, such as that of a partition or a kind of structure."""

WORD: Final = re.compile(r"[\w.@/-]+")

NUMERIC_RESOURCES: Final = r"^[a-z_]+:[0-9.e+-]+(,[a-z_]+:[0-9.e+-]+)*$"
"""Resources that are numbers under common names; other texts could contain anything and are dropped."""

HARMLESS_HEADER_KEYS: Final = frozenset(
    {
        "Processors", "MaxProcs", "MaxNodes", "UnixStartTime", "TimeZoneString", "TimeZone", "Times",
        "MaxRuntime", "MaxMemory", "Preemption", "Version", "MaxJobs", "MaxRecords", "AllowOveruse",
    }
)  # fmt: skip
"""The keys of header lines that do not concern people and places."""

HMAC_BLOCK_SIZE: Final = 64
MAXIMUM_KEY_LENGTH: Final = 4096
MINIMUM_KEY_LENGTH: Final = 16


def read_key(path: Path | None) -> bytes:
    """
    Return the key in the file *path*, which is created if it does not exist.

    Without a *path* it is kept in the user's own configuration, where only the user can read it.
    """
    path = path or _config_folder() / "anonymize.key"
    if path.exists():
        key = path.read_bytes()[:MAXIMUM_KEY_LENGTH].strip()
        if len(key) < MINIMUM_KEY_LENGTH:
            message = f"{path}: is no key, expected at least {MINIMUM_KEY_LENGTH} characters nobody can guess"
            raise TraceError(message)
        return key
    key = secrets.token_hex(32).encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, key + b"\n", mode=0o600)
    except OSError as error:
        raise OutputError(f"{path}: the key cannot be kept: {error}") from error
    return key


def _config_folder() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "gwa"


def anonymize(store: Store, key: bytes, options: ReadOptions | None = None) -> Store:
    """Return a copy of *store* without names; raise `TraceError` if one is left nevertheless."""
    options = options or ReadOptions()
    copy = Store.create(options.target, options.engine)
    try:
        names = _distinct_values(store, PSEUDONYM_LETTERS)
        _define_pseudonyms(store, key)
        _copy_jobs(store, copy)
        _copy_other_tables(store, copy, names)
        _refuse_leaks(copy, names)
    except BaseException:
        copy.close()
        raise
    return copy


def _define_pseudonyms(store: Store, key: bytes) -> None:
    """Define the two keys of HMAC and the function that makes a pseudonym in the engine."""
    padded = (hashlib.sha256(key).digest() if len(key) > HMAC_BLOCK_SIZE else key).ljust(
        HMAC_BLOCK_SIZE, b"\0"
    )
    for name, mask in (("inner_key", 0x36), ("outer_key", 0x5C)):
        store.connection.execute(
            f"set variable {name} = $value", {"value": bytes(byte ^ mask for byte in padded)}
        )
    store.connection.execute(
        "create or replace temp macro pseudonym(letter, name) as"
        " letter || substr(sha256(getvariable('outer_key') || unhex(sha256("
        " getvariable('inner_key') || encode(letter || ':' || name)))), 1, 16)"
    )


def _distinct_values(store: Store, fields: Iterable[str]) -> set[str]:
    """Return all values of *fields*."""
    values = " union ".join(f"select {field} from jobs" for field in fields)
    return {name for (name,) in store.rows(values) if name}


def _copy_jobs(store: Store, copy: Store) -> None:
    recorded = [field.name for field in FIELDS if store.known[field.name]]
    columns = ["job_id", *(name for name in recorded if name != "job_id")]
    copy.begin(columns)
    _define_colliding_names(store)
    expressions = ", ".join(f"{_column_sql(name)} as {name}" for name in columns)
    batches = store.connection.sql(f"select {expressions} from jobs").to_arrow_reader(100_000)
    copy.connection.register("batches", batches)
    copy.connection.execute("insert into recorded by name select * from batches")
    copy.connection.unregister("batches")
    batches.close()


def _define_colliding_names(store: Store) -> None:
    """Define the values of queues, platforms and resources that equal a name, as variables of the engine."""
    # On many systems the queue is also the partition, and may be kept.
    names = _distinct_values(store, [field for field in PSEUDONYM_LETTERS if field != "partition_id"])
    for field in ("queue_id", "req_platform"):
        colliding = sorted(_distinct_values(store, [field]) & names)
        store.connection.execute(f"set variable named_{field} = $names", {"names": colliding})
    for field in RESOURCE_FIELDS:
        keys = f"unnest(regexp_extract_all({field}, '[a-z_]+'))"
        colliding = sorted({key for (key,) in store.rows(f"select distinct {keys} from jobs")} & names)
        store.connection.execute(f"set variable named_{field} = $names", {"names": colliding})


def _column_sql(name: str) -> str:
    named = f"getvariable('named_{name}')::varchar[]"
    if name in PSEUDONYM_LETTERS:
        return f"pseudonym('{PSEUDONYM_LETTERS[name]}', {name})"
    if name in CONDITIONAL_LETTERS:
        letter = CONDITIONAL_LETTERS[name]
        return f"case when list_contains({named}, {name}) then pseudonym('{letter}', {name}) else {name} end"
    if name in RESOURCE_FIELDS:
        return (
            f"case when regexp_matches({name}, '{NUMERIC_RESOURCES}')"
            f" and not list_has_any({named}, regexp_extract_all({name}, '[a-z_]+')) then {name} end"
        )
    return name


def _copy_other_tables(store: Store, copy: Store, names: set[str]) -> None:
    """Copy the account, repairs and dependencies, without texts that could name somebody."""
    copy.set_header(
        tuple(
            (key, value)
            for key, value in store.header
            if key in HARMLESS_HEADER_KEYS and not _names_in(value, names)
        )
    )
    repairs = store.rows(
        "select name, meaning, jobs from repairs where name not in ('duplicate file', 'file not read')"
    )
    copy.insert(
        # The name of a missing part may contain that of a folder.
        "repairs",
        [
            (name, _redacted(meaning.partition(", such as")[0], names), jobs)
            for name, meaning, jobs in repairs
        ],
    )
    copy.insert("dependencies", store.rows("select * from dependencies"))
    copy.insert(
        "sources",
        store.rows(
            "select 'source ' || row_number() over (order by file, sha256), bytes, '',"
            " rows, comments, rejected, skipped"
            " from sources order by file, sha256"
        ),
    )
    rejects = store.rows("select line, reason from rejects order by file, line")
    copy.insert(
        "rejects",
        [("source", line, _redacted(re.sub(r"'.*'", "'…'", reason), names), "") for line, reason in rejects],
    )
    copy.note({"anonymized": "names replaced by keyed pseudonyms"})
    copy.set_account(store.account)
    provenance = store.provenance
    copy.note({name: provenance[name] for name in ("format", "gwa") if name in provenance})


def _names_in(text: str, names: set[str]) -> set[str]:
    """Return the words of a text that are names, except numbers, which occur in any text."""
    return {word for word in WORD.findall(text) if word in names and not word.isdigit()}


def _redacted(text: str, names: set[str]) -> str:
    """Return a text written by gwa without words that happen to be names of this trace."""
    leaked = _names_in(text, names)
    return WORD.sub(lambda word: "…" if word[0] in leaked else word[0], text)


def _refuse_leaks(copy: Store, names: set[str]) -> None:
    """Raise `TraceError` if an original name is left in a text of the copy."""
    for field in FIELDS:
        if field.is_text and copy.known[field.name] and field.name not in FIELDS_NOT_SEARCHED:
            _refuse(_distinct_values(copy, [field.name]) & names, field.name)
    for table, text in (("header", "value"), ("rejects", "reason"), ("repairs", "meaning")):
        for (content,) in copy.rows(f"select distinct {text} from {table}"):
            _refuse(_names_in(content, names), f"the {table}")


def _refuse(left: set[str], where: str) -> None:
    if left:
        message = f"a name is left in {where} after anonymising: please report this"
        raise TraceError(message)
