# mypy: disable-error-code="union-attr,operator,arg-type,call-overload,index,misc"
"""Several clusters in one store: jobs of one number are two, parts add up, pages are of each."""

import json
from collections import Counter
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gwa
from benchmarks.data import made
from gwa.errors import ArgumentError, DefinitionError
from gwa.formats.append import append
from gwa.formats.convert import convert
from gwa.formats.open import open_trace
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from gwa.store.system import SITES_KEY, System, of_sites, read_system
from tests.conftest import HOME
from tests.program import invoke as run

SAMPLES = HOME / "sample_traces"

KINDS = ["pbs", "sge", "swf", "slurm"]
"""Of the scopes trace and row, by logs that name no cluster, or do."""


def of(path, cluster=None):
    """Return the jobs of a store, of one cluster, without the columns of their number and cluster."""
    with Store.open(path) as store:
        columns = "* exclude (job_id, last_run_site_id)"
        where = "true" if cluster is None else f"last_run_site_id = '{cluster}'"
        return Counter(
            tuple(map(repr, row)) for row in store.rows(f"select {columns} from jobs where {where}")
        )


def named(path):
    with Store.open(path) as store:
        return dict(store.rows("select last_run_site_id, count(*) from jobs group by all"))


@pytest.mark.parametrize("kind", ["pbs", "sge", "swf"])
def test_jobs_of_the_same_numbers_on_two_clusters_are_two(kind, tmp_path):
    log = made(tmp_path, kind, 240)
    other = tmp_path / f"other{log.suffix}"
    # Another log of the same jobs, which no one takes for the same file.
    other.write_bytes(log.read_bytes() + log.read_bytes().splitlines(keepends=True)[-1])
    convert([log], tmp_path / "log.duckdb", name=kind)
    convert([other], tmp_path / "other.duckdb", name=kind)
    both = tmp_path / "both.duckdb"
    append([log], both, name=kind, options=ReadOptions(cluster="alpha"))
    append([other], both, name=kind, options=ReadOptions(cluster="beta"))

    assert of(both, "alpha") == of(tmp_path / "log.duckdb")
    assert of(both, "beta") == of(tmp_path / "other.duckdb")
    assert named(both).keys() == {"alpha", "beta"}
    # Appended to again, all stays what it was.
    third = tmp_path / f"third{log.suffix}"
    third.write_bytes(other.read_bytes() + log.read_bytes().splitlines(keepends=True)[-1])
    append([third], both, name=kind)
    assert of(both, "alpha") == of(tmp_path / "log.duckdb")
    assert None in named(both)


def test_a_log_that_names_its_cluster_keeps_that(tmp_path):
    run("sample", "-o", tmp_path / "s.sacct")
    done = run("convert", tmp_path / "s.sacct", "-o", tmp_path / "s.duckdb", "--cluster", "stated")
    assert done.exit_code == 0
    assert set(named(tmp_path / "s.duckdb")) == {"synthetic-sample"}
    lines = (tmp_path / "s.sacct").read_text().splitlines()
    place = lines[0].split("|").index("Cluster")
    (tmp_path / "n.sacct").write_text(
        "\n".join("|".join(cell for at, cell in enumerate(line.split("|")) if at != place) for line in lines)
    )
    run("convert", tmp_path / "n.sacct", "-o", tmp_path / "n.duckdb", "--cluster", "stated")
    assert set(named(tmp_path / "n.duckdb")) == {"stated"}
    assert of(tmp_path / "n.duckdb").total() == of(tmp_path / "s.duckdb").total()


def test_what_is_converted_already_has_its_cluster(tmp_path):
    convert([SAMPLES / "swf" / "tiny.swf"], tmp_path / "t.duckdb")
    with pytest.raises(ArgumentError, match="a cluster is stated of logs"):
        convert([tmp_path / "t.duckdb"], tmp_path / "u.duckdb", options=ReadOptions(cluster="alpha"))
    with pytest.raises(ArgumentError, match="a cluster is stated of logs"):
        open_trace([Path("https://example.invalid/t.parquet")], options=ReadOptions(cluster="alpha"))
    assert not (tmp_path / "u.duckdb").exists()


@pytest.mark.parametrize("kind", ["pbs", "swf"])
def test_files_of_one_cluster_and_memory_for_parts_change_nothing(kind, tmp_path, monkeypatch):
    log = made(tmp_path, kind, 240)
    convert([log], tmp_path / "one.duckdb", name=kind)
    monkeypatch.setattr("gwa.ingest.mapping._part_count", lambda *_: 3)
    convert([log], tmp_path / "two.duckdb", name=kind, options=ReadOptions(cluster="o'neill"))
    assert of(tmp_path / "one.duckdb") == of(tmp_path / "two.duckdb")
    assert set(named(tmp_path / "two.duckdb")) == {"o'neill"}


