"""New labels in the types of a column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from duti.errors import DutiError


def plain_value(label: Any) -> Any:
    """A label as a Python value rather than a NumPy scalar.

    >>> plain_value(np.float64(2.5))
    2.5
    """
    return label.item() if isinstance(label, np.generic) and label.dtype.kind in "biufUS" else label


def fitted(label: Any, kind: Any) -> Any:
    """The label as an array of one value of an Arrow type, or None if it does not fit exactly.

    >>> fitted(2.0, pa.int64()).to_pylist(), fitted(2.5, pa.int64())
    ([2], None)
    """
    try:
        return pa.array([plain_value(label)]).cast(kind)
    # Arrow says in many ways that a value does not fit.
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return None


def first_rows(column: Any, labels: Iterable[Any]) -> dict[Any, int]:
    """The first row in which each label stands, for those that occur.

    >>> first_rows(pa.chunked_array([["no", "yes", "yes"]]), ["yes", "maybe"])
    {'yes': 1}
    """
    fitting = {label: value for label in labels if (value := fitted(label, column.type)) is not None}
    if not fitting:
        return {}
    values = pa.concat_arrays(list(fitting.values()))
    rows = pc.index_in(values, value_set=column.combine_chunks(), skip_nulls=True).to_pylist()
    return {label: row for label, row in zip(fitting, rows, strict=True) if row is not None}


def relabelled(column: Any, labels: Mapping[int, Any], what: str) -> Any:
    """A column of the same type with other labels in some rows; `what` names it in messages.

    Whole numbers become floats if some label is not whole.

    >>> relabelled(pa.chunked_array([[1, 2, 3]]), {1: 2.5}, "x.parquet: column 'y'").to_pylist()
    [1.0, 2.5, 3.0]
    """
    if pa.types.is_dictionary(column.type):
        return _dictionary_relabelled(column, labels, what)
    if pa.types.is_integer(column.type) and any(_is_fraction(label) for label in labels.values()):
        column = column.cast(pa.float64(), safe=False)
    rows = sorted(labels)
    values = {label: fitted(label, column.type) for label in set(labels.values())}
    if unfit := [label for label, value in values.items() if value is None]:
        raise DutiError(
            f"{what} is of type {column.type}, which the label {unfit[0]!r} does not fit; "
            "give labels of that type."
        )
    source = np.arange(len(column))
    source[rows] = len(column) + np.arange(len(rows))
    new = [values[labels[row]] for row in rows]
    return pa.chunked_array([*column.chunks, *new], column.type).take(pa.array(source))


def _dictionary_relabelled(column: Any, labels: Mapping[int, Any], what: str) -> Any:
    """Codes stay as they are; labels that are new come last in the dictionary."""
    kind, column = column.type, column.unify_dictionaries()
    values = relabelled(column.cast(kind.value_type), labels, what)
    dictionary = column.chunk(0).dictionary
    new = pc.unique(values.drop_null())
    new = new.filter(pc.invert(pc.is_in(new, dictionary)))
    try:
        dictionary = pa.concat_arrays([dictionary, new.cast(kind.value_type)])
        codes = pc.index_in(values.combine_chunks(), value_set=dictionary).cast(kind.index_type)
    except pa.ArrowException as error:
        raise DutiError(
            f"{what} has no room for another category; save it with text instead of categories."
        ) from error
    return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, dictionary, ordered=kind.ordered)])


def _is_fraction(label: Any) -> bool:
    label = plain_value(label)
    return isinstance(label, float) and not label.is_integer()
