"""
The number of threads changes nothing of a store: jobs, their order and numbers, what is refused and repaired.

Small logs are read by one thread, however many there are: `in_parallel` lets the engine share them out by
vectors of 2,048 rows, as its own tests do.
"""

import random
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from gwa.errors import TraceError
from gwa.formats.definition import parse_definition
from gwa.formats.open import open_trace
from gwa.formats.registry import converters
from gwa.ingest.pipeline import define_source, define_tables
from gwa.ingest.row_order import keeps_order
from gwa.store.engines.config import Engine
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from tests.conftest import HOME
from tests.converters.test_every_converter import sample_of, taken_apart
from tests.converters.ways import LASTING, SUBMITTED, WAYS
from tests.test_every_log import FILES, FIRST, OTHER, named

VECTORS = 3 * 2048
"""Rows that several threads share."""

THREADS = (1, 2, 7)


@contextmanager
def in_parallel():
    """Let several threads share tables of a few thousand rows, too."""
    connect = duckdb.connect

    def connected(*args, **options):
        database = connect(*args, **options)
        database.execute("pragma verify_parallelism")
        return database

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duckdb, "connect", connected)
        patch.setattr("gwa.ingest.pieces.GROUP_ROWS", 2048)
        # Of a small source one thread answers, and no Parquet files are made.
        patch.setattr("gwa.ingest.pipeline.SMALL_SOURCE", 0)
        # A text that is read where it stands is shared out by 32 MB.
        patch.setattr("gwa.ingest.in_place.plain_texts", lambda *_: None)
        yield


def stored(paths, threads, format_options=None, name=None):
    """Return the rows of all tables of the store that *paths* become, in the order in which they stand."""
    options = ReadOptions(engine=Engine(threads=threads), format_options=format_options or {})
    with in_parallel(), open_trace(paths, name, options) as store:
        store.connection.execute("set threads = 1")
        return {table: store.rows(f"from {table}") for table in ("recorded", *Store.tables)}


def assert_same_with_any_threads(paths, **options):
    one = stored(paths, THREADS[0], **options)
    for threads in THREADS[1:]:
        several = stored(paths, threads, **options)
        # Rows are compared by themselves, since what differs of thousands would be printed.
        assert [name for name in one if several[name] != one[name]] == [], threads
    assert one["recorded"]


def swf(path, lines):
    """Write lines of SWF: the number of each job, its run time, its status."""
    header = "; Version: 2.2\n; UnixStartTime: 1293840000\n; Queue: 1 short\n; Partition: 1 all\n"
    rows = (f"{job} 100 0 {run} 1 -1 -1 1 -1 -1 {status} 1 1 1 1 1 -1 -1\n" for job, run, status in lines)
    path.write_text(header + "".join(rows))
    return [path]


def test_job_numbers_that_come_again_are_those_of_their_lines(tmp_path):
    log = swf(tmp_path / "log.swf", [(line % 5 + 1, line + 1, 1) for line in range(10_000)])

    for threads in THREADS:
        jobs = stored(log, threads)["recorded"]
        # Numbers are given in the order of the numbers of the log, then of its lines.
        assert [row[0] for row in jobs] == [*range(1, 10_001)]
        assert {row[0]: row[3] for row in jobs} == {
            (line % 5) * 2000 + line // 5 + 1: line + 1 for line in range(10_000)
        }


def test_jobs_told_of_twice_and_partial_executions_stay_where_they_were(tmp_path):
    chance = random.Random(7)
    lines = [
        (chance.randrange(3000), chance.choice((1, 2, 2.3, 0.1)), chance.choice((1, 2, 3)))
        for _ in range(VECTORS)
    ]

    assert_same_with_any_threads(swf(tmp_path / "log.swf", lines))


def jobs_of(way):
    """Return jobs that tie in what they are sorted by: in their submissions, and some in their numbers."""
    chance = random.Random(way.name)
    for number in range(1, VECTORS):
        submitted = SUBMITTED + 100_000 * (number % 3)
        started = submitted + chance.randrange(100)
        ended = started + chance.randrange(1, 1000)
        yield (number - chance.randrange(2), submitted, started, ended) + (
            (ended - started,) if way.is_measured else ()
        )


def written(way, folder):
    for name, text in way.written(jobs_of(way)).items():
        Path(folder, name).write_text(text)
    return [Path(folder, name) for name in (way.file, *way.beside)]


JOINED = {"slurm", "pbs", "google2019"}
"""Formats of which a job is made of several rows in several ways: `make slow` tries the others, too."""


