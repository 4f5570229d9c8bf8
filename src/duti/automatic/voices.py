"""What learners say of the rows: the evidence for every label of every row.

In the objective γ is the log-odds price of changing one label, so that the path ends near γ = 1; and with
confidence c the adjoint scores u count a trusted item as n c/m observations. One item is one observation
in

    E = s − (m / n c) u,

the log-odds of every label up to a constant in each row. A learner is heard before it is debugged, and
at several prices; and once more as it would be had it seen the trusted items alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from duti.arrays import Array, Ints
from duti.automatic.candidates import Candidate
from duti.automatic.leave_one_out import block_inverse, rows_left_out, trusted_left_out
from duti.learners import Learner
from duti.learners.losses import log_sum_exp
from duti.objective import Objective
from duti.path import Step
from duti.problem import Problem
from duti.solvers import Solution
from duti.solvers.bilevel import Point
from duti.solvers.prox_linear import ProxLinear

PRICES = (16.0, 4.0, 2.0, 1.0, 0.5)
HEARD = (2.0, 1.0, 0.5)
"""The prices at which a learner is heard; those above only lead there."""
FEW_ITEMS = 5
"""Fewer items cannot tell the prices apart: then only the lowest is heard."""
SOLVER = ProxLinear(rtol=1e-2, max_steps=15)
SEEN = 2
"""A learner of the trusted items alone is heard if it has seen so many of every class."""


class Kind(StrEnum):
    """What a learner has learnt from."""

    GIVEN = "the labels as given"
    DEBUGGED = "labels debugged with the trusted items"
    TRUSTED = "the trusted items alone"


@dataclass(frozen=True, eq=False)
class Voice:
    """What one learner says."""

    kind: Kind
    learner: Learner
    gamma: float
    """The price at which it was debugged; ∞ if it was not."""
    evidence: Array
    """(n, k): half of it from a learner that saw the row, half from one that did not."""
    held_out: Array
    """(n, k): scores of rows that were left out."""
    row_loss: float
    """Their mean loss, with their given labels."""
    trusted: Array
    """(m, k): scores of trusted items that were left out."""
    trusted_loss: float
    """Their mean loss."""
    path: tuple[Step, ...] = ()


def losses(scores: Array, labels: Ints) -> Array:
    """−log softmax(scores)_label of each row.

    >>> losses(np.zeros((1, 4)), np.array([2])).round(4)
    array([1.3863])
    """
    return np.asarray(log_sum_exp(scores) - scores[np.arange(len(labels)), labels])


class Witness:
    """One learner, ready to be heard: before it is debugged, after it, and on the trusted items alone."""

    def __init__(self, problem: Problem, candidate: Candidate) -> None:
        self.problem, self.learner = problem, candidate.learner
        self.objective = Objective(problem, candidate.learner, features=candidate.features)
        self.solver = SOLVER.prepare(self.objective)
        self.start = self.solver.start()
        self.inverse = block_inverse(self.objective.erm, self.start.scores)

    def given(self) -> Voice:
        """What it says of the labels as given."""
        return self._voice(self.start, np.inf, ())

    def debugged(self) -> Iterator[Voice]:
        """What it says at each price at which it is heard."""
        at, steps, relabelling = self.start, list[Step](), self.objective.relabelling
        highest = relabelling.gamma_max(at.evidence)
        heard = HEARD if self.problem.m >= FEW_ITEMS else HEARD[-1:]
        for gamma in PRICES:
            if gamma < highest:
                at = self.solver.solve(gamma, at)
                steps.append(Step.of(at, relabelling))
            if gamma in heard:
                yield self._voice(at, gamma, tuple(steps))

    def of_the_trusted(self) -> Iterator[Voice]:
        """What it says if it learns from the trusted items alone, provided that they show every class."""
        objective, problem = self.objective, self.problem
        if np.bincount(problem.y_trusted, minlength=problem.k).min() < SEEN:
            return
        erm = self.learner.erm(objective.trusted_rows, problem.k)
        fit = erm.fit(objective.trusted_labels, tol=1e-6)
        trusted = rows_left_out(erm, block_inverse(erm, fit.scores), fit.scores, objective.trusted_labels)
        rows = objective.rows.times_zero_sum(fit.theta)[0]
        yield self._heard(Kind.TRUSTED, np.inf, evidence=rows, held_out=rows, trusted=trusted)

    def _voice(self, solution: Solution, gamma: float, path: tuple[Step, ...]) -> Voice:
        at, problem = solution.warm, self.problem
        assert isinstance(at, Point)
        rows = rows_left_out(self.objective.erm, self.inverse, at.scores, at.delta)
        confidence = float(problem.confidence.mean())
        one_observation = problem.m / (problem.n * confidence) if confidence else 0.0
        return self._heard(
            Kind.DEBUGGED if np.isfinite(gamma) else Kind.GIVEN,
            gamma,
            evidence=(at.scores + rows) / 2 - one_observation * at.adjoint_scores,
            held_out=rows,
            trusted=trusted_left_out(self.objective, self.inverse, at, gamma),
            path=path,
        )

    def _heard(
        self,
        kind: Kind,
        gamma: float,
        *,
        evidence: Array,
        held_out: Array,
        trusted: Array,
        path: tuple[Step, ...] = (),
    ) -> Voice:
        return Voice(
            kind=kind,
            learner=self.learner,
            gamma=gamma,
            evidence=np.asarray(evidence - evidence.mean(axis=1, keepdims=True), dtype=np.float64),
            held_out=held_out,
            row_loss=float(losses(held_out, self.problem.y).mean()),
            trusted=trusted,
            trusted_loss=float(losses(trusted, self.problem.y_trusted).mean()),
            path=path,
        )
