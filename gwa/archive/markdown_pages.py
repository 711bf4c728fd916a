"""The pages of an archive that people write, in Markdown: text and tables, and no HTML of their own."""

import re
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

from markupsafe import Markup

from gwa.archive.catalogue import ID
from gwa.errors import DefinitionError
from gwa.util.toml import read_text

FOLDER: Final = "pages"
PICTURES: Final = "pictures"
MAXIMUM_BYTES: Final = 1_000_000
RESERVED: Final = {
    "404", "compare", "console", "formats", "index", "leaderboard", "models", "public", "ranking", "search",
    "traces",
}  # fmt: skip
"""The names of pages that are made of the catalogue."""

ORDER: Final = re.compile(r"^\d+-")


@dataclass(frozen=True)
class MarkdownPage:
    """A page called *name*: its *title*, and its *body* as HTML; *text* is what a search looks through."""

    name: str
    title: str
    body: Markup
    text: str


def written(site: Path) -> list[MarkdownPage]:
    """
    Return the pages in the folder ``pages``, in the order of their files, such as ``10-about.md``.

    Raise `DefinitionError` for one without a title, or with a name that another page has.
    """
    home = site.resolve()
    pages: dict[str, MarkdownPage] = {}
    for path in sorted((site / FOLDER).glob("*.md")):
        name = ORDER.sub("", path.stem)
        if not ID.fullmatch(name) or name in RESERVED or name in pages:
            raise DefinitionError(f"{path}: its name is taken or odd, expected one such as 10-about.md")
        if not path.resolve().is_relative_to(home):
            raise DefinitionError(f"{path}: leads out of {site}")
        pages[name] = _page(path, name)
    return list(pages.values())


def _page(path: Path, name: str) -> MarkdownPage:
    from markdown_it import MarkdownIt

    first, _, rest = read_text(path, "a page", MAXIMUM_BYTES).lstrip().partition("\n")
    if not first.startswith("# "):
        raise DefinitionError(f"{path}: begins with '{first[:40]}', expected a title such as '# About'")
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(rest)
    body = Markup(_scrolling(html))  # noqa: S704 - escaped by the library
    return MarkdownPage(name, first.removeprefix("# ").strip(), body, rest)


def _scrolling(body: str) -> str:
    """Return *body* with each table in a box of its own, so that no page is wider than a phone."""
    numbers = count(1)
    box = '<div class="scroll" role="region" aria-label="Table {}" tabindex="0"><table>'
    wrapped = re.sub("<table>", lambda _: box.format(next(numbers)), body)
    return wrapped.replace("</table>", "</table></div>")
