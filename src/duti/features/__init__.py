"""The map Z: rows of X → R^D, such that Z Zᵀ is the kernel of the learner."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from duti.arrays import Matrix


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
