"""
Deep rivals: neural networks that draw the rows of jobs, learnt with PyTorch and used without.

They come by an entry point, as those of other packages do, and the extra deep installs what a fit needs. The
parameters are the weights as numbers, so that a fitted model is a file like any other: it runs no code, and
jobs are made of it by NumPy alone.

Rows are the normal scores of the columns (`gwa.models.marginals`), ties spread at random, so that networks
learn what columns have to do with each other, while each keeps the distribution of the trace.
"""

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

import numpy as np
from scipy.special import ndtr, ndtri

from gwa.errors import ModelError
from gwa.models.draws import block_sizes
from gwa.models.marginals import Marginals, RowModel, Rows
from gwa.models.parameters import Parameters, Quantity, positive
from gwa.statistics.sample import Floats
from gwa.store.store import Store

if TYPE_CHECKING:
    import torch

SEED: Final = 1

WIDTH: Final = 64
LATENT: Final = 8
EPOCHS: Final = 60
BATCH: Final = 500
RATE: Final = 1e-3
"""Units of a hidden layer, latent numbers of a row, and how weights are learnt (Adam)."""

MAXIMUM_FITTED: Final = 50_000
"""Rows that are learnt from; of more, as many are drawn."""

NOISES: Final = 50
FIRST_NOISE, LAST_NOISE = 1e-3, 0.2
"""Steps from a row to noise, and the variances that the first and the last add."""

TIMES: Final = 8
"""Numbers that tell a network which step it is at: sines and cosines."""

ROWS_AT_ONCE: Final = 1 << 14

EDGE: Final = 1e-6
"""No share is nearer to 0 or 1, where normal scores are infinite."""


@dataclass(frozen=True)
class Layer(Parameters):
    """A layer of a network: *weights* of *inputs* for one output after the other, and *biases* of outputs."""

    inputs: Annotated[int, Quantity("numbers that go in", "", 1.0, 1e4)]
    weights: Annotated[tuple[float, ...], Quantity("of the inputs, output by output")]
    biases: Annotated[tuple[float, ...], Quantity("of the outputs")]

    def check(self) -> None:
        """Refuse weights that are not one for each input and output."""
        if len(self.weights) != self.inputs * len(self.biases):
            expected = self.inputs * len(self.biases)
            raise ModelError(f"weights are {len(self.weights)}, expected {expected}")

    def forward(self, x: Floats) -> Floats:
        """Return the outputs for rows of inputs."""
        matrix = np.array(self.weights).reshape(len(self.biases), self.inputs)
        return np.asarray(x @ matrix.T + np.array(self.biases), np.float64)


def forward(layers: tuple[Layer, ...], x: Floats) -> Floats:
    """Return the outputs of a network: between its layers stand rectifiers."""
    for layer in layers[:-1]:
        x = np.maximum(layer.forward(x), 0.0)
    return layers[-1].forward(x)


@dataclass(frozen=True, kw_only=True)
class Network(RowModel):
    """A network that draws rows of normal scores: *layers*, and the distributions of the columns."""

    layers: tuple[Layer, ...]

    package = "torch"
    extra = "deep"

    def check(self) -> None:
        """Refuse layers that do not follow each other, or do not end in the columns."""
        outputs = [len(layer.biases) for layer in self.layers]
        if [layer.inputs for layer in self.layers[1:]] != outputs[:-1]:
            raise ModelError("layers: expected as many inputs of each as the one before has outputs")
        if outputs[-1] != len(self.marginals.columns):
            raise ModelError(
                f"layers end in {outputs[-1]} numbers, expected one for each column of marginals"
            )

    @classmethod
    def estimate(cls, store: Store) -> Self:
        """Learn the network of all jobs that ran, or of `MAXIMUM_FITTED` of them, on one processor."""
        import torch

        rows = Rows.of(store)
        rng = np.random.default_rng(SEED)
        shares = [low + rng.random(low.size) * (high - low) for low, high in rows.spans().values()]
        scores = ndtri(np.clip(np.column_stack(shares), EDGE, 1 - EDGE))
        scores = scores[rng.permutation(len(scores))[:MAXIMUM_FITTED]]
        threads, state = torch.get_num_threads(), torch.get_rng_state()
        torch.set_num_threads(1)
        torch.manual_seed(SEED)
        try:
            return cls.learn(rows.marginals, torch.tensor(scores, dtype=torch.float32))
        finally:
            torch.set_num_threads(threads)
            torch.set_rng_state(state)

    @classmethod
    @abstractmethod
    def learn(cls, marginals: Marginals, scores: "torch.Tensor") -> Self:
        """Return the model of rows of normal *scores*."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """Draw *n* rows of normal scores."""

    def shares(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield an endless stream of rows of shares."""
        for size in block_sizes():
            for start in range(0, size, ROWS_AT_ONCE):
                yield ndtr(self.draw(rng, min(ROWS_AT_ONCE, size - start)))


