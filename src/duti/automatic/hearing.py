"""All learners heard: the hopeless ones are not debugged, and many rows are judged by a sample of them."""

from __future__ import annotations

from dataclasses import replace

from duti.automatic.asking import Asking
from duti.automatic.candidates import CHOSEN_ON, Candidate
from duti.automatic.mixture import Mixture, mixed
from duti.automatic.voices import Kind, Voice, Witness
from duti.learners import Learner
from duti.problem import Problem

HOPELESS = 0.01
"""Where a learner weighs so little, and less than a more supple one, no more rigid ones are heard."""


def hear(problem: Problem, asking: Asking, systematic: float | None) -> Mixture:
    """The voices of all learners, and their weights."""
    if problem.n <= CHOSEN_ON:
        return _heard(problem, asking, systematic)
    sample = asking.sample(problem)
    chosen = _heard(sample, asking, systematic)
    return _heard(
        problem, asking.finalists(chosen.learners_of(Kind.GIVEN), sample.n / problem.n), chosen.systematic
    )


def _heard(problem: Problem, asking: Asking, systematic: float | None) -> Mixture:
    def testimony(before: list[tuple[Voice, ...]], candidate: Candidate) -> tuple[Voice, ...]:
        if _too_rigid(problem, before, candidate.learner):
            return ()
        # The supplest can follow any labels: nothing is left to debug.
        return tuple(Witness(problem, candidate).testimony(debugged=not candidate.supplest))

    heard, complete = asking.each(problem, testimony)
    voices = [voice for said in heard for voice in said]
    return replace(mixed(problem, voices, systematic), complete=complete)


def _too_rigid(problem: Problem, before: list[tuple[Voice, ...]], learner: Learner) -> bool:
    """Whether learners with smaller ridges got ever worse, and the last of them is hopeless.

    Whatever the kind of bugs: by its weight if they are random, by that if they are systematic, and by how it
    predicts rows that were left out.
    """
    ridge = learner.ridge or 0.0
    alike = [said[0] for said in before if said and said[0].learner.with_(ridge=ridge) == learner]
    if len(alike) < 2:
        return False
    supple, last = alike[-2:]
    ridges = [supple.learner.ridge or 0.0, last.learner.ridge or 0.0, ridge]
    if ridges != sorted(ridges) or last.row_loss <= supple.row_loss:
        return False
    voices = [voice for said in before for voice in said]
    weights = [mixed(problem, voices, kind).learners for kind in (0.0, 1.0)]
    return all(weight[last.learner] < min(HOPELESS, weight[supple.learner]) for weight in weights)
