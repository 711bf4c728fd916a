"""
The comparison of queues: made jobs against those that they were made from, beside the log's own weeks.

Two floors stand beside each number. *Own weeks*: the weeks of the log, in blocks of two, drawn with
replacement twenty times; a model that knew all of the log but the order of its weeks would differ as much.
*The other half* of the log, which no model has seen: of fifteen stretches of public logs it waits longer or
shorter than the first by a factor of 1.5 in the median, so that a held-out ratio within that says nothing of
a model.

A number is off where its mean over seeds lies beyond a factor of 1.25 (differences: beyond .1), and farther
from the mean of the own weeks than 1.96 times the standard deviation of one draw of these and the standard
error of the mean together. That is lenient where seeds scatter, which is why `QueueCard.spread` stands beside
it.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import fmean, stdev
from typing import Any, Final, Self

import numpy as np

from gwa.evaluation.job_arrays import JobArrays
from gwa.evaluation.queues.numbers import (
    LEFT_OUT,
    Numbers,
    QueueNumber,
    Scale,
    catalogue,
    key,
    left_out,
    numbers,
)
from gwa.evaluation.queues.own_weeks import draw_weeks, halves
from gwa.evaluation.queues.replay import LOADS, POLICIES

DRAWS: Final = 20
"""Draws of the log's own weeks that make the band."""

MINIMUM_SEEDS: Final = 5
"""Workloads of a model from which something is said of it."""

SEED: Final = 64

MINIMUM_DIFFERENCE: Final = {Scale.RATIO: math.log(1.25), Scale.WAIT: math.log(1.25), Scale.DIFFERENCE: 0.1}
"""What is nearer than this on its scale is not off."""

NORMAL: Final = 1.96
"""Standard deviations that hold 95 % of a normal distribution."""

WITHIN, OFF, UNKNOWN = "within own weeks", "off", "not measured"

EASY_WAIT: Final = "waits.easy.mean"
HEADLINES: Final = (
    EASY_WAIT,
    "slowdown.easy.mean",
    "policies.sjf_over_easy",
    "policies.conservative_over_easy",
)
"""The numbers that models are ranked by, at the first load; the first is said in words."""

ORDERED: Final = ("waits.{}.mean", "waits.{}.p95", "slowdown.{}.mean")
"""Numbers by which policies are put in order."""

MINIMUM_DECIDED: Final = math.log(1.05)
"""Policies that are nearer are in no order."""


@dataclass(frozen=True)
class QueueReference:
    """
    What made jobs are compared with: the numbers of the *real* jobs that they were made from.

    *draws* are the numbers of their own weeks, drawn again: none where there are fewer than six. *other* are
    those of the other half, with the numbers of *half* that it is the other one of: the real jobs where a
    part was held out (*is_held_out*), else the first half of them.
    """

    real: Numbers
    draws: tuple[Numbers, ...] = ()
    half: Numbers | None = None
    other: Numbers | None = None
    is_held_out: bool = False

    @classmethod
    def of(cls, real: JobArrays, held_out: JobArrays | None = None, policies: Sequence[str] = ()) -> Self:
        """
        Measure the *real* jobs, and what was *held_out* if something was.

        *policies* are further ones, of one's own. Raise `SimulationError` for what they do wrong.
        """
        measured = numbers(real, policies)
        unused = left_out(measured)
        draws = tuple(drawn_again(real, range(DRAWS), policies, unused))
        if held_out is not None:
            other = numbers(held_out.with_cpus(real.cpus), policies, unused)
            return cls(measured, draws, measured, other, is_held_out=True)
        parts = halves(real)
        if parts is None:
            return cls(measured, draws)
        first, second = (numbers(part, policies, unused) for part in parts)
        return cls(measured, draws, first, second)

    @property
    def left_out(self) -> frozenset[str]:
        """The policies, with their loads, that jobs are not compared under: `numbers.left_out`."""
        return left_out(self.real, *self.draws)

    @classmethod
    def of_plain(cls, fields: Mapping[str, Any]) -> Self:
        """Return a reference from its fields, as JSON holds them."""
        return cls(**{**fields, "draws": tuple(fields["draws"])})


