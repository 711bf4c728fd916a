"""
Alerts: who wastes what, by the rules of `gwa.metrics.alert_rules`, with the hours at stake.

All rules take one pass over the jobs, which the engine makes; a row for each user and project is kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from gwa.errors import DefinitionError
from gwa.metrics.alert_rules import AMOUNTS, DIGITS, OF_REQUESTS, RULES, Kind, Rule, Sum
from gwa.metrics.asked_cores import asked_cores
from gwa.metrics.efficiency import REQUESTED
from gwa.metrics.presence import has_boxes, listed_boxes
from gwa.metrics.timeline import decimal_sum, exact_sum
from gwa.metrics.usage import seconds
from gwa.store.engines.duckdb import literal
from gwa.store.gpu_parts import HAS_PARTS, PART
from gwa.store.runs import END, START, UNLISTED_RUNS
from gwa.store.schema import BY_NAME, NAMES
from gwa.store.store import Store
from gwa.util.toml import Check, TomlFile, record
from gwa.words.formatting import fraction, number
from gwa.words.message import Message, Number, message, plural

DEFAULTS: Final = Path(__file__).with_name("alerts.toml")
"""The thresholds, with their sources."""

EXCLUDE: Final = "exclude"
STATED: Final = "thresholds"
"""What the thresholds that a user states are called among what is stated of a trace."""

By = Literal["user", "project"]
OWNERS: Final[Mapping[By, str]] = {"user": "user_id", "project": "project_id"}
"""The fields of those who are told of their jobs."""

Name = Annotated[str, Check(str.strip, "a name")]


@dataclass(frozen=True, kw_only=True)
class Excluded:
    """Whose jobs no alert is about."""

    users: tuple[Name, ...] = ()
    projects: tuple[Name, ...] = ()
    queues: tuple[Name, ...] = ()

    @property
    def condition(self) -> str:
        """The SQL condition on all other jobs."""
        names = {"user_id": self.users, "project_id": self.projects, "queue_id": self.queues}
        parts = [
            f"not coalesce({field} in ({', '.join(map(literal, values))}), false)"
            for field, values in names.items()
            if values
        ]
        return " and ".join(parts) or "true"


@dataclass(frozen=True)
class Thresholds:
    """The *rules* with their thresholds, by id, and whom they are *excluded* from."""

    rules: Mapping[str, Rule]
    excluded: Excluded = field(default_factory=Excluded)


def read_thresholds(path: Path) -> Thresholds:
    """
    Return the thresholds of a file; what it does not name is as in `DEFAULTS`.

    Raise `DefinitionError` for a name that is none, or a value that is none of its.
    """
    file = TomlFile.read(path, "a file of thresholds")
    with file.located():
        return _thresholds(file.data)


@cache
def default_thresholds() -> Thresholds:
    """Return the thresholds that hold if no others are stated."""
    return read_thresholds(DEFAULTS)


@cache
def _defaults() -> Mapping[str, Any]:
    return TomlFile.read(DEFAULTS, "the thresholds of gwa").data


def _thresholds(stated: Mapping[str, Any]) -> Thresholds:
    defaults = _defaults()
    for name, table in stated.items():
        if name not in defaults:
            raise DefinitionError(f"{name}: unknown key, expected one of {', '.join(defaults)}")
        if not isinstance(table, Mapping):
            raise DefinitionError(f"{name}: is {table!r}, expected a table, as [{name}]")
    tables = {name: {**table, **stated.get(name, {})} for name, table in defaults.items()}
    excluded = record(Excluded, tables.pop(EXCLUDE), EXCLUDE)
    return Thresholds({rule.id: rule.with_limits(tables[rule.key]) for rule in RULES}, excluded)


def thresholds(store: Store) -> Thresholds:
    """Return the thresholds that are stated for a trace, else the defaults."""
    stated = store.stated.get(STATED)
    return stated if isinstance(stated, Thresholds) else default_thresholds()


# --- Jobs ---


def _value(name: str) -> str:
    """Return the SQL of a field as a number; null where it is a bound, as a peak is of a mean."""
    is_bound = f"contains(',' || bounds || ',', ',{name},')"
    return f"case when bounds is null or not {is_bound} then cast({name} as double) end"


ALLOCATED_TEXT: Final = "regexp_extract(used_resources, '(?:^|,)mem:([0-9]+[.]?[0-9]*[KMGTPE])', 1)"
"""The memory that Slurm allocated: ReqMem may be less, as where whole nodes are given."""

SIZES: Final = " ".join(f"when '{suffix}' then {1024.0**power!r}" for power, suffix in enumerate("KMGTPE"))

ENDED: Final = f"""
select {{fields}}, {START} as start_time, {END} as end_time
from {{jobs}} where run_time >= 0
"""

SEVERAL: Final = """
select ended.*, earlier_runs, listed_runs from ({ended}) as ended left join (
    select job_id, {earlier} as earlier_runs, {listed} as listed_runs from {boxes} as box group by job_id
) as several on ended.job_id = several.job_id
"""
"""What all runs of a job held, in CPU seconds, and those before the last."""

EARLIER: Final = f"case when {UNLISTED_RUNS} = 0 then coalesce(earlier_runs, 0.0) end"
"""The SQL of what earlier runs held; null where these are counted only."""

RAN: Final = """
select job_id, user_id, project_id, run_time, start_time, end_time, {seconds} as seconds, state,
    cast(n_procs as double) as n_procs, cast(n_nodes as double) as n_nodes, cast(n_gpus as double) as n_gpus,
    cast(req_time as double) as req_time, {asked_cores} as asked_cores,
    {average_cpu_time} as average_cpu_time, {max_memory} as used, {gpu_utilization} as gpu_utilization,
    {idle_gpus} as idle_gpus, {idle_nodes} as idle_nodes, gpu_memory,
    coalesce({max_gpu_memory}, case when n_gpus <= 1 then {gpu_memory} end) as memory_of_gpu,
    coalesce(coalesce({max_gpu_memory}, {gpu_memory}) <= {no_data!r}, false) as has_no_data, {watts} as watts,
    {busy_watts} as busy_watts,
    nullif({allocated_text}, '') as allocated_text, {requested} as requested,
    lower(coalesce(state, '')) like 'out_of_mem%' or lower(coalesce(state, '')) like 'oom%'
        as is_out_of_memory,
    coalesce(status = 1, false) as is_completed,
    coalesce({has_parts}, false) as is_part_of_gpu, {part} as gpu_part,
    {is_judged} as is_judged,
    cast({node_cores} as double) as node_cores, cast({node_memory} as double) as node_memory,
    cast({node_gpus} as double) as node_gpus, {earlier} as earlier, {all_runs} as all_runs
