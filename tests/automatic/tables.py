"""Small tables of known truth, and what the automatic recipe makes of them step by step."""

from __future__ import annotations

from typing import Any

import numpy as np

from duti import KernelLogistic, Learner, Problem
from duti.arrays import Array, Ints, Mask
from duti.automatic.ensemble import Ensemble
from duti.automatic.evidence import Evidence
from duti.automatic.predictions import Kind, Prediction
from duti.datasets import LabelledBugs
from duti.journal import FORGETFUL
from duti.progress import silent

FEW = KernelLogistic(bandwidth=1.0)
"""One bandwidth and no forest: a twelfth of the learners."""
NARROW = KernelLogistic(bandwidth=0.4)
"""The same for features from 0 to 1."""


def corner(seed: int, n: int = 150, m: int = 14, k: int = 2) -> LabelledBugs:
    """Bands of one feature; every row of one corner has the label of the first."""
    rng = np.random.default_rng(seed)
    X, X_trusted = rng.uniform(size=(n, 2)), rng.uniform(size=(m, 2))

    def truth(X: Array) -> Ints:
        return np.asarray(np.minimum((k * X[:, 0]).astype(int), k - 1))

    y = np.where((X > 0.6).all(axis=1), 0, truth(X))
    return LabelledBugs(X, y, X_trusted, truth(X_trusted), truth(X), y != truth(X), ("a", "b"))


def flips(seed: int, n: int = 200, m: int = 40, rate: float = 0.2) -> LabelledBugs:
    """Two bands with a gap between them, some labels flipped at random."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + m, 2))
    truth = (X[:, 0] > 0).astype(int)
    X[:, 0] += truth - 0.5
    is_bug = rng.random(n) < rate
    y = np.where(is_bug, 1 - truth[m:], truth[m:])
    return LabelledBugs(X[m:], y, X[:m], truth[:m], truth[m:], is_bug, ("a", "b"))


def clean(seed: int, noise: float = 0.0, n: int = 200, m: int = 40) -> LabelledBugs:
    """Nothing is wrong: two bands with a gap between them; or with noise, classes that overlap by nature."""
    if not noise:
        return flips(seed, n, m, rate=0.0)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + m, 2))
    y = (X[:, 0] + rng.normal(0, noise, n + m) > 0).astype(int)
    return LabelledBugs(X[m:], y[m:], X[:m], y[:m], y[m:], np.zeros(n, dtype=bool), ("a", "b"))


def problem_of(data: LabelledBugs, **options: Any) -> Problem:
    return Problem(data.X, data.y, data.X_trusted, data.y_trusted, task="classification", **options)


def predictions_of(problem: Problem, learner: Learner) -> list[Prediction]:
    """As the detector trains them: verified rows are trusted items, and no rows."""
    return Ensemble((learner,), (), 0, silent, FORGETFUL).predictions(unverified(problem))[0]


def evidence_of(problem: Problem, learner: Learner) -> Evidence:
    return Evidence(unverified(problem), predictions_of(problem, learner))


def unverified(problem: Problem) -> Problem:
    return problem.subset(np.flatnonzero(~problem.frozen)).trusting(1.0)


def coded(n: int, m: int, k: int = 2, **options: Any) -> Problem:
    """Rows and items whose classes take turns: their features say nothing, predictions are made by hand."""
    X = np.arange(float(n + m))[:, None]
    y, y_trusted = np.arange(n) % k, np.arange(m) % k
    return Problem(X[:n], y, X[n:], y_trusted, task="classification", **options)


def said(labels: Ints, sure: float, k: int = 2) -> Array:
    """Scores of a learner that is so sure of these labels: they have the probability `sure`."""
    return np.asarray(np.log(np.where(np.eye(k)[labels] > 0, sure, (1 - sure) / (k - 1))))


def by_hand(problem: Problem, rows_wrong: Mask, items_wrong: Mask, sure: float) -> Prediction:
    """A learner of the labels as given that predicts another label where it is said to be wrong."""
    k = problem.k
    rows = np.where(rows_wrong, (problem.y + 1) % k, problem.y)
    items = np.where(items_wrong, (problem.y_trusted + 1) % k, problem.y_trusted)
    return Prediction(Kind.GIVEN, "by hand", said(rows, sure, k), said(items, sure, k))


def first(number: float, of: int) -> Mask:
    return np.asarray(np.arange(of) < number)


def expected(quality: Array) -> float:
    """The number of wrong labels that is expected."""
    return float((1 - quality).sum())
