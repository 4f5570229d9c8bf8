"""Three hypotheses, weighed by held-out rows and trusted items together: no, random, systematic bugs.

g(x) predicts the labels as given, and has a floor ρ₀ (`given`); q(x) predicts the true ones (`stacks`):
learners of every kind, weighed by trusted items that they have not seen. Items have the probabilities

    none         g(ỹ): what looks like noise is noise. A floor by nature is small: prior e^(−ρ₀/ν)
    random       p(ỹ), without the floor: labels were flipped at the rate ρ₀. Prior e^(−A ρ₀)
                 or q(ỹ), if q, flipped at some rate, predicts the rows as well as g does
    systematic   (1 − s) g(ỹ) + s (1 − g(ỹ))/(k − 1): a share s of the items contradicts g. Prior e^(−A s)
                 or q(ỹ), if a learner that trusted items have a part in describes the bug

and the rows have their own likelihood of each floor. If the learner of the given labels predicts the trusted
items as well as it says it does, nothing is wrong, whatever the Bayes error; if items are easier than g says,
labels were flipped; if g is sure and wrong, or knows more of the rows than flips of q, bugs are systematic.
e^(−A s) is DUTI's principle: the smallest change that explains the trusted items.

The share of wrong labels is how much more often q is wrong about rows than about trusted items (`_share`).

Rows that somebody verified show whether their given label was wrong. They are left out of the rows, so that
no learner has seen them. Their likelihood is that of being wrong or not, given their features and label: it
holds however they were chosen. Only those that were drawn at random tell the share s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy.special import expit, logsumexp, ndtr

from duti.arrays import Array, Ints, Mask
from duti.automatic.given import AVERAGED, FLOORS, RATES, TINY, Given, average, flipped, wrong_if_flipped
from duti.automatic.predictions import FACTORS, Kind, Prediction, losses
from duti.learners.losses import softmax
from duti.problem import Problem

PRIOR = {"none": 3 / 4, "random": 1 / 6, "touched": 1 / 24, "described": 1 / 24}
"""Three of four tables are fine; single slips are twice as frequent as a wrong rule, which a learner can
describe or not."""
SMALLEST_CHANGE = 10.0
"""A: a share of 10 % of wrong labels is e times less probable than none."""
TEMPER = 1 / 2
"""Of the log-likelihood of items that weighs learners: of many, some predict a few items by luck. ¼ or 1
instead changes AP by .004 at most."""
SLIPS = 0.02
"""ν: somebody who is trusted may slip, too, and floors of this size are what single outliers leave in clean
tables."""
SPREAD = 0.3
"""Shares of wrong labels are told up to a factor e^±0.3, beside what few items leave open: learners are
not wrong about rows and items quite alike."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Posterior probabilities; all sum to one."""

    none: Array
    """For each floor."""
    random: Array
    """For each floor."""
    systematic: float
    located: float
    """Given systematic bugs, the probability that the learners who dispute labels know where the bugs are."""
    shares: Array
    """Given systematic bugs, the probability of each share of wrong labels in `RATES`."""

    @property
    def hypotheses(self) -> Array:
        """None, random, systematic."""
        return np.array([self.none.sum(), self.random.sum(), self.systematic])


@dataclass(frozen=True, eq=False)
class Stack:
    """Learners of one kind, each made as sure as suits the items best."""

    predictions: tuple[Prediction, ...]
    factors: tuple[float, ...]
    told: Array
    """(learners,): Σ log q(ỹ) over the items, as far as these were left out."""
    unpaired: Array
    """The same without verified rows, which count by whether their given label was wrong."""
    trusted: Array
    """(m, k): the weighted mean of their probabilities of trusted items."""

    @cached_property
    def weights(self) -> Array:
        """By the likelihood of the items, tempered; they sum to one."""
        return tempered(self.told)

    @property
    def weight(self) -> float:
        """The logarithm of what the kind counts next to others, however many learners it has."""
        return float(logsumexp(TEMPER * self.told) - np.log(len(self.told)))

    @property
    def likelihood(self) -> float:
        """Log-likelihood of the items, by any of them."""
        return float(logsumexp(self.unpaired) - np.log(len(self.unpaired)))

    @cached_property
    def rows(self) -> Array:
        """(n, k): the weighted mean of their probabilities."""
        return mean_of(self.weights, self.factors, [p.rows for p in self.predictions])

    def disputed(self, scores: Sequence[Array], labels: Ints, g: Array) -> Array:
        """The weighted mean of 1 − min(1, q/g) of some labels: what q and g cannot share."""
        parts = zip(self.weights, self.factors, scores, strict=True)
        return np.asarray(sum(w * (1 - np.minimum(1, probability(f * s, labels) / g)) for w, f, s in parts))