from ({ended}) as ended {within}
"""

NO_DATA: Final = 1024.0**2
"""KB of a GPU's memory up to which no program has data there, but for a context."""

WATTS: Final = "case when run_time > 0 and n_gpus > 0 then {energy} / run_time / n_gpus end"
"""The SQL of the mean power of a job for each of its GPUs."""

BUSY_WATTS: Final = f"avg(case when gpu_utilization >= 0.5 then {WATTS} end) over (partition by gpu_type)"
"""The SQL of the same of jobs that computed on GPUs of the same type."""

AGREES: Final = "(has_no_data or coalesce(watts * n_gpus <= busy_watts * (n_gpus - 0.5 * idle), false))"
"""
The SQL of whether a second witness agrees that GPUs were idle.

Their memory was empty, or a job with idle GPUs drew no more than if these had drawn half of what those draw
that compute. A use that is read as 0 alone may be that of a program that computes for a part of each second.
"""

JUDGED: Final = f"""
select *, {AGREES} as is_idle_sure,
    case when gpu_utilization > 0 or (gpu_utilization = 0 and {AGREES}) then gpu_utilization end as gpu_use
from (
select *,
    case when memory between 1.0 and {BY_NAME["max_memory"].high!r} then memory end as allocated,
    case when average_cpu_time <= run_time and run_time > 0 and n_procs >= 1
        then average_cpu_time / run_time * n_procs end as busy_cores,
    case when average_cpu_time <= run_time and run_time > 0 and n_procs >= 1
        then least(average_cpu_time / run_time * (n_procs / asked_cores), 1.0) end as cpu_use,
    case
        when gpu_utilization > 0 and idle_gpus >= n_gpus then null
        when idle_gpus is not null then least(idle_gpus, n_gpus)
        when gpu_utilization = 0 then n_gpus
        when gpu_utilization > 0 and n_gpus <= 1 then 0.0
    end as idle
from (
    select *, case
        when allocated_text is null then requested
        else cast(left(allocated_text, length(allocated_text) - 1) as double)
            * case right(allocated_text, 1) {SIZES} end
    end as memory
    from ({{ran}}) as ran
) as ran
) as judged
"""
"""
What rules see of a job. The CPU time used is of the cores that were asked for, which may be fewer than those
that were held. A CPU time beyond that of its processors is unknown, a mean over several GPUs does
not say how many are idle, and a use of 0 counts only where something else agrees.
"""


