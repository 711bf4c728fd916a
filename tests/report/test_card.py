"""A card is the first sentence of a report, its bar and the days: one picture, and nothing else."""

import re
import struct

import pytest

from tests.conftest import HOME
from tests.program import run

TINY = HOME / "sample_traces" / "swf" / "tiny.swf"


def test_a_card_is_a_picture_of_its_size_and_no_page_is_written(tmp_path):
    for name in ("one.png", "other.png"):
        assert run("report", TINY, "--card", name, "-q", cwd=tmp_path).returncode == 0
    one, other = ((tmp_path / name).read_bytes() for name in ("one.png", "other.png"))

    assert struct.unpack(">II", one[16:24]) == (1200, 630)
    assert one == other, "the same report gives the same bytes"
    assert sorted(path.name for path in tmp_path.glob("[!.]*")) == ["one.png", "other.png"]


@pytest.mark.parametrize(("language", "said"), [("en", "Of every 100"), ("de", "Von je 100")])
def test_a_card_of_text_says_the_sentence_in_the_language_asked_for(language, said, tmp_path):
    done = run("report", TINY, "--card", "card.svg", "--lang", language, "-q", "--html", cwd=tmp_path)
    assert done.returncode == 0
    text = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", (tmp_path / "card.svg").read_text()))
    assert said in text
    assert len(list(tmp_path.glob("*.html"))) == 1, "a page that is asked for is written, too"


def test_what_is_no_card_is_refused_and_nothing_is_written(tmp_path):
    refused = run("report", TINY, "--card", "card.gif", "-q", cwd=tmp_path)
    assert refused.returncode != 0
    assert "expected a name such as card.png" in refused.stderr
    assert run("report", TINY, TINY, "--card", "card.png", cwd=tmp_path).returncode != 0
    assert run("report", TINY, "--by", "month", "--card", "card.png", cwd=tmp_path).returncode != 0
    assert not list(tmp_path.iterdir())
    (tmp_path / "card.png").write_text("mine")
    assert run("report", TINY, "--card", "card.png", "-q", cwd=tmp_path).returncode != 0
    assert (tmp_path / "card.png").read_text() == "mine"
