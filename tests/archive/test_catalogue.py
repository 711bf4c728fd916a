"""The catalogue: what it says, and what it is refused for, in one line with file, key and choices."""

from contextlib import suppress
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.archive.catalogue import read_catalogue
from gwa.errors import DefinitionError
from tests.conftest import examples

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
        ("", "archive.toml:1: archive: is missing, expected a table"),
        ("x = 1", "archive.toml:1: x: unknown key, expected one of archive, trace"),
        ("[archive]\n", "archive.title: is missing, expected a text"),
        ("[archive]\ntitle = 3", "archive.toml:2: archive.title: is 3, expected a text"),
        (HEAD + 'url = "x"', ":3: archive.url: is 'x', expected one such as https"),
        (HEAD + 'compare = [["one", "two"]]' + TRACE + SOURCE, r":3: archive.compare\[0\]: is .'one', 'two'"),
        (HEAD + TRACE.replace('"one"', '"A B"'), r":5: trace\[0\].id: is 'A B', expected up to 64 of"),
        (HEAD + TRACE, r"trace\[0\]: expected either source or preset"),
        (HEAD + TRACE + SOURCE + 'preset = "lublin"', r"trace\[0\]: expected either source or preset"),
        (HEAD + TRACE + 'preset = "lublim"\njobs = 1', "preset: is 'lublim', expected one of .*lublin,"),
        (HEAD + TRACE + 'preset = "lublin"', r"trace\[0\]: expected either jobs or days"),
        (HEAD + TRACE + 'preset = "lublin"\njobs = 0', r":12: trace\[0\].jobs: is 0, expected a whole"),
        (HEAD + TRACE + 'preset = "lublin"\ndays = nan', "days: is nan, expected a number of at least 0.001"),
        (HEAD + TRACE + SOURCE + "synthetic = 1", "synthetic: is 1, expected true or false"),
        (HEAD + TRACE + SOURCE + "licens = 1", r":12: .*licens: unknown key, expected one of licence, id"),
        (HEAD + TRACE.replace('licence = "CC0-1.0"\n', ""), r":4: .*licence: is missing, expected a text"),
        (HEAD + TRACE + SOURCE + 'changes = [{ date = "x", text = "" }]', r"changes\[0\].date: is 'x'"),
        (HEAD + TRACE + SOURCE + TRACE + SOURCE, r":14: trace\[1\].id: 'one' is that of trace\[0\], too"),
        (HEAD + TRACE + f'notes = "{"x" * 20_001}"\n' + SOURCE, "notes: has 20,001 characters"),
        (HEAD + TRACE + f'source = "{"x" * 5_000}"', r"source: there is no x+ in"),
        ("[archive", "archive.toml:1: "),
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
    with pytest.raises(DefinitionError, match=r":11: trace\[0\]\.source: is .* expected a path inside of"):
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


@examples(60)
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


def test_a_trace_has_the_formats_that_it_asks_for_or_those_of_the_archive(site):
    found = read(
        site,
        HEAD + 'formats = ["swf"]\n' + TRACE + SOURCE + 'doi = "10.5281/zenodo.7"\n'
        + TRACE.replace('"one"', '"two"') + SOURCE + 'formats = ["gwf", "duckdb"]\n',
    )  # fmt: skip

    assert found.entry("one").formats == ("swf",)
    assert found.entry("one").doi == "10.5281/zenodo.7"
    assert found.entry("two").formats == ("gwf", "duckdb")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('formats = ["csv"]', "is 'csv', expected one of gwf, swf, sqlite, duckdb"),
        ('doi = "https://doi.org/10.5281/x"', "doi: is .*, expected one such as 10.5281/zenodo.1234567"),
    ],
)
def test_a_format_or_a_doi_that_is_none_is_refused(site, line, message):
    with pytest.raises(DefinitionError, match=message):
        read(site, HEAD + TRACE + SOURCE + line)
