"""A report in another language: every text of its own is translated, and nothing else is touched."""

import json
import re
import tomllib
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import gwa
from gwa.cli import gwa as program
from gwa.errors import DefinitionError
from gwa.report.as_json import as_json
from gwa.report.document import FactTable, Figure, Table, Verbatim
from gwa.report.drawing import to_draw
from gwa.report.html import html
from gwa.report.language import Language, read_language, translated
from gwa.report.latex import latex
from tests.conftest import HOME
from tests.made_report import HOSTILE, make_report

SPOKEN = {"alt", "aria-label", "placeholder", "data-done", "data-help", "data-none", "data-day"}
"""The attributes of a page that a reader is told."""

VALUES = {
    "td",
    "dd",
    "code",
    "style",
    "script",
    "text",
    "bdi.name",
    "bdi.name brief",
    "dl.reproduction",
    "bdi.title",
    "p.worth",
}
"""The elements that hold values and names, or the words of a drawing, which are tested as data."""

VOID = {"meta", "input", "link", "img", "br"}

ALIKE = {"CSV", "JSON", "SVG", "PNG", "+", "−", "–", "model.json"}
SIZE = re.compile(r"[\d.]+[ \xa0]?(%|h|min)?")
"""What is the same in all languages: names of formats, signs, and numbers with units that are no words."""


class Own(HTMLParser):
    """The texts of a page that are its own."""

    def __init__(self, text):
        super().__init__()
        self.within, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.texts += [value for name, value in attrs if name in SPOKEN]
        if tag not in VOID:
            title = "title" if self.within and {self.within[-1]} & {"h1", "p.subtitle"} else None
            kind = title or found.get("class")
            self.within.append(
                f"{tag}.{kind}" if f"{tag}.{kind}" in VALUES | {"dd.help", "p.subtitle"} else tag
            )

    def handle_endtag(self, _):
        self.within.pop()

    def handle_data(self, data):
        if data.strip() and not VALUES & set(self.within) and "title" not in self.within[:3]:
            self.texts.append(data.strip())


def bare(text):
    """Return what of *text* stands in no brackets."""
    before = ""
    while before != text:
        before, text = text, re.sub("⟦[^⟦⟧]*⟧", "", text)
    return text


BLANK = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>'
"""What stands for each drawing here."""


def rendered(write, report, language):
    """Return *report* in *language* as *write* writes it."""
    made = translated(report, language)
    return write(made, drawings={one.id: BLANK for one in to_draw(made)}, language=language)


@pytest.fixture(scope="module", params=["sample", "made up"])
def report(request):
    """Return a report with every kind of text."""
    if request.param == "made up":
        return make_report()
    with gwa.open(HOME / "sample_traces" / "swf" / "tiny.swf") as trace:
        return trace.report()


@pytest.fixture(scope="module")
def pseudo(report):
    """Return a language in which each text that *report* needs is itself in brackets."""
    asking = Language()
    for write in (html, latex):
        rendered(write, report, asking)
    return Language("xx", {key: f"⟦{key}⟧" for key in asking.asked})


def test_no_text_of_a_page_is_left_over(report, pseudo):
    page = rendered(html, report, pseudo)

    assert '<html lang="xx">' in page
    left = {text for text in Own(page).texts if bare(text) and not SIZE.fullmatch(bare(text))}
    assert not left - ALIKE


def test_no_text_of_the_latex_is_left_over(report, pseudo):
    files = rendered(latex, report, pseudo)
    titles = [
        title
        for name, text in files.items()
        if name.startswith("sections/")
        for title in re.findall(r"^\\(?:sub)?section\*?\{(.*)\}$", text, re.MULTILINE)
    ]

    assert titles
    assert not [title for title in titles if bare(title)]


def own_texts(block):
    """Yield the texts of a *block* that are ours."""
    for name in ("text", "title", "note", "alt"):
        yield getattr(block, name, "")
    if isinstance(block, Table):
        yield from (column.label for column in block.columns)
    if isinstance(block, FactTable):
        yield from block.columns
        yield from (name for name, _ in block.rows)
    if isinstance(block, Figure):
        yield from (block.data.get(name, "") for name in ("xlabel", "ylabel"))
    for fact in getattr(block, "facts", ()):
        yield from (fact.label, fact.help, fact.text)


def test_no_text_of_the_data_is_left_over(report, pseudo):
    made = translated(report, pseudo)
    texts = [text for section in made.sections for block in section.blocks for text in own_texts(block)]
    texts += [text for one in made.findings for text in (one.text, one.rule, one.advice)]

    assert not [text for text in texts if bare(text) and not SIZE.fullmatch(bare(text))]


