"""Who is asked: all learners of a grid; about many rows, the best of those that were asked about some."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Self, TypeVar

from duti.automatic.candidates import CHOSEN_ON, FINALISTS, Candidate, candidates, for_all_rows, number_of
from duti.journal import Memory
from duti.learners import Learner
from duti.problem import Problem
from duti.progress import Report
from duti.randomness import Seed, generator
from duti.tune import sample_rows

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Asking:
    """Learners whose open hyperparameters are filled in, and what is needed to hear them all."""

    learners: tuple[Learner, ...]
    random_state: Seed
    report: Report
    memory: Memory

    def number(self, problem: Problem) -> int:
        """How many are asked."""
        return sum(number_of(problem, learner) for learner in self.learners)

    def sample(self, problem: Problem) -> Problem:
        """The rows on which learners are chosen."""
        rows = sample_rows(problem.y, problem.k, generator(self.random_state), CHOSEN_ON)
        return problem.subset(rows)

    def finalists(self, best: Iterable[Learner], share: float) -> Self:
        """The few of the best, chosen on a share of the rows, that are asked about all of them."""
        (asked,) = self.learners
        few = list(dict.fromkeys(best))[:FINALISTS]
        chosen = tuple(for_all_rows(one, asked, share) for one in few)
        return replace(self, learners=chosen)

    def each(
        self, problem: Problem, ask: Callable[[list[Answer], Candidate], Answer]
    ) -> tuple[list[Answer], bool]:
        """All answers, and whether there was time for all; who is asked may look at the answers before.

        One after the other, so that only one candidate has its features in memory. An interrupt keeps what
        was heard before, if that is anything.
        """
        heard, number = list[Answer](), self.number(problem)
        try:
            for candidate in self._candidates(problem):
                self.report("hearing learners", len(heard), number)
                stage = f"learner {len(heard)} of {problem.n} rows"
                heard.append(self.memory.recalled(stage, partial(ask, heard, candidate)))
            self.report("hearing learners", number, number)
        except KeyboardInterrupt:
            if not heard:
                raise
            return heard, False
        return heard, True

    def _candidates(self, problem: Problem) -> Iterator[Candidate]:
        for learner in self.learners:
            yield from candidates(problem, learner, self.random_state)
