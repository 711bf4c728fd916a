"""Worlds with outages, with missing rows, with a machine that was closed, and without any of them."""

from typing import Any

import numpy as np

from tests.claims.machine import Machine
from tests.claims.worlds import DAY, HOUR, MONDAY, Columns, World, false_of, seen, true_of

Rng = np.random.Generator


def _world(jobs: Columns) -> World:
    return seen(World(jobs))


def _begin(rng: Rng) -> float:
    return MONDAY + float(rng.uniform(30, 60)) * DAY


def _without(jobs: Columns, begin: float, end: float, *, numbered: bool) -> Columns:
    """Return jobs without the rows submitted between two moments, *numbered* as before or from 1 again."""
    kept: Any = ~((jobs["submit_time"] >= begin) & (jobs["submit_time"] < end))
    numbers = {"job_id": np.arange(1, len(kept) + 1)[kept]} if numbered else {}
    return {**{name: values[kept] for name, values in jobs.items()}, **numbers}


@true_of("outages")
@false_of("missing", "still")
def half_a_day_of_maintenance(rng: Rng) -> World:
    begin = _begin(rng)
    return _world(Machine(load=0.7, days=91).log(rng, ((begin, begin + 14 * HOUR),)))


@true_of("missing")
@false_of("outages", "still")
def a_fortnight_of_rows_is_missing(rng: Rng) -> World:
    jobs, begin = Machine(load=0.7, days=91).log(rng), _begin(rng)
    return _world(_without(jobs, begin, begin + 14 * DAY, numbered=True))


@true_of("still")
@false_of("missing")
def a_fortnight_of_rows_is_missing_and_numbers_are_those_of_rows(rng: Rng) -> World:
    jobs, begin = Machine(load=0.7, days=91).log(rng), _begin(rng)
    return _world(_without(jobs, begin, begin + 14 * DAY, numbered=False))


@true_of("still")
@false_of("missing")
def closed_for_ten_days(rng: Rng) -> World:
    begin = _begin(rng)
    return _world(Machine(load=0.7, days=91).log(rng, ((begin, begin + 10 * DAY),), closed=True))


@false_of("outages", "missing", "still")
def an_office_that_is_idle_for_most_of_the_time(rng: Rng) -> World:
    machine = Machine(processors=16, load=0.1, rhythm="office", mean_run=0.2 * HOUR, held=0.1, days=91)
    return _world(machine.log(rng))


@false_of("outages", "missing", "still")
def a_light_load_by_a_few(rng: Rng) -> World:
    return _world(Machine(processors=16, load=0.2, days=91, held=0.05).log(rng))
