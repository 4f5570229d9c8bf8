from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np
import pytest

from duti import Problem, ProblemError
from duti.arrays import Array
from duti.baselines import KNNShapley
from duti.baselines.knn_shapley import shapley_values


def brute_force(problem: Problem, K: int) -> Array:
    """Shapley's formula over all sets of rows."""
    n = problem.n
    scale = np.asarray(problem.X).std(axis=0)
    D = np.linalg.norm(
        (np.asarray(problem.X)[None] - np.asarray(problem.X_trusted)[:, None]) / scale, axis=-1
    )

    def utility(rows: tuple[int, ...]) -> float:
        total = 0.0
        for distance, label in zip(D, problem.y_trusted, strict=True):
            nearest = sorted(rows, key=lambda row: distance[row])[:K]
            total += sum(problem.y[row] == label for row in nearest) / K
        return total / len(D)

    values = np.zeros(n)
    for row in range(n):
        others = [other for other in range(n) if other != row]
        for size in range(n):
            weight = factorial(size) * factorial(n - size - 1) / factorial(n)
            for some in combinations(others, size):
                values[row] += weight * (utility((*some, row)) - utility(some))
    return values


@pytest.mark.parametrize("K", [1, 2, 3, 8, 10])
def test_values_are_those_of_shapley(K: int) -> None:
    rng = np.random.default_rng(K)
    y = np.array([0, 1, 2, 0, 1, 0, 1])
    problem = Problem(rng.normal(size=(7, 2)), y, rng.normal(size=(3, 2)), [0, 1, 1])
    np.testing.assert_allclose(shapley_values(problem, K).sum(axis=1), brute_force(problem, K), atol=1e-12)


def test_a_row_never_harms_its_own_label_nor_helps_another() -> None:
    rng = np.random.default_rng(0)
    problem = Problem(
        rng.normal(size=(50, 2)), rng.integers(3, size=50), rng.normal(size=(20, 2)), [0, 1, 2, 1] * 5
    )
    by_class = shapley_values(problem, 5)
    own = np.eye(3, dtype=bool)[problem.y]
    assert (by_class[own] >= -1e-15).all()
    assert (by_class[~own] <= 1e-15).all()


def test_items_in_several_blocks_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    problem = Problem(
        rng.normal(size=(30, 2)), rng.integers(2, size=30), rng.normal(size=(7, 2)), [0, 1, 1, 0, 1, 0, 1]
    )
    at_once = shapley_values(problem, 5)
    monkeypatch.setattr("duti.baselines.knn_shapley.CELLS", 60)
    np.testing.assert_allclose(shapley_values(problem, 5), at_once, atol=1e-15)


def test_a_number_of_neighbours_below_one_is_refused() -> None:
    problem = Problem([[0.0], [1.0]], ["a", "b"], [[0.0]], ["a"])
    with pytest.raises(ProblemError, match="neighbours is 0; use a whole number above 0"):
        KNNShapley(neighbours=0).rank(problem)
