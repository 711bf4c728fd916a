"""A Gaussian copula of the columns of jobs: the rival that needs nothing but ranks."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from scipy.special import ndtr, ndtri

from gwa.errors import ModelError
from gwa.models.draws import block_sizes
from gwa.models.marginals import RowModel, Rows
from gwa.models.parameters import Quantity
from gwa.statistics.sample import Floats
from gwa.store.store import Store

CORRELATION = Quantity("of the normal scores of two columns, row by row above the diagonal", "", -1.0, 1.0)

MINIMUM_EIGENVALUE = 1e-9
"""Correlations that were rounded may be a little off a matrix of correlations; this much is let pass."""


@dataclass(frozen=True, kw_only=True)
class Copula(RowModel):
    """
    A Gaussian copula: columns with the trace's own distributions, whose normal scores are correlated.

    Rows are independent of each other: none knows of the job before it, or of the hour of the day. Normal
    scores are those of middle ranks (van der Waerden 1952), so that ties weaken correlations. Users are kept
    by how often they submit. Such a copula is what tools for synthetic tables offer first.
    """

    correlations: Annotated[tuple[float, ...], CORRELATION]

    name = "copula"
    title = "Gaussian copula of rows"
    source = (
        "N. Patki, R. Wedge and K. Veeramachaneni, The Synthetic Data Vault, IEEE International Conference on"
        " Data Science and Advanced Analytics (2016)"
    )

    def check(self) -> None:
        """Refuse correlations that are too few or too many, or that no columns can have together."""
        columns = len(self.marginals.columns)
        expected = columns * (columns - 1) // 2
        if len(self.correlations) != expected:
            number = len(self.correlations)
            raise ModelError(f"correlations are {number}, expected {expected} for {columns} columns")
        if np.linalg.eigvalsh(self._matrix()).min() < -MINIMUM_EIGENVALUE:
            raise ModelError("correlations contradict each other, expected those of columns of one table")

    @classmethod
    def estimate(cls, store: Store) -> Self:
        """Return the copula of all jobs that ran."""
        rows = Rows.of(store)
        scores = np.array([ndtri((below + upto) / 2) for below, upto in rows.spans().values()])
        scores -= scores.mean(axis=1, keepdims=True)
        lengths = np.sqrt((scores**2).sum(axis=1))
        matrix = scores @ scores.T / np.maximum(np.outer(lengths, lengths), 1e-12)
        above = matrix[np.triu_indices(len(scores), 1)]
        return cls(marginals=rows.marginals, correlations=tuple(np.clip(above, -1, 1).tolist()))

    def shares(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield an endless stream of rows of shares."""
        values, vectors = np.linalg.eigh(self._matrix())
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        for size in block_sizes():
            yield ndtr(rng.standard_normal((size, values.size)) @ root.T)

    def _matrix(self) -> Floats:
        """Return the matrix of correlations."""
        columns = len(self.marginals.columns)
        matrix = np.eye(columns)
        matrix[np.triu_indices(columns, 1)] = self.correlations
        matrix += np.triu(matrix, 1).T
        return matrix
