"""The pages that answer one question, as a reader opens them: comparison, what-if, simulation and others."""

import json
from collections.abc import Callable, Mapping
from typing import Final

import pytest
from playwright.sync_api import expect

from gwa.analysis.by_month import by_month
from gwa.analysis.comparison.compare import compare
from gwa.evaluation.experiments.page import report as simulation
from gwa.evaluation.experiments.plan import ExperimentPlan
from gwa.evaluation.experiments.results import ExperimentResults
from gwa.evaluation.experiments.run_cache import RunCache
from gwa.evaluation.experiments.runner import run_all
from gwa.evaluation.experiments.spec import read_experiment
from gwa.evaluation.leaderboard import compete
from gwa.evaluation.standings import Standings
from gwa.evaluation.whatif.answer import answer
from gwa.evaluation.whatif.change import parsed
from gwa.evaluation.whatif.page import report as whatif
from gwa.evaluation.whatif.world import recorded
from gwa.formats.open import open_trace
from gwa.report.as_json import plain
from gwa.report.document import Report
from gwa.report.html import html
from tests.browser.conftest import visit
from tests.conftest import HOME

TINY: Final = HOME / "sample_traces" / "swf" / "tiny.swf"
OTHERS: Final = (
    HOME / "sample_traces" / "slurm" / "expected.gwf",
    HOME / "sample_traces" / "pbs" / "expected.gwf",
)

SMALLEST: Final = 11
"""Pixels of the smallest letters."""

LETTERS: Final = """() => [...document.querySelectorAll("h1, h2, h4, p, td, th, dt, li, button, svg text")]
    .filter((one) => one.checkVisibility() && one.textContent.trim())
    .map((one) => parseFloat(getComputedStyle(one).fontSize)).reduce((a, b) => Math.min(a, b), 99)"""
"""The size of the smallest text that is shown."""

TOLD: Final = """() => [...document.querySelectorAll("[data-fact]")]
    .map((one) => [one.dataset.fact, one.dataset.value])"""
"""The numbers of the page, each with the id of its fact."""


def compared(*paths):
    with_names = [(path.parent.name, open_trace([path])) for path in paths]
    return compare(with_names)


def simulated(folder):
    plan = ExperimentPlan(read_experiment(HOME / "experiments" / "example.toml"))
    run_all(plan, RunCache(folder), 1)
    return simulation(ExperimentResults.of(plan, RunCache(folder)))


def changed():
    world = recorded(open_trace([TINY]), "easy")
    return whatif(answer(world, [parsed("cpus +20%")]), "tiny")


def ranked():
    store = open_trace([TINY])
    return Standings(compete([("tiny", store)], ["lublin", "dacosta"], 1)).report()


def monthly(folder):
    """Return the page of a log of a job every six hours, from September 2001 on."""
    rows = (f"{n} {21600 * n} 5 {900 + n} 4 -1 -1 4 -1 -1 1 {n % 7 + 1} 1 2 1 1 -1 -1" for n in range(1, 400))
    log = folder / "log.swf"
    log.write_text("\n".join(("; MaxProcs: 16", "; UnixStartTime: 1000000000", *rows, "")))
    return by_month(open_trace([log]), "log", {"2001-10": "log-2001-10.html"})


@pytest.fixture(scope="module")
def reports(tmp_path_factory) -> Mapping[str, Callable[[], Report]]:
    """Return what makes each page."""
    return {
        "pair": lambda: compared(TINY, OTHERS[0]),
        "several": lambda: compared(TINY, *OTHERS),
        "what-if": changed,
        "simulation": lambda: simulated(tmp_path_factory.mktemp("runs")),
        "leaderboard": ranked,
        "months": lambda: monthly(tmp_path_factory.mktemp("log")),
    }