def drawn_again(
    real: JobArrays, draws: range, policies: Sequence[str] = (), but: Collection[str] = frozenset()
) -> Iterator[Numbers]:
    """
    Yield the numbers of own weeks of *real* jobs; each of the *draws* is that of its number, always.

    They have no numbers of policies that are left out of the real jobs (*but*).
    """
    for draw in draws:
        weeks = draw_weeks(real, np.random.default_rng((SEED, draw)))
        if weeks is not None:
            yield numbers(weeks, policies, but)


def other_draws(
    real: JobArrays, policies: Sequence[str] = (), but: Collection[str] = frozenset()
) -> list[Numbers]:
    """Return own weeks in place of the seeds of a model: other draws than those that make the band."""
    return list(drawn_again(real, range(DRAWS, DRAWS + MINIMUM_SEEDS), policies, but))


@dataclass(frozen=True)
class QueueLine:
    """
    One *number* of made jobs beside that of the real ones.

    *real* is its value, *made* the values of each seed. *seeds*, *own* and *other* are differences from the
    real value on the scale of the number: of the seeds, of the draws of own weeks, and of the other half from
    its own one. *held_out* is the mean difference of the seeds from what was held out. None is unknown.
    """

    number: QueueNumber
    real: float | None
    made: tuple[float, ...]
    seeds: tuple[float, ...]
    own: tuple[float, ...]
    held_out: float | None
    other: float | None

    @property
    def mean(self) -> float | None:
        """The mean difference of the seeds on the scale."""
        return fmean(self.seeds) if self.seeds else None

    @property
    def deviation(self) -> float | None:
        """The standard deviation of that of one seed, None of fewer than two."""
        return stdev(self.seeds) if len(self.seeds) > 1 else None

    @property
    def own_deviation(self) -> float | None:
        """The standard deviation of one draw of own weeks, None if not half of them have the number."""
        return stdev(self.own) if len(self.own) > DRAWS // 2 else None

    @property
    def band(self) -> tuple[float, float] | None:
        """What 95 % of draws of own weeks are between, as it is read, None where it is unknown."""
        if (deviation := self.own_deviation) is None:
            return None
        middle = fmean(self.own)
        low, high = middle - NORMAL * deviation, middle + NORMAL * deviation
        return self.number.scale.shown(low), self.number.scale.shown(high)

    @property
    def is_off(self) -> bool:
        """Whether the number is off by the rule of this module; never where it is unknown."""
        if self.mean is None or self.own_deviation is None:
            return False
        error = math.hypot(self.own_deviation, (self.deviation or 0.0) / math.sqrt(len(self.seeds)))
        is_far = abs(self.mean - fmean(self.own)) > NORMAL * error
        return is_far and abs(self.mean) > MINIMUM_DIFFERENCE[self.number.scale]

    @property
    def verdict(self) -> str:
        """`WITHIN`, `OFF` or `UNKNOWN`."""
        if self.mean is None or self.own_deviation is None:
            return UNKNOWN
        return OFF if self.is_off else WITHIN

    def shown(self, difference: float | None) -> float | None:
        """Return a difference as it is read: a ratio, or the difference; None of None."""
        return None if difference is None else self.number.scale.shown(difference)