class Evidence:
    """All predictions, ready to be weighed."""

    def __init__(
        self, problem: Problem, predictions: Sequence[Prediction], hypotheses: Array | None = None
    ) -> None:
        """`hypotheses`: how probable they are, if that is known from more learners of fewer rows."""
        self.problem, self.hypotheses = problem, hypotheses
        finite = [p for p in predictions if np.isfinite(p.rows).all() and np.isfinite(p.trusted).all()]
        self.learners = [p for p in finite if p.kind is Kind.GIVEN]
        self.given: Given = average(self.learners, problem)
        best, k = self.given.best, problem.k
        rate = float(FLOORS[best])
        self.g_rows = flipped(self.given.rows(best), rate, k)
        self.g_trusted = flipped(self.given.trusted(best), rate, k)
        self.g = np.maximum(of_labels(self.g_rows, problem.y), SLIPS / k)
        self.g_items = self._item(self.g_trusted)
        found = {kind: [p for p in finite if p.kind is kind] for kind in Kind}
        self.stacks = {kind: self._stack(kind, alike) for kind, alike in found.items() if alike}
        self.disputing = {kind: stack for kind, stack in self.stacks.items() if kind in DISPUTING}

    @cached_property
    def judged(self) -> Mask:
        """Rows whose given label some trusted item has: only these can be judged by what items say."""
        return np.isin(self.problem.y, self.problem.y_trusted)

    @cached_property
    def disputed(self) -> Array:
        """(n,): what learners with trusted items dispute if bugs are systematic; kinds count the same."""
        y = self.problem.y
        found = [d.disputed([p.rows for p in d.predictions], y, self.g) for d in self.disputing.values()]
        mean = np.mean(found, axis=0) if found else np.zeros(self.problem.n)
        return np.where(self.judged, mean, 0.0)

    @cached_property
    def q(self) -> Array:
        """(n, k): probabilities of the true labels, by learners of all kinds."""
        return self._mean(self.stacks, "rows")

    @cached_property
    def q_helped(self) -> Array:
        """(n, k): the same by learners that trusted items have a part in."""
        return self._mean([kind for kind in self.stacks if kind is not Kind.GIVEN], "rows")

    @cached_property
    def contradicting(self) -> float:
        """Φ(z), z how much more of the items g disputes than it expects to, in standard deviations."""
        g = self.g_trusted
        expected = 1 - (g**2).sum(axis=1)
        variance = (g * (1 - g) ** 2).sum(axis=1) - expected**2
        excess = 1 - of_labels(g, self.problem.y_trusted) - expected
        return float(ndtr(excess.sum() / np.sqrt(variance.sum() + SLIPS)))

    @cached_property
    def suspected(self) -> Array:
        """(n,): if bugs are systematic: what q makes of a label or, if g knows the bugs, what it disputes."""
        y = self.problem.y
        unlikely = 1 - of_labels(self.q_helped, y)
        both = (1 - self.contradicting) * unlikely + self.contradicting * self.disputed
        return np.where(self.judged, both, 0.0)

    @cached_property
    def share(self) -> tuple[float, float]:
        """Of wrong labels if bugs are systematic, by learners that know more than g; its standard error."""
        return self._share(self.disputing)

    def _share(self, kinds: Iterable[Kind]) -> tuple[float, float]:
        """Of wrong labels, and its standard error.

        Learners are wrong about a share b of the items. If they are wrong about the rows as often, and labels
        are wrong independently, they dispute a share a = s + b − s b k/(k − 1) of these.
        """
        kinds = list(kinds)
        rows, items = self._mean(kinds, "rows"), self._mean(kinds, "trusted")
        a = (1 - of_labels(rows, self.problem.y))[self.judged]
        b = (1 - of_labels(items, self.problem.y_trusted))[self._fair]
        left = max(1 - b.mean() * self.problem.k / (self.problem.k - 1), SLIPS)
        error = np.sqrt((b.var() + SLIPS) / len(b))
        return float((a.mean() if len(a) else 0) - b.mean()) / left, float(error / left)

    @cached_property
    def _fair(self) -> Mask:
        """Items that nobody chose among the rows, if there are any."""
        unpaired = self._unpaired > 0
        return unpaired if unpaired.any() else ~unpaired

    @cached_property
    def _any(self) -> float:
        """Log-likelihood of some share of wrong labels, not none, by learners that were not debugged."""
        share, error = self._share([kind for kind in self.stacks if kind is not Kind.DEBUGGED])
        prior = _normal(-SMALLEST_CHANGE * RATES)
        return float(logsumexp(prior + (share**2 - (share - RATES) ** 2) / (2 * error**2)))

    @cached_property
    def _flipped(self) -> Array:
        """Log-likelihood of each rate if rows are q, flipped; the maximum is that of the rows less g's."""
        q, k = of_labels(self.q, self.problem.y), self.problem.k
        told = [np.log(np.maximum(flipped(q, rate, k), TINY)).mean() for rate in RATES.tolist()]
        found = AVERAGED * (np.array(told) - np.log(self.g).mean())
        (items, given), q_items = self.problem.pairs, self._mean(self.stacks, "trusted")
        wrong = [wrong_if_flipped(of_labels(q_items[items], given), rate, k) for rate in RATES.tolist()]
        seen = np.array([self._seen(one) for one in wrong])
        return np.concatenate([[-np.inf], _normal(found) + found.max() + seen])

    def _mean(self, kinds: Iterable[Kind], which: str) -> Array:
        some = [self.stacks[kind] for kind in kinds] or [self.stacks[Kind.GIVEN]]
        weights = np.array([stack.weight for stack in some])
        weights = np.exp(weights - logsumexp(weights))
        return np.asarray(sum(w * getattr(stack, which) for w, stack in zip(weights, some, strict=True)))

    @cached_property
    def disputed_pairs(self) -> Array:
        """What they dispute of the given labels of verified rows."""
        items, given = self.problem.pairs
        g = np.maximum(of_labels(self.g_trusted[items], given), SLIPS / self.problem.k)
        found = [
            d.disputed([p.trusted[items] for p in d.predictions], given, g) for d in self.disputing.values()
        ]
        return np.asarray(np.mean(found, axis=0) if found else np.zeros(len(items)))

    @cached_property
    def found_wrong(self) -> Mask:
        """Verified rows whose given label was wrong."""
        items, given = self.problem.pairs
        return np.asarray(given != self.problem.y_trusted[items])

    @cached_property
    def weights(self) -> Weights:
        """Of all hypotheses."""
        floor = self._rows_told + _normal(-FLOORS / SLIPS)
        none = np.log(PRIOR["none"]) + floor + self._items_if_none + self._seen(np.zeros(1))
        touched = _normal(-SMALLEST_CHANGE * RATES) + self._touched
        unlocated = np.log(PRIOR["touched"]) + logsumexp(touched) + self._seen(self.disputed_pairs)
        described = np.log(PRIOR["described"]) + self._described + self._seen(self.disputed_pairs)
        systematic = logsumexp(floor) + np.logaddexp(unlocated, described)
        rates = np.where(FLOORS > 0, -SMALLEST_CHANGE * FLOORS, -np.inf)
        flips = _normal(rates) + self._rows_told + self._items_if_random
        random = np.log(PRIOR["random"]) + np.logaddexp(
            flips, logsumexp(floor) + self._described + self._flipped
        )
        if self.hypotheses is not None:
            known = np.log(np.maximum(self.hypotheses, TINY))
            none, random, systematic = _normal(none) + known[0], _normal(random) + known[1], known[2]
        total = logsumexp(np.concatenate([none, random, [systematic]]))
        return Weights(
            none=np.exp(none - total),
            random=np.exp(random - total),
            systematic=float(np.exp(systematic - total)),
            located=float(expit(self._located - logsumexp(touched))),
            shares=self._shares,
        )

    @property
    def satisfied(self) -> Mask:
        """Trusted items that g agrees with."""
        return np.asarray(self.g_trusted.argmax(axis=1) == self.problem.y_trusted)

    def shared_weights(self) -> list[tuple[Prediction, float]]:
        """What every prediction counts: g where there are no bugs or random ones, the others elsewhere."""
        systematic = self.weights.systematic if self.disputing else 0.0
        found = [(p, (1 - systematic) * w) for p, w in zip(self.learners, self.given.weights, strict=True)]
        for some in self.disputing.values():
            each = systematic / len(self.disputing) * some.weights
            found += zip(some.predictions, each.tolist(), strict=True)
        return [(p, float(w)) for p, w in found]

    def _stack(self, kind: Kind, alike: Sequence[Prediction]) -> Stack:
        factors = tuple(self._factor(p) for p in alike)
        items = np.array([self._log_items(p, f) for p, f in zip(alike, factors, strict=True)])
        told = items.sum(axis=1)
        trusted = mean_of(tempered(told), factors, [p.trusted for p in alike])
        if kind is Kind.DEBUGGED:
            # Rows that were changed on behalf of a left-out item still speak for it: half of the gain counts.
            items, trusted = (items + np.log(self.g_items)) / 2, (trusted + self.g_trusted) / 2
        return Stack(tuple(alike), factors, items.sum(axis=1), items @ self._unpaired, trusted)

    def _factor(self, p: Prediction) -> float:
        return float(max(FACTORS.tolist(), key=partial(self._fit, p)))

    def _fit(self, p: Prediction, factor: float) -> float:
        """How well a factor suits the items; as it is, a learner is e times as probable as at ± √2."""
        return float(self._log_items(p, factor).sum() - np.log(factor) ** 2 / 2)

    def _log_items(self, p: Prediction, factor: float) -> Array:
        return np.log(self._item(softmax(factor * p.trusted)))

    def _item(self, P: Array) -> Array:
        """(m,): the probability of each trusted label."""
        return (1 - SLIPS) * of_labels(P, self.problem.y_trusted) + SLIPS / self.problem.k

    @cached_property
    def _unpaired(self) -> Array:
        """1 for trusted items that are not verified rows: of these the given label is known as well."""
        told = np.ones(self.problem.m)
        told[self.problem.pairs[0]] = 0
        return told

    def _seen(self, wrong: Array) -> float:
        """Log-likelihood of what was found of verified rows that are wrong with these probabilities."""
        p = np.clip(wrong, SLIPS / 2, 1 - SLIPS / 2)
        return float(np.log(np.where(self.found_wrong, p, 1 - p)).sum())

    @cached_property
    def _rows_told(self) -> Array:
        """Log-likelihood of the given labels of the rows for each floor, verified ones included."""
        (items, given), k = self.problem.pairs, self.problem.k
        told = min(AVERAGED, self.problem.n) * self.given.told
        for floor, rate in enumerate(FLOORS.tolist()):
            p = flipped(of_labels(self.given.trusted(floor)[items], given), rate, k)
            told[floor] += np.log(np.maximum(p, TINY)).sum()
        return np.asarray(told - told.max())

    @cached_property
    def _items_if_none(self) -> Array:
        k = self.problem.k
        found = [flipped(self.given.trusted(floor), rate, k) for floor, rate in enumerate(FLOORS.tolist())]
        return np.array([np.log(self._item(P)) @ self._unpaired for P in found])

    @cached_property
    def _items_if_random(self) -> Array:
        (items, given), k = self.problem.pairs, self.problem.k
        found = []
        for floor, rate in enumerate(FLOORS.tolist()):
            P = self.given.trusted(floor)
            wrong = wrong_if_flipped(of_labels(P[items], given), rate, k)
            found.append(np.log(self._item(P)) @ self._unpaired + self._seen(wrong))
        return np.array(found)

    @cached_property
    def _touched(self) -> Array:
        """Log-likelihood of the items for each share of them that contradicts g."""
        return contradicted(self.g_items, self.problem.k) @ self._unpaired

    @cached_property
    def _described(self) -> float:
        """Log-likelihood of the items if a learner that they are part of describes the bug, and its price."""
        return self._located + self._any - SMALLEST_CHANGE * float(self.disputed.mean())

    @cached_property
    def _located(self) -> float:
        """Log-likelihood of the items by learners that say where bugs are."""
        told = [stack.likelihood for stack in self.disputing.values()]
        return float(logsumexp(told) - np.log(len(told))) if told else -np.inf

    @cached_property
    def _shares(self) -> Array:
        """By items that contradict g, by verified rows drawn at random, and by what learners dispute."""
        share, error = self.share
        share = max(share, 1 / self.problem.n)
        spread = np.hypot(SPREAD, error / share)
        described = self._located + _normal(-((np.log(RATES / share) / spread) ** 2) / 2)
        touched = self._touched + _normal(-SMALLEST_CHANGE * RATES)
        told = np.logaddexp(described, touched)
        if self.problem.verified_at_random:
            found = self.found_wrong
            told = told + found.sum() * np.log(RATES) + (~found).sum() * np.log(1 - RATES)
        return np.exp(_normal(told))


