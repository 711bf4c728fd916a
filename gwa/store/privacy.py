"""
What may be published of a trace: a list of what may stay, by which names are replaced and traces are judged.

Names must be pseudonyms of `gwa anonymize`. A text must be one that gwa itself writes, a number or a time
zone, or one of the names that the catalogue of an archive allows. Anything else is a leak.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields
from itertools import accumulate
from typing import Final
from zoneinfo import available_timezones

from gwa.store.account import Account
from gwa.store.pseudonyms import EXAMPLE, KEEPABLE, PSEUDONYM, is_anonymous_sql
from gwa.store.repairs import UNSEALED, remark_on
from gwa.store.schema import EXTENSION_NAMES, FIELDS
from gwa.store.store import Store
from gwa.store.system import (
    ABSOLUTE,
    ASSUMED_UTC,
    GENERATED_JOBS,
    GIVEN_NUMBERS,
    NUMBERS_KEY,
    SIZES_KEY,
    SYNTHETIC,
)
from gwa.store.versions import FIELDS_KEY, FIRST_FIELDS, fields_lacking
from gwa.util.version import __version__

LEFT_OUT: Final = "left out with the names"
"""The text that stands where a text was that might name somebody."""

ANONYMIZED_KEY: Final = "Anonymized"
COARSENED_KEY: Final = "Coarsened"
METHOD: Final = f"names are keyed pseudonyms (HMAC-SHA256 cut to 64 bits) such as {EXAMPLE}"

SYSTEM_NUMBERS: Final = ("Processors", "MaxProcs", "MaxNodes", "UnixStartTime", "TimeZone")
"""Keys of header lines that begin with a number, which stays."""

OTHER_NUMBERS: Final = (
    "MaxJobs",
    "MaxRecords",
    "MaxRuntime",
    "MaxQueues",
    "MaxPartitions",
    "Machines",
    GENERATED_JOBS,
    "Seed",
)
"""Keys of header lines that stay where they are a number and nothing else."""

_CANONICAL: Final = {key.lower(): key for key in (*SYSTEM_NUMBERS, *OTHER_NUMBERS, "TimeZoneString")}
_LEADING_NUMBER: Final = re.compile(r"\s*(-?\d[\d,]{0,14}(?:\.\d{1,6})?)(?![\d,])")
_NUMBER: Final = re.compile(r"\s*(-?\d{1,15}(?:\.\d{1,6})?)\s*")
_VERSION: Final = r"\d[\w.+]{0,30}"
_KEPT: Final = rf"(; kept: ({'|'.join(KEEPABLE)})(, ({'|'.join(KEEPABLE)}))*)?"

NUMBERING_KEYS: Final = ("Queue", "Partition")
"""Keys of the header lines of SWF that give a number to a name."""

OWN_LINES: Final = {
    ANONYMIZED_KEY: rf"by gwa {_VERSION}: {re.escape(METHOD)}{_KEPT}",
    COARSENED_KEY: r"k \d+ by [a-z ,]+; \d+ jobs left out, \d+ users with them",
    SIZES_KEY: r"\[(\[(\"[0-9T:+.-]{10,32}\"|-?[0-9.e+]{1,20}), [0-9]{1,10}\](, )?)+\]",
    "Times": f"{re.escape(ABSOLUTE)}|{re.escape(ASSUMED_UTC)}",
    NUMBERS_KEY: re.escape(GIVEN_NUMBERS),
    "Synthetic": re.escape(SYNTHETIC),
    "Generator": rf"gwa {_VERSION}",
    "Version": r"\d(\.\d{1,2})?",
    "Note": rf"made by gwa {_VERSION}( from source \d+( and \d+ more)?)?(, without [a-z_, ]+)?",
    **dict.fromkeys(NUMBERING_KEYS, rf"\d+ {PSEUDONYM}"),
}
"""The header lines that gwa itself writes, by key, as regular expressions of their values."""

SOURCE: Final = re.compile(r"source( \d+)?")

MAXIMUM_EXAMPLES: Final = 3

MAXIMUM_SHOWN: Final = 60
"""The letters of an example that are shown."""

MAXIMUM_LINE: Final = 160
"""The letters of all examples of a leak; one is always shown."""

SWF: Final = "swf"

SWF_NUMBERS: Final = {
    "user_id": "U",
    "group_id": "G",
    "executable_id": "X",
    "queue_id": "Q",
    "partition_id": "P",
}
"""The letter that gwa puts before the numbers which a log in the Standard Workload Format has for names."""


@dataclass(frozen=True)
class Vocabulary:
    """The texts that this installation of gwa writes into traces: names of *formats*, and *repairs*."""

    formats: frozenset[str] = frozenset()
    repairs: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class Leak:
    """Names left in a trace: *where*, of which *kind*, the number of distinct ones, and a few *examples*."""

    where: str
    kind: str
    count: int
    examples: tuple[str, ...]

    def __str__(self) -> str:
        """Return a line for the maintainer of the archive; it is not for publication."""
        said = [repr(example[:MAXIMUM_SHOWN]) for example in self.examples]
        ends = accumulate(len(text) + len(", ") for text in said)
        shown = [text for text, end in zip(said, ends, strict=True) if end <= MAXIMUM_LINE] or said[:1]
        more = f" and {self.count - len(shown):,} more" if self.count > len(shown) else ""
        return f"{self.where} holds {self.kind}: {', '.join(shown)}{more}"


def anonymized_line(keep: Collection[str]) -> tuple[str, str]:
    """Return the header line that says how a trace was anonymized, and which names it kept."""
    kept = f"; kept: {', '.join(name for name in KEEPABLE if name in keep)}" if keep else ""
    return ANONYMIZED_KEY, f"by gwa {__version__}: {METHOD}{kept}"


def public_line(key: str, value: str) -> tuple[str, str] | None:
    """
    Return what stays of a header line: a number, a time zone, or what gwa itself writes; None if nothing.

    >>> public_line("MaxProcs", "1,664 (ask jane@example.org)"), public_line("Note", "by Jane")
    (('MaxProcs', '1664'), None)
    """
    title = _CANONICAL.get(key.lower(), key)
    if key in OWN_LINES and re.fullmatch(OWN_LINES[key], value):
        return key, value
    if title == "TimeZoneString" and value.strip() in available_timezones():
        return title, value.strip()
    number = None
    if title in SYSTEM_NUMBERS:
        number = _LEADING_NUMBER.match(value)
    elif title in OTHER_NUMBERS:
        number = _NUMBER.fullmatch(value)
    return (title, number[1].replace(",", "")) if number else None


def find_leaks(
    store: Store,
    vocabulary: Vocabulary | None = None,
    names: Collection[str] = (),
    kept: Collection[str] = (),
    examples: int = MAXIMUM_EXAMPLES,
) -> list[Leak]:
    """
    Return everything that must not be published; the trace may be published if the list is empty.

    The *vocabulary* is that of the installation. *names* may stand anywhere, and fields that are *kept* may
    hold anything: the owner of the trace said so. At most *examples* of each leak are named.
    """
    found = [
        *_names_left(store, names, kept),
        *((where, "texts", texts) for where, texts in _texts(store, vocabulary or Vocabulary())),
    ]
    leaks = ((where, kind, sorted(set(texts) - set(names))) for where, kind, texts in found)
    return [Leak(where, kind, len(texts), tuple(texts[:examples])) for where, kind, texts in leaks if texts]


def _names_left(
    store: Store, names: Collection[str], kept: Collection[str]
) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the fields of text that hold anything but pseudonyms and numbers of SWF, and what that is."""
    letters = SWF_NUMBERS if store.provenance.get("format") == SWF else {}
    for field in FIELDS:
        if field.is_text and field.name not in kept and store.known[field.name]:
            values = store.rows(
                f"select distinct {field.name} from jobs where not {is_anonymous_sql(field.name)}"
                f" and not list_contains($names, {field.name})"
                f" and not regexp_full_match({field.name}, $number)",
                {
                    "names": list(names),
                    "number": rf"{letters[field.name]}\d+" if field.name in letters else "",
                },
            )
            yield field.name, "names", [value for (value,) in values]


