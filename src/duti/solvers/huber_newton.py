"""Regression: the weighted lasso in n unknowns is a Huber problem in D unknowns.

With η = γ/2 (in the units of the label), M = n·diag(λ, …, λ, 0 for an intercept), G = ZᵀZ + M and
G₂ = ZᵀZ + 2M, the optimality conditions of the paper's lasso are

    δ = soft(Zh − y, η);   G w = Zᵀ(y + δ);   τ = (n/m) C (ỹ − Z̃w);   G h = G w + M w + Z̃ᵀτ

so δ is known from h alone. For active rows A with signs s, and I the others, h solves

    P_I h = a + Bτ,   P_I = Z_IᵀZ_I + M G₂⁻¹ M,   a = Z_Iᵀy_I − η Z_Aᵀs,   B = (I − M G₂⁻¹) Z̃ᵀ
    [BᵀP_I⁻¹B − Z̃ G₂⁻¹ Z̃ᵀ + (m/n) C⁻¹] τ = ỹ − BᵀP_I⁻¹a

Newton's method alternates between h and A; when A stays the same, the solution is exact. Of many rows
only the few that may become active take part; one pass over all rows checks several γ at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, solve_triangular

from duti.arrays import Array, Ints, Mask
from duti.errors import LearnerError
from duti.features.rows import Rows
from duti.objective import Objective
from duti.solvers import Solution
from duti.solvers.active_rows import ActiveRows, Candidates, Step
from duti.solvers.homotopy import Target, homotopy

MOST_FEATURES = 10_000
REFINEMENTS = 5
WORST_ERROR = 1e-6
"""Fraction of η by which the evidence may be wrong after the refinements."""
CANDIDATES = 2
"""So many rows may take part for each one that is expected to become active."""
MISSED = 0.8
"""Rows this close to the threshold join the candidates when one of the others has passed it."""
FEWEST_CANDIDATES = 2000
THINNED = 10
"""A far step for many rows starts from the solution for every so-manieth row,"""
ROWS_A_FEATURE = 20
"""if so many rows for each feature are left."""
SMALLER_CONFIDENCE = (1e-4, 1e-2)
SMALL_ROWS = 2000
"""So many rows can be followed one event at a time, where Newton's method fails."""
SHORTER = (0.5, 0.25, 0.125, 0.06, 0.03)
"""Parts of a step that does not go downhill."""
NEWTON_BISECTIONS = 3
"""So many larger η are tried before that."""


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
    max_attempts: int = 40

    def prepare(self, objective: Objective) -> PreparedHuberNewton:
        """Factor the ridge systems that every γ shares."""
        problem, rows = objective.problem, objective.rows
        if rows.D > MOST_FEATURES:
            raise LearnerError(
                f"X has {rows.D} columns, and ridge regression solves a system of that size; "
                f"reduce it to at most {MOST_FEATURES} (for instance with scikit-learn's TruncatedSVD)."
            )
        used = problem.confidence > 0  # an item with c = 0 says nothing, but m still counts it
        trusted = _Trusted(
            objective.trusted_rows.take(used).astype(np.float64, copy=False),
            problem.y_trusted[used],
            problem.confidence[used] / problem.m,
        )
        return PreparedHuberNewton(
            rows, problem.y, ~problem.frozen, trusted, objective.erm.penalty / 2, settings=self
        )


@dataclass(frozen=True, eq=False)
class _Trusted:
    Z: Array
    y: Array
    share: Array
    """c/m."""


