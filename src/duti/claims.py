"""What findings claim besides a ranking: are labels wrong, how many, and what could have been seen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, is_dataclass
from enum import StrEnum
from typing import Any, Self

from duti.learners import Learner

CONFIDENCE = 0.95
"""How probable it is that trusted items touch a bug as large as `Power.touched`."""


class Verdict(StrEnum):
    """Whether labels are wrong, and in what way, in a sentence."""

    NO_EVIDENCE = "There is no evidence of wrong labels."
    RANDOM = "Labels are wrong here and there, at random."
    SYSTEMATIC = "Labels are wrong systematically: a group, a region or a class is labelled wrongly."
    CANNOT_TELL = "These trusted items cannot tell whether labels are wrong, or in what way."


@dataclass(frozen=True)
class LearnerSummary:
    """One learner whose predictions count, and how much."""

    kind: str
    """What it learnt from."""
    name: str
    """Such as "KernelLogistic", "RandomForestClassifier", "the given probabilities"."""
    settings: Mapping[str, Any]
    """Its hyperparameters, as values that JSON knows."""
    gamma: float | None
    """The price of a change at which it was debugged; None if it was not."""
    weight: float
    """All weights sum to one."""
    row_loss: float | None
    """Its mean loss on held-out rows; None if that was not measured."""
    trusted_loss: float | None
    """Its mean loss on trusted items that were left out; None if that was not measured."""

    @classmethod
    def of(
        cls,
        learner: Learner,
        kind: str,
        weight: float,
        *,
        gamma: float | None = None,
        row_loss: float | None = None,
        trusted_loss: float | None = None,
    ) -> Self:
        """The summary of a learner of duti; an infinite price means that it was not debugged.

        >>> from duti.learners import Ridge
        >>> LearnerSummary.of(Ridge(ridge=0.1), "the labels as given", 1.0, gamma=math.inf).gamma is None
        True
        """
        price = None if gamma is None or math.isinf(gamma) else gamma
        settings: dict[str, Any] = asdict(learner) if is_dataclass(learner) else {}
        return cls(kind, type(learner).__name__, settings, price, weight, row_loss, trusted_loss)


@dataclass(frozen=True)
class BugCount:
    """How many labels are wrong, with an interval."""

    expected: float
    low: float
    high: float


@dataclass(frozen=True)
class Power:
    """How small a bug the trusted items could have seen.

    >>> Power.of(20, called=0.2).sentence
    'With 95 % probability at least one of 20 rows like these lies in a bug of 14 % of the table or more; \
a bug of 20 % or more would have been called.'
    """

    items: int
    touched: float
    """The share s of rows with 1 − (1 − s)^m = 0.95: a bug so large has one of m random rows in it."""
    called: float | None
    """The share of rows of the smallest systematic bug that the verdict would have called, by simulation;
    None if there is none, or it was not simulated."""

    @classmethod
    def of(cls, items: int, called: float | None = None) -> Self:
        """Of so many trusted items.

        >>> [round(Power.of(items).touched, 3) for items in (1, 5, 20, 100)]
        [0.95, 0.451, 0.139, 0.03]
        """
        touched = 1 - (1 - CONFIDENCE) ** (1 / items) if items else 1.0
        return cls(items, touched, called)

    @property
    def sentence(self) -> str:
        """What would have been seen, in words."""
        if not self.items:
            return "Without trusted items there is nothing that lies in a bug for certain."
        rows = f"at least one of {self.items} rows like these" if self.items > 1 else "a row like this one"
        told = f"With {CONFIDENCE:.0%} probability {rows} lies in "
        told += f"a bug of {_share(self.touched)} of the table or more"
        if self.called is not None:
            told += f"; a bug of {_share(self.called)} or more would have been called"
        return told.replace("%", " %") + "."


def _share(share: float) -> str:
    """In per cent to two digits, rounded up, so that what is said of a bug that large holds.

    >>> [_share(share) for share in (0.95, 0.4507, 0.1391, 0.0295, 0.000299)]
    ['95%', '46%', '14%', '3%', '0.03%']
    """
    percent = 100 * share
    digits = 1 - math.floor(math.log10(percent)) if 0 < percent < 10 else 0
    # Without the rounding first, 95.00000000000001 would become 96.
    return f"{math.ceil(round(percent * 10**digits, 6)) / 10**digits:g}%"