@pytest.mark.parametrize("name", ["pair", "several", "what-if", "simulation", "leaderboard", "months"])
def test_the_answer_comes_first_and_the_page_can_be_used(context, tmp_path, reports, name):
    report = reports[name]()
    file = tmp_path / "page.html"
    file.write_text(html(report), encoding="utf-8")
    page, wrong = visit(context, file)

    for width in (1440, 380):
        page.set_viewport_size({"width": width, "height": 900})
        expect(page.locator(".found-out")).to_be_in_viewport()
        expect(page.locator(".found-out")).to_have_text(
            " ".join(report.answer.split()).replace(" %", "\u00a0%")
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(LETTERS) >= SMALLEST
        for box in page.locator('[data-name="side-by-side"]:not(:has(th:nth-child(7))) .scroll').all():
            assert box.evaluate("one => one.scrollWidth <= one.clientWidth")  # all of it is in view
        for drawing in page.locator(".on-top figure .drawing").all():
            drawing.scroll_into_view_if_needed()
            drawing.focus()
            page.keyboard.press("ArrowRight")
            expect(drawing.locator(".reading")).to_be_visible()
            drawing.hover()
            page.keyboard.press("Escape")
        page.evaluate("scrollTo(0, 0)")
    for fold in page.locator("details.rest").all()[:1]:
        fold.locator("summary").click()
        expect(fold).to_have_attribute("open", "")

    facts = {fact.id: json.dumps(plain(fact.value)) for fact in report.facts()}
    told = page.evaluate(TOLD)
    assert told
    assert {(name, value) for name, value in told if value} <= set(facts.items())
    assert not wrong


def test_what_chance_leaves_open_is_a_line_with_a_dot(context, tmp_path, make_store):
    rng_free = [float(3600 * n) for n in range(900)]
    stores = [
        make_store(
            (("Processors", "64"),), submit_time=rng_free, run_time=[60.0 + n % 7 for n in range(900)],
            n_procs=[procs] * 900, wait_time=[float(wait * (1 + n % 5)) for n in range(900)],
            user_id=[f"u{n % 9}" for n in range(900)],
        )
        for procs, wait in ((2, 60), (2, 6000))
    ]  # fmt: skip
    report = compare([("A", stores[0]), ("B", stores[1])])
    file = tmp_path / "page.html"
    file.write_text(html(report), encoding="utf-8")
    page, _ = visit(context, file)
    row = page.get_by_role("row", name="Waits? median wait")
    line, dot = row.locator(".span-line i").bounding_box(), row.locator(".span-line b").bounding_box()
    middle = row.locator(".span-line").bounding_box()

    assert line is not None
    assert dot is not None
    assert middle is not None
    assert line["x"] <= dot["x"] + dot["width"] / 2 <= line["x"] + line["width"]
    assert line["x"] > middle["x"] + middle["width"] / 2, "longer, beyond chance"


def test_a_pair_of_figures_and_the_names_of_rows_are_readable_on_paper(context, tmp_path):
    """The letters of a pair were half as large as others, and names of rows stood word under word."""
    file = tmp_path / "page.html"
    file.write_text(html(monthly(tmp_path)), encoding="utf-8")
    page, _ = visit(context, file)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    widths = page.locator(".row.pair svg[role=img]").evaluate_all(
        "all => all.map(svg => Number(svg.getAttribute('width')))"
    )
    assert len(widths) == 2
    assert all(250 < width < 330 for width in widths), "as wide as half of a column"

    sizes = page.locator('[data-name="months"] thead th').evaluate_all(
        "all => all.flatMap(one => [one, ...one.querySelectorAll('button')])"
        ".map(one => getComputedStyle(one).fontSize)"
    )
    spaces = page.locator('[data-name="months"] tbody .what').evaluate_all(
        "all => all.map(one => getComputedStyle(one).whiteSpace)"
    )
    assert len(set(sizes)) == 1, "a heading is not larger than its column has room for"
    assert set(spaces) == {"nowrap"}, "a month stands on one line"
