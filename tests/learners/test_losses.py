"""Every loss keeps the promises that the learner and the adjoint build on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from duti.arrays import Array
from duti.learners.losses import Loss, Softmax, Squared

H = 1e-6


def sample(loss: Loss) -> tuple[Array, Array, Array]:
    """Scores, labels and a direction in the scores."""
    rng = np.random.default_rng(0)
    if isinstance(loss, Softmax):
        return rng.normal(size=(6, 4)), rng.dirichlet(np.ones(4), 6), rng.normal(size=(6, 4))
    return rng.normal(size=6), rng.normal(size=6), rng.normal(size=6)


def rows(values: Array) -> Array:
    return np.asarray(values.reshape(len(values), -1).sum(axis=1))


@pytest.fixture(params=[Softmax(), Squared()], ids=repr)
def loss(request: Any) -> Any:
    return request.param


def test_d_scores_is_the_slope_in_the_scores(loss: Loss) -> None:
    s, labels, U = sample(loss)
    slope = (loss.values(s + H * U, labels) - loss.values(s - H * U, labels)) / (2 * H)
    np.testing.assert_allclose(rows(loss.d_scores(s, labels) * U), slope, atol=1e-7)


def test_curvature_is_the_slope_of_d_scores(loss: Loss) -> None:
    s, labels, U = sample(loss)
    slope = (loss.d_scores(s + H * U, labels) - loss.d_scores(s - H * U, labels)) / (2 * H)
    np.testing.assert_allclose(loss.curvature(s).times(U), slope, atol=1e-7)


def test_d_labels_is_the_slope_in_the_labels(loss: Loss) -> None:
    s, labels, direction = sample(loss)
    if labels.ndim == 2:
        direction = direction - direction.mean(axis=1, keepdims=True)  # stay in the simplex
    slope = (loss.values(s, labels + H * direction) - loss.values(s, labels - H * direction)) / (2 * H)
    np.testing.assert_allclose(rows(loss.d_labels(s, labels) * direction), slope, atol=1e-7)


def test_cross_is_minus_the_mixed_derivative(loss: Loss) -> None:
    s, labels, U = sample(loss)
    mixed = -(loss.d_labels(s + H * U, labels) - loss.d_labels(s - H * U, labels)) / (2 * H)
    np.testing.assert_allclose(loss.cross(s, U), mixed, atol=1e-7)


def test_two_classes_have_an_exact_preconditioner_weight() -> None:
    s, U = np.random.default_rng(0).normal(size=(5, 2)), np.ones((5, 2)) * [1, -1]
    curvature = Softmax().curvature(s)
    np.testing.assert_allclose(curvature.times(U), curvature.weights * U)


def test_large_scores_neither_overflow_nor_lose_the_loss() -> None:
    s = np.array([[1000.0, 0.0, -1000.0]])
    np.testing.assert_allclose(Softmax().d_labels(s, np.eye(3)[:1]), [[0.0, 1000.0, 2000.0]])
    np.testing.assert_allclose(Softmax().values(s, np.eye(3)[[1]]), [1000.0])
