"""
The resources of a system: what a job holds while it runs, what it asked for, and what it used.

What loops over resources takes them from here, so that GPUs are counted as processors are. Each amount is an
expression over the fields of a job; it is null where the source does not record it.
"""

from dataclasses import dataclass
from typing import Final

from gwa.store.queries import Queries


@dataclass(frozen=True)
class Resource:
    """
    A resource: *held* is the amount that is occupied from start to end, or None where it is not occupied.

    *requested* is the amount that was asked for, *used* what was used of it; *unit* is that of all three.
    For memory *used* is the peak; energy is used up, not held. *fields* are those of *held*, or of what
    there is. *family* is what the ids of its facts begin with, *units* what a system calls how many it has.
    """

    name: str
    title: str
    unit: str
    held: str | None
    requested: str | None
    used: str | None
    family: str
    fields: tuple[str, ...]
    units: str = ""

    @property
    def amount(self) -> str:
        """The expression by which jobs that record this resource are known."""
        return next(one for one in (self.held, self.used, self.requested) if one)

    def is_recorded(self, jobs: Queries) -> bool:
        """Whether any job that ran records a part of this resource."""
        return bool(jobs.row(f"select count(*) from ran where {self.amount} > 0")[0])


CPU: Final = Resource(
    "cpu",
    "processors",
    "processors",
    "n_procs",
    "req_n_procs",
    "average_cpu_time * n_procs / run_time",
    "cpu",
    ("n_procs",),
    "cpus",
)
NODE: Final = Resource("node", "nodes", "nodes", "n_nodes", None, None, "nodes", ("n_nodes",), "nodes")
GPU: Final = Resource(
    "gpu", "GPUs", "GPUs", "n_gpus", "req_gpus", "gpu_utilization * n_gpus", "gpu", ("n_gpus",), "gpus"
)
MEMORY: Final = Resource(
    "memory", "memory", "KB", None, "req_memory * req_n_procs", "max_memory", "memory", ("max_memory",)
)
ENERGY: Final = Resource("energy", "energy", "J", None, None, "energy", "energy", ("energy",))

RESOURCES: Final = (CPU, NODE, GPU, MEMORY, ENERGY)
"""The resources that a job may record, the most common first."""


def recorded(jobs: Queries) -> tuple[Resource, ...]:
    """Return the resources that the jobs which ran record."""
    return tuple(resource for resource in RESOURCES if resource.is_recorded(jobs))
