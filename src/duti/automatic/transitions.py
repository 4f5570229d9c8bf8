"""How true labels become given ones: T_jy = P(given y | true j), by EM from what q says of the rows.

Flips leave a label with the probability 1 − ρ and change it into any other alike. Confusions have a rate for
every pair of classes: whoever is biased changes labels in one direction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duti.arrays import Array, Ints
from duti.automatic.noise import EM_STEPS

SHRUNK = 0.05
"""Rates of pairs of classes are drawn to those of flips by so many observations for each row. A quarter or
four times as much: AP ± .001 and − .013 where labels are confused or in a region, on the tables that numbers
were chosen on."""


@dataclass(frozen=True, eq=False)
class Transitions:
    """(k, k): T, and how well it explains the given labels."""

    matrix: Array
    told: float
    """Mean log-likelihood of the given labels: log Σ_j q_j T_jy."""

    @property
    def rate(self) -> float:
        """The largest probability of a change from one class into another."""
        return float((self.matrix * (1 - np.eye(len(self.matrix)))).max())


def transitions(q: Array, y: Ints, *, classwise: bool) -> Transitions:
    """The most probable ones.

    >>> q, y = np.array([[0.98, 0.02]] * 50 + [[0.02, 0.98]] * 50), np.array([0] * 80 + [1] * 20)
    >>> transitions(q, y, classwise=False).matrix.round(2).tolist()
    [[0.71, 0.29], [0.29, 0.71]]
    >>> transitions(q, y, classwise=True).matrix.round(2).tolist()
    [[0.97, 0.03], [0.57, 0.43]]
    """
    n, k = q.shape
    same = np.eye(k)
    T = _flips(float(1 - q[np.arange(n), y].mean()), k)
    for _ in range(EM_STEPS):
        counts = _counts(q, y, T)
        changed = float((counts * (1 - same)).sum() / n)
        T = _flips(changed, k)
        if classwise:
            drawn = SHRUNK * n
            T = (counts + drawn * T) / (counts.sum(axis=1, keepdims=True) + drawn)
    told = float(np.log((q * T[:, y].T).sum(axis=1)).mean())
    return Transitions(T, told)


def _flips(rate: float, k: int) -> Array:
    return np.asarray(np.where(np.eye(k) > 0, 1 - rate, rate / (k - 1)))


def _counts(q: Array, y: Ints, T: Array) -> Array:
    """(true, given): how many rows of each pair are expected."""
    joint = q * T[:, y].T
    joint /= joint.sum(axis=1, keepdims=True)
    return np.array([np.bincount(y, weights=one, minlength=len(T)) for one in joint.T])
