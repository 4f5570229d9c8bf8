"""Frames, series, arrays and lists of any library, before anybody asks what is in them."""

from __future__ import annotations

import contextlib
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from narwhals.exceptions import NarwhalsError

from duti.arrays import Labels
from duti.errors import ProblemError

LARGEST = 1e30
"""Forests, and features of many rows, have single precision, which ends at 3e38."""
MISSING = ("NoneType", "NAType", "NaTType")
"""Types that mean a missing value, by name: the last two are of pandas, which need not be installed."""
_PLAIN_INDEXES = ({"str"}, {"int"}, {"Timestamp"})


def frame_or_same(given: Any, name: str) -> Any:
    """A frame or series of any library as narwhals sees it; anything else as it is."""
    try:
        return nw.from_native(given, eager_only=True, allow_series=True, pass_through=True)
    except NarwhalsError as error:
        raise ProblemError(f"{name} cannot be used: {error}\nGive every column its own name.") from error


def place(name: str, column: str) -> str:
    """How to call a column of a frame in a message."""
    return f"{name} column {column!r}"


def listed(items: list[Any], most: int = 10, of: int = 0) -> str:
    """The first few items of a list, for a message; `of` is the length of a list already cut short."""
    shown, more = ", ".join(str(item) for item in items[:most]), max(of, len(items)) - most
    return shown if more <= 0 else f"{shown} and {more} more"


def require_same_length(first: str, rows: int, second: str, labels: int) -> None:
    """Two things of which every row needs one each."""
    if rows != labels:
        raise ProblemError(
            f"{first} has {rows} rows but {second} has {labels}; drop or align the extra rows."
        )


def is_missing(cell: Any) -> bool:
    """Whether a cell is nothing, or not a number."""
    return type(cell).__name__ in MISSING or (isinstance(cell, float | np.floating) and bool(np.isnan(cell)))


def index_of(frame: nw.DataFrame[Any] | nw.Series[Any]) -> Labels | None:
    """The index of a pandas frame or series; None for frames that have none.

    An index of anything but text, numbers or times (tuples, periods, a mixture) becomes text.
    """
    index = nw.maybe_get_index(frame)
    if index is None:
        return None
    values = np.asarray(index)
    if values.dtype.kind != "O" or {kind.__name__ for kind in set(map(type, values))} in _PLAIN_INDEXES:
        return values
    return np.asarray([_text(value) for value in values], dtype=object)


def _text(value: Any) -> str:
    """A label of an index as text; a tuple reads the same whoever made its numbers."""
    if isinstance(value, tuple):
        value = tuple(part.item() if isinstance(part, np.generic) else part for part in value)
    return str(value)


def positions(rows: list[Any], n: int, index: Labels | None) -> list[int]:
    """Where verified rows stand: by the frame's own index if there is one, else by position.

    >>> positions(["b", 0], 3, np.array(["a", "b", "c"], dtype=object))
    [1, 0]
    """
    found = {} if index is None else _found_in(index, rows)
    counted = index is None or not isinstance(index[0], int | float | np.number | np.bool_)
    places: list[int] = []
    for row in rows:
        where = found.get(row, [])
        is_position = isinstance(row, int | np.integer) and not isinstance(row, bool) and 0 <= row < n
        if not where and counted and is_position:
            where = [int(row)]
        if len(where) != 1 and index is None:
            raise ProblemError(f"verified names row {row!r}, but the rows are 0 to {n - 1}.")
        if len(where) != 1:
            raise ProblemError(
                f"verified names row {row!r}, which stands {len(where)} times in the index of the frame; "
                "it must stand there once."
            )
        places += where
    return places


def _found_in(index: Labels, rows: list[Any]) -> dict[Any, list[int]]:
    """All positions of each of the rows in an index."""
    if index.dtype.kind in "mM":  # their Python values depend on the unit; comparing does not
        return {row: np.flatnonzero(index == row).tolist() for row in rows if np.ndim(row) == 0}
    name = _text if isinstance(index[0], str) else lambda row: row
    wanted: dict[Any, list[int]] = {name(row): [] for row in rows}
    for position, label in enumerate(index.tolist()):
        if label in wanted:
            wanted[label].append(position)
    return {row: wanted[name(row)] for row in rows}


def array_of(given: Any, name: str, numbers: str = "") -> Labels:
    """An array of whatever it is; lists become objects unless their dtype is among `numbers`.

    NumPy alone would turn [1, "a"] and ["a", nan] into text, and [True, 2] into integers.

    >>> array_of([1, "a"], "y")
    array([1, 'a'], dtype=object)
    """
    if isinstance(given, np.ma.MaskedArray):
        objects = given.data.astype(object)
        objects[np.ma.getmaskarray(given)] = None
        return objects
    try:
        if not isinstance(given, list | tuple):
            return np.asarray(given)
        with contextlib.suppress(ValueError):  # rows of different lengths
            values = np.asarray(given) if numbers else None
            if values is not None and values.dtype.kind in numbers:
                return values
        return np.asarray(given, dtype=object)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ProblemError(f"{name} cannot be read as an array: {error}.") from error
