"""What users hand in → arrays: frames and lists to matrices, labels to codes and back."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from scipy.sparse import csr_array, issparse

from duti.arrays import Array, Ints, Labels, Matrix
from duti.errors import ProblemError


@dataclass(frozen=True)
class Table:
    """A finite numeric matrix with the names its rows and columns came with."""

    values: Matrix
    columns: tuple[str, ...] | None = None
    index: Labels | None = None
    library: str | None = None
    """The library of the frame it was: "pandas", "polars", "pyarrow", ..."""

    def name(self, column: int) -> str:
        """How to call a column in a message."""
        return str(column) if self.columns is None else repr(self.columns[column])


def table(X: Any, name: str) -> Table:
    """A numeric matrix from an array, nested lists, a SciPy sparse matrix or a frame.

    >>> table([[1, 2], [3, 4]], "X").values.shape
    (2, 2)
    """
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        found = _from_frame(frame, name)
    elif issparse(X):
        found = Table(csr_array(X, dtype=np.float64))
    else:
        found = Table(_from_array(X, name))
    _refuse_non_finite(found, name)
    return found


def _from_frame(frame: nw.DataFrame[Any], name: str) -> Table:
    for column in frame.columns:
        dtype = frame[column].dtype
        if not (dtype.is_numeric() or dtype == nw.Boolean):
            raise ProblemError(
                f"{name} column {column!r} holds {dtype}, not numbers; encode it first "
                "(for instance with scikit-learn's OneHotEncoder) or drop it."
            )
    columns = [np.asarray(frame[c].cast(nw.Float64).to_numpy(), dtype=np.float64) for c in frame.columns]
    values = np.column_stack(columns) if columns else np.empty((len(frame), 0))
    library = frame.implementation.name.lower()
    return Table(values, tuple(map(str, frame.columns)), _index(frame), library)


def _index(frame: nw.DataFrame[Any] | nw.Series[Any]) -> Labels | None:
    """The index of a pandas frame or series; None for frames that have none."""
    index = nw.maybe_get_index(frame)
    return None if index is None else np.asarray(index)


def _from_array(X: Any, name: str) -> Array:
    try:
        values = np.asarray(X)
    except ValueError as error:
        raise ProblemError(f"{name} is not a matrix: its rows have different lengths ({error}).") from error
    if values.ndim != 2:
        raise ProblemError(
            f"{name} has {values.ndim} dimension(s), but rows and columns are needed; "
            f"for a single feature use {name}.reshape(-1, 1)."
        )
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.dtype.kind == "O":
        return _from_objects(values, name)
    raise ProblemError(f"{name} holds {values.dtype}, not real numbers; encode it as numbers first.")


def _from_objects(values: Labels, name: str) -> Array:
    for column in range(values.shape[1]):
        for row, value in enumerate(values[:, column]):
            if not (value is None or isinstance(value, int | float | np.number | np.bool_)):
                raise ProblemError(
                    f"{name} row {row}, column {column} holds {value!r}, not a number; "
                    "encode text and categories as numbers first."
                )
    return np.asarray(values, dtype=np.float64)


def _refuse_non_finite(found: Table, name: str) -> None:
    values = found.values
    data = values if isinstance(values, np.ndarray) else values.data
    bad = ~np.isfinite(data)
    if not bad.any():
        return
    if isinstance(values, np.ndarray):
        counts = bad.sum(axis=0)
    else:
        counts = np.bincount(values.indices[bad], minlength=values.shape[1])
    where = np.flatnonzero(counts)
    shown = ", ".join(f"column {found.name(j)}: {counts[j]}" for j in where[:5])
    more = f", and {len(where) - 5} more columns" if len(where) > 5 else ""
    kind = "NaN" if np.isnan(data[bad]).all() else "NaN or infinity"
    raise ProblemError(
        f"{name} contains {kind} in {int(counts.sum())} cell(s) ({shown}{more}); "
        "impute or drop them first (for instance with scikit-learn's SimpleImputer)."
    )


def vector(y: Any, name: str) -> tuple[Labels, Labels | None]:
    """One-dimensional labels with their own type, and their index if they had one."""
    series = nw.from_native(y, eager_only=True, pass_through=True, allow_series=True)
    framed = isinstance(series, nw.Series | nw.DataFrame)
    values = series.to_numpy() if framed else np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ProblemError(f"{name} has shape {values.shape}, but one label for each row is needed.")
    missing = int(sum(value is None or value != value for value in values.tolist()))
    if missing:
        raise ProblemError(
            f"{name} contains NaN or missing labels in {missing} of {len(values)} rows; drop those rows "
            "(an unknown label is not a wrong one)."
        )
    return values, _index(series) if framed else None


def real_labels(values: Labels, name: str) -> Array:
    """Labels of a regression as finite floats."""
    try:
        real = values.astype(np.float64)
    except (TypeError, ValueError):
        raise ProblemError(
            f"{name} holds labels such as {values[0]!r}, which are not numbers; "
            "regression needs numbers (or say task='classification')."
        ) from None
    infinite = int((~np.isfinite(real)).sum())
    if infinite:
        raise ProblemError(f"{name} contains infinity in {infinite} rows; drop or repair those rows.")
    return real


def sorted_classes(values: Labels, name: str) -> Labels:
    """The distinct labels, sorted: the order of the columns of δ."""
    try:
        return np.unique(values)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in values.tolist()})
        raise ProblemError(f"{name} mixes labels of the types {', '.join(kinds)}; use one type.") from None


def codes(values: Labels, classes: Labels, name: str) -> Ints:
    """Position of each label among the training classes."""
    position = {label: code for code, label in enumerate(classes.tolist())}
    found = [position.get(label, -1) for label in values.tolist()]
    if -1 in found:
        row = found.index(-1)
        raise ProblemError(_unknown_label(values.tolist()[row], row, classes, name))
    return np.asarray(found, dtype=np.int64)


def _unknown_label(label: Any, row: int, classes: Labels, name: str) -> str:
    known = classes.tolist()
    shown = ", ".join(map(repr, known[:10])) + (", …" if len(known) > 10 else "")
    return (
        f"{name} row {row}: label {label!r} is not among the training labels {shown}. "
        f"Did you mean {_nearest(label, known)!r}?"
    )


def _nearest(label: Any, known: list[Any]) -> Any:
    numbers = all(isinstance(value, int | float) for value in [label, *known])
    if numbers:
        return min(known, key=lambda value: abs(value - label))
    similarity = [
        difflib.SequenceMatcher(None, str(label).casefold(), str(value).casefold()).ratio() for value in known
    ]
    return known[int(np.argmax(similarity))]
