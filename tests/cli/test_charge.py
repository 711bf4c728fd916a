"""`gwa charge`: a folder that appears whole, and is not replaced unasked, whatever projects are called."""

import csv
import json
import re
import tomllib
from decimal import Decimal
from io import StringIO

import pytest

from gwa.breakdown.charge.rates import EXAMPLE, read_rates
from gwa.errors import ArgumentError, DefinitionError, OutputError, TraceError
from tests.breakdown.test_charge import HEADER, OCTOBER
from tests.conftest import filled
from tests.program import invoke as run

RATES = 'currency = "EUR"\n[[rates]]\nname = "All"\ncpu_hour = 0.01\n'

HOSTILE = [
    "=cmd|' /C calc'!A0", "../../etc/x", "a\nb", "<script>alert(1)</script>", "index", "summary", "INDEX",
    "no-project", "", "x" * 900, "\u202etxt", "-", ".hidden", "a/b", "a\\b", "@sum", "é", "nul\x07", "'",
]  # fmt: skip


def charge(*words, rates="rates.toml", period="2025-10", out="out"):
    """Charge the jobs of the trace here, without PDFs."""
    return run("charge", "t.duckdb", "--rates", rates, "--period", period, "-o", out, "--no-pdf", *words)


def write_trace(path, projects, hours=1, begin=OCTOBER[0], header=HEADER):
    """Write a trace with a job of each of *projects*, on 100 processors in October."""
    from gwa.formats.registry import writer

    size = len(projects)
    with filled(
        header,
        {
            "submit_time": [float(begin)] * size, "wait_time": [0.0] * size,
            "run_time": [hours * 3600.0] * size, "n_procs": [100] * size, "status": [1] * size,
            "project_id": projects,
        },
    ) as store:  # fmt: skip
        writer(path).save(store, path)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Return a folder with a trace and rates, in which commands run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rates.toml").write_text(RATES)
    write_trace(tmp_path / "t.duckdb", ["a", "b"])
    return tmp_path


def cells(path):
    """Return the rows of a CSV."""
    return list(csv.DictReader(StringIO(path.read_text())))


