"""What a reader clicks on a page does what it says."""

import csv
import json
import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect

from tests.made_report import HOSTILE, make_report


@pytest.fixture(scope="module")
def made():
    """Return the figures of the made-up report."""
    return list(make_report().figures())


def users(page):
    """Return the table of users on *page*, which is opened if it is folded."""
    page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
    return page.locator('.table[data-name="users.by_jobs"]')


def column(block, number):
    """Return the texts of a column of a table, from the top."""
    return block.locator(f"tbody tr > :nth-child({number})").all_inner_texts()


def test_a_click_in_the_contents_leads_to_the_chapter_and_marks_it(page):
    link = page.get_by_role("navigation").get_by_role("link", name="People")
    link.click()

    expect(page.locator("#chapter-people-title")).to_be_in_viewport()
    expect(link).to_have_attribute("aria-current", "true")
    assert page.locator(".contents [aria-current]").count() == 1


def test_the_contents_follow_as_the_page_scrolls(page):
    page.locator("#arrivals").evaluate("section => section.scrollIntoView()")

    expect(page.locator(".contents [aria-current]")).to_have_text("Load")
    page.keyboard.press("End")
    expect(page.locator(".contents [aria-current]")).to_have_text("How this report was made")


def test_what_is_folded_opens_by_keyboard_and_by_an_address_within_it(page):
    rest = page.locator("#users details.rest")
    rest.locator("summary").press("Enter")
    expect(rest).to_have_attribute("open", "")
    expect(page.locator("#users")).to_have_class(re.compile(r"\bopen\b"))
    rest.locator("summary").press("Enter")
    expect(rest).not_to_have_attribute("open", "")
    inside = rest.locator("[id]").first.get_attribute("id")
    page.evaluate("id => { location.hash = id; }", inside)
    expect(rest).to_have_attribute("open", "")


@pytest.mark.parametrize("end", ["%", "%E0%A4%A", "users%"])
def test_an_address_whose_end_is_no_encoded_text_leads_to_the_page(page, end):
    address = page.url
    page.goto("about:blank")
    page.goto(f"{address}#{end}")
    rest = page.locator("#users details.rest")
    inside = rest.locator("[id]").first.get_attribute("id")
    page.evaluate("id => { location.hash = id; }", inside)
    expect(rest).to_have_attribute("open", "")


def test_a_chapter_that_is_folded_opens_from_the_contents(page):
    folded = page.locator("main details.folded").first
    expect(folded).not_to_have_attribute("open", "")
    page.locator(".contents a", has_text="For modellers").click()
    expect(folded).to_have_attribute("open", "")


def test_all_details_are_opened_and_closed_at_once(page):
    folded = page.locator("main details.rest:not([open])")
    count = folded.count()
    assert count > 1
    button = page.get_by_role("button", name="Open all details")
    button.click()
    expect(folded).to_have_count(0)
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    expect(folded).to_have_count(count)


def test_a_figure_is_saved_as_svg_with_colours_of_its_own_and_as_png(page, tmp_path):
    figure = page.locator("figure:visible").first
    for kind, begin in (("svg", b"<svg"), ("png", b"\x89PNG")):
        with page.expect_download() as saved:
            figure.locator(f"[data-save={kind}]").click()
        saved.value.save_as(tmp_path / kind)
        content = (tmp_path / kind).read_bytes()
        assert content.startswith(begin)
        assert saved.value.suggested_filename.endswith(f".{kind}")
    assert b"var(--" not in (tmp_path / "svg").read_bytes()


def test_what_is_searched_is_left_and_what_is_not_found_is_said(page):
    box = page.get_by_role("searchbox")
    box.fill("BYTE FOR BYTE")

    expect(page.locator("main > .chapter:visible")).to_have_count(1)
    expect(page.get_by_role("navigation").get_by_role("link")).to_have_text("How this report was made")
    box.fill("no such word anywhere")
    expect(page.locator(".found")).to_have_text("No section has it.")
    box.fill("")
    expect(page.locator("main > .chapter:visible")).to_have_count(page.locator("main > .chapter").count())
    expect(page.locator(".found")).to_be_empty()


def test_a_slash_leads_to_the_search_and_is_a_letter_in_it(page):
    box = page.get_by_role("searchbox")
    page.keyboard.press("/")
    expect(box).to_be_focused()
    page.keyboard.type("a/b")
    expect(box).to_have_value("a/b")


