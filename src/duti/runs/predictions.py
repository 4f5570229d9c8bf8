"""What somebody says of all labels, in files: their own predictions, and the classes that there are."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from duti.arrays import Ints, Labels
from duti.encode import natural
from duti.errors import ProblemError
from duti.files import Sheet, read
from duti.files.reading import bytes_at

TRUTHS = {"true": True, "false": False}


def read_predictions(path: Path) -> Sheet:
    """A table of any format, or a matrix in .npy, whose columns are counted from 0."""
    if path.suffix.lower() != ".npy":
        return read(path)
    data = bytes_at(path)
    values = _array(data, path.name)
    if values.ndim not in (1, 2) or values.dtype.kind not in "biuf":
        raise ProblemError(
            f"{path.name} holds an array of {values.dtype} with {values.ndim} dimension(s); "
            "save numbers in rows and columns."
        )
    columns = values.reshape(len(values), -1).astype(np.float64).T
    table = pa.table({str(j): column for j, column in enumerate(columns)})
    return Sheet(path, "npy", table, (), hashlib.sha256(data).hexdigest(), "npy")


def _array(data: bytes, file: str) -> Any:
    try:
        return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except Exception as error:  # a damaged file can fail anywhere in its header
        pickled = "allow_pickle" in str(error)
        seen = (
            "holds Python objects, which are never loaded" if pickled else "is no array of NumPy, or damaged"
        )
        raise ProblemError(f"{file} {seen}; save numbers with numpy.save.") from error


def predicted_rows(predictions: Sheet, rows: Sheet, some: Ints) -> Any:
    """The predictions for some of the rows of another file."""
    number, needed = predictions.table.num_rows, rows.table.num_rows
    if number != needed:
        raise ProblemError(
            f"{predictions.path.name} has {number} rows but {rows.path.name} has {needed}; "
            "give one prediction for each row, in its order."
        )
    return predictions.table.take(some)


def typed_classes(names: tuple[str, ...], given: Labels) -> list[Any] | None:
    """Classes as they were typed → of the type of the labels; None if none were.

    >>> typed_classes(("1", "2", "3.0"), np.array([1, 2]))
    [1, 2, 3]
    """
    if not names:
        return None
    kind = natural(given).dtype.kind
    if kind in "biuf":
        return [_number(name, truths=kind == "b") for name in names]
    return list(names)


def _number(name: str, *, truths: bool) -> bool | int | float:
    try:
        if truths:
            return TRUTHS[name.strip().casefold()]
        value = float(name)
        return (
            int(name) if name.strip().lstrip("+-").isdigit() else int(value) if value.is_integer() else value
        )
    except (KeyError, ValueError, OverflowError):
        needed = "true or false" if truths else "numbers"
        raise ProblemError(f"--classes holds {name!r}, but the labels are {needed}; give these.") from None
