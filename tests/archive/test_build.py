"""A whole site: built, built again, broken, killed, served and read."""

import errno
import hashlib
import http.client
import json
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import duckdb
import mlcroissant
import pandas as pd
import pytest
from click.testing import CliRunner

import gwa
from gwa.archive import make_site as making
from gwa.archive import site_state
from gwa.archive._worker import apart, attempt
from gwa.archive.build import BuildOptions, build
from gwa.archive.catalogue import read_catalogue
from gwa.archive.explore import DATED, QUESTIONS
from gwa.archive.fair import check
from gwa.archive.link_check import broken_links
from gwa.archive.pages import Site, pages
from gwa.archive.published import read_published
from gwa.archive.server import server
from gwa.archive.site_state import MARK, SETTLED, BuildOutcome, SiteState
from gwa.cli.site import command
from gwa.errors import ArgumentError, DefinitionError, OutputError
from gwa.formats.registry import all_formats
from tests.conftest import HOME
from tests.killing import run

HOSTILE = "<b onclick=alert(1)>&amp; \\N{x}"
URL = "https://archive.example/here/"
CATALOGUE = f"""
[archive]
title = 'Archive {HOSTILE}'
about = "Traces for tests."
url = "{URL}"

[[trace]]
id = "made"
title = 'Made {HOSTILE}'
system = '''System {HOSTILE}'''
provider = '{HOSTILE}'
licence = "CC0-1.0"
citation = '{HOSTILE}'
notes = '</script><script>alert(1)</script>'
year = 2009
changes = [{{ date = 2026-01-02, text = "first" }}]
preset = "lublin"
jobs = 60
seed = 3
formats = ["swf", "gwf"]
doi = "10.5281/zenodo.1234567"

[[trace]]
id = "named"
title = "Named"
system = "s"
provider = "p"
licence = "CC0-1.0"
citation = "c"
source = "tiny.swf"

[[trace]]
id = "broken"
title = "Broken"
system = "s"
provider = "p"
licence = "CC0-1.0"
citation = "c"
source = "broken.swf"
"""


def make_site(folder, sample):
    (folder / "pages").mkdir(parents=True)
    (folder / "archive.toml").write_text(CATALOGUE)
    (folder / "pages" / "10-about.md").write_text("# About\n\nSee [the ranking](ranking.html).\n")
    lines = (sample / "swf" / "tiny.swf").read_text().splitlines(keepends=True)
    (folder / "tiny.swf").write_text("".join(lines[:60]))
    (folder / "broken.swf").write_bytes(b"\x00\xff" * 500)
    return folder


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    home = tmp_path_factory.mktemp("archive")
    site = make_site(home / "site", HOME / "sample_traces")
    outcome = build(site, home / "public", BuildOptions(jobs=2))
    return home, outcome


@pytest.fixture
def fresh(built, tmp_path):
    """Return copies of the catalogue's folder and of the site, to be changed."""
    home, _ = built
    for name in ("site", "public"):
        shutil.copytree(home / name, tmp_path / name)
    return tmp_path


