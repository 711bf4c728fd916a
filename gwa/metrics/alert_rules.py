"""
The rules by which jobs waste what they hold: one class for each, whose fields are its thresholds.

A rule is SQL over the table of `gwa.metrics.alerts.judged_jobs`. It is about some jobs; of those of which it
is known, it finds some at fault, each of which puts something at stake in every second that it runs. For whom
it holds is decided by the sums over the jobs of a user or project. A job that is not measured says nothing.

Sources: Job Defense Shield (Princeton University), commit cb31166 of April 2026, for what is looked for and
for the thresholds, which stand in ``alerts.toml``. Unlike there, hours are those within a period, shares are
not rounded, and no mail is due about a use of 0 where nothing else was measured.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

from gwa.util.toml import Check
from gwa.util.units import HOUR, MINUTE
from gwa.words.formatting import kilobytes, number
from gwa.words.message import message
from gwa.words.unit import Unit

GIB: Final = 1024.0**2
TIB: Final = 1024.0**3
"""Kilobytes."""

DIGITS: Final = 9
"""Ratios are compared with this many digits: the last ones of a sum are those of its rounding."""

MILLION: Final = 1e6
"""Ratios are summed in millionths, of which sums keep six digits."""

Amount = Annotated[float, Check(lambda value: value >= 0, "a number of at least 0")]
Share = Annotated[float, Check(lambda value: 0 <= value <= 1, "a share from 0 to 1")]
Count = Annotated[int, Check(lambda value: value >= 1, "a whole number of at least 1")]

Kind = Literal["count", "sum", "max", "min"]

Stake = Literal["GPU-hours", "core-hours", "node-hours", "TB-hours"]
"""What is at stake; a TB has 1024⁴ bytes, as everywhere in gwa."""

AMOUNTS: Final[Mapping[Stake, str]] = {
    "GPU-hours": message("{n} GPU-hours"),
    "core-hours": message("{n} core-hours"),
    "node-hours": message("{n} node-hours"),
    "TB-hours": message("{n} TB-hours"),
}
OF_REQUESTS: Final[Mapping[Stake, str]] = {
    "GPU-hours": message("{n} GPU-hours of requests"),
    "core-hours": message("{n} core-hours of requests"),
}
"""What is asked for and not used is held by no job."""

SCALES: Final[Mapping[Stake, float]] = {
    "GPU-hours": HOUR, "core-hours": HOUR, "node-hours": HOUR, "TB-hours": TIB * HOUR,
}  # fmt: skip
"""What a sum over seconds is divided by."""

HAS_GPUS: Final = "n_gpus > 0"
OF_KNOWN_PARTS: Final = "gpu_part is not null"
WHOLE_GPUS: Final = "n_gpus * gpu_part"
"""GPU-hours are of whole GPUs: a part (MIG) counts as its slice, and one of unknown size is not judged."""

NO_GPUS: Final = "coalesce(n_gpus, 0.0) = 0.0"
NOT_KILLED: Final = "not is_out_of_memory"
"""What was ended for its memory would have used more."""

MEMORY: Final = ("max_memory",), ("used_resources", "req_memory")
"""The fields of memory used and allocated."""

MEMORY_KNOWN: Final = "used is not null and allocated is not null"
MEMORY_SHARE: Final = f"round(used / allocated, {DIGITS})"
UNUSED_TIME: Final = "(req_time - run_time) / run_time"
"""What was asked for and not used, shared out over the run."""

NODES_OF_MEMORY: Final = f"ceil(round(used / ({{memory!r}} * node_memory), {DIGITS}))"


@dataclass(frozen=True)
class Sum:
    """An aggregate over jobs, of the condition or value *sql*; those of parts can be put together."""

    kind: Kind
    sql: str


@dataclass(frozen=True, kw_only=True)
class Rule:
    """
    A rule and its thresholds; it judges jobs that ran for *minimum_run* minutes or more.

    *id* is the name of the alert and *title* that for people; *subject* are the jobs that it is about, in
    words. It *needs* one field of each group, and what the *system* says.

    In SQL, in which thresholds stand as ``{use!r}``, it *concerns* some jobs, of which it is *known*, some at
    *fault* and some of these *sure* enough to write about; *at_stake* is what is in each second of the run,
    *found* what is seen of a job, and *heading* and *found_unit* tell of that.

    What is at stake *is_held* by the jobs, unless it was only asked for.

    *because* says what the jobs of somebody show, with ``jobs``, ``hours``, ``used`` and ``limit``, and *do*
    what they can do; *claim* says what users (``who``) do, *action* what an operator can do, and *shown* when
    a report says so. *parts* are alerts that say the same of a part more exactly.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    subject: ClassVar[str]
    claim: ClassVar[str]
    because: ClassVar[str]
    do: ClassVar[str]
    action: ClassVar[str]
    shown: ClassVar[str]
    stake: ClassVar[Stake]
    is_held: ClassVar[bool] = True
    needs: ClassVar[tuple[tuple[str, ...], ...]]
    system: ClassVar[tuple[str, ...]] = ()
    heading: ClassVar[str]
    found_unit: ClassVar[Unit] = "fraction"
    parts: ClassVar[tuple[str, ...]] = ()
    concerns: ClassVar[str] = "true"
    known: ClassVar[str] = "true"
    fault: ClassVar[str] = "true"
    sure: ClassVar[str] = "true"
    at_stake: ClassVar[str]
    found: ClassVar[str]

    minimum_run: Amount

    @property
    def key(self) -> str:
        """What the names of its columns begin with, and its table in a file of thresholds."""
        return self.id.replace("-", "_")

    @property
    def at_fault(self) -> str:
        """The condition on the jobs at fault."""
        is_long = f"run_time >= {self.minimum_run * MINUTE!r}"
        return f"is_judged and {is_long} and {self.concerns} and {self.known} and {self.filled(self.fault)}"

    @property
    def fields(self) -> frozenset[str]:
        """The fields that it needs."""
        return frozenset(name for group in self.needs for name in group)

    @property
    def is_at_fault(self) -> str:
        """The column that says so, from which sums are made."""
        return f"{self.key}_fault"

    @property
    def spent(self) -> str:
        """What is at stake in a job at fault, in its unit times seconds."""
        return f"({self.filled(self.at_stake)}) * seconds"

    @property
    def limit(self) -> str:
        """The threshold that its sentences name."""
        return ""

    @property
    def most(self) -> int | None:
        """How many users or projects it is told of, those with the most at stake first; None for all."""
        return vars(self).get("top")

    def filled(self, sql: str) -> str:
        """Return *sql* with the thresholds in their places."""
        return sql.format(**vars(self))

    def sums(self) -> dict[str, Sum]:
        """Return the sums that decide for whom it holds, by name."""
        return {
            "about": Sum("count", self.concerns),
            "known": Sum("count", f"{self.concerns} and {self.known}"),
            "jobs": Sum("count", self.is_at_fault),
            "hours": self._of_fault(self.spent),
            "sure": self._of_fault(
                self.spent if self.sure == "true" else f"case when {self.sure} then {self.spent} end"
            ),
        }

    def holds(self) -> str:
        """Return the condition on the sums of a user or project for whom it holds."""
        return "true"

    def is_mailed(self, hours: float) -> bool:
        """Whether a mail is due about a number of *hours* that are sure."""
        return hours > 0

    def in_hours(self, name: str) -> str:
        """Return the SQL of the sum called *name* in what is at stake, in hours."""
        return f"{self.key}_{name} / {SCALES[self.stake]!r}"

    def _of_fault(self, value: str) -> Sum:
        return Sum("sum", f"case when {self.is_at_fault} then {value} end")

    def _ratio(self) -> str:
        """Return the SQL of what was used of what was given."""
        return f"round({self.key}_used / {self.key}_given, {DIGITS})"


