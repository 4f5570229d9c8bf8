"""The learner and its adjoint, moved together: one sweep over the rows improves θ and v at once.

At labels δ both solve linear systems with the same matrix, the Hessian H of the learner,

    g(δ, θ) = (1/n) Zᵀ(P − δ) + Λθ = 0          and          H v = ∇_θ trusted − Λθ,

so each sweep multiplies Z and Zᵀ once with the columns of both. The steps are those of conjugate
gradients: along the preconditioned residual and the step before, their lengths from products of
length n that need no further sweep.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from duti.arrays import Array
from duti.features.rows import with_last_column
from duti.learners.erm import Preconditioner
from duti.learners.losses import SoftmaxCurvature, log_sum_exp, softmax
from duti.objective import Objective


@dataclass(frozen=True, eq=False)
class Point:
    """Labels δ with a learner θ and an adjoint v that fit them, more or less."""

    delta: Array
    theta: Array
    v: Array
    scores: Array
    """s = Zθ."""
    adjoint_scores: Array
    """u = Zv."""
    P: Array
    """softmax(s)."""
    d_theta: Array
    """What is left of g(δ, θ) = 0."""
    d_v: Array
    """What is left of H v = ∇_θ trusted − Λθ."""
    trusted_scores: Array
    trusted_residual: Array
    """(c/m) (softmax(s̃) − ỹ): the derivative of the trusted loss in the trusted scores."""
    value: float
    """O at γ = 0, corrected by −⟨v, g⟩: accurate to second order in the errors of θ and v."""

    @property
    def evidence(self) -> Array:
        """E = s − u."""
        return self.scores - self.adjoint_scores


@dataclass(frozen=True, eq=False)
class Steps:
    """The last step of θ and of v, with their images under Z."""

    theta: tuple[Array, Array]
    v: tuple[Array, Array]

    @property
    def size(self) -> float:
        """How far the evidence moved, as a root mean square over the rows."""
        return float(np.sqrt(np.mean(self.theta[1] ** 2) + np.mean(self.v[1] ** 2)))


class Bilevel:
    """The two systems of one objective."""

    def __init__(self, objective: Objective) -> None:
        problem = objective.problem
        self.objective, self.erm, self.rows = objective, objective.erm, objective.rows
        self.n, self.k = problem.n, problem.k
        self.trusted_weight = (problem.confidence / problem.m)[:, None]
        self.M: Preconditioner = objective.given_fit.preconditioner

    def start(self) -> Point:
        """The given labels with their learner, and no adjoint yet."""
        fit, given = self.objective.given_fit, self.objective.relabelling.start
        zero = np.zeros_like(fit.theta), np.zeros_like(fit.scores)
        return self._point(given, (fit.theta, fit.scores), zero)

    def relabelled(self, at: Point, delta: Array) -> Point:
        """The same θ and v at other labels; only the rows that changed are touched."""
        changed = np.flatnonzero((delta != at.delta).any(axis=1))
        moved = self.rows.subset(changed).transposed_times((delta - at.delta)[changed]) / self.n
        value = (
            at.value + float(((at.delta - delta) * at.scores).sum()) / self.n + float((at.v * moved).sum())
        )
        return replace(at, delta=delta, d_theta=at.d_theta - moved, value=value)

    def refresh(self, at: Point) -> None:
        """Build the preconditioner anew where the learner is now."""
        self.M = self.erm.preconditioner(SoftmaxCurvature(at.P))

    def _newton(self, at: Point) -> tuple[Array, Array]:
        """Approximate Newton steps of θ and v: what is left of the two systems, preconditioned."""
        if self.k > 2:
            return -self.M(at.d_theta), self.M(at.d_v)
        both = self.M(np.hstack([-at.d_theta[:, :-1], at.d_v[:, :-1]]))
        return with_last_column(both[:, : self.k - 1]), with_last_column(both[:, self.k - 1 :])

    def sweep(self, at: Point, last: Steps | None) -> tuple[Point, Steps]:
        """One product with Z and one with Zᵀ for θ and v together."""
        ahead = self._newton(at)
        images = self.rows.times_zero_sum(*ahead)
        curvature = SoftmaxCurvature(at.P)
        theta_step = self._best_step(
            curvature, -at.d_theta, (ahead[0], images[0]), last.theta if last else None
        )
        v_step = self._best_step(curvature, at.d_v, (ahead[1], images[1]), last.v if last else None)
        theta_step = self._damped(at, theta_step)
        moved = self._point(
            at.delta,
            (at.theta + theta_step[0], at.scores + theta_step[1]),
            (at.v + v_step[0], at.adjoint_scores + v_step[1]),
        )
        return moved, Steps(theta_step, v_step)

    def _point(self, delta: Array, theta: tuple[Array, Array], v: tuple[Array, Array]) -> Point:
        """Complete a point: one product with Zᵀ."""
        P, labels = softmax(theta[1]), self.objective.trusted_labels
        bent = SoftmaxCurvature(P).times(v[1])
        g, Hv = self.rows.transposed_times_zero_sum(P - delta, bent)
        d_theta = g / self.n + self.erm.penalised(theta[0])
        trusted_scores = self.objective.trusted_scores(theta[0])
        residual = self.trusted_weight * (softmax(trusted_scores) - labels)
        right = self.objective.trusted_rows.transposed_times(residual) - self.erm.penalised(theta[0])
        value = self.objective.trusted_loss(theta[0]) - float((v[0] * d_theta).sum())
        value += float(log_sum_exp(theta[1]).mean()) - float((delta * theta[1]).sum()) / self.n
        return Point(
            delta=delta,
            theta=theta[0],
            v=v[0],
            scores=theta[1],
            adjoint_scores=v[1],
            P=P,
            d_theta=d_theta,
            d_v=right - Hv / self.n - self.erm.penalised(v[0]),
            trusted_scores=trusted_scores,
            trusted_residual=residual,
            value=value,
        )

    def _best_step(
        self,
        curvature: SoftmaxCurvature,
        downhill: Array,
        ahead: tuple[Array, Array],
        last: tuple[Array, Array] | None,
    ) -> tuple[Array, Array]:
        """argmin ½⟨x, Hx⟩ − ⟨downhill, x⟩ over the span of two directions: a step of conjugate gradients."""
        basis = [ahead] if last is None else [ahead, last]
        bent = [(self.erm.penalised(x), curvature.times(image)) for x, image in basis]
        gram = np.array(
            [
                [float((x * px).sum()) + float((image * ci).sum()) / self.n for px, ci in bent]
                for x, image in basis
            ]
        )
        size = np.sqrt(np.maximum(np.diag(gram), np.finfo(float).tiny))
        gram = gram / np.outer(size, size)
        slope = np.array([float((downhill * x).sum()) for x, _ in basis]) / size
        if len(basis) == 1 or gram[0, 1] ** 2 > 1 - 1e-6:  # two directions that are one, up to rounding
            lengths = slope[:1]
        else:
            lengths = np.linalg.solve(gram, slope)
        steps = [length / scale for length, scale in zip(lengths, size, strict=False)]
        x = sum(length * x for length, (x, _) in zip(steps, basis, strict=False))
        image = sum(length * image for length, (_, image) in zip(steps, basis, strict=False))
        return np.asarray(x), np.asarray(image)

    def _damped(self, at: Point, step: tuple[Array, Array]) -> tuple[Array, Array]:
        """Shorten a Newton step of θ until it lowers the risk of the learner."""
        risk, slope = self.erm.risk(at.theta, at.scores, at.delta), float((at.d_theta * step[0]).sum())
        length = 1.0
        while length > 1e-4:
            reached = self.erm.risk(at.theta + length * step[0], at.scores + length * step[1], at.delta)
            if reached <= risk + 1e-4 * length * slope + 1e-12 * abs(risk):
                break
            length /= 2
        return length * step[0], length * step[1]