def test_what_is_found_is_counted_marked_and_unfolded(page):
    folded = page.locator("main details.rest:not(.section-body)").filter(has=page.locator(".more")).first
    sentence = folded.locator(".more").first.inner_text() or folded.locator(".more").first.text_content()
    words = " ".join(sentence.split()[:4])
    assert folded.get_attribute("open") is None
    page.get_by_role("searchbox").fill(words)

    shown = page.locator("main .section:visible").count()
    expect(page.locator(".found")).to_have_text(f"In {shown} sections")
    expect(folded).to_have_attribute("open", "")
    assert page.evaluate("[...CSS.highlights.get('found')].map(String)")[0].lower() == words.lower()
    page.get_by_role("searchbox").fill("")
    assert page.evaluate("CSS.highlights.get('found').size") == 0


def test_a_column_of_numbers_sorts_down_first_then_up_with_missing_ones_last(page):
    block = users(page)
    head = block.get_by_role("columnheader", name="Mean memory")
    head.get_by_role("button").click()

    expect(head).to_have_attribute("aria-sort", "descending")
    missing = [text == "–" or not text.strip() or text == "—" for text in column(block, 7)]
    assert missing == sorted(missing)
    jobs = block.get_by_role("columnheader", name="Jobs", exact=True)
    jobs.get_by_role("button").click()
    falling = [int(text.replace(",", "")) for text in column(block, 2)]
    jobs.get_by_role("button").click()
    rising = [int(text.replace(",", "")) for text in column(block, 2)]

    assert falling == sorted(falling, reverse=True)
    assert rising == falling[::-1]
    expect(head).not_to_have_attribute("aria-sort", re.compile("."))


def test_a_table_is_copied_with_all_digits_and_without_formulas(page):
    button = users(page).locator("[data-export=copy]")
    button.click()

    expect(button).to_have_text("Copied")
    lines = [line.split("\t") for line in page.evaluate("navigator.clipboard.readText()").split("\n")]
    assert lines[0][:3] == ["user", "jobs", "share"]
    assert lines[3][0] == f"'{HOSTILE[2]}"
    assert float(lines[3][2]) == 0.31 / 3
    expect(button).to_have_text("Copy")


def test_a_table_is_saved_as_csv_that_no_spreadsheet_runs_and_as_json(page, tmp_path):
    block = users(page)
    with page.expect_download() as saved:
        block.get_by_role("button", name="CSV").click()
    saved.value.save_as(tmp_path / "users.csv")
    with page.expect_download() as kept:
        block.get_by_role("button", name="JSON").click()
    kept.value.save_as(tmp_path / "users.json")
    rows = list(csv.reader((tmp_path / "users.csv").read_text().splitlines()))

    assert saved.value.suggested_filename == "users.by_jobs.csv"
    assert [row[0] for row in rows[1:5]] == [HOSTILE[0], HOSTILE[1], f"'{HOSTILE[2]}", HOSTILE[3]]
    assert json.loads((tmp_path / "users.json").read_text())[2]["user"] == HOSTILE[2]


def paper(page):
    """Return the colour of the page."""
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def stroke(page):
    """Return the colour of the first line of a figure."""
    line = page.locator("figure svg path[stroke*=chart-1]").first
    return str(line.evaluate("line => getComputedStyle(line).stroke"))


def test_the_theme_switches_figures_too_and_is_remembered(page):
    button = page.get_by_role("button", name="Dark")
    before = paper(page), stroke(page)
    button.click()

    expect(page.get_by_role("button", name="Light")).to_be_visible()
    after = paper(page), stroke(page)
    assert before[0] == "rgb(255, 255, 255)"
    assert before[0] != after[0]
    assert before[1] != after[1]
    page.reload()
    assert paper(page) == after[0]
    expect(page.get_by_role("button", name="Light")).to_be_visible()


def test_a_page_is_dark_for_those_who_like_it_dark(page):
    page.emulate_media(color_scheme="dark")
    page.reload()

    assert paper(page) != "rgb(255, 255, 255)"
    expect(page.get_by_role("button", name="Light")).to_be_visible()


def middle(drawing, share):
    """Return where in the window a place of the axes of a drawing over time is, from 0 at its left to 1."""
    box = drawing.bounding_box()
    (left, right) = drawing.evaluate(
        "svg => [...svg.querySelectorAll('clipPath rect')].flatMap(one => "
        "[+one.getAttribute('x'), +one.getAttribute('x') + +one.getAttribute('width')])"
    )
    return box["x"] + left + (right - left) * share, box["y"] + box["height"] / 2


