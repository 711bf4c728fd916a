"""Parse blocks of records, with a parser that never sees document types or a network."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from lxml import etree

from gwa.ingest.bulk_insert import TOO_LONG, encode_row
from gwa.ingest.readers.xml.paths import RANK_OF_NONE, Node, build_tree, local_name
from gwa.ingest.readers.xml.split import Block, Tags, reject_text
from gwa.ingest.source.lines import Reject, to_utf8

PREFIXES: Final = re.compile(rb"[<\s/]([A-Za-z_][\w.-]*+):[A-Za-z_]")
RESERVED: Final = frozenset({b"xml", b"xmlns"})
CACHE_SIZE: Final = 1000
"""The maximum number of prefixes, tags and combinations of attributes that are remembered."""

_FAULT_POSITION: Final = re.compile(r" line \d+(?= and )|, line \d+.*", re.DOTALL)
"""The position in a message of the parser, which differs from the position in the source."""

CONTROLS_TO_BLANK: Final = bytes.maketrans(bytes(set(range(32)) - set(b"\t\n\r")), b" " * 29)


@dataclass
class ParsedBlock:
    """
    The contents of a block: *rows*, elements that are not records (*comments*), and *rejects*.

    A row is a line of text, see `gwa.ingest.bulk_insert`.
    """

    total: int = 0
    comments: int = 0
    rejects: list[Reject] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)

    @property
    def data(self) -> bytes:
        """The rows as text."""
        return "".join(self.rows).encode()

    def reject(self, line: int, reason: str, text: bytes) -> None:
        """Count a record that cannot be read."""
        self.total += 1
        self.rejects.append(Reject(line, reason, reject_text(text)))


class Parser:
    """
    Extracts the values of *columns* from records.

    *options* are those of the reader: ``records``, ``containers`` and ``paths``.
    """

    def __init__(self, columns: Sequence[str], options: Mapping[str, Any]) -> None:
        self.columns = list(columns)
        self.options = {key: options.get(key, []) for key in ("records", "containers", "paths")}
        self.tags = Tags(self.options["records"], self.options["containers"])
        self._names = frozenset(name.lower() for name in self.options["records"])
        self._containers = frozenset(name.lower() for name in self.options["containers"])
        self._root = build_tree(self.options["paths"], self.columns)
        self._blank = [""] * len(columns)
        self._ranks = [RANK_OF_NONE] * len(columns)
        self._prefixes: set[bytes] = set()
        self._opening = b"<gwa>"
        # Only records are parsed, never a document type that declares an entity.
        self._parser = etree.XMLParser(
            resolve_entities="internal",  # type: ignore[arg-type]  # the stubs know of booleans only
            no_network=True,
            load_dtd=False,
            remove_comments=True,
            remove_pis=True,
            remove_blank_text=True,
            collect_ids=False,
        )
        self._reason = ""

    def __reduce__(self) -> tuple[type["Parser"], tuple[object, ...]]:
        """Pickle what determines the result; lxml's parser cannot be pickled."""
        return Parser, (self.columns, self.options)

    def parse(self, block: Block | Reject) -> ParsedBlock:
        """Parse the records of *block*."""
        if isinstance(block, Reject):
            return ParsedBlock(total=1, rejects=[block])
        block = Block(block.line, to_utf8(block.data))
        parsed = ParsedBlock()
        root = self._parse_with_prefixes(block.data)
        if root is None:
            self._add_separately(block, parsed)
        else:
            self._add_all(root, block.line - 1, parsed)
        return parsed

    def _parse_with_prefixes(self, data: bytes) -> etree._Element | None:
        """Return an element around *data*, None if that is not well-formed."""
        root = self._parse_element(data)
        if root is None and self._declare_prefixes(data):
            root = self._parse_element(data)
        return root

    def _parse_element(self, data: bytes) -> etree._Element | None:
        try:
            return etree.fromstring(b"".join((self._opening, data, b"</gwa>")), self._parser)
        except etree.XMLSyntaxError as error:
            self._reason = _FAULT_POSITION.sub("", str(error.msg))
            return None

    def _declare_prefixes(self, data: bytes) -> bool:
        """
        Declare the prefixes in *data* that are not declared yet; return whether there are any.

        Documents declare them outside the records, or nowhere.
        """
        new = set(PREFIXES.findall(data)) - self._prefixes - RESERVED
        if not new or len(self._prefixes) + len(new) > CACHE_SIZE:
            return False
        self._prefixes |= new
        declared = (b'xmlns:%b="%b"' % (name, name) for name in sorted(self._prefixes))
        self._opening = b"<gwa " + b" ".join(declared) + b">"
        return True

    def _add_all(self, parent: etree._Element, lines_before: int, parsed: ParsedBlock) -> None:
        """Add the records in *parent*, including those in containers, and count other elements."""
        for child in parent:
            name = local_name(child.tag)
            if name in self._names:
                self._add(child, lines_before + cast("int", child.sourceline), parsed)
            elif name in self._containers or any(
                local_name(element.tag) in self._names for element in child.iter()
            ):
                self._add_all(child, lines_before, parsed)
            else:
                parsed.total += 1
                parsed.comments += 1

    def _add_separately(self, block: Block, parsed: ParsedBlock) -> None:
        """Add the records of a block that is not well-formed, without the text between them or one by one."""
        pieces = self.tags.pieces(block)
        parsed.total += pieces.other_elements
        parsed.comments += pieces.other_elements
        for line, reason, data in pieces.broken:
            parsed.reject(line, reason, data)
        joined = self._parse_with_prefixes(b"".join(data for _, data in pieces.records))
        if joined is not None and len(joined) == len(pieces.records):
            for (line, _), record in zip(pieces.records, joined, strict=True):
                self._add(record, line, parsed)
            return
        for line, data in pieces.records:
            single = self._parse_with_prefixes(data)
            if single is None:
                single = self._parse_element(data.translate(CONTROLS_TO_BLANK))
            if single is not None and len(single) == 1:
                self._add(single[0], line, parsed)
            else:
                parsed.reject(line, self._reason, data)

    def _add(self, record: etree._Element, line: int, parsed: ParsedBlock) -> None:
        """Add a record as a row."""
        row, ranks = self._blank.copy(), self._ranks.copy()
        self._take_children(record, self._root, row, ranks)
        encoded = encode_row(row, line)
        if encoded is None:
            parsed.reject(line, TOO_LONG, " ".join(row).encode())
            return
        parsed.total += 1
        parsed.rows.append(encoded)

    def _take_children(self, parent: etree._Element, node: Node, row: list[str], ranks: list[int]) -> None:
        """Take the values of the children of *parent*: the preferred one of several, else the first."""
        child_of_tag = node.child_of_tag
        for child in parent:
            tag = child.tag
            try:
                child_node = child_of_tag[tag]
            except KeyError:
                child_node = self._child_of_tag(node, tag)
            if child_node is None:
                continue
            column = child_node.column
            if column >= 0:
                if child_node.rank < ranks[column]:
                    text = child.text
                    if text and (text := text.strip()):
                        row[column] = text
                        ranks[column] = child_node.rank
                continue
            if child_node.extractions:
                self._take_values(child, child_node, row, ranks)
            if child_node.children:
                self._take_children(child, child_node, row, ranks)

    def _child_of_tag(self, node: Node, tag: str) -> Node | None:
        """Return the child of *node* with a *tag*, and remember it."""
        child = node.children.get(local_name(tag))
        if len(node.child_of_tag) < CACHE_SIZE:
            node.child_of_tag[tag] = child
        return child

    def _take_values(self, element: etree._Element, node: Node, row: list[str], ranks: list[int]) -> None:
        """Take the values of an element by its attributes, which most elements share with earlier ones."""
        attributes = cast("list[tuple[str, str]]", element.items())
        key = tuple(attributes if node.is_conditional else [name for name, _ in attributes])
        values = node.values_by_attributes.get(key)
        if values is None:
            values = node.values(dict(attributes))
            if len(node.values_by_attributes) < CACHE_SIZE:
                node.values_by_attributes[key] = values
        for column, rank, has_text, position in values:
            if rank < ranks[column]:
                text = (element.text or "").strip() if has_text else ""
                value = attributes[position][1].strip() if position >= 0 else ""
                if text or (value and not has_text):
                    row[column] = f"{text} {value}" if text and value else text or value
                    ranks[column] = rank
