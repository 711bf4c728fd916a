"""Alerts on random jobs: what the engine finds is what pandas computes, by the definitions in words."""

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.metrics.alerts import alerts, jobs_of
from gwa.store.store import Store
from tests.conftest import examples

NODE_MEMORY = 190 * 1024**2
HEADER = (("ProcessorsPerNode", "32"), ("MemoryPerNode", str(NODE_MEMORY)), ("GPUsPerNode", "4"))
USERS = ("ann", "bob", "cid")


def some(values):
    return st.one_of(st.none(), st.sampled_from(values))


JOB = st.fixed_dictionaries(
    {
        "user_id": some(USERS),
        "project_id": some(("climate", "genes")),
        "wait_time": st.sampled_from([0.0, 3600.0]),
        "submit_time": st.sampled_from([1e9, 1e9 + 50_000, 1e9 + 400_000]),
        "run_time": some([0.0, 1800.0, 3600.0, 3660.0, 7200.0, 90_000.0, 720_000.0]),
        "n_procs": some([1, 2, 8, 16, 40, 64]),
        "n_nodes": some([1, 2, 4]),
        "n_gpus": some([0.0, 0.5, 1.0, 2.0, 4.0]),
        "average_cpu_time": some([0.0, 450.0, 1800.0, 3600.0, 45_000.0, 432_000.0, 720_000.0]),
        "req_time": some([0.0, 7200.0, 90_000.0, 4_000_000.0]),
        "req_memory": some([1024.0**2, 40 * 1024.0**2]),
        "used_resources": some(["cpu:4,mem:600G,node:1", "mem:2T", "mem:16384M,cpu:1", "billing:1"]),
        "max_memory": some([0.0, 1024.0**2, 50 * 1024.0**2, 500 * 1024.0**2]),
        "gpu_utilization": some([0.0, 0.1, 0.15, 0.25, 0.9]),
        "idle_gpus": some([0, 1, 4]),
        "gpu_memory": some([0.0, 8 * 1024.0**2, 40 * 1024.0**2]),
        "max_gpu_memory": some([8 * 1024.0**2, 10 * 1024.0**2, 11 * 1024.0**2]),
        "idle_nodes": some([0, 1]),
        "state": some(["COMPLETED", "OUT_OF_MEMORY", "FAILED"]),
        "status": some([1, 0]),
        "bounds": some(["max_memory", "gpu_memory,gpu_utilization"]),
    }
)  # fmt: skip
GB = 1024.0**2
WASTEFUL: tuple[dict[str, Any], ...] = (
    {},
    {"n_gpus": 4.0, "idle_gpus": 3, "gpu_utilization": 0.2, "run_time": 90_000.0, "max_memory": GB},
    {"n_gpus": 1.0, "gpu_utilization": 0.1, "max_gpu_memory": 8 * GB, "max_memory": GB, "n_procs": 8,
     "run_time": 90_000.0, "bounds": None, "state": "COMPLETED"},
    {"n_nodes": 1, "n_procs": 8, "run_time": 720_000.0, "average_cpu_time": 86_000.0, "bounds": None},
    {"n_nodes": 1, "n_procs": 8, "run_time": 720_000.0, "average_cpu_time": 90_100.0, "bounds": None},
    {"n_gpus": None, "max_memory": 40 * GB, "used_resources": "mem:600G", "run_time": 720_000.0,
     "bounds": None},
    {"n_gpus": None, "max_memory": 300 * GB, "used_resources": "mem:600G", "run_time": 3600.0,
     "bounds": None},
    {"n_gpus": None, "n_procs": 64, "status": 1, "run_time": 90_000.0, "req_time": 9_000_000.0},
    {"n_gpus": None, "n_procs": 64, "status": 1, "run_time": 90_000.0, "req_time": 90_000.0},
    {"n_gpus": 4.0, "status": 1, "run_time": 7200.0, "req_time": 4_000_000.0},
    {"n_gpus": 1.0, "n_procs": 64, "average_cpu_time": 3600.0, "run_time": 7200.0, "bounds": None},
    {"n_gpus": None, "n_nodes": 4, "n_procs": 8, "idle_nodes": 0, "max_memory": GB, "run_time": 90_000.0,
     "bounds": None, "state": "COMPLETED"},
)  # fmt: skip
"""What jobs have in common that waste something, or just not."""

JOBS = st.lists(
    st.builds(lambda job, common: job | common, JOB, st.sampled_from(WASTEFUL)), min_size=1, max_size=25
)
SIZES = dict(zip("KMGTPE", (1024.0**power for power in range(6)), strict=True))


def known(job, name):
    """Return a field that is recorded and no bound, else None."""
    value = job[name]
    return None if value is None or name in (job["bounds"] or "").split(",") else float(value)


