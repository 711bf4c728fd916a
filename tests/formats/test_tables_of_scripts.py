"""Tables as scripts, spreadsheets and simulators write them."""

from datetime import UTC, datetime, timedelta

import pytest

from gwa.errors import TraceError, UnknownFormat
from gwa.formats.open import open_trace
from gwa.store.options import ReadOptions

HEAD = "job_id,user,submit_time,start_time,end_time,cores"
ROWS = [f"{n},u{n % 3},{1_700_000_000 + n},{1_700_000_010 + n},{1_700_000_110 + n},2" for n in range(1, 31)]


def read(path, text, fields="count(*)", **options):
    """Return *fields* of the jobs of a table, its repairs by name, and the reasons of its rejects."""
    grouped = "group by status" if fields.startswith("status,") else ""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with open_trace([path], "table", ReadOptions(format_options=options)) as store:
        store.account.check()
        repairs = dict(store.rows("select name, string_agg(meaning, ' ') from repairs group by name"))
        return (
            store.rows(f"select {fields} from jobs {grouped} order by all"),
            repairs,
            store.rows("select reason from rejects"),
        )


def table(*more, head=HEAD, rows=ROWS):
    return "\n".join([head, *rows, *more]) + "\n"


@pytest.mark.parametrize("footer", [",,,,,60", "Total,,,,,60", "total of all jobs,,,,,", ",Sum,,,,60"])
def test_a_row_without_any_time_is_no_job(footer, tmp_path):
    found, _, rejects = read(tmp_path / "jobs.csv", table(footer))
    assert found == [(30,)]
    assert rejects == [("no submission, start or end: a sum or a legend, no job",)]


def test_a_job_that_waits_is_one(tmp_path):
    found, _, rejects = read(tmp_path / "jobs.csv", table("99,u1,1700000500,,,2"))
    assert (found, rejects) == ([(31,)], [])


def test_names_of_columns_may_hold_line_breaks(tmp_path):
    head = '"job\nid",user,"submit\ntime",start_time,"end\n time",cores'
    found, _, rejects = read(tmp_path / "jobs.csv", table(head=head), "count(*), sum(run_time)")
    assert (found, rejects) == ([(30, 3000)], [])


def test_a_carriage_return_alone_ends_a_row_where_there_is_one_on_each_side(tmp_path):
    text = table().replace("\n3,", "\r3,").replace("\n4,", "\r4,").encode()
    found, _, rejects = read(tmp_path / "jobs.csv", text)
    assert (found, rejects) == ([(30,)], [])
    within = table("31,a\rb,1700000000,1700000010,1700000110,2").encode()
    found, _, rejects = read(tmp_path / "jobs.csv", within, "user_id")
    assert len(found) == 31
    assert ("a b",) in found
    assert rejects == []


@pytest.mark.parametrize(
    ("name", "values", "answer"),
    [
        ("consumed_energy", ["5", "700", "31"], "energy=consumed_energy:J"),
        ("max_rss", ["5000", "12000"], "max_memory=max_rss:"),
        ("time_limit", ["7", "11"], "req_time=time_limit:"),
        ("state", ["3", "4", "5"], "state=state:"),
    ],
)
def test_a_column_that_nothing_explains_is_left_out_with_a_note(name, values, answer, tmp_path):
    rows = [f"{row},{values[n % len(values)]}" for n, row in enumerate(ROWS)]
    found, repairs, _ = read(tmp_path / "jobs.csv", table(head=f"{HEAD},{name}", rows=rows))
    assert found == [(30,)]
    assert f"{name} was not read: " in repairs["assumption"]
    assert f'--map "{answer}' in repairs["assumption"]


def test_what_is_stated_of_it_is_read(tmp_path):
    rows = [f"{row},{n}" for n, row in enumerate(ROWS)]
    text = table(head=f"{HEAD},consumed_energy", rows=rows)
    found, _, _ = read(tmp_path / "jobs.csv", text, "max(energy)", map="energy=consumed_energy:kJ")
    assert found == [(29_000,)]