def load(page):
    """Return the figure of daily utilization on *page*, its drawing and what is read off it."""
    figure = page.locator('figure[id="figure-utilization.series"]')
    figure.scroll_into_view_if_needed()
    return figure, figure.locator(".drawing > svg"), figure.locator(".reading")


def exact(said):
    """Return the values that are read, with all their digits."""
    return said.locator("b").evaluate_all("all => all.map(one => JSON.parse(one.dataset.value))")


def test_a_value_is_read_where_the_pointer_is(page, made):
    data = next(one.data for one in made if one.id == "utilization.series")["lines"][0]
    _, drawing, said = load(page)
    page.mouse.move(*middle(drawing, 0.3))
    x = data["x"]
    place = min(range(len(x)), key=lambda n: abs(x[n] - x[0] - 0.3 * (x[-1] - x[0])))
    day = datetime.fromtimestamp(x[place], ZoneInfo("Europe/Stockholm"))

    expect(said).to_contain_text(f"{day:%Y-%m-%d %H:%M}")
    assert exact(said) == [data["y"][place]]
    page.mouse.move(5, 5)
    expect(said).to_be_hidden()


def test_a_part_that_is_dragged_over_is_seen_closer_and_the_whole_again(page, made):
    figure, drawing, said = load(page)
    before = drawing.locator("text").all_text_contents()
    page.mouse.move(*middle(drawing, 0.25))
    page.mouse.down()
    page.mouse.move(*middle(drawing, 0.4), steps=3)
    page.mouse.move(*middle(drawing, 0.5), steps=3)
    page.mouse.up()
    data = next(one.data for one in made if one.id == "utilization.series")["lines"][0]["x"]
    page.mouse.move(*middle(drawing, 0.001))
    quarter = datetime.fromtimestamp(data[0] + (data[-1] - data[0]) / 4, ZoneInfo("Europe/Stockholm"))

    assert drawing.locator("text").all_text_contents() != before
    expect(said).to_contain_text(f"{quarter:%Y-%m}")
    expect(figure.get_by_role("button", name="Zoom out")).to_be_enabled()
    figure.get_by_role("button", name="Whole").click()
    assert drawing.locator("text").all_text_contents() == before
    expect(figure.get_by_role("button", name="Zoom out")).to_be_disabled()


def test_keys_read_and_zoom_too(page):
    figure, _, said = load(page)
    drawing = figure.get_by_role("group", name="Utilization of each day")
    drawing.focus()
    page.keyboard.press("End")
    last = said.inner_text()
    page.keyboard.press("ArrowLeft")

    assert said.inner_text() != last
    page.keyboard.press("+")
    expect(figure.get_by_role("button", name="Whole")).to_be_enabled()
    page.keyboard.press("Home")
    first = said.inner_text()
    page.keyboard.press("ArrowLeft")
    assert said.inner_text() < first, "what is before a part comes into view"
    page.keyboard.press("Escape")
    expect(figure.get_by_role("button", name="Whole")).to_be_disabled()


@pytest.mark.parametrize(("kind", "form"), [("week", "%G-%V"), ("month", "%Y-%m")])
def test_a_series_is_averaged_over_weeks_and_months(page, made, kind, form):
    figure, _, said = load(page)
    data = next(one.data for one in made if one.id == "utilization.series")
    line, zone = data["lines"][0], ZoneInfo(data["zone"])
    groups: dict[str, list[float]] = {}
    for moment, value in zip(line["x"], line["y"], strict=True):
        groups.setdefault(datetime.fromtimestamp(moment, zone).strftime(form), []).append(value)
    means = [sum(values) / len(values) for values in groups.values()]
    figure.get_by_role("combobox").select_option(kind)
    figure.get_by_role("group", name="Utilization of each day").focus()

    for key, mean in (("Home", means[0]), ("End", means[-1])):
        page.keyboard.press(key)
        assert exact(said) == pytest.approx([mean])


def test_what_is_searched_are_words_and_not_the_data_of_figures(page):
    page.get_by_role("searchbox").fill('"labels":')

    expect(page.locator(".found")).to_have_text("No section has it.")


def test_without_the_script_the_report_is_whole(browser, file):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())

    expect(page.locator("main > section:visible")).to_have_count(page.locator("main > section").count())
    expect(page.locator("figure:visible noscript p:visible").first).to_be_visible()
    assert not page.get_by_role("button").count()
    context.close()


def test_the_first_key_leads_past_the_contents(page):
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.get_by_role("main")).to_be_focused()
