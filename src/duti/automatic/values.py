"""Regression: the same three hypotheses, with densities instead of probabilities.

Labels scatter around g(x), which predicts the labels as given, by Student's t, whose scale and tails are
learnt from held-out rows. Every other prediction is a candidate q(x) for the true values:

    none         rows and trusted items scatter around q alike,
    random       right labels scatter around q as trusted items do, a share ρ of the labels much farther,
    systematic   rows scatter around g, trusted items around q, as far as noise goes or some times as far,

weighed as those of a classification are. Trusted items are never asked for more than the noise of the rows
shows: that values which were measured better are predicted better says nothing of the rows. Systematic bugs
that no candidate describes are one more kind: a share of the items is farther from g than noise goes.

A label is wrong with the probability that it belongs to those which are farther from q than right ones are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np
from scipy.special import logsumexp

from duti.arrays import Array, Mask
from duti.automatic.given import COUNT, RATES, SLIPS, SMALLEST_CHANGE, contradicted
from duti.automatic.noise import TAILS, Contaminated, Noise, contaminated, likeliest, noises_of
from duti.automatic.posterior import SPREAD, WIDEST, Posterior, in_words, number_of_bugs, verdict_of
from duti.automatic.power import power
from duti.automatic.predictions import Kind, Prediction
from duti.claims import CONFIDENCE, BugCount, Verdict
from duti.path import noise_level
from duti.problem import Problem

PRIOR = {"none": 3 / 4, "random": 1 / 6, "touched": 1 / 24, "described": 1 / 24}
"""Three of four tables are fine; single slips are twice as frequent as a wrong rule, which a learner can
describe or not."""
BLURS = (1.0, 1.5, 2.5, 4.0, 8.0)
"""How much farther from q than noise trusted items may be: q errs, too."""
HARDLY_ANY = WIDEST / 2
"""Systematic bugs of fewer rows are not called: numbers are not told to more than this share of the rows."""
OFF_BY = np.exp([-SPREAD, SPREAD])
"""True numbers of bugs, relative to those that a candidate expects."""
TOLD_APART_BY = 15
"""More items tell candidates apart no better, so that more of these are averaged: with 30 items AP is .013
higher on the tables that numbers were chosen on."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Of each candidate under each hypothesis; all sum to one."""

    none: Array
    random: Array
    systematic: float
    """Of all systematic bugs."""
    truths: Array
    """How they share that: debugged learners say where bugs are, though not whether there are any."""

    @property
    def everything(self) -> Array:
        """Of each candidate under all hypotheses together."""
        return self.none + self.random + self.systematic * self.truths

    @property
    def hypotheses(self) -> Array:
        """None, random, systematic."""
        return np.array([self.none.sum(), self.random.sum(), self.systematic])


@dataclass(frozen=True, eq=False)
class Value:
    """A candidate for the true values."""

    prediction: Prediction
    residuals: Array
    """(n,): of the given labels."""
    errors: Array
    """(m,): of the trusted items."""
    noises: tuple[Noise, ...]
    """How the given labels may scatter, with each of the tails."""
    law: Noise
    """How the trusted items scatter."""

    @property
    def kind(self) -> Kind:
        """What it has learnt from."""
        return self.prediction.kind


