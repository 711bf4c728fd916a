"""The report as a page: whole, safe with any name, and usable by anybody."""

import json
import re
import shutil
import subprocess
import sys
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise
from types import ModuleType

import pytest

import gwa
from gwa.analysis.build import build
from gwa.errors import DefinitionError
from gwa.report import document, drawing
from gwa.report.document import Answer, Fact, Facts, Figure, Finding, Note, Report, Section, Table
from gwa.report.explorer import Explorer
from gwa.report.figures.bars import bars
from gwa.report.html import UNPRINTABLE, html, kinds_on_page, page, summary
from gwa.report.layout import chapters, layout, main_and_more
from gwa.report.printable import one_line
from gwa.util.assets import asset
from tests.made_report import HOSTILE, make_figures, make_report


@pytest.fixture(scope="module")
def report():
    """Return the made-up report."""
    return make_report()


@pytest.fixture(scope="module")
def text(report):
    """Return its page."""
    return html(report)


@pytest.mark.parametrize(("computer", "title"), [("IBM SP2", "IBM SP2"), ("various", "kth"), ("", "kth")])
def test_a_report_is_called_by_what_says_something(make_store, computer, title):
    store = make_store((("Computer", computer),), submit_time=[1.0])

    assert build(store, "kth", only=["overview"]).title == title


@pytest.mark.parametrize(
    ("computer", "site", "title", "below"),
    [
        ("IBM SP2", "Institute of Technology (KTH)", "IBM SP2 · KTH", "Institute of Technology (KTH)"),
        ("Cluster (Seth)", "HPC2N - Center North", "Cluster (Seth) · HPC2N", "HPC2N - Center North · log"),
        ("RX200", "RICC: Integrated Cluster", "RX200 · RICC", "RICC: Integrated Cluster · log"),
        ("iPSC/860", "NASA Ames", "iPSC/860 · NASA Ames", "log"),
        ("CEA Curie", "CEA", "CEA Curie", "log"),
        ("Thunder", "Computing - " + "L" * 60, "Thunder", "Computing - " + "L" * 60 + " · log"),
        ("", "LCG grid", "LCG grid", "log"),
        ("unknown", "LOG site", "LOG site", ""),
    ],
)
def test_a_system_is_called_with_its_place_for_short(make_store, computer, site, title, below):
    """What the title says is not said below, and neither is what the place says; an archive's title stays."""
    store = make_store((("Computer", computer), ("Installation", site)), submit_time=[1.0])
    name = "kth" if "KTH" in site else "log"

    made = build(store, name, only=["overview"])
    assert (made.title, made.subtitle) == (title, below)
    of_archive = make_store((("Computer", "T"), ("Installation", site), ("Archive", "A")), submit_time=[1.0])
    assert build(of_archive, name, only=["overview"]).title == "T"


def test_a_log_that_says_nothing_is_called_as_its_file(tmp_path):
    log = tmp_path / "a.b.swf"
    log.write_text("1 0 0 10 1 10 -1 1 -1 -1 1 1 1 -1 1 -1 -1 -1\n")
    with gwa.open(log) as trace:
        made = trace.report(["overview"])
    assert (made.title, made.subtitle) == ("a.b.swf", "")


def test_a_report_without_a_system_is_called_by_its_place(make_store):
    store = make_store(submit_time=[1.0, 2.0], last_run_site_id=["ibis", "ibis"])
    made = build(store, "sacct", only=["overview"])
    assert (made.title, made.subtitle) == ("ibis", "sacct")


