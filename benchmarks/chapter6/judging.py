"""What a finding is, and the figures and words by which one is judged."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from inspect import cleandoc
from typing import Final

from gwa.evaluation.experiments.results import ExperimentResults
from gwa.evaluation.experiments.run import BAGS

Numbers = Mapping[str, float]
"""A measure by policy."""

Judge = Callable[["Table"], tuple[str, bool]]

CLEARLY: Final = 1.05
"""What differs by a smaller factor is called alike."""


@dataclass(frozen=True)
class Table:
    """Means over repetitions, to be asked for by where they are on the axes."""

    results: ExperimentResults

    def by(self, axis: str, measure: str, size: str = BAGS, **where: object) -> dict[str, float]:
        """Return a measure for each place on an *axis*, as a mean over all that is left open."""
        found: dict[str, list[float]] = {}
        for cell in self.results.cells:
            if cell.size == size and all(cell.axis(name) == value for name, value in where.items()):
                estimate = cell.estimates[measure]
                if estimate is not None:
                    found.setdefault(str(cell.axis(axis)), []).append(estimate.mean)
        return {place: sum(values) / len(values) for place, values in found.items()}

    def loads(self) -> list[float]:
        """Return the loads."""
        return [load for load in self.results.values("load") if isinstance(load, float)]


@dataclass(frozen=True)
class Finding:
    """What the thesis finds by an *experiment*, and shows in a *figure*."""

    experiment: str
    figure: str
    judge: Judge

    @property
    def says(self) -> str:
        """What the thesis says."""
        return " ".join(cleandoc(self.judge.__doc__ or "").split())


FINDINGS: Final[list[Finding]] = []


def finding(experiment: str, figure: str) -> Callable[[Judge], Judge]:
    """Register a finding."""

    def register(judge: Judge) -> Judge:
        FINDINGS.append(Finding(experiment, figure, judge))
        return judge

    return register


def judged(tables: Mapping[str, ExperimentResults]) -> Iterator[tuple[Finding, str, bool]]:
    """Yield every finding with our figures, and whether it holds."""
    for one in FINDINGS:
        yield one, *one.judge(Table(tables[one.experiment]))


def count(ratios: Numbers, *, above: float) -> tuple[str, bool]:
    """Return for how many policies a ratio is above a bound; it holds where most are."""
    meets = sum(ratio > above for ratio in ratios.values())
    return f"for {meets} of {len(ratios)} policies; ratios {listed(ratios)}", meets > len(ratios) / 2


def first(values: Numbers, name: str, unit: str) -> tuple[str, bool]:
    """Return which place a name has among all, and whether its value alone is the lowest."""
    ours = f"{rank(values, name)}: {listed(values)} {unit}".rstrip()
    return ours, all(values[name] < value for other, value in values.items() if other != name)


def rank(values: Numbers, name: str) -> str:
    """Return which place a name has, in words."""
    return f"{name} is {place(values, name)} of {len(values)}"


def place(values: Numbers, name: str) -> int:
    """Return which place a name has; the lowest value has the first."""
    return 1 + sum(other < values[name] for other in values.values())


def listed(values: Numbers) -> str:
    """Return all values in words, the lowest first."""
    return ", ".join(f"{name} {value:.3g}" for name, value in sorted(values.items(), key=lambda one: one[1]))


def spread(values: Numbers, form: str = ".3g") -> str:
    """Return the lowest and the highest value in words."""
    low, high = min(values.values()), max(values.values())
    return f"{low:{form}}" if low == high else f"{low:{form}} to {high:{form}}"
