"""TOML files that people write: each mistake is one line that names the file, the line and the key."""

import re
import time
import tracemalloc
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gwa.errors import DefinitionError
from gwa.util.toml import MAXIMUM_DEPTH, Check, TomlFile, record


@dataclass(frozen=True)
class Inner:
    """A table in a list."""

    name: str
    size: Annotated[int | None, Check(lambda size: size > 0, "a whole number above 0")] = None

    def __post_init__(self) -> None:
        """Refuse a name that is none."""
        if self.name == "x":
            raise ValueError("name is x")


@dataclass(frozen=True)
class Everything:
    """A table with a key of each type."""

    title: str
    share: float = 0.5
    flag: bool = False
    day: date | None = None
    path: Path | None = None
    pattern: re.Pattern[str] | None = None
    choice: Literal["a", "b"] = "a"
    names: tuple[str, ...] = ()
    free: Mapping[str, int] = field(default_factory=dict)
    inner: tuple[Inner, ...] = ()
    anything: Any = None


def load(text, kind=Everything):
    file = TomlFile.parsed("some.toml", text)
    with file.located():
        return record(kind, file.data)


def test_every_type_is_read():
    read = load(
        'title = "T"\nshare = 1\nflag = true\nday = 2026-01-31\n'
        'path = "a/b"\npattern = "^a$"\nchoice = "b"\n'
        'names = ["n"]\nanything = [{}]\nfree.one = 1\n'
        '[[inner]]\nname = "a"\n[[inner]]\nname = "b"\nsize = 2.0\n'
    )

    assert (read.title, read.share, read.flag, read.day) == ("T", 1.0, True, date(2026, 1, 31))
    assert (read.path, read.choice, read.names, read.free) == (Path("a/b"), "b", ("n",), {"one": 1})
    assert read.pattern.search("b\na\nb")
    assert read.inner == (Inner("a"), Inner("b", 2))
    assert read.anything == [{}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: title: is missing, expected a text"),
        ("title = 3", "1: title: is 3, expected a text"),
        ("\ntitel = 3", "2: titel: unknown key, expected one of title, share, flag, "),
        ('"a\\nb" = 3', "1: 'a\\\\nb': unknown key"),
        ("title = 2026-01-31T00:00:00", "1: title: is 2026-01-31 00:00:00, expected a text"),
        (f'title = "{"x" * 20_001}"', "1: title: has 20,001 characters, expected at most 20,000"),
        ('title = "T"\nshare = "x"', "2: share: is 'x', expected a number"),
        ('title = "T"\nshare = true', "2: share: is True, expected a number"),
        ('title = "T"\nshare = 1e400', "2: share: is inf, expected a number"),
        (f'title = "T"\nshare = 0x{"f" * 9_000}', "2: share: is beyond all measure, expected a number"),
        (f'title = "T"\nshare = 1{"0" * 9_000}', "2: Exceeds the limit .*, expected TOML"),
        ('title = "T"\nflag = 1', "2: flag: is 1, expected true or false"),
        ('title = "T"\nday = "x"', "2: day: is 'x', expected a date such as 2026-01-31"),
        ('title = "T"\npath = 1', "2: path: is 1, expected a path"),
        ('title = "T"\npattern = "("', r"2: pattern: is '\(', expected a regular expression: missing"),
        ('title = "T"\nchoice = "c"', "2: choice: is 'c', expected one of a, b"),
        ('title = "T"\nnames = "n"', "2: names: is 'n', expected a list"),
        ('title = "T"\nnames = [\n"a",\n1]', r"2: names\[1\]: is 1, expected a text"),
        ('title = "T"\nfree = []', r"2: free: is \[\], expected a table"),
        ('title = "T"\n[free]\none = 1\ntwo = 2.5', "4: free.two: is 2.5, expected a whole number"),
        ('title = "T"\n[[inner]]\nname = "a"\n[[inner]]\nsize = 1', r"4: inner\[1\].name: is missing"),
        ('title = "T"\n[[inner]]\nname = "a"\nsize = 0', r"4: inner\[0\].size: is 0, expected a whole"),
        ('title = "T"\n[[inner]]\n\nname = "x"', r"4: inner\[0\].name is x"),
        ('title = "T"\n[inner]', r"2: inner: is \{\}, expected a list"),
        ('title = """\n#[["""\nx = 1', "3: x: unknown key"),
        ('title = "T\nx = 1', "1: Illegal character .*, expected TOML"),
        ("a = 1\nb = " + "[" * 50_000, "2: maximum recursion depth exceeded.*, expected TOML"),
        (".".join("a" * 2_000) + " = 1", "1: a: unknown key"),
        (f'title = "T"\nnames.{".".join("a" * 2_000)} = 1', "2: names: is beyond all measure, expected a"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_line_and_key(text, message):
    with pytest.raises(DefinitionError, match=f"^some.toml:{message}") as error:
        load(text)
    assert "\n" not in str(error.value)


def test_a_part_of_a_file_counts_the_lines_of_the_file():
    with pytest.raises(DefinitionError, match=r"^a\.sql:3: "):
        TomlFile.parsed("a.sql", "a = 1\nb =", first_line=2)
    assert TomlFile.parsed("a.sql", "a = 1\nb = 2", first_line=2).line("b: is 2") == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a = 1\n\xff\xfe", ":2: is not UTF-8 text"),
        (b"x" * 200_000, ": has 200,000 bytes, expected at most 100,000"),
        (None, ": no such file or directory, expected words"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(content, message, tmp_path):
    path = tmp_path / "some.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DefinitionError, match=re.escape(f"{path}{message}")):
        TomlFile.read(path, "words")


KEYS = st.sampled_from(
    [*Everything.__dataclass_fields__, "name", "size", "'a b'", '"\\n"', "inner.name", "x"]
)
SCALARS = [
    '"t"',
    "'''\n]'''",
    '"""\n#"""""',
    "1",
    "-1",
    "0.5",
    "nan",
    "1e400",
    "true",
    "2026-01-31",
    "07:00:00",
    "[",
    "{}",
]
VALUES = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: "[\n" + ", # ]\n".join(items) + "\n]")
        | st.tuples(KEYS, inner).map(lambda pair: f"{{ {pair[0]} = {pair[1]} }}")
    ),
    max_leaves=5,
)
STATEMENTS = (
    st.tuples(KEYS, VALUES).map(" = ".join)
    | KEYS.map("[{}]".format)
    | KEYS.map("[[{}]]".format)
    | st.text(max_size=9)
)