def median_is_low(key: str, limit: float, *, is_strict: bool) -> str:
    """
    Return the SQL of whether the median of a ratio is at most *limit*, or below if that *is_strict*.

    No values are sorted: of as many that are low as not, the median is between the nearest two.
    """
    sign = "<" if is_strict else "<="
    middle = f"({key}_highest_low + {key}_lowest_high) / 2.0 {sign} {limit!r}"
    return f"(2 * {key}_low > {key}_jobs or (2 * {key}_low = {key}_jobs and {middle}))"


@dataclass(frozen=True, kw_only=True)
class LowRatio(Rule):
    """A rule on those whose jobs use little of what they ask for: as sum, as mean and as median of all."""

    ratio: ClassVar[str]
    is_strict: ClassVar[bool]

    hours: Amount
    use: Share

    def sums(self) -> dict[str, Sum]:
        """Return the sums, those for mean and median of the ratio among them."""
        low = f"{self.ratio} {'<' if self.is_strict else '<='} {self.use!r}"
        return {
            **super().sums(),
            "ratios": self._of_fault(f"{self.ratio} * {MILLION!r}"),
            "low": Sum("count", f"{self.is_at_fault} and {low}"),
            "highest_low": Sum("max", f"case when {self.is_at_fault} and {low} then {self.ratio} end"),
            "lowest_high": Sum("min", f"case when {self.is_at_fault} and not ({low}) then {self.ratio} end"),
        }

    def holds(self) -> str:
        """Return the condition on the sums."""
        sign = "<" if self.is_strict else "<="
        mean = f"round({self.key}_ratios / {MILLION!r} / {self.key}_jobs, {DIGITS})"
        median = median_is_low(self.key, self.use, is_strict=self.is_strict)
        return (
            f"{self.in_hours('hours')} > {self.hours!r} and {self._ratio()} {sign} {self.use!r}"
            f" and {mean} {sign} {self.use!r} and {median}"
        )


