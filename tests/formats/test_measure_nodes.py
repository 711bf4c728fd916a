"""Samples of nodes joined to jobs by node and time: what is measured, a bound, or unknown."""

import json
import re
from collections import defaultdict
from datetime import UTC, datetime
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gwa.errors import DefinitionError, TraceError
from gwa.formats.append import append
from gwa.formats.convert import convert
from gwa.formats.measure import measure
from gwa.formats.measure_nodes import NodeOptions
from gwa.store.store import Store
from tests.conftest import examples
from tests.program import invoke as run

CASES = Path(__file__).parents[2].parent / "shared" / "cases" / "nodes"
HEADER = "JobID|JobIDRaw|Cluster|User|Submit|Start|End|ElapsedRaw|State|AllocCPUS|NNodes|NodeList|AllocTRES\n"
TOLD = HEADER.replace("\n", "|SLURM_JOB_GPUS\n")
SMI = "timestamp, index, uuid, name, utilization.gpu [%], memory.used [MiB], power.draw [W]"
BEGIN = 1_760_000_400
"""A whole number of ten minutes."""


def job(number, begin, end, nodes="gpu01", gpus=1, n_nodes=1, cluster="made"):
    """Return a line of sacct: a job from *begin* to *end* seconds after `BEGIN`, which may be None."""
    times = f"{BEGIN + begin - 30}|{BEGIN + begin}|{'Unknown' if end is None else BEGIN + end}"
    state = "RUNNING" if end is None else "COMPLETED"
    length = 0 if end is None else end - begin
    return (
        f"{number}|{number}|{cluster}|ana|{times}|{length}|{state}|8|{n_nodes}|{nodes}|"
        f"cpu=8,node={n_nodes},gres/gpu={gpus}\n"
    )


def told(held, *args, **values):
    """Return the line of a job that says which GPUs of its node it held."""
    return job(*args, **values).replace("\n", f"|{held}\n")


def reading(second, use=50, memory=1000, watts=300.0, index=0, model="H100", zone=UTC):
    """Return a line of nvidia-smi."""
    clock = datetime.fromtimestamp(BEGIN + second, zone).strftime("%Y/%m/%d %H:%M:%S.%f")[:-3]
    use = use if isinstance(use, str) else f"{use} %"
    return f"{clock}, {index}, GPU-{index}, {model}, {use}, {memory} MiB, {watts:.2f} W"


def samples(begin, end, step=30, **values):
    return [reading(second, **values) for second in range(begin, end, step)]


@pytest.fixture
def made(tmp_path):
    """Return a function that makes a store of lines of sacct."""

    def make(*lines, header=HEADER):
        log, out = tmp_path / "jobs.sacct", tmp_path / "jobs.duckdb"
        log.write_text(header + "".join(lines))
        convert([log], out)
        return out

    return make


@pytest.fixture
def smi(tmp_path):
    """Return a function that writes readings of nvidia-smi."""

    def write(*lines, name="gpu01.csv"):
        path = tmp_path / name
        path.write_text("\n".join([SMI, *lines]) + "\n")
        return path

    return write


def measured(store):
    """Return what was measured of jobs, by their ids."""
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    with Store.open(store) as opened:
        for name, field, value in opened.rows("select source_id, field, value from measured"):
            found[name][field] = value
    return found


def fields(store, *names):
    with Store.open(store) as opened:
        return {
            row[0]: row[1:] if len(names) > 1 else row[1]
            for row in opened.rows(
                f"select source_id, {', '.join(names)} from jobs inner join source_ids using (job_id)"
            )
        }


def rows_of(store, query):
    with Store.open(store) as opened:
        return opened.rows(query)


def said(joined):
    return "\n".join(joined.said)


def test_a_job_that_holds_all_gpus_of_its_node_alone_is_measured(made, smi):
    store = made(job(1, 0, 3600))
    joined = measure(store, [smi(*samples(-600, 4200))])
    assert fields(store, "gpu_utilization", "energy", "gpu_memory", "max_gpu_memory", "idle_gpus") == {
        "1": (0.5, 300.0 * 3600, 1000 * 1024, 1000 * 1024, 0)
    }
    assert measured(store)["1"]["energy_error"] == pytest.approx(0.01 * 300 * 3600)
    assert measured(store)["1"]["readings"] == 120
    assert "nvidia-smi: 1 of 1 job with GPUs on 1 node measured by node and time" in said(joined)
    assert "the name of the file says which node it is of (gpu01.csv: gpu01)" in said(joined)
    assert "times without a zone are taken as UTC, of the log no zone is known" in said(joined)
    assert "40 of 160 samples are not used: " in said(joined)


def test_five_files_that_are_called_as_their_nodes_are(made, smi):
    jobs = [job(number, 0, 3600, nodes=f"gpu0{number}") for number in range(1, 6)]
    files = [
        smi(*samples(0, 3600, use=number * 10, watts=number * 100), name=f"gpu0{number}.csv")
        for number in range(1, 6)
    ]
    store = made(*jobs)
    joined = measure(store, files)
    assert fields(store, "gpu_utilization", "energy") == {
        str(number): (number / 10, number * 100 * 3600.0) for number in range(1, 6)
    }
    assert "5 of 5 jobs with GPUs on 5 nodes" in said(joined)


@pytest.mark.parametrize(
    ("jobs", "state"),
    [
        ([job(1, 0, 3600), job(2, 1800, 5400)], "2 shared a node with others"),
        ([job(1, 0, 3600, gpus=1, nodes="gpu01"), job(2, 4000, 7000, gpus=2)], "1 held some of the GPUs"),
        ([job(1, 0, 200)], "1 were sampled fewer than 10 times"),
        (
            [job(1, 0, 3600, nodes="gpu[01-02]", gpus=4, n_nodes=2)],
            "1 ran on GPUs that were not sampled, too",
        ),
        ([job(1, 0, None), job(2, 3500, 3600, nodes="gpu02")], "1 had not ended"),
        ([job(1, 0, 3600, gpus=4)], "1 ran on GPUs that were not sampled, too"),
    ],
)
def test_what_cannot_be_told_is_unknown_and_said(made, smi, jobs, state):
    store = made(*jobs)
    both = [line for index in (0, 1) for line in samples(0, 3600, index=index)]
    joined = measure(store, [smi(*both)])
    assert state in said(joined)
    assert fields(store, "gpu_utilization", "energy", "idle_gpus")["1"] == (None, None, None)


