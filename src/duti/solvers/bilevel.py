"""The learner and its adjoint at given labels, moved together: one pass over the rows improves both.

At labels δ both solve linear systems with the same matrix, the Hessian H of the learner,

    g(δ, θ) = (1/n) Zᵀ(P − δ) + Λθ = 0          and          H v = ∇_θ trusted − Λθ.

What is left of them, d_θ = g and d_v = ∇_θ trusted − Λθ − Hv, tells how good a point is:

    O − ⟨v, g⟩ is wrong by ⟨d_v + d_θ, H⁻¹ d_θ⟩,   θ by H⁻¹ d_θ,   v by H⁻¹ d_v.

Where to move is rehearsed on a sample of the rows (`rehearsal`); one pass, Zᵀ f(Z [dθ, dv]), moves the
scores and tells what is left of both systems.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duti.arrays import Array, Ints
from duti.features.rows import gathered, with_last_column
from duti.learners.losses import SoftmaxCurvature, softmax
from duti.objective import Objective

PROBED_ROWS = 1000
"""Rows on which the accuracy of learner and adjoint is estimated."""


@dataclass(frozen=True, eq=False)
class Point:
    """Labels δ with a learner θ and an adjoint v that fit them, more or less.

    Arrays of the size of the rows have the precision of Z.
    """

    delta: NDArray[Any]
    distance: float
    """The fraction of the labels that differ from the given ones: the factor of γ in O_γ."""
    theta: Array
    v: Array
    scores: NDArray[Any]
    """s = Zθ."""
    adjoint_scores: NDArray[Any]
    """u = Zv."""
    evidence: NDArray[Any]
    """E = s − u."""
    risk: float
    """What the learner minimises."""
    d_theta: Array
    """What is left of g(δ, θ) = 0."""
    Hv: Array
    trusted: Trusted
    value: float
    """O at γ = 0, corrected by −⟨v, g⟩: accurate to second order in the errors of θ and v."""

    @property
    def d_v(self) -> Array:
        """What is left of H v = ∇_θ trusted − Λθ."""
        return self.trusted.right - self.Hv

    def priced(self, gamma: float) -> float:
        """O_γ."""
        return self.value + gamma * self.distance


@dataclass(frozen=True, eq=False)
class Trusted:
    """What the trusted items say of a learner θ."""

    scores: Array
    residual: Array
    """(c/m) (softmax(s̃) − ỹ): the derivative of the trusted loss in the trusted scores."""
    right: Array
    """∇_θ trusted − Λθ: the right side of the adjoint system."""
    loss: float


@dataclass(frozen=True, eq=False)
class Change:
    """Other labels for some of the rows of a point."""

    rows: Ints
    moves: Array
    """δ' − δ at those rows."""
    image: Array
    """Zᵀ(δ' − δ)/n."""
    farther: float
    """What it adds to the distance."""


