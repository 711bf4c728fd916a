"""GWF text as the archive's files have it, with all that is odd in them."""

import gzip
from urllib.parse import unquote

import pytest
import zstandard

from gwa.errors import TraceError
from gwa.formats.open import open_trace, recognise
from gwa.formats.registry import writer
from gwa.ingest.source.head import FileHead
from gwa.store.account import Account
from gwa.store.options import ReadOptions
from gwa.store.schema import EXTENSION_NAMES, GWF_FIELDS, GWF_NAMES
from tests.conftest import HOME

LINE = "1 1133308800 5 100 4 98.5 2048 4 3600 -1 1 U0 G0 X0 Q0 P0 S0 S1 UNITARY -1 -1 -1 -1 -1 -1 -1 -1 V0 -1"
"""A job as an archive's file has it."""

SAMPLES = HOME / "sample_traces"


def job(**changed):
    """Return the cells of a job; *changed* are fields by their names."""
    names = [field.name for field in GWF_FIELDS]
    return [str(changed.get(name, cell)) for name, cell in zip(names, LINE.split(), strict=True)]


def lines_of(*jobs, delimiter="\t"):
    return "".join(delimiter.join(cells) + "\n" for cells in jobs)


@pytest.fixture
def opened(tmp_path):
    """Return a function that reads text as a trace."""
    stores = []

    def read_text(text, name="trace.gwf", **wishes):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        stores.append(open_trace([path], options=ReadOptions(**wishes)))
        return stores[-1]

    yield read_text
    for store in stores:
        store.close()


def values(store, names):
    return store.rows(f"select {names} from jobs order by job_id")


def test_reads_every_field(opened):
    store = opened("# Processors: 64\n" + lines_of(job()))

    ((*first, vo, project),) = values(store, ", ".join(GWF_NAMES))
    assert first[:11] == [1, 1133308800.0, 5.0, 100.0, 4, 98.5, 2048.0, 4, 3600.0, None, 1]
    assert first[11:] == ["U0", "G0", "X0", "Q0", "P0", "S0", "S1", "UNITARY", *[None] * 8]
    assert (vo, project) == ("V0", None)
    assert store.system.cpus == 64
    assert store.account == Account(2, 1, 0, 0, 1)


@pytest.mark.parametrize("delimiter", ["\t", " ", "   ", "\t\t", " \t ", "  \t"], ids=repr)
def test_cells_are_parted_by_tabs_or_by_blanks(delimiter, opened):
    store = opened(lines_of(job(), job(job_id=2), delimiter=delimiter))
    assert values(store, "job_id, run_time, user_id, vo_id") == [
        (1, 100.0, "U0", "V0"),
        (2, 100.0, "U0", "V0"),
    ]


def test_lines_may_begin_and_end_with_blanks_and_end_as_on_windows(opened):
    text = "  " + " ".join(job()) + "  \r\n" + " ".join(job(job_id=2)) + "\r\n\r\n"
    assert opened(text).account == Account(3, 2, 0, 0, 1)


def test_between_tabs_a_text_may_hold_blanks(opened):
    store = opened(lines_of(job(user_id="Jane Doe", executable_id="a  b")))
    assert values(store, "user_id, executable_id") == [("Jane Doe", "a  b")]


def test_28_columns_lack_the_last(opened):
    store = opened(lines_of(job()[:28], job(job_id=2)[:28]))
    assert values(store, "vo_id, project_id") == [("V0", None)] * 2


def test_30_columns_have_an_unknown_one_before_the_structure(opened):
    wide = [*job()[:18], "extra", *job()[18:]]
    assert values(opened(lines_of(wide)), "last_run_site_id, job_structure, vo_id") == [
        ("S1", "UNITARY", "V0")
    ]


@pytest.mark.parametrize("missing", ["-1", "-1.0", "-1.00", "-1.000000", ""])
def test_missing_is_written_in_many_ways(missing, opened):
    store = opened(lines_of(job(run_time=missing, n_procs=missing, user_id=missing, status=missing)))
    assert values(store, "run_time, n_procs, user_id, status") == [(None, None, None, None)]


def test_times_in_milliseconds_are_told_by_the_end_of_the_line(opened):
    store = opened(lines_of(job(submit_time=1133308800500, project_id="ASKALON")))
    assert values(store, "submit_time, project_id") == [(1133308800.5, "ASKALON")]


def test_the_format_of_workflows_is_no_gwf(tmp_path):
    text = "WorkflowID, JobID, SubmitTime, RunTime, NProcs, ReqNProcs, Dependencies\n1, 1, 0, 5, 1, 1, \n"
    path = tmp_path / "trace.gwf"
    path.write_text(text)
    with pytest.raises(TraceError, match="workflow simulators"):
        open_trace([path], "gwf")


