"""DUTI itself: one call from a training set and trusted items to findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

from duti.arrays import Mask
from duti.automatic import Automatic
from duti.automatic.values import Value
from duti.automatic.voices import Kind, Voice
from duti.encode import Layout
from duti.errors import LearnerError, ProblemError
from duti.findings import Findings, collect, note_on_satisfied
from duti.journal import FORGETFUL, Memory
from duti.learners import LEARNERS, Learner, default_learner
from duti.objective import Objective
from duti.path import Status, Step, default_solver, follow, gammas, last_gamma
from duti.problem import Problem, Task
from duti.progress import Progress, reporting
from duti.randomness import Seed
from duti.ranking import Tally
from duti.resources import foresee, limited_threads
from duti.solvers import PreparedSolver, Solution, Solver
from duti.solvers.bilevel import Point, Trusted
from duti.solvers.prox_linear import ProxLinear
from duti.solvers.remembered import Remembered
from duti.tune import tune

RECIPES = ("auto", "paper")
STAGES = (Voice, Kind, Value, Solution, Point, Trusted, Step, Status, *LEARNERS.values())
"""What the stages of either recipe are made of, for a journal."""


class Detector(Protocol):
    """Anything that ranks the rows of a problem from most to least suspicious."""

    def rank(self, problem: Problem) -> Findings:
        """The findings for a problem."""
        ...


@dataclass(frozen=True)
class Duti:
    """Algorithm 1 of the paper, as a detector.

    >>> import duti
    >>> problem = duti.Problem([[0.0], [0.1], [0.9], [1.0]], ["a", "b", "b", "b"], [[0.1]], ["a"])
    >>> Duti(learner=duti.KernelLogistic(0.3, 0.01), budget=1).rank(problem).flagged
    array([1])
    """

    learner: Learner | None = None
    budget: int | None = None
    solver: Solver | None = None
    random_state: Seed = None
    progress: Progress = None
    threads: int | None = None
    memory: Memory = field(default=FORGETFUL, repr=False)
    """Remembers the tuned learner and the prox-linear steps, if it is a journal."""

    def rank(self, problem: Problem) -> Findings:
        """Tune the learner, follow the path, rank the rows.

        Ctrl-C along the path returns the steps done so far.
        """
        budget = problem.budget(self.budget)
        learner = default_learner(problem.task) if self.learner is None else self.learner
        with limited_threads(self.threads), reporting(self.progress) as report:
            foresee(problem, learner, report)
            y, k = problem.y, problem.k
            learner = self.memory.recalled(
                "tuned learner", lambda: tune(learner, problem.X, y, k, self.random_state, report).best
            )
            objective = Objective(problem, learner, self.random_state)
            solver = self._prepared(objective)
            start = solver.start()
            last = last_gamma(problem, start)
            tally = Tally(objective.relabelling, start)
            expected = len(list(gammas(tally.gamma_max, last)))
            try:
                for solution in follow(problem, objective.relabelling, solver, start, budget):
                    tally.add(solution)
                    report("following the path", len(tally.steps), expected)
                status = _status(tally, budget)
            except KeyboardInterrupt:
                status = Status.INTERRUPTED
        notes = note_on_satisfied(problem, _satisfied(objective, noise=last / 2))
        return collect(problem, learner, tally, budget=budget, status=status, notes=notes)

    def _prepared(self, objective: Objective) -> PreparedSolver:
        solver = self.solver or default_solver(objective.problem)
        if isinstance(solver, ProxLinear) and self.memory is not FORGETFUL:
            return Remembered(solver, objective, self.memory)
        return solver.prepare(objective)


def debug(
    X: Any,
    y: Any,
    X_trusted: Any = None,
    y_trusted: Any = None,
    *,
    learner: Learner | None = None,
    confidence: Any = None,
    budget: int | None = None,
    verified: Mapping[Any, Any] | None = None,
    task: Task | None = None,
    layout: Layout | None = None,
    recipe: str = "auto",
    systematic: float | None = None,
    random_state: Seed = None,
    progress: Progress = None,
    threads: int | None = None,
) -> Findings:
    """Find the rows of a training set whose labels look wrong, and what they should be.

    X, y: the training set (arrays, lists, pandas, polars or Arrow frames, sparse matrices). A frame with
    text, categories, dates or missing values is encoded; `layout` says what its columns are, where they do
    not say so themselves, and the notes of the findings say what was done.
    X_trusted, y_trusted: items whose labels are known to be right. `confidence` c ≥ 0 weighs them:
    one number, or one each (100 if None). `verified={row: label}`: rows of X that were checked.
    `learner`: what is trained on the data; the kernel learner that fits the task, tuned by
    10-fold cross-validation, if None. `budget`: how many rows somebody is willing to check (n // 10);
    by recipe "auto" it is spent on labels that are wrong with probability 0.1 or more.
    `recipe`: "paper" is Algorithm 1 as published. "auto" asks many learners instead of
    tuning one on labels that may be wrong, and `label_quality` is a probability; `systematic` then is the
    probability that bugs of a classification are systematic, estimated if None.
    `progress=True` shows a bar on a terminal and, before long work, what time and memory it will take.
    `threads`: how many threads products of matrices may use; as many as the libraries like if None.

    >>> X = [[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]]
    >>> y = ["no", "no", "yes", "yes", "yes", "yes"]
    >>> import duti
    >>> findings = debug(X, y, [[0.2]], ["no"], learner=duti.KernelLogistic(0.3, 0.01), budget=1)
    >>> findings.flagged, findings.suggested_labels[2]
    (array([2]), np.str_('no'))
    """
    if not (learner is None or isinstance(learner, Learner)):
        raise LearnerError(f"learner is {learner!r}; use one such as duti.KernelLogistic() or duti.Ridge().")
    if learner is not None and task is not None and learner.task != task:
        raise LearnerError(
            f"{type(learner).__name__} is for {learner.task}, but task is {task!r}; drop one of them."
        )
    problem = Problem(
        X,
        y,
        X_trusted,
        y_trusted,
        confidence=confidence,
        verified=verified,
        task=learner.task if learner is not None else task,
        layout=layout,
    )
    learner = learner_for(problem, learner)
    options: dict[str, Any] = {"random_state": random_state, "progress": progress, "threads": threads}
    detector = detector_of(recipe, learner=learner, budget=budget, systematic=systematic, **options)
    return detector.rank(problem)


def learner_for(problem: Problem, learner: Learner | None) -> Learner | None:
    """The given learner; if none is given and X holds encoded text, which is sparse, the linear one."""
    if learner is not None or problem.encoder is None or not issparse(problem.X):
        return learner
    return default_learner(problem.task, sparse=True)


def detector_of(recipe: str, *, systematic: float | None = None, **options: Any) -> Detector:
    """The detector of a recipe.

    >>> detector_of("paper", budget=3)
    Duti(learner=None, budget=3, solver=None, random_state=None, progress=None, threads=None)
    """
    if recipe == "auto":
        return Automatic(systematic=systematic, **options)
    if recipe not in RECIPES:
        raise ProblemError(f"recipe is {recipe!r}; use one of {', '.join(map(repr, RECIPES))}.")
    if systematic is not None:
        raise ProblemError(
            "systematic is for recipe='auto'; the paper's recipe takes all bugs as systematic."
        )
    return Duti(**options)


def _status(tally: Tally, budget: int) -> Status:
    if not tally.steps:
        return Status.NOTHING_TO_FIX
    if any(step.status is Status.NOT_CONVERGED for step in tally.steps):
        return Status.NOT_CONVERGED
    return Status.BUDGET_REACHED if tally.flagged > budget else Status.CONVERGED


def _satisfied(objective: Objective, noise: float) -> Mask:
    """Trusted items that the learner agrees with before anything is changed."""
    scores, labels = objective.trusted_scores(objective.given_fit.theta), objective.problem.y_trusted
    return np.asarray(abs(scores - labels) <= noise if scores.ndim == 1 else scores.argmax(axis=1) == labels)
