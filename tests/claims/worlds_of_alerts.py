"""Worlds in which a user wastes something, and in which nobody does, or it is not known."""

from typing import Any

import numpy as np

from tests.claims.worlds import HOUR, World, calm, false_of, true_of

GIB = 1024.0**2
JOBS = 300
SIZES = {"ProcessorsPerNode": "32", "MemoryPerNode": str(190 * 1024**2), "GPUsPerNode": "4"}
UNKNOWN = np.nan


def of_one(rng: np.random.Generator, **columns: Any) -> World:
    """
    Return jobs of some hours that are measured and waste nothing, a fifth of them of the user U0.

    *columns* are of the jobs of U0; what is a function is called with their run times.
    """
    runs = np.round(rng.uniform(2, 10, JOBS) * HOUR)
    mine = np.arange(JOBS) % 5 == 0
    made = calm(rng, JOBS) | {
        "run_time": runs,
        "req_time": np.round(1.4 * runs),
        "n_procs": np.full(JOBS, 4.0),
        "n_nodes": np.full(JOBS, 1.0),
        "n_gpus": np.full(JOBS, 1.0),
        "status": np.full(JOBS, 1),
        "average_cpu_time": np.round(0.9 * runs),
        "max_memory": np.full(JOBS, 45 * GIB),
        "gpu_utilization": np.full(JOBS, 0.7),
        "gpu_memory": np.full(JOBS, 30 * GIB),
        "max_gpu_memory": np.full(JOBS, 30 * GIB),
        "idle_gpus": np.full(JOBS, 0.0),
        "idle_nodes": np.full(JOBS, 0.0),
        "used_resources": np.full(JOBS, "cpu:4,mem:50G", object),
        "state": np.full(JOBS, "COMPLETED", object),
        "gpu_type": np.full(JOBS, "a100", object),
        "runs": np.full(JOBS, None, object),
        "user_id": np.where(mine, "U0", [f"U{n}" for n in rng.integers(1, 20, JOBS)]).astype(object),
    }
    for name, value in columns.items():
        of_mine = value(runs[mine]) if callable(value) else value
        made[name] = made[name].copy()
        made[name][mine] = of_mine
    return World(made, header=SIZES)


ALERTS = (
    "cores-per-gpu", "earlier-runs", "excess-memory", "gpu-too-powerful", "idle-gpu-hours", "idle-nodes",
    "limit-cpu", "limit-gpu", "low-cpu-use", "low-gpu-use", "memory-per-gpu", "serial-on-many", "spread-cpu",
    "spread-gpu",
)  # fmt: skip


@false_of(*ALERTS)
def all_is_used(rng: np.random.Generator) -> World:
    return of_one(rng)


@false_of(*ALERTS)
def nothing_is_measured(rng: np.random.Generator) -> World:
    """Limits and places are known, and as they should be; what was used is not."""
    unknown = (
        "average_cpu_time",
        "max_memory",
        "gpu_utilization",
        "gpu_memory",
        "max_gpu_memory",
        "idle_gpus",
    )
    return of_one(rng, **dict.fromkeys((*unknown, "idle_nodes"), UNKNOWN), n_procs=40.0, n_nodes=1.0)


@true_of("idle-gpu-hours")
def gpus_that_do_nothing(rng: np.random.Generator) -> World:
    return of_one(rng, n_gpus=4.0, idle_gpus=3.0, gpu_utilization=0.2)


@false_of("idle-gpu-hours")
def idle_gpus_of_short_jobs(rng: np.random.Generator) -> World:
    return of_one(rng, idle_gpus=1.0, gpu_utilization=0.0, run_time=900.0)


@true_of("low-gpu-use")
def gpus_little_used(rng: np.random.Generator) -> World:
    return of_one(rng, gpu_utilization=0.1)


@false_of("low-gpu-use")
def gpus_of_which_only_a_zero_is_known(rng: np.random.Generator) -> World:
    unknown = dict.fromkeys(("average_cpu_time", "max_memory", "gpu_memory", "max_gpu_memory"), UNKNOWN)
    return of_one(rng, **unknown, gpu_utilization=0.0, idle_gpus=UNKNOWN)


@true_of("gpu-too-powerful")
def gpus_of_which_a_part_would_do(rng: np.random.Generator) -> World:
    return of_one(rng, gpu_utilization=0.1, max_gpu_memory=5 * GIB, max_memory=20 * GIB)


