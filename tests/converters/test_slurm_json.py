"""Slurm's JSON: the same jobs as in its text, whatever version wrote it."""

import json
from collections import defaultdict
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.errors import TraceError
from gwa.formats.open import open_trace
from tests.conftest import HOME, thinned
from tests.converters.slurm_encodings import EXAMPLES, FAILED, Job, Step, as_json, as_text
from tests.mutation import FEW

REAL = HOME.parent / "shared" / "traces" / "today" / "sacct-json"
VERSIONS = range(37, 46)


def traces(folder, **files):
    """Return the jobs in each of the *files*, without the order in which they were met."""
    found = []
    for name, text in files.items():
        path = folder / f"{name}.log"
        path.write_text(text)
        with open_trace([path]) as store:
            rows = store.rows("select * exclude (job_id) from jobs order by all")
            columns = [row[0] for row in store.rows("describe select * exclude (job_id) from jobs")]
            found.append([dict(zip(columns, row, strict=True)) for row in rows])
    return found


def without_lost_codes(rows):
    """Return *rows* without the exit codes that versions until 39 do not tell."""
    told = {"COMPLETED", "OUT_OF_MEMORY"}
    return [row | {"exit_code": row["exit_code"] if row["state"] in told else None} for row in rows]


@pytest.mark.parametrize(
    ("version", "indent"), [(37, 4), (38, 4), (39, None), (40, None), (42, 2), (45, None)]
)
def test_json_is_the_same_trace_as_text(version, indent, tmp_path):
    made = list(EXAMPLES) if version < 40 else [*EXAMPLES, FAILED]
    if version < 39:
        # Where "start" may be the time of eligibility, the start of what still runs is unknown.
        made = [job for job in made if job.state != "RUNNING"]
    text, found = traces(tmp_path, text=as_text(made), json=as_json(made, version, indent))

    assert found == (without_lost_codes(text) if version < 40 else text)


def test_the_exit_code_of_what_failed_is_unknown_in_old_versions(tmp_path):
    (found,) = traces(tmp_path, json=as_json([FAILED], 39))
    assert [(row["state"], row["exit_code"], row["status"]) for row in found] == [("FAILED", None, 0)]


SIZES = st.integers(1, 1 << 20).map(lambda kilobytes: kilobytes << 10)
TIMES = st.integers(1_600_000_000, 1_700_000_000)


@st.composite
def steps(draw, start, end):
    memory = draw(st.none() | st.tuples(SIZES, SIZES, SIZES))
    name = draw(st.sampled_from(["batch", "extern", "interactive", "0", "1", "17"]))
    return Step(
        name,
        start,
        end,
        tasks=draw(st.integers(1, 64)),
        nodes=draw(st.integers(1, 4)),
        cpu=draw(st.integers(0, 10**6)),
        memory=memory,
        gpu_memory=draw(st.none() | SIZES),
        energy=draw(st.integers(0, 10**9)),
    )


@st.composite
def jobs(draw):
    number = draw(st.integers(1, 10**8))
    submit = draw(TIMES)
    eligible = submit + draw(st.integers(0, 5000))
    tres = {
        "cpu": draw(st.integers(1, 512)),
        "mem": draw(st.integers(1, 1 << 22)),
        "node": draw(st.integers(1, 8)),
        "billing": draw(st.integers(1, 99)),
    }
    gpus = draw(st.integers(0, 8))
    typed = {"gres/gpu": gpus, "gres/gpu:a100": gpus} if gpus else {}
    job = Job(number, submit, eligible, None, submit + 9, state="CANCELLED", asked=tres | typed)
    job = replace(
        job,
        limit=draw(st.none() | st.integers(1, 99_999)),
        array=draw(st.none() | st.tuples(st.integers(1, 10**8), st.integers(0, 10**6))),
        user=draw(st.sampled_from(["ann", "bob", "dörte"])),
        name=draw(st.sampled_from(["a b", 'say "hi"', "back\\slash", "{[", "x,y"])),
        reservation=draw(st.sampled_from(["", "course"])),
        restarts=draw(st.sampled_from([0, 0, 3])),
    )
    if not draw(st.booleans()):
        return job
    start = eligible + draw(st.integers(1, 10**5))
    end = start + draw(st.integers(1, 10**5))
    return replace(
        job,
        start=start,
        end=end,
        suspended=draw(st.integers(0, end - start)),
        state=draw(st.sampled_from(["COMPLETED", "TIMEOUT", "NODE_FAIL"])),
        had=tres | typed,
        steps=tuple({step.name: step for step in draw(st.lists(steps(start, end), max_size=3))}.values()),
    )


