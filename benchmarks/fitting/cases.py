"""What is known of a draw with planted bugs: the evidence, and which labels are wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.quality.draws import touched
from duti.arrays import Array, Mask
from duti.automatic import Automatic
from duti.automatic.evidence import Evidence, flattened
from duti.automatic.predictions import Prediction
from duti.datasets import LabelledBugs
from duti.problem import Problem
from duti.progress import silent

SYSTEMATIC = ("region", "standard", "confused", "eyesight", "missed", "heuristic")
"""Kinds of bugs that are systematic, and are known where an item touches them."""
RANDOM = ("flips", "few", "untrusted", "rare")


@dataclass(frozen=True, eq=False)
class Case:
    """One draw."""

    kind: str
    table: str
    seed: int
    statistics: dict[str, float]
    features: dict[str, Array]
    """Of the rows."""
    is_bug: Mask
    touched: int | None
    items: int

    @property
    def has_bugs(self) -> bool | None:
        """Whether the verdict should be that labels are wrong; None where items cannot know."""
        if not self.is_bug.any():
            return False
        known = self.kind in ("flips", "human", "untrusted") or (self.kind in SYSTEMATIC and self.touched)
        return True if known else None

    @property
    def is_systematic(self) -> bool | None:
        """Whether bugs are systematic; None where there are none, or where items cannot know."""
        if not self.is_bug.any():
            return None
        if self.kind in RANDOM:
            return False
        return True if self.kind == "unseen" or (self.kind in SYSTEMATIC and self.touched) else None


def case(kind: str, table: str, seed: int, data: LabelledBugs) -> Case:
    """What the default call has to go by."""
    problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted).trusting(1.0)
    predictions, _, _ = Automatic()._ensemble(problem, silent).predictions(problem)
    return case_of(kind, table, seed, data, problem, predictions)


def case_of(
    kind: str, table: str, seed: int, data: LabelledBugs, problem: Problem, predictions: Sequence[Prediction]
) -> Case:
    """By predictions that are there already."""
    evidence = Evidence(problem, predictions)
    features = evidence.features(evidence.rows)
    statistics = {name: float(some) for name, some in flattened(evidence.statistics).items()}
    return Case(kind, table, seed, statistics, features, data.is_bug, touched(data), problem.m)
