"""
The pictures of the documentation: pages that gwa writes of its sample, in a browser.

`make pictures` makes them again, in docs/; the picture of an archive is of our own, that of site/.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import sync_playwright

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


def take(folder: Path) -> None:
    """Take a picture of the first screen of each page in *folder*."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(channel="chromium", executable_path="/usr/bin/chromium")
        for name in COMMANDS:
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHTS.get(name, HEIGHT)})
            written = sorted((folder / name).glob("*.html"))
            index = folder / name / "index.html"
            page.goto((index if index in written else written[0]).as_uri())
            page.wait_for_timeout(1_000)
            page.screenshot(path=DOCS / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        write_pages(Path(made))
        take(Path(made))
