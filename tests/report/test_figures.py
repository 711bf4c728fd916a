"""Figures: small, the same each time, safe with any data, and fit to stand on one page."""

import re
import subprocess
import sys
from importlib import import_module
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure as Canvas

from gwa.report.document import Figure
from gwa.report.drawing import draw, draw_all, kinds
from gwa.report.figures import _thinning, _ticks
from gwa.report.figures._labels import Box
from gwa.report.figures.bars import bars
from gwa.report.figures.cdf import cdf
from gwa.report.figures.density import density
from gwa.report.figures.gantt import gantt
from gwa.report.figures.groups import draw as draw_groups
from gwa.report.figures.groups import groups
from gwa.report.figures.heatmap import heatmap
from gwa.report.figures.lines import lines
from gwa.report.figures.lorenz import lorenz
from gwa.report.figures.series import series
from gwa.report.figures.shares import Bar, shares
from gwa.report.figures.strips import Strip, strips

NASTY = (
    "<script>alert(1)</script>",
    "$x^2$",
    "a\nb\x00\udc80",
    ' d="M 1" x="y" url(#a)',
    "#0a66a3",
    "مستخدم",
)


def steps(values):
    """Return values and their cumulative fractions."""
    known, counts = np.unique(np.asarray(values, dtype=float), return_counts=True)
    return known, np.cumsum(counts)


def make_all(name="all", values=(0, 1, 5, 70, 7200, 7200, 1e6)):
    """Return a figure of each kind, with *name* for a name and *values* for values."""
    numbers = np.asarray(values, dtype=float)
    some = numbers if len(numbers) else np.zeros(1)
    return [
        cdf("c", name, {name: steps(values), "b": steps(some * 2)}, name, "alt", unit="seconds"),
        cdf("d", name, {name: steps(values)}, name, "alt", log=False, unit="fraction"),
        series("s", name, np.arange(len(numbers)) * 86400.0, {name: numbers, "b": -numbers}, name, "alt"),
        series(
            "t", name, 8e8 + np.arange(len(some)) * 3600.0, {name: (some, some - 1, some + 1)}, name, "alt",
            zone="Europe/Madrid", reference=(5.0, name), unit="count",
        ),
        bars("b", name, [name] * len(numbers), numbers, name, name, "alt", unit="kilobytes"),
        bars("v", name, [name[:2]] * len(numbers), numbers, name, name, "alt", horizontal=False),
        heatmap("h", name, some[None, :], [name], [name] * len(some), "alt", unit="count"),
        lorenz("l", name, {name: (np.arange(len(some)) + 1, np.cumsum(np.abs(some)))}, name, name, "alt"),
        lorenz("m", name, {name: ([], [])}, name, name, "alt"),
        shares(
            "w", name,
            [Bar(name, 1.0, {"full": some[0], "open": some[-1], "b": 1}), Bar("b", 0.1, {"b": 1, "open": 3})],
            {"full": name, "open": "open", "b": "b"}, "alt",
        ),
        density("y", name, some, some, np.ones(len(some)), "alt", xlabel=name, ylabel=name, unit="seconds"),
        gantt("g", name, [(0.0, 9.0, 0, 2, name), (5.0, 7.0, 2, 9, "b")], (0.0, 8.0), name, "alt"),
        groups("q", name, [name, "b"], {name: [(1.0, 0.5), (None, None)], "b": [(3.0, None), (99.0, 1.0)]},
               name, name, "alt", unit="seconds"),
        groups("r", name, [name, "b"], {name: [(1.0, 0.5), (2.0, None)]}, name, name, "alt", x=[0.9, 0.3]),
        strips(
            "days", name,
            [Strip(name, [0, 86400, 172800], {"failed": [0.5, np.nan], "unknown": [0.1, 0.2]}, "fraction")],
            {"failed": "failed", "unknown": name}, name, name, "alt",
        ),
        strips("years", name, [Strip(name, np.arange(900) * 86400.0, {"failed": np.arange(899.0)}, "count")],
               {"failed": name}, "", name, "alt", zone="UTC"),
        groups("spans", name, [name, "b"], {name: [(5.0, (1.0, 9.0)), (4.0, None)]}, name, name, "alt"),
        gantt("i", name, [(n, n + 1, n, n + 1, f"{name}{n}") for n in range(9)], (0, 9), name, "alt"),
        lines("n", name, {name: (some, some), "b": (some, some * 2)}, name, name, "alt", unit="seconds"),
        lines("o", name, {name: (some, some), "b": (some, -some)}, name, name, "alt", log=(False, False)),
        lines(
            "p", name, {name: (some, some), "b": ([], [])}, name, name, "alt", log=(True, True), dashed=["b"],
        ),
    ]  # fmt: skip