class Page(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def test_a_broken_trace_and_one_with_names_stop_no_other(built):
    home, outcome = built
    troubles = {line.partition(":")[0]: line for line in outcome.problems}
    pages = {name: (home / "public/traces" / name / "index.html").read_text() for name in ("named", "broken")}

    assert outcome.built == ("made",)
    assert set(troubles) == {"named", "broken"}
    assert "holds names" in troubles["named"]
    assert "--publish-names" in troubles["named"]
    assert "still holds names" in pages["named"]
    assert "Invented" not in pages["named"], "what was found is for the keeper alone"
    assert sorted(path.name for path in (home / "public/traces/named").iterdir()) == ["index.html"]
    assert "could not be read" in pages["broken"]


def test_of_an_answer_the_first_sentence_is_shown_and_the_rest_is_folded(built):
    """One of the five answers was three times as long as the others."""
    home, _ = built
    catalogue = read_catalogue(home / "site")
    trace = read_published(catalogue.entries[0], home / "public/traces/made")
    trace.about["answers"][0] |= {"text": "Of 8, 2.5 % were busy. U1 <i> had more. So had U2.", "section": ""}
    shown = dict(pages(Site(catalogue, [trace])))["traces/made/index.html"]
    answer = re.findall(r'<li class="answer[^"]*">.*?</li>', shown, re.DOTALL)[0]

    first, _, rest = answer.partition("<details>")
    assert "<bdi>Of 8, 2.5\N{NO-BREAK SPACE}% were busy.</bdi>" in first
    assert "<bdi>U1 &lt;i&gt; had more. So had U2.</bdi>" in rest
    assert 'href="report.html"' in first


def test_the_page_of_a_trace_says_first_what_became_of_the_hours(built):
    home, _ = built
    catalogue = read_catalogue(home / "site")
    trace = read_published(catalogue.entries[0], home / "public/traces/made")
    assert trace.about["lead"]["sentence"]
    shares = {"finished": 0.6, "limit": 0.1, "unused": 0.3}
    lead = trace.about["lead"] | {
        "sentence": "Of every 100 <b>, 5 % more.",
        "segments": [{"id": name, "share": share} for name, share in shares.items()],
    }
    trace = replace(trace, about={**trace.about, "lead": lead})
    shown = dict(pages(Site(catalogue, [trace])))

    for name in ("traces/made/index.html", "index.html"):
        assert "Of every 100 &lt;b&gt;, 5\N{NO-BREAK SPACE}% more." in shown[name]
        bar = shown[name].partition('<svg class="hours"')[2].partition("</svg>")[0]
        found = re.findall(r'class="of-(\w+)" x="([\d.]+)" width="([\d.]+)"', bar)
        assert [(part, float(x), float(width)) for part, x, width in found] == [
            ("finished", 0, 600), ("limit", 600, 100), ("unused", 700, 300),
        ]  # fmt: skip


def test_downloads_are_what_their_hashes_say_and_are_labelled(built):
    home, _ = built
    folder = home / "public/traces/made"
    said = json.loads((home / "public/catalog.json").read_text())["traces"][0]

    assert [one["format"] for one in said["downloads"]] == ["Parquet", "GWF", "SWF"]
    for one in said["downloads"]:
        path = home / "public" / one["file"]
        assert "synthetic" in path.name
        assert one["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert one["bytes"] == path.stat().st_size
        with gwa.open(path) as trace:
            assert len(trace) == 60
            header = dict(trace.header)
        assert header["Licence"] == "CC0-1.0"
        assert any(value.startswith("SYNTHETIC") for _, value in trace_header(path))
    assert {path.suffix for path in folder.glob("made-synthetic.*")} >= {".bib", ".ris"}


def trace_header(path):
    with gwa.open(path) as trace:
        return list(trace.header)


def test_the_page_of_formats_says_how_logs_are_exported(built):
    home, _ = built
    text = unescape((home / "public/formats.html").read_text())
    for one in all_formats():
        assert f"<pre><code>{one.export.strip()}</code></pre>" in text


def test_every_page_about_a_synthetic_trace_says_so(built):
    home, _ = built
    for name in ("index", "ranking", "compare", "traces/made/index", "traces/made/console"):
        text = (home / f"public/{name}.html").read_text()
        assert '<span class="label">synthetic</span>' in text
    assert "synthetic" in (home / "public/traces/made/report.html").read_text().partition("<main")[0].lower()


def test_pages_are_safe_small_and_fetch_nothing_from_elsewhere(built):
    home, _ = built
    pages = [path for path in (home / "public").rglob("*.html") if path.name != "report.html"]
    for path in pages:
        page = Page(path.read_text())
        policy = next(attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv"))
        assert policy.startswith("default-src 'none'")
        assert "unsafe-inline" not in policy
        assert "'unsafe-eval'" not in policy
        assert not [
            name for _, attrs in page.tags for name in attrs if name.startswith("on") or name == "style"
        ]
        inline = [attrs for tag, attrs in page.tags if tag == "script" and "src" not in attrs]
        assert all(attrs == {"type": "application/ld+json"} for attrs in inline)
        assert path.stat().st_size < (150_000 if path.name == "index.html" else 300_000)
    assert list(broken_links(home / "public", URL)) == []


def test_the_page_for_what_is_not_there_is_whole_under_any_address(built):
    home, _ = built
    page = Page((home / "public/404.html").read_text())
    links = [
        attrs.get("href") or attrs.get("src", "")
        for tag, attrs in page.tags
        if tag in {"a", "link", "script"}
    ]

    assert "/here/static/site.css" in links
    assert all(link.startswith(("/here/", "#", "data:")) for link in links)
    assert any("404.html: /here/" in line for line in broken_links(home / "public"))


def test_the_data_of_a_page_is_croissant(built):
    home, _ = built
    text = (home / "public/traces/made/index.html").read_text()
    (inside,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', text, re.DOTALL)
    said = json.loads(inside)

    assert said == json.loads((home / "public/traces/made/croissant.json").read_text())
    assert said["@type"] == "Dataset"
    assert said["description"].startswith("SYNTHETIC")
    assert said["distribution"][0]["contentUrl"] == (
        "https://archive.example/here/traces/made/made-synthetic.parquet"
    )
    assert len(said["recordSet"][0]["field"]) == 29


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_data_of_a_page_is_valid_croissant(built):
    home, _ = built
    found = mlcroissant.Dataset(str(home / "public/traces/made/croissant.json")).metadata

    assert str(found.ctx.conforms_to.value).endswith("/croissant/1.1")
    assert not found.ctx.issues.errors


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_jobs_of_a_trace_are_loaded_by_its_croissant(built):
    home, _ = built
    folder = home / "public/traces/made"
    here = {"made-synthetic.parquet": str(folder / "made-synthetic.parquet")}
    data = mlcroissant.Dataset(str(folder / "croissant.json"), mapping=here)
    records = list(data.records("jobs"))

    frame = pd.read_parquet(folder / "made-synthetic.parquet")
    assert len(records) == len(frame) > 0
    assert set(records[0]) == {f"jobs/{name}" for name in frame}
    for name in frame:
        found = [record[f"jobs/{name}"] for record in records]
        found = [None if pd.isna(one) else one.decode() if isinstance(one, bytes) else one for one in found]
        assert found == [None if pd.isna(one) else one for one in frame[name]]


def test_pandas_loads_the_file_that_croissant_names_from_its_address(built):
    home, _ = built
    said = json.loads((home / "public/traces/made/croissant.json").read_text())
    (file,) = [one for one in said["distribution"] if one["encodingFormat"] == "application/x-parquet"]
    with serving(home / "public") as (host, port):
        frame = pd.read_parquet(file["contentUrl"].replace(URL, f"http://{host}:{port}/"))
    with gwa.open(home / "public/traces/made/made-synthetic.gwf.gz") as trace:
        own = trace.sql("select run_time from jobs order by submit_time, job_id")

    assert list(frame) == [one["source"]["extract"]["column"] for one in said["recordSet"][0]["field"]]
    assert frame["run_time"].tolist() == own["run_time"].tolist()


def test_the_library_of_hugging_face_loads_a_trace(built, tmp_path):
    datasets = pytest.importorskip("datasets", reason="the library of Hugging Face, which gwa does not need")
    home, _ = built
    path = home / "public/traces/made/made-synthetic.parquet"
    rows = datasets.load_dataset(
        "parquet", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache")
    )
    frame = pd.read_parquet(path)

    assert rows.column_names == list(frame)
    assert rows["run_time"][:] == frame["run_time"].tolist()


def test_a_trace_is_described_for_repositories(built):
    home, _ = built
    folder = home / "public/traces/made"
    graph = json.loads((folder / "ro-crate-metadata.json").read_text())["@graph"]

    assert all((folder / part["@id"]).is_file() for part in graph[1]["hasPart"])
    assert json.loads((folder / "datacite.json").read_text())["publicationYear"] == "2026"
    assert json.loads((folder / "datacite.json").read_text())["doi"] == "10.5281/zenodo.1234567"
    assert "doi = {10.5281/zenodo.1234567}" in (folder / "made-synthetic.bib").read_text()
    assert "DO  - 10.5281/zenodo.1234567" in (folder / "made-synthetic.ris").read_text()
    assert 'href="datacite.json"' in (folder / "index.html").read_text()


def test_nothing_is_made_anew_where_nothing_changed(fresh):
    before = contents(fresh / "public")
    outcome = build(fresh / "site", fresh / "public")

    assert outcome.unchanged == ("made",)
    assert contents(fresh / "public") == before


def test_the_search_knows_the_sections_of_reports_and_stays_small(built):
    home, _ = built
    script = (home / "public/search-index.js").read_text()
    index = json.loads(script.partition("=")[2].rstrip(";\n"))
    ((folder, title, sections),) = index["reports"]
    report = (home / "public" / folder / "report.html").read_text()

    assert title.endswith("(synthetic)")
    assert all(f'id="{name}"' in report for name, _, _ in sections)
    assert {"utilization", "run-times"} <= {name for name, _, _ in sections}
    assert max(len(json.dumps(one)) for one in index["reports"]) < 12_000, "twenty take less than 300 kB"


def test_a_rebuild_without_changes_starts_no_process_and_reads_no_report(fresh, monkeypatch):
    (fresh / "site/archive.toml").write_text(CATALOGUE.partition('[[trace]]\nid = "named"')[0])
    build(fresh / "site", fresh / "public")
    read = []
    text_of = Path.read_text

    def noted(path, *arguments, **options):
        read.append(path)
        return text_of(path, *arguments, **options)

    monkeypatch.setattr(Path, "read_text", noted)
    monkeypatch.setattr("subprocess.Popen", None)
    outcome = build(fresh / "site", fresh / "public")

    assert outcome.unchanged == ("made",)
    assert not [path for path in read if path.name == "report.html"]


def test_what_was_damaged_is_made_anew_and_what_left_the_catalogue_goes(fresh):
    (fresh / "public/traces/made/made-synthetic.swf.gz").write_bytes(b"cut")
    text = CATALOGUE.partition('[[trace]]\nid = "named"')[0]
    (fresh / "site/archive.toml").write_text(text)
    outcome = build(fresh / "site", fresh / "public")

    assert outcome.built == ("made",)
    assert outcome.problems == ()
    assert [path.name for path in (fresh / "public/traces").iterdir()] == ["made"]


@pytest.mark.slow
def test_two_builds_give_the_same_bytes_but_for_the_cells(built, tmp_path):
    """DuckDB leaves bytes of memory in its files."""
    home, _ = built
    build(home / "site", tmp_path / "public")
    one, other = contents(home / "public"), contents(tmp_path / "public")

    assert one.keys() == other.keys()
    assert {path for path in one if one[path] != other[path]} <= {"explore.duckdb"}


def test_the_command_says_what_went_wrong_and_its_status_is_1(fresh):
    done = CliRunner().invoke(command, ["build", str(fresh / "site"), "-o", str(fresh / "public")])

    assert done.exit_code == 1
    assert "orig_site_id holds names: 'Institute of Invented Measurements'" in done.output
    assert re.search(r"; \d more", done.output), "the rest, such as texts of the header, is counted"
    assert "0 traces made, 1 unchanged" in done.output
    assert "without --url" not in done.output


def test_without_its_address_a_site_says_what_it_lacks(fresh):
    text = CATALOGUE.replace(f'url = "{URL}"', "")
    (fresh / "site/archive.toml").write_text(text)
    done = CliRunner().invoke(command, ["build", str(fresh / "site"), "-o", str(fresh / "public")])

    assert "without --url there is no feed" in done.output
    assert 'href="static/site.css"' in (fresh / "public/404.html").read_text()


def test_the_catalogue_is_not_replaced_by_its_site(fresh):
    with pytest.raises(DefinitionError, match="is the folder of the catalogue"):
        build(fresh / "site", fresh / "site")


def test_a_picture_may_not_be_a_link_to_elsewhere(fresh, tmp_path_factory):
    secret = tmp_path_factory.mktemp("elsewhere") / "secret"
    secret.write_text("x")
    (fresh / "site" / "pictures").mkdir()
    (fresh / "site" / "pictures" / "map.png").symlink_to(secret)
    before = contents(fresh / "public")

    with pytest.raises(DefinitionError, match=r"pictures/map.png leads out of"):
        build(fresh / "site", fresh / "public")
    assert contents(fresh / "public") == before


def test_pictures_come_with_the_site(fresh):
    (fresh / "site" / "pictures").mkdir()
    (fresh / "site" / "pictures" / "map.png").write_bytes(b"picture")
    (fresh / "site" / "pages" / "10-about.md").write_text("# About\n\n![A map](pictures/map.png)\n")
    outcome = build(fresh / "site", fresh / "public")

    assert outcome.unchanged == ("made",)
    assert not [line for line in outcome.problems if "map.png" in line]
    assert (fresh / "public" / "pictures" / "map.png").read_bytes() == b"picture"


@contextmanager
def serving(folder):
    with server(folder, 0) as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        try:
            yield found.server_address
        finally:
            found.shutdown()
            thread.join()


def ask(address, path, **headers):
    connection = http.client.HTTPConnection(*address)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), body


def test_ranges_are_served_and_nothing_outside(built):
    home, _ = built
    path = "/traces/made/made-synthetic.gwf.gz"
    data = (home / "public" / path[1:]).read_bytes()
    with serving(home / "public") as address:
        assert address[0] == "127.0.0.1"
        assert ask(address, path)[2] == data
        status, headers, body = ask(address, path, Range="bytes=10-19")
        assert (status, headers["Content-Range"], body) == (206, f"bytes 10-19/{len(data)}", data[10:20])
        assert ask(address, path, Range="bytes=-5")[2] == data[-5:]
        assert ask(address, path, Range="bytes=7-")[2] == data[7:]
        assert ask(address, path, Range=f"bytes={len(data)}-")[0] == 416
        assert ask(address, "/../site/archive.toml")[0] == 404
        assert ask(address, "/%2e%2e/site/archive.toml")[0] == 404


def test_without_duckdb_for_browsers_the_console_says_so(built):
    home, _ = built
    text = (home / "public/traces/made/console.html").read_text()

    assert "gwa sql made-synthetic.parquet" in text
    assert "console.js" not in text


KILLED = """
import sys
from pathlib import Path
from gwa.cli import main
from tests.killing import kill_at
number, site, out = sys.argv[1:]
sys.argv = ["gwa", "site", "build", site, "-o", out]
steps = kill_at(int(number), Path(out).parent)
try:
    main()
finally:
    print(steps())
"""


@pytest.mark.slow
def test_a_build_that_is_killed_leaves_the_old_site_whole(fresh):
    """At points from its begin to beyond its end; each build would make the trace anew."""
    out = fresh / "public"
    before = contents(out)
    text = (fresh / "site/archive.toml").read_text()
    (fresh / "site/archive.toml").write_text(text.replace("seed = 3", "seed = 9"))
    steps = int(run(KILLED, 0, fresh / "site", out).stdout)
    assert contents(out) != before
    before = contents(out)
    for turn in range(10):
        (fresh / "site/archive.toml").write_text(text.replace("seed = 3", f"seed = {turn + 10}"))
        done = run(KILLED, 1 + steps * turn // 8, fresh / "site", out, start_new_session=True)
        assert done.returncode == -signal.SIGKILL or turn >= 7
        after = contents(out)
        if after != before:  # it was done already
            said = json.loads((out / "catalog.json").read_text())["traces"][0]["downloads"]
            assert all(after[one["file"]] == one["sha256"] for one in said)
            assert list(broken_links(out, URL)) == []
            before = after
    (fresh / "site/archive.toml").write_text(text.replace("seed = 3", "seed = 20"))
    done = run(KILLED, 0, fresh / "site", out)

    assert b"1 traces made" in done.stderr
    assert sorted(path.name for path in fresh.iterdir()) == ["public", "site"], "what was left is swept away"


def _fill_the_disk():
    raise OSError(errno.ENOSPC, "No space left on device", "somewhere")


def _refuse_to_write():
    raise OutputError("out.duckdb: cannot be written: File too large")


@pytest.mark.parametrize("task", [_fill_the_disk, _refuse_to_write])
def test_a_site_that_cannot_be_written_is_not_taken_for_one_with_a_broken_trace(task):
    class Here:
        """A worker in this process."""

        ask = staticmethod(attempt)

    with pytest.raises(OutputError, match="the site cannot be written"):
        apart(Here(), task)  # type: ignore[arg-type]


def test_the_cells_of_all_traces_stand_in_one_file_whose_sums_are_those_of_each(built):
    home, _ = built
    facts = json.loads((home / "public/traces/made/trace.json").read_text())["facts"]
    with duckdb.connect(str(home / "public/explore.duckdb"), read_only=True) as cells:
        jobs = cells.execute("select trace, sum(jobs), sum(cpu_seconds) from jobs group by all").fetchall()
        traces = cells.execute("select trace, synthetic, jobs, processors from traces").fetchall()
        held = cells.execute("select sum(cpu_seconds) from usage where known").fetchall()
        asked = {title: query for title, query in QUESTIONS if DATED not in query}
        answers = {title: cells.execute(query).fetchall() for title, query in asked.items()}

    assert jobs == [("made", facts["trace.jobs"], facts["trace.cpu_seconds"])]
    assert traces == [("made", True, facts["trace.jobs"], facts["trace.cpus"])]
    assert held[0][0] == pytest.approx(facts["usage.cpu_seconds"])
    # The trace has neither waits nor users.
    assert [title for title, rows in answers.items() if rows] == [
        "Submissions by hour of the day",
        "Core-hours by outcome",
        "Utilization from day to day",
    ]


def test_a_trace_has_its_strip_its_cells_and_a_report_that_filters(built):
    folder = built[0] / "public/traces/made"
    about = json.loads((folder / "trace.json").read_text())
    page = (folder / "index.html").read_text()

    assert re.fullmatch("[a-t-]+", about["strip"])
    assert all((folder / name).is_file() for name in about["cube"]["files"])
    assert 'href="cube/jobs.parquet"' in page
    assert 'id="explorer"' in (folder / "report.html").read_text()


ONE_TRACE = CATALOGUE.partition('[[trace]]\nid = "named"')[0].replace('formats = ["swf", "gwf"]\n', "")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Build a site without problems, of a single trace."""
    home = tmp_path_factory.mktemp("whole")
    (home / "site").mkdir()
    (home / "site/archive.toml").write_text(ONE_TRACE)
    assert build(home / "site", home / "public").problems == ()
    return home


@pytest.fixture
def plain(whole, tmp_path):
    """Return copies of the catalogue's folder and of the site, to be changed."""
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    return tmp_path


def settled(out):
    """Let the build of the site be long after the last change of its inputs; return its mark."""
    mark = json.loads((out / MARK).read_text()) | {"began": time.time_ns() + 10 * SETTLED}
    (out / MARK).write_text(json.dumps(mark))
    return mark


def test_a_site_that_stands_is_left_alone_until_anything_changes(plain, monkeypatch):
    monkeypatch.setattr(site_state, "SETTLED", -(10**18))  # what changed just now counts as settled
    site, out = plain / "site", plain / "public"
    before = {path: path.stat().st_ino for path in out.rglob("*")}
    again = build(site, out)

    assert (again.built, again.unchanged, again.problems) == ((), ("made",), ())
    assert again.url == URL
    assert again.fair == "FAIR: all traces meet 15 of 15 principles"
    assert {path: path.stat().st_ino for path in out.rglob("*")} == before, "nothing is written"
    (site / "deposits.json").write_text("{}")
    assert {path: path.stat().st_ino for path in out.rglob("*")} == before
    (out / "ranking.html").write_text("cut")
    assert build(site, out).unchanged == ("made",)
    assert (out / "ranking.html").read_text() != "cut"
    (site / "pages").mkdir()
    (site / "pages/10-more.md").write_text("# More\n\nText.\n")
    assert build(site, out).unchanged == ("made",)
    assert (out / "more.html").is_file()
    assert build(site, out, BuildOptions(url="https://other.example/")).url == "https://other.example/"


def test_a_file_that_changed_within_the_moment_of_a_build_is_looked_at(plain):
    site, out = plain / "site", plain / "public"
    state = SiteState.of(site, out, BuildOptions())

    assert state.outcome(out) is None, "its time is that of the build"
    mark = settled(out)
    assert state.outcome(out) == BuildOutcome((), ("made",), (), URL, mark["outcome"]["fair"])


def test_what_is_missing_is_told_without_heavy_libraries(plain):
    """That nothing changed is found without the engine, figures or frames."""
    settled(plain / "public")
    program = (
        "import sys; from pathlib import Path; from gwa.archive.build import build;"
        "print(build(Path('site'), Path('public')).unchanged);"
        "print({'duckdb', 'pandas', 'numpy', 'matplotlib', 'scipy', 'jinja2'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=plain, capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines() == ["('made',)", "set()"]


def test_a_build_that_was_interrupted_goes_on_with_the_traces_that_it_made(plain, monkeypatch):
    site, out = plain / "site", plain / "public"

    def stop(*_):
        raise KeyboardInterrupt

    shutil.rmtree(out)
    monkeypatch.setattr(making, "write_cells", stop)
    with pytest.raises(KeyboardInterrupt):
        build(site, out)
    assert not out.exists()
    begun = plain / ".public.build/made/trace.json"
    made_at = begun.stat().st_ino
    monkeypatch.undo()
    outcome = build(site, out)

    assert outcome.built == ("made",)
    assert (out / "traces/made/trace.json").stat().st_ino == made_at, "it was not made again"
    assert sorted(path.name for path in plain.iterdir()) == ["public", "site"]


def test_another_edition_says_on_its_page_and_to_machines_what_changed(plain):
    site, out = plain / "site", plain / "public"
    (site / "archive.toml").write_text(ONE_TRACE.replace("jobs = 60", "jobs = 63"))
    build(site, out)
    folder = out / "traces/made"
    croissant = json.loads((folder / "croissant.json").read_text())
    crate = json.loads((folder / "ro-crate-metadata.json").read_text())["@graph"][1]
    datacite = json.loads((folder / "datacite.json").read_text())
    (news,) = croissant["releaseNotes"]

    assert news.startswith("Version 1.1.0: 3 jobs added")
    assert croissant["version"] == crate["version"] == datacite["version"] == "1.1.0"
    assert croissant["datePublished"] == crate["datePublished"] == "2026-01-02"
    assert crate["releaseNotes"] == [news]
    assert {"descriptionType": "TechnicalInfo", "description": news} in datacite["descriptions"]
    assert f"<li>{news}</li>" in (folder / "index.html").read_text()
    assert build(site, out).unchanged == ("made",)
    assert json.loads((folder / "croissant.json").read_text())["version"] == "1.1.0"


def test_parquet_is_the_one_format_unless_others_are_asked_for(plain):
    said = json.loads((plain / "public/catalog.json").read_text())["traces"][0]
    text = (plain / "public/traces/made/index.html").read_text()

    assert [one["format"] for one in said["downloads"]] == ["Parquet"]
    assert "gwa convert made-synthetic.parquet -o made-synthetic.swf.gz" in text


def test_what_a_catalogue_does_not_say_is_named_on_the_page_and_by_the_check(plain):
    text = ONE_TRACE.replace('changes = [{ date = 2026-01-02, text = "first" }]\n', "")
    text = text.replace("year = 2009\n", "").replace('doi = "10.5281/zenodo.1234567"\n', "")
    (plain / "site/archive.toml").write_text(text.replace('"CC0-1.0"', '"Ask."'))
    outcome = build(plain / "site", plain / "public")
    folder = plain / "public/traces/made"
    lacking = {one.principle: one.missing for one in check(plain / "public") if one.missing}

    assert {"datacite.json", "ro-crate-metadata.json"} <= {path.name for path in folder.iterdir()}
    assert "publicationYear" not in json.loads((folder / "datacite.json").read_text())
    assert (
        "These lack the date of publication (changes, or year), a DOI (doi)"
        in (folder / "index.html").read_text()
    )
    assert set(lacking) == {"F1", "F2", "A2", "R1.1", "R1.3"}
    assert lacking["F2"] == "datePublished in croissant.json"
    assert lacking["R1.3"] == "the year of publication for DataCite (changes, or year)"
    assert outcome.fair.startswith("FAIR: all traces meet 10 of 15 principles; not F1 a persistent")


def test_the_check_looks_at_what_stands_there(plain):
    folder = plain / "public/traces/made"
    assert {one.principle for one in check(plain / "public") if one.missing} == set()
    (folder / "made-synthetic.parquet").unlink()
    (folder / "made-synthetic.bib").write_text("")
    (folder / "ro-crate-metadata.json").write_text("{")
    lacking = {one.principle: one.missing for one in check(plain / "public") if one.missing}
    done = CliRunner().invoke(command, ["fair", str(plain / "public")])

    assert lacking == {
        "A1.2": "made-synthetic.parquet in the folder",
        "I1": "ro-crate-metadata.json",
        "R1.3": "RO-Crate 1.1, BibTeX",
    }
    assert done.exit_code == 0
    assert "made,I1,a formal language,ro-crate-metadata.json" in done.stdout
    assert "FAIR: all traces meet 12 of 15 principles" in done.stderr
    with pytest.raises(ArgumentError, match="is no site"):
        check(plain / "site")


def test_all_names_that_are_refused_are_told_of_all_traces(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    queues = [f"queue-{number:02}" for number in range(12)]
    count = len(queues)
    jobs = {
        "JobID": [*range(count)],
        "SubmitTime": [*range(count)],
        "RunTime": [60] * count,
        "NProc": [1] * count,
    }
    text = '[archive]\ntitle = "T"\n'
    for name in ("one", "two"):
        pd.DataFrame(jobs | {"QueueID": queues}).to_parquet(site / f"{name}.parquet")
        text += (
            f'[[trace]]\nid = "{name}"\ntitle = "{name}"\nsystem = "s"\nprovider = "p"\n'
            f'licence = "CC0-1.0"\ncitation = "c"\nsource = "{name}.parquet"\n'
        )
    (site / "archive.toml").write_text(text)
    outcome = build(site, tmp_path / "public")

    assert [line.partition(":")[0] for line in outcome.problems] == ["one", "two"]
    for line in outcome.problems:
        assert all(repr(name) in line for name in queues)
