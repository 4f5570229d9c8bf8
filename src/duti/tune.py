"""Cross-validation of the learner's hyperparameters, on the training labels as given.

The grid: `bandwidth` is the median distance between rows times ¼, ½, 1, 2, 4; `ridge` is 1, 0.1 …
1e-6. Rows are shuffled into 10 folds, class by class; with fewer than 10 rows in the rarest class
there are as many folds as it has rows, and the only row of a class is never held out. The score
is the mean held-out log loss or squared error; among equals the most regularised wins. A learner
whose log loss is a quarter above the best after three folds is not tried on the others.

One feature map serves all folds of a bandwidth: it depends on X alone, and a ridge solution on some
rows lies in the span of their features, so each fold gives what it would have given by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve
from scipy.spatial.distance import pdist

from duti.arrays import Array, Ints, Matrix, Targets
from duti.features.rows import Rows
from duti.learners import Learner
from duti.learners.erm import Fit
from duti.learners.model import label_targets
from duti.learners.preconditioner import DENSE_FEATURES
from duti.progress import Report, silent
from duti.randomness import Seed, generator

FOLDS = 10
RIDGES = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
BANDWIDTHS = (4.0, 2.0, 1.0, 0.5, 0.25)
DISTANCE_ROWS = 1000
FIT_TOL = 1e-2
"""Accuracy of a fit, as a fraction of its ridge: coarse, but finer than what tells learners apart."""
TIE = 1e-6
RACE_FOLDS, BEHIND = 3, 1.25
"""After so many folds a learner with so many times the log loss of the best is tried no further."""
NEGLIGIBLE = 2e-3
"""A feature that keeps less than this fraction of itself under a ridge is left out of the fit."""


@dataclass(frozen=True)
class Trial:
    """A learner and its mean held-out loss over the folds it was tried on."""

    learner: Learner
    loss: float
    complete: bool = True
    """Whether that was all of them; only then can it be chosen."""


@dataclass(frozen=True)
class Tuning:
    """What cross-validation chose, and all that it tried."""

    best: Learner
    trials: tuple[Trial, ...] = ()


def tune(
    learner: Learner,
    X: Matrix,
    y: Targets,
    k: int,
    random_state: Seed = None,
    report: Report = silent,
) -> Tuning:
    """Fill in the hyperparameters that are None; y holds codes of k classes, or values with k = 0."""
    if not learner.untuned:
        return Tuning(learner)
    rng = generator(random_state)
    folds = assign_folds(y, k, rng)
    maps = list(_bandwidths(learner, X, rng))
    trials: list[Trial] = []
    race = _Race(np.bincount(folds[folds >= 0], minlength=1))
    for done, candidate in enumerate(maps):
        report("tuning the learner", done, len(maps))
        trials += _trials(candidate, X, label_targets(y, k), folds, rng, race)
    report("tuning the learner", len(maps), len(maps))
    complete = [trial for trial in trials if trial.complete]
    best = complete[0]
    for trial in complete:  # from the most regularised to the least
        if trial.loss < best.loss * (1 - TIE):
            best = trial
    return Tuning(best.learner, tuple(trials))


class _Race:
    """Compares learners fold by fold, so that those far behind need not be tried on every fold."""

    def __init__(self, sizes: Ints) -> None:
        self.sizes = sizes
        self.best = np.full(len(sizes), np.inf)
        """Summed losses on each fold of the best learner so far."""

    def is_lost(self, losses: Array, rivals: Array) -> bool:
        """Whether the losses on the first folds are a quarter above the best on the same folds."""
        done = len(losses)
        ahead = min(self.best[:done].sum(), rivals.sum())
        return done >= RACE_FOLDS and losses.sum() > BEHIND * ahead

    def finish(self, losses: Array) -> None:
        """Take in the losses of a learner that was tried on every fold."""
        if losses.sum() < self.best.sum():
            self.best = losses


def assign_folds(y: Targets, k: int, rng: np.random.Generator) -> Ints:
    """The fold of each row, −1 for rows that are never held out.

    >>> folds = assign_folds(np.array([0, 0, 0, 1, 1, 1, 2]), 3, np.random.default_rng(0))
    >>> folds[-1], folds.max()
    (np.int64(-1), np.int64(2))
    """
    counts = np.bincount(y, minlength=k) if k else np.array([len(y)])
    number = int(min(FOLDS, counts[counts > 1].min(initial=len(y))))
    folds = np.empty(len(y), dtype=np.int64)
    start = 0
    for label in range(k or 1):
        members = rng.permutation(np.flatnonzero(y == label) if k else np.arange(len(y)))
        folds[members] = (start + np.arange(len(members))) % number if len(members) > 1 else -1
        start += len(members)  # the next class goes on where this one stopped, so that folds are even
    return folds


def _bandwidths(learner: Learner, X: Matrix, rng: np.random.Generator) -> Iterator[Learner]:
    if "bandwidth" not in learner.untuned:
        yield learner
        return
    scale = median_distance(learner, X, rng)
    for factor in BANDWIDTHS:
        yield learner.with_(bandwidth=factor * scale)


def median_distance(learner: Learner, X: Matrix, rng: np.random.Generator) -> float:
    """Median distance between rows, in the units the kernel will see."""
    if not isinstance(X, np.ndarray):
        return 1.0  # the kernel itself refuses sparse rows, with a remedy
    some = X[rng.choice(len(X), DISTANCE_ROWS, replace=False)] if len(X) > DISTANCE_ROWS else X
    if getattr(learner, "standardize", False):
        scale = X.std(axis=0)
        some = some / np.where(scale > 0, scale, np.inf)
    distances = pdist(some)
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 1.0


def _trials(
    learner: Learner, X: Matrix, targets: Array, folds: Ints, rng: np.random.Generator, race: _Race
) -> list[Trial]:
    """One feature map, all ridges."""
    rows = Rows(learner.features().fit(X, rng)(X), intercept=learner.intercept)
    ridges = RIDGES if learner.ridge is None else (learner.ridge,)
    candidates = [learner.with_(ridge=ridge) for ridge in ridges]
    if targets.ndim == 1:
        errors = _squared_errors(candidates, rows, targets, folds)
        return [Trial(c, loss) for c, loss in zip(candidates, errors, strict=True)]
    return _log_loss_trials(candidates, rows, targets, folds, race)


def _log_loss_trials(
    learners: list[Learner], rows: Rows, targets: Array, folds: Ints, race: _Race
) -> list[Trial]:
    """Held-out log loss of each learner, warm-started from one ridge to the next."""
    columns = _columns_that_matter(learners, rows)
    losses: list[list[float]] = [[] for _ in learners]
    running = list(range(len(learners)))
    for fold in range(folds.max() + 1):
        held = folds == fold
        seen, unseen, labels = rows.subset(~held), rows.subset(held), targets[~held]
        fit: Fit | None = None
        for i in running:
            erm = learners[i].erm(seen.columns(columns[i]), targets.shape[1])
            start = None if fit is None else erm.adopt(fit, labels)
            fit = erm.fit(labels, start, tol=FIT_TOL * min(learners[i].ridge or 1.0, 1e-3))
            scores = unseen.columns(columns[i]).times(fit.theta)
            losses[i].append(float(erm.loss.values(scores, targets[held]).sum()))
        if not running:
            break
        rivals = np.asarray(min((losses[i] for i in running), key=sum))
        running = [i for i in running if not race.is_lost(np.asarray(losses[i]), rivals)]
    for i in running:
        race.finish(np.asarray(losses[i]))
    return [
        Trial(learner, sum(losses[i]) / max(int(race.sizes[: len(losses[i])].sum()), 1), i in running)
        for i, learner in enumerate(learners)
    ]


def _columns_that_matter(learners: list[Learner], rows: Rows) -> list[Ints]:
    """For each ridge, the features it does not shrink to nothing; more of them as the ridge falls.

    Features of an exact kernel map are orthogonal, with squared lengths e: the curvature of a logistic
    loss is at most ¼, so a fit keeps at most a fraction e/4 / (nλ) of a feature with a small e.
    """
    if rows.D > DENSE_FEATURES:
        return [np.arange(rows.D)] * len(learners)
    features = rows.D - learners[0].intercept
    gram = rows.gram()[:features, :features]
    e = np.diag(gram).copy()
    if abs(gram - np.diag(e)).max() > 1e-8 * e.max():
        return [np.arange(rows.D)] * len(learners)
    rows.orthogonal = True
    order, last = np.argsort(-e, kind="stable"), np.arange(features, rows.D)
    kept = [int((e > 4 * NEGLIGIBLE * rows.n * (learner.ridge or 0.0)).sum()) for learner in learners]
    return [np.concatenate([order[: max(number, 1)], last]) for number in kept]


def _squared_errors(learners: list[Learner], rows: Rows, targets: Array, folds: Ints) -> Array:
    """Held-out squared error of each learner, without training once for each fold.

    With the hat matrix S of all rows, the residuals of rows F when they are left out are
    (I − S_FF)⁻¹ (y − Sy)_F.
    """
    H, Zy = rows.gram(), rows.transposed_times(targets)
    members = [np.flatnonzero(folds == fold) for fold in range(folds.max() + 1)]
    total = np.zeros(len(learners))
    for i, learner in enumerate(learners):
        penalty = learner.erm(rows, 0).penalty / 2
        for size in sorted({len(F) for F in members}):
            # The learner that does not see F averages over n − |F| rows: its penalty is (n − |F|)λ.
            factor = cho_factor(H + np.diag((rows.n - size) * penalty + 1e-14 * np.trace(H) / len(H)))
            theta = cho_solve(factor, Zy)
            for F in (F for F in members if len(F) == size):
                Z_F = rows.take(F)
                S_FF = Z_F @ cho_solve(factor, Z_F.T)
                left_out = solve(np.eye(size) - S_FF, targets[F] - Z_F @ theta, assume_a="pos")
                total[i] += float(left_out @ left_out)
    return total / rows.n
