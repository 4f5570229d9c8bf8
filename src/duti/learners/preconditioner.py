"""Approximate inverses of the Hessian (1/n) Zᵀ ℓ'' Z + Λ of a learner, from a sample of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dtrtri

from duti.arrays import Array, Ints
from duti.features.rows import Rows

DENSE_FEATURES = 3000
"""Up to this many features a D×D Cholesky factor, above it a diagonal."""
COUPLED_FEATURES = 1000
"""Up to this many unknowns D(k − 1) of three or more classes the Hessian is factored whole."""
MOST_BLOCKS = 20
"""More classes share one block: to factor one for each would take longer than it saves."""
SAMPLED_ROWS = 10
"""Rows of a sample for each feature: enough for most eigenvalues within a third of the exact ones."""
FEWEST_ROWS = 2000
"""Rows of a sample, if there are few features."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows that stand for all: Σ share_i f_i over them is about the mean of f over all rows."""

    rows: Rows
    index: Ints
    share: Array


def draw(rows: Rows, weights: Array, times: float = 1.0) -> Sample:
    """All rows if they are few, else a sample: drawn half by their curvature, half evenly."""
    number = int(times * max(SAMPLED_ROWS * rows.D, FEWEST_ROWS))
    if rows.n <= number:
        return Sample(rows, np.arange(rows.n), np.full(rows.n, 1 / rows.n))
    size = weights.sum(axis=1, dtype=np.float64)
    chance = 0.5 * size / max(size.sum(), np.finfo(float).tiny) + 0.5 / rows.n
    # One draw from each of `number` slices of equal chance: less variance than independent draws.
    slices = (np.arange(number) + np.random.default_rng(0).random(number)) / number
    index, drawn = np.unique(np.searchsorted(np.cumsum(chance), slices * chance.sum()), return_counts=True)
    index = np.minimum(index, rows.n - 1)
    return Sample(rows.subset(index), index, drawn / (rows.n * chance[index] * number))


@dataclass(frozen=True, eq=False)
class BlockPreconditioner:
    """One block for all columns of θ, or one for each class: M⁻¹ = RᵀR."""

    roots: tuple[Array, ...]
    """R = L⁻¹ for the Cholesky factor L of a block: a product is several times faster than a triangular
    solve with one right side. Or the diagonal of R, if that is all there is of it."""

    def solve(self, B: Array, column: int) -> Array:
        """The approximate inverse of the block of one column of θ, times B."""
        root = self.roots[column % len(self.roots)]
        if root.ndim == 1:
            return np.asarray((B.T * root**2).T)
        return np.asarray(root.T @ (root @ B))

    def norm(self, R: Array) -> float:
        """The root of ⟨R, M⁻¹R⟩."""
        return float(np.linalg.norm([np.linalg.norm(part) for part in self._rooted(R)]))

    def _rooted(self, R: Array) -> Iterator[Array]:
        columns = [R] if len(self.roots) == 1 else R.T
        for root, column in zip(self.roots, columns, strict=True):
            yield (column.T * root).T if root.ndim == 1 else root @ column

    def __call__(self, R: Array) -> Array:
        """Columns that sum to zero stay so: the gauge of a softmax."""
        if len(self.roots) == 1:
            return self.solve(R, 0)
        X = np.column_stack([self.solve(R[:, j], j) for j in range(R.shape[1])])
        return np.asarray(X - X.mean(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class CoupledPreconditioner:
    """The whole Hessian in the unknowns of all classes but the last, whose column is minus their sum."""

    root: Array
    """L⁻¹."""

    def __call__(self, R: Array) -> Array:
        """H⁻¹ R."""
        X = (self.root.T @ self._rooted(R)).reshape(R.shape[1] - 1, -1).T
        return np.column_stack([X, -X.sum(axis=1)])

    def norm(self, R: Array) -> float:
        """The root of ⟨R, H⁻¹R⟩."""
        return float(np.linalg.norm(self._rooted(R)))

    def _rooted(self, R: Array) -> Array:
        return np.asarray(self.root @ (R[:, :-1] - R[:, -1:]).T.ravel())


def coupled_preconditioner(sample: Sample, P: Array, penalty: Array) -> CoupledPreconditioner:
    """H itself, for few features and classes: exact also where classes compete.

    Between two classes H has the block −Zᵀ diag(p_a p_b) Z, and its blocks sum to zero over the
    classes: only pairs of classes and the rows that are torn between them are needed.
    """
    D, k = sample.rows.D, P.shape[1]
    H = np.zeros((k - 1, D, k - 1, D))
    last = k - 1
    for a in range(k):
        for b in range(a):
            torn = sample.share * P[:, a] * P[:, b]
            some = np.flatnonzero(torn > NEGLIGIBLE * torn.mean())
            gram = sample.rows.subset(some).gram(torn[some])
            if a == last:  # θ_last = −Σ θ_b: its differences with θ_b involve all other classes
                H += gram[None, :, None, :]
                H[b] += gram[:, None, :]
                H[:, :, b] += gram
                H[b, :, b] += gram
            else:
                H[a, :, b] -= gram
                H[b, :, a] -= gram
                H[a, :, a] += gram
                H[b, :, b] += gram
    H += penalty[:, None, None] * np.eye(D)[:, None, :]
    return CoupledPreconditioner(_root(H.reshape(last * D, last * D), np.tile(penalty, last)))


NEGLIGIBLE = 1e-2
"""Rows with less than this fraction of the mean weight add at most this fraction to a Gram matrix."""


def block_preconditioner(sample: Sample, weights: Array, penalty: Array) -> BlockPreconditioner:
    """For curvatures `weights` of the rows: (n, 1), or (n, k) with one column for each class."""
    if weights.shape[1] > MOST_BLOCKS:
        weights = weights.mean(axis=1, keepdims=True)
    rows, weighted = sample.rows, sample.share[:, None] * weights
    if rows.D > DENSE_FEATURES:
        return BlockPreconditioner(tuple(_diagonal(rows, w, penalty) for w in weighted.T))
    return BlockPreconditioner(tuple(_root(rows.gram(w), penalty) for w in weighted.T))


def _diagonal(rows: Rows, weights: Array, penalty: Array) -> Array:
    diagonal = rows.gram_diagonal(weights) + penalty
    return np.asarray(1 / np.sqrt(np.maximum(diagonal, 1e-14 * diagonal.max())))


def _root(H: Array, penalty: Array) -> Array:
    """L⁻¹ of H + diag(penalty) = LLᵀ."""
    # An unpenalised intercept of rows that are all certain has no curvature left: keep H regular.
    H[np.diag_indices_from(H)] += penalty + 1e-14 * (np.trace(H) / len(H) + penalty.max())
    # numpy's Cholesky, not scipy's: their BLAS are two, whose threads would wait for each other's cores.
    return np.ascontiguousarray(dtrtri(np.linalg.cholesky(H), lower=1)[0])
