"""Everybody can use the page: axe finds nothing serious, and nothing is wider than the window."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.conftest import SIZES, visit


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_keeps_anybody_out(context, file, size, theme):
    page, _ = visit(context, file)
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=theme)
    page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
    found = Axe().run(page).response["violations"]

    assert not [
        (rule["id"], node["html"][:200], node["failureSummary"])
        for rule in found
        for node in rule["nodes"]
        if rule["impact"] in {"serious", "critical"}
    ]


@pytest.mark.parametrize("width", [320, 380, 768, 1024, 1280])
def test_a_page_is_never_wider_than_its_window(page, width):
    page.set_viewport_size({"width": width, "height": 800})

    assert page.evaluate("document.documentElement.scrollWidth") <= width