def test_of_two_gpus_one_without_samples_is_not_left_out_of_the_sums(made, smi):
    store = made(job(1, 0, 3600, gpus=2), job(2, 3600, 7200, gpus=2))
    joined = measure(store, [smi(*samples(0, 7200), *samples(3600, 7200, index=1))])
    assert fields(store, "gpu_utilization", "energy") == {"1": (None, None), "2": (0.5, 600.0 * 3600)}
    assert "1 of 2 jobs with GPUs on 1 node measured by node and time; 1 were sampled fewer" in said(joined)


def test_jobs_whose_nodes_are_not_known_are_counted(made, smi):
    store = made(job(1, 0, 3600), job(2, 600, 1200, nodes=""), job(3, 600, 1200, nodes="gpu[9-1]"))
    assert "the nodes of 2 jobs with GPUs are unknown: other jobs may" in said(
        measure(store, [smi(*samples(0, 3600))])
    )


def test_jobs_without_gpus_share_nothing(made, smi):
    store = made(job(1, 0, 3600), job(2, 600, 1200, gpus=0))
    measure(store, [smi(*samples(0, 3600))])
    assert fields(store, "gpu_utilization")["1"] == 0.5


def test_a_gap_leaves_a_bound_from_below_and_a_part_of_the_node_one_from_above(made, smi):
    store = made(job(1, 0, 3600, gpus=2), job(2, 3600, 7200, gpus=1))
    lines = [
        line
        for index in (0, 1)
        for line in (
            *samples(0, 1200, index=index, memory=500),
            *samples(2400, 7200, index=index, memory=700, watts=200),
        )
    ]
    measure(store, [smi(*lines)])
    assert measured(store) == {
        "1": {"gpu_memory_at_least": 1400 * 1024},
        "2": {"gpu_memory_at_most": 1400 * 1024, "energy_at_most": 400.0 * 3600},
    }
    assert fields(store, "gpu_memory", "bounds") == {"1": (1400 * 1024, "gpu_memory"), "2": (None, None)}


IDLE = {"use": 0, "watts": 120.0}


@pytest.mark.parametrize(
    ("of_job", "use", "idle"),
    [
        (IDLE, 0.0, 1),
        ({"use": 0, "watts": 160.0}, None, 0),  # a program that computes for a part of each second
        ({"use": 0, "watts": 500.0}, None, 0),
        ({"use": "[N/A]", "watts": 120.0}, None, None),
        ({"use": 1, "watts": 120.0}, 0.01, 0),
    ],
)
def test_a_gpu_is_idle_only_if_its_power_agrees(made, smi, of_job, use, idle):
    """A board draws 73 W without a program's data, 121 W with them, and some jobs are known to be idle."""
    store = made(job(1, 0, 3600), *(job(number, number * 4000, number * 4000 + 3600) for number in (2, 3)))
    lines = [
        *samples(-3000, 0, use=0, watts=73.0, memory=0),
        *samples(0, 3600, **of_job),
        *samples(3700, 4000, use=0, watts=73.0, memory=0),
        *samples(8000, 11600, use=0, watts=121.0),
        *samples(12000, 15600, use=90, watts=650.0),
        *samples(15900, 16600, use=0, watts=73.0, memory=0),
    ]
    measure(store, [smi(*lines)])
    assert fields(store, "gpu_utilization", "idle_gpus")["1"] == (use, idle)


def test_without_power_a_use_of_0_is_unknown(made, tmp_path):
    store, path = made(job(1, 0, 3600), job(2, 4000, 8000)), tmp_path / "gpu01.csv"
    lines = [line.rpartition(",")[0] for line in [SMI, *samples(0, 3600, use=0), *samples(4000, 8000)]]
    path.write_text("\n".join(lines))
    joined = measure(store, [path])
    assert fields(store, "gpu_utilization", "idle_gpus") == {"1": (None, None), "2": (0.5, 0)}
    assert "of 1 job every reading of a GPU is 0, and its power is above" in said(joined)


def test_boards_whose_idle_power_is_not_known_are_not_idle(made, smi):
    """Where no board is seen without a job, all that were read as 0 may have computed."""
    store = made(job(1, 0, 3600))
    measure(store, [smi(*samples(0, 3600, use=0, watts=400.0))])
    assert fields(store, "gpu_utilization", "idle_gpus") == {"1": (None, None)}


def test_joining_again_changes_no_byte(made, smi):
    store, path = made(job(1, 0, 3600), job(2, 4000, 7000)), smi(*samples(0, 8000))
    measure(store, [path])
    before = sha256(store.read_bytes()).hexdigest()
    measure(store, [path])
    assert sha256(store.read_bytes()).hexdigest() == before


def test_files_of_a_node_may_overlap(made, smi):
    store = made(job(1, 0, 3600))
    files = [
        smi(*samples(0, 2400, watts=100)),
        smi(*samples(1200, 2400, watts=100), *samples(2400, 3600, watts=400), name="gpu01.2.csv"),
    ]
    measure(store, files)
    assert fields(store, "energy") == {"1": pytest.approx(200.0 * 3600)}


def test_samples_that_are_of_no_job_are_named_and_counted(made, tmp_path):
    store, path = made(job(1, 0, 3600), job(2, 7200, 10800, nodes="gpu02")), tmp_path / "all.csv"
    rows = [f"{BEGIN + second},{host},0,300" for second in range(0, 3600, 60) for host in ("gpu01", "x9")]
    rows += [f"{BEGIN - 9000},gpu01,0,300", "soon,gpu01,0,300", f"{BEGIN + 60},gpu01,0,much"]
    path.write_text("\n".join(["t,node,gpu,w", *rows]))
    joined = measure(store, [path], stated="host=node,time=t,device=gpu,power=w:W")
    assert fields(store, "energy")["1"] == 300.0 * 3600
    assert (
        "63 of 123 samples are not used: 1 before or after the log, 60 of nodes that the log does not name,"
        " or that several clusters have (x9), 2 without a readable time, device or value" in said(joined)
    )