def seen(job: dict[str, Any], period: Any) -> dict[str, Any] | None:
    """Return what rules see of a job, computed by hand; None if it does not count."""
    run = job["run_time"]
    if run is None:
        return None
    start = job["submit_time"] + job["wait_time"]
    seconds = run
    if period:
        if not (start < period[1] and start + run > period[0]):
            return None
        seconds = min(start + run, period[1]) - max(start, period[0])
    gpus, cores = job["n_gpus"], job["n_procs"]
    cpu = known(job, "average_cpu_time")
    listed = dict(part.split(":") for part in (job["used_resources"] or "").split(",") if part)
    allocated: float | None
    if "mem" in listed:
        allocated = float(listed["mem"][:-1]) * SIZES[listed["mem"][-1]]
    else:
        allocated = job["req_memory"] * cores if job["req_memory"] and cores else None
    memory = known(job, "max_gpu_memory")
    memory = known(job, "gpu_memory") if memory is None else memory
    is_empty = memory is not None and memory <= 1024**2
    use = known(job, "gpu_utilization")
    idle: float | None = known(job, "idle_gpus")
    if gpus is not None and use and idle is not None and idle >= gpus:
        idle = None
    elif gpus is not None and idle is None and use is not None:
        idle = gpus if use == 0 else 0.0 if gpus <= 1 else None
    elif idle is not None and gpus is not None:
        idle = min(idle, gpus)
    of_one = known(job, "max_gpu_memory")
    if of_one is None and gpus is not None and gpus <= 1:
        of_one = known(job, "gpu_memory")
    return {
        "user": job["user_id"], "project": job["project_id"], "run": run, "hours": seconds / 3600,
        "cores": cores, "nodes": job["n_nodes"], "gpus": gpus or 0.0, "limit": job["req_time"],
        "cpu": cpu / run if cpu is not None and run and cores and cpu <= run else None,
        "used": known(job, "max_memory"), "allocated": allocated,
        "use": use if use or is_empty else None,
        "idle": idle, "is_sure": is_empty, "of_one": of_one,
        "idle_nodes": known(job, "idle_nodes"), "oom": job["state"] == "OUT_OF_MEMORY",
        "done": job["status"] == 1,
    }  # fmt: skip


