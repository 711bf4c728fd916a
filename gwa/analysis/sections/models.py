"""How well all models describe the workload."""

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
    facts,
    parameter_rows,
    row,
    score_models,
)
from gwa.models.base import Model, models
from gwa.report.document import Block, Facts, Note, Table, note_of
from gwa.store.store import Store
from gwa.words.formatting import decimal
from gwa.words.formatting import number as number_text
from gwa.words.message import message

if TYPE_CHECKING:
    from gwa.evaluation.job_arrays import JobArrays

MAXIMUM_JOBS: Final = 20_000
"""Models are fitted to the first jobs of a longer trace."""

MAXIMUM_DRAWN: Final = 3
"""Only the nearest models are drawn."""

COMMANDS_NOTE: Final = (
    "To make more such jobs: gwa model fit TRACE {name} -o {name}.json, then gwa model generate {name}.json"
    " --days 30 --seed 1 -o synthetic.gwf, and gwa model score TRACE synthetic.gwf. All models: gwa model"
    " list."
)


@analysis(
    "All models",
    Chapter.SYNTHETIC,
    facts=("model",),
    needs=("submit_time", "run_time"),
    made=MadeWhen.ON_REQUEST,
    order=1,
)
def models_of_the_workload(store: Store) -> Iterator[Block]:
    """
    Every model fitted to the first 20,000 jobs that ran, and how far the jobs that it makes are from them.

    Distances are those of 'gwa model score', in-sample, so that a model with more parameters may come nearer
    than it would to other weeks; 'gwa model rank' tells that. Beside each number stands the noise floor, the
    distance between two halves of the trace.
    """
    from gwa.evaluation.job_arrays import JobArrays

    with earliest(store, MAXIMUM_JOBS) as sample:
        real = JobArrays.of(sample)
        if len(real) < Model.minimum_jobs:
            yield note_of(
                "{real} jobs ran at a known time: too few for a model.", real=number_text(len(real))
            )
            return
        yield note_of(
            "Models are fitted to {real} jobs, and make as many with seed {seed}.",
            real=decimal(len(real), ","),
            seed=SEED,
        )
        scored, refused = score_models(sample, real, models().values())
    yield from (Note(reason) for reason in refused)
    if scored:
        yield from _blocks(real, scored)


def _blocks(real: "JobArrays", scored: list[ScoredModel]) -> Iterator[Block]:
    """Yield the comparison of models, the scorecard of the nearest, curves, and parameters."""
    yield Table("models", "How near the models come", COLUMNS, tuple(map(row, scored)), DISTANCE_NOTE)
    yield Facts(tuple(fact for scored_model in scored for fact in facts(scored_model)), listed=False)
    yield Note(message("The nearest is {title}; its scorecard follows.", title=scored[0].model.title))
    yield from scored[0].card.blocks()
    yield from curves(real, scored[:MAXIMUM_DRAWN])
    fitted = [scored_model.model for scored_model in scored]
    rows = tuple((model.title, *one) for model in fitted for one in parameter_rows(model))
    yield Table("model-parameters", "Fitted parameters", PARAMETER_COLUMNS, rows, PARAMETER_NOTE)
    yield Note(COMMANDS_NOTE.format(name=scored[0].model.name))
