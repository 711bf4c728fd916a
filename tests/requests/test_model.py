"""A model of requests keeps what it was fitted to, makes the same again, and refuses what is none."""

import json
from statistics import fmean

import numpy as np
import pytest

from gwa.errors import ModelError
from gwa.formats.convert import convert
from gwa.formats.sample import write
from gwa.requests.generate import generate_requests, read_request_model
from gwa.requests.model import RequestModel
from gwa.requests.score import score_requests, statistics_of
from gwa.store.requests import REQUEST_NAMES
from tests.conftest import HOME, LOGS
from tests.program import invoke as run
from tests.requests.made import AZURE, opened, written

TINY = HOME / "sample_traces" / "swf" / "tiny.swf"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the made sample, its store, and the model that is fitted to it."""
    folder = tmp_path_factory.mktemp("model")
    write("requests", folder / "sample.requests.csv")
    convert([folder / "sample.requests.csv"], folder / "sample.duckdb")
    assert run("model", "fit", folder / "sample.duckdb", "requests", "-o", folder / "m.json").exit_code == 0
    return folder


def everything(path):
    with opened(path) as store:
        return store.rows(f"select {', '.join(REQUEST_NAMES)} from requests order by request_id")


def model_in(folder):
    """Return the model that was fitted to the sample."""
    model = read_request_model(str(folder / "m.json"))
    assert model is not None
    return model


def distances(lines):
    """Return the distance by each measure that both traces have."""
    return {line.measure: line.distance for line in lines if line.distance is not None}


def test_the_same_seed_makes_the_same_and_a_shorter_trace_is_the_beginning(folder, tmp_path):
    model = model_in(folder)
    for name, count in (("a", 9000), ("b", 9000), ("short", 500)):
        assert generate_requests(model, tmp_path / f"{name}.requests.csv", requests=count, seed=7) == count
    a, b = ((tmp_path / f"{name}.requests.csv").read_bytes() for name in "ab")
    assert a == b
    assert everything(tmp_path / "short.requests.csv") == everything(tmp_path / "a.requests.csv")[:500]
    generate_requests(model, tmp_path / "c.requests.csv", requests=500, seed=8)
    assert everything(tmp_path / "c.requests.csv") != everything(tmp_path / "short.requests.csv")


def test_what_is_generated_converts_back(folder, tmp_path):
    words = ["model", "generate", folder / "m.json", "--days", "1", "--seed", "3", "-o"]
    for name in ("a.requests.csv", "a.duckdb"):
        done = run(*words, tmp_path / name)
        assert done.exit_code == 0, done.output
    convert([tmp_path / "a.requests.csv"], tmp_path / "back.duckdb")
    one, other = everything(tmp_path / "a.duckdb"), everything(tmp_path / "back.duckdb")
    assert len(one) == len(other) > 500
    times = np.array([[row[1] for row in rows] for rows in (one, other)])
    assert np.abs(times[0] - times[1]).max() <= 1e-6
    assert times.min() >= 0
    assert times.max() < 86400
    assert (np.diff(times) >= 0).all()
    assert [row[2:] for row in one] == [row[2:] for row in other]
    with opened(tmp_path / "back.duckdb") as store:
        assert "no system served these requests" in dict(store.header)["Synthetic"]


def test_a_model_is_near_what_it_was_fitted_to(folder, tmp_path):
    model = model_in(folder)
    query = "select model || service, count(*) / sum(count(*)) over () from requests group by 1"
    made = []
    for seed in (3, 2, 1):
        generate_requests(model, tmp_path / f"{seed}.duckdb", requests=20_000, seed=seed)
        with opened(tmp_path / f"{seed}.duckdb") as synthetic:
            made.append(dict(synthetic.rows(query)))
            found = statistics_of(synthetic)
    with opened(folder / "sample.duckdb") as real:
        near = distances(score_requests(statistics_of(real), found))
        shares = dict(real.rows(query))
    # Hours that are drawn again differ in what is asked: the mean of some traces is near.
    assert {kind: fmean(one[kind] for one in made) for kind in shares} == pytest.approx(shares, abs=0.02)
    for measure in ("tokens in", "tokens out", "latency", "time to the first token"):
        assert near[measure] < 0.05
    assert near["gap"] < 0.1
    assert near["tokens in and out"] < 0.1
    assert near["requests an hour"] < 0.3


def test_a_trace_is_at_no_distance_from_itself(folder):
    with opened(folder / "sample.duckdb") as store:
        lines = score_requests(statistics_of(store), statistics_of(store))
    assert [line.distance for line in lines] == [0.0] * len(lines)
    done = run("model", "score", folder / "sample.duckdb", folder / "sample.duckdb", "--json")
    assert [row["measure"] for row in json.loads(done.stdout)] == [line.measure for line in lines]


def test_a_single_request_is_at_a_distance_by_what_it_has_only(tmp_path, folder):
    (tmp_path / "one.csv").write_text("submit_time,tokens_in,tokens_out\n5,7,9\n")
    with opened(folder / "sample.duckdb") as real, opened(tmp_path / "one.csv") as single:
        for pair in ((real, single), (single, real)):
            one, other = map(statistics_of, pair)
            lines = score_requests(one, other)
            assert {line.measure for line in lines if line.distance is not None} == {
                "tokens in",
                "tokens out",
            }


@pytest.mark.skipif(not (LOGS / "today" / "azure").is_dir(), reason="no real logs beside the project")
@pytest.mark.parametrize("name", ["code", "conv"])
def test_a_model_of_azures_trace_is_near_it(name, tmp_path):
    path = LOGS / "today" / "azure" / f"AzureLLMInferenceTrace_{name}.csv.gz"
    with opened(path) as real:
        model = RequestModel.fit(real)
        generate_requests(model, tmp_path / "s.duckdb", requests=real.account.jobs, seed=1)
        with opened(tmp_path / "s.duckdb") as synthetic:
            near = distances(score_requests(statistics_of(real), statistics_of(synthetic)))
    assert near["gap"] < {"code": 0.12, "conv": 0.06}[name]
    assert max(near["tokens in"], near["tokens out"], near["tokens in and out"]) < 0.08
    assert near["dispersion in 1 min"] < 0.8


def test_what_determines_no_model_is_refused(tmp_path):
    path = written(tmp_path / "log", AZURE, ["2023-11-16 18:15:46,1,2"] * 5)
    with opened(path) as store, pytest.raises(ModelError, match="5 requests in 0 s, expected at least 100"):
        RequestModel.fit(store)


def changed(table, change):
    """Change a table in place by what *change* says of its parts; of a list, that of its first ones."""
    for key, value in change.items() if isinstance(change, dict) else enumerate(change):
        inside = isinstance(table, list) or key in table
        if (
            inside
            and isinstance(value, dict | list)
            and value
            and isinstance(value[0] if isinstance(value, list) else value, dict)
        ):
            changed(table[key], value)
        else:
            table[key] = value


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kinds": []}, "kinds"),
        ({"nonsense": 1}, "nonsense"),
        ({"ledger": {"arrivals": [{"regularity": 0}]}}, "regularity is 0"),
        ({"ledger": {"arrivals": [{"counts": [1, 2]}]}}, "as many counts for each"),
        ({"ledger": {"arrivals": [{"kind": 9}]}}, "expected kinds below 3"),
        ({"ledger": {"arrivals": [{"pause": {"values": [1], "shares": [0, 1]}}]}}, "values are 1"),
        ({"ledger": {"length": 0}}, "length is 0"),
    ],
)
def test_a_wrong_model_is_refused_by_name(change, message, folder, tmp_path):
    document = json.loads((folder / "m.json").read_text())
    changed(document["parameters"], change)
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(document))
    with pytest.raises(ModelError, match=message) as error:
        read_request_model(str(path))
    assert "wrong.json" in str(error.value)


def test_commands_say_what_is_of_jobs_and_what_of_requests(folder, tmp_path):
    model = folder / "m.json"
    assert "holds jobs, expected a trace of requests" in str(run("model", "fit", TINY, "requests").exception)
    assert "--arrivals is of jobs" in run("model", "fit", model, "requests", "--arrivals", "poisson").output
    out = tmp_path / "x.requests.csv"
    assert "--jobs is of jobs" in run("model", "generate", model, "--jobs", "5", "-o", out).output
    assert "either --requests or --days" in run("model", "generate", model, "-o", out).output
    assert "above 0" in run("model", "generate", model, "--days", "-1", "-o", out).output
    done = run("model", "generate", "lublin", "--requests", "5", "-o", out)
    assert "--requests is of a model of requests" in done.output
    done = run("model", "generate", model, "--requests", "5", "-o", tmp_path / "x.swf")
    assert "holds no requests of language models" in str(done.exception)
    done = run("model", "score", folder / "sample.duckdb", TINY)
    assert "holds jobs, expected a trace of requests" in str(done.exception)
    done = run("model", "score", TINY, folder / "sample.duckdb")
    assert "holds requests of language models, not jobs" in str(done.exception)
    assert [*tmp_path.iterdir()] == []
    assert "model of requests" in run("model", "list").stdout
