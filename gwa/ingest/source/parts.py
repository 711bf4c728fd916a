"""The files of one trace: parts of a table in order, duplicate files dropped, missing parts reported."""

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gwa.ingest.source.compressed import Source, plain_name
from gwa.ingest.source.head import FileHead
from gwa.util.filenames import as_text

PART_NAME: Final = re.compile(r"(.*)part-(\d{1,9})-of-(\d{1,9})(.*)", re.DOTALL)
"""The names of the parts of a large table, such as ``part-00003-of-00500.csv``."""


def sort_parts(heads: Sequence[FileHead]) -> list[FileHead]:
    """Put the parts of a table in the order of their numbers; other files keep their places."""
    names = enumerate(PART_NAME.fullmatch(head.name) for head in heads)
    numbers = {position: int(match[2]) for position, match in names if match}
    ordered = list(heads)
    for position, origin in zip(numbers, sorted(numbers, key=numbers.__getitem__), strict=True):
        ordered[position] = heads[origin]
    return ordered


def drop_duplicates(heads: Sequence[FileHead]) -> tuple[list[FileHead], list[tuple[FileHead, FileHead]]]:
    """Return the heads of distinct files, and pairs of each duplicate and the file that it equals."""
    candidates: dict[tuple[int, bytes], list[FileHead]] = defaultdict(list)
    distinct: list[FileHead] = []
    duplicates: list[tuple[FileHead, FileHead]] = []
    for head in heads:
        similar = candidates[head.path.stat().st_size, head.data]
        original = next((earlier for earlier in similar if _file_hash(earlier) == _file_hash(head)), None)
        if original:
            duplicates.append((head, original))
        else:
            similar.append(head)
            distinct.append(head)
    return distinct, duplicates


def _file_hash(head: FileHead) -> str:
    source = Source(head.path)
    try:
        return source.sha256()
    finally:
        source.close()


def missing_parts(heads: Sequence[FileHead], unread: Sequence[Path] = ()) -> list[tuple[str, str, int]]:
    """
    Return what is missing from each incomplete table: a name, a description, and the number of parts.

    Parts that were given and are *unread* are not missing: they are named as such. A gap is between parts
    that were given; the other parts are before or behind all of them.
    """
    tables: dict[tuple[str, str, str, int], set[int]] = defaultdict(set)
    names = [(head.path, head.name) for head in heads] + [(path, plain_name(path)) for path in unread]
    for path, name in names:
        if match := PART_NAME.fullmatch(name):
            tables[path.parent.name, match[1], match[4], int(match[3])].add(int(match[2]))
    missing = []
    for (folder, before, after, count), given in sorted(tables.items()):
        first = 1 if count in given and 0 not in given else 0
        absent = set(range(first, first + count)) - given
        gap = {number for number in absent if min(given) < number < max(given)}
        for name, where, numbers in (
            ("gap in parts", "parts between those that were given are missing", gap),
            ("missing part", "parts of a table were not given", absent - gap),
        ):
            if numbers:
                part = f"{folder}/{before}part-{min(numbers):05}-of-{count:05}{after}"
                missing.append((name, f"{where}, such as {as_text(part)}", len(numbers)))
    return missing
