"""What each column of a frame is, and whether it can help at all. Nothing is left out without a reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from duti.arrays import Array
from duti.encode import arrow
from duti.encode.images import SIDE
from duti.encode.layout import Kind, Layout
from duti.encode.texts import has_words
from duti.errors import ProblemError

ENOUGH_ROWS = 20
"""In fewer rows than this nothing looks like an id."""
MOSTLY_DISTINCT = 0.5
WORDS_OF_TEXT = 4
"""Text of so many words on average, most of it different, is free text."""
MOST_CATEGORIES = 50
NINES = tuple(sign * number for number in (99.0, 999.0, 9999.0, 99999.0) for sign in (-1, 1))
BEYOND = 5
"""Numbers that may mean missing are so many times as large as all others."""
CYCLES = {"year": 365.2425, "week": 7.0, "day": 1.0}
"""What dates repeat themselves by, in days."""


@dataclass(frozen=True)
class Choice:
    """What is made of a column, and why, if that may surprise."""

    name: str
    kind: Kind
    reason: str = ""
    """Why it is left out, as the rest of a sentence."""
    length: int = 1
    """Of the vectors of an embedding."""
    cycles: tuple[str, ...] = ()
    """By which dates repeat themselves."""
    missing: int = 0
    asked: bool = False
    """Whether the user said so."""
    sentinel: tuple[float, int] | None = None
    """A number that may mean missing, such as −999, and how often it stands there."""
    odd: tuple[tuple[int, str], ...] | None = None
    """Row and text of cells among numbers that are none, and count as missing; None if there are none."""


def rare(n: int) -> int:
    """Values of fewer rows than this share a column: a hundredth of the rows, at most ten.

    >>> rare(50), rare(300), rare(100_000)
    (1, 3, 10)
    """
    return min(max(n // 100, 1), 10)


def choose(name: str, cells: Any, layout: Layout, place: str) -> Choice:
    """What a column is: as the layout says, else as its type and its values say."""
    if name in layout.drop:
        return Choice(name, "left out", "as asked", asked=True)
    if isinstance(cells, arrow.Unreadable):
        return Choice(name, "left out", f"it holds {cells.type}; make it numbers or text to use it")
    missing = int(cells.null_count)
    if missing == len(cells):
        return Choice(name, "left out", "every value is missing; fill it in to use it", missing=missing)
    if name == layout.image:
        return Choice(name, "image", missing=missing, length=SIDE * SIDE, asked=True)
    if name in layout.text:
        return _free_text(name, cells, place)
    kind = cells.type
    if arrow.is_list(kind):
        return _embedding(name, cells, place)
    if pa.types.is_boolean(kind):
        return _unless_constant(Choice(name, "yes/no", missing=missing), cells)
    if arrow.is_date(kind):
        cycles = _cycles(arrow.days(cells, place))
        return _unless_constant(Choice(name, "date", missing=missing, cycles=cycles), cells)
    if arrow.is_number(kind):
        return _number(Choice(name, "number", missing=missing), cells, name in layout.keep)
    if arrow.is_text(kind):
        return _text_or_category(Choice(name, "category", missing=missing), cells, place, name in layout.keep)
    return Choice(name, "left out", f"it holds {kind}; make it numbers or text to use it")


def require_columns(layout: Layout, columns: tuple[str, ...], name: str) -> None:
    """Refuse a layout that names columns which are not there."""
    for column in layout.named:
        if column not in columns:
            shown = ", ".join(map(repr, columns[:10])) + (", …" if len(columns) > 10 else "")
            raise ProblemError(f"{column!r} is not a column of {name}; its columns are {shown}.")


def _free_text(name: str, cells: Any, place: str) -> Choice:
    if not has_words(arrow.encoded(cells, place).dictionary.to_pylist()):
        return Choice(name, "left out", "there is no word in it; name it as text only if it holds words")
    return Choice(name, "text", missing=int(cells.null_count), asked=True)


def _embedding(name: str, cells: Any, place: str) -> Choice:
    found = arrow.lengths(cells)
    length = next(iter(found))
    if len(found) > 1 or not length or np.isnan(arrow.entries(cells, place)).any():
        reason = "its lists are missing, empty, of different lengths or lack numbers; repair them to use it"
        return Choice(name, "left out", reason)
    return Choice(name, "embedding", length=length)


def _unless_constant(choice: Choice, cells: Any) -> Choice:
    """A column needs two values; that some are missing is one."""
    if choice.missing or pc.count_distinct(cells).as_py() > 1:
        return choice
    return _left_out(choice, f"it is {cells[0].as_py()!r} in every row, which tells no row from another")


def _number(choice: Choice, cells: Any, keep: bool) -> Choice:
    """A number, unless it counts the rows."""
    extremes = pc.min_max(cells).as_py() if pa.types.is_integer(cells.type) else {"min": None}
    n, first = len(cells), extremes["min"]
    counts_rows = first in (0, 1) and extremes["max"] == first + n - 1 and n >= ENOUGH_ROWS
    if counts_rows and not keep and pc.count_distinct(cells).as_py() == n:
        return _left_out(
            choice,
            f"it counts the rows from {first} to {extremes['max']}, like an id; name it in `keep` to use it",
        )
    return _unless_constant(replace(choice, sentinel=_sentinel(cells)), cells)


def _sentinel(cells: Any) -> tuple[float, int] | None:
    """A number of nines that stands there more than once and is far beyond all others.

    >>> _sentinel(pa.chunked_array([[3, 41, -999, 17, -999]]))
    (-999.0, 2)
    """
    if not (pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type)):
        return None
    values = np.asarray(cells.drop_null().cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
    for number in NINES:
        others = abs(values[values != number])
        times = len(values) - len(others)
        if times > 1 and len(others) and BEYOND * others.max() < abs(number):
            return number, times
    return None


def _text_or_category(choice: Choice, cells: Any, place: str, keep: bool) -> Choice:
    counted = arrow.encoded(cells, place)
    counts = np.bincount(counted.indices.drop_null().to_numpy(zero_copy_only=False))
    n, present, distinct = len(cells), len(cells) - choice.missing, len(counts)
    if distinct == 1 and not choice.missing:
        return _unless_constant(choice, cells)
    mostly_distinct = distinct > MOSTLY_DISTINCT * present
    if (mostly_distinct or distinct > MOST_CATEGORIES) and _reads_like_text(counted.dictionary):
        return Choice(choice.name, "text", missing=choice.missing)
    if mostly_distinct and n >= ENOUGH_ROWS and not keep:
        return _left_out(
            choice,
            f"its {present} values are {distinct} different ones, like an id; "
            "name it in `keep` to use it as categories, or in `text` to use its words",
        )
    if max(counts.max(), choice.missing) < rare(n):
        return _left_out(
            choice,
            f"none of its {distinct} values stands in {rare(n)} rows; name it in `text` to use its words",
        )
    return choice


def _reads_like_text(dictionary: Any) -> bool:
    sample = dictionary[:1000].to_pylist()
    return float(np.mean([len(text.split()) for text in sample])) >= WORDS_OF_TEXT and has_words(sample)


def _cycles(days: Array) -> tuple[str, ...]:
    """The cycles which the dates go through, at different points of them."""
    known = days[~np.isnan(days)]
    span = np.ptp(known)
    return tuple(
        cycle for cycle, period in CYCLES.items() if span > period and np.ptp(np.mod(known, period)) > 1e-9
    )


def _left_out(choice: Choice, reason: str) -> Choice:
    return Choice(choice.name, "left out", reason, missing=choice.missing)
