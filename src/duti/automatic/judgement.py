"""From evidence to probabilities, fixes and a number of bugs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duti.arrays import Array, Ints, Mask
from duti.automatic.mixture import Mixture, confusion
from duti.automatic.voices import losses
from duti.opinions import BugCount
from duti.problem import Problem

SURER = 1.5
"""A mean of log-odds is less sure than learners that agree: factor that makes it a probability, about."""
NARROWEST, WIDEST = 0.3, 0.5
"""Half the width of an interval relative to its middle: a learner errs by so much however many rows there
are; beyond, the number of bugs cannot be told."""


@dataclass(frozen=True, eq=False)
class Judgement:
    """What the mixture makes of every row."""

    quality: Array
    """The probability that the given label is right."""
    fixes: Ints
    """The most probable other label."""
    disputed: Mask
    """Rows whose most probable label is not the given one."""
    number: BugCount | None
    """How many labels are wrong; None if that cannot be told."""


def judge(problem: Problem, mixture: Mixture) -> Judgement:
    """Probabilities from the evidence, and from how labels seem to be confused."""
    y, k, rows = problem.y, problem.k, np.arange(problem.n)
    others = ~np.eye(k, dtype=bool)
    confused = np.log(confusion(problem, mixture))
    # How likely a change is at all is in the evidence; which change is likely, in the confusion.
    evidence = mixture.evidence + np.where(others, confused - confused[others].mean(), 0.0)[y]
    other = evidence.copy()
    other[rows, y] = -np.inf
    disputed = other.max(axis=1) > evidence[rows, y]
    quality = np.exp(-losses(SURER * evidence, y))
    return Judgement(quality, other.argmax(axis=1), disputed, _count(problem, mixture, disputed))


def _count(problem: Problem, mixture: Mixture, disputed: Mask) -> BugCount | None:
    """Disputed rows, and as many of them as are left if the mixture errs as it does on trusted items.

    Of m items with e errors the next one is wrong with probability (e + 1)/(m + 2).
    """
    n, count = problem.n, int(disputed.sum())
    errors = int((mixture.trusted.argmax(axis=1) != problem.y_trusted).sum())
    wrong = (errors + 1) / (problem.m + 2)
    fewer = n * max(0.0, (count / n - wrong) / (1 - wrong))
    low, high = float(max(fewer - np.sqrt(fewer), 0)), float(min(count + np.sqrt(count), n))
    middle, half = (low + high) / 2, (high - low) / 2
    if half > WIDEST * middle:
        return None
    half = max(half, NARROWEST * middle)
    return BugCount(middle, middle - half, min(middle + half, n))
