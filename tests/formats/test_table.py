"""Any table of jobs: what its columns are is found, or asked in one message that ends in the answer."""

import csv
import json
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from math import isclose
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from gwa.errors import ArgumentError, GwaError, TraceError, UnknownFormat
from gwa.formats.append import append
from gwa.formats.builtin import table
from gwa.formats.convert import convert
from gwa.formats.open import open_trace, recognise
from gwa.formats.tables.mapping import MappingStatement, RoleSource, read_statement, statement
from gwa.formats.tables.sample import TableSample
from gwa.formats.tables.units import KINDS, value
from gwa.formats.tables.values import Values
from gwa.formats.tables.vocabulary import meanings, roles
from gwa.ingest.source.head import FileHead
from gwa.metrics.quality import problems
from gwa.store.options import ReadOptions
from gwa.store.store import Store
from tests.conftest import LOGS
from tests.formats.tables_of_sites import SITES, Job, Site, jobs
from tests.mutation import CHANGES, FEW, mutated

EVERY = pytest.mark.parametrize("site", SITES.values(), ids=SITES.keys())

EAGLE = LOGS / "today" / "eagle"


def asked(path: Path, name: str | None = None) -> str:
    """Return the map that the questions about a table end in, "" if there are none."""
    message = ""
    try:
        open_trace([path], name).close()
    except TraceError as error:
        message = str(error)
    match = re.search(r"(--map .*)$", message)
    assert bool(match) == bool(message), message
    return shlex.split(match[1])[1] if match else ""


def stating(text: str) -> ReadOptions:
    return ReadOptions(format_options={"map": text} if text else {})


@contextmanager
def opened(path: Path, text: str = "") -> Iterator[Store]:
    store = open_trace([path], None, stating(text))
    try:
        yield store
    finally:
        store.close()


def some_jobs(site: Site) -> list[Job]:
    """Return jobs that a site can write: one without submissions has none that never started."""
    has_submit = any("sub" in name.lower() or "queued" in name.lower() for name in site.columns)
    return [job for job in jobs() if job["start"] or has_submit or site is not SITES["waits"]]


def rows_of(store: Store, names: list[str]) -> list[tuple[object, ...]]:
    source_id = "(select any_value(source_id) from source_ids as i where i.job_id = jobs.job_id) as source_id"
    columns = [source_id if name == "source_id" else name for name in names]
    return store.rows(f"select {', '.join(columns)} from jobs order by submit_time, job_id")


def is_same(found: object, wanted: object) -> bool:
    if isinstance(found, float) and isinstance(wanted, int | float):
        return isclose(found, wanted, rel_tol=1e-6, abs_tol=0.4)
    return found == wanted


@EVERY
def test_a_table_of_any_site_is_read_as_it_is_meant_or_asks(site, tmp_path):
    some = some_jobs(site)
    path = site.write(tmp_path, some)
    answer = asked(path)
    assert (site.asks in answer) if site.asks else not answer
    with opened(path, answer) as store:
        names = list(site.expected(some[0]))
        found = rows_of(store, names)
        assert store.account.jobs == len(some)
        assert store.account.rejected == 0
        said = dict(store.rows("select name, meaning from repairs"))
    ordered = sorted(some, key=lambda job: job["submit"])
    for row, job in zip(found, ordered, strict=True):
        for name, cell, wanted in zip(names, row, site.expected(job).values(), strict=True):
            assert is_same(cell, wanted), f"{name} of job {job['id']}: {cell}, expected {wanted}"
    assert "columns read" in said


@pytest.mark.parametrize("name", ["helios", "acme-kalos", "german", "minutes", "f-data"])
def test_the_map_of_a_trace_makes_it_again(name, tmp_path):
    site = SITES[name]
    path = site.write(tmp_path, some_jobs(site))
    with opened(path, asked(path)) as first:
        whole = first.provenance["map"]
        query = "select * exclude (job_id) from jobs order by all"
        wanted = first.rows(query)
        with opened(path, whole) as second:
            assert second.provenance["map"] == whole
            assert second.rows(query) == wanted


