"""
Options × options: any valid combination of the options that choose a part ends in an answer or in a sentence.

Run ``python -m tests.test_options_together NUMBER SEED`` for a longer campaign; it prints what is no answer.
"""

import json
import random
import sys
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

import gwa as gwa_module
from benchmarks.spark import differences
from gwa.cli import _explain, gwa
from gwa.errors import GwaError
from tests.conftest import HOME
from tests.store.test_spark import on_spark

SAMPLES: Final = {
    "swf": ("swf/tiny.swf", ("2025-03-11", "2025-03-11..2025-03-14", "2025", "last-week", "this-month")),
    "slurm": ("slurm/sacct-2024.txt", ("2024", "2024-05-31..2024-06-01", "last-month", "this-week")),
    "pbs": ("pbs/20250310", ("2025", "2025-03-10", "last-week", "2025-03")),
    "gwf": ("gwf/three-trees.gwf", ("2006", "2006-01-01..2006-01-03", "2006-01-02", "this-week")),
    "condor": ("condor/history", ("2014", "2014-01", "last-month", "2010..2030")),
}
"""Samples of five kinds, and periods of which some are theirs."""

WHERE: Final = (
    "n_procs > 1",
    "run_time > (select median(run_time) from jobs)",
    "jobs.n_procs >= 1 and user_id is not null",
    "hour(to_timestamp(submit_time)) < 12",
    "exists (select 1 from jobs as other where other.user_id = jobs.user_id and other.job_id < jobs.job_id)",
    "status = 1 or status is null",
    "user_id in (select user_id from jobs group by user_id having count(*) > 5)",
    "n_procs = 1 -- a remark",
    "false",
    "nothing > 1",
    "wait_time / 0 > 1",
    "queue_id = 'x''y'",
    "1",
    "(select count(*) from jobs) > 10",
    "row_number() over () < 5",
    "run_time::varchar like '%5%'",
    "n_procs + cast('x' as integer) > 2",
    "count(*) > 1",
)
PERIODS: Final = (
    "2007",
    "2..3",
    "1",
    "last-month",
    "this-week",
    "9999",
    "2025-03-11T10:00",
    "yesterday",
    " 2024 ",
)
NAMES: Final = ("long", "short", "workq", "vanilla", "1", "G0", "physics", "nobody", "'; --", "café")
SECTIONS: Final = (
    "overview",
    "users",
    "waits",
    "utilization",
    "jobs",
    "week",
    "outcomes",
    "estimates",
    "data-quality",
    "groups",
    "capacity",
    "memory",
    "gpus",
    "changes",
    "stretches",
    "arrivals",
    "parallelism",
    "slowdown",
    "schedule",
)
AGAINST: Final = (
    "previous",
    "previous",
    "2025-03-10",
    "2006-01-01",
    "1",
    "2",
    "last-month",
    "2007..2008",
    "never",
)
PREFIXES: Final = ("trace", "jobs.wait", "utilization", "users", "window", "jobs.runtime", "wait", "quality")


def combination(chance: random.Random) -> list[str]:
    """Return the words of a command on a sample with a few of the options."""
    log, own = SAMPLES[chance.choice(list(SAMPLES))]
    words = []
    periods = (*own, *own, *PERIODS)
    for option, values, likely in (
        ("--where", WHERE, 0.5),
        ("--period", periods, 0.6),
        ("--queue", NAMES, 0.15),
        ("--user-group", NAMES, 0.1),
        ("--user", NAMES, 0.1),
        ("--project", NAMES, 0.1),
    ):
        if chance.random() < likely:
            words += [option, chance.choice(values)]
    if chance.random() < 0.1:
        words += ["--today", chance.choice(("2024-03-01", "2025-03-20", "soon"))]
    trace = str(HOME / "sample_traces" / log)
    if chance.random() < 0.4:
        return ["facts", trace, "-q", "--only", chance.choice(PREFIXES), *words]
    if chance.random() < 0.5:
        words += ["--against", chance.choice(AGAINST)]
    if chance.random() < 0.3:
        words += ["--view", chance.choice(("operator", "modeller", "all"))]
    sections = ",".join(chance.sample(SECTIONS, chance.randint(1, 3)))
    return ["report", trace, "-q", "--json", "--sections", sections, *words]


