"""
An independent computation of charges: plain Python over the rows of a trace, in decimals, job by job.

It knows the rates as the table of TOML that they stand in, and shares nothing with what it is compared with.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal, localcontext
from math import floor
from typing import Any
from zoneinfo import ZoneInfo

Row = Mapping[str, Any]

UNITS = {"K": 1, "M": 2**10, "G": 2**20, "T": 2**30, "P": 2**40}
PRICES = {
    "allocated": ("cpu_hour", "gpu_hour", "gb_hour", "shard_hour", "mps_hour"),
    "billing": ("billing_hour",),
    "largest": ("node_hour",),
}  # fmt: skip


def whole(value: float) -> int:
    """Return a number rounded to a whole one."""
    return floor(value + 0.5)


def month_bounds(year: int, month: int, zone: str) -> tuple[int, int]:
    """Return the first second of a month and the first one after it."""
    moments = [(year, month), (year + month // 12, month % 12 + 1)]
    return tuple(int(datetime(*one, 1, tzinfo=ZoneInfo(zone)).timestamp()) for one in moments)  # type: ignore[return-value]


def rate_of(job: Row, rates: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first rate that fits a job; raise `LookupError` where none does."""
    classes = {name: kind for kind, names in rates.get("classes", {}).items() for name in names}
    project = job["project_id"] or None
    model = re.sub(r":[0-9.]+$", "", job["gpu_type"] or "") or None
    of = {
        "queues": job["queue_id"], "partitions": job["partition_id"], "qos": job["qos"], "gpu_types": model,
        "projects": project, "classes": classes.get(project),
    }  # fmt: skip
    for rate in rates["rates"]:
        if all(of[key] in rate[key] for key in of if key in rate):
            return rate  # type: ignore[no-any-return]
    raise LookupError(job["job_id"])


def memory_of(job: Row) -> float | None:
    """Return the memory in KB that a job held."""
    tres = dict(part.partition(":")[::2] for part in (job["used_resources"] or "").split(","))
    if found := re.fullmatch(r"([0-9.]+)([KMGTP])", tres.get("mem", "")):
        return float(found[1]) * UNITS[found[2]]
    return job["req_memory"] * job["n_procs"] if job["req_memory"] is not None and job["n_procs"] else None


def amounts(
    job: Row, rate: Mapping[str, Any], basis: str, node: Mapping[str, int]
) -> dict[str, Decimal | None]:
    """Return what a job held of each that its rate has a price of; None where that is not known."""
    processors, memory = job["n_procs"] or None, memory_of(job)
    gpus = job["n_gpus"] or 0
    tres = dict(part.partition(":")[::2] for part in (job["used_resources"] or "").split(","))
    million = Decimal(1_000_000)
    found: dict[str, Decimal | None] = {
        "cpu_hour": None if processors is None else Decimal(processors),
        "gpu_hour": whole(gpus * 1e6) / million,
        "gb_hour": None if memory is None else Decimal(whole(memory)) / 2**20,
        "shard_hour": Decimal(tres.get("gres/shard", 0)),
        "mps_hour": Decimal(tres.get("gres/mps", 0)),
        "billing_hour": whole(float(tres["billing"]) * 1e6) / million if "billing" in tres else None,
    }
    if basis == "largest" and processors is not None and memory is not None:
        shares = (
            processors * 1e6 / node["node_cores"], whole(memory) * 1e6 / node["node_memory"],
            gpus * 1e6 / node["node_gpus"],
        )  # fmt: skip
        found["node_hour"] = whole(max(map(whole, shares))) / million
    return {key: found.get(key) for key in PRICES[basis] if key in rate}


def rounded(value: Decimal, decimals: int) -> Decimal:
    """Return an amount of money."""
    return value.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


def held(
    jobs: Iterable[Row],
    rates: Mapping[str, Any],
    period: tuple[int, int],
    node: Mapping[str, int],
    end: float,
) -> tuple[dict[tuple[str | None, str, str], Decimal], set[int]]:
    """
    Return the hours by project, rate and price, and the jobs of which is not known what they held.

    Jobs that had not ended did so at the *end* of the log.
    """
    hours: dict[tuple[str | None, str, str], Decimal] = defaultdict(Decimal)
    unknown = set()
    jobs = list(jobs)
    has_statuses = any(job["status"] is not None for job in jobs)
    for job in jobs:
        if job["submit_time"] is None:
            continue
        start = job["submit_time"] + (job["wait_time"] or 0)
        is_open = (
            has_statuses
            and job["run_time"] is None
            and job["status"] is None
            and job["wait_time"] is not None
            and job["n_procs"]
        )
        if job["run_time"] is None and not is_open:
            never = has_statuses and (
                job["status"] == 5 or (job["status"] is None and job["wait_time"] is None)
            )
            if not never and period[0] <= job["submit_time"] < period[1]:
                unknown.add(job["job_id"])
            continue
        run = end - start if is_open else job["run_time"]
        first, last = whole(start), whole(start + run)
        if min(last, period[1]) <= max(first, period[0]) and first >= period[1]:
            continue
        rate = None
        try:
            rate = rate_of(job, rates)
        except LookupError:
            if min(last, period[1]) > max(first, period[0]):
                raise
            continue
        last = max(last, first + rate.get("minimum_seconds", 0))
        seconds = min(last, period[1]) - max(first, period[0])
        if seconds <= 0:
            continue
        of = amounts(job, rate, rates.get("basis", "allocated"), node)
        if None in of.values():
            unknown.add(job["job_id"])
            continue
        for key, amount in of.items():
            hours[job["project_id"] or None, rate["name"], key] += amount * seconds
    return hours, unknown


def charges(
    jobs: Iterable[Row],
    rates: Mapping[str, Any],
    period: tuple[int, int],
    node: Mapping[str, int],
    end: float,
) -> tuple[dict[str | None, Decimal], set[int]]:
    """Return the amount of each project in a month, and the jobs that are not charged."""
    with localcontext(prec=60):
        seconds, unknown = held(jobs, rates, period, node, end)
        decimals = rates.get("decimals", 2)
        classes = {name: kind for kind, names in rates.get("classes", {}).items() for name in names}
        found: dict[str | None, Decimal] = defaultdict(Decimal)
        free, discounts = rates.get("free", {}), rates.get("discounts", {})
        for project in {one for one, _, _ in seconds}:
            own = free.get("projects", {}).get(project) or free.get("classes", {}).get(
                classes.get(project), {}
            )
            left = {key: Decimal(str(hours)) * 3600 for key, hours in own.items()}
            for rate in rates["rates"]:
                for key in PRICES[rates.get("basis", "allocated")]:
                    if key in rate and (of := seconds.get((project, rate["name"], key))):
                        price = Decimal(str(rate[key]))
                        gratis = min(of, left.get(f"{key}s", Decimal(0)))
                        left[f"{key}s"] = left.get(f"{key}s", Decimal(0)) - gratis
                        found[project] += rounded(of * price / 3600, decimals)
                        found[project] -= rounded(gratis * price / 3600, decimals)
            percent = discounts.get("projects", {}).get(project) or discounts.get("classes", {}).get(
                classes.get(project), 0
            )
            found[project] -= rounded(found[project] * Decimal(str(percent)) / 100, decimals)
        return found, unknown
