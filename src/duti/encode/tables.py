"""Frames, arrays, nested lists and sparse matrices → finite numeric matrices."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from duti.arrays import Array, Ints, Labels, Matrix
from duti.encode.reading import LARGEST, MISSING, array_of, frame_or_same, index_of, is_missing
from duti.errors import ProblemError

NUMBERS = (int, float, np.bool_, np.integer, np.floating, Decimal, Fraction)
CELLS_AT_ONCE = 1 << 18


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

    An array of floats is not copied.

    >>> table([[1, 2], [3, 4]], "X").values.shape
    (2, 2)
    """
    found = unchecked_table(X, name)
    _refuse_non_finite(found, name)
    return found


def unchecked_table(X: Any, name: str) -> Table:
    """The same, before anybody asks whether its numbers are finite."""
    frame = frame_or_same(X, name)
    if isinstance(frame, nw.DataFrame):
        return _from_frame(frame, name)
    return Table(_from_sparse(X, name) if issparse(X) else _from_array(X, name))


def is_plain(X: Any, name: str) -> bool:
    """Whether it is a frame of nothing but numbers and booleans, none of them missing, or no frame at all.

    >>> import pyarrow as pa
    >>> is_plain(pa.table({"a": [1, 2]}), "X"), is_plain(pa.table({"a": [1, None]}), "X")
    (True, False)
    """
    frame = frame_or_same(X, name)
    return not isinstance(frame, nw.DataFrame) or all(map(_is_plain_column, frame.iter_columns()))


def _is_plain_column(column: Any) -> bool:
    dtype = column.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return not (column.null_count() or (dtype.is_float() and column.is_nan().any()))
    if dtype not in (nw.Object, nw.Unknown):
        return False
    values = column.to_numpy()
    if values.dtype.kind == "O":
        kinds = set(map(type, values.tolist()))
        return all(issubclass(kind, NUMBERS) for kind in kinds) and not any(map(is_missing, values))
    return values.dtype.kind in "biuf" and not np.isnan(values).any()


def _from_frame(frame: nw.DataFrame[Any], name: str) -> Table:
    columns = tuple(map(str, frame.columns))
    if len(set(columns)) < len(columns):
        raise ProblemError(f"{name} has columns of the same name ({', '.join(columns)}); rename them.")
    values = np.empty((len(frame), len(columns)))
    for j, column in enumerate(frame.iter_columns()):
        values[:, j] = _from_column(column, f"{name} column {columns[j]!r}")
    return Table(values, columns, index_of(frame), frame.implementation.name.lower())


def _from_column(column: Any, place: str) -> Array:
    dtype = column.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if dtype in (nw.Object, nw.Unknown):
        values = column.to_numpy()
        if values.dtype.kind == "O":
            return _from_objects(values, place)
        if values.dtype.kind in "biuf":  # a sparse column of pandas
            return np.asarray(values, dtype=np.float64)
        dtype = values.dtype
    raise ProblemError(
        f"{place} holds {dtype}, not numbers; encode it first "
        "(for instance with scikit-learn's OneHotEncoder) or drop it."
    )


def _from_sparse(X: Any, name: str) -> csr_array:
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ProblemError(
            f"{name} is sparse with {X.ndim} dimension(s) of {X.dtype}; use rows and columns of real numbers."
        )
    values = csr_array(X, dtype=np.float64)
    if not values.has_canonical_format:
        values = values.copy()  # it may share its memory with X
        values.sum_duplicates()
    return values


def _from_array(X: Any, name: str) -> Array:
    values = array_of(X, name, numbers="biuf")
    if values.ndim != 2:
        raise ProblemError(_not_a_matrix(X, values, name))
    if values.dtype == np.float32:  # half the memory of a large table: kept as it is
        return values
    if values.dtype.kind in "biuf":
        return np.asarray(values, dtype=np.float64)
    if values.dtype.kind not in "OUT":
        raise ProblemError(f"{name} holds {values.dtype}, not real numbers; encode it as numbers first.")
    columns = [_from_objects(values[:, j], f"{name} column {j}") for j in range(values.shape[1])]
    return np.column_stack(columns) if columns else np.empty(values.shape)


def _not_a_matrix(X: Any, values: Labels, name: str) -> str:
    needed = "but rows and columns of numbers are needed"
    if values.ndim == 0:
        remedy = "; call .collect() first" if hasattr(X, "collect") else ""
        return f"{name} is of type {type(X).__name__}, {needed}{remedy}."
    if values.size == 0:
        return f"{name} is empty (n_samples=0), {needed}."
    if values.ndim > 2:
        return f"{name} has {values.ndim} dimensions, {needed}; use {name}.reshape(len({name}), -1)."
    if any(isinstance(row, list | tuple | np.ndarray) for row in values):
        sizes = {len(row) if isinstance(row, list | tuple) else np.size(row) for row in values}
        lengths = ", ".join(map(str, sorted(sizes)))
        return f"{name} has rows of different lengths ({lengths}), {needed}; every row needs every column."
    return f"{name} has 1 dimension, {needed}; for a single feature use {name}.reshape(-1, 1)."


