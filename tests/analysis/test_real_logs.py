"""The facts of real logs, against a few lines of pandas that share nothing with gwa."""

import gzip

import numpy as np
import pandas as pd
import pytest

import gwa
from gwa.report.document import Note

LOGS = (
    "HPC2N-2002-2.1-cln", "KTH-SP2-1996-2.1-cln", "LCG", "LLNL-Thunder-2007-1.1-cln",
    "METACENTRUM-2009-2-noheader", "NASA-iPSC-1993-3.1-cln", "SDSC-Par-1996-3.1-cln", "alea-wagap-2013",
    "lublin_256",
)  # fmt: skip
NAMES = [
    "job",
    "submit",
    "wait",
    "run",
    "procs",
    "cpu",
    "memory",
    "req_procs",
    "req_time",
    "req_memory",
    "status",
    "user",
    "group",
]


def by_pandas(path, cpus):
    """Return the facts of an SWF log the short way; *cpus* None stands for the most ever busy."""
    with gzip.open(path, "rt") as file:
        lines = [line.split()[:13] for line in file if not line.startswith(";")]
    jobs = pd.DataFrame(np.array(lines, dtype=float), columns=NAMES)
    ran = jobs[(jobs.run >= 0) & (jobs.procs >= 1)].assign(start=lambda j: j.submit + j.wait.clip(lower=0))
    dated, is_stated = ran[ran.submit >= 0], cpus is not None
    if not is_stated:
        begun = pd.Series(dated.procs.to_numpy(), dated.start)
        ended = pd.Series(-dated.procs.to_numpy(), dated.start + dated.run)
        edges = pd.concat([begun, ended])
        cpus = int(edges.groupby(level=0).sum().cumsum().max())
    seconds = (ran.run * ran.procs).sum()
    span = (dated.start + dated.run).max() - jobs.submit[jobs.submit >= 0].min()
    return {
        "trace.jobs": len(jobs),
        "trace.users": jobs.user[jobs.user >= 0].nunique() or None,
        "trace.groups": jobs.group[jobs.group >= 0].nunique() or None,
        "trace.cpus": cpus,
        "trace.cpu_seconds": seconds,
        "trace.span_seconds": span,
        "utilization.span_mean": pytest.approx(seconds / cpus / span, abs=1e-9) if is_stated else None,
        "jobs.sequential.count": (ran.procs == 1).sum(),
        "jobs.parallel.count": (ran.procs > 1).sum(),
        "jobs.sequential.cpu_seconds": ran.run[ran.procs == 1].sum(),
        "jobs.runtime.mean": ran.run.mean(),
        "jobs.runtime.median": ran.run.median(),
        "jobs.runtime.max": ran.run.max(),
        "jobs.procs.mean": ran.procs.mean(),
        "jobs.procs.p95": ran.procs.quantile(0.95),
    }


@pytest.mark.logs
@pytest.mark.parametrize("name", LOGS)
def test_facts_equal_a_few_lines_of_pandas(name, logs):
    path = logs / "swf" / f"{name}.swf.gz"
    with gwa.open(path) as trace:
        facts = trace.facts()
        stated = None if trace.system.cpus_inferred else trace.system.cpus

    expected = by_pandas(path, stated)
    assert {key: facts[key] for key in expected} == expected


@pytest.mark.logs
def test_kth_and_lcg_are_as_published(logs):
    with gwa.open(logs / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz") as trace:
        kth = trace.facts()
    with gwa.open(logs / "swf" / "LCG.swf.gz") as trace:
        lcg = trace.facts("trace.")

    assert (kth["trace.jobs"], kth["trace.users"], kth["trace.cpus"]) == (28_476, 214, 100)
    assert kth["utilization.span_mean"] == pytest.approx(0.7011, abs=5e-5)
    assert (lcg["trace.jobs"], lcg["trace.users"], lcg["trace.groups"]) == (188_041, 216, 28)


@pytest.mark.logs
def test_what_a_log_does_not_record_is_said_in_words(logs):
    with gwa.open(logs / "swf" / "LCG.swf.gz") as trace:
        report = trace.report(only=["waits", "outcomes", "performance"])
    blocks = [block for section in report.sections for block in section.blocks]
    said = " ".join(block.text for block in blocks if isinstance(block, Note))

    assert "does not record WaitTime (from submission to start)" in said
    assert "jobs are taken to start when they are submitted" in said
    assert "does not record Status (how the job ended" in said


@pytest.mark.logs
def test_kth_is_as_pandas_says(logs):
    path = logs / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz"
    with gzip.open(path, "rt") as file:
        lines = [line.split() for line in file if not line.startswith(";")]
    jobs = pd.DataFrame(np.array(lines, dtype=float)).rename(
        columns={1: "submit", 2: "wait", 3: "run", 4: "procs", 8: "asked", 11: "user"}
    )
    jobs = jobs[(jobs.run >= 0) & (jobs.procs >= 1)]
    with gwa.open(path) as trace:
        report = trace.report(only=["slowdown", "estimates", "powers-of-two", "inequality"])
    found = {fact.id: fact.value for fact in report.facts()}
    slow = ((jobs.wait + jobs.run) / jobs.run.clip(lower=10)).clip(lower=1)
    parallel = jobs[jobs.procs > 1]
    is_power = np.log2(parallel.procs) % 1 == 0
    by_user = jobs.groupby("user").run.apply(lambda run: (run * jobs.procs[run.index]).sum())

    assert found["slowdown.bounded.mean"] == pytest.approx(slow.mean(), rel=2e-3)
    assert found["slowdown.bounded.median"] == pytest.approx(slow.median(), rel=5e-3)
    assert found["slowdown.bounded.p95"] == pytest.approx(slow.quantile(0.95), rel=5e-3)
    used = (jobs.run / jobs.asked)[jobs.asked > 0]
    assert found["estimates.time.median"] == pytest.approx(used.median(), rel=5e-3)
    assert found["estimates.time.mean"] == pytest.approx(used.mean(), rel=1e-3)
    assert found["jobs.parallel.power_of_two"] == pytest.approx(is_power.mean())
    tenth = by_user.sort_values(ascending=False)
    assert found["users.top_tenth_cpu"] == pytest.approx(tenth[:21].sum() / tenth.sum(), abs=0.01)