def _texts(store: Store, vocabulary: Vocabulary) -> Iterator[tuple[str, list[str]]]:
    """Yield the tables beside the jobs, and the texts in each that gwa did not write."""
    lacking = remark_on(fields_lacking(store.provenance))
    yield "the header", [_named(*line) for line in store.header if public_line(*line) is None]
    yield (
        "the repairs",
        [
            f"{name}: {meaning}"
            for name, meaning, _ in store.rows("from repairs")
            if (name, meaning) not in {*vocabulary.repairs, ("repair", LEFT_OUT), UNSEALED, lacking}
        ],
    )
    yield (
        "the provenance",
        [
            f"{key}: {value}"
            for key, value in store.provenance.items()
            if not key.startswith("constant.") and not _is_own_provenance(key, value, vocabulary)
        ],
    )
    files = [file for table in ("sources", "rejects") for (file,) in store.rows(f"select file from {table}")]
    yield "the sources", [file for file in files if not SOURCE.fullmatch(file)]
    rejects = store.rows("select reason, text from rejects")
    yield "the rejects", [text or reason for reason, text in rejects if text or reason != LEFT_OUT]
    ids = store.rows(
        "select distinct source_id from source_ids where not regexp_full_match(source_id, '[0-9]+')"
    )
    yield "the jobs' numbers", [source_id for (source_id,) in ids]


def _named(key: str, value: str) -> str:
    """Return a header line, or the name alone of a queue or partition that SWF numbers."""
    return value.partition(" ")[2] if key in NUMBERING_KEYS else f"{key}: {value}"


def _is_own_provenance(key: str, value: str, vocabulary: Vocabulary) -> bool:
    """Whether an entry of the provenance is a count, a version, or the name of a format or of fields."""
    if key == "format":
        return value in vocabulary.formats
    if key == FIELDS_KEY:
        return {*value.split()} <= {*EXTENSION_NAMES, *FIRST_FIELDS.split()}
    return re.fullmatch(r"\d{1,18}" if key.startswith("account.") else _VERSION, value) is not None and (
        key == "gwa" or key.removeprefix("account.") in {field.name for field in fields(Account)}
    )
