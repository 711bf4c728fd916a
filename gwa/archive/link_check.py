"""The links of a finished site: each leads to a place in it, and nothing is fetched from elsewhere."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

FETCHED: Final = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("form", "action")}
FOLLOWED: Final = {("a", "href")}
NOT_FOUND_PAGE: Final = "404.html"


class _Page(HTMLParser):
    """Collects what a page links to, and the places in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[tuple[str, bool]] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if (tag, name) in FETCHED | FOLLOWED:
                self.links.append((value or "", (tag, name) in FETCHED))
            if name == "id" and value:
                self.places.add(value)


def broken_links(folder: Path, url: str = "") -> Iterator[str]:
    """
    Yield a line for each link of the site in *folder* that leads nowhere, or fetches from elsewhere.

    With the *url* of the site, the links of its page 404.html are taken from the root of the server.
    """
    root = urlsplit(url).path
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        for link, fetched in page.links:
            target = link.removeprefix(root) if path == folder / NOT_FOUND_PAGE else link
            if reason := _problem(path, target, pages, fetched=fetched):
                yield f"{path.relative_to(folder)}: {link[:200]}: {reason}"


def _problem(path: Path, link: str, pages: dict[Path, _Page], *, fetched: bool) -> str | None:
    """Return the problem of a *link* on the page *path*, or None."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        elsewhere = fetched and parts.scheme != "data"
        return "is fetched from elsewhere" if elsewhere else None
    if link.startswith("/"):
        return "works at the root of a server only"
    return _missing_target(path, parts, pages)


def _missing_target(path: Path, parts: SplitResult, pages: dict[Path, _Page]) -> str | None:
    """Return why the target of a link is not part of the site, or None."""
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        return "is a folder, which only a server can show"
    if not target.is_file():
        return "leads nowhere"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
        return f"{target.name} has no place of that name"
    return None
