"""Dashboards: every query answers, and the model is one of Grafana's published kinds."""

import json
import re
import shutil
import subprocess
from collections import Counter
from itertools import combinations

import duckdb
import pytest
from click.testing import CliRunner
from prometheus_client.parser import text_string_to_metric_families

from gwa.analysis.build import facts
from gwa.analysis.grafana import PANELS, SOURCES, dashboard
from gwa.analysis.watched import watched
from gwa.cli import gwa as program
from gwa.formats.convert import convert
from gwa.report.prometheus import exposition
from gwa.store.store import Store

KINDS = sorted(SOURCES)


@pytest.fixture(scope="module")
def log(tmp_path_factory, slurm_sample):
    """Return the sample as a store and as Parquet."""
    folder = tmp_path_factory.mktemp("watched")
    for name in ("sample.duckdb", "sample.parquet"):
        convert([slurm_sample], folder / name)
    return folder


@pytest.fixture(scope="module")
def samples(log):
    """Return the lines of the exposition of the sample."""
    with Store.open(log / "sample.duckdb") as store:
        wanted = [fact for part in ("trace", "utilization", "jobs.wait") for fact in facts(store, part)]
        return exposition(wanted, "sample", watched(store))


def queries(kind):
    """Return the queries of a dashboard, as they stand in it, for all traces and a year."""
    model = json.loads(dashboard(kind))
    key = "expr" if kind == "prometheus" else "rawSql"
    values = {"$trace": ".*", "${__from}": str(1_730_000_000_000), "${__to}": str(1_780_000_000_000)}
    found = {panel["title"]: panel["targets"][0][key] for panel in model["panels"]}
    return {title: _replaced(query, values) for title, query in found.items()}


def _replaced(text, values):
    for name, value in values.items():
        text = text.replace(name, value)
    assert "$" not in text
    return text


@pytest.mark.parametrize("kind", KINDS)
def test_panels_lie_side_by_side_and_have_a_query_each(kind):
    model = json.loads(dashboard(kind, "Ours"))
    assert model["title"] == "Ours"
    assert len(model["panels"]) == len(PANELS[kind]) == len(queries(kind))
    assert [panel["id"] for panel in model["panels"]] == list(range(1, len(model["panels"]) + 1))
    cells = [
        {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        for place in (panel["gridPos"] for panel in model["panels"])
    ]
    assert all(x < 24 for of in cells for x, _ in of)
    assert not any(one & other for one, other in combinations(cells, 2))


@pytest.mark.parametrize("kind", KINDS)
def test_the_model_is_one_of_grafanas_published_kinds(kind):
    models = pytest.importorskip(
        "grafana_foundation_sdk.models.dashboard", reason="Grafana's published kinds are not installed"
    )
    encoder = pytest.importorskip("grafana_foundation_sdk.cog.encoder")
    model = json.loads(dashboard(kind))
    read = json.loads(encoder.JSONEncoder().encode(models.Dashboard.from_json(model)))
    # What is no key of the kinds, or no value of one, would be gone.
    for key, value in model.items():
        if key not in {"panels", "templating"}:
            assert read[key] == value
    for panel, again in zip(model["panels"], read["panels"], strict=True):
        assert {key: again[key] for key in panel.keys() - {"targets", "fieldConfig"}} == {
            key: panel[key] for key in panel.keys() - {"targets", "fieldConfig"}
        }
        assert again["fieldConfig"]["defaults"]["unit"] == panel["fieldConfig"]["defaults"]["unit"]
        assert len(again["targets"]) == 1
    for variable, again in zip(model["templating"]["list"], read["templating"]["list"], strict=True):
        assert {key: again.get(key) for key in variable} == variable


def test_every_metric_of_a_query_is_printed(samples):
    known = {sample.name for family in text_string_to_metric_families(samples) for sample in family.samples}
    for query in [*queries("prometheus").values(), "label_values(gwa_trace_jobs, trace)"]:
        named = set(re.findall(r"gwa_\w+", query))
        assert named
        # Of the sample no size is recorded, so that there is no utilization.
        assert named - {"gwa_utilization_mean"} <= known


def test_every_query_of_prometheus_answers(samples, tmp_path):
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool of Prometheus is not installed")
    (tmp_path / "rules.yml").write_text("groups: []\n")
    lines = [line.rpartition(" ") for line in samples.splitlines() if not line.startswith("#")]
    # Each number grows a little each hour for two days, as nights add jobs.
    series = [
        {"series": name, "values": f"{float(value)}+{max(float(value), 1) / 100}x48"}
        for name, _, value in lines
    ]
    asked = [
        {
            "expr": f"count({query}) > bool 0",
            "eval_time": "47h",
            "exp_samples": [{"labels": "{}", "value": 1}],
        }
        for query in queries("prometheus").values()
    ]
    # JSON is YAML.
    (tmp_path / "test.yml").write_text(
        json.dumps(
            {
                "rule_files": ["rules.yml"],
                "evaluation_interval": "1h",
                "tests": [{"interval": "1h", "input_series": series, "promql_expr_test": asked}],
            }
        )
    )
    done = subprocess.run(
        [promtool, "test", "rules", "test.yml"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("view", ["sample.duckdb", "sample.parquet"])
def test_every_query_of_duckdb_answers_on_a_store_and_on_parquet(log, view):
    with duckdb.connect() as database:
        if view.endswith(".duckdb"):
            database.execute(f"attach '{log / view}' as store (read_only); use store")
        else:
            database.execute(f"create view jobs as from '{log / view}'")
        for title, query in queries("duckdb").items():
            rows = database.execute(query).fetchall()
            assert rows, title
            assert any(value is not None for value in rows[0]), title
        (jobs,) = database.execute(queries("duckdb")["Jobs"]).fetchone() or (0,)
        days = database.execute(queries("duckdb")["Jobs submitted in a day"]).fetchall()
    assert sum(count for _, count in days) == jobs > 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_writes_it_and_writes_over_no_other_file(kind, tmp_path):
    out = tmp_path / "d.json"
    words = ["dashboard", "grafana", "--source", kind, "-o", str(out)]
    assert CliRunner().invoke(program, words).exit_code == 0
    assert out.read_text() == dashboard(kind)
    assert CliRunner().invoke(program, words).exit_code == 0
    out.write_text("mine")
    assert CliRunner().invoke(program, words).exit_code == 1
    assert out.read_text() == "mine"


def test_titles_are_distinct():
    for kind in KINDS:
        assert set(Counter(panel.title for panel in PANELS[kind]).values()) == {1}
