"""Good files made bad: bytes flipped, lines cut, doubled and swapped, cells replaced by what no log has."""

import re

from hypothesis import settings
from hypothesis import strategies as st

from gwa.errors import GwaError
from gwa.formats.open import open_trace
from tests.conftest import examples

VALUES = (
    "-9223372036854775808", "9223372036854775807", "18446744073709551615", "1e308", "-1e308", "1e-320",
    "1e999", "nan", "-nan", "inf", "-inf", "-0.0", "+5", "0x10", "1_000", "1,234", "٣", "-2208988800",
    "253402300800", "-3900", "-3901", "1.5", "''", "\\", "%s", "{0}", "--", "/*", "NULL", "true", "1e", ".",
    "-", "",
)  # fmt: skip
"""Cells that are not numbers, or no number that a job can have; two are stamps of 1900 and 10000."""

NAMES = (
    "Robert'); drop table jobs; --", "<script>alert(1)</script>", "&lt;b&gt;", "../../etc/passwd", "${HOME}",
    "1900-01-01T00:00:00", "9999-12-31T23:59:59", "01/01/1900 00:00:00", "\u202e\u0000\x1b[31m", "é" * 300,
)  # fmt: skip

PIECES = (
    b"\n", b"\r", b"\t", b" ", b";", b"#", b"-1", b"\x00", b"\xff", b"\xc3", b"'", b'"', b"%", b"9" * 30,
    b"nan", b"|", b":", b",", b"=", b"<", b">", b"&", b"]]>", b"<!--", b"{", b"}", b"[",
    b"\\", b'","', b"***",
)  # fmt: skip
"""What parts cells, records and elements in some format, and what is not text."""

TOKEN = re.compile(rb"[^\s,;:|=\"'<>{}\[\]]+")

PLACES = st.floats(0, 1)
CHANGE = st.one_of(
    st.tuples(st.just("flip"), PLACES, st.integers(1, 255)),
    st.tuples(st.just("cut"), PLACES, st.integers(1, 60)),
    st.tuples(st.just("insert"), PLACES, st.one_of(st.sampled_from(PIECES), st.binary(max_size=6))),
    st.tuples(st.just("replace"), PLACES, st.sampled_from((*VALUES, *NAMES))),
    st.tuples(st.sampled_from(("drop", "double", "break off")), PLACES, st.none()),
    st.tuples(st.just("swap"), PLACES, PLACES),
)
CHANGES = st.lists(CHANGE, min_size=1, max_size=6)
"""Changes of a file: what is done, where, as a fraction of it, and with what."""

FEW = examples(10)
MANY = settings(FEW, max_examples=100)


def mutated(data, changes):
    """Return *data* after some changes."""
    for what, place, how in changes:
        data = (
            _changed_lines(data, what, place, how)
            if isinstance(how, float | None)
            else _changed(data, what, place, how)
        )
    return data


def _changed(data, what, place, how):
    at = int(place * len(data))
    if what == "flip":
        return data[:at] + bytes([byte ^ how for byte in data[at : at + 1]]) + data[at + 1 :]
    if what == "cut":
        return data[:at] + data[at + how :]
    if what == "insert":
        return data[:at] + how + data[at:]
    found = TOKEN.search(data, at)
    begin, end = found.span() if found else (len(data), len(data))
    return data[:begin] + how.encode() + data[end:]


def _changed_lines(data, what, place, other):
    lines = data.splitlines(keepends=True) or [b""]
    at = min(int(place * len(lines)), len(lines) - 1)
    if what == "swap":
        to = min(int(other * len(lines)), len(lines) - 1)
        lines[at], lines[to] = lines[to], lines[at]
    elif what == "break off":
        lines[at:] = [lines[at][: len(lines[at]) // 2]]
    else:
        lines[at : at + 1] = [lines[at]] * {"drop": 0, "double": 2}[what]
    return b"".join(lines)


def told(error):
    """Return the line that a user sees."""
    line = str(error)
    assert "\n" not in line
    assert "does not add up" not in line
    return line


def outcome(name, *paths):
    """Read files in the format *name*; return the account, checked, or the line that says what is wrong."""
    try:
        store = open_trace(paths, name)
    except GwaError as error:
        return told(error)
    with store:
        return checked(store)


def checked(store):
    """Return the account of a store, after comparing it with what the store holds."""
    account = store.account
    account.check()
    assert store.rows("select count(*) from jobs") == [(account.jobs,)]
    ((kept,),) = store.rows("select count(*) from rejects")
    assert kept == min(account.rejected, 10_000)
    return account
