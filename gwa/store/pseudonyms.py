"""
Pseudonyms: the fields that hold names, the form of what replaces a name, and how it is computed.

A pseudonym is a letter for the kind of name, a tilde, and 16 hexadecimal digits, such as
``U~3f9c0123456789ab``: the HMAC-SHA256 of the name under a key, cut to 64 bits. Logins, hosts and numbers
of users do not have this form. The same key gives the same pseudonyms, so that traces of two years can be
joined; without the key a name cannot be found, even by trying names.
"""

import hashlib
import hmac
import re
from collections.abc import Collection
from typing import Final

from gwa.store.engines.duckdb import literal
from gwa.store.hosts import GPU_INDICES, HOSTS, LISTS, read_lists
from gwa.store.schema import NAMES
from gwa.store.store import Store

PSEUDONYM_LETTERS: Final = {
    "user_id": "U",
    "group_id": "G",
    "executable_id": "X",
    "project_id": "P",
    "vo_id": "V",
    "orig_site_id": "S",
    "last_run_site_id": "S",
    "partition_id": "C",
    "job_structure_params": "B",
    "queue_id": "Q",
    "req_platform": "A",
    "qos": "L",
    "gpu_type": "D",
    "state": "E",
    "bounds": "N",
    "pending_reason": "W",
}
"""The fields that hold names or words, and the first letter of pseudonyms; the two sites share one."""

KEEPABLE: Final = {
    "queues": ("queue_id",),
    "qos": ("qos",),
    "partitions": ("partition_id",),
    "sites": ("orig_site_id", "last_run_site_id"),
    "platforms": ("req_platform", "gpu_type"),
    "vos": ("vo_id",),
    "projects": ("project_id",),
    "groups": ("group_id",),
    "executables": ("executable_id",),
}
"""The names that the owner of a trace may want to keep, and their fields. Users are never kept."""

PEOPLE_FIELDS: Final = ("user_id", "group_id", "executable_id", "project_id")
"""A name that is kept elsewhere is replaced where it holds a replaced one of these."""

SUBSTRING: Final = 4
"""Characters of a name that is found inside words: "al" is in many of them."""

MAXIMUM_KEPT: Final = 200
"""Characters of the longest name that is kept: a longer one is a text."""

HOST_LETTER: Final = "H"
ANONYMOUS_LISTS: Final = "anonymous_lists"
"""The table of lists of nodes without names, by the `node_list` that has them."""

STRUCTURE_LETTER: Final = "T"
STRUCTURES: Final = ("UNITARY", "BoT")
"""The words for the structure of a job, which stay."""

RESOURCE_FIELDS: Final = ("used_resources", "req_resources")
RESOURCE_LETTER: Final = "R"
RESOURCE_NAMES: Final = (
    "billing", "class", "cpu", "cpus", "disk", "energy", "events", "gpu", "gpus", "gres/gpu", "io_gb", "mem",
    "memory", "ncpus", "ngpus", "node", "nodes", "pages", "ram", "vmem",
)  # fmt: skip
"""The names of resources that stay where the amount is a number; any other text could name somebody."""

STATES: Final = (
    "active", "boot_fail", "canceled", "cancelled", "complete", "completed", "completing", "configuring",
    "deadline", "done", "ended", "error", "exit", "evicted", "failed", "finished", "held", "idle", "inactive",
    "interrupted", "killed", "lost", "node_fail", "ok", "oom", "oom_killed", "out_of_memory", "pass", "pend",
    "pending", "preempted", "queued", "removed", "requeued", "resizing", "restarting", "revoked", "run",
    "running", "signaling", "special_exit", "stage_out", "started", "stopped", "submitted", "succeeded",
    "success", "suspended", "terminated", "timeout", "transferring_output", "unknown", "waiting",
)  # fmt: skip
"""The words of resource managers for the state of a job, which stay; so do single letters and numbers."""

GPU_MODELS: Final = (
    "a10", "a100", "a16", "a2", "a30", "a40", "a4000", "a5000", "a6000", "b100", "b200", "gb200", "gh200",
    "gtx1080", "gtx1080ti", "h100", "h20", "h200", "h800", "k20", "k20m", "k20x", "k40", "k40m", "k80",
    "l4", "l40", "l40s", "m2050", "m2090", "m40", "m60", "max1100", "max1550", "mi100", "mi210", "mi250",
    "mi250x", "mi300a", "mi300x", "mi325x", "mi355x", "mi50", "mi60", "p100", "p4", "p40", "quadro",
    "rtx2080", "rtx2080ti", "rtx3090", "rtx4090", "rtx5000", "rtx6000", "rtx8000", "rtx_3090", "rtx_4090",
    "rtx_a5000", "rtx_a6000", "t4", "tesla", "titan", "titanrtx", "titanv", "titanx", "titanxp", "v100",
    "v100m16", "v100m32", "v100s", "volta",
)  # fmt: skip
"""The models of GPUs, which stay, with their variants such as ``nvidia_a100-sxm4-80gb``."""

