"""Parquet and Arrow files: typed already."""

from __future__ import annotations

import io
from dataclasses import dataclass
from datetime import date
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from duti.errors import DutiError, ResourceError
from duti.files.labels import relabelled
from duti.files.sheet import Content, Edit, checked_names, listed, one_line
from duti.files.text import FEWER
from duti.memory import require

ARROW_FILE = b"ARROW1"
DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
FIRST_DAY, LAST_DAY = (
    date(*day).toordinal() - date(1970, 1, 1).toordinal() for day in ((1, 1, 1), (9999, 12, 31))
)
COPIES, LEAST = 2, 8
"""A table that is typed already needs so many times its size while it is read; bytes of a cell at least."""
CODECS = {"UNCOMPRESSED": "none", "LZ4_RAW": "lz4"}


@dataclass(frozen=True, eq=False)
class _Opened:
    """The table of a Parquet file, and how it is laid out there."""

    table: Any
    row_groups: list[int]
    compression: dict[str, str]


@dataclass(frozen=True)
class Parquet:
    """Apache Parquet."""

    name: str = "parquet"

    def read(self, data: bytes, file: str) -> Content:
        """All row groups."""
        return plain(_opened_parquet(data, file).table, file)

    def relabel(self, data: bytes, edit: Edit) -> bytes:
        """The same schema, row groups and compression, with other labels."""
        opened = _opened_parquet(data, edit.file)
        table = with_labels(opened.table, edit)
        out, start = io.BytesIO(), 0
        with pq.ParquetWriter(out, table.schema, version="2.6", compression=opened.compression) as writer:
            for size in opened.row_groups:
                writer.write_table(table.slice(start, size), row_group_size=max(size, 1))
                start += size
        return out.getvalue()


def _opened_parquet(data: bytes, file: str) -> _Opened:
    try:
        source = pq.ParquetFile(pa.BufferReader(data))
        require(COPIES * _decoded_size(source.metadata), file, FEWER)
        table = source.read()
        table.validate(full=True)
        groups = [source.metadata.row_group(group) for group in range(source.num_row_groups)]
        columns = [group.column(place) for group in groups[:1] for place in range(group.num_columns)]
        compression = {
            column.path_in_schema: CODECS.get(column.compression, column.compression.lower())
            for column in columns
        }
    except (MemoryError, ResourceError):
        raise
    # A damaged file can fail anywhere: in Thrift, in a codec, in Arrow.
    except Exception as error:
        raise damaged(file, "Parquet", error) from error
    return _Opened(table, [group.num_rows for group in groups], compression)


def _decoded_size(metadata: Any) -> int:
    """In bytes: what repeats itself takes hardly any in the file, but a number for each cell here."""
    groups = (metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    return int(max(sum(groups), metadata.num_rows * metadata.num_columns * LEAST))


@dataclass(frozen=True)
class Arrow:
    """Arrow's IPC format, as a file (also called Feather) or as a stream."""

    name: str = "arrow"

    def read(self, data: bytes, file: str) -> Content:
        """All record batches."""
        return plain(opened_arrow(data, file), file)

    def relabel(self, data: bytes, edit: Edit) -> bytes:
        """The same schema and record batches, file or stream, with other labels."""
        return arrow_bytes(with_labels(opened_arrow(data, edit.file), edit), data.startswith(ARROW_FILE))


def opened_arrow(data: bytes, file: str) -> Any:
    """The table in an Arrow file or stream."""
    try:
        source = pa.BufferReader(data)
        opened = pa.ipc.open_file if data.startswith(ARROW_FILE) else pa.ipc.open_stream
        with opened(source) as reader:
            table = reader.read_all()
        table.validate(full=True)
    except MemoryError:
        raise
    except Exception as error:
        raise damaged(file, "Arrow", error) from error
    return table


def arrow_bytes(table: Any, is_file: bool) -> bytes:
    """A table as an Arrow file or stream."""
    out = io.BytesIO()
    # A file holds one dictionary for each column, a stream may change it.
    table = table.unify_dictionaries() if is_file else table
    with (pa.ipc.new_file if is_file else pa.ipc.new_stream)(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def damaged(file: str, kind: str, error: BaseException) -> DutiError:
    """The error for bytes that a format cannot read."""
    return DutiError(
        f"{file} is not a file of {kind}, or it is cut off or damaged ({one_line(error)}); write it again."
    )


def with_labels(table: Any, edit: Edit) -> Any:
    """The table with other labels; its column becomes one of floats if it has to."""
    what = f"{edit.file}: column {edit.column!r}"
    labels = relabelled(_named(table.column(edit.position)), edit.labels, what)
    field = table.schema.field(edit.position).with_type(labels.type)
    return table.set_column(edit.position, field, labels)


def plain(table: Any, file: str) -> Content:
    """Categories as their values, decimals as floats, NaN as nulls: what the rest of duti works with."""
    names, notes = checked_names(table.column_names, file)
    columns = [_in_calendar(_plain_column(column)) for column in table.columns]
    if beyond := [
        name
        for name, was, column in zip(names, table.columns, columns, strict=True)
        if pa.types.is_temporal(was.type) and pa.types.is_integer(column.type)
    ]:
        notes.append(f"times beyond the years 1 to 9999 are read as numbers in {listed(beyond)}")
    if strange := [name for name, was in zip(names, table.columns, strict=True) if _unknown_zone(was.type)]:
        notes.append(f"the time zone is unknown, so times are in UTC in {listed(strange)}")
    if decimals := [field.name for field in table.schema if pa.types.is_decimal(field.type)]:
        notes.append(f"decimals are read as floats in {listed(decimals)}")
    return Content(pa.table(columns, names=names), tuple(notes))


def _unknown_zone(kind: Any) -> bool:
    if not pa.types.is_timestamp(kind) or kind.tz is None:
        return False
    try:
        pc.strftime(pa.array([0], kind))
    except pa.ArrowInvalid:
        return True
    return False


def _in_calendar(column: Any) -> Any:
    """Times that Python can name; numbers where there are others."""
    kind = column.type
    if not (pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
        return column
    day = 1 if pa.types.is_date32(kind) else DAY[kind.unit if pa.types.is_timestamp(kind) else "ms"]
    numbers = column.cast(pa.int32() if pa.types.is_date32(kind) else pa.int64())
    ends = pc.min_max(numbers).as_py()
    if ends["min"] is not None and not (day * FIRST_DAY <= ends["min"] and ends["max"] < day * LAST_DAY):
        return numbers
    return column.cast(pa.timestamp(kind.unit)) if _unknown_zone(kind) else column


def _named(column: Any) -> Any:
    """Views, which little can be done with, as what they are views of."""
    for is_view, kind in ((pa.types.is_string_view, pa.string()), (pa.types.is_binary_view, pa.binary())):
        column = column.cast(kind) if is_view(column.type) else column
    return column


def _plain_column(column: Any) -> Any:
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type)
    column = _named(column)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    if pa.types.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py():
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    return column
