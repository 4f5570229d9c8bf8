from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from duti import KernelLogistic, KernelRidge, LearnerError, Objective, Problem
from tests.cases import random_case


@pytest.mark.parametrize("seed", range(200))
def test_gradient_agrees_with_central_differences(seed: int) -> None:
    case = random_case(seed)
    evaluate, h = case.objective.evaluate, 1e-5
    at = evaluate(case.delta, case.gamma)
    up = evaluate(case.delta + h * case.direction, case.gamma, start=at).value
    down = evaluate(case.delta - h * case.direction, case.gamma, start=at).value
    slope = float((at.gradient * case.direction).sum())
    size = float(np.linalg.norm(at.gradient) * np.linalg.norm(case.direction))
    assert abs((up - down) / (2 * h) - slope) <= 1e-5 * max(abs(slope), 1e-2 * size)


def test_random_cases_cover_every_kind() -> None:
    kinds = {
        (type(c.objective.learner).__name__, c.objective.learner.intercept, c.objective.problem.k)
        for c in map(random_case, range(200))
    }
    expected = {
        (name, intercept, k)
        for name in ("KernelLogistic", "Logistic")
        for intercept in (True, False)
        for k in (2, 3, 4, 5)
    } | {(name, intercept, 0) for name in ("KernelRidge", "Ridge") for intercept in (True, False)}
    assert kinds == expected


def test_value_and_gradient_agree_with_the_authors_program(oracle_cases: list[dict[str, Any]]) -> None:
    for case in oracle_cases:
        y, w = np.array(case["y"]), np.array(case["w"])
        problem = Problem(case["X"], y, case["X_trusted"], case["y_trusted"], confidence=case["confidence"])
        # Two classes with a sigmoid and the penalty λ' are the softmax form with λ = 2λ'.
        learner = KernelLogistic(bandwidth=case["sigma"], ridge=2 * case["lam"])
        rows, given = np.arange(len(y)), problem.y
        delta = np.empty((len(y), 2))
        delta[rows, given], delta[rows, 1 - given] = 1 - w, w
        at = Objective(problem, learner).evaluate(delta, case["gamma"])
        assert at.value == pytest.approx(case["objective"], rel=1e-3)
        # Moving mass w to the other label; the authors leave out γ where w = 0.
        moved = at.gradient[rows, 1 - given] - at.gradient[rows, given]
        moved -= case["gamma"] / len(y) * (w == 0)
        expected = np.array(case["gradient_w"])
        assert abs(moved - expected).max() <= 1e-3 * abs(expected).max()


def test_regression_value_is_the_formula_of_the_paper() -> None:
    rng = np.random.default_rng(0)
    X, y, Xt, yt = rng.normal(size=(30, 2)), rng.normal(size=30), rng.normal(size=(4, 2)), rng.normal(size=4)
    c, delta, gamma, ridge, sigma = rng.uniform(1, 9, 4), rng.normal(size=30), 0.7, 0.01, 0.8

    def kernel(A: Any, B: Any) -> Any:
        return np.exp(-((A[:, None] - B[None]) ** 2).sum(-1) / (2 * sigma**2))

    alpha = np.linalg.solve(kernel(X, X) + 30 * ridge * np.eye(30), y + delta)
    expected = (c * (yt - kernel(Xt, X) @ alpha) ** 2).mean()
    expected += ((y + delta - kernel(X, X) @ alpha) ** 2).mean() + gamma * abs(delta).mean()
    objective = Objective(Problem(X, y, Xt, yt, confidence=c), KernelRidge(sigma, ridge))
    assert objective.evaluate(delta, gamma).value == pytest.approx(expected, rel=1e-9)


def test_a_warm_start_changes_nothing_but_the_work() -> None:
    case = random_case(3)
    cold = case.objective.evaluate(case.delta, case.gamma)
    other = case.objective.evaluate(case.objective.relabelling.start, 0.0)
    warm = case.objective.evaluate(case.delta, case.gamma, start=other)
    assert warm.value == pytest.approx(cold.value, rel=1e-10)
    np.testing.assert_allclose(warm.gradient, cold.gradient, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_repricing_is_evaluating_at_another_gamma(seed: int) -> None:
    case = random_case(seed)
    at = case.objective.evaluate(case.delta, 1.0)
    repriced, evaluated = case.objective.repriced(at, 3.0), case.objective.evaluate(case.delta, 3.0)
    assert repriced.value == pytest.approx(evaluated.value, rel=1e-9)
    np.testing.assert_allclose(repriced.gradient, evaluated.gradient, atol=1e-9)


def test_a_learner_of_the_other_task_is_refused() -> None:
    problem = Problem([[0.0], [1.0]], ["a", "b"], [[0.0]], ["a"])
    with pytest.raises(LearnerError, match="KernelRidge learns regression"):
        Objective(problem, KernelRidge(1.0, 0.1))


def test_an_untuned_learner_is_refused_with_the_remedy() -> None:
    problem = Problem([[0.0], [1.0]], ["a", "b"], [[0.0]], ["a"])
    with pytest.raises(LearnerError, match=r"bandwidth is None; give a number"):
        Objective(problem, KernelLogistic())
