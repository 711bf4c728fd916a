"""``gwa advise``: lists, letters, and mail that reaches those whom it is meant for, once, and nobody else."""

import csv
import email
import json
import os
import socket
import stat
import threading
from email.policy import default
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner

from gwa.cli import gwa
from gwa.report.letter import Advice, Letter, as_html, as_text

HEAD = (
    "JobID|User|Account|State|Submit|Start|End|ElapsedRaw|NNodes|AllocCPUS|ReqMem|AllocTRES|MaxRSS"
    "|TRESUsageInTot"
)
ODD = "eve, <x@y.z>"
NAMES = {"1": "ann", "2": "bob", "3": ODD, "4": "=1+1"}


def row(number, user, use):
    """Return a job of 200 hours on a GPU, empty at a *use* of 0, and its step, whose peak use that was."""
    job = f"{number}|{user}|climate|COMPLETED|1793494200|1793494260|1794214260|720000|1|4|16G"
    step = f"{number}.0||climate|COMPLETED|1793494260|1793494260|1794214260|720000|1|4||cpu=4,mem=16G,node=1"
    tres = "billing=4,cpu=4,mem=16G,node=1,gres/gpu=1"
    return f"{job}|{tres}||\n{step}|1G|gres/gpumem={20 * use + 300}M,gres/gpuutil={use},mem=1G"


@pytest.fixture
def log(tmp_path):
    """Return a log of which four users left a GPU idle, and one did not."""
    path = tmp_path / "heron.sacct"
    rows = [row(number, name, 0) for number, name in NAMES.items()] + [row(5, "fay", 90)]
    path.write_text("\n".join([HEAD, *rows]) + "\n")
    return path


def run(*words, **options):
    return CliRunner().invoke(gwa, ["advise", *map(str, words)], **options)


def body(mail, kind="plain"):
    """Return the text or the HTML of a mail."""
    part = mail.get_body((kind,))
    assert part
    return part.get_content()


# --- Lists and letters ---


def test_the_list_says_who_wastes_what_and_how_much_is_measured(log):
    done = run(log)
    assert done.exit_code == 0, done.output
    rows = [one for one in csv.DictReader(StringIO(done.stdout)) if one["alert"] == "idle-gpu-hours"]
    assert [(one["user"], one["hours"], one["unit"]) for one in rows] == [
        (name if name != "=1+1" else "'=1+1", "200", "GPU-hours") for name in ("=1+1", "ann", "bob", ODD)
    ]
    # All five had one GPU, of which a peak says whether it was idle, and not how much it was used.
    assert "jobs with GPUs" not in done.stderr
    assert "low-gpu-use (gpu_utilization)" in done.stderr
    assert "spread-gpu (node_gpus)" in done.stderr
    assert done.stderr.endswith(f"next: gwa advise {log} --user =1+1\n")


def test_the_list_as_json_and_by_project(log):
    rows = json.loads(run(log, "--by", "project", "--json").stdout)
    (idle,) = [one for one in rows if one["alert"] == "idle-gpu-hours"]
    assert (idle["project"], idle["hours"], idle["jobs"]) == ("climate", 800, 4)


def test_a_letter_to_a_user_and_on_a_project(log):
    assert "1 job held GPUs whose mean use was 0 %, for 200 GPU-hours." in run(log, "--user", "ann").stdout
    assert (
        "4 jobs held GPUs whose mean use was 0 %, for 800 GPU-hours."
        in run(log, "--project", "climate").stdout
    )
    letter = json.loads(run(log, "--user", "ann", "--json").stdout)
    assert [one["id"] for one in letter["advice"]] == ["idle-gpu-hours"]
    assert {"user", "jobs", "cpu_hours", "advice"} <= letter.keys()


def test_files_for_those_whom_an_alert_is_about_or_for_all(log, tmp_path):
    done = run(log, "-o", tmp_path / "letters", "--domain", "example.org")
    assert done.exit_code == 0, done.output
    names = {path.name for path in (tmp_path / "letters").iterdir() if not path.name.startswith(".")}
    assert {name for name in names if name.startswith(("ann", "fay"))} == {"ann.txt", "ann.html", "ann.eml"}
    assert not [name for name in names if name.startswith("eve") and name.endswith(".eml")]
    every = run(log, "--all", "-o", tmp_path / "all")
    assert (tmp_path / "all" / "fay.txt").read_text().endswith("nothing that should be changed.\n\n")
    assert every.stdout.count(".txt") == 5


