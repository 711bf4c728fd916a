# mypy: disable-error-code="attr-defined,misc,operator,var-annotated,union-attr,func-returns-value"
"""Google's cluster traces: the lives of tasks, folded from their events."""

import csv
import gzip
import json
from collections import Counter, defaultdict
from functools import cache

import pytest

import gwa
from gwa.errors import ArgumentError, StrictError, TraceError, UnknownFormat
from gwa.formats.open import open_trace, recognise
from gwa.ingest.source.head import FileHead
from gwa.store.options import ReadOptions
from gwa.store.schema import FIELDS as SCHEMA

SECOND = 1_000_000
BEGIN = 1_304_290_200
BEGIN_2019 = 1_556_693_400
AFTER = 2**63 - 1
SUBMIT, SCHEDULE, EVICT, FAIL, FINISH, KILL, LOST, UPDATE_PENDING, UPDATE_RUNNING = range(9)
HASH = "b1cQnJ3dT+JDlGU38G6G0LKRCCFszX0qA8y1XGYGr/s="
UNKNOWN = None


def event(seconds, kind, task=0, job=1, request="0.5,0.25,0.001", user=HASH, time=None):
    """Return a line of task_events; *time* is in microseconds."""
    time = int(seconds * SECOND) if time is None else time
    return f"{time},,{job},{task},,{kind},{user},0,2,{request},0"


@pytest.fixture
def store(tmp_path):
    """Return a function that reads lines as one file or more and returns the store."""
    stores = []

    def make(*lines, name="google2011", files=None, **options):
        files = files or {"part-00000-of-00001.csv": lines}
        for file, content in files.items():
            (tmp_path / file).parent.mkdir(exist_ok=True)
            rows = [line if isinstance(line, bytes) else line.encode() for line in content]
            (tmp_path / file).write_bytes(b"\n".join([*rows, b""]))
        paths = [tmp_path / file for file in files]
        stores.append(open_trace(paths, name, ReadOptions(format_options=options)))
        return stores[-1]

    yield make
    for one in stores:
        one.close()


def lives(store, fields="submit_time, wait_time, run_time, n_procs, status", base=BEGIN):
    """Return these fields of each job by its id in the source; times count from the base."""
    rows = store.rows(f"select source_id, {fields} from jobs join source_ids using (job_id) order by job_id")
    found = {}
    for name, *values in rows:
        if fields.startswith("submit_time") and values[0] is not None:
            values[0] -= base
        found[name] = tuple(values)
    return found


def account(store):
    found = store.account
    return found.rows, found.jobs, found.folded, found.rejected, found.comments


def repairs(store):
    return {name: jobs for name, _, jobs in store.rows("from repairs")}


# Lives of one task: its events, by time and type, and submission, wait, run, processors and status.

Lives = dict[str, tuple[list[tuple[float, int]], tuple[int | None, ...]]]

LIVES: Lives = {
    "finished": ([(700, SUBMIT), (710, SCHEDULE), (800, FINISH)], (700, 10, 90, 1, 1)),
    "failed": ([(700, SUBMIT), (710, SCHEDULE), (800, FAIL)], (700, 10, 90, 1, 0)),
    "killed": ([(700, SUBMIT), (710, SCHEDULE), (800, KILL)], (700, 10, 90, 1, 5)),
    "lost": ([(700, SUBMIT), (710, SCHEDULE), (800, LOST)], (700, 10, 90, 1, 0)),
    "evicted for good": ([(700, SUBMIT), (710, SCHEDULE), (800, EVICT)], (700, 10, 90, 1, 0)),
    "evicted, then finished": (
        [(700, SUBMIT), (710, SCHEDULE), (800, EVICT), (801, SUBMIT), (820, SCHEDULE), (900, FINISH)],
        (700, 10, 80, 1, 1),
    ),
    "failed three times": (
        [(700 + 10 * n + kind, kind) for n in range(3) for kind in (SUBMIT, SCHEDULE, FAIL)],
        (700, 1, 2, 1, 0),
    ),
    "finished and begun anew": (
        [(700, SUBMIT), (710, SCHEDULE), (800, FINISH), (850, SUBMIT), (860, SCHEDULE), (900, KILL)],
        (700, 10, 40, 1, 5),
    ),
    "killed while it waits": ([(700, SUBMIT), (800, KILL)], (700, UNKNOWN, UNKNOWN, UNKNOWN, 5)),
    "failed while it waits": ([(700, SUBMIT), (800, FAIL)], (700, UNKNOWN, UNKNOWN, UNKNOWN, 0)),
    "lost while it waits": ([(700, SUBMIT), (800, LOST)], (700, UNKNOWN, UNKNOWN, UNKNOWN, 0)),
    "killed while it waits again": (
        [(700, SUBMIT), (710, SCHEDULE), (800, EVICT), (800.1, SUBMIT), (900, KILL)],
        (700, 10, UNKNOWN, UNKNOWN, 5),
    ),
    "waits at the end": ([(700, SUBMIT)], (700, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)),
    "waits again at the end": (
        [(700, SUBMIT), (710, SCHEDULE), (800, EVICT), (801, SUBMIT)],
        (700, 10, UNKNOWN, UNKNOWN, UNKNOWN),
    ),
    "runs at the end": ([(700, SUBMIT), (710, SCHEDULE)], (700, 10, UNKNOWN, 1, UNKNOWN)),
    "runs again at the end": (
        [(700, SUBMIT), (710, SCHEDULE), (800, FAIL), (801, SUBMIT), (805, SCHEDULE)],
        (700, 10, UNKNOWN, 1, UNKNOWN),
    ),
    "ran before the trace": (
        [(0, SUBMIT), (0, SCHEDULE), (800, FINISH)],
        (UNKNOWN, UNKNOWN, UNKNOWN, 1, 1),
    ),
    "waited before the trace": (
        [(0, SUBMIT), (700, SCHEDULE), (800, FINISH)],
        (UNKNOWN, UNKNOWN, 100, 1, 1),
    ),
    "ran before the trace and waits again": (
        [(0, SUBMIT), (0, SCHEDULE), (800, EVICT), (801, SUBMIT), (805, SCHEDULE), (900, FINISH)],
        (801, 4, 95, 1, 1),
    ),
    "runs before and after the trace": (
        [(0, SUBMIT), (0, SCHEDULE)],
        (UNKNOWN, UNKNOWN, UNKNOWN, 1, UNKNOWN),
    ),
    "waits before and after the trace": ([(0, SUBMIT)], (UNKNOWN,) * 5),
    "updated": (
        [(700, SUBMIT), (705, UPDATE_PENDING), (710, SCHEDULE), (720, UPDATE_RUNNING), (800, FINISH)],
        (700, 10, 90, 1, 1),
    ),
    "no submission": ([(710, SCHEDULE), (800, FINISH)], (UNKNOWN, UNKNOWN, 90, 1, 1)),
    "no submission of the second attempt": (
        [(700, SUBMIT), (710, SCHEDULE), (800, EVICT), (820, SCHEDULE), (900, FINISH)],
        (700, 10, 80, 1, 1),
    ),
    "nothing but an end": ([(800, KILL)], (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, 5)),
    "every event twice": (
        [(700, SUBMIT), (700, SUBMIT), (710, SCHEDULE), (710, SCHEDULE), (800, FINISH), (800, FINISH)],
        (700, 10, 90, 1, 1),
    ),
    "out of order": ([(800, FINISH), (710, SCHEDULE), (700, SUBMIT)], (700, 10, 90, 1, 1)),
    "all at once": ([(700, SUBMIT), (700, SCHEDULE), (700, FINISH)], (700, 0, 0, 1, 1)),
    "a running state before its submission": (
        [(0, SCHEDULE), (0, SUBMIT), (800, KILL)],
        (UNKNOWN, UNKNOWN, UNKNOWN, 1, 5),
    ),
}


