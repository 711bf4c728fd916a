"""How to make a workload like this one: models that are fitted at once, and the commands to type."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gwa.analysis.base import Chapter, Made, analysis
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
from gwa.models.base import Model, models
from gwa.report.document import Attachment, Block, Column, Fact, Facts, Note, Table
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

QUICK: Final = ("minh2009", "minh2010", "thesis-tasks")
"""Models that are fitted in a fraction of a second."""

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
    made=Made.FOR_REPORTS,
)
def synthetic_workloads(store: Store) -> Iterator[Block]:
    """
    Models that make jobs like those of this trace, how near they come, and how to generate with the nearest.

    Three models that are fitted quickly are fitted to the first 3,000 jobs that ran, and each makes as many.
    Distances are those of 'gwa model score', in-sample. The model gwa, which takes longer, often comes
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
            yield Note(
                message("{real} jobs ran at a known time: too few for a model.", real=number_text(len(real)))
            )
            return
        kinds = models()
        scored, refused = score_models(sample, real, [kinds[name] for name in QUICK if name in kinds])
    if scored:
        yield from _blocks(real, scored)
    yield from (Note(reason) for reason in refused)


def _blocks(real: "JobArrays", scored: list[ScoredModel]) -> Iterator[Block]:
    """Yield how near the models come, the file and the parameters of the nearest, and what to do with it."""
    from gwa.models.files import text

    nearest = scored[0]
    yield Facts(
        (
            Fact("synthetic.nearest", nearest.model.name, "Nearest of the quick models"),
            *(
                Fact(
                    _id(one), number(one.floors), message("{title}: noise floors away", title=one.model.title)
                )
                for one in scored
            ),
        ),
        listed=False,
    )
    yield Note(_how_near(nearest, len(real)))
    yield Table("synthetic", "How near the models come", COLUMNS, tuple(map(row, scored)), DISTANCE_NOTE)
    origin = {"jobs": len(real), "seed": SEED}
    yield Attachment(
        "model",
        message("{title}, fitted", title=nearest.model.title),
        "model.json",
        text(nearest.model, origin),
    )
    yield Table(
        "synthetic-commands",
        "What to do with model.json",
        (Column("what", "To see or make"), Column("command", "Command")),
        COMMANDS,
    )
    yield from curves(real, [nearest], "synthetic")
    rows = tuple(parameter_rows(nearest.model))
    yield Table("synthetic-parameters", "Fitted parameters", PARAMETER_COLUMNS[1:], rows, PARAMETER_NOTE)


def _how_near(nearest: ScoredModel, jobs: int) -> str:
    """Return the model that comes nearest to a number of *jobs*, how near, and its command."""
    title, away = nearest.model.title, number(nearest.floors)
    if away is None:
        return message(
            "Of the models that are fitted quickly {title} comes nearest: '{command}' makes jobs with it.",
            title=title,
            command=GENERATE,
        )
    return message(
        "Of the models that are fitted quickly {title} comes nearest to the first {jobs} jobs that ran,"
        " {away} times as far from them as parts of them are from each other: '{command}' makes jobs with"
        " it.",
        title=title,
        jobs=number_text(jobs),
        away=significant(away, 2),
        command=GENERATE,
    )


def _id(one: ScoredModel) -> str:
    return f"synthetic.{one.model.name.replace('-', '_')}"