@dataclass(frozen=True, kw_only=True)
class LowUse(Rule):
    """A rule on those with a noticeable share of all hours, who use little of the hours that are measured."""

    held: ClassVar[str]
    use_of_job: ClassVar[str]

    use: Share
    share: Share
    hours: Amount
    top: Count

    def sums(self) -> dict[str, Sum]:
        """Return the sums, and what all jobs held, measured or not."""
        return {
            **super().sums(),
            "used": self._of_fault(f"{self.use_of_job} * {self.held} * seconds"),
            "given": self._of_fault(f"{self.held} * seconds"),
            "held": Sum("sum", f"{self.held} * seconds"),
        }

    def holds(self) -> str:
        """Return the condition on the sums."""
        key = self.key
        return (
            f"{self._ratio()} <= {self.use!r} and {key}_held >= {self.share!r} * {key}_held_of_all"
            f" and {self.in_hours('given')} >= {self.hours!r}"
        )


@dataclass(frozen=True, kw_only=True)
class IdleGpuHours(Rule):
    """GPUs whose mean use over a job is exactly 0."""

    id = "idle-gpu-hours"
    title = message("Idle GPUs")
    subject = message("jobs with GPUs")
    claim = message("{who} held GPUs that did nothing, for {hours}.")
    because = message("{jobs} held GPUs whose mean use was 0 %, for {hours}.")
    do = message("Check that the program finds its GPUs, and ask only for those that it uses.")
    action = message("Ask the users of idle GPUs what these are for.")
    shown = message("Shown if a user's jobs left GPUs at a mean use of 0 % for 24 GPU-hours or more.")
    stake = "GPU-hours"
    needs = (("n_gpus",), ("idle_gpus", "gpu_utilization"))
    heading = message("Idle GPUs")
    found_unit = "count"
    concerns = HAS_GPUS
    known = f"idle is not null and {OF_KNOWN_PARTS}"
    fault = "idle > 0.0"
    sure = "is_idle_sure"
    at_stake = "idle * gpu_part"
    found = "idle"

    list_hours: Amount
    mail_hours: Amount

    def holds(self) -> str:
        """Return the condition on the sums."""
        return f"{self.in_hours('hours')} >= {self.list_hours!r}"

    def is_mailed(self, hours: float) -> bool:
        """Whether that many sure hours are worth a mail."""
        return hours >= self.mail_hours


@dataclass(frozen=True, kw_only=True)
class LowGpuUse(LowUse):
    """Low use of GPUs."""

    id = "low-gpu-use"
    title = message("Low use of GPUs")
    subject = message("jobs with GPUs")
    claim = message("{who} used little of their GPUs; {hours} were not used.")
    because = message("{jobs} used {used} of the GPU time held; {hours} were not used.")
    do = message("Give each GPU more work, such as larger batches or several tasks, or use fewer.")
    action = message("Help these users to find out what their GPUs wait for.")
    shown = message(
        "Shown if a user with 2 % or more of all GPU-hours used 25 % or less of those measured, 50 or more."
    )
    stake = "GPU-hours"
    needs = (("n_gpus",), ("gpu_utilization",))
    heading = message("Mean use")
    parts = ("idle-gpu-hours", "gpu-too-powerful")
    concerns = HAS_GPUS
    known = f"gpu_use is not null and {OF_KNOWN_PARTS}"
    at_stake = f"(1.0 - gpu_use) * {WHOLE_GPUS}"
    found = "gpu_use"
    held = f"coalesce({WHOLE_GPUS}, 0.0)"
    use_of_job = "gpu_use"


