"""CSV and TSV as they are in the wild."""

from __future__ import annotations

import csv
import io
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from duti.errors import DutiError
from duti.files.columns import remarks, typed
from duti.files.labels import first_rows, plain_value
from duti.files.records import Records, records, unquoted
from duti.files.sheet import Content, Edit, checked_names, listed, one_line
from duti.files.text import Text, decoded

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
SAMPLE_BYTES, SAMPLE_RECORDS = 1 << 16, 50
BLOCK = 1 << 20


@dataclass(frozen=True)
class Delimited:
    """Text whose cells are separated by one letter, usually by `delimiter`."""

    name: str
    delimiter: str

    def read(self, data: bytes, file: str) -> Content:
        """All rows below the header, each column typed by what all its cells say."""
        text, found = self._records(data, file)
        names, notes = _header(found, file)
        delimiter = found.delimiter.decode()
        if delimiter != self.delimiter:
            notes.insert(0, f"cells are separated by {DELIMITERS[delimiter]}")
        if found.blank:
            notes.append(f"{found.blank} blank line{'s' * (found.blank > 1)} skipped")
        rows = _parsed(found, names, file)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            columns = list(pool.map(lambda column: typed(column, delimiter), rows.columns))
        return Content(
            pa.table([column.values for column in columns], names=names),
            (*text.notes, *notes, *remarks(names, columns)),
            found.lines[1:],
            frozenset(name for name, column in zip(names, columns, strict=True) if column.decimal_comma),
        )

    def written(self, data: bytes, file: str) -> Content:
        """All cells below the header exactly as they are written, as text."""
        text, found = self._records(data, file)
        names, _ = _header(found, file)
        return Content(_parsed(found, names, file), text.notes, found.lines[1:])

    def relabel(self, data: bytes, edit: Edit) -> bytes:
        """The same bytes with other label cells, spelled as such labels are spelled in the file."""
        text, found = self._records(data, edit.file)
        spelling = _Spelling(found, edit)
        pieces, done = [], 0
        rows = sorted(edit.labels)
        bounds = found.cells(np.asarray(rows, dtype=np.int64) + 1, edit.position)
        for row, left, right in zip(rows, *bounds, strict=True):
            pieces += [found.data[done:left], spelling.of(edit.labels[row])]
            done = right
        return text.encoded(b"".join([*pieces, found.data[done:]]), edit.file)

    def _records(self, data: bytes, file: str) -> tuple[Text, Records]:
        text = decoded(data, file)
        if not text.data or text.data.isspace():
            raise DutiError(f"{file} is empty; it needs a line of column names, and rows.")
        return text, records(text.data, _delimiter(text.data, self.delimiter).encode(), file)


def _delimiter(data: bytes, usual: str) -> str:
    """The letter that cuts the header into cells and the first records into as many."""
    sample = data[:SAMPLE_BYTES].decode(errors="ignore")
    scores = {}
    for delimiter in DELIMITERS:
        lines = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
        widths = [len(cells) for cells, _ in zip(lines, range(SAMPLE_RECORDS), strict=False) if cells]
        if len(data) > SAMPLE_BYTES and len(widths) > 1:
            widths.pop()  # it may be cut off
        if widths and widths[0] > 1:
            agreeing = np.mean([width == widths[0] for width in widths])
            scores[delimiter] = (agreeing, delimiter == usual, widths[0])
    return max(scores, key=lambda delimiter: scores[delimiter], default=usual)


def _header(found: Records, file: str) -> tuple[list[str], list[str]]:
    where = f"{file} line {found.lines[0]}"
    names, notes = checked_names([name.strip() for name in found.header()], where)
    if len(found.starts) == 1:
        raise DutiError(f"{file} has a line of column names but no rows below it; add rows.")
    numbers = [name for name in names if _is_number(name)]
    if numbers and numbers != [str(number) for number in range(len(numbers))]:
        notes.append(f"column names that are numbers: {listed(numbers)}; is the first line a header?")
    return names, notes


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _parsed(found: Records, names: list[str], file: str) -> Any:
    """The rows as columns of text, with nulls for empty cells."""
    longest = int(np.max(found.ends - found.starts))
    try:
        rows = pa.csv.read_csv(
            pa.BufferReader(pa.py_buffer(found.data).slice(int(found.starts[1]))),
            pa.csv.ReadOptions(column_names=names, block_size=min(max(BLOCK, 2 * longest + 2), 2**31 - 1)),
            pa.csv.ParseOptions(delimiter=found.delimiter.decode(), newlines_in_values=found.quoted_breaks),
            pa.csv.ConvertOptions(
                column_types={name: pa.string() for name in names}, strings_can_be_null=True, null_values=[""]
            ),
        )
    except pa.ArrowException as error:
        raise _ragged(found, len(names), file) or DutiError(
            f"{file} cannot be read as a table ({one_line(error)}); save it as CSV again."
        ) from error
    if rows.num_rows != len(found.starts) - 1:
        raise DutiError(f"{file}: quotes or line ends are ambiguous; save it as CSV again.")
    return rows.combine_chunks()


def _ragged(found: Records, width: int, file: str) -> DutiError | None:
    """The first record that has too many or too few cells."""
    widths = found.widths()
    wrong = np.flatnonzero(widths != width)
    if not len(wrong):
        return None
    seen = widths[wrong[0]]
    remedy = "quote cells that hold the delimiter" if seen > width else "is the line cut off?"
    return DutiError(
        f"{file} line {found.lines[wrong[0]]}: {seen} cell{'s' * int(seen > 1)}, "
        f"but the header has {width}; {remedy}"
    )


class _Spelling:
    """How labels are written in a file: as they are there already, or in its manner."""

    def __init__(self, found: Records, edit: Edit) -> None:
        self._delimiter = found.delimiter.decode()
        column = edit.sheet.table[edit.column]
        self._whole = pa.types.is_integer(column.type)
        self._comma = edit.column in edit.sheet.decimal_commas
        known = first_rows(column, set(edit.labels.values()))
        raw = found.raw(np.fromiter(known.values(), np.int64) + 1, edit.position)
        self._known: dict[Any, bytes] = dict(zip(known, raw, strict=True))
        self._quoted = self._are_quoted(found, edit.position)

    def of(self, label: Any) -> bytes:
        """The bytes of a cell with this label."""
        if label in self._known:
            return self._known[label]
        text = self._written(plain_value(label))
        if self._quoted or self._needs_quotes(text):
            text = '"' + text.replace('"', '""') + '"'
        return text.encode()

    def _needs_quotes(self, text: str) -> bool:
        return any(letter in text for letter in f'"\r\n{self._delimiter}')

    def _are_quoted(self, found: Records, position: int) -> bool:
        """Whether all labels are quoted, some without need (the name of the column counts as one)."""
        name, *cells = found.raw(np.arange(min(len(found.starts), SAMPLE_RECORDS)), position)
        if not all(cell.startswith(b'"') for cell in cells if cell):
            return False
        quoted = [cell for cell in (name, *cells) if cell.startswith(b'"')]
        return any(not self._needs_quotes(unquoted(cell.decode())) for cell in quoted)

    def _written(self, label: Any) -> str:
        if label is None:
            return ""
        if isinstance(label, float):
            if self._whole and label.is_integer():
                label = int(label)
            return repr(label).replace(".", "," if self._comma else ".")
        return str(label)