def test_lives_are_told_by_their_last_attempts(store):
    log = [event(*one, job=job) for job, (events, _) in enumerate(LIVES.values()) for one in events]
    found = lives(store(*log))
    assert {name: found[f"{job}/0"] for job, name in enumerate(LIVES)} == {
        name: expected for name, (_, expected) in LIVES.items()
    }


RUNS = {
    "evicted, then finished": ("10/90//1///evicted;120/80//1///completed", 1),
    "failed three times": ("1/2//1///failed;11/2//1///failed;21/2//1///failed", 2),
    "finished and begun anew": ("10/90//1///completed;160/40//1///killed", 1),
    "killed while it waits again": ("10/90//1///evicted", 1),
    "waits again at the end": ("10/90//1///evicted", 1),
    "runs again at the end": ("10/90//1///failed;105///1///running", 1),
    "ran before the trace and waits again": (None, 1),
    "no submission of the second attempt": ("10/90//1///evicted;120/80//1///completed", 1),
}
"""What lives of several runs held, and how many earlier ones there were; all others are one run, or none."""


def test_what_was_held_from_each_start_to_its_end_is_kept(store):
    log = [event(*one, job=job) for job, (events, _) in enumerate(LIVES.values()) for one in events]
    found = lives(store(*log), "runs, n_requeues")
    assert {name: found[f"{job}/0"] for job, name in enumerate(LIVES) if any(found[f"{job}/0"])} == RUNS


def test_a_run_without_its_end_is_counted_and_holds_nothing_that_is_known(store):
    log = [
        (700, SUBMIT),
        (710, SCHEDULE),
        (800, SUBMIT),
        (820, SCHEDULE),
        (900, EVICT),
        (910, SCHEDULE),
        (950, KILL),
    ]
    found = store(*(event(*one) for one in log))
    assert lives(found, "runs, n_requeues") == {"1/0": ("120/80//1///evicted;210/40//1///killed", 2)}


def test_a_run_has_the_processors_that_were_asked_for_when_it_started(store):
    log = [
        (700, SUBMIT, "0.5"),
        (710, SCHEDULE, "0.5"),
        (800, EVICT, "0.5"),
        (900, SUBMIT, "0.25"),
        (910, SCHEDULE, "0.25"),
        (990, KILL, "0.25"),
    ]
    found = store(
        *(event(time, kind, request=f"{cpus},0.25,0.001") for time, kind, cpus in log), cpu_scale="8"
    )
    assert lives(found, "runs, n_procs") == {"1/0": ("10/90//4///evicted;210/80//2///killed", 2)}


def test_what_happens_at_once_happened_in_the_order_of_the_lines(store):
    again = [(700, SUBMIT), (710, SCHEDULE), (800, EVICT), (800, SUBMIT)]
    ended = [(700, SUBMIT), (710, SCHEDULE), (800, SUBMIT), (800, KILL)]
    found = store(*(event(*one) for one in again), *(event(*one, job=2) for one in ended))
    assert lives(found) == {
        "1/0": (700, 10, UNKNOWN, UNKNOWN, UNKNOWN),
        "2/0": (700, 10, UNKNOWN, UNKNOWN, 5),
    }


def test_what_happens_at_once_is_in_the_order_of_the_parts_whatever_order_they_are_given_in(store):
    first = [event(700, SUBMIT), event(710, SCHEDULE), event(800, EVICT)]
    second = [event(800, SUBMIT), event(900, KILL, task=1)]
    found = store(files={"part-00001-of-00002.csv": second, "part-00000-of-00002.csv": first})
    assert lives(found)["1/0"] == (700, 10, UNKNOWN, UNKNOWN, UNKNOWN)


def test_what_comes_after_the_trace_was_not_seen(store):
    found = store(
        event(700, SUBMIT),
        event(710, SCHEDULE),
        event(0, FINISH, time=AFTER),
        event(0, SUBMIT, task=1, time=AFTER),
        event(0, KILL, task=1, time=AFTER),
    )
    assert lives(found) == {"1/0": (700, 10, UNKNOWN, 1, UNKNOWN)}
    assert account(found) == (5, 1, 3, 1, 0)
    assert found.rows("select line, reason from rejects") == [
        (4, "all that is told of the task comes after the trace")
    ]


def test_a_job_restarted_under_its_id_is_one_job_of_two_runs(store):
    log = [
        event(seconds, kind, job=6_253_771_429)
        for seconds, kind in [(700, 0), (701, 1), (900, 5), (5000, 0), (5010, 1), (9000, 4)]
    ]
    found = store(*log)
    assert lives(found) == {"6253771429/0": (700, 1, 3990, 1, 1)}
    assert lives(found, "runs") == {"6253771429/0": ("1/199//1///killed;4310/3990//1///completed",)}


