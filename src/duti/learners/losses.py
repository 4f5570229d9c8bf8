"""Losses ℓ(s, label) of a score s, with the derivatives that the learner and the adjoint need.

For every loss, with u an array of the shape of the scores:

    d_scores   ∂ℓ/∂s                      the residual of the fit
    curvature  ∂²ℓ/∂s²                    the middle of the Hessian Zᵀ ℓ'' Z
    d_labels   ∂ℓ/∂label at fixed s       the direct effect of changing a label
    cross      −(∂²ℓ/∂label ∂s) u         its effect through the learner: −∂g/∂δ in the paper
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from duti.arrays import Array, Ints


class Curvature(Protocol):
    """∂²ℓ/∂s² at given scores."""

    @property
    def weights(self) -> Array:
        """The curvature of each row as a preconditioner sees it: (n, 1), or (n, k), one for each class."""
        ...

    def take(self, rows: Ints | slice) -> Curvature:
        """The curvature of some of the rows."""
        ...

    def times(self, U: Array) -> Array:
        """ℓ'' U, row by row."""
        ...


class Loss(Protocol):
    """A loss that is convex and twice differentiable in the score."""

    def values(self, scores: Array, labels: Array) -> Array:
        """ℓ for each row."""
        ...

    def d_scores(self, scores: Array, labels: Array) -> Array:
        """∂ℓ/∂s."""
        ...

    def curvature(self, scores: Array) -> Curvature:
        """∂²ℓ/∂s²."""
        ...

    def d_labels(self, scores: Array, labels: Array) -> Array:
        """∂ℓ/∂label at fixed scores."""
        ...

    def cross(self, scores: Array, U: Array) -> Array:
        """−(∂²ℓ/∂label ∂s) U."""
        ...


def softmax(scores: Array) -> Array:
    """p_ij = exp(s_ij) / Σ_l exp(s_il)."""
    P = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(P / P.sum(axis=1, keepdims=True))


def log_sum_exp(scores: Array) -> Array:
    """log Σ_j exp(s_ij), safe for large scores."""
    top = scores.max(axis=1)
    return np.asarray(top + np.log(np.exp(scores - top[:, None]).sum(axis=1)))


@dataclass(frozen=True, eq=False)
class SoftmaxCurvature:
    """diag(p) − p pᵀ for each row."""

    P: Array

    @property
    def weights(self) -> Array:
        """The diagonal p (1 − p), scaled by k/(k − 1) for zero-sum columns; exact for two classes."""
        k = self.P.shape[1]
        distinct = self.P[:, :1] if k == 2 else self.P
        return np.asarray(distinct * (1 - distinct) * k / (k - 1))

    def take(self, rows: Ints | slice) -> SoftmaxCurvature:
        """The curvature of some of the rows."""
        return SoftmaxCurvature(self.P[rows])

    def times(self, U: Array) -> Array:
        """p * (u − ⟨p, u⟩)."""
        return np.asarray(self.P * (U - (self.P * U).sum(axis=1, keepdims=True)))


@dataclass(frozen=True)
class Softmax:
    """Σ_j δ_ij (log Σ_l exp s_il − s_ij) for soft labels δ_i in the simplex."""

    def values(self, scores: Array, labels: Array) -> Array:
        """Cross entropy of each row."""
        return np.asarray(log_sum_exp(scores) - (labels * scores).sum(axis=1))

    def d_scores(self, scores: Array, labels: Array) -> Array:
        """P − δ."""
        return softmax(scores) - labels

    def curvature(self, scores: Array) -> SoftmaxCurvature:
        """diag(p) − p pᵀ for each row."""
        return SoftmaxCurvature(softmax(scores))

    def d_labels(self, scores: Array, labels: Array) -> Array:  # noqa: ARG002
        """ℓ_ij = lse_i − s_ij: what the label j would cost (never log p, which underflows)."""
        return log_sum_exp(scores)[:, None] - scores

    def cross(self, scores: Array, U: Array) -> Array:
        """u_ij − Σ_l p_il u_il."""
        return np.asarray(U - (softmax(scores) * U).sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class ConstantCurvature:
    """The same curvature for each row."""

    n: int
    value: float

    @property
    def weights(self) -> Array:
        """The curvature of each row."""
        return np.full((self.n, 1), self.value)

    def take(self, rows: Ints | slice) -> ConstantCurvature:
        """The curvature of some of the rows."""
        return ConstantCurvature(rows.stop - rows.start if isinstance(rows, slice) else len(rows), self.value)

    def times(self, U: Array) -> Array:
        """ℓ'' U."""
        return self.value * U


@dataclass(frozen=True)
class Squared:
    """(label − s)²."""

    def values(self, scores: Array, labels: Array) -> Array:
        """Squared residual of each row."""
        return (labels - scores) ** 2

    def d_scores(self, scores: Array, labels: Array) -> Array:
        """2 (s − label)."""
        return 2 * (scores - labels)

    def curvature(self, scores: Array) -> ConstantCurvature:
        """2 everywhere."""
        return ConstantCurvature(len(scores), 2.0)

    def d_labels(self, scores: Array, labels: Array) -> Array:
        """2 (label − s)."""
        return 2 * (labels - scores)

    def cross(self, scores: Array, U: Array) -> Array:  # noqa: ARG002
        """2 u."""
        return 2 * U


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
