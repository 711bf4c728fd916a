"""The smaller parts of an archive: citations, diversity, ranks, feeds, links, pages that people write."""

import json
import math
import re

import lxml.etree as xml
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.archive.catalogue import Catalogue, CatalogueChange, CatalogueEntry
from gwa.archive.citation import bibtex, ris
from gwa.archive.feeds import as_script, feed, sitemap
from gwa.archive.leaderboard import NAME, Board, read_board
from gwa.archive.link_check import broken_links
from gwa.archive.markdown_pages import written
from gwa.archive.published import PublishedTrace
from gwa.archive.ranking import MEASURES, ranking, reasons, share
from gwa.archive.scheduled import NOT_MODELLED
from gwa.errors import DefinitionError
from gwa.evaluation.standings import COLUMNS
from gwa.metrics.diversity import effective_number
from gwa.report.as_json import as_json
from gwa.report.document import Column
from tests.evaluation.test_leaderboard import IDS, entries, standings

HOSTILE = '<script>alert("x")</script> & {\\input{/etc/passwd}} ]]> \x00\x1b'
BY_ID = {one.id: one for one in MEASURES}


def entry(name="one", **said):
    texts = dict.fromkeys(("title", "system", "provider", "licence", "citation"), HOSTILE)
    return CatalogueEntry(**{"id": name, **texts, **said})


def published(name, *, added=(), synthetic=False, **facts):
    fields = [("SubmitTime", "", 1.0), ("RunTime", "", 0.5), ("NProcs", "", 1.0), ("Status", "", 1.0)]
    about = {
        "facts": facts,
        "fields": fields,
        "problems": [("warning", "odd", 5)],
        "diversity": {"users": 4.0},
        "not modelled": {field: NOT_MODELLED[field][1] for field in added},
    }
    return PublishedTrace(entry(name, synthetic=synthetic), about)


def test_bibtex_cannot_be_broken_out_of():
    text = bibtex(entry(year=2009), "https://archive.example/x_1/")
    braces = re.sub(r"\\[{}]", "", text)

    assert text.startswith("@misc{one,\n")
    assert braces.count("{") == braces.count("}")
    assert "\\input" not in text
    assert "\\url{https://archive.example/x\\_1/}" in text


@given(st.text(max_size=50))
def test_ris_has_one_line_for_each_field(title):
    lines = ris(entry(title=title), "").split("\r\n")

    assert all(re.match(r"(TY|TI|AU|PY|UR|N1|ER)  - ", line) for line in lines[:-1])
    assert lines[-2:] == ["ER  - ", ""]


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=30))
def test_the_effective_number_lies_between_one_and_all(counts):
    assert 1 - 1e-9 <= effective_number(counts) <= len(counts) + 1e-9
    assert effective_number([counts[0]] * len(counts)) == pytest.approx(len(counts))


def test_the_effective_number_is_that_of_the_definition():
    assert effective_number([3, 1]) == pytest.approx(
        math.exp(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))
    )
    assert effective_number([]) == 0


def test_traces_are_ranked_and_equal_ones_share_a_place():
    size = {"a": 10, "b": 30, "c": 10, "d": None}
    ones = [published(name, **{"trace.jobs": jobs}) for name, jobs in size.items()]
    ranks = ranking(BY_ID["size"], [*ones, PublishedTrace(entry("e"), {}, "broken")])

    assert [(one.place, one.trace.entry.id) for one in ranks] == [
        (1, "b"), (2, "a"), (2, "c"), (None, "d"),
    ]  # fmt: skip


def test_bars_are_shares_of_the_greatest_and_reasons_stand_once():
    size = {"a": 10, "b": 40, "c": None, "d": None}
    ranks = ranking(BY_ID["size"], [published(name, **{"trace.jobs": jobs}) for name, jobs in size.items()])

    assert [share(rank, ranks) for rank in ranks] == [100, 25, None, None]
    assert [(why, [one.trace.entry.id for one in some]) for why, some in reasons(ranks)] == [
        ("jobs in the trace", ["b", "a"]), ("not recorded", ["c", "d"]),
    ]  # fmt: skip
    assert [share(rank, ranks[2:]) for rank in ranks[2:]] == [None, None]


