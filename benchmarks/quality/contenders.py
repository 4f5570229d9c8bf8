"""Who competes, with settings fixed beforehand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from duti.arrays import Array
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
from duti.experiments.contenders import automatic, coarse, oracle, paper
from duti.findings import Findings
from duti.learners import Learner
from duti.problem import Problem

OURS, PUBLISHED, ORACLE = "DUTI, automatic", "DUTI, published", "LND"
CONFIDENT, MARGIN, HELD_OUT = "cleanlab self-confidence", "cleanlab margin", "held-out residual"
TRAINING, INFLUENCE, NEAREST, SHAPLEY = "training loss", "INF", "NN", "KNN-Shapley"
TRUSTED, POOLED = "trusted only", "pooled"
NAMES = (
    OURS,
    PUBLISHED,
    CONFIDENT,
    MARGIN,
    HELD_OUT,
    TRAINING,
    INFLUENCE,
    NEAREST,
    SHAPLEY,
    TRUSTED,
    POOLED,
    ORACLE,
)
LARGE, SMALL = 10_000, 1000
"""Rows above which what takes more than minutes is left out, and up to which the oracle takes part."""
MANY_CLASSES = 10
"""From so many on, the published recipe with tiny ridges and gaps would take hours."""


@dataclass(frozen=True)
class Rival:
    """A detector, and how its findings read as probabilities of bugs, if they do."""

    name: str
    detector: Detector
    probability: Callable[[Findings], Array] | None = None


def rivals(data: LabelledBugs, problem: Problem, learner: Learner | None, tuned: Learner) -> list[Rival]:
    """All that can rank a problem, with the learner as it was tuned once for all of them."""
    n, k = problem.n, problem.k
    chosen = [Rival(OURS, automatic(learner).detector(data), lambda found: 1 - found.label_quality)]
    if n <= LARGE:
        many = k >= MANY_CLASSES
        published = coarse(tuned, least_ridge=1e-4, rtol=1e-2) if many else paper(tuned)
        chosen.append(Rival(PUBLISHED, published[0].detector(data)))
    chosen += [
        *(_held_out(tuned, n) if k else [Rival(HELD_OUT, SelfConfidence(tuned, n))]),
        Rival(TRAINING, TrainingLoss(tuned, n), _of_loss if k else None),
        Rival(INFLUENCE, Influence(tuned, n)),
        Rival(NEAREST, NearestTrusted(n)),
        # Its learner is tuned on the trusted items where there are enough of them.
        Rival(TRUSTED, TrustedOnly(learner, n), _of_score if k else None),
        Rival(POOLED, Pooled(tuned, n), _of_score if k else None),
    ]
    if k:
        chosen.append(Rival(SHAPLEY, KNNShapley(n)))
    if k == 2 and n <= SMALL:
        chosen.append(Rival(ORACLE, oracle().detector(data)))
    return chosen


def has_cleanlab() -> bool:
    """Whether the scores are cleanlab's own, or duti's, which are the same numbers."""
    return find_spec("cleanlab") is not None


def _held_out(tuned: Learner, n: int) -> list[Rival]:
    confident: Detector = Cleanlab(tuned, n) if has_cleanlab() else SelfConfidence(tuned, n)
    if n > LARGE:  # ten more fits, for another score of the same predictions, would take minutes
        return [Rival(CONFIDENT, confident, _of_score)]
    ours = NormalizedMargin(tuned, n)
    margin: Detector = Cleanlab(tuned, n, method="normalized_margin") if has_cleanlab() else ours
    return [Rival(CONFIDENT, confident, _of_score), Rival(MARGIN, margin)]


def _of_score(found: Findings) -> Array:
    """1 − p(given label) is the score itself."""
    return found.deviation


def _of_loss(found: Findings) -> Array:
    """The loss is −log p(given label)."""
    return -np.expm1(-found.deviation)
