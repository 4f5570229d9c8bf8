"""Classification by spectral projected gradients: plain and dependable, slow when ill-conditioned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duti.arrays import Array
from duti.objective import Evaluation, Objective
from duti.solvers import Effort, Solution
from duti.solvers.frank_wolfe import relative_gap


def project_simplex(V: Array) -> Array:
    """argmin_z ‖z − V‖² with every row of z in the simplex.

    >>> project_simplex(np.array([[0.6, 0.8], [5.0, 0.0]]))
    array([[0.4, 0.6],
           [1. , 0. ]])
    """
    k = V.shape[1]
    if k == 2:
        first = np.clip((V[:, 0] - V[:, 1] + 1) / 2, 0, 1)
        return np.stack([first, 1 - first]).T
    V = V - V.max(axis=1, keepdims=True)  # large numbers would drown the 1 that is to be shared
    falling = -np.sort(-V, axis=1)
    excess = np.cumsum(falling, axis=1) - 1
    support = (falling * np.arange(1, k + 1) > excess).sum(axis=1)
    shift = excess[np.arange(len(V)), support - 1] / support
    return np.asarray(np.maximum(V - shift[:, None], 0))


@dataclass(frozen=True)
class ProjectedGradient:
    """Barzilai-Borwein steps, projected to the simplices, with a non-monotone line search.

    Stops when the Frank-Wolfe gap, the most that a first-order change of δ could still gain, is
    below `rtol` of the objective.
    """

    rtol: float = 1e-5
    max_steps: int = 500
    memory: int = 8
    inner_tol: float = 1e-9

    def prepare(self, objective: Objective) -> PreparedProjectedGradient:
        """Nothing is shared between γ but the objective."""
        return PreparedProjectedGradient(objective, self)


class PreparedProjectedGradient:
    """Projected gradients on one objective."""

    def __init__(self, objective: Objective, settings: ProjectedGradient) -> None:
        self.objective, self.settings = objective, settings
        self.frozen, self.effort = objective.relabelling.frozen, Effort(settings.max_steps)

    def start(self) -> Solution:
        """The given labels."""
        given = self.objective.relabelling.start
        return self._solution(self.objective.evaluate(given, 0.0, tol=self.settings.inner_tol), np.inf)

    def solve(self, gamma: float, previous: Solution) -> Solution:
        """Descend from the previous δ until it is stationary."""
        assert isinstance(previous.warm, Evaluation)
        at = self.objective.repriced(previous.warm, gamma)
        step, values = self._first_step(at), [at.value]
        for _ in range(self.effort.steps):
            if self._gap(at) <= self.settings.rtol:
                break
            reached = self._search(at, step, max(values[-self.settings.memory :]))
            if reached is None:
                break
            step, at = self._spectral_step(at, reached, step), reached
            values.append(at.value)
        solution = self._solution(at, self.settings.rtol)
        self.effort.spent(enough=solution.converged)
        return solution

    def _solution(self, at: Evaluation, rtol: float) -> Solution:
        gap = self._gap(at)
        converged = gap <= rtol and at.fit.converged
        return Solution(at.gamma, at.delta, at.value, at.fit.scores, at.evidence, gap, converged, at)

    def _gap(self, at: Evaluation) -> float:
        return relative_gap(self.objective, at.delta, at.evidence, at.gamma, at.value)

    def _projected(self, delta: Array) -> Array:
        projected = project_simplex(delta)
        projected[self.frozen] = self.objective.relabelling.start[self.frozen]
        return projected

    def _search(self, at: Evaluation, step: float, worst: float) -> Evaluation | None:
        """The first of the points 1, ½, ¼ … on the projected direction that descends."""
        direction = self._projected(at.delta - step * at.gradient) - at.delta
        slope = float((at.gradient * direction).sum())
        length = 1.0
        while length > 1e-8:
            trial = self.objective.evaluate(
                at.delta + length * direction, at.gamma, start=at, tol=self.settings.inner_tol
            )
            if trial.value <= worst + 1e-4 * length * slope:
                return trial
            length /= 2
        return None

    def _first_step(self, at: Evaluation) -> float:
        """A step that could move the most eager row from one corner of its simplex to another."""
        return 1.0 / max(float(abs(at.gradient - at.gradient.mean(axis=1, keepdims=True)).max()), 1e-300)

    def _spectral_step(self, old: Evaluation, new: Evaluation, step: float) -> float:
        moved, bent = new.delta - old.delta, new.gradient - old.gradient
        curvature = float((moved * bent).sum())
        if curvature <= 0:
            return 4 * step
        return float(np.clip(float((moved**2).sum()) / curvature, 1e-3 * step, 1e3 * step))
