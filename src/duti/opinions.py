"""What a recipe with many learners says besides a ranking."""

from __future__ import annotations

from dataclasses import dataclass

from duti.learners import Learner


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
