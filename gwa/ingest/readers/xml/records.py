"""Parse blocks of records, with a parser that gets to see neither document types nor a network."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from lxml import etree

from gwa.ingest.bulk_insert import TOO_LONG
from gwa.ingest.bulk_insert import row as as_row
from gwa.ingest.readers.xml.paths import LAST, Node, local, tree
from gwa.ingest.readers.xml.split import Block, Tags, shown
from gwa.ingest.source.lines import Reject, utf8

PREFIXES: Final = re.compile(rb"[<\s/]([A-Za-z_][\w.-]*+):[A-Za-z_]")
RESERVED: Final = frozenset({b"xml", b"xmlns"})
MANY: Final = 1000
"""So many prefixes, tags and combinations of attributes are kept in mind."""

_PLACE: Final = re.compile(r" line \d+(?= and )|, line \d+.*", re.DOTALL)
"""Where in the text that was parsed a parser found a fault, which is not where in the source."""

CONTROLS: Final = bytes.maketrans(bytes(set(range(32)) - set(b"\t\n\r")), b" " * 29)


@dataclass
class Found:
    """
    What a block holds: *rows*, elements that are no records (*remarks*), and *rejects*.

    A row is a line of text, see `gwa.ingest.bulk_insert`.
    """

    total: int = 0
    remarks: int = 0
    rejects: list[Reject] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)

    @property
    def data(self) -> bytes:
        """The rows as text."""
        return "".join(self.rows).encode()

    def reject(self, line: int, reason: str, text: bytes) -> None:
        """Count a record that cannot be read."""
        self.total += 1
        self.rejects.append(Reject(line, reason, shown(text)))


class Parser:
    """
    What finds the values of *columns* in records.

    *options* are ``records`` and ``containers``, names of elements, and ``paths`` to the columns.
    """

    def __init__(self, columns: Sequence[str], options: Mapping[str, Any]) -> None:
        self.columns = list(columns)
        self.options = {key: options.get(key, []) for key in ("records", "containers", "paths")}
        self.tags = Tags(self.options["records"], self.options["containers"])
        self._names = frozenset(name.lower() for name in self.options["records"])
        self._containers = frozenset(name.lower() for name in self.options["containers"])
        self._root = tree(self.options["paths"], self.columns)
        self._blank = [""] * len(columns)
        self._ranks = [LAST] * len(columns)
        self._prefixes: set[bytes] = set()
        self._opening = b"<gwa>"
        # Only records are parsed: no document type that declares an entity comes this far.
        self._parser = etree.XMLParser(
            resolve_entities="internal",  # type: ignore[arg-type]  # the stubs know of booleans only
            no_network=True,
            load_dtd=False,
            remove_comments=True,
            remove_pis=True,
            remove_blank_text=True,
            collect_ids=False,
        )
        self._fault = ""

    def __reduce__(self) -> tuple[type["Parser"], tuple[object, ...]]:
        """Pickle what decides what it finds; lxml's parser cannot be pickled."""
        return Parser, (self.columns, self.options)

    def found(self, block: Block | Reject) -> Found:
        """Return what *block* holds."""
        if isinstance(block, Reject):
            return Found(total=1, rejects=[block])
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
            self._fault = _PLACE.sub("", str(error.msg))
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
        declared = (b'xmlns:%b="%b"' % (name, name) for name in sorted(self._prefixes))
        self._opening = b"<gwa " + b" ".join(declared) + b">"
        return True

    def _all(self, parent: etree._Element, before: int, found: Found) -> None:
        """Add the records in *parent*, also those in containers, and count other elements."""
        for child in parent:
            name = local(child.tag)
            if name in self._names:
                self._add(child, before + cast("int", child.sourceline), found)
            elif name in self._containers or any(local(one.tag) in self._names for one in child.iter()):
                self._all(child, before, found)
            else:
                found.total += 1
                found.remarks += 1

    def _pick(self, block: Block, found: Found) -> None:
        """Add the records of a block that is not well-formed as a whole: together, or else one by one."""
        pieces = self.tags.pieces(block)
        found.total += pieces.others
        found.remarks += pieces.others
        for line, reason, data in pieces.broken:
            found.reject(line, reason, data)
        together = self._parsed(b"".join(data for _, data in pieces.records))
        if together is not None and len(together) == len(pieces.records):
            for (line, _), record in zip(pieces.records, together, strict=True):
                self._add(record, line, found)
            return
        for line, data in pieces.records:
            alone = self._parsed(data)
            if alone is None:
                alone = self._attempt(data.translate(CONTROLS))
            if alone is not None and len(alone) == 1:
                self._add(alone[0], line, found)
            else:
                found.reject(line, self._fault, data)

    def _add(self, record: etree._Element, line: int, found: Found) -> None:
        """Add a record as a row."""
        row, ranks = self._blank.copy(), self._ranks.copy()
        self._take(record, self._root, row, ranks)
        text = as_row(row, line)
        if text is None:
            found.reject(line, TOO_LONG, " ".join(row).encode())
            return
        found.total += 1
        found.rows.append(text)

    def _take(self, parent: etree._Element, node: Node, row: list[str], ranks: list[int]) -> None:
        """Take what the children of *parent* give: of several values the preferred one, then the first."""
        known = node.known
        for child in parent:
            tag = child.tag
            try:
                wanted = known[tag]
            except KeyError:
                wanted = self._knows(node, tag)
            if wanted is None:
                continue
            column = wanted.column
            if column >= 0:
                if wanted.rank < ranks[column]:
                    text = child.text
                    if text and (text := text.strip()):
                        row[column] = text
                        ranks[column] = wanted.rank
                continue
            if wanted.takes:
                self._choose(child, wanted, row, ranks)
            if wanted.children:
                self._take(child, wanted, row, ranks)

    def _knows(self, node: Node, tag: str) -> Node | None:
        """Return the child of *node* that a *tag* means, and keep it in mind."""
        wanted = node.children.get(local(tag))
        if len(node.known) < MANY:
            node.known[tag] = wanted
        return wanted

    def _choose(self, element: etree._Element, node: Node, row: list[str], ranks: list[int]) -> None:
        """Take what an element gives by its attributes; most have the same ones as others before."""
        attributes = cast("list[tuple[str, str]]", element.items())
        key = tuple(attributes if node.is_conditional else [name for name, _ in attributes])
        given = node.remembered.get(key)
        if given is None:
            given = node.given(dict(attributes))
            if len(node.remembered) < MANY:
                node.remembered[key] = given
        for column, rank, has_text, place in given:
            if rank < ranks[column]:
                text = (element.text or "").strip() if has_text else ""
                value = attributes[place][1].strip() if place >= 0 else ""
                if text or (value and not has_text):
                    row[column] = f"{text} {value}" if text and value else text or value
                    ranks[column] = rank
