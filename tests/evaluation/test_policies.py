"""Policies of one's own from another package, in all that takes policies; and the table of several."""

import csv
import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

import gwa
from gwa.archive import public_traces
from gwa.assistant.desk import Desk
from gwa.assistant.tools import TOOLS
from gwa.cli import gwa as program
from gwa.errors import ArgumentError, DefinitionError, SimulationError
from gwa.evaluation.experiments.spec import read_experiment
from gwa.evaluation.whatif.effect import Simulated
from gwa.evaluation.whatif.world import recorded
from tests.cli.test_terminal import on_a_terminal
from tests.conftest import HOME
from tests.simulation import own
from tests.util.members import install, python

TINY = HOME / "sample_traces" / "swf" / "tiny.swf"
EASY = f"{own.__name__}:easy"

POLICY = '''
def backfill(cluster):
    """EASY backfilling, in the order of submission."""
    free, until, spare, starting = cluster.free, None, 0, []
    for job in cluster.waiting:
        is_short = until is None or cluster.time + job.requested <= until
        if job.procs > free:
            if until is None:
                until, spare = cluster.reservation(job, starting)
        elif is_short or job.procs <= spare:
            spare -= 0 if is_short else job.procs
            free -= job.procs
            starting.append(job)
    return starting
'''

EXPERIMENT = f"""
title = "Own"
policies = ["easy", "NAME"]
loads = [0.9]
clusters = [{{ name = "cluster", processors = 48 }}]
workloads = [{{ name = "tiny", trace = "{TINY}" }}]
"""

GYM = """
import json, gymnasium, gwa.gym
env = gymnasium.make("gwa/Schedule-v0", workload="TINY", load=0.9, jobs=200)
played = [gwa.gym.play(env, policy, seed=1) for policy in ("easy", "NAME", gwa.gym.easy)]
print(json.dumps([[one["first_job"], one["mean_wait"], one["start"].tolist()] for one in played]))
"""


def run(*words):
    done = CliRunner().invoke(program, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done


# --- Another package ---


@pytest.fixture(params=["ours_of_policies.rules:backfill", "ours"])
def package(request, tmp_path):
    """Return a folder with a package that has a policy, and the name of it."""
    folder = tmp_path / "ours_of_policies"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "rules.py").write_text(POLICY)
    if request.param == "ours":
        install(tmp_path, {"gwa.policies": "ours_of_policies.rules:backfill"})
    return tmp_path, request.param


def test_a_policy_of_another_package_runs_in_simulate(package):
    folder, name = package
    done = python(folder, "-m", "gwa", "simulate", "--policies", f"easy,{name}", TINY, "--load", 0.9)
    easy, ours = csv.DictReader(done.stdout.splitlines())

    assert done.returncode == 0, done.stderr
    assert ours == {**easy, "policy": name}


def test_it_runs_in_an_experiment_in_processes_and_again_when_its_code_has_changed(package):
    folder, name = package
    (folder / "own.toml").write_text(EXPERIMENT.replace("NAME", name))
    words = ("-m", "gwa", "simulate", "own.toml", "-o", "out", "--jobs", 2, "--json")
    first, again = python(folder, *words), python(folder, *words)
    easy, ours = json.loads(first.stdout)
    assert ours == {**easy, "scheduler": name}
    assert "EASY backfilling, in the order of submission." in (folder / "out" / "report.html").read_text()
    assert [one.stderr.count("2 runs, of which 0 were done now") for one in (first, again)] == [0, 1]

    rules = folder / "ours_of_policies" / "rules.py"
    rules.write_text(
        POLICY.replace("in cluster.waiting:", "in sorted(cluster.waiting, key=lambda job: -job.procs):")
    )
    easy, ours = json.loads(python(folder, *words).stdout)
    assert ours["wait"] != easy["wait"]


def test_an_experiment_that_names_what_is_no_policy_is_blamed_by_its_line(tmp_path):
    (tmp_path / "own.toml").write_text(EXPERIMENT.replace("NAME", "nowhere:policy"))
    with pytest.raises(DefinitionError, match=r"own\.toml:3: policies\[1\]: policy nowhere:policy: Module"):
        read_experiment(tmp_path / "own.toml")


