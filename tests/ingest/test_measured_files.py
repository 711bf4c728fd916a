"""Files of measurements: answers of Prometheus, dumps of several tables, and several files of one kind."""

import csv
import json
from collections import defaultdict
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from gwa.errors import DefinitionError, TraceError
from gwa.formats.measure import measurements
from tests.conftest import examples

CASE = Path(__file__).parents[2].parent / "shared" / "cases" / "gpu" / "9-joins"
UTIL, ENERGY, POWER = (
    "DCGM_FI_DEV_GPU_UTIL",
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
    "DCGM_FI_DEV_POWER_USAGE",
)


def said(files, on=None, stated=None):
    """Return the values that files hold, by id and field."""
    rows = measurements(files, on, stated).to_pylist()
    return {(row["source_id"], row["field"]): row["value"] for row in rows}


def series(metric, *samples, gpu="0", job="1", host="g1", **labels):
    named = {"__name__": metric, "gpu": gpu, "hpc_job": job, "Hostname": host, **labels}
    return {"metric": named, "values": [[time, str(value)] for time, value in samples]}


def answer(*found, kind="matrix"):
    return {"status": "success", "data": {"resultType": kind, "result": list(found)}}


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a document or text to a file."""

    def write(content, name="a.json"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


def test_an_answer_of_prometheus_is_read(write):
    path = write(
        answer(
            series(UTIL, (0, 50), (60, 100)),
            series(UTIL, (0, 0), (60, 0), gpu="1"),
            series("DCGM_FI_DEV_FB_USED", (0, 1), (60, 3)),
        )
    )
    assert said([path]) == {
        ("1", "gpus"): 2,
        ("1", "gpu_memory"): 3072,
        ("1", "max_gpu_memory"): 3072,
    }


@pytest.mark.parametrize(
    ("watts", "free", "idle"),
    [(75, 70, 1), (120, 70, 1), (150, 70, None), (75, None, None), (None, 70, None)],
)
def test_a_gpu_of_a_job_is_idle_if_it_draws_what_idle_ones_do(write, watts, free, idle):
    """Series without a job tell what these draw, with half as much again for a program that waits."""
    found = [
        series(UTIL, (0, 50), (60, 100)),
        series(UTIL, (0, 0), (60, 0), gpu="1"),
        *(
            [series(POWER, (0, 300), (60, 300)), series(POWER, (0, watts), (60, watts), gpu="1")]
            if watts
            else []
        ),
    ]
    for gpu in ("0", "1"):
        one = series(POWER, (600, free), gpu=gpu)
        del one["metric"]["hpc_job"]
        found += [one] if free else []
    if watts == 120:
        found.append(series("DCGM_FI_DEV_FB_USED", (0, 500), gpu="1"))
    of_job = said([write(answer(*found))])
    assert of_job.get(("1", "idle_gpus")) == idle
    assert of_job.get(("1", "gpu_utilization")) == (None if idle is None else 0.375)
    assert of_job["1", "gpus"] == 2


def test_an_instant_answer_has_one_sample_of_each_series(write):
    one = series(UTIL) | {"value": [0, "25"]}
    del one["values"]
    assert said([write(answer(one, kind="vector"), "now")])["1", "gpu_utilization"] == 0.25


@pytest.mark.parametrize("blank", ["9.223372036854776e+18", "1.40737488355328e+14", "NaN", "+Inf", "-1"])
def test_blanks_are_unknown(write, blank):
    found = said([write(answer(series(UTIL, (0, blank)), series(POWER, (0, 100))))])
    assert found == {("1", "watts"): 100.0}


def test_a_counter_that_begins_again_counts_from_zero(write):
    path = write(answer(series(ENERGY, (0, 5000), (60, 9000), (120, 1000), (180, 2000))))
    assert said([path])["1", "energy"] == pytest.approx(6.0)


def test_jobs_on_a_gpu_share_its_energy_whole_or_in_parts(write):
    counter = ((0, 0), (60, 8000))
    whole = [series(ENERGY, *counter, job=job) for job in ("1", "2")]
    parts = [
        series(ENERGY, *counter, job=job, host="g2", GPU_I_ID=part, UUID="GPU-x")
        for job, part in (("3", "7"), ("3", "8"), ("4", "9"), ("4", "10"))
    ]
    found = said([write(answer(*whole, *parts))])
    assert {job: found[job, "energy"] for job in "1234"} == dict.fromkeys("1234", 4.0)


def test_another_label_may_have_the_ids(write):
    path = write(answer({"metric": {"__name__": UTIL, "gpu": "0", "pod": "p"}, "values": [[0, "50"]]}))
    assert said([path], on="pod")["p", "gpu_utilization"] == 0.5


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"status": "error", "error": "parse error"}, "did not answer .parse error."),
        (answer(kind="matrix"), "has no series"),
        ({"status": "success", "data": {"resultType": "scalar", "result": [1, "2"]}}, "of type scalar"),
        (answer({"metric": {"gpu": "0", "hpc_job": "1"}, "values": [[0, "1"]]}), "lack the label __name__"),
        ({"nodes": {}}, "did not answer"),
    ],
)
def test_an_answer_without_series_is_said(write, content, expected):
    with pytest.raises(DefinitionError, match=expected):
        measurements([write(content)], None, None)


def test_a_torn_answer_cannot_be_read(write):
    with pytest.raises(TraceError, match="cannot be read"):
        measurements([write(json.dumps(answer(series(UTIL, (0, 1))))[:-9])], None, None)


@examples(25)
@given(
    samples=st.lists(
        st.tuples(
            st.sampled_from([UTIL, ENERGY, POWER, "DCGM_FI_DEV_FB_USED"]), st.sampled_from("12"),
            st.sampled_from("01"), st.integers(0, 5), st.integers(0, 100),
        ),
        min_size=1,
        unique_by=lambda sample: sample[:4],
    ),
    cut=st.integers(0, 40),
)  # fmt: skip
def test_files_that_overlap_are_one_and_json_is_as_csv(samples, cut):
    with TemporaryDirectory() as folder:
        path, heads = Path(folder), ("metric", "hpc_job", "gpu", "timestamp", "value")
        for name, part in (("all", samples), ("first", samples[:cut]), ("rest", samples[max(0, cut - 3) :])):
            with (path / f"{name}.csv").open("w", newline="") as file:
                csv.writer(file).writerows([heads, *part])
        by_labels = defaultdict(list)
        for metric, job, gpu, time, value in samples:
            by_labels[metric, job, gpu].append([time, str(value)])
        found = [
            {"metric": dict(zip(("__name__", "hpc_job", "gpu"), key, strict=True)), "values": values}
            for key, values in by_labels.items()
        ]
        (path / "all.json").write_text(json.dumps(answer(*found)))
        expected = said([path / "all.csv"])
        assert said([path / "first.csv", path / "rest.csv"]) == pytest.approx(expected)
        assert said([path / "all.json"]) == pytest.approx(expected)


NODE = st.tuples(st.integers(-1, 10**12), st.none() | st.integers(-1, 10**6))
GPU = st.tuples(st.none() | st.integers(-1, 101), st.none() | st.integers(-1, 10**11))
NODES = st.lists(st.tuples(NODE, st.lists(GPU, max_size=3)), min_size=1, max_size=3)


def reference(nodes):
    """Return what is known of a job by its nodes: what is unknown of one is unknown of all."""
    found = {"nodes": len(nodes)}
    memory, times = [memory for (memory, _), _ in nodes], [time for (_, time), _ in nodes]
    uses = [use for _, gpus in nodes for use, _ in gpus]
    sizes = [size for _, gpus in nodes for _, size in gpus]
    if min(memory) >= 0 and sum(memory):
        found["max_memory"] = sum(memory) / 1024
    if all(time is not None and time >= 0 for time in times):
        found |= {"cpu_seconds": sum(times), "idle_nodes": times.count(0)}
    is_used = uses and all(use is not None and 0 <= use <= 100 for use in uses)
    if uses:
        found["gpus"] = len(uses)
    if is_used:
        found |= {"gpu_utilization": mean(uses) / 100, "idle_gpus": uses.count(0)}
    if sizes and all(size is not None and size >= 0 for size in sizes):
        found |= {"gpu_memory": sum(sizes) / 1024, "max_gpu_memory": max(sizes) / 1024}
    return found


def tables(jobs):
    """Return the three tables of jobstats' database."""
    summary: list[dict[str, Any]] = []
    nodes: list[dict[str, Any]] = []
    gpus: list[dict[str, Any]] = []
    for job, of_job in jobs.items():
        summary.append({"id": len(summary) + 5, "cluster": "made", "jobid": job, "total_time": 3600})
        for number, ((memory, time), of_node) in enumerate(of_job):
            row = {"id": len(nodes) + 9, "job_summary_id": summary[-1]["id"], "node_name": f"n{number}"}
            nodes.append(row | {"used_memory": memory, "total_time": time})
            for index, (use, size) in enumerate(of_node):
                gpus.append({"id": len(gpus), "job_node_id": nodes[-1]["id"], "gpu_index": str(index)})
                gpus[-1] |= {"gpu_utilization": use, "gpu_used_memory": size}
    return {"job_summary": summary, "job_nodes": nodes, "job_gpu_metrics": gpus}


