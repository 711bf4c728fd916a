"""A small source is read with fewer statements, which are planned with less care: to the same store."""

from collections import Counter

import duckdb
import pytest

from gwa.errors import StrictError, TraceError
from gwa.formats.open import open_trace
from gwa.formats.registry import converters
from gwa.ingest import pipeline
from gwa.store.engines.config import Engine, parse_size
from gwa.store.engines.duckdb import REPAID_BY_MANY_ROWS, connect
from gwa.store.options import ReadOptions
from gwa.store.requests import RequestStore
from gwa.store.store import Store
from tests.conftest import HOME, thinned
from tests.converters.test_every_converter import sample_of

SETTINGS = ("threads", "disabled_optimizers", "memory_limit")

KEPT = {"slurm", "pbs", "swf", "condor", "sge", "moab"}
"""Converters of every kind: of rows and of whole traces, with tables that are made before, and without."""

MOST = {"slurm": 140, "pbs": 90, "sge": 103, "swf": 72, "lsf": 80}
"""The maximum number of statements in which a sample is opened: a few more than there are."""

LOGS = {
    "slurm": "sacct-2024.txt",
    "pbs": "20250310",
    "sge": "accounting",
    "swf": "tiny.swf",
    "lsf": "lsb.acct",
}


def held(paths, **options):
    """Return the rows of all tables of the store that *paths* become, in the order in which they stand."""
    with open_trace(paths, options=ReadOptions(**options)) as store:
        return {table: store.rows(f"from {table}") for table in ("recorded", *Store.tables)}


def settings(store):
    """Return what the engine of a store is set to."""
    return store.row(f"select {', '.join(f'current_setting({name!r})' for name in SETTINGS)}")


@pytest.mark.parametrize(
    "one",
    thinned(
        [one for one in converters() if RequestStore.holds not in one.holds],
        kept=lambda one: one.name in KEPT,
    ),
    ids=lambda one: one.name,
)
def test_a_small_source_becomes_the_store_that_a_large_one_would_become(one, monkeypatch):
    small = held(sample_of(one))
    monkeypatch.setattr(pipeline, "SMALL_SOURCE", 0)
    assert held(sample_of(one)) == small


@pytest.mark.parametrize("one", ["slurm", "swf"])
def test_rows_of_several_small_files_are_mapped_together(one, tmp_path, monkeypatch):
    log = HOME / "sample_traces" / one / LOGS[one]
    head, *rows = log.read_text().splitlines(keepends=True)
    parts = [tmp_path / f"{number}{log.suffix}" for number in range(3)]
    for number, part in enumerate(parts):
        part.write_text("".join([head, *rows[number::3]]))
    parts[1].write_text(parts[1].read_text() + "what is no job\n")
    small = held(parts)
    monkeypatch.setattr(pipeline, "SMALL_SOURCE", 0)
    assert held(parts) == small
    assert parts[1].name in {name for name, *_ in small["rejects"]}
    with pytest.raises(StrictError, match=parts[1].name):
        open_trace(parts, options=ReadOptions(strict=True))


@pytest.mark.parametrize("threads", [None, 3])
@pytest.mark.parametrize("one", ["slurm", "swf"])
def test_the_engine_is_as_it_was_after_a_small_source(one, threads):
    engine = Engine(threads=threads)
    with Store.create(engine=engine) as store:
        untouched = settings(store)
    with open_trace([HOME / "sample_traces" / one / LOGS[one]], options=ReadOptions(engine=engine)) as store:
        assert settings(store) == untouched
        assert not (store.scratch / "rows").exists()


def test_the_memory_that_a_user_states_is_that_of_small_sources_too():
    engine = Engine(memory="600MB")
    seen = []

    def inspect(store):
        seen.append(parse_size(settings(store)[2]))

    log = HOME / "sample_traces" / "slurm" / LOGS["slurm"]
    with open_trace([log], options=ReadOptions(engine=engine, inspect=inspect)):
        assert seen[0] <= parse_size("600MB")


def test_a_faulty_row_of_a_small_source_is_named(tmp_path):
    log = tmp_path / "a.swf"
    log.write_text("; Version: 2.2\n" + "1 x 5 60 2 -1 -1 2 60 -1 1 1 1 1 1 1 -1 -1\n")
    with pytest.raises(TraceError, match="submit is 'x', expected a number"):
        open_trace([log])


class Counted:
    """A connection that counts its statements."""

    def __init__(self, connection, asked):
        self.connection, self.asked = connection, asked

    def execute(self, sql, *values):
        self.asked[sql] += 1
        return self.connection.execute(sql, *values)

    def __getattr__(self, name):
        return getattr(self.connection, name)


@pytest.mark.parametrize("one", MOST)
def test_a_small_source_takes_few_statements(one, monkeypatch):
    asked: Counter[str] = Counter()
    log = HOME / "sample_traces" / one / LOGS[one]
    open_trace([log]).close()  # what its SELECT yields is known then
    monkeypatch.setattr("gwa.store.store.connect", lambda *given: Counted(connect(*given), asked))
    open_trace([log]).close()
    assert asked.total() <= MOST[one]
    assert not [sql for sql in asked if sql.startswith(("copy", "explain"))]


def test_no_optimizer_is_named_that_the_engine_does_not_have():
    assert set(REPAID_BY_MANY_ROWS) <= {
        name for (name,) in duckdb.connect().execute("from duckdb_optimizers()").fetchall()
    }
