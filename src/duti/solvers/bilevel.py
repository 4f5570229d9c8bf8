"""The learner and its adjoint, moved together: one sweep over the rows improves θ and v at once.

At labels δ both solve linear systems with the same matrix, the Hessian H of the learner,

    g(δ, θ) = (1/n) Zᵀ(P − δ) + Λθ = 0          and          H v = ∇_θ trusted − Λθ.

A sweep first rehearses on a sample of the rows, kept in memory next to a preconditioner made of them:
there both systems are solved to a tenth, starting from what is known of all rows. Then one pass over
the rows, Zᵀ f(Z [dθ, dv]), moves the scores and tells what is left of both systems. A sample of ten
rows a feature predicts changes to within a tenth, so that is also about how much a sweep leaves.

What is left tells also how good a point is: with d_θ = g and d_v = ∇_θ trusted − Λθ − Hv,

    O − ⟨v, g⟩ is wrong by ⟨d_v + d_θ, H⁻¹ d_θ⟩,   θ by H⁻¹ d_θ,   v by H⁻¹ d_v.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duti.arrays import Array, Ints
from duti.features.rows import with_last_column
from duti.learners.losses import SoftmaxCurvature, log_sum_exp, softmax
from duti.objective import Objective

REHEARSED = 0.1
"""How far a rehearsal reduces what is left of the two systems."""
NEWTON_STEPS, CG_STEPS = 10, 100
LONG_REHEARSAL = 12
"""Steps of conjugate gradients after which the preconditioner is out of date."""
POOR = 0.5
"""What a sweep may leave of g; if it is more, the sample is doubled."""
SHORTEST = 1e-3
"""The shortest part of a Newton step that is tried."""


@dataclass(frozen=True, eq=False)
class Point:
    """Labels δ with a learner θ and an adjoint v that fit them, more or less.

    Arrays of the size of the rows have the precision of Z.
    """

    delta: NDArray[Any]
    theta: Array
    v: Array
    scores: NDArray[Any]
    """s = Zθ."""
    adjoint_scores: NDArray[Any]
    """u = Zv."""
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

    @property
    def evidence(self) -> NDArray[Any]:
        """E = s − u."""
        return np.asarray(self.scores - self.adjoint_scores)


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
    agreement: float
    """⟨δ' − δ, s⟩/n."""


