"""Models of other libraries, and the user's own predictions: held-out probabilities, and nothing else.

A forest predicts rows out of bag, any other model by cross-fitting.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from duti.arrays import Array, Ints, Matrix
from duti.automatic.candidates import CHOSEN_ON, MANY_ITEMS
from duti.automatic.fits import shows_all_classes
from duti.automatic.given import SLIPS
from duti.automatic.leave_one_out import FOLDS
from duti.automatic.predictions import Kind, Prediction
from duti.problem import Problem
from duti.randomness import Seed, generator

THE_USERS = "the given probabilities"


def default_models(problem: Problem, random_state: Seed) -> tuple[Any, ...]:
    """A forest; of many rows each tree sees no more than learners are chosen on."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestClassifier if problem.task == "classification" else RandomForestRegressor
    seed = int(generator(random_state).integers(np.iinfo(np.int32).max))
    most = CHOSEN_ON if problem.n > CHOSEN_ON else None
    return (kind(oob_score=True, random_state=seed, max_samples=most),)


def model_predictions(problem: Problem, models: Sequence[Any]) -> Iterator[Prediction]:
    """What each model predicts, trained on the labels as given and on the trusted items alone."""
    X, X_trusted, k = problem.X, problem.X_trusted, problem.k
    if problem.task == "regression":
        yield from _of_values(problem, models)
        return
    for model in models:
        rows, trusted = held_out(model, X, problem.y, X_trusted, k)
        yield _prediction(Kind.GIVEN, model, _log(rows), _log(trusted))
        if shows_all_classes(problem):
            trusted, rows = held_out(model, X_trusted, problem.y_trusted, X, k)
            yield _prediction(Kind.TRUSTED, model, _log(rows), _log(trusted))


def _of_values(problem: Problem, models: Sequence[Any]) -> Iterator[Prediction]:
    X, X_trusted = problem.X, problem.X_trusted
    for model in models:
        yield _prediction(Kind.GIVEN, model, *held_out_values(model, X, problem.y, X_trusted))
        if problem.m >= MANY_ITEMS:
            trusted, rows = held_out_values(model, X_trusted, problem.y_trusted, X)
            yield _prediction(Kind.TRUSTED, model, rows, trusted)


def users_predictions(problem: Problem) -> Iterator[Prediction]:
    """The probabilities that the user gave, if any."""
    if problem.pred_probs is not None and problem.pred_probs_trusted is not None:
        rows, trusted = problem.pred_probs, problem.pred_probs_trusted
        if problem.task == "classification":
            rows, trusted = _log(rows), _log(trusted)
        yield Prediction(Kind.GIVEN, THE_USERS, rows, trusted)


def held_out(model: Any, X: Matrix, y: Ints, others: Matrix, k: int) -> tuple[Array, Array]:
    """Probabilities of the k classes of all rows, each held out, and of others that were not seen at all.

    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.arange(10.0)[:, None], np.array([0] * 5 + [2] * 5)
    >>> P, _ = held_out(LogisticRegression(), X, y, X[:0], 3)
    >>> P[[0, -1]].argmax(axis=1).tolist(), float(P[:, 1].max())
    ([0, 2], 0.0)
    """
    model = _sized(model, len(y))
    seen, codes = np.unique(y, return_inverse=True)
    folds = min(FOLDS, int(np.bincount(codes).min()))
    fitted = _fitted(model, X, codes)
    if hasattr(fitted, "oob_decision_function_"):
        inside = np.nan_to_num(fitted.oob_decision_function_, nan=1 / len(seen))
    elif folds > 1:
        inside = _cross_fitted(model, X, codes, folds, "predict_proba")
    else:
        inside = np.tile(np.bincount(codes) / len(codes), (len(codes), 1))
    outside = fitted.predict_proba(others) if others.shape[0] else np.empty((0, len(seen)))
    return _of_all_classes(inside, seen, k), _of_all_classes(outside, seen, k)


def held_out_values(model: Any, X: Matrix, y: Array, others: Matrix) -> tuple[Array, Array]:
    """Predicted values of all rows, each held out, and of others that were not seen at all.

    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.arange(10.0)[:, None]
    >>> rows, others = held_out_values(LinearRegression(), X, 2 * X[:, 0], X[1:3])
    >>> np.allclose(rows, 2 * X[:, 0]), others.round(6).tolist()
    (True, [2.0, 4.0])
    """
    model = _sized(model, len(y))
    fitted = _fitted(model, X, y)
    if hasattr(fitted, "oob_prediction_"):
        inside = np.nan_to_num(fitted.oob_prediction_, nan=float(y.mean()))
    else:
        inside = _cross_fitted(model, X, y, min(FOLDS, len(y)), "predict")
    outside = fitted.predict(others) if others.shape[0] else np.empty(0)
    return np.asarray(inside, dtype=np.float64), np.asarray(outside, dtype=np.float64)


def _sized(model: Any, n: int) -> Any:
    """A copy; if its trees are to see more rows than there are, they see as many as there are."""
    from sklearn.base import clone

    model = clone(model)
    most = model.get_params().get("max_samples")
    if isinstance(most, int) and most > n:
        model.set_params(max_samples=None)
    return model


def _fitted(model: Any, X: Matrix, y: Any) -> Any:
    with catch_warnings():
        simplefilter("ignore", UserWarning)  # rows that every tree has seen are not predicted: dealt with
        simplefilter("ignore", RuntimeWarning)  # values beyond the largest integer are no integers
        return model.fit(X, y)


def _cross_fitted(model: Any, X: Matrix, y: Any, folds: int, method: str) -> Array:
    from sklearn.model_selection import cross_val_predict

    return np.asarray(cross_val_predict(model, X, y, cv=folds, method=method))


def _of_all_classes(P: Array, seen: Ints, k: int) -> Array:
    full = np.zeros((len(P), k))
    full[:, seen] = P
    return full


def _log(P: Array) -> Array:
    """Of probabilities, of which none is less than a trusted label may be."""
    return np.asarray(np.log(np.maximum(P, SLIPS / P.shape[1])))


def _prediction(kind: Kind, model: Any, rows: Array, trusted: Array) -> Prediction:
    plain = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if isinstance(value, str | int | float | bool)
    }
    return Prediction(kind, type(model).__name__, rows, trusted, settings=plain)