@dataclass(frozen=True, kw_only=True)
class LowCpuUse(LowUse):
    """Low use of cores."""

    id = "low-cpu-use"
    title = message("Low use of cores")
    subject = message("jobs")
    claim = message("{who} used little of the CPU time of their cores; {hours} were not used.")
    because = message("{jobs} used {used} of the CPU time asked for; {hours} were not used.")
    do = message("Find out what the program waits for; of several cores, use fewer.")
    action = message("Help these users to choose the number of cores.")
    shown = message(
        "Shown if a user with 2 % or more of all core-hours used 60 % or less of those measured, 50 or more."
    )
    stake = "core-hours"
    needs = (("n_procs",), ("average_cpu_time",))
    heading = message("CPU time used")
    parts = ("serial-on-many", "idle-nodes")
    concerns = "n_procs >= 1.0"
    known = "cpu_use is not null"
    at_stake = "(1.0 - cpu_use) * n_procs"
    found = "cpu_use"
    held = "coalesce(n_procs, 0.0)"
    use_of_job = "cpu_use"


@dataclass(frozen=True, kw_only=True)
class MemoryPerGpu(Rule):
    """Memory allocated for each GPU, and not used."""

    id = "memory-per-gpu"
    title = message("Memory for each GPU")
    subject = message("jobs with GPUs")
    claim = message("{jobs} held much memory for each GPU; {hours} of it were not used.")
    because = message("{jobs} held more than {limit} of memory for each GPU; {hours} of it were not used.")
    do = message("Ask for the memory that a job uses and a fifth more: other jobs on the node need the rest.")
    action = message("Show these users how much memory a node has for each GPU.")
    shown = message(
        "Shown if a job held more than 250 GB of memory for each GPU and used less than 80 % of it."
    )
    stake = "TB-hours"
    needs = (("n_gpus",), *MEMORY)
    heading = message("Memory used")
    concerns = f"{HAS_GPUS} and {NOT_KILLED}"
    known = MEMORY_KNOWN
    fault = f"allocated / n_gpus > {{memory!r}} * {GIB!r} and {MEMORY_SHARE} < {{use!r}}"
    at_stake = "allocated - used"
    found = MEMORY_SHARE

    memory: Amount
    use: Share

    @property
    def limit(self) -> str:
        """The memory for each GPU."""
        return kilobytes(self.memory * GIB)


@dataclass(frozen=True, kw_only=True)
class CoresPerGpu(Rule):
    """Cores allocated for each GPU."""

    id = "cores-per-gpu"
    title = message("Cores for each GPU")
    subject = message("jobs with GPUs")
    claim = message("{jobs} held more cores than usual for each GPU, for {hours} beyond that.")
    because = message("{jobs} held more than {limit} cores for each GPU, for {hours} beyond that.")
    do = message("Ask for fewer cores for each GPU: GPUs of a node without free cores stay empty.")
    action = message("Show these users how many cores a node has for each GPU.")
    shown = message("Shown if a job of known CPU time held more than 18 cores for each GPU.")
    stake = "core-hours"
    needs = (("n_gpus",), ("n_procs",), ("average_cpu_time",))
    heading = message("Cores for each GPU")
    found_unit = "count"
    concerns = HAS_GPUS
    known = "cpu_use is not null"
    fault = "asked_cores > {cores!r} * n_gpus"
    at_stake = "(asked_cores - {cores!r} * n_gpus) * (n_procs / asked_cores)"
    found = "asked_cores / n_gpus"

    cores: Amount

    @property
    def limit(self) -> str:
        """The cores for each GPU."""
        return number(self.cores)


