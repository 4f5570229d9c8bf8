"""Where the records and cells of delimited text stand, found on the bytes.

A quote that starts a cell opens it, and the next quote that is not doubled closes it; any other quote is a
letter like every other. pyarrow and the csv module read the same way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from duti.arrays import Ints, Mask
from duti.errors import DutiError
from duti.files.text import line_at

QUOTE, LF, CR = b'"'[0], b"\n"[0], b"\r"[0]
QUOTED = re.compile(r'"((?:[^"]|"")*)"?(.*)', re.DOTALL)
Bytes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Records:
    """The records of delimited text: no blank lines, the header first."""

    data: bytes
    delimiter: bytes
    starts: Ints
    ends: Ints
    lines: Ints
    """The line, counted from 1, on which each record starts."""
    blank: int
    """How many blank lines were skipped."""
    quoted_breaks: bool
    """Whether some quoted cell holds a line break."""

    @cached_property
    def delimiters(self) -> Ints:
        """Where cells end, other than at the end of a record."""
        return _delimiters(self.data, self.delimiter)

    def cells(self, chosen: Ints, position: int) -> tuple[Ints, Ints]:
        """Where the cells in one place of some records start and end, quotes included."""
        first = np.searchsorted(self.delimiters, self.starts[chosen])
        bounded = np.concatenate([self.delimiters, [len(self.data)]])
        lefts = self.starts[chosen] if position == 0 else bounded[first + position - 1] + 1
        rights = np.minimum(bounded[np.minimum(first + position, len(self.delimiters))], self.ends[chosen])
        return lefts, rights

    def raw(self, chosen: Ints, position: int) -> list[bytes]:
        """The cells in one place of some records, as they are written in the file."""
        bounds = zip(*self.cells(chosen, position), strict=True)
        return [self.data[left:right] for left, right in bounds]

    def header(self) -> list[str]:
        """What the cells of the first record say."""
        record = self.data[self.starts[0] : self.ends[0]]
        bounds = [-1, *_delimiters(record, self.delimiter), len(record)]
        return [unquoted(record[left + 1 : right].decode()) for left, right in pairwise(bounds)]

    def widths(self) -> Ints:
        """How many cells each record has."""
        return np.searchsorted(self.delimiters, self.ends) - np.searchsorted(self.delimiters, self.starts) + 1


def records(data: bytes, delimiter: bytes, file: str) -> Records:
    r"""Find the records of UTF-8 text.

    >>> found = records(b'a,b\n1,"x\ny"\n\n2,z', b",", "rows.csv")
    >>> found.lines.tolist(), found.raw(np.array([1, 2]), 1)
    ([1, 2, 5], [b'"x\ny"', b'z'])
    """
    raw = np.frombuffer(data, np.uint8)
    toggles = _toggles(data, raw, delimiter)
    if len(toggles) % 2:
        line = line_at(data, int(toggles[-1]))
        raise DutiError(f"{file} line {line}: a quote is opened but never closed; close it or double it.")
    breaks = _breaks(data, raw)
    inside = _inside(breaks, toggles)
    outer = breaks[~inside]
    starts = np.concatenate([[0], outer + 1])
    ends = np.concatenate([outer, [len(data)]])
    ends[:-1] -= (raw[outer] == LF) & (outer > 0) & (raw[outer - 1] == CR)
    lines = np.searchsorted(breaks, starts) + 1 if inside.any() else np.arange(1, len(starts) + 1)
    kept = starts < ends
    blank = int(np.sum(~kept)) - int(starts[-1] == len(data))
    return Records(data, delimiter, starts[kept], ends[kept], lines[kept], blank, bool(inside.any()))


def unquoted(cell: str) -> str:
    """What a cell says.

    >>> unquoted('"5"" disk"')
    '5" disk'
    """
    found = QUOTED.fullmatch(cell)
    return cell if found is None else found[1].replace('""', '"') + found[2]


def _breaks(data: bytes, raw: Bytes) -> Ints:
    r"""The last byte of each line break: \n, \r\n or \r."""
    breaks = np.flatnonzero(raw == LF)
    if b"\r" in data:
        returns = np.flatnonzero(raw == CR)
        alone = np.append(raw[1:], 0)[returns] != LF
        breaks = np.sort(np.concatenate([breaks, returns[alone]]))
    return breaks


def _inside(positions: Ints, toggles: Ints) -> Mask:
    """Which positions are inside a quoted cell: those after an odd number of quotes."""
    if not len(toggles):
        return np.zeros(len(positions), dtype=bool)
    inside: Mask = np.searchsorted(toggles, positions) % 2 == 1
    return inside


def _toggles(data: bytes, raw: Bytes, delimiter: bytes) -> Ints:
    """The quotes that open and close cells, in turn; doubled ones close and open again."""
    if b'"' not in data:
        return np.zeros(0, dtype=np.int64)
    quotes = np.flatnonzero(raw == QUOTE)
    if len(quotes) % 2 == 0 and _are_in_turn(raw, quotes, delimiter):
        return quotes
    return _walked(data, quotes.tolist(), delimiter)


def _are_in_turn(raw: Bytes, quotes: Ints, delimiter: bytes) -> bool:
    """Whether every other quote starts a cell and the ones between end it, as in all regular files."""
    beside = np.zeros(256, dtype=bool)
    beside[[QUOTE, LF, CR, delimiter[0]]] = True
    opening, closing = quotes[::2], quotes[1::2]
    before, after = opening[opening > 0] - 1, closing[closing < len(raw) - 1] + 1
    return bool(beside[raw[before]].all() and beside[raw[after]].all())


def _walked(data: bytes, quotes: list[int], delimiter: bytes) -> Ints:
    """The quotes that open and close cells, one after another, where some are letters."""
    toggles = []
    start_of_cell = delimiter + b"\r\n"
    inside, at = False, 0
    while at < len(quotes):
        quote = quotes[at]
        if inside and quotes[at + 1 : at + 2] == [quote + 1]:
            at += 1
        elif inside or quote == 0 or data[quote - 1] in start_of_cell:
            toggles.append(quote)
            inside = not inside
        at += 1
    return np.asarray(toggles, dtype=np.int64)


def _delimiters(data: bytes, delimiter: bytes) -> Ints:
    """The delimiters that are not inside of quotes."""
    raw = np.frombuffer(data, np.uint8)
    found = np.flatnonzero(raw == delimiter[0])
    return found[~_inside(found, _toggles(data, raw, delimiter))]
