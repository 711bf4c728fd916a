"""The SELECT that makes jobs of the rows of a table, as a plan says."""

from collections.abc import Iterator, Mapping
from typing import Final

from gwa.formats.tables.mapping import FIELDS, RoleSource
from gwa.formats.tables.plan import ReadingPlan
from gwa.formats.tables.units import SECONDS, has_offset, status, value
from gwa.formats.tables.vocabulary import missing, roles, unended, unstarted
from gwa.ingest.contradictions import MEASURED, SLACK, START
from gwa.store.engines.duckdb import literal
from gwa.store.schema import EARLIEST_UNIX_TIME

REJECTED: Final = {"submit": "a time", "start": "a time", "end": "a time", "run": "a duration"}
"""Roles whose values must be readable, and what they are."""

ROUNDED: Final = ("min", "h", "d")
"""Units of durations that an end and a start tell more exactly, where they agree."""

COUNTED: Final = ("procs", "wait", "req_time", "cpu_time", "max_memory", "req_memory", "energy", "eligible")
"""Roles whose unreadable values become missing, and are counted."""

NO_SUBMISSION: Final = "no submission: the row has none, the job was submitted when it started, less its wait"
"""The remark on a job whose row, unlike others of its table, has no submission."""

UNENDED: Final = "has not ended: its state says so, and the end and the run time of its row were left out"
"""The remark on a job that runs by its state, and has an end or a run time in its row."""

_LISTED: Final = r"regexp_replace({}, '\s*[\s;,+|]\s*', ',', 'g')"
"""The SQL of a list, whatever stands between its members."""

_IN_BAG: Final = "case when bag_ is not null and bag_ not in ('0', '0.0')"

PLAIN: Final = (
    "req_gpus", "energy", "gpu_utilization", "gpu_memory", "eligible", "user", "group", "project", "name",
    "queue", "partition", "gpu_type", "qos", "state", "exit",
)  # fmt: skip
"""Roles whose values are those of their fields as they are."""

FIELDS_OF_ROLES: Final[Mapping[str, Mapping[str, str]]] = {
    "req_time": {"req_time": "nullif(req_time_, 0)"},
    "cpu_time": {"average_cpu_time": "cpu_time_ / had"},
    "max_memory": {"max_memory": "nullif(max_memory_, 0)", "used_memory": "nullif(max_memory_, 0) / had"},
    "gpus": {"n_gpus": "case when has_begun then gpus_ end"},
    # Slurm says None assigned of a job without nodes.
    "node_list": {
        "node_list": f"case when has_begun then nullif({_LISTED.format('node_list_')}, 'None,assigned') end"
    },
    "gpu_list": {"gpu_list": f"case when has_begun then {_LISTED.format('gpu_list_')} end"},
    "site": {"orig_site_id": "site_", "last_run_site_id": "case when has_begun then site_ end"},
    "bag": {
        "job_structure": f"{_IN_BAG} then 'BoT' else 'UNITARY' end",
        "job_structure_params": f"{_IN_BAG} then bag_ end",
    },
}
"""The SQL of further fields that depend on one role only."""


