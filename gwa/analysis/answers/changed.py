"""What changed."""

from gwa.analysis import change_sentences
from gwa.analysis.answers.base import AnswerStatement, Known, course, question
from gwa.words.message import message, plural


@question("changed", message("What changed?"), "changes", "arrivals")
def changed(known: Known) -> AnswerStatement:
    """Return what changed over the life of the log."""
    changes, weeks = known.get("changes"), known.get("changes.weeks")
    picture = course(known, "arrivals", message("Jobs submitted over time"))
    if weeks is None:
        unknown = message("Submission times are not recorded, so that changes over time cannot be known.")
        return AnswerStatement("unknown", "", unknown, "changes", picture)
    if changes is None:
        silent, measures = known.get("changes.weeks_unknown") or 0, known.get("changes.measures") or []
        why = change_sentences.not_judged_sentence(weeks, silent, measures)
        return AnswerStatement("not tested", "", why, "changes", picture)
    if not changes:
        doubtful = known.get("changes.doubtful")
        text = change_sentences.no_change_sentence(
            known.get("changes.largest"),
            known.get("changes.visible") or [],
            known.get("changes.small") or [],
            doubtful,
        )
        number = message("not sure") if doubtful else message("usual variation")
        return AnswerStatement("not found", number, text, "changes", picture)
    return AnswerStatement(
        "found",
        plural("{n} change", "{n} changes", len(changes)),
        change_sentences.changes_sentence(changes, weeks),
        "changes",
        picture,
    )
