"""All learners: trained on the labels as given, and the better of them with the trusted items, too.

Of many rows a sample says which learners are trained on all of them, one after the other, so that only
one has its features in memory. Each learner is a stage of its own, which a journal keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar
from zlib import crc32

import numpy as np

from duti.automatic.candidates import (
    CHOSEN_ON,
    FINALISTS,
    Candidate,
    approximated,
    candidates,
    for_all_rows,
    number_of,
)
from duti.automatic.evidence import Evidence, Hypotheses
from duti.automatic.fits import Fits
from duti.automatic.models import model_predictions, users_predictions
from duti.automatic.predictions import Kind, Prediction, calibrated
from duti.automatic.value_fits import ValueFits
from duti.automatic.values import Values, row_loss
from duti.journal import Memory
from duti.learners import Learner
from duti.problem import Problem
from duti.progress import Report
from duti.randomness import Seed, generator
from duti.tune import sample_rows

Found = TypeVar("Found")


@dataclass(frozen=True)
class Ensemble:
    """Learners whose open hyperparameters are filled in, models, and what is needed to train them all."""

    learners: tuple[Learner, ...]
    models: Sequence[Any]
    random_state: Seed
    report: Report
    memory: Memory
    few: bool = False
    """Whether all learners are trained with the trusted items at once."""

    def predictions(self, problem: Problem) -> tuple[list[Prediction], bool, Hypotheses | None]:
        """Of all learners, and whether there was time for all; of many rows, of the few best.

        These were chosen because they suit the items, which then says nothing for them: how probable the
        hypotheses are is said by the sample on which they were chosen.
        """
        if problem.n <= CHOSEN_ON:
            return *self._trained(problem), None
        sample = problem.subset(sample_rows(problem.y, problem.k, generator(self.random_state), CHOSEN_ON))
        found, complete = self._trained(sample)
        if not complete:
            raise KeyboardInterrupt  # a sample says nothing of the other rows
        share = sample.n / problem.n
        evidence = Evidence(sample, found) if problem.task == "classification" else Values(sample, found)
        chosen = dict.fromkeys(for_all_rows(learner, self.learners[0], share) for learner in _best(evidence))
        finalists = replace(self, learners=tuple(chosen)[:FINALISTS], few=True)
        known = evidence.hypotheses if isinstance(evidence, Evidence) else None
        return *finalists._trained(problem), known

    def _trained(self, problem: Problem) -> tuple[list[Prediction], bool]:
        found, stages = list[Prediction](), self._stages(problem)
        number = 2 + sum(number_of(problem, learner) for learner in self.learners)
        try:
            for done, predictions in enumerate(stages):
                found += predictions
                self.report("training learners", min(done, number), number)
            self.report("training learners", number, number)
        except KeyboardInterrupt:
            if not any(p.kind is Kind.GIVEN for p in found):
                raise
            return found, False
        return found, True

    def _stages(self, problem: Problem) -> Iterator[tuple[Prediction, ...]]:
        """Models, learners of the labels as given, and the better of these with the trusted items."""
        kept = partial(self._kept, f"{problem.n} rows {_digest(problem.y.tobytes())}")
        yield tuple(users_predictions(problem))
        for model in self.models:
            yield kept(model, partial(_of_model, problem, model))
        trained = list[list[tuple[_Trained, Prediction]]]()
        for learner in self.learners:
            trained.append([])
            for candidate in candidates(problem, approximated(problem, learner), self.random_state):
                of_rows = _Trained(problem, candidate)
                given = kept(candidate.learner, of_rows.given)
                yield (given,)
                if self.few:  # of many rows, only one learner has its features in memory
                    yield kept(candidate.learner, of_rows.with_the_trusted, "debugged")
                else:
                    trained[-1].append((of_rows, given))
        for of_rows, given in _better_scaled(problem, trained):
            yield kept(given.learner, of_rows.with_the_trusted, "debugged")

    def _kept(self, rows: str, learner: Any, work: Callable[[], Found], what: str = "given") -> Found:
        """A stage is called by what it computes."""
        name = f"{type(learner).__name__} {_digest(repr(learner).encode())} {what} {rows}"
        return self.memory.recalled(name, work)


class _Trained:
    """A learner that is trained when it is asked for."""

    def __init__(self, problem: Problem, candidate: Candidate) -> None:
        self.problem, self.candidate = problem, candidate

    @cached_property
    def fits(self) -> Fits | ValueFits:
        kind = Fits if self.problem.task == "classification" else ValueFits
        return kind(self.problem, self.candidate)

    def given(self) -> Prediction:
        return self.fits.given()

    def with_the_trusted(self) -> tuple[Prediction, ...]:
        return tuple(self.fits.with_the_trusted())


def _better_scaled(
    problem: Problem, trained: Sequence[Sequence[tuple[_Trained, Prediction]]]
) -> Sequence[tuple[_Trained, Prediction]]:
    """The learners of all bandwidths and ridges, with the scaling that predicts held-out rows best."""

    def loss(alike: Sequence[tuple[_Trained, Prediction]]) -> float:
        return min((_row_loss(problem, given) for _, given in alike), default=np.inf)

    return min(trained, key=loss)


def _row_loss(problem: Problem, given: Prediction) -> float:
    if problem.task == "regression":
        return row_loss(given, problem)
    return calibrated(given.rows, problem.y)[1]


def _of_model(problem: Problem, model: Any) -> tuple[Prediction, ...]:
    return tuple(model_predictions(problem, [model]))


def _digest(content: bytes) -> str:
    return f"{crc32(content):08x}"


def _best(evidence: Evidence | Values) -> list[Learner]:
    """Learners by their weight under all hypotheses, the weightiest first."""
    total = dict[Learner, float]()
    for prediction, weight in evidence.shared_weights():
        if prediction.learner is not None:
            total[prediction.learner] = total.get(prediction.learner, 0.0) + weight
    return sorted(total, key=lambda learner: -total[learner])