def contents(folder):
    """Return the content of each file of a folder by its name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_folder_has_a_statement_for_each_project_and_all_lines(here):
    done = run("charge", "t.duckdb", "--rates", "rates.toml", "--period", "2025-10", "-o", "out")

    assert done.exit_code == 0, done.output
    assert done.stdout == "out/index.html\nout/summary.csv\n"
    assert "2 statements on 2025-10: 2.00 EUR" in done.stderr
    expected = {"index.html", "summary.csv", "statement.json"}
    expected |= {f"{name}.{suffix}" for name in "ab" for suffix in ("html", "csv", "pdf")}
    assert set(contents(here / "out")) == expected
    assert (here / "out" / "a.pdf").read_bytes().startswith(b"%PDF")
    assert cells(here / "out" / "summary.csv")[0] == {
        "project": "a", "service": "All", "quantity": "100.000000", "unit": "core hours", "rate": "0.01",
        "amount": "1.00", "currency": "EUR", "from": "2025-10-01T00:00:00+02:00",
        "to": "2025-11-01T00:00:00+01:00",
    }  # fmt: skip
    page = (here / "out" / "a.html").read_text()
    assert re.search(r"<h1><bdi>a</bdi></h1>", page)
    assert "Amount: 1.00 EUR" in page
    assert "b" not in re.findall(r"<bdi[^>]*>(\w+)</bdi>", page), "a statement says nothing of other projects"
    assert "Amount: 1.00 EUR" not in (here / "out" / "index.html").read_text()


def test_the_same_statements_are_written_again_and_others_only_by_force(here):
    assert charge().exit_code == 0
    before = contents(here / "out")
    assert charge().exit_code == 0
    assert contents(here / "out") == before

    write_trace(here / "t.duckdb", ["a", "b"], hours=2)
    refused = charge()
    assert isinstance(refused.exception, OutputError)
    assert "out makes corrections of them" in str(refused.exception)
    assert contents(here / "out") == before
    assert charge("--force").exit_code == 0
    assert "2.00" in (here / "out" / "a.csv").read_text()


def test_a_page_that_somebody_changed_is_replaced_by_force_only(here):
    assert charge().exit_code == 0
    (here / "out" / "a.csv").write_text("mine")
    assert isinstance(charge().exception, OutputError)
    assert (here / "out" / "a.csv").read_text() == "mine"
    assert charge("--force").exit_code == 0


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_folder_with_anything_else_is_never_replaced(force, here):
    assert charge().exit_code == 0
    (here / "out" / "thesis.tex").write_text("years of work")
    (here / "home").mkdir()
    (here / "home" / "notes").write_text("mine")
    for out in ("out", "home"):
        assert isinstance(charge(*force, out=out).exception, OutputError)
    assert (here / "out" / "thesis.tex").exists()
    assert contents(here / "home") == {"notes": b"mine"}


def test_nothing_is_left_of_statements_that_stop(here):
    (here / "rates.toml").write_text(RATES + 'queues = ["gpu"]\n')
    refused = charge()

    assert isinstance(refused.exception, TraceError)
    assert "2 jobs have no rate (1, 2)" in str(refused.exception)
    assert not (here / "out").exists()


@pytest.mark.parametrize("before", [False, True])
def test_statements_that_cannot_be_written_leave_what_was_there(before, here, monkeypatch):
    if before:
        assert charge().exit_code == 0
    there = contents(here / "out") if before else None
    made = []

    def failing(text):
        made.append(text)
        if len(made) > 1:
            raise OSError(28, "No space left on device")
        return b"%PDF"

    monkeypatch.setattr("gwa.report.pdf.on_paper", failing)
    done = run("charge", "t.duckdb", "--rates", "rates.toml", "--period", "2025-10", "-o", "out", "--force")

    assert isinstance(done.exception, OutputError)
    assert len(made) == 2
    assert (contents(here / "out") if before else None) == there
    assert {path.name for path in here.iterdir()} <= {"t.duckdb", "rates.toml", "out"}


def test_the_largest_share_is_of_the_nodes_of_the_system(here):
    (here / "nodes.toml").write_text("node_cores = 64\nnode_memory = 1000\n")
    (here / "rates.toml").write_text(RATES.replace("cpu_hour", "node_hour") + '[[rates]]\nname = "B"\n')
    assert charge("--system", "nodes.toml").exit_code == 1
    (here / "rates.toml").write_text(
        'basis = "largest"\n' + RATES.replace("cpu_hour = 0.01", "node_hour = 8")
    )
    done = charge("--system", "nodes.toml")

    assert done.exit_code == 0, done.output
    assert "2 jobs are not charged, as the log does not say their processors or memory: 1, 2." in done.stderr
    assert "2 jobs are not charged" in (here / "out" / "index.html").read_text()
    assert "1 job is not charged" in (here / "out" / "a.html").read_text()


def test_days_of_a_trace_without_dates_are_charged(here):
    write_trace(here / "t.duckdb", [None], begin=86_400 * 3 - 1800, header=())
    done = charge(period="1..3")

    assert done.exit_code == 0, done.output
    (line,) = cells(here / "out" / "summary.csv")
    assert (line["project"], line["amount"], line["from"], line["to"]) == ("", "0.50", "0", "259200")
    assert "Day 1..3" in (here / "out" / "no-project.html").read_text()


def test_corrections_are_lines_of_the_next_statement(here):
    assert charge().exit_code == 0
    write_trace(here / "t.duckdb", ["a", "b", "b"])
    assert isinstance(charge("--against", "out", out="out").exception, OutputError)
    done = charge("--against", "out", period="2025-11", out="november")

    assert done.exit_code == 0, done.output
    (line,) = cells(here / "november" / "summary.csv")
    assert (line["project"], line["service"], line["amount"]) == ("b", "Correction of 2025-10: All", "1.00")
    assert line["from"].startswith("2025-10-01")
    assert "Correction of 2025-10: All" in (here / "november" / "b.html").read_text()
    again = charge("--against", "out", "--against", "november", period="2025-12", out="december")
    assert again.exit_code == 0, again.output
    assert cells(here / "december" / "summary.csv") == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda _: "no", "is not JSON, expected statements of gwa charge"),
        (lambda _: "[]", "expected a table"),
        (lambda text: text.replace('"amount": "1.00"', '"amount": "2.00"', 1), "are not 2.00 together"),
        (
            lambda text: text.replace('"units": 360000', '"units": "x"', 1),
            r"units: is 'x', expected a number",
        ),
        (lambda text: text.replace('"version": 1', '"version": 2'), "version: is 2, expected 1"),
        (
            lambda text: text.replace('"kind": "use"', '"kind": "gift"', 1),
            "expected one of use, free, discount",
        ),
    ],
)
def test_statements_that_were_changed_are_refused(change, said, here):
    assert charge().exit_code == 0
    path = here / "out" / "statement.json"
    path.write_text(change(path.read_text()))
    refused = charge("--against", "out", period="2025-11", out="november")

    assert isinstance(refused.exception, DefinitionError)
    assert re.search(said, str(refused.exception))
    assert str(refused.exception).startswith("out/statement.json: ")


def test_projects_may_be_called_anything(here):
    write_trace(here / "t.duckdb", [*HOSTILE, None])
    done = charge()

    assert done.exit_code == 0, done.output
    files = contents(here / "out")
    assert len(files) == 3 + 2 * len(HOSTILE), "a project without a name is none"
    assert all(re.fullmatch(r"[\w.~@+-]+", name) and not name.startswith(".") for name in files)
    assert not (here / "etc").exists()
    assert len({name.lower() for name in files}) == len(files)
    pages = [data.decode() for name, data in files.items() if name.endswith(".html")]
    assert all("<script" not in page and "\x07" not in page for page in pages)
    assert any("&lt;script&gt;alert(1)" in page for page in pages)
    index = files["index.html"].decode()
    links = re.findall(r'href="([^"]+\.html)"', index)
    assert len(links) == len(HOSTILE)
    for row in cells(here / "out" / "summary.csv"):
        assert not re.match(r"\s*[=+\-@|%]", row["project"]), row["project"]
    assert "without a project" in index
    assert sum(Decimal(row["amount"]) for row in cells(here / "out" / "summary.csv")) == len(HOSTILE) + 1


def test_pages_speak_german_where_they_are_asked_to(here):
    """Numbers do so at once; words as far as the catalogue has them."""
    write_trace(here / "t.duckdb", ["a"], hours=123.45)
    assert charge("--lang", "de").exit_code == 0
    page = (here / "out" / "a.html").read_text()

    assert '<html lang="de">' in page
    assert "12.345,00" in page
    assert (here / "out" / "summary.csv").read_text().count("12345.000000") == 1
    assert isinstance(charge().exception, OutputError), "in English they are others"


def test_the_example_is_printed_and_can_be_used(here):
    done = run("charge", "--example")
    (here / "rates.toml").write_text(done.stdout)

    assert done.stdout == EXAMPLE
    assert charge().exit_code == 0
    assert "not used in 2025-10: 3 of the rates (Urgent, GPUs, new, Industry)" in charge("--force").stderr


@pytest.mark.parametrize(
    ("period", "said"),
    [
        ("2025-13", "expected dates such as 2007"),
        ("soon", "expected dates such as 2007"),
        ("2025-11..2025-10", "ends before it begins"),
        ("2025-10-05", "expected whole months such as 2025-10: free hours are of these"),
    ],
)
def test_a_period_is_of_months(period, said, here):
    (here / "rates.toml").write_text(RATES + "[free.projects.a]\ncpu_hours = 1\n")
    refused = charge(period=period)

    assert isinstance(refused.exception, ArgumentError)
    assert said in str(refused.exception)


# --- Files of rates ---


def rates_of(text):
    """Return the text of a file with the head, a rate, and more."""
    return f'currency = "EUR"\n[[rates]]\nname = "A"\ncpu_hour = 1\n{text}\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"currency: is missing, expected a currency such as EUR"),
        ('currency = "EUR"', r"rates: is missing, expected a list"),
        ('currency = "EUR"\nrates = []', r"rates: is empty, expected a rate"),
        ('currency = "="\n[[rates]]\nname = "A"\ncpu_hour = 1', r"currency: is '=', expected a currency"),
        (rates_of("prise = 1"), r"rates\[0\].prise: unknown key, expected one of"),
        (rates_of("gpu_hour = -1"), r"rates\[0\].gpu_hour: is -1, expected a price from 0 to 1,000,000"),
        (rates_of("gpu_hour = nan"), r"rates\[0\].gpu_hour: is nan, expected a price from 0"),
        (rates_of('gpu_hour = "1"'), r"rates\[0\].gpu_hour: is '1', expected a price from 0"),
        (rates_of("gpu_hour = true"), r"rates\[0\].gpu_hour: is True, expected a price from 0"),
        (
            rates_of("gpu_hour = 0.1234567"),
            r"rates\[0\].gpu_hour: is 0.1234567, expected a price .* 6 decimals",
        ),
        (rates_of("cpu_hour = 2"), r"[Cc]annot overwrite a value, expected TOML"),
        (
            rates_of("minimum_seconds = 0.5"),
            r"minimum_seconds: is 0.5, expected whole seconds from 0 to 86,400",
        ),
        (rates_of("minimum_seconds = -1"), r"minimum_seconds: is -1, expected whole seconds"),
        (rates_of('queues = "q"'), r"rates\[0\].queues: is 'q', expected a list of names"),
        (
            rates_of('queues = ["q", "q"]'),
            r"queues: is \['q', 'q'\], expected a list of names, each of them once",
        ),
        (rates_of("queues = []"), r"rates\[0\].queues: is \[\], expected a list of names"),
        (
            rates_of("billing_hour = 1"),
            r"billing_hour: is not charged by basis 'allocated', expected cpu_hour",
        ),
        (rates_of("node_cores = 4"), r"node_cores: has no effect by basis 'allocated', expected 'largest'"),
        (
            rates_of('classes = ["k"]'),
            r"rates\[0\].classes: has 'k', which is no class, expected a table \[classes\]",
        ),
        (
            rates_of('[[rates]]\nname = "B"'),
            r"rates\[1\]: has no price, expected cpu_hour or gpu_hour or whole_gpu_hour or gb_hour",
        ),
        (
            rates_of('[[rates]]\nname = "B"\ncpu_hour = 2'),
            r"rates\[1\]: is never used, as rates\[0\] \('A'\) fits all its jobs, expected it before",
        ),
        (
            rates_of('queues = ["q", "r"]\n[[rates]]\nname = "B"\ncpu_hour = 2\nqueues = ["q"]\nqos = ["u"]'),
            r"rates\[1\]: is never used, as rates\[0\]",
        ),
        (
            rates_of(
                'classes = ["k"]\n[[rates]]\nname = "B"\ncpu_hour = 2\nprojects = ["p"]\n'
                '[classes]\nk = ["p", "q"]'
            ),
            r"rates\[1\]: is never used, as rates\[0\]",
        ),
        (
            rates_of('classes = ["k"]\nprojects = ["z"]\n[classes]\nk = ["p"]'),
            r"rates\[0\].projects: has no project of its classes",
        ),
        (
            rates_of('qos = ["u"]\n[[rates]]\nname = "A"\ncpu_hour = 2'),
            r"rates\[1\].name: is 'A' again, expected another name for each rate",
        ),
        (
            rates_of('[classes]\nk = ["p"]\nl = ["p"]'),
            r"classes.l: has 'p', which 'k' has, too, expected one class",
        ),
        (
            rates_of("[discounts.projects]\np = 101"),
            r"discounts.projects: is .*, expected percent above 0, at most 100",
        ),
        (rates_of("[discounts.projects]\np = 0"), r"expected percent above 0"),
        (rates_of("[discounts.classes]\nk = 5"), r"discounts.classes: has 'k', which is no class"),
        (rates_of("[free.projects.p]"), r"free.projects.p: has no hours, expected cpu_hours or"),
        (rates_of("[free.projects.p]\nnode_hours = 1"), r"node_hours: is not charged by basis 'allocated'"),
        (rates_of("[free.projects.p]\ncpu_hours = 0"), r"cpu_hours: is 0, expected hours above 0"),
        ("decimals = 9\n" + rates_of(""), r"decimals: is 9, expected a whole number from 0 to 6"),
        (
            'basis = "share"\n' + rates_of(""),
            r"basis: is 'share', expected one of allocated, billing, largest",
        ),
        (rates_of("")[:-3] + "=", r":4: .*, expected TOML"),
    ],
)
def test_rates_that_say_nonsense_are_refused_with_what_was_expected(text, said, tmp_path):
    path = tmp_path / "wrong.toml"
    path.write_text(text)

    with pytest.raises(DefinitionError, match=said) as refused:
        read_rates(path)
    assert re.match(rf"{re.escape(str(path))}:\d+: ", str(refused.value))


def test_conditions_that_share_jobs_are_in_order(tmp_path):
    path = tmp_path / "rates.toml"
    path.write_text(
        rates_of(
            'queues = ["q"]\n[[rates]]\nname = "B"\nqos = ["u"]\ncpu_hour = 2\n'
            '[[rates]]\nname = "C"\ncpu_hour = 3'
        )
    )

    assert [rate.name for rate in read_rates(path).rates] == ["A", "B", "C"]
    assert json.loads(json.dumps(tomllib.loads(path.read_text())))["rates"][1]["qos"] == ["u"]
