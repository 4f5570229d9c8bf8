"""Why rows are flagged: which trusted items ask for each change, and what the learner makes of the fixes.

A trusted item j that the learner gets wrong, with residual r_j = ∂ℓ̃_j/∂s, asks for other labels where they
would move its own scores. Its pull on a row is how fast its loss falls as the label of the row moves from
the given one to its candidate:

    −∂ℓ̃_j/∂δ,   ∂ℓ̃_j/∂δ = −(∂g/∂δ)ᵀ H⁻¹ z̃_j r_j
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duti.arrays import Array, Ints, Targets
from duti.features import features_of
from duti.features.rows import Rows
from duti.findings import Findings
from duti.learners import Learner, default_learner
from duti.learners.losses import softmax
from duti.learners.model import Model, label_targets
from duti.objective import Objective, features_for
from duti.problem import Problem
from duti.randomness import Seed, generator
from duti.tune import tune

EXPLAINED = 1000
"""Flagged rows that get reasons; nobody reads more."""
TRAINED_ON = 4000
"""Of more rows, a sample shows what a learner makes of the labels before and after."""
PULLING, WEAK = 3, 0.03
"""So many trusted items are named for a row: the first of them, and others with so much of all pull."""
TOL = 1e-6
"""max|g| of the learners before and after: to look at, not to decide with."""


@dataclass(frozen=True, eq=False)
class Reasons:
    """What speaks for the fixes."""

    rows: Ints
    """Flagged rows, in rank order."""
    pulls: Array
    """How strongly each trusted item asks for the change of each of these labels; negative: against it."""
    before: Model
    """The weightiest learner, trained on the labels as given."""
    after: Model
    """The same, trained on the corrected labels."""
    trusted_before: Array
    """Probabilities of every class for the trusted items, or predictions of a regression."""
    trusted_after: Array

    def named(self, place: int) -> list[tuple[int, float]]:
        """The items to name for a row, by its place in `rows`, with their share of all that is pulled.

        Those that ask for the change come first, the hardest before the others, then those against it.
        """
        pulls = self.pulls[place]
        total = float(abs(pulls).sum())
        if not total > 0:
            return []
        shares = pulls / total
        strongest = np.argsort(-abs(shares), kind="stable")[:PULLING]
        told = [int(item) for item in strongest if abs(shares[item]) >= WEAK or item == strongest[0]]
        asking = int(np.argmax(shares))
        if shares[asking] > 0 and asking not in told:  # somebody asks for it, if only just
            told = [*told[: PULLING - 1], asking]
        ordered = sorted(told, key=lambda item: -shares[item])
        return [(item, float(shares[item])) for item in ordered]


def reasons(problem: Problem, findings: Findings, random_state: Seed = None) -> Reasons:
    """Why the flagged rows are flagged.

    >>> import duti
    >>> learner = duti.KernelLogistic(0.3, 0.01)
    >>> problem = duti.Problem([[0.0], [0.1], [0.9], [1.0]], ["a", "b", "b", "b"], [[0.1], [0.8]], ["a", "b"])
    >>> why = reasons(problem, duti.Duti(learner, budget=1).rank(problem))
    >>> why.rows, bool(why.pulls[0, 0] > why.pulls[0, 1])
    (array([1]), True)
    """
    learner = _known(problem, findings, random_state)
    sample = _some(problem, random_state)
    some = problem.subset(sample)
    fitted = learner.features().fit(some.X, generator(random_state))
    features = features_for(some, fitted, intercept=learner.intercept)
    objective = Objective(some, learner, features=features, tol=TOL)
    given = objective.given_fit
    labels = findings.corrected_labels()[sample]
    after = objective.erm.fit(label_targets(problem.coded(labels), problem.k), given, objective.tol)
    scores = [objective.trusted_scores(fit.theta) for fit in (given, after)]
    told = [softmax(one) if problem.k else one for one in scores]
    before = Model(fitted, given.theta, learner.intercept)
    rows = findings.flagged[:EXPLAINED]
    return Reasons(
        rows=rows,
        pulls=_pulls(problem, objective, before, rows, problem.coded(findings.candidate_labels[rows])),
        before=before,
        after=Model(fitted, after.theta, learner.intercept),
        trusted_before=told[0],
        trusted_after=told[1],
    )


def _some(problem: Problem, random_state: Seed) -> Ints:
    """The rows that learners before and after the repair are trained on."""
    if problem.n <= TRAINED_ON:
        return np.arange(problem.n)
    return np.sort(generator(random_state).choice(problem.n, TRAINED_ON, replace=False))


def _known(problem: Problem, findings: Findings, random_state: Seed) -> Learner:
    """The learner of the findings, or one that is tuned if they come from a detector without any."""
    if findings.learner is not None:
        return findings.learner
    return tune(default_learner(problem.task), problem.X, problem.y, problem.k, random_state).best


def _pulls(problem: Problem, objective: Objective, before: Model, rows: Ints, fixes: Targets) -> Array:
    """One column for each trusted item; H⁻¹ is a preconditioner, which is exact for few rows."""
    pulls = np.empty((len(rows), problem.m))
    if not len(rows):
        return pulls
    given, loss, trusted = objective.given_fit, objective.erm.loss, objective.trusted_rows.Z
    inverse = objective.erm.preconditioner(loss.curvature(given.scores))
    residuals = loss.d_scores(objective.trusted_scores(given.theta), objective.trusted_labels)
    flagged = Rows(features_of(before.map, problem.X[rows], intercept=before.intercept))
    scores, labels = flagged.times(before.theta), problem.y[rows]
    for item, residual in enumerate(residuals):
        z = trusted[[item]]
        z = np.asarray(z if isinstance(z, np.ndarray) else z.toarray(), dtype=np.float64).ravel()
        adjoint = flagged.times(inverse(np.multiply.outer(z, residual)))
        slope = loss.cross(scores, adjoint) / problem.n
        if problem.k:
            at = np.arange(len(rows))
            pulls[:, item] = slope[at, labels] - slope[at, fixes]
        else:
            pulls[:, item] = slope * np.sign(labels - fixes)
    return pulls