class PreparedHuberNewton:
    """The factored systems of one objective."""

    def __init__(
        self, rows: Rows, y: Array, free: Mask, trusted: _Trusted, penalty: Array, settings: HuberNewton
    ) -> None:
        self.rows, self.y, self.free, self.settings = rows, y, free, settings
        self.trusted, self.penalty, self.n = trusted, penalty, rows.n
        self.Zt, self.yt, self.weight = trusted.Z, trusted.y, self.n * trusted.share
        self.M = self.n * penalty
        self.H = rows.gram()
        self.Zy = rows.transposed_times(self.y)
        self.G = _factor(self.H + np.diag(self.M))
        G2 = _factor(self.H + 2 * np.diag(self.M))
        self.B = self.Zt.T - self.M[:, None] * _solve(G2, self.Zt.T)
        self.F = _solve(self.G, self.Zt.T)
        R = self.M[:, None] * _solve(G2, np.diag(self.M))
        self.R = (R + R.T) / 2
        # Zh is rounded in the precision of Z: a row this close to the threshold is on either side of it.
        self.rounding = 100 * float(np.finfo(rows.Z.dtype).eps) * float(abs(self.y).max())

    @cached_property
    def _given(self) -> _Given:
        """The learner at δ = 0."""
        w, h = self._refit(self.Zy)
        image = self.rows.times(np.column_stack([h, w]))
        eta_max = float(abs(image[:, 0] - self.y)[self.free].max())
        return _Given(w, h, image[:, 0], self.y - image[:, 1], self.yt - self.Zt @ w, eta_max)

    def start(self) -> Solution:
        """The given labels."""
        given = self._given
        return self._solution(0.0, np.zeros(self.n), given.w, given.evidence, self.y - given.residual)

    def solve(self, gamma: float, previous: Solution) -> Solution:
        """argmin O_γ from the previous δ; where Newton cycles, by way of larger γ."""
        if gamma < previous.gamma / 2 and self.n >= THINNED * ROWS_A_FEATURE * self.rows.D:
            previous = self._thinned(gamma, previous)
        likely = int((abs(previous.evidence - self.y) > gamma / 4).sum())
        return next(self._in_batches([gamma], previous, [likely]))

    def _thinned(self, gamma: float, previous: Solution) -> Solution:
        """The previous solution with the active rows of h for every tenth row: a far better start."""
        some = slice(None, None, THINNED)
        rows = Rows(self.rows.Z[some])
        thin = PreparedHuberNewton(
            rows, self.y[some], self.free[some], self.trusted, self.penalty, self.settings
        )
        part = replace(previous, delta=previous.delta[some], evidence=previous.evidence[some], warm=None)
        h = thin._refit(thin.Zy + rows.transposed_times(thin.solve(gamma, part).delta))[1]
        evidence = self.rows.times(h)
        delta = np.where(self.free, soft_threshold(evidence - self.y, gamma / 2), 0.0)
        return replace(previous, delta=delta, evidence=evidence, converged=False, warm=None)

    def solve_all(self, gammas: Iterable[float], previous: Solution, budget: int) -> Iterator[Solution]:
        """argmin O_γ for falling γ, each from the one before, until more rows than the budget are active.

        The first steps move few rows, so they have a batch, with fewer candidates, of their own.
        """
        return self._in_batches(list(gammas), previous, [budget // 8, budget])

    def _in_batches(self, todo: list[float], at: Solution, shares: list[int]) -> Iterator[Solution]:
        """A batch of steps ends when more rows than its share are active, and is checked on all rows."""
        step, missed = None, np.zeros(self.n, dtype=bool)
        while todo:
            share = max(shares[0], int((at.delta != 0).sum()))
            likely = missed if missed.any() else self._likely(at, CANDIDATES * share)
            step = self._among(likely, at, step)
            steps = list(self._batch(todo, step, share))
            solutions, missed = self._checked(steps)
            yield from solutions
            if solutions:
                at, step, todo = solutions[-1], steps[len(solutions) - 1], todo[len(solutions) :]
            if not missed.any():
                shares = shares[1:] or shares

    def _likely(self, at: Solution, count: int) -> Mask:
        """The rows with the largest |Zh − y|, and those that are active."""
        likely = np.asarray(at.delta != 0)
        likely[_largest(abs(at.evidence - self.y), min(max(count, FEWEST_CANDIDATES), self.n))] = True
        return likely

    def _among(self, rows: Mask, at: Solution, step: Step | None) -> Step:
        """A solution as a step with these rows, or all, as candidates; a step that there is already grows."""
        if step is not None:
            rows[step.active.among.index] = True
        if 2 * np.count_nonzero(rows) >= self.n:
            if isinstance(at.warm, Step):
                return at.warm
            return self._first(at, Candidates.all_of(self.rows, self.y, self.free))
        if step is None:
            return self._first(at, Candidates.some_of(self.rows, self.y, self.free, np.flatnonzero(rows)))
        rows[step.active.among.index] = False
        return step.grown(np.flatnonzero(rows))

    def _first(self, at: Solution, among: Candidates) -> Step:
        delta = at.delta[among.index]
        reached = at.gamma / 2 if at.gamma else self._given.eta_max
        active = ActiveRows.none(among).moved(np.sign(delta))
        Zy = self.Zy + among.rows.transposed_times(delta)
        return Step(reached, reached if at.converged or not delta.any() else np.inf, active, delta, Zy)

    def _batch(self, gammas: list[float], step: Step, share: int) -> Iterator[Step]:
        """Steps on the candidates alone, until more than their share is active."""
        for gamma in gammas:
            step = self._step(gamma / 2, step)
            yield step
            if step.active.count > share or step.active.among.everything:
                return

    def _checked(self, steps: list[Step]) -> tuple[list[Solution], Mask]:
        """The steps as solutions, up to the first that misses a row; and the rows that it misses."""
        among, solutions = steps[0].active.among, list[Solution]()
        w, h = self._refit(np.column_stack([step.Zy for step in steps]))
        image = self.rows.times(np.hstack([h, w]))
        outside = self.free.copy()
        outside[among.index] = False
        for t, step in enumerate(steps):
            evidence, scores = image[:, t], image[:, len(steps) + t]
            if not among.everything:
                distance = abs(evidence - self.y)
                if (distance[outside] > step.eta + self.rounding).any():
                    return solutions, outside & (distance > MISSED * step.eta)
            delta = np.zeros(self.n)
            delta[among.index] = step.delta
            found = self._solution(2 * step.eta, delta, w[:, t], evidence, scores)
            solutions.append(replace(found, warm=step) if among.everything else found)
        return solutions, np.zeros(self.n, dtype=bool)

    def _step(self, eta: float, at: Step) -> Step:
        """δ on the candidates at η; where Newton fails, by way of larger η, then one event at a time.

        The last δ that was found, if there is no way.
        """
        todo = [eta]
        if eta < self._given.eta_max / 4 and not at.active.count:
            at = self._from_small_confidence(eta, at)
        for _ in range(self.settings.max_attempts):
            elsewhere = at.reached == np.inf
            found = self._descent(todo[-1], at) if elsewhere else self._newton(todo[-1], at.active)
            if found is None and len(todo) > NEWTON_BISECTIONS:
                if self.n <= SMALL_ROWS:
                    return self._all_events(eta, at)
                found = self._local_events(todo[-1], at)
            if found is None:
                todo.append(float(np.sqrt(todo[-1] * min(at.reached, self._given.eta_max))))
                continue
            at = found
            todo.pop()
            if not todo:
                return at
        return replace(at, eta=eta)

    def _descent(self, eta: float, at: Step) -> Step | None:
        """Newton's method downhill, from a δ that was not found at any η."""
        among = at.active.among
        start = self._point(eta, among, among.rows.times(self._refit(at.Zy)[1]))
        return self._newton(eta, at.active.moved(_signs(eta, among, start.evidence)), start)

    def _from_small_confidence(self, eta: float, at: Step) -> Step:
        """δ for smaller confidence: a start for a single η far below the largest."""
        for factor in SMALLER_CONFIDENCE:
            easier = copy(self)
            easier.weight = factor * self.weight
            found = easier._newton(eta, at.active)
            if found is None:
                return at
            at = replace(found, reached=np.inf)
        return at

    def _all_events(self, eta: float, at: Step) -> Step:
        """The homotopy over all rows, from the η at which the active rows are right, or from the start."""
        X, Y = self._lasso
        known = at.reached < np.inf
        signs = at.active.signs if known else np.zeros(self.n)
        high = at.reached if known else self._given.eta_max
        found = homotopy(X, Target(Y, 0 * Y), self.free, high, eta, signs)
        active = at.active.moved(np.sign(found.delta))
        Zy = self.Zy + self.rows.transposed_times(found.delta)
        return self._newton(eta, active) or Step(eta, found.eta, active, found.delta, Zy)

    def _local_events(self, eta: float, at: Step) -> Step | None:
        """The homotopy over the rows closest to the threshold, the others eliminated; then Newton on all.

        With the others as they are, h = h₀ + ηh₁ + N Z_Fᵀδ_F, so that the slope of the lasso at the
        rows F is Z_Fh₀ − y_F + ηZ_Fh₁ − (I − Z_F N Z_Fᵀ)δ_F.
        """
        if at.reached == np.inf:
            return None
        among, nothing = at.active.among, 0 * self.yt
        distance = abs(among.rows.times(self._refit(at.Zy)[1]) - among.y)
        closeness = -abs(np.log(np.maximum(distance, 1e-300) / np.sqrt(eta * at.reached)))
        F = _largest(np.where(among.free, closeness, -np.inf), min(SMALL_ROWS, len(closeness)))
        others, Z_F = at.active.moved(_with(at.active.signs, F, 0.0)), among.rows.take(F)
        try:
            system = _ActiveSystem(self, others.gram)
            L = cholesky(np.eye(len(F)) - Z_F @ system.solve(Z_F.T, nothing[:, None]), lower=True)
        except LinAlgError:
            return None
        slope = Z_F @ system.solve(self.Zy - others.Zy, self.yt) - among.y[F]
        d_eta = Z_F @ system.solve(-others.Zs, nothing)
        Y, d_Y = solve_triangular(L, np.column_stack([slope, d_eta]), lower=True).T
        found = homotopy(L.T, Target(Y, d_Y), among.free[F], at.reached, eta, at.active.signs[F])
        return self._newton(eta, others.moved(_with(others.signs, F, np.sign(found.delta))))

    @cached_property
    def _lasso(self) -> tuple[Array, Array]:
        """The lasso of the paper as a design and a target: min ½‖Xδ − Y‖² + η‖δ‖₁."""
        Z, given = self.rows.take(np.arange(self.n)), self._given
        hat, trusted_hat = Z @ _solve(self.G, Z.T), self.Zt @ _solve(self.G, Z.T)
        weight = np.sqrt(self.weight)
        X = np.vstack([hat - np.eye(self.n), weight[:, None] * trusted_hat])
        return X, np.concatenate([given.residual, weight * given.trusted_residual])

    def _newton(self, eta: float, active: ActiveRows, start: _Point | None = None) -> Step | None:
        """δ at η by whole steps or, from a point that is given, by steps that go downhill.

        None if the active rows do not settle or a system is singular.
        """
        among, seen = active.among, set[bytes]()
        for _ in range(self.settings.max_steps):
            try:
                optimum = self._optimal_on(active, eta)
            except LinAlgError:
                return None
            # A row that sits on the threshold up to rounding is optimal on either side of it.
            rounding = 1e-12 * eta + self.rounding + optimum.error
            close = abs(abs(optimum.evidence - among.y) - eta) <= rounding
            signs = np.where(close, active.signs, _signs(eta, among, optimum.evidence))
            if (signs == active.signs).all():
                return Step(eta, eta, active, optimum.delta, optimum.Zy)
            if start is not None:
                start = self._downhill(eta, among, start, optimum.evidence)
                signs = _signs(eta, among, start.evidence)
            elif (key := signs.tobytes()) in seen:
                return None
            else:
                seen.add(key)
            active = active.moved(signs)
        return None

    def _downhill(self, eta: float, among: Candidates, start: _Point, end: Array) -> _Point:
        """The end of a step in the evidence if O is lower there, or the lowest of some points on the way."""
        whole = self._point(eta, among, end)
        if whole.value <= start.value:
            return whole
        step = end - start.evidence
        points = (self._point(eta, among, start.evidence + part * step) for part in SHORTER)
        return min(points, key=lambda point: point.value)

    def _point(self, eta: float, among: Candidates, evidence: Array) -> _Point:
        """As −Xᵀ(Xδ − Y) = Zh − y − δ is affine in δ, ½‖Xδ − Y‖² − ½‖Y‖² = ½‖δ‖² + yᵀδ − ½(Zᵀδ)ᵀ(h + h₀)."""
        delta = np.where(among.free, soft_threshold(evidence - among.y, eta), 0.0)
        Zd = among.rows.transposed_times(delta)
        h = self._refit(self.Zy + Zd)[1]
        square = delta @ delta / 2 + among.y @ delta - Zd @ (h + self._given.h) / 2
        return _Point(evidence, float(square) + eta * float(abs(delta).sum()))

    def _optimal_on(self, active: ActiveRows, eta: float) -> _Optimum:
        """δ that is optimal for given active rows and signs.

        P_I is nearly singular when a learner that almost interpolates loses a row; then δ is refined
        with residuals of the ridge system G, which is not.
        """
        among, signs = active.among, active.signs
        system = _ActiveSystem(self, active.gram)
        h = system.solve(self.Zy - active.Zy - eta * active.Zs, self.yt)
        evidence = among.rows.times(h)
        delta = np.where(signs != 0, evidence - among.y - eta * signs, 0.0)
        Zy = self.Zy + active.gram @ h - active.Zy - eta * active.Zs
        drift = self._refit(Zy)[1] - h
        if np.sqrt(max(float(drift @ self.H @ drift), 0.0) / self.n) <= 1e-11 * eta:
            return _Optimum(delta, evidence, Zy, 0.0)
        rows = np.flatnonzero(signs)
        Z_A, y, s = among.rows.take(rows), among.y[rows], signs[rows]
        error = np.inf
        for _ in range(REFINEMENTS):
            Zy = self.Zy + Z_A.T @ delta[rows]
            h = self._refit(Zy)[1]
            residual = Z_A @ h - y - delta[rows] - eta * s
            before, error = error, float(abs(residual).max(initial=0.0))
            if error <= 1e-13 * eta or error > before / 2:
                break
            delta[rows] += Z_A @ system.solve(Z_A.T @ residual, 0 * self.yt) + residual
        if not error <= WORST_ERROR * eta:
            raise LinAlgError("the system of the active rows is singular up to rounding")
        return _Optimum(delta, among.rows.times(h), Zy, error)

    def _refit(self, Zy: Array) -> tuple[Array, Array]:
        """The learner w and the adjoint h for given Zᵀ(y + δ), one or several."""
        w = _solve(self.G, Zy)
        tau = (self.weight * (self.yt - (self.Zt @ w).T)).T
        return w, w + _solve(self.G, (self.M * w.T).T + self.Zt.T @ tau)

    def _solution(self, gamma: float, delta: Array, w: Array, evidence: Array, scores: Array) -> Solution:
        """The solution with its duality gap: ½‖R‖² + η‖δ‖₁ against a scaled R in the dual."""
        eta, given = gamma / 2, self._given
        residual, trusted = self.y + delta - scores, self.yt - self.Zt @ w
        size = float(residual @ residual + self.weight @ trusted**2)
        primal = size / 2 + eta * float(abs(delta).sum())
        steepest = float(abs(evidence - self.y - delta)[self.free].max())
        scale = min(1.0, eta / max(steepest, np.finfo(float).tiny))
        inner = float(given.residual @ residual + (self.weight * given.trusted_residual) @ trusted)
        gap = max(primal - scale * inner + scale**2 * size / 2, 0.0) / max(primal, np.finfo(float).tiny)
        return Solution(
            gamma=gamma,
            delta=delta,
            value=2 * primal / self.n,
            scores=scores,
            evidence=evidence,
            accuracy=gap,
            converged=gap <= self.settings.rtol,
        )


@dataclass(frozen=True, eq=False)
class _Given:
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


class _ActiveSystem:
    """The D×D and the m×m system for some active rows, factored."""

    def __init__(self, shared: PreparedHuberNewton, gram: Array) -> None:
        self.B = shared.B
        self.P = _factor(shared.H - gram + shared.R)
        self.V = _solve(self.P, shared.B)
        # BᵀP_I⁻¹B − Z̃G₂⁻¹Z̃ᵀ = Z̃G⁻¹ (Z_AᵀZ_A) P_I⁻¹B, where nothing cancels.
        small = shared.F.T @ gram @ self.V
        self.small = _factor((small + small.T) / 2 + np.diag(1 / shared.weight))

    def solve(self, a: Array, trusted: Array) -> Array:
        """h of P_I h = a + Bτ for the labels `trusted` of the trusted items."""
        x = _solve(self.P, a)
        tau = _solve(self.small, trusted - self.B.T @ x)
        return np.asarray(x + self.V @ tau)


def _signs(eta: float, among: Candidates, evidence: Array) -> Array:
    """Which rows move, and whereto."""
    distance = evidence - among.y
    return np.where(among.free & (abs(distance) > eta), np.sign(distance), 0.0)


def _with(values: Array, index: Ints, new: Array | float) -> Array:
    """A copy with other values at some places."""
    changed = values.copy()
    changed[index] = new
    return changed


def _largest(values: Array, count: int) -> Ints:
    """The indices of the largest values, in any order."""
    return np.argpartition(values, len(values) - count)[len(values) - count :]


def _solve(factor: Any, b: Array) -> Array:
    return np.asarray(cho_solve(factor, b, check_finite=False))


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
