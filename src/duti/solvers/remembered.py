"""Steps that are kept in a journal, so that a path which was killed goes on after its last step."""

from __future__ import annotations

from dataclasses import dataclass

from duti.journal import Memory
from duti.objective import Objective
from duti.solvers import Solution, Solver


@dataclass(frozen=True, eq=False)
class Remembered:
    """Every γ is solved by a prepared solver of its own.

    What a solver keeps from one γ to the next affects the last digits of a step; without it a step depends on
    the one before and on nothing else, whether that was computed or recalled.
    """

    solver: Solver
    objective: Objective
    memory: Memory

    def start(self) -> Solution:
        """δ⁽⁰⁾: nothing changed, at γ = 0."""
        return self.memory.recalled("start", lambda: self.solver.prepare(self.objective).start())

    def solve(self, gamma: float, previous: Solution) -> Solution:
        """argmin O_γ, warm-started at the previous solution."""
        return self.memory.recalled(
            f"gamma {gamma!r}", lambda: self.solver.prepare(self.objective).solve(gamma, previous)
        )
