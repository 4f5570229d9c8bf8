"""g(x) = P(given label | x): the average of all learners of the labels as given, calibrated on held-out rows.

A label that was flipped at random, at some rate ρ, has the distribution

    (1 − ρ) p + ρ (1 − p)/(k − 1),       p = softmax(f s),

however sure the scores s are: g has a floor. Noise by nature is found where classes meet, and has hardly any;
so held-out rows alone tell much of ρ. For every floor the factor f is the one that suits the rows best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from duti.arrays import Array, Ints
from duti.automatic.predictions import FACTORS, Kind, Prediction, losses
from duti.learners.losses import softmax
from duti.problem import Problem

RATES = np.geomspace(0.01, 0.5, 20)
"""Shares of wrong labels: rates ρ of flips, and shares of systematic bugs."""
FLOORS = np.concatenate([[0.0], RATES])
AVERAGED = 100.0
"""Learners are averaged with weights e^(−100 l), l their mean loss on held-out rows: as if by 100 rows. By
400, AP is .009 lower on the tables that numbers were chosen on."""
TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class Given:
    """Scores of the average, and what each floor makes of them."""

    prediction: Prediction
    weights: Array
    """Of each learner in the average."""
    factors: tuple[float, ...]
    """f, for each floor."""
    told: Array
    """Mean log-likelihood of the held-out rows, for each floor."""

    @property
    def best(self) -> int:
        """The floor that suits the rows best."""
        return int(self.told.argmax())

    def rows(self, floor: int) -> Array:
        """(n, k): p with the factor of a floor: probabilities of the labels before any flips."""
        return softmax(self.factors[floor] * self.prediction.rows)

    def trusted(self, floor: int) -> Array:
        """(m, k): the same for trusted items."""
        return softmax(self.factors[floor] * self.prediction.trusted)


def flipped(p: Array, rate: float | Array, k: int) -> Array:
    """Probabilities after flips at some rate.

    >>> flipped(np.array([1.0, 0.5, 0.0]), 0.2, 2)
    array([0.8, 0.5, 0.2])
    """
    return np.asarray((1 - rate) * p + rate * (1 - p) / (k - 1))


def wrong_if_flipped(p: Array, rate: float, k: int) -> Array:
    """The probability that a label was flipped which had the probability p before.

    >>> wrong_if_flipped(np.array([0.5, 0.01]), 0.1, 2).round(2)
    array([0.1 , 0.92])
    """
    return np.asarray(rate * (1 - p) / (k - 1) / np.maximum(flipped(p, rate, k), TINY))


def average(predictions: Sequence[Prediction], problem: Problem) -> Given:
    """g, from all learners of the labels as given."""
    y, k = problem.y, problem.k
    fits = [_calibrated(p.rows, y, k) for p in predictions]
    best = [int(told.argmax()) for _, told in fits]
    loss = -np.array([told[floor] for (_, told), floor in zip(fits, best, strict=True)])
    weights = np.exp(-AVERAGED * (loss - loss.min()))
    weights /= weights.sum()
    scaled = [(w, f[floor], p) for w, (f, _), floor, p in zip(weights, fits, best, predictions, strict=True)]
    rows = sum(w * _log_softmax(f * p.rows) for w, f, p in scaled)
    trusted = sum(w * _log_softmax(f * p.trusted) for w, f, p in scaled)
    name = predictions[0].name if len(predictions) == 1 else f"the average of {len(predictions)} learners"
    found = Prediction(Kind.GIVEN, name, np.asarray(rows), np.asarray(trusted))
    return Given(found, weights, *_calibrated(found.rows, y, k))


def _calibrated(scores: Array, y: Ints, k: int) -> tuple[tuple[float, ...], Array]:
    """For each floor, the best factor and the mean log-likelihood of the labels with it."""
    p = np.exp([-losses(factor * scores, y) for factor in FACTORS])
    told = np.array([np.log(np.maximum(flipped(p, rate, k), TINY)).mean(axis=1) for rate in FLOORS.tolist()])
    return tuple(FACTORS[told.argmax(axis=1)].tolist()), told.max(axis=1)


def _log_softmax(scores: Array) -> Array:
    return np.asarray(scores - logsumexp(scores, axis=1, keepdims=True))
