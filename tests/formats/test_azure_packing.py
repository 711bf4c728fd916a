"""Azure's trace for packing: each virtual machine against a reading with sqlite3, and files of strangers."""

import sqlite3
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.errors import ArgumentError, GwaError, TraceError
from gwa.formats.open import open_trace, recognise
from gwa.ingest.source.head import FileHead
from gwa.store.options import ReadOptions
from tests.mutation import CHANGES, FEW, mutated

VM = "create table vm (vmId, tenantId, vmTypeId, priority, starttime, endtime)"
TYPE = "create table vmType (id, vmTypeId, machineId, core, memory, hdd, ssd, nic)"
MACHINES = [
    (1, 7, 10, 0, 0.5, 1.25),
    (2, 7, 11, 1, -3.75, 0.125),
    (3, 8, 10, 1, 2.0, None),
    (4, 8, 11, 0, -10.5, None),
    (5, 9, 12, 0, 0.1, 0.1),
    (6, 9, 99, 0, 1.0, 2.0),
]
TYPES = [
    (1, 10, 0, 0.125, 0.0625, None, 0.1, 0.2),
    (2, 10, 1, 0.0625, 0.03125, None, 0.1, 0.2),
    (3, 11, 0, 0.5, 0.25, None, 0.1, 0.2),
    (4, 12, 0, 0.001, 0.002, None, 0.1, 0.2),
]
CORES = 64


def packing(path, machines=MACHINES, types=TYPES):
    database = sqlite3.connect(path)
    database.execute(VM)
    database.execute(TYPE)
    database.executemany("insert into vm values (?, ?, ?, ?, ?, ?)", machines)
    database.executemany("insert into vmType values (?, ?, ?, ?, ?, ?, ?, ?)", types)
    database.commit()
    database.close()
    return path


@pytest.fixture
def path(tmp_path):
    return packing(tmp_path / "zone.sqlite")


def opened(path, name=None, **options):
    return open_trace([path], name, ReadOptions(format_options={"machine_cores": str(CORES), **options}))


def by_hand(path):
    """Return what each machine must be, with nothing but sqlite3."""
    database = sqlite3.connect(path)
    shares: dict[int, tuple[float, float]] = {}
    for kind, core, memory in database.execute("select vmTypeId, core, memory from vmType"):
        least = shares.get(kind, (core, memory))
        shares[kind] = (min(least[0], core), min(least[1], memory))
    for vm, tenant, kind, priority, begin, end in database.execute("select * from vm"):
        first = max(begin * 86400, 0.0)
        core, memory = shares.get(kind, (None, None))
        procs = core and max(round(core * CORES), 1)
        yield (
            str(vm),
            (
                first,
                0.0,
                None if end is None else pytest.approx(end * 86400 - first),
                procs,
                procs,
                None,
                "alive at the end" if end is None else "deleted",
                f"T{tenant}",
                f"V{kind}",
                f"P{priority}",
                core and f"cpu:{core},ram:{memory}",
            ),
        )
    database.close()


def test_each_machine_is_as_sqlite_reads_it(path):
    fields = (
        "submit_time, wait_time, run_time, n_procs, req_n_procs, status, state, user_id, executable_id,"
        " queue_id, req_resources"
    )
    with opened(path) as store:
        rows = store.rows(f"select source_id, {fields} from jobs join source_ids using (job_id)")
        found = {name: tuple(values) for name, *values in rows}
        repairs = dict(store.rows("select name, jobs from repairs"))
        account = store.account
    assert found == dict(by_hand(path))
    assert found["1"][3] == 4
    assert (account.rows, account.jobs, account.rejected) == (6, 6, 0)
    assert (repairs["alive at the end"], repairs["existed before"]) == (2, 2)


def test_it_is_known_by_its_tables(path):
    assert recognise(FileHead.of(path)).name == "azure-packing"


def test_without_the_processors_of_a_machine_it_is_asked_for_them(path):
    with pytest.raises(TraceError, match=r"shares of a machine: .* Answer as in: -O machine_cores=64$"):
        open_trace([path])
    with pytest.raises(ArgumentError, match="the option machine_cores is 'many', expected a number"):
        opened(path, machine_cores="many")


def test_machines_that_cannot_be_read_are_refused_each(tmp_path):
    odd = [
        (7, 1, 10, 0, None, 1.0),
        (8, 1, 10, 0, "soon", 1.0),
        (9, 1, 10, 0, 0.5, b"x"),
        (10, 1, 10, 0, -3, -1),
    ]
    with opened(packing(tmp_path / "odd.sqlite", MACHINES + odd)) as store:
        assert store.rows("select line, reason from rejects order by line") == [
            (7, "its starttime is missing or no number"),
            (8, "its starttime is missing or no number"),
            (9, "its endtime is not a number"),
            (10, "ended before the trace began"),
        ]
        assert (store.account.rows, store.account.jobs) == (10, 6)
    with pytest.raises(TraceError, match="no job in it"):
        opened(packing(tmp_path / "none.sqlite", []))


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        ((VM,), "is a SQLite file without a table vmType"),
        ((TYPE,), "is a SQLite file without a table vm"),
        ((TYPE, "create view vm as select 1 as vmId"), "its vm is not a plain table"),
        ((TYPE, "create table vm (vmId)"), "cannot be read: no such column"),
    ],
)
def test_other_databases_are_refused(statements, reason, tmp_path):
    path = tmp_path / "a.sqlite"
    database = sqlite3.connect(path)
    for statement in statements:
        database.execute(statement)
    database.close()
    with pytest.raises(TraceError, match=reason):
        opened(path, "azure-packing")


@given(changes=CHANGES, cut=st.integers(0, 12_000))
@FEW
def test_any_damage_is_refused_or_accounted_for(changes, cut, path):
    damaged = path.with_name("damaged.sqlite")
    damaged.write_bytes(mutated(path.read_bytes(), changes)[: cut or None])
    with suppress(GwaError), opened(damaged, "azure-packing") as store:
        store.account.check()
