"""The site of an archive, as a visitor uses it: served, from a folder, and without scripts."""

import csv
import hashlib
import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from urllib.parse import urlencode

import duckdb
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import expect

from gwa.archive.build import build
from gwa.archive.explore import QUESTIONS
from gwa.archive.overview import lines
from gwa.archive.public_traces import public_traces
from gwa.archive.server import server
from tests.browser.conftest import SIZES
from tests.conftest import HOME

PAGES = (
    "index.html", "ranking.html", "compare.html", "models.html", "formats.html", "leaderboard.html",
    "search.html?q=gnus", "about.html", "404.html", "traces/large/index.html", "traces/large/console.html",
    "explore.html", "traces/broken/index.html", "public.html", "public/kth-sp2.html", "search.html?q=waiting",
)  # fmt: skip


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve *folder* as `gwa site serve` does; yield its address."""
    with server(folder, 0) as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{found.server_port}/"
        finally:
            found.shutdown()
            thread.join()


@pytest.fixture(scope="session")
def address(public):
    with serving(public) as url:
        yield url


def watched(context, home):
    """Return a page, and a list that fills with errors and with requests that leave *home*."""
    page, wrong = context.new_page(), []
    page.on("console", lambda said: wrong.append(said.text) if said.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    own = (home, "data:", "blob:")
    page.on("request", lambda asked: None if asked.url.startswith(own) else wrong.append(asked.url))
    return page, wrong


@pytest.fixture
def site(context, address):
    """Return a page on the front page of the site, on which nothing may go wrong."""
    page, wrong = watched(context, address)
    page.goto(address)
    yield page
    assert not wrong


def expect_heads(heads, names):
    """Wait until the visible ones of *heads* begin with *names*, in this order: pages load after a click."""
    expect(heads.locator("visible=true")).to_have_text([re.compile(rf"^\s*{name}\b") for name in names])


def expect_titles(page, *names):
    """Wait until the front page shows the traces of *names* in the archive, from the top."""
    expect_heads(page.locator("#traces [data-group=here] th"), names)


def test_the_largest_trace_with_all_memory_is_found_by_a_word_and_a_click(site):
    site.get_by_label("Filter").fill("memory gnus")
    expect_titles(site)
    site.get_by_label("Filter").fill("memory co")
    site.get_by_role("button", name="Jobs").click()

    expect_titles(site, "Large", "Middle")
    expect(site.get_by_role("columnheader", name="Jobs")).to_have_attribute("aria-sort", "descending")


def test_a_column_sorts_both_ways_with_missing_values_last(site):
    site.get_by_role("button", name="Jobs").click()
    expect_titles(site, "Huge", "Large", "Middle", "Broken")
    site.get_by_role("button", name="Jobs").click()
    expect_titles(site, "Middle", "Large", "Huge", "Broken")
    site.get_by_role("button", name="Trace", exact=True).click()
    expect_titles(site, "Broken", "Huge", "Large", "Middle")


def test_traces_are_filtered_by_words(site):
    site.get_by_label("Filter").fill("LARGE cc0")
    expect_titles(site, "Large")
    site.get_by_label("Filter").fill("nothing at all")
    expect_titles(site)
    expect(site.locator("#shown")).to_have_text(f"0 of {4 + len(public_traces())} traces")


def expect_compared(page, *names):
    """Wait until the comparison shows the traces of *names*."""
    expect_heads(page.locator("[data-fact='trace.jobs'] th"), names)


def test_ticked_traces_are_compared_and_others_can_be_added_there(site):
    expect(site.get_by_role("button", name="Compare")).to_be_disabled()
    site.get_by_label("Compare Large").check()
    site.get_by_label("Compare Huge").check()
    site.get_by_role("button", name="Compare").click()
    expect(site.locator("#chosen")).to_have_text("2 of 3 traces are shown.")
    expect_compared(site, "Large", "Huge")
    values = site.locator("[data-fact='trace.jobs'] td[data-value]").locator("visible=true")
    expect(values).to_have_text(["60", "90"])
    site.get_by_label("Huge").uncheck()
    site.get_by_label("Middle").check()
    expect_compared(site, "Large", "Middle")
    site.reload()
    expect_compared(site, "Large", "Middle")


def differences(page):
    """Return what stands beside each fact of the comparison, and what is said to be furthest apart."""
    words = page.locator(".fact").evaluate_all(
        "all => all.map((one) => [one.dataset.fact, one.querySelector('.apart').textContent])"
    )
    return dict(words), page.locator("#furthest").inner_text()


def test_differences_are_marked_without_scripts_too_and_follow_what_is_ticked(site, browser, address):
    """They were marked on the pages of pairs alone."""
    plain = browser.new_context(java_script_enabled=False).new_page()
    plain.goto(f"{address}compare.html")
    site.goto(f"{address}compare.html")
    expect(site.locator("#chosen")).to_have_text("All 3 traces are shown.")
    words, furthest = differences(site)
    assert (words, furthest) == differences(plain)
    plain.context.close()
    assert (words["trace.jobs"], words["trace.users"]) == ("×2.25", "the same")
    assert words["jobs.memory.median"] == "×2"
    assert re.fullmatch(r"Furthest apart: (.+ ×[\d.,]+(, |\.)){1,3}", furthest)

    site.get_by_label("Large").check()
    site.get_by_label("Middle").check()
    expect(site.locator("[data-fact='trace.jobs'] .apart")).to_have_text("×1.5")
    widths = site.locator("[data-fact='trace.jobs'] tr:not([hidden]) rect").evaluate_all(
        "all => all.map((one) => Number(one.getAttribute('width')))"
    )
    assert widths == pytest.approx([100, 200 / 3])
    site.get_by_label("Middle").uncheck()
    expect(site.locator("#furthest")).to_have_text("")
    assert set(differences(site)[0].values()) == {""}


@pytest.mark.parametrize("name", ["index.html", "public.html", "traces/large/index.html"])
@pytest.mark.parametrize("media", ["screen", "print"])
def test_a_table_of_traces_is_never_cut_but_becomes_cards(site, address, name, media):
    """At 768 pixels it was scrolled, and on paper its last columns were missing."""
    site.goto(address + name)
    site.emulate_media(media=media)
    for width in (380, 768, 1000, 1190, 1280, 1440):
        site.set_viewport_size({"width": width, "height": 900})
        hidden = "all => all.map((one) => one.scrollWidth - one.clientWidth)"
        assert max(site.locator(".scroll").evaluate_all(hidden)) <= 0, width


def test_names_of_any_length_widen_no_page(site, address):
    for name in ("index.html", "compare.html", "ranking.html", "traces/large/index.html"):
        site.goto(address + name)
        site.evaluate(
            "for (const one of document.querySelectorAll('main bdi')) one.textContent = 'W'.repeat(90)"
        )
        for width in (380, 1280):
            site.set_viewport_size({"width": width, "height": 900})
            assert site.evaluate("document.documentElement.scrollWidth") <= width, name
            tables = site.locator(".scroll").evaluate_all(
                "all => all.map((one) => one.scrollWidth - one.clientWidth)"
            )
            assert max(tables, default=0) <= 0, name


def test_a_trace_is_compared_with_a_second_in_three_clicks(site):
    site.get_by_role("region", name="Traces").get_by_role("link", name="Large &").click()
    site.get_by_role("link", name="Compare").last.click()
    site.get_by_label("Middle").check()

    expect_compared(site, "Large", "Middle")


def test_the_search_finds_all_pages_that_have_the_words(site, address):
    site.get_by_role("searchbox", name="Search the archive").fill("gnus inventions")
    site.keyboard.press("Enter")
    expect(site.locator("#found")).to_have_text("4 found.")
    expect(site.locator("#results a", has_text="Large & <u>co</u>")).to_have_count(1)
    site.get_by_role("link", name="Large").click()
    expect(site.get_by_role("heading", level=1)).to_have_text("Large & <u>co</u>")
    site.goto(f"{address}search.html?q=<img%20src=x%20onerror=alert(1)>")
    expect(site.locator("#found")).to_have_text("Nothing has all of these words.")


def test_the_search_finds_sections_of_reports_by_words_of_any_form_and_by_keys(site):
    site.keyboard.press("/")
    site.keyboard.type("waiting large")
    site.keyboard.press("Enter")
    found = site.locator("#results a", has_text="Waiting times: Large")
    expect(found).to_have_count(1)
    site.keyboard.press("/")
    site.keyboard.press("ArrowDown")
    expect(site.locator("#results a").first).to_be_focused()
    found.click()
    assert site.url.endswith("traces/large/report.html#waits")
    expect(site.locator("#waits")).to_be_in_viewport()


def test_a_trace_to_fetch_has_a_page_with_its_command_and_citation(site):
    site.get_by_text("More", exact=True).click()
    site.get_by_role("link", name="Public traces").first.click()
    expect(site.get_by_role("heading", level=1)).to_have_text("Public traces")
    site.get_by_role("row").filter(has_text="gwa fetch kth-sp2").get_by_role("link").click()
    expect(site.locator("#get ~ pre").first).to_contain_text("gwa fetch kth")
    with site.expect_download() as got:
        site.get_by_role("link", name="BibTeX").click()
    assert Path(got.value.path()).read_text().startswith("@")


def test_the_public_list_is_filtered_by_what_jobs_record(site, address):
    site.goto(f"{address}public.html")
    rows = site.locator("tbody tr").locator("visible=true")
    field, told = site.get_by_label("Filter"), site.get_by_role("status")
    expect(told).to_have_text(f"{len(public_traces())} of {len(public_traces())}")
    field.fill("gpus")
    wanted = [one for one in public_traces().values() if one.facts and "GPUs" in one.facts.records]
    for one in wanted:
        expect(rows.filter(has_text=one.title).first).to_be_visible()
    assert len(wanted) <= rows.count() < len(public_traces()) / 2
    site.get_by_role("button", name="Jobs").click()
    field.fill("no such thing")
    expect(told).to_have_text(f"0 of {len(public_traces())}")


def test_the_ranking_answers_first_and_draws_its_values(site, address):
    """It was ten tables with a reason in each row."""
    site.goto(f"{address}ranking.html")
    leaders = site.locator(".leaders")
    expect(leaders).to_be_in_viewport()
    expect(leaders.locator("div", has_text="Size")).to_contain_text("Huge & <u>co</u> 90")
    leaders.get_by_role("link", name="Size").click()
    bars = site.get_by_role("table", name="Size").locator("rect")
    widths = bars.evaluate_all("all => all.map((one) => one.getBoundingClientRect().width)")
    assert [round(width / widths[0] * 90) for width in widths] == [90, 60, 40]
    fold = site.locator("section", has=site.locator("#size")).locator("details")
    fold.locator("summary").press("Enter")
    expect(fold).to_contain_text("jobs in the trace")


def test_the_leaderboard_names_the_best_and_says_what_its_shades_mean(site, address):
    site.goto(f"{address}leaderboard.html")
    expect(site.get_by_text("the stronger the colour, the better")).to_be_visible()


def test_the_figures_of_a_trace_are_seen(site):
    site.get_by_role("region", name="Traces").get_by_role("link", name="Large &").click()
    pictures = site.locator(".figures img")
    expect(pictures.first).to_be_visible()
    # Each is waited for: a page is there before its pictures are.
    pictures.evaluate_all("all => Promise.all(all.map((one) => one.decode()))")
    assert pictures.evaluate_all("all => all.every((one) => one.naturalWidth > 0 && one.alt)")
    for width in (380, 768, 1280, 1440):
        site.set_viewport_size({"width": width, "height": 900})
        scales = pictures.evaluate_all("all => all.map((one) => one.width / one.naturalWidth)")
        letters = [
            float(size)
            for file in pictures.evaluate_all("all => all.map((one) => one.src)")
            for size in re.findall(
                r"^text { font-size: ([\d.]+)px !important", site.request.get(file).text(), re.MULTILINE
            )
        ]
        assert len(letters) == len(scales) in {1, 2, 4, 6}, "none is alone"
        assert min(map(float.__mul__, scales, letters)) >= 11
    apart = site.context.browser.new_page()
    cut = """() => {
        const whole = document.querySelector("svg").viewBox.baseVal;
        return [...document.querySelectorAll("text")].filter((one) => one.getBBox().x < whole.x)
            .map((one) => one.textContent);
    }"""
    for file in pictures.evaluate_all("all => all.map((one) => one.src)"):
        apart.set_content(site.request.get(file).text())
        assert apart.evaluate(cut) == [], file
    apart.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_pictures_of_answers_can_be_read_in_either_theme(site, address, theme):
    """In the dark their letters were dark."""
    site.emulate_media(color_scheme=theme)
    site.goto(f"{address}traces/large/index.html")
    pictures = site.locator(".spark img")
    pictures.evaluate_all("all => Promise.all(all.map((one) => one.decode()))")
    assert pictures.count() >= 2
    paper = {"light": 255, "dark": 24}[theme]
    contrasts = []
    for picture in pictures.all():
        grey = Image.open(BytesIO(picture.screenshot())).convert("L").tobytes()
        contrasts.append(max(abs(min(grey) - paper), abs(max(grey) - paper)))
    assert min(contrasts) > 90
    for width in (380, 768, 1280, 1440):
        site.set_viewport_size({"width": width, "height": 900})
        scales = pictures.evaluate_all("all => all.map((one) => one.width / one.naturalWidth)")
        assert min(scales) * 10 >= 11, "their letters are 10 pixels high"


def test_what_is_folded_of_an_answer_is_printed(site, address):
    site.goto(f"{address}traces/large/index.html")
    folded = "<details><summary>More</summary><bdi>The rest.</bdi></details>"
    site.locator(".sentence").first.evaluate(
        "(one, text) => one.insertAdjacentHTML('beforeend', text)", folded
    )
    expect(site.get_by_text("The rest.")).to_be_hidden()
    site.emulate_media(media="print")
    expect(site.get_by_text("The rest.")).to_be_visible()
    expect(site.locator(".sentence summary").first).to_be_hidden()


def test_the_theme_is_kept_from_page_to_page(site):
    light, dark = "rgb(255, 255, 255)", "rgb(20, 24, 29)"
    paper = site.locator("body")
    expect(paper).to_have_css("background-color", light)
    site.get_by_role("button", name="Dark").click()
    expect(paper).to_have_css("background-color", dark)
    site.get_by_role("link", name="Ranking").click()

    expect(site.get_by_role("heading", level=1)).to_have_text("Ranking")
    expect(paper).to_have_css("background-color", dark)
    expect(site.get_by_role("button", name="Light")).to_be_visible()


def test_downloads_match_their_hashes_and_citations_come_as_files(site):
    site.get_by_role("region", name="Traces").get_by_role("link", name="Large &").click()
    rows = site.locator('table:has-text("SHA-256") tbody tr')
    expect(rows).to_have_count(1)
    for row in rows.all():
        with site.expect_download() as got:
            row.get_by_role("link").click()
        content = Path(got.value.path()).read_bytes()
        assert hashlib.sha256(content).hexdigest() == row.locator("code").inner_text()
    with site.expect_download() as got:
        site.get_by_role("link", name="BibTeX").click()
    assert got.value.suggested_filename == "large.bib"
    assert Path(got.value.path()).read_text().startswith("@misc{large,")


def test_a_report_and_a_comparison_lead_back_to_the_archive(site):
    site.get_by_role("region", name="Traces").get_by_role("link", name="Large &").click()
    site.get_by_role("link", name="Full report").click()
    site.get_by_role("navigation", name="Up").get_by_role("link", name="Large").click()
    site.get_by_role("link", name="with Middle").click()
    expect(site.get_by_role("navigation", name="Up").get_by_role("link")).to_have_count(4)
    site.get_by_role("navigation", name="Up").get_by_role("link", name="Archive").click()

    expect(site.get_by_role("heading", level=1)).to_have_text("What do real clusters do?")


def dot(page, name):
    """Return the dot of a trace on the map that the window shows."""
    return page.locator(f".map a[data-trace='{name}']").locator("visible=true")


def test_the_map_names_what_is_pointed_at_and_a_click_opens_its_card_which_the_address_keeps(site):
    dot(site, "fetch.cea-curie").locator("circle").hover()
    expect(site.locator("#hovered")).to_have_text(
        "CEA Curie: 2012, 93,312 processors, 312,826 jobs, 356.7 M core-hours, 63.5 % busy"
    )
    dot(site, "fetch.cea-curie").locator("circle").click()
    card = site.get_by_role("article", name="CEA Curie")
    expect(card.get_by_text("gwa fetch cea-curie --to traces --convert")).to_be_visible()
    expect(card.get_by_role("heading")).to_be_focused()
    card.get_by_text("Where the figures are from").click()
    expect(card.get_by_text("computed by gwa from CEA-Curie-2011-2.1-cln.swf.gz")).to_be_visible()
    card.get_by_text("Cite", exact=True).click()
    expect(card.get_by_text("10.1016/j.jpdc.2014.06.013")).to_be_visible()
    assert "trace=fetch.cea-curie" in site.url
    site.reload()
    expect(card).to_be_visible()
    site.keyboard.press("Escape")
    expect(card).to_be_hidden()
    assert "trace=" not in site.url


def test_a_trace_without_dates_stands_over_words_that_say_so(site):
    """A real one stood beyond the last year, as if it were of the future."""
    words = site.locator(".map-800 .undated text")
    expect(dot(site, "fetch.m100")).to_be_visible()
    expect(words).to_be_visible()
    box, below = dot(site, "fetch.m100").locator("circle").bounding_box(), words.bounding_box()
    assert below["x"] < box["x"] < below["x"] + below["width"]
    site.get_by_label("Filter").fill("kth")
    expect(words).to_be_hidden()


def test_the_map_is_skipped_by_the_keyboard(site):
    site.locator("#filter").focus()
    site.keyboard.press("Tab")
    expect(site.get_by_role("link", name="Skip the map")).to_be_focused()
    site.keyboard.press("Enter")
    site.keyboard.press("Tab")
    assert site.evaluate("document.activeElement.closest('#traces') !== null")


def test_the_busiest_traces_stand_out_in_the_dark_too(site):
    """The darkest of the shades stood on a dark page."""
    site.emulate_media(color_scheme="dark")
    light = [
        sum(map(int, re.findall(r"\d+", color)[:3]))
        for color in site.locator(".key").evaluate_all(
            "all => all.map((one) => getComputedStyle(one, '::before').color)"
        )
    ]
    low, half, high, _ = light
    assert low < half < high
    assert high > 3 * 180


def test_a_card_is_opened_and_closed_by_the_keyboard_alone(site):
    dot(site, "fetch.kth-sp2").focus()
    expect(site.locator("#hovered")).to_contain_text("Royal Institute of Technology")
    site.keyboard.press("Enter")
    card = site.get_by_role("article", name="Royal Institute")
    expect(card).to_be_visible()
    card.get_by_role("button", name="Close").press("Enter")
    expect(card).to_be_hidden()
    expect(dot(site, "fetch.kth-sp2")).to_be_focused()


@pytest.mark.parametrize(("wish", "name"), [("Study GPUs", "gpus"), ("Compare my cluster", "compare")])
def test_a_purpose_filters_table_and_map_alike_and_stands_in_the_address(site, wish, name):
    suited = {line.place for line in lines((), tuple(public_traces().values())) if name in line.purposes}
    site.get_by_label(wish).check(force=True)
    rows = site.locator("#traces [data-group=fetch] tr[data-trace]").locator("visible=true")
    expect(rows).to_have_count(len(suited))
    assert {row.get_attribute("data-trace") for row in rows.all()} == suited
    left = site.locator(".map-800 a[data-kind=fetch]:not(.gone)")
    assert {one.get_attribute("data-trace") for one in left.all()} <= suited
    assert f"for={name}" in site.url
    site.goto(site.url)
    expect(rows).to_have_count(len(suited))
    expect(site.get_by_label(wish)).to_be_checked()


def test_what_is_not_known_of_a_public_trace_is_written_as_unknown(site):
    row = site.locator("tr[data-trace='fetch.intel-netbatch-a']")
    expect(row.locator(".unknown")).to_have_text(["unknown"] * 3)
    expect(dot(site, "fetch.intel-netbatch-a")).to_have_count(0)


@pytest.mark.parametrize("width", [1280, 1440])
def test_the_navigation_stands_in_one_row(site, width):
    site.set_viewport_size({"width": width, "height": 900})
    tops = site.locator(".top nav > ul > li, .find input, .theme").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect()).map((box) => (box.top + box.bottom) / 2)"
    )
    assert max(tops) - min(tops) < 12


@pytest.mark.parametrize("name", ["index.html", "explore.html", "compare.html", "traces/large/console.html"])
def test_no_page_is_wider_than_its_window_and_no_letter_too_small(site, address, name):
    for width in (380, 768, 1280, 1440):
        site.set_viewport_size({"width": width, "height": 900})
        site.goto(address + name)
        site.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
        assert site.evaluate("document.documentElement.scrollWidth") <= width
        small = site.evaluate(SMALL_LETTERS)
        assert small == []


SMALL_LETTERS = """() => [...document.querySelectorAll("body *")].filter((one) =>
  [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())
  && one.getClientRects().length && parseFloat(getComputedStyle(one).fontSize)
    * (one.ownerSVGElement ? one.getScreenCTM().a : 1) < 11).map((one) => one.outerHTML.slice(0, 100))"""


@pytest.fixture
def engine(public):
    """Return where DuckDB for browsers stands, or skip."""
    if not (public / "console").is_dir():
        pytest.skip("DuckDB for browsers is not here: gwa site console site fetches it")
    return public / "console"


@pytest.fixture
def console(site, address, engine):
    """Return the console of a trace, ready."""
    assert (engine / "duckdb-eh.wasm").stat().st_size > 1e6
    site.set_default_timeout(30_000)
    site.goto(f"{address}traces/large/console.html")
    expect(site.locator("#status")).to_have_text("Ready.", timeout=30_000)
    return site


def ask(page, query):
    """Run *query*; return the lines of the table that comes."""
    page.get_by_label("Query").fill(query)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#status")).to_contain_text(re.compile(r"\d rows? in"), timeout=30_000)
    return [row.split("\t") for row in page.locator("#result tbody tr").all_inner_texts()]


def test_a_query_is_answered_drawn_and_saved(console, tmp_path):
    rows = ask(console, "select user_id, count(*) as jobs from jobs group by 1 order by 2 desc, 1 limit 3")
    with console.expect_download() as got:
        console.get_by_role("button", name="CSV").click()
    got.value.save_as(tmp_path / "result.csv")

    assert rows == [["U2", "9"], ["U3", "9"], ["U4", "9"]]
    assert console.locator("#plot rect").count() == 3
    assert list(csv.reader((tmp_path / "result.csv").read_text().splitlines()))[1:] == rows


def test_a_wrong_query_is_told_and_the_next_one_runs(console):
    console.get_by_label("Query").fill("select nothing from nowhere")
    console.get_by_role("button", name="Run", exact=True).click()
    expect(console.locator("#status")).to_contain_text("That failed: Catalog Error")

    assert ask(console, "select count(*) from jobs") == [["60"]]


def test_formulas_do_not_come_out_of_the_console(console, tmp_path):
    ask(console, "select '=cmd|x' as a, 'b,\"c' as b")
    with console.expect_download() as got:
        console.get_by_role("button", name="CSV").click()
    got.value.save_as(tmp_path / "result.csv")

    assert list(csv.reader((tmp_path / "result.csv").read_text().splitlines())) == [
        ["a", "b"],
        ["'=cmd|x", 'b,"c'],
    ]


def test_an_error_takes_the_place_of_the_old_result(console):
    ask(console, "select n_procs, count(*) as jobs from jobs group by all union all select 99, 3")
    expect(console.locator("#plot .axis")).to_have_text(["jobs", "n_procs"])
    console.get_by_label("Query").fill("select nothing from nowhere")
    console.get_by_label("Query").press("Control+Enter")

    expect(console.locator("#failure")).to_contain_text("Catalog Error")
    expect(console.locator("#result tr")).to_have_count(0)
    expect(console.locator("#plot svg")).to_have_count(0)
    expect(console.get_by_role("button", name="CSV")).to_be_disabled()


def test_a_link_carries_the_query(console, context):
    ask(console, "select 40 + 2 as answer")
    console.get_by_role("button", name="Copy link").click()
    expect(console.locator("#status")).to_contain_text("copied")
    other = context.new_page()
    other.goto(console.evaluate("navigator.clipboard.readText()"))

    expect(other.get_by_label("Query")).to_have_value("select 40 + 2 as answer")
    expect(other.locator("#result tbody td")).to_have_text(["42"], timeout=30_000)


def test_a_click_inserts_a_column_and_results_are_saved_as_json(console):
    console.get_by_label("Query").fill("")
    console.get_by_role("button", name="n_procs", exact=True).click()
    expect(console.get_by_label("Query")).to_have_value("n_procs")
    ask(console, "select 1 as one, 'a' as two, null as three")
    with console.expect_download() as got:
        console.get_by_role("button", name="JSON").click()

    assert json.loads(Path(got.value.path()).read_text()) == [{"one": 1, "two": "a", "three": None}]


def test_times_are_shown_as_times_and_numbers_with_their_point(console):
    query = """select min(submit_time) as submit_time, make_timestamp(1500000) as moment,
        date '2009-02-03' as day, to_timestamp(60) as unzoned, time '10:20:30' as clock,
        1.5::decimal(10, 2) as fixed, 1 / 3 as third from jobs"""
    rows = ask(console, query)
    with console.expect_download() as got:
        console.get_by_role("button", name="CSV").click()
    saved = list(csv.reader(Path(got.value.path()).read_text().splitlines()))[1]

    assert rows == [["2001-09-09 01:47:40", "1970-01-01 00:00:01.500", "2009-02-03", "1970-01-01 00:01:00",
        "10:20:30", "1.5", "0.333333"]]  # fmt: skip
    assert (saved[0], saved[6]) == ("1000000060", "0.3333333333333333")


@pytest.mark.parametrize(
    "query",
    [
        "select '{}'::json",
        "install icu; load icu",
        "select date_trunc('month', timestamptz '2001-01-01 00:00:00+00')",
        "select * from 'https://example.org/some.parquet'",
        "select * from read_csv('https://example.org/some.csv')",
        "attach 'https://example.org/some.duckdb' as other",
    ],
)
@pytest.mark.usefixtures("engine")
def test_what_needs_another_host_is_an_error_in_its_place_and_asks_none(context, address, query):
    page, wrong = watched(context, address)
    page.goto(f"{address}traces/large/console.html")
    expect(page.locator("#status")).to_have_text("Ready.", timeout=30_000)
    page.get_by_label("Query").fill(query)
    page.get_by_label("Query").press("Control+Enter")

    expect(page.locator("#failure")).to_be_visible(timeout=30_000)
    expect(page.locator("#status")).to_contain_text("That failed:")
    assert not [one for one in wrong if one.startswith("http")]


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("title", [title for title, query in QUESTIONS])
def test_explore_answers_a_ready_question_as_duckdb_does(site, address, public, title):
    query = dict(QUESTIONS)[title]
    with duckdb.connect(str(public / "explore.duckdb"), read_only=True) as own:
        wanted = own.execute(query).fetchall()
        names = [column[0] for column in own.description]
    site.goto(f"{address}explore.html")
    expect(site.locator("#status")).to_contain_text("rows in", timeout=30_000)
    site.get_by_role("button", name=title).click()
    expect(site.locator("#result thead th")).to_have_text(names)
    expect(site.locator("#result tbody tr")).to_have_count(len(wanted))
    shown = site.locator("#result tbody tr").evaluate_all(
        "all => all.map((row) => [...row.cells].map((cell) => cell.title || cell.textContent))"
    )

    assert [len(row) for row in shown] == [len(row) for row in wanted]
    assert [row[:-1] for row in shown] == [[str(one) for one in row[:-1]] for row in wanted]
    assert [float(row[-1]) for row in shown] == pytest.approx([float(row[-1]) for row in wanted], rel=1e-12)
    assert site.locator("#plot rect").count() == (len(wanted) if any(row[-1] for row in wanted) else 0)
    expect(site.get_by_role("button", name=title)).to_have_attribute("aria-pressed", "true")


@pytest.mark.usefixtures("engine")
def test_an_address_carries_the_question_to_explore(site, address):
    query = "select trace, sum(jobs) as jobs from jobs group by all order by jobs desc"
    site.goto(f"{address}explore.html#{urlencode({'q': query})}")
    expect(site.locator("#result tbody td")).to_have_text(["huge", "90", "large", "60", "middle", "40"])
    site.goto(f"{address}index.html")
    site.get_by_role("link", name="Core-hours by outcome").click()
    expect(site.locator("#result thead th").last).to_have_text("share_of_core_hours")


@pytest.mark.usefixtures("engine")
def test_a_trace_that_is_published_as_a_store_is_asked_there(site, address):
    asked = []
    site.on("request", lambda one: asked.append(one.url))
    site.goto(f"{address}traces/middle/console.html")
    expect(site.locator("#status")).to_have_text("Ready.", timeout=30_000)

    assert ask(site, "select count(*), max(user_id) from jobs") == [["40", "U7"]]
    assert [one for one in asked if one.endswith("middle.duckdb")]
    assert not [one for one in asked if one.endswith(".parquet")]


def test_times_are_grouped_without_time_zones_and_their_axis_shows_clocks(console):
    """What to_timestamp gave had a zone, of which every function needs ICU."""
    rows = ask(
        console,
        "select date_trunc('hour', to_timestamp(submit_time)) as hour,"
        " strftime(to_timestamp(0), '%Y') as year, count(*) as jobs from jobs group by all order by all",
    )
    assert rows == [["2001-09-09 01:00:00", "1970", "13"], ["2001-09-09 02:00:00", "1970", "47"]]
    ask(console, "select to_timestamp(submit_time) as moment, run_time from jobs order by all limit 4")
    expect(console.locator("#plot .axis").last).to_have_text("moment, 2001-09-09")
    expect(console.locator("#plot text", has_text="01:47:40")).to_have_count(1)


def test_what_an_extension_is_for_is_said_in_its_place_with_what_to_do(console):
    console.get_by_label("Query").fill("select json_extract('{}', '$.a')")
    console.get_by_label("Query").press("Control+Enter")

    told = console.locator("#failure")
    expect(told).to_contain_text("json_extract needs DuckDB's json extension, which this site does not have")
    expect(told).to_contain_text("gwa sql large.parquet")
    expect(told).not_to_contain_text("INSTALL")


def test_counts_of_rows_and_moments_are_written_as_such(console):
    ask(console, "select min(submit_time), max(submit_time) from jobs")
    expect(console.locator("#status")).to_contain_text("1 row in")
    expect(console.locator("#result tbody td")).to_have_text(["2001-09-09 01:47:40", "2001-09-09 02:46:40"])
    ask(console, "select 'a' as name, count(*) as jobs from jobs group by all")
    expect(console.locator("#result thead th").last).to_have_class("number")


def test_bars_say_of_how_many_rows_they_are(console):
    """Of 248 days the first 120 were drawn, and nothing said so."""
    ask(console, "select range as number, 1 as one from range(248)")
    expect(console.locator("#plot rect")).to_have_count(248)
    expect(console.locator("#plot .axis").last).to_have_text("number")
    ask(console, "select range as number, 1 as one from range(1700)")
    expect(console.locator("#plot .axis").last).to_have_text("number, the first 400 of 1,700")


@pytest.mark.usefixtures("engine")
def test_explore_names_a_command_that_reads_its_file(site, address):
    """What it named, gwa sql, reads traces, not the cells of all of them."""
    query = urlencode({"q": "select json_extract('{}', '$.a')"})
    site.goto(f"{address}explore.html#{query}")
    told = site.locator("#failure")
    expect(told).to_contain_text("ask it on your machine: duckdb explore.duckdb", timeout=30_000)
    expect(told).not_to_contain_text("gwa sql")


def test_the_header_of_a_trace_stands_beside_its_jobs(console):
    lines = ask(console, "select key, value from header order by position")

    assert ["Archive", "Archive <b>"] in lines
    assert ["MaxProcs", "16"] in lines


def test_the_file_of_a_trace_cannot_be_changed(console):
    console.get_by_label("Query").fill("delete from jobs")
    console.get_by_role("button", name="Run", exact=True).click()

    expect(console.locator("#status")).to_contain_text("That failed:")
    assert ask(console, "select count(*) from jobs") == [["60"]]


@pytest.mark.parametrize(
    ("status", "body", "said"), [(404, b"", "404"), (200, b"\x00" * 20_000, "cannot start")]
)
@pytest.mark.usefixtures("engine")
def test_a_file_that_is_missing_or_broken_is_told(context, address, status, body, said):
    page, _ = watched(context, address)
    page.route("**/large.parquet", lambda route: route.fulfill(status=status, body=body))
    page.goto(f"{address}traces/large/console.html")

    expect(page.locator("#status")).to_contain_text(said, timeout=30_000)
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()


def test_without_scripts_everything_but_the_console_is_there(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    expect(page.locator("#traces tbody th").locator("visible=true")).to_have_count(4 + len(public_traces()))
    expect(page.locator("#wish")).to_be_hidden()
    page.get_by_role("link", name="Compare", exact=True).click()
    expect_compared(page, "Large", "Middle", "Huge")
    expect(page.locator("#choose")).to_be_hidden()
    page.goto(f"{address}traces/large/index.html")
    with page.expect_download() as got:
        page.get_by_role("link", name="large.parquet").click()
    assert Path(got.value.path()).read_bytes()[:4] == b"PAR1"
    context.close()


def test_the_site_works_from_a_folder_but_for_the_console_which_says_so(context, public):
    home = public.as_uri()
    page, wrong = watched(context, home)
    page.goto(f"{home}/index.html")
    page.get_by_label("Compare Large").check()
    page.get_by_role("button", name="Compare").click()
    expect_compared(page, "Large")
    page.get_by_role("searchbox").fill("gnus")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Middle").click()
    page.get_by_role("link", name="Query with SQL").click()
    if (public / "console").is_dir():
        expect(page.locator("#status")).to_contain_text("The console needs a server")
    assert not wrong


@pytest.mark.parametrize("name", PAGES)
def test_everybody_can_use_every_page(site, address, name):
    site.goto(address + name)
    site.wait_for_load_state()
    site.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
    for size, theme in (("wide", "light"), ("narrow", "dark")):
        width, height = SIZES[size]
        site.set_viewport_size({"width": width, "height": height})
        site.emulate_media(color_scheme=theme)
        assert site.evaluate("document.documentElement.scrollWidth") <= width
        assert not [
            (rule["id"], node["html"][:200], node["failureSummary"])
            for rule in Axe().run(site).response["violations"]
            for node in rule["nodes"]
        ]


MILLION = """
[archive]
title = "Large"
[[trace]]
id = "million"
title = "Million"
system = "s"
provider = "p"
licence = "CC0-1.0"
citation = "c"
preset = "thesis-das2"
jobs = 1000000
formats = ["duckdb"]
"""


@pytest.mark.slow
def test_a_trace_of_a_million_jobs_is_asked_at_once_by_less_than_half_of_its_file(context, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "archive.toml").write_text(MILLION)
    modules = HOME / "site" / "node_modules"
    if not modules.is_dir():
        pytest.skip("DuckDB for browsers is not here: gwa site console site fetches it")
    (tmp_path / "site" / "node_modules").symlink_to(modules)
    assert build(tmp_path / "site", tmp_path / "public").problems == ()
    (file,) = (tmp_path / "public" / "traces" / "million").glob("*.duckdb")
    with serving(tmp_path / "public") as address:
        page, wrong = watched(context, address)
        fetched = []
        page.context.on("response", lambda got: fetched.append(got) if got.url.endswith(".duckdb") else None)
        page.goto(f"{address}traces/million/console.html")
        expect(page.locator("#status")).to_have_text("Ready.", timeout=60_000)
        rows = ask(page, "select user_id, count(*) as jobs from jobs group by user_id order by jobs desc")
        said = page.locator("#status").inner_text()
        sizes = [int(got.headers["content-length"]) for got in fetched if got.request.method == "GET"]
    sys.stdout.write(
        f"{said} fetched {sum(sizes):,} of {file.stat().st_size:,} bytes in {len(sizes)} requests\n"
    )

    assert sum(int(jobs) for _, jobs in rows) == 1_000_000
    assert sizes
    assert {got.status for got in fetched if got.request.method == "GET"} == {206}
    assert sum(sizes) < file.stat().st_size / 2
    assert not wrong
