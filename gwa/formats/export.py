"""
Write a trace as the input of a simulator: its jobs, and the machine that they are submitted to.

Each simulator is a file of `gwa.formats.exports`: a function decorated with `simulator` writes the input
into a folder, and returns what it cannot hold. All of them take the same jobs (`JOBS`): those that ran, with
a known submission. Times count from the first submission, in seconds.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import cleandoc
from pathlib import Path
from typing import Final

from gwa.errors import ArgumentError, TraceError
from gwa.store.schema import BY_NAME
from gwa.store.store import Store
from gwa.util import plugins
from gwa.util.atomic_swap import replacing
from gwa.util.version import __version__

Writer = Callable[[Store, Path], Sequence[str]]
"""
Writes the table ``exported`` of a store into a folder, and returns what the simulator has no place for.

Jobs that are not written are deleted from the table; where none is left, it raises `TraceError`.
"""


@dataclass(frozen=True)
class Simulator:
    """A simulator called *name*: its *title*, what its input is (*help*), and what writes that."""

    name: str
    title: str
    help: str
    write: Writer


def simulator(title: str) -> Callable[[Writer], Simulator]:
    """Make a simulator of a function; its name is the name, its docstring the help."""

    def register(function: Writer) -> Simulator:
        return Simulator(function.__name__, title, cleandoc(function.__doc__ or ""), function)

    return register


@cache
def simulators() -> dict[str, Simulator]:
    """Return all simulators by name."""
    found = plugins.instances("gwa.formats.exports", Simulator, "gwa.exports")
    return {one.name: one for one in found}


JOBS: Final = """
create or replace temp table exported as
select
    row_number() over (order by submit_time, job_id) as id, job_id, submit_time,
    submit_time - first as submit, run_time as run, n_procs as procs, wait_time as wait,
    case when req_time > 0 then req_time end as requested,
    user_id as user_name, group_id as group_name, executable_id as executable, queue_id as queue,
    partition_id as partition, job_structure_params as bag, status, average_cpu_time as cpu_time,
    used_memory, req_memory, n_gpus, energy
from ran, (select min(submit_time) as first from ran)
where submit_time is not null
"""

ABOUT: Final = "gwa-export.json"
"""The file of an export that says what it is of; a folder that has it may be replaced."""

KEPT: Final = frozenset(
    {"job_id", "submit_time", "run_time", "n_procs", "wait_time", "req_time", "status", "job_structure"}
)
"""Fields of which no simulator's loss is worth a word: all have them, or they follow from others."""


@dataclass(frozen=True)
class Exported:
    """How many *jobs* were written into which *files*, and what was *left_out*, in words."""

    jobs: int
    files: tuple[Path, ...]
    left_out: tuple[str, ...]


def export(store: Store, name: str, folder: Path) -> Exported:
    """
    Write the jobs of *store* for a simulator into *folder*, completely or not at all.

    Raise `ArgumentError` for an unknown simulator, `TraceError` where no job can be written, `OutputError`
    for a folder that holds other things than an earlier export.
    """
    if name not in simulators():
        known = ", ".join(simulators())
        raise ArgumentError(f"there is no export to '{name}', expected one of {known}")
    store.connection.execute(JOBS)
    ((jobs,), (every,)) = store.row("select count(*) from exported"), store.row("select count(*) from jobs")
    if not jobs:
        raise TraceError("no job ran with a known submission, so there is nothing to export")
    left_out = [f"{every - jobs:,} jobs that never ran or have no submission time"] if every > jobs else []
    with replacing(folder, lambda old: (old / ABOUT).is_file()) as (part, _):
        left_out += simulators()[name].write(store, part)
        (jobs,) = store.row("select count(*) from exported")
        about = {"made by": f"gwa {__version__}", "for": name, "jobs": jobs, "left out": left_out}
        (part / ABOUT).write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return Exported(jobs, tuple(files), tuple(left_out))


# --- What writers share ---


def cpus(store: Store) -> int:
    """Return the processors of the machine, at least those of the largest job."""
    (largest,) = store.row("select max(procs) from exported")
    return max(store.system.cpus or 0, int(largest))


