"""From weighed hypotheses to probabilities, fixes, a number of bugs and a verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, softmax
from scipy.stats import norm

from duti.arrays import Array, Mask, Targets
from duti.automatic.evidence import Evidence, odds, systematic_if
from duti.automatic.given import SLIPS
from duti.automatic.power import DRAWS, power
from duti.claims import BugCount, Power, Verdict

SPREAD = 0.3
"""Numbers of wrong labels are told up to a factor e^±0.3: the standard deviation of the logarithm on
tables with bugs, where there are many. 0.25 instead: in its interval .76 of them instead of .81, told .57
instead of .54."""
INTERVAL = 0.85
"""The probability that the number of bugs lies in its interval."""
WIDEST = 2 * SLIPS
"""A number is told if its interval is no wider than ± 50 %, or than this share of the rows."""
CERTAIN = float(np.sqrt(np.finfo(float).eps))
"""No probability is closer to 0 or 1, so that it has log-odds."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is claimed of every row, and of all of them."""

    wrong: Array
    """(n,): the probability that the given label is wrong."""
    score: Array
    """The same if there are bugs at all: what rows are ranked by."""
    candidates: Targets
    """The most probable other label; in regression the value that is expected."""
    changed: Mask
    """More probably wrong than right, and the candidate is more probable than the given label."""
    number: BugCount | None
    """How many labels are wrong; None if that cannot be told."""
    verdict: Verdict
    reason: str
    systematic: float | None
    """The probability that bugs are systematic if there are any; None without evidence of any."""
    power: Power

    @property
    def flagged(self) -> Mask:
        """More probably wrong than right."""
        return np.asarray(self.wrong > 1 / 2)


def posterior(evidence: Evidence, systematic: float | None = None) -> Posterior:
    """What the hypotheses make of every row."""
    problem, known = evidence.problem, evidence.hypotheses
    if systematic is not None:
        known = replace(known, systematic=systematic)
    score = _recalibrated(evidence.wrong(evidence.rows, replace(known, bugs=1.0)), evidence)
    shares = _shares(evidence, float(score.mean()))
    if problem.verified_at_random:
        score = _with_mean(score, shares.if_some)
    wrong = known.bugs * score
    others = _candidates(evidence, known.systematic)
    best = others.max(axis=1) / np.maximum(others.sum(axis=1), CERTAIN)
    verdict = verdict_of(known.probabilities, float(wrong.sum()))
    return Posterior(
        wrong=wrong,
        score=score,
        candidates=others.argmax(axis=1),
        changed=(wrong > 1 / 2) & (wrong * best > 1 - wrong),
        number=number_of_bugs(
            problem.n * shares.values.ravel(),
            shares.weights(known.bugs).ravel(),
            float(wrong.sum()),
            problem.n,
        ),
        verdict=verdict,
        reason=_reason(evidence, known.probabilities),
        systematic=None if verdict is Verdict.NO_EVIDENCE else known.systematic,
        power=power(evidence.g_trusted.max(axis=1), problem.k, partial(systematic_if, k=problem.k)),
    )


def _candidates(evidence: Evidence, systematic: float) -> Array:
    """(n, k): how probable it is that each other label is the true one, P(true j | x, given y) ∝ q_j T_jy."""
    q = (1 - systematic) * evidence.truth.rows + systematic * evidence.helped.rows
    others = q * evidence.confusions.matrix[:, evidence.problem.y].T
    others[np.arange(len(others)), evidence.problem.y] = 0
    return np.asarray(others)


def _recalibrated(score: Array, evidence: Evidence) -> Array:
    """By what was found of verified rows."""
    expected = evidence.wrong(evidence.pairs, replace(evidence.hypotheses, bugs=1.0))
    shift = evidence.shift(odds(expected))
    return np.asarray(expit(_odds(score) + shift)) if shift else score


def _with_mean(score: Array, mean: float) -> Array:
    """Probabilities whose log-odds are shifted until this is their mean.

    >>> _with_mean(np.array([0.1, 0.5]), 0.5).round(2)
    array([0.25, 0.75])
    """
    known, farthest = _odds(score), 2 * float(logit(1 - CERTAIN))
    shift = brentq(lambda shift: float(expit(known + shift).mean()) - mean, -farthest, farthest)
    return np.asarray(expit(known + shift))


