"""What users hold: the public names, filtered traces, and reports that are written, drawn and asked."""

import inspect
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import assert_type

import pandas as pd
import pytest
from matplotlib.image import imread

import gwa
from gwa import errors
from gwa.report import document
from gwa.store.schema import FIELDS

PUBLIC = {
    *("open", "Trace", "Subset", "Account", "System", "Sample", "Progress", "__version__"),
    *("check", "compare", "convert", "fetch", "fit", "generate", "sample", "score", "simulate", "wait"),
    *("whatif", "plan", "charge", "FittedModel"),
    *("Report", "Section", "Fact", "Facts", "FactTable", "Table", "Column", "Figure", "Note", "Finding"),
    *(name for name, kind in vars(errors).items() if isinstance(kind, type)),
}
METHODS = {
    "Trace": (
        "account arrow breakdown close cube facts filter frame header jobs period report sample save sql"
        " store system"
    ),
    "FittedModel": "save",
    "Report": "fact facts failed figure figures section table tables write",
    "Figure": "png save svg",
    "Table": "frame",
    "FactTable": "facts frame",
    "Subset": "is_selective",
}

USE = """
from pathlib import Path
import gwa
from gwa import Fact, Figure, Report, Section, Subset, Table, Trace

def median_wait(trace: Trace) -> float:
    return trace.filter(Subset(where="n_procs > 1"), queue="short", user=["U1"]).sample("wait_time").median()

try:
    with gwa.open("tiny.swf", system={"cpus": 48}) as trace:
        report: Report = trace.filter(period="2007").report(["waits"])
        written: list[Path] = report.write("out", "html", "pdf")
        fact: Fact = report.fact("jobs.wait.median")
        figure: Figure = report.figure("waits")
        section: Section = report.section("waits")
        content: bytes = figure.png()
        rows: int = len(report.table("users-by-jobs").frame()) + len(trace.frame()) + trace.arrow().num_rows
        cpus: int | None = trace.system.cpus
        lost: int = trace.account.rejected
except gwa.OutputError as error:
    print(error, gwa.__version__)
"""


@pytest.fixture
def trace(sample):
    with gwa.open(sample / "swf" / "tiny.swf") as opened:
        yield opened


@pytest.fixture(scope="module")
def report():
    path = Path(__file__).parent.parent / "sample_traces" / "swf" / "tiny.swf"
    with gwa.open(path) as opened:
        return opened.report(["overview", "utilization", "waits", "estimates", "users"])


def count(trace: gwa.Trace) -> int:
    return int(trace.sql("select count(*) as jobs from jobs").jobs[0])


# The surface.


def test_the_public_names_are_as_documented():
    documented = set(
        re.findall(r"`(\w+)`", re.sub(r".*?\n- ", "", gwa.__doc__ or "", count=1, flags=re.DOTALL))
    )
    assert set(gwa.__all__) == set(dir(gwa)) == PUBLIC
    assert documented | {"__version__"} == PUBLIC
    assert all(getattr(gwa, name).__doc__ for name in PUBLIC)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = gwa.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", METHODS)
def test_the_public_methods_have_docstrings(kind):
    public = getattr(gwa, kind)
    members = {name: member for name, member in inspect.getmembers(public) if not name.startswith("_")}
    methods = {name: kind for name, kind in members.items() if callable(kind) or isinstance(kind, property)}
    assert set(methods) == set(METHODS[kind].split())
    assert all(member.__doc__ for member in methods.values())


def test_nothing_heavy_is_imported_before_it_is_asked_for():
    code = "import sys, gwa; gwa.Report; dir(gwa); print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"duckdb", "numpy", "pandas", "pyarrow", "matplotlib", "scipy"} & set(
        json.loads(done.stdout.replace("'", '"'))
    )


@pytest.mark.slow
def test_a_script_is_typed(tmp_path):
    (tmp_path / "use.py").write_text(USE)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "use.py"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


# Filters.


def test_filters_compose_and_leave_the_whole_alone(trace):
    parallel = trace.filter(where="n_procs > 1")
    both = parallel.filter(where="run_time > 600")
    frame = trace.frame()
    assert [count(part) for part in (trace, parallel, both)] == [
        len(frame),
        (frame.n_procs > 1).sum(),
        ((frame.n_procs > 1) & (frame.run_time > 600)).sum(),
    ]
    assert trace.filters == ()
    assert [str(subset) for subset in both.filters] == ["where n_procs > 1", "where run_time > 600"]


