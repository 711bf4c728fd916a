"""
Replace names by keyed pseudonyms, and nothing else.

Users, groups, executables, projects, virtual organisations, sites, partitions (often hosts) and
bags become ``U3f9c…``: the HMAC-SHA256 of the name under a key, cut to 64 bits. The same key gives
the same pseudonym, so traces of two years join; without the key nobody can tell which name a
pseudonym stands for, nor try names out. Numbers and times stay as they are, so facts do not change.
What a header, a reject or a source says of people and places is left out.
"""

import hashlib
import os
import re
import secrets
from pathlib import Path
from typing import Final

from gwa.errors import OutputError, TraceError
from gwa.output import write_whole
from gwa.reading import Reading
from gwa.schema import FIELDS
from gwa.store import Store

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


def anonymized(store: Store, key: bytes, reading: Reading | None = None) -> Store:
    """Return a copy of *store* without names; raise `TraceError` should one be left all the same."""
    reading = reading or Reading()
    copy = Store.create(reading.target, reading.engine)
    try:
        _prepare(store, key)
        _copy_jobs(store, copy)
        _copy_rest(store, copy)
        _refuse_leaks(store, copy)
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


def _copy_jobs(store: Store, copy: Store) -> None:
    recorded = [field.name for field in FIELDS if store.known[field.name]]
    columns = ["job_id", *(name for name in recorded if name != "job_id")]
    copy.begin(columns)
    chosen = ", ".join(f"{_replaced(name)} as {name}" for name in columns)
    batches = store.connection.sql(f"select {chosen} from jobs").to_arrow_reader(100_000)
    copy.connection.register("batches", batches)
    copy.connection.execute("insert into recorded by name select * from batches")
    copy.connection.unregister("batches")
    batches.close()


def _replaced(name: str) -> str:
    if name in KINDS:
        return f"pseudonym('{KINDS[name]}', {name})"
    if name in RESOURCES:
        return f"case when regexp_matches({name}, '{PLAIN}') then {name} end"
    return name


def _copy_rest(store: Store, copy: Store) -> None:
    """Keep accounts, repairs and dependencies; leave out texts that could name somebody."""
    copy.set_header(tuple(line for line in store.header if line[0] in KEPT))
    copy.insert(
        "repairs", store.rows("select name, meaning, jobs from repairs where name <> 'duplicate file'")
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
    copy.insert("rejects", [("source", line, re.sub(r"'.*'", "'…'", reason), "") for line, reason in rejects])
    copy.note({"anonymized": "names replaced by keyed pseudonyms"})
    copy.set_account(store.account)
    said = store.provenance
    copy.note({name: said[name] for name in ("format", "gwa") if name in said})


def _refuse_leaks(store: Store, copy: Store) -> None:
    """Look for every original name in every text of the copy."""
    names = {
        name for (name,) in store.rows(" union ".join(f"select {field} from jobs" for field in KINDS)) if name
    }
    texts = [
        field.name for field in FIELDS if field.is_text and copy.known[field.name] and field.name not in KEEPS
    ]
    for field in texts:
        left = {value for (value,) in copy.rows(f"select distinct {field} from jobs")} & names
        if left:
            message = f"a name is left in {field} after anonymising: please report this"
            raise TraceError(message)
    reasons = [reason for (reason,) in copy.rows("select distinct reason from rejects")]
    said = [*(value for _, value in copy.header), *reasons]
    for text in said:
        if names & set(re.findall(r"[\w.@/-]+", text)):
            message = "a name is left in the header or the rejects after anonymising: please report this"
            raise TraceError(message)


KEEPS: Final = frozenset({"queue_id", "job_structure", "req_platform", *RESOURCES})
"""Texts that are kept on purpose: queues and the like describe the system, not people."""
