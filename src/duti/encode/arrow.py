"""Columns of any frame as Arrow arrays, and those as numbers, days, categories, text or vectors.

Every reader names the first cell that it cannot use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from duti.arrays import Array, Ints, Labels
from duti.encode.reading import LARGEST, MISSING, is_missing
from duti.errors import ProblemError

_A_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_FAILURES = (pa.ArrowException, OverflowError, TypeError, UnicodeError, ValueError)


@dataclass(frozen=True)
class Unreadable:
    """A column that Arrow has no type for, such as a mixture of numbers and text."""

    cells: list[Any]
    type: str


def cells_of(column: Any) -> Any:
    """A column as an Arrow array, categories as what they stand for."""
    try:
        found = column.to_arrow()
    except _FAILURES:
        values = column.to_numpy()
        if values.dtype.kind not in "biuf":  # those are the sparse columns of pandas
            cells = values.tolist()
            kinds = {type(cell).__name__ for cell in cells} - set(MISSING)
            return Unreadable(cells, f"cells of the type {', '.join(sorted(kinds))}")
        found = pa.array(values, from_pandas=True)
    chunked = found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])
    if pa.types.is_dictionary(chunked.type):
        decoded = [chunk.dictionary_decode() for chunk in chunked.chunks]
        chunked = pa.chunked_array(decoded, type=chunked.type.value_type)
    if chunked.null_count == len(chunked):
        return pa.chunked_array([pa.nulls(len(chunked))])  # of any type, since there is nothing in it
    if pa.types.is_floating(chunked.type):
        return pc.if_else(pc.is_nan(chunked), pa.scalar(None, chunked.type), chunked)
    return chunked


def is_number(kind: Any) -> bool:
    """Numbers; how long something took and the time of day are numbers of days."""
    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_duration(kind)
        or types.is_time(kind)
    )


def is_date(kind: Any) -> bool:
    """Dates and timestamps."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def is_text(kind: Any) -> bool:
    """Text of any size."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view")


def is_writable(kind: Any) -> bool:
    """Whatever can be written as one piece of text."""
    return is_text(kind) or is_number(kind) or is_date(kind) or bool(pa.types.is_boolean(kind))


def is_list(kind: Any) -> bool:
    """Lists of numbers, of any or of a fixed length."""
    types = pa.types
    lists = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(lists and is_number(kind.value_type))


NUMERAL = r"^[+-]?(0|[1-9][0-9]*|0?\.[0-9]+|(0|[1-9][0-9]*)\.[0-9]*)([eE][+-]?[0-9]+)?$"
"""A number as people write it; 007 is a code."""
MOST = 0.9


def numbers(cells: Any, place: str) -> Array:
    """Numbers, or 0 and 1 for no and yes; NaN where they are missing."""
    _require(cells, place, "numbers", lambda kind: is_number(kind) or pa.types.is_boolean(kind), _is_numeral)
    values = _floats(cells)
    huge = int((abs(values) > LARGEST).sum())
    if huge:
        raise ProblemError(
            f"{place} contains infinity or numbers beyond ±{LARGEST:g} in {huge} cell(s); "
            "repair, rescale or drop them."
        )
    return values


def as_numbers(cells: Any) -> tuple[Any, Ints]:
    """Text as numbers, and the rows of cells that are none and count as missing.

    >>> found, rows = as_numbers(pa.chunked_array([["3.5", "4o.2", None]]))
    >>> found.to_pylist(), rows.tolist()
    ([3.5, None, None], [1])
    """
    trimmed = pc.utf8_trim_whitespace(cells.cast(pa.string()))
    is_numeral = pc.match_substring_regex(trimmed, NUMERAL).fill_null(False)
    odd = np.flatnonzero(np.asarray(pc.and_(pc.invert(is_numeral), cells.is_valid())))
    nothing = pa.scalar(None, pa.string())
    return pc.if_else(is_numeral, trimmed, nothing).cast(pa.float64()), odd


def are_mostly_numbers(cells: Any) -> bool:
    """Whether more than nine in ten cells of text are numbers, but not all of them."""
    if isinstance(cells, Unreadable) or not is_text(cells.type) or cells.null_count == len(cells):
        return False
    is_numeral = pc.match_substring_regex(pc.utf8_trim_whitespace(cells.cast(pa.string())), NUMERAL)
    share = float(pc.mean(is_numeral.cast(pa.float64())).as_py())
    return MOST < share < 1


def truths(cells: Any, place: str) -> Array:
    """0 for no, 1 for yes, NaN where it is missing."""
    _require(cells, place, "True or False", pa.types.is_boolean, lambda cell: isinstance(cell, bool))
    return _floats(cells)


def days(cells: Any, place: str) -> Array:
    """Days since 1970, with the time of day as a fraction; NaN where they are missing."""
    _require(cells, place, "dates", is_date, lambda cell: hasattr(cell, "year"))
    return _floats(cells)


def _floats(cells: Any) -> Array:
    """Whatever is a number to Arrow; times in days."""
    kind, scale = cells.type, 1
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind) or pa.types.is_time(kind):
        scale = _A_DAY[kind.unit]
        cells = cells.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    elif pa.types.is_date(kind):
        cells = cells.cast(pa.date32()).cast(pa.int32())
    return np.asarray(cells.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64) / scale


def texts(cells: Any, place: str, nothing: str | None = None) -> Labels:
    """Cells as Python text, numbers and dates as they are written; `nothing` where they are missing.

    Equal cells are one object, which keeps comparing and hashing them cheap.
    """
    counted = encoded(cells, place)
    values = np.empty(len(counted.dictionary) + 1, dtype=object)
    values[:-1], values[-1] = counted.dictionary.to_pylist(), nothing
    found: Labels = values[counted.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)]
    return found


def encoded(cells: Any, place: str) -> Any:
    """Cells as a dictionary of text and places in it."""
    _require(cells, place, "text", is_writable, lambda cell: isinstance(cell, str))
    text = cells.cast(pa.large_string())
    return pa.concat_arrays([pa.array([], pa.large_string()), *text.chunks]).dictionary_encode()


def vectors(cells: Any, place: str, length: int) -> Array:
    """Lists of so many numbers as the rows of a matrix."""
    if isinstance(cells, Unreadable) or not is_list(cells.type) or lengths(cells) != {length}:
        values = np.full(1, np.nan)
    else:
        values = entries(cells, place)
    if np.isnan(values).any():
        raise _odd_cell(
            cells,
            place,
            f"lists of {length} numbers",
            lambda cell: isinstance(cell, list) and len(cell) == length and not any(map(is_missing, cell)),
            missing_fits=False,
        )
    return values.reshape(-1, length)


def entries(cells: Any, place: str) -> Array:
    """The numbers of all lists, one after another; NaN where they are missing."""
    return numbers(pc.list_flatten(cells), place)


def lengths(cells: Any) -> set[int | None]:
    """The lengths of the lists in a column; None stands for those that are missing."""
    return set(pc.unique(pc.list_value_length(cells)).to_pylist())


def _require(
    cells: Any, place: str, expected: str, allows: Callable[[Any], bool], fits: Callable[[Any], bool]
) -> None:
    """Refuse a column of another type, unless all of it is missing."""
    if isinstance(cells, Unreadable) or not (allows(cells.type) or pa.types.is_null(cells.type)):
        raise _odd_cell(cells, place, expected, fits)


def _odd_cell(
    cells: Any, place: str, expected: str, fits: Callable[[Any], bool], missing_fits: bool = True
) -> ProblemError:
    """The error that names the first cell which is not what is expected."""
    values: list[Any] = cells.cells if isinstance(cells, Unreadable) else cells.to_pylist()
    present = [row for row, cell in enumerate(values) if not (missing_fits and is_missing(cell))]
    odd = [row for row in present if not fits(values[row])]
    row = (odd or present)[0]
    shown = repr(values[row])
    return ProblemError(
        f"{place}, row {row} holds {shown if len(shown) <= 60 else shown[:60] + '…'}, "
        f"but the column is for {expected}; repair or drop it."
    )


def _is_numeral(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
