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
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from duti.arrays import Array
from duti.errors import LearnerError
from duti.objective import Objective
from duti.solvers import Solution
from duti.solvers.feature_sign import feature_sign

MOST_FEATURES = 10_000
REFINEMENTS = 5
SMALL_ROWS = 2000
"""Up to this many rows, a step on which Newton fails is solved one row at a time."""


def soft_threshold(r: Array, eta: float) -> Array:
    """argmin_z ½(z − r)² + η|z|."""
    return np.asarray(np.sign(r) * np.maximum(abs(r) - eta, 0))


@dataclass(frozen=True)
class HuberNewton:
    """Newton's method on the active set, warm-started, with smaller steps of γ where it cycles.

    Active sets that settle are exact, to a relative duality gap of 1e-12 or so; a learner that almost
    interpolates loses some of that to rounding. A step has converged when its gap is at most `rtol`.
    """

    rtol: float = 1e-6
    max_steps: int = 30
    max_bisections: int = 12

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
        self.F = cho_solve(self.G, self.Zt.T)
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
        if self.n > SMALL_ROWS:
            return self._solution(gamma, at.delta)
        X, Y = self._lasso
        return self._solution(gamma, feature_sign(X, Y, gamma / 2, at.delta, self.free))

    @cached_property
    def _lasso(self) -> tuple[Array, Array]:
        """The lasso of the paper as a design and a target: min ½‖Xδ − Y‖² + η‖δ‖₁."""
        Z = self.rows.take(np.arange(self.n))
        hat, trusted_hat = Z @ cho_solve(self.G, Z.T), self.Zt @ cho_solve(self.G, Z.T)
        weight = np.sqrt(self.weight)
        X = np.vstack([hat - np.eye(self.n), weight[:, None] * trusted_hat])
        return X, np.concatenate([self.target[0], weight * self.target[1]])

    def _newton(self, eta: float, delta: Array) -> Array | None:
        """δ at η, or None if the active sets cycle or a system is singular."""
        signs, seen = np.sign(delta), set()
        for _ in range(self.settings.max_steps):
            try:
                delta, evidence = self._optimal_on(signs, eta)
            except LinAlgError:
                return None
            wanted = np.where(self.free, soft_threshold(evidence - self.y, eta), 0.0)
            changed = np.sign(wanted) != signs
            # A row that sits on the threshold up to rounding is optimal on either side of it.
            changed &= abs(abs(evidence - self.y) - eta) > 1e-12 * eta
            if not changed.any():
                return delta
            signs = np.where(changed, np.sign(wanted), signs)
            key = signs.tobytes()
            if key in seen:
                return None
            seen.add(key)
        return None

    def _optimal_on(self, signs: Array, eta: float) -> tuple[Array, Array]:
        """δ that is optimal for given active rows and signs, and the evidence Zh there.

        P_I is nearly singular when a learner that almost interpolates loses a row, so δ is refined
        with residuals of the ridge system G, which is not.
        """
        active = np.flatnonzero(signs)
        system = _ActiveSystem(self, self.rows.take(active))
        y, s = self.y[active], signs[active]
        h = system.solve(self.Zy - system.Z_A.T @ (y + eta * s), self.yt)
        delta = np.zeros(self.n)
        delta[active] = system.Z_A @ h - y - eta * s
        for _ in range(REFINEMENTS):
            evidence = self._refit(delta).evidence
            error = evidence[active] - y - delta[active] - eta * s
            if not abs(error).max(initial=0.0) > 1e-13 * eta:
                return delta, evidence
            delta[active] += system.Z_A @ system.solve(system.Z_A.T @ error, 0 * self.yt) + error
        if not abs(error).max() <= 1e-9 * eta:
            raise LinAlgError("the system of the active rows is singular up to rounding")
        return delta, evidence

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
        gap = max(primal - scale * inner + scale**2 * size / 2, 0.0) / max(primal, np.finfo(float).tiny)
        return Solution(
            gamma=gamma,
            delta=delta,
            value=2 * primal / self.n,
            scores=self.y + delta - residual,
            evidence=refit.evidence,
            accuracy=gap,
            converged=gap <= self.settings.rtol,
        )


class _ActiveSystem:
    """The D×D and the m×m system for some active rows, factored."""

    def __init__(self, shared: PreparedHuberNewton, Z_A: Array) -> None:
        self.shared, self.Z_A = shared, Z_A
        self.P = _factor(shared.H - Z_A.T @ Z_A + shared.R)
        self.V = cho_solve(self.P, shared.B)
        # BᵀP_I⁻¹B − Z̃G₂⁻¹Z̃ᵀ = Z̃G⁻¹ (Z_AᵀZ_A) P_I⁻¹B, where nothing cancels.
        small = (Z_A @ shared.F).T @ (Z_A @ self.V)
        self.small = _factor((small + small.T) / 2 + np.diag(1 / shared.weight))

    def solve(self, a: Array, trusted: Array) -> Array:
        """h of P_I h = a + Bτ for the labels `trusted` of the trusted items."""
        x = cho_solve(self.P, a)
        tau = cho_solve(self.small, trusted - self.shared.B.T @ x)
        return np.asarray(x + self.V @ tau)


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
            lifted[diagonal] += jitter * A[diagonal].max(initial=np.finfo(float).tiny)
            return cho_factor(lifted, lower=True, check_finite=False)
        except LinAlgError:
            continue
    raise LinAlgError("the system is singular")
