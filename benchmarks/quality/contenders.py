"""Who competes, with settings fixed beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec

import numpy as np
from scipy.sparse import issparse

from benchmarks.quality.answers import Answer, Reading, default_call, peer, verified_call
from benchmarks.quality.forests import CrossFitted, OnTrusted, OutOfBag
from duti.arrays import Array, Matrix, Targets
from duti.baselines import (
    Cleanlab,
    Influence,
    KNNShapley,
    NearestTrusted,
    NormalizedMargin,
    Pooled,
    SelfConfidence,
    TrainingLoss,
    TrustedOnly,
)
from duti.datasets import LabelledBugs
from duti.detector import Detector
from duti.experiments.contenders import coarse, oracle, paper
from duti.findings import Findings
from duti.learners import KernelLogistic, KernelRidge, Learner, default_learner
from duti.problem import Problem
from duti.tune import FOLDS, tune

OURS, VERIFIED = "DUTI, automatic", "DUTI, verified"
PUBLISHED, ORACLE = "DUTI, published", "LND"
CONFIDENT, MARGIN, HELD_OUT = "cleanlab self-confidence", "cleanlab margin", "held-out residual"
TRAINING, INFLUENCE, NEAREST, SHAPLEY = "training loss", "INF", "NN", "KNN-Shapley"
TRUSTED, POOLED = "trusted only", "pooled"
FOREST, BOOSTING = "forest, cross-fitted", "boosting, cross-fitted"
FOREST_OUT_OF_BAG, FOREST_TRUSTED = "forest, out of bag", "forest, trusted only"
FOREST_POOLED = "forest, pooled"
PEERS = (
    *(PUBLISHED, CONFIDENT, MARGIN, HELD_OUT, TRAINING, INFLUENCE, NEAREST, SHAPLEY, TRUSTED, POOLED),
    *(FOREST, BOOSTING, FOREST_OUT_OF_BAG, FOREST_TRUSTED, FOREST_POOLED),
)
NAMES = (OURS, VERIFIED, *PEERS, ORACLE)
ROLES = {"ours": (OURS, VERIFIED), "peers": (*PEERS, ORACLE)}
"""Short names for several contenders."""
LARGE, SMALL = 10_000, 500
"""Rows above which what takes more than minutes is left out, and up to which the published recipe, and the
oracle, take part."""
MANY_CLASSES = 6
"""From so many on, the published recipe with tiny ridges and gaps would take hours."""


@dataclass(frozen=True)
class Rival:
    """A contender that is ready to answer."""

    name: str
    answer: Callable[[], Answer]


@dataclass(frozen=True, eq=False)
class Trial:
    """A draw, and what the peers share: it takes longer than ours, which does without."""

    data: LabelledBugs

    @property
    def k(self) -> int:
        return 0 if self.data.truth.dtype.kind == "f" else len(np.unique(self.data.y))

    @cached_property
    def problem(self) -> Problem:
        data = self.data
        return Problem(data.X, data.y, data.X_trusted, data.y_trusted)

    @cached_property
    def tuned(self) -> Learner:
        """The learner of the labels as given."""
        return preferred(self.problem.X, self.problem.y, self.problem.k)

    @cached_property
    def of_trusted(self) -> Learner:
        """The learner of the trusted items where there are enough to tune it, else that of the rows."""
        X, y, k = self.problem.X_trusted, self.problem.y_trusted, self.problem.k
        enough = np.bincount(y, minlength=k).min() >= 2 if k else len(y) >= FOLDS
        return preferred(X, y, k) if enough else self.tuned


def preferred(X: Matrix, y: Targets, k: int) -> Learner:
    """The tuned kernel learner, with features scaled or as they are: whichever cross-validation likes best.

    Sparse rows, which are text, have a linear learner.
    """
    if issparse(X):
        return tune(default_learner("classification" if k else "regression", sparse=True), X, y, k).best
    scalings = True, False
    learners: list[Learner] = (
        [KernelLogistic(standardize=one) for one in scalings]
        if k
        else [KernelRidge(intercept=True, standardize=one) for one in scalings]
    )
    # Both are tuned on the same folds.
    tunings = [tune(learner, X, y, k, random_state=0) for learner in learners]
    return min(tunings, key=lambda tuning: min(trial.loss for trial in tuning.trials)).best


def rivals(trial: Trial) -> list[Rival]:
    """All that can rank a draw."""
    data = trial.data
    chosen = [Rival(OURS, lambda: default_call(data))]
    if data.given_trusted is not None and isinstance(data.X, np.ndarray):
        chosen.append(Rival(VERIFIED, lambda: verified_call(data)))
    return [*chosen, *(_rival(*entry, trial) for entry in _peers(trial))]


Entry = tuple[str, Callable[[], Detector], Reading | None]
"""A name, how the detector is made, and how its findings read as probabilities."""


def _rival(name: str, detector: Callable[[], Detector], reading: Reading | None, trial: Trial) -> Rival:
    return Rival(name, lambda: peer(detector().rank(trial.problem), reading))


def _peers(trial: Trial) -> Iterator[Entry]:
    n, k, data = len(trial.data.y), trial.k, trial.data
    reading = _of_score if k else None
    if n <= SMALL and isinstance(data.X, np.ndarray):
        yield PUBLISHED, lambda: _published(trial), None
    if k:
        confident = Cleanlab if has_cleanlab() else SelfConfidence
        yield CONFIDENT, lambda: confident(trial.tuned, n), _of_score
    else:
        yield HELD_OUT, lambda: SelfConfidence(trial.tuned, n), None
    if k > 2 and n <= LARGE:  # of two classes the margin ranks as the confidence does
        yield MARGIN, lambda: _margin(trial.tuned, n), None
    yield TRAINING, lambda: TrainingLoss(trial.tuned, n), _of_loss if k else None
    yield INFLUENCE, lambda: Influence(trial.tuned, n), None
    yield NEAREST, lambda: NearestTrusted(n), None
    yield TRUSTED, lambda: TrustedOnly(trial.of_trusted, n), reading
    yield POOLED, lambda: Pooled(trial.tuned, n), reading
    if k:
        yield SHAPLEY, lambda: KNNShapley(n), None
    yield from _forests(trial, reading)
    if k == 2 and n <= SMALL and data.is_bug.any():
        yield ORACLE, lambda: oracle().detector(data), None


def _forests(trial: Trial, reading: Reading | None) -> Iterator[Entry]:
    yield FOREST_OUT_OF_BAG, OutOfBag, reading
    yield FOREST_TRUSTED, OnTrusted, reading
    if len(trial.data.y) <= LARGE:
        yield FOREST_POOLED, lambda: OutOfBag(pooled=True), reading
        yield FOREST, CrossFitted, reading
        if isinstance(trial.data.X, np.ndarray):  # boosting takes no sparse rows
            yield BOOSTING, lambda: CrossFitted("boosting"), reading


def _published(trial: Trial) -> Detector:
    tuned = trial.tuned
    many = trial.k >= MANY_CLASSES
    contenders = coarse(tuned, least_ridge=1e-4, rtol=1e-2) if many else paper(tuned)
    return contenders[0].detector(trial.data)


def _margin(tuned: Learner, n: int) -> Detector:
    return Cleanlab(tuned, n, method="normalized_margin") if has_cleanlab() else NormalizedMargin(tuned, n)


def has_cleanlab() -> bool:
    """Whether the scores are cleanlab's own, or duti's, which are the same numbers."""
    return find_spec("cleanlab") is not None


def _of_score(found: Findings) -> Array:
    """1 − p(given label) is the score itself."""
    return found.deviation


def _of_loss(found: Findings) -> Array:
    """The loss is −log p(given label)."""
    return -np.expm1(-found.deviation)
