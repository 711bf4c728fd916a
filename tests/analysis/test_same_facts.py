"""Facts are the same in every digit, whatever the order of the jobs in a store and the number of threads."""

import ast
import os
import random
import subprocess
import sys

import pytest

import gwa
from gwa.formats.convert import convert
from gwa.store.store import Store
from tests.conftest import HOME
from tests.converters.test_threads import VECTORS, in_parallel

BLAS = """
import numpy as np
from gwa.statistics.dependence import pearson
from gwa.statistics.numeric import dot
from gwa.statistics.sample import Sample
from gwa.analysis.sections.burstiness import _correlation

x, y, n = np.random.default_rng(3).uniform(1, 1e5, (3, 40_000))
sizes = Sample(np.arange(1.0, 41), np.full(40, 1000))
procs = np.random.default_rng(4).permutation(np.repeat(sizes.values, 1000))
print(repr(pearson(x, y, n)), repr(dot(x, y)), repr(_correlation(np.sort(x), np.ones(40_000), procs, sizes)))
"""
"""Sums of products of so many numbers that a BLAS lets its threads share them."""


def test_correlations_do_not_depend_on_the_threads_of_the_blas():
    said = {
        subprocess.run(
            [sys.executable, "-c", BLAS],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            cwd=HOME,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for threads in ("1", "2", "3")
    }

    assert len(said) == 1, said
    assert "nan" not in said.pop()


SMALL = {
    "weighted_waits.py": "a sparse matrix, which scipy multiplies itself",
    "planes.py": "whole numbers, whose sums are exact",
}
"""Files in which numbers of a trace are multiplied by ``@``, and why that may be."""


@pytest.mark.parametrize("room", ["analysis", "metrics", "breakdown"])
def test_sums_of_products_are_none_of_a_blas(room):
    found = {
        file.name
        for file in (HOME / "gwa" / room).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
    }

    assert found <= SMALL.keys()


def shuffled(path, copy):
    """Copy a store, with its jobs in another order."""
    copy.write_bytes(path.read_bytes())
    with Store.adopt(copy) as store:
        store.connection.execute("create temp table shuffled as from recorded order by hash(job_id)")
        store.connection.execute("truncate recorded")
        store.connection.execute("insert into recorded from shuffled")
        store.flush()
    return copy


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Return a store of jobs with fractions in all that is added up."""
    folder, chance, time = tmp_path_factory.mktemp("facts"), random.Random(11), 0
    rows = [
        "; Version: 2.2",
        "; UnixStartTime: 1293840000",
        "; MaxProcs: 512",
        "; Queue: 1 short",
        "; Queue: 2 long",
    ]
    for number in range(1, VECTORS):
        time += chance.choice((0, 7, 60, 900, 3600))
        run, size = round(chance.lognormvariate(6, 2), 2), chance.choice((1, 1, 2, 4, 8, 64))
        cells = (number, time, chance.randrange(9000), run, size, round(run * chance.random(), 2))
        asked = (chance.randrange(1, 10**6), size, int(run * 2) + 1, chance.randrange(1, 10**6))
        rest = (
            chance.choice((0, 1, 1, 5)),
            chance.randrange(1, 40),
            chance.randrange(1, 5),
            chance.randrange(1, 9),
        )
        rows.append(" ".join(map(str, (*cells, *asked, *rest, chance.randrange(1, 3), 1, -1, -1))))
    (folder / "log.swf").write_text("\n".join(rows) + "\n")
    convert([folder / "log.swf"], folder / "log.duckdb")
    return folder / "log.duckdb"


def facts(path, threads, **options):
    with in_parallel(), gwa.open(path, threads=threads) as trace:
        return trace.facts(**options)


@pytest.mark.parametrize(
    ("threads", "every"),
    [(7, False), *(pytest.param(n, True, marks=pytest.mark.slow) for n in (2, 7))],
)
def test_facts_are_those_of_one_thread_and_of_another_order(log, tmp_path, threads, every):
    one = facts(log, 1, every=every)
    several = facts(shuffled(log, tmp_path / "shuffled.duckdb"), threads, every=every)

    assert {name: (one[name], several.get(name)) for name in one if one[name] != several.get(name)} == {}
    assert one.keys() == several.keys()
    assert one["correlation.runtime_procs" if every else "users.by_cpu"] is not None
