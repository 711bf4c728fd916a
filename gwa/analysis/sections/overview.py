"""What the trace is: its size, its period, its system."""

from collections.abc import Iterator

from gwa.analysis.base import Chapter, analysis
from gwa.analysis.changing_size import sizes_in_words
from gwa.metrics.presence import held_by_running, recorded
from gwa.metrics.totals import totals
from gwa.report.document import Block, Fact, Note, list_of, note_of
from gwa.report.facts import number
from gwa.store.store import Store
from gwa.words.formatting import decimal
from gwa.words.message import message


@analysis("The trace", Chapter.TRACE, facts=("trace",))
def overview(store: Store) -> Iterator[Block]:
    """
    How large the trace is, how long, and of what system.

    The span runs from the first known submission to the last known end. The head of the page has the time
    that the log tells of: to the last submission, if that is later, and of a period what lies in it. A job
    ran when its run time is at least 0 and it had a processor; CPU seconds are processors times run time of
    such jobs.
    """
    jobs, ran, first, last, seconds = totals(store)
    users, groups = store.row("select count(distinct user_id), count(distinct group_id) from jobs")
    span = last - first if last is not None and first is not None else None
    system = store.system
    label = message("Processors, the most") if system.sizes else message("Processors")
    yield list_of(
        Fact("trace.jobs", jobs, "Jobs", "count"),
        Fact("trace.ran", ran, "Jobs that ran", "count"),
        Fact("trace.users", users or None, "Users", "count"),
        Fact("trace.groups", groups or None, "Groups", "count"),
        Fact("trace.sites", _sites(store), "Sites", "count"),
        Fact("trace.first_submit", first, "First submission", "timestamp"),
        Fact("trace.last_end", last, "Last end", "timestamp"),
        Fact("trace.span_seconds", span, "Span", "seconds"),
        Fact("trace.cpus", system.cpus, label, "count", help=system.cpus_from),
        Fact("trace.cpu_seconds", number(seconds), "CPU time", "cpu seconds"),
    )
    # The help of the processors, and the head of the page, say this to readers.
    begin, end = recorded(store) or (None, None)
    running = number(held_by_running(store))
    least = min((cpus for _, cpus in system.sizes), default=None)
    yield list_of(
        *([Fact("trace.cpus_least", least, "Processors, the fewest", "count")] if least else ()),
        Fact("trace.cpus_inferred", system.cpus_inferred, "Processors inferred"),
        Fact("trace.first", begin, "First second that the log covers", "timestamp"),
        Fact("trace.last", end, "Last second that the log covers", "timestamp"),
        Fact("trace.running_cpu_seconds", running, "CPU time of jobs that had not ended", "cpu seconds"),
        listed=False,
    )
    yield from _remarks(store)


def _sites(store: Store) -> int | None:
    """Return the number of sites that ran jobs or, if unknown, of those that submitted them."""
    run_sites, submission_sites = store.row(
        "select count(distinct last_run_site_id), count(distinct orig_site_id) from jobs"
    )
    return run_sites or submission_sites or None


def _remarks(store: Store) -> Iterator[Note]:
    """Yield what a reader must know about the system and its clock."""
    system = store.system
    if system.cpus_inferred:
        yield note_of(
            "The log does not state the number of processors: at most {cpus} were ever busy at once, and "
            "utilization is unknown. A system file (--system) can state the number.",
            cpus=decimal(system.cpus or 0, ","),
        )
    elif system.sizes:
        yield Note(message("The number of processors changed: {sizes}.", sizes=sizes_in_words(system)))
    elif system.cpus is not None and "MaxNodes" in system.cpus_from:
        yield Note("The header gives a number of nodes only; it is taken as the number of processors.")
    if system.relative:
        yield Note(
            "Times count from an unknown start, so days are numbered and hours of the day are not known."
        )
    elif system.zone is None:
        yield Note("The trace does not name a time zone: days and hours are in UTC.")
    missing = store.row("select count(*) from jobs where submit_time is null")[0]
    if missing:
        yield Note(
            message(
                "{missing} jobs have no submit time. They are in all counts, but not in what "
                "changes over time.",
                missing=decimal(missing, ","),
            ),
            "warning",
        )
