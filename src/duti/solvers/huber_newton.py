"""Regression: the weighted lasso in n unknowns is a Huber problem in D unknowns.

With η = γ/2 (in the units of the label), M = n·diag(λ, …, λ, 0 for an intercept), G = ZᵀZ + M and
G₂ = ZᵀZ + 2M, the optimality conditions of the paper's lasso are

    δ = soft(Zh − y, η);   G w = Zᵀ(y + δ);   τ = (n/m) C (ỹ − Z̃w);   G h = G w + M w + Z̃ᵀτ

so δ is known from h alone. For active rows A with signs s, and I the others, h solves

    P_I h = a + Bτ,   P_I = Z_IᵀZ_I + M G₂⁻¹ M,   a = Z_Iᵀy_I − η Z_Aᵀs,   B = (I − M G₂⁻¹) Z̃ᵀ
    [BᵀP_I⁻¹B − Z̃ G₂⁻¹ Z̃ᵀ + (m/n) C⁻¹] τ = ỹ − BᵀP_I⁻¹a

Newton's method alternates between h and A; when A stays the same, the solution is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve

from duti.arrays import Array
from duti.errors import LearnerError
from duti.objective import Objective
from duti.solvers import Solution

MOST_FEATURES = 10_000


def soft_threshold(r: Array, eta: float) -> Array:
    """argmin_z ½(z − r)² + η|z|."""
    return np.asarray(np.sign(r) * np.maximum(abs(r) - eta, 0))


@dataclass(frozen=True)
class HuberNewton:
    """Newton's method on the active set, warm-started, with smaller steps of γ where it cycles.

    A step has converged when its relative duality gap is at most `rtol`.
    """

    rtol: float = 1e-9
    max_steps: int = 30
    max_bisections: int = 60

    def prepare(self, objective: Objective) -> PreparedHuberNewton:
        """Factor the ridge systems that every γ shares."""
        return PreparedHuberNewton(objective, self)


class PreparedHuberNewton:
    """The factored systems of one objective."""

    def __init__(self, objective: Objective, settings: HuberNewton) -> None:
        problem, rows = objective.problem, objective.rows
        if rows.D > MOST_FEATURES:
            raise LearnerError(
                f"X has {rows.D} columns, and ridge regression solves a system of that size; "
                f"reduce it to at most {MOST_FEATURES} (for instance with scikit-learn's TruncatedSVD)."
            )
        self.rows, self.y, self.free, self.settings = rows, problem.y, ~problem.frozen, settings
        self.n, self.m = problem.n, problem.m
        trusted = problem.confidence > 0  # an item with c = 0 says nothing, but m still counts it
        self.Zt = objective.trusted_rows.take(trusted)
        self.yt = problem.y_trusted[trusted]
        self.weight = self.n / self.m * problem.confidence[trusted]
        self.M = self.n * objective.erm.penalty / 2
        self.H = rows.gram()
        self.Zy = rows.transposed_times(self.y)
        self.G = _factor(self.H + np.diag(self.M))
        G2 = _factor(self.H + 2 * np.diag(self.M))
        self.B = self.Zt.T - self.M[:, None] * cho_solve(G2, self.Zt.T)
        self.E = self.Zt @ cho_solve(G2, self.Zt.T)
        R = self.M[:, None] * cho_solve(G2, np.diag(self.M))
        self.R = (R + R.T) / 2
        start = self._refit(np.zeros(self.n))
        self.target = start.residual, start.trusted_residual

    def start(self) -> Solution:
        """The given labels."""
        return self._solution(0.0, np.zeros(self.n))

    def solve(self, gamma: float, previous: Solution) -> Solution:
        """argmin O_γ from the previous δ; where Newton cycles, by way of larger γ."""
        todo, at = [gamma], previous
        for _ in range(self.settings.max_bisections):
            delta = self._newton(todo[-1] / 2, at.delta)
            if delta is None:
                above = at.gamma if at.gamma > todo[-1] else 2 * todo[-1]
                todo.append(float(np.sqrt(todo[-1] * above)))
                continue
            at = self._solution(todo.pop(), delta)
            if not todo:
                return at
        return self._solution(gamma, at.delta)

    def _newton(self, eta: float, delta: Array) -> Array | None:
        """δ at η, or None if the active sets cycle or a system is singular."""
        signs, seen = np.sign(delta), set()
        for _ in range(self.settings.max_steps):
            try:
                residual = self.rows.times(self._optimal_h(eta, signs)) - self.y
            except LinAlgError:
                return None
            moved = np.where(self.free, soft_threshold(residual, eta), 0.0)
            if np.array_equal(np.sign(moved), signs):
                return moved
            signs = np.sign(moved)
            key = signs.tobytes()
            if key in seen:
                return None
            seen.add(key)
        return None

    def _optimal_h(self, eta: float, signs: Array) -> Array:
        """h for given active rows and signs: one D×D and one m×m system."""
        active = np.flatnonzero(signs)
        Z_A = self.rows.take(active)
        a = self.Zy - Z_A.T @ (self.y[active] + eta * signs[active])
        P = _factor(self.H - Z_A.T @ Z_A + self.R)
        x, V = cho_solve(P, a), cho_solve(P, self.B)
        small = self.B.T @ V - self.E + np.diag(1 / self.weight)
        tau = solve((small + small.T) / 2, self.yt - self.B.T @ x, assume_a="sym")
        return np.asarray(x + V @ tau)

    def _refit(self, delta: Array) -> _Refit:
        """The learner w and the adjoint h for given δ."""
        changed = np.flatnonzero(delta)
        w = cho_solve(self.G, self.Zy + self.rows.take(changed).T @ delta[changed])
        trusted_residual = self.yt - self.Zt @ w
        h = w + cho_solve(self.G, self.M * w + self.Zt.T @ (self.weight * trusted_residual))
        return _Refit(self.rows.times(h), self.y + delta - self.rows.times(w), trusted_residual)

    def _solution(self, gamma: float, delta: Array) -> Solution:
        """The solution with its duality gap: ½‖R‖² + η‖δ‖₁ against a scaled R in the dual."""
        eta, refit = gamma / 2, self._refit(delta)
        residual, trusted = refit.residual, refit.trusted_residual
        size = float(residual @ residual + self.weight @ trusted**2)
        primal = size / 2 + eta * float(abs(delta).sum())
        steepest = float(abs(refit.evidence - self.y - delta)[self.free].max())
        scale = min(1.0, eta / max(steepest, np.finfo(float).tiny))
        inner = float(self.target[0] @ residual + (self.weight * self.target[1]) @ trusted)
        gap = (primal - scale * inner + scale**2 * size / 2) / max(primal, np.finfo(float).tiny)
        return Solution(
            gamma=gamma,
            delta=delta,
            value=2 * primal / self.n,
            scores=self.y + delta - residual,
            evidence=refit.evidence,
            accuracy=gap,
            converged=gap <= self.settings.rtol,
        )


@dataclass(frozen=True, eq=False)
class _Refit:
    evidence: Array
    """Zh."""
    residual: Array
    """y + δ − Zw."""
    trusted_residual: Array
    """ỹ − Z̃w."""


def _factor(A: Array) -> Any:
    """A Cholesky factor; a matrix that is singular up to rounding gets the smallest ridge that helps."""
    diagonal = np.diag_indices_from(A)
    for jitter in (0.0, 1e-14, 1e-12, 1e-10):
        try:
            lifted = A.copy()
            lifted[diagonal] += jitter * max(float(A[diagonal].max()), np.finfo(float).tiny)
            return cho_factor(lifted, lower=True, check_finite=False)
        except LinAlgError:
            continue
    raise LinAlgError("the system is singular")