@examples(25)
@given(jobs=st.dictionaries(st.integers(1, 99), NODES, min_size=1, max_size=3), is_parquet=st.booleans())
def test_dumps_of_nodes_and_gpus_are_what_they_say_of_jobs(jobs, is_parquet):
    expected = {
        (str(job), field): value for job, nodes in jobs.items() for field, value in reference(nodes).items()
    }
    with TemporaryDirectory() as folder:
        files = []
        for name, rows in tables(jobs).items():
            if not rows:
                continue
            files.append(Path(folder) / f"{name}.{'parquet' if is_parquet else 'csv'}")
            if is_parquet:
                parquet.write_table(pa.Table.from_pylist(rows), files[-1])
                continue
            with files[-1].open("w", newline="") as file:
                writer = csv.DictWriter(file, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
        found = said(files)
    # Where GPUs have no valid use, their memory tells how many were measured.
    assert {key: value for key, value in found.items() if key[1] != "gpus"} == pytest.approx(
        {key: value for key, value in expected.items() if key[1] != "gpus"}
    )
    assert {key: value for key, value in found.items() if key[1] == "gpus"} == {
        key: value for key, value in expected.items() if key[1] == "gpus"
    }


def test_a_dump_that_names_rows_of_others_needs_them(write):
    path = write("id,job_summary_id,node_name,used_memory,total_time\n1,1,g1,5,6\n", "job_nodes.csv")
    with pytest.raises(DefinitionError, match="expected dumps of job_summary"):
        measurements([path], None, None)


@pytest.mark.skipif(not CASE.exists(), reason="no cases beside the project")
def test_the_dumps_of_the_case_say_what_its_summary_says(write):
    # Without the summary itself, as where the database has no mirror in AdminComment.
    rows = list(csv.DictReader((CASE / "job_summary.csv").read_text().splitlines()))
    bare = "id,cluster,jobid\n" + "".join(f"{row['id']},{row['cluster']},{row['jobid']}\n" for row in rows)
    found = said([write(bare, "job_summary.csv"), CASE / "job_nodes.csv", CASE / "job_gpu_metrics.csv"])
    assert found == pytest.approx(said([CASE / "job_summary.csv"]))
    assert found["1001", "gpu_utilization"] == pytest.approx(0.4)


def test_a_unit_of_ceems_that_is_exported_again_counts_once(write):
    heads = "cluster_id,uuid,started_at_ts,total_time_seconds,avg_cpu_usage,avg_gpu_usage"
    heads += ",total_cpu_energy_usage_kwh\n"
    row = 'a,1,1000,{},{{}},{{}},"{{""total"": {}}}"\n'
    first = write(heads + row.format(60, 1), "1.csv")
    second = write(heads + row.format(120, 2), "2.csv")
    assert said([first, second])["1", "energy"] == pytest.approx(7.2e6)
