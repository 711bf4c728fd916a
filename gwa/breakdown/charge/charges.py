"""
What the jobs of a trace held in a month, by project and rate: whole numbers of units times seconds.

Moments are rounded to whole seconds before a job is clipped to the month, so that what it held in adjacent
months adds up to what it held in both. Amounts of a job are whole numbers, too: processors, millionths of a
GPU, of a unit of billing and of a node, and KB of memory. Sums are therefore exact, on every engine. Money is
made of them in `gwa.breakdown.charge.statements`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil, floor
from typing import Final

from gwa.breakdown.charge.rates import PRICES, Basis, Rate, Rates
from gwa.breakdown.dimensions import GPU_TYPE
from gwa.breakdown.held import held_jobs
from gwa.errors import DefinitionError, TraceError
from gwa.metrics.presence import counted, has_boxes, listed_boxes, recorded
from gwa.metrics.timeline import exact_sum
from gwa.store.gpu_parts import WHOLE_GPUS
from gwa.store.store import Store
from gwa.store.system import System
from gwa.util.units import DAY, HOUR
from gwa.words.message import message

MICRO: Final = 1_000_000
"""Millionths in a unit."""

MILLION: Final = 1_000_000
"""Tokens that have a price."""

SLICES: Final = 7 * MICRO
"""Of a whole GPU, whose parts are sevenths and quarters: all are whole numbers of these."""

GIGABYTE: Final = 1024 * 1024
"""KB in a GB."""

SHOWN: Final = 10
"""Ids of jobs, and kinds of them, that are named."""


@dataclass(frozen=True)
class Service:
    """
    What is charged: its *price* in rates, the *unit* of its quantity, and *scale* of these.

    The amount of a job, in ``amounts``, is *scale* for one unit; *lacking* is what the log does not say of a
    job without it. It is charged for *seconds*, an hour unless it is of requests, which count tokens.
    """

    price: str
    unit: str
    scale: int
    lacking: str
    seconds: int = HOUR

    @property
    def per(self) -> int:
        """How much of what jobs hold, times seconds, is one of the quantity."""
        return self.scale * self.seconds


SERVICES: Final[Mapping[str, Service]] = {
    one.price: one
    for one in (
        Service("cpu_hour", message("core hours"), 1, message("processors")),
        Service("gpu_hour", message("GPU hours"), MICRO, message("GPUs")),
        Service("whole_gpu_hour", message("whole-GPU hours"), SLICES, message("parts of GPUs")),
        Service("gb_hour", message("GB hours"), GIGABYTE, message("memory")),
        Service("shard_hour", message("shard hours"), 1, message("shards")),
        Service("mps_hour", message("MPS hours"), 1, message("MPS")),
        Service("billing_hour", message("billing hours"), MICRO, message("billing")),
        Service("node_hour", message("node hours"), MICRO, message("processors or memory")),
        Service("million_in", message("million tokens in"), MILLION, message("tokens in"), 1),
        Service("million_cached", message("million cached tokens"), MILLION, message("cached tokens"), 1),
        Service("million_out", message("million tokens out"), MILLION, message("tokens out"), 1),
    )
}
"""What may be charged, by its key in rates."""

RUN_TIME: Final = message("run time")


def _whole(amount: str) -> str:
    """Return the SQL of an *amount* rounded to a whole number, null where it is beyond all measure."""
    return f"try_cast(floor({amount} + 0.5) as decimal(18, 0))"


GPUS: Final = _whole(f"coalesce(n_gpus, 0) * {float(MICRO)!r}")
OF_WHOLE_GPUS: Final = _whole(f"({WHOLE_GPUS}) * {float(SLICES)!r}")
PROCESSORS: Final = "case when n_procs >= 1 then n_procs end"
BILLING: Final = (
    "try_cast(nullif(regexp_extract(used_resources, '(^|,)billing:([0-9.]+)(,|$)', 2), '') as double)"
)

UNITS: Final = {"K": 1, "M": 1024, "G": GIGABYTE, "T": 1024 * GIGABYTE, "P": GIGABYTE * GIGABYTE}
"""KB in the units of Slurm's TRES."""

