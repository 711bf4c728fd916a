"""
Alea, the job scheduling simulator on GridSim.

Source: the data sets of aleasimulator/alea: a log in the Standard Workload Format, and beside it a file
``.machines`` with a line for each cluster: number, name, nodes, processors of a node, relative speed, KB of
memory of a node.
"""

from collections.abc import Sequence
from pathlib import Path

from gwa.formats.export import cpus, dependencies_lost, fields_lost, simulator, system_name, write_swf
from gwa.store.store import Store

MEMORY = 1 << 40
"""KB of memory of a node, more than any job asks for: logs seldom state what there is."""


@simulator("Alea")
def alea(store: Store, folder: Path) -> Sequence[str]:
    """
    Write trace.swf and trace.swf.machines, a cluster of one node for each processor, or of the nodes stated.

    Names become numbers. Memory does not limit jobs.
    """
    count, nodes = cpus(store), store.system.nodes or 0
    each = count // nodes if nodes and count % nodes == 0 else 1
    name = system_name(store)
    write_swf(store, folder / "trace.swf", [f"MaxProcs: {count}", f"Computer: {name}"])
    machines = f"0\t{name}\t{count // each}\t{each}\t1\t{MEMORY}\n"
    (folder / "trace.swf.machines").write_text(machines, encoding="utf-8")
    kept = ("user_id", "group_id", "executable_id", "queue_id", "partition_id")
    return [*dependencies_lost(store), *fields_lost(store, kept)]
