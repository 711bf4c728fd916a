"""
AccaSim, the workload management simulator.

Source: AccaSim's documentation, and its reader of the Standard Workload Format (version 1.1.3): it takes
requested memory for granted, so that each processor asks for 1, of the 1 that it has; and it does not see
that a job of no length has ended until something else happens, so that such a job lasts a second.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from gwa.formats.export import cpus, dependencies_lost, fields_lost, simulator, system_name, write_swf
from gwa.store.store import Store


@simulator("AccaSim")
def accasim(store: Store, folder: Path) -> Sequence[str]:
    """
    Write trace.swf and system.json: a node with one core for each processor.

    Names become numbers, times whole seconds. Memory does not limit jobs.
    """
    name, count = system_name(store), cpus(store)
    write_swf(
        store, folder / "trace.swf", [f"MaxProcs: {count}", f"Computer: {name}"], memory="1", shortest=1
    )
    system = {
        "system_name": name,
        "start_time": 0,
        "equivalence": {"processor": {"core": 1}},
        "groups": {"node": {"core": 1, "mem": 1}},
        "resources": {"node": count},
    }
    (folder / "system.json").write_text(json.dumps(system, indent=1) + "\n", encoding="utf-8")
    kept = ("user_id", "group_id", "executable_id", "queue_id", "partition_id")
    (instant,) = store.row("select count(*) from exported where run = 0")
    longer = [f"{instant:,} jobs of no length, which last a second"] if instant else []
    return [*longer, *dependencies_lost(store), *fields_lost(store, kept)]