DISPUTING = (Kind.TRUSTED, Kind.DEBUGGED)
"""Learners that may know of systematic bugs."""


def tempered(told: Array) -> Array:
    """Weights by log-likelihoods of items; they sum to one."""
    return np.exp(_normal(TEMPER * told))


def mean_of(weights: Array, factors: Sequence[float], scores: Sequence[Array]) -> Array:
    """The weighted mean of probabilities."""
    parts = zip(weights, factors, scores, strict=True)
    return np.asarray(sum(w * softmax(f * s) for w, f, s in parts))


def contradicted(g: Array, k: int) -> Array:
    """log of (1 − s) g + s (1 − g)/(k − 1) for each share s (rows) and item (columns).

    >>> contradicted(np.array([0.01]), 2).round(1).ravel()[[0, 10, -1]].tolist()
    [-3.9, -2.4, -0.7]
    """
    return np.asarray(np.log(flipped(g, RATES[:, None], k)))


def of_labels(P: Array, labels: Ints) -> Array:
    """The probability of each label."""
    return np.asarray(P[np.arange(len(labels)), labels])


def probability(scores: Array, labels: Ints) -> Array:
    """softmax(scores) of each label."""
    return np.exp(-losses(scores, labels))


def _normal(logs: Array) -> Array:
    """Log-probabilities that sum to one."""
    return np.asarray(logs - logsumexp(logs))
