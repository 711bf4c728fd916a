"""
Questions of three readers: the clicks, and the scrolling, after which their answer stands in view.

Somebody who pays for the system, with ten seconds: what became of it; how full was it; who used most of it;
what should be done? Who runs it, with a minute: which sizes wait longest; whose jobs fail; what became of the
core-hours of the largest user; what happened in a period, in a month? Who studies it: what are the exact
numbers?
"""

import re
from typing import Final, NamedTuple

import pytest
from playwright.sync_api import Page, expect

import gwa
from gwa.report.html import html
from tests.browser.conftest import visit
from tests.browser.test_explorer import months_log
from tests.conftest import LOGS


class Question(NamedTuple):
    """What is *asked*, what is clicked in turn, where the answer stands, and what there is of it."""

    asked: str
    clicks: tuple[str, ...]
    place: str
    answer: str


FIRST_USER: Final = '#explorer-lists [data-pick="user"] >> nth=0'

QUESTIONS: Final = (
    Question("What became of the machine?", (), "#lead-sentence", r"\d+ became finished work"),
    Question("How full was it?", (), "#lead-captions", r"\d+ % unused"),
    Question("Who used most of it?", (), FIRST_USER, r"\d %"),
    Question("What should be done?", (), ".do-next, .changed >> nth=0", r"\w"),
    Question("Which sizes wait longest?", (), ".waited", r"\d[\d.]* (s|min|h|d)"),
    Question("Whose jobs fail?", (), ".lost", r"[\d.]+"),
    Question("What became of the core-hours of the largest user?", (FIRST_USER,), "#lead-sentence", r"\d %"),
    Question("What happened in a period?", ("drag",), "#lead-sentence", r"\d{4}: "),
    Question("What happened in a month?", ("#lead-months button >> nth=1",), "#lead-sentence", r"\d{4}: "),
    Question(
        "What are the exact numbers of that user?",
        (FIRST_USER, '#explorer [data-save="csv"]'),
        ".chip",
        r"User: ",
    ),
)


def dragged(page: Page) -> None:
    """Drag over a third of the strip."""
    box = page.locator("#explorer-strip").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 80)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 80, steps=4)
    page.mouse.up()


