"""The automatic recipe: many learners are debugged and weighed, none is tuned on labels that may be wrong.

- candidates: which learners, with shared features
- asking: all of them, one after the other, or the best of them if there are many rows
- voices: what each of them says of every row, before and after it is debugged
- confusion: what they say of the truth if classes are confused
- leave_one_out: what they would say of rows and trusted items they had not seen
- mixture: how far each is believed, and whether the bugs look systematic
- hearing: all of the above
- judgement: probabilities, fixes, and the number of bugs
- values: all of it for regression, where it is simpler
- notes: what a reader of the findings should know
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from duti.arrays import Mask
from duti.automatic.asking import Asking
from duti.automatic.candidates import CHOSEN_ON, FINALISTS, approximated, number_of
from duti.automatic.hearing import hear
from duti.automatic.judgement import Judgement, judge
from duti.automatic.mixture import Mixture
from duti.automatic.notes import note_on_far_rows, note_on_kind, note_on_unseen_labels
from duti.automatic.values import Values, Verdict, hear_values, verdict
from duti.automatic.voices import Kind
from duti.errors import ProblemError
from duti.findings import Findings, note_on_satisfied, scored
from duti.journal import FORGETFUL, Memory
from duti.learners import Learner, default_learner
from duti.opinions import Opinion
from duti.path import Status
from duti.problem import Problem
from duti.progress import Progress, reporting
from duti.randomness import Seed
from duti.resources import Estimate, Speed, estimate, foresee, limited_threads

CONFIDENCE = {"classification": 1.0, "regression": 10.0}
"""All trusted items together weigh as much as all rows, or ten times as much."""


@dataclass(frozen=True)
class Automatic:
    """DUTI with every learner of a small grid, weighed by the trusted items.

    What a given learner leaves open is filled in; `systematic` is the probability that bugs of a
    classification are systematic, estimated if None.

    >>> import numpy as np
    >>> from duti.datasets import harry_potter
    >>> data = harry_potter(np.random.default_rng(0))
    >>> problem = Problem(data.X, data.y, data.X_trusted, data.y_trusted)
    >>> found = Automatic(budget=13).rank(problem)
    >>> int(data.is_bug[found.flagged].sum()), found.systematic > 0.9
    (11, True)
    """

    learner: Learner | None = None
    budget: int | None = None
    systematic: float | None = None
    random_state: Seed = None
    progress: Progress = None
    threads: int | None = None
    memory: Memory = field(default=FORGETFUL, repr=False)
    """Remembers every learner that was heard, if it is a journal."""

    def rank(self, problem: Problem) -> Findings:
        """Hear all learners, judge the rows."""
        if self.systematic is not None and not 0 <= self.systematic <= 1:
            raise ProblemError(f"systematic is {self.systematic}; give a probability from 0 to 1, or None.")
        learner = default_learner(problem.task) if self.learner is None else self.learner
        weighed = problem if problem.confidence_given else problem.trusting(CONFIDENCE[problem.task])
        with limited_threads(self.threads), reporting(self.progress) as report:
            foresee(problem, approximated(problem, learner), report, learners=FINALISTS)
            asking = Asking((learner,), self.random_state, report, self.memory)
            if problem.task == "regression":
                return self._of_values(weighed, hear_values(weighed, asking))
            mixture = hear(weighed, asking, self.systematic)
            judgement = judge(weighed, mixture)
        opinions = _opinions(mixture)
        (learner, *_) = mixture.learners_of(Kind.DEBUGGED) or mixture.learners_of(Kind.GIVEN)
        best = max(mixture.voices, key=lambda voice: (voice.learner == learner, len(voice.path)))
        flagged = self._flagged(judgement)
        suspicious = flagged.nonzero()[0]
        return scored(
            problem,
            1 - judgement.quality,
            judgement.fixes,
            flagged,
            budget=self.budget,
            learner=learner,
            quality=judgement.quality,
            path=best.path,
            status=_status(complete=mixture.complete, flagged=flagged),
            opinions=opinions,
            systematic=mixture.systematic,
            expected_bugs=judgement.number,
            notes=(
                *note_on_satisfied(problem, mixture.best_on_rows.trusted.argmax(axis=1) == problem.y_trusted),
                *note_on_kind(mixture),
                *note_on_unseen_labels(problem, suspicious),
                *note_on_far_rows(problem, learner, suspicious),
            ),
        )

    def estimate(self, problem: Problem, speed: Speed) -> Estimate:
        """What it will take: many learners of some rows, and few of all if these are more."""
        learner = default_learner(problem.task) if self.learner is None else self.learner
        some = problem.subset(np.arange(min(problem.n, CHOSEN_ON)))
        chosen = estimate(some, approximated(some, learner), speed, number_of(some, learner))
        if some.n == problem.n:
            return chosen
        heard = estimate(problem, approximated(problem, learner), speed, FINALISTS)
        return Estimate(max(chosen.bytes, heard.bytes), chosen.seconds + heard.seconds)

    def _flagged(self, found: Judgement | Verdict) -> Mask:
        """Disputed labels; who says how many rows are going to be checked gets all that may well be wrong."""
        return found.flagged if self.budget is None else found.flagged | found.plausible

    def _of_values(self, problem: Problem, values: Values) -> Findings:
        order = np.argsort(-values.weights, kind="stable")
        ranked = [(values.heard[i], float(values.weights[i])) for i in order]
        found, learner = verdict(problem, values), ranked[0][0].learner
        best = next(value for value, _ in ranked if value.learner == learner and value.kind is Kind.DEBUGGED)
        flagged = self._flagged(found)
        return scored(
            problem,
            found.unusual,
            values.evidence,
            flagged,
            budget=self.budget,
            learner=best.learner,
            quality=found.quality,
            path=best.path,
            status=_status(complete=values.complete, flagged=flagged),
            opinions=tuple(
                Opinion(value.learner, value.gamma, str(value.kind), weight, value.trusted_error)
                for value, weight in ranked
            ),
            expected_bugs=found.number,
            notes=(
                *note_on_satisfied(problem, best.satisfied),
                *note_on_far_rows(problem, best.learner, flagged.nonzero()[0]),
            ),
        )


def _opinions(mixture: Mixture) -> tuple[Opinion, ...]:
    """Learners and prices with their weights, the weightiest learner first."""
    total = mixture.learners
    told = [
        Opinion(voice.learner, voice.gamma, str(voice.kind), float(weight), voice.trusted_loss)
        for voice, weight in zip(mixture.voices, mixture.weights, strict=True)
    ]
    return tuple(sorted(told, key=lambda opinion: (-total[opinion.learner], -opinion.weight)))


def _status(*, complete: bool, flagged: Mask) -> Status:
    if not complete:
        return Status.INTERRUPTED
    return Status.WEIGHED if flagged.any() else Status.NOTHING_TO_FIX
