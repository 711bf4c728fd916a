"""Nextflow's trace: a task that was not run again, and processors that it does not record."""

from pathlib import Path

import pytest

from gwa.formats.open import open_trace
from gwa.metrics.quality import conversion_notes
from gwa.store.options import ReadOptions

USUAL = (
    "task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tduration\trealtime\t%cpu\tpeak_rss\tpeak_vmem"
    "\trchar\twchar\n"
    "1\ta1/01\t51\tQC (s1)\tCOMPLETED\t0\t2026-03-02 10:00:00.000\t21m 24s\t21m 20s\t705.0%\t8 GB\t9 GB"
    "\t1 KB\t0\n"
    "2\ta1/02\t52\tQC (s2)\tCOMPLETED\t0\t2026-03-02 10:00:00.000\t325ms\t107ms\t99.0%\t512 MB\t1 GB\t0\t0\n"
    "3\ta1/03\t53\tINDEX\tCACHED\t0\t2026-02-27 09:00:00.000\t1h\t59m 59s\t99.0%\t6.3 MB\t1 GB\t0\t0\n"
    "4\ta1/04\t54\tREPORT\tRUNNING\t-\t2026-03-02 12:00:00.000\t-\t-\t-\t-\t-\t-\t-\n"
)
FIELDS = "round(wait_time, 3), round(run_time, 3), n_procs, round(average_cpu_time, 3), max_memory"


def opened(path: Path, **options: str) -> tuple[list[tuple[object, ...]], dict[str, int], list[str]]:
    """Return the jobs of a trace, what was remarked, and why rows were refused."""
    with open_trace([path], None, ReadOptions(format_options=options)) as store:
        return (
            store.rows(f"select {FIELDS} from jobs order by submit_time, run_time desc nulls last"),
            dict(store.rows("select name, jobs from repairs")),
            [reason for (reason,) in store.rows("select reason from rejects")],
        )


def test_the_wait_is_no_part_of_the_run_time_and_a_cached_task_did_not_run_again(tmp_path):
    path = tmp_path / "execution_trace.txt"
    path.write_text(USUAL)
    rows, said, refused = opened(path)
    assert rows == [
        (4, 1280, None, None, 8 * 1024**2),
        (0.218, 0.107, None, None, 512 * 1024),
        (None, None, None, None, None),
    ]
    assert said["no processors"] == 2
    assert refused == ["was taken from the cache: it did not run again"]


def test_processors_that_are_stated_are_those_of_all_tasks(tmp_path):
    path = tmp_path / "trace.txt"
    path.write_text(USUAL)
    rows, said, _ = opened(path, cpus="8")
    assert rows[0] == (4, 1280, 8, pytest.approx(7.05 * 1280 / 8), 8 * 1024**2)
    assert "no processors" not in said


def test_what_is_missing_of_processors_is_said_at_once(tmp_path):
    path = tmp_path / "trace.txt"
    path.write_text(USUAL)
    with open_trace([path]) as store:
        (told, *_) = conversion_notes(store).told
    assert told.startswith("no processors (2): the field cpus was not chosen; -O cpus=4")


@pytest.mark.parametrize(("fields", "values"), [("realtime,%cpu", "3600000,98"), ("cpus", "4")])
def test_a_cached_task_is_none_whatever_fields_were_chosen(fields, values, tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text(
        f"task_id,name,status,submit,start,complete,{fields}\n"
        + "".join(
            f"{task},INDEX,{status},1772438400000,1772438460000,1772442060000,{values}\n"
            for task, status in enumerate(("COMPLETED", "CACHED"), 1)
        )
    )
    rows, _, refused = opened(path)
    assert [row[:2] for row in rows] == [(60, 3600)]
    assert refused == ["was taken from the cache: it did not run again"]


@pytest.mark.parametrize("delimiter", [",", ";", "|"])
def test_any_separator_is_read(delimiter, tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text(USUAL.replace("\t", delimiter))
    assert len(opened(path)[0]) == 3