def test_tasks_from_before_the_trace_may_be_dropped_or_taken_to_begin_with_it(store):
    log = [
        event(0, SUBMIT),
        event(0, SCHEDULE),
        event(800, FINISH),
        event(0, SUBMIT, 1),
        event(700, SCHEDULE, 1),
        event(0, SUBMIT, 2),
        event(0, SCHEDULE, 2),
        event(800, EVICT, 2),
        event(801, SUBMIT, 2),
        event(900, SCHEDULE, 3),
    ]
    begun = lives(store(*log, before="start"))
    assert begun["1/0"] == (600, 0, 200, 1, 1)
    assert begun["1/1"] == (600, 100, UNKNOWN, 1, UNKNOWN)
    assert begun["1/2"] == (600, 0, UNKNOWN, UNKNOWN, UNKNOWN)
    assert begun["1/3"] == (UNKNOWN, UNKNOWN, UNKNOWN, 1, UNKNOWN)

    dropped = store(*log, before="drop")
    assert lives(dropped).keys() == {"1/2", "1/3"}
    assert account(dropped) == (10, 2, 6, 2, 0)
    assert dropped.rows("select distinct reason from rejects") == [("existed before the trace",)]


def test_what_is_censored_is_counted(store):
    log = [event(*one, task) for task, (events, _) in enumerate(LIVES.values()) for one in events]
    assert repairs(store(*log)) == {
        "before the trace": 6,
        "died waiting": 4,
        "evictions": 6,
        "no submission": 7,
        "no time": 5,
        "running at the end": 3,
        "waiting at the end": 3,
    }


# Fields.


def test_tasks_of_a_job_are_a_bag(store):
    found = store(event(700, SUBMIT), event(700, SUBMIT, 1), event(700, SUBMIT, 7, job=2))
    assert lives(found, "job_structure, job_structure_params") == {
        "1/0": ("BoT", "1"),
        "1/1": ("BoT", "1"),
        "2/7": ("UNITARY", None),
    }


def test_the_last_request_counts(store):
    found = store(
        event(0, SUBMIT, request=",,"),
        event(0, SCHEDULE, request="0.0625,0.01981,9.632e-05"),
        event(700, SUBMIT, 1, request="0.5,0.25,0.001"),
        event(800, UPDATE_PENDING, 1, request="0.75,0.125,0.002"),
        event(900, SUBMIT, 2, request=",,"),
        event(900, SUBMIT, 3, request=",0.5,"),
    )
    assert lives(found, "req_resources, req_n_procs, req_memory") == {
        "1/0": ("cpu:0.0625,ram:0.01981,disk:9.632e-05,class:0", 1, None),
        "1/1": ("cpu:0.75,ram:0.125,disk:0.002,class:0", 1, None),
        "1/2": ("class:0", 1, None),
        "1/3": ("ram:0.5,class:0", 1, None),
    }


def test_requests_are_scaled_when_the_largest_machine_is_told(store):
    log = [event(700, SUBMIT), event(710, SCHEDULE), event(700, SUBMIT, 1, request="0.001,0.25,0")]
    log.append(event(700, SUBMIT, 2, request="nan,inf,"))
    log.append(event(700, SUBMIT, 3, request="1e300,-1,"))
    found = store(*log, cpu_scale="7", mem_scale="64000")
    assert lives(found, "n_procs, req_n_procs, req_memory") == {
        "1/0": (4, 4, 4000),
        "1/1": (None, 1, 16000),
        "1/2": (None, 1, None),
        "1/3": (None, 1, None),
    }
    assert lives(store(*log, cpu_scale="0.5"), "n_procs")["1/0"] == (1,)
    with pytest.raises(ArgumentError, match="cpu_scale is 'many', expected a number"):
        store(*log, cpu_scale="many")


def test_times_are_rounded_to_seconds_unless_more_digits_are_asked_for(store):
    log = [event(700.4, SUBMIT), event(710.6, SCHEDULE), event(800.123456, FINISH)]
    assert lives(store(*log)) == {"1/0": (700, 11, 89, 1, 1)}
    precise = lives(store(*log, digits="6"))["1/0"]
    assert precise == (pytest.approx(700.4), pytest.approx(10.2), pytest.approx(89.523456), 1, 1)


def test_users_priorities_and_names_of_jobs(store):
    name = "wAmgn2H74cdoMuSFwJF3NaUEaudVBTZ0/HaNZBwIpEQ="
    found = store(
        files={
            "task_events/part-00000-of-00001.csv": [event(700, SUBMIT)],
            "job_events/part-00000-of-00001.csv": [
                f"700000000,,1,0,{HASH},2,other,{name}",
                f"700000000,,77,0,{HASH},2,other,of a job without tasks",
                "700000000,,77,0",
            ],
        }
    )
    assert lives(found, "user_id, executable_id, queue_id, group_id") == {
        "1/0": ("Ub1cQnJ3dT-JD", "XwAmgn2H74cdo", "P2", None)
    }
    assert account(found) == (4, 1, 2, 1, 0)
    assert found.rows("select file, line, reason from rejects") == [
        ("part-00000-of-00001.csv", 3, "4 columns, expected 8")
    ]
    assert found.system.zone == "America/New_York"


def test_machines_tell_the_size_of_the_system(store):
    files = {
        "task.csv": [event(700, SUBMIT), event(710, SCHEDULE), event(720, FINISH)],
        "machine.csv": [
            "0,1,0,x,0.5,0.5",
            "0,2,0,x,1,1",
            "700000000,2,1,x,1,1",
            "800000000,3,0,x,0.25,1",
            "900000000,1,2,x,0.75,0.5",
            "950000000,4,0,x,,",
        ],
    }
    assert dict(store(files=files).header)["Machines"] == "3"
    assert store(files=files).system.cpus_inferred
    scaled = store(files=files, cpu_scale="32")
    assert (scaled.system.cpus, scaled.system.cpus_inferred) == (48, False)
    assert account(scaled) == (9, 1, 8, 0, 0)


def test_what_a_system_file_says_goes_first(tmp_path):
    (tmp_path / "task.csv").write_text(event(700, SUBMIT) + "\n")
    (tmp_path / "machine.csv").write_text("0,1,0,x,0.5,0.5\n")
    system = {"name": "Cell of mine", "cpus": 7, "zone": "UTC"}
    with open_trace(
        [tmp_path / "task.csv", tmp_path / "machine.csv"],
        "google2011",
        ReadOptions(system=system, format_options={"cpu_scale": "9"}),
    ) as found:
        assert (found.system.name, found.system.cpus, found.system.zone) == ("Cell of mine", 7, "UTC")


# Files.


