"""How near one trace of requests is to another: a distance for each of some measures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from gwa.evaluation.measure import DIFFERENCE, KS, RATIO, Distance, Statistic
from gwa.requests.measured import (
    HELD,
    LATER,
    LENGTHS,
    PAUSES,
    SCALES,
    SUCCESSIVE,
    SubmissionSpan,
    dispersion,
    gaps,
    rank_correlation,
)
from gwa.requests.redrawn import floor
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
    """
    A measure of two traces: of samples the medians are shown.

    The *floor* of an index of dispersion is what 95 of 100 traces do not exceed that are made of the real
    one's own hours, drawn again.
    """

    measure: str
    real: float | None
    synthetic: float | None
    by: str
    distance: float | None
    floor: float | None


def _sample(name: str) -> Callable[[Store], Sample | None]:
    """Return what measures the values of a field; None where no request has one."""
    return lambda store: store.sample(name, "requests") if recorded(store)[name] else None


def _per_hour(store: Store) -> float | None:
    """Return the requests an hour, from the first to the last."""
    extent = SubmissionSpan.of(store)
    return store.account.jobs / extent.seconds * HOUR if extent.seconds else None


def _dispersion(length: int) -> Callable[[Store], float | None]:
    return lambda store: dispersion(store, SubmissionSpan.of(store), length)


def _in_sessions(expression: str, table: str) -> Callable[[Store], Sample | None]:
    """Return what measures a value of sessions; None where no request is of one."""
    return lambda store: store.sample(expression, table) if recorded(store)["session_id"] else None


def _held(store: Store) -> float | None:
    """Return the share of the blocks of prompts that an unlimited cache of prefixes holds."""
    blocks, held = store.row(f"select sum(blocks)::bigint, sum(held)::bigint from {HELD} as held")
    return held / blocks if blocks else None


DISPERSIONS: Final = {f"dispersion in {SCALES[length]}": length for length in (10, MINUTE, 10 * MINUTE, HOUR)}
"""The measures of indices of dispersion, and their lengths of interval in seconds."""

MEASURES: Final = (
    RequestMeasure("requests an hour", RATIO, _per_hour),
    RequestMeasure("gap", KS, gaps),
    RequestMeasure(
        "gap after gap", DIFFERENCE, lambda store: rank_correlation(store, "gap", "earlier", SUCCESSIVE)
    ),
    *(RequestMeasure(name, RATIO, _dispersion(length)) for name, length in DISPERSIONS.items()),
    RequestMeasure("tokens in", KS, _sample("tokens_in")),
    RequestMeasure("tokens out", KS, _sample("tokens_out")),
    RequestMeasure(
        "tokens in and out", DIFFERENCE, lambda store: rank_correlation(store, "tokens_in", "tokens_out")
    ),
    RequestMeasure("latency", KS, _sample("latency")),
    RequestMeasure("time to the first token", KS, _sample("first_token")),
    RequestMeasure("requests of a session", KS, _in_sessions("requests", LENGTHS)),
    RequestMeasure("pause in a session", KS, _in_sessions("pause", PAUSES)),
    RequestMeasure("tokens in of later turns", KS, _in_sessions("tokens_in", LATER)),
    RequestMeasure("blocks held by a cache", DIFFERENCE, _held),
)
"""What is compared; a measure that one of the traces does not have is left empty."""


def statistics_of(store: Store) -> list[Statistic | None]:
    """Return what each measure finds in a trace, None where it does not tell."""
    found = [measure.of(store) for measure in MEASURES]
    return [None if isinstance(one, Sample) and not one.n else one for one in found]


def floors_of(store: Store) -> dict[str, float]:
    """Return the floors of a trace by their measures; those of intervals longer than what is redrawn lack."""
    found = {name: floor(store, length) for name, length in DISPERSIONS.items()}
    return {name: value for name, value in found.items() if value is not None}


def score_requests(
    real: Sequence[Statistic | None],
    synthetic: Sequence[Statistic | None],
    floors: Mapping[str, float] = MappingProxyType({}),
) -> list[RequestScoreLine]:
    """Return a line for each measure of two traces, given `statistics_of` both and `floors_of` the real."""
    lines = []
    for measure, one, other in zip(MEASURES, real, synthetic, strict=True):
        distance = None if one is None or other is None else measure.distance(one, other)
        lines.append(
            RequestScoreLine(
                measure.id,
                _shown(one),
                _shown(other),
                measure.distance.name,
                distance,
                floors.get(measure.id),
            )
        )
    return lines


def _shown(value: Statistic | None) -> float | None:
    """Return the number that stands for a statistic."""
    if not isinstance(value, Sample):
        return value
    return value.median()
