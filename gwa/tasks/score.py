"""Score forecasts of the test of a task, and rank those of several traces."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gwa.errors import ArgumentError
from gwa.statistics.sample import Floats, Ints
from gwa.tasks.folder import TaskFolder, answered
from gwa.tasks.measures import INTERVAL, HeldOut, by_class, difference, means_by_weeks, measures

REFERENCE: Final = ("train-median", "train-share")
"""The baselines that losses are relative to: of quantities, and of failures."""


def score(folder: TaskFolder, forecast: Floats) -> dict[str, Any]:
    """
    Return how good a *forecast* of the test in *folder* is: over all, by class, against baselines.

    Rows that are not answered count in *answered* only: all else is of the others, of the baselines, too.
    """
    known = answered(forecast)
    part, mine = _part(folder.test, known), forecast[known]
    others = {name: values[known] for name, values in folder.baselines().items()}
    return {
        "task": folder.test.task.name,
        "n": int(known.size),
        "answered": float(known.mean()) if known.size else None,
        **measures(part, mine),
        "classes": by_class(part, mine),
        "against": {name: difference(part, mine, other) for name, other in others.items() if known.any()},
    }


@dataclass(frozen=True)
class RankedEntry:
    """
    The *rank* of an entry called *name*: the *ratio* of its loss to that of the train median, its interval.

    *logs* is how many folders it has a forecast in; entries that lack one have no rank and no ratio.
    *answered* is the least share of rows that it answers, *holds* in how many its upper quantile holds.
    """

    rank: int | None
    name: str
    ratio: float | None
    low: float | None
    high: float | None
    logs: int
    answered: float
    holds: int | None


def leaderboard(folders: Sequence[Path]) -> list[RankedEntry]:
    """
    Rank the forecasts in *folders* of one task, of a trace each, the best first.

    An entry is ranked by its mean loss relative to that of the train median, as the geometric mean over the
    folders. Rows without an answer have that of the train median. An entry ranks behind those that are better
    by more than chance: their ratio is lower in 97.5 % of draws of weeks, which make the intervals, too. All
    others tie. Raise `ArgumentError` for folders of several tasks, and for one that is named twice.
    """
    read = [TaskFolder.read(path) for path in folders]
    names = {folder.test.task.name for folder in read}
    if len(names) > 1:
        raise ArgumentError(f"the folders are of {', '.join(sorted(names))}, expected those of one task")
    if len({path.resolve() for path in folders}) < len(folders):
        raise ArgumentError("a folder is named twice, expected each once")
    entries = [folder.entries() for folder in read]
    everywhere = sorted(set.intersection(*(set(entry) for entry in entries)))
    reference = next((name for name in REFERENCE if name in everywhere), None)
    if reference is None:
        raise ArgumentError(f"no folder has the baseline {' or '.join(REFERENCE)}, so nothing can be ranked")
    pairs = list(zip(read, entries, strict=True))
    ratios, draws = _ratios(pairs, everywhere, reference)
    rank, ratio = _ranks(ratios, draws).tolist(), np.exp(ratios).tolist()
    low, high = np.quantile(np.exp(draws), INTERVAL, axis=0).tolist()
    ranked = [
        RankedEntry(rank[i], name, ratio[i], low[i], high[i], *_record(pairs, name))
        for i, name in enumerate(everywhere)
    ]
    others = sorted(set().union(*entries) - set(everywhere))
    return [
        *sorted(ranked, key=lambda place: (place.rank or 0, place.ratio or 0.0, place.name)),
        *(RankedEntry(None, name, None, None, None, *_record(pairs, name)) for name in others),
    ]


Pairs = Sequence[tuple[TaskFolder, Mapping[str, Floats]]]


def _ratios(pairs: Pairs, names: Sequence[str], reference: str) -> tuple[Floats, Floats]:
    """Return the logarithm of the ratio of each of *names*, and that in each draw of weeks."""
    ratios, draws = [], []
    for folder, entry in pairs:
        test = folder.test
        losses = np.column_stack([test.losses(_filled(entry[name], entry[reference])) for name in names])
        place = names.index(reference)
        least = np.finfo(float).tiny
        mean = np.log(np.maximum(losses.mean(axis=0), least))
        drawn = np.log(np.maximum(means_by_weeks(test.weeks, losses), least))
        ratios.append(mean - mean[place])
        draws.append(drawn - drawn[:, [place]])
    return np.mean(ratios, axis=0), np.mean(draws, axis=0)


def _ranks(ratios: Floats, draws: Floats) -> Ints:
    """Return one more than how many others are better than each by more than chance."""
    low = np.quantile(draws[:, :, None] - draws[:, None, :], INTERVAL[0], axis=0)
    better = (low > 0) & (ratios[:, None] > ratios[None, :])
    ranks: Ints = 1 + better.sum(axis=1)
    return ranks


def _record(pairs: Pairs, name: str) -> tuple[int, float, int | None]:
    """Return in how many folders an entry is, the least share that it answers, and where its bound holds."""
    own = [(folder.test, entry[name]) for folder, entry in pairs if name in entry]
    share = min(float(answered(forecast).mean()) for _, forecast in own)
    if own[0][0].task.offset is None:
        return len(own), share, None
    known = [(_part(test, answered(forecast)), forecast[answered(forecast)]) for test, forecast in own]
    return len(own), share, sum(bool(measures(*one).get("q95_holds")) for one in known)


def _filled(forecast: Floats, other: Floats) -> Floats:
    known = answered(forecast)
    return np.where(known if forecast.ndim == 1 else known[:, None], forecast, other)


def _part(test: HeldOut, known: NDArray[np.bool_]) -> HeldOut:
    columns = {name: values[known] for name, values in test.columns.items()}
    return HeldOut(test.task, test.labels[known], test.submit[known], columns)
