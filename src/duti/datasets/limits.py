"""Trusted items that a learner gets wrong although no label is: the paper's section on limitations.

What a debugger flags here is no bug. The reason for the disagreement lies in the learner or in the
rows that were collected.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from duti.arrays import Array, Labels, Mask
from duti.datasets.toys import LabelledBugs

N = 100


def underfitting(rng: np.random.Generator) -> LabelledBugs:
    """The boundary is a parabola, the learner a line: `Logistic(ridge=1e-3)`.

    Both trusted items, one on each side of the parabola, are on the wrong side of the line.

    >>> data = underfitting(np.random.default_rng(0))
    >>> data.X.shape, data.y_trusted, int(data.is_bug.sum())
    ((100, 2), array([ 1, -1]), 0)
    """
    X = rng.uniform(-1, 1, (N, 2))
    trusted = np.array([[0.0, -0.2], [0.9, 0.7]])
    return _without_bugs(X, _sides(_above_steep_parabola(X)), trusted, _sides(_above_steep_parabola(trusted)))


def poor_extrapolation(rng: np.random.Generator) -> LabelledBugs:
    """The boundary is a parabola, of which the training set shows one half and the trusted items the other.

    `KernelLogistic(bandwidth=1.0, ridge=1e-3)` fits the training set, goes on downwards where the
    parabola rises again, and gets the two lower of three trusted items wrong.

    >>> data = poor_extrapolation(np.random.default_rng(0))
    >>> bool(data.X[:, 0].max() < 0 < data.X_trusted[:, 0].min()), data.y_trusted
    (True, array([-1, -1,  1]))
    """
    X = rng.uniform((-1, -0.5), (0, 1.5), (N, 2))
    trusted = np.array([[0.8, 0.3], [0.9, 0.5], [0.6, 0.9]])
    return _without_bugs(X, _sides(_above_parabola(X)), trusted, _sides(_above_parabola(trusted)))


def high_bayes_error(rng: np.random.Generator) -> LabelledBugs:
    """Labels are nearly a coin's toss close to the boundary, and the learner follows every one of them.

    P(y = 1 | x) = σ(4 (x₂ − ½)), and the trusted items have the more likely label.
    `KernelLogistic(bandwidth=0.1, ridge=1e-6)` overfits, and gets some of the 20 trusted items wrong.

    >>> data = high_bayes_error(np.random.default_rng(0))
    >>> data.X.shape, data.X_trusted.shape, int(data.is_bug.sum())
    ((100, 2), (20, 2), 0)
    """
    X, trusted = rng.uniform(size=(N, 2)), rng.uniform(size=(20, 2))
    y = _sides(rng.uniform(size=N) < expit(4 * (X[:, 1] - 0.5)))
    return _without_bugs(X, y, trusted, _sides(trusted[:, 1] > 0.5))


def _above_parabola(X: Array) -> Mask:
    return np.asarray(X[:, 1] > X[:, 0] ** 2)


def _above_steep_parabola(X: Array) -> Mask:
    return np.asarray(X[:, 1] > 2 * X[:, 0] ** 2 - 0.5)


def _sides(above: Mask) -> Labels:
    return np.where(above, 1, -1)


def _without_bugs(X: Array, y: Labels, X_trusted: Array, y_trusted: Labels) -> LabelledBugs:
    return LabelledBugs(X, y, X_trusted, y_trusted, y, np.zeros(len(y), dtype=bool), ("x1", "x2"))