def test_a_report_names_every_filter(trace):
    both = trace.filter(where="n_procs > 1").filter(gwa.Subset(where="run_time > 600"), user="U1")
    report = both.report(["overview"])
    words = "where n_procs > 1; where run_time > 600; user U1"
    assert report.reproduction["part"] == words
    assert report.subtitle.endswith(words)
    assert words in report.section("overview").blocks[0].text
    assert "part" not in trace.report(["overview"]).reproduction
    assert words in repr(both)


def test_two_filtered_traces_stand_side_by_side(trace):
    serial, parallel = trace.filter(where="n_procs = 1"), trace.filter(where="n_procs > 1")
    prefix = "bags"  # what is kept in temporary tables
    first = [part.facts(prefix) for part in (serial, parallel, trace)]
    assert [part.facts(prefix) for part in (trace, parallel, serial)] == first[::-1]
    assert len({json.dumps(facts) for facts in first}) == 3
    assert (serial.store.known["job_id"], trace.store.known["job_id"]) == (len(serial), len(trace))
    serial.close()
    assert count(parallel) + 671 == count(trace) == 1200


@pytest.mark.parametrize("name", ["tiny.duckdb", "tiny.parquet"])
def test_a_filtered_trace_keeps_what_is_known_of_the_whole(trace, tmp_path, name):
    trace.save(tmp_path / name)
    with gwa.open(tmp_path / name, system={"cpus": 7, "name": "Emu"}) as whole:
        part = whole.filter(where="n_procs = 1").filter(where="run_time > 600")
        assert (part.system, part.header, part.account) == (whole.system, whole.header, whole.account)
        assert part.system.cpus == 7
        assert 0 < len(part) < len(whole)


def test_names_may_be_one_or_several(trace):
    users = (
        trace.sql("select user_id as name, count(*) as jobs from jobs group by all").set_index("name").jobs
    )
    assert len(trace.filter(user="U1")) == users["U1"]
    assert len(trace.filter(user=["U1", "U2"])) == users["U1"] + users["U2"]
    assert len(trace.filter()) == len(trace)
    with pytest.raises(gwa.ArgumentError, match="no job has the user 'U1, U2', "):
        trace.filter(user="U1, U2")


def test_a_closed_trace_says_so(sample):
    with gwa.open(sample / "swf" / "tiny.swf") as whole:
        part = whole.filter(where="n_procs > 1").filter(where="run_time > 600")
    for trace in (whole, part):
        for use in (len, gwa.Trace.frame, gwa.Trace.report, lambda trace: trace.filter(where="true")):
            with pytest.raises(gwa.GwaError, match="tiny: the trace is closed"):
                use(trace)
        assert repr(trace).endswith("closed>")
        trace.close()


def test_a_filtered_trace_can_be_saved(trace, tmp_path):
    part = trace.filter(where="n_procs > 1")
    part.save(tmp_path / "part.parquet")
    with gwa.open(tmp_path / "part.parquet") as again:
        pd.testing.assert_frame_equal(again.frame(), part.frame())


# Tables of jobs.


def test_whole_numbers_are_whole_and_gaps_are_missing(make_store):
    store = make_store(n_procs=[4, None], status=[None, None], run_time=[1.5, None], submit_time=[0.0, 1.0])
    frame = gwa.Trace(store, "made").frame()
    whole = {field.name for field in FIELDS if field.is_whole}
    assert {name for name, kind in frame.dtypes.items() if kind == "Int64"} == whole
    assert frame.n_procs.to_list() == [4, pd.NA]
    assert frame.run_time.dtype == "float64"


def test_a_query_that_fails_is_an_error_of_ours(trace):
    with pytest.raises(gwa.TraceError, match=r"the query failed: .*nothing"):
        trace.sql("select nothing from jobs")


# Reports.


def test_a_report_is_asked_for_one_thing(report: gwa.Report) -> None:
    assert assert_type(report.fact("trace.jobs"), gwa.Fact).value == 1200
    assert assert_type(report.figure("waits"), gwa.Figure).svg().startswith("<svg")
    assert assert_type(report.section("waits"), gwa.Section) in report.sections
    assert isinstance(report.table("users-by-jobs"), gwa.Table)
    assert isinstance(report.table("estimates"), gwa.FactTable)  # a figure has this id, too
    assert report.figure("estimates").id == "estimates"
    assert len(report.facts()) == len({fact.id for fact in report.facts()}) > 40


