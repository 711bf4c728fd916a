"""
The suites as pytest runs them: ``GWA_SUITE=test python -m pytest`` runs what `tests.reach.choice` chooses.

Tests of which it is not known what they enter now are recorded, and the ledger is renewed by those that
passed; not so on continuous integration, where there is no next run. With xdist, the process that starts the
workers reads the checkout and the ledger, and tells them.
"""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, cast, get_args

import pytest

from tests import forked
from tests.reach.choice import Choice, Known, Status, Suite, choose, is_near
from tests.reach.digests import ENVIRONMENT, EVERYTHING, Checkout, write_whole
from tests.reach.ledger import (
    SHORT,
    STEADY,
    Entry,
    Long,
    family,
    file_of,
    find,
    read_ledger,
    read_long,
    renewed,
    signed,
    with_first,
    write_ledger,
    written,
)
from tests.reach.recorder import HOME, RECORDER, SUITE, is_recording, told

LIST: Final = HOME / "tests" / "long_tests.txt"
BUILD: Final = HOME / "build" / "reach"
LEDGER: Final = BUILD / "ledger.json"
REST: Final = BUILD / "rest.txt"
MEMORY: Final = BUILD / "modules.pickle"

OF_ALL: Final = (ENVIRONMENT, "tests/conftest.py:*")
"""Pieces that each test depends on, though it does not enter them."""

TOLERATED: Final = 40
"""CPU seconds of long tests that the list may lack before that is said."""

ANYTHING: Final = 1_000_000
"""The number of pieces that count for a test that may have entered anything."""


def pytest_configure(config: pytest.Config) -> None:
    """Run the suite that the environment names; raise `UsageError` for one that is none."""
    if not (suite := os.environ.get(SUITE)):
        return
    if suite not in get_args(Suite):
        raise pytest.UsageError(f"{SUITE} is '{suite}', expected one of {', '.join(get_args(Suite))}")
    given = getattr(config, "workerinput", None)
    budget = os.environ.get("GWA_BUDGET")
    plugin = Running(cast("Suite", suite), float(budget) if budget else None)
    if given is None:
        cache: pytest.Cache | None = getattr(config, "cache", None)
        plugin.prepare(cache.get("cache/lastfailed", {}) if cache is not None else {})
    else:
        plugin.receive(given["reach"])
    plugin.is_partial = bool(config.option.keyword) or any("::" in word for word in config.args)
    config.pluginmanager.register(plugin, "reach")


