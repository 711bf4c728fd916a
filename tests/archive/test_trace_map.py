"""The map of an archive has each trace whose processors are known, at its place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from gwa.archive.overview import TraceLine, lines
from gwa.archive.public_traces import public_traces
from gwa.archive.trace_map import (
    HEIGHT,
    LEFT,
    MAXIMUM_RADIUS,
    MINIMUM_RADIUS,
    RING,
    SHADES,
    WIDTHS,
    _length,
    trace_maps,
)


def line(name, **known):
    """Return the line of a trace."""
    return TraceLine(
        **{"id": name, "title": name.upper(), "kind": "here", "page": "", "licence": "", "cite": "", **known}
    )


FACTS = st.fixed_dictionaries(
    {
        "begin": st.none() | st.floats(1990, 2030),
        "cpus": st.none() | st.integers(1, 10**7),
        "core_hours": st.none() | st.floats(0, 1e10),
        "busy": st.none() | st.floats(0, 1.2),
    }
)


@given(st.lists(FACTS, max_size=8))
def test_every_trace_of_known_processors_is_within_the_drawing(worlds):
    made = trace_maps([line(f"t{n}", **facts) for n, facts in enumerate(worlds)])
    known = [facts for facts in worlds if facts["cpus"]]
    if len(known) < 2:
        assert made == []
        return
    assert [one.width for one in made] == list(WIDTHS)
    for drawing in made:
        assert len({dot.id for dot in drawing.dots}) == len(known)
        for dot in drawing.dots:
            assert LEFT <= dot.x <= drawing.width + 8 * 2 * RING
            assert 0 <= dot.y <= HEIGHT
            assert min(MINIMUM_RADIUS, RING) <= dot.radius <= MAXIMUM_RADIUS
            assert 0 <= dot.shade <= SHADES


@pytest.mark.parametrize("text", [*public_traces(), "Argonne Intrepid Blue Gene/P", "KTH SP2", "wwww mmmm"])
def test_a_label_is_not_wider_than_the_room_that_is_kept_for_it(text):
    """By the metrics of DejaVu Sans, the widest of the fonts of a page, in the size of labels."""
    font = FontProperties(family="DejaVu Sans")
    width = TextPath((0, 0), text, size=11.5, prop=font).get_extents().width
    assert width <= _length(text) <= 1.35 * width + 8


def test_later_traces_are_to_the_right_those_of_more_processors_above_and_unknown_hours_a_ring():
    drawing = trace_maps(
        [
            line("small", begin=1996.5, end=1997.5, cpus=100, core_hours=1000.0, busy=0.1, jobs=5),
            line("large", begin=2012.0, end=2013.0, cpus=93_312, core_hours=4e6, jobs=312_826),
            line("ring", begin=2009.0, end=2009.7, cpus=163_840),
            line("undated", cpus=64, core_hours=10.0),
        ]
    )[0]
    dots = {dot.id: dot for dot in drawing.dots}
    assert dots["small"].x < dots["ring"].x < dots["large"].x < dots["undated"].x
    assert dots["small"].y > dots["large"].y > dots["ring"].y
    assert dots["large"].radius == MAXIMUM_RADIUS
    assert [dots[name].hollow for name in ("small", "large", "ring")] == [False, False, True]
    assert (dots["small"].shade, dots["large"].shade) == (1, 0)
    assert dots["small"].words == "SMALL: 1996–1997, 100 processors, 5 jobs, 1,000 core-hours, 10 % busy"
    assert dots["ring"].words == "RING: 2009, 163,840 processors, unknown jobs, how busy is unknown"
    assert [tick.label for tick in drawing.across if tick.undated] == ["no date"]
    assert [tick.label for tick in drawing.across if not tick.undated] == [
        str(year) for year in range(1998, 2013, 2)
    ]


def test_the_public_traces_hide_no_other_and_no_label_lies_on_another():
    known = lines((), tuple(public_traces().values()))
    for drawing in trace_maps(known):
        assert len(drawing.dots) == len([one for one in known if one.cpus])
        places = [(dot.x, dot.y) for dot in drawing.dots]
        assert all(
            abs(one[0] - other[0]) >= 2 * RING or abs(one[1] - other[1]) >= RING
            for n, one in enumerate(places)
            for other in places[:n]
        )
        labels = [dot.label for dot in drawing.dots if dot.label]
        assert len(labels) > len(drawing.dots) / 3
        assert len({(label.x, label.y) for label in labels}) == len(labels)
