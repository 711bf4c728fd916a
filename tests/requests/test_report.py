"""Facts of requests equal those that pandas computes, and the report has what the trace tells."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.formats.convert import convert
from gwa.formats.sample import write
from gwa.requests.base import request_analyses, request_families
from gwa.requests.build import build_requests, request_facts
from tests.conftest import HOME, LOGS, examples
from tests.program import invoke as run
from tests.requests.made import AZURE, BURSTGPT, mooncake, opened, written

QUANTILES = {"min": 0.0, "median": 0.5, "p95": 0.95, "max": 1.0}
TINY = HOME / "sample_traces" / "swf" / "tiny.swf"
INTERVALS = {"minute": 60, "hour": 3600, "day": 86400}


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Return the store of the made sample, and the table that it comes from."""
    folder = tmp_path_factory.mktemp("sample")
    write("requests", folder / "sample.requests.csv")
    convert([folder / "sample.requests.csv"], folder / "sample.duckdb")
    table = pd.read_csv(folder / "sample.requests.csv", comment="#", dtype={"blocks": str})
    return folder / "sample.duckdb", table


def summary(prefix, values):
    """Return the facts of a summary as pandas has them."""
    found = {f"{prefix}.{name}": values.quantile(share) for name, share in QUANTILES.items()}
    return {**found, f"{prefix}.mean": values.mean()}


def per_interval(times, length):
    """Return the numbers of requests in the complete intervals from the first on."""
    complete = math.floor((times.iloc[-1] - times.iloc[0]) / length)
    places = np.floor((times - times.iloc[0]) / length).astype(int)
    counts = np.bincount(places, minlength=complete + 1)[:complete]
    return pd.Series(counts.astype(float))


def dispersion(times, length):
    """Return the index of dispersion, averaged over ten phases; None where no phase has two intervals."""
    tenths = math.floor((times.iloc[-1] - times.iloc[0]) * 10 / length)
    fine = np.bincount(np.floor((times - times.iloc[0]) * 10 / length).astype(int), minlength=tenths)
    found = []
    for phase in range(10):
        intervals = (tenths - phase) // 10
        if intervals > 1:
            numbers = fine[phase : phase + 10 * intervals].reshape(intervals, 10).sum(axis=1)
            found.append(numbers.var(ddof=1) / numbers.mean() if numbers.any() else math.nan)
    return np.nanmean(found) if found else None


def spearman(one, other):
    """Return the rank correlation, nan where one of both is constant."""
    if len(set(one)) < 2 or len(set(other)) < 2:
        return math.nan
    return one.corr(other, method="spearman")


def expected(frame):
    """Return the facts that rest on times and tokens, from a table in the order of time."""
    times, gaps = frame["submit_time"], frame["submit_time"].diff().dropna().round(6)
    facts = {"requests.count": len(frame), "requests.span": times.iloc[-1] - times.iloc[0]}
    for name, length in INTERVALS.items():
        facts |= summary(f"requests.per_{name}", per_interval(times, length))
    for length in (1, 10, 60, 600, 3600, 86400):
        if (value := dispersion(times, length)) is not None:
            facts[f"requests.dispersion.{length}s"] = value
    facts |= summary("requests.gap", gaps)
    facts["requests.gap.cv"] = gaps.std(ddof=0) / gaps.mean()
    facts["requests.gap.zero"] = (gaps == 0).mean()
    facts["requests.gap.rank_correlation"] = spearman(gaps.iloc[1:], gaps.shift().iloc[1:])
    for name in ("tokens_in", "tokens_out"):
        facts |= summary(f"requests.{name}", frame[name].dropna())
        facts[f"requests.{name}.total"] = frame[name].sum()
    facts["requests.tokens_out.zero"] = (frame["tokens_out"].dropna() == 0).mean()
    facts["requests.tokens.rank_correlation"] = spearman(frame["tokens_in"], frame["tokens_out"])
    return facts