def test_it_runs_in_whatif(package):
    folder, name = package
    done = python(folder, "-m", "gwa", "whatif", TINY, "--scheduler", name, "--was", "easy", "--json")
    found = json.loads(done.stdout)

    assert found["policy"] == {"old": "easy", "new": name}
    assert [effect["ratio"] for effect in found["effects"]] == [1, 1, 1]


def test_it_runs_in_the_gym(package):
    folder, name = package
    done = python(folder, "-c", GYM.replace("TINY", str(TINY)).replace("NAME", name))
    assert done.returncode == 0, done.stderr
    by_name, ours, stepped = json.loads(done.stdout)
    assert by_name == ours == stepped


def test_a_function_in_the_current_folder_is_found(tmp_path):
    (tmp_path / "my_policy.py").write_text(POLICY)
    isolated = (
        "-P",
        "-c",
        f"import sys; sys.path.insert(0, {str(HOME)!r}); from gwa.__main__ import main; main()",
    )
    done = python(tmp_path, *isolated, "simulate", "--policies", "my_policy:backfill", TINY, "-q")
    assert done.returncode == 0, done.stderr
    assert "my_policy:backfill" in done.stdout


def test_a_broken_entry_point_is_an_error_of_a_line(tmp_path):
    install(tmp_path, {"gwa.policies": "nowhere:policy"})
    done = python(tmp_path, "-m", "gwa", "simulate", "--policies", "easy,ours", TINY)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("gwa: gwa-ours: its entry point 'ours' in gwa.policies cannot be loaded: ")
    assert done.stderr.count("\n") == 1


# --- The table ---


def test_the_table_is_that_of_the_replays(tmp_path):
    made = tmp_path / "made.swf"
    run(
        "model",
        "generate",
        "lublin",
        "--days",
        60,
        "--seed",
        1,
        "--cpus",
        64,
        "--utilization",
        0.8,
        "-o",
        made,
        "-q",
    )
    found = json.loads(
        run("simulate", "--policies", f"easy,sjf,{EASY}", TINY, made, "--load", 0.8, "--json").stdout
    )
    by_log = [[one for one in found["outcomes"] if one["log"] == log] for log in ("tiny", "made")]

    for path, rows in zip((TINY, made), by_log, strict=True):
        with gwa.open(path) as trace:
            world = recorded(trace.store, "easy").at_load(0.8)
        for row in rows:
            name = row["policy"]
            start = replace(world, policy=name).starts()
            jobs = Simulated(world, start)
            assert row["wait"] == pytest.approx((start - world.submit).mean())
            assert row["slowdown"] == pytest.approx(jobs.slowdown.mean())
            assert row["wait_ratio"] == pytest.approx((row["wait"] + 60) / (rows[0]["wait"] + 60))
            assert row["slowdown_ratio"] == pytest.approx(row["slowdown"] / rows[0]["slowdown"])
    assert [row["wait_low"] for row in by_log[0]] == [None] * 3  # a week
    assert [row["wait_low"] is None for row in by_log[1]] == [True, False, False]
    assert by_log[1][2] == {
        **by_log[1][0],
        "policy": EASY,
        "wait_low": 1,
        "wait_high": 1,
        "slowdown_low": 1,
        "slowdown_high": 1,
    }
    assert [log["load"] for log in found["logs"]] == pytest.approx([0.8, 0.8])
    assert found["logs"][1]["cite"]["model"][0].startswith("lublin: ")


