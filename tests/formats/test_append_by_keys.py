"""What a night changes is all that an append changes, and the store is that of one conversion of all logs."""

import gzip
import random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from benchmarks.data import made
from gwa.errors import OutputError, StrictError, TraceError
from gwa.formats.append import append
from gwa.formats.append_months import append_by_month
from gwa.formats.convert import convert, convert_anonymized
from gwa.formats.measure import measure
from gwa.formats.open import open_trace
from gwa.ingest.checkpoint import owned_rows
from gwa.store.options import ReadOptions
from gwa.store.store import TABLES, Store
from tests.conftest import examples

COLUMNS = (
    "JobID|JobIDRaw|User|Submit|Start|End|Elapsed|State|AllocCPUS|ReqCPUS|AllocTRES|ExitCode|TRESUsageInTot"
    "|Cluster"
)
ROW = "{id}|{raw}|u{user}|{submit}|{start}|{end}|{elapsed}|{state}|{cpus}|{cpus}|{tres}|0:0|{usage}|c1\n"


def clock(second):
    """Return a local time as Slurm writes it."""
    day, second = divmod(second, 86_400)
    return f"2024-03-{1 + day:02}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


def slurm_rows(seed, jobs, *, has_tres=True, has_gpus=True):
    """
    Return rows of Slurm as `sacct` prints them, each with the second at which it does.

    Jobs are requeued, end days after a night in which they ran, are listed twice, and have steps alone.
    """
    chance, rows = random.Random(seed), []
    for number in range(1, jobs + 1):
        at = chance.randrange(20 * 86_400)
        job: dict[str, object] = {
            "id": number,
            "raw": number,
            "user": chance.randrange(5),
            "cpus": chance.choice([1, 2, 8]),
        }
        kind = chance.random()
        if kind < 0.15:
            job |= {"id": f"{number}_{chance.randrange(3)}", "raw": 10_000 + number}
        begun, ran = at + chance.randrange(3000), chance.choice([5, 600, 80_000, 300_000])
        gpus = ("gres/gpu=1", "gres/gpu:a100=1", "gres/gpu:mi210=1")[number % 3]
        tres = f"cpu={job['cpus']},{gpus}" if has_tres else ""
        full = job | {"submit": clock(at), "start": clock(begun), "elapsed": ran, "tres": tres, "usage": ""}
        if 0.2 < kind < 0.3:
            state = full | {"end": "Unknown", "state": "RUNNING", "elapsed": 60}
            rows.append((begun + 60, ROW.format(**state)))
        if 0.3 < kind < 0.4:
            requeued = full | {"end": clock(begun + 90), "state": "NODE_FAIL", "elapsed": 90}
            rows.append((begun + 90, ROW.format(**requeued)))
            full |= {"submit": clock(begun + 91), "start": clock(begun + 200)}
            begun += 200
        if 0.4 < kind < 0.45:
            full |= {"start": "Unknown", "state": "CANCELLED by 5", "end": clock(at + 50), "elapsed": 0}
        ended = full | {"end": clock(begun + ran), "state": "COMPLETED"}
        row = ROW.format(**(full if "state" in full else ended))
        if not 0.45 < kind < 0.5:
            rows.append((begun + ran, row))
        if kind > 0.9:
            rows.append((begun + ran + chance.randrange(5 * 86_400), row))
        if 0.5 < kind < 0.53:
            rows.append((begun, row.replace("2024-", "20x4-", 1)))
        if 0.45 < kind < 0.7:
            use = (
                f"cpu=1,mem=3M,gres/gpuutil={chance.randrange(2) * (number % 3 < 2)}"
                if has_gpus
                else "cpu=1,mem=3M"
            )
            step = ended | {"id": f"{job['id']}.0", "usage": use, "tres": ""}
            rows.append((begun + ran - chance.randrange(40_000), ROW.format(**step)))
    return sorted(rows)


def in_nights(rows, ends, folder):
    """Write the rows that were printed between *ends* as logs, and return these."""
    logs = []
    for number, (begin, end) in enumerate(zip([-1e9, *ends], [*ends, 1e9], strict=True)):
        text = "".join(row for second, row in rows if begin <= second < end)
        if text:
            logs.append(folder / f"night-{number:03}.sacct")
            logs[-1].write_text(f"{COLUMNS}\n{text}")
    return logs


def said(path):
    """Return all that a store says, but in which order it says it of what has none."""
    with Store.open(path) as store:
        tables = {name: store.rows(f"from {name} order by all") for name in TABLES if name != "provenance"}
        return tables | {"jobs": store.rows("from jobs"), "account": store.account}