@given(st.lists(STATEMENTS, max_size=9).map("\n".join) | st.text())
@example("\r")
@example('[[inner]]\nname = "x"')
@example(f"[{'.'.join('a' * (MAXIMUM_DEPTH + 9))}]\nx = 1")
def test_any_text_is_a_value_or_an_error_with_a_line(text):
    try:
        read = load(f'title = "T"\n{text}')
    except DefinitionError as error:
        place = re.match(r"some\.toml:(\d+): \S", str(error))
        assert place, str(error)  # noqa: PT017 - both outcomes are fine
        assert 1 <= int(place[1]) <= text.count("\n") + 2
        assert str(error).isprintable()  # noqa: PT017
    else:
        assert isinstance(read, Everything)


@given(
    st.lists(
        st.sampled_from(
            ["", "# note", "list = [\n  1,\n\n  2,\n]", 'text = """\nnext = 1\n[no]\n"""', "plain = 1"]
        ),
        max_size=8,
    ),
    st.lists(st.sampled_from(["", "# [[table]]"]), max_size=3),
)
def test_lines_are_those_on_which_a_statement_begins(statements, gaps):
    """The reference is how the text is put together."""
    text, wanted, line = "", {}, 1
    for number, statement in enumerate([*statements, *gaps, "[[table]]", *gaps, "last = 1"]):
        written = re.sub(r"^(\w+) =", rf"\1_{number} =", statement)
        if match := re.match(r"\w+", written):
            wanted[("table[0]." if "table[0]" in wanted else "") + match[0]] = line
        if statement == "[[table]]":
            wanted["table[0]"] = line
        text += written + "\n"
        line += written.count("\n") + 1
    file = TomlFile.parsed("some.toml", text)

    assert {name: file.line(f"{name}: is wrong") for name in wanted} == wanted


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 20_000 + " = 1",
        "[" + "a . " * 20_000 + "a]",
        "x = 1\na" + '."b"' * 20_000 + " = 1",
        "a = {b" + ".b" * 20_000 + " = 1}",
        "\n".join(f"a{number}{'.a' * 1950} = 1" for number in range(25)),
    ],
    ids=["key", "header", "in quotes", "inline", "several"],
)
def test_a_key_of_many_parts_is_refused_before_it_takes_memory(text):
    begin = time.process_time()
    tracemalloc.start()
    with pytest.raises(DefinitionError, match=r"^f:\d: its keys have too many parts, expected TOML"):
        TomlFile.parsed("f", text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000_000
    assert time.process_time() - begin < 5


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 20_000 + "]" * 20_000, "a = " + "{b=" * 9_000 + "1" + "}" * 9_000]
)
def test_values_that_are_nested_deeply_are_refused(text):
    with pytest.raises(DefinitionError, match=r"^f:1: .*expected TOML"):
        TomlFile.parsed("f", text)


def test_dots_in_texts_and_remarks_are_no_parts():
    dots = "a." * 100
    text = f'# {dots}\na = \'{dots}\'\nb = """\n{dots}\n"""\n[c.d]\ne = 1.5 # {dots}\n'
    assert TomlFile.parsed("f", text).data["c"] == {"d": {"e": 1.5}}


def test_a_long_word_is_no_key_of_many_parts():
    begin = time.process_time()
    assert TomlFile.parsed("f", "a" * 90_000 + " = 1").data
    assert time.process_time() - begin < 5