def first_line(figure):
    """Return the data of the first line or curve of a figure."""
    data: Any = figure.data
    return (data.get("lines") or data.get("curves"))[0]


def words(svg):
    """Return every text of a drawing."""
    return [text.text or "" for text in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314


@pytest.mark.parametrize("kind", kinds())
def test_every_kind_has_a_maker_and_a_drawing(kind):
    module = import_module(f"gwa.report.figures.{kind}")

    assert callable(module.draw)
    assert callable(getattr(module, kind))


def test_a_plot_that_does_not_exist_is_named():
    with pytest.raises(ValueError, match="no plot is called 'pie'; there are bars, cdf"):
        draw(Figure("x", "t", "pie", {}, "alt"))


@pytest.mark.parametrize("figure", make_all(), ids=lambda figure: figure.id)
def test_the_same_figure_gives_the_same_bytes(figure):
    assert draw(figure) == draw(figure)


def test_another_process_gives_the_same_bytes():
    code = "import sys; sys.path.insert(0, '.'); "
    code += "from gwa.report.drawing import draw; from gwa.report.figures.bars import bars; print(draw(bars("
    code += "'b', 't', ['x', 'y'], [1.0, 2.5], 'user', 'jobs', 'alt')), end='')"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)

    assert run.stdout == draw(bars("b", "t", ["x", "y"], [1.0, 2.5], "user", "jobs", "alt"))


def test_settings_of_a_user_do_not_matter_and_are_kept():
    figure = make_all()[0]
    plain = draw(figure)

    with mpl.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.grid": False}):
        assert draw(figure) == plain
        assert mpl.rcParams["font.size"] == 30


@pytest.mark.parametrize("name", NASTY)
def test_any_name_comes_out_as_text(name):
    for figure in make_all(name):
        svg = draw(figure)

        assert "<script" not in svg
        start = re.sub(r"\W", "", name)[:3]
        assert any(start in re.sub(r"\W", "", word) for word in words(svg))


@pytest.mark.parametrize(
    "values",
    [
        (),
        (0,),
        (7,),
        (-5, -1, 0, 3),
        (np.nan, 1, np.nan),
        (np.nan,),
        (1e300, 1, np.inf),
        (1e-300, 1e300),
        (5, 5, 5),
    ],
    ids=str,
)
def test_any_data_can_be_drawn(values):
    for figure in make_all("n", values):
        ET.fromstring(draw(figure))  # noqa: S314 - our own


def test_a_figure_is_one_element_that_says_what_it_shows():
    svg = draw(cdf("a.b c", "Run <time>", {"x": steps([1, 2])}, "x", 'Half "run" & end.'))
    root = ET.fromstring(svg)  # noqa: S314 - our own
    space = "{http://www.w3.org/2000/svg}"

    assert root.tag == f"{space}svg"
    assert root.get("role") == "img"
    assert root.findtext(f"{space}title") == "Run <time>"
    assert root.findtext(f"{space}desc") == 'Half "run" & end.'
    named = {part.get("id") for part in root.iter() if part.get("id")}
    assert set(root.get("aria-labelledby", "").split()) <= named
    assert "<style" not in svg, "its rules would reach over the page"


def test_ids_do_not_meet_on_one_page():
    together = [make_all()[0], make_all()[3]]
    together.append(Figure("c.2", "t", "cdf", together[0].data, "alt"))
    found = [
        part.get("id") for figure in together for part in ET.fromstring(draw(figure)).iter() if part.get("id")  # noqa: S314
    ]  # fmt: skip

    assert len(found) == len(set(found))


def test_colours_can_be_chosen_by_the_page():
    svg = draw(make_all()[0])

    assert "var(--chart-1, #0a66a3)" in svg
    assert "var(--chart-muted, #59636e)" in svg


def test_text_stays_text_in_the_letters_of_the_page():
    svg = draw(make_all()[0])

    assert "system-ui" in svg
    assert {"0 %", "100 %", "1 h"} <= set(words(svg))


def test_many_figures_are_the_same_as_each_alone():
    twice = [(one, copy) for copy in range(2) for one in make_all()]
    many = [Figure(f"{one.id}.{copy}", one.title, one.plot, one.data, one.alt) for one, copy in twice]

    assert draw_all(many) == {figure.id: draw(figure) for figure in many}
    assert list(draw_all(many)) == [figure.id for figure in many]


