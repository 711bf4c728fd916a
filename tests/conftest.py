"""Traces for tests: small ones made by hand, and real logs where they stand beside the checkout."""

import os
import random
import shutil
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from math import ceil
from pathlib import Path

from tests.reach.recorder import is_recording, remember_caches

if is_recording():
    remember_caches()

# Threads of libraries that wait for each other by spinning take the time of the tests beside them.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from _pytest.mark import ParameterSet
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

import gwa
from gwa.formats.sample import write as write_sample
from gwa.report.document import Report
from gwa.store.account import Account
from gwa.store.store import Store
from tests import forked

pytest_plugins = ["tests.reach.plugin"]

# Most of the time in which a small store is made is that of waiting for the disk, and tests make thousands.
MEMORY = Path("/dev/shm")  # noqa: S108 - scratch folders in it have names that nobody can guess
if os.access(MEMORY, os.W_OK | os.X_OK) and shutil.disk_usage(MEMORY).free >= 4 * 1024**3:
    os.environ.setdefault("GWA_TMPDIR", str(MEMORY))

# What a shell starts in the background ignores Ctrl-C, and so would the programs that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)

# A test never times: what takes long on a busy machine is not wrong. The same code passes each time: new
# examples are looked for by `make slow`.
settings.register_profile(
    "gwa", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile("search", settings.get_profile("gwa"), derandomize=False)
settings.load_profile("gwa")

# Hypothesis tries the numbers and texts of all loaded modules of a project: the same test would have
# other examples in each worker, by what ran there before.
vars(providers)["is_local_module_file"] = lambda _path: False


def examples(count: int) -> settings:
    """Return the settings for *count* examples that read logs, of which `make slow` alone tries all."""
    return settings(
        max_examples=ceil(count / 5) if settings().derandomize else count,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


def thinned(*axes: Iterable[object], kept: Callable[..., bool] | None = None) -> list[ParameterSet]:
    """
    Return the parameters of a matrix: all combinations of the values of *axes*, most of them marked slow.

    The other suites keep those that *kept* is true of; without it the diagonal: its n-th combination has the
    n-th value of each axis, of shorter ones again from the first, so that it has each value of each axis.
    `make slow` runs all of them.
    """
    lists = [list(axis) for axis in axes]
    diagonal = {tuple(n % len(axis) for axis in lists) for n in range(max(map(len, lists)))}
    parameters = []
    for places in product(*(range(len(axis)) for axis in lists)):
        values = [axis[place] for axis, place in zip(lists, places, strict=True)]
        is_kept = kept(*values) if kept else places in diagonal
        parameters.append(pytest.param(*values, marks=() if is_kept else pytest.mark.slow))
    return parameters


HOME = Path(__file__).parent.parent
LOGS = HOME.parent / "shared" / "traces"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the files of expected results")
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in another order")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle the files, and the tests in each, which share what their file has prepared."""
    if (seed := config.getoption("--shuffle")) is not None:
        files = sorted({item.path for item in items})
        chance = random.Random(seed)
        chance.shuffle(files)
        chance.shuffle(items)
        items.sort(key=lambda item: files.index(item.path))


def pytest_sessionfinish() -> None:
    """End the server of programs, if a test has started it."""
    forked.close()


@pytest.fixture(autouse=True)
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM work again after a test that ran `gwa.cli.main`, which ends in ignoring it."""
    yield
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def filled(header: Iterable[tuple[str, str]], columns: Mapping[str, Sequence[object]]) -> Store:
    """Return a store with a *header* and *columns* of jobs, numbered from 1 where these have no numbers."""
    store = Store.create()
    size = len(next(iter(columns.values()), ()))
    columns = {"job_id": list(range(1, size + 1)), **columns}
    store.begin(list(columns))
    names = [row[0] for row in store.rows("describe recorded")]
    store.insert("recorded", list(zip(*(columns[name] for name in names), strict=True)))
    store.set_header(tuple(header))
    store.set_account(Account(size, size, 0, 0, 0))
    return store


def queries_of(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which all queries are added that *store* is asked from now on."""
    asked: list[str] = []

    def recorded(ask: Callable[..., object], place: int) -> Callable[..., object]:
        def asked_and_recorded(*words: str) -> object:
            asked.append(words[place])
            return ask(*words)

        return asked_and_recorded

    for name, place in (("ask", 0), ("keep", 1)):
        monkeypatch.setattr(store.database, name, recorded(getattr(store.database, name), place))
    return asked


@contextmanager
def _stores() -> Iterator[Callable[..., Store]]:
    """Give a function that makes a store from lists of fields; they are closed in the end."""
    stores = []

    def make(header: tuple[tuple[str, str], ...] = (), **columns: list[object]) -> Store:
        stores.append(filled(header, columns))
        return stores[-1]

    yield make
    for store in stores:
        store.close()


@pytest.fixture
def make_store() -> Iterator[Callable[..., Store]]:
    """Return a function that makes a store from lists of fields; what is not given is missing."""
    with _stores() as make:
        yield make


@pytest.fixture(scope="module")
def make_shared_store() -> Iterator[Callable[..., Store]]:
    """Return a function that makes stores which tests of a file share, as they change nothing."""
    with _stores() as make:
        yield make


@pytest.fixture
def logs() -> Path:
    """Return the folder of the real logs, which are not part of the project."""
    if not LOGS.is_dir():
        pytest.skip(f"there are no real logs in {LOGS.relative_to(HOME.parent)} beside the checkout")
    return LOGS


@pytest.fixture(scope="session")
def slurm_sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the log that `gwa sample` writes, once for all tests, which change nothing of it."""
    path = tmp_path_factory.mktemp("sample") / "sample.sacct"
    write_sample("slurm", path)
    return path


@pytest.fixture(scope="session")
def tiny_report() -> Report:
    """Return the report on the sample of SWF, once for all tests, which only read it."""
    with gwa.open(HOME / "sample_traces" / "swf" / "tiny.swf") as trace:
        return trace.report()


@pytest.fixture
def sample() -> Path:
    """Return the folder of the sample traces."""
    return HOME / "sample_traces"
