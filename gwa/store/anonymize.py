"""
Replace names by keyed pseudonyms, and nothing else.

Users, groups, executables, projects, virtual organisations, sites, partitions (often hosts) and
bags become ``U3f9c…``: the HMAC-SHA256 of the name under a key, cut to 64 bits. The same key gives
the same pseudonym, so traces of two years join; without the key nobody can tell which name a
pseudonym stands for, nor try names out. Numbers and times stay as they are, so facts do not change.
Queues and platforms stay, but those that are called as one of the names; so do resources that are numbers
under common names. What a header, a reject or a source says of people and places is left out.
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

KINDS: Final = {
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
"""The fields that hold names, and the letter of their pseudonyms; the two sites share theirs."""

RESOURCES: Final = ("used_resources", "req_resources")
KEPT_LETTERS: Final = {"queue_id": "Q", "req_platform": "A"}
"""Texts that describe the system and are kept, but where they are called as somebody is."""

KEEPS: Final = frozenset({"queue_id", "job_structure", *RESOURCES})
"""Texts in which a name may be left: that of a partition, or what is called as a kind of structure."""

WORD: Final = re.compile(r"[\w.@/-]+")

PLAIN: Final = r"^[a-z_]+:[0-9.e+-]+(,[a-z_]+:[0-9.e+-]+)*$"
"""Resources that are numbers under common names; other texts could name anything and are dropped."""

KEPT: Final = frozenset(
    {
        "Processors", "MaxProcs", "MaxNodes", "UnixStartTime", "TimeZoneString", "TimeZone", "Times",
        "MaxRuntime", "MaxMemory", "Preemption", "Version", "MaxJobs", "MaxRecords", "AllowOveruse",
    }
)  # fmt: skip
"""The lines of a header that say nothing of people and places."""

BLOCK: Final = 64
LONGEST_KEY: Final = 4096
SHORTEST_KEY: Final = 16


def read_key(path: Path | None) -> bytes:
    """
    Return the key in the file *path*, made there when it does not exist yet.

    Without a *path* it is kept in the user's own configuration, readable by nobody else.
    """
    place = path or _home() / "anonymize.key"
    if place.exists():
        key = place.read_bytes()[:LONGEST_KEY].strip()
        if len(key) < SHORTEST_KEY:
            message = f"{place}: is no key, expected at least {SHORTEST_KEY} characters nobody can guess"
            raise TraceError(message)
        return key
    key = secrets.token_hex(32).encode()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, key + b"\n", mode=0o600)
    except OSError as error:
        raise OutputError(f"{place}: the key cannot be kept: {error}") from error
    return key


def _home() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "gwa"


def anonymized(store: Store, key: bytes, reading: ReadOptions | None = None) -> Store:
    """Return a copy of *store* without names; raise `TraceError` should one be left all the same."""
    reading = reading or ReadOptions()
    copy = Store.create(reading.target, reading.engine)
    try:
        names = _names(store, KINDS)
        _prepare(store, key)
        _copy_jobs(store, copy)
        _copy_rest(store, copy, names)
        _refuse_leaks(copy, names)
    except BaseException:
        copy.close()
        raise
    return copy


def _prepare(store: Store, key: bytes) -> None:
    """Give the engine the key's two halves and the function that makes a pseudonym."""
    short = (hashlib.sha256(key).digest() if len(key) > BLOCK else key).ljust(BLOCK, b"\0")
    for name, mask in (("inner_key", 0x36), ("outer_key", 0x5C)):
        store.connection.execute(
            f"set variable {name} = $value", {"value": bytes(byte ^ mask for byte in short)}
        )
    store.connection.execute(
        "create or replace temp macro pseudonym(letter, name) as"
        " letter || substr(sha256(getvariable('outer_key') || unhex(sha256("
        " getvariable('inner_key') || encode(letter || ':' || name)))), 1, 16)"
    )


def pseudonym(key: bytes, letter: str, name: str) -> str:
    """Return the pseudonym of a name: what the engine computes, for who has only one name."""
    import hmac

    return letter + hmac.new(key, f"{letter}:{name}".encode(), hashlib.sha256).hexdigest()[:16]


def _names(store: Store, fields: Iterable[str]) -> set[str]:
    """Return all values of some fields."""
    values = " union ".join(f"select {field} from jobs" for field in fields)
    return {name for (name,) in store.rows(values) if name}


