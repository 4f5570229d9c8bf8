"""What a recipe with many learners says besides a ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from duti.learners import Learner

WIDEST = 0.5
"""Half the width of an interval, relative to its middle, beyond which the number of bugs cannot be told."""


@dataclass(frozen=True)
class Opinion:
    """How far one learner was believed."""

    learner: Learner
    gamma: float
    """The price of a change at which it was debugged; ∞ if it was not."""
    learnt_from: str
    weight: float
    """All weights sum to one."""
    trusted_loss: float
    """Its mean loss on trusted items that it had not seen."""


@dataclass(frozen=True)
class BugCount:
    """How many labels are wrong, with an interval."""

    expected: float
    low: float
    high: float

    @classmethod
    def told(cls, expected: float, low: float, high: float) -> Self | None:
        """The number if the interval is narrow enough to be of use, else None: it cannot be told.

        >>> BugCount.told(10.0, 8.0, 13.0), BugCount.told(10.0, 1.0, 20.0)
        (BugCount(expected=10.0, low=8.0, high=13.0), None)
        """
        return None if high - low > WIDEST * (low + high) else cls(expected, low, high)
