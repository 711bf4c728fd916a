"""Tables of the same jobs, as sites write them, and what must become of them, by plain Python."""

import csv
import io
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from math import ceil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Job = dict[str, Any]

GERMAN = {"completed": "fertig", "failed": "Fehler", "cancelled": "abgebrochen"}
SLURM = {"completed": 3, "failed": 5, "cancelled": 4}
WORDS = {"completed": 1, "failed": 0, "cancelled": 5}


def jobs(count: int = 120, seed: int = 1) -> list[Job]:
    """Return jobs of whole seconds and kilobytes, some of which never started."""
    rng = random.Random(seed)
    made: list[Job] = []
    submit = 1_700_000_000
    for number in range(count):
        submit += rng.randrange(1, 4000)
        never = number % 17 == 5
        start = None if never else submit + rng.randrange(0, 7200)
        run = rng.choice([60, 600, 1200, 7200]) * rng.randrange(1, 10) + 60 * rng.randrange(3)
        nodes = rng.choice([1, 1, 2, 4])
        limit = 3600 * ceil(run / 3600) * rng.choice([1, 1, 2])
        made.append(
            {
                "id": 1000 + number,
                "user": f"user{rng.randrange(9)}",
                "project": f"p{rng.randrange(3)}",
                "queue": rng.choice(["short", "long, night"]),
                "name": rng.choice(["sim", 'a "quoted" name', "two\twords"]),
                "submit": submit,
                "start": start,
                "end": None if start is None else start + run,
                "nodes": nodes,
                "procs": nodes * rng.choice([4, 8]),
                "gpus": rng.choice([0, 1, 2]),
                "memory": rng.randrange(1, 64) * 1024 * 1024,
                "limit": limit,
                "state": "cancelled" if never else rng.choice(["completed", "completed", "failed"]),
            }
        )
    return made


def run_of(job: Job) -> Any:
    """Return the run time of a job; None if it never started."""
    return None if job["start"] is None else job["end"] - job["start"]


def wait_of(job: Job) -> Any:
    """Return the wait of a job; None if it never started."""
    return None if job["start"] is None else job["start"] - job["submit"]


def utc(moment: int, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """Write a time in UTC."""
    return datetime.fromtimestamp(moment, UTC).strftime(form)


def at_offset(moment: int, hours: int) -> str:
    """Write a time with an offset."""
    return datetime.fromtimestamp(moment, timezone(timedelta(hours=hours))).isoformat()


def clock(seconds: int) -> str:
    """Write a duration with colons, and days before a dash."""
    days, rest = divmod(seconds, 86400)
    text = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}-{text}" if days else text


def or_empty(key: str, write: Callable[[Any], object]) -> Callable[[Job], object]:
    """Return what writes a value of a job, and nothing where it has none."""
    return lambda job: "" if job[key] is None else write(job[key])


def plain(key: str) -> Callable[[Job], object]:
    """Return what writes a value of a job as it is."""
    return lambda job: "" if job[key] is None else job[key]


COMMON: Mapping[str, Callable[[Job], object]] = {
    "submit_time": lambda job: float(job["submit"]),
    "wait_time": wait_of,
    "run_time": run_of,
    "n_procs": lambda job: None if job["start"] is None else job["procs"],
    "status": lambda job: WORDS[job["state"]],
    "state": lambda job: job["state"].upper(),
    "user_id": lambda job: job["user"],
}
"""What most tables tell of a job, by field."""


