"""Compare models by jobs that they were not fitted to."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gwa.cli._options import JSON, PATH, flag, looking, looks, options, output_folder, shown
from gwa.cli._output import FORCE, claimed, write_texts
from gwa.cli._reading import opened
from gwa.cli._terminal import echo, progress_lines, say, table

if TYPE_CHECKING:
    from gwa.store.store import Store

SCORES = "scores.jsonl"
PAGE = "leaderboard"
KINDS = ("html", "json")

SHOWN: Final = {"model", "place", "rank", "deviation", "floors", "queues", "waits", "spread", "waits_off"}
"""What fits a terminal."""

READING: Final = (
    "rank: the mean rank over measures, 1 the best; floors: the median distance from held-out weeks in noise"
    " floors, 1 being as far as one half of a trace is from the other; queues: the mean rank in the"
    " comparison of queues; waits: by which factor mean waits under EASY are off; spread: how much these vary"
    " by seed, relative to own weeks; waits_off: on how many halves they are farther off than these vary"
)
"""What the columns say."""


@click.command(name="rank")
@click.argument("traces", nargs=-1, required=True, type=PATH)
@click.option("--models", metavar="NAME,…", help="Models to compare; all by default.")
@shown("--seeds", click.IntRange(min=1), 5, "Synthetic workloads of each model.")
@flag("--details", "Print the distance of each measure instead of ranks.")
@output_folder("Output folder for a page with a figure, and for scores.")
@FORCE
@JSON
@looks
@options
def command(
    traces: tuple[Path, ...], models: str | None, seeds: int, details: bool, folder: Path | None, force: bool,
    as_json: bool, **params: Any,
) -> None:  # fmt: skip
    """
    Rank models by how well they reproduce held-out weeks.

    Each model is fitted to half of the weeks of each trace and scored on the other half, and vice versa.
    Models are ranked by each measure of 'gwa model score'; the mean rank decides. A second rank is that of
    queues, compared with those of the half that a model was fitted to. Replayed and resampled training weeks
    are shown for comparison and have no rank. Scores are stored in DIR: an interrupted run resumes.

    \b
    Examples:
      gwa sample swf -o sample.swf
      gwa model rank sample.swf --models lublin,dacosta --seeds 2
    """
    from gwa.evaluation.leaderboard import compete
    from gwa.evaluation.score_cache import ScoreCache
    from gwa.evaluation.standings import COLUMNS, DETAILS, Standings
    from gwa.report.output import paths, write
    from gwa.util import fingerprint

    look = looking(params)
    cache = ScoreCache(folder / SCORES, fingerprint.program()) if folder else None
    bar = progress_lines(quiet=params["quiet"])
    results = compete(_opened(traces, params), _names(models), seeds, cache, bar)
    standings = Standings(results)
    if folder:
        with claimed(paths(folder, PAGE, KINDS), force=force, but={"details", "as_json", "strings"}):
            for path in write(standings.report(), folder, PAGE, KINDS, **look):
                echo(path, err=True)
    write_texts({**params, "force": force})
    if details:
        table(DETAILS, standings.details(), as_json=as_json, digits=3)
    else:
        answer = standings.answer
        if answer and not params["quiet"]:
            say(answer, err=as_json or not sys.stdout.isatty())
        keys = [column.key for column in COLUMNS]
        table(keys, standings.rows(), as_json=as_json, shown=SHOWN, digits=3)
    if not params["quiet"]:
        for sentence in (*(() if details else (READING,)), *results.notes):
            echo(sentence, err=True)


def _names(models_option: str | None) -> list[str]:
    """
    Return the names of the models to compare; raise a usage error for an unknown one.

    Of all models those are left out, and told, that need what is not installed.
    """
    from gwa.models.base import models

    if models_option is None:
        for kind in models().values():
            if missing := kind.missing():
                echo(f"left out: {missing}", err=True)
        return [name for name, kind in models().items() if not kind.missing()]
    names = models_option.split(",")
    for name in names:
        if name not in models():
            message = f"there is no model '{name}', expected some of {', '.join(models())}"
            raise click.BadParameter(message, param_hint="--models")
    return names


def _opened(traces: tuple[Path, ...], params: dict[str, Any]) -> "Iterator[tuple[str, Store]]":
    """Yield the name and the store of each trace, one open at a time."""
    for path in traces:
        with opened(path, params) as trace:
            yield trace.name, trace.store