class PlanSelection:
    """A *plan* as SQL over the table ``source``, whose columns stand for those of the files."""

    def __init__(self, plan: ReadingPlan) -> None:
        """Number the columns that the plan uses."""
        self.sources = {role: source for role, source in plan.sources.items() if not source.is_none}
        used = dict.fromkeys(name for source in self.sources.values() for name in source.columns)
        self.names = {f"c{place}": name for place, name in enumerate(used)}
        """The names in a file of the columns of ``source``."""
        self._columns = {name: column for column, name in self.names.items()}

    def sql(self) -> str:
        """Return the SELECT."""
        cells = [f"{self._cell(role)} as {role}_cell" for role in self._checked()]
        values = [f"{self._value(role, source)} as {role}_" for role, source in self.sources.items()]
        values += [f"{role}_ is not null as has_{role}" for role in self._checked() if role in REJECTED]
        read = ", ".join(["file_no", "line", *cells, *values])
        fields = ",\n    ".join(f"{sql} as {name}" for name, sql in self._fields())
        return (
            f"with read as (select {read} from source),\n"
            f"timed as (select * {self._without_zeros()} from read),\n"
            f"started as (select * {self._without_unfinished()} from timed),\n"
            f"placed as (select *, {self._times()} from started),\n"
            f"held as (select *, {self._resources()} from placed)\n"
            f"select\n    {fields}\nfrom held"
        )

    def _has(self, *names: str) -> bool:
        return all(role in self.sources for role in names)

    def _has_any(self, *names: str) -> bool:
        return any(role in self.sources for role in names)

    def _checked(self) -> list[str]:
        """Return the roles whose cells are looked at if their values cannot be read."""
        return [role for role in (*REJECTED, *COUNTED) if role in self.sources and self.sources[role].columns]

    def _cell(self, role: str) -> str:
        """Return the SQL for the cell of a role; texts that mean that there is no value are missing."""
        cell = self._columns[self.sources[role].columns[0]]
        more = missing(roles()[role].kind) - missing("text")
        if not more:
            return cell
        return f"case when {cell} not in ({', '.join(sorted(map(literal, more)))}) then {cell} end"

    def _value(self, role: str, source: RoleSource) -> str:
        kind = roles()[role].kind
        terms = [
            value(self._columns[name], "count" if place else kind, "" if place else source.unit)
            for place, name in enumerate(source.columns)
        ]
        return " * ".join([*terms, *([f"{source.factor}::double"] if source.factor else [])])

    def _without_zeros(self) -> str:
        """Return the replacements of times that are 0, where others of the row are not."""
        times = [f"{role}_" for role in ("submit", "eligible", "start", "end") if self._has(role)]
        latest = f"greatest({', '.join(times)})"
        changes = [
            f"case when {t} <> 0 or {latest} < {EARLIEST_UNIX_TIME!r} then {t} end as {t}" for t in times
        ]
        return f"replace ({', '.join(changes)})"

    def _without_unfinished(self) -> str:
        """Return the replacements of times that a job cannot have by what its state says, and two flags."""
        if not self._has("state") or self.sources["state"].unit not in {"", "words"}:
            return ", false as is_unstarted, false as is_unended"
        word = "lower(regexp_extract(state_, '^[^\\s:(+]+'))"
        never, still = (
            f"coalesce({word} in ({', '.join(map(literal, states))}), false)"
            for states in (unstarted(), unended())
        )
        changed = [
            f"case when not {never} then {role}_ end as {role}_"
            for role in ("start", "wait")
            if self._has(role)
        ]
        changed += [
            f"case when not ({never} or {still}) then {role}_ end as {role}_"
            for role in ("end", "run")
            if self._has(role)
        ]
        return f"replace ({', '.join(changed)}), {never} as is_unstarted, {still} as is_unended"

    def _times(self) -> str:
        """Return the SQL for the times and durations of the job."""
        start, run = self._start(), self._run()
        ways = ["submit_"] if self._has("submit") else []
        ways += [f"({start}) - wait_"] if self._has("wait") else []
        submitted = f"coalesce({', '.join([*ways, start])})" if ways else f"({start})"
        waited = "null::double" if not self._has("submit") else f"({start}) - submit_"
        if self._has("wait"):
            alone = "case when submit_ is null and start_ is not null then wait_ end"
            waited = f"coalesce({waited}, {alone})" if self._has("start", "submit") else "wait_"
        return f"{submitted} as submitted, ({start}) as began, {run} as ran, {waited} as waited"

    def _start(self) -> str:
        """Return the SQL for the start of a job: of each row by what it says."""
        ways = (
            ["start_"] if self._has("start") else ["submit_ + wait_"] if self._has("submit", "wait") else []
        )
        if self._has("run", "end"):
            # What ran so long until its end has started, though the start itself is not there.
            since = f"case when run_ > 0 and {self._is_measured()} then end_ - run_ end"
            ways.append(since if ways else "end_ - run_")
        return f"coalesce({', '.join(ways)})" if len(ways) > 1 else ways[0] if ways else "null::double"

    def _run(self) -> str:
        """Return the SQL for the run time: missing for jobs that have not started, or not ended."""
        start = self._start()
        since = f"(end_ - ({start}))"
        if self._has("run", "end", "start") and self.sources["run"].unit in ROUNDED:
            run = f"case when abs(run_ - {since}) > greatest(61, run_ / 100) then run_ else {since} end"
        elif self._has("run"):
            run = f"coalesce(run_, {since})" if self._has("end", "start") else "run_"
        else:
            run = since
        needed = ["end_ is not null"] if self._has("end") else []
        needed += [f"({start}) is not null"] if self._has("start") else []
        return f"case when {' and '.join(needed)} then {run} end" if needed else run

    def _is_measured(self) -> str:
        """Return the SQL for whether a run time fits between the submission and the end of its job."""
        return f"coalesce(end_ - run_ >= submit_ - {SLACK}, true)" if self._has("submit") else "true"

    def _resources(self) -> str:
        """Return the SQL for the nodes and processors that the job had, and those that it requested."""
        nodes = next((f"{role}_" for role in ("nodes", "req_nodes") if self._has(role)), "null::double")
        if self._has("node_hours") and nodes == "null::double":
            nodes = "round(node_hours_ / nullif(ran, 0))"
        requested = "req_procs_" if self._has("req_procs") else "null::double"
        began = "not is_unstarted" + (" and began is not null" if self._has("start") else "")
        procs = f"case when {began} then nullif(ceil({self._procs(nodes)}), 0) end"
        asked = f"nullif(ceil({requested}), 0)"
        return f"{procs} as had, {nodes} as on_nodes, {asked} as asked, {began} as has_begun"

    def _procs(self, nodes: str) -> str:
        if self._has("procs"):
            return "procs_"
        if self._has("core_hours"):
            return "round(core_hours_ / nullif(ran, 0))"
        return f"{nodes} * procs_per_node_" if self._has("procs_per_node") else nodes

    def _fields(self) -> Iterator[tuple[str, str]]:
        """Yield the fields, and the SQL for each."""
        if self._has("id"):
            yield ("job_id" if self.sources["id"].unit == "number" else "source_id"), "id_"
        yield "submit_time", "submitted"
        yield "wait_time", "waited"
        yield "run_time", "ran"
        yield START, "began"
        if self._has("run"):
            yield MEASURED, "run_" if not self._has("end") else "case when end_ is not null then run_ end"
        yield "n_procs", "had"
        yield "req_n_procs", "asked"
        if memory := self._req_memory():
            yield "req_memory", f"nullif({memory}, 0)"
        if self._has_any("nodes", "req_nodes", "node_hours"):
            yield "n_nodes", "case when has_begun then nullif(on_nodes, 0) end"
        for role in filter(self._has, PLAIN):
            yield FIELDS.get(role, role), f"{role}_"
        for role in filter(self._has, FIELDS_OF_ROLES):
            yield from FIELDS_OF_ROLES[role].items()
        if self._has("state"):
            yield "status", status("state_", self.sources["state"].unit or "words")
        elif self._has("exit"):
            yield "status", "case when exit_ = 0 then 1 when exit_ is not null then 0 end"
        yield "file_no", "file_no"
        yield "line", "line"
        yield "reject", self._reject()
        yield "remarks", self._remarks()

    def _req_memory(self) -> str:
        """Return the SQL for the memory requested per processor; "" if none is known."""
        if self._has("req_memory"):
            return "req_memory_ / coalesce(asked, had)"
        if self._has("req_memory_per_proc"):
            return "req_memory_per_proc_"
        if self._has("req_memory_per_node") and self._has_any("nodes", "req_nodes"):
            return "req_memory_per_node_ * on_nodes / coalesce(asked, had)"
        return ""

    def _reject(self) -> str:
        """Return the SQL for the reason to refuse a row: a value that cannot be read."""
        cases = [
            self._footer(),
            *(
                f"when {role}_cell is not null and not has_{role}"
                f" then {literal(self.sources[role].columns[0][:60])} || ' is '''"
                f" || {role}_cell[:40] || ''', expected {what}'"
                for role, what in REJECTED.items()
                if role in self._checked()
            ),
        ]
        return f"case {' '.join(filter(None, cases))} end" if any(cases) else "null::varchar"

    def _footer(self) -> str:
        """Return the SQL that refuses rows of sums and legends: no time, and no run time, job or user."""
        times = [f"{role}_cell" for role in ("submit", "start", "end") if self._has(role)]
        if not times or any(cell.removesuffix("_cell") not in self._checked() for cell in times):
            return ""
        unknown = " and ".join(f"{cell} is null" for cell in times)
        of_no_job = [f"{role}_ is null" for role in ("run", "id", "user") if self._has(role)]
        more = f" and ({' or '.join(of_no_job)})" if self._has("run") else ""
        return f"when {unknown}{more} then 'no submission, start or end: a sum or a legend, no job'"

    def _remarks(self) -> str:
        """Return the SQL for the remarks on a job: values that were not read, and times without a zone."""
        remarks = [
            f"case when {role}_cell is not null and {role}_ is null then"
            f" 'invalid value: a {FIELDS.get(role, role)} that is not a valid value was set to missing' end"
            for role in COUNTED
            if role in self._checked() and not self.sources[role].factor
        ]
        more = [*self._submission_remark(), *self._unended_remark(), *self._zone_remark()]
        return f"[{', '.join([*remarks, *more])}]"

    def _submission_remark(self) -> Iterator[str]:
        """Yield the SQL for the remark on a row without a submission, in a table that has them."""
        if self._has("submit"):
            yield f"case when submit_ is null and submitted is not null then {literal(NO_SUBMISSION)} end"

    def _unended_remark(self) -> Iterator[str]:
        """Yield the SQL for the remark on a row with an end or a run time whose state says that it runs."""
        if told := [f"{role}_cell is not null" for role in ("end", "run") if role in self._checked()]:
            yield f"case when is_unended and ({' or '.join(told)}) then {literal(UNENDED)} end"

    def _zone_remark(self) -> Iterator[str]:
        role = next((role for role in ("submit", "start", "end") if self._has(role)), "")
        unit = self.sources[role].unit if role else "s"
        if unit in SECONDS:
            return
        local = f"not ({has_offset(f'{role}_cell')})" if unit == "iso" else "true"
        remark = "nullif(getvariable('zone_remark'), '')"
        yield f"case when {role}_cell is not null and {local} then {remark} end"
