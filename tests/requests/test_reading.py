"""Logs of requests become a store: every row accounted for, every value that of its source."""

import gzip
import json
from datetime import UTC, datetime

import duckdb
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gwa
from gwa.errors import DefinitionError, GwaError, StrictError, TraceError, UnknownFormat
from gwa.formats.append import append
from gwa.formats.convert import convert, convert_anonymized
from gwa.formats.open import open_trace
from gwa.formats.registry import all_formats, converters
from gwa.store.options import ReadOptions
from gwa.store.requests import REQUEST_NAMES, RequestStore
from tests.conftest import HOME, LOGS, examples
from tests.requests.made import AZURE, BURSTGPT, BURSTGPT_3, mooncake, opened, written

SWF = HOME / "sample_traces" / "swf" / "tiny.swf"
EVERY = ("submit_time", "tokens_in", "tokens_out", "latency", "model", "service", "session_id", "images")


def requests(store, *names):
    return store.rows(f"select {', '.join(names)} from requests order by request_id")


def test_azures_trace_without_a_zone_is_taken_as_utc_and_counted(tmp_path):
    path = written(tmp_path / "log", AZURE, ["2023-11-16 18:15:46.6805900,374,44", "2023-11-16 18:15:47,9,0"])
    with opened(path) as store:
        moment = datetime(2023, 11, 16, 18, 15, 46, 680590, UTC).timestamp()
        assert requests(store, *EVERY[:3], "model", "latency") == [
            (moment, 374, 44, None, None),
            (datetime(2023, 11, 16, 18, 15, 47, tzinfo=UTC).timestamp(), 9, 0, None, None),
        ]
        assert [(name, count) for name, _, count in store.rows("from repairs")] == [("no time zone", 2)]
        assert not store.system.relative


def test_azures_trace_with_a_zone_or_with_one_stated_is_not_guessed(tmp_path):
    path = written(
        tmp_path / "a", AZURE, ["2024-05-12 00:00:00.009930+00:00,1,2", "2024-05-12 02:00:00+02:00,1,2"]
    )
    with opened(path) as store:
        midnight = datetime(2024, 5, 12, tzinfo=UTC).timestamp()
        assert requests(store, "round(submit_time, 6)") == [(midnight,), (midnight + 0.00993,)]
        assert store.rows("from repairs") == []
    path = written(tmp_path / "b", AZURE, ["2024-05-12 02:00:00,1,2"])
    with opened(path, format_options={"zone": "Europe/Amsterdam"}) as store:
        assert requests(store, "submit_time") == [(midnight,)]
        assert store.rows("from repairs") == []


def test_azures_multimodal_trace_has_images(tmp_path):
    header = "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens"
    with opened(written(tmp_path / "log", header, ["2024-10-15 00:00:01,3,1200,7"])) as store:
        assert requests(store, "images", "tokens_in", "tokens_out") == [(3, 1200, 7)]


def test_a_table_of_few_columns_has_a_header_as_well(tmp_path):
    with opened(
        written(tmp_path / "two", "submit_time,tokens_in", ["1700000000,1", "1700000003,2"])
    ) as store:
        assert requests(store, *EVERY[:3]) == [(1.7e9, 1, None), (1700000003.0, 2, None)]
    with pytest.raises(
        TraceError, match="1 of 2 lines were refused, the first at line 2: its time is missing"
    ):
        opened(written(tmp_path / "none", "tokens_in,tokens_out", ["1,2"]))


def test_burstgpt_is_read_by_its_documented_columns(tmp_path):
    rows = [
        "5,ChatGPT,472,18,490,Conversation log",
        "45,GPT-4,1087,0,1087,API log",
        "118,GPT-4,1,2,9,API log",
    ]
    with opened(written(tmp_path / "log", BURSTGPT, rows)) as store:
        assert requests(store, *EVERY) == [
            (5.0, 472, 18, None, "ChatGPT", "Conversation log", None, None),
            (45.0, 1087, 0, None, "GPT-4", "API log", None, None),
            (118.0, 1, 2, None, "GPT-4", "API log", None, None),
        ]
        assert {name: count for name, _, count in store.rows("from repairs")} == {
            "another total": 1,
            "no response": 1,
        }
        assert store.system.relative