def test_a_thinned_curve_looks_the_same():
    rng = np.random.default_rng(7)
    x, y = steps(np.concatenate([rng.lognormal(5, 2, 100_000), np.full(30_000, 3600.0), np.zeros(999)]))
    y = y / y[-1]
    data = first_line(cdf("c", "t", {"x": (x, y)}, "x", "alt"))
    shown = np.asarray(data["y"])[np.searchsorted(data["x"], x, side="right") - 1]

    assert len(data["x"]) <= 450
    assert np.abs(shown - y).max() < 0.006
    assert (data["x"][0], data["y"][-1]) == (0, 1)


def test_cumulative_counts_do_as_well_as_fractions():
    fractions = cdf("c", "t", {"x": ([1, 2, 3], [0.25, 0.5, 1.0])}, "x", "alt")

    assert cdf("c", "t", {"x": ([1, 2, 3], [10, 20, 40])}, "x", "alt") == fractions


@given(st.lists(st.integers(0, 5), min_size=2, max_size=60), st.data())
def test_the_greatest_are_those_that_sorting_puts_first(values, data):
    count = data.draw(st.integers(1, len(values) - 1))
    steps = np.array(values, float)

    assert sorted(_thinning.largest(steps, count)) == sorted(np.argsort(-steps, kind="stable")[:count])


def test_a_thinned_series_keeps_its_extremes():
    rng = np.random.default_rng(7)
    x, y = np.arange(60_000) * 600.0, rng.normal(size=60_000)
    y[777], y[4242], y[:50] = 99, -99, np.nan
    line = first_line(series("s", "t", x, {"y": y}, "y", "alt"))

    assert len(line["x"]) <= 1000
    assert {99, -99} <= set(line["y"])
    assert all(before <= after for before, after in pairwise(line["x"]))


def test_a_thinned_band_holds_all_that_it_held():
    x, mean = np.arange(10_000) * 600.0, np.sin(np.arange(10_000) / 300)
    line = first_line(series("s", "t", x, {"y": (mean, mean - 2, mean + 2)}, "y", "alt"))

    assert len(line["x"]) == len(line["low"]) <= 1000
    assert min(line["low"]) == pytest.approx((mean - 2).min(), abs=1e-4)
    assert max(line["high"]) == pytest.approx((mean + 2).max(), abs=1e-4)


def test_a_gap_stays_a_gap():
    values = np.ones(5000)
    values[1000:2000] = np.nan
    line = first_line(series("s", "t", np.arange(5000) * 60.0, {"y": values}, "y", "alt"))

    assert None in line["y"]


def test_days_are_those_of_the_zone():
    moments = 852_076_800 + np.arange(10) * 86400.0  # 1997-01-01 00:00 in London
    london, tokyo = (
        words(draw(series("s", "t", moments, {"y": np.ones(10)}, "y", "alt", zone=zone)))
        for zone in ("Europe/London", "Asia/Tokyo")
    )

    assert "1997, time in Europe/London" in london
    assert "1997, time in Asia/Tokyo" in tokyo


def test_without_a_zone_days_count_from_the_start():
    assert "days since the start" in words(draw(make_all()[2]))


def test_a_level_is_drawn_with_its_name():
    figure = series("s", "t", [0, 1e6], {"y": [1, 2]}, "y", "alt", reference=(8, "8 CPUs"))

    assert {"┄┄ 8 CPUs", "8"} <= set(words(draw(figure)))


def test_a_spike_does_not_press_all_else_to_the_ground():
    values = [100.0 + day % 7 for day in range(200)]
    values[-9] = 9000.0
    days = np.arange(200) * 86400.0
    figure = series("s", "t", days, {"y": values}, "y", "alt", unit="count", reference=(120, "all"))
    shown = words(draw(figure))

    assert "↑ 9,000" in shown
    assert {"50", "100", "150"} <= set(shown)
    assert "5,000" not in shown


def test_a_level_far_above_all_values_leaves_them_the_drawing():
    figure = series("s", "t", [0, 1e6], {"y": [1, 2]}, "y", "alt", unit="count", reference=(9000, "all"))

    shown = words(draw(figure))

    assert "↑ all: 9,000" in shown
    assert {"0", "1", "2"} <= set(shown)


@pytest.mark.parametrize("values", [[0, 0], [], [None, None]])
def test_a_level_over_nothing_is_drawn(values):
    x = [0, 1e6][: len(values)]
    values = [np.nan if value is None else value for value in values]

    drawn = draw(series("s", "t", x, {"y": values}, "y", "alt", reference=(9000, "all")))
    assert "┄┄ all" in words(drawn)


