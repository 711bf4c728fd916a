"""Every kind of figure is drawn on the page, is read by pointing and by keys, and fits on a phone."""

import json
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from gwa.report import drawing
from gwa.report.document import Figure, Report, Section
from gwa.report.drawing import kinds
from gwa.report.figures.bars import bars
from gwa.report.figures.groups import groups
from gwa.report.figures.heatmap import heatmap
from gwa.report.figures.series import series
from gwa.report.figures.spark import spark
from gwa.report.figures.strips import Strip, strips
from gwa.report.html import html
from tests.browser.conftest import visit
from tests.conftest import HOME
from tests.made_report import HOSTILE, make_figures
from tests.report.test_figures import make_all

ODD = [(), (0,), (7,), (-5, -1, 0, 3), (np.nan, 1, np.nan), (1e300, 1, np.inf), (1e-300, 1e300), (5, 5, 5)]
"""Values that a log may have."""

CUT = """
figure => {
  const svg = figure.querySelector('.drawing > svg'), box = svg.getBoundingClientRect(), found = [];
  for (const text of svg.querySelectorAll('text')) {
    const at = text.getBoundingClientRect();
    const inside = at.left >= box.left - 1 && at.right <= box.right + 1 && at.top >= box.top - 1
      && at.bottom <= box.bottom + 1;
    if (!inside || parseFloat(getComputedStyle(text).fontSize) < 11) found.push(text.textContent);
  }
  if (/NaN|undefined|Infinity/.test(svg.outerHTML)) found.push('a place that is none');
  return found;
}
"""
"""What gives the texts of a figure that are cut, or less than 11 pixels high."""


def more():
    """Return figures of shapes that the others do not have."""
    months = [f"{2010 + n // 12}-{n % 12 + 1:02}" for n in range(30)]
    rng = np.random.default_rng(2)
    names = [f"a policy with a long name {n}" for n in range(9)]
    points = {key: [(n + 1.0, 0.5) for n in range(9)] for key in ("mean", "median")}
    spiky = rng.gamma(2, 50, 400)
    spiky[200] = 9000
    return [
        bars("months", "Months", months, rng.random(30), "Month", "Share", "alt", unit="fraction"),
        groups("names", "Names", names, points, "Policy", "Slowdown", "alt"),
        heatmap(
            "skewed", "Skewed", np.exp(rng.normal(0, 3, (5, 30))), ["q"] * 5, months, "alt", unit="seconds"
        ),
        heatmap("turned", "Turned", rng.random((3, 9)), ["a", "b", "c"], names, "alt"),
        series("spiky", "Spiky", np.arange(400) * 86400.0, {"jobs": spiky}, "Jobs", "alt", unit="count"),
        strips(
            "strips",
            "Strips",
            [Strip(name, np.arange(41) * 86400.0, {"completed": rng.random(40)}, level=1.2) for name in "ab"],
            {"completed": "completed"},
            "days",
            "of the processors",
            "alt",
        ),
        spark("spark", "Spark", [1, 2, None, 4], "alt"),
        spark("sparks", "Spark", [1, 2, 3], "alt", shape="bars", labels=["a", "b", "c"], unit="seconds"),
    ]


def of_all_kinds():
    """Return a figure of each kind, by its kind."""
    return {one.plot: one for one in [*make_all("ordinary name"), *more(), *make_figures().values()]}


def page_of(figures):
    """Return a page with *figures*, which get ids of their own."""
    shown = [Figure(f"n{n}", one.title, one.plot, one.data, one.alt) for n, one in enumerate(figures)]
    return html(Report("All", "of them", (Section("s", "S", "h", tuple(shown)),)))


def opened(context, file, text):
    """Open the page of *text*, all of it unfolded and drawn."""
    file.write_text(text, encoding="utf-8")
    page, wrong = visit(context, file)
    page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
    expect(page.locator("[data-plot] .drawing > svg")).to_have_count(page.locator("[data-plot]").count())
    return page, wrong


@pytest.fixture
def page(context, tmp_path) -> Iterator[Page]:
    """Return a page with a figure of each kind, on which nothing goes wrong."""
    found, wrong = opened(context, tmp_path / "all.html", page_of(of_all_kinds().values()))
    yield found
    assert not wrong


def figure_of(page, kind):
    """Return a figure of a *kind*, its box and what is read."""
    figure = page.locator(f"[data-plot={kind}]").first
    figure.scroll_into_view_if_needed()
    return figure, figure.locator(".drawing"), figure.locator(".reading")


