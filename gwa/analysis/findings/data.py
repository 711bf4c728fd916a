"""What the data lack: rows, waits, ends, processors, and jobs at both ends of the log."""

from gwa.analysis.finding import Facts, finding, knows_starts
from gwa.metrics.window import LACKING
from gwa.words.formatting import fraction, number, seconds
from gwa.words.message import message

UNAFFECTED = 0.95
"""A log whose load is known for a larger share of its span is as good as whole."""
ADVICE = message(
    "Where running jobs are missing, levels are lower bounds, and run times and waits of long jobs are"
    " underrepresented."
)

MINIMUM_SHARE = 0.02


@finding("window.cut", "trace.span_seconds", section="data-quality", advice=ADVICE)
def cut_log(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if submissions and ends show that the log was cut out of a longer one, and it matters.

    It does where the load is not known for a twentieth of the time that the jobs span, or more.
    """
    lacking = LACKING.get(facts["window.cut"])
    if not lacking:
        return None
    first, last, span = facts.get("window.first"), facts.get("window.last"), facts["trace.span_seconds"]
    if first is None or last is None:
        return 0.9, message(
            "The log {lacking}: utilization and other levels are lower bounds throughout.", lacking=lacking
        )
    if last - first > UNAFFECTED * span:
        return None
    known = message("{last} of the {span} that its jobs span", last=seconds(last - first), span=seconds(span))
    return 0.5 + 0.4 * (1 - min((last - first) / span, 1)), (
        message(
            "The log {lacking}: utilization and other levels are known for {known}.",
            lacking=lacking,
            known=known,
        )
    )


@finding(
    "conversion.rejected",
    "conversion.rows",
    section="data-quality",
    advice="gwa check lists the reasons. If most rows are rejected, the log is probably in another format.",
)
def rejected_rows(facts: Facts) -> tuple[float, str] | None:
    """Shown whenever a row of the source was rejected."""
    rejected, rows = facts["conversion.rejected"], facts["conversion.rows"]
    if not rejected or not rows:
        return None
    share = rejected / rows
    rejects = message(
        "{rejected} of {rows} rows ({share})",
        rejected=number(rejected),
        rows=number(rows),
        share=fraction(share),
    )
    return 0.5 + share * 5, message("{rejects} could not be read and are left out.", rejects=rejects)


@finding(
    "utilization.unfinished",
    "trace.jobs",
    section="data-quality",
    advice="Run times are those of the jobs that ended, so long ones are underrepresented.",
)
def still_running(facts: Facts) -> tuple[float, str] | None:
    """Shown if at least 2 % of the jobs still ran when the log ended."""
    running, jobs = facts["utilization.unfinished"], facts["trace.jobs"]
    if not jobs or running < jobs * MINIMUM_SHARE:
        return None
    share = running / jobs
    many = message(
        "{running} of {jobs} jobs ({share})",
        running=number(running),
        jobs=number(jobs),
        share=fraction(share),
    )
    return 0.5 + share / 2, message(
        "{many} were still running when the log ended: how long they ran is unknown.", many=many
    )


@finding(
    "utilization.above_capacity",
    "utilization.peak",
    "trace.cpus",
    "trace.cpus_inferred",
    section="utilization",
    advice="Check the number of processors: a system file (--system) can state another one. Until then,"
    " shares of the machine are uncertain.",
)
def too_small(facts: Facts) -> tuple[float, str] | None:
    """
    Shown if more processors than the system is said to have are busy for at least 2 % of the time.

    It is not shown if the waits of many jobs are unknown: when these ran is then unknown, too.
    """
    share, peak, cpus = (facts[name] for name in too_small.needs[:3])
    if share < MINIMUM_SHARE or facts["trace.cpus_inferred"] or not knows_starts(facts):
        return None
    words = {"share": fraction(share), "cpus": number(cpus), "peak": number(peak)}
    text = (
        message(
            "For {share} of the time, more processors are busy than the system is said to have had then, at"
            " most {peak}.",
            **words,
        )
        if "trace.cpus_least" in facts
        else message(
            "For {share} of the time, more processors are busy than the {cpus} that the system is said to"
            " have, at most {peak}.",
            **words,
        )
    )
    return 0.5 + share, text


@finding(
    "completeness.ran_without_wait",
    "trace.ran",
    section="data-quality",
    advice="Nothing can be said about how such jobs were served. They are taken to have started when they"
    " were submitted, so numbers of running jobs are as if nothing had waited.",
)
def waits_unknown(facts: Facts) -> tuple[float, str] | None:
    """Shown if the wait is unknown for at least 2 % of the jobs that ran."""
    unknown, ran = facts["completeness.ran_without_wait"], facts["trace.ran"]
    if not ran or unknown < ran * MINIMUM_SHARE:
        return None
    if unknown == ran:
        return 0.7, message("The log does not record how long jobs waited.")
    many = message(
        "{unknown} of {ran} jobs that ran ({unknown2})",
        unknown=number(unknown),
        ran=number(ran),
        unknown2=fraction(unknown / ran),
    )
    return 0.3 + 0.4 * unknown / ran, message("The log does not record the wait time of {many}.", many=many)
