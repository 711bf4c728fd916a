"""The recipe for every month: its script over a year of logs, and what it gives to cron and to systemd."""

import configparser
import re
import shlex
import subprocess

import pytest

from benchmarks.monthly import DOCUMENTATION, FAILURES, LONG_WAITS, NEW_USERS, routine, script, write_months

PAGE = DOCUMENTATION.read_text()


def test_the_script_is_one_that_a_shell_reads():
    done = subprocess.run(["/bin/sh", "-n"], input=script(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_cron_and_the_timer_run_the_script_on_the_first_of_each_month():
    (table,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    *_, line = table.splitlines()
    assert line.split() == ["30", "5", "1", "*", "*", "gwa", "/usr/local/bin/gwa-monthly"]

    units = []
    for text in re.findall(r"```ini\n(.*?)```", PAGE, re.DOTALL):
        unit = configparser.ConfigParser(interpolation=None)
        unit.optionxform = str  # type: ignore[assignment, method-assign]
        unit.read_string(text)
        units.append(unit)
    service, timer = units
    assert service["Service"]["ExecStart"] == "/usr/local/bin/gwa-monthly"
    assert service["Service"]["SuccessExitStatus"] == "3"
    assert timer["Timer"]["OnCalendar"] == "*-*-01 05:30"


def test_every_option_in_the_text_is_one_of_its_command():
    commands = set(re.findall(r"gwa (\w+)[^|`\n]*", script()))
    assert commands == {"convert", "check", "report", "facts"}
    words = shlex.split(script().replace("\\\n", " "), comments=True)
    assert words.count("--today") == 3


@pytest.fixture(scope="module")
def year(tmp_path_factory):
    """Return what became of the months of a year, by their number."""
    folder = tmp_path_factory.mktemp("year")
    logs = folder / "months"
    logs.mkdir()
    return dict(enumerate(routine(write_months(logs, 1500), folder), 1))


@pytest.mark.slow
def test_a_year_has_twelve_pages_and_the_statuses_that_were_asked_for(year):
    assert [month.page.is_file() for month in year.values()] == [True] * 12
    assert {number: month.status for number, month in year.items()} == {
        number: 3 if number == LONG_WAITS else 0 for number in range(1, 13)
    }


@pytest.mark.slow
def test_only_the_month_that_is_out_of_bounds_is_mailed(year):
    assert [number for number, month in year.items() if month.mail] == [LONG_WAITS]
    assert "gwa: wait.p95>43200 holds: it is" in year[LONG_WAITS].mail


@pytest.mark.slow
def test_only_the_first_month_is_compared_with_nothing(year):
    assert "2026-01 is compared with nothing: the trace has no jobs that fit: period 2025-12" in year[1].said
    assert not any(month.said for number, month in year.items() if number > 1)


@pytest.mark.slow
def test_pages_begin_with_what_was_planted_and_with_nothing_else(year):
    """Waits rise in one month and fall in the next, failures as well; other months differ by chance only."""
    levels = {
        number: sorted(set(re.findall(r"(Mean wait time|Share of failed jobs) per day (rises|falls)", page)))
        for number, month in year.items()
        if (page := month.page.read_text())
    }
    expected = {
        LONG_WAITS: [("Mean wait time", "rises")],
        LONG_WAITS + 1: [("Mean wait time", "falls")],
        FAILURES: [("Share of failed jobs", "rises")],
        FAILURES + 1: [("Share of failed jobs", "falls")],
    }
    assert {number: found for number, found in levels.items() if found} == expected


@pytest.mark.slow
def test_a_new_user_is_named_in_the_month_in_which_he_is_new(year):
    changed = [
        n for n, month in year.items() if "newcomer" in section(month.page.read_text(), "users-changed")
    ]
    assert changed == [NEW_USERS]


def section(page, name):
    """Return a section of a page as text; none if the page has no such section."""
    found = re.search(rf'<section id="{name}".*?</section>', page, re.DOTALL)
    return found[0] if found else ""
