"""Summaries of jobstats in AdminComment, in each encoding of Slurm, whole and damaged."""

import json
from base64 import b64encode
from gzip import compress
from itertools import combinations
from pathlib import Path

import pytest

from gwa.formats.open import open_trace
from gwa.ingest.jobstats import BROKEN, MAXIMUM_SUMMARY, summary_text
from gwa.metrics import efficiency
from gwa.metrics.alerts import alerts
from tests.converters.slurm_encodings import Job, Step, as_dump, as_json, as_text

SHARED = Path(__file__).parents[2].parent / "shared"
PUBLIC = SHARED / "traces" / "today" / "jobstats" / "js1.sacct"
GIB = 1 << 30
HEADER = "JobID|State|Submit|Start|End|ElapsedRaw|NNodes|AllocCPUS|ReqMem|AllocTRES|TotalCPU|AdminComment"
FIELDS = (
    "average_cpu_time",
    "max_memory",
    "gpu_utilization",
    "gpu_memory",
    "idle_gpus",
    "max_gpu_memory",
    "idle_nodes",
)


def summary(*nodes, **others):
    content = {"nodes": {f"n{number}": node for number, node in enumerate(nodes)}, "total_time": 3600}
    return f"JS1:{b64encode(compress(json.dumps(content | others).encode(), mtime=0)).decode()}"


def node(cpu=7200.0, memory=2 * GIB, uses=(), sizes=()):
    """Return what a summary says of a node with four processors."""
    content = {"cpus": 4, "total_memory": 16 * GIB, "total_time": cpu, "used_memory": memory}
    if uses:
        content["gpu_utilization"] = {str(gpu): use for gpu, use in enumerate(uses)}
    if sizes:
        content["gpu_used_memory"] = {str(gpu): size for gpu, size in enumerate(sizes)}
    return content


def line(comment, *, nodes=1, gpus=0, cpu=""):
    tres = f"cpu={4 * nodes},mem={16 * nodes}G,node={nodes}" + (f",gres/gpu={gpus}" if gpus else "")
    times = "1760000000|1760000100|1760003700|3600"
    return f"7|COMPLETED|{times}|{nodes}|{4 * nodes}|{16 * nodes}G|{tres}|{cpu}|{comment}"


def read(tmp_path, *lines):
    """Return the fields of the only job, by name, and the numbers of jobs by repair."""
    path = tmp_path / "jobs.sacct"
    path.write_text("\n".join((HEADER, *lines)) + "\n")
    with open_trace([path]) as store:
        ((*values,),) = store.rows(f"select {', '.join(FIELDS)} from jobs")
        return dict(zip(FIELDS, values, strict=True)), dict(store.rows("select name, jobs from repairs"))


def test_each_node_and_gpu_counts(tmp_path):
    comment = summary(
        node(7200.0, 2 * GIB, (80.0, 0.0), (GIB, 3 * GIB)), node(0.0, GIB, (0.0, 20.0), (GIB, 1024))
    )
    job, repairs = read(tmp_path, line(comment, nodes=2, gpus=4, cpu="00:10:00"))
    assert job == {
        "average_cpu_time": 900.0,
        "max_memory": 3 * 1024**2,
        "gpu_utilization": 0.25,
        "gpu_memory": 5 * 1024**2 + 1,
        "idle_gpus": 2,
        "max_gpu_memory": 3 * 1024**2,
        "idle_nodes": 1,
    }
    assert repairs == {}


@pytest.mark.parametrize(
    ("comment", "repair"),
    [
        ("JS1:None", "empty summary"),
        ("JS1:Short", "short summary"),
        ("JS1:", "broken summary"),
        ("JS1:%%%", "broken summary"),
        (summary(node())[:60], "broken summary"),
        (f"JS1:{b64encode(b'no gzip').decode()}", "broken summary"),
        (f"JS1:{b64encode(compress(b'no json', mtime=0)).decode()}", "broken summary"),
        (f"JS1:{b64encode(compress(bytes([255, 254]), mtime=0)).decode()}", "broken summary"),
        (summary(), "empty summary"),
        (f"JS1:{b64encode(compress(b'[1]', mtime=0)).decode()}", "empty summary"),
        (summary(node(cpu=-1)), "partial summary"),
        (summary({"cpus": 4}), "partial summary"),
        (summary(7), "partial summary"),
        (summary(node(), node()), "partial summary"),
        (summary(node(cpu=4 * 3600 * 2)), "CPU time of a summary"),
    ],
)  # fmt: skip
def test_what_a_summary_lacks_is_counted_and_taken_of_slurm(tmp_path, comment, repair):
    job, repairs = read(tmp_path, line(comment, cpu="01:00:00"))
    assert job["average_cpu_time"] == 900.0
    assert repairs == {repair: 1}


