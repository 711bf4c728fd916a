"""Measurements joined to jobs: what each source says, whose value counts, and that nothing changes again."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gwa.cli.measure import command
from gwa.errors import DefinitionError, TraceError
from gwa.formats.append import append
from gwa.formats.convert import convert
from gwa.formats.measure import measure
from gwa.formats.open import open_trace
from gwa.store.store import Store
from tests.program import invoke as run

CASE = Path(__file__).parents[2].parent / "shared" / "cases" / "gpu" / "9-joins"
HEADER = "JobID|JobIDRaw|Cluster|Submit|Start|End|ElapsedRaw|State|AllocCPUS|AllocTRES\n"


def line(job, raw=None, gpus=1, cluster="made"):
    times = "1760000000|1760000100|1760003700|3600"
    return f"{job}|{raw or job}|{cluster}|{times}|COMPLETED|4|cpu=4,node=1,gres/gpu={gpus}\n"


@pytest.fixture
def made(tmp_path):
    """Return a function that makes a store of lines of sacct."""

    def make(*lines):
        log, out = tmp_path / "jobs.sacct", tmp_path / "jobs.duckdb"
        log.write_text(HEADER + "".join(lines))
        convert([log], out)
        return out

    return make


@pytest.fixture
def table(tmp_path):
    """Return a function that writes a table."""

    def write(text, name="use.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def values(store, *fields):
    with Store.open(store) as opened:
        return {
            name: rest if len(fields) > 1 else rest[0]
            for name, *rest in opened.rows(
                f"select source_id, {', '.join(fields)} from jobs inner join source_ids using (job_id)"
            )
        }


def asked(store, query):
    with Store.open(store) as opened:
        return opened.rows(query)


def digest(path):
    return sha256(path.read_bytes()).hexdigest()


def test_a_table_joins_by_the_ids_of_the_log(made, table):
    store = made(line(1), line("7_3", 9), line(4))
    use = table("id,util,kwh\n1,50,0.5\n9,25,\n4,,\n12,10,1\n")
    joined = measure(store, [use], on="id", stated="gpu_utilization=util:%,energy=kwh:kWh")
    assert (joined.jobs, joined.of, joined.unmatched) == (2, 3, 1)
    assert values(store, "gpu_utilization", "energy") == {
        "1": [0.5, 1.8e6],
        "7_3": [0.25, None],
        "4": [None, None],
    }
    assert asked(store, "select reason, text from rejects group by all") == [
        ("no job of the trace has this id", "12")
    ]


def test_joining_again_changes_no_byte_and_a_correction_replaces(made, table):
    store = made(line(1), line(2))
    use = table("id,util\n1,50\n2,10\n")
    options: dict[str, Any] = {"on": "id", "stated": "gpu_utilization=util:%"}
    measure(store, [use], **options)
    before = digest(store)
    measure(store, [use], **options)
    assert digest(store) == before
    measure(store, [table("id,util\n1,70\n")], **options)
    assert values(store, "gpu_utilization") == {"1": 0.7, "2": 0.1}


SUMMARY = 'cluster_id,uuid,avg_cpu_usage,avg_gpu_usage\nmade,1,{},"{""global"": 80.0}"\n'


def test_the_log_counts_first_and_disagreement_is_counted(made, table):
    store = made(line(1))
    measure(store, [table(SUMMARY, "ceems.csv")])
    assert values(store, "gpu_utilization") == {"1": 0.8}
    dcgm = "timestamp,metric,gpu,hpc_job,value\n1,DCGM_FI_DEV_GPU_UTIL,0,1,40\n"
    measure(store, [table(dcgm, "dcgm.csv")])
    assert values(store, "gpu_utilization") == {"1": 0.4}
    ((name, jobs),) = asked(store, "select name, jobs from repairs where name like '%measure%'")
    assert (name, jobs) == ("disagreeing measurements", 1)
    kept = asked(store, "select source, value from measured where field = 'gpu_utilization' order by all")
    assert kept == [("ceems", 0.8), ("dcgm", 0.4)]


def test_what_the_log_has_itself_stays(tmp_path, table):
    log, store = tmp_path / "a.sacct", tmp_path / "a.duckdb"
    log.write_text(HEADER.replace("\n", "|ConsumedEnergyRaw\n") + line(1).replace("\n", "|100\n"))
    convert([log], store)
    for _ in range(2):
        measure(store, [table("id,j\n1,500\n")], on="id", stated="energy=j:J")
        assert values(store, "energy") == {"1": 100.0}
    assert asked(store, "select source, value from measured order by all") == [
        ("log", 100.0),
        ("table", 500.0),
    ]


@pytest.mark.parametrize("column", ["GPU_I_ID", "GPU_I_PROFILE"])
def test_the_use_of_a_part_of_a_gpu_is_that_of_its_engine(made, table, column):
    """Of a part, the use of the GPU is always 0; the engine is measured over time, and goes before a look."""
    store, util, engine = made(*map(line, (1, 2, 3))), "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
    rows = [
        f"timestamp,metric,gpu,hpc_job,value,{column}",
        *(f"{t},{util},0,1,0,3g\n{t},{engine},0,1,0.75,3g\n{t},{util},1,2,0,3g" for t in (1, 2)),
        f"1,{util},2,3,0,\n1,{engine},2,3,0.75,",
    ]
    measure(store, [table("\n".join(rows) + "\n")])
    found = values(store, "gpu_utilization", "idle_gpus")
    assert found == {"1": [0.75, 0], "2": [None, None], "3": [0.75, 0]}


def test_blanks_of_dcgm_are_no_numbers_and_shared_energy_is_divided(made, table):
    store = made(line(1), line(2))
    rows = ["timestamp,metric,gpu,hpc_job,value"]
    for time in (0, 60):
        for job in (1, 2):
            rows.append(f"{time},DCGM_FI_DEV_GPU_UTIL,0,{job},{2**63 - 16 if job == 1 else 50}")
            rows.append(f"{time},DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION,0,{job},{1000000 + time * 1000}")
    measure(store, [table("\n".join(rows) + "\n")])
    assert values(store, "gpu_utilization", "energy") == {"1": [None, 30.0], "2": [0.5, 30.0]}


def test_codecarbon_measures_a_node_once_and_each_process_by_itself(made, table):
    """In the mode machine each process measured its whole node; else what each measured is added up."""
    modes = {"1": "machine", "2": "process"}
    rows = [
        ("1", "n1", 3500, 0.5), ("1", "n1", 3600, 0.6), ("1", "n2", 3600, 0.3),
        ("2", "n1", 3600, 0.2), ("2", "n1", 1800, 0.1), ("2", "n2", 3600, 0.4),
    ]  # fmt: skip
    lines = "".join(
        f"{run},{lasted},{kwh},{job},{node},{modes[job]}\n"
        for run, (job, node, lasted, kwh) in enumerate(rows)
    )
    store = made(line(1), line(2))
    measure(store, [table(f"run_id,duration,energy_consumed,job_id,node_name,tracking_mode\n{lines}")])
    assert values(store, "energy") == {"1": pytest.approx(0.9 * 3.6e6), "2": pytest.approx(0.7 * 3.6e6)}


def test_a_part_of_the_gpus_is_not_the_job(made, table):
    store = made(line(1, gpus=4))
    measure(store, [table("timestamp,metric,gpu,hpc_job,value\n1,DCGM_FI_DEV_GPU_UTIL,0,1,0\n")])
    assert values(store, "gpu_utilization") == {"1": None}


def test_ids_of_several_jobs_and_of_other_clusters_are_rejected(made, table):
    store = made(line(1, cluster="a"), line(1, cluster="b"))
    measure(store, [table("id,util\n1,50\n")], on="id", stated="gpu_utilization=util:%")
    assert asked(store, "select reason, count(gpu_utilization) from rejects, jobs group by all") == [
        ("several jobs of the trace have this id", 0)
    ]
    measure(store, [table(SUMMARY.replace("made", "b"))])
    found = asked(store, "select last_run_site_id, gpu_utilization from jobs order by all")
    assert found == [("a", None), ("b", 0.8)]


def test_a_store_that_is_appended_to_keeps_what_was_joined(tmp_path, table):
    first, second, store = tmp_path / "1.sacct", tmp_path / "2.sacct", tmp_path / "s.duckdb"
    first.write_text(HEADER + line(1))
    second.write_text(HEADER + line(2).replace("17600", "17500"))
    append([first], store)
    measure(store, [table("id,util\n1,50\n2,20\n")], on="id", stated="gpu_utilization=util:%")
    append([second], store)
    assert values(store, "gpu_utilization") == {"1": 0.5, "2": 0.2}
    assert asked(store, "select count(*) from rejects") == [(0,)]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,b\n1,2\n", {}, "no measurements that are known"),
        ("a,b\n1,2\n", {"on": "c"}, "no column 'c'"),
        ("a,b\n1,2\n", {"stated": "energy=b:J"}, "--on COLUMN"),
        ("a,b\n1,2\n", {"on": "a", "stated": "energy=b:cal"}, "a unit of"),
        ("a,b\n1,2\n", {"on": "a", "stated": "wait_time=b:s"}, "expected a field of"),
    ],
)
def test_what_cannot_be_joined_is_said(made, table, text, options, message):
    with pytest.raises(DefinitionError, match=message):
        measure(made(line(1)), [table(text)], **options)


def test_only_a_store_is_joined_to(tmp_path, table):
    with pytest.raises(TraceError, match="expected one that gwa convert made"):
        measure(tmp_path / "jobs.gwf", [table("a\n")])


def test_the_command_says_how_many_jobs_are_measured(made, table):
    store, use = made(line(1), line(2)), table("id,util\n1,50\n9,1\n")
    result = CliRunner().invoke(
        command, [str(store), str(use), "--on", "id", "--map", "gpu_utilization=util:%"]
    )
    assert "1 of 2 jobs have measurements, 1 values; 1 ids match no job" in result.stderr


@pytest.mark.skipif(not CASE.exists(), reason="no cases beside the project")
def test_the_case_with_all_sources(tmp_path):
    expected = json.loads((CASE / "expect.json").read_text())
    for name, kind, on in (
        ("dcgm.csv", "dcgm", None),
        ("ceems_units.csv", "ceems", None),
        ("emissions.csv", "codecarbon", "project_name"),
        ("job_summary.csv", "jobstats", None),
    ):
        store = tmp_path / f"{kind}.duckdb"
        convert([CASE / "jobs.sacct"], store)
        measure(store, [CASE / name], on=on)
        found = values(
            store, "gpu_utilization", "idle_gpus", "gpu_memory", "energy", "average_cpu_time / run_time",
            "max_memory",
        )  # fmt: skip
        for job, wanted in expected[kind].items():
            if not isinstance(wanted, dict):
                continue
            names = ("gpu_utilization", "gpus at 0", "gpu_memory_kb", "energy_j", "cpu", "memory_kb")
            told = dict(zip(names, found["1002_7" if job == "1002" else job], strict=True))
            numbers = {key: value for key, value in wanted.items() if key in told}
            if (kind, job) == ("dcgm", "1001"):  # a GPU is read as 0, and nothing tells what it drew
                assert told["gpu_utilization"] is told["gpus at 0"] is None
                del numbers["gpu_utilization"], numbers["gpus at 0"]
            numbers = {
                key: float(str(value).split()[0]) if isinstance(value, str) else value
                for key, value in numbers.items()
            }
            assert {key: told[key] for key in numbers} == pytest.approx(numbers)


def test_what_cannot_be_is_counted_and_is_no_value(made, table):
    store = made(*(line(job) for job in (11, 12, 13, 14, 15)))
    given = table("job,use\n11,-5\n12,1e400\n13,250\n14,lots\n15,30\n,40\n99,50\n")
    joined = measure(store, [given], on="job", stated="gpu_utilization=use:%")

    assert (joined.jobs, joined.values, joined.unmatched) == (1, 1, 2)
    assert values(store, "gpu_utilization") == {"11": None, "12": None, "13": None, "14": None, "15": 0.3}
    assert asked(store, "select name, jobs from repairs where name like '%measurements'") == [
        ("impossible measurements", 4)
    ]
    assert asked(store, "select text from rejects order by text") == [("",), ("99",)]


def test_what_is_measured_anew_replaces_what_was_even_where_it_cannot_be(made, table):
    store = made(line(11), line(12))
    measure(store, [table("job,use\n11,50\n12,50\n")], on="job", stated="gpu_utilization=use:%")
    measure(store, [table("job,use\n11,-1\n12,20\n")], on="job", stated="gpu_utilization=use:%")

    assert values(store, "gpu_utilization") == {"11": None, "12": 0.2}


USE = "timestamp,metric,gpu,hpc_job,value\n1,DCGM_FI_DEV_GPU_UTIL,0,1,40\n1,DCGM_FI_DEV_GPU_UTIL,0,9,40\n"


@pytest.mark.parametrize("suffix", ["duckdb", "parquet", "gwf"])
def test_a_log_is_converted_with_its_measurements_in_one_step(tmp_path, table, suffix):
    log, out, use = tmp_path / "a.sacct", tmp_path / f"b.{suffix}", table(USE)
    log.write_text(HEADER + line(1) + line(2))
    result = run("convert", log, "-o", out, "--measurements", use)
    assert "1 of 2 jobs have measurements, 2 values; 1 ids match no job" in result.stderr
    with open_trace([out]) as store:
        assert store.rows("select gpu_utilization from jobs order by job_id") == [(0.4,), (None,)]


@pytest.mark.parametrize("suffix", ["sacct", "duckdb", "parquet"])
def test_a_report_has_the_measurements_of_a_log_or_trace_that_stays_as_it_was(tmp_path, table, suffix):
    log, use = tmp_path / "a.sacct", table(USE)
    log.write_text(HEADER + line(1) + line(2))
    trace = tmp_path / f"a.{suffix}"
    if suffix != "sacct":
        convert([log], trace)
    before = digest(trace)
    result = run("report", trace, "-o", tmp_path, "--json", "--sections", "gpus", "--measurements", use)
    assert "1 of 2 jobs have measurements" in result.stderr
    facts = json.loads(next(tmp_path.glob("a-gpus.json")).read_text())
    assert '"gpu.measured_jobs"' in json.dumps(facts)
    assert digest(trace) == before


def test_appending_joins_what_is_given_and_keeps_what_was(tmp_path, table):
    store, options = tmp_path / "s.duckdb", ("--measurements-on", "id", "--measurements-map")
    for number, use in ((1, 50), (2, 20)):
        log = tmp_path / f"{number}.sacct"
        log.write_text(HEADER + line(number).replace("17600", f"17{number}00"))
        measured = table(f"id,util\n{number},{use}\n", f"{number}.csv")
        given = ("--measurements", measured, *options, "gpu_utilization=util:%")
        result = run("convert", log, "-o", store, "--append", *given)
        assert f"of {number} jobs have measurements" in result.stderr
    assert values(store, "gpu_utilization") == {"1": 0.5, "2": 0.2}


def test_pseudonyms_keep_what_was_joined(tmp_path, table):
    log, out = tmp_path / "a.sacct", tmp_path / "b.duckdb"
    log.write_text(HEADER + line(1))
    result = run(
        "convert", log, "-o", out, "--anonymize", "--key", tmp_path / "key", "--measurements", table(USE)
    )
    assert result.exit_code == 0, result.output
    assert asked(out, "select gpu_utilization, (select count(*) from measured) from jobs") == [(0.4, 0)]


def test_what_measurements_hold_is_nothing_without_them(tmp_path):
    log = tmp_path / "a.sacct"
    log.write_text(HEADER + line(1))
    result = run("convert", log, "-o", tmp_path / "b.duckdb", "--measurements-on", "id")
    assert (result.exit_code, "expected --measurements FILE" in result.output) == (2, True)


def test_what_is_of_a_part_of_the_nodes_is_not_of_the_job(made, table):
    heads = "cluster,jobid,node_name,used_memory,total_time,gpu_index,gpu_utilization\n"
    store = made(line(1).replace("node=1", "node=2"), line(2))
    measure(store, [table(heads + "made,1,a,1024,5,,\nmade,2,a,1024,8,,\n")])
    assert values(store, "max_memory", "average_cpu_time") == {"1": [None, None], "2": [1.0, 2.0]}


@pytest.mark.parametrize("name", ["util", "use"])
def test_the_column_of_ids_may_have_another_name(made, table, name):
    store, text = made(line(1)), USE.replace("hpc_job", name)
    measure(store, [table(text)], on=name)
    assert values(store, "gpu_utilization") == {"1": 0.4}


def test_a_bound_of_the_log_gives_way_to_what_is_measured(tmp_path, table):
    """Of a job on two nodes Slurm knows what its script used on the first: at least so much."""
    log, store = tmp_path / "a.sacct", tmp_path / "a.duckdb"
    jobs = [line(job).replace("node=1", "node=2").replace("\n", "||\n") for job in (1, 2)]
    steps = [row.replace("|", ".batch|", 1).replace("||\n", "|2048K|1\n") for row in jobs]
    log.write_text(
        HEADER.replace("\n", "|MaxRSS|NTasks\n") + "".join(jobs + steps) + line(3).replace("\n", "||\n")
    )
    convert([log], store)
    assert values(store, "max_memory", "bounds") == {
        "1": [2048.0, "max_memory"], "2": [2048.0, "max_memory"], "3": [None, None],
    }  # fmt: skip
    measure(store, [table("id,peak\n1,5000\n2,-1\n")], on="id", stated="max_memory=peak:KB")
    assert values(store, "max_memory", "bounds") == {
        "1": [5000.0, None], "2": [2048.0, "max_memory"], "3": [None, None],
    }  # fmt: skip
    assert asked(store, "select count(*) from repairs where name like 'disagree%'") == [(0,)]


def test_a_store_with_measured_values_in_place_of_bounds_is_appended_to(tmp_path, table):
    """The bounds are the log's again meanwhile, and the store equals one that is made at once."""
    head = HEADER.replace("\n", "|MaxRSS|NTasks\n")
    jobs = [line(job).replace("node=1", "node=2").replace("\n", "||\n") for job in (1, 2, 3)]
    steps = [row.replace("|", ".batch|", 1).replace("||\n", "|2048K|1\n") for row in jobs]
    logs = [tmp_path / "a.sacct", tmp_path / "b.sacct"]
    logs[0].write_text(head + "".join(jobs[:2] + steps[:2]))
    logs[1].write_text(head + jobs[2] + steps[2] + steps[0].replace("2048K", "4096K").replace(".batch", ".0"))
    given = table("id,peak\n1,5000\n3,7000\n")
    stores = [tmp_path / name for name in ("grown.duckdb", "whole.duckdb")]
    reasons: list[str] = []
    append(logs[:1], stores[0])
    measure(stores[0], [given], on="id", stated="max_memory=peak:KB")
    append(logs[1:], stores[0], tell=reasons.append)
    convert(logs, stores[1])
    measure(stores[1], [given], on="id", stated="max_memory=peak:KB")
    told = [
        "from jobs",
        "from measured order by all",
        "from repairs order by all",
        "from rejects order by all",
    ]
    for query in told:
        assert asked(stores[0], query) == asked(stores[1], query)
    assert not reasons
    assert values(stores[0], "max_memory", "bounds") == {
        "1": [6144.0, None], "2": [2048.0, "max_memory"], "3": [7000.0, None],
    }  # fmt: skip


def test_an_id_of_no_job_is_rejected_whatever_was_measured_of_it(made, table):
    use = "timestamp,metric,gpu,hpc_job,value\n1,DCGM_FI_DEV_POWER_USAGE,0,8,40\n"
    store = made(line(1))
    joined = measure(store, [table(use)])
    assert (joined.jobs, joined.unmatched) == (0, 1)
    assert asked(store, "select text from rejects") == [("8",)]