@false_of("gpu-too-powerful")
def parts_of_gpus(rng: np.random.Generator) -> World:
    return of_one(
        rng, gpu_utilization=0.1, max_gpu_memory=5 * GIB, max_memory=20 * GIB, gpu_type="a100_1g.10gb"
    )


@true_of("memory-per-gpu", "excess-memory")
def memory_not_used(rng: np.random.Generator) -> World:
    return of_one(rng, used_resources="cpu:4,mem:4096G", max_memory=100 * GIB)


@false_of("memory-per-gpu", "excess-memory")
def memory_that_did_not_suffice(rng: np.random.Generator) -> World:
    return of_one(
        rng, used_resources="cpu:4,mem:4096G", max_memory=100 * GIB, state="OUT_OF_MEMORY", status=0
    )


@true_of("cores-per-gpu")
def many_cores_for_a_gpu(rng: np.random.Generator) -> World:
    return of_one(rng, n_procs=40.0)


@true_of("serial-on-many")
def one_of_eight_cores_busy(rng: np.random.Generator) -> World:
    return of_one(rng, n_procs=8.0, average_cpu_time=lambda runs: 0.95 * runs / 8)


@false_of("serial-on-many")
def a_fifth_of_a_core_busy(rng: np.random.Generator) -> World:
    return of_one(rng, n_procs=8.0, average_cpu_time=lambda runs: 0.2 * runs / 8)


@true_of("low-cpu-use")
def cores_little_used(rng: np.random.Generator) -> World:
    return of_one(rng, n_procs=16.0, average_cpu_time=lambda runs: 0.3 * runs)


@false_of("low-cpu-use")
def cpu_time_that_cannot_be(rng: np.random.Generator) -> World:
    return of_one(rng, average_cpu_time=lambda runs: 2 * runs)


@true_of("spread-cpu")
def eight_cores_on_four_nodes(rng: np.random.Generator) -> World:
    return of_one(rng, n_gpus=0.0, n_procs=8.0, n_nodes=4.0, max_memory=10 * GIB)


@false_of("spread-cpu")
def memory_that_needs_four_nodes(rng: np.random.Generator) -> World:
    return of_one(rng, n_gpus=0.0, n_procs=8.0, n_nodes=4.0, max_memory=600 * GIB)


@true_of("spread-gpu")
def four_gpus_on_two_nodes(rng: np.random.Generator) -> World:
    return of_one(rng, n_gpus=4.0, n_nodes=2.0)


@false_of("spread-gpu")
def nine_gpus_on_three_nodes(rng: np.random.Generator) -> World:
    return of_one(rng, n_gpus=9.0, n_nodes=3.0)


@true_of("limit-cpu")
def limits_far_beyond_run_times(rng: np.random.Generator) -> World:
    return of_one(rng, n_gpus=0.0, n_procs=512.0, req_time=lambda runs: 20 * runs)


@true_of("limit-gpu")
def limits_far_beyond_run_times_with_gpus(rng: np.random.Generator) -> World:
    return of_one(rng, n_gpus=4.0, req_time=lambda runs: 20 * runs)


@false_of("limit-cpu", "limit-gpu")
def limits_of_jobs_that_failed(rng: np.random.Generator) -> World:
    gpus = float(rng.integers(0, 2) * 4)
    return of_one(rng, n_gpus=gpus, n_procs=512.0, req_time=lambda runs: 20 * runs, status=0, state="FAILED")


@true_of("idle-nodes")
def a_node_without_cpu_time(rng: np.random.Generator) -> World:
    return of_one(rng, n_nodes=2.0, idle_nodes=1.0)


def again(share: float, jobs: int = JOBS) -> Any:
    """Return what makes the runs of the first *jobs*: an earlier one of a *share* of the time of the last."""

    def runs(times: Any) -> Any:
        listed = [
            f"0/{int(share * run)}/////preempted;{int(share * run) + 600}/{int(run)}/////completed"
            for run in times
        ]
        return np.array([text if place < jobs else None for place, text in enumerate(listed)], object)

    return runs


@true_of("earlier-runs")
def jobs_that_are_preempted_after_half_of_their_time(rng: np.random.Generator) -> World:
    return of_one(rng, runs=again(0.5), wait_time=0.0)


@false_of("earlier-runs")
def jobs_that_are_preempted_early(rng: np.random.Generator) -> World:
    return of_one(rng, runs=again(0.2), wait_time=0.0)


@false_of("earlier-runs")
def a_few_jobs_that_are_preempted_late(rng: np.random.Generator) -> World:
    return of_one(rng, runs=again(20, 9), wait_time=0.0)
