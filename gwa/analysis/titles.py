"""What a trace is called: its system and its place, as people say them."""

import re
from pathlib import PurePath
from typing import Final

from gwa.analysis.synthetic import origin
from gwa.store.privacy import ANONYMIZED_KEY
from gwa.store.store import Store
from gwa.store.system import SAYS_NOTHING
from gwa.words.message import Verbatim, joined

NO_NAMES: Final = {*SAYS_NOTHING, "various"}
"""What headers of logs call a system that they do not name."""

ARCHIVE: Final = "Archive"
"""The key of the header line that an archive writes into its downloads."""

SHORT: Final = re.compile(r".*\(([A-Z][A-Za-z0-9]{1,9})\)|([A-Z][A-Z0-9]{1,9})(?: -|:) .*")
"""A place that says how it is called for short: at its end, or at its beginning."""

MAXIMUM_TITLE: Final = 60
"""The letters of a title with its place; a longer place stands below."""


def title_of(store: Store) -> str | None:
    """
    Return what the system of a trace is called, with its place for short; None where neither is known.

    A trace of an archive is called what the archive calls it.
    """
    system, site = _known(store.system.name), _known(store.system.site)
    if system is None or site is None or ARCHIVE in dict(store.header):
        return system or site or _only_site(store)
    title = f"{system} · {short_place(site)}"
    is_said = site.lower() in system.lower() or short_place(site).lower() in system.lower()
    return system if is_said or len(title) > MAXIMUM_TITLE else title


def short_place(site: str) -> str:
    """
    Return how a place is called for short, where it says so.

    >>> [short_place(site) for site in ("Los Alamos Lab (LANL)", "HPC2N - Center North", "Delft")]
    ['LANL', 'HPC2N', 'Delft']
    """
    found = SHORT.fullmatch(site)
    return (found[1] or found[2]) if found else site


def titles(store: Store, name: str, part: str) -> tuple[str, str]:
    """
    Return the title of a report on the trace called *name* and the line below it.

    The title is that of the system, else of the trace or, where that is what its file is called, of the file.
    The line has what the title does not say: the place, the trace, the *part* of it, and of a synthetic trace
    its model.
    """
    known = title_of(store)
    title = known or _file_called(store, name) or name
    below: list[str] = []
    for text in (store.system.site or _only_site(store), name) if known else ():
        said = " ".join((title, *below)).lower()
        if text and _known(text) and text.lower() not in said:
            below.append(text)
    below += [part] if part else []
    model = origin(store)
    if model is None:
        return Verbatim(title), Verbatim(" · ".join(below))
    return Verbatim(title), joined(" · ", (model, *map(Verbatim, below)))


def _known(text: str | None) -> str | None:
    return text if text and text.lower() not in NO_NAMES else None


def _file_called(store: Store, name: str) -> str | None:
    """Return the name of the only file that the trace was read from, if the trace is called as it is."""
    files = {PurePath(str(file)).name for (file,) in store.rows("select file from sources limit 2")}
    return next((file for file in files if len(files) == 1 and file.startswith(f"{name}.")), None)


def _only_site(store: Store) -> str | None:
    """Return the name of the only site that ran jobs, None if there are several, or names are pseudonyms."""
    if ANONYMIZED_KEY in dict(store.header):
        return None
    sites = store.rows(
        "select distinct last_run_site_id from jobs where last_run_site_id is not null limit 2"
    )
    return str(sites[0][0]) if len(sites) == 1 else None
