"""Deposits at Zenodo, against a stand-in of its documented API on this machine."""

import json
import socket
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import date
from threading import Thread

import pytest
from click.testing import CliRunner

from gwa.archive.catalogue import Catalogue, CatalogueChange, CatalogueEntry
from gwa.archive.published import PublishedTrace, read_published
from gwa.archive.zenodo import DESCRIPTIONS, LEDGER, Repository, deposit
from gwa.cli.site import command
from gwa.errors import ArgumentError, DepositError
from tests.archive.zenodo_stand_in import TOKEN, stand_in

ENTRY = CatalogueEntry(
    id="heron",
    title="Heron",
    system="A <small> cluster.",
    provider="Institute of Invented Measurements",
    licence="CC-BY-4.0",
    citation="Heron (2020).",
    changes=(CatalogueChange(date(2024, 5, 6), "Times."),),
)
JOBS = b"PAR1 jobs PAR1"


@pytest.fixture
def zenodo():
    with stand_in() as server:
        yield server


@pytest.fixture
def catalogue(tmp_path):
    (tmp_path / "site").mkdir()
    return Catalogue(tmp_path / "site", "Archive", "", "https://archive.example/", entries=(ENTRY,))


@pytest.fixture
def folder(tmp_path):
    """Return the folder of the trace in the site."""
    place = tmp_path / "public" / "traces" / "heron"
    place.mkdir(parents=True)
    for name in (*DESCRIPTIONS, "heron.bib"):
        (place / name).write_text(name)
    (place / "heron.parquet").write_bytes(JOBS)
    return place


def published(version="1.0.0", **difference):
    edition = {"version": version} | ({"difference": difference} if difference else {})
    about = {
        "title": "Heron",
        "name": "heron",
        "downloads": [{"file": "heron.parquet"}],
        "editions": [edition],
    }
    return PublishedTrace(ENTRY, about)


def deposited(zenodo, catalogue, folder, trace=None, *, publish=False):
    return deposit(catalogue, trace or published(), folder, Repository(zenodo.url, TOKEN), publish=publish)


def test_a_draft_holds_all_files_and_is_not_published(zenodo, catalogue, folder):
    done = deposited(zenodo, catalogue, folder)
    ((number, draft),) = zenodo.depositions.items()

    assert (done.doi, done.is_published) == (f"10.5072/zenodo.{number}", False)
    assert not draft["submitted"]
    assert zenodo.content[number]["heron.parquet"] == JOBS
    assert set(zenodo.content[number]) == set(done.sent) == {*DESCRIPTIONS, "heron.parquet", "heron.bib"}
    assert not [path for _, path in zenodo.requests if "publish" in path]
    assert draft["metadata"]["title"] == "Heron"
    assert draft["metadata"]["license"] == "cc-by-4.0"
    assert draft["metadata"]["publication_date"] == "2024-05-06"
    assert draft["metadata"]["description"].startswith("<p>A &lt;small&gt; cluster.</p>")
    assert draft["metadata"]["related_identifiers"][0]["identifier"].endswith("/traces/heron/index.html")


def test_a_deposit_goes_the_whole_way_and_a_second_one_changes_nothing(zenodo, catalogue, folder):
    deposited(zenodo, catalogue, folder)
    done = deposited(zenodo, catalogue, folder, publish=True)

    assert done.is_published
    assert done.sent == []
    assert done.page.startswith(f"{zenodo.url}records/")
    before = len(zenodo.requests)
    again = deposited(zenodo, catalogue, folder, publish=True)
    assert (again.doi, again.is_published, again.sent) == (done.doi, True, ())
    assert [method for method, _ in zenodo.requests[before:]] == ["GET"]
    assert len(zenodo.depositions) == 1


