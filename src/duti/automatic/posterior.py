"""From weighed hypotheses to probabilities, fixes, a number of bugs and a verdict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from duti.arrays import Array, Mask, Targets
from duti.automatic.evidence import Evidence, of_labels
from duti.automatic.given import FLOORS, RATES, wrong_if_flipped
from duti.automatic.power import power
from duti.claims import CONFIDENCE, BugCount, Power, Verdict

INTERVAL = 2 * CONFIDENCE - 1
"""The probability that the number of bugs lies in its interval: either end is passed with 5 %."""
WIDEST = 0.04
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
    problem, weights = evidence.problem, evidence.weights
    none, random, of_groups = weights.hypotheses
    if systematic is not None:
        random, of_groups = (1 - none) * (1 - systematic), (1 - none) * systematic
    if_random = _if_random(evidence)
    share = float(weights.shares @ RATES)
    located = _with_mean(evidence.suspected, share * float(evidence.judged.mean()))
    # Learners that do not know where the bugs are leave a share of wrong labels that may be anywhere.
    anywhere = np.where(evidence.judged, weights.located * located + (1 - weights.located) * share, 0)
    wrong = _recalibrated(random * if_random + of_groups * anywhere, evidence)
    # For the order alone: where bugs are systematic, labels may be flipped now and then as well.
    unlikely = 1 - of_labels(evidence.q, problem.y)
    others = random * evidence.q + of_groups * evidence.q_helped
    others[np.arange(problem.n), problem.y] = 0
    best = others.max(axis=1) / np.maximum(others.sum(axis=1), CERTAIN)
    verdict = verdict_of(np.array([none, random, of_groups]), float(wrong.sum()))
    return Posterior(
        wrong=wrong,
        score=(1 - of_groups) * unlikely + of_groups * evidence.suspected,
        candidates=others.argmax(axis=1),
        changed=(wrong > 1 / 2) & (wrong * best > 1 - wrong),
        number=_number(evidence, float(wrong.sum())),
        verdict=verdict,
        reason=_reason(evidence, np.array([none, random, of_groups])),
        systematic=None if verdict is Verdict.NO_EVIDENCE else float(of_groups / (random + of_groups)),
        power=power(evidence.g_trusted.max(axis=1), problem.k),
    )


def _if_random(evidence: Evidence) -> Array:
    """The mean of P(wrong) over rates of flips."""
    q, weights = of_labels(evidence.q, evidence.problem.y), evidence.weights.random
    wrong = [wrong_if_flipped(q, rate, evidence.problem.k) for rate in FLOORS.tolist()]
    return np.asarray(weights @ np.array(wrong) / weights.sum())


def _with_mean(wrong: Array, mean: float) -> Array:
    """Probabilities with another mean: log-odds are shifted by as much as it takes; zeros stay.

    >>> _with_mean(np.array([0.0, 0.5, 0.9]), 0.3).round(1)
    array([0. , 0.2, 0.7])
    """
    some = wrong > 0
    if not 0 < mean * len(wrong) < some.sum():
        return wrong
    odds, most = logit(np.clip(wrong[some], CERTAIN, 1 - CERTAIN)), -float(logit(CERTAIN))

    def excess(shift: float) -> float:
        return float(expit(odds + shift).sum()) - mean * len(wrong)

    found = np.zeros_like(wrong)
    found[some] = expit(odds + brentq(excess, -2 * most, 2 * most))
    return found


def _recalibrated(wrong: Array, evidence: Evidence) -> Array:
    """By what was found of verified rows: a shift of the log-odds, N(0, 1) beforehand.

    Fair as long as rows were chosen by what the learners know of them, such as the ranking.
    """
    number = len(evidence.found_wrong)
    if not number:
        return wrong
    expected = _odds(_expected_of_pairs(evidence))

    def slope(shift: float) -> float:
        return float((expit(expected + shift) - evidence.found_wrong).sum()) + shift

    shift = brentq(slope, -number, number)
    return np.where(wrong > 0, expit(_odds(wrong) + shift), 0.0)


def _expected_of_pairs(evidence: Evidence) -> Array:
    """The probability that each verified row was wrong, before anybody looked."""
    (items, given), weights = evidence.problem.pairs, evidence.weights
    _, random, of_groups = weights.hypotheses
    floor = int(weights.random.argmax())
    p = evidence.given.trusted(floor)[items, given]
    flipped = wrong_if_flipped(p, float(FLOORS[floor]), evidence.problem.k)
    return np.asarray(random * flipped + of_groups * evidence.disputed_pairs)


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


def _number(evidence: Evidence, expected: float) -> BugCount | None:
    """Flips at some rate, or a share of systematic bugs."""
    weights, n = evidence.weights, evidence.problem.n
    shares = np.concatenate([[0.0], FLOORS, RATES])
    weight = np.concatenate([[weights.none.sum()], weights.random, weights.systematic * weights.shares])
    return number_of_bugs(n * shares, weight, expected, n)


def number_of_bugs(numbers: Array, weights: Array, expected: float, n: int) -> BugCount | None:
    """The shortest interval that is probable enough; None if it is too wide to be told.

    >>> number_of_bugs(np.array([0.0, 10.0, 20.0]), np.array([0.95, 0.03, 0.02]), 1.0, 100).high
    0.0
    """
    order = np.argsort(numbers, kind="stable")
    below, sorted_numbers = np.cumsum(weights[order]) / weights.sum(), numbers[order]
    starts = np.concatenate([[0.0], below[below < 1 - INTERVAL]])
    low = np.interp(starts, below, sorted_numbers)
    high = np.interp(starts + INTERVAL, below, sorted_numbers)
    best = int((high - low).argmin())
    interval = float(low[best]), min(float(high[best]), float(n))
    if interval[1] - interval[0] > max(sum(interval) / 2, WIDEST * n):
        return None
    return BugCount(min(max(expected, interval[0]), interval[1]), *interval)