@pytest.mark.parametrize(
    "way",
    [pytest.param(way, marks=() if way.name in JOINED else pytest.mark.slow, id=way.name) for way in WAYS],
)
def test_a_log_of_each_format_becomes_the_same_store(way, tmp_path):
    assert_same_with_any_threads(written(way, tmp_path), name=way.name)


JOBS, ROUNDS = 1000, 8
"""The rows of one job stand far from each other, so that several threads have some of them each."""


def fraction(chance):
    return round(chance.uniform(0.01, 99), 2)


def slurm_steps(chance):
    """Return jobs whose steps used fractions of kilobytes and joules, some of them side by side."""
    head = (
        "JobID|Submit|Start|End|ElapsedRaw|State|AllocCPUS|NNodes|NTasks|MaxRSS|TRESUsageInTot|ConsumedEnergy"
    )
    first, last = "2024-05-01T00:00:00", "2024-05-01T01:00:00"
    jobs = [f"{n}|{first}|{first}|{last}|3600|COMPLETED|8|1||||" for n in range(1, JOBS)]
    steps = [
        f"{n}.{step}||{first}|{last}|3600|COMPLETED|1|1|1|{fraction(chance)}M|gres/gpumem={fraction(chance)}M|{fraction(chance)}K"
        for step in range(ROUNDS)
        for n in range(1, JOBS)
    ]
    return {"steps.sacct": [head, *jobs, *steps]}


def pbs_moves(chance):
    """Return jobs that were moved from queue to queue within a second, and ended without a queue."""
    moves = [
        f"03/10/2025 09:47:50;Q;{n}.s;queue=q{chance.randrange(9)}"
        for _ in range(ROUNDS)
        for n in range(JOBS)
    ]
    ends = [
        f"03/10/2025 09:57:50;E;{n}.s;user=u ctime={SUBMITTED} start={SUBMITTED} end={SUBMITTED + 9}"
        for n in range(JOBS)
    ]
    return {"20250310": [*moves, *ends]}


def pai_tasks(chance):
    """Return jobs of several tasks that asked for fractions."""
    tasks = [
        f"{n},w,3.0,Failed,10,20,{fraction(chance)},{fraction(chance)},{fraction(chance)},T4"
        for _ in range(ROUNDS)
        for n in range(JOBS)
    ]
    return {
        "pai_job_table.csv": [f"{n},i{n},u{n},Failed,5,30" for n in range(JOBS)],
        "pai_task_table.csv": tasks,
    }


def batch_instances(chance):
    """Return tasks whose instances used fractions of a processor."""
    instances = [
        f"i{n},M1,j_{n},1,Terminated,10,{chance.randrange(50, 999)},m1,1,1,{fraction(chance)},99,0.1,0.1"
        for _ in range(ROUNDS)
        for n in range(JOBS)
    ]
    return {
        "batch_task.csv": [f"M1,{ROUNDS},j_{n},1,Terminated,10,999,100,0.1" for n in range(JOBS)],
        "batch_instance.csv": instances,
    }


def states_before(chance):
    """Return tasks of which several states are told before Google's trace, then one run."""
    states = [
        f"0,10,{n},0,0,0,0,0,0,1,{fraction(chance)},{fraction(chance)}"
        for _ in range(ROUNDS)
        for n in range(JOBS)
    ]
    ends = [
        f"{time},{event},{n},0,0,0,0,0,0,1,,"
        for n in range(JOBS)
        for time, event in ((7 * 10**8, 0), (8 * 10**8, 3), (10**9 + n, 6))
    ]
    head = (
        "time,type,collection_id,scheduling_class,missing_type,collection_type,priority,alloc_collection_id,"
        "instance_index,machine_id,resource_request_cpus,resource_request_memory"
    )
    return {"instance_events.csv": [head, *states, *ends]}


@pytest.mark.parametrize(
    ("make", "name", "options"),
    [
        (slurm_steps, "slurm", {}),
        (pbs_moves, "pbs", {}),
        (pai_tasks, "alibaba-gpu2020", {}),
        (batch_instances, "alibaba2018", {"at_once": "true"}),
        (states_before, "google2019-csv", {}),
    ],
)
def test_what_many_rows_say_of_a_job_adds_up_to_the_same(make, name, options, tmp_path):
    files = make(random.Random(name))
    for file, lines in files.items():
        Path(tmp_path, file).write_text("\n".join(lines) + "\n")

    assert_same_with_any_threads([tmp_path / file for file in files], name=name, format_options=options)


