"""Logs of requests of others: columns by their names, units by their values, or asked for."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gwa.errors import ArgumentError, TraceError, UnknownFormat
from gwa.formats.open import open_trace
from gwa.formats.tables.mapping import is_of_requests, read_statement
from gwa.formats.tables.request_plan import AFTER_AN_ANSWER
from gwa.ingest.requests import UNTIMED
from gwa.store.options import ReadOptions

EPOCH = 1772438400


def _read(path: Path, columns: str, **options: object) -> Sequence[tuple[object, ...]]:
    with open_trace([path], None, ReadOptions(requests=True, format_options=options)) as store:
        return store.rows(f"select {columns} from (from requests order by request_id)")


def _lines(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("factor", [1, 10**3, 10**6, 10**9])
@pytest.mark.parametrize("as_text", [False, True])
def test_unix_times_of_any_unit_are_read(factor, as_text, tmp_path):
    times = [EPOCH * factor, EPOCH * factor + factor // 2 if factor > 1 else EPOCH + 1]
    rows = [
        {"timestamp": str(time) if as_text else time, "input_length": 7, "output_length": 3, "team_id": "t"}
        for time in times
    ]
    found = _read(_lines(tmp_path / "log.jsonl", rows), "submit_time, tokens_in, tokens_out, user_id")
    step = 0.5 if factor > 1 else 1.0
    assert found == [
        (pytest.approx(EPOCH, abs=1e-3), 7, 3, "t"),
        (pytest.approx(EPOCH + step, abs=1e-3), 7, 3, "t"),
    ]


def test_the_unit_of_relative_times_is_asked_for_and_stated(tmp_path):
    rows = [{"timestamp": 0.2 * n, "prompt_tokens": 7, "completion_tokens": 3} for n in range(4)]
    path = _lines(tmp_path / "log.jsonl", rows)
    with pytest.raises(TraceError, match=r"a second \(s\) or a thousandth \(ms\)\? Answer as in: --map"):
        _read(path, "submit_time")
    for unit, last in (("s", 0.6), ("ms", 0.0006)):
        assert _read(path, "max(submit_time)", map=f"time=timestamp:{unit}")[0][0] == pytest.approx(last)


def test_what_a_publisher_states_is_not_asked_for(tmp_path):
    """An hour of two requests a second lasts an hour: its file counts seconds, and keeps sessions."""
    rows = [
        {
            "chat_id": n // 2,
            "parent_chat_id": -1,
            "timestamp": n / 2,
            "input_length": 5,
            "output_length": 2,
            "turn": n % 2,
        }
        for n in range(20)
    ]
    found = _read(
        _lines(tmp_path / "log.jsonl", rows), "max(submit_time), count(distinct session_id), max(turn)"
    )
    assert found == [(9.5, 10, 1)]


def test_latencies_are_told_by_their_own_column_or_by_the_end(tmp_path):
    header = "startTime,endTime,completionStartTime,prompt_tokens,completion_tokens,model,cached_tokens"
    row = "2026-03-02T08:00:00Z,2026-03-02T08:00:03Z,2026-03-02T08:00:00.500Z,500,30,m,100"
    path = tmp_path / "log.csv"
    path.write_text(f"{header}\n{row}\n")
    assert _read(path, "submit_time, latency, first_token, model, tokens_cached") == [
        (EPOCH, 3.0, 0.5, "m", 100)
    ]


def test_a_request_without_a_time_is_refused_and_counted(tmp_path):
    rows: list[dict[str, Any]] = [
        {"session_id": "a", "timestamp": 0, "input_length": 300, "output_length": 40},
        {"session_id": "a", "delay": 50, "input_length": 350, "output_length": 40},
        {"session_id": "b", "timestamp": 1000, "input_length": 200, "output_length": 30},
        {"session_id": "b", "timestamp": None, "input_length": 200, "output_length": 30},
    ]
    path = _lines(tmp_path / "log.jsonl", rows)
    with open_trace([path], None, ReadOptions(requests=True)) as store:
        assert store.rows("select submit_time, session_id from requests order by 1") == [
            (0.0, "a"),
            (1.0, "b"),
        ]
        reasons = store.rows("select line, reason from rejects order by line")
        assert reasons == [(2, AFTER_AN_ANSWER), (4, UNTIMED)]
        assert (store.account.rows, store.account.rejected) == (4, 2)


def test_a_table_of_jobs_with_tokens_is_one_of_jobs(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "job_id,submit_time,start_time,end_time,cpus,input_tokens,output_tokens\n"
        "1,2026-03-02T08:00:00Z,2026-03-02T08:00:30Z,2026-03-02T09:00:30Z,4,7,3\n"
    )
    with open_trace([path], None, ReadOptions(requests=True)) as store:
        assert store.rows("select run_time, n_procs from jobs") == [(3600, 4)]


@pytest.mark.parametrize(
    "names",
    [
        "start,prompt_tok,completion_tok", "timestamp,n_input,n_output", "ts,input_usage,output_usage",
        "created_at,num_prompt_tokens,num_generation_tokens",
        "time,gen_ai.usage.input_tokens,gen_ai.usage.output_tokens",
        "start,promptTokenCount,candidatesTokenCount",
    ],
)  # fmt: skip
def test_tokens_are_found_whatever_words_stand_around_them(names, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(names + "\n" + "".join(f"2026-03-02T08:00:0{n}Z,{100 + n},20\n" for n in range(5)))
    with open_trace([path], None, ReadOptions(requests=True)) as store:
        assert store.row("select min(tokens_in), max(tokens_out), count(*) from requests") == (100, 20, 5)


def test_texts_of_prompts_are_no_tokens_and_tokens_no_processors(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("start,end,input,output\n" + "1772438400,1772438410,hello,hi\n" * 3)
    with pytest.raises(UnknownFormat, match="no column says"):
        open_trace([path], None, ReadOptions(requests=True))
    path.write_text("start,end,total_tokens\n" + "1772438400,1772438410,64\n" * 3)
    with pytest.raises(UnknownFormat) as refused:
        open_trace([path], None, ReadOptions(requests=True))
    assert "procs=total_tokens" not in str(refused.value)


def test_a_map_says_whether_it_is_of_jobs_or_of_requests():
    assert is_of_requests("time=ts:s, input=a, output=b")
    assert not is_of_requests("start=begin_ts:ms, procs=nodes*36")
    assert read_statement("time=ts:s, session=chat") == "time=ts:s, session=chat"
    with pytest.raises(ArgumentError, match="there is no role 'procs'"):
        read_statement("time=ts:s, procs=1")


@settings(max_examples=25, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 9999), st.integers(0, 9999)), min_size=1)
)
def test_every_request_is_kept_in_order_of_time(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.jsonl"
    _lines(path, [{"ts": EPOCH + time, "prompt_tokens": a, "completion_tokens": b} for time, a, b in rows])
    found = _read(path, "submit_time::bigint, tokens_in, tokens_out")
    assert sorted(found) == sorted((EPOCH + time, a, b) for time, a, b in rows)
    times = [int(str(time)) for time, *_ in found]
    assert times == sorted(times)
