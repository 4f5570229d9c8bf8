"""A table as it was read from a file, and what was noticed on the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from duti.arrays import Ints
from duti.errors import DutiError

SHOWN = 6


@dataclass(frozen=True, eq=False)
class Content:
    """What a format finds in a file."""

    table: Any
    notes: tuple[str, ...] = ()
    lines: Ints | None = None
    decimal_commas: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Sheet:
    """All rows of a file in its order, in typed columns, with nulls for missing values."""

    path: Path
    format: str
    """ "csv", "tsv", "jsonl", "parquet", "arrow", "npz" or "huggingface"."""
    table: Any
    """A pyarrow.Table."""
    notes: tuple[str, ...]
    """What was noticed: another encoding or delimiter, decimal commas, markers of missing values, ..."""
    checksum: str
    """SHA-256 of the bytes of the file; of a folder, of its files in order."""
    suffix: str
    """How the name of a corrected file ends: "csv", "csv.gz", "parquet", ..."""
    lines: Ints | None = field(default=None, repr=False)
    """The line on which each row starts, in a file of text."""
    decimal_commas: frozenset[str] = frozenset()
    """The columns whose numbers are written with a comma, as in 3,5."""

    def place(self, row: int) -> str:
        """Where a row (counted from 0) stands in the file, as a person would count.

        >>> Sheet(Path("x.parquet"), "parquet", None, (), "", "parquet").place(16)
        'x.parquet row 17'
        """
        if self.lines is None:
            return f"{self.path.name} row {row + 1}"
        return f"{self.path.name} line {self.lines[row]}"


@dataclass(frozen=True)
class Edit:
    """New labels for some rows of a file, in one of its columns."""

    sheet: Sheet
    column: str
    labels: Mapping[int, Any]

    @property
    def file(self) -> str:
        """The name of the file, for messages."""
        return self.sheet.path.name

    @property
    def position(self) -> int:
        """Which column of the file it is; names may have been repaired, places stay."""
        return int(self.sheet.table.column_names.index(self.column))


class Format(Protocol):
    """How tables are kept in the bytes of one file."""

    @property
    def name(self) -> str:
        """What the format is called."""

    def read(self, data: bytes, file: str) -> Content:
        """The table in these bytes; `file` is for messages."""

    def relabel(self, data: bytes, edit: Edit) -> bytes:
        """The same bytes, but for the labels that are edited."""


def checked_names(names: Sequence[str], where: str) -> tuple[list[str], list[str]]:
    """Column names that can be told apart, and notes; spreadsheets and pandas leave some empty.

    >>> checked_names(["", "age"], "rows.csv line 1")
    (['Unnamed: 0', 'age'], ["column 1 has no name; it is called 'Unnamed: 0'"])
    """
    found = [name or f"Unnamed: {position}" for position, name in enumerate(names)]
    notes = [
        f"column {position + 1} has no name; it is called {found[position]!r}"
        for position, name in enumerate(names)
        if not name
    ]
    seen: dict[str, int] = {}
    for position, name in enumerate(found):
        if (first := seen.setdefault(name, position)) < position:
            raise DutiError(
                f"{where}: columns {first + 1} and {position + 1} are both called {name!r}; rename one."
            )
    return found, notes


def listed(names: Iterable[Any]) -> str:
    """Names for a message, the first few if there are many.

    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    quoted = [repr(name) for name in names]
    more = f" and {len(quoted) - SHOWN} more" if len(quoted) > SHOWN else ""
    return ", ".join(quoted[:SHOWN]) + more


def one_line(error: BaseException) -> str:
    """What went wrong inside a library, in one short line.

    >>> one_line(ValueError("not\\na file"))
    'not a file'
    """
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 160 else f"{text[:160]}…"
