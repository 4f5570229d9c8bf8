"""What a learner would say of a row, or of a trusted item, if it had not seen it: without training again.

With H the Hessian of a learner, leaving row i out moves its score by −h_i (δ_i − p_i)/(1 − h_i w_i) or so,
where h_i = z_i H⁻¹ z_iᵀ/n and w_i is its curvature.

A trusted item j pulls on the labels, not on the learner: without it the adjoint scores are
u − Z H⁻¹ z̃_j r_j, where r_j is the derivative of its loss. Rows that have left their given label because
of it alone go back, and the learner follows by one Newton step. Rows that were convinced by others on
its behalf stay, so that these losses are somewhat too small; how they compare is what counts.
"""

from __future__ import annotations

import numpy as np

from duti.arrays import Array
from duti.learners.erm import ERM
from duti.learners.losses import SoftmaxCurvature, softmax
from duti.learners.preconditioner import BlockPreconditioner, Sample
from duti.objective import Objective
from duti.solvers.bilevel import Point

ROWS_A_FEATURE = 20
"""With so many rows for each feature, one row more or less makes no difference."""
STUBBORN = 0.05
"""A row that determines its own score entirely is taken to leave so much of it to the others."""


def block_inverse(erm: ERM, scores: Array) -> BlockPreconditioner:
    """H⁻¹ of all rows, one block for each class."""
    n = erm.rows.n
    return erm.metric(Sample(erm.rows, np.arange(n), np.full(n, 1 / n)), SoftmaxCurvature(softmax(scores)))


def rows_left_out(erm: ERM, inverse: BlockPreconditioner, scores: Array, labels: Array) -> Array:
    """The score of each row for each class from a learner that did not see it."""
    left_out = np.array(scores, dtype=np.float64)
    if erm.rows.n >= ROWS_A_FEATURE * erm.rows.D or inverse.roots[0].ndim == 1:
        return left_out
    P = softmax(scores)
    weights = SoftmaxCurvature(P).weights
    for j in range(scores.shape[1]):
        block = j % len(inverse.roots)
        leverage = (erm.rows.times(inverse.roots[block].T) ** 2).sum(axis=1) / erm.rows.n
        own = np.maximum(1 - leverage * weights[:, block], STUBBORN)
        left_out[:, j] -= leverage * (labels[:, j] - P[:, j]) / own
    return left_out


def trusted_left_out(objective: Objective, inverse: BlockPreconditioner, at: Point, gamma: float) -> Array:
    """The score of each trusted item for each class from a learner debugged without it at the price γ."""
    relabelling, n = objective.relabelling, objective.problem.n
    scores, residual = at.trusted.scores.copy(), at.trusted.residual
    moved = np.flatnonzero(relabelling.deviation(at.delta))
    if not len(moved):
        return scores
    given = relabelling.start[moved]
    Z, Zt = objective.rows.take(moved), objective.trusted_rows.take(np.arange(len(scores)))
    # Z H⁻¹ z̃ᵀ for each class: what an item does to the rows, and the rows to the item.
    influence = [Z @ inverse.solve(Zt.T, j) for j in range(scores.shape[1])]
    bids, back = at.evidence[moved] + gamma * given, given - at.delta[moved]
    for item, r in enumerate(residual):
        pull = np.stack([A[:, item] * r[j] for j, A in enumerate(influence)], axis=1)
        returns = ((bids + pull) * given).sum(axis=1) >= (bids + pull).max(axis=1)
        scores[item] += [A[returns, item] @ back[returns, j] / n for j, A in enumerate(influence)]
    return scores
