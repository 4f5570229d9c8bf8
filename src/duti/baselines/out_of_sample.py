"""Label quality from predictions for rows that the learner has not seen, as in confident learning.

Rows are dealt into folds class by class; a learner trained on the other folds scores each of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from duti.arrays import Array, Ints, Targets
from duti.baselines.fitted import disagreements, self_confidence, surprise, tuned
from duti.errors import ProblemError
from duti.findings import Findings
from duti.learners import Learner
from duti.learners.losses import softmax
from duti.learners.model import train
from duti.problem import Problem
from duti.randomness import Seed, generator

FOLDS = 10


@dataclass(frozen=True)
class OutOfSample(ABC):
    """Rows by what a learner that has not seen them says of their labels.

    Flags rows for which another label is predicted, which is the fix. Trusted items play no part.
    """

    learner: Learner | None = None
    budget: int | None = None
    random_state: Seed = None
    folds: int = FOLDS

    def rank(self, problem: Problem) -> Findings:
        """Tune the learner once, train it once for each fold."""
        self.require(problem)
        learner = tuned(problem, self.learner, self.random_state)
        scores = held_out_scores(problem, learner, self.folds, self.random_state)
        suspicion = self.suspicion(problem, scores)
        return disagreements(problem, scores, suspicion, budget=self.budget, learner=learner)

    def require(self, problem: Problem) -> None:
        """Refuse what cannot be ranked, before anything is trained. For classes only, unless overridden."""
        if problem.classes is None:
            raise ProblemError(
                f"{type(self).__name__} is for classification, but the labels are a regression; "
                "use SelfConfidence, TrainingLoss or NearestTrusted."
            )

    @abstractmethod
    def suspicion(self, problem: Problem, scores: Array) -> Array:
        """How suspicious each row is, given its score by the learner that has not seen it."""


@dataclass(frozen=True)
class SelfConfidence(OutOfSample):
    """Rows by 1 − p(given label), out of sample; in regression by the absolute residual.

    Flags rows for which another label is predicted, which is the fix. Trusted items play no part.

    >>> from duti import KernelLogistic
    >>> X, y = [[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]], ["a", "b", "a", "b", "b", "b"]
    >>> problem = Problem(X, y, [[0.0]], ["a"])
    >>> SelfConfidence(KernelLogistic(0.5, 0.01), folds=6).rank(problem).ranking[0]
    np.int64(1)
    """

    def require(self, problem: Problem) -> None:
        """Any task will do."""

    def suspicion(self, problem: Problem, scores: Array) -> Array:
        """1 − p(y_i | x_i), or |f(x_i) − y_i|."""
        return surprise(problem, scores)


@dataclass(frozen=True)
class NormalizedMargin(OutOfSample):
    """Rows by how far another class is ahead of the given one, out of sample. For classes only.

    Flags rows for which another label is predicted, which is the fix. Trusted items play no part.

    >>> from duti import KernelLogistic
    >>> X, y = [[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]], ["a", "b", "a", "b", "b", "b"]
    >>> problem = Problem(X, y, [[0.0]], ["a"])
    >>> NormalizedMargin(KernelLogistic(0.5, 0.01), folds=6).rank(problem).ranking[0]
    np.int64(1)
    """

    def suspicion(self, problem: Problem, scores: Array) -> Array:
        """1 − the normalised margin."""
        return 1 - normalized_margin(softmax(scores), problem.y)


def held_out_scores(
    problem: Problem, learner: Learner, folds: int = FOLDS, random_state: Seed = None
) -> Array:
    """The score of each row by a learner that was trained without its fold.

    >>> from duti import Ridge
    >>> problem = Problem([[1.0], [2.0], [4.0]], [1.0, 2.0, 4.5], [[1.0]], [1.0], task="regression")
    >>> held_out_scores(problem, Ridge(1e-12), folds=3).round(3)
    array([1.1  , 2.235, 4.   ])
    """
    rng = generator(random_state)
    members = _deal(problem.y, problem.k, folds, rng)
    shape = (problem.n, problem.k) if problem.k else (problem.n,)
    scores = np.empty(shape)
    for fold in range(members.max() + 1):
        held = members == fold
        model = train(learner, problem.X[~held], problem.y[~held], problem.k, rng)
        scores[held] = model.scores(problem.X[held])
    return scores


def normalized_margin(P: Array, y: Ints) -> Array:
    """(p(y_i) − max_{j≠y_i} p(j) + 1)/2, in [0, 1].

    >>> normalized_margin(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0]))
    array([0.9, 0.4])
    """
    others = P.copy()
    others[np.arange(len(y)), y] = -np.inf
    return np.asarray((self_confidence(P, y) - others.max(axis=1) + 1) / 2)


def _deal(y: Targets, k: int, folds: int, rng: np.random.Generator) -> Ints:
    """The fold of each row: shuffled, then dealt out like cards, class by class."""
    n = len(y)
    if not 2 <= folds <= n:
        raise ProblemError(f"folds is {folds}, but must lie between 2 and the {n} rows.")
    order = rng.permutation(n)
    if k:
        order = order[np.argsort(y[order], kind="stable")]
    members = np.empty(n, dtype=np.int64)
    members[order] = np.arange(n) % folds
    return members
