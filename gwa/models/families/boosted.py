"""Boosted trees that draw a job column by column, each given the columns before it and the job before."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from gwa.errors import ModelError
from gwa.models.draws import block_sizes
from gwa.models.marginals import RowModel, Rows
from gwa.models.parameters import Parameters, Quantity, share
from gwa.statistics.sample import Floats, Ints
from gwa.store.store import Store
from gwa.util.compiled import compiled
from gwa.util.units import DAY, HOUR

DEPTH: Final = 3
"""Splits from the root of a tree to each leaf."""

SPLITS: Final = 2**DEPTH - 1
LEAVES: Final = 2**DEPTH
"""Splits and leaves of a tree; one that grew smaller has splits whose both sides say the same."""

LEVELS: Final = 4
"""How often the jobs are halved by a column: into 16 classes."""

TREES: Final = 8
LEARNING_RATE: Final = 0.3
MINIMUM_IN_LEAF: Final = 20
"""Boosting: trees of a question, how far each goes, and the jobs that a leaf has at least."""

FARTHEST: Final = 3.0
"""How far a tree may move log odds: its step has no bound where a leaf's jobs have nearly certain answers."""

MAXIMUM_FITTED: Final = 50_000
"""Jobs that trees are grown of; of more, as many are drawn."""

CALIBRATION_JOBS: Final = 50_000
"""Jobs of a model whose mean gap is computed."""

SEED: Final = 0

CERTAIN: Final = 30.0
"""The log odds of what always holds."""

Table = NDArray[np.int64]


@dataclass(frozen=True)
class Questions(Parameters):
    """
    The questions by which one column of a job is drawn, in the order in which they are asked.

    The first is whether the job has the value of the job before. If not, the jobs of the trace are halved by
    the column: the second question is whether the value is in the upper half of classes, the third and fourth
    whether it is in the upper half of the lower and of the upper one, and so on. Within a class, which lies
    between two *edges*, values have the distribution of the trace. The log *odds* of a question are added to
    those of the leaf that a job falls into in each of its trees: a job goes right where what it has of
    *features*, by number, is above *limits*.
    """

    edges: Annotated[tuple[float, ...], share("of jobs below a class, then 1")]
    odds: Annotated[tuple[float, ...], Quantity("logarithm of the odds of yes", "", -CERTAIN, CERTAIN)]
    features: Annotated[tuple[int, ...], Quantity("looked at by a split", "", 0.0, 10.0)]
    limits: Annotated[tuple[int, ...], Quantity("maximum number that goes left", "", 0.0, 1e6)]
    leaves: Annotated[tuple[float, ...], Quantity("logarithm of the odds, added", "", -100.0, 100.0)]

    def check(self) -> None:
        """Refuse lists whose lengths do not belong together, and edges that fall."""
        classes = len(self.edges) - 1
        if classes < 2 or classes & (classes - 1):
            raise ModelError(f"edges has {len(self.edges)} numbers, expected a power of two and one more")
        if min(np.diff(self.edges)) < 0 or (self.edges[0], self.edges[-1]) != (0.0, 1.0):
            raise ModelError("edges: expected them to rise from 0 to 1")
        if len(self.odds) != classes:
            raise ModelError(f"odds has {len(self.odds)} numbers, expected {classes}, one for each question")
        trees = len(self.leaves) // LEAVES
        if len(self.leaves) != trees * LEAVES or trees % classes or not trees:
            raise ModelError(
                f"leaves has {len(self.leaves)} numbers, expected {LEAVES} for each tree of a question"
            )
        for name in ("features", "limits"):
            if len(getattr(self, name)) != trees * SPLITS:
                number = len(getattr(self, name))
                raise ModelError(f"{name} has {number} numbers, expected {SPLITS} for each of {trees} trees")

    @property
    def shape(self) -> tuple[int, int]:
        """The number of questions, and of the trees of each."""
        return len(self.odds), len(self.leaves) // LEAVES // len(self.odds)


