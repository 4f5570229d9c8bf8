"""Rows and trusted items in one training set.

θ = argmin_β (1/n) Σ_i ℓ(z_i β, y_i) + (weight/m) Σ_j ℓ(z̃_j β, ỹ_j) + ½ Σ_d penalty_d β_d²
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack

from duti.arrays import Array, Ints, Matrix
from duti.baselines.fitted import disagreements, surprise, tuned
from duti.errors import ProblemError
from duti.features.rows import Rows
from duti.findings import Findings
from duti.learners import Learner
from duti.learners.erm import ERM
from duti.learners.losses import Curvature, Loss
from duti.objective import SINGLE_TOL, Objective
from duti.problem import Problem
from duti.randomness import Seed


@dataclass(frozen=True)
class Pooled:
    """Rows by the loss of their label under a learner trained on them and on the trusted items.

    The score is 1 − p(given label), or the absolute residual. Flags rows where another label is
    predicted, which is the fix. All trusted items together weigh `weight` times as much as all rows;
    the ridge, tuned on the rows as given where it is None, stays that of the rows. Confidences play no part.

    >>> from duti import KernelLogistic
    >>> X, y = [[0.0], [0.1], [0.9], [1.0]], ["b", "b", "b", "a"]
    >>> problem = Problem(X, y, [[0.05], [0.9]], ["a", "b"])
    >>> Pooled(KernelLogistic(0.3, 0.01), budget=4, weight=3.0).rank(problem).flagged
    array([0, 1])
    """

    learner: Learner | None = None
    budget: int | None = None
    random_state: Seed = None
    weight: float = 1.0

    def rank(self, problem: Problem) -> Findings:
        """Tune the learner on the rows, fit it to everything."""
        if not (np.isfinite(self.weight) and self.weight >= 0):
            raise ProblemError(f"weight is {self.weight}; use a finite number, 0 or above.")
        learner = tuned(problem, self.learner, self.random_state)
        objective = Objective(problem, learner, self.random_state)
        n, m = problem.n, problem.m
        rows = Rows(_stacked(objective.rows.Z, objective.trusted_rows.Z))
        # The risk is a mean over n + m rows; these weights make it the sum of the two means above.
        weights = np.repeat([(n + m) / n, self.weight * (n + m) / max(m, 1)], [n, m]).astype(rows.Z.dtype)
        erm = ERM(rows, Weighted(objective.erm.loss, weights), objective.erm.penalty, objective.erm.shape[1:])
        given = objective.relabelling.labels(objective.relabelling.start)
        labels = np.concatenate([given, objective.trusted_labels])
        fit = erm.fit(labels, tol=1e-10 if rows.Z.dtype == np.float64 else SINGLE_TOL)
        scores = fit.scores[:n]
        return disagreements(problem, scores, surprise(problem, scores), budget=self.budget, learner=learner)


def _stacked(Z: Matrix, Zt: Matrix) -> Matrix:
    """Features of rows and items, in the precision of those of the rows."""
    if isinstance(Z, np.ndarray):
        return np.concatenate([Z, np.asarray(Zt, dtype=Z.dtype)])
    return csr_array(vstack([Z, Zt]))


@dataclass(frozen=True, eq=False)
class WeightedCurvature:
    """w_i ∂²ℓ/∂s² for each row."""

    curvature: Curvature
    w: Array

    @property
    def weights(self) -> Array:
        """Those of the loss, times w."""
        return self.w[:, None] * self.curvature.weights

    def take(self, rows: Ints | slice) -> WeightedCurvature:
        """The curvature of some of the rows."""
        return WeightedCurvature(self.curvature.take(rows), self.w[rows])

    def times(self, U: Array) -> Array:
        """w ℓ'' U, row by row."""
        return _scaled(self.w, self.curvature.times(U))


@dataclass(frozen=True, eq=False)
class Weighted:
    """w_i ℓ(s_i, label_i): some rows count more than others."""

    loss: Loss
    w: Array

    def values(self, scores: Array, labels: Array) -> Array:
        """w ℓ for each row."""
        return self.w * self.loss.values(scores, labels)

    def d_scores(self, scores: Array, labels: Array) -> Array:
        """w ∂ℓ/∂s."""
        return _scaled(self.w, self.loss.d_scores(scores, labels))

    def curvature(self, scores: Array) -> WeightedCurvature:
        """w ∂²ℓ/∂s²."""
        return WeightedCurvature(self.loss.curvature(scores), self.w)

    def d_labels(self, scores: Array, labels: Array) -> Array:
        """w ∂ℓ/∂label at fixed scores."""
        return _scaled(self.w, self.loss.d_labels(scores, labels))

    def cross(self, scores: Array, U: Array) -> Array:
        """−w (∂²ℓ/∂label ∂s) U."""
        return _scaled(self.w, self.loss.cross(scores, U))


def _scaled(w: Array, values: Array) -> Array:
    """Rows times their weights."""
    return np.asarray((w * values.T).T)
