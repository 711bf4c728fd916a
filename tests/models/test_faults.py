"""Mistakes in parameters, targets and traces: for every model one line, which names what is wrong."""

import json
import sys
from collections.abc import Callable
from copy import deepcopy
from typing import Any, get_args

import pytest

from gwa.cli import main
from gwa.errors import ModelError
from gwa.models.base import models, parse_model, presets
from gwa.models.files import document
from gwa.models.parameters import Parameters, described
from gwa.statistics.distribution import Distribution

FIRSTS = {preset.model.name: preset for preset in reversed(presets().values())}
"""A preset of each model."""

PRESETS = pytest.mark.parametrize("preset", presets().values(), ids=lambda preset: preset.name)
MODELS = pytest.mark.parametrize("name", [name for name in models() if name in FIRSTS])


@pytest.fixture
def gwa(monkeypatch, capsys, tmp_path):
    """Return a function that runs a command and returns its status and what it says of what is wrong."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["gwa", *map(str, words)])
        with pytest.raises(SystemExit) as left:
            main()
        return left.value.code, capsys.readouterr().err

    return run


def shown(path):
    """Return a path as errors say it."""
    return "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in path).lstrip(".")


def changed(said, path, value):
    """Return a document with *value* at *path*."""
    found = deepcopy(said)
    place = found["parameters"]
    for one in path[:-1]:
        place = place[one]
    place[path[-1]] = value
    return found


def spots(kind, said, path=()):
    """Yield the path and the quantity of one number of each sort: of the members of a list, the first."""
    for name, (hint, quantity) in described(kind).items():
        if said.get(name) is not None:
            yield from inside(hint, quantity, said[name], (*path, name))


def inside(hint, quantity, value, path):
    """Yield the numbers of a value of type *hint*."""
    if isinstance(value, list):
        yield from inside(get_args(hint)[0], quantity, value[0], (*path, 0)) if value else ()
    elif isinstance(value, dict) and issubclass(hint, Distribution):
        yield from (((*path, name), None) for name in value if name != "kind")
    elif isinstance(value, dict) and issubclass(hint, Parameters):
        yield from spots(hint.family().get(value.get("kind"), hint), value, path)
    elif isinstance(value, float | int):
        yield path, quantity


def tables(said, path=()):
    """Yield the path of each table of numbers: of the members of a list, the first."""
    if isinstance(said, dict):
        yield path
        for name, value in said.items():
            yield from tables(value, (*path, name))
    elif isinstance(said, list) and said:
        yield from tables(said[0], (*path, 0))


def lists(said, path=()):
    """Yield the path of each list: of the members of a list, the first."""
    if isinstance(said, dict):
        for name, value in said.items():
            yield from lists(value, (*path, name))
    elif isinstance(said, list):
        yield path
        yield from lists(said[0], (*path, 0)) if said else ()


def refused(said):
    """Return why a document is not a model."""
    with pytest.raises(ModelError) as error:
        parse_model(said)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 500
    return str(error.value)


NO_NUMBERS: list[Any] = [float("nan"), "much", float("-inf"), True, None, {}]


@PRESETS
def test_what_is_no_number_is_named(preset):
    said = document(preset.model, {})
    for place, (path, _) in enumerate(spots(type(preset.model), said["parameters"])):
        for wrong in NO_NUMBERS[: 2 if place else None]:
            assert refused(changed(said, path, wrong)).startswith(f"{shown(path)}: is {wrong!r}, expected")


@PRESETS
def test_what_is_out_of_range_is_named(preset):
    said = document(preset.model, {})
    for path, quantity in spots(type(preset.model), said["parameters"]):
        name = shown(path[:-1] if isinstance(path[-1], int) else path)
        for wrong in (-1e15, 1e15):
            if quantity and not quantity.admits(wrong):
                said_of_it = f"{name} is {wrong:.0f}", f", expected {quantity.range}: {quantity}"
                line = refused(changed(said, path, wrong))
                assert (line.startswith(said_of_it[0]), line.endswith(said_of_it[1])) == (True, True), line


@PRESETS
def test_scales_and_shapes_below_0_are_named(preset):
    said = document(preset.model, {})
    for path, quantity in spots(type(preset.model), said["parameters"]):
        if quantity is None and path[-1] in {"shape", "scale", "sigma", "rate"}:
            assert refused(changed(said, path, -1.0)).startswith(f"{shown(path)} is above 0, not -1.0")


@PRESETS
def test_unknown_parameters_are_named(preset):
    said = document(preset.model, {})
    for path in tables(said["parameters"]):
        assert refused(changed(said, (*path, "colour"), 1.0)).startswith(shown(path))


MAY_BE_EMPTY = {"shapes", "requests", "any_period", "any_time"}
"""Without shapes, all that come in an hour come at once; jobs may request nothing; cells may all be whole."""


@PRESETS
def test_empty_lists_are_named(preset):
    said = document(preset.model, {})
    for path in lists(said["parameters"]):
        if path[-1] not in MAY_BE_EMPTY:
            assert path[-1] in refused(changed(said, path, []))


NO_WHOLE = {
    "dacosta": "classes have frequencies that add up to",
    "minh2009-printed": "clusters have weights that add up to",
    "minh2010-printed": "clusters have weights that add up to",
    "mbc-ls-printed": "clusters have weights that add up to",
    "lublin": "batch.sizes.powers_of_two is",
    "gwa": "contents.procs.user, session, bag: add up to more than 1",
}
"""What models say whose shares are parts of a whole."""


@pytest.mark.parametrize("name", NO_WHOLE)
def test_shares_of_a_whole_are_added_up(name):
    said = document(FIRSTS[name].model, {})
    path = {
        "dacosta": ("classes", 0, "frequency"),
        "lublin": ("batch", "sizes", "powers_of_two"),
        "gwa": ("contents", "procs", "user"),
    }.get(name, ("clusters", 0, "weight"))
    whole = changed(said, path, 1.0)
    if name == "gwa":
        whole = changed(whole, ("contents", "procs", "bag"), 0.5)

    assert refused(whole).startswith(NO_WHOLE[name])


@MODELS
def test_a_file_with_a_mistake_is_told_in_a_line(name, gwa, tmp_path):
    said = document(FIRSTS[name].model, {})
    path, _ = next(spots(models()[name], said["parameters"]))
    (tmp_path / "model.json").write_text(json.dumps(changed(said, path, float("nan"))))
    status, line = gwa("model", "generate", "model.json", "--jobs", 5, "--seed", 1, "-o", "x.gwf")

    assert (status, line) == (1, f"gwa: model.json: {shown(path)}: is nan, expected a number\n")


@MODELS
@pytest.mark.parametrize(
    ("share", "said"),
    [
        (1.0, "utilization is 1, which this workload does not reach on 9000000 processors: the nearest is "),
        (1.5, "utilization is 1.5, expected a share above 0 and at most 1"),
        (0, "utilization is 0.0, expected a share"),
        ("nan", "utilization is nan, expected a share"),
    ],
)
def test_an_impossible_target_is_told_in_a_line(name, share, said, gwa, tmp_path):
    words = ("--jobs", 50, "--seed", 1, "--cpus", 9_000_000, "--utilization", share, "-o", "x.gwf")
    status, line = gwa("model", "generate", FIRSTS[name].name, *words)

    assert status == 1
    assert line.startswith(f"gwa: {said}")
    assert line.count("\n") == 1
    assert not any(tmp_path.iterdir())


COLUMNS: dict[str, Callable[[int], list[Any]]] = {
    "submit_time": lambda n: [float(60 * place + place % 7) for place in range(n)],
    "run_time": lambda n: [float(60 + place % 11) for place in range(n)],
    "n_procs": lambda n: [1 + place % 4 for place in range(n)],
    "user_id": lambda n: ["ab"[place % 2] for place in range(n)],
}


@pytest.mark.parametrize("jobs", [0, 1, 2, 10])
def test_too_few_jobs_are_told(jobs, make_store):
    store = make_store(**{field: column(jobs) for field, column in COLUMNS.items()})
    found = f"{jobs} jobs that ran" if jobs else "no job records submit_time"

    for name, kind in models().items():
        with pytest.raises(ModelError, match=f"^{name}: {found}.*, expected at least {kind.minimum_jobs}"):
            kind.fit(store)


@pytest.mark.parametrize("field", COLUMNS)
def test_what_a_trace_lacks_is_told(field, make_store):
    store = make_store(**{other: column(200) for other, column in COLUMNS.items() if other != field})

    for name, kind in models().items():
        if field in kind.needs:
            with pytest.raises(ModelError, match=rf"^{name}: no job records {field} \(.*, expected at least"):
                kind.fit(store)


@pytest.mark.parametrize("field", COLUMNS)
def test_what_few_jobs_record_is_told(field, make_store):
    known = {name: column(200) for name, column in COLUMNS.items()}
    known[field] = known[field][:60] + [None] * 140
    store = make_store(**known)

    for name, kind in models().items():
        if field in kind.needs:
            with pytest.raises(ModelError, match=f"^{name}: 60 jobs that ran.*expected at least"):
                kind.fit(store)


@MODELS
def test_a_trace_of_ten_jobs_is_told_in_a_line(name, gwa, tmp_path):
    rows = "".join(f"{job} {job}0 5 60 4 -1 -1 4 900 -1 1 1 1 -1 1 1 -1 -1\n" for job in range(1, 11))
    (tmp_path / "few.swf").write_text("; Computer: none\n" + rows)
    line = f"gwa: {name}: 10 jobs that ran, expected at least {models()[name].minimum_jobs} for a fit\n"

    assert gwa("model", "fit", "few.swf", name, "-o", "model.json", "--quiet") == (1, line)
    assert [path.name for path in tmp_path.iterdir()] == ["few.swf"]
