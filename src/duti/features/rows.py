"""Rows of Z and the few products through which everything else touches them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from duti.arrays import Array, Ints, Mask, Matrix

BLOCK = 4096
"""Rows that are multiplied at once, so that they are still in the cache for the next column."""


class Rows:
    """Rows of Z in memory, dense or sparse; an intercept is a last column of ones.

    `single` stores Z in float32, which halves memory and time; everything of size D stays float64.

    >>> rows = Rows(np.eye(2), intercept=True)
    >>> rows.times(np.array([1.0, 2.0, 10.0]))
    array([11., 12.])
    """

    orthogonal: bool
    """Whether the columns are known to be nearly orthogonal, so that a diagonal preconditions well."""

    def __init__(self, Z: Matrix, *, intercept: bool, single: bool = False, orthogonal: bool = False) -> None:
        self.orthogonal = orthogonal
        if single:
            Z = Z.astype(np.float32, copy=False)
        ones = np.ones((Z.shape[0], 1), dtype=Z.dtype)
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
        return self.stored_times(V).astype(np.float64, copy=False)

    def stored_times(self, V: Array) -> NDArray[Any]:
        """Z V in the precision of Z, column by column in memory.

        With few classes, sums over the columns of a row are then many times faster.
        """
        V = V.astype(self.Z.dtype, copy=False)
        if V.ndim == 1 or not isinstance(self.Z, np.ndarray):
            return np.asfortranarray(self.Z @ V)
        image = np.empty((self.n, V.shape[1]), dtype=self.Z.dtype, order="F")
        for start in range(0, self.n, BLOCK):
            image[start : start + BLOCK] = self.Z[start : start + BLOCK] @ V
        return image

    def transposed_times(self, R: Array) -> Array:
        """Zᵀ R."""
        R = R.astype(self.Z.dtype, copy=False)
        return np.asarray((R.T @ self.Z).T).astype(np.float64, copy=False)

    # Columns of θ and its like sum to zero over the classes of a softmax, and so do those of their
    # images: the last need not be computed. Several matrices share one pass over Z.

    def times_zero_sum(self, *matrices: Array) -> list[Array]:
        """Z V for matrices V whose columns sum to zero."""
        image = self.times(np.hstack([V[:, :-1] for V in matrices]))
        return [with_last_column(part) for part in np.split(image, len(matrices), axis=1)]

    def transposed_times_zero_sum(self, *matrices: Array) -> list[Array]:
        """Zᵀ R for matrices R whose columns sum to zero."""
        image = self.transposed_times(np.hstack([R[:, :-1] for R in matrices]))
        return [with_last_column(part) for part in np.split(image, len(matrices), axis=1)]

    def gram(self, weights: Array | None = None) -> Array:
        """Zᵀ diag(weights) Z, a dense D×D matrix."""
        if isinstance(self.Z, np.ndarray):
            root = self.Z if weights is None else self.Z * np.sqrt(weights).astype(self.Z.dtype)[:, None]
            return np.asarray(root.T @ root, dtype=np.float64)
        left = self.Z if weights is None else csr_array(self.Z.multiply(weights[:, None]))
        return np.asarray((left.T @ self.Z).toarray())

    def cross_gram(self, weights: Array) -> Array:
        """Zᵀ diag(weights) Z for weights of either sign."""
        if isinstance(self.Z, np.ndarray):
            return np.asarray(self.Z.T @ (self.Z * weights[:, None]), dtype=np.float64)
        return self.gram(weights)

    def gram_diagonal(self, weights: Array) -> Array:
        """The diagonal of Zᵀ diag(weights) Z, for when D×D is too large."""
        if isinstance(self.Z, np.ndarray):
            return weights @ self.Z**2
        return np.asarray(self.Z.multiply(self.Z).T @ weights)

    def take(self, rows: Ints | Mask) -> Array:
        """A dense copy of a few rows."""
        taken = self.Z[rows]
        return taken if isinstance(taken, np.ndarray) else taken.toarray()

    def columns(self, columns: Ints) -> Rows:
        """The same rows with some of the features."""
        if len(columns) == self.D and (columns[:-1] < columns[1:]).all():
            return self
        Z = np.ascontiguousarray(self.Z[:, columns])
        return Rows(Z, intercept=False, orthogonal=self.orthogonal)

    def subset(self, rows: Ints | Mask) -> Rows:
        """The same features for some of the rows."""
        return Rows(self.Z[rows], intercept=False, orthogonal=self.orthogonal)


def with_last_column(columns: Array) -> Array:
    """All columns of a matrix whose columns sum to zero, from all but the last."""
    completed = np.empty((len(columns), columns.shape[1] + 1), order="F")
    completed[:, :-1] = columns
    np.negative(columns.sum(axis=1), out=completed[:, -1])
    return completed
