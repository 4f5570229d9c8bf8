"""From many voices to one: weights for the learners, and what kind of bugs there seem to be.

A learner's weight is e^(−m T t), where t is the mean loss of trusted items that it has not seen: few items
say little, and leave all learners in. Where bugs look random, learners that predict held-out rows
better count more as well, the more so the better rows can be predicted at all, and most of the say is with
learners that were not debugged.

Held-out trusted items cannot show a systematic bug that few of them touch. What shows it is a trusted item
that contradicts a learner which is sure of itself: under random noise a learner is unsure, and items
that are hard to tell make it unsure too, but over a systematic bug it is sure and wrong. With t_j the loss
of item j under the learner that predicts held-out rows best, calibrated on them, and H_j and V_j mean and
variance of that loss if its own probabilities were right,

    z = Σ(t_j − H_j) / √(ΣV_j + V₀),     π = Φ(2 z − 0.65)

is the probability that the bugs are systematic. And rows that a learner predicts almost without error
have no room for random bugs: what bugs there are among them are systematic, seen by an item or not. Then
learners of the labels as given are not heard unless they were debugged.

Where bugs are systematic, a learner of the trusted items alone is believed as far as it agrees with the
rows: few items that say what most of the rows say have been understood.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from duti.arrays import Array, Ints
from duti.automatic.confusion import replaced
from duti.automatic.voices import Kind, Voice, calibrated, losses
from duti.learners import Learner
from duti.learners.losses import softmax
from duti.problem import Problem

SHARPNESS, DEBUGGED_SHARPNESS = 0.8, 0.1
"""T: how far an item that was left out counts as an observation, less after debugging: then rows speak
for it. Losses of learners that were not debugged are calibrated first."""
TOLD_APART_BY = 40
"""More items than these tell learners that were not debugged apart no better: what they say of the items is
not all that they say of the rows."""
SYSTEMATIC_SHARPNESS, BLUNTEST, SHARPEST = 0.4, 5.0, 12.0
"""The same where bugs are systematic, and bounds of m T there: one item can rule learners out that are sure
and wrong, but few of many see the bug."""
TRUSTED_SHARPNESS = 0.7
"""The same among learners of the trusted items alone, to which every item is a row that was left out."""
ROW_SHARPNESS, ROWS_FOR_ITEMS = 80.0, 50.0
"""The same for the mean loss of the rows, whose labels may be wrong: less, the closer it is to that of
guessing; and what is added where m is 1."""
DEBUGGED_SHARE, HALF_HEARD = 0.35, 10
"""The say of debugged learners where bugs are random, with very many trusted items; and so many give half."""
LARGEST_PRIOR = 10.0
"""For a learner of the trusted items alone: m/4 where bugs are systematic, at most so much, if it disagrees
with the rows as follows; a debugged one is heard at three prices."""
DISAGREEMENT, UNDERSTOOD = 0.6, 20.0
"""Relative to guessing; and by how much, on a log scale, less disagreement counts."""
UNSEEN = 1.5
"""Debugged learners lose so much of their say for each fraction of the rows whose class no item has."""
SURPRISE, GATE, CONTENT = 0.1, 2.0, 0.65
"""V₀: no item is less uncertain than this; and the factor of z, and what is subtracted, in π."""
ROOM, ROOM_SPREAD = 0.2, 0.05
"""Relative to guessing, the loss of held-out rows below which there is no room for random bugs."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """All voices with their weights."""

    voices: tuple[Voice, ...]
    weights: Array
    """They sum to one."""
    systematic: float
    """π: the probability that the bugs are systematic."""
    complete: bool = True
    """Whether all learners were heard."""

    @property
    def evidence(self) -> Array:
        """(n, k): the weighted mean of the evidence."""
        return np.asarray(sum(w * voice.evidence for w, voice in zip(self.weights, self.voices, strict=True)))

    @property
    def uncorrected(self) -> Array:
        """The same without learners that correct confused classes."""
        kept = np.where(_each(self.voices, {Kind.CORRECTED: 1.0}) > 0, 0.0, self.weights)
        return replace(self, weights=kept / kept.sum()).evidence

    @property
    def honestly_trusted(self) -> Array:
        """(m, k): the same for the scores of trusted items, by learners that were not debugged with them.

        Only if there are no others, by those that were, each without the item itself.
        """
        weights = np.where([v.kind is Kind.DEBUGGED for v in self.voices], 0.0, self.weights)
        weights = weights if weights.any() else self.weights
        return np.asarray(sum(w * voice.trusted for w, voice in zip(weights, self.voices, strict=True)))

    def fixes(self, y: Ints) -> Ints:
        """The label that is most probable for each row if the given one is wrong."""
        probability, rows = np.zeros_like(self.voices[0].evidence), np.arange(len(y))
        for weight, voice in zip(self.weights, self.voices, strict=True):
            other = voice.evidence.copy()
            other[rows, y] = -np.inf
            probability += weight * softmax(other)
        return np.asarray(probability.argmax(axis=1))

    @property
    def learners(self) -> dict[Learner, float]:
        """Each learner with its weight in all, the weightiest first."""
        total: dict[Learner, float] = {}
        for voice, weight in zip(self.voices, self.weights, strict=True):
            total[voice.learner] = total.get(voice.learner, 0.0) + float(weight)
        return dict(sorted(total.items(), key=lambda item: -item[1]))

    def learners_of(self, kind: Kind) -> list[Learner]:
        """Those of them that learnt, among others, from something of this kind."""
        heard = {voice.learner for voice in self.voices if voice.kind is kind}
        return [learner for learner in self.learners if learner in heard]

    @property
    def best_on_rows(self) -> Voice:
        """The learner of the labels as given that predicts held-out rows best."""
        return _best_on_rows(self.voices)


def mixed(problem: Problem, voices: Sequence[Voice], systematic: float | None = None) -> Mixture:
    """The weights of the voices, for bugs that are systematic with a given probability, or as it seems."""
    pi = max(contradiction(problem, voices), no_room(problem, voices)) if systematic is None else systematic
    if_random, if_systematic = _where_random(problem, voices), _where_systematic(problem, voices)
    return Mixture(tuple(voices), (1 - pi) * if_random + pi * if_systematic, pi)


def _where_random(problem: Problem, voices: Sequence[Voice]) -> Array:
    """Weights by what was left out, rows included; debugged learners have a smaller say."""
    m = problem.m
    # m items teach less than n rows, and a lucky guess of so few held-out items is all that speaks for it.
    priors = {Kind.GIVEN: 1.0, Kind.CORRECTED: 1.0, Kind.TRUSTED: min(m / problem.n, 1.0)}
    prior = _each(voices, priors | {Kind.POOLED: m / (m + HALF_HEARD)})
    debugged = _each(voices, {Kind.DEBUGGED: 1.0})
    trusted, honestly, rows = (_of(voices, name) for name in ("trusted_loss", "calibrated_loss", "row_loss"))
    # A learner of the trusted items has not learnt from the rows, and is not judged by them.
    rows = np.where(_each(voices, {Kind.TRUSTED: 1.0}) > 0, rows.min(), rows)
    predictable = max(1 - _relative_loss(problem, voices), 0.0)
    rows = (ROW_SHARPNESS * predictable + ROWS_FOR_ITEMS / m) * rows
    share = DEBUGGED_SHARE * m / (m + HALF_HEARD)
    honest = _weights(prior, min(m, TOLD_APART_BY) * SHARPNESS * honestly + rows)
    return (1 - share) * honest + share * _weights(debugged, m * DEBUGGED_SHARPNESS * trusted + rows)


def _where_systematic(problem: Problem, voices: Sequence[Voice]) -> Array:
    """Learners that were debugged or never saw the rows; as if random where no item shows the class."""
    m, unseen = problem.m, ~np.isin(problem.y, problem.y_trusted)
    alone, loss = _each(voices, {Kind.TRUSTED: 1.0}) > 0, _of(voices, "trusted_loss")
    understood = UNDERSTOOD * (DISAGREEMENT - _of(voices, "disagreement") / (1 - 1 / problem.k))
    of_items = min(m / 4, LARGEST_PRIOR) * np.exp(understood)
    prior = np.where(alone, of_items, _each(voices, {Kind.DEBUGGED: 1.0}))
    sharpness = min(max(m * SYSTEMATIC_SHARPNESS, BLUNTEST), SHARPEST)
    sharper = max(m * TRUSTED_SHARPNESS - sharpness, 0.0)
    worse = np.where(alone, loss - loss.min(where=alone, initial=np.inf), 0.0)
    blind = min(UNSEEN * float(unseen.mean()), 1.0)
    weights = _weights(prior, sharpness * loss + sharper * worse)
    return (1 - blind) * weights + blind * _where_random(problem, voices) if blind else weights


def replacements(problem: Problem, mixture: Mixture) -> Array:
    """(k, k): the probability that a row with one label truly has another, as the trusted items show it.

    Two classes have but one other label.
    """
    if problem.k == 2:
        return np.full((2, 2), 0.5)
    given = _each(mixture.voices, {Kind.GIVEN: 1.0})
    weights = _weights(given, problem.m / 2 * _of(mixture.voices, "trusted_loss"))
    said = sum(w * softmax(voice.trusted) for w, voice in zip(weights, mixture.voices, strict=True) if w)
    return replaced(np.asarray(said), problem.y_trusted)


def contradiction(problem: Problem, voices: Sequence[Voice]) -> float:
    """π: how probable it is that trusted items contradict a learner that fits the rows well."""
    best = _best_on_rows(voices)
    scores = calibrated(best.held_out, problem.y)[0] * best.trusted
    P = softmax(scores)
    surprise = -np.log(np.maximum(P, 1e-12))
    expected = (P * surprise).sum(axis=1)
    variance = (P * surprise**2).sum(axis=1) - expected**2
    excess = losses(scores, problem.y_trusted) - expected
    return float(ndtr(GATE * excess.sum() / np.sqrt(variance.sum() + SURPRISE) - CONTENT))


def no_room(problem: Problem, voices: Sequence[Voice]) -> float:
    """The probability that held-out rows are predicted too well for random bugs."""
    return float(ndtr((ROOM - _relative_loss(problem, voices)) / ROOM_SPREAD))


def _relative_loss(problem: Problem, voices: Sequence[Voice]) -> float:
    """The loss of held-out rows under the learner that predicts them best, relative to guessing."""
    return _best_on_rows(voices).row_loss / float(np.log(problem.k))


def _best_on_rows(voices: Sequence[Voice]) -> Voice:
    return min((v for v in voices if v.kind is Kind.GIVEN), key=lambda voice: voice.row_loss)


def _of(voices: Sequence[Voice], name: str) -> Array:
    return np.array([getattr(voice, name) for voice in voices])


def _each(voices: Sequence[Voice], priors: Mapping[Kind, float]) -> Array:
    return np.array([priors.get(voice.kind, 0.0) for voice in voices])


def _weights(prior: Array, loss: Array) -> Array:
    """Proportional to prior e^(−loss), and summing to one."""
    heard = prior > 0
    weights = np.where(heard, prior * np.exp(loss[heard].min() - np.where(heard, loss, np.inf)), 0.0)
    return np.asarray(weights / weights.sum())
