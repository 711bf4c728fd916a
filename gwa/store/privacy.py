"""
The check before publication: names of people, hosts and paths that are left in a trace.

Users, groups, sites and so on must be numbers or pseudonyms, such as ``12``, ``U12`` or ``U3f9c…``. Other
texts must not contain an e-mail address, a path or the name of a host.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from gwa.store.anonymize import PSEUDONYM_LETTERS
from gwa.store.schema import FIELDS
from gwa.store.store import Store

PSEUDONYM: Final = r"^([A-Za-z]{0,2}[0-9]{1,18}|[A-Z][0-9a-f]{16})$"
"""A substitute for a name: a number, up to two letters and a number, or a pseudonym of `anonymize`."""

LEAK_PATTERNS: Final = (
    ("a path", re.compile(r"(?<![\w/.<])(?:/[\w.+-]+){2,}|\b[A-Za-z]:\\\w")),
    ("an address", re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")),
    ("a host", re.compile(r"(?<![/\w.@-])(?:[a-z][\w-]*\.){2,}[a-z]{2,}\b(?!/)", re.IGNORECASE)),
    ("a host", re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")),
)
QUOTED: Final = re.compile(r"'([^']*)'")
MAXIMUM_EXAMPLES: Final = 3


@dataclass(frozen=True)
class Leak:
    """Names left in a trace: *where*, of which *kind*, the number of distinct ones, and a few *examples*."""

    where: str
    kind: str
    count: int
    examples: tuple[str, ...]

    def __str__(self) -> str:
        """Return a line for the maintainer of the archive; it is not for publication."""
        shown = ", ".join(repr(example[:60]) for example in self.examples)
        return f"{self.where} holds {self.kind}: {shown}" + (
            f" and {self.count - len(self.examples)} more" if self.count > len(self.examples) else ""
        )


def find_leaks(store: Store) -> list[Leak]:
    """Return everything that must not be published; the trace may be published if the list is empty."""
    return [*_names_left(store), *_leaks_in_texts(store)]


def _names_left(store: Store) -> Iterator[Leak]:
    """Yield the fields for names that contain anything but pseudonyms."""
    for name in PSEUDONYM_LETTERS:
        if store.known[name]:
            values = f"select distinct {name} as v from jobs where not regexp_matches({name}, $pseudonym)"
            ((count, examples),) = store.rows(
                f"select count(*), list(v order by v)[:{MAXIMUM_EXAMPLES}] from ({values})",
                {"pseudonym": PSEUDONYM},
            )
            if count:
                yield Leak(name, "names", count, tuple(examples))


def _leaks_in_texts(store: Store) -> Iterator[Leak]:
    """Yield the other texts that contain addresses, hosts or paths."""
    for field in FIELDS:
        if field.is_text and field.name not in PSEUDONYM_LETTERS and store.known[field.name]:
            query = f"select distinct {field.name} from jobs where {field.name} is not null"
            yield from _search(field.name, (text for (text,) in store.rows(query)))
    header = store.rows("select key || ': ' || value from header")
    yield from _search("the header", (text for (text,) in header))
    for table, column in (("provenance", "value"), ("sources", "file")):
        texts = store.rows(f"select distinct {column} from {table}")
        yield from _search(f"the {table}", (text for (text,) in texts))
    reasons = store.rows("select distinct reason from rejects")
    quotes = sorted({quote for (text,) in reasons for quote in QUOTED.findall(text) if _is_word(quote)})
    if quotes:
        yield Leak("the rejects", "words of the log", len(quotes), tuple(quotes[:MAXIMUM_EXAMPLES]))


def _is_word(text: str) -> bool:
    return bool(re.search(r"[^\W\d_]", text)) and not re.fullmatch(PSEUDONYM, text)


def _search(where: str, texts: Iterable[str]) -> Iterator[Leak]:
    """Yield the kinds of names that occur in *texts*."""
    names: dict[str, set[str]] = {}
    for text in texts:
        for kind, pattern in LEAK_PATTERNS:
            names.setdefault(kind, set()).update(match[0] for match in pattern.finditer(text))
    for kind, matches in names.items():
        if matches:
            yield Leak(where, kind, len(matches), tuple(sorted(matches)[:MAXIMUM_EXAMPLES]))
