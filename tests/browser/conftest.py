"""A page in a real browser, Debian's Chromium; without one these tests are skipped."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from gwa.report.html import html
from tests.browser.made_site import make_public
from tests.made_report import make_report

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 20_000
"""Milliseconds after which what a page should show has not come, on however busy a machine."""

SIZES = {"wide": (1280, 800), "narrow": (380, 800)}


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Return a browser without a window."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("there is no Chromium on this machine")
    running = sync_playwright()
    try:
        started = running.start().chromium.launch(executable_path=found, args=["--disable-gpu"])
    except Exception as error:  # noqa: BLE001 - whatever a bare machine lacks
        pytest.skip(f"no browser starts on this machine: {str(error).splitlines()[0]}")
    yield started
    started.close()
    running.__exit__()


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of the made-up report, which has everything that a report can have."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(html(make_report()), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site of a small archive."""
    return make_public(tmp_path_factory.mktemp("site"))


def visit(context: BrowserContext, file: Path) -> tuple[Page, list[str]]:
    """Return *file* as an open page, and a list that fills with what went wrong there."""
    page, wrong = context.new_page(), []
    page.on("console", lambda said: wrong.append(said.text) if said.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    address = file.as_uri()
    page.on("request", lambda asked: None if asked.url.startswith(address) else wrong.append(asked.url))
    page.goto(address)
    return page, wrong


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """Return a browser as a reader has it: nothing remembered, a wide window, light colours."""
    width, height = SIZES["wide"]
    made = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="light",
        reduced_motion="reduce",
        permissions=["clipboard-read", "clipboard-write"],
    )
    made.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext, file: Path) -> Iterator[Page]:
    """Return the page, on which nothing may go wrong and from which nothing may be asked elsewhere."""
    opened, wrong = visit(context, file)
    yield opened
    assert not [url for url in wrong if not url.startswith(("data:", "blob:"))]