def test_a_missing_part_is_noticed(store):
    files = {
        "task_events/part-00000-of-00500.csv": [event(700, SUBMIT)],
        "task_events/part-00002-of-00500.csv": [event(800, SUBMIT, 1)],
        "job_events/part-00000-of-00001.csv": [f"700000000,,1,0,{HASH},2,a,b"],
    }
    between = "parts between those that were given are missing, such as task_events/part-00001-of-00500.csv"
    later = "parts of a table were not given, such as task_events/part-00003-of-00500.csv"
    assert store(files=files).rows("from repairs order by name") == [
        ("gap in parts", between, 1),
        ("missing part", later, 497),
        ("waiting at the end", "it waited when the trace ended: whether it ran later is not known", 2),
    ]
    whole = {f"part-{number}-of-2.csv": [event(700, SUBMIT, number)] for number in (1, 2)}
    assert "missing part" not in repairs(store(files=whole))


def test_hundreds_of_parts_are_one_trace(store):
    files = {
        f"part-{number:05}-of-00300.csv": [event(700 + number, SUBMIT, number), event(1700, SCHEDULE, number)]
        for number in range(300)
    }
    files["part-00007-of-00300.csv"].append(event(2000, FINISH, 299))
    found = store(files=files)
    assert account(found) == (601, 300, 301, 0, 0)
    assert lives(found)["1/299"] == (999, 701, 300, 1, 1)
    assert "missing part" not in repairs(found)


def test_a_part_given_twice_is_read_once(store):
    lines = [event(700, SUBMIT), event(710, SCHEDULE)]
    found = store(files={"part-00000-of-00001.csv": lines, "copy.csv": lines})
    assert account(found) == (2, 1, 1, 0, 0)


def test_only_what_explains_tasks_is_no_trace(store):
    with pytest.raises(TraceError, match="no job in it"):
        store(f"700000000,,1,0,{HASH},2,a,b")


@pytest.mark.parametrize(
    "line",
    [
        event(700, SUBMIT),
        event(0, SUBMIT, request=",,"),
        f"700000000,,1,0,{HASH},2,a,b",
        "0,5,0,HofLGzk1Or/8Ildj2+Lqv0UGGvY82NLoni8+J/Yy0RU=,0.5,0.2493",
        "1700000000,5,1,,,",
    ],
)
def test_tables_are_recognised(line, tmp_path):
    (tmp_path / "log").write_text(f"{line}\n")
    assert recognise(FileHead.of(tmp_path / "log")).name == "google2011"


@pytest.mark.parametrize(
    "line",
    ["600000000,601000000,1,0,5" + ",0" * 15, "a,b,c,d,e,f,g,h,i,j,k,l,m", "1,2,3,4,5,6,7,8", "0,5,name,=,x"],
)
def test_other_tables_are_not(line, tmp_path):
    (tmp_path / "log").write_text(f"{line}\n")
    with pytest.raises(UnknownFormat):
        recognise(FileHead.of(tmp_path / "log"))


# Bad lines.

REFUSED = {
    "12 columns": (event(700, SUBMIT)[:-2], "12 columns, expected 13"),
    "14 columns": (event(700, SUBMIT) + ",", "14 columns, expected 13"),
    "no such type": (event(700, 9), "no event has its type"),
    "no type": (event(700, ""), "no event has its type"),
    "no time": (event(0, SUBMIT, time=""), "its time is missing or negative"),
    "a time before all": (event(0, SUBMIT, time=-(2**63)), "its time is missing or negative"),
    "a time beyond all": (event(0, SUBMIT, time=2**63), f"time is '{2**63}', expected a number"),
    "no job": (event(700, SUBMIT, job=""), "its job (collection) or task (instance) is missing"),
    "no task": (event(700, SUBMIT, task=""), "its job (collection) or task (instance) is missing"),
    "a job of letters": (event(700, SUBMIT, job="'; drop"), "job is ''; drop', expected a number"),
    "a task beyond all": (event(700, SUBMIT, task=2**31), f"task is '{2**31}', expected a number"),
    "a rounded time": (event(0, SUBMIT, time="2.50620E+12"), "a number was rounded, expected all its digits"),
    "a rounded job": (event(700, SUBMIT, job="6.25E+09"), "a number was rounded, expected all its digits"),
    "a request in words": (event(700, SUBMIT, request="all,0.5,"), "cpu is 'all', expected a number"),
}


def test_bad_lines_are_refused_with_their_numbers(store):
    bad = [line for line, _ in REFUSED.values()]
    found = store(event(700, SUBMIT), event(710, SCHEDULE), *bad, event(800, FINISH))
    assert account(found) == (len(bad) + 3, 1, 2, len(bad), 0)
    assert lives(found) == {"1/0": (700, 10, 90, 1, 1)}
    said = dict(found.rows("select line, reason from rejects"))
    assert {name: said[line] for line, name in enumerate(REFUSED, 3)} == {
        name: reason for name, (_, reason) in REFUSED.items()
    }