BATSIM = """job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,\
success,final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata
1,w,p,0.000000,4,100.000000,1,COMPLETED_SUCCESSFULLY,10.000000,50.000000,60.000000,10.000000,60.000000,1.2,0-3,-1.000000,""
2,w,p,5.000000,4,60.000000,0,COMPLETED_WALLTIME_REACHED,60.000000,60.000000,120.000000,55.000000,115.000000,1.9,0-3,-1.000000,""
3,w,p,7.000000,9999,60.000000,0,REJECTED,7.000000,0.000000,7.000000,0.000000,0.000000,0.0,,-1.000000,""
4,w,p,8.000000,2,60.000000,0,COMPLETED_KILLED,120.000000,5.000000,125.000000,112.000000,117.000000,20.0,0-1,-1.000000,""
"""


def test_what_batsim_writes_of_a_simulation(tmp_path):
    fields = "submit_time, wait_time, run_time, n_procs, req_time, status"
    found, repairs, _ = read(tmp_path / "out_jobs.csv", BATSIM, fields)
    assert found == [
        (0, 10, 50, 4, 100, 1),
        (5, 55, 60, 4, 60, 0),
        (7, None, None, None, 60, 5),
        (8, 112, 5, 2, 60, 5),
    ]
    assert "unknown states" not in repairs
    assert "invalid value" not in repairs


SQUEUE = """JOBID|USER|SUBMIT_TIME|START_TIME|END_TIME|CPUS|STATE
7|ada|2026-03-02T08:00:00|2026-03-02T08:01:00|2026-03-03T08:01:00|4|RUNNING
8|bob|2026-03-02T08:00:00|2026-03-02T20:00:00|2026-03-03T20:00:00|4|PENDING
9|bob|2026-03-02T08:00:00|2026-03-02T08:02:00|2026-03-02T08:12:00|2|COMPLETED
"""


def test_the_end_of_a_job_that_runs_is_a_guess_and_the_start_of_one_that_waits_too(tmp_path):
    found, repairs, _ = read(tmp_path / "jobs.txt", SQUEUE, "wait_time, run_time, n_procs, status")
    assert found == [(60, None, 4, None), (120, 600, 2, 1), (None, None, None, None)]
    assert repairs["has not ended"].startswith("its state says so")


def test_the_run_time_until_now_of_a_job_that_runs_is_none(tmp_path):
    rows = [
        f"{row},{state}"
        for row, state in zip(
            ROWS, ["COMPLETED", "running", "R", "Suspended", "PD", "QUEUED"] * 5, strict=True
        )
    ]
    found, *_ = read(
        tmp_path / "jobs.csv", table(head=f"{HEAD},state", rows=rows), "count(*), count(run_time)"
    )
    assert found == [(30, 5)]


@pytest.mark.parametrize("name", ["core_hours", "CPU hours", "node_hours", "Kernstunden"])
@pytest.mark.parametrize("size", ["cores", "req_cores"])
def test_hours_beside_the_number_of_processors_are_not_needed(name, size, tmp_path):
    rows = [f"{row},5.5" for row in ROWS]
    head = f"{HEAD},{name}".replace("cores,", f"{size},")
    found, *_ = read(tmp_path / "jobs.csv", table(head=head, rows=rows), "count(*), sum(n_procs)")
    assert found == [(30, 60)]


def test_hours_that_are_stated_have_the_unit_of_their_name(tmp_path):
    text = table(head=HEAD.replace("cores", "core_hours"))
    found, *_ = read(tmp_path / "jobs.csv", text, "min(n_procs)", map="core_hours=core_hours")
    assert found == [(72,)]  # 2 core-hours in 100 seconds


