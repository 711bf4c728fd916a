# mypy: disable-error-code="arg-type, operator, union-attr, attr-defined"
"""The lines of the front page: figures from a source, unknown ones as such, purposes, and strips."""

import re
from itertools import islice

import pyarrow as pa
import pytest

import gwa
from gwa.archive.catalogue import Catalogue, CatalogueEntry
from gwa.archive.overview import PURPOSES, RECORDED_FIELDS, TraceLine, counted, lines, of_public
from gwa.archive.pages import Site, pages
from gwa.archive.public_traces import PublicFacts, PublicTrace, public_trace, public_traces
from gwa.archive.published import PublishedTrace
from gwa.archive.strips import LETTERS, PARTS, outline, strip
from gwa.breakdown.cube import Cube, Grain
from gwa.util.units import DAY, HOUR
from tests.conftest import HOME, LOGS

ABOUT = {"key": "a", "title": "A", "collection": "Workflows", "year": 2009, "page": "https://a/b"}
KNOWN = [trace for trace in public_traces().values() if trace.facts]
COMPUTED = re.compile(r"computed by gwa from (\S+)")


def test_most_public_traces_have_figures_and_each_of_them_a_source():
    assert len(KNOWN) >= 45
    for trace in KNOWN:
        assert trace.facts.source
        assert all(
            re.search(r"https?://|gwa|thesis|pai_|openb_|node_info", one) for one in trace.facts.source
        )
        assert set(trace.facts.records) <= set(RECORDED_FIELDS.values())
        assert trace.facts.rounded == () or all(getattr(trace.facts, name) for name in trace.facts.rounded)


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ((), "No trace yet"),
        ((("here", 2001),), "1 trace of a real system (2001), to read, query and download"),
        (
            (("here", 2001), ("here", None), ("fetch", 2003)),
            (
                "2 traces of real systems (2001, where dated), to read, query and download."
                " Listed, with where to get it: 1 more (2003)"
            ),
        ),
        (
            (("here", None), ("synthetic", None)),
            "1 trace of a real system and 1 synthetic one, to read, query and download",
        ),
        ((("synthetic", 1970), ("synthetic", None)), "2 synthetic traces, to read, query and download"),
        (
            (("synthetic", 1970), ("fetch", 2003), ("fetch", 2005)),
            (
                "1 synthetic trace, to read, query and download."
                " Listed, with where to get them: 2 of real systems (2003–2005)"
            ),
        ),
    ],
)
def test_the_front_page_counts_real_traces_and_those_of_models_apart(kinds, said):
    """Listed traces were said to be there to read; undated ones, to be of the years of the others."""
    made = [TraceLine("a", "A", kind, "", "", "", begin=begin) for kind, begin in kinds]
    assert counted(made) == said


@pytest.mark.parametrize(
    ("number", "compared"),
    [
        (0, "There is nothing to compare: this archive has 0 traces."),
        (1, "this archive has 1 trace."),
        (2, "×3"),
    ],
)
def test_an_archive_of_few_traces_promises_no_more_than_it_has(tmp_path, number, compared):
    entries = [CatalogueEntry(f"t{n}", "T", "s", "p", "CC0-1.0", "c") for n in range(number)]
    about: dict[str, object] = {"labels": {}, "problems": [], "diversity": {}}
    site = Site(
        Catalogue(tmp_path, "A", "", entries=tuple(entries)), [PublishedTrace(one, about) for one in entries]
    )
    shown = dict(islice(pages(site), 3))

    assert compared in shown["compare.html"]
    assert ('id="choose"' in shown["compare.html"]) == (number > 1)
    assert ('id="traces"' in shown["index.html"]) == (number > 0)
    assert "1 traces" not in "".join(shown.values())


def test_only_what_gwa_computed_has_a_strip():
    for trace in KNOWN:
        assert bool(trace.facts.strip) <= bool(COMPUTED.search(trace.facts.source[0]))