_MEMORY: Final = "regexp_extract(used_resources, '(^|,)mem:([0-9.]+)([KMGTP])(,|$)', {group})"
_FACTORS: Final = " ".join(f"when '{unit}' then {float(size)!r}" for unit, size in UNITS.items())
MEMORY: Final = _whole(
    f"coalesce(try_cast(nullif({_MEMORY.format(group=2)}, '') as double)"
    f" * case {_MEMORY.format(group=3)} {_FACTORS} end, req_memory * n_procs)"
)
"""The memory in KB that a job held: what was allocated where the log says it, else what was requested."""

_SHARES: Final = (
    "try_cast(nullif("
    "regexp_extract(used_resources, '(^|,)gres/{kind}:{of_type}([0-9]+)(,|$)', 2), '') as double)"
)
_OF_TYPES: Final = ("", "[^,:]*:")
SHARES: Final = {
    f"{kind}_hour": _whole(
        f"coalesce({', '.join(_SHARES.format(kind=kind, of_type=one) for one in _OF_TYPES)}, 0.0)"
    )
    for kind in ("shard", "mps")
}
"""The shares of GPUs that a job held (Slurm's gres/shard and gres/mps), by the key of their price."""

MONTH: Final = """
with begun as (
    select job_id, nullif(project_id, '') as project, {place} as place,
        outcome, is_last_run, outcome = 'running' as is_running,
        cast(floor(start_time + 0.5) as bigint) as began, cast(floor(end_time + 0.5) as bigint) as ended,
        {is_first} as is_first, coalesce(n_gpus, 0) > 0 as has_gpus, {kind}, {amounts}
    from {held} as held
    where start_time < {late!r} and end_time > {early!r}{charged_runs}
),
within as (
    select *, least(greatest(ended, began + case when is_first then {minimum} else 0 end), {last})
        - greatest(began, {first}) as seconds
    from begun
)
select *, {state} as state from within where seconds > 0
"""

SUMS: Final = """
select project, place, state, {jobs} as jobs, {running} as running, {sums}
from ({charged}) as charged group by project, place, state order by project, place, state
"""

UNKNOWN: Final = """
select job_id, nullif(project_id, '') as project, 'run_time' as state from all_jobs
where submit_time >= {first!r} and submit_time < {last!r}
    and not coalesce({held}, false) and not coalesce({idle}, false)
"""

NAMED: Final = """
select project, state, jobs, coalesce(source_id, cast(named.job_id as varchar)) as id from (
    select *, count(*) over (partition by project, state) as jobs,
        row_number() over (partition by project, state order by job_id) as place
    from ({listed}) as listed
) as named left join (
    select job_id, min(source_id) as source_id from source_ids group by job_id
) as ids on ids.job_id = named.job_id
where place <= {shown} order by project, state, named.job_id
"""

KIND: Final = f"queue_id, partition_id, qos, {GPU_TYPE} as gpu_type"

HELD: Final = "run_time is not null or (status is null and wait_time >= 0 and n_procs >= 1)"
"""Jobs of which is known for how long they ran, those that had not ended when the log did among them."""

IDLE: Final = "status = 5 or (status is null and wait_time is null)"
"""Of jobs without a run time, those that never started: cancelled, or waiting when the log ended."""


@dataclass(frozen=True)
class BillingPeriod:
    """A calendar month, or the part of one that is asked for: its *name*, and its bounds in Unix seconds."""

    name: str
    first: int
    last: int


@dataclass(frozen=True)
class ChargedUsage:
    """
    What *jobs* of a *project* held at a rate, by the key of its price; *running* had not ended.

    Of requests it is what those of a *model* used.
    """

    project: str | None
    place: int
    jobs: int
    running: int
    amounts: Mapping[str, int]
    model: str | None = None


@dataclass(frozen=True)
class Uncharged:
    """A number of *jobs* of a *project* of which the log does not say what is *lacking*, and some *ids*."""

    project: str | None
    lacking: str
    jobs: int
    ids: Sequence[str]


