"""The same jobs of Slurm in its encodings: text of sacct, JSON of each version, job completion, a dump."""

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime

NO_VAL = 4294967294
TRES_IDS = {"cpu": 1, "mem": 2, "energy": 3, "node": 4, "billing": 5, "gres/gpu": 1001, "gres/gpu:a100": 1002}


@dataclass(frozen=True)
class Step:
    """A step; sizes in bytes, *cpu* in seconds."""

    name: str
    start: int
    end: int
    tasks: int = 1
    nodes: int = 1
    cpu: int = 0
    memory: tuple[int, int, int] | None = None  # In total, on average, of the largest task.
    gpu_memory: int | None = None
    gpu_use: int | None = None
    energy: int = 0


@dataclass(frozen=True)
class Job:
    """A job; times in Unix seconds, *limit* in minutes, memory among *asked* and *had* in megabytes."""

    number: int
    submit: int
    eligible: int
    start: int | None
    end: int | None
    state: str = "COMPLETED"
    exit: tuple[int, int] = (0, 0)
    suspended: int = 0
    limit: int | None = None
    array: tuple[int, int] | None = None
    het: tuple[int, int] | None = None
    user: str = "ann"
    group: str = "lab"
    account: str = "physics"
    partition: str = "batch"
    qos: str = "normal"
    name: str = "simulate"
    reservation: str = ""
    asked: dict[str, int] = field(default_factory=lambda: {"cpu": 1, "mem": 1024, "node": 1, "billing": 1})
    had: dict[str, int] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    comment: str = ""
    restarts: int = 0

    @property
    def jobid(self) -> str:
        """The JobID as sacct shows it."""
        parts = (self.array, "_") if self.array else (self.het, "+")
        return parts[1].join(map(str, parts[0])) if parts[0] else str(self.number)

    @property
    def elapsed(self) -> int:
        """Seconds that it ran."""
        return self.end - self.start - self.suspended if self.start and self.end else 0

    @property
    def cpu(self) -> int:
        """Seconds of processors that its steps used."""
        return sum(step.cpu for step in self.steps)


def unit(megabytes):
    """Write memory as Slurm does: in the largest unit of which it is a multiple, or a half."""
    value, units = megabytes, "MGT"
    while value >= 1024 and int(value) % 512 == 0:
        value, units = value / 1024, units[1:]
    return f"{int(value)}{units[0]}" if value == int(value) else f"{value:.2f}{units[0]}"


def tres_text(tres):
    return ",".join(sorted(f"{name}={unit(n) if name == 'mem' else n}" for name, n in tres.items()))


SACCT = re.split(
    r"\s+",
    "JobID Cluster User Group Account Partition QOS State ExitCode Submit Eligible Start End ElapsedRaw"
    " TimelimitRaw ReqCPUS AllocCPUS NNodes ReqMem ReqTRES AllocTRES TotalCPU MaxRSS AveRSS NTasks"
    " TRESUsageInTot ConsumedEnergyRaw NodeList Reservation JobName AdminComment Restarts",
)


