"""
Printed numbers of the papers beside ours, for the traces that they are about.

``published.toml`` holds what is printed. A trace is recognized by its number of jobs; others
have no printed numbers.
"""

import math
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Final

from gwa.metrics.bags import MINH, bag_spans, gaps
from gwa.metrics.papers import minh2010
from gwa.metrics.papers.anoep2009 import CHARACTERISTICS, PRESETS, Characteristic, fitted, shares
from gwa.metrics.papers.anoep2009_users import ranked_users
from gwa.metrics.papers.minh2010 import JobSelection
from gwa.statistics.fit import Fit, Fits
from gwa.statistics.sample import Sample
from gwa.store.store import Store


@dataclass(frozen=True)
class PrintedNumber:
    """A *printed* number, its place in the paper, and *ours*; some papers truncate (*cut*) digits."""

    source: str
    what: str
    printed: str
    ours: float
    cut: bool = False

    @property
    def difference(self) -> float:
        """Ours less theirs."""
        return self.ours - float(self.printed)

    @property
    def agrees(self) -> bool:
        """Whether ours has the printed digits when it is rounded, or cut off."""
        digits = len(self.printed.partition(".")[2])
        cut = math.trunc(self.ours * 10**digits) / 10**digits
        return f"{self.ours:.{digits}f}" == self.printed or (self.cut and f"{cut:.{digits}f}" == self.printed)


@cache
def printed() -> Mapping[str, list[dict[str, Any]]]:
    """Return what ``published.toml`` says, by paper."""
    return tomllib.loads(files(__package__).joinpath("published.toml").read_text(encoding="utf-8"))


def cells(store: Store) -> Iterator[PrintedNumber]:
    """Yield every printed number about the trace of *store* that its jobs can show; none for most traces."""
    jobs = store.row("select count(*) as n from jobs")[0]
    for trace in printed()["thesis"]:
        if trace["jobs"] == jobs:
            yield from _thesis_numbers(store, trace)
    for trace in printed()["minh"]:
        selection = YEARS[trace["year"]]
        if trace["jobs"] <= jobs and minh2010.jobs(store, selection) == trace["jobs"]:
            yield from _minh_numbers(store, trace, selection)


def _thesis_numbers(store: Store, trace: dict[str, Any]) -> Iterator[PrintedNumber]:
    """Yield the cells of the thesis, in the order of its tables."""
    preset = replace(PRESETS["thesis"], shift=trace.get("shift"))
    for name, characteristic in CHARACTERISTICS.items():
        if name == "task_size":
            yield from _share_numbers(store, trace)
        if name in trace and all(map(store.has, characteristic.needs)):
            entry = trace[name]
            based = replace(preset, bases={**preset.bases, name: entry["base"]})
            yield from _fit_numbers(characteristic, fitted(characteristic.measure(store, based)), entry)
    if "zipf" in trace and store.has("user_id"):
        ranking = ranked_users(store)
        exponent = ranking.least_squares.exponent
        yield PrintedNumber("thesis, table 4.19", "Zipf exponent of users", trace["zipf"], exponent)
        yield PrintedNumber("thesis, table 4.19", "users", trace["users"], ranking.ranks.max())
        yield PrintedNumber("thesis, table 4.20", "dominant users", trace["dominant"], ranking.dominant)


def _fit_numbers(what: Characteristic, fits: Fits, entry: dict[str, Any]) -> Iterator[PrintedNumber]:
    """Yield the cells of a characteristic's two tables: parameters, then distances."""
    parameters, distances = what.tables.split(", ")[::-1]
    for table, is_distance in ((parameters, False), (distances, True)):
        for fit in fits:
            ours = as_printed(fit)
            for name, value in entry.get(fit.name, {}).items():
                if (name == "ks") is is_distance:
                    text = f"{what.title}: {fit.title} {name}"
                    yield PrintedNumber(f"thesis, table {table}", text, value, ours[name])


def _share_numbers(store: Store, trace: dict[str, Any]) -> Iterator[PrintedNumber]:
    """Yield p1 and p2, where they are printed."""
    for name, value in zip(("sequential", "powers_of_two"), shares(store), strict=True):
        if name in trace and store.has("n_procs"):
            yield PrintedNumber("thesis, table 4.6", name.replace("_", " "), trace[name], value)


def as_printed(fit: Fit) -> dict[str, float]:
    """Return the parameters of a fit under the names of the thesis: a gamma's rate, a normal's sd."""
    parameters = {**fit.parameters, "ks": fit.ks}
    if fit.name == "gamma":
        parameters["rate"] = 1 / parameters.pop("scale")
    if fit.name == "normal":
        parameters["mean"], parameters["sd"] = parameters.pop("mu"), parameters.pop("sigma")
    return parameters


YEARS: Final = {2009: minh2010.YEAR_2009, 2010: minh2010.YEAR_2010}


def _below(limit: float) -> Callable[[Sample], float]:
    return lambda sample: sample.restrict(below=limit).n / sample.n


def _variability(place: int) -> Callable[[Store, JobSelection], float]:
    return lambda store, _: minh2010.variability(store)[place][0]


FIGURES: Final[Mapping[str, tuple[str, Callable[[Store, JobSelection], float]]]] = {
    "jobs": ("jobs", minh2010.jobs),
    "interarrival": ("mean time between submissions", minh2010.mean_interarrival),
    "in_bags": ("share of jobs in bags", lambda store, _: minh2010.in_bags(store)),
    **{
        f"variability_{high:.0f}": (
            f"variability in bags of {low:.0f} to {high:.0f} s",
            _variability(place),
        )
        for place, (low, high) in enumerate(minh2010.RANGES)
    },
    "gaps_below_100": ("gaps in bags below 100 s", lambda store, _: _below(100)(gaps(store, MINH))),
    "durations_below_1000": (
        "bags submitted within 1000 s",
        lambda store, _: _below(1000)(bag_spans(store, MINH)),
    ),
    "groups": ("groups of parallelism", lambda store, selection: max(minh2010.groups(store, selection))),
    "spatial": ("spatial burstiness", minh2010.spatial),
    "correlation": ("correlation of run time and processors", minh2010.correlation),
}
"""The figures of Minh and Wolters: what each is, and the function that computes it."""


def _minh_numbers(store: Store, trace: dict[str, Any], jobs: JobSelection) -> Iterator[PrintedNumber]:
    """Yield the figures of a trace in one of the two papers."""
    for where, name, value in trace["figures"]:
        what, ours = FIGURES[name]
        yield PrintedNumber(
            f"Minh & Wolters {trace['year']}, {where}", what, value, ours(store, jobs), cut=True
        )
