"""Generating by command: every format, the same bytes, and mistakes in a line."""

import json

import pytest

import gwa
from gwa.errors import ModelError
from gwa.models.arrival_process import processes
from gwa.models.base import presets
from gwa.models.generate import GenerationRequest, generate, generate_store, replace_arrivals
from gwa.models.streams import Extent
from gwa.models.work import Submitted
from tests.program import run


def test_a_fitted_model_makes_a_trace_that_is_read_again(tmp_path, sample):
    fitted = run("model", "fit", sample / "swf" / "tiny.swf", "lublin", "-o", "tiny.json", cwd=tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    origin = json.loads((tmp_path / "tiny.json").read_text())["origin"]
    with gwa.open(sample / "swf" / "tiny.swf") as trace:
        assert (trace.store.row("select count(*) from ran")[0], len(trace)) == (1179, 1200)
    assert (origin["fitted to"], origin["jobs"]) == ("tiny", 1179), "21 jobs did not run"
    assert "fitted to 1,179 jobs" in fitted.stderr

    for name in ("one.swf", "two.swf"):
        done = run("model", "generate", "tiny.json", "--jobs", 300, "--seed", 4, "-o", name, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "one.swf").read_bytes() == (tmp_path / "two.swf").read_bytes()

    with gwa.open(tmp_path / "one.swf") as trace:
        assert len(trace) == 300
        assert dict(trace.header)["Synthetic"]
        assert dict(trace.header)["Seed"] == "4"


@pytest.mark.parametrize("suffix", ["gwf", "gwf.zst", "duckdb", "parquet", "sqlite", "swf.gz"])
def test_every_format_holds_the_same_jobs(suffix, tmp_path):
    order = GenerationRequest(
        presets()["lublin"].model.limit_processors(64), Extent(jobs=200), 1, (("Processors", "64"),)
    )
    generate(order, tmp_path / f"made.{suffix}", "gwa model generate lublin")

    with gwa.open(tmp_path / f"made.{suffix}") as trace, generate_store(order) as store:
        asked = "select job_id, submit_time, run_time, n_procs, queue_id from jobs order by job_id"
        assert trace.store.rows(asked) == store.rows(asked)
        assert trace.system.cpus == 64
        assert dict(trace.header)["Seed"] == "1"


def test_a_utilization_is_met_in_the_facts(tmp_path):
    words = ("--days", 2, "--cpus", 64, "--utilization", 0.5, "--seed", 1, "-o", "made.gwf")
    done = run("model", "generate", "lublin", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr

    with gwa.open(tmp_path / "made.gwf") as trace:
        assert trace.facts("utilization.span_mean")["utilization.span_mean"] == pytest.approx(0.5, rel=0.02)
        assert trace.sample("n_procs").max() <= 64


def test_sizes_that_are_not_scaled_to_a_larger_system_are_said(tmp_path):
    """--cpus 512 gave jobs of at most 128, without a word."""
    words = ("--jobs", 300, "--cpus", 100_000, "--seed", 1, "--force", "-o", "made.gwf")
    for name, is_said in (("thesis-das2", True), ("lublin", False)):
        done = run("model", "generate", name, *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        with gwa.open(tmp_path / "made.gwf") as trace:
            largest, sizes = int(trace.sample("n_procs").max()), dict(trace.header)["Sizes"]
        assert sizes.endswith(f"; the largest job has {largest} of 100000 processors")
        assert sizes.startswith("not scaled" if is_said else "scaled")
        assert ("of 100,000 processors: this model does not scale sizes" in done.stderr) == is_said
    enough = run("model", "generate", "thesis-das2", *words[:2], "--cpus", 8, *words[4:], cwd=tmp_path)
    assert "scale" not in enough.stderr


def test_a_job_larger_than_its_system_is_refused():
    model = presets()["thesis-das2"].model
    with pytest.raises(ModelError, match="cpus is 2, and a job has"):
        generate_store(GenerationRequest(model, Extent(jobs=500), 1, (("Processors", "2"),)))


def test_how_far_a_seed_is_from_its_log_is_said(tmp_path, sample):
    log = sample / "swf" / "tiny.swf"
    assert run("model", "fit", log, "thesis-tasks", "-o", "m.json", cwd=tmp_path).returncode == 0
    with gwa.open(log) as trace:
        known = Submitted.of(trace.store)
    told = []
    for seed in (1, 2):
        done = run(
            "model", "generate", "m.json", "--days", 7, "--seed", seed, "--force", "-o", "x.gwf", cwd=tmp_path
        )
        (sentence,) = [line for line in done.stderr.splitlines() if line.startswith("this seed: ")]
        with gwa.open(tmp_path / "x.gwf") as trace:
            made = Submitted.of(trace.store)
        load = made.work / (7 * 86400) / (known.work / known.seconds)
        arrivals = made.jobs / 7 / (known.jobs / known.seconds * 86400)
        assert sentence.startswith(f"this seed: {load:.2f} times the busy processors of the log")
        assert sentence.endswith(f" {arrivals:.2f} times its jobs a day")
        told.append(sentence)
    assert told[0] != told[1]
    for more in (("--cpus", 64), ("--quiet",)):
        done = run(
            "model",
            "generate",
            "m.json",
            "--days",
            7,
            *more,
            "--seed",
            1,
            "--force",
            "-o",
            "x.gwf",
            cwd=tmp_path,
        )
        assert "this seed" not in done.stderr


def test_list_names_models_presets_and_arrivals(tmp_path):
    rows = json.loads(run("model", "list", "--json", cwd=tmp_path).stdout)

    assert {row["name"] for row in rows} >= presets().keys() | processes().keys()
    assert all(row["about"].endswith(".") for row in rows if row["kind"] == "arrivals")


def test_arrivals_are_replaced(tmp_path, sample):
    log = sample / "swf" / "tiny.swf"
    assert (
        run("model", "fit", log, "lublin", "--arrivals", "wavelet", "-o", "a.json", cwd=tmp_path).returncode
        == 0
    )
    parameters = json.loads((tmp_path / "a.json").read_text())["parameters"]
    assert parameters["batch"]["arrivals"]["kind"] == "wavelet"

    words = [
        "model",
        "generate",
        "thesis-average",
        "--arrivals",
        "poisson",
        "--jobs",
        "99",
        "--seed",
        "1",
        "-o",
        "made.gwf",
    ]
    assert run(*words, cwd=tmp_path).returncode == 0
    with gwa.open(tmp_path / "made.gwf") as trace:
        assert '"arrivals":{"kind":"poisson"' in dict(trace.header)["Parameters"]


@pytest.mark.parametrize("name", processes())
def test_every_process_comes_as_often_as_the_model_s_own(name):
    """Bags of 8 tasks on average: what is fitted is when bags begin."""
    one = presets()["thesis-average-bags"].model
    other = replace_arrivals(one, processes()[name])
    spans = [
        max(block["submit_time"][-1] for block in GenerationRequest(each, Extent(jobs=50_000), 1).blocks())
        for each in (one, other)
    ]

    assert spans[1] == pytest.approx(spans[0], rel=0.25)


def test_without_a_seed_it_is_1_and_is_told(tmp_path):
    for name, words in (("one.swf", ()), ("two.swf", ("--seed", 1))):
        done = run("model", "generate", "lublin", "--jobs", 20, *words, "-o", name, cwd=tmp_path)
        assert done.stderr.rstrip().endswith("seed 1")
    assert (tmp_path / "one.swf").read_bytes() == (tmp_path / "two.swf").read_bytes()


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("model", "generate", "nix", "--jobs", 5, "--seed", 1, "-o", "x.gwf"), 2, "no preset or file 'nix'"),
        (("model", "generate", "lublin", "--seed", 1, "-o", "x.gwf"), 2, "either --jobs or --days"),
        (
            ("model", "generate", "lublin", "--jobs", 5, "--days", 1, "--seed", 1, "-o", "x.gwf"),
            2,
            "either --jobs or",
        ),
        (("model", "generate", "lublin", "--days", -1, "--seed", 1, "-o", "x.gwf"), 1, "days is -1.0"),
        (
            ("model", "generate", "lublin", "--days", 1e-9, "--seed", 1, "-o", "x.gwf"),
            1,
            "in which no job is submitted",
        ),
        (
            ("model", "generate", "lublin", "--days", 1e-9, "--seed", 1, "-o", "x.duckdb"),
            1,
            "no job is submitted",
        ),
        (
            ("model", "generate", "lublin", "--jobs", 5, "--seed", 1, "-o", "x.docx"),
            2,
            "its suffix names no format",
        ),
        (
            ("model", "generate", "lublin", "--jobs", 5, "--seed", 1, "--utilization", 0.5, "-o", "x.gwf"),
            2,
            "needs --cpus",
        ),
        (("model", "fit", "nowhere.swf", "lublin"), 1, "no such file"),
        (("model", "fit", "nowhere.swf", "lublin", "--arrivals", "nix"), 2, "there are no arrivals 'nix'"),
        (
            ("model", "generate", "lublin", "--arrivals", "nix", "--jobs", 5, "--seed", 1, "-o", "x.gwf"),
            2,
            "no arrivals",
        ),
        (("model", "fit", "nowhere.swf", "nix"), 2, "there is no model 'nix'"),
    ],
)
def test_mistakes_are_told_in_a_line(words, status, said, tmp_path):
    done = run(*words, cwd=tmp_path)
    lines = done.stderr.splitlines()

    assert (done.returncode, said in lines[-1], len(lines) == 1 or status == 2) == (status, True, True)
    assert not any(tmp_path.iterdir())