def _odds(p: Array) -> Array:
    return np.asarray(logit(np.clip(p, CERTAIN, 1 - CERTAIN)))


def verdict_of(hypotheses: Array, expected: float) -> Verdict:
    """What is most probable, if it is more probable than all else; less than one bug is none."""
    names = (Verdict.NO_EVIDENCE, Verdict.RANDOM, Verdict.SYSTEMATIC)
    best = int(hypotheses.argmax())
    if best and expected < 1:
        return Verdict.NO_EVIDENCE
    return names[best] if hypotheses[best] > 1 / 2 else Verdict.CANNOT_TELL


def _reason(evidence: Evidence, probability: Array) -> str:
    """What the trusted items say of a learner of the labels as given."""
    problem, g = evidence.problem, evidence.g_trusted
    right = int((g.argmax(axis=1) == problem.y_trusted).sum())
    return (
        f"A learner of the labels as given expects to be right on {g.max(axis=1).sum():.1f} of {problem.m} "
        f"trusted items and is right on {right}. {in_words(probability)}"
    )


def in_words(probability: Array) -> str:
    """The probabilities of the hypotheses, in words.

    >>> in_words(np.array([0.999, 0.001, 0.0]))
    'Probabilities: no wrong labels > 99 %, random ones < 1 %, systematic ones < 1 %.'
    """
    rounded = {"0%": "< 1%", "100%": "> 99%"}
    shown = (f"{p:.0%}" for p in probability.tolist())
    none, random, systematic = (rounded.get(p, p).replace("%", " %") for p in shown)
    return f"Probabilities: no wrong labels {none}, random ones {random}, systematic ones {systematic}."


@dataclass(frozen=True, eq=False)
class _Shares:
    """Of wrong labels, and how probable they are: without bugs to speak of, and with some."""

    values: Array
    """(2, draws)."""
    probable: Array
    """(2, draws): each sums to one."""

    @property
    def if_some(self) -> float:
        """The mean share."""
        return float(self.values[1] @ self.probable[1])

    def weights(self, bugs: float) -> Array:
        """Of both together."""
        return np.array([[1 - bugs], [bugs]]) * self.probable


def _shares(evidence: Evidence, expected: float) -> _Shares:
    """Hardly any, or, up to a factor, as many as are expected; what was found at random tells more of it."""
    deviations = norm.ppf((np.arange(DRAWS) + 1 / 2) / DRAWS)
    shares = np.array([SLIPS * abs(deviations), expected * np.exp(SPREAD * deviations)]).clip(
        CERTAIN, 1 - SLIPS
    )
    told = np.zeros_like(shares)
    if evidence.problem.verified_at_random:
        wrong = int(evidence.found_wrong.sum())
        told = wrong * np.log(shares) + (len(evidence.found_wrong) - wrong) * np.log1p(-shares)
    return _Shares(shares, softmax(told, axis=1))


def number_of_bugs(numbers: Array, weights: Array, expected: float, n: int) -> BugCount | None:
    """The shortest interval that is probable enough, in whole labels; None if it is too wide to be told.

    >>> number_of_bugs(np.array([0.0, 10.0, 20.0]), np.array([0.95, 0.03, 0.02]), 1.0, 100).high
    0.0
    """
    order = np.argsort(numbers, kind="stable")
    below, sorted_numbers = np.cumsum(weights[order]) / weights.sum(), numbers[order]
    starts = np.concatenate([[0.0], below[below < 1 - INTERVAL]])
    low = np.interp(starts, below, sorted_numbers)
    high = np.interp(starts + INTERVAL, below, sorted_numbers)
    best = int((high - low).argmin())
    interval = float(np.floor(low[best])), min(float(np.ceil(high[best])), float(n))
    if interval[1] - interval[0] > max(sum(interval) / 2, WIDEST * n):
        return None
    return BugCount(min(max(expected, interval[0]), interval[1]), *interval)