def test_a_mail_in_a_file_has_text_and_html_that_say_the_same(log, tmp_path):
    run(log, "-o", tmp_path / "letters", "--domain", "example.org", "--from", "help@example.org")
    mail = email.message_from_bytes((tmp_path / "letters" / "ann.eml").read_bytes(), policy=default)
    assert (mail["To"], mail["From"]) == ("ann@example.org", "help@example.org")
    assert mail["Subject"] == "What your jobs do not use (heron)"
    text, html = (body(mail, kind) for kind in ("plain", "html"))
    assert "for 200 GPU-hours." in text
    assert "for 200 GPU-hours." in html


def test_letters_as_csv_have_no_formula(log, tmp_path):
    done = run(
        log, "--csv", tmp_path / "letters.csv", "--jobs", tmp_path / "jobs.csv", "--domain", "example.org"
    )
    assert done.exit_code == 0, done.output
    with (tmp_path / "letters.csv").open(newline="") as file:
        letters = {one["user"]: one for one in csv.DictReader(file)}
    assert letters.keys() == {"ann", "bob", ODD, "'=1+1"}
    assert letters["ann"]["address"] == "ann@example.org"
    assert letters[ODD]["address"] == letters["'=1+1"]["address"] == ""
    assert "for 200 GPU-hours." in letters["ann"]["text"]
    with (tmp_path / "jobs.csv").open(newline="") as file:
        jobs = [one for one in csv.DictReader(file) if one["alert"] == "idle-gpu-hours"]
    assert sorted(one["job"] for one in jobs) == ["1", "2", "3", "4"]


def test_thresholds_of_a_file(log, tmp_path):
    (tmp_path / "own.toml").write_text("[idle_gpu_hours]\nlist_hours = 201\n")
    assert "idle-gpu-hours" not in run(log, "--thresholds", tmp_path / "own.toml").stdout
    (tmp_path / "own.toml").write_text("[idle_gpu_hours]\nlist = 201\n")
    refused = run(log, "--thresholds", tmp_path / "own.toml")
    assert refused.exit_code != 0
    assert "own.toml:2: idle_gpu_hours.list: unknown key" in str(refused.exception)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--user", "ann", "--all"], "expected either --user NAME, or --all with -o DIR"),
        (["--all"], "expected either --user NAME, or --all with -o DIR"),
        (["--user", "ann", "--project", "climate"], "expected either --user or --project"),
        (["--project", "climat"], "the nearest are climate"),
        (["--mail", "--smtp", "localhost"], "expected either --mail"),
        (["--smtp", "local host"], "is not a mail server"),
        (["--smtp", "localhost:0"], "is not a mail server"),
        (["--domain", "a b"], "expected a domain"),
        (["--by", "project", "--domain", "example.org"], "expected --addresses FILE.csv"),
        (["--from", "a@b, c@d", "--mail"], "expected one address"),
        (["--cool-down", "soon", "--mail"], "expected a time such as 14d"),
        (["--send"], "--send sends nothing without --mail or --smtp"),
        (["--send", "--mail"], "no mail was sent: expected --addresses FILE.csv or --domain"),
        (["--send", "--mail", "--domain", "example.org"], "--send needs --from ADDRESS"),
    ],
)
def test_options_that_make_no_sense_are_errors_of_usage(words, said, log):
    done = run(log, *words)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())


# --- Mail through sendmail ---


@pytest.fixture
def outbox(tmp_path, monkeypatch):
    """Return the folder in which a stand-in for sendmail puts its mails; it refuses those to bob."""
    folder, program = tmp_path / "outbox", tmp_path / "bin" / "sendmail"
    folder.mkdir()
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\n"
        'for last; do :; done\ncase "$last" in bob@*) echo "no such user" >&2; exit 67;; esac\n'
        f'echo "$@" > "{folder}/$last.words"\ncat > "{folder}/$last"\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return folder


SENDING = ("--mail", "--domain", "example.org", "--from", "help@example.org", "--send")


def sent(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".words"))


def test_nothing_is_sent_unless_it_is_asked_for(log, outbox, tmp_path):
    state = tmp_path / "state.json"
    done = run(log, "--mail", "--domain", "example.org", "--state", state)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        "ann <ann@example.org>: idle-gpu-hours", "bob <bob@example.org>: idle-gpu-hours",
    ]  # fmt: skip
    assert "2 mails not sent: this is a dry run" in done.stderr
    assert f"2 without an address: =1+1, {ODD}" in done.stderr
    assert sent(outbox) == []
    assert not state.exists()


