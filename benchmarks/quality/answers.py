"""What a contender says of the rows of a draw, in one shape for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import duti
from duti.arrays import Array, Ints, Labels
from duti.datasets import LabelledBugs
from duti.findings import Findings

Reading = Callable[[Findings], Array]
"""How findings read as probabilities of bugs."""


@dataclass(frozen=True)
class Claims:
    """What is said of the table as a whole."""

    verdict: str | None = None
    """The lower-case name of the verdict."""
    interval: tuple[float, float, float] | None = None
    """The number of bugs: low, expected, high; None if it is not told."""
    systematic: float | None = None


@dataclass(frozen=True, eq=False)
class Answer:
    """Arrays are aligned with the rows of the draw."""

    ranking: Ints
    fixes: Labels
    """What each label would become if its row were looked at."""
    probability: Array | None = None
    """Of a bug, where the contender has one."""
    corrected: Labels | None = None
    """The labels after the fixes that the contender applies by itself."""
    claims: Claims | None = None


def peer(found: Findings, reading: Reading | None) -> Answer:
    """A peer flags all it can, and its suggestions are its fixes."""
    return Answer(found.ranking, found.suggested_labels, reading(found) if reading else None)


def default_call(data: LabelledBugs) -> Answer:
    """The call that users make, and nothing else."""
    return ours(duti.debug(data.X, data.y, data.X_trusted, data.y_trusted), len(data.y))


def verified_call(data: LabelledBugs) -> Answer:
    """The same items as rows of the table, with the labels they were given, and verified."""
    if data.given_trusted is None:
        raise ValueError("nobody knows what label the trusted items were given, so they cannot be rows.")
    n, m = len(data.y), len(data.y_trusted)
    X, y = np.vstack([data.X, data.X_trusted]), np.concatenate([data.y, data.given_trusted])
    verified = dict(zip(range(n, n + m), data.y_trusted.tolist(), strict=True))
    return ours(duti.debug(X, y, verified=verified), n)


def ours(found: Any, n: int) -> Answer:
    """What findings say of the first n rows; the number of bugs is told of all rows, and left out if more."""
    whole, count, verdict = len(found.ranking) == n, found.expected_bugs, found.verdict
    told = None if count is None or not whole else (count.low, count.expected, count.high)
    return Answer(
        found.ranking[found.ranking < n],
        found.candidate_labels[:n],
        1 - found.label_quality[:n],
        found.corrected_labels()[:n],
        Claims(None if verdict is None else verdict.name.lower(), told, found.systematic),
    )
