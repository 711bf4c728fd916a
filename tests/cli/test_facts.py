"""``gwa facts`` in the formats that others read."""

import csv
import io
import json

import pytest
from click.testing import CliRunner
from prometheus_client.parser import text_string_to_metric_families

import gwa
from gwa.analysis.base import MadeWhen, analyses
from gwa.cli import gwa as program
from tests.cli.test_cli import SAMPLE
from tests.program import run

LONG = {"fit", "tail", "bounds", "synthetic", "model"}
"""How the ids of the facts begin that take long."""


def test_csv_has_the_values_of_json_with_units_and_labels(tmp_path):
    values = json.loads(run("facts", SAMPLE, "--only", "trace", cwd=tmp_path).stdout)
    printed = run("facts", SAMPLE, "--only", "trace", "--format", "csv", cwd=tmp_path).stdout
    rows = {row["id"]: row for row in csv.DictReader(io.StringIO(printed))}

    assert {name: json.loads(row["value"] or "null") for name, row in rows.items()} == values
    assert rows["trace.cpu_seconds"] == {
        "id": "trace.cpu_seconds", "value": "28734179", "unit": "cpu seconds", "label": "CPU time",
    }  # fmt: skip


def test_prometheus_reads_what_is_printed(tmp_path):
    printed = run("facts", SAMPLE, "--only", "trace", "--format", "prometheus", cwd=tmp_path).stdout
    (jobs,) = [one for one in text_string_to_metric_families(printed) if one.name == "gwa_trace_jobs"]

    assert jobs.samples[0].labels == {"trace": "tiny"}
    assert jobs.samples[0].value == 1200


ODD = ("\ufeffbom", "\u202ecod.exe", "line\u2028end", 'quo"te', "back\\slash", "zero\u200bwidth")


@pytest.mark.parametrize("to_file", [False, True])
def test_prometheus_reads_any_name_as_it_is(to_file, tmp_path):
    """Its format has escapes for three characters, and a terminal's would make it refuse all metrics."""
    rows = "".join(
        f"{job}|{name}|COMPLETED|{1_700_000_000 + job}|{1_700_000_100 + job}|{1_700_000_900 + job}|2\n"
        for job, name in enumerate(ODD)
    )
    (tmp_path / "odd.sacct").write_text(
        f"JobID|User|State|Submit|Start|End|AllocCPUS\n{rows}", encoding="utf-8"
    )
    words = ("facts", "odd.sacct", "--only", "users.by_jobs", "--format", "prometheus")
    done = run(*words, *(("-o", "odd.prom") if to_file else ()), cwd=tmp_path)
    printed = (tmp_path / "odd.prom").read_text(encoding="utf-8") if to_file else done.stdout
    (jobs,) = [one for one in text_string_to_metric_families(printed) if one.name == "gwa_users_by_jobs_jobs"]
    assert {sample.labels["id"] for sample in jobs.samples} == {*ODD}
    as_json = json.loads(run(*words[:-2], cwd=tmp_path).stdout)
    assert {user["id"] for user in as_json["users.by_jobs"]} == {*ODD}


def test_a_format_to_print_and_one_to_read_go_together(tmp_path):
    words = ("facts", SAMPLE, "--only", "trace.jobs", "--format", "swf", "--format", "csv")
    assert run(*words, cwd=tmp_path).stdout.splitlines()[1] == "trace.jobs,1200,count,Jobs"


@pytest.mark.parametrize("twice", [("csv", "json"), ("swf", "gwf")])
def test_two_formats_of_a_kind_are_a_wrong_usage(twice, tmp_path):
    words = [word for name in twice for word in ("--format", name)]
    done = run("facts", SAMPLE, *words, cwd=tmp_path)
    assert done.returncode == 2
    assert "expected one to print, and one to read" in done.stderr


@pytest.mark.parametrize("command", ["facts", "report"])
def test_a_schema_is_printed_of_no_trace(command, tmp_path):
    done = run(command, "--schema", cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


# What takes long.


def printed(*words):
    """Return the facts that are printed, in process."""
    done = CliRunner().invoke(program, ["facts", str(SAMPLE), *words, "--quiet"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture
def few_sections(monkeypatch):
    """Let there be few sections, so that all facts take no minute: of those that take long, two."""
    few = {"overview", "user-ranking", "fits", "wait-bounds"}
    chosen = tuple(one for one in analyses() if one.id in few)
    for module in ("build", "profile"):
        monkeypatch.setattr(f"gwa.analysis.{module}.analyses", lambda: chosen)


def families(facts):
    """Return how ids begin."""
    return {name.partition(".")[0] for name in facts}


@pytest.mark.usefixtures("few_sections")
def test_what_takes_long_is_left_out_unless_it_is_asked_for():
    usual, every, fits = printed(), printed("--every"), printed("--only", "fit")

    assert not families(usual) & LONG
    assert families(every) == families(usual) | {"fit", "tail", "bounds", "users"}
    assert "users.dominant" in every
    assert families(fits) == {"fit"}
    assert {"fit.runtime.lognormal.mu", "fit.user_rank.zipf.exponent"} < fits.keys()
    assert usual.items() | fits.items() < every.items()
    assert printed("--every", "--only", "trace") == printed("--only", "trace")


@pytest.mark.parametrize("prefix", ["fit.user_rank", "fit.run", "fi", "bounds", "tail.runtime"])
@pytest.mark.usefixtures("few_sections")
def test_a_prefix_chooses_what_takes_long(prefix):
    chosen = printed("--only", prefix)
    assert chosen
    assert all(name.startswith(prefix) for name in chosen)


@pytest.mark.usefixtures("few_sections")
def test_python_has_the_same_facts():
    with gwa.open(SAMPLE) as trace:
        for every in (False, True):
            words = ("--every",) if every else ()
            assert json.loads(json.dumps(trace.facts(every=every))) == printed(*words)


@pytest.mark.usefixtures("few_sections")
def test_costs_are_explained_of_the_sections_that_are_computed():
    def sections(*words):
        done = CliRunner().invoke(program, ["facts", str(SAMPLE), "--explain", *words])
        return {row["section"] for row in csv.DictReader(io.StringIO(done.stdout))}

    assert sections() == {"overview"}
    assert sections("--every") == {"overview", "user-ranking", "fits", "wait-bounds"}
    assert sections("--only", "fit.runtime") == {"fits"}


@pytest.mark.parametrize("one", analyses(), ids=lambda one: one.id)
def test_every_section_with_facts_is_computed_for_every_fact(one):
    is_core = one.made is MadeWhen.ALWAYS and one.view == "operator"
    assert one.has_facts("", every=True) == bool(one.facts)
    assert one.has_facts("") == (bool(one.facts) and is_core)
    assert not is_core or not {name.partition(".")[0] for name in one.facts} & LONG
    assert all(one.has_facts(name) for name in one.facts)
