"""
What the commands do, as functions.

A trace is given as one that is open, or as what `gwa.open` takes. Errors are those of the command line.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from gwa.errors import ArgumentError
from gwa.formats.convert import convert as convert_files
from gwa.report.document import Report
from gwa.store.account import Account
from gwa.store.engines.config import Engine
from gwa.trace import FilePath, Openable, Trace, at_paths, read_options
from gwa.trace import open as open_trace
from gwa.util.progress import SILENT, Progress
from gwa.util.scratch import ScratchFolder

if TYPE_CHECKING:
    import pandas as pd

    from gwa.models.fitted import FittedModel

TraceOrSource = Trace | Openable

KINDS: Final = {"slurm": "sacct", "swf": "swf"}
"""The suffix of each kind of sample."""


@contextmanager
def _opened(trace: TraceOrSource) -> Iterator[Trace]:
    """Yield an open trace as it is; anything else is opened, and closed again."""
    if isinstance(trace, Trace):
        yield trace
        return
    with open_trace(trace) as opened:
        yield opened


def convert(  # noqa: PLR0913 - all but the paths go by name
    paths: FilePath | Sequence[FilePath],
    out: FilePath,
    *,
    format: str | None = None,  # noqa: A002 - the word for it
    system: FilePath | dict[str, Any] | None = None,
    strict: bool = False,
    memory: str | None = None,
    threads: int | None = None,
    by_month: bool = False,
    progress: Progress = SILENT,
) -> Account:
    """
    Convert a log to a trace file, completely or not at all.

    Parameters
    ----------
    paths
        A log, or several that are one trace.
    out
        The file to write; its suffix names the format, such as ``.gwf``, ``.parquet`` or ``.swf``. A file
        that is there is replaced.
    format
        The name of the format that is read, where it is not to be recognised.
    system
        What is known of the system: a system file, or a dictionary of what would stand in it.
    strict
        Whether a row that cannot be read is an error. Otherwise it is counted as rejected.
    memory
        The limit for the whole process, such as ``2GB``.
    threads
        The number of threads of the engine.
    by_month
        Whether Parquet is written as a folder with a file for each month.
    progress
        Receives the progress of the work.

    Returns
    -------
    Account
        What became of every row.

    Examples
    --------
    >>> import gwa, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gwa.convert("sample_traces/swf/tiny.swf", f"{folder}/tiny.parquet").jobs
    1200

    """
    options = read_options(system, Engine(memory, threads), strict=strict, progress=progress)
    return convert_files(at_paths(paths), Path(out), name=format, options=options, by_month=by_month)


def fetch(key: str, folder: FilePath = ".", progress: Progress = SILENT) -> list[Path]:
    """
    Download a public trace, with what to cite beside it.

    Parameters
    ----------
    key
        What the trace is called in ``gwa fetch --list``, such as ``kth-sp2``.
    folder
        Where its files go; those that are there already and whole stay.
    progress
        Receives the progress of the work.

    Returns
    -------
    list of Path
        The files, which `gwa.open` takes.

    Raises
    ------
    ArgumentError
        If there is no such trace; `DownloadError` where it cannot be had, `OutputError` where it cannot be
        written.

    Examples
    --------
    >>> import gwa
    >>> gwa.fetch("no-such-trace")
    Traceback (most recent call last):
    ...
    gwa.errors.ArgumentError: ...

    """
    from gwa.archive.fetch import fetch as fetch_files
    from gwa.archive.fetch import sources
    from gwa.archive.public_traces import public_trace

    return list(sources(fetch_files(public_trace(key), Path(folder), progress)))


def sample(kind: Literal["slurm", "swf"] = "slurm") -> Trace:
    """
    Open the log of an invented cluster, which has all that a report shows.

    Parameters
    ----------
    kind
        ``slurm``, what sacct would print, or ``swf``, which has no GPUs and no energy.

    Returns
    -------
    Trace
        The trace, to be closed at the end of a ``with``. The same jobs on every machine; no system ran them.

    Raises
    ------
    ArgumentError
        If there is no such kind.

    Examples
    --------
    >>> import gwa
    >>> with gwa.sample("swf") as trace:
    ...     len(trace)
    12611

    """
    from gwa.formats.sample import write

    if kind not in KINDS:
        raise ArgumentError(f"there is no sample '{kind}', expected one of {', '.join(KINDS)}")
    with ScratchFolder() as folder:
        path = folder / f"sample.{KINDS[kind]}"
        write(kind, path)
        return open_trace(path)


def fit(
    trace: TraceOrSource,
    model: str,
    *,
    arrivals: str | None = None,
    k: int | None = None,
    block_hours: int | None = None,
) -> "FittedModel":
    """
    Fit a model of workloads to a trace.

    Parameters
    ----------
    trace
        A trace, or what `gwa.open` takes.
    model
        The name of the model, such as ``lublin``; ``gwa model list`` lists them.
    arrivals
        The name of another arrival process, such as ``spectral``.
    k
        The fewest sessions that a cell of the ledger of the model ``gwa`` may count; fewer are merged.
    block_hours
        The hours of a block of that ledger: 6 unless stated, 12 or 24.

    Returns
    -------
    FittedModel
        The model, which `gwa.generate` takes.

    Examples
    --------
    >>> import gwa
    >>> gwa.fit("sample_traces/swf/tiny.swf", "lublin").title
    'Lublin and Feitelson 2003'

    """
    from gwa.models.fitted import fitted_to

    with _opened(trace) as opened:
        return fitted_to(opened.store, opened.name, model, arrivals, k, block_hours)


def generate(  # noqa: PLR0913 - all but the model go by name
    model: "FittedModel | FilePath",
    *,
    jobs: int | None = None,
    days: float | None = None,
    seed: int = 1,
    cpus: int | None = None,
    utilization: float | None = None,
    arrivals: str | None = None,
    progress: Progress = SILENT,
) -> Trace:
    """
    Generate a synthetic trace.

    Parameters
    ----------
    model
        What `gwa.fit` returns, a file of a model, or the name of a preset.
    jobs, days
        How long the trace is: one of both.
    seed
        The seed of the random numbers: the same one gives the same jobs.
    cpus
        The most processors of a job.
    utilization
        The share of *cpus* that the jobs use: arrivals are rescaled to it.
    arrivals
        The name of another arrival process.
    progress
        Receives the progress of the work.

    Returns
    -------
    Trace
        The trace, to be closed at the end of a ``with``. Its header says that it is synthetic.

    Examples
    --------
    >>> import gwa
    >>> with gwa.generate("lublin", jobs=500, seed=7) as trace:
    ...     len(trace), dict(trace.header)["Seed"]
    (500, '7')

    """
    from gwa.models.files import load_model
    from gwa.models.fitted import FittedModel
    from gwa.models.generate import generate_store
    from gwa.models.request import WantedWorkload

    source = model if isinstance(model, FittedModel) else load_model(str(model))
    wanted = WantedWorkload(jobs, days, seed, cpus, utilization, arrivals)
    name = f"{Path(source.name).stem}-{seed}"
    return Trace(generate_store(wanted.of(source.model), progress=progress), name)


def score(real: TraceOrSource, synthetic: TraceOrSource) -> "pd.DataFrame":
    """
    Score how realistic a synthetic trace is.

    Parameters
    ----------
    real, synthetic
        Traces, or what `gwa.open` takes.

    Returns
    -------
    pandas.DataFrame
        A row for each measure, with its distance, its noise floors and a verdict, as ``gwa model score``
        prints it. The attribute ``attrs["summary"]`` has the verdicts in a sentence, ``attrs["notes"]`` what
        else is worth knowing.

    Examples
    --------
    >>> import gwa
    >>> card = gwa.score("sample_traces/swf/tiny.swf", "sample_traces/swf/tiny.swf")
    >>> card.attrs["summary"]
    'The two are equal in all that is measured: this is the trace itself, or a copy.'

    """
    import pandas as pd

    from gwa.evaluation.job_arrays import workload
    from gwa.evaluation.queues.words import sentences
    from gwa.evaluation.rivals import Contest
    from gwa.evaluation.scorecard import COLUMNS

    with _opened(real) as first, _opened(synthetic) as second:
        contest = Contest(workload(first.store, first.name))
        made = workload(second.store, second.name)
    card, queues = contest.card(made), contest.queues([made])
    frame = pd.DataFrame(contest.rows(card, made, queues), columns=[one.key for one in COLUMNS])
    frame.attrs.update(summary=card.summary(), notes=[*card.notes, *sentences(queues)])
    return frame


def simulate(
    experiment: FilePath,
    folder: FilePath,
    *,
    repetitions: int | None = None,
    workers: int = 1,
    progress: Progress = SILENT,
) -> "pd.DataFrame":
    """
    Simulate the schedulers of an experiment.

    Parameters
    ----------
    experiment
        A TOML file that names workloads, a system, policies and repetitions, as for ``gwa simulate``.
    folder
        Where results are written; an experiment that was interrupted goes on there.
    repetitions
        Repetitions instead of those of the file.
    workers
        Worker processes.
    progress
        Receives the progress of the work.

    Returns
    -------
    pandas.DataFrame
        The means of each combination of policies and workloads, with half of their 95 % confidence interval.

    Examples
    --------
    >>> import gwa, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     means = gwa.simulate("experiments/example.toml", folder, repetitions=1)
    >>> "makespan" in means
    True

    """
    import pandas as pd

    from gwa.evaluation.experiments.page import summary
    from gwa.evaluation.experiments.plan import ExperimentPlan
    from gwa.evaluation.experiments.results import ExperimentResults
    from gwa.evaluation.experiments.run_cache import RunCache
    from gwa.evaluation.experiments.runner import run_all
    from gwa.evaluation.experiments.spec import read_experiment

    spec = read_experiment(Path(experiment))
    plan = ExperimentPlan(spec if repetitions is None else spec.with_repetitions(repetitions))
    cache = RunCache(Path(folder))
    run_all(plan, cache, workers, progress)
    results = ExperimentResults.of(plan, cache)
    results.write(Path(folder))
    names, rows = summary(results)
    return pd.DataFrame(rows, columns=names)


def compare(
    traces: Sequence[TraceOrSource],
    *,
    names: Sequence[str] | None = None,
    like: Literal["period", "load"] | None = None,
    progress: Progress = SILENT,
) -> Report:
    """
    Compare 2 to 20 traces; each difference is tested against chance.

    Parameters
    ----------
    traces
        Traces, or what `gwa.open` takes.
    names
        What they are called, in their order.
    like
        ``period`` compares the time that all cover, ``load`` weeks of the same load.
    progress
        Receives the progress of the work.

    Returns
    -------
    Report
        The comparison, which `Report.write` writes to files.

    Raises
    ------
    ArgumentError
        If there are as many *names* as traces not, or too few or many traces.

    Examples
    --------
    >>> import gwa
    >>> with gwa.generate("lublin", jobs=1000, seed=1) as made:
    ...     gwa.compare(["sample_traces/swf/tiny.swf", made], names=["log", "model"]).title
    'model against log'

    """
    from contextlib import ExitStack

    from gwa.analysis.comparison.align import LIKE
    from gwa.analysis.comparison.compare import compare as compare_stores

    with ExitStack() as stack:
        opened = [stack.enter_context(_opened(trace)) for trace in traces]
        called = [trace.name for trace in opened] if names is None else list(names)
        if len(called) != len(opened):
            raise ArgumentError(f"{len(opened)} traces are compared, expected as many names")
        stores = [(name, trace.store) for name, trace in zip(called, opened, strict=True)]
        aligned, remark = LIKE[like](stores) if like else (stores, "")
        return compare_stores(aligned, None, [remark] if remark else [], progress)


def check(trace: TraceOrSource) -> "pd.DataFrame":
    """
    Check the quality of a trace.

    Parameters
    ----------
    trace
        A trace, or what `gwa.open` takes.

    Returns
    -------
    pandas.DataFrame
        A row for each problem, the most severe first: its ``kind`` (error, warning or info), ``count``
        of jobs or rows, ``what`` it is, what it ``affects``, and ``examples``. It is empty where nothing is
        wrong.

    Examples
    --------
    >>> import gwa
    >>> list(gwa.check("sample_traces/swf/tiny.swf").columns)
    ['kind', 'count', 'what', 'affects', 'examples']

    """
    import pandas as pd

    from gwa.analysis.conditions import FactsOnDemand
    from gwa.metrics.quality import problems

    with _opened(trace) as opened:
        found = list(problems(opened.store, FactsOnDemand(opened.store).on_levels()))
    rows = [(one.level, one.count, one.meaning, one.affects, "; ".join(one.examples)) for one in found]
    return pd.DataFrame(rows, columns=["kind", "count", "what", "affects", "examples"])


def whatif(
    trace: TraceOrSource, *changes: str, was: str = "easy", progress: Progress = SILENT
) -> dict[str, Any]:
    """
    Replay a trace on a changed machine, and say how waits would change.

    Parameters
    ----------
    trace
        A trace, or what `gwa.open` takes.
    *changes
        Each a change and its value, as the options of ``gwa whatif``: ``"cpus +20%"``, ``"scheduler fcfs"``.
    was
        The policy that the machine as it was is replayed with; one of your own is ``package:function``.
    progress
        Receives the progress of the work.

    Returns
    -------
    dict
        The answer as ``gwa whatif --json`` prints it: ``trust`` says whether the log bears it out, ``plan``
        has what the log predicts for more processors, and ``sentences`` has all in words.

    Raises
    ------
    ArgumentError
        If nothing is changed, or there is no such change.
    TraceError
        If no job can be replayed; or if other processors are asked for, and more than 20 % of the waiting was
        with room for every waiting job or at a ceiling of the owner.

    Examples
    --------
    >>> import gwa
    >>> found = gwa.whatif("sample_traces/swf/tiny.swf", "cpus +20%")
    >>> found["processors"]
    {'old': 48, 'new': 58}

    """
    from gwa.evaluation.whatif import words
    from gwa.evaluation.whatif.answer import asked
    from gwa.evaluation.whatif.change import parsed

    if not changes:
        raise ArgumentError("nothing is changed, expected a change such as 'cpus +20%'")
    with _opened(trace) as opened:
        found = asked(opened.store, [parsed(text) for text in changes], was, progress)
    effect = f"{words.question(found)} {words.answer_sentence(found)}"
    sentences = [effect, *words.reach(found), words.trust(found), *words.remarks(found)]
    return {**found.plain(), "sentences": sentences}


def plan(
    trace: TraceOrSource, cpus: str = "+20%", *, size: str | None = None, progress: Progress = SILENT
) -> dict[str, Any]:
    """
    Predict waits with more processors, where the trace can.

    Parameters
    ----------
    trace
        A trace, or what `gwa.open` takes.
    cpus
        Processors: a number, or a difference such as ``+10%``; at most a fifth more.
    size
        The jobs whose waits are asked for: ``16`` for 16 processors or more, ``4..8``, ``all``. None is all,
        and the large ones.
    progress
        Receives the progress of the work.

    Returns
    -------
    dict
        The answer as ``gwa plan --json`` prints it: ``answers`` has the forecast for each class of jobs, or
        the ``reasons`` why there is none, and ``sentences`` has it in words.

    Raises
    ------
    ArgumentError
        If *cpus* or *size* say nothing possible; `TraceError` where no job can be replayed.

    Examples
    --------
    >>> import gwa
    >>> found = gwa.plan("sample_traces/swf/tiny.swf")
    >>> [reason["id"] for reason in found["answers"][0]["reasons"]]
    ['months']

    """
    from gwa.analysis.without_forecast import without_forecast
    from gwa.evaluation.capacity import words
    from gwa.evaluation.capacity.rule import planned
    from gwa.evaluation.capacity.windows import ProcessorRange

    classes = [ProcessorRange.parse(size)] if size else []
    with _opened(trace) as opened:
        found, beside = planned(opened.store, cpus, classes, progress), without_forecast(opened.store)
    return words.plain(found, beside)


def wait(
    trace: TraceOrSource,
    *,
    procs: int = 1,
    time: float | None = None,
    queue: str | None = None,
    user: str | None = None,
    waiting: int = 0,
    method: str = "bmbp-own",
) -> dict[str, Any]:
    """
    Bound the wait of a job that is submitted at the end of a trace.

    Parameters
    ----------
    trace
        A trace, or what `gwa.open` takes.
    procs
        Processors of the job.
    time
        The time that it requests, in seconds.
    queue, user
        Its queue (or partition, where the log records no queues) and its user.
    waiting
        How many jobs of that user wait already.
    method
        The method, one of those that ``gwa wait --compare`` lists.

    Returns
    -------
    dict
        The ``bound`` in seconds, which is meant to hold for 95 % of such jobs; how often such bounds ``held``
        in this trace; and ``sentences``, which have it in words. It is None where jobs are too few.

    Examples
    --------
    >>> import gwa
    >>> found = gwa.wait("sample_traces/swf/tiny.swf", procs=4)
    >>> found["bound"] > 0
    True

    """
    from gwa.evaluation.wait_bound import Asked, wait_bound, waiting_jobs

    with _opened(trace) as opened:
        jobs, system = waiting_jobs(opened.store, opened.name), opened.system
    found = wait_bound(jobs, system, Asked(procs, time, queue, user, waiting), method)
    return {**found.plain(), "sentences": found.sentences(system)}


def charge(
    trace: TraceOrSource,
    rates: FilePath | dict[str, Any],
    period: str,
    *,
    against: Sequence[FilePath] = (),
) -> "pd.DataFrame":
    """
    Charge projects for what their jobs held.

    Parameters
    ----------
    trace
        A whole trace, or what `gwa.open` takes.
    rates
        A file of rates, or a dictionary of what would stand in it; ``gwa charge --example`` prints one.
    period
        Months to charge, such as ``2025-10``, ``2025-10..2025-12`` or ``last-month``.
    against
        Folders of statements given before: what they charge is not charged again, only corrected.

    Returns
    -------
    pandas.DataFrame
        A row for each line of the statements of all projects, as in the ``summary.csv`` of ``gwa charge``.
        Amounts and rates are exact (`decimal.Decimal`), moments are in the zone of the trace. The attribute
        ``attrs["total"]`` has the sum, ``attrs["notes"]`` what a reader has to know, such as jobs that are
        not charged.

    Raises
    ------
    ArgumentError
        If the period cannot be charged, or the trace is filtered.
    DefinitionError
        If the rates are not sound.
    TraceError
        If no rate fits a job.

    Examples
    --------
    >>> import gwa
    >>> with gwa.sample() as trace:
    ...     rate = {"name": "all", "cpu_hour": 0.01, "gpu_hour": 0.4}
    ...     lines = gwa.charge(trace, {"currency": "EUR", "rates": [rate]}, "2025-10")
    >>> lines.columns[:3].to_list(), lines.amount.sum() == lines.attrs["total"]
    (['project', 'service', 'quantity'], True)

    """
    import pandas as pd

    from gwa.breakdown.charge.pages import COLUMNS, notes, values
    from gwa.breakdown.charge.rates import from_table, read_rates
    from gwa.breakdown.charge.record import read_given
    from gwa.breakdown.charge.statements import statements, unused
    from gwa.metrics.periods import dated

    asked = from_table(rates) if isinstance(rates, dict) else read_rates(Path(rates))
    before = [read_given(Path(folder)) for folder in dict.fromkeys(against)]
    with _opened(trace) as opened:
        if opened.filters:
            raise ArgumentError(
                f"{opened.name} is filtered, expected a whole trace: rates say what is charged"
            )
        made = statements(opened.store, asked, dated(period, opened.store), before)
    frame = pd.DataFrame([values(line, made) for line in made.lines], columns=list(COLUMNS))
    frame.attrs.update(total=made.total, notes=[*map(str, notes(made)), *unused(made)])
    return frame
