"""What a terminal shows: names from logs and files cannot drive it, and sheets compute nothing."""

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwa.cli._terminal import (
    MINIMUM_DIGITS,
    UNPRINTABLE,
    ProgressLines,
    column_text,
    column_widths,
    printable,
    table,
    wrapped,
)
from gwa.util.spreadsheet import disarmed
from tests import forked
from tests.conftest import HOME

SAMPLE = HOME / "sample_traces" / "swf" / "tiny.swf"
EVIL = "a\x1b]0;title\x07\x1b[31mred\x9b2J\rb\u202ecod\u2066\x7f\x85"
SHOWN = r"a\x1b]0;title\x07\x1b[31mred\x9b2J\rb\u202ecod\u2066\x7f\x85"
QUERY = "select " + " || ".join(f"chr({ord(letter)})" for letter in EVIL) + " as evil"


def run(*words, **options):
    return subprocess.run([*forked.gwa(), *words], capture_output=True, check=False, timeout=120, **options)


def on_a_terminal(*words, cwd, kind="dumb", columns="200"):
    """Return what gwa writes to a terminal."""
    shown, terminal = pty.openpty()
    with subprocess.Popen(
        [*forked.gwa(), *words], cwd=cwd, stdin=terminal, stdout=terminal, stderr=terminal,
        env={**os.environ, "TERM": kind, "COLUMNS": columns, "NO_COLOR": "1"},
    ) as process:  # fmt: skip
        os.close(terminal)
        output = b""
        try:
            while piece := os.read(shown, 65536):
                output += piece
        except OSError:  # the other end is closed
            pass
        os.close(shown)
        assert process.wait(120) in {0, 1}
    return output.decode(errors="surrogateescape")


@given(st.text(st.characters(codec=None), max_size=40))
def test_what_is_printed_has_nothing_that_a_terminal_obeys(text):
    assert not UNPRINTABLE.search(printable(text))
    printable(text).encode()


def test_words_of_any_language_are_printed_as_they_are():
    text = "Zürich\t東京 🙂 שלום (a_b-c) 100 %\n"
    assert printable(text) == text


def test_a_table_on_a_terminal_shows_what_is_in_a_name(tmp_path):
    output = on_a_terminal("sql", str(SAMPLE), QUERY.replace(" as evil", f' as "{EVIL}"'), cwd=tmp_path)
    assert output.count(SHOWN) == 2
    assert "\x1b]0" not in output
    assert "\u202e" not in output


def test_progress_shows_what_is_in_the_name_of_a_file(tmp_path):
    name = f"[red]{EVIL}.swf"
    (tmp_path / name).write_bytes(SAMPLE.read_bytes())
    output = on_a_terminal("convert", name, "-o", "out.gwf", cwd=tmp_path, kind="xterm")
    assert f"[red]{SHOWN}.swf" in output
    assert "\x1b]0" not in output


@pytest.mark.parametrize(
    "words",
    [
        ("facts", f"nowhere{EVIL}"),
        ("facts", str(SAMPLE), f"--wrong{EVIL}"),
        ("facts", str(SAMPLE), "--format", EVIL),
        ("facts", str(SAMPLE), "--where", f"'{EVIL}'"),
        ("sql", str(SAMPLE), f'select "{EVIL}" from jobs'),
        ("convert", str(SAMPLE), "-o", f"{EVIL}.gwf"),
    ],
    ids=["file", "option", "format", "where", "query", "output"],
)
def test_messages_show_what_is_in_a_name(words, tmp_path):
    message = run(*words, cwd=tmp_path).stderr.decode()
    assert r"\x1b[31mred" in message
    assert not UNPRINTABLE.search(message)


def test_json_is_escaped_as_json_is(tmp_path):
    output = run("sql", str(SAMPLE), QUERY, "--json", cwd=tmp_path).stdout.decode()
    assert not UNPRINTABLE.search(output)
    assert json.loads(output) == [{"evil": EVIL}]


def test_a_file_name_that_is_no_text_is_printed(tmp_path):
    name = os.fsdecode(b"caf\xe9.swf")
    message = run("facts", name, cwd=tmp_path).stderr.decode()
    assert message.startswith(r"gwa: caf\xe9.swf: ")


FORMULAS = ("=1+1", "+1", "-cmd", "@sum(a)", "|x", "%x", "\t=1", "\n=1", " =1")


