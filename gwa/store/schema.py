"""
The fields of a job: the 29 of the Grid Workload Format, and the extension fields beside them.

Table definitions, the text header, validation, the glossary and the documentation derive from
`FIELDS`. Inside gwa a missing value is SQL NULL; ``-1`` exists only in GWF and SWF text.
Units are seconds, kilobytes, megabytes (disk), kilobytes per second (network) and joules.

Source of the 29: the Grid Workloads Archive's field list, as quoted in the headers of its traces. The others
hold what resource managers have recorded since: GPUs, energy, nodes, and how a job ended in their own words.
"""

from dataclasses import dataclass
from typing import Final

from gwa.store.peaks import peak_query
from gwa.store.runs import END, FIRST_START, START, boxes

LISTS: Final = ("runs", "node_list", "gpu_list")
"""Fields whose texts are lists in a notation of gwa."""

MAXIMUM_NAME: Final = 1000
"""The bytes of the longest name, of a user say, that is kept as it is; a page shows it several times."""


@dataclass(frozen=True)
class Field:
    """
    One of the fields.

    *name* is the column in SQL and Python, *title* the one in GWF text; *aliases* are titles that
    other editions of the archive use. A number below *low* or above *high* is not a valid value.
    """

    name: str
    title: str
    sql: str
    unit: str
    meaning: str
    low: float | None = None
    high: float | None = None
    aliases: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether the field holds text."""
        return self.sql == "VARCHAR"

    @property
    def is_name(self) -> bool:
        """Whether the field holds a name; texts on resources, runs and nodes are lists, which may be long."""
        return self.is_text and not self.name.endswith("_resources") and self.name not in LISTS

    @property
    def is_whole(self) -> bool:
        """Whether the field holds whole numbers."""
        return self.sql in {"BIGINT", "INTEGER"}


LATEST: Final = 221_876_927_999.0
"""The last second of the year 9000: calendars end in 9999, and jobs end after they are submitted."""

EARLIEST_UNIX_TIME: Final = 5e8
"""Times from here on (1985) are Unix times: no log is sixteen years long."""

MAXIMUM_DURATION: Final = EARLIEST_UNIX_TIME
"""Nearly sixteen years in seconds: what seems to take longer was counted from 1970."""

GWF_FIELDS: Final = (
    Field("job_id", "JobID", "BIGINT", "", "number of the job in the trace", low=0),
    Field("submit_time", "SubmitTime", "DOUBLE", "s", "when the job was submitted", low=0, high=LATEST),
    Field("wait_time", "WaitTime", "DOUBLE", "s", "from submission to start", low=0, high=MAXIMUM_DURATION),
    Field(
        "run_time", "RunTime", "DOUBLE", "s", "from start to end, wall clock", low=0, high=MAXIMUM_DURATION
    ),
    Field("n_procs", "NProcs", "BIGINT", "", "processors allocated", low=0, high=1e9, aliases=("NProc",)),
    Field(
        "average_cpu_time",
        "AverageCPUTimeUsed",
        "DOUBLE",
        "s",
        "CPU time used, averaged over the allocated processors",
        low=0,
        high=MAXIMUM_DURATION,
        aliases=("UsedCPUTime",),
    ),
    Field(
        "used_memory",
        "UsedMemory",
        "DOUBLE",
        "KB",
        "memory used, averaged over the allocated processors",
        low=0,
        high=1e15,
        aliases=("Used Memory",),
    ),
    Field(
        "req_n_procs",
        "ReqNProcs",
        "BIGINT",
        "",
        "processors requested",
        low=0,
        high=1e9,
        aliases=("ReqNProc",),
    ),
    Field("req_time", "ReqTime", "DOUBLE", "s", "wall-clock time requested", low=0, high=MAXIMUM_DURATION),
    Field("req_memory", "ReqMemory", "DOUBLE", "KB", "memory requested per processor", low=0, high=1e15),
    Field("status", "Status", "INTEGER", "", "how the job ended: 1 completed, 0 failed, 5 cancelled", 0, 5),
    Field("user_id", "UserID", "VARCHAR", "", "who submitted the job"),
    Field("group_id", "GroupID", "VARCHAR", "", "group of the user"),
    Field("executable_id", "ExecutableID", "VARCHAR", "", "application, program or job name"),
    Field("queue_id", "QueueID", "VARCHAR", "", "queue"),
    Field("partition_id", "PartitionID", "VARCHAR", "", "partition or cluster"),
    Field("orig_site_id", "OrigSiteID", "VARCHAR", "", "site of submission"),
    Field("last_run_site_id", "LastRunSiteID", "VARCHAR", "", "site of the (last) execution"),
    Field("job_structure", "JobStructure", "VARCHAR", "", "UNITARY, or BoT for a member of a bag of tasks"),
    Field("job_structure_params", "JobStructureParams", "VARCHAR", "", "identity of the bag, for BoT"),
    Field("used_network", "UsedNetwork", "DOUBLE", "KB/s", "network used", low=0, high=1e15),
    Field("used_local_disk_space", "UsedLocalDiskSpace", "DOUBLE", "MB", "disk used", low=0, high=1e15),
    Field("used_resources", "UsedResources", "VARCHAR", "", "other resources used, name:amount,…"),
    Field("req_platform", "ReqPlatform", "VARCHAR", "", "platform requested: CPU,OS,OS version"),
    Field("req_network", "ReqNetwork", "DOUBLE", "KB/s", "network requested", low=0, high=1e15),
    Field("req_local_disk_space", "ReqLocalDiskSpace", "DOUBLE", "MB", "disk requested", low=0, high=1e15),
    Field("req_resources", "ReqResources", "VARCHAR", "", "other resources requested, name:amount,…"),
    Field("vo_id", "VOID", "VARCHAR", "", "virtual organisation"),
    Field("project_id", "ProjectID", "VARCHAR", "", "project or account"),
)
"""The 29 columns of GWF."""

EXTENSION_FIELDS: Final = (
    Field("n_nodes", "NNodes", "BIGINT", "", "nodes allocated", low=0, high=1e9),
    Field("n_gpus", "NGPUs", "DOUBLE", "", "GPUs allocated, may be a fraction", low=0, high=1e9),
    Field("req_gpus", "ReqGPUs", "DOUBLE", "", "GPUs requested", low=0, high=1e9),
    Field("gpu_type", "GPUType", "VARCHAR", "", "model of the GPUs"),
    Field("energy", "Energy", "DOUBLE", "J", "energy used by the whole job", low=0, high=1e18),
    Field("eligible_time", "EligibleTime", "DOUBLE", "s", "when the job could have started", 0, LATEST),
    Field("qos", "QOS", "VARCHAR", "", "quality of service"),
    Field("state", "State", "VARCHAR", "", "how the job ended, in the words of its source"),
    Field("exit_code", "ExitCode", "BIGINT", "", "exit code; 128 + n where signal n ended it", 0, 2**32 - 1),
    Field("max_memory", "MaxMemory", "DOUBLE", "KB", "memory used by the whole job at its peak", 0, 1e15),
    Field("gpu_utilization", "GPUUtilization", "DOUBLE", "", "mean fraction of its GPUs used", 0, 1),
    Field("gpu_memory", "GPUMemory", "DOUBLE", "KB", "GPU memory used by the whole job at its peak", 0, 1e15),
    Field("bounds", "Bounds", "VARCHAR", "", "names of those fields of the job that are lower bounds only"),
    Field("n_requeues", "NRequeues", "BIGINT", "", "earlier runs of the job, before it was requeued", 0, 1e9),
    Field("runs", "Runs", "VARCHAR", "", "what the job held when, if not one amount in one interval"),
    Field("idle_gpus", "IdleGPUs", "BIGINT", "", "GPUs of the job whose mean use was 0", 0, 1e9),
    Field("max_gpu_memory", "MaxGPUMemory", "DOUBLE", "KB", "memory used of one GPU at its peak", 0, 1e15),
    Field("idle_nodes", "IdleNodes", "BIGINT", "", "nodes of the job on which it used no CPU time", 0, 1e9),
    Field("node_list", "NodeList", "VARCHAR", "", "names of the nodes of its last run: n[01-04],m3*2"),
    Field("pending_reason", "PendingReason", "VARCHAR", "", "why it waited, as its source noted last"),
    Field("gpu_list", "GPUList", "VARCHAR", "", "which GPUs of its only node it held: 0-1,3, or UUIDs"),
)
"""What is recorded beside the 29; GWF text holds them in its columns of resources."""

FIELDS: Final = (*GWF_FIELDS, *EXTENSION_FIELDS)

NAMES: Final = tuple(field.name for field in FIELDS)
GWF_NAMES: Final = tuple(field.name for field in GWF_FIELDS)
EXTENSION_NAMES: Final = tuple(field.name for field in EXTENSION_FIELDS)
BY_NAME: Final = {field.name: field for field in FIELDS}

STATUS: Final = {1: "completed", 0: "failed", 5: "cancelled"}
"""What the values of `status` mean; NULL is unknown."""

SITE: Final = "coalesce(last_run_site_id, orig_site_id)"
"""The SQL of the site, or cluster, of a job."""

RAN: Final = "run_time >= 0 and n_procs >= 1"
"""The condition on jobs that ran."""

ALL_RAN: Final = f"""
select
    *,
    {START} as start_time,
    {END} as end_time,
    cast(run_time * n_procs as decimal(38, 6)) as cpu_seconds
