"""The learners that the automatic recipe asks, with features that they share.

Nothing is tuned on labels that may be wrong: every learner of a small grid is asked, and weighted
afterwards by what it says of trusted items it has not seen. The grid: `bandwidth` is the median
distance between rows times 2, 1, ½; `ridge` is 0.1, 0.01, 0.001, 1e-4 (to 1e-6 in regression).
Hyperparameters that the user gave stay as they are.

One feature map serves all ridges of a bandwidth, rotated until its columns are orthogonal: columns
that a ridge shrinks to nothing are left out, so that strongly regularised learners cost little.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh

from duti.arrays import Array, Matrix
from duti.features import features_of
from duti.learners import KernelLogistic, KernelRidge, Learner
from duti.problem import Problem
from duti.randomness import Seed, generator
from duti.tune import median_distance

BANDWIDTHS = (2.0, 1.0, 0.5)
RIDGES = {"classification": (1e-1, 1e-2, 1e-3, 1e-4), "regression": (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)}
EXACT_ROWS, RANK = 500, 300
"""The kernel of more rows is approximated; so many features are used at most."""
LARGE_ROWS, LARGE_RANK = 5000, 1000
"""More features are used from so many rows on."""
CHOSEN_ON, FINALISTS = 3000, 2
"""With more rows, learners are chosen on a sample of so many, and so many of them are heard on all rows."""
NEGLIGIBLE = 2e-3
"""A feature that keeps less than this fraction of itself under a ridge is left out."""
CURVATURE = {"classification": 0.25, "regression": 1.0}
"""The largest weight of a row in ZᵀWZ, relative to that of the ridge."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A learner with known hyperparameters, and its features of the rows and of the trusted items."""

    learner: Learner
    Z: Matrix
    Z_trusted: Matrix


def candidates(problem: Problem, learner: Learner, random_state: Seed = None) -> Iterator[Candidate]:
    """Learners that fill in what is None, those with the widest kernel and the largest ridge first.

    >>> from duti import Logistic
    >>> problem = Problem([[0.0], [0.5], [1.0]], ["a", "b", "b"], [[0.4]], ["a"])
    >>> [candidate.learner.ridge for candidate in candidates(problem, Logistic())]
    [0.1, 0.01, 0.001, 0.0001]
    """
    ridges = RIDGES[problem.task] if learner.ridge is None else (learner.ridge,)
    rank = LARGE_RANK if problem.n > LARGE_ROWS else RANK
    for mapped in _with_bandwidths(problem, learner, rank):
        fitted = mapped.features().fit(problem.X, generator(random_state))
        Z, Zt = features_of(fitted, problem.X), features_of(fitted, problem.X_trusted)
        if not (isinstance(Z, np.ndarray) and isinstance(Zt, np.ndarray)):
            for ridge in ridges:
                yield Candidate(mapped.with_(ridge=ridge), Z, Zt)
            continue
        lengths, V = (part[..., -rank:] for part in eigh(Z.T @ Z))
        Z, Zt = Z @ V, Zt @ V
        for ridge in ridges:
            kept = _kept(lengths, problem, ridge)
            yield Candidate(mapped.with_(ridge=ridge), Z[:, kept], Zt[:, kept])


def _with_bandwidths(problem: Problem, learner: Learner, rank: int) -> Iterator[Learner]:
    """The learner with one bandwidth after the other, its kernel approximated if there are many rows."""
    many = problem.n > EXACT_ROWS
    if isinstance(learner, KernelLogistic | KernelRidge) and many and learner.approximation == "auto":
        learner = replace(learner, approximation="nystroem", components=learner.components or rank)
    if "bandwidth" not in learner.untuned:
        yield learner
        return
    scale = median_distance(learner, problem.X)
    for factor in BANDWIDTHS:
        yield learner.with_(bandwidth=factor * scale)


def _kept(lengths: Array, problem: Problem, ridge: float) -> slice:
    """The columns, from the last, of which a fit with this ridge keeps more than a trace."""
    traces = NEGLIGIBLE * problem.n * ridge / CURVATURE[problem.task]
    return slice(min(int((lengths <= traces).sum()), len(lengths) - 1), None)