def test_names_are_decoded_only_where_the_header_says_that_they_are_encoded(opened):
    assert values(opened(lines_of(job(user_id="a%20b"))), "user_id") == [("a%20b",)]
    assert values(opened("# Encoding: percent\n" + lines_of(job(user_id="a%20b"))), "user_id") == [("a b",)]
    assert values(opened("# Encoding: percent\n" + lines_of(job(user_id="%FF%"))), "user_id") == [("%FF%",)]


def test_job_numbers_that_repeat_are_replaced_in_order_of_submission(opened):
    store = opened(lines_of(job(submit_time=20), job(submit_time=10), job(submit_time=30, job_id="x")))
    assert values(store, "job_id, submit_time") == [(1, 10.0), (2, 20.0), (3, 30.0)]
    assert store.rows("select name, jobs from repairs") == [("job numbers", 3)]


@pytest.mark.parametrize(
    ("field", "written", "kept", "repair"),
    [
        ("run_time", "-60", 0.0, "clock skew"),
        ("wait_time", "-3900", 0.0, "clock skew"),
        ("wait_time", "-3901", None, "invalid value"),
        ("run_time", "nan", None, "invalid value"),
        ("run_time", "inf", None, "invalid value"),
        ("run_time", "1e300", None, "invalid value"),
        ("n_procs", "-5", None, "invalid value"),
        ("n_procs", "2.5", None, "invalid value"),
        ("n_procs", "1e300", None, "invalid value"),
        ("n_procs", "9223372036854775807", None, "invalid value"),
        ("status", "7", None, "unknown status"),
        ("status", "9223372036854775807", None, "invalid value"),
        ("submit_time", "-2208988800", None, "invalid value"),
        ("submit_time", "221876927999", 221876927999.0, None),
        ("submit_time", "253402300800", None, "invalid value"),
    ],
)
def test_what_a_field_cannot_hold_is_counted(field, written, kept, repair, opened):
    store = opened(lines_of(job(**{field: written}), job(job_id=5)))
    assert values(store, field)[0] == (kept,)
    assert store.rows("select name, jobs from repairs") == ([(repair, 1)] if repair else [])


@pytest.mark.parametrize("number", ["9223372036854775807", "-9223372036854775808", "1e300", "nan", "x"])
def test_what_is_no_number_of_a_job_makes_jobs_be_numbered_anew(number, opened):
    store = opened(lines_of(job(job_id=number), job(job_id=5, submit_time=1)))
    assert values(store, "job_id, submit_time") == [(1, 1.0), (2, 1133308800.0)]
    assert ("job numbers", 2) in store.rows("select name, jobs from repairs")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gz", "zst"])
def test_compression_is_told_by_the_content(pack, opened):
    assert len(values(opened(pack(lines_of(job()).encode()), "trace.gwf"), "*")) == 1


def test_files_of_one_kind_are_one_trace(tmp_path):
    (tmp_path / "a.gwf").write_text("# Computer: Heron\n" + lines_of(job()))
    (tmp_path / "b.gwf").write_text("# Computer: Heron\n# Note: b\n" + lines_of(job(job_id=2)))
    with open_trace([tmp_path / "a.gwf", tmp_path / "b.gwf"]) as store:
        assert store.account == Account(5, 2, 0, 0, 3)
        assert [key for key, _ in store.header if key != "Times"] == ["Computer", "Note"]

    (tmp_path / "c.gwf").write_text(lines_of(job()[:28]))
    with pytest.raises(TraceError, match="the files differ in their columns"):
        open_trace([tmp_path / "a.gwf", tmp_path / "c.gwf"])


def test_is_recognised_by_its_content(tmp_path):
    path = tmp_path / "unnamed"
    path.write_text(lines_of(job()))
    assert recognise(FileHead.of(path)).name == "gwf"


def test_is_written_as_known_readers_want_it(make_store, tmp_path):
    path = tmp_path / "trace.gwf"
    store = make_store(
        (("Computer", "Heron"), ("MaxProcs", "64 (8, 56)")),
        job_id=[3, 4],
        submit_time=[1e9 + 0.5, 1e9],
        run_time=[60.0, 1e-7],
        n_procs=[2, None],
        user_id=["#a b", "-1"],
    )
    writer(path).save(store, path)
    lines = path.read_text().splitlines()
    comments = [line for line in lines if line.startswith("#")]

    assert "# Processors: 64" in comments
    assert lines[: len(comments)] == comments
    assert [line.split("\t")[:5] for line in lines[-2:]] == [
        ["4", "1000000000", "-1", "1e-07", "-1"],
        ["3", "1000000000.5", "-1", "60", "2"],
    ]
    assert [line.split("\t")[11] for line in lines[-2:]] == ["%2D1", "%23a%20b"]
    assert all(len(line.split()) == 29 for line in lines[-2:])


