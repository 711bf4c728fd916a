"""The catalogue: what it says, and what it is refused for, in one line with file, key and choices."""

from contextlib import suppress
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gwa.archive.catalogue import read_catalogue
from gwa.errors import DefinitionError

HEAD = '[archive]\ntitle = "Test"\n'
TRACE = """
[[trace]]
id = "one"
title = "One"
system = "s"
provider = "p"
licence = "CC0-1.0"
citation = "c"
"""
SOURCE = 'source = "one.swf"\n'


@pytest.fixture
def site(tmp_path):
    (tmp_path / "one.swf").write_text("1 0 0 1 1 -1 -1 1 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n")
    return tmp_path


def read(site, text):
    (site / "archive.toml").write_text(text)
    return read_catalogue(site)


def test_a_catalogue_says_what_it_says(site):
    found = read(
        site,
        '[archive]\ntitle = "T"\nabout = "A"\nurl = "https://a.example/x/"\ncompare = [["one", "two"]]\n'
        + TRACE + SOURCE + 'year = 2009\nchanges = [{ date = 2026-01-02, text = "x" }]\n'
        + TRACE.replace('"one"', '"two"') + 'preset = "lublin"\njobs = 5\nseed = 0\n',
    )  # fmt: skip

    assert [one.id for one in found.entries] == ["one", "two"]
    assert found.pairs == (("one", "two"),)
    assert found.entry("one").changes[0].date == date(2026, 1, 2)
    assert found.entry("one").source == site / "one.swf"
    assert not found.entry("one").synthetic
    assert found.entry("two").synthetic, "what a model made is always labelled"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"expected a table \[archive\]"),
        ("x = 1", "x is unknown, expected one of archive, trace"),
        ("[archive]\n", "archive.title is missing"),
        ("[archive]\ntitle = 3", "archive.title is '3', expected a text"),
        (HEAD + 'url = "x"', "archive.url is 'x', expected one such as https"),
        (HEAD + 'compare = [["one", "two"]]' + TRACE + SOURCE, "archive.compare has"),
        (HEAD + '[[trace]]\nid = "A B"', "trace 1: id is 'A B', expected up to 64 of"),
        (HEAD + TRACE, "one: expected either source or preset"),
        (HEAD + TRACE + SOURCE + 'preset = "lublin"', "one: expected either source or preset"),
        (HEAD + TRACE + 'preset = "lublim"\njobs = 1', "preset is 'lublim', expected one of .*lublin,"),
        (HEAD + TRACE + 'preset = "lublin"', "one: expected either jobs or days"),
        (HEAD + TRACE + 'preset = "lublin"\njobs = 0', "one: jobs is '0', expected a whole number"),
        (HEAD + TRACE + 'preset = "lublin"\ndays = nan', "one: days is 'nan', expected a number"),
        (HEAD + TRACE + SOURCE + "synthetic = 1", "one: synthetic is '1', expected true or false"),
        (HEAD + TRACE + SOURCE + "licens = 1", "one: licens is unknown, expected one of id, title"),
        (HEAD + TRACE.replace('licence = "CC0-1.0"\n', "") + SOURCE, "one: licence is missing"),
        (HEAD + TRACE + SOURCE + 'changes = [{ date = "x", text = "" }]', "one: changes has"),
        (HEAD + TRACE + SOURCE + TRACE + SOURCE, "trace 2: id 'one' is that of trace 1, too"),
        (HEAD + TRACE + f'notes = "{"x" * 20_001}"\n' + SOURCE, "notes has 20,001 characters"),
        ("[archive", "archive.toml: "),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_the_choices(site, text, message):
    with pytest.raises(DefinitionError, match=message) as raised:
        read(site, text)

    assert "archive.toml" in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "path",
    ["../one.swf", "a/../../one.swf", "/etc/passwd", "~/x", "..\\one.swf", "c:x", "file:///etc/passwd"],
)
def test_a_path_may_not_leave_the_folder(site, path):
    with pytest.raises(DefinitionError, match=r"one: source is .* expected a path inside of"):
        read(site, HEAD + TRACE + f"source = '{path}'")


@pytest.mark.parametrize("inside", [False, True])
def test_a_link_may_not_lead_out_of_the_folder(site, tmp_path_factory, inside):
    secret = tmp_path_factory.mktemp("elsewhere") / "secret"
    secret.write_text("x")
    (site / "logs").mkdir()
    (site / "logs" / "one").symlink_to(secret)

    with pytest.raises(DefinitionError, match="logs/one leads out of"):
        read(site, HEAD + TRACE + f'source = "{"logs" if inside else "logs/one"}"')


def test_a_note_of_50_mb_is_refused_unread(site):
    with pytest.raises(DefinitionError, match=r"has 50,\d\d\d,\d\d\d bytes, expected at most"):
        read(site, HEAD + TRACE + SOURCE + f'notes = "{"x" * 50_000_000}"\n')


def test_a_folder_without_a_catalogue_says_so(tmp_path):
    with pytest.raises(DefinitionError, match="expected the catalogue of an archive"):
        read_catalogue(tmp_path)


toml = st.recursive(
    st.one_of(st.booleans(), st.integers(-5, 5), st.text(max_size=5).map(lambda one: one.replace("'", ""))),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)


@settings(max_examples=60, deadline=None)
@given(
    key=st.sampled_from(["id", "title", "source", "preset", "jobs", "year", "changes", "synthetic"]),
    value=toml,
)
def test_any_value_is_taken_or_refused_in_words(tmp_path_factory, key, value):
    site = tmp_path_factory.mktemp("site")
    (site / "one.swf").write_text("x")

    def text(one):
        if isinstance(one, list):
            return "[" + ", ".join(map(text, one)) + "]"
        return (
            str(one).lower() if isinstance(one, bool) else repr(one) if isinstance(one, int) else f"'{one}'"
        )

    said = TRACE + SOURCE
    lines = [line for line in said.splitlines() if not line.startswith(key)] + [f"{key} = {text(value)}"]
    with suppress(DefinitionError):
        assert read(site, HEAD + "\n".join(lines)).entries