REASON_WORDS: Final = (
    "account", "acct", "admin", "allowed", "array", "assoc", "association", "avail", "bad", "bb", "begin",
    "billing", "block", "buffer", "burst", "cleaning", "constraints", "cpu", "cpus", "deadline", "defer",
    "deleted", "dependency", "down", "duration", "energy", "error", "exit", "failure", "grp", "gres", "held",
    "hold", "inactive", "invalid", "job", "jobs", "launch", "licenses", "license", "limit", "max", "mem",
    "memory", "min", "minutes", "never", "node", "nodes", "non", "not", "of", "out", "partition", "per",
    "priority", "prolog", "qos", "req", "requeue", "requested", "reservation", "resource", "resources", "run",
    "satisfied", "sched", "submit", "system", "task", "threshold", "time", "unknown", "usage", "user", "wait",
    "wall", "zero",
)  # fmt: skip
"""The words that Slurm's reasons, such as QOSMaxJobsPerUserLimit, are made of (slurm.h): such ones stay."""

PUBLIC_WORDS: Final = {
    "bounds": rf"({'|'.join(NAMES)})(,({'|'.join(NAMES)}))*",
    "runs": rf"([0-9]{{1,9}}(/[0-9.]{{0,16}}){{5}}/({'|'.join(STATES)})?(;|$))+",
    "state": rf"(?i)({'|'.join(STATES)}|[a-z]|[0-9]{{1,3}})",
    "pending_reason": rf"(?i)({'|'.join(REASON_WORDS)})+",
    "gpu_type": (
        rf"(?i)(((nvidia|amd|intel|tesla|geforce|instinct)[ _-])*({'|'.join(GPU_MODELS)})"
        r"([ _.-]([0-9]{1,3}g[.][0-9]{1,3}gb|pcie?|s[xm]{2}[0-9]?|nvl|[0-9]{1,3}gb?))*(:[0-9]{1,4})?(,|$))+"
    ),
}
"""What stays of fields that hold words of their source rather than names."""

PSEUDONYM: Final = r"[A-Z]~[0-9a-f]{16}"
RESOURCE: Final = rf"({'|'.join(RESOURCE_NAMES)}):[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?[KMGTP]?"
EXAMPLE: Final = "U~0123456789abcdef"

HMAC_BLOCK_SIZE: Final = 64


def is_pseudonym(text: str) -> bool:
    """
    Whether *text* has the form of a pseudonym.

    >>> is_pseudonym("U~3f9c0123456789ab"), is_pseudonym("ab123456")
    (True, False)
    """
    return re.fullmatch(PSEUDONYM, text) is not None


def pseudonym(key: bytes, letter: str, name: str) -> str:
    """
    Return the pseudonym of *name*, as the engine computes it.

    >>> pseudonym(b"0123456789abcdef", "U", "alice")
    'U~07fc70f35b055d81'
    """
    return f"{letter}~{hmac.new(key, f'{letter}:{name}'.encode(), 'sha256').hexdigest()[:16]}"


def define_pseudonyms(store: Store, key: bytes) -> None:
    """Define the two keys of HMAC and the function that makes a pseudonym in the engine of *store*."""
    padded = (hashlib.sha256(key).digest() if len(key) > HMAC_BLOCK_SIZE else key).ljust(
        HMAC_BLOCK_SIZE, b"\0"
    )
    for name, mask in (("inner_key", 0x36), ("outer_key", 0x5C)):
        store.connection.execute(
            f"set variable {name} = $value", {"value": bytes(byte ^ mask for byte in padded)}
        )
    store.connection.execute(
        "create or replace temp macro pseudonym(letter, name) as"
        " letter || '~' || substr(sha256(getvariable('outer_key') || unhex(sha256("
        " getvariable('inner_key') || encode(letter || ':' || name)))), 1, 16)"
    )


def define_anonymous_lists(store: Store) -> None:
    """Make the table of lists of nodes without names, in an order that says nothing of that of the names."""
    read_lists(store)
    store.connection.execute(
        f"""create or replace temp table {ANONYMOUS_LISTS} as
        with named as (
            select host, pseudonym('{HOST_LETTER}', host) as name
            from (select distinct host from {HOSTS}) as hosts
        ), sized as (
            select list, name, slots, min(slots) over whole = max(slots) over whole as is_even
            from {HOSTS} inner join named using (host) window whole as (partition by list)
        )
        select
            node_list,
            string_agg(
                concat(name, case when not is_even then '*' || cast(slots as bigint) end), ',' order by name
            ) as anonymous
        from sized inner join {LISTS} using (list) group by node_list"""
    )


