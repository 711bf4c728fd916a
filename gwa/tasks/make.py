"""Make the tasks of a trace: a folder with the rows, splits, labels, baselines and the card of each."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gwa.errors import ArgumentError, TraceError
from gwa.evaluation.prediction import WaitingJobs, predictors
from gwa.statistics.sample import Floats
from gwa.store.store import Store
from gwa.tasks.baseline import BaselineProblem, baselines
from gwa.tasks.card import TaskDescription, card, readme
from gwa.tasks.features import features
from gwa.tasks.folder import (
    BASELINES,
    CARD,
    FEATURES,
    KEY,
    LABELS,
    README,
    TaskFolder,
    forecast_columns,
    write_table,
)
from gwa.tasks.jobs import NAMES, SubmittedJobs
from gwa.tasks.measures import measures
from gwa.tasks.proof import planted_gain, unchanged_rows
from gwa.tasks.task import BY_NAME, MINIMUM_ROWS, SPLITS, TASKS, Chosen, Task, choose, folds
from gwa.util.atomic_swap import replacing
from gwa.util.progress import SILENT, Progress

if TYPE_CHECKING:
    import pyarrow as pa

BOUND: Final = "bmbp-own"
"""The predictor whose bounds on waits are a baseline."""

FILES: Final = {FEATURES, CARD, README, *LABELS.values()}
"""All files in the folder of a task but those of baselines."""

MAXIMUM_REASONS: Final = len(TASKS)
"""The maximum number of reasons in an error: those of many folds are much the same."""

FOLD: Final = re.compile(r"fold-[1-9][0-9]*")


@dataclass(frozen=True)
class MadeTask:
    """
    A task that was made: the *name* of its folder, *jobs* of each split, and baselines that are *missing*.

    The folder of a fold is before the name, as in `fold-1/wait`.
    """

    name: str
    jobs: dict[str, int]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class MadeTasks:
    """The tasks that were *made*, and sentences on why others were not."""

    made: tuple[MadeTask, ...]
    left_out: tuple[str, ...]


def make(
    store: Store,
    title: str,
    folder: Path,
    only: Sequence[str] = (),
    progress: Progress = SILENT,
    *,
    parts: int = 1,
) -> MadeTasks:
    """
    Make the tasks of the trace called *title* in *store*, those called *only* if any, as a new *folder*.

    With several *parts*, the folder has one for each of as many folds of a rolling origin (`folds`). It
    appears whole or not at all. Raise `TraceError` where no task can be made, or a check of what rows know
    fails; `OutputError` for a folder with anything that gwa did not make; `ArgumentError` for a task that
    there is not.
    """
    if unknown := set(only) - set(BY_NAME):
        raise ArgumentError(f"there is no task '{min(unknown)}', expected some of {', '.join(BY_NAME)}")
    jobs = SubmittedJobs.of(store)
    picked = [task for task in TASKS if not only or task.name in only]
    chosen = {
        f"{fold}/{task.name}" if fold else task.name: (task, choose(task, jobs, shares))
        for fold, shares in folds(parts).items()
        for task in picked
    }
    reasons = {name: _obstacle(task, jobs, part) for name, (task, part) in chosen.items()}
    possible = {name: one for name, one in chosen.items() if not reasons[name]}
    left_out = tuple(f"{name} is not made: {reason}" for name, reason in reasons.items() if reason)
    if not possible:
        more = f"; and {len(left_out) - MAXIMUM_REASONS:,} more" if len(left_out) > MAXIMUM_REASONS else ""
        raise TraceError(f"{title}: no task can be made of it: {'; '.join(left_out[:MAXIMUM_REASONS])}{more}")
    columns = features(jobs)
    unchanged = unchanged_rows(jobs, np.unique(np.concatenate([one.rows for _, one in possible.values()])))
    with replacing(folder, is_made) as (part, _), progress.step("tasks", len(possible)) as step:
        made = []
        for name, (task, rows) in possible.items():
            counts, missing = _make(task, store, title, jobs, rows, columns, part / name, unchanged)
            made.append(MadeTask(name, counts, missing))
            step.advance()
    return MadeTasks(tuple(made), left_out)


def is_made(folder: Path) -> bool:
    """Whether a *folder* holds tasks that were made here, and nothing else, such as forecasts of others."""

    def is_own(path: Path) -> bool:
        parts = path.relative_to(folder).parts
        task, *name = parts[1:] if FOLD.fullmatch(parts[0]) and len(parts) > 1 else parts
        return task in BY_NAME and (name[:1] == [BASELINES] or "/".join(name) in FILES)

    return all(is_own(path) for path in folder.rglob("*") if not path.is_dir())


def _obstacle(task: Task, jobs: SubmittedJobs, chosen: Chosen) -> str:
    """Return why a *task* cannot be made of *jobs*, or nothing."""
    if np.isnan(jobs.outcomes[task.name]).all():
        return "the trace does not record it"
    if chosen.rows.size < MINIMUM_ROWS:
        return f"it has {chosen.rows.size:,} jobs, expected at least {MINIMUM_ROWS}"
    if empty := [split for split in SPLITS if split != "gap" and not chosen.count(split)]:
        return f"no job is left for {', '.join(empty)}: expected a log that is longer than its jobs"
    labels = jobs.outcomes[task.name][chosen.rows]
    if any(np.ptp(labels[chosen.split == split]) == 0 for split in ("train", "test")):
        return "all jobs have the same label, so there is nothing to foretell"
    return ""


def _make(  # noqa: PLR0913, PLR0917 - all that a task is made of
    task: Task,
    store: Store,
    title: str,
    jobs: SubmittedJobs,
    chosen: Chosen,
    columns: dict[str, Floats],
    folder: Path,
    unchanged: int,
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Write the files of one *task* into a *folder*; return the jobs of each split, and what is missing."""
    rows = chosen.rows
    of_rows = _codes_of_training({name: values[rows] for name, values in columns.items()}, chosen)
    planted = planted_gain(task, jobs, chosen, of_rows)
    (folder / BASELINES).mkdir(parents=True)
    key = np.arange(rows.size)
    write_table(
        {
            KEY: key,
            "job_id": jobs.job[rows],
            "submit": jobs.submit[rows],
            "split": chosen.split.astype(object),
            **{name: _narrowed(name, values) for name, values in of_rows.items()},
        },
        folder / FEATURES,
    )
    labels = jobs.outcomes[task.name][rows]
    for split, name in LABELS.items():
        inside = chosen.split == split
        write_table({KEY: key[inside], "label": labels[inside]}, folder / name)
    missing = _write_baselines(_problem(task, store, jobs, chosen, of_rows), folder)
    facts = TaskDescription(task, title, chosen, of_rows, unchanged, planted, missing, _scores(folder))
    text = json.dumps(card(store, facts, folder), indent=1, ensure_ascii=False)
    (folder / CARD).write_text(text + "\n", encoding="utf-8")
    (folder / README).write_text(readme(facts), encoding="utf-8")
    return {split: chosen.count(split) for split in SPLITS}, missing


