"""Kernels as features: exact for few rows, Nyström above."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from duti.arrays import Array, Ints, Matrix
from duti.features import blocks, dense

EXACT_ROWS = 2000
"""Up to this many rows every row is a landmark, and Z Zᵀ = K up to rounding."""
LANDMARKS = 1000
"""Number of landmarks for larger training sets."""
ROWS_PER_LANDMARK = 20
"""The landmarks are the centres of a random sample of so many rows for each."""
CENTRING_STEPS = 5
WIDE = 16
"""From this many columns on, distances by a matrix product are faster than one by one."""
SMALLEST_EIGENVALUE = 1e-12
"""Directions below this fraction of the largest eigenvalue are rounding noise, and dropped."""


class Kernel(Protocol):
    """k(x, x') for every pair of rows."""

    def __call__(self, X: Matrix, Y: Matrix) -> Array:
        """The matrix [k(x_i, y_j)]."""
        ...


@dataclass(frozen=True)
class RBF:
    """exp(−‖x − x'‖² / (2 bandwidth²))."""

    bandwidth: float

    def __call__(self, X: Matrix, Y: Matrix) -> Array:
        """The kernel matrix between the rows of X and Y."""
        K = squared_distances(X, Y) if Y.shape[1] >= WIDE else cdist(X, Y, "sqeuclidean")
        K *= -0.5 / self.bandwidth**2
        return np.exp(K, out=K)


@dataclass(frozen=True)
class LinearKernel:
    """⟨x, x'⟩."""

    def __call__(self, X: Matrix, Y: Matrix) -> Array:
        """The kernel matrix between the rows of X and Y."""
        product = X @ Y.T
        return product if isinstance(product, np.ndarray) else product.toarray()


@dataclass(frozen=True, eq=False)
class KernelMap:
    """z(x) = k(x, landmarks) · projection."""

    kernel: Kernel
    landmarks: Matrix
    projection: Array

    def __call__(self, X: Matrix) -> Array:
        """The features of the rows of X."""
        return self.kernel(X, self.landmarks) @ self.projection


def exact_map(kernel: Kernel, landmarks: Matrix) -> KernelMap:
    """With K = U diag(e) Uᵀ on the landmarks, z(x) = k(x, landmarks) U diag(e)^(−1/2)."""
    eigenvalues, U = eigh(kernel(landmarks, landmarks))
    keep = eigenvalues > SMALLEST_EIGENVALUE * max(eigenvalues[-1], np.finfo(float).tiny)
    return KernelMap(kernel, landmarks, U[:, keep] / np.sqrt(eigenvalues[keep]))


@dataclass(frozen=True)
class Nystroem:
    """Features of a kernel: exact with every row as a landmark, approximate with fewer."""

    kernel: Kernel
    exact_rows: int = EXACT_ROWS
    landmarks: int = LANDMARKS

    def fit(self, X: Matrix, rng: np.random.Generator) -> KernelMap:
        """Choose the landmarks and whiten their kernel."""
        X = dense(X)
        number = self.width(*X.shape)
        return exact_map(self.kernel, X if number == len(X) else centres(X, number, rng))

    def width(self, n: int, d: int) -> int:  # noqa: ARG002
        """The number of landmarks."""
        return n if n <= self.exact_rows else min(self.landmarks, n)


def centres(X: Array, number: int, rng: np.random.Generator) -> Array:
    """Points that stand for the rows of X: a few steps of k-means from rows drawn at random.

    >>> X = np.array([[0.0], [0.2], [5.0], [5.2]])
    >>> np.sort(centres(X, 2, np.random.default_rng(0)), axis=0).round(1).tolist()
    [[0.1], [5.1]]
    """
    sample = X[np.sort(rng.choice(len(X), min(len(X), ROWS_PER_LANDMARK * number), replace=False))]
    points = sample[rng.choice(len(sample), number, replace=False)]
    for _ in range(CENTRING_STEPS):
        nearest = _nearest(sample, points)
        members = csr_array((np.ones(len(sample)), (nearest, np.arange(len(sample)))), (number, len(sample)))
        counts = np.bincount(nearest, minlength=number)
        points = np.where(counts[:, None], members @ sample / np.maximum(counts, 1)[:, None], points)
    return points


def _nearest(X: Array, points: Array) -> Ints:
    return np.concatenate([squared_distances(X[block], points).argmin(axis=1) for block in blocks(len(X))])


def squared_distances(X: Matrix, Y: Matrix) -> Array:
    """‖x − y‖² = ‖x‖² − 2⟨x, y⟩ + ‖y‖² around the mean of Y, where rounding does the least harm."""
    mean = Y.mean(axis=0)
    X, Y = X - mean, Y - mean
    squares: Array = X @ (-2 * Y.T)
    squares += (X**2).sum(axis=1)[:, None]
    squares += (Y**2).sum(axis=1)
    return np.maximum(squares, 0.0, out=squares)