def test_burstgpt_of_later_files_has_sessions_and_elapsed_times(tmp_path):
    rows = [
        "19440110.0,1722ac82,43,GPT-4,906,446,1352,Conversation log",
        "19440111.5,,2,ChatGPT,36,29,65,API log",
    ]
    with opened(written(tmp_path / "log", BURSTGPT_3, rows)) as store:
        assert requests(store, "submit_time", "session_id", "latency", "service") == [
            (19440110.0, "1722ac82", 43.0, "Conversation log"),
            (19440111.5, None, 2.0, "API log"),
        ]


def test_mooncake_is_read_by_its_documented_keys(tmp_path):
    records = [
        {"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47, 2353]},
        {"timestamp": 0, "input_length": 12, "output_length": 1, "hash_ids": []},
    ]
    with opened(mooncake(tmp_path / "log", records)) as store:
        assert requests(store, "submit_time", "tokens_in", "tokens_out", "blocks") == [
            (0.0, 12, 1, []),
            (27.482, 6955, 52, [46, 47, 2353]),
        ]


@pytest.mark.skipif(not (LOGS / "today" / "azure").is_dir(), reason="no real logs beside the project")
@pytest.mark.parametrize("name", ["code", "conv"])
def test_azures_samples_convert_and_equal_what_pandas_reads(name, tmp_path):
    path = LOGS / "today" / "azure" / f"AzureLLMInferenceTrace_{name}.csv.gz"
    account = convert([path], tmp_path / "a.duckdb")
    known = pd.read_csv(path)
    moments = pd.to_datetime(known["TIMESTAMP"], utc=True).dt.floor("us")
    assert (account.jobs, account.rejected, account.comments) == (len(known), 0, 1)
    with opened(tmp_path / "a.duckdb") as store:
        found = store.frame("select * from requests order by request_id")
    assert found["tokens_in"].tolist() == known["ContextTokens"].tolist()
    assert found["tokens_out"].tolist() == known["GeneratedTokens"].tolist()
    exact = moments.map(lambda moment: moment.timestamp())
    assert found["submit_time"].tolist() == pytest.approx(exact.tolist(), abs=1e-6, rel=0)


ROW = st.tuples(
    st.integers(0, 10_000_000),
    st.integers(-5, 10**13),
    st.integers(-5, 5000),
    st.sampled_from(["a", "b", ""]),
)


@given(st.lists(ROW, min_size=1, max_size=40))
@examples(40)
def test_any_table_is_what_pandas_makes_of_it(tmp_path, rows):
    path = written(
        tmp_path / "log",
        "submit_time,tokens_in,tokens_out,model",
        [
            f"{moment / 1000},{tokens_in},{tokens_out},{model}"
            for moment, tokens_in, tokens_out, model in rows
        ],
    )
    frame = pd.DataFrame(rows, columns=["submit_time", "tokens_in", "tokens_out", "model"])
    frame["submit_time"] /= 1000
    frame = frame.sort_values("submit_time", kind="stable")
    bad = {name: ~frame[name].between(0, 10**12) for name in ("tokens_in", "tokens_out")}
    with opened(path) as store:
        store.account.check()
        found = requests(store, "submit_time", "tokens_in", "tokens_out", "model")
        repairs = {meaning.split()[1]: count for _, meaning, count in store.rows("from repairs")}
    columns = (frame[name].tolist() for name in ("submit_time", "tokens_in", "tokens_out", "model"))
    wanted = [
        (moment, *(tokens if 0 <= tokens <= 10**12 else None for tokens in both), model or None)
        for moment, *both, model in zip(*columns, strict=True)
    ]
    assert found == wanted
    assert repairs == {name: int(rows.sum()) for name, rows in bad.items() if rows.any()}


# What is hostile.


def test_rows_without_a_time_are_refused_with_their_line_and_others_are_kept(tmp_path):
    rows = [
        "2023-11-16 18:15:46,1,2",
        "no time,1,2",
        ",1,2",
        "2023-11-16 18:15:48,-3,x",
        "2023-11-16 18:15:49,1.5,",
    ]
    with opened(written(tmp_path / "log", AZURE, rows)) as store:
        assert requests(store, "tokens_in", "tokens_out") == [(1, 2), (None, None), (None, None)]
        assert store.rows("select line, reason from rejects order by line") == [
            (3, "its time is missing, or is none"),
            (4, "its time is missing, or is none"),
        ]
        assert {
            meaning.split()[1]: count
            for name, meaning, count in store.rows("from repairs")
            if name == "invalid value"
        } == {
            "tokens_in": 2,
            "tokens_out": 1,
        }
        assert (store.account.rows, store.account.jobs, store.account.rejected) == (6, 3, 2)


def test_a_header_in_the_middle_is_a_comment_and_a_short_line_is_refused(tmp_path):
    rows = ["2023-11-16 18:15:46,1,2", AZURE, "2023-11-16 18:15:47,3", "2023-11-16 18:15:48,5,6"]
    with opened(written(tmp_path / "log", AZURE, rows)) as store:
        assert requests(store, "tokens_in") == [(1,), (5,)]
        assert (store.account.comments, store.account.rejected) == (2, 1)


def test_strict_reading_stops_at_the_first_bad_row(tmp_path):
    path = written(tmp_path / "log", AZURE, ["2023-11-16 18:15:46,1,2", "never,1,2"])
    with pytest.raises(StrictError, match="log:3: its time is missing"):
        opened(path, strict=True)


def test_a_log_without_any_request_says_what_became_of_its_rows(tmp_path):
    path = written(tmp_path / "log", AZURE, ["never,1,2"] * 3)
    with pytest.raises(TraceError, match=r"no request in it: 3 of 4 lines were refused, the first at line 2"):
        opened(path)


def test_compressed_and_latin_and_windows_copies_are_read(tmp_path):
    path = written(tmp_path / "log", BURSTGPT, ["5,modèle,472,18,490,API log", "6,b,1,2,3,API log"])
    (tmp_path / "log.gz").write_bytes(gzip.compress(path.read_bytes()))
    (tmp_path / "latin").write_bytes(path.read_text().encode("latin-1"))
    (tmp_path / "windows").write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    for name in ("log", "log.gz", "latin", "windows"):
        with opened(tmp_path / name) as store:
            assert requests(store, "model", "service") == [("modèle", "API log"), ("b", "API log")]


def test_a_cut_file_says_so(tmp_path):
    rows = [f"{second},b,1,2,3,API log" for second in range(5000)]
    path = written(tmp_path / "log", BURSTGPT, rows)
    (tmp_path / "cut.gz").write_bytes(gzip.compress(path.read_bytes())[:-2000])
    with opened(tmp_path / "cut.gz") as store:
        assert "cut file" in {name for name, *_ in store.rows("from repairs")}
        assert 0 < store.account.jobs < 5000


def test_columns_without_the_tokens_are_no_log_of_requests(tmp_path):
    with pytest.raises(UnknownFormat):
        opened(written(tmp_path / "log", "TIMESTAMP,GeneratedTokens", ["2023-11-16 18:15:46,1"]))


def test_long_names_are_cut_and_counted(tmp_path):
    with opened(written(tmp_path / "log", BURSTGPT, [f"5,{'x' * 2000},1,2,3,API log"])) as store:
        ((name,),) = requests(store, "model")
        assert len(name) < 100
        assert ("long name", 1) in {(name, count) for name, _, count in store.rows("from repairs")}


# In and out again.


def test_two_files_are_one_trace_in_the_order_of_time(tmp_path):
    first = written(tmp_path / "a.csv", BURSTGPT, ["50,a,1,2,3,API log"])
    second = written(tmp_path / "b.csv", BURSTGPT, ["5,b,1,2,3,API log", "500,c,1,2,3,API log"])
    convert([first, second], tmp_path / "both.duckdb")
    with opened(tmp_path / "both.duckdb") as store:
        assert requests(store, "request_id", "model") == [(1, "b"), (2, "a"), (3, "c")]
        assert len(store.rows("from sources")) == 2


NAME = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=8)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 10**9), st.none() | st.integers(0, 10**6), st.none() | st.integers(0, 10**6), NAME,
            st.none() | st.lists(st.integers(0, 99), max_size=4),
        ),
        min_size=1,
        max_size=20,
    )
)  # fmt: skip
@examples(40)
def test_what_is_written_is_read_again(tmp_path, rows):
    with RequestStore.create() as store:
        ordered = sorted(rows, key=lambda row: row[0])
        store.connection.executemany(
            "insert into requests (request_id, submit_time, tokens_in, tokens_out, model, blocks)"
            " values (?, ?, ?, ?, ?, ?)",
            [
                (number, moment / 1e6, tokens_in, tokens_out, name.strip() or None, blocks or None)
                for number, (moment, tokens_in, tokens_out, name, blocks) in enumerate(ordered, 1)
            ],
        )
        wanted = requests(store, *REQUEST_NAMES)
        from gwa.formats.registry import writer

        path = tmp_path / "out.requests.csv"
        writer(path).save(store, path)
    with opened(path) as store:
        assert requests(store, *REQUEST_NAMES) == wanted


