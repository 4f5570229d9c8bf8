"""NN of the paper: suspicion is nearness to a trusted item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duti.arrays import Array, Ints
from duti.baselines.distances import distances, normalised
from duti.features import blocks
from duti.findings import Findings, scored
from duti.problem import Problem


@dataclass(frozen=True)
class NearestTrusted:
    """NN: the nearer a trusted item, the more suspicious; its label is the fix.

    Features are normalised one by one. Classification: flags rows whose label differs from that of
    the closest trusted item, the nearest first. Regression: all rows, the nearest first.

    >>> problem = Problem([[0.0], [0.3], [0.9], [1.0]], ["b", "b", "b", "a"], [[0.2]], ["a"])
    >>> NearestTrusted(budget=4).rank(problem).flagged
    array([1, 0, 2])
    """

    budget: int | None = None

    def rank(self, problem: Problem) -> Findings:
        """Find the closest trusted item of each row."""
        item, distance = _nearest(problem)
        fixes = problem.y_trusted[item]
        flagged = (fixes != problem.y) | (problem.task == "regression")
        return scored(problem, -distance, fixes, flagged, budget=self.budget)


def _nearest(problem: Problem) -> tuple[Ints, Array]:
    """The closest trusted item of each row, and its distance; the first of equals."""
    X, X_trusted = normalised(problem)
    item, distance = np.empty(problem.n, dtype=np.int64), np.empty(problem.n)
    for block in blocks(problem.n):
        D = distances(X[block], X_trusted)
        item[block], distance[block] = D.argmin(axis=1), D.min(axis=1)
    return item, distance
