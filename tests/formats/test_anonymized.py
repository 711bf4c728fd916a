"""Nothing of a name is left in any file that is written without names."""

import pytest

from gwa.errors import OutputError
from gwa.formats.convert import convert, convert_anonymized
from gwa.formats.open import open_trace
from gwa.formats.registry import writer
from gwa.store.pseudonyms import KEEPABLE
from gwa.util.atomic import mark_folder
from tests.conftest import HOME, thinned
from tests.planting import PLANTED, found_in, name, plant, samples

KEY = b"0123456789abcdef"
SUFFIXES = (".gwf", ".gwf.gz", ".gwf.zst", ".swf", ".parquet", ".duckdb", ".sqlite")
SAMPLES = samples(HOME / "sample_traces")
REAL = (
    "slurm/xdmod-phillips.log",
    "pbs/xdmod-accounting-logs.log",
    "gridengine/xdmod-sge-accounting.log",
    "gridengine/uge820-accounting",
    "swf/KTH-SP2-1996-2.1-cln.swf.gz",
    "globus/gram-gatekeeper-accounting-2010.log",
)


def written(paths, out, kind=None, **options):
    """Write *paths* without names to *out*, and return what is found in it and beside it."""
    out.parent.mkdir()
    convert_anonymized(paths, out, KEY, name=kind, **options)
    return found_in(out.parent)


@pytest.mark.parametrize(("kind", "suffix"), thinned(SAMPLES, SUFFIXES))
def test_no_planted_name_is_left_in_any_output_of_a_sample(kind, suffix, tmp_path):
    logs, replaced = plant(SAMPLES[kind], tmp_path / "logs", kind)
    jobs = convert(logs, tmp_path / "named.duckdb", name=kind).jobs

    assert replaced or kind == "seg"
    assert len(found_in(tmp_path / "named.duckdb")) > replaced / 2, "the search finds what is there"
    assert written(logs, tmp_path / "out" / f"trace{suffix}", kind) == set()
    with open_trace([tmp_path / "out" / f"trace{suffix}"]) as public:
        assert public.row("select count(*) from jobs")[0] == jobs


def test_the_samples_together_hold_names_of_all_kinds(tmp_path):
    found, kinds = set[str](), iter(SAMPLES)
    while len(found) < PLANTED - 1:  # all but the folder's
        kind = next(kinds, None)
        assert kind, f"{len(found)} of {PLANTED} names are in the samples"
        logs, _ = plant(SAMPLES[kind], tmp_path / kind, kind)
        convert(logs, tmp_path / f"{kind}.duckdb", name=kind)
        found |= found_in(tmp_path / f"{kind}.duckdb")


@pytest.mark.parametrize("suffix", [".gwf", ".duckdb", ".parquet", ".sqlite"])
def test_a_trace_that_gwa_wrote_is_cleaned_too(suffix, tmp_path):
    """Its header, repairs, rejects and provenance are texts of anybody."""
    source = tmp_path / f"named{suffix}"
    with open_trace(SAMPLES["swf"]) as store:
        store.set_header((*store.header, ("Note", name(1)), (name(2), "5"), ("MaxProcs", f"48 {name(3)}")))
        store.insert("repairs", [(name(4), name(5), 3)])
        store.insert("rejects", [(name(6), 3, f"{name(7)} is not a number", name(8))])
        store.note({"convert": f"gwa convert {name(9)}", "format": name(10), "gwa": name(11)})
        writer(source).save(store, source)

    assert len(found_in(source)) >= 5
    assert written([source], tmp_path / "out" / "trace.duckdb") == set()
    assert written([source], tmp_path / "gwf" / "trace.gwf") == set()


def test_by_month_too(tmp_path):
    logs, _ = plant(SAMPLES["swf"], tmp_path / "logs", "swf")

    assert written(logs, tmp_path / "out" / "trace.parquet", by_month=True) == set()
    assert (tmp_path / "out" / "trace.parquet").is_dir()


def test_only_what_is_kept_stays(tmp_path):
    with open_trace(SAMPLES["slurm"]) as named:
        queues = {
            queue for (queue,) in named.rows("select distinct queue_id from jobs where queue_id is not null")
        }
    convert_anonymized(SAMPLES["slurm"], tmp_path / "trace.gwf", KEY, keep={"queues"})
    with open_trace([tmp_path / "trace.gwf"]) as public:
        kept = {
            queue for (queue,) in public.rows("select distinct queue_id from jobs where queue_id is not null")
        }
        partitions = {name for (name,) in public.rows("select distinct partition_id from jobs")}
        line = dict(public.header)["Anonymized"]

    assert kept == queues
    assert not partitions & queues
    assert line.endswith("; kept: queues")


def test_users_are_never_kept():
    assert not {"user_id", "job_structure_params"} & {
        field for fields in KEEPABLE.values() for field in fields
    }


def test_two_years_of_one_key_join(tmp_path):
    lines = SAMPLES["swf"][0].read_text().splitlines(keepends=True)
    header = [line for line in lines if line.startswith(";")]
    jobs = lines[len(header) :]
    for year, part in (("2007", jobs[:600]), ("2008", jobs[600:])):
        (tmp_path / f"{year}.swf").write_text("".join(header + part))
        convert_anonymized([tmp_path / f"{year}.swf"], tmp_path / f"{year}.gwf", KEY)
    convert([tmp_path / "2007.gwf", tmp_path / "2008.gwf"], tmp_path / "both.duckdb")
    with open_trace(SAMPLES["swf"]) as named, open_trace([tmp_path / "both.duckdb"]) as public:
        query = "select submit_time, count(*) over (partition by user_id) from jobs order by all"
        assert public.rows(query) == named.rows(query)


def test_rows_with_names_are_not_left_beside_the_output(tmp_path, monkeypatch):
    def stop(*_, **__):
        raise OutputError("full")

    logs, _ = plant(SAMPLES["condor"], tmp_path / "logs", "condor")
    (tmp_path / "out").mkdir()
    monkeypatch.setattr("gwa.formats.convert.write_apart", stop)
    with pytest.raises(OutputError, match="full"):
        convert_anonymized(logs, tmp_path / "out" / "trace.gwf", KEY, name="condor")

    assert list((tmp_path / "out").iterdir()) == []


def test_rows_of_an_earlier_conversion_are_not_passed_over(tmp_path):
    mark_folder(tmp_path / "trace.gwf.rows")

    with pytest.raises(OutputError, match=r"trace\.gwf\.rows beside it holds rows with their names"):
        convert_anonymized(SAMPLES["swf"], tmp_path / "trace.gwf", KEY)


def test_an_output_that_cannot_be_written_is_an_error_of_one_line(tmp_path):
    with pytest.raises(OutputError, match="there is no directory"):
        convert_anonymized(SAMPLES["swf"], tmp_path / "none" / "trace.duckdb", KEY)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("path", REAL)
def test_no_planted_name_is_left_in_any_output_of_a_real_log(path, suffix, tmp_path, logs):
    kind = path.partition("/")[0]
    kind = {"gridengine": "sge", "globus": "gatekeeper"}.get(kind, kind)
    copies, replaced = plant([logs / path], tmp_path / "logs", kind)

    assert replaced or kind == "swf"
    assert written(copies, tmp_path / "out" / f"trace{suffix}", kind) == set()
