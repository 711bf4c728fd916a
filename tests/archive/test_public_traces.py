# mypy: disable-error-code="arg-type"
"""The list of public traces, and how they are fetched."""

import csv
import hashlib
import io
import json
import re
import tarfile
import tomllib
from dataclasses import fields, replace

import pytest
from click.testing import CliRunner
from packaging.licenses import canonicalize_license_expression

import gwa
from gwa.archive import public_traces as module
from gwa.archive.fetch import fetch, sources
from gwa.archive.public_listing import card, overview
from gwa.archive.public_traces import (
    LIST,
    UNKNOWN,
    PublicFacts,
    PublicFile,
    PublicTrace,
    ReadAt,
    bibliography,
    citation,
    public_trace,
    public_traces,
    read_list,
    references,
)
from gwa.cli import gwa as program
from gwa.errors import ArgumentError, DefinitionError, DownloadError
from gwa.formats.format_options import check_options
from gwa.formats.registry import all_formats, format_called
from tests.archive.test_download import server, whole  # noqa: F401 - a fixture
from tests.conftest import HOME, LOGS

TINY = (HOME / "sample_traces" / "swf" / "tiny.swf").read_bytes()
EVERY = pytest.mark.parametrize("trace", public_traces().values(), ids=lambda trace: trace.key)


@EVERY
def test_a_trace_says_where_it_is_and_what_to_cite(trace):
    assert trace.title in citation(trace)
    assert trace.page in citation(trace)
    assert trace.licence in citation(trace)
    assert all(reference.doi or reference.url for reference in references(trace).values())
    assert trace.files or trace.note


@EVERY
def test_a_trace_is_converted_by_a_format_that_exists(trace):
    known = {format_.name for format_ in all_formats()} | {"table"}
    assert trace.format in {*known, ""}
    assert trace.format or not any(file.converted for file in trace.files)
    if trace.options and trace.format in {format_.name for format_ in all_formats()}:
        check_options(trace.format, format_called(trace.format).options, trace.options)


@EVERY
def test_the_files_of_a_trace_have_names_of_their_own(trace):
    names = [part.file_name for file in trace.files for part in file.each()]
    assert len({name.lower() for name in names}) == len(names)
    assert all(re.fullmatch(r"[\w.-]+", name) and not name.startswith(".") for name in names)
    assert all(re.fullmatch(r"https://[\w./%-]+", part.url) for file in trace.files for part in file.each())


def test_no_two_traces_share_a_key_and_no_two_files_a_name():
    listed = tomllib.loads(LIST.read_text())["trace"]
    assert len({trace["key"] for trace in listed}) == len(listed)
    files = {file.url: file.file_name for trace in public_traces().values() for file in trace.files}
    assert len(set(files.values())) == len(files)


@EVERY
def test_a_licence_is_an_identifier_or_the_words_of_its_owner(trace):
    if trace.licence != UNKNOWN and not re.fullmatch("“[^“”]+”", trace.licence):
        assert canonicalize_license_expression(trace.licence) == trace.licence


@EVERY
def test_a_sum_is_of_a_file_that_was_fetched_or_that_its_owner_publishes(trace):
    for file in trace.files:
        assert bool(file.sha256) == bool(file.size or file.sum_source)
        assert not (file.sum_source and file.size)
    if trace.jobs:
        assert any(file.size for file in trace.files)


@pytest.mark.logs
def test_a_size_is_that_of_a_copy():
    """No file has one that was not fetched: the copies lie beside the checkout."""
    copies = {path.stat().st_size for path in LOGS.rglob("*") if path.is_file()}
    sizes = {file.size for trace in public_traces().values() for file in trace.files if file.size}
    if not copies:
        pytest.skip("the real logs are not here")
    assert sizes <= copies


def test_every_reference_says_where_it_was_read():
    for name, reference in tomllib.loads(LIST.read_text())["reference"].items():
        assert reference["source"], name


def test_every_reference_is_cited():
    cited = {name for trace in public_traces().values() for name in trace.cite}
    assert cited == set(tomllib.loads(LIST.read_text())["reference"])


