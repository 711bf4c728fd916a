# mypy: disable-error-code="arg-type, operator"
"""Public traces whose columns were read in a source: made tables with these columns are read as it says."""

import csv
from datetime import UTC, datetime, timedelta
from math import isnan

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gwa
from gwa.archive.public_traces import public_trace
from gwa.formats.convert import convert
from gwa.store.options import ReadOptions

BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
JOBS = 40
WAIT, RUN, LIMIT = 90, 1_800, 7_200


def times(number):
    """Return when a job was submitted, started and ended."""
    submit = BEGIN + timedelta(minutes=10 * number)
    return submit, submit + timedelta(seconds=WAIT), submit + timedelta(seconds=WAIT + RUN)


def in2p3(number):
    submit, start, end = (int(time.timestamp()) for time in times(number))
    return {
        "jobid": number, "user": "user0001", "account": "acc1", "partition": "htc", "submit": submit,
        "start": start, "end": end, "elapsed": RUN, "timelimit": LIMIT, "alloccpus": 4, "allocgpus": 0,
        "state": "COMPLETED",
    }  # fmt: skip


def kestrel(number):
    submit, start, end = times(number)
    return {
        "id": number, "submit_time": submit, "start_time": start, "end_time": end,
        "wallclock_req": timedelta(seconds=LIMIT), "nodes_req": 1, "processors_req": 4, "nodes_used": 1,
        "processors_used": 4, "gpus_requested": 0, "memory_req": "240G", "partition": "short",
        "qos": "normal", "state_simple": "COMPLETED", "user_hash": "5f" * 32, "account_hash": "a0" * 32,
    }  # fmt: skip


def composite(number):
    submit, start, end = (f"{time:%Y-%m-%d %H:%M:%S}" for time in times(number))
    return {
        "JOB_NAME": f"{number}.polaris", "QUEUED_TIMESTAMP": submit, "START_TIMESTAMP": start,
        "END_TIMESTAMP": end, "RUNTIME_SECONDS": RUN, "WALLTIME_SECONDS": LIMIT, "CORES_USED": 4,
        "CORES_REQUESTED": 4, "NODES_USED": 1, "NODES_REQUESTED": 1, "QUEUE_NAME": "prod", "EXIT_STATUS": 0,
        "USERNAME_GENID": "11111", "PROJECT_NAME_GENID": "22222", "MACHINE_NAME": "polaris",
        "ALLOCATION_AWARD_CATEGORY": "INCITE", "SCIENCE_FIELD_SHORT": "Physics",
    }  # fmt: skip


def lassen(number):
    submit, start, end = (f"{time:%Y-%m-%d %H:%M:%S.%f}" for time in times(number))
    return {
        "allocation_id": number, "primary_job_id": 5_000 + number, "launch_node_name": "lassen2",
        "isolated_cores": 0, "num_nodes": 1, "num_processors": 4, "num_gpus": 0, "hashed_user_id": "h1",
        "hashed_user_group_id": "g1", "begin_time": start, "end_time": end, "exit_status": 0,
        "job_submit_time": submit, "queue": "pbatch", "time_limit": LIMIT,
    }  # fmt: skip


def helios(number):
    zone = timedelta(hours=8)
    submit, start, end = (f"{time + zone:%Y-%m-%d %H:%M:%S}" for time in times(number))
    return {
        "job_id": number, "user": "uXBbc", "vc": "vcJkd", "gpu_num": 8, "cpu_num": 4, "node_num": 1,
        "state": "COMPLETED", "submit_time": submit, "start_time": start, "end_time": end, "duration": RUN,
        "queue": WAIT,
    }  # fmt: skip


def trinity(number):
    submit, start, end = (f"{time:%Y-%m-%d %H:%M:%S}+00:00" for time in times(number))
    return {
        "user_ID": 1, "group_ID": 2, "submit_time": submit, "start_time": start, "end_time": end,
        "wallclock_limit": "0 days 02:00:00", "job_status": "COMPLETED", "node_count": 2,
        "tasks_requested": 2,
    }  # fmt: skip


FIELDS = "submit_time, wait_time, run_time, n_procs, cast(req_time as double), user_id"
TABLES = {
    "in2p3-2024": (in2p3, 4, LIMIT),
    "kestrel": (kestrel, 4, None),
    "theta": (composite, 4, LIMIT),
    "lassen": (lassen, 4, LIMIT),
    "helios-earth": (helios, 4, None),
    "lanl-trinity": (trinity, 64, LIMIT),
}


@pytest.mark.parametrize("key", TABLES)
def test_a_table_with_the_columns_of_a_trace_is_read_as_the_list_says(key, tmp_path):
    row_of, processors, limit = TABLES[key]
    trace = public_trace(key)
    source = table_of([row_of(number) for number in range(JOBS)], tmp_path, in_parquet=key == "kestrel")
    out = tmp_path / "out.parquet"
    convert([source], out, name=trace.format, options=ReadOptions(format_options=dict(trace.options)))

    with gwa.open(out) as opened:
        assert len(opened) == JOBS
        first = opened.sql(f"select {FIELDS} from jobs order by submit_time limit 1").iloc[0].tolist()
    assert first[:4] == [BEGIN.timestamp(), WAIT, RUN, processors]
    assert first[4] == limit or (limit is None and isnan(first[4]))
    assert first[5]


def table_of(rows, folder, *, in_parquet):
    """Write *rows* as Parquet or as a table of cells parted by tabs, and return its path."""
    if in_parquet:
        pq.write_table(pa.Table.from_pylist(rows), folder / "jobs.parquet")
        return folder / "jobs.parquet"
    with (folder / "jobs.tsv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return folder / "jobs.tsv"
