"""The sample: the same bytes everywhere, jobs that a machine can have run, and all that a report answers."""

import base64
import gzip
import hashlib
import json
import re
from collections import Counter, defaultdict

import pytest
from click.testing import CliRunner

import gwa
from gwa.cli import gwa as command
from gwa.formats.registry import all_formats
from gwa.formats.sample import KINDS, jobs, write
from gwa.formats.sample.queue import NODE, NODES
from gwa.formats.sample.workload import END, GROWING, GROWTH, MISSING, OUTAGE, START, WEEK, WEEKS

BYTES = {
    "slurm": "6b28a11e5cf6c04ea912f359e81b9733a9f68ae32403ca80b1bc692beec6babb",
    "swf": "d75b328cf7dfb4cb5b740674c4a7f969caa8a5e68310478ce6af0d286e80b1eb",
}
"""SHA-256 of each kind; other bytes are another sample."""


@pytest.fixture(scope="module")
def made():
    return jobs()


@pytest.fixture(scope="module")
def sacct(made):
    """Return the rows of the Slurm sample, as dictionaries."""
    head, *lines = KINDS["slurm"](made)
    return [dict(zip(head.split("|"), line.split("|"), strict=True)) for line in lines]


@pytest.mark.parametrize("kind", KINDS)
def test_the_bytes_are_the_same_everywhere(kind, tmp_path):
    write(kind, tmp_path / "sample")
    assert hashlib.sha256((tmp_path / "sample").read_bytes()).hexdigest() == BYTES[kind]


def test_it_has_the_columns_that_gwa_asks_sacct_for(sacct):
    (slurm,) = [one for one in all_formats() if one.name == "slurm"]
    asked = re.search(r"--format=(\S+)", slurm.export)
    assert asked is not None
    assert set(asked[1].split(",")) <= set(sacct[0])


def test_it_shows_everything(made, sacct):
    assert WEEKS >= 60
    assert len({job.user.project for job in made}) == 3
    assert {job.qos for job in made} == {"short", "long"}
    assert {job.kind.partition for job in made} == {"cpu", "gpu"}
    assert {job.state for job in made} == {
        "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "RUNNING", "PENDING"
    }  # fmt: skip
    rows = [row for row in sacct if "." not in row["JobID"]]
    assert len(rows) == len(made)
    assert {row["AdminComment"][:5] for row in rows} == {"", "JS1:H", "JS1:S", "JS1:N"}
    assert any("_" in row["JobID"] for row in rows)
    assert all(re.fullmatch(r"u\d\d", job.user.name) for job in made), "no names of people"


def test_no_node_holds_more_than_it_has_and_nothing_runs_in_the_outage():
    """Each second's sum of what the jobs hold, from scratch; jobs whose rows are missing held nodes, too."""
    from gwa.formats.sample.queue import run
    from gwa.formats.sample.workload import submissions

    held: dict[tuple[str, int], list[tuple[int, int, int]]] = defaultdict(list)
    for job in run(submissions()):
        assert len(set(job.hosts)) == len(job.hosts) == (job.nodes if job.start is not None else 0)
        if job.start is not None:
            assert job.submit <= job.start
            end = END if job.end is None else job.end
            assert end <= OUTAGE[0] or job.start >= OUTAGE[1]
            for host in job.hosts:
                held[job.kind.partition, host] += [
                    (job.start, job.cores, job.gpus),
                    (end, -job.cores, -job.gpus),
                ]
    assert len(held) == sum(NODES.values())
    for (partition, _), changes in held.items():
        cores = gpus = 0
        for _, more_cores, more_gpus in sorted(changes):
            cores, gpus = cores + more_cores, gpus + more_gpus
            assert cores <= NODE[partition][0]
            assert gpus <= NODE[partition][1]


def test_jobs_wait_in_the_outage(made):
    waited = [job for job in made if job.start and OUTAGE[0] <= job.submit < OUTAGE[1]]
    assert len(waited) > 10
    assert all(job.start >= OUTAGE[1] for job in waited)
    assert any(job.state == "NODE_FAIL" and job.end == OUTAGE[0] for job in made)


def test_rows_are_missing_and_their_numbers_are_passed_over(made):
    assert not [job for job in made if MISSING[0] <= job.submit < MISSING[1]]
    before = max(job.number for job in made if job.submit < MISSING[0])
    after = min(job.number for job in made if job.submit >= MISSING[1])
    assert after - before > 100
    numbers = [job.number for job in made]
    assert numbers == sorted(set(numbers))


def test_one_project_triples(made):
    def weekly(begin, end):
        arrays = {job.array[0] if job.array else job.number for job in made
                  if job.user.project == GROWING and begin <= job.submit < end}  # fmt: skip
        return len(arrays) / ((end - begin) / WEEK)

    assert weekly(GROWTH, MISSING[0]) / weekly(START, GROWTH) == pytest.approx(3, rel=0.15)


def test_jobstats_summaries_are_what_jobstats_writes(sacct):
    texts = [row["AdminComment"] for row in sacct if row["AdminComment"].startswith("JS1:H")]
    for text in texts[:200]:
        summary = json.loads(gzip.decompress(base64.b64decode(text.removeprefix("JS1:"))))
        assert summary.keys() == {"gpus", "nodes", "total_time"}
        for node in summary["nodes"].values():
            assert node.keys() >= {"cpus", "total_memory", "total_time", "used_memory"}
            assert node["used_memory"] <= node["total_memory"]
            assert node["total_time"] <= node["cpus"] * summary["total_time"]


def test_both_kinds_are_the_same_workload(tmp_path):
    read = {}
    for kind in KINDS:
        write(kind, tmp_path / kind)
        with gwa.open(tmp_path / kind) as trace:
            assert trace.account.rejected == 0
            read[kind] = Counter(
                trace.store.rows(
                    "select submit_time, wait_time, run_time, n_procs, req_time, status from jobs"
                )
            )
    assert read["slurm"] == read["swf"]


@pytest.mark.parametrize(
    ("words", "head"),
    [
        (["slurm", "-o", "a.log"], b"JobID|"),
        (["-o", "a.sacct"], b"JobID|"),
        (["swf", "-o", "a.txt"], b"; Version"),
        (["-o", "a.swf"], b"; Version"),
        (["-o", "a.swf.gz"], b"\x1f\x8b"),
    ],
)
def test_the_word_or_the_suffix_says_which(words, head, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command, ["sample", *words])
    assert done.exit_code == 0, done.output
    assert (tmp_path / words[-1]).read_bytes().startswith(head)
    assert f"next: gwa report {words[-1]}" in done.stderr


@pytest.mark.parametrize("words", [["-o", "a.parquet"], ["slurm", "-o", "a.swf"], ["pbs", "-o", "a"], []])
def test_what_it_does_not_write_is_an_error_of_usage(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(command, ["sample", *words]).exit_code == 2
    assert list(tmp_path.iterdir()) == []
