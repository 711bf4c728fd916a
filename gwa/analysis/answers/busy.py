"""How busy the system was."""

from collections.abc import Mapping
from typing import Any

from gwa.analysis.answers.base import Known, Statement, course, question
from gwa.report.formatting import fraction, number
from gwa.report.message import message, plural


@question("busy", message("How busy was it?"), "overview", "utilization", "gpus")
def busy(known: Known) -> Statement:
    """Return how busy processors and GPUs were."""
    mean, least = known.get("utilization.mean"), known.get("utilization.at_least")
    machine = _machine(known.facts)
    picture = course(known, "utilization", message("Busy processors over time"))
    if mean is not None:
        share = fraction(mean)
        return Statement(
            "known",
            share,
            message(
                "On average {share} of {machine} were busy.{known}",
                share=share,
                machine=machine,
                known=_gpus(known),
            ),
            "utilization",
            picture,
        )
    if least is not None:
        share = fraction(least)
        text = message(
            "At least {share} of {machine} were busy; the log is cut, so it may be more.{known}",
            share=share,
            machine=machine,
            known=_gpus(known),
        )
        return Statement("known", message("≥ {share}", share=share), text, "utilization", picture)
    return Statement(
        "unknown",
        "",
        message(
            "Utilization is unknown: sizes, run times or submissions are not recorded.{known}",
            known=_gpus(known),
        ),
        "utilization",
    )


def _machine(facts: Mapping[str, Any]) -> str:
    """Return what the processors are called: those of the system, or those ever busy at once."""
    cpus = facts.get("trace.cpus")
    if not cpus:
        return message("the processors")
    if facts.get("trace.cpus_inferred"):
        return message(
            "{cpus} processors (the most ever busy at once; the size is not recorded)", cpus=number(cpus)
        )
    return plural("{n} processor", "{n} processors", cpus)


def _gpus(known: Known) -> str:
    mean, total = known.get("gpu.utilization"), known.get("gpu.total")
    return (
        ""
        if mean is None or not total
        else message(
            " Of {total}, {mean} were allocated.",
            total=plural("{n} GPU", "{n} GPUs", total),
            mean=fraction(mean),
        )
    )
