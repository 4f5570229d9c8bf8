"""From many voices to one: weights for the learners, and what kind of bugs there seem to be.

A learner's weight is e^(−m T t), where t is the mean loss of trusted items that it has not seen: few items
say little, and leave all learners in. Where bugs look random, learners that predict held-out rows
better count more as well.

Held-out trusted items cannot show a systematic bug that few of them touch. What shows it is a trusted item
that contradicts a learner which is sure of itself: under random noise a learner is unsure, and items
that are hard to tell make it unsure too, but over a systematic bug it is sure and wrong. With t_j the loss
of item j under the learner that predicts held-out rows best, calibrated on them, and H_j and V_j mean and
variance of that loss if its own probabilities were right,

    z = Σ(t_j − H_j) / √(ΣV_j + V₀),     π = Φ(z − 1)

is the probability that the bugs are systematic. And rows that a learner predicts almost without error
have no room for random bugs: what bugs there are among them are systematic, seen by an item or not. Then
learners that were not debugged are not heard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from duti.arrays import Array, Mask
from duti.automatic.voices import Kind, Voice, losses
from duti.learners import Learner
from duti.learners.losses import softmax
from duti.problem import Problem

SHARPNESS, SYSTEMATIC_SHARPNESS = 0.25, 0.1
"""T: how far an item that was left out counts as an observation; less where few of them see the bug."""
ROW_SHARPNESS = 10.0
"""The same for the mean loss of the rows: their labels may be wrong."""
PRIOR = {Kind.GIVEN: 1.0, Kind.DEBUGGED: 1.0, Kind.TRUSTED: 3.0}
"""A debugged learner is heard at three prices, one of the trusted items only once."""
HALF_HEARD = 5
"""With so many trusted items, debugged learners have half of the say that they have with very many."""
SURPRISE = 0.1
"""V₀: no item is less uncertain than this."""
ROOM, ROOM_SPREAD = 0.2, 0.05
"""Relative to guessing, the loss of held-out rows below which there is no room for random bugs."""
TEMPERATURES = np.exp(np.linspace(-1.5, 1.5, 31))
CONFUSED, CERTAIN = 1.0, 10.0
"""Observations that a prior puts on all other labels together, and on the given one."""
EM_STEPS = 50


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
    def honestly_trusted(self) -> Array:
        """(m, k): the same for the scores of trusted items, by learners that were not debugged with them.

        Only if there are no others, by those that were, each without the item itself.
        """
        weights = np.where([v.kind is Kind.DEBUGGED for v in self.voices], 0.0, self.weights)
        weights = weights if weights.any() else self.weights
        return np.asarray(sum(w * voice.trusted for w, voice in zip(weights, self.voices, strict=True)))

    @property
    def learners(self) -> dict[Learner, float]:
        """Each learner with its weight in all, the weightiest first."""
        total: dict[Learner, float] = {}
        for voice, weight in zip(self.voices, self.weights, strict=True):
            total[voice.learner] = total.get(voice.learner, 0.0) + float(weight)
        return dict(sorted(total.items(), key=lambda item: -item[1]))

    @property
    def best_on_rows(self) -> Voice:
        """The learner of the labels as given that predicts held-out rows best."""
        return _best_on_rows(self.voices)


def mixed(problem: Problem, voices: Sequence[Voice], systematic: float | None = None) -> Mixture:
    """The weights of the voices, for bugs that are systematic with a given probability, or as it seems."""
    pi = max(contradiction(problem, voices), no_room(problem, voices)) if systematic is None else systematic
    given, debugged = (
        np.array([(v.kind is Kind.GIVEN) is is_given for v in voices]) for is_given in (True, False)
    )
    m, share = problem.m, 0.5 * problem.m / (problem.m + HALF_HEARD)
    random = (1 - share) * _weights(voices, given, m * SHARPNESS, ROW_SHARPNESS)
    random += share * _weights(voices, debugged, m * SHARPNESS, ROW_SHARPNESS)
    weights = (1 - pi) * random + pi * _weights(voices, debugged, m * SYSTEMATIC_SHARPNESS)
    return Mixture(tuple(voices), weights, pi)


def confusion(problem: Problem, mixture: Mixture) -> Array:
    """(k, k): the probability that a row with one label truly has another, from the trusted items.

    R[b, j] = P(true j | given b) maximises Π_j Σ_b p_b(x̃_j) R[b, ỹ_j] with a prior on the diagonal, where
    p is what learners of the labels as given say. Two classes have but one other label: no confusion.
    """
    k, y = problem.k, problem.y_trusted
    if k == 2:
        return np.full((2, 2), 0.5)
    given = np.array([voice.kind is Kind.GIVEN for voice in mixture.voices])
    weights = _weights(mixture.voices, given, 2 * problem.m * SHARPNESS)
    P = sum(w * softmax(voice.trusted) for w, voice in zip(weights, mixture.voices, strict=True) if w)
    prior, labels = CERTAIN * np.eye(k) + CONFUSED / k, np.eye(k)[y]
    R = prior / prior.sum(axis=1, keepdims=True)
    for _ in range(EM_STEPS):
        share = P * R[:, y].T
        counts = prior + (share / share.sum(axis=1, keepdims=True)).T @ labels
        R = counts / counts.sum(axis=1, keepdims=True)
    return np.asarray(R)


def contradiction(problem: Problem, voices: Sequence[Voice]) -> float:
    """π: how probable it is that trusted items contradict a learner that fits the rows well."""
    best = _best_on_rows(voices)
    temperature = min(TEMPERATURES, key=lambda t: losses(t * best.held_out, problem.y).mean())
    scores = temperature * best.trusted
    P = softmax(scores)
    surprise = -np.log(np.maximum(P, 1e-12))
    expected = (P * surprise).sum(axis=1)
    variance = (P * surprise**2).sum(axis=1) - expected**2
    excess = losses(scores, problem.y_trusted) - expected
    return float(ndtr(excess.sum() / np.sqrt(variance.sum() + SURPRISE) - 1))


def no_room(problem: Problem, voices: Sequence[Voice]) -> float:
    """The probability that held-out rows are predicted too well for random bugs."""
    relative = _best_on_rows(voices).row_loss / np.log(problem.k)
    return float(ndtr((ROOM - relative) / ROOM_SPREAD))


def _best_on_rows(voices: Sequence[Voice]) -> Voice:
    return min((v for v in voices if v.kind is Kind.GIVEN), key=lambda voice: voice.row_loss)


def _weights(voices: Sequence[Voice], heard: Mask, sharpness: float, row_sharpness: float = 0.0) -> Array:
    trusted, rows = (np.array([getattr(v, name) for v in voices]) for name in ("trusted_loss", "row_loss"))
    # A learner of the trusted items has not learnt from the rows, and is not judged by them.
    rows = np.where([v.kind is Kind.TRUSTED for v in voices], rows[heard].min(), rows)
    log = np.log([PRIOR[v.kind] for v in voices]) - sharpness * trusted - row_sharpness * rows
    weights = np.exp(np.where(heard, log - log[heard].max(), -np.inf))
    return np.asarray(weights / weights.sum())
