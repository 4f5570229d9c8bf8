"""What the trusted items say by themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duti.baselines.fitted import chosen, disagreements, surprise
from duti.findings import Findings
from duti.learners import Learner
from duti.objective import Objective
from duti.problem import Problem, listed
from duti.randomness import Seed
from duti.tune import FOLDS, tune


@dataclass(frozen=True)
class TrustedOnly:
    """Rows by the loss of their label under a learner trained on the trusted items alone.

    The score is 1 − p(given label), or the absolute residual. Flags rows where another label is
    predicted, which is the fix. The features are those of the training rows, which need no label:
    columns are standardised and kernels approximated as if the learner were trained on them.

    Hyperparameters that are None are tuned on the trusted items if there are at least two of each
    class (ten in regression); otherwise on the training rows as given, for want of better.

    >>> from duti import KernelLogistic
    >>> X, y = [[0.0], [0.1], [0.9], [1.0]], ["a", "b", "b", "b"]
    >>> problem = Problem(X, y, [[0.0], [1.0]], ["a", "b"])
    >>> TrustedOnly(KernelLogistic(0.5, 0.01)).rank(problem).flagged
    array([1])
    """

    learner: Learner | None = None
    budget: int | None = None
    random_state: Seed = None

    def rank(self, problem: Problem) -> Findings:
        """Tune the learner, fit it to the trusted items."""
        learner = self._tuned(problem)
        objective = Objective(problem, learner, self.random_state)
        fit = learner.erm(objective.trusted_rows, problem.k).fit(objective.trusted_labels)
        scores = objective.rows.times(fit.theta)
        suspicion, notes = surprise(problem, scores), _note_on_unseen(problem)
        return disagreements(problem, scores, suspicion, budget=self.budget, learner=learner, notes=notes)

    def _tuned(self, problem: Problem) -> Learner:
        learner, k = chosen(problem, self.learner), problem.k
        enough = np.bincount(problem.y_trusted, minlength=k).min() >= 2 if k else problem.m >= FOLDS
        X, y = (problem.X_trusted, problem.y_trusted) if enough else (problem.X, problem.y)
        return tune(learner, X, y, k, self.random_state).best


def _note_on_unseen(problem: Problem) -> tuple[str, ...]:
    """Classes that no trusted item has are never predicted, so that all their rows look wrong."""
    if problem.classes is None:
        return ()
    unseen = np.setdiff1d(np.arange(problem.k), problem.y_trusted)
    if not len(unseen):
        return ()
    shown = listed([repr(label) for label in problem.decode(unseen).tolist()])
    return (f"No trusted item has the label {shown}: a learner of the trusted items never predicts it.",)
