"""Classification by prox-linear steps: a convex model with the curvature of the trusted items.

Projected gradients fail where the trusted term is badly conditioned, but its curvature has low
rank: at most one direction for each trusted score. Each step minimises a model that knows those
directions exactly (`trusted_model`), moves the learner and its adjoint to the new labels by a few
sweeps over the rows (`bilevel`), and is accepted if O_γ fell as the model said it would.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from duti.arrays import Array, Ints
from duti.learners.losses import SoftmaxCurvature, softmax
from duti.learners.preconditioner import BlockPreconditioner
from duti.objective import Objective
from duti.solvers import Solution
from duti.solvers.bilevel import Bilevel, Point, Steps
from duti.solvers.frank_wolfe import relative_gap
from duti.solvers.trusted_model import Metric, Model, ModelSolution, TrustedLoss

SCREENED_ROWS = 5000
"""From this many rows on, the model is solved on the rows that may move, then checked on all."""
START_TOL = 1e-5
"""Accuracy of the adjoint at the given labels, relative to its scores: that of γ⁽⁰⁾."""
EVIDENCE_TOL = 0.1
"""How far the last sweep may move the evidence, as a fraction of the price γ."""
SHARPEST = 1e-6
"""The smallest such fraction, when the gap depends on it."""
SMALLEST_PRICE = 0.1
"""Log-odds below which prices are not told apart when tolerances are set."""
STALE_SWEEPS = 8
LINE_SEARCHES = 8
EXACT_ITEMS = 8
"""Up to this many trusted items their directions are used as they are."""


@dataclass(frozen=True)
class ProxLinear:
    """Stops when the Frank-Wolfe gap is below `rtol` of the objective.

    None: 1e-7 for each row, between 1e-4 and 1e-2, so that a few rows matter in a small problem.
    """

    rtol: float | None = None
    max_steps: int = 60
    max_sweeps: int = 60
    prox: float = 0.1
    """σ/γ: weight of the proximal term, in units of the price."""
    rank_tol: float = 0.02
    """Directions of trusted scores that rows move less than this, relative to the most, are left out."""
    max_rank: int = 200

    def prepare(self, objective: Objective) -> PreparedProxLinear:
        """Fit the learner to the given labels."""
        return PreparedProxLinear(objective, self)


class PreparedProxLinear:
    """Prox-linear steps on one objective. Keeps a preconditioner and a metric, which only affect speed."""

    def __init__(self, objective: Objective, settings: ProxLinear) -> None:
        self.settings, self.objective, self.n = settings, objective, objective.problem.n
        self.relabelling, self.bilevel = objective.relabelling, Bilevel(objective)
        self.free = ~objective.problem.frozen
        self.rtol = settings.rtol or float(np.clip(1e-7 * self.n, 1e-4, 1e-2))
        self.metric = Metric(np.empty((0, 0, 0)), np.empty((0, 0)), 1.0)
        self.stale, self.fresh = True, False
        self.uncertain = np.inf

    def start(self) -> Solution:
        """The given labels."""
        at = self.bilevel.start()
        self._refresh(at)
        target = START_TOL * max(float(np.sqrt(np.mean(at.scores**2))), 1.0)
        last = None
        for _ in range(self.settings.max_sweeps):
            at, last = self.bilevel.sweep(at, last)
            if last.size <= max(target, START_TOL * float(np.sqrt(np.mean(at.adjoint_scores**2)))):
                break
        return self._solution(at, 0.0)

    def solve(self, gamma: float, previous: Solution) -> Solution:
        """Descend from the previous δ until it is stationary."""
        assert isinstance(previous.warm, Point)
        at = previous.warm
        tol = EVIDENCE_TOL * max(gamma, SMALLEST_PRICE)
        for _ in range(self.settings.max_steps):
            if self._gap(at, gamma) <= self.rtol:
                break
            if self.stale:
                self._refresh(at)
            moved = self._step(at, gamma, tol)
            if moved is not None:
                at, self.fresh = moved, False
            elif not self.fresh:
                self.stale = True
            elif tol > SHARPEST * gamma:
                # No model finds a gain, so what is left of the gap may be the inaccuracy of the evidence.
                tol *= 0.1
                at = self._settle(at, np.inf, tol)
            else:
                break
        return self._solution(at, gamma)

    def _step(self, at: Point, gamma: float, tol: float) -> Point | None:
        """Minimise the model and go there, or part of the way; None if O_γ does not fall."""
        sigma = self.settings.prox * max(gamma, SMALLEST_PRICE)
        found = self._minimise_model(at, gamma, sigma)
        direction = found.delta - at.delta
        price = at.evidence + gamma * self.relabelling.start
        slope = -float((price * direction).sum()) / self.n
        start_loss = self.objective.trusted_loss(at.theta)
        gain = start_loss - found.loss + float((at.trusted_residual * found.moved).sum()) - slope
        if gain <= 1e-3 * self.rtol * abs(at.value):
            return None
        if self.uncertain > 5 * gain:
            return self._settle(at, gain, tol)  # where we are is known too coarsely to judge this gain
        value, length = self._value(at, gamma), 1.0
        for _ in range(LINE_SEARCHES):
            reached = self.bilevel.relabelled(at, at.delta + length * direction)
            reached = self._settle(reached, length * gain, tol)
            fell = value - self._value(reached, gamma)
            if fell >= 0.01 * length * gain:
                self._calibrate(at, reached, length * found.moved)
                self.stale |= length < 1 or fell < 0.5 * gain
                return reached
            self.stale = True
            bend = -fell - slope * length
            shorter = -slope * length**2 / (2 * bend) if slope < 0 < bend else 0.0
            length = float(np.clip(shorter, 0.1 * length, 0.5 * length))
        return None

    def _settle(self, at: Point, gain: float, tol: float) -> Point:
        """Sweep until value and evidence are accurate enough to judge a gain."""
        self.uncertain = gain
        last: Steps | None = None
        smallest = np.inf
        for sweep in range(self.settings.max_sweeps):
            self.stale |= sweep >= STALE_SWEEPS
            value = at.value
            at, last = self.bilevel.sweep(at, last)
            rounding = last.size > 100 * smallest
            if rounding or (abs(at.value - value) <= 0.1 * gain and last.size <= tol):
                break
            smallest = min(smallest, last.size)
        return at

    def _calibrate(self, old: Point, new: Point, predicted: Array) -> None:
        """Scale the metric so that it predicts how far the trusted scores moved."""
        moved = new.trusted_scores - old.trusted_scores
        moved = moved - moved.mean(axis=1, keepdims=True)
        P = softmax((old.trusted_scores + new.trusted_scores) / 2)
        weighted = self.bilevel.trusted_weight * P * (predicted - (P * predicted).sum(axis=1, keepdims=True))
        scale = float((weighted * predicted).sum())
        if scale > 0:
            factor = float(np.clip(float((weighted * moved).sum()) / scale, 0.5, 2.0))
            self.metric = replace(self.metric, rho=self.metric.rho * factor)

    def _minimise_model(self, at: Point, gamma: float, sigma: float) -> ModelSolution:
        """Solve the model on the rows that may leave their corner, and check the others."""
        loss = TrustedLoss.at(at.trusted_scores, self.objective.trusted_labels, self.bilevel.trusted_weight)
        free_step = at.delta + (at.evidence + gamma * self.relabelling.start) / sigma
        x, tol = np.zeros_like(at.trusted_scores), 0.1 * np.sqrt(self.rtol * abs(at.value))
        corner = at.delta.argmax(axis=1)
        at_corner = at.delta.max(axis=1) >= 1
        slack = np.where(at_corner, _slack(free_step, corner), -np.inf)
        some = self.free
        if self.n > SCREENED_ROWS:
            tenth = float(np.partition(slack, self.n // 10)[self.n // 10])
            some = self.free & (slack <= max(tenth, 0.0))
        while True:
            rows = np.flatnonzero(some)
            inside = self.metric if some.all() else self.metric.some(rows)
            model = Model(loss, inside, free_step[rows], at.delta[rows], sigma, self.n)
            found = model.minimise(x, tol)
            if some.sum() == self.free.sum():
                break
            settled = _slack(free_step - self.metric.pull(found.r - at.trusted_residual) / sigma, corner)
            missed = self.free & ~some & (settled < 0)
            if not missed.any():
                break
            some, x = some | (self.free & (settled < 0.1 * max(tenth, 1.0))), found.x
        delta = at.delta.copy()
        delta[rows] = found.delta
        return replace(found, delta=delta)

    def _refresh(self, at: Point) -> None:
        """Preconditioner and metric, built anew where the learner is now."""
        self.bilevel.refresh(at)
        M, rows = self.bilevel.M, self.objective.rows
        if not isinstance(M, BlockPreconditioner):
            M = self.objective.erm.metric(SoftmaxCurvature(at.P))
        Zt = self.objective.trusted_rows.take(np.arange(self.objective.problem.m))
        inverse = [M.solve(Zt.T, j) for j in range(len(M.factors))]
        Q = np.eye(len(Zt))
        if len(Zt) > EXACT_ITEMS:
            sample = np.random.default_rng(0).choice(self.n, min(self.n, 4 * rows.D), replace=False)
            Z = rows.subset(sample)
            images = np.hstack([Z.times(A).T for A in inverse])
            size, vectors = np.linalg.eigh(images @ images.T)
            reach = np.sqrt(np.maximum(size, 0))
            keep = max(
                1, min(int((reach > self.settings.rank_tol * reach[-1]).sum()), self.settings.max_rank)
            )
            Q = vectors[:, -keep:]
        X = np.stack([rows.stored_times(A @ Q) for A in inverse])
        # Half of the correction that the old metric had learnt is about M, half about where it was.
        self.metric = Metric(X, Q, float(np.sqrt(self.metric.rho)))
        self.stale, self.fresh = False, True

    def _gap(self, at: Point, gamma: float) -> float:
        return relative_gap(self.objective, at.delta, at.evidence, gamma, self._value(at, gamma))

    def _value(self, at: Point, gamma: float) -> float:
        return at.value + gamma / self.n * self.relabelling.distance(at.delta)

    def _solution(self, at: Point, gamma: float) -> Solution:
        gap = self._gap(at, gamma)
        return Solution(
            gamma=gamma,
            delta=at.delta,
            value=self._value(at, gamma),
            scores=at.scores,
            evidence=at.evidence,
            accuracy=gap,
            converged=gap <= self.rtol,
            warm=at,
        )


def _slack(target: Array, corner: Ints) -> Array:
    """How far each row is from leaving its corner of the simplex: negative if it leaves."""
    rows = np.arange(len(target))
    here = target[rows, corner]
    others = target.copy()
    others[rows, corner] = -np.inf
    return np.asarray(here - others.max(axis=1) - 1)
