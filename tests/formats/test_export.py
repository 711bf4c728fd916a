"""Exports to simulators: what is written is what the trace has, and what is lost is said."""

import csv
import json
import shutil
import subprocess
from datetime import datetime

import jsonschema
import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

import gwa
from gwa.cli import gwa as program
from gwa.cli.export import SIMULATORS
from gwa.errors import ArgumentError, OutputError, TraceError
from gwa.formats.export import ABOUT, export, simulators
from gwa.simulation.backfilling import schedule
from gwa.simulation.jobs import Jobs
from tests.conftest import HOME, LOGS, examples

TINY = HOME / "sample_traces" / "swf" / "tiny.swf"
WORKFLOWS = HOME / "sample_traces" / "wfcommons" / "workflows.json"

JOBS = st.lists(
    st.tuples(
        st.integers(0, 10**6), st.integers(0, 10**5), st.integers(1, 64), st.none() | st.integers(1, 10**5),
        st.none() | st.sampled_from(["ann", "bob, the", 'c"d', "é<&>", "=1+1"]),
    ),
    min_size=1, max_size=30,
)  # fmt: skip


def made(make_store, rows):
    """Return a store of jobs, and the jobs in their order, as (submit, run, procs, requested)."""
    store = make_store(
        job_id=list(range(1, len(rows) + 1)),
        submit_time=[float(row[0]) for row in rows],
        run_time=[float(row[1]) for row in rows],
        n_procs=[row[2] for row in rows],
        req_time=[None if row[3] is None else float(row[3]) for row in rows],
        user_id=[row[4] for row in rows],
    )
    first = min(row[0] for row in rows)
    ordered = sorted(enumerate(rows), key=lambda item: (item[1][0], item[0]))
    return store, [(row[0] - first, *row[1:4]) for _, row in ordered]


def from_batsim(folder):
    written = json.loads((folder / "workload.json").read_text())
    return [
        (job["subtime"], written["profiles"][job["profile"]]["delay"], job["res"], job["walltime"])
        for job in written["jobs"]
    ]


def from_swf(folder):
    lines = [line.split() for line in (folder / "trace.swf").read_text().splitlines() if line[0] != ";"]
    assert {len(line) for line in lines} == {18}
    return [
        (int(line[1]), int(line[3]), int(line[4]), None if line[8] == "-1" else int(line[8]))
        for line in lines
    ]


def from_simgrid(folder):
    with (folder / "jobs.csv").open() as text:
        return [
            (
                float(row["submit"]),
                float(row["run"]),
                int(row["procs"]),
                float(row["requested"]) if row["requested"] else None,
            )
            for row in csv.DictReader(text)
        ]


def from_opendc(folder):
    tasks = pq.read_table(folder / "workload" / "tasks.parquet").to_pylist()
    return [
        (task["submission_time"] / 1000, task["duration"] / 1000, task["cpu_count"], None) for task in tasks
    ]


READERS = {
    "batsim": from_batsim, "alea": from_swf, "accasim": from_swf, "simgrid": from_simgrid,
    "opendc": from_opendc,
}  # fmt: skip