def test_a_store_becomes_a_table_and_a_store_again(tmp_path):
    path = written(
        tmp_path / "log",
        BURSTGPT_3,
        ["1700000005.25,s,43,=cmd,906,446,1352,a log", "1700000006,,2,m,36,29,65,API"],
    )
    convert([path], tmp_path / "a.duckdb")
    convert([tmp_path / "a.duckdb"], tmp_path / "a.requests.csv.gz")
    convert([tmp_path / "a.requests.csv.gz"], tmp_path / "b.duckdb")
    convert([tmp_path / "b.duckdb"], tmp_path / "c.duckdb")
    assert "=cmd" not in gzip.decompress((tmp_path / "a.requests.csv.gz").read_bytes()).decode()
    found = []
    for name in ("a", "b", "c"):
        with opened(tmp_path / f"{name}.duckdb") as store:
            found.append((requests(store, *REQUEST_NAMES), store.header))
    assert found[0] == found[1] == found[2]


def test_a_definition_of_ones_own_may_be_of_requests(tmp_path):
    own = tmp_path / "own.sql"
    text = (
        '/* ---\nof = "requests"\ntitle = "Ours"\nfiles = ["*.log"]\nnotes = "ours"\n'
        'delimiter = ";"\nmissing = [""]\n'
        '[columns]\nmoment = "double"\ninput = "bigint"\n--- */\n'
        "select file_no, line, moment as submit_time, input as tokens_in from source\n"
    )
    own.write_text(text)
    log = written(tmp_path / "x.log", "1;2", ["3;4"])
    with open_trace([log], str(own), ReadOptions(requests=True)) as store:
        assert requests(store, "submit_time", "tokens_in") == [(1.0, 2), (3.0, 4)]
    own.write_text(text.replace("as tokens_in", "as tokens_on"))
    with pytest.raises(
        DefinitionError, match="'tokens_on', which is not a field of requests, the nearest are tokens_in"
    ):
        open_trace([log], str(own), ReadOptions(requests=True))
    own.write_text(text.replace("file_no, line, ", ""))
    with pytest.raises(DefinitionError, match="lacks file_no"):
        open_trace([log], str(own), ReadOptions(requests=True))
    own.write_text(text.replace("from source", "from read_text('/etc/hostname')"))
    with pytest.raises(DefinitionError):
        open_trace([log], str(own), ReadOptions(requests=True))


