"""Stores that a disk or a copy damaged: one flipped bit is refused, or changes nothing that they say."""

import random
import sqlite3

import duckdb
import pytest

from gwa.errors import GwaError
from gwa.formats.convert import convert
from gwa.formats.open import open_trace
from gwa.store.options import ReadOptions
from gwa.store.schema import EXTENSION_NAMES, NAMES
from gwa.util import seal

LOG = "; UnixStartTime: 1000000000\n; MaxProcs: 8\n; Computer: heron\n" + "".join(
    f"{job} {job * 100} 5 {60 + job % 7} 2 -1 -1 2 60 -1 1 {job % 5} 1 {job % 3} 1 1 -1 -1\n"
    for job in range(1, 200)
)
KINDS = ("duckdb", "parquet", "sqlite")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with the same trace in each kind of store."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "log.swf").write_text(LOG)
    for kind in KINDS:
        convert([folder / "log.swf"], folder / f"a.{kind}")
    return folder


def content(path):
    """Return all that a store says: its jobs, its header, its account, and what was remarked."""
    with open_trace([path]) as store:
        account = store.account
        return (
            store.rows("from jobs order by all"),
            store.header,
            account,
            store.rows("select name, meaning, jobs from repairs where name <> 'no checksum' order by all"),
        )


def flipped(path, target, bit):
    """Write a copy of a file with one *bit* flipped."""
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    target.write_bytes(data)


def wrong_flips(made, tmp_path, kind, flips):
    """Return how many flips were refused, and those after which a store says something else."""
    source, target = made / f"a.{kind}", tmp_path / f"flipped.{kind}"
    right, refused, wrong = content(source), 0, []
    draw = random.Random(kind)
    for _ in range(flips):
        bit = draw.randrange(8 * source.stat().st_size)
        flipped(source, target, bit)
        try:
            if content(target) != right:
                wrong.append(bit)
        except GwaError:
            refused += 1
    return refused, wrong


@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_is_refused_or_changes_nothing(kind, made, tmp_path):
    _, wrong = wrong_flips(made, tmp_path, kind, 6)
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_two_hundred_flipped_bits(kind, made, tmp_path):
    refused, wrong = wrong_flips(made, tmp_path, kind, 200)
    assert wrong == []
    assert kind == "duckdb" or refused >= 199


@pytest.mark.parametrize("kind", ["parquet", "sqlite"])
@pytest.mark.parametrize("text", [b"gwa_seal", b"gwa-sha256:"])
def test_a_checksum_that_the_metadata_lost_is_looked_for(kind, text, made, tmp_path):
    """Else one bit would make of a store one that has no checksum."""
    data = bytearray((made / f"a.{kind}").read_bytes())
    data[data.rindex(text)] ^= 1
    (tmp_path / f"a.{kind}").write_bytes(data)
    with pytest.raises(GwaError, match="is damaged: its content does not fit its checksum"):
        content(tmp_path / f"a.{kind}")


def test_a_seal_is_of_all_that_the_file_holds(tmp_path):
    """Also across the blocks in which it is read."""
    for before in (0, 7, seal.BLOCK - 3, seal.BLOCK - 40, 2 * seal.BLOCK - 75):
        path, empty = tmp_path / str(before), seal.blank()
        path.write_bytes(b"x" * before + empty.encode() + b"y" * 100)
        seal.seal(path, empty)
        found = path.read_bytes()[before : before + len(empty)].decode()
        assert seal.is_intact(path, found)
        assert seal.has_any(path)
        flipped(path, tmp_path / "other", 8 * (before + 100))
        assert not seal.is_intact(tmp_path / "other", found)


def remarks(path):
    with open_trace([path]) as store:
        return dict(store.rows("select name, meaning from repairs"))


def test_a_store_without_a_checksum_is_opened_and_that_is_said(made, tmp_path):
    (tmp_path / "a.sqlite").write_bytes((made / "a.sqlite").read_bytes())
    with sqlite3.connect(tmp_path / "a.sqlite") as database:
        database.execute("delete from gwa_metadata where key = 'gwa_seal'")
    with sqlite3.connect(tmp_path / "a.sqlite", isolation_level=None) as database:
        database.execute("vacuum")
    rewritten = tmp_path / "a.parquet"
    with duckdb.connect() as database:
        ((note,),) = database.execute(
            "select value from parquet_kv_metadata(?) where key = 'gwa'", [str(made / "a.parquet")]
        ).fetchall()
        rows = f"(from '{made / 'a.parquet'}')"
        database.execute(
            f"copy {rows} to '{rewritten}' (format parquet, kv_metadata {{gwa: $note}})",
            {"note": note.decode()},
        )
    for path in (tmp_path / "a.sqlite", rewritten):
        assert "no checksum" in remarks(path)
        assert content(path) == content(made / path.name)
    assert "no checksum" not in remarks(made / "a.sqlite")


