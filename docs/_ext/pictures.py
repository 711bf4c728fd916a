"""
The pictures of the documentation: pages that gwa writes of its sample, in a browser.

`make pictures` makes them again, in docs/, with what they say as text: a test asks whether today's pages
still say it. The picture of an archive is of our own, that of site/, and is made by hand.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import Browser, Page, sync_playwright

DOCS: Final = Path(__file__).parent.parent
WIDTH: Final = 1180
HEIGHTS: Final = {"report": 1210}
HEIGHT: Final = 900
"""Pixels of a picture; those of one that is shown large have a height of their own."""

COMMANDS: Final = {
    "report": ("report", "sample.sacct", "-o", "report"),
    "compare": ("compare", "sample.sacct", "--against", "archive", "-o", "compare"),
    "what-if": ("whatif", "sample.sacct", "--cpus", "+20%", "-o", "what-if"),
    "statement": (
        "charge", "sample.sacct", "--rates", "rates.toml", "--period", "2025-10", "-o", "statement",
        "--no-pdf",
    ),
}  # fmt: skip
"""What writes each page; the picture is called as its folder."""


def write_pages(folder: Path) -> None:
    """Write all pages into *folder*."""
    run = [sys.executable, "-m", "gwa"]
    subprocess.run([*run, "sample", "-o", "sample.sacct"], cwd=folder, check=True)  # noqa: S603
    rates = subprocess.run([*run, "charge", "--example"], capture_output=True, check=True)  # noqa: S603
    (folder / "rates.toml").write_bytes(rates.stdout)
    for words in COMMANDS.values():
        subprocess.run([*run, *words, "--quiet"], cwd=folder, check=True)  # noqa: S603


SAID: Final = DOCS / "pictures.json"
"""What the pictures say."""

READ: Final = """
() => {
  const found = [], every = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (every.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(every.currentNode);
    const { top, bottom, width, height } = range.getBoundingClientRect();
    const isSeen = width > 1 && height > 1 && bottom > 0 && top < innerHeight;
    const text = every.currentNode.textContent.replace(/\\s+/g, " ").trim();
    if (isSeen && text && every.currentNode.parentElement.checkVisibility()) found.push(text);
  }
  return found;
}
"""
"""The texts of a page that are in view."""


def opened(browser: Browser, folder: Path) -> Iterator[tuple[str, Page]]:
    """Yield the name of each picture, and the page in *folder* that it is of."""
    for name in COMMANDS:
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHTS.get(name, HEIGHT)})
        written = sorted((folder / name).glob("*.html"))
        index = folder / name / "index.html"
        page.goto((index if index in written else written[0]).as_uri())
        page.wait_for_timeout(1_000)
        yield name, page


def take(folder: Path) -> None:
    """Take a picture of the first screen of each page in *folder*, and write down what it says."""
    said = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(channel="chromium", executable_path="/usr/bin/chromium")
        for name, page in opened(browser, folder):
            page.screenshot(path=DOCS / f"{name}.png")
            said[name] = page.evaluate(READ)
        browser.close()
    SAID.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        write_pages(Path(made))
        take(Path(made))