def test_a_table_of_parquet_with_other_units(made, tmp_path):
    store, path = made(job(1, 0, 3600)), tmp_path / "all.parquet"
    duckdb.sql(
        f"copy (select to_timestamp({BEGIN} + 30 * i) as at, 'gpu01.site.org' as host, 0 as card, 0.25 as u,"
        f" 250000 as mw, 2 as gib from range(120) as t(i)) to '{path}'"
    )
    stated = "host=host,time=at,device=card,gpu_utilization=u,power=mw:mW,gpu_memory=gib:GiB"
    measure(store, [path], stated=stated)
    assert fields(store, "gpu_utilization", "energy", "gpu_memory") == {"1": (0.25, 9e5, 2 * 1048576)}


def test_a_counter_of_energy_is_what_it_rose_by(made, tmp_path):
    store, path = made(job(1, 0, 3600), job(2, 4000, 7600)), tmp_path / "gpu01.csv"
    rows = [f"{BEGIN + second},0,{second * 200_000 + 10**9}" for second in range(-600, 8000, 60)]
    rows = [row if place < 100 else f"{row.rpartition(',')[0]},5" for place, row in enumerate(rows)]
    path.write_text("\n".join(["t,gpu,mj", *rows]))
    measure(store, [path], stated="time=t,device=gpu,energy_counter=mj:mJ")
    assert fields(store, "energy")["1"] == pytest.approx(200.0 * 3600)


def test_power_of_whole_nodes_is_of_the_only_job_of_any_kind(made, tmp_path):
    """A job without GPUs shares the power of a node, and jobs on several nodes have the sum."""
    store, path = (
        made(
            job(1, 0, 3600, nodes="gpu[01-02]", n_nodes=2),
            job(2, 4000, 7600),
            job(3, 4500, 5000, gpus=0),
            job(4, 4000, 7600, nodes="gpu02", gpus=0),
        ),
        tmp_path / "power.csv",
    )
    rows = [
        f"{BEGIN + second}000,{host},{watts}"
        for second in range(0, 7600, 60)
        for host, watts in (("gpu01", 400), ("gpu02", 250))
    ]
    path.write_text("\n".join(["t,node,w", *rows]))
    joined = measure(store, [path], stated="host=node,time=t:ms,power=w:W")
    assert fields(store, "energy") == {"1": 650.0 * 3600, "2": None, "3": None, "4": 250.0 * 3600}
    assert "table: 2 of 4 jobs on 2 nodes measured by node and time; 2 shared a node with others" in said(
        joined
    )


def test_readings_of_a_power_meter_are_paired_with_their_times(made, tmp_path):
    store, path = made(job(1, 0, 3600, gpus=0)), tmp_path / "gpu01.txt"
    moments = [datetime.fromtimestamp(BEGIN + second, UTC) for second in range(0, 3600, 60)]
    path.write_text(
        "".join(
            f"\n    Instantaneous power reading:    {200 + number % 2 * 60} Watts\n"
            f"    IPMI timestamp:   {moment.strftime('%a %b %d %H:%M:%S %Y')}\n"
            for number, moment in enumerate(moments)
        )
    )
    joined = measure(store, [path])
    assert fields(store, "energy") == {"1": 230.0 * 3600}
    assert "ipmi: 1 of 1 job on 1 node measured by node and time" in said(joined)


METRICS = {
    "DCGM_FI_DEV_GPU_UTIL": 0.0,
    "DCGM_FI_DEV_POWER_USAGE": 250.0,
    "DCGM_FI_DEV_FB_USED": 2000.0,
}


def series(metric, values, **labels):
    named = {"__name__": metric, "gpu": "0", "UUID": "GPU-1", "Hostname": "gpu01", "modelName": "H100"}
    return {"metric": {**named, **labels}, "values": [[BEGIN + second, str(one)] for second, one in values]}


@pytest.mark.parametrize("engine", [None, 0.25])
def test_samples_of_dcgm_without_jobs_are_joined_by_node(made, tmp_path, engine):
    """A look that always reads 0 says nothing; the mean of the engine does."""
    store, path = made(job(1, 0, 3600)), tmp_path / "dcgm.json"
    seconds = range(0, 3600, 30)
    found = [series(metric, [(second, one) for second in seconds]) for metric, one in METRICS.items()]
    found.append(series("DCGM_FI_DEV_GPU_UTIL", [(0, 100)], GPU_I_ID="7"))
    found.append(series("DCGM_FI_DEV_POWER_USAGE", [(0, 9.3e18)]))
    if engine is not None:
        found.append(series("DCGM_FI_PROF_GR_ENGINE_ACTIVE", [(second, engine) for second in seconds]))
    path.write_text(json.dumps({"status": "success", "data": {"resultType": "matrix", "result": found}}))
    joined = measure(store, [path])
    assert "dcgm: 1 of 1 job with GPUs on 1 node" in said(joined)
    assert fields(store, "gpu_utilization", "energy", "gpu_memory") == {
        "1": (engine, 250.0 * 3600, 2000 * 1024)
    }


def test_memory_that_is_at_least_so_much_is_a_bound_until_it_is_measured(made, smi):
    store = made(job(1, 0, 3600), job(2, 4000, 7600))
    few = smi(*samples(0, 200), *samples(4000, 7600), name="gpu01.csv")
    joined = measure(store, [few])
    assert joined.jobs == 1
    found = {"1": (1000 * 1024, "gpu_memory"), "2": (1000 * 1024, None)}
    assert fields(store, "gpu_memory", "bounds") == found
    measure(store, [smi(*samples(0, 200, memory=900), name="gpu01.csv")])
    assert fields(store, "gpu_memory", "bounds") == {**found, "1": (900 * 1024, "gpu_memory")}
    measure(store, [smi(*samples(0, 3600, memory=2000), name="gpu01.csv")])
    assert fields(store, "gpu_memory", "bounds") == {**found, "1": (2000 * 1024, None)}
    assert rows_of(store, "select * from repairs where name like 'disagree%'") == []


