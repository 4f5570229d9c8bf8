from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.linear_model import Lasso

from duti import KernelRidge, LearnerError, Objective, Problem, Ridge
from duti.datasets import sine
from duti.path import follow, last_gamma
from duti.problem import Problem as ProblemType
from duti.solvers import Solution, huber_newton
from duti.solvers.active_rows import Candidates
from duti.solvers.homotopy import Target, homotopy
from duti.solvers.huber import soft_threshold
from duti.solvers.huber_newton import HuberNewton, PreparedHuberNewton


def prepared(problem: ProblemType, learner: Any) -> tuple[Objective, PreparedHuberNewton]:
    objective = Objective(problem, learner)
    return objective, HuberNewton().prepare(objective)


def sine_problem(seed: int = 0, **options: Any) -> ProblemType:
    data = sine(np.random.default_rng(seed))
    return Problem(data.X, data.y, data.X_trusted, data.y_trusted, **options)


def random_problem(seed: int, smallest_ridge: float) -> tuple[ProblemType, Any]:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(10, 120)), int(rng.integers(1, 8))
    X, Xt = rng.normal(size=(n, 3)), rng.normal(size=(m, 3))
    y = np.sin(X[:, 0]) + rng.normal(0, 0.1, n) + 3 * (rng.random(n) < 0.1)
    confidence = 10 ** rng.uniform(-1, 4, m) * (rng.random(m) < 0.8)
    ridge, intercept = float(10 ** rng.uniform(np.log10(smallest_ridge), -1)), bool(rng.random() < 0.5)
    learner = KernelRidge(1.0, ridge, intercept) if rng.random() < 0.5 else Ridge(ridge, intercept)
    return Problem(X, y, Xt, np.sin(Xt[:, 0]), confidence=confidence), learner


@pytest.mark.parametrize("seed", range(40))
def test_every_step_of_a_path_closes_the_duality_gap(seed: int) -> None:
    problem, learner = random_problem(seed, smallest_ridge=1e-3)
    objective, solver = prepared(problem, learner)
    for at in follow(problem, objective.relabelling, solver, solver.start(), budget=problem.n):
        assert at.accuracy <= 1e-9
        assert at.converged
        assert at.value == pytest.approx(objective.evaluate(at.delta, at.gamma).value, rel=1e-8)


@pytest.mark.parametrize("seed", range(40))
def test_learners_that_almost_interpolate_converge_too(seed: int) -> None:
    problem, learner = random_problem(seed, smallest_ridge=1e-5)
    objective, solver = prepared(problem, learner)
    for at in follow(problem, objective.relabelling, solver, solver.start(), budget=problem.n):
        assert at.accuracy <= 1e-6
        assert at.converged


@pytest.mark.parametrize("ridge", 10.0 ** -np.arange(1, 9))
@pytest.mark.parametrize("confidence", [1.0, 100.0, 1e4])
def test_every_ridge_and_confidence_converges_down_to_the_noise_level(
    ridge: float, confidence: float
) -> None:
    problem = sine_problem(confidence=confidence)
    objective, solver = prepared(problem, KernelRidge(0.7, ridge))
    steps = list(follow(problem, objective.relabelling, solver, solver.start(), budget=50))
    assert steps
    assert all(at.converged for at in steps)


def test_newton_and_the_homotopy_find_the_same_solution() -> None:
    _, solver = prepared(sine_problem(), KernelRidge(0.7, 1e-3))
    start, (X, Y) = solver.start(), solver.huber.lasso
    high = abs(start.evidence - solver.y).max()
    for gamma in (100.0, 1.0, 0.5):
        newton = solver.solve(gamma, start).delta
        followed = homotopy(X, Target(Y, 0 * Y), solver.free, high, gamma / 2, np.zeros(100)).delta
        np.testing.assert_allclose(followed, newton, atol=1e-8 * abs(newton).max())


def steps_of(problem: ProblemType, learner: Any, budget: int, solver: HuberNewton) -> list[Solution]:
    objective = Objective(problem, learner)
    ready = solver.prepare(objective)
    return list(follow(problem, objective.relabelling, ready, ready.start(), budget))


