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

HOPEFUL = 2 / 3
"""The fraction of the learners that is debugged: those that predict the trusted items best as they are."""


def hear(
    problem: Problem, learner: Learner, systematic: float | None, random_state: Seed, report: Report
) -> Mixture:
    """The voices of all learners that fill in what is None in this one, and their weights."""
    if problem.n <= CHOSEN_ON:
        return _chosen(problem, learner, systematic, random_state, report)
    sample = problem.subset(sample_rows(problem.y, problem.k, generator(random_state), CHOSEN_ON))
    chosen = _chosen(sample, learner, systematic, random_state, report)
    best = list(chosen.learners)[:FINALISTS]
    finalists = [for_all_rows(one, learner, sample.n / problem.n) for one in best]
    asked = (candidate for one in finalists for candidate in candidates(problem, one, random_state))
    return _heard(problem, asked, len(finalists), len(finalists), chosen.systematic, report)


def _chosen(
    problem: Problem, learner: Learner, systematic: float | None, random_state: Seed, report: Report
) -> Mixture:
    number = number_of(learner)
    asked, hopeful = candidates(problem, learner, random_state), max(1, round(HOPEFUL * number))
    return _heard(problem, asked, number, hopeful, systematic, report)


def _heard(
    problem: Problem,
    asked: Iterable[Candidate],
    number: int,
    hopeful: int,
    systematic: float | None,
    report: Report,
) -> Mixture:
    """So many learners, of which the hopeful are debugged; if all are, only one at a time is in memory."""
    waiting, given, others = list[Witness](), list[Voice](), list[Voice]()
    done, expected = 0, number + hopeful
    try:
        for candidate in asked:
            report("hearing learners", done, expected)
            witness = Witness(problem, candidate)
            given.append(witness.given())
            others += witness.of_the_trusted()
            if hopeful < number:
                waiting.append(witness)
            else:
                others += witness.debugged()
            done += 1 + (hopeful == number)
        by_loss = sorted(zip(given, waiting, strict=False), key=lambda pair: pair[0].trusted_loss)
        for _, witness in by_loss[:hopeful]:
            report("hearing learners", done, expected)
            others += witness.debugged()
            done += 1
        report("hearing learners", expected, expected)
    except KeyboardInterrupt:
        if not any(voice.kind is Kind.DEBUGGED for voice in others):
            raise  # nothing is worth keeping yet
        return replace(mixed(problem, [*given, *others], systematic), complete=False)
    return mixed(problem, [*given, *others], systematic)
