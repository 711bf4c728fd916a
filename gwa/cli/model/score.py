"""Score how realistic synthetic traces are, of any generator."""

from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gwa.cli._options import JSON, PATH, PolicyName, flag, options, reads
from gwa.cli._output import to_file
from gwa.cli._reading import opened, opened_requests, opened_whole
from gwa.cli._terminal import echo, table

if TYPE_CHECKING:
    from gwa.evaluation.job_arrays import JobArrays
    from gwa.evaluation.measure import Statistic
    from gwa.evaluation.rivals import Contest

SHOWN: Final = {"measure", "verdict", "real", "synthetic", "by", "distance", "halves"}
SHOWN_OF_SEVERAL: Final = {
    "made", "floors", "waits.easy.ratio", "waits.easy.low", "waits.easy.high", "waits.spread", "copied",
}  # fmt: skip
SHOWN_OF_QUEUES: Final = {"made", "number", "load", "verdict", "mean", "low", "high", "other_half"}
"""What fits a terminal."""

READING: Final = (
    "floors: the median distance from the real jobs in noise floors, 1 being as far as one half of the log is"
    " from the other; waits.easy.ratio: mean wait under EASY, relative to what they were made from; low and"
    " high: what the log's own weeks give, drawn again; waits.spread: how much seeds vary, relative to own"
    " weeks; copied: the share of rows that the log has, too"
)
"""What the columns say."""

FLOOR: Final = (
    "floor: distances of 95 of 100 traces that are made of the real one's own hours, drawn again. A distance"
    " within it says nothing; the hours of the model 'requests' are those of the log: this is replay in part"
)
NO_FLOOR: Final = "no floor: the real trace is shorter than two days, so that no hour of it comes twice"
"""What is said of traces of requests."""

SIGNIFICANT: Final = 3


@click.command(name="score")
@click.argument("real", type=PATH)
@click.argument("made", type=PATH, nargs=-1, required=True)
@reads(
    "--trained-on trained_on",
    "TRACE",
    "What the jobs were made from, if that is known: REAL is then what was held out.",
)
@flag("--queues", "Print every number of the comparison of queues instead.")
@click.option(
    "--policy",
    "policies",
    type=PolicyName(()),
    metavar="NAME",
    multiple=True,
    help="Compare queues under a policy of yours, too, called package:function (repeatable).",
)
@JSON
@options
@to_file
def command(
    real: Path, made: tuple[Path, ...], trained_on: Path | None, queues: bool, policies: tuple[str, ...],
    as_json: bool, **params: Any,
) -> None:  # fmt: skip
    """
    Score how realistic synthetic traces are.

    MADE is any table of jobs in a format that gwa reads, by any generator. For each measure the distance from
    the real trace is printed, with two noise floors: the distance of one half of the weeks of the real trace
    from the other half, and that of resampled jobs. Queues are compared with those of the jobs that MADE was
    made from: all are replayed at the same load under FCFS, EASY, conservative and SJF backfilling, beside
    the log's own weeks, drawn again. The last two measures show whether jobs were learnt by heart: rows that
    the log has, too, and the distance to the closest record, beside those of jobs that were held out.

    Of several tables each generator has a row; tables named NAME-1, NAME-2 and so on are seeds of one, of
    which it takes five to say how long jobs of a model wait. Below stand the log's other half and jobs drawn
    from it one by one, which no generator made. 'gwa model split' writes the two halves: make jobs from one,
    and score them by the other. Prints a table, or CSV when piped.

    Two traces of requests to language models are compared by their rates, bursts, tokens, latencies and
    sessions. The floor of a dispersion is what the real trace's own hours give, drawn again.

    \b
    Examples:
      gwa sample swf -o sample.swf
      gwa model generate lublin --jobs 1000 --seed 1 -o lublin.swf
      gwa model score sample.swf lublin.swf
      gwa model generate copula-nasa --jobs 1000 --seed 1 -o copula.swf
      gwa model score sample.swf lublin.swf copula.swf
      gwa model score sample.swf lublin.swf --queues
    """
    from gwa.evaluation.job_arrays import workload
    from gwa.evaluation.rivals import Contest
    from gwa.requests.score import floors_of, statistics_of

    with opened_whole(real, params, takes_requests=True) as trace:
        if trace.store.holds == "requests":
            statistics, floors, jobs = statistics_of(trace.store), floors_of(trace.store), None
        else:
            statistics, floors, jobs = [], {}, workload(trace.store, str(real))
    if jobs is None:
        _score_requests(statistics, floors, made, params, as_json=as_json)
        return
    contest = Contest(jobs, _read_jobs(trained_on, params)[1] if trained_on else None, policies)
    if queues:
        _queues(contest, made, params, as_json=as_json)
    elif len(made) == 1:
        _one(contest, made[0], params, as_json=as_json)
    else:
        _several(contest, made, params, as_json=as_json)