# Refused where jobs are needed, and the other way round.


def test_requests_are_refused_as_jobs_with_the_right_word(tmp_path):
    path = written(tmp_path / "log", AZURE, ["2023-11-16 18:15:46,1,2"])
    convert([path], tmp_path / "a.duckdb")
    for trace in (path, tmp_path / "a.duckdb"):
        with pytest.raises(UnknownFormat, match="holds requests of language models, not jobs") as error:
            gwa.open(trace)
        assert "gwa convert, report, facts, charge, sql and model take it" in str(error.value)
        assert "\n" not in str(error.value)
    with pytest.raises(UnknownFormat, match="holds requests of language models"):
        convert_anonymized([path], tmp_path / "x.duckdb", b"key" * 20)
    for out in ("a.duckdb", "x.duckdb"):
        with pytest.raises(TraceError, match="holds requests of language models, not jobs"):
            append([path], tmp_path / out)
    for out in ("x.gwf", "x.swf", "x.parquet", "x.sqlite"):
        with pytest.raises(
            UnknownFormat, match=r"no requests of language models, expected .duckdb or .requests.csv"
        ):
            convert([path], tmp_path / out)
    with pytest.raises(UnknownFormat, match="holds no jobs"):
        convert([SWF], tmp_path / "x.requests.csv")
    assert not [*tmp_path.glob("x.*")]


def test_a_log_of_requests_beside_logs_of_jobs_is_passed_over_and_named(tmp_path):
    (tmp_path / "logs").mkdir()
    written(tmp_path / "logs" / "requests.csv", AZURE, ["2023-11-16 18:15:46,1,2"])
    (tmp_path / "logs" / "tiny.swf").write_bytes(SWF.read_bytes())
    with gwa.open(tmp_path / "logs") as trace:
        assert trace.account.skipped == 2
        assert any("requests of language models" in text for _, text, _ in trace.store.rows("from repairs"))


