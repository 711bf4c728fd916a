"""A report in another language: every text of its own is translated, and nothing else is touched."""

import json
import pickle
import re
import subprocess
import sys
from html.parser import HTMLParser
from io import BytesIO

import pytest
from babel.messages.pofile import read_po
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import gwa
from gwa.analysis.base import analyses
from gwa.cli import gwa as program
from gwa.errors import DefinitionError
from gwa.evaluation.experiments.page import CHANCE, LEAD, LEADS
from gwa.evaluation.experiments.run import MEASURES
from gwa.evaluation.measure import Aspect
from gwa.report.as_json import as_json
from gwa.report.document import FactTable, Figure, Report, Section, Table
from gwa.report.drawing import draw, to_draw
from gwa.report.html import ORIGIN, html
from gwa.report.language import Language, places, read_language, translated
from gwa.report.latex import latex
from gwa.simulation.architectures import ARCHITECTURES
from gwa.simulation.scheduling import SCHEDULERS
from gwa.simulation.selection import SELECTIONS
from gwa.words.message import Message, Number, Verbatim, joined, message, plural, within_sentence
from tests.browser.test_pages import ranked, simulated
from tests.conftest import HOME
from tests.made_report import make_report
from tests.messages import LANGUAGES, as_text, renew, template

SPOKEN = {
    *("alt", "aria-label", "placeholder", "data-done", "data-none", "data-alt", "data-title", "data-help"),
    "data-closer",
    *("data-day", "data-days", "data-hours", "data-zone", "data-log"),
}
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
    "bdi.name long",
    "dl.reproduction",
    "bdi.title",
    "p.worth",
}
"""The elements that hold values and names, or the words of a drawing, which are tested as data."""

VOID = {"meta", "input", "link", "img", "br"}

ALIKE = {"CSV", "JSON", "SVG", "PNG", "+", "/", "−", "–", "model.json"}
SIZE = re.compile(r"[\d.]+[ \xa0]?(%|h|min|d)?")
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
    blank = {} if write is html else {"drawings": {one.id: BLANK for one in to_draw(made)}}
    return write(made, language=language, **blank)


@pytest.fixture(scope="module", params=["sample", "made up"])
def report(request, tiny_report):
    """Return a report with every kind of text."""
    return make_report() if request.param == "made up" else tiny_report


class Asking(Language):
    """A language in brackets that notes what it is asked for."""

    def __call__(self, text):
        if isinstance(text, Number | Verbatim):
            return text
        return f"⟦{super().__call__(text)}⟧" if text else text


@pytest.fixture(scope="module")
def pseudo():
    """Return a language in which each text is itself in brackets."""
    return Asking("xx")


def test_no_text_of_a_page_is_left_over(report, pseudo):
    page = rendered(html, report, pseudo)

    assert '<html lang="xx">' in page
    whole = re.sub(r"</?em\b[^>]*>", "", page)  # colours of parts do not cut a sentence
    left = {text for text in Own(whole).texts if bare(text) and not SIZE.fullmatch(bare(text))}
    assert sorted(left - ALIKE) == []


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


AMOUNT = re.compile(r"–|[\d.,% ]+(h|min|s|[\d% ])*")

NAMED = {"Bags of tasks on two clusters", "tiny", "1. lublin", "2. dacosta"}
"""What those who ask call experiments, traces and models."""


@pytest.mark.parametrize("name", ["simulation", "leaderboard"])
def test_pages_on_policies_and_models_have_words_that_can_be_translated(name, pseudo, tmp_path):
    report = simulated(tmp_path) if name == "simulation" else ranked()
    made = translated(report, pseudo)
    texts = [text for section in made.sections for block in section.blocks for text in own_texts(block)]
    texts += [text for section in made.sections for text in (section.title, section.chapter, section.help)]
    texts += [made.title, made.overline, made.answer]
    policies = {"csp", "sep-c"}

    left = {text for text in map(bare, texts) if text and not AMOUNT.fullmatch(text)}
    assert not {one for one in left - NAMED if one.partition(" · ")[0] not in policies}
    assert "⟦" in made.answer
    titles = {one for section in report.sections for one in (section.title, section.chapter)}
    in_catalogue = {one.id for one in template()}
    assert {str(one) for one in {*titles, report.overline} if one and one not in NAMED} <= in_catalogue


def test_their_words_are_in_the_catalogue():
    """What is asked for by a variable is found by no reader of syntax: it stands in the list of words."""
    texts = {one.id for one in template()}
    assert {*ARCHITECTURES.values(), *SELECTIONS.values(), *SCHEDULERS.values()} <= texts
    assert {aspect.value for aspect in Aspect} <= texts
    assert {column.label for column in MEASURES} <= texts
    assert {*map(str, CHANCE.values()), str(LEAD), str(LEADS)} <= texts