@pytest.mark.parametrize("comment", ["", "moved by root", "JS2:abc", "see JS1: in the manual"])
def test_other_comments_are_none_of_jobstats(tmp_path, comment):
    assert read(tmp_path, line(comment)) == (dict.fromkeys(FIELDS), {})


def test_blanks_within_and_before_are_passed_over(tmp_path):
    whole = summary(node())
    job, repairs = read(tmp_path, line(f"  {whole[:30]} {whole[30:50]}  {whole[50:]}"))
    assert (job["average_cpu_time"], repairs) == (1800.0, {})


@pytest.mark.parametrize(
    ("of_gpus", "utilization"),
    [
        ({"sizes": (GIB, GIB)}, None),  # MIG
        ({"uses": (50.0,), "sizes": (GIB, GIB)}, None),
        ({"uses": (50.0, 0.0, 0.0), "sizes": (GIB, GIB)}, None),
        ({"uses": (50.0, -1.0), "sizes": (GIB, GIB)}, None),
        ({"uses": (50.0, 101.0), "sizes": (GIB, GIB)}, None),
        ({"uses": (50.0, 0.0), "sizes": (GIB, GIB)}, 0.25),
    ],
)
def test_the_use_of_a_part_of_the_gpus_is_not_that_of_all(tmp_path, of_gpus, utilization):
    job, repairs = read(tmp_path, line(summary(node(**of_gpus)), gpus=2))
    assert job["gpu_utilization"] == utilization
    assert (job["idle_gpus"] is None) == (utilization is None)
    assert job["gpu_memory"] == 2 * 1024**2
    assert repairs == ({} if utilization else {"unmeasured GPUs": 1})


def test_a_bomb_costs_a_count_and_no_memory(tmp_path):
    bomb = f"JS1:{b64encode(compress(bytes(4 * MAXIMUM_SUMMARY))).decode()}"
    assert summary_text(bomb) == BROKEN
    assert read(tmp_path, line(bomb[:200_000]))[1] == {"broken summary": 1}


def test_memory_allocated_is_that_of_the_summary_where_slurm_has_none(tmp_path):
    path = tmp_path / "jobs.sacct"
    path.write_text(f"{HEADER}\n{line(summary(node())).replace('mem=16G,', '')}\n")
    with open_trace([path]) as store:
        assert store.row("select used_resources from jobs") == ("cpu:4,node:1,mem:16777216K",)


USAGE = f"{HEADER}|TRESUsageInTot"


def peaked(*jobs):
    """Return a log of jobs, each with its GPUs, its partition and the peaks of its two steps."""
    lines = [f"{USAGE}|Partition"]
    for job, (gpus, partition, *peaks) in enumerate(jobs, 1):
        row = line("", gpus=1).replace("7|", f"{job}|", 1).replace("gres/gpu=1", gpus)
        assert gpus in row
        lines.append(f"{row}||{partition}")
        for step, peak in zip(("batch", "0"), peaks, strict=True):
            use = "" if peak is None else f",gres/gpuutil={peak}"
            lines.append(line("").replace("7|", f"{job}.{step}|", 1) + f"|cpu=00:01:00,mem=4K{use}|")
    return "\n".join(lines) + "\n"


WHOLE, AMD, PART = (f"gres/gpu:{kind}=1,gres/gpu=1" for kind in ("a100", "mi210", "a100_3g.20gb"))


@pytest.mark.parametrize(
    ("jobs", "idle"),
    [
        ([("gres/gpu=1", "p", 0, 0), ("gres/gpu=1", "p", 0, 90)], [1, 0]),
        ([("gres/gpu=2", "p", 0, 0), ("gres/gpu=2", "p", 0, 90)], [2, None]),  # one of two may be idle
        ([("gres/gpu=1", "p", 0, 0), ("gres/gpu=1", "p", 0, 0)], [None, None]),  # the counter is dead
        ([("gres/gpu=1", "p", 0, None), ("gres/gpu=1", "p", 90, 90)], [None, 0]),
        # A counter that works for some GPUs says nothing of those of other types, or of parts of them.
        ([(WHOLE, "p", 0, 0), (WHOLE, "p", 0, 90), (AMD, "p", 0, 0), (PART, "p", 0, 0)], [1, 0, None, None]),
        ([(PART, "p", 0, 0), (PART, "p", 0, 9)], [None, 0]),
        ([("gres/gpu=1", "p", 0, 0), ("gres/gpu=1", "q", 0, 90)], [None, 0]),
    ],
)
def test_a_peak_of_zero_is_of_idle_gpus_where_the_counter_of_their_kind_works(tmp_path, jobs, idle):
    """Nor is it a mean: of jobs whose peak is more, the mean is unknown."""
    path = tmp_path / "jobs.sacct"
    path.write_text(peaked(*jobs))
    with open_trace([path]) as store:
        rows = store.rows("select gpu_utilization, idle_gpus from jobs order by job_id")
    assert rows == [(None, gpus) for gpus in idle]


