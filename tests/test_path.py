from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duti import KernelLogistic, KernelRidge, Objective, Problem
from duti.datasets import LabelledBugs, harry_potter, sine
from duti.path import SMALLEST_GAMMA, default_solver, follow, gammas
from duti.solvers import PreparedPathSolver, Solution


def path_of(data: LabelledBugs, budget: int) -> tuple[Objective, Solution, list[Solution]]:
    problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted)
    learner = KernelRidge(0.7, 3.8e-6) if problem.classes is None else KernelLogistic(0.5, 2e-3)
    objective = Objective(problem, learner)
    solver = default_solver(problem).prepare(objective)
    start = solver.start()
    return objective, start, list(follow(problem, objective.relabelling, solver, start, budget))


@given(st.floats(1e-6, 1e9), st.just(0.0) | st.floats(1e-6, 1e3))
def test_gammas_halve_and_end_at_the_last(gamma_max: float, last: float) -> None:
    found = list(gammas(gamma_max, last))
    assert found[-1] == last
    assert all(gamma > max(last, 0.0) for gamma in found[:-1])
    expected = gamma_max / 2 ** np.arange(1, len(found))
    np.testing.assert_allclose(found[:-1], expected)
    if last == 0 and len(found) > 1:
        assert found[-2] > SMALLEST_GAMMA


@pytest.mark.parametrize("data", [harry_potter(np.random.default_rng(0)), sine(np.random.default_rng(0))])
def test_the_path_starts_at_half_of_gamma_max(data: LabelledBugs) -> None:
    objective, start, steps = path_of(data, budget=10)
    assert steps[0].gamma == objective.relabelling.gamma_max(start.evidence) / 2


def test_classification_stops_as_soon_as_the_budget_is_exceeded() -> None:
    objective, _, steps = path_of(harry_potter(np.random.default_rng(0)), budget=5)
    counts = np.cumsum([objective.relabelling.flagged(step.delta) for step in steps], axis=0)
    flagged = (counts > 0).sum(axis=1)
    assert flagged[-1] > 5
    assert (flagged[:-1] <= 5).all()


def test_classification_with_budget_left_ends_at_zero() -> None:
    _, _, steps = path_of(harry_potter(np.random.default_rng(0)), budget=100)
    assert steps[-1].gamma == 0
    assert steps[-2].gamma > SMALLEST_GAMMA


@pytest.mark.parametrize("budget", [1, 10, 100])
def test_regression_ends_at_the_noise_level_whatever_the_budget(budget: int) -> None:
    _, _, steps = path_of(sine(np.random.default_rng(0)), budget)
    assert 0.05 < steps[-1].gamma / 2 < 0.2  # the noise of the toy is 0.1
    assert all(a.gamma > b.gamma for a, b in itertools.pairwise(steps))


def test_steps_solved_together_are_those_solved_one_by_one() -> None:
    data = sine(np.random.default_rng(0))
    objective, start, steps = path_of(data, budget=30)
    solver = default_solver(objective.problem).prepare(objective)
    assert isinstance(solver, PreparedPathSolver)
    at = start
    for step in steps:
        at = solver.solve(step.gamma, at)
        np.testing.assert_allclose(at.delta, step.delta, atol=1e-8 * max(1.0, abs(step.delta).max()))
