"""What a schedule does to its jobs, and to the system."""

import numpy as np

from gwa.simulation.jobs import Floats, Jobs

TAU = 10.0
"""Seconds below which a job counts as that long in its bounded slowdown (Feitelson 2001, section 3)."""


def wait(jobs: Jobs, start: Floats) -> Floats:
    """Return seconds from submission to start."""
    return start - jobs.submit


def response(jobs: Jobs, start: Floats) -> Floats:
    """Return seconds from submission to end."""
    return start + jobs.run - jobs.submit


def bounded_slowdown(jobs: Jobs, start: Floats, tau: float = TAU) -> Floats:
    """Return response time over run time, of at least *tau* seconds; never below 1."""
    return np.maximum(response(jobs, start) / np.maximum(jobs.run, tau), 1.0)


def utilization(jobs: Jobs, start: Floats, cpus: int) -> float:
    """Return the fraction of processor time used, from the first submission to the last end."""
    if not len(jobs):
        return 0.0
    span = float((start + jobs.run).max() - jobs.submit.min())
    return float((jobs.run * jobs.procs).sum()) / (cpus * span) if span else 0.0
