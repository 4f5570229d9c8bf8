"""Cross-validation of the learner's hyperparameters, on the training labels as given.

The grid: `bandwidth` is the median distance between rows times 4, 2, 1, ½, ¼; `ridge` is 1, 0.1 …
1e-6. Rows are shuffled into 10 folds, class by class; with fewer than 10 rows in the rarest class
there are as many folds as it has rows, and the only row of a class is never held out. The score
is the mean held-out log loss or squared error; among equals the most regularised wins. Once the loss
rises along the ridges of a bandwidth, and is a twentieth above the best so far, smaller ones are left out.
More than 1000 rows are tuned on a sample of 1000, class by class, so that tuning takes seconds however
many rows there are. The ridge λ weighs the prior against a mean loss; the same prior against n rows has
the ridge (1000/n) λ, which is used unless it is below the end of the grid.

One feature map serves all folds of a bandwidth: it depends on X alone, and a ridge solution on some
rows lies in the span of their features, so each fold gives what it would have given by itself. Its
columns are orthogonal, so that H is nearly diagonal, and what a ridge shrinks to nothing is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import pdist

from duti.arrays import Array, Ints, Matrix, Targets
from duti.learners import Learner
from duti.learners.model import label_targets
from duti.progress import Report, silent
from duti.randomness import Seed, generator
from duti.tune.columns import Columns, orthogonal
from duti.tune.held_out import log_losses, squared_errors

FOLDS = 10
RIDGES = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
BANDWIDTHS = (4.0, 2.0, 1.0, 0.5, 0.25)
ROWS = 1000
"""Larger training sets are tuned on a sample of about so many rows."""
TIE = 1e-6
BEHIND = 1.05
"""A ridge with so many times the loss of the best is not worth going further, if the loss rises."""


@dataclass(frozen=True)
class Trial:
    """A learner and its mean held-out loss."""

    learner: Learner
    loss: float
    error: float = 0.0
    """The standard error of that mean."""


@dataclass(frozen=True)
class Tuning:
    """What cross-validation chose, and all that it tried."""

    best: Learner
    trials: tuple[Trial, ...] = ()
    share: float = 1.0
    """The fraction of the rows that it was tuned on: a chosen ridge is scaled by it."""

    @property
    def simplest(self) -> Learner:
        """The most regularised learner within one standard error of the best.

        Wrong labels that are alike look learnable: the best fit of the labels as given bends to them.
        """
        if not self.trials:
            return self.best
        best = min(self.trials, key=lambda trial: trial.loss)
        near = [trial.learner for trial in self.trials if trial.loss <= best.loss + best.error]
        return _rescaled(max(near, key=_regularisation), self.share)


def tune(
    learner: Learner,
    X: Matrix,
    y: Targets,
    k: int,
    random_state: Seed = None,
    report: Report = silent,
) -> Tuning:
    """Fill in the hyperparameters that are None; y holds codes of k classes, or values with k = 0.

    >>> from duti import Ridge
    >>> tune(Ridge(), np.array([[1.0], [2.0], [3.0]]), np.array([2.0, 4.0, 6.0]), k=0).best
    Ridge(ridge=1e-06, intercept=False)
    """
    if not learner.untuned:
        return Tuning(learner)
    rng = generator(random_state)
    sample = sample_rows(y, k, rng)
    share, X, y = len(sample) / len(y), X[sample], y[sample]
    folds, targets = assign_folds(y, k, rng), label_targets(y, k)
    maps = list(_bandwidths(learner, X))
    trials: list[Trial] = []
    for done, candidate in enumerate(maps):
        report("tuning the learner", done, len(maps))
        previous = np.inf
        for trial in _trials(candidate, X, targets, folds, rng):
            trials.append(trial)
            if trial.loss > max(previous, BEHIND * min(trial.loss for trial in trials)):
                break
            previous = trial.loss
    report("tuning the learner", len(maps), len(maps))
    best = trials[0]
    for trial in trials:  # from the most regularised to the least
        if trial.loss < best.loss * (1 - TIE):
            best = trial
    share = share if learner.ridge is None else 1.0
    return Tuning(_rescaled(best.learner, share), tuple(trials), share)


def _rescaled(learner: Learner, share: float) -> Learner:
    """The learner for all rows, if it was tuned on a share of them."""
    if share == 1 or learner.ridge is None:
        return learner
    return learner.with_(ridge=max(share * learner.ridge, min(RIDGES)))


def _regularisation(learner: Learner) -> tuple[float, float]:
    """Larger for learners that bend less."""
    return learner.ridge or 0.0, getattr(learner, "bandwidth", None) or 0.0


def sample_rows(y: Targets, k: int, rng: np.random.Generator, number: int | None = None) -> Ints:
    """About so many rows, each class in proportion but enough of it for the folds; all if they are few.

    >>> len(sample_rows(np.zeros(1500), 0, np.random.default_rng(0)))
    1000
    """
    number = ROWS if number is None else number
    if len(y) <= number:
        return np.arange(len(y))
    share = number / len(y)
    drawn = [rng.permutation(rows)[: max(FOLDS, round(share * len(rows)))] for rows in _strata(y, k)]
    return np.sort(np.concatenate(drawn))


def assign_folds(y: Targets, k: int, rng: np.random.Generator) -> Ints:
    """The fold of each row, −1 for rows that are never held out.

    >>> folds = assign_folds(np.array([0, 0, 0, 1, 1, 1, 2]), 3, np.random.default_rng(0))
    >>> folds[-1], folds.max()
    (np.int64(-1), np.int64(2))
    """
    strata = [rng.permutation(rows) for rows in _strata(y, k)]
    number = min([FOLDS, *(len(rows) for rows in strata if len(rows) > 1)])
    folds = np.empty(len(y), dtype=np.int64)
    start = 0
    for rows in strata:
        folds[rows] = (start + np.arange(len(rows))) % number if len(rows) > 1 else -1
        start += len(rows)  # the next class goes on where this one stopped, so that folds are even
    return folds


def _strata(y: Targets, k: int) -> list[Ints]:
    """The rows of each class; all rows of a regression."""
    return [np.flatnonzero(y == label) for label in range(k)] if k else [np.arange(len(y))]


def _bandwidths(learner: Learner, X: Matrix) -> Iterator[Learner]:
    if "bandwidth" not in learner.untuned:
        yield learner
        return
    scale = median_distance(learner, X)
    for factor in BANDWIDTHS:
        yield learner.with_(bandwidth=factor * scale)


def median_distance(learner: Learner, X: Matrix) -> float:
    """Median distance between rows, in the units the kernel will see."""
    if not isinstance(X, np.ndarray):
        return 1.0  # the kernel itself refuses sparse rows, with a remedy
    if getattr(learner, "standardize", False):
        scale = X.std(axis=0)
        X = X / np.where(scale > 0, scale, np.inf)
    distances = pdist(X)
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 1.0


def _trials(
    learner: Learner, X: Matrix, targets: Array, folds: Ints, rng: np.random.Generator
) -> Iterator[Trial]:
    """One feature map, ridges from the largest to the smallest."""
    columns = Columns(orthogonal(learner.features().fit(X, rng)(X)), intercept=learner.intercept)
    ridges = RIDGES if learner.ridge is None else (learner.ridge,)
    held_out = squared_errors if targets.ndim == 1 else log_losses
    for ridge, losses in zip(ridges, held_out(columns, targets, folds, ridges), strict=True):
        number = max(len(losses), 1)
        mean = float(losses.sum()) / number
        yield Trial(learner.with_(ridge=ridge), mean, float(np.linalg.norm(losses - mean)) / number)
