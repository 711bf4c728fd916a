"""
Schedules worked out by hand, in tests/schedules.

A file says what it shows, then the grid (processors x speed of each cluster) and the policies, then the
tasks, and draws what each processor does: a letter for each second of a task, capital if that copy does not
complete it, and a dot for an idle second.
"""

import re
from pathlib import Path

import numpy as np
import pytest

from gwa.simulation.architectures import ARCHITECTURES
from gwa.simulation.engine import simulate
from gwa.simulation.grid import Grid
from gwa.simulation.scheduling import SCHEDULERS
from gwa.simulation.selection import SELECTIONS
from gwa.simulation.tasks import Tasks

FILES = sorted((Path(__file__).parent / "schedules").glob("*.txt"))


def numbers(column, names=None):
    """Return a column of names as numbers, in the order of *names*, or else of the alphabet."""
    order = sorted(set(column)) if names is None else list(names)
    return [order.index(value) for value in column]


def read(path):
    """Return the settings, the grid, the rows of the tasks, and the drawing: a line for each processor."""
    _, settings, table, drawing = path.read_text().strip().split("\n\n")
    said = dict(line.split(maxsplit=1) for line in settings.splitlines())
    clusters = re.findall(r"(\w+) (\d+) x ([\d.]+)", said["grid"])
    names, sizes, speeds = zip(*clusters, strict=True)
    grid = Grid.of([int(size) for size in sizes], [float(speed) for speed in speeds], names)
    head, *rows = (line.split() for line in table.splitlines())
    columns = dict(zip(head, zip(*rows, strict=True), strict=True))
    return said, grid, columns, [line.split()[-1] for line in drawing.splitlines()]


def tasks_of(columns, grid):
    """Return the tasks of a table."""
    order = {"site": grid.names, "user": None, "bag": dict.fromkeys(columns.get("bag", ()))}
    return Tasks.of(
        **{
            name: numbers(column, order[name]) if name in order else [float(value) for value in column]
            for name, column in columns.items()
            if name != "task"
        }
    )


def drawn(name, drawing):
    """Return start, end, processor and consumption of a task, as its letter is drawn."""
    copies = [
        (found.start(), found.end() if found[0].islower() else np.nan, place)
        for place, line in enumerate(drawing)
        for found in re.finditer(f"{name}+|{name.upper()}+", line)
    ]
    seconds = sum(line.lower().count(name) for line in drawing)
    best = min(copies, key=lambda copy: np.nan_to_num(copy[1], nan=np.inf), default=(np.nan, np.nan, -1))
    return (*best, seconds)


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_schedule_is_as_worked_out_by_hand(path):
    said, grid, columns, drawing = read(path)
    settings = {name: float(said[name]) for name in ("period", "horizon") if name in said}
    seed = int(said.get("seed", 0))
    architecture, selection, scheduling = said["policies"].split()
    run = simulate(tasks_of(columns, grid), grid, architecture, selection, scheduling, seed=seed, **settings)
    ours = zip(run.start, run.end, run.processor, run.consumed, strict=True)
    for name, became in zip(columns["task"], ours, strict=True):
        np.testing.assert_array_equal(became, drawn(name, drawing), f"task {name}")
    if "priority" in said:
        order = np.argsort(np.random.default_rng(seed).permutation(len(set(columns["user"]))))
        assert [sorted(set(columns["user"]))[user] for user in order] == said["priority"].split()


def test_each_policy_has_a_schedule_that_is_called_after_it():
    policies = {*ARCHITECTURES, *SELECTIONS, *SCHEDULERS} - {"WQR-x"}
    assert policies <= {path.stem for path in FILES}
    assert all(path.stem in read(path)[0]["policies"].split() for path in FILES if path.stem in policies)
