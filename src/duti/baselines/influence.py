"""INF of the paper: the influence of each training label on the loss of the trusted items.

    I = Jᵀ (1/m) Σ_i ∇_θ ℓ(x̃_i, ỹ_i, θ),     J = ∂θ/∂δ

the first term of ∇O with all confidences 1. As there, J is never formed: with H v = (1/m) Σ ∇ℓ̃ and
u = Zv, I is the learner's cross term times u, over n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duti.arrays import Array
from duti.baselines.fitted import tuned
from duti.findings import Findings, scored
from duti.learners import Learner
from duti.objective import Objective
from duti.problem import Problem
from duti.randomness import Seed

RTOL = 1e-10


@dataclass(frozen=True)
class Influence:
    """INF: rows whose label does the trusted items the most harm, to first order.

    Classification: flags rows with positive influence on their given label, the largest first; the
    fix is the label with the most negative influence. Regression: ranks by |influence|. A positive
    one says that a smaller label would serve the trusted items better but not by how much, so no
    other value is suggested: the fix is the label as given. Confidences play no part.

    `centred=False` leaves the rows of I as the formula has them, which in classification adds a
    constant to each: the influence of label j is then that of one more such row with label j (Koh
    & Liang). That weighs rows by how unsure the learner is of them, and ranks very differently.

    >>> from duti import KernelLogistic
    >>> problem = Problem([[0.0], [0.1], [0.9], [1.0]], ["a", "b", "b", "b"], [[0.1]], ["a"])
    >>> findings = Influence(KernelLogistic(0.3, 0.01), budget=1).rank(problem)
    >>> findings.flagged, findings.suggested_labels[1]
    (array([1]), np.str_('a'))
    """

    learner: Learner | None = None
    budget: int | None = None
    random_state: Seed = None
    centred: bool = True

    def rank(self, problem: Problem) -> Findings:
        """Tune and fit the learner, then one linear solve."""
        learner = tuned(problem, self.learner, self.random_state)
        objective = Objective(problem, learner, self.random_state)
        I = influence(objective, centred=self.centred)  # noqa: E741
        if problem.classes is None:
            score, fixes, flagged = abs(I), problem.y, I != 0
        else:
            score, fixes = I[np.arange(problem.n), problem.y], I.argmin(axis=1)
            flagged = score > 0
        return scored(problem, score, fixes, flagged, budget=self.budget, learner=learner)


def influence(objective: Objective, *, centred: bool = True) -> Array:
    """I at the labels as given: (n, k), or (n,) in regression.

    Soft labels sum to one, so moving along the simplex does not see a constant added to a row of I;
    centred rows, which sum to zero, make I the derivative along it.

    >>> from duti import KernelLogistic
    >>> problem = Problem([[0.0], [0.1], [0.9], [1.0]], ["a", "b", "b", "b"], [[0.1]], ["a"])
    >>> I = influence(Objective(problem, KernelLogistic(0.3, 0.01)))
    >>> bool(I[1, 1] > 0), bool(abs(I.sum(axis=1)).max() < 1e-12)
    (True, True)
    """
    erm, fit, problem = objective.erm, objective.given_fit, objective.problem
    residual = erm.loss.d_scores(objective.trusted_scores(fit.theta), objective.trusted_labels)
    right = objective.trusted_rows.transposed_times(residual / problem.m)
    v, _ = erm.solve(erm.loss.curvature(fit.scores), right, fit.preconditioner, RTOL, np.zeros_like(right))
    I = erm.loss.cross(fit.scores, erm.times(v)) / problem.n  # noqa: E741
    return I - I.mean(axis=1, keepdims=True) if centred and I.ndim == 2 else I
