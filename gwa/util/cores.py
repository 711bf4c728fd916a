"""How many cores there are for this process."""

import os
from functools import cache
from pathlib import Path
from typing import Final

QUOTA: Final = Path("/sys/fs/cgroup/cpu.max")
"""
What a container may use: microseconds of cores, or ``max``, in a period of so many microseconds.

Source: the Linux kernel's documentation of control groups, version 2, "CPU Interface Files".
"""


@cache
def usable_cores() -> int:
    """
    Return how many cores this process may use, at least one.

    Not those of the machine: batch systems bind their jobs to some of them (its affinity), and a container
    has a quota. Where neither is known, as on macOS, it is all.
    """
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(bound, _quota() or bound)


def _quota() -> int | None:
    """Return the whole cores of the quota, rounded up; None where there is none."""
    try:
        share, period = QUOTA.read_text(encoding="ascii").split()
        return max(1, -(-int(share) // int(period)))
    except (OSError, ValueError):  # there is no such file, or it says max
        return None