class Values:
    """All candidates for the true values, ready to be weighed."""

    def __init__(self, problem: Problem, predictions: Sequence[Prediction]) -> None:
        self.problem = problem
        finite = [p for p in predictions if np.isfinite(p.rows).all() and np.isfinite(p.trusted).all()]
        given = average([p for p in finite if p.kind is Kind.GIVEN], problem)
        # Labels may be predicted exactly; then a thousandth of their spread stands in.
        spread = float(problem.y.std()) or float(np.ptp([*problem.y, *problem.y_trusted])) or 1.0
        self.least = noise_level(np.zeros(1), spread)
        self.given = self._value(given)
        self.noise = self.given.law
        around = noise_level(problem.y - np.median(problem.y), spread)
        self.anything = Noise(self.noise.tails, max(around, self.noise.scale))
        alike = ([self._value(p) for p in finite if p.kind is kind] for kind in Kind)
        self.predicted = [self.given, *chain.from_iterable(map(self._better, alike))]
        self._mixtures = dict[int, Contaminated]()
        self.truths = [replace(value, law=law) for law in self._laws for value in self.predicted]

    @property
    def satisfied(self) -> Mask:
        """Trusted items that g agrees with up to noise."""
        return np.asarray(abs(self.given.errors) <= self.noise.scale)

    @property
    def g_items(self) -> Array:
        """(m,): the probability that an item is as g says, rather than anything, as far as it goes."""
        log_odds = self.anything.log_density(self.given.errors) - self.noise.log_density(self.given.errors)
        return np.maximum(1 / (1 + np.exp(log_odds)), SLIPS)

    def right_if_random(self, truth: int) -> Array:
        """(n,): the probability that each label is right, which is never quite 0."""
        return self._random[truth].right(self.truths[truth].residuals)

    def right_if_systematic(self, truth: int) -> Array:
        """The same if bugs are systematic."""
        return self._systematic(truth).right(self.truths[truth].residuals)

    def wrong_if_random(self, truth: int) -> Array:
        """(n,)."""
        return np.asarray(1 - self.right_if_random(truth))

    def wrong_if_systematic(self, truth: int) -> Array:
        """(n,)."""
        return np.asarray(1 - self.right_if_systematic(truth))

    @cached_property
    def weights(self) -> Weights:
        """By rows and trusted items."""
        items = np.ones(self.problem.m)
        none = np.log(PRIOR["none"]) + self._prior(self._of_rows) + self._pairs[0] @ items
        none[: len(self.predicted)] += logsumexp(self._if_none + self._items_if_none @ items, axis=0)
        random = np.log(PRIOR["random"]) + self._prior(self._plausible) + self._if_random
        random += (self._items_if_random + self._pairs[1]) @ items
        blurred = (self._blurred + self._pairs[2]) @ items
        # If hardly a label is wrong, it is no systematic bug that makes the candidate better than g.
        shares = np.where(self._shares >= HARDLY_ANY, -SMALLEST_CHANGE * self._shares, -np.inf)
        described = np.log(PRIOR["described"]) + self._prior(self._helped) + shares
        described += self._discounted(blurred)
        touched = (
            np.log(PRIOR["touched"]) + self._touched @ items - SMALLEST_CHANGE * RATES - np.log(len(RATES))
        )
        truths = self._prior(self._unlike_g) + min(1, TOLD_APART_BY / self.problem.m) * blurred
        total = logsumexp(np.concatenate([none, random, described, touched]))
        return Weights(
            none=np.exp(none - total),
            random=np.exp(random - total),
            systematic=float(np.exp(logsumexp(np.concatenate([described, touched])) - total)),
            truths=np.exp(truths - logsumexp(truths)),
        )

    def _discounted(self, items: Array) -> Array:
        """Of what a debugged learner gains on g half counts: it was free to choose which rows to change."""
        g = max(items[:: len(self.predicted)])
        debugged = np.array([truth.kind is Kind.DEBUGGED for truth in self.truths])
        return np.where(debugged, (items + g) / 2, items)

    def shared_weights(self) -> list[tuple[Prediction, float]]:
        """What every prediction counts."""
        total = self.weights.everything.reshape(-1, len(self.predicted)).sum(axis=0)
        total /= total.sum()
        return [(v.prediction, w) for v, w in zip(self.predicted, total.tolist(), strict=True)]

    def _value(self, p: Prediction) -> Value:
        residuals = self.problem.y - p.rows
        noises = noises_of(residuals, self.least)
        errors = self.problem.y_trusted - p.trusted
        return Value(p, residuals, errors, noises, likeliest(noises, residuals))

    def _better(self, alike: Sequence[Value]) -> Iterator[Value]:
        """Those of a kind that trusted items speak for."""
        items = [max(self._floored(law, value.errors).sum() for law in self._laws) for value in alike]
        for value, best in zip(alike, items, strict=True):
            if best > max(items) + np.log(SLIPS):
                yield value

    @property
    def _laws(self) -> list[Noise]:
        """How far from q right values may be: as far as noise goes, or farther, since q errs, too."""
        return [Noise(tails, blur * self.noise.scale) for blur in BLURS for tails in TAILS]

    def _prior(self, allowed: Mask) -> Array:
        """Log of a prior by which g counts as much as all else, every kind the same, and all of a kind."""
        kinds = np.array(["" if t.prediction is self.given.prediction else t.kind.name for t in self.truths])
        found = np.full(len(kinds), -np.inf)
        seen = sorted(set(kinds[allowed].tolist()))
        others = max(len(seen) - ("" in seen), 1)
        for kind in seen:
            alike = allowed & (kinds == kind)
            found[alike] = -np.log(alike.sum() * (others if kind else 1)) - np.log(1 + ("" in seen))
        return found

    @cached_property
    def _once(self) -> Mask:
        """Candidates without a blur."""
        return np.arange(len(self.truths)) < len(self.predicted)

    @cached_property
    def _of_rows(self) -> Mask:
        """Candidates that may be both g and q, if nothing is wrong."""
        honest = (Kind.GIVEN, Kind.POOLED, Kind.TRUSTED)
        return np.asarray(self._once & [t.kind in honest for t in self.truths])

    @cached_property
    def _helped(self) -> Mask:
        """Candidates that trusted items have a part in."""
        return np.array([t.kind is not Kind.GIVEN for t in self.truths])

    @cached_property
    def _unlike_g(self) -> Mask:
        """Candidates for the truth if bugs are systematic: who learns the rows, too, is half way to them."""
        found = np.array([t.kind in (Kind.TRUSTED, Kind.DEBUGGED) for t in self.truths])
        return found if found.any() else ~found  # if an interrupt left no others

    @cached_property
    def _plausible(self) -> Mask:
        """Candidates around which rows scatter hardly farther than around the best: others cannot count."""
        size = np.log([value.law.scale for value in self.predicted])
        worst = size.min() - np.log(SLIPS) / self._count
        found = self._of_rows.copy()
        found[: len(self.predicted)] &= size <= worst
        found[0] = True
        return found

    @cached_property
    def _count(self) -> float:
        """n'."""
        return min(COUNT, self.problem.n)

    @cached_property
    def _g_rows(self) -> float:
        return float(self.noise.log_density(self.given.residuals).mean())

    @cached_property
    def _if_none(self) -> Array:
        """(tails, candidate): n' mean log f(y − q), relative to g; all tails are as probable beforehand."""
        told = [[noise.log_density(v.residuals).mean() for v, noise in some] for some in self._with_tails]
        return np.asarray(self._count * (np.array(told) - self._g_rows) - np.log(len(TAILS)))

    @property
    def _with_tails(self) -> list[list[tuple[Value, Noise]]]:
        return [[(value, value.noises[tails]) for value in self.predicted] for tails in range(len(TAILS))]

    @cached_property
    def _if_random(self) -> Array:
        """The same for the mixture, less the price of its two parameters and of the wrong labels."""
        told = np.full(len(self.truths), -np.inf)
        for place, mixture in self._random.items():
            told[place] = self._count * (mixture.loglik - self._g_rows) - SMALLEST_CHANGE * mixture.share
        return np.asarray(told - np.log(self._count))

    @cached_property
    def _random(self) -> dict[int, Contaminated]:
        return {place: self._mixture(place) for place in np.flatnonzero(self._plausible).tolist()}

    def _mixture(self, place: int) -> Contaminated:
        """Of the highest likelihood."""
        value = self.predicted[place]
        found = (contaminated(value.residuals, replace(value.law, tails=tails)) for tails in TAILS)
        return max(found, key=lambda mixture: mixture.loglik)

    def _systematic(self, place: int) -> Contaminated:
        """Right labels scatter around q as trusted items do."""
        if place not in self._mixtures:
            truth = self.truths[place]
            # The items may be free of noise; the rows are not.
            scale = float(np.hypot(truth.law.scale, self.noise.scale))
            self._mixtures[place] = contaminated(truth.residuals, replace(truth.law, scale=scale), fixed=True)
        return self._mixtures[place]

    @cached_property
    def _shares(self) -> Array:
        """ρ of each candidate if bugs are systematic, by the law that suits the items best."""
        places = np.arange(len(self.truths)).reshape(-1, len(self.predicted))
        best = places[self._blurred.sum(axis=1)[places].argmax(axis=0), np.arange(len(self.predicted))]
        shares = [self._systematic(place).share if self._helped[place] else 0.0 for place in best.tolist()]
        return np.tile(shares, len(places))

    @cached_property
    def _items_if_none(self) -> Array:
        """(tails, candidate, item)."""
        return np.array([[self._floored(noise, v.errors) for v, noise in some] for some in self._with_tails])

    @cached_property
    def _items_if_random(self) -> Array:
        found = np.zeros((len(self.truths), self.problem.m))
        for place, mixture in self._random.items():
            found[place] = self._floored(mixture.noise, self.truths[place].errors)
        return found

    @cached_property
    def _blurred(self) -> Array:
        """(candidate, item)."""
        return np.array([self._floored(truth.law, truth.errors) for truth in self.truths])

    @cached_property
    def _touched(self) -> Array:
        """Log-likelihood of the items for each share of them that contradicts g."""
        errors = self.given.errors
        both = np.logaddexp(self.noise.log_density(errors), self.anything.log_density(errors))
        return np.asarray(contradicted(self.g_items, 2) + both + self._pairs_touched)

    @cached_property
    def _pairs(self) -> tuple[Array, Array, Array]:
        """Log-likelihood of what was seen of the given labels of verified rows, under each hypothesis."""
        shape, (items, given) = (len(self.truths), self.problem.m), self.problem.pairs
        none, random, systematic = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        if len(items):
            wrong = self._found_wrong
            none[:, items] = _seen(wrong, np.zeros(len(items)))
            for place, truth in enumerate(self.truths):
                residuals = given - truth.prediction.trusted[items]
                systematic[place, items] = _seen(wrong, self._systematic(place).wrong(residuals))
                if place in self._random:
                    random[place, items] = _seen(wrong, self._random[place].wrong(residuals))
        return none, random, systematic

    @cached_property
    def _pairs_touched(self) -> Array:
        """The same for bugs that no candidate describes: a share of the labels is wrong."""
        items, found = self.problem.pairs[0], np.zeros((len(RATES), self.problem.m))
        if len(items):
            found[:, items] = [_seen(self._found_wrong, np.full(len(items), share)) for share in RATES]
        return found

    @cached_property
    def _found_wrong(self) -> Mask:
        """Verified rows whose given value is farther from the right one than noise is."""
        items, given = self.problem.pairs
        return np.asarray(abs(given - self.problem.y_trusted[items]) > self.noise.scale)

    def _floored(self, law: Noise, errors: Array) -> Array:
        """Somebody who is trusted may slip, too."""
        least = np.log(SLIPS) + self.anything.log_density(errors)
        return np.asarray(np.maximum(law.log_density(errors), least))