def test_ids_values_and_names_are_in_no_language(report, pseudo):
    made = translated(report, pseudo)
    tables = [
        [block.rows for section in one.sections for block in section.blocks if isinstance(block, Table)]
        for one in (report, made)
    ]

    assert [(fact.id, fact.value) for fact in made.facts()] == [(f.id, f.value) for f in report.facts()]
    cells = [
        [cell for table in tables_of for row in table for cell in row if not isinstance(cell, Message)]
        for tables_of in (tables[0],)
    ]
    assert cells[0] == [
        cell
        for before, after in zip(*tables, strict=True)
        for row, new in zip(before, after, strict=True)
        for was, cell in zip(row, new, strict=True)
        if not isinstance(was, Message)
    ]


def test_english_is_what_it_was(report):
    assert as_json(translated(report, Language())) == as_json(report)


GERMAN = Language(
    "de",
    {
        "Jobs": ("Jobs",),
        "User": ("Benutzer",),
        "{jobs} of {users} users": ("von {users} Benutzern {jobs}",),
        "The median is {wait}.": ("Der Median ist {wait}.",),
        "{n} day": ("{n} Tag", "{n} Tage"),
        "Waits by {owner}": ("Wartezeiten nach {owner}",),
    },
    {",": ".", ".": ","},
)


def test_a_name_is_never_translated():
    assert GERMAN("User") == "Benutzer"
    assert GERMAN(Verbatim("User")) == "User"
    assert GERMAN(message("The median is {wait}.", wait=Verbatim("User"))) == "Der Median ist User."


@pytest.mark.parametrize(
    ("text", "english", "german"),
    [
        (
            message("{jobs} of {users} users", jobs=Number("1,216.5"), users=Number("3")),
            "1,216.5 of 3 users",
            "von 3 Benutzern 1.216,5",
        ),
        (
            message("The median is {wait}.", wait=plural("{n} day", "{n} days", 3.2)),
            "The median is 3.2 days.",
            "Der Median ist 3,2 Tage.",
        ),
        (plural("{n} day", "{n} days", 1), "1 day", "1 Tag"),
        (plural("{n} day", "{n} days", 1.5), "1.5 days", "1,5 Tage"),
        (
            message("Waits by {owner}", owner=within_sentence("User")),
            "Waits by user",
            "Wartezeiten nach Benutzer",
        ),
        (joined(", ", ["User", plural("{n} day", "{n} days", 2)]), "User, 2 days", "Benutzer, 2 Tage"),
        (message("{n} day") + ": " + "User", "{n} day: User", "{n} Tag: Benutzer"),
        (message("not translated {n}", n=Number("1.5")), "not translated 1.5", "not translated 1,5"),
        ("The median is 12 jobs.", "The median is 12 jobs.", "The median is 12 jobs."),
    ],
)
def test_a_message_is_english_and_knows_its_translation(text, english, german):
    assert (text, GERMAN(text)) == (english, german)
    assert GERMAN(pickle.loads(pickle.dumps(text))) == german  # noqa: S301 - our own


@given(st.text(), st.text())
def test_any_text_without_a_translation_is_kept(text, value):
    said = message("{value} and " + text.replace("{", "{{").replace("}", "}}"), value=Verbatim(value))

    assert Language("de")(text) == text
    assert Language("de")(said) == said == f"{value} and {text}"


@given(st.text())
def test_any_text_is_asked_for_its_places(text):
    found = places(text)

    assert found is None or all(f"{{{name}}}" in text for name in found)


def written(tmp_path, text):
    """Write a catalogue and return the folder of the theme that holds it."""
    file = tmp_path / "languages" / "de.po"
    file.parent.mkdir(exist_ok=True)
    file.write_text(
        f'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\n{text}', encoding="utf-8"
    )
    return tmp_path


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('msgid "Jobs of {user}"\nmsgstr "Jobs {}"', "other places than user"),
        ('msgid "Jobs of {user}"\nmsgstr "Jobs {user.__class__}"', "other places than user"),
        ('msgid "Jobs of {user}"\nmsgstr "Jobs {0}"', "other places than user"),
        ('msgid "Jobs of {user}"\nmsgstr "Jobs {"', "other places than user"),
        ('msgid "Jobs of {user}"\nmsgstr "Jobs {name}"', "other places than user"),
        ("what is this?", "expected a .po file"),
    ],
)
def test_a_wrong_file_is_refused_in_a_line(tmp_path, text, told):
    with pytest.raises(DefinitionError, match=re.escape(told)) as raised:
        read_language("de", written(tmp_path, text))

    assert "\n" not in str(raised.value)


