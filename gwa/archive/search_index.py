"""The search of an archive: a script with the words of every page, and of every section of every report."""

import json
import re
from collections.abc import Iterator
from typing import Final

from gwa.archive.pages import PUBLIC, Site
from gwa.archive.ranking import MEASURES
from gwa.formats.registry import all_formats
from gwa.models.base import models

MAXIMUM_LETTERS: Final = 1000
PUBLIC_LETTERS: Final = 200


def search_index(site: Site) -> str:
    """
    Return the search index as a script.

    *pages* are address, title and words; *reports* the folder and the title of a trace, and id, title and
    words of each section of its report; *helps* says what sections of an id are about, once for all traces.
    """
    helps: dict[str, str] = {}
    reports = []
    for trace in site.available:
        sections = trace.about["sections"]
        helps |= {section["id"]: section["help"] for section in sections}
        texts = [(section["id"], section["title"], section["text"]) for section in sections]
        reports.append((f"traces/{trace.entry.id}", _titled(trace.entry.title, trace.entry.synthetic), texts))
    pages = [(url, title, _words(text)) for url, title, text in _pages(site)]
    index = {"pages": pages, "reports": reports, "helps": helps}
    return f"globalThis.gwaIndex = {json.dumps(index, ensure_ascii=False, separators=(',', ':'))};\n"


def _titled(title: str, synthetic: bool) -> str:  # noqa: FBT001 - of an entry
    return f"{title} (synthetic)" if synthetic else title


def _pages(site: Site) -> Iterator[tuple[str, str, str]]:
    """Yield address, title and text of every page but the reports."""
    for trace in site.traces:
        entry = trace.entry
        words = f"{entry.id} {entry.system} {entry.provider} {entry.notes}"
        yield f"traces/{entry.id}/index.html", _titled(entry.title, entry.synthetic), words
    for public in site.public:
        words = f"{public.key} {public.years} {public.holds} {public.format} {public.licence} {public.note}"[
            :PUBLIC_LETTERS
        ]
        yield f"{PUBLIC}/{public.key}.html", f"{public.title} (to fetch)", words
    for page in site.written:
        yield f"{page.name}.html", page.title, page.text
    if site.board:
        yield "leaderboard.html", "Leaderboard of models", site.board.legend
    measures = " ".join(f"{measure.title} {measure.about}" for measure in MEASURES)
    yield "ranking.html", "Ranking", measures
    for model in models().values():
        yield "models.html", f"Model: {model.title}", f"{model.name} {model.source} {model.about()}"
    for kind in all_formats():
        yield "formats.html", f"Format: {kind.title}", f"{kind.name} {kind.notes}"


def _words(text: str) -> str:
    return re.sub(r"[\s|#*`]+", " ", text)[:MAXIMUM_LETTERS].strip()
