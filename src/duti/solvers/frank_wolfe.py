"""How stationary labels are: the Frank-Wolfe gap of a classification."""

from __future__ import annotations

import numpy as np

from duti.arrays import Array
from duti.objective import Objective

SATISFIED = 1e-2
"""Once O has fallen to this fraction of where it started, gaps are relative to this fraction."""


def relative_gap(objective: Objective, delta: Array, evidence: Array, gamma: float, value: float) -> float:
    """The most that a first-order change of the labels could still gain, relative to the objective.

    Σ_i max_j ⟨∇O_i, δ_i − e_j⟩ over the rows that may move, with −n∇O = E + γY up to a constant in
    each row. At an optimum it is 0.
    """
    price = evidence + gamma * objective.relabelling.start
    gap = (price.max(axis=1) - (price * delta).sum(axis=1))[~objective.relabelling.frozen]
    scale = max(abs(value), SATISFIED * objective.given_value, np.finfo(float).tiny)
    return float(gap.sum()) / objective.problem.n / scale