def judged_jobs(store: Store) -> str:
    """
    Return the query of the jobs that rules judge: those that ran and ended, of a period those that ran in it.

    ``seconds`` are those of the run in the period. Memory is in KB; ``used`` is the peak of the job, and
    ``memory_of_gpu`` that of one GPU. ``idle`` are the GPUs whose mean use was 0. Runs before it held
    ``earlier``, all together ``all_runs``, in CPU seconds in the period.
    """
    jobs, within = "jobs", ""
    if store.period is not None:
        first, last = store.period
        jobs, within = "all_jobs", f"where start_time < {last!r} and end_time > {first!r}"
    measured = (
        "average_cpu_time", "max_memory", "gpu_utilization", "idle_gpus", "idle_nodes", "max_gpu_memory",
        "gpu_memory",
    )  # fmt: skip
    has_watts = store.has("energy") and store.has("n_gpus")
    energy = _value("energy")
    system = {name: getattr(store.system, name) for name in ("node_cores", "node_memory", "node_gpus")}
    ended = ENDED.format(fields=", ".join(NAMES), jobs=jobs)
    several = {"ended": ended, "earlier": "null", "all_runs": "null"}
    if has_boxes(store):
        several = {
            "ended": _with_runs(store, ended),
            "earlier": EARLIER,
            "all_runs": f"coalesce(listed_runs, n_procs * {seconds(store)})",
        }
    ran = RAN.format(
        seconds=seconds(store),
        allocated_text=ALLOCATED_TEXT,
        requested=REQUESTED,
        asked_cores=asked_cores(store),
        no_data=NO_DATA,
        watts=WATTS.format(energy=energy) if has_watts else "cast(null as double)",
        busy_watts=BUSY_WATTS.format(energy=energy) if has_watts else "cast(null as double)",
        has_parts=HAS_PARTS,
        part=PART,
        is_judged=thresholds(store).excluded.condition,
        within=within,
        **several,
        **{name: _value(name) for name in measured},
        **{name: "null" if value is None else repr(value) for name, value in system.items()},
    )
    return JUDGED.format(ran=ran)


def _with_runs(store: Store, ended: str) -> str:
    """Return the query of jobs that *ended*, with what their runs held in the period."""
    held = "n_procs * seconds"
    if store.period is not None:
        first, last = store.period
        held = f"n_procs * greatest(least(end_time, {last!r}) - greatest(start_time, {first!r}), 0.0)"
    earlier = f"case when not is_last_run then {held} end"
    return SEVERAL.format(
        ended=ended, boxes=listed_boxes(store), earlier=exact_sum(earlier), listed=exact_sum(held)
    )


# --- Sums ---

OF_JOBS: Final[Mapping[Kind, str]] = {
    "count": "count(*) filter (where {sql})",
    "max": "max({sql})",
    "min": "min({sql})",
}
OF_PARTS: Final[Mapping[Kind, str]] = {
    "count": "cast(sum({name}) as bigint)",
    "sum": "cast(sum({name}) as double)",
    "max": "max({name})",
    "min": "min({name})",
}


def _sum_of_jobs(one: Sum) -> str:
    return decimal_sum(one.sql) if one.kind == "sum" else OF_JOBS[one.kind].format(sql=one.sql)


def _all_sums(rules: tuple[Rule, ...]) -> dict[str, Sum]:
    return {f"{rule.key}_{name}": one for rule in rules for name, one in rule.all_sums().items()}


def _columns(rules: tuple[Rule, ...]) -> dict[Sum, str]:
    """Return the columns of the sums of rules, of which several may need the same."""
    return {one: f"sum{place}" for place, one in enumerate(dict.fromkeys(_all_sums(rules).values()))}