@pytest.mark.parametrize("name", READERS)
@examples(15)
@given(rows=JOBS)
def test_what_is_written_is_what_the_trace_has(name, rows, make_store, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export") / name
    store, expected = made(make_store, rows)
    done = export(store, name, folder)
    if name == "opendc":
        expected = [(*row[:3], None) for row in expected]
    if name == "accasim":
        expected = [(submit, max(run, 1), *rest) for submit, run, *rest in expected]

    assert READERS[name](folder) == expected
    assert done.jobs == len(rows)
    assert json.loads((folder / ABOUT).read_text())["jobs"] == len(rows)


@pytest.mark.parametrize("name", ["batsim", "alea", "accasim"])
def test_what_gwa_reads_again_has_the_same_jobs(name, tmp_path):
    with gwa.open(TINY) as trace:
        export(trace.store, name, tmp_path / name)
        query = "select submit_time - min(submit_time) over () as s, run_time, n_procs, req_time from ran"
        expected = trace.sql(f"{query} where submit_time is not null order by submit_time, job_id")
    file = {"batsim": "workload.json"}.get(name, "trace.swf")
    with gwa.open(tmp_path / name / file, format="batsim" if name == "batsim" else None) as again:
        procs = "coalesce(n_procs, req_n_procs)"
        found = again.sql(
            f"select submit_time, run_time, {procs}, req_time from jobs order by submit_time, job_id"
        )

    np.testing.assert_array_equal(found.to_numpy(np.float64), expected.to_numpy(np.float64))


def test_dependencies_and_bags_are_those_of_the_workflow(tmp_path):
    with gwa.open(WORKFLOWS) as trace:
        export(trace.store, "batsim", tmp_path / "batsim")
        export(trace.store, "wfcommons", tmp_path / "wfcommons")
        before = trace.sql("select job_id, preceding_job from dependencies order by all").to_numpy().tolist()
        bags = trace.sql(
            "select job_structure_params as bag, count(*) as n from jobs group by all order by all"
        )
    with gwa.open(sorted((tmp_path / "wfcommons").glob("workflow-*.json"))) as again:
        found = again.sql("select count(*) as n from dependencies where preceding_job is not null")["n"][0]
        sizes = again.sql("select count(*) as n from jobs group by job_structure_params order by n")["n"]

    jobs = json.loads((tmp_path / "batsim" / "workload.json").read_text())["jobs"]
    assert sum(len(job["dependencies"] or []) for job in jobs) == len(before) == found == 3
    assert sorted(sizes) == sorted(bags["n"])


def test_an_instance_has_what_wfformat_requires(tmp_path):
    """WfFormat 1.5: name, schemaVersion, specification and execution with these keys, ids that match."""
    with gwa.open(WORKFLOWS) as trace:
        export(trace.store, "wfcommons", tmp_path / "out")
    for path in (tmp_path / "out").glob("workflow-*.json"):
        instance = json.loads(path.read_text())
        workflow = instance["workflow"]
        tasks = workflow["specification"]["tasks"]
        ids = {task["id"] for task in tasks}
        assert instance["schemaVersion"] == "1.5"
        assert instance["name"]
        for task in tasks:
            assert set(task) == {"name", "id", "parents", "children"}
            assert ids.issuperset(task["parents"] + task["children"])
            assert all(task["id"] in other["parents"] for other in tasks if other["id"] in task["children"])
        assert set(workflow["execution"]) == {"makespanInSeconds", "executedAt", "tasks"}
        for task in workflow["execution"]["tasks"]:
            assert task["id"] in ids
            assert task["runtimeInSeconds"] >= 0
            assert task["coreCount"] >= 1


def test_a_platform_has_a_host_for_each_processor(tmp_path):
    with gwa.open(TINY) as trace:
        export(trace.store, "batsim", tmp_path / "out")
    root = etree.fromstring((tmp_path / "out" / "platform.xml").read_bytes())
    cluster = root.find(".//cluster")

    assert cluster is not None
    assert cluster.get("radical") == "0-47"
    assert [zone.get("id") for zone in root.iter("cluster")] == ["nodes", "masters"]


def test_opendc_has_the_columns_and_types_of_its_documentation(tmp_path):
    with gwa.open(TINY) as trace:
        export(trace.store, "opendc", tmp_path / "out")
    tasks, fragments = (
        pq.read_schema(tmp_path / "out" / "workload" / f"{name}.parquet") for name in ("tasks", "fragments")
    )
    topology = json.loads((tmp_path / "out" / "topology.json").read_text())

    assert dict(zip(tasks.names, map(str, tasks.types), strict=True)) == {
        "id": "string", "submission_time": "int64", "duration": "int64", "cpu_count": "int32",
        "cpu_capacity": "double", "mem_capacity": "int64",
    }  # fmt: skip
    assert dict(zip(fragments.names, map(str, fragments.types), strict=True)) == {
        "id": "string", "duration": "int64", "cpu_count": "int32", "cpu_usage": "double",
    }  # fmt: skip
    assert topology["clusters"][0]["hosts"][0]["cpu"]["coreCount"] == 48


def test_what_is_lost_is_said(make_store, tmp_path):
    store = make_store(
        submit_time=[0.0, None, 5.0], run_time=[1.0, 1.0, None], n_procs=[1, 1, 1], n_gpus=[1.0, None, None]
    )
    done = export(store, "alea", tmp_path / "out")

    assert done.jobs == 1
    assert done.left_out == (
        "2 jobs that never ran or have no submission time", "fields without a place there: n_gpus",
    )  # fmt: skip


def test_a_log_without_workflows_is_refused_not_exported_as_nothing(make_store, tmp_path):
    store = make_store(submit_time=[0.0, 500.0], run_time=[1.0, 1.0], n_procs=[1, 1], user_id=["ann", "ann"])
    with pytest.raises(TraceError, match="no job depends on another one or shares a bag"):
        export(store, "wfcommons", tmp_path / "out")

    assert not list(tmp_path.rglob("*.json"))


def test_bags_that_are_not_recorded_are_those_of_the_thesis_and_say_so(make_store, tmp_path):
    """Gaps of at most 120 s; a job of a workflow is in no bag."""
    store = make_store(
        job_id=[1, 2, 3, 4, 5, 6], submit_time=[0.0, 100.0, 200.0, 400.0, 401.0, 402.0], run_time=[1.0] * 6,
        n_procs=[1] * 6, user_id=["ann"] * 6,
    )  # fmt: skip
    store.insert("dependencies", [(5, 2, None)])
    export(store, "wfcommons", tmp_path / "out")
    found = instances(tmp_path / "out")

    assert {one["name"]: sorted(tasks) for one, tasks in found} == {
        "workflow-1": ["1", "3"], "workflow-2": ["2", "5"], "workflow-3": ["4", "6"]
    }  # fmt: skip
    assert "bag (same user and group, gaps of at most 120 s" in found[0][0]["description"]
    assert "A workflow of 2 jobs" in found[1][0]["description"]


TEXT = {"type": "string", "minLength": 1}
IDS = {"type": "array", "items": {"type": "string", "pattern": "^[0-9a-zA-Z-_.]*$"}}
TIME = {"type": "number", "minimum": 0}


def tasks_of(required, **others):
    one = {"required": ["id", *required], "additionalProperties": False, "properties": {"id": TEXT, **others}}
    return {"type": "array", "minItems": 1, "items": one}


WFFORMAT = {
    "required": ["name", "schemaVersion", "workflow"],
    "properties": {
        "name": TEXT,
        "description": TEXT,
        "schemaVersion": {"const": "1.5"},
        "workflow": {
            "required": ["specification", "execution"],
            "properties": {
                "specification": {
                    "properties": {
                        "tasks": tasks_of(
                            ["name", "parents", "children"], name=TEXT, parents=IDS, children=IDS
                        )
                    },
                },
                "execution": {
                    "required": ["makespanInSeconds", "executedAt", "tasks"],
                    "properties": {
                        "makespanInSeconds": TIME,
                        "executedAt": TEXT,
                        "tasks": tasks_of(
                            ["runtimeInSeconds"],
                            runtimeInSeconds=TIME,
                            coreCount={"type": "number", "minimum": 1},
                            executedAt=TEXT,
                            avgCPU=TIME,
                            memoryInBytes=TIME,
                            energyInKWh=TIME,
                        ),
                    },
                },
            },
        },
    },
}
"""
What wfcommons-schema.json of wfcommons/WfFormat (version 1.5) demands of what gwa writes, in our words.

What the validator of the package wfcommons 1.6 checks beyond it, it found in order in the samples' instances.
"""


def instances(folder):
    """Return the instances in a folder, each with its tasks by id: a reader of WfFormat 1.5 of its own."""
    found = []
    for path in sorted(folder.glob("workflow-*.json")):
        instance = json.loads(path.read_text())
        jsonschema.validate(instance, WFFORMAT)
        workflow = instance["workflow"]
        specified = {task["id"]: task for task in workflow["specification"]["tasks"]}
        executed = {task["id"]: task for task in workflow["execution"]["tasks"]}
        assert list(specified) == list(executed)
        assert len(specified) == len(workflow["specification"]["tasks"])
        found.append((instance, {key: specified[key] | executed[key] for key in specified}))
    return found


def connected(nodes, links):
    """Return the sets of nodes that links connect."""
    group = {node: {node} for node in nodes}
    for a, b in links:
        if group[a] is not group[b]:
            group[a] |= group[b]
            for node in group[b]:
                group[node] = group[a]
    return {frozenset(one) for one in group.values() if len(one) > 1}


@given(
    st.lists(
        st.tuples(
            st.integers(0, 10**6), st.integers(0, 10**5), st.integers(1, 64),
            st.sampled_from([None, "a", "b"]), st.sampled_from(["ann", "bob"]), st.sets(st.integers(0, 11)),
        ),
        min_size=1, max_size=12,
    )
)  # fmt: skip
@examples(40)
def test_instances_have_the_tasks_times_and_dependencies_of_the_log(
    make_shared_store, tmp_path_factory, rows
):
    """Bags are by name and user; what dependencies connect is one workflow; names are told apart."""
    rows = sorted(rows, key=lambda row: row[0])
    store = make_shared_store(
        job_id=list(range(1, len(rows) + 1)),
        submit_time=[float(row[0]) for row in rows],
        run_time=[float(row[1]) for row in rows],
        n_procs=[row[2] for row in rows],
        job_structure=["BoT" if row[3] else None for row in rows],
        job_structure_params=[row[3] for row in rows],
        user_id=[row[4] for row in rows],
    )
    after = {(str(n + 1), str(k + 1)) for n, row in enumerate(rows) for k in row[5] if k < n}
    store.insert("dependencies", sorted((int(own), int(earlier), None) for own, earlier in after))
    named: dict[object, list[str]] = {}
    for n, row in enumerate(rows):
        if row[3]:
            named.setdefault((row[3], row[4]), []).append(str(n + 1))
        else:
            named[n] = [str(n + 1)]
    if not any(row[3] for row in rows):
        return
    nodes = [str(n + 1) for n in range(len(rows))]
    links = [*after, *((bag[0], one) for bag in named.values() for one in bag)]
    expected = connected(nodes, links)
    folder = tmp_path_factory.mktemp("wfcommons") / "out"
    if not expected:
        with pytest.raises(TraceError):
            export(store, "wfcommons", folder)
        return
    done = export(store, "wfcommons", folder)
    found = instances(folder)

    assert {frozenset(tasks) for _, tasks in found} == expected
    assert len({one["name"] for one, _ in found}) == len(found)
    assert done.jobs == sum(map(len, expected))
    parents = {(key, above) for _, tasks in found for key, task in tasks.items() for above in task["parents"]}
    children = {
        (below, key) for _, tasks in found for key, task in tasks.items() for below in task["children"]
    }
    assert parents == children == after
    for instance, tasks in found:
        of = [rows[int(key) - 1] for key in tasks]
        assert [(task["runtimeInSeconds"], task["coreCount"]) for task in tasks.values()] == [
            (row[1], row[2]) for row in of
        ]
        execution = instance["workflow"]["execution"]
        begin = datetime.fromisoformat(execution["executedAt"]).timestamp()
        assert begin == min(row[0] for row in of)
        assert begin + execution["makespanInSeconds"] == max(row[0] + row[1] for row in of)


def test_the_jobs_of_an_export_are_those_that_were_written(make_store, tmp_path):
    store = make_store(
        submit_time=[0.0, 1.0, 2.0, 3.0], run_time=[1.0] * 4, n_procs=[1] * 4, job_structure=["BoT"] * 4,
        job_structure_params=["a", "a", "b", None],
    )  # fmt: skip
    done = export(store, "wfcommons", tmp_path / "out")

    assert done.jobs == 2
    assert [path.name for path in done.files] == [ABOUT, "workflow-00001.json"]
    assert "2 jobs of no workflow or bag of several" in done.left_out


@pytest.mark.parametrize("name", simulators())
def test_no_export_of_any_log_is_nothing_and_done(name, make_store, tmp_path):
    """A folder without a job in it comes with an error."""
    store = make_store(submit_time=[0.0, 5.0], run_time=[1.0, 2.0], n_procs=[1, 1])
    try:
        done = export(store, name, tmp_path / "out")
    except TraceError:
        assert not list(tmp_path.iterdir())
    else:
        assert done.jobs == 2
        assert len(done.files) > 1


def test_a_hostile_name_of_a_system_stays_a_name(make_store, tmp_path):
    store = make_store(submit_time=[0.0], run_time=[1.0], n_procs=[1])
    store.set_header((("Computer", 'x"/><host id="evil" speed="1Gf"/>\t7'),))
    for name in ("batsim", "alea"):
        export(store, name, tmp_path / name)

    root = etree.fromstring((tmp_path / "batsim" / "platform.xml").read_bytes())
    assert [zone.get("id") for zone in root.iter("cluster")] == ["nodes", "masters"]
    assert not list(root.iter("host"))
    assert (tmp_path / "alea" / "trace.swf.machines").read_text().count("\t") == 5


def test_only_an_earlier_export_is_replaced(make_store, tmp_path):
    store = make_store(submit_time=[0.0], run_time=[1.0], n_procs=[1])
    export(store, "alea", tmp_path / "out")
    export(store, "alea", tmp_path / "out")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")

    with pytest.raises(OutputError, match="holds other things"):
        export(store, "alea", tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "years of work"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "out"]


def test_an_unknown_simulator_and_a_trace_of_nothing_are_refused(make_store, tmp_path):
    with pytest.raises(ArgumentError, match="no export to 'gridsim', expected one of"):
        export(make_store(submit_time=[0.0], run_time=[1.0], n_procs=[1]), "gridsim", tmp_path / "out")
    with pytest.raises(TraceError, match="nothing to export"):
        export(make_store(submit_time=[0.0], run_time=[None], n_procs=[1]), "alea", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_the_flags_are_the_simulators(tmp_path):
    assert set(SIMULATORS) == set(simulators())
    done = CliRunner().invoke(
        program, ["export", str(TINY), "--alea", "--batsim", "-o", str(tmp_path / "out")]
    )

    assert done.exit_code == 0
    assert sorted(path.name for path in (tmp_path / "out").glob("[!.]*")) == ["alea", "batsim"]
    assert "alea: 1,179 jobs; left out: 21 jobs that never ran" in done.stderr
    assert CliRunner().invoke(program, ["export", str(TINY), "-o", str(tmp_path)]).exit_code == 2


LOADER = """
#include <simgrid/s4u.hpp>
#include <cstdio>
#include <cstring>
namespace s4u = simgrid::s4u;
int main(int count, char** words) {
  s4u::Engine engine(&count, words);
  engine.load_platform(words[1]);
  s4u::Host* master = nullptr;
  for (auto* host : engine.get_all_hosts())
    if (host->get_property("role") && !strcmp(host->get_property("role"), "master")) master = host;
  s4u::Host* first = s4u::Host::by_name(words[2]);
  std::vector<s4u::Link*> links;
  double latency = 0;
  first->route_to(master, links, &latency);
  s4u::Actor::create("job", first, [words] {
    s4u::this_actor::execute(atof(words[3]));
    printf("%g", s4u::Engine::get_clock());
  });
  printf("%zu %zu ", engine.get_host_count(), links.size());
  engine.run();
}
"""


@pytest.mark.slow
def test_simgrid_loads_the_platform_and_a_job_lasts_as_long_as_it_did(tmp_path):
    """A program with SimGrid's library: all hosts, a way to the master, and flops that are a run time."""
    (tmp_path / "load.cpp").write_text(LOADER)
    compiler = shutil.which("g++")
    built = compiler and subprocess.run(
        [compiler, "load.cpp", "-o", "load", "-lsimgrid"], cwd=tmp_path, capture_output=True, check=False
    )
    if not built or built.returncode:
        pytest.skip("needs g++ and libsimgrid-dev")
    with gwa.open(TINY) as trace:
        export(trace.store, "simgrid", tmp_path / "out")
    with (tmp_path / "out" / "jobs.csv").open() as text:
        job = next(csv.DictReader(text))
    words = ["./load", "out/platform.xml", "Heron-0", job["flops"]]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)

    assert done.stdout == f"49 5 {float(job['run']):g}"


FIFO = """
import collections, collections.abc, sys
from importlib import import_module
for name in ("Iterable", "Mapping", "MutableMapping", "Sequence"):
    setattr(collections, name, getattr(collections.abc, name))
base = {name: import_module(f"accasim.base.{name}_class") for name in ("allocator", "scheduler", "simulator")}
base["simulator"].Simulator(
    f"{sys.argv[1]}/trace.swf", f"{sys.argv[1]}/system.json",
    base["scheduler"].FirstInFirstOut(base["allocator"].FirstFit()),
    scheduling_output=True, statistics_output=False, show_statistics=False, RESULTS_FOLDER_PATH=sys.argv[2],
).start_simulation()
"""
"""AccaSim 1.1.3 still looks for some names where Python had them before 3.10."""


@pytest.mark.slow
@pytest.mark.skipif(not LOGS.exists(), reason="needs the logs of ../shared")
def test_accasim_starts_the_jobs_of_kth_when_gwa_does(tmp_path):
    """First come, first served, on all jobs of the log: AccaSim runs what was written for it."""
    from benchmarks.peers import Unavailable, environment

    try:
        python = environment(HOME / "build")
    except Unavailable as reason:
        pytest.skip(str(reason))
    (log,) = (LOGS / "swf").glob("KTH-SP2*")
    with gwa.open(log) as trace:
        export(trace.store, "accasim", tmp_path / "accasim")
        cpus = trace.store.system.cpus or 0
    rows = np.array(from_swf(tmp_path / "accasim"), dtype=float)
    jobs = Jobs.of(rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3])
    expected = schedule(jobs, cpus, "fcfs")

    subprocess.run([python, "-c", FIFO, tmp_path / "accasim", tmp_path / "results"], check=True, cwd=tmp_path)
    (written,) = (tmp_path / "results").rglob("sched*")
    found = np.full(len(rows), np.nan)
    for line in written.read_text().splitlines():
        number, start = line.partition(";")[0], line.rpartition("__")[2].partition(";")[0]
        found[int(number) - 1] = datetime.fromisoformat(f"{start}+00:00").timestamp()

    np.testing.assert_array_equal(found, expected)


FORMULAS = ("=cmd|' /C calc'!A0", "+1", "-1", "@sum(a)", "|x", "\t=1", " =1")


@pytest.mark.parametrize("name", sorted(simulators()))
def test_no_cell_of_a_table_is_a_formula(name, make_store, tmp_path):
    names = [*FORMULAS, *FORMULAS]
    store = make_store(
        submit_time=[1e9] * len(names),
        run_time=[5.0] * len(names),
        n_procs=[1] * len(names),
        user_id=names,
        queue_id=names,
        job_structure=["BoT"] * len(names),
        job_structure_params=names,
        executable_id=names,
    )
    export(store, name, tmp_path / "out")
    for path in (tmp_path / "out").rglob("*.csv"):
        with path.open(newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert any(cell.startswith("'=cmd") for cell in cells)
        assert not [cell for cell in cells if cell.strip()[:1] in set("=+-@|%")]
