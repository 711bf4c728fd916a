"""What a newcomer types: nothing at all, a name that is nearly right, several traces, a tiny one."""

import json
import re

import pytest
from click.testing import CliRunner

from gwa.cli import gwa
from tests.conftest import HOME

TINY = str(HOME / "sample_traces" / "swf" / "tiny.swf")
THREE_JOBS = str(HOME / "sample_traces" / "slurm" / "sacct-2024.txt")
FAST = ("--sections", "overview,waits")


def run(*words):
    """Return what a command printed, and its status."""
    return CliRunner().invoke(gwa, list(words))


def test_gwa_alone_greets_with_three_commands_that_exist():
    done = run()
    assert done.exit_code == 0
    named = re.findall(r"^  gwa (\w+)", done.output, re.MULTILINE)
    assert len(named) == 3
    assert all(run(name, "--help").exit_code == 0 for name in named)


def test_the_version_has_a_short_option():
    assert run("-V").output == run("--version").output != ""


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (("facts", TINY, "--only", "utilisation"), "utilization"),
        (("report", TINY, "--sections", "wait"), "waits"),
    ],
)
def test_a_name_that_is_nearly_right_is_a_usage_error_with_the_nearest(words, nearest):
    done = run(*words)
    assert done.exit_code == 2
    assert f"the nearest are: {nearest}" in done.stderr


def test_facts_that_this_trace_lacks_are_said_to_be_lacking():
    done = run("facts", TINY, "--only", "gpu")
    assert (done.exit_code, json.loads(done.stdout)) == (0, {})
    assert "this trace has no fact that begins with 'gpu'" in done.stderr


def test_several_traces_are_reported_at_once(tmp_path):
    done = run("report", TINY, THREE_JOBS, *FAST, "-o", str(tmp_path))
    assert done.exit_code == 0, done.output
    assert {path.name for path in tmp_path.glob("[!.]*")} == {
        "tiny-overview,waits.html", "sacct-2024-overview,waits.html",
    }  # fmt: skip


def sections(tmp_path, *words):
    """Return the sections of a report by their ids."""
    assert run("report", *words, "--json", "-o", str(tmp_path)).exit_code == 0
    (path,) = tmp_path.glob("*.json")
    return {section["id"]: section for section in json.loads(path.read_text())["sections"]}


def test_a_trace_of_few_jobs_is_a_table_of_jobs(tmp_path):
    made = sections(tmp_path, THREE_JOBS)
    assert list(made) == ["overview", "data-quality", "jobs"]
    (table,) = made["jobs"]["blocks"]
    assert len(table["rows"]) == 3
    assert [column["key"] for column in table["columns"]][:2] == ["job_id", "submit_time"]


def test_a_view_has_the_sections_of_its_readers(tmp_path):
    operator = sections(tmp_path / "a", THREE_JOBS, "--view", "operator")
    modeller = sections(tmp_path / "b", THREE_JOBS, "--view", "modeller")
    assert {"utilization", "waits", "outcomes"} <= operator.keys()
    assert {"fits", "burstiness"} <= modeller.keys()
    assert operator.keys() & modeller.keys() == {"overview"}
    assert {section["view"] for name, section in modeller.items() if name != "overview"} == {"modeller"}
