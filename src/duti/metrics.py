"""How good a ranking is, when the bugs are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from duti.arrays import Array, Ints, Labels, Mask

RECALL_GRID = np.linspace(0, 1, 101)
"""Where the curves of several runs are averaged."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Points of a precision-recall curve, by rising recall."""

    recall: Array
    precision: Array

    @property
    def area(self) -> float:
        """The area under straight lines through the points, from recall 0 on.

        >>> Curve(np.array([0.5, 1.0]), np.array([1.0, 0.5])).area
        0.875
        """
        recall, precision = np.append(0.0, self.recall), np.append(self.precision[0], self.precision)
        return float((np.diff(recall) * (precision[1:] + precision[:-1])).sum() / 2)

    def at(self, recall: Array) -> Array:
        """The precision at some recalls; where the curve falls upright, at the foot of the fall."""
        return np.interp(recall, self.recall, self.precision)


def precision_recall(score: Array, is_bug: Mask) -> Curve:
    """The curve of a threshold on a score, the higher the more suspicious.

    Rows with the same score are flagged together: nobody could tell them apart.

    >>> curve = precision_recall(np.array([3.0, 1.0, 1.0, 0.0]), np.array([True, True, False, True]))
    >>> curve.recall.round(2), curve.precision.round(2)
    (array([0.33, 0.67, 1.  ]), array([1.  , 0.67, 0.75]))
    """
    order = np.argsort(-score, kind="stable")
    last_of_its_kind = np.append(np.flatnonzero(np.diff(score[order])), len(score) - 1)
    hits = np.cumsum(is_bug[order])[last_of_its_kind]
    return Curve(hits / max(hits[-1], 1), hits / (last_of_its_kind + 1))


def ranking_curve(ranking: Ints, is_bug: Mask) -> Curve:
    """The curve of flagging more and more rows of a ranking.

    >>> ranking_curve(np.array([2, 0, 1]), np.array([True, False, True])).area
    1.0
    """
    score = np.empty(len(ranking))
    score[ranking] = -np.arange(len(ranking))
    return precision_recall(score, is_bug)


def average_precision(ranking: Ints, is_bug: Mask) -> float:
    """Mean of the precision at each bug, going down the ranking.

    >>> average_precision(np.array([2, 0, 1]), np.array([True, False, True]))
    1.0
    """
    hit = is_bug[ranking]
    precision = np.cumsum(hit) / np.arange(1, len(hit) + 1)
    return float(precision[hit].mean())


@dataclass(frozen=True, eq=False)
class Average:
    """The mean curve of several runs on a common grid of recalls, with its standard error."""

    curve: Curve
    error: Array


def average_curve(curves: Sequence[Curve], grid: Array = RECALL_GRID) -> Average:
    """The mean precision of several curves at each recall.

    >>> one, other = Curve(np.array([1.0]), np.array([1.0])), Curve(np.array([1.0]), np.array([0.5]))
    >>> average_curve([one, other], np.array([0.0, 1.0])).curve.precision
    array([0.75, 0.75])
    """
    precision = np.array([curve.at(grid) for curve in curves])
    return Average(Curve(grid, precision.mean(axis=0)), standard_error(precision))


def standard_error(values: Array) -> Array:
    """Of a mean over the first axis; NaN for a single value.

    >>> standard_error(np.array([1.0, 3.0]))
    array(1.)
    """
    number = len(values)
    if number < 2:
        return np.full(values.shape[1:], np.nan)
    return np.asarray(values.std(axis=0, ddof=1) / np.sqrt(number))


def correct_fixes(flagged: Ints, fixes: Labels, truth: Labels, is_bug: Mask) -> Ints:
    """How many bugs have got their right label after each flag.

    >>> fixes, truth, is_bug = np.array([1, 0, 1]), np.array([1, 0, 0]), np.array([True, False, True])
    >>> correct_fixes(np.array([2, 0]), fixes, truth, is_bug)
    array([0, 1])
    """
    return np.cumsum((fixes[flagged] == truth[flagged]) & is_bug[flagged])


def fix_error(fixes: Array, truth: Array, is_bug: Mask) -> float:
    """Root mean square distance of the fixes of a regression from the truth, over the bugs.

    >>> fix_error(np.array([1.0, 2.0]), np.array([1.5, 0.0]), np.array([True, False]))
    0.5
    """
    return float(np.sqrt(((fixes - truth)[is_bug] ** 2).mean()))
