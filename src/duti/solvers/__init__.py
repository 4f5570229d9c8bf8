"""Solvers of min_δ O_γ(δ) for one γ after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from duti.arrays import Array
from duti.objective import Objective


@dataclass(frozen=True, eq=False)
class Solution:
    """δ at one γ, and how good it is."""

    gamma: float
    delta: Array
    value: float
    """O_γ(δ)."""
    scores: Array
    """s: what the learner trained on the changed labels says of each row."""
    evidence: Array
    """E = s − u at δ."""
    accuracy: float
    """Relative duality gap (regression) or Frank-Wolfe gap (classification): 0 is optimal."""
    converged: bool
    warm: object = None
    """What a warm start needs, if the solver needs anything but δ."""


class Effort:
    """How many steps a solver takes for a γ: half as many after each γ that they did not suffice for.

    Where one γ after another fails, more steps would not help, and nobody wants to wait for them. After
    each γ that they did suffice for there is a tenth of the most again.

    >>> effort = Effort(100)
    >>> effort.spent(enough=False), effort.spent(enough=False), effort.spent(enough=True)
    (50, 25, 35)
    """

    def __init__(self, most: int) -> None:
        self.steps = self.most = most

    def spent(self, *, enough: bool) -> int:
        """Take in how the last γ ended; the number of steps for the next one."""
        more, fewer = min(self.steps + self.most // 10, self.most), max(self.steps // 2, min(4, self.most))
        self.steps = more if enough else fewer
        return self.steps


class PreparedSolver(Protocol):
    """A solver with everything factored that does not depend on γ."""

    def start(self) -> Solution:
        """δ⁽⁰⁾: nothing changed, at γ = 0."""
        ...

    def solve(self, gamma: float, previous: Solution) -> Solution:
        """argmin O_γ, warm-started at the previous solution."""
        ...


@runtime_checkable
class PreparedPathSolver(PreparedSolver, Protocol):
    """A prepared solver for which several γ together cost less than one after the other."""

    def solve_all(self, gammas: Iterable[float], previous: Solution, budget: int) -> Iterator[Solution]:
        """argmin O_γ for falling γ, each warm-started at the one before.

        A caller who stops when more rows than the budget are flagged loses no work.
        """
        ...


class Solver(Protocol):
    """A way to minimise O_γ; a value, with tolerances and limits as its fields."""

    def prepare(self, objective: Objective) -> PreparedSolver:
        """Do once what every γ shares."""
        ...
