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

Policy = tuple[Value, ...]
"""The values of the policies that vary, in the order of `POLICIES`."""


@dataclass(frozen=True)
class Winner:
    """
    The *best* policy by a *measure*, where other axes have the values in *place*, and the *second*.

    *values* are the means of both. *chance* says what repetitions tell of their difference: beyond chance if
    the 95 % confidence interval of the differences of the same workloads leaves out 0, unknown for one.
    """

    measure: str
    place: Mapping[str, Value]
    best: Policy
    second: Policy
    values: tuple[float, float]
    chance: str


def winners(results: ExperimentResults, size: str, measures: Sequence[str]) -> Iterator[Winner]:
    """Yield the best policy by each of *measures*, in each place, of the class of sizes *size*."""
    varied = [name for name in POLICIES if name in results.varied]
    others = [name for name in AXES if name in results.varied and name not in POLICIES]
    places: dict[Policy, list[Row]] = {}
    for row in results.rows:
        if row[SIZE_CLASS] == size:
            places.setdefault(tuple(row[name] for name in others), []).append(row)
    for place, rows in places.items() if varied else ():
        for measure in measures:
            found = _winner(measure, dict(zip(others, place, strict=True)), _by_policy(rows, varied, measure))
            if found is not None:
                yield found


def _by_policy(rows: Sequence[Row], varied: Sequence[str], measure: str) -> dict[Policy, dict[Value, float]]:
    """Return the values of a measure by policy and workload, which the number of its repetition tells."""
    values: dict[Policy, dict[Value, float]] = {}
    for row in rows:
        value = row.get(measure)
        if isinstance(value, int | float) and math.isfinite(value):
            values.setdefault(tuple(row[name] for name in varied), {})[row[REPETITION]] = float(value)
    return values


def _winner(
    measure: str, place: Mapping[str, Value], values: Mapping[Policy, Mapping[Value, float]]
) -> Winner | None:
    """Return the best and the second of all policies; None of a single one, or where all are equal."""
    sign = -1 if measure in GREATEST else 1
    means = {policy: float(np.mean(list(each.values()))) for policy, each in values.items()}
    order = sorted(means, key=lambda policy: sign * means[policy])
    if len(order) < 2 or means[order[0]] == means[order[-1]]:  # noqa: PLR2004 - a best and a second
        return None
    best, second = order[:2]
    chance = _chance(values[best], values[second])
    return Winner(measure, place, best, second, (means[best], means[second]), chance)


def _chance(best: Mapping[Value, float], second: Mapping[Value, float]) -> str:
    """Return what the differences of the same workloads say: yes, no, equal or unknown."""
    differences = np.array([best[name] - second[name] for name in best.keys() & second.keys()])
    if differences.size and not differences.any():
        return "equal"
    if differences.size < 2:  # noqa: PLR2004 - one does not vary
        return "unknown"
    error = float(differences.std(ddof=1)) / math.sqrt(differences.size)
    half = error * float(stats.t.ppf((1 + CONFIDENCE) / 2, differences.size - 1))
    return "yes" if abs(float(differences.mean())) > half else "no"
