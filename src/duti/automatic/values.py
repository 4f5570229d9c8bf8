"""Regression: every learner is debugged at its own noise level, and weighed by trusted items it has not seen.

At γ/2 = the noise level σ of a learner, E = Zh is the value that a row should have: labels closer to it
than σ stay. Where there are many trusted items, learners of these alone are heard too. A learner's weight is
e^(−T m log r), where r is the root mean square error on trusted items that were left out, a fold at a time:
Gaussian likelihood with its own variance. Of debugged learners that err alike the stiffer one is believed
more. Rows are ranked by how far their label is from the weighted mean of E, in units of what is usual.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from scipy.special import expit, logit

from duti.arrays import Array, Ints, Mask
from duti.automatic.asking import Asking
from duti.automatic.candidates import CHOSEN_ON, MANY_ITEMS, Candidate
from duti.automatic.voices import Kind
from duti.features.rows import Rows
from duti.learners import Learner
from duti.objective import Objective
from duti.opinions import BugCount
from duti.path import INFLATED, Step, last_gamma, noise_level
from duti.problem import Problem
from duti.solvers import Solution
from duti.solvers.huber_newton import HuberNewton

SHARPNESS, TOLD_APART_BY = 0.5, 15
"""T: how far an item that was left out counts as an observation; more items tell learners apart no better."""
STIFFER = 0.25
"""With many items, the power of its ridge by which a debugged learner is believed more."""
NEVER_MISLED = 2.0
"""The prior of a learner of the trusted items alone, which has seen no wrong label."""
UNHEARD = 1e-2
"""A learner whose weight is below this fraction of the best one's is not asked further."""
FOLDS = 5
UNUSUAL = 3.0
"""Labels so many noise levels away are flagged."""
NOT_NOISE = 3.0
"""Wrong labels spread at least so many times as far as right ones; if no more, they cannot be counted."""
FEWEST, MOST = 0.6, 1.3
"""The number of bugs, relative to the expected one, in nine of ten cases where the truth is known."""
EM_STEPS = 200


@dataclass(frozen=True, eq=False)
class Value:
    """What one learner says every label should be."""

    kind: Kind
    learner: Learner
    gamma: float
    """The price at which it was debugged; ∞ if it was not."""
    evidence: Array
    """E."""
    satisfied: Mask
    """Trusted items that the learner, trained on the labels as given, agrees with up to noise."""
    trusted_error: float
    """Root mean square error on trusted items that were left out."""
    path: tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class Values:
    """All learners with their weights."""

    heard: tuple[Value, ...]
    weights: Array
    complete: bool = True
    """Whether all learners were heard."""

    @property
    def evidence(self) -> Array:
        """The weighted mean of what each label should be."""
        return np.asarray(sum(w * value.evidence for w, value in zip(self.weights, self.heard, strict=True)))


