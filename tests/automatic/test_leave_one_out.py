"""What a learner would say of a row that it had not seen."""

from __future__ import annotations

import numpy as np

from duti import KernelLogistic
from duti.automatic.leave_one_out import block_inverse, leverages, rows_left_out
from duti.learners.model import label_targets
from duti.objective import Objective
from tests.automatic.tables import flips, problem_of


def test_leaving_rows_out_is_as_training_without_them() -> None:
    data = flips(3, n=60)
    problem, learner = problem_of(data, confidence=1.0), KernelLogistic(1.0, 0.05)
    objective = Objective(problem, learner)
    labels = label_targets(problem.y, 2)
    fit = objective.erm.fit(labels)
    leverage = leverages(objective.erm, block_inverse(objective.erm, fit.scores))
    quick = rows_left_out(objective.erm, leverage, fit.scores, labels)
    for row in range(0, 60, 7):
        kept = np.delete(np.arange(60), row)
        # Without one row the mean is over n − 1: the same prior has the ridge n λ/(n − 1).
        erm = learner.with_(ridge=0.05 * 60 / 59).erm(objective.rows.subset(kept), 2)
        slow = objective.rows.take(np.array([row])) @ erm.fit(labels[kept]).theta
        moved = abs(slow - fit.scores[row]).max()
        assert abs(slow - quick[row]).max() <= 0.15 * moved + 1e-3
