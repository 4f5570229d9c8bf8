"""From evidence to probabilities, fixes and a number of bugs.

A label is disputed if another one has more evidence. (Learners that correct confused classes have no say in
this: they know which labels are wrong, not how many.) How many of the disputed rows are
bugs depends on how good the learners are: if they err on a fraction e of trusted items that they have
not learnt from, as many rows are disputed without being bugs. The truth lies between (d − e)/(1 − e) and d of
the rows, for d of them disputed; the more items there are, the more is e believed, and the sooner that over a
fifth of the labels are wrong. Probabilities are shifted, all log-odds by the same amount, until they sum to
that number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from duti.arrays import Array, Ints, Mask
from duti.automatic.mixture import Mixture, replacements
from duti.automatic.voices import losses
from duti.opinions import BugCount
from duti.problem import Problem

SURER = 0.7
"""A mean of log-odds is less sure than learners that agree: a factor of 1 + 0.7/(k − 1) makes up for it,
which is less for many classes, any of which may be taken for the truth by mistake."""
HALF_BELIEVED = 5
"""With so many trusted items for each class their errors count half as much as with very many."""
USUAL, CONVINCING = 0.2, 10
"""What is above this fraction of the rows is believed by half if there are so many items for each class."""
FEWEST, MOST = 0.42, 1.22
"""The number of bugs, relative to that of disputed rows, in six of seven cases where the truth is known."""
DOUBT = 0.5
"""Errors on trusted items explain all disputes if they are more frequent by so many standard errors."""
PLAUSIBLE = 0.1
"""A budget is spent on labels that are wrong with at least this probability."""
SURE = 1e-9
"""No probability is closer to 0 or 1."""


@dataclass(frozen=True, eq=False)
class Judgement:
    """What the mixture makes of every row."""

    quality: Array
    """The probability that the given label is right."""
    fixes: Ints
    """The most probable other label."""
    flagged: Mask
    """As many as there are disputed labels, the most suspicious ones."""
    plausible: Mask
    """Labels that may well be wrong."""
    number: BugCount | None
    """How many labels are wrong; None if that cannot be told."""


def judge(problem: Problem, mixture: Mixture) -> Judgement:
    """Probabilities from the evidence, and from how labels seem to be confused."""
    y, k = problem.y, problem.k
    others = ~np.eye(k, dtype=bool)
    confused = np.log(replacements(problem, mixture))
    # How likely a change is at all is in the evidence; which change is likely, in the confusion: random
    # bugs have none.
    change = np.where(others, confused - confused[others].mean(), 0.0)
    evidence = mixture.evidence + mixture.systematic * change[y]
    count = float(disputed(mixture.uncorrected, y).sum())
    fewer = _without_errors(problem, mixture, count)
    expected = count - (count - fewer) * 0.5 * _believed(problem, HALF_BELIEVED)
    beyond = max(expected - USUAL * problem.n, 0.0)
    expected -= beyond * (1 - _believed(problem, CONVINCING))
    wrong = summing_to(expected, 1 - np.exp(-losses((1 + SURER / (k - 1)) * evidence, y)))
    flagged = np.zeros(problem.n, dtype=bool)
    flagged[np.argsort(-wrong, kind="stable")[: int(count)]] = True
    number = _number(problem, mixture, expected, count)
    return Judgement(1 - wrong, mixture.fixes(y), flagged, wrong >= PLAUSIBLE, number)


def disputed(evidence: Array, y: Ints) -> Mask:
    """Rows for which another label has more evidence than the given one.

    >>> disputed(np.array([[0.0, -1.0], [0.0, -1.0]]), np.array([0, 1]))
    array([False,  True])
    """
    return np.asarray(evidence.max(axis=1) > evidence[np.arange(len(y)), y])


def summing_to(total: float, probabilities: Array) -> Array:
    """Probabilities with their log-odds shifted, all by the same amount, until they sum to a number.

    >>> summing_to(1.0, np.array([0.9, 0.5, 0.5])).round(2)
    array([0.65, 0.17, 0.17])
    """
    odds = logit(np.clip(probabilities, SURE, 1 - SURE))
    number = len(probabilities)
    total = min(max(total, SURE * number), (1 - SURE) * number)
    far = 2 * float(abs(odds).max()) + abs(float(logit(total / number))) + 1
    return np.asarray(expit(odds + brentq(lambda shift: float(expit(odds + shift).sum()) - total, -far, far)))


def _believed(problem: Problem, half: int) -> float:
    """How far the trusted items are believed, if so many for each class were believed by half."""
    return problem.m / (problem.m + half * problem.k)


def _without_errors(problem: Problem, mixture: Mixture, count: float) -> float:
    """As many of the disputed rows as are left if learners err on rows as they do on trusted items.

    Of m items with e errors the next one is wrong with probability (e + 1)/(m + 2).
    """
    n, wrong = problem.n, (_errors(problem, mixture) + 1) / (problem.m + 2)
    return n * max(0.0, (count / n - wrong) / (1 - wrong))


def _number(problem: Problem, mixture: Mixture, expected: float, count: float) -> BugCount | None:
    """Between bounds that were found where the truth is known; None if errors explain all disputes."""
    wrong = _errors(problem, mixture) / problem.m
    if wrong - DOUBT * (wrong * (1 - wrong) / problem.m) ** 0.5 >= count / problem.n:
        return None
    low, high = FEWEST * count, min(MOST * count, float(problem.n))
    return BugCount.told(min(max(expected, low), high), low, high)


def _errors(problem: Problem, mixture: Mixture) -> int:
    """On trusted items that learners have not learnt from."""
    return int((mixture.honestly_trusted.argmax(axis=1) != problem.y_trusted).sum())