@pytest.mark.logs
@EVERY
def test_what_is_known_of_a_file_is_true_of_its_copy(trace):
    """Of the real logs beside the checkout, where they are the files that the list knows."""
    copies = {path.name: path for path in LOGS.rglob("*") if path.is_file()}
    for file in trace.files:
        name = file.url.rpartition("/")[2]
        if file.size and name in copies:
            assert copies[name].stat().st_size == file.size
            assert hashlib.sha256(copies[name].read_bytes()).hexdigest() == file.sha256


def test_the_nearest_keys_are_named():
    with pytest.raises(ArgumentError, match="no public trace 'kth-sp'; the nearest are kth-sp2"):
        public_trace("kth-sp")
    with pytest.raises(ArgumentError, match="the nearest are azure-"):
        public_trace("azure")
    with pytest.raises(ArgumentError, match="'zzzz'; gwa fetch --list names all"):
        public_trace("zzzz")


@pytest.mark.parametrize("key", ["", "azure_vm", "KTH-SP2", "x" * 10_000, "\x1b[31m", "../a"])
def test_odd_keys_are_no_traces(key):
    with pytest.raises(ArgumentError):
        public_trace(key)


def test_a_bibliography_is_bibtex():
    text = bibliography(public_trace("kth-sp2"))
    assert text.startswith("@article{feitelson2014,\n  author = {Feitelson, Dror G. and")
    assert "  journal = {Journal of Parallel and Distributed Computing},\n" in text
    assert "  doi = {10.1016/j.jpdc.2014.06.013}\n}\n" in text
    assert text.count("{") == text.count("}")
    assert "@inproceedings{jeon2019" in bibliography(public_trace("philly"))


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ("url = 'http://a/b'", "address of https"),
        ("url = 'file:///etc/passwd'", "address of https"),
        ("url = 'https://a/b'\nsha256 = 'abc'", "64 hexadecimal"),
        ("url = 'https://a/b'\nsize = 0", "at least 1"),
        ("url = 'https://a/b'\nmirror = 'x'", "unknown key"),
    ],
)
def test_a_wrong_file_is_refused(changed, match, tmp_path):
    refused(f"[[trace.files]]\n{changed}\n", match, tmp_path)


@pytest.mark.parametrize(
    ("claim", "match"),
    [
        ("licence = 'MIT'", r"read_at.licence: is missing, expected the address where it was read"),
        ("doi = '10.5281/zenodo.1'", "read_at.doi: is missing"),
        ("acknowledge = 'Ada'", "read_at.acknowledge: is missing"),
        ("doi = 'zenodo.1'", "expected a DOI"),
        ("doi = 'https://doi.org/10.5281/zenodo.1'", "expected a DOI"),
        ("licence = 'MIT'\nread_at = { licence = ['heard of'] }", "expected an address"),
        ("facts = { jobs = 5 }", "source: is missing"),
        ("collection = 'Mine'", "expected one of Parallel Workloads Archive"),
    ],
)
def test_a_claim_without_an_address_is_refused(claim, match, tmp_path):
    refused(claim, match, tmp_path)


def refused(lines, match, folder):
    """Expect a list with one trace, of which *lines* are a part, to be refused."""
    own = "" if "collection" in lines else "collection='Workflows'\n"
    path = folder / "list.toml"
    path.write_text(f"[reference]\n[[trace]]\nkey='a'\ntitle='a'\npage='https://a/'\n{own}{lines}\n")
    with pytest.raises(DefinitionError, match=match):
        read_list(path)


# Fetching, from a server on this computer.


ABOUT = {
    "key": "tiny",
    "title": "Tiny",
    "collection": "Workflows",
    "year": 2000,
    "page": "https://example.org/",
    "licence": "“free”",
    "read_at": ReadAt(licence=("https://example.org/",), acknowledge=("https://example.org/",)),
}


