"""What a learner would say of a row, or of a trusted item, if it had not seen it: without training again.

With H the Hessian of a learner, leaving row i out moves its score by −h_i (δ_i − p_i)/(1 − h_i w_i) or so,
where h_i = z_i H⁻¹ z_iᵀ/n and w_i is its curvature.

A trusted item j pulls on the labels, not on the learner: without it the adjoint scores are
u − Z H⁻¹ z̃_j r_j, where r_j is the derivative of its loss. Rows that have left their given label because
of it alone go back, and the learner follows by one Newton step. Rows that were convinced by others on
its behalf stay, so that these losses are somewhat too small; how they compare is what counts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from duti.arrays import Array, Ints
from duti.learners.erm import ERM
from duti.learners.preconditioner import MOST_BLOCKS, BlockPreconditioner, block_preconditioner
from duti.objective import Objective
from duti.solvers.bilevel import Point

NEGLIGIBLE = 0.05
"""With fewer features than this for each row, one row more or less makes no difference; and a row that
determines its own score entirely is taken to leave so much of it to the others."""

FOLDS = 5
"""Where things are left out a fold at a time."""


def block_inverse(erm: ERM, scores: Array) -> BlockPreconditioner:
    """H⁻¹, one block for each class; of many rows about.

    Many classes share a block. Mostly two of them compete for a row, with the curvature ½ Σ p(1 − p) each.
    """
    curvature = erm.loss.curvature(scores)
    sample = erm.sample(curvature)
    weights = curvature.take(sample.index).weights
    if weights.shape[1] > MOST_BLOCKS:
        weights = weights.sum(axis=1, keepdims=True) / 2
    return block_preconditioner(sample, weights, erm.penalty)


def leverages(erm: ERM, inverse: BlockPreconditioner, always: Ints | None = None) -> Array:
    """h of every row, one column for each block; none if rows are many, but for those that weigh more."""
    found = np.zeros((erm.rows.n, len(inverse.roots)))
    if inverse.roots[0].ndim == 1:
        return found
    many = NEGLIGIBLE * erm.rows.n >= erm.rows.D
    some: Ints | slice = slice(None) if not many else np.empty(0, dtype=np.intp) if always is None else always
    rows = erm.rows.subset(some) if isinstance(some, np.ndarray) else erm.rows
    for block, root in enumerate(inverse.roots):
        found[some, block] = (rows.times(root.T) ** 2).sum(axis=1) / erm.rows.n
    return found


def rows_left_out(erm: ERM, leverage: Array, scores: Array, labels: Array) -> Array:
    """The score of each row for each class from a learner that did not see it."""
    own = np.maximum(1 - leverage * erm.loss.curvature(scores).weights, NEGLIGIBLE)
    return np.asarray(scores + leverage * erm.loss.d_scores(scores, labels) / own, dtype=np.float64)


def trusted_left_out(objective: Objective, W: tuple[Array, ...], at: Point, gamma: float) -> Array:
    """The score of each trusted item for each class from a learner debugged without it at the price γ.

    `W`: H⁻¹Z̃ᵀ, one for all classes or one for each.
    """
    relabelling, n = objective.relabelling, objective.problem.n
    scores, residual = at.trusted.scores.copy(), at.trusted.residual
    moved = np.flatnonzero(relabelling.deviation(at.delta))
    if not len(moved):
        return scores
    Z, given = objective.rows.take(moved), relabelling.start[moved]
    # Z H⁻¹ z̃ᵀ for each item and class: what the item does to the rows, and the rows to the item.
    influence = np.empty((len(scores), *given.shape))
    for j in range(scores.shape[1]):
        influence[:, :, j] = (Z @ W[j % len(W)]).T
    bids, back, own = at.evidence[moved] + gamma * given, given - at.delta[moved], given > 0
    for item, (A, r) in enumerate(zip(influence, residual, strict=True)):
        pulled = bids + A * r
        returns = pulled[own] >= pulled.max(axis=1)
        scores[item] += (A[returns] * back[returns]).sum(axis=0) / n
    return scores


def folded(m: int, predicted: Callable[[Ints, Ints], Array]) -> Array:
    """Predictions of m items, a fold of them at a time, each from the others.

    >>> folded(4, lambda kept, out: np.full(len(out), len(kept))).tolist()
    [3, 3, 3, 3]
    """
    fold = np.arange(m) % min(m, FOLDS)
    outside = [np.flatnonzero(fold == number) for number in range(min(m, FOLDS))]
    found = np.concatenate([predicted(np.setdiff1d(np.arange(m), out), out) for out in outside])
    return found[np.argsort(np.concatenate(outside))]
