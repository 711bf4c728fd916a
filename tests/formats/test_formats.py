"""What holds for every format that is written: what was written is read again, all of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.errors import GwaError, OutputError, TraceError, UnknownFormat
from gwa.formats.convert import convert
from gwa.formats.open import open_trace
from gwa.formats.registry import writer
from gwa.store.account import Account
from gwa.store.options import ReadOptions
from gwa.store.schema import EARLIEST_UNIX_TIME, FIELDS
from gwa.store.system import ABSOLUTE
from gwa.util.units import DAY
from tests.conftest import examples
from tests.formats.some_jobs import JOBS

EXACT = (".gwf", ".parquet", ".sqlite", ".duckdb")
EVERY = pytest.mark.parametrize("suffix", EXACT)

SAME = ("header", "rejects", "repairs")
"""Tables beside the jobs that every exact format keeps, except that text has no room for rejects."""

# Values that a reader of text could take for something else.
NASTY = (
    "-1", "-1.0", "-1.000000", "-", "-x y", "#x", "a\tb", "a b", " a", "a ", "%41", "%", "%FF", "a+b", "a\nb",
    "\x00", "\r", "a\r\nb", "\x1a", "\x1f", "\u2028", "\u00a0", "\u3000", "\ufeff", "é", "日本", '"', "'a'",
    "\\N", "NULL", "nan", "xASKALON", "-ASKALON", "% ASKALON", "1e9", "0", "Q1", ";", ",",
    "n_gpus:4", "~energy:1,n_gpus:x", "a,state:,~qos:y", ",qos:", "a:b%2Cc",
)  # fmt: skip


def value_of(field):
    """Return a strategy for valid values of a field."""
    if field.name == "status":
        return st.sampled_from([0, 1, 5])
    if field.name == "runs":
        return st.sampled_from(["0/5/////evicted;60//3/4/0.5/2/", "7/1/////completed"])
    if field.name == "node_list":  # any other text is no list and is cleared when it is read
        return st.from_regex(
            r"[-~:@A-Za-z0-9_.]{1,4}(\[0?[1-4]-0?[5-9],7\])?(\*[1-9])?(,n-1)?", fullmatch=True
        )
    if field.is_text:
        return st.sampled_from(NASTY) | st.text(max_size=12)
    if field.is_whole:
        return st.integers(0, int(field.high))
    return st.floats(0, field.high, allow_nan=False) | st.integers(0, int(field.high)).map(float)


VALUES = {field.name: value_of(field) for field in FIELDS if field.name != "job_id"}
IDS = st.lists(st.integers(0, 2**62), min_size=1, max_size=25, unique=True)
KEYS = st.from_regex(r"[A-Z][a-z0-9]{5,9}", fullmatch=True)
PRINTABLE = st.text(st.characters(exclude_categories=("C", "Z")), max_size=20)
LINES = st.lists(
    st.tuples(KEYS, st.lists(PRINTABLE.filter(bool), max_size=3).map("  ".join)), max_size=5, unique=True
)


@st.composite
def traces(draw):
    """Return fields, header, repairs and account of a trace, whose jobs all have one time at least."""
    ids = draw(IDS)
    some = sorted(draw(st.sets(st.sampled_from(sorted(VALUES)), min_size=1)))
    columns = {
        name: draw(st.lists(st.none() | VALUES[name], min_size=len(ids), max_size=len(ids)))
        for name in sorted(some)
    }
    timed = draw(st.sampled_from(["submit_time", "run_time"]))
    columns[timed] = draw(st.lists(VALUES[timed], min_size=len(ids), max_size=len(ids)))
    for name in ("submit_time", "eligible_time"):
        if has_lost_times(columns.get(name, [])):
            columns[name] = [None if time is None else max(time, DAY + 1.0) for time in columns[name]]
    folded, rejected, comments = draw(st.tuples(*[st.integers(0, 99)] * 3))
    rows = len(ids) + folded + rejected + comments
    repairs = draw(st.lists(st.tuples(KEYS, KEYS, st.integers(1, 9)), max_size=3, unique=True))
    account = Account(rows, len(ids), folded, rejected, comments)
    return {"job_id": ids, **columns}, draw(LINES), repairs, account


def said_times(columns):
    """Return the line that a reader adds where submit times can only be Unix times."""
    known = [value for value in columns.get("submit_time", []) if value is not None]
    return [("Times", ABSOLUTE)] if known and min(known) >= EARLIEST_UNIX_TIME else []


def has_lost_times(times):
    """Whether a reader takes early *times* among Unix times for such as are not known."""
    known = [value for value in times if value is not None]
    absolute = sum(value >= EARLIEST_UNIX_TIME for value in known)
    return 2 * absolute > len(known) and min(known) <= DAY


def jobs_of(store):
    return store.rows("select * from jobs order by job_id")


@EVERY
@given(trace=traces())
@examples(15)
def test_what_was_written_is_read_again(suffix, trace, make_store, tmp_path):
    columns, header, repairs, account = trace
    path = tmp_path / f"trace{suffix}"
    with make_store(tuple(said_times(columns) + header), **columns) as store:
        store.insert("repairs", repairs)
        store.set_account(account)
        writer(path).save(store, path)
        with open_trace([path]) as again:
            expected = jobs_of(store)
            if suffix == ".gwf":  # text has one way to say that nothing is known
                expected = [tuple(value if value != "" else None for value in job) for job in expected]

            assert jobs_of(again) == expected
            assert again.header == store.header
            assert again.account == account
            assert again.rows("from repairs order by all") == store.rows("from repairs order by all")
            assert again.system == store.system


@pytest.mark.parametrize("suffix", [".gwf.gz", ".gwf.zst", ".swf.gz", ".swf.zst"])
def test_text_is_compressed_as_the_name_says(suffix, make_store, tmp_path):
    path, plain = tmp_path / f"trace{suffix}", tmp_path / f"trace{suffix[:4]}"
    store = make_store(**JOBS)
    for one in (path, plain):
        writer(one).save(store, one)

    with open_trace([path]) as packed, open_trace([plain]) as loose:
        assert jobs_of(packed) == jobs_of(loose)
    assert path.read_bytes()[:2] == (b"\x1f\x8b" if suffix.endswith("gz") else b"\x28\xb5")


@pytest.mark.parametrize("suffix", [".parquet", ".sqlite", ".duckdb"])
def test_formats_that_are_no_text_are_not_compressed_again(suffix, make_store, tmp_path):
    path = tmp_path / f"trace{suffix}.gz"
    with pytest.raises(OutputError, match="expected a name without"):
        writer(path).save(make_store(**JOBS), path)


@pytest.mark.parametrize("suffix", [".parquet", ".sqlite", ".duckdb"])
def test_a_compressed_table_is_to_be_unpacked_first(suffix, make_store, tmp_path):
    import gzip

    path, packed = tmp_path / f"trace{suffix}", tmp_path / f"trace{suffix}.gz"
    writer(path).save(make_store(**JOBS), path)
    packed.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(UnknownFormat, match="unpack it first"):
        open_trace([packed])


@EVERY
def test_dependencies_and_ids_of_the_source_travel_where_there_is_room(suffix, make_store, tmp_path):
    store = make_store(**JOBS)
    store.insert("dependencies", [(2, 1, 3.5), (3, 1, None), (3, 2, 0.0)])
    store.insert("source_ids", [(1, "123[4].host"), (2, "55_7"), (2, "55_8")])
    store.insert("rejects", [("a.log", 7, "17 columns", "text\tof it")])
    path = tmp_path / f"trace{suffix}"
    writer(path).save(store, path)
    with open_trace([path]) as again:
        for table in ("dependencies", "source_ids", "rejects"):
            expected = [] if suffix == ".gwf" else store.rows(f"from {table} order by all")
            assert again.rows(f"from {table} order by all") == expected
        assert len(jobs_of(again)) == 4


@EVERY
def test_the_name_of_a_file_may_hold_any_sign(suffix, make_store, tmp_path):
    folder = tmp_path / "a'b [1]*%20#;\"é"
    folder.mkdir()
    path = folder / f"x'[y]*;#%41{suffix}"
    store = make_store(**JOBS)
    for _ in range(2):
        writer(path).save(store, path)
    with open_trace([path]) as again:
        assert jobs_of(again) == jobs_of(store)
    assert [one.name for one in folder.iterdir()] == [path.name]


@EVERY
def test_a_system_file_has_the_last_word(suffix, make_store, tmp_path):
    path = tmp_path / f"trace{suffix}"
    writer(path).save(make_store((("MaxProcs", "64"),), **JOBS), path)
    with open_trace([path], options=ReadOptions(system={"cpus": 4096, "name": "Heron"})) as store:
        assert (store.system.cpus, store.system.name) == (4096, "Heron")


@EVERY
def test_a_store_can_be_made_where_it_is_wanted(suffix, make_store, tmp_path):
    store, path, made = make_store(**JOBS), tmp_path / f"trace{suffix}", tmp_path / "made.duckdb"
    writer(path).save(store, path)
    convert([path], made)
    path.unlink()
    with open_trace([made]) as again:
        assert jobs_of(again) == jobs_of(store)
        assert again.account == store.account or suffix == ".gwf"


@EVERY
def test_an_output_replaces_an_earlier_one_only_when_whole(suffix, make_store, tmp_path, monkeypatch):
    path = tmp_path / f"trace{suffix}"
    store = make_store(**JOBS)
    writer(path).save(store, path)
    before = path.read_bytes()

    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fails)
    with pytest.raises(OutputError, match="No space left on device"):
        writer(path).save(store, path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


@EVERY
@pytest.mark.parametrize("keep", [0.0, 0.3, 0.6, 0.95])
def test_a_file_that_was_cut_is_an_error_or_a_counted_loss(suffix, keep, make_store, tmp_path):
    path = tmp_path / f"trace{suffix}"
    many = {name: [*values] * 500 for name, values in JOBS.items()}
    writer(path).save(make_store(**many), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * keep)])
    try:
        store = open_trace([path])
    except GwaError as error:
        told = str(error)
    else:
        told = ""
        with store:
            store.account.check()
            assert len(jobs_of(store)) == store.account.jobs < 2000
    assert "\n" not in told


@pytest.mark.parametrize("suffix", [".parquet", ".sqlite"])
def test_several_files_are_one_trace(suffix, make_store, tmp_path):
    parts = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for number, part in enumerate(parts):
        store = make_store((("Computer", "Heron"), ("Note", part.stem)), **{"job_id": [1, 2, 3, 4], **JOBS})
        store.connection.execute("update recorded set job_id = job_id + 10 * ?", [number])
        store.set_account(Account(10, 4, 1, 2, 3))
        store.insert("repairs", [("skew", "was mended", number + 1)])
        writer(part).save(store, part)
    with open_trace(parts) as both:
        assert [job[0] for job in jobs_of(both)] == [1, 2, 3, 4, 11, 12, 13, 14]
        assert both.header == (("Computer", "Heron"), ("Note", "a"), ("Note", "b"), ("Times", ABSOLUTE))[:3]
        assert both.account == Account(20, 8, 2, 4, 6)
        assert both.rows("select sum(jobs) from repairs") == [(3,)]


def test_several_stores_are_refused(make_store, tmp_path):
    paths = [tmp_path / f"{name}.duckdb" for name in "ab"]
    for path in paths:
        writer(path).save(make_store(**JOBS), path)
    with pytest.raises(TraceError, match="cannot join several stores"):
        open_trace(paths)
