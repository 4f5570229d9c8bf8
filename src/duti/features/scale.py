"""Standardized columns in front of another map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duti.arrays import Array, Matrix
from duti.errors import LearnerError
from duti.features import FeatureMap, FittedMap


@dataclass(frozen=True)
class Standardized:
    """z((x − mean) / standard deviation); constant columns become zero."""

    inner: FeatureMap

    def fit(self, X: Matrix, rng: np.random.Generator) -> FittedMap:
        """Take mean and deviation from the training rows, then fit the inner map."""
        if not isinstance(X, np.ndarray):
            raise LearnerError(
                "a sparse X cannot be standardised without becoming dense; "
                "use Logistic or Ridge, or make X dense with X.toarray()."
            )
        mean, scale = X.mean(axis=0), X.std(axis=0)
        # Rounding leaves a tiny deviation in a constant column; dividing by it would amplify noise.
        scale[scale <= 1e-12 * np.maximum(1.0, abs(mean))] = np.inf
        scaled = X - mean
        scaled /= scale
        return StandardizedMap(mean, scale, self.inner.fit(scaled, rng))

    def width(self, n: int, d: int) -> int:
        """That of the inner map."""
        return self.inner.width(n, d)


@dataclass(frozen=True, eq=False)
class StandardizedMap:
    """The fitted map, with the mean and deviation of the training rows."""

    mean: Array
    scale: Array
    inner: FittedMap

    def __call__(self, X: Matrix) -> Matrix:
        """The features of the rows of X."""
        return self.inner((X - self.mean) / self.scale)