def posterior_of_values(values: Values) -> Posterior:
    """What the hypotheses make of every row."""
    problem, weights = values.problem, values.weights
    none, random, of_groups = weights.hypotheses
    if_random = _expected(values, weights.random, values.right_if_random)
    if_systematic = _expected(values, weights.truths, values.right_if_systematic)
    share = of_groups / (random + of_groups)
    right, q, q_trusted = ((1 - share) * a + share * b for a, b in zip(if_random, if_systematic, strict=True))
    wrong = (1 - none) * (1 - right)
    least = float(abs(problem.y_trusted - q_trusted).mean())
    if share > 1 / 2:
        least = max(least, _worth(values, q_trusted))
    # Systematic bugs of which hardly a row can be told are no evidence, unless they are certain.
    few = share > 1 / 2 and wrong.mean() < HARDLY_ANY and none > 1 - CONFIDENCE
    verdict = verdict_of(weights.hypotheses, 0.0 if few else float(wrong.sum()))
    said = power(values.g_items, 2, _systematic_if)
    return Posterior(
        wrong=wrong,
        score=-np.log(right),
        candidates=q,
        changed=(wrong > 1 / 2) & (wrong * abs(problem.y - q) > least),
        number=_number(values, float(wrong.sum()), said.touched),
        verdict=verdict,
        reason=_reason(values, weights.hypotheses),
        systematic=None if verdict is Verdict.NO_EVIDENCE else float(share),
        power=said,
    )