def test_what_another_program_changed_on_purpose_is_opened_and_that_is_said(made, tmp_path):
    """SQLite counts changes, and pyarrow takes metadata along into a file of its own."""
    from pyarrow import parquet

    (tmp_path / "a.sqlite").write_bytes((made / "a.sqlite").read_bytes())
    with sqlite3.connect(tmp_path / "a.sqlite") as database:
        database.execute("delete from Jobs where JobID > 100")
    parquet.write_table(parquet.read_table(made / "a.parquet").slice(0, 100), tmp_path / "a.parquet")
    for kind in ("sqlite", "parquet"):
        assert len(content(tmp_path / f"a.{kind}")[0]) == 100
        assert "no checksum" in remarks(tmp_path / f"a.{kind}")


def test_the_parts_of_a_trace_by_months_have_a_checksum_each(made, tmp_path):
    convert([made / "log.swf"], tmp_path / "m.parquet", by_month=True)
    (part,) = (tmp_path / "m.parquet").rglob("jobs.parquet")
    flipped(part, part, 8 * (part.stat().st_size // 2))
    with pytest.raises(GwaError, match=r"jobs\.parquet: is damaged"):
        content(tmp_path / "m.parquet")


# --- Stores of other versions ---


@pytest.mark.parametrize(
    "change",
    ["alter table recorded add column planet varchar", "alter table sources add column planet varchar"],
)
def test_a_store_of_a_newer_version_says_so(change, made, tmp_path):
    path = tmp_path / "a.duckdb"
    path.write_bytes((made / "a.duckdb").read_bytes())
    with duckdb.connect(str(path)) as database:
        database.execute(change)
        database.execute("update provenance set value = '9.1' where key = 'gwa'")
    with pytest.raises(GwaError, match=r"made by a newer gwa \(9\.1\): it holds .*planet"):
        content(path)


def test_a_field_that_is_gone_is_left_aside(made, tmp_path):
    path = tmp_path / "a.duckdb"
    path.write_bytes((made / "a.duckdb").read_bytes())
    with duckdb.connect(str(path)) as database:
        database.execute("alter table recorded add column requeued_cpu_seconds double")
    assert content(path) == content(made / "a.duckdb")


@pytest.mark.parametrize("kind", ["parquet", "sqlite"])
def test_a_newer_parquet_or_sqlite_says_so_too(kind, made, monkeypatch):
    from gwa.formats.builtin import parquet, sqlite

    monkeypatch.setattr(parquet, "NAMES", tuple(name for name in NAMES if name != "user_id"))
    monkeypatch.setattr(sqlite, "fields_of", lambda columns: {
        name: place for name, place in fields_of(columns).items() if name != "user_id"
    })  # fmt: skip
    with pytest.raises(
        GwaError, match=r"made by a newer gwa: it holds (user_id|UserID), which gwa .* does not know"
    ):
        content(made / f"a.{kind}")


def fields_of(columns):
    from gwa.formats.builtin._columns import fields_of as known

    return known(columns)


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_of_an_earlier_version_opens_and_says_what_it_lacks(kind, made, tmp_path, monkeypatch):
    """As those of today will, once there are more fields."""
    from gwa.store import versions

    monkeypatch.setattr(versions, "EXTENSION_NAMES", (*EXTENSION_NAMES, "planet", "moon"))
    wanted = (
        "an earlier gwa made the store, which did not keep planet, moon: convert its log again to have it"
    )
    assert remarks(made / f"a.{kind}")["earlier gwa"] == wanted
    copy = tmp_path / "copy.duckdb"
    convert([made / f"a.{kind}"], copy)
    assert remarks(copy)["earlier gwa"] == wanted
    convert([made / "log.swf"], tmp_path / "new.duckdb", options=ReadOptions())
    assert "earlier gwa" not in remarks(tmp_path / "new.duckdb")


def test_the_fields_of_stores_that_do_not_say_which_they_keep():
    """A field that is added later must not be among them."""
    from gwa.store.versions import FIRST_FIELDS, fields_lacking

    assert fields_lacking({}) == [name for name in EXTENSION_NAMES if name not in FIRST_FIELDS.split()]
