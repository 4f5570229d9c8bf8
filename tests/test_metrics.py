from __future__ import annotations

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve

from duti.metrics import average_curve, average_precision, correct_fixes, precision_recall, ranking_curve


def test_average_precision_agrees_with_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    ranking, bugs = rng.permutation(50), rng.random(50) < 0.3
    scores = np.empty(50)
    scores[ranking] = -np.arange(50)
    assert np.isclose(average_precision(ranking, bugs), average_precision_score(bugs, scores))


def test_ties_are_flagged_together() -> None:
    rng = np.random.default_rng(1)
    score, bugs = rng.integers(0, 5, 60).astype(float), rng.random(60) < 0.3
    curve = precision_recall(score, bugs)
    precision, recall, _ = precision_recall_curve(bugs, score)
    np.testing.assert_allclose(curve.recall, recall[:-1][::-1])
    np.testing.assert_allclose(curve.precision, precision[:-1][::-1])
    shuffled = rng.permutation(60)
    again = precision_recall(score[shuffled], bugs[shuffled])
    np.testing.assert_allclose(again.precision, curve.precision)


def test_an_average_curve_has_the_mean_area_and_its_spread() -> None:
    rng = np.random.default_rng(2)
    curves = [ranking_curve(rng.permutation(200), np.arange(200) < 20) for _ in range(30)]
    average = average_curve(curves, np.linspace(0, 1, 1001))
    assert np.isclose(average.curve.area, np.mean([curve.area for curve in curves]), atol=5e-3)
    assert (average.error > 0).any()
    assert np.isnan(average_curve(curves[:1]).error).all()


def test_fixes_count_only_where_a_bug_got_its_own_label() -> None:
    truth, fixes = np.array([0, 1, 2, 2]), np.array([0, 1, 2, 1])
    is_bug = np.array([False, True, True, True])
    np.testing.assert_array_equal(correct_fixes(np.array([0, 3, 2, 1]), fixes, truth, is_bug), [0, 0, 1, 2])