def system_name(store: Store) -> str:
    """Return what the machine is called, as a name of letters, digits, dots, dashes and underscores."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", store.system.name or "").strip("-.") or "cluster"


def fields_lost(store: Store, kept: Sequence[str]) -> list[str]:
    """Return the recorded fields that are not among *kept*, in one line, or none."""
    names = [name for name in BY_NAME if store.has(name) and name not in KEPT.union(kept)]
    return [f"fields without a place there: {', '.join(names)}"] if names else []


def write_json(store: Store, path: Path, parts: Sequence[tuple[str, str]], end: str) -> None:
    """
    Write a file of JSON in *parts*: each is a text and a query whose single column has elements of a list.

    The elements go from the engine to the file without passing through memory.
    """
    body = store.scratch / "body.json"
    with path.open("wb") as out:
        for text, query in parts:
            out.write(text.encode())
            try:
                _copy_lines(store, body, query)
                with body.open("rb") as lines:
                    shutil.copyfileobj(lines, out, 1 << 20)
            finally:
                body.unlink(missing_ok=True)
        out.write(end.encode())


def _copy_lines(store: Store, path: Path, query: str) -> None:
    """Write the elements of a *query* to *path*, one in a line, separated by commas."""
    comma = "case when row_number() over () = 1 then '' else ',' end"
    separated = f"select {comma} || element from ({query}) as _(element)"
    store.connection.execute(
        f"copy ({separated}) to $path (format csv, header false, quote '', escape '', delimiter '\\x1f')",
        {"path": str(path)},
    )


def write_swf(
    store: Store, path: Path, comments: Sequence[str], *, memory: str = "-1", shortest: int = 0
) -> None:
    """
    Write the jobs as lines of the Standard Workload Format, with *memory* requested in KB per processor.

    A job lasts for *shortest* seconds or more. Names are numbered in their order. Requested are the
    processors that the job had.
    """

    def number(column: str) -> str:
        rank = f"dense_rank() over (order by {column} is null, {column})"
        return f"case when {column} is null then -1 else {rank} end"

    body = store.scratch / "body.swf"
    columns = [
        "id", "cast(floor(submit) as bigint)", "cast(coalesce(round(wait), -1) as bigint)",
        f"cast(greatest(ceil(run), {shortest}) as bigint)", "procs", "-1", "-1", "procs",
        "cast(coalesce(ceil(requested), -1) as bigint)", memory, "coalesce(status, -1)",
        number("user_name"), number("group_name"), number("executable"), number("queue"), number("partition"),
        "coalesce(preceding, -1)", "-1",
    ]  # fmt: skip
    line = " || ' ' || ".join(f"cast({column} as varchar)" for column in columns)
    store.connection.execute(
        f"copy (select {line} from ({DEPENDENT}) order by id)"
        f" to $path (format csv, header false, quote '', escape '', delimiter '\\x1f')",
        {"path": str(body)},
    )
    with path.open("wb") as out, body.open("rb") as lines:
        out.write("".join(f"; {comment}\n" for comment in comments).encode())
        shutil.copyfileobj(lines, out, 1 << 20)
    body.unlink()


DEPENDENT: Final = """
select exported.*, before.preceding from exported left join (
    select dependencies.job_id, max(earlier.id) as preceding
    from dependencies join exported as earlier on earlier.job_id = dependencies.preceding_job
    group by dependencies.job_id
) as before on before.job_id = exported.job_id
"""
"""The jobs, and the last one that each had to wait for."""


def platform(name: str, count: int, speed: str = "1Gf") -> str:
    """
    Return a platform of SimGrid: a cluster of *count* hosts with one core, and a master host apart.

    Hosts are called by *name* and a number from 0. The master host is what Batsim runs its scheduler on.
    """
    network = 'bw="125MBps" lat="50us" bb_bw="2.25GBps" bb_lat="500us"'
    return (
        '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        '<platform version="4.1">\n  <zone id="main" routing="Full">\n'
        f'    <cluster id="nodes" prefix="{name}-" suffix="" radical="0-{count - 1}" speed="{speed}"'
        f" {network}/>\n"
        f'    <cluster id="masters" prefix="master_host" suffix="" radical="0-0" speed="1Gf" {network}>\n'
        '      <prop id="role" value="master"/>\n    </cluster>\n'
        '    <link id="backbone" bandwidth="1.25GBps" latency="500us"/>\n'
        f'    <zoneRoute src="nodes" dst="masters" gw_src="{name}-nodes_router"'
        ' gw_dst="master_hostmasters_router">\n      <link_ctn id="backbone"/>\n    </zoneRoute>\n'
        "  </zone>\n</platform>\n"
    )


def dependencies_lost(store: Store) -> Iterator[str]:
    """Yield how many dependencies a simulator that keeps one for each job does not get."""
    (lost,) = store.row(
        "select count(*) - count(distinct job_id) from dependencies where preceding_job is not null"
    )
    if lost:
        yield f"{lost:,} dependencies: of several for one job, the last is kept"