def test_another_edition_becomes_a_version_that_says_what_changed(zenodo, catalogue, folder):
    deposited(zenodo, catalogue, folder, publish=True)
    (folder / "heron.parquet").rename(folder / "renamed.parquet")
    trace = published("1.1.0", added=3)
    trace = replace(trace, about={**trace.about, "downloads": [{"file": "renamed.parquet"}]})
    done = deposited(zenodo, catalogue, folder, trace)
    first, second = zenodo.depositions.values()

    assert done.sent == ["renamed.parquet"]
    assert not done.is_published
    assert "heron.parquet" not in zenodo.content[second["id"]]
    assert "heron.parquet" in zenodo.content[first["id"]]
    assert second["conceptrecid"] == first["conceptrecid"]
    assert second["metadata"]["version"] == "1.1.0"
    assert "3 jobs added" in second["metadata"]["description"]
    assert deposited(zenodo, catalogue, folder, trace, publish=True).is_published
    assert len(zenodo.depositions) == 2


@pytest.mark.parametrize("does_first", [False, True])
def test_a_deposit_that_breaks_at_any_request_goes_on(zenodo, catalogue, folder, does_first):
    """Each of its requests fails once, before the server did what was asked or after; then it is repeated."""
    zenodo.does_first = does_first
    failures = []
    for version in ("1.0.0", "1.1.0"):
        done = None
        step = 0
        while done is None:
            zenodo.breaks_at = len(zenodo.requests) + step
            try:
                done = deposited(zenodo, catalogue, folder, published(version), publish=True)
            except DepositError as error:
                failures.append(str(error))
                step += 1
        zenodo.breaks_at = None
        assert deposited(zenodo, catalogue, folder, published(version), publish=True).is_published

    assert len(failures) > 10
    assert all("the same command continues it" in line for line in failures)
    assert [one["metadata"]["version"] for one in zenodo.depositions.values()] == ["1.0.0", "1.1.0"]
    assert all(one["submitted"] for one in zenodo.depositions.values())
    assert all(content["heron.parquet"] == JOBS for content in zenodo.content.values())


def test_a_file_that_changed_on_the_way_is_sent_again(zenodo, catalogue, folder):
    deposited(zenodo, catalogue, folder)
    (number,) = zenodo.content
    zenodo.content[number]["heron.parquet"] = b"damaged"
    done = deposited(zenodo, catalogue, folder)

    assert done.sent == ["heron.parquet"]
    assert zenodo.content[number]["heron.parquet"] == JOBS


@pytest.mark.parametrize(
    ("code", "answer", "said"),
    [
        (401, {"message": "who?"}, "the token is not valid there"),
        (403, {}, "deposit:write"),
        (429, {}, "wait a minute"),
        (500, {}, "try later"),
        (
            400,
            {"message": "Validation error", "errors": [{"field": "license", "message": "no"}]},
            "license: no",
        ),
    ],
)
def test_a_refusal_is_told_without_the_token(zenodo, catalogue, folder, code, answer, said):
    zenodo.refusal = (code, answer | {"echo": TOKEN})

    with pytest.raises(DepositError) as got:
        deposited(zenodo, catalogue, folder)
    assert said in str(got.value)
    assert TOKEN not in str(got.value)
    assert "\n" not in str(got.value)


GOOD = {"id": 1, "submitted": False, "metadata": {}, "links": {"bucket": "BASE/api/files/x"}}
ANSWERS: list[object] = [
    None, [], {}, TOKEN, [TOKEN], {"id": TOKEN}, [[]], 7,
    GOOD | {"id": TOKEN},
    GOOD | {"links": {}},
    GOOD | {"links": {"bucket": f"https://elsewhere.example/{TOKEN}"}},
    GOOD | {"submitted": True, "links": {"latest_draft": f"https://elsewhere.example/?access_token={TOKEN}"}},
    GOOD | {"submitted": True, "links": {"latest_draft": [TOKEN]}},
    GOOD | {"links": {"bucket": f"http://[{TOKEN}"}},
    GOOD | {"metadata": [TOKEN]},
    GOOD | {"checksum": TOKEN},
]  # fmt: skip


