"""Kernels as features: exact for few rows, Nyström above."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

from duti.arrays import Array, Matrix
from duti.errors import LearnerError

EXACT_ROWS = 2000
"""Up to this many rows every row is a landmark, and Z Zᵀ = K up to rounding."""
LANDMARKS = 1000
"""Number of landmarks, drawn at random, for larger training sets."""
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
        K: Array = cdist(X, Y, "sqeuclidean")
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
        """Choose the landmarks among the rows and whiten their kernel."""
        if not isinstance(X, np.ndarray):
            raise LearnerError(
                "a kernel learner cannot use a sparse X; use Logistic or Ridge, which can, "
                "or make X dense with X.toarray()."
            )
        if len(X) > self.exact_rows:
            X = X[np.sort(rng.choice(len(X), min(self.landmarks, len(X)), replace=False))]
        return exact_map(self.kernel, X)
