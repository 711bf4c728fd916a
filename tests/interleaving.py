"""
Two commands at once: one is stopped at an event of the file system, the other runs until it ends, or waits.

Then the first goes on. Events are those of `tests.interruptions`, so that an interleaving is the same on any
machine. Commands run in processes that are forked from one that has imported everything: see there.
"""

import json
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from tests.archive.zenodo_stand_in import TOKEN, StandIn, stand_in
from tests.conftest import HOME
from tests.interruptions import completed, events, execute, forked, fresh, noted, prepare, spread, warm
from tests.killing import run

Said = tuple[int, tuple[int, str] | None]
"""The exit status of a process, and what its command ended with and said."""

ALONE: Final = ("another gwa command", "another collection is at work", "is being built by")
"""How a command says that another one is at work."""

LETTERS: Final = (
    "advise idle.sacct --mail --domain example.org --from help@example.org --state state.json --send --quiet"
)

GPUS: Final = (
    "JobID|User|State|Submit|Start|End|ElapsedRaw|NNodes|AllocCPUS|ReqMem|AllocTRES|MaxRSS|TRESUsageInTot\n"
    + "".join(
        f"{job}|{user}|COMPLETED|1793494200|1793494260|1794214260|720000|1|4|16G|cpu=4,mem=16G,gres/gpu=1||\n"
        f"{job}.0||COMPLETED|1793494260|1793494260|1794214260|720000|1|4||cpu=4,mem=16G|1G|"
        f"gres/gpumem={20 * use + 300}M,gres/gpuutil={use},mem=1G\n"
        for job, (user, use) in enumerate((("ann", 0), ("bob", 0), ("cid", 0), ("dan", 0), ("eve", 90)), 1)
    )
)
"""A log of four users who left a GPU idle for 200 hours, and one who did not."""

SENDMAIL: Final = '#!/bin/sh\nfor last; do :; done\ncat > /dev/null\necho "$last" >> "{0}/outbox"\n'

SERVER: Final = "SERVER"
"""The word of a command that stands for the address of what stands in for Zenodo."""

RANK: Final = "model rank weeks.swf --quiet --models"

RATES: Final = 'currency = "EUR"\n[[rates]]\nname = "all"\ncpu_hour = {0}\n'


@dataclass(frozen=True)
class Pair:
    """Two commands, those that are run *before*, and what says what is wrong with what they left."""

    name: str
    first: str
    second: str
    check: Callable[[Path, "Interleaving"], str]
    before: tuple[str, ...] = ()


@dataclass(frozen=True)
class Interleaving:
    """What came of two commands."""

    first: Said
    second: Said

    @property
    def well(self) -> list[int]:
        """The numbers of those that ended well."""
        return [place for place, said in enumerate((self.first, self.second)) if said[1] and not said[1][0]]

    def unsaid(self, *others: str) -> str:
        """Return what a command said that ended otherwise than well or with a sentence on the other."""
        for place, said in enumerate((self.first, self.second)):
            text = said[1][1] if said[1] else repr(said)
            if place not in self.well and not any(words in text for words in (*ALONE, *others)):
                return text
        return ""


# --- What must hold ---


def no_letter_twice(place: Path, done: Interleaving) -> str:
    """Each of the four gets one letter, and is noted."""
    sent = sorted((place / "outbox").read_text().split())
    state = sorted(json.loads((place / "state.json").read_text())["sent"])
    users = ("ann", "bob", "cid", "dan")
    right = sent == [f"{user}@example.org" for user in users] and state == [f"user {user}" for user in users]
    return done.unsaid() or ("" if right and len(done.well) == 2 else f"{sent} {state} {done}")


def jobs_in(path: Path) -> tuple[int, ...]:
    """Return the numbers of jobs, and of jobs with a measured energy and memory."""
    from gwa.formats.open import open_trace

    with open_trace([path]) as store:
        return store.row("select count(*), count(energy), count(max_memory) from jobs")


def all_that_ended_well(
    *changes: tuple[int, int, int], begins: tuple[int, int, int], name: str = "a.duckdb"
) -> Any:
    """Return a check that a store holds what the commands that ended well add to it, and nothing else."""

    def check(place: Path, done: Interleaving) -> str:
        wanted = tuple(map(sum, zip(begins, *(changes[one] for one in done.well), strict=True)))
        found = jobs_in(place / name)
        return done.unsaid() or ("" if found == wanted and done.well else f"{found} for {wanted} {done}")

    return check


