"""The files of one trace: parts in the order of their numbers, no file twice, and what is missing."""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from gwa.ingest.source.compressed import Source
from gwa.ingest.source.head import FileHead

PART: Final = re.compile(r"(.*)part-(\d{1,9})-of-(\d{1,9})(.*)", re.DOTALL)
"""How the parts of a large table are called, as in ``part-00003-of-00500.csv``."""


def in_order(heads: Sequence[FileHead]) -> list[FileHead]:
    """Return *heads* with the parts of a table in the order of their numbers."""
    numbers = [PART.fullmatch(head.name) for head in heads]
    places = [place for place, number in enumerate(numbers) if number]
    wanted = sorted(places, key=lambda place: int((numbers[place] or "00")[2]))
    ordered = list(heads)
    for place, origin in zip(places, wanted, strict=True):
        ordered[place] = heads[origin]
    return ordered


def distinct(heads: Sequence[FileHead]) -> tuple[list[FileHead], list[tuple[FileHead, FileHead]]]:
    """Return *heads* without those of files that an earlier one equals, and these, each with its twin."""
    alike: dict[tuple[int, bytes], list[FileHead]] = defaultdict(list)
    kept: list[FileHead] = []
    again: list[tuple[FileHead, FileHead]] = []
    for head in heads:
        others = alike[head.path.stat().st_size, head.data]
        twin = next((one for one in others if _digest(one) == _digest(head)), None)
        if twin:
            again.append((head, twin))
        else:
            others.append(head)
            kept.append(head)
    return kept, again


def _digest(head: FileHead) -> str:
    source = Source(head.path)
    try:
        return source.sha256()
    finally:
        source.close()


def missing(heads: Sequence[FileHead]) -> dict[str, int]:
    """Return, for each table whose parts are not all here, what is missing in words, and how many."""
    tables: dict[tuple[str, str, str, int], set[int]] = defaultdict(set)
    for head in heads:
        if name := PART.fullmatch(head.name):
            tables[head.path.parent.name, name[1], name[4], int(name[3])].add(int(name[2]))
    found = {}
    for (folder, before, after, count), here in sorted(tables.items()):
        first = 1 if count in here and 0 not in here else 0
        wanted = range(first, first + count)
        gap = next((number for number in wanted if number not in here), None)
        if gap is not None:
            part = f"{folder}/{before}part-{gap:05}-of-{count:05}{after}"
            found[f"parts of a table were not given, such as {part}"] = count - len(here.intersection(wanted))
    return found