class Bilevel:
    """The two systems of one objective, and points of them."""

    def __init__(self, objective: Objective) -> None:
        problem = objective.problem
        self.objective, self.erm, self.rows = objective, objective.erm, objective.rows
        self.n, self.k, self.dtype = problem.n, problem.k, objective.rows.Z.dtype
        self.trusted_weight = (problem.confidence / problem.m)[:, None]
        self.given = np.asfortranarray(objective.relabelling.start, dtype=self.dtype)
        self.inverse = objective.given_fit.preconditioner
        self.probed = np.random.default_rng(0).choice(self.n, min(self.n, PROBED_ROWS), replace=False)
        self.probe = objective.rows.subset(self.probed)

    def start(self) -> Point:
        """The given labels with their learner, and no adjoint yet."""
        fit, labels = self.objective.given_fit, self.objective.relabelling.start
        scores = np.asfortranarray(fit.scores, dtype=self.dtype)
        trusted, risk = self.trusted(fit.theta), self.erm.risk(fit.theta, fit.scores, labels)
        return Point(
            delta=self.given,
            distance=0.0,
            theta=fit.theta,
            v=np.zeros_like(fit.theta),
            scores=scores,
            adjoint_scores=np.zeros_like(scores),
            evidence=scores,
            risk=risk,
            d_theta=fit.gradient,
            Hv=np.zeros_like(fit.theta),
            trusted=trusted,
            value=trusted.loss + risk - self.penalty(fit.theta),
        )

    def relabelled(self, at: Point, change: Change, length: float = 1.0) -> Point:
        """The same θ and v at other labels, or part of the way to them."""
        delta = at.delta.copy(order="F")
        delta[change.rows] += length * change.moves
        image, agreement = length * change.image, length * float((change.image * at.theta).sum())
        return replace(
            at,
            delta=delta,
            distance=at.distance + length * change.farther,
            d_theta=at.d_theta - image,
            risk=at.risk - agreement,
            value=at.value - agreement + float((at.v * image).sum()),
        )

    def moved(self, at: Point, step: Array, v_step: Array) -> Point:
        """The point with a step of θ and of v, in one pass over the rows."""
        theta, v = at.theta + step, at.v + v_step
        trusted = self.trusted(theta)
        scores, adjoint_scores = np.empty_like(at.scores), np.empty_like(at.scores)
        losses: list[float] = []
        free = self.k - 1

        def residuals(block: slice, images: NDArray[Any]) -> NDArray[Any]:
            s, u, delta = scores[block], adjoint_scores[block], at.delta[block]
            np.add(at.scores[block], with_last_column(images[:, :free]), out=s)
            np.add(at.adjoint_scores[block], with_last_column(images[:, free:]), out=u)
            top = s.max(axis=1)
            P = np.exp(s - top[:, None])
            total = P.sum(axis=1)
            P /= total[:, None]
            losses.append(float((top + np.log(total) - (delta * s).sum(axis=1)).sum()))
            bent = P * (u - (P * u).sum(axis=1)[:, None])
            both = np.empty((len(s), 2 * free), dtype=self.dtype, order="F")
            np.subtract(P[:, :-1], delta[:, :-1], out=both[:, :free])
            both[:, free:] = bent[:, :-1]
            return both

        left = self.rows.through(np.hstack([step[:, :-1], v_step[:, :-1]]), residuals) / self.n
        d_theta = with_last_column(left[:, :free]) + self.erm.penalised(theta)
        loss = sum(losses) / self.n
        return replace(
            at,
            theta=theta,
            v=v,
            scores=scores,
            adjoint_scores=adjoint_scores,
            evidence=scores - adjoint_scores,
            risk=loss + self.penalty(theta),
            d_theta=d_theta,
            Hv=with_last_column(left[:, free:]) + self.erm.penalised(v),
            trusted=trusted,
            value=trusted.loss + loss - float((v * d_theta).sum()),
        )

    def tilt(self, at: Point) -> Array:
        """How wrong θ − v is, about: how the evidence, and with it every slope of O, tilts."""
        return self.inverse(at.d_theta + at.d_v)

    def slope_error(self, at: Point, image: Array) -> float:
        """How wrong the slope of O along a change with this image is, about, at a point of all rows.

        The matrix and the right side of v's system are taken as they will be at the better θ, which
        matters wherever v is large; rows that are probed tell how the matrix changes along H⁻¹ image.
        """
        step, along = -self.inverse(at.d_theta), self.inverse(image)
        s, u = (gathered(scores, self.probed) for scores in (at.scores, at.adjoint_scores))
        moved, probe_along = self.probe.times_zero_sum(step, along)
        now, then = (SoftmaxCurvature(softmax(scores)).times(u) for scores in (s, s + moved))
        bent = float(((then - now) * probe_along).sum()) / len(self.probed)
        d_v = self.trusted(at.theta + step).right - at.Hv
        return abs(float(((at.d_theta + d_v) * along).sum()) - bent)

    def uncertainty(self, at: Point) -> float:
        """How wrong the value is, at most about: ‖d_v + d_θ‖ ‖d_θ‖ in the norm of H⁻¹."""
        return self.size(at.d_theta) * self.size(at.d_v + at.d_theta)

    def size(self, r: Array) -> float:
        """‖r‖ in the norm of H⁻¹, about."""
        return self.inverse.norm(r)

    def rounding(self, at: Point) -> float:
        """Differences of the risk that mean nothing."""
        return 10 * float(np.finfo(self.dtype).eps) * abs(at.risk)

    def trusted(self, theta: Array) -> Trusted:
        """What the trusted items say of θ."""
        scores = self.objective.trusted_scores(theta)
        residual = self.trusted_weight * (softmax(scores) - self.objective.trusted_labels)
        right = self.objective.trusted_rows.transposed_times(residual) - self.erm.penalised(theta)
        return Trusted(scores, residual, right, self.objective.trusted_loss(theta))

    def penalty(self, theta: Array) -> float:
        """½ θᵀΛθ."""
        return 0.5 * float((self.erm.penalised(theta) * theta).sum())
