"""Where flags are frequent: shares of flagged rows by the values of every column.

A column's values are compared by χ² = Σ_v (f_v − n_v p)² / (n_v p (1 − p)), where f_v of the n_v rows with
value v are flagged, and p is the share of all rows. Columns that the user named come first and always;
of the others, those whose shares differ more than those of a column that has nothing to do with the rows
would. That is no test of anything: flags are made from the columns, and follow some of them on a clean
table, too. So no p-value is told, and no more is said than where flags are.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from markupsafe import Markup
from scipy.special import chdtrc

from duti.arrays import Ints, Mask
from duti.report.case import Case
from duti.report.svg import bar
from duti.report.text import cell, number, percent

ABSENT = "missing"
BINS = 5
DISTINCT = 12
"""A column of numbers with at most so many values is not binned."""
FEWEST = 5
"""Rarer values are counted together."""
SAMPLE = 20_000
"""Rows from which the edges of bins are taken."""
VALUES, COLUMNS = 8, 6
"""Values of a column, and columns that nobody named, on the page."""
CHANCE = 0.01
"""A column is shown if shares of values drawn at random would differ as much less often than this."""


@dataclass(frozen=True)
class Value:
    """The rows with one value."""

    name: str
    rows: int
    flagged: int
    share: str
    bar: Markup


@dataclass(frozen=True)
class Breakdown:
    """Flags by the values of one column."""

    column: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Bias:
    """What stands out, in a sentence, and the columns behind it."""

    sentence: str
    columns: tuple[Breakdown, ...]


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as codes of values or bins."""

    column: str
    codes: Ints
    names: tuple[str, ...]
    ordered: bool

    def flags(self, flagged: Mask) -> tuple[Ints, Ints]:
        """Rows and flagged rows of each value."""
        number = len(self.names)
        return np.bincount(self.codes, minlength=number), np.bincount(self.codes[flagged], minlength=number)


def bias(case: Case) -> Bias:
    """Flags by groups and by the values that stand out."""
    flagged = np.zeros(case.problem.n, dtype=bool)
    flagged[case.findings.flagged] = True
    named = [name for name in case.groups if name in case.rows.column_names]
    apart = {*named, case.text, case.image, case.label}  # which labels are flagged, the table of rows says
    others = [name for name in dict.fromkeys(case.rows.column_names) if name not in apart]
    coded = [found for name in others if (found := _coded(case, name, named=False)) is not None]
    if not flagged.any():
        coded = []
    tested = sorted(
        ((_chance(column, flagged), -_strength(column, flagged), i) for i, column in enumerate(coded))
    )
    strong = [coded[i] for chance, _, i in tested if chance * len(coded) < CHANCE][:COLUMNS]
    always = [found for name in named if (found := _coded(case, name, named=True)) is not None]
    shown = [*always, *strong]
    sentence = _sentence(shown, flagged)
    if not strong and flagged.any():
        sentence = (sentence + " Flags do not gather at the values of any column.").strip()
    return Bias(sentence, tuple(_breakdown(column, flagged) for column in shown))


def _sentence(columns: list[Coded], flagged: Mask) -> str:
    """The value whose rows have most flags more than they would have if all rows had as many."""
    best: tuple[float, str] = 2.0, ""
    for column in columns:
        rows, flags = column.flags(flagged)
        share = flagged.mean()
        excess = (flags - rows * share) / np.sqrt(np.maximum(rows * share * (1 - share), 1e-9))
        v = int(excess.argmax())
        if excess[v] > best[0]:
            share_here = flags[v] / rows[v]
            told = (
                f"Flags gather where {column.column} is {column.names[v]}: "
                f"{flags[v]} of these {rows[v]} rows are flagged ({percent(share_here)}), "
                f"{share_here / share:.1f} times the share of all rows."
            )
            best = float(excess[v]), told
    return best[1]


