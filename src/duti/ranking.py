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
        self.margin: Array = np.zeros(n)
        self.evidence = start.evidence
        self.fixes: Targets = relabelling.y.copy()

    def add(self, solution: Solution) -> None:
        """Take in the next step; only rows that it flags cost anything."""
        step = Step.of(solution, self.relabelling)
        self.steps.append(step)
        new = step.flagged[self.first_step[step.flagged] == 0]
        entering, flagged = self.relabelling.take(new), self.relabelling.take(step.flagged)
        self.first_step[new] = len(self.steps)
        self.deviation[new] = entering.deviation(solution.delta[new])
        self.margin[new] = entering.margin(solution.evidence[new])
        self.fixes[step.flagged] = flagged.fixes(solution.delta[step.flagged])
        self.evidence = solution.evidence

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
        margin = np.where(ever, self.margin, self.relabelling.margin(self.evidence))
        return np.lexsort((-margin, -strength, when, self.relabelling.frozen))