def _one(contest: "Contest", path: Path, params: dict[str, Any], *, as_json: bool) -> None:
    """Print each measure of one table."""
    from gwa.evaluation.queues.words import sentences
    from gwa.evaluation.scorecard import COLUMNS

    _, jobs = _read_jobs(path, params)
    scorecard, queues = contest.card(jobs), contest.queues([jobs])
    rows = contest.rows(scorecard, jobs, queues)
    table([item.key for item in COLUMNS], rows, as_json=as_json, shown=SHOWN, digits=SIGNIFICANT)
    if not params["quiet"]:
        for sentence in (*scorecard.notes, scorecard.summary(), *sentences(queues)):
            echo(sentence, err=True)


def _several(contest: "Contest", paths: tuple[Path, ...], params: dict[str, Any], *, as_json: bool) -> None:
    """Print a row for each generator, the nearest first, and for what the log itself gives."""
    from gwa.evaluation.queues.words import sentences
    from gwa.evaluation.rivals import COLUMNS

    rivals = [contest.generator(name, tables) for name, tables in _by_generator(paths, params)]
    rivals.sort(key=lambda rival: rival.floors)
    rows = [rival.row() for rival in (*rivals, *contest.baselines())]
    names = [item.key for item in COLUMNS]
    table(names, rows, as_json=as_json, shown=SHOWN_OF_SEVERAL, digits=SIGNIFICANT)
    if not params["quiet"]:
        echo(READING, err=True)
        notes = [note for rival in rivals for card in rival.cards for note in card.notes]
        said = [one for rival in rivals if rival.queues for one in sentences(rival.queues, rival.name)]
        for sentence in dict.fromkeys((*notes, *said)):
            echo(sentence, err=True)


def _queues(contest: "Contest", paths: tuple[Path, ...], params: dict[str, Any], *, as_json: bool) -> None:
    """Print every number of the comparison of queues, of each generator and of the log's own weeks."""
    from gwa.evaluation.queues.words import COLUMNS, OWN_WEEKS, rows, sentences

    cards = {
        name: contest.queues(jobs for _, jobs in tables) for name, tables in _by_generator(paths, params)
    }
    printed = [row for name, card in cards.items() for row in rows(name, card)]
    printed += rows(OWN_WEEKS, contest.own_weeks())
    table([item.key for item in COLUMNS], printed, as_json=as_json, shown=SHOWN_OF_QUEUES, digits=SIGNIFICANT)
    if not params["quiet"]:
        for sentence in dict.fromkeys(one for name, card in cards.items() for one in sentences(card, name)):
            echo(sentence, err=True)


def _by_generator(
    paths: tuple[Path, ...], params: dict[str, Any]
) -> "list[tuple[str, list[tuple[str, JobArrays]]]]":
    """Return the tables of each generator, with their seeds, by its name."""
    from gwa.evaluation.rivals import by_generator

    read = [_read_jobs(path, params) for path in paths]
    seeds = [(path.name.split(".")[0], seed) for path, (seed, _) in zip(paths, read, strict=True)]
    return [
        (name, [(seed, read[place][1]) for place, seed in places])
        for name, places in by_generator(seeds).items()
    ]


def _score_requests(
    real: "list[Statistic | None]",
    floors: dict[str, float],
    made: tuple[Path, ...],
    params: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    """Print the distances of two traces of requests."""
    from gwa.requests.score import RequestScoreLine, score_requests, statistics_of

    if len(made) > 1:
        raise click.UsageError("traces of requests are compared with one other, expected one MADE")
    with opened_requests(made[0], params) as other:
        lines = score_requests(real, statistics_of(other.store), floors)
    table(
        [field.name for field in fields(RequestScoreLine)], [astuple(line) for line in lines], as_json=as_json
    )
    if not params["quiet"]:
        echo(FLOOR if floors else NO_FLOOR, err=True)


def _read_jobs(path: Path, params: dict[str, Any]) -> "tuple[str, JobArrays]":
    """Return the seed that a trace states, empty if none, and its jobs."""
    from gwa.evaluation.job_arrays import workload

    with opened(path, params) as trace:
        return dict(trace.store.header).get("Seed", ""), workload(trace.store, str(path))
