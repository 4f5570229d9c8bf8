"""Regression's path: from one γ to the next, by Newton's method on the rows that may move.

Of many rows only the few that may become active take part; one pass over all rows checks several γ at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from duti.arrays import Array, Ints, Mask
from duti.errors import LearnerError
from duti.objective import Objective
from duti.solvers import Solution
from duti.solvers.active_rows import ActiveRows, Candidates, Step
from duti.solvers.homotopy import Target, homotopy
from duti.solvers.huber import ActiveSystem, Huber, TrustedItems, soft_threshold

MOST_FEATURES = 10_000
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
NEWTON_BISECTIONS = 3
"""So many larger η are tried before that."""


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
        trusted = TrustedItems(
            objective.trusted_rows.take(used).astype(np.float64, copy=False),
            problem.y_trusted[used],
            problem.confidence[used] / problem.m,
        )
        penalty = objective.erm.penalty / 2
        huber = Huber(rows, problem.y, ~problem.frozen, trusted, penalty, self.max_steps)
        return PreparedHuberNewton(huber, self)


class PreparedHuberNewton:
    """The way along γ, with the systems that every γ shares."""

    def __init__(self, huber: Huber, settings: HuberNewton) -> None:
        self.huber, self.settings = huber, settings
        self.rows, self.y, self.free, self.n = huber.rows, huber.y, huber.free, huber.n

    def start(self) -> Solution:
        """The given labels."""
        given = self.huber.given
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
        thin = self.huber.of(some)
        part = replace(previous, delta=previous.delta[some], evidence=previous.evidence[some], warm=None)
        delta = PreparedHuberNewton(thin, self.settings).solve(gamma, part).delta
        h = thin.refit(thin.Zy + thin.rows.transposed_times(delta))[1]
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
        return step.grown(np.flatnonzero(rows), at.evidence)

    def _first(self, at: Solution, among: Candidates) -> Step:
        delta, evidence = at.delta[among.index], at.evidence[among.index]
        eta = at.gamma / 2 if at.gamma else self.huber.given.eta_max
        reached = eta if at.converged or not delta.any() else np.inf
        active = ActiveRows.none(among).moved(np.sign(delta))
        Zy = self.huber.Zy + among.rows.transposed_times(delta)
        return Step(eta, reached, active, delta, evidence, Zy)

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
        w, h = self.huber.refit(np.column_stack([step.Zy for step in steps]))
        image = self.rows.times(np.hstack([h, w]))
        outside = self.free.copy()
        outside[among.index] = False
        for t, step in enumerate(steps):
            evidence, scores = image[:, t], image[:, len(steps) + t]
            if not among.everything:
                distance = abs(evidence - self.y)
                if (distance[outside] > step.eta + self.huber.rounding).any():
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
        if eta < self.huber.given.eta_max / 4 and not at.active.count:
            at = self._from_small_confidence(eta, at)
        for _ in range(self.settings.max_attempts):
            elsewhere = at.reached == np.inf
            found = self.huber.descent(todo[-1], at) if elsewhere else self.huber.newton(todo[-1], at.active)
            if found is None and len(todo) > NEWTON_BISECTIONS:
                if self.n <= SMALL_ROWS:
                    return self._all_events(eta, at)
                found = self._local_events(todo[-1], at)
            if found is None:
                todo.append(float(np.sqrt(todo[-1] * min(at.reached, self.huber.given.eta_max))))
                continue
            at = found
            todo.pop()
            if not todo:
                return at
        return replace(at, eta=eta)

    def _from_small_confidence(self, eta: float, at: Step) -> Step:
        """δ for smaller confidence: a start for a single η far below the largest."""
        for factor in SMALLER_CONFIDENCE:
            found = self.huber.trusting(factor).newton(eta, at.active)
            if found is None:
                return at
            at = replace(found, reached=np.inf)
        return at

    def _all_events(self, eta: float, at: Step) -> Step:
        """The homotopy over all rows, from the η at which the active rows are right, or from the start."""
        X, Y = self.huber.lasso
        known = at.reached < np.inf
        signs = at.active.signs if known else np.zeros(self.n)
        high = at.reached if known else self.huber.given.eta_max
        found = homotopy(X, Target(Y, 0 * Y), self.free, high, eta, signs)
        active = at.active.moved(np.sign(found.delta))
        settled = self.huber.newton(eta, active)
        if settled is not None:
            return settled
        Zy = self.huber.Zy + self.rows.transposed_times(found.delta)
        evidence = self.rows.times(self.huber.refit(Zy)[1])
        return Step(eta, found.eta, active, found.delta, evidence, Zy)

    def _local_events(self, eta: float, at: Step) -> Step | None:
        """The homotopy over the rows closest to the threshold, the others eliminated; then Newton on all.

        With the others as they are, h = h₀ + ηh₁ + N Z_Fᵀδ_F, so that the slope of the lasso at the
        rows F is Z_Fh₀ − y_F + ηZ_Fh₁ − (I − Z_F N Z_Fᵀ)δ_F.
        """
        if at.reached == np.inf:
            return None
        huber, among, nothing = self.huber, at.active.among, 0 * self.huber.yt
        distance = abs(at.evidence - among.y)
        closeness = -abs(np.log(np.maximum(distance, 1e-300) / np.sqrt(eta * at.reached)))
        F = _largest(np.where(among.free, closeness, -np.inf), min(SMALL_ROWS, len(closeness)))
        others, Z_F = at.active.moved(_with(at.active.signs, F, 0.0)), among.rows.take(F)
        try:
            system = ActiveSystem(huber, others.gram)
            L = cholesky(np.eye(len(F)) - Z_F @ system.solve(Z_F.T, nothing[:, None]), lower=True)
        except LinAlgError:
            return None
        slope = Z_F @ system.solve(huber.Zy - others.Zy, huber.yt) - among.y[F]
        d_eta = Z_F @ system.solve(-others.Zs, nothing)
        Y, d_Y = solve_triangular(L, np.column_stack([slope, d_eta]), lower=True).T
        found = homotopy(L.T, Target(Y, d_Y), among.free[F], at.reached, eta, at.active.signs[F])
        return huber.newton(eta, others.moved(_with(others.signs, F, np.sign(found.delta))))

    def _solution(self, gamma: float, delta: Array, w: Array, evidence: Array, scores: Array) -> Solution:
        """The solution with its duality gap: ½‖R‖² + η‖δ‖₁ against a scaled R in the dual."""
        eta, huber, given = gamma / 2, self.huber, self.huber.given
        residual, trusted = self.y + delta - scores, huber.yt - huber.Zt @ w
        size = float(residual @ residual + huber.weight @ trusted**2)
        primal = size / 2 + eta * float(abs(delta).sum())
        steepest = float(abs(evidence - self.y - delta)[self.free].max())
        scale = min(1.0, eta / max(steepest, np.finfo(float).tiny))
        inner = float(given.residual @ residual + (huber.weight * given.trusted_residual) @ trusted)
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


def _with(values: Array, index: Ints, new: Array | float) -> Array:
    """A copy with other values at some places."""
    changed = values.copy()
    changed[index] = new
    return changed


def _largest(values: Array, count: int) -> Ints:
    """The indices of the largest values, in any order."""
    return np.argpartition(values, len(values) - count)[len(values) - count :]