@pytest.mark.parametrize(
    ("kind", "name", "nearest"),
    [
        ("fact", "trace.job", "trace.jobs"),
        ("figure", "utilisation", "utilization"),
        ("table", "users-by-job", "users-by-jobs"),
        ("section", "wait", "waits"),
    ],
)
def test_an_unknown_id_is_answered_with_the_nearest(report, kind, name, nearest):
    with pytest.raises(gwa.TraceError, match=f"no {kind} '{name}', the nearest are: {nearest}"):
        getattr(report, kind)(name)
    with pytest.raises(gwa.TraceError, match=f"no {kind} '{name}', and no other"):
        getattr(document.Report("", "", ()), kind)(name)


def test_a_report_is_written_as_it_is_on_the_command_line(report, tmp_path):
    pages = report.write(tmp_path / "out")
    others = report.write(str(tmp_path / "out"), "json", "latex", name="tiny")
    assert [path.name for path in pages + others] == ["report.html", "tiny.json", "tiny-latex"]
    assert json.loads(others[0].read_text())["title"] == report.title
    assert (others[1] / "sections" / "waits.tex").is_file()
    with pytest.raises(gwa.OutputError, match="no output 'docx', expected one of html, json, latex, pdf"):
        report.write(tmp_path / "other", "docx")
    assert not (tmp_path / "other").exists()


def test_a_table_is_a_frame(report):
    table = report.table("users-by-jobs")
    frame = table.frame()
    assert list(frame.columns) == [column.key for column in table.columns]
    assert frame.iloc[0].to_list() == list(table.rows[0])
    facts = report.table("estimates").frame()
    assert list(facts.index) == [name for name, _ in report.table("estimates").rows]


def test_an_image_is_the_same_each_time_and_opaque(report):
    figure = report.figure("waits")
    (small, large) = (figure.png(), figure.png(dpi=288))
    assert small == figure.png()
    assert small.startswith(b"\x89PNG")
    pixels, more = (imread(BytesIO(content), format="png") for content in (small, large))
    assert more.shape[0] == pytest.approx(2 * pixels.shape[0], abs=1)
    assert (pixels[0, 0, :3] == 1).all()
    assert pixels[..., 3].min() == 1


def test_a_figure_is_saved_as_its_suffix_says(report, tmp_path):
    figure = report.figure("waits")
    assert figure.save(tmp_path / "new.svg").read_text() == figure.svg()
    assert figure.save(f"{tmp_path}/new.PNG").read_bytes() == figure.png()
    with pytest.raises(gwa.OutputError, match=r"new.pdf: a figure is written as .svg or .png"):
        figure.save(tmp_path / "new.pdf")
    with pytest.raises(gwa.OutputError):
        figure.save(tmp_path / "none" / "new.svg")
    assert len(list(tmp_path.iterdir())) == 2


class Elements(HTMLParser):
    """The elements of a page, whether each is closed, and their attributes."""

    def __init__(self):
        super().__init__()
        self.open, self.names, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += [name for name, _ in attrs]
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_notebook_shows_a_report_that_cannot_harm_it(report):
    hostile = "</div><script>alert(1)</script>\x01 & <style>"
    finding = document.Finding("x", hostile, "waits", "", 1.0)
    made = document.Report(hostile, hostile, report.sections, report.zone, {}, (finding, *report.findings))
    page = Elements()
    page.feed(made._repr_html_())
    assert page.open == []
    assert set(page.names) <= {
        "div",
        "strong",
        "table",
        "tr",
        "th",
        "td",
        "ul",
        "li",
        "p",
        "img",
        "figure",
        "figcaption",
    }
    assert set(page.attributes) <= {"style", "src", "alt"}
    figures = [
        section
        for section in report.sections
        if any(isinstance(block, gwa.Figure) for block in section.blocks)
    ]
    assert page.names.count("img") == len(figures) > 2
    assert page.names.count("li") == len(made.findings)
    assert "1,200" in made._repr_html_()


def test_a_notebook_shows_a_figure(report):
    page = Elements()
    page.feed(report.figure("waits")._repr_html_())
    assert page.names == ["figure", "figcaption", "img"]
    assert repr(report.figure("waits")).count("data") == 0