def test_without_addresses_there_is_no_mail_and_that_is_said(log, outbox):
    done = run(log, "--mail")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "no mail: expected --addresses FILE.csv or --domain" in done.stderr
    assert sent(outbox) == []


def test_what_is_accepted_is_noted_and_not_sent_again(log, outbox, tmp_path):
    state = tmp_path / "state.json"
    done = run(log, *SENDING, "--state", state)
    assert done.exit_code == 1
    assert "1 mail not accepted: bob@example.org" in str(done.exception)
    assert "no such user" in str(done.exception)
    assert sent(outbox) == ["ann@example.org"]
    mail = email.message_from_bytes((outbox / "ann@example.org").read_bytes(), policy=default)
    assert (mail["To"], mail["Auto-Submitted"]) == ("ann@example.org", "auto-generated")
    assert mail["Message-ID"].endswith("@example.org>")
    assert (outbox / "ann@example.org.words").read_text() == "-i -f help@example.org -- ann@example.org\n"
    assert json.loads(state.read_text())["sent"].keys() == {"user ann"}

    (outbox / "ann@example.org").unlink()
    again = run(log, *SENDING, "--state", state)
    assert "1 written to a short time ago: ann" in again.stderr
    assert sent(outbox) == []
    later = run(log, *SENDING, "--state", state, "--cool-down", "0s")
    assert later.stdout == "ann <ann@example.org>: idle-gpu-hours\n"
    assert sent(outbox) == ["ann@example.org"]


def test_time_that_passes_ends_a_cool_down(log, outbox, tmp_path):
    state = tmp_path / "state.json"
    content = {"format": "gwa advise 1", "sent": {"user ann": "2020-01-01T00:00:00+00:00"}}
    state.write_text(json.dumps(content))
    run(log, *SENDING, "--state", state)
    assert sent(outbox) == ["ann@example.org"]


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"format": "gwa advise 1", "sent": {"a": "soon"}}', "\x00"]
)
def test_another_file_is_no_state_and_stays(text, log, outbox, tmp_path):
    state = tmp_path / "state.json"
    state.write_text(text)
    done = run(log, *SENDING, "--state", state)
    assert "is not a file of 'gwa advise --state'" in str(done.exception)
    assert state.read_text() == text
    assert sent(outbox) == []


def test_addresses_of_a_file(log, outbox, tmp_path):
    (tmp_path / "addresses.csv").write_text(f'user,address\nann,a.b@example.org\n"{ODD}",eve@example.org\n')
    words = ("--mail", "--addresses", tmp_path / "addresses.csv", "--from", "help@example.org", "--send")
    done = run(log, *words, "--state", tmp_path / "state.json")
    assert done.exit_code == 0, done.output
    assert sent(outbox) == ["a.b@example.org", "eve@example.org"]
    assert "2 without an address: =1+1, bob" in done.stderr


def test_who_manages_a_project_is_written_to(log, outbox, tmp_path):
    (tmp_path / "managers.csv").write_text("project,address\nclimate,boss@example.org\n")
    words = (
        "--by",
        "project",
        "--mail",
        "--addresses",
        tmp_path / "managers.csv",
        "--from",
        "help@example.org",
    )
    done = run(log, *words, "--send", "--state", tmp_path / "state.json")
    assert done.exit_code == 0, done.output
    text = email.message_from_bytes((outbox / "boss@example.org").read_bytes(), policy=default)
    assert "Jobs of project climate in heron: 5 jobs" in body(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,mail\nann,a@b.c\n", "addresses.csv:1: its columns are name,mail, expected user,address"),
        ("user,address\nann,a@b.c; d@e.f\n", "addresses.csv:2: is 'a@b.c; d@e.f', expected one address"),
        ("user,address\nann,-oQ/tmp@b.c\n", "expected one address"),
        ('user,address\nann,"a@b.c\nBcc: d@e.f"\n', "expected one address"),
        ("user,address\nann,a@b.c\nann,d@e.f\n", "addresses.csv:3: 'ann' has another address above"),
        ("", "addresses.csv:1: its columns are none"),
    ],
)
def test_addresses_that_are_none_are_refused_by_line(text, said, log, outbox, tmp_path):
    (tmp_path / "addresses.csv").write_text(text)
    done = run(log, "--mail", "--addresses", tmp_path / "addresses.csv")
    assert said in str(done.exception)
    assert sent(outbox) == []


