"""The pieces of a run of duti that are timed apart: a cold fit, the given fit, the path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import duti
from benchmarks.measurement import CONFIDENCE, timed
from duti.datasets import LabelledBugs
from duti.objective import Objective
from duti.path import default_solver, follow
from duti.ranking import Tally
from duti.resources import limited_threads

FIT_TOL = 1e-4
"""scikit-learn's default for max|∇| of a logistic regression."""
REPEATS = 3


@dataclass(frozen=True)
class Speed:
    """Seconds and passes over Z of a classification, each the least of some repeats."""

    n: int
    D: int
    k: int
    ridge: float
    cold_fit: float
    """From θ = 0 to max|∇| ≤ 1e-4."""
    cold_fit_passes: float
    given_fit: float
    """The fit that the path starts from, to the tolerance that the path needs."""
    path: float
    """From the given fit to the last step."""
    path_passes: float
    peer_fit: float
    """scikit-learn's fit of the same matrix to the same tolerance."""
    steps: int
    flagged: int
    bugs: int

    @property
    def where(self) -> str:
        """The setting, for a table."""
        return f"n={self.n:,}, D={self.D}, k={self.k}, ridge {self.ridge:g}"


def problem_of(data: LabelledBugs, confidence: float = CONFIDENCE) -> duti.Problem:
    """The debugging problem of generated data."""
    return duti.Problem(data.X, data.y, data.X_trusted, data.y_trusted, confidence=confidence)


def budget_of(data: LabelledBugs) -> int:
    """As many rows as there are bugs."""
    return max(1, int(data.is_bug.sum()))


def walk(objective: Objective, budget: int) -> Tally:
    """Algorithm 1 from the given fit on."""
    problem = objective.problem
    solver = default_solver(problem).prepare(objective)
    start = solver.start()
    tally = Tally(objective.relabelling, start)
    for solution in follow(problem, objective.relabelling, solver, start, budget):
        tally.add(solution)
    return tally


def speed(data: LabelledBugs, ridge: float, repeats: int = REPEATS) -> Speed:
    """Fits and the whole path of a classification, in turns, so that all see the same machine."""
    problem, budget = problem_of(data), budget_of(data)
    times: dict[str, list[float]] = {"cold_fit": [], "given_fit": [], "path": [], "peer_fit": []}
    for _ in range(repeats):
        with limited_threads(None):
            objective = Objective(problem, duti.Logistic(ridge=ridge))
            labels = objective.relabelling.labels(objective.relabelling.start)
            before = passes(objective)
            times["cold_fit"].append(timed(lambda: objective.erm.fit(labels, tol=FIT_TOL))[0])  # noqa: B023
            fit_passes = passes(objective) - before
            times["given_fit"].append(timed(lambda: objective.given_fit)[0])  # noqa: B023
            before = passes(objective)
            seconds, tally = timed(lambda: walk(objective, budget))  # noqa: B023
            times["path"].append(seconds)
            path_passes = passes(objective) - before
        times["peer_fit"].append(_peer_fit(data, objective, ridge))
    return Speed(
        n=problem.n,
        D=int(problem.X.shape[1]),
        k=problem.k,
        ridge=ridge,
        cold_fit_passes=fit_passes,
        path_passes=path_passes,
        steps=len(tally.steps),
        flagged=tally.flagged,
        bugs=budget,
        **{name: min(seconds) for name, seconds in times.items()},
    )


def passes(objective: Objective) -> float:
    """Products with Z and Zᵀ so far; NaN if the rows do not count them."""
    return float(getattr(objective.rows, "passes", np.nan))


def _peer_fit(data: LabelledBugs, objective: Objective, ridge: float) -> float:
    """Seconds of scikit-learn for the same learner: C = 1/(nλ), or 2/(nλ) for the sigmoid of two classes."""
    from sklearn.linear_model import LogisticRegression

    n, k = objective.problem.n, objective.problem.k
    X = np.ascontiguousarray(data.X, dtype=objective.rows.Z.dtype)
    peer = LogisticRegression(C=(2 if k == 2 else 1) / (n * ridge), tol=FIT_TOL, max_iter=100_000)
    return timed(lambda: peer.fit(X, data.y))[0]
