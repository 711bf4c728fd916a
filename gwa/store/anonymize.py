"""
Replace names by keyed pseudonyms.

What stays of a trace is what is listed here; all else goes. Numbers and times stay. Users, groups,
executables, projects, virtual organisations, sites, partitions (often hosts), queues, platforms and bags
become pseudonyms such as ``U~3f9c0123456789ab``, unless their owner keeps them. Of resources, those stay
that are amounts under common names. Of the header stay numbers, the time zone and what gwa itself writes,
of repairs the texts of gwa's own converters. Names of files, commands, comments and the texts of refused
lines are left out. So facts do not change, but for the names in them.
"""

import os
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from gwa.errors import OutputError, TraceError
from gwa.store.lost_numbers import lost_numbers
from gwa.store.options import ReadOptions
from gwa.store.privacy import (
    ANONYMIZED_KEY,
    COARSENED_KEY,
    LEFT_OUT,
    NUMBERING_KEYS,
    Vocabulary,
    anonymized_line,
    find_leaks,
    public_line,
)
from gwa.store.pseudonyms import (
    PEOPLE_FIELDS,
    anonymous_sql,
    define_anonymous_lists,
    define_pseudonyms,
    kept_fields,
    naming,
)
from gwa.store.repairs import EARLIER, UNSEALED
from gwa.store.schema import FIELDS
from gwa.store.store import Store
from gwa.store.system import Header
from gwa.store.uniqueness import Coarsening, Hiding, coarsening
from gwa.store.versions import fields_known
from gwa.util.atomic import write_whole
from gwa.util.exclusive import SHORT_WORK, exclusive
from gwa.util.version import __version__

MAXIMUM_KEY_LENGTH: Final = 4096
MINIMUM_KEY_LENGTH: Final = 16


