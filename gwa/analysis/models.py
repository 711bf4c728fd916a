"""How well models describe the workload."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gwa.analysis import Chapter, analysis
from gwa.blocks import Block, Column, Fact, Facts, Figure, Note, Table, Unit, Value
from gwa.errors import ModelError
from gwa.figures import cdf
from gwa.models import Model, models
from gwa.statistics.sample import Floats, Sample
from gwa.store import Store
from gwa.summary import number

if TYPE_CHECKING:  # what compares workloads takes long to import, and few reports have this section
    from gwa.studies.score import Scorecard
    from gwa.studies.workload import Workload

MOST: Final = 20_000
"""Jobs that models are fitted to; of a longer trace, the first."""

SEED: Final = 1

SHOWN: Final = 3
"""Models that are drawn: those that come nearest."""

LONG: Final = 8
"""Parameters that are longer lists are not printed, but counted."""


@dataclass(frozen=True)
class Made:
    """A fitted *model*, the *jobs* that it makes, and how near they come (*card*)."""

    model: Model
    jobs: "Workload"
    card: "Scorecard"

    @property
    def floors(self) -> float:
        """How many noise floors the jobs are away, in the median over measures."""
        return median(
            float("inf") if line.distance is None else line.distance / line.floor.height
            for line in self.card.lines
            if line.real is not None and line.floor.height
        )


@analysis(
    "Models", Chapter.MODELS, facts=("model",), needs=("submit_time", "run_time"), order=1, on_request=True
)
def models_of_the_workload(store: Store) -> Iterator[Block]:
    """
    Every model fitted to the first 20,000 jobs that ran, and how far the jobs that it makes are from them.

    Distances are those of `gwa score`, in-sample, so that a model with more parameters may come nearer
    than it would to other weeks; `gwa leaderboard` tells that. Beside each number stands the noise floor, the
    distance between two halves of the trace.
    """
    from gwa.studies.heldout import copied
    from gwa.studies.workload import Workload

    with copied(store, f"select {', '.join(_known(store))} {EARLIEST}", _known(store)) as some:
        real = Workload.of(some)
        if len(real) < Model.fewest:
            yield Note(f"{len(real)} jobs ran at a known time: too few for a model.")
            return
        yield Note(f"Models are fitted to {len(real):,} jobs, and make as many with seed {SEED}.")
        made, refused = _made(some, real)
    yield from (Note(reason) for reason in refused)
    if made:
        yield from _shown(real, made)
    yield Note(COMMANDS)


EARLIEST: Final = f"from ran where submit_time is not null order by submit_time, job_id limit {MOST}"

COMMANDS: Final = (
    "To make more: gwa model fit TRACE gwa -o gwa.json, then gwa generate gwa.json --days 30 --seed 1 -o"
    " synthetic.gwf, and gwa score TRACE synthetic.gwf. Other models are listed by gwa model list."
)


def _known(store: Store) -> list[str]:
    """Return the fields that jobs record, those first that there must be."""
    return [name for name, known in store.known.items() if known]


def _made(some: Store, real: "Workload") -> tuple[list[Made], list[str]]:
    """Return the models by how near they come, and why others cannot be fitted."""
    from gwa.models._streams import Extent
    from gwa.models.workload import Order
    from gwa.studies.score import Reference
    from gwa.studies.workload import Workload

    reference = Reference.of(real)
    made, refused = [], []
    for kind in models().values():
        try:
            fitted = kind.fit(some)
        except ModelError as error:
            refused.append(f"{kind.title}: {error}.")
            continue
        blocks = Order(fitted, Extent(jobs=len(real)), SEED).blocks()
        jobs = Workload.made(blocks, real.cpus)
        made.append(Made(fitted, jobs, reference.score(jobs)))
    return sorted(made, key=lambda one: one.floors), refused


def _shown(real: "Workload", made: list[Made]) -> Iterator[Block]:
    """Yield the comparison of models, the scorecard of the nearest, curves, and parameters."""
    yield Table("models", "How near the models come", COLUMNS, tuple(map(_row, made)), NOTE)
    yield Facts(tuple(fact for one in made for fact in _facts(one)), listed=False)
    yield Note(f"The nearest is {made[0].model.title}; its scorecard follows.")
    yield from made[0].card.blocks()
    yield from _curves(real, made[:SHOWN])
    rows = [row for one in made for row in _parameters(one.model)]
    yield Table(
        "model-parameters",
        "Fitted parameters",
        (Column("model", "Model"), Column("parameter", "Parameter"), Column("value", "Value")),
        tuple(rows),
        "Curves of knots and other long lists stand in what gwa model fit writes.",
    )


COLUMNS: Final = (
    Column("model", "Model"),
    Column("floors", "Noise floors away"),
    Column("equal", "Equal or within noise"),
    Column("near", "Near"),
    Column("off", "Off"),
    Column("missing", "Missing"),
)

NOTE: Final = (
    "Noise floors away is the median over measures of distance over noise floor; 1 is as good as can be."
)


def _row(one: Made) -> tuple[Value, ...]:
    counts = one.card.counts()
    within = counts["equal"] + counts["within noise"]
    return (one.model.title, number(one.floors), within, counts["near"], counts["off"], counts["missing"])


def _facts(one: Made) -> Iterator[Fact]:
    """Yield the distances of a model as facts."""
    from gwa.studies.score import title

    prefix, name = f"model.{one.model.name}", one.model.title
    yield Fact(f"{prefix}.noise_floors", number(one.floors), f"{name}: noise floors away")
    for line in one.card.lines:
        id_, value = line.measure.id.replace("-", "_"), line.distance
        yield Fact(
            f"{prefix}.{id_}", None if value is None else number(value), f"{name}: {title(line.measure)}"
        )


def _curves(real: "Workload", made: list[Made]) -> Iterator[Figure]:
    """Yield real and synthetic distribution functions."""
    jobs = {"real": real, **{one.model.name: one.jobs for one in made}}
    for name, label, unit in CURVES:
        samples = {who: Sample.of(_values(one, name)) for who, one in jobs.items()}
        yield cdf(
            f"model-{name}",
            f"{label}, real and synthetic",
            {who: sample.ecdf() for who, sample in samples.items() if sample.n},
            label,
            f"Cumulative distribution of {label.lower()}, real and of {', '.join(list(jobs)[1:])}.",
            unit=unit,
        )


CURVES: Final[tuple[tuple[str, str, Unit], ...]] = (
    ("run-time", "Run time", "seconds"),
    ("processors", "Processors", ""),
    ("gaps", "Time between jobs", "seconds"),
)


def _values(jobs: "Workload", name: str) -> Floats:
    if name == "gaps":
        return np.diff(jobs.submit)
    return jobs.run if name == "run-time" else jobs.procs.astype(np.float64)


def _parameters(model: Model) -> Iterator[tuple[Value, ...]]:
    """Yield a row for each number of a model."""
    for path, value in _flat(model.plain(), ""):
        yield model.title, path, f"{value:.4g}" if isinstance(value, float) else str(value)


def _flat(said: Mapping[str, Any], path: str) -> Iterator[tuple[str, Value]]:
    """Yield the path and the value of each parameter; lists that are long, by their length."""
    for name, value in said.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{name}.")
        elif isinstance(value, list) and not all(isinstance(one, float | int) for one in value):
            for place, one in enumerate(value):
                yield from _flat(one, f"{path}{name}[{place}].")
        elif isinstance(value, list):
            if len(value) < LONG:
                yield path + name, ", ".join(f"{one:.4g}" for one in value)
        else:
            yield path + name, value