def _systematic_if(g: Array, sure: Array) -> Array:  # noqa: ARG001
    """The probability of systematic bugs for each set of items (draws, m), by what contradicts g alone."""
    none = np.log(PRIOR["none"]) + np.log(g).sum(axis=1)
    prior = -SMALLEST_CHANGE * RATES
    prior = np.log(PRIOR["touched"]) + prior - logsumexp(prior)
    systematic = logsumexp(prior + contradicted(g, 2).sum(axis=-1), axis=1)
    return np.asarray(1 / (1 + np.exp(none - systematic)))


def _number(values: Values, expected: float, missed: float) -> BugCount | None:
    """By every candidate under both kinds of bugs; or so many as trusted items may have `missed`."""
    weights, n, found = values.weights, values.problem.n, list[tuple[float, float]]()
    for truth in np.flatnonzero(weights.random > SLIPS * weights.random.max()).tolist():
        number = float(values.wrong_if_random(truth).sum())
        found += [(float(weights.random[truth]), factor * number) for factor in OFF_BY]
    for truth in np.flatnonzero(weights.truths > SLIPS * weights.truths.max()).tolist():
        number = float(values.wrong_if_systematic(truth).sum())
        found += [(weights.systematic * float(weights.truths[truth]), factor * number) for factor in OFF_BY]
    none = float(weights.none.sum())
    shares, numbers = np.array([(none, 0.0), (none, missed * n), *found]).T
    return number_of_bugs(numbers, shares, expected, n)