@dataclass(frozen=True)
class Month:
    """All that was held in a *part* of the time; *is_known* unless jobs ran of which is not known what."""

    part: BillingPeriod
    usage: Sequence[ChargedUsage]
    is_known: bool = True


def month(store: Store, rates: Rates, part: BillingPeriod) -> Month:
    """
    Return what the jobs of *store* held in a *part* of the time.

    Raise `TraceError` if there are jobs that no rate fits, and `DefinitionError` where the sizes of nodes,
    which the rates need, are not known.
    """
    charged = charged_boxes(store, rates, part)
    keys = priced(rates)
    sums, jobs, running = sums_of(keys), counted(store), counted(store, "is_running")
    found = store.rows(SUMS.format(sums=sums, charged=charged, jobs=jobs, running=running))
    if any(state not in {"charged", *keys} for _, _, state, *_ in found):
        raise _without_rate(store, rates, charged)
    usage = [
        ChargedUsage(
            project, place, jobs, running, {key: int(one or 0) for key, one in zip(keys, sums_, strict=True)}
        )
        for project, place, state, jobs, running, *sums_ in found
        if state == "charged"
    ]
    return Month(part, usage, all(state == "charged" for _, _, state, *_ in found))


def sums_of(keys: Sequence[str]) -> str:
    """Return the SQL of the sums of amounts times seconds, by the *keys* of their prices."""
    return ", ".join(
        f"sum(cast(cast({key} as decimal(18, 0)) * cast(seconds as decimal(12, 0)) as decimal(38, 0)))"
        f" as {key}"
        for key in keys
    )


def priced(rates: Rates) -> list[str]:
    """Return the keys of what any of the rates has a price of."""
    return [key for key in PRICES[rates.basis] if any(key in rate.prices for rate in rates.rates)]


def charged_boxes(store: Store, rates: Rates, part: BillingPeriod) -> str:
    """Return the query of the jobs that held anything in a *part* of the time, each with its state."""
    longest = max(rate.minimum_seconds for rate in rates.rates)
    minimum = rates.by_rate(rate.minimum_seconds for rate in rates.rates)
    amounts = amounts_of(rates, store.system, has_gpus=store.has("n_gpus"))
    return MONTH.format(
        place=rates.place(),
        kind=KIND,
        amounts=", ".join(f"{sql} as {key}" for key, sql in amounts.items()),
        held=held_jobs(store),
        early=float(part.first - longest - 1),
        late=float(part.last),
        first=part.first,
        last=part.last,
        charged_runs="" if rates.earlier_runs == "charged" else " and is_last_run",
        is_first=_is_first(rates),
        minimum=f"case when place is null then 0 else {minimum} end",
        state=_state(rates),
    )


def _is_first(rates: Rates) -> str:
    """Return the SQL of whether a box is the first of its job that is charged."""
    return "previous_end is null" if rates.earlier_runs == "charged" else "begins_last_run"


def amounts_of(rates: Rates, system: System, *, has_gpus: bool) -> dict[str, str]:
    """
    Return the SQL of what a job holds of all that has a price, by the key of that; null if unknown.

    Raise `DefinitionError` for rates of tokens, which are of requests.
    """
    if rates.basis == "tokens":
        raise DefinitionError(
            "basis: is 'tokens', which is of requests, expected another one: these are jobs"
        )
    basis: Mapping[Basis, dict[str, str]] = {
        "allocated": {
            "cpu_hour": PROCESSORS,
            "gpu_hour": GPUS,
            "whole_gpu_hour": OF_WHOLE_GPUS,
            "gb_hour": MEMORY,
            **SHARES,
        },
        "billing": {"billing_hour": _whole(f"{BILLING} * {float(MICRO)!r}")},
    }
    if rates.basis == "largest":
        shares = [_share(place, rate, system, has_gpus=has_gpus) for place, rate in enumerate(rates.rates)]
        return {"node_hour": rates.by_rate(shares, rates.place())}
    return {key: basis[rates.basis][key] for key in priced(rates)}


