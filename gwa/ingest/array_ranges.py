"""
Ranges of array tasks, such as 12_[3-7,11%2]: rows that stand for all tasks of an array that have not begun.

Each task is a row of its own, as those are that began, with the cells of the range. Tasks of a list that was
cut short, as 12_[3-7,...], are not known, and such a row stays one.
"""

import re
from typing import Final

MAXIMUM_TASKS: Final = 10_000_000
"""The maximum number of tasks that the ranges in some rows stand for; Slurm allows 4,000,001 to an array."""

FURTHER_LINES: Final = 1 << 40
"""What is added to the line of a range for each task behind the first, so that rows differ in their lines."""

_PART: Final = r"[0-9]{1,7}(-[0-9]{1,7}(:[1-9][0-9]{0,6})?)?"
RANGE: Final = rf"[0-9]+_\[{_PART}(,{_PART})*(%[0-9]+)?\]"
"""The pattern of a range: tasks, how far one is from the next, and how many may run at a time."""

_READ: Final = re.compile(RANGE)
_TASKS: Final = re.compile("([0-9]+)(?:-([0-9]+))?(?::([0-9]+))?")

_FIRST: Final = "cast(regexp_extract(part, '^[0-9]+') as bigint)"
_LAST: Final = f"coalesce(try_cast(regexp_extract(part, '-([0-9]+)', 1) as bigint), {_FIRST})"
_STEP: Final = "coalesce(try_cast(regexp_extract(part, ':([0-9]+)', 1) as bigint), 1)"


def _parts(column: str) -> str:
    return rf"string_split(regexp_extract({column}, '\[([^%\]]*)', 1), ',')"


def is_range(column: str) -> str:
    """Return the SQL of whether a cell of *column* is a range, each part of which has tasks."""
    parts = f"list_transform({_parts(column)}, lambda part: {_LAST} >= {_FIRST})"
    form = f"contains({column}, '_[') and regexp_full_match({column}, '{RANGE}')"
    return f"case when {form} then list_bool_and({parts}) else false end"


def number_of_tasks(column: str) -> str:
    """Return the SQL of how many tasks a range in *column* stands for."""
    return f"list_sum(list_transform({_parts(column)}, lambda part: ({_LAST} - {_FIRST}) // {_STEP} + 1))"


def with_tasks(relation: str, column: str, *, numbered: bool) -> str:
    """Return the SELECT of *relation* with a row for each task that a range in *column* stands for."""
    numbers = f"flatten(list_transform({_parts(column)}, lambda part: range({_FIRST}, {_LAST} + 1, {_STEP})))"
    tasks = f"list_transform({numbers}, lambda number: split_part({column}, '[', 1) || number)"
    line = f", line + (place - 1) * {FURTHER_LINES} as line" if numbered else ""
    return (
        f"select * exclude (tasks, place) replace (tasks[place] as {column}{line}) from ("
        "select *, unnest(range(1, len(tasks) + 1)) as place from ("
        f"select *, case when {is_range(column)} then {tasks} else [{column}] end as tasks from {relation}))"
    )


def tasks_of(cell: str) -> int:
    """
    Return how many tasks a range stands for, as the SQL does; 0 where a cell is none.

    >>> tasks_of("12_[3-9:3,11%2]"), tasks_of("12_3"), tasks_of("12_[9-3]"), tasks_of("12_[3-7,...]")
    (4, 0, 0, 0)
    """
    if not _READ.fullmatch(cell):
        return 0
    parts = [
        (int(first), int(last or first), int(step or 1))
        for first, last, step in _TASKS.findall(
            cell[cell.index("[") : cell.rfind("%") if "%" in cell else None]
        )
    ]
    return sum(len(range(first, last + 1, step)) for first, last, step in parts) * all(
        first <= last for first, last, _ in parts
    )
