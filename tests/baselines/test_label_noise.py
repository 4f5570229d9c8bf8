from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from duti import Problem, ProblemError
from duti.arrays import Array
from duti.baselines import LabelNoise, consistency
from duti.baselines.consistency import Consistency, Group, exact, local_optimum, most_consistent
from duti.datasets import harry_potter
from duti.metrics import average_precision


def random_consistency(seed: int, n: int, positive: int, negative: int) -> Consistency:
    rng = np.random.default_rng(seed)
    X, h = rng.normal(size=(n, 2)), rng.uniform(0.3, 1)
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:4] = [1, -1, 1, -1]
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    Q = y[:, None] * np.exp(-squared / (2 * h**2)) * y
    groups = Group(np.flatnonzero(y > 0), positive), Group(np.flatnonzero(y < 0), negative)
    return Consistency(Q, rng.normal(size=n), groups)


def brute_force(problem: Consistency) -> float:
    values = []
    first, second = problem.groups
    for some in combinations(first.rows, first.wrong):
        for others in combinations(second.rows, second.wrong):
            eta = np.ones(len(problem.b))
            eta[[*some, *others]] = -1
            values.append(problem.value(eta))
    return max(values)


def require_counts(problem: Consistency, eta: Array) -> None:
    assert set(np.unique(eta)) <= {-1.0, 1.0}
    assert [int((eta[group.rows] < 0).sum()) for group in problem.groups] == [g.wrong for g in problem.groups]


@pytest.mark.parametrize("counts", [(0, 0), (1, 0), (2, 2), (0, 2), (1, 2)])
@pytest.mark.parametrize("seed", range(6))
def test_exact_is_exact(seed: int, counts: tuple[int, int]) -> None:
    problem = random_consistency(seed, 12, *counts)
    eta = exact(problem)
    assert eta is not None
    require_counts(problem, eta)
    assert problem.value(eta) == pytest.approx(brute_force(problem), rel=1e-9)
    assert problem.bound >= problem.value(eta) - 1e-9


def test_local_search_comes_within_a_hundredth_of_exact() -> None:
    ratios = []
    for seed in range(20):
        problem = random_consistency(seed, 30, 4, 3)
        best, found = exact(problem), local_optimum(problem)
        assert best is not None
        require_counts(problem, found)
        ratios.append(problem.value(found) / problem.value(best))
    assert min(ratios) >= 0.99
    assert max(ratios) <= 1 + 1e-9


def test_no_exchange_improves_a_local_optimum() -> None:
    problem = random_consistency(0, 60, 8, 9)
    eta = local_optimum(problem, starts=2)
    value = problem.value(eta)
    for group in problem.groups:
        for back in group.rows[eta[group.rows] < 0]:
            for new in group.rows[eta[group.rows] > 0]:
                other = eta.copy()
                other[back], other[new] = 1, -1
                assert problem.value(other) <= value + 1e-8


def test_large_problems_are_searched_and_say_how_far_from_the_best_they_may_be() -> None:
    found = most_consistent(random_consistency(1, 150, 15, 15))
    assert found.how.startswith("local optimum of 20 starts; the best is at most ")


def test_what_cannot_be_solved_in_time_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consistency, "SECONDS", 0)
    assert most_consistent(random_consistency(1, 30, 4, 4)).how.startswith("local optimum")


def test_harry_potter_with_the_numbers_of_an_oracle() -> None:
    """The paper has precision and recall .84, from a weaker search."""
    scores = []
    for seed in range(10):
        data = harry_potter(np.random.default_rng(seed))
        problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted)
        findings = LabelNoise(0, int(data.is_bug.sum())).rank(problem)
        assert len(findings.flagged) == data.is_bug.sum()
        assert "LND: solved exactly." in findings.notes
        scores.append(average_precision(findings.ranking, data.is_bug))
    assert np.mean(scores) >= 0.95


def test_trusted_items_pull_the_labels_near_them() -> None:
    X, y = [[0.0], [1.0], [10.0], [11.0]], ["a", "a", "b", "b"]
    for trusted, flagged in ((0.5, [0, 1]), (10.5, [])):
        problem = Problem(X, y, [[trusted]] * 3, ["b"] * 3)
        rows = LabelNoise(0, 1, bandwidth=0.1).rank(problem).flagged
        assert bool(set(rows.tolist()) & set(flagged)) == bool(flagged)


def test_verified_rows_are_fixed_points_and_do_not_count() -> None:
    data = harry_potter(np.random.default_rng(0))
    bugs = np.flatnonzero(data.is_bug)
    verified = {int(bugs[0]): 1, 0: -1}
    problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted, verified=verified)
    findings = LabelNoise(0, len(bugs) - 1).rank(problem)
    assert set(findings.ranking[-2:].tolist()) == set(verified)
    assert len(findings.flagged) == len(bugs) - 1
    assert data.is_bug[findings.flagged].mean() >= 0.9


def test_more_than_two_classes_are_refused() -> None:
    problem = Problem([[0.0], [1.0], [2.0]], ["a", "b", "c"], [[0.0]], ["a"])
    with pytest.raises(ProblemError, match="LabelNoise is for two classes, but the labels are of 3 classes"):
        LabelNoise(1, 1).rank(problem)


@pytest.mark.parametrize(
    "detector, message",
    [
        (
            LabelNoise(3, 0),
            "positive_bugs is 3, but 2 rows that are not verified have the label 'b'; use 0 to 2",
        ),
        (LabelNoise(0, -1), "negative_bugs is -1, but 1 rows that are not verified have the label 'a'"),
        (LabelNoise(0, 1, bandwidth=0.0), "bandwidth is 0.0; use a finite number above 0"),
    ],
)
def test_impossible_numbers_are_refused(detector: LabelNoise, message: str) -> None:
    problem = Problem([[0.0], [1.0], [2.0]], ["a", "b", "b"], [[0.0]], ["a"])
    with pytest.raises(ProblemError, match=message):
        detector.rank(problem)


def test_rows_that_are_all_the_same_can_be_ranked() -> None:
    problem = Problem([[1.0]] * 6, ["a", "b"] * 3, [[1.0]], ["a"])
    assert len(LabelNoise(1, 1).rank(problem).flagged) == 2
