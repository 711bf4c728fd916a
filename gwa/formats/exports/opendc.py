"""
OpenDC, the simulator of data centres.

Source: OpenDC's documentation of its input (site/docs/documentation/Input of atlarge-research/opendc): tasks
and fragments as Parquet, a topology as JSON.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gwa.formats.export import cpus, fields_lost, simulator, system_name
from gwa.store.store import Store

MHZ: Final = 1000.0
"""The speed that a processor is given: logs do not record it, a run time is that of such a processor."""

MEMORY: Final = 1 << 50
"""Bytes of memory of the host, more than all jobs together ask for."""

TASKS: Final = f"""
select
    cast(id as varchar) as id, cast(submit * 1000 as bigint) as submission_time,
    cast(run * 1000 as bigint) as duration, cast(procs as integer) as cpu_count,
    cast(procs * {MHZ} as double) as cpu_capacity,
    cast(coalesce(greatest(req_memory, used_memory), 0) * procs / 1024 as bigint) as mem_capacity
from exported order by submission_time, exported.id
"""

FRAGMENTS: Final = f"""
select
    cast(id as varchar) as id, cast(run * 1000 as bigint) as duration, cast(procs as integer) as cpu_count,
    cast(procs as double) * {MHZ}
        * case when cpu_time is not null and run > 0 then least(cpu_time / run, 1.0) else 1.0 end
        as cpu_usage
from exported order by submit, exported.id
"""


@simulator("OpenDC")
def opendc(store: Store, folder: Path) -> Sequence[str]:
    """
    Write workload/tasks.parquet, workload/fragments.parquet and topology.json.

    A job is a task with one fragment, of the CPU that it used where that is recorded, else of all that it
    held. OpenDC runs a task on one host, so that the topology is one host with all processors.
    """
    (folder / "workload").mkdir()
    for name, query in (("tasks", TASKS), ("fragments", FRAGMENTS)):
        store.connection.execute(
            f"copy ({query}) to $path (format parquet)",
            {"path": str(folder / "workload" / f"{name}.parquet")},
        )
    host = {
        "name": "host",
        "count": 1,
        "cpu": {"coreCount": cpus(store), "coreSpeed": MHZ},
        "memory": {"memorySize": MEMORY},
    }
    topology = {"clusters": [{"name": system_name(store), "hosts": [host]}]}
    (folder / "topology.json").write_text(json.dumps(topology, indent=1) + "\n", encoding="utf-8")
    (dependencies,) = store.row("select count(*) from dependencies where preceding_job is not null")
    kept = ("average_cpu_time", "used_memory", "req_memory")
    lost = [f"{dependencies:,} dependencies"] if dependencies else []
    return ["requested times", *lost, *fields_lost(store, kept)]