@pytest.mark.logs
@pytest.mark.skipif(not EAGLE.exists(), reason="the real logs are not here")
@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_the_jobs_of_eagle_are_read_in_every_field(suffix):
    path = EAGLE / f"sample_eagle_data.{suffix}"
    if suffix == "csv":
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
    else:
        rows = json.loads(path.read_text())

    def seconds(cell):
        if suffix == "json":
            return cell / 1000
        return datetime.fromisoformat(cell).replace(tzinfo=UTC).timestamp()

    status = {"COMPLETED": 1, "FAILED": 0, "TIMEOUT": 0, "NODE_FAIL": 0, "OUT_OF_MEMORY": 0, "CANCELLED": 5}
    wanted = sorted(
        (
            seconds(row["submit_time"]),
            seconds(row["start_time"]) - seconds(row["submit_time"]),
            float(row["run_time"]),
            int(row["processors_req"]),
            float(row["wallclock_req"]),
            float(row["mem_req"]) * 1024 / int(row["processors_req"]) if float(row["mem_req"]) else -1.0,
            int(row["nodes_req"]),
            float(row["gpus_req"]),
            status[row["state"].split()[0]],
            row["state"],
            row["user"],
            row["account"],
            row["partition"],
            row["qos"],
            row["name"],
        )
        for row in rows
    )
    with opened(path) as store:
        found = store.rows(
            "select submit_time, wait_time, run_time, n_procs, req_time, coalesce(req_memory, -1), n_nodes,"
            " req_gpus, status, state, user_id, project_id, partition_id, qos, executable_id from jobs"
        )
    assert sorted(found) == wanted


WRONG = {
    "people": ["name,birth_date,department,salary", "ann,1980-01-02,maths,1000", "bob,1975-02-03,arts,900"],
    "weather": ["date,station,temperature,rain", "2024-01-01,A,3.5,0", "2024-01-02,A,4.5,1"],
    "web log": [
        "time,ip,method,path,status,bytes",
        "2024-01-01 10:00:00,1.2.3.4,GET,/,200,512",
        "2024-01-01 10:00:01,1.2.3.5,GET,/a,404,12",
    ],
    "contracts": [
        "employee,start_date,end_date,role",
        "ann,2020-01-01,2021-01-01,dean",
        "bob,2019-01-01,2022-01-01,x",
    ],
    "requests of the web": [
        "TIMESTAMP,Bytes,Status",
        "2023-11-16 18:15:46,374,200",
        "2023-11-16 18:15:50,396,404",
    ],
    "machines": ["sn,cpu_milli,memory_mib,gpu,model", "n1,64000,262144,2,P100", "n2,96000,786432,8,T4"],
    "prices": ['{"date": "2024-01-01", "open": 3.5}', '{"date": "2024-01-02", "open": 3}'],
}