def test_ids_values_and_names_are_in_no_language(report, pseudo):
    made = translated(report, pseudo)
    tables = [
        [block.rows for section in one.sections for block in section.blocks if isinstance(block, Table)]
        for one in (report, made)
    ]

    assert [(fact.id, fact.value) for fact in made.facts()] == [(f.id, f.value) for f in report.facts()]
    assert tables[0] == tables[1]


def test_english_is_what_it_was(report):
    assert as_json(translated(report, Language())) == as_json(report)


def test_a_name_is_never_translated():
    german = Language("de", {"Jobs": "Aufträge"})

    assert german("Jobs") == "Aufträge"
    assert german(Verbatim("Jobs")) == "Jobs"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("3 of 216 users submit 48.9 % of the jobs", "48.9 % der Aufträge sind von 3 der 216 Benutzer"),
        ("The median is 3 min 20 s.", "Im Mittel 3 min 20 s."),
        ("The median is 3.2 days.", "Im Mittel 3.2 Tage."),
        ("The median is < 0.1 %.", "Im Mittel < 0.1 %."),
        ("The median is −1.5 × 10⁻⁷.", "Im Mittel −1.5 × 10⁻⁷."),
        ("The median is 12,345.", "Im Mittel 12,345."),
        ("The median is 12 jobs.", "The median is 12 jobs."),
        ("Least on 1996-09-23 16:00:03", "Am wenigsten: 1996-09-23 16:00:03"),
        ("Run time: KTH (2)", "Laufzeit in KTH (2)"),
        ("Run time: {0} {} {name}", "Laufzeit in {0} {} {name}"),
        ("U12", "U12"),
    ],
)
def test_numbers_and_names_in_a_sentence_are_kept(text, said):
    german = Language(
        "de",
        {
            "{} of {} users submit {} of the jobs": "{2} der Aufträge sind von {0} der {1} Benutzer",
            "The median is {}.": "Im Mittel {}.",
            "Least on {}": "Am wenigsten: {}",
            "Run time: {name}": "Laufzeit in {name}",
            "days": "Tage",
        },
    )

    assert german(text) == said


@given(st.text())
def test_any_text_without_a_translation_is_kept(text):
    assert Language("de", {"{name} and {}": "{1} und {0}", "{}": "x"})(text + ".") == text + "."


@given(st.lists(st.text(), max_size=8))
def test_what_is_written_for_translators_can_be_read(texts):
    asking = Language()
    for text in [*texts, *HOSTILE]:
        asking(text)
    again = tomllib.loads(asking.toml())

    assert set(again.values()) <= {""}
    assert len(again) <= len(asking.asked)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('"Jobs" = 3\n', "expected a text in quotes"),
        ('"Jobs of {}" = "{} {}"\n', "has 1 places, its translation asks for more"),
        ('"Jobs of {}" = "{1}"\n', "has 1 places, its translation asks for more"),
        ('"Jobs\n', "de.toml:1: "),
        ("\xff", "de.toml:1: "),
    ],
)
def test_a_wrong_file_is_refused_in_a_line(tmp_path, content, message):
    file = tmp_path / "languages" / "de.toml"
    file.parent.mkdir()
    file.write_bytes(content.encode("latin-1"))

    with pytest.raises(DefinitionError, match=re.escape(message)) as raised:
        read_language("de", tmp_path)

    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("code", ["de", "../de", "", "x" * 99, "de/.."])
def test_a_language_that_is_not_there_is_told(code, tmp_path):
    with pytest.raises(DefinitionError, match=r"--lang"):
        read_language(code, tmp_path)


def test_a_translator_goes_round_once(tmp_path, sample):
    file, again = tmp_path / "mine" / "languages" / "de.toml", tmp_path / "again.toml"
    first = ["report", str(sample / "swf" / "tiny.swf"), "--sections", "overview", "-o", str(tmp_path)]
    second = [*first, "--json", "--theme", str(tmp_path / "mine"), "--lang", "de", "--strings", str(again)]
    run = CliRunner().invoke
    asked = run(program, [*first, "--strings", str(file)])
    file.write_text(file.read_text().replace('"Jobs" = ""', '"Jobs" = "Aufträge"'), encoding="utf-8")
    said = run(program, second)
    made = json.loads((tmp_path / "tiny.json").read_text(encoding="utf-8"))
    labels = {fact["label"] for block in made["sections"][0]["blocks"] for fact in block.get("facts", ())}

    assert asked.exit_code == said.exit_code == 0
    assert str(file) in asked.output
    assert {"Aufträge", "Users"} <= labels
    assert '"Jobs" = "Aufträge"' in again.read_text(encoding="utf-8")


def test_nothing_is_written_for_a_language_that_is_not_there(tmp_path, sample):
    words = ["report", str(sample / "swf" / "tiny.swf"), "-o", str(tmp_path), "--lang", "xx"]
    made = CliRunner().invoke(program, words)

    assert isinstance(made.exception, DefinitionError)
    assert not list(tmp_path.iterdir())
