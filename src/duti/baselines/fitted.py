"""What the detectors with a learner share: tuning it, and reading its scores."""

from __future__ import annotations

import numpy as np

from duti.arrays import Array, Ints, Targets
from duti.errors import LearnerError
from duti.findings import Findings, scored
from duti.learners import Learner, default_learner
from duti.learners.losses import softmax
from duti.problem import Problem
from duti.randomness import Seed
from duti.tune import tune


def chosen(problem: Problem, learner: Learner | None) -> Learner:
    """The learner of the task if none is given; one of the other task is refused.

    >>> chosen(Problem([[0.0], [1.0]], ["a", "b"], [[0.0]], ["a"]), None).task
    'classification'
    """
    learner = default_learner(problem.task) if learner is None else learner
    if learner.task != problem.task:
        raise LearnerError(
            f"{type(learner).__name__} learns {learner.task}, but the labels are a {problem.task}; "
            f"choose another learner or say task={learner.task!r}."
        )
    return learner


def tuned(problem: Problem, learner: Learner | None, random_state: Seed = None) -> Learner:
    """The learner with all hyperparameters known, tuned on the labels as given where they were not.

    >>> from duti import Ridge
    >>> tuned(Problem([[1.0], [2.0], [3.0]], [2.5, 4.5, 7.5], [[2.0]], [5.0]), Ridge()).untuned
    ()
    """
    return tune(chosen(problem, learner), problem.X, problem.y, problem.k, random_state).best


def predictions(scores: Array) -> Targets:
    """The class with the highest score, or the value itself of a regression.

    >>> predictions(np.array([[0.2, 1.5], [0.3, -1.0]]))
    array([1, 0])
    """
    return scores if scores.ndim == 1 else scores.argmax(axis=1)


def self_confidence(P: Array, y: Ints) -> Array:
    """p(y_i | x_i).

    >>> self_confidence(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0]))
    array([0.9, 0.4])
    """
    return np.asarray(P[np.arange(len(y)), y])


def surprise(problem: Problem, scores: Array) -> Array:
    """1 − p(given label) under the scores of a learner; in regression the absolute residual.

    >>> problem = Problem([[0.0], [1.0]], ["a", "b"], [[0.4]], ["a"])
    >>> surprise(problem, np.log([[0.9, 0.1], [0.4, 0.6]])).round(3)
    array([0.1, 0.4])
    """
    if problem.classes is None:
        return np.asarray(abs(scores - problem.y))
    return 1 - self_confidence(softmax(scores), problem.y)


def disagreements(
    problem: Problem,
    scores: Array,
    suspicion: Array,
    *,
    budget: int | None,
    learner: Learner,
    notes: tuple[str, ...] = (),
) -> Findings:
    """Findings that flag the rows where a learner predicts another label, which is the fix.

    >>> from duti import Logistic
    >>> problem = Problem([[0.0], [0.5], [1.0]], ["a", "b", "b"], [[0.4]], ["a"])
    >>> scores = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> disagreements(problem, scores, np.zeros(3), budget=None, learner=Logistic(0.1)).flagged
    array([1])
    """
    fixes = predictions(scores)
    return scored(problem, suspicion, fixes, fixes != problem.y, budget=budget, learner=learner, notes=notes)