@dataclass(frozen=True, kw_only=True)
class ExcessMemory(LowRatio):
    """Allocated memory that is not used."""

    id = "excess-memory"
    title = message("Memory not used")
    subject = message("jobs that were not ended for their memory")
    claim = message("{who} used little of the memory that they held; {hours} were not used.")
    because = message("{jobs} used {used} of the memory held; {hours} were not used.")
    do = message("Ask for the memory that jobs use, and a fifth more.")
    action = message("Show these users what memory their jobs use.")
    shown = message(
        "Shown if a user left more than 65 TB-hours of memory unused, and used 35 % or less of what was"
        " allocated: of all, as mean and as median of jobs."
    )
    stake = "TB-hours"
    needs = MEMORY
    heading = message("Memory used")
    concerns = NOT_KILLED
    known = MEMORY_KNOWN
    at_stake = "allocated - used"
    found = MEMORY_SHARE
    ratio = MEMORY_SHARE
    is_strict = False

    top: Count

    def sums(self) -> dict[str, Sum]:
        """Return the sums, and those of the memory used and allocated."""
        return super().sums() | {
            "used": self._of_fault("used * seconds"),
            "given": self._of_fault("allocated * seconds"),
        }


@dataclass(frozen=True, kw_only=True)
class SerialOnMany(Rule):
    """Jobs on several cores of one node that keep one of them busy."""

    id = "serial-on-many"
    title = message("One of several cores used")
    subject = message("jobs on several cores of a node")
    claim = message("{who} ran programs that use one core on several: the others idled for {hours}.")
    because = message("{jobs} kept one of several cores busy; the others idled for {hours}.")
    do = message("Ask for one core for programs that use one, or have the program use the others.")
    action = message("Show these users how to run their programs on several cores, or on one.")
    shown = message(
        "Shown if a user's jobs on several cores of a node kept one of them busy, for 85 % of the time or"
        " more, and the others idled for more than 100 core-hours."
    )
    stake = "core-hours"
    needs = (("n_nodes",), ("n_procs",), ("average_cpu_time",))
    heading = message("Cores busy")
    found_unit = "count"
    concerns = "n_nodes = 1.0 and asked_cores > 1.0"
    known = "cpu_use is not null"
    found = f"round(busy_cores, {DIGITS})"
    fault = f"{found} > {{use!r}} and {found} <= 1.0"
    at_stake = "n_procs - n_procs / asked_cores"

    use: Share
    hours: Amount
    top: Count

    def holds(self) -> str:
        """Return the condition on the sums."""
        return f"{self.in_hours('hours')} > {self.hours!r}"


@dataclass(frozen=True, kw_only=True)
class SpreadCpu(Rule):
    """Jobs without GPUs on more nodes than they need."""

    id = "spread-cpu"
    title = message("Jobs spread over nodes")
    subject = message("jobs without GPUs on several nodes")
    claim = message("{jobs} without GPUs would have fit on fewer nodes, with {hours} less.")
    because = message("{jobs} would have fit on fewer nodes, with {hours} less.")
    do = message("Ask for fewer nodes and more cores on each, as with --nodes and --ntasks-per-node.")
    action = message("Show these users how to ask for cores on the same node.")
    shown = message(
        "Shown if a job without GPUs held less than half of the cores of its nodes, and its cores, and its"
        " memory with a fifth more, fit on fewer nodes."
    )
    stake = "node-hours"
    needs = (("n_nodes",), ("n_procs",), ("max_memory",), ("idle_nodes",))
    system = ("node_cores", "node_memory")
    heading = message("Nodes that suffice")
    found_unit = "count"
    concerns = f"{NO_GPUS} and n_nodes >= 2.0 and {NOT_KILLED}"
    known = "idle_nodes is not null and used is not null and n_procs >= 1.0"
    found = f"greatest(ceil(n_procs / node_cores), {NODES_OF_MEMORY})"
    # An idle node is another alert.
    fault = (
        "idle_nodes = 0.0 and n_procs / n_nodes < {cores!r} * node_cores"
        f" and used / n_nodes < {{memory!r}} * node_memory and {found} < n_nodes"
    )
    at_stake = f"n_nodes - {found}"

    cores: Share
    memory: Share


