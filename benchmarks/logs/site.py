"""The logs of a site of 20 traces, with the catalogue that describes them."""

from pathlib import Path
from typing import Final

from benchmarks.data import write_swf

TRACES: Final = 20
HEAD: Final = '[archive]\ntitle = "Twenty"\nabout = "Traces to measure a build with."\n'
TRACE: Final = """
[[trace]]
id = "trace-{number:02}"
title = "Trace {number:02} of twenty"
system = "A cluster that nobody built."
provider = "An institute of invented measurements"
licence = "CC0-1.0"
citation = "Nobody, Traces that no system ran (2009)."
source = "{number:02}.swf"
"""


def write(folder: Path, rows: int) -> None:
    """Write traces of about *rows* jobs together to *folder*, no two of the same length."""
    folder.mkdir(exist_ok=True)
    (folder / "archive.toml").write_text(HEAD + "".join(TRACE.format(number=each) for each in range(TRACES)))
    for number in range(TRACES):
        write_swf(folder / f"{number:02}.swf", rows // TRACES + 1 + number)
