"""Deep rivals: jobs are made without the library that learnt them, and its absence is told in a sentence."""

import tomllib
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
import pytest

from gwa.errors import ModelError
from gwa.models.deep import Diffusion, Layer, Network, Tvae, forward
from gwa.models.knots import Knots
from gwa.models.marginals import Counted, Marginals
from tests.conftest import HOME
from tests.models.making import block as made

MARGINALS = Marginals(
    Knots((0.0, 10.0, 100.0), (0.0, 0.5, 1.0)),
    Counted((1, 2, 8), (5, 3, 2)),
    Knots((1.0, 60.0, 3600.0), (0.0, 0.3, 1.0)),
)
COLUMNS = 3


def layers(*sizes, seed=1):
    """Return layers of random weights."""
    rng = np.random.default_rng(seed)
    return tuple(
        Layer(inputs, tuple(rng.normal(0, 0.3, inputs * outputs).tolist()), tuple(rng.normal(size=outputs)))
        for inputs, outputs in pairwise(sizes)
    )


ONES: tuple[Network, ...] = (
    Tvae(marginals=MARGINALS, layers=layers(4, 6, COLUMNS), spread=(0.5, 1.0, 0.1)),
    Diffusion(marginals=MARGINALS, layers=layers(COLUMNS + 8, 6, COLUMNS), noise=(0.01, 0.1, 0.2)),
)
MODELS = pytest.mark.parametrize("one", ONES, ids=lambda one: one.name)


def test_a_network_is_what_loops_compute():
    network, x = layers(3, 5, 2), [0.3, -1.0, 2.0]
    values = x
    for place, layer in enumerate(network):
        rows = [
            layer.weights[row * layer.inputs : (row + 1) * layer.inputs] for row in range(len(layer.biases))
        ]
        values = [
            sum(w * v for w, v in zip(row, values, strict=True)) + bias
            for row, bias in zip(rows, layer.biases, strict=True)
        ]
        values = [max(value, 0.0) for value in values] if place == 0 else values

    assert forward(network, np.array([x]))[0] == pytest.approx(values)


@MODELS
def test_jobs_are_made_of_numbers_alone_and_survive_json(one):
    again = type(one).parsed(one.plain())
    jobs, same = made(one, 5000), made(again, 5000)

    assert again == one
    assert all(np.array_equal(jobs[name], same[name]) for name in jobs)
    assert all(np.array_equal(jobs[name][:100], column) for name, column in made(one, 100).items())
    assert set(jobs["n_procs"]) <= {1, 2, 8}
    assert (np.diff(jobs["submit_time"]) >= 0).all()
    assert ((jobs["run_time"] >= 1) & (jobs["run_time"] <= 3600)).all()
    assert set(made(one.limit_processors(2), 500)["n_procs"]) <= {1, 2}


def test_layers_that_do_not_fit_are_refused():
    with pytest.raises(ModelError, match="weights are 3, expected 4"):
        Layer(2, (1.0, 2.0, 3.0), (0.0, 0.0))
    with pytest.raises(ModelError, match="expected one for each column"):
        Tvae(marginals=MARGINALS, layers=layers(4, 6), spread=(1.0,) * COLUMNS)
    with pytest.raises(ModelError, match="as many inputs of each as the one before has outputs"):
        Tvae(marginals=MARGINALS, layers=layers(4, 6) + layers(5, COLUMNS), spread=(1.0,) * COLUMNS)
    with pytest.raises(ModelError, match="spread is of 2 columns"):
        Tvae(marginals=MARGINALS, layers=layers(4, COLUMNS), spread=(1.0, 1.0))
    with pytest.raises(ModelError, match="layers take 4 numbers, expected 11"):
        Diffusion(marginals=MARGINALS, layers=layers(4, COLUMNS), noise=(0.1,))


def columns(jobs=400):
    rng = np.random.default_rng(1)
    size = 2 ** rng.integers(0, 4, jobs)
    return {
        "submit_time": np.cumsum(rng.integers(1, 100, jobs)).astype(float).tolist(),
        "run_time": np.rint(size * 100 + rng.exponential(20, jobs)).tolist(),
        "n_procs": size.tolist(),
    }


@pytest.mark.parametrize("kind", [Tvae, Diffusion], ids=lambda kind: kind.name)
def test_what_a_fit_needs_is_told_in_a_sentence(kind, make_store, monkeypatch):
    monkeypatch.setattr("gwa.models.base.find_spec", lambda _: None)
    with pytest.raises(ModelError) as told:
        kind.fit(make_store(**columns()))

    assert str(told.value) == (
        f"{kind.name}: a fit needs torch, expected `pip install 'gridworkloads[deep]'`"
    )


@pytest.mark.skipif(find_spec("torch") is None, reason="the extra deep is not installed")
@pytest.mark.parametrize("kind", [Tvae, Diffusion], ids=lambda kind: kind.name)
def test_a_fit_is_the_same_each_time_and_learns_that_columns_belong_together(kind, make_store):
    store = make_store(**columns())
    one = kind.fit(store)
    jobs = made(one, 3000)

    assert one == kind.fit(store)
    assert np.corrcoef(jobs["n_procs"], jobs["run_time"])[0, 1] > 0.5


def test_they_come_by_an_entry_point_and_nothing_else_needs_torch():
    project = tomllib.loads((HOME / "pyproject.toml").read_text())["project"]

    assert project["entry-points"]["gwa.models"] == {"deep": "gwa.models.deep"}
    assert project["optional-dependencies"]["deep"] == ["torch>=2.2"]
    assert not any("torch" in needed for needed in project["dependencies"])
