"""LND (oracle) of the paper: the relabelling that is most consistent with itself (Bhadra & Hein 2015).

    max over η ∈ {−1, 1}ⁿ of  Σ_ij η_i Q_ij η_j,     Q_ij = y_i y_j exp(−‖x_i − x_j‖²/(2h²))

where η_i = −1 says that the label y_i = ±1 is wrong. Trusted items take part with η = 1, and the
numbers of wrong labels of either class are given, which only an oracle knows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duti.arrays import Array
from duti.baselines.consistency import Consistency, Group, most_consistent
from duti.baselines.distances import distances, normalised
from duti.errors import ProblemError
from duti.findings import Findings, scored
from duti.problem import Problem
from duti.randomness import Seed

NEIGHBOUR = 10
"""The default bandwidth is the median distance to the neighbour of this rank."""


@dataclass(frozen=True)
class LabelNoise:
    """LND: flags exactly the given numbers of rows, for two classes; the fix is the other class.

    `positive_bugs` is the number of wrong labels among the rows whose given label is the second of
    the sorted classes, `negative_bugs` among the others; verified rows do not count. Features are
    normalised one by one. `bandwidth` h is a length in these units; None is the median distance of
    a row to its 10th nearest row. Flagged rows are ranked by how much the relabelled data contradict
    their given label. Budget None: all of them.

    >>> X, y = [[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]], ["a", "b", "a", "b", "b", "b"]
    >>> problem = Problem(X, y, [[0.05]], ["a"])
    >>> findings = LabelNoise(positive_bugs=1, negative_bugs=0, bandwidth=0.3).rank(problem)
    >>> findings.flagged, findings.notes
    (array([1]), ('LND: solved exactly.',))
    """

    positive_bugs: int
    negative_bugs: int
    bandwidth: float | None = None
    budget: int | None = None
    random_state: Seed = None

    def rank(self, problem: Problem) -> Findings:
        """Build Q, solve for η."""
        self._require_feasible(problem)
        free = np.flatnonzero(~problem.frozen)
        consistency = self._consistency(problem)
        found = most_consistent(consistency, self.random_state)
        flagged = np.zeros(problem.n, dtype=bool)
        flagged[free] = found.eta < 0
        score = np.zeros(problem.n)
        score[free] = -consistency.agreement(found.eta)
        budget = max(1, self.positive_bugs + self.negative_bugs) if self.budget is None else self.budget
        return scored(problem, score, 1 - problem.y, flagged, budget=budget, notes=(f"LND: {found.how}.",))

    def _consistency(self, problem: Problem) -> Consistency:
        """Q of the rows that may change, and what the trusted items (verified rows included) add."""
        X, X_trusted = normalised(problem)
        free = np.flatnonzero(~problem.frozen)
        D = distances(X[free], X[free])
        h = median_neighbour(D) if self.bandwidth is None else self.bandwidth
        y, y_trusted = 2.0 * problem.y[free] - 1, 2.0 * problem.y_trusted - 1
        Q = y[:, None] * np.exp(-0.5 * (D / h) ** 2) * y
        trusted = y * (np.exp(-0.5 * (distances(X[free], X_trusted) / h) ** 2) @ y_trusted)
        positive = Group(np.flatnonzero(y > 0), self.positive_bugs)
        negative = Group(np.flatnonzero(y < 0), self.negative_bugs)
        return Consistency(Q, trusted, (positive, negative))

    def _require_feasible(self, problem: Problem) -> None:
        if problem.k != 2:
            seen = "a regression" if problem.classes is None else f"of {problem.k} classes"
            raise ProblemError(
                f"LabelNoise is for two classes, but the labels are {seen}; "
                "use Influence or NearestTrusted, which take any."
            )
        if self.bandwidth is not None and not (np.isfinite(self.bandwidth) and self.bandwidth > 0):
            raise ProblemError(
                f"bandwidth is {self.bandwidth}; use a finite number above 0, or None for the median rule."
            )
        for name, label in (("negative_bugs", 0), ("positive_bugs", 1)):
            bugs, rows = getattr(self, name), int(((problem.y == label) & ~problem.frozen).sum())
            if not 0 <= bugs <= rows:
                given = problem.decode(np.array([label])).tolist()[0]
                raise ProblemError(
                    f"{name} is {bugs}, but {rows} rows that are not verified have the label {given!r}; "
                    f"use 0 to {rows}."
                )


def median_neighbour(D: Array) -> float:
    """Median over rows of the distance to the 10th nearest other row, or the farthest if there are fewer.

    >>> median_neighbour(np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]))
    3.0
    """
    rank = min(NEIGHBOUR, len(D) - 1)
    h = float(np.median(np.partition(D, rank, axis=1)[:, rank]))
    return h if h > 0 else 1.0  # most rows are duplicates: any width tells them from the others
