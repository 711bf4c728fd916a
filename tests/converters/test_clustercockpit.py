"""The job archive of ClusterCockpit."""

import json
import sqlite3
from contextlib import closing

import pytest

from gwa.errors import UnknownFormat
from gwa.formats.open import open_trace

META = {
    "jobId": 7, "user": "user042", "project": "p", "cluster": "fritz", "subCluster": "main",
    "partition": "multi", "arrayJobId": 0, "numNodes": 2, "numHwthreads": 144, "numAcc": 4,
    "walltime": 86_400, "jobState": "completed", "startTime": 1_741_600_000, "duration": 3600,
    "resources": [{"hostname": "f1"}, {"hostname": "f2"}],
    "metaData": {"jobName": "mesh"}, "statistics": {},
}  # fmt: skip


def read(folder, *metas, fields):
    paths = []
    for number, meta in enumerate(metas):
        paths.append(folder / str(number) / "meta.json")
        paths[-1].parent.mkdir(exist_ok=True)
        paths[-1].write_text(json.dumps(meta, indent=2))
    with open_trace(paths) as store:
        assert store.provenance["format"] == "clustercockpit"
        return store.rows(f"select {fields} from jobs order by job_id")


def test_every_field(tmp_path):
    fields = (
        "submit_time, wait_time, run_time, n_procs, req_time, status, user_id, executable_id, queue_id,"
        " partition_id, orig_site_id, project_id, n_nodes, n_gpus, state, job_structure"
    )
    assert read(tmp_path, META, META | {"jobId": 8}, fields=fields) == [
        (
            1_741_600_000, None, 3600, 144, 86_400, 1, "user042", "mesh", "multi", "main", "fritz", "p", 2, 4,
            "completed", "UNITARY",
        )
    ] * 2  # fmt: skip


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"jobState": "timeout"}, (3600, 144, 4, 0)),
        ({"jobState": "stopped"}, (3600, 144, 4, 5)),
        ({"jobState": "running"}, (3600, 144, 4, None)),
        ({"numHwthreads": None}, (3600, None, 4, 1)),
        ({"numHwthreads": None, "resources": [{"hostname": "a", "hwthreads": [0, 1, 2]}]}, (3600, 3, 4, 1)),
        ({"numAcc": None, "resources": [{"hostname": "a", "accelerators": ["0", "1"]}]}, (3600, 144, 2, 1)),
        ({"numAcc": None}, (3600, 144, 0, 1)),
    ],
)
def test_processors_gpus_and_outcomes(said, expected, tmp_path):
    meta = {key: value for key, value in (META | said).items() if value is not None}
    assert read(tmp_path, meta, fields="run_time, n_procs, n_gpus, status") == [expected]


def test_when_a_job_was_submitted_where_that_is_known(tmp_path):
    submitted = META | {"submitTime": 1_741_599_940}
    unknown = META | {"jobId": 8, "submitTime": 0}
    assert read(tmp_path, submitted, unknown, fields="submit_time, wait_time, run_time") == [
        (1_741_599_940, 60, 3600),
        (1_741_600_000, None, 3600),
    ]


@pytest.mark.parametrize("is_new", [False, True])
def test_its_database_is_the_same_trace(is_new, tmp_path):
    columns = ["cluster", "user", "partition"]
    new = {"user": "hpc_user", "partition": "cluster_partition"} if is_new else {}
    named = ", ".join(f'"{new.get(name, name)}"' for name in columns)
    more = ", submit_time" if is_new else ""
    path = tmp_path / "job.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            f"create table job (id, job_id, {named}, subcluster, project, array_job_id, start_time, duration,"
            f" walltime, job_state, meta_data, resources, num_nodes, num_hwthreads, num_acc{more})"
        )
        cells = [
            1, 7, "fritz", "user042", "multi", "main", "p", 0, 1_741_600_000, 3600, 86_400, "completed",
            '{"jobName": "mesh"}', '[{"hostname": "f1"}]', 2, 144, 4, *([0] if is_new else []),
        ]  # fmt: skip
        database.execute(f"insert into job values ({', '.join('?' * len(cells))})", cells)
    fields = (
        "submit_time, wait_time, run_time, n_procs, req_time, status, user_id, executable_id, queue_id,"
        " partition_id, orig_site_id, project_id, n_nodes, n_gpus, state"
    )
    (wanted,) = read(tmp_path, META, fields=fields)
    with open_trace([path]) as store:
        assert store.provenance["format"] == "clustercockpit-db"
        assert store.rows(f"select {fields} from jobs") == [wanted]


def test_a_table_of_jobs_of_others_in_sqlite_is_not_taken(tmp_path):
    path = tmp_path / "job.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("create table job (job_id, start_time, duration)")
    with pytest.raises(UnknownFormat, match="job_state"):
        open_trace([path])
