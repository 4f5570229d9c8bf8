"""Rows of Z and the few products through which everything else touches them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, hstack

from duti.arrays import Array, Ints, Mask, Matrix


class Rows:
    """Rows of Z in memory, dense or sparse; an intercept is a last column of ones.

    >>> rows = Rows(np.eye(2), intercept=True)
    >>> rows.times(np.array([1.0, 2.0, 10.0]))
    array([11., 12.])
    """

    def __init__(self, Z: Matrix, *, intercept: bool) -> None:
        ones = np.ones((Z.shape[0], 1))
        if not intercept:
            self.Z = Z
        elif isinstance(Z, np.ndarray):
            self.Z = np.hstack([Z, ones])
        else:
            self.Z = csr_array(hstack([Z, csr_array(ones)]))

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.Z.shape[0])

    @property
    def D(self) -> int:
        """Number of features, the intercept included."""
        return int(self.Z.shape[1])

    def times(self, V: Array) -> Array:
        """Z V."""
        return np.asarray(self.Z @ V)

    def transposed_times(self, R: Array) -> Array:
        """Zᵀ R."""
        return np.asarray(self.Z.T @ R)

    def gram(self, weights: Array | None = None) -> Array:
        """Zᵀ diag(weights) Z, a dense D×D matrix."""
        if isinstance(self.Z, np.ndarray):
            return self.Z.T @ (self.Z if weights is None else self.Z * weights[:, None])
        left = self.Z if weights is None else csr_array(self.Z.multiply(weights[:, None]))
        return np.asarray((left.T @ self.Z).toarray())

    def gram_diagonal(self, weights: Array) -> Array:
        """The diagonal of Zᵀ diag(weights) Z, for when D×D is too large."""
        if isinstance(self.Z, np.ndarray):
            return weights @ self.Z**2
        return np.asarray(self.Z.multiply(self.Z).T @ weights)

    def take(self, rows: Ints | Mask) -> Array:
        """A dense copy of a few rows."""
        taken = self.Z[rows]
        return taken if isinstance(taken, np.ndarray) else taken.toarray()

    def subset(self, rows: Ints | Mask) -> Rows:
        """The same features for some of the rows."""
        return Rows(self.Z[rows], intercept=False)
