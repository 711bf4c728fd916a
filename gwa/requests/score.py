"""How near one trace of requests is to another: a distance for each of some measures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from gwa.evaluation.measure import DIFFERENCE, KS, RATIO, Distance, Statistic
from gwa.requests.measured import (
    SUCCESSIVE,
    SubmissionSpan,
    dispersion,
    gaps,
    rank_correlation,
    requests_per,
)
from gwa.statistics.sample import Sample
from gwa.store.requests import recorded
from gwa.store.store import Store
from gwa.util.units import HOUR, MINUTE


@dataclass(frozen=True)
class RequestMeasure:
    """A statistic of requests, and the distance of two of its values."""

    id: str
    distance: Distance
    of: Callable[[Store], Statistic | None]


@dataclass(frozen=True)
class RequestScoreLine:
    """A measure of two traces: of samples the medians are shown."""

    measure: str
    real: float | None
    synthetic: float | None
    by: str
    distance: float | None


def _sample(name: str) -> Callable[[Store], Sample | None]:
    """Return what measures the values of a field; None where no request has one."""
    return lambda store: store.sample(name, "requests") if recorded(store)[name] else None


def _per_hour(store: Store) -> float | None:
    """Return the requests an hour, from the first to the last."""
    extent = SubmissionSpan.of(store)
    return store.account.jobs / extent.seconds * HOUR if extent.seconds else None


def _dispersion(length: int) -> Callable[[Store], float | None]:
    def measured(store: Store) -> float | None:
        extent = SubmissionSpan.of(store)
        return dispersion(requests_per(store, extent, length)) if extent.intervals(length) > 1 else None

    return measured


MEASURES: Final = (
    RequestMeasure("requests an hour", RATIO, _per_hour),
    RequestMeasure("gap", KS, gaps),
    RequestMeasure(
        "gap after gap", DIFFERENCE, lambda store: rank_correlation(store, "gap", "earlier", SUCCESSIVE)
    ),
    RequestMeasure("dispersion in a minute", RATIO, _dispersion(MINUTE)),
    RequestMeasure("dispersion in an hour", RATIO, _dispersion(HOUR)),
    RequestMeasure("tokens in", KS, _sample("tokens_in")),
    RequestMeasure("tokens out", KS, _sample("tokens_out")),
    RequestMeasure(
        "tokens in and out", DIFFERENCE, lambda store: rank_correlation(store, "tokens_in", "tokens_out")
    ),
    RequestMeasure("latency", KS, _sample("latency")),
    RequestMeasure("time to the first token", KS, _sample("first_token")),
)
"""What is compared; a measure that one of the traces does not have is left empty."""


def statistics_of(store: Store) -> list[Statistic | None]:
    """Return what each measure finds in a trace, None where it does not tell."""
    found = [measure.of(store) for measure in MEASURES]
    return [None if isinstance(one, Sample) and not one.n else one for one in found]


def score_requests(
    real: Sequence[Statistic | None], synthetic: Sequence[Statistic | None]
) -> list[RequestScoreLine]:
    """Return a line for each measure of two traces, of which `statistics_of` is given."""
    lines = []
    for measure, one, other in zip(MEASURES, real, synthetic, strict=True):
        distance = None if one is None or other is None else measure.distance(one, other)
        lines.append(
            RequestScoreLine(measure.id, _shown(one), _shown(other), measure.distance.name, distance)
        )
    return lines


def _shown(value: Statistic | None) -> float | None:
    """Return the number that stands for a statistic."""
    if not isinstance(value, Sample):
        return value
    return value.median()
