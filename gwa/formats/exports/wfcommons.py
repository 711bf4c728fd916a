"""
WfCommons, the framework of workflow instances; WRENCH and other simulators read them.

Source: WfFormat 1.5, wfcommons-schema.json of wfcommons/WfFormat.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from gwa.errors import TraceError
from gwa.formats.export import fields_lost, simulator
from gwa.store.store import Store
from gwa.util.version import __version__

MAXIMUM: Final = 10_000
"""Workflows, each a file, that are written: the first ones."""

TASKS: Final = """
select
    bag, cast(id as varchar) as id, coalesce(executable, 'task') as name, submit_time as submit,
    coalesce(wait, 0) as wait, run, procs, cpu_time, used_memory, energy,
    coalesce(parents, []) as parents, coalesce(children, []) as children
from exported
left join (
    select dependencies.job_id, list(cast(earlier.id as varchar) order by earlier.id) as parents
    from dependencies join exported as earlier on earlier.job_id = dependencies.preceding_job
    join exported as own on own.job_id = dependencies.job_id and own.bag = earlier.bag
    group by dependencies.job_id
) as above on above.job_id = exported.job_id
left join (
    select dependencies.preceding_job, list(cast(later.id as varchar) order by later.id) as children
    from dependencies join exported as later on later.job_id = dependencies.job_id
    join exported as own on own.job_id = dependencies.preceding_job and own.bag = later.bag
    group by dependencies.preceding_job
) as below on below.preceding_job = exported.job_id
order by bag, exported.id
"""

WRITTEN: Final = """
delete from exported where bag is null or bag not in (
    select bag from exported where bag is not null group by bag having count(*) > 1
    order by min(id) limit {maximum}
)
"""


@simulator("WfCommons")
def wfcommons(store: Store, folder: Path) -> Sequence[str]:
    """
    Write an instance of WfFormat 1.5 for each workflow or job array of two jobs or more, with dependencies.

    They are those that the log records: bags that are told by the times of submissions are none. Instances
    begin when their first job is submitted. Other jobs are left out; raise `TraceError` if that is all.
    """
    (jobs,) = store.row("select count(*) from exported")
    (bags,) = store.row("select count(*) from (select bag from exported group by bag having count(bag) > 1)")
    if not bags:
        raise TraceError(
            "the log records no workflow or job array of two jobs or more, so there is nothing to export;"
            " bags by the times of submissions are no workflows"
        )
    store.connection.execute(WRITTEN.format(maximum=MAXIMUM))
    names = ("bag", "id", "name", "submit", "wait", "run", "procs", "cpu_time", "used_memory", "energy",
             "parents", "children")  # fmt: skip
    rows = (dict(zip(names, row, strict=True)) for row in store.rows(TASKS))
    for number, (bag, tasks) in enumerate(groupby(rows, key=lambda row: row["bag"]), 1):
        text = json.dumps(_instance(str(bag), list(tasks)), indent=1, ensure_ascii=False)
        (folder / f"workflow-{number:05}.json").write_text(text + "\n", encoding="utf-8")
    (written,) = store.row("select count(*) from exported")
    kept = ("executable_id", "job_structure_params", "average_cpu_time", "used_memory", "energy")
    beyond = f", or beyond the first {MAXIMUM:,}" if bags > MAXIMUM else ""
    lost = f"{jobs - written:,} jobs of no workflow or job array of several{beyond}"
    return [*([lost] if jobs > written else []), "requested times, waits", *fields_lost(store, kept)]


def _instance(name: str, tasks: list[dict[str, Any]]) -> Mapping[str, Any]:
    """Return the instance of a workflow or job array."""
    first = min(task["submit"] for task in tasks)
    end = max(task["submit"] + task["wait"] + task["run"] for task in tasks)
    return {
        "name": name,
        "description": f"A workflow of {len(tasks)} jobs, written by gwa {__version__}.",
        "schemaVersion": "1.5",
        "workflow": {
            "specification": {"tasks": [_specification(task) for task in tasks]},
            "execution": {
                "makespanInSeconds": end - first,
                "executedAt": _timestamp(first),
                "tasks": [dict(_execution(task)) for task in tasks],
            },
        },
    }


def _timestamp(seconds: float) -> str:
    """Return seconds since 1970, or since an unknown beginning, as WfFormat writes a moment."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _specification(task: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "name": f"{task['name']}_{task['id']}",
        "id": task["id"],
        "parents": list(task["parents"]),
        "children": list(task["children"]),
    }


def _execution(task: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "id", task["id"]
    yield "runtimeInSeconds", task["run"]
    yield "coreCount", task["procs"]
    yield "executedAt", _timestamp(task["submit"] + task["wait"])
    if task["cpu_time"] is not None and task["run"]:
        yield "avgCPU", 100 * task["cpu_time"] * task["procs"] / task["run"]
    if task["used_memory"] is not None:
        yield "memoryInBytes", task["used_memory"] * 1024 * task["procs"]
    if task["energy"] is not None:
        yield "energyInKWh", task["energy"] / 3.6e6
