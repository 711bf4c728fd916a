"""
What an assistant is told: each tool by the official client, against computations from the raw logs.

Fifty questions on three logs; the truth of each is computed by pandas from the log's own columns.
"""

import math

import numpy as np
import pandas as pd
import pytest
from mcp import Client

import gwa
from gwa.analysis.advice import letter
from gwa.assistant.desk import Desk
from gwa.assistant.server import server
from gwa.metrics.alerts import alerts
from tests.assistant.talking import talked
from tests.conftest import HOME, LOGS, thinned

KTH = LOGS / "swf" / "KTH-SP2-1996-2.1-cln.swf.gz"
KINDS = ("swf", "sacct", "pods")
GPUS = LOGS / "today" / "alibaba-gpu2023" / "openb_pod_list_default.csv"


def of_swf(path):
    """Return the jobs of a log in the Standard Workload Format, from its own columns."""
    names = ["id", "submit", "wait", "run", "procs"]
    table = pd.read_csv(path, comment=";", sep=r"\s+", header=None, usecols=[0, 1, 2, 3, 4, 11])
    table.columns = [*names, "user"]
    start = int(
        pd.read_csv(path, sep="\0", header=None, nrows=60)[0]
        .str.extract(r"UnixStartTime:\s*(\d+)")[0]
        .dropna()
        .iloc[0]
    )
    table["submit"] += start
    return table.replace(-1, math.nan).assign(user="U" + table.user.astype(str))


def of_sacct(path):
    """Return the jobs that sacct printed, without their steps, from its own columns."""
    table = pd.read_csv(path, sep="|", dtype=str)
    table = table[~table.JobIDRaw.str.contains(".", regex=False)]
    seconds = {
        name: (pd.to_datetime(table[name], errors="coerce", utc=True) - pd.Timestamp(0, tz="UTC"))
        .dt.total_seconds()
        .to_numpy()
        for name in ("Submit", "Eligible", "Start", "End")
    }
    return pd.DataFrame(
        {
            "submit": seconds["Submit"],
            "wait": seconds["Start"] - seconds["Submit"],
            "run": seconds["End"] - seconds["Start"],
            "procs": pd.to_numeric(table.AllocCPUS).to_numpy(),
            "user": table.User.to_numpy(),
        }
    )


def of_pods(path):
    """Return the Pods of Alibaba's table of 2023, from its own columns."""
    table = pd.read_csv(path)
    started = table.scheduled_time
    is_over = table.pod_phase.isin(["Succeeded", "Failed"])  # others had not ended when the table was made
    return pd.DataFrame(
        {
            "submit": table.creation_time,
            "wait": started - table.creation_time,
            "run": (table.deletion_time - started).where(is_over),
            "procs": (table.cpu_milli / 1000).apply(math.ceil),
            "user": None,
        }
    )


@pytest.fixture(scope="module", params=KINDS)
def log(request, slurm_sample):
    """Return a log, and its jobs by their own columns."""
    if request.param == "sacct":
        return slurm_sample, of_sacct(slurm_sample)
    path, read = {"swf": (KTH, of_swf), "pods": (GPUS, of_pods)}[request.param]
    if not path.exists():
        pytest.skip("the real logs are not here")
    return path, read(path)


@pytest.fixture(scope="module")
def asked(log):
    """Return a function that calls a tool of a server of the log by the official client."""
    with Desk.open([log[0]]) as desk:
        made = server(desk)

        def ask(tool, **arguments):
            async def call():
                async with Client(made) as client:
                    return await client.call_tool(tool, arguments)

            answer = talked(call())
            assert not answer.is_error, answer.content
            about = answer.structured_content["about"]
            assert about.keys() >= {"trace", "part", "window", "caveats", "not_recorded"}
            return answer.structured_content

        yield ask


def fact(name):
    return lambda ask: ask("facts", prefix=name)["facts"][name]


def top_user(by, key):
    return lambda ask: ask("breakdown", dimension="users", by=by)["rows"][0][key]


def of_sql(query):
    return lambda ask: ask("sql", query=query)["rows"][0][0]


