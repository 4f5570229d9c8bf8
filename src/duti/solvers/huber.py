"""Regression at one price: the weighted lasso in n unknowns is a Huber problem in D unknowns.

With η = γ/2 (in the units of the label), M = n·diag(λ, …, λ, 0 for an intercept), G = ZᵀZ + M and
G₂ = ZᵀZ + 2M, the optimality conditions of the paper's lasso are

    δ = soft(Zh − y, η);   G w = Zᵀ(y + δ);   τ = (n/m) C (ỹ − Z̃w);   G h = G w + M w + Z̃ᵀτ

so δ is known from h alone. For active rows A with signs s, and I the others, h solves

    P_I h = a + Bτ,   P_I = Z_IᵀZ_I + M G₂⁻¹ M,   a = Z_Iᵀy_I − η Z_Aᵀs,   B = (I − M G₂⁻¹) Z̃ᵀ
    [BᵀP_I⁻¹B − Z̃ G₂⁻¹ Z̃ᵀ + (m/n) C⁻¹] τ = ỹ − BᵀP_I⁻¹a

Newton's method alternates between h and A; when A stays the same, the solution is exact.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from duti.arrays import Array, Mask
from duti.features.rows import Rows
from duti.solvers.active_rows import ActiveRows, Candidates, Step

SHORTER = (0.5, 0.25, 0.125, 0.06, 0.03)
"""Parts of a step that does not go downhill."""
REFINEMENTS = 5
WORST_ERROR = 1e-6
"""Fraction of η by which the evidence may be wrong after the refinements."""


def soft_threshold(r: Array, eta: float) -> Array:
    """argmin_z ½(z − r)² + η|z|."""
    return np.asarray(np.sign(r) * np.maximum(abs(r) - eta, 0))


@dataclass(frozen=True, eq=False)
class TrustedItems:
    """Those that say something."""

    Z: Array
    y: Array
    share: Array
    """c/m."""


class Huber:
    """What all η share: the rows' sums and the factored ridge systems."""

    def __init__(
        self, rows: Rows, y: Array, free: Mask, trusted: TrustedItems, penalty: Array, max_steps: int
    ) -> None:
        self.rows, self.y, self.free, self.max_steps = rows, y, free, max_steps
        self.trusted, self.penalty, self.n = trusted, penalty, rows.n
        self.Zt, self.yt = trusted.Z, trusted.y
        self.M = self.n * penalty
        self.H = rows.gram()
        self.Zy = rows.transposed_times(self.y)
        self.G = factor(self.H + np.diag(self.M))
        G2 = factor(self.H + 2 * np.diag(self.M))
        self.B = self.Zt.T - self.M[:, None] * solve(G2, self.Zt.T)
        self.F = solve(self.G, self.Zt.T)
        R = self.M[:, None] * solve(G2, np.diag(self.M))
        self.R = (R + R.T) / 2
        # Zh is rounded in the precision of Z: a row this close to the threshold is on either side of it.
        self.rounding = 100 * float(np.finfo(rows.Z.dtype).eps) * float(abs(self.y).max())

    @property
    def weight(self) -> Array:
        """nc/m."""
        return self.n * self.trusted.share

    def trusting(self, times: float) -> Self:
        """The same with so many times the confidence."""
        other = copy(self)
        other.trusted = replace(self.trusted, share=times * self.trusted.share)
        for dependent in ("given", "lasso"):
            other.__dict__.pop(dependent, None)
        return other

    def of(self, rows: slice) -> Huber:
        """The same for some of the rows."""
        Z, y, free = Rows(self.rows.Z[rows]), self.y[rows], self.free[rows]
        return Huber(Z, y, free, self.trusted, self.penalty, self.max_steps)

    @cached_property
    def given(self) -> Given:
        """The learner at δ = 0."""
        w, h = self.refit(self.Zy)
        image = self.rows.times(np.column_stack([h, w]))
        eta_max = float(abs(image[:, 0] - self.y)[self.free].max())
        return Given(w, h, image[:, 0], self.y - image[:, 1], self.yt - self.Zt @ w, eta_max)

    @cached_property
    def lasso(self) -> tuple[Array, Array]:
        """The lasso of the paper as a design and a target: min ½‖Xδ − Y‖² + η‖δ‖₁."""
        Z, given = self.rows.take(np.arange(self.n)), self.given
        solved, weight = solve(self.G, Z.T), np.sqrt(self.weight)
        X = np.vstack([Z @ solved - np.eye(self.n), weight[:, None] * (self.Zt @ solved)])
        return X, np.concatenate([given.residual, weight * given.trusted_residual])

    def newton(self, eta: float, active: ActiveRows, start: _Point | None = None) -> Step | None:
        """δ at η by whole steps or, from a point that is given, by steps that go downhill.

        None if the active rows do not settle or a system is singular.
        """
        among, seen = active.among, set[bytes]()
        for _ in range(self.max_steps):
            try:
                optimum = self._optimal_on(active, eta)
            except LinAlgError:
                return None
            # A row that sits on the threshold up to rounding is optimal on either side of it.
            rounding = 1e-12 * eta + self.rounding + optimum.error
            close = abs(abs(optimum.evidence - among.y) - eta) <= rounding
            signs = np.where(close, active.signs, _signs(eta, among, optimum.evidence))
            if (signs == active.signs).all():
                return Step(eta, eta, active, optimum.delta, optimum.evidence, optimum.Zy)
            if start is not None:
                start = self._downhill(eta, among, start, optimum.evidence)
                signs = _signs(eta, among, start.evidence)
            elif (key := signs.tobytes()) in seen:
                return None
            else:
                seen.add(key)
            active = active.moved(signs)
        return None

    def descent(self, eta: float, at: Step) -> Step | None:
        """Newton's method downhill, from a δ that was not found at any η."""
        among = at.active.among
        active = at.active.moved(_signs(eta, among, at.evidence))
        return self.newton(eta, active, self._point(eta, among, at.evidence))

    def _downhill(self, eta: float, among: Candidates, start: _Point, end: Array) -> _Point:
        """The end of a step in the evidence if O is lower there, or the lowest of some points on the way."""
        whole = self._point(eta, among, end)
        if whole.value <= start.value:
            return whole
        step = end - start.evidence
        points = (self._point(eta, among, start.evidence + part * step) for part in SHORTER)
        return min(points, key=lambda point: point.value)

    def _point(self, eta: float, among: Candidates, evidence: Array) -> _Point:
        """Some evidence with its value, ½‖Xδ − Y‖² − ½‖Y‖² + η‖δ‖₁.

        As −Xᵀ(Xδ − Y) = Zh − y − δ is affine in δ, the squares are ½‖δ‖² + yᵀδ − ½(Zᵀδ)ᵀ(h + h₀).
        """
        delta = np.where(among.free, soft_threshold(evidence - among.y, eta), 0.0)
        Zd = among.rows.transposed_times(delta)
        h = self.refit(self.Zy + Zd)[1]
        square = delta @ delta / 2 + among.y @ delta - Zd @ (h + self.given.h) / 2
        return _Point(evidence, float(square) + eta * float(abs(delta).sum()))

    def _optimal_on(self, active: ActiveRows, eta: float) -> _Optimum:
        """δ that is optimal for given active rows and signs.

        P_I is nearly singular when a learner that almost interpolates loses a row; then δ is refined
        with residuals of the ridge system G, which is not.
        """
        among, signs = active.among, active.signs
        system = ActiveSystem(self, active.gram)
        h = system.solve(self.Zy - active.Zy - eta * active.Zs, self.yt)
        evidence = among.rows.times(h)
        delta = np.where(signs != 0, evidence - among.y - eta * signs, 0.0)
        Zy = self.Zy + active.gram @ h - active.Zy - eta * active.Zs
        drift = self.refit(Zy)[1] - h
        if np.sqrt(max(float(drift @ self.H @ drift), 0.0) / self.n) <= 1e-11 * eta:
            return _Optimum(delta, evidence, Zy, 0.0)
        rows = np.flatnonzero(signs)
        Z_A, y, s = among.rows.take(rows), among.y[rows], signs[rows]
        error = np.inf
        for _ in range(REFINEMENTS):
            Zy = self.Zy + Z_A.T @ delta[rows]
            h = self.refit(Zy)[1]
            residual = Z_A @ h - y - delta[rows] - eta * s
            before, error = error, float(abs(residual).max(initial=0.0))
            if error <= 1e-13 * eta or error > before / 2:
                break
            delta[rows] += Z_A @ system.solve(Z_A.T @ residual, 0 * self.yt) + residual
        if not error <= WORST_ERROR * eta:
            raise LinAlgError("the system of the active rows is singular up to rounding")
        return _Optimum(delta, among.rows.times(h), Zy, error)

    def refit(self, Zy: Array) -> tuple[Array, Array]:
        """The learner w and the adjoint h for given Zᵀ(y + δ), one or several."""
        w = solve(self.G, Zy)
        tau = (self.weight * (self.yt - (self.Zt @ w).T)).T
        return w, w + solve(self.G, (self.M * w.T).T + self.Zt.T @ tau)


