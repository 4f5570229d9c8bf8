from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from duti import KernelLogistic, KernelRidge, Logistic, Ridge
from duti.learners.losses import Softmax
from duti.learners.model import train
from duti.tune import BANDWIDTHS, FOLDS, RIDGES, ROWS, assign_folds, sample_rows, tune
from duti.tune.columns import Columns, orthogonal


def held_out_loss(learner: Any, X: Any, y: Any, k: int, folds: Any) -> float:
    """Cross-validation as anyone would write it: train without each fold, from scratch."""
    total = 0.0
    for fold in range(folds.max() + 1):
        held = folds == fold
        scores = train(learner, X[~held], y[~held], k).scores(X[held])
        if k:
            total += Softmax().values(scores, np.eye(k)[y[held]]).sum()
        else:
            total += ((scores - y[held]) ** 2).sum()
    return total / int((folds >= 0).sum())


@pytest.mark.parametrize(
    "learner",
    [
        KernelLogistic(bandwidth=1.0),
        KernelLogistic(bandwidth=1.0, intercept=False),
        Logistic(),
        KernelRidge(bandwidth=1.0),
        KernelRidge(bandwidth=1.0, intercept=True),
        Ridge(),
        Ridge(intercept=True),
    ],
    ids=repr,
)
def test_shared_work_gives_the_losses_of_plain_cross_validation(
    learner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duti.tune.BEHIND", np.inf)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(53, 2))
    k = 3 if learner.task == "classification" else 0
    noisy = X[:, 0] + rng.normal(0, 0.5, 53)
    y = (noisy > 0).astype(int) + (X[:, 1] > 0.7) if k else np.sin(X[:, 0]) + 5
    found = tune(learner, X, y, k, random_state=4)
    folds = assign_folds(y, k, np.random.default_rng(4))
    assert [trial.learner.ridge for trial in found.trials] == list(RIDGES)
    for trial in found.trials[::2]:
        assert trial.loss == pytest.approx(held_out_loss(trial.learner, X, y, k, folds), rel=5e-3)


def test_the_best_has_the_smallest_loss_and_keeps_what_was_given() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 1))
    found = tune(KernelRidge(ridge=1e-3), X, np.sin(6 * X[:, 0]), 0)
    assert found.best.ridge == 1e-3
    assert {trial.learner.ridge for trial in found.trials} == {1e-3}
    assert min(trial.loss for trial in found.trials) == next(
        trial.loss for trial in found.trials if trial.learner == found.best
    )


def test_ties_go_to_the_most_regularised() -> None:
    """Labels that are all zero are learnt perfectly by every learner."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    found: Any = tune(KernelRidge(), X, np.zeros(30), 0)
    assert found.best.ridge == max(RIDGES)
    assert found.best.bandwidth == max(trial.learner.bandwidth for trial in found.trials)


def test_a_learner_that_is_known_is_not_tuned() -> None:
    learner = Logistic(ridge=0.1)
    found = tune(learner, np.eye(4), np.array([0, 1, 0, 1]), 2)
    assert found.best is learner
    assert found.trials == ()


@pytest.mark.parametrize("counts,number", [((30, 30), FOLDS), ((30, 4), 4), ((30, 2), 2), ((30, 1), FOLDS)])
def test_there_are_as_many_folds_as_the_rarest_class_allows(counts: tuple[int, int], number: int) -> None:
    y = np.repeat([0, 1], counts)
    folds = assign_folds(y, 2, np.random.default_rng(0))
    assert folds.max() + 1 == number
    for label, count in enumerate(counts):
        sizes = np.bincount(folds[(y == label) & (folds >= 0)], minlength=number)
        assert (sizes.max() - sizes.min() <= 1) if count > 1 else (folds[y == label] == -1).all()


def test_folds_of_a_regression_are_even_and_shuffled() -> None:
    folds = assign_folds(np.linspace(0, 1, 57), 0, np.random.default_rng(0))
    assert set(np.bincount(folds)) == {5, 6}
    assert (np.diff(folds) != 1).any()


def test_bandwidths_follow_the_units_of_the_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = X[:, 0] ** 2
    raw = KernelRidge(standardize=False)

    def tuned(learner: Any, rows: Any) -> float:
        best: Any = tune(learner, rows, y, 0).best
        return float(best.bandwidth)

    assert tuned(raw, 1000 * X) == pytest.approx(1000 * tuned(raw, X))
    assert tuned(KernelRidge(), 1000 * X) == pytest.approx(tuned(KernelRidge(), X))


def test_a_rising_path_is_cut_short_and_the_choice_stays_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] + rng.normal(0, 0.3, 120) > 0).astype(int)
    short = tune(KernelLogistic(), X, y, 2)
    monkeypatch.setattr("duti.tune.BEHIND", np.inf)
    whole = tune(KernelLogistic(), X, y, 2)
    assert len(short.trials) < len(whole.trials) == len(BANDWIDTHS) * len(RIDGES)
    assert set(short.trials) < set(whole.trials)
    assert short.best == whole.best


def test_many_rows_are_tuned_on_a_sample_and_the_prior_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duti.tune.ROWS", 100)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = X[:, 0] + rng.normal(size=400)
    found: Any = tune(Ridge(), X, y, 0)
    tried: Any = min(found.trials, key=lambda trial: trial.loss).learner
    assert found.best.ridge == pytest.approx(tried.ridge * 100 / 400)
    assert tune(KernelRidge(ridge=0.01), X, y, 0).best.ridge == 0.01
    assert tune(Ridge(), X, X[:, 0], 0).best.ridge == min(RIDGES), "the grid does not end below its end"


def test_a_sample_keeps_the_shares_of_the_classes_and_enough_of_the_rarest() -> None:
    y = np.repeat([0, 1, 2, 3], [6000, 3000, 15, 2])
    sample = sample_rows(y, 4, np.random.default_rng(0))
    assert len(set(sample)) == len(sample)
    assert np.bincount(y[sample]).tolist() == [round(ROWS * 6000 / 9017), round(ROWS * 3000 / 9017), FOLDS, 2]


def test_rows_that_cannot_be_held_out_leave_the_most_regularised_learner() -> None:
    found = tune(Logistic(), np.eye(3), np.arange(3), 3)
    assert found.best == Logistic(ridge=max(RIDGES))


@pytest.mark.parametrize("intercept", [True, False])
def test_the_bordered_inverse_is_that_of_the_ridged_gram(intercept: bool) -> None:
    rng = np.random.default_rng(0)
    columns = Columns(orthogonal(rng.normal(size=(30, 4))), intercept=intercept)
    penalty = columns.penalty(0.7, D := 3 + intercept)
    H = 2 * columns.Z[:, -D:].T @ columns.Z[:, -D:] + np.diag(penalty)
    R = rng.normal(size=(5, D))
    np.testing.assert_allclose(columns.inverse(2.0, penalty)(R) @ H, R, atol=1e-12)


@pytest.mark.parametrize("shape", [(8, 30), (30, 8)])
@pytest.mark.parametrize("sparse", [True, False])
def test_rotated_columns_are_orthogonal_and_keep_the_inner_products(
    shape: tuple[int, int], sparse: bool
) -> None:
    Z = np.random.default_rng(0).normal(size=shape)
    rotated = orthogonal(csr_array(Z) if sparse else Z)
    lengths = (rotated**2).sum(axis=0)
    np.testing.assert_allclose(rotated @ rotated.T, Z @ Z.T, atol=1e-10)
    np.testing.assert_allclose(rotated.T @ rotated, np.diag(lengths), atol=1e-10)
    assert (np.diff(lengths) >= 0).all()
