"""All learners heard: the hopeless ones are not debugged, and many rows are judged by a sample of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from duti.automatic.candidates import (
    CHOSEN_ON,
    FINALISTS,
    Candidate,
    candidates,
    for_all_rows,
    number_of,
)
from duti.automatic.mixture import Mixture, mixed
from duti.automatic.voices import Kind, Voice, Witness
from duti.learners import Learner
from duti.problem import Problem
from duti.progress import Report
from duti.randomness import Seed, generator
from duti.tune import sample_rows

MOST_SUPPLE = 12
"""Of so many learners the last, which can follow any labels, is heard but not debugged."""


def hear(
    problem: Problem, learner: Learner, systematic: float | None, random_state: Seed, report: Report
) -> Mixture:
    """The voices of all learners that fill in what is None in this one, and their weights."""
    if problem.n <= CHOSEN_ON:
        asked = candidates(problem, learner, random_state)
        return _heard(problem, asked, number_of(learner), systematic, report)
    sample = problem.subset(sample_rows(problem.y, problem.k, generator(random_state), CHOSEN_ON))
    asked = candidates(sample, learner, random_state)
    chosen = _heard(sample, asked, number_of(learner), systematic, report)
    best = list(chosen.learners)[:FINALISTS]
    finalists = [for_all_rows(one, learner, sample.n / problem.n) for one in best]
    asked = (candidate for one in finalists for candidate in candidates(problem, one, random_state))
    return _heard(problem, asked, len(finalists), chosen.systematic, report)


def _heard(
    problem: Problem, asked: Iterable[Candidate], number: int, systematic: float | None, report: Report
) -> Mixture:
    """One learner after the other, so that only one has its features in memory."""
    voices, debugged = list[Voice](), number - number // MOST_SUPPLE
    try:
        for done, candidate in enumerate(asked):
            report("hearing learners", done, number)
            for voice in Witness(problem, candidate).testimony(debugged=done < debugged):
                voices.append(voice)  # one by one: what was heard before an interrupt is kept
        report("hearing learners", number, number)
    except KeyboardInterrupt:
        if not any(voice.kind is Kind.DEBUGGED for voice in voices):
            raise  # nothing is worth keeping yet
        return replace(mixed(problem, voices, systematic), complete=False)
    return mixed(problem, voices, systematic)
