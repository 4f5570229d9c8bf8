"""The automatic recipe: many learners are trained and weighed, none is tuned on labels that may be wrong.

- candidates: which learners, with shared features
- fits, value_fits: what one of them predicts: as given, of the trusted items alone, debugged
- leave_one_out: predictions of what a learner has not seen
- models: scikit-learn's forest, or the user's own models and probabilities
- ensemble: all of these; of many rows, the best of those that were trained on some
- given: what the labels as given are like, and how much of it looks like flips
- evidence: no bugs, random ones, systematic ones, weighed by rows and trusted items together
- posterior: probabilities, fixes, the number of bugs, a verdict
- power: how large a bug would have been called
- values: the same for regression
- notes: what a reader of the findings should know
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from duti.arrays import Array, Ints, Mask
from duti.automatic.candidates import CHOSEN_ON, FINALISTS, approximated, number_of, scalings
from duti.automatic.ensemble import Ensemble
from duti.automatic.evidence import Evidence
from duti.automatic.models import default_models
from duti.automatic.notes import note_on_far_rows, note_on_unseen_labels
from duti.automatic.posterior import Posterior, posterior
from duti.automatic.predictions import Kind, Prediction
from duti.automatic.values import Values, posterior_of_values
from duti.claims import LearnerSummary
from duti.errors import ProblemError
from duti.findings import Findings, note_on_satisfied, scored
from duti.journal import FORGETFUL, Memory
from duti.learners import Learner, default_learner
from duti.path import Status
from duti.problem import Problem
from duti.progress import Progress, Report, reporting
from duti.randomness import Seed
from duti.resources import Estimate, Speed, estimate, foresee, limited_threads

CONFIDENCE = {"classification": 1.0, "regression": 10.0}
"""All trusted items together weigh as much as all rows, or ten times as much."""


@dataclass(frozen=True)
class Automatic:
    """DUTI with every learner of a small grid, and other models, weighed by rows and trusted items.

    What a given learner leaves open is filled in; `models` replaces the forest that is trained for tables, a
    given learner does without. `systematic` is the probability that bugs of a classification, if there are
    any, are systematic; estimated if None.

    >>> import numpy as np
    >>> from duti.datasets import harry_potter
    >>> data = harry_potter(np.random.default_rng(0))
    >>> problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted)
    >>> found = Automatic(budget=13).rank(problem)
    >>> int(data.is_bug[found.flagged].sum()), found.verdict.name  # two items are too few for a verdict
    (12, 'NO_EVIDENCE')
    """

    learner: Learner | None = None
    budget: int | None = None
    systematic: float | None = None
    random_state: Seed = None
    progress: Progress = None
    threads: int | None = None
    models: Sequence[Any] | None = None
    memory: Memory = field(default=FORGETFUL, repr=False)
    """Remembers every learner that was trained, if it is a journal."""

    def rank(self, problem: Problem) -> Findings:
        """Train all learners, judge the rows."""
        if self.systematic is not None and not 0 <= self.systematic <= 1:
            raise ProblemError(f"systematic is {self.systematic}; give a probability from 0 to 1, or None.")
        # Verified rows are trusted items, and no learner has seen them.
        free = np.flatnonzero(~problem.frozen)
        rows = problem.subset(free) if len(free) < problem.n else problem
        weighed = rows if rows.confidence_given else rows.trusting(CONFIDENCE[problem.task])
        with limited_threads(self.threads), reporting(self.progress) as report:
            self.foresee(problem, report)
            ensemble = self._ensemble(weighed, report)
            predictions, complete, hypotheses = ensemble.predictions(weighed)
            evidence: Evidence | Values
            if problem.task == "regression":
                evidence = Values(weighed, predictions)
                found = posterior_of_values(evidence)
            else:
                evidence = Evidence(weighed, predictions, hypotheses)
                found = posterior(evidence, self.systematic)
        return self._findings(problem, free, evidence, found, complete=complete)

    def foresee(self, problem: Problem, report: Report) -> None:
        """Refuse what cannot fit into memory, and report an estimate of what is large."""
        learner = default_learner(problem.task) if self.learner is None else self.learner
        foresee(problem, approximated(problem, learner), report, learners=FINALISTS)

    def estimate(self, problem: Problem, speed: Speed) -> Estimate:
        """What it will take: many learners of some rows, and few of all if these are more."""
        learner = default_learner(problem.task) if self.learner is None else self.learner
        some = problem.subset(np.arange(min(problem.n, CHOSEN_ON)))
        chosen = estimate(some, approximated(some, learner), speed, number_of(some, learner))
        if some.n == problem.n:
            return chosen
        heard = estimate(problem, approximated(problem, learner), speed, FINALISTS)
        return Estimate(max(chosen.bytes, heard.bytes), chosen.seconds + heard.seconds)

    def _ensemble(self, problem: Problem, report: Report) -> Ensemble:
        table = isinstance(problem.X, np.ndarray)
        models = self.models
        if models is None:
            models = default_models(problem, self.random_state) if self.learner is None and table else ()
        learners = scalings(self.learner, problem.task)
        if self.learner is None and problem.task == "regression":
            # Adding a constant to all labels changes nothing.
            learners = tuple(learner.with_(intercept=True) for learner in learners)
        return Ensemble(learners, models, self.random_state, report, self.memory)

    def _findings(
        self,
        problem: Problem,
        free: Ints,
        evidence: Evidence | Values,
        found: Posterior,
        *,
        complete: bool,
    ) -> Findings:
        weights = evidence.shared_weights()
        best = _most_debugged(weights)
        flagged = found.flagged if self.budget is None else _first(found.score, self.budget)
        on_all = _Expanded(problem.n, free)
        suspicious = free[flagged]
        return scored(
            problem,
            on_all(found.score),
            on_all(found.candidates),
            on_all(flagged),
            changed=on_all(found.changed),
            budget=self.budget,
            learner=best.learner,
            quality=1 - on_all(found.wrong),
            path=best.path,
            status=Status.WEIGHED if complete else Status.INTERRUPTED,
            learners=_summaries(evidence, weights),
            systematic=found.systematic,
            expected_bugs=found.number,
            verdict=found.verdict,
            verdict_reason=found.reason,
            power=found.power,
            notes=(
                *note_on_satisfied(problem, evidence.satisfied),
                *(note_on_unseen_labels(problem, suspicious) if problem.k else ()),
                *(note_on_far_rows(problem, best.learner, suspicious) if best.learner else ()),
            ),
        )


@dataclass(frozen=True, eq=False)
class _Expanded:
    """What was found of some rows, as an array of all of them; zero elsewhere."""

    n: int
    rows: Ints

    def __call__(self, found: Any) -> Any:
        everywhere = np.zeros(self.n, dtype=found.dtype)
        everywhere[self.rows] = found
        return everywhere


def _first(score: Array, budget: int) -> Mask:
    """So many rows to look at, whether or not they are more probably wrong than right."""
    first = np.zeros(len(score), dtype=bool)
    first[np.argsort(-score, kind="stable")[:budget]] = True
    return first & (score > 0)


def _most_debugged(weights: Sequence[tuple[Prediction, float]]) -> Prediction:
    """The weightiest debugged learner at its last price; if there is none, the weightiest of all."""
    ranked = sorted(weights, key=lambda pair: (pair[0].kind is not Kind.DEBUGGED, -pair[1]))
    best = next((p for p, _ in ranked if p.learner is not None), ranked[0][0])
    return max((p for p, _ in ranked if p.learner == best.learner), key=lambda p: len(p.path))


def _summaries(
    evidence: Evidence | Values, weights: Sequence[tuple[Prediction, float]]
) -> tuple[LearnerSummary, ...]:
    """Every learner, the weightiest first."""
    problem = evidence.problem
    return tuple(
        p.summary(weight, problem.y, problem.y_trusted)
        for p, weight in sorted(weights, key=lambda pair: -pair[1])
    )
