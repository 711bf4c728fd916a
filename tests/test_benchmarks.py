"""The benchmarks: the data they make, and the table they print. Nothing is timed here."""

import gzip
import py_compile
import shlex
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gwa
from benchmarks import programs
from benchmarks.__main__ import arguments
from benchmarks.data import MAKERS, jobs, made
from benchmarks.growth import exponent
from benchmarks.growth import measured as growth
from benchmarks.make_big import main as make_big
from benchmarks.measure import Cost, Failed, Measured, run, run_cold
from benchmarks.page import BEGIN, END, HEAD, PAGE, as_data, machine, ratios, replaced, troubles
from benchmarks.scale import measured as measured_tree
from benchmarks.scale import resident
from benchmarks.scale import table as scale_table
from benchmarks.session import FILES, PROGRAMS, Outcome, Session
from benchmarks.works import BY_HAND, LOGS, WORKS, Kind, Target

ROWS = 300
HAND = [sys.executable, str(PROGRAMS), "by_hand"]


def measured(*, alone):
    """Return costs as if we were four times as fast as what stands beside us, in half the memory."""
    return Measured((Cost(1.0, 1.5, 100.0),) * 3, () if alone else (Cost(4.0, 4.0, 200.0),) * 3)


def outcomes():
    page = Path(__file__)
    return [
        Outcome(
            work,
            costs := measured(alone=not work.beside),
            tuple(target.value(costs, 1.0, page) for target in work.targets),
        )
        for work in WORKS
    ]


@pytest.mark.parametrize("kind", ["swf", "gwf"])
def test_made_logs_are_read_without_a_reject(tmp_path, kind):
    path = made(tmp_path, kind, ROWS)

    with gwa.open(path) as trace:
        account = trace.account
        lines = len(path.read_text().splitlines())
        assert (account.jobs, account.rejected, account.folded, account.rows) == (ROWS, 0, 0, lines)
        assert trace.sql("select count(*) as n from repairs").n[0] == 0
        assert trace.system.cpus == 1024


@pytest.mark.parametrize("kind", [*LOGS, "slurm_json"])
def test_made_accounting_logs_are_read_without_a_reject(tmp_path, kind):
    with gwa.open(made(tmp_path, kind, ROWS)) as trace:
        account = trace.account
        account.check()
        assert account.rows - account.comments == ROWS
        assert account.rejected == 0


def test_both_logs_hold_the_same_jobs(tmp_path):
    query = "select submit_time, wait_time, run_time, n_procs, status from jobs order by job_id"
    with gwa.open(made(tmp_path, "swf", ROWS)) as one, gwa.open(made(tmp_path, "gwf", ROWS)) as other:
        assert one.sql(query).equals(other.sql(query))


def test_made_data_are_always_the_same_and_made_once(tmp_path):
    for kind in MAKERS:
        first, second = (made(tmp_path / folder, kind, 20) for folder in ("a", "b"))
        stamp = first.stat().st_mtime_ns

        assert first.read_bytes() == second.read_bytes()
        assert made(tmp_path / "a", kind, 20).stat().st_mtime_ns == stamp


def test_a_longer_log_begins_like_a_shorter_one():
    short, long = next(jobs(50)), next(jobs(80))

    assert all((short[name] == long[name][:50]).all() for name in short)


def test_the_targets_are_those_of_the_design():
    asked = {
        ("help", "≤ 0.3 s"),
        *((name, "≤ 1 × its CPU time") for name in ("swf", "swf-1-thread", "swf-2-threads", "gwf")),
        *((name, "≤ 1.5 × its CPU time") for name in ("slurm", "slurm-1-thread", "slurm-2-threads")),
        ("pbs", "≤ 1.9 × its CPU time"),
        ("slurm_json", "≤ 1.5 × its CPU time"),
        *((name, "≤ 2 × its CPU time") for name in ("sge", "google", "lsf", "condor", "usagerecord")),
        ("slurm-parquet", "≤ 2 × its CPU time"),
        ("slurm-slurm2sql", "≥ 7 × as fast"),
        ("load", "≥ 2 × as fast"),
        ("load", "≤ 0.33 × its memory"),
        ("facts", "≤ 1.5 CPU s"),
        ("facts-big", "≤ 15 s"),
        ("facts-big", "≤ 1500 MB of memory"),
        ("html", "≤ 3 CPU s"),
        ("html-swf", "≤ 8 s"),
        ("html-swf", "≤ 2 MB a page"),
        ("pdf", "≤ 6 s more"),
        ("compare", "≤ 2.4 × its CPU time"),
        ("compare-archive", "≤ 1.5 × its CPU time"),
        ("site", "≤ 2 s"),
        ("easy", "≤ 50 s per million rows"),
        ("simulate", "≤ 10 s per million rows"),
        ("fit-seconds-scipy", "≥ 20 × as fast"),
        ("fit-seconds-fitter", "≥ 20 × as fast"),
    }

    assert asked <= {(work.name, str(target)) for work in WORKS for target in work.targets}


