"""
What is wrong, doubtful or missing in a trace.

Each rule counts jobs. An *error* is a value that cannot be true or a row that was lost; a *warning* is
unusual; *info* is worth knowing.
"""

from dataclasses import dataclass
from typing import Final

from gwa.report.document import Level
from gwa.store.schema import FIELDS
from gwa.store.store import Store


@dataclass(frozen=True)
class QualityRule:
    """A condition that jobs should not meet, and what it means."""

    name: str
    level: Level
    meaning: str
    where: str
    needs: tuple[str, ...]


RULES: Final = (
    QualityRule(
        "processors", "warning", "more processors than the system has", "n_procs > {cpus}", ("n_procs",)
    ),
    QualityRule(
        "no processors",
        "warning",
        "ran for some time on no processor",
        "run_time > 0 and n_procs = 0",
        ("run_time", "n_procs"),
    ),
    QualityRule(
        "no run time",
        "warning",
        "completed, but no run time is known",
        "status = 1 and run_time is null",
        ("status",),
    ),
    QualityRule(
        "CPU time",
        "warning",
        "used more CPU time per processor than they ran (by over 5 % and a minute)",
        "average_cpu_time > run_time * 1.05 + 60",
        ("average_cpu_time", "run_time"),
    ),
    QualityRule(
        "request exceeded",
        "info",
        "ran longer than they requested (by over a minute)",
        "run_time > req_time + 60",
        ("run_time", "req_time"),
    ),
    QualityRule("no submit time", "warning", "have no submit time", "submit_time is null", ()),
    QualityRule("no user", "info", "have no user", "user_id is null", ("user_id",)),
)


@dataclass(frozen=True)
class Problem:
    """A problem of a trace, and the number of jobs or rows that have it."""

    level: Level
    name: str
    meaning: str
    count: int


def problems(store: Store) -> list[Problem]:
    """Return all problems of a trace, the worst first."""
    account = store.account
    candidates = [Problem("error", "rejected rows", "rows of the source were refused", account.rejected)]
    candidates += [
        Problem("warning", name, meaning, jobs) for name, meaning, jobs in store.rows("select * from repairs")
    ]
    candidates += _count_violations(store)
    repeated = _repeated_numbers(store)
    candidates.append(Problem("error", "job numbers", "job numbers that occur more than once", repeated))
    order = ("error", "warning", "info")
    present = [problem for problem in candidates if problem.count]
    return sorted(present, key=lambda problem: (order.index(problem.level), -problem.count, problem.name))


def _count_violations(store: Store) -> list[Problem]:
    """Count the jobs that break each rule, in one query."""
    cpus = store.system.cpus
    rules = [
        rule
        for rule in RULES
        if all(store.has(name) for name in rule.needs) and ("{cpus}" not in rule.where or cpus)
    ]
    counts = ", ".join(f"count(*) filter (where {rule.where.format(cpus=cpus)})" for rule in rules)
    return [
        Problem(rule.level, rule.name, rule.meaning, count)
        for rule, count in zip(rules, store.row(f"select {counts} from jobs"), strict=True)
    ]


def _repeated_numbers(store: Store) -> int:
    return int(store.row("select count(job_id) - count(distinct job_id) as repeated from jobs")[0])


def completeness(store: Store) -> list[tuple[str, str, int, float]]:
    """Return title, meaning, number and share of jobs that record each field."""
    jobs = max(store.row("select count(*) as jobs from jobs")[0], 1)
    return [
        (field.title, field.meaning, store.known[field.name], store.known[field.name] / jobs)
        for field in FIELDS
    ]