@dataclass(frozen=True, kw_only=True)
class Tvae(Network):
    """
    A variational autoencoder of rows, of which the decoder draws jobs.

    Latent numbers are standard normal; the decoder's outputs are the means of the normal scores, around which
    each column has its own *spread*. Rows are independent of each other.
    """

    spread: Annotated[tuple[float, ...], positive("standard deviation of the normal scores of a column")]

    name = "tvae"
    title = "Variational autoencoder of rows"
    source = (
        "After L. Xu, M. Skoularidou, A. Cuesta-Infante and K. Veeramachaneni, Modeling tabular data using"
        " conditional GAN, NeurIPS (2019), whose TVAE takes mixtures where this takes normal scores"
    )

    def check(self) -> None:
        """Refuse a spread that is not one for each column."""
        super().check()
        if len(self.spread) != len(self.marginals.columns):
            raise ModelError(f"spread is of {len(self.spread)} columns, expected as many as marginals has")

    @classmethod
    def learn(cls, marginals: Marginals, scores: "torch.Tensor") -> Self:
        """Maximize the evidence lower bound."""
        import torch

        columns = scores.shape[1]
        encoder, decoder = _network(columns, 2 * LATENT), _network(LATENT, columns)
        spread = torch.zeros(columns, requires_grad=True)

        def loss(batch: "torch.Tensor") -> "torch.Tensor":
            mean, log_variance = encoder(batch).chunk(2, dim=1)
            latent = mean + torch.randn_like(mean) * (log_variance / 2).exp()
            error = ((batch - decoder(latent)) / spread.exp()) ** 2 / 2 + spread
            divergence = (log_variance.exp() + mean**2 - 1 - log_variance) / 2
            return (error.sum(dim=1) + divergence.sum(dim=1)).mean()

        _minimize(loss, scores, [*encoder.parameters(), *decoder.parameters(), spread])
        found = spread.detach().exp().tolist()
        return cls(marginals=marginals, layers=_layers(decoder), spread=tuple(found))

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """Draw *n* rows of normal scores."""
        means = forward(self.layers, rng.standard_normal((n, self.layers[0].inputs)))
        return np.asarray(means + rng.standard_normal(means.shape) * np.array(self.spread), np.float64)


@dataclass(frozen=True, kw_only=True)
class Diffusion(Network):
    """
    Gaussian diffusion of rows: noise that a network takes away, step by step.

    In each step a little *noise*, by its variance, was added to the normal scores of a row; the network has
    learnt which, and a row is drawn from noise alone on the way back. Rows are independent of each other.
    """

    noise: Annotated[tuple[float, ...], Quantity("variance that a step adds", "", 0.0, 1.0)]

    name = "diffusion"
    title = "Gaussian diffusion of rows"
    source = (
        "After A. Kotelnikov, D. Baranchuk, I. Rubachev and A. Babenko, TabDDPM: modelling tabular data with"
        " diffusion models, ICML (2023), which adds multinomial diffusion of categories"
    )

    def check(self) -> None:
        """Refuse a network that does not take a row and a step."""
        super().check()
        expected = len(self.marginals.columns) + TIMES
        if self.layers[0].inputs != expected:
            raise ModelError(f"layers take {self.layers[0].inputs} numbers, expected {expected}")

    @classmethod
    def learn(cls, marginals: Marginals, scores: "torch.Tensor") -> Self:
        """Learn the noise that was added, by least squares."""
        import torch

        noise = np.linspace(FIRST_NOISE, LAST_NOISE, NOISES)
        kept = torch.tensor(np.cumprod(1 - noise), dtype=torch.float32)
        times = torch.tensor(_times(NOISES), dtype=torch.float32)
        network = _network(scores.shape[1] + TIMES, scores.shape[1])

        def loss(batch: "torch.Tensor") -> "torch.Tensor":
            step = torch.randint(NOISES, (len(batch),))
            added, share = torch.randn_like(batch), kept[step, None]
            noisy = share.sqrt() * batch + (1 - share).sqrt() * added
            return ((network(torch.cat([noisy, times[step]], dim=1)) - added) ** 2).mean()

        _minimize(loss, scores, list(network.parameters()))
        return cls(marginals=marginals, layers=_layers(network), noise=tuple(noise.tolist()))

    def draw(self, rng: np.random.Generator, n: int) -> Floats:
        """Draw *n* rows of normal scores."""
        noise = np.array(self.noise)
        kept, times = np.cumprod(1 - noise), _times(noise.size)
        x = rng.standard_normal((n, len(self.marginals.columns)))
        for step in range(noise.size - 1, -1, -1):
            added = forward(self.layers, np.column_stack([x, np.tile(times[step], (n, 1))]))
            x = (x - noise[step] / math.sqrt(1 - kept[step]) * added) / math.sqrt(1 - noise[step])
            if step:
                x += math.sqrt(noise[step]) * rng.standard_normal(x.shape)
        return x


def _times(steps: int) -> Floats:
    """Return what a network is told of each of some *steps*."""
    angles = np.outer(np.arange(steps) / steps * math.pi / 2, 2.0 ** np.arange(TIMES // 2))
    return np.column_stack([np.sin(angles), np.cos(angles)])


def _network(inputs: int, outputs: int) -> Any:  # noqa: ANN401 - of torch
    """Return a new network with two hidden layers."""
    from torch import nn

    return nn.Sequential(
        nn.Linear(inputs, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, outputs)
    )


def _minimize(loss: Any, scores: "torch.Tensor", weights: list[Any]) -> None:  # noqa: ANN401 - of torch
    """Minimize a *loss* of batches of *scores* over *weights*."""
    import torch

    optimizer = torch.optim.Adam(weights, lr=RATE)
    for _ in range(EPOCHS):
        for batch in scores[torch.randperm(len(scores))].split(BATCH):
            optimizer.zero_grad()
            loss(batch).backward()
            optimizer.step()


def _layers(network: Any) -> tuple[Layer, ...]:  # noqa: ANN401 - of torch
    """Return the layers of a network of torch, as numbers."""
    return tuple(
        Layer(
            layer.in_features,
            tuple(_rounded(layer.weight.detach().numpy().ravel())),
            tuple(_rounded(layer.bias.detach().numpy())),
        )
        for layer in network
        if hasattr(layer, "in_features")
    )


def _rounded(numbers: Floats) -> list[float]:
    """Return *numbers* with six digits, so that files are short."""
    return [float(f"{number:.6g}") for number in numbers.tolist()]