class Running:
    """A suite in one process: the one that pytest was started as, or a worker."""

    def __init__(self, suite: Suite, budget: float | None) -> None:
        self.suite, self.budget = suite, budget
        self.known, self.only = Known(), None  # type: Known, set[str] | None
        self.choice = Choice(frozenset())
        self.records = is_recording()
        self.costs: dict[str, float] = {}
        self.seen: dict[str, Collection[str]] = {}
        self.failed: set[str] = set()
        self.collected: dict[str, list[str]] = {}
        self.shared: dict[object, set[Any]] = {}
        self.is_partial = False

    # --- Before the tests ---

    def prepare(self, failed: Collection[str]) -> None:
        """Read what is known."""
        _forget_parts()  # of a run that was killed
        self.ledger, self.files = read_ledger(LEDGER)
        if self.records or self.ledger:
            self.checkout = Checkout(HOME, MEMORY)
        needs_ledger = self.suite in {"quick", "test"}
        changed = _changed_files() if needs_ledger else []
        self.known = Known(
            {test: self._status(entry) for test, entry in self.ledger.items()} if needs_ledger else {},
            read_long(LIST.read_text(encoding="utf-8").splitlines() if LIST.exists() else ()),
            frozenset(failed),
            frozenset(changed),
            frozenset(REST.read_text().splitlines()) if REST.exists() else None,
        )
        if self.suite == "quick":
            self.only = self._files_worth_reading()

    def _status(self, entry: Entry) -> Status:
        count = ANYTHING if EVERYTHING in entry.entered else len(entry.entered)
        return Status(entry.cost, count, self.checkout.signature(entry.entered) == entry.signature)

    def _files_worth_reading(self) -> set[str] | None:
        """Return the files with tests that may be chosen; none for all, where nothing is known."""
        wanted = {file_of(test) for test, status in self.known.status.items() if not status.is_same}
        wanted |= {file_of(test) for test in self.known.failed}
        for path in sorted((HOME / "tests").rglob("test_*.py")):
            file = path.relative_to(HOME).as_posix()
            is_known = self.files.get(file) == self.checkout.digest(file)
            if not is_known and is_near(file, path.read_text(encoding="utf-8"), self.known.changed):
                wanted.add(file)
        return wanted if wanted or self.ledger else None

    def told(self) -> dict[str, Any]:
        """Return what a worker needs to know."""
        known = self.known
        return {
            "status": {test: tuple(status) for test, status in known.status.items()},
            "long": {test: (one.cost, one.is_first) for test, one in known.long.items()},
            "failed": sorted(known.failed),
            "changed": sorted(known.changed),
            "rest": None if known.rest is None else sorted(known.rest),
            "only": None if self.only is None else sorted(self.only),
        }

    def receive(self, given: str) -> None:
        """Know what the process knows that started this one."""
        said = json.loads(given)
        self.known = Known(
            {test: Status(*status) for test, status in said["status"].items()},
            {test: Long(*one) for test, one in said["long"].items()},
            frozenset(said["failed"]),
            frozenset(said["changed"]),
            None if said["rest"] is None else frozenset(said["rest"]),
        )
        self.only = None if said["only"] is None else set(said["only"])

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker."""
        node.workerinput["reach"] = json.dumps(self.told())

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Do not read the files of which no test would be chosen."""
        if self.only is None or not collection_path.match("test_*.py"):
            return None
        return True if collection_path.relative_to(HOME).as_posix() not in self.only else None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave the tests that are chosen; those that a mark has left out are none."""
        for item in items:
            self.collected.setdefault(file_of(item.nodeid), []).append(item.nodeid)
        self.choice = choose(self.suite, [item.nodeid for item in items], self.known, self.budget)
        others = [item for item in items if item.nodeid not in self.choice.run]
        items[:] = [item for item in items if item.nodeid in self.choice.run]
        config.hook.pytest_deselected(items=others)

    # --- During the tests ---

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Measure a test, and record it, but one of which it is known what it enters."""
        status = self.known.status.get(item.nodeid)
        before = _used()
        if not self.records or (status and status.is_same and self.suite != "whole"):
            done = yield
        else:
            forked.entered()  # of the tests before
            with RECORDER.recording() as seen:
                done = yield
            own = told(seen | forked.entered())
            self.seen[item.nodeid] = {*own, *self._of_shared(item, own), *OF_ALL}
        self.costs[item.nodeid] = round(_used() - before, 3)
        return done

    def _of_shared(self, item: pytest.Item, own: set[str]) -> set[str]:
        """Return what earlier tests entered that share a fixture with one: the first of them made it."""
        info = getattr(item, "_fixtureinfo", None)
        found: set[str] = set()
        for definitions in info.name2fixturedefs.values() if info else ():
            for definition in definitions:
                if definition.scope != "function" and _is_ours(definition.func):
                    found |= self.shared.setdefault(definition.func, set())
                    self.shared[definition.func] |= own
        return found

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that failed."""
        if report.failed:
            self.failed.add(report.nodeid)

    # --- After the tests ---

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand over what was seen, as a worker, or renew the ledger."""
        passing = {*self.seen} - self.failed
        passed = {test: (self.costs[test], self.seen[test]) for test in passing}
        if hasattr(session.config, "workerinput"):
            own = session.config.workerinput["workerid"]
            entries = {test: Entry(cost, frozenset(entered), 0) for test, (cost, entered) in passed.items()}
            write_ledger(BUILD / f"part-{own}.json", entries, {})
            said = {"collected": self.collected, **asdict(self.choice), "run": sorted(self.choice.run)}
            said["costs"] = self.costs
            write_whole(BUILD / f"said-{own}.json", json.dumps(said).encode())
            return
        for part in sorted(BUILD.glob("part-*.json")):
            passed |= {test: (entry.cost, entry.entered) for test, entry in read_ledger(part)[0].items()}
        for part in sorted(BUILD.glob("said-*.json")):  # all say the same, but of what each has run
            said = json.loads(part.read_text(encoding="utf-8"))
            self.costs |= said["costs"]
            self.collected = said["collected"]
            self.choice = Choice(frozenset(said["run"]), tuple(said["out"]), tuple(said["idle"]))
        _forget_parts()
        if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK  # a change may reach nothing
        if not session.config.option.collectonly:
            self._renew(passed)

    def _renew(self, passed: Mapping[str, tuple[float, Collection[str]]]) -> None:
        """Renew what the next runs know, by the tests that passed."""
        there = {test for tests in self.collected.values() for test in tests}
        if self.records and (passed or self.failed):
            self._renew_ledger(passed, there)
        if self.suite == "test":
            rest = sorted(there - self.choice.run)
            write_whole(REST, "".join(f"{test}\n" for test in rest).encode())
        if self.suite == "whole" and not self.is_partial:
            there |= {family(test) for test in there}
            there |= {test for test in self.known.long if file_of(test) not in self.collected}
            costs = {test: cost for test, cost in self.costs.items() if test not in self.failed}
            long = renewed(self.known.long, costs, there)
            if self.records:  # what the tests enter is known
                long = with_first(long, self.known.long, self.ledger)
            write_whole(LIST, written(long).encode())

    def _renew_ledger(self, passed: Mapping[str, tuple[float, Collection[str]]], there: set[str]) -> None:
        """Renew the ledger: tests that failed or are not *there* any more leave it."""
        known = self.ledger | signed(passed, self.checkout)
        self.ledger = {
            test: entry
            for test, entry in known.items()
            if test not in self.failed
            and file_of(test) in self.checkout.files
            and (self.is_partial or test in there or file_of(test) not in self.collected)
        }
        for file, tests in self.collected.items():
            if not self.is_partial and all(test in self.ledger for test in tests):
                self.files[file] = self.checkout.digest(file)
        write_ledger(LEDGER, self.ledger, self.files)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what was left out, and what runs it."""
        costs = {} if self.records else self.costs  # what is recorded takes longer
        for line in (*summary(self.suite, self.choice, self.known), *unlisted(costs, self.known.long)):
            terminalreporter.write_line(line)


def summary(suite: Suite, choice: Choice, known: Known) -> Iterator[str]:
    """Yield the last lines of a run."""
    if suite not in {"quick", "test"}:
        return
    kind, command = {"quick": ("short", "make test"), "test": ("long", "make rest")}[suite]
    if choice.idle:
        yield f"{len(choice.idle):,} {kind} tests were not run: nothing is different that they entered"
    if choice.out:
        cost = sum(map(known.cost, choice.out))
        reached = sum(test in known.status for test in choice.out)
        why = f"{reached:,} that the change reaches, {len(choice.out) - reached:,} not run here before"
        yield f"{len(choice.out):,} {kind} tests were left out, {cost:,.0f} CPU s ({why}):"
        files: dict[str, int] = {}
        for test in choice.out:
            files[file_of(test)] = files.get(file_of(test), 0) + 1
        yield from (f"  {count:>5,}  {file}" for file, count in sorted(files.items()))
    if choice.out or choice.idle:
        yield f"`{command}` runs them"
    elif suite == "quick":
        yield "`make test` runs all short tests, and the long ones that the change reaches"


def unlisted(costs: Mapping[str, float], long: Mapping[str, Long]) -> Iterator[str]:
    """Yield a line if tests are long that the list lacks, and so run as short ones: of what each *costs*."""
    lacking = [cost for test, cost in costs.items() if cost > SHORT * STEADY and not find(test, long)]
    if sum(lacking) > TOLERATED:
        yield (
            f"{len(lacking):,} long tests of {sum(lacking):,.0f} CPU s are not in {LIST.relative_to(HOME)}: "
            "`make whole` renews it"
        )


def _forget_parts() -> None:
    """Remove what workers have said."""
    for part in [*BUILD.glob("part-*.json"), *BUILD.glob("said-*.json")]:
        part.unlink()


def _is_ours(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(str(HOME / "tests"))


def _used() -> float:
    """Return the CPU seconds of this process, and of those that it waited for."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system + forked.used()


def _changed_files() -> Sequence[str]:
    """Return the files that differ from the last commit; none outside of a repository."""
    git = shutil.which("git")
    if git is None:
        return ()
    listed = [
        subprocess.run([git, *words], cwd=HOME, capture_output=True, text=True, check=False).stdout.split(
            "\0"
        )
        for words in (
            ("diff", "-z", "--name-only", "HEAD"),
            ("ls-files", "-z", "--others", "--exclude-standard"),
        )
    ]
    return [file for files in listed for file in files if file]