@dataclass(frozen=True, eq=False)
class Given:
    """The learner at δ = 0."""

    w: Array
    h: Array
    evidence: Array
    residual: Array
    """y − Zw."""
    trusted_residual: Array
    """ỹ − Z̃w."""
    eta_max: float
    """From here on nothing moves."""


@dataclass(frozen=True, eq=False)
class _Point:
    """The evidence on the candidates, and O at the δ that it stands for, up to a factor and a constant."""

    evidence: Array
    value: float


@dataclass(frozen=True, eq=False)
class _Optimum:
    """The best δ for some active rows and signs, and how wrong the evidence Zh may be."""

    delta: Array
    evidence: Array
    Zy: Array
    """Zᵀ(y + δ)."""
    error: float


class ActiveSystem:
    """The D×D and the m×m system for some active rows, factored."""

    def __init__(self, shared: Huber, gram: Array) -> None:
        self.B = shared.B
        self.P = factor(shared.H - gram + shared.R)
        self.V = solve(self.P, shared.B)
        # BᵀP_I⁻¹B − Z̃G₂⁻¹Z̃ᵀ = Z̃G⁻¹ (Z_AᵀZ_A) P_I⁻¹B, where nothing cancels.
        small = shared.F.T @ gram @ self.V
        self.small = factor((small + small.T) / 2 + np.diag(1 / shared.weight))

    def solve(self, a: Array, trusted: Array) -> Array:
        """h of P_I h = a + Bτ for the labels `trusted` of the trusted items."""
        x = solve(self.P, a)
        tau = solve(self.small, trusted - self.B.T @ x)
        return np.asarray(x + self.V @ tau)


def _signs(eta: float, among: Candidates, evidence: Array) -> Array:
    """Which rows move, and whereto."""
    distance = evidence - among.y
    return np.where(among.free & (abs(distance) > eta), np.sign(distance), 0.0)


def solve(factored: Any, b: Array) -> Array:
    """A⁻¹b for a factored A."""
    return np.asarray(cho_solve(factored, b, check_finite=False))


def factor(A: Array) -> Any:
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
