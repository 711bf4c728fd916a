"""The command line, run as a program."""

import json
import os
import shlex
import subprocess
import sys

import click
import pytest

from gwa.cli import gwa
from gwa.formats.registry import writer
from tests import forked
from tests.conftest import HOME
from tests.program import run, start

HEAVY = {"numpy", "pandas", "duckdb", "scipy", "matplotlib", "weasyprint", "pyarrow", "rich", "jinja2"}
SAMPLE = HOME / "sample_traces" / "swf" / "tiny.swf"


def start_cold(*words, cwd):
    """Run gwa in a new interpreter, with a seed of hashes of its own, and return what became of it."""
    command = [*forked.COLD, *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


CONTEXT = click.Context(gwa)
COMMANDS = [
    name
    for name in gwa.list_commands(CONTEXT)
    if (command := gwa.get_command(CONTEXT, name)) and not command.hidden
]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name):
    command = gwa.get_command(CONTEXT, name)
    help_text = command.help if command else None

    assert help_text
    assert f"gwa {name} " in help_text


def test_help_imports_nothing_heavy(tmp_path):
    """``gwa --help`` must answer at once: none of the big libraries is touched."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "gwa", "--help"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}

    assert "Usage: gwa" in done.stdout
    assert "click" in imported
    assert not imported & HEAVY
    assert not imported & {"gwa.report.document", "difflib"}


def test_commands_of_other_packages_are_looked_for_only_where_all_are_listed():
    code = (
        "import sys; from gwa.cli import gwa; gwa.main(['formats', '--help'], standalone_mode=False);"
        " print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "click" in done.stderr.split()
    assert "importlib.metadata" not in done.stderr.split()


NEEDLESS = {
    "facts": {"matplotlib", "numba", "pandas", "jinja2", "pyarrow.compute"},
    "report": {"numba", "matplotlib", "pandas", "pyarrow.parquet", "scipy.stats"},
    "sql": {"scipy", "matplotlib", "numba", "pandas", "jinja2", "pyarrow", "gwa.report.html"},
}
"""Libraries that these commands do without, of those that take a tenth of a second to import."""


@pytest.mark.parametrize("name", NEEDLESS)
def test_commands_import_what_they_need(name, tmp_path):
    words = [name, str(SAMPLE), *{"report": ("-o", "out"), "sql": ("select 1",)}.get(name, ())]
    code = (
        f"import sys; from gwa.cli import gwa; gwa.main({words}, standalone_mode=False);"
        " print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    imported = set(done.stderr.split())

    assert "duckdb" in imported
    assert not imported & NEEDLESS[name]


@pytest.mark.parametrize(("stated", "used"), [(None, "1"), ("3", "3")])
def test_numpy_finds_one_thread_of_blas_unless_a_number_is_stated(stated, used, monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if stated:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", stated)
    code = (
        "import os, sys; from gwa.__main__ import main\n"
        "class Watch:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'numpy': print(os.environ.get('OPENBLAS_NUM_THREADS'), file=sys.stderr)\n"
        "sys.meta_path.insert(0, Watch())\n"
        f"sys.argv = ['gwa', 'sql', {str(SAMPLE)!r}, 'select 1']; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert used in done.stderr.splitlines()


def test_converts_and_reports(tmp_path):
    converted = start("convert", SAMPLE, "-o", "tiny.gwf", cwd=tmp_path)
    assert (converted.returncode, converted.stdout) == (0, "")
    assert "1,200 jobs" in converted.stderr

    reported = run("report", "tiny.gwf", "--html", "--json", "-o", "out", cwd=tmp_path)
    assert reported.returncode == 0, reported.stderr
    assert reported.stdout.split() == ["out/tiny.html", "out/tiny.json"]
    assert 'data-plot="series"' in (tmp_path / "out/tiny.html").read_text()


def test_the_same_trace_gives_the_same_bytes(tmp_path):
    for folder in ("one", "two"):
        assert start_cold("report", SAMPLE, "-o", folder, cwd=tmp_path).returncode == 0

    assert (tmp_path / "one/tiny.html").read_bytes() == (tmp_path / "two/tiny.html").read_bytes()


def test_facts_are_json_that_can_be_narrowed(tmp_path):
    facts = json.loads(run("facts", SAMPLE, "--only", "trace.", cwd=tmp_path).stdout)

    assert facts["trace.jobs"] == 1200
    assert all(name.startswith("trace.") for name in facts)


def test_a_query_is_csv_when_piped_and_json_when_asked(tmp_path):
    query = "select job_id, user_id from jobs order by job_id limit 2"

    assert run("sql", SAMPLE, query, cwd=tmp_path).stdout.splitlines()[0] == "job_id,user_id"
    assert json.loads(run("sql", SAMPLE, query, "--json", cwd=tmp_path).stdout)[0]["job_id"] == 1


def test_check_fails_on_rejected_rows_only(tmp_path):
    bad = tmp_path / "bad.swf"
    bad.write_text(SAMPLE.read_text() + "1 2 3\n")

    clean = run("check", SAMPLE, cwd=tmp_path)
    assert clean.returncode == 0
    assert {line.partition(",")[0] for line in clean.stdout.splitlines()} == {"kind", "info"}
    checked = start("check", bad, cwd=tmp_path)
    assert checked.returncode == 1
    assert "error,1,rows of the source were refused" in checked.stdout
    assert "bad.swf:" in checked.stdout


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("facts", "nowhere.swf"), 1, "gwa: nowhere.swf: no such file or directory"),
        (("facts", "."), 1, "gwa: .: is an empty folder, expected logs"),
        (("convert", str(SAMPLE), "-o", "x.docx"), 2, "its suffix names no format to write"),
        (("convert", str(SAMPLE), "-o", "no/such/x.gwf"), 1, "there is no directory"),
        (("convert", str(SAMPLE)), 2, "Missing option"),
        (("nonsense",), 2, "No such command"),
        (("sql", str(SAMPLE), "select nonsense"), 1, "gwa: the query failed"),
        (("facts", str(SAMPLE), "--format", "nonsense"), 2, "there is no format 'nonsense'"),
        (("facts", str(SAMPLE), "--memory", "plenty"), 2, "'plenty' is not a size, expected one such as 2GB"),
        (("facts", str(SAMPLE), "--memory", "349MB"), 2, "349MB is not enough, expected at least 350MB"),
    ],
)
def test_mistakes_are_told_in_a_line(words, status, said, tmp_path):
    done = run(*words, cwd=tmp_path)

    assert done.returncode == status
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_strict_stops_at_the_first_bad_row(tmp_path):
    bad = tmp_path / "bad.swf"
    bad.write_text(SAMPLE.read_text().replace("\n", "\n1 2 3\n", 1))
    done = run("convert", bad, "-o", "x.gwf", "--strict", cwd=tmp_path)

    assert done.returncode == 1
    assert "bad.swf:2: 3 columns, expected 18" in done.stderr
    assert not (tmp_path / "x.gwf").exists()


def test_a_closed_pipe_is_no_error(tmp_path):
    command = f"{shlex.join(forked.gwa())} sql '{SAMPLE}' 'select * from jobs' | head -1"
    with forked.telling():
        done = subprocess.run(
            ["/bin/sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True
        )

    assert done.stdout.startswith("job_id,")
    assert "Traceback" not in done.stderr


def test_no_names_of_folders_get_into_a_report(tmp_path):
    folder = tmp_path / "secret-folder"
    folder.mkdir()
    (folder / "tiny.swf").write_bytes(SAMPLE.read_bytes())
    run("convert", folder / "tiny.swf", "-o", folder / "tiny.gwf", cwd=tmp_path)
    run("report", folder / "tiny.gwf", "--json", "--html", "-o", tmp_path, cwd=tmp_path)

    for file in (folder / "tiny.gwf", tmp_path / "tiny.json", tmp_path / "tiny.html"):
        assert "secret-folder" not in file.read_text()
    assert (
        os.sep not in json.loads((tmp_path / "tiny.json").read_text())["reproduction"]["sources"][0]["file"]
    )


def test_converting_to_swf_says_which_fields_it_cannot_hold(make_store, tmp_path):
    writer(tmp_path / "a.gwf").save(
        make_store(submit_time=[1e9], run_time=[5.0], n_gpus=[2.0]), tmp_path / "a.gwf"
    )
    done = run("convert", "a.gwf", "-o", "a.swf", cwd=tmp_path)

    assert "left out, as SWF cannot hold them: n_gpus" in done.stderr


TABLE = "user,submitted,begin_ts,took,cores\n" + "".join(
    f"u{n % 3},{1_700_000_000 + 60 * n},{1_700_000_030_000 + 60_000 * n},{60 + n},4\n" for n in range(20)
)


def test_a_table_is_asked_about_and_then_converted_as_the_message_says(tmp_path):
    (tmp_path / "jobs.csv").write_text(TABLE)
    asked = run("convert", "jobs.csv", "-o", "jobs.duckdb", cwd=tmp_path)
    assert asked.returncode == 1
    assert "how long it ran" in asked.stderr

    stated = run("convert", "jobs.csv", "-o", "jobs.duckdb", "--map", "run=took:s", cwd=tmp_path)
    assert stated.returncode == 0, stated.stderr
    assert "columns read (20)" in stated.stderr
    checked = run("check", "jobs.duckdb", cwd=tmp_path)
    assert "start=begin_ts:ms, run=took:s" in checked.stdout

    (tmp_path / "columns.toml").write_text('run_time = "took:s"\n')
    facts = run("facts", "jobs.csv", "--map", "columns.toml", cwd=tmp_path)
    assert facts.returncode == 0, facts.stderr
    again = run("sql", "jobs.duckdb", "select value from provenance where key = 'convert'", cwd=tmp_path)
    assert "--map run=took:s" in again.stdout or "--map 'run=took:s'" in again.stdout


def test_a_map_that_is_wrong_is_refused_before_anything_is_read(tmp_path):
    (tmp_path / "jobs.csv").write_text(TABLE)
    done = run("convert", "jobs.csv", "-o", "jobs.duckdb", "--map", "strat=begin", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "there is no role 'strat'" in done.stderr
