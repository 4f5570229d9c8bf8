"""Which class is taken for which, as the trusted items show it, and the truth behind confused labels.

T[j, b] = P(given b | true j) is what a learner of the labels as given says, on average, of trusted items
whose class is j. Such a learner predicts p = qT where the true classes have probabilities q; so q maximises

    Σ_b p_b log Σ_j q_j T[j, b],     by   q_j ← q_j Σ_b T[j, b] p_b / (qT)_b,

and a row with the label b is truly a j with probability ∝ q_j T[j, b].

Without any x, a label b stands for a true j with the probability R[b, j] that maximises
Π_i Σ_b p_b(x̃_i) R[b, ỹ_i] over the trusted items, with a prior on the diagonal.
"""

from __future__ import annotations

import numpy as np

from duti.arrays import Array, Ints

CERTAIN, CONFUSED = 3.0, 0.1
"""Observations that a prior puts on the right label of each class, and on all labels together."""
STEPS = 30
FEW = 10_000_000
"""Entries of a T for each item; with more items one of them makes no difference."""
STANDS, STANDS_FOR_OTHERS, EM_STEPS = 10.0, 1.0, 50
"""The same prior for R, on the diagonal and in all; and the steps in which R is found."""
LEAST = 1e-6
"""No class is less probable."""


def confusions(said: Array, labels: Ints) -> tuple[Array, Array]:
    """T, from what is said of items with these labels; and for each item, T without it.

    >>> T, others = confusions(np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([0, 1]))
    >>> T.round(2)
    array([[0.87, 0.13],
           [0.01, 0.99]])
    >>> others[0].round(2)
    array([[0.98, 0.02],
           [0.01, 0.99]])
    """
    (m, k), items = said.shape, np.arange(len(labels))
    counts = CERTAIN * np.eye(k) + CONFUSED / k
    np.add.at(counts, labels, said)
    if m * counts.size > FEW:
        T = counts / counts.sum(axis=1, keepdims=True)
        return T, T
    others = np.repeat(counts[None], m, axis=0)
    others[items, labels] -= said
    return counts / counts.sum(axis=1, keepdims=True), others / others.sum(axis=2, keepdims=True)


def truth_behind(P: Array, T: Array) -> Array:
    """q for each row of predictions of confused labels; T is one for all rows, or one for each.

    >>> truth_behind(np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([[0.5, 0.5], [0.0, 1.0]])).round(2)
    array([[0.97, 0.03],
           [0.  , 1.  ]])
    """
    forth, back = ("ij,jb->ib", "ib,jb->ij") if T.ndim == 2 else ("ij,ijb->ib", "ib,ijb->ij")
    q = np.full_like(P, 1 / P.shape[1])
    for _ in range(STEPS):
        q *= np.einsum(back, P / np.maximum(np.einsum(forth, q, T), LEAST), T, optimize=True)
        q /= q.sum(axis=1, keepdims=True)
    return np.maximum(q, LEAST)


def corrected(rows: Array, y: Ints, items: Array, labels: Ints) -> tuple[Array, Array]:
    """Log-probabilities of the true classes: of rows with given labels, and of trusted items.

    From what a learner of the labels as given says of both; T of each item is that of the others.
    """
    T, others = confusions(items, labels)
    return np.log(truth_behind(rows, T)) + np.log(T[:, y].T), np.log(truth_behind(items, others))


def replaced(said: Array, labels: Ints) -> Array:
    """R, from what is said of items with these labels.

    >>> R = replaced(np.eye(3)[[0, 1, 1, 1]], np.array([0, 2, 2, 1]))
    >>> R.argmax(axis=1), bool(R[1, 2] > R[1, 0])
    (array([0, 1, 2]), True)
    """
    k = said.shape[1]
    prior, shown = STANDS * np.eye(k) + STANDS_FOR_OTHERS / k, np.eye(k)[labels]
    R = prior / prior.sum(axis=1, keepdims=True)
    for _ in range(EM_STEPS):
        share = said * R[:, labels].T
        counts = prior + (share / share.sum(axis=1, keepdims=True)).T @ shown
        R = counts / counts.sum(axis=1, keepdims=True)
    return np.asarray(R)