@dataclass
class Site:
    """A table of a site: what writes each column, and each field that must be read."""

    columns: Mapping[str, Callable[[Job], object]]
    fields: Mapping[str, Callable[[Job], object]] = field(default_factory=dict)
    suffix: str = "csv"
    delimiter: str = ","
    asks: str = ""

    def expected(self, job: Job) -> dict[str, object]:
        """Return the fields that must be read of a job."""
        wanted = {**COMMON, **self.fields}
        return {name: of(job) for name, of in wanted.items()}

    def write(self, folder: Path, some: list[Job]) -> Path:
        """Write the table to a file in *folder*."""
        path = folder / f"jobs.{self.suffix}"
        rows = [{name: of(job) for name, of in self.columns.items()} for job in some]
        if self.suffix == "parquet":
            cells = [{name: None if cell == "" else cell for name, cell in row.items()} for row in rows]
            pq.write_table(pa.Table.from_pylist(cells), path)
        else:
            path.write_text(self.text(rows), encoding="utf-8")
        return path

    def text(self, rows: list[dict[str, object]]) -> str:
        """Return the table in text."""
        if self.suffix == "jsonl":
            return "".join(json.dumps(row) + "\n" for row in rows)
        if self.suffix == "json":
            return json.dumps(rows, indent=1)
        out = io.StringIO()
        writer = csv.DictWriter(out, list(self.columns), delimiter=self.delimiter, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue()


def on_nodes(job: Job) -> object:
    """Return the number of nodes that a job had."""
    return None if job["start"] is None else job["nodes"]


def on_gpus(job: Job) -> object:
    """Return the number of GPUs that a job had."""
    return None if job["start"] is None else job["gpus"]


def upper(job: Job) -> object:
    """Write the state in capitals."""
    return job["state"].upper()


SITES: Mapping[str, Site] = {
    "helios": Site(
        {
            "job_id": plain("id"),
            "user": plain("user"),
            "vc": plain("queue"),
            "gpu_num": plain("gpus"),
            "cpu_num": plain("procs"),
            "node_num": plain("nodes"),
            "state": upper,
            "submit_time": or_empty("submit", utc),
            "start_time": or_empty("start", utc),
            "end_time": or_empty("end", utc),
            "duration": lambda job: run_of(job) if job["start"] else 0,
            "queue": lambda job: wait_of(job) if job["start"] else 0,
        },
        {
            "job_id": lambda job: job["id"],
            "partition_id": lambda job: job["queue"],
            "n_gpus": on_gpus,
            "n_nodes": on_nodes,
        },
    ),
    "acme-kalos": Site(
        {
            "job_id": lambda job: f"dlc{job['id']:x}",
            "user": plain("user"),
            "node_num": plain("nodes"),
            "gpu_num": plain("gpus"),
            "cpu_num": plain("procs"),
            "mem_per_pod_GB": lambda job: job["memory"] / 1024**2,
            "type": lambda _: "Pretrain",
            "state": upper,
            "submit_time": or_empty("submit", lambda t: at_offset(t, 8)),
            "start_time": or_empty("start", lambda t: at_offset(t, 8)),
            "end_time": or_empty("end", lambda t: at_offset(t, 8)),
            "fail_time": lambda _: "",
            "stop_time": lambda _: "",
            "duration": lambda job: job["end"] - job["submit"] if job["end"] else 0,
            "queue": lambda job: wait_of(job) if job["start"] else 0,
            "gpu_time": lambda job: (job["end"] - job["submit"]) * job["gpus"] if job["end"] else 0,
        },
        {
            "source_id": lambda job: f"dlc{job['id']:x}",
            "req_memory": lambda job: (
                None if job["start"] is None else job["memory"] * job["nodes"] / job["procs"]
            ),
        },
    ),
    "mit-supercloud": Site(
        {
            "id_job": plain("id"),
            "id_user": plain("user"),
            "kill_requid": lambda _: 4294967295,
            "nodes_alloc": plain("nodes"),
            "cpus_req": plain("procs"),
            "partition": plain("queue"),
            "state": lambda job: SLURM[job["state"]],
            "timelimit": lambda job: job["limit"] // 60,
            "time_submit": plain("submit"),
            "time_eligible": plain("submit"),
            "time_start": lambda job: job["start"] or 0,
            "time_end": lambda job: job["end"] or job["submit"],
            "tres_alloc": lambda job: f"1={job['procs']},2=100,4={job['nodes']},1002={job['gpus']}",
            "tres_req": lambda job: f"1={job['procs']},2=100,4={job['nodes']}",
        },
        {
            "state": lambda job: str(SLURM[job["state"]]),
            "req_time": lambda job: job["limit"],
            "req_n_procs": lambda job: job["procs"],
            "n_gpus": on_gpus,
        },
    ),
    "mustang": Site(
        {
            "user_ID": plain("user"),
            "group_ID": plain("project"),
            "submit_time": or_empty("submit", lambda t: at_offset(t, -6).replace("T", " ")),
            "start_time": or_empty("start", lambda t: at_offset(t, -6).replace("T", " ")),
            "end_time": or_empty("end", lambda t: at_offset(t, -6).replace("T", " ")),
            "wallclock_limit": lambda job: clock(job["limit"]),
            "job_status": upper,
            "node_count": plain("nodes"),
        },
        {
            "group_id": lambda job: job["project"],
            "req_time": lambda job: job["limit"],
            "n_procs": lambda job: None if job["start"] is None else 24 * job["nodes"],
            "n_nodes": on_nodes,
        },
    ),
    "trinity": Site(
        {
            "object_event": lambda _: "JOBEND",
            "object_id": plain("id"),
            "user_name": plain("user"),
            "submission_time": plain("submit"),
            "start_date": plain("start"),
            "end_date": plain("end"),
            "nodes_requested": plain("nodes"),
            "dedicated_processors_per_task": lambda job: job["procs"] // job["nodes"],
            "wallclock_limit": lambda job: clock(job["limit"]),
            "completion_code": lambda _: "",
            "status": upper,
        },
        {"req_time": lambda job: job["limit"]},
    ),
    "f-data": Site(
        {
            "jid": lambda job: f"job_{job['id']}",
            "usr": plain("user"),
            "cnumr": plain("procs"),
            "cnumat": plain("procs"),
            "cnumut": plain("procs"),
            "nnumr": plain("nodes"),
            "adt": or_empty("submit", lambda t: datetime.fromtimestamp(t, UTC)),
            "qdt": or_empty("submit", lambda t: datetime.fromtimestamp(t, UTC)),
            "elpl": plain("limit"),
            "sdt": or_empty("start", lambda t: datetime.fromtimestamp(t, UTC)),
            "edt": or_empty("end", lambda t: datetime.fromtimestamp(t, UTC)),
            "nnuma": plain("nodes"),
            "econ": lambda job: 1000.0 * job["nodes"],
            "embedding": lambda _: [0.5, 0.25],
            "exit state": lambda job: job["state"],
            "duration": run_of,
        },
        {
            "state": lambda job: job["state"],
            "req_time": lambda job: job["limit"],
            "eligible_time": lambda job: job["submit"],
            "energy": lambda _: None,
        },
        suffix="parquet",
    ),
    "pm100": Site(
        {
            "job_id": plain("id"),
            "user_id": plain("user"),
            "submit_time": or_empty("submit", lambda t: datetime.fromtimestamp(t, UTC)),
            "eligible_time": or_empty("submit", lambda t: datetime.fromtimestamp(t, UTC)),
            "start_time": or_empty("start", lambda t: datetime.fromtimestamp(t, UTC)),
            "end_time": or_empty("end", lambda t: datetime.fromtimestamp(t, UTC)),
            "run_time": run_of,
            "num_cores_req": plain("procs"),
            "num_cores_alloc": plain("procs"),
            "num_nodes_alloc": plain("nodes"),
            "num_gpus_alloc": plain("gpus"),
            "cores_allocated": lambda _: "{'0': [1, 2]}",
            "time_limit": lambda job: job["limit"] // 60,
            "job_state": upper,
            "node_power_consumption": lambda _: [1.5, 2.5],
        },
        {
            "job_id": lambda job: job["id"],
            "req_time": lambda job: job["limit"],
            "n_gpus": on_gpus,
            "n_nodes": on_nodes,
        },
        suffix="parquet",
    ),
    "kestrel": Site(
        {
            "job_id": plain("id"),
            "user": plain("user"),
            "account": plain("project"),
            "submit_time": or_empty("submit", lambda t: datetime.fromtimestamp(t, UTC).replace(tzinfo=None)),
            "start_time": or_empty("start", lambda t: datetime.fromtimestamp(t, UTC).replace(tzinfo=None)),
            "end_time": or_empty("end", lambda t: datetime.fromtimestamp(t, UTC).replace(tzinfo=None)),
            "wall_time": run_of,
            "nodes_required": plain("nodes"),
            "power_per_node": lambda _: 250.5,
            "job_state": upper,
        },
        {
            "project_id": lambda job: job["project"],
            "n_procs": on_nodes,
        },
        suffix="parquet",
        asks="procs=nodes_required*1",
    ),
    "german": Site(
        {
            "Auftragsnummer": plain("id"),
            "Benutzer": plain("user"),
            "Warteschlange": plain("queue"),
            "Eingereicht am": or_empty("submit", lambda t: utc(t, "%d.%m.%Y %H:%M:%S")),
            "Beginn": or_empty("start", lambda t: utc(t, "%d.%m.%Y %H:%M:%S")),
            "Ende": or_empty("end", lambda t: utc(t, "%d.%m.%Y %H:%M:%S")),
            "Laufzeit (min)": lambda job: (
                "" if run_of(job) is None else f"{run_of(job) / 60:.2f}".replace(".", ",")
            ),
            "Anzahl Kerne": plain("procs"),
            "Genutzter Speicher (GB)": lambda job: f"{job['memory'] / 1024**2:.1f}".replace(".", ","),
            "Zustand": lambda job: GERMAN[job["state"]],
        },
        {
            "job_id": lambda job: job["id"],
            "queue_id": lambda job: job["queue"],
            "state": lambda job: GERMAN[job["state"]],
            "max_memory": lambda job: job["memory"],
        },
        delimiter=";",
    ),
    "french-offsets": Site(
        {
            "Utilisateur": plain("user"),
            "Soumission": or_empty("submit", lambda t: at_offset(t, 2)),
            "Début": or_empty("start", lambda t: at_offset(t, 2)),
            "Fin": or_empty("end", lambda t: at_offset(t, 2)),
            "Nombre de cœurs": plain("procs"),
            "État": upper,
        },
        delimiter="\t",
    ),
    "minutes": Site(
        {
            "task": plain("name"),
            "owner": plain("user"),
            "queuedAt": lambda job: job["submit"] * 1000,
            "startedAt": lambda job: None if job["start"] is None else job["start"] * 1000,
            "runtimeMinutes": lambda job: None if job["start"] is None else run_of(job) / 60,
            "vcpus": plain("procs"),
            "outcome": upper,
        },
        suffix="jsonl",
    ),
    "node-hours": Site(
        {
            "User": plain("user"),
            "Submitted": or_empty("submit", utc),
            "Started": or_empty("start", utc),
            "Finished": or_empty("end", utc),
            "Node Hours": lambda job: (
                "" if job["start"] is None else round(job["nodes"] * run_of(job) / 3600, 4)
            ),
            "Result": upper,
        },
        {"n_procs": on_nodes},
        delimiter="|",
        asks="node_hours=Node Hours:h",
    ),
    "gigabytes": Site(
        {
            "Job ID": plain("id"),
            "Username": plain("user"),
            "Submit": or_empty("submit", lambda t: utc(t, "%m/%d/%Y %I:%M:%S %p")),
            "Start": or_empty("start", lambda t: utc(t, "%m/%d/%Y %I:%M:%S %p")),
            "Elapsed": lambda job: "" if job["start"] is None else clock(run_of(job)),
            "Cores": plain("procs"),
            "Requested Memory": lambda job: f"{job['memory'] // 1024**2} GB",
            "Walltime": lambda job: clock(job["limit"]),
            "Status": upper,
        },
        {
            "req_memory": lambda job: None if job["start"] is None else job["memory"] / job["procs"],
        },
    ),
    "waits": Site(
        {
            "uid": plain("user"),
            "begin_epoch": plain("start"),
            "waited_s": wait_of,
            "duration_h": lambda job: run_of(job) / 3600,
            "slots": plain("procs"),
            "state": upper,
        },
    ),
    "strange": Site(
        {
            "Los": plain("id"),
            "Abgabe": or_empty("submit", utc),
            "Los geht's": or_empty("start", utc),
            "Schluss": or_empty("end", utc),
            "wieviele": plain("procs"),
            "user": plain("user"),
            "state": upper,
        },
        asks="submit=Abgabe:iso",
    ),
    "doubtful": Site(
        {
            "user": plain("user"),
            "submitted": plain("submit"),
            "elapsed": lambda job: run_of(job) if job["start"] else "",
            "cores": plain("procs"),
            "memory": lambda job: job["memory"] // 1024,
            "state": upper,
        },
        {"wait_time": lambda _: None, "n_procs": lambda job: job["procs"]},
        suffix="json",
        asks="run=elapsed:s",
    ),
}
