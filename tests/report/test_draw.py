"""What pictures of a page are made of: numbers, ticks and times as Python writes them."""

import json
import re
import shutil
import subprocess
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from gwa.report.figures import _ticks
from gwa.util.assets import asset
from gwa.words.formatting import compact, number, seconds

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="needs node to run the page's script")

STUB = """
globalThis.document = {
  documentElement: { lang: %s, dataset: {} }, addEventListener() {},
  createElement: () => ({ getContext: () => null }),
};
"""


def run(code, language="en"):
    """Return what *code* gives that has the page's drawing at hand."""
    script = STUB % json.dumps(language) + asset("templates", "static", "draw.js").read_text()
    show = f"console.log(JSON.stringify((() => {{ {code} }})()));"
    node = shutil.which("node") or ""
    done = subprocess.run([node, "-e", f"{script}\n{show}"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def spaced(text):
    """Return *text* with plain spaces and minus signs."""
    return str(text).replace("\N{NO-BREAK SPACE}", " ").replace("\N{MINUS SIGN}", "-")


VALUES = {
    "": (0, 1, -5, 12.5, 999.7, 1234.6, 28476, 2.5e7, 3e12, 0.0003, 1e-5),
    "count": (0, 7, 28476),
    "fraction": (0, 0.5, 0.123, 1),
    "seconds": (0, 1, 45, 5400, 86400, 3.2e6, 1e9),
    "kilobytes": (0, 1, 2048, 3145728),
    "cpu seconds": (0, 7.2e6),
}


@pytest.mark.parametrize("unit", VALUES)
def test_numbers_are_those_of_paper(unit):
    shown = run(f"return {json.dumps(VALUES[unit])}.map((value) => draw.compact(value, {json.dumps(unit)}));")

    assert [spaced(text) for text in shown] == [spaced(compact(value, unit)) for value in VALUES[unit]]


def test_numbers_are_those_of_the_language():
    shown = run("return [draw.compact(28476), draw.show(0.7011, 'fraction'), draw.number(0.5)];", "de")

    assert [spaced(text) for text in shown] == ["28.476", "70,1 %", "0,5"]


def test_what_is_not_known_is_no_zero():
    assert run("return [null, undefined, NaN].map((value) => draw.show(value, 'fraction'));") == ["–"] * 3


def test_what_is_pointed_at_has_three_digits():
    shown = run("return [1298558.668, 6879.573333, 0.7022222222, 12, 4].map((value) => draw.show(value));")

    assert shown == ["1,298,559", "6,880", "0.702", "12", "4"]
    shares = run("return [0.123456, 0.0123456].map((one) => draw.show(one, 'fraction'));")
    assert [spaced(text) for text in shares] == ["12.3 %", "1.23 %"]


COLUMNS: dict[str, list[tuple[tuple[float | None, ...], list[str]]]] = {
    "": [((1298558.668, 6879.573333, 0.7022222222, 0.3), ["1,298,559", "6,880", "1", "< 1"]),
         ((12.34567, 0.5, None, 3), ["12.3", "0.5", "–", "3.0"]), ((7, 28476, 0), ["7", "28,476", "0"])],
    "fraction": [((0.63333, 0.041), ["63.3 %", "4.1 %"]), ((0.9997, 0.0002), ["> 99 %", "< 1 %"])],
    "cpu seconds": [((7.2e6, 1234567.0), ["2,000 CPU h", "343 CPU h"])],
    "seconds": [((5400, 1), ["1 h 30 min", "1 s"])],
}  # fmt: skip


@pytest.mark.parametrize("unit", COLUMNS)
def test_what_stands_under_each_other_has_the_same_decimals(unit):
    for values, expected in COLUMNS[unit]:
        shown = run(f"return draw.column({json.dumps(values)}, {json.dumps(unit)});")

        assert [spaced(text) for text in shown] == expected


def test_a_value_is_never_rounded_to_nothing_or_to_all():
    shown = run("return [0.0004, 0.9997, 0, 1].map((value) => draw.percent(value));")

    assert [spaced(text) for text in shown] == ["< 0.1 %", "> 99.9 %", "0 %", "100 %"]


AXES = (
    (0, 0.93, "fraction"), (0, 312826, "count"), (-3, 9, ""), (0, 9600, "seconds"), (0, 190_000, "seconds"),
    (3600, 4500, "seconds"), (0, 8e7, "seconds"),
)  # fmt: skip


@pytest.mark.parametrize(("low", "high", "unit"), AXES)
def test_ticks_are_those_of_paper(low, high, unit):
    shown = run(f"return draw.linearTicks({low}, {high}, {json.dumps(unit)}, 5);")

    drawn = _ticks.linear(low, high, unit)
    assert [place for place, _ in shown] == pytest.approx([tick.place for tick in drawn])
    assert [spaced(label) for _, label in shown] == [spaced(tick.label) for tick in drawn]


def test_ticks_of_durations_are_halves_of_one_unit():
    shown = run("return draw.linearTicks(0, 9600, 'seconds', 15).map(([, label]) => label);")

    assert [spaced(label) for label in shown] == ["0 s", "30 min", "1 h", "1.5 h", "2 h", "2.5 h"]


LENGTHS = (0, 0.25, 9.96, 45.64, 59.96, 60, 61, 3599.7, 5460, 7175, 86_399, 163_560, 266_976, 3.2e7, 7e7, 1e9)


def test_a_duration_is_written_as_sentences_have_it():
    shown = run(f"return {json.dumps(LENGTHS)}.map((value) => draw.length(value));")
    written = [re.sub(r" (year|day)s?$", lambda unit: f" {unit[1][0]}", seconds(value)) for value in LENGTHS]

    assert [spaced(text) for text in shown] == written


@pytest.mark.parametrize("value", [331.52, 20.994, 0.12331, 999.6, 99.96, 1234.6, 6.1662])
def test_a_number_has_the_digits_of_sentences(value):
    assert spaced(run(f"return draw.number({value});")) == number(value)


def test_ticks_of_a_logarithmic_axis_stand_apart():
    shown = run("return draw.apart(draw.logTicks(1, 90000, 'seconds'), draw.log([1, 90000], [0, 300]));")

    assert [spaced(label) for _, label in shown][:2] == ["1 s", "10 s"]
    assert [place for place, _ in shown] == sorted(place for place, _ in shown)


@pytest.mark.parametrize(("low", "high"), [(80_000, 13e6), (900, 5000), (3, 3e10)])
def test_an_axis_of_memory_has_several_ticks(low, high):
    shown = run(
        f"return draw.apart(draw.logTicks({low}, {high}, 'kilobytes'), draw.log([{low}, {high}], [0, 800]));"
    )
    drawn = _ticks.logarithmic(low, high, "kilobytes", 800)

    assert len(shown) > 1
    assert {spaced(tick.label) for tick in drawn} & {spaced(label) for _, label in shown}
    assert len(drawn) > 1


@pytest.mark.parametrize(
    "scale", ["linear([3, 700], [10, 90])", "log([3, 700], [10, 90])", "logWithZero([3, 700], [10, 90])"]
)
def test_a_scale_leads_back(scale):
    back = run(f"const scale = draw.{scale}; return [3, 50, 700].map((value) => scale.invert(scale(value)));")

    assert back == pytest.approx([3, 50, 700])


@pytest.mark.parametrize(
    "zone", ["Europe/Madrid", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC"]
)
@pytest.mark.parametrize("start", [847_000_000, 1_111_500_000, 1_572_000_000, -1_000_000_000])
def test_the_clock_of_a_zone_is_that_of_python(zone, start):
    moments = [start + n * 12_345 for n in range(200)]
    code = f"const clock = draw.time({json.dumps(zone)}); return {json.dumps(moments)}.map((moment) => "
    shown = run(code + "[clock.iso(moment), clock.moment(clock.wall(moment)) - moment]);")
    days = [f"{datetime.fromtimestamp(moment, ZoneInfo(zone)):%Y-%m-%d}" for moment in moments]

    assert [day for day, _ in shown] == days
    # The hour that a clock shows twice in autumn is that of either.
    assert {abs(back) for _, back in shown} <= {0, 1800, 3600}
    assert sum(back != 0 for _, back in shown) <= 2


def test_ticks_of_days_stand_at_midnight_even_where_the_clocks_change():
    zone = ZoneInfo("Europe/Stockholm")
    begin = datetime(2005, 3, 24, 9, tzinfo=zone).timestamp()
    shown = run(f"return draw.time('Europe/Stockholm').ticks({begin}, {begin} + 5 * 86400, 700);")
    at = [datetime.fromtimestamp(moment, zone) for moment, _ in shown]

    assert {moment.hour * 60 + moment.minute for moment in at} <= {0, 720}
    assert [label for (_, label), moment in zip(shown, at, strict=True) if not moment.hour] == [
        f"{moment.day} {moment:%b}" for moment in at if not moment.hour
    ]


def test_months_and_days_are_named_in_the_language():
    shown = run("const clock = draw.time('UTC'); return [clock.day(0), clock.month(5e6)];", "de")

    assert shown == ["1. Jan. 1970", "Feb"]


def test_without_a_zone_time_is_counted():
    shown = run("return draw.time(null, { day: 'day', days: 'days since the start' }).stamp(1.5 * 86400);")

    assert shown == "day 1.5"


def test_a_zone_that_the_browser_does_not_know_is_not_claimed():
    assert run("return [draw.time('Mars/Olympus').zone, draw.time('Mars/Olympus').stamp(0)];") == [
        "UTC",
        "1970-01-01 00:00",
    ]


def test_text_of_a_drawing_is_escaped():
    shown = run("return draw.text(1, 2, '<b a=\"1\">&\\'', { fill: '\"><script>' });")

    assert "<b" not in shown
    assert "<script" not in shown


def test_a_gap_stays_a_gap():
    assert run("return draw.course([0, 1, 2, 3], [5, NaN, 6, 7]);") == "M0 5M2 6L3 7"
    assert run("return draw.band([0, 1, 2, 3], [9, 9, 9], [5, NaN, 9]);") == "M0 9V5H1V9Z"