def test_names_beside_each_other_do_not_read_as_one():
    one, other = Box(0, 0, 40, 13), Box(46, 0, 60, 13)

    assert not one.apart(other)
    assert not other.apart(one)
    assert one.apart(other._replace(left=60, right=80))
    assert one.apart(other._replace(bottom=14, top=27))


def test_hours_of_two_days_say_which_days():
    moments = 852_076_800 + 80_000 + np.arange(10) * 3600.0  # from 1997-01-01 22:13 in London
    shown = words(draw(series("s", "t", moments, {"y": np.ones(10)}, "y", "alt", zone="Europe/London")))

    assert "1 Jan to 2 Jan 1997, time in Europe/London" in shown


def test_minutes_stand_at_an_axis_of_less_than_an_hour():
    named = [tick.label for tick in _ticks.logarithmic(900, 3600, "seconds", 300)]

    assert named == ["15 min", "30 min", "1 h"]


def test_names_of_lines_stand_beside_them_unless_one_is_enough():
    one = cdf("c", "t", {"alone": steps(range(9))}, "x", "alt")
    two = cdf("c", "t", {"first": steps(range(9)), "second": steps(range(0, 900, 9))}, "x", "alt")

    assert "alone" not in words(draw(one))
    assert {"first", "second"} <= set(words(draw(two)))


def test_crowded_lines_are_named_above():
    crowd = {f"a line with a name {n}": np.random.default_rng(n).random(900) for n in range(6)}
    shown = words(draw(series("s", "t", np.arange(900) * 60.0, crowd, "y", "alt")))

    assert sum(word.startswith("– a line") for word in shown) == 6


def test_a_logarithmic_line_leaves_out_what_has_no_place_there():
    points = ([0, 1, 10, 100], [5, 0, 2, 3])
    both = first_line(lines("n", "t", {"y": points}, "x", "y", "alt", log=(True, True)))
    none = first_line(lines("n", "t", {"y": points}, "x", "y", "alt", log=(False, False)))

    assert (both["x"], both["y"]) == ([10, 100], [2, 3])
    assert none["x"] == [0, 1, 10, 100]


def test_a_reference_is_named_and_grey():
    both = {"y": ([1, 9], [1, 5]), "even": ([1, 9], [1, 1])}
    figure = lines("n", "t", both, "x", "y", "alt", dashed=["even"])

    assert {"y", "even"} <= set(words(draw(figure)))
    assert draw(figure).count("stroke: var(--chart-muted") >= 1


def test_missing_cells_stay_empty():
    full = draw(heatmap("h", "t", np.ones((2, 2)), ["a", "b"], ["c", "d"], "alt"))
    holes = draw(heatmap("h", "t", [[1, np.nan], [np.nan, 1]], ["a", "b"], ["c", "d"], "alt"))

    assert full.count("<path") == holes.count("<path") + 2


@given(
    st.floats(1e-3, 1e12),
    st.floats(1.01, 1e9),
    st.sampled_from(["", "count", "seconds", "kilobytes", "fraction"]),
)
def test_ticks_stand_on_their_axis_apart_from_each_other(low, factor, unit):
    high = low * factor
    flat, steep = _ticks.linear(low, high, unit), _ticks.logarithmic(low, high, unit, 350)

    assert len(flat) <= 12
    for along in (flat, steep):
        places = [tick.place for tick in along]
        assert places == sorted(set(places))
        assert all(low * 0.99 <= place <= high * 1.01 for place in places)


def test_long_names_are_cut_in_drawings_only():
    figure = bars("b", "t", ["x" * 10_000], [1], "user", "jobs", "alt")

    assert max(map(len, words(draw(figure)))) < 30


def test_what_is_rounded_is_small_and_what_is_missing_is_none():
    assert _thinning.rounded(np.array([1 / 3, 2.0, np.inf]), 3) == [0.333, 2, None]


def test_a_density_is_as_high_as_it_has_rows():
    drawn = [
        draw(density("d", "t", [1, 9], sizes, [1, 2], "alt", xlabel="x", ylabel="y"))
        for sizes in ([1, 1], [1, 2], [1, 500])
    ]
    heights = [float(svg.partition('height="')[2].partition('"')[0]) for svg in drawn]

    assert heights == sorted(set(heights))


@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(1, 10**6), st.integers(1, 1000)), max_size=50))
def test_a_density_holds_all_its_weights_each_where_it_belongs(points):
    x, y, weights = ([point[place] for point in points] for place in range(3))
    data: Any = density("d", "t", x, y, weights, "alt", xlabel="x", ylabel="y").data
    held: dict[tuple[int, int], int] = {}
    for across, up, weight in points:
        column = max(k for k in range(40) if 10**k <= max(across, 1) ** 4)  # exact, whole numbers
        place = (column, up.bit_length() - 1)
        held[place] = held.get(place, 0) + weight

    assert {(column, row) for column, row, _ in data["cells"]} == set(held)
    for column, row, much in data["cells"]:
        assert much == pytest.approx(held[column, row], rel=1e-3)


