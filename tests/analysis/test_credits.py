"""The foot of a report says who recorded, gave and converted a log, and on what terms."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gwa.analysis.credits import CREDITS, credits_of
from gwa.report.document import Credit
from gwa.report.html import html
from gwa.report.language import read_language, translated
from gwa.report.latex import latex
from gwa.words.message import Verbatim
from tests.made_report import HOSTILE, make_report
from tests.program import invoke

HEAD = """; Computer: Toy
; Installation: Institute of Toys
; Acknowledge: Ada <b>Lovelace</b>
; Information: https://example.org/toys?a=1&b=2 javascript:alert(1)
; Conversion: Charles Babbage
; License: CC BY 4.0
; Citation: Lovelace, Toys, 1843
; MaxProcs: 4
; UnixStartTime: 843480031
"""
JOBS = "".join(f"{n} {n * 60} 5 100 1 -1 -1 1 200 -1 1 1 1 1 1 -1 -1 -1\n" for n in range(1, 9))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Write a log whose header says all that is said of an origin."""
    file = tmp_path / "toy.swf"
    file.write_text(HEAD + JOBS, encoding="utf-8")
    return file


def test_page_json_and_latex_have_what_the_header_says(log: Path, tmp_path: Path) -> None:
    """Nothing that whoever uses a log must know of its origin is lost; text of the log stays text."""
    out = tmp_path / "out"
    arguments = ["report", str(log), "--sections", "overview", "--html", "--json", "--latex", "-o", str(out)]
    assert invoke(*arguments, "--quiet").exit_code == 0
    report = json.loads(next(out.glob("*.json")).read_text(encoding="utf-8"))
    said = {one["id"]: one["text"] for one in report["credits"]}
    assert said == {
        "installation": "Institute of Toys",
        "acknowledgement": "Ada <b>Lovelace</b>",
        "information": "https://example.org/toys?a=1&b=2 javascript:alert(1)",
        "conversion": "Charles Babbage",
        "licence": "CC BY 4.0",
        "citation": "Lovelace, Toys, 1843",
    }
    page = next(out.glob("*.html")).read_text(encoding="utf-8")
    foot = page.partition('id="credits"')[2].partition("</section>")[0]
    assert "Ada &lt;b&gt;Lovelace&lt;/b&gt;" in foot
    assert '<a href="https://example.org/toys?a=1&amp;b=2">' in foot
    assert 'href="javascript' not in page
    tex = next(out.rglob("report.tex")).read_text(encoding="utf-8")
    assert "Charles Babbage" in tex
    assert "CC BY 4.0" in tex


def test_a_description_of_the_system_may_state_terms(log: Path) -> None:
    """What the description beside a log says stands in the place of what the header says."""
    log.with_suffix(".toml").write_text('licence = "CC0"\ncitation = "Cite us"\nacknowledge = "All of us"\n')
    assert invoke("convert", log, "-o", log.with_suffix(".gwf"), "--quiet").exit_code == 0
    header = log.with_suffix(".gwf").read_text(encoding="utf-8")
    lines = tuple(
        (key, text) for key, _, text in (line[2:].partition(": ") for line in header.splitlines()) if text
    )
    said = {(one.id, one.text) for one in credits_of(lines)}
    assert {("licence", "CC0"), ("citation", "Cite us"), ("acknowledgement", "All of us")} <= said


def test_headings_are_translated_and_texts_are_not() -> None:
    """A name that happens to be a phrase of a catalogue stays a name."""
    credit = Credit("licence", CREDITS[5][1], Verbatim("Jobs"))
    german = read_language("de")
    page = html(translated(replace(make_report(), credits=(credit,)), german), language=german)
    foot = page.partition('id="credits"')[2].partition("</section>")[0]
    assert "<dt>Lizenz</dt>" in foot
    assert "<bdi>Jobs</bdi>" in foot


def test_hostile_texts_stay_texts() -> None:
    """No text of a header is markup or a command."""
    report = replace(make_report(), credits=tuple(Credit("terms", "Terms", text) for text in HOSTILE))
    assert "<script>alert" not in html(report)
    assert "\\input{x}" not in str(latex(report)["report.tex"])


def test_what_says_nothing_is_left_out_and_nothing_is_said_twice() -> None:
    """Placeholders are no credits, and neither is the same text again."""
    header = (("Acknowledge", "-1"), ("Licence", "unknown"), ("Citation", "A  B"), ("Reference", "A B"))
    assert [(one.id, one.text) for one in credits_of(header)] == [("citation", "A B")]
    assert credits_of((("MaxProcs", "4"), ("Note", "x"))) == ()
