from __future__ import annotations

import numpy as np

from duti import Problem
from duti.baselines import NearestTrusted

# The second column has 10 times the deviation of the first, and the third is constant.
X = [[0.0, 0.0, 5.0], [1.0, 0.0, 5.0], [0.0, 10.0, 5.0], [1.0, 10.0, 5.0]]


def test_four_points_by_hand() -> None:
    problem = Problem(X, ["a", "b", "b", "a"], [[0.2, 1.0, 99.0], [0.9, 7.0, 5.0]], ["b", "a"])
    findings = NearestTrusted(budget=4).rank(problem)
    # The deviation of a column is half its range. Distances to the two items:
    # row 0 (.4, .2) or (1.8, 1.4), row 1 (1.6, .2) or (.2, 1.4), row 2 (.4, 1.8) or (1.8, .6),
    # row 3 (1.6, 1.8) or (.2, .6).
    expected = [np.hypot(0.4, 0.2), np.hypot(0.2, 1.4), np.hypot(0.4, 1.8), np.hypot(0.2, 0.6)]
    np.testing.assert_allclose(findings.deviation, -np.array(expected))
    # Row 0 is "a" near a "b", row 1 is "b" near an "a"; the others agree.
    assert findings.flagged.tolist() == [0, 1]
    assert findings.ranking.tolist() == [0, 1, 3, 2]
    assert findings.suggested_labels.tolist() == ["b", "a", "b", "a"]


def test_regression_ranks_by_distance_alone() -> None:
    problem = Problem(X, [1.5, 2.0, 3.0, 4.0], [[1.0, 1.0, 5.0]], [2.0])
    findings = NearestTrusted(budget=3).rank(problem)
    assert findings.ranking.tolist() == [1, 3, 0, 2]
    assert findings.suggested_labels.tolist() == [2.0, 2.0, 3.0, 2.0]