def one_of_two(output: str) -> Callable[[Path, Interleaving], str]:
    """Return a check that one command ended well, and that *output* says that of its input."""

    def check(place: Path, done: Interleaving) -> str:
        if len(done.well) != 1:
            return f"{done}"
        text = (place / output).read_text()
        is_right = (f'"U{done.well[0]}"' in text) if output.endswith(".json") else bool(text)
        return done.unsaid("exists, and is not what gwa wrote", "holds other statements") or (
            "" if is_right else text
        )

    return check


def the_same_names(place: Path, done: Interleaving) -> str:
    """Two traces that are anonymized with one new key have the same pseudonyms."""
    from gwa.formats.open import open_trace

    found = []
    for name in ("b.duckdb", "c.duckdb"):
        with open_trace([place / name]) as store:
            found.append(store.rows("select distinct user_id from jobs order by all"))
    return done.unsaid() or ("" if found[0] == found[1] and len(done.well) == 2 else f"{found} {done}")


def jobs_of(path: Path) -> list[tuple[Any, ...]]:
    """Return what is known of each job of a trace."""
    from gwa.formats.open import open_trace

    with open_trace([path]) as store:
        return store.rows("select submit_time, run_time, user_id, n_procs from jobs order by all")


def one_of_wholes(output: str, *wholes: str) -> Callable[[Path, Interleaving], str]:
    """Return a check that a trace is one of *wholes*, that of a command that ended well."""

    def check(place: Path, done: Interleaving) -> str:
        found = jobs_of(place / output)
        allowed = [jobs_of(place / wholes[one]) for one in done.well]
        is_said = done.unsaid("exists, and is not what gwa wrote", "it is being written", "use --force")
        return is_said or ("" if found in allowed else f"{len(found)} jobs {done}")

    return check


def exported(place: Path, done: Interleaving) -> str:
    """The folder holds the jobs of one command, and says so."""
    jobs = json.loads((place / "out/batsim/workload.json").read_text())["jobs"]
    about = json.loads((place / "out/batsim/gwa-export.json").read_text())
    wanted = [(1, 20)[one] for one in done.well]
    return done.unsaid("exists, and is not what gwa wrote") or (
        "" if len(jobs) == about["jobs"] and len(jobs) in wanted else f"{len(jobs)} {about} {done}"
    )


def tasks_are_whole(place: Path, done: Interleaving) -> str:
    """The folder holds what one command alone makes."""
    names = [
        sorted(str(path.relative_to(place / one)) for path in (place / one).rglob("*") if path.is_file())
        for one in ("alone", "out")
    ]
    cards = [(place / one / "wait" / "README.md").read_text() for one in ("alone", "out")]
    is_same = names[0] == names[1] and cards[0] == cards[1]
    return done.unsaid("exists, and is not what gwa wrote") or (
        "" if is_same and done.well else f"{names} {done}"
    )


def no_score_is_lost(place: Path, done: Interleaving) -> str:
    """The cache has each score that either command alone computes, a line for each, and none that is cut."""

    def questions(path: Path) -> list[str]:
        return [json.loads(line)["question"] for line in path.read_text().splitlines()[1:] if line]

    found = questions(place / "out/scores.jsonl")
    wanted = {question for one in done.well for question in questions(place / f"alone{one}" / "scores.jsonl")}
    return done.unsaid("exists, and is not what gwa wrote") or (
        "" if wanted <= set(found) and done.well else f"{len(found)} of {len(wanted)} {done}"
    )


def one_deposition(place: Path, done: Interleaving) -> str:
    """There is one draft of the trace, with all its files, and the ledger names it."""
    (ledger,) = json.loads((place / "site" / "deposits.json").read_text()).values()
    drafts = json.loads((place / "depositions.json").read_text())
    is_right = [str(number) for number in ledger.values()] == list(drafts) and min(drafts.values()) > 1
    return done.unsaid() or ("" if is_right and done.well else f"{ledger} {drafts} {done}")


