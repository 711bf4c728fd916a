"""The months of a log on one page: values as pandas counts them, changes against the month before."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner

from gwa.analysis.by_month import by_month
from gwa.cli import gwa
from gwa.errors import TraceError
from gwa.report.document import FactTable

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
    assert report.fact("month.2007-02.jobs.change").text == "0 %"
    assert report.fact("month.2007-01.jobs.change").value is None
    assert report.fact("month.2007-03.median_wait").value == 600
    assert report.answer.startswith("2007-03, against 2007-02: ")
    assert report.figures()[0].plot == "strips"


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

    assert first.stdout.strip() == str(page)
    assert run().exit_code == 0
    assert f'href="tiny-{month}-against-2000-01.html"' in page.read_text()
    wrong = run("--against", "previous")
    assert (wrong.exit_code, "--by shows all months" in wrong.stderr) == (2, True)