@dataclass(frozen=True, kw_only=True)
class Boosted(RowModel):
    """
    Boosted trees, one column after the other: gap, user, processors, requested time, run time.

    Each column is drawn given those before it, all columns of the job before, and the hour of submission: by
    questions, each answered by trees that gradient boosting grew. Trees see values as 16 classes of equally
    many jobs, within which values are drawn from the distribution of the trace. Gaps are paced so that the
    jobs that the model makes have the mean gap of the trace. A fit needs scikit-learn, which the extra ml
    installs; jobs are made without it.
    """

    columns: tuple[Questions, ...]

    name = "boosted"
    title = "Boosted trees, column by column"
    source = (
        "After C. McCarter, Unmasking Trees for Tabular Data (2024), whose balanced tree of boosted"
        " classifiers draws a number by halving"
    )
    package = "sklearn"
    extra = "ml"

    def check(self) -> None:
        """Refuse questions that are not those of the columns."""
        expected = len(self.marginals.columns)
        if len(self.columns) != expected:
            raise ModelError(f"columns are {len(self.columns)}, expected {expected}, as marginals has")
        if len({column.shape for column in self.columns}) > 1:
            raise ModelError("columns differ in their numbers of classes or trees, expected the same of all")
        if max(max(column.features) for column in self.columns) > 2 * expected:
            raise ModelError(f"columns.features: expected at most {2 * expected}, the hour of submission")

    @classmethod
    def estimate(cls, store: Store) -> Self:
        """Grow the trees of all jobs that ran, or of `MAXIMUM_FITTED` of them."""
        rows = Rows.of(store)
        classes = [_Classes.of(*span) for span in rows.spans().values()]
        jobs = _chosen(len(rows.times) - 2)
        before = np.array([each.of_job[jobs - 1] for each in classes])
        same = [
            values[jobs] == values[jobs - 1]
            for values in (rows.values[name] for name in rows.marginals.columns)
        ]
        hours = np.floor(rows.times % DAY / HOUR).astype(np.int64)
        known: Table = np.zeros((2 * len(classes) + 1, jobs.size), np.int64)
        known[: len(classes)] = before
        columns = []
        for place, each in enumerate(classes):
            # The first job has no row: that of job n is followed by submission n + 1.
            known[-1] = hours[jobs + 1] if place else hours[jobs]
            columns.append(_grow(known.T, each, jobs, same[place]))
            known[len(classes) + place] = each.of_job[jobs]
        return cls(marginals=rows.marginals, columns=tuple(columns)).paced(float(rows.values["gap"].mean()))

    def paced(self, mean_gap: float) -> Self:
        """Return the model with gaps that have this mean in seconds, over `CALIBRATION_JOBS` jobs."""
        jobs, last = 0, 0.0
        for block in self.blocks(np.random.default_rng(SEED)):
            jobs, last = jobs + block["submit_time"].size, float(block["submit_time"][-1])
            if jobs >= CALIBRATION_JOBS:
                break
        return self.scale_gaps(mean_gap * jobs / max(last, 1.0))

    def shares(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield an endless stream of rows of shares."""
        number = len(self.columns)
        questions, trees = self.columns[0].shape
        arrays = (
            np.array([column.edges for column in self.columns]),
            np.array([column.odds for column in self.columns]),
            np.array([column.features for column in self.columns]).reshape(number, questions, trees, SPLITS),
            np.array([column.limits for column in self.columns]).reshape(number, questions, trees, SPLITS),
            np.array([column.leaves for column in self.columns]).reshape(number, questions, trees, LEAVES),
            np.array(self.marginals.gap.shares),
            np.log1p(np.array(self.marginals.gap.values)),
        )
        state, elapsed = np.full(number, 0.5), np.zeros(1)
        for size in block_sizes():
            draws = rng.random((size, number, questions.bit_length() + 1))
            shares = compiled(_draw)(draws, state, elapsed, *arrays)
            state = shares[-1].copy()
            yield shares


@dataclass(frozen=True)
class _Classes:
    """The classes of a column: their *edges*, and the class *of_job* by number."""

    edges: Floats
    of_job: Ints

    @classmethod
    def of(cls, below: Floats, upto: Floats) -> Self:
        """Return classes of jobs by the shares of jobs *below* and *upto* their values."""
        classes = 2**LEVELS
        of_job = np.minimum((below + upto) / 2 * classes, classes - 1).astype(np.int64)
        ends = np.zeros(classes)
        np.maximum.at(ends, of_job, upto)
        ends = np.maximum.accumulate(ends)
        ends[-1] = 1.0
        return cls(np.concatenate(([0.0], ends)), of_job)


def _chosen(last: int) -> Ints:
    """Return the numbers of the rows that trees are grown of, of 1 to *last*: a row before each is known."""
    rows: Ints = np.arange(1, last + 1)
    if rows.size > MAXIMUM_FITTED:
        rows = np.sort(np.random.default_rng(SEED).choice(rows, MAXIMUM_FITTED, replace=False))
    return rows


def _grow(known: Table, classes: _Classes, jobs: Ints, same: NDArray[np.bool_]) -> Questions:
    """Grow the trees of all questions of a column, of what is *known* of each of *jobs*."""
    of_job, number = classes.of_job[jobs], 2**LEVELS
    answers = [_Answer.of(known, same)]
    for question in range(1, number):
        width = number >> (question.bit_length() - 1)
        first = (question - (1 << (question.bit_length() - 1))) * width
        asked = ~same & (of_job >= first) & (of_job < first + width)
        answers.append(_Answer.of(known[asked], of_job[asked] >= first + width // 2))
    return Questions(
        tuple(classes.edges.tolist()),
        tuple(answer.odds for answer in answers),
        tuple(np.concatenate([answer.features for answer in answers]).tolist()),
        tuple(np.concatenate([answer.limits for answer in answers]).tolist()),
        tuple(np.concatenate([answer.leaves for answer in answers]).round(5).tolist()),
    )


@dataclass(frozen=True)
class _Answer:
    """The trees of one question: the *odds* that they begin with, their splits and their leaves."""

    odds: float
    features: Table
    limits: Table
    leaves: Floats

    @classmethod
    def of(cls, known: Table, answer: NDArray[np.bool_]) -> Self:
        """Boost trees for an *answer*; where all jobs have one, it is certain."""
        features = np.zeros((TREES, SPLITS), np.int64)
        limits, leaves = np.zeros((TREES, SPLITS), np.int64), np.zeros((TREES, LEAVES))
        share = float(answer.mean()) if answer.size else 0.5
        odds = float(np.clip(np.log(share / (1 - share)), -CERTAIN, CERTAIN)) if 0 < share < 1 else 0.0
        if share in {0.0, 1.0}:
            odds = CERTAIN if share else -CERTAIN
        elif answer.size >= 2 * MINIMUM_IN_LEAF:
            from sklearn.ensemble import GradientBoostingClassifier

            model = GradientBoostingClassifier(
                n_estimators=TREES, learning_rate=LEARNING_RATE, max_depth=DEPTH,
                min_samples_leaf=MINIMUM_IN_LEAF, random_state=SEED,
            ).fit(known, answer)  # fmt: skip
            for place, (member,) in enumerate(model.estimators_):
                _spread(member.tree_, 0, 0, (features[place], limits[place], leaves[place]))
        return cls(round(odds, 5), features.ravel(), limits.ravel(), leaves.ravel())


def _spread(tree: Any, node: int, place: int, into: tuple[Table, Table, Floats]) -> None:  # noqa: ANN401
    """Put a *node* of a tree of scikit-learn, and all below it, at its *place* in a complete tree."""
    features, limits, leaves = into
    is_leaf = tree.children_left[node] < 0
    if place >= SPLITS:
        leaves[place - SPLITS] = np.clip(LEARNING_RATE * tree.value[node, 0, 0], -FARTHEST, FARTHEST)
        return
    if not is_leaf:
        features[place], limits[place] = tree.feature[node], int(np.floor(tree.threshold[node]))
    left, right = (node, node) if is_leaf else (tree.children_left[node], tree.children_right[node])
    _spread(tree, left, 2 * place + 1, into)
    _spread(tree, right, 2 * place + 2, into)


def _draw(  # noqa: PLR0913, PLR0917 - compiled: arrays only
    draws: Floats, state: Floats, elapsed: Floats, edges: Floats, odds: Floats, features: Table,
    limits: Table, leaves: Floats, gap_shares: Floats, gap_logs: Floats,
) -> Floats:  # fmt: skip
    """
    Draw the shares of jobs one after the other, the first after a job of shares *state*.

    *elapsed* holds the seconds since the first midnight, and is advanced.
    """
    size, number, _ = draws.shape
    questions = odds.shape[1]
    shares = np.empty((size, number))
    known = np.zeros(2 * number + 1, np.int64)
    for column in range(number):
        known[column] = _class(edges[column], state[column])
    for job in range(size):
        known[2 * number] = int(elapsed[0] % DAY / HOUR)
        for column in range(number):
            before = state[column] if job == 0 else shares[job - 1, column]
            value = before
            if draws[job, column, 0] >= _yes(known, 0, column, odds, features, limits, leaves):
                question, asked = 1, 1
                while question < questions:
                    is_upper = draws[job, column, asked] < _yes(
                        known, question, column, odds, features, limits, leaves
                    )
                    question, asked = 2 * question + int(is_upper), asked + 1
                place = question - questions
                low, high = edges[column, place], edges[column, place + 1]
                value = low + draws[job, column, asked] * (high - low)
            shares[job, column] = value
            known[number + column] = _class(edges[column], value)
            if column == 0:
                elapsed[0] += np.rint(np.expm1(np.interp(value, gap_shares, gap_logs)))
                known[2 * number] = int(elapsed[0] % DAY / HOUR)
        for column in range(number):
            known[column] = known[number + column]
            known[number + column] = 0
    return shares


def _class(edges: Floats, value: float) -> int:
    """Return the class of a share."""
    place = 0
    while place < edges.size - 2 and value >= edges[place + 1]:
        place += 1
    return place


def _yes(
    known: Table, question: int, column: int, odds: Floats, features: Table, limits: Table, leaves: Floats
) -> float:
    """Return the probability of yes to a *question* on a *column*."""
    total = odds[column, question]
    for tree in range(features.shape[2]):
        place = 0
        while place < SPLITS:
            is_right = known[features[column, question, tree, place]] > limits[column, question, tree, place]
            place = 2 * place + 1 + int(is_right)
        total += leaves[column, question, tree, place - SPLITS]
    return float(1 / (1 + np.exp(-total)))