def made(server, name="tiny.swf", body=TINY, **more):  # noqa: F811
    """Return a trace of one file that the server has."""
    server.answers[f"/{name}"] = lambda handler: whole(handler, body)
    more = {"format": "swf", "cite": ("feitelson2014",), **more}
    file = PublicFile(url=f"{server.url}/{name}", **more.pop("file", {}))
    return PublicTrace(**ABOUT, **more, files=(file,))


def test_a_trace_is_fetched_with_its_citation(server, tmp_path):  # noqa: F811
    trace = made(server, acknowledge="Ada", file={"sha256": hashlib.sha256(TINY).hexdigest()})
    (file,) = fetch(trace, tmp_path / "to" / "here")

    assert file.path.read_bytes() == TINY
    assert file.verdict == "its SHA-256 is the expected one"
    assert sorted(path.name for path in file.path.parent.iterdir()) == [
        "tiny.bib",
        "tiny.cite.txt",
        "tiny.swf",
    ]
    assert "Acknowledge: Ada" in (file.path.parent / "tiny.cite.txt").read_text()


def test_a_file_without_a_checksum_is_not_called_checked(server, tmp_path):  # noqa: F811
    (file,) = fetch(made(server), tmp_path)
    assert file.verdict == (
        f"not checked: no checksum is known; its SHA-256 is {hashlib.sha256(TINY).hexdigest()}"
    )


def test_a_file_that_is_there_is_not_fetched_again(server, tmp_path):  # noqa: F811
    trace = made(server)
    fetch(trace, tmp_path)
    (file,) = fetch(trace, tmp_path)
    assert file.was_there
    assert len(server.asked) == 1


def test_another_file_of_that_name_is_left_alone(server, tmp_path):  # noqa: F811
    (tmp_path / "tiny.swf").write_text("mine")
    with pytest.raises(DownloadError, match=r"is there already, with the SHA-256 .* move it away"):
        fetch(made(server, file={"sha256": "0" * 64}), tmp_path)
    assert (tmp_path / "tiny.swf").read_text() == "mine"


def test_a_trace_without_files_is_only_linked(tmp_path):
    with pytest.raises(DownloadError, match="is only linked: get it from https://"):
        fetch(public_trace("alibaba2017"), tmp_path / "to")
    assert not (tmp_path / "to").exists()


@EVERY
def test_what_to_do_by_hand_is_told_in_a_line(trace, tmp_path):
    assert len(trace.note) <= 180
    assert "\n" not in trace.note
    if trace.files:
        return
    with pytest.raises(DownloadError) as told:
        fetch(trace, tmp_path)
    text = str(told.value)
    assert text.startswith(f"{trace.key}: is only linked: get it from {trace.page} (licence: ")
    assert ("gwa convert FILES --format" in text) == bool(trace.format)
    assert len(text) <= 450


def test_parts_are_fetched_one_by_one(server, tmp_path):  # noqa: F811
    for part in range(3):
        server.answers[f"/part-{part:02}.csv"] = lambda handler: whole(handler, handler.path.encode())
    trace = made(server)
    file = PublicFile(url=f"{server.url}/part-{{part:02}}.csv", name="p-{part}.csv", parts=3)
    fetched = fetch(PublicTrace(**{**vars(trace), "files": (file,)}), tmp_path)
    assert [(one.path.name, one.path.read_bytes()) for one in fetched] == [
        (f"p-{part}.csv", f"/part-{part:02}.csv".encode()) for part in range(3)
    ]