def test_the_page_has_a_row_for_each_work_that_takes_no_minutes():
    text = PAGE.read_text()
    (table,) = (part for part in text.split(BEGIN)[1:] if END in part)
    rows = [row.split(" | ") for row in table.splitlines()]
    found = {(row[0].strip("| "), row[4]) for row in rows if len(row) > 5}

    assert {(work.title, work.beside.title if work.beside else "") for work in WORKS if not work.big} <= found


def test_the_table_takes_the_place_of_the_one_before():
    shown = ratios(outcomes()).splitlines()
    beside = [row for row, work in zip(shown[2:], WORKS, strict=True) if work.beside]

    assert len(shown) == 2 + len(WORKS)
    assert all("| 0.38 | 0.25 |" in row for row in beside)
    assert all("| 1.50 (1.50–1.50) | 1.00 (1.00–1.00) | 100 |" in row for row in shown[2:])
    assert replaced(f"a\n{BEGIN}\nold\n{END}\nz\n", "new\n", "1 \\1") == (
        f"a\n{BEGIN}\n1 \\1\n\nnew\n{END}\nz\n"
    )
    with pytest.raises(ValueError, match="expected"):
        replaced("no marks", "", "")


def test_the_page_has_a_place_for_the_table():
    assert "| new |" in replaced(PAGE.read_text(), "| new |\n", "head")


def test_what_a_cold_start_takes_is_told():
    (one,) = (outcome for outcome in outcomes() if outcome.work.name == "help")

    shown = ratios([replace(one, cold=Cost(3.0, 2.0, 50.0))]).splitlines()

    assert shown[-1] == "| gwa --help | 1.50 | 1.00 | 2.00 | 3.00 |"


def test_a_cold_start_finds_no_byte_code_and_no_compiled_functions(tmp_path):
    (tmp_path / "once.py").write_text("")
    py_compile.compile(str(tmp_path / "once.py"))
    script = (
        "import importlib.util, os, sys; kept = importlib.util.cache_from_source(os.path.abspath('once.py'));"
        " sys.exit(f'{os.path.exists(kept)} {kept.startswith(os.environ[\"NUMBA_CACHE_DIR\"])}')"
    )

    with pytest.raises(Failed, match=r"^False True$"):
        run_cold([sys.executable, "-c", script], tmp_path)


def test_a_target_is_judged_by_its_kind():
    costs = measured(alone=False)

    assert Target(Kind.FASTER, 4).is_reached(Target(Kind.FASTER, 4).value(costs, 1.0))
    assert not Target(Kind.FASTER, 5).is_reached(4.0)
    assert Target(Kind.MEMORY, 0.5).value(costs, 1.0) == 0.5
    assert Target(Kind.CPU, 0.5).value(costs, 1.0) == 0.375
    assert Target(Kind.PER_MILLION, 1).value(costs, 2.0) == 0.5
    assert Target(Kind.MORE, 15).value(costs, 1.0) == -3.0


def test_what_could_not_be_measured_is_said():
    missing = [Outcome(WORKS[0], None, (None,) * len(WORKS[0].targets), "failed: no such thing")]

    assert ratios(missing) == HEAD
    assert troubles(missing) == f"{WORKS[0].name}: failed: no such thing"
    assert as_data(missing)[0]["trouble"] == "failed: no such thing"


def test_every_command_is_one_that_there_is():
    for work in WORKS:
        lines = [work.ours, *work.prepare, work.beside.command if work.beside else ""]
        for first, *_ in filter(None, map(shlex.split, lines)):
            assert first in {"gwa", "nothing"} or callable(getattr(programs, first))
        assert set(work.needs) <= set(FILES)


def test_names_no_path_of_the_machine():
    root = str(Path(__file__).parent.parent)

    assert root not in machine(1, 1) + ratios(outcomes())


def test_a_program_that_fails_says_why_without_paths(tmp_path):
    with pytest.raises(Failed, match=r"^nothing in$"):
        run(["sh", "-c", f"echo nothing in {tmp_path} >&2; exit 3"], tmp_path)


def test_a_session_says_what_failed(tmp_path):
    """The store that the facts are of cannot be made from what is not a log."""
    (tmp_path / f"{ROWS * 10}.swf").write_text("no log\n")
    work = next(one for one in WORKS if one.name == "facts-big")

    outcome = Session(tmp_path, ROWS, 1).outcome(work)

    assert outcome.measured is None
    assert outcome.trouble.startswith("failed: gwa:")


def test_a_benchmark_tells_that_what_is_made_by_hand_is_another_table(tmp_path):
    works = {work.name: work for work in WORKS}
    assert all(works[name].check for name in BY_HAND)
    other = replace(
        works["gwf"],
        needs=("gwf", "few"),
        prepare=("gwa convert --quiet {few} -o {out}/other.duckdb",),
        check="by_hand {gwf} {out}/hand.duckdb {out}/other.duckdb",
    )

    assert Session(tmp_path, ROWS, 0).outcome(works["gwf"]).trouble == ""
    assert Session(tmp_path, ROWS, 0).outcome(other).trouble.endswith("rows differ")


