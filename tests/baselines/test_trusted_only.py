from __future__ import annotations

import numpy as np
import pytest

from duti import KernelLogistic, KernelRidge, Problem, Ridge
from duti.baselines import TrainingLoss, TrustedOnly
from duti.learners.model import train
from duti.tune import tune


def blobs(per_class: int) -> Problem:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X, X_trusted = rng.normal(size=(60, 2)) + 3 * y[:, None], rng.normal(size=(3 * per_class, 2))
    y_trusted = np.arange(3 * per_class) % 3
    return Problem(X, y, X_trusted + 3 * y_trusted[:, None], y_trusted)


def test_a_linear_learner_is_trained_on_the_trusted_items() -> None:
    rng = np.random.default_rng(0)
    X, y, X_trusted, y_trusted = (
        rng.normal(size=(20, 2)),
        rng.normal(size=20),
        rng.normal(size=(5, 2)),
        rng.normal(size=5),
    )
    findings = TrustedOnly(Ridge(0.1), budget=20).rank(Problem(X, y, X_trusted, y_trusted))
    predicted = train(Ridge(0.1), X_trusted, y_trusted, k=0).scores(X)
    np.testing.assert_allclose(findings.suggested_labels, predicted)
    np.testing.assert_allclose(findings.deviation, abs(predicted - y))


def test_hyperparameters_come_from_the_trusted_items_if_there_are_two_of_each_class() -> None:
    for per_class in (1, 2):
        problem = blobs(per_class)
        X, y = (problem.X, problem.y) if per_class == 1 else (problem.X_trusted, problem.y_trusted)
        assert TrustedOnly().rank(problem).learner == tune(KernelLogistic(), X, y, 3).best


@pytest.mark.parametrize("m", [1, 9, 10])
def test_a_regression_needs_ten_items_to_be_tuned_on_them(m: int) -> None:
    rng = np.random.default_rng(0)
    X, X_trusted = rng.normal(size=(40, 1)), rng.normal(size=(m, 1))
    problem = Problem(X, np.sin(X[:, 0]), X_trusted, np.sin(X_trusted[:, 0]), task="regression")
    X, y = (X_trusted, problem.y_trusted) if m == 10 else (X, problem.y)
    assert TrustedOnly().rank(problem).learner == tune(KernelRidge(intercept=True), X, y, 0).best


def test_classes_without_a_trusted_item_are_named() -> None:
    X, y = [[0.0], [0.1], [0.9], [1.0]], ["a", "b", "c", "c"]
    findings = TrustedOnly(KernelLogistic(0.5, 0.1)).rank(Problem(X, y, [[0.0], [1.0]], ["a", "c"]))
    assert (
        "No trusted item has the label 'b': a learner of the trusted items never predicts it."
        in findings.notes
    )
    assert findings.flagged.tolist() == [1]


def test_training_loss_is_the_loss_of_the_trained_learner() -> None:
    problem = blobs(1)
    scores = train(KernelLogistic(1.0, 0.1), problem.X, problem.y, 3).scores(problem.X)
    losses = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(60), problem.y]
    findings = TrainingLoss(KernelLogistic(1.0, 0.1), budget=60).rank(problem)
    np.testing.assert_allclose(findings.deviation, losses, atol=1e-8)
    np.testing.assert_array_equal(
        np.sort(findings.flagged), np.flatnonzero(scores.argmax(axis=1) != problem.y)
    )
