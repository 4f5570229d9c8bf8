"""The learners that the automatic recipe trains, with features that they share.

Nothing is tuned on labels that may be wrong: every learner of a small grid is trained, and weighed
afterwards by what it predicts of trusted items it has not seen. The grid: `bandwidth` is the median
distance between rows times 2, 1, ½; `ridge` is 1e-4, 0.001, 0.01, 0.1 (from 0.1 to 1e-6 in regression, where
ten trusted items can also tell whether wider kernels are better). Hyperparameters that the user gave stay as
they are.

One feature map serves all ridges of a bandwidth, rotated until its columns are orthogonal: columns
that a ridge shrinks to nothing are left out, so that strongly regularised learners cost little.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh

from duti.arrays import Array, Matrix
from duti.automatic.leave_one_out import FOLDS
from duti.features import FittedMap
from duti.learners import KernelLogistic, KernelRidge, Learner
from duti.objective import features_for
from duti.problem import Problem, Task
from duti.randomness import Seed, generator
from duti.tune import median_distance
from duti.tune.columns import NEGLIGIBLE

BANDWIDTHS = (8.0, 4.0, 2.0, 1.0, 0.5)
"""The two widest only where many items tell whether they are better."""
MANY_ITEMS = 2 * FOLDS
"""From two trusted items in every fold on, more learners of a regression are told apart."""
RIDGES = {"classification": (1e-4, 1e-3, 1e-2, 1e-1), "regression": (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)}
CHOSEN_ON = 3000
"""With more rows, learners are chosen on a sample of so many."""
FINALISTS = 2
"""So many of them are trained on all rows."""
RANKS = {500: 300, CHOSEN_ON: 1000}
"""The kernel of more rows than these is approximated, by so many features."""
CURVATURE = {"classification": (1 / 2) ** 2, "regression": 1.0}
"""The largest weight of a row in ZᵀWZ, relative to that of the ridge: p(1 − p) for softmax."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A learner with known hyperparameters, and its features, ones for an intercept included."""

    learner: Learner
    Z: Matrix
    Z_trusted: Matrix
    interpolating: bool = False
    """Whether, of a whole grid, it is the learner that can follow any labels."""

    @property
    def features(self) -> tuple[Matrix, Matrix]:
        """As an objective takes them."""
        return self.Z, self.Z_trusted


def candidates(problem: Problem, learner: Learner, random_state: Seed = None) -> Iterator[Candidate]:
    """Learners that fill in what is None: those with the widest kernel first, their ridges in order.

    >>> from duti import Logistic
    >>> problem = Problem([[0.0], [0.5], [1.0]], ["a", "b", "b"], [[0.4]], ["a"])
    >>> [candidate.learner.ridge for candidate in candidates(problem, Logistic())]
    [0.0001, 0.001, 0.01, 0.1]
    """
    ridges = RIDGES[problem.task] if learner.ridge is None else (learner.ridge,)
    kernels = list(_with_bandwidths(problem, approximated(problem, learner)))
    for mapped in kernels:
        fitted = mapped.features().fit(problem.X, generator(random_state))
        if isinstance(problem.X, np.ndarray):
            lengths, axes = _axes(fitted, problem, _rank(problem))
            numbers = [_kept(lengths, problem, ridge) for ridge in ridges]
            fitted = _Rotated(fitted, axes[:, -max(numbers) :])
        else:
            numbers = [0] * len(ridges)  # sparse columns stay as they are
        Z, Zt = features_for(problem, fitted, intercept=mapped.intercept)
        for ridge, number in zip(ridges, numbers, strict=True):
            last = number + mapped.intercept
            some = slice(-last, None) if 0 < number < max(numbers) else slice(None)
            closest = ridge == min(ridges) and len(ridges) > 1
            interpolating = closest and mapped is kernels[-1] and len(kernels) > 1
            yield Candidate(mapped.with_(ridge=ridge), Z[:, some], Zt[:, some], interpolating)


