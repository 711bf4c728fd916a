"""
On which nodes jobs ran: the field `node_list`, and the relation of jobs and nodes that is made of it.

A list is written as Slurm writes it, ``gpu[01-04,07],m3``: names, parted by commas; in brackets stand numbers
and ranges of them, which have at least as many digits as the first number. Where a job held more of one node
than of another, the slots follow the name: ``n1*4,n2*2``. A name that stands twice has the slots of both.

Each list is read once, however many jobs ran on its nodes. A list that cannot be read is missing as a whole,
never a part of it.

The field `gpu_list` says which GPUs of its only node a job held: indices such as ``0-1,3``, as nvidia-smi
counts, or the beginnings of UUIDs such as ``GPU-b156e653``.
"""

from typing import Final

from gwa.store.engines.duckdb import literal
from gwa.store.schema import SITE
from gwa.store.store import Store

MAXIMUM_NODES: Final = 100_000
"""A list of more nodes is taken for one that is damaged: ``n[0-100000000]`` is no cluster."""

_SIGN: Final = r"[\w.:~@-]"
_SPAN: Final = "[0-9]{1,9}(?:-[0-9]{1,9})?"
_RANGES: Final = rf"\[{_SPAN}(?:,{_SPAN})*\]"
_WORD: Final = rf"(?:{_SIGN}|{_RANGES})+(?:\*[0-9]{{1,6}})?"
FORM: Final = rf"{_WORD}(?:,{_WORD})*"
"""The regular expression of what `node_list` may be; `is_readable` asks for the sizes of ranges, too."""

GPU_INDICES: Final = "[0-9]{1,2}(?:-[0-9]{1,2})?(?:,[0-9]{1,2}(?:-[0-9]{1,2})?)*"
GPU_UUIDS: Final = "GPU-[0-9a-f]{8}[0-9a-f-]*(?:,GPU-[0-9a-f]{8}[0-9a-f-]*)*"
GPU_FORM: Final = f"(?:{GPU_INDICES}|{GPU_UUIDS})"
"""The regular expressions of what `gpu_list` may be."""

_LOW: Final = "cast(split_part(span, '-', 1) as bigint)"
_HIGH: Final = "cast(split_part(span, '-', -1) as bigint)"
_LENGTH: Final = f"case when {_HIGH} < {_LOW} then {MAXIMUM_NODES + 1} else {_HIGH} - {_LOW} + 1 end"
_SIZE_OF_WORD: Final = (
    r"list_product(list_transform(regexp_extract_all(word, '\[([^]]*)\]', 1),"
    f" lambda inside: list_sum(list_transform(string_split(inside, ','), lambda span: {_LENGTH}))))"
)

_HOSTS_OF_LISTS: Final = rf"""
with recursive word as (
    select list, unnest(regexp_extract_all(node_list, {literal(_WORD)})) as word from lists
), part as (
    select list, split_part(word, '*', 1) as name,
        coalesce(try_cast(nullif(split_part(word, '*', 2), '') as double), 1.0) as slots
    from word
    union all
    select list,
        concat(
            split_part(name, '[', 1),
            lpad(cast(number as varchar), greatest(digits, length(cast(number as varchar))::integer), '0'),
            substr(name, strpos(name, ']') + 1)
        ),
        slots
    from (
        select list, name, slots, cast(length(split_part(span, '-', 1)) as integer) as digits,
            unnest(range({_LOW}, {_HIGH} + 1)) as number
        from (
            select *, unnest(string_split(split_part(split_part(name, '[', 2), ']', 1), ',')) as span
            from part where contains(name, '[')
        ) as spans
    ) as numbers
), host as (
    select list, name as host, sum(slots) as slots from part where not contains(name, '[') group by list, name
)
select list, host, slots, slots / whole as share
from host inner join (select list, sum(slots) as whole from host group by list) as wholes using (list)
"""


def hosts_of(lists: str) -> str:
    """
    Return the query for the hosts of the relation *lists*: the readable `node_list` of each number ``list``.

    ``slots`` are those of a ``host``, ``share`` is its part of all slots of the list.
    """
    return _HOSTS_OF_LISTS.replace("from lists\n", f"from {lists}\n")


def is_readable(lists: str = "node_list") -> str:
    """
    Return the SQL of whether *lists*, such as a field, are lists of nodes.

    Ranges must rise, and a list has at most `MAXIMUM_NODES`.
    """
    words = f"regexp_extract_all({lists}, {literal(_WORD)})"
    sizes = f"list_sum(list_transform({words}, lambda word: {_SIZE_OF_WORD}))"
    small = f"case when contains({lists}, '[') then coalesce({sizes}, 0) <= {MAXIMUM_NODES} else true end"
    return f"case when regexp_full_match({lists}, {literal(FORM)}) then {small} else false end"


LISTS: Final = "node_lists"
HOSTS: Final = "node_hosts"


def on_nodes(store: Store, jobs: str = "jobs") -> str:
    """
    Return the relation of *jobs* and the nodes that they ran on: a row for each job and ``host`` of its list.

    ``share`` is the part of the job that was on the host; of each job they add up to 1. Jobs whose list is
    missing have no row. Where a log is of several clusters, whose nodes may have the same names, a host is
    called by its cluster, too.
    """
    read_lists(store)
    name = f"concat(coalesce({SITE}, ''), '/', host)" if _has_several_sites(store) else "host"
    return (
        f"(select job.*, {name} as host, share from (select * from {jobs}) as job"
        f" inner join {LISTS} using (node_list) inner join {HOSTS} using (list))"
    )


def _has_several_sites(store: Store) -> bool:
    """Whether jobs ran on several clusters."""
    low, high = store.once(
        "sites of nodes", lambda: store.row(f"select min({SITE}) as low, max({SITE}) as high from all_jobs")
    )
    return bool(low != high)


def read_lists(store: Store) -> None:
    """Make the tables `LISTS`, each distinct one by its number, and `HOSTS`, without what cannot be read."""
    store.once("node lists", lambda: _read_lists(store))


def _read_lists(store: Store) -> bool:
    lists = store.arrow("select distinct node_list from all_jobs where node_list is not null")
    store.connection.register("distinct_lists", lists)
    store.connection.execute(
        f"create or replace temp table {LISTS} as select row_number() over (order by node_list) as list, *"
        f" from distinct_lists where {is_readable()}"
    )
    store.connection.unregister("distinct_lists")
    store.connection.execute(f"create or replace temp table {HOSTS} as {hosts_of(LISTS)}")
    for table in (LISTS, HOSTS):
        store.database.share(table)
    return True
