"""A small archive: three traces and a broken one, with names that would be markup."""

from pathlib import Path

from gwa.archive.build import BuildOptions, build
from tests.conftest import HOME

HEAD = """
[archive]
title = "Archive <b>"
about = "Traces for tests."
compare = [["large", "middle"]]
public = true
"""
TRACE = """
[[trace]]
id = "{name}"
title = "{title}"
system = "A cluster of many gnus."
provider = "An institute of <i>inventions</i>"
licence = "CC0-1.0"
citation = "A. Nobody, Traces (2009)."
year = 2009
changes = [{{ date = 2026-01-02, text = "first" }}]
source = "{name}.swf"
"""
TRACES = {"large": (60, 100), "middle": (40, 200), "huge": (90, -1)}
"""The jobs of each trace, and the memory of all its jobs; the largest tells none."""

WIDE = "|a very wide heading of a table" * 9 + "|\n" + "|-" * 9 + "|\n" + "|words" * 9 + "|\n"


def swf(jobs, memory):
    """Return a log: a job a minute, of ever more users."""
    row = "{n} {t} 5 {run} 4 -1 {memory} 4 600 {memory} 1 {user} 1 2 1 1 -1 -1\n"
    return "; MaxProcs: 16\n; UnixStartTime: 1000000000\n" + "".join(
        row.format(n=n, t=60 * n, run=30 + n, memory=memory, user=n % 7 + 1) for n in range(1, jobs + 1)
    )


def make_public(home: Path) -> Path:
    """Build the site in the folder *home*; it has a console where DuckDB for browsers is here."""
    (home / "site" / "pages").mkdir(parents=True)
    names = [*TRACES, "broken"]
    text = HEAD + "".join(TRACE.format(name=name, title=f"{name.title()} & <u>co</u>") for name in names)
    text = text.replace('source = "middle.swf"', 'source = "middle.swf"\nformats = ["duckdb"]')
    (home / "site" / "archive.toml").write_text(text)
    (home / "site" / "pages" / "about.md").write_text("# About\n\nText of [traces](index.html).\n\n" + WIDE)
    (home / "site" / "leaderboard.json").write_text('[{"model": "one", "rank": 1.5}]')
    for name, (jobs, memory) in TRACES.items():
        (home / "site" / f"{name}.swf").write_text(swf(jobs, memory))
    (home / "site" / "broken.swf").write_bytes(b"\x00\xff" * 500)
    if (HOME / "site" / "node_modules").is_dir():
        (home / "site" / "node_modules").symlink_to(HOME / "site" / "node_modules")
    # SWF has numbers for names, which the gate cannot tell from real ones.
    outcome = build(home / "site", home / "public", BuildOptions(publish_names=True))
    assert len(outcome.built) == len(TRACES)
    return home / "public"
