"""What learners say of the rows: the evidence for every label of every row.

In the objective γ is the log-odds price of changing one label, so that the path ends near γ = 1; and with
confidence c the adjoint scores u count a trusted item as n c/m observations. One item is one observation
in

    E = s − (m / n c) u,

the log-odds of every label up to a constant in each row. A learner is heard before it is debugged and at
several prices; as trained on rows and trusted items together, and on the trusted items alone; and with its
predictions corrected for classes that are confused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from scipy.linalg import block_diag
from scipy.sparse import eye_array

from duti.arrays import Array, Ints, Matrix
from duti.automatic.candidates import Candidate
from duti.automatic.confusion import corrected
from duti.automatic.leave_one_out import block_inverse, leverages, rows_left_out, trusted_left_out
from duti.features.rows import Rows
from duti.learners import Learner
from duti.learners.losses import log_sum_exp, softmax
from duti.objective import Objective
from duti.path import Step
from duti.problem import Problem
from duti.solvers import Solution
from duti.solvers.bilevel import Point
from duti.solvers.prox_linear import ProxLinear

PRICES = (4.0, 2.0, 1.0, 0.5)
HEARD = (2.0, 1.0, 0.5)
"""The prices at which a learner is heard; those above only lead there."""
FEW_ITEMS = 5
"""Fewer items cannot tell the prices apart: then only the lowest is heard."""
SOLVER = ProxLinear(rtol=1e-2, max_steps=15, model_steps=8)
OWN, OWN_DEBUGGED = 0.25, 0.5
"""The part of the evidence that is from a learner which saw the row, with its label as given or debugged."""
SUREST = 8.0
"""Log-odds beyond which no learner is believed: those that can follow any labels know no bounds."""
ROUGH = 1e-6
"""max|g| to which learners are fitted."""
FACTORS = np.exp(np.linspace(-1.5, 1.5, 31))
"""By which scores may be multiplied when they are calibrated."""
SEEN = 2
"""A learner of the trusted items alone is heard if it has seen every class, on average so many times."""
CLOSER = 0.1
"""Labels that are right may be followed more closely: so much of the smallest ridge is heard as well."""


class Kind(StrEnum):
    """What a learner has learnt from."""

    GIVEN = "the labels as given"
    DEBUGGED = "labels debugged with the trusted items"
    CORRECTED = "the labels as given, corrected for confused classes"
    POOLED = "the labels as given and the trusted items"
    TRUSTED = "the trusted items alone"


@dataclass(frozen=True, eq=False)
class Voice:
    """What one learner says."""

    kind: Kind
    learner: Learner
    gamma: float
    """The price at which it was debugged; ∞ if it was not."""
    evidence: Array
    """(n, k): part of it from a learner that saw the row, part from one that did not. At most 0."""
    held_out: Array
    """(n, k): scores of rows that were left out."""
    row_loss: float
    """Their mean loss, with their given labels."""
    disagreement: float
    """The fraction of them for which another label than the given one is said to be the most probable."""
    trusted: Array
    """(m, k): scores of trusted items that were left out."""
    trusted_loss: float
    """Their mean loss."""
    calibrated_loss: float
    """The same if all scores are multiplied by what suits them best: noisy labels make learners unsure."""
    path: tuple[Step, ...] = ()


def losses(scores: Array, labels: Ints) -> Array:
    """−log softmax(scores)_label of each row.

    >>> losses(np.zeros((1, 4)), np.array([2])).round(4)
    array([1.3863])
    """
    return np.asarray(log_sum_exp(scores) - scores[np.arange(len(labels)), labels])


def calibrated(scores: Array, labels: Ints) -> tuple[float, float]:
    """The factor that makes scores predict labels best, and their mean loss with it.

    >>> scores = np.array([[2.0, 0.0], [0.0, 2.0]])
    >>> calibrated(scores, np.array([0, 1]))[0] > 4 > 0.3 > calibrated(scores, np.array([0, 0]))[0]
    True
    """
    found = ((float(losses(factor * scores, labels).mean()), float(factor)) for factor in FACTORS)
    loss, factor = min(found)
    return factor, loss


class Witness:
    """One learner, ready to be heard: before it is debugged, after it, and on the trusted items alone."""

    def __init__(self, problem: Problem, candidate: Candidate) -> None:
        self.problem, self.learner, self.closest = problem, candidate.learner, candidate.closest
        self.objective = Objective(problem, candidate.learner, features=candidate.features, tol=ROUGH)
        self.solver = SOLVER.prepare(self.objective)
        self.start = self.solver.start()
        self.leverage = leverages(self.objective.erm, self.solver.blocks)
        self.influence = self.solver.W  # like the leverages, at the labels as given

    def testimony(self, *, debugged: bool) -> Iterator[Voice]:
        """All that it says."""
        given = self.given()
        yield given
        if self.problem.k > 2:
            yield self.corrected(given)
        yield self.pooled()
        yield from self.of_the_trusted()
        if debugged:
            yield from self.debugged()

    def given(self) -> Voice:
        """What it says of the labels as given."""
        return self._voice(self.start, np.inf, ())

    def corrected(self, given: Voice) -> Voice:
        """What it says if classes are confused as the trusted items show it.

        Two classes have no pairs that are confused more than others.
        """
        y, labels = self.problem.y, self.problem.y_trusted
        factor = calibrated(given.held_out, y)[0]
        rows, items = softmax(factor * given.held_out), softmax(factor * given.trusted)
        evidence, trusted = corrected(rows, y, items, labels)
        return self._heard(
            Kind.CORRECTED, np.inf, evidence=evidence, held_out=given.held_out, trusted=trusted
        )

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

    def pooled(self) -> Voice:
        """What it says if it learns from rows and trusted items, which together weigh as much as the rows."""
        (erm, labels), given, n = self.objective.pooled(1.0), self.objective.given_fit, self.problem.n
        scores = np.concatenate([given.scores, self.objective.trusted_scores(given.theta)])
        fit = erm.fit(labels, replace(given, scores=scores), tol=self.objective.tol)
        leverage = leverages(erm, block_inverse(erm, fit.scores), always=np.arange(n, len(labels)))
        left_out = rows_left_out(erm, leverage, fit.scores, labels)
        evidence = OWN * fit.scores[:n] + (1 - OWN) * left_out[:n]
        return self._heard(
            Kind.POOLED, np.inf, evidence=evidence, held_out=left_out[:n], trusted=left_out[n:]
        )

    def of_the_trusted(self) -> Iterator[Voice]:
        """What it says if it learns from the trusted items alone, provided that they show every class."""
        objective, problem, labels = self.objective, self.problem, self.objective.trusted_labels
        if problem.m < SEEN * problem.k or len(np.unique(problem.y_trusted)) < problem.k:
            return
        items, axes = _spanned(objective.trusted_rows.Z, intercept=self.learner.intercept)
        for learner in self._of_right_labels():
            erm = learner.erm(Rows(items), problem.k)
            fit = erm.fit(labels, tol=self.objective.tol)
            trusted = rows_left_out(erm, leverages(erm, block_inverse(erm, fit.scores)), fit.scores, labels)
            rows = objective.rows.times_zero_sum(axes @ fit.theta)[0]
            said = self._heard(Kind.TRUSTED, np.inf, evidence=rows, held_out=rows, trusted=trusted)
            yield replace(said, learner=learner)

    def _of_right_labels(self) -> Iterator[Learner]:
        yield self.learner
        if self.closest and self.learner.ridge is not None:
            yield self.learner.with_(ridge=CLOSER * self.learner.ridge)

    def _voice(self, solution: Solution, gamma: float, path: tuple[Step, ...]) -> Voice:
        at, problem = solution.warm, self.problem
        assert isinstance(at, Point)
        rows = rows_left_out(self.objective.erm, self.leverage, at.scores, at.delta)
        debugged = np.isfinite(gamma)
        own = OWN_DEBUGGED if debugged else OWN
        confidence = float(problem.confidence.mean())
        one_observation = problem.m / (problem.n * confidence) if confidence else 0.0
        return self._heard(
            Kind.DEBUGGED if debugged else Kind.GIVEN,
            gamma,
            evidence=own * at.scores + (1 - own) * rows - one_observation * at.adjoint_scores,
            held_out=rows,
            trusted=trusted_left_out(self.objective, self.influence, at, gamma),
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
            evidence=np.maximum(evidence - evidence.max(axis=1, keepdims=True), -SUREST).astype(np.float64),
            held_out=held_out,
            row_loss=float(losses(held_out, self.problem.y).mean()),
            disagreement=float((held_out.argmax(axis=1) != self.problem.y).mean()),
            trusted=trusted,
            trusted_loss=float(losses(trusted, self.problem.y_trusted).mean()),
            calibrated_loss=calibrated(trusted, self.problem.y_trusted)[1],
            path=path,
        )


def _spanned(Z: Matrix, *, intercept: bool) -> tuple[Matrix, Matrix]:
    """Few rows by as few features, Z = A Qᵀ, and the axes Q: a ridge leaves other directions at zero."""
    m, D = Z.shape
    if m >= D or not isinstance(Z, np.ndarray):
        return Z, eye_array(D, format="csr")
    Q, R = np.linalg.qr(Z[:, : D - intercept].T)
    if not intercept:
        return R.T, Q
    return np.column_stack([R.T, np.ones(m)]), block_diag(Q, 1.0)