def test_a_theme_has_its_own_language(tmp_path):
    own = read_language(
        "de", written(tmp_path, 'msgid "Jobs"\nmsgstr "Aufträge"\n\nmsgid "Users"\nmsgstr ""')
    )

    assert (own("Jobs"), own("Users"), own(Number("1,234.5")), own("May")) == (
        "Aufträge",
        "Users",
        "1.234,5",
        "Mai",
    )


@pytest.mark.parametrize("code", ["xx", "../de", "", "x" * 99, "de/.."])
def test_a_language_that_is_not_there_is_told(code, tmp_path):
    with pytest.raises(DefinitionError, match=r"--lang"):
        read_language(code, tmp_path)


def test_a_translator_goes_round_once(tmp_path, sample):
    file = tmp_path / "mine" / "languages" / "fr.po"
    first = ["report", str(sample / "swf" / "tiny.swf"), "--sections", "overview", "-o", str(tmp_path)]
    run = CliRunner().invoke
    asked = run(program, [*first, "--strings", str(file)])
    text = file.read_text(encoding="utf-8")
    file.write_text(
        text.replace('msgid "Jobs"\nmsgstr ""', 'msgid "Jobs"\nmsgstr "Tâches"'), encoding="utf-8"
    )
    said = run(program, [*first, "--json", "--theme", str(tmp_path / "mine"), "--lang", "fr"])
    made = json.loads((tmp_path / "tiny-fr-overview.json").read_text(encoding="utf-8"))
    labels = {fact["label"] for block in made["sections"][0]["blocks"] for fact in block.get("facts", ())}

    assert asked.exit_code == said.exit_code == 0
    assert str(file) in asked.output
    assert {"Tâches", "Users"} <= labels


def test_texts_of_all_rooms_are_to_be_translated():
    found = {text for texts in template() for text in ([texts.id] if isinstance(texts.id, str) else texts.id)}
    assert "Report on requests to language models" in found
    assert "Arrivals of requests" in found
    assert "only up to 20 % more processors can be planned for" in found


def test_the_template_has_the_texts_of_today():
    assert as_text(template()) == (LANGUAGES / "messages.pot").read_bytes()


@pytest.mark.parametrize("path", sorted(LANGUAGES.glob("*.po")), ids=lambda path: path.stem)
def test_a_language_has_the_texts_of_today(path):
    assert renew(path, template()) == path.read_bytes()