def agree(found, wanted, tolerance=1e-9):
    for name, value in wanted.items():
        if value is None or math.isnan(value):
            assert found[name] is None, name
        else:
            assert found[name] == pytest.approx(value, rel=tolerance, abs=1e-9), name


def facts_of(store):
    return {fact.id: fact.value for fact in request_facts(store)}


def test_facts_of_the_sample_are_those_of_pandas(sample):
    path, frame = sample
    with opened(path) as store:
        found = facts_of(store)
    agree(found, expected(frame))
    agree(found, summary("requests.latency", frame["latency"]))
    agree(found, summary("requests.first_token", frame["first_token"]))
    lengths = frame["session_id"].dropna().value_counts()
    agree(found, summary("requests.sessions.length", lengths))
    pauses = frame.dropna(subset="session_id").groupby("session_id")["submit_time"].diff().dropna()
    agree(found, summary("requests.sessions.pause", pauses), 1e-6)
    correlation = frame["latency"].corr(frame["tokens_out"], method="spearman")
    agree(found, {"requests.latency.rank_correlation": correlation, "requests.models": 2})


def test_reuse_is_that_of_an_unlimited_cache_that_is_filled_one_by_one(sample):
    path, frame = sample
    seen, held, total, hits, asked = set(), 0, 0, 0, 0
    for text in frame["blocks"].dropna():
        blocks = text.split()
        run_length = next((place for place, block in enumerate(blocks) if block not in seen), len(blocks))
        held, total, hits, asked = held + run_length, total + len(blocks), hits + (run_length > 0), asked + 1
        seen |= set(blocks)
    with opened(path) as store:
        found = {
            fact.id.removeprefix("requests.reuse."): fact.value
            for fact in request_facts(store, "requests.reuse")
        }
    assert found == {
        "requests": asked, "blocks": total, "distinct": len(seen), "held": held / total, "hit": hits / asked,
    }  # fmt: skip


@pytest.mark.skipif(not (LOGS / "today" / "azure").is_dir(), reason="no real logs beside the project")
@pytest.mark.parametrize("name", ["code", "conv"])
def test_facts_of_azures_traces_are_those_of_pandas(name):
    path = LOGS / "today" / "azure" / f"AzureLLMInferenceTrace_{name}.csv.gz"
    known = pd.read_csv(path)
    moments = pd.to_datetime(known["TIMESTAMP"], utc=True)
    frame = pd.DataFrame(
        {
            "submit_time": moments.map(lambda moment: moment.timestamp()),
            "tokens_in": known["ContextTokens"],
            "tokens_out": known["GeneratedTokens"],
        }
    )
    with opened(path) as store:
        agree(facts_of(store), expected(frame.sort_values("submit_time", kind="stable")))


COUNT = st.integers(0, 50)


@given(st.lists(st.tuples(st.integers(0, 200_000), COUNT, COUNT), min_size=2, max_size=60))
@examples(10)
def test_facts_of_any_requests_are_those_of_pandas(tmp_path, rows):
    frame = pd.DataFrame(rows, columns=["submit_time", "tokens_in", "tokens_out"])
    frame = frame.sort_values("submit_time", kind="stable")
    lines = [f"{t},m,{tokens_in},{out},{tokens_in + out},API" for t, tokens_in, out in rows]
    with opened(written(tmp_path / "log", BURSTGPT, lines)) as store:
        found = facts_of(store)
    if frame["submit_time"].iloc[0] < frame["submit_time"].iloc[-1]:
        agree(found, expected(frame))
    else:
        assert found["requests.per_minute.mean"] is None


@pytest.fixture(scope="module")
def report(sample):
    """Return the whole report on the made sample."""
    path, _ = sample
    with opened(path) as store:
        return build_requests(store, "sample", strict=True)