def test_options_have_the_defaults_of_make_bench():
    asked = arguments([])

    assert (asked.rows, asked.runs, asked.big, asked.only) == (1_000_000, 3, False, None)


# Large logs.


@pytest.mark.parametrize(("kind", "rows"), [("google", 30_000), ("decade", 3_000)])
def test_large_logs_are_the_same_each_time_and_read_without_a_reject(tmp_path, kind, rows):
    for folder in ("a", "b"):
        make_big([kind, str(tmp_path / folder), "--rows", str(rows), "--parts", "3"])
    parts = sorted((tmp_path / "a").iterdir())
    assert len(parts) == 3
    assert [part.read_bytes() for part in parts] == [
        part.read_bytes() for part in sorted((tmp_path / "b").iterdir())
    ]
    with gwa.open(tmp_path / "a") as trace:
        account = trace.account
        assert (account.rows - account.comments, account.rejected) == (rows, 0)
        assert trace.sql("select count(*) as n from jobs where run_time is not null").n[0] > rows / 20


def test_large_parts_of_the_trace_are_in_order_and_have_its_shape(tmp_path):
    make_big(["google", str(tmp_path), "--rows", "60000", "--parts", "2"])
    lines = [
        line.split(",")
        for part in sorted(tmp_path.iterdir())
        for line in gzip.decompress(part.read_bytes()).decode().splitlines()
    ]
    times = [int(line[0]) for line in lines]
    assert times == sorted(times)
    assert {len(line) for line in lines} == {13}
    assert 0 < times.count(0) < len(times) / 2
    assert {line[5] for line in lines} == {"0", "1", "2", "3", "4", "5"}
    tasks = Counter(line[2] for line in lines if line[5] == "0" and line[0] != "0")
    alone = sum(count == 1 for count in tasks.values()) / len(tasks)
    assert alone > 0.5
    assert max(tasks.values()) > 1000


def test_memory_is_that_of_a_program_and_of_those_it_starts(tmp_path, monkeypatch):
    """The program lasts until its memory was looked at."""
    seen, looks = tmp_path / "seen", []

    def look(process):
        looks.append(resident(process))
        if looks[-1] > 60_000 or len(looks) > 100:
            seen.touch()
        return looks[-1]

    monkeypatch.setattr("benchmarks.scale.resident", look)
    child = (
        "import pathlib, time; block = bytearray(b'x') * 60_000_000\n"
        f"while not pathlib.Path({str(seen)!r}).exists(): time.sleep(0.01)"
    )
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    found = measured_tree([sys.executable, "-c", parent])
    assert 60 < found["peak_mb"] < 200
    assert found["cpu"] > 0


def test_measurements_of_scale_stand_in_order_in_a_table():
    one = {"kind": "google", "limits": "", "seconds": 1.0, "cpu": 2.0, "peak_mb": 3.0}
    stages = [one | {"rows": rows, "stage": stage} for rows in (2000, 1000) for stage in ("facts", "convert")]
    rows = [line.split(" | ")[:3] for line in scale_table(stages).splitlines()[2:]]
    assert [(row[0].strip("| "), row[2]) for row in rows] == [
        ("1,000", "convert"),
        ("1,000", "facts"),
        ("2,000", "convert"),
        ("2,000", "facts"),
    ]


# Growth.


@settings(max_examples=50)
@given(
    st.floats(0.5, 2.0),
    st.floats(1e-6, 10.0),
    st.lists(st.integers(10, 10**8), min_size=2, max_size=5, unique=True),
)
def test_the_exponent_of_a_power_law_is_found_again(power, factor, rows):
    assert exponent({number: factor * number**power for number in rows}) == pytest.approx(power, abs=1e-6)


def test_growth_is_measured_beyond_the_start(tmp_path, monkeypatch):
    """What takes five seconds whatever the rows does not grow."""
    sizes = []

    def cpu(words, folder):
        if words[0] == "convert":
            sizes.append(int(Path(words[1]).stem))
            (folder / "swf.duckdb").touch()
        return 5 + sizes[-1] / 100

    monkeypatch.setattr("benchmarks.growth.cpu", cpu)

    found = growth("swf", (110, 1010), tmp_path)

    assert found == {name: {110: pytest.approx(1.0), 1010: pytest.approx(10.0)} for name in ("swf", "facts")}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", BY_HAND)
def test_what_is_made_by_hand_is_the_same_table(kind, tmp_path):
    log, ours = made(tmp_path, kind, ROWS * 10), tmp_path / "ours.duckdb"
    gwa.convert([log], ours)
    run([*HAND, str(log), str(tmp_path / "hand.duckdb"), str(ours)], tmp_path)
    with duckdb.connect(str(ours)) as database:
        database.execute("create table other as select * replace (job_id + 1 as job_id) from jobs")
        database.execute("drop view if exists jobs")
        database.execute("alter table other rename to jobs")
    with pytest.raises(Failed, match="rows differ"):
        run([*HAND, str(log), str(tmp_path / "hand.duckdb"), str(ours)], tmp_path)
