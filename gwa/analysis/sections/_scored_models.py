"""Models fitted to a workload, and how near the jobs that they make come to it, as sections show it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from gwa.errors import ModelError
from gwa.models.base import Model
from gwa.models.knots import Knots
from gwa.models.parameters import Parameters, described
from gwa.report.document import Column, Fact, Figure
from gwa.report.facts import number
from gwa.report.figures.cdf import cdf
from gwa.statistics.distribution import Distribution
from gwa.statistics.sample import Floats, Sample
from gwa.store.store import Store
from gwa.words.formatting import number as number_text
from gwa.words.message import joined, message, within_sentence
from gwa.words.unit import Unit, Value

if TYPE_CHECKING:  # what compares workloads takes long to import
    from gwa.evaluation.job_arrays import JobArrays
    from gwa.evaluation.scorecard import Scorecard

SEED: Final = 1

MAXIMUM_PARTS, MAXIMUM_VALUES = 5, 8
"""Longer lists of parts, such as clusters, and of numbers are counted, not printed."""

WHOLE_NUMBERS_FROM: Final = 10_000
"""Greater numbers are printed without a fraction."""


@contextmanager
def earliest(store: Store, maximum: int) -> Iterator[Store]:
    """Yield a store with the first jobs that ran at a known time, at most *maximum*."""
    from gwa.evaluation.holdout import copy_jobs

    fields = [name for name, jobs in store.known.items() if jobs]
    order = f"from ran where submit_time is not null order by submit_time, job_id limit {maximum}"
    with copy_jobs(store, f"select {', '.join(fields)} {order}", fields) as sample:
        yield sample


@dataclass(frozen=True)
class ScoredModel:
    """A fitted *model*, the *jobs* that it makes, and their scorecard (*card*)."""

    model: Model
    jobs: "JobArrays"
    card: "Scorecard"

    @property
    def floors(self) -> float:
        """The distance in noise floors, in the median over measures."""
        return self.card.floors()


def score_models(
    sample: Store, real: "JobArrays", kinds: Iterable[type[Model]]
) -> tuple[list[ScoredModel], list[str]]:
    """Return the models of these *kinds*, the nearest first, and the reasons why others cannot be fitted."""
    from gwa.evaluation.job_arrays import JobArrays
    from gwa.evaluation.scorecard import Reference
    from gwa.models.generate import GenerationRequest
    from gwa.models.streams import Extent

    reference = Reference.of(real)
    scored: list[ScoredModel] = []
    refused: list[str] = []
    for kind in kinds:
        try:
            fitted = kind.fit(sample)
        except ModelError as error:
            refused.append(message("{title}: {error}.", title=kind.title, error=error.args[0]))
            continue
        blocks = GenerationRequest(fitted, Extent(jobs=len(real)), SEED).blocks()
        jobs = JobArrays.from_blocks(blocks, real.cpus)
        scored.append(ScoredModel(fitted, jobs, reference.score(jobs)))
    return sorted(scored, key=lambda scored_model: scored_model.floors), refused


PARAMETER_COLUMNS: Final = (
    Column("model", "Model"),
    Column("parameter", "Parameter"),
    Column("value", "Value"),
    Column("meaning", "Meaning"),
)

PARAMETER_NOTE: Final = message("Of long lists the length is told; they stand in what gwa model fit writes.")

COLUMNS: Final = (
    Column("model", "Model"),
    Column("floors", "Noise floors away"),
    Column("equal", "Equal or within noise"),
    Column("near", "Near"),
    Column("off", "Off"),
    Column("missing", "Missing"),
)

DISTANCE_NOTE: Final = message(
    "Noise floors away is the median over measures of distance over noise floor; 1 is as good as can be."
)


def row(scored: ScoredModel) -> tuple[Value, ...]:
    counts = scored.card.counts()
    within = counts["equal"] + counts["within noise"]
    further = (counts[name] for name in ("near", "off", "missing"))
    return (scored.model.title, number(scored.floors), within, *further)


def facts(scored_model: ScoredModel) -> Iterator[Fact]:
    """Yield the distances of a model as facts."""
    from gwa.evaluation.scorecard import title

    prefix, name = f"model.{scored_model.model.name}", scored_model.model.title
    yield Fact(
        f"{prefix}.noise_floors", number(scored_model.floors), message("{name}: noise floors away", name=name)
    )
    for line in scored_model.card.lines:
        id_, value = line.measure.id.replace("-", "_"), line.distance
        yield Fact(
            f"{prefix}.{id_}",
            None if value is None else number(value),
            message("{name}: {measure}", name=name, measure=title(line.measure)),
        )


def curves(real: "JobArrays", scored: list[ScoredModel], prefix: str = "model") -> Iterator[Figure]:
    """Yield real and synthetic distribution functions, as figures whose ids begin with *prefix*."""
    jobs = {"real": real, **{item.model.name: item.jobs for item in scored}}
    for name, label, unit in CURVES:
        samples = {source: Sample.of(_values(item, name)) for source, item in jobs.items()}
        yield cdf(
            f"{prefix}-{name}",
            message("{label}, real and synthetic", label=label),
            {source: sample.ecdf() for source, sample in samples.items() if sample.n},
            label,
            message(
                "Cumulative distribution of {lower}, real and of {jobs}.",
                lower=within_sentence(label),
                jobs=joined(", ", list(jobs)[1:]),
            ),
            unit=unit,
        )


CURVES: Final[tuple[tuple[str, str, Unit], ...]] = (
    ("run-time", message("Run time"), "seconds"),
    ("processors", message("Processors"), ""),
    ("gaps", message("Time between jobs"), "seconds"),
)


def _values(jobs: "JobArrays", name: str) -> Floats:
    if name == "gaps":
        return np.diff(jobs.submit)
    return jobs.run if name == "run-time" else jobs.procs.astype(np.float64)


def parameter_rows(parameters: Parameters, path: str = "") -> Iterator[tuple[Value, ...]]:
    """Yield the path, the value and the meaning of each parameter; for long lists, their length."""
    for name, (_, quantity) in described(type(parameters)).items():
        value, full_path = getattr(parameters, name), path + name
        is_list = isinstance(value, tuple) and _has_parts(value)
        if isinstance(value, Parameters) and not isinstance(value, Knots):
            yield from parameter_rows(value, f"{full_path}.")
        elif is_list and len(value) < MAXIMUM_PARTS:
            for index, part in enumerate(value):
                yield from parameter_rows(part, f"{full_path}[{index}].")
        elif value is not None:
            yield full_path, _in_words(value), str(quantity) if quantity else ""


def _has_parts(values: tuple[object, ...]) -> bool:
    """Whether *values* are parameters of parts of a model, not numbers."""
    return any(isinstance(part, Parameters) for part in values)


def _in_words(value: object) -> str:
    """Return a number, numbers, a curve or a distribution in words."""
    if isinstance(value, Knots):
        low, median, high = map(_in_words, value.quantiles(np.array([0.0, 0.5, 1.0])).tolist())
        return message(
            "{low} to {high}, median {median} ({values} knots)",
            low=low,
            high=high,
            median=median,
            values=number_text(len(value.values)),
        )
    if isinstance(value, Distribution):
        arguments = [
            message("{name} {number}", name=name, number=_in_words(number))
            for name, number in value.values().items()
        ]
        return message("{title}: {arguments}", title=value.title, arguments=joined(", ", arguments))
    if isinstance(value, tuple):
        if not value:
            return message("none")
        is_short = not _has_parts(value) and len(value) < MAXIMUM_VALUES
        return (
            joined(", ", map(_in_words, value))
            if is_short
            else message("{value} of them", value=number_text(len(value)))
        )
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= WHOLE_NUMBERS_FROM else f"{value:.4g}"
    return str(value)
