"""Why rows are flagged."""

from __future__ import annotations

import numpy as np
import pytest

import duti
from duti.arrays import Array
from duti.datasets import LabelledBugs, harry_potter, sine
from duti.learners import Learner
from duti.learners.model import label_targets
from duti.objective import Objective
from duti.problem import Problem
from duti.reasons import Reasons, reasons


def explained(data: LabelledBugs, learner: Learner) -> tuple[Problem, duti.Findings, Reasons]:
    problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted)
    findings = duti.Duti(learner, budget=8).rank(problem)
    return problem, findings, reasons(problem, findings)


POTTER = (harry_potter, duti.KernelLogistic(0.5, 2e-3))
SINE = (sine, duti.KernelRidge(0.7, 1e-4))


def trusted_losses(problem: Problem, learner: Learner, labels: Array) -> Array:
    objective = Objective(problem, learner)
    theta = objective.erm.fit(labels).theta
    return objective.erm.loss.values(objective.trusted_scores(theta), objective.trusted_labels)


@pytest.mark.parametrize("draw, learner", [POTTER, SINE], ids=["classes", "values"])
def test_a_pull_is_how_fast_the_loss_of_the_item_falls_as_the_label_moves_to_the_fix(
    draw: object, learner: Learner
) -> None:
    data = draw(np.random.default_rng(1))  # type: ignore[operator]
    problem, findings, why = explained(data, learner)
    assert len(why.rows) > 2
    row, given = why.rows[0], label_targets(problem.y, problem.k)
    if problem.k:
        assert problem.classes is not None
        fix = np.searchsorted(problem.classes, findings.suggested_labels[row])
        towards = np.eye(problem.k)[fix] - given[row]
    else:
        towards = np.sign(findings.suggested_labels[row] - problem.y[row])
    step = 1e-4
    ahead, behind = given.copy(), given.copy()
    ahead[row] += step * towards
    behind[row] -= step * towards
    slopes = (trusted_losses(problem, learner, behind) - trusted_losses(problem, learner, ahead)) / (2 * step)
    np.testing.assert_allclose(why.pulls[0], slopes, rtol=1e-4, atol=1e-9)


def test_items_near_a_row_pull_harder_than_items_far_away() -> None:
    X = np.linspace(0, 1, 40)[:, None]
    y = np.where(X[:, 0] < 0.5, "low", "high")
    y[:6] = "high"
    problem = Problem(X, y, [[0.05], [0.95]], ["low", "low"])
    why = reasons(problem, duti.Duti(duti.KernelLogistic(0.1, 1e-3), budget=3).rank(problem))
    near = why.rows < 20
    assert near.any()
    assert (why.pulls[near, 0] > 10 * abs(why.pulls[near, 1])).all()


@pytest.mark.parametrize("draw, learner", [POTTER, SINE], ids=["classes", "values"])
def test_the_learner_agrees_with_the_trusted_items_after_the_repair(draw: object, learner: Learner) -> None:
    problem, _, why = explained(draw(np.random.default_rng(0)), learner)  # type: ignore[operator]
    if problem.k:
        right = [
            told[np.arange(problem.m), problem.y_trusted] for told in (why.trusted_before, why.trusted_after)
        ]
        assert right[0].min() < 0.5 < right[1].min()
    else:
        errors = [abs(told - problem.y_trusted).mean() for told in (why.trusted_before, why.trusted_after)]
        assert errors[1] < errors[0]


def test_models_are_those_of_the_given_and_of_the_corrected_labels() -> None:
    problem, findings, why = explained(harry_potter(np.random.default_rng(3)), POTTER[1])
    assert (
        why.before.scores(problem.X).argmax(axis=1).tolist()
        != why.after.scores(problem.X).argmax(axis=1).tolist()
    )
    np.testing.assert_allclose(
        why.after.scores(problem.X_trusted),
        np.log(why.trusted_after) - np.log(why.trusted_after).mean(axis=1, keepdims=True),
    )
    assert findings.flagged.tolist() == why.rows.tolist()


def test_findings_of_a_detector_without_a_learner_have_reasons_too() -> None:
    from duti.baselines import NearestTrusted

    data = harry_potter(np.random.default_rng(0))
    problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted)
    why = reasons(problem, NearestTrusted(budget=5).rank(problem), random_state=0)
    assert why.pulls.shape == (len(why.rows), 2)


def test_sparse_rows_have_reasons() -> None:
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    X = rng.random((60, 30)) * (rng.random((60, 30)) < 0.2)
    y = np.where(X[:, 0] > 0, "a", "b")
    problem = Problem(csr_array(X), y, csr_array(X[:5]), y[::-1][:5])
    why = reasons(problem, duti.Duti(duti.Logistic(1e-2), budget=5).rank(problem))
    assert np.isfinite(why.pulls).all()


def test_many_rows_are_explained_by_some_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.linspace(0, 1, 300)[:, None]
    y = np.where(X[:, 0] < 0.5, "low", "high")
    y[:30] = "high"
    problem = Problem(X, y, [[0.02], [0.9]], ["low", "high"])
    findings = duti.Duti(duti.KernelLogistic(0.1, 1e-3), budget=40).rank(problem)
    whole = reasons(problem, findings, 0)
    monkeypatch.setattr("duti.reasons.TRAINED_ON", 150)
    some = reasons(problem, findings, 0)
    assert some.rows.tolist() == whole.rows.tolist()
    assert np.corrcoef(some.pulls[:, 0], whole.pulls[:, 0])[0, 1] > 0.9
    np.testing.assert_allclose(some.trusted_after, whole.trusted_after, atol=0.2)


def test_no_more_rows_are_explained_than_somebody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duti.reasons.EXPLAINED", 2)
    problem, findings, why = explained(harry_potter(np.random.default_rng(0)), POTTER[1])
    assert len(findings.flagged) > 2
    assert why.rows.tolist() == findings.flagged[:2].tolist()
    assert why.pulls.shape == (2, problem.m)


@pytest.mark.parametrize("detector", [duti.Automatic(), duti.Duti(duti.KernelLogistic(0.2, 1e-2))])
def test_nothing_flagged_needs_no_reasons(detector: duti.Detector) -> None:
    X = np.concatenate([np.linspace(0, 0.4, 30), np.linspace(0.6, 1, 30)])[:, None]
    y = np.where(X[:, 0] < 0.5, "low", "high")
    problem = Problem(X, y, X[::7], y[::7])
    findings = detector.rank(problem)
    assert len(findings.flagged) == 0
    assert reasons(problem, findings).pulls.shape == (0, problem.m)
