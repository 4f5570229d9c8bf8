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
COUNT = 100.0
"""Rows count as so many observations: learners are averaged with weights e^(−100 l), l their mean loss on
held-out rows. By 400, AP is .009 lower on the tables that numbers were chosen on."""
SLIPS = 0.02
"""Somebody who is trusted may slip, too: no probability of a label is quite 0."""
SMALLEST_CHANGE = 10.0
"""A: a share of 10 % of wrong labels is e times less probable than none."""
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
    plain: float
    """The most that any learner, or the frequencies of the labels, tell without a floor."""

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


def contradicted(g: Array, k: int) -> Array:
    """log of (1 − s) g + s (1 − g)/(k − 1) for each share s (last axis but one) and item (last axis).

    >>> contradicted(np.array([0.01]), 2).round(1).ravel()[[0, 10, -1]].tolist()
    [-3.9, -2.4, -0.7]
    """
    return np.asarray(np.log(flipped(g[..., None, :], RATES[:, None], k)))


def of_labels(P: Array, labels: Ints) -> Array:
    """The probability of each label."""
    return np.asarray(P[np.arange(len(labels)), labels])


def average(predictions: Sequence[Prediction], problem: Problem) -> Given:
    """g, from all learners of the labels as given."""
    y, k = problem.y, problem.k
    fits = [_calibrated(p.rows, y, k) for p in predictions]
    best = [int(told.argmax()) for _, told in fits]
    loss = -np.array([told[floor] for (_, told), floor in zip(fits, best, strict=True)])
    weights = np.exp(-COUNT * (loss - loss.min()))
    weights /= weights.sum()
    scaled = [(w, f[floor], p) for w, (f, _), floor, p in zip(weights, fits, best, predictions, strict=True)]
    rows = sum(w * _log_softmax(f * p.rows) for w, f, p in scaled)
    trusted = sum(w * _log_softmax(f * p.trusted) for w, f, p in scaled)
    name = predictions[0].name if len(predictions) == 1 else f"the average of {len(predictions)} learners"
    found = Prediction(Kind.GIVEN, name, np.asarray(rows), np.asarray(trusted))
    frequencies = np.bincount(y, minlength=k) / len(y)
    plain = [float(told[0]) for _, told in fits] + [float((frequencies * np.log(frequencies + TINY)).sum())]
    factors, told = _calibrated(found.rows, y, k)
    return Given(found, weights, factors, told, max(*plain, float(told[0])))


def _calibrated(scores: Array, y: Ints, k: int) -> tuple[tuple[float, ...], Array]:
    """For each floor, the best factor and the mean log-likelihood of the labels with it."""
    p = np.exp([-losses(factor * scores, y) for factor in FACTORS])
    told = np.array([np.log(np.maximum(flipped(p, rate, k), TINY)).mean(axis=1) for rate in FLOORS.tolist()])
    return tuple(FACTORS[told.argmax(axis=1)].tolist()), told.max(axis=1)


def _log_softmax(scores: Array) -> Array:
    return np.asarray(scores - logsumexp(scores, axis=1, keepdims=True))