@contextmanager
def answering(reply):
    """Serve *reply* to every request but that for a list, as bytes of HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        base = f"http://127.0.0.1:{listener.getsockname()[1]}/"

        def serve():
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection, suppress(OSError):
                        connection.settimeout(5)
                        asked = connection.recv(1 << 16)
                        is_list = asked.startswith(b"GET") and (
                            b"/files " in asked or b"status=draft" in asked
                        )
                        connection.sendall(http(b"[]") if is_list else reply.replace(b"BASE/", base.encode()))
                        connection.shutdown(socket.SHUT_WR)
                        while connection.recv(1 << 16):
                            pass

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield base
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def http(body, status="200 OK"):
    return f"HTTP/1.0 {status}\r\nConnection: close\r\n\r\n".encode() + body


REPLIES = {
    **{f"answer {place}": http(json.dumps(answer).encode()) for place, answer in enumerate(ANSWERS)},
    "no HTTP": f"{TOKEN} {TOKEN}\r\n".encode(),
    "nothing": b"",
    "cut": f"HTTP/1.0 400 {TOKEN}\r\nContent-Length: 999\r\n\r\n{TOKEN}".encode(),
    "echo": http(f"Authorization: Bearer {TOKEN}".encode()),
    "refusal": http(json.dumps({"message": f"Bearer {TOKEN}"}).encode(), f"400 {TOKEN}"),
}


@pytest.mark.parametrize("name", REPLIES)
def test_whatever_a_server_answers_is_told_in_a_line_without_the_token(name, catalogue, folder):
    with answering(REPLIES[name]) as url, pytest.raises(DepositError) as got:
        deposit(catalogue, published(), folder, Repository(url, TOKEN), publish=True)
    written = [path.read_text() for path in catalogue.folder.iterdir()]

    assert TOKEN not in str(got.value)
    assert "\n" not in str(got.value)
    assert not any(TOKEN in text for text in written)


def test_what_is_printed_of_a_deposition_has_no_token(zenodo, catalogue, folder, monkeypatch):
    put = Repository.put

    def echoing(self, address, content):
        answer = put(self, address, content)
        link = f"https://x.example/?token={TOKEN}"
        return {**answer, "doi": f"10.5072/{TOKEN}", "links": answer["links"] | {"record_html": link}}

    monkeypatch.setattr(Repository, "put", echoing)
    done = deposited(zenodo, catalogue, folder)
    assert (done.doi, done.page) == ("10.5072/…", "https://x.example/?token=…")


def test_the_token_goes_to_no_other_server(zenodo, catalogue, folder):
    with stand_in() as other:
        zenodo.foreign_bucket = f"{other.url}api/files/bucket-1"
        with pytest.raises(DepositError, match="which gets no token"):
            deposited(zenodo, catalogue, folder)
        zenodo.redirect = other.url
        with pytest.raises(DepositError, match="says 302"):
            deposited(zenodo, catalogue, folder)
        assert other.requests == []


def test_the_token_is_sent_in_the_clear_to_this_machine_only():
    with pytest.raises(ArgumentError, match="expected an address of https"):
        Repository("http://zenodo.example/", TOKEN)


@pytest.mark.parametrize("server", ["http://[::1", "https://[", "ftp://zenodo.example/", "zenodo.org"])
def test_a_server_that_is_no_address_of_https_is_refused(server):
    with pytest.raises(ArgumentError, match="expected an address of https"):
        Repository(server, TOKEN)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"SERVER": 5}', '{"SERVER": {"heron": "x"}}', '{"SERVER": {"heron": [1]}}']
)
def test_a_damaged_ledger_is_told(zenodo, catalogue, folder, text):
    (catalogue.folder / LEDGER).write_text(text.replace("SERVER", zenodo.url))
    with pytest.raises(ArgumentError, match="is damaged, expected what gwa site deposit wrote there"):
        deposited(zenodo, catalogue, folder)
    assert zenodo.requests == []


@pytest.mark.parametrize("text", [b"{", b"[]", b"{}", b"\xff"])
def test_a_damaged_trace_is_told(folder, text):
    (folder / "trace.json").write_bytes(text)
    with pytest.raises(ArgumentError, match="is damaged, expected what gwa site build wrote there"):
        read_published(ENTRY, folder)


@pytest.mark.usefixtures("folder")
def test_a_file_that_holds_no_token_is_told(zenodo, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "archive.toml").write_text(CATALOGUE)
    (tmp_path / "token").write_bytes(b"\x89\xbd\xff\x00")
    words = ["deposit", str(tmp_path / "site"), str(tmp_path / "public"), "heron", "--server", zenodo.url]
    done = CliRunner().invoke(command, [*words, "--token-file", str(tmp_path / "token")])

    assert done.exit_code == 2
    assert "the token has other characters than letters and digits" in done.stderr


def test_commands_that_are_proposed_are_those_of_a_shell(tmp_path):
    site, public = tmp_path / "my site", tmp_path / "the public"
    site.mkdir()
    (site / "archive.toml").write_text(CATALOGUE)
    done = CliRunner().invoke(command, ["build", str(site), "-o", str(public)])

    assert done.exit_code == 0, done.output
    assert f"; gwa site console '{site}' fetches DuckDB" in done.stderr
    assert f"; gwa site fair '{public}' says more" in done.stderr


def test_open_data_need_a_licence_with_an_identifier(zenodo, catalogue, folder):
    trace = PublishedTrace(replace(ENTRY, licence="Ask the provider."), published().about)

    with pytest.raises(ArgumentError, match=r"'Ask the provider\.', expected an identifier of SPDX"):
        deposited(zenodo, catalogue, folder, trace)
    assert zenodo.requests == []


CATALOGUE = """
archive.title = "Archive"
[[trace]]
id = "heron"
title = "Heron"
system = "s"
provider = "p"
licence = "CC0-1.0"
citation = "c"
preset = "lublin"
jobs = 5
"""


def test_the_command_takes_the_token_from_outside_and_prints_the_doi(zenodo, folder, tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / "archive.toml").write_text(CATALOGUE)
    (folder / "trace.json").write_text(json.dumps(published().about))
    words = ["deposit", str(site), str(tmp_path / "public"), "heron", "--server", zenodo.url]
    without = CliRunner(env={"ZENODO_TOKEN": ""}).invoke(command, words)
    done = CliRunner(env={"ZENODO_TOKEN": TOKEN}).invoke(command, words)
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    again = CliRunner().invoke(command, [*words, "--token-file", str(tmp_path / "token"), "--publish"])
    (number,) = zenodo.depositions

    assert without.exit_code == 2
    assert "ZENODO_TOKEN is not set" in without.output
    assert done.exit_code == 0, done.output
    assert done.stdout == f'doi = "10.5072/zenodo.{number}"\n'
    assert "is a draft" in done.stderr
    assert "is published" in again.stderr
    assert "0 files sent" in again.stderr
    assert TOKEN not in done.output + again.output + (site / LEDGER).read_text()
    assert json.loads((site / LEDGER).read_text()) == {zenodo.url: {"heron": number}}


def test_a_dry_run_shows_what_would_be_sent_without_a_token(folder, tmp_path, monkeypatch):
    site = tmp_path / "site"
    site.mkdir()
    (site / "archive.toml").write_text(CATALOGUE)
    (folder / "trace.json").write_text(json.dumps(published().about))
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("a connection was opened"))
    words = ["deposit", str(site), str(tmp_path / "public"), "heron", "--dry-run"]
    done = CliRunner(env={"ZENODO_TOKEN": ""}).invoke(command, words)

    assert done.exit_code == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["metadata"]["title"], said["metadata"]["license"]) == ("Heron", "cc0-1.0")
    assert said["files"] == {
        path.name: path.stat().st_size
        for path in folder.iterdir()
        if path.suffix != ".json" or path.name in DESCRIPTIONS
    }
    assert (
        f"nothing was sent: {len(said['files'])} files of {sum(said['files'].values())} bytes" in done.stderr
    )
    assert not (site / LEDGER).exists()
