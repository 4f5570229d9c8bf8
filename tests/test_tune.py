from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from duti import KernelLogistic, KernelRidge, Logistic, Ridge
from duti.learners.losses import Softmax
from duti.learners.model import train
from duti.tune import FOLDS, RIDGES, assign_folds, tune


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


def test_a_learner_far_behind_is_not_tried_on_every_fold_and_never_chosen() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] + rng.normal(0, 0.3, 120) > 0).astype(int)
    found = tune(KernelLogistic(), X, y, 2)
    dropped = [trial for trial in found.trials if not trial.complete]
    best = min(trial.loss for trial in found.trials if trial.complete)
    assert dropped
    assert found.best not in [trial.learner for trial in dropped]
    assert best <= min(trial.loss for trial in dropped)
