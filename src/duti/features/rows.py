"""Rows of Z and the few products through which everything else touches them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from duti.arrays import Array, Ints, Mask, Matrix

BLOCK_BYTES = 8_000_000
"""Size of a block of rows that is worked on at once: it stays in the cache for the next product."""
SEPARATE_COLUMNS = 4
"""Up to so many columns, one product a column is faster than one for all."""


class Rows:
    """Rows of Z in memory, dense or sparse, in float64 or, for half the memory and time, float32.

    Everything of size D is float64 whatever the precision of Z.

    >>> rows = Rows(np.eye(2))
    >>> rows.times(np.array([1.0, 2.0]))
    array([1., 2.])
    """

    def __init__(self, Z: Matrix) -> None:
        self.Z = Z
        self._passes, self._share = [0.0], 1.0

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.Z.shape[0])

    @property
    def D(self) -> int:
        """Number of features, the intercept included."""
        return int(self.Z.shape[1])

    @property
    def passes(self) -> float:
        """Passes over Z so far: a product with Z is half of one, whatever its number of columns."""
        return self._passes[0]

    def _count(self, passes: float) -> None:
        self._passes[0] += self._share * passes

    @property
    def blocks(self) -> Iterator[slice]:
        """All rows, a block at a time; sparse rows are one block."""
        size = self.n
        if isinstance(self.Z, np.ndarray):
            size = max(1, BLOCK_BYTES // (self.D * self.Z.itemsize))
        return (slice(start, min(start + size, self.n)) for start in range(0, self.n, size))

    def times(self, V: Array) -> Array:
        """Z V in the precision of Z, column by column in memory: sums over few columns are then faster."""
        self._count(0.5)
        V = np.asarray(V, dtype=self.Z.dtype)
        if V.ndim == 1 or not isinstance(self.Z, np.ndarray):
            return np.asfortranarray(self.Z @ V)
        image = np.empty((self.n, V.shape[1]), dtype=self.Z.dtype, order="F")
        for block in self.blocks:
            image[block] = _image(self.Z[block], V)
        return image

    def transposed_times(self, R: Array) -> Array:
        """Zᵀ R."""
        self._count(0.5)
        R = R.astype(self.Z.dtype, copy=False)
        return np.asarray((R.T @ self.Z).T).astype(np.float64, copy=False)

    def through(self, V: Array, local: Callable[[slice, NDArray[Any]], NDArray[Any]]) -> Array:
        """Zᵀ f(Z V) in one pass, for a function f of the images of a block of rows.

        >>> rows = Rows(np.eye(2))
        >>> rows.through(np.array([[1.0], [2.0]]), lambda block, image: 10 * image)
        array([[10.],
               [20.]])
        """
        self._count(1.0)
        V, total = np.asarray(V, dtype=self.Z.dtype), np.zeros(V.shape)
        for block in self.blocks:
            Z = self.Z[block]
            total += _back(Z, local(block, _image(Z, V)))
        return total

    # Columns of θ and its like sum to zero over the classes of a softmax, and so do those of their
    # images: the last need not be computed. Several matrices share one pass over Z.

    def times_zero_sum(self, *matrices: Array) -> list[Array]:
        """Z V for matrices V whose columns sum to zero."""
        return _completed(self.times(_without_last(matrices)), len(matrices))

    def transposed_times_zero_sum(self, *matrices: Array) -> list[Array]:
        """Zᵀ R for matrices R whose columns sum to zero."""
        return _completed(self.transposed_times(_without_last(matrices)), len(matrices))

    def gram(self, weights: Array | None = None) -> Array:
        """Zᵀ diag(weights) Z, a dense D×D matrix."""
        if isinstance(self.Z, np.ndarray):
            total = np.zeros((self.D, self.D))
            for block in self.blocks:  # summed up in float64, and no copy of Z as a whole
                root = self.Z[block]
                if weights is not None:
                    root = root * np.sqrt(weights[block]).astype(self.Z.dtype)[:, None]
                total += root.T @ root
            return total
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
        """The same features for some of the rows, a copy; its passes count as parts of one here."""
        some = Rows(self.Z[rows])
        some._passes, some._share = self._passes, self._share * some.n / max(self.n, 1)
        return some


def _image(Z: Any, V: NDArray[Any]) -> NDArray[Any]:
    """Z V for a block of rows."""
    if not isinstance(Z, np.ndarray) or V.ndim == 1 or V.shape[1] > SEPARATE_COLUMNS:
        return np.asarray(Z @ V)
    image = np.empty((Z.shape[0], V.shape[1]), dtype=Z.dtype, order="F")
    for j in range(V.shape[1]):
        np.matmul(Z, V[:, j], out=image[:, j])
    return image


def _back(Z: Any, R: NDArray[Any]) -> Array:
    """Zᵀ R for a block of rows."""
    if not isinstance(Z, np.ndarray) or R.ndim == 1 or R.shape[1] > SEPARATE_COLUMNS:
        return np.asarray((R.T @ Z).T, dtype=np.float64)
    return np.stack([R[:, j] @ Z for j in range(R.shape[1])], axis=1).astype(np.float64)


def gathered(values: NDArray[Any], rows: Ints) -> NDArray[Any]:
    """Some rows of a matrix of few columns, column by column in memory: sums are then ten times faster."""
    return np.take(values.T, rows, axis=1).T


def _without_last(matrices: Sequence[Array]) -> Array:
    """All but the last columns of each, side by side."""
    return matrices[0][:, :-1] if len(matrices) == 1 else np.hstack([V[:, :-1] for V in matrices])


def _completed(columns: NDArray[Any], number: int) -> list[Array]:
    """So many matrices that stood side by side, with their last columns; np.split is slower than the sums."""
    free = columns.shape[1] // number
    return [with_last_column(columns[:, free * j : free * (j + 1)]) for j in range(number)]


def with_last_column(columns: NDArray[Any]) -> NDArray[Any]:
    """All columns of a matrix whose columns sum to zero, from all but the last."""
    completed = np.empty((len(columns), columns.shape[1] + 1), dtype=columns.dtype, order="F")
    completed[:, :-1] = columns
    np.negative(columns.sum(axis=1), out=completed[:, -1])
    return completed
