"""The debugging problem: rows, labels, trusted items, confidences. Validation happens here, once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from duti import encode
from duti.arrays import Array, Ints, Labels, Mask, Matrix, Targets
from duti.errors import ProblemError

Task = Literal["classification", "regression"]
TASKS: tuple[Task, ...] = ("classification", "regression")
PAPER_CONFIDENCE = 100.0


class Problem:
    """A training set that may hold wrong labels, and a few items that somebody trusts.

    `confidence` is the weight c of the trusted items: a number, or one for each of them.
    `verified` maps rows of the training set (positions, or the index of a pandas frame) to
    labels known to be right: they replace y, stay fixed, and act as trusted items too.

    >>> problem = Problem([[0.0], [1.0], [2.0]], ["no", "yes", "yes"], [[0.5]], ["no"])
    >>> problem.task, problem.classes.tolist(), problem.y.tolist()
    ('classification', ['no', 'yes'], [0, 1, 1])
    """

    task: Task
    X: Matrix
    y: Targets
    """Class codes, or the values of a regression; verified labels are already in."""
    X_trusted: Matrix
    y_trusted: Targets
    confidence: Array
    frozen: Mask
    """Rows whose label is verified: δ does not move there."""
    classes: Labels | None
    given: Labels
    """The labels of the rows as they came."""
    index: Labels | None
    columns: tuple[str, ...] | None
    frame_library: str | None
    """The library of the frame that X was, if it was one."""
    notes: tuple[str, ...]
    """What is odd about the input."""

    def __init__(
        self,
        X: Any,
        y: Any,
        X_trusted: Any = None,
        y_trusted: Any = None,
        *,
        confidence: Any = None,
        verified: Mapping[Any, Any] | None = None,
        task: Task | None = None,
    ) -> None:
        rows = encode.table(X, "X")
        given, y_index = encode.vector(y, "y")
        self.X, self.given, self.columns = rows.values, given, rows.columns
        self.frame_library = rows.library
        self.index = y_index if rows.index is None else rows.index
        _require_rows(self.X, given)
        self.task = _task_of(given, task)
        self.classes = encode.sorted_classes(given, "y") if self.task == "classification" else None
        if self.classes is not None and len(self.classes) < 2:
            raise ProblemError(
                f"y holds one class only ({self.classes[0]!r}); debugging needs at least two classes."
            )

        trusted = _trusted_table(X_trusted, rows)
        labels = np.asarray([]) if y_trusted is None else encode.vector(y_trusted, "y_trusted")[0]
        _require_same_length("X_trusted", trusted.shape[0], "y_trusted", len(labels))
        positions, verified_labels = self._verified(verified or {})
        m = len(labels) + len(positions)
        if m == 0:
            raise ProblemError(
                "there are no trusted items; give X_trusted and y_trusted, "
                "or verified={row: label} for rows of X you have checked."
            )

        self.y = self._encoded(given, "y").copy()
        self.y[positions] = self._encoded(verified_labels, "verified")
        self.frozen = np.zeros(self.n, dtype=bool)
        self.frozen[positions] = True
        if self.frozen.all():
            raise ProblemError("every row is verified; there is nothing left to debug.")
        self.X_trusted = _stack(trusted, self.X[positions])
        self.y_trusted = np.concatenate([self._encoded(labels, "y_trusted"), self.y[positions]])
        self.confidence = _confidences(confidence, len(labels), m)
        self.notes = (*_notes_on_rows(rows), *self._notes_on_trusted())

    @property
    def n(self) -> int:
        """Number of training rows."""
        return int(self.X.shape[0])

    @property
    def m(self) -> int:
        """Number of trusted items, verified rows included."""
        return int(self.X_trusted.shape[0])

    @property
    def k(self) -> int:
        """Number of classes; 0 in regression."""
        return 0 if self.classes is None else len(self.classes)

    @property
    def row_ids(self) -> Labels:
        """What the user calls the rows: the frame's own index, else positions."""
        return np.arange(self.n) if self.index is None else self.index

    def decode(self, labels: Targets) -> Labels:
        """Codes → labels as the user writes them."""
        return labels if self.classes is None else self.classes[labels]

    def budget(self, budget: int | None) -> int:
        """The number of rows somebody is willing to check; a tenth of them if not said."""
        if budget is None:
            return max(1, self.n // 10)
        if isinstance(budget, bool) or not isinstance(budget, int | np.integer):
            raise ProblemError(f"budget is {budget!r}; give a whole number of rows from 1 to {self.n}.")
        if not 1 <= budget <= self.n:
            raise ProblemError(f"budget is {budget}, but must lie between 1 and the {self.n} rows.")
        return int(budget)

    def _encoded(self, labels: Labels, name: str) -> Targets:
        if self.classes is None:
            return encode.real_labels(labels, name)
        return encode.codes(labels, self.classes, name)

    def _verified(self, verified: Mapping[Any, Any]) -> tuple[Ints, Labels]:
        positions = [_position(row, self.n, self.index) for row in verified]
        if len(set(positions)) < len(positions):
            raise ProblemError("verified names the same row twice.")
        labels, _ = encode.vector(np.asarray(list(verified.values()), dtype=object), "verified")
        return np.asarray(positions, dtype=np.int64), labels

    def _notes_on_trusted(self) -> tuple[str, ...]:
        """Duplicate trusted items, and those that contradict each other."""
        same: dict[int, list[int]] = {}
        for item, features in enumerate(_row_hashes(self.X_trusted)):
            same.setdefault(features, []).append(item)
        notes = []
        for items in same.values():
            if len(items) > 1:
                labels = self.decode(self.y_trusted[items]).tolist()
                kind = "contradict each other" if len(set(labels)) > 1 else "are duplicates"
                notes.append(f"Trusted items {listed(items)} {kind}: the same features, labels {labels}.")
        return tuple(notes)


def _require_rows(X: Matrix, y: Labels) -> None:
    _require_same_length("X", X.shape[0], "y", len(y))
    if X.shape[0] < 2:
        raise ProblemError(f"X has {X.shape[0]} row(s) (n_samples={X.shape[0]}); at least 2 are needed.")
    if X.shape[1] < 1:
        raise ProblemError("X has 0 columns; at least one feature is needed.")


def _require_same_length(first: str, rows: int, second: str, labels: int) -> None:
    if rows != labels:
        raise ProblemError(
            f"{first} has {rows} rows but {second} has {labels}; drop or align the extra rows."
        )


def _task_of(y: Labels, task: Task | None) -> Task:
    """The task as given, else as scikit-learn's `type_of_target` reads the labels."""
    if task is not None:
        if task not in TASKS:
            raise ProblemError(f"task is {task!r}; use 'classification' or 'regression'.")
        return task
    from sklearn.utils.multiclass import type_of_target

    kind = type_of_target(y)
    if kind == "continuous":
        return "regression"
    if kind not in ("binary", "multiclass"):
        raise ProblemError(f"y looks like {kind!r} labels, which cannot be debugged; say which task it is.")
    distinct = len(encode.sorted_classes(y, "y"))
    if y.dtype.kind in "iuf" and distinct > 10 and (distinct > 50 or distinct > len(y) // 5):
        raise ProblemError(
            f"y holds {distinct} distinct whole numbers in {len(y)} rows, which may be classes or values; "
            "say task='classification' or task='regression'."
        )
    return "classification"


def _trusted_table(X_trusted: Any, rows: encode.Table) -> Matrix:
    if X_trusted is None:
        return rows.values[:0]
    trusted = encode.table(X_trusted, "X_trusted")
    values, d = trusted.values, rows.values.shape[1]
    if values.shape[1] != d:
        raise ProblemError(
            f"X_trusted has {values.shape[1]} columns but X has {d}; they must be the same features."
        )
    if trusted.columns is None or rows.columns is None or trusted.columns == rows.columns:
        return values
    missing = [column for column in rows.columns if column not in trusted.columns]
    if missing:
        raise ProblemError(f"X_trusted lacks the columns {missing} of X; name the columns alike in both.")
    return values[:, [trusted.columns.index(column) for column in rows.columns]]


def _stack(first: Matrix, second: Matrix) -> Matrix:
    if issparse(first) or issparse(second):
        return csr_array(vstack([csr_array(first), csr_array(second)]))
    return np.vstack([first, second])


def _position(row: Any, n: int, index: Labels | None) -> int:
    """Where a verified row stands: by the frame's own index if there is one, else by position."""
    if index is None:
        if isinstance(row, int | np.integer) and 0 <= row < n:
            return int(row)
        raise ProblemError(f"verified names row {row!r}, but the rows are 0 to {n - 1}.")
    found = np.flatnonzero(index == row)
    if len(found) != 1:
        raise ProblemError(
            f"verified names row {row!r}, which stands {len(found)} times in the index of the frame; "
            "it must stand there once."
        )
    return int(found[0])


def _confidences(confidence: Any, given: int, m: int) -> Array:
    """One confidence for each trusted item; verified rows past the given ones get the paper's."""
    try:
        values = np.asarray(PAPER_CONFIDENCE if confidence is None else confidence, dtype=np.float64)
    except (TypeError, ValueError):
        raise ProblemError(f"confidence is {confidence!r}; give a number, or one for each item.") from None
    if values.ndim > 1 or (values.ndim == 1 and len(values) not in (given, m)):
        raise ProblemError(
            f"confidence has shape {values.shape} but there are {given} trusted items; "
            "give one number, or one for each item."
        )
    if not np.isfinite(values).all() or (values < 0).any():
        worst = values[~(np.isfinite(values) & (values >= 0))].flat[0]
        raise ProblemError(f"confidence {worst} is not possible; use finite numbers of at least 0.")
    filled = np.full(m, PAPER_CONFIDENCE)
    filled[: m if values.ndim == 0 else len(values)] = values
    return filled


def _notes_on_rows(rows: encode.Table) -> tuple[str, ...]:
    """Constant columns and duplicate rows."""
    X, notes = rows.values, []
    low, high = (X.min(axis=0), X.max(axis=0)) if isinstance(X, np.ndarray) else _sparse_range(X)
    constant = np.flatnonzero(low == high)
    if len(constant):
        names = [rows.name(int(j)) for j in constant]
        notes.append(f"Constant columns carry no information: {listed(names)}.")
    first: dict[int, int] = {}
    copies = [
        (row, original)
        for row, features in enumerate(_row_hashes(X))
        if (original := first.setdefault(features, row)) != row
    ]
    if copies:
        shown = listed([f"{row} (of {original})" for row, original in copies])
        notes.append(f"{len(copies)} rows duplicate the features of an earlier row: {shown}.")
    return tuple(notes)


def _sparse_range(X: csr_array) -> tuple[Array, Array]:
    return X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()


def _row_hashes(X: Matrix) -> Iterator[int]:
    """A number for every row, the same for the same features (−0 and 0 are one value)."""
    if isinstance(X, np.ndarray):
        yield from (hash((row + 0.0).tobytes()) for row in X)
        return
    X = csr_array(X)
    X.sum_duplicates()
    for a, b in itertools.pairwise(X.indptr):
        yield hash((X.indices[a:b].tobytes(), X.data[a:b].tobytes()))


def listed(items: list[Any], most: int = 10) -> str:
    """The first few items of a list, for a message."""
    shown = ", ".join(str(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"