def _share(place: int, rate: Rate, system: System, *, has_gpus: bool) -> str:
    """Return the SQL of the largest share of a node that a job holds, in millionths."""
    parts = {"node_cores": "n_procs", "node_memory": MEMORY, "node_gpus": "coalesce(n_gpus, 0)"}
    if not has_gpus:
        del parts["node_gpus"]
    sizes = {key: getattr(rate, key) or getattr(system, key) for key in parts}
    for key, size in sizes.items():
        if size is None:
            raise DefinitionError(
                f"rates[{place}].{key}: is missing, expected the size of a node: basis 'largest' needs it,"
                " here or in the description of the system (--system)"
            )
    shares = ", ".join(
        _whole(f"cast({sql} as double) * {float(MICRO)!r} / {float(sizes[key])!r}")
        for key, sql in parts.items()
    )
    return f"case when n_procs >= 1 and {MEMORY} is not null then greatest({shares}) end"


def _state(rates: Rates) -> str:
    """
    Return the SQL of what becomes of a job: ``charged``, or why not.

    That is ``rate`` if none fits it, ``no_PRICE`` if its rate lacks one that it needs, or else the key of a
    price whose amount is not known. A job with GPUs needs a price of GPUs, one without them another price.
    """
    cases = ["when place is null then 'rate'"]
    if rates.basis == "allocated":
        without = {"gpu_hour": "has_gpus", "cpu_hour": "not has_gpus"}
        for key, needed in without.items():
            others = {key, "whole_gpu_hour"} if key == "gpu_hour" else {"cpu_hour", "gb_hour"}
            if places := [n for n, rate in enumerate(rates.rates) if not others & rate.prices.keys()]:
                cases.append(f"when {needed} and place in ({', '.join(map(str, places))}) then 'no_{key}'")
    for key in priced(rates):
        places = [n for n, rate in enumerate(rates.rates) if key in rate.prices]
        if places:
            where = f"place in ({', '.join(map(str, places))})"
            cases.append(f"when {key} is null and {where} then '{key}'")
    return f"case {' '.join(cases)} else 'charged' end"


def _without_rate(store: Store, rates: Rates, charged: str) -> TraceError:
    """Return the error that jobs have no rate: how many, their ids, and which rates to add."""
    states = ("rate", *(f"no_{key}" for key in PRICES["allocated"]))
    listed = (
        "select distinct job_id, cast(null as varchar) as project, 'rate' as state"
        f" from ({charged}) as charged where state in {states}"
    )
    named = store.rows(NAMED.format(listed=listed, shown=SHOWN))
    jobs, ids = named[0][2], ", ".join(str(row[3]) for row in named)
    kinds = store.rows(
        f"select place, state, queue_id, partition_id, qos, gpu_type, {counted(store)} as jobs"
        f" from ({charged}) as charged where state in {states}"
        " group by place, state, queue_id, partition_id, qos, gpu_type"
        " order by jobs desc, state, queue_id, partition_id, qos, gpu_type"
    )
    shown = "; ".join(_kind(rates, row) for row in kinds[:SHOWN])
    more = f"; and {len(kinds) - SHOWN:,} more kinds" if len(kinds) > SHOWN else ""
    return TraceError(
        f"{jobs:,} job{'s have' if jobs > 1 else ' has'} no rate ({ids}{', …' if jobs > SHOWN else ''}),"
        f" expected one for each; add to the file of rates: {shown}{more}"
    )


def _kind(rates: Rates, row: tuple[object, ...]) -> str:
    """Return what is to be added for jobs of a kind."""
    place, state, *names, jobs = row
    keys = ("queues", "partitions", "qos", "gpu_types")
    conditions = ", ".join(f"{key} = [{name!r}]" for key, name in zip(keys, names, strict=True) if name)
    of = f"{jobs:,} job{'s' if jobs != 1 else ''}"
    if state == "rate":
        return f"[[rates]] for {conditions or 'jobs without a queue'} ({of})"
    key = str(state).removeprefix("no_")
    return (
        f"{key} to the rate '{rates.rates[int(str(place))].name}', which fits {conditions or 'them'} ({of})"
    )