def _expected(values: Values, weights: Array, right: Callable[[int], Array]) -> tuple[Array, Array, Array]:
    """The mean of P(right), of q at the rows and of q at the items, over candidates."""
    n, m = values.problem.n, values.problem.m
    kept = np.flatnonzero(weights > SLIPS * weights.max())
    of_rows, q, q_trusted = np.zeros(n), np.zeros(n), np.zeros(m)
    for truth in kept.tolist():
        share, p = weights[truth] / weights[kept].sum(), values.truths[truth].prediction
        of_rows += share * right(truth)
        q += share * p.rows
        q_trusted += share * p.trusted
    return of_rows, q, q_trusted


def _worth(values: Values, q: Array) -> float:
    """How far q must be from what a label is, to be nearer to the truth: by trusted items that were left out.

    What the label of an item would be is predicted by g. Of all items that are farther apart, q has to be
    nearer by as much as possible in sum; ∞ if it never is.
    """
    truth, g = values.problem.y_trusted, values.given.prediction.trusted
    distance, gain = abs(g - q), abs(g - truth) - abs(q - truth)
    order = np.argsort(-distance)
    total = np.cumsum(gain[order])
    best = int(total.argmax())
    return float(distance[order[best]]) if total[best] > 0 else np.inf


def _reason(values: Values, probability: Array) -> str:
    """What the trusted items say of a learner of the labels as given."""
    outside = values.problem.m - int(values.satisfied.sum())
    held_out = f"{(abs(values.given.residuals) > values.noise.scale).mean():.0%}".replace("%", " %")
    return (
        f"A learner of the labels as given is off by more than {values.noise.scale:.3g} on {held_out} of the "
        f"rows it has not seen, and on {outside} of {values.problem.m} trusted items. {in_words(probability)}"
    )


def average(given: Sequence[Prediction], problem: Problem) -> Prediction:
    """g: learners of the labels as given, those that predict held-out rows best."""
    size = np.log([row_loss(p, problem) for p in given])
    weights = np.exp(-COUNT * (size - size.min()))
    weights /= weights.sum()
    rows = np.asarray(sum(w * p.rows for w, p in zip(weights, given, strict=True)))
    trusted = np.asarray(sum(w * p.trusted for w, p in zip(weights, given, strict=True)))
    name = given[0].name if len(given) == 1 else f"the average of {len(given)} learners"
    return Prediction(Kind.GIVEN, name, rows, trusted)


def row_loss(p: Prediction, problem: Problem) -> float:
    """The mean absolute error of held-out rows."""
    return float(abs(problem.y - p.rows).mean()) + np.finfo(float).tiny


def _seen(wrong: Mask, probability: Array) -> Array:
    """Log-likelihood of values that were found wrong, or not."""
    p = np.clip(probability, SLIPS, 1 - SLIPS)
    return np.log(np.where(wrong, p, 1 - p))