@dataclass(frozen=True)
class QueueCard:
    """The comparison of the *made* workloads of one generator, a seed each, with a *reference*."""

    reference: QueueReference
    made: tuple[Numbers, ...]
    policies: tuple[str, ...] = ()

    @cached_property
    def lines(self) -> tuple[QueueLine, ...]:
        """All numbers that the real jobs have, but those `left_out`, in the order of the catalogue."""
        found = [self._line(one) for one in catalogue(self.policies)]
        return tuple(line for line in found if line.real is not None)

    @cached_property
    def left_out(self) -> frozenset[str]:
        """The policies, with their loads, of which some workload has no numbers: they are not compared."""
        return self.reference.left_out | left_out(*self.made)

    def _is_left_out(self, policy: str | None, load: float | None) -> bool:
        """Whether a policy is `left_out` at a load; never where either is None."""
        return None not in (policy, load) and key(LEFT_OUT.format(policy), load or 0.0) in self.left_out

    def _line(self, number: QueueNumber) -> QueueLine:
        reference = self.reference
        if self._is_left_out(number.policy, number.load):
            return QueueLine(number, None, (), (), (), None, None)
        real, half, other = (one or {} for one in (reference.real, reference.half, reference.other))
        held_out = _differences(number, other, self.made) if reference.is_held_out else ()
        return QueueLine(
            number,
            real.get(number.key),
            tuple(made[number.key] for made in self.made if number.key in made),
            _differences(number, real, self.made),
            _differences(number, real, reference.draws),
            fmean(held_out) if held_out else None,
            number.between(half, other),
        )

    def line(self, name: str, load: float | None = LOADS[0]) -> QueueLine:
        """Return the line of a number by its id, at a *load* if it has one."""
        return next(self._line(one) for one in catalogue(self.policies) if (one.id, one.load) == (name, load))

    @property
    def spread(self) -> float | None:
        """
        How much seeds vary in their mean wait under EASY, relative to own weeks; above 1 more than these.

        None of fewer than five seeds, and where the log has no own weeks.
        """
        waits = self.line(EASY_WAIT)
        if len(waits.seeds) < MINIMUM_SEEDS or not waits.own_deviation:
            return None
        return stdev(waits.seeds) / waits.own_deviation

    @cached_property
    def order(self) -> tuple[int, int]:
        """
        In how many cases two policies are in the log's order, and of how many that the log decides.

        A case is a pair of policies, a number of `ORDERED`, a load and a seed. It is decided where 95 % of
        the draws of own weeks agree, and the two are at least 5 % apart.
        """
        right = cases = 0
        for load in LOADS:
            for number in ORDERED:
                compared = [one for one in (*POLICIES, *self.policies) if not self._is_left_out(one, load)]
                for pair in combinations(compared, 2):
                    keys = key(number.format(pair[0]), load), key(number.format(pair[1]), load)
                    sign = _decided(self.reference, keys)
                    found = [gap for made in self.made if (gap := _gap(made, keys)) is not None]
                    right += sum(gap * sign > 0 for gap in found)
                    cases += len(found) if sign else 0
        return right, cases


def _differences(number: QueueNumber, real: Numbers, others: Sequence[Numbers]) -> tuple[float, ...]:
    """Return how far each of *others* is from the *real* jobs, of those of which it is known."""
    found = (number.between(real, other) for other in others)
    return tuple(one for one in found if one is not None)


def _decided(reference: QueueReference, pair: tuple[str, str]) -> int:
    """Return 1 or -1 where the second number of a pair is surely the larger or smaller one, else 0."""
    real = _gap(reference.real, pair)
    gaps = [gap for draw in reference.draws if (gap := _gap(draw, pair)) is not None]
    if real is None or not gaps or abs(real) < MINIMUM_DECIDED:
        return 0
    low, high = np.quantile(gaps, (0.025, 0.975))
    return 0 if low * high <= 0 else 1 if real > 0 else -1


def _gap(found: Numbers, pair: tuple[str, str]) -> float | None:
    """Return the logarithm of the ratio of two numbers, a minute added to waits; None if one is unknown."""
    scale = Scale.WAIT if pair[0].startswith("waits.") else Scale.RATIO
    one, other = (scale.position(found[name]) if name in found else math.nan for name in pair)
    return other - one if math.isfinite(other - one) else None
