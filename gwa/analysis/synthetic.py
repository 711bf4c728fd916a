"""
Reports on traces that a model made: they say so, and say of the model what they would say of a log.

A model does not forget to record what it does not make, and where no system ran, nothing was out of order.
"""

import re
from dataclasses import replace
from typing import Final

from gwa.report.document import Block, Fact, Facts, Figure, Note, Report, Section, Table
from gwa.store.store import Store
from gwa.words.message import Message, message
from gwa.words.unit import Value

OVERLINE: Final = message("Workload report on a synthetic trace")

REWORDED: Final = {
    "The log does not record how long jobs waited.": message("The model makes no waits."),
    "Wait times are not recorded.": message("The model makes no waits."),
    "How jobs ended is not recorded.": message("The model makes no outcomes."),
    "This trace records no waits: jobs are taken to start when they are submitted.": message(
        "The model makes no waits: jobs are taken to start when they are submitted."
    ),
    "This trace does not record how jobs ended, so completions are not known.": message(
        "The model makes no outcomes, so completions are not known."
    ),
}
"""What is said of a synthetic trace instead of a sentence on a log, by templates."""

LOG: Final = re.compile(r"\b(the|The|this|This|a|A) log\b(?! of)")


def origin(store: Store) -> Message | None:
    """Return which model made the jobs, with which seed, as the header says; None for a log."""
    if not store.is_generated:
        return None
    header = dict(store.header)
    model, seed = header.get("Model", "").partition(":")[0].strip(), header.get("Seed", "").strip()
    if model and seed:
        return message("synthetic: made by the model {model}, seed {seed}", model=model, seed=seed)
    if model:
        return message("synthetic: made by the model {model}", model=model)
    return message("synthetic: made by a model, no system ran these jobs")


def reworded(report: Report) -> Report:
    """Return the *report* on a synthetic trace without what only a log can lack or do."""
    return replace(
        report,
        sections=tuple(map(_section, report.sections)),
        findings=tuple(
            replace(one, text=of_trace(one.text), advice=of_trace(one.advice), action="")
            for one in report.findings
        ),
        answers=tuple(replace(one, text=of_trace(one.text)) for one in report.answers),
        answer=of_trace(report.answer),
    )


def of_trace(text: str) -> str:
    """
    Return what a sentence on a log says of a synthetic trace; its parts are reworded, too.

    Other languages find a sentence by what it says of a log.

    >>> of_trace(message("The log does not record how long jobs waited."))
    'The model makes no waits.'
    >>> of_trace(message("{share} of the log", share="Half"))
    'Half of the trace'
    """
    if not isinstance(text, Message):
        return (
            of_trace(Message(text)) if text in REWORDED or (type(text) is str and LOG.search(text)) else text
        )
    arguments = {
        name: of_trace(value) if isinstance(value, str) else value for name, value in text.arguments.items()
    }
    known = REWORDED.get(text.template)
    templates = (known.template, known.plural) if known else (text.template, text.plural)
    one, many = (LOG.sub(r"\1 trace", template) for template in templates)
    if arguments == dict(text.arguments) and (one, many) == (text.template, text.plural):
        return text
    shown = many if many and text.quantity != 1 else one
    said = shown.format(**arguments) if arguments else shown
    return Message(said, templates[0], arguments, templates[1], text.quantity)


def _section(section: Section) -> Section:
    return replace(section, blocks=tuple(map(_block, section.blocks)))


def _block(block: Block) -> Block:
    match block:
        case Note():
            return replace(block, text=of_trace(block.text))
        case Facts():
            return replace(block, facts=tuple(map(_fact, block.facts)))
        case Table():
            rows = tuple(tuple(map(_cell, row)) for row in block.rows)
            return replace(block, title=of_trace(block.title), rows=rows, note=of_trace(block.note))
        case Figure():
            return replace(block, title=of_trace(block.title), note=of_trace(block.note))
    return block


def _fact(fact: Fact) -> Fact:
    return replace(fact, label=of_trace(fact.label), text=of_trace(fact.text))


def _cell(cell: Value) -> Value:
    return of_trace(cell) if isinstance(cell, Message) else cell