def _from_objects(values: Labels, place: str) -> Array:
    cells = values.tolist()
    for kind in set(map(type, cells)):
        if not issubclass(kind, NUMBERS) and kind.__name__ not in MISSING:
            row = next(row for row, cell in enumerate(cells) if type(cell) is kind)
            raise ProblemError(
                f"{place}, row {row} holds {cells[row]!r}, not a number; "
                "encode text and categories as numbers first."
            )
    return np.asarray([_as_float(cell) for cell in cells], dtype=np.float64)


def _as_float(cell: Any) -> float:
    try:
        return np.nan if type(cell).__name__ in MISSING else float(cell)
    except (OverflowError, ValueError):  # beyond the range of floats; the signalling NaN of Decimal
        return np.inf


def _refuse_non_finite(found: Table, name: str) -> None:
    """Refuse NaN, infinity, and numbers whose squares would overflow."""
    values = found.values
    data = values if isinstance(values, np.ndarray) else values.data
    if data.size == 0 or (float(data.max()) <= LARGEST and float(data.min()) >= -LARGEST):  # NaN is neither
        return
    fine = (data <= np.float64(LARGEST)) & (data >= -np.float64(LARGEST))
    if isinstance(values, np.ndarray):
        counts = (~fine).sum(axis=0)
    else:
        counts = np.bincount(values.indices[~fine], minlength=values.shape[1])
    where = np.flatnonzero(counts)
    shown = ", ".join(f"column {found.name(j)}: {counts[j]}" for j in where[:5])
    more = f", and {len(where) - 5} more columns" if len(where) > 5 else ""
    bad = data[~fine]
    kind, remedy = "NaN or infinity", "impute or drop them first (for instance with SimpleImputer)"
    if np.isnan(bad).all():
        kind = "NaN"
    elif np.isfinite(bad).all():
        kind, remedy = f"numbers beyond ±{LARGEST:g}", "rescale those columns"
    raise ProblemError(f"{name} contains {kind} in {len(bad)} cell(s) ({shown}{more}); {remedy}.")


def constant_columns(X: Matrix) -> Ints:
    """The columns in which all rows have the same value."""
    if isinstance(X, np.ndarray):
        return np.flatnonzero(X.min(axis=0) == X.max(axis=0))
    return np.flatnonzero(X.min(axis=0).toarray() == X.max(axis=0).toarray())


def originals(X: Matrix) -> Ints:
    """For every row the first one with the same features.

    >>> originals(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -0.0]]))
    array([0, 1, 0])
    """
    _, first, group = np.unique(_row_hashes(X), return_index=True, return_inverse=True)
    return np.asarray(first[group])


def twins(items: Matrix, X: Matrix) -> Ints:
    """For every item the first row of X with the same features; −1 if there is none.

    >>> twins(np.array([[0.0], [2.0]]), np.array([[1.0], [2.0], [2.0]]))
    array([-1,  1])
    """
    if not items.shape[0]:
        return np.empty(0, dtype=np.int64)
    hashes = _row_hashes(X)
    order = np.argsort(hashes, kind="stable")
    wanted = _row_hashes(items.astype(X.dtype))
    place = order[np.searchsorted(hashes, wanted, sorter=order).clip(max=len(order) - 1)]
    return np.asarray(np.where(hashes[place] == wanted, place, -1))


def _row_hashes(X: Matrix) -> NDArray[np.uint64]:
    """A 64-bit number for every row, the same for the same features (−0 and 0 are one value).

    Σ_j hash(j, x_ij) over the entries that are not zero. That two different rows share a number is
    possible, but among a million rows less likely than 1e-7.
    """
    n, d = X.shape
    if not isinstance(X, np.ndarray):
        sums = np.concatenate([[np.uint64(0)], np.cumsum(_hashes(X.indices, X.data), dtype=np.uint64)])
        return np.asarray(sums[X.indptr[1:]] - sums[X.indptr[:-1]])
    hashes, columns, rows = np.empty(n, dtype=np.uint64), np.arange(d), max(1, CELLS_AT_ONCE // max(d, 1))
    for start in range(0, n, rows):
        hashes[start : start + rows] = _hashes(columns, X[start : start + rows]).sum(axis=1, dtype=np.uint64)
    return hashes


def _hashes(columns: NDArray[Any], values: Array) -> NDArray[np.uint64]:
    """Mix column and value as SplitMix64 does; zero gives zero, so that sparse rows need not store it."""
    mixed = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64) ^ (
        columns.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    )
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    mixed[values == 0] = 0
    return mixed
