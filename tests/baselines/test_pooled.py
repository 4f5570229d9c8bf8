from __future__ import annotations

import numpy as np
import pytest

from duti import KernelLogistic, Logistic, Problem, ProblemError, Ridge
from duti.baselines import Pooled, TrainingLoss
from duti.learners.model import train


def blobs(m: int) -> Problem:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 2)) + y[:, None]
    items = rng.integers(60, size=m)
    return Problem(X, np.where(rng.random(60) < 0.2, 0, y), X[items] + 0.01, y[items])


@pytest.mark.parametrize("weight", [1.0, 2.0])
def test_weights_are_what_repeating_the_items_gives(weight: float) -> None:
    """60 rows and 10 items: each item counts as 6 rows; a mean over more rows has a smaller ridge."""
    problem = blobs(10)
    times = int(6 * weight)
    X, y = (
        np.concatenate([rows, np.repeat(items, times, axis=0)])
        for rows, items in ((problem.X, problem.X_trusted), (problem.y, problem.y_trusted))
    )
    scores = train(Logistic(0.1 / (1 + weight)), X, y, 3).scores(problem.X)
    P = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    findings = Pooled(Logistic(0.1), budget=60, weight=weight).rank(problem)
    np.testing.assert_allclose(findings.deviation, 1 - P[np.arange(60), problem.y], atol=1e-7)
    np.testing.assert_array_equal(
        np.sort(findings.flagged), np.flatnonzero(scores.argmax(axis=1) != problem.y)
    )


def test_a_regression_is_one_weighted_least_squares_problem() -> None:
    rng = np.random.default_rng(0)
    X, y, X_trusted, y_trusted = (
        rng.normal(size=(20, 2)),
        rng.normal(size=20),
        rng.normal(size=(5, 2)),
        rng.normal(size=5),
    )
    A, b = np.concatenate([X, 2 * X_trusted]) / 20**0.5, np.concatenate([y, 2 * y_trusted]) / 20**0.5
    theta = np.linalg.solve(A.T @ A + 0.1 * np.eye(2), A.T @ b)  # weights 1/20 and 1/5 = 2²/20
    findings = Pooled(Ridge(0.1), budget=20).rank(Problem(X, y, X_trusted, y_trusted))
    np.testing.assert_allclose(findings.suggested_labels, X @ theta)
    np.testing.assert_allclose(findings.deviation, abs(X @ theta - y))


def test_items_without_weight_leave_the_plain_learner() -> None:
    problem = blobs(10)
    pooled, plain = (
        detector.rank(problem)
        for detector in (Pooled(KernelLogistic(1.0, 0.1), weight=0.0), TrainingLoss(KernelLogistic(1.0, 0.1)))
    )
    np.testing.assert_array_equal(pooled.ranking, plain.ranking)


def test_a_negative_weight_is_refused() -> None:
    with pytest.raises(ProblemError, match=r"weight is -1\.0; use a finite number, 0 or above"):
        Pooled(weight=-1.0).rank(blobs(10))
