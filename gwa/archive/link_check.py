"""The links of a finished site: each leads to a place in it, and nothing is fetched from elsewhere."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Final, Self
from urllib.parse import SplitResult, unquote, urlsplit

FETCHED: Final = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("form", "action")}
FOLLOWED: Final = {("a", "href")}
NOT_FOUND_PAGE: Final = "404.html"


class _Reader(HTMLParser):
    """Collects what a page links to, and the places in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: dict[tuple[str, bool], None] = {}
        self.places: dict[str, None] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if (tag, name) in FETCHED | FOLLOWED and not (value or "").startswith("data:"):
                self.links[value or "", (tag, name) in FETCHED] = None
            if name == "id" and value:
                self.places[value] = None


@dataclass(frozen=True)
class PageLinks:
    """The *links* of a page, each with whether it is fetched, and the *places* in it; JSON can hold both."""

    links: Sequence[tuple[str, bool]]
    places: Sequence[str]

    @classmethod
    def of(cls, text: str) -> Self:
        """Return those of the page with the HTML *text*."""
        read = _Reader(text)
        return cls(list(read.links), list(read.places))


def broken_links(folder: Path, url: str = "", known: Mapping[Path, PageLinks] | None = None) -> Iterator[str]:
    """
    Yield a line for each link of the site in *folder* that leads nowhere, or fetches from elsewhere.

    With the *url* of the site, the links of its page 404.html are taken from the root of the server. Pages of
    which the links are *known* are not read.
    """
    root = urlsplit(url).path
    pages = {
        path: (known or {}).get(path) or PageLinks.of(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.html"))
    }
    places = {path: set(page.places) for path, page in pages.items()}
    for path, page in pages.items():
        for link, fetched in page.links:
            target = link.removeprefix(root) if path == folder / NOT_FOUND_PAGE else link
            if reason := _problem(path, target, places, fetched=fetched):
                yield f"{path.relative_to(folder)}: {link[:200]}: {reason}"


def _problem(path: Path, link: str, places: Mapping[Path, set[str]], *, fetched: bool) -> str | None:
    """Return the problem of a *link* on the page *path*, or None."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return "is fetched from elsewhere" if fetched else None
    if link.startswith("/"):
        return "works at the root of a server only"
    return _missing_target(path, parts, places)


def _missing_target(path: Path, parts: SplitResult, places: Mapping[Path, set[str]]) -> str | None:
    """Return why the target of a link is not part of the site, or None."""
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        return "is a folder, which only a server can show"
    if not target.is_file():
        return "leads nowhere"
    if parts.fragment and target in places and unquote(parts.fragment) not in places[target]:
        return f"{target.name} has no place of that name"
    return None
