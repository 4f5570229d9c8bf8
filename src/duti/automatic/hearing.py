"""All learners heard: the hopeless ones are not debugged, and many rows are judged by a sample of them."""

from __future__ import annotations

from dataclasses import replace

from duti.automatic.asking import Asking
from duti.automatic.candidates import CHOSEN_ON, Candidate
from duti.automatic.mixture import Mixture, mixed
from duti.automatic.voices import Voice, Witness
from duti.problem import Problem

MOST_SUPPLE = 12
"""Of so many learners the last, which can follow any labels, is heard but not debugged."""


def hear(problem: Problem, asking: Asking, systematic: float | None) -> Mixture:
    """The voices of all learners, and their weights."""
    if problem.n <= CHOSEN_ON:
        return _heard(problem, asking, systematic)
    sample = asking.sample(problem)
    chosen = _heard(sample, asking, systematic)
    return _heard(problem, asking.finalists(chosen.learners, sample.n / problem.n), chosen.systematic)


def _heard(problem: Problem, asking: Asking, systematic: float | None) -> Mixture:
    number = asking.number(problem)
    debugged = number - number // MOST_SUPPLE

    def testimony(before: list[tuple[Voice, ...]], candidate: Candidate) -> tuple[Voice, ...]:
        return tuple(Witness(problem, candidate).testimony(debugged=len(before) < debugged))

    heard, complete = asking.each(problem, testimony)
    voices = [voice for said in heard for voice in said]
    return replace(mixed(problem, voices, systematic), complete=complete)
