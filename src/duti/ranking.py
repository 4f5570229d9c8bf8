"""From a path to a ranking: who was flagged when, how strongly, and with what fix."""

from __future__ import annotations

import numpy as np

from duti.arrays import Array, Ints, Targets
from duti.path import Step
from duti.relabelling import Relabelling
from duti.solvers import Solution


class Tally:
    """Accumulates the steps of a path.

    A row enters the ranking at the first step that flags it; ties go to the larger deviation of δ
    at that step, then (labels that flipped entirely) to the larger margin. Rows that are never
    flagged follow by their margin at the last step. The F of a path are not nested, so a fix is
    taken at the last step that flags the row.
    """

    def __init__(self, relabelling: Relabelling, start: Solution) -> None:
        self.relabelling = relabelling
        self.gamma_max = relabelling.gamma_max(start.evidence)
        self.steps: list[Step] = []
        n = len(relabelling.frozen)
        self.first_step: Ints = np.zeros(n, dtype=np.int64)
        self.deviation: Array = np.zeros(n)
        self.margin: Array = relabelling.margin(start.evidence)
        self.fixes: Targets = relabelling.y.copy()

    def add(self, solution: Solution) -> None:
        """Take in the next step."""
        self.steps.append(Step.of(solution, self.relabelling))
        flagged = self.relabelling.flagged(solution.delta)
        new = flagged & (self.first_step == 0)
        self.first_step[new] = len(self.steps)
        self.deviation[new] = self.relabelling.deviation(solution.delta)[new]
        pending = new | (self.first_step == 0)  # the margin at the first flag, or else at the last step
        self.margin[pending] = self.relabelling.margin(solution.evidence)[pending]
        self.fixes[flagged] = self.relabelling.fixes(solution.delta)[flagged]

    @property
    def flagged(self) -> int:
        """|∪F|: how many rows were flagged at any step."""
        return int((self.first_step > 0).sum())

    def ranking(self) -> Ints:
        """All rows, most suspicious first, verified rows last."""
        ever = self.first_step > 0
        when = np.where(ever, self.first_step, len(self.steps) + 1)
        # Deviations that differ by less than a solver can tell are equal.
        strength = np.round(self.deviation / max(self.deviation.max(), np.finfo(float).tiny), 6)
        return np.lexsort((-self.margin, -strength, when, self.relabelling.frozen))