@pytest.mark.parametrize(("second", "so"), [(2.5, "more"), (1.25, "no more")])
def test_a_leaderboard_has_an_answer_and_shades_the_best_the_darkest(second, so):
    keys = ("model", "rank", "deviation", "bags", "scheduler")
    rows = [["b", second, 0.1, 1, 2], ["a", 1.0, 0.2, 3, 1], ["replay", None, None, None, 3]]
    board = Board([Column(key, key) for key in keys], rows)

    assert board.answer == (
        f"a is the best of 2 models: its mean rank is 1.00, that of the next, b, {second:.2f},"
        f" which is {so} than seeds vary."
    )
    assert [board.shade(row, 1) for row in rows] == [1, 5, 0]
    assert [board.shade(row, 3) for row in rows] == [5, 1, 0]
    assert [board.shade(row, 4) for row in rows] == [0, 0, 0], "more is better, there"
    assert [board.text(row[1], 1) for row in rows] == [f"{second:.2f}", "1.00", "–"]
    assert [board.text(row[3], 3) for row in rows] == ["1", "3", "–"]
    assert Board(board.columns, rows[1:]).answer == ""


def test_each_rank_says_why():
    one = published("a", **{"trace.jobs": 100, "trace.span_seconds": 15 * 86400.0})
    found = {measure.id: ranking(measure, [one])[0] for measure in MEASURES}

    assert all(rank.why for rank in found.values())
    assert found["quality"].value == pytest.approx(0.95)
    assert found["quality"].why == "odd (5)"
    assert found["diversity"].value == pytest.approx(4)
    assert (found["fit-for-memory"].place, found["fit-for-memory"].why) == (None, "no job records ReqMemory")
    assert found["fit-for-failures"].value == pytest.approx(0.5 * 15 / 180)
    assert found["completeness"].value == pytest.approx(3.5 / 14)


def test_what_no_model_made_qualifies_a_synthetic_trace_for_nothing():
    """Failures drawn at random were ranked "fit for: failures"."""
    length = {"trace.jobs": 100, "trace.span_seconds": 400 * 86400.0}
    made = published("made", synthetic=True, added=["WaitTime", "Status"], **length)
    modelled, log = published("modelled", synthetic=True, **length), published("log", **length)
    ranks = {
        measure.id: {rank.trace.entry.id: rank for rank in ranking(measure, [made, modelled, log])}
        for measure in MEASURES
    }

    failures = ranks["fit-for-failures"]
    assert (failures["made"].place, failures["made"].why) == (None, "its outcomes were drawn at random")
    assert failures["log"].place == failures["modelled"].place == 1
    assert ranks["fit-for-users"]["made"].why == (
        "its waits are those of a simulated schedule; its outcomes were drawn at random"
    )
    completeness = ranks["completeness"]
    assert completeness["made"].value == pytest.approx(2.5 / 14)
    assert completeness["log"].value == completeness["modelled"].value == pytest.approx(3.5 / 14)
    assert "Status" not in completeness["made"].why
    assert "its outcomes were drawn at random" in completeness["made"].why
    assert {name: rank.place for name, rank in ranks["quality"].items()} == {
        "made": None, "modelled": None, "log": 1,
    }  # fmt: skip


def test_feeds_are_well_formed_and_keep_hostile_text_as_text(tmp_path):
    from datetime import date

    changed = entry(changes=(CatalogueChange(date(2026, 1, 2), HOSTILE),))
    catalogue = Catalogue(tmp_path, HOSTILE, HOSTILE, "https://archive.example/a&b/", entries=(changed,))
    channel = xml.fromstring(feed(catalogue).encode())[0]
    places = xml.fromstring(sitemap(catalogue, ["index.html"]).encode())

    assert (channel.findtext("title") or "").startswith("<script>")
    assert channel.findtext("item/pubDate") == "Fri, 02 Jan 2026 00:00:00 GMT"
    assert places[0][0].text == "https://archive.example/a&b/index.html"


def test_data_in_a_page_cannot_end_its_element():
    text = as_script({"a": "</script><!--"})

    assert "<" not in text
    assert json.loads(text) == {"a": "</script><!--"}


