"""The map Z: rows of X → R^D, such that Z Zᵀ is the kernel of the learner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array, hstack

from duti.arrays import Array, Matrix
from duti.errors import LearnerError

BLOCK_ROWS = 4096
"""Rows that are mapped at once; more would need memory and gain nothing."""


class FittedMap(Protocol):
    """A map that can be applied to any rows: training, trusted, or new."""

    def __call__(self, X: Matrix) -> Matrix:
        """The features of the rows of X."""
        ...


class FeatureMap(Protocol):
    """A recipe for a map, to be fitted to the training rows (never to their labels)."""

    def fit(self, X: Matrix, rng: np.random.Generator) -> FittedMap:
        """The map for these training rows."""
        ...

    def width(self, n: int, d: int) -> int:
        """The most features that n training rows of d columns can get: known before anything is allocated."""
        ...


def features_of(
    fitted: FittedMap, X: Matrix, dtype: DTypeLike = np.float64, *, intercept: bool = False
) -> NDArray[Any] | csr_array:
    """Z in the wanted precision, with a last column of ones for an intercept.

    Dense rows are mapped a block at a time, in float64, into an array that is allocated once:
    the whole of Z is never there in two precisions, nor twice.

    >>> features_of(lambda X: 2 * X, np.eye(2), np.float32, intercept=True)
    array([[2., 0., 1.],
           [0., 2., 1.]], dtype=float32)
    """
    if not isinstance(X, np.ndarray):
        Z = fitted(X).astype(dtype, copy=False)
        return with_ones(Z) if intercept else Z
    Z = np.empty((0, 0))
    for block in blocks(len(X)):
        features = fitted(X[block].astype(np.float64, copy=False))
        if block.start == 0:
            Z = np.ones((len(X), features.shape[1] + intercept), dtype)
        Z[block, : features.shape[1]] = features
    return Z


def with_ones(Z: Matrix) -> Matrix:
    """Z with a last column of ones."""
    ones = np.ones((Z.shape[0], 1), Z.dtype)
    return np.hstack([Z, ones]) if isinstance(Z, np.ndarray) else csr_array(hstack([Z, csr_array(ones)]))


def blocks(n: int) -> Iterator[slice]:
    """n rows, a block at a time.

    >>> [block.stop for block in blocks(10_000)]
    [4096, 8192, 10000]
    """
    return (slice(start, min(start + BLOCK_ROWS, n)) for start in range(0, n, BLOCK_ROWS))


def dense(X: Matrix) -> Array:
    """X, which a kernel cannot use if it is sparse."""
    if not isinstance(X, np.ndarray):
        raise LearnerError(
            "a kernel learner cannot use a sparse X; use Logistic or Ridge, which can, "
            "or make X dense with X.toarray()."
        )
    return X