@pytest.mark.parametrize("lines", WRONG.values(), ids=WRONG.keys())
def test_tables_of_other_things_are_refused_with_what_they_lack(lines, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(UnknownFormat, match=r"no column says (when|how)"):
        open_trace([path])


def test_a_table_without_processors_is_told_how_to_state_them(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("user,submitted,started,ended\n" + "ann,1700000000,1700000100,1700000200\n" * 3)
    with pytest.raises(UnknownFormat, match=r'--map "procs=1"$'):
        open_trace([path])
    with opened(path, "procs=1") as store:
        assert store.rows("select distinct n_procs, wait_time, run_time from jobs") == [(1, 100.0, 100.0)]


def test_other_formats_are_recognised_before_tables(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text(
        "JobID|User|Partition|State|ExitCode|Submit|Start|End|Elapsed|NCPUS|AllocCPUS\n"
        "1|ann|p|COMPLETED|0:0|2024-01-01T00:00:00|2024-01-01T00:01:00|2024-01-01T00:02:00|00:01:00|4|4\n"
    )
    head = FileHead.of(path)
    assert table.mismatch(head) is None
    assert recognise(head).name == "slurm"


# --- units ---

UNITS = {
    ("time", "iso", "2024-03-01T12:00:00+02:00"): 1709287200.0,
    ("time", "iso", "2024-03-01 12:00:00 +0200"): 1709287200.0,
    ("time", "iso", "2024-03-01 10:00:00"): 1709287200.0,
    ("time", "iso", "2024-03-01T10:00:00.250Z"): 1709287200.25,
    ("time", "iso", "2024-03-01"): 1709251200.0,
    ("time", "d.m.y", "01.03.2024 10:00"): 1709287200.0,
    ("time", "d/m/y", "01/03/2024 10:00:00"): 1709287200.0,
    ("time", "m/d/y", "3/1/2024 10:00:00 AM"): 1709287200.0,
    ("time", "ctime", "Fri Mar  1 10:00:00 2024"): 1709287200.0,
    ("time", "compact", "20240301T100000"): 1709287200.0,
    ("time", "excel", "45352.416666666664"): 1709287200.0,
    ("time", "ms", "1709287200000"): 1709287200.0,
    ("time", "%d-%b-%Y %H:%M", "01-Mar-2024 10:00"): 1709287200.0,
    ("time", "iso", "yesterday"): None,
    ("duration", "clock", "1-02:03:04"): 93784.0,
    ("duration", "clock", "1 day, 2:03:04.5"): 93784.5,
    ("duration", "clock", "26:03"): 93780.0,
    ("duration", "clock", "02:61x"): None,
    ("duration", "m:s", "3:20"): 200.0,
    ("duration", "iso8601", "P1DT2H3M4.5S"): 93784.5,
    ("duration", "iso8601", "PT1H"): 3600.0,
    ("duration", "iso8601", "PT5M"): 300.0,
    ("duration", "spoken", "1h2m3s"): 3723.0,
    ("duration", "spoken", "2 days 3 hours"): 183600.0,
    ("duration", "spoken", "90 min"): 5400.0,
    ("duration", "min", "1,5"): 90.0,
    ("duration", "s", "1e3"): 1000.0,
    ("memory", "size", "1.5 GB"): 1572864.0,
    ("memory", "size", "512MiB"): 524288.0,
    ("memory", "size", "2252800K"): 2252800.0,
    ("memory", "size", "1024"): 1.0,
    ("memory", "B", "2048"): 2.0,
    ("energy", "kWh", "0.5"): 1.8e6,
    ("count", "tres", "cpu=4,mem=16G,gres/gpu=2,gres/gpu:v100=2"): 4.0,
    ("count", "tres-gpu", "cpu=4,mem=16G,gres/gpu=2,gres/gpu:v100=2"): 2.0,
    ("count", "tres-node", "1=4,2=100,4=3"): 3.0,
    ("exit", "pair", "0:9"): 137.0,
    ("exit", "pair", "2:0"): 2.0,
    ("exit", "wait", "256"): 1.0,
}


@pytest.mark.parametrize(("kind", "unit", "cell"), UNITS)
def test_every_unit_means_what_it_says(kind, unit, cell):
    sample = TableSample(["column"], [[cell]])
    with Values(sample) as values:
        (found,) = values.of(RoleSource(("column",), unit=unit), kind)
    wanted = UNITS[kind, unit, cell]
    assert (found == pytest.approx(wanted, abs=1e-4)) if wanted is not None else found != found  # noqa: PLR0124


def test_every_unit_is_sql_that_reads_anything():
    cells = ["", "x", "-5", "1:2:3:4", "P", "9" * 400, "1e999", "nan", "2024-13-45", "=", "\U0001f600", "é"]
    sample = TableSample(["column"], [[cell] for cell in cells])
    with Values(sample) as values:
        for kind, (_, units) in KINDS.items():
            for unit in units if kind not in {"text", "state"} else ():
                assert len(values.of(RoleSource(("column",), unit=unit), kind)) == len(cells)
    assert "try_cast" in value("c0", "count", "")


# --- the map ---

COLUMN = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=12).filter(
    lambda name: name == name.strip()
)


@st.composite
def statements(draw):
    chosen = draw(st.lists(st.sampled_from(sorted(roles())), unique=True, max_size=5))
    sources = {}
    for role in chosen:
        kind = roles()[role].kind
        columns = draw(st.lists(COLUMN, min_size=1, max_size=2 if kind == "count" else 1))
        unit = draw(st.sampled_from(KINDS[kind][1]))
        factor = draw(st.sampled_from(["", "36", "0.5"])) if kind == "count" and len(columns) == 1 else ""
        sources[role] = RoleSource(tuple(columns), factor, unit) if draw(st.booleans()) else RoleSource()
    return MappingStatement(sources, draw(st.sampled_from(["", "Europe/Berlin"])), draw(st.booleans()))


@given(statements())
def test_what_is_written_of_a_map_states_the_same(stated):
    assert statement(str(stated)) == stated
    assert shlex.split(stated.typed()) == ["--map", str(stated)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("start", "is not an entry"),
        ("strat=begin", "there is no role 'strat', expected one of "),
        ("start=begin:lightyears", "start has no unit 'lightyears'"),
        ("start=a, start=b", "start is there twice"),
        ("start=a*b", "is a product"),
        ('start="a', "a quote is not closed"),
        ("zone=Atlantis", "is not a time zone"),
        ("start=", "is not an entry"),
        ("procs=a*b*c", "is a product"),
    ],
)
def test_a_map_that_is_wrong_says_where(text, reason):
    with pytest.raises(ArgumentError, match=re.escape(reason)):
        statement(text)


@given(st.text(max_size=40))
def test_any_text_is_a_map_or_an_error(text):
    try:
        stated = statement(text)
    except ArgumentError:
        return
    assert statement(str(stated)) == stated


def test_a_map_may_stand_in_a_file(tmp_path):
    path = tmp_path / "columns.toml"
    path.write_text('start = "begin_ts:ms"\nprocs = "nodes*36"\nreq_procs = 4\nend = "-"\n')
    assert read_statement(str(path)) == "start=begin_ts:ms, procs=nodes*36, req_procs=4, end=-"
    path.write_text('start = "begin_ts:ms"\nstrat = "x"\n')
    with pytest.raises(GwaError, match="strat"):
        read_statement(str(path))


def test_a_column_that_is_not_there_is_named_with_those_that_are(tmp_path):
    path = SITES["helios"].write(tmp_path, jobs())
    with pytest.raises(TraceError, match="there is no column 'cpus', expected one of job_id, user"):
        open_trace([path], None, stating("procs=cpus"))


def test_a_column_is_found_whatever_its_capitals(tmp_path):
    path = SITES["helios"].write(tmp_path, jobs())
    with opened(path, "procs=CPU-Num") as store:
        assert "procs=cpu_num" in store.provenance["map"]


# --- a property: any table of jobs ---

DELIMITERS = st.sampled_from([",", ";", "\t", "|"])


def names_of(role: str, *others: str) -> st.SearchStrategy[str]:
    """Return ways to write a name of a role: words in several spellings."""
    strong = [name for name, (is_weak, _) in roles()[role].names.items() if not is_weak]
    good = [name for name in strong if meanings(name)[0].role == role and len(meanings(name)) == 1]

    def spelled(name: str, style: int) -> str:
        parts = name.split("_")
        return [
            name,
            name.upper(),
            " ".join(part.capitalize() for part in parts),
            "-".join(parts),
            parts[0] + "".join(part.capitalize() for part in parts[1:]),
        ][style]

    return st.builds(spelled, st.sampled_from([*good, *others]), st.integers(0, 4))


def written(moment: float, unit: str) -> str:
    """Write a time in a unit."""
    forms = {"iso": "%Y-%m-%d %H:%M:%S", "offset": "%Y-%m-%dT%H:%M:%S+00:00", "dots": "%d.%m.%Y %H:%M:%S"}
    if unit in forms:
        return datetime.fromtimestamp(moment, UTC).strftime(forms[unit])
    return str(int(moment * {"s": 1, "ms": 1000, "us": 1_000_000}[unit]))


@st.composite
def tables(draw):
    """Draw jobs, and a table of them with names, units and a delimiter."""
    count = draw(st.integers(5, 30))
    begin = draw(st.integers(1_000_000_000, 1_900_000_000))
    some = [
        (
            begin + 60 * draw(st.integers(0, 100_000)),
            draw(st.integers(0, 50_000)),
            60 * draw(st.integers(1, 5000)),
            draw(st.integers(1, 512)),
            draw(st.sampled_from(["ann", "b,ob", 'c"d', "e;f|g", "ü"])),
        )
        for _ in range(count)
    ]
    time_unit = draw(st.sampled_from(["iso", "offset", "dots", "s", "ms", "us"]))
    run_unit = draw(st.sampled_from(["none", "s", "min", "clock", "named"]))
    names = [draw(names_of(role)) for role in ("submit", "start", "end", "procs", "user")]
    runs: dict[str, Callable[[int], str]] = {
        "s": str,
        "min": lambda run: str(run // 60),
        "named": lambda run: str(run / 3600),
        "clock": lambda run: f"{run // 3600:02}:{run // 60 % 60:02}:{run % 60:02}",
    }
    header, rows = list(names), []
    if run_unit != "none":
        header.append("elapsed_hours" if run_unit == "named" else draw(names_of("run")))
    for submit, wait, run, procs, user in some:
        times = [written(moment, time_unit) for moment in (submit, submit + wait, submit + wait + run)]
        rows.append([*times, str(procs), user, *([runs[run_unit](run)] if run_unit != "none" else [])])
    order = draw(st.permutations(range(len(header))))
    return some, [header[place] for place in order], [[row[p] for p in order] for row in rows]


@settings(max_examples=10, phases=[Phase.explicit, Phase.generate])
@given(drawn=tables(), delimiter=DELIMITERS)
def test_a_random_table_of_jobs_comes_back_or_asks(drawn, delimiter, tmp_path_factory):
    some, header, rows = drawn
    assume(len({name.lower() for name in header}) == len(header))
    path = tmp_path_factory.mktemp("table") / "jobs.txt"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerows([header, *rows])
    answer = asked(path)
    with opened(path, answer) as store:
        found = store.rows("select submit_time, wait_time, run_time, n_procs, user_id from jobs")
    assert sorted(found) == sorted(some), (header, rows[0], answer)


# --- rows that are not jobs, and files that are worse ---


def test_a_row_whose_times_cannot_be_read_is_refused_with_the_reason(tmp_path):
    path = tmp_path / "jobs.csv"
    rows = [f"u{n},{1_700_000_000 + n},{1_700_000_100 + n},{1_700_000_200 + n},4,1.5 GB" for n in range(50)]
    rows[7] = "u,soon,1700000100,1700000200,4,1 GB"
    rows[9] = "u,1700000000,1700000100,1700000200,four,1 GB"
    rows[11] = "u,1700000000"
    path.write_text("user,submitted,started,ended,cores,req_mem\n" + "\n".join(rows) + "\n")
    with opened(path) as store:
        account = store.account
        assert (account.rows, account.jobs, account.rejected, account.comments) == (51, 48, 2, 1)
        assert store.rows("select line, reason from rejects order by line") == [
            (9, "submitted is 'soon', expected a time"),
            (13, "2 columns, expected 6 columns"),
        ]
        repairs = store.rows("select name, jobs from repairs where name = 'invalid value'")
        assert repairs == [("invalid value", 1)]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_of_data_frames_are_read_in_their_unit(unit, tmp_path):
    numbers = range(40)
    runs, waits = [30 + 77 * number for number in numbers], [number % 9 for number in numbers]
    frame = pd.DataFrame(
        {
            "job_id": numbers,
            "submit": pd.to_datetime([1_700_000_000 + 60 * number for number in numbers], unit="s"),
            "wait": pd.to_timedelta(waits, unit="s").astype(f"timedelta64[{unit}]"),
            "runtime": pd.to_timedelta(runs, unit="s").astype(f"timedelta64[{unit}]"),
            "cpus": 4,
        }
    )
    frame.to_parquet(tmp_path / "jobs.parquet")
    with opened(tmp_path / "jobs.parquet") as store:
        assert store.rows("select wait_time, run_time from jobs order by submit_time") == [
            (float(wait), float(run)) for wait, run in zip(waits, runs, strict=True)
        ]


def test_states_that_nobody_knows_stay_and_are_named(tmp_path):
    site = SITES["helios"]
    path = site.write(tmp_path, jobs())
    path.write_text(path.read_text().replace("FAILED", "EXPLODED"))
    with opened(path) as store:
        assert store.rows("select distinct status from jobs where state = 'EXPLODED'") == [(None,)]
        ((meaning,),) = store.rows("select meaning from repairs where name = 'unknown states'")
        assert "EXPLODED (" in meaning


def test_energy_that_was_not_measured_is_missing(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("user,start,end,cores,energy_j\n" + "ann,1700000000,1700000060,4,0\n" * 5)
    with opened(path) as store:
        assert not store.has("energy")


def is_accounted(path: Path, options: ReadOptions | None = None) -> None:
    """Fail unless a file is refused, or each of its rows is accounted for."""
    try:
        store = open_trace([path], "table", options)
    except GwaError:
        return
    account = store.account
    store.close()
    assert account.rows == account.jobs + account.folded + account.rejected + account.comments


@FEW
@given(name=st.sampled_from(["helios", "german", "minutes", "doubtful"]), changes=CHANGES)
def test_any_change_of_a_table_is_accounted_for(name, changes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("table")
    path = SITES[name].write(folder, jobs(20))
    answer = asked(path)
    path.write_bytes(mutated(path.read_bytes(), changes))
    is_accounted(path, stating(answer))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"a,b\n",
        b'"\n' * 1000,
        b"{" * 100_000,
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"a," * 5000 + b"b\n" + b"1," * 5000 + b"2\n",
        b"PAR1" + b"\0" * 100,
        b'submit,start,end,cores\n"' + b"x" * (3 << 20),
        b"submit,start,end,cores\n" + b'1,"2\n' * 500,
        "submit,start,end,cores\n\ud800".encode("utf-8", "surrogatepass"),
    ],
    ids=range(12),
)
def test_hostile_files_are_refused_or_accounted_for(data, tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_bytes(data)
    is_accounted(path)


def test_names_of_columns_cannot_be_sql(tmp_path):
    path = tmp_path / "jobs.csv"
    names = ["submit_time", "start_time", "end_time", "cores"]
    evil = """x'); drop table recorded; --"""
    path.write_text(f'{",".join(names)},"{evil}"\n' + "1700000000,1700000001,1700000002,4,x\n" * 3)
    with opened(path, f'user="{evil}"') as store:
        assert store.rows("select distinct user_id from jobs") == [("x",)]


# --- appending, and what is told ---


def test_next_month_is_appended_with_the_same_map(tmp_path):
    site = SITES["mustang"]
    some = jobs(60)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = site.write(tmp_path / "a", some[:30]), site.write(tmp_path / "b", some[30:])
    whole = tmp_path / "whole.duckdb"
    append([first], tmp_path / "out.duckdb", options=stating("procs=node_count*24"))
    append([second], tmp_path / "out.duckdb")
    convert([first, second], whole, options=stating("procs=node_count*24"))
    query = "select submit_time, wait_time, run_time, n_procs, n_nodes, user_id from jobs order by all"
    with Store.open(tmp_path / "out.duckdb") as one, Store.open(whole) as other:
        assert one.rows(query) == other.rows(query)
        assert len(one.rows(query)) == 60


def test_files_with_other_columns_and_delimiters_are_one_trace(tmp_path):
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    one.write_text("submit,start,end,cores\n" + "1700000000,1700000010,1700000070,4\n" * 5)
    other.write_text("cores;user;end;start;submit\n" + "8;ann;1700009070;1700009010;1700009000\n" * 5)
    store = open_trace([one, other])
    found = store.rows("select n_procs, user_id, run_time, count(*) from jobs group by all order by all")
    store.close()
    assert found == [(4, None, 60.0, 5), (8, "ann", 60.0, 5)]


def test_the_format_explains_names_units_and_the_map():
    notes = table.FORMAT.notes
    for word in ("submission", "walltime", "--map", "zone=", "kWh", "iso8601", "{"):
        assert (word in notes) == (word != "{")


# Rows that say less than others of their table.


def table_of(path: Path, text: str, *names: str) -> list[tuple[object, ...]]:
    """Return some fields of the jobs of a table, in their order."""
    path.write_text(text)
    with opened(path) as store:
        return store.rows(f"select {', '.join(names)} from jobs order by job_id")


@pytest.mark.parametrize("none", ["0", "", "-1", "Unknown"])
@pytest.mark.parametrize("known", [(), (2,), (1, 2, 3)])
def test_a_row_without_a_submission_was_submitted_when_it_started(none, known, tmp_path):
    jobs = {number: (1_761_900_000 + number, 1_761_900_060 + number, 1_761_903_660) for number in range(6)}
    lines = [
        f"j{number},{submit if number in known else none},{start},{end},4"
        for number, (submit, start, end) in jobs.items()
    ]
    path = tmp_path / "jobs.csv"
    path.write_text("\n".join(["job_id,submit_time,start_time,end_time,cpus", *lines]) + "\n")
    with opened(path) as store:
        rows = store.rows("select submit_time, wait_time, run_time, n_procs from jobs order by run_time desc")
        said = dict(store.rows("select name, jobs from repairs"))
    assert rows == [
        ((submit, 60, end - start, 4) if number in known else (start, None, end - start, 4))
        for number, (submit, start, end) in jobs.items()
    ]
    assert not known or said["no submission"] == len(jobs) - len(known)


def test_what_a_row_without_a_submission_waited_is_kept(tmp_path):
    head = "job_id,submit_time,start_time,end_time,wait_seconds,cpus\n"
    lines = (
        "a,1761900000,1761900060,1761900160,60,1\nb,1761900100,1761900130,1761900230,30,1\n"
        "c,,1761900290,1761900390,40,1\n"
    )
    found = table_of(tmp_path / "jobs.csv", head + lines, "submit_time", "wait_time", "run_time")
    assert sorted(found) == [(1761900000, 60, 100), (1761900100, 30, 100), (1761900250, 40, 100)]


def test_a_column_of_zeros_is_no_rival_of_a_start(tmp_path):
    head = "job_id,submit_time,begin_time,start_time,end_time,cpus,job_status\n"
    lines = "1,1772438400,0,1772438460,1772442060,8,DONE\n2,1772438400,0,1772438470,1772442070,4,EXIT\n"
    found = table_of(tmp_path / "jobs.csv", head + lines, "wait_time", "run_time", "status")
    assert found == [(60, 3600, 1), (70, 3600, 0)]


def test_complete_is_an_end_and_milliseconds_are_durations(tmp_path):
    head = "id,submit,start,complete,realtime,cpus\n"
    lines = "1,2026-03-02 10:00:00,2026-03-02 10:00:10,2026-03-02 10:00:10.325,325ms,2\n"
    assert table_of(tmp_path / "jobs.csv", head + lines, "wait_time", "round(run_time, 3)") == [(10, 0.325)]


def test_the_unit_that_is_proposed_for_a_run_time_is_that_of_the_times_beside_it(tmp_path):
    """21 minutes in milliseconds would be two weeks in seconds."""
    path = tmp_path / "jobs.csv"
    path.write_text(
        "id,submit,duration,cpus,wait\n1,1772445600000,1284000,2,3000\n2,1772445601500,930000,2,1000\n"
    )
    assert "run=duration:ms" in asked(path)


LISTS = "id,submit,start,end,cpus,state,nodelist,gpu_ids\n"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (("n1", "0"), ("n1", "0")),
        (('"n[1-2,7]"', '"0-1,3"'), ("n[1-2,7]", "0-1,3")),
        (("n1 n2", "0;1"), ("n1,n2", "0,1")),
        (("n1 + n2", "0 | 1"), ("n1,n2", "0,1")),
        (("None assigned", ""), (None, None)),
        (("\"['n1', 'n2']\"", "all"), (None, None)),
    ],
)
def test_nodes_and_gpus_of_a_table_are_those_of_its_jobs(tmp_path, written, read):
    path = tmp_path / "jobs.csv"
    times = "2025-01-01 00:00:00,2025-01-01 00:01:00,2025-01-01 02:00:00"
    path.write_text(
        f"{LISTS}1,{times},4,COMPLETED,{written[0]},{written[1]}\n2,2025-01-01 00:00:00,,,4,PENDING,n9,1\n"
    )
    with opened(path) as store:
        assert store.rows("select node_list, gpu_list from jobs order by job_id") == [read, (None, None)]
        lost = sum(repair.count or 0 for repair in problems(store) if "not a valid value" in repair.meaning)
    assert lost == (2 if "'n2'" in written[0] else 0)


@pytest.mark.parametrize("column", ["allocated_nodes", "assigned_nodes"])
def test_how_many_nodes_a_job_held_is_no_list_of_them(tmp_path, column):
    path = tmp_path / "jobs.csv"
    times = "2025-01-01 00:00:00,2025-01-01 00:01:00,2025-01-01 02:00:00"
    path.write_text(f"id,submit,start,end,cpus,{column}\n1,{times},64,4\n2,{times},64,8\n")
    with opened(path) as store:
        assert store.rows("select n_nodes, node_list from jobs order by job_id") == [(4, None), (8, None)]
