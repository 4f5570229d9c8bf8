"""Which class is taken for which, as the trusted items show it, and the truth behind confused labels.

T[j, b] = P(given b | true j) is what a learner of the labels as given says, on average, of trusted items
whose class is j. Such a learner predicts p = qT where the true classes have probabilities q; so q maximises

    Σ_b p_b log Σ_j q_j T[j, b],     by   q_j ← q_j Σ_b T[j, b] p_b / (qT)_b,

and a row with the label b is truly a j with probability ∝ q_j T[j, b].
"""

from __future__ import annotations

import numpy as np

from duti.arrays import Array, Ints

CERTAIN, CONFUSED = 3.0, 0.1
"""Observations that a prior puts on the right label of each class, and on all labels together."""
STEPS = 30
LEAST = 1e-6
"""No class is less probable."""


def confusions(said: Array, labels: Ints, left_out: int | None = None) -> Array:
    """T, from what is said of items with these labels, all or all but one.

    >>> confusions(np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([0, 1])).round(2)
    array([[0.87, 0.13],
           [0.01, 0.99]])
    """
    k = said.shape[1]
    counts = CERTAIN * np.eye(k) + CONFUSED / k
    kept = np.arange(len(labels)) != left_out
    np.add.at(counts, labels[kept], said[kept])
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def truth_behind(P: Array, T: Array) -> Array:
    """q for each row of predictions of confused labels.

    >>> truth_behind(np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([[0.5, 0.5], [0.0, 1.0]])).round(2)
    array([[0.97, 0.03],
           [0.  , 1.  ]])
    """
    q = np.full_like(P, 1 / P.shape[1])
    for _ in range(STEPS):
        q = q * ((P / np.maximum(q @ T, LEAST)) @ T.T)
        q /= q.sum(axis=1, keepdims=True)
    return np.maximum(q, LEAST)


def corrected(rows: Array, y: Ints, items: Array, labels: Ints) -> tuple[Array, Array]:
    """Log-probabilities of the true classes: of rows with given labels, and of trusted items.

    From what a learner of the labels as given says of both; T of each item is that of the others.
    """
    T = confusions(items, labels)
    behind = np.log(truth_behind(rows, T)) + np.log(T[:, y].T)
    each = [truth_behind(items[i : i + 1], confusions(items, labels, i))[0] for i in range(len(labels))]
    return behind, np.log(each)