# Filters, and what is stated of each cluster.


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Return a store of two clusters, of which the size of one is stated."""
    folder = tmp_path_factory.mktemp("both")
    rows, heads = [], "JobID|Cluster|User|Submit|Start|End|Elapsed|AllocCPUS|State"
    for number in range(400):
        cluster = ("alpha", "beta", "")[0 if number % 3 else (1 if number % 2 else 2)]
        begin = 1_735_700_000 + 3600 * number
        stamp = [f"{datetime.fromtimestamp(begin + more, UTC):%Y-%m-%dT%H:%M:%S}" for more in (0, 600, 8000)]
        rows.append(f"{number}|{cluster}|u{number % 5}|{'|'.join(stamp)}|02:03:20|{1 + number % 8}|COMPLETED")
    (folder / "both.sacct").write_text("\n".join([heads, *rows]) + "\n")
    (folder / "system.toml").write_text('zone = "UTC"\n[sites.alpha]\ncpus = 64\nnodes = 4\n')
    done = run(
        "convert", folder / "both.sacct", "-o", folder / "both.duckdb", "--system", folder / "system.toml"
    )
    assert done.exit_code == 0, done.stderr
    return folder


def test_parts_add_up_to_the_whole(both):
    with gwa.open(both / "both.duckdb") as trace:
        whole = trace.facts("trace.")
        parts = [trace.filter(site=site).facts("trace.") for site in ("alpha", "beta")]
        rest = trace.filter("last_run_site_id is null").facts("trace.")
        together = trace.filter(site=["alpha", "beta"]).facts("trace.")
        listed = trace.facts("sites.by_jobs")["sites.by_jobs"]
    for fact in ("trace.jobs", "trace.cpu_seconds"):
        assert sum(part[fact] for part in (*parts, rest)) == whole[fact]
        assert sum(part[fact] for part in parts) == together[fact]
    assert {next(iter(row.values())): row["jobs"] for row in listed} == {
        name: part["trace.jobs"] for name, part in zip(("alpha", "beta"), parts, strict=True)
    }


def test_the_size_of_a_cluster_is_what_is_stated_of_it(both):
    with gwa.open(both / "both.duckdb") as trace:
        alpha, beta = trace.filter(site="alpha"), trace.filter(site="beta")
        assert (alpha.store.system.cpus, alpha.store.system.cpus_inferred) == (64, False)
        assert alpha.store.system.nodes == 4
        assert beta.store.system.cpus_inferred
        assert beta.store.system.nodes is None
        assert trace.store.system.cpus_inferred
        later = alpha.filter(period="2025-01-05..2025-01-06")
        assert later.store.system.cpus == 64
        assert trace.filter(site=["alpha", "beta"]).store.system.cpus_inferred
        with pytest.raises(
            ArgumentError, match="no job has the site or cluster 'gamma', expected one of: alpha"
        ):
            trace.filter(site="gamma")


sizes = st.fixed_dictionaries(
    {}, optional={"cpus": st.integers(1, 9999), "nodes": st.integers(1, 99), "node_cores": st.integers(1, 4)}
)


@given(st.dictionaries(st.text(min_size=1, max_size=5), sizes, max_size=4), st.data())
def test_sizes_of_sites_are_read_written_and_added_up(stated, data):
    known = sorted(stated)
    names = data.draw(st.lists(st.sampled_from([*known, "none"]), min_size=1, max_size=3, unique=True))
    header = ((SITES_KEY, json.dumps(stated)),)
    found = of_sites(System(cpus=7, nodes=7, gpus=7), header, names)
    counts = [stated.get(name, {}).get("cpus") for name in names]
    assert found.cpus == (None if None in counts else sum(counts))
    cores = {stated.get(name, {}).get("node_cores") for name in names}
    assert found.node_cores == (cores.pop() if len(cores) == 1 else None)
    assert found.gpus is None


@pytest.mark.parametrize("text", ["", "5", "[]", '{"alpha": 5}', '{"alpha": {"cpus": "many"}}', "{"])
def test_a_header_of_another_program_states_no_sizes(text):
    assert of_sites(System(cpus=7), ((SITES_KEY, text),), ["alpha"]).cpus is None


@pytest.mark.parametrize(
    "text", ["sites = 5", "[sites.alpha]\ncpus = 0", "[sites.alpha]\nzone = 'UTC'", "[sites]\na=1"]
)
def test_nonsense_about_sites_is_refused_with_its_line(text, tmp_path):
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(DefinitionError, match=r"s\.toml:\d: sites"):
        read_system(tmp_path / "s.toml")


# Pages.


def test_a_page_of_all_leads_to_one_of_each(both, tmp_path):
    done = run(
        "report",
        both / "both.duckdb",
        "--by",
        "site",
        "-o",
        tmp_path,
        "--no-explore",
        "--html",
        "--json",
        "-q",
    )
    assert done.exit_code == 0, done.stderr
    pages = {path.name for path in tmp_path.glob("*.html")}
    assert pages == {"both.html", "both-site-alpha.html", "both-site-beta.html", "both-by-site.html"}
    index = json.loads((tmp_path / "both-by-site.json").read_text())
    facts = {fact["id"]: fact for fact in _facts(index)}
    for site in ("alpha", "beta"):
        of_site = {
            fact["id"]: fact for fact in _facts(json.loads((tmp_path / f"both-site-{site}.json").read_text()))
        }
        assert facts[f"site.{site}.trace.jobs"]["value"] == of_site["trace.jobs"]["value"] > 0
        assert facts[f"site.{site}.utilization.mean"]["value"] == of_site["utilization.mean"]["value"]
    text = unescape((tmp_path / "both-by-site.html").read_text())
    assert all(f'href="{page}"' in text for page in pages - {"both-by-site.html"})
    assert "jobs name no cluster" in text
    again = run(
        "report", both / "both.duckdb", "--site", "alpha", "-o", tmp_path / "one", "--no-explore", "-q"
    )
    assert again.stdout.strip().endswith("both-site-alpha.html")


def _facts(report):
    """Yield the facts of a report, wherever they stand."""
    if isinstance(report, dict):
        if {"id", "value", "label"} <= report.keys():
            yield report
        for part in report.values():
            yield from _facts(part)
    elif isinstance(report, list):
        for part in report:
            yield from _facts(part)


@pytest.mark.parametrize("words", [["--against", "previous"], ["--site", "alpha"], ["--sections", "waits"]])
def test_a_page_of_clusters_is_of_all_of_them(both, words, tmp_path):
    done = run("report", both / "both.duckdb", "--by", "site", "-o", tmp_path, *words)
    assert done.exit_code == 2
    assert "--by" in done.stderr
