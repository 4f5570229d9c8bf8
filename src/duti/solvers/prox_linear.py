"""Classification by prox-linear steps: a convex model with the curvature of the trusted items.

Projected gradients fail where the trusted term is badly conditioned, but its curvature has low
rank: at most one direction for each trusted score. Each step minimises a model that knows those
directions (`trusted_model`), moves the learner and its adjoint to the new labels, and is accepted if
O_γ fell as the model said it would. A few steps are rehearsed on a sample (`rehearsal`), where they
cost little; then all rows take them in one pass (`bilevel`), if O_γ falls there too.

Labels that are whole may be stationary and yet no minimum: O bends down along most of them, because a learner
agrees better with what it is told. In a small problem the rows closest to moving are tried with their other
label before a γ is done.

Learner and adjoint are never more accurate than the next decision needs. Along a change of labels
the slope of O is wrong by a number that costs no pass to estimate, and so is the Frank-Wolfe gap,
which is such a slope: where that is not small enough, another sweep comes before the next step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duti.arrays import Array, Ints
from duti.learners.losses import SoftmaxCurvature, softmax
from duti.learners.preconditioner import BlockPreconditioner
from duti.objective import Objective
from duti.solvers import Effort, Solution
from duti.solvers.bilevel import PROBED_ROWS, Bilevel, Change, Point
from duti.solvers.frank_wolfe import SATISFIED
from duti.solvers.rehearsal import SHORTEST, Rehearsal
from duti.solvers.trusted_model import Metric, Model, ModelSolution, TrustedLoss

CERTAIN = 0.3
"""How wrong a gain or a slope may be, as a fraction of itself, when something is decided by it."""
BLIND = 0.6
"""How wrong a gap may be, as a fraction of itself, when a step is made: rehearsals look for themselves."""
SMALLEST_PRICE = 0.1
"""Log-odds below which prices are not told apart when tolerances are set."""
MOST_SWEEPS = 10
"""Sweeps without a step after which the preconditioner must be out of date."""
LINE_SEARCHES = 8
MOST_REHEARSED = 16
"""Steps that are rehearsed at most before all rows take them."""
USUALLY_REHEARSED = 4
"""Steps that are rehearsed at most on average: where it is always more, they lead nowhere."""
REHEARSED_AT_ONCE = 50
"""So many together must lower O by the tolerance, or no more are rehearsed."""
WORTH_REHEARSING = 0.1
"""After a step that gains less, as a fraction of the tolerance, no further one is rehearsed."""
LONG_REHEARSAL = 12
"""Steps of conjugate gradients in a sweep after which the preconditioner is out of date."""
POOR = 0.5
"""What all rows may leave of g after a rehearsal; if it is more, the sample is doubled."""
PATIENCE = 5
"""Steps that together must lower O by a tenth of the tolerance, or the search is given up."""
FLIPPED, WORTH_FLIPPING = (1, 4, 16), 1e-4
"""So many rows together are tried with their other label where nothing else helps; what O must fall by."""
FEW_ROWS = 3000
"""More rows are too many for some of them to matter."""
LONGEST_REACH = 30.0
"""Log-odds over which the loss of a trusted item that is wrong by far may be taken as straight."""


@dataclass(frozen=True)
class ProxLinear:
    """Has converged when the Frank-Wolfe gap is below `rtol` of the objective.

    None: 5e-7 for each row, between 1e-4 and 3e-2, so that a few rows matter in a small problem. There
    it goes on to a gap of 1e-5 if it can, because one row may pull others along.
    """

    rtol: float | None = None
    max_steps: int = 100
    prox: float = 0.03
    """σ/γ: weight of the proximal term, in units of the price."""
    model_steps: int = 40
    """Newton steps in which a model is minimised; few are enough where accuracy is not the aim."""

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
    def of(cls, bids: NDArray[Any], delta: NDArray[Any], free: NDArray[Any] | bool) -> Bids:
        """The bids for rows with labels δ."""
        held = np.einsum("ij,ij->i", bids, delta)
        return cls(bids, held, np.where(free, bids.max(axis=1) - held, 0))

    def slack(self, delta: NDArray[Any]) -> NDArray[Any]:
        """How much less the best other label bids for a row than the one it has; −∞ for mixed labels."""
        lowest = np.finfo(self.bids.dtype).min
        others = (self.bids + (lowest / 2) * (delta > 0)).max(axis=1)
        return np.asarray(np.where(delta.max(axis=1) >= 1, self.held - others, lowest))


@dataclass(frozen=True, eq=False)
class Way:
    """Where a model leads, and what it says of the way."""

    change: Change
    moved: Array
    """How far the trusted scores move."""
    slope: float
    """Of O_γ at the start, for the whole way."""
    gain: float
    """By how much O_γ falls."""


class PreparedProxLinear:
    """Prox-linear steps on one objective. What it keeps from one γ to the next only affects speed."""

    def __init__(self, objective: Objective, settings: ProxLinear) -> None:
        self.settings, self.objective, self.n = settings, objective, objective.problem.n
        self.bilevel, self.free = Bilevel(objective), ~objective.problem.frozen
        self.rtol = settings.rtol or float(np.clip(5e-7 * self.n, 1e-4, 3e-2))
        self.aim = settings.rtol or float(np.clip(3e-2 * (self.n / 6e4) ** 5, 1e-5, 3e-2))
        self.screened, self.daring, self.reach = self.n // 20, 4, 1.0
        self.W: tuple[Array, ...] = ()
        self.rho, self.oversampled = 1.0, 1.0
        self.stale, self.fresh, self.effort = True, False, Effort(settings.max_steps)
        self.rehearsals = 0

    def start(self) -> Solution:
        """The given labels."""
        at = self.bilevel.start()
        self._redraw(at)
        probed, probe = self.bilevel.probed, self.bilevel.probe
        for _ in range(self.settings.max_steps):
            at = self._sweep(at)
            wrong = np.linalg.norm(probe.times_zero_sum(self.bilevel.tilt(at))[0])
            if wrong <= 0.25 * self.rtol * max(np.linalg.norm(at.evidence[probed]), np.sqrt(len(probed))):
                break
        return self._solution(at, 0.0, np.inf)

    def solve(self, gamma: float, previous: Solution) -> Solution:
        """Descend from the previous δ until it is stationary."""
        assert isinstance(previous.warm, Point)
        at, gap, sweeps, verified = previous.warm, np.inf, 0, False
        if not self.W:  # another solver has made the start
            self._redraw(at)
        values: list[float] = []
        self.rehearsals, allowed, paid_at = 0, USUALLY_REHEARSED * self.effort.steps, np.inf
        for left in reversed(range(self.effort.steps + 1)):
            if not self.rehearsals and paid_at - at.priced(gamma) > self.rtol * abs(at.priced(gamma)):
                self.rehearsals, paid_at = min(allowed, REHEARSED_AT_ONCE), at.priced(gamma)
                allowed -= self.rehearsals
            bids = self._bids(at, gamma)
            gap, error = self._gap(at, bids, gamma)
            unsure = gap + error > self.aim and error > BLIND * max(gap, self.aim)
            if left and self.rehearsals and unsure and sweeps < MOST_SWEEPS:
                at, sweeps = self._sweep(at), sweeps + 1
                self.stale |= sweeps == MOST_SWEEPS
                continue
            gap += error
            if left and gap <= self.aim < self.rtol and not verified:
                at, verified = self._sweep(at), True  # accurate labels are not claimed on a rough learner
                continue
            if left and gap <= self.aim < self.rtol and self.n <= FEW_ROWS:
                flipped = self._flipped(at, bids, gamma)
                if flipped is not None:
                    at, verified = flipped, False
                    continue
            if gap <= self.aim or not (left and self.rehearsals):
                break  # the gap that is stated is always that of the labels returned
            values.append(at.priced(gamma))
            if len(values) > PATIENCE and values[-PATIENCE] - values[-1] <= 0.1 * self.aim * abs(values[-1]):
                break
            if self.stale:
                self._redraw(at)
            moved, sweeps, verified = self._advance(at, bids, gamma, gap), 0, False
            if moved is not None:
                at, self.fresh = moved, False
            elif self.fresh:
                break
            else:
                self.stale = True
        if self.aim < gap <= self.rtol:  # nor are these: a better learner tells how large their gap is
            better = self._sweep(at)
            gap = max(gap, sum(self._gap(better, self._bids(better, gamma), gamma)))
        self.effort.spent(enough=gap <= self.rtol)
        return self._solution(at, gamma, gap)

    def _advance(self, at: Point, bids: Bids, gamma: float, gap: float) -> Point | None:
        """Rehearse a few steps, then take them all at once, or part of the way; None if O_γ does not fall."""
        stage = Rehearsal(self.bilevel, self.sample, at, self._candidates(at, bids))
        goal, length = self._rehearsed(stage, gamma, max(0.5 * self.aim, 0.03 * gap)), 1.0
        (image,) = stage.rows.transposed_times_zero_sum(goal.delta - stage.start.delta)
        change = stage.change(stage.start, goal.delta, image)
        self.screened = max(4 * stage.rows.D, 2 * len(change.rows), self.screened // 2)
        for _ in range(LINE_SEARCHES):
            gain, least = at.priced(gamma) - goal.priced(gamma), 0.1 * self.aim * abs(at.value)
            if self.bilevel.uncertainty(at) > CERTAIN * max(gain, least):
                return self._sweep(at)
            if not gain > 0.01 * least:
                return None
            relabelled = self.bilevel.relabelled(at, stage.everywhere(change), length)
            reached = self._settled(self._sweep, self._performed(relabelled, goal), gain)
            as_said = (at.priced(gamma) - reached.priced(gamma)) / gain
            farther = 2 if as_said > 0.7 else 0.5 if as_said < 0.3 else 1
            self.daring = int(np.clip(farther * self.daring, 1, MOST_REHEARSED))
            self.stale |= as_said < 0.3
            if as_said >= 0.01:
                return reached
            length *= 0.3
            goal = self._settled(
                stage.sweep, stage.sweep(self.bilevel.relabelled(stage.start, change, length)), gain
            )
        return None

    def _rehearsed(self, stage: Rehearsal, gamma: float, tol: float) -> Point:
        """Where some steps lead, or fewer if their gap falls below the tolerance."""
        at = stage.start
        for _ in range(min(self.daring, self.rehearsals)):
            self.rehearsals -= 1
            bids = self._bids(at, gamma, stage)
            if bids.excess.sum() <= tol * self.n * self._scale(at, gamma):
                break
            reached = self._step(stage, at, bids, gamma)
            if reached is None:
                break
            moved, fell, at = reached.delta is not at.delta, at.priced(gamma) - reached.priced(gamma), reached
            if moved and fell <= WORTH_REHEARSING * self.aim * abs(at.value):
                break
            if self.stale:
                self._factor(SoftmaxCurvature(softmax(at.scores)))
        return at

    def _step(self, stage: Rehearsal, at: Point, bids: Bids, gamma: float) -> Point | None:
        """Minimise the model and go there, or part of the way; None if O_γ does not fall."""
        for caution in (1, 10, 100, 1000):  # where the model is too steep to be solved well, or misleads
            sigma = caution * self.settings.prox * max(gamma, SMALLEST_PRICE)
            found = self._minimise_model(stage, at, bids, sigma)
            change = stage.change(at, found.delta, found.image)
            slope = -float((bids.bids[change.rows] * change.moves).sum()) / self.n
            gain = at.trusted.loss - found.loss + float((at.trusted.residual * found.moved).sum()) - slope
            if gain <= 1e-3 * self.aim * abs(at.value):
                continue
            slope_error = abs(float((self.bilevel.tilt(at) * change.image).sum()))
            if max(slope_error, self.bilevel.uncertainty(at)) > CERTAIN * gain:
                return stage.sweep(at)
            reached = self._part_of_the_way(stage, at, gamma, Way(change, found.moved, slope, gain))
            if reached is not None:
                return reached
        return None

    def _part_of_the_way(self, stage: Rehearsal, at: Point, gamma: float, way: Way) -> Point | None:
        """As far as O_γ falls as the model said; None if it does not."""
        length = 1.0
        for _ in range(LINE_SEARCHES):
            reached = stage.sweep(self.bilevel.relabelled(at, way.change, length))
            reached = self._settled(stage.sweep, reached, length * way.gain)
            fell = at.priced(gamma) - reached.priced(gamma)
            if self.bilevel.size(at.d_theta) <= CERTAIN * length * self.bilevel.size(way.change.image):
                self._calibrate(at, reached, length * way.moved)
            as_said = fell / (length * way.gain)
            farther = 2 if as_said > 1.5 else 0.5 if as_said < 0.7 else 1
            self.reach = float(np.clip(farther * self.reach, 1, LONGEST_REACH))
            self.stale |= length < 1 or as_said < 0.3 or stage.cg_steps > LONG_REHEARSAL
            if as_said >= 0.01:
                return reached
            bend = -fell - way.slope * length
            shorter = -way.slope * length**2 / (2 * bend) if way.slope < 0 < bend else 0.0
            length = float(np.clip(shorter, 0.1 * length, 0.5 * length))
        return None

    def _settled(self, sweep: Callable[[Point], Point], at: Point, gain: float) -> Point:
        """Sweep until the value is accurate enough to judge a gain."""
        for _ in range(MOST_SWEEPS):
            if self.bilevel.uncertainty(at) <= CERTAIN * gain:
                return at
            at = sweep(at)
        self.stale = True
        return at

    def _sweep(self, at: Point) -> Point:
        """Bring learner and adjoint closer to the labels they have."""
        stage = Rehearsal(self.bilevel, self.sample, at, np.empty(0, dtype=np.intp))
        return self._performed(at, stage.sweep(stage.start))

    def _performed(self, at: Point, goal: Point) -> Point:
        """What all rows make of a learner and an adjoint that were rehearsed for these labels."""
        step, v_step = goal.theta - at.theta, goal.v - at.v
        slope, length, rounding = float((at.d_theta * step).sum()), 1.0, self.bilevel.rounding(at)
        while True:
            reached = self.bilevel.moved(at, length * step, length * v_step)
            if reached.risk <= at.risk + 1e-4 * length * slope + rounding or length < SHORTEST:
                break
            length /= 2
        before, left = self.bilevel.size(at.d_theta), self.bilevel.size(reached.d_theta)
        if left > POOR * before and self.sample.rows.n < self.n and before**2 > rounding:
            self.oversampled *= 2  # the sample is too small to rehearse with
            self._redraw(reached)
        return reached

    def _calibrate(self, old: Point, new: Point, predicted: Array) -> None:
        """Scale the metric so that it predicts how far the trusted scores moved."""
        moved = new.trusted.scores - old.trusted.scores
        moved = moved - moved.mean(axis=1, keepdims=True)
        P = softmax((old.trusted.scores + new.trusted.scores) / 2)
        weighted = self.bilevel.trusted_weight * P * (predicted - (P * predicted).sum(axis=1, keepdims=True))
        scale = float((weighted * predicted).sum())
        if scale > 0:
            self.rho *= float(np.clip(float((weighted * moved).sum()) / scale, 0.5, 2.0))

    def _minimise_model(self, stage: Rehearsal, at: Point, bids: Bids, sigma: float) -> ModelSolution:
        labels, weight = self.objective.trusted_labels, self.bilevel.trusted_weight
        loss = TrustedLoss.at(at.trusted.scores, labels, weight, self.reach)
        metric = Metric(stage.rows, self.W, self.rho)
        model = Model(loss, metric, at.delta + bids.bids / sigma, at.delta, sigma, self.n)
        tol = 0.3 * np.sqrt(self.aim * abs(at.value))
        return model.minimise(np.zeros_like(at.trusted.scores), tol, self.settings.model_steps)

    def _flipped(self, at: Point, bids: Bids, gamma: float) -> Point | None:
        """Rows closest to moving with the label that bids most for them; None if O_γ does not fall."""
        slack = np.where(self.free & (at.delta.max(axis=1) >= 1), bids.slack(at.delta), np.inf)
        closest = np.argsort(slack, kind="stable")[: max(FLIPPED)]
        closest = closest[np.isfinite(slack[closest])]
        others = np.where(at.delta[closest] > 0, -np.inf, bids.bids[closest]).argmax(axis=1)
        moves, least = np.eye(self.bilevel.k)[others] - at.delta[closest], WORTH_FLIPPING * abs(at.value)
        for number in FLIPPED:
            rows, to = closest[:number], moves[:number]
            (image,) = self.objective.rows.subset(rows).transposed_times_zero_sum(to)
            farther = -float((to * self.bilevel.given[rows]).sum()) / self.n
            relabelled = self.bilevel.relabelled(at, Change(rows, to, image / self.n, farther))
            reached = self._settled(self._sweep, self._sweep(relabelled), least)
            if reached.priced(gamma) < at.priced(gamma) - least:
                return reached
        return None

    def _candidates(self, at: Point, bids: Bids) -> Ints:
        """The rows that are closest to moving."""
        slack, size = np.where(self.free, bids.slack(at.delta), np.inf), self.screened
        closest = slack <= np.partition(slack, size)[size] if size < self.n else True
        return np.flatnonzero(self.free & closest)

    def _redraw(self, at: Point) -> None:
        """A new sample, with preconditioner and metric, for where the learner is now."""
        curvature = SoftmaxCurvature(softmax(at.scores))
        self.sample = self.objective.erm.sample(curvature, self.oversampled)
        self._factor(curvature.take(self.sample.index))
        self.fresh = True

    def _factor(self, curvature: SoftmaxCurvature) -> None:
        """Preconditioner and metric from the sample, with its curvature."""
        M = self.bilevel.inverse = self.objective.erm.preconditioner_of(self.sample, curvature)
        if not isinstance(M, BlockPreconditioner):
            M = self.objective.erm.metric(self.sample, curvature)
        self.blocks = M
        Zt = self.objective.trusted_rows.take(np.arange(self.objective.problem.m))
        self.W = tuple(M.solve(Zt.T, j) for j in range(len(M.roots)))
        # Half of the correction that the old metric had learnt is about M, half about where it was.
        self.rho, self.stale = float(np.sqrt(self.rho)), False

    def _bids(self, at: Point, gamma: float, stage: Rehearsal | None = None) -> Bids:
        given = self.bilevel.given if stage is None else stage.given
        return Bids.of(
            at.evidence + given.dtype.type(gamma) * given, at.delta, self.free if stage is None else True
        )

    def _gap(self, at: Point, bids: Bids, gamma: float) -> tuple[float, float]:
        """The Frank-Wolfe gap, relative to the objective, and how wrong it may be, about."""
        rows = np.flatnonzero(bids.excess > 0)
        probed = rows[:: max(1, len(rows) // PROBED_ROWS)]
        best = np.eye(self.bilevel.k)[bids.bids[probed].argmax(axis=1)]
        image = self.objective.rows.subset(probed).transposed_times(best - at.delta[probed])
        error = self.bilevel.slope_error(at, image) * len(rows) / max(len(probed), 1)
        scale = self.n * self._scale(at, gamma)
        gap = float(bids.excess.sum(dtype=np.float64)) / scale
        if gap <= self.aim:
            error += self._overlooked(at, bids)
        return gap, error / scale

    def _overlooked(self, at: Point, bids: Bids) -> float:
        """What rows that seem content may yet bid, about, because the evidence is not exact."""
        slack = np.where(self.free & (bids.excess <= 0), bids.slack(at.delta), np.inf)
        size = min(PROBED_ROWS, self.n)
        closest = np.argpartition(slack, size - 1)[:size]
        (wrong,) = self.objective.rows.subset(closest).times_zero_sum(self.bilevel.tilt(at))
        return float(np.maximum(np.ptp(wrong, axis=1) - np.maximum(slack[closest], 0), 0).sum())

    def _scale(self, at: Point, gamma: float) -> float:
        """What gaps are relative to."""
        value = max(abs(at.priced(gamma)), SATISFIED * self.objective.given_value)
        return max(value, float(np.finfo(float).tiny))

    def _solution(self, at: Point, gamma: float, gap: float) -> Solution:
        return Solution(
            gamma=gamma,
            delta=at.delta.astype(np.float64),
            value=at.priced(gamma),
            scores=at.scores.astype(np.float64),
            evidence=at.evidence.astype(np.float64),
            accuracy=gap,
            converged=gap <= self.rtol,
            warm=at,
        )
