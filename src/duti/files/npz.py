"""NumPy's .npz: named arrays in a zip archive, never pickled objects."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from duti.errors import DutiError, ResourceError
from duti.files.columnar import COPIES, damaged, plain
from duti.files.labels import relabelled
from duti.files.sheet import Content, Edit, listed
from duti.files.text import FEWER
from duti.memory import require


@dataclass(frozen=True)
class _Place:
    """The column of the table that an array, or one of its columns, becomes."""

    name: str
    member: str
    column: int | None


@dataclass(frozen=True)
class Npz:
    """Arrays of one length: X becomes x0, x1, ..., another matrix m m0, m1, ..., a vector keeps its name."""

    name: str = "npz"

    def read(self, data: bytes, file: str) -> Content:
        """All vectors and matrices; single values are left out."""
        arrays = _arrays(data, file)
        single = [member for member, array in arrays.items() if not array.ndim]
        _refuse_shapes(arrays, file)
        names, columns = [], []
        for place in _places(arrays):
            array = arrays[place.member]
            values = array if place.column is None else array[:, place.column]
            names.append(place.name)
            columns.append(_arrow(values, f"{file}: array {place.member!r}"))
        if not columns:
            raise DutiError(f"{file} holds no arrays; save vectors and matrices with named arrays in it.")
        content = plain(pa.table(columns, names=names), file)
        notes = [f"single values are left out: {listed(single)}"] if single else []
        return Content(content.table, (*content.notes, *notes))

    def relabel(self, data: bytes, edit: Edit) -> bytes:
        """The same archive with another array for the label, of floats if some label is not whole."""
        arrays = _arrays(data, edit.file)
        place = _places(arrays)[edit.position]
        array = _relabelled(arrays[place.member], place, edit)
        out = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
            for info in old.infolist():
                is_label = info.filename.removesuffix(".npy") == place.member
                new.writestr(info, _npy(array) if is_label else old.read(info), info.compress_type)
        return out.getvalue()


def _arrays(data: bytes, file: str) -> dict[str, NDArray[Any]]:
    arrays = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            require(COPIES * sum(info.file_size for info in archive.infolist()), file, FEWER)
            for info in archive.infolist():
                name = info.filename.removesuffix(".npy")
                arrays[name] = np.lib.format.read_array(io.BytesIO(archive.read(info)), allow_pickle=False)
    except (MemoryError, ResourceError):
        raise
    # A damaged file can fail anywhere: in the zip, in zlib, in the header of an array.
    except Exception as error:
        if "allow_pickle" in str(error):
            raise DutiError(
                f"{file}: array {name!r} holds Python objects, which are never loaded; "
                "save numbers or text (for example array.astype(str))."
            ) from error
        raise damaged(file, "NumPy arrays (.npz)", error) from error
    return arrays


def _refuse_shapes(arrays: dict[str, NDArray[Any]], file: str) -> None:
    for name, array in arrays.items():
        if array.ndim > 2:
            raise DutiError(
                f"{file}: array {name!r} has {array.ndim} dimensions; reshape it to (rows, features)."
            )
    lengths = {name: len(array) for name, array in arrays.items() if array.ndim}
    if len(set(lengths.values())) > 1:
        seen = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
        raise DutiError(f"{file}: arrays have different numbers of rows ({seen}); save arrays of one length.")


def _places(arrays: dict[str, NDArray[Any]]) -> list[_Place]:
    places = []
    for member, array in arrays.items():
        if array.ndim == 1:
            places.append(_Place(member, member, None))
        elif array.ndim == 2:
            stem = "x" if member == "X" else member
            places += [_Place(f"{stem}{column}", member, column) for column in range(array.shape[1])]
    return places


def _arrow(values: NDArray[Any], what: str) -> Any:
    if values.dtype.kind == "S":
        return _decoded(values, what)
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        values = values.astype(np.float64)
    try:
        native = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
        return pa.array(native.tolist() if native.dtype.kind == "U" else native)
    except (pa.ArrowException, UnicodeEncodeError, TypeError) as error:
        raise DutiError(
            f"{what} is of type {values.dtype}, which cannot be read; save numbers, text or dates."
        ) from error


def _decoded(values: NDArray[Any], what: str) -> Any:
    try:
        return pa.array([value.decode() for value in values.tolist()], pa.string())
    except UnicodeDecodeError as error:
        raise DutiError(f"{what} holds bytes that are not UTF-8 text; save text.") from error


def _relabelled(array: NDArray[Any], place: _Place, edit: Edit) -> NDArray[Any]:
    """The array with new labels; its type grows where it has to: longer text, fractions."""
    what = f"{edit.file}: array {place.member!r}"
    values = array if place.column is None else array[:, place.column]
    rows = sorted(edit.labels)
    taken = relabelled(
        pa.chunked_array([_arrow(values[rows], what)]),
        dict(enumerate(edit.labels[row] for row in rows)),
        what,
    )
    if taken.null_count:
        raise DutiError(f"{what} cannot hold a missing label; give a label.")
    new = np.asarray(taken.to_pylist()) if array.dtype.kind in "US" else taken.to_numpy()
    if array.dtype.kind == "S":
        new = np.char.encode(new)
    grown = new.dtype.kind != array.dtype.kind or array.dtype.kind in "US"
    result = array.astype(np.promote_types(array.dtype, new.dtype)) if grown else array.copy()
    result[(rows,) if place.column is None else (rows, place.column)] = new
    return result


def _npy(array: NDArray[Any]) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, array, allow_pickle=False)
    return out.getvalue()