@dataclass(frozen=True, kw_only=True)
class SpreadGpu(Rule):
    """Jobs whose GPUs are on more nodes than they need."""

    id = "spread-gpu"
    title = message("GPUs spread over nodes")
    subject = message("jobs with GPUs on several nodes")
    claim = message("The GPUs of {jobs} would have fit on fewer nodes, with {hours} less.")
    because = claim
    do = message("Ask for the GPUs on fewer nodes, as with --nodes and --gpus-per-node.")
    action = message("Show these users how to ask for GPUs on the same node.")
    shown = message("Shown if the GPUs of a job, and its cores and memory, fit on fewer nodes.")
    stake = "node-hours"
    needs = (("n_nodes",), ("n_gpus",))
    system = ("node_gpus",)
    heading = message("Nodes that suffice")
    found_unit = "count"
    concerns = f"{HAS_GPUS} and n_nodes >= 2.0"
    # Where cores or memory of a node, or those of a job, are unknown, GPUs decide.
    found = (
        "greatest(ceil(n_gpus / node_gpus), coalesce(ceil(n_procs / node_cores), 1.0),"
        f" coalesce({NODES_OF_MEMORY}, 1.0))"
    )
    fault = f"{found} < n_nodes"
    at_stake = f"n_nodes - {found}"

    memory: Share


@dataclass(frozen=True, kw_only=True)
class Limit(LowRatio):
    """Completed jobs that asked for far more time than they took."""

    size: ClassVar[str]

    is_held = False
    claim = message("{who} asked for far more time than their jobs take; {hours} were not used.")
    because = message("{jobs} ran for {used} of the time asked for; {hours} were asked for and not used.")
    do = message("Ask for less time, with a margin: shorter jobs start sooner.")
    action = message("Show these users how long their jobs take.")
    heading = message("Time used")
    known = "req_time >= 1.0 and run_time >= 1.0"
    ratio = f"round(run_time / req_time, {DIGITS})"
    found = ratio
    is_strict = True

    def sums(self) -> dict[str, Sum]:
        """Return the sums, and those of the time used and asked for."""
        return super().sums() | {
            "used": self._of_fault(f"{self.size} * seconds"),
            "given": self._of_fault(f"req_time / run_time * {self.size} * seconds"),
        }


@dataclass(frozen=True, kw_only=True)
class LimitCpu(Limit):
    """Time limits of jobs without GPUs."""

    id = "limit-cpu"
    title = message("Time limits of jobs without GPUs")
    subject = message("completed jobs without GPUs")
    shown = message(
        "Shown if a user's completed jobs without GPUs ran for less than 20 % of the time asked for (of all,"
        " as mean and as median of jobs), and left more than 100,000 core-hours of it unused."
    )
    stake = "core-hours"
    needs = (("req_time",), ("n_procs",))
    concerns = f"is_completed and {NO_GPUS} and n_procs >= 1.0"
    size = "n_procs"
    at_stake = f"{UNUSED_TIME} * {size}"


@dataclass(frozen=True, kw_only=True)
class LimitGpu(Limit):
    """Time limits of jobs with GPUs."""

    id = "limit-gpu"
    title = message("Time limits of jobs with GPUs")
    subject = message("completed jobs with GPUs")
    shown = message(
        "Shown if a user's completed jobs with GPUs ran for less than 20 % of the time asked for (of all, as"
        " mean and as median of jobs), and left more than 1,000 GPU-hours of it unused."
    )
    stake = "GPU-hours"
    needs = (("req_time",), ("n_gpus",))
    concerns = f"is_completed and {HAS_GPUS}"
    known = f"{Limit.known} and {OF_KNOWN_PARTS}"
    size = WHOLE_GPUS
    at_stake = f"{UNUSED_TIME} * {size}"


@dataclass(frozen=True, kw_only=True)
class GpuTooPowerful(Rule):
    """Jobs that a part of a GPU would do for."""

    id = "gpu-too-powerful"
    title = message("GPUs that are too powerful")
    subject = message("jobs with GPUs")
    claim = message("{who} used little of the GPUs and of their memory: parts of GPUs would do, for {hours}.")
    because = message(
        "{jobs} used little of the GPUs and of their memory: parts of GPUs would do, for {hours}."
    )
    do = message("Ask for a part of a GPU (MIG), or for a smaller GPU.")
    action = message("Offer these users parts of GPUs (MIG), or smaller GPUs.")
    shown = message(
        "Shown if a user's jobs held GPUs for more than 24 GPU-hours, used 15 % of them or less and, of each,"
        " 10 GB of memory or less, with 32 GB and 12 cores or less beside it."
    )
    stake = "GPU-hours"
    needs = (
        ("n_gpus",),
        ("gpu_utilization",),
        ("max_gpu_memory", "gpu_memory"),
        ("max_memory",),
        ("n_procs",),
    )
    heading = message("Mean use")
    concerns = f"{HAS_GPUS} and {NOT_KILLED} and not is_part_of_gpu"
    known = "gpu_use is not null and memory_of_gpu is not null and used is not null and n_procs >= 1.0"
    fault = (
        f"gpu_use > 0.0 and gpu_use <= {{use!r}} and memory_of_gpu <= {{gpu_memory!r}} * {GIB!r}"
        f" and used / n_gpus <= {{memory!r}} * {GIB!r} and n_procs / n_gpus <= {{cores!r}}"
    )
    at_stake = "n_gpus"
    found = "gpu_use"

    use: Share
    gpu_memory: Amount
    memory: Amount
    cores: Amount
    hours: Amount

    def holds(self) -> str:
        """Return the condition on the sums."""
        return f"{self.in_hours('hours')} > {self.hours!r}"


