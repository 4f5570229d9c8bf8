"""The debugging problem: rows, labels, trusted items, confidences. Validation happens here, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from duti import encode
from duti.arrays import Array, Ints, Labels, Mask, Matrix, Targets
from duti.encode import Encoder, Layout
from duti.encode import listed as listed
from duti.errors import ProblemError

Task = Literal["classification", "regression"]
TASKS: tuple[Task, ...] = ("classification", "regression")
PAPER_CONFIDENCE = 100.0


class Problem:
    """A training set that may hold wrong labels, and a few items that somebody trusts.

    `confidence` is the weight c of the trusted items: a number, or one for each of them.
    `verified` maps rows of the training set to labels known to be right: they replace y, stay
    fixed, and act as trusted items too. A row is called by the index of the pandas frame or series
    it came in, or by its `ids`, else by its position; a whole number that is no such name is a position.
    A frame of more than numbers (text, categories, dates, missing values) is encoded as its columns
    and the `layout` say; with a layout, any frame is.
    An X of float64 is used where it is, not copied: leave it as it is while the problem lives.

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
    confidence_given: bool
    """Whether the user said how far the trusted items are to be trusted."""
    frozen: Mask
    """Rows whose label is verified: δ does not move there."""
    classes: Labels | None
    given: Labels
    """The labels of the rows as they came; of a regression as floats, since a fix need not be whole."""
    index: Labels | None
    columns: tuple[str, ...] | None
    frame_library: str | None
    """The library of the frame that X was, if it was one."""
    item_names: tuple[str, ...]
    """What the trusted items are called: `item_ids`, or counted from 0; and verified rows."""
    notes: tuple[str, ...]
    """What is odd about the input, and how a frame of more than numbers was encoded."""
    encoder: Encoder | None
    """How a frame of more than numbers became X; None if X came as numbers."""

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
        layout: Layout | None = None,
        ids: Labels | None = None,
        item_ids: Sequence[str] | None = None,
    ) -> None:
        rows, self.encoder = _rows(X, layout)
        given, y_index = encode.vector(y, "y")
        self.X, self.columns, self.frame_library = rows.values, rows.columns, rows.library
        self.index = next((index for index in (ids, rows.index, y_index) if index is not None), None)
        _require_rows(self.X, given)
        self.task = task_of(given, task)
        self.classes = _classes(given) if self.task == "classification" else None
        self.y = self._encoded(given, "y")
        self.given = given if self.task == "classification" or given.dtype.kind == "f" else self.y.copy()

        trusted, labels, surprises = _trusted(X_trusted, y_trusted, rows, self.encoder)
        positions, verified_labels = self._verified(verified)
        m = len(labels) + len(positions)
        if m == 0:
            raise ProblemError(
                "there are no trusted items; give X_trusted and y_trusted, "
                "or verified={row: label} for rows of X you have checked."
            )
        self.y[positions] = verified_labels
        self.frozen = np.zeros(self.n, dtype=bool)
        self.frozen[positions] = True
        if self.frozen.all():
            raise ProblemError(f"all {self.n} rows are verified; there is nothing left to debug.")
        self.X_trusted = _stack(trusted, self.X[positions])
        self.y_trusted = np.concatenate([self._encoded(labels, "y_trusted"), verified_labels])
        self.confidence = _confidences(confidence, len(labels), m)
        self.confidence_given = confidence is not None
        names = map(str, range(len(labels))) if item_ids is None else item_ids
        self.item_names = (*names, *(f"verified row {row}" for row in self.row_ids[positions]))
        self.notes = (
            *(self.encoder.notes if self.encoder else ()),
            *surprises,
            *self._notes_on_rows(rows, y_index),
            *self._notes_on_trusted(),
        )

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

    def trusting(self, confidence: float) -> Problem:
        """The same problem with one confidence for all trusted items.

        >>> Problem([[0.0], [1.0]], ["a", "b"], [[0.5]], ["a"]).trusting(1.0).confidence
        array([1.])
        """
        other = copy(self)
        other.confidence = np.full(self.m, float(confidence))
        return other

    def subset(self, rows: Ints) -> Problem:
        """The same problem with some of the rows, and all of the trusted items.

        >>> Problem([[0.0], [0.5], [1.0]], ["a", "b", "b"], [[0.5]], ["a"]).subset(np.array([0, 2])).n
        2
        """
        other = copy(self)
        other.X, other.y, other.given = self.X[rows], self.y[rows], self.given[rows]
        other.frozen, other.index = self.frozen[rows], self.row_ids[rows]
        return other

    def with_items(self, items: Ints) -> Problem:
        """The same problem with some of the trusted items."""
        other = copy(self)
        other.X_trusted, other.y_trusted = self.X_trusted[items], self.y_trusted[items]
        other.confidence = self.confidence[items]
        return other

    def decode(self, labels: Targets) -> Labels:
        """Codes → labels as the user writes them."""
        return labels if self.classes is None else self.classes[labels]

    def coded(self, labels: Labels) -> Targets:
        """Labels as the user writes them → codes; of a regression, values.

        >>> Problem([[0.0], [1.0]], ["a", "b"], [[0.5]], ["a"]).coded(np.array(["b", "a"]))
        array([1, 0])
        """
        return self._encoded(labels, "labels")

    def budget(self, budget: int | None) -> int:
        """The number of rows somebody is willing to check; a tenth of them if not said."""
        if budget is None:
            return max(1, self.n // 10)
        if isinstance(budget, bool) or not isinstance(budget, int | np.integer):
            raise ProblemError(f"budget is {budget!r}; give a whole number of rows from 1 to {self.n}.")
        if not 1 <= budget <= self.n:
            raise ProblemError(f"budget is {budget}, but must lie between 1 and the {self.n} rows.")
        return int(budget)

    def _encoded(self, labels: Labels, name: str, rows: Sequence[Any] | None = None) -> Targets:
        if self.classes is None:
            return encode.real_labels(labels, name)
        return encode.codes(
            labels, self.classes, lambda row: f"{name} row {row if rows is None else rows[row]!r}"
        )

    def _verified(self, verified: Mapping[Any, Any] | None) -> tuple[Ints, Targets]:
        """Positions and codes (or values) of the verified rows."""
        if verified is None:
            verified = {}
        if not isinstance(verified, Mapping):
            raise ProblemError(f"verified is a {type(verified).__name__}; give a dict {{row: label}}.")
        names = list(verified)
        positions = encode.positions(names, self.n, self.index)
        if len(set(positions)) < len(positions):
            raise ProblemError(
                f"verified names the same row twice: {listed(names)}; keep one label for each."
            )
        labels, _ = encode.vector(list(verified.values()), "verified")
        return np.asarray(positions, dtype=np.int64), self._encoded(labels, "verified", names)

    def _notes_on_rows(self, rows: encode.Table, y_index: Labels | None) -> list[str]:
        """Constant columns, duplicate rows, and an index of y that is not that of X."""
        X, notes = self.X, []
        constant = encode.constant_columns(X)
        if len(constant):
            names = [rows.name(int(j)) for j in constant]
            notes.append(f"Constant columns carry no information: {listed(names)}.")
        originals = encode.originals(X)
        copies = np.flatnonzero(originals != np.arange(self.n))
        if len(copies):
            ids = self.row_ids
            first = [f"{ids[row]} (of {ids[originals[row]]})" for row in copies[:10]]
            shown = listed(first, of=len(copies))
            notes.append(f"{len(copies)} rows duplicate the features of an earlier row: {shown}.")
        if rows.index is not None and y_index is not None and not np.array_equal(rows.index, y_index):
            notes.append("X and y have different indexes; rows and labels were paired by position.")
        return notes

    def _notes_on_trusted(self) -> list[str]:
        """Trusted items that duplicate or contradict each other."""
        same: dict[int, list[int]] = {}
        for item, original in enumerate(encode.originals(self.X_trusted).tolist()):
            same.setdefault(original, []).append(item)
        groups = [items for items in same.values() if len(items) > 1]
        notes = []
        for items in groups[:10]:
            labels = self.decode(self.y_trusted[items]).tolist()
            kind = "contradict each other" if len(set(labels)) > 1 else "are duplicates"
            shown = f"the same features, labels {listed([repr(label) for label in labels])}"
            notes.append(
                f"Trusted items {listed([self.item_names[item] for item in items])} {kind}: {shown}."
            )
        if len(groups) > 10:
            notes.append(f"{len(groups) - 10} more groups of trusted items have the same features.")
        return notes


def _rows(X: Any, layout: Layout | None) -> tuple[encode.Table, Encoder | None]:
    """Numbers as they are; a frame of anything else, or with a layout, encoded."""
    if layout is None and encode.is_plain(X, "X"):
        return encode.table(X, "X"), None
    return encode.encoded_table(X, Layout() if layout is None else layout, "X")


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


def task_of(y: Labels, task: Task | None) -> Task:
    """The task as given, else as scikit-learn's `type_of_target` reads the labels."""
    if task is not None:
        if not (isinstance(task, str) and task in TASKS):
            raise ProblemError(f"task is {task!r}; use 'classification' or 'regression'.")
        return task
    y = encode.natural(y)
    if y.dtype.kind not in "iuf":
        return "classification"
    if y.dtype.kind == "f" and (y != np.floor(y)).any():
        return "regression"
    distinct = len(np.unique(y))
    if distinct > 10 and (distinct > 50 or distinct > len(y) // 5):
        raise ProblemError(
            f"y holds {distinct} distinct whole numbers in {len(y)} rows, which may be classes or values; "
            "say task='classification' or task='regression'."
        )
    return "classification"


def _classes(y: Labels) -> Labels:
    classes = encode.sorted_classes(y, "y")
    if len(classes) < 2:
        raise ProblemError(
            f"y holds one class only ({classes.tolist()[0]!r}); debugging needs at least two classes."
        )
    return classes


def _trusted(
    X_trusted: Any, y_trusted: Any, rows: encode.Table, encoder: Encoder | None
) -> tuple[Matrix, Labels, tuple[str, ...]]:
    """The trusted items, in the columns of X, and what is new in them; none if neither is given."""
    if (X_trusted is None) != (y_trusted is None):
        missing = "X_trusted" if X_trusted is None else "y_trusted"
        raise ProblemError(f"{missing} is missing; X_trusted and y_trusted belong together.")
    if X_trusted is None:
        return rows.values[:0], np.asarray([]), ()
    labels, _ = encode.vector(y_trusted, "y_trusted")
    values, notes = _trusted_rows(X_trusted, rows, encoder)
    _require_same_length("X_trusted", values.shape[0], "y_trusted", len(labels))
    return values, labels, notes


def _trusted_rows(
    X_trusted: Any, rows: encode.Table, encoder: Encoder | None
) -> tuple[Matrix, tuple[str, ...]]:
    if isinstance(X_trusted, list | tuple) and not X_trusted:
        return rows.values[:0], ()
    if encoder is not None:
        return encoder.transform_with_notes(X_trusted, "X_trusted")
    values = _aligned(encode.table(X_trusted, "X_trusted"), rows)
    if isinstance(rows.values, np.ndarray):
        return values if isinstance(values, np.ndarray) else values.toarray(), ()
    return csr_array(values), ()


def _aligned(trusted: encode.Table, rows: encode.Table) -> Matrix:
    """Columns are matched by name where both sides have names, else by position."""
    values, d = trusted.values, rows.values.shape[1]
    if trusted.columns is None or rows.columns is None:
        if values.shape[1] != d:
            raise ProblemError(
                f"X_trusted has {values.shape[1]} columns but X has {d}; they must be the same features."
            )
        return values
    place = {column: j for j, column in enumerate(trusted.columns)}
    lacking = [column for column in rows.columns if column not in place]
    extra = place.keys() - set(rows.columns)
    if lacking or extra:
        differences = [f"lacks the columns {listed(lacking)} of X"] if lacking else []
        differences += [f"has the columns {listed(sorted(extra))}, which X has not"] if extra else []
        raise ProblemError(f"X_trusted {' and '.join(differences)}; name the columns alike in both.")
    return values[:, [place[column] for column in rows.columns]]


def _stack(first: Matrix, second: Matrix) -> Matrix:
    return csr_array(vstack([first, second])) if issparse(first) else np.vstack([first, second])


def _confidences(confidence: Any, given: int, m: int) -> Array:
    """One confidence for each trusted item; verified rows past the given ones get the paper's."""
    try:
        values = np.asarray(PAPER_CONFIDENCE if confidence is None else confidence)
    except ValueError:
        values = np.asarray(confidence, dtype=object)
    if values.dtype.kind not in "iuf":
        raise ProblemError(f"confidence is {confidence!r}; give a number, or one for each item.")
    values = values.astype(np.float64)
    if values.ndim > 1 or (values.ndim == 1 and len(values) not in (given, m)):
        raise ProblemError(
            f"confidence has shape {values.shape} but there are {given} trusted items "
            f"and {m - given} verified rows; give one number, or one for each item."
        )
    bad = ~((values >= 0) & (values <= encode.LARGEST))
    if bad.any():
        raise ProblemError(
            f"confidence {values[bad].flat[0]} is not possible ({int(bad.sum())} such); "
            f"use numbers from 0 to {encode.LARGEST:g}."
        )
    filled = np.full(m, PAPER_CONFIDENCE)
    filled[: m if values.ndim == 0 else len(values)] = values
    return filled