def test_bars_are_cut_at_the_period_and_rare_owners_share_a_colour():
    bars = [(-5.0, 5.0, 0, 1, "a"), (90.0, 200.0, 0, 1, "a"), (200.0, 300.0, 0, 1, "late")]
    bars += [(10.0, 20.0, n, n + 1, f"u{n}") for n in range(9)]
    data: Any = gantt("g", "t", bars, (0.0, 100.0), "Processors", "alt").data

    assert data["groups"][0] == {"label": "a", "bars": [[0.0, 5.0, 0, 1], [90.0, 100.0, 0, 1]]}
    assert data["groups"][-1]["label"] == "others"
    assert sum(len(group["bars"]) for group in data["groups"]) == 11


def ticks_and_markers(svg):
    """Return where each text stands, and where the markers of each series do."""
    root, namespace = ET.fromstring(svg), "{http://www.w3.org/2000/svg}"  # noqa: S314 - ours
    labels = {text.text: float(text.get("x", "nan")) for text in root.iter(f"{namespace}text")}
    series = [[float(use.get("x", "nan")) for use in group.iter(f"{namespace}use")]
              for group in root.iter(f"{namespace}g")]  # fmt: skip
    return labels, [marks for marks in series if marks]


LOADS = {"FPLT": [(4.0, 1.0), (5.0, 1.0), (9.0, 2.0)], "RR": [(3.0, 1.0), (4.0, 1.0), (8.0, 2.0)]}


def test_points_stand_at_their_numbers_and_lines_join_them():
    """A load of 30 % was drawn from 23 to 36 %, as far apart from 60 % as from 50 %."""
    places = ["30 %", "60 %", "70 %"]
    labels, drawn = ticks_and_markers(
        draw(groups("g", "t", places, LOADS, "Load", "Wait", "alt", x=[0.3, 0.6, 0.7]))
    )

    assert len(drawn) == 2
    for across in drawn:
        assert across == pytest.approx([labels[place] for place in places], abs=0.2)
        assert (across[1] - across[0]) / (across[2] - across[1]) == pytest.approx(3.0, rel=1e-2)


def test_numbers_in_any_order_are_joined_from_left_to_right():
    backwards = {name: points[::-1] for name, points in LOADS.items()}
    places, x = ["30 %", "60 %", "70 %"], [0.3, 0.6, 0.7]
    forward = draw(groups("g", "t", places, LOADS, "Load", "Wait", "alt", x=x))

    assert forward == draw(groups("g", "t", places[::-1], backwards, "Load", "Wait", "alt", x=x[::-1]))


def test_at_names_series_stand_side_by_side_and_nothing_joins_them():
    svg = draw(groups("g", "t", ["short", "long", "night"], LOADS, "Queue", "Wait", "alt"))
    _, (one, other) = ticks_and_markers(svg)

    assert min(b - a for a, b in zip(one, other, strict=True)) > 20
    assert not any(svg.count(f"M{place:g} ") and re.search(rf"M{place:g} [0-9.]+L", svg) for place in one)


def test_labels_of_numbers_do_not_overlap():
    sizes = [float(2**power) for power in range(11)]
    series = {"a": [(1.0, None)] * 11}
    svg = draw(groups("g", "t", [f"{size:g} bags" for size in sizes], series, "Size", "Wait", "alt", x=sizes))
    labels, (marks,) = ticks_and_markers(svg)
    shown = sorted(place for name, place in labels.items() if name and name.endswith(" bags"))

    assert len(marks) == 11
    assert min(b - a for a, b in pairwise(marks)) > 40, "a logarithmic axis"
    assert min(b - a for a, b in pairwise(shown)) > 40


def test_both_ends_of_what_a_value_may_be_are_in_view_on_a_logarithmic_axis():
    """A line that is cut at the border of a picture would say that the value cannot be beyond it."""
    points = {"now": [(100.0, (5.0, 2000.0)), (9000.0, None)]}
    canvas = Canvas(figsize=(6, 3))
    draw_groups(canvas, groups("g", "t", ["a", "b"], points, "Load", "Wait", "alt").data)
    (axes,) = canvas.axes
    low, high = axes.get_ylim()

    assert axes.get_yscale() == "log"
    assert low < 5.0
    assert high > 9000.0