def test_an_english_report_does_not_import_babel():
    code = (
        "import sys, gwa\n"
        f"with gwa.open({str(HOME / 'sample_traces' / 'swf' / 'tiny.swf')!r}) as trace:\n"
        "    import tempfile\n"
        "    trace.report(['overview']).write(tempfile.mkdtemp(), 'html', 'json')\n"
        "assert 'babel' not in sys.modules\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_nothing_is_written_for_a_language_that_is_not_there(tmp_path, sample):
    words = ["report", str(sample / "swf" / "tiny.swf"), "-o", str(tmp_path), "--lang", "xx"]
    made = CliRunner().invoke(program, words)

    assert isinstance(made.exception, DefinitionError)
    assert not list(tmp_path.iterdir())


NAMES_ALIKE = {
    "Cluster",
    *(
        "Name",
        "Partition",
        "QoS",
        "Minimum",
        "Median",
        "Maximum",
        "Text",
        "Definition",
        "Slowdown",
        "kWh",
        "Workload",
        "JSON",
        "CSV",
    ),
    *(
        "Status",
        "GPUs",
        "Jobs",
        "Bags",
        "Flurries",
        "Projekt",
        "Job",
        "Traces",
        "Trace",
        "Parameter",
        "parallel",
    ),
}
"""Words that are alike in English and German."""

ENGLISH = re.compile(
    r"\b(the|(?<!gwa )wait|waits|queue|users|share|which|when|where(?! not)|by|hours)\b", re.IGNORECASE
)
"""Words that are none of German, and stand in no name of these logs."""

OPERATORS = [one.id for one in analyses() if one.view == "operator" and one.id != "synthetic-workloads"]


def words_of(report, language):
    """Return the texts of the blocks of *report* in *language* that have two words or more."""
    made = translated(report, language)
    blocks = [block for section in made.sections for block in section.blocks]
    texts = {text for block in blocks for text in own_texts(block)}
    texts |= {text for section in made.sections for text in (section.title, section.chapter, section.help)}
    texts |= {text for one in made.findings for text in (one.text, one.rule, one.advice)}
    texts |= {text for one in made.answers for text in (one.text, one.question, one.number)}
    return {text for text in texts if re.search("[A-Za-z]{3}", text.replace("min", ""))}


def test_what_a_report_was_made_of_is_told_in_german(tiny_report):
    """The keys of the JSON stay; the page has words of its language for them."""
    assert set(tiny_report.reproduction) <= ORIGIN.keys()
    page = html(tiny_report, language=read_language("de"))
    origin = page.partition('<dl class="reproduction">')[2].partition("</dl>")[0]
    keys = re.findall(r'<(?:dt|span class="key")><bdi>(.*?)</bdi>', origin)
    assert {"Quellen", "Bilanz der Zeilen", "Zeilen", "Versionen", "umgewandelt von gwa"} <= set(keys)
    assert not {"sources", "account", "rows", "versions", "converted by gwa"} & set(keys)


def test_what_was_repaired_is_told_in_german(tmp_path):
    """The store keeps it in English; a page has the kind of a problem and what it is in its language."""
    log = tmp_path / "wrong.swf"
    wrong = {3: "-5", 4: "1e30", 9: "-7"}
    rows = []
    for place, value in wrong.items():
        row = f"{place} {place * 60} 5 60 4 -1 -1 4 100 -1 1 1 1 1 1 1 -1 -1".split()
        row[place - 1] = value
        rows.append(" ".join(row))
    log.write_text("\n".join(("; MaxProcs: 16", "; UnixStartTime: 1000000000", *rows, "")))
    with gwa.open(log) as trace:
        report = trace.report(["data-quality"])
    (english, german) = (
        next(one for one in translated(report, language).tables() if one.id == "problems")
        for language in (Language(), read_language("de"))
    )
    assert isinstance(english, Table)
    assert isinstance(german, Table)
    meanings = {row[1] for row in english.rows}
    assert "a slightly negative wait_time was set to 0" in meanings
    assert any("that is not a valid value" in str(text) for text in meanings)
    for before, after in zip(english.rows, german.rows, strict=True):
        assert before[0] != after[0], before
        assert before[1] != after[1], before


@pytest.mark.parametrize("log", ["swf/tiny.swf", "slurm/expected.gwf", "alibaba-gpu2020/expected.gwf"])
def test_a_german_report_has_no_english_left(log, sample):
    with gwa.open(sample / log) as trace:
        wanted = [
            name for name in OPERATORS if name in {one.id for one in analyses() if one.is_wanted(trace.store)}
        ]
        report = trace.report(wanted)

    german = words_of(report, read_language("de"))
    assert not (words_of(report, Language()) & german) - NAMES_ALIKE
    assert [text for text in german if ENGLISH.search(text)] == [], "a part of a text, such as Median: wait"


def test_german_has_one_word_for_a_user_and_a_core_hour_and_bids_in_the_infinitive():
    """Users were Nutzer and Benutzer, and the page said "Vergleichen Sie" beside "fragen"."""
    entries = read_po(BytesIO((LANGUAGES / "de.po").read_bytes()))
    texts = [text for entry in entries if entry.id for text in _all(entry.string)]

    assert [text for text in texts if re.search(r"\bNutzer|\bUser\b|Core-Stunde|Kern-Stunde", text)] == []
    asked = [text for text in texts if re.search(r"[a-zäöü]en Sie\b", text)]
    assert asked == ["Bei Fragen antworten Sie auf diese Mail."], "it stands in a letter"


def _all(texts):
    return [texts] if isinstance(texts, str) else texts


def test_a_german_page_has_german_numbers_axes_and_months(sample):
    with gwa.open(sample / "swf" / "tiny.swf") as trace:
        report = trace.report(["overview", "utilization", "arrivals", "run-times"])
    german = read_language("de")
    made = translated(report, german)
    page = html(made, language=german)
    drawn = draw(next(figure for figure in made.figures() if figure.plot == "series"), german)

    assert '<html lang="de">' in page, "in which its script writes axes and months"
    assert 'data-zone="{dates}, Zeit in {zone}"' in page
    assert "1.200" in page
    assert re.search(r">\d+\. Mär<", drawn)
    assert not re.search(r">\d+ Mar<", drawn)


def test_labels_of_a_figure_are_translated_where_they_are_words_and_not_where_they_are_names():
    figure = Figure("x", "X", "bars", {"labels": [message("to 1 h"), "Jobs"], "values": [1, 2]}, "Two bars.")
    report = Report("t", "s", (Section("one", "One", "", (figure,)),))

    (found,) = translated(report, read_language("de")).figures()

    assert found.data["labels"] == ["bis 1 h", "Jobs"]
