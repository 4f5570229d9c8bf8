"""Algorithm 1: follow γ downwards until the budget of flagged rows is spent.

γ⁽⁰⁾ is the largest γ at which something changes; γ⁽ᵗ⁾ = γ⁽ᵗ⁻¹⁾/2, each step warm-started at the one
before. The path ends when the rows flagged so far exceed the budget; or, in classification, with a
last step at γ = 0; or, in regression, at γ/2 = the noise level, because at γ = 0 the new labels
no longer depend on the given ones. Regression goes on to the noise level whatever the budget, measured
without the rows that are flagged by then: its fixes come from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from duti.arrays import Array, Ints
from duti.problem import Problem
from duti.relabelling import Relabelling
from duti.solvers import PreparedPathSolver, PreparedSolver, Solution, Solver
from duti.solvers.huber_newton import HuberNewton
from duti.solvers.projected_gradient import ProjectedGradient
from duti.solvers.prox_linear import ProxLinear

SMALLEST_GAMMA = 1e-3
"""Below this log-odds price of a flip, classification takes its last step, at γ = 0."""
INFLATED = 0.6
"""Where the noise level measured anew is this small, wrong labels had still counted as noise.

Of rows with normal noise, those within the noise level have 0.66 of it: they are close by selection.
"""
PLAIN_ROWS = 200
"""Up to this many rows a classification is solved by plain projected gradients, to a sharper tolerance."""


class Status(StrEnum):
    """How a step or a whole path ended, in a sentence."""

    CONVERGED = "Converged: every step of the path is optimal to its tolerance."
    BUDGET_REACHED = "Budget reached: the path stopped because it flagged more rows than are to be checked."
    NOTHING_TO_FIX = (
        "Nothing to fix: the learner already agrees with the trusted items and with itself, "
        "so no label needs to change; the rows are ranked by how close they come."
    )
    NOT_CONVERGED = (
        "Not converged: at least one step stopped before it was optimal, so ranks and fixes are "
        "approximate; try a larger ridge or a smaller confidence."
    )
    SCORED = "Scored: the rows are ranked by a score of their own; no label was changed to find out."
    WEIGHED = (
        "Weighed: the rows are ranked by what many learners say, each as far as the rows and the trusted "
        "items bear it out."
    )
    INTERRUPTED = "Interrupted: only the steps done so far are here; run again for the rest."


@dataclass(frozen=True, eq=False)
class Step:
    """One γ of the path."""

    gamma: float
    objective: float
    """O_γ(δ)."""
    rows: Ints
    """Rows whose label changed at all."""
    delta: Array
    """δ at those rows: new soft labels (rows, k), or shifts (rows,)."""
    flagged: Ints
    """F: rows that now have another label."""
    accuracy: float
    """How far from optimal: the relative duality gap (regression) or Frank-Wolfe gap (classification)."""
    status: Status

    @classmethod
    def of(cls, solution: Solution, relabelling: Relabelling) -> Step:
        """What is worth keeping of a solution."""
        rows = np.flatnonzero(relabelling.deviation(solution.delta))
        return cls(
            gamma=solution.gamma,
            objective=solution.value,
            rows=rows,
            delta=solution.delta[rows],
            flagged=np.flatnonzero(relabelling.flagged(solution.delta)),
            accuracy=solution.accuracy,
            status=Status.CONVERGED if solution.converged else Status.NOT_CONVERGED,
        )


def default_solver(problem: Problem) -> Solver:
    """Huber-Newton for a regression; for classes projected gradients on few rows, prox-linear on more."""
    if problem.task == "regression":
        return HuberNewton()
    return ProjectedGradient() if problem.n <= PLAIN_ROWS else ProxLinear()


def noise_level(residual: Array, spread: float) -> float:
    """A robust standard deviation of labels around a learner: 1.4826 · median |residual|.

    A learner that interpolates leaves no residual; then a thousandth of the spread of y stands in.

    >>> noise_level(np.array([-1.0, 0.5, 1.0, 50.0]), spread=1.0)
    1.4826
    """
    return float(max(1.4826 * np.median(abs(residual)), 1e-3 * spread, np.finfo(float).tiny))


def last_gamma(problem: Problem, at: Solution) -> float:
    """γ at the noise level of the labels around the learner, over the rows that are not flagged.

    At δ⁽⁰⁾ wrong labels count as noise; once they are flagged, the rest shows how large it is.
    Classification ends at γ = 0.
    """
    if problem.task == "classification":
        return 0.0
    kept = at.delta == 0 if (at.delta == 0).any() else slice(None)
    return 2 * noise_level((problem.y - at.scores)[kept], float(problem.y.std()))


def gammas(gamma_max: float, last: float) -> Iterator[float]:
    """γ⁽⁰⁾/2, γ⁽⁰⁾/4, … and at the end `last`.

    >>> list(gammas(10.0, 2.0))
    [5.0, 2.5, 2.0]
    """
    smallest = max(last, SMALLEST_GAMMA if last == 0 else 0.0)
    gamma = gamma_max / 2
    while gamma > smallest:
        yield gamma
        gamma /= 2
    yield last


def follow(
    problem: Problem, relabelling: Relabelling, solver: PreparedSolver, start: Solution, budget: int
) -> Iterator[Solution]:
    """The solutions along the path, each yielded as soon as it is found."""
    gamma_max, last = relabelling.gamma_max(start.evidence), last_gamma(problem, start)
    if gamma_max <= last:
        return
    flagged = np.zeros(problem.n, dtype=bool)
    for at in _solutions(solver, gammas(gamma_max, last), start, budget):
        yield at
        flagged |= relabelling.flagged(at.delta)
        if flagged.sum() > budget:
            break
    if problem.task == "regression":
        last = min(last, last_gamma(problem, at))
        if last < at.gamma:
            at = solver.solve(last, at)
            yield at
        if (last := last_gamma(problem, at)) < INFLATED * at.gamma:
            yield solver.solve(last, at)


def _solutions(
    solver: PreparedSolver, gammas: Iterable[float], at: Solution, budget: int
) -> Iterator[Solution]:
    """argmin O_γ for falling γ: in batches from a solver that can, else one after the other."""
    if isinstance(solver, PreparedPathSolver):
        yield from solver.solve_all(gammas, at, budget)
        return
    for gamma in gammas:
        at = solver.solve(gamma, at)
        yield at