@pytest.mark.parametrize(
    "name", ["ann\nBcc: x@y.z", "-oQueue", "a b", "ann@else.org", "ann,bob", "ö", "", "a" * 65]
)
def test_no_address_is_made_of_a_name_that_has_not_the_form_of_one(name):
    from gwa.util.mail import Addresses, compose

    assert Addresses(domain="example.org").of(name) is None
    with pytest.raises(ValueError, match="is not an address"):
        compose("a", "b", "c", to=f"{name}@example.org")


def test_names_that_are_pseudonyms_get_no_mail(log, outbox, tmp_path):
    runner = CliRunner()
    assert (
        runner.invoke(
            gwa, ["anonymize", str(log), "-o", str(tmp_path / "a.gwf"), "--key", str(tmp_path / "k")]
        ).exit_code
        == 0
    )
    refused = run(tmp_path / "a.gwf", *SENDING, "--state", tmp_path / "state.json")
    assert "the trace is anonymized: its names are pseudonyms" in str(refused.exception)
    assert sent(outbox) == []
    assert run(tmp_path / "a.gwf").exit_code == 0


@pytest.fixture
def odd_users(tmp_path):
    """Return a log of users who are no people, and of one in three spellings."""
    path = tmp_path / "odd.sacct"
    names = ["ann", "ANN", "Ann", "root", "Postmaster", "1004"]
    rows = [row(number, name, 0) for number, name in enumerate([*names, "ANN"], 1)] + [row(99, "fay", 90)]
    path.write_text("\n".join([HEAD, *rows]) + "\n")
    return path


def test_one_person_gets_one_letter_and_nobody_else_does(odd_users, outbox, tmp_path):
    """Addresses that differ in capitals are one mailbox; a number is a UID, and root no reader."""
    words = (odd_users, *SENDING, "--state", tmp_path / "state.json")
    done = run(*words)
    assert done.exit_code == 0, done.output
    assert sent(outbox) == ["ANN@example.org"], "the spelling with most hours"
    assert "2 of whom another spelling gets the letter: Ann, ann" in done.stderr
    assert "3 no people, whose addresses --addresses may state: 1004, Postmaster, root" in done.stderr
    (outbox / "ANN@example.org").unlink()
    assert "1 written to a short time ago: ANN" in run(*words).stderr
    assert sent(outbox) == []


def test_who_is_no_person_gets_a_letter_where_the_address_is_stated(odd_users, outbox, tmp_path):
    (tmp_path / "addresses.csv").write_text("user,address\nroot,admins@example.org\n1004,eve@example.org\n")
    done = run(
        odd_users, *SENDING, "--addresses", tmp_path / "addresses.csv", "--state", tmp_path / "state.json"
    )
    assert done.exit_code == 0, done.output
    assert sent(outbox) == ["ANN@example.org", "admins@example.org", "eve@example.org"]


def test_letters_for_another_program_have_one_address_each_person(odd_users, tmp_path):
    run(odd_users, "--csv", tmp_path / "letters.csv", "--domain", "example.org")
    with (tmp_path / "letters.csv").open(newline="") as file:
        addresses = {one["user"]: one["address"] for one in csv.DictReader(file)}
    assert {user for user, address in addresses.items() if address} == {"ANN"}


# --- Mail through a server ---


class Server(threading.Thread):
    """A mail server for one connection; it refuses recipients called bob, and may hang up after a mail."""

    def __init__(self, *, hangs_up=False):
        super().__init__(daemon=True)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.hangs_up = hangs_up
        self.mails: list[tuple[str, str]] = []
        self.start()

    def run(self):
        """Speak as much SMTP as it takes."""
        self.socket.settimeout(30)
        connection, _ = self.socket.accept()
        with self.socket, connection, connection.makefile("rwb") as stream:

            def say(line):
                stream.write(f"{line}\r\n".encode())
                stream.flush()

            say("220 here")
            to = ""
            for raw in stream:
                word, _, rest = raw.decode().strip().partition(" ")
                word = word.upper()
                if word == "DATA":
                    say("354 go on")
                    lines = iter(stream.readline, b".\r\n")
                    self.mails.append((to, b"".join(lines).decode()))
                    say("250 taken")
                    if self.hangs_up:
                        return
                elif word == "RCPT":
                    to = rest.partition(":")[2].strip("<>")
                    say("550 no such user" if to.startswith("bob") else "250 known")
                elif word == "QUIT":
                    say("221 bye")
                    return
                else:
                    say("250 yes")