def test_the_first_bad_line_ends_a_strict_conversion(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("\n".join([event(700, SUBMIT), event(700, 9), event(800, FINISH)]))
    with pytest.raises(StrictError, match=r"log\.csv:2: no event has its type"):
        open_trace([path], "google2011", ReadOptions(strict=True))


def test_odd_bytes_and_names_are_survived(store):
    names = ["'; drop table jobs; --", "<script>alert(1)</script>", "a\x00b", "é" * 3, '"quoted"', "-1"]
    log = [event(700, SUBMIT, job=number, user=name) for number, name in enumerate(names)]
    log.append(event(700, SUBMIT, job=50).encode().replace(HASH.encode(), b"\xff\xfe\xe9"))
    log.append(event(700, SUBMIT, job=51, user="x" * (1 << 21)))
    log.append(event(700, SUBMIT, job=52, user="y" * 900_000))
    log.append(b"\x00" * 5000)
    found = store(*log)
    users = dict(found.rows("select source_id, user_id from jobs join source_ids using (job_id)"))
    assert users["0/0"] == "U'; drop tabl"
    assert users["1/0"] == "U<script>aler"
    assert users["50/0"] == "Uÿþé"
    assert users["52/0"] == "U" + "y" * 12
    assert account(found) == (10, 8, 0, 1, 1)


def test_extreme_times_and_numbers_are_survived(store):
    found = store(
        event(0, SUBMIT, time=AFTER - 1),
        event(0, SCHEDULE, time=1),
        event(0, KILL, time=2),
        event(0, SUBMIT, 1, time=252_000_000_000 * SECOND),
        event(0, SUBMIT, 2**31 - 1, job=AFTER, time=700 * SECOND),
        event(0, FINISH, 2**31 - 1, job=AFTER, time=699 * SECOND),
        event(700, SUBMIT, -(2**31), job=-(2**63)),
    )
    assert lives(found)["1/0"] == (UNKNOWN,) * 5
    assert lives(found)["1/1"] == (UNKNOWN,) * 5
    assert lives(found)[f"{AFTER}/{2**31 - 1}"] == (700, *(UNKNOWN,) * 4)
    assert account(found) == (7, 4, 3, 0, 0)


# The trace of 2019.


def instance(seconds, kind, task=0, job=1, time=None, **said):
    """Return a line of instance_events."""
    time = int(seconds * SECOND) if time is None else time
    row = {
        "time": str(time),
        "type": kind,
        "collection_id": str(job),
        "collection_type": "0",
        "priority": "200",
        "instance_index": str(task),
        "machine_id": "0",
        "resource_request": {"cpus": 0.5, "memory": 0.25},
        **said,
    }
    return json.dumps({key: value for key, value in row.items() if value is not None})


NAMES = (
    "SUBMIT", "QUEUE", "ENABLE", "SCHEDULE", "EVICT", "FAIL", "FINISH", "KILL", "LOST", "UPDATE_PENDING",
    "UPDATE_RUNNING",
)  # fmt: skip
LIVES_2019: Lives = {
    "finished": ([(700, 0), (700, 1), (705, 2), (710, 3), (800, 6)], (700, 10, 90, 1, 1)),
    "failed": ([(700, 0), (710, 3), (800, 5)], (700, 10, 90, 1, 0)),
    "killed": ([(700, 0), (710, 3), (800, 7)], (700, 10, 90, 1, 5)),
    "lost": ([(700, 0), (710, 3), (800, 8)], (700, 10, 90, 1, 0)),
    "evicted for good": ([(700, 0), (710, 3), (800, 4)], (700, 10, 90, 1, 0)),
    "evicted and queued": (
        [(700, 0), (710, 3), (800, 4), (800, 1), (805, 2), (820, 3), (900, 6)],
        (700, 10, 80, 1, 1),
    ),
    "evicted and queued till the end": (
        [(700, 0), (710, 3), (800, 4), (801, 1)],
        (700, 10, UNKNOWN, UNKNOWN, UNKNOWN),
    ),
    "updated": ([(700, 0), (705, 9), (710, 3), (720, 10), (800, 6)], (700, 10, 90, 1, 1)),
    "killed in the queue": ([(700, 0), (700, 1), (800, 7)], (700, UNKNOWN, UNKNOWN, UNKNOWN, 5)),
    "ran before the trace": ([(0, 3), (0, 0), (800, 6)], (UNKNOWN, UNKNOWN, UNKNOWN, 1, 1)),
    "runs at the end": ([(700, 0), (710, 3)], (700, 10, UNKNOWN, 1, UNKNOWN)),
}


@pytest.mark.parametrize("form", ["number", "text", "name"])
def test_lives_of_2019_in_all_notations(form, store):
    kinds = [{"number": kind, "text": str(kind), "name": name}[form] for kind, name in enumerate(NAMES)]
    log = [
        instance(time, kinds[kind], job=job)
        for job, (events, _) in enumerate(LIVES_2019.values())
        for time, kind in events
    ]
    found = lives(store(*log, name="google2019"), base=BEGIN_2019)
    assert {name: found[f"{job}/0"] for job, name in enumerate(LIVES_2019)} == {
        name: expected for name, (_, expected) in LIVES_2019.items()
    }


def test_runs_of_2019(store):
    log = [instance(*one) for one in LIVES_2019["evicted and queued"][0]]
    found = lives(store(*log, name="google2019"), "runs, n_requeues")
    assert found == {"1/0": ("10/90//1///evicted;120/80//1///completed", 1)}


def test_fields_of_2019(store):
    said = {"user": HASH, "collection_name": "x", "collection_logical_name": "wAmgn2H74cdoMuSF/NaU"}
    collection = {"time": "0", "type": "0", "collection_id": "1", "collection_type": "0", **said}
    found = store(
        files={
            "instance_events-000000000000.json": [
                instance(700, 0),
                instance(700, 3, resource_request={"cpus": 0.75}, scheduling_class="SENSITIVE"),
                instance(
                    700,
                    0,
                    1,
                    collection_type="JOB",
                    missing_type="TRANSITION_MISSING_STEP",
                    scheduling_class="1",
                ),
                instance(700, 0, 0, 2, collection_type="1"),
                instance(700, 0, 0, 2, collection_type=1),
                instance(700, 0, 0, 2, collection_type="ALLOC_SET"),
                instance(700, 0, 0, 3, resource_request=None, collection_type=None, priority=None),
            ],
            "collection_events-000000000000.json": [
                json.dumps(collection),
                json.dumps({**collection, "collection_id": "2", "collection_type": "1"}),
            ],
        },
        name="google2019",
        cpu_scale="4",
        mem_scale="1000",
    )
    fields = (
        "n_procs, req_n_procs, req_memory, user_id, executable_id, queue_id, job_structure, req_resources"
    )
    assert lives(found, fields) == {
        "1/0": (3, 3, 250 / 3, "Ub1cQnJ3dT-JD", "XwAmgn2H74cdo", "P200", "BoT", "cpu:0.75,ram:0.25,class:2"),
        "1/1": (None, 2, 125, "Ub1cQnJ3dT-JD", "XwAmgn2H74cdo", "P200", "BoT", "cpu:0.5,ram:0.25,class:1"),
        "3/0": (None, 1, None, None, None, None, "UNITARY", None),
    }
    assert account(found) == (9, 3, 2, 0, 4)
    assert repairs(found)["missing information"] == 1


BAD_JSON = {
    "half an object": (instance(700, 0)[:-9], "is not a JSON object"),
    "no object": ("[1, 2]", "is not a JSON object"),
    "a number": ("7", "is not a JSON object"),
    "words": ("hello world", "is not a JSON object"),
    "deep": ("[" * 300_000, "is not a JSON object"),
    "deep object": ('{"a":' * 100_000 + "1" + "}" * 100_000, "its time is missing or negative"),
    "a time in words": (instance(0, 0, time="noon"), "time is 'noon', expected a number"),
    "a time beyond all": (instance(0, 0, time=2**63), f"time is '{2**63}', expected a number"),
    "a time in a list": (instance(0, 0, time=0).replace('"0"', "[0]", 1), "time is '[0]', expected a number"),
    "no time": (instance(0, 0).replace('"time"', '"thyme"'), "its time is missing or negative"),
    "no collection": (instance(700, 0, job=""), "collection is '', expected a number"),
    "no instance": (
        instance(700, 0, instance_index=None),
        "its job (collection) or task (instance) is missing",
    ),
    "a type of no name": (instance(700, "REBOOT"), "no event has its type"),
    "a type too high": (instance(700, 11), "no event has its type"),
    "a negative time": (instance(0, 0, time=-(2**63)), "its time is missing or negative"),
    "cpus in words": (
        instance(700, 0, resource_request={"cpus": "many"}),
        "cpus is 'many', expected a number",
    ),
}


def test_bad_objects_are_refused_with_their_lines(store):
    bad = [line for line, _ in BAD_JSON.values()]
    found = store(instance(700, 0), "", *bad, instance(800, 7), name="google2019")
    assert account(found) == (len(bad) + 2, 1, 1, len(bad), 0)
    said = dict(found.rows("select line, reason from rejects"))
    assert {name: said[line] for line, name in enumerate(BAD_JSON, 3)} == {
        name: reason for name, (_, reason) in BAD_JSON.items()
    }


def test_odd_bytes_in_json_are_survived(store):
    user = {"collection_id": 1, "user": "'; drop table jobs", "collection_name": "<b>\u0000</b>"}
    found = store(
        files={
            "i.json": [
                instance(700, 0),
                instance(700, 0, job=2).encode().replace(b'"0"', b'"0", "x": "\xff\xe9"', 1),
                instance(700, 0, job=3, x="y" * (1 << 21)),
                b"\x00" * 300,
            ],
            "c.json": [json.dumps(user)],
        },
        name="google2019",
    )
    assert account(found) == (4, 3, 1, 0, 0)
    users = found.rows("select user_id from jobs order by job_id")
    assert users == [("U'; drop tabl",), (None,), (None,)]


@pytest.mark.parametrize("name", ["google2011", "google2019"])
def test_a_log_of_several_parts_is_read_as_one(name, sample, monkeypatch):
    paths = [path for path in (sample / name).iterdir() if path.name != "expected.gwf"]
    with open_trace(paths) as whole:
        monkeypatch.setattr("gwa.store.engines.config.LARGE_BLOCK", 1)
        monkeypatch.setattr("gwa.ingest.source.lines.CHUNK_SIZE", 1)
        with open_trace(paths) as parts:
            assert parts.rows("from jobs order by all") == whole.rows("from jobs order by all")
            assert parts.account == whole.account


# The real trace, read independently.

PARTS = range(4)


@cache
def by_hand(folder):
    """Return what the rows of the real parts must be, event by event, with nothing but the csv module."""
    events = defaultdict(list)
    for number in PARTS:
        with gzip.open(folder / "task_events" / f"part-{number:05}-of-00500.csv.gz", "rt") as file:
            for row in csv.reader(file):
                events[int(row[2]), int(row[3])].append((int(row[0]), int(row[5]), row))
    names: dict[int, str] = {}
    for number in PARTS:
        with gzip.open(folder / "job_events" / f"part-{number:05}-of-00500.csv.gz", "rt") as file:
            names |= {int(row[2]): row[7] for row in csv.reader(file)}
    tasks = Counter(job for job, _ in events)
    found = {}
    for (job, task), happened in events.items():
        happened.sort(key=lambda one: one[0])
        lived = _lived(happened)
        found[f"{job}/{task}"] = (*lived, *_described(happened, names.get(job), tasks[job], job))
    return found


WHY = {EVICT: "evicted", FAIL: "failed", FINISH: "completed", KILL: "killed", LOST: "lost"}


def _lived(happened):
    submit = first = status = None
    runs = []
    state = None
    for time, kind, _ in happened:
        second = (time + SECOND // 2) // SECOND or None
        if kind == SUBMIT:
            submit = submit or second
            if state == "running":
                runs[-1][2] = "without an end"
            state = "waiting"
        elif kind == SCHEDULE:
            if state == "running":
                runs.pop()
            runs.append([second, None, "running"])
            state = "running"
        elif kind <= LOST:
            if state == "running":
                runs[-1][1:] = second, WHY[kind]
            state, status = (
                "over" if state in {"running", "over"} else "died",
                {FINISH: 1, KILL: 5}.get(kind, 0),
            )
    is_scheduled = state in {"running", "over"} and bool(runs)
    placed = [one for one in runs if submit and one[0] and one[0] >= submit]
    listed = [one for one in placed if one[2] != "without an end"]
    first = placed[0][0] if placed else None
    start, end = runs[-1][:2] if is_scheduled else (None, None)
    boxes = ";".join(
        f"{begin - submit}/{'' if finish is None else finish - begin}//1///{why}"
        for begin, finish, why in listed
    )
    return (
        submit and submit + BEGIN,
        first - submit if placed else None,
        end - start if start and end else None,
        1 if is_scheduled else None,
        status if state in {"over", "died"} else None,
        (boxes or None) if not is_scheduled or placed[1:] else None,
        len(runs) - is_scheduled or None,
    )


def _described(happened, name, tasks, job):
    last = happened[-1][2]
    said = [next((row[place] for *_, row in reversed(happened) if row[place]), None) for place in (9, 10, 11)]
    request = ",".join(
        f"{what}:{float(value)!r}" for what, value in zip(("cpu", "ram", "disk"), said, strict=True) if value
    )
    request += f",class:{max(int(row[7]) for *_, row in happened)}"
    return (
        1,
        "U" + last[6][:12].replace("+", "-").replace("/", "_"),
        name and "X" + name[:12].replace("+", "-").replace("/", "_"),
        f"P{last[8]}",
        "BoT" if tasks > 1 else "UNITARY",
        str(job) if tasks > 1 else None,
        f"events:{len(happened)}",
        request.removeprefix(","),
    )


FIELDS = (
    "submit_time, wait_time, run_time, n_procs, status, runs, n_requeues, req_n_procs, "
    "user_id, executable_id, "
    "queue_id, job_structure, job_structure_params, used_resources, req_resources"
)

OTHERS = sorted({field.name for field in SCHEMA} - {*FIELDS.split(", "), "job_id"})


@pytest.fixture
def parts(logs):
    """Return the files of the real parts."""
    return sorted((logs / "google2011").glob("*_events/*.csv.gz"))


@pytest.mark.logs
def test_every_field_of_every_task_of_the_real_parts(parts):
    expected = by_hand(parts[0].parent.parent)
    with open_trace(parts) as store:
        rows = store.rows(f"select source_id, {FIELDS} from jobs join source_ids using (job_id)")
        found = {name: tuple(values) for name, *values in rows}
        others = store.row(f"select {', '.join(f'count({name})' for name in OTHERS)} from jobs")

    assert len(rows) == len(expected) == len(found)
    assert [name for name in expected if expected[name] != found.get(name)] == []
    assert set(others) == {0}


@pytest.mark.logs
def test_the_account_of_the_real_parts_adds_up(parts):
    lived = [values[:6] for values in by_hand(parts[0].parent.parent).values()]
    with gwa.open(parts) as trace:
        assert account(trace.store) == (825_306, 274_536, 550_770, 0, 0)
        assert repairs(trace.store) == {
            "before the trace": 144_339,
            "died waiting": sum(procs is runs is None is not status for *_, procs, status, runs in lived),
            "evictions": 19_826,
            "missing information": 291,
            "missing part": 496,
            "no time": sum(submit is None and run is None for submit, _, run, *_ in lived),
            "no submission": sum(submit is None for submit, *_ in lived),
            "running at the end": sum(procs is not None and status is None for *_, procs, status, _ in lived),
            "waiting at the end": sum(procs is None and status is None for *_, procs, status, _ in lived),
        }
        said = trace.store.rows("select meaning from repairs where name = 'missing part' order by all")
        assert [text.rsplit(" ", 1)[1] for (text,) in said] == [
            "job_events/part-00004-of-00500.csv",
            "task_events/part-00004-of-00500.csv",
        ]


@pytest.mark.logs
def test_nothing_of_a_single_real_part_is_refused(parts):
    for part in parts[4:]:
        with gwa.open(part) as trace:
            assert trace.account.rejected == 0
            trace.account.check()


# Tasks whose events were looked up in the parts and followed by hand: seconds since time 0, rounded.

HAND = {
    # Finished: at once, after it failed, again after it had finished, and from before the trace.
    "6249240870/0": (7012, 2, 9067, 1, 1),
    "6251684909/0": (781, 2, 7527, 1, 1),
    "6250505806/3": (3870, 1, 1139, 1, 1),
    "6245463804/0": (None, None, None, 1, 1),
    # Failed: at once, and twice.
    "6251675379/0": (770, 2, 151, 1, 0),
    "6252399320/0": (12701, 2, 34, 1, 0),
    # Evicted, and not submitted again.
    "6252353114/0": (12263, 1, 138, 1, 0),
    # Killed: at once, after it failed, after two evictions, from before the trace.
    "6250505806/12": (5050, 2, 1935, 1, 5),
    "6251687275/164": (870, 2, 458, 1, 5),
    "6251995937/33": (5143, 2, 4185, 1, 5),
    "6236432122/3": (None, None, None, 1, 5),
    # Killed while it waited, since it was submitted in the trace or before.
    "6251707374/0": (1229, None, None, None, 5),
    "6249558257/0": (None, None, None, None, 5),
    # Running at the end: since it was submitted, since before the trace, submitted before it, evicted.
    "6251093740/0": (2650, 2, None, 1, None),
    "3418309/0": (None, None, None, 1, None),
    "5664371117/161": (None, None, None, 1, None),
    "86753913/1": (16404, 34, None, 1, None),
    # Waiting at the end: since it was submitted, since before the trace, evicted.
    "6251975302/0": (4849, None, None, None, None),
    "4122597003/0": (None, None, None, None, None),
    "6218406404/707": (12399, None, None, None, None),
}
"""Of each task submission, wait, run time, processors and status. Nothing was lost in these parts."""


@pytest.mark.logs
def test_twenty_tasks_are_as_followed_by_hand(parts):
    with open_trace(parts) as store:
        rows = store.rows(
            "select source_id, submit_time, wait_time, run_time, n_procs, status"
            " from jobs join source_ids using (job_id)"
        )
    found = {name: values for name, *values in rows if name in HAND}
    assert len(HAND) == 20
    assert {name: (at and at - BEGIN, *others) for name, (at, *others) in found.items()} == HAND


# The sample of 2019, read independently.

MEANT = (SUBMIT, SUBMIT, SUBMIT, SCHEDULE, EVICT, FAIL, FINISH, KILL, LOST, UPDATE_PENDING, UPDATE_RUNNING)
"""The events of 2019 by their codes, in terms of 2011."""


def rows_of(folder, table):
    """Return the rows of a table of the sample, as JSON or CSV."""
    (path,) = folder.glob(f"{table}*")
    if path.suffix == ".json":
        return [json.loads(line) for line in path.read_text().splitlines()]
    with path.open(newline="") as file:
        rows = [{name: cell for name, cell in row.items() if cell} for row in csv.DictReader(file)]
    for row in rows:
        if "resource_request_cpus" in row:
            row["resource_request"] = {
                "cpus": float(row["resource_request_cpus"]),
                "memory": float(row["resource_request_memory"]),
            }
    return rows


def objects_of(folder, table):
    """Return the lines of a table of the sample that do not speak of reservations, with numbers for types."""
    rows = rows_of(folder, table)
    kept = [row for row in rows if row.get("collection_type") not in {"1", "ALLOC_SET"}]
    return [
        {**row, "type": NAMES.index(row["type"]) if row["type"] in NAMES else int(row["type"])}
        for row in kept
    ]


def by_hand_2019(folder):
    """Return what the rows of the sample must be, event by event."""
    said = {str(row["collection_id"]): row for row in objects_of(folder, "collection_events")}
    events = defaultdict(list)
    for row in objects_of(folder, "instance_events"):
        events[str(row["collection_id"]), row["instance_index"]].append(row)
    sizes = Counter(collection for collection, _ in events)
    found = {}
    for (collection, number), rows in events.items():
        rows.sort(key=lambda row: (int(row["time"]), row["type"] if row["time"] == "0" else 0))
        seen = [row for row in rows if int(row["time"]) < AFTER]
        submit, *others = _lived([(int(row["time"]), MEANT[row["type"]], row) for row in seen])
        requests = [row["resource_request"] for row in rows if row.get("resource_request")]
        classes = [int(row["scheduling_class"]) for row in rows if "scheduling_class" in row]
        names = said.get(collection, {})
        found[f"{collection}/{number}"] = (
            submit and submit - BEGIN + BEGIN_2019,
            *others,
            1,
            "U" + names["user"][:12].translate(SAFE) if "user" in names else None,
            "X" + names["collection_logical_name"][:12].translate(SAFE)
            if "collection_logical_name" in names
            else None,
            f"P{rows[-1]['priority']}" if "priority" in rows[-1] else None,
            "BoT" if sizes[collection] > 1 else "UNITARY",
            collection if sizes[collection] > 1 else None,
            f"events:{len(rows)}",
            ",".join(
                [
                    *(f"cpu:{one['cpus']},ram:{one['memory']}" for one in requests[-1:]),
                    *(f"class:{max(classes)}" for _ in classes[:1]),
                ]
            )
            or None,
        )
    return found


SAFE = str.maketrans("+/", "-_")


def test_every_field_of_the_sample_of_2019_is_as_a_few_lines_of_python_read_it(sample):
    folder = sample / "google2019"
    with open_trace(sorted(folder.glob("*.json"))) as store:
        rows = store.rows(f"select source_id, {FIELDS} from jobs join source_ids using (job_id)")
    assert {name: tuple(values) for name, *values in rows} == by_hand_2019(folder)


# The same events as CSV, in each of the forms in which they go about.


def flat_cells(row):
    request = row.pop("resource_request", None) or {}
    return {**row, **{f"resource_request_{what}": request.get(what, "") for what in ("cpus", "memory")}}


def dotted_cells(row):
    request = row.pop("resource_request", None) or {}
    return {**row, **{f"resource_request.{what}": request.get(what, "") for what in ("cpus", "memory")}}


def kaggles_cells(row):
    """Name the type as Kaggle's sample does; whole numbers went through a table with missing cells."""
    request = row.pop("resource_request", None)
    kind = str(row.pop("type"))
    numbers = {key: f"{row[key]}.0" for key in ("scheduling_class", "priority") if key in row}
    kind = f"{kind}.0" if kind.isdigit() else kind
    return {**row, **numbers, "instance_events_type": kind, "resource_request": request or ""}


def as_csv(path, out, cells):
    """Write JSON lines as CSV with the columns in order of the alphabet."""
    rows = [cells(json.loads(line)) for line in path.read_text().splitlines()]
    with out.open("w", newline="") as file:
        writer = csv.DictWriter(file, sorted({name for row in rows for name in row}), restval="")
        writer.writeheader()
        writer.writerows(rows)
    return out


def everything(paths, **options):
    """Return all jobs by what they are called in the source, with all their fields, and the account."""
    with open_trace(paths, options=ReadOptions(format_options=options)) as store:
        store.account.check()
        rows = store.rows(
            "select source_id, jobs.* exclude (job_id) from jobs join source_ids using (job_id)"
        )
        return {name: tuple(values) for name, *values in rows}, account(store)


@pytest.mark.parametrize("cells", [flat_cells, dotted_cells, kaggles_cells])
@pytest.mark.parametrize("options", [{}, {"digits": "6", "cpu_scale": "64"}])
def test_csv_tells_what_json_tells(cells, options, sample, tmp_path):
    files = sorted((sample / "google2019").glob("*.json"))
    copies = [
        as_csv(files[0], tmp_path / "users.csv", dict),
        as_csv(files[1], tmp_path / "events.csv", cells),
    ]
    expected, (rows, jobs, folded, rejected, comments) = everything(files, **options)
    found, counted = everything(copies, **options)
    assert found == expected
    # The names of the columns, of two files.
    assert counted == (rows + 2, jobs, folded, rejected, comments + 2)


def test_every_field_of_the_sample_as_csv_is_as_a_few_lines_of_python_read_it(sample):
    with open_trace(sorted((sample / "google2019-csv").glob("*.csv"))) as store:
        rows = store.rows(f"select source_id, {FIELDS} from jobs join source_ids using (job_id)")
    assert {name: tuple(values) for name, *values in rows} == by_hand_2019(sample / "google2019-csv")


def test_events_in_csv_that_cannot_be_read_are_refused_each(tmp_path):
    log = tmp_path / "events.csv"
    names = "time,type,collection_id,instance_index,resource_request"
    rows = ["5e6,0,77,0,\"{'cpus': 0.5, 'memory': 0.25}\"", "x,0,77,1,", "6000000,0,,1,", "7000000,11,77,1,"]
    log.write_text("\n".join([names, *rows]) + "\n")
    with gwa.open(log) as trace:
        assert account(trace.store) == (5, 1, 0, 3, 1)
        assert trace.store.rows("select line, reason from rejects order by line") == [
            (3, "its time is missing or negative"),
            (4, "its job (collection) or task (instance) is missing"),
            (5, "no event has its type"),
        ]
        assert trace.store.rows("select submit_time, req_resources from jobs") == [
            (BEGIN_2019 + 5, "cpu:0.5,ram:0.25")
        ]


LARGE = 45_000
"""So many tasks have more events than DuckDB keeps together: they go to disk while they are read."""


def spoiled(log, row, kinds):
    """Write the lives of LARGE tasks, one line that is not an event, and one without its time."""
    lines = [
        row % (600_000_000 + 5_000_000 * task + kind, 6_000_000_000 + task, kind)
        for task in range(LARGE)
        for kind in kinds
    ]
    lines.insert(70_000, "[1]")
    lines.insert(90_000, lines[90_000].replace("6", "x", 1))
    log.write_text("\n".join(lines) + "\n")
    return log


@pytest.mark.parametrize(
    ("name", "row", "kinds"),
    [
        ("part-00000-of-00001.csv", "%d,,%d,0,,%d,u,0,0,0.1,0.1,0.1,0", (0, 1, 4)),
        (
            "instance_events-000000000000.json",
            '{"time":"%d","collection_id":"%d","type":%d,"instance_index":0,"priority":200}',
            (0, 3, 6),
        ),
    ],
)
def test_a_bad_line_costs_no_other_of_a_large_part(name, row, kinds, tmp_path):
    with gwa.open(spoiled(tmp_path / name, row, kinds)) as trace:
        assert account(trace.store) == (3 * LARGE + 2, LARGE, 2 * LARGE, 2, 0)
        assert trace.store.rows("select line from rejects order by line") == [(70_001,), (90_001,)]
        assert trace.store.rows("select count(distinct submit_time), min(status) from jobs") == [(LARGE, 1)]