class Bilevel:
    """The two systems of one objective."""

    def __init__(self, objective: Objective) -> None:
        problem = objective.problem
        self.objective, self.erm, self.rows = objective, objective.erm, objective.rows
        self.n, self.k, self.dtype = problem.n, problem.k, objective.rows.Z.dtype
        self.trusted_weight = (problem.confidence / problem.m)[:, None]
        self.inverse = objective.given_fit.preconditioner
        self.rehearsals, self.oversampled = 0, 1.0

    def start(self) -> Point:
        """The given labels with their learner, and no adjoint yet."""
        fit = self.objective.given_fit
        scores = np.asfortranarray(fit.scores, dtype=self.dtype)
        given = np.asfortranarray(self.objective.relabelling.start, dtype=self.dtype)
        trusted = self.trusted(fit.theta)
        risk = self.erm.risk(fit.theta, fit.scores, self.objective.relabelling.start)
        return Point(
            delta=given,
            theta=fit.theta,
            v=np.zeros_like(fit.theta),
            scores=scores,
            adjoint_scores=np.zeros_like(scores),
            risk=risk,
            d_theta=fit.gradient,
            Hv=np.zeros_like(fit.theta),
            trusted=trusted,
            value=trusted.loss + risk - self._penalty(fit.theta),
        )

    def change(self, at: Point, rows: Ints, delta: NDArray[Any], image: Array) -> Change:
        """Other labels for some rows, with Zᵀ(δ' − δ)."""
        moves = (delta - at.delta[rows]).astype(np.float64)
        differ = np.flatnonzero(moves.any(axis=1))
        rows, moves = rows[differ], moves[differ]
        return Change(rows, moves, image / self.n, float((moves * at.scores[rows]).sum()) / self.n)

    def relabelled(self, at: Point, change: Change, length: float = 1.0) -> Point:
        """The same θ and v at other labels, or part of the way to them."""
        delta = at.delta.copy(order="F")
        delta[change.rows] += length * change.moves
        moved, less = length * change.image, length * change.agreement
        value = at.value - less + float((at.v * moved).sum())
        return replace(at, delta=delta, d_theta=at.d_theta - moved, risk=at.risk - less, value=value)

    def slope_error(self, at: Point, image: Array) -> float:
        """How wrong the slope of O along a change with this image is, about, because θ and v are."""
        theta, v = self.newton(at)
        return float(((theta - v) * image).sum())

    def refresh(self, at: Point) -> None:
        """Draw the sample and build the preconditioner anew where the learner is now."""
        curvature = SoftmaxCurvature(softmax(at.scores))
        self.sample = self.erm.sample(curvature, self.oversampled)
        self.inverse = self.erm.preconditioner(curvature, self.sample)

    @property
    def is_stale(self) -> bool:
        """Whether the last rehearsal was so long that a new preconditioner would pay."""
        return self.rehearsals > LONG_REHEARSAL

    def newton(self, at: Point) -> tuple[Array, Array]:
        """How wrong θ and v are, about."""
        return self.inverse(at.d_theta), self.inverse(-at.d_v)

    def uncertainty(self, at: Point) -> float:
        """How wrong the value is, at most about: ‖d_v + d_θ‖ ‖d_θ‖ in the norm of H⁻¹."""
        return self._size(at.d_theta) * self._size(at.d_v + at.d_theta)

    def sweep(self, at: Point) -> Point:
        """One pass over the rows for a step of θ and v together."""
        step, v_step = self._rehearse(at)
        slope, length = float((at.d_theta * step).sum()), 1.0
        while True:
            reached = self._moved(at, length * step, length * v_step)
            if reached.risk <= at.risk + 1e-4 * length * slope + self._rounding(at) or length < SHORTEST:
                break
            length /= 2
        left = self._size(reached.d_theta) / max(self._size(at.d_theta), np.finfo(float).tiny)
        if left > POOR and self.sample.rows.n < self.n and self._size(at.d_theta) ** 2 > self._rounding(at):
            self.oversampled *= 2  # the sample is too small to rehearse with
            self.refresh(reached)
        return reached

    def _rehearse(self, at: Point) -> tuple[Array, Array]:
        """Solve both systems on the sample, whose errors are small against the changes it predicts.

        There g(θ + x) is taken as g(θ) + f'(x), with f the change of the mean loss over the sample less
        its first order; and H(θ + x) v likewise.
        """
        rows, share = self.sample.rows, self.sample.share.astype(self.dtype)
        s0, u = at.scores[self.sample.index], at.adjoint_scores[self.sample.index]
        P0, lse0 = softmax(s0), log_sum_exp(s0)
        s, P, x, risk, d_theta = s0, P0, np.zeros_like(at.theta), 0.0, at.d_theta

        def risk_at(x: Array, s: NDArray[Any]) -> float:
            bend = float(share @ (log_sum_exp(s) - lse0 - (P0 * (s - s0)).sum(axis=1)))
            return bend + float((at.d_theta * x).sum()) + self._penalty(x)

        self.rehearsals = 0
        for _ in range(NEWTON_STEPS):
            more, image = self._solve(P, -d_theta)
            slope, length = float((d_theta * more).sum()), 1.0
            while True:
                reached = risk_at(x + length * more, s + length * image)
                if reached <= risk + 1e-4 * length * slope + self._rounding(at) or length < SHORTEST:
                    break
                length /= 2
            x, s, risk = x + length * more, s + length * image, reached
            P = softmax(s)
            (G,) = rows.transposed_times_zero_sum(share[:, None] * (P - P0))
            d_theta = at.d_theta + G + self.erm.penalised(x)
            if self._size(d_theta) <= REHEARSED * self._size(at.d_theta):
                break
        bent = SoftmaxCurvature(P).times(u) - SoftmaxCurvature(P0).times(u)
        (B,) = rows.transposed_times_zero_sum(share[:, None] * bent)
        v_step, _ = self._solve(P, self.trusted(at.theta + x).right - at.Hv - B)
        return x, v_step

    def _solve(self, P: NDArray[Any], R: Array) -> tuple[Array, NDArray[Any]]:
        """About H⁻¹ R by conjugate gradients on the sample, and its image there."""
        rows, share, curvature = self.sample.rows, self.sample.share.astype(self.dtype), SoftmaxCurvature(P)
        X, image = np.zeros_like(R), np.zeros_like(P)
        Y = self.inverse(R)
        direction, size = Y, float((R * Y).sum())
        target = REHEARSED**2 * size
        for _ in range(CG_STEPS):
            if not size > target:
                break
            self.rehearsals += 1
            (along,) = rows.times_zero_sum(direction)
            (bent,) = rows.transposed_times_zero_sum(share[:, None] * curvature.times(along))
            bent += self.erm.penalised(direction)
            bend = float((direction * bent).sum())
            if not bend > 0:
                break
            length = size / bend
            X, R, image = X + length * direction, R - length * bent, image + self.dtype.type(length) * along
            Y = self.inverse(R)
            size, previous = float((R * Y).sum()), size
            direction = Y + (size / previous) * direction
        return X, image

    def _size(self, r: Array) -> float:
        """‖r‖ in the norm of H⁻¹, about."""
        return float(np.sqrt(max(float((r * self.inverse(r)).sum()), 0.0)))

    def _rounding(self, at: Point) -> float:
        return 10 * float(np.finfo(self.dtype).eps) * abs(at.risk)

    def trusted(self, theta: Array) -> Trusted:
        """What the trusted items say of θ."""
        scores = self.objective.trusted_scores(theta)
        residual = self.trusted_weight * (softmax(scores) - self.objective.trusted_labels)
        right = self.objective.trusted_rows.transposed_times(residual) - self.erm.penalised(theta)
        return Trusted(scores, residual, right, self.objective.trusted_loss(theta))

    def _moved(self, at: Point, step: Array, v_step: Array) -> Point:
        """The point with a step of θ and of v."""
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
        return Point(
            delta=at.delta,
            theta=theta,
            v=v,
            scores=scores,
            adjoint_scores=adjoint_scores,
            risk=loss + self._penalty(theta),
            d_theta=d_theta,
            Hv=with_last_column(left[:, free:]) + self.erm.penalised(v),
            trusted=trusted,
            value=trusted.loss + loss - float((v * d_theta).sum()),
        )

    def _penalty(self, theta: Array) -> float:
        return 0.5 * float((self.erm.penalised(theta) * theta).sum())
