"""Days that are collected from a stand-in for sacct, and logs that grow and rotate: one conversion's jobs."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gwa.formats.collect.slurm
from benchmarks.data import made
from gwa.errors import OutputError
from gwa.formats.collect import logs as of_logs
from gwa.formats.collect.days import Span, days_in, missing_days, source_name
from gwa.formats.collect.sacct import columns
from gwa.formats.convert import convert
from gwa.store.store import Store
from gwa.store.system import CLUSTER_KEY
from gwa.util.owned import OwnedFolder
from tests import forked
from tests.conftest import HOME
from tests.program import invoke as run

FIRST = date(2024, 3, 4)
STANDIN = Path(__file__).with_name("standin_sacct.py")


def moment(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.fixture(scope="session")
def year(tmp_path_factory, slurm_sample):
    """Return the sample when all is over, with requeued jobs and arrays that had to wait."""
    log = tmp_path_factory.mktemp("sacct") / "all.sacct"
    header, *lines = slurm_sample.read_text().splitlines()
    names = header.split("|")
    place = {name: names.index(name) for name in names}
    first = datetime.fromisoformat(lines[0].split("|")[place["Submit"]]).date() + timedelta(days=30)
    last = first + timedelta(days=14)
    kept = [header]
    is_kept, number = False, 0
    for line in lines:
        cells = line.split("|")
        if "." not in cells[0]:
            number += 1
            day = datetime.fromisoformat(cells[place["Submit"]]).date()
            is_kept = first <= day < last and (number % 3 == 0 or "_" in cells[0])
            if is_kept and number % 21 == 0 and cells[place["End"]] != "Unknown":
                kept += requeued(cells, place)
                continue
        if is_kept:
            kept.append(delayed(cells, place) if "_" in cells[0] else line)
    log.write_text("\n".join(kept) + "\n")
    return log, first, place


def delayed(cells, place):
    """Return the row of a task of an array, or of its step, that had to wait for ten hours more."""
    for name in ("Start", "End"):
        if cells[place[name]] != "Unknown":
            cells[place[name]] = (
                datetime.fromisoformat(cells[place[name]]) + timedelta(hours=10)
            ).isoformat()
    return "|".join(cells)


def requeued(cells, place):
    """Return the rows of a job that a failed node ended, and that ran again two hours later."""
    end = datetime.fromisoformat(cells[place["End"]])
    earlier, later = list(cells), list(cells)
    earlier[place["State"]] = "REQUEUED"
    for name, hours in (("Submit", 0), ("Eligible", 0), ("Start", 2), ("End", 8)):
        later[place[name]] = (end + timedelta(hours=hours)).isoformat()
    later[place["Elapsed"]] = "06:00:00"
    return ["|".join(earlier), "|".join(later)]


@pytest.fixture
def cluster(year, tmp_path, monkeypatch):
    """Return the stand-in for sacct of a cluster."""
    log, _, _ = year
    sacct = tmp_path / "sacct"
    sacct.write_text(f"#!{sys.executable}\n{STANDIN.read_text()}")
    sacct.chmod(0o755)
    monkeypatch.setenv("STANDIN_LOG", str(log))
    monkeypatch.setenv("STANDIN_ASKED", str(tmp_path / "asked"))
    monkeypatch.setenv("TZ", "UTC")

    return Cluster(sacct, tmp_path / "asked", monkeypatch)


@dataclass
class Cluster:
    """The stand-in in *path*, which writes what it was *asked* to a file."""

    path: Path
    asked: Path
    patch: pytest.MonkeyPatch

    def __call__(self, day, **faults):
        """Let it be half an hour past midnight of a day, and *faults* be wrong."""
        self.patch.setenv("STANDIN_NOW", str(moment(f"{day}T00:30:00")))
        self.patch.setenv("STANDIN_FAULTS", json.dumps(faults))


def collected(sacct, out, *words):
    return run("collect", "slurm", "-o", out, "--sacct", sacct, *words)


def jobs(path):
    with Store.open(path) as store:
        rows = store.rows("from jobs order by job_id")
        ids = store.rows("from source_ids order by all")
        return [tuple(map(repr, row)) for row in rows], ids


def whole(cluster, folder, until):
    """Return the jobs of one conversion of all that the stand-in has before the end of a day."""
    out = folder / "whole.sacct"
    words = [
        cluster.path, "-a", "-D", "-P", "-S", "1990-01-01T00:00:00",
        "-E", f"{until + timedelta(days=1)}T00:00:00", "-o", ",".join(columns()),
    ]  # fmt: skip
    environment = {**os.environ, "SLURM_TIME_FORMAT": "%s", "STANDIN_FAULTS": "{}"}
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    lines = [line for line in done.stdout.splitlines(keepends=True) if "_[" not in line.partition("|")[0]]
    out.write_text("".join(lines))
    (folder / "whole.duckdb").unlink(missing_ok=True)
    convert([out], folder / "whole.duckdb")
    return jobs(folder / "whole.duckdb")


# One conversion's jobs.


def test_nights_make_the_store_of_one_conversion(cluster, year, tmp_path):
    _, first, _ = year
    out, running = tmp_path / "nightly.duckdb", 0
    for night in range(1, 6):
        last = first + timedelta(days=night)
        cluster(last + timedelta(days=1))
        words = ["--since", first] if night == 1 else []
        done = collected(cluster.path, out, "--until", last, *words)
        assert done.exit_code == 0, done.stderr
        with Store.open(out) as store:
            running += store.row("select count(*) from jobs where state = 'RUNNING'")[0]
    assert running  # what is open is completed by a later night
    assert jobs(out) == whole(cluster, tmp_path, last)
    with Store.open(out) as store:
        assert store.row("select sum(n_requeues) from jobs")[0] > 0
        names = [name for (name,) in store.rows("select file from sources order by all")]
    assert days_in(names, "sacct") == {first + timedelta(days=day) for day in range(6)}


def test_a_backlog_is_one_source_and_the_store_of_one_conversion(cluster, year, tmp_path):
    _, first, _ = year
    last = first + timedelta(days=13)
    cluster(last + timedelta(days=1))
    # Before the log begins there is nothing, and that is no reason to ask again each night.
    done = collected(
        cluster.path, tmp_path / "all.duckdb", "--since", first - timedelta(days=40), "--until", last
    )
    assert done.exit_code == 0, done.stderr
    assert "54 days from" in done.stderr
    assert jobs(tmp_path / "all.duckdb") == whole(cluster, tmp_path, last)

    asked = len(cluster.asked.read_text().splitlines())
    assert collected(cluster.path, tmp_path / "all.duckdb", "--until", last).exit_code == 0
    assert len(cluster.asked.read_text().splitlines()) == asked + 1  # the last day, again


@pytest.mark.parametrize(
    "faults",
    [
        {"widest": 12 * 3600},
        {"torn_over": 6 * 3600},
        {"unknown": ["AdminComment", "Reservation"]},
        {"unknown": ["AdminComment"], "says": "{0} is deprecated, please use Comment"},
        {"slow_over": 13 * 3600},
    ],
    ids=str,
)
def test_limits_and_time_outs_are_asked_around(cluster, year, tmp_path, faults):
    _, first, _ = year
    last = first + timedelta(days=2)
    cluster(last + timedelta(days=1), **faults)
    out = tmp_path / "s.duckdb"
    done = collected(cluster.path, out, "--since", first, "--until", last, "--timeout", 5)
    assert done.exit_code == 0, done.stderr
    assert "sacct: " in done.stderr
    spans = [tuple(map(int, line.split())) for line in cluster.asked.read_text().splitlines()]
    if "unknown" in faults:
        with Store.open(out) as store:
            assert store.row("select count(*) from jobs where gpu_utilization > 0")[0] == 0
        assert "does not know the column AdminComment" in done.stderr
    else:
        assert jobs(out) == whole(cluster, tmp_path, last)
    # Only once is more asked for than can be answered.
    if "widest" in faults or "slow_over" in faults:
        assert sum(end - begin > 12 * 3600 for begin, end in spans) == 1


@pytest.mark.parametrize("status", [0, 1])
def test_a_day_that_cannot_be_had_is_told_and_asked_for_again(cluster, year, tmp_path, status):
    _, first, _ = year
    last = first + timedelta(days=4)
    out, bad = tmp_path / "s.duckdb", first + timedelta(days=2)
    cluster(last + timedelta(days=1), broken_at=[f"{bad}T13:00:00"], status=status)
    done = collected(cluster.path, out, "--since", first, "--until", last)
    assert done.exit_code == 1
    assert f"{bad} could not be taken: sacct: error: slurmdbd: Getting response" in done.stderr
    with Store.open(out) as store:
        names = [name for (name,) in store.rows("select file from sources")]
    assert days_in(names, "sacct") == {first + timedelta(days=day) for day in (0, 1, 3, 4)}

    cluster(last + timedelta(days=1))
    assert collected(cluster.path, out, "--until", last).exit_code == 0
    assert jobs(out) == whole(cluster, tmp_path, last)


def test_where_the_database_is_down_nothing_more_is_asked_for(cluster, year, tmp_path):
    _, first, _ = year
    last = first + timedelta(days=4)
    out = tmp_path / "s.duckdb"
    cluster(last + timedelta(days=1), down_from=3)
    done = collected(cluster.path, out, "--since", first, "--until", last)
    assert done.exit_code == 1
    assert "Connection refused" in done.stderr
    assert done.stderr.count("not asked for") == 2
    assert len(cluster.asked.read_text().splitlines()) == 3
    with Store.open(out) as store:
        assert len(days_in([name for (name,) in store.rows("select file from sources")], "sacct")) == 2


def test_a_collection_that_is_killed_goes_on_where_it_stopped(cluster, year, tmp_path, monkeypatch):
    _, first, _ = year
    last = first + timedelta(days=4)
    out = tmp_path / "s.duckdb"
    cluster(last + timedelta(days=1))

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(gwa.formats.collect.slurm, "append", killed)
        collected(cluster.path, out, "--since", first, "--until", last)
    assert not out.exists()
    asked = cluster.asked.read_text()
    assert len(asked.splitlines()) == 5
    done = collected(cluster.path, out, "--since", first, "--until", last)
    assert done.exit_code == 0, done.stderr
    assert cluster.asked.read_text() == asked
    assert jobs(out) == whole(cluster, tmp_path, last)
    assert not list(tmp_path.glob("*.collected"))


def test_a_collection_whose_process_is_killed_asks_for_no_day_twice(cluster, year, tmp_path):
    _, first, _ = year
    last = first + timedelta(days=4)
    out = tmp_path / "s.duckdb"
    words = ("collect", "slurm", "-o", out, "--sacct", cluster.path, "--since", first, "--until", last)
    cluster(last + timedelta(days=1), kills_at=3)
    gwa_itself = [*forked.gwa(), *map(str, words)]
    assert subprocess.run(gwa_itself, check=False, capture_output=True).returncode == -signal.SIGKILL
    assert not out.exists()
    cluster(last + timedelta(days=1))
    assert run(*words).exit_code == 0
    assert len(cluster.asked.read_text().splitlines()) == 3 + 3
    assert jobs(out) == whole(cluster, tmp_path, last)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".") or path.suffix == ".part"]


def test_two_collections_do_not_work_on_one_store(cluster, year, tmp_path):
    _, first, _ = year
    cluster(first + timedelta(days=2))
    out = tmp_path / "s.duckdb"
    owned = OwnedFolder.claim(tmp_path / "s.duckdb.collected")
    assert owned
    try:
        done = collected(cluster.path, out, "--since", first, "--until", first)
    finally:
        owned.release()
    assert isinstance(done.exception, OutputError)
    assert "another collection is at work on it" in str(done.exception)


def test_one_who_sees_only_his_own_jobs_is_told(cluster, year, tmp_path, monkeypatch):
    log, first, place = year
    user = log.read_text().splitlines()[1].split("|")[place["User"]]
    monkeypatch.setenv("STANDIN_USER", user)
    monkeypatch.setattr("getpass.getuser", lambda: user)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    cluster(first + timedelta(days=9), private=True)
    words = ("--since", first, "--until", first + timedelta(days=8))
    done = collected(cluster.path, tmp_path / "own.duckdb", *words)
    assert f"showed jobs of {user} only" in done.stderr
    cluster(first + timedelta(days=9))
    assert "showed" not in collected(cluster.path, tmp_path / "all.duckdb", *words).stderr


def test_waiting_tasks_of_arrays_are_counted_and_come_later(cluster, year, tmp_path):
    log, first, place = year
    waits = [
        (cells[place["Submit"]], cells[place["Start"]])
        for cells in (line.split("|") for line in log.read_text().splitlines()[1:])
        if "_" in cells[0] and "." not in cells[0] and cells[place["Start"]] != "Unknown"
    ]
    night = next(
        day
        for day in (first + timedelta(days=number) for number in range(2, 13))
        if any(submit < f"{day}T00:00:00" and start > f"{day}T00:30:00" for submit, start in waits)
    )
    out = tmp_path / "s.duckdb"
    cluster(night)
    done = collected(cluster.path, out, "--since", first, "--until", night - timedelta(days=1))
    assert "of waiting tasks of arrays left out: they come once they begin" in done.stderr
    cluster(night + timedelta(days=2))
    assert collected(cluster.path, out, "--until", night + timedelta(days=1)).exit_code == 0
    assert jobs(out) == whole(cluster, tmp_path, night + timedelta(days=1))


# What is asked for.


def test_the_columns_are_those_that_the_format_says():
    said = run("formats", "slurm").stdout
    assert f"--format={','.join(columns())} " in said


def test_print_says_the_commands_and_runs_none(cluster, year, tmp_path):
    _, first, _ = year
    out = tmp_path / "s.duckdb"
    done = run(
        "collect", "slurm", "-o", out, "--since", first, "--until", first + timedelta(days=1), "--print",
        "--cluster", "alpha", "-O", "zone=Europe/Berlin",
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert done.exit_code == 0
    assert len(lines) == 3
    assert lines[0].startswith("TZ=UTC SLURM_TIME_FORMAT=%s SLURM_BITSTR_LEN=0 sacct --allusers --duplicates")
    begin = datetime.combine(first, datetime.min.time(), ZoneInfo("Europe/Berlin")).astimezone(UTC)
    assert f"--starttime={begin:%Y-%m-%dT%H:%M:%S} " in lines[0]
    assert "--clusters=alpha" in lines[0]
    assert lines[2].startswith("gwa convert --append --format slurm sacct-alpha-")
    assert not out.exists()
    assert not cluster.asked.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--until", "2024-01-05"], "has no collected day yet, expected --since"),
        (["--since", "2024-01-05", "--until", "2024-01-04"], "is after 2024-01-04"),
        (["--since", "2024-01-05", "--until", "2999-01-04"], "is not over"),
        (["--since", "2024-01-05", "--logs", "."], "--logs is of pbs, lsf and sge"),
        (["--since", "2024-01-05", "--cluster", "alpha,beta"], "'alpha,beta' is no name of a cluster"),
        (["--since", "2024-01-05", "--cluster", "../a"], "'../a' is no name of a cluster"),
    ],
)
def test_nonsense_is_refused(words, said, cluster, tmp_path):
    cluster("2024-05-01")
    done = collected(cluster.path, tmp_path / "s.duckdb", *words)
    assert done.exit_code != 0
    assert said in done.stderr + str(done.exception)


def test_a_missing_sacct_is_named(tmp_path):
    done = run("collect", "slurm", "-o", tmp_path / "s.duckdb", "--since", "2024-01-01", "--sacct", "nosuch")
    assert done.exit_code == 2
    assert "there is no nosuch to run" in done.stderr


@given(
    st.sets(st.integers(0, 40)),
    st.integers(0, 30),
    st.integers(0, 12),
    st.integers(0, 3),
)
def test_missing_days_are_those_unknown_and_the_last_known(known, begin, length, again):
    days = {FIRST + timedelta(days=number) for number in known}
    since, until = FIRST + timedelta(days=begin), FIRST + timedelta(days=begin + length)
    asked = missing_days(days, since, until, again)
    inside = sorted(day for day in days if since <= day <= until)
    assert asked == sorted(set(asked))
    assert set(asked) - days == {since + timedelta(days=n) for n in range(length + 1)} - days
    assert sorted(set(asked) & days) == inside[max(0, len(inside) - again) :]


@given(st.integers(0, 400), st.integers(0, 400), st.sampled_from(["sacct", "sacct-a", "sacct-a-2025-10-01"]))
def test_a_name_says_its_days_and_its_kind(begin, length, kind):
    first, last = FIRST + timedelta(days=begin), FIRST + timedelta(days=begin + length)
    names = [source_name(kind, first, last), "other.sacct"]
    assert len(days_in(names, kind)) == length + 1
    for other in {"sacct", "sacct-a", "sacct-a-2025-10-01", "sacct-b"} - {kind}:
        assert not days_in(names, other)


@given(
    st.dates(date(2020, 1, 1), date(2030, 12, 31)),
    st.sampled_from(["UTC", "Europe/Berlin", "America/New_York"]),
)
def test_days_lie_side_by_side_and_halves_add_up(day, zone):
    span = Span.of_day(day, ZoneInfo(zone))
    assert span.end == Span.of_day(day + timedelta(days=1), ZoneInfo(zone)).begin
    assert span.length in {timedelta(hours=hours) for hours in (23, 24, 25)}
    spans = [span]
    while halves := spans[0].halves():
        assert (halves[0].begin, halves[0].end, halves[1].end) == (
            spans[0].begin,
            halves[1].begin,
            spans[0].end,
        )
        spans = list(halves)
    assert spans[0].length >= timedelta(minutes=5)


# Logs that grow.


@pytest.mark.parametrize(
    ("system", "name"), [("pbs", "20240101"), ("lsf", "lsb.acct"), ("sge", "accounting")]
)
def test_a_log_that_grows_and_rotates_is_read_from_where_it_ended(system, name, tmp_path):
    folder, out = tmp_path / "logs", tmp_path / "s.duckdb"
    folder.mkdir()
    lines = (
        (HOME / "sample_traces" / "lsf" / "lsb.acct").read_bytes()
        if system == "lsf"
        else made(tmp_path, system, 300).read_bytes()
    ).splitlines(keepends=True)
    log, third = folder / name, len(lines) // 3
    (tmp_path / "all.log").write_bytes(b"".join(lines))
    convert([tmp_path / "all.log"], tmp_path / "whole.duckdb", name=system)

    log.write_bytes(b"".join(lines[:third]) + lines[third][:5])  # a line is being written
    words = ("collect", system, "--logs", folder, "-o", out)
    assert "1 of 1 logs" in run(*words).stderr
    assert "0 of 1 logs" in run(*words).stderr
    log.write_bytes(b"".join(lines[: 2 * third]))
    assert run(*words).exit_code == 0
    # It is rotated and compressed, and the next one begins.
    rotated = folder / ("20231231.gz" if system == "pbs" else f"{name}.1.gz")
    rotated.write_bytes(gzip.compress(b"".join(lines[: 2 * third + 2])))
    log.write_bytes(b"".join(lines[2 * third + 2 :]))
    done = run(*words)
    assert done.exit_code == 0, (done.stderr, done.exception)
    assert "2 of 2 logs" in done.stderr
    assert "0 of 2 logs" in run(*words).stderr
    assert jobs(out) == jobs(tmp_path / "whole.duckdb")
    assert not list(tmp_path.glob("*.collected"))


def test_a_folder_without_logs_says_what_they_are_called(tmp_path):
    done = run("collect", "pbs", "--logs", tmp_path, "-o", tmp_path / "s.duckdb")
    assert "has no logs of pbs, expected files called 20251003" in str(done.exception)
    assert of_logs.PATTERNS.keys() == {"pbs", "lsf", "sge"}
    shutil.rmtree(tmp_path / "none", ignore_errors=True)


@pytest.mark.parametrize("option", ["--since", "--until"])
def test_options_of_slurm_are_not_of_logs(option, tmp_path):
    done = run("collect", "pbs", "--logs", tmp_path, "-o", tmp_path / "s.duckdb", option, "2024-01-01")
    assert done.exit_code == 2
    assert f"{option} is of slurm" in done.stderr


def test_the_cluster_that_is_asked_for_has_days_of_its_own(cluster, year, tmp_path):
    _, first, _ = year
    out = tmp_path / "s.duckdb"
    cluster(first + timedelta(days=2))
    named = ("--cluster", "synthetic-sample", "--until", first + timedelta(days=1), "--again", 0)
    assert collected(cluster.path, out, "--since", first, *named).exit_code == 0
    assert jobs(out) == whole(cluster, tmp_path, first + timedelta(days=1))
    with Store.open(out) as store:
        # The rows name their cluster themselves.
        assert not [key for key, _ in store.header if key == CLUSTER_KEY]
    asked = cluster.asked.read_text()
    assert collected(cluster.path, out, *named).exit_code == 0
    assert cluster.asked.read_text() == asked
    other = collected(cluster.path, out, "--until", first + timedelta(days=1))
    assert "has no collected day yet" in str(other.exception)


def test_logs_of_two_clusters_are_collected_into_one_store(tmp_path):
    log, out = made(tmp_path, "pbs", 120), tmp_path / "s.duckdb"
    for cluster in ("alpha", "beta"):
        (tmp_path / cluster).mkdir()
        shutil.copy(log, tmp_path / cluster / "20240101")
    (tmp_path / "beta" / "20240101").write_bytes(
        log.read_bytes()[: -len(log.read_bytes().splitlines()[-1]) - 1]
    )
    convert([log], tmp_path / "one.duckdb", name="pbs")
    for cluster in ("alpha", "beta", "alpha", "beta"):
        done = run("collect", "pbs", "--logs", tmp_path / cluster, "--cluster", cluster, "-o", out)
        assert done.exit_code == 0, done.stderr
    with Store.open(tmp_path / "one.duckdb") as store:
        (alone,) = store.row("select count(*) from jobs")
    with Store.open(out) as store:
        counts = dict(store.rows("select last_run_site_id, count(*) from jobs group by all"))
    assert counts.keys() == {"alpha", "beta"}
    assert counts["alpha"] == alone


@pytest.mark.parametrize(
    ("said", "column"),
    [
        ('sacct: error: Invalid field requested: "ReqGRES"', "ReqGRES"),
        ("sacct: fatal: ReqGRES is deprecated, please use ReqTRES", "ReqGRES"),
        ('sacct: fatal: Field "Reserved" is no longer supported', "Reserved"),
        ("sacct: fatal: Unknown field 'reserved'", "reserved"),
        ("sacct: error: Start time (2021-03-09T23:50:27) requested is after end time", None),
        ("sacct: error: Invalid user id: Account", None),
        ("sacct: error: Partition is deprecated_and_has_no_jobs", None),
        ("sacct: fatal: Comment is deprecated, please use ReqTRES", None),
    ],
)
def test_a_column_that_sacct_refuses_is_known_by_what_it_says(said, column):
    from gwa.formats.collect.sacct import Sacct

    asked = ("ReqGRES", "ReqTRES", "Reserved", "Start", "User", "Account", "Partition")
    assert Sacct("sacct", None, 1.0, len, asked)._unknown(said) == column  # noqa: SLF001