def test_samples_joined_before_and_after_an_append_are_as_joined_once(tmp_path, smi):
    """A job that is appended shared the node of one, which has more GPUs than another held."""
    logs, files = [tmp_path / "a.sacct", tmp_path / "b.sacct"], []
    logs[0].write_text(HEADER + job(1, 0, 3600) + job(2, 4000, 7600) + job(3, 8000, 11600, nodes="gpu02"))
    logs[1].write_text(HEADER + job(4, 5000, 6000) + job(5, 12000, 15600, nodes="gpu02"))
    files = [
        smi(*samples(0, 7600), name="gpu01.csv"),
        smi(*samples(8000, 8200), *samples(12000, 15600), name="gpu02.csv"),
    ]
    stores = [tmp_path / name for name in ("grown.duckdb", "whole.duckdb")]
    append(logs[:1], stores[0])
    measure(stores[0], files)
    assert fields(stores[0], "gpu_utilization") == {"1": 0.5, "2": 0.5, "3": None}
    append(logs[1:], stores[0])
    convert(logs, stores[1])
    for store in stores:
        measure(store, files)
        measure(store, files)
    for query in ("from jobs order by job_id", "from measured order by all", "from repairs order by all"):
        grown, whole = ([*map(str, rows_of(store, query))] for store in stores)
        assert grown == whole
    assert fields(stores[0], "gpu_utilization") == {"5": 0.5, **dict.fromkeys("1234")}
    assert fields(stores[0], "bounds")["3"] == "gpu_memory"


def sadf_of(begin, end, use, step=300, host="gpu01", cpus=8, is_counted=True):  # noqa: FBT002 - named
    """Return what sadf prints of a node that is *use* busy between two seconds, and idle at other times."""
    lines = ["# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle"]
    for second in range(-600, 8 * 3600, step):
        inside = max(min(second, end) - max(second - step, begin), 0) / step
        idle = 100 * (1 - use * inside)
        lines += [
            f"{host};{step};{BEGIN + second};{cpu};{100 - idle:.2f};0.00;0.00;0.00;0.00;{idle:.2f}"
            for cpu in ([-1, 0, cpus - 1] if is_counted else [-1])
        ]
    lines.append("# hostname;interval;timestamp;kbmemfree;kbavail;kbmemused;%memused;kbbuffers;kbcached")
    return [
        *lines,
        *(
            f"{host};{step};{BEGIN + second};9;9;{2 + second % 7}000;1.00;0;0"
            for second in range(0, end, step)
        ),
    ]


def test_processors_of_nodes_are_those_of_their_only_job(made, tmp_path):
    """A mean over a time in which the job began is none of its own, and memory stays beside the job."""
    store, path = made(job(1, 100, 7300, gpus=0), job(2, 9000, 9900, gpus=0)), tmp_path / "sar.txt"
    path.write_text("\n".join(sadf_of(100, 7300, 0.5)) + "\n")
    joined = measure(store, [path])
    assert (
        "sadf: 1 of 2 jobs on 1 node measured by node and time; 1 were sampled fewer than 10 times"
        in said(joined)
    )
    assert "means over a time in which a job began" in said(joined)
    assert fields(store, "average_cpu_time", "max_memory") == {
        "1": (pytest.approx(0.5 * 7200), None), "2": (None, None),
    }  # fmt: skip
    assert measured(store)["1"] == {"cpu_seconds": pytest.approx(0.5 * 8 * 7200), "node_memory": 8000.0}


@pytest.mark.parametrize("idle", ["-500.00", "140.00", "nan"])
def test_a_use_that_none_can_be_is_no_time(made, tmp_path, idle):
    store, path = made(job(1, 0, 7200, gpus=0)), tmp_path / "sar.txt"
    lines = sadf_of(0, 7200, 0.5)
    path.write_text("\n".join(re.sub(r"0\.00;[\d.]+$", f"0.00;{idle}", line) for line in lines) + "\n")
    measure(store, [path])
    assert "cpu_seconds" not in measured(store).get("1", {})


def test_a_use_of_unknown_processors_is_no_time(made, tmp_path):
    store, path = made(job(1, 0, 7200, gpus=0)), tmp_path / "sar.txt"
    path.write_text("\n".join(sadf_of(0, 7200, 0.5, is_counted=False)) + "\n")
    joined = measure(store, [path])
    assert "1 job do not say how many processors the nodes have: the CPU time used is unknown" in said(joined)
    assert "cpu_seconds" not in measured(store)["1"]


def answered(*found):
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": [*found]}})


def metric_of_node(name, values, **labels):
    named = {"__name__": name, "instance": "gpu01.site:9100", **labels}
    return {"metric": named, "values": [[BEGIN + second, str(one)] for second, one in values]}


@pytest.mark.parametrize("modes", ["all", "idle", "summed"])
@pytest.mark.parametrize("restart", [None, 1800])
def test_counters_of_processors_become_their_time(made, tmp_path, modes, restart):
    """Eight processors of which each is used three tenths of the time, in three ways to ask for them."""
    store, path, found = made(job(1, 0, 3600, gpus=0)), tmp_path / "nodes.json", []
    seconds = range(-60, 4200, 60)

    def counter(share):
        return [
            (second, share * (second + 100 if restart is None or second < restart else second - restart))
            for second in seconds
        ]

    for cpu in range(8) if modes != "summed" else ["all"]:
        label = {"cpu": str(cpu)} if modes != "summed" else {}
        times = 8 if modes == "summed" else 1
        shares = (
            {"idle": 0.7} if modes == "idle" else {"idle": 0.6, "iowait": 0.1, "user": 0.2, "system": 0.1}
        )
        found += [
            metric_of_node("node_cpu_seconds_total", counter(share * times), mode=mode, **label)
            for mode, share in shares.items()
        ]
    for name, number in (("MemTotal", 64 << 30), ("MemAvailable", 48 << 30)):
        found.append(metric_of_node(f"node_memory_{name}_bytes", [(second, number) for second in seconds]))
    path.write_text(answered(*found))
    joined = measure(store, [path])
    assert "node-exporter: 1 of 1 job on 1 node measured by node and time" in said(joined)
    assert fields(store, "average_cpu_time")["1"] == pytest.approx(0.3 * 3600, rel=1e-3)
    assert measured(store)["1"]["node_memory"] == 16 << 20


