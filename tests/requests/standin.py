"""
A log of requests of several days, by a generator of its own that shares nothing with gwa's model.

It stands in for a real log of several days, of which none is at hand. What it has, the model does not assume:
a level that drifts from hour to hour, surges of all users together, users with habits of their own, agents
that call tools at a log-normal pace, programs that go by the clock, and batches that halt and go on.
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

HOUR, BLOCK = 3600, 16


def levels(draw: Random, hours: int) -> list[float]:
    """Return how busy each hour is: a day's course, times a level that drifts, times a surge now and then."""
    drift, found = 0.0, []
    for hour in range(hours):
        drift = 0.9 * drift + draw.gauss(0, 0.12)
        course = 1.2 + math.sin((hour % 24 - 9) / 24 * 2 * math.pi)
        found.append(course * math.exp(drift) * (2.5 if draw.random() < 0.03 else 1.0))
    return found


def chats(draw: Random, level: list[float]) -> Iterator[dict[str, Any]]:
    """Yield the turns of conversations of people, of whom some write much more than others."""
    text = 10**6
    for hour, busy in enumerate(level):
        for _ in range(draw.randrange(int(40 * busy) + 1) if draw.random() < 0.5 else int(20 * busy)):
            moment, prompt = (hour + draw.random()) * HOUR, 120 + int(draw.lognormvariate(5, 1))
            eager = draw.lognormvariate(0, 0.5)
            blocks = list(range(6))
            session = f"s{draw.getrandbits(40):x}"
            while True:
                while len(blocks) < prompt // BLOCK:
                    text += 1
                    blocks.append(text)
                answer = 1 + int(draw.expovariate(1 / 250))
                yield line(moment, prompt, answer, "chat", session, blocks[: prompt // BLOCK])
                prompt += answer + 5 + int(draw.lognormvariate(3.5, 0.8))
                moment += draw.lognormvariate(3.4, 0.9) / eager
                if draw.random() > 0.62:
                    break


def programs(draw: Random, level: list[float]) -> Iterator[dict[str, Any]]:
    """Yield the requests of programs: one every five minutes, and batches that halt and go on."""
    text = 10**8
    for hour, busy in enumerate(level):
        for step in range(12):
            text += 1
            yield line((hour + step / 12) * HOUR + draw.uniform(0, 4), 700, 12, "cron", "", [9, 10, 11, text])
        while draw.random() < min(0.25 + 0.1 * busy, 0.7):
            moment, pace = (hour + draw.random()) * HOUR, draw.lognormvariate(-0.5, 0.6)
            for _ in range(int(draw.paretovariate(1.3) * 8) % 400):
                text += 1
                yield line(
                    moment, 900 + draw.randrange(600), 20 + draw.randrange(60), "batch", "", [7, 8, text]
                )
                moment += draw.gammavariate(0.6, pace / 0.6) + (20 if draw.random() < 0.01 else 0)


def line(
    moment: float, prompt: int, answer: int, kind: str, session: str, blocks: list[int]
) -> dict[str, Any]:
    """Return a request as a line of JSON has it."""
    named = {"session_id": session} if session else {}
    row = {"timestamp": round(1000 * moment, 3), "input_length": prompt, "output_length": answer}
    return row | {"hash_ids": list(blocks), "model": kind} | named


def write(path: Path, *, days: int, seed: int) -> Path:
    """Write a log of some *days*, in the order of time, and return its path."""
    draw = Random(seed)
    level = levels(draw, 24 * days)
    rows = [*chats(draw, level), *programs(draw, level)]
    rows = sorted(
        (row for row in rows if row["timestamp"] < 86_400_000 * days), key=lambda row: row["timestamp"]
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