def packed(*members):
    """Return a tar archive with members of these names, each with the sample in it, or a link."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as tar:
        for name, link in members:
            info = tarfile.TarInfo(name)
            if link:
                info.type, info.linkname = tarfile.SYMTYPE, link
                tar.addfile(info)
            else:
                info.size = len(TINY)
                tar.addfile(info, io.BytesIO(TINY))
    return data.getvalue()


def test_an_archive_is_unpacked_into_its_own_folder_only(server, tmp_path):  # noqa: F811
    members = [
        ("../../out.swf", ""),
        ("/abs.swf", ""),
        ("deep/in.swf", ""),
        ("link", "/etc/passwd"),
        (".x", ""),
    ]
    fetched = fetch(made(server, "a.tar.gz", packed(*members)), tmp_path / "to")
    found = sources(fetched)

    folder = tmp_path / "to" / "a.tar.gz.unpacked"
    assert found == [folder / name for name in ("abs.swf", "in.swf", "out.swf")]
    assert [path.name for path in tmp_path.iterdir()] == ["to"]
    assert sources(fetched) == found


def test_no_file_that_lies_there_is_taken_for_one_of_the_archive(server, tmp_path):  # noqa: F811
    (tmp_path / "a.swf").write_text("mine")
    fetched = fetch(made(server, "a.tar.gz", packed(("a.swf", ""))), tmp_path)
    assert [path.read_bytes() for path in sources(fetched)] == [TINY]
    assert (tmp_path / "a.swf").read_text() == "mine"

    other = tmp_path / "other"
    (other / "a.tar.gz.unpacked").mkdir(parents=True)
    fetched = fetch(made(server, "a.tar.gz", packed(("a.swf", ""))), other)
    with pytest.raises(DownloadError, match="is there already, and not from"):
        sources(fetched)


def test_two_files_of_one_name_are_refused(server, tmp_path):  # noqa: F811
    fetched = fetch(made(server, "a.tar.gz", packed(("x/a.swf", ""), ("y/a.swf", ""))), tmp_path)
    with pytest.raises(DownloadError, match=r"two files a.swf: x/a.swf and y/a.swf"):
        sources(fetched)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


@pytest.mark.parametrize("lacking", [1, 4, 8, 12])
def test_an_archive_that_was_cut_behind_its_last_file_is_refused(server, tmp_path, lacking):  # noqa: F811
    fetched = fetch(made(server, "a.tar.gz", packed(("a.swf", ""))[:-lacking]), tmp_path)
    with pytest.raises(DownloadError, match="cannot be unpacked"):
        sources(fetched)


def test_a_broken_archive_is_told(server, tmp_path):  # noqa: F811
    body = packed(*((f"{n}.swf", "") for n in range(9)))
    fetched = fetch(made(server, "a.tar.gz", body[: len(body) // 2]), tmp_path / "to")
    with pytest.raises(DownloadError, match="cannot be unpacked"):
        sources(fetched)


# The command.


def listed(*words):
    """Return what the list says of the traces that have all *words*."""
    return json.loads(CliRunner().invoke(program, ["fetch", "--list", "--json", *words]).output)


def test_the_list_is_filtered_by_words():
    rows = listed("sdsc", "2001")
    assert [row["key"] for row in rows] == ["sdsc-blue"]
    assert rows[0]["bytes"] is None
    assert {row["key"] for row in listed("sdsc", "1999")} == {"sdsc-sp2"}
    assert [row["key"] for row in listed("kth-sp2")] == ["kth-sp2"]
    assert {row["key"] for row in listed("requests", "azure")} == {
        "azure-llm-2023",
        "azure-llm-2024",
        "azure-lmm-2024",
    }
    assert listed("no such") == []
    done = CliRunner().invoke(program, ["fetch", "--list", "no", "such"], standalone_mode=False)
    assert isinstance(done.exception, ArgumentError)
    assert str(done.exception) == "no public trace has 'no such'; gwa fetch --list names all"


def test_json_has_every_field_of_every_trace():
    told = {row["key"]: row for row in listed()}
    assert list(told) == list(public_traces())
    names = {field.name for field in fields(PublicTrace)} - {"title"} | {"trace", "jobs_counted", "command"}
    for key, trace in public_traces().items():
        row = told[key]
        assert names <= set(row)
        assert {field.name for field in fields(PublicFacts)} == set(row["facts"])
        assert (row["trace"], row["jobs"], row["doi"]) == (trace.title, trace.known_jobs, trace.doi)
        assert [one["name"] for one in row["cite"]] == list(trace.cite)
        assert [file["url"] for file in row["files"]] == [file.url for file in trace.files]
        assert (row["licence"] is None) == (trace.licence == UNKNOWN)
        assert row["licence"] is None or row["read_at"]["licence"]


def test_the_guide_says_how_many_there_are():
    guide = (HOME / "docs" / "how-to" / "fetch.md").read_text()
    assert f"shows {len(public_traces())} public traces" in guide
    assert all(key in public_traces() for key in re.findall(r"gwa fetch (?:--list )?([a-z]\S+-\S+)", guide))


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_keys_of_all_traces_stand_on_one_screen(width):
    shown = overview(list(public_traces().values()), width).splitlines()
    assert max(map(len, shown)) <= width
    assert width < 80 or len(shown) < 24
    keys = {word.rstrip("*") for line in shown for word in line.split()}
    assert set(public_traces()) <= keys
    assert "theta*" in " ".join(shown)
    assert "kth-sp2*" not in " ".join(shown)


def test_a_card_tells_all_of_a_trace_and_where_it_was_read():
    text = card(public_trace("kestrel"), 80)
    assert re.search(r"^jobs +about 11,000,000 \[\d\]", text, re.MULTILINE)
    assert re.search(r"^processors +unknown$", text, re.MULTILINE)
    assert re.search(r"^DOI +10.7799/3023270 \[1\]$", text, re.MULTILINE)
    assert re.search(r"^\[1\] https://github.com/NatLabRockies/", text, re.MULTILINE)
    assert "gwa convert FILES --format table" in text
    assert "requests      about 5,290,000" in card(public_trace("burstgpt"), 80)
    assert "by hand, from its page" in card(public_trace("frontier"), 80)


def test_one_match_is_told_whole_and_several_are_a_table():
    run = CliRunner()
    assert run.invoke(program, ["fetch", "--list", "kth-sp2"]).output.startswith("Royal Institute of")
    rows = list(csv.DictReader(io.StringIO(run.invoke(program, ["fetch", "--list", "das2"]).output)))
    assert [row["key"] for row in rows] == [f"das2-fs{number}" for number in range(5)]
    assert rows[0]["years"] == "2003"


def test_the_command_fetches_and_converts(server, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setattr(module, "public_traces", lambda: {"tiny": made(server, note="tell me")})
    done = CliRunner().invoke(
        program, ["fetch", "tiny", "--to", str(tmp_path), "--convert"], standalone_mode=False
    )

    assert done.exception is None
    assert "not checked: no checksum is known; its SHA-256 is" in done.stderr
    assert "tiny: tell me" in done.stderr
    with (
        gwa.open(tmp_path / "tiny.parquet") as trace,
        gwa.open(HOME / "sample_traces/swf/tiny.swf") as sample,
    ):
        assert len(trace) == len(sample)


def test_what_has_to_be_unpacked_by_hand_is_not_converted(server, tmp_path, monkeypatch):  # noqa: F811
    trace = made(server, note="Unpack it.", file={"converted": False})
    monkeypatch.setattr(module, "public_traces", lambda: {"tiny": trace})
    done = CliRunner().invoke(
        program, ["fetch", "tiny", "--to", str(tmp_path), "--convert"], standalone_mode=False
    )
    assert str(done.exception) == "tiny: its files have to be unpacked first: Unpack it."
    assert "tiny: gwa convert FILES --format swf -o tiny.parquet" in done.stderr
    assert (tmp_path / "tiny.swf").exists()


def test_a_trace_to_fetch_must_be_named():
    done = CliRunner().invoke(program, ["fetch"])
    assert done.exit_code == 2
    assert "gwa fetch --list names all" in done.output


def test_no_bibliography_is_empty():
    empty = [key for key, trace in public_traces().items() if "  title = {{" not in bibliography(trace)]

    assert empty == []


def test_a_trace_without_a_publication_is_cited_by_its_page():
    trace = replace(public_trace("kth-sp2"), cite=())
    text = bibliography(trace)

    assert text.startswith("@misc{kth-sp2,\n")
    assert f"  url = {{{trace.page}}}" in text
    assert f"  year = {{{trace.year}}}" in text
    assert "author" not in text