@pytest.mark.parametrize(("restart", "watts"), [(None, 400.0), (1800, None)])
def test_a_counter_of_energy_that_began_again_says_nothing(made, tmp_path, restart, watts):
    store, path = made(job(1, 0, 3600)), tmp_path / "dcgm.json"
    values = [
        (second, 400_000 * (second + 9e6 if restart is None or second < restart else second - restart))
        for second in range(0, 3600, 30)
    ]
    path.write_text(answered(series("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", values)))
    measure(store, [path])
    assert fields(store, "energy")["1"] == (None if watts is None else pytest.approx(watts * 3600))


def test_clocks_of_another_zone_are_said_and_an_hour_that_comes_twice_is_left_out(made, smi):
    from zoneinfo import ZoneInfo

    berlin = ZoneInfo("Europe/Berlin")
    store = made(job(1, 0, 3600))
    joined = measure(store, [smi(*samples(0, 3600, zone=berlin))], nodes=NodeOptions(zone="Europe/Berlin"))
    assert fields(store, "gpu_utilization") == {"1": 0.5}
    assert "taken as Europe/Berlin, as --zone says" in said(joined)
    autumn = 1761435000 - BEGIN  # clocks are put back at 1761440400
    store = made(job(1, autumn, autumn + 14400))
    joined = measure(
        store, [smi(*samples(autumn, autumn + 14400, zone=berlin))], nodes=NodeOptions(zone="Europe/Berlin")
    )
    assert "240 in the hour that clocks show twice" in said(joined)
    assert fields(store, "gpu_utilization") == {"1": None}


@pytest.fixture
def late(made, smi):
    """Return a store, and a file of readings whose clock is a minute late; jobs have gaps of 20 minutes."""
    edges = [
        (number * 4800 + number * number * 7, number * 4800 + number * number * 7 + 3600)
        for number in range(30)
    ]
    lines = []
    for (begin, end), (following, _) in pairwise(edges):
        lines += samples(begin + 65, end + 55)
        lines += samples(end + 70, following + 50, use=0, watts=70, memory=0)
    return made(*(job(number, *pair) for number, pair in enumerate(edges, 1))), smi(*lines)


def test_nothing_is_joined_of_a_node_whose_clock_differs_until_that_is_said(late):
    store, path = late
    joined = measure(store, [path])
    assert not measured(store)
    (line,) = [one for one in joined.said if one.startswith("gpu01: the memory of its GPUs is in use")]
    low, high = (int(word) for word in line.split("in use ")[1].split(" s ")[0].split(" to "))
    assert 0 < low <= 60 <= high
    assert "later than jobs of the log run; nothing of it is joined; --shift -" in line
    joined = measure(store, [path], nodes=NodeOptions(shift=-60.0))
    assert "29 of 29 jobs with GPUs" in said(joined)
    assert "nothing of it is joined" not in said(joined)


def test_a_shift_that_is_stated_is_believed(late):
    store, path = late
    joined = measure(store, [path], nodes=NodeOptions(shift=0.0))
    assert len(measured(store)) == 30
    assert "it is joined, as --shift says" in said(joined)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (HEADER.replace("NodeList", "Nodelisten"), "the jobs of the trace name no nodes"),
        (HEADER.replace("AllocTRES", "Tres"), "does not say which jobs held GPUs"),
    ],
)
def test_a_log_without_nodes_or_gpus_is_said(made, smi, header, message):
    with pytest.raises(TraceError, match=message):
        measure(made(job(1, 0, 3600), header=header), [smi(*samples(0, 3600))])


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("gpu01.csv", "gpu01"),
        ("smi_gpu01_2025.csv", "gpu01"),
        ("smi-gpu01-2025.log", "gpu01"),
        ("gpu01.csv.gz", "gpu01"),
        ("node.csv", None),
        ("gpu01_gpu02.csv", None),
        ("gpu011.csv", None),
    ],
)
def test_the_name_of_a_file_says_the_node_only_if_the_log_has_it(made, smi, name, node):
    import gzip

    store = made(job(1, 0, 3600), job(2, 0, 3600, nodes="gpu02"))
    path = smi(*samples(0, 3600), name=name)
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(path.read_bytes()))
    if node:
        measure(store, [path])
        assert fields(store, "gpu_utilization")["1"] == 0.5
        return
    with pytest.raises(DefinitionError, match=r"does not say which node it is of.*--node NAME"):
        measure(store, [path])
    result = run("measure", store, path, "--node", "gpu02")
    assert "1 of 1 job with GPUs on 1 node" in result.stderr
    result = run("measure", store, path, "--node-from-name", "gpu0[12]|node")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--zone", "Mars"], "is no time zone"),
        (["--node-from-name", "("], "is no regular expression"),
        (["--shift", "soon"], "is not a valid float"),
        (["--map", "time=timestamp,power=index:hp"], "a unit of W, mW, kW"),
        (["--map", "time=timestamp,gpu_memory=index:B"], "expected device=COLUMN"),
        (["--map", "time=timestamp,device=index"], "says nothing that is measured"),
    ],
)
def test_what_cannot_be_understood_is_said(made, smi, options, message):
    result = run("measure", made(job(1, 0, 3600)), smi(*samples(0, 3600)), *options)
    assert result.exit_code in {1, 2}
    assert message in f"{' '.join(result.output.split())} {result.exception}"