@dataclass(frozen=True, eq=False)
class _Rotated:
    """The features of a map along other axes."""

    fitted: FittedMap
    axes: Array

    def __call__(self, X: Matrix) -> Matrix:
        return self.fitted(X) @ self.axes


def _axes(fitted: FittedMap, problem: Problem, rank: int) -> tuple[Array, Array]:
    """Squared lengths of Z along orthogonal axes, and the axes, shortest first; many rows by some of them."""
    step = max(1, problem.n // CHOSEN_ON)
    Z = fitted(problem.X[::step])
    lengths, axes = eigh(Z.T @ Z)
    return step * lengths[-rank:], axes[:, -rank:]


def approximated(problem: Problem, learner: Learner) -> Learner:
    """The learner with its kernel approximated if there are many rows, by more features if very many.

    >>> problem = Problem([[0.0], [0.5], [1.0]], ["a", "b", "b"], [[0.4]], ["a"])
    >>> approximated(problem, KernelLogistic()).approximation
    'auto'
    """
    if not isinstance(learner, KernelLogistic | KernelRidge) or learner.approximation != "auto":
        return learner
    if problem.n <= min(RANKS):
        return learner
    return replace(learner, approximation="nystroem", components=learner.components or _rank(problem))


def _rank(problem: Problem) -> int:
    return max((rank for rows, rank in RANKS.items() if problem.n > rows), default=min(RANKS.values()))


def _with_bandwidths(problem: Problem, learner: Learner) -> Iterator[Learner]:
    """The learner with one bandwidth after the other."""
    if "bandwidth" not in learner.untuned:
        yield learner
        return
    scale = median_distance(learner, problem.X)
    for factor in _bandwidths(problem):
        yield learner.with_(bandwidth=factor * scale)


def _bandwidths(problem: Problem) -> tuple[float, ...]:
    """Relative to the median distance between rows."""
    many = problem.task == "regression" and problem.m >= MANY_ITEMS
    return BANDWIDTHS if many else BANDWIDTHS[2:]


def _kept(lengths: Array, problem: Problem, ridge: float) -> int:
    """The number of axes, from the last, of which a fit with this ridge keeps more than a trace."""
    traces = NEGLIGIBLE * problem.n * ridge / CURVATURE[problem.task]
    return max(int((lengths > traces).sum()), 1)


def number_of(problem: Problem, learner: Learner) -> int:
    """How many candidates there are for a learner.

    >>> problem = Problem([[0.0], [0.5], [1.0]], ["a", "b", "b"], [[0.4]], ["a"])
    >>> number_of(problem, KernelLogistic()), number_of(problem, KernelLogistic(ridge=0.1))
    (12, 3)
    """
    ridges = len(RIDGES[learner.task]) if learner.ridge is None else 1
    return ridges * (len(_bandwidths(problem)) if "bandwidth" in learner.untuned else 1)


def scalings(learner: Learner | None, task: Task) -> tuple[Learner, ...]:
    """The learner that was given; else the kernel learner with columns standardised, and as they are.

    >>> [learner.standardize for learner in scalings(None, "classification")]
    [True, False]
    """
    if learner is not None:
        return (learner,)
    kind = KernelLogistic if task == "classification" else KernelRidge
    return kind(standardize=True), kind(standardize=False)


def for_all_rows(chosen: Learner, asked: Learner, share: float) -> Learner:
    """A candidate that was chosen on a share of the rows: the same prior against more rows.

    >>> for_all_rows(KernelLogistic(2.0, 0.5), KernelLogistic(2.0), share=0.5).ridge
    0.25
    """
    if isinstance(chosen, KernelLogistic | KernelRidge) and isinstance(asked, KernelLogistic | KernelRidge):
        chosen = replace(chosen, approximation=asked.approximation, components=asked.components)
    if asked.ridge is not None or chosen.ridge is None:
        return chosen
    return chosen.with_(ridge=share * chosen.ridge)
