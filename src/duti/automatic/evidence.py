"""What rows and trusted items say: is anything wrong, is it systematic, and which labels it is.

g(x) predicts the labels as given (`given`), q(x) the true ones (`stacking`), T how the latter became the
former (`transitions`). A few statistics of the table weigh three hypotheses (`BUGS`, `SYSTEMATIC`):

    items      how many could have contradicted
    floor      log-likelihood of the rows: how much better g predicts them with a floor, which flips leave,
               than anything without one
    contrary   log-likelihood of the items: how much better a share of them that contradicts g explains them
    surprise   z: how much more of the items g disputes than it expects to, in standard deviations
    easier     log-likelihood of the items: how much better g predicts them if it is surer, since flips make
               it unsure
    gain       log-likelihood of the items: how much better q predicts them than g
    bias       log-likelihood of the rows: how much better confusions of classes explain them than flips

and a few of each row say which labels are wrong (`LABELS`):

    unlikely   log-odds of 1 − q_y
    disputed   log-odds of 1 − min(1, q_y/g_y): what learners with trusted items and g cannot share
    direction  log T from the candidate to the given label, relative to the largest
    given      log (k − 1) g_y: even flips leave each of the other labels a (k − 1)th of their rate

Both are logistic regressions whose weights were fitted on tables with known bugs (`fitted`).

Rows that somebody verified show whether their given label was wrong. They are left out of the rows, so that
no learner has seen them. Their likelihood is that of being wrong or not, given their features and label: it
holds however they were chosen. All else is told by other items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, logsumexp

from duti.arrays import Array, Ints, Mask
from duti.automatic.fitted import BUGS, LABELS, SYSTEMATIC
from duti.automatic.given import (
    COUNT,
    FLOORS,
    RATES,
    SLIPS,
    SMALLEST_CHANGE,
    Given,
    average,
    contradicted,
    flipped,
    of_labels,
)
from duti.automatic.predictions import FACTORS, Kind, Prediction
from duti.automatic.stacking import Average, Family, Pool, families, pooled, softened
from duti.automatic.transitions import Transitions, transitions
from duti.problem import Problem

SURER = FACTORS[FACTORS >= 1]
"""Factors of scores that might be surer."""
STATISTICS = ("items", "floor", "contrary", "surprise", "easier", "gain", "bias")
"""Of a table, as listed above."""
DISPUTING = (Kind.TRUSTED, Kind.DEBUGGED)
"""Learners that may know of systematic bugs."""
HELPED = (Kind.POOLED, *DISPUTING)
"""Learners that trusted items have a part in."""
HONEST = (Kind.POOLED, Kind.TRUSTED)
"""Those of them whose predictions of left-out items are as good as they seem."""


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """Probabilities of three hypotheses."""

    bugs: float
    """That labels are wrong at all."""
    systematic: float
    """That this is systematic, if they are."""

    @property
    def probabilities(self) -> Array:
        """None, random, systematic; they sum to one."""
        bugs, systematic = self.bugs, self.systematic
        return np.array([1 - bugs, bugs * (1 - systematic), bugs * systematic])


@dataclass(frozen=True, eq=False)
class Signs:
    """What is known of some rows with labels, rows or verified ones."""

    q: Array
    helped: Array
    g: Array
    """(n, k): probabilities."""
    disputed: Array
    """(n,)."""
    labels: Ints


class Evidence:
    """All predictions, ready to be weighed."""

    def __init__(
        self, problem: Problem, predictions: Sequence[Prediction], hypotheses: Hypotheses | None = None
    ) -> None:
        """`hypotheses`: how probable they are, if that is known from more learners of fewer rows."""
        self.problem, self._known = problem, hypotheses
        finite = [p for p in predictions if np.isfinite(p.rows).all() and np.isfinite(p.trusted).all()]
        self.learners = [p for p in finite if p.kind is Kind.GIVEN]
        self.given: Given = average(self.learners, problem)
        best, k = self.given.best, problem.k
        rate = float(FLOORS[best])
        self.g_rows = flipped(self.given.rows(best), rate, k)
        self.g_trusted = flipped(self.given.trusted(best), rate, k)
        self.averages: dict[Family, Average] = families(finite, problem.y, problem.y_trusted)

    @cached_property
    def judged(self) -> Mask:
        """Rows whose given label some trusted item has: only these can be judged by what items say."""
        return np.isin(self.problem.y, self.problem.y_trusted)

    @cached_property
    def truth(self) -> Pool:
        """q, by learners that are not free to choose which labels to change."""
        return self._pooled({Kind.GIVEN, *HONEST})

    @cached_property
    def helped(self) -> Pool:
        """q by learners that trusted items have a part in."""
        return self._pooled(HELPED)

    @cached_property
    def honest(self) -> Pool:
        """The same without debugged ones."""
        return self._pooled(HONEST)

    def _pooled(self, kinds: Sequence[Kind] | set[Kind]) -> Pool:
        """Rows of a class that no trusted item has are judged only by learners that can know it."""
        pool = pooled(self.averages, kinds, self.problem.y_trusted)
        if self.judged.all():
            return pool
        alone = pooled(self.averages, {Kind.GIVEN}, self.problem.y_trusted)
        return Pool(pool.weights, np.where(self.judged[:, None], pool.rows, alone.rows), pool.trusted)

    @cached_property
    def confusions(self) -> Transitions:
        """T, class by class."""
        return transitions(self.truth.rows, self.problem.y, classwise=True)

    @cached_property
    def disputed(self) -> Array:
        """(n,): what learners with trusted items and g cannot share; families count the same."""
        y = self.problem.y
        g = np.maximum(of_labels(self.g_rows, y), SLIPS / self.problem.k)
        found = [one.disputed([p.rows for p in one.predictions], y, g) for one in self._disputing]
        return np.where(self.judged, np.mean(found, axis=0) if found else 0.0, 0.0)

    @cached_property
    def disputed_pairs(self) -> Array:
        """The same of the given labels of verified rows."""
        items, given = self.problem.pairs
        g = np.maximum(of_labels(self.g_trusted[items], given), SLIPS / self.problem.k)
        found = [
            one.disputed([p.trusted[items] for p in one.predictions], given, g) for one in self._disputing
        ]
        return np.asarray(np.mean(found, axis=0) if found else np.zeros(len(items)))

    @property
    def _disputing(self) -> list[Average]:
        return [one for (kind, _), one in self.averages.items() if kind in DISPUTING]

    @cached_property
    def found_wrong(self) -> Mask:
        """Verified rows whose given label was wrong."""
        items, given = self.problem.pairs
        return np.asarray(given != self.problem.y_trusted[items])

    @cached_property
    def fair(self) -> Mask:
        """Items that nobody chose among the rows."""
        fair = np.ones(self.problem.m, dtype=bool)
        fair[self.problem.pairs[0]] = False
        return fair

    @property
    def satisfied(self) -> Mask:
        """Trusted items that g agrees with."""
        return np.asarray(self.g_trusted.argmax(axis=1) == self.problem.y_trusted)

    @cached_property
    def statistics(self) -> dict[str, float]:
        """Of the table, by name."""
        problem, g = self.problem, self.g_items[self.fair]
        count = min(COUNT, problem.n)
        honest = self.honest.rows
        flips, confusions = (transitions(honest, problem.y, classwise=one) for one in (False, True))
        q_items = of_labels(self.truth.trusted, problem.y_trusted)[self.fair]
        return {
            "items": float(len(g)),
            "floor": count * float(self.given.told[self.given.best] - self.given.plain),
            "contrary": float(contrary(g, problem.k)),
            "surprise": float(
                surprise(of_labels(self.g_trusted, problem.y_trusted)[self.fair], self.g_trusted[self.fair])
            ),
            "easier": self._easier(),
            "gain": float(np.log(q_items / g).sum()),
            "bias": count * (confusions.told - flips.told),
        }

    def _easier(self) -> float:
        """log mean_f Π softmax(f s)_ỹ / g_ỹ over factors f ≥ 1: s has no floor."""
        best, labels = self.given.best, self.problem.y_trusted
        scores = self.given.factors[best] * self.given.prediction.trusted
        told = [
            np.log(of_labels(softened(f * scores), labels) / self.g_items)[self.fair].sum() for f in SURER
        ]
        return float(logsumexp(told) - np.log(len(SURER)))

    @cached_property
    def g_items(self) -> Array:
        """(m,): g of each trusted label."""
        P = (1 - SLIPS) * self.g_trusted + SLIPS / self.problem.k
        return of_labels(P, self.problem.y_trusted)

    @cached_property
    def hypotheses(self) -> Hypotheses:
        """By the statistics, and by what was found of verified rows."""
        if self._known is not None:
            return self._known
        statistics = flattened(self.statistics)
        bugs, systematic = BUGS(statistics), SYSTEMATIC(statistics)
        if not len(self.found_wrong):
            return Hypotheses(float(expit(bugs)), float(expit(systematic)))
        none = self._seen(np.full(len(self.found_wrong), odds(np.zeros(1))))
        kinds = [self._seen_if(kind) for kind in (0.0, 1.0)]
        prior = np.log([expit(-systematic), expit(systematic)])
        some = float(logsumexp(prior + kinds))
        return Hypotheses(float(expit(bugs + some - none)), float(expit(systematic + kinds[1] - kinds[0])))

    @cached_property
    def rows(self) -> Signs:
        """What is known of the rows."""
        return Signs(self.truth.rows, self.helped.rows, self.g_rows, self.disputed, self.problem.y)

    @cached_property
    def pairs(self) -> Signs:
        """What is known of verified rows, of which no learner has seen the label."""
        items, given = self.problem.pairs
        q, helped, g = self.truth.trusted, self.helped.trusted, self.g_trusted
        return Signs(q[items], helped[items], g[items], self.disputed_pairs, given)

    def features(self, some: Signs) -> dict[str, Array]:
        """Of some rows, by name."""
        q, labels, k = some.q, some.labels, self.problem.k
        candidates = some.helped.copy()
        candidates[np.arange(len(labels)), labels] = 0
        to_given = self.confusions.matrix[candidates.argmax(axis=1), labels]
        return {
            "unlikely": odds(1 - of_labels(q, labels)),
            "disputed": odds(some.disputed),
            "direction": np.log(to_given / self.confusions.rate + SLIPS),
            "given": np.log((k - 1) * of_labels(some.g, labels).clip(SLIPS / k)),
        }

    def wrong(self, some: Signs, hypotheses: Hypotheses) -> Array:
        """The probability that each label is wrong."""
        return np.asarray(hypotheses.bugs * expit(LABELS(self.features(some), hypotheses.systematic)))

    def shared_weights(self) -> list[tuple[Prediction, float]]:
        """What every prediction counts: those of q, and where bugs are systematic those that trusted items
        have a part in."""
        _, _, systematic = self.hypotheses.probabilities
        shares = dict.fromkeys(self.averages, 0.0)
        for share, pool in ((1 - systematic, self.truth), (systematic, self.helped)):
            total = sum(pool.weights.values())
            for family, weight in pool.weights.items():
                shares[family] += share * (weight / total if total else 1 / len(pool.weights))
        return [
            (p, shares[family] * weight)
            for family, one in self.averages.items()
            for p, weight in zip(one.predictions, one.weights.tolist(), strict=True)
        ]

    def shift(self, log_odds: Array) -> float:
        """What log-odds that verified rows are wrong are off by: the most probable, N(0, 1) beforehand.

        Fair as long as rows were chosen by what the learners know of them, such as the ranking.
        """
        number, found = len(self.found_wrong), self.found_wrong

        def slope(shift: float) -> float:
            return float((expit(log_odds + shift) - found).sum()) + shift

        return float(brentq(slope, -number, number)) if number else 0.0

    def _seen_if(self, systematic: float) -> float:
        """Log-likelihood of what was found of verified rows, if bugs are systematic or not.

        How many of them are wrong tells neither, unless they were drawn at random; which of them, does.
        """
        log_odds = odds(self.wrong(self.pairs, Hypotheses(1.0, systematic)))
        shift = self.shift(log_odds)
        return self._seen(log_odds + shift) - shift**2 / 2

    def _seen(self, log_odds: Array) -> float:
        """The same, if these are the log-odds that they are wrong."""
        return float(-np.logaddexp(0, np.where(self.found_wrong, -log_odds, log_odds)).sum())


def contrary(g: Array, k: int) -> Array:
    """log Σ_s π_s Π ((1 − s) g + s (1 − g)/(k − 1))/g: a share s of the items contradicts g.

    Small shares are more probable beforehand, π_s ∝ e^(−10 s).

    >>> contrary(np.full(40, 0.95), 2) < 0 < contrary(np.array([0.95] * 36 + [0.05] * 4), 2)
    np.True_
    """
    prior = -SMALLEST_CHANGE * RATES
    told = (contradicted(g, k) - np.log(g)[..., None, :]).sum(axis=-1)
    return np.asarray(logsumexp(prior + told, axis=-1) - logsumexp(prior))


def surprise(right: Array, g: Array) -> Array:
    """How much more of the items g disputes than it expects to, in standard deviations.

    `right`: g of the true labels (…, m); `g`: of all (m, k).

    >>> round(float(surprise(np.full(100, 0.5), np.full((100, 2), 0.5))), 2)
    0.0
    """
    agreeing = (g**2).sum(axis=1)
    variance = (g * g**2).sum(axis=1) - agreeing**2
    return np.asarray((agreeing - right).sum(axis=-1) / np.sqrt(variance.sum() + SLIPS))


def systematic_if(right: Array, sure: Array, k: int) -> Array:
    """The probability of systematic bugs by what contradicts g alone, for `power`."""
    g = np.tile(((1 - sure) / (k - 1))[:, None], k)
    g[:, 0] = sure
    known = {"contrary": contrary(right, k), "surprise": surprise(right, g)}
    named = flattened(dict.fromkeys(STATISTICS, np.zeros(len(right))) | known | {"items": float(len(sure))})
    return np.asarray(expit(BUGS(named)) * expit(SYSTEMATIC(named)))


def flattened(statistics: dict[str, Any]) -> dict[str, Any]:
    """sign(x) log(1 + |x|): what is far out says little more, since no model holds so far out.

    >>> flattened({"gain": -1.0})
    {'gain': np.float64(-0.6931471805599453)}
    """
    return {name: np.sign(x) * np.log1p(abs(x)) for name, x in statistics.items()}


def odds(p: Array) -> Array:
    """Log-odds of probabilities that are never closer to 0 or 1 than a slip."""
    return np.asarray(logit(np.clip(p, SLIPS / 2, 1 - SLIPS / 2)))