class Page(HTMLParser):
    """What a browser would see: tags with their attributes, and text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.words.append(data)


def attributes(text, name):
    """Return every value of an attribute on a page."""
    return [attrs[name] for _, attrs in Page(text).tags if name in attrs]


def test_every_kind_of_block_has_a_macro_and_no_other_has():
    source = asset("templates", "blocks.html").read_text()
    known = {
        kind.kind for kind in vars(document).values() if isinstance(kind, type) and hasattr(kind, "kind")
    }

    macros = set(re.findall(r"macro (\w+)\(", source))
    assert macros == known == {"facts", "fact_table", "table", "figure", "note", "attachment"}


def test_the_page_is_the_same_each_time(report, text):
    assert html(report) == text
    assert html(make_report()) == text


def test_the_page_needs_nothing_else(text):
    for _, attrs in Page(text).tags:
        assert not attrs.keys() & {"src", "srcset", "action"}
        assert attrs.get("href", "#").startswith("#")
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)


def test_the_policy_allows_our_script_alone(text):
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    policy = next(attrs["content"] for _, attrs in Page(text).tags if attrs.get("http-equiv"))

    assert len(scripts) == 1
    assert f"script-src 'sha256-{sha(scripts[0])}'" in policy
    assert "default-src 'none'" in policy
    assert not [name for _, attrs in Page(text).tags for name in attrs if name.startswith("on")]


def sha(script):
    """Return the hash of a script as a policy writes it."""
    return b64encode(sha256(script.encode()).digest()).decode()


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: name[:12].encode("ascii", "replace").decode())
def test_hostile_names_come_out_as_text(text, name):
    shown = name.translate(UNPRINTABLE)

    assert text.encode("utf-8")
    assert shown in Page(text).words
    assert "49" not in [word.strip() for word in Page(text).words], "a template was run"


def test_nothing_hostile_becomes_a_tag(report, text):
    tags = Page(text).tags
    kinds = [attrs.get("type") for tag, attrs in tags if tag == "script"]

    assert kinds == [None, *["application/json"] * len(list(report.figures()))], "a page runs only the first"
    assert not any(tag == "img" for tag, _ in tags)


@pytest.mark.parametrize(
    "name", ["</script><script>alert(1)</script>", "<!--<script>", "]]>&amp;", "a\u2028b\x00"]
)
def test_no_name_ends_the_data_of_a_figure(name):
    figure = bars("b", name, [name], [1.0], name, name, name)
    shown = html(Report("t", "s", (Section("s", "S", "", (figure,)),)))
    _, _, rest = shown.partition('<script type="application/json">')

    assert json.loads(rest.partition("</script>")[0])["labels"] == [one_line(name)]
    assert not re.search("[<>&]", rest.partition("</script>")[0])


def test_a_kind_that_the_page_cannot_draw_is_drawn_for_it(monkeypatch, tmp_path):
    module = ModuleType("pie")
    module.draw = lambda canvas, _: canvas.add_axes((0, 0, 1, 1))  # type: ignore[attr-defined]
    monkeypatch.setattr(drawing, "_drawings", lambda: {"pie": module.draw})
    made = Report("t", "s", (Section("s", "S", "", (Figure("p", "Pie", "pie", {"of": 1}, "Round."),)),))

    assert '<desc id="fig-p-desc">Round.</desc>' in html(made)
    assert 'data-plot="pie"' not in html(made)
    (tmp_path / "static" / "figures").mkdir(parents=True)
    (tmp_path / "static" / "figures" / "pie.js").write_text("figures.kinds.pie = () => null;")
    drawn = html(made, overrides=tmp_path)
    assert 'data-plot="pie"' in drawn
    assert "figures.kinds.pie = () => null;" in drawn


def test_every_kind_has_both_halves():
    assert kinds_on_page() == drawing.kinds()


def test_without_the_script_a_figure_says_what_it_shows_and_where_its_numbers_are(text):
    inside = re.findall(r"<noscript>(.*?)</noscript>", text)

    assert len(inside) == text.count("<figure")
    assert all("the tables have its numbers" in said for said in inside)
    assert any("Half of the jobs run less than ten minutes." in said for said in inside)


def test_a_page_is_made_without_matplotlib():
    code = "import sys; from gwa.report.html import html; from tests.made_report import make_report; "
    code += "html(make_report()); print('matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)

    assert run.stdout.strip() == "False"


def test_ids_are_unique_and_every_reference_has_its_target(text):
    ids = attributes(text, "id")

    assert len(ids) == len(set(ids))
    assert {target[1:] for target in attributes(text, "href")} <= set(ids)
    for name in ("aria-labelledby", "aria-controls"):
        assert {word for value in attributes(text, name) for word in value.split()} <= set(ids)


def test_headings_go_down_one_level_at_a_time(text):
    levels = [int(tag[1]) for tag, _ in Page(text).tags if re.fullmatch("h[1-6]", tag)]

    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_a_reader_without_eyes_finds_their_way(text):
    tags = Page(text).tags
    names = [tag for tag, _ in tags]

    assert {"header", "nav", "main", "section", "caption"} <= set(names)
    assert ("html", {"lang": "en"}) in tags
    assert ("a", {"class": "skip", "href": "#content"}) in tags
    assert all("scope" in attrs for tag, attrs in tags if tag == "th")
    assert all(attrs.get("role") == "img" for tag, attrs in tags if tag == "svg")


def test_facts_keep_all_their_digits(text):
    found = {attrs["title"]: attrs["value"] for tag, attrs in Page(text).tags if tag == "data"}

    assert found["arrivals.hour.mean = 3.4912345678"] == "3.4912345678"
    assert "3.49 per hour" in Page(text).words


def test_cells_keep_all_their_digits(text):
    assert json.dumps(0.31 / 3) in attributes(text, "data-value")


def test_times_are_those_of_the_zone_of_the_report(report, text):
    assert "1996-09-23 18:00:03" in text
    assert "day 9,763, 16:00" in html(Report(report.title, report.subtitle, report.sections[:1]))


def test_the_head_has_the_most_important_numbers(report):
    shown = [fact.id for fact in summary(report)]

    assert shown[:4] == ["trace.jobs", "trace.users", "trace.cpus", "trace.cpu_seconds"]


def test_the_head_of_a_page_that_is_led_has_what_is_of_the_trace_alone(report):
    assert [fact.id for fact in summary(report, is_led=True)] == [
        name for name in ("trace.jobs", "trace.users", "trace.cpus") if report.fact(name)
    ]


def test_a_lower_bound_is_no_size_in_the_head():
    facts = (Fact("trace.cpus", 8, "Processors"), Fact("trace.cpus_inferred", True, "Inferred"))  # noqa: FBT003
    one = Report("t", "s", (Section("s", "S", "", (Facts(facts),)),))
    assert summary(one) == []


def test_the_head_takes_other_numbers_where_those_are_missing():
    facts = [Fact(name, value, name) for name, value in (("a", 1), ("b", None), ("c", "c"), ("d", True))]
    one = Report("t", "s", (Section("s", "S", "", (Facts(tuple(facts)),)),))

    assert [fact.id for fact in summary(one)] == ["a"]


def test_narrow_figures_that_the_page_draws_stand_in_pairs_and_wide_ones_alone():
    drawn = make_figures()
    given = [drawn[key] for key in ("runtime", "times", "procs", "queue", "users", "hours")]
    on_page = [row.shape for row in layout([*given, Note("n")], {})]
    on_paper = [row.shape for row in layout([*given, Note("n")], {one.id: "<svg/>" for one in given})]

    assert on_page == ["pair", "wide", "wide", "wide", "wide", "wide"], "one alone leaves nothing empty"
    assert set(on_paper) == {"wide"}


def test_what_one_acts_on_is_in_view_beside_the_main_figure_and_instead_of_another_table():
    table, figure = Table("t", "T", (), ()), make_figures()["runtime"]
    acted_on = Table("a", "A", (), (), is_acted_on=True)

    def in_view(*blocks):
        return [block for row in main_and_more(blocks, {}).main for block in row.blocks]

    assert in_view(table, figure, acted_on) == [figure, acted_on]
    assert in_view(table, acted_on) == [acted_on]
    assert in_view(table) == [table]
    nothing, some = (
        Facts((Fact("f", 0, "F", "count"), Fact("g", value, "G", "count"))) for value in (None, 3)
    )
    assert in_view(nothing) == []
    assert in_view(some) == [some]


def test_what_an_answer_or_a_claim_says_is_said_once_on_its_screen():
    found = Finding("f", "Six users made half of it.", "s", "r", 0.5)
    other = Finding("o", "One job in five failed.", "s", "r", 0.4)
    blocks = (Note("Six users made half of it."), Note("Nobody waited."))
    one = Report("t", "s", (Section("s", "S", "", blocks, "C"),), findings=(found, other))
    answer = Answer("who", "Who?", "6", "Six users made half of it. The rest is small.", "s")
    told = html(replace(one, answers=(answer,)))
    head, _, main = told.partition("<main")

    assert head.count("Six users made half of it.") == 1
    assert "One job in five failed." in head
    assert "Six users made half of it." not in main, "neither as a claim nor as a note"
    assert "One job in five failed." not in main
    assert "Nobody waited." in main


@pytest.mark.parametrize("paper", [False, True])
def test_no_sentence_of_the_first_screen_stands_in_a_section_again(paper):
    found = tuple(Finding(f"f{n}", f"Sentence {n} is said.", "s", "r", 1 - n / 10) for n in range(6))
    one = Report("t", "s", (Section("s", "S", "", (Table("a", "A", (), ()),), "C"),), findings=found)
    head, _, main = page(one, {}, paper=paper).partition("<main")
    seen = head.partition('class="more-findings"')[0] if not paper else head
    texts = [finding.text for finding in found]

    assert [text for text in texts if text in seen] == texts[: 6 if paper else 3]
    assert [text for text in texts if text in main] == ([] if paper else texts[3:5])


def test_a_section_that_only_notes_what_is_missing_stands_with_what_is_not_in_the_log():
    noted = Section("n", "Noted", "", (Note("Neither is known."),), "C")
    shown = Section("s", "Shown", "", (Note("Careful."), Table("a", "A", (), ())), "C")
    explorer = Explorer((), {}, {}, b"", None, {})
    report = Report("t", "s", (noted, shown), explorer=explorer)

    assert [one.title for chapter in chapters(report) for one in chapter.sections] == ["Shown"]
    missing = html(report).partition('id="not-recorded"')[2]
    assert "Neither is known." in missing
    assert "Careful." not in missing.partition("</section>")[0]
    assert len(chapters(replace(report, explorer=None))[0].sections) == 2, (
        "elsewhere a note may be the answer"
    )


def test_chapters_hold_their_sections_in_order(report):
    found = chapters(report)
    assert [chapter.title for chapter in found] == ["Overview", "Load", "Jobs", "People", "For modellers"]
    assert sum(len(chapter.sections) for chapter in found) == len(report.sections)


def test_a_section_that_failed_is_told_of_at_the_top(text):
    assert "A part of this report could not be made" in text.partition("<main")[0]


def test_an_empty_report_is_a_page_too():
    assert "<h1>" in html(Report("t", "s", ()))


def test_a_folder_of_templates_takes_precedence(tmp_path, report):
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "report.css").write_text("body { color: hotpink }")
    (tmp_path / "parts.html").write_text("{% extends 'gwa/parts.html' %}")
    changed = html(report, overrides=tmp_path)

    assert "hotpink" in changed
    assert "--chart-1:" not in changed


@pytest.mark.parametrize(
    ("template", "message"),
    [("{{ nothing }}", "'nothing' is undefined"), ("\n{% if %}", r"report\.html:2: Expected an expression")],
)
def test_a_template_that_is_wrong_is_named(tmp_path, template, message):
    (tmp_path / "report.html").write_text(template)

    with pytest.raises(DefinitionError, match=message):
        html(Report("t", "s", ()), overrides=tmp_path)


@pytest.mark.skipif(not shutil.which("node"), reason="needs node to run the page's script")
def test_exports_are_safe_in_spreadsheets():
    names = (*HOSTILE[:4], " +1", "@x", "-2", "|dde", 'a"b,c')
    lines = [["name", "n"], *[[name, 1.5] for name in names], [None, -7]]
    stub = "globalThis.document = {documentElement: {dataset: {}}, addEventListener() {}};"
    show = f"const lines = {json.dumps(lines)};"
    show += "console.log(JSON.stringify([csv(lines), tsv(lines), json(lines)]))"
    script = f"{stub}\n{asset('templates', 'static', 'report.js').read_text()}\n{show}"
    node = shutil.which("node") or ""
    run = subprocess.run([node, "-e", script], capture_output=True, text=True, check=True)
    csv, tsv, data = json.loads(run.stdout)

    assert "'=cmd|' /C calc'!A0,1.5\r\n" in csv
    assert '"a""b,c",1.5\r\n' in csv
    assert csv.endswith("\r\n,-7\r\n"), "a number is not a formula, and nothing is empty"
    assert all(line.lstrip('"')[0] not in "=+-@|" for line in csv.splitlines())
    assert "'@x\t1.5\n" in tsv
    assert json.loads(data)[2] == {"name": HOSTILE[2], "n": 1.5}


def test_what_to_do_next_stands_first_and_is_not_said_twice(report):
    found = [
        Finding(name, f"Text of {name}.", section, "rule", 0.5, action=action)
        for name, section, action in (
            ("a", "data-quality", "Look."), ("b", "users", "Ask."), ("c", "users", ""),
            ("d", "users", "See."), ("e", "users", "Act."), ("f", "users", "Fourth."),
        )
    ]  # fmt: skip
    page = html(replace(report, findings=tuple(found)))

    shown = page.partition('class="do-next"')[2].partition("</section>")[0]
    assert [text for text in ("Look.", "Ask.", "See.", "Act.", "Fourth.") if text in shown] == [
        "Ask.", "See.", "Act.",
    ]  # fmt: skip
    others = page.partition('class="findings"')[2].partition("</section>")[0]
    assert "Text of c." in others
    assert "Text of b." not in others.partition("more-findings")[0]
