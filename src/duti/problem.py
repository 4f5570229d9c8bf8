"""The debugging problem: rows, labels, trusted items, confidences. Validation happens here, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from duti import encode
from duti.arrays import Array, Ints, Labels, Mask, Matrix, Targets
from duti.encode import PAPER_CONFIDENCE as PAPER_CONFIDENCE
from duti.encode import Encoder, Layout
from duti.encode import listed as listed
from duti.errors import ProblemError

Task = Literal["classification", "regression"]
TASKS: tuple[Task, ...] = ("classification", "regression")


class Problem:
    """A training set that may hold wrong labels, and a few items that somebody trusts.

    `confidence` is the weight c of the trusted items: a number, or one for each of them.
    `verified` maps rows of the training set to labels known to be right: they replace y, stay
    fixed, and act as trusted items too; `verified_at_random` says that they were drawn at random. A row is
    called by the index of the pandas frame or series it came in, or by its `ids`, else by its position; a
    whole number that is no such name is a position.
    A frame of more than numbers (text, categories, dates, missing values) is encoded as its columns
    and the `layout` say; with a layout, any frame is.
    Classes are all labels of rows and trusted items. A label that only trusted items have is refused if it
    looks like a typing error of another, unless `classes` names all labels there are.
    `pred_probs` and `pred_probs_trusted`: the user's own predictions for the rows and for X_trusted, by
    models that were not trained on them: probabilities of the classes, in the order of `classes`, else of the
    sorted labels (or in columns of these names); values in regression. With them X may be None: then the
    logarithms of the probabilities, or the values, are the features.
    An X of float64 is used where it is, not copied: leave it as it is while the problem lives.

    >>> problem = Problem([[0.0], [1.0], [2.0]], ["no", "yes", "yes"], [[0.5]], ["no"])
    >>> problem.task, problem.classes.tolist(), problem.y.tolist()
    ('classification', ['no', 'yes'], [0, 1, 1])
    """

    task: Task
    X: Matrix
    y: Targets
    """Class codes, or the values of a regression; verified labels are already in."""
    given_y: Targets
    """The same for the labels as they came, also of verified rows."""
    X_trusted: Matrix
    y_trusted: Targets
    item_rows: Ints
    """The row of X that a trusted item is, if it is a verified row; −1 for others."""
    pairs: tuple[Ints, Targets]
    """Trusted items that are verified rows, also where their rows are left out, and the labels they had."""
    confidence: Array
    confidence_given: bool
    """Whether the user said how far the trusted items are to be trusted."""
    frozen: Mask
    """Rows whose label is verified: δ does not move there."""
    verified_at_random: bool
    """Whether the verified rows were drawn at random: only then do they tell how many labels are wrong."""
    classes: Labels | None
    """All labels of rows and trusted items, sorted: some may be of no row. None in regression."""
    pred_probs: Array | None
    """The user's predictions for the rows, (n, k) in the order of `classes`; (n,) in regression."""
    pred_probs_trusted: Array | None
    """The same for all m trusted items; verified rows have those of their rows."""
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
        verified_at_random: bool = False,
        task: Task | None = None,
        classes: Any = None,
        pred_probs: Any = None,
        pred_probs_trusted: Any = None,
        layout: Layout | None = None,
        ids: Labels | None = None,
        item_ids: Sequence[str] | None = None,
    ) -> None:
        rows, self.encoder = _rows(X, layout, pred_probs)
        given, y_index = encode.vector(y, "y")
        _require_rows(rows, given)
        indexes = (ids, None if rows is None else rows.index, y_index)
        self.index = next((index for index in indexes if index is not None), None)
        self.task = task_of(given, task)
        labels = _trusted_labels(X, X_trusted, y_trusted)
        places, checked = _verified(verified, len(given), self.index)
        row_ids = np.arange(len(given)) if self.index is None else self.index
        right = _Right(labels, item_ids, checked, places, row_ids)
        self.verified_at_random = _checked_at_random(verified_at_random, len(places))

        known = self._learn_labels(given, right, classes)
        predicted = encode.predicted(pred_probs, pred_probs_trusted, self.n, len(labels), known)
        self._learn_predictions(predicted)
        if rows is None:
            assert predicted is not None  # _rows has seen to it
            table, X_trusted = map(encode.as_features, predicted)
            rows = encode.Table(table)
        trusted, surprises = encode.trusted_rows(X_trusted, rows, self.encoder)
        encode.require_same_length("X_trusted", trusted.shape[0], "y_trusted", len(labels))
        self.X, self.columns, self.frame_library = rows.values, rows.columns, rows.library
        self.X_trusted = encode.stacked(trusted, self.X[places])
        self.confidence = encode.confidences(confidence, len(labels), right.m)
        self.confidence_given = confidence is not None
        self.item_names = right.names
        self.notes = (
            *(self.encoder.notes if self.encoder else ()),
            *surprises,
            *(known.notes if known else ()),
            # Predictions may well be the same for different rows.
            *(() if X is None else self._oddities(rows, trusted, y_index)),
        )

    @property
    def n(self) -> int:
        """Number of training rows."""
        return len(self.y)

    @property
    def m(self) -> int:
        """Number of trusted items, verified rows included."""
        return len(self.y_trusted)

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
        other.given_y, other.pred_probs = self.given_y[rows], _some(self.pred_probs, rows)
        other.frozen, other.index = self.frozen[rows], self.row_ids[rows]
        place = np.full(self.n + 1, -1)  # the last one is for items that are no rows, at −1
        place[:-1][rows] = np.arange(other.n)
        other.item_rows = place[self.item_rows]
        return other

    def with_items(self, items: Ints) -> Problem:
        """The same problem with some of the trusted items."""
        other = copy(self)
        other.X_trusted, other.y_trusted = self.X_trusted[items], self.y_trusted[items]
        other.confidence, other.item_rows = self.confidence[items], self.item_rows[items]
        kept = np.isin(items, self.pairs[0])
        given = dict(zip(*(part.tolist() for part in self.pairs), strict=True))
        labels = np.array([given[item] for item in items[kept].tolist()], dtype=self.given_y.dtype)
        other.pairs = np.flatnonzero(kept), labels
        other.pred_probs_trusted = _some(self.pred_probs_trusted, items)
        other.item_names = tuple(np.asarray(self.item_names, dtype=object)[items].tolist())
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

    def _encoded(self, labels: Labels, name: str) -> Targets:
        if self.classes is None:
            return encode.real_labels(labels, name)
        return encode.codes(labels, self.classes, lambda row: f"{name} row {row}")

    def _learn_labels(self, given: Labels, right: _Right, insisted: Any) -> encode.Classes | None:
        """Classes, and codes or values of all labels."""
        found = encode.classes_of(given, right.parts, insisted) if self.task == "classification" else None
        if found is None and insisted is not None:
            raise ProblemError("classes is for classification; leave it out, or say task='classification'.")
        self.classes, self.given = (None, given) if found is None else (found.labels, found.given)
        self.given_y = self._encoded(self.given, "y")
        if found is None:
            encode.refuse_tiny(self.given_y, "y")
        if found is None and given.dtype.kind != "f":
            self.given = self.given_y.copy()
        checked = self._encoded(right.checked, "verified")
        self.y_trusted = np.concatenate([self._encoded(right.labels, "y_trusted"), checked])
        self.item_rows = np.concatenate([np.full(len(right.labels), -1), right.places])
        self.pairs = np.flatnonzero(self.item_rows >= 0), self.given_y[right.places]
        self.y, self.frozen = self.given_y.copy(), np.zeros(len(given), dtype=bool)
        self.y[right.places], self.frozen[right.places] = checked, True
        if self.frozen.all():
            raise ProblemError(f"all {len(given)} rows are verified; there is nothing left to debug.")
        return found

    def _oddities(self, rows: encode.Table, trusted: Matrix, y_index: Labels | None) -> list[str]:
        """What is odd about the features of rows and trusted items."""
        labels = self.decode(self.y_trusted)
        return [
            *encode.odd_rows(rows, self.row_ids, y_index),
            *encode.odd_items(self.X_trusted, labels, self.item_names, classes=self.k > 0),
            *encode.items_that_are_rows(trusted, self.X, self.item_names, self.row_ids),
            *encode.misplaced(trusted, self.X),
        ]

    def _learn_predictions(self, predicted: tuple[Array, Array] | None) -> None:
        """Those of verified rows are those of their rows."""
        self.pred_probs = self.pred_probs_trusted = None
        if predicted is not None:
            self.pred_probs, items = predicted
            self.pred_probs_trusted = np.concatenate([items, self.pred_probs[self.item_rows[len(items) :]]])


