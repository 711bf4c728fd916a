"""The standings of a leaderboard: ranks, and the page that shows them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from gwa.evaluation.leaderboard import REFERENCES, LeaderboardResults
from gwa.evaluation.measure import Aspect, measures
from gwa.evaluation.queues.card import EASY_WAIT, HEADLINES, QueueCard, QueueReference
from gwa.evaluation.queues.numbers import Numbers as QueueNumbers
from gwa.report.document import Block, Column, Fact, FactTable, Report, Section, Table
from gwa.report.facts import number
from gwa.statistics.sample import Floats
from gwa.words.message import Message, Number, Verbatim, joined, message
from gwa.words.unit import Value

LEGEND: Final = message(
    "Mean rank over traces, halves, seeds and aspects, with its standard deviation over seeds. A model that"
    " lacks a field, such as users or requested times, is last in the measures of it: Measures counts those"
    " that a model produces. On common measures: the mean rank on those that most models produce, each aspect"
    " counting once. Then the rank in each aspect. Noise floors: the median of distance over noise floor, 1"
    " being as far as one half of a trace is from the other. Queues: the mean rank in the comparison of"
    " queues, by the distance of waits, slowdowns and of what other policies gain over EASY at 70 % load from"
    " the half that a model was fitted to. Waits: by which factor mean waits are off, too long or too short,"
    " in the geometric mean. Spread: how much seeds vary, relative to the log's own weeks drawn again, in the"
    " median. Waits off: halves on which waits are farther off than these vary. Rows without a rank are not"
    " models."
)

LEAD: Final = message(
    "{best} reproduces held-out weeks best of {models} models: its mean rank is {rank}, 1 being the best,"
    " that of {second}, the next, {other}, {chance}."
)

LEADS: Final = message(
    "{best} reproduce held-out weeks best of {models} models, and equally well: their mean rank is {rank}, 1"
    " being the best, that of {second}, the next, {other}, {chance}."
)

BEYOND: Final = message("which is more than seeds vary")
WITHIN: Final = message("which is no more than seeds vary")
ONE_SEED: Final = message("from one seed, so that it is not known how much seeds vary")

DECIMALS: Final = 2
"""With how many decimals ranks are shown; those that look the same share a place."""

MINIMUM_COMMON_SHARE: Final = 0.5
"""A measure is common where more than this share of the models that could be fitted produce it."""


@dataclass(frozen=True)
class Standings:
    """The results of a leaderboard, models from best to worst and then the references."""

    results: LeaderboardResults

    @cached_property
    def cases(self) -> list[tuple[str, str]]:
        """Every trace with the half that models were fitted to."""
        return list(self.results.floors)

    @cached_property
    def distances(self) -> dict[str, Floats]:
        """The distances of each model or reference by case, seed and measure, infinite if missing."""
        columns = {measure.id: column for column, measure in enumerate(measures())}
        seeds = max((entry.seed for entry in self.results.entries), default=0)
        distances: dict[str, Floats] = {}
        for entry in self.results.entries:
            missing = np.full((len(self.cases), seeds, len(columns)), np.inf)
            cells = distances.setdefault(entry.model, missing)
            for name, distance in entry.distances.items():
                if distance is not None:
                    cells[self.cases.index(entry.case), entry.seed - 1, columns[name]] = distance
        return distances

    @cached_property
    def floors(self) -> Floats:
        """The noise floors by case and measure, nan if unknown; such a measure does not count."""
        return np.array(
            [
                [np.nan if (height := floors[measure.id]) is None else height for measure in measures()]
                for floors in self.results.floors.values()
            ]
        )

    @property
    def _models(self) -> list[str]:
        """The names of the models, without the references."""
        return [name for name in self.distances if name not in REFERENCES]

    @cached_property
    def common(self) -> NDArray[np.bool_]:
        """
        Which measures count in each case because most of the models that could be fitted produce them.

        A model that does not is last there, so that the poorest model does not decide what is compared.
        """
        produced = np.array([np.isfinite(self.distances[name]).all(axis=1) for name in self._models])
        fitted = produced.any(axis=2, keepdims=True)
        share = produced.sum(axis=0) / np.maximum(fitted.sum(axis=0), 1)
        common: NDArray[np.bool_] = (share > MINIMUM_COMMON_SHARE) & ~np.isnan(self.floors)
        return common

    def produced(self, name: str) -> int:
        """Return how many measures the jobs of *name* have in any case, of those that the real jobs have."""
        known = ~np.isnan(self.floors).all(axis=0)
        return int((np.isfinite(self.distances[name]).any(axis=(0, 1)) & known).sum())

    @property
    def lacking(self) -> dict[str, list[str]]:
        """The ids of the measures that a model never produces and another one does: there it is last."""
        known = ~np.isnan(self.floors).all(axis=0)
        finite = {name: np.isfinite(self.distances[name]).any(axis=(0, 1)) for name in self._models}
        possible = known & np.any(list(finite.values()), axis=0)
        return {
            name: [measure.id for measure, lacks in zip(measures(), possible & ~has, strict=True) if lacks]
            for name, has in finite.items()
        }

    @cached_property
    def ranks(self) -> dict[str, Floats]:
        """The mean rank of each model by case, seed and aspect, nan if unknown."""
        return self._rank(~np.isnan(self.floors))

    @cached_property
    def common_ranks(self) -> dict[str, Floats]:
        """The same on the `common` measures."""
        return self._rank(self.common) if self._models else {}

    def _rank(self, known: NDArray[np.bool_]) -> dict[str, Floats]:
        """Return the mean rank of each model by case, seed and aspect, over *known* measures of a case."""
        names = self._models
        if not names:
            return {}
        ranks = rankdata([self.distances[name] for name in names], axis=0)
        means = np.full((*ranks.shape[:3], len(Aspect)), np.nan)
        for column, aspect in enumerate(Aspect):
            inside = known & [measure.aspect is aspect for measure in measures()]
            for case in np.flatnonzero(inside.any(axis=1)):
                means[:, case, :, column] = ranks[:, case][:, :, inside[case]].mean(axis=2)
        return dict(zip(names, means, strict=True))

    def rank(self, name: str) -> tuple[float, float]:
        """Return the mean rank of a model, and its standard deviation over seeds, nan of one seed."""
        by_seed = np.nanmean(np.nanmean(self.ranks[name], axis=2), axis=0)
        return float(by_seed.mean()), float(by_seed.std(ddof=1)) if by_seed.size > 1 else float("nan")

    def common_rank(self, name: str) -> float:
        """Return the mean rank of a model on the `common` measures, nan without any."""
        aspects = [_mean(self.common_ranks[name][:, :, column]) for column in range(len(Aspect))]
        return _mean(np.array(aspects))

    def by_aspect(self, name: str) -> list[float]:
        """Return the mean rank of a model in each aspect."""
        with np.errstate(invalid="ignore"):
            return [_mean(self.ranks[name][:, :, column]) for column in range(len(Aspect))]

    def noise_floors(self, name: str) -> float:
        """
        Return the median distance of the jobs of *name* over measures and cases, in noise floors.

        Distances are means over seeds. If both the distance and the floor are 0, the ratio counts as 1.
        """
        known = ~np.isnan(self.floors)
        distances, floors = self.distances[name].mean(axis=1)[known], self.floors[known]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(distances == floors, 1.0, distances / floors)
        return float(np.median(ratios)) if known.any() else float("nan")

    @cached_property
    def queue_cards(self) -> dict[str, list[QueueCard]]:
        """The comparison of queues of each model or reference in each case, where it has jobs."""
        made: dict[tuple[str, tuple[str, str]], list[QueueNumbers]] = {}
        for entry in self.results.entries:
            if entry.queues:
                made.setdefault((entry.model, entry.case), []).append(entry.queues)
        cards: dict[str, list[QueueCard]] = {}
        for (name, case), seeds in made.items():
            cards.setdefault(name, []).append(QueueCard(self.results.queues[case], tuple(seeds)))
        return cards

    @cached_property
    def queue_ranks(self) -> dict[str, float]:
        """
        The mean rank of each model in the comparison of queues, nan where no trace has one.

        Models are ranked in each case and number of `HEADLINES` by the distance of the mean over seeds; one
        without jobs there is last.
        """
        names = self._models
        if not names or not self.results.queues:
            return dict.fromkeys(names, float("nan"))
        distances = [
            [self._queue_distance(name, reference, number) for name in names]
            for reference in self.results.queues.values()
            for number in HEADLINES
        ]
        ranks = rankdata(distances, axis=1).mean(axis=0)
        return dict(zip(names, map(float, ranks), strict=True))

    def _queue_distance(self, name: str, reference: QueueReference, number: str) -> float:
        """Return how far the seeds of a model are from a reference in their mean, infinite if unknown."""
        cards = [card for card in self.queue_cards.get(name, []) if card.reference is reference]
        means = [mean for card in cards if (mean := card.line(number).mean) is not None]
        return abs(means[0]) if means else float("inf")

    def queues(self, name: str) -> tuple[float | None, float | None, int | None]:
        """
        Return how queues of *name* differ: the factor of waits, the spread of seeds, and where they are off.

        The first is the geometric mean over cases of ratios, each above 1; the second the median over cases;
        the third the number of cases in which waits are off. None is unknown.
        """
        cards = self.queue_cards.get(name, [])
        waits = [card.line(EASY_WAIT) for card in cards]
        means = [abs(line.mean) for line in waits if line.mean is not None]
        spreads = [spread for card in cards if (spread := card.spread) is not None]
        return (
            float(np.exp(np.mean(means))) if means else None,
            float(np.median(spreads)) if spreads else None,
            sum(line.is_off for line in waits) if means else None,
        )

    def queue_rows(self) -> list[tuple[Value, ...]]:
        """Return a row for each model, trace and half with a comparison of queues, under `QUEUE_COLUMNS`."""
        cases = {id(reference): case for case, reference in self.results.queues.items()}
        run_times = [measure.id for measure in measures()].index("run-time")
        rows: list[tuple[Value, ...]] = []
        for name in self.order:
            for card in self.queue_cards.get(name, []):
                case = cases[id(card.reference)]
                waits, load = card.line(EASY_WAIT), card.line("load.kept", None)
                sjf = card.line("policies.sjf_over_easy")
                made = None if sjf.real is None or sjf.mean is None else sjf.real * math.exp(sjf.mean)
                distance = float(self.distances[name][self.cases.index(case), :, run_times].mean())
                cells = waits.shown(waits.mean), card.spread, sjf.real, made, distance, load.shown(load.mean)
                rows.append((name, *case, *map(number, cells)))
        return rows

    @property
    def traces(self) -> list[str]:
        """The names of the traces."""
        return list(dict.fromkeys(trace for trace, _ in self.cases))

    @property
    def order(self) -> list[str]:
        """The names of models from best to worst."""
        return sorted(self.ranks, key=lambda name: self.rank(name)[0])

    def rows(self) -> list[tuple[Value, ...]]:
        """Return a row for each model and each reference, under `COLUMNS`."""
        rows: list[tuple[Value, ...]] = []
        for name in (*self.order, *(name for name in REFERENCES if name in self.distances)):
            ranked = name in self.ranks
            rank: Sequence[Value] = (None, None, None, None, None)
            if ranked:
                common = number(self.common_rank(name))
                places = self._place(name), self.common_places[name] or None
                rank = (places[0], *map(number, self.rank(name)), places[1], common)
            aspects: Sequence[float | None] = self.by_aspect(name) if ranked else [None] * len(Aspect)
            cells = [*aspects, self.noise_floors(name)]
            queues = self.queue_ranks.get(name), *self.queues(name)
            rows.append((name, *rank, self.produced(name), *map(number, cells), *map(number, queues)))
        return rows

    def details(self) -> list[tuple[Value, ...]]:
        """Return a row for each name, case and measure, under `DETAILS`."""
        rows: list[tuple[Value, ...]] = []
        for name, cells in self.distances.items():
            for case, floors, seeds in zip(self.cases, self.floors, cells, strict=True):
                for measure, floor, distances in zip(measures(), floors, seeds.T, strict=True):
                    if not np.isnan(floor):
                        deviation = float(distances.std()) if np.isfinite(distances).all() else np.inf
                        numbers = (float(distances.mean()), deviation, float(floor))
                        rows.append((*case, name, measure.aspect.value, measure.id, *map(number, numbers)))
        return rows

    def report(self) -> Report:
        """Return the page: which model is the best, the ranks of all, then all numbers and what they lack."""
        sections = (
            Section("ranks", message("Ranks"), "", (self._ranks(),), is_on_top=True),
            Section("leaderboard", message("More numbers"), LEGEND, tuple(self._details())),
        )
        return Report(
            message("Leaderboard of models"),
            Verbatim(", ".join(self.traces)),
            sections,
            overline=message("Model comparison"),
            answer=self.answer,
        )

    @cached_property
    def places(self) -> list[tuple[str, list[str]]]:
        """The models by place, such as 1 or 2–3: those whose ranks look the same share one."""
        groups: dict[tuple[str, ...], list[str]] = {}
        for name in self.order:
            ranks = self.rank(name)[0], self.common_rank(name), self.queue_ranks[name]
            shown = (*ranks, *self.by_aspect(name))
            groups.setdefault(tuple(map(_shown, shown)), []).append(name)
        found, place = [], 1
        for names in groups.values():
            last = place + len(names) - 1
            found.append((f"{place}" if last == place else f"{place}–{last}", names))
            place = last + 1
        return found

    @cached_property
    def common_places(self) -> dict[str, str]:
        """The place of each model on the `common` measures, such as 1 or 2–3; empty where none is common."""
        ranks = {name: self.common_rank(name) for name in self.ranks}
        shown = {name: round(rank, DECIMALS) for name, rank in ranks.items() if not np.isnan(rank)}
        found = dict.fromkeys(ranks, "")
        for name, rank in shown.items():
            before = sum(other < rank for other in shown.values())
            last = before + sum(other == rank for other in shown.values())
            found[name] = f"{last}" if last == before + 1 else f"{before + 1}–{last}"
        return found

    def _place(self, name: str) -> str:
        """Return the place of a model by its mean rank."""
        return next(place for place, names in self.places if name in names)

    @cached_property
    def answer(self) -> str:
        """
        Which model is the best, and whether the second is farther behind than seeds vary.

        Where another one is the best on the measures that most models produce, it is named, too.
        """
        if len(self.order) < 2:  # noqa: PLR2004 - a model alone
            return ""
        (_, best), *others = self.places
        if not others:
            return message("All {models} models reproduce held-out weeks equally well.", models=len(best))
        second = others[0][1][0]
        (rank, spread), (other, other_spread) = self.rank(best[0]), self.rank(second)
        is_beyond = other - rank > spread + other_spread
        template = LEAD if len(best) == 1 else LEADS
        answer = message(
            template.template,
            best=joined(message(" and "), map(Verbatim, best)), models=len(self.order), rank=_shown(rank),
            second=second, other=_shown(other),
            chance=ONE_SEED if np.isnan(spread) else BEYOND if is_beyond else WITHIN,
        )  # fmt: skip
        return joined(" ", (answer, *self._distance(best[0]), *self._other_ranking()))

    def _distance(self, name: str) -> Iterator[Message]:
        """Yield how far the best model is from held-out weeks, which its rank does not say."""
        if np.isfinite(floors := self.noise_floors(name)):
            yield message(
                "In the median over measures, {best} is {floors} noise floors from them: 1 is as far as one"
                " half of a trace is from the other.",
                best=name, floors=_shown(floors),
            )  # fmt: skip

    def _other_ranking(self) -> Iterator[Message]:
        """Yield a sentence on the best model on common measures, if that is another one."""
        ranks = {name: rank for name in self.order if not np.isnan(rank := self.common_rank(name))}
        first = min(ranks, key=lambda name: round(ranks[name], DECIMALS), default=self.order[0])
        if first != self.order[0]:
            yield message(
                "On the measures that most models produce, the best is {first}: its mean rank is {rank}"
                " there, that of {best} {other}.",
                first=first,
                rank=_shown(ranks[first]),
                best=self.order[0],
                other=_shown(ranks.get(self.order[0], float("nan"))),
            )

    def _ranks(self) -> FactTable:
        """Return the mean rank of each model, and in each aspect; the darkest are the best."""
        rows = []
        columns = (
            message("Mean rank"),
            message("Noise floors"),
            message("On common measures"),
            *([message("Queues")] if self.results.queues else []),
            *(message(aspect.value) for aspect in Aspect),
        )
        for place, names in self.places:
            values = {
                "mean": self.rank(names[0])[0],
                "floors": self.noise_floors(names[0]),
                "common": self.common_rank(names[0]),
            }
            values |= {"queues": self.queue_ranks[names[0]]} if self.results.queues else {}
            values |= dict(zip((one.name.lower() for one in Aspect), self.by_aspect(names[0]), strict=True))
            texts: dict[str, str] = {key: Number(_shown(value)) for key, value in values.items()}
            if common := self.common_places[names[0]]:
                texts["common"] = message(
                    "{rank} (place {place})", rank=Number(texts["common"]), place=Verbatim(common)
                )
            facts = tuple(
                Fact(f"rank.{names[0]}.{key}", number(value), label, "count", text=texts[key])
                for (key, value), label in zip(values.items(), columns, strict=True)
            )
            rows.append((Verbatim(f"{place}. {', '.join(names)}"), facts))
        note = message(
            "The stronger the colour, the better in a column. Ranks: 1 is the best of {models} models,"
            " {models} the last; on common measures, those that most models produce, with the place. Noise"
            " floors: how far a model is from held-out weeks, 1 being as far as one half of a trace is from"
            " the other.",
            models=len(self.order),
        )
        title = message("Mean ranks, distance, and the rank in each aspect")
        return FactTable("ranks", title, columns, tuple(rows), note, darkest="least")

    def _details(self) -> Iterator[Block]:
        """Yield the whole table, what models lack, and which could not be fitted."""
        columns = tuple(
            replace(column, label=MORE.get(column.key, column.label), minor=column.key not in MORE)
            for column in COLUMNS
        )
        title = message("What else is known of each model")
        yield Table("leaderboard", title, columns, tuple(map(tuple, self.rows())))
        if rows := tuple(self.queue_rows()):
            yield Table("queues", "Queues by trace, relative to the half fitted", QUEUE_COLUMNS, rows)
        lacking = tuple((name, len(lacks), ", ".join(lacks)) for name, lacks in self.lacking.items() if lacks)
        if lacking:
            columns = (
                Column("model", "Model"), Column("number", "Measures lacking", "count"),
                Column("measures", "In these it is last"),
            )  # fmt: skip
            yield Table("lacking", "What models do not produce", columns, lacking)
        if self.results.notes:
            rows = tuple((note,) for note in self.results.notes)
            yield Table("unfitted", "Models that were not fitted", (Column("why", "Why"),), rows)


COLUMNS: Final = (
    Column("model", "Model"),
    Column("place", "Place"),
    Column("rank", "Mean rank"),
    Column("deviation", "±"),
    Column("common_place", "Place on common measures"),
    Column("common", "On common measures"),
    Column("measures", "Measures", "count"),
    *(Column(aspect.name.lower(), aspect.value) for aspect in Aspect),
    Column("floors", "Noise floors"),
    Column("queues", "Queues"),
    Column("waits", "Waits"),
    Column("spread", "Spread"),
    Column("waits_off", "Waits off", "count"),
)

QUEUE_COLUMNS: Final = (
    Column("model", "Model"),
    Column("trace", "Trace"),
    Column("half", "Fitted to the half"),
    Column("waits", "Mean wait under EASY, ratio"),
    Column("spread", "Spread of seeds, relative to own weeks"),
    Column("sjf_real", "SJF's slowdown over EASY's, of the log"),
    Column("sjf_made", "SJF's slowdown over EASY's, of the model"),
    Column("run_time", "KS distance of run times, held out"),
    Column("load", "Load as submitted, ratio"),
)
"""The columns of the table of queues by trace."""

MORE: Final = {
    "model": message("Model"),
    "floors": message("Noise floors"),
    "deviation": message("Deviation of the mean rank"),
    "measures": message("Measures"),
    "waits": message("Mean waits under EASY, off by a factor"),
    "spread": message("Spread of seeds, relative to own weeks"),
    "waits_off": message("Halves with waits that are off"),
}
"""The columns of the page that its first table does not have for all, and their headings."""

DETAILS: Final = (
    "trace", "fitted to weeks", "model", "aspect", "measure", "distance", "deviation", "noise floor",
)  # fmt: skip


def _shown(rank: float) -> str:
    return "–" if not np.isfinite(rank) else f"{rank:.{DECIMALS}f}"


def _mean(ranks: Floats) -> float:
    known = ranks[~np.isnan(ranks)]
    return float(known.mean()) if known.size else float("nan")
