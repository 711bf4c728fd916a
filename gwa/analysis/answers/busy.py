"""How busy the system was."""

from typing import Final

from gwa.analysis.answers.base import AnswerStatement, Known, course, missing, question
from gwa.analysis.answers.stretches import unaccounted_sentences
from gwa.report.document import Figure, State
from gwa.report.facts import busy_facts, has_gaps
from gwa.words.formatting import ends, fraction, number
from gwa.words.message import Message, joined, message, plural

NEEDS: Final = ("n_procs", "run_time", "submit_time")
"""The fields without which nothing is known of busy processors."""

MAXIMUM_OVER: Final = 0.02
"""Where more processors than there are are busy for longer, it is said."""


@question("busy", message("How busy was it?"), "overview", "utilization", "stretches", "gpus")
def busy(known: Known) -> AnswerStatement:
    """
    Return which share of the processors was busy; where their number is not recorded, how many were.

    Of a system whose size is not recorded there is no share: the most that were ever busy is a lower bound
    of the size, which gives neither the share nor a bound of it. Where rows are missing, or the log is still
    for a day or more, the mean is that of all other times. It is of the window of observation, which the
    sentence names where it is not the time that the head of the page has; where there is no window, the mean
    of all that the log shows is a lower bound. It is one, too, where earlier runs of jobs are only counted.
    """
    gaps = unaccounted_sentences(known.facts)
    # Where job numbers of the source are not recorded, the mean outside of gaps is unknown.
    are_left_out = has_gaps(known.facts) and known.get("utilization.known_busy") is not None
    number_text, text, is_known = _processors(known, has_gaps=are_left_out)
    sentences = [
        text,
        *_over(known),
        *gaps,
        *_gpus(known, has_gaps=are_left_out),
        *_others(known, is_known=bool(number_text)),
    ]
    state: State = "unknown" if not number_text else "known" if is_known else "bound"
    picture = _picture(known)
    return AnswerStatement(state, number_text, joined(" ", sentences), "utilization", picture)


def _processors(known: Known, *, has_gaps: bool) -> tuple[str, Message, bool]:
    """Return the number, the sentence on processors, and whether it is a value or a bound."""
    is_known = known.get("utilization.busy") is not None and not _has_unknown_runs(known)
    share, held = map(known.get, busy_facts(known.facts, has_gaps=has_gaps))
    when = _when(known, has_gaps=has_gaps and is_known)
    if held is None:
        return "", _unknown(known), False
    if known.get("trace.cpus_inferred") or share is None:
        return (*_without_size(known, held, when, is_known=is_known), is_known)
    if share > 1:
        return "", _impossible(known, share), False
    return (*_share(known, share, when, is_known=is_known), is_known)


def _has_unknown_runs(known: Known) -> bool:
    """Whether jobs ran before their last run, and nothing says what they held then."""
    has_earlier = bool(known.get("outcomes.requeued.runs"))
    return has_earlier and known.get("outcomes.requeued.cpu_seconds") is None


def _when(known: Known, *, has_gaps: bool) -> Message:
    """Return that something is a mean, of which time, and that gaps of the log are left out."""
    if has_gaps:
        return message("On average{span}, outside gaps of the log", span=_span(known))
    return message("On average{span}", span=_span(known))


def _span(known: Known) -> str:
    """Return of which time the levels are, where that is not the time that the head of the page has."""
    first, last = known.get("utilization.first"), known.get("utilization.last")
    begin, end = known.get("trace.first"), known.get("trace.last")
    if None in {first, last, begin, end}:
        return ""
    whole = ends(begin, end, known.zone, like=(first, last))
    first, last = ends(first, last, known.zone)
    if (first, last) == whole:
        return ""
    return message(" from {first} to {last}", first=first, last=last)


def _share(known: Known, share: float, when: Message, *, is_known: bool) -> tuple[Message, Message]:
    """Return how large a share of the processors was busy, as a number and a sentence."""
    text, size = fraction(share), _size(known)
    value = message("{share}", share=text) if is_known else message("≥ {share}", share=text)
    held = text if is_known else message("at least {share}", share=text)
    if known.is_selection:
        words = {"share": held, "size": size, "span": _span(known)}
        what = message("These jobs kept {share} of {size} busy on average{span}", **words)
    else:
        what = message("{when}, {share} of {size} were busy", when=when, share=held, size=size)
    if is_known:
        return value, message("{what}.", what=what)
    return value, message("{what}: the log does not show all that ran.", what=what)