@dataclass(frozen=True, eq=False)
class _Right:
    """Labels that are known to be right: those of trusted items, then those of verified rows."""

    labels: Labels
    item_ids: Sequence[str] | None
    checked: Labels
    places: Ints
    """The rows that were verified."""
    row_ids: Labels

    def __post_init__(self) -> None:
        if self.m == 0:
            raise ProblemError(
                "there are no trusted items; give X_trusted and y_trusted, "
                "or verified={row: label} for rows of X you have checked."
            )

    @property
    def m(self) -> int:
        return len(self.labels) + len(self.checked)

    @property
    def names(self) -> tuple[str, ...]:
        """What trusted items are called, verified rows among them."""
        items = map(str, range(len(self.labels))) if self.item_ids is None else self.item_ids
        return (*items, *(f"verified row {row}" for row in self.row_ids[self.places]))

    @property
    def parts(self) -> tuple[encode.Trusted, encode.Trusted]:
        """Labels with the names of those who have them."""
        names, before = self.names, len(self.labels)
        known_as = "trusted item " if self.item_ids is None else ""
        return (
            encode.Trusted(self.labels, "y_trusted row {}".format, lambda item: f"{known_as}{names[item]}"),
            encode.Trusted(
                self.checked,
                lambda item: f"verified row {self.row_ids[self.places[item]]}",
                lambda item: names[before + item],
            ),
        )