def numbers(value) -> Iterator[float | None]:
    """Yield all numbers in *value*."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from numbers(part)
    elif value is None or not isinstance(value, str):
        yield value


def read(said):
    """Return the exact values that are read."""
    return [
        json.loads(one)
        for one in said.locator("b[data-value]").evaluate_all("all => all.map(b => b.dataset.value)")
    ]


@pytest.mark.parametrize("kind", kinds())
def test_pointing_reads_what_the_data_say(page, kind):
    figure, box, said = figure_of(page, kind)
    known = set(numbers(of_all_kinds()[kind].data))
    expect(said).to_be_hidden()
    frame = box.locator("svg").first.bounding_box()
    for across in (0.3, 0.6, 0.8):
        page.mouse.move(frame["x"] + frame["width"] * across, frame["y"] + frame["height"] * 0.6)
        if said.is_visible():
            assert set(numbers(read(said))) <= known | ({0} if kind in {"cdf", "density"} else set())
    page.keyboard.press("Tab")
    assert figure.locator(".mark").count() == 1
    page.mouse.move(1, 1)
    expect(said).to_be_hidden()


@pytest.mark.parametrize("kind", kinds())
def test_keys_lead_from_value_to_value(page, kind):
    _, box, said = figure_of(page, kind)
    known = set(numbers(of_all_kinds()[kind].data))
    box.focus()
    page.keyboard.press("Home")
    expect(said).to_be_visible()
    shown = [said.inner_text()]
    for key in ["ArrowRight"] * 3 + ["ArrowDown"] * 3 + ["End"]:
        page.keyboard.press(key)
        shown.append(said.inner_text())
        assert read(said)
        assert set(numbers(read(said))) <= known | ({0} if kind == "cdf" else set())
    assert len(set(shown)) > 1
    page.keyboard.press("Escape")
    expect(said).to_be_hidden()


@pytest.mark.parametrize("width", [320, 380, 768, 1280])
def test_nothing_is_cut_and_all_letters_can_be_read(context, tmp_path, width):
    figures = [one for values in ODD for one in make_all("a name", values)]
    figures += [one for name in HOSTILE for one in make_all(name)] + more() + list(make_figures().values())
    page, wrong = opened(context, tmp_path / "all.html", page_of(figures))
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_timeout(300)

    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("figure[data-plot]").evaluate_all(f"all => all.flatMap({CUT})") == []
    assert not wrong


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: name[:8].encode("ascii", "replace").decode())
def test_a_name_stays_text(context, tmp_path, name):
    page, wrong = opened(context, tmp_path / "all.html", page_of(make_all(name)))
    for box in page.locator(".drawing").all():
        box.focus()
        page.keyboard.press("Home")

    assert page.locator("script").count() == 1 + page.locator("figure").count()
    assert not page.locator("img, svg script, foreignObject").count()
    assert not wrong


def test_every_form_of_a_figure_has_its_name_and_its_words(page):
    for figure in page.locator("figure[data-plot]").all():
        box = figure.locator(".drawing")
        expect(box.locator("svg").first).to_have_attribute("aria-label", box.get_attribute("data-alt") or "")
        assert "arrow keys" in (box.get_attribute("aria-label") or "")


def test_axes_of_time_stand_under_each_other(context, tmp_path):
    days = 8e8 + np.arange(100) * 86400.0
    some = [
        series("a", "t", days, {"y": np.ones(100)}, "y", "alt", zone="UTC", unit="count"),
        series("b", "t", days[5:], {"y": 1e6 * np.arange(95)}, "y", "alt", zone="UTC", unit="count"),
    ]
    months = ["1995-05", "1995-06", "1995-07", "1995-08"]
    some.append(bars("c", "t", months, [1.0, 2.0, 3.0, 4.0], "Month", "y", "alt"))
    page, wrong = opened(context, tmp_path / "two.html", page_of(some))
    ticks = page.locator("figure[data-plot]").evaluate_all(
        "all => all.map(one => [...one.querySelectorAll('svg text')].filter("
        "text => /^[0-9]+ [A-Z][a-z]+$/.test(text.textContent))"
        ".map(text => [text.textContent, text.getAttribute('x')]))"
    )

    assert len(ticks[0]) > 2
    assert ticks[0] == ticks[1] == ticks[2], "bars of months, too"
    assert not wrong


def test_the_kind_of_figure_of_the_documentation_works(context, tmp_path, monkeypatch):
    text = (HOME / "docs" / "how-to" / "own-section.md").read_text(encoding="utf-8")
    (tmp_path / "static" / "figures").mkdir(parents=True)
    script = text.partition("```js\n")[2].partition("```")[0]
    (tmp_path / "static" / "figures" / "rose.js").write_text(script, encoding="utf-8")
    monkeypatch.setattr(drawing, "_drawings", lambda: {"rose": None})
    figure = Figure("r", "Rose", "rose", {"labels": ["a", "b"], "values": [40, 90]}, "alt")
    report = Report("t", "s", (Section("s", "S", "h", (figure,)),))
    page, wrong = opened(context, tmp_path / "rose.html", html(report, overrides=tmp_path))
    page.locator(".drawing").focus()
    page.keyboard.press("End")

    assert read(page.locator(".reading")) == [90]
    assert page.locator(".drawing rect").count() == 2
    assert not wrong


def test_a_figure_is_drawn_anew_where_its_width_changes(page):
    figure, box, _ = figure_of(page, "series")
    wide = box.locator("svg").first.get_attribute("width")
    page.set_viewport_size({"width": 380, "height": 800})

    expect(box.locator("svg").first).not_to_have_attribute("width", wide or "")
    assert figure.evaluate("one => one.querySelector('svg').getBoundingClientRect().width <= innerWidth")


def test_a_saved_figure_has_its_title_and_where_it_is_from(page, tmp_path):
    page.emulate_media(color_scheme="dark")
    figure, _, _ = figure_of(page, "heatmap")
    with page.expect_download() as saved:
        figure.locator("[data-save=svg]").click()
    saved.value.save_as(tmp_path / "saved.svg")
    text = (tmp_path / "saved.svg").read_text()

    assert of_all_kinds()["heatmap"].title in text
    assert "All · of them · gwa" in text
    assert "var(" not in text
    assert "#0a66a3" in text, "the colours of paper, however dark the page is"


def widths(page):
    """Return how wide the figures of a page are drawn."""
    shown = page.locator("figure[data-plot] svg[role=img]")
    return shown.evaluate_all("all => all.map(svg => Number(svg.getAttribute('width')))")


def test_figures_are_printed_as_wide_as_paper(page):
    before = widths(page)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_timeout(100)

    assert max(widths(page)) <= 640 < max(before)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert widths(page) == before
    assert page.pdf().startswith(b"%PDF")
