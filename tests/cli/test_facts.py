"""``gwa facts`` in the formats that others read."""

import csv
import io
import json

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.cli.test_cli import SAMPLE, run


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