@pytest.mark.parametrize(
    "change",
    [
        "alter table requests drop column latency",
        "update requests set tokens_in = -1",
        "update requests set submit_time = null",
        "update requests set submit_time = 'nan'",
        "delete from requests",
        "create macro f(x) as x",
        "drop table provenance",
    ],
)
def test_a_store_of_requests_that_another_program_changed_is_refused(change, tmp_path):
    path = written(tmp_path / "log", AZURE, ["2023-11-16 18:15:46,1,2"])
    convert([path], tmp_path / "a.duckdb")
    with duckdb.connect(str(tmp_path / "a.duckdb")) as database:
        database.execute(change)
    with pytest.raises(GwaError, match=r"a\.duckdb: "):
        opened(tmp_path / "a.duckdb")


def test_formats_of_requests_say_where_their_columns_are_documented():
    formats = {one.name: one for one in converters("requests")}
    assert formats.keys() == {"aiperf", "azure-llm", "burstgpt", "mooncake", "requests", "weka"}
    assert not formats.keys() & {one.name for one in converters()}
    assert formats.keys() <= {one.name for one in all_formats()}
    for name, address in (
        ("azure-llm", "https://github.com/Azure/AzurePublicDataset"),
        ("burstgpt", "https://github.com/HPMLL/BurstGPT"),
        ("mooncake", "https://github.com/kvcache-ai/Mooncake"),
    ):
        assert address in formats[name].notes


# Logs whose timestamps are of another unit, and blocks of prompts in tables.


def written_records(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.mark.parametrize("rate", [1, 2, 100])
def test_whole_seconds_are_not_taken_for_milliseconds(rate, tmp_path):
    record = {"input_length": 600, "output_length": 5, "hash_ids": [0, 1]}
    path = written_records(tmp_path / "x.jsonl", [{"timestamp": n // rate, **record} for n in range(400)])
    with pytest.raises(TraceError, match=r'how long is a unit of .* --map "time=timestamp:s"'):
        open_trace([path], None, ReadOptions(requests=True))
    options = ReadOptions(requests=True, format_options={"map": "time=timestamp:s"})
    with open_trace([path], None, options) as store:
        assert store.row("select max(submit_time), any_value(blocks) from requests") == (399 // rate, [0, 1])


def test_milliseconds_are_read_without_a_question(tmp_path):
    record = {"input_length": 600, "output_length": 5, "hash_ids": [0, 1]}
    path = written_records(tmp_path / "x.jsonl", [{"timestamp": n * 10, **record} for n in range(400)])
    with open_trace([path], None, ReadOptions(requests=True)) as store:
        assert store.provenance["format"] == "mooncake"
        assert store.row("select max(submit_time) from requests") == (3.99,)


@pytest.mark.parametrize("blocks", [[1, 2, 3], "1 2 3", "[1,2,3]", "1, 2, 3"])
def test_blocks_of_prompts_in_tables_are_kept(blocks, tmp_path):
    records = [
        {"ts": f"2026-03-02T10:00:0{n}Z", "prompt_tokens": 5, "completion_tokens": 6, "hash_ids": blocks}
        for n in range(3)
    ]
    path = written_records(tmp_path / "x.jsonl", records)
    with open_trace([path], None, ReadOptions(requests=True)) as store:
        assert store.rows("select blocks from requests") == [([1, 2, 3],)] * 3


def test_requests_of_weka_are_those_of_sessions(tmp_path):
    def session(name):
        asked = {"type": "n", "model": "m", "in": 100, "out": 10, "api_time": 1.5}
        requests = [{"t": 2.5 * n, **asked, "hash_ids": list(range(n + 1))} for n in range(3)]
        agent = {"t": 8.0, "type": "subagent", "agent_id": "a", "requests": []}
        return {"id": name, "models": ["m"], "block_size": 64, "requests": [*requests, agent]}

    path = written_records(tmp_path / "x.jsonl", [session("a"), session("b")])
    with open_trace([path], None, ReadOptions(requests=True)) as store:
        assert store.provenance["format"] == "weka"
        assert store.account.rejected == 2
        rows = store.rows("select session_id, submit_time, latency, blocks from requests order by 1, 2")
    assert [row[:3] for row in rows] == [(name, 2.5 * n, 1.5) for name in "ab" for n in range(3)]
    blocks = {row[0]: row[3] for row in rows}
    assert len(blocks["a"]) == 3
    assert set(blocks["a"]).isdisjoint(blocks["b"])
    assert rows[0][3] == blocks["a"][:1]
