"""KNN-Shapley: what each training row is worth to a nearest-neighbour classifier of the trusted items.

The utility of a set of rows S for an item is the share of its K nearest rows in S that have the
item's label. With rows α₁, α₂ … α_n by distance from the item (Jia et al. 2019, theorem 1),

    s(α_n) = 1[y_αn = ỹ] min(K, n)/(K n)
    s(α_i) = s(α_{i+1}) + (1[y_αi = ỹ] − 1[y_α(i+1) = ỹ]) min(K, i)/(K i)

and the value of a row is the mean of s over the items.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duti.arrays import Array
from duti.baselines.distances import distances, normalised
from duti.errors import ProblemError
from duti.findings import Findings, scored
from duti.problem import Problem

CELLS = 4_000_000
"""Distances that are held at once."""


@dataclass(frozen=True)
class KNNShapley:
    """Rows by their Shapley value for the trusted items, the lowest first. For classes only.

    Features are normalised one by one. A row never harms items of its own label nor helps others:
    flagged rows do more harm than good (value < 0), and the fix is the class whose trusted items
    the row harms most.

    >>> problem = Problem([[0.0], [0.1], [0.9], [1.0]], ["a", "b", "b", "b"], [[0.1], [1.0]], ["a", "b"])
    >>> KNNShapley(neighbours=1).rank(problem).flagged
    array([1])
    """

    budget: int | None = None
    neighbours: int = 5

    def rank(self, problem: Problem) -> Findings:
        """Sort the rows by distance from each trusted item."""
        if problem.classes is None:
            raise ProblemError(
                "KNNShapley is for classification, but the labels are a regression; "
                "use NearestTrusted, TrustedOnly or Influence."
            )
        if self.neighbours < 1:
            raise ProblemError(f"neighbours is {self.neighbours}; use a whole number above 0.")
        by_class = shapley_values(problem, self.neighbours)
        value, fixes = by_class.sum(axis=1), by_class.argmin(axis=1)
        return scored(problem, -value, fixes, value < 0, budget=self.budget)


def shapley_values(problem: Problem, K: int) -> Array:
    """(n, k): the Shapley value of each row, as the sum of what the items of each class contribute.

    >>> problem = Problem([[0.0], [1.0]], ["a", "b"], [[0.2]], ["b"])
    >>> shapley_values(problem, K=1)
    array([[ 0. , -0.5],
           [ 0. ,  0.5]])
    """
    X, X_trusted = normalised(problem)
    n, m = problem.n, problem.m
    by_class = np.zeros((n, problem.k))
    at_once = max(1, CELLS // n)
    for start in range(0, m, at_once):
        items = slice(start, start + at_once)
        labels = problem.y_trusted[items]
        order = np.argsort(distances(X_trusted[items], X), axis=1, kind="stable")
        values = _by_distance((problem.y[order] == labels[:, None]).astype(np.float64), K)
        for sorted_rows, label, value in zip(order, labels, values, strict=True):
            by_class[sorted_rows, label] += value / m
    return by_class


def _by_distance(agrees: Array, K: int) -> Array:
    """s for rows sorted by distance: one line for each item, summed up from the farthest row."""
    n = agrees.shape[1]
    i = np.arange(1, n + 1)
    # The farthest row is followed by one that agrees with nothing and is worth nothing.
    differences = agrees - np.pad(agrees[:, 1:], ((0, 0), (0, 1)))
    return np.asarray(np.cumsum((differences * np.minimum(K, i) / (K * i))[:, ::-1], axis=1)[:, ::-1])