def _codes_of_training(columns: dict[str, Floats], chosen: Chosen) -> dict[str, Floats]:
    """Return *columns* with the codes of names that no job of the training has as -1."""
    train = chosen.split == "train"

    def learnt(codes: Floats) -> Floats:
        known = np.isin(codes, codes[train])
        return np.where(known | np.isnan(codes), codes, -1.0)

    return {name: learnt(values) if name in NAMES else values for name, values in columns.items()}


def _narrowed(name: str, values: Floats) -> "pa.Array":
    """Return a column as it is written: codes are whole numbers; nan is null."""
    import pyarrow as pa

    made = pa.array(values, from_pandas=True)
    return made.cast(pa.int32()) if name in NAMES else made


def _problem(
    task: Task, store: Store, jobs: SubmittedJobs, chosen: Chosen, columns: dict[str, Floats]
) -> BaselineProblem:
    """Return what the baselines are asked; the labels of the test are not in it."""
    learnt = (chosen.split == "train") | (chosen.split == "valid")
    labels = np.where(learnt, jobs.outcomes[task.name][chosen.rows], np.nan)
    bound = _bounds(store, jobs)[chosen.rows] if task.at_start else np.full(labels.size, np.nan)
    return BaselineProblem(task, columns, chosen.split, labels, bound)


def _bounds(store: Store, jobs: SubmittedJobs) -> Floats:
    """Return gwa's bound on the wait of each job; nan of those held, whose bound is of a later time."""
    waiting = WaitingJobs.of(store)
    found = predictors()[BOUND].bounds(waiting).bound
    order = np.argsort(waiting.job)
    place = order[np.searchsorted(waiting.job[order], jobs.job).clip(max=order.size - 1)]
    same = (waiting.job[place] == jobs.job) & (waiting.submit[place] == jobs.submit)
    return np.where(same, found[place], np.nan)


def _write_baselines(problem: BaselineProblem, folder: Path) -> tuple[str, ...]:
    """Write the forecast of each baseline into *folder*; return sentences on those that are missing."""
    missing = []
    rows = problem.rows("test")
    for one in baselines():
        if one.of_failures != (problem.task.offset is None):
            continue
        if sentence := one.missing():
            missing.append(sentence)
        elif (forecast := one.forecast(problem)) is not None:
            write_table(forecast_columns(rows, forecast), folder / BASELINES / f"{one.name}.parquet")
    return tuple(missing)


def _scores(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the measures of the baselines in *folder*; those that do not pass for forecasts are refused."""
    read = TaskFolder.read(folder)
    return {name: measures(read.test, forecast) for name, forecast in read.baselines().items()}
