"""A limit of memory holds for the whole process and those that it starts: conversion, fits and figures."""

import sys
from pathlib import Path

import pytest

from benchmarks.make_big import KINDS
from benchmarks.scale import measured as measured_tree

GWA = str(Path(sys.executable).with_name("gwa"))
ROWS = 3_000_000


@pytest.mark.slow
@pytest.mark.parametrize("memory", [350, 400, 500, 1000])
@pytest.mark.parametrize("kind", KINDS)
def test_conversion_and_report_stay_within_the_memory_that_they_may_use(tmp_path, kind, memory):
    logs, store = tmp_path / "logs", tmp_path / "trace.duckdb"
    logs.mkdir()
    KINDS[kind](logs, ROWS, 3)
    limit = ["--quiet", "--memory", f"{memory}MB"]
    converting = measured_tree([GWA, "convert", *limit, str(logs), "-o", str(store)])
    reporting = measured_tree([GWA, "report", *limit, str(store), "--html", "-o", str(tmp_path / "report")])
    assert converting["peak_mb"] * 1.024**2 <= memory * 1.02
    assert reporting["peak_mb"] * 1.024**2 <= memory * 1.02
