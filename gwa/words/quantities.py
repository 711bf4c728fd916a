"""
The quantities of workloads: one entry for each, which tables, comparisons, months, clusters and panels name.

A heading stands for one quantity, and a quantity has one heading, wherever it is shown. Packages add
quantities by an entry point in the group ``gwa.quantities``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from gwa.errors import DefinitionError
from gwa.util import plugins
from gwa.words.message import Message, message
from gwa.words.unit import Unit

ENTRY_POINTS: Final = "gwa.quantities"

ANY: Final = "all jobs"
RAN: Final = "jobs that ran"
WAITED: Final = "jobs whose wait is known"
ENDED: Final = "jobs whose outcome is known"
HELD_GPUS: Final = "jobs that held GPUs"
REQUESTS: Final = "requests to language models"
ROWS: Final = "rows of a file"
TASKS: Final = "tasks of an experiment"
"""Of which jobs quantities are."""


class Quantity(NamedTuple):
    """
    What a number is.

    *heading* is what all that show it call it, *unit* how its numbers are written where no table says
    otherwise (hours of seconds that are held, say), *population* of which jobs it is.
    """

    name: str
    heading: Message
    unit: Unit = ""
    population: str = ANY


OWN: Final = (
    Quantity("jobs", message("Jobs"), "count"),
    Quantity("jobs_share", message("Share of jobs"), "fraction"),
    Quantity("change", message("Change"), "fraction"),
    Quantity("jobs_submitted", message("Jobs submitted"), "count"),
    Quantity("arrivals_per_day", message("Jobs a day"), "count"),
    Quantity("arrivals_per_processor", message("Jobs a day for each processor")),
    Quantity("users", message("Users"), "count"),
    Quantity("users_submitting", message("Users who submit jobs"), "count"),
    Quantity("users_daily", message("Users who submit jobs in a day"), "count"),
    Quantity("users_weekly", message("Users who submit jobs in a week"), "count"),
    Quantity("cpu_seconds", message("CPU time"), "cpu seconds", RAN),
    Quantity("cpu_share", message("Share of CPU time"), "fraction", RAN),
    Quantity("held_share", message("Share held"), "fraction", RAN),
    Quantity("waited_seconds", message("Waited for"), "cpu seconds", WAITED),
    Quantity("earlier_cpu_seconds", message("CPU time of earlier runs"), "cpu seconds", RAN),
    Quantity("earlier_share", message("Share of CPU time of earlier runs"), "fraction", RAN),
    Quantity("core_hours", message("Core-hours"), "hours", ENDED),
    Quantity("core_hours_share", message("Share of core-hours"), "fraction", ENDED),
    Quantity("cost", message("Cost"), "", RAN),
    Quantity("utilization", message("Utilization"), "fraction"),
    Quantity("utilization_by", message("Utilization by it"), "fraction", RAN),
    Quantity("busy_processors", message("Mean of busy processors"), "count"),
    Quantity("busy_processors_most", message("Maximum of busy processors"), "count"),
    Quantity("processors", message("Processors"), "count"),
    Quantity("procs_mean", message("Mean processors per job"), "count", RAN),
    Quantity("procs_median", message("Median processors per job"), "count", RAN),
    Quantity("machine_share_median", message("Median share of the machine per job"), "fraction", RAN),
    Quantity("run_time", message("Run time"), "seconds", RAN),
    Quantity("runtime_mean", message("Mean run time"), "seconds", RAN),
    Quantity("runtime_median", message("Median run time"), "seconds", RAN),
    Quantity("runtime_p95", message("95th percentile of run time"), "seconds", RAN),
    Quantity("nodes", message("Nodes"), "count"),
    Quantity("last_end", message("Last end of a job"), "timestamp", RAN),
    Quantity("node_seconds", message("Node time"), "held seconds", RAN),
    Quantity("held_hours", message("Hours, unfinished jobs included"), "hours"),
    Quantity("held_share", message("Share of hours"), "fraction"),
    Quantity("energy", message("Energy"), "joules"),
    Quantity("energy_share", message("Share of energy"), "fraction"),
    Quantity("energy_measured", message("Energy measured"), "joules"),
    Quantity("energy_known_share", message("Share of CPU time with energy measured"), "fraction", RAN),
    Quantity("carbon", message("Carbon dioxide"), "kilograms"),
    # GPUs
    Quantity("gpus", message("GPUs"), "count"),
    Quantity("gpu_seconds", message("GPU time"), "held seconds", HELD_GPUS),
    Quantity("whole_gpu_seconds", message("Time of whole GPUs"), "held seconds", HELD_GPUS),
    Quantity(
        "whole_gpu_known_share", message("Share of GPU time of known parts of GPUs"), "fraction", HELD_GPUS
    ),
    Quantity("gpu_used_seconds", message("GPU time used"), "held seconds", HELD_GPUS),
    Quantity("gpu_idle_seconds", message("GPU time of idle GPUs"), "held seconds", HELD_GPUS),
    Quantity("gpu_known_share", message("Share of GPU time measured"), "fraction", HELD_GPUS),
    Quantity(
        "gpu_idle_known_share", message("Share of GPU time measured of each GPU"), "fraction", HELD_GPUS
    ),
    Quantity("gpu_memory_mean", message("Memory of a GPU used, mean of peaks"), "kilobytes", HELD_GPUS),
    Quantity(
        "gpu_memory_known_share", message("Share of GPU time with memory measured"), "fraction", HELD_GPUS
    ),
    Quantity("max_gpu_memory", message("Most memory of one GPU"), "kilobytes", HELD_GPUS),
    Quantity("memory_per_gpu", message("Memory per GPU"), "kilobytes", HELD_GPUS),
    Quantity("procs_per_gpu", message("Processors per GPU"), "count", HELD_GPUS),
    # Waits
    Quantity("wait", message("Wait time"), "seconds", WAITED),
    Quantity("waited", message("Jobs with a known wait"), "count", WAITED),
    Quantity("wait_seconds", message("Time waited"), "seconds", WAITED),
    Quantity("wait_mean", message("Mean wait"), "seconds", WAITED),
    Quantity("wait_median", message("Median wait"), "seconds", WAITED),
    Quantity("wait_p95", message("95th percentile of wait"), "seconds", WAITED),
    Quantity("wait_p95_all", message("95th percentile of wait, all jobs"), "seconds", WAITED),
    Quantity("wait_median_weighted", message("Median wait by core-hour"), "seconds", WAITED),
    Quantity("wait_p95_weighted", message("95th percentile of wait by core-hour"), "seconds", WAITED),
    Quantity("submitted_seconds", message("Time from submission to start"), "seconds", WAITED),
    Quantity("submitted_median", message("Median wait since submission"), "seconds", WAITED),
    Quantity("submitted_p95", message("95th percentile of wait since submission"), "seconds", WAITED),
    Quantity(
        "submitted_median_weighted", message("Median wait by core-hour since submission"), "seconds", WAITED
    ),
    Quantity(
        "submitted_p95_weighted",
        message("95th percentile of wait by core-hour since submission"),
        "seconds",
        WAITED,
    ),
    Quantity("slowdown_mean", message("Mean bounded slowdown"), "", RAN),
    Quantity("slowdown_median", message("Median bounded slowdown"), "", RAN),
    Quantity("slowdown_p95", message("95th percentile of bounded slowdown"), "", RAN),
    # Outcomes
    Quantity("completed_share", message("Completed"), "fraction", ENDED),
    Quantity("not_completed_share", message("Not completed"), "fraction", ENDED),
    Quantity("limit_jobs", message("Time limit"), "count", ENDED),
    Quantity("failed_jobs", message("Failed"), "count", ENDED),
    Quantity("cancelled_jobs", message("Cancelled"), "count", ENDED),
    Quantity("failed_share", message("Share of failed jobs"), "fraction", ENDED),
    Quantity("cancelled_share", message("Share of cancelled jobs"), "fraction", ENDED),
    Quantity("completed_cpu_seconds", message("CPU time of completed jobs"), "cpu seconds", ENDED),
    Quantity("limit_cpu_seconds", message("CPU time of jobs at their time limit"), "cpu seconds", ENDED),
    Quantity("failed_cpu_seconds", message("CPU time of failed jobs"), "cpu seconds", ENDED),
    Quantity("cancelled_cpu_seconds", message("CPU time of cancelled jobs"), "cpu seconds", ENDED),
    Quantity("not_completed_cpu_seconds", message("CPU time not completed"), "cpu seconds", ENDED),
    Quantity(
        "failed_core_hours_share",
        message("Share of core-hours in jobs that failed or reached their limit"),
        "fraction",
        ENDED,
    ),
    Quantity("failed_core_hours", message("Core-hours in jobs that failed"), "hours", ENDED),
    # Requests and what was used of them
    Quantity("req_time", message("Requested time"), "seconds"),
    Quantity("efficiency_cpu", message("CPU time used"), "fraction", RAN),
    Quantity("efficiency_memory", message("Memory used"), "fraction", RAN),
    Quantity("efficiency_time", message("Requested time used"), "fraction", RAN),
    Quantity("efficiency_gpu", message("GPUs used"), "fraction", HELD_GPUS),
    Quantity("wasted_cpu_seconds", message("CPU time not used"), "cpu seconds", RAN),
    Quantity("wasted_memory_gb_hours", message("Memory not used"), "gigabyte hours", RAN),
    Quantity("wasted_gpu_seconds", message("GPU time not used"), "held seconds", HELD_GPUS),
    # Requests to language models
    Quantity("requests", message("Requests"), "count", REQUESTS),
    Quantity("requests_share", message("Share of requests"), "fraction", REQUESTS),
    # Rows of files
    Quantity("line", message("Line"), "count", ROWS),
    # Experiments
    Quantity("bags", message("Bags"), "count", TASKS),
    Quantity("bags_finished", message("Bags finished"), "count", TASKS),
    Quantity("makespan", message("Make-span"), "seconds", TASKS),
    Quantity("makespan_normalized", message("Normalized make-span"), "", TASKS),
    Quantity("tasks", message("Tasks"), "count", TASKS),
    Quantity("tasks_finished", message("Tasks finished"), "fraction", TASKS),
    Quantity("finished_in_time", message("Finished in time"), "fraction", TASKS),
    Quantity("response_mean", message("Mean response time"), "seconds", TASKS),
    Quantity("unbounded_slowdown_mean", message("Mean slowdown"), "", TASKS),
    Quantity("goodput", message("Useful share of utilization"), "fraction", TASKS),
    Quantity("fairness", message("Fairness"), "", TASKS),
    Quantity("requests_raised", message("Requests below the run time, raised to it"), "count", TASKS),
)
"""Those that gwa knows, by what they are of."""


@dataclass(frozen=True)
class OfQuantity:
    """What is done with the quantity called *of*, such as to compare it."""

    of: str

    @property
    def title(self) -> Message:
        """The heading of the quantity."""
        return quantity(self.of).heading

    @property
    def unit(self) -> Unit:
        """The unit of the quantity."""
        return quantity(self.of).unit


@cache
def quantities() -> Mapping[str, Quantity]:
    """Return all quantities by name: those of gwa, then those that entry points add."""
    return {one.name: one for one in (*OWN, *plugins.added(ENTRY_POINTS, Quantity))}


def quantity(name: str) -> Quantity:
    """
    Return the quantity called *name*; raise `DefinitionError` where none is.

    >>> quantity("wait_median").heading, quantity("wait_median").unit
    ('Median wait', 'seconds')
    """
    found = quantities().get(name)
    if found is None:
        raise DefinitionError(f"there is no quantity {name!r}: add it to gwa/words/quantities.py")
    return found
