"""How long jobs waited."""

from collections.abc import Mapping, Sequence
from typing import Any

from gwa.analysis.answers.base import NOTICEABLE, AnswerStatement, Known, question
from gwa.analysis.served import worst_jobs, worst_wait
from gwa.report.document import Figure
from gwa.report.figures.spark import spark
from gwa.words.formatting import fraction, number, seconds
from gwa.words.message import Message, Verbatim, joined, message, within_sentence


@question("wait", message("How long did jobs wait?"), "waits", "slowdown")
def wait(known: Known) -> AnswerStatement:
    """Return how long jobs waited: by core-hour, by job, and who waited longest."""
    median, high = known.get("jobs.wait.median"), known.get("jobs.wait.p95")
    if median is None or high is None:
        return AnswerStatement("unknown", "", _unknown(known), "waits")
    if known.get("jobs.wait.max") == 0:
        text = message("Every known wait is 0 s: no job waited.")
        return AnswerStatement("known", seconds(0), text, "waits")
    if known.get("wait.weighted.median") is None:
        worth, caption = seconds(median), message("median job")
        text = message(
            "Half of the jobs {waited}; the 95th percentile is {high}. By core-hour it is unknown, for"
            " core-hours or their waits are not known.",
            waited=_waited(median),
            high=seconds(high),
        )
    else:
        worth, caption = seconds(known.get("wait.weighted.median")), _caption(known)
        text = joined(" ", (_halves(known), *_range(known)))
    if _are_from_eligibility(known):
        text += message(
            " Waits count from when a job could start: {share} of the time from submission to start lay"
            " before.",
            share=fraction(known.get("wait.held.share")),
        )
    worst = known.get("wait.worst")
    if worst:
        text += message(
            " Worst served: {jobs}; {wait} of the others.",
            jobs=within_sentence(worst_jobs(worst)),
            wait=worst_wait(worst),
        )
    picture = _by_size(known.get("wait.by_size") or [])
    return AnswerStatement("known", worth, text, "waits", picture, caption)


def _unknown(known: Known) -> Message:
    if known.has("wait_time"):
        return message("No job has a known wait time.")
    return message("Wait times are not recorded.")


def _caption(known: Known) -> Message:
    """Return what the number is of: the median by core-hour, beside that by job."""
    return message("median core-hour; median job {by_job}", by_job=seconds(known.get("wait.ran.median")))


def _halves(known: Known) -> Message:
    """Return the median and the 95th percentile, by core-hour and by job."""
    whole = _whole(known)
    median, high, job_median, job_high = (
        known.get(f"wait.{name}") for name in ("weighted.median", "weighted.p95", "ran.median", "ran.p95")
    )
    if not (high or job_high):
        return message(
            "95 % of {whole} went to jobs that did not wait, nor did 95 % of the jobs that ran.", whole=whole
        )
    return message(
        "Half of {whole} went to jobs that {waited} (half of the jobs that ran: {job_median}), 95 % to jobs"
        " that {waited_most} (95 % of the jobs that ran: {job_high}).",
        whole=whole,
        waited=_waited(median),
        job_median=seconds(job_median),
        waited_most=_waited(high),
        job_high=seconds(job_high),
    )


def _are_from_eligibility(known: Known) -> bool:
    """Whether a part of the time from submission to start, which is no wait, lay before jobs could start."""
    return (known.get("wait.held.share") or 0.0) >= NOTICEABLE


def _whole(known: Known) -> Message:
    """Return of which core-hours the wait is known."""
    share = known.get("wait.weighted.known")
    if share is None or share > 1 - NOTICEABLE:
        return message("the core-hours")
    return message("the core-hours whose wait is known ({share} of all)", share=fraction(share))


def _waited(most: float) -> Message:
    """Return the statement that jobs waited for *most* seconds at most."""
    return message("waited {wait} or less", wait=seconds(most)) if most else message("did not wait")


def _range(known: Known) -> Sequence[Message]:
    """Return how the median by core-hour depends on who the users are, or on whom it hangs."""
    low, high = (known.get(f"wait.weighted.median_{end}") for end in ("low", "high"))
    if low is not None and high is not None:
        if low == high:
            return []
        return [
            message(
                "With other users of the same kind, the median by core-hour may be {low} to {high} (90 %).",
                low=seconds(low),
                high=seconds(high),
            )
        ]
    holder = known.get("wait.weighted.holder")
    return [_holding(holder)] if holder and holder["share"] < 1 else []


def _holding(holder: Mapping[str, Any]) -> Message:
    """Return who decides the waits by core-hour."""
    share = fraction(holder["share"])
    match holder["kind"]:
        case "user":
            return message(
                "{user} has {share} of these core-hours.", user=Verbatim(holder["id"]), share=share
            )
        case "job":
            return message("A single job has {share} of these core-hours.", share=share)
        case _:
            jobs = number(round(1 / holder["share"], 1))
            return message(
                "Few jobs have most of these core-hours: they count for {jobs} equal ones.", jobs=jobs
            )


def _by_size(classes: Sequence[Mapping[str, Any]]) -> Figure | None:
    waits = [one["p95"] for one in classes]
    if len(waits) <= 1 or not any(waits):
        return None
    words = joined(", ", (message("{id}: {p95}", id=one["id"], p95=seconds(one["p95"])) for one in classes))
    title = message("95th percentile of wait times by number of processors")
    alt = message("{title}: {words}.", title=title, words=words)
    names = [one["id"] for one in classes]
    return spark("answer-wait", title, waits, alt, shape="bars", labels=names, unit="seconds")