from {{jobs}}
where {{ran}}
"""


def ran(jobs: str) -> str:
    """
    Return the query for the view ``ran``: those of *jobs* that ran.

    A missing wait means that a job started when it was submitted; of several runs, start and end are those of
    the last. CPU seconds are processors times run time, as decimals, so that sums do not depend on the order
    of rows. Utilization, run times and processors are computed over these jobs.
    """
    return ALL_RAN.format(jobs=jobs, ran=RAN)


NOT_ENDED: Final = "run_time is null and status is null and wait_time >= 0"
"""The condition on jobs that had started, and not ended, when the log did, if it records statuses at all."""

UNFINISHED: Final = f"{NOT_ENDED} and n_procs >= 1"
"""That on those of them whose processors are known."""

_EDGES: Final = f"""
    select {FIRST_START} as t, cast(n_procs as double) as d from jobs
    where {UNFINISHED}{{once}} and exists (select 1 from jobs as other where status is not null)
    union all
    select start_time as t, cast(n_procs as double) as d from ran where submit_time is not null{{once}}
    union all
    select end_time as t, -cast(n_procs as double) as d from ran where submit_time is not null{{once}}
"""

_EDGES_OF_BOXES: Final = """
    union all
    select start_time as t, cast(n_procs as double) as d from ({boxes}) as begun where n_procs >= 1
    union all
    select end_time as t, -cast(n_procs as double) as d from ({boxes}) as ended where n_procs >= 1
"""

FOR_EVER: Final = "4e9"
"""Seconds that a box of a job that had not ended is taken to last where only its beginning counts."""

PEAK: Final = peak_query(_EDGES.format(once=""))
"""The maximum number of processors busy at once (thesis, section 4.2: how the size of NGS was determined)."""

PEAK_OF_RUNS: Final = peak_query(
    _EDGES.format(once=" and runs is null")
    + _EDGES_OF_BOXES.format(boxes=boxes(("n_procs",), "jobs", FOR_EVER))
)
"""The same of a log in which jobs had several runs."""
