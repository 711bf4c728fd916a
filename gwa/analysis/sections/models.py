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

MAXIMUM_JOBS: Final = 20_000
"""Models are fitted to the first jobs of a longer trace."""

SEED: Final = 1

MAXIMUM_DRAWN: Final = 3
"""Only the nearest models are drawn."""

MAXIMUM_PARTS, MAXIMUM_VALUES = 5, 8
"""Longer lists of parts, such as clusters, and of numbers are counted, not printed."""

WHOLE_NUMBERS_FROM: Final = 10_000
"""Greater numbers are printed without a fraction."""


@dataclass(frozen=True)
class ScoredModel:
    """A fitted *model*, the *jobs* that it makes, and their scorecard (*card*)."""

    model: Model
    jobs: "JobArrays"
    card: "Scorecard"

    @property
    def floors(self) -> float:
        """The distance in noise floors, in the median over measures."""
        return median(
            float("inf") if line.distance is None else line.distance / line.floor.height
            for line in self.card.lines
            if line.real is not None and line.floor.height
        )


@analysis("Models", Chapter.SYNTHETIC, facts=("model",), needs=("submit_time", "run_time"), on_request=True)
def models_of_the_workload(store: Store) -> Iterator[Block]:
    """
    Every model fitted to the first 20,000 jobs that ran, and how far the jobs that it makes are from them.

    Distances are those of 'gwa score', in-sample, so that a model with more parameters may come nearer
    than it would to other weeks; 'gwa leaderboard' tells that. Beside each number stands the noise floor, the
    distance between two halves of the trace.
    """
    from gwa.evaluation.holdout import copy_jobs
    from gwa.evaluation.job_arrays import JobArrays

    fields = [name for name, jobs in store.known.items() if jobs]
    with copy_jobs(store, f"select {', '.join(fields)} {EARLIEST}", fields) as sample:
        real = JobArrays.of(sample)
        if len(real) < Model.minimum_jobs:
            yield Note(f"{len(real)} jobs ran at a known time: too few for a model.")
            return
        yield Note(f"Models are fitted to {len(real):,} jobs, and make as many with seed {SEED}.")
        scored, refused = _score_models(sample, real)
    yield from (Note(reason) for reason in refused)
    if scored:
        yield from _blocks(real, scored)


EARLIEST: Final = f"from ran where submit_time is not null order by submit_time, job_id limit {MAXIMUM_JOBS}"


def _score_models(sample: Store, real: "JobArrays") -> tuple[list[ScoredModel], list[str]]:
    """Return the models, the nearest first, and the reasons why others cannot be fitted."""
    from gwa.evaluation.job_arrays import JobArrays
    from gwa.evaluation.scorecard import Reference
    from gwa.models.generate import GenerationRequest
    from gwa.models.streams import Extent

    reference = Reference.of(real)
    scored, refused = [], []
    for kind in models().values():
        try:
            fitted = kind.fit(sample)
        except ModelError as error:
            refused.append(f"{kind.title}: {error}.")
            continue
        blocks = GenerationRequest(fitted, Extent(jobs=len(real)), SEED).blocks()
        jobs = JobArrays.from_blocks(blocks, real.cpus)
        scored.append(ScoredModel(fitted, jobs, reference.score(jobs)))
    return sorted(scored, key=lambda scored_model: scored_model.floors), refused


def _blocks(real: "JobArrays", scored: list[ScoredModel]) -> Iterator[Block]:
    """Yield the comparison of models, the scorecard of the nearest, curves, and parameters."""
    yield Table("models", "How near the models come", COLUMNS, tuple(map(_row, scored)), DISTANCE_NOTE)
    yield Facts(tuple(fact for scored_model in scored for fact in _facts(scored_model)), listed=False)
    yield Note(f"The nearest is {scored[0].model.title}; its scorecard follows.")
    yield from scored[0].card.blocks()
    yield from _curves(real, scored[:MAXIMUM_DRAWN])
    fitted = [scored_model.model for scored_model in scored]
    rows = tuple((model.title, *row) for model in fitted for row in _parameters(model))
    yield Table("model-parameters", "Fitted parameters", PARAMETER_COLUMNS, rows, PARAMETER_NOTE)
    yield Note(COMMANDS_NOTE.format(name=scored[0].model.name))


PARAMETER_COLUMNS: Final = (
    Column("model", "Model"),
    Column("parameter", "Parameter"),
    Column("value", "Value"),
    Column("meaning", "Meaning"),
)

PARAMETER_NOTE: Final = "Of long lists the length is told; they stand in what gwa model fit writes."

COMMANDS_NOTE: Final = (
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

DISTANCE_NOTE: Final = (
    "Noise floors away is the median over measures of distance over noise floor; 1 is as good as can be."
)


def _row(scored: ScoredModel) -> tuple[Value, ...]:
    counts = scored.card.counts()
    within = counts["equal"] + counts["within noise"]
    further = (counts[name] for name in ("near", "off", "missing"))
    return (scored.model.title, number(scored.floors), within, *further)


def _facts(scored_model: ScoredModel) -> Iterator[Fact]:
    """Yield the distances of a model as facts."""
    from gwa.evaluation.scorecard import title

    prefix, name = f"model.{scored_model.model.name}", scored_model.model.title
    yield Fact(f"{prefix}.noise_floors", number(scored_model.floors), f"{name}: noise floors away")
    for line in scored_model.card.lines:
        id_, value = line.measure.id.replace("-", "_"), line.distance
        yield Fact(
            f"{prefix}.{id_}", None if value is None else number(value), f"{name}: {title(line.measure)}"
        )


def _curves(real: "JobArrays", scored: list[ScoredModel]) -> Iterator[Figure]:
    """Yield real and synthetic distribution functions."""
    jobs = {"real": real, **{item.model.name: item.jobs for item in scored}}
    for name, label, unit in CURVES:
        samples = {source: Sample.of(_values(item, name)) for source, item in jobs.items()}
        yield cdf(
            f"model-{name}",
            f"{label}, real and synthetic",
            {source: sample.ecdf() for source, sample in samples.items() if sample.n},
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


def _parameters(parameters: Parameters, path: str = "") -> Iterator[tuple[Value, ...]]:
    """Yield the path, the value and the meaning of each parameter; for long lists, their length."""
    for name, (_, quantity) in described(type(parameters)).items():
        value, full_path = getattr(parameters, name), path + name
        is_list = isinstance(value, tuple) and isinstance(value[0], Parameters)
        if isinstance(value, Parameters) and not isinstance(value, Knots):
            yield from _parameters(value, f"{full_path}.")
        elif is_list and len(value) < MAXIMUM_PARTS:
            for index, part in enumerate(value):
                yield from _parameters(part, f"{full_path}[{index}].")
        elif value is not None:
            yield full_path, _in_words(value), str(quantity) if quantity else ""


def _in_words(value: object) -> str:
    """Return a number, numbers, a curve or a distribution in words."""
    if isinstance(value, Knots):
        low, median, high = map(_in_words, value.quantiles(np.array([0.0, 0.5, 1.0])).tolist())
        return f"{low} to {high}, median {median} ({len(value.values)} knots)"
    if isinstance(value, Distribution):
        arguments = [f"{name} {_in_words(number)}" for name, number in value.values().items()]
        return f"{value.title}: {', '.join(arguments)}"
    if isinstance(value, tuple):
        is_short = not isinstance(value[0], Parameters) and len(value) < MAXIMUM_VALUES
        return ", ".join(map(_in_words, value)) if is_short else f"{len(value)} of them"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= WHOLE_NUMBERS_FROM else f"{value:.4g}"
    return str(value)