def of_part(name, where):
    return lambda ask: ask("facts", prefix=name, where=where)["facts"][name]


def gini(values):
    """Return the mean difference of two of the values, drawn with replacement, by twice their mean."""
    values = np.asarray(values, float)
    return np.abs(values[:, None] - values).mean() / (2 * values.mean())


def most_at_once(jobs):
    """Return how many jobs ran at the same time, at most; one that ends makes room for one that starts."""
    starts = (jobs.submit + jobs.wait).to_numpy()
    moments = np.concatenate([starts, starts + jobs.run.to_numpy()])
    steps = np.repeat([1, -1], len(jobs))
    return steps[np.lexsort((steps, moments))].cumsum().max()


def first_of_most(values):
    """Return the commonest of the values, of several the lowest."""
    counts = values.value_counts()
    return counts[counts == counts.max()].index.min()


def ran(jobs):
    return jobs[(jobs.run >= 0) & (jobs.procs >= 1)]


def waits(jobs):
    return jobs.wait[jobs.wait >= 0]


def held(jobs):
    return ran(jobs).assign(held=lambda table: table.run * table.procs)


QUESTIONS = {
    "How many jobs does the log have?": (fact("trace.jobs"), len),
    "How many of them ran?": (fact("trace.ran"), lambda jobs: len(ran(jobs))),
    "How many people used the machine?": (fact("trace.users"), lambda jobs: jobs.user.nunique() or None),
    "When was the first job submitted?": (fact("trace.first_submit"), lambda jobs: jobs.submit.min()),
    "When did the last job end?": (
        fact("trace.last_end"),
        lambda jobs: (ran(jobs).submit + ran(jobs).wait + ran(jobs).run).max(),
    ),
    "How much CPU time was held in all?": (fact("trace.cpu_seconds"), lambda jobs: held(jobs).held.sum()),
    "How long does a typical job wait?": (fact("jobs.wait.median"), lambda jobs: waits(jobs).median()),
    "How long do one in twenty wait, at least?": (
        fact("jobs.wait.p95"),
        lambda jobs: waits(jobs).quantile(0.95),
    ),
    "What was the longest wait?": (fact("jobs.wait.max"), lambda jobs: waits(jobs).max()),
    "How long do jobs wait on average?": (fact("jobs.wait.mean"), lambda jobs: waits(jobs).mean()),
    "How long does a typical job run?": (fact("jobs.runtime.median"), lambda jobs: ran(jobs).run.median()),
    "How long did the longest job run?": (fact("jobs.runtime.max"), lambda jobs: ran(jobs).run.max()),
    "How many processors has a job on average?": (
        fact("jobs.procs.mean"),
        lambda jobs: ran(jobs).procs.mean(),
    ),
    "How many processors has the largest job?": (fact("jobs.procs.max"), lambda jobs: ran(jobs).procs.max()),
    "How many jobs has the busiest user?": (
        top_user("jobs", "jobs"),
        lambda jobs: jobs.user.value_counts().max(),
    ),
    "Who held most CPU time?": (
        top_user("cpu", "id"),
        lambda jobs: held(jobs).groupby("user").held.sum().idxmax(),
    ),
    "How many jobs were parallel?": (
        of_sql("select count(*) from ran where n_procs > 1"),
        lambda jobs: (ran(jobs).procs > 1).sum(),
    ),
    "What was the shortest wait?": (fact("jobs.wait.min"), lambda jobs: waits(jobs).min()),
    "How long do jobs run on average?": (fact("jobs.runtime.mean"), lambda jobs: ran(jobs).run.mean()),
    "How long do one in twenty run, at least?": (
        fact("jobs.runtime.p95"),
        lambda jobs: ran(jobs).run.quantile(0.95),
    ),
    "How long did the shortest job run?": (fact("jobs.runtime.min"), lambda jobs: ran(jobs).run.min()),
    "How many processors has a typical job?": (
        fact("jobs.procs.median"),
        lambda jobs: ran(jobs).procs.median(),
    ),
    "How many processors do one in twenty have, at least?": (
        fact("jobs.procs.p95"),
        lambda jobs: ran(jobs).procs.quantile(0.95),
    ),
    "How many processors has the smallest job?": (fact("jobs.procs.min"), lambda jobs: ran(jobs).procs.min()),
    "How many jobs had one processor?": (
        fact("jobs.sequential.count"),
        lambda jobs: (ran(jobs).procs == 1).sum(),
    ),
    "How much CPU time did jobs of one processor hold?": (
        fact("jobs.sequential.cpu_seconds"),
        lambda jobs: held(jobs).held[ran(jobs).procs == 1].sum(),
    ),
    "How many jobs had several processors?": (
        fact("jobs.parallel.count"),
        lambda jobs: (ran(jobs).procs > 1).sum(),
    ),
    "How much CPU time did jobs of several processors hold?": (
        fact("jobs.parallel.cpu_seconds"),
        lambda jobs: held(jobs).held[ran(jobs).procs > 1].sum(),
    ),
    "How long is it from the first submission to the last end?": (
        fact("trace.span_seconds"),
        lambda jobs: (ran(jobs).submit + ran(jobs).wait + ran(jobs).run).max() - jobs.submit.min(),
    ),
    "How unequal are the numbers of jobs of the users?": (
        fact("users.gini_jobs"),
        lambda jobs: gini(jobs.user.value_counts()),
    ),
    "How unequal is the CPU time that each user held?": (
        fact("users.gini_cpu"),
        lambda jobs: gini(held(jobs).groupby("user").held.sum()),
    ),
    "How much CPU time did the largest user hold?": (
        top_user("cpu", "cpu_seconds"),
        lambda jobs: held(jobs).groupby("user").held.sum().max(),
    ),
    "How many jobs have more than eight processors?": (
        of_part("trace.ran", "n_procs > 8"),
        lambda jobs: (ran(jobs).procs > 8).sum(),
    ),
    "How long does a typical parallel job wait?": (
        of_part("jobs.wait.median", "n_procs > 1 and run_time >= 0"),
        lambda jobs: waits(ran(jobs)[ran(jobs).procs > 1]).median(),
    ),
    "How long do jobs of more than an hour wait on average?": (
        of_part("jobs.wait.mean", "run_time > 3600"),
        lambda jobs: waits(jobs[jobs.run > 3600]).mean(),
    ),
    "How many jobs ran for less than a minute?": (
        of_sql("select count(*) from ran where run_time < 60"),
        lambda jobs: (ran(jobs).run < 60).sum(),
    ),
    "How much CPU time did the largest job hold?": (
        of_sql("select max(cpu_seconds) from ran"),
        lambda jobs: held(jobs).held.max(),
    ),
    "How many jobs came in the first 24 hours?": (
        of_sql("select count(*) from jobs where submit_time < (select min(submit_time) from jobs) + 86400"),
        lambda jobs: (jobs.submit < jobs.submit.min() + 86_400).sum(),
    ),
    "How many jobs waited for more than an hour?": (
        of_sql("select count(*) from jobs where wait_time > 3600"),
        lambda jobs: (jobs.wait > 3600).sum(),
    ),
    "How many jobs started at once?": (
        of_sql("select count(*) from jobs where wait_time = 0"),
        lambda jobs: (jobs.wait == 0).sum(),
    ),
    "How much do run times vary?": (
        of_sql("select stddev_samp(run_time) from ran"),
        lambda jobs: ran(jobs).run.std(),
    ),
    "How long does one in four wait, at most?": (
        of_sql("select quantile_cont(wait_time, 0.25) from jobs where wait_time >= 0"),
        lambda jobs: waits(jobs).quantile(0.25),
    ),
    "How many different sizes do jobs have?": (
        of_sql("select count(distinct n_procs) from ran"),
        lambda jobs: ran(jobs).procs.nunique(),
    ),
    "Which size is the commonest?": (
        of_sql("select n_procs from ran group by all order by count(*) desc, n_procs limit 1"),
        lambda jobs: first_of_most(ran(jobs).procs),
    ),
    "At which hour (UTC) do most jobs come?": (
        of_sql(
            "select floor(submit_time / 3600) % 24 as hour from jobs group by all"
            " order by count(*) desc, hour limit 1"
        ),
        lambda jobs: first_of_most(jobs.submit // 3600 % 24),
    ),
    "Do larger jobs run longer?": (
        of_sql("select corr(run_time, n_procs) from ran"),
        lambda jobs: ran(jobs).run.corr(ran(jobs).procs),
    ),
    "When was the last job submitted?": (
        of_sql("select max(submit_time) from jobs"),
        lambda jobs: jobs.submit.max(),
    ),
    "How much time passes between two jobs, typically?": (
        of_sql(
            "select median(gap) from"
            " (select submit_time - lag(submit_time) over (order by submit_time) as gap from jobs)"
        ),
        lambda jobs: jobs.submit.sort_values().diff().median(),
    ),
    "For how long did no job come, at most?": (
        of_sql(
            "select max(gap) from"
            " (select submit_time - lag(submit_time) over (order by submit_time) as gap from jobs)"
        ),
        lambda jobs: jobs.submit.sort_values().diff().max(),
    ),
    "How many jobs ran at the same time, at most?": (
        of_sql(
            "select max(running) from (select sum(step) over (order by moment, step rows unbounded preceding)"
            " as running from (select start_time as moment, 1 as step from ran"
            " union all select end_time, -1 from ran))"
        ),
        lambda jobs: most_at_once(ran(jobs)),
    ),
}


def test_there_are_fifty_questions():
    assert len(QUESTIONS) == 50


@pytest.mark.parametrize(("log", "question"), thinned(KINDS, QUESTIONS), indirect=["log"])
def test_a_question(question, log, asked):
    tool, truth = QUESTIONS[question]
    jobs = log[1]
    is_of_users = "user" in question.lower() or question.startswith("Who")
    if is_of_users and not jobs.user.notna().any():
        pytest.skip("the log names no users")
    expected = truth(jobs)
    found = tool(asked)
    if isinstance(expected, str) or expected is None:
        assert found == expected
    else:
        assert found == pytest.approx(expected, rel=1e-12)


def test_every_answer_says_what_it_is_about(log, asked):
    answers = [
        asked("questions"),
        asked("facts", prefix="utilization"),
        asked("describe", fact_id="jobs.wait.median"),
        asked("breakdown", dimension="sizes"),
        asked("findings"),
        asked("sql", query="select count(*) from jobs"),
    ]
    for answer in answers:
        about = answer["about"]
        assert about["jobs"] == len(log[1])
        assert about.keys() >= {"trace", "part", "zone", "window", "caveats", "not_recorded", "processors"}
    assert all(one["question"] and one["answer"] for one in answers[0]["answers"])
    assert len(answers[0]["answers"]) == 6
    assert answers[0]["answers"][0]["answer"].startswith("Of every 100 processor-hours")


def test_unknown_is_named_and_never_zero(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("user,submit_time,run_seconds,cores\nada,2026-01-05T08:00:00Z,60,2\n")
    with Desk.open([path]) as desk:
        from gwa.assistant.tools import facts, questions

        found = facts(desk, "jobs.wait")
        assert (found["facts"], found["unknown"]) == ({}, ["jobs.wait"])
        found = facts(desk, "utilization")
        assert set(found["unknown"]) == {name for name, value in found["facts"].items() if value is None}
        assert "wait_time" in found["about"]["not_recorded"]
        assert any(one["state"] != "known" for one in questions(desk)["answers"])


# Parts, several traces, pseudonyms.


def test_parts_are_those_of_the_command_line(slurm_sample):
    from gwa.assistant.tools import breakdown, compare, facts

    with Desk.open([slurm_sample]) as desk, gwa.open(slurm_sample) as trace:
        part = trace.filter(period="2025-10", where="n_gpus > 0")
        found = facts(desk, "trace.", period="2025-10", where="n_gpus > 0")
        assert found["facts"] == part.facts("trace.")
        assert found["about"]["part"] == [str(one) for one in part.filters]
        rows = breakdown(desk, "users", period="2025-10")["rows"]
        assert rows == trace.filter(period="2025-10").facts("users.by_cpu")["users.by_cpu"]
        differing = compare(desk, period="2025-11", against="2025-10")
        assert differing["answer"]
        assert len(differing["about"]) == 2
        assert desk.part(period="2025-10") is desk.part(period="2025-10")


def test_what_is_asked_wrongly_is_told(slurm_sample):
    from gwa.assistant.tools import breakdown, compare, describe, facts

    with Desk.open([slurm_sample]) as desk:
        wrong = {
            "there is no trace 'other'": lambda: facts(desk, "trace", trace="other"),
            "no fact begins with ''": lambda: facts(desk, ""),
            "no fact begins with 'colour'": lambda: facts(desk, "colour"),
            "there is no dimension 'colours'": lambda: breakdown(desk, "colours"),
            "there is no order 'size'": lambda: breakdown(desk, "users", "size"),
            "there is no fact 'jobs.wait.medium'": lambda: describe(desk, "jobs.wait.medium"),
            "expected period and against": lambda: compare(desk, period="2025-10"),
            "2025-13": lambda: facts(desk, "trace", period="2025-13"),
            "no_such_field": lambda: facts(desk, "trace", where="no_such_field > 1"),
        }
        for said, call in wrong.items():
            with pytest.raises(gwa.GwaError, match=said):
                call()


def test_advice_is_that_of_the_command(slurm_sample):
    from gwa.assistant.tools import advise

    with Desk.open([slurm_sample]) as desk, gwa.open(slurm_sample) as trace:
        listed = advise(desk)
        assert {(one["alert"], one["user"]) for one in listed["alerts"]} == {
            (alert.rule.id, holder.name) for alert in alerts(trace.store) for holder in alert.holders
        }
        assert all(one["measured"] <= one["of_jobs"] for one in listed["measured"])
        (idle,) = [
            one for one in listed["alerts"] if one["alert"] == "idle-gpu-hours" and one["user"] == "u12"
        ]
        assert idle["GPU-hours"] > 100
        told = advise(desk, "u12")
        assert [one["do"] for one in told["advice"]] == [one.do for one in letter(trace.store, "u12").advice]
        with pytest.raises(gwa.ArgumentError, match="there is no user 'u99', the nearest are: u"):
            advise(desk, "u99")


def test_a_folder_is_all_its_traces(tmp_path, slurm_sample):
    (tmp_path / "a.sacct").write_bytes(slurm_sample.read_bytes())
    (tmp_path / "b.swf").write_bytes((HOME / "sample_traces" / "swf" / "tiny.swf").read_bytes())
    (tmp_path / "notes.txt").write_text("nothing of interest\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("nothing of interest\n")
    from gwa.assistant.tools import facts, traces

    with Desk.open([tmp_path]) as desk:
        assert [one["trace"] for one in traces(desk)["traces"]] == ["a", "b"]
        assert facts(desk, "trace.jobs", trace="b")["facts"] == {"trace.jobs": 1200}
        with pytest.raises(
            gwa.ArgumentError, match="there are several traces, expected the name of one: a, b"
        ):
            facts(desk, "trace.jobs")
    with pytest.raises(gwa.ArgumentError, match="none of its files is a trace"):
        Desk.open([tmp_path / "other"])


def test_pseudonyms_leave_no_name(slurm_sample):
    from gwa.assistant.tools import breakdown, facts, findings, questions, sql

    with gwa.open(slurm_sample) as trace:
        names = {
            name
            for (name,) in trace.store.rows("select distinct user_id from jobs where user_id is not null")
        }
        jobs = len(trace)
    with Desk.open([slurm_sample], is_anonymous=True) as desk:
        told = [
            questions(desk), breakdown(desk, "users"), breakdown(desk, "projects"), findings(desk),
            sql(desk, "select distinct user_id from jobs"), sql(desk, "select * from jobs limit 50"),
        ]  # fmt: skip
        assert facts(desk, "trace.jobs")["facts"]["trace.jobs"] == jobs
    words = {word.strip("'\",.;:()[]{}") for word in str(told).split()}
    assert not names & words
