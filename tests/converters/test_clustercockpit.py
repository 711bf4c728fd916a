"""The job archive of ClusterCockpit."""

import json

import pytest

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