def assert_same_path(found: list[Solution], expected: list[Solution]) -> None:
    assert [at.gamma for at in found] == pytest.approx([at.gamma for at in expected], rel=1e-8)
    for a, b in zip(found, expected, strict=True):
        assert a.converged
        np.testing.assert_allclose(a.delta, b.delta, atol=1e-7 * abs(b.delta).max())
        np.testing.assert_allclose(a.evidence, b.evidence, atol=1e-7 * abs(b.evidence).max())


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_candidates_change_nothing_even_if_they_are_too_few(
    seed: int, sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 8)) * (rng.random((300, 8)) < 0.5)
    y = X[:, 0] + rng.normal(0, 0.1, 300) + 2 * (rng.random(300) < 0.1)
    trusted = rng.normal(size=(4, 8))
    problem = Problem(csr_array(X) if sparse else X, y, trusted, trusted[:, 0], task="regression")
    expected = steps_of(problem, Ridge(1e-3), 30, HuberNewton())
    monkeypatch.setattr(huber_newton, "FEWEST_CANDIDATES", 1)
    monkeypatch.setattr(huber_newton, "CANDIDATES", 1)
    assert_same_path(steps_of(problem, Ridge(1e-3), 30, HuberNewton()), expected)


def test_a_far_step_may_start_from_every_tenth_row(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X, trusted = rng.normal(size=(1000, 3)), rng.normal(size=(4, 3))
    y = X[:, 0] + rng.normal(0, 0.1, 1000) + 2 * (rng.random(1000) < 0.1)
    problem = Problem(X, y, trusted, trusted[:, 0])
    monkeypatch.setattr(huber_newton, "ROWS_A_FEATURE", 10**6)
    expected = steps_of(problem, Ridge(1e-3), 100, HuberNewton())
    monkeypatch.setattr(huber_newton, "ROWS_A_FEATURE", 20)
    assert_same_path(steps_of(problem, Ridge(1e-3), 100, HuberNewton()), expected)


@pytest.mark.parametrize("followed_rows", [2000, 60], ids=["all rows", "rows near the threshold"])
def test_where_newton_fails_events_are_followed(followed_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, learner = sine_problem(), KernelRidge(0.7, 1e-3)
    expected = steps_of(problem, learner, 50, HuberNewton())
    monkeypatch.setattr(huber_newton, "SMALL_ROWS", followed_rows)
    monkeypatch.setattr(huber_newton, "NEWTON_BISECTIONS", 0)
    # One step confirms active rows that are right, and finds none.
    assert_same_path(steps_of(problem, learner, 50, HuberNewton(max_steps=1)), expected)


def test_a_step_that_fails_says_so() -> None:
    _, solver = prepared(sine_problem(), KernelRidge(0.7, 1e-3))
    at = solver.solve(1.0, solver.start())
    objective = Objective(sine_problem(), KernelRidge(0.7, 1e-3))
    hasty = HuberNewton(max_steps=1, max_attempts=1).prepare(objective)
    failed = hasty.solve(0.5, at)
    assert not failed.converged
    assert failed.accuracy > 1e-6
    np.testing.assert_array_equal(failed.delta, at.delta)


def test_one_gamma_far_below_the_largest_is_solved_from_nothing() -> None:
    """By way of smaller confidence: Newton's method cycles from δ = 0."""
    problem, learner = sine_problem(), KernelRidge(0.7, 3.8e-6)
    last = steps_of(problem, learner, 100, HuberNewton())[-1]
    _, solver = prepared(problem, learner)
    at = solver.solve(last.gamma, solver.start())
    assert at.accuracy <= 1e-9
    np.testing.assert_allclose(at.delta, last.delta, atol=1e-7)


@pytest.mark.parametrize("ridge", [1e-4, 1e-5, 1e-6])
def test_from_the_solution_of_other_items_newton_goes_downhill_where_whole_steps_cycle(ridge: float) -> None:
    def truth(X: np.ndarray) -> np.ndarray:
        return np.asarray(np.sin(2 * X[:, 0]) + X[:, 1])

    rng = np.random.default_rng(1)
    X, Xt = rng.normal(size=(200, 3)), rng.normal(size=(20, 3))
    y = truth(X) + rng.normal(0, 0.1, 200) - 2 * (X[:, 2] > 0.8)
    problem = Problem(X, y, Xt, truth(Xt), confidence=10.0)
    _, solver = prepared(problem, KernelRidge(2.0, ridge))
    at = solver.solve(last_gamma(problem, solver.start()), solver.start())

    _, fewer = prepared(problem.with_items(np.arange(4, 20)), KernelRidge(2.0, ridge))
    elsewhere = replace(at, converged=False, warm=None)
    step = fewer._first(elsewhere, Candidates.all_of(fewer.rows, fewer.y, fewer.free))
    assert fewer.huber.newton(at.gamma / 2, step.active) is None
    assert fewer.huber.descent(at.gamma / 2, step) is not None
    found = fewer.solve(at.gamma, elsewhere)
    assert found.accuracy <= 1e-9
    np.testing.assert_allclose(found.delta, fewer.solve(at.gamma, fewer.start()).delta, atol=1e-10)


def test_the_height_of_a_point_is_the_objective() -> None:
    problem = sine_problem()
    objective, solver = prepared(problem, KernelRidge(0.7, 1e-3))
    among = Candidates.all_of(solver.rows, solver.y, solver.free)
    evidence = problem.y + np.random.default_rng(0).normal(size=100)
    delta = soft_threshold(evidence - problem.y, 0.5)
    rise = objective.evaluate(delta, 1.0).value - objective.evaluate(np.zeros(100), 1.0).value
    assert 2 / 100 * solver.huber._point(0.5, among, evidence).value == pytest.approx(rise)


def test_nothing_moves_at_gamma_max_and_something_just_below() -> None:
    objective, solver = prepared(sine_problem(), KernelRidge(0.7, 3.8e-6))
    start = solver.start()
    gamma_max = objective.relabelling.gamma_max(start.evidence)
    # γ⁽⁰⁾ as the definition has it: n · max |∂O/∂δ| at δ = 0, γ = 0.
    gradient = objective.evaluate(np.zeros(100), 0.0).gradient
    assert gamma_max == pytest.approx(100 * abs(gradient).max(), rel=1e-6)
    for factor in (1.0, 1.5, 100.0):
        at = solver.solve(factor * gamma_max, start)
        assert not at.delta.any()
        assert at.accuracy <= 1e-9
    assert solver.solve(gamma_max * (1 - 1e-6), start).delta.any()


def test_agrees_with_the_lasso_of_scikit_learn() -> None:
    """The paper's (KRR1): a weighted lasso with design [A; B] and weights C'."""
    data, sigma, ridge, gamma = sine(np.random.default_rng(1)), 0.7, 1e-3, 0.5
    n, m, c = 100, 3, 100.0

    def kernel(A: Any, B: Any) -> Any:
        return np.exp(-((A[:, None] - B[None]) ** 2).sum(-1) / (2 * sigma**2))

    hat = np.linalg.inv(kernel(data.X, data.X) + n * ridge * np.eye(n))
    A, B = kernel(data.X_trusted, data.X) @ hat, kernel(data.X, data.X) @ hat - np.eye(n)
    design = np.vstack([np.sqrt(c / m) * A, B / np.sqrt(n)])
    target = np.concatenate([np.sqrt(c / m) * (data.y_trusted - A @ data.y), -B @ data.y / np.sqrt(n)])
    # scikit-learn minimises ‖·‖²/(2N) + α‖δ‖₁ over N rows.
    alpha = gamma / n / (2 * len(design))
    lasso = Lasso(alpha=alpha, fit_intercept=False, tol=1e-13, max_iter=1_000_000)
    expected = lasso.fit(design, target).coef_
    problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted, confidence=c)
    _, solver = prepared(problem, KernelRidge(sigma, ridge))
    np.testing.assert_allclose(solver.solve(gamma, solver.start()).delta, expected, atol=1e-4)


def test_frozen_rows_do_not_move() -> None:
    plain, frozen = sine_problem(), sine_problem(verified={60: 0.9, 61: 0.8})
    _, solver = prepared(plain, KernelRidge(0.7, 3.8e-6))
    assert solver.solve(1.0, solver.start()).delta[[60, 61]].all()
    _, solver = prepared(frozen, KernelRidge(0.7, 3.8e-6))
    at = solver.solve(1.0, solver.start())
    assert not at.delta[[60, 61]].any()
    assert at.accuracy <= 1e-9


def test_items_without_confidence_say_nothing_but_are_counted() -> None:
    """c = 0 drops an item from the fit, while the weight c/m of the others still counts it."""
    data = sine(np.random.default_rng(0))
    three = Problem(data.X, data.y, data.X_trusted, data.y_trusted, confidence=[90.0, 0.0, 90.0])
    two = Problem(data.X, data.y, data.X_trusted[[0, 2]], data.y_trusted[[0, 2]], confidence=60.0)
    deltas = []
    for problem in (three, two):
        _, solver = prepared(problem, KernelRidge(0.7, 3.8e-6))
        deltas.append(solver.solve(1.0, solver.start()).delta)
    np.testing.assert_allclose(deltas[0], deltas[1], atol=1e-9)


def test_too_many_columns_are_refused_with_a_remedy() -> None:
    X = random_array((2500, 11_000), density=1e-4, rng=np.random.default_rng(0), format="csr")
    problem = Problem(X, np.linspace(0, 1, 2500), X[:1], [0.5], task="regression")
    with pytest.raises(LearnerError, match="TruncatedSVD"):
        prepared(problem, Ridge(0.1))


def test_soft_threshold_shrinks_towards_zero() -> None:
    np.testing.assert_allclose(soft_threshold(np.array([-3.0, -0.5, 0.2, 2.0]), 1.0), [-2, 0, 0, 1])
