"""A report for cron: its exit status says that a month differs from the one before by more than chance."""

from datetime import UTC, datetime

import pytest

from tests.program import invoke as run

HOURS = 24 * 61


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Return logs of two months: in one of them the jobs of the second run four times as long."""
    folder = tmp_path_factory.mktemp("months")
    begin = datetime(2025, 1, 1, tzinfo=UTC).timestamp()
    for name, factor in (("same", 1), ("longer", 4)):
        rows = ["JobID|User|Submit|Start|End|Elapsed|AllocCPUS|State"]
        for number in range(HOURS):
            length = (600 + 37 * (number % 23)) * (factor if number > HOURS // 2 else 1)
            times = (begin + 3600 * number + more for more in (0, 60, 60 + length))
            stamps = "|".join(f"{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H:%M:%S}" for time in times)
            clock = f"{length // 3600:02}:{length // 60 % 60:02}:{length % 60:02}"
            rows.append(f"{number}|u{number % 7}|{stamps}|{clock}|{1 + number % 5}|COMPLETED")
        (folder / f"{name}.sacct").write_text("\n".join(rows) + "\n")
    return folder


@pytest.mark.parametrize(("name", "status"), [("same", 0), ("longer", 3)])
def test_the_status_says_whether_a_month_differs(logs, name, status, tmp_path):
    words = ("report", logs / f"{name}.sacct", "--period", "2025-02", "--against", "previous", "-o", tmp_path)
    done = run(*words, "--no-explore", "--alert", "-q")
    assert done.exit_code == status, done.stderr
    assert len(list(tmp_path.glob("*-against-*.html"))) == 1
    said = [line for line in done.stderr.splitlines() if line.startswith("gwa: ")]
    assert bool(said) == (status == 3)
    assert not said or any("2025-02" in line for line in said)
    assert run(*words, "--no-explore", "-q").exit_code == 0


def test_an_alert_is_of_a_difference(logs, tmp_path):
    done = run("report", logs / "same.sacct", "--alert", "-o", tmp_path)
    assert done.exit_code == 2
    assert "expected --against such as previous" in done.stderr


def test_without_a_month_before_there_is_no_alert(logs, tmp_path):
    words = ("--period", "2025-01", "--against", "previous", "--alert", "--no-explore", "-q")
    assert run("report", logs / "longer.sacct", *words, "-o", tmp_path).exit_code == 0