def kept_fields(keep: Collection[str]) -> set[str]:
    """Return the fields whose names stay when *keep* is asked for, such as "queues"."""
    return {field for name in keep for field in KEEPABLE[name]}


def naming(values: Collection[str], people: Collection[str]) -> list[str]:
    """
    Return those of *values* that hold a name of *people*: as a whole, as a word, or inside one, in any case.

    A number, and a name of fewer than four characters, counts as a whole only, or as a word.

    >>> naming(["Alice", "q-bob", "malicex", "long", "q7"], ["alice", "bob", "on", "7", "x@example.org"])
    ['Alice', 'malicex', 'q-bob']
    """
    names = {part for name in people for part in (name.casefold(), *_parts(name)) if part}
    return sorted(value for value in values if len(value) > MAXIMUM_KEPT or _pieces(value) & names)


def _parts(name: str) -> list[str]:
    """Return the parts of a login with its domain."""
    return re.split(r"[@\\/:]", name.casefold()) if len(name) <= MAXIMUM_KEPT else []


def _pieces(value: str) -> set[str]:
    """Return what of a *value* could be a name: all of it, its words but numbers, and longer parts."""
    text = value.casefold()
    words = {word for word in re.findall(r"[^\W_]+", text) if not word.isdigit()}
    ends = range(SUBSTRING, len(text) + 1)
    return {text, *words, *(text[begin:end] for end in ends for begin in range(end - SUBSTRING + 1))}


_ANONYMOUS_RUNS: Final = (
    "array_to_string(list_transform(string_split(runs, ';'), lambda box:"
    f" case when split_part(box, '/', 7) in {STATES} then box"
    " else regexp_replace(box, '[^/]*$', '') end), ';')"
)
"""The boxes of `runs`; of how one ended, a word that is none of `STATES` is left out."""


def anonymous_sql(field: str, kept: Collection[str], colliding: Collection[str]) -> str:
    """Return the expression for *field* without names; a *kept* one loses its *colliding* values only."""
    if field in RESOURCE_FIELDS:
        item = f"if(regexp_full_match(item, {literal(RESOURCE)}), item, pseudonym('{RESOURCE_LETTER}', item))"
        return f"array_to_string(list_transform(string_split({field}, ','), lambda item: {item}), ',')"
    if field == "job_structure":
        return f"if({field} in {STRUCTURES}, {field}, pseudonym('{STRUCTURE_LETTER}', {field}))"
    if field not in PSEUDONYM_LETTERS:
        own = {
            "runs": _ANONYMOUS_RUNS,
            "node_list": f"(select anonymous from {ANONYMOUS_LISTS} as list"
            " where list.node_list = jobs.node_list)",
            "gpu_list": f"case when regexp_full_match(gpu_list, {literal(GPU_INDICES)}) then gpu_list end",
        }
        return own.get(field, field)
    replaced = f"pseudonym('{PSEUDONYM_LETTERS[field]}', {field})"
    if field not in kept and field in PUBLIC_WORDS:
        return f"if(regexp_full_match({field}, {literal(PUBLIC_WORDS[field])}), {field}, {replaced})"
    if field not in kept:
        return replaced
    listed = ", ".join(literal(name) for name in colliding) or "null"
    return f"case when {field} in ({listed}) then {replaced} else {field} end"


def is_anonymous_sql(field: str) -> str:
    """Return the condition under which the text *field* holds nothing but pseudonyms and words of gwa."""
    if field in RESOURCE_FIELDS:
        item = literal(rf"({RESOURCE}|{PSEUDONYM})")
        return f"regexp_full_match({field}, {item} || '(,' || {item} || ')*')"
    if field == "job_structure":
        return f"({field} in {STRUCTURES} or regexp_full_match({field}, {literal(PSEUDONYM)}))"
    if field == "node_list":
        host = rf"{HOST_LETTER}~[0-9a-f]{{16}}(\*[0-9]{{1,9}})?"
        return f"regexp_full_match({field}, {literal(f'{host}(,{host})*')})"
    if field == "gpu_list":
        return f"regexp_full_match({field}, {literal(GPU_INDICES)})"
    form = f"{PUBLIC_WORDS[field]}|{PSEUDONYM}" if field in PUBLIC_WORDS else PSEUDONYM
    return f"regexp_full_match({field}, {literal(form)})"
