from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmarks.data import bands as benchmark_bands

import duti
from duti import KernelLogistic, Logistic, Objective, Problem
from duti.datasets import german_loan, harry_potter
from duti.detector import Duti
from duti.solvers import Solution, Solver
from duti.solvers.bilevel import Point
from duti.solvers.frank_wolfe import relative_gap
from duti.solvers.projected_gradient import ProjectedGradient
from duti.solvers.prox_linear import USUALLY_REHEARSED, PreparedProxLinear, ProxLinear
from duti.solvers.rehearsal import Rehearsal


def bands(n: int, k: int, seed: int = 0, d: int = 2) -> tuple[Any, Any, Any]:
    """Classes in bands of one feature; where the other is small, labels slip by one band."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, d))
    truth = np.minimum((k * X[:, 1]).astype(int), k - 1)
    y = np.where((X[:, 0] < 0.3) & (truth > 0), truth - 1, truth)
    return X, y, truth


def objective_of(n: int, k: int, learner: Any, **options: Any) -> Objective:
    X, y, _ = bands(n, k)
    Xt, _, yt = bands(20, k, seed=1)
    return Objective(Problem(X, y, Xt, yt, task="classification", **options), learner)


@pytest.mark.parametrize(
    "k,learner",
    [
        (2, KernelLogistic(0.3, 1e-3)),
        (4, KernelLogistic(0.3, 1e-2)),
        (2, Logistic(1e-2)),
        (3, Logistic(1e-3)),
    ],
    ids=str,
)
def test_agrees_with_projected_gradients(k: int, learner: Any) -> None:
    objective = objective_of(150, k, learner)
    plain, fast = ProjectedGradient().prepare(objective), ProxLinear(rtol=1e-5).prepare(objective)
    slow_at, fast_at = plain.start(), fast.start()
    gamma = objective.relabelling.gamma_max(slow_at.evidence)
    assert gamma == pytest.approx(objective.relabelling.gamma_max(fast_at.evidence), rel=1e-3)
    for _ in range(5):
        gamma /= 2
        slow_at, fast_at = plain.solve(gamma, slow_at), fast.solve(gamma, fast_at)
        assert fast_at.value <= slow_at.value * 1.01
        # What it says of itself is what an independent, tight evaluation says.
        tight = objective.evaluate(fast_at.delta, gamma)
        assert fast_at.value == pytest.approx(tight.value, rel=1e-3)


def test_nothing_moves_above_gamma_max_and_something_below() -> None:
    objective = objective_of(120, 3, KernelLogistic(0.3, 1e-2))
    solver = ProxLinear(rtol=1e-6).prepare(objective)
    start = solver.start()
    gamma_max = objective.relabelling.gamma_max(start.evidence)
    np.testing.assert_array_equal(solver.solve(1.01 * gamma_max, start).delta, objective.relabelling.start)
    assert (solver.solve(0.9 * gamma_max, start).delta != objective.relabelling.start).any()


def test_frozen_rows_do_not_move() -> None:
    _, y, truth = bands(150, 2)
    wrong = np.flatnonzero(y != truth)[:3]
    objective = objective_of(150, 2, KernelLogistic(0.3, 1e-3), verified={int(i): int(y[i]) for i in wrong})
    solver = ProxLinear().prepare(objective)
    at = solver.solve(5.0, solver.start())
    assert objective.relabelling.flagged(at.delta).any()
    np.testing.assert_array_equal(at.delta[wrong], objective.relabelling.start[wrong])


def test_screening_rows_and_rehearsing_on_some_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    objective = objective_of(1500, 2, Logistic(1e-2))
    every = ProxLinear(rtol=1e-4).prepare(objective)
    value = every.solve(3.0, every.start()).value
    monkeypatch.setattr("duti.learners.preconditioner.FEWEST_ROWS", 300)
    some = ProxLinear(rtol=1e-4).prepare(objective)
    some.screened = 50
    assert some.solve(3.0, some.start()).value == pytest.approx(value, rel=1e-3)
    assert some.sample.rows.n < 1500


def test_a_sweep_tells_how_wrong_value_and_slope_still_are() -> None:
    objective = objective_of(400, 3, Logistic(1e-2))
    solver = ProxLinear().prepare(objective)
    bilevel, given = solver.bilevel, solver.bilevel.start()
    solver._redraw(given)
    stage, rows = Rehearsal(bilevel, solver.sample, given, np.arange(40)), np.arange(40)
    delta = np.roll(given.delta[rows], 1, axis=1)
    image = objective.rows.subset(rows).transposed_times(delta - given.delta[rows])
    rough = solver._sweep(bilevel.relabelled(given, stage.change(stage.start, delta, image)))
    sharp = rough
    for _ in range(30):
        sharp = solver._sweep(sharp)
    exact = objective.evaluate(sharp.delta)
    assert sharp.value == pytest.approx(exact.value, rel=1e-9)
    assert sharp.distance == pytest.approx(40 / 400)
    np.testing.assert_allclose(sharp.evidence, exact.evidence, atol=1e-6 * abs(exact.evidence).max())
    assert 1e-9 < abs(rough.value - sharp.value) <= 1.1 * bilevel.uncertainty(rough)
    wrong = (rough.theta - rough.v) - (sharp.theta - sharp.v)
    solver._redraw(rough)
    assert np.linalg.norm(bilevel.tilt(rough) - wrong) <= 0.3 * np.linalg.norm(wrong)
    assert bilevel.slope_error(rough, image) == pytest.approx(abs((wrong * image).sum()), rel=0.03)


def test_a_rehearsal_with_all_rows_is_the_performance() -> None:
    objective = objective_of(300, 3, Logistic(1e-2))
    solver = ProxLinear().prepare(objective)
    at = solver.start().warm
    assert isinstance(at, Point)
    some = np.arange(0, 300, 7)
    stage = Rehearsal(solver.bilevel, solver.sample, at, some)
    delta = np.roll(at.delta[some], 1, axis=1)
    (image,) = stage.rows.transposed_times_zero_sum(delta - at.delta[some])
    change = stage.change(stage.start, delta, image)
    rehearsed = stage.sweep(stage.sweep(solver.bilevel.relabelled(stage.start, change)))
    performed = solver._performed(solver.bilevel.relabelled(at, stage.everywhere(change)), rehearsed)
    for name in ("value", "risk", "distance", "d_theta", "Hv"):
        np.testing.assert_allclose(getattr(rehearsed, name), getattr(performed, name), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(rehearsed.evidence, performed.evidence[some], atol=1e-8)


def test_harry_potter_ranks_as_well_as_with_projected_gradients() -> None:
    from duti.metrics import average_precision

    scores: list[list[float]] = [[], []]
    for seed in range(100, 110):
        data = harry_potter(np.random.default_rng(seed))
        problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted)
        solvers: list[Solver] = [ProjectedGradient(), ProxLinear()]
        for kept, solver in zip(scores, solvers, strict=True):
            ranking = Duti(KernelLogistic(0.5, 2e-3), 100, solver=solver).rank(problem).ranking
            kept.append(average_precision(ranking, data.is_bug))
    assert np.mean(scores[1]) >= np.mean(scores[0]) - 0.02


def test_many_rows_are_debugged_with_it() -> None:
    X, y, truth = bands(3000, 3)
    Xt, _, yt = bands(40, 3, seed=1)
    learner, budget = KernelLogistic(0.3, 1e-3), int((y != truth).sum())
    findings = duti.debug(X, y, Xt, yt, learner=learner, budget=budget, recipe="paper")
    assert (y != truth)[findings.flagged].mean() > 0.8
    assert findings.learner == KernelLogistic(0.3, 1e-3)
    assert all(0 <= step.accuracy < 0.05 for step in findings.path)


def test_a_step_that_runs_out_of_time_says_so() -> None:
    objective = objective_of(150, 2, KernelLogistic(0.3, 1e-3))
    solver: PreparedProxLinear = ProxLinear(max_steps=1, rtol=1e-9).prepare(objective)
    assert not solver.solve(20.0, solver.start()).converged


def test_a_gap_counts_rows_that_only_seem_content() -> None:
    """A learner that almost interpolates: labels stationary but for a trifle start an avalanche."""
    rng = np.random.default_rng(73)
    data = benchmark_bands(rng, 601, 28, 2, 461)
    problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted, confidence=0.1446)
    objective = Objective(problem, Logistic(2.086e-6))
    fast, plain = ProxLinear().prepare(objective), ProjectedGradient().prepare(objective)
    at, slow_at = fast.start(), plain.start()
    for gamma in objective.relabelling.gamma_max(at.evidence) / 2.0 ** np.arange(1, 17):
        at, slow_at = fast.solve(gamma, at), plain.solve(gamma, slow_at)
        assert at.value <= 1.01 * slow_at.value


def test_labels_that_leave_a_class_empty_do_not_overflow() -> None:
    # All but a few rows move to one class, whose unpenalised intercept then has no curvature to stop it.
    data = german_loan(np.random.default_rng(3))
    problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted, confidence=0.1)
    found = Duti(KernelLogistic(3.0, 0.1), solver=ProxLinear(rtol=1e-2)).rank(problem)
    assert all(np.isfinite(step.objective) for step in found.path)


def test_rehearsals_that_lead_nowhere_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    data = benchmark_bands(np.random.default_rng(193), 659, 24, 7, 4)
    problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted, confidence=54.0)
    objective, steps, step = Objective(problem, Logistic(2.5e-7)), 0, PreparedProxLinear._step

    def counted(*args: Any) -> Point | None:
        nonlocal steps
        steps += 1
        return step(*args)

    monkeypatch.setattr(PreparedProxLinear, "_step", counted)
    solver = ProxLinear(max_steps=6).prepare(objective)
    at = solver.start()
    at = solver.solve(objective.relabelling.gamma_max(at.evidence) / 8, at)
    assert not at.converged
    assert 6 < steps <= 6 * USUALLY_REHEARSED


def test_labels_that_are_stationary_are_left_if_others_are_better(monkeypatch: pytest.MonkeyPatch) -> None:
    data = benchmark_bands(np.random.default_rng(161), 300, 60, 4, 8)
    problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted, confidence=0.7)
    objective = Objective(problem, Logistic(3e-4))

    def lowest() -> Solution:
        solver = ProxLinear().prepare(objective)
        at = solver.start()
        for gamma in (4.0, 1.0, 0.25, 0.06):
            at = solver.solve(gamma, at)
        assert at.converged
        return at

    found = lowest()
    monkeypatch.setattr("duti.solvers.prox_linear.FEW_ROWS", 0)
    stationary = lowest()
    assert found.value < 0.995 * stationary.value
    exact = objective.evaluate(found.delta, found.gamma, tol=1e-13)
    assert found.value == pytest.approx(exact.value, rel=1e-4)


def test_a_model_that_misleads_is_tried_again_with_more_caution(monkeypatch: pytest.MonkeyPatch) -> None:
    objective, sigmas = objective_of(250, 2, Logistic(1e-2)), list[float]()
    minimise, part = PreparedProxLinear._minimise_model, PreparedProxLinear._part_of_the_way

    def noted(*args: Any) -> Any:
        sigmas.append(args[-1])
        return minimise(*args)

    def fails_at_first(*args: Any) -> Point | None:
        return None if len(sigmas) == 1 else part(*args)

    monkeypatch.setattr(PreparedProxLinear, "_minimise_model", noted)
    monkeypatch.setattr(PreparedProxLinear, "_part_of_the_way", fails_at_first)
    solver = ProxLinear().prepare(objective)
    at = solver.start()
    at = solver.solve(objective.relabelling.gamma_max(at.evidence) / 4, at)
    assert at.converged
    assert sigmas[1] == pytest.approx(10 * sigmas[0])


def hasty(monkeypatch: pytest.MonkeyPatch, part: float) -> None:
    """The first gap that is looked at seems to be so small a part of the tolerance."""
    looks, gap = [part], PreparedProxLinear._gap

    def first(self: PreparedProxLinear, *args: Any) -> tuple[float, float]:
        return (looks.pop() * self.rtol, 0.0) if looks else gap(self, *args)

    monkeypatch.setattr(PreparedProxLinear, "_gap", first)


def test_what_is_said_to_have_converged_is_looked_at_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    objective = objective_of(250, 2, Logistic(1e-2))
    hasty(monkeypatch, 0.0)
    solver = ProxLinear().prepare(objective)
    at = solver.start()
    at = solver.solve(objective.relabelling.gamma_max(at.evidence) / 4, at)
    exact = objective.evaluate(at.delta, at.gamma, tol=1e-13)
    assert (
        relative_gap(objective, exact.delta, exact.evidence, at.gamma, exact.value) <= 2 * at.accuracy + 1e-6
    )


def test_so_is_a_step_that_ends_between_its_tolerances(monkeypatch: pytest.MonkeyPatch) -> None:
    objective = objective_of(250, 2, Logistic(1e-2))
    hasty(monkeypatch, 0.9)
    solver = ProxLinear().prepare(objective)
    at = solver.start()
    solver.effort.steps = 0
    at = solver.solve(objective.relabelling.gamma_max(at.evidence) / 4, at)
    assert not at.converged
    assert at.accuracy > solver.rtol


def test_a_path_stays_right_where_a_class_loses_all_its_rows() -> None:
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(412, 2))
    truth = np.floor(5 * X[:, 0]).astype(np.int64)
    given = np.where((X > 0.6).all(axis=1), 0, truth)
    problem = Problem(X[:400], given[:400], X[400:], truth[400:], task="classification")
    objective = Objective(problem, KernelLogistic(0.5, 1e-3))
    solver = ProxLinear().prepare(objective)
    at = solver.start()
    gamma = objective.relabelling.gamma_max(at.evidence)
    for _ in range(7):
        gamma /= 2
        at = solver.solve(gamma, at)
    assert at.converged
    assert at.delta.sum(axis=0).min() == 0
    assert at.value == pytest.approx(objective.evaluate(at.delta, gamma, tol=1e-6).value, rel=1e-3)
