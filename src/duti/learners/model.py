"""A trained learner: a feature map and θ, ready for new rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duti.arrays import Array, Matrix, Targets
from duti.features import FittedMap, features_of
from duti.features.rows import Rows
from duti.learners import Learner
from duti.randomness import Seed, generator


@dataclass(frozen=True, eq=False)
class Model:
    """Scores of new rows: z(x) θ."""

    map: FittedMap
    theta: Array
    intercept: bool

    def scores(self, X: Matrix) -> Array:
        """One score for each class, or the prediction of a regression."""
        return Rows(features_of(self.map, X, intercept=self.intercept)).times(self.theta)


def label_targets(y: Targets, k: int) -> Array:
    """What the loss is compared with: one-hot rows for k classes, the values themselves for k = 0."""
    return np.asfortranarray(np.eye(k)[y]) if k else np.asarray(y, dtype=np.float64)


def train(learner: Learner, X: Matrix, y: Targets, k: int, random_state: Seed = None) -> Model:
    """Fit a learner with known hyperparameters; y holds codes of k classes, or values with k = 0.

    >>> from duti import Ridge
    >>> train(Ridge(ridge=1e-9), np.array([[1.0], [2.0]]), np.array([2.0, 4.0]), k=0).scores(
    ...     np.array([[3.0]])
    ... )
    array([6.])
    """
    feature_map = learner.features().fit(X, generator(random_state))
    rows = Rows(features_of(feature_map, X, intercept=learner.intercept))
    fit = learner.erm(rows, k).bounded_for(y).fit(label_targets(y, k))
    return Model(feature_map, fit.theta, learner.intercept)
