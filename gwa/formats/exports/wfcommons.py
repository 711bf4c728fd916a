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

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gwa.errors import TraceError
from gwa.formats.export import fields_lost, simulator
from gwa.metrics.bags import RECORDED, Definition, bagged, that_apply
from gwa.statistics.sample import Ints
from gwa.store.store import Store
from gwa.util.version import __version__

MAXIMUM: Final = 10_000
"""Workflows, each a file, that are written: the first ones."""

DEPENDENCIES: Final = """
select own.id as a, earlier.id as b from dependencies
join exported as own on own.job_id = dependencies.job_id
join exported as earlier on earlier.job_id = dependencies.preceding_job
"""

BAGS: Final = """
select exported.id as a, min(exported.id) over (partition by bagged.bag) as b
from exported join {bagged} on bagged.job_id = exported.job_id
"""

WORKFLOWS: Final = """
create or replace temp table workflows as
select
    workflow, number,
    case
        when name is null then 'workflow-' || number when alike > 1 then name || '-' || number else name
    end as title
from (
    select
        workflow, name, count(*) over (partition by name) as alike,
        row_number() over (order by first) as number
    from (
        select
            workflow, min(id) as first,
            case when count(bag) = count(*) and min(bag) = max(bag) then min(bag) end as name
        from exported join connected using (id) group by workflow having count(*) > 1
    )
)
where number <= {maximum}
"""

TASKS: Final = """
select
    number, title, cast(exported.id as varchar) as id, coalesce(executable, 'task') as name,
    submit_time as submit, coalesce(wait, 0) as wait, run, procs, cpu_time, used_memory, energy,
    coalesce(parents, []) as parents, coalesce(children, []) as children
from exported join connected using (id) join workflows using (workflow)
left join (
    select a as id, list(distinct cast(b as varchar) order by cast(b as varchar)) as parents
    from edges group by a
) using (id)
left join (
    select b as id, list(distinct cast(a as varchar) order by cast(a as varchar)) as children
    from edges group by b
) using (id)
order by number, exported.id
"""

LEFT: Final = """
delete from exported where id not in (select id from connected join workflows using (workflow))
"""


@simulator("WfCommons")
def wfcommons(store: Store, folder: Path) -> Sequence[str]:
    """
    Write an instance of WfFormat 1.5 for each workflow, and for each bag of tasks of two jobs or more.

    A workflow is what dependencies connect. Bags are those that the log records, else those of the thesis
    (`gwa.metrics.bags.THESIS`), of jobs of no workflow; a recorded bag of which jobs depend on others is a
    part of that workflow. Instances begin when their first job is submitted. Other jobs are left out; raise
    `TraceError` if that is all.
    """
    (jobs,) = store.row("select count(*) from exported")
    definition = that_apply(store)
    _connect(store, definition, jobs)
    store.connection.execute(WORKFLOWS.format(maximum=MAXIMUM))
    (several,) = store.row(
        "select count(*) from (select workflow from connected group by workflow having count(*) > 1)"
    )
    if not several:
        raise TraceError("no job depends on another one or shares a bag with one: there is nothing to export")
    names = ("number", "title", "id", "name", "submit", "wait", "run", "procs", "cpu_time", "used_memory",
             "energy", "parents", "children")  # fmt: skip
    rows = (dict(zip(names, row, strict=True)) for row in store.rows(TASKS))
    for (number, title), tasks in groupby(rows, key=lambda row: (row["number"], row["title"])):
        text = json.dumps(_instance(title, list(tasks), definition), indent=1, ensure_ascii=False)
        (folder / f"workflow-{number:05}.json").write_text(text + "\n", encoding="utf-8")
    store.connection.execute(LEFT)
    (written,) = store.row("select count(*) from exported")
    kept = ("executable_id", "job_structure_params", "average_cpu_time", "used_memory", "energy")
    beyond = f", or beyond the first {MAXIMUM:,}" if several > MAXIMUM else ""
    lost = f"{jobs - written:,} jobs of no workflow or bag of several{beyond}"
    return [*([lost] if jobs > written else []), "requested times, waits", *fields_lost(store, kept)]


def _connect(store: Store, definition: Definition, jobs: int) -> None:
    """Keep dependencies between ids as ``edges``, and the ``workflow`` of each id in ``connected``."""
    store.connection.execute(f"create or replace temp table edges as {DEPENDENCIES}")
    later, earlier = _pairs(store, "select a, b from edges")
    members, bags = np.zeros(0, np.int64), np.zeros(0, np.int64)
    if store.has(definition.key[0]):
        members, bags = _pairs(store, BAGS.format(bagged=bagged(store, definition)))
    if definition is not RECORDED:
        is_free = ~np.isin(members, np.concatenate([later, earlier]))
        members, bags = members[is_free], bags[is_free]
    # Jobs are nodes of a graph, bags are further ones behind them.
    ends = np.concatenate([later, members]), np.concatenate([earlier, bags + jobs])
    graph = coo_array((np.ones(ends[0].size, bool), ends), shape=(2 * jobs + 1, 2 * jobs + 1))
    _, workflow = connected_components(graph, directed=False)
    numbers = {"id": np.arange(1, jobs + 1), "workflow": workflow[1 : jobs + 1].astype(np.int64)}
    store.connection.register("numbers", numbers)
    store.connection.execute("create or replace temp table connected as select * from numbers")
    store.connection.unregister("numbers")


def _pairs(store: Store, query: str) -> tuple[Ints, Ints]:
    """Return the columns ``a`` and ``b`` of a *query*."""
    found = store.arrays(query)
    return np.asarray(found["a"], np.int64), np.asarray(found["b"], np.int64)


def _instance(title: str, tasks: list[dict[str, Any]], definition: Definition) -> Mapping[str, Any]:
    """Return the instance of a workflow, or of a bag by a *definition*."""
    first = min(task["submit"] for task in tasks)
    end = max(task["submit"] + task["wait"] + task["run"] for task in tasks)
    is_bag = not any(task["parents"] for task in tasks)
    what = f"bag ({definition.title})" if is_bag else "workflow"
    return {
        "name": title,
        "description": f"A {what} of {len(tasks)} jobs, written by gwa {__version__}.",
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