def test_whether_a_counter_works_is_asked_of_each_cluster(tmp_path):
    text = peaked(("gres/gpu=1", "p", 0, 0), ("gres/gpu=1", "p", 90, 90)).splitlines()
    path = tmp_path / "jobs.sacct"
    clusters = ["Cluster", *("one",) * 3, *("two",) * 3]
    path.write_text("\n".join(f"{row}|{name}" for row, name in zip(text, clusters, strict=True)) + "\n")
    with open_trace([path]) as store:
        assert store.rows("select idle_gpus from jobs order by job_id") == [(None,), (0,)]


def test_what_is_known_only_where_it_is_0_enters_no_mean(tmp_path):
    """Of 106 jobs, 5 never used their GPU; how much the others did is unknown."""
    path = tmp_path / "jobs.sacct"
    path.write_text(peaked(*[("gres/gpu=1", "p", 0, 0)] * 5, *[("gres/gpu=1", "p", 0, 97)] * 101))
    with open_trace([path]) as store:
        assert not store.has("gpu_utilization")
        raised = {alert.rule.id for alert in alerts(store) if alert.holders}
        assert "low-gpu-use" not in raised
        assert efficiency.overall(store).parts.get("gpu") is None
        assert store.row("select sum(idle_gpus), count(idle_gpus) from jobs") == (5, 106)


def test_all_encodings_of_slurm_say_the_same(tmp_path):
    had = {"cpu": 4, "mem": 16384, "node": 1, "billing": 4, "gres/gpu": 2}
    comment = summary(node(7200.0, 2 * GIB, (80.0, 0.0), (GIB, 3 * GIB)))
    steps = (Step("batch", 1760000100, 1760003700, gpu_memory=5 << 20),)
    job = Job(7, 1760000000, 1760000000, 1760000100, 1760003700, had=had, steps=steps, comment=comment)
    found = []
    for name, text in (
        ("a.sacct", as_text([job])),
        ("b.json", as_json([job], 43)),
        ("c.sql", as_dump([job])),
    ):
        path = tmp_path / name
        path.write_text(text)
        with open_trace([path]) as store:
            found += store.rows(f"select {', '.join(FIELDS)} from jobs")
    assert found == [(1800.0, 2 * 1024**2, 0.4, 4 * 1024**2, 1, 3 * 1024**2, 0)] * 3


@pytest.mark.skipif(not PUBLIC.exists(), reason="no logs beside the project")
def test_public_summaries_have_what_jobstats_prints():
    query = (
        "select gpu_utilization, round(max_memory / cast(regexp_extract(used_resources, 'mem:([0-9]+)K', 1)"
        " as double), 4) from jobs where max_memory is not null and run_time > 100 order by max_memory"
    )
    with open_trace([PUBLIC]) as store:
        found = store.rows(query)
    assert sorted(found, key=str) == sorted(
        [(None, 0.0362), (0.294, 0.0946), (None, 0.0113), (0.035, 0.2628)], key=str
    )


@pytest.mark.parametrize("case", ["1-idle-gpus", "5-broken-and-mig"])
def test_measured_jobs_are_those_of_the_cases(case):
    folder = SHARED / "cases" / "gpu" / case
    if not folder.exists():
        pytest.skip("no cases beside the project")
    expected = json.loads((folder / "expect.json").read_text())["measured"]
    with open_trace([folder / "jobs.sacct"]) as store:
        counts = dict(
            zip(
                ("jobs", "gpu jobs", "gpu use", "gpu memory", "broken"),
                store.row(
                    "select count(*), count(*) filter (where n_gpus > 0), count(idle_gpus),"
                    " count(max_gpu_memory),"
                    " (select coalesce(sum(jobs), 0) from repairs where name = 'broken summary') from jobs"
                ),
                strict=True,
            )
        )
    assert {name: counts[name] for name in expected} == expected


def test_every_part_of_a_summary_may_be_missing(tmp_path):
    parts = node(uses=(1.0,), sizes=(5,)).items()
    contents = [dict(kept) for size in range(len(parts) + 1) for kept in combinations(parts, size)]
    path = tmp_path / "jobs.sacct"
    lines = [f"{number}{line(summary(one), gpus=1)[1:]}" for number, one in enumerate(contents, 100)]
    path.write_text("\n".join((HEADER, *lines)) + "\n")
    with open_trace([path]) as store:
        found = store.rows(
            "select gpu_utilization, max_memory, idle_nodes from jobs join source_ids using (job_id)"
            " order by source_id::int"
        )
    for content, (utilization, memory, idle) in zip(contents, found, strict=True):
        assert (utilization == 0.01) == ("gpu_utilization" in content)
        assert (memory is not None) == ("used_memory" in content)
        assert (idle == 0) == ("total_time" in content)