def sums(store: Store, rules: tuple[Rule, ...]) -> str:
    """Return the query of the sums of rules by user and project."""
    columns = ", ".join(f"{_sum_of_jobs(one)} as {name}" for one, name in _columns(rules).items())
    faults = ", ".join(f"{rule.at_fault} as {rule.is_at_fault}" for rule in rules)
    return (
        f"select user_id, project_id, {columns} from"
        f" (select *, {faults} from ({judged_jobs(store)}) as judged) as found group by user_id, project_id"
    )


def _summed(store: Store, rules: tuple[Rule, ...]) -> str:
    """Return the table of the sums of rules by user and project."""
    return store.keep_once("alerts", sums(store, rules))


def _of_parts(rules: tuple[Rule, ...], ending: str = "") -> dict[str, str]:
    """Return the SQL that puts sums together, by their names, which have an *ending*."""
    columns = _columns(rules)
    return {
        name: OF_PARTS[one.kind].format(name=columns[one])
        for name, one in _all_sums(rules).items()
        if name.endswith(ending)
    }


def _by_owner(store: Store, rules: tuple[Rule, ...], owner: str) -> str:
    """Return the table of the sums of each value of *owner*, and of what all held."""
    parts = ", ".join(f"{sql} as {name}" for name, sql in _of_parts(rules).items())
    held = ", ".join(f"{sql} as {name}_of_all" for name, sql in _of_parts(rules, "_held").items())
    table = _summed(store, rules)
    total = f"select {held} from {table}" if held else "select 1 as one"
    return store.keep_once(
        "alerts_by_owner",
        f"select * from (select {owner} as name, {parts} from {table} where {owner} is not null"
        f" group by {owner}) as owned cross join ({total}) as total",
    )


# --- Alerts ---


@dataclass(frozen=True)
class Holder:
    """
    Somebody for whom a rule holds: the *name* of a user or project, of whose *jobs* it holds, and *hours*.

    Of the hours at stake, *sure* are those that somebody may be written to about. What is *used* of what was
    given is that of these jobs, None where the rule is not about a share. *known* of the jobs that the rule
    is *about* are measured.
    """

    name: str
    jobs: int
    hours: float
    sure: float
    used: float | None
    known: int
    about: int
    is_mailed: bool


@dataclass(frozen=True)
class Alert:
    """
    A *rule*, for whom it holds, and of how many jobs it is *known* of those that it is *about*.

    What it cannot be judged without is *lacking*.
    """

    rule: Rule
    known: int = 0
    about: int = 0
    holders: tuple[Holder, ...] = ()
    lacking: tuple[str, ...] = ()

    @property
    def hours(self) -> float:
        """The hours at stake."""
        return sum(holder.hours for holder in self.holders)

    @property
    def jobs(self) -> int:
        """The jobs that it holds for."""
        return sum(holder.jobs for holder in self.holders)


def lacking(store: Store, rule: Rule) -> tuple[str, ...]:
    """Return the fields, and keys of the description of the system, that a rule needs and a trace lacks."""
    # Of a period, jobs that were submitted before count, too.
    fields = [group[0] for group in rule.needs if not any(map(store.whole.has, group))]
    return (*fields, *(name for name in rule.system if not getattr(store.system, name)))


def alerts(store: Store, by: By = "user") -> tuple[Alert, ...]:
    """Return all alerts *by* user or project; those that a trace cannot tell of name what it lacks."""
    return store.once(("alerts", by), lambda: _all_alerts(store, by))


def _all_alerts(store: Store, by: By) -> tuple[Alert, ...]:
    missing = {rule.id: lacking(store, rule) for rule in thresholds(store).rules.values()}
    rules = tuple(rule for rule in thresholds(store).rules.values() if not missing[rule.id])
    if not store.whole.has("run_time"):
        missing, rules = dict.fromkeys(missing, ("run_time",)), ()
    found = {rule.id: alert for rule, alert in zip(rules, _alerts(store, rules, by), strict=True)}
    return tuple(
        found.get(rule.id, Alert(rule, lacking=missing[rule.id])) for rule in thresholds(store).rules.values()
    )


def _alerts(store: Store, rules: tuple[Rule, ...], by: By) -> list[Alert]:
    if not rules:
        return []
    counts = {**_of_parts(rules, "_known"), **_of_parts(rules, "_about")}
    selected = ", ".join(f"coalesce({sql}, 0) as {name}" for name, sql in counts.items())
    row = store.row(f"select {selected} from {_summed(store, rules)}")
    numbers = dict(zip(counts, row, strict=True))
    owned = _by_owner(store, rules, OWNERS[by])
    return [
        Alert(rule, numbers[f"{rule.key}_known"], numbers[f"{rule.key}_about"], _holders(store, rule, owned))
        for rule in rules
    ]