@pytest.mark.parametrize("text", FORMULAS)
def test_csv_holds_no_formula(text, capsys):
    table([text], [[text]], as_json=False)
    assert list(csv.reader(io.StringIO(capsys.readouterr().out, newline=""))) == [[f"'{text}"], [f"'{text}"]]


def test_csv_holds_numbers_and_names_as_they_are(capsys):
    table(["n", "count(*)"], [[-1, "a=1"], [-1.5, ""], [None, "2011-02-03"]], as_json=False)
    assert capsys.readouterr().out == "n,count(*)\n-1,a=1\n-1.5,\n,2011-02-03\n"


@given(st.text(max_size=10))
def test_what_is_disarmed_is_still_told(text):
    assert disarmed(text).removeprefix("'") in {text, text.removeprefix("'")}


@pytest.mark.parametrize("debug", [False, True])
def test_warnings_of_libraries_reach_the_terminal_only_on_request(debug):
    code = "import numpy, sys, gwa.cli as c; c.gwa.main = lambda **_: numpy.exp([1e9]); c.main()"
    words = [sys.executable, "-c", code, *(["--debug"] if debug else [])]
    told = subprocess.run(words, cwd=HOME, capture_output=True, text=True, check=False)
    assert told.returncode == 0
    assert ("RuntimeWarning: overflow" in told.stderr) == debug
    assert debug or told.stderr == ""


CELLS = st.text("abc def", max_size=30)


@given(st.lists(st.tuples(CELLS, CELLS, st.integers().map(str)), min_size=1), st.integers(10, 120))
def test_a_table_fits_the_terminal_and_breaks_no_number(cells, width):
    widths = column_widths(cells, [False, False, True], width)
    longest = [max(map(len, column)) for column in zip(*cells, strict=True)]
    if widths is None:
        assert sum(longest) + 4 > width
    else:
        assert sum(widths) + 4 <= width
        assert widths[2] == longest[2]
        columns = zip(*cells, strict=True)
        words = [
            max((len(word) for cell in column for word in cell.split()), default=0) for column in columns
        ]
        assert all(given >= min(word, 24) for given, word in zip(widths, words, strict=True))


@given(st.text("ab -", max_size=200), st.integers(20, 120))
def test_lines_are_broken_at_blanks_alone_and_lose_nothing(text, width):
    lines = wrapped(text, width).split("\n")

    assert " ".join(lines).split() == text.split()
    assert all(len(line) <= width or len(line.split()) == 1 for line in lines)


def test_sentences_are_wrapped_at_words_on_a_terminal_and_not_elsewhere(tmp_path):
    """The terminal broke them in the midst of words."""
    shown = on_a_terminal(cwd=tmp_path, columns="60")
    assert max(map(len, shown.splitlines())) <= 60
    assert max(map(len, run(text=True).stdout.splitlines())) > 80
    assert wrapped("next: gwa report " + "x/" * 40, 60) == "next: gwa report " + "x/" * 40


def test_what_a_format_says_is_wrapped_at_words_and_its_commands_are_not_broken(tmp_path):
    """Lines made for 110 letters were broken in the midst of words."""
    shown = on_a_terminal("formats", "slurm", cwd=tmp_path, columns="60").replace("\r", "").splitlines()
    piped = run("formats", "slurm", text=True).stdout
    assert max(map(len, piped.splitlines())) > 100
    assert " ".join(shown).split() == piped.split()
    prose = [line for line in shown if not line.startswith("    ")]
    assert max(map(len, prose)) <= 60
    # A paragraph is not of long and short lines in turns.
    assert len(prose) <= 1.25 * sum(map(len, prose)) / 60 + 2 * prose.count("")
    assert any(line.startswith("    sacct --allusers") and len(line) > 60 for line in shown)


def test_a_letter_on_a_terminal_is_wrapped_at_words(tmp_path):
    run("sample", "-o", "s.sacct", cwd=tmp_path)
    shown = on_a_terminal("advise", "s.sacct", "--user", "u12", cwd=tmp_path, columns="60")
    assert max(map(len, shown.replace("\r", "").splitlines())) <= 60
    assert "1. Check that the program finds its GPUs" in shown


def test_commands_on_a_terminal_are_not_broken(tmp_path):
    """They are copied, and would be run in two halves."""
    day = ("--since", "2025-01-01", "--until", "2025-01-01")
    words = ("collect", "slurm", "-o", "jobs.duckdb", *day, "--print")
    printed = run(*words, cwd=tmp_path, text=True).stdout.splitlines()
    assert max(map(len, printed)) > 60
    assert on_a_terminal(*words, cwd=tmp_path, columns="60").splitlines() == printed


