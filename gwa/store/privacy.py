"""
The gate before publication: names of people, hosts and paths that are left in a trace.

Who and where must be numbers or pseudonyms, such as ``12``, ``U12`` or ``U3f9c…``. Other texts may not
hold an address, a path or the name of a host.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from gwa.store.anonymize import KINDS
from gwa.store.schema import FIELDS
from gwa.store.store import Store

PSEUDONYM: Final = r"^([A-Za-z]{0,2}[0-9]{1,18}|[A-Z][0-9a-f]{16})$"
"""What stands for a name: a number, up to two letters and a number, or what `gwa.store.anonymize` writes."""

TELLING: Final = (
    ("a path", re.compile(r"(?<![\w/.<])(?:/[\w.+-]+){2,}|\b[A-Za-z]:\\\w")),
    ("an address", re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")),
    ("a host", re.compile(r"(?<![/\w.@-])(?:[a-z][\w-]*\.){2,}[a-z]{2,}\b(?!/)", re.IGNORECASE)),
    ("a host", re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")),
)
QUOTED: Final = re.compile(r"'([^']*)'")
EXAMPLES: Final = 3


@dataclass(frozen=True)
class Leak:
    """What is left *where*: of which *kind*, how many different ones, and a few *examples*."""

    where: str
    kind: str
    count: int
    examples: tuple[str, ...]

    def __str__(self) -> str:
        """Return a line for the keeper of the archive; it is not for publication."""
        shown = ", ".join(repr(one[:60]) for one in self.examples)
        return f"{self.where} holds {self.kind}: {shown}" + (
            f" and {self.count - len(self.examples)} more" if self.count > len(self.examples) else ""
        )


def leaks(store: Store) -> list[Leak]:
    """Return all that should not be published; an empty list lets the trace through."""
    return [*_named(store), *_told(store)]


def _named(store: Store) -> Iterator[Leak]:
    """Yield the fields of who and where that hold more than pseudonyms."""
    for name in KINDS:
        if store.known[name]:
            values = f"select distinct {name} as v from jobs where not regexp_matches({name}, $pseudonym)"
            found = store.rows(
                f"select count(*), list(v order by v)[:{EXAMPLES}] from ({values})",
                {"pseudonym": PSEUDONYM},
            )
            ((count, examples),) = found
            if count:
                yield Leak(name, "names", count, tuple(examples))


def _told(store: Store) -> Iterator[Leak]:
    """Yield the other texts that tell of people, hosts or paths."""
    for field in FIELDS:
        if field.is_text and field.name not in KINDS and store.known[field.name]:
            query = f"select distinct {field.name} from jobs where {field.name} is not null"
            yield from _telling(field.name, (text for (text,) in store.rows(query)))
    header = store.rows("select key || ': ' || value from header")
    yield from _telling("the header", (text for (text,) in header))
    for table, column in (("provenance", "value"), ("sources", "file")):
        texts = store.rows(f"select distinct {column} from {table}")
        yield from _telling(f"the {table}", (text for (text,) in texts))
    reasons = store.rows("select distinct reason from rejects")
    quotes = sorted({quote for (text,) in reasons for quote in QUOTED.findall(text) if _is_word(quote)})
    if quotes:
        yield Leak("the rejects", "words of the log", len(quotes), tuple(quotes[:EXAMPLES]))


def _is_word(text: str) -> bool:
    return bool(re.search(r"[^\W\d_]", text)) and not re.fullmatch(PSEUDONYM, text)


def _telling(where: str, texts: Iterable[str]) -> Iterator[Leak]:
    found: dict[str, set[str]] = {}
    for text in texts:
        for kind, pattern in TELLING:
            found.setdefault(kind, set()).update(match[0] for match in pattern.finditer(text))
    for kind, ones in found.items():
        if ones:
            yield Leak(where, kind, len(ones), tuple(sorted(ones)[:EXAMPLES]))
