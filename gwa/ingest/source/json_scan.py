"""
Find the brackets of JSON in a stream of bytes, without parsing anything else.

A string ends with its line at the latest, so that a quotation mark too many spoils no more than that.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

QUOTE, BACKSLASH, NEWLINE = (ord(sign) for sign in '"\\\n')

Positions = NDArray[np.int64]


@dataclass(frozen=True)
class Brackets:
    """
    The brackets of a piece of text: where each stands, whether it *opens*, and the *depth* behind it.

    *newlines* are the positions of the ends of lines.
    """

    positions: Positions
    opens: NDArray[np.bool_]
    depths: Positions
    newlines: Positions

    @property
    def befores(self) -> Positions:
        """The depth before each bracket."""
        return self.depths - np.where(self.opens, 1, -1)


@dataclass
class BracketScanner:
    """Scans a stream piece by piece; knows the *depth*, and whether a string is open, at the end so far."""

    depth: int = 0
    in_string: bool = False

    def scan(self, data: bytes) -> Brackets:
        """Return the brackets of *data* outside strings; those that close nothing are left out."""
        array = np.frombuffer(data, np.uint8)
        newlines = np.flatnonzero(array == NEWLINE)
        quotes = self._string_borders(array, newlines)
        # The bit that makes letters small makes a brace of a square bracket, and of nothing else.
        folded = array | np.uint8(0x20)
        found = np.flatnonzero((folded == ord("{")) | (folded == ord("}")))
        found = found[np.searchsorted(quotes, found) % 2 == 0]
        opens = folded[found] == ord("{")
        depths = np.cumsum(np.where(opens, 1, -1)) + self.depth
        lowest = np.minimum.accumulate(np.minimum(depths, 0))
        if len(lowest) and lowest[-1] < 0:
            strays = np.diff(lowest, prepend=0) < 0
            found, opens, depths = found[~strays], opens[~strays], (depths - lowest)[~strays]
        self.depth = int(depths[-1]) if len(depths) else self.depth
        return Brackets(found, opens, depths, newlines)

    def _string_borders(self, array: NDArray[np.uint8], newlines: Positions) -> Positions:
        """Return where strings begin and end, in turn, beginning outside of one."""
        quotes = np.flatnonzero(array == QUOTE)
        quotes = quotes[~_escaped(array, quotes)]
        if self.in_string:
            quotes = np.concatenate((np.array([-1]), quotes))
        counts = np.diff(np.searchsorted(quotes, np.append(newlines, len(array))), prepend=0)
        self.in_string = bool(counts[-1] % 2)
        unclosed = newlines[counts[:-1] % 2 == 1]
        return np.sort(np.concatenate((quotes, unclosed))) if len(unclosed) else quotes


def _escaped(array: NDArray[np.uint8], quotes: Positions) -> NDArray[np.bool_]:
    """Return which *quotes* stand behind an odd number of backslashes."""
    backslashes = np.flatnonzero(array == BACKSLASH)
    if not len(backslashes):
        return np.zeros(len(quotes), np.bool_)
    begins_run = np.diff(backslashes, prepend=-2) != 1
    run = np.maximum.accumulate(np.where(begins_run, np.arange(len(backslashes)), 0))
    is_odd = (np.arange(len(backslashes)) - run) % 2 == 0
    return np.isin(quotes, backslashes[is_odd] + 1)


def whole_escapes(data: bytes) -> int:
    r"""
    Return how many bytes of *data* to scan so that no escape is cut in two.

    >>> whole_escapes(b'"a\\')
    2
    """
    run = len(data) - len(data.rstrip(b"\\"))
    return len(data) - run % 2
