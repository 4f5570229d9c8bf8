from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from duti import KernelLogistic, Logistic, Objective, Problem
from duti.arrays import Array
from duti.datasets import harry_potter
from duti.solvers.projected_gradient import PreparedProjectedGradient, ProjectedGradient, project_simplex


def prepared(seed: int = 0, **options: Any) -> tuple[Objective, PreparedProjectedGradient]:
    data = harry_potter(np.random.default_rng(seed))
    problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted, **options)
    objective = Objective(problem, KernelLogistic(0.5, 2e-3))
    return objective, ProjectedGradient().prepare(objective)


@given(arrays(float, (4, 3), elements=st.floats(-5, 5)))
def test_projection_lands_in_the_simplex_and_is_the_nearest_point(V: Array) -> None:
    P = project_simplex(V)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1)
    # Optimality: ⟨V − P, e_j − P⟩ ≤ 0 for every corner e_j.
    for corner in np.eye(3):
        assert (((V - P) * (corner - P)).sum(axis=1) <= 1e-9).all()


def test_nothing_moves_at_gamma_max_and_something_just_below() -> None:
    objective, solver = prepared()
    start = solver.start()
    gamma_max = objective.relabelling.gamma_max(start.evidence)
    # γ⁽⁰⁾ as the definition has it: n · max_i (∂O/∂δ_{i,y_i} − min_{j≠y_i} ∂O/∂δ_ij) at δ = Y, γ = 0.
    Y = objective.relabelling.start
    gradient = objective.evaluate(Y, 0.0).gradient
    given_entry = (gradient * Y).sum(axis=1)
    best_other = np.where(Y > 0, np.inf, gradient).min(axis=1)
    assert gamma_max == pytest.approx(100 * (given_entry - best_other).max(), rel=1e-6)
    for factor in (1.0 + 1e-9, 1.5, 100.0):
        at = solver.solve(factor * gamma_max, start)
        np.testing.assert_array_equal(at.delta, Y)
        assert at.accuracy == 0.0
    assert (solver.solve(0.999 * gamma_max, start).delta != Y).any()


def test_steps_are_stationary_and_say_how_much() -> None:
    objective, solver = prepared()
    at = solver.start()
    gamma = objective.relabelling.gamma_max(at.evidence)
    for _ in range(20):
        gamma /= 2
        at = solver.solve(gamma, at)
        assert at.converged
        assert 0 <= at.accuracy <= 1e-5
        # The gap it reports is the gap of an independent, tight evaluation.
        gradient = objective.evaluate(at.delta, gamma, tol=1e-12).gradient
        gap = ((gradient * at.delta).sum(axis=1) - gradient.min(axis=1)).sum()
        gap /= max(at.value, 0.01 * objective.given_value)
        assert at.accuracy == pytest.approx(gap, abs=1e-7)


def test_no_corner_of_the_simplices_is_better_nearby() -> None:
    """Flipping any single label from the solution does not lower the objective noticeably."""
    objective, solver = prepared()
    at = solver.solve(100.0, solver.start())
    for row in range(0, 100, 7):
        for label in range(2):
            flipped = at.delta.copy()
            flipped[row] = 0.9 * flipped[row] + 0.1 * np.eye(2)[label]
            assert objective.evaluate(flipped, 100.0).value >= at.value * (1 - 1e-5)


def test_a_step_that_runs_out_of_time_says_so() -> None:
    objective, _ = prepared()
    solver = ProjectedGradient(max_steps=2).prepare(objective)
    assert not solver.solve(1000.0, solver.start()).converged


def test_frozen_rows_do_not_move() -> None:
    objective, solver = prepared()
    free = solver.solve(1.0, solver.start())
    row = int(np.flatnonzero(objective.relabelling.flagged(free.delta))[0])
    given_label = objective.problem.given[row]
    frozen_objective, frozen_solver = prepared(verified={row: given_label})
    at = frozen_solver.solve(1.0, frozen_solver.start())
    np.testing.assert_array_equal(at.delta[row], frozen_objective.relabelling.start[row])


def test_a_warm_start_saves_work() -> None:
    objective, solver = prepared()
    start = solver.start()
    near = solver.solve(110.0, start)
    calls = 0
    evaluate = objective.evaluate

    def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        return evaluate(*args, **kwargs)

    objective.evaluate = counted  # type: ignore[method-assign]
    solver.solve(100.0, near)
    warm, calls = calls, 0
    solver.solve(100.0, start)
    assert warm < calls


@pytest.mark.parametrize("k", [3, 5])
def test_several_classes_converge(k: int) -> None:
    rng = np.random.default_rng(k)
    X = rng.normal(size=(60, 2))
    truth = (np.arctan2(X[:, 1], X[:, 0]) + np.pi) // (2 * np.pi / k) % k
    y = np.where(X[:, 0] > 1, 0, truth)
    Xt = rng.normal(size=(6, 2))
    yt = (np.arctan2(Xt[:, 1], Xt[:, 0]) + np.pi) // (2 * np.pi / k) % k
    objective = Objective(Problem(X, y, Xt, yt, task="classification"), Logistic(0.01))
    solver = ProjectedGradient().prepare(objective)
    at = solver.start()
    for gamma in (100.0, 10.0, 1.0):
        at = solver.solve(gamma, at)
        assert at.converged
        np.testing.assert_allclose(at.delta.sum(axis=1), 1)


def test_projection_of_numbers_beside_which_one_is_nothing() -> None:
    far = np.array([[3e18, 0.0, -3e18], [-5e20, 2.0, 2.0]])
    np.testing.assert_array_equal(project_simplex(far), [[1, 0, 0], [0, 0.5, 0.5]])
