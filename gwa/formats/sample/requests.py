"""Requests to two language models of an invented service: three days of conversations and of programs."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Final, TypeAlias

BEGIN: Final = 1_772_409_600
"""Monday, 2 March 2026, in Unix seconds."""

DAYS: Final = 3

RATES: Final = (2, 1, 1, 1, 1, 2, 4, 8, 14, 18, 20, 19, 15, 17, 20, 19, 16, 12, 9, 8, 7, 6, 4, 3)
"""New sessions in an hour, by hour of the day."""

BURSTS: Final = 0.6
"""The probability that a program begins to ask in an hour."""

BLOCK: Final = 512
"""Tokens of a block of a prompt."""

PATIENCE: Final = 0.7
"""The probability that a user asks once more."""

LARGE: Final = 0.3
"""The share of sessions that ask the large model."""

FAILED: Final = 0.02
"""The share of requests of programs that get no response."""

COLUMNS: Final = (
    "submit_time", "tokens_in", "tokens_out", "latency", "first_token", "model", "service", "session_id",
    "blocks",
)  # fmt: skip

LINES_BEFORE: Final = 3
"""Lines of the file before the first request: what is known, and the names of the columns."""


@dataclass
class _Blocks:
    """The blocks of prompts: all begin with those of the service, and each session goes on with its own."""

    next: int = 2
    of_session: dict[int, list[int]] = field(default_factory=dict)

    def prompt(self, session: int, tokens: int) -> list[int]:
        """Return the blocks of a prompt of a number of *tokens* in a *session*."""
        held = self.of_session.setdefault(session, [0, 1])
        while len(held) < tokens // BLOCK:
            held.append(self.next)
            self.next += 1
        return held[: tokens // BLOCK]


Row: TypeAlias = tuple[float, int, int, float, float, str, str, str, list[int]]
"""Values of `COLUMNS`."""


def requests() -> Iterator[Row]:
    """Yield the requests in the order of sessions: values of `COLUMNS`."""
    draw, blocks, session = Random(2026).random, _Blocks(), 0  # noqa: S311 - a sample, no secret
    for hour in range(24 * DAYS):
        begin = BEGIN + 3600 * hour
        for _ in range(RATES[hour % 24]):
            session += 1
            model = "large" if draw() < LARGE else "small"
            moment, context = begin + 3600 * draw(), 200
            while True:
                context += 20 + int(3000 * draw() ** 5)
                out = 1 + int(800 * draw() ** 3)
                yield (moment, context, out, *_times(draw(), context, out, model), model, "chat",
                       f"S{session}", blocks.prompt(session, context))  # fmt: skip
                context += out
                moment += 5 + 600 * draw() ** 4
                if draw() > PATIENCE:
                    break
        if draw() < BURSTS:
            session += 1
            moment = begin + 3600 * draw()
            for _ in range(20 + int(80 * draw())):
                moment += 2 * draw() ** 3
                context, out = 1100 + int(500 * draw()), 0 if draw() < FAILED else 5 + int(25 * draw())
                yield (moment, context, out, *_times(draw(), context, out, "small"), "small", "api", "",
                       blocks.prompt(session, context))  # fmt: skip


def _times(luck: float, tokens_in: int, tokens_out: int, model: str) -> tuple[float, float]:
    """Return how long an answer took, and until its first token."""
    speed = 0.03 if model == "large" else 0.01
    first = 0.1 + tokens_in * speed / 20 + luck * luck
    return first + tokens_out * speed, first


def lines() -> Iterator[str]:
    """Yield the lines of the file, in the order of time."""
    yield "# TimeZoneString: Europe/Amsterdam"
    yield "# Computer: invented service"
    yield ",".join(COLUMNS)
    for row in sorted(requests(), key=lambda one: one[0]):
        moment, tokens_in, tokens_out, latency, first, model, service, session, blocks = row
        cells = (f"{moment:.3f}", tokens_in, tokens_out, f"{latency:.3f}", f"{first:.3f}", model, service)
        yield ",".join(map(str, (*cells, session, " ".join(map(str, blocks)))))