def _copy_jobs(store: Store, copy: Store) -> None:
    recorded = [field.name for field in FIELDS if store.known[field.name]]
    columns = ["job_id", *(name for name in recorded if name != "job_id")]
    copy.begin(columns)
    _mark_telltales(store)
    chosen = ", ".join(f"{_replaced(name)} as {name}" for name in columns)
    batches = store.connection.sql(f"select {chosen} from jobs").to_arrow_reader(100_000)
    copy.connection.register("batches", batches)
    copy.connection.execute("insert into recorded by name select * from batches")
    copy.connection.unregister("batches")
    batches.close()


def _mark_telltales(store: Store) -> None:
    """Tell the engine which queues and resources are called as somebody or something that must go."""
    # The queue of many systems is the partition as well, and may stay.
    names = _names(store, [field for field in KINDS if field != "partition_id"])
    for field in ("queue_id", "req_platform"):
        alike = sorted(_names(store, [field]) & names)
        store.connection.execute(f"set variable named_{field} = $names", {"names": alike})
    for field in RESOURCES:
        keys = f"unnest(regexp_extract_all({field}, '[a-z_]+'))"
        alike = sorted({key for (key,) in store.rows(f"select distinct {keys} from jobs")} & names)
        store.connection.execute(f"set variable named_{field} = $names", {"names": alike})


def _replaced(name: str) -> str:
    named = f"getvariable('named_{name}')::varchar[]"
    if name in KINDS:
        return f"pseudonym('{KINDS[name]}', {name})"
    if name in KEPT_LETTERS:
        letter = KEPT_LETTERS[name]
        return f"case when list_contains({named}, {name}) then pseudonym('{letter}', {name}) else {name} end"
    if name in RESOURCES:
        return (
            f"case when regexp_matches({name}, '{PLAIN}')"
            f" and not list_has_any({named}, regexp_extract_all({name}, '[a-z_]+')) then {name} end"
        )
    return name


def _copy_rest(store: Store, copy: Store, names: set[str]) -> None:
    """Keep accounts, repairs and dependencies; leave out texts that could name somebody."""
    copy.set_header(
        tuple((key, value) for key, value in store.header if key in KEPT and not _named(value, names))
    )
    repairs = store.rows("select name, meaning, jobs from repairs where name <> 'duplicate file'")
    copy.insert(
        # What a missing part is called may be the name of a folder.
        "repairs",
        [(name, _blotted(meaning.partition(", such as")[0], names), jobs) for name, meaning, jobs in repairs],
    )
    copy.insert("dependencies", store.rows("select * from dependencies"))
    copy.insert(
        "sources",
        store.rows(
            "select 'source ' || row_number() over (order by file, sha256), bytes, '',"
            " rows, comments, rejected"
            " from sources order by file, sha256"
        ),
    )
    rejects = store.rows("select line, reason from rejects order by file, line")
    copy.insert(
        "rejects",
        [("source", line, _blotted(re.sub(r"'.*'", "'…'", reason), names), "") for line, reason in rejects],
    )
    copy.note({"anonymized": "names replaced by keyed pseudonyms"})
    copy.set_account(store.account)
    said = store.provenance
    copy.note({name: said[name] for name in ("format", "gwa") if name in said})


def _named(text: str, names: set[str]) -> set[str]:
    """Return which words of a text are names; mere numbers, of which texts are full, name nobody."""
    return {word for word in WORD.findall(text) if word in names and not word.isdigit()}


def _blotted(text: str, names: set[str]) -> str:
    """Return a text of ours without the words that are names of this trace, be it by chance."""
    named = _named(text, names)
    return WORD.sub(lambda word: "…" if word[0] in named else word[0], text)


def _refuse_leaks(copy: Store, names: set[str]) -> None:
    """Look for every original name in every text of the copy."""
    for field in FIELDS:
        if field.is_text and copy.known[field.name] and field.name not in KEEPS:
            _refuse(_names(copy, [field.name]) & names, field.name)
    for table, text in (("header", "value"), ("rejects", "reason"), ("repairs", "meaning")):
        for (said,) in copy.rows(f"select distinct {text} from {table}"):
            _refuse(_named(said, names), f"the {table}")


def _refuse(left: set[str], where: str) -> None:
    if left:
        message = f"a name is left in {where} after anonymising: please report this"
        raise TraceError(message)
