"""Columns of text → numbers, booleans, dates or text, with nulls for what is missing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from duti.files.sheet import listed

MARKERS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "Null", "null", "None", "?")
"""Cells that mean "missing" in any column."""
DASHES = ("-", "--", "–", "—", ".", "..")
"""Cells that mean "missing" only where all other cells are numbers or dates."""
ISO_TYPES = (pa.date32(), *(pa.timestamp(unit, zone) for unit in ("us", "ns") for zone in (None, "UTC")))
DAY_MONTH_YEAR, MONTH_DAY_YEAR = "%d/%m/%Y", "%m/%d/%Y"
WRITTEN_DATES = (
    (r"\d{1,2}\.\d{1,2}\.\d{4}", "%d.%m.%Y"),
    (r"\d{4}/\d{1,2}/\d{1,2}", "%Y/%m/%d"),
    (r"\d{1,2} [A-Za-z]{3} \d{4}", "%d %b %Y"),
    (r"[A-Za-z]{3} \d{1,2}, \d{4}", "%b %d, %Y"),
)
"""Dates that can be read in one way only."""
IS_SIGN, CONTINUES_CODE = np.isin(np.arange(256), list(b"+-")), np.isin(np.arange(256), list(b"0123456789xX"))
SAMPLE = 64
THOUSANDS = r"^[+-]?[1-9][0-9]{0,2},[0-9]{3}$"
GROUPED = {
    ",": r"^[+-]?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+)(,[0-9]+)?$",
    ".": r"^[+-]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+)(\.[0-9]+)?$",
}
"""Numbers with a sign between thousands, by their decimal sign."""
PER_CENT = r"\s?%$"


@dataclass(frozen=True, eq=False)
class Column:
    """A typed column, and what was noticed about its cells."""

    values: Any
    """A pyarrow.ChunkedArray."""
    missing: dict[str, int] = field(default_factory=dict)
    """How often each marker of a missing value was found; empty cells of CSV are null before that."""
    spaces: bool = False
    decimal_comma: bool = False
    remark: str = ""


def typed(text: Any, delimiter: str) -> Column:
    """The narrowest type that fits all cells of a column of a delimited file.

    >>> typed(pa.chunked_array([["3,5", "NA", None, "4"]]), ";").values.to_pylist()
    [3.5, None, None, 4.0]
    """
    if text.null_count == len(text):
        return Column(pa.chunked_array([pa.nulls(len(text))]))
    if (numbers := _numbers(text)) is not None:
        return _without_nan(numbers)
    column = cleaned(text)
    if (found := _value(column, delimiter)) is not None:
        return found
    if (undashed := _marked(column, DASHES)) is not column:
        return _value(undashed, delimiter) or _remarked(column, delimiter)
    return _remarked(column, delimiter)


def cleaned(text: Any) -> Column:
    """Text without spaces around it and without markers of missing values."""
    column = Column(text)
    trimmed = pc.utf8_trim_whitespace(text)
    if _length(trimmed) < _length(text):
        column = Column(trimmed, spaces=True)
    return _marked(column, MARKERS)


def dated(column: Column) -> Column:
    """Dates, where all cells of a column of text are dates; otherwise the column as it is."""
    first = pc.first(column.values).as_py()
    if first is None:
        return column
    if re.match(r"\d{4}-\d\d-\d\d", first):
        dates = next(filter(None, (_cast(column.values, kind) for kind in ISO_TYPES)), None)
        return column if dates is None else replace(column, values=dates)
    for pattern, style in WRITTEN_DATES:
        if re.fullmatch(pattern, first):
            dates = _parsed(column.values, style)
            return column if dates is None else replace(column, values=dates)
    if re.fullmatch(r"\d{1,2}/\d{1,2}/\d{4}", first):
        return _with_slashes(column)
    return column


def remarks(names: list[str], columns: list[Column]) -> list[str]:
    """What was noticed about columns of text, in a few sentences."""
    pairs = list(zip(names, columns, strict=True))
    notes = []
    if commas := [name for name, column in pairs if column.decimal_comma]:
        notes.append(f"decimal commas in {listed(commas)}")
    if spaces := [name for name, column in pairs if column.spaces]:
        notes.append(f"spaces around cells are ignored in {listed(spaces)}")
    for marker in sorted({marker for column in columns for marker in column.missing}):
        count = sum(column.missing.get(marker, 0) for column in columns)
        places = listed(name for name, column in pairs if marker in column.missing)
        notes.append(f"{marker!r} means missing in {places} ({count} cell{'s' * (count > 1)})")
    return notes + [f"{name!r}: {column.remark}" for name, column in pairs if column.remark]


def _value(column: Column, delimiter: str) -> Column | None:
    """A column of anything but text, if it is one."""
    if column.values.null_count == len(column.values):
        return replace(column, values=pa.chunked_array([pa.nulls(len(column.values))]))
    if (numbers := _numbers(column.values)) is not None:
        numbers = _without_nan(numbers)
        return replace(numbers, missing=column.missing | numbers.missing, spaces=column.spaces)
    if (booleans := _booleans(column.values)) is not None:
        return replace(column, values=booleans)
    if (numbers := _decimal_commas(column.values, delimiter)) is not None:
        return replace(column, values=numbers, decimal_comma=True)
    if (grouped := _grouped(column)) is not None:
        return grouped
    if _occurs(b"%", column.values) and pc.all(pc.match_substring_regex(column.values, PER_CENT)).as_py():
        bare = replace(column, values=pc.replace_substring_regex(column.values, PER_CENT, ""))
        shares = _value(bare, delimiter)
        is_number = shares is not None and pa.types.is_floating(shares.values.type)
        return replace(shares, remark="% signs are left out") if shares is not None and is_number else None
    dates = dated(column)
    return None if pa.types.is_string(dates.values.type) else dates


def _remarked(column: Column, delimiter: str) -> Column:
    """A column that stays text, with a remark if it looks like something else."""
    if delimiter == "," and _are_thousands(column.values):
        return replace(column, remark="'1,234' may be thousands or a decimal comma, so it stays text")
    first = pc.first(column.values).as_py() or ""
    if re.fullmatch(r"\d{1,2}/\d{1,2}/\d{4}", first) and _parsed(column.values, DAY_MONTH_YEAR) is not None:
        return replace(column, remark="day and month cannot be told apart, so the dates stay text")
    return column


def _numbers(text: Any) -> Any:
    """Whole numbers or floats; codes such as 007 or 0x1F, and digits too many for a number, are none."""
    numbers = _cast(text, pa.int64())
    if numbers is None and (floats := _cast(text, pa.float64())) is not None:
        are_fractions = any(_occurs(letter, text) for letter in (b".", b"e", b"E", b"n", b"N"))
        numbers = floats if are_fractions else _cast(pc.utf8_ltrim(text, "+"), pa.int64())
    return None if numbers is None or any(map(_has_codes, text.chunks)) else numbers


def _without_nan(numbers: Any) -> Column:
    """NaN, however it is spelled, is missing."""
    if not pa.types.is_floating(numbers.type) or not pc.any(is_nan := pc.is_nan(numbers)).as_py():
        return Column(numbers)
    values = pc.if_else(is_nan, pa.scalar(None, numbers.type), numbers)
    return Column(values, missing={"NaN": values.null_count - numbers.null_count})


def _booleans(text: Any) -> Any:
    if (pc.first(text).as_py() or "").lower() not in ("true", "false"):
        return None
    lower = pc.utf8_lower(text)
    known = pc.all(pc.is_in(lower, pa.array(["true", "false", None]))).as_py()
    return pc.equal(lower, "true") if known else None


def _decimal_commas(text: Any, delimiter: str) -> Any:
    if not _occurs(b",", text) or _occurs(b".", text) or (delimiter == "," and _are_thousands(text)):
        return None
    with_points = pc.replace_substring(_sample(text), ",", ".")
    if _cast(with_points, pa.float64()) is None or any(map(_has_codes, text.chunks)):
        return None
    return _cast(pc.replace_substring(text, ",", "."), pa.float64())


def _grouped(column: Column) -> Column | None:
    """Numbers such as 1.234,5 or 1,234.5: some cell must hold both signs, so that they can be told apart."""
    if not (_occurs(b",", column.values) and _occurs(b".", column.values)):
        return None
    both = pc.and_(pc.match_substring(column.values, ","), pc.match_substring(column.values, "."))
    for decimal, pattern in GROUPED.items():
        if pc.any(both).as_py() and pc.all(pc.match_substring_regex(column.values, pattern)).as_py():
            between = "." if decimal == "," else ","
            plain = pc.replace_substring(pc.replace_substring(column.values, between, ""), decimal, ".")
            numbers, remark = _cast(plain, pa.float64()), f"{between!r} between thousands is left out"
            if numbers is not None:
                return replace(column, values=numbers, decimal_comma=decimal == ",", remark=remark)
    return None


def _are_thousands(text: Any) -> bool:
    """Whether each comma stands before exactly three digits, as in 1,234."""
    for cells in (_sample(text), text):
        with_comma = cells.filter(pc.match_substring(cells, ","))
        if not pc.all(pc.match_substring_regex(with_comma, THOUSANDS)).as_py():
            return False
    return len(with_comma) > 0


def _with_slashes(column: Column) -> Column:
    """Dates like 31/12/2020, if all of them together tell day and month apart."""
    found = {
        order: dates
        for order, style in (("day/month/year", DAY_MONTH_YEAR), ("month/day/year", MONTH_DAY_YEAR))
        if (dates := _parsed(column.values, style)) is not None
    }
    if len(found) != 1:
        return column
    (order, dates), *_ = found.items()
    return replace(column, values=dates, remark=f"dates read as {order}")


def _parsed(text: Any, style: str) -> Any:
    try:
        dates = pc.strptime(text, format=style, unit="s").cast(pa.date32())
    except pa.ArrowInvalid:
        return None
    # strptime takes the 31st of February for the 2nd of March.
    bare = r"(^|[./ ])0"
    plain, written = (
        pc.utf8_lower(pc.replace_substring_regex(some, bare, r"\1"))
        for some in (text, pc.strftime(dates, format=style, locale="C"))
    )
    same = pc.equal(plain, written)
    return dates if pc.all(same).as_py() else None


def _marked(column: Column, markers: tuple[str, ...]) -> Column:
    """The column with cells that say "missing" made null, or itself if there are none."""
    is_marker = pc.is_in(column.values, pa.array(markers))
    if not pc.any(is_marker).as_py():
        return column
    counts = pc.value_counts(column.values.filter(is_marker)).to_pylist()
    return replace(
        column,
        values=pc.if_else(is_marker, pa.scalar(None, column.values.type), column.values),
        missing=column.missing | {found["values"]: found["counts"] for found in counts},
    )


def _cast(text: Any, kind: Any) -> Any:
    try:
        pc.cast(_sample(text), kind)  # most columns that do not fit show it early
        return pc.cast(text, kind)
    except pa.ArrowInvalid:
        return None


def _sample(text: Any) -> Any:
    return text.slice(0, SAMPLE)


def _length(text: Any) -> int:
    return int(pc.sum(pc.binary_length(text)).as_py() or 0)


def _cells(chunk: Any) -> tuple[NDArray[np.int32], Any]:
    """Where the cells of an array of text start (and the last one ends) in its bytes, and the bytes."""
    _, offsets, data = chunk.buffers()
    if not len(chunk) or data is None:
        return np.zeros(1, dtype=np.int32), b""
    return np.frombuffer(offsets, np.int32, len(chunk) + 1, 4 * chunk.offset), data


def _occurs(letter: bytes, text: Any) -> bool:
    """Whether some cell of a column holds a letter."""
    for chunk in text.chunks:
        bounds, data = _cells(chunk)
        if letter in bytes(data[bounds[0] : bounds[-1]]):
            return True
    return False


def _has_codes(chunk: Any) -> bool:
    """Whether some cell starts like 007 or 0x1F, after a sign perhaps."""
    bounds, data = _cells(chunk)
    letters = np.frombuffer(data, np.uint8)
    starts, ends = bounds[:-1], bounds[1:]
    filled = ends > starts
    starts, ends = starts[filled], ends[filled]
    starts = starts + IS_SIGN[letters[starts]]
    long = ends - starts >= 2
    is_code = (letters[starts[long]] == ord("0")) & CONTINUES_CODE[letters[starts[long] + 1]]
    return bool(is_code.any())