def test_is_the_same_whatever_the_order_of_jobs(make_store, tmp_path):
    jobs: dict[str, list[object]] = {
        "job_id": [1, 2, 3],
        "submit_time": [5.0, 5.0, None],
        "user_id": ["a", "b", "c"],
    }
    texts = []
    for name, order in (("a", 1), ("b", -1)):
        path = tmp_path / f"{name}.gwf"
        writer(path).save(make_store(**{key: cells[::order] for key, cells in jobs.items()}), path)
        texts.append(path.read_bytes())
    assert texts[0] == texts[1]


def test_the_sample_is_read_without_loss(sample):
    with open_trace([sample / "gwf" / "three-trees.gwf"]) as store:
        assert store.account == Account(310, 300, 0, 0, 10)
        assert store.rows("from repairs") == []
        assert (store.system.cpus, store.system.zone, store.system.relative) == (
            112,
            "Europe/Amsterdam",
            False,
        )


# Files read independently: cells between tabs, and nothing else.


def by_hand(path):
    """Return the jobs of a file as its cells say, in their order."""
    text = path.read_text()
    decoded = unquote if "# Encoding: percent" in text else str
    found = []
    for line in text.splitlines():
        if not line.startswith("#"):
            cells = zip(GWF_FIELDS, line.split("\t"), strict=True)
            found.append(
                tuple(
                    None if cell in {"-1", "-1.0"} else cell if field.is_text else float(cell)
                    for field, cell in ((field, own_items(decoded(cell))) for field, cell in cells)
                )
            )
    return found


def own_items(cell):
    """Return a cell without the extension fields among its items."""
    items = [item for item in cell.split(",") if ":" not in item or item.split(":")[0] not in EXTENSION_NAMES]
    return ",".join(item.removeprefix("~") for item in items) or "-1"


@pytest.mark.parametrize(
    "path",
    [*SAMPLES.glob("*/expected.gwf"), SAMPLES / "gwf" / "three-trees.gwf"],
    ids=lambda path: path.parent.name,
)
def test_every_field_is_as_a_few_lines_of_python_read_it(path):
    with open_trace([path]) as store:
        names = ", ".join(field.name for field in GWF_FIELDS)
        assert sorted(store.rows(f"select {names} from jobs")) == sorted(by_hand(path))


GPU_JOBS = {
    "submit_time": [1e9, 1e9 + 1],
    "run_time": [5.0, 6.0],
    "n_gpus": [0.5, None],
    "req_gpus": [2.0, 1.0],
    "gpu_type": ["a100:2,v100:1", None],
    "energy": [None, 1500.0],
    "qos": ["high, prio", None],
    "used_resources": ["disk:4,energy:9", None],
}


def test_extension_fields_stand_among_the_resources(make_store, tmp_path):
    """Readers of the archive's files find 29 columns; gwa finds the fields, and the text that was there."""
    path = tmp_path / "trace.gwf"
    writer(path).save(make_store(**GPU_JOBS), path)
    lines = path.read_text().splitlines()
    cells = [line.split("\t") for line in lines if not line.startswith("#")]
    used, requested = GWF_NAMES.index("used_resources"), GWF_NAMES.index("req_resources")

    assert [len(row) for row in cells] == [29, 29]
    assert [unquote(row[used]) for row in cells] == [
        "n_gpus:0.5,gpu_type:a100%3A2%2Cv100%3A1,disk:4,~energy:9",
        "energy:1500",
    ]
    assert [unquote(row[requested]) for row in cells] == ["req_gpus:2,qos:high%2C prio", "req_gpus:1"]
    assert "# Extension: n_gpus in UsedResources: GPUs allocated, may be a fraction" in lines
    with open_trace([path]) as store:
        names = [*GPU_JOBS]
        assert values(store, ", ".join(names)) == list(zip(*GPU_JOBS.values(), strict=True))
        assert not any(key == "Extension" for key, _ in store.header)


def test_items_of_others_are_no_fields(opened):
    text = lines_of(job(used_resources="n_gpus:4,disk:2"))
    for encoding in ("", "# Encoding: percent\n", "# Extension: n_gpus in UsedResources: x\n"):
        store = opened(encoding + text)
        assert values(store, "n_gpus, used_resources") == [(None, "n_gpus:4,disk:2")]


def test_an_amount_that_is_none_is_counted(opened):
    head = "# Encoding: percent, extension fields\n# Extension: n_gpus in UsedResources: GPUs\n"
    store = opened(
        head + lines_of(job(used_resources="n_gpus:many"), job(job_id=2, used_resources="n_gpus:-3"))
    )

    assert values(store, "n_gpus, used_resources") == [(None, None), (None, None)]
    assert store.rows("select name, jobs from repairs") == [("invalid value", 2)]