def grown(logs, folder, **words):
    """Append *logs* one by one, and return what is in the store, and why it was made again."""
    reasons: list[str] = []
    for log in logs:
        append([log], folder / "store.duckdb", tell=reasons.append, **words)
    return said(folder / "store.duckdb"), reasons


def at_once(logs, folder, **words):
    """Convert *logs* in one go."""
    convert(logs, folder / "whole.duckdb", **words)
    return said(folder / "whole.duckdb")


def differing(one, other):
    """Return the first differences between what two stores say."""
    changed = [name for name in one if one[name] != other[name]]
    return {
        name: (one[name], other[name])
        if name == "account"
        else [[row for row in a[name] if row not in b[name]][:2] for a, b in ((one, other), (other, one))]
        for name in changed
    }


NIGHTS = st.lists(st.integers(4 * 86_400, 24 * 86_400), min_size=1, max_size=4).map(sorted)


def check_nights(seed, ends, folder):
    """Check that nights of a random log become what they are at once."""
    rows = slurm_rows(seed, 60, has_tres=seed % 3 > 0, has_gpus=seed % 4 > 0)
    logs = in_nights(rows, ends, folder)
    store, reasons = grown(logs, folder, name="slurm")
    assert not differing(store, at_once(logs, folder, name="slurm"))
    return reasons


@settings(max_examples=3, phases=[Phase.generate])
@given(seed=st.integers(0, 10_000), ends=NIGHTS)
def test_nights_of_slurm_become_what_they_are_at_once(seed, ends, tmp_path_factory):
    check_nights(seed, ends, tmp_path_factory.mktemp("nights"))


@pytest.mark.slow
@examples(60)
@given(seed=st.integers(0, 10_000), ends=NIGHTS)
def test_any_nights_of_slurm_become_what_they_are_at_once(seed, ends, tmp_path_factory):
    check_nights(seed, ends, tmp_path_factory.mktemp("nights"))


def test_a_repeated_append_changes_nothing(tmp_path):
    logs = in_nights(slurm_rows(3, 40), [9 * 86_400], tmp_path)
    grown(logs, tmp_path)
    before = (tmp_path / "store.duckdb").read_bytes()
    account, repeated = append(logs, tmp_path / "store.duckdb")
    assert repeated == logs
    assert account.adds_up
    assert (tmp_path / "store.duckdb").read_bytes() == before


HEADERS = {"slurm": 1, "sge": 4, "pbs": 0, "lsf": 0, "seg": 0, "gatekeeper": 0}
"""Formats of which a key joins the rows to jobs, and the lines with which each of their logs begins."""


def scattered(lines, header, seed, folder):
    """Write a log as five; some lines come late, or in two of them."""
    chance, body = random.Random(seed), lines[header:]
    parts: list[list[str]] = [[], [], [], [], []]
    ends = sorted(chance.randrange(len(body)) for _ in parts[1:])
    for place, line in enumerate(body):
        night = sum(place >= end for end in ends)
        if chance.random() < 0.1:
            night = chance.randrange(night, len(parts))
        parts[night].append(line)
        if chance.random() < 0.05:
            parts[chance.randrange(night, len(parts))].append(line)
    logs = [folder / f"{number}.log" for number, part in enumerate(parts) if part]
    for log, part in zip(logs, filter(None, parts), strict=True):
        log.write_text("".join(lines[:header] + part))
    return logs


def check_scattered(kind, seed, folder):
    """Check that a scattered log becomes what it is at once, and is never rebuilt."""
    lines = made(folder, kind, 240).read_text().splitlines(keepends=True)
    logs = scattered(lines, HEADERS[kind], seed, folder)
    (first, *others) = logs
    append([first, *others[:1]], folder / "store.duckdb", name=kind)
    store, reasons = grown(others[1:], folder, name=kind)
    assert not differing(store, at_once(logs, folder, name=kind))
    assert not reasons