def as_text(jobs, cluster="hpc"):
    """Return what sacct -P prints, with SLURM_TIME_FORMAT=%s."""
    lines = [SACCT]
    for job in jobs:
        row = {
            "JobID": job.jobid,
            "Cluster": cluster,
            "User": job.user,
            "Group": job.group,
            "Account": job.account,
            "Partition": job.partition,
            "QOS": job.qos,
            "State": job.state,
            "ExitCode": f"{job.exit[0]}:{job.exit[1]}",
            "Submit": job.submit,
            "Eligible": job.eligible,
            "Start": job.start or ("None" if job.end else "Unknown"),
            "End": job.end or "Unknown",
            "ElapsedRaw": job.elapsed,
            "TimelimitRaw": job.limit or "UNLIMITED",
            "ReqCPUS": job.asked["cpu"],
            "AllocCPUS": job.had.get("cpu", 0),
            "NNodes": job.had.get("node", job.asked["node"]),
            "ReqMem": unit(job.asked["mem"]),
            "ReqTRES": tres_text(job.asked),
            "AllocTRES": tres_text(job.had),
            "TotalCPU": f"00:00:{job.cpu}" if job.cpu < 60 else job.cpu,
            "ConsumedEnergyRaw": sum(step.energy for step in job.steps if step.name != "extern"),
            "NodeList": "cn[1-4]" if job.had else "None assigned",
            "Reservation": job.reservation,
            "JobName": job.name,
            "AdminComment": job.comment,
            "Restarts": job.restarts,
        }
        lines.append([str(row.get(name, "")) for name in SACCT])
        for step in job.steps:
            usage = {"mem": step.memory and f"{step.memory[0] >> 10}K", "gres/gpumem": step.gpu_memory}
            usage["gres/gpuutil"] = step.gpu_use
            row = {
                "JobID": f"{job.jobid}.{step.name}",
                "Cluster": cluster,
                "State": job.state,
                "Start": step.start,
                "End": step.end,
                "NNodes": step.nodes,
                "NTasks": step.tasks,
                "AveRSS": f"{step.memory[1] >> 10}K" if step.memory else "",
                "MaxRSS": f"{step.memory[2] >> 10}K" if step.memory else "",
                "TRESUsageInTot": ",".join(
                    f"{name}={value}" for name, value in usage.items() if value is not None
                ),
                "JobName": step.name,
            }
            lines.append([str(row.get(name, "")) for name in SACCT])
    return "".join("|".join(line) + "\n" for line in lines)


def number(value, version):
    """Write a number that may be missing."""
    if version < 39:
        return NO_VAL if value is None else value
    return {"set": value is not None, "infinite": False, "number": value or 0}


def tres_list(tres, version):
    return [
        {
            "type": name.partition("/")[0],
            "name": name.partition("/")[2] or ("" if version > 38 else None),
            "id": TRES_IDS.get(name, 9),
            "count": count,
        }
        for name, count in tres.items()
    ]


def exit_code(code, state, version):
    returned, signal = code
    if version < 40:
        if signal:
            return {
                "status": "SIGNALED",
                "return_code": -127,
                "signal": {"signal_id": signal, "name": "KILL"},
            }
        return {"status": "SUCCESS", "return_code": 0}
    if state in {"RUNNING", "PENDING"}:
        status, returned, signal = state, None, None
    else:
        status = "SIGNALED" if signal else "ERROR" if returned else "SUCCESS"
    return {
        "status": [status],
        "return_code": number(returned, version),
        "signal": {"id": number(signal or None, version), "name": ""},
    }


def step_json(job, step, version):
    total, average, largest = step.memory or (None, None, None)

    def usage(memory):
        found = {"mem": memory, "gres/gpumem": step.gpu_memory, "cpu": step.cpu * 1000, "vmem": 1 << 40}
        found["gres/gpuutil"] = step.gpu_use
        return tres_list({name: value for name, value in found.items() if value is not None}, version)

    ids = {"job_id": job.number, "step_id": step.name}
    if version < 39:
        ids = {"job_id": job.number, "id": step.name}
    return {
        "time": {
            "start": step.start if version < 40 else number(step.start, version),
            "end": step.end if version < 40 else number(step.end, version),
        },
        "tasks": {"count": step.tasks},
        "nodes": {"count": step.nodes, "range": "cn1"},
        "state": job.state if version < 40 else [job.state],
        "statistics": {"energy": {"consumed": step.energy if version < 39 else number(step.energy, version)}},
        "step": ids if version < 40 else {"id": f"{job.number}.{step.name}", "name": step.name},
        "tres": {
            "requested": {"max": usage(largest), "average": usage(average), "total": usage(total), "min": []},
            "consumed": {"max": [], "average": usage(1), "total": usage(1), "min": []},
            "allocated": tres_list(job.had, version),
        },
    }


