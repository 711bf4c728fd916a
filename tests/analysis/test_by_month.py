"""The months of a log on one page: values as pandas counts them, changes against the month before."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gwa.analysis.by_month import by_month, months_of
from gwa.cli import gwa
from gwa.errors import TraceError
from gwa.metrics.periods import within
from gwa.report.document import FactTable
from gwa.store.subset import Subset, select
from gwa.trace import Trace
from gwa.words.quantities import quantity

ABSOLUTE = (("Times", "Unix seconds, UTC"), ("Processors", "10"))
FIRST = datetime(2007, 1, 1, tzinfo=UTC)


def log(make_store):
    """Return a job each hour of two months that runs for one, and two each hour of a third."""
    hours = [(day, hour) for day in range(90) for hour in range(24)]
    moments = [(FIRST + timedelta(days=day, hours=hour)).timestamp() for day, hour in hours]
    moments += [moment for (day, _), moment in zip(hours, moments, strict=True) if day >= 59]
    return make_store(
        ABSOLUTE, submit_time=sorted(moments), run_time=[3600.0] * len(moments), n_procs=[5] * len(moments),
        wait_time=[600.0] * len(moments), user_id=["u1"] * len(moments),
    )  # fmt: skip


def test_each_month_has_its_values_and_their_changes(make_store):
    report = by_month(log(make_store), "log", {"2007-02": "log-2007-02.html"})
    table = next(block for block in report.tables() if isinstance(block, FactTable))

    assert [name for name, _ in table.rows] == ["2007-03", "2007-02", "2007-01"]
    assert table.links == ("", "log-2007-02.html", "")
    assert report.fact("month.2007-02.jobs").value == pytest.approx(24)
    assert report.fact("month.2007-03.jobs").value == pytest.approx(48, rel=0.05)
    assert report.fact("month.2007-03.jobs.change").value == pytest.approx(1, rel=0.05)
    assert report.fact("month.2007-02.jobs.change").text == "none"
    assert report.fact("month.2007-01.jobs.change").value is None
    assert report.fact("month.2007-03.median_wait").value == 600
    assert report.answer.startswith("2007-03, against 2007-02: ")
    assert report.figures()[0].plot == "strips"
    assert [figure.plot for figure in report.figures()[1:]] == ["bars"] * 2  # a map of one row says less


def test_a_change_beyond_a_multiple_is_a_factor_and_failures_are_called_what_they_are(make_store):
    """A median wait of 2 min after one of an hour was "down", and time limits were "jobs that failed"."""
    days = list(range(59))
    store = make_store(
        ABSOLUTE, submit_time=[(FIRST + timedelta(days=day)).timestamp() for day in days],
        run_time=[3600.0] * 59, n_procs=[5] * 59, user_id=["u1"] * 59, status=[day % 2 for day in days],
        wait_time=[3600.0 if day < 31 else 120.0 for day in days],
    )  # fmt: skip
    report = by_month(store, "log", {})

    assert report.fact("month.2007-02.median_wait.change").text == "×\N{NO-BREAK SPACE}0.033"
    assert report.fact("month.2007-02.median_wait.change").value == pytest.approx(120 / 3600 - 1)
    assert report.fact("month.2007-02.failed").label == quantity("failed_core_hours_share").heading


def test_the_answer_is_of_whole_months(make_store):
    """The two days that the log has of April are no month to be compared with March."""
    moments = [(FIRST + timedelta(hours=hour)).timestamp() for hour in range(92 * 24)]
    store = make_store(
        ABSOLUTE, submit_time=moments, run_time=[600.0] * len(moments), n_procs=[5] * len(moments),
        wait_time=[60.0] * len(moments), user_id=["u1"] * len(moments),
    )  # fmt: skip
    report = by_month(store, "log", {})

    assert report.fact("month.2007-04.jobs").value is not None
    assert report.answer.startswith("2007-03, against 2007-02: ")


def jobs_of_days(make_store, days, **columns):
    """Return a log of a job every hour of *days* of 2007, each of another user."""
    moments = [(FIRST + timedelta(days=day, hours=hour)).timestamp() for day in days for hour in range(24)]
    each = {"run_time": 600.0, "n_procs": 5, "wait_time": 600.0}
    return make_store(
        ABSOLUTE, submit_time=moments, user_id=[f"u{n}" for n in range(len(moments))],
        **{name: [value] * len(moments) for name, value in each.items()} | columns,
    )  # fmt: skip


def test_a_day_of_a_month_is_compared_with_no_month(make_store):
    """Users "rose by 224 %" from a month of which the log has one day."""
    report = by_month(jobs_of_days(make_store, range(30, 85)), "log", {})

    assert report.fact("month.2007-01.users").value == 24
    assert report.fact("month.2007-02.users").value == 24 * 28
    assert report.fact("month.2007-02.users.change").value is None
    assert report.fact("month.2007-02.jobs.change").text == "–"


@pytest.mark.parametrize(
    ("days", "says"),
    [(range(3), "2007-01 (3 days): "), (range(31), "2007-01: "), (range(29, 34), "2007-02 (3 days): ")],
)
def test_what_is_no_pair_of_months_is_told_by_itself(make_store, days, says):
    """Each job is of another user, so that all users are counted if the last job is."""
    answer = by_month(jobs_of_days(make_store, days), "log", {}).answer

    assert answer.startswith(says)
    assert f"users {24 * min(len(days), 3 if days[-1] > 31 else 31)}," in answer
    assert "jobs a day 24" in answer
    assert "(" not in answer.partition(":")[2], "there is nothing to be compared with"


def test_one_job_is_no_rate_of_jobs_a_day(make_store):
    """A job in a log of a second was 86,400 jobs a day."""
    store = make_store(
        ABSOLUTE, submit_time=[FIRST.timestamp()], run_time=[60.0], n_procs=[5], wait_time=[60.0],
        user_id=["u1"],
    )  # fmt: skip
    report = by_month(store, "log", {})

    assert report.fact("month.2007-01.jobs").value is None
    assert report.fact("month.2007-01.users").value == 1
    assert "86,400" not in report.answer


def test_the_answer_is_of_the_last_months_though_one_measure_ends_before(make_store):
    """Of a log that stopped to record waits, the answer was half a year old, and did not say so."""
    days = range(200)
    waits = [600.0 if day < 60 else None for day in days for _ in range(24)]
    answer = by_month(jobs_of_days(make_store, days, wait_time=waits), "log", {}).answer

    assert answer.startswith("2007-06, against 2007-05: ")
    assert "median wait" not in answer


def test_a_month_without_jobs_is_no_month_to_compare_with(make_store):
    days = [*range(31), *range(59, 120)]
    report = by_month(jobs_of_days(make_store, days), "log", {})

    assert report.answer.startswith("2007-04, against 2007-03: ")
    assert report.fact("month.2007-02.jobs").value in {0, None}
    assert report.fact("month.2007-03.users.change").text in {"up", "–"}


ENDS = st.sampled_from(
    ("2007", "2007-01", "2007-02", "2007-03", "2007-05", "2007-06", "2007-01-20", "2007-02-01",
     "2007-03-07T12:00", "2007-05-31", "2007-06-30")
)  # fmt: skip
"""Years, months, days and minutes of a log that has a few jobs in February and none in April."""


@given(ENDS, ENDS, st.booleans())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_the_months_of_any_period_hold_all_of_its_jobs(make_store, one, other, is_single):
    """Of a year that is not the last of the log, the month after it was asked for, and there was no index."""
    period = one if is_single else "..".join(sorted((one, other)))
    days = [*range(31), 40, *range(59, 90), *range(120, 400)]
    store = make_store(
        ABSOLUTE, submit_time=[(FIRST + timedelta(days=day)).timestamp() for day in days],
        run_time=[600.0] * len(days), n_procs=[5] * len(days),
    )  # fmt: skip
    try:
        part = select(store, Subset(period=period))
    except TraceError:  # it has no job
        return
    months = [within(month, period, store.system) for month in months_of(part)]
    jobs = [len(Trace(select(store, Subset(period=month)), "log")) for month in months]

    assert all(jobs)
    assert sum(jobs) == len(Trace(part, "log"))


def test_without_dates_of_jobs_there_are_no_months(make_store):
    with pytest.raises(TraceError, match="it has no months"):
        by_month(make_store(run_time=[5.0]), "poor", {})


def test_the_command_links_the_reports_that_stand_beside_it(sample, tmp_path):
    def run(*more):
        words = ["report", str(sample / "swf" / "tiny.swf"), "--by", "month", "-o", str(tmp_path), "--quiet"]
        return CliRunner().invoke(gwa, [*words, *more])

    first = run()
    page = tmp_path / "tiny-by-month.html"
    (month, *_) = re.findall(r'data-fact="month\.(\d{4}-\d\d)\.', page.read_text())
    (tmp_path / f"tiny-{month}-against-2000-01.html").write_text("")

    assert first.stdout.split() == [str(tmp_path / f"tiny-{month}.html"), str(page)]
    assert first.stderr == ""
    words = ["report", str(sample / "swf" / "tiny.swf"), "--by", "month", "-o", str(tmp_path), "--force"]
    told = CliRunner().invoke(gwa, words)
    assert "How busy was it?" not in told.stderr, "one page of many is not told of"
    assert run().exit_code == 0
    assert f'href="tiny-{month}-against-2000-01.html"' in page.read_text()
    wrong = run("--against", "previous")
    assert (wrong.exit_code, "--by shows all months" in wrong.stderr) == (2, True)


def test_a_period_has_pages_of_its_months_and_an_index_that_leads_to_each(tmp_path):
    """Two and a half months in the midst of a log: the one that is cut is called by its days."""
    day = 86400
    rows = (f"{n} {day * n} 5 {900 + n} 4 -1 -1 4 -1 -1 1 {n % 3 + 1} 1 2 1 1 -1 -1" for n in range(200)
            if not 53 <= n < 83)  # fmt: skip
    trace = tmp_path / "log.swf"  # of a job a day from 9 September 2001, but none in November
    trace.write_text("\n".join(("; MaxProcs: 16", "; UnixStartTime: 1000000000", *rows, "")))
    words = ["report", str(trace), "-o", str(tmp_path), "--period", "2001-09-20..2001-12", "--by", "month"]
    done = CliRunner().invoke(gwa, [*words, "--quiet"])

    pages = ["log-2001-09-20..2001-09.html", "log-2001-10.html", "log-2001-12.html"]
    index = "log-2001-09-20..2001-12-by-month.html"
    assert done.exit_code == 0, done.stderr
    assert [path.rpartition("/")[2] for path in done.stdout.split()] == [*pages, index]
    assert re.findall(r'href="(log-[^"]+)"', (tmp_path / index).read_text()) == pages[::-1]


def test_the_command_writes_the_reports_on_months_that_are_not_there(tmp_path):
    rows = (f"{n} {172800 * n} 5 {900 + n} 4 -1 -1 4 -1 -1 1 {n % 3 + 1} 1 2 1 1 -1 -1" for n in range(1, 31))
    trace = tmp_path / "log.swf"  # of a job every other day, from 9 September to 9 November 2001
    trace.write_text("\n".join(("; MaxProcs: 16", "; UnixStartTime: 1000000000", *rows, "")))

    def run(*more):
        done = CliRunner().invoke(gwa, ["report", str(trace), "-o", str(tmp_path / "out"), *more])
        assert done.exit_code == 0, done.stderr
        return [path.rpartition("/")[2] for path in done.stdout.split()], done.stderr

    pages = ["log-2001-09.html", "log-2001-10.html", "log-2001-11.html"]
    assert run("--by", "month")[0] == [*pages, "log-by-month.html"]
    index = (tmp_path / "out" / "log-by-month.html").read_text()
    assert all(f'href="{page}"' in index for page in pages)
    before = (tmp_path / "out" / pages[0]).read_bytes()

    written, said = run("--by", "month")  # the last month may have gone on
    assert written == [pages[-1], "log-by-month.html"]
    assert "stood already: 2" in said
    assert run("--by", "month", "--force")[0] == [*pages, "log-by-month.html"]
    assert run("--period", "2001-09")[0] == pages[:1]  # it is the same report
    assert (tmp_path / "out" / pages[0]).read_bytes() == before