PAIRS: Final = {
    pair.name: pair
    for pair in (
        Pair("letters", LETTERS, LETTERS, no_letter_twice),
        Pair(
            "append", "convert 1.swf -o a.duckdb --append", "convert 2.swf -o a.duckdb --append",
            all_that_ended_well((20, 0, 0), (20, 0, 0), begins=(20, 0, 0)),
            ("convert 0.swf -o a.duckdb --append",),
        ),
        Pair(
            "measure", "measure a.duckdb energy.csv --on job --map energy=joules:J",
            "measure a.duckdb memory.csv --on job --map max_memory=kb:KB",
            all_that_ended_well((0, 2, 0), (0, 0, 3), begins=(10, 0, 0)),
            ("convert 0.sacct -o a.duckdb",),
        ),
        Pair(
            "append and measure", "convert 1.sacct -o a.duckdb --append",
            "measure a.duckdb energy.csv --on job --map energy=joules:J",
            all_that_ended_well((9, 0, 0), (0, 2, 0), begins=(10, 0, 0)),
            ("convert 0.sacct -o a.duckdb --append",),
        ),
        Pair(
            "facts", "facts u0.gwf --only users.by_jobs -o out.json",
            "facts u1.gwf --only users.by_jobs -o out.json", one_of_two("out.json"),
            ("convert u0.swf -o u0.gwf", "convert u1.swf -o u1.gwf"),
        ),
        Pair(
            "charge", "charge 0.sacct --rates low.toml --period 2024-03 --no-pdf -o out",
            "charge 0.sacct --rates high.toml --period 2024-03 --no-pdf -o out",
            one_of_two("out/summary.csv"),
        ),
        Pair(
            "anonymize", "anonymize 0.swf -o b.duckdb --key key", "anonymize 0.swf -o c.duckdb --key key",
            the_same_names,
        ),
        Pair(
            "convert", "convert 0.swf -o out.duckdb --force", "convert 1.swf -o out.duckdb --force",
            one_of_wholes("out.duckdb", "0.swf", "1.swf"),
        ),
        Pair(
            "months", "convert 0.swf -o a.parquet --partition month --force",
            "convert 1.swf -o a.parquet --partition month --force",
            one_of_wholes("a.parquet", "0.swf", "1.swf"), ("convert 2.swf -o a.parquet --partition month",),
        ),
        Pair(
            "append months", "convert 1.swf -o a.parquet --append --partition month",
            "convert 2.swf -o a.parquet --append --partition month",
            all_that_ended_well((20, 0, 0), (20, 0, 0), begins=(20, 0, 0), name="a.parquet"),
            ("convert 0.swf -o a.parquet --append --partition month",),
        ),
        Pair(
            "collect", "collect pbs --logs logs -o out.duckdb", "collect pbs --logs logs -o out.duckdb",
            one_of_wholes("out.duckdb", "all.duckdb", "all.duckdb"),
            ("collect pbs --logs logs -o all.duckdb",),
        ),
        Pair(
            "export", "export u0.gwf --batsim -o out --force", "export 0.gwf --batsim -o out --force",
            exported, ("convert u0.swf -o u0.gwf", "convert 0.swf -o 0.gwf"),
        ),
        Pair(
            "tasks", "tasks make tiny.swf -o out --task wait", "tasks make tiny.swf -o out --task wait",
            tasks_are_whole, ("tasks make tiny.swf -o alone --task wait",),
        ),
        Pair(
            "scores", f"{RANK} lublin --seeds 1 -o out", f"{RANK} lublin --seeds 2 -o out", no_score_is_lost,
            (f"{RANK} lublin --seeds 1 -o alone0", f"{RANK} lublin --seeds 2 -o alone1"),
        ),
        Pair(
            "deposit", "site deposit site public made --server SERVER",
            "site deposit site public made --server SERVER", one_deposition,
            ("site build site -o public",),
        ),
        Pair("site", "site build site -o public", "site build site -o public", lambda _, done: (
            done.unsaid() or ("" if done.well else f"{done}")
        )),
    )
}  # fmt: skip


# --- Running ---


def campaign(folder: Path, name: str, times: int, plant: str = "") -> list[str]:
    """
    Return what was wrong with any of some interleavings of a pair, evenly spread over the first's events.

    *plant* is code that is run first, to make gwa wrong.
    """
    code = f"{plant}\nimport sys; from tests.interleaving import serve; serve(*sys.argv[1:])"
    done = run(code, folder, name, times)
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    found: list[str] = json.loads(done.stdout)
    return found