def read_key(path: Path | None) -> bytes:
    """
    Return the key in the file *path*, which is created if it does not exist.

    Without a *path* it is kept in the user's own configuration, where only the user can read it.
    """
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    path = path or folder / "gwa" / "anonymize.key"
    if path.exists():
        return _key(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with exclusive(path, SHORT_WORK):
            if path.exists():  # another command made it meanwhile: both use the same
                return _key(path)
            write_whole(path, secrets.token_hex(32) + "\n", mode=0o600)
            return _key(path)
    except OSError as error:
        raise OutputError(f"{path}: the key cannot be kept: {error}") from error


def _key(path: Path) -> bytes:
    """Return the key in a file; raise `TraceError` for one that is too short."""
    key = path.read_bytes()[:MAXIMUM_KEY_LENGTH].strip()
    if len(key) < MINIMUM_KEY_LENGTH:
        length = MINIMUM_KEY_LENGTH
        message = f"{path}: is not a key, expected at least {length} characters that cannot be guessed"
        raise TraceError(message)
    return key


def anonymize(
    store: Store,
    key: bytes,
    options: ReadOptions | None = None,
    *,
    keep: Collection[str] = (),
    vocabulary: Vocabulary | None = None,
    hiding: Hiding | None = None,
    tell: Callable[[Sequence[str]], object] = len,
) -> Store:
    """
    Return a copy of *store* without names; raise `TraceError` if one is left nevertheless.

    The names that *keep* lists stay, such as "queues", except those that hold a name which goes, such as a
    user's: *tell* is called with them. The texts of the *vocabulary* stay, too. Where users are *hiding*
    behind each other, the copy is coarser; raise `TraceError` if that is out of reach.
    """
    options, vocabulary, kept = options or ReadOptions(), vocabulary or Vocabulary(), kept_fields(keep)
    coarser = coarsening(store, hiding.k, hiding.leave_out) if hiding else None
    copy = Store.create(options.target, options.engine)
    try:
        define_pseudonyms(store, key)
        tell(_copy_jobs(store, copy, kept, coarser))
        _copy_other_tables(store, copy, vocabulary, coarser)
        lines = [(COARSENED_KEY, coarser.line)] if coarser else []
        own = _public_lines(store.header)
        copy.set_header((anonymized_line(keep), *lines, *own, *lost_numbers(store)))
        if coarser:
            _leave_out(copy, coarser)
        leaks = find_leaks(copy, vocabulary, kept=kept)
        if hiding and coarser:
            hiding.tell(coarser)
    except BaseException:
        copy.close()
        raise
    if leaks:
        copy.close()
        raise TraceError(f"a name is left in {leaks[0].where} after anonymising: please report this")
    return copy


def _public_lines(header: Header) -> Iterator[tuple[str, str]]:
    """Yield what stays of a header, without lines on pseudonyms of an earlier time."""
    for key, value in header:
        line = public_line(key, value)
        if line and key not in {ANONYMIZED_KEY, COARSENED_KEY, *NUMBERING_KEYS}:
            yield line


def _leave_out(copy: Store, coarser: Coarsening) -> None:
    """Take what was left out of the account of a copy."""
    account, left = copy.account, coarser.left_out
    copy.set_account(replace(account, rows=account.rows - left, jobs=account.jobs - left))


def _copy_jobs(store: Store, copy: Store, kept: Collection[str], coarser: Coarsening | None) -> list[str]:
    """
    Copy the jobs without names, *coarser* where that is asked for.

    Return the names of *kept* fields that are replaced nevertheless.
    """
    gone = coarser.without(store.known) if coarser else set()
    recorded = [field.name for field in FIELDS if store.known[field.name] and field.name not in gone]
    if "node_list" in recorded:
        define_anonymous_lists(store)
    columns = ["job_id", *(name for name in recorded if name != "job_id")]
    copy.begin(columns)
    people = (
        _distinct_values(store, [field for field in PEOPLE_FIELDS if field not in kept]) if kept else set()
    )
    colliding = {field: naming(_distinct_values(store, [field]), people) for field in kept}
    plain = {name: anonymous_sql(name, kept, colliding.get(name, ())) for name in columns}
    if coarser:
        plain = {name: coarser.expression(name, sql, store.known) for name, sql in plain.items()}
        plain["job_id"] = f"(select number from ({coarser.numbers()}) as numbers where jobs.job_id = old)"
    expressions = ", ".join(f"{sql} as {name}" for name, sql in plain.items())
    condition = coarser.condition if coarser else "true"
    batches = store.connection.sql(f"select {expressions} from jobs where {condition}").to_arrow_reader(
        100_000
    )
    copy.connection.register("batches", batches)
    copy.connection.execute("insert into recorded by name select * from batches")
    copy.connection.unregister("batches")
    batches.close()
    return sorted(set().union(*colliding.values()))


def _distinct_values(store: Store, fields: Iterable[str]) -> set[str]:
    """Return all values of *fields*."""
    values = " union ".join(f"select {field} from jobs" for field in fields)
    return {name for (name,) in store.rows(values) if name}


def _copy_other_tables(store: Store, copy: Store, vocabulary: Vocabulary, coarser: Coarsening | None) -> None:
    """Copy account, repairs, dependencies and provenance; of other texts only the counts."""
    repairs = store.rows("select name, meaning, jobs from repairs order by all")
    copy.insert(
        "repairs", [(*_public_repair(name, meaning, vocabulary), jobs) for name, meaning, jobs in repairs]
    )
    copy.insert("dependencies", store.rows(_dependencies(coarser)))
    copy.insert("sources", anonymous_sources(store))
    rejects = store.rows("select line from rejects order by file, line")
    copy.insert("rejects", [("source", line, LEFT_OUT, "") for (line,) in rejects])
    copy.set_account(store.account)
    copy.note({"gwa": __version__, **public_format(store, vocabulary), **fields_known(store.provenance)})


def _dependencies(coarser: Coarsening | None) -> str:
    """Return the query of the dependencies of the jobs that stay, by the numbers that they have then."""
    if not coarser:
        return "select * from dependencies"
    return (
        f"with numbers as ({coarser.numbers()})"
        " select own.number, preceding.number, think_time from dependencies"
        " join numbers as own on own.old = dependencies.job_id"
        " join numbers as preceding on preceding.old = preceding_job order by all"
    )


def _public_repair(name: str, meaning: str, vocabulary: Vocabulary) -> tuple[str, str]:
    """Return the texts of a repair, without examples; those that are not gwa's own are left out."""
    public = (name, meaning.partition(", such as")[0])
    is_own = public in {*vocabulary.repairs, UNSEALED} or name == EARLIER
    return public if is_own else ("repair", LEFT_OUT)


def anonymous_sources(store: Store) -> list[tuple[str, int, str, int, int, int, int | None]]:
    """Return the rows of ``sources`` with numbers for the names of files, and without their hashes."""
    return store.rows(
        "select 'source ' || row_number() over (order by file, sha256), bytes, '',"
        " rows, comments, rejected, skipped from sources order by file, sha256"
    )


def public_format(store: Store, vocabulary: Vocabulary) -> dict[str, str]:
    """Return the entry of the provenance on the format, if that is one that others have, too."""
    name = store.provenance.get("format", "")
    return {"format": name} if name in vocabulary.formats else {}
