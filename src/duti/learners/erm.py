"""The learner of the paper: a regularised empirical risk minimiser over features Z.

    θ(labels) = argmin_β (1/n) Σ_i ℓ(z_i β, label_i) + ½ Σ_d penalty_d β_d²

solved by Newton steps whose linear systems go to preconditioned conjugate gradients, so the
Hessian H = (1/n) Zᵀ ℓ'' Z + diag(penalty) is needed only in products.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duti.arrays import Array, Targets
from duti.features.rows import Rows, with_last_column
from duti.learners.losses import Curvature, Loss, SoftmaxCurvature
from duti.learners.preconditioner import (
    COUPLED_FEATURES,
    BlockPreconditioner,
    CoupledPreconditioner,
    Sample,
    block_preconditioner,
    coupled_preconditioner,
    draw,
)

Preconditioner = BlockPreconditioner | CoupledPreconditioner

STALE = 6
"""Conjugate-gradient steps after which the preconditioner is built anew,"""
STALE_SMALL, SMALL = 2, 50_000
"""or so few, where Z has at most this many entries and a new one costs no more than a few products."""
NEWTON_STEPS = 100
CG_STEPS = 500


@dataclass(frozen=True, eq=False)
class Fit:
    """The learner at its optimum for some labels."""

    theta: Array
    scores: Array
    """Zθ."""
    gradient: Array
    """What is left of the KKT condition g(δ, θ) = 0."""
    preconditioner: Preconditioner
    converged: bool


class ERM:
    """Rows Z, a loss and a penalty: everything but the labels."""

    def __init__(self, rows: Rows, loss: Loss, penalty: Array, columns: tuple[int, ...]) -> None:
        self.rows, self.loss, self.penalty = rows, loss, penalty
        self.shape = (rows.D, *columns)

    def bounded_for(self, y: Targets) -> ERM:
        """The same, with a penalty on the intercept if there is a class without a row.

        The risk falls for ever as the intercept of such a class goes to −∞: without a penalty there is no
        minimum, and Newton's method ends where rounding or the number of its steps stops it.
        """
        k = self.shape[1] if len(self.shape) > 1 else 0
        if self.penalty[-1] > 0 or len(np.unique(y)) >= k:
            return self
        penalty = self.penalty.copy()
        penalty[-1] = penalty.max()
        return ERM(self.rows, self.loss, penalty, self.shape[1:])

    def penalised(self, theta: Array) -> Array:
        """Λθ."""
        return np.asarray((self.penalty * theta.T).T)

    def risk(self, theta: Array, scores: Array, labels: Array) -> float:
        """(1/n) Σ ℓ + ½ θᵀΛθ."""
        loss = float(self.loss.values(scores, labels).mean())
        return loss + 0.5 * float((self.penalised(theta) * theta).sum())

    def d_theta(self, theta: Array, scores: Array, labels: Array) -> Array:
        """The gradient of the risk: the KKT condition of the paper, g(δ, θ)."""
        residual = self.loss.d_scores(scores, labels)
        return self._transposed_times(residual) / self.rows.n + self.penalised(theta)

    def hessian_times(self, curvature: Curvature, V: Array) -> Array:
        """H V, in one pass over the rows."""
        columns = V if V.ndim == 1 else V[:, :-1]

        def bent(block: slice, image: NDArray[Any]) -> NDArray[Any]:
            if V.ndim == 1:
                return curvature.take(block).times(image)
            return curvature.take(block).times(with_last_column(image))[:, :-1]

        product = self.rows.through(columns, bent) / self.rows.n
        return (product if V.ndim == 1 else with_last_column(product)) + self.penalised(V)

    def times(self, V: Array) -> Array:
        """Z V; several columns are those of a softmax and sum to zero."""
        return self.rows.times(V) if V.ndim == 1 else self.rows.times_zero_sum(V)[0]

    def _transposed_times(self, R: Array) -> Array:
        return self.rows.transposed_times(R) if R.ndim == 1 else self.rows.transposed_times_zero_sum(R)[0]

    def sample(self, curvature: Curvature, times: float = 1.0) -> Sample:
        """All rows, or as many as a preconditioner needs, or so many times more."""
        return draw(self.rows, curvature.weights, times)

    def preconditioner(self, curvature: Curvature) -> Preconditioner:
        """An approximate inverse of H; exact for few rows, features and classes."""
        sample = self.sample(curvature)
        return self.preconditioner_of(sample, curvature.take(sample.index))

    def preconditioner_of(self, sample: Sample, curvature: Curvature) -> Preconditioner:
        """The same from a sample, with the curvature at its rows."""
        if isinstance(curvature, SoftmaxCurvature) and self._coupled:
            return coupled_preconditioner(sample, curvature.P, self.penalty)
        return self.metric(sample, curvature)

    def metric(self, sample: Sample, curvature: Curvature) -> BlockPreconditioner:
        """An approximate inverse of H with one block for each class."""
        return block_preconditioner(sample, curvature.weights, self.penalty)

    @property
    def _coupled(self) -> bool:
        """Whether the Hessian is factored whole: for two classes there is but one block."""
        k = self.shape[1] if len(self.shape) > 1 else 2
        return k > 2 and self.rows.D * (k - 1) <= COUPLED_FEATURES

    def solve(
        self, curvature: Curvature, B: Array, M: Preconditioner, rtol: float, start: Array
    ) -> tuple[Array, int]:
        """H⁻¹ B by preconditioned conjugate gradients, and the number of steps it took."""
        X = start.copy()
        R = B - self.hessian_times(curvature, X) if X.any() else B.copy()
        target = rtol**2 * float((B * M(B)).sum())
        Y = M(R)
        direction, size = Y, float((R * Y).sum())
        for step in range(CG_STEPS):
            if size <= target or size <= 0:
                return X, step
            bent = self.hessian_times(curvature, direction)
            bend = float((direction * bent).sum())
            if not bend > 0:  # nothing left but rounding
                return X, step
            length = size / bend
            X += length * direction
            R -= length * bent
            Y = M(R)
            size, previous = float((R * Y).sum()), size
            direction = Y + (size / previous) * direction
        return X, CG_STEPS

    def fit(self, labels: Array, start: Fit | None = None, tol: float = 1e-10) -> Fit:
        """θ(labels) by Newton's method, to max|g| ≤ tol.

        From the fit at other labels, the first Newton step is the paper's linear prediction
        θ + (∂θ/∂δ)(δ' − δ), because g there is −∂g/∂δ-times the change of the labels.
        """
        if start is None:
            theta, scores, M = np.zeros(self.shape), self._zero_scores(), None
        else:
            theta, scores, M = start.theta, start.scores, start.preconditioner
        gradient, converged = self.d_theta(theta, scores, labels), False
        for _ in range(NEWTON_STEPS):
            size = float(abs(gradient).max())
            converged = size <= tol
            if converged:
                break
            curvature = self.loss.curvature(scores)
            M = M or self.preconditioner(curvature)
            rtol = min(0.3, max(np.sqrt(size), 0.5 * tol / size))
            step, iterations = self.solve(curvature, -gradient, M, rtol, np.zeros_like(theta))
            if iterations > (STALE_SMALL if self.rows.n * self.rows.D <= SMALL else STALE):
                M = None
            moved = self._line_search(theta, scores, labels, gradient, step)
            if moved is None:
                break
            theta, scores = moved
            gradient = self.d_theta(theta, scores, labels)
        M = M or self.preconditioner(self.loss.curvature(scores))
        return Fit(theta, scores, gradient, M, converged)

    def _zero_scores(self) -> Array:
        return np.zeros((self.rows.n, *self.shape[1:]), dtype=self.rows.Z.dtype, order="F")

    def _line_search(
        self, theta: Array, scores: Array, labels: Array, gradient: Array, step: Array
    ) -> tuple[Array, Array] | None:
        """The longest of the steps 1, ½, ¼ … that lowers the risk; None at the limit of rounding."""
        risk, slope = self.risk(theta, scores, labels), float((gradient * step).sum())
        moved_scores, rounding = self.times(step), 100 * np.finfo(scores.dtype).eps
        length = 1.0
        while length > 1e-10:
            trial, trial_scores = (
                theta + length * step,
                scores + moved_scores.dtype.type(length) * moved_scores,
            )
            reached = self.risk(trial, trial_scores, labels)
            if reached <= risk + 1e-4 * length * slope + rounding * abs(risk):
                return trial, trial_scores
            length /= 2
        return None
