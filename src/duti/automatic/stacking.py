"""One prediction out of many: alike learners are averaged, and the averages are pooled.

Learners that have learnt from the same and are alike make a family. Within a family probabilities are
averaged, with weights by held-out rows if its learners have seen the labels as given, else by trusted items
that were left out. Families err in different ways, so that their logarithms add up:

    log q(t | x) = Σ_f w_f log p_f(t | x) + const,     w ≥ 0,     w_f ~ N(1/F, 1/F²) beforehand,

with the weights w that predict the trusted items best, each by learners that have not seen it (stacking).
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp

from duti.arrays import Array, Ints
from duti.automatic.given import COUNT, SLIPS
from duti.automatic.predictions import FACTORS, Kind, Prediction, calibrated, losses
from duti.learners.losses import softmax

TEMPER = 1 / 2
"""Of the log-likelihood of items that weighs alike learners: of many, some predict a few items by luck."""

Family = tuple[Kind, str]
"""What learners have learnt from, and what they are called."""


@dataclass(frozen=True, eq=False)
class Average:
    """Learners of one family, each as sure as suits the labels by which it is weighed."""

    predictions: tuple[Prediction, ...]
    factors: tuple[float, ...]
    weights: Array
    """They sum to one."""
    rows: Array
    """(n, k): probabilities."""
    trusted: Array
    """(m, k)."""

    def disputed(self, scores: Sequence[Array], labels: Ints, g: Array) -> Array:
        """The mean of 1 − min(1, p/g) of some labels: what the learners and g cannot share."""
        found = np.zeros(len(labels))
        for weight, factor, some in zip(self.weights, self.factors, scores, strict=True):
            found += weight * (1 - np.minimum(1, np.exp(-losses(factor * some, labels)) / g))
        return found


@dataclass(frozen=True, eq=False)
class Pool:
    """The log-linear pool of some families."""

    weights: Mapping[Family, float]
    rows: Array
    """(n, k): probabilities of the true labels of rows; none is quite zero."""
    trusted: Array
    """(m, k): the same of trusted items, by learners that have not seen them."""


def families(predictions: Sequence[Prediction], y: Ints, y_trusted: Ints) -> dict[Family, Average]:
    """Averages of alike learners."""
    alike = dict[Family, list[Prediction]]()
    for p in predictions:
        alike.setdefault((p.kind, p.name), []).append(p)
    return {family: _average(some, y, y_trusted) for family, some in alike.items()}


def pooled(averages: Mapping[Family, Average], kinds: Container[Kind], y_trusted: Ints) -> Pool:
    """The pool of all families of some kinds; of all there are, if there are none of these."""
    some = {family: one for family, one in averages.items() if family[0] in kinds} or averages
    items = np.log([one.trusted for one in some.values()])
    weights = stacked(items, y_trusted)
    # One family at a time, since rows may be many.
    rows = np.zeros_like(next(iter(some.values())).rows)
    for weight, one in zip(weights.tolist(), some.values(), strict=True):
        rows += weight * np.log(one.rows)
    trusted = np.tensordot(weights, items, 1)
    return Pool(dict(zip(some, weights.tolist(), strict=True)), softened(rows), softened(trusted))


def stacked(logs: Array, labels: Ints) -> Array:
    """Weights w ≥ 0 of log-probabilities (F, m, k): those of the highest posterior probability.

    >>> knows, guesses = np.log([[0.9, 0.1]] * 30), np.log([[0.4, 0.6]] * 30)
    >>> stacked(np.array([knows, guesses]), np.zeros(30, dtype=int)).round(1).tolist()
    [1.4, 0.3]
    """
    prior, items = 1 / len(logs), np.arange(len(labels))

    def loss(weights: Array) -> tuple[float, Array]:
        """−log posterior, and its gradient."""
        told = log_softmax(np.tensordot(weights, logs, 1), axis=1)
        error = np.exp(told)
        error[items, labels] -= 1
        off = (weights - prior) / prior
        slope = np.einsum("fmk,mk->f", logs, error) + off / prior
        return float(off @ off / 2 - told[items, labels].sum()), slope

    start, bounds = np.full(len(logs), prior), [(0, None)] * len(logs)
    return np.asarray(minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x)


def softened(scores: Array) -> Array:
    """Probabilities of which none is less than a slip makes of it.

    >>> softened(np.array([[0.0, -99.0]]))
    array([[0.99, 0.01]])
    """
    return np.asarray((1 - SLIPS) * softmax(scores) + SLIPS / scores.shape[1])


def suited(scores: Array, labels: Ints) -> tuple[float, float]:
    """The factor that suits items best, and their log-likelihood with it, less log² f/2 against wild factors.

    >>> suited(np.array([[2.0, 0.0], [0.0, 2.0]]), np.array([0, 1]))[0] > 1
    True
    """
    found = ((-float(losses(f * scores, labels).sum()) - np.log(f) ** 2 / 2, f) for f in FACTORS.tolist())
    told, factor = max(found)
    return factor, told


def _average(alike: Sequence[Prediction], y: Ints, y_trusted: Ints) -> Average:
    factors, told = list[float](), list[float]()
    for p in alike:
        if p.kind in (Kind.GIVEN, Kind.POOLED):
            factor, loss = calibrated(p.rows, y)
            told.append(-min(COUNT, len(y)) * loss)
        else:
            factor, log_likelihood = suited(p.trusted, y_trusted)
            told.append(TEMPER * log_likelihood)
        factors.append(factor)
    weights = np.exp(told - logsumexp(told))
    rows, trusted = np.zeros_like(alike[0].rows), np.zeros_like(alike[0].trusted)
    for weight, factor, p in zip(weights.tolist(), factors, alike, strict=True):
        rows += weight * softmax(factor * p.rows)
        trusted += weight * softmax(factor * p.trusted)
    soft = ((1 - SLIPS) * some + SLIPS / rows.shape[1] for some in (rows, trusted))
    return Average(tuple(alike), tuple(factors), np.asarray(weights), *soft)
