# mypy: disable-error-code="arg-type"
"""The list of public traces, and how they are fetched."""

import hashlib
import io
import json
import re
import tarfile
import tomllib
from dataclasses import replace

import pytest
from click.testing import CliRunner

import gwa
from gwa.archive import public_traces as module
from gwa.archive.fetch import fetch, sources
from gwa.archive.public_traces import (
    LIST,
    PublicFile,
    PublicTrace,
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
    assert trace.files or trace.note or "survey" in trace.note


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


def test_no_two_traces_share_a_key_or_a_file():
    listed = tomllib.loads(LIST.read_text())["trace"]
    assert len({trace["key"] for trace in listed}) == len(listed)
    names = [file.file_name for trace in public_traces().values() for file in trace.files]
    assert len(set(names)) == len(names)


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
def test_a_wrong_list_is_refused(changed, match, tmp_path):
    path = tmp_path / "list.toml"
    path.write_text(
        "[reference]\n[[trace]]\nkey='a'\ntitle='a'\nyear=1\npage='https://a/'\nlicence='x'\n"
        f"[[trace.files]]\n{changed}\n"
    )
    with pytest.raises(DefinitionError, match=match):
        read_list(path)


# Fetching, from a server on this computer.


def made(server, name="tiny.swf", body=TINY, **more):  # noqa: F811
    """Return a trace of one file that the server has."""
    server.answers[f"/{name}"] = lambda handler: whole(handler, body)
    more = {"format": "swf", "cite": ("feitelson2014",), **more}
    file = PublicFile(url=f"{server.url}/{name}", **more.pop("file", {}))
    about = {"key": "tiny", "title": "Tiny", "year": 2000, "page": "https://example.org/", "licence": "free"}
    return PublicTrace(**about, **more, files=(file,))


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


def test_the_list_is_filtered_by_words():
    rows = json.loads(CliRunner().invoke(program, ["fetch", "--list", "--json", "sdsc", "2000"]).output)
    assert [row["key"] for row in rows] == ["sdsc-blue"]
    assert rows[0]["bytes"] is None
    every = json.loads(CliRunner().invoke(program, ["fetch", "--list", "--json"]).output)
    assert len(every) == len(public_traces())


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
