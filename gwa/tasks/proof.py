"""Two checks, made with each trace, that rows of a task hold what was known at the submission only."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from gwa.errors import TraceError
from gwa.statistics.sample import Floats, Ints
from gwa.tasks.features import alike, features
from gwa.tasks.history import Ledger
from gwa.tasks.jobs import NEVER, SubmittedJobs
from gwa.tasks.task import Chosen, Task
from gwa.util.units import HOUR

Numbers = TypeVar("Numbers", Floats, Ints)

SEED: Final = 45
"""What the draws of both checks begin with."""

ROWS: Final = 50
"""Rows whose future is redrawn."""

NEIGHBOURS: Final = 1000
"""Jobs before and after such a row that are made into rows with it."""

MAXIMUM_GAIN: Final = 0.005
"""What a planted column may gain in the mean absolute error of the logarithm."""

CHANCE: Final = 3.0
"""Standard errors by which the gain may exceed that: tests of few jobs vary by more."""

DRAWS: Final = 50_000
"""Rows of the test that the planted column is drawn for, in as many draws as that takes."""

MAXIMUM_DRAWS: Final = 40

NEVER_STARTS: Final = 0.1
"""The share of the jobs of another future that never start."""

LOGARITHMIC_FROM: Final = 100.0
"""Columns with larger values are learnt from as logarithms."""


@dataclass(frozen=True)
class Planted:
    """The *gain* of a planted fact by way of the maker, its standard *error*, and that of a *leak*."""

    gain: float
    error: float
    leak: float


def unchanged_rows(jobs: SubmittedJobs, rows: Ints) -> int:
    """
    Redraw all that happens after the submission of some of *rows*, and return of how many: none may change.

    Raise `TraceError` where one does, which is a defect of gwa.
    """
    rng = np.random.default_rng(SEED)
    chosen = np.sort(rng.choice(rows, min(ROWS, rows.size), replace=False))
    for row in chosen.tolist():
        part = slice(max(row - NEIGHBOURS, 0), row + NEIGHBOURS)
        near, place = take(jobs, part), row - part.start
        before, after = features(near), features(redrawn(near, float(jobs.submit[row]), rng, place))
        changed = [
            name
            for name in before
            if not np.array_equal(before[name][place], after[name][place], equal_nan=True)
        ]
        if changed:
            raise TraceError(
                f"row {row}: {', '.join(changed)} depend on what came later, expected none: report this"
            )
    return int(chosen.size)


def take(jobs: SubmittedJobs, part: slice) -> SubmittedJobs:
    """Return a part of *jobs*."""
    return SubmittedJobs(
        job=jobs.job[part],
        submit=jobs.submit[part],
        clock=jobs.clock[part],
        start=jobs.start[part],
        end=jobs.end[part],
        left=jobs.left[part],
        asked={name: values[part] for name, values in jobs.asked.items()},
        names={name: values[part] for name, values in jobs.names.items()},
        outcomes={name: values[part] for name, values in jobs.outcomes.items()},
        cpus=jobs.cpus,
    )


def redrawn(jobs: SubmittedJobs, now: float, rng: np.random.Generator, place: int) -> SubmittedJobs:
    """
    Return *jobs* with another future from *now* on, the submission of that at *place*.

    Jobs that had not started start at other times or never, those that had not ended end at others; what
    becomes of both is drawn again, and so is what is submitted later.
    """
    size = len(jobs)
    later = jobs.submit >= now
    later[place] = False
    submit = jobs.submit.copy()
    submit[later] = np.sort(now + rng.integers(0, 5 * HOUR, int(later.sum())))
    asked = {key: _shuffled(values, later, rng) for key, values in jobs.asked.items()}
    names = {key: _shuffled(values, later, rng) for key, values in jobs.names.items()}
    unstarted = jobs.start >= now
    running = (jobs.start < now) & (jobs.end >= now)
    drawn = [np.rint(rng.exponential(3 * HOUR, size)) for _ in range(2)]
    start = np.where(unstarted, np.maximum(submit, now) + drawn[0], jobs.start)
    start[unstarted & (rng.random(size) < NEVER_STARTS)] = NEVER
    end = np.where(unstarted | running, np.maximum(start, now) + drawn[1], jobs.end)
    # When a job left the queue may be unknown; that is a fault of the log, which stays.
    left = np.where(unstarted & (jobs.left >= now), start, jobs.left)
    outcomes = {name: values.copy() for name, values in jobs.outcomes.items()}
    open_ended = unstarted | running
    outcomes["wait"][unstarted] = (start - submit)[unstarted]
    finite = np.where(np.isfinite(start), start, 0.0)
    outcomes["run_time"][open_ended] = (end - finite)[open_ended]
    outcomes["failure"][open_ended] = rng.integers(0, 2, int(open_ended.sum()))
    for name in ("max_memory", "energy"):
        outcomes[name][open_ended] = rng.exponential(1e6, int(open_ended.sum()))
    never = ~np.isfinite(start)
    outcomes = {name: np.where(never & open_ended, np.nan, values) for name, values in outcomes.items()}
    return replace(
        jobs, submit=submit, start=start, end=end, left=left, asked=asked, names=names, outcomes=outcomes
    )


def _shuffled(values: Numbers, where: NDArray[np.bool_], rng: np.random.Generator) -> Numbers:
    changed = values.copy()
    changed[where] = rng.permutation(values[where])
    return changed


def planted_gain(task: Task, jobs: SubmittedJobs, chosen: Chosen, columns: dict[str, Floats]) -> Planted:
    """
    Plant a fact of the future, and return what it gains by way of the maker, and what it would gain itself.

    Noise is added to the label of each job, and entered into its record as a fact known when the label is.
    From the facts of earlier jobs, which is all that a row may have, nothing can be learnt of it: the gain is
    0 but for chance. The second number is the gain of a column that leaks. Both are differences of the mean
    absolute error of a ridge regression on the columns and on this fact, against the same with a fact that
    has nothing to do with the label, so that more columns alone gain nothing; no extra is needed. Raise
    `TraceError` where the first exceeds `MAXIMUM_GAIN` by more than chance, which is a defect of gwa.
    """
    rng = np.random.default_rng(SEED)
    rows = chosen.rows
    train, test = (np.flatnonzero(chosen.split == split) for split in ("train", "test"))
    labels = task.log(jobs.outcomes[task.name][rows])
    plain = _design([columns[name] for name in columns], train)
    ledgers = [Ledger(keys, task.known(jobs), jobs.submit) for keys in (jobs.names["user"], alike(jobs))]
    known = ~np.isnan(jobs.outcomes[task.name])
    through, leaking = [], []
    for _ in range(int(np.clip(DRAWS // max(test.size, 1), 3, MAXIMUM_DRAWS))):
        fact, other = rng.standard_normal((2, len(jobs)))
        noisy = labels + fact[rows]
        learnt, idle = (
            _design(_recent(ledgers, np.where(known, one, np.nan), rows), train) for one in (fact, other)
        )
        with_learnt, with_idle, with_fact, with_other = (
            _error(np.hstack([plain, more]), noisy, train, test)
            for more in (learnt, idle, fact[rows][:, None], other[rows][:, None])
        )
        through.append(with_idle - with_learnt)
        leaking.append(with_other - with_fact)
    error = float(np.std(through, ddof=1) / np.sqrt(len(through)))
    found = Planted(float(np.mean(through)), error, float(np.mean(leaking)))
    if found.gain - CHANCE * found.error >= MAXIMUM_GAIN:
        raise TraceError(
            f"{task.name}: a planted fact of the future gains {found.gain:.4f} ± {found.error:.4f},"
            f" expected less than {MAXIMUM_GAIN}: report this"
        )
    return found


def _recent(ledgers: Sequence[Ledger], facts: Floats, rows: Ints) -> list[Floats]:
    """Return the *facts* of earlier jobs that *rows* may have."""
    recent = [ledger.recent(facts, logarithmic=False) for ledger in ledgers]
    return [column[rows] for one in recent for column in (one.last, one.two)]


def _design(columns: list[Floats], train: Ints) -> Floats:
    """Return *columns* for a regression: large ones as logarithms, standardized, nulls marked."""
    made: list[Floats] = []
    for column in columns:
        values = (
            np.log1p(np.maximum(column, 0.0))
            if np.nanmax(np.append(column, 0.0)) > LOGARITHMIC_FROM
            else column
        )
        known = ~np.isnan(values)
        if not known[train].any():
            continue
        middle, spread = values[train][known[train]].mean(), values[train][known[train]].std()
        if spread > 0:
            made.append(np.where(known, (values - middle) / spread, 0.0))
        if not known[train].all():
            made.append((~known).astype(np.float64))
    size = columns[0].size if columns else 0
    return np.column_stack([np.ones(size), *made])


def _error(design: Floats, y: Floats, train: Ints, test: Ints) -> float:
    """Return the mean absolute error in the test of a ridge regression, learnt on the training."""
    x = design[train]
    weights = np.linalg.solve(x.T @ x + np.eye(x.shape[1]), x.T @ y[train])
    return float(np.abs(y[test] - design[test] @ weights).mean())
