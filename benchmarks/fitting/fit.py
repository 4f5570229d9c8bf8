"""Logistic regressions: are labels wrong, is it systematic, which labels are wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from benchmarks.fitting.cases import Case
from duti.arrays import Array, Mask
from duti.automatic.fitted import BUGS, LABELS, SYSTEMATIC, Weighted, WeightedLabels

CAUTION = 0.5
"""Subtracted from the log-odds that labels are wrong."""
SOFT, FIRM = 1.0, 3.0
"""Inverse strength of the penalty on standardised weights, of rows and of tables."""


@dataclass(frozen=True)
class Fit:
    """All weights."""

    bugs: Weighted
    systematic: Weighted
    labels: WeightedLabels

    def hypotheses(self, case: Case) -> tuple[float, float]:
        """The probability of bugs, and that they are systematic if there are any."""
        return float(expit(self.bugs(case.statistics))), float(expit(self.systematic(case.statistics)))

    def wrong(self, case: Case) -> Array:
        """(n,): the probability that each label is wrong."""
        bugs, systematic = self.hypotheses(case)
        return np.asarray(bugs * expit(self.labels(case.features, systematic)))


def fitted(cases: Sequence[Case]) -> Fit:
    """From all cases; of the weights only the names are those of the recipe."""
    bugs = _of_tables(cases, lambda case: case.has_bugs, tuple(BUGS.weights))
    systematic = _of_tables(cases, lambda case: case.is_systematic, tuple(SYSTEMATIC.weights))
    cautious = Weighted(bugs.constant - CAUTION, bugs.weights)
    return Fit(cautious, systematic, _of_labels([case for case in cases if case.is_bug.any()], systematic))


def _of_tables(
    cases: Sequence[Case], label: Callable[[Case], bool | None], names: tuple[str, ...]
) -> Weighted:
    """Both answers count the same, however many cases have them."""
    known = [case for case in cases if label(case) is not None]
    X = np.array([[case.statistics[name] for name in names] for case in known])
    y = np.array([bool(label(case)) for case in known])
    weights = np.where(y, 1 / (2 * y.mean()), 1 / (2 * (1 - y.mean())))
    constant, slopes = _logistic(X, y, weights, FIRM)
    return Weighted(constant, dict(zip(names, slopes.tolist(), strict=True)))


def _of_labels(cases: Sequence[Case], systematic: Weighted) -> WeightedLabels:
    """For the order of rows wrong labels count as much as right ones, of half of the weight; how probable
    they are is then told by all rows alike."""
    names = tuple(LABELS.weights)
    shares = [float(expit(systematic(case.statistics))) for case in cases]
    parts = [
        np.column_stack(
            [x := np.column_stack([case.features[name] for name in names]), s * x, np.full(len(x), s)]
        )
        for case, s in zip(cases, shares, strict=True)
    ]
    X, y = np.vstack(parts).astype(np.float64), np.concatenate([case.is_bug for case in cases])
    even = np.concatenate([np.full(len(case.is_bug), 1 / len(case.is_bug)) for case in cases])
    balanced = np.concatenate([_balanced(case.is_bug) for case in cases])
    _, slopes = _logistic(X, y, 50 * (even + balanced), SOFT)
    order = X[:, :-1] @ slopes[:-1]
    constant, (sharpness, shift) = _logistic(np.column_stack([order, X[:, -1]]), y, 100 * even, SOFT)
    first, added = (sharpness * slopes[:-1]).reshape(2, -1).tolist()
    return WeightedLabels(
        (constant, float(shift)), dict(zip(names, zip(first, added, strict=True), strict=True))
    )


def _balanced(is_bug: Mask) -> Array:
    wrong = is_bug.sum()
    return np.asarray(np.where(is_bug, 1 / (2 * wrong), 1 / (2 * (len(is_bug) - wrong))))


def _logistic(X: Array, y: Mask, weights: Array, inverse_penalty: float) -> tuple[float, Any]:
    """Constant and slopes of what is penalised as if columns were standardised."""
    from sklearn.linear_model import LogisticRegression

    mean, deviation = X.mean(axis=0), np.maximum(X.std(axis=0), np.finfo(float).tiny)
    model = LogisticRegression(C=inverse_penalty, max_iter=1000)
    model.fit((X - mean) / deviation, y, sample_weight=weights)
    slopes = model.coef_[0] / deviation
    return float(model.intercept_[0] - slopes @ mean), slopes