def test_a_number_with_a_fraction_has_the_digits_that_matter_on_a_terminal(tmp_path):
    query = "select 51265180.00833333::double as large, 1/3 as third, 2.5 as half, 'a' as text"
    (tmp_path / "log.swf").write_text("1 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n")
    shown = on_a_terminal("sql", "log.swf", query, cwd=tmp_path)

    assert shown.split()[-4:] == ["51265180", "0.333333", "2.5", "a"]
    assert "51265180.00833333" in run("sql", "log.swf", query, cwd=tmp_path, text=True).stdout


@given(st.lists(st.floats(1e-4, 1e9) | st.integers(0, 10**9) | st.none(), min_size=1), st.integers(3, 6))
def test_a_column_has_the_same_decimals_where_no_number_of_it_loses_its_digits(values, digits):
    texts = column_text(values, digits)

    assert [text == "" for text in texts] == [value is None for value in values]
    known = [(text, value) for text, value in zip(texts, values, strict=True) if value is not None]
    for text, value in known:
        assert float(text.replace(",", "")) == pytest.approx(value, rel=0.5 * 10 ** (1 - MINIMUM_DIGITS))
        assert re.fullmatch(r"\d{1,3}(,\d{3})*(\.\d+)?", text)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([12611, 232, 1], ["12,611", "232", "1"]),
        ([8152, 1000, 999], ["8,152", "1,000", "999"]),
        ([14713.5, 620893.45, 86.44], ["14,714", "620,893", "86"]),
        ([0.4, 23.25, 1.5], ["0.40", "23.25", "1.50"]),
        ([1.01e6, 0.0174], ["1,010,000", "0.0174"]),
        ([True, None, False], ["True", "", "False"]),
        (["2012", 2012], ["2012", "2,012"]),
    ],
)
def test_all_tables_write_numbers_by_one_rule(values, texts):
    """Those below 10,000 had no separator where larger ones had, and a column had any number of decimals."""
    assert column_text(values) == texts


def test_counts_on_a_terminal_have_separators_and_those_of_a_pipe_or_a_query_have_none(tmp_path):
    words = ("fetch", "--list", "gpus")
    assert re.search(r" 8,152\r?$", on_a_terminal(*words, cwd=tmp_path, columns="80"), re.MULTILINE)
    assert b",8152," in run(*words).stdout
    # What a query yields may be years, times or numbers of jobs.
    shown = on_a_terminal("sql", str(SAMPLE), "select 2012 as year, 17363 as job", cwd=tmp_path)
    assert shown.split() == ["year", "job", "2012", "17363"]


def test_a_terminal_shows_all_columns_for_which_it_is_wide_enough_and_says_which_are_left_out(tmp_path):
    words = ("formats", "alibaba-gpu202", "pods")
    assert "openb_pod_list_" in on_a_terminal(*words, cwd=tmp_path, columns="200")
    narrow = on_a_terminal(*words, cwd=tmp_path, columns="80")
    assert "openb_pod_list_" not in narrow
    assert "Left out: files;" in narrow


def test_columns_without_a_value_take_no_room(tmp_path):
    shown = on_a_terminal("fetch", "--list", "sharing", cwd=tmp_path, columns="300")
    assert "cluster-trace-gpu-v2023" in shown
    shown = on_a_terminal("fetch", "--list", "netbatch", cwd=tmp_path, columns="400")
    assert re.search(r"^Left out: jobs, bytes, doi;", shown, re.MULTILINE)
    # A query asked for them.
    nothing = on_a_terminal("sql", str(SAMPLE), "select null as nothing, 1 as one", cwd=tmp_path)
    assert nothing.split() == ["nothing", "one", "1"]


def test_a_row_printed_line_by_line_is_wrapped_at_words(tmp_path):
    text = "words that go on and on for much longer than a line of it"
    query = f"select '{text}' as what, 12345678901234567 as number, '{'a' * 24}' as name"
    shown = on_a_terminal("sql", str(SAMPLE), query, cwd=tmp_path, columns="40").splitlines()
    assert max(map(len, shown)) <= 40
    assert " ".join(" ".join(shown).split()).startswith(f"what {text} number")


@given(st.integers(20, 120))
def test_a_number_stays_with_its_unit(width):
    text = "  Who?  Of the jobs 5.5 %, 8.5 % and 5.4 % waited for 22 h 36 min 5 s, and held 1.5 GB of memory"
    lines = wrapped(text, width).split("\n")
    assert not any(re.match(r"\s*(%|h|min|s|GB)\b", line) or re.match(r"\s*%", line) for line in lines)
    assert " ".join(lines).split() == text.split()


