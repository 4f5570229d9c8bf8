from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from duti.arrays import Mask
from duti.datasets import LabelledBugs, high_bayes_error, poor_extrapolation, underfitting
from duti.learners import KernelLogistic, Learner, Logistic
from duti.learners.model import train

Case = Callable[[np.random.Generator], LabelledBugs]
LINE, SMOOTH, RICH = Logistic(1e-3), KernelLogistic(1.0, 1e-3), KernelLogistic(0.1, 1e-6)


def wrong(data: LabelledBugs, learner: Learner) -> tuple[Mask, Mask]:
    """The training rows and the trusted items that the learner gets wrong."""
    model = train(learner, data.X, (data.y == 1).astype(int), k=2)
    sets = (data.X, data.y), (data.X_trusted, data.y_trusted)
    training, trusted = ((model.scores(X).argmax(axis=1) == 1) != (y == 1) for X, y in sets)
    return training, trusted


@pytest.mark.parametrize("case", [underfitting, poor_extrapolation, high_bayes_error])
def test_no_label_is_wrong(case: Case) -> None:
    data, again, other = (case(np.random.default_rng(seed)) for seed in (3, 3, 4))
    assert not data.is_bug.any()
    np.testing.assert_array_equal(data.truth, data.y)
    assert set(data.y) == set(data.y_trusted) == {-1, 1}
    np.testing.assert_array_equal(data.X, again.X)
    np.testing.assert_array_equal(data.y, again.y)
    assert (data.X != other.X).any()


@pytest.mark.parametrize("seed", range(5))
def test_a_line_underfits_a_parabola(seed: int) -> None:
    training, trusted = wrong(underfitting(np.random.default_rng(seed)), LINE)
    assert training.mean() > 0.1
    assert trusted.all()


def test_what_a_line_cannot_fit_a_kernel_can() -> None:
    training, trusted = wrong(underfitting(np.random.default_rng(0)), SMOOTH)
    assert training.mean() < 0.1
    assert not trusted.any()


@pytest.mark.parametrize("seed", range(5))
def test_a_good_fit_extrapolates_badly(seed: int) -> None:
    training, trusted = wrong(poor_extrapolation(np.random.default_rng(seed)), SMOOTH)
    assert training.mean() < 0.1
    assert trusted.tolist() == [True, True, False]


@pytest.mark.parametrize("seed", range(5))
def test_a_rich_learner_follows_noise(seed: int) -> None:
    data = high_bayes_error(np.random.default_rng(seed))
    training, trusted = wrong(data, RICH)
    assert training.mean() < 0.05
    assert trusted.any()
    likely = np.where(data.X[:, 1] > 0.5, 1, -1)
    assert 0.15 < (data.y != likely).mean() < 0.45
