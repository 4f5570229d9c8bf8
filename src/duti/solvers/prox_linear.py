"""Classification by prox-linear steps: a convex model with the curvature of the trusted items.

Projected gradients fail where the trusted term is badly conditioned, but its curvature has low
rank: at most one direction for each trusted score. Each step minimises a model that knows those
directions (`trusted_model`), moves the learner and its adjoint to the new labels by a sweep or two
over the rows (`bilevel`), and is accepted if O_γ fell as the model said it would.

Learner and adjoint are never more accurate than the next decision needs. Along a change of labels
the slope of O is wrong by a number that costs no sweep to estimate, and so is the Frank-Wolfe gap,
which is such a slope: where that is not small enough, another sweep comes before the next step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duti.arrays import Array, Ints
from duti.features.rows import Rows
from duti.learners.losses import SoftmaxCurvature, softmax
from duti.learners.preconditioner import BlockPreconditioner
from duti.objective import Objective
from duti.solvers import Effort, Solution
from duti.solvers.bilevel import Bilevel, Point
from duti.solvers.frank_wolfe import SATISFIED
from duti.solvers.trusted_model import Metric, Model, ModelSolution, TrustedLoss

PROBED_ROWS = 1000
"""Rows on which the accuracy of the evidence is estimated."""
CERTAIN = 0.3
"""How wrong a gain, a slope or a gap may be, as a fraction of itself, when something is decided by it."""
SMALLEST_PRICE = 0.1
"""Log-odds below which prices are not told apart when tolerances are set."""
MOST_SWEEPS = 10
"""Sweeps without a step after which the preconditioner must be out of date."""
LINE_SEARCHES = 8
PATIENCE = 5
"""Steps that together must lower O by a tenth of the tolerance, or the search is given up."""
LONGEST_REACH = 30.0
"""Log-odds over which the loss of a trusted item that is wrong by far may be taken as straight."""


@dataclass(frozen=True)
class ProxLinear:
    """Has converged when the Frank-Wolfe gap is below `rtol` of the objective.

    None: 4e-7 for each row, between 1e-4 and 2e-2, so that a few rows matter in a small problem. There
    it goes on to a gap of 1e-5 if it can, because one row may pull others along.
    """

    rtol: float | None = None
    max_steps: int = 100
    prox: float = 0.03
    """σ/γ: weight of the proximal term, in units of the price."""

    def prepare(self, objective: Objective) -> PreparedProxLinear:
        """Fit the learner to the given labels."""
        return PreparedProxLinear(objective, self)


@dataclass(frozen=True, eq=False)
class Bids:
    """E + γY: what each label bids for each row, at a price γ for leaving the given one."""

    bids: NDArray[Any]
    held: NDArray[Any]
    """What the labels bid that the row has now."""
    excess: NDArray[Any]
    """How much more the best label bids; nothing for rows that may not move."""

    @classmethod
    def of(cls, bids: NDArray[Any], delta: NDArray[Any], free: NDArray[Any]) -> Bids:
        """The bids for rows with labels δ."""
        held = np.einsum("ij,ij->i", bids, delta)
        return cls(bids, held, np.where(free, bids.max(axis=1) - held, 0))

    def slack(self, delta: NDArray[Any]) -> NDArray[Any]:
        """How much less the best other label bids for a row than the one it has; −∞ for mixed labels."""
        lowest = np.finfo(self.bids.dtype).min
        others = (self.bids + (lowest / 2) * (delta > 0)).max(axis=1)
        return np.asarray(np.where(delta.max(axis=1) >= 1, self.held - others, lowest))


class PreparedProxLinear:
    """Prox-linear steps on one objective. Keeps a preconditioner and a metric, which only affect speed."""

    def __init__(self, objective: Objective, settings: ProxLinear) -> None:
        self.settings, self.objective, self.n = settings, objective, objective.problem.n
        self.relabelling, self.bilevel = objective.relabelling, Bilevel(objective)
        self.free = ~objective.problem.frozen
        self.given = np.asfortranarray(self.relabelling.start, dtype=self.bilevel.dtype)
        self.rtol = settings.rtol or float(np.clip(4e-7 * self.n, 1e-4, 2e-2))
        self.aim = settings.rtol or float(np.clip(2e-2 * (self.n / 5e4) ** 2, 1e-5, 2e-2))
        self.metric = Metric(objective.rows, (), 1.0)
        self.screened, self.reach = self.n // 20, 1.0
        self.stale, self.fresh, self.effort = True, False, Effort(settings.max_steps)

    def start(self) -> Solution:
        """The given labels."""
        at = self.bilevel.start()
        self._refresh(at)
        some = np.random.default_rng(0).choice(self.n, min(self.n, PROBED_ROWS), replace=False)
        probe = self.objective.rows.subset(some)
        for _ in range(self.settings.max_steps):
            at = self.bilevel.sweep(at)
            theta, v = self.bilevel.newton(at)
            wrong = np.linalg.norm(probe.times_zero_sum(theta - v)[0])
            if wrong <= 0.25 * self.rtol * max(np.linalg.norm(at.evidence[some]), np.sqrt(len(some))):
                break
        return self._solution(at, 0.0, np.inf)

    def solve(self, gamma: float, previous: Solution) -> Solution:
        """Descend from the previous δ until it is stationary."""
        assert isinstance(previous.warm, Point)
        at, gap, sweeps = previous.warm, np.inf, 0
        values: list[float] = []
        for _ in range(self.effort.steps):
            bids = self._bids(at, gamma)
            gap, error = self._gap(at, bids, gamma)
            if error > CERTAIN * max(gap, self.aim) and sweeps < MOST_SWEEPS:
                at, sweeps = self.bilevel.sweep(at), sweeps + 1
                self.stale |= sweeps == MOST_SWEEPS
                continue
            gap += error
            if gap <= self.aim:
                break
            values.append(self._value(at, gamma))
            if len(values) > PATIENCE and values[-PATIENCE] - values[-1] <= 0.1 * self.aim * abs(values[-1]):
                break
            if self.stale:
                self._refresh(at)
            moved, sweeps = self._step(at, bids, gamma), 0
            if moved is not None:
                at, self.fresh = moved, False
            elif self.fresh:
                break
            else:
                self.stale = True
        self.effort.spent(enough=gap <= self.rtol)
        return self._solution(at, gamma, gap)

    def _step(self, at: Point, bids: Bids, gamma: float) -> Point | None:
        """Minimise the model and go there, or part of the way; None if O_γ does not fall."""
        for caution in (1, 10, 100, 1000):  # where the model is too steep to be solved well
            sigma = caution * self.settings.prox * max(gamma, SMALLEST_PRICE)
            rows, found = self._minimise_model(at, bids, sigma)
            change = self.bilevel.change(at, rows, found.delta, found.image)
            slope = -float((bids.bids[change.rows] * change.moves).sum()) / self.n
            gain = at.trusted.loss - found.loss + float((at.trusted.residual * found.moved).sum()) - slope
            if gain > 1e-3 * self.aim * abs(at.value):
                break
        else:
            return None
        unsure = max(abs(self.bilevel.slope_error(at, change.image)), self.bilevel.uncertainty(at))
        if unsure > CERTAIN * gain:
            return self.bilevel.sweep(at)
        value, length = self._value(at, gamma), 1.0
        for _ in range(LINE_SEARCHES):
            reached = self._settled(self.bilevel.relabelled(at, change, length), length * gain)
            fell = value - self._value(reached, gamma)
            self._calibrate(at, reached, length * found.moved)
            as_said = fell / (length * gain)
            farther = 2 if as_said > 1.5 else 0.5 if as_said < 0.7 else 1
            self.reach = float(np.clip(farther * self.reach, 1, LONGEST_REACH))
            self.stale |= length < 1 or as_said < 0.3
            if as_said >= 0.01:
                return reached
            bend = -fell - slope * length
            shorter = -slope * length**2 / (2 * bend) if slope < 0 < bend else 0.0
            length = float(np.clip(shorter, 0.1 * length, 0.5 * length))
        return None

    def _settled(self, at: Point, gain: float) -> Point:
        """Sweep until the value is accurate enough to judge a gain."""
        for _ in range(MOST_SWEEPS):
            at = self.bilevel.sweep(at)
            self.stale |= self.bilevel.is_stale
            if self.bilevel.uncertainty(at) <= CERTAIN * gain:
                return at
        self.stale = True
        return at

    def _calibrate(self, old: Point, new: Point, predicted: Array) -> None:
        """Scale the metric so that it predicts how far the trusted scores moved."""
        moved = new.trusted.scores - old.trusted.scores
        moved = moved - moved.mean(axis=1, keepdims=True)
        P = softmax((old.trusted.scores + new.trusted.scores) / 2)
        weighted = self.bilevel.trusted_weight * P * (predicted - (P * predicted).sum(axis=1, keepdims=True))
        scale = float((weighted * predicted).sum())
        if scale > 0:
            factor = float(np.clip(float((weighted * moved).sum()) / scale, 0.5, 2.0))
            self.metric = replace(self.metric, rho=self.metric.rho * factor)

    def _minimise_model(self, at: Point, bids: Bids, sigma: float) -> tuple[Ints, ModelSolution]:
        """Solve the model on the rows that are closest to moving, and see whether that is enough."""
        labels, weight = self.objective.trusted_labels, self.bilevel.trusted_weight
        loss = TrustedLoss.at(at.trusted.scores, labels, weight, self.reach)
        x, tol = np.zeros_like(at.trusted.scores), 0.3 * np.sqrt(self.aim * abs(at.value))
        slack, size, some = bids.slack(at.delta), self.screened, np.zeros(self.n, dtype=bool)
        while True:
            closest = slack <= np.partition(slack, size)[size] if size < self.n else True
            some |= self.free & closest
            rows = np.flatnonzero(some)
            free_step = at.delta[rows] + bids.bids[rows] / sigma
            model = Model(loss, self.metric.some(rows), free_step, at.delta[rows], sigma, self.n)
            found = model.minimise(x, tol)
            changed = found.r - at.trusted.residual
            sample = self.bilevel.sample
            if not (self._slack(sample.rows, sample.index, at, bids, changed) < 0)[~some[sample.index]].any():
                break
            slack = self._slack(self.objective.rows, slice(None), at, bids, changed)
            missed = int((slack < 0)[~some & self.free].sum())
            if missed == 0:
                break
            size, x = len(rows) + 2 * missed, found.x
        moved = int((found.delta != at.delta[rows]).any(axis=1).sum())
        self.screened = max(4 * self.objective.rows.D, 2 * moved)
        return rows, found

    def _slack(self, rows: Rows, index: Ints | slice, at: Point, bids: Bids, changed: Array) -> NDArray[Any]:
        """How far rows are from moving once the slopes at the trusted items have changed."""
        pulled = replace(self.metric, rows=rows).pull(changed)
        delta, free = at.delta[index], self.free[index]
        return np.where(free, Bids.of(bids.bids[index] - pulled, delta, free).slack(delta), np.inf)

    def _refresh(self, at: Point) -> None:
        """Preconditioner and metric, built anew where the learner is now."""
        self.bilevel.refresh(at)
        M = self.bilevel.inverse
        if not isinstance(M, BlockPreconditioner):
            M = self.objective.erm.metric(SoftmaxCurvature(softmax(at.scores)), self.bilevel.sample)
        Zt = self.objective.trusted_rows.take(np.arange(self.objective.problem.m))
        W = tuple(M.solve(Zt.T, j) for j in range(len(M.factors)))
        # Half of the correction that the old metric had learnt is about M, half about where it was.
        self.metric = Metric(self.objective.rows, W, float(np.sqrt(self.metric.rho)))
        self.stale, self.fresh = False, True

    def _bids(self, at: Point, gamma: float) -> Bids:
        return Bids.of(at.evidence + self.bilevel.dtype.type(gamma) * self.given, at.delta, self.free)

    def _gap(self, at: Point, bids: Bids, gamma: float) -> tuple[float, float]:
        """The Frank-Wolfe gap, relative to the objective, and how wrong it may be, about."""
        rows = np.flatnonzero(bids.excess > 0)
        probed = rows[:: max(1, len(rows) // PROBED_ROWS)]
        best = np.eye(self.bilevel.k)[bids.bids[probed].argmax(axis=1)]
        image = self.objective.rows.subset(probed).transposed_times(best - at.delta[probed])
        error = abs(self.bilevel.slope_error(at, image)) * len(rows) / max(len(probed), 1)
        scale = max(abs(self._value(at, gamma)), SATISFIED * self.objective.given_value)
        scale = self.n * max(scale, np.finfo(float).tiny)
        gap = float(bids.excess.sum(dtype=np.float64)) / scale
        if gap <= self.aim:
            error += self._overlooked(at, bids)
        return gap, error / scale

    def _overlooked(self, at: Point, bids: Bids) -> float:
        """What rows that seem content may yet bid, about, because the evidence is not exact."""
        slack = np.where(self.free & (bids.excess <= 0), bids.slack(at.delta), np.inf)
        size = min(PROBED_ROWS, self.n)
        closest = np.argpartition(slack, size - 1)[:size]
        theta, v = self.bilevel.newton(at)
        (wrong,) = self.objective.rows.subset(closest).times_zero_sum(theta - v)
        return float(np.maximum(np.ptp(wrong, axis=1) - np.maximum(slack[closest], 0), 0).sum())

    def _value(self, at: Point, gamma: float) -> float:
        return at.value + gamma * (1 - float((at.delta * self.given).sum(dtype=np.float64)) / self.n)

    def _solution(self, at: Point, gamma: float, gap: float) -> Solution:
        return Solution(
            gamma=gamma,
            delta=at.delta.astype(np.float64),
            value=self._value(at, gamma),
            scores=at.scores.astype(np.float64),
            evidence=at.evidence.astype(np.float64),
            accuracy=gap,
            converged=gap <= self.rtol,
            warm=at,
        )
