"""Join samples of nodes, which say no job, to the jobs of a store that held the nodes then."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb
import numpy as np

from gwa.errors import DefinitionError, TraceError
from gwa.ingest import by_node
from gwa.ingest.clock_skew import REACH, skew
from gwa.ingest.mapped_samples import is_of_moments, mapped_reader
from gwa.ingest.measured_files import given, is_table
from gwa.ingest.node_samples import (
    COLUMNS,
    Head,
    SampleFile,
    SampleReader,
    moments,
    reading,
    sample_file,
    text_head,
)
from gwa.store.engines.duckdb import columns_of
from gwa.store.store import Store

if TYPE_CHECKING:
    import pyarrow as pa

NAMED: Final = 4
"""Names in a sentence, at most."""

IN_USE_SAMPLES: Final = 2_000_000
"""Samples that tell the clocks of all nodes, at most."""

EACH: Final = 10_000
"""The same of one node: its first ones."""

STATES: Final = {
    "shared": "shared a node with others",
    "part": "held some of the {devices} of their node, so that what all of them used is an upper bound",
    "few": "were sampled fewer than 10 times",
    "gap": "have a gap in their samples",
    "elsewhere": "ran on {devices} that were not sampled, too",
    "open": "had not ended",
    "none": "have no sample",
}
"""What is said of jobs that are not measured."""

REASONS: Final = {
    by_node.FREE: "when no job held {what}",
    by_node.SHARED: "when several jobs shared the node",
    by_node.OUTSIDE: "before or after the log",
    by_node.NO_SUCH_NODE: "of nodes that the log does not name, or that several clusters have ({nodes})",
    by_node.BEGUN_WITHIN: "that are means over a time in which a job began",
    by_node.SKEWED: "of nodes whose clocks differ",
    by_node.REPEATED: "in the hour that clocks show twice",
    by_node.UNREADABLE: "without a readable time, device or value",
}
"""What is said of samples that are not used."""

IN_USE: Final = f"""
with looked as (
    select node, device, lowest_kb, first,
        first + coalesce(nullif(step, 0), 1) * least(greatest({{each}} / count(*) over (), 100), {EACH})
            as until
    from by_node_device
    where highest_kb > lowest_kb + {by_node.IN_USE!r}
    qualify row_number() over (partition by node order by highest_kb - lowest_kb desc, device) = 1
)
select known.node, t
from ({{samples}}) as sample
inner join by_node_match as known on sample.host = known.host
inner join looked on known.node = looked.node and sample.device = looked.device
where kb > lowest_kb + {by_node.IN_USE!r} and t between first and until and t between {{low!r}} and {{high!r}}
order by known.node, t
"""

FREE: Final = """
select since, coalesce(till, 1e300) as till from by_node_moment where slot = {node} and jobs = 0
union all
select -1e300, min(since) from by_node_moment where slot = {node}
order by since
"""


UNKNOWN_NODES: Final = f"""
select distinct host from by_node_seen_host where host not in (select host from by_node_match)
order by host limit {NAMED}
"""


@dataclass(frozen=True)
class NodeOptions:
    """
    What is stated of files of samples.

    They are of the *node*, or of that which the regular expression *pattern* finds in the name of each; their
    clocks are of *zone*, and *shift* seconds are added to their times.
    """

    node: str | None = None
    pattern: str | None = None
    zone: str | None = None
    shift: float | None = None


@dataclass(frozen=True)
class NodeSamples:
    """Files of samples of nodes, with what is stated of them."""

    files: Sequence[SampleFile]
    options: NodeOptions


def sorted_out(
    files: Sequence[Path], on: str | None, stated: str | None, options: NodeOptions
) -> tuple[NodeSamples, list[Path]]:
    """Return those of *files* that are samples of nodes, and the others, whose rows say jobs."""
    found: list[SampleFile] = []
    others: list[Path] = []
    with duckdb.connect() as database:
        for path in files:
            one = None if on else _samples_in(database, path, stated)
            (others.append(path) if one is None else found.append(one))
    return NodeSamples(found, options), others


def _samples_in(database: duckdb.DuckDBPyConnection, path: Path, stated: str | None) -> SampleFile | None:
    """Return a file of samples; None where its rows say jobs, or it is of no kind that is known."""
    if stated:
        if not is_of_moments(stated):
            return None
        name = given(database, path, "table_of_moments").name
        with reading(path):
            return SampleFile(path, *mapped_reader(columns_of(database, name), stated))
    if not is_table(path):
        head, lines = text_head(database, path)
        if found := sample_file(path, head, lines):
            return found
        if any("NVIDIA-SMI" in line for line in head.lines):
            raise DefinitionError(
                f"{path}: is the table that nvidia-smi prints for people; expected the output of nvidia-smi"
                " --query-gpu=… --format=csv, see 'gwa formats measurements'"
            )
    columns_of_table = given(database, path, "table_of_moments").columns
    return sample_file(path, Head(columns=columns_of_table))


def join_samples(store: Store, samples: NodeSamples) -> "tuple[list[pa.Table], list[str]]":
    """
    Return what *samples* say of the jobs of *store*, as rows of the table ``measured``, and sentences on it.

    Raise `TraceError` for a store whose jobs name no nodes, or hold no GPUs where samples are of GPUs.
    """
    first = samples.files[0].path
    if not store.has("node_list"):
        raise TraceError(
            f"{first}: holds samples of nodes, and the jobs of the trace name no nodes; expected a log with"
            " them (of Slurm, the column NodeList), or measurements with the ids of jobs"
        )
    if any(not one.reader.of_nodes for one in samples.files) and not store.has("n_gpus"):
        raise TraceError(
            f"{first}: holds samples of GPUs, and the log does not say which jobs held GPUs; expected one"
            " that does (of Slurm, the column AllocTRES)"
        )
    try:
        by_node.place_jobs(store)
        said = _on_unknown_nodes(store)
        tables: list[pa.Table] = []
        hosts = _hosts(store, samples, said)
        groups: dict[SampleReader, list[int]] = {}
        for place, one in enumerate(samples.files):
            groups.setdefault(one.reader, []).append(place)
        for reader, places in groups.items():
            group = [(place, samples.files[place], hosts.get(place)) for place in places]
            tables.append(_join_group(store, reader, group, samples.options, said))
        return tables, said
    finally:
        by_node.forget(store)


def _on_unknown_nodes(store: Store) -> list[str]:
    """Say how many jobs ran, with GPUs where the log knows these, on nodes that are not known."""
    with_gpus = " and n_gpus > 0" if store.has("n_gpus") else ""
    (jobs,) = store.row(
        f"select count(*) from jobs where run_time > 0{with_gpus}"
        " and job_id not in (select job_id from by_node_placed)"
    )
    if not jobs:
        return []
    kind = " with GPUs" if with_gpus else ""
    of = f"{_number_of(jobs, 'job')}{kind}"
    return [f"the nodes of {of} are unknown: other jobs may have shared nodes with them"]


def _join_group(
    store: Store,
    reader: SampleReader,
    group: Sequence[tuple[int, SampleFile, str | None]],
    options: NodeOptions,
    said: list[str],
) -> "pa.Table":
    """Return what the files of one *reader* say of jobs; say what is to be said."""
    database = store.connection
    zone = options.zone or store.system.timezone.key
    by_host: dict[str | None, list[tuple[str, list[str]]]] = {}
    clocked = False
    for place, one, host in group:
        relation = _defined(store, one, f"samples_{place}")
        columns = [*columns_of(database, relation)]
        clocked = clocked or "clock" in columns
        query = moments(relation, columns, host, zone, options.shift or 0.0)
        by_host.setdefault(host, []).append((query, columns))
    # Files of one node may overlap, and each sample counts once.
    united = [" union by name ".join(query for query, _ in some) for some in by_host.values()]
    query = " union all by name ".join(f"(from ({one}))" for one in united)
    has = {name for some in by_host.values() for _, columns in some for name in columns}
    if clocked:
        said.append(_zone_sentence(store, reader, options))
    with reading(group[0][1].path):
        _match_hosts(store, query, has)
        by_node.cut(store, of_nodes=reader.of_nodes)
        by_node.bin_samples(store, query, sorted(has))
        skewed = _skewed(store, reader, query) if "kb" in has and not reader.of_nodes else {}
        if options.shift is None:
            by_node.leave_out(store, list(skewed))
        found = by_node.conclude(store, reader.name, of_nodes=reader.of_nodes)
        unknown = [name for (name,) in store.rows(UNKNOWN_NODES)]
    said += [*_clock_sentences(store, skewed, options), *_sentences(found, unknown, reader)]
    return found.rows


def _defined(store: Store, one: SampleFile, name: str) -> str:
    """Make the view *name* of the samples in a file."""
    if one.lines:
        store.connection.execute(f"create or replace temp view given_{name} as from {one.lines}")
    else:
        given(store.connection, one.path, f"given_{name}")
    store.connection.execute(
        f"create or replace temp view {name} as with given as (from given_{name}) from ({one.select})"
    )
    return name


def _hosts(store: Store, samples: NodeSamples, said: list[str]) -> dict[int, str]:
    """
    Return the nodes of the files that do not say themselves which they are of, by their places.

    Raise `DefinitionError` for one of which that is not known.
    """
    known = {name for (name,) in store.rows("select distinct short from by_node_node")}
    found: dict[int, str] = {}
    by_name: list[str] = []
    for place, one in enumerate(samples.files):
        with reading(one.path):
            columns = columns_of(store.connection, _defined(store, one, f"samples_{place}"))
        if "host" in columns:
            continue
        if samples.options.node:
            found[place] = samples.options.node
            continue
        name = _in_name(one.path, samples.options.pattern, known)
        if name is None:
            several = ", ".join(sorted(known)[:3])
            raise DefinitionError(
                f"{one.path}: does not say which node it is of, and its name has none of the log's"
                f" ({several}, …); expected a file that is called as the node is, --node NAME or"
                " --node-from-name REGEX"
            )
        found[place] = name
        by_name.append(f"{one.path.name}: {name}")
    if by_name:
        shown = ", ".join(by_name[:NAMED]) + (", …" if len(by_name) > NAMED else "")
        said.append(f"the name of the file says which node it is of ({shown})")
    return found


def _in_name(path: Path, pattern: str | None, known: Iterable[str]) -> str | None:
    """Return the node that the name of a file says it is of; None where it says none, or several."""
    if pattern:
        match = re.search(pattern, path.name)
        return match.group(match.lastindex or 0) if match else None
    known = set(known)
    for separators in (r"\.[a-z]+(\.gz|\.zst)?$", r"[_ .]|\.[a-z]+$", r"[_ .-]"):
        words = {word for word in re.split(separators, path.name) if word in known}
        if len(words) == 1:
            return words.pop()
    return None


def _match_hosts(store: Store, query: str, columns: Collection[str]) -> None:
    """
    Make the table of the hosts of samples that are nodes of the log, by name with or without domain.

    Where the log says which GPUs jobs held, that of the hosts that were seen has their devices, too.
    """
    devices = ", ".join(
        name if name in columns and store.has("gpu_list") else f"cast(null as {COLUMNS[name]}) as {name}"
        for name in ("device", "place")
    )
    store.connection.execute(
        "create or replace temp table by_node_seen_host as"
        f" select distinct host, {devices} from ({query}) as samples where host is not null"
    )
    store.connection.execute(
        """create or replace temp table by_node_match as
        with candidate as (
            select host.host, node, 0 as rank
            from by_node_seen_host as host inner join by_node_node on short = host.host
            union all
            select host.host, node, 1 from by_node_seen_host as host inner join by_node_node
                on split_part(short, '.', 1) = split_part(host.host, '.', 1)
                    and contains(short, '.') <> contains(host.host, '.')
        ),
        nearest as (select * from candidate qualify rank = min(rank) over (partition by host))
        select host, any_value(node) as node from nearest group by host having count(distinct node) = 1"""
    )


def _skewed(store: Store, reader: SampleReader, query: str) -> dict[int, tuple[float, float]]:
    """Return by how many seconds the clocks of samples are ahead, of the nodes whose clocks differ."""
    by_node.know_devices(store, of_nodes=reader.of_nodes)
    low, high = by_node.log_span(store)
    found = store.arrays(IN_USE.format(samples=query, each=IN_USE_SAMPLES, low=low, high=high))
    nodes, times = np.asarray(found["node"]), np.asarray(found["t"], np.float64)
    skewed = {}
    for node in np.unique(nodes).tolist():
        free = store.arrays(FREE.format(node=node))
        intervals = np.column_stack([np.asarray(free[name], np.float64) for name in ("since", "till")])
        of_node = times[nodes == node]
        near = (intervals[:, 1] > of_node[0] - REACH) & (intervals[:, 0] < of_node[-1] + REACH)
        if interval := skew(of_node, intervals[near]):
            skewed[node] = interval
    return skewed


def _zone_sentence(store: Store, reader: SampleReader, options: NodeOptions) -> str:
    zone = options.zone or store.system.timezone.key
    if options.zone:
        return f"{reader.name}: times without a zone are taken as {zone}, as --zone says"
    why = "the zone of the log" if store.system.zone else "of the log no zone is known"
    return f"{reader.name}: times without a zone are taken as {zone}, {why}; --zone says another"


def _clock_sentences(
    store: Store, skewed: Mapping[int, tuple[float, float]], options: NodeOptions
) -> list[str]:
    names = dict(store.rows("select node, short from by_node_node")) if skewed else {}
    lines = []
    for node, (low, high) in [*skewed.items()][:NAMED]:
        middle = round((low + high) / 2)
        ahead = "later" if middle > 0 else "earlier"
        near, far = sorted((abs(low), abs(high)))
        advice = (
            "its times may be of another zone: --zone NAME"
            if abs(middle) > 1800  # noqa: PLR2004 - half an hour
            else f"--shift {(options.shift or 0.0) - middle:g} moves its times"
        )
        what = "nothing of it is joined" if options.shift is None else "it is joined, as --shift says"
        lines.append(
            f"{names[node]}: the memory of its GPUs is in use {near:,.0f} to {far:,.0f} s {ahead} than jobs"
            f" of the log run; {what}; {advice}, --shift 0 takes them as they are"
        )
    if len(skewed) > NAMED:
        lines.append(f"so are the clocks of {len(skewed) - NAMED:,} other nodes")
    return lines


def _number_of(number: int, noun: str) -> str:
    """
    Return a number of things.

    >>> _number_of(1, "node"), _number_of(1200, "job")
    ('1 node', '1,200 jobs')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _sentences(found: by_node.ByNode, unknown: Sequence[str], reader: SampleReader) -> list[str]:
    """Return the sentences on what samples said of jobs, and on those that are not used."""
    devices = "nodes" if reader.of_nodes else "GPUs"
    jobs = sum(found.found.values())
    states = [
        f"{found.found[name]:,} {text.format(devices=devices)}"
        for name, text in STATES.items()
        if name in found.found
    ]
    kind = "" if reader.of_nodes else " with GPUs"
    on = f"of {_number_of(jobs, 'job')}{kind} on {_number_of(found.nodes, 'node')}"
    lines = [
        f"{reader.name}: {found.found.get('measured', 0):,} {on} measured by node and time"
        + "".join(f"; {state}" for state in states)
    ]
    if not reader.of_nodes and "shared" in found.found and not found.tells_gpus:
        lines.append(
            "the log does not say which GPUs of a shared node a job held, so nothing is joined to"
            f" {_number_of(found.found['shared'], 'job')}; a column SLURM_JOB_GPUS says it: see"
            " 'gwa formats slurm'"
        )
    if found.unsure:
        lines.append(
            f"of {_number_of(found.unsure, 'job')} every reading of a GPU is 0, and its power is above that"
            " of idle ones, or unknown: its use is unknown, and it is not taken as idle"
        )
    if found.uncounted:
        lines.append(
            f"the samples of {_number_of(found.uncounted, 'job')} do not say how many processors the nodes"
            " have: the CPU time used is unknown (sadf -d … -- -u -P ALL says it)"
        )
    if unused := sum(found.unused.values()):
        named = [*unknown[: NAMED - 1], *["…"][: len(unknown) >= NAMED]]
        words = {"what": "the node" if reader.of_nodes else "a GPU", "nodes": ", ".join(named)}
        reasons = [
            f"{found.unused[why]:,} {text.format(**words)}"
            for why, text in REASONS.items()
            if why in found.unused
        ]
        lines.append(f"{unused:,} of {found.samples:,} samples are not used: {', '.join(reasons)}")
    return lines
