"""What several sections say of jobs with values that cannot be true."""

from collections.abc import Iterator

from gwa.metrics.efficiency import Share
from gwa.report.document import Note, note_of
from gwa.words.message import plural


def impossible_note(everything: Share) -> Iterator[Note]:
    """Yield a note where jobs used more CPU time than their processors had; *everything* is of all jobs."""
    cpu = everything.parts.get("cpu")
    if cpu and cpu.impossible:
        yield note_of(
            "{jobs} used over 5 % more CPU time than their processors had, and are left out of means "
            "and medians: the log may give the CPU time of all processors, or jobs ran on more than "
            "they were given.",
            jobs=plural("{n} job", "{n} jobs", cpu.impossible),
        )