def hear_values(problem: Problem, asking: Asking) -> Values:
    """All learners, and their weights."""
    if problem.n <= CHOSEN_ON:
        return _heard(problem, asking)
    sample = asking.sample(problem)
    chosen = _heard(sample, asking)
    best = [chosen.heard[i].learner for i in np.argsort(-chosen.weights, kind="stable")]
    return _heard(problem, asking.finalists(best, sample.n / problem.n))


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the values make of every row."""

    unusual: Array
    """How many noise levels the label is away from what it should be."""
    quality: Array
    """The probability that the given label is right."""
    flagged: Mask
    plausible: Mask
    """Labels farther away than noise usually is: debugging moves those."""
    number: BugCount | None


def verdict(problem: Problem, values: Values) -> Verdict:
    """How unusual each label is, and how probable it is that it is wrong."""
    distance = abs(problem.y - values.evidence)
    unusual = distance / noise_level(distance, float(problem.y.std()))
    wrong, spread = wrong_with_probability(unusual)
    expected = float(wrong.sum())
    number = BugCount.told(expected, FEWEST * expected, MOST * expected) if spread > NOT_NOISE else None
    return Verdict(unusual, 1 - wrong, unusual > UNUSUAL, unusual > 1, number)


def wrong_with_probability(unusual: Array) -> tuple[Array, float]:
    """Labels are right, with distances ~ N(0, 1), or wrong, with ~ N(0, τ²): the posterior by EM, and τ.

    >>> wrong, spread = wrong_with_probability(np.array([0.1, 0.5, 1.0, 1.5, 12.0]))
    >>> wrong.round(2), spread > 5
    (array([0.03, 0.03, 0.04, 0.08, 1.  ]), True)
    """
    share, spread, wrong = 0.1, 2 * NOT_NOISE, np.zeros_like(unusual)
    for _ in range(EM_STEPS):
        # log of the odds share N(0, τ²) : (1 − share) N(0, 1)
        odds = logit(share) - np.log(spread) + unusual**2 / 2 * (1 - spread**-2)
        wrong = expit(odds)
        share = float(np.clip(wrong.mean(), 1 / (1 + len(wrong)), 0.5))
        spread = max(float(np.sqrt((wrong * unusual**2).sum() / wrong.sum())), NOT_NOISE)
    return wrong, spread


def _heard(problem: Problem, asking: Asking) -> Values:
    def values(before: list[tuple[Value, ...]], candidate: Candidate) -> tuple[Value, ...]:
        smallest = min((value.trusted_error for said in before for value in said), default=np.inf)
        hopeless = smallest * UNHEARD ** (-1 / _sharpness(problem.m))
        debugged = _debugged(problem, candidate, hopeless)
        if problem.m < MANY_ITEMS:
            return (debugged,)
        return debugged, _of_the_trusted(problem, candidate, debugged.satisfied)

    answers, complete = asking.each(problem, values)
    heard = tuple(chain.from_iterable(answers))
    return Values(heard, weighed(problem.m, heard), complete)


def _sharpness(m: int) -> float:
    """m T."""
    return SHARPNESS * min(m, TOLD_APART_BY)


def weighed(m: int, heard: Sequence[Value]) -> Array:
    """By the errors; of many debugged learners that err alike, the stiffer ones bend less to wrong labels."""
    logs = np.log([value.trusted_error for value in heard])
    weights = np.exp(-_sharpness(m) * (logs - logs.min()))
    if m >= MANY_ITEMS:
        debugged = np.array([value.kind is Kind.DEBUGGED for value in heard])
        ridges = np.array([value.learner.ridge for value in heard], dtype=np.float64)
        stiff = np.where(debugged, weights * ridges**STIFFER, 0.0)
        stiff *= weights[debugged].sum() / stiff.sum()
        weights = np.where(debugged, stiff, NEVER_MISLED * weights)
    return np.asarray(weights / weights.sum())


def _debugged(problem: Problem, candidate: Candidate, hopeless: float) -> Value:
    """A learner that is debugged with the trusted items."""
    objective, solutions = _at_noise_level(problem, candidate)
    at, noise = solutions[-1], last_gamma(problem, solutions[0]) / 2
    given = objective.trusted_scores(objective.given_fit.theta)

    def fitted(kept: Ints) -> Array:
        # At the price at which the learner of all items was debugged; a single item is left out by a learner
        # that is not debugged.
        features, labels = (candidate.Z, candidate.Z_trusted[kept]), problem.y
        without = Objective(problem.with_items(kept), candidate.learner, features=features)
        if len(kept) and at.gamma:
            start = replace(at, converged=False, warm=None)  # with all items: no solution here, but close
            labels = labels + HuberNewton().prepare(without).solve(at.gamma, start).delta
        return objective.erm.fit(labels, objective.given_fit).theta

    return Value(
        kind=Kind.DEBUGGED,
        learner=candidate.learner,
        gamma=at.gamma,
        evidence=at.evidence,
        satisfied=abs(given - problem.y_trusted) <= noise,
        trusted_error=_trusted_error(problem, candidate, fitted, hopeless),
        path=tuple(Step.of(solution, objective.relabelling) for solution in solutions if solution.gamma),
    )


def _of_the_trusted(problem: Problem, candidate: Candidate, satisfied: Mask) -> Value:
    """A learner of the trusted items alone."""

    def fitted(kept: Ints) -> Array:
        erm = candidate.learner.erm(Rows(candidate.Z_trusted[kept]), problem.k)
        return erm.fit(problem.y_trusted[kept]).theta

    return Value(
        kind=Kind.TRUSTED,
        learner=candidate.learner,
        gamma=np.inf,
        evidence=np.asarray(candidate.Z @ fitted(np.arange(problem.m))),
        satisfied=satisfied,
        trusted_error=_trusted_error(problem, candidate, fitted, hopeless=np.inf),
        path=(),
    )


def _at_noise_level(problem: Problem, candidate: Candidate) -> tuple[Objective, list[Solution]]:
    """Debugged at the noise level, which is measured again without the rows that are flagged by then."""
    objective = Objective(problem, candidate.learner, features=candidate.features)
    solver = HuberNewton().prepare(objective)
    solutions = [solver.start()]
    last = last_gamma(problem, solutions[0])
    if objective.relabelling.gamma_max(solutions[0].evidence) > last:
        solutions.append(solver.solve(last, solutions[0]))
        if (again := last_gamma(problem, solutions[-1])) < INFLATED * last:
            solutions.append(solver.solve(again, solutions[-1]))
    return objective, solutions


def _trusted_error(
    problem: Problem, candidate: Candidate, fitted: Callable[[Ints], Array], hopeless: float
) -> float:
    """Root mean square error on trusted items, by learners θ that were fitted without them, fold by fold.

    At least so much, if it is hopeless before all of them are asked.
    """
    squares = (1e-3 * float(problem.y.std()) + np.finfo(float).tiny) ** 2
    number = min(problem.m, FOLDS)
    folds: Ints = np.arange(problem.m) % number
    for fold in range(number):
        out = np.flatnonzero(folds == fold)
        theta = fitted(np.flatnonzero(folds != fold))
        errors = candidate.Z_trusted[out] @ theta - problem.y_trusted[out]
        squares += float((errors**2).sum()) / problem.m
        if squares > hopeless**2:
            break
    return float(np.sqrt(squares))