@dataclass(frozen=True, kw_only=True)
class IdleNodes(Rule):
    """Nodes on which a job used no CPU time."""

    id = "idle-nodes"
    title = message("Idle nodes")
    subject = message("jobs")
    claim = message("{jobs} held nodes on which no CPU time was used, for {hours}.")
    because = claim
    do = message("Check that the program starts on all of its nodes, or ask for fewer.")
    action = message("Show these users on which nodes their jobs did nothing.")
    shown = message("Shown if a job used no CPU time on one of its nodes.")
    stake = "core-hours"
    needs = (("n_nodes",), ("n_procs",), ("idle_nodes",))
    heading = message("Idle nodes")
    found_unit = "count"
    concerns = "n_nodes >= 1.0 and n_procs >= 1.0"
    known = "idle_nodes is not null"
    sure = "(average_cpu_time > 0.0 or used is not null or gpu_memory is not null)"
    at_stake = "n_procs / n_nodes * least(idle_nodes, n_nodes)"
    fault = "idle_nodes > 0.0"
    found = "idle_nodes"


@dataclass(frozen=True, kw_only=True)
class EarlierRuns(Rule):
    """
    Core-hours held by runs of jobs that were not the last.

    A single large job that was interrupted late is chance: that of which such runs held the most is left out.
    """

    id = "earlier-runs"
    title = message("Jobs that ran again")
    subject = message("jobs")
    claim = message("Of the core-hours of {who}, earlier runs of jobs that ran again held {hours}.")
    because = message("{jobs} ran more than once: earlier runs held {used} of all core-hours, {hours}.")
    do = message(
        "Save checkpoints, so that a run continues where the earlier one ended. Whether any were kept, the"
        " log does not say."
    )
    action = message("Find out what ended these runs: preemption, failing nodes or requeues.")
    shown = message(
        "Shown if runs that were not the last held more than 25 % of a user's core-hours, in 10 jobs or more"
        " and without the one of them in which they held the most."
    )
    stake = "core-hours"
    needs = (("n_procs",), ("runs",))
    heading = message("Held by earlier runs")
    concerns = "n_procs >= 1.0"
    known = "earlier is not null"
    fault = "earlier > 0.0"
    at_stake = "earlier"
    found = "earlier / all_runs"

    jobs: Count
    share: Share

    @property
    def spent(self) -> str:
        """The CPU seconds of earlier runs: they are not those of the run that is judged."""
        return self.at_stake

    def sums(self) -> dict[str, Sum]:
        """Return the sums, what all runs held, and the most that earlier runs of one job did."""
        held = f"case when is_judged and {self.concerns} and {self.known} then all_runs end"
        return {
            **super().sums(),
            "used": self._of_fault(self.spent),
            "most": Sum("max", f"case when {self.is_at_fault} then {self.spent} end"),
            "given": Sum("sum", held),
        }

    def holds(self) -> str:
        """Return the condition on the sums."""
        key = self.key
        share = f"round(({key}_used - {key}_most) / {key}_given, {DIGITS})"
        return f"{share} > {self.share!r} and {key}_jobs >= {self.jobs!r}"


RULES: Final[tuple[type[Rule], ...]] = (
    IdleGpuHours,
    LowGpuUse,
    GpuTooPowerful,
    MemoryPerGpu,
    CoresPerGpu,
    SpreadGpu,
    LowCpuUse,
    SerialOnMany,
    IdleNodes,
    SpreadCpu,
    ExcessMemory,
    LimitGpu,
    LimitCpu,
    EarlierRuns,
)
"""All rules, in the order in which they are told."""
