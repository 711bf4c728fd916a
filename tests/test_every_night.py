"""The page on collecting every night: its scripts run with a stand-in for sacct, and its units are units."""

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from prometheus_client.parser import text_string_to_metric_families

from gwa.formats.collect.days import days_in
from gwa.store.store import Store
from tests import forked
from tests.conftest import HOME

PAGE = (HOME / "docs" / "how-to" / "every-night.md").read_text()
SCRIPTS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
UNITS = re.findall(r"```ini\n(.*?)```", PAGE, re.DOTALL)
STANDIN = HOME / "tests" / "formats" / "standin_sacct.py"


@pytest.fixture(scope="module")
def machine(tmp_path_factory, slurm_sample):
    """Return a folder as a cluster's machine has it: a sacct, gwa on the path, a system file; and its log."""
    folder = tmp_path_factory.mktemp("machine")
    home, programs = folder / "gwa", folder / "bin"
    home.mkdir()
    programs.mkdir()
    for name, text in (
        ("sacct", f"#!{sys.executable}\n{STANDIN.read_text()}"),
        ("gwa-nightly", SCRIPTS[1]),
    ):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    forked.write_command(programs / "gwa")
    (home / "cluster.toml").write_text(re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[0])
    header, *lines = slurm_sample.read_text().splitlines()
    submit = header.split("|").index("Submit")
    kept = [line for line in lines if "2025-02-10" <= line.split("|")[submit] < "2025-04-03"]
    (folder / "all.sacct").write_text("\n".join([header, *kept]) + "\n")
    return folder


def run(machine, day, *words, **more):
    """Run a command at half an hour past midnight of a day."""
    now = datetime.fromisoformat(f"{day}T00:30:00").replace(tzinfo=UTC).timestamp()
    environment = {
        **os.environ,
        "PATH": f"{machine / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(HOME),
        "GWA_HOME": str(machine / "gwa"),
        "STANDIN_LOG": str(machine / "all.sacct"),
        "STANDIN_ASKED": str(machine / "asked"),
        "STANDIN_NOW": str(now),
        **more,
    }
    with forked.telling():
        return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_first_night_and_those_after_it(machine):
    """They go on from one another, so that they are one test."""
    home = machine / "gwa"
    first, _ = SCRIPTS
    # The stand-in is years back: the days after the first nights have no jobs yet.
    first = first.replace('--since "$SINCE"', '--since "$SINCE" --until 2025-03-30')
    done = run(machine, "2025-03-31", "sh", "-e", "-c", first, SINCE="2025-02-20")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("TZ=UTC SLURM_TIME_FORMAT=%s SLURM_BITSTR_LEN=0 sacct ")
    assert {"dashboard.json", "jobs.json"} <= {path.name for path in home.iterdir()}
    assert json.loads((home / "dashboard.json").read_text())["panels"]

    # A night of which a day cannot be had, and the next one, on the first of a month.
    broken = json.dumps({"broken_at": ["2025-03-30T12:00:00"]})
    done = run(machine, "2025-03-31", "gwa-nightly", "2025-03-31", STANDIN_FAULTS=broken)
    assert done.returncode == 1
    assert "2025-03-30 could not be taken" in done.stderr
    done = run(machine, "2025-04-01", "gwa-nightly", "2025-04-01")
    assert done.returncode in {0, 3}, done.stderr
    with Store.open(home / "cluster.duckdb") as store:
        names = [name for (name,) in store.rows("select file from sources")]
        assert store.system.timezone.key == "Europe/Amsterdam"
    assert {day.isoformat() for day in days_in(names, "sacct")} >= {"2025-02-20", "2025-03-30", "2025-03-31"}
    assert (done.returncode == 3) == ("holds: it is" in done.stderr or "by more than chance" in done.stderr)
    assert {path.name for path in (home / "pages").glob("*.html")} == {
        "cluster-2025-02.html",
        "cluster-2025-03-against-2025-02.html",
        "cluster-by-month.html",
    }
    assert (home / "pages" / "check.txt").is_file()
    families = {family.name for family in text_string_to_metric_families((home / "gwa.prom").read_text())}
    assert {"gwa_job_wait_seconds", "gwa_ended_jobs", "gwa_trace_jobs"} <= families
    # And it may be run again.
    assert run(machine, "2025-04-01", "gwa-nightly", "2025-04-01").returncode == done.returncode
    assert not list(home.glob("*.collected"))


def test_the_script_is_one_that_a_shell_reads():
    assert len(SCRIPTS) == 2
    for text in SCRIPTS:
        done = subprocess.run(["/bin/sh", "-n"], input=text, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_cron_and_the_timer_run_the_script_every_night():
    (table,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    *_, line = table.splitlines()
    assert line.split() == ["30", "0", "*", "*", "*", "gwa", "/usr/local/bin/gwa-nightly"]
    service, timer = map(_unit, UNITS)
    assert service["Service"]["ExecStart"] == "/usr/local/bin/gwa-nightly"
    assert service["Service"]["SuccessExitStatus"] == "3"
    assert timer["Timer"]["OnCalendar"] == "*-*-* 00:30"


def _unit(text):
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(text)
    return unit


def test_systemd_takes_the_units(tmp_path):
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    program = tmp_path / "gwa-nightly"
    program.write_text(SCRIPTS[1])
    program.chmod(0o755)
    names = ("gwa-nightly.service", "gwa-nightly.timer")
    for name, text in zip(names, UNITS, strict=True):
        own = text.replace("/usr/local/bin/gwa-nightly", str(program)).replace("User=gwa", "User=root")
        (tmp_path / name).write_text(own)
    done = subprocess.run(
        [analyze, "verify", "--man=no", *(str(tmp_path / name) for name in names)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_commands_within_the_text_have_options_that_exist():
    for words in re.findall(r"`(gwa (?:collect|report)[^`]*)`", PAGE):
        command = words.split()[1]
        known = subprocess.run(
            [*forked.gwa(), command, "--help"],
            capture_output=True,
            text=True,
            check=True,
            cwd=HOME,
        ).stdout
        for option in re.findall(r"--[a-z]+", words):
            assert option in known