def _holders(store: Store, rule: Rule, owned: str) -> tuple[Holder, ...]:
    """Return those for whom a rule holds, of the sums that the table *owned* has, most at stake first."""
    key = rule.key
    limit = f" limit {rule.most}" if rule.most else ""
    used = f"round({key}_used / {key}_given, {DIGITS})" if "used" in rule.all_sums() else "null"
    rows = store.rows(
        f"select name, {key}_jobs, {rule.in_hours('hours')} as hours, coalesce({rule.in_hours('sure')}, 0.0),"
        f" {used} as used, {key}_known, {key}_about from {owned} as sums"
        f" where {key}_jobs > 0 and {rule.filled(rule.holds)} order by hours desc, name{limit}"
    )
    return tuple(
        Holder(
            name, jobs, hours, sure, used, known, about, sure > 0 and sure >= rule.limits.get("mail_hours", 0)
        )
        for name, jobs, hours, sure, used, known, about in rows
    )


REQUESTS: Final = {"excess-memory": "memory", "limit-cpu": "time", "limit-gpu": "time"}
"""Alerts of those who ask for more than they use, and what of."""


def who_ask_for_less(store: Store, kind: str) -> list[str]:
    """Return the users who should ask for less, of a *kind* of REQUESTS: those for whom an alert holds."""
    names = (
        holder.name
        for alert in alerts(store)
        if REQUESTS.get(alert.rule.id) == kind
        for holder in alert.holders
    )
    return list(dict.fromkeys(names))


# --- Jobs of an alert ---


@dataclass(frozen=True)
class FaultyJob:
    """A *job* at fault, as its source calls it: its *user*, what was *found*, and the *hours* at stake."""

    job: str
    user: str | None
    found: float | None
    hours: float
    run_time: float
    n_procs: float | None
    n_gpus: float | None
    n_nodes: float | None


def jobs_of(store: Store, rule: Rule, by: By, name: str, most: int | None = None) -> tuple[FaultyJob, ...]:
    """Return the jobs of *name*, a user or project, that *rule* finds at fault, most at stake first."""
    limit = f" limit {most}" if most else ""
    rows = store.rows(
        "select coalesce(source_id, cast(worst.job_id as varchar)) as job, user_id, found, hours, run_time,"
        f" n_procs, n_gpus, n_nodes from (select *, {rule.filled(rule.found)} as found,"
        f" ({rule.filled(rule.spent)}) / {rule.scale!r} as hours from ({judged_jobs(store)}) as judged"
        f" where {OWNERS[by]} = {literal(name)} and {rule.at_fault}"
        f" order by hours desc, job_id{limit}) as worst"
        " left join source_ids on worst.job_id = source_ids.job_id order by hours desc, worst.job_id"
    )
    return tuple(FaultyJob(*row) for row in rows)


# --- Words ---


def at_stake(rule: Rule, hours: float) -> Message:
    """Return an amount of what is at stake, in words."""
    amounts = AMOUNTS if rule.is_held else OF_REQUESTS
    return message(amounts[rule.stake], n=number(round(hours, 1)))


def measured(rule: Rule, known: int, about: int) -> Message:
    """Return how many of the jobs that a rule is about are measured, in words."""
    return message(
        "{known} of {about} {subject}",
        known=Number(f"{known:,}"),
        about=Number(f"{about:,}"),
        subject=rule.subject,
    )


def because(rule: Rule, holder: Holder) -> Message:
    """Return what the jobs of somebody show, in words."""
    return message(
        rule.because,
        jobs=plural("{n} job", "{n} jobs", holder.jobs),
        hours=at_stake(rule, holder.hours),
        used=fraction(holder.used) if holder.used is not None else "",
        limit=rule.limit,
    )


def claim(rule: Rule, users: int, jobs: int, hours: float) -> Message:
    """Return what a number of *users* and of their *jobs* do, in words."""
    return message(
        rule.claim,
        who=plural("{n} user", "{n} users", users),
        jobs=plural("{n} job", "{n} jobs", jobs),
        hours=at_stake(rule, hours),
    )
