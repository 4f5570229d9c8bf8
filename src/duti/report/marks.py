"""Which colour and shape stands for which label, everywhere on the page."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from duti.arrays import Ints, Labels
from duti.report.case import Case
from duti.report.svg import SHAPES, key
from duti.report.text import cell

COLOURS = 6
OTHER = 2 * COLOURS
"""So many labels have a mark of their own; the mark of this number is for all others."""


def look(number: int) -> tuple[str, str]:
    """The shape and the class of the colour of a mark; both differ as long as there are colours.

    >>> look(0), look(6), look(OTHER)
    (('circle', 'c0'), ('triangle', 'c0'), ('circle', 'c6'))
    """
    if number == OTHER:
        return SHAPES[0], f"c{COLOURS}"
    return SHAPES[(number + number // COLOURS) % len(SHAPES)], f"c{number % COLOURS}"


@dataclass(frozen=True, eq=False)
class Marks:
    """Colour and shape of labels; a regression has the first for all."""

    case: Case
    of_code: Ints
    """The number of its colour and shape, for the code of each class."""

    @classmethod
    def of(cls, case: Case) -> Marks:
        """Of many classes, those with the most flags (and then rows) have marks of their own."""
        k = case.problem.k
        if k <= OTHER:
            return cls(case, np.arange(max(k, 1)))
        flagged = case.findings.flagged
        labels = case.findings.given_labels[flagged], case.findings.candidate_labels[flagged]
        flags = np.bincount(np.concatenate([case.problem.coded(some) for some in labels]), minlength=k)
        frequent = np.lexsort((-np.bincount(case.problem.y, minlength=k), -flags))[:OTHER]
        of_code = np.full(k, OTHER)
        of_code[np.sort(frequent)] = np.arange(OTHER)
        return cls(case, of_code)

    def numbers(self, labels: Labels) -> Ints:
        """The mark of each label."""
        if self.case.problem.classes is None:
            return np.zeros(len(labels), dtype=np.int64)
        return self.of_code[self.case.problem.coded(labels)]

    def keys(self, labels: Labels) -> list[Markup]:
        """The mark of each label as a small picture; none in regression."""
        if self.case.problem.classes is None:
            return [Markup("")] * len(labels)
        pictures = [key(*look(i)) for i in range(OTHER + 1)]
        return [pictures[i] for i in self.numbers(labels)]

    def legend(self) -> list[tuple[Markup, str]]:
        """The marks that are in use and what they stand for."""
        if self.case.problem.classes is None:
            return []
        names = {
            int(i): cell(label, 30) for i, label in zip(self.of_code, self.case.problem.classes, strict=True)
        }
        if self.case.problem.k > OTHER:
            names[OTHER] = "other labels"
        return [(key(*look(i)), name) for i, name in sorted(names.items())]
