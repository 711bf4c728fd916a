"""What changed over the life of the log."""

from gwa.analysis import change_sentences
from gwa.analysis.finding import Facts, finding


@finding(
    "changes",
    "changes.weeks",
    section="changes",
    action="Compare the dates with changes of the system, its scheduler and its users.",
)
def changes(facts: Facts) -> tuple[float, str] | None:
    """Shown if jobs, users, load, waits, run times, sizes or failures moved by more than weeks vary."""
    changed = facts["changes"]
    if not changed:
        return None
    weight = 0.4 + 0.3 * min(max(map(change_sentences.size, changed)), 1)
    return weight, change_sentences.changes_sentence(changed, facts["changes.weeks"])