@pytest.mark.parametrize("columns", [80, 120])
def test_the_table_fits_a_terminal_with_what_its_numbers_are_and_how_logs_are_cited(columns, tmp_path):
    made = tmp_path / "a-longer-name.swf"
    (tmp_path / "my_policy.py").write_text(POLICY)
    run("model", "generate", "lublin", "--days", 60, "--seed", 1, "--cpus", 64, "--utilization", 0.8,
        "-o", made, "-q")  # fmt: skip
    words = ("simulate", "--policies", "easy,sjf,my_policy:backfill", str(TINY), str(made))
    lines = on_a_terminal(*words, cwd=tmp_path, columns=str(columns)).replace("\r\n", "\n").splitlines()
    lines = [line.rpartition("\r")[2] for line in lines]
    text = " ".join(" ".join(lines).split())

    assert max(map(len, lines)) <= columns
    rows = [line.split()[:2] for line in lines if line.startswith(("tiny  ", f"{made.stem}  "))]
    assert rows == [[log, name] for log in ("tiny", made.stem) for name in words[2].split(",")]
    assert "1.00 (1.00–1.00)" in text
    assert "× is relative to easy" in text
    assert "Information for tiny: a made-up log for trying gwa; no such cluster exists" in text
    assert "Model for a-longer-name: lublin: " in text
    assert ("Left out: slowdown ×" in text) == (columns == 80)


def test_a_log_is_cited_as_the_list_of_public_traces_says_or_else_its_header(make_store):
    kth = public_traces.public_trace("kth-sp2")
    header = (("Acknowledge", "Ann"), ("Information", "https://example.org"))
    known, unknown = (make_store(submit_time=[0], header=header) for _ in range(2))
    known.insert("sources", [("renamed.swf", 1, kth.files[0].sha256, 1, 0, 0, None)])

    assert public_traces.to_cite(known) == {
        "acknowledgement": ["Lars Malinowsky"],
        "citation": public_traces.citations(kth),
    }
    assert public_traces.to_cite(unknown) == {
        "acknowledgement": ["Ann"],
        "information": ["https://example.org"],
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--policies", "easy,lottery", TINY),
            "'lottery' is not a policy, expected one of fcfs, sjf, sjf-backfill, easy",
        ),
        (("--policies", "easy,", TINY), "'' is not a policy"),
        (("--policies", "nowhere:policy", TINY), "policy nowhere:policy: ModuleNotFoundError: "),
        (("--policies", "easy", TINY, "-o", "x"), "-o is of an experiment, and --policies replays logs"),
        (("--policies", "easy", TINY, "--repetitions", "2"), "--repetitions is of an experiment"),
        ((TINY, TINY), "several files are logs, expected --policies"),
        ((TINY,), "an experiment is written to a folder, expected -o DIR; or --policies, for logs"),
        (("x.toml", "-o", "x", "--load", "0.8"), "--load is of logs, expected --policies as well"),
        (("--policies", "easy", TINY, "--load", "0"), "0.0 is not in the range"),
    ],
)
def test_words_that_contradict_each_other_are_a_usage_error(words, said):
    done = CliRunner().invoke(program, ["simulate", *map(str, words)])
    assert done.exit_code == 2
    assert said in done.output


def test_what_a_policy_does_wrong_names_the_log_too(monkeypatch):
    monkeypatch.setattr(own, "lazy", lambda _: [], raising=False)
    with pytest.raises(SimulationError, match=rf"^tiny: policy {own.__name__}:lazy, at \d+ s: starts no job"):
        CliRunner().invoke(
            program,
            ["simulate", "--policies", f"easy,{own.__name__}:lazy", str(TINY)],
            catch_exceptions=False,
        )


def test_jobs_that_are_larger_than_the_machine_are_counted(tmp_path):
    system = tmp_path / "small.toml"
    system.write_text('name = "Small"\ncpus = 8\n')
    found = json.loads(run("simulate", "--policies", "easy", TINY, "--system", system, "--json").stdout)
    with gwa.open(TINY) as trace:
        (larger,) = trace.store.row("select count(*) from ran where n_procs > 8 and submit_time is not null")
    assert found["logs"][0]["too_large"] == larger > 0


# --- Who may run code ---


def test_an_assistant_runs_no_code(tmp_path, monkeypatch):
    (tmp_path / "planted.py").write_text("raise SystemExit('it ran')")
    monkeypatch.chdir(tmp_path)
    with Desk.open([TINY]) as desk:
        for text in ("scheduler planted:policy", " scheduler  planted:policy ", "scheduler os:getcwd"):
            with pytest.raises(ArgumentError, match="runs code, which an assistant may not"):
                TOOLS["whatif"](desk, [text])
