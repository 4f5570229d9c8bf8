from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from duti import KernelLogistic, KernelRidge, LearnerError, Logistic, Ridge
from duti.features import with_ones
from duti.features.rows import Rows
from duti.learners import erm as erm_module
from duti.learners import preconditioner
from duti.learners.losses import softmax
from duti.learners.model import label_targets, train


def blobs(k: int, n: int = 90) -> tuple[Any, Any]:
    rng = np.random.default_rng(k)
    y = rng.integers(k, size=n)
    return rng.normal(size=(n, 3)) + 0.8 * np.eye(3)[y % 3] + 0.3 * y[:, None], y


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("intercept", [True, False])
def test_logistic_agrees_with_scikit_learn(k: int, intercept: bool) -> None:
    X, y = blobs(k)
    ridge = 0.01
    # Two classes: scikit-learn has one column of weights, ours two of opposite sign.
    C = (2 if k == 2 else 1) / (len(y) * ridge)
    theirs = LogisticRegression(C=C, fit_intercept=intercept, tol=1e-10, max_iter=10_000).fit(X, y)
    ours = train(Logistic(ridge, intercept), X, y, k)
    np.testing.assert_allclose(softmax(ours.scores(X)), theirs.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("intercept", [True, False])
def test_kernel_ridge_is_the_closed_form(intercept: bool) -> None:
    rng = np.random.default_rng(0)
    X, y, ridge, sigma = rng.normal(size=(40, 2)), rng.normal(size=40) + 7, 0.01, 0.9
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * sigma**2))
    system = np.block([[K + 40 * ridge * np.eye(40), np.ones((40, 1))], [np.ones((1, 40)), np.zeros((1, 1))]])
    if intercept:
        solution = np.linalg.solve(system, np.append(y, 0))
        expected = K @ solution[:-1] + solution[-1]
    else:
        expected = K @ np.linalg.solve(system[:-1, :-1], y)
    found = train(KernelRidge(sigma, ridge, intercept), X, y, 0).scores(X)
    np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("learner", [Logistic(0.01), KernelLogistic(1.0, 0.01)], ids=repr)
def test_theta_is_zero_sum_over_the_classes(learner: Any) -> None:
    X, y = blobs(4)
    np.testing.assert_allclose(train(learner, X, y, 4).theta.sum(axis=1), 0, atol=1e-9)


def test_a_warm_start_cuts_the_newton_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = blobs(3)
    erm = Logistic(1e-3).erm(Rows(with_ones(X)), 3)
    labels = label_targets(y, 3)
    fit = erm.fit(labels)
    changed = labels.copy()
    changed[0] = [0.0, 0.5, 0.5]
    calls, solve = [], erm_module.ERM.solve

    def counted(*args: Any) -> Any:
        calls.append(1)
        return solve(*args)

    monkeypatch.setattr(erm_module.ERM, "solve", counted)
    erm.fit(changed, fit)
    warm = len(calls)
    erm.fit(changed)
    assert warm < len(calls) - warm


def test_the_first_newton_step_is_the_linear_prediction_of_theta() -> None:
    """θ + (∂θ/∂δ)(δ' − δ) is second-order accurate in the change of the labels."""
    X, y = blobs(3)
    erm = Logistic(1e-2).erm(Rows(with_ones(X)), 3)
    labels = label_targets(y, 3)
    fit = erm.fit(labels)
    direction = np.roll(labels, 1, axis=1) - labels
    errors = []
    for size in (0.02, 0.01):
        changed = labels + size * direction
        gradient = erm.d_theta(fit.theta, fit.scores, changed)
        curvature = erm.loss.curvature(fit.scores)
        step, _ = erm.solve(curvature, -gradient, fit.preconditioner, 1e-12, np.zeros_like(fit.theta))
        errors.append(abs(fit.theta + step - erm.fit(changed).theta).max())
    assert errors[1] < errors[0] / 3


def test_many_columns_use_a_diagonal_preconditioner_and_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = blobs(3)
    dense = train(Logistic(0.01), X, y, 3).scores(X)
    monkeypatch.setattr(preconditioner, "DENSE_FEATURES", 1)
    np.testing.assert_allclose(train(Logistic(0.01), X, y, 3).scores(X), dense, atol=1e-6)
    np.testing.assert_allclose(train(Logistic(0.01), csr_array(X), y, 3).scores(X), dense, atol=1e-6)


@pytest.mark.parametrize("learner", [Logistic(0.1), Ridge(0.1), Ridge(0.1, intercept=True)], ids=repr)
def test_more_columns_than_rows_give_the_same_scores(learner: Any) -> None:
    """Few rows with many columns are rotated into their row space."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(15, 40)), rng.normal(size=(4, 40))
    y = rng.integers(2, size=15) if learner.task == "classification" else rng.normal(size=15)
    k = 2 if learner.task == "classification" else 0
    wide = train(learner, X, y, k).scores(new)
    plain, plain_new = (with_ones(Z) if learner.intercept else Z for Z in (X, new))
    theta = learner.erm(Rows(plain), k).fit(label_targets(y, k)).theta
    np.testing.assert_allclose(wide, plain_new @ theta, atol=1e-7)


def test_perfectly_separable_labels_are_fitted_without_a_fuss() -> None:
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    scores = train(Logistic(1e-7), X, np.array([0, 0, 1, 1]), 2).scores(X)
    assert np.isfinite(scores).all()
    assert (scores.argmax(axis=1) == [0, 0, 1, 1]).all()


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_impossible_hyperparameters_are_refused(value: float) -> None:
    with pytest.raises(LearnerError, match="use a finite number above 0"):
        KernelLogistic(bandwidth=value)
    with pytest.raises(LearnerError, match="ridge is"):
        Ridge(ridge=value)
