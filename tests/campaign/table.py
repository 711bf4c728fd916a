"""The table of a campaign: a row for each kind of attack, with how often it was tried and what went wrong."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

EXAMPLES: Final = 20
"""The number of failures of a row that are named."""


@dataclass
class Row:
    """What came of one kind of attack: how often it was *tried*, what was *wrong*, and *figures* of it."""

    attack: str
    subject: str
    tried: int = 0
    wrong: int = 0
    figures: dict[str, int | float] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)

    def count(self, name: str, number: float = 1) -> None:
        """Add *number* to a figure."""
        self.figures[name] = self.figures.get(name, 0) + number

    def fail(self, example: str) -> None:
        """Count what is wrong; the first ones are named."""
        self.wrong += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(example)

    def add(self, other: "Row") -> None:
        """Add what came of more attacks of this kind."""
        self.tried += other.tried
        self.wrong += other.wrong
        for name, number in other.figures.items():
            self.count(name, number)
        self.examples = [*self.examples, *other.examples][:EXAMPLES]


def together(rows: Sequence[Row]) -> list[Row]:
    """Return a row for each kind of attack, in the order in which they are met."""
    sums: dict[tuple[str, str], Row] = {}
    for row in rows:
        sums.setdefault((row.attack, row.subject), Row(row.attack, row.subject)).add(row)
    return list(sums.values())


def markdown(rows: Sequence[Row]) -> str:
    """Return the table, and a list of what went wrong."""
    lines = ["| attack | on | tried | wrong | figures |", "|---|---|---:|---:|---|"]
    for row in rows:
        figures = ", ".join(f"{number:,.10g} {name}" for name, number in row.figures.items())
        lines.append(f"| {row.attack} | {row.subject} | {row.tried:,} | {row.wrong:,} | {figures} |")
    lines.append(f"| all | | {sum(row.tried for row in rows):,} | {sum(row.wrong for row in rows):,} | |")
    examples = [f"- {row.attack}, {row.subject}: `{one}`" for row in rows for one in row.examples]
    return "\n".join([*lines, *(["", *examples] if examples else []), ""])


def write(rows: Sequence[Row], folder: Path) -> None:
    """Write the table as Markdown and as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "campaign.md").write_text(markdown(rows))
    (folder / "campaign.json").write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
