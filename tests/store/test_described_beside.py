"""A description of the system that lies beside a log under its name is taken, and nothing else is."""

import json
from pathlib import Path

import pytest

import gwa
from gwa.errors import DefinitionError
from gwa.store.system import described_beside
from tests.program import run

ROWS = (
    "\n".join(f"{n} {3600 * n} 5 3000 4 -1 -1 4 -1 -1 1 {n % 3 + 1} 1 1 1 1 -1 -1" for n in range(60)) + "\n"
)


@pytest.mark.parametrize("name", ["log.swf", "log.swf.gz", "log.today.swf"])
def test_the_description_has_the_name_of_the_log(name, tmp_path):
    (tmp_path / "log.toml").write_text("cpus = 64\n")
    assert described_beside(tmp_path / name) == (tmp_path / "log.toml", {"cpus": 64})
    assert described_beside(tmp_path / "other.swf") is None
    assert described_beside(Path()) is None


def test_what_says_nothing_of_a_system_is_something_else(tmp_path):
    (tmp_path / "log.toml").write_text('[project]\nname = "a package"\n')
    assert described_beside(tmp_path / "log.swf") is None
    (tmp_path / "log.toml").write_text("no TOML at all")
    assert described_beside(tmp_path / "log.swf") is None
    (tmp_path / "log.toml").write_text("cpus = -3\n")
    with pytest.raises(DefinitionError, match="cpus"):
        described_beside(tmp_path / "log.swf")


def test_it_is_taken_and_said_unless_another_is_given(tmp_path):
    log = tmp_path / "log.swf"
    log.write_text(ROWS)
    (tmp_path / "log.toml").write_text("cpus = 64\n")
    (tmp_path / "other.toml").write_text("cpus = 32\n")
    with gwa.open(log) as trace:
        assert trace.system.cpus == 64
    with gwa.open(log, system={"cpus": 16}) as trace:
        assert trace.system.cpus == 16

    words = ("facts", str(log), "--only", "trace.cpus")
    done = run(*words, cwd=tmp_path)
    assert json.loads(done.stdout)["trace.cpus"] == 64
    assert "log.toml" in done.stderr
    assert run(*words, "-q", cwd=tmp_path).stderr == ""
    given = run(*words, "--system", "other.toml", cwd=tmp_path)
    assert json.loads(given.stdout)["trace.cpus"] == 32
    assert "log.toml" not in given.stderr


def test_a_store_that_is_converted_has_it(tmp_path):
    log = tmp_path / "log.swf"
    log.write_text(ROWS)
    (tmp_path / "log.toml").write_text("cpus = 64\n")
    assert run("convert", "log.swf", "-o", "made.duckdb", cwd=tmp_path).returncode == 0
    with gwa.open(tmp_path / "made.duckdb") as trace:
        assert trace.system.cpus == 64


def test_the_sample_has_one(tmp_path):
    assert run("sample", "-o", "sample.sacct", "-q", cwd=tmp_path).returncode == 0
    found = described_beside(tmp_path / "sample.sacct")
    assert found
    assert (found[1]["cpus"], found[1]["gpus"]) == (512, 32)