@pytest.mark.slow
@pytest.mark.parametrize("way", LASTING, ids=lambda way: way.name)
def test_a_log_that_says_durations_becomes_the_same_store(way, tmp_path):
    path = tmp_path / way.file
    way.write(path, [(SUBMITTED % 10**6 + n // 4, n % 7, n % 100 + 1) for n in range(VECTORS)])

    assert_same_with_any_threads([path], name=way.name, format_options=dict(way.options))


CHAINED = {"alibaba2018", "wfcommons"}
"""Formats that say by name which task waits for which: a thousand of one name make a million pairs."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "one", [one for one in converters() if one.name not in CHAINED], ids=lambda one: one.name
)
def test_a_sample_said_again_and_again_becomes_the_same_store(one, tmp_path):
    chance = random.Random(one.name)
    paths = []
    for path in sample_of(one):
        try:
            rows, together = taken_apart(path)
        except (UnicodeDecodeError, pytest.skip.Exception):
            rows, together = [], None
        copy = tmp_path / path.name
        if rows:
            again = [*rows, *chance.choices(rows, k=VECTORS)]
            copy.write_text(together(again))
        else:
            copy.write_bytes(path.read_bytes())
        paths.append(copy)

    assert_same_with_any_threads(paths, name=one.name)


USUAL = {"lublin_256.swf.gz"}
"""The real logs that `make test` converts."""


@pytest.mark.logs
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=() if path.name in USUAL else pytest.mark.slow, id=named(path))
        for path in sorted({*FILES, *FIRST.values()} - OTHER)
        if path.parent.name != "job_events"
    ],
)
def test_a_real_log_becomes_the_same_store(path):
    try:
        with open_trace([path]):
            pass
    except TraceError as error:
        pytest.skip(f"gwa does not read it: {error}")

    assert_same_with_any_threads([path])


@pytest.mark.parametrize("path", sorted((HOME / "converters").glob("*.sql")), ids=lambda path: path.stem)
def test_jobs_of_a_converter_have_an_order_that_is_not_that_of_threads(path):
    """Rows keep theirs, or are sorted by what no two jobs share: the row of the source that tells of each."""
    header, spec = parse_definition(path.name, path.read_text())
    if header.select:
        assert (path.parent / f"{header.select}.sql").exists()
        return
    with Store.create() as store:
        define_tables(store, spec)
        yields = define_source(store, spec, (), ReadOptions())
        if spec.scope == "row":
            assert keeps_order(store.connection, spec.select)
        else:
            assert {"file_no", "line"} <= yields.keys()
            assert {"source_id", "job_id"} & yields.keys()


@pytest.mark.parametrize(
    ("select", "is_kept"),
    [
        ("select a from rows where b > 1", True),
        ("select a, unnest([1, 2]) from (from rows union all from rows)", True),
        ("select a, (select map(list(b), list(c)) from names)[b] as name from rows", True),
        ("select a from rows where exists (from names where c = 'x')", True),
        ("select a, row_number() over () from rows", True),
        ("from (select distinct a from rows) order by a", True),
        ("select a, c from rows left join names using (b)", False),
        ("select a, (select max(c) from names where names.b = rows.b) from rows", False),
        ("select a from rows where b in (select b from names)", False),
        ("select a from rows semi join names using (b)", False),
        ("select a, c from rows, names", False),
        ("select a, count(*) from rows group by a", False),
        ("select distinct a from rows", False),
        ("from rows qualify row_number() over (partition by a order by b) = 1", False),
    ],
)
def test_tells_which_queries_keep_the_order_of_rows(select, is_kept):
    with duckdb.connect(config={"threads": 2}) as database:
        database.execute("create table rows as select i as a, i % 3 as b from range(10000) as t(i)")
        database.execute("create table names as select i as b, 'n' || i as c from range(100) as t(i)")
        assert keeps_order(database, select) == is_kept
        if is_kept:
            database.execute("pragma verify_parallelism")
            database.execute(f"create table several as {select}")
            database.execute("set threads = 1")
            assert database.execute("from several").fetchall() == database.execute(select).fetchall()


def test_a_definition_that_joins_is_mapped_in_order(tmp_path):
    """A table of names is a stranger's way to write what `swf` looks up."""
    text = (HOME / "converters" / "swf.sql").read_text()
    head, _, _ = text.partition("--- */")
    joined = f"""{head}--- */
select job as job_id, submit as submit_time, run as run_time, procs as n_procs, status,
name as queue_id from source left join (select 1 as queue_no, 'short' as name) using (queue_no)
"""
    (tmp_path / "joined.sql").write_text(joined)
    log = swf(tmp_path / "log.swf", [(line % 5 + 1, line + 1, 1) for line in range(10_000)])

    assert_same_with_any_threads(log, name=str(tmp_path / "joined.sql"))
