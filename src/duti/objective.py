"""The debugging objective O_γ(δ) and its gradient, by one adjoint solve.

    O_γ(δ) = (1/m) Σ c_i ℓ(x̃_i, ỹ_i, θ(δ)) + (1/n) Σ ℓ(x_i, δ_i, θ(δ)) + (γ/n) distance(δ)

The gradient through the learner is −(∂g/∂δ)ᵀ H⁻¹ ∇_θ(trusted + training). At the optimum of the
learner the gradient of the training term is −Λθ, so with

    v = H⁻¹ (∇_θ trusted − Λθ),     u = Z v

one linear solve gives all of ∂O/∂δ; the Jacobian J = ∂θ/∂δ is never formed.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, vstack

from duti.arrays import Array, Matrix
from duti.errors import LearnerError
from duti.features import FittedMap, features_of
from duti.features.rows import Rows
from duti.learners import Learner
from duti.learners.erm import ERM, Fit
from duti.learners.losses import Weighted
from duti.learners.model import label_targets
from duti.problem import Problem
from duti.randomness import Seed, generator
from duti.relabelling import relabelling_of

SINGLE_PRECISION = 10_000_000
"""From this many entries on, Z of a classification is stored in float32."""
SINGLE_TOL = 1e-4
"""The smallest max|g| to which a learner is fitted in float32."""


def features_for(problem: Problem, fitted: FittedMap, *, intercept: bool) -> tuple[Matrix, Matrix]:
    """Z of the rows, in the precision that its size allows, and of the trusted items.

    >>> problem = Problem([[0.0], [1.0]], ["a", "b"], [[0.5]], ["a"])
    >>> features_for(problem, lambda X: 2 * X, intercept=True)[1]
    array([[1., 1.]])
    """
    Zt = features_of(fitted, problem.X_trusted, intercept=intercept)
    single = problem.task == "classification" and problem.n * Zt.shape[1] > SINGLE_PRECISION
    return features_of(fitted, problem.X, np.float32 if single else np.float64, intercept=intercept), Zt


@dataclass(frozen=True, eq=False)
class Evaluation:
    """O_γ(δ) with its gradient, and the learner and adjoint behind them."""

    value: float
    gradient: Array
    """∂O/∂δ: (n, k) with columns in the order of the classes, or (n,) in regression."""
    delta: Array
    gamma: float
    fit: Fit
    adjoint: Array
    """v = H⁻¹ (∇_θ trusted − Λθ)."""
    adjoint_scores: Array
    """u = Zv."""

    @property
    def evidence(self) -> Array:
        """E = s − u: how much the learner and the trusted items speak for each label."""
        return self.fit.scores - self.adjoint_scores


class Objective:
    """O_γ for a problem and a learner whose hyperparameters are known.

    >>> from duti import KernelLogistic, Problem
    >>> problem = Problem([[0.0], [0.4], [0.6], [1.0]], [0, 0, 0, 1], [[0.6]], [1])
    >>> objective = Objective(problem, KernelLogistic(bandwidth=0.5, ridge=0.01))
    >>> evaluation = objective.evaluate(objective.relabelling.start, gamma=1.0)
    >>> evaluation.gradient.shape
    (4, 2)
    """

    def __init__(
        self,
        problem: Problem,
        learner: Learner,
        random_state: Seed = None,
        *,
        features: tuple[Matrix, Matrix] | None = None,
        tol: float = 1e-10,
    ) -> None:
        """`features`: Z of the rows and of the trusted items, ones for an intercept included, if known.

        `tol`: max|g| at which the learner of the given labels is good enough to start from.
        """
        if learner.task != problem.task:
            raise LearnerError(
                f"{type(learner).__name__} learns {learner.task}, but the labels are a {problem.task}; "
                f"choose another learner or say task={learner.task!r}."
            )
        self.problem, self.learner = problem, learner
        self.relabelling = relabelling_of(problem)
        if features is None:
            fitted = learner.features().fit(problem.X, generator(random_state))
            features = features_for(problem, fitted, intercept=learner.intercept)
        self.rows, self.trusted_rows = (Rows(Z) for Z in features)
        self.erm = learner.erm(self.rows, problem.k).bounded_for(problem.y)
        self.trusted_labels = label_targets(problem.y_trusted, problem.k)
        self.tol = tol if self.rows.Z.dtype == np.float64 else max(tol, SINGLE_TOL)

    @cached_property
    def given_fit(self) -> Fit:
        """The learner trained on the labels as given."""
        labels = self.relabelling.labels(self.relabelling.start)
        return self.erm.fit(labels, tol=self.tol)

    @cached_property
    def given_value(self) -> float:
        """O(δ⁽⁰⁾): trusted and training loss of the learner trained on the labels as given."""
        labels = self.relabelling.labels(self.relabelling.start)
        loss = self.erm.loss.values(self.given_fit.scores, labels)
        return self.trusted_loss(self.given_fit.theta) + float(loss.mean())

    def evaluate(
        self, delta: Array, gamma: float = 0.0, *, start: Evaluation | None = None, tol: float = 1e-10
    ) -> Evaluation:
        """O_γ(δ) and its gradient, warm-started from another evaluation."""
        delta = np.asarray(delta, dtype=np.float64)
        labels = self.relabelling.labels(delta)
        fit = self.erm.fit(labels, self.given_fit if start is None else start.fit, tol)
        v = self._adjoint(fit, start, rtol=min(1e-6, max(tol, 1e-12)))
        u = self.erm.times(v)
        n, loss = self.problem.n, self.erm.loss
        value = self.trusted_loss(fit.theta) + float(loss.values(fit.scores, labels).mean())
        # −⟨v, g⟩ removes the first-order effect of a learner that stopped a little early.
        value += gamma / n * self.relabelling.distance(delta) - float((v * fit.gradient).sum())
        gradient = loss.d_labels(fit.scores, labels) + loss.cross(fit.scores, u)
        gradient += gamma * self.relabelling.d_distance(delta)
        return Evaluation(value, gradient / n, delta, gamma, fit, v, u)

    def repriced(self, at: Evaluation, gamma: float) -> Evaluation:
        """The same δ at another γ, which costs nothing: γ enters O only through the distance."""
        price = (gamma - at.gamma) / self.problem.n
        value = at.value + price * self.relabelling.distance(at.delta)
        gradient = at.gradient + price * self.relabelling.d_distance(at.delta)
        return dataclasses.replace(at, value=value, gradient=gradient, gamma=gamma)

    def trusted_scores(self, theta: Array) -> Array:
        """Z̃θ."""
        return self.trusted_rows.times(theta)

    def trusted_loss(self, theta: Array) -> float:
        """(1/m) Σ c_i ℓ̃_i."""
        losses = self.erm.loss.values(self.trusted_scores(theta), self.trusted_labels)
        return float(self.problem.confidence @ losses) / self.problem.m

    def pooled(self, weight: float) -> tuple[ERM, Array]:
        """The learner of rows and trusted items together, and their labels.

        θ = argmin_β (1/n) Σ_i ℓ(z_i β, y_i) + (weight/m) Σ_j ℓ(z̃_j β, ỹ_j) + ½ Σ_d penalty_d β_d²
        """
        n, m = self.problem.n, self.problem.m
        rows = Rows(_stacked(self.rows.Z, self.trusted_rows.Z))
        # The risk is a mean over n + m rows; these weights make it the sum of the two means above.
        weights = np.repeat([(n + m) / n, weight * (n + m) / max(m, 1)], [n, m]).astype(rows.Z.dtype)
        erm = ERM(rows, Weighted(self.erm.loss, weights), self.erm.penalty, self.erm.shape[1:])
        given = self.relabelling.labels(self.relabelling.start)
        return erm, np.concatenate([given, self.trusted_labels])

    def _adjoint(self, fit: Fit, start: Evaluation | None, rtol: float) -> Array:
        residual = self.erm.loss.d_scores(self.trusted_scores(fit.theta), self.trusted_labels)
        weighted = (self.problem.confidence / self.problem.m * residual.T).T
        right = self.trusted_rows.transposed_times(weighted) - self.erm.penalised(fit.theta)
        guess = np.zeros_like(right) if start is None else start.adjoint
        curvature = self.erm.loss.curvature(fit.scores)
        v, _ = self.erm.solve(curvature, right, fit.preconditioner, rtol, guess)
        return v


def _stacked(Z: Matrix, Zt: Matrix) -> Matrix:
    """Features of rows and items, in the precision of those of the rows."""
    if isinstance(Z, np.ndarray):
        return np.concatenate([Z, np.asarray(Zt, dtype=Z.dtype)])
    return csr_array(vstack([Z, Zt]))