def test_a_report_has_the_sections_of_what_is_told_and_no_others(report, tmp_path):
    assert [section.id for section in report.sections] == [one.id for one in request_analyses()]
    drawn = {figure.id for figure in report.figures()}
    assert drawn >= {"request-rates", "tokens-in-out", "latency", "request-dispersion", "request-fit-gap"}
    assert report.fact("requests.fit.tokens_in.best_ks").value
    record = {"timestamp": 5, "input_length": 3, "output_length": 1, "hash_ids": [1]}
    with opened(mooncake(tmp_path / "log", [record])) as store:
        bare = build_requests(store, "bare", strict=True)
    told = {section.id for section in bare.sections}
    assert told == {"request-trace", "request-rates", "tokens", "token-pairs", "prefix-reuse", "request-fits"}


def test_every_fact_begins_as_its_section_says(report):
    for section, one in zip(report.sections, request_analyses(), strict=True):
        assert all(fact.id.startswith(one.facts) for fact in section.facts())
        assert one.help
    assert len({prefix for prefix, _ in request_families()}) == len(request_families())


def test_the_command_line_reports_requests(sample, tmp_path):
    path, frame = sample
    done = run("report", path, "-o", tmp_path, "--html", "--json", "--sections", "tokens,token-pairs")
    assert done.exit_code == 0, done.output
    (page,) = tmp_path.glob("*.html")
    assert "Report on requests to language models" in page.read_text()
    (document,) = tmp_path.glob("*.json")
    sections = json.loads(document.read_text())["sections"]
    assert [section["id"] for section in sections] == ["tokens", "token-pairs"]
    facts = json.loads(run("facts", path).stdout)
    assert facts["requests.count"] == len(frame)
    assert not any(name.startswith("requests.fit.") for name in facts)
    chosen = json.loads(run("facts", path, "--only", "requests.tokens_in.").stdout)
    assert chosen
    assert all(name.startswith("requests.tokens_in.") for name in chosen)
    assert run("facts", path, "--format", "csv").stdout.startswith("id,value,unit,label")
    assert str(len(frame)) in run("sql", path, "select count(*) as n from requests").stdout


@pytest.mark.parametrize(
    "words",
    [
        ("report", "--period", "2023"),
        ("report", "--by", "month"),
        ("report", "--view", "all"),
        ("facts", "--where", "true"),
        ("facts", "--explain"),
    ],
)
def test_options_of_jobs_are_refused_with_the_right_word(words, sample, tmp_path):
    path, _ = sample
    where = ["-o", str(tmp_path)] if words[0] == "report" else []
    done = run(words[0], path, *words[1:], *where)
    assert done.exit_code == 2
    assert f"{words[1]} is of jobs, and sample" in done.output
    assert not [*tmp_path.iterdir()]


def test_sections_of_jobs_are_none_of_requests_and_the_other_way_round(sample, tmp_path):
    path, _ = sample
    done = run("report", path, "-o", tmp_path, "--sections", "users")
    assert "there is no section of requests 'users'" in done.output
    done = run("report", TINY, "-o", tmp_path, "--sections", "tokens")
    assert "there is no section of jobs 'tokens'" in done.output


JOBS_ONLY = {"check": [], "wait": [], "advise": [], "fit": ["runtime"], "model fit": ["lublin"]}


@pytest.mark.parametrize("command", JOBS_ONLY)
def test_commands_of_jobs_refuse_requests_in_one_line(command, sample, tmp_path, monkeypatch):
    path, _ = sample
    monkeypatch.chdir(tmp_path)
    done = run(*command.split(), path, *JOBS_ONLY[command])
    assert done.exit_code != 0
    assert "holds requests of language models, not jobs" in str(done.exception)
    assert "\n" not in str(done.exception)


def test_a_trace_at_one_moment_has_no_spread(tmp_path):
    path = written(tmp_path / "log", AZURE, ["2023-11-16 18:15:46,1,2"] * 3)
    with opened(path) as store:
        report = build_requests(store, "log", strict=True)
        assert facts_of(store)["requests.per_minute.mean"] is None
    assert not report.failed
