"""All learners heard: the hopeless ones are not debugged, and many rows are judged by a sample of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from duti.automatic.candidates import CHOSEN_ON, FINALISTS, Candidate, candidates
from duti.automatic.mixture import Mixture, mixed
from duti.automatic.voices import Kind, Voice, Witness
from duti.learners import KernelLogistic, Learner
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
        return _heard(problem, list(candidates(problem, learner, random_state)), systematic, report)
    rows = sample_rows(problem.y, problem.k, generator(random_state), CHOSEN_ON)
    sample = problem.subset(rows)
    chosen = _heard(sample, list(candidates(sample, learner, random_state)), systematic, report)
    finalists = [
        _for_all_rows(best, learner, len(rows) / problem.n) for best in list(chosen.learners)[:FINALISTS]
    ]
    on_all = [candidate for best in finalists for candidate in candidates(problem, best, random_state)]
    return _heard(problem, on_all, chosen.systematic, report)


def _heard(problem: Problem, asked: Sequence[Candidate], systematic: float | None, report: Report) -> Mixture:
    number = max(1, round(HOPEFUL * len(asked)))
    witnesses, given, others = list[Witness](), list[Voice](), list[Voice]()
    try:
        for done, candidate in enumerate(asked):
            report("hearing learners", done, len(asked) + number)
            witnesses.append(Witness(problem, candidate))
            given.append(witnesses[-1].given())
            others += witnesses[-1].of_the_trusted()
        hopeful = sorted(range(len(asked)), key=lambda index: given[index].trusted_loss)[:number]
        for done, index in enumerate(hopeful):
            report("hearing learners", len(asked) + done, len(asked) + number)
            others += witnesses[index].debugged()
        report("hearing learners", len(asked) + number, len(asked) + number)
    except KeyboardInterrupt:
        if not any(voice.kind is Kind.DEBUGGED for voice in others):
            raise  # nothing is worth keeping yet
        return replace(mixed(problem, [*given, *others], systematic), complete=False)
    return mixed(problem, [*given, *others], systematic)


def _for_all_rows(chosen: Learner, asked: Learner, share: float) -> Learner:
    """A learner that was chosen on a share of the rows: the same prior against more rows."""
    if isinstance(chosen, KernelLogistic) and isinstance(asked, KernelLogistic):
        chosen = replace(chosen, approximation=asked.approximation, components=asked.components)
    return (
        chosen
        if asked.ridge is not None or chosen.ridge is None
        else chosen.with_(ridge=share * chosen.ridge)
    )
