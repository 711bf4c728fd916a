"""The map of an archive has each trace whose length and jobs are known, at its place."""

from types import SimpleNamespace
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from gwa.archive.catalogue import CatalogueEntry
from gwa.archive.published import PublishedTrace
from gwa.archive.trace_map import HEIGHT, LARGEST, LEFT, SHADES, SMALLEST, WIDTH, trace_map


def trace(name, **facts):
    """Return a trace with these facts, whose points are written as __."""
    known = {key.replace("__", "."): value for key, value in facts.items()}
    return PublishedTrace(
        cast("CatalogueEntry", SimpleNamespace(id=name, title=name.upper(), synthetic=False)),
        {"facts": known},
    )


FACTS = st.fixed_dictionaries(
    {
        "trace__span_seconds": st.none() | st.floats(0, 1e10),
        "trace__jobs": st.none() | st.integers(0, 10**9),
        "trace__cpus": st.none() | st.integers(1, 10**7),
        "utilization__mean": st.none() | st.floats(0, 1.2),
    }
)


@given(st.lists(FACTS, max_size=8))
def test_every_known_trace_is_within_the_drawing(worlds):
    traces = [trace(f"t{n}", **facts) for n, facts in enumerate(worlds)]
    known = [facts for facts in worlds if facts["trace__span_seconds"] and facts["trace__jobs"]]
    made = trace_map(traces)
    if len(known) < 2:
        assert made is None
        return
    assert made is not None
    assert len(made.dots) == len(known)
    for dot in made.dots:
        assert LEFT <= dot.x <= WIDTH
        assert 0 <= dot.y <= HEIGHT
        assert SMALLEST <= dot.radius <= LARGEST
        assert 0 <= dot.shade <= SHADES
    assert [dot.radius for dot in made.dots] == sorted((dot.radius for dot in made.dots), reverse=True)


def test_longer_traces_are_to_the_right_and_those_of_more_jobs_above():
    made = trace_map(
        [
            trace("small", trace__span_seconds=86400.0, trace__jobs=100, utilization__mean=0.1),
            trace("large", trace__span_seconds=8640000.0, trace__jobs=100_000, trace__cpus=64),
        ]
    )
    assert made is not None
    dots = {dot.id: dot for dot in made.dots}
    assert dots["small"].x < dots["large"].x
    assert dots["small"].y > dots["large"].y
    assert (dots["small"].shade, dots["large"].shade) == (1, 0)
    assert dots["small"].words == "SMALL: 100 jobs in 24 h, 10 % busy"
    assert dots["large"].words == "LARGE: 100,000 jobs in 100 days, 64 processors, utilization unknown"
    assert [tick.label for tick in made.across] == ["1 d", "10 d", "100 d"]
