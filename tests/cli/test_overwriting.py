"""What gwa wrote from the same input with the same options is replaced; all else needs --force."""

import shutil

import pytest
from click.testing import CliRunner

from gwa.cli import gwa
from gwa.errors import OutputError
from tests.conftest import HOME

TINY = HOME / "sample_traces" / "swf" / "tiny.swf"
FAST = ("--sections", "users", "-q")


def run(*words, **more):
    """Run a command in this process."""
    return CliRunner().invoke(gwa, words, **more)


@pytest.fixture
def logs(tmp_path, monkeypatch):
    """Return a folder with two logs of one name, in which commands run."""
    for name, lines in (("a", 400), ("b", 300)):
        (tmp_path / name).mkdir()
        text = TINY.read_text().splitlines(keepends=True)
        (tmp_path / name / "log.swf").write_text("".join(text[:lines]))
    (tmp_path / "own.toml").write_text("cpus = 99\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(done):
    """Assert that a command was refused because of what is there, and what to do."""
    assert done.exit_code == 1, done.output
    assert isinstance(done.exception, OutputError)
    assert "exists, and is not what gwa wrote" in str(done.exception)
    assert "--force" in str(done.exception)
    return True


WRITING = {
    "report": (("report", "{}", *FAST), "log-users.html"),
    "pdf": (("report", "{}", *FAST, "--pdf"), "log-users.pdf"),
    "latex": (("report", "{}", *FAST, "--latex"), "log-users-latex"),
    "compare": (("compare", "{}", str(TINY), "-q", "--json"), "comparison-log-tiny.json"),
    "convert": (("convert", "{}", "-q", "-o", "out.gwf"), "out.gwf"),
    "convert to SWF": (("convert", "{}", "-q", "-o", "out.swf.gz"), "out.swf.gz"),
    "store": (("convert", "{}", "-q", "-o", "out.duckdb"), "out.duckdb"),
    "months": (("convert", "{}", "-q", "-o", "m.parquet", "--partition", "month"), "m.parquet"),
    "anonymize": (("anonymize", "{}", "-q", "-o", "out.sqlite", "--key", "key"), "out.sqlite"),
    "export": (("export", "{}", "-q", "-o", "out", "--alea"), "out/alea"),
    "facts": (("facts", "{}", "-q", "--only", "trace", "-o", "facts.json"), "facts.json"),
    "model": (("model", "fit", "{}", "dacosta", "-q", "-o", "model.json"), "model.json"),
}


@pytest.mark.parametrize(("words", "out"), WRITING.values(), ids=WRITING)
def test_an_output_is_replaced_from_the_same_input_only(words, out, logs):
    def write(log, *more):
        return run(*(word.format(log) for word in words), *more)

    assert write("a/log.swf").exit_code == 0
    assert (logs / out).exists()
    again = write("a/log.swf")
    assert again.exit_code == 0, again.output
    assert refused(write("b/log.swf"))
    forced = write("b/log.swf", "--force")
    assert forced.exit_code == 0, forced.output
    assert refused(write("a/log.swf")), "it is that of the other log now"


@pytest.mark.usefixtures("logs")
def test_a_log_that_has_grown_is_the_same_input():
    assert run("report", "b/log.swf", *FAST).exit_code == 0
    shutil.copy("a/log.swf", "b/log.swf")
    assert run("report", "b/log.swf", *FAST).exit_code == 0


def test_a_folder_that_moved_with_its_log_is_as_before(logs):
    assert run("convert", "a/log.swf", "-q", "-o", "a/out.gwf").exit_code == 0
    (logs / "a").rename(logs / "c")
    assert run("convert", "c/log.swf", "-q", "-o", "c/out.gwf").exit_code == 0


def test_what_somebody_wrote_or_edited_stays(logs):
    page = logs / "log-users.html"
    page.write_text("mine")
    assert refused(run("report", "a/log.swf", *FAST))
    assert page.read_text() == "mine"
    page.unlink()
    assert run("report", "a/log.swf", *FAST).exit_code == 0
    page.write_text(page.read_text() + "<!-- mine -->")
    assert refused(run("report", "a/log.swf", *FAST))


@pytest.mark.usefixtures("logs")
@pytest.mark.parametrize("more", [("--top", "3"), ("--system", "own.toml")])
def test_other_options_make_another_output(more):
    assert run("report", "a/log.swf", *FAST).exit_code == 0
    assert refused(run("report", "a/log.swf", *FAST, *more))


@pytest.mark.usefixtures("logs")
def test_limits_and_kinds_are_no_other_options():
    assert run("report", "a/log.swf", *FAST).exit_code == 0
    assert run("report", "a/log.swf", *FAST, "--html", "--json", "--threads", "1").exit_code == 0


PARTS = {
    (): "log-users",
    ("--period", "2025-03-11..2025-03-12"): "log-2025-03-11..2025-03-12-users",
    ("--queue", "short"): "log-queue-short-users",
    ("--view", "all"): "log-all-users",
    ("--lang", "de"): "log-de-users",
    ("--where", "n_procs > 1"): "log-where_n_procs_1-users-*",
    ("--where", "n_procs < 1000"): "log-where_n_procs_1000-users-*",
    ("--period", "2025-03-12", "--against", "2025-03-11"): "log-2025-03-12-users-against-2025-03-11",
}


def test_a_page_on_a_part_has_a_name_of_its_own(logs):
    names = set()
    for words, pattern in PARTS.items():
        done = run("report", "a/log.swf", *FAST, *words)
        assert done.exit_code == 0, done.output
        (path,) = logs.glob(f"{pattern}.html")
        names.add(path.name)
        assert done.stdout == f"{path.name}\n"
    assert len(names) == len(PARTS)


def test_nothing_is_left_by_a_command_that_fails(logs):
    (logs / "bad.swf").write_text("nonsense\n")
    assert run("convert", "bad.swf", "-q", "-o", "out.gwf").exit_code == 1
    assert {path.name for path in logs.iterdir()} == {"a", "b", "own.toml", "bad.swf"}


def test_a_folder_that_stays_empty_is_not_left(logs, monkeypatch):
    def failing(*_, **__):
        raise OutputError("no")

    monkeypatch.setattr("gwa.cli.report.write", failing)
    assert run("report", "a/log.swf", *FAST, "-o", "new/deep").exit_code == 1
    assert not (logs / "new").exists()


def test_texts_that_were_translated_stay(logs):
    words = ("report", "a/log.swf", *FAST, "--strings", "fr.po")
    assert run(*words).exit_code == run(*words).exit_code == 0
    (logs / "fr.po").write_text("translated")
    assert refused(run(*words))


@pytest.mark.usefixtures("logs")
def test_standard_input_is_another_log_each_time():
    words = ("convert", "-", "-q", "-o", "out.gwf")
    assert run(*words, input=TINY.read_bytes()).exit_code == 0
    assert refused(run(*words, input=TINY.read_bytes()))
