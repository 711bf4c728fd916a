"""Sessions and bursts: read where they are, modelled, scored against redrawn hours, and written."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.errors import OutputError
from gwa.formats.convert import convert
from gwa.formats.open import open_trace
from gwa.requests.generate import generate_requests
from gwa.requests.ledger import Arrivals
from gwa.requests.measured import SubmissionSpan
from gwa.requests.model import RequestModel
from gwa.requests.placed import Placed
from gwa.requests.redrawn import floor
from gwa.requests.score import DISPERSIONS, floors_of, score_requests, statistics_of
from gwa.store.options import ReadOptions
from tests.conftest import examples
from tests.requests import standin
from tests.requests.made import mooncake, opened

SEEDS = 5
MAP = {"map": "time=timestamp:ms"}
MILLISECONDS = ReadOptions(requests=True, format_options=MAP)
DAYS = 7


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Return the store of a log of seven days by the generator of the stand-in, and its own lines."""
    folder = tmp_path_factory.mktemp("standin")
    path = standin.write(folder / "log.jsonl", days=DAYS, seed=2)
    convert([path], folder / "log.duckdb", options=MILLISECONDS)
    return folder / "log.duckdb", [json.loads(line) for line in path.read_text().splitlines()]


def distances(lines):
    """Return the distance by each measure that both traces have."""
    return {line.measure: line.distance for line in lines if line.distance is not None}


def test_dispersion_of_the_model_is_within_the_floor_of_redrawn_hours(log, tmp_path):
    """In the mean of five seeds, at 10 s, 1 min, 10 min and 1 h, on a log by a generator of its own."""
    path, _ = log
    with opened(path) as real:
        model, of_real, floors = RequestModel.fit(real), statistics_of(real), floors_of(real)
    assert set(floors) == set(DISPERSIONS)
    ratios: dict[str, list[float]] = {name: [] for name in DISPERSIONS}
    for seed in range(1, SEEDS + 1):
        made = tmp_path / f"{seed}.duckdb"
        generate_requests(model, made, days=DAYS, seed=seed)
        with opened(made) as synthetic:
            lines = score_requests(of_real, statistics_of(synthetic), floors)
        near = distances(lines)
        for line in lines:
            if line.measure in ratios and line.real and line.synthetic:
                ratios[line.measure].append(math.log(line.synthetic / line.real))
        assert near["requests of a session"] < 0.03
        assert near["pause in a session"] < 0.05
        assert near["tokens in of later turns"] < 0.1
        assert near["gap"] < 0.05
    for name, found in ratios.items():
        assert abs(np.mean(found)) < floors[name], (name, found)