class Slow:
    """The hours at stake by rule and owner, by the definitions in their plainest form."""

    def __init__(self, jobs, period, by):
        frame = pd.DataFrame([one for job in jobs if (one := seen(job, period))])
        texts, flags = {"user", "project"}, ("oom", "done")
        self.frame = frame.astype({name: float for name in frame.columns if name not in texts})
        for name in flags if len(frame) else ():
            self.frame[name] = frame[name].astype(bool)
        self.by = by
        self.found: dict[str, dict[str, float]] = {}
        if len(frame):
            self.frame["owner"] = frame[by]
            self._judge_gpus()
            self._judge_cores()
            self._judge_use()
            self._judge_requests()

    def _spend(self, name, mask, rate, decide=None):
        part = self.frame[mask & self.frame.owner.notna()].assign(rate=rate)
        totals = {
            owner: (group, float((group.rate * group.hours).sum())) for owner, group in part.groupby("owner")
        }
        self.found[name] = {
            owner: total for owner, (group, total) in totals.items() if not decide or decide(group, total)
        }

    def _judge_gpus(self):
        frame, gib = self.frame, 1024.0**2
        gpu, long, memory = frame.gpus > 0, frame.run >= 61 * 60, frame.used.notna() & frame.allocated.notna()
        enough = lambda hours: lambda _, total: total > hours  # noqa: E731 - a threshold
        idle = gpu & (frame.run >= 1800) & (frame.idle > 0)
        self._spend("idle-gpu-hours", idle, frame.idle, lambda _, total: total >= 24)
        much = (frame.allocated / frame.gpus > 250 * gib) & (frame.used / frame.allocated < 0.8)
        unused = (frame.allocated - frame.used) / 1024**3
        self._spend("memory-per-gpu", gpu & long & memory & ~frame.oom & much, unused)
        cores = gpu & long & frame.cpu.notna() & (frame.cores > 18 * frame.gpus)
        self._spend("cores-per-gpu", cores, frame.cores - 18 * frame.gpus)
        little = (frame.use > 0) & (frame.use <= 0.15) & (frame.of_one <= 10 * gib)
        beside = (frame.used / frame.gpus <= 32 * gib) & (frame.cores / frame.gpus <= 12)
        self._spend("gpu-too-powerful", gpu & long & ~frame.oom & little & beside, frame.gpus, enough(24))

    def _judge_cores(self):
        frame, room = self.frame, 0.8 * NODE_MEMORY
        gpu, long, busy = frame.gpus > 0, frame.run >= 61 * 60, (frame.cpu * frame.cores).round(9)
        one = (frame.nodes == 1) & (frame.cores > 1) & (busy > 0.85) & (busy <= 1)
        self._spend("serial-on-many", long & one, frame.cores - 1, lambda _, total: total > 100)
        least = np.fmax(np.ceil(frame.cores / 32), np.ceil((frame.used / room).round(9)))
        known = (frame.idle_nodes == 0) & frame.used.notna() & frame.cores.notna()
        empty = (frame.cores / frame.nodes < 16) & (frame.used / frame.nodes < room) & (least < frame.nodes)
        spread = ~gpu & (frame.run >= 7200) & (frame.nodes >= 2) & ~frame.oom & known & empty
        self._spend("spread-cpu", spread, frame.nodes - least)
        least = np.fmax(np.ceil(frame.gpus / 4), least)
        self._spend(
            "spread-gpu", gpu & long & (frame.nodes >= 2) & (least < frame.nodes), frame.nodes - least
        )
        idle = long & (frame.idle_nodes > 0) & frame.nodes.notna() & frame.cores.notna()
        each = frame.cores / frame.nodes
        self._spend("idle-nodes", idle, each * np.minimum(frame.idle_nodes, frame.nodes))

    def _judge_use(self):
        frame = self.frame
        for name, held, use, low in (
            ("low-gpu-use", frame.gpus, frame.use, 0.25),
            ("low-cpu-use", frame.cores.fillna(0), frame.cpu, 0.6),
        ):
            spent = held * frame.hours

            def decide(group, _, spent=spent, use=use, low=low):
                mine = spent[frame.owner == group.owner.iloc[0]].sum()
                measured, did = spent[group.index].sum(), (use * spent)[group.index].sum()
                is_low = measured > 0 and round(did / measured, 9) <= low
                return is_low and mine >= 0.02 * spent.sum() and measured >= 50

            self._spend(name, (frame.run >= 1800) & use.notna() & (held > 0), (1 - use) * held, decide)

    def _judge_requests(self):
        frame = self.frame
        memory = (frame.run >= 1800) & ~frame.oom & frame.used.notna() & frame.allocated.notna()
        unused = (frame.allocated - frame.used) / 1024**3

        def low_memory(group, total):
            used, given = (group.used * group.hours).sum(), (group.allocated * group.hours).sum()
            low = averages(group.used / group.allocated, used / given)
            return total > 65 and max(low) <= 0.35

        self._spend("excess-memory", memory, unused, low_memory)
        gpu = frame.gpus > 0
        limits = (("limit-cpu", frame.cores.where(~gpu), 1e5), ("limit-gpu", frame.gpus.where(gpu), 1e3))
        for name, size, hours in limits:

            def low_limit(group, total, size=size, hours=hours):
                spent = size[group.index] * group.hours
                whole = spent.sum() / (spent * group.limit / group.run).sum()
                return total > hours and max(averages(group.run / group.limit, whole)) < 0.2

            asked = (frame.run >= 61 * 60) & frame.done & (frame.limit >= 1) & size.notna()
            self._spend(name, asked, (frame.limit - frame.run) / frame.run * size, low_limit)


def averages(ratios, whole):
    """Return a ratio of sums, and mean and median of the ratios."""
    exact = ratios.round(9)
    mean = float(sum(map(Fraction, exact), Fraction(0)) / len(exact))
    return round(whole, 9), round(mean, 9), exact.median()


@examples(60)
@given(
    jobs=JOBS,
    period=st.sampled_from([None, (1e9 + 30_000, 1e9 + 200_000)]),
    by=st.sampled_from(["user", "project"]),
)
def test_alerts_are_what_pandas_computes(jobs, period, by):
    store = Store.create()
    try:
        columns = {name: [job[name] for job in jobs] for name in jobs[0]}
        store.begin(["job_id", *columns])
        names = [row[0] for row in store.rows("describe recorded")]
        columns["job_id"] = list(range(1, len(jobs) + 1))
        store.insert("recorded", list(zip(*(columns[name] for name in names), strict=True)))
        store.set_header(HEADER)
        part = store.filtered("true", period) if period else store
        expected = Slow(jobs, period, by).found
        for alert in alerts(part, by):
            if alert.lacking:
                continue
            assert {holder.name: holder.hours for holder in alert.holders} == pytest.approx(
                expected.get(alert.rule.id, {}), rel=1e-6
            ), alert.rule.id
            for holder in alert.holders:
                worst = jobs_of(part, alert.rule, by, holder.name)
                assert sum(job.hours for job in worst) == pytest.approx(holder.hours, rel=1e-6, abs=1e-6)
                assert len(worst) == holder.jobs
            assert 0 <= alert.known <= alert.about <= len(jobs)
    finally:
        store.close()
