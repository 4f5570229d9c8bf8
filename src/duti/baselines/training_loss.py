"""The simplest detector: the loss of each row under the learner it was trained with."""

from __future__ import annotations

from dataclasses import dataclass

from duti.baselines.fitted import disagreements, tuned
from duti.findings import Findings
from duti.learners import Learner
from duti.objective import Objective
from duti.problem import Problem
from duti.randomness import Seed


@dataclass(frozen=True)
class TrainingLoss:
    """Rows by their loss under the learner trained on the labels as given; trusted items play no part.

    Flags rows where the learner predicts another label, which is the fix. In regression the loss is
    the squared residual, and the budget alone limits how many rows are flagged.

    >>> from duti import KernelLogistic
    >>> X, y = [[0.0], [0.1], [0.2], [0.9], [1.0]], ["a", "b", "a", "b", "b"]
    >>> TrainingLoss(KernelLogistic(0.5, 0.1)).rank(Problem(X, y, [[0.0]], ["a"])).flagged
    array([1])
    """

    learner: Learner | None = None
    budget: int | None = None
    random_state: Seed = None

    def rank(self, problem: Problem) -> Findings:
        """Tune and fit the learner once."""
        learner = tuned(problem, self.learner, self.random_state)
        objective = Objective(problem, learner, self.random_state)
        scores, relabelling = objective.given_fit.scores, objective.relabelling
        losses = objective.erm.loss.values(scores, relabelling.labels(relabelling.start))
        return disagreements(problem, scores, losses, budget=self.budget, learner=learner)
