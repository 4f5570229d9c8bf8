from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import lars_path

from duti.arrays import Array, Mask
from duti.solvers.homotopy import Target, homotopy


def correlated(seed: int) -> tuple[Array, Array]:
    """Columns that are correlated enough for rows to leave again."""
    rng = np.random.default_rng(seed)
    n, N = int(rng.integers(2, 30)), int(rng.integers(30, 60))
    return rng.normal(size=(N, n)) @ rng.normal(size=(n, n)), rng.normal(size=N)


def everything(X: Array) -> Mask:
    return np.ones(X.shape[1], dtype=bool)


def constant(Y: Array) -> Target:
    return Target(Y, 0 * Y)


@pytest.mark.parametrize("seed", range(10))
def test_events_are_those_of_least_angle_regression(seed: int) -> None:
    X, Y = correlated(seed)
    high = abs(X.T @ Y).max()
    found = homotopy(X, constant(Y), everything(X), high, 1e-6 * high, np.zeros(X.shape[1]))
    alphas, _, knots = lars_path(X, Y, method="lasso")
    etas = len(Y) * alphas
    np.testing.assert_allclose([event.eta for event in found.events], etas[:-1], atol=1e-12 * high)
    for eta, knot in zip(etas[1:-1], knots.T[1:-1], strict=True):
        delta = homotopy(X, constant(Y), everything(X), high, eta, np.zeros(X.shape[1])).delta
        np.testing.assert_allclose(delta, knot, atol=1e-9 * abs(knots).max())


@pytest.mark.parametrize("seed", range(10))
def test_solution_satisfies_the_optimality_conditions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, Y = correlated(seed)
    target = Target(Y, 0.3 * rng.normal(size=len(Y)))
    free = np.asarray(rng.random(X.shape[1]) < 0.9)
    # At η = high nothing moves: |Xᵀ(Y + ηY')| ≤ η.
    steepness = abs(X.T @ target.d_eta).max()
    target = Target(Y, target.d_eta / (2 * steepness))
    high, low = 2 * abs(X.T @ Y).max(), 0.05 * abs(X.T @ Y).max()
    delta = homotopy(X, target, free, high, low, np.zeros(X.shape[1])).delta
    slope = X.T @ (X @ delta - Y - low * target.d_eta)
    assert delta.any()
    assert not delta[~free].any()
    np.testing.assert_allclose(slope[delta != 0], -low * np.sign(delta[delta != 0]), rtol=1e-8)
    assert (abs(slope[free]) <= low * (1 + 1e-8)).all()


def test_a_path_can_be_taken_up_in_the_middle() -> None:
    X, Y = correlated(3)
    high, nothing = abs(X.T @ Y).max(), np.zeros(X.shape[1])
    whole = homotopy(X, constant(Y), everything(X), high, high / 100, nothing)
    half = homotopy(X, constant(Y), everything(X), high, high / 10, nothing)
    rest = homotopy(X, constant(Y), everything(X), high / 10, high / 100, np.sign(half.delta))
    np.testing.assert_allclose(rest.delta, whole.delta, atol=1e-10 * abs(whole.delta).max())
    moves = [(event.row, event.sign) for event in whole.events]
    assert [(event.row, event.sign) for event in [*half.events, *rest.events]] == moves


def test_a_copy_of_an_active_column_cannot_enter() -> None:
    X, Y = correlated(3)
    high, n = abs(X.T @ Y).max(), X.shape[1]
    once = homotopy(X, constant(Y), everything(X), high, high / 100, np.zeros(n))
    X = np.hstack([X, X])
    twice = homotopy(X, constant(Y), everything(X), high, high / 100, np.zeros(2 * n))
    np.testing.assert_allclose(
        twice.delta[:n] + twice.delta[n:], once.delta, atol=1e-8 * abs(once.delta).max()
    )