@FEW
@given(
    made=st.lists(jobs(), min_size=1, max_size=5, unique_by=lambda job: job.jobid),
    version=st.sampled_from(VERSIONS),
)
def test_any_jobs_are_the_same_trace_in_json_and_text(made, version, tmp_path_factory):
    text, found = traces(tmp_path_factory.mktemp("slurm"), text=as_text(made), json=as_json(made, version))

    assert found == (without_lost_codes(text) if version < 40 else text)


def test_runs_of_a_job_that_was_requeued_are_told_apart_as_in_text(tmp_path):
    first = replace(EXAMPLES[0], state="NODE_FAIL")
    runs = [first]
    # The second run is submitted when the first ends, the third a day later.
    for submit in (1735693265, 1735779600):
        later = submit + 60 - (first.start or 0)
        steps = tuple(replace(step, start=step.start + later, end=step.end + later) for step in first.steps)
        again = replace(
            first, submit=submit, eligible=submit, start=submit + 60, end=submit + 90, steps=steps
        )
        runs.append(replace(again, state="COMPLETED"))
    text, found = traces(tmp_path, text=as_text(runs), json=as_json(runs))
    assert found == text
    assert len(found) == 2


def test_numbers_that_stand_for_nothing_are_missing(tmp_path):
    document = json.loads(as_json(EXAMPLES[:1]))
    (job,) = document["jobs"]
    job["time"] |= {"limit": {"set": True, "infinite": True, "number": 4294967295}, "eligible": 4294967294}
    job["tres"]["allocated"] += [{"type": "energy", "name": "", "id": 3, "count": 18446744073709551614}]
    for step in job["steps"]:
        step["statistics"]["energy"]["consumed"]["number"] = 18446744073709551615
    (found,) = traces(tmp_path, json=json.dumps(document))
    assert [(row["req_time"], row["eligible_time"], row["energy"]) for row in found] == [(None, None, None)]


def test_lines_of_jobs_and_several_answers_in_one_file_are_read(tmp_path):
    document = json.loads(as_json(EXAMPLES))
    lines = "\n".join(json.dumps(job) for job in document["jobs"])
    answers = as_json(EXAMPLES[:4], indent=1) + "\n" + as_json(EXAMPLES[4:])
    whole, by_line, several = traces(tmp_path, whole=as_json(EXAMPLES), lines=lines, answers=answers)
    assert by_line == several == whole


def test_a_document_that_breaks_off_keeps_the_jobs_before(tmp_path):
    path = tmp_path / "jobs.json"
    path.write_text(as_json(EXAMPLES, indent=2)[:-2000])
    with open_trace([path]) as store:
        (jobs,) = store.row("select count(*) from jobs")
        assert jobs == len(EXAMPLES) - 1
        assert [reason for (reason,) in store.rows("select reason from rejects")] == [
            "the document breaks off: its end is missing"
        ]
        assert ("cut file",) in store.rows("select name from repairs")


def test_what_is_no_job_is_refused(tmp_path):
    document = json.loads(as_json(EXAMPLES))
    document["jobs"][2:2] = [7, None, {"job_id": "many"}, {}]
    path = tmp_path / "jobs.json"
    path.write_text(json.dumps(document))
    with open_trace([path]) as store:
        assert store.account.rejected == 4
        assert {reason for (reason,) in store.rows("select reason from rejects")} == {
            "is not a JSON object",
            "JobID is 'many', expected one such as 123, 123_4 or 123.batch",
            "JobID is '', expected one such as 123, 123_4 or 123.batch",
        }


# Real answers, read independently.