def fault(words: list[str], folder: Path) -> str:
    """Run a command, and return what is wrong with how it ends; empty after an answer or a sentence."""
    out = [] if words[0] == "facts" else ["-o", str(folder), "--force"]
    done = CliRunner().invoke(gwa, [*words, *out])
    if done.exception is None or isinstance(done.exception, SystemExit):
        said = done.stdout if done.exit_code == 0 else done.stderr
        return "" if said.strip() and done.exit_code in {0, 2} else f"status {done.exit_code}: {done.output}"
    said = _explain(done.exception) if isinstance(done.exception, Exception) else ""
    is_short = isinstance(done.exception, GwaError) and 10 < len(said) < 700 and "inside gwa" not in said
    return "" if is_short else f"{type(done.exception).__name__}: {done.exception}"


def campaign(number: int, seed: int, folder: Path) -> list[str]:
    """Return the commands of so many combinations that end in no answer, with what they say."""
    chance, wrong = random.Random(seed), []
    for _ in range(number):
        words = combination(chance)
        if said := fault(words, folder):
            wrong.append(f"gwa {' '.join(map(repr, words))}\n    {said[:600]}")
    return wrong


def test_ten_combinations_end_in_an_answer_or_a_sentence(tmp_path):
    assert campaign(10, 39, tmp_path) == []


@pytest.mark.slow
def test_two_hundred_combinations_end_in_an_answer_or_a_sentence(tmp_path):
    assert campaign(200, 1, tmp_path) == []


def answers(engine, folder, command, *words):
    """Return how a command ends on an *engine*, and the values that it writes or prints."""
    out = [] if command == "facts" else ["-o", str(folder / engine)]
    done = CliRunner().invoke(gwa, [command, *words, "--engine", engine, *out])
    written = [path.read_text() for path in sorted(folder.glob(f"{engine}/**/*.json"))]
    printed = [done.stdout] if command == "facts" and done.exit_code == 0 else []
    return done.exit_code, [json.loads(text) for text in (*written, *printed)]


@on_spark
def test_twenty_combinations_end_alike_on_spark(tmp_path):
    chance, stores = random.Random(2), {}
    for log, _ in SAMPLES.values():
        path = HOME / "sample_traces" / log
        stores[str(path)] = tmp_path / f"{Path(log).stem}.parquet"
        with gwa_module.open(path) as trace:
            trace.save(stores[str(path)])
    for number in range(20):
        command, log, *words = combination(chance)
        words = [command, str(stores[log]), *words]
        (ended, one), (other_ended, other) = (
            answers(engine, tmp_path / str(number), *words) for engine in ("duckdb", "spark")
        )
        assert ended == other_ended, words
        assert list(differences(one, other)) == [], words


@pytest.mark.parametrize(
    "option", ["--period", "--where", "--queue", "--user", "--project", "--user-group", "--today"]
)
@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_option_is_a_usage_error(option, value):
    done = CliRunner().invoke(gwa, ["facts", str(HOME / "sample_traces" / "swf" / "tiny.swf"), option, value])
    assert done.exit_code == 2
    assert "is empty, expected" in done.stderr


@pytest.mark.parametrize("option", ["--sections", "--against"])
def test_an_empty_option_of_a_report_is_a_usage_error(option, tmp_path):
    log = str(HOME / "sample_traces" / "swf" / "tiny.swf")
    done = CliRunner().invoke(gwa, ["report", log, "-o", str(tmp_path), option, ""])
    assert done.exit_code == 2
    assert "is empty, expected" in done.stderr


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as place:
        found = campaign(int(sys.argv[1]), int(sys.argv[2]), Path(place))
    sys.stdout.write("\n".join([*found, f"{len(found)} without an answer\n"]))