@pytest.mark.logs
@pytest.mark.parametrize("trace", KNOWN, ids=lambda trace: trace.key)
def test_what_was_computed_is_what_gwa_computes(trace):
    found = COMPUTED.search(trace.facts.source[0])
    log = LOGS / "swf" / found[1] if found else None
    if log is None or not log.is_file():
        pytest.skip("was read in a source, or its log is not here")
    with gwa.open(log) as opened:
        facts = opened.facts("trace") | opened.facts("utilization")
        made = opened.cube()
    assert facts["trace.jobs"] == trace.known_jobs
    assert facts["trace.cpus"] == trace.facts.processors
    assert facts["trace.cpu_seconds"] / HOUR == pytest.approx(trace.facts.core_hours, abs=0.5)
    assert facts["utilization.mean"] == pytest.approx(trace.facts.busy, abs=5e-4)
    assert strip(made, trace.facts.processors) == trace.facts.strip


def test_what_is_not_known_is_written_so_and_what_its_source_rounds_too():
    line = of_public(PublicTrace(**ABOUT))
    assert (line.count("jobs"), line.count("cpus"), line.busy_words, line.years) == ("unknown",) * 3 + (
        "2009",
    )
    assert line.purposes == []
    facts = PublicFacts(
        source=("x",), processors=2000, busy=0.6, rounded=("processors", "busy"), records=("GPUs",)
    )
    line = of_public(PublicTrace(**ABOUT, facts=facts))
    assert (line.count("cpus"), line.busy_words) == ("≈ 2,000", "≈ 60 %")
    assert line.purposes == ["gpus", "compare"]


def test_a_year_of_publication_is_no_period():
    trace = PublicTrace(**{**ABOUT, "year": None}, published=2020)
    assert trace.years == "published 2020"
    assert of_public(trace).years == "unknown"
    assert public_trace("kestrel").years == "2023-2025"


def test_a_period_is_from_the_begin_of_its_first_month_to_the_end_of_its_last():
    line = of_public(public_trace("hpc2n"))
    assert (line.begin, line.end) == (2002 + 6 / 12, 2006 + 1 / 12)
    assert line.years == "2002–2006"
    assert of_public(public_trace("sdsc-par95")).years == "1995"


@pytest.mark.parametrize("purpose", PURPOSES)
def test_each_purpose_has_public_traces_that_suit_it(purpose):
    suited = [line.id for line in lines((), KNOWN) if purpose in line.purposes]
    assert 5 <= len(suited) < len(KNOWN)


def cube(days, usage):
    """Return a cube of days, (seconds known, CPU seconds held in them)."""
    return Cube(
        pa.table({"day": pa.array([], pa.int64())}),
        pa.table(
            {
                "day": pa.array([day for day, _ in usage], pa.int64()),
                "known": [True] * len(usage),
                "accounted": [True] * len(usage),
                "cpu_seconds": pa.array([held for _, held in usage], pa.float64()),
            }
        ),
        pa.table(
            {"day": pa.array([day for day, _ in days], pa.int64()), "accounted_seconds": [s for _, s in days]}
        ),
        Grain(1, 10, 2),
    )


def test_a_strip_has_a_letter_for_each_part_and_tells_still_from_unknown():
    days = [(10, DAY), (11, DAY), (12, 0.0), (13, DAY)]
    assert strip(cube(days, [(10, 0.5 * 4 * DAY), (13, 4 * DAY)]), 4) == "ka-t"
    assert strip(cube(days, []), None) == ""
    long = strip(cube([(n, DAY) for n in range(600)], [(n, DAY) for n in range(600)]), 2)
    assert long == "k" * PARTS
    assert outline("a-t").count("M") == 2
    assert set(long) <= set(LETTERS)


def test_the_strip_of_a_sample_is_one_of_the_list():
    with gwa.open(HOME / "sample_traces" / "swf" / "tiny.swf") as trace:
        text = strip(trace.cube(), trace.facts("trace.cpus")["trace.cpus"])
    assert re.fullmatch("[a-t-]+", text)