def value(x):
    """Return a number that may be an object."""
    if isinstance(x, dict):
        x = x["number"] if x["set"] and not x["infinite"] else None
    return None if x in {4294967294, 4294967295} else x


def count(tres, kind, name=""):
    return next((t["count"] for t in tres if t["type"] == kind and (t["name"] or "") == name), None)


def gpus(tres):
    typed = [t["count"] for t in tres if t["type"] == "gres" and str(t["name"]).startswith("gpu:")]
    return count(tres, "gres", "gpu") or sum(typed) or None


def requested_memory(job):
    """Return the memory requested in kilobytes for each processor."""
    required, total = job["required"], count(job["tres"]["requested"], "mem")
    if total is None:
        return value(required["memory_per_cpu"]) and value(required["memory_per_cpu"]) * 1024
    return total * 1024 / required["CPUs"]


def by_hand(job):
    """Return the fields of a job of a version that tells of its start."""
    time, tres = job["time"], job["tres"]
    state = job["state"]["current"]
    state = state if isinstance(state, str) else state[0]
    had = tres["allocated"]
    start = value(time["start"]) if had else None
    cpus = count(had, "cpu") if start else None
    used = time["total"]["seconds"] + time["total"]["microseconds"] / 1e6
    is_over = time["end"] and start
    code = job["exit_code"]["return_code"]
    limit = value(time["limit"])
    return {
        "submit_time": time["submission"],
        "wait_time": start - time["submission"] if start else None,
        "run_time": time["elapsed"] if is_over else None,
        "n_procs": cpus,
        "average_cpu_time": used / cpus if cpus and used else None,
        "req_n_procs": job["required"]["CPUs"] or None,
        "req_time": limit * 60 if limit else None,
        "req_memory": requested_memory(job),
        "status": {"COMPLETED": 1, "FAILED": 0, "TIMEOUT": 0, "CANCELLED": 5}.get(state),
        "user_id": job["user"],
        "group_id": job["group"] or None,
        "executable_id": job["name"],
        "queue_id": job["partition"] or None,
        "project_id": job["account"],
        "orig_site_id": job["cluster"],
        "n_nodes": count(had, "node") if start else None,
        "n_gpus": gpus(had) if start else None,
        "req_gpus": gpus(tres["requested"]),
        "eligible_time": value(time["eligible"]) or None,
        "qos": job["qos"] or None,
        "state": state,
        "exit_code": value(code) if is_over and isinstance(code, dict) else None,
        "energy": None,
    }


def real():
    return sorted(REAL.rglob("*.json")) if REAL.is_dir() else []


def in_turn():
    """Return an answer of each kind, of the versions of Slurm in turn; of one version, all."""
    kinds = defaultdict(list)
    for path in real():
        kinds[path.stem.partition("slurmdb-")[2] or path.stem].append(path)
    return {paths[number % len(paths)] for number, paths in enumerate(kinds.values())}


@pytest.mark.skipif(not REAL.is_dir(), reason="../shared/traces is absent")
@pytest.mark.parametrize("path", thinned(real(), kept=in_turn().__contains__), ids=lambda path: path.stem)
def test_real_answers_are_read_as_by_hand(path):
    document = json.loads(path.read_text())
    answers = document.get("jobs", [document])
    if not answers:
        with pytest.raises(TraceError, match="no job in it"):
            open_trace([path])
        return
    expected = [by_hand(job) for job in answers]
    if path.stem == "slurm_21_8_8":
        # Its start is the time of eligibility.
        (job,) = answers
        start = job["time"]["end"] - job["time"]["elapsed"]
        expected[0] |= {"wait_time": start - job["time"]["submission"], "exit_code": None}
    with open_trace([path]) as store:
        known = [row[0] for row in store.rows("describe jobs")]
        fields = [name for name in expected[0] if name in known]
        found = store.rows(f"select {', '.join(fields)} from jobs order by job_id")
        assert store.account.rejected == 0
    ordered = sorted(expected, key=lambda row: row["submit_time"])
    assert [dict(zip(fields, row, strict=True)) for row in found] == [
        {name: row[name] for name in fields} for row in ordered
    ]
    assert not any(row[name] for row in expected for name in row if name not in fields)
