"""Writing tables and text: exactly or safe for spreadsheets, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from duti.errors import DutiError, FileError
from duti.files.atomic import atomically
from duti.files.huggingface import STATE
from duti.files.reading import FORMATS, bytes_at, checked_bytes, folder_at
from duti.files.sheet import Edit, Sheet, one_line
from duti.files.text import zipped

UNSEEN, SIGNS = r"\x{00AD}\x{200B}-\x{200F}\x{2060}\x{FEFF}", r"=+\-@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}"
FORMULA = rf"^([{UNSEEN}]*[{SIGNS}]|[\t\r])"
"""Text that a spreadsheet may take for a formula: after unseen letters, and in full width, too."""
AS_THEY_ARE = (
    pa.types.is_integer,
    pa.types.is_float32,
    pa.types.is_float64,
    pa.types.is_boolean,
    pa.types.is_null,
    pa.types.is_date,
    pa.types.is_timestamp,
)


def write_relabelled(sheet: Sheet, column: str, labels: Mapping[int, Any], out: Path) -> None:
    """Write the file of a sheet again with other labels in some rows (from 0), else the same.

    CSV, TSV and JSON lines stay the same byte for byte outside of these cells. A label that occurs in the
    file is written as it stands there first; a new one in the manner of the file. Parquet, Arrow, .npz and
    Hugging Face datasets keep schema, types and metadata, but a column of whole numbers becomes one of floats
    if some label is not whole (a dataset is refused then), text in a .npz may get longer, and a dataset gets
    a new fingerprint. Refuses to overwrite the input, and to write if it has changed since it was read.
    """
    edit = Edit(sheet, column, labels)
    _refuse_impossible(edit, out)
    if sheet.format == "huggingface":
        _relabel_folder(edit, out)
        return
    data = bytes_at(sheet.path)
    _refuse_changed(sheet, hashlib.sha256(data).hexdigest())
    with _rewriting(edit):
        new = FORMATS[sheet.suffix].relabel(checked_bytes(data, sheet.path), edit)
    with _written(out) as temporary:
        temporary.write_bytes(zipped(new) if sheet.suffix.endswith(".gz") else new)


def write_csv(table: Any, out: Path) -> None:
    """Write a pyarrow.Table for people: no cell or column name is taken for a formula by a spreadsheet.

    Text that starts with = + - @ or a tab or return gets a ' in front; numbers stay as they are.
    """
    names = pc.replace_substring_regex(pa.array(table.column_names, pa.string()), FORMULA, r"'\1").to_pylist()
    columns = [_harmless(column) for column in table.columns]
    with _written(out) as temporary:
        pa.csv.write_csv(pa.Table.from_arrays(columns, names=names), temporary)


def write_parquet(table: Any, out: Path) -> None:
    """Write a pyarrow.Table exactly."""
    with _written(out) as temporary:
        pq.write_table(table, temporary)


def write_text(text: str, out: Path) -> None:
    """Write text as UTF-8, line ends as they are."""
    with _written(out) as temporary:
        temporary.write_bytes(text.encode())


def write_json(value: Any, out: Path) -> None:
    """Write a value as JSON; numbers that are not finite become null, as JSON has none.

    NumPy's scalars and arrays and paths are written as what they hold.
    """
    write_text(json.dumps(_finite(value), indent=1, ensure_ascii=False) + "\n", out)


@contextmanager
def _written(out: Path) -> Iterator[Path]:
    try:
        with atomically(out) as temporary:
            yield temporary
    except OSError as error:
        raise FileError(
            f"{out} cannot be written ({error.strerror or error}); check the folder and the disk."
        ) from error


@contextmanager
def _rewriting(edit: Edit) -> Iterator[None]:
    """Arrow reads some types that it cannot write."""
    try:
        yield
    except pa.ArrowException as error:
        raise DutiError(
            f"{edit.file} cannot be written with other labels ({one_line(error)}); save it in another format."
        ) from error


def _refuse_impossible(edit: Edit, out: Path) -> None:
    sheet = edit.sheet
    if edit.column not in sheet.table.column_names:
        raise DutiError(
            f"{edit.file} has no column {edit.column!r}; it has {', '.join(sheet.table.column_names)}."
        )
    if pa.types.is_nested(sheet.table[edit.column].type):
        raise DutiError(f"{edit.file}: column {edit.column!r} is nested and cannot be labels; name another.")
    if wrong := [row for row in edit.labels if not 0 <= row < sheet.table.num_rows]:
        raise DutiError(
            f"{edit.file} has {sheet.table.num_rows} rows, so none is row {wrong[0]} counted from 0."
        )
    if out.resolve() == sheet.path.resolve() or (out.exists() and out.samefile(sheet.path)):
        raise DutiError(f"{out} is the input itself, which is never overwritten; name another file.")


def _refuse_changed(sheet: Sheet, checksum: str) -> None:
    if checksum != sheet.checksum:
        raise DutiError(f"{sheet.path} has changed since it was read; run again.")


def _relabel_folder(edit: Edit, out: Path) -> None:
    folder = folder_at(edit.sheet.path)
    _refuse_changed(edit.sheet, folder.checksum)
    if out.exists() and not (out / STATE).is_file():
        raise DutiError(f"{out} exists and is no saved dataset, so it is not replaced; name another folder.")
    with _rewriting(edit):
        files = folder.relabelled(edit)
    with _written(out) as temporary:
        temporary.mkdir()
        for name, data in files.items():
            (temporary / name).write_bytes(data)


def _harmless(column: Any) -> Any:
    """A column that a CSV file can hold, its text escaped."""
    if any(is_kind(column.type) for is_kind in AS_THEY_ARE):
        return column
    if not pa.types.is_string(column.type):
        column = _as_text(column)
    return pc.replace_substring_regex(column, FORMULA, r"'\1")


def _as_text(column: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        return column.cast(pa.string())
    except pa.ArrowException:  # bytes that are no text, and nested values
        texts = [None if value is None else str(value) for value in column.to_pylist()]
        return pa.chunked_array([pa.array(texts, pa.string())])


def _finite(value: Any) -> Any:
    """A value that JSON has words for."""
    if isinstance(value, Mapping):
        return {str(key): _finite(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _finite(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [_finite(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value