def test_lines_that_are_no_readings_are_counted(made, smi):
    good = samples(0, 3600)
    noise = [
        SMI,
        "",
        "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.",
        "\x00\x01,,,",
    ]
    store = made(job(1, 0, 3600))
    joined = measure(store, [smi(*good[:60], *noise, *good[60:])])
    assert fields(store, "gpu_utilization")["1"] == 0.5
    assert "2 of 122 samples are not used: 2 without a readable time, device or value" in said(joined)


def test_a_conversion_and_a_report_join_samples_too(tmp_path, smi):
    log, out, path = tmp_path / "a.sacct", tmp_path / "b.duckdb", smi(*samples(0, 3600))
    log.write_text(HEADER + job(1, 0, 3600))
    result = run("convert", log, "-o", out, "--measurements", path)
    assert "nvidia-smi: 1 of 1 job with GPUs on 1 node measured" in result.stderr
    assert fields(out, "gpu_utilization") == {"1": 0.5}
    result = run("report", log, "-o", tmp_path, "--json", "--sections", "gpus", "--measurements", path)
    assert "1 of 1 jobs have measurements" in result.stderr


def test_nodes_of_several_clusters_with_one_name_are_of_no_job(made, smi):
    store = made(
        job(1, 0, 3600, cluster="a"), job(2, 0, 3600, cluster="b"), job(3, 0, 3600, "gpu02", cluster="b")
    )
    joined = measure(store, [smi(*samples(0, 3600)), smi(*samples(0, 3600), name="gpu02.csv")])
    assert fields(store, "gpu_utilization") == {"1": None, "2": None, "3": 0.5}
    assert "that several clusters have (gpu01)" in said(joined)


SECONDS = st.integers(0, 40).map(lambda step: step * 60)


@examples(25)
@given(
    jobs=st.lists(st.tuples(SECONDS, st.integers(10, 30), st.integers(1, 2)), min_size=1, max_size=5),
    watts=st.lists(st.integers(50, 700), min_size=80, max_size=80),
    dark=st.sets(st.integers(0, 4)),
)
@example(jobs=[(0, 10, 2), (1200, 12, 2)], watts=[50] * 80, dark={0})
def test_the_join_equals_one_by_hand(jobs, watts, dark):
    """Independent: each job against each other job and each sample, in seconds; *dark* ones lack a GPU's."""
    lines = [
        job(number, begin, begin + minutes * 60, gpus=gpus)
        for number, (begin, minutes, gpus) in enumerate(jobs, 1)
    ]
    held = [(begin, begin + minutes * 60, gpus) for begin, minutes, gpus in jobs]
    readings = [(second * 60 + 17, watts[second]) for second in range(80)]
    unseen = [one[:2] for place, one in enumerate(held) if place in dark]
    second_board = [one for one in readings if not any(begin <= one[0] < end for begin, end in unseen)]
    log_begin, log_end = min(begin for begin, _, _ in held) - 30, max(end for _, end, _ in held)
    boards = [
        each for each in (readings, second_board) if any(log_begin <= second < log_end for second, _ in each)
    ]
    most = max(sum(gpus for begin, end, gpus in held if begin <= one < end) for one, _, _ in held)
    expected = {}
    for number, (begin, end, gpus) in enumerate(held, 1):
        others = [one for place, one in enumerate(held, 1) if place != number]
        if any(one[0] < end and one[1] > begin for one in others) or not gpus == len(boards) >= most:
            continue
        own = [[power for second, power in each if begin <= second < end] for each in boards]
        if min(map(len, own)) >= 10:
            expected[str(number)] = sum(sum(each) / len(each) for each in own) * (end - begin)
    with TemporaryDirectory() as folder:
        log, store, path = (Path(folder, name) for name in ("a.sacct", "a.duckdb", "gpu01.csv"))
        log.write_text(HEADER + "".join(lines))
        convert([log], store)
        rows = [
            reading(second, watts=power, index=index)
            for index, each in enumerate((readings, second_board))
            for second, power in each
        ]
        path.write_text("\n".join([SMI, *rows]))
        measure(store, [path], nodes=NodeOptions(shift=0.0))
        found = {name: value for name, value in fields(store, "energy").items() if value is not None}
    assert found == pytest.approx(expected)


def two_gpus(begin, end, **values):
    """Return readings of two GPUs, of which the second draws 100 W more."""
    return [
        line
        for index in (0, 1)
        for line in samples(begin, end, index=index, watts=300.0 + 100 * index, **values)
    ]


def test_jobs_that_share_a_node_are_measured_on_the_gpus_that_they_are_told_to_hold(made, smi):
    store = made(
        told("0", 1, 0, 3600),
        told("gpu:h100:1(IDX:1)", 2, 1800, 5400),
        told("", 3, 6000, 9600, gpus=2),
        told("0-1", 4, 10000, 13600, gpus=2),
        told("1", 5, 14000, 17600),
        header=TOLD,
    )
    joined = measure(store, [smi(*two_gpus(0, 18000))])
    watts = {"1": 300, "2": 400, "3": 700, "4": 700, "5": 400}
    assert fields(store, "energy") == {name: power * 3600.0 for name, power in watts.items()}
    assert fields(store, "gpu_list") == {"1": "0", "2": "1", "3": None, "4": "0-1", "5": "1"}
    assert "5 of 5 jobs with GPUs on 1 node measured" in said(joined)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("", 1), ("1", 1)),  # may have been on 1, too
        (("0", 1), ("0", 1)),
        (("0", 2), ("1", 1)),  # held two, of which one is told
        (("GPU-0", 1), ("1", 1)),  # too short for a UUID
        (("0-1", 2), ("1", 1)),
    ],
)
def test_jobs_that_may_have_shared_a_gpu_are_not_measured(made, smi, first, second):
    jobs = [told(*one, number, 0, 3600, gpus=gpus) for number, (*one, gpus) in enumerate((first, second), 1)]
    store = made(*jobs, header=TOLD)
    joined = measure(store, [smi(*two_gpus(0, 3600))])
    assert fields(store, "energy", "gpu_utilization") == {"1": (None, None), "2": (None, None)}
    assert "2 shared a node with others" in said(joined)


