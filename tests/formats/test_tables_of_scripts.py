"""Tables as scripts, spreadsheets and simulators write them."""

import pytest

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


def test_success_alone_says_how_jobs_ended(tmp_path):
    rows = [f"{row},{n % 2}" for n, row in enumerate(ROWS)]
    found, *_ = read(tmp_path / "jobs.csv", table(head=f"{HEAD},success", rows=rows), "status, count(*)")
    assert found == [(0, 15), (1, 15)]


def test_a_request_in_round_numbers_of_seconds_is_one_in_seconds(tmp_path):
    rows = [f"{row},{3600 * (1 + n % 4)}" for n, row in enumerate(ROWS)]
    found, *_ = read(tmp_path / "jobs.csv", table(head=f"{HEAD},requested_time", rows=rows), "max(req_time)")
    assert found == [(14_400,)]