def test_mail_through_a_server(log, tmp_path):
    server = Server()
    words = ("--smtp", f"127.0.0.1:{server.port}", *SENDING[1:], "--state", tmp_path / "state.json")
    done = run(log, *words)
    server.join(30)
    assert "550 no such user" in str(done.exception)
    assert [to for to, _ in server.mails] == ["ann@example.org"]
    mail = email.message_from_string(server.mails[0][1], policy=default)
    assert "for 200 GPU-hours." in body(mail)
    assert json.loads((tmp_path / "state.json").read_text())["sent"].keys() == {"user ann"}


def test_a_server_that_hangs_up_leaves_noted_what_it_took(log, tmp_path):
    server = Server(hangs_up=True)
    words = ("--smtp", f"127.0.0.1:{server.port}", *SENDING[1:], "--state", tmp_path / "state.json")
    done = run(log, *words)
    server.join(30)
    assert "closed the connection" in str(done.exception)
    assert json.loads((tmp_path / "state.json").read_text())["sent"].keys() == {"user ann"}


def test_no_server_is_an_error_and_nothing_is_noted(log, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    done = run(log, "--smtp", f"127.0.0.1:{port}", *SENDING[1:], "--state", tmp_path / "state.json")
    assert "no mail server answers there" in str(done.exception)
    assert not Path(tmp_path / "state.json").exists()


# --- What a letter says of itself ---


def test_a_letter_greets_and_says_of_when_why_and_from_whom(log):
    words = ("--user", "ann", "--from", "hpc@example.org", "--page", "https://example.org/jobs")
    said = run(log, *words).stdout
    lines = said.splitlines()
    assert lines[0] == "Hello ann,"
    assert "They were submitted in this time: 2026-11-01" in said
    assert "You get this because one thing about your jobs is worth changing." in lines
    assert "All numbers: https://example.org/jobs" in lines
    assert "Questions? Write to hpc@example.org." in lines


@pytest.mark.parametrize("write", [as_text, as_html])
@pytest.mark.parametrize("is_mailed", [False, True])
@pytest.mark.parametrize("sender", ["", "hpc@example.org"])
@pytest.mark.parametrize("page", ["", "https://example.org/jobs"])
@pytest.mark.parametrize("has_advice", [False, True])
@pytest.mark.parametrize("period", ["", "2026-11"])
def test_a_letter_says_what_there_is_and_asks_for_replies_to_mail_only(
    write, is_mailed, sender, page, has_advice, period
):
    advice = (Advice("a", "Ask for less.", "Little was used."),) if has_advice else ()
    letter = Letter("ann", 3, 7.0, advice, period=period)
    said = write(letter, "heron", is_mailed=is_mailed, sender=sender, page=page)
    assert ("Reply to this mail" in said) == (is_mailed and not sender)
    assert ("Questions? Write to hpc@example.org." in said) == bool(sender)
    assert ("All numbers:" in said) == bool(page)
    assert ("They were submitted in this time: 2026-11." in said) == bool(period)
    assert ("You get this because" in said) == has_advice
    assert ("show nothing that should be changed" in said) == (not has_advice)


def test_a_letter_makes_up_neither_a_sender_nor_a_page(log):
    said = run(log, "--user", "ann").stdout
    assert "Questions?" not in said
    assert "All numbers" not in said


def test_a_letter_on_a_project_is_to_whoever_manages_it(log):
    said = run(log, "--project", "climate").stdout
    assert said.startswith("To the managers of project climate,\n")
    assert "about jobs of the project" in said


@pytest.mark.parametrize(
    "page", ["javascript:alert(1)", "example.org", 'https://x.y/"onclick', "https://x y"]
)
def test_a_page_must_be_an_address(log, page):
    done = run(log, "--user", "ann", "--page", page)
    assert done.exit_code == 2
    assert "expected an address such as" in done.stderr


def test_jobs_that_look_the_same_are_summed_up(log):
    rows = [*(row(number, "ann", 0) for number in range(1, 6)), row(9, "fay", 90)]
    log.write_text("\n".join([HEAD, *rows]) + "\n")
    said = run(log, "--user", "ann").stdout
    table = [line for line in said.splitlines() if "alike" in line]
    assert len(table) == 1
    assert " and 4 alike " in table[0]
