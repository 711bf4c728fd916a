"""What a reader clicks on a page does what it says."""

import csv
import json
import re

from playwright.sync_api import expect

from tests.made_report import HOSTILE


def users(page):
    """Return the table of users on *page*."""
    return page.locator('.table[data-name="users.by_jobs"]')


def column(block, number):
    """Return the texts of a column of a table, from the top."""
    return block.locator(f"tbody tr > :nth-child({number})").all_inner_texts()


def test_a_click_in_the_contents_leads_to_the_section_and_marks_it(page):
    link = page.get_by_role("navigation").get_by_role("link", name="Users")
    link.click()

    expect(page.locator("#users-title")).to_be_in_viewport()
    expect(link).to_have_attribute("aria-current", "true")
    assert page.locator(".contents [aria-current]").count() == 1


def test_the_contents_follow_as_the_page_scrolls(page):
    page.locator("#arrivals").evaluate("section => section.scrollIntoView()")

    expect(page.locator(".contents [aria-current]")).to_have_text("Arrivals")
    page.keyboard.press("End")
    expect(page.locator(".contents [aria-current]")).to_have_text("How to make this report again")


def test_a_section_folds_and_a_link_to_it_opens_it_again(page):
    button = page.get_by_role("button", name="Fold this section Users")
    body = page.locator("#users-body")
    button.press("Enter")

    expect(body).to_be_hidden()
    expect(button).to_have_attribute("aria-expanded", "false")
    page.get_by_role("navigation").get_by_role("link", name="Users").click()
    expect(body).to_be_visible()
    expect(button).to_have_attribute("aria-expanded", "true")


def test_what_is_searched_is_left_and_what_is_not_found_is_said(page):
    box = page.get_by_role("searchbox")
    box.fill("BYTE FOR BYTE")

    expect(page.locator("main > section:visible")).to_have_count(1)
    expect(page.get_by_role("navigation").get_by_role("link")).to_have_text("How to make this report again")
    box.fill("no such word anywhere")
    expect(page.get_by_role("status")).to_have_text("No section has it.")
    box.fill("")
    expect(page.locator("main > section:visible")).to_have_count(page.locator("main > section").count())
    expect(page.get_by_role("status")).to_be_empty()


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
    line = page.locator("figure svg path[style*=stroke]").first
    return str(line.evaluate("line => getComputedStyle(line).stroke"))


def test_the_theme_switches_figures_too_and_is_remembered(page):
    button = page.get_by_role("button", name="Dark")
    before = paper(page), stroke(page)
    button.click()

    expect(button).to_have_attribute("aria-pressed", "true")
    after = paper(page), stroke(page)
    assert before[0] == "rgb(255, 255, 255)"
    assert before[0] != after[0]
    assert before[1] != after[1]
    page.reload()
    assert paper(page) == after[0]
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")


def test_a_page_is_dark_for_those_who_like_it_dark(page):
    page.emulate_media(color_scheme="dark")
    page.reload()

    assert paper(page) != "rgb(255, 255, 255)"
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")


def test_without_the_script_the_report_is_whole(browser, file):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())

    expect(page.locator("main > section:visible")).to_have_count(page.locator("main > section").count())
    assert not page.get_by_role("button").count()
    context.close()


def test_the_first_key_leads_past_the_contents(page):
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.get_by_role("main")).to_be_focused()
