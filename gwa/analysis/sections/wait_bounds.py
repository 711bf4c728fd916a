"""How well upper bounds on waits, given at submission, would have held."""

from collections.abc import Iterator, Sequence
from math import inf

from gwa.analysis.base import Chapter, MadeWhen, analysis
from gwa.evaluation.bound_classes import ClassCoverage, coverage_by_class, in_words, worst_of_each_kind
from gwa.evaluation.bound_scores import BoundScore
from gwa.evaluation.prediction import QUANTILE, Bounds, WaitingJobs, predictors
from gwa.report.document import Block, Column, Fact, Facts, Note, Table, note_of
from gwa.report.facts import facts_of
from gwa.store.store import Store
from gwa.words.formatting import fraction, number, seconds
from gwa.words.message import message

DEFAULT = "bmbp-own"
"""The predictor of `gwa wait`."""

MAXIMUM_JOBS = 50_000
"""Of a longer log the jobs submitted last are walked: all methods take 20 s for a million."""

MINIMUM_JOBS = 200
"""Fewer jobs show little of how well bounds hold."""


@analysis(
    "Wait time bounds",
    Chapter.WAITS,
    facts=("bounds",),
    needs=("wait_time", "run_time", "n_procs", "submit_time"),
    order=3,
    made=MadeWhen.FOR_REPORTS,
)
def wait_bounds(store: Store) -> Iterator[Block]:
    """
    Upper bounds on the wait of each job at its submission, and how often waits stayed within them.

    A bound is meant to hold for 95 % of similar jobs, with 95 % confidence. It is an order statistic of the
    waits of earlier jobs of the same class that had started by then (BMBP; Brevik, Nurmi and Wolski 2006):
    the future of the log is not used. The largest jobs are the tenth with most processors. The classes for
    which bounds held least often are sizes (up to 1, 2, 4, 8 … processors), queues and users with a hundred
    jobs or more, and the jobs with the longest waits, a tenth at most. Loss is the mean pinball loss at 95 %,
    relative to the mean wait: smaller means tighter bounds. Of a longer log, the 50,000 jobs submitted last
    are considered. 'gwa wait' considers all, and prints the bound of a job that is submitted at the end of
    the log.
    """
    jobs = WaitingJobs.of(store, MAXIMUM_JOBS)
    if len(jobs) < MINIMUM_JOBS:
        yield Note("Too few jobs have known wait times.")
        return
    walks: dict[bytes, Bounds] = {}
    bounds = {one: one.bounds(jobs, walks) for one in predictors().values()}
    scores = [(one, BoundScore.of(jobs, bound)) for one, bound in bounds.items()]
    known = sorted(
        ((one, score) for one, score in scores if score is not None), key=lambda pair: pair[1].loss
    )
    if not known:
        yield Note("No class of jobs has the 59 waits that a bound takes.")
        return
    method, chosen = next((pair for pair in known if pair[0].id == DEFAULT), known[0])
    classes = coverage_by_class(jobs, bounds[method])
    yield Facts((*_facts(chosen), *_class_facts(classes)), listed=False)
    yield note_of(
        "Upper bounds given at submission would have held for {share} of {jobs} jobs, and for {largest}"
        " of the largest jobs.",
        share=fraction(chosen.coverage),
        jobs=number(chosen.jobs),
        largest=fraction(chosen.largest),
    )
    if chosen.median > 0:
        yield Note(message("Half of the bounds are {median} or less.", median=seconds(chosen.median)))
    else:
        yield Note("Half of the bounds are that jobs start at once.")
    if worst := worst_of_each_kind(classes, below=QUANTILE):
        yield Note(in_words(worst))
    if chosen.coverage < QUANTILE:
        yield Note("Bounds held for less than the 95 % that they promise: do not rely on them.", "warning")
    columns = (
        Column("answered", "Jobs with a bound", "fraction"),
        Column("coverage", "Waits within their bound", "fraction"),
        Column("largest", "Largest jobs", "fraction"),
        Column("windows", "Weak four-week windows", "fraction", minor=True),
        Column("loss", "Loss"),
        Column("median", "Median bound", "seconds"),
    )
    rows = tuple((one.title, *(getattr(score, of.key) for of in columns)) for one, score in known)
    yield Table("bounds", "Methods of bounding wait times", (Column("method", "Method"), *columns), rows)


def _facts(score: BoundScore) -> Iterator[Fact]:
    yield from facts_of(
        "bounds",
        ("jobs", score.jobs, "Jobs with a bound on their wait", "count"),
        ("coverage", score.coverage, "Waits within their bound", "fraction"),
        ("coverage_largest", score.largest, "Waits within their bound, largest jobs", "fraction"),
        (
            "windows",
            score.windows,
            "Four-week windows with under 90 % of waits within their bound",
            "fraction",
        ),
        ("loss", score.loss, "Pinball loss relative to the mean wait", ""),
        ("median", score.median, "Median bound on wait time", "seconds"),
    )


CLASSES = {
    "size": ("bounds.coverage_worst_size", message("Waits within their bound, worst class of sizes")),
    "queue": ("bounds.coverage_worst_queue", message("Waits within their bound, worst queue")),
    "user": ("bounds.coverage_worst_user", message("Waits within their bound, worst user")),
    "wait": ("bounds.coverage_longest", message("Waits within their bound, longest waits")),
}


def _class_facts(classes: Sequence[ClassCoverage]) -> Iterator[Fact]:
    """Yield the coverage of the worst class of each kind."""
    for one in worst_of_each_kind(classes, below=inf):
        id_, label = CLASSES[one.kind]
        yield Fact(id_, one.coverage, label, "fraction")
