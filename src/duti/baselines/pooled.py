"""Rows and trusted items in one training set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duti.baselines.fitted import disagreements, surprise, tuned
from duti.errors import ProblemError
from duti.findings import Findings
from duti.learners import Learner
from duti.objective import Objective
from duti.problem import Problem
from duti.randomness import Seed


@dataclass(frozen=True)
class Pooled:
    """Rows by the loss of their label under a learner trained on them and on the trusted items.

    The score is 1 − p(given label), or the absolute residual. Flags rows where another label is
    predicted, which is the fix. All trusted items together weigh `weight` times as much as all rows;
    the ridge, tuned on the rows as given where it is None, stays that of the rows. Confidences play no part.

    >>> from duti import KernelLogistic
    >>> X, y = [[0.0], [0.1], [0.9], [1.0]], ["b", "b", "b", "a"]
    >>> problem = Problem(X, y, [[0.05], [0.9]], ["a", "b"])
    >>> Pooled(KernelLogistic(0.3, 0.01), budget=4, weight=3.0).rank(problem).flagged
    array([0, 1])
    """

    learner: Learner | None = None
    budget: int | None = None
    random_state: Seed = None
    weight: float = 1.0

    def rank(self, problem: Problem) -> Findings:
        """Tune the learner on the rows, fit it to everything."""
        if not (np.isfinite(self.weight) and self.weight >= 0):
            raise ProblemError(f"weight is {self.weight}; use a finite number, 0 or above.")
        learner = tuned(problem, self.learner, self.random_state)
        objective = Objective(problem, learner, self.random_state)
        erm, labels = objective.pooled(self.weight)
        fit = erm.fit(labels, tol=objective.tol)
        scores = fit.scores[: problem.n]
        return disagreements(problem, scores, surprise(problem, scores), budget=self.budget, learner=learner)
