"""A user's own predictions → one probability for each row and class, or one value for each row."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from scipy.sparse import issparse

from duti.arrays import Array, Ints, Labels, Mask
from duti.encode.classes import Classes, plain_text
from duti.encode.reading import LARGEST, array_of, frame_or_same, listed, require_same_length
from duti.encode.tables import Table, unchecked_table
from duti.errors import ProblemError

SUM_TOLERANCE = 1e-3
"""Probabilities that were rounded to three digits still sum to one."""
ROUND_OFF = 1e-6
"""Of a softmax in float32, at the ends of [0, 1]."""
SMALLEST = 1e-6
"""Below this a probability says no more than "never"; its logarithm would be the largest feature by far."""


def predicted(
    of_rows: Any, of_items: Any, n: int, items: int, classes: Classes | None
) -> tuple[Array, Array] | None:
    """The user's predictions for n rows and some trusted items, if any; a regression has no classes."""
    if of_rows is None and of_items is None:
        return None
    if of_rows is None or (of_items is None and items):
        missing, there = ("pred_probs", "pred_probs_trusted")[:: 1 if of_rows is None else -1]
        raise ProblemError(
            f"{missing} is missing, but {there} is given; both are needed, "
            "from models that were not trained on what they predict."
        )
    rows = _read(of_rows, "pred_probs", classes)
    require_same_length("pred_probs", len(rows), "y", n)
    if of_items is None or (not items and _is_empty(of_items)):
        return rows, rows[:0]
    if not items:
        raise ProblemError(
            "pred_probs_trusted is given, but there are no items of X_trusted; leave it out "
            "(verified rows have the predictions of their rows)."
        )
    trusted = _read(of_items, "pred_probs_trusted", classes)
    require_same_length("pred_probs_trusted", len(trusted), "y_trusted", items)
    return rows, trusted


def _read(given: Any, name: str, classes: Classes | None) -> Array:
    if classes is None:
        return predictions(given, name)
    return probabilities(given, name, classes.order, classes.labels)


def _is_empty(given: Any) -> bool:
    shape = getattr(given, "shape", None)
    return shape[0] == 0 if shape else isinstance(given, Sized) and len(given) == 0


def probabilities(given: Any, name: str, order: Labels, classes: Labels) -> Array:
    """(rows, k), in the order of `classes`; columns come in `order`, or have the names of the classes.

    >>> abc = np.array(["a", "b"])
    >>> probabilities([[0.2, 0.8]], "pred_probs", abc[::-1], abc)
    array([[0.8, 0.2]])
    """
    found = _matrix(given, name)
    _refuse_missing(found, name)
    values = np.asarray(found.values)[:, _columns(found, name, order, classes)]
    _refuse_rows(values, (values < -ROUND_OFF) | (values > 1 + ROUND_OFF), name)
    values = values.clip(0.0, 1.0)
    sums = values.sum(axis=1)
    wrong = np.flatnonzero(abs(sums - 1) > SUM_TOLERANCE)
    if len(wrong):
        raise ProblemError(
            f"{name} row {wrong[0]} sums to {sums[wrong[0]]:.6g} ({len(wrong)} of {len(sums)} rows do not "
            "sum to 1); give the probability of every class."
        )
    return np.asarray(values / sums[:, None])


def predictions(given: Any, name: str) -> Array:
    """(rows,): one predicted value for each row of a regression.

    >>> predictions([1, 2.5], "pred_probs")
    array([1. , 2.5])
    """
    found = _matrix(given, name)
    if found.values.shape[1] != 1:
        raise ProblemError(
            f"{name} has {found.values.shape[1]} columns, but a regression needs one predicted value "
            "for each row."
        )
    _refuse_missing(found, name)
    values = np.asarray(found.values)[:, 0]
    huge = np.flatnonzero(~(abs(values) <= LARGEST))
    if len(huge):
        raise ProblemError(
            f"{name} row {huge[0]} is {values[huge[0]]:g} ({len(huge)} such rows); give finite values "
            f"up to ±{LARGEST:g}."
        )
    return values


def as_features(predicted: Array) -> Array:
    """Predictions as rows of a table: logarithms of probabilities, or the values as one column.

    >>> as_features(np.array([[1.0, 0.0]])).round(1)
    array([[  0. , -13.8]])
    """
    return predicted[:, None] if predicted.ndim == 1 else np.log(predicted.clip(min=SMALLEST))


def _matrix(given: Any, name: str) -> Table:
    """Numbers in rows and columns, whatever they came in; a vector is one column."""
    frame = frame_or_same(given, name)
    if isinstance(frame, nw.Series):
        given = frame.to_frame().to_native()
    elif not isinstance(frame, nw.DataFrame) and not issparse(given):
        given = array_of(given, name, numbers="biuf")
        given = given[:, None] if given.ndim == 1 else given
    found = unchecked_table(given, name)
    values = np.asarray(found.values if isinstance(found.values, np.ndarray) else found.values.toarray())
    return Table(values.astype(np.float64), found.columns)


def _columns(found: Table, name: str, order: Labels, classes: Labels) -> Ints:
    """Where the column of each class stands: by name if columns have the names of classes."""
    labels, number = order.tolist(), found.values.shape[1]
    columns, shown = list(found.columns or ()), listed([repr(label) for label in labels])
    named = _by_name(columns, labels)
    besides = [column for column, label in zip(columns, named, strict=True) if label is None]
    if besides and set(labels) <= set(named):
        raise ProblemError(
            f"{name} has the columns {listed(besides)} besides the classes {shown}; drop them."
        )
    if number != len(labels):
        raise ProblemError(
            f"{name} has {number} column(s), but there are {len(labels)} classes; give one column for each, "
            f"in the order {shown} (zeros for a class that your model does not know)."
        )
    counted = columns == [str(j) for j in range(number)]  # a frame of an array: its columns have no names
    if besides and len(besides) < number and not counted:
        raise ProblemError(
            f"{name} has the columns {listed(columns)}, but the classes are {shown}; "
            "name all columns after the classes, or none."
        )
    held = named if columns and not besides else labels
    place = {label: column for column, label in enumerate(held)}
    return np.asarray([place[label] for label in classes.tolist()], dtype=np.int64)


def _by_name(columns: list[str], labels: list[Any]) -> list[Any]:
    """The class that each column is named after, or None."""
    exact = {str(label): label for label in labels}
    loose = {plain_text(label): label for label in labels}
    if len(loose) < len(labels):  # "Cat" and "cat" are two classes
        loose = {}
    return [exact.get(column, loose.get(plain_text(column))) for column in columns]


def _refuse_missing(found: Table, name: str) -> None:
    missing = np.flatnonzero(np.isnan(found.values).any(axis=1))
    if len(missing):
        raise ProblemError(
            f"{name} contains NaN in {len(missing)} of {len(found.values)} rows, the first is row "
            f"{missing[0]}; give a prediction for every row, of a model that was not trained on it."
        )


def _refuse_rows(values: Array, wrong: Mask, name: str) -> None:
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ProblemError(
            f"{name} row {row} holds {values[row, column]:g} ({int(wrong.any(axis=1).sum())} such rows), "
            "which is no probability; give numbers from 0 to 1."
        )
