"""How to make a workload like this one: a model that is fitted at once, and the commands to type."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gwa.analysis.base import Chapter, MadeWhen, analysis
from gwa.analysis.sections._scored_models import (
    COLUMNS,
    DISTANCE_NOTE,
    PARAMETER_COLUMNS,
    PARAMETER_NOTE,
    SEED,
    ScoredModel,
    curves,
    earliest,
    parameter_rows,
    row,
    score_models,
)
from gwa.models.base import Model
from gwa.report.document import Attachment, Block, Column, Fact, Note, Table, list_of, note_of
from gwa.report.facts import number
from gwa.store.store import Store
from gwa.words.formatting import number as number_text
from gwa.words.formatting import significant
from gwa.words.message import Verbatim, message

if TYPE_CHECKING:
    from gwa.evaluation.job_arrays import JobArrays

MAXIMUM_JOBS: Final = 3000
"""Models are fitted to the first jobs of a longer trace, so that it takes a second or two at any size."""

MINIMUM_MEGABYTES: Final = 500
"""Of the process: what fits and schedules takes 130 of them, and does not give them back."""

GENERATE: Final = Verbatim("gwa model generate model.json")

COMMANDS: Final = (
    (
        message("as many jobs as you like"),
        "gwa model generate model.json --jobs 10000 --seed 1 -o synthetic.gwf",
    ),
    (
        message("another load on another size of machine"),
        "gwa model generate model.json --days 30 --cpus 256 --utilization 0.8 --seed 1 -o loaded.gwf",
    ),
    (message("how near it comes"), "gwa model score TRACE synthetic.gwf"),
)


@analysis(
    "Synthetic workloads",
    Chapter.SYNTHETIC,
    facts=("synthetic",),
    needs=("submit_time", "run_time", "n_procs"),
    made=MadeWhen.FOR_REPORTS,
)
def synthetic_workloads(store: Store) -> Iterator[Block]:
    """
    A model that makes jobs like those of this trace, how near it comes, and how to generate with it.

    It is fitted to the first 3,000 jobs that ran, and makes as many. Of the models that are fitted quickly,
    that of Minh and Wolters (2010) comes nearest to most logs; where it cannot be fitted, the next one is.
    The distance is that of 'gwa model score', in-sample. The model gwa, which takes longer, often comes
    nearer: 'gwa model fit TRACE gwa' fits it to the whole trace, and 'gwa report TRACE --sections models'
    compares all.
    """
    if store.engine.lacks(MINIMUM_MEGABYTES):
        yield Note(message("Fitting models takes at least {n} MB of memory.", n=MINIMUM_MEGABYTES))
        return
    from gwa.evaluation.job_arrays import JobArrays

    with earliest(store, MAXIMUM_JOBS) as sample:
        real = JobArrays.of(sample)
        if len(real) < Model.minimum_jobs:
            yield note_of(
                "{real} jobs ran at a known time: too few for a model.", real=number_text(len(real))
            )
            return
        fitted, refused = _first_fitted(sample, real)
    if fitted:
        yield from _blocks(real, fitted)
    yield from (Note(reason) for reason in refused)


def _first_fitted(sample: Store, real: "JobArrays") -> tuple[ScoredModel | None, list[str]]:
    """Return the first of the quick models that can be fitted, and the reasons why others before cannot."""
    refused: list[str] = []
    for kind in _quick_models():
        scored, reasons = score_models(sample, real, [kind])
        refused += reasons
        if scored:
            return scored[0], refused
    return None, refused


def _quick_models() -> Iterator[type[Model]]:
    """Yield the models that are fitted in a fraction of a second, that which comes nearest to most first."""
    from gwa.models.families.minh2010 import Minh2010

    yield Minh2010
    # Each takes a while to import, and is rarely asked for.
    from gwa.models.families.minh2009 import Minh2009

    yield Minh2009
    from gwa.models.families.thesis import TasksModel

    yield TasksModel


def _blocks(real: "JobArrays", fitted: ScoredModel) -> Iterator[Block]:
    """Yield how near the model comes, its file and its parameters, and what to do with it."""
    from gwa.models.files import text

    model = fitted.model
    away = message("{title}: noise floors away", title=model.title)
    yield list_of(
        Fact("synthetic.fitted", model.name, "Model that is fitted quickly"),
        Fact(f"synthetic.{model.name.replace('-', '_')}", number(fitted.floors), away),
        listed=False,
    )
    yield Note(_how_near(fitted, len(real)))
    yield Table("synthetic", "How near the model comes", COLUMNS, (row(fitted),), DISTANCE_NOTE)
    origin = {"jobs": len(real), "seed": SEED}
    yield Attachment(
        "model", message("{title}, fitted", title=model.title), "model.json", text(model, origin)
    )
    yield Table(
        "synthetic-commands",
        "What to do with model.json",
        (Column("what", "To see or make"), Column("command", "Command")),
        COMMANDS,
    )
    yield from curves(real, [fitted], "synthetic")
    rows = tuple(parameter_rows(model))
    yield Table("synthetic-parameters", "Fitted parameters", PARAMETER_COLUMNS[1:], rows, PARAMETER_NOTE)


def _how_near(fitted: ScoredModel, jobs: int) -> str:
    """Return how near a model comes to a number of *jobs*, and its command."""
    title, away = fitted.model.title, number(fitted.floors)
    if away is None:
        return message(
            "{title} is fitted to the first {jobs} jobs that ran: '{command}' makes jobs with it.",
            title=title,
            jobs=number_text(jobs),
            command=GENERATE,
        )
    return message(
        "{title} is fitted to the first {jobs} jobs that ran, and comes {away} times as far from them as"
        " parts of them are from each other: '{command}' makes jobs with it.",
        title=title,
        jobs=number_text(jobs),
        away=significant(away, 2),
        command=GENERATE,
    )