def asked(page: Page, question: Question) -> str:
    """Click what a *question* takes; return what stands in its place."""
    for click in question.clicks:
        if click == "drag":
            dragged(page)
        else:
            page.locator(click).first.click()
    place = page.locator(question.place).first
    expect(place).to_be_visible()
    return place.inner_text()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Return the page of a sample."""
    path = tmp_path_factory.mktemp("questions") / "page.html"
    with gwa.open(months_log(path.parent)) as trace:
        report = trace.report(["overview", "utilization", "users", "waits", "outcomes"], explore=True)
    path.write_text(html(report), encoding="utf-8")
    return path


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.asked)
def test_a_question_is_answered_in_two_clicks_at_most(question, context, file):
    page, wrong = visit(context, file)
    expect(page.locator("#explorer")).to_be_visible()
    assert len(question.clicks) <= 2
    asked(page, question)
    place = page.locator(question.place).first
    place.scroll_into_view_if_needed()
    text = place.evaluate("one => one.textContent").replace("\u00a0", " ")
    assert re.search(question.answer, text), text
    assert not [one for one in wrong if not one.startswith(("data:", "blob:"))]


SECOND_USER: Final = '#explorer-lists [data-pick="user"] >> nth=1'


TASKS: Final = (
    Question("Who used it?", (), FIRST_USER, r"\d %"),
    Question("Which queue waits worst?", ("/Wait times",), "#waits-by-class .note", "waited longest in"),
    Question("Whose jobs fail?", (), ".lost", r"Whose jobs did not finish"),
    Question("When was it down?", ("/Utilization",), "#stretches table", "Outage"),
    Question(
        "What did a user hold in a time?",
        (FIRST_USER, "drag"),
        "#lead-sentence",
        r"held \d+ % of the ",
    ),
    Question("What of the last months?", (), "#lead-months li >> nth=-1", r"20\d\d-\d\d"),
    Question(
        "How is it cited?",
        ("/How this report was made", "#reproduction summary"),
        "#reproduction dl",
        "version",
    ),
    Question(
        "What was refused?",
        ("/Trace and data quality", "#data-quality summary"),
        "#data-quality dl",
        "Rows rejected",
    ),
    Question("What is to be done?", (), ".do-next, .changed >> nth=0", r"\w"),
    Question("What changed?", (), ".changed", "What changed"),
    Question("How do two compare?", (FIRST_USER, SECOND_USER), "#lead-sentence", "together held"),
)

OF_GPUS: Final = Question(
    "Whose GPUs are idle?", ('#explorer-by button:text-is("GPU-hours")',), ".lost, .still", "GPU"
)

SCREEN: Final = 900

BELOW: Final = f"one => Math.max(0, one.getBoundingClientRect().top + 40 - {SCREEN}) / {SCREEN}"
"""How many screens one must scroll until the first line of something is seen."""


def screens(page: Page, question: Question) -> float:
    """Click what a *question* takes; return how many screens are scrolled until its answer is seen."""
    scrolled = 0.0
    for place in (*question.clicks, question.place):
        if place == "drag":
            dragged(page)
            continue
        if place.startswith("/"):  # the field that finds names and sections
            page.keyboard.press("/")
            page.keyboard.type(place[1:])
            expect(page.locator("#explorer-hits [role=option]").first).to_be_visible()
            page.keyboard.press("Enter")
            continue
        found = page.locator(place).first
        scrolled += found.evaluate(BELOW)
        found.scroll_into_view_if_needed()
        if place in question.clicks:
            found.click()
    text = page.locator(question.place).first.evaluate("one => one.textContent").replace("\u00a0", " ")
    assert re.search(question.answer, text), text
    return scrolled


def check_tasks(context, path, tasks):
    """Assert that each of *tasks* takes two clicks and a screen of scrolling at most on a page."""
    for task in tasks:
        page, _ = visit(context, path)
        expect(page.locator("#explorer")).to_be_visible()
        assert len(task.clicks) <= 2
        assert screens(page, task) <= 1, task.asked
        page.close()


def test_what_an_operator_asks_stands_within_two_clicks_and_a_screen(context, slurm_sample, tmp_path):
    path = tmp_path / "sample.html"
    with gwa.open(slurm_sample) as trace:
        path.write_text(html(trace.report(explore=True)), encoding="utf-8")
    check_tasks(context, path, (*TASKS, OF_GPUS))


def test_a_page_is_short_and_its_tables_show_all_rows_on_request(context, slurm_sample, tmp_path):
    path = tmp_path / "sample.html"
    with gwa.open(slurm_sample) as trace:
        path.write_text(html(trace.report(explore=True)), encoding="utf-8")
    page, _ = visit(context, path)
    expect(page.locator("#explorer")).to_be_visible()
    page.set_viewport_size({"width": 1440, "height": SCREEN})
    assert page.evaluate("document.documentElement.scrollHeight") < 5.8 * SCREEN

    table = page.locator("[data-name='alerts-users']")
    rows, shown = table.locator("tbody tr"), table.locator("tbody tr:visible")
    assert rows.count() > 6
    expect(shown).to_have_count(5)
    button = table.get_by_role("button", name="All rows")
    button.click()
    expect(shown).to_have_count(rows.count())
    button.click()
    expect(shown).to_have_count(5)

    last = (rows.last.text_content() or "").split()[-1]
    page.locator(".contents input").fill(last)  # what is searched is seen where it stands
    expect(rows.last).to_be_visible()


@pytest.mark.skipif(not LOGS.exists(), reason="needs ../shared")
def test_so_it_does_of_a_large_machine(context, tmp_path):
    path = tmp_path / "curie.html"
    with gwa.open(LOGS / "swf" / "CEA-Curie-2011-2.1-cln.swf.gz") as trace:
        path.write_text(html(trace.report(explore=True)), encoding="utf-8")
    check_tasks(context, path, TASKS)