def test_lines_of_progress_count_in_whole_numbers(capsys, monkeypatch):
    monkeypatch.setattr("gwa.cli._terminal.LINE_INTERVAL", 0)
    with ProgressLines().step("reading", 3_000_000) as step:
        step.advance(1_234_567)
    assert capsys.readouterr().err == "reading: 0 of 3,000,000\nreading: 1,234,567 of 3,000,000\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("dashboard", "grafana", "-o", "d.json"), "d.json\n"),
        (("sample", "swf", "-o", "s.swf"), "\nnext: gwa report s.swf\n"),
        (
            ("model", "fit", str(SAMPLE), "lublin", "-o", "l.json"),
            "\nnext: gwa model generate l.json --days 30",
        ),
        (("compare", str(SAMPLE), str(SAMPLE), "--names", "A,B"), "equal in all that is tested"),
        (("advise", str(SAMPLE)), "\ngwa: no alert: "),
    ],
    ids=lambda words: words[0] if isinstance(words, tuple) else "",
)
def test_a_command_ends_with_its_answer_or_the_next_step(words, said, tmp_path):
    done = run(*words, cwd=tmp_path, text=True)
    assert said in done.stdout + done.stderr


def test_models_are_searched_by_every_word():
    found = [row["name"] for row in json.loads(run("model", "list", "thesis", "tasks", "--json").stdout)]
    assert "thesis-tasks" in found
    assert "lublin" not in found
    none = run("model", "list", "no", "such")
    assert none.returncode
    assert b"no model has 'no such'" in none.stderr


@pytest.mark.parametrize("name", ["runtime", "log_runtime"])
def test_a_fit_speaks_of_no_zeros_where_there_are_none(name, tmp_path):
    jobs = [f"{job} {job} 1 {10 + job % 7} 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1" for job in range(1, 200)]
    (tmp_path / "log.swf").write_text("\n".join(jobs))
    assert "0 %" not in run("fit", "log.swf", name, cwd=tmp_path, text=True).stderr


def test_a_row_that_is_too_wide_is_printed_line_by_line(tmp_path):
    shown = on_a_terminal("sql", str(SAMPLE), "select * from jobs limit 1", cwd=tmp_path)
    assert re.search(r"^job_id +1\r?$", shown, re.MULTILINE)
    assert re.search(r"^queue_id +short\r?$", shown, re.MULTILINE)


def test_a_report_says_what_was_read_what_became_of_the_hours_and_the_answers(tmp_path):
    source = HOME / "sample_traces" / "swf" / "tiny.swf"
    loud = run("report", source, "-o", tmp_path, text=True)
    lines = loud.stderr.splitlines()
    assert loud.stdout == f"{tmp_path / 'tiny.html'}\n"
    assert lines[0].startswith("tiny: swf; 1,200 jobs from 1,221 rows")
    assert "2025-03-10 to 2025-03-23" in lines[0]
    assert lines[1].startswith("  Of every 100 processor-hours, ")
    (bar,) = (line.strip() for line in lines if set(line.strip()) <= set("█▓▒▞░?"))
    assert bar.count("░") > 0
    assert [line.split("?")[0].strip() for line in lines if "? " in line and line[2:3].isupper()] == [
        "Who used it",
        "How long did jobs wait",
        "What went wrong",
        "What changed",
    ]
    assert run("report", source, "-o", tmp_path, "--quiet", "--sections", "users").stderr == b""


@pytest.mark.parametrize("words", [("formats",), ("fetch", "--list", "archive")])
def test_a_list_has_a_line_for_each_entry_however_narrow_the_terminal(words, tmp_path):
    entries = len(json.loads(run(*words, "--json").stdout))
    shown = on_a_terminal(*words, cwd=tmp_path, columns="80").replace("\r", "").splitlines()

    assert max(map(len, shown)) <= 80
    assert len([line for line in shown if not line.startswith("Left out:")]) == 1 + entries


def test_formats_are_searched_by_every_word():
    found = [row["name"] for row in json.loads(run("formats", "GPU", "2023", "--json").stdout)]
    assert found == ["alibaba-gpu2023"]
    assert b"Standard Workload Format" in run("formats", "swf").stdout
    none = run("formats", "no", "such")
    assert none.returncode
    assert b"there is no format 'no such'" in none.stderr
