"""One learner's predictions: as trained on the labels as given, on the trusted items alone, and debugged at
several prices γ (the log-odds price of changing a label)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.linalg import block_diag
from scipy.sparse import eye_array

from duti.arrays import Array, Matrix
from duti.automatic.candidates import Candidate
from duti.automatic.leave_one_out import block_inverse, leverages, rows_left_out, trusted_left_out
from duti.automatic.predictions import Kind, Prediction
from duti.features.rows import Rows
from duti.objective import Objective
from duti.path import Step
from duti.problem import Problem
from duti.solvers import Solution
from duti.solvers.bilevel import Point
from duti.solvers.prox_linear import ProxLinear

PRICES = (4.0, 2.0, 1.0, 0.5)
"""Of a change, as log-odds: the last one is what a learner is debugged at. At 1 and 2 instead, AP is .02 and
.10 lower where a region is wrong."""
SOLVER = ProxLinear(rtol=1e-2, max_steps=15, model_steps=8)
ROUGH = 1e-6
"""max|g| to which learners are fitted."""


def shows_all_classes(problem: Problem) -> bool:
    """Whether a learner of the trusted items alone can know every class: all are shown, twice on average."""
    return problem.m >= 2 * problem.k and len(np.unique(problem.y_trusted)) == problem.k


class Fits:
    """One learner with known hyperparameters, trained on the labels as given."""

    def __init__(self, problem: Problem, candidate: Candidate) -> None:
        self.problem, self.learner, self.candidate = problem, candidate.learner, candidate
        self.objective = Objective(problem, candidate.learner, features=candidate.features, tol=ROUGH)
        self.solver = SOLVER.prepare(self.objective)
        self.start = self.solver.start()
        self.leverage = leverages(self.objective.erm, self.solver.blocks)

    def given(self) -> Prediction:
        """As trained on the labels as given."""
        return self._at(self.start, np.inf, ())

    def with_the_trusted(self) -> Iterator[Prediction]:
        """All predictions that trusted items have a part in."""
        yield self.pooled()
        if shows_all_classes(self.problem):
            yield self.of_the_trusted()
        if not self.candidate.interpolating:  # which follows any labels: nothing is left to debug
            yield self.debugged()

    def pooled(self) -> Prediction:
        """As trained on rows and trusted items, which together weigh as much as the rows."""
        (erm, labels), n = self.objective.pooled(1.0), self.problem.n
        fit = erm.fit(labels, tol=self.objective.tol)
        leverage = leverages(erm, block_inverse(erm, fit.scores), np.arange(n, len(labels)))
        predicted = rows_left_out(erm, leverage, fit.scores, labels)
        return self._prediction(Kind.POOLED, predicted[:n], predicted[n:])

    def of_the_trusted(self) -> Prediction:
        """As trained on the trusted items alone."""
        objective, labels = self.objective, self.objective.trusted_labels
        items, axes = _spanned(objective.trusted_rows.Z, intercept=self.learner.intercept)
        erm = self.learner.erm(Rows(items), self.problem.k)
        fit = erm.fit(labels, tol=objective.tol)
        trusted = rows_left_out(erm, leverages(erm, block_inverse(erm, fit.scores)), fit.scores, labels)
        rows = objective.rows.times_zero_sum(axes @ fit.theta)[0]
        return self._prediction(Kind.TRUSTED, rows, trusted)

    def debugged(self) -> Prediction:
        """At the last price, led there by the others."""
        at, steps, relabelling = self.start, list[Step](), self.objective.relabelling
        highest = relabelling.gamma_max(at.evidence)
        for gamma in PRICES:
            if gamma < highest:
                at = self.solver.solve(gamma, at)
                steps.append(Step.of(at, relabelling))
        return self._at(at, min(PRICES), tuple(steps))

    def _at(self, solution: Solution, gamma: float, path: tuple[Step, ...]) -> Prediction:
        at = solution.warm
        assert isinstance(at, Point)
        rows = rows_left_out(self.objective.erm, self.leverage, at.scores, at.delta)
        if np.isfinite(gamma):
            # Halfway between what the learner says of a row it was debugged with and of one left out.
            rows = (at.scores + rows) / 2 - self._one_item * at.adjoint_scores
        trusted = trusted_left_out(self.objective, self.solver.W, at, gamma)
        kind = Kind.DEBUGGED if np.isfinite(gamma) else Kind.GIVEN
        return replace(self._prediction(kind, rows, trusted), gamma=gamma, path=path)

    @property
    def _one_item(self) -> float:
        """m/(nc): with confidence c the adjoint scores count a trusted item as nc/m observations."""
        confidence = float(self.problem.confidence.mean())
        return self.problem.m / (self.problem.n * confidence) if confidence else 0.0

    def _prediction(self, kind: Kind, rows: Array, trusted: Array) -> Prediction:
        learner = self.learner
        return Prediction(kind, type(learner).__name__, rows.astype(np.float64), trusted, learner)


def _spanned(Z: Matrix, *, intercept: bool) -> tuple[Matrix, Matrix]:
    """Few rows by as few features, Z = A Qᵀ, and the axes Q: a ridge leaves other directions at zero."""
    m, D = Z.shape
    if m >= D or not isinstance(Z, np.ndarray):
        return Z, eye_array(D, format="csr")
    Q, R = np.linalg.qr(Z[:, : D - intercept].T)
    if not intercept:
        return R.T, Q
    return np.column_stack([R.T, np.ones(m)]), block_diag(Q, 1.0)
