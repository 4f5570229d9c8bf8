from __future__ import annotations

import numpy as np
import pytest

from duti.solvers.feature_sign import feature_sign


@pytest.mark.parametrize("seed", range(20))
def test_solution_satisfies_the_optimality_conditions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, N = int(rng.integers(2, 30)), int(rng.integers(30, 60))
    X, Y, free = rng.normal(size=(N, n)), rng.normal(size=N), rng.random(n) < 0.9
    eta = float(rng.uniform(0.01, 1)) * abs(X.T @ Y).max()
    delta = feature_sign(X, Y, eta, np.zeros(n), free)
    slope = X.T @ (X @ delta - Y)
    assert not delta[~free].any()
    np.testing.assert_allclose(slope[delta != 0], -eta * np.sign(delta[delta != 0]), rtol=1e-8)
    assert (abs(slope[free]) <= eta * (1 + 1e-8)).all()


def test_any_start_leads_to_the_same_solution() -> None:
    rng = np.random.default_rng(0)
    X, Y, free = rng.normal(size=(40, 20)), rng.normal(size=40), np.ones(20, dtype=bool)
    cold = feature_sign(X, Y, 2.0, np.zeros(20), free)
    warm = feature_sign(X, Y, 2.0, rng.normal(size=20), free)
    assert cold.any()
    np.testing.assert_allclose(warm, cold, atol=1e-10)
