"""How well models describe the workload."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final

import numpy as np

from gwa.analysis.base import Chapter, analysis
from gwa.errors import ModelError
from gwa.models.base import Model, models
from gwa.models.knots import Knots
from gwa.models.parameters import Parameters, described
from gwa.report.document import Block, Column, Fact, Facts, Figure, Note, Table, Unit, Value
from gwa.report.facts import number
from gwa.report.figures.cdf import cdf
from gwa.statistics.distribution import Distribution
from gwa.statistics.sample import Floats, Sample
from gwa.store.store import Store

if TYPE_CHECKING:  # what compares workloads takes long to import, and few reports have this section
    from gwa.evaluation.job_arrays import JobArrays
    from gwa.evaluation.scorecard import Scorecard

MOST: Final = 20_000
"""Jobs that models are fitted to; of a longer trace, the first."""

SEED: Final = 1

SHOWN: Final = 3
"""Models that are drawn: those that come nearest."""

MANY, LONG = 5, 8
"""So many parts, such as clusters, and so many numbers are not printed, but counted."""

GREAT: Final = 10_000
"""Numbers from which on the fraction does not matter."""


@dataclass(frozen=True)
class ScoredModel:
    """A fitted *model*, the *jobs* that it makes, and how near they come (*card*)."""

    model: Model
    jobs: "JobArrays"
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

    Distances are those of 'gwa score', in-sample, so that a model with more parameters may come nearer
    than it would to other weeks; 'gwa leaderboard' tells that. Beside each number stands the noise floor, the
    distance between two halves of the trace.
    """
    from gwa.evaluation.holdout import copy_jobs
    from gwa.evaluation.job_arrays import JobArrays

    with copy_jobs(store, f"select {', '.join(_known(store))} {EARLIEST}", _known(store)) as some:
        real = JobArrays.of(some)
        if len(real) < Model.minimum_jobs:
            yield Note(f"{len(real)} jobs ran at a known time: too few for a model.")
            return
        yield Note(f"Models are fitted to {len(real):,} jobs, and make as many with seed {SEED}.")
        made, refused = _made(some, real)
    yield from (Note(reason) for reason in refused)
    if made:
        yield from _shown(real, made)


EARLIEST: Final = f"from ran where submit_time is not null order by submit_time, job_id limit {MOST}"


def _known(store: Store) -> list[str]:
    """Return the fields that jobs record, those first that there must be."""
    return [name for name, known in store.known.items() if known]


def _made(some: Store, real: "JobArrays") -> tuple[list[ScoredModel], list[str]]:
    """Return the models by how near they come, and why others cannot be fitted."""
    from gwa.evaluation.job_arrays import JobArrays
    from gwa.evaluation.scorecard import Reference
    from gwa.models.generate import GenerationRequest
    from gwa.models.streams import Extent

    reference = Reference.of(real)
    made, refused = [], []
    for kind in models().values():
        try:
            fitted = kind.fit(some)
        except ModelError as error:
            refused.append(f"{kind.title}: {error}.")
            continue
        blocks = GenerationRequest(fitted, Extent(jobs=len(real)), SEED).blocks()
        jobs = JobArrays.from_blocks(blocks, real.cpus)
        made.append(ScoredModel(fitted, jobs, reference.score(jobs)))
    return sorted(made, key=lambda one: one.floors), refused


def _shown(real: "JobArrays", made: list[ScoredModel]) -> Iterator[Block]:
    """Yield the comparison of models, the scorecard of the nearest, curves, and parameters."""
    yield Table("models", "How near the models come", COLUMNS, tuple(map(_row, made)), NOTE)
    yield Facts(tuple(fact for one in made for fact in _facts(one)), listed=False)
    yield Note(f"The nearest is {made[0].model.title}; its scorecard follows.")
    yield from made[0].card.blocks()
    yield from _curves(real, made[:SHOWN])
    rows = tuple((one.model.title, *row) for one in made for row in _parameters(one.model))
    yield Table("model-parameters", "Fitted parameters", PARAMETERS, rows, WHOLE)
    yield Note(COMMANDS.format(name=made[0].model.name))


PARAMETERS: Final = (
    Column("model", "Model"),
    Column("parameter", "Parameter"),
    Column("value", "Value"),
    Column("meaning", "Meaning"),
)

WHOLE: Final = "Of long lists the length is told; they stand in what gwa model fit writes."

COMMANDS: Final = (
    "To make more such jobs: gwa model fit TRACE {name} -o {name}.json, then gwa generate {name}.json"
    " --days 30 --seed 1 -o synthetic.gwf, and gwa score TRACE synthetic.gwf. All models: gwa model list."
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


def _row(one: ScoredModel) -> tuple[Value, ...]:
    counts = one.card.counts()
    within = counts["equal"] + counts["within noise"]
    return (one.model.title, number(one.floors), within, counts["near"], counts["off"], counts["missing"])


def _facts(one: ScoredModel) -> Iterator[Fact]:
    """Yield the distances of a model as facts."""
    from gwa.evaluation.scorecard import title

    prefix, name = f"model.{one.model.name}", one.model.title
    yield Fact(f"{prefix}.noise_floors", number(one.floors), f"{name}: noise floors away")
    for line in one.card.lines:
        id_, value = line.measure.id.replace("-", "_"), line.distance
        yield Fact(
            f"{prefix}.{id_}", None if value is None else number(value), f"{name}: {title(line.measure)}"
        )


def _curves(real: "JobArrays", made: list[ScoredModel]) -> Iterator[Figure]:
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


def _values(jobs: "JobArrays", name: str) -> Floats:
    if name == "gaps":
        return np.diff(jobs.submit)
    return jobs.run if name == "run-time" else jobs.procs.astype(np.float64)


def _parameters(said: Parameters, path: str = "") -> Iterator[tuple[Value, ...]]:
    """Yield the path, the value and the meaning of each parameter; of long lists only how long they are."""
    for name, (_, quantity) in described(type(said)).items():
        value, at = getattr(said, name), path + name
        parts = isinstance(value, tuple) and isinstance(value[0], Parameters)
        if isinstance(value, Parameters) and not isinstance(value, Knots):
            yield from _parameters(value, f"{at}.")
        elif parts and len(value) < MANY:
            for place, one in enumerate(value):
                yield from _parameters(one, f"{at}[{place}].")
        elif value is not None:
            yield at, _in_words(value), str(quantity) if quantity else ""


def _in_words(value: object) -> str:
    """Return a number, numbers, a curve or a distribution in words."""
    if isinstance(value, Knots):
        least, median, most = (_in_words(one) for one in value.quantiles(np.array([0.0, 0.5, 1.0])).tolist())
        return f"{least} to {most}, median {median} ({len(value.values)} knots)"
    if isinstance(value, Distribution):
        known = [f"{name} {_in_words(number)}" for name, number in value.values().items()]
        return f"{value.title}: {', '.join(known)}"
    if isinstance(value, tuple):
        some = not isinstance(value[0], Parameters) and len(value) < LONG
        return ", ".join(map(_in_words, value)) if some else f"{len(value)} of them"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= GREAT else f"{value:.4g}"
    return str(value)
