"""What people use on tables: forests and gradient boosting of scikit-learn, each as a detector.

The score of a row is 1 − p(given label), or the absolute residual; cleanlab calls one minus it
self-confidence. Rows are ranked by the score alone, and the fix is what is predicted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.sparse import issparse, vstack

from duti.arrays import Array, Ints, Targets
from duti.baselines.fitted import self_confidence
from duti.findings import Findings, scored
from duti.problem import Problem

FOLDS = 5
TREES = 100
"""scikit-learn's own number; about 37 of them have not seen a row."""
Kind = Literal["forest", "boosting"]


@dataclass(frozen=True)
class CrossFitted:
    """A model that has not seen the fold of a row, which trusted items play no part in."""

    kind: Kind = "forest"
    trees: int = TREES

    def rank(self, problem: Problem) -> Findings:
        """Five models, each trained without a fold."""
        predicted = _empty(problem)
        for fold in _folds(problem):
            model = _model(self.kind, problem.k, self.trees).fit(problem.X[~fold], problem.y[~fold])
            predicted[fold] = _predicted(model, problem.X[fold], problem.k)
        return judged(problem, predicted)


@dataclass(frozen=True)
class OutOfBag:
    """The trees of a forest that have not seen a row; with `pooled`, trained on trusted items too.

    All trusted items together then weigh as much as all rows.
    """

    pooled: bool = False
    trees: int = TREES

    def rank(self, problem: Problem) -> Findings:
        """One forest."""
        X, y, weight = problem.X, problem.y, np.ones(problem.n)
        if self.pooled:
            X = (vstack if issparse(X) else np.vstack)([X, problem.X_trusted])
            y = np.concatenate([y, problem.y_trusted])
            weight = np.concatenate([weight, np.full(problem.m, problem.n / problem.m)])
        with catch_warnings():  # heavy items are drawn into every tree, and nothing is asked of them
            simplefilter("ignore", UserWarning)
            forest = _model("forest", problem.k, self.trees, oob_score=True).fit(X, y, sample_weight=weight)
        found = forest.oob_decision_function_ if problem.k else forest.oob_prediction_
        return judged(problem, _spread(forest, found[: problem.n], problem.k))


@dataclass(frozen=True)
class OnTrusted:
    """A forest of the trusted items alone."""

    trees: int = TREES

    def rank(self, problem: Problem) -> Findings:
        """One forest."""
        forest = _model("forest", problem.k, self.trees).fit(problem.X_trusted, problem.y_trusted)
        return judged(problem, _predicted(forest, problem.X, problem.k))


def judged(problem: Problem, predicted: Array) -> Findings:
    """Findings from probabilities of all classes, or from values."""
    if problem.classes is None:
        score, fixes = abs(predicted - problem.y), predicted
    else:
        score, fixes = 1 - self_confidence(predicted, problem.y), predicted.argmax(axis=1)
    return scored(problem, score, fixes, np.ones(problem.n, dtype=bool), budget=problem.n)


def _model(kind: Kind, k: int, trees: int, **options: Any) -> Any:
    from sklearn.ensemble import (
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )

    if kind == "boosting":
        return (HistGradientBoostingClassifier if k else HistGradientBoostingRegressor)(random_state=0)
    forest = RandomForestClassifier if k else RandomForestRegressor
    return forest(trees, random_state=0, **options)


def _folds(problem: Problem) -> Iterator[Any]:
    """Masks of the folds: rows are shuffled, then dealt out like cards, class by class."""
    order: Ints = np.random.default_rng(0).permutation(problem.n)
    if problem.k:
        order = order[np.argsort(problem.y[order], kind="stable")]
    fold = np.empty(problem.n, dtype=np.int64)
    fold[order] = np.arange(problem.n) % FOLDS
    yield from (fold == number for number in range(FOLDS))


def _empty(problem: Problem) -> Array:
    return np.empty((problem.n, problem.k) if problem.k else problem.n)


def _predicted(model: Any, X: Any, k: int) -> Array:
    return _spread(model, model.predict_proba(X) if k else model.predict(X), k)


def _spread(model: Any, found: Array, k: int) -> Targets:
    """Probabilities of all classes, also of those that the model has not seen."""
    if not k:
        return found
    probabilities = np.zeros((len(found), k))
    probabilities[:, model.classes_] = found
    return probabilities
