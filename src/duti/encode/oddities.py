"""What is odd about rows and trusted items, in sentences for the notes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from duti.arrays import Labels, Matrix
from duti.encode.reading import listed
from duti.encode.tables import Table, constant_columns, originals, twins

SHOWN = 10


def odd_rows(rows: Table, ids: Labels, y_index: Labels | None) -> list[str]:
    """Constant columns, duplicate rows, and an index of y that is not that of X."""
    X, notes = rows.values, []
    constant = constant_columns(X)
    if len(constant):
        names = [rows.name(int(j)) for j in constant]
        notes.append(f"Constant columns carry no information: {listed(names)}.")
    first_of = originals(X)
    copies = np.flatnonzero(first_of != np.arange(len(ids)))
    if len(copies):
        first = [f"{ids[row]} (of {ids[first_of[row]]})" for row in copies[:SHOWN]]
        shown = listed(first, of=len(copies))
        notes.append(f"{len(copies)} rows duplicate the features of an earlier row: {shown}.")
    if rows.index is not None and y_index is not None and not np.array_equal(rows.index, y_index):
        notes.append("X and y have different indexes; rows and labels were paired by position.")
    return notes


def odd_items(items: Matrix, labels: Labels, names: Sequence[str], *, classes: bool) -> list[str]:
    """Trusted items that duplicate or, if labels are classes, contradict each other: values scatter."""
    same: dict[int, list[int]] = {}
    for item, original in enumerate(originals(items).tolist()):
        same.setdefault(original, []).append(item)
    groups = [alike for alike in same.values() if len(alike) > 1]
    notes = []
    for alike in groups[:SHOWN]:
        theirs = labels[alike].tolist()
        kind = "contradict each other" if classes and len(set(theirs)) > 1 else "are duplicates"
        shown = f"the same features, labels {listed([repr(label) for label in theirs])}"
        notes.append(f"Trusted items {listed([names[item] for item in alike])} {kind}: {shown}.")
    if len(groups) > SHOWN:
        notes.append(f"{len(groups) - SHOWN} more groups of trusted items have the same features.")
    return notes


def items_that_are_rows(items: Matrix, X: Matrix, names: Sequence[str], ids: Labels) -> list[str]:
    """Trusted items with the features of a row: a verified row would say more, if that is what they are.

    >>> one = np.array([[3.0]])
    >>> items_that_are_rows(one, one, ["0"], np.array(["a"]))[0].split(". ")[0]
    'Trusted items with the features of a row (1): 0 (row a)'
    """
    row_of = twins(items, X)
    found = np.flatnonzero(row_of >= 0)
    if not len(found):
        return []
    shown = listed([f"{names[item]} (row {ids[row_of[item]]})" for item in found[:SHOWN]], of=len(found))
    return [
        f"Trusted items with the features of a row ({len(found)}): {shown}. "
        "If they are these rows, use verified={row: label}."
    ]


def misplaced(items: Matrix, X: Matrix) -> list[str]:
    """Files that were swapped, or trusted items that are not on the scale of the rows.

    >>> X = np.linspace(0, 1, 10)[:, None]
    >>> misplaced(X, X[:3])[0]
    'There are more trusted items (10) than rows (3): are the two swapped?'
    >>> misplaced(100 * X[2:5], X)[0].split(":")[0]
    'All trusted items are far outside of the range of the rows in most columns (1 of 1)'
    """
    notes = []
    m, n, d = items.shape[0], X.shape[0], X.shape[1]
    if m > n:
        notes.append(f"There are more trusted items ({m}) than rows ({n}): are the two swapped?")
    if m and isinstance(X, np.ndarray) and isinstance(items, np.ndarray):
        low, high = X.min(axis=0), X.max(axis=0)
        room = high - low
        outside = (items.min(axis=0) > high + room) | (items.max(axis=0) < low - room)
        if (far := int((outside & (room > 0)).sum())) > d / 2:
            notes.append(
                f"All trusted items are far outside of the range of the rows in most columns ({far} of {d}): "
                "were they scaled or encoded as the rows were?"
            )
    return notes
