"""JSON lines: one object on each line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from duti.errors import DutiError
from duti.files.columns import Column, cleaned, dated, remarks
from duti.files.labels import first_rows, plain_value
from duti.files.sheet import Content, Edit, listed
from duti.files.text import decoded

WHITE = " \t\r\n"
Row = dict[str, Any]


@dataclass(frozen=True)
class JsonLines:
    """One JSON object on each line; columns are its keys, and what a line does not have is missing.

    Lists of numbers stay lists. Other nested values, and columns that mix text and numbers, become text.
    """

    name: str = "jsonl"

    def read(self, data: bytes, file: str) -> Content:
        """All lines that are not blank."""
        text = decoded(data, file)
        lines = text.data.decode().split("\n")
        numbers = [number for number, line in enumerate(lines, 1) if not _is_blank(line)]
        rows = [_object(lines[number - 1], f"{file} line {number}") for number in numbers]
        names = _names(rows, file)
        found = [_Values([row.get(name) for row in rows]) for name in names]
        columns = [
            values.column(f"{file}: column {name!r}") for name, values in zip(names, found, strict=True)
        ]
        notes = [*text.notes, *_blank_lines(lines), *remarks(names, columns)]
        if nested := [name for name, values in zip(names, found, strict=True) if values.nested]:
            notes.append(f"nested values are kept as text in {listed(nested)}")
        table = pa.table([column.values for column in columns], names=names)
        return Content(table, tuple(notes), np.asarray(numbers, dtype=np.int64))

    def relabel(self, data: bytes, edit: Edit) -> bytes:
        """The same bytes with other values for the label's key, spelled as they are elsewhere in the file."""
        text = decoded(data, edit.file)
        lines = text.data.decode().split("\n")
        places = [place for place, line in enumerate(lines) if not _is_blank(line)]
        column = edit.sheet.table[edit.column]
        known = {
            label: _token(lines[places[row]], edit.column)
            for label, row in first_rows(column, set(edit.labels.values())).items()
        }
        whole, ascii_only = pa.types.is_integer(column.type), text.data.isascii()
        for row, label in edit.labels.items():
            token = known.get(label) or _written(label, whole, ascii_only)
            lines[places[row]] = _with_token(lines[places[row]], edit.column, token)
        return text.encoded("\n".join(lines).encode(), edit.file)


def _is_blank(line: str) -> bool:
    return not line.strip(WHITE)


def _blank_lines(lines: list[str]) -> list[str]:
    last = 1 if lines[-1] == "" else 0  # what follows the last line break is no line
    blank = sum(map(_is_blank, lines)) - last
    return [f"{blank} blank line{'s' * (blank > 1)} skipped"] if blank else []


def _object(line: str, where: str) -> Row:
    try:
        found = json.loads(line)
    except json.JSONDecodeError as error:
        raise DutiError(
            f"{where}: not JSON ({error.msg} at letter {error.colno}); correct the line."
        ) from error
    except (ValueError, RecursionError) as error:
        raise DutiError(f"{where}: numbers are too long or nesting is too deep to be read.") from error
    if not isinstance(found, dict):
        kind = {list: "a list", str: "text", type(None): "null"}.get(type(found), "a number or boolean")
        raise DutiError(f"{where}: {kind}, where an object {{...}} is needed; write one object on each line.")
    return found


def _names(rows: list[Row], file: str) -> list[str]:
    names: Row = {}
    for row in rows:
        if row.keys() != names.keys():
            names |= dict.fromkeys(row)
    if not names:
        raise DutiError(f"{file} holds no values; write one object with named values on each line.")
    if "" in names:
        raise DutiError(f"{file}: a value has the empty name ''; give it a name.")
    if wrong := [name for name in names if not _is_text(name)]:
        raise DutiError(f"{file}: the name {wrong[0]!r} is not valid Unicode; correct it.")
    return list(names)


class _Values:
    """The values of one key, on all lines."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values
        kinds = set(map(type, values))
        self.nested = dict in kinds or (list in kinds and not _are_vectors(values))

    def column(self, what: str) -> Column:
        """A typed column."""
        if self.nested:
            return self._as_text(what)
        try:
            array = pa.array(self._values, from_pandas=True)
        # Values of several types, or whole numbers of more than 64 bits.
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            return self._as_text(what)
        column = pa.chunked_array([array])
        if not pa.types.is_string(array.type):
            missing = array.null_count - self._values.count(None)  # NaN is null in Arrow's eyes
            return Column(column, missing={"NaN": missing} if missing else {})
        return dated(cleaned(column))

    def _as_text(self, what: str) -> Column:
        texts = [
            value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for value in self._values
        ]
        try:
            return Column(pa.chunked_array([pa.array(texts, pa.string())]))
        except UnicodeEncodeError as error:
            raise DutiError(f"{what} holds text that is not valid Unicode; correct it.") from error


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _are_vectors(values: list[Any]) -> bool:
    """Whether all values that are there are lists of numbers."""
    return all(
        value is None or (isinstance(value, list) and all(type(number) in (int, float) for number in value))
        for value in values
    )


def _span(line: str, key: str) -> tuple[int, int] | None:
    """Where the value of a key stands; of a key that is there twice, the last, as JSON readers do."""
    decoder, found = json.JSONDecoder(), None
    at = _skip(line, line.index("{") + 1)
    while line[at] != "}":
        name, at = decoder.raw_decode(line, at)
        start = _skip(line, _skip(line, at) + 1)
        _, end = decoder.raw_decode(line, start)
        if name == key:
            found = (start, end)
        at = _skip(line, end)
        if line[at] == ",":
            at = _skip(line, at + 1)
    return found


def _skip(line: str, at: int) -> int:
    while line[at] in WHITE:
        at += 1
    return at


def _token(line: str, key: str) -> str:
    span = _span(line, key)
    return "" if span is None else line[slice(*span)]


def _with_token(line: str, key: str, token: str) -> str:
    span = _span(line, key)
    if span is not None:
        return line[: span[0]] + token + line[span[1] :]
    end = line.rindex("}")
    comma = "" if line[:end].rstrip(WHITE).endswith("{") else ", "
    return f"{line[:end]}{comma}{json.dumps(key)}: {token}{line[end:]}"


def _written(label: Any, whole: bool, ascii_only: bool) -> str:
    label = plain_value(label)
    if whole and isinstance(label, float) and label.is_integer():
        label = int(label)
    return json.dumps(label, ensure_ascii=ascii_only, default=str)