def test_a_time_in_no_known_form_is_named_with_how_to_state_it(tmp_path):
    rows = [f"{n},u1,2026-03-02 08:0{n}:00 CET,10,2" for n in range(5)]
    path = tmp_path / "jobs.csv"
    path.write_text(table(head="job_id,user,start_time,run_s,cores", rows=rows))
    with pytest.raises(UnknownFormat, match=r"'start_time' \(2026-03-02 08:00:00 CET\) is no time in a form"):
        open_trace([path])


@pytest.mark.parametrize(
    ("first", "form"),
    [("03.02.26 08:00", "%d.%m.%y %H:%M"), ("13/03/26 08:00", "%d/%m/%y %H:%M"),
     ("02-Mar-2026 08:00:00", "%d-%b-%Y %H:%M:%S"), ("2 Mar 2026 08:00", "%d %b %Y %H:%M")],
)  # fmt: skip
def test_years_of_two_digits_and_names_of_months_are_read(first, form, tmp_path):
    begin = datetime.strptime(first, form).replace(tzinfo=UTC)
    rows = [f"{n},u1,{(begin + timedelta(minutes=n)).strftime(form)},100,2" for n in range(5)]
    text = table(head="job_id,user,start_time,run_s,cores", rows=rows)
    found, *_ = read(tmp_path / "jobs.csv", text, "min(submit_time), max(submit_time)")
    assert found == [(begin.timestamp(), begin.timestamp() + 240)]


@pytest.mark.parametrize("cells", ["1.024", '"1,024"', '"1,024,000"'])
def test_points_that_may_part_thousands_of_processors_are_asked_for(cells, tmp_path):
    text = table(rows=[f"{row.removesuffix(',2')},{cells}" for row in ROWS])
    with pytest.raises(TraceError, match=r'do points or commas .*"procs=cores:thousands"'):
        read(tmp_path / "jobs.csv", text)
    found, *_ = read(tmp_path / "jobs.csv", text, "min(n_procs)", map="procs=cores:thousands")
    assert found == [(int(cells.strip('"').replace(".", "").replace(",", "")),)]


def test_thousands_are_asked_for_where_smaller_numbers_have_none(tmp_path):
    rows = [
        f"{row.removesuffix(',2')},{cell}"
        for row, cell in zip(ROWS, ["512", '"1,024"', "8"] * 10, strict=True)
    ]
    found, *_ = read(tmp_path / "jobs.csv", table(rows=rows), "max(n_procs)", map="procs=cores:thousands")
    assert found == [(1024,)]
    with pytest.raises(TraceError, match="do points or commas"):
        read(tmp_path / "jobs.csv", table(rows=rows))


def test_a_question_for_a_unit_says_how_commas_are_read(tmp_path):
    rows = [f'{n},u1,{1_700_000_000 + n},"3,{600 + n}",2' for n in range(5)]
    with pytest.raises(TraceError, match="Its commas are read as those of decimals"):
        read(tmp_path / "jobs.csv", table(head="job_id,user,start_time,runtime,cores", rows=rows))


def test_parts_of_processors_are_no_thousands(tmp_path):
    rows = [f"{row.removesuffix(',2')},{n % 3}.500" for n, row in enumerate(ROWS)]
    found, *_ = read(tmp_path / "jobs.csv", table(rows=rows), "max(n_procs)")
    assert found == [(3,)]


def test_success_alone_says_how_jobs_ended(tmp_path):
    rows = [f"{row},{n % 2}" for n, row in enumerate(ROWS)]
    found, *_ = read(tmp_path / "jobs.csv", table(head=f"{HEAD},success", rows=rows), "status, count(*)")
    assert found == [(0, 15), (1, 15)]


def test_a_request_in_round_numbers_of_seconds_is_one_in_seconds(tmp_path):
    rows = [f"{row},{3600 * (1 + n % 4)}" for n, row in enumerate(ROWS)]
    found, *_ = read(tmp_path / "jobs.csv", table(head=f"{HEAD},requested_time", rows=rows), "max(req_time)")
    assert found == [(14_400,)]
