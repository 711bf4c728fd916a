"""``gwa check --fail-on`` as cron runs it: exit statuses, and what is said of them."""

import json

import pytest

from tests.cli.test_cli import SAMPLE
from tests.program import run


@pytest.mark.parametrize(
    ("conditions", "status", "said"),
    [
        (("utilization.mean<0.9",), 3, "gwa: utilization.mean<0.9 holds: it is 0.5"),
        (("wait.p95 > 86400",), 3, "gwa: wait.p95 > 86400 holds: it is 94058.5"),
        (("wait.p95>1e9", "utilization.mean<0.1"), 0, ""),
        (("utilization.mean<0.1", "trace.jobs==1200"), 3, "gwa: trace.jobs==1200 holds: it is 1200"),
        (("gpu.hours>0",), 0, "gwa: gpu.hours>0: gpu.hours is unknown"),
        (
            ("utilisation.mean<1",),
            2,
            "there is no fact 'utilisation.mean', the nearest are: utilization.mean",
        ),
        (("quota.exceeded>0",), 2, "'quota.exceeded' is of what a file states, expected --quota FILE"),
        (("gpu.hour>0",), 2, "there is no fact 'gpu.hour', the nearest are: gpu.hours"),
        (("users.by_jobs>1",), 2, "users.by_jobs is a list"),
        (("nonsense",), 2, "'nonsense' is not a condition"),
    ],
)
def test_the_exit_status_says_whether_a_condition_holds(conditions, status, said, tmp_path):
    words = [word for condition in conditions for word in ("--fail-on", condition)]
    done = run("check", SAMPLE, *words, cwd=tmp_path)

    assert done.returncode == status
    assert said in done.stderr
    assert bool(done.stderr) == bool(said)


def test_the_unknown_fails_on_request(tmp_path):
    assert run("check", SAMPLE, "--fail-on", "gpu.hours>0", "--fail-on-unknown", cwd=tmp_path).returncode == 3


def test_a_quota_that_is_exceeded_fails(tmp_path):
    (tmp_path / "quota.toml").write_text("[quota.users]\nU1 = 0.001\n")
    done = run("check", SAMPLE, "--quota", "quota.toml", "--fail-on", "quota.exceeded>0", cwd=tmp_path)

    assert (done.returncode, done.stderr) == (3, "gwa: quota.exceeded>0 holds: it is 1\n")


def test_errors_of_quality_are_told_as_before(tmp_path):
    bad = tmp_path / "bad.swf"
    bad.write_text(SAMPLE.read_text() + "1 2 3\n")

    assert run("check", bad, "--fail-on", "utilization.mean<0.1", cwd=tmp_path).returncode == 1
    both = run("check", bad, "--fail-on", "trace.jobs>1", "--json", cwd=tmp_path)
    assert both.returncode == 3
    assert json.loads(both.stdout)[0]["kind"] == "error"


def test_a_condition_is_on_the_part_that_is_asked_for(tmp_path):
    words = ("--fail-on", "trace.jobs<1200", "--period", "this-week")
    done = run("check", SAMPLE, *words, cwd=tmp_path)
    assert done.returncode == 3
    assert "gwa: this-week is 2025-03-17..2025-03-23: the log knows the load until 2025-03-22" in done.stderr