def job_json(job, version, cluster="hpc"):
    """Return a job as the data_parser of a *version*, such as 41, writes it."""
    whole, microseconds = job.cpu, 0
    old = version < 39
    start = job.start or (NO_VAL if version > 40 and job.end else 0)
    base, offset = job.het or (0, None)
    return {
        "account": job.account,
        "allocation_nodes": job.had.get("node", job.asked["node"]),
        "array": {
            "job_id": job.array[0] if job.array else 0,
            "task_id": number(job.array[1] if job.array else None, version),
            "task": None if old else "",
        },
        "association": {"account": job.account, "cluster": cluster, "partition": "", "user": job.user},
        "cluster": cluster,
        "comment": {"administrator": job.comment, "job": "mine", "system": ""},
        "exit_code": exit_code(job.exit, job.state, version),
        "group": job.group,
        "het": {"job_id": base, "job_offset": number(offset, version)},
        "job_id": job.number,
        "name": job.name,
        "nodes": "cn[1-4]" if job.had else "None assigned",
        "partition": job.partition,
        "priority": 7 if old else number(7, version),
        "qos": job.qos,
        "restart_cnt": job.restarts,
        "required": {"CPUs": job.asked["cpu"]}
        | (
            {"memory": job.asked["mem"] // job.asked["node"]}
            if old
            else {
                "memory_per_cpu": number(None, version),
                "memory_per_node": number(job.asked["mem"] // job.asked["node"], version),
            }
        ),
        "reservation": {"id": 0, "name": job.reservation or (0 if old else "")},
        "state": {"current": job.state if version < 40 else [job.state, "REQUEUED"], "reason": "None"},
        "steps": [step_json(job, step, version) for step in job.steps],
        "time": {
            "elapsed": job.elapsed if job.end else 12345,
            "eligible": job.eligible,
            "end": job.end or 0,
            "start": job.eligible if version < 38 else start,
            "submission": job.submit,
            "suspended": job.suspended,
            "limit": number(job.limit, version),
            "total": {"seconds": whole, "microseconds": microseconds},
        },
        "tres": {
            "allocated": tres_list(job.had | ({"energy": -2} if job.had else {}), version),
            "requested": tres_list(job.asked, version),
        },
        "user": job.user,
        "wckey": {"wckey": "", "flags": []},
    }


def as_json(jobs, version=42, indent=None):
    """Return what sacct --json prints."""
    plugin = {"data_parser": f"data_parser/v0.0.{version}"}
    meta = {"meta": {"plugin": plugin, "slurm": {"release": "24.11.5", "cluster": "hpc"}}}
    body = {"jobs": [job_json(job, version) for job in jobs]}
    rest: dict[str, list[str]] = {"errors": [], "warnings": []}
    return json.dumps(meta | body | rest if version < 40 else body | meta | rest, indent=indent)


GIB = 1 << 30
SMALL = {"cpu": 1, "mem": 1024, "node": 1, "billing": 1}
LARGE = {"cpu": 8, "mem": 32768, "node": 1, "billing": 8}
LEFT = {"cpu": 4, "mem": 4000, "node": 1, "billing": 4}
RIGHT = {"cpu": 2, "mem": 1536, "node": 1, "billing": 2}
WITH_GPUS = {"cpu": 16, "mem": 65536, "node": 2, "billing": 64, "gres/gpu": 4}

EXAMPLES = (
    Job(
        number=101,
        submit=1735689600,
        eligible=1735689600,
        start=1735689660,
        end=1735693260,
        limit=120,
        asked=LARGE,
        had=LARGE,
        steps=(
            Step("batch", 1735689660, 1735693260, cpu=25000, memory=(9 * GIB,) * 3, energy=800_000),
            Step("extern", 1735689660, 1735693260, memory=(1 << 20,) * 3, energy=950_000),
            Step("0", 1735689700, 1735693000, 4, 1, 3000, (12 * GIB, 3 * GIB, 4 * GIB), energy=30_000),
        ),
    ),
    Job(
        number=102,
        submit=1735689700,
        eligible=1735693300,
        start=1735693400,
        end=1735700600,
        state="TIMEOUT",
        limit=120,
        suspended=600,
        user="bob",
        account="chemistry",
        partition="gpu",
        qos="high",
        name="train",
        reservation="course",
        asked=WITH_GPUS,
        had=WITH_GPUS | {"gres/gpu:a100": 4},
        steps=(Step("batch", 1735693400, 1735700600, 1, 1, 50000, (20 * GIB,) * 3, gpu_memory=30 * GIB),),
    ),
    Job(
        number=104,
        submit=1735690000,
        eligible=1735690000,
        start=1735690100,
        end=1735690400,
        array=(103, 1),
        name="sweep",
        limit=60,
        had=SMALL,
        steps=(Step("batch", 1735690100, 1735690400, cpu=290),),
    ),
    Job(
        number=103,
        submit=1735690000,
        eligible=1735690000,
        start=1735690200,
        end=1735690300,
        array=(103, 2),
        name="sweep",
        limit=60,
        state="OUT_OF_MEMORY",
        exit=(0, 9),
        had=SMALL,
    ),
    Job(105, 1735691000, 1735691000, 1735691500, 1735692500, het=(105, 0), asked=LEFT, had=LEFT),
    Job(106, 1735691000, 1735691000, 1735691500, 1735692500, het=(105, 1), asked=RIGHT, had=RIGHT),
    Job(107, 1735692000, 1735692000, None, 1735692050, state="CANCELLED", user="cho"),
    Job(108, 1735693000, 1735693000, None, None, state="PENDING", user="cho", limit=1440),
    Job(109, 1735693100, 1735693100, 1735693100, None, state="RUNNING", user="bob", had=SMALL),
)
"""Jobs such as users see in a day: an array, a heterogeneous job, GPUs, what never ran or still runs."""

FAILED = Job(
    number=110,
    submit=1735694000,
    eligible=1735694000,
    start=1735694060,
    end=1735697660,
    state="FAILED",
    exit=(3, 0),
    asked=LARGE,
    had=LARGE,
)
"""A job of which versions until 39 do not tell the exit code."""


def completed(job, cluster="hpc"):
    """Return what jobcomp/elasticsearch tells of a job that ended."""

    def moment(seconds):
        return seconds and f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"

    record = {
        "jobid": job.number,
        "username": job.user,
        "groupname": job.group,
        "@submit": moment(job.submit),
        "@eligible": moment(job.eligible),
        "@start": moment(job.start),
        "@end": moment(job.end),
        "elapsed": job.end - job.start if job.start else 0,
        "partition": job.partition,
        "alloc_node": "login1",
        "nodes": "cn[1-4]" if job.had else "None assigned",
        "total_cpus": job.had.get("cpu", 0),
        "total_nodes": job.had.get("node", 0),
        "exit_code": f"{job.exit[0]}:{job.exit[1]}",
        "state": job.state,
        "cpu_hours": 12.5,
        "@queue_wait": 7,
        "cluster": cluster,
        "qos": job.qos,
        "time_limit": job.limit and job.limit * 60,
        "job_name": job.name,
        "reservation_name": job.reservation,
        "tres_req": tres_text(job.asked),
        "tres_alloc": tres_text(job.had),
        "account": job.account,
    }
    if job.array:
        record |= {"array_job_id": job.array[0], "array_task_id": job.array[1]}
    if job.het:
        record |= {"het_job_id": job.het[0], "het_job_offset": job.het[1]}
    return {key: value for key, value in record.items() if value not in {None, ""}}


def as_jobcomp(jobs):
    """Return what elasticdump writes."""
    hits = ({"_index": "slurm", "_id": str(job.number), "_source": completed(job)} for job in jobs)
    return "".join(f"{json.dumps(hit)}\n" for hit in hits)


STATES = re.split(
    r"\s+",
    "PENDING RUNNING SUSPENDED COMPLETED CANCELLED FAILED TIMEOUT NODE_FAIL PREEMPTED BOOT_FAIL DEADLINE"
    " OUT_OF_MEMORY",
)
STEP_NUMBERS = {"batch": -5, "extern": -4, "interactive": -6}
USERS = {"ann": 1, "bob": 2, "cho": 3, "dörte": 4}


def quoted(value):
    """Write a value as mysqldump does."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
    return str(value)


def dumped(table, rows):
    """Return the statements that make and fill a table with *rows*, which have the same names."""
    names = ",\n".join(f"  `{name}` int(10) unsigned NOT NULL" for name in rows[0])
    values = ",".join(f"({','.join(map(quoted, row.values()))})" for row in rows)
    return (
        f"DROP TABLE IF EXISTS `{table}`;\nCREATE TABLE `{table}` (\n{names},\n  PRIMARY KEY (`a`)\n);\n"
        f"LOCK TABLES `{table}` WRITE;\nINSERT INTO `{table}` VALUES {values};\nUNLOCK TABLES;\n"
    )


def numbered(tres):
    return ",".join(f"{TRES_IDS[name]}={count}" for name, count in tres.items())


def job_row(place, job):
    returned, signal = job.exit
    return {
        "job_db_inx": place,
        "deleted": 0,
        "account": job.account,
        "cpus_req": job.asked["cpu"],
        "exit_code": (returned << 8) + signal,
        "job_name": job.name,
        "id_assoc": USERS[job.user],
        "id_array_job": job.array[0] if job.array else 0,
        "id_array_task": job.array[1] if job.array else NO_VAL,
        "array_task_str": None,
        "id_job": job.number,
        "id_qos": 1 if job.qos == "normal" else 2,
        "id_user": 1000,
        "id_group": 100,
        "het_job_id": job.het[0] if job.het else 0,
        "het_job_offset": job.het[1] if job.het else NO_VAL,
        "mem_req": (1 << 63) + 512,
        "nodelist": "cn[1-4]" if job.had else "None assigned",
        "nodes_alloc": job.had.get("node", 0),
        "partition": job.partition,
        "state": STATES.index(job.state) | 1 << 10,
        "timelimit": job.limit or 4294967295,
        "time_submit": job.submit,
        "time_eligible": job.eligible,
        "time_start": job.start or 0,
        "time_end": job.end or 0,
        "time_suspended": job.suspended,
        "restart_cnt": job.restarts,
        "wckey": "",
        "tres_alloc": numbered(job.had | ({"energy": (1 << 64) - 2} if job.had else {})),
        "tres_req": numbered(job.asked),
        "admin_comment": job.comment or None,
    }


def step_row(place, step):
    total, average, largest = step.memory or (None, None, None)

    def usage(memory):
        found = {1: step.cpu * 1000, 2: memory, 1003: step.gpu_memory, 1004: step.gpu_use}
        return ",".join(f"{number}={value}" for number, value in found.items() if value is not None)

    return {
        "job_db_inx": place,
        "deleted": 0,
        "exit_code": 0,
        "id_step": STEP_NUMBERS.get(step.name) or int(step.name),
        "step_name": "it's a \\ step (of many); ',(",
        "nodes_alloc": step.nodes,
        "task_cnt": step.tasks,
        "time_start": step.start,
        "time_end": step.end,
        "user_sec": step.cpu,
        "user_usec": 0,
        "sys_sec": 0,
        "sys_usec": 0,
        "consumed_energy": step.energy,
        "tres_usage_in_ave": usage(average),
        "tres_usage_in_max": usage(largest),
        "tres_usage_in_tot": usage(total),
    }


def as_dump(jobs, cluster="hpc"):
    """Return what mysqldump writes of the tables of a cluster."""
    steps = [step_row(place, step) for place, job in enumerate(jobs, 1) for step in job.steps]
    names = {number: name for name, number in TRES_IDS.items()} | {1003: "gres/gpumem", 1004: "gres/gpuutil"}
    tables = {
        f"{cluster}_assoc_table": [
            {"id_assoc": number, "user": user, "acct": "physics"} for user, number in USERS.items()
        ],
        f"{cluster}_event_table": [{"time_start": 7}],
        f"{cluster}_job_table": [job_row(place, job) for place, job in enumerate(jobs, 1)],
        f"{cluster}_step_table": steps,
        "qos_table": [{"id": 1, "name": "normal"}, {"id": 2, "name": "high"}],
        "tres_table": [
            {"id": number, "type": name.partition("/")[0], "name": name.partition("/")[2]}
            for number, name in names.items()
        ],
    }
    text = "".join(dumped(name, rows) for name, rows in tables.items() if rows)
    return f"-- MySQL dump 10.19\n/*!40101 SET NAMES utf8 */;\n{text}-- Dump completed\n"