def _some(values: Array | None, rows: Ints) -> Array | None:
    return None if values is None else values[rows]


def _rows(X: Any, layout: Layout | None, predicted: Any) -> tuple[encode.Table | None, Encoder | None]:
    """Numbers as they are; a frame of anything else, or with a layout, encoded; None if there is none."""
    if X is None:
        if predicted is None:
            raise ProblemError(
                "X is missing; give the features of the rows, or pred_probs, predictions for them."
            )
        return None, None
    if layout is None and encode.is_plain(X, "X"):
        return encode.table(X, "X"), None
    return encode.encoded_table(X, Layout() if layout is None else layout, "X")


def _require_rows(rows: encode.Table | None, y: Labels) -> None:
    name, number = ("y", len(y)) if rows is None else ("X", rows.values.shape[0])
    encode.require_same_length(name, number, "y", len(y))
    if number < 2:
        raise ProblemError(f"{name} has {number} row(s) (n_samples={number}); at least 2 are needed.")
    if rows is not None and rows.values.shape[1] < 1:
        raise ProblemError("X has 0 columns; at least one feature is needed.")


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


def _trusted_labels(X: Any, X_trusted: Any, y_trusted: Any) -> Labels:
    """The labels of the trusted items; none if there are none."""
    if X is None and X_trusted is not None:
        raise ProblemError(
            "X_trusted is given, but X is not; give both, or neither: then pred_probs and "
            "pred_probs_trusted are the features."
        )
    if X is not None and (X_trusted is None) != (y_trusted is None):
        missing = "X_trusted" if X_trusted is None else "y_trusted"
        raise ProblemError(f"{missing} is missing; X_trusted and y_trusted belong together.")
    return np.asarray([]) if y_trusted is None else encode.vector(y_trusted, "y_trusted")[0]


def _verified(verified: Mapping[Any, Any] | None, n: int, index: Labels | None) -> tuple[Ints, Labels]:
    """Positions and labels of the verified rows."""
    if verified is None:
        verified = {}
    if not isinstance(verified, Mapping):
        raise ProblemError(f"verified is a {type(verified).__name__}; give a dict {{row: label}}.")
    names = list(verified)
    positions = encode.positions(names, n, index)
    if len(set(positions)) < len(positions):
        raise ProblemError(f"verified names the same row twice: {listed(names)}; keep one label for each.")
    labels, _ = encode.vector(list(verified.values()), "verified")
    return np.asarray(positions, dtype=np.int64), labels


def _checked_at_random(at_random: bool, verified: int) -> bool:
    if not isinstance(at_random, bool | np.bool_):
        raise ProblemError(f"verified_at_random is {at_random!r}; say True or False.")
    if at_random and not verified:
        raise ProblemError(
            "verified_at_random is True, but no row is verified; give verified={row: label} for rows of X "
            "that were drawn at random and checked, or leave it out."
        )
    return bool(at_random)
