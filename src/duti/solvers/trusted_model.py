"""A model of O_γ around labels δ_k, whose curvature is that of the trusted items.

The trusted scores follow the labels almost linearly: with M ≈ H, they move by

    a(δ) = ρ Z̃ M⁻¹ Zᵀ(δ − δ_k) / n,

ρ a scalar that makes up for what M misses. What else bends O is left to a proximal term:

    min_{δ in the simplices}  ⟨∇O, δ − δ_k⟩ + F̂(a(δ)) − F̂(0) − ⟨r_k, a(δ)⟩ + (σ/2n) ‖δ − δ_k‖²

with F̂ a convex model of the trusted loss whose slope at 0 is r_k. Its dual has one unknown for each
trusted score; given r = F̂'(x), every row is a projection by itself:

    δ(r) = project(δ_k − (n∇O + ρ Z M⁻¹ Z̃ᵀ(r − r_k)) / σ)

and x − a(δ(F̂'(x))) = 0 is solved by a semismooth Newton method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duti.arrays import Array, Ints, Mask
from duti.features.rows import Rows, gathered
from duti.learners.losses import log_sum_exp, softmax
from duti.solvers.projected_gradient import project_simplex

CG_STEPS = 200


@dataclass(frozen=True, eq=False)
class TrustedLoss:
    """F̂(x): the trusted loss when the trusted scores move by x.

    Items that are wrong by far have a loss that is straight in x, which would let the model go on for
    ever; for them −τ log(1 + t/τ) in the direction t of steepest descent bends like the loss of what
    their label will be worth.
    """

    scores: Array
    labels: Array
    """One row for each item, 1 at its label."""
    weight: Array
    """c/m, a column."""
    descent: Array
    """ỹ − softmax(s̃)."""
    wrong: Mask
    """Items whose label has less than half of the probability."""
    reach: float = 1.0
    """How far, in log-odds, their loss is trusted to stay straight."""

    @classmethod
    def at(cls, scores: Array, labels: Array, weight: Array, reach: float) -> TrustedLoss:
        """The model around given trusted scores."""
        P = softmax(scores)
        return cls(scores, labels, weight, labels - P, (P * labels).sum(axis=1) < 0.5, reach)

    @property
    def start(self) -> Array:
        """r_k: the slope at x = 0."""
        return -self.weight * self.descent

    def evaluate(self, x: Array) -> tuple[float, Array, Callable[[Array], Array]]:
        """F̂, its slope r, and its curvature as a function z ↦ F̂'' z."""
        s, w, wrong = self.scores + x, self.weight, self.wrong
        P = softmax(s)
        losses = log_sum_exp(s) - (self.labels * s).sum(axis=1)
        slope = P - self.labels
        t = (self.descent * x).sum(axis=1)
        up, down = 1 + np.maximum(t, 0) / self.reach, np.minimum(t, 0)
        bend = np.maximum(down, -0.5)  # t < 0: −t + t²/2, straight below −½
        start = log_sum_exp(self.scores) - (self.labels * self.scores).sum(axis=1)
        modelled = start - self.reach * np.log(up) - down + bend**2 / 2 + (down - bend) * bend
        losses = np.where(wrong, modelled, losses)
        slope = np.where(wrong[:, None], -self.descent * (1 / up - bend)[:, None], slope)
        curvature = np.where(t > 0, 1 / (self.reach * up**2), (t > -0.5) * 1.0)

        def bent(z: Array) -> Array:
            logistic = P * (z - (P * z).sum(axis=1, keepdims=True))
            along = self.descent * ((self.descent * z).sum(axis=1) * curvature)[:, None]
            return np.asarray(w * np.where(wrong[:, None], along, logistic))

        return float((w[:, 0] * losses).sum()), np.asarray(w * slope), bent


@dataclass(frozen=True, eq=False)
class Metric:
    """How labels of some rows move the trusted scores: δ ↦ ρ Z̃ M⁻¹ Zᵀδ / n."""

    rows: Rows
    W: tuple[Array, ...]
    """M⁻¹ Z̃ᵀ (D×m), one for all classes or one for each."""
    rho: float

    def pull(self, r: Array) -> NDArray[Any]:
        """ρ Z M⁻¹ Z̃ᵀ r: what changed slopes at the trusted items do to every row."""
        return self.rows.times_zero_sum(self.rho * self._by_class(r, transposed=False))[0]

    def push(self, moved: NDArray[Any]) -> tuple[Array, Array]:
        """Zᵀδ, and ρ Z̃ M⁻¹ Zᵀδ: what changed labels do to the trusted scores, times n."""
        (image,) = self.rows.transposed_times_zero_sum(moved)
        return image, self.rho * self._by_class(image, transposed=True)

    def some(self, rows: Ints) -> Metric:
        """The same for some of the rows."""
        return replace(self, rows=self.rows.subset(rows))

    def _by_class(self, values: Array, *, transposed: bool) -> Array:
        W = [w.T for w in self.W] if transposed else self.W
        if len(W) == 1:
            return np.asarray(W[0] @ values)
        columns = np.column_stack([w @ values[:, j] for j, w in enumerate(W)])
        return np.asarray(columns - columns.mean(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class ModelSolution:
    """The minimum of the model."""

    delta: Array
    x: Array
    """The dual unknown, for a warm start."""
    r: Array
    """Slope of F̂ there."""
    image: Array
    """Zᵀ(δ − δ_k)."""
    moved: Array
    """a(δ): predicted move of the trusted scores."""
    loss: float
    """F̂(a(δ))."""


@dataclass(frozen=True, eq=False)
class Model:
    """The model on some rows."""

    loss: TrustedLoss
    metric: Metric
    free_step: Array
    """δ_k − n∇O/σ: where the rows would go if the trusted items did not bend."""
    delta: Array
    """δ_k."""
    sigma: float
    n: int
    """Number of all rows."""

    def minimise(self, x: Array, tol: float, steps: int) -> ModelSolution:
        """So many steps at most of a semismooth Newton method on the dual, from x."""
        at = self._at(x)
        for _ in range(steps):
            if float((at.gap * at.bent(at.gap)).sum()) <= tol**2:
                break
            step = _newton_step(self.metric, at.delta, at.bent, at.gap, self.sigma * self.n)
            slope, length = float((at.gap * at.bent(step)).sum()), 1.0
            reached = self._at(at.x + step)
            while reached.value > at.value + 1e-4 * length * slope + 1e-10 * abs(at.value) and length > 1e-4:
                length /= 2
                reached = self._at(at.x + length * step)
            at = reached
            if abs(slope) < 1e-9:
                break
        image, pushed = self.metric.push(at.delta - self.delta)
        moved = pushed / self.n
        return ModelSolution(at.delta, at.x, at.r, image, moved, self.loss.evaluate(moved)[0])

    def _at(self, x: Array) -> _Dual:
        value, r, bent = self.loss.evaluate(x)
        target = self.free_step - self.metric.pull(r - self.loss.start) / self.sigma
        found = project_simplex(target)
        moved = found - self.delta
        gap = x - self.metric.push(moved)[1] / self.n
        prox = self.sigma * float(((self.delta - target) * moved).sum() + 0.5 * (moved**2).sum()) / self.n
        dual = float((r * x).sum()) - value - prox
        return _Dual(x, dual, r, found, gap - gap.mean(axis=1, keepdims=True), bent)


@dataclass(frozen=True, eq=False)
class _Dual:
    x: Array
    value: float
    r: Array
    delta: Array
    gap: Array
    """x − a(δ(r)): zero at the solution."""
    bent: Callable[[Array], Array]


def _newton_step(
    metric: Metric, found: Array, bent: Callable[[Array], Array], gap: Array, scale: float
) -> Array:
    """Solve (I + B F̂'') z = −gap by conjugate gradients in the inner product of F̂''.

    B = A T Aᵀ / (nσ) with A = ρ Z̃ M⁻¹ Zᵀ and T the derivative of the projections: rows between corners.
    """
    between = np.flatnonzero((found > 0).sum(axis=1) > 1)
    inside = metric.some(between)
    support = (gathered(found, between) > 0).astype(np.float64)
    count = support.sum(axis=1, keepdims=True)

    def B(z: Array) -> Array:
        pulled = inside.pull(z)
        return (
            inside.push(support * (pulled - (support * pulled).sum(axis=1, keepdims=True) / count))[1] / scale
        )

    z, rest = np.zeros_like(gap), -gap
    direction, bent_rest = rest, bent(rest)
    size = first = float((rest * bent_rest).sum())
    for _ in range(CG_STEPS):
        if size <= 1e-3 * first or size <= 0:
            break
        bent_direction = bent(direction)
        image = direction + B(bent_direction)
        length = size / float((bent_direction * image).sum())
        z, rest = z + length * direction, rest - length * image
        bent_rest = bent(rest)
        size, previous = float((rest * bent_rest).sum()), size
        direction = rest + size / previous * direction
    return z