def test_requests_one_by_one_are_not_within_the_floor(log, tmp_path):
    """What the test above must refuse: the same hours, each request at a moment of its own."""
    path, rows = log
    rng = np.random.default_rng(1)
    alone = [{**row, "timestamp": 3.6e6 * (row["timestamp"] // 3.6e6 + rng.random())} for row in rows]
    alone.sort(key=lambda row: row["timestamp"])
    other = mooncake(tmp_path / "alone.jsonl", alone)
    with opened(path) as real, opened(other, format_options=MAP) as synthetic:
        floors = floors_of(real)
        lines = score_requests(statistics_of(real), statistics_of(synthetic), floors)
    far = {name for name, distance in distances(lines).items() if distance > floors.get(name, math.inf)}
    assert far >= {"dispersion in 10 s", "dispersion in 1 min", "dispersion in 10 min"}


def test_the_floor_is_that_of_hours_drawn_by_hand(log):
    """The reference lays the hours' requests side by side and counts them, at each of ten phases."""
    path, rows = log
    times = np.array([row["timestamp"] / 1000 for row in rows])
    length, hours = 600, 24 * DAYS - 1
    with opened(path) as store:
        extent = SubmissionSpan.of(store)
        found = floor(store, length)
    assert extent.first < 1800
    fine = np.bincount((times * 10 // length).astype(int), minlength=24 * DAYS * 60)

    def index(drawn):
        values = []
        for phase in range(10):
            counts = fine[phase : phase + hours * 60].reshape(hours, 6, 10).sum(axis=2)[drawn].ravel()
            values.append(counts.var(ddof=1) / counts.mean())
        return np.mean(values)

    rng = np.random.default_rng(7)
    own = index(np.arange(hours))
    distances = []
    for _ in range(300):
        drawn = [rng.choice(np.arange(hour % 24, hours, 24)) for hour in range(hours)]
        distances.append(abs(math.log(index(np.array(drawn)) / own)))
    assert found == pytest.approx(np.quantile(distances, 0.95), rel=0.25)


def test_a_log_of_a_day_has_no_floor(tmp_path):
    path = standin.write(tmp_path / "log.jsonl", days=1, seed=3)
    with opened(path, format_options=MAP) as store:
        assert floors_of(store) == {}


LINKS = st.lists(st.integers(0, 30), min_size=1, max_size=30).map(
    lambda drawn: [value % (number + 1) - 1 for number, value in enumerate(drawn)]
)


@examples(25)
@given(parents=LINKS, shuffled=st.randoms(use_true_random=False))
def test_sessions_are_the_trees_of_parents(parents, shuffled, tmp_path_factory):
    """Each request names the one before it by any number; a session is named by its root."""
    names = list(range(100, 100 + len(parents)))
    shuffled.shuffle(names)
    rows = [
        {
            "chat_id": names[number], "parent_chat_id": names[parent] if parent >= 0 else -1,
            "timestamp": number / 2, "input_length": 5, "output_length": 2, "turn": 1,
        }
        for number, parent in enumerate(parents)
    ]  # fmt: skip

    def root(number):
        while parents[number] >= 0:
            number = parents[number]
        return str(names[number])

    path = mooncake(tmp_path_factory.mktemp("links") / "log.jsonl", rows)
    with opened(path) as store:
        found = store.rows("select session_id from requests order by submit_time")
    assert [session for (session,) in found] == [root(number) for number in range(len(rows))]


OWN = """/* ---
of = "requests"
title = "Ours"
files = ["*.log"]
notes = "ours"
delimiter = ";"
missing = [""]
[columns]
id = "varchar"
before = "varchar"
chat = "varchar"
--- */
select file_no, line, line as submit_time, 5 as tokens_in, id as request, before as parent, chat as session_id
from source
"""


@examples(20)
@given(parents=LINKS, stated=st.lists(st.booleans(), min_size=30, max_size=30))
def test_a_session_that_a_log_states_is_kept_and_others_are_named_by_their_root(
    parents, stated, tmp_path_factory
):
    def root(number):
        return root(parents[number]) if parents[number] >= 0 else f"r{number}"

    folder = tmp_path_factory.mktemp("stated")
    (folder / "own.sql").write_text(OWN)
    rows = [
        f"r{number};{f'r{parent}' if parent >= 0 else ''};{f's{number}' if stated[number] else ''}"
        for number, parent in enumerate(parents)
    ]
    (folder / "x.log").write_text("\n".join([*rows, ""]))
    with open_trace([folder / "x.log"], str(folder / "own.sql"), ReadOptions(requests=True)) as store:
        found = [session for (session,) in store.rows("select session_id from requests order by submit_time")]
    expected = [f"s{number}" if stated[number] else root(number) for number in range(len(parents))]
    assert found == expected


def test_links_in_a_circle_and_to_what_is_missing_come_to_an_end(tmp_path):
    links = [(1, 2), (2, 1), (3, 9), (4, 9), (5, 3)]
    rows: list[dict[str, object]] = [
        {
            "chat_id": one,
            "parent_chat_id": up,
            "timestamp": one,
            "input_length": 5,
            "output_length": 2,
            "turn": 1,
        }
        for one, up in links
    ]
    with opened(mooncake(tmp_path / "log.jsonl", rows)) as store:
        found = [session for (session,) in store.rows("select session_id from requests order by submit_time")]
    assert found[2:] == ["9", "9", "9"]
    assert set(found[:2]) <= {"1", "2"}


def test_bursts_are_told_by_their_pauses(tmp_path):
    """Ten requests half a second apart, every twenty minutes or so, are an arrival; others stand alone."""
    rng = np.random.default_rng(5)
    begins = np.cumsum(rng.exponential(1200, 200))
    rows = [
        {"timestamp": 1000 * (begin + 0.5 * step), "input_length": 5, "output_length": 2}
        for begin in begins
        for step in range(10)
    ]
    rows.sort(key=lambda row: row["timestamp"])
    path = mooncake(tmp_path / "log.jsonl", rows)
    with opened(path, format_options=MAP) as store:
        placed = Placed.of(store, 60.0)
        sizes = dict(store.rows(f"select requests, count(*) from {placed.arrivals} group by 1"))
    assert sizes[10] > 170
    assert sum(size * count for size, count in sizes.items()) == 2000


@pytest.mark.parametrize("shape", [0.3, 1.0, 8.0])
def test_regularity_is_found_again(shape, tmp_path):
    """Arrivals one by one, whose gaps have a gamma distribution of a known shape."""
    rng = np.random.default_rng(11)
    times = np.cumsum(rng.gamma(shape, 60 / shape, 8000))
    rows = [{"timestamp": 1000 * moment, "input_length": 5, "output_length": 2, "session_id": f"s{n}"}
            for n, moment in enumerate(times)]  # fmt: skip
    with opened(mooncake(tmp_path / "log.jsonl", rows), format_options=MAP) as store:
        (one,) = RequestModel.fit(store).ledger.arrivals
    assert isinstance(one, Arrivals)
    assert one.regularity == pytest.approx(shape, rel=0.2)


def test_prompts_grow_in_sessions_and_begin_with_the_blocks_before(log, tmp_path):
    path, _ = log
    with opened(path) as real:
        model = RequestModel.fit(real)
    generate_requests(model, tmp_path / "s.duckdb", days=2, seed=1)
    with opened(tmp_path / "s.duckdb") as made:
        rows = made.rows(
            "select session_id, turn, tokens_in, tokens_out, blocks, submit_time from requests"
            " where session_id is not null order by session_id, turn"
        )
        (bursts,) = made.row(
            "select count(distinct blocks[-1]) / count(*) from requests where session_id is null"
        )
    later = [(one, two) for one, two in pairwise(rows) if one[0] == two[0]]
    assert len(later) > 500
    for one, two in later:
        assert two[1] == one[1] + 1
        assert two[2] >= one[2] + one[3]
        assert two[5] >= one[5]
        kept = one[2] // standin.BLOCK
        assert two[4][:kept] == one[4][:kept]
        assert len(two[4]) == two[2] // standin.BLOCK
    assert bursts > 0.9


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("name", ["mooncake", "aiperf"])
def test_lines_for_benchmarks_have_the_fields_of_their_formats_and_are_read_again(name, log, tmp_path):
    """Mooncake: four keys, whole milliseconds. AIPerf: one mode of input, a session with one context_mode."""
    path, rows = log
    out = tmp_path / f"log.{name}.jsonl"
    convert([path], out)
    written = lines_of(out)
    assert len(written) == len(rows)
    for line, row in zip(written, rows, strict=True):
        assert line["input_length"] == row["input_length"] > 0
        assert line["output_length"] == row["output_length"]
        assert line["hash_ids"] == row["hash_ids"]
        if name == "mooncake":
            assert set(line) == {"timestamp", "input_length", "output_length", "hash_ids"}
            assert isinstance(line["timestamp"], int)
            assert abs(line["timestamp"] - row["timestamp"]) <= 0.5
        else:
            assert line.get("session_id") == row.get("session_id")
            assert line["context_mode"] == "message_array_with_responses"
            assert line["timestamp"] == pytest.approx(row["timestamp"], abs=1e-3)
            assert "delay" not in line
    columns = "tokens_in, tokens_out, blocks" + (", session_id" if name == "aiperf" else "")
    query = f"select {columns} from requests order by request_id"
    with opened(path) as one, opened(out) as other:
        assert one.rows(query) == other.rows(query)
        assert dict(other.rows("select key, value from provenance where key = 'format'")) == {"format": name}


def test_a_request_of_unknown_tokens_is_no_line_of_a_benchmark(tmp_path):
    path = mooncake(tmp_path / "log.jsonl", [{"timestamp": 0, "input_length": 5, "output_length": 2}] * 3)
    text = path.read_text().replace('"output_length": 2', '"output_length": -2', 1)
    path.write_text(text)
    with pytest.raises(OutputError, match="1 requests have no known tokens in or out"):
        convert([path], tmp_path / "x.mooncake.jsonl", options=MILLISECONDS)
    assert not (tmp_path / "x.mooncake.jsonl").exists()


def test_what_of_the_log_a_model_holds_is_said(log, tmp_path):
    path, _ = log
    with opened(path) as real:
        model = RequestModel.fit(real)
    generate_requests(model, tmp_path / "s.duckdb", requests=200, seed=1)
    with opened(tmp_path / "s.duckdb") as made:
        said = dict(made.header)["Replay"]
    assert "began in each hour of the log" in said
    assert "drawn again, 6 at a time: this is replay" in said
