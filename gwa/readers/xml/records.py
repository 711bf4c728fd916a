"""Parse blocks of records, with a parser that knows no document types, no entities and no network."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Final, Self

from lxml import etree

from gwa.readers.lines import LONGEST_LINE, Reject, utf8
from gwa.readers.xml.paths import LAST, Items, Node, local, tree
from gwa.readers.xml.split import Block, Tags, shown

SEPARATOR: Final = "\x1f"
"""What parts the cells of a row: a character that no XML text may hold."""

PREFIXES: Final = re.compile(rb"[<\s/]([A-Za-z_][\w.-]*+):[A-Za-z_]")
RESERVED: Final = frozenset({b"xml", b"xmlns"})
MANY: Final = 1000
"""So many prefixes, and tags and attributes of one element, are kept in mind."""

CONTROLS: Final = bytes.maketrans(bytes(set(range(32)) - set(b"\t\n\r")), b" " * 29)


@dataclass
class Found:
    """
    What a block holds: rows, elements that are no records (*remarks*), and rejects.

    *rows* is text for the engine: cells parted by SEPARATOR, the last one the number of the line.
    """

    total: int = 0
    remarks: int = 0
    rejects: list[Reject] = field(default_factory=list)
    rows: bytes = b""

    def write(self, file: IO[bytes]) -> None:
        """Write this to a *file*, for `read`."""
        rejects = [(reject.line, reject.reason, reject.text) for reject in self.rejects]
        head = json.dumps([self.total, self.remarks, rejects, len(self.rows)])
        file.write(head.encode() + b"\n" + self.rows)
        file.flush()

    @classmethod
    def read(cls, file: IO[bytes]) -> Self:
        """Return what was written to a *file*; raise `ValueError` when it breaks off."""
        total, remarks, rejects, size = json.loads(file.readline())
        rows = file.read(size)
        if len(rows) < size:
            message = "broken off"
            raise ValueError(message)
        return cls(total, remarks, [Reject(*reject) for reject in rejects], rows)


class Parser:
    """
    What finds the values of *columns* in records.

    *options* are ``records`` and ``containers``, names of elements, and ``paths`` to the columns.
    """

    def __init__(self, columns: Sequence[str], options: Mapping[str, Any]) -> None:
        self.tags = Tags(options["records"], options.get("containers", ()))
        self._names = frozenset(name.lower() for name in options["records"])
        self._root = tree(options["paths"], columns)
        self._blank = [""] * len(columns)
        self._ranks = [LAST] * len(columns)
        self._known: dict[int, dict[str, Node | None]] = {}
        self._given: dict[tuple[int, tuple[tuple[str, str], ...]], list[tuple[int, int, bool, str]]] = {}
        self._prefixes: set[bytes] = set()
        self._opening = b"<gwa>"
        # Only records are parsed, so there is no document type that could declare an entity.
        self._parser = etree.XMLParser(
            resolve_entities=True,
            no_network=True,
            load_dtd=False,
            remove_comments=True,
            remove_pis=True,
            remove_blank_text=True,
            collect_ids=False,
        )
        self._fault = ""

    def found(self, block: Block) -> Found:
        """Return what *block* holds."""
        block = Block(block.line, utf8(block.data))
        found = Found()
        whole = self._parsed(block.data)
        if whole is None:
            self._pick(block, found)
        else:
            self._all(whole, block.line - 1, found)
        return found

    def _parsed(self, data: bytes) -> etree._Element | None:
        """Return an element around *data*, None where that is not well-formed."""
        root = self._attempt(data)
        if root is None and self._learns(data):
            root = self._attempt(data)
        return root

    def _attempt(self, data: bytes) -> etree._Element | None:
        try:
            return etree.fromstring(b"".join((self._opening, data, b"</gwa>")), self._parser)
        except etree.XMLSyntaxError as error:
            self._fault = str(error.msg).partition(", line")[0]
            return None

    def _learns(self, data: bytes) -> bool:
        """
        Declare the prefixes in *data* that are not known yet; whether there are any.

        They are often declared around the records, and sometimes nowhere.
        """
        new = set(PREFIXES.findall(data)) - self._prefixes - RESERVED
        if not new or len(self._prefixes) + len(new) > MANY:
            return False
        self._prefixes |= new
        names = b" ".join(b'xmlns:%b="%b"' % (name, name) for name in sorted(self._prefixes))
        self._opening = b"<gwa " + names + b">"
        return True

    def _all(self, parent: etree._Element, before: int, found: Found) -> None:
        """Add all records in *parent*, which are between other elements or in containers."""
        for child in parent:
            if local(child.tag) in self._names:
                self._add(child, before + (child.sourceline or 1), found)
            elif any(local(one.tag) in self._names for one in child.iterdescendants()):
                self._all(child, before, found)
            elif local(child.tag) in self._containers:
                ...
