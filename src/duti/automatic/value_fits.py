"""One learner of a regression: as trained on the labels as given, with the trusted items, on these alone,
and debugged at its own noise level.

At γ/2 = the noise level σ of a learner, labels that are closer than σ to what rows and trusted items together
make of them stay: it is Huber's regression, bent by the trusted items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from duti.arrays import Array, Ints
from duti.automatic.candidates import MANY_ITEMS, Candidate
from duti.automatic.leave_one_out import block_inverse, folded, leverages
from duti.automatic.predictions import Kind, Prediction
from duti.features.rows import Rows
from duti.learners.erm import ERM
from duti.objective import Objective
from duti.path import INFLATED, Step, last_gamma
from duti.problem import Problem
from duti.solvers import Solution
from duti.solvers.huber_newton import HuberNewton

ROUNDING = float(np.sqrt(np.finfo(float).eps))


class ValueFits:
    """One learner with known hyperparameters, trained on the labels as given."""

    def __init__(self, problem: Problem, candidate: Candidate) -> None:
        self.problem, self.learner, self.candidate = problem, candidate.learner, candidate
        self.objective = Objective(problem, candidate.learner, features=candidate.features)

    def given(self) -> Prediction:
        """As trained on the labels as given."""
        fit = self.objective.given_fit
        rows = left_out(self.objective.erm, fit.scores, self.problem.y)
        return self._prediction(Kind.GIVEN, rows, self.objective.trusted_scores(fit.theta))

    def with_the_trusted(self) -> Iterator[Prediction]:
        """All predictions that trusted items have a part in."""
        yield self.pooled()
        if self.problem.m >= MANY_ITEMS:
            yield self.of_the_trusted()
        yield self.debugged()

    def pooled(self) -> Prediction:
        """As trained on rows and trusted items, which together weigh as much as the rows."""
        (erm, labels), n = self.objective.pooled(1.0), self.problem.n
        fit = erm.fit(labels)
        predicted = left_out(erm, fit.scores, labels, always=np.arange(n, len(labels)))
        return self._prediction(Kind.POOLED, predicted[:n], predicted[n:])

    def of_the_trusted(self) -> Prediction:
        """As trained on the trusted items alone."""
        items, labels = self.candidate.Z_trusted, self.problem.y_trusted

        def theta(kept: Ints) -> Array:
            return self.learner.erm(Rows(items[kept]), 0).fit(labels[kept]).theta

        rows = self.objective.rows.times(theta(np.arange(self.problem.m)))
        trusted = folded(self.problem.m, lambda kept, out: items[out] @ theta(kept))
        return self._prediction(Kind.TRUSTED, rows, trusted)

    def debugged(self) -> Prediction:
        """At the noise level."""
        solutions = self._to_noise_level()
        at, relabelling = solutions[-1], self.objective.relabelling
        # What trusted items have changed the learner to, not E: items are predicted by the learner, too.
        rows = left_out(self.objective.erm, at.scores, self.problem.y + at.delta)
        trusted = folded(self.problem.m, lambda kept, out: self._without(at, kept, out))
        steps = tuple(Step.of(solution, relabelling) for solution in solutions if solution.gamma)
        return replace(self._prediction(Kind.DEBUGGED, rows, trusted), gamma=at.gamma or np.inf, path=steps)

    def _to_noise_level(self) -> list[Solution]:
        """The noise level is measured again without the rows that are flagged by then."""
        solver = HuberNewton().prepare(self.objective)
        solutions = [solver.start()]
        last = last_gamma(self.problem, solutions[0])
        if self.objective.relabelling.gamma_max(solutions[0].evidence) > last:
            solutions.append(solver.solve(last, solutions[0]))
            if (again := last_gamma(self.problem, solutions[-1])) < INFLATED * last:
                solutions.append(solver.solve(again, solutions[-1]))
        return solutions

    def _without(self, at: Solution, kept: Ints, out: Ints) -> Array:
        """Predictions of the items `out` by a learner debugged with the others, at the same price."""
        Z, Z_trusted = self.candidate.features
        labels = self.problem.y
        if len(kept) and at.gamma:  # a single item is left out by a learner that is not debugged
            features = Z, Z_trusted[kept]
            without = Objective(self.problem.with_items(kept), self.learner, features=features)
            start = replace(at, converged=False, warm=None)  # with all items: no solution here, but close
            labels = labels + HuberNewton().prepare(without).solve(at.gamma, start).delta
        theta = self.objective.erm.fit(labels, self.objective.given_fit).theta
        return np.asarray(Z_trusted[out] @ theta)

    def _prediction(self, kind: Kind, rows: Array, trusted: Array) -> Prediction:
        return Prediction(kind, type(self.learner).__name__, rows, trusted, self.learner)


def left_out(erm: ERM, scores: Array, labels: Array, always: Ints | None = None) -> Array:
    """What a ridge regression would predict of each row had it not seen it: s + h/(1 − h) (s − label).

    >>> from duti import Ridge
    >>> Z, labels = np.ones((3, 1)), np.array([0.0, 1.0, 5.0])
    >>> erm = Ridge(ridge=1e-9, intercept=False).erm(Rows(Z), 0)
    >>> left_out(erm, erm.fit(labels).scores, labels).round(3)
    array([3. , 2.5, 0.5])
    """
    h = leverages(erm, block_inverse(erm, scores), always)[:, 0] * erm.loss.curvature(scores).weights[:, 0]
    return np.asarray(scores + h / np.maximum(1 - h, ROUNDING) * (scores - labels))
