"""Which policy is the best by which measure, by how much, and whether that is beyond chance."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import stats

from gwa.evaluation.experiments.results import AXES, CONFIDENCE, REPETITION, SIZE_CLASS, ExperimentResults
from gwa.evaluation.experiments.run import Row
from gwa.words.unit import Value

GREATEST: Final = frozenset({"in_time", "finished", "utilization", "goodput", "fairness"})
"""The measures of which the greatest value is the best; of others it is the least."""

POLICIES: Final = ("architecture", "selection", "scheduler", "change")
"""The axes that say which policies a run is under."""

ALL_TASKS: Final = frozenset({"in_time", "finished", "utilization", "goodput"})
"""The measures of all tasks; others are means over those that finished, which need not be the same ones."""

SAME: Final = 1e-9
"""Relative difference up to which numbers are the same: sums in another order differ as much."""

Policy = tuple[Value, ...]
"""The values of the policies that vary, in the order of `POLICIES`."""

Values = Mapping[Value, float]
"""The values of a measure under a policy, by the number of the repetition, which is that of the workload."""


@dataclass(frozen=True)
class Winner:
    """
    The *best* policies by a *measure*, where other axes have the values in *place*, and the *second*.

    Several are best if they are equally good on each workload. *values* are the means of the best and of the
    second. *chance* says what repetitions tell of their difference: beyond chance if the 95 % confidence
    interval of the differences of the same workloads leaves out 0, unknown for one.
    """

    measure: str
    place: Mapping[str, Value]
    best: tuple[Policy, ...]
    second: Policy
    values: tuple[float, float]
    chance: str


def winners(results: ExperimentResults, size: str, measures: Sequence[str]) -> Iterator[Winner]:
    """
    Yield the best policies by each of *measures*, in each place, of the class of sizes *size*.

    Where tasks did not finish, nothing is said of means over those that did: a policy that only finishes
    small ones would be the best. Nor is a utilization the best that is due to copies of tasks.
    """
    varied = [name for name in POLICIES if name in results.varied]
    for place, rows in places(results, size) if varied else ():
        for measure in measures:
            if not _is_comparable(measure, rows):
                continue
            found = _winner(measure, place, _by_policy(rows, varied, measure))
            if found is not None:
                yield found


def places(results: ExperimentResults, size: str) -> list[tuple[Mapping[str, Value], list[Row]]]:
    """Return the rows of the class of sizes *size* by the values of the axes that are no policies."""
    others = [name for name in AXES if name in results.varied and name not in POLICIES]
    found: dict[tuple[Value, ...], list[Row]] = {}
    for row in results.rows:
        if row[SIZE_CLASS] == size:
            found.setdefault(tuple(row[name] for name in others), []).append(row)
    return [(dict(zip(others, place, strict=True)), rows) for place, rows in found.items()]


def has_finished(rows: Sequence[Row]) -> bool:
    """Whether all tasks of *rows* finished."""
    return all(row.get("finished") == 1 for row in rows)


def _is_comparable(measure: str, rows: Sequence[Row]) -> bool:
    if measure == "utilization":
        return all(math.isclose(float(row.get("goodput") or 0), 1, rel_tol=SAME) for row in rows)
    return measure in ALL_TASKS or has_finished(rows)


def _by_policy(rows: Sequence[Row], varied: Sequence[str], measure: str) -> dict[Policy, Values]:
    """Return the values of a measure by policy and workload, of the workloads that all policies have."""
    values: dict[Policy, dict[Value, float]] = {}
    for row in rows:
        value = row.get(measure)
        if isinstance(value, int | float) and math.isfinite(value):
            values.setdefault(tuple(row[name] for name in varied), {})[row[REPETITION]] = float(value)
    common = set.intersection(*(set(each) for each in values.values())) if values else set()
    return {
        policy: {name: value for name, value in each.items() if name in common}
        for policy, each in values.items()
    }


def _winner(measure: str, place: Mapping[str, Value], values: Mapping[Policy, Values]) -> Winner | None:
    """Return the best and the second of all policies; None of a single one, or where all are equal."""
    if not all(values.values()):
        return None
    sign = -1 if measure in GREATEST else 1
    means = {policy: float(np.mean(list(each.values()))) for policy, each in values.items()}
    order = sorted(means, key=lambda policy: sign * means[policy])
    best = tuple(policy for policy in values if _are_same(values[policy], values[order[0]]))
    others = [policy for policy in order if policy not in best]
    if not others:
        return None
    chance = _chance(values[best[0]], values[others[0]])
    return Winner(measure, place, best, others[0], (means[best[0]], means[others[0]]), chance)


def _are_same(one: Values, other: Values) -> bool:
    return all(math.isclose(one[name], other[name], rel_tol=SAME) for name in one)


def _chance(best: Values, second: Values) -> str:
    """Return what the differences of the same workloads say: yes, no or unknown."""
    differences = np.array([best[name] - second[name] for name in best])
    if differences.size < 2:  # noqa: PLR2004 - one does not vary
        return "unknown"
    error = float(differences.std(ddof=1)) / math.sqrt(differences.size)
    half = error * float(stats.t.ppf((1 + CONFIDENCE) / 2, differences.size - 1))
    return "yes" if abs(float(differences.mean())) > half else "no"