def test_links_are_followed(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.html").write_text('<p id="x"><a href="../index.html#y">')
    (tmp_path / "index.html").write_text(
        '<a href="a/b.html#x"></a><a href="a/b.html#z"></a><a href="c.html"></a><a href="https://x.example/"></a>'
        '<img src="https://x.example/i.png"><img src="data:,"><a href="/a/b.html"></a><a href="a/"></a>'
    )

    assert list(broken_links(tmp_path)) == [
        "a/b.html: ../index.html#y: index.html has no place of that name",
        "index.html: a/b.html#z: b.html has no place of that name",
        "index.html: c.html: leads nowhere",
        "index.html: https://x.example/i.png: is fetched from elsewhere",
        "index.html: /a/b.html: works at the root of a server only",
        "index.html: a/: is a folder, which only a server can show",
    ]


def test_markdown_has_tables_and_no_html_of_its_own(tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "20-b.md").write_text("# Second\ntext")
    (tmp_path / "pages" / "10-a.md").write_text(
        "# <b>First\n\n<script>x</script>\n\n[x](javascript:alert(1))\n\n| a |\n|---|\n| 1 |\n"
    )
    first, second = written(tmp_path)

    assert (first.name, first.title, second.name) == ("a", "<b>First", "b")
    assert "<table>" in first.body
    assert "<script" not in first.body
    assert "href=" not in first.body


@pytest.mark.parametrize(("name", "text"), [("index.md", "# x"), ("a.md", "no title"), ("A b.md", "# x")])
def test_a_page_that_cannot_be_is_named(tmp_path, name, text):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / name).write_text(text)

    with pytest.raises(DefinitionError, match=re.escape(name)):
        written(tmp_path)


REPORTED = {
    "subtitle": "a-log, 3 seeds each",
    "sections": [
        {
            "blocks": [
                {
                    "kind": "table",
                    "id": "leaderboard",
                    "columns": [
                        {"key": "model", "label": "Model", "unit": ""},
                        {"key": "rank", "label": "Mean rank", "unit": ""},
                    ],
                    "rows": [["one", 1.5], [HOSTILE, None]],
                    "note": "How to read it.",
                },
                {"kind": "note", "text": "One trace is too short.", "level": "warning"},
            ]
        }
    ],
}


def test_a_leaderboard_is_read_from_either_form(tmp_path):
    assert read_board(tmp_path) is None
    (tmp_path / NAME).write_text(json.dumps(REPORTED))
    whole = read_board(tmp_path)
    (tmp_path / NAME).write_text(json.dumps([{"model": "one", "rank": 1.5, "unknown": 3}]))
    rows = read_board(tmp_path)

    assert whole
    assert rows
    assert whole.rows == [["one", 1.5], [HOSTILE, None]]
    assert (whole.traces, list(whole.notes)) == ("a-log, 3 seeds each", ["One trace is too short."])
    assert [one.label for one in rows.columns] == ["Model", "Mean rank"]
    assert rows.rows == [["one", 1.5]]


def test_a_leaderboard_is_read_as_it_is_written_today(tmp_path):
    """What the page of models does not show for want of room stands in its JSON, which a site reads."""
    found = standings(
        *(entries(name, dict.fromkeys(IDS, distance)) for name, distance in (("one", 0.1), ("two", 0.2)))
    )
    (tmp_path / NAME).write_text(as_json(found.report()))
    board = read_board(tmp_path)

    assert board
    assert [column.key for column in board.columns] == [column.key for column in COLUMNS]
    assert [row[0] for row in board.rows] == [row[0] for row in found.rows()]
    assert board.answer == found.answer
    assert board.legend


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "3",
        "[" * 100_000,
        '[{"model": {}}]',
        '[{"model": "x"}, {}]',
        '{"sections": [{"blocks": []}]}',
    ],
)
def test_what_is_no_leaderboard_is_named(tmp_path, text):
    (tmp_path / NAME).write_text(text)

    with pytest.raises(DefinitionError, match=r"leaderboard.json: is not a leaderboard"):
        read_board(tmp_path)


def test_a_leaderboard_is_not_read_from_elsewhere(tmp_path):
    (tmp_path / "secret.json").write_text("[]")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / NAME).symlink_to(tmp_path / "secret.json")

    with pytest.raises(DefinitionError, match="leads out of"):
        read_board(tmp_path / "site")
