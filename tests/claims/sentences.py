"""
What sentences of a report claim, checked against the trace: used by the matrix of views and traces.

A sentence is finished English that carries what it was made of (`gwa.words.message`), so its numbers can be
taken out of it and looked up among the facts.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from gwa.analysis.sections.dependence_over_time import roughly
from gwa.report.document import Report
from gwa.store.schema import EARLIEST_UNIX_TIME, LATEST
from gwa.store.store import Store
from gwa.words.formatting import FORMATS, brief, fraction, number, seconds, show
from gwa.words.message import Message, Number

FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "users": ("user_id",),
    "groups": ("group_id",),
    "a group": ("group_id",),
    "a user": ("user_id",),
    "wait times": ("wait_time",),
    "run times": ("run_time",),
    "numbers of processors": ("n_procs",),
    "submission times": ("submit_time",),
    "outcomes": ("status", "state"),
    "how jobs ended": ("status", "state"),
    "how long jobs waited": ("wait_time",),
}
"""The fields that are empty where these are said not to be recorded."""

ABSENT: Final = re.compile(
    r"([^.:;,]*?)\b(?:is|are) not recorded|does not record (?!the wait time of)([^.:;,]*)", re.IGNORECASE
)
"""What a sentence says is not recorded."""

OF_THE_SYSTEM: Final = {"the size of the system", "the number of processors"}
"""What the system, not a job, has."""


def sentences(report: Report) -> dict[str, str]:
    """Return the sentences that claim something, by what they are: answers and findings."""
    answers = {f"answer {one.id}": one.text for one in report.answers}
    return answers | {f"finding {one.id}": one.text for one in report.findings}


def falsely_absent(text: str, store: Store) -> list[str]:
    """Return what *text* says is not recorded although some job of *store* has it, or is unknown to us."""
    wrong = []
    for match in ABSENT.finditer(text):
        subject = (match[1] or match[2]).strip().lower()
        if any(subject.endswith(what) for what in OF_THE_SYSTEM):
            if store.system.cpus is not None and not store.system.cpus_inferred:
                wrong.append(subject)
            continue
        words = [word for word in FIELDS if re.search(rf"\b{word}\b", subject)]
        if not words or any(store.has(field) for word in words for field in FIELDS[word]):
            wrong.append(subject)
    return wrong


def numbers(text: object) -> Iterator[str]:
    """Yield the numbers in a text, each as it is written."""
    if isinstance(text, Number):
        yield str(text)
    elif isinstance(text, Message):
        for argument in text.arguments.values():
            yield from numbers(argument)


def leaves(value: Any) -> Iterator[Any]:
    """Yield the numbers and words in the value of a fact, and how long its lists are."""
    if isinstance(value, Mapping):
        for part in value.values():
            yield from leaves(part)
    elif isinstance(value, list | tuple):
        yield len(value)
        for part in value:
            yield from leaves(part)
    elif value is not None and not isinstance(value, bool):
        yield value


def derived(facts: Iterable[Any]) -> list[float]:
    """Return the differences of the numbers in *facts*, and their ratios, also to sums of them."""
    values = [float(fact) for fact in facts if isinstance(fact, int | float)]
    sums = [a + b for a in values for b in values]
    wholes = [value for value in (*values, *sums, sum(values)) if value]
    return [one / other for one in values for other in wholes] + [a - b for a in values for b in values]


def written(facts: Iterable[Any]) -> set[str]:
    """Return how reports write the numbers in *facts*, in each unit, and the words among them."""
    texts: set[str] = set()
    for value in (leaf for fact in facts for leaf in leaves(fact)):
        if isinstance(value, str):
            texts.update((value, *numbers(value)))
            continue
        forms = [*FORMATS, ""]
        shown = (*(show(value, unit) for unit in forms), *(brief(value, unit) for unit in forms))
        texts.update(part for text in shown for part in (text, *numbers(text)))
        texts.update(
            (number(value), fraction(value), seconds(value), roughly(value), f"{value:,.0f}", f"{value:,.1f}")
        )
        if EARLIEST_UNIX_TIME <= value <= LATEST:
            zones = (UTC, ZoneInfo("Europe/Amsterdam"))  # those of the samples
            texts.update(f"{datetime.fromtimestamp(value, zone):%Y-%m-%d %H:%M}" for zone in zones)
            # A time that ends at midnight ends with the day before.
            texts.update(
                f"{datetime.fromtimestamp(moment, zone):%Y-%m-%d}"
                for zone in zones
                for moment in (value, value - 1)
            )
        texts.update((number(round(value, 1)), number(round(value)), f"{value:02.0f}"))
    return texts