def test_a_log_that_does_not_tell_gpus_is_told_how_it_may(made, smi):
    hint = "which GPUs of a shared node a job held, so nothing is joined to 2 jobs; a column SLURM_JOB_GPUS"
    shared = [job(1, 0, 3600), job(2, 0, 3600)]
    assert hint in said(measure(made(*shared), [smi(*two_gpus(0, 3600))]))
    assert "SLURM_JOB_GPUS" not in said(measure(made(shared[0]), [smi(*samples(0, 3600))]))
    told_of = [told("0", number, 0, 3600) for number in (1, 2)]
    assert "SLURM_JOB_GPUS" not in said(measure(made(*told_of, header=TOLD), [smi(*two_gpus(0, 3600))]))


def test_a_log_in_place_of_a_store_is_refused_with_the_command_that_makes_one(tmp_path, smi):
    log = tmp_path / "jobs.sacct"
    log.write_text(HEADER + job(1, 0, 3600))
    with pytest.raises(TraceError, match=r"expected one that gwa convert made.*LOG -o jobs\.duckdb"):
        measure(log, [smi(*samples(0, 3600))])


def test_gpus_are_told_by_uuid_before_index(made, tmp_path):
    """Schedulers write eight digits of a UUID, and may count GPUs otherwise than nvidia-smi."""
    uuids = [f"GPU-{'ab'[index] * 8}-1111-2222-3333-444444444444" for index in (0, 1)]
    store = made(told(uuids[1][:12], 1, 0, 3600), told(uuids[0], 2, 0, 3600), header=TOLD)
    path = tmp_path / "gpu01.csv"
    lines = [SMI, *two_gpus(0, 3600)]
    path.write_text("\n".join(lines).replace(" GPU-0,", f" {uuids[0]},").replace(" GPU-1,", f" {uuids[1]},"))
    measure(store, [path])
    assert fields(store, "energy") == {"1": 400.0 * 3600, "2": 300.0 * 3600}
    store = made(told(uuids[1][:12], 1, 0, 3600), told("0", 2, 0, 3600), header=TOLD)
    measure(store, [path])
    assert fields(store, "energy") == {"1": None, "2": None}


def test_gpus_are_not_told_where_samples_cannot_be_compared(made, tmp_path):
    """Samples have UUIDs, and no index: what the job alone on the node held is measured nevertheless."""
    store, path = made(told("0", 1, 0, 3600), header=TOLD), tmp_path / "gpu01.csv"
    path.write_text("\n".join(["t,gpu,w", *(f"{BEGIN + second},GPU-x,300" for second in range(0, 3600, 60))]))
    measure(store, [path], stated="time=t,device=gpu,power=w:W")
    assert fields(store, "energy") == {"1": 300.0 * 3600}


def test_gpus_of_several_nodes_are_not_told_by_one_list(made, smi):
    store = made(
        told("0", 1, 0, 3600, nodes="gpu[01-02]", gpus=2, n_nodes=2), told("1", 2, 0, 3600), header=TOLD
    )
    measure(store, [smi(*two_gpus(0, 3600), name=f"gpu0{number}.csv") for number in (1, 2)])
    assert fields(store, "energy") == {"1": None, "2": None}


def test_a_gpu_that_no_job_is_told_to_hold_is_of_the_others(made, smi):
    store = made(told("0", 1, 0, 3600), told("", 2, 4000, 7600, gpus=2), header=TOLD)
    joined = measure(store, [smi(*two_gpus(0, 7600))])
    assert fields(store, "energy") == {"1": 300.0 * 3600, "2": 700.0 * 3600}
    assert "148 when no job held a GPU" in said(joined)


def test_the_list_of_gpus_is_kept_without_what_is_none_and_without_uuids_where_names_are_replaced(
    made, tmp_path
):
    store = made(told("0-1", 1, 0, 60), told("GPU-abcdef01", 2, 0, 60), told("x", 3, 0, 60), header=TOLD)
    assert fields(store, "gpu_list") == {"1": "0-1", "2": "GPU-abcdef01", "3": None}
    assert ("a gpu_list that is not a valid value was set to missing", 1) in rows_of(
        store, "select meaning, jobs from repairs"
    )
    run("convert", store, "-o", tmp_path / "plain.duckdb", "--anonymize")
    found = rows_of(tmp_path / "plain.duckdb", "select gpu_list from jobs order by job_id")
    assert found == [("0-1",), (None,), (None,)]


@examples(25)
@given(
    jobs=st.lists(
        st.tuples(SECONDS, st.integers(10, 30), st.sampled_from(["0", "1", "0-1", ""])),
        min_size=1,
        max_size=5,
    ),
    watts=st.lists(st.integers(50, 700), min_size=80, max_size=80),
)
def test_the_join_by_gpu_equals_one_by_hand(jobs, watts):
    """Independent: each job against each other job, each sample and each GPU that it may have held."""
    lines = [
        told(gpus, number, begin, begin + minutes * 60, gpus=1 if gpus in "01" and gpus else 2)
        for number, (begin, minutes, gpus) in enumerate(jobs, 1)
    ]
    held = [
        (begin, begin + minutes * 60, {"0": {0}, "1": {1}}.get(gpus, {0, 1})) for begin, minutes, gpus in jobs
    ]
    whole = max(2, *(sum(len(own) for begin, end, own in held if begin <= one < end) for one, _, _ in held))
    expected = {}
    for number, (begin, end, own) in enumerate(held, 1):
        others = [one for place, one in enumerate(held, 1) if place != number]
        if any(one[0] < end and one[1] > begin and one[2] & own for one in others) or end > 80 * 60:
            continue
        if not jobs[number - 1][2] and whole > 2:
            continue
        of_run = [minute for minute in range(80) if begin <= minute * 60 + 17 < end]
        if len(of_run) >= 10:
            mean = sum(watts[minute] + 100 * gpu for minute in of_run for gpu in own) / len(of_run)
            expected[str(number)] = mean * (end - begin)
    with TemporaryDirectory() as folder:
        log, store, path = (Path(folder, name) for name in ("a.sacct", "a.duckdb", "gpu01.csv"))
        log.write_text(TOLD + "".join(lines))
        convert([log], store)
        rows = [
            reading(minute * 60 + 17, watts=power + 100 * index, index=index)
            for minute, power in enumerate(watts)
            for index in (0, 1)
        ]
        path.write_text("\n".join([SMI, *rows]))
        measure(store, [path], nodes=NodeOptions(shift=0.0))
        found = {name: value for name, value in fields(store, "energy").items() if value is not None}
    assert found == pytest.approx(expected)