@pytest.mark.parametrize("kind", HEADERS)
def test_logs_whose_rows_are_scattered_become_what_they_are_at_once(kind, tmp_path):
    check_scattered(kind, len(kind), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", HEADERS)
@examples(25)
@given(seed=st.integers(0, 10_000))
def test_however_rows_are_scattered_they_become_what_they_are_at_once(kind, seed, tmp_path_factory):
    check_scattered(kind, seed, tmp_path_factory.mktemp("scattered"))


def test_twelve_months_become_what_they_are_at_once(tmp_path):
    rows = slurm_rows(17, 90)
    logs = in_nights(rows, range(4 * 86_400, 24 * 86_400, 86_400 * 5 // 3), tmp_path)
    assert len(logs) >= 12
    store, _ = grown(logs, tmp_path, name="slurm")
    assert not differing(store, at_once(logs, tmp_path, name="slurm"))


@pytest.mark.parametrize("kind", ["moab", "usagerecord"])
def test_formats_with_keys_are_not_made_again(kind, sample, tmp_path):
    logs = sorted(path for path in (sample / kind).iterdir() if path.name != "expected.gwf")
    store, reasons = grown(logs, tmp_path, name=kind)
    assert not differing(store, at_once(logs, tmp_path, name=kind))
    assert not reasons


def test_jobs_of_rows_that_nothing_joins_are_added(tmp_path, sample):
    (log,) = [path for path in (sample / "flux").iterdir() if path.name != "expected.gwf"]
    lines = log.read_text().splitlines(keepends=True)
    logs = [tmp_path / "a.json", tmp_path / "b.json"]
    for one, text in zip(logs, (lines[::2], lines[1::2]), strict=True):
        one.write_text("".join(text))
    store, reasons = grown(logs, tmp_path, name="flux")
    assert not differing(store, at_once(logs, tmp_path, name="flux"))
    assert not reasons


def test_measurements_survive_and_are_of_the_right_jobs(tmp_path):
    """Those of a job that had not come yet, too, and of one whose number changes."""
    logs = in_nights(slurm_rows(5, 40, has_gpus=False), [6 * 86_400, 12 * 86_400], tmp_path)
    table = tmp_path / "used.csv"
    numbers = range(1, 41)
    table.write_text("id,energy,memory\n" + "".join(f"{n},{1000 * n},{2 * n}\n" for n in numbers))
    stated = "energy=energy:J, max_memory=memory:GiB"
    store, whole = tmp_path / "store.duckdb", tmp_path / "whole.duckdb"
    append(logs[:1], store)
    measure(store, [table], on="id", stated=stated)
    reasons: list[str] = []
    for log in logs[1:]:
        append([log], store, tell=reasons.append)
    convert(logs, whole)
    measure(whole, [table], on="id", stated=stated)
    assert not differing(said(store), said(whole))
    assert not reasons
    with Store.open(store) as opened:
        wrong = (
            "select count(*) from jobs join source_ids using (job_id) where energy <> 1000 * source_id::int"
        )
        assert opened.row(f"{wrong} and not contains(source_id, '_')") == (0,)
        assert opened.row("select count(energy) > 20 from jobs") == (True,)


# Rows that were not kept.


def test_a_store_whose_rows_were_not_kept_gets_what_later_logs_tell(tmp_path):
    rows = [
        ROW.format(
            id=number, raw=number, user=1, submit=clock(100 * number), start=clock(100 * number + 10),
            end=end, elapsed=elapsed, state=state, cpus=2, tres="cpu=2", usage="",
        )
        for number, end, elapsed, state in (
            (1, clock(500), 390, "COMPLETED"),
            (2, "Unknown", 60, "RUNNING"),
            (2, clock(900), 690, "COMPLETED"),
            (3, clock(901), 500, "FAILED"),
        )
    ]  # fmt: skip
    logs = [tmp_path / "a.sacct", tmp_path / "b.sacct", tmp_path / "c.sacct"]
    for log, text in zip(
        logs, ("".join(rows[:2]), "".join(rows[2:]), rows[3].replace("3|3|", "4|4|")), strict=True
    ):
        log.write_text(f"{COLUMNS}\n{text}")
    store = tmp_path / "store.duckdb"
    convert(logs[:1], store)
    assert append(logs[1:2], store)[0].jobs == 3
    account, _ = append(logs[2:], store)
    assert (account.rows, account.jobs, account.folded, account.comments) == (8, 4, 1, 3)
    with Store.open(store) as opened:
        assert opened.rows("select job_id, run_time, state from jobs order by job_id") == [
            (1, 390.0, "COMPLETED"),
            (2, 690.0, "COMPLETED"),
            (3, 500.0, "FAILED"),
            (4, 500.0, "FAILED"),
        ]
        assert opened.rows("select jobs from repairs where name = 'settled jobs'") == [(2,)]
        assert opened.rows("select source_id from source_ids order by job_id") == [
            ("1",),
            ("2",),
            ("3",),
            ("4",),
        ]


def test_pseudonyms_are_the_same_night_by_night(tmp_path):
    """A store without names is made each time of the one with names: it cannot be appended to itself."""
    logs = in_nights(slurm_rows(7, 40), [9 * 86_400], tmp_path)
    key = b"a key that nobody guesses"
    store, public = tmp_path / "store.duckdb", tmp_path / "public.duckdb"
    users = []
    for log in logs:
        append([log], store)
        convert_anonymized([store], public, key)
        with Store.open(public) as opened:
            users.append({user for (user,) in opened.rows("select distinct user_id from jobs")})
    assert users[0] == users[1]
    convert_anonymized(logs, tmp_path / "at-once.duckdb", key)
    with Store.open(public) as one, Store.open(tmp_path / "at-once.duckdb") as other:
        assert one.rows("from jobs") == other.rows("from jobs")
    with pytest.raises(TraceError, match="its names are pseudonyms: append to the store that it was made of"):
        append(logs, public)


# Logs that grow.


def test_a_log_that_grows_is_read_from_where_it_was_left(tmp_path):
    rows = slurm_rows(11, 60)
    log, store, told = tmp_path / "jobs.sacct", tmp_path / "store.duckdb", list[str]()
    for count in (10, 30, 30, len(rows)):
        text = "".join(row for _, row in rows[:count])
        # The last line is still being written, unless it is the last of all.
        log.write_text(f"{COLUMNS}\n{text}" + ("" if count == len(rows) else "7|7|u1|2024-03"))
        _, unchanged = append([log], store, since_last=True, tell=told.append)
    assert unchanged == []
    with Store.open(store) as opened:
        sizes = opened.rows("select file, rows from sources order by rowid")
        assert sizes == [("jobs.sacct", 11), ("jobs.sacct", 21), ("jobs.sacct", len(rows) - 29)]
    convert([log], tmp_path / "whole.duckdb")
    with Store.open(store) as one, Store.open(tmp_path / "whole.duckdb") as other:
        assert one.rows("from jobs") == other.rows("from jobs")
        assert one.account.rejected == other.account.rejected
    assert not [line for line in told if "rotated" in line]
    # It moves to another name, on another disk, and a new one begins.
    (tmp_path / "jobs.sacct.1").write_text(log.read_text())
    log.write_text(f"{COLUMNS}\n{rows[0][1].replace('|u', '|v')}")
    account, unchanged = append([tmp_path / "jobs.sacct.1", log], store, since_last=True, tell=told.append)
    assert unchanged == [tmp_path / "jobs.sacct.1"]
    assert [line for line in told if "rotated" in line] == [
        f"{log}: was rotated or cut since it was read: read from its start"
    ]
    assert account.adds_up


def test_a_log_that_is_not_of_lines_is_not_read_from_where_it_was_left(tmp_path, sample):
    (log,) = sorted((sample / "kubernetes").glob("*.json"))[:1]
    with pytest.raises(TraceError, match=r"of the format kubernetes cannot be read from where it was left"):
        append([log], tmp_path / "store.duckdb", since_last=True)
    packed = tmp_path / "a.swf.gz"
    packed.write_bytes(gzip.compress(b"1 1 5 60 2 -1 -1 2 60 -1 1 1 1 1 1 1 -1 -1\n"))
    with pytest.raises(TraceError, match=r"a.swf.gz: is compressed, expected a log that grows"):
        append([packed], tmp_path / "store.duckdb", since_last=True)
    assert not (tmp_path / "store.duckdb").exists()


# A folder of Parquet by months.


def by_months(path):
    """Return the jobs of a trace and its account."""
    with open_trace([path]) as store:
        return (
            store.rows("from jobs order by job_id"),
            store.account,
            store.rows("from source_ids order by all"),
        )


@pytest.mark.parametrize("begun", ["new", "with a folder that is there"])
def test_a_folder_by_months_is_appended_to(begun, tmp_path):
    logs = in_nights(slurm_rows(13, 40, has_gpus=False), [8 * 86_400, 16 * 86_400], tmp_path)
    folder, whole = tmp_path / "trace.parquet", tmp_path / "whole.parquet"
    convert(logs, whole, by_month=True)
    if begun == "new":
        append_by_month(logs[:1], folder)
    else:
        convert(logs[:1], folder, by_month=True)
    for log in logs[1:]:
        append_by_month([log], folder)
    jobs, account, ids = by_months(folder)
    if begun == "new":
        assert (jobs, account, ids) == by_months(whole)
    else:
        assert len(jobs) == account.jobs == len(ids) > 30
        assert account.adds_up
    before = [path.stat().st_mtime_ns for path in sorted(folder.rglob("*"))]
    assert append_by_month(logs, folder)[1] == logs
    assert [path.stat().st_mtime_ns for path in sorted(folder.rglob("*"))] == before
    broken = tmp_path / "broken.sacct"
    broken.write_text(logs[0].read_text() + "x|\n")
    with pytest.raises(StrictError):
        convert([logs[1], broken], folder, by_month=True, options=ReadOptions(strict=True))
    assert append_by_month(logs, folder)[1] == logs
    with owned_rows(folder), pytest.raises(OutputError, match="another conversion is at work on it"):
        append_by_month(logs, folder)
    other = tmp_path / "other.parquet"
    other.mkdir()
    (other / "mine.txt").write_text("years of work")
    with pytest.raises(OutputError, match="is no trace by months"):
        append_by_month(logs, other)