def uncharged(store: Store, rates: Rates, part: BillingPeriod, *, is_known: bool) -> list[Uncharged]:
    """
    Return the jobs of a *part* of the time of which is not known what they held.

    Those without a run time were submitted in it. Where *is_known*, there are no others.
    """
    has_statuses = store.whole.has("status")
    listed = UNKNOWN.format(
        first=float(part.first),
        last=float(part.last),
        held=HELD if has_statuses else "run_time is not null",
        idle=IDLE if has_statuses else "false",
    )
    if not is_known:
        listed += (
            " union all select distinct job_id, project, state"
            f" from ({charged_boxes(store, rates, part)}) as charged where state <> 'charged'"
        )
    found: dict[tuple[str | None, str], Uncharged] = {}
    for project, state, jobs, name in store.rows(NAMED.format(listed=listed, shown=SHOWN)):
        lacking = SERVICES[state].lacking if state in SERVICES else RUN_TIME
        ids = [*(found[project, state].ids if (project, state) in found else ()), str(name)]
        found[project, state] = Uncharged(project, lacking, jobs, ids)
    return list(found.values())


def is_priced(store: Store) -> bool:
    """
    Whether rates are stated for the jobs of *store*.

    Raise `TraceError` if there are jobs that none of them fits.
    """
    rates = stated(store)
    if rates is None:
        return False
    first, last = recorded(store.whole) or (0.0, 0.0)
    whole = BillingPeriod("the trace", floor(first) - 1, ceil(last) + DAY)
    return store.once("priced", lambda: bool(month(store, rates, whole)))


def stated(store: Store) -> Rates | None:
    """Return the rates that the user states beside the trace, if any."""
    rates = store.stated.get("rates")
    return rates if isinstance(rates, Rates) else None


def cost(store: Store) -> str:
    """
    Return the SQL of what a job that ran costs at the rates that are stated; null if that is not known.

    It is of the whole job, and without discounts and free hours. A job that lists what it held costs what
    `costs_of_boxes` says, as ``listed_cost``.
    """
    rates = stated(store)
    if rates is None:
        return "cast(null as double)"
    once = _cost(store, rates, "run_time", "true")
    return f"case when runs is null then {once} else listed_cost end" if has_boxes(store) else once


def costs_of_boxes(store: Store) -> str:
    """Return the query of what all that a job listed costs, as ``listed_cost``, by its ``job_id``."""
    rates = stated(store)
    if rates is None:
        return f"select job_id, cast(null as double) as listed_cost from {listed_boxes(store)} as box"
    of_box = _cost(store, rates, "seconds", _is_first(rates))
    where = "true" if rates.earlier_runs == "charged" else "is_last_run"
    return (
        f"select job_id, {exact_sum(of_box)} as listed_cost from {listed_boxes(store)} as box"
        f" where {where} group by job_id"
    )


def _cost(store: Store, rates: Rates, lasted: str, is_first: str) -> str:
    """Return the SQL of what was held while it *lasted* costs; the first has the minimum of its rate."""
    minimum = rates.by_rate((rate.minimum_seconds for rate in rates.rates), rates.place())
    terms = []
    for key, amount in amounts_of(rates, store.system, has_gpus=store.has("n_gpus")).items():
        prices = [repr(float(rate.prices.get(key, Decimal(0)))) for rate in rates.rates]
        known = [amount if key in rate.prices else "0" for rate in rates.rates]
        of_job = f"cast({rates.by_rate(known, rates.place())} as double)"
        price = rates.by_rate(prices, rates.place())
        terms.append(f"{of_job} * ({price}) / {float(SERVICES[key].per)!r}")
    least = f"case when {is_first} then {minimum} else 0 end"
    return f"greatest({lasted}, {least}) * ({' + '.join(terms)})"