@pytest.mark.skipif(not CASES.exists(), reason="no cases beside the project")
class TestCases:
    """Inputs with what is right, of which the readings of two are of a real H100."""

    @staticmethod
    def joined(tmp_path, case, name, **options):
        store = tmp_path / "a.duckdb"
        convert([CASES / case / "jobs.sacct"], store)
        joined = measure(store, [CASES / case / name], nodes=NodeOptions(node="gpu01", **options))
        return store, joined

    def test_real_jobs_are_measured_and_one_is_idle(self, tmp_path):
        store, _ = self.joined(tmp_path, "4-h100-query", "query.csv")
        expected = json.loads((CASES / "4-h100-query" / "expect.json").read_text())["jobs"]
        found = fields(store, "energy", "gpu_utilization", "idle_gpus", "gpu_memory")
        for name, wanted in expected.items():
            energy, use, idle, memory = found[name]
            assert energy == pytest.approx(wanted["joules"], rel=0.03)
            assert abs(energy - wanted["joules"]) <= measured(store)[name]["energy_error"]
            assert bool(idle) == wanted["is_idle"]
            low, high = wanted["gpu_utilization"] if name == "1000" else [wanted["gpu_utilization"]] * 2
            assert use is low if low is None else low <= use <= high
            if "gpu_memory_GiB" in wanted:
                assert memory / 1048576 == pytest.approx(wanted["gpu_memory_GiB"], abs=0.01)

    def test_monitors_of_the_same_jobs(self, tmp_path):
        expected = json.loads((CASES / "5-h100-dmon-pmon" / "expect.json").read_text())
        store, _ = self.joined(tmp_path, "5-h100-dmon-pmon", "pmon.txt")
        means = expected["pmon (means over its second; never all 0)"]
        assert fields(store, "gpu_utilization") == pytest.approx(means, abs=0.03)
        assert fields(store, "idle_gpus") == {name: int(mean == 0) for name, mean in means.items()}
        store, _ = self.joined(tmp_path, "5-h100-dmon-pmon", "dmon.txt")
        found = fields(store, "gpu_utilization", "idle_gpus")
        for name in ("1001", "1003"):
            wanted = expected["dmon"][name]
            assert found[name][0] == pytest.approx(wanted["gpu_utilization"], abs=wanted["margin"])
        assert found["1004"] == (None, 0)

    def test_memory_of_processes(self, tmp_path):
        store, _ = self.joined(tmp_path, "4-h100-query", "apps.csv")
        assert fields(store, "gpu_memory")["1000"] == pytest.approx(10.95 * 1048576, rel=0.1)

    def test_jobs_that_share_a_node(self, tmp_path):
        store, _ = self.joined(tmp_path, "6-shared-node", "query.csv")
        found = fields(store, "gpu_utilization", "energy", "gpu_memory")
        assert found["3"] == (0.9, 1.8e6, 16000 * 1024)
        assert found["1"] == found["2"] == found["4"] == (None, None, None)
        assert measured(store)["4"]["gpu_memory_at_most"] == 8004 * 1024

    def test_jobs_that_share_a_node_whose_gpus_are_told(self, tmp_path):
        log, store = tmp_path / "jobs.sacct", tmp_path / "a.duckdb"
        head, *jobs = (CASES / "6-shared-node" / "jobs.sacct").read_text().splitlines()
        gpus = {"1": "0", "2": "1", "4": "0"}
        rows = [f"{head}|SLURM_JOB_GPUS", *(f"{row}|{gpus.get(row.split('|')[0], '')}" for row in jobs)]
        log.write_text("\n".join(rows))
        convert([log], store)
        measure(store, [CASES / "6-shared-node" / "query.csv"], nodes=NodeOptions(node="gpu01"))
        expected = json.loads((CASES / "6-shared-node" / "expect.json").read_text())
        expected = expected["with indices (1: 0, 2: 1, 4: 0)"]
        assert fields(store, "gpu_utilization", "energy") == {
            name: (wanted["gpu_utilization"], wanted["joules"]) for name, wanted in expected.items()
        }

    @pytest.mark.parametrize(("name", "shift"), [("late60.csv", 60), ("zone1h.csv", 3600)])
    def test_clocks_that_differ(self, tmp_path, name, shift):
        store, joined = self.joined(tmp_path, "7-skew-and-zone", name)
        assert not measured(store)
        words = said(joined).split("in use ")[1].split(" s ")[0].replace(",", "").split(" to ")
        assert 0 < int(words[0]) <= shift <= int(words[1])
        assert ("--zone NAME" in said(joined)) == (shift == 3600)
        _, joined = self.joined(tmp_path, "7-skew-and-zone", name, shift=-float(shift))
        assert "nothing of it is joined" not in said(joined)

    def test_gaps_and_short_jobs(self, tmp_path):
        store, _ = self.joined(tmp_path, "8-gaps-and-short", "query.csv")
        found = fields(store, "gpu_utilization", "energy")
        assert found == {"1": (None, None), "2": (None, None), "3": (None, 1.44e6), "4": (None, None)}
        for name in "12":
            assert measured(store)[name] == {"gpu_memory_at_least": 8000 * 1024}
            assert fields(store, "gpu_memory", "bounds")[name] == (8000 * 1024, "gpu_memory")