def _without_size(known: Known, held: float, when: Message, *, is_known: bool) -> tuple[Message, Message]:
    """Return how many processors were busy on a system of unknown size: a number and a sentence."""
    busy_text = plural("{n} processor", "{n} processors", held, n=number(held))
    most = number(known.get("trace.cpus"))
    text = (
        message("{when}, {held} were busy, at most {most} at once", when=when, held=busy_text, most=most)
        if is_known
        else message(
            "{when}, at least {held} were busy, at one time at least {most}",
            when=when,
            held=busy_text,
            most=most,
        )
    )
    value = busy_text if is_known else message("≥ {held}", held=busy_text)
    return value, message("{what}; the size of the system is not recorded.", what=text)


def _size(known: Known) -> Message:
    if known.get("trace.cpus_least") is not None:
        return message("the processors that there were")
    return plural("{n} processor", "{n} processors", known.get("trace.cpus"))


def _impossible(known: Known, share: float) -> Message:
    """Return that jobs hold more processors on average than there are, and the likeliest reason."""
    why = (
        message("the number of processors is wrong, or the times of the jobs are")
        if known.has("wait_time")
        else message("when jobs started is not known, as wait times are not recorded")
    )
    return message(
        "Utilization is unknown: by the log, {share} of {size} were busy on average{span}; {why}.",
        share=fraction(share),
        size=_size(known),
        span=_span(known),
        why=why,
    )


def _over(known: Known) -> list[Message]:
    """Return for how long more processors were busy than there are, where that is noticeable."""
    share, mean = known.get("utilization.above_capacity"), known.get("utilization.mean")
    if known.get("trace.cpus_inferred") or not share or share < MAXIMUM_OVER or (mean or 0) > 1:
        return []
    return [message("For {share} of the time, more were busy than there are.", share=fraction(share))]


def _unknown(known: Known) -> Message:
    """Return why nothing is known of busy processors: one cause, the first that applies."""
    absent = missing(known, NEEDS)
    if absent:
        return message("Utilization is unknown: {fields} are not recorded.", fields=absent)
    if not known.get("trace.ran"):
        return message("Utilization is unknown: no job ran.")
    if not known.get("trace.cpus"):
        return message("Utilization is unknown: the number of processors is not recorded.")
    return message("Utilization is unknown: the log has too few jobs to show what else ran.")


def _gpus(known: Known, *, has_gaps: bool) -> list[Message]:
    """
    Return the share of GPUs that were allocated, if it is known how many there are; else how many were.

    Where the log *has_gaps*, they are means outside these.
    """
    which = "gpu.known_" if has_gaps else "gpu."
    share, held, total = known.get(f"{which}utilization"), known.get(f"{which}busy"), known.get("gpu.total")
    if (held is None and share is None) or not total or known.is_selection:
        return []
    when = _when(known, has_gaps=has_gaps)
    if share is None or known.get("gpu.total_inferred"):
        if held is None:
            return []
        return [
            message(
                "{when}, {held} were allocated, at most {most} at once.",
                when=when,
                held=plural("{n} GPU", "{n} GPUs", held, n=number(held)),
                most=number(total),
            )
        ]
    size = plural("{n} GPU", "{n} GPUs", total, n=number(total))
    if has_gaps:
        return [
            message("{when}, {share} of {size} were allocated.", when=when, share=fraction(share), size=size)
        ]
    return [message("Of {total}, {share} were allocated.", total=size, share=fraction(share))]


def _others(known: Known, *, is_known: bool) -> list[Message]:
    """Return that other jobs are left out, where only some jobs are looked at."""
    return [message("Other jobs are left out.")] if known.is_selection and is_known else []


def _picture(known: Known) -> Figure | None:
    return course(known, "utilization", message("Busy processors over time"))
