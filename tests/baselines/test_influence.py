from __future__ import annotations

import numpy as np
import pytest

from duti import Objective, Problem
from duti.baselines import Influence
from duti.baselines.influence import influence
from tests.cases import random_case


def trusting_equally(objective: Objective) -> Objective:
    """The same objective with confidence 1 for all trusted items."""
    problem = objective.problem
    labels = problem.decode(problem.y), problem.decode(problem.y_trusted)
    same = Problem(problem.X, labels[0], problem.X_trusted, labels[1], confidence=1.0, task=problem.task)
    return Objective(same, objective.learner)


@pytest.mark.parametrize("seed", range(40))
def test_influence_is_the_slope_of_the_trusted_loss_through_retraining(seed: int) -> None:
    case = random_case(seed)
    objective, h = trusting_equally(case.objective), 1e-5
    start = objective.relabelling.labels(objective.relabelling.start)

    def trusted_loss(step: float) -> float:
        fit = objective.erm.fit(start + step * case.direction, objective.given_fit, tol=1e-12)
        return objective.trusted_loss(fit.theta)

    I = influence(objective)  # noqa: E741
    slope = (trusted_loss(h) - trusted_loss(-h)) / (2 * h)
    size = np.linalg.norm(I) * np.linalg.norm(case.direction)
    assert abs(slope - float((I * case.direction).sum())) <= 1e-5 * size


@pytest.mark.parametrize("seed", range(10))
def test_without_centring_a_row_as_the_learner_expects_it_has_no_influence(seed: int) -> None:
    """One more row whose label is the learner's own prediction would not move the learner."""
    case = random_case(seed)
    objective = trusting_equally(case.objective)
    I = influence(objective, centred=False)  # noqa: E741
    if I.ndim == 1:
        np.testing.assert_array_equal(I, influence(objective))
        return
    P = np.exp(objective.given_fit.scores)
    P /= P.sum(axis=1, keepdims=True)
    np.testing.assert_allclose((P * I).sum(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(I - I.mean(axis=1, keepdims=True), influence(objective), atol=1e-12)


def test_flags_positive_influence_on_the_given_label_and_suggests_the_most_negative() -> None:
    case = random_case(next(s for s in range(100) if random_case(s).objective.problem.k > 2))
    objective = case.objective
    problem, I = objective.problem, influence(objective)  # noqa: E741
    own = I[np.arange(problem.n), problem.y]
    findings = Influence(objective.learner, budget=problem.n).rank(problem)
    np.testing.assert_array_equal(findings.flagged, np.argsort(-own)[: (own > 0).sum()])
    suggested = findings.suggested_labels[findings.flagged]
    np.testing.assert_array_equal(suggested, I[findings.flagged].argmin(axis=1))


def test_regression_ranks_by_size_and_suggests_nothing() -> None:
    case = random_case(next(s for s in range(100) if random_case(s).objective.problem.k == 0))
    problem = case.objective.problem
    findings = Influence(case.objective.learner).rank(problem)
    np.testing.assert_array_equal(findings.ranking, np.argsort(-abs(influence(case.objective))))
    np.testing.assert_array_equal(findings.suggested_labels, findings.given_labels)