def _breakdown(column: Coded, flagged: Mask) -> Breakdown:
    rows, flags = column.flags(flagged)
    seen = np.flatnonzero(rows)
    shares = flags / np.maximum(rows, 1)
    order = seen if column.ordered else seen[np.lexsort((-rows[seen], -shares[seen]))]
    shown = order if column.ordered else order[:VALUES]
    top = max(float(shares[shown].max()), 1e-9)
    values = [
        Value(column.names[v], int(rows[v]), int(flags[v]), percent(shares[v]), bar(shares[v] / top, "doubt"))
        for v in shown.tolist()
    ]
    if left := order[len(shown) :].tolist():
        rest, told = int(rows[left].sum()), int(flags[left].sum())
        name = f"{len(left)} other values"
        values.append(Value(name, rest, told, percent(told / rest), bar(told / rest / top, "doubt")))
    return Breakdown(column.column, tuple(values))


def _strength(column: Coded, flagged: Mask) -> float:
    """χ² for each degree of freedom."""
    statistic, freedom = _chi_square(column, flagged)
    return statistic / max(freedom, 1)


def _chance(column: Coded, flagged: Mask) -> float:
    """The probability of so large a χ² if values had nothing to do with flags."""
    statistic, freedom = _chi_square(column, flagged)
    return float(chdtrc(freedom, statistic)) if freedom > 0 else 1.0


def _chi_square(column: Coded, flagged: Mask) -> tuple[float, int]:
    rows, flags = column.flags(flagged)
    rare = rows < FEWEST
    rows, flags = (np.append(counts[~rare], counts[rare].sum()) for counts in (rows, flags))
    rows, flags = rows[rows > 0], flags[rows > 0]
    share = flagged.mean()
    if not 0 < share < 1:
        return 0.0, 0
    return float(((flags - rows * share) ** 2 / (rows * share * (1 - share))).sum()), len(rows) - 1


def _coded(case: Case, name: str, *, named: bool) -> Coded | None:
    """A column as codes; None if its values are not of a kind that recurs."""
    import pyarrow as pa

    column = case.rows.column(name)
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _binned(name, column)
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if is_number:
        some = np.asarray(column.slice(0, SAMPLE).drop_null())
        if len(np.unique(some)) > DISTINCT:
            return _binned(name, column)
    if pa.types.is_nested(kind) or pa.types.is_null(kind):
        return None
    return _categories(name, column, named=named)


def _categories(name: str, column: Any, *, named: bool) -> Coded | None:
    """Values as they are, unless most of them are unique, like names or ids."""
    import pyarrow as pa

    encoded = column.combine_chunks()
    if not pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    values, codes = encoded.dictionary.to_pylist(), encoded.indices
    if not named and len(values) > max(DISTINCT, len(column) // FEWEST):
        return None
    filled = np.asarray(codes.fill_null(len(values)), dtype=np.int64)
    return Coded(name, filled, (*(cell(value, 40) for value in values), ABSENT), ordered=False)


def _binned(name: str, column: Any) -> Coded | None:
    """Bins with about as many rows each; missing values are one of their own."""
    import pyarrow as pa

    temporal = pa.types.is_temporal(column.type)
    missing = np.asarray(column.is_null(nan_is_null=True))
    values = column.to_numpy()
    numbers = values.astype("datetime64[us]").astype(np.int64) if temporal else values
    numbers = np.asarray(numbers, dtype=np.float64)
    known = numbers[~missing & np.isfinite(numbers)]
    if not len(known):
        return None
    edges = np.unique(np.quantile(known[:: -(-len(known) // SAMPLE)], np.linspace(0, 1, BINS + 1)))
    edges[0], edges[-1] = known.min(), known.max()
    if len(edges) == 1:  # all are the same, as numbers with so many digits as a float has
        edges = np.repeat(edges, 2)
    codes = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, len(edges) - 2)
    codes[missing] = len(edges) - 1
    ends = [
        str(np.datetime64(int(edge), "us").astype("datetime64[D]")) if temporal else number(edge, 3)
        for edge in edges
    ]
    names = [low if low == high else f"{low} to {high}" for low, high in pairwise(ends)]
    return Coded(name, codes, (*names, ABSENT), ordered=True)