def serve(folder: str, name: str, times: str) -> None:
    """Print what was wrong, as JSON."""
    warm(("gwa.",))
    place, pair = Path(folder).absolute() / "work", PAIRS[name]
    os.environ.update(PATH=f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}", ZENODO_TOKEN=TOKEN)
    template = place.with_name("template")
    _prepare(place)
    for words in pair.before:
        completed(place, words)
    place.rename(template)
    with stand_in() as server:
        json.dump(list(_wrong(pair, place, template, server, int(times))), sys.stdout)


def _wrong(pair: Pair, place: Path, template: Path, server: StandIn, times: int) -> Iterator[str]:
    """Yield what was wrong with any of some interleavings."""
    first, second = (words.replace(SERVER, server.url) for words in (pair.first, pair.second))
    fresh(place, template)
    total = noted(place, first, lambda note: events(place, lambda count, *_: note(count)))
    for event in spread(total, times):
        fresh(place, template)
        server.depositions.clear()
        done = interleaved(place, first, second, event)
        (place / "depositions.json").write_text(
            json.dumps({number: len(server.files(number)) for number in server.depositions})
        )
        if said := forked(partial(_checked, pair, place, done), place)[1]:
            yield f"{event} of {total}: {said}"


def _checked(pair: Pair, place: Path, done: Interleaving) -> str:
    """Return what is wrong, with what the commands said where that cannot be told."""
    try:
        return pair.check(place, done)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is wrong
        return f"{error!r} {done}"


def _prepare(place: Path) -> None:
    """Write the inputs of all pairs."""
    prepare(place)
    (place / "idle.sacct").write_text(GPUS)
    (place / "logs").mkdir()
    shutil.copy(HOME / "sample_traces" / "pbs" / "20250310", place / "logs")
    shutil.copy(HOME / "sample_traces" / "swf" / "tiny.swf", place)
    (place / "bin").mkdir()
    program = place / "bin" / "sendmail"
    program.write_text(SENDMAIL.format(place))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (place / "energy.csv").write_text("job,joules\n1,7\n2,8\n")
    (place / "memory.csv").write_text("job,kb\n1,7\n2,8\n3,9\n")
    for number, price in enumerate(("low", "high")):
        (place / f"{price}.toml").write_text(RATES.format(number + 1))
        line = (place / "0.swf").read_text().splitlines()[1].split()
        line[11] = str(number)
        (place / f"u{number}.swf").write_text(f"; UnixStartTime: 0\n{' '.join(line)}\n")


def interleaved(place: Path, first: str, second: str, event: int) -> Interleaving:
    """Run two commands; the *first* is stopped before an *event* until the *second* ends, or waits."""
    stopped, go, idle = os.pipe(), os.pipe(), os.pipe()

    def stop() -> None:
        def act(count: int, _event: str, _arguments: tuple[Any, ...]) -> None:
            if count == event:
                os.write(stopped[1], b"s")
                os.read(go[0], 1)

        events(place, act)

    def watch() -> None:
        from gwa.util import exclusive

        pause = exclusive.pause

        def told(seconds: Any) -> None:
            os.write(idle[1], b"w")
            pause(seconds)

        exclusive.pause = told

    one = _started(place, first, stop, stopped[1], "first")
    os.read(stopped[0], 1)  # it stands at the event, or has ended
    other = _started(place, second, watch, idle[1], "second")
    os.read(idle[0], 1)
    os.write(go[1], b"g")
    result = Interleaving(one(), other())
    for pipe in (stopped, go, idle):
        for end in pipe:
            os.close(end)
    return result


def _started(place: Path, words: str, hook: Callable[[], None], mark: int, name: str) -> Callable[[], Said]:
    """Start a command in a process, which leaves a *mark* at its end; return what waits for its outcome."""
    told = Path(f"{place}.{name}.json")
    if not (process := os.fork()):
        try:
            told.write_text(json.dumps(execute(place, words, hook, f"{name}.said")))
        finally:
            os.write(mark, b"e")
            os._exit(0)

    def wait() -> Said:
        os.waitpid(process, 0)
        status, said = json.loads(told.read_text())
        return status, tuple(said) if said else None

    return wait
